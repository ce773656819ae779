// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast the checker is ([`lapidary_fuzz::rate`]). The streams are
//!
//! - 2D operations as an X server sends them, 500 dwords with two relocations;
//! - 2D operations of a desktop without a 3D driver, with tiles, scissors, text and lines;
//! - host data;
//! - 3D state and draws in the sizes that the side-by-side comparison of the drivers uses;
//! - recordings of real clients, if `LAPIDARY_STREAMS` names a folder of them.

#[path = "../tests/support/mod.rs"]
mod support;

use std::hint::black_box;

use lapidary_fuzz::rate::Bench;
use lapidary_streams::Recording;
use r500::portable::{
    checker::{check, max_fixups, Chip, Fixup, Object, Options},
    pm4,
    regs::mmio,
};
use support::{
    copy_control, fill_control, gui, host_control, objects, pitch_offset, recorded_mix,
    recorded_objects, surface, y_x, Stream, FLUSH, FORWARD,
};

/// A client that owns everything.
const OPTIONS: Options = Options {
    keep_tiling: true,
    hyperz: true,
    cmask: true,
    chip: Chip::Rv515,
    pixel_pipes: 1,
    z_pipes: 1,
};

/// A stream with its objects.
struct Submission {
    words: Vec<u32>,
    objects: Vec<Object>,
    fixups: Vec<Fixup>,
}

impl Submission {
    fn new(words: Vec<u32>, objects: Vec<Object>) -> Self {
        let fixups = vec![Fixup::default(); max_fixups(words.len())];
        Self {
            words,
            objects,
            fixups,
        }
    }

    fn check(&mut self) {
        let words = black_box(&mut self.words);
        let result = check(words, &mut self.objects, OPTIONS, &mut self.fixups);
        black_box(result).expect("the checker lets it through");
    }
}

fn measure(bench: &Bench, name: &str, words: &[u32], objects: Vec<Object>) {
    let mut submission = Submission::new(words.to_vec(), objects);
    bench.measure(name, words.len(), || submission.check());
}

/// Return a stream of `dwords` dwords that sets state of the shaders and the rest of the pipeline in single registers
/// and short runs, as clients write it, with `relocations` colour buffers in between. The rest are fillers.
fn state(dwords: usize, relocations: usize) -> Vec<u32> {
    let every = dwords / relocations.max(1);
    let mut stream = Stream::new();
    let mut done = 0;
    while stream.here() + 64 < dwords {
        if stream.here() >= done * every && done < relocations {
            stream
                .write(mmio::RB3D_COLOROFFSET.at(0).unwrap(), 0)
                .marker(0);
            done += 1;
        }
        stream
            .writes(mmio::VAP_VPORT_XSCALE, &[1, 2, 3, 4, 5, 6])
            .write(mmio::GA_COLOR_CONTROL, 7)
            .writes(mmio::SC_CLIP_0_A, &[0, 1])
            .write(mmio::GA_US_VECTOR_INDEX, 0)
            .words(&[pm4::write_one(mmio::GA_US_VECTOR_DATA, 12)])
            .words(&[0; 12])
            .write(mmio::ZB_ZSTENCILCNTL, 1);
    }
    stream.words.resize(dwords, pm4::FILLER);
    stream.words
}

/// Return a stream that draws windows on a tiled screen. Each has a scissor of its own, a frame of rectangles and
/// lines, a pattern, a picture copied from another surface, and lines of text, a glyph of 8 by 13 pixels each, by host
/// data.
fn desktop() -> Vec<u32> {
    let clipped = |control| gui::DST_CLIPPING.put(control, 1);
    let tiled = pitch_offset::TILE_MACRO.of(1) | pitch_offset::TILE_MICRO.of(1);
    let mut stream = Stream::new();
    for window in 0..8 {
        let (x, y) = (40 * window, 24 * window);
        stream
            .write(mmio::DST_PITCH_OFFSET, surface(4096, 0) | tiled)
            .marker(0)
            .writes(mmio::SC_TOP_LEFT, &[y_x(y, x), y_x(y + 199, x + 299)])
            .write(mmio::DP_GUI_MASTER_CNTL, clipped(fill_control()))
            .write(mmio::DP_CNTL, FORWARD);
        for edge in 0..6 {
            stream
                .write(mmio::DP_BRUSH_FRGD_CLR, 0x10_2030 * edge as u32)
                .rectangle(x + edge, y + edge, 300 - 2 * edge, 200 - 2 * edge);
        }
        for line in 0..4 {
            let (top, bottom) = (y_x(y + 20, x + 70 * line), y_x(y + 190, x + 70 * line));
            stream.writes(mmio::DST_LINE_START, &[top, bottom]);
        }
        let mono = gui::BRUSH_TYPE.put(clipped(fill_control()), gui::brush_type::MONO_8X8_FG_BG);
        stream
            .write(mmio::DP_GUI_MASTER_CNTL, mono)
            .writes(mmio::BRUSH_Y_X, &[0, 0xff_ffff, 0])
            .writes(mmio::BRUSH_DATA.at(0).unwrap(), &[0x5555_aaaa; 2])
            .write(mmio::DP_CNTL, FORWARD)
            .rectangle(x + 8, y + 20, 60, 170);
        stream
            .write(mmio::SRC_PITCH_OFFSET, surface(512, 0))
            .marker(1)
            .write(mmio::DP_GUI_MASTER_CNTL, clipped(copy_control()))
            .write(mmio::DP_CNTL, FORWARD);
        for icon in 0..12 {
            stream.copy((0, 16 * icon), (x + 8, y + 20 + 14 * icon), (16, 16));
        }
        stream
            .write(mmio::DP_GUI_MASTER_CNTL, clipped(host_control()))
            .writes(mmio::DP_SRC_FRGD_CLR, &[0, 0xff_ffff])
            .write(mmio::DP_CNTL, FORWARD);
        for glyph in 0..60 {
            let (column, row) = (glyph % 20, glyph / 20);
            stream
                .rectangle(x + 80 + 8 * column, y + 20 + 14 * row, 8, 13)
                .writes(mmio::HOST_DATA.at(0).unwrap(), &[glyph as u32; 3])
                .write(mmio::HOST_DATA_LAST, 0);
        }
    }
    stream.words(&FLUSH);
    stream.words
}

/// Return a picture of 256 by 256 pixels, by host data.
fn host_data() -> Vec<u32> {
    let mut stream = Stream::new();
    stream
        .write(mmio::DP_CNTL, FORWARD)
        .write(mmio::DP_GUI_MASTER_CNTL, host_control())
        .write(mmio::DST_PITCH_OFFSET, surface(4096, 0))
        .marker(0)
        .rectangle(0, 0, 256, 256)
        .words(&[pm4::write_one(mmio::HOST_DATA.at(0).unwrap(), 2047)])
        .words(&[0; 2047])
        .write(mmio::HOST_DATA_LAST, 0);
    stream.words
}

/// Measure all recordings together, one after the other.
fn recordings(bench: &Bench) {
    let Some(recordings) =
        lapidary_streams::from_environment().expect("the folder holds recordings")
    else {
        return;
    };
    let submission = |recording: Recording| {
        let object = |object: &lapidary_streams::Object| Object {
            size: object.size,
            tiling: object.tiling,
            ..Object::default()
        };
        let objects = recording.stream.objects.iter().map(object).collect();
        Submission::new(recording.stream.words, objects)
    };
    let mut submissions: Vec<Submission> = recordings.into_iter().map(submission).collect();
    let dwords = submissions.iter().map(|one| one.words.len()).sum();
    bench.measure("recordings", dwords, || {
        submissions.iter_mut().for_each(Submission::check);
    });
}

fn main() {
    let bench = &Bench::from_arguments();
    measure(
        bench,
        "2D recorded mix",
        &recorded_mix(),
        recorded_objects(),
    );
    measure(
        bench,
        "2D desktop",
        &desktop(),
        objects(&[4096 * 480, 512 * 256]),
    );
    measure(bench, "2D host data", &host_data(), objects(&[4096 * 256]));
    for (dwords, relocations) in [(500, 2), (4096, 64), (16384, 512)] {
        measure(
            bench,
            &format!("state {dwords}/{relocations}"),
            &state(dwords, relocations),
            objects(&[1 << 20]),
        );
    }
    recordings(bench);
}
