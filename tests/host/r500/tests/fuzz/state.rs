// SPDX-License-Identifier: GPL-2.0 OR MIT

//! State that is not supposed to matter for what memory a draw touches, programs of both shaders, and the
//! clears of the on-chip mask memories.
//!
//! Which registers are free to write is taken from the policy table itself and they get any value: a
//! register that is free by mistake shows in what the model touches.

use std::sync::LazyLock;

use lapidary_registers::r500::PACKETS;
use r500::portable::{
    pm4,
    policy::{self, Policy},
    regs::{mmio, pm4::op},
};

use crate::scene::{pick, rarely, Scene};

/// All registers that a stream may write.
pub static WRITABLE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let all = (0..0x8000).step_by(4);
    all.filter(|register| !policy::of(*register).refuses())
        .collect()
});

/// Those of them whose value the checker does not look at.
static FREE: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let free = |register: &u32| policy::of(*register) == Policy::Free;
    WRITABLE.iter().copied().filter(free).collect()
});

/// Append values for registers that are free to write.
pub fn harmless(s: &mut Scene<'_>) {
    s.any_values(&FREE);
}

/// Append viewport, vertex output and rasteriser set-up.
pub fn pipeline(s: &mut Scene<'_>) {
    s.piece();
    s.on()
        .writes(mmio::VAP_VPORT_XSCALE, &[0x4280_0000; 6])
        .write(mmio::VAP_VTE_CNTL, 0x43f)
        .write(mmio::VAP_CNTL, 0x0030_045a)
        .writes(mmio::VAP_OUT_VTX_FMT_0, &[1, 0])
        .write(mmio::VAP_CLIP_CNTL, 0x1_0000)
        .write(mmio::GB_ENABLE, 0)
        .write(mmio::GA_COLOR_CONTROL, 0x0003_aaaa)
        .write(mmio::SU_CULL_MODE, 4)
        .write(mmio::SC_SCREENDOOR, 0xff_ffff)
        .write(mmio::VAP_VTX_STATE_CNTL, 0x5555);
}

/// Append programs and constants of the vertex shader and the fragment shader.
pub fn programs(s: &mut Scene<'_>) {
    s.piece();
    let data = |rng: &mut fastrand::Rng, vectors: u32| -> Vec<u32> {
        (0..4 * vectors).map(|_| rng.u32(..)).collect()
    };
    if s.rng.bool() {
        let vectors = s.rng.u32(1..6);
        let words = data(s.rng, vectors);
        let index = pick(s.rng, &[0, 0, 1024, 1536]);
        s.on()
            .write(mmio::VAP_PVS_STATE_FLUSH_REG, 0)
            .write(mmio::VAP_PVS_VECTOR_INDX_REG, index)
            .words(&[pm4::write_one(
                mmio::VAP_PVS_VECTOR_DATA_REG_128,
                4 * vectors,
            )])
            .words(&words);
    }
    if s.rng.bool() {
        let vectors = s.rng.u32(1..6);
        let words = data(s.rng, vectors);
        let index = pick(s.rng, &[0, 1 << 16]);
        s.on()
            .write(mmio::GA_US_VECTOR_INDEX, index)
            .words(&[pm4::write_one(mmio::GA_US_VECTOR_DATA, 4 * vectors)])
            .words(&words)
            .writes(mmio::US_CONFIG, &[2])
            .write(mmio::US_PIXSIZE, 4);
    }
}

/// Append what shader model 3.0 is fed with, and enough or too little behind it.
pub fn shader_formats(s: &mut Scene<'_>) {
    s.piece();
    let register = pick(s.rng, &[mmio::PS3_VTX_FMT, mmio::PS3_TEX_SOURCE]);
    let value = s.rng.u32(..);
    s.on().write(register, value);
    if !rarely(s.rng, 8) {
        s.on().writes(mmio::SC_CLIP_0_A, &[0, 0x03ff_ffff]);
    }
}

/// Append a packet that there is, with any contents. Clients have no use for most of these packets.
pub fn odd(s: &mut Scene<'_>) {
    s.piece();
    let packet = &PACKETS[s.rng.usize(..PACKETS.len())];
    let count = s.rng.u32(1..8);
    let body: Vec<u32> = (0..count)
        .map(|_| s.rng.u32(..) >> s.rng.u32(..32))
        .collect();
    s.on().packet(packet.opcode, &body);
}

/// Clear the mask memories, for their owners.
pub fn masks(s: &mut Scene<'_>) {
    s.piece();
    let opcode = match (s.options.hyperz, s.options.cmask) {
        (true, _) if s.rng.bool() => op::_3D_CLEAR_ZMASK,
        (true, false) => op::_3D_CLEAR_HIZ,
        (_, true) => op::_3D_CLEAR_CMASK,
        _ => return,
    };
    let (start, count) = if rarely(s.rng, 48) {
        (s.rng.u32(..), s.rng.u32(..0x4000))
    } else {
        (0, s.rng.u32(..0x400))
    };
    s.on().packet(opcode, &[start, count, 0]);
}

/// Write caches back and wait for everything, as at the begin and the end of every submission.
pub fn flush(s: &mut Scene<'_>) {
    s.piece();
    s.on()
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa)
        .write(mmio::ZB_ZCACHE_CTLSTAT, 3)
        .write(mmio::WAIT_UNTIL, 0x2_0000);
}
