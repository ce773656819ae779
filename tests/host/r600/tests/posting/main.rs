// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a video BIOS may write on R6xx and R7xx, by whatever way, and that the models' ROMs need no more.

mod chip;
mod fuzz;
mod model;

use lapidary::portable::atom::{
    guard::{Dropped, Guard, Rules, WINDOW},
    Card,
};
use lapidary_registers::{
    r600::{self as facts, mmio, mmio_r6xx, mmio_r7xx},
    Database, Domain, Register,
};
use r600::portable::posting;

use chip::Chip;

/// Return the rules of each generation, and its registers.
fn generations() -> [(&'static Rules, &'static Database); 2] {
    [
        (&posting::R6XX, &facts::R6XX),
        (&posting::R7XX, &facts::R7XX),
    ]
}

/// Return the registers with byte offsets.
fn mmio_of(database: &'static Database) -> impl Iterator<Item = &'static Register> {
    let all = database.registers.iter();
    all.filter(|register| register.domain == Domain::MMIO)
}

/// Return what a program comes to, which is what was dropped, and the chip afterwards.
fn run(rules: &'static Rules, program: impl FnOnce(&mut Guard<'_>)) -> (Option<Dropped>, Chip) {
    let mut chip = Chip::new(&facts::R7XX);
    let mut guard = Guard::new(&mut chip, rules);
    program(&mut guard);
    let dropped = guard.dropped();
    (dropped, chip)
}

/// Write a register in three ways, by an operand, a port, and the pair of all registers. Return whether the write
/// arrives by all of them, or by none.
fn arrives(rules: &'static Rules, offset: u32, value: u32) -> bool {
    let ways = [
        run(rules, |guard| {
            guard.write(offset, value);
        }),
        run(rules, |guard| {
            guard.write_for_port(offset, value);
        }),
        run(rules, |guard| {
            guard.write(mmio::MM_INDEX, offset | 2);
            guard.write(mmio::MM_DATA, value);
        }),
    ];
    let results = ways.map(|(dropped, chip)| match dropped {
        None => {
            assert_eq!(chip.word(offset), value, "{offset:#x}");
            true
        }
        Some(dropped) => {
            let one = Dropped {
                count: 1,
                name: WINDOW,
                number: offset,
            };
            assert_eq!((dropped, chip.word(offset)), (one, 0), "{offset:#x}");
            false
        }
    });
    assert!(
        results.windows(2).all(|two| two[0] == two[1]),
        "{offset:#x}"
    );
    results[0]
}

#[test]
fn what_posting_needs_arrives() {
    for (rules, _) in generations() {
        for offset in [
            mmio::CONFIG_MEMSIZE,
            mmio::BIF_FB_EN,
            mmio::HDP_NONSURFACE_BASE,
            mmio::BIOS_SCRATCH.at(7).unwrap(),
            // Spread spectrum of the pixel PLLs, and the pixel clock of the second display.
            0x458,
            0x45c,
            0x484,
        ] {
            assert!(arrives(rules, offset, !0), "{offset:#x}");
        }
    }
    // What lies around the pixel PLLs is something else.
    for offset in [0x3fc, 0x488] {
        assert!(!arrives(&posting::R6XX, offset, 1), "{offset:#x}");
        assert!(!arrives(&posting::R7XX, offset, 1), "{offset:#x}");
    }
    for offset in [
        mmio_r6xx::CG_SPLL_FUNC_CNTL,
        mmio_r6xx::MC_VM_FB_LOCATION,
        mmio_r6xx::RAMCFG,
    ] {
        assert!(arrives(&posting::R6XX, offset, !0), "{offset:#x}");
    }
    for offset in [
        mmio_r7xx::MPLL_CNTL_MODE,
        mmio_r7xx::MC_VM_FB_LOCATION,
        mmio_r7xx::MC_SEQ_MISC0,
    ] {
        assert!(arrives(&posting::R7XX, offset, !0), "{offset:#x}");
    }
}

#[test]
fn what_reaches_memory_or_interrupts_is_dropped() {
    for (rules, database) in generations() {
        let (mut dropped, mut arrived) = (0, 0);
        for register in mmio_of(database) {
            let harmful = chip::is_harmful(register);
            let pair = [
                mmio::MM_INDEX,
                mmio::MM_DATA,
                mmio::PCIE_PORT_INDEX,
                mmio::PCIE_PORT_DATA,
            ];
            if pair.contains(&register.offset) {
                continue;
            }
            // The bit that halts the command processor stays clear.
            let value = match register.offset {
                mmio::CP_ME_CNTL => !mmio::cp_me_cntl::ME_HALT.mask(),
                _ => !0,
            };
            let arrives = arrives(rules, register.offset, value);
            assert!(!(arrives && harmful), "{}", register.name);
            dropped += u32::from(!arrives);
            arrived += u32::from(arrives);
        }
        assert!(dropped > 400 && arrived > 20, "{dropped}, {arrived}");
    }
}

#[test]
fn engines_may_be_switched_off() {
    for (rules, _) in generations() {
        let halt = mmio::cp_me_cntl::ME_HALT.mask();
        for (offset, off, on) in [
            (mmio::CP_ME_CNTL, halt, 0xff),
            (mmio::DMA_RB_CNTL, 0x1e, 0x1f),
            (mmio::RLC_CNTL, 0, 1),
            (mmio::IH_RB_CNTL, 0x100, 0x101),
            (mmio::VM_CONTEXT_CNTL.at(6).unwrap(), 0x10, 0x11),
            (mmio::D1CRTC_CONTROL, 0x100, 0x101),
            (mmio::D2GRPH_ENABLE, 0, 1),
            (mmio::VGA_RENDER_CONTROL, 0x1, 0x1_0000),
        ] {
            assert!(arrives(rules, offset, off), "{offset:#x}");
            assert!(!arrives(rules, offset, on), "{offset:#x}");
        }
    }
    assert!(arrives(&posting::R6XX, mmio_r6xx::MC_VM_AGP_BOT, !0));
    assert!(!arrives(&posting::R6XX, mmio_r6xx::MC_VM_AGP_BASE, 1));
    assert!(!arrives(&posting::R7XX, mmio_r7xx::MC_VM_AGP_BASE, 1));
}

#[test]
fn the_bus_interface_gives_its_link_only() {
    for (rules, _) in generations() {
        let (dropped, chip) = run(rules, |guard| {
            for index in 0..0x100 {
                guard.write(mmio::PCIE_PORT_INDEX, index);
                guard.write(mmio::PCIE_PORT_DATA, 7);
            }
        });
        assert_eq!(dropped.map(|dropped| dropped.count), Some(0x100 - 0x20));
        for (index, value) in chip.port.iter().enumerate() {
            assert_eq!(*value == 7, (0xa0..0xc0).contains(&index), "{index:#x}");
        }
        let (dropped, _) = run(rules, |guard| {
            guard.write_pll(1, 1);
            guard.write_mc(1, 1);
        });
        assert_eq!(dropped.map(|dropped| dropped.count), Some(2));
    }
}
