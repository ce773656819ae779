// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The register databases as tables for host programs: the models, the decoder and the tests.
//!
//! A register is written down once, in `drivers/<family>/registers/*.xml`. `scripts/registers.py` makes from
//! it the constants that portable driver code uses, the kernel's `register!` definitions, and the tables here.
//! This crate is all that the models and the drivers have in common.
//!
//! For each family there is a module with
//! - its constants, the same as portable driver code has: `r500::mmio::RBBM_STATUS`,
//!   `r500::mmio::rbbm_status::GUI_ACTIVE`, `r500::pm4::op::PAINT`;
//! - `REGISTERS`, `PACKETS`, `LAYOUTS`, `DECISIONS`: everything the database says, for printing and checking;
//! - `DATABASE`: the same as one value, a [`Database`], which finds and describes. Programs that work for any family
//!   take one. A family whose chips have different register maps has one for each map: `r600::R6XX`, `r600::R7XX`.

mod database;
mod types;

pub mod chrome9;
pub mod r500;
pub mod r600;

pub use database::{Database, Headers};
pub use types::{
    Access, Choice, Count, Decision, Domain, Dword, Engine, Field, FieldInfo, Instruction,
    InstructionTable, Item, Named, Packet, Pixel, RegArray, Register, Value,
};

/// The database of every family and register map.
pub static DATABASES: &[&Database] = &[
    &chrome9::DATABASE,
    &r500::DATABASE,
    &r600::R6XX,
    &r600::R7XX,
];

/// Return the database of that name, which is the name of the family's driver, or of the register map.
pub fn database(name: &str) -> Option<&'static Database> {
    DATABASES.iter().copied().find(|d| d.name == name)
}
