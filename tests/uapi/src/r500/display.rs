// SPDX-License-Identifier: GPL-2.0 OR MIT

//! On a card whose firmware shows a picture, the picture stays: clients fill all of video memory and
//! the scan-out keeps its bytes, the display controller its registers.
//!
//! Skipped unless the model was started with an active display. What displays interrupt is seen without one.

use anyhow::{Result, ensure};
use lapidary_engines::r500::draw2d::{self, Rect, Surface};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Domain, Stream};
use lapidary_harness::control::Control;
use lapidary_harness::{Context, Test, skip};
use lapidary_registers::r500::mmio;
use lapidary_uapi_radeon::support::{PITCH, WIDTH, engine_works, fill, peek, surface, within};
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("display/picture_survives_full_memory", picture_survives)
            .needs_control()
            .limit(120),
        Test::new("display/registers_survive_drawing", registers_survive).needs_control(),
        Test::new("faults/display_interrupts", display_interrupts)
            .needs_control()
            .lapidary_only("upstream's driver has a use for them"),
    ]
}

/// Registers of a CRTC and of the surface that it shows.
struct Crtc {
    control: &'static str,
    enable: &'static str,
    depth: &'static str,
    address: &'static str,
    pitch: &'static str,
    rows: &'static str,
}

const CRTCS: [Crtc; 2] = [
    Crtc {
        control: "D1CRTC_CONTROL",
        enable: "D1GRPH_ENABLE",
        depth: "D1GRPH_CONTROL",
        address: "D1GRPH_PRIMARY_SURFACE_ADDRESS",
        pitch: "D1GRPH_PITCH",
        rows: "D1GRPH_Y_END",
    },
    Crtc {
        control: "D2CRTC_CONTROL",
        enable: "D2GRPH_ENABLE",
        depth: "D2GRPH_CONTROL",
        address: "D2GRPH_PRIMARY_SURFACE_ADDRESS",
        pitch: "D2GRPH_PITCH",
        rows: "D2GRPH_Y_END",
    },
];

/// Return where in video memory the pictures lie that are shown: first byte and length of each.
pub fn scan_outs(control: &mut Control) -> Result<Vec<(u64, u64)>> {
    let mut found = Vec::new();
    for crtc in &CRTCS {
        // Both have the same fields.
        let enabled = mmio::d1crtc_control::CRTC_MASTER_EN.any(peek(control, crtc.control)?);
        if !enabled || peek(control, crtc.enable)? & 1 == 0 {
            continue;
        }
        let address = u64::from(peek(control, crtc.address)?);
        // The address is the memory controller's; VRAM begins where MC_FB_LOCATION says, in 64 KiB.
        let start = u64::from(peek(control, "MC_FB_LOCATION")? & 0xffff) << 16;
        let rows = u64::from(peek(control, crtc.rows)?);
        // Pitch in pixels, of 1 << depth bytes.
        let depth = mmio::d1grph_control::GRPH_DEPTH.get(peek(control, crtc.depth)?);
        let bytes = (u64::from(peek(control, crtc.pitch)?) << depth) * rows;
        ensure!(
            address >= start && bytes > 0,
            "scan-out at {address:#x}, VRAM from {start:#x}, {bytes} bytes"
        );
        found.push((address - start, bytes));
    }
    Ok(found)
}

/// Return the pictures' bytes; the test is skipped where none is shown.
pub fn pictures(control: &mut Control) -> Result<Vec<String>> {
    let mut lines = Vec::new();
    for (offset, bytes) in scan_outs(control)? {
        lines.extend(vram(control, offset, bytes)?);
    }
    if lines.is_empty() {
        return skip("no display is active");
    }
    Ok(lines)
}

fn vram(control: &mut Control, offset: u64, bytes: u64) -> Result<Vec<String>> {
    const AT_ONCE: u64 = 1 << 18;
    let mut lines = Vec::new();
    for at in (0..bytes).step_by(AT_ONCE as usize) {
        lines.extend(control.request(&format!(
            "vram {} {}",
            offset + at,
            AT_ONCE.min(bytes - at)
        ))?);
    }
    Ok(lines)
}

const REGISTERS: [&str; 12] = [
    "D1CRTC_CONTROL",
    "D1GRPH_ENABLE",
    "D1GRPH_CONTROL",
    "D1GRPH_PRIMARY_SURFACE_ADDRESS",
    "D1GRPH_PITCH",
    "D1CRTC_H_TOTAL",
    "D1CRTC_V_TOTAL",
    "D2CRTC_CONTROL",
    "D2GRPH_ENABLE",
    "D2GRPH_PRIMARY_SURFACE_ADDRESS",
    "D2GRPH_PITCH",
    "MC_FB_LOCATION",
];

fn registers(control: &mut Control) -> Result<Vec<u32>> {
    REGISTERS.iter().map(|name| peek(control, name)).collect()
}

fn registers_survive(context: &mut Context) -> Result<()> {
    if scan_outs(context.control()?)?.is_empty() {
        return skip("no display is active");
    }
    let before = registers(context.control()?)?;
    engine_works(&context.device()?)?;
    let after = registers(context.control()?)?;
    for ((name, before), after) in REGISTERS.iter().zip(before).zip(after) {
        ensure!(before == after, "{name} was {before:#x}, is {after:#x}");
    }
    Ok(())
}

fn picture_survives(context: &mut Context) -> Result<()> {
    let before = pictures(context.control()?)?;
    ensure!(
        before.iter().any(|piece| piece != &before[0]),
        "the picture is all of one colour: damage could not be seen"
    );
    let device = context.device()?;
    // Large objects first, then ever smaller ones into what is left. When nothing is left others make room; that ends
    // when all together are a little more than video memory.
    let mut objects: Vec<Bo> = Vec::new();
    let (mut size, mut made) = (16 << 20, 0);
    let most = device.gem_info()?.vram_size + (32 << 20);
    while size >= 1 << 16 && made < most {
        match device.create(size, Domain::Vram) {
            Ok(bo) if device.busy(bo.handle()).1 == Domain::Vram.bits() => {
                made += bo.size();
                objects.push(bo);
            }
            // Elsewhere, or not at all: video memory is full for this size.
            _ => size /= 4,
        }
    }
    ensure!(objects.len() > 8, "only {} objects", objects.len());
    for (i, bo) in objects.iter().enumerate() {
        let rows = (bo.size() / u64::from(PITCH)).min(8000) as i32;
        let mut stream = Stream::new();
        let to = Surface::new(bo, PITCH);
        draw2d::fill_by_registers(
            &mut stream,
            to,
            0x0bad_0000 + i as u32,
            Rect::new(0, 0, WIDTH, rows),
        );
        device.submit(&stream)?;
        let mapping = bo.map()?;
        for word in (0..mapping.len()).step_by(1021) {
            mapping.set(word, 0x0bad_f00d);
        }
    }
    for bo in &objects {
        bo.wait()?;
    }
    let after = pictures(context.control()?)?;
    let changed = before
        .iter()
        .zip(&after)
        .filter(|(before, after)| before != after)
        .count();
    ensure!(
        changed == 0,
        "{changed} of {} pieces of the picture changed",
        before.len()
    );
    Ok(())
}

/// A display interrupt that the driver has not enabled is switched off, and waits end with their work.
fn display_interrupts(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    // With messages it shows when the next wait arms the interrupt.
    for (colour, displays) in [(1, 1), (2, 0)] {
        context.control()?.fault("late-fence", 1)?;
        if displays != 0 {
            context.control()?.fault("display-interrupt", displays)?;
        }
        device.submit(&fill(&bo, colour))?;
        within(Duration::from_secs(4), "the wait", || bo.wait())??;
        ensure!(bo.read()?[0] == colour, "the wait ended before the work");
    }
    let mask = peek(context.control()?, "DXMODE_INT_MASK")?;
    ensure!(mask == 0, "displays may interrupt: {mask:#x}");
    engine_works(&device)
}
