// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Writes to registers. What the checker does for each policy.

use core::ops::RangeInclusive;

use super::{
    draw::Scissor,
    Checker,
    Reason,
    Role, //
};
use crate::portable::{
    policy::Policy,
    regs::mmio, //
};
use lapidary::portable::bits::RegArray;

/// The registers of geometry assembly and of the units behind it that lie side by side: setup, scan converter,
/// rasteriser, textures, fragment shader, fog, colour, depth.
const BEHIND_GA: RangeInclusive<u32> = mmio::GA_POINT_S0..=mmio::ZB_STENCILREFMASK_BF;
/// How many writes to such registers must lie between a write to `PS3_VTX_FMT` or `PS3_TEX_SOURCE` and a draw. With
/// fewer the chip may hang (R5xx 9.7.5).
const SHADER_FORMAT_WRITES: u32 = 2;

/// Return which element of an array of consecutive registers `register` is. Its policy says that it is one.
fn index(array: RegArray, register: u32) -> u32 {
    register.wrapping_sub(array.at(0).unwrap_or(0)) >> 2
}

/// Return why a register is refused.
fn refusal(policy: Policy) -> Reason {
    match policy {
        Policy::Kernel => Reason::KernelRegister,
        Policy::Display => Reason::DisplayRegister,
        Policy::SetUp => Reason::SetUpRegister,
        Policy::Alias => Reason::AliasRegister,
        Policy::DirectDraw => Reason::DirectDraw,
        Policy::OnChip => Reason::OnChipRegister,
        _ => Reason::UnknownRegister,
    }
}

/// Check that a value sets only bits that this policy allows.
#[inline]
fn allow(policy: Policy, value: u32) -> Result<(), Reason> {
    if value & !policy.allowed_bits() == 0 {
        Ok(())
    } else {
        Err(Reason::ForbiddenBits)
    }
}

impl Checker<'_> {
    /// Check a write of the value at the current position to `register`.
    #[inline]
    pub(super) fn register(
        &mut self,
        register: u32,
        policy: Policy,
        value: u32,
    ) -> Result<(), Reason> {
        if self.guarded {
            self.guard(register, policy)?;
        }
        // Two functions, because one is short and the other is not.
        if policy.is_engine2d() {
            self.engine2d(policy, value)
        } else {
            self.other(register, policy, value)
        }
    }

    /// Check a write to a register that is not one of the 2D engine.
    #[inline(never)]
    fn other(&mut self, register: u32, policy: Policy, value: u32) -> Result<(), Reason> {
        match policy {
            Policy::Unknown
            | Policy::Kernel
            | Policy::Display
            | Policy::SetUp
            | Policy::Alias
            | Policy::DirectDraw
            | Policy::OnChip => return Err(refusal(policy)),
            Policy::Free => {}

            // Only the value is checked.
            Policy::WaitUntil => allow(Policy::WaitUntil, value)?,
            Policy::CacheControl => allow(Policy::CacheControl, value)?,
            Policy::ColorCacheControl => {
                allow(Policy::ColorCacheControl, value)?;
                // It does not change the caches of pipes that it does not reach.
                if self.pipes.all().is_ok() {
                    self.caches.purge_color(value);
                }
            }
            Policy::ZCacheControl => {
                allow(Policy::ZCacheControl, value)?;
                if self.pipes.all().is_ok() {
                    self.caches.purge_depth(value);
                }
            }
            Policy::HostSwap => allow(Policy::HostSwap, value)?,

            // Colour.
            Policy::ColorOffset => {
                self.caches.color_is_empty()?;
                allow(Policy::ColorOffset, value)?;
                let place = self.plain_address(value)?;
                let target = index(mmio::RB3D_COLOROFFSET, register);
                self.raster().color.set_offset(target as usize, place);
            }
            Policy::ColorPitch => {
                self.caches.color_is_empty()?;
                let value = self.color_pitch(value)?;
                let target = index(mmio::RB3D_COLORPITCH, register);
                self.raster().color.set_pitch(target as usize, value)?;
            }
            Policy::ColorControl => {
                self.caches.color_is_empty()?;
                allow(Policy::ColorControl, value)?;
                let owner = self.options.cmask;
                self.raster().color.set_control(value, owner)?;
            }
            Policy::ColorMask => self.raster().color.set_mask(value),
            Policy::Blend => self.raster().color.set_blend(value),
            Policy::OutputFormat => {
                let output = index(mmio::US_OUT_FMT, register);
                self.raster().color.set_output(output, value);
            }
            Policy::AntiAlias => {
                self.caches.color_is_empty()?;
                self.caches.depth_is_empty()?;
                self.raster().color.set_antialias(value);
            }
            Policy::ResolveOffset => {
                self.caches.color_is_empty()?;
                allow(Policy::ResolveOffset, value)?;
                let place = self.plain_address(value)?;
                self.raster().color.set_resolve(place);
            }
            Policy::ResolvePitch => {
                self.caches.color_is_empty()?;
                self.raster().color.set_resolve_pitch(value);
            }
            Policy::ResolveControl => {
                self.caches.color_is_empty()?;
                self.raster().color.set_resolve_control(value);
            }
            Policy::ColorMaskMemory => {
                self.caches.color_is_empty()?;
                if !self.options.cmask {
                    return Err(Reason::NotCmaskOwner);
                }
            }

            // Depth.
            Policy::DepthControl => self.raster().depth.set_control(value),
            Policy::DepthFormat => {
                self.caches.depth_is_empty()?;
                self.raster().depth.set_format(value)?;
            }
            Policy::DepthBandwidth => {
                let owner = self.options.hyperz;
                self.raster().depth.set_bandwidth(value, owner)?;
            }
            Policy::DepthOffset => {
                self.caches.depth_is_empty()?;
                allow(Policy::DepthOffset, value)?;
                let place = self.plain_address(value)?;
                self.raster().depth.set_offset(place);
            }
            Policy::DepthPitch => {
                self.caches.depth_is_empty()?;
                let value = self.depth_pitch(value)?;
                self.raster().depth.set_pitch(value);
            }
            Policy::PlaneEquations => {
                self.zero_or_owner(value)?;
                self.raster().depth.set_planes(value);
            }
            Policy::DepthMemory => {
                self.caches.depth_is_empty()?;
                self.zero_or_owner(value)?;
            }
            // Clients that do not own the memories write this register, too. It is switched off for them.
            Policy::ScanHyperZ => {
                if !self.options.hyperz {
                    let off = mmio::sc_hyperz_en::HZ_EN.put(value, 0);
                    self.replace(self.position, off)?;
                }
            }
            Policy::PassAddress => {
                allow(Policy::PassAddress, value)?;
                // Every pipe that the write reaches stores four bytes there.
                let place = self.plain_address(value)?;
                if place.length(self.objects) < 4 {
                    return Err(Reason::PassBounds);
                }
                place.writes(self.objects);
            }

            // Scan converter and pipes.
            Policy::Scissor => {
                let scissor = Scissor::new(value, self.position);
                self.raster().scissor = Some(scissor);
            }
            Policy::ShaderFormat => {
                self.writes_due = SHADER_FORMAT_WRITES;
                self.note_guard();
            }
            Policy::PipeSelect => {
                self.pipes.select(value);
                self.note_guard();
            }
            Policy::ZPipeSelect => {
                self.pipes.select_z(value)?;
                self.note_guard();
            }

            // Textures.
            Policy::TextureEnable => self.textures.set_enabled(value),
            Policy::TextureFilter0 => {
                let unit = index(mmio::TX_FILTER0, register);
                // The checker tracks the registers of the unit that `TX_ENABLE` names. No other unit may have its
                // number.
                let own = mmio::tx_filter0::ID.put(value, unit);
                if own != value {
                    self.replace(self.position, own)?;
                }
                self.textures.set_filter0(unit, own);
            }
            Policy::TextureFormat0 => self
                .textures
                .set_format0(index(mmio::TX_FORMAT0, register), value),
            Policy::TextureFormat1 => self
                .textures
                .set_format1(index(mmio::TX_FORMAT1, register), value),
            Policy::TextureFormat2 => self
                .textures
                .set_format2(index(mmio::TX_FORMAT2, register), value),
            Policy::TextureOffset => {
                let (value, place) = self.texture_address(value)?;
                let unit = index(mmio::TX_OFFSET, register);
                self.textures.set_offset(unit, value, place);
            }

            // Vertices.
            Policy::VertexSize => self.vertices.set_size(value),
            Policy::VertexMax => self.vertices.set_max(value, self.position),
            Policy::VertexMin => self.vertices.set_min(value),
            Policy::VertexCount => self.vertices.set_count(value),
            Policy::IndexOffset => self.vertices.set_offset(value),

            // [`Self::engine2d`] checks the others.
            _ => return Err(Reason::UnknownRegister),
        }
        Ok(())
    }

    /// Check a write to a register of the 2D engine.
    #[inline(never)]
    fn engine2d(&mut self, policy: Policy, value: u32) -> Result<(), Reason> {
        match policy {
            // The most frequent registers. The others have functions of their own, so that this one stays short.
            Policy::SourceCorner => self.engine.set_source_corner(value),
            Policy::DestinationCorner => self.engine.set_destination_corner(value),
            // All 16 bits count although the engine uses 14. A larger rectangle is never checked less strictly.
            Policy::HeightWidth => self.rectangle(value & 0xffff, value >> 16),
            Policy::WidthHeight => self.rectangle(value >> 16, value & 0xffff),
            Policy::SourcePitchOffset => self.pitch_offset(Role::Source, value),
            Policy::DestinationPitchOffset => self.pitch_offset(Role::Destination, value),
            Policy::Control => self.engine.set_control(value),
            Policy::LineStart => self.engine.set_line_start(value),
            Policy::LineEnd => self.engine.line_to(value, self.objects),
            Policy::HostData => self.host_data(1),
            Policy::HostDataLast => self.host_data_last(),
            Policy::ScissorTopLeft => {
                self.engine.set_scissor_top_left(value);
                Ok(())
            }
            Policy::ScissorBottomRight => {
                self.engine.set_scissor_bottom_right(value);
                Ok(())
            }
            Policy::Direction => {
                self.engine.set_direction(value);
                allow(Policy::Direction, value)
            }
            Policy::LineDirection => {
                self.engine.forget_direction();
                allow(Policy::LineDirection, value)
            }
            Policy::ColorCompare => {
                self.engine.set_compare(value);
                allow(Policy::ColorCompare, value)
            }
            _ => Err(Reason::UnknownRegister),
        }
    }

    /// Check that this register may be written while data or writes are awaited, or while writes do not reach all
    /// pipes.
    #[cold]
    fn guard(&mut self, register: u32, policy: Policy) -> Result<(), Reason> {
        if self.writes_due != 0 && BEHIND_GA.contains(&register) {
            self.writes_due = self.writes_due.wrapping_sub(1);
            self.note_guard();
        }
        match policy {
            // These are checked where they are tracked.
            Policy::HostData | Policy::HostDataLast => Ok(()),
            _ if policy.refuses() => Ok(()),
            _ => {
                self.nothing_due()?;
                self.pipes.admits(policy)
            }
        }
    }

    /// Note that colour, depth or scissor are about to change.
    #[inline]
    fn raster(&mut self) -> &mut Self {
        self.raster_changed = true;
        self
    }

    #[inline]
    fn rectangle(&mut self, width: u32, height: u32) -> Result<(), Reason> {
        self.engine.rectangle(width, height, self.objects)?;
        self.guarded |= self.engine.not_host_data().is_err();
        Ok(())
    }

    #[inline(never)]
    fn host_data_last(&mut self) -> Result<(), Reason> {
        self.engine.host_data_last()?;
        self.note_guard();
        Ok(())
    }

    /// Track `dwords` dwords of host data from the current position on.
    #[inline(never)]
    pub(super) fn host_data(&mut self, dwords: usize) -> Result<(), Reason> {
        self.engine.host_data(dwords).map_err(|(reason, before)| {
            self.position = self.position.saturating_add(before);
            reason
        })
    }

    /// Check a value that only the owner of the depth memories may set. All clients may set zero.
    fn zero_or_owner(&self, value: u32) -> Result<(), Reason> {
        if value != 0 && !self.options.hyperz {
            return Err(Reason::NotHyperZOwner);
        }
        Ok(())
    }
}
