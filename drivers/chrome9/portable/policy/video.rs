// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a stream may do with a register of HQV, the scaler of video (L441-529).
//!
//! This table says what the checker does when a pair of header 5 names a register. It is keyed by name and covers the database.
//! Both engines have the same registers.
//!
//! A picture depends on all of them, and the engine keeps what another client has set. So most take any value of the bits that
//! have a meaning, and the stream has to set them before its first picture. No footprint depends on scaling factors and
//! colours, so that those whose text is lost may have any value as well.

use lapidary::portable::{
    bits::{
        RegArray,
        Registers, //
    },
    policy::Lists, //
};

use crate::portable::regs::mmio::{
    self,
    hqv_background,
    hqv_background_offset,
    hqv_color_adjustment_1,
    hqv_color_adjustment_2,
    hqv_color_adjustment_3,
    hqv_color_adjustment_4,
    hqv_color_adjustment_5,
    hqv_color_adjustment_6,
    hqv_color_adjustment_7,
    hqv_color_adjustment_8,
    hqv_destination_1,
    hqv_destination_stride,
    hqv_mode,
    hqv_source_stride,
    hqv_static_stride,
    hqv_subpicture_control,
    hqv_subpicture_h_scale,
    hqv_subpicture_v_scale,
    hqv_tuning,
    hqv_video_h_scale,
    hqv_video_source_start,
    hqv_video_v_scale, //
};

/// What the checker does when a stream writes a register of HQV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Video {
    /// Refuses the stream: no register.
    Unknown,
    /// Starts a picture, or switches the engine off.
    Control,
    /// Keeps the value, which may have these bits.
    Value(u32),
    /// Keeps where a surface begins, and the value, which may have these bits beside the address.
    Base(u32),
    /// Notes which entries of the palette are the stream's.
    Palette,
    /// Admits only zero: what it means is lost in the text.
    Lost,
    /// Admits only zero: other values have to do with fields, and with pictures before.
    Fields,
}

/// Registers of an engine.
pub const VIDEO_REGISTERS: usize = 40;
/// Offset of the first register of the first engine.
pub const VIDEO: u32 = match mmio::HQV_COLOR_ADJUSTMENT_1.at(0) {
    Some(offset) => offset,
    None => 0,
};

/// Corners of windows have the same fields.
const CORNER: u32 = hqv_video_source_start::X.mask() | hqv_video_source_start::Y.mask();

/// Thresholds of telling fields apart. Those in the lowest bits are lost.
const TUNING: u32 = hqv_tuning::INTER_FIELD_THRESHOLD.mask()
    | hqv_tuning::INTRA_FIELD_FACTOR.mask()
    | hqv_tuning::STATIC_NUMBER.mask()
    | hqv_tuning::STATIC_TWO_FIELDS.mask()
    | hqv_tuning::PULL_DOWN_1.mask()
    | hqv_tuning::PULL_DOWN_2.mask()
    | hqv_tuning::PULL_DOWN_THRESHOLD.mask()
    | 0x3fff;
const H_SCALE: u32 = hqv_video_h_scale::ENABLE.mask()
    | hqv_video_h_scale::FUNCTION.mask()
    | hqv_video_h_scale::FACTOR_ASSUMED.mask();
const V_SCALE: u32 = hqv_video_v_scale::ENABLE_ASSUMED.mask()
    | hqv_video_v_scale::DOWN_ASSUMED.mask()
    | hqv_video_v_scale::FACTOR_ASSUMED.mask();
const SUBPICTURE_H_SCALE: u32 = hqv_subpicture_h_scale::ENABLE.mask()
    | hqv_subpicture_h_scale::FUNCTION.mask()
    | hqv_subpicture_h_scale::FACTOR_ASSUMED.mask();
const SUBPICTURE_V_SCALE: u32 = hqv_subpicture_v_scale::ENABLE.mask()
    | hqv_subpicture_v_scale::DOWN.mask()
    | hqv_subpicture_v_scale::FACTOR.mask();
const BACKGROUND: u32 =
    hqv_background::Y_R.mask() | hqv_background::U_G.mask() | hqv_background::V_B.mask();
const SUBPICTURE: u32 = hqv_subpicture_control::FLIP_COUNT.mask()
    | hqv_subpicture_control::BLEND_AFTER_SCALING.mask()
    | hqv_subpicture_control::AYUV.mask()
    | hqv_subpicture_control::INVERSE_ALPHA.mask()
    | hqv_subpicture_control::IA44.mask()
    | hqv_subpicture_control::ENABLE.mask()
    | hqv_subpicture_control::STRIDE.mask();
const MODE: u32 = hqv_mode::TILE.mask()
    | hqv_mode::OUTPUT_32.mask()
    | hqv_mode::COLOR_CONVERSION.mask()
    | hqv_mode::DEBLOCKING.mask()
    | hqv_mode::FIFO_THRESHOLD.mask()
    | hqv_mode::ALPHA_ONE.mask()
    | hqv_mode::SYNCHRONIZE_FIELD.mask()
    | hqv_mode::INVERSE_DISPLAY_FIELD.mask()
    | hqv_mode::IMAGE_SIZE.mask();
const SOURCE_STRIDE: u32 = hqv_source_stride::LOAD_ADDRESS.mask()
    | hqv_source_stride::RESET_STATIC.mask()
    | hqv_source_stride::PULL_DOWN_LOW.mask()
    | hqv_source_stride::CHECK_SEQUENCE_ONCE.mask()
    | hqv_source_stride::ANY_SIZE.mask()
    | hqv_source_stride::FLIP_AT_BEGINNING.mask()
    | hqv_source_stride::FIFO_DEPTH.mask()
    | hqv_source_stride::STRIDE.mask();

const fn of(register: RegArray, policy: Video) -> (Registers, Video) {
    (Registers::Array(register), policy)
}

const fn value(register: RegArray, bits: u32) -> (Registers, Video) {
    of(register, Video::Value(bits))
}

/// Admitted registers of both engines.
pub const VIDEO_ADMITTED: &[(Registers, Video)] = &[
    of(mmio::HQV_CONTROL, Video::Control),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_1,
        hqv_color_adjustment_1::D_1.mask() | hqv_color_adjustment_1::C_1.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_2,
        hqv_color_adjustment_2::D_2.mask() | hqv_color_adjustment_2::C_2.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_3,
        hqv_color_adjustment_3::D_3.mask() | hqv_color_adjustment_3::C_3.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_4,
        hqv_color_adjustment_4::B_1.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_5,
        hqv_color_adjustment_5::B_3.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_6,
        hqv_color_adjustment_6::A_1.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_7,
        hqv_color_adjustment_7::A_2.mask(),
    ),
    value(
        mmio::HQV_COLOR_ADJUSTMENT_8,
        hqv_color_adjustment_8::A_3.mask(),
    ),
    value(mmio::HQV_VIDEO_SOURCE_START, CORNER),
    value(mmio::HQV_VIDEO_SOURCE_END, CORNER),
    value(mmio::HQV_VIDEO_DESTINATION_START, CORNER),
    value(mmio::HQV_VIDEO_DESTINATION_END, CORNER),
    value(mmio::HQV_SUBPICTURE_SOURCE_START, CORNER),
    value(mmio::HQV_SUBPICTURE_SOURCE_END, CORNER),
    value(mmio::HQV_SUBPICTURE_DESTINATION_START, CORNER),
    value(mmio::HQV_SUBPICTURE_DESTINATION_END, CORNER),
    value(mmio::HQV_TUNING, TUNING),
    of(mmio::HQV_EXTENDED_CONTROL, Video::Lost),
    of(mmio::HQV_STATIC_BASE, Video::Fields),
    value(
        mmio::HQV_STATIC_STRIDE,
        hqv_static_stride::B_2.mask() | hqv_static_stride::STRIDE.mask(),
    ),
    value(mmio::HQV_VIDEO_H_SCALE, H_SCALE),
    value(mmio::HQV_VIDEO_V_SCALE, V_SCALE),
    value(mmio::HQV_SUBPICTURE_H_SCALE, SUBPICTURE_H_SCALE),
    value(mmio::HQV_SUBPICTURE_V_SCALE, SUBPICTURE_V_SCALE),
    value(mmio::HQV_BACKGROUND, BACKGROUND),
    value(
        mmio::HQV_BACKGROUND_OFFSET,
        hqv_background_offset::X.mask() | hqv_background_offset::Y.mask(),
    ),
    of(mmio::HQV_RESIDUE_BASE, Video::Base(0)),
    value(mmio::HQV_SUBPICTURE_CONTROL, SUBPICTURE),
    of(mmio::HQV_SUBPICTURE_BASE, Video::Base(0)),
    of(mmio::HQV_SUBPICTURE_PALETTE, Video::Palette),
    of(mmio::HQV_SOURCE_LUMA, Video::Base(0)),
    of(mmio::HQV_SOURCE_CHROMA, Video::Base(0)),
    value(mmio::HQV_SOURCE_STRIDE, SOURCE_STRIDE),
    value(mmio::HQV_MODE, MODE),
    of(mmio::HQV_DEINTERLACE, Video::Fields),
    of(
        mmio::HQV_DESTINATION_1,
        Video::Base(hqv_destination_1::OUTPUT_10.mask() | hqv_destination_1::TILED.mask()),
    ),
    of(mmio::HQV_DESTINATION_2, Video::Base(0)),
    of(mmio::HQV_DESTINATION_3, Video::Base(0)),
    value(
        mmio::HQV_DESTINATION_STRIDE,
        hqv_destination_stride::STRIDE.mask(),
    ),
];

static TABLE: [Video; VIDEO_REGISTERS] = Lists {
    // The second engine.
    beyond: true,
    rest: false,
}
.spread(VIDEO, &[VIDEO_ADMITTED], Video::Unknown);

/// Return what the checker does with the register at an index, that of the first one of its engine being 0.
pub fn video(index: usize) -> Video {
    TABLE.get(index).copied().unwrap_or(Video::Unknown)
}
