// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The host data path: how the CPU sees VRAM through BAR0.
//!
//! BAR0 is two apertures of `CONFIG_APER_SIZE` bytes. Each shows VRAM from its start, unless `HDP_APER_CNTL` joins
//! them into one window. Eight *surfaces* are ranges of that window whose memory is tiled or has its bytes in another
//! order: inside such a range the CPU sees lines of a pitch, as if the memory were linear (`SURFACE_LOWER_BOUND`,
//! `SURFACE_UPPER_BOUND`, `SURFACE_INFO`; the manual has only 9.1.10 on their alignment, the fields are from Linux'
//! `r100_set_surface_reg`). `SURFACE_CNTL` switches them all off, and says how bytes are swapped outside of them.
//!
//! Tiles are those of the 2D engine for pixels of 16 and 32 bits: a surface does not say how wide its pixels are.
//! With mapped VRAM the CPU's accesses do not come here; a surface that acts is a finding then.
//!
//! The bounds are compared with the byte that the CPU addresses. The byte that is looked up for it may lie elsewhere:
//! the blocks of a line's end are far behind those of its beginning. An access that comes out beyond the bounds, or in
//! another object than the one that was addressed, is a finding.

use std::ops::{Range, RangeInclusive};

use lapidary_registers::r500::mmio::{self, surface_cntl, surface_info};

use super::R5xx;
use super::engine2d::surface::tiled_offset;
use crate::kind;
use crate::unit::Unit;
use lapidary_model::machine::{Machine, SPACE};

/// Bytes of a line of a micro block: linear, and tiled.
const MICRO: [u32; 2] = [32, 16];

/// What becomes of a byte that the CPU addresses, in offsets in VRAM.
struct Place {
    asked: u64,
    at: u64,
    /// The bounds of the surface that has led from one to the other.
    through: Option<RangeInclusive<u64>>,
}

impl R5xx {
    /// Read VRAM as the CPU does through BAR0, where it is not mapped.
    pub(super) fn hdp_read(&mut self, m: &mut Machine, offset: u64, data: &mut [u8]) {
        for (at, run) in self.runs(m, offset, data.len()) {
            let piece = &mut data[run];
            self.judge_host_read(m, at, piece.len() as u64);
            if !m.vram.read(at, piece) {
                piece.fill(0xff);
                out_of_range(m, at);
            }
        }
    }

    /// Write VRAM as the CPU does through BAR0, where it is not mapped.
    pub(super) fn hdp_write(&mut self, m: &mut Machine, offset: u64, data: &[u8]) {
        for (at, run) in self.runs(m, offset, data.len()) {
            if !m.vram.write(at, &data[run]) {
                out_of_range(m, at);
            }
        }
    }

    /// Return the pieces of an access that are consecutive in VRAM: where each begins there, and which of the access'
    /// bytes it is.
    fn runs(&self, m: &mut Machine, offset: u64, len: usize) -> Vec<(u64, Range<usize>)> {
        let mut runs: Vec<(u64, Range<usize>)> = Vec::new();
        let mut escape = None;
        for i in 0..len {
            let place = self.place(offset + i as u64);
            let at = place.at;
            if escape.is_none() && self.escapes(m, &place) {
                escape = Some(place);
            }
            match runs.last_mut() {
                Some((start, run)) if *start + run.len() as u64 == at => run.end = i + 1,
                _ => runs.push((at, i..i + 1)),
            }
        }
        if let Some(Place {
            asked,
            at,
            through: Some(bounds),
        }) = escape
        {
            let (first, last) = bounds.into_inner();
            m.finding(
                kind::SURFACE_ESCAPE,
                format_args!(
                    "the CPU's {asked:#x} is {at:#x}, by a surface of {first:#x}..={last:#x}"
                ),
            );
        }
        runs
    }

    /// Return whether a surface has led the CPU to memory that it is not for. One finding for an access is enough.
    fn escapes(&self, m: &Machine, place: &Place) -> bool {
        let Some(bounds) = &place.through else {
            return false;
        };
        let gpu = self.bus.frame_buffer().0;
        let object = m.object_at(SPACE, gpu + place.asked);
        !bounds.contains(&place.at)
            || object.is_some_and(|o| !(o.start..o.start + o.len).contains(&(gpu + place.at)))
    }

    /// Return where a byte of BAR0 lies in VRAM.
    fn place(&self, offset: u64) -> Place {
        let size = u64::from(self.regs.get(mmio::CONFIG_APER_SIZE));
        let second = offset >= size;
        let joined = mmio::host_path_cntl::HDP_APER_CNTL.any(self.regs.get(mmio::HOST_PATH_CNTL));
        let asked = if second && !joined {
            offset - size
        } else {
            offset
        };
        let cntl = self.regs.get(mmio::SURFACE_CNTL);
        if !surface_cntl::SURF_TRANSLATION_DIS.any(cntl) {
            if let Some((bounds, info)) = self.surface_at(asked) {
                let swap = [surface_info::AP0_SWP, surface_info::AP1_SWP][usize::from(second)];
                let lower = *bounds.start();
                return Place {
                    asked,
                    at: lower + detiled(info, swapped(asked - lower, swap.get(info))),
                    through: Some(bounds),
                };
            }
        }
        let swap = [surface_cntl::NONSURF_AP0_SWP, surface_cntl::NONSURF_AP1_SWP];
        Place {
            asked,
            at: swapped(asked, swap[usize::from(second)].get(cntl)),
            through: None,
        }
    }

    /// Return the first surface that holds a byte: its bounds, and what it is.
    fn surface_at(&self, at: u64) -> Option<(RangeInclusive<u64>, u32)> {
        (0..mmio::SURFACE_INFO.len()).find_map(|i| {
            let get = |array: lapidary_registers::RegArray| self.regs.get(array.at(i).unwrap_or(0));
            let bounds = u64::from(get(mmio::SURFACE_LOWER_BOUND))
                ..=u64::from(get(mmio::SURFACE_UPPER_BOUND));
            let info = get(mmio::SURFACE_INFO);
            (acts(info) && bounds.contains(&at)).then_some((bounds, info))
        })
    }

    /// Write a register of the surfaces.
    pub(super) fn surface_written(&mut self, m: &mut Machine, offset: u32, value: u32) {
        let old = self.regs.get(offset);
        self.regs.set(offset, value);
        let (acted, acting) = if offset == mmio::SURFACE_CNTL {
            (nonsurface_acts(old), nonsurface_acts(value))
        } else if mmio::SURFACE_INFO.index_of(offset).is_some() {
            if acts(value) && bad_pitch(value) {
                m.finding(
                    kind::RESERVED_VALUE,
                    format_args!("a surface of such tiles has no such pitch, {value:#010x}"),
                );
            }
            (acts(old), acts(value))
        } else {
            self.judge_bound(m, offset, value);
            return;
        };
        if acting && !acted && !self.options.trapped {
            m.finding(
                kind::UNIMPLEMENTED_REGISTER,
                format_args!("a surface for the CPU, {value:#010x}, while VRAM is mapped"),
            );
        }
    }

    /// Judge the surfaces when a stream is about to be switched on. What the CPU sees of mapped VRAM must be what the
    /// driver takes it for.
    pub(super) fn judge_surfaces(&self, m: &mut Machine) {
        if self.options.trapped {
            return;
        }
        for i in 0..mmio::SURFACE_INFO.len() {
            let info = self.regs.get(mmio::SURFACE_INFO.at(i).unwrap_or(0));
            if acts(info) {
                m.finding(
                    kind::HOST_PATH_MISMATCH,
                    format_args!("surface {i} for the CPU, {info:#010x}, while VRAM is mapped"),
                );
            }
        }
    }

    /// Judge a bound of a surface. Bounds are multiples of 32 bytes, and the end of surface 0 is one of 64 (R5xx
    /// 9.1.10).
    fn judge_bound(&self, m: &mut Machine, offset: u32, value: u32) {
        let bad = match (
            mmio::SURFACE_LOWER_BOUND.index_of(offset),
            mmio::SURFACE_UPPER_BOUND.index_of(offset),
        ) {
            (Some(_), _) => value % 32 != 0,
            (_, Some(0)) => value % 64 != 63,
            _ => value % 32 != 31,
        };
        if bad && value != 0 {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("bound of a surface, {value:#010x}"),
            );
        }
    }

    /// Judge what other units hold of VRAM that the CPU reads.
    fn judge_host_read(&mut self, m: &mut Machine, offset: u64, len: u64) {
        let address = self.bus.frame_buffer().0 + offset;
        if let Some(holder) = self.bus.caches.holder(Unit::Host, address, len) {
            m.finding(
                kind::STALE_READ,
                format_args!("the CPU reads VRAM {offset:#x}, which is still in {holder}"),
            );
        } else if self.bus.caches.host_stale(offset, len) {
            m.finding(
                kind::STALE_READ,
                format_args!("the CPU reads VRAM {offset:#x} through a read buffer from before"),
            );
        }
    }
}

fn out_of_range(m: &mut Machine, at: u64) {
    m.finding(
        kind::VRAM_RANGE,
        format_args!("{:?} access at {at:#x}", Unit::Host),
    );
}

/// Return whether a surface changes what the CPU sees.
fn acts(info: u32) -> bool {
    use surface_info::{AP0_SWP, AP1_SWP, TILE_MACRO, TILE_MICRO};
    [AP0_SWP, AP1_SWP, TILE_MACRO, TILE_MICRO]
        .iter()
        .any(|f| f.any(info))
}

fn nonsurface_acts(cntl: u32) -> bool {
    surface_cntl::NONSURF_AP0_SWP.any(cntl) || surface_cntl::NONSURF_AP1_SWP.any(cntl)
}

/// Return the bytes of a line, of a line of a micro block, and whether micro blocks are grouped.
fn shape(info: u32) -> (u32, u32, bool) {
    (
        surface_info::PITCHSEL.get(info) * 8,
        MICRO[usize::from(surface_info::TILE_MICRO.any(info))],
        surface_info::TILE_MACRO.any(info),
    )
}

fn bad_pitch(info: u32) -> bool {
    let (pitch, micro, grouped) = shape(info);
    let tiled = grouped || surface_info::TILE_MICRO.any(info);
    tiled && (pitch == 0 || pitch % if grouped { 8 * micro } else { micro } != 0)
}

/// Return where a byte of a surface, seen in lines, lies from its start.
fn detiled(info: u32, at: u64) -> u64 {
    let (pitch, micro, grouped) = shape(info);
    if bad_pitch(info) || !grouped && micro == MICRO[0] {
        return at;
    }
    let (byte, y) = (at % u64::from(pitch), at / u64::from(pitch));
    tiled_offset(byte as u32, y as u32, pitch, micro, grouped)
}

/// Return the byte's place when those of a 16-bit (1) or 32-bit (2) unit are in the other order.
fn swapped(at: u64, swap: u32) -> u64 {
    at ^ match swap {
        1 => 1,
        2 => 3,
        _ => 0,
    }
}
