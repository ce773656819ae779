// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers of HQV, the scaler of video, and what a picture needs of them (L441-529).
//!
//! There are two engines. Both have the same registers, those of the second 1000h behind those of the first. Pairs of header 5
//! name second places of them, another 2000h behind, where writes pass the regulator in the order of the stream (L103-106).
//! Writing `HQV_CONTROL` with `ENABLE` and `SOURCE_FLIP` starts a picture, which comes from memory and goes to memory.
//!
//! It is not public when an engine takes over its registers. So none may be written from the start of a picture until the
//! stream waits for the engine (L755), and each stream has to wait for all its pictures. Then the next client's commands
//! and the fence of the stream come behind them.
//!
//! Pictures by fields depend on pictures before them, which may be another client's. They are refused.

use lapidary::portable::bits::RegArray;

use super::{
    engine2d::only,
    relocate::{
        Part,
        Target, //
    },
    Checker,
    Reason, //
};
use crate::portable::{
    policy::{
        self,
        Video as Policy,
        VIDEO,
        VIDEO_REGISTERS, //
    },
    regs::mmio::{
        self,
        hqv_control as control,
        hqv_mode as mode,
        hqv_source_stride as source_stride,
        hqv_static_stride as static_stride,
        hqv_subpicture_palette as palette,
        wait_control_2d_3d as wait, //
    },
};

/// How far the places of registers in streams are behind the registers.
const ALIAS: u32 = 0x2000;
/// How far the second engine is behind the first.
const SECOND: u32 = 0x1000;
/// Engines, and their bits of a wait.
const WAITS: [u32; 2] = [wait::WAIT_HQV0_IDLE.mask(), wait::WAIT_HQV1_IDLE.mask()];

/// Bits of the control that can be written. The others are reserved or say what the engine does.
const CONTROL_BITS: u32 = control::FORMAT.mask()
    | control::ENABLE.mask()
    | control::TRIPLE_BUFFER.mask()
    | control::SOURCE.mask()
    | control::V_LOW_PASS.mask()
    | control::SUBPICTURE_FLIP.mask()
    | control::INTERRUPT_ENABLE.mask()
    | control::SINGLE_BUFFER.mask()
    | control::SOURCE_FLIP.mask()
    | control::END_OF_FRAME.mask()
    | CONTROL_FIELDS;
/// Bits of the control that have to do with fields.
const CONTROL_FIELDS: u32 = control::ADVANCED_DEINTERLACE.mask()
    | control::CHROMA_FIELDS.mask()
    | control::INVERSE_FIELD.mask()
    | control::FRAME_TO_FIELD.mask()
    | control::FIELD_TO_FRAME.mask()
    | control::SOURCE_FIELD.mask();
/// Bits that start something.
const STARTS: u32 =
    control::ENABLE.mask() | control::SOURCE_FLIP.mask() | control::SUBPICTURE_FLIP.mask();

/// Bits of other registers that have to do with fields, or with a record of pictures before.
const FIELDS: [(Register, u32); 3] = [
    (
        Register::of(mmio::HQV_MODE),
        mode::SYNCHRONIZE_FIELD.mask() | mode::INVERSE_DISPLAY_FIELD.mask(),
    ),
    (
        Register::of(mmio::HQV_SOURCE_STRIDE),
        source_stride::LOAD_ADDRESS.mask()
            | source_stride::RESET_STATIC.mask()
            | source_stride::PULL_DOWN_LOW.mask()
            | source_stride::CHECK_SEQUENCE_ONCE.mask(),
    ),
    (
        Register::of(mmio::HQV_STATIC_STRIDE),
        static_stride::STRIDE.mask(),
    ),
];

/// A register of an engine, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register(usize);

impl Register {
    /// Return the register that is an element of an array, one for each engine.
    pub(super) const fn of(array: RegArray) -> Self {
        match array.at(0) {
            Some(offset) => Self(offset.wrapping_sub(VIDEO) as usize / 4),
            None => Self(VIDEO_REGISTERS),
        }
    }

    /// Return its bit in [`Engine::set`].
    const fn bit(self) -> u64 {
        1u64.wrapping_shl(self.0 as u32)
    }
}

/// Return a bit for each register.
const fn all(registers: &[RegArray]) -> u64 {
    let mut bits = 0;
    let mut at = 0;
    while at < registers.len() {
        bits |= Register::of(registers[at]).bit();
        at += 1;
    }
    bits
}

/// What any picture needs.
pub(super) const PICTURE: u64 = all(&[
    mmio::HQV_COLOR_ADJUSTMENT_1,
    mmio::HQV_COLOR_ADJUSTMENT_2,
    mmio::HQV_COLOR_ADJUSTMENT_3,
    mmio::HQV_COLOR_ADJUSTMENT_4,
    mmio::HQV_COLOR_ADJUSTMENT_5,
    mmio::HQV_COLOR_ADJUSTMENT_6,
    mmio::HQV_COLOR_ADJUSTMENT_7,
    mmio::HQV_COLOR_ADJUSTMENT_8,
    mmio::HQV_VIDEO_SOURCE_START,
    mmio::HQV_VIDEO_SOURCE_END,
    mmio::HQV_VIDEO_DESTINATION_START,
    mmio::HQV_VIDEO_DESTINATION_END,
    mmio::HQV_TUNING,
    mmio::HQV_EXTENDED_CONTROL,
    mmio::HQV_STATIC_STRIDE,
    mmio::HQV_VIDEO_H_SCALE,
    mmio::HQV_VIDEO_V_SCALE,
    mmio::HQV_BACKGROUND,
    mmio::HQV_BACKGROUND_OFFSET,
    mmio::HQV_RESIDUE_BASE,
    mmio::HQV_SUBPICTURE_CONTROL,
    mmio::HQV_SOURCE_LUMA,
    mmio::HQV_SOURCE_STRIDE,
    mmio::HQV_MODE,
    mmio::HQV_DEINTERLACE,
    mmio::HQV_DESTINATION_1,
    mmio::HQV_DESTINATION_STRIDE,
]);
/// What one with a sub-picture needs as well, but for a palette.
pub(super) const SUBPICTURE: u64 = all(&[
    mmio::HQV_SUBPICTURE_SOURCE_START,
    mmio::HQV_SUBPICTURE_SOURCE_END,
    mmio::HQV_SUBPICTURE_DESTINATION_START,
    mmio::HQV_SUBPICTURE_DESTINATION_END,
    mmio::HQV_SUBPICTURE_H_SCALE,
    mmio::HQV_SUBPICTURE_V_SCALE,
    mmio::HQV_SUBPICTURE_BASE,
]);

/// Registers whose values decide on what a picture touches.
const KEPT: [Register; 13] = [
    Register::of(mmio::HQV_VIDEO_SOURCE_START),
    Register::of(mmio::HQV_VIDEO_SOURCE_END),
    Register::of(mmio::HQV_VIDEO_DESTINATION_START),
    Register::of(mmio::HQV_VIDEO_DESTINATION_END),
    Register::of(mmio::HQV_SUBPICTURE_SOURCE_START),
    Register::of(mmio::HQV_SUBPICTURE_SOURCE_END),
    Register::of(mmio::HQV_SUBPICTURE_DESTINATION_START),
    Register::of(mmio::HQV_SUBPICTURE_DESTINATION_END),
    Register::of(mmio::HQV_SUBPICTURE_CONTROL),
    Register::of(mmio::HQV_BACKGROUND_OFFSET),
    Register::of(mmio::HQV_SOURCE_STRIDE),
    Register::of(mmio::HQV_MODE),
    Register::of(mmio::HQV_DESTINATION_STRIDE),
];

/// Surfaces, by the registers that say where they begin.
const SURFACES: [Register; 7] = [
    Register::of(mmio::HQV_SOURCE_LUMA),
    Register::of(mmio::HQV_SOURCE_CHROMA),
    Register::of(mmio::HQV_DESTINATION_1),
    Register::of(mmio::HQV_DESTINATION_2),
    Register::of(mmio::HQV_DESTINATION_3),
    Register::of(mmio::HQV_SUBPICTURE_BASE),
    Register::of(mmio::HQV_RESIDUE_BASE),
];

/// What an entry of the palette consists of.
const COMPONENTS: [u32; 3] = [
    palette::WRITE_Y.mask(),
    palette::WRITE_U.mask(),
    palette::WRITE_V.mask(),
];
const PALETTE_BITS: u32 = palette::V.mask()
    | palette::U.mask()
    | palette::Y.mask()
    | palette::INDEX.mask()
    | palette::WRITE_V.mask()
    | palette::WRITE_U.mask()
    | palette::WRITE_Y.mask();

/// One of both engines, as far as the stream has set it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine {
    /// A one for each register that is set.
    set: u64,
    /// Of those in [`KEPT`].
    values: [u32; KEPT.len()],
    /// Of those in [`SURFACES`], and the rest of the first destination's register.
    surfaces: [Target; SURFACES.len()],
    layout: u32,
    /// A one for each entry of the palette that is set, by component.
    palette: [u16; COMPONENTS.len()],
    /// It works on a picture for which the stream has not waited.
    works: bool,
}

impl Engine {
    /// Return the value of a register in [`KEPT`]. It is 0 if the stream has not set it.
    pub(super) fn get(&self, register: Register) -> u32 {
        let mut values = KEPT.iter().zip(self.values);
        values
            .find(|(other, _)| **other == register)
            .map_or(0, |(_, value)| value)
    }

    /// Return what the first destination's register has beside the address.
    pub(super) const fn layout(&self) -> u32 {
        self.layout
    }

    /// Return whether all of some registers are set.
    pub(super) const fn has_all(&self, registers: u64) -> bool {
        self.set & registers == registers
    }

    /// Return whether the whole palette is set.
    pub(super) fn has_palette(&self) -> bool {
        self.palette.iter().all(|entries| *entries == u16::MAX)
    }

    /// Return where a surface begins, if the stream has set it.
    pub(super) fn surface(&self, register: Register) -> Option<Target> {
        let mut surfaces = SURFACES.iter().zip(self.surfaces);
        surfaces
            .find(|(other, _)| **other == register)
            .map(|(_, target)| target)
            .filter(|_| self.has_all(register.bit()))
    }

    /// Keep where a surface begins, and what its register has beside that.
    fn set_surface(&mut self, register: Register, target: Target, value: u32) {
        for (other, place) in SURFACES.iter().zip(&mut self.surfaces) {
            if *other == register {
                *place = target;
            }
        }
        if register == Register::of(mmio::HQV_DESTINATION_1) {
            self.layout = value;
        }
    }

    /// Keep the value of a register, if it is of those that decide.
    fn keep(&mut self, register: Register, value: u32) {
        for (other, place) in KEPT.iter().zip(&mut self.values) {
            if *other == register {
                *place = value;
            }
        }
        self.set |= register.bit();
    }

    /// Note which components of an entry of the palette are written.
    fn note_entry(&mut self, value: u32) {
        let entry = 1u16.wrapping_shl(palette::INDEX.get(value));
        for (component, entries) in COMPONENTS.iter().zip(&mut self.palette) {
            if value & component != 0 {
                *entries |= entry;
            }
        }
    }
}

/// The state of both engines that the stream has set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Video([Engine; WAITS.len()]);

impl Video {
    /// Nothing is known.
    pub(super) const UNKNOWN: Self = Self(
        [Engine {
            set: 0,
            values: [0; KEPT.len()],
            surfaces: [Target {
                object: 0,
                offset: 0,
            }; SURFACES.len()],
            layout: 0,
            palette: [0; COMPONENTS.len()],
            works: false,
        }; WAITS.len()],
    );

    /// Take note of a wait for engines.
    pub(super) fn wait(&mut self, value: u32) {
        for (engine, bit) in self.0.iter_mut().zip(WAITS) {
            if value & bit != 0 {
                engine.works = false;
            }
        }
    }

    /// Refuse if the stream ends before its pictures do.
    pub(super) fn finish(&self) -> Result<(), Reason> {
        if self.0.iter().any(|engine| engine.works) {
            return Err(Reason::VideoUnfinished);
        }
        Ok(())
    }
}

/// Return which engine has a register at an offset of a pair, and the register. The offset may lie within a register.
fn place(offset: u32) -> Option<(usize, Register)> {
    let behind = offset.checked_sub(ALIAS.wrapping_add(VIDEO))?;
    let (number, behind) = match behind.checked_sub(SECOND) {
        Some(behind) => (1, behind),
        None => (0, behind),
    };
    let index = behind as usize / 4;
    (index < VIDEO_REGISTERS).then_some((number, Register(index)))
}

impl Checker<'_> {
    /// Check a pair of a header for video. The current position is that of the offset.
    pub(super) fn video_register(&mut self, offset: u32, value: u32) -> Result<(), Reason> {
        let (number, register) = place(offset).ok_or(Reason::VideoRange)?;
        if offset % 4 != 0 {
            return Err(Reason::PairAlignment);
        }
        // A copy, which is written back when the pair is admitted.
        let mut engine = *self.video.0.get(number).ok_or(Reason::VideoRange)?;
        if engine.works {
            return Err(Reason::VideoBusy);
        }
        self.position = self.position.wrapping_add(1);
        match policy::video(register.0) {
            Policy::Unknown => return Err(Reason::UnknownRegister),
            Policy::Control => engine.works = self.control(&engine, value)?,
            Policy::Value(bits) => {
                only(value, bits, Reason::RegisterBits)?;
                refused(register, value)?;
            }
            Policy::Base(bits) => {
                only(value, bits | Part::Video.mask(), Reason::RegisterBits)?;
                let target = self.address(value, 0, Part::Video)?;
                engine.set_surface(register, target, value);
            }
            Policy::Palette => {
                only(value, PALETTE_BITS, Reason::RegisterBits)?;
                engine.note_entry(value);
            }
            Policy::Lost => {
                only(value, 0, Reason::LostRegister)?;
            }
            Policy::Fields => {
                only(value, 0, Reason::VideoFields)?;
            }
        }
        engine.keep(register, value);
        if let Some(place) = self.video.0.get_mut(number) {
            *place = engine;
        }
        Ok(())
    }

    /// Check a value of the control. Return whether it starts a picture.
    fn control(&mut self, engine: &Engine, value: u32) -> Result<bool, Reason> {
        only(value, CONTROL_BITS, Reason::RegisterBits)?;
        only(
            value,
            !control::INTERRUPT_ENABLE.mask(),
            Reason::VideoInterrupt,
        )?;
        if value & STARTS == 0 {
            return Ok(false);
        }
        if !control::ENABLE.any(value) || !control::SOURCE_FLIP.any(value) {
            return Err(Reason::VideoControl);
        }
        if control::SOURCE.get(value) != control::source::SOFTWARE {
            return Err(Reason::VideoSource);
        }
        only(value, !CONTROL_FIELDS, Reason::VideoFields)?;
        self.picture(engine, value)?;
        Ok(true)
    }
}

/// Refuse values of bits that have a meaning, but not one for pictures from memory to memory.
fn refused(register: Register, value: u32) -> Result<(), Reason> {
    for (other, bits) in FIELDS {
        if other == register {
            only(value, !bits, Reason::VideoFields)?;
        }
    }
    if register == Register::of(mmio::HQV_MODE) && mode::TILE.get(value) != mode::tile::LINEAR {
        return Err(Reason::SourceTiles);
    }
    // Which size the engine would not look at is not said.
    if register == Register::of(mmio::HQV_SOURCE_STRIDE) {
        only(value, !source_stride::ANY_SIZE.mask(), Reason::LostRegister)?;
    }
    Ok(())
}
