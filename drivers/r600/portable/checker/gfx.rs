// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The walk through a stream for the graphics ring: packets, and writes to registers.
//!
//! A register is written by a packet of type 3 that names its range. Packets of type 0 are refused, because no client
//! sends them. Draws and markers may be predicated, and nothing else.

use core::cell::Cell;

use lapidary::portable::{
    pm4::{
        header,
        Body,
        Fixups,
        Stream,
        MARKER, //
    },
    residue::Residue, //
};

use super::{
    color::Color,
    constant_buffer::ConstantBuffers,
    depth::Depth,
    draw::{
        self,
        group, //
    },
    place::{
        self,
        Doing,
        Form,
        SURFACE_UNIT, //
    },
    raster::Raster,
    reason::{
        Reason,
        Refusal, //
    },
    rings::Rings,
    stream_out::StreamOut,
    Chip,
    Fixup,
    Object, //
};
use crate::portable::{
    pm4::{
        Header,
        R6xx, //
    },
    policy::{
        self,
        Policy, //
    },
    regs::{
        mmio_r6xx,
        mmio_r7xx,
        pm4::{
            context_control,
            op,
            poll_interval,
            set_config_reg,
            set_context_reg,
            type3, //
        }, //
    },
    Generation, //
};

/// Check `words`, a stream for the graphics ring with `RADEON_CS_KEEP_TILING_FLAGS`.
///
/// Of the dwords only the sizes of buffers are changed, in `SET_RESOURCE`. A size that exceeds what is left of the object
/// becomes the last byte of the object, as `buffer.rs` explains. This happens also if the stream is refused at a later
/// dword.
///
/// `objects` are those of the relocation entries, in order. Their `access` is filled in. `fixups` must be as long as
/// [`max_fixups`](super::max_fixups) says. `residue` is changed to what the stream leaves in the
/// chip, in [pieces](super::piece). Return the number of fixups. Nothing in `words` may be executed unless this succeeds.
///
/// # Errors
///
/// [`Refusal`] says what is wrong with the stream and where. User space gets `EINVAL`.
pub fn check(
    words: &mut [u32],
    objects: &mut [Object],
    chip: &Chip,
    fixups: &mut [Fixup],
    residue: &mut Residue,
) -> Result<usize, Refusal> {
    walk(words, objects, chip, fixups, residue, true)
}

/// Check a stream for the graphics ring without `RADEON_CS_KEEP_TILING_FLAGS`, as [`check`].
///
/// Linux' driver takes the tiling of targets and textures from the objects of such a stream. The checker does not know
/// it, and refuses what would need it.
///
/// # Errors
///
/// As [`check`].
pub fn check_tiled_by_objects(
    words: &mut [u32],
    objects: &mut [Object],
    chip: &Chip,
    fixups: &mut [Fixup],
    residue: &mut Residue,
) -> Result<usize, Refusal> {
    walk(words, objects, chip, fixups, residue, false)
}

fn walk(
    words: &mut [u32],
    objects: &mut [Object],
    chip: &Chip,
    fixups: &mut [Fixup],
    residue: &mut Residue,
    keep_tiling: bool,
) -> Result<usize, Refusal> {
    residue.clear();
    let mut checker = Checker {
        stream: Stream::new(words),
        objects,
        fixups: Fixups::new(fixups),
        chip,
        position: 0,
        keep_tiling,
        changed: group::NEEDED,
        idle: false,
        index_bytes: None,
        color: Color::default(),
        depth: Depth::default(),
        raster: Raster::default(),
        constants: ConstantBuffers::default(),
        rings: Rings::default(),
        stream_out: StreamOut::default(),
        residue,
    };
    match checker.run() {
        Ok(()) => Ok(checker.fixups.count()),
        Err(reason) => Err(Refusal {
            position: checker.position as u32,
            reason,
        }),
    }
}

pub(super) struct Checker<'a> {
    pub(super) stream: Stream<'a>,
    pub(super) objects: &'a mut [Object],
    pub(super) fixups: Fixups<'a, Form>,
    pub(super) chip: &'a Chip,
    /// Index of the dword that is being checked.
    pub(super) position: usize,
    /// Tiling is what the stream says.
    pub(super) keep_tiling: bool,
    /// Groups of state that have changed since the last draw.
    pub(super) changed: u32,
    /// No draw of this or of an earlier stream may still run.
    pub(super) idle: bool,
    /// Bytes of an index.
    pub(super) index_bytes: Option<u32>,
    pub(super) color: Color,
    pub(super) depth: Depth,
    pub(super) raster: Raster,
    pub(super) constants: ConstantBuffers,
    pub(super) rings: Rings,
    pub(super) stream_out: StreamOut,
    /// What the stream leaves in the chip.
    pub(super) residue: &'a mut Residue,
}

impl Checker<'_> {
    fn run(&mut self) -> Result<(), Reason> {
        let words = self.stream.words();
        let mut start = 0;
        while let Some(word) = words.get(start).map(Cell::get) {
            self.position = start;
            if header::is_operation::<R6xx>(word) {
                let (opcode, dwords) = header::operation_of(word);
                let first = start.wrapping_add(1);
                let body = self.stream.values(first, first.wrapping_add(dwords))?;
                if type3::PREDICATE.any(word) && !draw::may_be_predicated(opcode) {
                    return Err(Reason::Predicated);
                }
                let mut body = Body::new(body, first);
                let result = self.operation(opcode, &mut body);
                if result.is_err() && self.position < body.position() {
                    // An error is reported for the dword that was taken last.
                    self.position = body.position().saturating_sub(1);
                }
                result?;
            } else {
                self.other(start, word)?;
            }
            start = self.stream.next();
        }
        Ok(())
    }

    /// Check a packet whose header `word` is not that of an operation.
    #[cold]
    fn other(&mut self, start: usize, word: u32) -> Result<(), Reason> {
        match self.stream.packet::<R6xx>(start, word)?.0 {
            Header::Type0 { .. } => Err(Reason::Type0),
            Header::Type1 { .. } => Err(Reason::Type1),
            Header::Type2 => Ok(()),
            // Those without reserved bits are not checked here.
            Header::Type3 { .. } => Err(Reason::ReservedHeaderBits),
        }
    }

    /// Return whether a marker lies behind the packet, and behind those markers that have been taken.
    pub(super) fn has_marker(&self) -> bool {
        let next = self.stream.words().get(self.stream.next());
        next.map(Cell::get) == Some(MARKER)
    }

    fn operation(&mut self, opcode: u8, body: &mut Body<'_>) -> Result<(), Reason> {
        // By far the most frequent.
        if opcode == op::SET_CONTEXT_REG {
            let policies = policy::context_registers;
            return self.set_registers(set_context_reg::BASE, policies, body);
        }
        match opcode {
            op::NOP => Ok(()),
            op::SET_CONFIG_REG => {
                self.set_registers(set_config_reg::BASE, policy::config_registers, body)
            }
            op::SURFACE_SYNC => self.surface_sync(body),
            op::EVENT_WRITE => self.event_write(body),
            op::EVENT_WRITE_EOP => self.event_write_eop(body),
            op::MEM_WRITE => self.mem_write(body),
            op::COPY_DW => self.copy_dword(body),
            op::CP_DMA => self.cp_dma(body),
            op::WAIT_REG_MEM => self.wait(body),
            op::CONTEXT_CONTROL => {
                // All other bits load state from memory, or copy it there.
                let (load, shadow) = (body.take()?, body.take()?);
                let load = load & !context_control::load_control::LOAD_ENABLE.mask();
                let shadow = shadow & !context_control::shadow_control::SHADOW_ENABLE.mask();
                if load | shadow != 0 {
                    return Err(Reason::StateMemory);
                }
                Ok(body.end()?)
            }
            op::START_3D_CMDBUF => {
                if self.chip.generation == Generation::R7xx {
                    return Err(Reason::OtherGeneration);
                }
                zeros(1, body)
            }
            op::SET_PREDICATION => self.predication(body),
            op::INDEX_TYPE => self.index_type(body),
            op::NUM_INSTANCES => {
                body.take()?;
                Ok(body.end()?)
            }
            op::DRAW_INDEX | op::DRAW_INDEX_AUTO | op::DRAW_INDEX_IMMD | op::DRAW_INDEX_IMMD_BE => {
                self.draw(opcode, body)
            }
            op::SET_RESOURCE => self.set_resource(body),
            op::SET_SAMPLER => self.set_sampler(body),
            op::SET_ALU_CONST => self.set_alu_const(body),
            op::SET_BOOL_CONST => self.set_bool_const(body),
            op::SET_LOOP_CONST => self.set_loop_const(body),
            op::SET_CTL_CONST => self.set_ctl_const(body),
            op::STRMOUT_BUFFER_UPDATE => self.stream_out_update(body),
            op::STRMOUT_BASE_UPDATE => self.stream_out_base(body),
            op::SURFACE_BASE_UPDATE => self.surface_base_update(body),
            // They run other commands, drop some, wait for other clients, interrupt, reach registers, set the CP up, or
            // draw in ways that no client uses.
            op::DRAW_INDEX_2
            | op::MPEG_INDEX
            | op::INDIRECT_BUFFER
            | op::INDIRECT_BUFFER_END
            | op::INDIRECT_BUFFER_MP
            | op::COND_EXEC
            | op::PRED_EXEC
            | op::MEM_SEMAPHORE
            | op::CP_INTERRUPT
            | op::COND_WRITE
            | op::REG_RMW
            | op::ONE_REG_WRITE
            | op::PFP_SYNC_ME
            | op::ME_INITIALIZE => Err(Reason::ForbiddenPacket),
            _ => Err(Reason::UnknownPacket),
        }
    }

    /// Check writes to consecutive registers of the range that begins at byte offset `base`.
    #[inline]
    fn set_registers(
        &mut self,
        base: u32,
        range: fn(usize, usize) -> Option<&'static [Policy]>,
        body: &mut Body<'_>,
    ) -> Result<(), Reason> {
        let index = body.take()?;
        // A packet without values names no register. Mesa sends such. Its offset must be one all the same.
        let policies = range(index as usize, body.len()).ok_or(Reason::RegisterRange)?;
        self.registers(base.wrapping_add(index << 2), policies, body)
    }

    /// Check the synchronisation of caches with all memory, or with a range of an object.
    fn surface_sync(&mut self, body: &mut Body<'_>) -> Result<(), Reason> {
        let known = match self.chip.generation {
            Generation::R6xx => SYNC_R6XX,
            Generation::R7xx => SYNC_R7XX,
        };
        if body.take()? & !known != 0 {
            return Err(Reason::ForbiddenBits);
        }
        let (size, base) = (body.take()?, body.take()?);
        let position = body.position().wrapping_sub(1);
        if body.take()? & !poll_interval::INTERVAL.mask() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        body.end()?;
        if size == u32::MAX && base == 0 {
            return Ok(());
        }
        let bytes = |units: u32| u64::from(units).wrapping_mul(SURFACE_UNIT);
        let number = self.stream.relocation(&mut self.position)?;
        let object = self
            .objects
            .get(number as usize)
            .ok_or(Reason::BadRelocation)?;
        // Neither sum overflows.
        if bytes(base).wrapping_add(bytes(size)) > object.size {
            return Err(Reason::SyncBounds);
        }
        let form = Form::Surface { alignment: 0 };
        Ok(self.fixups.push(position, number, form)?)
    }

    /// Check an access to memory. Dword `position` has the lower part of the offset, the next one the upper part. The
    /// next marker names the object.
    pub(super) fn access(
        &mut self,
        position: usize,
        offset: u64,
        bytes: u64,
        doing: Doing,
    ) -> Result<(), Reason> {
        let number = self.stream.relocation(&mut self.position)?;
        let object = self
            .objects
            .get_mut(number as usize)
            .ok_or(Reason::BadRelocation)?;
        place::range(object, offset, bytes, doing)?;
        Ok(self.fixups.push(position, number, Form::Next)?)
    }
}

/// Check a body of `dwords` zeros.
fn zeros(dwords: u32, body: &mut Body<'_>) -> Result<(), Reason> {
    for _ in 0..dwords {
        if body.take()? != 0 {
            return Err(Reason::ForbiddenBits);
        }
    }
    Ok(body.end()?)
}

/// What a stream may synchronise. Every bit that the generation has makes caches write back or forget, or waits for
/// that.
const SYNC_R6XX: u32 = {
    use mmio_r6xx::cp_coher_cntl::*;
    DEST_BASE_0_ENA.mask()
        | DEST_BASE_1_ENA.mask()
        | SO0_DEST_BASE_ENA.mask()
        | SO1_DEST_BASE_ENA.mask()
        | SO2_DEST_BASE_ENA.mask()
        | SO3_DEST_BASE_ENA.mask()
        | CB0_DEST_BASE_ENA.mask()
        | CB1_DEST_BASE_ENA.mask()
        | CB2_DEST_BASE_ENA.mask()
        | CB3_DEST_BASE_ENA.mask()
        | CB4_DEST_BASE_ENA.mask()
        | CB5_DEST_BASE_ENA.mask()
        | CB6_DEST_BASE_ENA.mask()
        | CB7_DEST_BASE_ENA.mask()
        | DB_DEST_BASE_ENA.mask()
        | CR_DEST_BASE_ENA.mask()
        | TC_ACTION_ENA.mask()
        | VC_ACTION_ENA.mask()
        | CB_ACTION_ENA.mask()
        | DB_ACTION_ENA.mask()
        | SH_ACTION_ENA.mask()
        | SMX_ACTION_ENA.mask()
        | CR0_ACTION_ENA.mask()
        | CR1_ACTION_ENA.mask()
        | CR2_ACTION_ENA.mask()
};
/// R7xx can also be told to look at whole caches.
const SYNC_R7XX: u32 = SYNC_R6XX | mmio_r7xx::cp_coher_cntl::FULL_CACHE_ENA.mask();
