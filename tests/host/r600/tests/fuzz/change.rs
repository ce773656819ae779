// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One register of the state between two draws, so that what was found in order before is not so any more.

use lapidary_registers::{r600::mmio, RegArray};

use crate::{
    scene::{extent, pick, rarely, surface_place, Scene},
    stages,
};

/// A register with an address, or one without.
#[derive(Clone, Copy)]
enum Register {
    /// An address in units of 256 bytes.
    Address(u32),
    /// An address that may change between draws only when the chip is idle.
    Ring(u32),
    /// A number up to a bound.
    Number(u32, u32),
    /// Two numbers of sixteen bits, and their bound.
    Corner(u32, u32),
}

use Register::{Address, Corner, Number, Ring};

fn one(s: &mut Scene<'_>, array: RegArray) -> u32 {
    let most = array.len().min(4);
    let n = if rarely(s.rng, 4) {
        s.rng.u32(..array.len())
    } else {
        s.rng.u32(..most)
    };
    array.at(n).expect("in range")
}

/// Choose a register.
fn register(s: &mut Scene<'_>) -> Register {
    match s.rng.u32(..28) {
        0 => Address(one(s, mmio::CB_COLOR_BASE)),
        1 => Address(one(s, mmio::CB_COLOR_TILE)),
        2 => Address(one(s, mmio::CB_COLOR_FRAG)),
        3 => Address(mmio::DB_DEPTH_BASE),
        4 => Address(mmio::DB_HTILE_DATA_BASE),
        5 | 6 => Address(one(s, mmio::VGT_STRMOUT_BUFFER_BASE)),
        7 => Address(one(s, mmio::SQ_ALU_CONST_CACHE_PS)),
        8 => Address(one(s, mmio::SQ_ALU_CONST_CACHE_VS)),
        9 => Address(one(s, mmio::SQ_ALU_CONST_CACHE_GS)),
        10 => Address(pick(
            s.rng,
            &[
                mmio::SQ_PGM_START_PS,
                mmio::SQ_PGM_START_VS,
                mmio::SQ_PGM_START_GS,
                mmio::SQ_PGM_START_ES,
                mmio::SQ_PGM_START_FS,
            ],
        )),
        11 | 12 => Ring(mmio::SQ_ESGS_RING_BASE + 8 * s.rng.u32(..6)),
        13 => Number(mmio::SQ_ESGS_RING_SIZE + 8 * s.rng.u32(..6), 0x1000),
        14 => Number(mmio::SQ_ESGS_RING_ITEMSIZE + 4 * s.rng.u32(..6), 0x8000),
        15 => Number(one(s, mmio::VGT_STRMOUT_BUFFER_SIZE), 0x1_0000),
        16 => Number(one(s, mmio::VGT_STRMOUT_VTX_STRIDE), 64),
        17 => Number(one(s, mmio::SQ_ALU_CONST_BUFFER_SIZE_PS), 256),
        18 => Number(one(s, mmio::SQ_ALU_CONST_BUFFER_SIZE_VS), 256),
        19 => Number(one(s, mmio::SQ_ALU_CONST_BUFFER_SIZE_GS), 256),
        20 => Number(mmio::VGT_GS_MODE, 4),
        21 => Number(mmio::PA_SC_AA_CONFIG, 4),
        22 => Number(mmio::CB_TARGET_MASK, u32::MAX),
        23 => Number(mmio::CB_COLOR_CONTROL, 8),
        24 => Corner(mmio::PA_SC_SCREEN_SCISSOR_BR, 512),
        25 => Corner(mmio::PA_SC_WINDOW_SCISSOR_BR, 512),
        26 => Number(one(s, mmio::CB_COLOR_INFO), 0),
        _ => Number(one(s, mmio::CB_COLOR_VIEW), 4),
    }
}

/// Write one register of the state.
pub fn change(s: &mut Scene<'_>) {
    s.piece();
    match register(s) {
        Address(register) => {
            let (place, object) = surface_place(s, 1 << 16);
            s.on().write(register, place).marker(object);
        }
        Ring(register) => {
            stages::idle(s);
            let (place, object) = surface_place(s, 256);
            s.on().write(register, place).marker(object);
        }
        Number(register, most) => {
            if register < mmio::DB_DEPTH_SIZE {
                stages::idle(s);
            }
            let value = match most {
                // A view: the last slice.
                4 if register < mmio::CB_COLOR_INFO.base() => s.rng.u32(..4) << 13,
                // A special operation.
                8 => s.rng.u32(..8) << 4,
                0 => 0,
                most => {
                    let odd = s.rng.u32(..);
                    pick(s.rng, &[0, most, odd % most, odd % most])
                }
            };
            s.on().write(register, value);
        }
        Corner(register, most) => {
            let corner = extent(s.rng, most) | (extent(s.rng, most) << 16);
            s.on().write(register, corner);
        }
    }
}
