// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the checker says a resource needs is just what its texels take, each computed by itself.
//!
//! The least objects with which a texture passes are searched for. No texel may lie behind their ends, and the last one
//! must lie at the end.

mod support;

use proptest::prelude::*;
use r600::portable::{
    checker::{check_gfx, Chip},
    Generation,
};
use support::resources::{buffer, set_resource, Texture};
use support::texels::{block, levels, Level, FORMATS, TILED_2D};
use support::{confined, footprint, run_any, RV770};

/// Larger than any texture.
const MOST: u64 = 1 << 60;

fn chips() -> impl Strategy<Value = Chip> {
    let pipes = prop::sample::select(vec![1, 2, 4, 8]);
    let banks = prop::sample::select(vec![4, 8]);
    let group = prop::sample::select(vec![256, 512]);
    (pipes, banks, group, any::<bool>()).prop_map(|(pipes, banks, group_bytes, later)| Chip {
        generation: if later {
            Generation::R7xx
        } else {
            Generation::R6xx
        },
        pipes,
        banks,
        group_bytes,
        ..RV770
    })
}

/// Return any size, most often a small one.
fn sizes(most: u32) -> impl Strategy<Value = u32> {
    prop_oneof![
        4 => 1..=most.min(40),
        3 => 1..=most.min(300),
        1 => 1..=most,
    ]
}

/// Return textures that the checker should let through, with chips that have them.
fn textures() -> impl Strategy<Value = (Texture, Chip)> {
    let shape = (0..8u32, 0..4usize, 0..FORMATS.len(), any::<bool>());
    let size = (sizes(2048), sizes(2048), sizes(40), 0..3u32);
    let range = (0..=15u32, 0..=15u32, 0..8u32, 0..8u32);
    (chips(), shape, size, range).prop_map(|(chip, shape, size, range)| {
        let (dimensions, mode, format, depth_order) = shape;
        let (width, height, depth, more) = size;
        let (first_level, last_level, first_layer, last_layer) = range;
        let (code, bytes, across, _) = FORMATS[format];
        let several = dimensions >= 6;
        let last_level = if several { last_level % 4 } else { last_level };
        let samples = if several { 1 << last_level } else { 1 };
        // Elements of 12 bytes have neither samples nor tiles.
        let (code, bytes, across) = if samples > 1 && bytes == 12 {
            (26, 4, 1)
        } else {
            (code, bytes, across)
        };
        let mode = match mode {
            _ if samples > 1 => TILED_2D,
            mode if bytes == 12 => mode as u32 % 2,
            3 => TILED_2D,
            mode => mode as u32,
        };
        // The pitch has units of 8 texels.
        let unit = match (mode, bytes) {
            (1, 12) => 64,
            _ => block(mode, bytes * samples, &chip).0 * across,
        };
        let unit = (unit as u32).max(8);
        let texture = Texture {
            dimensions,
            mode,
            depth_order,
            pitch: (width.next_multiple_of(unit) + more * unit).min(16384 / unit * unit),
            width,
            height,
            depth: if dimensions == 3 { 1 } else { depth },
            format: code,
            base: 0,
            mips: 0,
            base_level: if several {
                0
            } else {
                first_level.min(last_level) * (more % 2)
            },
            last_level,
            base_array: first_layer.min(last_layer),
            last_array: last_layer,
        };
        (texture, chip)
    })
}

/// Return the least size for which `passes` says yes.
fn least(passes: impl Fn(u64) -> bool) -> u64 {
    assert!(passes(MOST), "refused whatever its objects are");
    let (mut below, mut above) = (0, MOST);
    if passes(0) {
        return 0;
    }
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if passes(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    above
}

/// Return the least sizes of both objects of a texture.
fn needs(texture: &Texture, chip: &Chip) -> (u64, u64) {
    let words = set_resource(7, &[texture.words()], &[0, 1]);
    let passes = |base, mips| run_any(check_gfx, &words, &[base, mips], chip).is_ok();
    (
        least(|size| passes(size, MOST)),
        least(|size| passes(MOST, size)),
    )
}

/// Check that some samples of a level lie before `end`: those of all corners, and some that `seed` chooses.
fn inside(level: &Level, end: u64, seed: u64, chip: &Chip) -> Result<(), TestCaseError> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut edge = |length: u64| {
        let any = random.u64(0..length);
        [0, any, length - 1]
    };
    let (xs, ys) = (edge(level.pitch), edge(level.lines));
    let (slices, samples) = (edge(level.slices), edge(level.samples));
    for slice in slices {
        for y in ys {
            for x in xs {
                for sample in samples {
                    let place = level.place(x, y, slice, sample, chip);
                    prop_assert!(
                        place + level.bytes <= end,
                        "{x} {y} {slice} {sample} of {level:?}: {place}"
                    );
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn textures_need_what_their_texels_take((texture, chip) in textures(), seed: u64) {
        let (base, mips) = needs(&texture, &chip);
        let all = levels(&texture.words(), &chip);
        for level in &all {
            let end = if level.second { mips } else { base };
            inside(level, end, seed, &chip)?;
        }
        let end = |second| {
            let of = all.iter().filter(|level| level.second == second);
            of.map(|level| level.end(&chip)).max().unwrap_or(0)
        };
        prop_assert_eq!((base, mips), (end(false), end(true)));
    }

    /// A level of a slice is a range of its own: no two samples of it share a byte.
    #[test]
    fn the_places_of_samples_differ((texture, chip) in textures()) {
        let all = levels(&texture.words(), &chip);
        let small = |level: &&Level| level.pitch * level.lines * level.samples < 1 << 15;
        for level in all.iter().filter(small) {
            let mut places = Vec::new();
            for y in 0..level.lines {
                for x in 0..level.pitch {
                    for sample in 0..level.samples {
                        places.push(level.place(x, y, 0, sample, &chip));
                    }
                }
            }
            places.sort_unstable();
            prop_assert!(places.windows(2).all(|two| two[0] + level.bytes <= two[1]));
        }
    }

    #[test]
    fn buffers_stay_in_their_objects(
        offset in 0..1u64 << 40,
        shift in 0..40u32,
        size: u32,
        object in 1..1u64 << 41,
    ) {
        let offset = offset >> shift;
        let words = set_resource(160, &[buffer(offset, size, 4)], &[0]);
        match run_any(check_gfx, &words, &[object], &RV770) {
            Ok(checked) => {
                confined(&checked, |words| {
                    let address = u64::from(words[2]) | (u64::from(words[4] & 0xff) << 32);
                    vec![support::footprint::Touch {
                        address,
                        bytes: u64::from(words[3]) + 1,
                        write: false,
                    }]
                });
                // It is not smaller than it need be.
                prop_assert_eq!(
                    u64::from(checked.words[3]) + 1,
                    (u64::from(size) + 1).min(object - offset)
                );
            }
            Err(_) => prop_assert!(offset >= object),
        }
    }

    /// Objects that are placed anywhere, of just the sizes that are needed: each texture has two, each buffer one.
    #[test]
    fn placed_resources_stay_in_their_objects(
        some in prop::collection::vec((textures(), 0..20u32, 0..20u32, any::<bool>()), 1..6),
    ) {
        let chip = some[0].0.1;
        let (mut words, mut sizes) = (Vec::new(), Vec::new());
        for ((texture, own), base, mips, buffers) in some {
            let entry = sizes.len() as u32;
            if own != chip || buffers {
                let resource = buffer((base * 0x1234).into(), mips * 100, 16);
                words.extend(set_resource(base, &[resource], &[entry]));
                sizes.push(u64::from(base * 0x1234 + mips * 100) + 1);
            } else {
                let needed = needs(&texture, &chip);
                // A block of eight samples.
                let unit = (8 * 64 * 64 * 16 * 8) >> 8;
                let (base, mips) = (base * unit, mips * unit);
                let texture = Texture { base, mips, ..texture };
                words.extend(set_resource(0, &[texture.words()], &[entry, entry + 1]));
                sizes.push(u64::from(base) * 256 + needed.0);
                sizes.push(u64::from(mips) * 256 + needed.1);
            }
        }
        let checked = run_any(check_gfx, &words, &sizes, &chip).expect("all is large enough");
        confined(&checked, |words| footprint::gfx(words, &chip));
    }

    #[test]
    fn any_seven_dwords(words: [u32; 7], kind in 2..4u32, chip in chips()) {
        let mut words = words;
        words[6] = (kind << 30) | (words[6] & 0xff);
        let stream = set_resource(0, &[words], &[0, 1]);
        if run_any(check_gfx, &stream, &[1 << 42, 1 << 42], &chip).is_ok() && kind == 2 {
            let first = |word: u32| u64::from(word) << 8;
            for level in levels(&words, &chip) {
                let start = first(if level.second { words[3] } else { words[2] });
                inside(&level, (1 << 42) - start, start, &chip)?;
            }
        }
    }
}
