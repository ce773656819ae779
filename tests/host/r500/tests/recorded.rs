// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What real clients send is let through.
//!
//! The recordings are made at run time (`make mesa`): streams of unmodified programs on upstream's driver. The
//! environment variable `LAPIDARY_STREAMS` names their folder; without it there is nothing to look at, and an
//! empty folder is a failure.

mod support;

use lapidary_streams::from_environment;
use r500::portable::checker::{Chip, Object, Options};
use support::run;

/// `RADEON_CS_KEEP_TILING_FLAGS`.
const KEEP_TILING: u32 = 1;

/// Return options for a recording. Recordings do not say what the client owned at the time. Mesa asks for both as soon
/// as it can use them.
fn options(flags: u32) -> Options {
    Options {
        keep_tiling: flags & KEEP_TILING != 0,
        hyperz: true,
        cmask: true,
        chip: Chip::Rv515,
        pixel_pipes: 1,
        z_pipes: 1,
    }
}

#[test]
fn recorded_streams_are_admitted() {
    let Some(recordings) = from_environment().expect("the folder holds recordings") else {
        println!("LAPIDARY_STREAMS is not set: no recordings");
        return;
    };
    let mut refused = Vec::new();
    let (mut streams, mut dwords, mut narrowed) = (0, 0, 0);
    for recording in &recordings {
        let stream = &recording.stream;
        let objects: Vec<Object> = stream
            .objects
            .iter()
            .map(|object| Object {
                size: object.size,
                tiling: object.tiling,
                ..Object::default()
            })
            .collect();
        streams += 1;
        dwords += stream.words.len();
        match run(&stream.words, &objects, options(stream.flags)) {
            Ok(checked) => {
                let moved = |i: usize| checked.fixups.iter().any(|f| f.dword as usize == i);
                narrowed += stream
                    .words
                    .iter()
                    .zip(&checked.words)
                    .enumerate()
                    .filter(|(i, (before, after))| before != after && !moved(*i))
                    .count();
                // What is written must have been announced as written, or the kernel would not wait for it.
                for (i, (object, used)) in stream.objects.iter().zip(&checked.objects).enumerate() {
                    if used.access.writes && object.write == 0 {
                        refused.push(format!(
                            "{}: writes object {i}, which was announced as read",
                            recording.name
                        ));
                    }
                }
            }
            Err(refusal) => {
                let around = refusal.position as usize;
                let start = around.saturating_sub(2);
                let end = (around + 3).min(stream.words.len());
                refused.push(format!(
                    "{}: {refusal:?}: {}; words {:x?}",
                    recording.name,
                    refusal.reason.text(),
                    &stream.words[start..end],
                ));
            }
        }
    }
    println!(
        "{streams} streams, {dwords} dwords, {} refused, {narrowed} dwords narrowed",
        refused.len()
    );
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}
