// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A video BIOS that means harm: what it may write, by whatever way, and that it comes to an end.

mod chip;
mod fuzz;

use lapidary::portable::atom::{
    guard::{Dropped, Guard, WINDOW},
    Card,
};
use lapidary_registers::{
    r500::{self as facts, mc_r520, mc_rv515, mmio, pcie},
    Domain,
};

use chip::{Chip, MemoryController};

const CONTROLLERS: [MemoryController; 2] = [MemoryController::Rv515, MemoryController::R520];

/// Return what one write through a guard comes to, which is what was dropped, and the chip afterwards.
fn written(
    controller: MemoryController,
    write: impl FnOnce(&mut Guard<'_>),
) -> (Option<Dropped>, Chip) {
    let mut chip = Chip::new(controller);
    let mut guard = Guard::new(&mut chip, controller.rules());
    write(&mut guard);
    let dropped = guard.dropped();
    (dropped, chip)
}

fn one(name: &'static str, number: u32) -> Option<Dropped> {
    Some(Dropped {
        count: 1,
        name,
        number,
    })
}

/// What log lines call registers of the indirect spaces.
const PCIE: &str = "PCIE register";
const MC: &str = "MC register";

/// Write a register of the window in four ways.
fn ways(offset: u32, value: u32) -> [(Option<Dropped>, Chip); 4] {
    let controller = MemoryController::R520;
    [
        written(controller, |guard| {
            guard.write(offset, value);
        }),
        written(controller, |guard| {
            guard.write_for_port(offset, value);
        }),
        written(controller, |guard| {
            guard.write(mmio::MM_INDEX, offset);
            guard.write(mmio::MM_DATA, value);
        }),
        written(controller, |guard| {
            // The chip ignores the lowest bits.
            guard.write_for_port(mmio::MM_INDEX, offset | 3);
            guard.write_for_port(mmio::MM_DATA, value);
        }),
    ]
}

#[test]
fn what_posting_needs_arrives_by_every_way() {
    for offset in [
        mmio::CONFIG_MEMSIZE,
        mmio::HDP_FB_LOCATION,
        mmio::HOST_PATH_CNTL,
        mmio::BIOS_SCRATCH.at(7).unwrap(),
        mmio::GPIOPAD_EN,
        mmio::P1PLL_CNTL,
        mmio::DACA_POWERDOWN,
    ] {
        for (dropped, chip) in ways(offset, !0) {
            assert_eq!(dropped, None, "{offset:#x}");
            assert_eq!(chip.window[offset as usize / 4], !0, "{offset:#x}");
            assert_eq!(chip.objections, [""; 0]);
        }
    }
    let (dropped, chip) = written(MemoryController::R520, |guard| {
        guard.write_pll(0x3f, 7);
        guard.write(mmio::CLOCK_CNTL_INDEX, 0x80 | 0xa);
        guard.write(mmio::CLOCK_CNTL_DATA, 8);
        guard.write_mc(0x60, 9);
        guard.write(mmio::PCIE_INDEX, pcie::PCIE_LC_LINK_WIDTH_CNTL);
        guard.write(mmio::PCIE_DATA, 10);
        // Memory on the card.
        guard.write(mmio::MM_INDEX, (1 << 31) | mmio::CP_RB_BASE);
        guard.write(mmio::MM_DATA, 11);
        guard.wait(3);
    });
    assert_eq!(dropped, None);
    assert_eq!((chip.pll[0x3f], chip.pll[0xa], chip.mc[0x60]), (7, 8, 9));
    assert_eq!(chip.pcie[pcie::PCIE_LC_LINK_WIDTH_CNTL as usize], 10);
    assert_eq!(chip.waited, 3);
}

#[test]
fn what_reaches_memory_or_interrupts_is_dropped_by_every_way() {
    for offset in [
        mmio::CP_RB_BASE,
        mmio::CP_RB_CNTL,
        mmio::CP_RB_WPTR,
        mmio::CP_IB_BASE,
        mmio::CP_ME_RAM_DATAL,
        mmio::SCRATCH_ADDR,
        mmio::DMA_GUI_TABLE_ADDR,
        mmio::RBBM_SOFT_RESET,
        mmio::GEN_INT_CNTL,
        mmio::BUS_CNTL,
        mmio::MSI_REARM_EN,
        mmio::AIC_CNTL,
        mmio::SURFACE_INFO.at(7).unwrap(),
        mmio::CONFIG_SPACE.at(1).unwrap(),
        mmio::DST_PITCH_OFFSET,
        mmio::RB3D_COLOROFFSET.at(0).unwrap(),
        mmio::VGA_MEMORY_BASE_ADDRESS,
        mmio::D1GRPH_PRIMARY_SURFACE_ADDRESS,
        mmio::D2CUR_SURFACE_ADDRESS,
        mmio::D1CRTC_CONTROL,
        mmio::DXMODE_INT_MASK,
        // On no list: a hole.
        0x0080,
        0xfffc,
    ] {
        for (dropped, chip) in ways(offset, !0) {
            assert_eq!(dropped, one(WINDOW, offset), "{offset:#x}");
            assert_eq!(chip.window[offset as usize / 4], 0, "{offset:#x}");
        }
    }
}

/// The whole database, and the holes: no value that has all bits, or one, arrives where the chip objects.
#[test]
fn no_register_of_the_window_escapes() {
    let mut chip = Chip::new(MemoryController::R520);
    for offset in (0..0x1_0000).step_by(4) {
        for value in [!0, 0, 1, 1 << 16, 1 << 31] {
            let mut guard = Guard::new(&mut chip, MemoryController::R520.rules());
            guard.write(offset, value);
            guard.write_for_port(offset, value);
            let mut guard = Guard::new(&mut chip, MemoryController::R520.rules());
            guard.write(mmio::MM_INDEX, offset);
            guard.write(mmio::MM_DATA, value);
            assert_eq!(chip.objections, [""; 0], "{offset:#x} = {value:#x}");
        }
    }
}

/// The bits that switch something on are looked at, and no others.
#[test]
fn some_may_be_switched_off_and_not_on() {
    for (offset, on) in [
        (mmio::GEN_INT_CNTL, 1 << 25),
        (mmio::VGA_RENDER_CONTROL, 1 << 16),
        (mmio::VGA_RENDER_CONTROL, 1 << 17),
        (mmio::D1VGA_CONTROL, 1),
        (mmio::D2VGA_CONTROL, 1),
        (mmio::D1CRTC_CONTROL, 1),
        (mmio::D2CRTC_CONTROL, 1),
        (mmio::D1GRPH_ENABLE, 1),
        (mmio::D2GRPH_ENABLE, 1),
    ] {
        for (dropped, _) in ways(offset, on) {
            assert_eq!(dropped, one(WINDOW, offset), "{offset:#x} = {on:#x}");
        }
        for (dropped, _) in ways(offset, 0) {
            assert_eq!(dropped, None, "{offset:#x}");
        }
    }
    for (dropped, chip) in ways(mmio::D1CRTC_CONTROL, (1 << 24) | (1 << 4)) {
        assert_eq!(dropped, None);
        assert_eq!(
            chip.window[mmio::D1CRTC_CONTROL as usize / 4],
            (1 << 24) | (1 << 4)
        );
    }
}

#[test]
fn the_page_table_stays_closed() {
    for index in 0..0x800 {
        for value in [0, 1, !0] {
            let (dropped, chip) = written(MemoryController::R520, |guard| {
                guard.write(mmio::PCIE_INDEX, index);
                guard.write(mmio::PCIE_DATA, value);
            });
            assert_eq!(chip.objections, [""; 0], "{index:#x} = {value:#x}");
            let off =
                [pcie::PCIE_TX_GART_CNTL, pcie::PCIE_TX_GART_ERROR].contains(&index) && value == 0;
            if index < 0x40 && !off {
                assert_eq!(dropped, one(PCIE, index));
            }
        }
    }
    // Bits of the index that the chip does not have.
    let (dropped, _) = written(MemoryController::R520, |guard| {
        guard.write(mmio::PCIE_INDEX, 0xffff_f800 | pcie::PCIE_TX_GART_BASE);
        guard.write(mmio::PCIE_DATA, 1);
    });
    assert_eq!(dropped, one(PCIE, pcie::PCIE_TX_GART_BASE));
}

#[test]
fn the_agp_window_stays_closed() {
    for (controller, location, base, base_2) in [
        (
            MemoryController::Rv515,
            mc_rv515::MC_AGP_LOCATION,
            mc_rv515::MC_AGP_BASE,
            mc_rv515::MC_AGP_BASE_2,
        ),
        (
            MemoryController::R520,
            mc_r520::MC_AGP_LOCATION,
            mc_r520::MC_AGP_BASE,
            mc_r520::MC_AGP_BASE_2,
        ),
    ] {
        let both = |index: u32, value: u32| {
            let by_operand = written(controller, |guard| guard.write_mc(index as u8, value));
            let by_pair = written(controller, |guard| {
                guard.write(mmio::MC_IND_INDEX, 0x00ff_0000 | index);
                guard.write(mmio::MC_IND_DATA, value);
            });
            assert_eq!(by_operand.0, by_pair.0);
            assert_eq!(by_operand.1.mc, by_pair.1.mc);
            by_pair.0
        };
        // Closed, open, open with the smallest size.
        assert_eq!(both(location, 0x0000_ffff), None);
        assert_eq!(both(location, 0x1fff_1000), one(MC, location));
        assert_eq!(both(location, 0x1000_1000), one(MC, location));
        assert_eq!(both(location, 0x0fff_1000), None);
        for base in [base, base_2] {
            assert_eq!(both(base, 0), None);
            assert_eq!(both(base, 1), one(MC, base));
        }
    }
    let (dropped, _) = written(MemoryController::R520, |guard| {
        guard.write(mmio::MC_IND_INDEX, 0x00ff_0112);
        guard.write(mmio::MC_IND_DATA, 0);
    });
    assert_eq!(dropped, one(MC, 0x112));
}

/// A data register whose index the program has not written, or that something else has changed since.
#[test]
fn an_index_that_is_not_known_leads_nowhere() {
    let controller = MemoryController::R520;
    for data in [mmio::MM_DATA, mmio::PCIE_DATA, mmio::MC_IND_DATA] {
        let (dropped, chip) = written(controller, |guard| {
            guard.write(data, 0);
        });
        assert_eq!(dropped, one(WINDOW, data));
        assert_eq!(chip.writes, 0);
    }
    for between in [
        |guard: &mut Guard<'_>| guard.write_mc(0x60, 1),
        |guard: &mut Guard<'_>| {
            guard.read_mc(0x60);
        },
    ] {
        let (dropped, chip) = written(controller, |guard| {
            guard.write(mmio::MC_IND_INDEX, 0x00ff_0060);
            between(guard);
            guard.write(mmio::MC_IND_DATA, 5);
        });
        assert_eq!(dropped, one(WINDOW, mmio::MC_IND_DATA));
        assert_eq!(chip.mc[0], 0);
    }
}

#[test]
fn the_pair_to_registers_does_not_lead_to_itself() {
    for behind in [mmio::MM_INDEX, mmio::MM_DATA] {
        let (dropped, chip) = written(MemoryController::R520, |guard| {
            guard.write(mmio::MM_INDEX, behind);
            guard.write(mmio::MM_DATA, mmio::CP_RB_BASE);
            guard.write(mmio::MM_DATA, 1);
        });
        assert_eq!(
            dropped.map(|dropped| (dropped.name, dropped.number)),
            Some((WINDOW, behind))
        );
        assert_eq!(chip.window[mmio::CP_RB_BASE as usize / 4], 0);
        assert_eq!(chip.window[0], behind);
    }
    // Through the pair to another pair: the second pair's index is followed as well.
    let (dropped, chip) = written(MemoryController::R520, |guard| {
        for (offset, value) in [
            (mmio::PCIE_INDEX, pcie::PCIE_TX_GART_BASE),
            (mmio::PCIE_DATA, 0x1000),
        ] {
            guard.write(mmio::MM_INDEX, offset);
            guard.write(mmio::MM_DATA, value);
        }
    });
    assert_eq!(dropped, one(PCIE, pcie::PCIE_TX_GART_BASE));
    assert_eq!(chip.objections, [""; 0]);
}

#[test]
fn a_register_behind_the_window_stops_the_program() {
    for controller in CONTROLLERS {
        let mut chip = Chip::new(controller);
        let mut guard = Guard::new(&mut chip, controller.rules());
        assert_eq!(guard.read(0x1_0000), None);
        // Whatever is written there is on no list.
        assert_eq!(guard.write(0x1_0000, 1), Some(()));
        assert_eq!(guard.dropped(), one(WINDOW, 0x1_0000));
    }
}

#[test]
fn the_first_is_named_and_all_are_counted() {
    let (dropped, _) = written(MemoryController::Rv515, |guard| {
        guard.write(mmio::CONFIG_MEMSIZE, 1);
        guard.write_mc(mc_rv515::MC_AGP_BASE as u8, 1);
        guard.write(mmio::CP_RB_BASE, 1);
        guard.write(mmio::CP_RB_BASE, 2);
    });
    let all = Dropped {
        count: 3,
        name: "MC register",
        number: 3,
    };
    assert_eq!(dropped, Some(all));
}

/// The chip that judges here knows what it judges by: each block and each part of a name means some register.
#[test]
fn the_chip_objects_to_what_is_dangerous() {
    let mut objections = 0;
    for register in facts::REGISTERS
        .iter()
        .filter(|register| register.domain == Domain::MMIO)
    {
        let mut chip = Chip::new(MemoryController::R520);
        chip.write(register.offset, !0);
        objections += chip.objections.len();
    }
    assert!(objections > 400, "{objections}");
}
