// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The commands that make the chip neutral between clients.
//!
//! All clients share the address space. Registers and constants that a client has written may name its memory, or hold
//! its data. So before the commands of another client the CP sets every resource, sampler and constant, and every
//! register that clients may write ([`policy`]), to zero. Zero means no target, no buffer, no size and nothing enabled.
//! The start of a program has no such value. Programs start at an empty one instead.
//!
//! The commands do not depend on what a client has left. They wait until nothing is drawn, because there is one set only
//! of the configuration registers.

use lapidary::portable::{
    bits::RegArray,
    sink::{
        Full,
        Sink, //
    },
};

use super::{
    emit,
    pm4::{
        self,
        operation, //
    },
    policy::{
        self,
        Policy, //
    },
    regs::{
        enums::vgt_event,
        isa::mmio_r6xx::cf_word1,
        mmio::{
            self,
            wait_until, //
        },
        pm4::{
            context_control::{
                load_control::LOAD_ENABLE,
                shadow_control::SHADOW_ENABLE, //
            },
            event,
            op,
            set_config_reg as config,
            set_context_reg as context, //
        },
    },
    Generation, //
};

/// Dwords of the empty program: programs start at multiples of 256 bytes.
pub const PROGRAM_DWORDS: usize = 64;

/// The most dwords of the program and of what [`emit()`] writes: whole pages.
pub const DWORDS: usize = 8192;

/// The empty program. Each instruction does nothing and ends it, so the chip may fetch some in advance. Both generations
/// have these bits at the same places.
pub const PROGRAM: [u32; PROGRAM_DWORDS] = {
    let mut words = [0; PROGRAM_DWORDS];
    let mut at = 1;
    while at < PROGRAM_DWORDS {
        words[at] = cf_word1::END_OF_PROGRAM.mask() | cf_word1::BARRIER.mask();
        at += 2;
    }
    words
};

/// Write the commands for a chip of `generation`. The empty program is at GPU address `program`, a multiple of 256.
/// `base_update`: the CP wants to be told which addresses of surfaces have been written.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`DWORDS`] less [`PROGRAM_DWORDS`].
pub fn emit(
    out: &mut impl Sink,
    generation: Generation,
    base_update: bool,
    program: u64,
) -> Result<(), Full> {
    if generation == Generation::R6xx {
        out.put_all(&[operation(op::START_3D_CMDBUF, 1), 0])?;
    }
    out.put_all(&[
        operation(op::CONTEXT_CONTROL, 2),
        LOAD_ENABLE.mask(),
        SHADOW_ENABLE.mask(),
    ])?;
    let idle = wait_until::WAIT_3D_IDLE.mask() | wait_until::WAIT_3D_IDLECLEAN.mask();
    emit::write(out, mmio::WAIT_UNTIL, idle)?;
    out.put_all(&[
        operation(op::EVENT_WRITE, 1),
        event::EVENT_TYPE.of(vgt_event::VGT_FLUSH),
    ])?;
    // A resource has seven dwords, a sampler three.
    clear(out, op::SET_RESOURCE, mmio::SQ_TEX_RESOURCE_WORD0, 7)?;
    clear(out, op::SET_SAMPLER, mmio::SQ_TEX_SAMPLER_WORD0, 3)?;
    clear(out, op::SET_ALU_CONST, mmio::SQ_ALU_CONSTANT, 1)?;
    clear(out, op::SET_LOOP_CONST, mmio::SQ_LOOP_CONST, 1)?;
    clear(out, op::SET_BOOL_CONST, mmio::SQ_BOOL_CONST, 1)?;
    out.put_all(&[operation(op::SET_CTL_CONST, 3), 0, 0, 0])?;
    let start = (program >> 8) as u32;
    for base in [config::BASE, context::BASE] {
        registers(out, generation, base, start)?;
    }
    if base_update {
        out.put_all(&[operation(op::SURFACE_BASE_UPDATE, 1), pm4::SURFACE_BASES])?;
    }
    // What the stream of a client leaves in the packets' own state.
    out.put_all(&[operation(op::SET_PREDICATION, 2), 0, 0])?;
    out.put_all(&[operation(op::INDEX_TYPE, 1), 0])?;
    out.put_all(&[operation(op::NUM_INSTANCES, 1), 0])
}

/// Set all of `array` to zero, which has `dwords` dwords for each element, by the packet `opcode`.
fn clear(out: &mut impl Sink, opcode: u8, array: RegArray, dwords: u32) -> Result<(), Full> {
    let count = array.len().wrapping_mul(dwords);
    out.put_all(&[operation(opcode, count.wrapping_add(1)), 0])?;
    (0..count).try_for_each(|_| out.put(0))
}

/// Set the registers from byte offset `base` on that clients may write. Those that follow each other are in one packet.
fn registers(
    out: &mut impl Sink,
    generation: Generation,
    base: u32,
    program: u32,
) -> Result<(), Full> {
    let (opcode, end) = match base {
        config::BASE => (op::SET_CONFIG_REG, config::END),
        _ => (op::SET_CONTEXT_REG, context::END),
    };
    let mut register = base;
    while register < end {
        let mut run = 0u32;
        while is_kept(generation, register.wrapping_add(run << 2)) {
            run = run.wrapping_add(1);
        }
        if run == 0 {
            register = register.wrapping_add(4);
            continue;
        }
        let first = match base {
            config::BASE => pm4::config(register),
            _ => pm4::context(register),
        };
        out.put_all(&[operation(opcode, run.wrapping_add(1)), first])?;
        for _ in 0..run {
            out.put(match register {
                mmio::SQ_PGM_START_PS
                | mmio::SQ_PGM_START_VS
                | mmio::SQ_PGM_START_GS
                | mmio::SQ_PGM_START_ES
                | mmio::SQ_PGM_START_FS => program,
                _ => 0,
            })?;
            register = register.wrapping_add(4);
        }
    }
    Ok(())
}

/// Return whether clients may write a register and it keeps what they write.
fn is_kept(generation: Generation, register: u32) -> bool {
    match policy::of(register) {
        Policy::WaitUntil => false,
        Policy::Newer => generation == Generation::R7xx,
        policy => !policy.refuses(),
    }
}
