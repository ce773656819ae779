// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What pixels are written to: colour targets, the resolve target, the depth buffer (R5xx 10.1, 10.11).
//!
//! A shader's output n goes to target n unless `US_OUT_FMT` says that it is unused; `NUM_MULTIWRITES` copies output 0
//! to several targets. A target whose channels are all masked is left alone: its quads are discarded. In resolve mode
//! samples are read from target 0 and pixels written elsewhere, with target 0's format and tiling.
//!
//! Surfaces with several samples are always micro- and macro-tiled: their tiling cannot be programmed, and the tiling
//! bits of target 0 are those of the resolve target (Mesa, `r300_blit.c`).

use lapidary_registers::r500::mmio::{
    self, gb_aa_config, rb3d_aaresolve_ctl, rb3d_aaresolve_offset, rb3d_aaresolve_pitch,
    rb3d_blendcntl, rb3d_cctl, rb3d_coloroffset, rb3d_colorpitch, us_out_fmt, zb_cntl,
    zb_depthoffset, zb_depthpitch, zb_depthxy_offset, zb_format,
};

use super::area::{Area, Client};
use super::state::State;
use super::surface::{Micro, Rect, Surface};
use lapidary_model::registers::Space;

/// Targets that there are registers for.
const TARGETS: u32 = 4;

/// Return the bits of a register that may change only while the colour cache is empty (R5xx 10.1): every colour
/// address; all of every colour pitch; of `RB3D_CCTL` both bits of compression; whether samples are resolved, and while
/// they are, where to.
pub fn bound_to_color_cache(regs: &Space, offset: u32) -> u32 {
    let resolving = rb3d_aaresolve_ctl::AARESOLVE_MODE.any(regs.get(mmio::RB3D_AARESOLVE_CTL));
    match offset {
        _ if mmio::RB3D_COLOROFFSET.index_of(offset).is_some() => u32::MAX,
        _ if mmio::RB3D_COLORPITCH.index_of(offset).is_some() => u32::MAX,
        mmio::RB3D_CCTL => rb3d_cctl::CMASK_ENABLE.mask() | rb3d_cctl::AA_COMPRESSION_ENABLE.mask(),
        mmio::RB3D_AARESOLVE_CTL => rb3d_aaresolve_ctl::AARESOLVE_MODE.mask(),
        mmio::RB3D_AARESOLVE_OFFSET | mmio::RB3D_AARESOLVE_PITCH if resolving => u32::MAX,
        _ => 0,
    }
}

/// Return the same of the depth cache. The manual does not say it in words; but it has address, pitch and format change
/// only when no pixels are in the unit (R5xx 9.3.2.1), and a line that is written back later needs all three.
pub fn bound_to_depth_cache(offset: u32) -> u32 {
    match offset {
        mmio::ZB_DEPTHOFFSET | mmio::ZB_DEPTHPITCH => u32::MAX,
        mmio::ZB_FORMAT => zb_format::DEPTHFORMAT.mask(),
        _ => 0,
    }
}

/// Return the number of samples of a pixel.
fn samples(state: &State<'_>) -> u64 {
    use gb_aa_config::num_aa_subsamples::{SAMPLES_2, SAMPLES_3, SAMPLES_4};
    let aa = state.get(mmio::GB_AA_CONFIG);
    if !gb_aa_config::AA_ENABLE.any(aa) {
        return 1;
    }
    match gb_aa_config::NUM_AA_SUBSAMPLES.get(aa) {
        SAMPLES_2 => 2,
        SAMPLES_3 => 3,
        SAMPLES_4 => 4,
        _ => 6,
    }
}

/// Return a surface with that many samples.
fn sampled(surface: Surface, samples: u64) -> Surface {
    if samples == 1 {
        return surface;
    }
    Surface {
        micro: Micro::Tiled,
        macro_tiled: true,
        samples,
        ..surface
    }
}

/// Return the bytes of a pixel of a colour format; formats that the manual has no size or no number for count as 4.
fn color_bytes(format: u32) -> u64 {
    use rb3d_colorpitch::colorformat::*;
    match format {
        CI8 | I8 => 1,
        ARGB1555 | RGB565 | VYUY | YVYU | UV88 | ARGB4444 | I10 => 2,
        ARGB10101010 | ARGB16161616 => 8,
        ARGB32323232 => 16,
        _ => 4,
    }
}

/// Return whether pixels read what is there: for blending, or for a raster operation that needs it.
fn blends(state: &State<'_>) -> bool {
    let blend = state.get(mmio::RB3D_BLENDCNTL);
    let blending =
        rb3d_blendcntl::ALPHA_BLEND_ENABLE.any(blend) && rb3d_blendcntl::READ_ENABLE.any(blend);
    let rop = state.get(mmio::RB3D_ROPCNTL);
    // A binary operation whose upper and lower half agree in each pair of bits ignores the destination.
    let code = mmio::rb3d_ropcntl::ROP.get(rop);
    let needs = (code ^ (code >> 1)) & 5 != 0;
    blending || (mmio::rb3d_ropcntl::ROP_ENABLE.any(rop) && needs)
}

/// Return the colour surface of a target, as if it had one sample.
fn color(state: &State<'_>, target: u32) -> Surface {
    let cctl = state.get(mmio::RB3D_CCTL);
    let pitch = state.at(mmio::RB3D_COLORPITCH, target);
    let format = if rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.any(cctl) {
        pitch
    } else {
        state.at(mmio::RB3D_COLORPITCH, 0)
    };
    let offset = state.at(mmio::RB3D_COLOROFFSET, target);
    Surface {
        base: u64::from(offset & rb3d_coloroffset::COLOROFFSET.mask()),
        pitch: u64::from(rb3d_colorpitch::COLORPITCH.get(pitch)) * 2,
        bytes: color_bytes(rb3d_colorpitch::COLORFORMAT.get(format)),
        micro: Micro::of(rb3d_colorpitch::COLORMICROTILE.get(pitch)),
        macro_tiled: rb3d_colorpitch::COLORTILE.any(pitch),
        samples: 1,
    }
}

/// Return which targets are written, one bit each.
fn written(state: &State<'_>) -> u32 {
    let cctl = state.get(mmio::RB3D_CCTL);
    let used = |i: u32| {
        us_out_fmt::OUT_FMT.get(state.at(mmio::US_OUT_FMT, i)) != us_out_fmt::out_fmt::UNUSED
    };
    let mut targets = (0..TARGETS)
        .filter(|i| used(*i))
        .fold(0, |all, i| all | (1 << i));
    if used(0) {
        targets |= (2 << rb3d_cctl::NUM_MULTIWRITES.get(cctl)) - 1;
    }
    let masks = state.get(mmio::RB3D_COLOR_CHANNEL_MASK);
    let independent = rb3d_cctl::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.any(cctl);
    let open = |i: u32| (masks >> if independent { 4 * i } else { 0 }) & 0xf != 0;
    (0..TARGETS)
        .filter(|i| (targets >> i) & 1 != 0 && open(*i))
        .fold(0, |all, i| all | (1 << i))
}

/// Append all targets of a draw that reaches those pixels.
pub fn touched(state: &State<'_>, window: &[Rect], areas: &mut Vec<Area>) {
    let samples = samples(state);
    let mut add = |client, read, write, surface: &Surface, (dx, dy): (u64, u64)| {
        for r in window {
            let runs = surface
                .runs(Rect {
                    x0: r.x0 + dx,
                    y0: r.y0 + dy,
                    x1: r.x1 + dx,
                    y1: r.y1 + dy,
                })
                .merged();
            areas.push(Area {
                client,
                read,
                write,
                runs,
            });
        }
    };
    let written = written(state);
    let blends = blends(state);
    let resolves = rb3d_aaresolve_ctl::AARESOLVE_MODE.any(state.get(mmio::RB3D_AARESOLVE_CTL));
    for i in (0..TARGETS).filter(|i| (written >> i) & 1 != 0) {
        let surface = color(state, i);
        let resolved = resolves && i == 0;
        add(
            Client::Color(i as u8),
            blends || resolved,
            !resolved,
            &sampled(surface, samples),
            (0, 0),
        );
        if resolved {
            let offset = state.get(mmio::RB3D_AARESOLVE_OFFSET);
            let pitch = state.get(mmio::RB3D_AARESOLVE_PITCH);
            let target = Surface {
                base: u64::from(offset & rb3d_aaresolve_offset::AARESOLVE_OFFSET.mask()),
                pitch: u64::from(rb3d_aaresolve_pitch::AARESOLVE_PITCH.get(pitch)) * 2,
                ..surface
            };
            add(Client::Resolve, false, true, &target, (0, 0));
        }
    }
    let cntl = state.get(mmio::ZB_CNTL);
    let stencil = zb_cntl::STENCIL_ENABLE.any(cntl);
    let writes = stencil || zb_cntl::ZWRITEENABLE.any(cntl);
    if zb_cntl::Z_ENABLE.any(cntl) || writes {
        let pitch = state.get(mmio::ZB_DEPTHPITCH);
        let shift = state.get(mmio::ZB_DEPTHXY_OFFSET);
        let surface = Surface {
            base: u64::from(state.get(mmio::ZB_DEPTHOFFSET) & zb_depthoffset::DEPTHOFFSET.mask()),
            pitch: u64::from(zb_depthpitch::DEPTHPITCH.get(pitch)) * 4,
            bytes: match zb_format::DEPTHFORMAT.get(state.get(mmio::ZB_FORMAT)) {
                zb_format::depthformat::INTEGER_16 | zb_format::depthformat::FLOAT_13E3 => 2,
                _ => 4,
            },
            micro: Micro::of(zb_depthpitch::DEPTHMICROTILE.get(pitch)),
            macro_tiled: zb_depthpitch::DEPTHMACROTILE.any(pitch),
            samples: 1,
        };
        let by = (
            u64::from(zb_depthxy_offset::DEPTHX_OFFSET.get(shift)) * 2,
            u64::from(zb_depthxy_offset::DEPTHY_OFFSET.get(shift)) * 2,
        );
        add(Client::Depth, true, writes, &sampled(surface, samples), by);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::Set;
    use super::*;

    const WINDOW: Rect = Rect {
        x0: 0,
        y0: 0,
        x1: 64,
        y1: 32,
    };

    /// Return target 0, with 64 pixels of 32 bits a line at 1 MiB and all channels, and nothing else.
    fn plain() -> Set {
        let mut set = Set::default();
        for i in 0..4 {
            set.write(mmio::RB3D_COLOROFFSET.at(i).unwrap(), (i + 1) << 20);
            set.write(
                mmio::RB3D_COLORPITCH.at(i).unwrap(),
                64 | rb3d_colorpitch::COLORFORMAT.of(6),
            );
            set.write(mmio::US_OUT_FMT.at(i).unwrap(), if i == 0 { 0 } else { 15 });
        }
        set.write(mmio::RB3D_COLOR_CHANNEL_MASK, 0xffff);
        set.write(mmio::RB3D_BLENDCNTL, 0);
        set
    }

    fn areas(set: &mut Set) -> Vec<Area> {
        let mut all = Vec::new();
        touched(&set.state(), &[WINDOW], &mut all);
        all
    }

    fn spans(set: &mut Set) -> Vec<(Client, u64, u64)> {
        areas(set)
            .iter()
            .map(|a| (a.client, a.runs.start, a.runs.end()))
            .collect()
    }

    #[test]
    fn one_target() {
        let mut set = plain();
        assert_eq!(
            spans(&mut set),
            [(Client::Color(0), 1 << 20, (1 << 20) + 8192)]
        );
        assert!(!areas(&mut set)[0].read);
        set.write(mmio::RB3D_BLENDCNTL, 5);
        assert!(areas(&mut set)[0].read);
        set.write(mmio::RB3D_BLENDCNTL, 1);
        assert!(!areas(&mut set)[0].read, "blending that may not read");
        set.write(mmio::RB3D_COLOR_CHANNEL_MASK, 0xfff0);
        assert_eq!(spans(&mut set), []);
    }

    #[test]
    fn raster_operations_that_read() {
        let mut set = plain();
        let reads: Vec<u32> = (0..16)
            .filter(|rop| {
                set.write(
                    mmio::RB3D_ROPCNTL,
                    mmio::rb3d_ropcntl::ROP_ENABLE.mask() | (rop << 8),
                );
                areas(&mut set)[0].read
            })
            .collect();
        // All but zero, not source, source, one.
        assert_eq!(reads, [1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14]);
    }

    #[test]
    fn outputs_of_a_shader() {
        let mut set = plain();
        set.write(mmio::US_OUT_FMT.at(2).unwrap(), 0);
        let clients = |set: &mut Set| spans(set).iter().map(|s| s.0).collect::<Vec<_>>();
        assert_eq!(clients(&mut set), [Client::Color(0), Client::Color(2)]);
        set.write(
            mmio::RB3D_CCTL,
            rb3d_cctl::INDEPENDENT_COLOR_CHANNEL_MASK_ENABLE.mask(),
        );
        set.write(mmio::RB3D_COLOR_CHANNEL_MASK, 0xf0ff);
        assert_eq!(clients(&mut set), [Client::Color(0)]);
    }

    #[test]
    fn copies_of_output_0() {
        let mut set = plain();
        set.write(mmio::RB3D_CCTL, rb3d_cctl::NUM_MULTIWRITES.of(2));
        assert_eq!(spans(&mut set).len(), 3);
        assert_eq!(
            spans(&mut set)[2],
            (Client::Color(2), 3 << 20, (3 << 20) + 8192)
        );
        set.write(mmio::US_OUT_FMT.at(0).unwrap(), 15);
        assert_eq!(spans(&mut set), []);
    }

    #[test]
    fn whose_format() {
        let mut set = plain();
        set.write(mmio::US_OUT_FMT.at(1).unwrap(), 0);
        set.write(
            mmio::RB3D_COLORPITCH.at(1).unwrap(),
            64 | rb3d_colorpitch::COLORFORMAT.of(4),
        );
        assert_eq!(spans(&mut set)[1].2, (2 << 20) + 8192);
        set.write(
            mmio::RB3D_CCTL,
            rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.mask(),
        );
        assert_eq!(spans(&mut set)[1].2, (2 << 20) + 4096);
    }

    #[test]
    fn sizes_of_formats() {
        let bits = |name| match name {
            "CI8" | "I8" => 8,
            "I10" | "ARGB1555" | "RGB565" | "ARGB4444" | "UV88" | "VYUY" | "YVYU" => 16,
            "UV1010" | "ARGB2101010" | "ARGB8888" => 32,
            "ARGB10101010" | "ARGB16161616" => 64,
            "ARGB32323232" => 128,
            _ => 0,
        };
        let r = lapidary_registers::r500::DATABASE
            .by_name("RB3D_COLORPITCH")
            .unwrap();
        let field = r.fields.iter().find(|f| f.name == "COLORFORMAT").unwrap();
        assert_eq!(field.values.len(), 15);
        for value in field.values {
            assert_eq!(
                color_bytes(value.value) * 8,
                bits(value.name),
                "{}",
                value.name
            );
        }
    }

    #[test]
    fn samples_and_resolve() {
        let mut set = plain();
        set.write(
            mmio::GB_AA_CONFIG,
            1 | gb_aa_config::NUM_AA_SUBSAMPLES.of(2),
        );
        assert_eq!(
            spans(&mut set),
            [(Client::Color(0), 1 << 20, (1 << 20) + 4 * 8192)]
        );
        set.write(mmio::RB3D_AARESOLVE_CTL, 1);
        set.write(mmio::RB3D_AARESOLVE_OFFSET, 8 << 20);
        set.write(mmio::RB3D_AARESOLVE_PITCH, 128);
        assert_eq!(
            spans(&mut set),
            [
                (Client::Color(0), 1 << 20, (1 << 20) + 4 * 8192),
                (Client::Resolve, 8 << 20, (8 << 20) + 31 * 512 + 256)
            ]
        );
        let a = areas(&mut set);
        assert!(a[0].read && !a[0].write && a[1].write && !a[1].read);
        // The tiling bits are the resolve target's: 128 pixels a line are four macro-blocks of 32 by 16.
        let tiled = 64 | (6 << 21) | (1 << 16) | (1 << 17);
        set.write(mmio::RB3D_COLORPITCH.at(0).unwrap(), tiled);
        assert_eq!(spans(&mut set)[0].2, (1 << 20) + 4 * 8192);
        assert_eq!(spans(&mut set)[1].2, (8 << 20) + (4 + 2) * 2048);
    }

    #[test]
    fn depth() {
        let mut set = plain();
        set.write(mmio::US_OUT_FMT.at(0).unwrap(), 15);
        set.write(mmio::ZB_DEPTHOFFSET, 5 << 20);
        set.write(mmio::ZB_DEPTHPITCH, 64);
        set.write(mmio::ZB_CNTL, 2);
        assert_eq!(
            spans(&mut set),
            [(Client::Depth, 5 << 20, (5 << 20) + 4096)]
        );
        assert!(!areas(&mut set)[0].write);
        set.write(mmio::ZB_FORMAT, 2);
        assert_eq!(spans(&mut set)[0].2, (5 << 20) + 8192);
        for (cntl, writes) in [(6, true), (1, true), (4, true), (2, false)] {
            set.write(mmio::ZB_CNTL, cntl);
            assert_eq!(areas(&mut set)[0].write, writes);
        }
        set.write(mmio::ZB_DEPTHXY_OFFSET, (32 << 16) | 32);
        assert_eq!(spans(&mut set)[0].1, (5 << 20) + 32 * 256 + 32 * 4);
        set.write(mmio::ZB_CNTL, 0);
        assert_eq!(spans(&mut set), []);
    }
}
