// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pixels of the 2D engine, compared with what the CPU draws after the same description
//! (`lapidary_chrome9_client::reference`). Every byte of the objects is compared, so what lies beside a rectangle counts, too.

use anyhow::{Context as _, Result, ensure};
use fastrand::Rng;
use lapidary_chrome9_client::blit::{
    Blit, Depth, Keys, Padding, Rect, Source, Surface, needs_source,
};
use lapidary_chrome9_client::reference::{self, Memory};
use lapidary_chrome9_client::{Bo, Client as _, Device, Place, Stream, emit};
use lapidary_harness::{Context, Test};
use std::rc::Rc;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("drawing/fills", fills),
        Test::new("drawing/fills_begin_anywhere", anywhere),
        Test::new("drawing/copies_between_objects", copies),
        Test::new("drawing/copies_in_every_direction", directions),
        Test::new("drawing/copies_between_pitches", pitches),
        Test::new("drawing/pictures_of_two_colours", mono),
        Test::new("drawing/transparent_pictures", transparent),
        Test::new("drawing/pictures_of_colours", colours),
        Test::new("drawing/all_raster_operations", rops),
        Test::new("drawing/clips", clips),
        Test::new("drawing/keys", keys),
        Test::new("drawing/byte_masks", masks),
        Test::new("drawing/the_largest_rectangle", largest),
        Test::new("drawing/random_blits", random).limit(120),
        Test::new("drawing/long_streams", long),
        Test::new("drawing/is_done_by_the_engine", engine).needs_control(),
    ]
}

/// Bytes of an object of a board.
const BYTES: usize = 0x4000;

/// Two objects, and the memory in which the CPU draws the same.
struct Board {
    device: Rc<Device>,
    objects: Vec<Bo>,
    memory: Memory,
}

impl Board {
    /// Make objects with random bytes: a frame buffer's and one of system pages.
    fn new(context: &mut Context) -> Result<Board> {
        Board::on(context.device()?, &[BYTES; 2])
    }

    fn on(device: Rc<Device>, sizes: &[usize]) -> Result<Board> {
        let mut rng = Rng::with_seed(sizes.len() as u64);
        let mut objects = Vec::new();
        let mut memory = Memory::new();
        for (i, &bytes) in sizes.iter().enumerate() {
            let bo = device.create(bytes as u64, Place::ALL[i % 2])?;
            let words: Vec<u32> = (0..bo.size() / 4).map(|_| rng.u32(..)).collect();
            bo.write(&words)?;
            memory.push(words.iter().flat_map(|word| word.to_le_bytes()).collect());
            objects.push(bo);
        }
        Ok(Board {
            device,
            objects,
            memory,
        })
    }

    /// Draw by the engine and by the CPU, in one submission.
    fn draw(&mut self, blits: &[Blit]) -> Result<()> {
        let handles: Vec<u32> = self.objects.iter().map(Bo::handle).collect();
        let mut stream = Stream::new();
        for blit in blits {
            emit::blit(&mut stream, &handles, blit);
            reference::draw(&mut self.memory, blit);
        }
        self.device.submit(&stream).map_err(|error| {
            let why = self.device.refusal();
            anyhow::Error::from(error).context(format!("{why:x?} of {blits:x?}"))
        })
    }

    /// Compare every byte.
    fn check(&self) -> Result<()> {
        for (i, (bo, expected)) in self.objects.iter().zip(&self.memory).enumerate() {
            let seen = bo.read()?;
            let expected = expected
                .chunks_exact(4)
                .map(|bytes| u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
            for (at, (seen, expected)) in seen.iter().zip(expected).enumerate() {
                ensure!(
                    *seen == expected,
                    "object {i}, byte {:#x}: expected {expected:#010x}, found {seen:#010x}",
                    at * 4
                );
            }
        }
        Ok(())
    }

    /// Draw and compare.
    fn try_it(&mut self, what: &str, blits: &[Blit]) -> Result<()> {
        self.draw(blits).with_context(|| what.to_owned())?;
        self.check().with_context(|| what.to_owned())
    }
}

const fn surface(object: usize, offset: u32, pitch: u32) -> Surface {
    Surface {
        object,
        offset,
        pitch,
    }
}

/// The surface of most tests here.
const TARGET: Surface = surface(0, 0, 256);
const OTHER: Surface = surface(1, 64, 192);

fn fills(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for depth in Depth::ALL {
        for rect in [
            Rect::new(0, 0, 1, 1),
            Rect::new(3, 2, 17, 9),
            Rect::new(0, 5, 48, 1),
            Rect::new(31, 0, 1, 50),
        ] {
            for target in [TARGET, OTHER] {
                let fill = Blit::fill(depth, target, rect, 0x1234_5678);
                board.try_it(&format!("{depth:?}, {rect:?}, {target:?}"), &[fill])?;
            }
        }
    }
    Ok(())
}

/// Rectangles at any pixel of surfaces at any multiple of 8 bytes.
fn anywhere(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for depth in Depth::ALL {
        let mut blits = Vec::new();
        for i in 0..40 {
            let target = surface(i as usize % 2, 8 * i, 8 * (20 + i));
            let rect = Rect::new(i, i / 2, 1 + i % 7, 1 + i % 5);
            blits.push(Blit::fill(depth, target, rect, 0x0101_0101 * i));
        }
        board.try_it(&format!("{depth:?}"), &blits)?;
    }
    Ok(())
}

fn copies(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for depth in Depth::ALL {
        for (to, from) in [(TARGET, OTHER), (OTHER, TARGET)] {
            for way in 0..4 {
                let rect = Rect::new(3, 1, 29, 13);
                let mut copy = Blit::copy(depth, to, rect, from, (5, 7));
                (copy.leftwards, copy.upwards) = (way & 1 != 0, way & 2 != 0);
                board.try_it(&format!("{depth:?}, way {way}"), &[copy])?;
            }
        }
    }
    Ok(())
}

/// Copies within a surface, of rectangles that overlap, in each of the eight directions and onto themselves.
fn directions(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for depth in Depth::ALL {
        for dx in [-3, 0, 3] {
            for dy in [-2, 0, 2] {
                let at = |base: u32, d: i32| base.wrapping_add_signed(d);
                let rect = Rect::new(at(8, dx), at(8, dy), 20, 12);
                let copy = Blit::copy(depth, TARGET, rect, TARGET, (8, 8));
                board.try_it(&format!("{depth:?} by {dx}, {dy}"), &[copy])?;
            }
        }
    }
    Ok(())
}

fn pitches(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for (i, (to, from)) in [(160, 168), (8 * 100, 128), (2040, 2048), (128, 16)]
        .into_iter()
        .enumerate()
    {
        let rows = 6;
        let rect = Rect::new(0, 0, 4, rows);
        let copy = Blit::copy(
            Depth::Bits32,
            surface(0, 8 * i as u32, to),
            rect,
            surface(1, 0, from),
            (0, 0),
        );
        board.try_it(&format!("from {from} to {to}"), &[copy])?;
    }
    Ok(())
}

fn bits(rng: &mut Rng, rect: Rect) -> Vec<bool> {
    (0..rect.width * rect.height).map(|_| rng.bool()).collect()
}

/// Each way of padding, with widths around bytes and dwords.
fn padded(context: &mut Context, zeroes: Option<u32>) -> Result<()> {
    let mut board = Board::new(context)?;
    let mut rng = Rng::with_seed(3);
    for depth in Depth::ALL {
        for padding in Padding::ALL {
            for width in [1, 7, 8, 9, 15, 16, 31, 32, 33, 40] {
                let rect = Rect::new(2, 3, width, 5);
                let mut blit = Blit::mono(
                    depth,
                    TARGET,
                    rect,
                    bits(&mut rng, rect),
                    0xffff_0f0f,
                    zeroes,
                );
                if let Source::Mono { padding: rows, .. } = &mut blit.source {
                    *rows = padding;
                }
                board.draw(&[blit])?;
            }
            board
                .check()
                .with_context(|| format!("{depth:?}, {padding:?}"))?;
        }
    }
    Ok(())
}

fn mono(context: &mut Context) -> Result<()> {
    padded(context, Some(0x00ff_1234))
}

fn transparent(context: &mut Context) -> Result<()> {
    padded(context, None)
}

fn colours(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    let mut rng = Rng::with_seed(4);
    for depth in Depth::ALL {
        for width in [1, 2, 3, 4, 5, 30] {
            let rect = Rect::new(1, 1, width, 6);
            let pixels = (0..width * 6).map(|_| rng.u32(..)).collect();
            board.draw(&[Blit::upload(depth, TARGET, rect, pixels)])?;
        }
        board.check().with_context(|| format!("{depth:?}"))?;
    }
    Ok(())
}

/// All 256, from a surface, from the CPU, and of those that need no source also without one.
fn rops(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    let mut rng = Rng::with_seed(5);
    for depth in Depth::ALL {
        for rop in 0..=255 {
            let rect = Rect::new(rng.u32(0..9), rng.u32(0..9), 6, 3);
            let pattern = rng.u32(..);
            let blits = if needs_source(rop) {
                let pixels = (0..18).map(|_| rng.u32(..)).collect();
                vec![
                    Blit::copy(depth, TARGET, rect, OTHER, (1, 2)),
                    Blit::upload(depth, TARGET, rect, pixels),
                    Blit::mono(depth, TARGET, rect, bits(&mut rng, rect), 0xa5, Some(0x3c)),
                ]
            } else {
                vec![Blit::fill(depth, TARGET, rect, 0)]
            };
            let blits: Vec<Blit> = blits
                .into_iter()
                .map(|blit| blit.with_rop(rop).with_pattern(pattern))
                .collect();
            board.draw(&blits)?;
            if rop % 16 == 15 {
                board
                    .check()
                    .with_context(|| format!("{depth:?}, one of the 16 up to {rop:#x}"))?;
            }
        }
    }
    Ok(())
}

fn clips(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    let rect = Rect::new(10, 6, 20, 10);
    let mut rng = Rng::with_seed(6);
    for clip in [
        rect,
        Rect::new(0, 0, 60, 40),
        Rect::new(12, 8, 5, 3),
        Rect::new(0, 0, 11, 7),
        Rect::new(29, 15, 9, 9),
        Rect::new(0, 0, 10, 40),
        Rect::new(30, 0, 4, 40),
        Rect::new(15, 0, 1, 1),
    ] {
        let pixels = (0..200).map(|_| rng.u32(..)).collect();
        for blit in [
            Blit::fill(Depth::Bits32, TARGET, rect, rng.u32(..)),
            Blit::copy(Depth::Bits32, TARGET, rect, OTHER, (0, 0)),
            Blit::copy(Depth::Bits32, TARGET, rect, TARGET, (9, 5)),
            Blit::upload(Depth::Bits32, TARGET, rect, pixels),
            Blit::mono(Depth::Bits32, TARGET, rect, bits(&mut rng, rect), 1, None),
        ] {
            board.try_it(&format!("{clip:?}"), &[blit.clipped(clip)])?;
        }
    }
    // Clipping is off again.
    let fill = Blit::fill(Depth::Bits32, TARGET, rect, 77);
    board.try_it("without", &[fill])
}

fn keys(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    let mut rng = Rng::with_seed(7);
    for depth in Depth::ALL {
        for case in 0..8 {
            let [source, destination, inverted] = [1, 2, 4].map(|bit| case & bit != 0);
            let rect = Rect::new(3, 3, 16, 8);
            // Three colours on both sides; upper bits that the depth has not are no part of the key.
            let colour = |rng: &mut Rng| rng.choice([1, 0x8001, 0x7f00_0001]).unwrap_or(1);
            let below = (0..128).map(|_| colour(&mut rng)).collect();
            let above = (0..128).map(|_| colour(&mut rng)).collect();
            let keys = Keys {
                source: source.then_some(0x8001),
                destination: destination.then_some(0x7f00_0001),
                inverted,
            };
            let upload = Blit::upload(depth, TARGET, rect, above).keyed(keys);
            let blits = [Blit::upload(depth, TARGET, rect, below), upload];
            board.try_it(&format!("{depth:?}, {keys:?}"), &blits)?;
            let copy = Blit::copy(depth, OTHER, rect, TARGET, (3, 3)).keyed(keys);
            board.try_it(&format!("{depth:?}, a copy by {keys:?}"), &[copy])?;
            if !source {
                let fill = Blit::fill(depth, TARGET, rect, 5).keyed(keys);
                board.try_it(&format!("{depth:?}, a fill by {keys:?}"), &[fill])?;
            }
        }
    }
    Ok(())
}

fn masks(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for depth in Depth::ALL {
        for kept in 0..16 {
            let rect = Rect::new(1 + kept, kept, 9, 4);
            let fill = Blit::fill(depth, TARGET, rect, 0x9abc_def0).keeping(kept);
            let copy = Blit::copy(depth, OTHER, rect, TARGET, (2, 2)).keeping(kept);
            board.try_it(&format!("{depth:?}, mask {kept:#x}"), &[fill, copy])?;
        }
    }
    Ok(())
}

/// A rectangle of 4096 rows, and one of 4096 columns, which are all that there can be.
fn largest(context: &mut Context) -> Result<()> {
    const MOST: u32 = 4096;
    let device = context.device()?;
    let bytes = (MOST * 64) as usize;
    let mut board = Board::on(device, &[bytes, bytes])?;
    let rows = Rect::new(1, 0, 7, MOST);
    let narrow = |object| surface(object, 0, 64);
    let columns = Rect::new(0, 0, MOST, 8);
    let wide = |object| surface(object, 0, 8192);
    board.draw(&[
        Blit::fill(Depth::Bits32, narrow(0), rows, 0x55),
        Blit::copy(Depth::Bits16, wide(1), columns, wide(0), (0, 0)),
    ])?;
    board.check()
}

/// Return a random blit whose pixels are in objects of [`BYTES`] bytes.
fn any(rng: &mut Rng) -> Blit {
    let depth = rng.choice(Depth::ALL).unwrap_or(Depth::Bits32);
    let plane = |rng: &mut Rng, object| surface(object, 8 * rng.u32(0..64), 8 * rng.u32(16..32));
    // 61 rows of the longest pitch are in an object, and 32 pixels of 32 bits in the shortest.
    let rect = Rect::new(
        rng.u32(0..=12),
        rng.u32(0..=40),
        rng.u32(1..=20),
        rng.u32(1..=20),
    );
    let from = (rng.u32(0..=12), rng.u32(0..=40));
    let count = rect.width * rect.height;
    let colour = |rng: &mut Rng| rng.choice([0, 1, 0x55aa_55aa, u32::MAX]).unwrap_or(0);
    let object = rng.usize(0..2);
    let target = plane(rng, object);
    let mut blit = match rng.u8(0..5) {
        0 => Blit::fill(depth, target, rect, 0),
        1 => Blit::copy(depth, target, rect, target, from),
        2 => {
            let mut copy = Blit::copy(depth, target, rect, plane(rng, 1 - object), from);
            (copy.leftwards, copy.upwards) = (rng.bool(), rng.bool());
            copy
        }
        3 => {
            let zeroes = rng.bool().then(|| colour(rng));
            Blit::mono(depth, target, rect, bits(rng, rect), colour(rng), zeroes)
        }
        _ => {
            let pixels = (0..count).map(|_| colour(rng)).collect();
            Blit::upload(depth, target, rect, pixels)
        }
    };
    blit.pattern = colour(rng);
    let rop = rng.u8(..);
    if rng.bool() && needs_source(rop) == needs_source(blit.rop) {
        blit.rop = rop;
    }
    if rng.bool() {
        let clip = Rect::new(rng.u32(0..20), rng.u32(0..40), 15, 25);
        blit.clip = Some(clip);
    }
    if rng.u8(0..3) == 0 {
        blit.kept = rng.u32(0..16);
    }
    if !matches!(blit.source, Source::Mono { .. }) {
        blit.keys = Keys {
            source: (blit.source != Source::None && rng.bool()).then(|| colour(rng)),
            destination: rng.bool().then(|| colour(rng)),
            inverted: rng.bool(),
        };
    }
    blit
}

fn random(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    let mut rng = Rng::with_seed(8);
    for round in 0..60 {
        let blits: Vec<Blit> = (0..10).map(|_| any(&mut rng)).collect();
        board.try_it(&format!("round {round}"), &blits)?;
    }
    Ok(())
}

/// Streams of as many dwords as there may be, one behind the other without a wait.
fn long(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    for round in 0..4 {
        let blits: Vec<Blit> = (0..2500)
            .map(|i| {
                let rect = Rect::new(i % 60, (i / 60) % 60, 1, 1);
                Blit::fill(Depth::Bits32, TARGET, rect, round * 10_000 + i)
            })
            .collect();
        board.draw(&blits)?;
    }
    board.check()
}

/// The model counts what the engine draws. The driver draws nothing by the CPU.
fn engine(context: &mut Context) -> Result<()> {
    let mut board = Board::new(context)?;
    board.check()?;
    let before = context.control()?.quiet()?;
    let rect = Rect::new(0, 0, 8, 8);
    board.draw(&[
        Blit::fill(Depth::Bits32, TARGET, rect, 1),
        Blit::fill(Depth::Bits32, TARGET, rect, 2).with_rop(0x5a),
        Blit::copy(Depth::Bits32, TARGET, rect, TARGET, (9, 9)),
        Blit::upload(Depth::Bits32, TARGET, rect, vec![3; 64]),
        Blit::mono(Depth::Bits32, TARGET, rect, vec![true; 64], 4, None),
        Blit::mono(Depth::Bits32, TARGET, rect, vec![true; 64], 5, Some(6)),
    ])?;
    board.check()?;
    let seen = context.control()?.quiet()?.since(&before);
    let count = |name: &str| seen.get(name).copied().unwrap_or(0);
    // A move of the object to the frame buffer may be one more fill or copy.
    ensure!(
        count("fills") >= 2 && count("copies") >= 1 && count("uploads") == 3,
        "{seen:?}"
    );
    Ok(())
}
