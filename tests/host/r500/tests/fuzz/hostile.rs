// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What another client has left in the registers.
//!
//! Registers keep their values from submission to submission, and the submission before may be another client's. So
//! before a stream runs every engine is on, every address leads to memory that is not the stream's, and every size is
//! as large as possible; or every register has a random value. What no client can do, because the checker refuses it to
//! all, is left out.

use fastrand::Rng;
use lapidary::portable::bits::RegArray;
use lapidary_model_r500::{bench::Bench, Checkpoint};
use r500::portable::{
    checker::{Chip, Object, Options},
    regs::{
        mmio,
        pm4::{gui_control, pitch_offset},
    },
};

use crate::{
    scene::{facts, rarely},
    support::{run, Stream},
};

/// An address that belongs to no object of a stream.
pub const FOREIGN: u32 = Bench::VRAM + (4 << 20);

/// Return the registers that decide what memory is touched, each with the worst value.
fn worst() -> Vec<(u32, u32)> {
    let mut state = Vec::new();
    let mut one = |register: u32, value: u32| state.push((register, value));

    // Writes reach all pipes: no stream may end otherwise.
    one(mmio::SU_REG_DEST, 0xf);
    one(mmio::FG_ZBREG_DEST, 3);
    one(mmio::RB3D_CCTL, mmio::rb3d_cctl::NUM_MULTIWRITES.of(3));
    one(mmio::RB3D_COLOR_CHANNEL_MASK, u32::MAX);
    one(mmio::RB3D_BLENDCNTL, 7);
    one(mmio::RB3D_ROPCNTL, 0xa04);
    one(mmio::RB3D_AARESOLVE_OFFSET, FOREIGN);
    one(mmio::RB3D_AARESOLVE_PITCH, 0x3ffe);
    one(mmio::RB3D_AARESOLVE_CTL, 1);
    one(mmio::GB_AA_CONFIG, 7);
    one(mmio::ZB_CNTL, 0x7f);
    one(mmio::ZB_ZSTENCILCNTL, 7);
    one(mmio::ZB_FORMAT, 2);
    one(mmio::ZB_DEPTHOFFSET, FOREIGN);
    one(mmio::ZB_DEPTHPITCH, 0x3ffc);
    one(mmio::ZB_DEPTHXY_OFFSET, 0x0fc0_0fc0);
    one(mmio::ZB_BW_CNTL, 0x3f);
    one(mmio::SC_SCISSOR0, 0);
    one(mmio::SC_SCISSOR1, 0x03ff_ffff);
    one(mmio::SC_CLIP_0_A, 0);
    one(mmio::SC_CLIP_0_B, 0x03ff_ffff);
    one(mmio::SC_CLIP_RULE, 0xffff);
    one(mmio::SC_SCREENDOOR, 0xff_ffff);
    one(mmio::SU_CULL_MODE, 0);
    one(mmio::VAP_CNTL, 0);
    one(mmio::TX_ENABLE, 0xffff);
    one(mmio::VAP_VTX_SIZE, 127);
    one(mmio::VAP_ALT_NUM_VERTICES, 0xff_ffff);
    one(mmio::VAP_INDEX_OFFSET, 0xff_ffff);
    one(mmio::VAP_VF_MAX_VTX_INDX, 0xff_ffff);
    one(mmio::VAP_VF_MIN_VTX_INDX, 0xff_ffff);
    one(mmio::VAP_VTX_NUM_ARRAYS, 0xffff_0010);

    let surface = pitch_offset::OFFSET.of(FOREIGN / 1024) | pitch_offset::PITCH.of(0xff);
    one(mmio::DST_PITCH_OFFSET, surface);
    one(mmio::SRC_PITCH_OFFSET, surface);
    one(
        mmio::DP_GUI_MASTER_CNTL,
        gui_control::DST_PITCH_OFF.of(1) | 0x02cc_3603,
    );
    one(mmio::DP_CNTL, 0);
    one(mmio::DST_Y_X, 0x1f00_1f00);
    one(mmio::SRC_Y_X, 0x1f00_1f00);
    one(mmio::DST_LINE_START, 0x1f00_1f00);
    one(mmio::SC_TOP_LEFT, 0);
    one(mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff);
    one(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff);
    one(mmio::CLR_CMP_CNTL, 0x0200_0404);

    let mut all = |array: RegArray, value: u32| {
        state.extend((0..array.len()).map(|i| (array.at(i).expect("in range"), value)));
    };
    all(mmio::RB3D_COLOROFFSET, FOREIGN);
    all(
        mmio::RB3D_COLORPITCH,
        mmio::rb3d_colorpitch::COLORFORMAT.of(7) | 0x3ffe,
    );
    all(mmio::US_OUT_FMT, 0);
    all(mmio::TX_FILTER0, 0);
    all(mmio::TX_FORMAT0, 0x3fff_ffff);
    all(
        mmio::TX_FORMAT1,
        mmio::tx_format1::TXFORMAT.of(29) | mmio::tx_format1::TEX_COORD_TYPE.of(2),
    );
    all(mmio::TX_FORMAT2, 0x1bfff);
    all(mmio::TX_OFFSET, FOREIGN);
    all(mmio::VAP_VTX_AOS_ATTR, 0x7f7f_7f7f);
    all(mmio::VAP_VTX_AOS_ADDR_EVEN, FOREIGN);
    all(mmio::VAP_VTX_AOS_ADDR_ODD, FOREIGN);
    all(mmio::VAP_PROG_STREAM_CNTL, 0x0003_0003);
    state
}

/// Return whether packets set a register that streams may not write.
fn by_packet(register: u32) -> bool {
    register == mmio::VAP_VTX_NUM_ARRAYS
        || [
            mmio::VAP_VTX_AOS_ATTR,
            mmio::VAP_VTX_AOS_ADDR_EVEN,
            mmio::VAP_VTX_AOS_ADDR_ODD,
        ]
        .iter()
        .any(|array| array.index_of(register).is_some())
}

/// Return whether any client, an owner of everything for instance, can leave this value behind.
fn possible(chip: Chip, register: u32, value: u32) -> bool {
    let options = Options {
        keep_tiling: true,
        hyperz: true,
        cmask: true,
        ..facts(chip)
    };
    let object = Object {
        size: 1 << 32,
        ..Object::default()
    };
    let mut stream = Stream::new();
    stream.write(register, value).marker(0);
    by_packet(register) || run(&stream.words, &[object], options).is_ok()
}

/// Makes the states that streams start from.
pub struct Hostile {
    chip: Chip,
    registers: Vec<(u32, u32)>,
    /// Every engine on, and everything out of bounds.
    worst: Checkpoint,
}

impl Hostile {
    /// Make the states for a bench that has just been made.
    pub fn new(chip: Chip, bench: &mut Bench) -> Self {
        let mut registers = worst();
        registers.retain(|(register, value)| possible(chip, *register, *value));
        for (register, value) in &registers {
            bench.write(*register, *value);
        }
        Self {
            chip,
            registers,
            worst: bench.checkpoint(),
        }
    }

    /// Restore the worst state.
    pub fn reset(&self, bench: &mut Bench) {
        bench.restore(&self.worst);
    }

    /// Leave the worst state behind, or any, or the one that the last stream has left.
    pub fn leave(&self, rng: &mut Rng, bench: &mut Bench) {
        match rng.u32(..8) {
            0 => {}
            1 => {
                for (register, worst) in &self.registers {
                    let any = if rarely(rng, 4) {
                        u32::MAX
                    } else {
                        rng.u32(..)
                    };
                    let value = if possible(self.chip, *register, any) {
                        any
                    } else {
                        *worst
                    };
                    bench.write(*register, value);
                }
            }
            _ => self.reset(bench),
        }
        // A fence has purged both caches behind the last stream.
        bench.write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa);
        bench.write(mmio::ZB_ZCACHE_CTLSTAT, 3);
    }
}
