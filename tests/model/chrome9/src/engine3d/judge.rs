// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is wrong with what a draw or a picture may touch: memory that is not there, objects of others, rows at one place.

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::enums::location_3d;

use super::area::Footprint;
use crate::chips::DISPLAY;
use crate::gart::Gart;
use crate::{bus, kind};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// Behind the last address that a parameter can have.
const END: u64 = 1 << 32;

/// Judge footprints, and list them in the trace. Return whether all of the memory is there, whoever has it.
pub fn touch(m: &mut Machine, gart: &mut Gart, footprints: &[Footprint]) -> bool {
    let mut there = true;
    for footprint in footprints {
        m.trace.line(format_args!("  {footprint}"));
        there &= one(m, gart, footprint);
    }
    there
}

/// Judge one. Each is at most one finding of a kind. Return whether all of the memory is there.
fn one(m: &mut Machine, gart: &mut Gart, footprint: &Footprint) -> bool {
    let runs = footprint.area.runs;
    if runs.is_empty() {
        return true;
    }
    if runs.stride == 0 && runs.rows > 1 {
        m.finding(kind::PITCH_ZERO, format_args!("{footprint}"));
    }
    let (start, end) = (runs.start, runs.end());
    let space = match footprint.location {
        location_3d::SYSTEM_LOCAL => {
            if end > m.vram.len() {
                m.finding(kind::FRAME_BUFFER_RANGE, format_args!("{footprint}"));
                return false;
            }
            bus::FRAME_BUFFER
        }
        location_3d::SYSTEM_DYNAMIC => {
            if end > END {
                m.finding(kind::GART_FAULT, format_args!("{footprint}"));
                return false;
            }
            if !pages(m, gart, footprint) {
                return false;
            }
            bus::GART
        }
        location => {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("location {location:02b}b: {footprint}"),
            );
            return false;
        }
    };
    // First and last byte are touched, and an object has no gaps: what holds both holds all.
    if !m.in_object(space, start, end - start) {
        m.finding(kind::OUTSIDE_OBJECTS, format_args!("{footprint}"));
    }
    true
}

/// Judge the pages behind the GART. Return whether all are there; the first that is not is a finding.
fn pages(m: &mut Machine, gart: &mut Gart, footprint: &Footprint) -> bool {
    if !m.functions[DISPLAY].pci.bus_master() {
        m.finding(kind::BUS_MASTER_OFF, format_args!("{footprint}"));
        return false;
    }
    let mut last = None;
    for (from, to) in footprint.area.runs.iter() {
        for page in from / PAGE..=(to - 1) / PAGE {
            if last.replace(page) == Some(page) {
                continue;
            }
            let Some(address) = gart.translate(m, page * PAGE) else {
                return false;
            };
            if !m.functions[DISPLAY].ram.read(address, &mut [0]) {
                m.finding(
                    kind::DMA_FAULT,
                    format_args!("{address:#010x}: {footprint}"),
                );
                return false;
            }
        }
    }
    true
}
