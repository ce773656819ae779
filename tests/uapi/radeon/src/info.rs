// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Version, capabilities, and what INFO answers on every family.

use crate::support;
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::Errno;
use lapidary_guest::abi::{self, info_request};
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Test, refused};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("info/version", version),
        Test::new("info/capabilities", capabilities),
        Test::new("info/identity", identity),
        Test::new("info/working", working),
        Test::new("info/answers_are_as_long_as_documented", lengths),
        Test::new("info/unknown_requests", unknown),
        Test::new("info/bad_pointers", bad_pointers),
        Test::new("info/unknown_crtcs", crtcs),
        Test::new("info/usage_follows_objects", usage),
    ]
}

fn version(context: &mut Context) -> Result<()> {
    let version = context.device()?.version()?;
    ensure!(version.name == "radeon", "driver {}", version.name);
    ensure!(
        (version.number.0, version.number.1) == (2, 51),
        "version {:?}",
        version.number
    );
    Ok(())
}

fn capabilities(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // Any answer will do. The test is about the requests that must be refused.
    device.capability(abi::CAP_PRIME)?;
    let answer = device.capability(0x7777);
    ensure!(
        matches!(answer, Err(Errno::INVAL | Errno::OPNOTSUPP)),
        "capability 0x7777: {answer:?}"
    );
    Ok(())
}

fn identity(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let pci = PciDevice::of(&device)?;
    let id = device.info(const { info_request("DEVICE_ID") })?;
    ensure!(
        id == u64::from(pci.id("device")?),
        "INFO says {id:#x}, PCI {:#x}",
        pci.id("device")?
    );
    let crystal = device.info(const { info_request("CLOCK_CRYSTAL_FREQ") })?;
    ensure!(
        (10_000..200_000).contains(&crystal),
        "reference clock {crystal} kHz"
    );
    Ok(())
}

fn working(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for request in [
        info_request("ACCEL_WORKING"),
        info_request("ACCEL_WORKING2"),
    ] {
        ensure!(device.info(request)? == 1, "{}", request.name);
    }
    for request in [
        info_request("FUSION_GART_WORKING"),
        info_request("VA_UNMAP_WORKING"),
    ] {
        ensure!(device.info(request)? == 1, "{}", request.name);
    }
    for request in [
        "NUM_BYTES_MOVED",
        "VRAM_USAGE",
        "GTT_USAGE",
        "GPU_RESET_COUNTER",
        "FASTFB_WORKING",
    ] {
        device
            .info(find(request))
            .with_context(|| request.to_owned())?;
    }
    support::engine_works(&device)
}

/// There is no CRTC with such a number.
fn crtcs(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for id in [0, 0x7fff_ffff, u32::MAX] {
        let answer = device.info_with(find("CRTC_FROM_ID"), id);
        refused(&format!("CRTC {id:#x}"), answer, Errno::INVAL)?;
    }
    Ok(())
}

fn find(name: &str) -> abi::InfoRequest {
    info_request(name)
}

/// The kernel must write exactly the documented number of bytes.
fn lengths(context: &mut Context) -> Result<()> {
    const MARK: u8 = 0xa5;
    let device = context.device()?;
    for request in abi::INFO_REQUESTS {
        let mut buffer = [MARK; 256];
        buffer[..4].fill(0);
        let mut argument = abi::Info {
            request: request.id,
            pad: 0,
            value: buffer.as_mut_ptr() as u64,
        };
        let answer = device.ioctl(abi::RADEON_INFO, &mut argument);
        let used = if answer.is_ok() { request.bytes } else { 4 };
        ensure!(
            buffer[used..].iter().all(|&byte| byte == MARK),
            "{} wrote beyond {used} bytes",
            request.name
        );
    }
    Ok(())
}

fn unknown(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for id in [0x27, 0x28, 0x100, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        refused(
            &format!("request {id:#x}"),
            device.info_bytes(id, 0),
            Errno::INVAL,
        )?;
    }
    Ok(())
}

fn bad_pointers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // Null, an unmapped page, a kernel address, a non-canonical one.
    for value in [
        0,
        0x1000,
        0xffff_ffff_8100_0000,
        0x8000_0000_0000_0000,
        u64::MAX,
    ] {
        for name in [
            "DEVICE_ID",
            "WANT_HYPERZ",
            "VRAM_USAGE",
            "RING_WORKING",
            "CRTC_FROM_ID",
            "READ_REG",
        ] {
            let mut argument = abi::Info {
                request: find(name).id,
                pad: 0,
                value,
            };
            let answer = device.ioctl(abi::RADEON_INFO, &mut argument);
            refused(&format!("{name} to {value:#x}"), answer, Errno::FAULT)?;
        }
    }
    Ok(())
}

fn usage(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 1 << 20;
    let device = context.device()?;
    for (name, domain) in [
        ("VRAM_USAGE", lapidary_guest::Domain::Vram),
        ("GTT_USAGE", lapidary_guest::Domain::Gtt),
    ] {
        let before = device.info(find(name))?;
        let bo = device.create(SIZE, domain)?;
        bo.write(&[1])?;
        bo.wait()?;
        let with = device.info(find(name))?;
        ensure!(
            with >= before + SIZE,
            "{name}: {before} before, {with} with a new MiB"
        );
        drop(bo);
        let mut after = device.info(find(name))?;
        // The last reference may be dropped by a worker.
        for _ in 0..100 {
            if after <= before {
                break;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            after = device.info(find(name))?;
        }
        ensure!(
            after <= before,
            "{name}: {before} before, {after} after closing"
        );
    }
    Ok(())
}
