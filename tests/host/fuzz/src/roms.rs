// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Images of a video BIOS of all kinds: a family's ROMs, spoilt, and programs made of operations that have a form.
//!
//! Whatever an image is, reading it and running each of its tables ends within the bounds, and a chip behind the guard
//! has nothing to object to. Each image is made from a number of its own. A family adds a chip that only stores
//! ([`Chip`]), and what a hostile program would think of ([`Family`]).
//!
//! | setting | what |
//! | --- | --- |
//! | `LAPIDARY_ROMS` | how many images; 3000 if it is not set |
//! | `SEED` | number of the first image; 1 if it is not set |

use std::ops::RangeInclusive;

use fastrand::Rng;
use lapidary::portable::atom::guard::{Guard, Rules};
use lapidary::portable::atom::{
    Card, MEMORY, MOST_STEPS, MOST_WAIT_US, Stopped, Why, clocks, post, run,
};
use lapidary_model::atom::image::{Image, data};
use lapidary_registers::Register;

/// A chip that only stores, and notes each write that posting must never make.
pub trait Chip: Card {
    /// Fill all registers with what `word` returns.
    fn fill(&mut self, word: impl FnMut() -> u32);

    /// Return where writes arrived that must not be made.
    fn objections(&self) -> &[String];

    /// Return how many reads, writes and microseconds of waiting there were.
    fn cost(&self) -> [u64; 3];
}

/// What the images of a family are made from.
pub struct Family {
    /// PCI device id of the made images.
    pub device: u16,
    /// Index and data registers, by byte offset.
    pub pairs: &'static [u32],
    /// The registers of the window.
    pub registers: Vec<&'static Register>,
    /// Numbers of dwords end here that an operand may name.
    pub most: u16,
    /// Numbers behind a pair that are dangerous.
    pub behind: RangeInclusive<u32>,
    /// Images to be spoilt.
    pub seeds: Vec<Vec<u8>>,
}

fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is a number")),
    )
}

/// How often something of interest has happened.
#[derive(Debug, Default)]
struct Report {
    ended: u64,
    stopped: u64,
    too_long: u64,
    too_slow: u64,
    dropped: u64,
    written: u64,
}

impl Report {
    fn count(&mut self, result: Result<(), Stopped>) {
        match result {
            Ok(()) => self.ended += 1,
            Err(stopped) => {
                self.stopped += 1;
                self.too_long += u64::from(stopped.why == Why::TooLong);
                self.too_slow += u64::from(stopped.why == Why::TooSlow);
            }
        }
    }
}

/// The images of a family, from a number of their own.
struct Maker<'a> {
    family: &'a Family,
    rng: Rng,
}

impl Maker<'_> {
    /// Return a number of a register that a hostile program would think of.
    fn register(&mut self) -> u16 {
        let Family {
            pairs, registers, ..
        } = self.family;
        let rng = &mut self.rng;
        match rng.u8(0..8) {
            0..4 => (pairs[rng.usize(0..pairs.len())] / 4) as u16,
            4..7 => (registers[rng.usize(0..registers.len())].offset / 4) as u16,
            _ => rng.u16(0..self.family.most),
        }
    }

    /// Return a number that leads somewhere if it arrives in an index register.
    fn value(&mut self) -> u32 {
        match self.rng.u8(0..8) {
            0..2 => u32::from(self.register()) * 4,
            2 => u32::from(self.register()),
            3 => self.rng.u32(self.family.behind.clone()),
            4 => 0x00ff_0000 | self.rng.u32(0..0x10),
            5 => 1 << self.rng.u32(0..32),
            6 => 0,
            _ => self.rng.u32(..),
        }
    }

    /// Append the operand of a kind, as wide as the attribute byte says.
    fn operand(&mut self, kind: u8, attribute: u8, bytes: &mut Vec<u8>) {
        match kind {
            0 => bytes.extend(self.register().to_le_bytes()),
            4 => bytes.extend(self.rng.u16(0..0x200).to_le_bytes()),
            5 => self.number(attribute, bytes),
            2 => bytes.push(self.rng.u8(0..0x49)),
            _ => bytes.push(self.rng.u8(0..0x20)),
        }
    }

    /// Append a number to the program.
    fn number(&mut self, attribute: u8, bytes: &mut Vec<u8>) {
        let number = self.value().to_le_bytes();
        let len = match (attribute >> 3) & 7 {
            0 => 4,
            1..4 => 2,
            _ => 1,
        };
        bytes.extend(&number[..len]);
    }

    /// Append one operation with its operands.
    fn operation(&mut self, bytes: &mut Vec<u8>) {
        /// The first numbers of operations that compute.
        const GROUPS: [u8; 16] = [
            1, 7, 13, 19, 25, 31, 37, 43, 49, 60, 74, 84, 92, 103, 109, 115,
        ];
        let rng = &mut self.rng;
        match rng.u8(0..32) {
            0..22 => {
                // Mostly moves of whole words to registers.
                let group = if rng.bool() {
                    1
                } else {
                    GROUPS[rng.usize(0..GROUPS.len())]
                };
                let place = if rng.bool() { 0 } else { rng.u8(0..6) };
                let attribute = match rng.u8(0..4) {
                    0..2 => 5,
                    2 => rng.u8(0..8),
                    _ => rng.u8(..),
                };
                bytes.extend([group + place, attribute]);
                let kind = [0, 1, 2, 3, 6, 7][usize::from(place)];
                self.operand(kind, attribute, bytes);
                match group {
                    84 => {}
                    19 | 25 => bytes.push(self.rng.u8(0..40)),
                    _ => {
                        if group == 92 {
                            self.number(attribute, bytes);
                        }
                        self.operand(attribute & 7, attribute, bytes);
                    }
                }
            }
            22..25 => bytes.extend([55, [0, 2, 3, 4][rng.usize(0..4)], 0]),
            25 => bytes.extend([58, rng.u8(..), rng.u8(0..2)]),
            26 => {
                let [low, high] = rng.u16(0..200).to_le_bytes();
                bytes.extend([rng.u8(67..74), low, high]);
            }
            27 => bytes.extend([rng.u8(80..82), rng.u8(..)]),
            28 => bytes.extend([82, rng.u8(0..4)]),
            29 => bytes.extend([102, rng.u8(0..36)]),
            30 => bytes.extend([66, 5, rng.u8(..), 0, 0, 0, 0x5a, 0x5a]),
            _ => bytes.extend([rng.u8(56..60), rng.u8(..)]),
        }
    }

    fn table(&mut self) -> Vec<u8> {
        let mut bytes = vec![0, 0, 1, 1, 0, self.rng.u8(..)];
        for _ in 0..self.rng.u8(1..60) {
            self.operation(&mut bytes);
        }
        bytes.push(91);
        bytes
    }

    /// Return programs of ports.
    fn ports(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for port in [2, 3, 4, 0x82, 0x83, 0x84] {
            bytes.extend([1, port]);
            for _ in 0..self.rng.u8(1..8) {
                let [low, high] = self.register().to_le_bytes();
                let rng = &mut self.rng;
                match rng.u8(0..8) {
                    0 => bytes.extend([2, low, high]),
                    1..4 => bytes.extend([3, low, high]),
                    step @ 4..6 => bytes.extend([step, rng.u8(0..34), rng.u8(0..34)]),
                    step => bytes.extend([step, rng.u8(0..34), rng.u8(0..34), rng.u8(0..34)]),
                }
            }
            bytes.extend([9, 0, 0]);
        }
        bytes.push(0);
        bytes
    }

    /// Return an image of programs, with the clocks that posting wants.
    fn made(&mut self) -> Vec<u8> {
        let mut clocks = vec![0; 0x55];
        for at in [4, 8] {
            clocks[at..at + 4].copy_from_slice(&40_000u32.to_le_bytes());
        }
        clocks[0x4e..0x50].copy_from_slice(&2_700u16.to_le_bytes());
        let ports = self.ports();
        let mut image = Image::new(self.family.device)
            .data(data::FIRMWARE_INFO, 1, 1, &clocks)
            .data(data::INDIRECT_IO, 1, 1, &ports);
        for number in [0, 1, 2, 3, 57] {
            image = image.command(number, self.table());
        }
        image.build()
    }

    /// Return an image of a family, spoilt or made.
    fn image(&mut self) -> Vec<u8> {
        let seeds = &self.family.seeds;
        let mut image = match self.rng.u8(0..3) {
            0 => seeds[self.rng.usize(0..seeds.len())].clone(),
            _ => self.made(),
        };
        if self.rng.bool() {
            spoil(&mut self.rng, &mut image);
        }
        image
    }
}

/// Make an image worse in some places.
fn spoil(rng: &mut Rng, image: &mut Vec<u8>) {
    for _ in 0..rng.u8(0..16) {
        let len = image.len();
        // What is read decides most: the header, the lists and the tables' first bytes.
        let at = if rng.bool() {
            rng.usize(0..len)
        } else {
            rng.usize(0..len.min(0x200))
        };
        match rng.u8(0..6) {
            0 => image[at] = rng.u8(..),
            1 => image[at] ^= 1 << rng.u8(0..8),
            2 => image[at] = [0, 0xff, 0x80, 91, 82, 67][rng.usize(0..6)],
            3 => {
                let from = rng.usize(0..len);
                let count = rng.usize(0..32).min(len - at).min(len - from);
                image.copy_within(from..from + count, at);
            }
            4 => image.truncate(rng.usize(1..=len)),
            _ => {
                let size = rng.usize(1..0x1_0000);
                if rng.u8(0..8) == 0 {
                    image.resize(size, rng.u8(..));
                }
            }
        }
    }
}

/// Says how to repeat an image that has made the test fail, by whatever.
struct Repeat(u64);

impl Drop for Repeat {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("SEED={} LAPIDARY_ROMS=1 repeats it", self.0);
        }
    }
}

/// Read image `number` and run it in all ways, on each of the chips.
fn image<C: Chip>(
    family: &Family,
    number: u64,
    chips: &[fn() -> (C, &'static Rules)],
    report: &mut Report,
) {
    let _repeat = Repeat(number);
    let rng = Rng::with_seed(number);
    let mut maker = Maker { family, rng };
    let image = maker.image();
    let Maker { mut rng, .. } = maker;
    let _ = clocks(&image);
    let mut memory = vec![0; MEMORY];
    let tables = [0, 57, rng.u8(0..4), rng.u8(..)];
    for (round, chip) in chips.iter().cycle().take(1 + tables.len()).enumerate() {
        let (mut chip, rules) = chip();
        chip.fill(|| rng.u32(..));
        let mut guard = Guard::new(&mut chip, rules);
        let result = match round.checked_sub(1) {
            None => post(&image, &mut memory, &mut guard),
            Some(index) => run(&image, tables[index], &[1, 2], &mut memory, &mut guard),
        };
        report.count(result);
        report.dropped += guard.dropped().map_or(0, |dropped| dropped.count.into());
        let [reads, writes, waited] = chip.cost();
        report.written += writes;
        assert_eq!(chip.objections(), [""; 0]);
        assert!(waited <= MOST_WAIT_US.into());
        // A step reads a source and a destination and writes the destination, at most.
        assert!(reads <= 2 * u64::from(MOST_STEPS));
        assert!(writes <= MOST_STEPS.into());
    }
}

/// Check that any image ends, and writes what posting needs and no more.
///
/// # Panics
/// If one does not, after a line that says how to repeat it. If hardly any image ends, is stopped or writes.
pub fn any_image_ends<C: Chip>(family: &Family, chips: &[fn() -> (C, &'static Rules)]) {
    let seed = setting("SEED").unwrap_or(1);
    let images = setting("LAPIDARY_ROMS").unwrap_or(3000);
    println!("SEED={seed} LAPIDARY_ROMS={images}");
    let mut report = Report::default();
    for number in 0..images {
        image(family, seed.wrapping_add(number), chips, &mut report);
    }
    println!("{report:?}");
    if images >= 1000 {
        let Report {
            ended,
            stopped,
            too_long,
            too_slow,
            dropped,
            written,
        } = report;
        for count in [ended, stopped, too_long, too_slow, dropped, written] {
            assert!(count > 10, "{report:?}");
        }
    }
}

/// Return how many of the first `images` made images do what a chip objects to, if no guard stands before it.
pub fn unguarded<C: Chip>(family: &Family, images: u64, chip: fn() -> (C, &'static Rules)) -> u64 {
    let objects = |number| {
        let rng = Rng::with_seed(number);
        let image = Maker { family, rng }.made();
        let (mut chip, _) = chip();
        let _ = post(&image, &mut vec![0; MEMORY], &mut chip);
        !chip.objections().is_empty()
    };
    (0..images).filter(|number| objects(*number)).count() as u64
}
