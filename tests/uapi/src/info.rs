// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Version, capabilities and INFO. Expected answers are those that upstream gives on R5xx and that
//! Mesa's r300 relies on.

use crate::support;
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::{self, info_request};
use lapidary_guest::{Device, Errno};
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Test, refused};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("info/version", version),
        Test::new("info/capabilities", capabilities),
        Test::new("info/identity", identity),
        Test::new("info/working", working),
        Test::new("info/not_for_this_family", not_for_this_family),
        Test::new("info/answers_are_as_long_as_documented", lengths),
        Test::new("info/unknown_requests", unknown),
        Test::new("info/bad_pointers", bad_pointers),
        Test::new("info/unknown_crtcs", crtcs),
        Test::new("info/rings", rings),
        Test::new("info/clocks", clocks),
        Test::new("info/one_owner_of_hyperz_and_cmask", owners),
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
    // Every answer is fine; what matters is that asking for nonsense is refused.
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
    let pipes = device.info(const { info_request("NUM_GB_PIPES") })?;
    ensure!((1..=4).contains(&pipes), "{pipes} GB pipes");
    let z_pipes = device.info(const { info_request("NUM_Z_PIPES") })?;
    ensure!((1..=2).contains(&z_pipes), "{z_pipes} Z pipes");
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
        info_request("MAX_SE"),
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

fn not_for_this_family(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for name in [
        "TILING_CONFIG",
        "NUM_BACKENDS",
        "NUM_TILE_PIPES",
        "BACKEND_MAP",
        "VA_START",
        "IB_VM_MAX_SIZE",
        "MAX_PIPES",
        "TIMESTAMP",
        "MAX_SH_PER_SE",
        "SI_TILE_MODE_ARRAY",
        "CIK_MACROTILE_MODE_ARRAY",
        "SI_BACKEND_ENABLED_MASK",
        "READ_REG",
    ] {
        refused(name, device.info(find(name)), Errno::INVAL)?;
    }
    Ok(())
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

/// The clocks that the video BIOS has set.
fn clocks(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.info(find("MAX_SCLK"))?;
    let engine = device.info(find("CURRENT_GPU_SCLK"))?;
    let memory = device.info(find("CURRENT_GPU_MCLK"))?;
    // In kHz and MHz; these chips have engines of 200 to 700 MHz.
    ensure!(
        (100_000..1_000_000).contains(&most) && engine == most / 1000,
        "the engine is said to run at {engine} MHz, at most at {most} kHz"
    );
    ensure!((100..2000).contains(&memory), "the memory at {memory} MHz");
    Ok(())
}

fn rings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let working = |ring| device.info_with(const { info_request("RING_WORKING") }, ring);
    ensure!(working(abi::RING_GFX)? == 1, "graphics ring");
    ensure!(
        working(abi::RING_COMPUTE)? == 1,
        "compute ring, which is the graphics ring here"
    );
    ensure!(
        working(abi::RING_DMA)? == 0,
        "DMA ring, which R5xx does not have"
    );
    for ring in [abi::RING_UVD, abi::RING_VCE] {
        // Upstream says 0; saying that there is no such ring is as good.
        ensure!(
            matches!(working(ring), Ok(0) | Err(Errno::INVAL)),
            "ring {ring}: {:?}",
            working(ring)
        );
    }
    for ring in [5, 100, u32::MAX] {
        refused(&format!("ring {ring}"), working(ring), Errno::INVAL)?;
    }
    Ok(())
}

fn owners(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = first.another()?;
    for request in [info_request("WANT_HYPERZ"), info_request("WANT_CMASK")] {
        let ask = |device: &Device, value| device.info_with(request, value);
        let name = request.name;
        ensure!(ask(&first, 1)? == 1, "{name}: the first asker gets it");
        ensure!(ask(&second, 1)? == 0, "{name}: the second does not");
        ensure!(ask(&first, 1)? == 1, "{name}: the owner keeps it");
        ensure!(
            ask(&second, 0)? == 0,
            "{name}: who has nothing gives nothing back"
        );
        ensure!(ask(&second, 1)? == 0, "{name}: it is still the first's");
        ensure!(ask(&first, 0)? == 0, "{name}: the owner gives it back");
        ensure!(ask(&second, 1)? == 1, "{name}: now the second gets it");
        refused(name, ask(&first, 2), Errno::INVAL)?;
        refused(name, ask(&first, u32::MAX), Errno::INVAL)?;
        let third = first.another()?;
        ensure!(
            ask(&second, 0)? == 0 && ask(&third, 1)? == 1,
            "{name}: a third gets it"
        );
        drop(third);
        ensure!(
            ask(&first, 1)? == 1,
            "{name}: closing the file gives it back"
        );
        ensure!(ask(&first, 0)? == 0, "{name}: given back");
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
