// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R5xx: the database `drivers/r500/registers/r500.xml`.

use std::sync::LazyLock;

use crate::lookup::Lookup;
use crate::{
    Access, Count, Decision, Domain, Dword, Field, FieldInfo, Item, Packet, RegArray, Register,
    Value,
};

include!(concat!(env!("OUT_DIR"), "/r500/portable.rs"));
include!(concat!(env!("OUT_DIR"), "/r500/tables.rs"));

static LOOKUP: LazyLock<Lookup> = LazyLock::new(|| Lookup::new(REGISTERS));

/// The register of that name. Where several spaces have one (`MC_STATUS`), the first: use [`by_name_in`].
pub fn by_name(name: &str) -> Option<&'static Register> {
    LOOKUP.by_name(name)
}

/// The register of that name in `domain`.
pub fn by_name_in(domain: Domain, name: &str) -> Option<&'static Register> {
    REGISTERS
        .iter()
        .find(|r| r.domain == domain && r.name == name)
}

/// The register at `offset` of `domain` and its index within the array (0 for a single register).
/// `offset` counts bytes in `mmio` and must be a multiple of four there; it is the index elsewhere.
pub fn by_offset(domain: Domain, offset: u32) -> Option<(&'static Register, u32)> {
    LOOKUP.by_offset(domain, offset)
}

/// `NAME[i] = 0x… { FIELD=VALUE … }`: what `value` means at `offset`. An unknown register is named by its place.
pub fn describe(domain: Domain, offset: u32, value: u32) -> String {
    LOOKUP.describe(domain, offset, value)
}

/// The type-3 packet with that opcode.
pub fn packet(opcode: u8) -> Option<&'static Packet> {
    PACKETS.iter().find(|p| p.opcode == opcode)
}

/// The packet header or shared dword of that name (`TYPE0`, `GUI_CONTROL`, …).
pub fn layout(name: &str) -> Option<&'static Dword> {
    LAYOUTS.iter().find(|d| d.name == name)
}
