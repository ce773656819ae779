// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Submissions.
//!
//! [`Submission`] is the ordinary one, and can be bent: its lists are public, and [`Submission::issue_bent`] lets the
//! caller change the argument of the ioctl after pointers and lengths were filled in.

use crate::abi::{self, Object, Relocation, Sync};
use crate::device::Device;
use crate::stream::Stream;
use rustix::io::Errno;

/// A submission's lists.
#[derive(Clone, Debug, Default)]
pub struct Submission {
    /// The stream.
    pub words: Vec<u32>,
    /// Its objects.
    pub objects: Vec<Object>,
    /// Where the stream names them.
    pub relocations: Vec<Relocation>,
    /// What it waits for.
    pub wait: Vec<Sync>,
    /// What it signals.
    pub signal: Vec<Sync>,
}

impl Submission {
    /// Return the submission of a stream.
    pub fn of(stream: &Stream) -> Submission {
        Submission {
            words: stream.words().to_vec(),
            objects: stream.objects().to_vec(),
            relocations: stream.relocations().to_vec(),
            ..Default::default()
        }
    }

    /// Return one that does nothing.
    pub fn nothing() -> Submission {
        Submission::of(&Stream::nothing())
    }

    /// Wait for one more object.
    pub fn after(mut self, sync: Sync) -> Submission {
        self.wait.push(sync);
        self
    }

    /// Signal one more object.
    pub fn signals(mut self, sync: Sync) -> Submission {
        self.signal.push(sync);
        self
    }

    /// Return the argument of the ioctl. It points to the lists of `self`, which have to stay as they are.
    pub fn argument(&self) -> abi::Submit {
        abi::Submit {
            stream: self.words.as_ptr() as u64,
            objects: self.objects.as_ptr() as u64,
            relocations: self.relocations.as_ptr() as u64,
            wait: self.wait.as_ptr() as u64,
            signal: self.signal.as_ptr() as u64,
            dwords: self.words.len() as u32,
            object_count: self.objects.len() as u32,
            relocation_count: self.relocations.len() as u32,
            wait_count: self.wait.len() as u32,
            signal_count: self.signal.len() as u32,
            flags: 0,
        }
    }

    /// Issue the ioctl.
    pub fn issue(&self, device: &Device) -> Result<(), Errno> {
        self.issue_bent(device, |_| ())
    }

    /// Issue the ioctl after a change of its argument.
    pub fn issue_bent(
        &self,
        device: &Device,
        bend: impl FnOnce(&mut abi::Submit),
    ) -> Result<(), Errno> {
        let mut argument = self.argument();
        bend(&mut argument);
        device.ioctl(abi::SUBMIT, &mut argument).map(drop)
    }
}

impl Device {
    /// Submit a stream.
    pub fn submit(&self, stream: &Stream) -> Result<(), Errno> {
        Submission::of(stream).issue(self)
    }
}
