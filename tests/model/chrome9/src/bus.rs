// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory as the chip's units reach it. Each location (L583-590) is an address space of its own.

use lapidary_model::machine::{Machine, SPACE};

use lapidary_registers::chrome9::enums::location;

use crate::chips::DISPLAY;
use crate::fetch::Place;
use crate::gart::Gart;
use crate::kind;
use crate::unit::Unit;

/// The address space of the frame buffer (S.L.), by offset: the one in which tests declare objects.
pub const FRAME_BUFFER: u32 = SPACE;
/// The address space behind the GART (S.F.), by addresses of the GART: tests declare objects of the 3D engine in it.
pub const GART: u32 = 1;

/// Read the frame buffer. What lies beyond its end reads as ones and is a finding.
pub fn read(m: &mut Machine, unit: Unit, address: u64, bytes: &mut [u8]) -> bool {
    if !judged(m, unit, address, bytes.len() as u64, "reads") || !m.vram.read(address, bytes) {
        bytes.fill(0xff);
        return false;
    }
    true
}

/// Write the frame buffer. What lies beyond its end is lost and a finding.
pub fn write(m: &mut Machine, unit: Unit, address: u64, bytes: &[u8]) {
    if judged(m, unit, address, bytes.len() as u64, "writes") {
        m.vram.write(address, bytes);
    }
}

/// Judge an access to the frame buffer. Return whether it is inside.
fn judged(m: &mut Machine, unit: Unit, address: u64, len: u64, does: &str) -> bool {
    if address
        .checked_add(len)
        .is_none_or(|end| end > m.vram.len())
    {
        m.finding(
            kind::FRAME_BUFFER_RANGE,
            format_args!("{unit:?} {does} {len} bytes at {address:#010x}"),
        );
        return false;
    }
    if unit.is_engine() && !m.in_object(FRAME_BUFFER, address, len) {
        m.finding(
            kind::OUTSIDE_OBJECTS,
            format_args!("{unit:?} {does} {len} bytes at {address:#010x}"),
        );
    }
    true
}

/// Write a dword of system memory by its bus address.
pub fn write_system(m: &mut Machine, unit: Unit, address: u64, value: u32) {
    if !m.functions[DISPLAY].pci.bus_master() {
        m.finding(
            kind::BUS_MASTER_OFF,
            format_args!("{unit:?} writes {address:#010x}"),
        );
        return;
    }
    if !m.functions[DISPLAY]
        .ram
        .write(address, &value.to_le_bytes())
    {
        m.finding(
            kind::DMA_FAULT,
            format_args!("{unit:?} writes {address:#010x}"),
        );
    }
}

/// Return the bus address behind a place outside of the frame buffer, whose bytes are all in one page.
fn system(m: &mut Machine, gart: &mut Gart, place: Place, what: &str) -> Option<u64> {
    let address = match place.location {
        location::SYSTEM_DYNAMIC => gart.translate(m, place.at)?,
        location::RESERVED => {
            m.finding(kind::RESERVED_VALUE, format_args!("{what}: location 11b"));
            return None;
        }
        _ => place.at,
    };
    if !m.functions[DISPLAY].pci.bus_master() {
        m.finding(
            kind::BUS_MASTER_OFF,
            format_args!("{what} at {address:#010x}"),
        );
        return None;
    }
    Some(address)
}

/// Read a unit of a stream, which never crosses a page. Return whether there is one.
pub fn fetch(m: &mut Machine, gart: &mut Gart, place: Place, bytes: &mut [u8]) -> bool {
    if place.location == location::SYSTEM_LOCAL {
        return read(m, Unit::Fetch, place.at, bytes);
    }
    let Some(address) = system(m, gart, place, "a stream") else {
        return false;
    };
    let there = m.functions[DISPLAY].ram.read(address, bytes);
    if !there {
        m.finding(kind::DMA_FAULT, format_args!("a stream at {address:#010x}"));
    }
    there
}

/// Read a dword of saved state.
pub fn load(m: &mut Machine, gart: &mut Gart, place: Place) -> Option<u32> {
    let mut bytes = [0; 4];
    fetch(m, gart, place, &mut bytes).then(|| u32::from_le_bytes(bytes))
}

/// Write a dword of saved state, or of a count. Return whether it arrives.
pub fn store(m: &mut Machine, gart: &mut Gart, unit: Unit, place: Place, value: u32) -> bool {
    let bytes = value.to_le_bytes();
    if place.location == location::SYSTEM_LOCAL {
        // What the 3D engine writes is judged with its footprint.
        let inside = unit == Unit::Engine3d || judged(m, unit, place.at, 4, "writes");
        return inside && m.vram.write(place.at, &bytes);
    }
    let what = if unit == Unit::Engine3d {
        "a count of pixels"
    } else {
        "saved state"
    };
    let Some(address) = system(m, gart, place, what) else {
        return false;
    };
    let there = m.functions[DISPLAY].ram.write(address, &bytes);
    if !there {
        m.finding(kind::DMA_FAULT, format_args!("{what} at {address:#010x}"));
    }
    there
}
