// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers of the 2D engine, and what a command needs of them.
//!
//! The engine has registers for surfaces, rectangle and colours. Writing `GECMD` starts it, with what they have then. Part I
//! of the manual, which describes them, is not public: they are what the headers of viafb and openchrome name (decision 11).
//! What neither of the two sets on this chip is refused.
//!
//! A raster operation says for each combination of a bit of pattern, source and destination what the result is: bit
//! `P << 2 | S << 1 | D` of its number.

use super::{
    blit::{
        Outside,
        Shape, //
    },
    relocate::{
        Part,
        Target, //
    },
    Checker,
    Object,
    Reason, //
};
use crate::portable::{
    policy::Policy,
    regs::mmio::{
        self,
        clipbr,
        cliptl,
        dimension,
        dstbase,
        dstpos,
        gecmd,
        gemode,
        keycontrol,
        pitch,
        srcbase,
        srcpos,
        wait_control_2d_3d, //
    }, //
};

/// Unit of pitches in bytes.
const PITCH_UNIT: u32 = 8;

/// Bits of `GECMD` that have a meaning.
const COMMAND_BITS: u32 = gecmd::ROP.mask()
    | gecmd::QUICK_START.mask()
    | gecmd::Y_MAJOR.mask()
    | gecmd::LAST_PIXEL_OFF.mask()
    | gecmd::MONO_ALIGN.mask()
    | gecmd::MONO_PACK.mask()
    | gecmd::MONO_PATTERN_TRANSPARENT.mask()
    | gecmd::DEC_X.mask()
    | gecmd::DEC_Y.mask()
    | gecmd::FIXED_COLOR_PATTERN.mask()
    | gecmd::CLIP_ENABLE.mask()
    | gecmd::PATTERN_REGISTER.mask()
    | gecmd::MONO_SOURCE_TRANSPARENT.mask()
    | gecmd::MONO_PATTERN.mask()
    | gecmd::MONO_SOURCE.mask()
    | gecmd::DESTINATION_SYSTEM.mask()
    | gecmd::SOURCE_SYSTEM.mask()
    | gecmd::DESTINATION_LINEAR.mask()
    | gecmd::SOURCE_LINEAR.mask()
    | gecmd::COMMAND.mask();
/// Bits of a line.
const LINE_BITS: u32 = gecmd::Y_MAJOR.mask() | gecmd::LAST_PIXEL_OFF.mask();
/// Bits of patterns of 8 x 8 pixels.
const PATTERN_BITS: u32 = gecmd::MONO_PATTERN_TRANSPARENT.mask()
    | gecmd::PATTERN_REGISTER.mask()
    | gecmd::MONO_PATTERN.mask();
/// Bits of monochrome sources.
const MONO_BITS: u32 =
    gecmd::MONO_ALIGN.mask() | gecmd::MONO_PACK.mask() | gecmd::MONO_SOURCE_TRANSPARENT.mask();
const PITCH_BITS: u32 = pitch::DESTINATION.mask() | pitch::SOURCE.mask();
const DIMENSION_BITS: u32 = dimension::HEIGHT.mask() | dimension::WIDTH.mask();
const DESTINATION_BITS: u32 = dstpos::X.mask() | dstpos::Y.mask();
/// Only a monochrome source may begin farther to the right, and none begins anywhere but at 0 here.
const SOURCE_BITS: u32 = srcpos::Y.mask() | dstpos::X.mask();
const TOP_LEFT_BITS: u32 = cliptl::TOP.mask() | cliptl::LEFT.mask();
const BOTTOM_RIGHT_BITS: u32 = clipbr::BOTTOM.mask() | clipbr::RIGHT.mask();
const KEYS: u32 = keycontrol::DESTINATION_KEY.mask() | keycontrol::SOURCE_KEY.mask();
const KEY_BITS: u32 = KEYS | keycontrol::BYTE_MASK.mask() | keycontrol::INVERT_KEY.mask();
/// Engines that become idle by themselves. A vertical blank of a dark display never comes.
const WAIT_BITS: u32 = wait_control_2d_3d::WAIT_2D_IDLE.mask()
    | wait_control_2d_3d::WAIT_3D_IDLE.mask()
    | wait_control_2d_3d::WAIT_HQV0_IDLE.mask()
    | wait_control_2d_3d::WAIT_HQV1_IDLE.mask();

/// Registers up to the last of those whose values are kept.
const KEPT: usize = mmio::MONOPATFGC as usize / 4 + 1;

/// A register whose value is kept, by its index.
#[derive(Clone, Copy)]
struct Register(usize);

impl Register {
    const MODE: Self = Self::at(mmio::GEMODE);
    const PITCH: Self = Self::at(mmio::PITCH);
    const DIMENSION: Self = Self::at(mmio::DIMENSION);
    const DESTINATION_POSITION: Self = Self::at(mmio::DSTPOS);
    const SOURCE_POSITION: Self = Self::at(mmio::SRCPOS);
    const CLIP_TOP_LEFT: Self = Self::at(mmio::CLIPTL);
    const CLIP_BOTTOM_RIGHT: Self = Self::at(mmio::CLIPBR);
    const KEY: Self = Self::at(mmio::KEYCONTROL);
    const FOREGROUND: Self = Self::at(mmio::FGCOLOR);
    const BACKGROUND: Self = Self::at(mmio::BGCOLOR);
    const PATTERN: Self = Self::at(mmio::MONOPATFGC);

    const fn at(offset: u32) -> Self {
        Self(offset as usize / 4)
    }
}

/// Registers whose values are kept, and their bits that have a meaning. Of the last five the values do not matter, only that
/// the stream has set them.
const VALUES: [(Register, u32); 11] = [
    (Register::MODE, gemode::DEPTH.mask()),
    (Register::PITCH, PITCH_BITS),
    (Register::DIMENSION, DIMENSION_BITS),
    (Register::DESTINATION_POSITION, DESTINATION_BITS),
    (Register::SOURCE_POSITION, SOURCE_BITS),
    (Register::KEY, KEY_BITS),
    (Register::CLIP_TOP_LEFT, TOP_LEFT_BITS),
    (Register::CLIP_BOTTOM_RIGHT, BOTTOM_RIGHT_BITS),
    (Register::FOREGROUND, u32::MAX),
    (Register::BACKGROUND, u32::MAX),
    (Register::PATTERN, u32::MAX),
];

/// What stands above a value, so that one test sees a register whose value is not kept.
const MARK: u64 = 1 << 32;

/// For each register the bits that it may not have. Those whose values are not kept may not have [`MARK`].
static FORBIDDEN: [u64; KEPT] = {
    let mut all = [MARK; KEPT];
    let mut at = 0;
    while at < VALUES.len() {
        let (register, bits) = VALUES[at];
        all[register.0] = !bits as u64;
        at += 1;
    }
    all
};

/// The state of the 2D engine that the stream has set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine2d {
    values: [u32; KEPT],
    /// A one for each register that is set.
    set: u32,
    destination: Option<Target>,
    source: Option<Target>,
    /// Dwords of data of the CPU that a command waits for.
    due: u64,
}

/// Return whether a result depends on one of its three inputs: bits of the operation's number where that is 0, and how far
/// from them those are where it is 1.
const fn depends(rop: u32, zeroes: u32, distance: u32) -> bool {
    (rop ^ rop.wrapping_shr(distance)) & zeroes != 0
}

/// Check that a value has no bits but those.
pub(super) fn only(value: u32, bits: u32, reason: Reason) -> Result<u32, Reason> {
    if value & !bits != 0 {
        return Err(reason);
    }
    Ok(value)
}

impl Engine2d {
    /// Keep the value of a register that has no other meaning. `false` if it is another register, or there is something to
    /// object to: [`Checker::register`] finds out.
    #[inline(always)]
    pub(super) fn keep(&mut self, offset: u32, value: u32) -> bool {
        // An offset that is no multiple of 4 has no index then.
        let index = offset.rotate_right(2);
        let (Some(forbidden), Some(place)) = (
            FORBIDDEN.get(index as usize),
            self.values.get_mut(index as usize),
        ) else {
            return false;
        };
        if (u64::from(value) | MARK) & forbidden != 0 {
            return false;
        }
        *place = value;
        self.set |= 1u32.wrapping_shl(index);
        true
    }

    /// Return the value of a register, if the stream has set it.
    fn get(&self, register: Register) -> Option<u32> {
        let is_set = self.set.wrapping_shr(register.0 as u32) & 1 != 0;
        self.values.get(register.0).copied().filter(|_| is_set)
    }

    /// The state at the start of a stream, in which nothing is known. A constant, so that it is built in place.
    pub(super) const UNKNOWN: Self = Self {
        values: [0; KEPT],
        set: 0,
        destination: None,
        source: None,
        due: 0,
    };

    /// Refuse if a command waits for data of the CPU.
    pub(super) fn nothing_due(&self) -> Result<(), Reason> {
        match self.due {
            0 => Ok(()),
            _ => Err(Reason::HostMissing),
        }
    }

    /// Take dwords of data of the CPU. An error has how many of them are taken.
    pub(super) fn take_host_data(&mut self, dwords: u64) -> Result<(), (u64, Reason)> {
        let due = self.due;
        if due == 0 {
            return Err((0, Reason::HostUnexpected));
        }
        match due.checked_sub(dwords) {
            Some(left) => self.due = left,
            None => return Err((due, Reason::HostExcess)),
        }
        Ok(())
    }

    /// Check a command, note the access of its objects, and return how many dwords of data of the CPU it waits for.
    fn command(&self, command: u32, objects: &mut [Object]) -> Result<u64, Reason> {
        only(command, COMMAND_BITS, Reason::RegisterBits)?;
        let only_mono = match gecmd::COMMAND.get(command) {
            gecmd::command::NOP | gecmd::command::BLT => false,
            gecmd::command::BLT_MONO => true,
            gecmd::command::LINE => return Err(Reason::Line),
            gecmd::command::ROTATE => return Err(Reason::Rotation),
            _ => return Err(Reason::UnknownCommand),
        };
        for (bits, reason) in [
            (LINE_BITS, Reason::Line),
            (PATTERN_BITS, Reason::Pattern),
            (gecmd::QUICK_START.mask(), Reason::QuickStart),
            (gecmd::DESTINATION_SYSTEM.mask(), Reason::SystemDestination),
            (gecmd::DESTINATION_LINEAR.mask(), Reason::LinearSurface),
            (gecmd::SOURCE_LINEAR.mask(), Reason::LinearSurface),
        ] {
            only(command, !bits, reason)?;
        }
        let mono = gecmd::MONO_SOURCE.any(command);
        if !mono {
            only(command, !MONO_BITS, Reason::MonoBits)?;
        }
        if only_mono && !mono || mono && !gecmd::SOURCE_SYSTEM.any(command) {
            return Err(Reason::MonoMemory);
        }
        if gecmd::COMMAND.get(command) == gecmd::command::NOP {
            return Ok(0);
        }
        self.blit(command, mono, objects)
    }

    /// Check a blit.
    fn blit(&self, command: u32, mono: bool, objects: &mut [Object]) -> Result<u64, Reason> {
        let rop = gecmd::ROP.get(command);
        let (pattern, source) = (depends(rop, 0x0f, 4), depends(rop, 0x33, 2));
        let host = gecmd::SOURCE_SYSTEM.any(command);
        if pattern && !gecmd::FIXED_COLOR_PATTERN.any(command) {
            return Err(Reason::Pattern);
        }
        self.colors(command, pattern, source, mono)?;
        let mode = self.get(Register::MODE).ok_or(Reason::NoMode)?;
        let bytes = match gemode::DEPTH.get(mode) {
            gemode::depth::BPP_8 => 1,
            gemode::depth::BPP_16 => 2,
            gemode::depth::BPP_32 => 4,
            _ => return Err(Reason::PixelDepth),
        };
        let pitches = self.get(Register::PITCH).ok_or(Reason::NoPitch)?;
        let dimension = self.get(Register::DIMENSION).ok_or(Reason::NoDimension)?;
        // Fields have twelve bits.
        let shape = Shape {
            width: dimension::WIDTH.get(dimension).wrapping_add(1),
            height: dimension::HEIGHT.get(dimension).wrapping_add(1),
            bytes,
            leftwards: gecmd::DEC_X.any(command),
            upwards: gecmd::DEC_Y.any(command),
        };
        let bytes_of = |pitch: u32| pitch.wrapping_mul(PITCH_UNIT);
        let size = |objects: &[Object], target: Target| {
            objects
                .get(target.object as usize)
                .map_or(0, |object| object.size)
        };

        let position = self
            .get(Register::DESTINATION_POSITION)
            .ok_or(Reason::NoDestinationPosition)?;
        let destination = self.destination.ok_or(Reason::NoDestination)?;
        let to = shape
            .place(
                destination,
                bytes_of(pitch::DESTINATION.get(pitches)),
                (dstpos::X.get(position), dstpos::Y.get(position)),
                size(objects, destination),
            )
            .map_err(|outside| match outside {
                Outside::Edge => Reason::DestinationEdge,
                Outside::Bounds => Reason::DestinationBounds,
                Outside::Pitch => Reason::PitchZero,
            })?;
        if let Some(object) = objects.get_mut(destination.object as usize) {
            object.access.writes = true;
        }
        if host {
            return self.host(command, source, mono, shape);
        }
        if !source {
            return Ok(0);
        }

        let position = self
            .get(Register::SOURCE_POSITION)
            .ok_or(Reason::NoSourcePosition)?;
        let source = self.source.ok_or(Reason::NoSource)?;
        let from = shape
            .place(
                source,
                bytes_of(pitch::SOURCE.get(pitches)),
                (srcpos::X.get(position), srcpos::Y.get(position)),
                size(objects, source),
            )
            .map_err(|outside| match outside {
                Outside::Edge => Reason::SourceEdge,
                Outside::Bounds => Reason::SourceBounds,
                Outside::Pitch => Reason::PitchZero,
            })?;
        if let Some(object) = objects.get_mut(source.object as usize) {
            object.access.reads = true;
        }
        if source.shares_object(destination, objects) {
            shape.overlap(&from, &to)?;
        }
        Ok(0)
    }

    /// Check that colours, keys and clip are the stream's, as far as a blit depends on them.
    fn colors(&self, command: u32, pattern: bool, source: bool, mono: bool) -> Result<(), Reason> {
        let key = self.get(Register::KEY).ok_or(Reason::NoKey)?;
        // A key compares pixels, and a colour has two meanings.
        if mono && key & KEYS != 0 || keycontrol::SOURCE_KEY.any(key) && !source {
            return Err(Reason::KeyWithoutPixels);
        }
        let needs_foreground = mono || keycontrol::DESTINATION_KEY.any(key);
        let transparent = gecmd::MONO_SOURCE_TRANSPARENT.any(command);
        let needs_background = mono && !transparent || keycontrol::SOURCE_KEY.any(key);
        if needs_foreground && self.get(Register::FOREGROUND).is_none() {
            return Err(Reason::NoForeground);
        }
        if needs_background && self.get(Register::BACKGROUND).is_none() {
            return Err(Reason::NoBackground);
        }
        if pattern && self.get(Register::PATTERN).is_none() {
            return Err(Reason::NoPatternColor);
        }
        let clip = self.get(Register::CLIP_TOP_LEFT).is_some()
            && self.get(Register::CLIP_BOTTOM_RIGHT).is_some();
        if gecmd::CLIP_ENABLE.any(command) && !clip {
            return Err(Reason::NoClip);
        }
        Ok(())
    }

    /// Return how many dwords a blit takes of the CPU.
    fn host(&self, command: u32, source: bool, mono: bool, shape: Shape) -> Result<u64, Reason> {
        // It is not known whether the engine waits for data that it does not need.
        if !source {
            return Err(Reason::HostNotRead);
        }
        if shape.leftwards || shape.upwards {
            return Err(Reason::HostDirection);
        }
        if self
            .get(Register::SOURCE_POSITION)
            .ok_or(Reason::NoSourcePosition)?
            != 0
        {
            return Err(Reason::HostOrigin);
        }
        let unit = match gecmd::MONO_ALIGN.get(command) {
            _ if !mono => 32,
            _ if gecmd::MONO_PACK.any(command) => 1,
            gecmd::mono_align::DWORD => 32,
            gecmd::mono_align::WORD => 16,
            gecmd::mono_align::BYTE => 8,
            _ => return Err(Reason::MonoAlignment),
        };
        let bits = if mono { 1 } else { shape.bytes.wrapping_mul(8) };
        Ok(shape.host_data(bits, unit))
    }
}

impl Checker<'_> {
    /// Check the value at the current position, of an admitted register.
    pub(super) fn register_2d(&mut self, policy: Policy, value: u32) -> Result<(), Reason> {
        let engine = &mut self.engine2d;
        match policy {
            Policy::Command => {
                engine.due = engine.command(value, self.objects)?;
                Ok(())
            }
            Policy::Wait => {
                only(value, WAIT_BITS, Reason::WaitBits)?;
                self.video.wait(value);
                Ok(())
            }
            Policy::DestinationBase => {
                only(value, dstbase::ADDRESS.mask(), Reason::RegisterBits)?;
                self.engine2d.destination = Some(self.address(value, 0, Part::Base2d)?);
                Ok(())
            }
            Policy::SourceBase => {
                only(value, srcbase::ADDRESS.mask(), Reason::RegisterBits)?;
                self.engine2d.source = Some(self.address(value, 0, Part::Base2d)?);
                Ok(())
            }
            Policy::Mode if gemode::ROTATION.any(value) => Err(Reason::Rotation),
            // What could be kept has been kept.
            Policy::Mode
            | Policy::Pitch
            | Policy::Dimension
            | Policy::DestinationPosition
            | Policy::SourcePosition
            | Policy::Key
            | Policy::ClipTopLeft
            | Policy::ClipBottomRight
            | Policy::Foreground
            | Policy::Background
            | Policy::PatternColor => Err(Reason::RegisterBits),
            Policy::Unknown | Policy::Pattern | Policy::Kernel => Err(Reason::UnknownRegister),
        }
    }
}
