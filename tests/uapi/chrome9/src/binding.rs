// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the device away from its driver while clients use it, by sysfs, and giving it back.

use crate::support::{Chrome9, engine_works};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::{Client as _, Device, Errno, Place};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use lapidary_uapi_shared::binding;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("binding/idle", binding::idle::<Chrome9>),
        Test::new("binding/open_files_are_dead", |c| {
            binding::open_files::<Chrome9>(c, calls)
        }),
        Test::new("binding/mappings_are_dead", binding::mappings::<Chrome9>),
        Test::new("binding/work_under_way", binding::work_under_way::<Chrome9>).needs_control(),
        Test::new("binding/waiting_clients", |c| {
            binding::waiting_clients::<Chrome9>(c, |_| Ok(()))
        })
        .needs_control(),
        Test::new("binding/busy_clients", binding::busy_clients::<Chrome9>).limit(120),
        Test::new("binding/a_module_in_use_stays", module_stays),
    ]
}

/// Check that the calls on a file of a device that is gone are refused.
fn calls(device: &Device, handle: u32) -> Result<()> {
    for param in Param::ALL {
        refused("GET_PARAM", device.param(param), Errno::NODEV)?;
    }
    refused("GEM_CREATE", device.create_raw(PAGE, 0), Errno::NODEV)?;
    refused("GEM_MMAP", device.mmap_offset(handle), Errno::NODEV)?;
    let wait = device.wait(handle, Duration::from_secs(20));
    refused("GEM_WAIT", wait, Errno::NODEV)
}

/// A file keeps the module, and a mapping without a file does, too.
fn module_stays(context: &mut Context) -> Result<()> {
    let remove = || {
        let name = c"chrome9";
        // SAFETY: a plain system call with the name of a module.
        let answer =
            unsafe { libc::syscall(libc::SYS_delete_module, name.as_ptr(), libc::O_NONBLOCK) };
        match answer {
            0 => Ok(()),
            _ => Err(lapidary_harness::node::last_errno()),
        }
    };
    let device = context.device()?;
    refused("with a file", remove(), Errno::AGAIN)?;
    let bo = device.create(PAGE, Place::System)?;
    let mapping = bo.map()?;
    mapping.set(0, 3);
    drop((bo, device));
    refused("with a mapping", remove(), Errno::AGAIN)?;
    ensure!(mapping.get(0) == 3, "the mapping is dead");
    drop(mapping);
    engine_works(&context.device()?)
}
