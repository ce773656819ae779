// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Writes to registers: what the checker does for each policy.

use lapidary::portable::{
    bits::RegArray,
    pm4::{
        Body,
        Fault, //
    }, //
};

use super::{
    color::{
        Extent,
        Surface, //
    },
    constant_buffer::{
        with_place,
        with_size, //
    },
    draw::{
        self,
        group, //
    },
    gfx::Checker,
    piece,
    place::{
        Doing,
        SURFACE_UNIT, //
    },
    rings::ring,
    Reason, //
};
use crate::portable::{
    policy::{
        self,
        Policy, //
    },
    regs::mmio,
    Generation, //
};

/// Return which element of an array of registers `register` is. Its policy says that it is one.
fn element(array: RegArray, register: u32) -> u32 {
    array.index_of(register).unwrap_or(u32::MAX)
}

/// Return the piece of state that a constant buffer is.
fn constants_piece(number: u32) -> usize {
    piece::CONSTANTS.wrapping_add(number as usize)
}

/// Return the piece of state that the ring is whose address or size is `register`.
fn rings_piece(register: u32) -> usize {
    piece::RINGS.wrapping_add(ring(register) as usize)
}

/// Return the piece of state that a stream-out buffer is.
fn stream_out_piece(number: u32) -> usize {
    piece::STREAM_OUT.wrapping_add(number as usize)
}

/// Return the piece of state that the program is whose start is `register`.
fn program_piece(register: u32) -> usize {
    piece::PROGRAMS.wrapping_add(match register {
        mmio::SQ_PGM_START_PS => 0,
        mmio::SQ_PGM_START_VS => 1,
        mmio::SQ_PGM_START_GS => 2,
        mmio::SQ_PGM_START_ES => 3,
        _ => 4,
    })
}

impl Checker<'_> {
    /// Check writes of the rest of `body` to the registers whose policies are `policies`, the first one at byte offset
    /// `register`.
    #[inline]
    pub(super) fn registers(
        &mut self,
        register: u32,
        policies: &[Policy],
        body: &mut Body<'_>,
    ) -> Result<(), Reason> {
        let first = body.position();
        let words = body.rest();
        let mut index = 0;
        // The dwords are taken together behind the loop: most registers are free, and their values are not looked at.
        while let Some(policy) = policies.get(index) {
            if !policy.is_free() {
                let value = words.get(index).ok_or(Fault::PacketLength)?.get();
                self.position = first.wrapping_add(index);
                let register = register.wrapping_add((index as u32) << 2);
                self.register(register, *policy, value)?;
            }
            index = index.wrapping_add(1);
        }
        Ok(body.skip(index)?)
    }

    /// Check a write of `value`, which is the dword at the current position, to a register that is not free.
    #[inline(never)]
    fn register(&mut self, register: u32, policy: Policy, value: u32) -> Result<(), Reason> {
        match policy {
            Policy::Unknown => return Err(Reason::UnknownRegister),
            Policy::Kernel => return Err(Reason::KernelRegister),
            Policy::SetUp => return Err(Reason::SetUpRegister),
            Policy::Memory => return Err(Reason::MemoryRegister),
            Policy::Packet => return Err(Reason::PacketRegister),
            Policy::Free => {}
            Policy::Newer => {
                if self.chip.generation == Generation::R6xx {
                    return Err(Reason::UnknownRegister);
                }
            }
            Policy::Values => {
                if !policy::values(register).contains(&value) {
                    return Err(Reason::RegisterValue);
                }
            }
            Policy::Bits => only(value, policy::bits(register))?,
            Policy::WaitUntil => {
                only(value, policy::WAITS)?;
                if value & policy::WAITS_FOR_3D != 0 {
                    self.idle = true;
                }
            }
            Policy::Primitive => draw::primitive(value)?,
            Policy::ConstantSize => {
                let number = with_size(register);
                self.constants.set_size(number, value)?;
                self.residue.state(constants_piece(number), value != 0);
                self.changed |= group::CONSTANTS;
            }
            Policy::Constants => {
                let place = self.surface_address(self.position, value)?;
                let number = with_place(register);
                self.constants.set_place(number, place);
                self.residue.state(constants_piece(number), true);
                self.changed |= group::CONSTANTS;
            }
            Policy::Program => {
                // A program has no size. It begins in its object.
                let place = self.surface_address(self.position, value)?;
                self.claim(place, SURFACE_UNIT, 1, Doing::Reads, Reason::ProgramBounds)?;
                self.residue.state(program_piece(register), true);
            }
            Policy::GeometryMode => {
                self.rings.set_mode(value);
                self.changed |= group::RINGS;
            }
            Policy::RingBase | Policy::RingSize | Policy::RingItem => {
                self.ring_register(register, policy, value)?;
            }
            Policy::StreamOutSize => {
                let number = element(mmio::VGT_STRMOUT_BUFFER_SIZE, register);
                self.stream_out.set_size(number, value);
                self.residue.state(stream_out_piece(number), value != 0);
                self.changed |= group::STREAM_OUT;
            }
            Policy::StreamOutStride => {
                only(value, mmio::vgt_strmout_vtx_stride::STRIDE.mask())?;
                let number = element(mmio::VGT_STRMOUT_VTX_STRIDE, register);
                self.stream_out.set_stride(number, value);
                self.changed |= group::STREAM_OUT;
            }
            Policy::StreamOutBase => {
                let number = element(mmio::VGT_STRMOUT_BUFFER_BASE, register);
                let place = self.surface_address(self.position, value)?;
                self.stream_out.set_base(number, place);
                self.residue.state(stream_out_piece(number), true);
                self.changed |= group::STREAM_OUT;
            }
            _ => {
                self.target_register(register, policy, value)?;
                self.changed |= group::TARGETS;
            }
        }
        Ok(())
    }

    /// Check a write to a register of a ring. Address and size take effect at once, so nothing may be drawing.
    fn ring_register(&mut self, register: u32, policy: Policy, value: u32) -> Result<(), Reason> {
        if matches!(policy, Policy::RingBase | Policy::RingSize) && !self.idle {
            return Err(Reason::DrawsMayRun);
        }
        match policy {
            Policy::RingBase => {
                let place = self.surface_address(self.position, value)?;
                self.rings.set_base(register, place);
                self.residue.state(rings_piece(register), true);
            }
            Policy::RingSize => {
                self.rings.set_size(register, value);
                self.residue.state(rings_piece(register), value != 0);
            }
            _ => self.rings.set_item(register, value)?,
        }
        self.changed |= group::RINGS;
        Ok(())
    }

    /// Take the address of a surface of target `number`.
    #[inline]
    fn color_surface(&mut self, number: u32, register: Surface, value: u32) -> Result<(), Reason> {
        let place = self.surface_address(self.position, value)?;
        self.color.set_surface(number, register, place);
        Ok(())
    }

    /// Track a write to a register of the colour targets, the depth target, or what bounds both.
    fn target_register(&mut self, register: u32, policy: Policy, value: u32) -> Result<(), Reason> {
        match policy {
            Policy::ColorBase => {
                let number = element(mmio::CB_COLOR_BASE, register);
                self.color_surface(number, Surface::Base, value)?;
            }
            Policy::ColorTile => {
                let number = element(mmio::CB_COLOR_TILE, register);
                self.color_surface(number, Surface::Tile, value)?;
            }
            Policy::ColorFrag => {
                let number = element(mmio::CB_COLOR_FRAG, register);
                self.color_surface(number, Surface::Frag, value)?;
            }
            Policy::ColorSize => {
                let number = element(mmio::CB_COLOR_SIZE, register);
                self.color.set_extent(number, Extent::Size, value);
            }
            Policy::ColorView => {
                let number = element(mmio::CB_COLOR_VIEW, register);
                self.color.set_extent(number, Extent::View, value);
            }
            Policy::ColorMask => {
                let number = element(mmio::CB_COLOR_MASK, register);
                self.color.set_extent(number, Extent::Mask, value);
            }
            Policy::ColorInfo => {
                self.tiling_of_objects()?;
                let number = element(mmio::CB_COLOR_INFO, register);
                self.color.set_info(number, value)?;
            }
            Policy::TargetMask => self.color.set_mask(value),
            Policy::ColorControl => self.color.set_control(value),
            Policy::Samples => self.raster.set_samples(value),
            Policy::DepthSize => self.depth.set_size(value),
            Policy::DepthView => self.depth.set_view(value),
            Policy::DepthBase => {
                let place = self.surface_address(self.position, value)?;
                self.depth.set_base(place);
            }
            Policy::DepthInfo => {
                self.tiling_of_objects()?;
                self.depth.set_info(value)?;
            }
            Policy::HtileBase => {
                let place = self.surface_address(self.position, value)?;
                self.depth.set_htile_base(place);
            }
            Policy::HtileSurface => self.depth.set_htile_surface(value)?,
            Policy::ScreenScissor => self.raster.set_screen(value),
            Policy::WindowScissorStart => self.raster.set_window_start(value),
            Policy::WindowScissorEnd => self.raster.set_window_end(value),
            Policy::WindowOffset => self.raster.set_window_offset(value),
            // All others have been handled.
            _ => return Err(Reason::UnknownRegister),
        }
        Ok(())
    }

    /// Refuse a format if the stream wants the tiling of an object instead of its own, which a marker says.
    fn tiling_of_objects(&self) -> Result<(), Reason> {
        match !self.keep_tiling && self.has_marker() {
            true => Err(Reason::ObjectTiling),
            false => Ok(()),
        }
    }
}

/// Check that `value` sets only bits of `allowed`.
fn only(value: u32, allowed: u32) -> Result<(), Reason> {
    match value & !allowed {
        0 => Ok(()),
        _ => Err(Reason::RegisterBits),
    }
}
