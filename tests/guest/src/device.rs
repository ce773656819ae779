// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A client of the device: one open render node.
//!
//! Two `Device`s are two clients; neither may see the other's objects. Dropping one closes the file
//! and with it every handle.

use crate::abi;
use crate::bo::Bo;
use crate::painter;
use anyhow::Result;
use lapidary_harness::interface;
use lapidary_harness::limit::insist;
use lapidary_harness::node::Node;
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Driver};
use rustix::io::Errno;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Where an object may live.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Video memory.
    Vram,
    /// System memory through the GART.
    Gtt,
}

impl Domain {
    /// Return the interface's bit.
    pub const fn bits(self) -> u32 {
        match self {
            Domain::Vram => abi::DOMAIN_VRAM,
            Domain::Gtt => abi::DOMAIN_GTT,
        }
    }

    /// Both, for tests that run over them.
    pub const ALL: [Domain; 2] = [Domain::Vram, Domain::Gtt];
}

/// An open render node of a `radeon` device.
#[derive(Debug)]
pub struct Device {
    node: Arc<Node>,
}

impl Device {
    /// Open the first render node whose driver calls itself `radeon`.
    pub fn open() -> Result<Rc<Device>> {
        let node = Arc::new(Node::of_driver("radeon")?);
        let device = Device { node };
        painter::choose(&device);
        Ok(Rc::new(device))
    }

    /// Open it, waiting up to `limit` for it to appear.
    pub fn open_within(limit: Duration) -> Result<Rc<Device>> {
        insist(limit, Device::open)
    }

    /// Open one node, whatever its driver.
    pub fn open_path(path: &Path) -> Result<Device> {
        let node = Arc::new(Node::open(path)?);
        Ok(Device { node })
    }

    /// Open another client of the same device.
    pub fn another(&self) -> Result<Rc<Device>> {
        Ok(Rc::new(Device::open_path(self.path())?))
    }

    /// Return the sizes of the memory pools.
    pub fn gem_info(&self) -> Result<abi::GemInfo, Errno> {
        let mut argument = abi::GemInfo::default();
        self.ioctl(abi::RADEON_GEM_INFO, &mut argument)?;
        Ok(argument)
    }

    /// Ask for one number; answers of 8 bytes whole, of 4 bytes zero-extended.
    pub fn info(&self, request: abi::InfoRequest) -> Result<u64, Errno> {
        self.info_with(request, 0)
    }

    /// Ask with an input value.
    pub fn info_with(&self, request: abi::InfoRequest, input: u32) -> Result<u64, Errno> {
        let bytes = self.info_bytes(request.id, input)?;
        Ok(u64::from_le_bytes(
            bytes[..8].try_into().expect("eight bytes"),
        ))
    }

    /// Ask by number, into a zeroed buffer that is large enough for every answer. The first dword
    /// holds `input` when the kernel reads it.
    pub fn info_bytes(&self, id: u32, input: u32) -> Result<[u8; 256], Errno> {
        let mut buffer = [0u8; 256];
        buffer[..4].copy_from_slice(&input.to_le_bytes());
        let mut argument = abi::Info {
            request: id,
            pad: 0,
            value: buffer.as_mut_ptr() as u64,
        };
        self.ioctl(abi::RADEON_INFO, &mut argument)?;
        Ok(buffer)
    }

    /// Return what our own driver adds to the interface, as bits; others refuse the question.
    pub fn features(&self) -> Result<u64, Errno> {
        self.info(abi::LAPIDARY_INFO_REQUESTS[1])
    }

    /// Return what resets have done to this client. Our own driver only.
    pub fn reset_status(&self) -> Result<abi::ResetStatus, Errno> {
        let bytes = self.info_bytes(abi::LAPIDARY_INFO_REQUESTS[2].id, 0)?;
        let word = |i: usize| u32::from_le_bytes(bytes[4 * i..][..4].try_into().expect("four"));
        Ok(abi::ResetStatus {
            guilty: word(0),
            innocent: word(1),
            resets: word(2),
            flags: word(3),
        })
    }

    /// Return why the last submission of this client was refused. Our own driver only.
    pub fn last_refusal(&self) -> Result<abi::LastRefusal, Errno> {
        let bytes = self.info_bytes(abi::LAPIDARY_INFO_REQUESTS[3].id, 0)?;
        let word = |i: usize| u32::from_le_bytes(bytes[4 * i..][..4].try_into().expect("four"));
        let text = bytes[24..128].split(|&byte| byte == 0).next();
        Ok(abi::LastRefusal {
            count: u64::from(word(0)) | (u64::from(word(1)) << 32),
            reason: word(2),
            position: word(3),
            error: word(4),
            text: String::from_utf8_lossy(text.unwrap_or_default()).into_owned(),
        })
    }

    /// Make an object; `size` and `alignment` in bytes.
    pub fn create_raw(
        &self,
        size: u64,
        alignment: u64,
        domain: u32,
        flags: u32,
    ) -> Result<u32, Errno> {
        let mut argument = abi::GemCreate {
            size,
            alignment,
            initial_domain: domain,
            flags,
            ..Default::default()
        };
        self.ioctl(abi::RADEON_GEM_CREATE, &mut argument)?;
        Ok(argument.handle)
    }

    /// Make an object that is closed when dropped.
    pub fn create(self: &Rc<Self>, size: u64, domain: Domain) -> Result<Bo, Errno> {
        let handle = self.create_raw(size, 0, domain.bits(), 0)?;
        Ok(Bo::adopt(self.clone(), handle, size, domain))
    }

    /// Return the offset at which mmap(2) finds the object.
    pub fn mmap_offset(&self, handle: u32) -> Result<u64, Errno> {
        let mut argument = abi::GemMmap {
            handle,
            ..Default::default()
        };
        self.ioctl(abi::RADEON_GEM_MMAP, &mut argument)?;
        Ok(argument.addr_ptr)
    }

    /// Wait until the GPU is done with the object.
    pub fn wait_idle(&self, handle: u32) -> Result<(), Errno> {
        self.ioctl(
            abi::RADEON_GEM_WAIT_IDLE,
            &mut abi::GemWaitIdle { handle, pad: 0 },
        )
        .map(drop)
    }

    /// Return the result of the busy query and the domain it reported.
    pub fn busy(&self, handle: u32) -> (Result<(), Errno>, u32) {
        let mut argument = abi::GemBusy { handle, domain: 0 };
        let result = self.ioctl(abi::RADEON_GEM_BUSY, &mut argument).map(drop);
        (result, argument.domain)
    }

    /// Return how often the engine was reset since the module was loaded.
    pub fn reset_counter(&self) -> Result<u32, Errno> {
        Ok(self.info(const { abi::info_request("GPU_RESET_COUNTER") })? as u32)
    }
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

/// Return whether the device is bound to upstream's driver instead of ours.
pub fn on_upstream(device: &Device) -> bool {
    PciDevice::of(device).is_ok_and(|pci| pci.driver().as_deref() == Some("radeon"))
}

/// Return the driver under test, for a test program's `main`.
pub fn driver() -> Option<Driver> {
    let device = Device::open_within(Duration::from_secs(2)).ok()?;
    Some(if on_upstream(&device) {
        Driver::Upstream
    } else {
        Driver::Lapidary
    })
}

/// What a test of the `radeon` interface is given beside the harness's own.
pub trait Client {
    /// Return a client of the device.
    fn device(&self) -> Result<Rc<Device>>;
}

impl Client for Context {
    fn device(&self) -> Result<Rc<Device>> {
        Device::open_within(Duration::from_secs(5))
    }
}
