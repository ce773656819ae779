// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The registers: which ones start something, and which are second views of others.
//!
//! A rectangle starts when its size is written last: `DST_HEIGHT_WIDTH`, `DST_WIDTH_HEIGHT`, `DST_WIDTH`,
//! `DST_WIDTH_X` or `DST_WIDTH_X_INCY`; a line when its end is (`DST_LINE_END`). A name with two parts has the first
//! in the high half. (radeon_reg.h; xf86-video-ati radeon_exa_funcs.c and radeon_accelfuncs.c.) Positions and sizes
//! keep their values after an operation, except that `DST_WIDTH_X_INCY` moves `DST_Y` past the rows it drew.
//!
//! A write of `DP_GUI_MASTER_CNTL` sets much else, as the manual says of `GUI_CONTROL` (R5xx 5.2.2): types and raster
//! operation; where a flag is 0, the default pitch and offset or the default scissor; where a flag is 1, no colour
//! compare, no write mask. It also sets both directions of `DP_CNTL` to ascending. The manual does not say that, but
//! all public drivers rely on it: xf86-video-ati writes `DP_CNTL` after it and, for pattern fills and text, not at all,
//! even after a copy that went upwards; the kernel's `r100_copy_blit` gives top-left corners and never writes
//! `DP_CNTL`.
//!
//! Trapezoids and lines by hand-set error terms (`DST_BRES_*`, `LEAD_BRES_*`, `TRAIL_*`), sizes in bytes and block
//! writes are not described anywhere for this family: starting one is a finding, and draws nothing.

use crate::kind;
use lapidary_registers::r500::mmio;

use super::super::engine2d_api::Port;
use super::Engine;

/// What a write of a register does beyond storing the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    GuiMaster,
    /// Same contents as the second register, halves exchanged.
    Swapped(u32),
    /// Replaces the low (false) or high half of another register.
    Half(u32, bool),
    Offset(u32),
    Pitch(u32),
    ShortControl,
    BrushOrigin,
    Rectangle,
    SwappedRectangle,
    Width,
    HeightY,
    WidthX {
        advance: bool,
    },
    LineEnd,
    HostData {
        last: bool,
    },
    Unsupported,
}

fn role(offset: u32) -> Option<Role> {
    Some(match offset {
        mmio::DP_GUI_MASTER_CNTL => Role::GuiMaster,
        mmio::DST_HEIGHT_WIDTH => Role::Rectangle,
        mmio::DST_WIDTH_HEIGHT => Role::SwappedRectangle,
        mmio::DST_WIDTH => Role::Width,
        mmio::DST_WIDTH_X => Role::WidthX { advance: false },
        mmio::DST_WIDTH_X_INCY => Role::WidthX { advance: true },
        mmio::DST_LINE_END => Role::LineEnd,
        mmio::HOST_DATA_LAST => Role::HostData { last: true },
        mmio::DST_X_Y => Role::Swapped(mmio::DST_Y_X),
        mmio::SRC_X_Y => Role::Swapped(mmio::SRC_Y_X),
        mmio::DST_X => Role::Half(mmio::DST_Y_X, false),
        mmio::DST_Y => Role::Half(mmio::DST_Y_X, true),
        mmio::SRC_X => Role::Half(mmio::SRC_Y_X, false),
        mmio::SRC_Y => Role::Half(mmio::SRC_Y_X, true),
        mmio::DST_HEIGHT => Role::Half(mmio::DST_HEIGHT_WIDTH, true),
        mmio::DST_HEIGHT_Y => Role::HeightY,
        mmio::SC_LEFT => Role::Half(mmio::SC_TOP_LEFT, false),
        mmio::SC_TOP => Role::Half(mmio::SC_TOP_LEFT, true),
        mmio::SC_RIGHT => Role::Half(mmio::SC_BOTTOM_RIGHT, false),
        mmio::SC_BOTTOM => Role::Half(mmio::SC_BOTTOM_RIGHT, true),
        mmio::SRC_SC_RIGHT => Role::Half(mmio::SRC_SC_BOTTOM_RIGHT, false),
        mmio::SRC_SC_BOTTOM => Role::Half(mmio::SRC_SC_BOTTOM_RIGHT, true),
        mmio::DST_OFFSET => Role::Offset(mmio::DST_PITCH_OFFSET),
        mmio::SRC_OFFSET => Role::Offset(mmio::SRC_PITCH_OFFSET),
        mmio::DST_PITCH => Role::Pitch(mmio::DST_PITCH_OFFSET),
        mmio::SRC_PITCH => Role::Pitch(mmio::SRC_PITCH_OFFSET),
        mmio::DP_CNTL_XDIR_YDIR_YMAJOR => Role::ShortControl,
        mmio::BRUSH_Y_X => Role::BrushOrigin,
        mmio::DST_HEIGHT_WIDTH_8
        | mmio::DST_HEIGHT_WIDTH_BW
        | mmio::DST_BRES_LNTH
        | mmio::DST_BRES_LNTH_SUB
        | mmio::LEAD_BRES_LNTH
        | mmio::LEAD_BRES_LNTH_SUB => Role::Unsupported,
        _ if mmio::HOST_DATA.index_of(offset).is_some() => Role::HostData { last: false },
        _ => return None,
    })
}

/// Return whether a write of this register concerns the engine.
pub fn owns(offset: u32) -> bool {
    // All of them lie between the first and the last.
    (mmio::DST_OFFSET..=mmio::HOST_DATA_LAST).contains(&offset) && role(offset).is_some()
}

/// Do what a write does beyond storing the value, which has happened.
pub fn written(engine: &mut Engine, port: &mut dyn Port, offset: u32, value: u32) {
    let Some(role) = role(offset) else { return };
    match role {
        Role::GuiMaster => gui_master(port, value),
        Role::Swapped(register) => port.set_register(register, value.rotate_left(16)),
        Role::Half(register, high) => set_half(port, register, high, value),
        Role::Offset(register) => {
            use mmio::dst_pitch_offset::OFFSET;
            if value % 1024 != 0 {
                port.finding(
                    kind::RESERVED_VALUE,
                    format_args!("surface offset {value:#010x} is no multiple of 1 KiB"),
                );
            }
            let word = port.register(register);
            port.set_register(register, OFFSET.put(word, value >> 10));
        }
        Role::Pitch(register) => {
            use mmio::dst_pitch as pitch;
            use mmio::dst_pitch_offset as combined;
            let bytes = pitch::PITCH.get(value);
            if bytes % 64 != 0 {
                port.finding(
                    kind::RESERVED_VALUE,
                    format_args!("surface pitch of {bytes} bytes is no multiple of 64"),
                );
            }
            let mut word = combined::PITCH.put(port.register(register), bytes / 64);
            word = combined::TILE_MACRO.put(word, pitch::TILE_MACRO.get(value));
            word = combined::TILE_MICRO.put(word, pitch::TILE_MICRO.get(value));
            port.set_register(register, word);
        }
        Role::ShortControl => {
            use mmio::dp_cntl;
            use mmio::dp_cntl_xdir_ydir_ymajor as short;
            let mut control = port.register(mmio::DP_CNTL);
            control = dp_cntl::DST_X_LEFT_TO_RIGHT
                .put(control, short::DST_X_DIR_LEFT_TO_RIGHT.get(value));
            control = dp_cntl::DST_Y_TOP_TO_BOTTOM
                .put(control, short::DST_Y_DIR_TOP_TO_BOTTOM.get(value));
            control = dp_cntl::DST_Y_MAJOR.put(control, short::DST_Y_MAJOR.get(value));
            port.set_register(mmio::DP_CNTL, control);
        }
        Role::BrushOrigin => set_phase(port, mmio::brush_y_x::BRUSH_X_INIT.get(value)),
        Role::Rectangle => engine.rectangle(port),
        Role::SwappedRectangle => {
            port.set_register(mmio::DST_HEIGHT_WIDTH, value.rotate_left(16));
            engine.rectangle(port);
        }
        Role::Width => {
            set_half(port, mmio::DST_HEIGHT_WIDTH, false, value);
            engine.rectangle(port);
        }
        Role::HeightY => {
            set_half(port, mmio::DST_HEIGHT_WIDTH, true, value >> 16);
            set_half(port, mmio::DST_Y_X, true, value);
        }
        Role::WidthX { advance } => {
            set_half(port, mmio::DST_HEIGHT_WIDTH, false, value >> 16);
            set_half(port, mmio::DST_Y_X, false, value);
            engine.rectangle(port);
            if advance {
                let rows = port.register(mmio::DST_HEIGHT_WIDTH) >> 16;
                let y = port.register(mmio::DST_Y_X) >> 16;
                let down =
                    mmio::dp_cntl::DST_Y_TOP_TO_BOTTOM.get(port.register(mmio::DP_CNTL)) != 0;
                let next = if down {
                    y.wrapping_add(rows)
                } else {
                    y.wrapping_sub(rows)
                };
                // Kept in the form that the manual asks for: bits 15 and 14 are copies of bit 13.
                let next = next & 0x3fff;
                let next = if next & 0x2000 != 0 {
                    next | 0xc000
                } else {
                    next
                };
                set_half(port, mmio::DST_Y_X, true, next);
            }
        }
        Role::LineEnd => {
            engine.line(port, mmio::DST_LINE_START, mmio::DST_LINE_END);
            let brush_x = mmio::brush_y_x::BRUSH_X.get(port.register(mmio::BRUSH_Y_X));
            set_phase(port, brush_x);
        }
        Role::HostData { last } => engine.host_data(port, value, last),
        Role::Unsupported => {
            port.finding(
                kind::ENGINE2D_UNSUPPORTED,
                format_args!("operation started by register {offset:#06x}"),
            );
        }
    }
}

/// Set the phase at which the next line takes its pattern.
pub fn set_phase(port: &mut dyn Port, phase: u32) {
    use mmio::dst_line_patcount::LINE_PATCOUNT;
    let word = port.register(mmio::DST_LINE_PATCOUNT);
    port.set_register(
        mmio::DST_LINE_PATCOUNT,
        LINE_PATCOUNT.put(word, phase & LINE_PATCOUNT.max()),
    );
}

fn set_half(port: &mut dyn Port, register: u32, high: bool, value: u32) {
    let word = port.register(register);
    let word = if high {
        (word & 0xffff) | (value << 16)
    } else {
        (word & 0xffff_0000) | (value & 0xffff)
    };
    port.set_register(register, word);
}

fn gui_master(port: &mut dyn Port, value: u32) {
    use mmio::dp_gui_master_cntl as gui;
    use mmio::{clr_cmp_cntl, dp_cntl, dp_datatype as datatype, dp_mix};

    let on = |field: lapidary_registers::Field| field.get(value) != 0;
    if !on(gui::SRC_PITCH_OFF) {
        let default = port.register(mmio::DEFAULT_PITCH_OFFSET);
        port.set_register(mmio::SRC_PITCH_OFFSET, default);
    }
    if !on(gui::DST_PITCH_OFF) {
        let default = port.register(mmio::DEFAULT_PITCH_OFFSET);
        port.set_register(mmio::DST_PITCH_OFFSET, default);
    }
    let scissor = port.register(mmio::DEFAULT_SC_BOTTOM_RIGHT);
    if !on(gui::SRC_CLIPPING) {
        port.set_register(mmio::SRC_SC_BOTTOM_RIGHT, scissor);
    }
    if !on(gui::DST_CLIPPING) {
        port.set_register(mmio::SC_TOP_LEFT, 0);
        port.set_register(mmio::SC_BOTTOM_RIGHT, scissor);
    }

    let mut types = port.register(mmio::DP_DATATYPE);
    let source_type = gui::SRC_TYPE.get(value) | (gui::SRC_TYPE_MSB.get(value) << 2);
    for (field, part) in [
        (datatype::DP_DST_DATATYPE, gui::DST_TYPE.get(value)),
        (datatype::DP_BRUSH_DATATYPE, gui::BRUSH_TYPE.get(value)),
        (datatype::DP_SRC_DATATYPE, source_type),
        (datatype::DP_BYTE_PIX_ORDER, gui::PIX_ORDER.get(value)),
    ] {
        types = field.put(types, part);
    }
    port.set_register(mmio::DP_DATATYPE, types);
    let mut mix = port.register(mmio::DP_MIX);
    mix = dp_mix::DP_ROP3.put(mix, gui::WIN31_ROP.get(value));
    mix = dp_mix::DP_SRC_SOURCE.put(mix, gui::SRC_LOAD.get(value));
    port.set_register(mmio::DP_MIX, mix);

    if on(gui::GMC_CLR_CMP_FCN_DIS) {
        let mut control = port.register(mmio::CLR_CMP_CNTL);
        control = clr_cmp_cntl::CLR_CMP_SRC.put(control, 0);
        control = clr_cmp_cntl::CLR_CMP_DST.put(control, 0);
        port.set_register(mmio::CLR_CMP_CNTL, control);
    }
    if on(gui::GMC_WR_MSK_DIS) {
        port.set_register(mmio::DP_WRITE_MASK, u32::MAX);
        port.set_register(mmio::CLR_CMP_MASK, u32::MAX);
    }
    if on(gui::SRC_TYPE_MSB) || on(gui::COLOR_CONVT) {
        port.finding(
            kind::RESERVED_VALUE,
            format_args!("GUI_CONTROL {value:#010x} has bit 27 or bit 15 set"),
        );
    }
    let mut control = port.register(mmio::DP_CNTL);
    control = dp_cntl::DST_X_LEFT_TO_RIGHT.put(control, 1);
    control = dp_cntl::DST_Y_TOP_TO_BOTTOM.put(control, 1);
    port.set_register(mmio::DP_CNTL, control);
}
