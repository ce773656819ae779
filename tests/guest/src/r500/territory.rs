// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Telling the device model which GPU bytes belong to whose object, so that its judge sees an engine step outside.
//!
//! No driver tells where an object lies; but a stream that sets the 2D engine's destination leaves the address in
//! the register, where the model can be asked for it. Nothing is drawn by that. Objects must stay where they are
//! while they are declared; the harness takes declarations back after each test.

use super::draw2d::Surface;
use crate::bo::Bo;
use crate::stream::{Access, Stream};
use anyhow::{Context, Result, ensure};
use lapidary_harness::control::Control;
use lapidary_registers::r500::mmio::{self, dst_pitch_offset};

/// The object's GPU address in bytes.
pub fn address(control: &mut Control, bo: &Bo) -> Result<u64> {
    let mut stream = Stream::new();
    stream
        .register(mmio::DST_PITCH_OFFSET, Surface::new(bo, 64).pitch_offset())
        .relocation(bo, Access::Write);
    bo.device().submit(&stream).context("naming the object")?;
    bo.wait()?;
    let answer = control.request("peek DST_PITCH_OFFSET")?;
    let text = answer.first().context("no answer")?;
    let word =
        u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).context(text.clone())?;
    Ok(u64::from(dst_pitch_offset::OFFSET.get(word)) * 1024)
}

/// Declares the objects, each under its name; everything else is nobody's from now on.
pub fn declare(control: &mut Control, objects: &[(&str, &Bo)]) -> Result<()> {
    for (name, bo) in objects {
        let at = address(control, bo)?;
        ensure!(!name.contains(' '), "{name}");
        control.request(&format!("object {at:#x} {:#x} {name}", bo.size()))?;
    }
    Ok(())
}
