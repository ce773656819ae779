// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How fast the checker of the graphics ring is, in dwords per second. The bench prints figures and judges nothing. Its
//! streams are
//!
//! - resources of one kind each, one a packet, as Mesa sets them;
//! - recordings of real clients, if `LAPIDARY_STREAMS` names a folder with one for each chip, with the chip's name: all
//!   of a chip one after the other, and what they set for shaders.
//!
//! Words choose the streams by their names. `--rounds N` checks each just so often and takes no time: for a program
//! that counts instructions, of which the difference between two numbers of rounds is that of the checker alone.

#[path = "../tests/support/mod.rs"]
mod support;

use std::{
    hint::black_box,
    path::Path,
    time::{Duration, Instant},
};

use lapidary::portable::pm4::MARKER;
use lapidary_streams::{read_dir, Recording, VARIABLE};
use r600::portable::checker::{check_gfx, max_fixups, Chip, Fixup, Object};
use support::{
    object,
    resources::{buffer, packet, set_resource, Texture, PLAIN},
    CHIPS, RV770,
};

/// Dwords that are timed together, about. The fastest batch counts: the others shared the processor.
const BATCH: usize = 100_000;
/// `RADEON_CS_RING_DMA`.
const RING_DMA: u32 = 2;

/// A stream with its objects.
#[derive(Clone)]
struct Stream {
    words: Vec<u32>,
    objects: Vec<Object>,
    fixups: Vec<Fixup>,
}

impl Stream {
    fn new(words: Vec<u32>, sizes: impl IntoIterator<Item = u64>) -> Self {
        Self {
            fixups: vec![Fixup::default(); max_fixups(words.len())],
            objects: sizes.into_iter().map(object).collect(),
            words,
        }
    }

    fn check(&mut self, chip: &Chip) -> bool {
        let words = black_box(&mut self.words);
        let result = check_gfx(words, &mut self.objects, chip, &mut self.fixups);
        black_box(result).is_ok()
    }
}

/// What the command line says.
struct Choice {
    words: Vec<String>,
    rounds: Option<usize>,
}

impl Choice {
    fn from_arguments() -> Self {
        // cargo adds one of its own.
        let mut arguments = std::env::args().skip(1).filter(|word| word != "--bench");
        let mut choice = Self {
            words: Vec::new(),
            rounds: None,
        };
        while let Some(word) = arguments.next() {
            if word == "--rounds" {
                let number = arguments.next().and_then(|number| number.parse().ok());
                choice.rounds = Some(number.expect("--rounds takes a number"));
            } else {
                choice.words.push(word);
            }
        }
        choice
    }

    fn measure(&self, name: &str, streams: &mut [Stream], chip: &Chip) {
        if !self.words.is_empty() && !self.words.iter().any(|word| name.contains(word.as_str())) {
            return;
        }
        let refused = |stream: &mut Stream| !stream.check(chip);
        let refused = streams.iter_mut().map(refused).filter(|no| *no).count();
        let dwords: usize = streams.iter().map(|stream| stream.words.len()).sum();
        if refused > 0 {
            println!(
                "checker r600 {name}: {refused} of {} streams refused",
                streams.len()
            );
            return;
        }
        let number = BATCH.div_ceil(dwords);
        let mut rounds = |rounds: usize| {
            for _ in 0..rounds {
                for stream in &mut *streams {
                    stream.check(chip);
                }
            }
        };
        if let Some(number) = self.rounds {
            rounds(number);
            println!("checker r600 {name}: {dwords} dwords, {number} times");
            return;
        }
        let mut fastest = Duration::MAX;
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(1) {
            let batch = Instant::now();
            rounds(number);
            fastest = fastest.min(batch.elapsed());
        }
        let rate = (number * dwords) as f64 / fastest.as_secs_f64();
        println!("checker r600 {name}: {:.0} million dwords/s", rate / 1e6);
    }

    /// Measure 100 packets that set `resource`.
    fn resources(&self, name: &str, resource: [u32; 7], entries: &[u32]) {
        let words = (0..100).flat_map(|slot| set_resource(slot, &[resource], entries));
        let stream = Stream::new(words.collect(), [1 << 30, 1 << 30]);
        self.measure(name, &mut [stream], &RV770);
    }
}

fn main() {
    let choice = Choice::from_arguments();
    choice.resources("buffers", buffer(0x100, 0xffff, 16), &[0]);
    choice.resources("pictures", PLAIN.words(), &[0, 0]);
    let levels = Texture {
        mode: 4,
        pitch: 1024,
        width: 1024,
        height: 1024,
        last_level: 10,
        mips: 0x40_0000 >> 8,
        ..PLAIN
    };
    choice.resources("textures with eleven levels", levels.words(), &[0, 0]);
    let samplers =
        (0..18).flat_map(|slot| packet(0x6e, &[3 * slot, 0x0120, 0xffc00, 1 << 31], &[]));
    let samplers = Stream::new(samplers.collect(), []);
    choice.measure("samplers", &mut [samplers], &RV770);

    recordings(&choice);
}

/// Measure the recordings of each chip.
fn recordings(choice: &Choice) {
    let Some(top) = std::env::var_os(VARIABLE) else {
        return;
    };
    for (name, chip) in CHIPS {
        let folder = Path::new(&top).join(name);
        if !folder.is_dir() {
            continue;
        }
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
        choice.measure(&format!("streams of {name}"), whole, &chip);
        let parts = &mut streams(constants);
        choice.measure(&format!("resources of {name}"), parts, &chip);
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
