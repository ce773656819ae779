// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R6xx and R7xx: the database `drivers/r600/registers/r600.xml`.
//!
//! R7xx moved registers within the same aperture, most of them of the memory controller and of the page tables, and
//! changed some packets. So there are two databases. Each finds what both maps have, and what its own map has.

use crate::Database;
use crate::types::*;

include!(concat!(env!("OUT_DIR"), "/r600/portable.rs"));
include!(concat!(env!("OUT_DIR"), "/r600/tables.rs"));

/// The registers of R600 to RV635.
static R6XX_REGISTERS: [Register; REGISTERS.len() + MMIO_R6XX.len()] = joined(REGISTERS, MMIO_R6XX);

/// The registers of RV770 to RV740.
static R7XX_REGISTERS: [Register; REGISTERS.len() + MMIO_R7XX.len()] = joined(REGISTERS, MMIO_R7XX);

static R6XX_PACKETS: [Packet; PACKETS.len() + MMIO_R6XX_PACKETS.len()] =
    joined(PACKETS, MMIO_R6XX_PACKETS);

static R7XX_PACKETS: [Packet; PACKETS.len() + MMIO_R7XX_PACKETS.len()] =
    joined(PACKETS, MMIO_R7XX_PACKETS);

/// All of R600, RV610, RV620, RV630, RV635 and RV670.
pub static R6XX: Database = Database::new(
    "r600",
    domain::ALL,
    &R6XX_REGISTERS,
    &R6XX_PACKETS,
    LAYOUTS,
    DECISIONS,
)
.with_packet_variants(PACKET_VARIANTS)
.with_choices(CHOICES)
.with_engines(MMIO_R6XX_ENGINES)
.with_instructions(MMIO_R6XX_WORDS, MMIO_R6XX_INSTRUCTIONS);

/// All of RV770, RV730, RV710 and RV740.
pub static R7XX: Database = Database::new(
    "r600",
    domain::ALL,
    &R7XX_REGISTERS,
    &R7XX_PACKETS,
    LAYOUTS,
    DECISIONS,
)
.with_packet_variants(PACKET_VARIANTS)
.with_choices(CHOICES)
.with_engines(MMIO_R7XX_ENGINES)
.with_instructions(MMIO_R7XX_WORDS, MMIO_R7XX_INSTRUCTIONS)
.named("r700");
