// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Random blits of all kinds, and what they do to the contents.

use super::Chrome9;
use crate::objects::{Mark, Object, PITCH};
use lapidary_chrome9_client::blit::{
    Blit, Depth, Keys, Padding, Rect, Source, Surface, needs_source,
};
use lapidary_chrome9_client::reference;

/// How many bits pixels have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depths {
    /// Any number that there is.
    All,
    /// 32. Dwords keep their marks then.
    Only32,
}

/// Return the handles of objects, in whose order blits name them.
pub fn handles(objects: &[Object<Chrome9>]) -> Vec<u32> {
    objects.iter().map(|object| object.bo.handle()).collect()
}

/// The most rows that a position and a rectangle can have.
const ROWS: u32 = 4096;

/// Return some blits of the objects, of which there is at least one.
pub fn some(
    rng: &mut fastrand::Rng,
    objects: &[Object<Chrome9>],
    mark: Mark,
    depths: Depths,
) -> Vec<Blit> {
    (0..rng.u32(1..=6))
        .map(|_| any(rng, objects, mark, depths))
        .collect()
}

/// Return a surface in an object, the one that the other steps use or another, and its size in bytes and rows.
fn plane(
    rng: &mut fastrand::Rng,
    objects: &[Object<Chrome9>],
    object: usize,
) -> (Surface, u32, u32) {
    let bytes = objects[object].bo.size() as u32;
    let (offset, pitch) = if rng.bool() {
        (0, PITCH)
    } else {
        (8 * rng.u32(..128), 8 * rng.u32(4..64))
    };
    let surface = Surface {
        object,
        offset,
        pitch,
    };
    // The engine counts no more rows.
    (surface, pitch, ((bytes - offset) / pitch).min(ROWS))
}

/// Return a beginning in `room`, and a length of at most `most` from there.
fn span(rng: &mut fastrand::Rng, most: u32, room: u32) -> (u32, u32) {
    let length = rng.u32(1..=most.min(room));
    (rng.u32(0..=room - length), length)
}

fn any(rng: &mut fastrand::Rng, objects: &[Object<Chrome9>], mark: Mark, depths: Depths) -> Blit {
    let colour = |rng: &mut fastrand::Rng| mark.word(rng.u8(..));
    let depth = match depths {
        Depths::All => [Depth::Bits8, Depth::Bits16, Depth::Bits32, Depth::Bits32][rng.usize(..4)],
        Depths::Only32 => Depth::Bits32,
    };
    let (to, from) = (rng.usize(..objects.len()), rng.usize(..objects.len()));
    let (target, width, rows) = plane(rng, objects, to);
    let columns = width / depth.bytes();
    // Most are small, because the CPU draws them, too.
    let most = if rng.u32(..6) == 0 { 128 } else { 20 };
    let ((x, width), (y, height)) = (span(rng, most, columns), span(rng, most, rows));
    let rect = Rect::new(x, y, width, height);
    let count = width * height;
    let mut blit = match rng.u32(..5) {
        0 => Blit::fill(depth, target, rect, colour(rng)),
        1 => {
            let at = (rng.u32(0..=columns - width), rng.u32(0..=rows - height));
            Blit::copy(depth, target, rect, target, at)
        }
        2 if from != to => {
            let (source, width, rows) = plane(rng, objects, from);
            let columns = width / depth.bytes();
            let rect = Rect::new(x, y, rect.width.min(columns), height.min(rows));
            let at = (
                rng.u32(0..=columns - rect.width),
                rng.u32(0..=rows - rect.height),
            );
            let mut copy = Blit::copy(depth, target, rect, source, at);
            (copy.leftwards, copy.upwards) = (rng.bool(), rng.bool());
            copy
        }
        3 => {
            let bits = (0..count).map(|_| rng.bool()).collect();
            let zeroes = rng.bool().then(|| colour(rng));
            let mut mono = Blit::mono(depth, target, rect, bits, colour(rng), zeroes);
            if let Source::Mono { padding, .. } = &mut mono.source {
                *padding = Padding::ALL[rng.usize(..Padding::ALL.len())];
            }
            mono
        }
        _ => {
            let pixels = (0..count).map(|_| colour(rng)).collect();
            Blit::upload(depth, target, rect, pixels)
        }
    };
    vary(rng, &mut blit, mark);
    blit
}

/// Add what blits may have beside their source.
fn vary(rng: &mut fastrand::Rng, blit: &mut Blit, mark: Mark) {
    let colour = |rng: &mut fastrand::Rng| mark.word(rng.u8(..));
    let rop = rng.u8(..);
    if rng.u32(..3) == 0 && needs_source(rop) == needs_source(blit.rop) {
        blit.rop = rop;
        blit.pattern = colour(rng);
    }
    if rng.u32(..4) == 0 {
        let Rect { x, y, .. } = blit.rect;
        // Corners have twelve bits.
        let beside =
            |rng: &mut fastrand::Rng, at: u32| (at + rng.u32(..8)).saturating_sub(4).min(4095 - 24);
        let (left, top) = (beside(rng, x), beside(rng, y));
        blit.clip = Some(Rect::new(left, top, rng.u32(1..24), rng.u32(1..24)));
    }
    if rng.u32(..6) == 0 {
        blit.kept = rng.u32(0..16);
    }
    if rng.u32(..6) == 0 && !matches!(blit.source, Source::Mono { .. }) {
        let source = blit.source != Source::None && rng.bool();
        blit.keys = Keys {
            source: source.then(|| colour(rng)),
            destination: rng.bool().then(|| colour(rng)),
            inverted: rng.bool(),
        };
    }
}

/// Do to the contents what the engine will do to the objects.
pub fn apply(blits: &[Blit], objects: &[Object<Chrome9>]) {
    let is_used = |object: usize| {
        blits.iter().any(|blit| {
            let source = match blit.source {
                Source::Surface { surface, .. } => surface.object,
                _ => object,
            };
            blit.target.object == object || source == object
        })
    };
    let used: Vec<bool> = (0..objects.len()).map(is_used).collect();
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut memory: reference::Memory = objects
        .iter()
        .zip(&used)
        .map(|(object, &used)| {
            if used {
                bytes(&object.content.borrow())
            } else {
                Vec::new()
            }
        })
        .collect();
    for blit in blits {
        reference::draw(&mut memory, blit);
    }
    for (object, bytes) in objects.iter().zip(memory) {
        let mut content = object.content.borrow_mut();
        for (word, bytes) in content.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
    }
}
