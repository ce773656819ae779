// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A client of the device: one open render node.
//!
//! Two `Device`s are two clients; neither may see the other's objects. Dropping one closes the file and with it every
//! handle.

use crate::abi::{self, Param};
use crate::bo::Bo;
use anyhow::Result;
use lapidary_harness::interface;
use lapidary_harness::limit::insist;
use lapidary_harness::node::Node;
use lapidary_harness::{Context, Driver};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};
use std::fmt;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Where an object is when it is new.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In the frame buffer, if there is room.
    FrameBuffer,
    /// In system pages.
    System,
}

impl Place {
    /// Both, for tests that run over them.
    pub const ALL: [Place; 2] = [Place::FrameBuffer, Place::System];

    /// Return the flags of such an object.
    pub const fn flags(self) -> u32 {
        match self {
            Place::FrameBuffer => 0,
            Place::System => abi::GEM_SYSTEM,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Place::FrameBuffer => "the frame buffer",
            Place::System => "system pages",
        })
    }
}

/// What the driver says of a client's refused submissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// How many there were.
    pub count: u64,
    /// Reason of the last one.
    pub reason: u32,
    /// Position of the last one.
    pub position: u32,
}

/// An open render node of a `chrome9` device.
#[derive(Debug)]
pub struct Device {
    node: Arc<Node>,
}

impl Device {
    /// Open the first render node whose driver calls itself `chrome9`.
    pub fn open() -> Result<Rc<Device>> {
        let node = Arc::new(Node::of_driver(abi::NAME)?);
        Ok(Rc::new(Device { node }))
    }

    /// Open it, waiting up to `limit` for it to appear.
    pub fn open_within(limit: Duration) -> Result<Rc<Device>> {
        insist(limit, Device::open)
    }

    /// Open another client of the same device.
    pub fn another(&self) -> Result<Rc<Device>> {
        let node = Arc::new(Node::open(self.path())?);
        Ok(Rc::new(Device { node }))
    }

    /// Ask for a number by its number.
    pub fn param_raw(&self, param: u32, reserved: u32) -> Result<u64, Errno> {
        let mut argument = abi::GetParam {
            param,
            reserved,
            value: 0,
        };
        self.ioctl(abi::GET_PARAM, &mut argument)?;
        Ok(argument.value)
    }

    /// Ask for a number.
    pub fn param(&self, param: Param) -> Result<u64, Errno> {
        self.param_raw(param.number(), 0)
    }

    /// Return what became of refused submissions of this client.
    pub fn refusal(&self) -> Result<Refusal, Errno> {
        Ok(Refusal {
            count: self.param(Param::Refusals)?,
            reason: self.param(Param::RefusalReason)? as u32,
            position: self.param(Param::RefusalPosition)? as u32,
        })
    }

    /// Create an object and return the kernel's answer.
    pub fn create_raw(&self, size: u64, flags: u32) -> Result<abi::GemCreate, Errno> {
        let mut argument = abi::GemCreate {
            size,
            flags,
            handle: 0,
        };
        self.ioctl(abi::GEM_CREATE, &mut argument)?;
        Ok(argument)
    }

    /// Create an object that is closed when dropped.
    pub fn create(self: &Rc<Self>, size: u64, place: Place) -> Result<Bo, Errno> {
        let answer = self.create_raw(size, place.flags())?;
        Ok(Bo::adopt(self.clone(), answer.handle, answer.size, place))
    }

    /// Return the offset at which mmap(2) finds the object.
    pub fn mmap_offset(&self, handle: u32) -> Result<u64, Errno> {
        let mut argument = abi::GemMmap {
            handle,
            ..Default::default()
        };
        self.ioctl(abi::GEM_MMAP, &mut argument)?;
        Ok(argument.offset)
    }

    /// Wait until nothing uses the object, or until a time of the monotonic clock.
    pub fn wait_until(&self, handle: u32, timeout_ns: i64) -> Result<(), Errno> {
        let mut argument = abi::GemWait {
            handle,
            reserved: 0,
            timeout_ns,
        };
        self.ioctl(abi::GEM_WAIT, &mut argument).map(drop)
    }

    /// Wait until nothing uses the object, at most `limit`.
    pub fn wait(&self, handle: u32, limit: Duration) -> Result<(), Errno> {
        self.wait_until(handle, now_ns().saturating_add(limit.as_nanos() as i64))
    }
}

/// Return the time of the monotonic clock in nanoseconds.
pub fn now_ns() -> i64 {
    let now = Duration::try_from(clock_gettime(ClockId::Monotonic));
    now.map_or(0, |now| now.as_nanos() as i64)
}

impl interface::Device for Device {
    fn open() -> Result<Rc<Device>> {
        Device::open()
    }

    fn another(&self) -> Result<Rc<Device>> {
        self.another()
    }
}

/// What the DRM core offers.
impl Deref for Device {
    type Target = Arc<Node>;

    fn deref(&self) -> &Arc<Node> {
        &self.node
    }
}

impl AsFd for Device {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.node.as_fd()
    }
}

/// Return the driver under test, for a test program's `main`. There is one: ours.
pub fn driver() -> Option<Driver> {
    let found = Device::open_within(Duration::from_secs(2)).ok();
    found.map(|_| Driver::Lapidary)
}

/// What a test is given beside the harness's own.
pub trait Client {
    /// Return a client of the device.
    fn device(&self) -> Result<Rc<Device>>;

    /// Return two clients of the device.
    fn devices(&self) -> Result<(Rc<Device>, Rc<Device>)> {
        let device = self.device()?;
        let another = device.another()?;
        Ok((device, another))
    }
}

impl Client for Context {
    fn device(&self) -> Result<Rc<Device>> {
        Device::open_within(Duration::from_secs(5))
    }
}
