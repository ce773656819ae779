// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R5xx: the database `drivers/r500/registers/r500.xml`.

use crate::{
    Access, Count, Database, Decision, Domain, Dword, Field, FieldInfo, Item, Packet, Pixel,
    RegArray, Register, Value,
};

include!(concat!(env!("OUT_DIR"), "/r500/portable.rs"));
include!(concat!(env!("OUT_DIR"), "/r500/tables.rs"));

/// All of it.
pub static DATABASE: Database =
    Database::new("r500", domain::ALL, REGISTERS, PACKETS, LAYOUTS, DECISIONS)
        .with_pixel(Pixel {
            dword: "GUI_CONTROL",
            field: "DST_TYPE",
            bytes: pixel_bytes,
        })
        // An odd number of vertex arrays leaves the last pair half filled.
        .with_cut_short(&[pm4::op::_3D_LOAD_VBPNTR]);

/// Return the bytes of a pixel of a `DST_TYPE` (R5xx 5.2.2): what a colour brush takes in a packet. 24-bit pixels take
/// four there.
fn pixel_bytes(kind: u32) -> Option<u32> {
    use enums::datatype as t;
    match kind {
        t::CI8 | t::RGB332 | t::Y8 | t::RGB8 => Some(1),
        t::ARGB1555 | t::RGB565 | t::VYUY | t::YVYU | t::ARGB4444 => Some(2),
        t::RGB888 | t::ARGB8888 | t::AYUV444 => Some(4),
        _ => None,
    }
}
