// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The policy table and the register database cover each other.

use lapidary::portable::bits::Registers;
use lapidary_registers::{
    r600::{R6XX, R7XX},
    Database, Domain, Register,
};
use r600::portable::{
    policy::{self, Policy, ADMITTED, REFUSED, TRACKED},
    regs::mmio,
};
use std::collections::BTreeSet;

/// Return whether a packet of a stream can name the register at `offset`.
fn reachable(offset: u32) -> bool {
    (0x8000..0xac00).contains(&offset) || (0x28000..0x29000).contains(&offset)
}

/// Return the registers of either generation of which a packet can name the elements.
fn registers() -> impl Iterator<Item = &'static Register> {
    let both = R6XX.registers.iter().chain(R7XX.registers);
    both.filter(|register| register.domain == Domain::MMIO && reachable(register.offset))
}

fn elements(register: &Register) -> impl Iterator<Item = u32> + '_ {
    (0..register.len).filter_map(|i| register.array().at(i))
}

#[test]
fn every_register_is_admitted_or_refused_on_purpose() {
    let mut missing = Vec::new();
    for register in registers() {
        for offset in elements(register) {
            if policy::of(offset) == Policy::Unknown {
                missing.push(format!("{} at {offset:#06x}", register.name));
            }
        }
    }
    assert!(missing.is_empty(), "no policy for {missing:?}");
    assert!(registers().count() > 300);
}

#[test]
fn elements_of_an_array_are_treated_alike() {
    for register in registers() {
        let policies: Vec<_> = elements(register).map(policy::of).collect();
        assert!(
            policies.iter().all(|policy| *policy == policies[0]),
            "{}: {policies:?}",
            register.name
        );
    }
}

#[test]
fn what_is_admitted_is_a_register() {
    let known = |offset: u32| registers().any(|r| elements(r).any(|at| at == offset));
    for (registers, policy) in ADMITTED.iter().chain(TRACKED) {
        assert!(!policy.refuses(), "{registers:?} is admitted by {policy:?}");
        match registers {
            Registers::One(offset) => assert!(known(*offset), "{offset:#06x}"),
            Registers::Array(array) => {
                for i in 0..array.len() {
                    assert!(known(array.at(i).unwrap()), "{array:?}");
                }
            }
            Registers::Block(..) => panic!("{registers:?}: nothing is admitted by the block"),
        }
    }
    for (registers, policy) in REFUSED {
        assert!(policy.refuses(), "{registers:?} is refused by {policy:?}");
    }
}

/// Whatever its group is: a register whose name says that it has an address, a size or an extent is not free. The
/// exceptions have names like that and bound no access.
#[test]
fn nothing_that_names_memory_is_free() {
    let words = [
        "BASE", "START", "RING", "CACHE", "BUFFER", "PITCH", "SCISSOR", "VIEW", "INFO", "DMA",
        "SIZE", "EXPORT",
    ];
    // Scissors take pixels away, and a draw has as many vertices as a count says; sizes of points, of what a shader
    // emits and of tessellation; exports to colour and depth.
    let harmless = [
        "PA_SC_SCREEN_SCISSOR_TL",
        "PA_SC_GENERIC_SCISSOR_TL",
        "PA_SC_GENERIC_SCISSOR_BR",
        "PA_SC_VPORT_SCISSOR_TL",
        "PA_SC_VPORT_SCISSOR_BR",
        "VGT_STRMOUT_BUFFER_EN",
        "VGT_STRMOUT_DRAW_OPAQUE_BUFFER_FILLED_SIZE",
        "SQ_GS_VERT_ITEMSIZE",
        "SQ_PGM_EXPORTS_PS",
        "PA_SU_POINT_SIZE",
        "PA_CL_POINT_SIZE",
    ];
    let mut free = BTreeSet::new();
    for register in registers() {
        if words.iter().any(|word| register.name.contains(word))
            && policy::of(register.offset) == Policy::Free
        {
            free.insert(register.name);
        }
    }
    assert_eq!(free, BTreeSet::from(harmless));
}

/// R7xx have registers that R6xx do not have. Those that a stream may write are refused on R6xx.
#[test]
fn each_generation_has_what_its_streams_may_write() {
    for offset in (0..0x3_0000).step_by(4) {
        let policy = policy::of(offset);
        let has = |database: &Database| database.by_offset(Domain::MMIO, offset).is_some();
        if !policy.refuses() {
            assert!(has(&R7XX), "{offset:#x}");
            assert_eq!(has(&R6XX), policy != Policy::Newer, "{offset:#x}");
        }
    }
}

/// Linux holds them at what the driver writes; a stream may not write them at all here.
#[test]
fn exports_to_memory_are_refused() {
    for register in [mmio::SX_MEMORY_EXPORT_BASE, mmio::SX_MEMORY_EXPORT_SIZE] {
        assert_eq!(policy::of(register), Policy::Memory);
    }
}

/// Every register is in one class: a range of either packet is looked up as single registers are.
#[test]
fn ranges_and_single_registers_agree() {
    let range = policy::context_registers(0, 0x400).expect("the whole range");
    for (i, policy) in range.iter().enumerate() {
        assert_eq!(policy::of(0x28000 + 4 * i as u32), *policy);
    }
    let range = policy::config_registers(0, 0xb00).expect("the whole range");
    for (i, policy) in range.iter().enumerate() {
        assert_eq!(policy::of(0x8000 + 4 * i as u32), *policy);
    }
    assert!(policy::context_registers(0x3ff, 2).is_none());
    assert!(policy::config_registers(usize::MAX, 2).is_none());
}

#[test]
fn registers_out_of_range_are_not_known() {
    for offset in [0, 0x7ffc, 0xac00, 0x27ffc, 0x29000, 0x38000, u32::MAX & !3] {
        assert_eq!(policy::of(offset), Policy::Unknown, "{offset:#x}");
    }
}
