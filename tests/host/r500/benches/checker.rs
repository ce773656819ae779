// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast the checker is, in dwords per second: on a mix of 2D operations, 500 dwords with two relocations; on
//! what it has to copy most of, host data; on 3D state and draws in the sizes that the side-by-side comparison
//! of the drivers uses; and on recordings of real clients, if `LAPIDARY_STREAMS` names a folder of them.
//! Figures, no judgement.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use r500::portable::{
    checker::{check, max_fixups, Chip, Fixup, Object, Options},
    pm4,
    regs::{mmio, pm4::op},
};
use support::{host_control, objects, recorded_mix, recorded_objects, surface, y_x, Stream};

/// A client that owns everything.
const OPTIONS: Options = Options {
    keep_tiling: true,
    hyperz: true,
    cmask: true,
    chip: Chip::Rv515,
    pixel_pipes: 1,
    z_pipes: 1,
};

/// Streams that are timed together. The fastest batch counts: the others shared the processor.
const BATCH: usize = 200;

fn measure(name: &str, words: &[u32], mut objects: Vec<Object>) {
    let mut words = words.to_vec();
    let mut fixups = vec![Fixup::default(); max_fixups(words.len())];
    let mut fastest = Duration::MAX;
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(1) {
        let batch = Instant::now();
        for _ in 0..BATCH {
            let result = check(black_box(&mut words), &mut objects, OPTIONS, &mut fixups);
            assert!(black_box(result).is_ok());
        }
        fastest = fastest.min(batch.elapsed());
    }
    let rate = (BATCH * words.len()) as f64 / fastest.as_secs_f64();
    println!("checker {name}: {:.0} million dwords/s", rate / 1e6);
}

/// State of the shaders and the rest of the pipeline in single registers and short runs, as clients write it,
/// with `relocations` colour buffers in between; `dwords` in all, the rest fillers.
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

fn recordings() {
    let Some(recordings) =
        lapidary_streams::from_environment().expect("the folder holds recordings")
    else {
        return;
    };
    for recording in recordings {
        let stream = recording.stream;
        if stream.words.len() < 500 {
            continue;
        }
        let objects = stream
            .objects
            .iter()
            .map(|object| Object {
                size: object.size,
                tiling: object.tiling,
                ..Object::default()
            })
            .collect();
        measure(&recording.name, &stream.words, objects);
    }
}

fn main() {
    measure("recorded mix", &recorded_mix(), recorded_objects());
    for (dwords, relocations) in [(500, 2), (4096, 64), (16384, 512)] {
        measure(
            &format!("state {dwords}/{relocations}"),
            &state(dwords, relocations),
            objects(&[1 << 20]),
        );
    }
    recordings();

    let mut body = vec![
        host_control(),
        surface(4096, 0),
        0,
        0,
        0,
        y_x(256, 256),
        2048,
    ];
    body.extend(0..2048);
    let mut stream = Stream::new();
    stream
        .write(r500::portable::regs::mmio::DP_CNTL, 3)
        .packet(op::HOSTDATA_BLT, &body)
        .marker(0);
    measure("host data", &stream.words, objects(&[4096 * 256]));
}
