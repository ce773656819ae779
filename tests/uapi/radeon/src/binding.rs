// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Taking the device away from its driver while clients use it, by sysfs, and giving it back.

use crate::support::Radeon;
use anyhow::Result;
use lapidary_guest::painter::painter;
use lapidary_guest::{Device, Errno, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Test, refused};
use lapidary_uapi_shared::binding;

const PROMISE: &str = "our driver can be taken away in use";

pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).lapidary_only(PROMISE);
    vec![
        test("binding/idle", binding::idle::<Radeon>),
        test("binding/open_files", |c| {
            binding::open_files::<Radeon>(c, calls)
        }),
        test("binding/mappings", binding::mappings::<Radeon>),
        test("binding/work_under_way", binding::work_under_way::<Radeon>).needs_control(),
        test("binding/waiting_clients", |c| {
            binding::waiting_clients::<Radeon>(c, |control| painter().is_stopped(control))
        })
        .needs_control(),
        test("binding/busy_clients", binding::busy_clients::<Radeon>).limit(120),
    ]
}

/// Check that the calls on a file of a device that is gone are refused.
fn calls(device: &Device, handle: u32) -> Result<()> {
    let info = device.info(abi::info_request("DEVICE_ID"));
    refused("INFO", info, Errno::NODEV)?;
    refused("GEM_INFO", device.gem_info(), Errno::NODEV)?;
    let create = device.create_raw(PAGE, 0, abi::DOMAIN_GTT, 0);
    refused("GEM_CREATE", create, Errno::NODEV)?;
    refused("GEM_MMAP", device.mmap_offset(handle), Errno::NODEV)?;
    refused("GEM_WAIT_IDLE", device.wait_idle(handle), Errno::NODEV)?;
    refused("GEM_BUSY", device.busy(handle).0, Errno::NODEV)
}
