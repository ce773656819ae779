// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Chrome9 HCM (VX855, VX875): the database `drivers/chrome9/registers/chrome9.xml`.
//!
//! Registers that the CPU reaches are in [`domain::MMIO`]. What commands set, and the CPU through the windows of the
//! command regulator, are parameters: each type of parameters (HParaType) has a domain of its own, in which the offset is
//! the sub-address, or the index into a table.

use crate::{
    Access, Database, Decision, Domain, Dword, Field, FieldInfo, Packet, RegArray, Register, Value,
};

include!(concat!(env!("OUT_DIR"), "/chrome9/portable.rs"));
include!(concat!(env!("OUT_DIR"), "/chrome9/tables.rs"));

/// All of it.
pub static DATABASE: Database = Database::new(
    "chrome9",
    domain::ALL,
    REGISTERS,
    PACKETS,
    LAYOUTS,
    DECISIONS,
);

/// Return the domain of the parameters of a type and sub-type (HParaType, HParaSubType), if the database has them.
///
/// Each sub-type of a stage or a sample of textures has values of its own; they share a domain.
pub fn parameters(kind: u8, subtype: u8) -> Option<Domain> {
    match (kind.into(), subtype) {
        (enums::para_type::VERTEX, _) => Some(domain::PARA_00),
        (enums::para_type::ATTRIBUTE, _) => Some(domain::PARA_01),
        (enums::para_type::TEXTURE, 0x00..=0x0f) => Some(domain::PARA_02_STAGE),
        (enums::para_type::TEXTURE, 0x20..=0x2f) => Some(domain::PARA_02_SAMPLE),
        (enums::para_type::TEXTURE, 0xfe) => Some(domain::PARA_02_GENERAL),
        (enums::para_type::TABLE, 0x00) => Some(domain::PARA_03_PALETTE),
        (enums::para_type::TABLE, 0x10) => Some(domain::PARA_03_MIP),
        (enums::para_type::TABLE, 0x11) => Some(domain::PARA_03_FILTER),
        (enums::para_type::TABLE, 0x12) => Some(domain::PARA_03_12),
        (enums::para_type::TABLE, 0x14) => Some(domain::PARA_03_STIPPLE),
        (enums::para_type::TABLE, 0x15) => Some(domain::PARA_03_DEGAMMA),
        (enums::para_type::TABLE, 0x17) => Some(domain::PARA_03_GAMMA),
        (enums::para_type::TABLE, 0x20) => Some(domain::PARA_03_ALU),
        (enums::para_type::TABLE, 0x21) => Some(domain::PARA_03_TAU),
        (enums::para_type::TABLE, 0x22) => Some(domain::PARA_03_CONSTANTS),
        (enums::para_type::PRIMITIVE, _) => Some(domain::PARA_04),
        (enums::para_type::REGULATOR, _) => Some(domain::PARA_10),
        (enums::para_type::REGULATOR_MISC, _) => Some(domain::PARA_11),
        (enums::para_type::INITIALISATION, _) => Some(domain::PARA_FE),
        _ => None,
    }
}
