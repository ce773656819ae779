// SPDX-License-Identifier: GPL-2.0 OR MIT

//! State of the 2D engine as a stream sets it, and the operations that depend on it.
//!
//! The engine draws into the surface that `DST_PITCH_OFFSET` names, and reads from the one that `SRC_PITCH_OFFSET`
//! names. `DP_GUI_MASTER_CNTL` sets everything else (R5xx 5.2.2): pixel type, brush, where the source comes from, how
//! it is combined (ROP3). The engine clips by a scissor rectangle, never by the bounds of an object.
//!
//! The registers keep what the last client has left in them, so only what this stream has set is known. An operation
//! whose bytes are not known is refused. Where the manual does not say how the engine treats a value, the worst case
//! counts: the edges of scissors are inclusive; an operation makes corners unknown; a line makes the direction unknown,
//! because the set-up of a line may change it.

use super::{
    reason::Reason,
    surface::{
        Area,
        Depth,
        Direction,
        Point,
        Surface, //
    },
    Object, //
};
use crate::portable::regs::{
    mmio::{
        clr_cmp_cntl,
        dp_cntl, //
    },
    pm4::gui_control as gui, //
};

/// Where the source pixels of an operation come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// A rectangle of the source surface.
    Memory,
    /// Dwords that follow.
    Host,
}

/// A GUI control word that is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Control {
    word: u32,
    /// Pixels of the destination.
    depth: Depth,
    /// Pixels of the source.
    source_depth: Depth,
    /// Where a source comes from, if one is needed.
    source: Source,
    /// Whether every row of host data begins at a byte. Otherwise rows follow each other bit by bit.
    byte_rows: bool,
    /// Whether the raster operation depends on the source.
    reads_source: bool,
}

impl Control {
    fn new(word: u32) -> Result<Self, Reason> {
        if gui::COLOR_CONVT.any(word) || gui::SRC_TYPE_MSB.any(word) {
            return Err(Reason::ReservedControlBits);
        }
        // Types from 7 on exist in the 3D pipeline only (R5xx 5.2.2).
        let depth = match gui::DST_TYPE.get(word) {
            gui::dst_type::CI8 => Depth::Eight,
            gui::dst_type::ARGB1555 | gui::dst_type::RGB565 => Depth::Sixteen,
            gui::dst_type::ARGB8888 => Depth::ThirtyTwo,
            _ => return Err(Reason::PixelType),
        };
        let source_depth = match gui::SRC_TYPE.get(word) {
            gui::src_type::MONO_OPAQUE | gui::src_type::MONO_TRANSPARENT => Depth::Mono,
            gui::src_type::COLOR => depth,
            _ => return Err(Reason::SourceType),
        };
        let (source, byte_rows) = match gui::SRC_LOAD.get(word) {
            gui::src_load::MEMORY => (Source::Memory, false),
            gui::src_load::HOST_DATA => (Source::Host, false),
            gui::src_load::HOST_DATA_BYTE => (Source::Host, true),
            _ => return Err(Reason::SourceLoad),
        };
        match gui::BRUSH_TYPE.get(word) {
            gui::brush_type::MONO_8X8_FG_BG
            | gui::brush_type::MONO_8X8_FG_LA
            | gui::brush_type::MONO_32X1_FG_BG
            | gui::brush_type::MONO_32X1_FG_LA
            | gui::brush_type::COLOR_8X8
            | gui::brush_type::SOLID_COLOR
            | gui::brush_type::SOLID_COLOR_ALT
            | gui::brush_type::NONE => {}
            _ => return Err(Reason::BrushType),
        }
        // Bit `P << 2 | S << 1 | D` of a ROP3 is the result for that combination of pattern, source and destination.
        let rop = gui::WIN31_ROP.get(word);
        Ok(Self {
            word,
            depth,
            source_depth,
            source,
            byte_rows,
            reads_source: (rop ^ (rop >> 2)) & 0x33 != 0,
        })
    }

    /// Return the dwords of host data that a rectangle takes (R5xx 5.2.2, `SRC_LOAD`).
    #[inline(never)]
    fn host_data(&self, area: Area) -> HostData {
        // Both have 14 bits.
        let (columns, lines) = (u64::from(area.columns()), u64::from(area.lines()));
        let row = columns.wrapping_mul(self.source_depth.bits());
        HostData::Pending(if self.byte_rows {
            row.div_ceil(8).wrapping_mul(lines).div_ceil(4)
        } else {
            row.wrapping_mul(lines).div_ceil(32)
        })
    }
}

/// Whether HOST_DATA registers may be written now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostData {
    /// Nothing waits for data.
    Idle,
    /// An operation has been started and waits for this many dwords, the last one by `HOST_DATA_LAST`.
    Pending(u64),
}

/// Whether colour compare can make the engine read the source. Unknown counts as yes.
///
/// A control word can switch it off. The manual does not say how. It may write `CLR_CMP_CNTL`, so that a later write
/// switches it on again. Or it may hide the register until another control word shows it again. Both count.
#[derive(Clone, Copy, Debug)]
struct Compare {
    /// The answer if control words write the register.
    written: bool,
    /// The answer of `CLR_CMP_CNTL` itself, if control words hide the register.
    beneath: bool,
    /// Whether the last control word hides it.
    hidden: bool,
}

impl Compare {
    const UNKNOWN: Self = Self {
        written: true,
        beneath: true,
        hidden: false,
    };

    fn control(&mut self, off: bool) {
        self.hidden = off;
        self.written &= !off;
    }

    fn set(&mut self, reads_source: bool) {
        self.written = reads_source;
        self.beneath = reads_source;
    }

    fn reads_source(self) -> bool {
        self.written || self.beneath && !self.hidden
    }
}

/// The state of the 2D engine that this stream has set.
#[derive(Debug)]
pub(super) struct Engine2d {
    control: Option<Control>,
    destination: Option<Surface>,
    source: Option<Surface>,
    destination_corner: Option<Point>,
    source_corner: Option<Point>,
    line_start: Option<Point>,
    direction: Option<Direction>,
    scissor_top_left: Option<Point>,
    scissor_bottom_right: Option<Point>,
    /// The area within both corners, if they are known and the area is not empty.
    scissor: Option<Area>,
    compare: Compare,
    host_data: HostData,
}

/// Return the edge of a scissor from a 16-bit half. Values that the engine may take for negative clip nothing.
fn scissor_edge(half: u32, nothing_clipped: i32) -> i32 {
    match half & 0xffff {
        edge @ 0..=0x1fff => edge as i32,
        _ => nothing_clipped,
    }
}

impl Engine2d {
    /// Return the state at the start of a stream, in which nothing is known.
    // Inlined, so that it is built in place. Copying it would cost as much as a small stream.
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self {
            control: None,
            destination: None,
            source: None,
            destination_corner: None,
            source_corner: None,
            line_start: None,
            direction: None,
            scissor_top_left: None,
            scissor_bottom_right: None,
            scissor: None,
            compare: Compare::UNKNOWN,
            host_data: HostData::Idle,
        }
    }

    // --- state ---------------------------------------------------------------------------------------

    /// Track a GUI control word. A bit that says "the default" makes what the stream has set unknown.
    #[inline(never)]
    pub(super) fn set_control(&mut self, word: u32) -> Result<(), Reason> {
        // Clients often repeat a control word.
        if self
            .control
            .as_ref()
            .is_none_or(|control| control.word != word)
        {
            self.control = Some(Control::new(word)?);
        }
        if !gui::SRC_PITCH_OFF.any(word) {
            self.source = None;
        }
        if !gui::DST_PITCH_OFF.any(word) {
            self.destination = None;
        }
        if !gui::DST_CLIPPING.any(word) {
            self.scissor_top_left = None;
            self.scissor_bottom_right = None;
            self.scissor = None;
        }
        self.compare.control(gui::GMC_CLR_CMP_FCN_DIS.any(word));
        // xf86-video-ati and Linux (`r100_copy_blit`) expect that a control word also makes the direction ascending.
        // The manual does not say it. The direction is known only if it was ascending before.
        self.direction = self
            .direction
            .filter(|direction| *direction == Direction::FORWARD);
        Ok(())
    }

    pub(super) fn set_source(&mut self, surface: Surface) {
        self.source = Some(surface);
    }

    pub(super) fn set_destination(&mut self, surface: Surface) {
        self.destination = Some(surface);
    }

    /// Track a write to `DP_CNTL`.
    pub(super) fn set_direction(&mut self, word: u32) {
        self.direction = Some(Direction {
            left_to_right: dp_cntl::DST_X_LEFT_TO_RIGHT.any(word),
            top_to_bottom: dp_cntl::DST_Y_TOP_TO_BOTTOM.any(word),
        });
    }

    /// Track a write to `DP_CNTL_XDIR_YDIR_YMAJOR`, which has the direction in another form. It is not known how the
    /// two registers interact, so a rectangle needs a write to `DP_CNTL` after it.
    pub(super) fn forget_direction(&mut self) {
        self.direction = None;
    }

    /// Track a write to `CLR_CMP_CNTL`.
    pub(super) fn set_compare(&mut self, word: u32) {
        self.compare.set(clr_cmp_cntl::CLR_CMP_SRC.any(word));
    }

    pub(super) fn set_scissor_top_left(&mut self, word: u32) {
        self.scissor_top_left = Some(Point {
            x: scissor_edge(word, i32::MIN),
            y: scissor_edge(word >> 16, i32::MIN),
        });
        self.combine_scissor();
    }

    pub(super) fn set_scissor_bottom_right(&mut self, word: u32) {
        self.scissor_bottom_right = Some(Point {
            x: scissor_edge(word, i32::MAX),
            y: scissor_edge(word >> 16, i32::MAX),
        });
        self.combine_scissor();
    }

    #[inline(never)]
    fn combine_scissor(&mut self) {
        self.scissor = match (self.scissor_top_left, self.scissor_bottom_right) {
            (Some(from), Some(to)) if from.x <= to.x && from.y <= to.y => {
                Some(Area::hull(from, to))
            }
            _ => None,
        };
    }

    /// Track a write to `SRC_Y_X`.
    #[inline]
    pub(super) fn set_source_corner(&mut self, word: u32) -> Result<(), Reason> {
        self.source_corner = Some(Point::from_y_x(word)?);
        Ok(())
    }

    /// Track a write to `DST_Y_X`.
    #[inline]
    pub(super) fn set_destination_corner(&mut self, word: u32) -> Result<(), Reason> {
        self.destination_corner = Some(Point::from_y_x(word)?);
        Ok(())
    }

    /// Track a write to `DST_LINE_START`.
    #[inline]
    pub(super) fn set_line_start(&mut self, word: u32) -> Result<(), Reason> {
        self.line_start = Some(Point::from_y_x(word)?);
        Ok(())
    }

    // --- what operations need ------------------------------------------------------------------------

    #[inline]
    fn reads_source(&self, control: &Control) -> bool {
        control.reads_source || self.compare.reads_source()
    }

    /// Return the part of `area` within the scissor, if this stream has set one.
    #[inline]
    fn clip(&self, control: &Control, area: Area) -> Option<Area> {
        match self.scissor {
            Some(scissor) if gui::DST_CLIPPING.any(control.word) => area.intersection(scissor),
            _ => Some(area),
        }
    }

    #[inline(always)]
    fn write(&self, control: &Control, area: Area, objects: &mut [Object]) -> Result<(), Reason> {
        let surface = match &self.destination {
            Some(surface) if gui::DST_PITCH_OFF.any(control.word) => surface,
            _ => return Err(Reason::NoDestination),
        };
        if let Some(area) = self.clip(control, area) {
            surface.holds(area, control.depth, Reason::DestinationBounds)?;
            if let Some(object) = objects.get_mut(surface.object as usize) {
                object.access.writes = true;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn read(&self, control: &Control, area: Area, objects: &mut [Object]) -> Result<(), Reason> {
        let surface = match &self.source {
            Some(surface) if gui::SRC_PITCH_OFF.any(control.word) => surface,
            _ => return Err(Reason::NoSource),
        };
        surface.holds(area, control.source_depth, Reason::SourceBounds)?;
        if let Some(object) = objects.get_mut(surface.object as usize) {
            object.access.reads = true;
        }
        Ok(())
    }

    // --- operations ----------------------------------------------------------------------------------

    /// Check a write to `DST_LINE_END`. It draws a line from brush and destination alone.
    #[inline(never)]
    pub(super) fn line_to(&mut self, to: u32, objects: &mut [Object]) -> Result<(), Reason> {
        let to = Point::from_y_x(to)?;
        let from = self.line_start.take().ok_or(Reason::NoLineStart)?;
        self.direction = None;
        self.source_corner = None;
        self.destination_corner = None;
        let control = self.control.as_ref().ok_or(Reason::NoControl)?;
        if self.reads_source(control) {
            return Err(Reason::SourceInLine);
        }
        if control.source == Source::Host {
            return Err(Reason::SourceNotFromHost);
        }
        self.write(control, Area::hull(from, to), objects)
    }

    /// Check a write to a register that starts a rectangle. Other registers have its state.
    #[inline(never)]
    pub(super) fn rectangle(
        &mut self,
        width: u32,
        height: u32,
        objects: &mut [Object],
    ) -> Result<(), Reason> {
        let corner = self.destination_corner.take();
        let from = self.source_corner.take();
        self.line_start = None;
        let control = self.control.as_ref().ok_or(Reason::NoControl)?;
        let direction = self.direction.ok_or(Reason::NoDirection)?;
        let corner = corner.ok_or(Reason::NoDestinationCorner)?;
        let area = Area::rectangle(corner, width, height, direction)?;
        self.write(control, area, objects)?;
        match (control.source, self.reads_source(control)) {
            (Source::Memory, false) => {}
            (Source::Memory, true) => {
                let from = from.ok_or(Reason::NoSourceCorner)?;
                let from = Area::rectangle(from, width, height, direction)?;
                self.read(control, from, objects)?;
            }
            // With fewer dwords than the rectangle takes, the engine would wait without end.
            (Source::Host, true) => self.host_data = control.host_data(area),
            // It is not known whether the engine waits for data that it does not need.
            (Source::Host, false) => return Err(Reason::SourceNotFromHost),
        }
        Ok(())
    }

    // --- host data -----------------------------------------------------------------------------------

    /// Refuse anything but host data while an operation waits for data: the rectangle is half drawn.
    #[inline]
    pub(super) fn not_host_data(&self) -> Result<(), Reason> {
        match self.host_data {
            HostData::Idle => Ok(()),
            HostData::Pending(_) => Err(Reason::HostDataPending),
        }
    }

    /// Track `dwords` writes to `HOST_DATA` registers, which may take any dword but the last. An error has the number
    /// of dwords before the one at fault.
    pub(super) fn host_data(&mut self, dwords: usize) -> Result<(), (Reason, usize)> {
        match self.host_data {
            HostData::Idle => Err((Reason::UnexpectedHostData, 0)),
            HostData::Pending(left) => {
                let rest = left.saturating_sub(dwords as u64);
                if rest == 0 {
                    return Err((Reason::HostDataCount, left.saturating_sub(1) as usize));
                }
                self.host_data = HostData::Pending(rest);
                Ok(())
            }
        }
    }

    /// Track a write to `HOST_DATA_LAST`.
    pub(super) fn host_data_last(&mut self) -> Result<(), Reason> {
        match self.host_data {
            HostData::Idle => Err(Reason::UnexpectedHostData),
            HostData::Pending(1) => {
                self.host_data = HostData::Idle;
                Ok(())
            }
            HostData::Pending(_) => Err(Reason::HostDataCount),
        }
    }

    /// Check the state at the end of the stream.
    pub(super) fn finish(&self) -> Result<(), Reason> {
        match self.host_data {
            HostData::Idle => Ok(()),
            HostData::Pending(_) => Err(Reason::HostDataUnfinished),
        }
    }
}
