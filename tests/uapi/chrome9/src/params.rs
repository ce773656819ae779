// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GET_PARAM, the driver's name, and what the DRM core says it can.

use crate::support::engine_works;
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::device::Refusal;
use lapidary_chrome9_client::{Client as _, Errno};
use lapidary_harness::drm::{CAP_DUMB_BUFFER, CAP_PRIME, CAP_SYNCOBJ, CAP_SYNCOBJ_TIMELINE};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Test, refused};

/// The PCI device of graphics in VX855 and VX875.
const VX855: u64 = 0x5122;
/// BAR with the frame buffer.
const FRAME_BUFFER: usize = 0;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("params/the_driver_has_its_name", name),
        Test::new("params/the_chip_is_the_pci_device", chip),
        Test::new("params/memory_has_sizes", sizes),
        Test::new("params/limits_are_useful", limits),
        Test::new("params/unknown_ones_are_refused", unknown),
        Test::new("params/reserved_has_to_be_zero", reserved),
        Test::new("params/a_new_client_was_never_refused", new_client),
        Test::new("params/answers_do_not_depend_on_work", stable),
        Test::new("params/capabilities", capabilities),
    ]
}

fn name(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let version = device.version()?;
    ensure!(version.name == "chrome9", "it is called {}", version.name);
    ensure!(
        version.number.0 == 1,
        "version {:?}, expected 1",
        version.number
    );
    ensure!(!version.description.is_empty(), "no description");
    let (pci, driver) = crate::support::bound(&device)?;
    ensure!(driver == "chrome9", "the module is called {driver}");
    ensure!(pci.id("vendor")? == 0x1106, "the vendor is not VIA");
    Ok(())
}

fn chip(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let id = device.param(Param::Chip)?;
    let pci = PciDevice::of(&device)?.id("device")?;
    ensure!(
        id == VX855 && id == pci.into(),
        "{id:#x}, PCI says {pci:#x}"
    );
    Ok(())
}

fn sizes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (first, last, _) = PciDevice::of(&device)?.resource(FRAME_BUFFER)?;
    let bar = last - first + 1;
    let frame_buffer = device.param(Param::FrameBufferSize)?;
    ensure!(
        frame_buffer % PAGE == 0 && frame_buffer <= bar && frame_buffer >= bar / 2,
        "{frame_buffer:#x} bytes of a frame buffer of {bar:#x}"
    );
    let gart = device.param(Param::GartSize)?;
    ensure!(
        gart % PAGE == 0 && (16 << 20..=1 << 32).contains(&gart),
        "{gart:#x} bytes behind the GART"
    );
    Ok(())
}

fn limits(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // A screen of 1024 x 768 pixels is drawn from 2048 pictures of letters, say; and a copy has two objects.
    for (param, least) in [
        (Param::MostDwords, 16 << 10),
        (Param::MostObjects, 64),
        (Param::MostRelocations, 1024),
        (Param::MostSyncs, 16),
    ] {
        let most = device.param(param)?;
        ensure!(
            (least..=1 << 20).contains(&most),
            "{param:?} is {most}, expected at least {least}"
        );
    }
    let dwords = device.param(Param::MostDwords)?;
    ensure!(dwords % 4 == 0, "{dwords} dwords are no whole units");
    Ok(())
}

fn unknown(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let first = Param::ALL.len() as u32;
    for number in [first, first + 1, 0x7fff_ffff, 0x8000_0000, u32::MAX] {
        let answer = device.param_raw(number, 0);
        refused(&format!("parameter {number:#x}"), answer, Errno::INVAL)?;
    }
    Ok(())
}

fn reserved(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for param in Param::ALL {
        for reserved in [1, 1 << 31, u32::MAX] {
            let answer = device.param_raw(param.number(), reserved);
            refused(&format!("{param:?}, {reserved:#x}"), answer, Errno::INVAL)?;
        }
    }
    Ok(())
}

fn new_client(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let refusal = device.refusal()?;
    let none = Refusal {
        count: 0,
        reason: 0,
        position: 0,
    };
    ensure!(refusal == none, "{refusal:?}");
    let guilty = device.param(Param::GuiltyResets)?;
    ensure!(guilty == 0, "it has caused {guilty} resets");
    Ok(())
}

fn stable(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let all = || -> Result<Vec<u64>> {
        let answers = Param::ALL.map(|param| {
            device
                .param(param)
                .with_context(|| format!("asking for {param:?}"))
        });
        answers.into_iter().collect()
    };
    let before = all()?;
    engine_works(&device)?;
    let after = all()?;
    ensure!(before == after, "{before:?} before, {after:?} after");
    Ok(())
}

fn capabilities(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for capability in [CAP_SYNCOBJ, CAP_SYNCOBJ_TIMELINE] {
        let value = device.capability(capability)?;
        ensure!(value == 1, "capability {capability:#x} is {value}");
    }
    // Import and export.
    ensure!(device.capability(CAP_PRIME)? == 3, "no dma-bufs");
    // There is no display.
    let dumb = device.capability(CAP_DUMB_BUFFER).unwrap_or(0);
    ensure!(dumb == 0, "dumb buffers of a render node");
    Ok(())
}
