// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Writes to registers: what each policy means.

use super::{
    surface::Point,
    Checker,
    Reason,
    Role, //
};
use crate::portable::{
    policy::Policy,
    regs::mmio, //
};
use lapidary::portable::bits::RegArray;

/// Which element of an array of consecutive registers `register` is. It is one, or it would have another
/// policy.
fn index(array: RegArray, register: u32) -> u32 {
    register.wrapping_sub(array.at(0).unwrap_or(0)) >> 2
}

/// Why a register is refused.
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

impl Checker<'_> {
    /// The value at the current position goes to `register`.
    pub(super) fn register(
        &mut self,
        register: u32,
        policy: Policy,
        value: u32,
    ) -> Result<(), Reason> {
        if policy.refuses() {
            return Err(refusal(policy));
        }
        if policy == Policy::HostData || policy == Policy::HostDataLast {
            return self.host_data(policy);
        }
        self.nothing_due()?;
        if value & !policy.allowed_bits() != 0 {
            return Err(Reason::ForbiddenBits);
        }
        self.pipes.admits(policy)?;
        if (policy as u8) < Policy::ColorOffset as u8 {
            self.register_2d(policy, value)
        } else {
            self.register_3d(register, policy, value)
        }
    }

    fn host_data(&mut self, policy: Policy) -> Result<(), Reason> {
        if policy == Policy::HostData {
            return self.engine.host_data();
        }
        self.engine.host_data_last()?;
        self.note_waiting();
        Ok(())
    }

    fn register_2d(&mut self, policy: Policy, value: u32) -> Result<(), Reason> {
        let engine = &mut self.engine;
        match policy {
            Policy::SourcePitchOffset => self.pitch_offset(Role::Source, value)?,
            Policy::DestinationPitchOffset => self.pitch_offset(Role::Destination, value)?,
            Policy::Control => {
                engine.set_control(value)?;
            }
            Policy::Direction => engine.set_direction(value),
            Policy::LineDirection => engine.forget_direction(),
            Policy::ColorCompare => engine.set_compare(value),
            Policy::ScissorTopLeft => engine.set_scissor_top_left(value),
            Policy::ScissorBottomRight => engine.set_scissor_bottom_right(value),
            Policy::SourceCorner => engine.set_source_corner(Point::from_y_x(value)?),
            Policy::DestinationCorner => engine.set_destination_corner(Point::from_y_x(value)?),
            // All 16 bits count, though the engine has 14: more is never less.
            Policy::HeightWidth => {
                engine.rectangle(value & 0xffff, value >> 16, self.objects)?;
                self.note_waiting();
            }
            Policy::WidthHeight => {
                engine.rectangle(value >> 16, value & 0xffff, self.objects)?;
                self.note_waiting();
            }
            Policy::LineStart => engine.set_line_start(Point::from_y_x(value)?),
            Policy::LineEnd => engine.line_to(Point::from_y_x(value)?, self.objects)?,
            // The value is all there was to look at.
            _ => {}
        }
        Ok(())
    }

    fn register_3d(&mut self, register: u32, policy: Policy, value: u32) -> Result<(), Reason> {
        let owner = self.options.hyperz;
        let raster = match policy {
            Policy::ColorOffset => {
                let place = self.plain_address(value)?;
                let target = index(mmio::RB3D_COLOROFFSET, register);
                self.color.set_offset(target as usize, place);
                true
            }
            Policy::ColorPitch => {
                let value = self.color_pitch(value)?;
                let target = index(mmio::RB3D_COLORPITCH, register);
                self.color.set_pitch(target as usize, value)?;
                true
            }
            Policy::ColorControl => {
                self.color.set_control(value, self.options.cmask)?;
                true
            }
            Policy::ColorMask => {
                self.color.set_mask(value);
                true
            }
            Policy::Blend => {
                self.color.set_blend(value);
                true
            }
            Policy::OutputFormat => {
                let output = index(mmio::US_OUT_FMT, register);
                self.color.set_output(output, value);
                true
            }
            Policy::AntiAlias => {
                self.color.set_antialias(value);
                true
            }
            Policy::ResolveOffset => {
                let place = self.plain_address(value)?;
                self.color.set_resolve(place);
                true
            }
            Policy::ResolvePitch => {
                self.color.set_resolve_pitch(value);
                true
            }
            Policy::ResolveControl => {
                self.color.set_resolve_control(value);
                true
            }
            Policy::DepthControl => {
                self.depth.set_control(value);
                true
            }
            Policy::DepthFormat => {
                self.depth.set_format(value)?;
                true
            }
            Policy::DepthBandwidth => {
                self.depth.set_bandwidth(value, owner)?;
                true
            }
            Policy::DepthOffset => {
                let place = self.plain_address(value)?;
                self.depth.set_offset(place);
                true
            }
            Policy::DepthPitch => {
                let value = self.depth_pitch(value)?;
                self.depth.set_pitch(value);
                true
            }
            Policy::Scissor => {
                self.scissor = Some(super::draw::Scissor::new(value, self.position));
                true
            }
            Policy::PlaneEquations => {
                if value != 0 && !owner {
                    return Err(Reason::NotHyperZOwner);
                }
                self.depth.set_planes(value);
                true
            }
            _ => false,
        };
        if raster {
            self.raster_changed = true;
            return Ok(());
        }
        match policy {
            Policy::ColorMaskMemory if !self.options.cmask => return Err(Reason::NotCmaskOwner),
            Policy::DepthMemory if value != 0 && !owner => return Err(Reason::NotHyperZOwner),
            // Clients that own nothing write this one all the same; Linux only switches it off.
            Policy::ScanHyperZ if !owner => {
                let off = mmio::sc_hyperz_en::HZ_EN.put(value, 0);
                self.replace(self.position, off)?;
            }
            Policy::PassAddress => {
                // Every pipe that the write reaches stores four bytes there.
                let place = self.plain_address(value)?;
                if place.length(self.objects) < 4 {
                    return Err(Reason::PassBounds);
                }
                place.writes(self.objects);
            }
            Policy::PipeSelect => self.pipes.select(value),
            Policy::ZPipeSelect => self.pipes.select_z(value)?,
            Policy::TextureEnable => self.textures.set_enabled(value),
            Policy::TextureFilter0 => self
                .textures
                .set_filter0(index(mmio::TX_FILTER0, register), value),
            Policy::TextureFilter1 => self
                .textures
                .set_filter1(index(mmio::TX_FILTER1, register), value),
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
            Policy::VertexSize => self.vertices.set_size(value),
            Policy::VertexMax => self.vertices.set_max(value, self.position),
            Policy::VertexMin => self.vertices.set_min(value),
            Policy::VertexCount => self.vertices.set_count(value),
            Policy::IndexOffset => self.vertices.set_offset(value),
            _ => {}
        }
        Ok(())
    }
}
