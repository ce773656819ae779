// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast the checker of the graphics ring is ([`lapidary_fuzz::rate`]). The streams are
//!
//! - resources of one kind each, one a packet, as Mesa sets them, and copies by the CP;
//! - recordings of real clients, if `LAPIDARY_STREAMS` names the folder of a chip or of several (see [`of_chips`]): all
//!   of a chip one after the other, and what they set for shaders.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{hint::black_box, path::Path};

use lapidary::portable::{pm4::MARKER, residue::Residue};
use lapidary_fuzz::rate::Bench;
use lapidary_streams::{of_chips, read_dir, Recording, VARIABLE};
use r600::portable::checker::{check_gfx, max_fixups, Chip, Fixup, Object};
use support::{
    object,
    resources::{buffer, packet, set_resource, Texture, PLAIN},
    CHIPS, RV770,
};

/// `RADEON_CS_RING_DMA`.
const RING_DMA: u32 = 2;

/// A stream with its objects.
#[derive(Clone)]
struct Stream {
    words: Vec<u32>,
    objects: Vec<Object>,
    fixups: Vec<Fixup>,
    residue: Residue,
}

impl Stream {
    fn new(words: Vec<u32>, sizes: impl IntoIterator<Item = u64>) -> Self {
        Self {
            fixups: vec![Fixup::default(); max_fixups(words.len())],
            objects: sizes.into_iter().map(object).collect(),
            residue: Residue::default(),
            words,
        }
    }

    fn check(&mut self, chip: &Chip) -> bool {
        let words = black_box(&mut self.words);
        let (fixups, residue) = (&mut self.fixups, &mut self.residue);
        let result = check_gfx(words, &mut self.objects, chip, fixups, residue);
        black_box(result).is_ok()
    }
}

fn measure(bench: &Bench, name: &str, streams: &mut [Stream], chip: &Chip) {
    let name = format!("r600 {name}");
    if !bench.wants(&name) {
        return;
    }
    let refused = |stream: &mut Stream| !stream.check(chip);
    let refused = streams.iter_mut().map(refused).filter(|no| *no).count();
    if refused > 0 {
        println!(
            "checker {name}: {refused} of {} streams refused",
            streams.len()
        );
        return;
    }
    let dwords = streams.iter().map(|stream| stream.words.len()).sum();
    bench.measure(&name, dwords, || {
        for stream in &mut *streams {
            stream.check(chip);
        }
    });
}

/// Measure 100 packets that set `resource`.
fn resources(bench: &Bench, name: &str, resource: [u32; 7], entries: &[u32]) {
    let words = (0..100).flat_map(|slot| set_resource(slot, &[resource], entries));
    let stream = Stream::new(words.collect(), [1 << 30, 1 << 30]);
    measure(bench, name, &mut [stream], &RV770);
}

fn main() {
    let bench = &Bench::from_arguments();
    resources(bench, "buffers", buffer(0x100, 0xffff, 16), &[0]);
    resources(bench, "pictures", PLAIN.words(), &[0, 0]);
    let levels = Texture {
        mode: 4,
        pitch: 1024,
        width: 1024,
        height: 1024,
        last_level: 10,
        mips: 0x40_0000 >> 8,
        ..PLAIN
    };
    resources(
        bench,
        "textures with eleven levels",
        levels.words(),
        &[0, 0],
    );
    let samplers =
        (0..18).flat_map(|slot| packet(0x6e, &[3 * slot, 0x0120, 0xffc00, 1 << 31], &[]));
    let samplers = Stream::new(samplers.collect(), []);
    measure(bench, "samplers", &mut [samplers], &RV770);
    let copies = (0..100).flat_map(|n| packet(0x41, &[256 * n, 0, 0, 0, 256], &[0, 1]));
    let copies = Stream::new(copies.collect(), [1 << 20, 1 << 20]);
    measure(bench, "copies", &mut [copies], &RV770);

    recordings(bench);
}

/// Measure the recordings of each chip.
fn recordings(bench: &Bench) {
    let Some(top) = std::env::var_os(VARIABLE) else {
        return;
    };
    for (name, folder) in of_chips(Path::new(&top), CHIPS.iter().map(|(name, _)| *name)) {
        let Some(&(_, chip)) = CHIPS.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        let mut recordings = read_dir(folder).expect("the folder holds recordings");
        recordings.retain(|recording| recording.stream.ring != RING_DMA);
        let streams = |part: fn(&[u32]) -> Vec<u32>| -> Vec<Stream> {
            let stream = |recording: &Recording| {
                let sizes = recording.stream.objects.iter().map(|object| object.size);
                Stream::new(part(&recording.stream.words), sizes)
            };
            recordings.iter().map(stream).collect()
        };
        let whole = &mut streams(<[u32]>::to_vec);
        measure(bench, &format!("streams of {name}"), whole, &chip);
        let parts = &mut streams(constants);
        measure(bench, &format!("resources of {name}"), parts, &chip);
    }
}

/// Return the packets of a stream that set constants of any kind, with their markers.
fn constants(words: &[u32]) -> Vec<u32> {
    let mut found = Vec::new();
    let mut at = 0;
    let mut wanted = false;
    while at < words.len() {
        let header = words[at];
        let length = match header >> 30 {
            2 => 1,
            _ => ((header >> 16) & 0x3fff) as usize + 2,
        };
        if header != MARKER {
            let opcode = (header >> 8) & 0xff;
            wanted = header >> 30 == 3 && (0x6a..=0x6f).contains(&opcode);
        }
        if wanted {
            found.extend(&words[at..at + length]);
        }
        at += length;
    }
    found
}
