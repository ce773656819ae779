// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Commands that the kernel itself composes: clearing and self-test.
//!
//! They never contain user words, and go to ring 0.

use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        exec::{
            Exec,
            Usage, //
        },
        fence::Fence, //
    },
    family::{
        Family,
        Gpu,
        GpuAddr, //
    },
    memory::Bo,
    running::Running,
    submit::{
        job::Job,
        Load, //
    },
};

/// What [`Gpu::fill`] and [`Gpu::copy`] need at most.
const MOST_DWORDS: usize = 1024;

/// Commands of the kernel for ring 0.
pub struct KernelStream {
    words: KVVec<u32>,
}

impl KernelStream {
    /// No commands yet.
    pub fn new() -> Result<Self> {
        Ok(Self {
            words: KVVec::with_capacity(MOST_DWORDS, GFP_KERNEL)?,
        })
    }

    /// Fills `len` bytes at `dst` with `value`; both in whole pages.
    pub fn fill<F: Family>(
        &mut self,
        running: &Running<'_, F>,
        dst: GpuAddr,
        len: u64,
        value: u32,
    ) -> Result {
        self.append(|out| running.gpu().fill(out, dst, len, value))
    }

    /// Copies `len` bytes from `src` to `dst`, which do not overlap; all in whole pages.
    pub fn copy<F: Family>(
        &mut self,
        running: &Running<'_, F>,
        dst: GpuAddr,
        src: GpuAddr,
        len: u64,
    ) -> Result {
        self.append(|out| running.gpu().copy(out, dst, src, len))
    }

    /// Adds the dwords that `write` makes.
    fn append(&mut self, write: impl FnOnce(&mut [u32]) -> Result<usize>) -> Result {
        let start = self.words.len();
        self.words.resize(start + MOST_DWORDS, 0, GFP_KERNEL)?;
        let used = match self.words.get_mut(start..) {
            Some(out) => write(out),
            None => Err(EINVAL),
        };
        self.words.truncate(start + *used.as_ref().unwrap_or(&0));
        used.map(|_| ())
    }

    /// Executes the commands.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run<F: Family>(self, running: &Running<'_, F>) -> Result<ARef<Fence>> {
        Ok(Job::prepare(running, 0, &self.words, Load::Empty)?.commit(|_| {}))
    }

    /// Executes the commands, which change the content of `object`: everybody waits for them.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run_on<F: Family>(
        self,
        running: &Running<'_, F>,
        object: &ARef<Bo<F>>,
    ) -> Result<ARef<Fence>> {
        let objects = core::slice::from_ref(object);
        pin_init::stack_pin_init!(let exec = Exec::new(1));
        let locked = exec.lock(objects)?;
        let job = Job::prepare(running, 0, &self.words, Load::Object(object.clone()))?;
        Ok(job.commit(|fence| locked.attach(fence, |_| Usage::Kernel)))
    }
}
