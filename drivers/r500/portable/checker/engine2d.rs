// SPDX-License-Identifier: GPL-2.0 OR MIT

//! State of the 2D engine as a stream sets it, and the operations that depend on it.
//!
//! The engine draws into the surface that `DST_PITCH_OFFSET` names, reads from the one that
//! `SRC_PITCH_OFFSET` names, and is told everything else by `DP_GUI_MASTER_CNTL` (R5xx 5.2.2): pixel type,
//! brush, where the source comes from, what is done with it (ROP3). It clips what it draws by a scissor
//! rectangle; it never clips by the memory that belongs to somebody.
//!
//! The registers keep what the last client has left in them, so nothing counts here unless this stream has
//! said it: a new state knows nothing, and an operation whose bytes are not known is refused. Where the
//! manual leaves open what the engine makes of a value, the worst case counts: the edges of scissors are taken
//! as inclusive, corners are used up by an operation, a line forgets the direction, because the set-up of a
//! line may change it.

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
pub(super) enum Source {
    /// A rectangle of the source surface.
    Memory,
    /// Dwords that follow.
    Host,
}

/// A GUI control word that has been found meaningful.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Control {
    word: u32,
    /// Pixels of the destination.
    pub(super) depth: Depth,
    /// Pixels of the source.
    source_depth: Depth,
    /// Where a source comes from, if one is needed.
    pub(super) source: Source,
    /// Whether every row of host data begins at a byte; otherwise rows follow each other bit by bit.
    byte_rows: bool,
    /// Size of the brush in a packet's settings, dwords.
    pub(super) brush_dwords: u32,
}

impl Control {
    pub(super) fn new(word: u32) -> Result<Self, Reason> {
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
        let brush_dwords = match gui::BRUSH_TYPE.get(word) {
            gui::brush_type::MONO_8X8_FG_BG => 4,
            gui::brush_type::MONO_8X8_FG_LA | gui::brush_type::MONO_32X1_FG_BG => 3,
            gui::brush_type::MONO_32X1_FG_LA => 2,
            gui::brush_type::COLOR_8X8 => match depth {
                Depth::Mono | Depth::Eight => 16,
                Depth::Sixteen => 32,
                Depth::ThirtyTwo => 64,
            },
            gui::brush_type::SOLID_COLOR | gui::brush_type::SOLID_COLOR_ALT => 1,
            gui::brush_type::NONE => 0,
            _ => return Err(Reason::BrushType),
        };
        Ok(Self {
            word,
            depth,
            source_depth,
            source,
            byte_rows,
            brush_dwords,
        })
    }

    /// Whether the raster operation depends on the source. Bit `P << 2 | S << 1 | D` of a ROP3 is the result
    /// for that combination of pattern, source and destination.
    fn rop_reads_source(self) -> bool {
        let rop = gui::WIN31_ROP.get(self.word);
        (rop ^ (rop >> 2)) & 0x33 != 0
    }

    /// Dwords of host data that a rectangle takes (R5xx 5.2.2, `SRC_LOAD`).
    fn host_dwords(self, area: Area) -> u64 {
        // 14 bits each.
        let (columns, lines) = (u64::from(area.columns()), u64::from(area.lines()));
        let row = columns.wrapping_mul(self.source_depth.bits());
        if self.byte_rows {
            row.div_ceil(8).wrapping_mul(lines).div_ceil(4)
        } else {
            row.wrapping_mul(lines).div_ceil(32)
        }
    }
}

/// What a HOST_DATA register may do now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum HostData {
    /// Nothing waits for data.
    Idle,
    /// An operation has been started and waits for this many dwords, the last one by `HOST_DATA_LAST`.
    Pending(u64),
}

/// What this stream has said about the 2D engine.
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
    /// Whether colour compare can make the engine read the source; unknown counts as yes.
    compare_reads_source: bool,
    host_data: HostData,
}

/// The edge of a scissor, in a 16-bit half. Values that the engine may take as negative clip nothing.
fn scissor_edge(half: u32, nothing_clipped: i32) -> i32 {
    match half & 0xffff {
        edge @ 0..=0x1fff => edge as i32,
        _ => nothing_clipped,
    }
}

impl Engine2d {
    /// The state at the start of a stream: nothing is known.
    // Built in its place: copying it would cost as much as a small stream.
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
            compare_reads_source: true,
            host_data: HostData::Idle,
        }
    }

    // --- state ---------------------------------------------------------------------------------------

    /// A GUI control word. A bit that says "the default" takes back what the stream has set.
    pub(super) fn set_control(&mut self, word: u32) -> Result<Control, Reason> {
        let control = Control::new(word)?;
        self.control = Some(control);
        if !gui::SRC_PITCH_OFF.any(word) {
            self.source = None;
        }
        if !gui::DST_PITCH_OFF.any(word) {
            self.destination = None;
        }
        if !gui::DST_CLIPPING.any(word) {
            self.scissor_top_left = None;
            self.scissor_bottom_right = None;
        }
        if gui::GMC_CLR_CMP_FCN_DIS.any(word) {
            self.compare_reads_source = false;
        }
        // xf86-video-ati and Linux (`r100_copy_blit`) rely on it that a control word also makes the direction
        // ascending; the manual says nothing. Only what was ascending before is so in both cases.
        self.direction = self
            .direction
            .filter(|direction| *direction == Direction::FORWARD);
        Ok(control)
    }

    pub(super) fn set_source(&mut self, surface: Surface) {
        self.source = Some(surface);
    }

    pub(super) fn set_destination(&mut self, surface: Surface) {
        self.destination = Some(surface);
    }

    /// `DP_CNTL`.
    pub(super) fn set_direction(&mut self, word: u32) {
        self.direction = Some(Direction {
            left_to_right: dp_cntl::DST_X_LEFT_TO_RIGHT.any(word),
            top_to_bottom: dp_cntl::DST_Y_TOP_TO_BOTTOM.any(word),
        });
    }

    /// `DP_CNTL_XDIR_YDIR_YMAJOR`: the direction again, in another form. Nobody says how the two registers
    /// interact, so a rectangle needs `DP_CNTL` after it.
    pub(super) fn forget_direction(&mut self) {
        self.direction = None;
    }

    /// `CLR_CMP_CNTL`.
    pub(super) fn set_compare(&mut self, word: u32) {
        self.compare_reads_source = clr_cmp_cntl::CLR_CMP_SRC.any(word);
    }

    /// Colour compare was set in a way that other settings may have overruled.
    pub(super) fn forget_compare(&mut self) {
        self.compare_reads_source = true;
    }

    pub(super) fn set_scissor_top_left(&mut self, word: u32) {
        self.scissor_top_left = Some(Point {
            x: scissor_edge(word, i32::MIN),
            y: scissor_edge(word >> 16, i32::MIN),
        });
    }

    pub(super) fn set_scissor_bottom_right(&mut self, word: u32) {
        self.scissor_bottom_right = Some(Point {
            x: scissor_edge(word, i32::MAX),
            y: scissor_edge(word >> 16, i32::MAX),
        });
    }

    pub(super) fn set_source_corner(&mut self, corner: Point) {
        self.source_corner = Some(corner);
    }

    pub(super) fn set_destination_corner(&mut self, corner: Point) {
        self.destination_corner = Some(corner);
    }

    pub(super) fn set_line_start(&mut self, start: Point) {
        self.line_start = Some(start);
    }

    // --- what operations need ------------------------------------------------------------------------

    fn control(&self) -> Result<Control, Reason> {
        self.control.ok_or(Reason::NoControl)
    }

    fn direction(&self) -> Result<Direction, Reason> {
        self.direction.ok_or(Reason::NoDirection)
    }

    /// Packets are executed by microcode, which takes coordinates as it likes; only with the ordinary
    /// direction is it certain what they cover.
    pub(super) fn forward(&self) -> Result<Direction, Reason> {
        match self.direction()? {
            Direction::FORWARD => Ok(Direction::FORWARD),
            _ => Err(Reason::Direction),
        }
    }

    fn reads_source(&self, control: Control) -> bool {
        control.rop_reads_source() || self.compare_reads_source
    }

    /// What of `area` the scissor leaves, as far as this stream has set one.
    fn clip(&self, control: Control, area: Area) -> Option<Area> {
        let (Some(top_left), Some(bottom_right)) =
            (self.scissor_top_left, self.scissor_bottom_right)
        else {
            return Some(area);
        };
        if !gui::DST_CLIPPING.any(control.word)
            || top_left.x > bottom_right.x
            || top_left.y > bottom_right.y
        {
            return Some(area);
        }
        area.intersection(Area {
            left: top_left.x,
            top: top_left.y,
            right: bottom_right.x,
            bottom: bottom_right.y,
        })
    }

    fn write(&self, control: Control, area: Area, objects: &mut [Object]) -> Result<(), Reason> {
        let surface = self
            .destination
            .filter(|_| gui::DST_PITCH_OFF.any(control.word))
            .ok_or(Reason::NoDestination)?;
        if let Some(area) = self.clip(control, area) {
            surface.holds(area, control.depth, Reason::DestinationBounds)?;
            if let Some(object) = objects.get_mut(surface.object as usize) {
                object.access.writes = true;
            }
        }
        Ok(())
    }

    fn read(&self, control: Control, area: Area, objects: &mut [Object]) -> Result<(), Reason> {
        let surface = self
            .source
            .filter(|_| gui::SRC_PITCH_OFF.any(control.word))
            .ok_or(Reason::NoSource)?;
        surface.holds(area, control.source_depth, Reason::SourceBounds)?;
        if let Some(object) = objects.get_mut(surface.object as usize) {
            object.access.reads = true;
        }
        Ok(())
    }

    fn use_up_corners(&mut self) {
        self.destination_corner = None;
        self.source_corner = None;
        self.line_start = None;
    }

    // --- operations ----------------------------------------------------------------------------------

    /// Draws `area` with brush and destination alone.
    pub(super) fn fill(&mut self, area: Area, objects: &mut [Object]) -> Result<(), Reason> {
        let control = self.control()?;
        if self.reads_source(control) {
            return Err(Reason::SourceInFill);
        }
        self.use_up_corners();
        self.write(control, area, objects)
    }

    /// Copies from the source surface.
    pub(super) fn copy(
        &mut self,
        from: Area,
        to: Area,
        objects: &mut [Object],
    ) -> Result<(), Reason> {
        let control = self.control()?;
        if control.source != Source::Memory {
            return Err(Reason::SourceNotInMemory);
        }
        self.use_up_corners();
        self.read(control, from, objects)?;
        self.write(control, to, objects)
    }

    /// Draws `area` with pixels from the host; returns how many dwords of them there must be. With fewer the
    /// engine would wait for ever.
    pub(super) fn upload(&mut self, area: Area, objects: &mut [Object]) -> Result<u64, Reason> {
        let control = self.control()?;
        if control.source != Source::Host || !self.reads_source(control) {
            return Err(Reason::SourceNotFromHost);
        }
        self.use_up_corners();
        self.write(control, area, objects)?;
        Ok(control.host_dwords(area))
    }

    /// Draws a line.
    pub(super) fn line(
        &mut self,
        from: Point,
        to: Point,
        objects: &mut [Object],
    ) -> Result<(), Reason> {
        self.direction = None;
        self.fill(Area::hull(from, to), objects)
    }

    /// `DST_LINE_END`.
    pub(super) fn line_to(&mut self, to: Point, objects: &mut [Object]) -> Result<(), Reason> {
        let from = self.line_start.ok_or(Reason::NoLineStart)?;
        self.line(from, to, objects)
    }

    /// A register that starts a rectangle, with everything else from other registers.
    pub(super) fn rectangle(
        &mut self,
        width: u32,
        height: u32,
        objects: &mut [Object],
    ) -> Result<(), Reason> {
        let control = self.control()?;
        let direction = self.direction()?;
        let corner = self.destination_corner.ok_or(Reason::NoDestinationCorner)?;
        let area = Area::rectangle(corner, width, height, direction)?;
        match control.source {
            _ if !self.reads_source(control) => match control.source {
                Source::Memory => self.fill(area, objects),
                // Whether the engine waits for data that it does not need is not known.
                Source::Host => Err(Reason::SourceNotFromHost),
            },
            Source::Memory => {
                let corner = self.source_corner.ok_or(Reason::NoSourceCorner)?;
                let from = Area::rectangle(corner, width, height, direction)?;
                self.copy(from, area, objects)
            }
            Source::Host => {
                self.host_data = HostData::Pending(self.upload(area, objects)?);
                Ok(())
            }
        }
    }

    // --- host data -----------------------------------------------------------------------------------

    /// Something that is not host data. While an operation waits for data it would meet a half-drawn
    /// rectangle.
    #[inline]
    pub(super) fn not_host_data(&self) -> Result<(), Reason> {
        match self.host_data {
            HostData::Idle => Ok(()),
            HostData::Pending(_) => Err(Reason::HostDataPending),
        }
    }

    /// One of the `HOST_DATA` registers: any dword but the last.
    pub(super) fn host_data(&mut self) -> Result<(), Reason> {
        match self.host_data {
            HostData::Idle => Err(Reason::UnexpectedHostData),
            HostData::Pending(0 | 1) => Err(Reason::HostDataCount),
            HostData::Pending(left) => {
                self.host_data = HostData::Pending(left.wrapping_sub(1));
                Ok(())
            }
        }
    }

    /// `HOST_DATA_LAST`.
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

    /// The end of the stream.
    pub(super) fn finish(&self) -> Result<(), Reason> {
        match self.host_data {
            HostData::Idle => Ok(()),
            HostData::Pending(_) => Err(Reason::HostDataUnfinished),
        }
    }
}
