// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The CPU's rendering of a blit: what each pixel becomes, as this program reads the register descriptions
//! (`drivers/chrome9/registers/engine2d.xml`). It shares nothing with the model's engine or the driver's checker.
//!
//! - For each bit of a pixel, pattern P, source S and destination D choose bit `P << 2 | S << 1 | D` of the raster operation.
//! - A pixel is left alone if it is outside of the clip, if it belongs to a zero of a transparent monochrome source, or if a
//!   key says so. A key compares all bits of a pixel. With two keys both have to allow it.
//! - A byte of a pixel is left alone if its bit in the mask is set. Pixels of 8 bits have no mask.
//! - The source of a copy is what was there before the copy: the direction is chosen so that it makes no difference.

use crate::blit::{Blit, Depth, Source, Surface};

/// Memory of objects, by their positions.
pub type Memory = Vec<Vec<u8>>;

/// Compute a raster operation on 32 bits at once, by the products of the truth table.
pub fn raster(code: u8, p: u32, s: u32, d: u32) -> u32 {
    let mut result = 0;
    for index in 0..8u8 {
        if (code >> index) & 1 == 1 {
            let minterm = |value: u32, bit: u8| {
                if (index >> bit) & 1 == 1 {
                    value
                } else {
                    !value
                }
            };
            result |= minterm(p, 2) & minterm(s, 1) & minterm(d, 0);
        }
    }
    result
}

/// Return where a pixel is in its object.
fn place(surface: Surface, depth: Depth, x: u32, y: u32) -> usize {
    (surface.offset + y * surface.pitch + x * depth.bytes()) as usize
}

/// Return a pixel of a surface in the bytes of its object.
///
/// # Panics
///
/// If it is outside of its object.
fn pixel(object: &[u8], surface: Surface, depth: Depth, x: u32, y: u32) -> u32 {
    let at = place(surface, depth, x, y);
    object[at..at + depth.bytes() as usize]
        .iter()
        .rev()
        .fold(0, |pixel, &byte| (pixel << 8) | u32::from(byte))
}

/// Draw a blit.
///
/// # Panics
///
/// If a pixel that it draws, or the source of one, is outside of its object.
pub fn draw(memory: &mut Memory, blit: &Blit) {
    let (rect, depth) = (blit.rect, blit.depth);
    // A target's pixel is written once, so only a source can have been written before it is read.
    let before = match &blit.source {
        Source::Surface { surface, .. } => memory[surface.object].clone(),
        _ => Vec::new(),
    };
    let count = (rect.width * rect.height) as usize;
    match &blit.source {
        Source::Mono { bits, .. } => assert_eq!(bits.len(), count, "bits"),
        Source::Colour { pixels } => assert_eq!(pixels.len(), count, "pixels"),
        Source::None | Source::Surface { .. } => {}
    }
    for row in 0..rect.height {
        for column in 0..rect.width {
            let (x, y) = (rect.x + column, rect.y + row);
            if !visible(blit, x, y) {
                continue;
            }
            let number = (row * rect.width + column) as usize;
            let source = match &blit.source {
                Source::None => Some(0),
                Source::Surface {
                    surface,
                    x: left,
                    y: top,
                } => Some(pixel(&before, *surface, depth, left + column, top + row)),
                Source::Mono {
                    bits, ones, zeroes, ..
                } => {
                    if bits[number] {
                        Some(*ones)
                    } else {
                        *zeroes
                    }
                }
                Source::Colour { pixels } => Some(pixels[number]),
            };
            let Some(source) = source else { continue };
            let old = pixel(&memory[blit.target.object], blit.target, depth, x, y);
            if !passes(blit, source, old) {
                continue;
            }
            let new = raster(blit.rop, blit.pattern, source, old);
            let at = place(blit.target, depth, x, y);
            for byte in 0..depth.bytes() {
                let kept = depth != Depth::Bits8 && (blit.kept >> byte) & 1 == 1;
                if !kept {
                    memory[blit.target.object][at + byte as usize] = (new >> (8 * byte)) as u8;
                }
            }
        }
    }
}

/// Return whether the clip leaves a pixel.
fn visible(blit: &Blit, x: u32, y: u32) -> bool {
    blit.clip.is_none_or(|clip| {
        (clip.x..clip.x + clip.width).contains(&x) && (clip.y..clip.y + clip.height).contains(&y)
    })
}

/// Return whether the keys let a pixel be drawn.
fn passes(blit: &Blit, source: u32, old: u32) -> bool {
    let mask = blit.depth.mask();
    [(blit.keys.source, source), (blit.keys.destination, old)]
        .into_iter()
        .all(|(key, pixel)| match key {
            None => true,
            Some(key) => (key & mask == pixel & mask) == blit.keys.inverted,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blit::{DESTINATION, Keys, PATTERN, Padding, Rect, SOURCE};

    const SURFACE: Surface = Surface {
        object: 0,
        offset: 8,
        pitch: 16,
    };

    fn row(blit: &Blit, row: [u32; 4]) -> [u32; 4] {
        let mut memory = vec![vec![0xee; 8 + 16]];
        for (x, pixel) in row.iter().enumerate() {
            memory[0][8 + 4 * x..][..4].copy_from_slice(&pixel.to_le_bytes());
        }
        draw(&mut memory, blit);
        assert_eq!(memory[0][..8], [0xee; 8], "before the surface");
        std::array::from_fn(|x| pixel(&memory[0], SURFACE, Depth::Bits32, x as u32, 0))
    }

    #[test]
    fn raster_operations_by_their_formulas() {
        let (p, s, d) = (0xf0f0_1234, 0xcccc_9876, 0xaaaa_5555);
        assert_eq!(raster(SOURCE, p, s, d), s);
        assert_eq!(raster(PATTERN, p, s, d), p);
        assert_eq!(raster(DESTINATION, p, s, d), d);
        assert_eq!(raster(0x5a, p, s, d), p ^ d);
        assert_eq!(raster(0x88, p, s, d), s & d);
        // The source where the destination has ones, else the pattern.
        assert_eq!(raster(0xd8, p, s, d), (s & d) | (p & !d));
    }

    #[test]
    fn fills_draw_inside_of_rectangle_and_clip() {
        let fill = Blit::fill(Depth::Bits32, SURFACE, Rect::new(1, 0, 3, 1), 7);
        assert_eq!(row(&fill, [1, 2, 3, 4]), [1, 7, 7, 7]);
        let clipped = fill.clipped(Rect::new(0, 0, 3, 9));
        assert_eq!(row(&clipped, [1, 2, 3, 4]), [1, 7, 7, 4]);
    }

    #[test]
    fn copies_read_what_was_there_before() {
        let copy = |x, from| {
            let rect = Rect::new(x, 0, 3, 1);
            Blit::copy(Depth::Bits32, SURFACE, rect, SURFACE, (from, 0))
        };
        assert_eq!(row(&copy(1, 0), [1, 2, 3, 4]), [1, 1, 2, 3]);
        assert_eq!(row(&copy(0, 1), [1, 2, 3, 4]), [2, 3, 4, 4]);
    }

    #[test]
    fn keys_leave_their_colours_alone() {
        let upload = Blit::upload(
            Depth::Bits32,
            SURFACE,
            Rect::new(0, 0, 4, 1),
            vec![5, 6, 7, 8],
        );
        let keyed = |source, destination, inverted| {
            let keys = Keys {
                source,
                destination,
                inverted,
            };
            row(&upload.clone().keyed(keys), [1, 2, 3, 4])
        };
        assert_eq!(keyed(Some(6), None, false), [5, 2, 7, 8]);
        assert_eq!(keyed(None, Some(3), false), [5, 6, 3, 8]);
        assert_eq!(keyed(Some(6), Some(3), false), [5, 2, 3, 8]);
        assert_eq!(keyed(Some(6), None, true), [1, 6, 3, 4]);
    }

    #[test]
    fn masked_bytes_are_left_alone() {
        let fill = Blit::fill(Depth::Bits32, SURFACE, Rect::new(0, 0, 1, 1), 0x1122_3344);
        let kept = fill.keeping(0b0110);
        assert_eq!(row(&kept, [0xaabb_ccdd, 0, 0, 0])[0], 0x11bb_cc44);
    }

    #[test]
    fn zeroes_of_a_transparent_picture_are_left_alone() {
        let bits = vec![true, false, true, false];
        let rect = Rect::new(0, 0, 4, 1);
        let mono = |zeroes| Blit::mono(Depth::Bits32, SURFACE, rect, bits.clone(), 9, zeroes);
        assert_eq!(row(&mono(None), [1, 2, 3, 4]), [9, 2, 9, 4]);
        assert_eq!(row(&mono(Some(8)), [1, 2, 3, 4]), [9, 8, 9, 8]);
        // Padding is how they are sent, and changes nothing.
        let mut padded = mono(None);
        if let Source::Mono { padding, .. } = &mut padded.source {
            *padding = Padding::Word;
        }
        assert_eq!(row(&padded, [1, 2, 3, 4]), [9, 2, 9, 4]);
    }
}
