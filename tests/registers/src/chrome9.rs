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
pub fn parameters(kind: u8, _subtype: u8) -> Option<Domain> {
    match kind.into() {
        enums::para_type::PRIMITIVE => Some(domain::PARA_04),
        enums::para_type::REGULATOR => Some(domain::PARA_10),
        enums::para_type::REGULATOR_MISC => Some(domain::PARA_11),
        _ => None,
    }
}
