// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Every rule of the checker: a stream that keeps it, and the same stream with one dword changed that breaks
//! it and is refused for just that reason.

mod support;

use std::collections::BTreeSet;

use r500::portable::{
    checker::{check, max_fixups, Chip, Fixup, FixupKind, Object, Options, Reason, Refusal},
    pm4,
    regs::{mmio, pm4::op},
};
use support::{
    copy_control, fill_control, gui, host_control, objects, pitch_offset, run, surface, y_x,
    Stream, FORWARD,
};

/// One rule.
struct Rule {
    reason: Reason,
    stream: Stream,
    objects: Vec<Object>,
    options: Options,
    /// Index and new value of the dword that breaks the rule.
    spoil: (usize, u32),
    /// Where the refusal must point.
    position: usize,
}

const PAGE: u64 = 4096;
const PATCH: Options = Options {
    keep_tiling: false,
    hyperz: false,
    cmask: false,
    chip: Chip::Rv515,
    pixel_pipes: 1,
    z_pipes: 1,
};
const KEEP: Options = Options {
    keep_tiling: true,
    ..PATCH
};

impl Rule {
    fn new(reason: Reason, stream: &Stream, at: usize, value: u32) -> Self {
        Self {
            reason,
            stream: stream.clone(),
            objects: objects(&[16 * PAGE, 16 * PAGE]),
            options: KEEP,
            spoil: (at, value),
            position: at,
        }
    }

    /// The fault does not show at the dword that was changed.
    fn shows_at(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    fn take_tiling_from(mut self, tiling: [u32; 2]) -> Self {
        self.options = PATCH;
        for (object, tiling) in self.objects.iter_mut().zip(tiling) {
            object.tiling = tiling;
        }
        self
    }

    fn test(&self) {
        let mut words = self.stream.words.clone();
        if let Err(refusal) = run(&words, &self.objects, self.options) {
            panic!("{:?}: the good stream is refused: {refusal:?}", self.reason);
        }
        assert_ne!(
            words[self.spoil.0], self.spoil.1,
            "{:?}: nothing changed",
            self.reason
        );
        words[self.spoil.0] = self.spoil.1;
        assert_eq!(
            run(&words, &self.objects, self.options).err(),
            Some(Refusal {
                position: self.position as u32,
                reason: self.reason
            }),
        );
    }
}

/// Index of the value in the last register write that has been added.
fn value(stream: &Stream) -> usize {
    stream.here() - 1
}

/// A fill by registers, and where its parts are.
struct Fill {
    stream: Stream,
    direction: usize,
    control: usize,
    surface: usize,
    marker: usize,
    corner: usize,
    size: usize,
}

/// 256 bytes a line, 64 pixels; the object has 256 lines.
fn fill() -> Fill {
    let mut stream = Stream::new();
    stream.write(mmio::DP_GUI_MASTER_CNTL, fill_control());
    let control = value(&stream);
    stream.write(mmio::DP_CNTL, FORWARD);
    let direction = value(&stream);
    stream.write(mmio::DST_PITCH_OFFSET, surface(256, 0));
    let surface = value(&stream);
    stream.marker(0);
    let marker = value(&stream);
    stream.write(mmio::DST_Y_X, y_x(0, 0));
    let corner = value(&stream);
    stream.write(mmio::DST_HEIGHT_WIDTH, y_x(256, 64));
    let size = value(&stream);
    Fill {
        stream,
        direction,
        control,
        surface,
        marker,
        corner,
        size,
    }
}

/// A NOP of one dword between two fillers.
fn nop() -> Stream {
    let mut stream = Stream::new();
    stream
        .words(&[pm4::FILLER])
        .packet(op::NOP, &[pm4::FILLER])
        .words(&[pm4::FILLER]);
    stream
}

/// A copy by registers. Returns the indices of control, source corner and size.
fn copy() -> (Stream, usize, usize, usize) {
    let mut stream = Stream::new();
    stream.copy_setup(256);
    let control = 3;
    stream.write(mmio::SRC_Y_X, y_x(0, 0));
    let corner = value(&stream);
    stream
        .write(mmio::DST_Y_X, y_x(0, 0))
        .write(mmio::DST_HEIGHT_WIDTH, y_x(16, 16));
    let size = value(&stream);
    (stream, control, corner, size)
}

/// A packet with SETTINGS and destination in entry 0, direction set before it. The body follows the surface.
fn packet(opcode: u8, control: u32, body: &[u32]) -> Stream {
    let mut all = vec![control];
    if gui::SRC_PITCH_OFF.any(control) {
        all.push(surface(256, 0));
    }
    all.push(surface(256, 0));
    all.extend_from_slice(body);
    let mut stream = Stream::new();
    stream.write(mmio::DP_CNTL, FORWARD).packet(opcode, &all);
    if gui::SRC_PITCH_OFF.any(control) {
        stream.marker(1);
    }
    stream.marker(0);
    stream
}

const CONTROL: usize = 3;

fn paint_multi(corner: u32, size: u32) -> Stream {
    packet(
        op::PAINT_MULTI,
        fill_control(),
        &[0x00ff_00ff, corner, size],
    )
}

fn host_data() -> Stream {
    let mut stream = Stream::new();
    stream
        .write(mmio::DP_CNTL, FORWARD)
        .write(mmio::DP_GUI_MASTER_CNTL, host_control())
        .write(mmio::DST_PITCH_OFFSET, surface(256, 0))
        .marker(0)
        .rectangle(0, 0, 32, 2)
        .writes(mmio::HOST_DATA.at(0).unwrap(), &[1])
        .write(mmio::HOST_DATA_LAST, pm4::FILLER);
    stream
}

fn packets(rules: &mut Vec<Rule>) {
    let nop = nop();
    let header = pm4::operation(op::NOP, 1);
    let opcode = |opcode| pm4::operation(opcode, 1);
    rules.extend([
        Rule::new(Reason::Truncated, &nop, 1, pm4::operation(op::NOP, 3)),
        Rule::new(Reason::ReservedHeaderBits, &nop, 1, header | 1),
        Rule::new(Reason::Type1, &nop, 1, (1 << 30) | 1),
        Rule::new(Reason::UnknownPacket, &nop, 1, opcode(0x11)),
        Rule::new(Reason::UnknownPacket, &nop, 1, opcode(0x90)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::WAIT_MEM)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::COND_EXEC)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::PRED_EXEC)),
        Rule::new(Reason::ForbiddenPacket, &nop, 1, opcode(op::WAIT_SEMAPHORE)),
        Rule::new(Reason::Draw3d, &nop, 1, opcode(op::_3D_DRAW_IMMD_2)),
        Rule::new(Reason::Draw3d, &nop, 1, opcode(op::INDX_BUFFER)),
        Rule::new(Reason::Draw3d, &nop, 1, opcode(op::_3D_LOAD_VBPNTR)),
        Rule::new(Reason::Palette, &nop, 1, opcode(op::LOAD_PALETTE)),
    ]);
    // Type 1 takes one dword more than the NOP; let there be one.
    for rule in rules.iter_mut().filter(|rule| rule.reason == Reason::Type1) {
        rule.stream.words(&[pm4::FILLER]);
    }
    let mut scissors = Stream::new();
    scissors
        .packet(op::SET_SCISSORS, &[0, 0x10_0010])
        .words(&[pm4::FILLER]);
    rules.push(
        Rule::new(
            Reason::PacketLength,
            &scissors,
            0,
            pm4::operation(op::SET_SCISSORS, 3),
        )
        .shows_at(2),
    );
    rules.push(Rule::new(
        Reason::PacketLength,
        &packet(
            op::HOSTDATA_BLT,
            host_control(),
            &[0, 0, 0, y_x(2, 2), 1, 7],
        ),
        9,
        0x4001,
    ));
    // Counts that do not fit the body of scan-lines.
    let scan = packet(
        op::POLYSCANLINES,
        fill_control(),
        &[0, 1, 1, y_x(1, 0), y_x(8, 0)],
    );
    rules.push(Rule::new(Reason::PacketLength, &scan, 6, 2).shows_at(9));
    rules.push(Rule::new(Reason::PacketLength, &scan, 7, 0));
}

fn registers(rules: &mut Vec<Rule>) {
    let fill = fill();
    let header = fill.direction - 1;
    let instead = |register| pm4::write(register, 1);
    for register in [
        mmio::CP_RB_BASE,
        mmio::CP_IB_BASE,
        mmio::CP_IB_BUFSZ,
        mmio::SCRATCH_REG.at(0).unwrap(),
        mmio::GEN_INT_STATUS,
        mmio::DEFAULT_PITCH_OFFSET,
        mmio::DST_OFFSET,
        mmio::DST_WIDTH_X,
        mmio::DP_DATATYPE,
        0,
        // The last register that a packet can name.
        0x7ffc,
    ] {
        rules.push(
            Rule::new(
                Reason::ForbiddenRegister,
                &fill.stream,
                header,
                instead(register),
            )
            .shows_at(fill.direction),
        );
    }
    for register in [
        mmio::RB3D_COLOROFFSET.at(0).unwrap(),
        mmio::ZB_DEPTHOFFSET,
        mmio::ZB_ZPASS_ADDR,
        mmio::VAP_VF_CNTL,
        mmio::TX_OFFSET.at(0).unwrap(),
    ] {
        rules.push(
            Rule::new(Reason::State3d, &fill.stream, header, instead(register))
                .shows_at(fill.direction),
        );
    }
    // Tiling by the direction register.
    rules.push(Rule::new(
        Reason::ForbiddenBits,
        &fill.stream,
        fill.direction,
        FORWARD | (1 << 3),
    ));
    // A wait for something that may never come, and a pulse to the command processor.
    let mut flush = Stream::new();
    flush
        .write(mmio::WAIT_UNTIL, 1 << 16)
        .write(mmio::RB3D_DSTCACHE_CTLSTAT, 0xa)
        .write(mmio::ZB_ZCACHE_CTLSTAT, 3)
        .write(mmio::RB2D_DSTCACHE_CTLSTAT, 0xf)
        .write(mmio::RBBM_GUICNTL, 2)
        .write(mmio::CLR_CMP_CNTL, 0x0200_0505);
    for (at, value) in [
        (1, 1 << 3),
        (3, 1 << 4),
        (5, 4),
        (7, 1 << 31),
        (9, 4),
        (11, 1 << 7),
    ] {
        rules.push(Rule::new(Reason::ForbiddenBits, &flush, at, value));
    }
    // Consecutive registers run into one that is forbidden.
    let mut brush = Stream::new();
    brush
        .writes(mmio::DP_SRC_FRGD_CLR, &[1, 2])
        .words(&[pm4::FILLER]);
    rules.push(
        Rule::new(
            Reason::ForbiddenRegister,
            &brush,
            0,
            pm4::write(mmio::DP_SRC_FRGD_CLR, 3),
        )
        .shows_at(3),
    );
}

fn relocations(rules: &mut Vec<Rule>) {
    let fill = fill();
    let stream = &fill.stream;
    rules.extend([
        Rule::new(
            Reason::MissingRelocation,
            stream,
            fill.marker - 1,
            pm4::FILLER,
        )
        .shows_at(fill.surface),
        Rule::new(
            Reason::MissingRelocation,
            stream,
            fill.marker - 1,
            pm4::operation(op::NOP, 2),
        )
        .shows_at(fill.surface),
        // Entry 2 of 2, and not a multiple of four.
        Rule::new(Reason::BadRelocation, stream, fill.marker, 8).shows_at(fill.surface),
        Rule::new(Reason::BadRelocation, stream, fill.marker, u32::MAX & !3).shows_at(fill.surface),
        Rule::new(Reason::BadRelocation, stream, fill.marker, 2),
        Rule::new(
            Reason::OffsetBeyondObject,
            stream,
            fill.surface,
            surface(256, 16 * PAGE as u32),
        ),
        Rule::new(
            Reason::OffsetBeyondObject,
            stream,
            fill.surface,
            surface(256, 0) | 0x3f_ffff,
        ),
        Rule::new(Reason::ZeroPitch, stream, fill.surface, 0),
    ]);
    // A packet carries two addresses, but only one marker follows.
    let blit = packet(op::BITBLT, copy_control(), &[0, 0, y_x(4, 4)]);
    rules.push(Rule::new(Reason::MissingRelocation, &blit, 11, pm4::FILLER).shows_at(5));
}

fn surfaces(rules: &mut Vec<Rule>) {
    let tiled = |word: u32| word | pitch_offset::TILE_MACRO.of(1);
    let mut fill = fill();
    fill.stream.words[fill.surface] = tiled(surface(256, 2048));
    fill.stream.words[fill.size] = y_x(8, 64);
    rules.extend([
        Rule::new(
            Reason::TiledPitch,
            &fill.stream,
            fill.surface,
            tiled(surface(320, 2048)),
        ),
        Rule::new(
            Reason::TiledOffset,
            &fill.stream,
            fill.surface,
            tiled(surface(256, 1024)),
        ),
        // 248 lines are left, 31 rows of macro-blocks; one line more begins another row.
        Rule::new(
            Reason::DestinationBounds,
            &fill.stream,
            fill.size,
            y_x(249, 64),
        ),
        // One pixel more is beyond the pitch.
        Rule::new(
            Reason::DestinationBounds,
            &fill.stream,
            fill.size,
            y_x(8, 65),
        ),
    ]);
    let mut copy = copy().0;
    copy.words[3] = gui::SRC_TYPE.put(copy_control(), gui::src_type::MONO_OPAQUE);
    rules.push(
        Rule::new(Reason::TiledMono, &copy, 9, tiled(surface(256, 0))).shows_at(copy.here() - 1),
    );
    rules.push(
        Rule::new(Reason::MicroTiledSource, &copy, 11, 0)
            .take_tiling_from([2, 0])
            .shows_at(9),
    );
}

fn control(rules: &mut Vec<Rule>) {
    let fill = fill();
    let mut spoil =
        |reason, value| rules.push(Rule::new(reason, &fill.stream, fill.control, value));
    let good = fill_control();
    spoil(Reason::ReservedControlBits, good | (1 << 15));
    spoil(Reason::ReservedControlBits, good | (1 << 27));
    for depth in [0, 1, 5, 7, 8, 11, 15] {
        spoil(Reason::PixelType, gui::DST_TYPE.put(good, depth));
    }
    spoil(Reason::SourceType, gui::SRC_TYPE.put(good, 2));
    for load in [0, 1, 5, 7] {
        spoil(Reason::SourceLoad, gui::SRC_LOAD.put(good, load));
    }
    for brush in [2, 3, 4, 5, 8, 9, 11, 12] {
        spoil(Reason::BrushType, gui::BRUSH_TYPE.put(good, brush));
    }
}

fn state(rules: &mut Vec<Rule>) {
    let fill = fill();
    let stream = &fill.stream;
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    let (copy, copy_control_at, copy_corner, copy_size) = copy();
    rules.extend([
        Rule::new(Reason::NoControl, stream, fill.control - 1, harmless).shows_at(fill.size),
        Rule::new(Reason::NoDirection, stream, fill.direction - 1, harmless).shows_at(fill.size),
        Rule::new(
            Reason::NoDestination,
            stream,
            fill.control,
            gui::DST_PITCH_OFF.put(fill_control(), 0),
        )
        .shows_at(fill.size),
        Rule::new(
            Reason::NoDestination,
            stream,
            fill.surface - 1,
            pm4::write(mmio::SRC_PITCH_OFFSET, 1),
        )
        .shows_at(fill.size),
        Rule::new(
            Reason::NoDestinationCorner,
            stream,
            fill.corner - 1,
            harmless,
        )
        .shows_at(fill.size),
        Rule::new(Reason::NoSourceCorner, &copy, copy_corner - 1, harmless).shows_at(copy_size),
        Rule::new(
            Reason::NoSource,
            &copy,
            copy_control_at,
            gui::SRC_PITCH_OFF.put(copy_control(), 0),
        )
        .shows_at(copy_size),
        Rule::new(Reason::NoSource, &copy, 8, harmless).shows_at(copy_size),
    ]);

    // A corner serves one operation.
    let mut twice = fill.stream.clone();
    twice.rectangle(0, 0, 1, 1);
    rules.push(
        Rule::new(Reason::NoDestinationCorner, &twice, fill.size + 1, harmless)
            .shows_at(fill.size + 4),
    );
    // A control word that goes back to the default takes the surface away, even if the next one does not.
    let mut again = Stream::new();
    again
        .fill_setup(256, 0, 0)
        .write(mmio::DP_GUI_MASTER_CNTL, fill_control());
    let at = value(&again);
    again
        .write(mmio::DP_GUI_MASTER_CNTL, fill_control())
        .rectangle(0, 0, 4, 4);
    rules.push(
        Rule::new(
            Reason::NoDestination,
            &again,
            at,
            gui::DST_PITCH_OFF.put(fill_control(), 0),
        )
        .shows_at(again.here() - 1),
    );
    // The other form of the direction makes this one unknown.
    let mut other = Stream::new();
    other.fill_setup(256, 0, 0).write(mmio::DP_SRC_FRGD_CLR, 0);
    let at = other.here() - 2;
    other.rectangle(0, 0, 4, 4);
    rules.push(
        Rule::new(
            Reason::NoDirection,
            &other,
            at,
            pm4::write(mmio::DP_CNTL_XDIR_YDIR_YMAJOR, 1),
        )
        .shows_at(other.here() - 1),
    );
    // A line serves once, and forgets the direction.
    let mut line = Stream::new();
    line.fill_setup(256, 0, 0)
        .write(mmio::DST_LINE_START, y_x(1, 1))
        .write(mmio::DST_LINE_END, y_x(9, 30));
    let end = value(&line);
    rules.push(Rule::new(Reason::NoLineStart, &line, end - 3, harmless).shows_at(end));
    line.write(mmio::DP_CNTL, FORWARD).rectangle(0, 0, 4, 4);
    rules.push(Rule::new(Reason::NoDirection, &line, end + 1, harmless).shows_at(line.here() - 1));

    let paint = paint_multi(0, y_x(4, 4));
    for direction in 0..3 {
        rules.push(Rule::new(Reason::NoDirection, &paint, 1, direction).shows_at(CONTROL + 2));
    }
    // A control word may or may not make the direction ascending.
    for direction in 0..3 {
        rules.push(Rule::new(Reason::NoDirection, &again, 1, direction).shows_at(again.here() - 1));
    }
    let mut next = paint.clone();
    next.write(mmio::DP_CNTL, FORWARD);
    let at = value(&next);
    next.packet(op::PLY_NEXTSCAN, &[y_x(6, 250), y_x(62, 0)]);
    for direction in 0..3 {
        rules.push(Rule::new(Reason::Direction, &next, at, direction).shows_at(at + 1));
    }
    let spoil = |value| Rule::new(Reason::SourceInFill, &paint, CONTROL, value).shows_at(7);
    rules.extend([
        spoil(gui::WIN31_ROP.put(fill_control(), 0xcc)),
        spoil(gui::WIN31_ROP.put(fill_control(), 0x88)),
        // Colour compare as somebody else has left it.
        spoil(gui::GMC_CLR_CMP_FCN_DIS.put(fill_control(), 0)),
    ]);
    let upload = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[0, 0, 0, y_x(2, 2), 1, 7],
    );
    rules.extend([
        Rule::new(
            Reason::SourceNotFromHost,
            &upload,
            CONTROL,
            gui::SRC_LOAD.put(host_control(), gui::src_load::MEMORY),
        )
        .shows_at(8),
        Rule::new(
            Reason::SourceNotFromHost,
            &upload,
            CONTROL,
            gui::WIN31_ROP.put(host_control(), 0xf0),
        )
        .shows_at(8),
    ]);
    let blit = packet(op::BITBLT, copy_control(), &[0, 0, y_x(4, 4)]);
    rules.push(
        Rule::new(
            Reason::SourceNotInMemory,
            &blit,
            CONTROL,
            gui::SRC_LOAD.put(copy_control(), gui::src_load::HOST_DATA),
        )
        .shows_at(8),
    );
}

fn geometry(rules: &mut Vec<Rule>) {
    let fill = fill();
    let stream = &fill.stream;
    for corner in [0x2000, 0x8000, 0x4000 << 16, 0x7fff << 16] {
        rules.push(Rule::new(Reason::Coordinate, stream, fill.corner, corner));
    }
    rules.extend([
        Rule::new(Reason::EmptyArea, stream, fill.size, y_x(0, 64)),
        Rule::new(Reason::EmptyArea, stream, fill.size, y_x(256, 0)),
        Rule::new(Reason::AreaRange, stream, fill.size, y_x(256, 0x2001)),
        Rule::new(Reason::AreaRange, stream, fill.size, (0x4000 << 16) | 1),
        Rule::new(Reason::AreaRange, stream, fill.size, 0xffff_ffff),
        // One line, one pixel on the last line, one pixel to the left and one line above.
        Rule::new(Reason::DestinationBounds, stream, fill.size, y_x(257, 64)),
        Rule::new(Reason::DestinationBounds, stream, fill.size, y_x(256, 65)),
        Rule::new(Reason::DestinationBounds, stream, fill.corner, y_x(0, -1)).shows_at(fill.size),
        Rule::new(Reason::DestinationBounds, stream, fill.corner, y_x(-1, 0)).shows_at(fill.size),
        // Down by one line, up by the whole of it, and drawn to the left.
        Rule::new(Reason::DestinationBounds, stream, fill.corner, y_x(1, 0)).shows_at(fill.size),
        Rule::new(Reason::DestinationBounds, stream, fill.direction, 1).shows_at(fill.size),
        Rule::new(Reason::DestinationBounds, stream, fill.direction, 2).shows_at(fill.size),
        // The object has 256 lines of 256 bytes, not of 320.
        Rule::new(
            Reason::DestinationBounds,
            stream,
            fill.surface,
            surface(320, 0),
        )
        .shows_at(fill.size),
        Rule::new(
            Reason::DestinationBounds,
            stream,
            fill.surface,
            surface(256, 1024),
        )
        .shows_at(fill.size),
    ]);
    let (copy, _, corner, size) = copy();
    rules.extend([
        Rule::new(Reason::SourceBounds, &copy, corner, y_x(241, 0)).shows_at(size),
        Rule::new(Reason::SourceBounds, &copy, corner, y_x(0, -1)).shows_at(size),
    ]);
    // Packets: the last rectangle of several counts too.
    let three = packet(
        op::PAINT_MULTI,
        fill_control(),
        &[
            0,
            0,
            y_x(4, 4),
            y_x(8, 8),
            y_x(4, 4),
            y_x(60, 252),
            y_x(4, 4),
        ],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &three, 10, y_x(60, 253)).shows_at(11));
    rules.push(Rule::new(Reason::Coordinate, &three, 10, 0x4000_0000));
    // Corners: the far one counts as inside.
    let paint = packet(op::PAINT, fill_control(), &[0, 0, y_x(255, 63)]);
    rules.push(Rule::new(
        Reason::DestinationBounds,
        &paint,
        7,
        y_x(256, 63),
    ));
    rules.push(Rule::new(Reason::EmptyArea, &paint, 7, y_x(0, 63)));
    rules.push(Rule::new(Reason::EmptyArea, &paint, 6, y_x(0, 63)).shows_at(7));
    let blits = packet(
        op::BITBLT_MULTI,
        copy_control(),
        &[0, 0, y_x(4, 4), 0, y_x(60, 252), y_x(4, 4)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &blits, 10, y_x(60, 253)).shows_at(11));
    rules.push(Rule::new(Reason::SourceBounds, &blits, 9, y_x(60, 253)).shows_at(11));
    rules.push(Rule::new(
        Reason::AreaRange,
        &blits,
        11,
        y_x(4, 4) | (1 << 31),
    ));
    let keyed = packet(
        op::TRANS_BITBLT,
        copy_control(),
        &[0x0100_0004, 0, 0, 0, y_x(60, 252), y_x(4, 4)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &keyed, 10, y_x(61, 253)).shows_at(11));
    rules.push(Rule::new(Reason::ForbiddenBits, &keyed, 6, 1 << 31));
    let line = packet(
        op::POLYLINE,
        fill_control(),
        &[0, y_x(0, 0), y_x(255, 63), y_x(0, 63)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &line, 7, y_x(256, 63)));
    rules.push(Rule::new(Reason::DestinationBounds, &line, 8, y_x(-1, 63)));
    let scan = packet(
        op::POLYSCANLINES,
        fill_control(),
        &[0, 1, 2, y_x(6, 250), y_x(8, 0), y_x(63, 40)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &scan, 8, y_x(7, 250)).shows_at(9));
    rules.push(Rule::new(Reason::DestinationBounds, &scan, 10, y_x(64, 40)));
    rules.push(Rule::new(Reason::EmptyArea, &scan, 10, y_x(40, 40)));
    let glyphs = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[
            0,
            0,
            y_x(0, 0),
            y_x(8, 8),
            2,
            1,
            2,
            y_x(248, 56),
            y_x(8, 8),
            2,
            3,
            4,
        ],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &glyphs, 13, y_x(9, 8)));
    // Packets that use the settings of an earlier one.
    let mut next = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[0, 0, 0, y_x(2, 2), 1, 7],
    );
    next.packet(op::NEXTCHAR, &[y_x(248, 56), y_x(8, 8), 1, 2]);
    rules.push(Rule::new(Reason::DestinationBounds, &next, 15, y_x(8, 9)));
    let mut next = paint_multi(0, y_x(2, 2));
    next.packet(op::PLY_NEXTSCAN, &[y_x(6, 250), y_x(63, 0)]);
    rules.push(Rule::new(Reason::DestinationBounds, &next, 12, y_x(64, 0)));
}

fn scissors(rules: &mut Vec<Rule>) {
    // Far larger than the object, but clipped to it.
    let control = fill_control() | gui::DST_CLIPPING.of(1);
    let mut stream = Stream::new();
    stream
        .write(mmio::DP_CNTL, FORWARD)
        .write(mmio::DP_GUI_MASTER_CNTL, control);
    let control_at = value(&stream);
    stream
        .write(mmio::DST_PITCH_OFFSET, surface(256, 0))
        .marker(0)
        .writes(mmio::SC_TOP_LEFT, &[0, y_x(255, 63)]);
    let scissor = value(&stream);
    stream.rectangle(-8, -8, 4000, 4000);
    let size = value(&stream);
    rules.extend([
        Rule::new(Reason::DestinationBounds, &stream, scissor, y_x(256, 63)).shows_at(size),
        Rule::new(Reason::DestinationBounds, &stream, scissor, y_x(255, 64)).shows_at(size),
        // Values that might be negative or turned round clip nothing.
        Rule::new(Reason::DestinationBounds, &stream, scissor, 0x8000_003f).shows_at(size),
        Rule::new(Reason::DestinationBounds, &stream, scissor - 1, y_x(0, 64)).shows_at(size),
        Rule::new(Reason::DestinationBounds, &stream, scissor - 1, 0x8000).shows_at(size),
        // The default scissor is somebody else's.
        Rule::new(
            Reason::DestinationBounds,
            &stream,
            control_at,
            fill_control(),
        )
        .shows_at(size),
        // Too large even for the engine's counters.
        Rule::new(Reason::AreaRange, &stream, size, y_x(4000, 0x3fff)),
    ]);
    // The same by a packet.
    let mut stream = Stream::new();
    stream
        .fill_setup(256, 0, 0)
        .write(mmio::DP_GUI_MASTER_CNTL, control)
        .packet(op::SET_SCISSORS, &[0, y_x(255, 63)])
        .rectangle(0, 0, 100, 300);
    let size = value(&stream);
    rules
        .push(Rule::new(Reason::DestinationBounds, &stream, size - 4, y_x(256, 63)).shows_at(size));
    // And by settings.
    let stream = packet(
        op::PAINT_MULTI,
        control,
        &[0, y_x(255, 63), 0, 0, y_x(300, 300)],
    );
    rules.push(Rule::new(Reason::DestinationBounds, &stream, 6, y_x(299, 63)).shows_at(9));
}

fn host(rules: &mut Vec<Rule>) {
    let stream = host_data();
    let last = stream.here() - 2;
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    rules.extend([
        Rule::new(Reason::HostDataPending, &stream, last - 2, harmless).shows_at(last - 1),
        // The header of the last write becomes a filler; its value is one already.
        Rule::new(Reason::HostDataUnfinished, &stream, last, pm4::FILLER).shows_at(last + 1),
        // The last one too early and not at all, and a rectangle that takes less.
        Rule::new(
            Reason::HostDataCount,
            &stream,
            last - 2,
            pm4::write(mmio::HOST_DATA_LAST, 1),
        )
        .shows_at(last - 1),
        Rule::new(
            Reason::HostDataCount,
            &stream,
            last,
            pm4::write(mmio::HOST_DATA.at(7).unwrap(), 1),
        )
        .shows_at(last + 1),
        Rule::new(Reason::HostDataCount, &stream, last - 3, y_x(1, 32)).shows_at(last - 1),
    ]);
    let mut stream = host_data();
    let at = stream.here();
    stream.write(mmio::DP_SRC_FRGD_CLR, 1);
    for register in [mmio::HOST_DATA.at(3).unwrap(), mmio::HOST_DATA_LAST] {
        rules.push(
            Rule::new(
                Reason::UnexpectedHostData,
                &stream,
                at,
                pm4::write(register, 1),
            )
            .shows_at(at + 1),
        );
    }
    // A packet while data are awaited.
    let mut stream = host_data();
    let last = stream.here() - 2;
    stream.words(&[pm4::FILLER]);
    rules.push(Rule::new(
        Reason::HostDataPending,
        &stream,
        last,
        pm4::operation(op::SET_SCISSORS, 2),
    ));
    // Packets with a dword more or less than the character has, bit by bit and with rows at bytes.
    let glyph = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[0, 0, 0, y_x(9, 7), 2, 1, 2],
    );
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 9, 1));
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 9, 3));
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 8, y_x(9, 8)).shows_at(9));
    let control = gui::SRC_LOAD.put(host_control(), gui::src_load::HOST_DATA_BYTE);
    let glyph = packet(op::HOSTDATA_BLT, control, &[0, 0, 0, y_x(9, 7), 3, 1, 2, 3]);
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 9, 2));
    let mut next = glyph;
    next.packet(op::NEXTCHAR, &[0, y_x(9, 7), 1, 2, 3]);
    rules.push(Rule::new(Reason::HostDataCount, &next, 17, y_x(8, 7)).shows_at(17));
}

fn rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    packets(&mut rules);
    registers(&mut rules);
    relocations(&mut rules);
    surfaces(&mut rules);
    control(&mut rules);
    state(&mut rules);
    geometry(&mut rules);
    scissors(&mut rules);
    host(&mut rules);
    rules
}

#[test]
fn one_dword_decides() {
    for rule in rules() {
        rule.test();
    }
}

#[test]
fn every_reason_has_a_rule() {
    let tested: BTreeSet<Reason> = rules()
        .iter()
        .map(|rule| rule.reason)
        .chain([Reason::OutputTooShort, Reason::TooManyFixups])
        .collect();
    let missing: Vec<_> = Reason::ALL
        .iter()
        .filter(|reason| !tested.contains(reason))
        .collect();
    assert!(missing.is_empty(), "no test breaks {missing:?}");
}

#[test]
fn buffers_that_are_too_short_are_refused() {
    let stream = fill().stream;
    let length = stream.here();
    let mut objects = objects(&[16 * PAGE]);
    let mut try_with = |out: usize, fixups: usize| {
        check(
            &stream.words,
            &mut objects,
            KEEP,
            &mut vec![0; out],
            &mut vec![Fixup::default(); fixups],
        )
        .map_err(|refusal| refusal.reason)
    };
    assert_eq!(try_with(length, 1), Ok(1));
    assert_eq!(try_with(length - 1, 1), Err(Reason::OutputTooShort));
    assert_eq!(try_with(length, 0), Err(Reason::TooManyFixups));
    assert!(max_fixups(length) >= 1);
}

/// The densest stream of addresses that there is fits the buffer that [`max_fixups`] asks for.
#[test]
fn fixups_fit_their_buffer() {
    let mut body = Stream::new();
    let count = 64;
    body.words(&[pm4::write_one(mmio::DST_PITCH_OFFSET, count)]);
    for _ in 0..count {
        body.words(&[surface(256, 0)]);
    }
    for _ in 0..count {
        body.marker(0);
    }
    let checked = run(&body.words, &objects(&[PAGE]), KEEP).unwrap();
    assert_eq!(checked.fixups.len(), count as usize);
}

#[test]
fn an_empty_stream_is_fine() {
    let checked = run(&[], &[], KEEP).unwrap();
    assert!(checked.words.is_empty() && checked.fixups.is_empty());
}

#[test]
fn a_fixup_adds_the_address() {
    let mut stream = fill().stream;
    stream.words[5] = surface(256, 3072);
    stream.words[11] = y_x(1, 1);
    let checked = run(&stream.words, &objects(&[16 * PAGE]), KEEP).unwrap();
    assert_eq!(
        checked.fixups,
        [Fixup {
            dword: 5,
            object: 0,
            kind: FixupKind::PitchOffset
        }]
    );
    let fixup = checked.fixups[0];
    let placed = fixup.apply(checked.words[5], 0x1234_5000).unwrap();
    assert_eq!(
        pitch_offset::OFFSET.get(placed),
        (0x1234_5000 + 3072) / 1024
    );
    assert_eq!(pitch_offset::PITCH.get(placed), 4);
    // Not a multiple of 1 KiB; beyond 4 GiB with the offset; beyond 4 GiB.
    assert_eq!(fixup.apply(checked.words[5], 0x1234_5200), None);
    assert_eq!(fixup.apply(checked.words[5], (1 << 32) - 2048), None);
    assert_eq!(fixup.apply(0, 1 << 32), None);
    assert_eq!(fixup.apply(0, u64::MAX & !1023), None);
    assert_eq!(fixup.apply(0, (1 << 32) - 1024), Some(0x3f_ffff));
}

/// Without KEEP_TILING the bits come from the object, as `radeon_drm.h` promises; with it, from the stream.
#[test]
fn tiling_comes_from_whom_the_flag_says() {
    let mut stream = fill().stream;
    stream.words[11] = y_x(8, 64);
    let mut tiled = objects(&[16 * PAGE]);
    tiled[0].tiling = 3;
    let both = pitch_offset::TILE_MACRO.mask() | pitch_offset::TILE_MICRO.mask();
    let word = |words: &[u32], objects: &[Object], keep_tiling| {
        run(words, objects, Options { keep_tiling, ..KEEP }).unwrap().words[5] & both
    };
    assert_eq!(word(&stream.words, &tiled, true), 0);
    assert_eq!(word(&stream.words, &tiled, false), both);
    stream.words[5] |= both;
    assert_eq!(word(&stream.words, &objects(&[16 * PAGE]), true), both);
    assert_eq!(word(&stream.words, &objects(&[16 * PAGE]), false), 0);
}

#[test]
fn access_says_what_was_done() {
    let (stream, ..) = copy();
    let checked = run(&stream.words, &objects(&[16 * PAGE, 16 * PAGE, PAGE]), KEEP).unwrap();
    let access: Vec<_> = checked
        .objects
        .iter()
        .map(|object| (object.access.reads, object.access.writes))
        .collect();
    assert_eq!(access, [(false, true), (true, false), (false, false)]);
}

/// Pixels of 8 and 16 bits take less; a monochrome source takes an eighth of a byte for each.
#[test]
fn pixel_sizes_count() {
    let mut fill = fill();
    for (kind, width) in [(2, 256), (3, 128), (4, 128), (6, 64)] {
        fill.stream.words[fill.control] = gui::DST_TYPE.put(fill_control(), kind);
        fill.stream.words[fill.size] = y_x(256, width);
        run(&fill.stream.words, &objects(&[16 * PAGE]), KEEP).unwrap();
        fill.stream.words[fill.size] = y_x(256, width + 1);
        let refusal = run(&fill.stream.words, &objects(&[16 * PAGE]), KEEP).unwrap_err();
        assert_eq!(
            refusal.reason,
            Reason::DestinationBounds,
            "pixel type {kind}"
        );
    }
    let (mut stream, control, _, size) = copy();
    stream.words[control] = gui::SRC_TYPE.put(copy_control(), gui::src_type::MONO_TRANSPARENT);
    stream.words[size] = y_x(16, 512);
    // 15 lines of 256 bytes, then 512 bits.
    let sizes = |source| objects(&[16 * PAGE, source]);
    run(&stream.words, &sizes(15 * 256 + 64), KEEP).unwrap();
    let refusal = run(&stream.words, &sizes(15 * 256 + 63), KEEP).unwrap_err();
    assert_eq!(refusal.reason, Reason::SourceBounds);
}

/// Objects of any size that a kernel may have: no arithmetic overflows.
#[test]
fn huge_objects_are_fine() {
    let stream = fill().stream;
    run(&stream.words, &objects(&[u64::MAX]), KEEP).unwrap();
    assert_eq!(
        run(&stream.words, &objects(&[0]), KEEP).unwrap_err().reason,
        Reason::OffsetBeyondObject
    );
}
