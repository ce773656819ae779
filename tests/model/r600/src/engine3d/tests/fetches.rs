// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Buffers and textures.

use proptest::prelude::*;

use super::*;

/// A texture: dimensions, tiling and format, then levels and layers.
#[derive(Clone, Copy)]
struct Tex {
    dim: u32,
    mode: u32,
    format: u32,
    size: (u32, u32, u32),
    pitch: u32,
    base: u32,
    mips: u32,
    levels: (u32, u32),
    layers: (u32, u32),
}

/// A 2D texture of 64 by 64 texels of 4 bytes, 1D tiled, one level.
const FLAT: Tex = Tex {
    dim: 1,
    mode: 2,
    format: 26,
    size: (64, 64, 1),
    pitch: 64,
    base: 0x10_0000,
    mips: 0x20_0000,
    levels: (0, 0),
    layers: (0, 0),
};

/// Return a texture as another one, with some fields of its own.
macro_rules! tex {
    ($of:expr; $($field:ident $(: $value:expr)?),+) => {
        Tex { $($field $(: $value)?,)+ ..$of }
    };
}

impl Tex {
    fn words(self) -> [u32; 7] {
        let (width, height, depth) = self.size;
        [
            self.dim | (self.mode << 3) | ((self.pitch / 8 - 1) << 8) | ((width - 1) << 19),
            (height - 1) | ((depth - 1) << 13) | (self.format << 26),
            self.base >> 8,
            self.mips >> 8,
            self.levels.0 << 28,
            self.levels.1 | (self.layers.0 << 4) | (self.layers.1 << 17),
            2 << 30,
        ]
    }

    /// Return the spans that are read, on a chip.
    fn spans_on(self, chip: &'static str) -> Vec<(u64, u64)> {
        let mut set = Set::new(chip);
        set.resource(3, self.words());
        assert_eq!(set.kinds(), []);
        let span = |a: Short| {
            assert_eq!((a.0, a.1, a.2), (Client::Texture(3), true, false));
            (a.3, a.4)
        };
        set.areas().into_iter().map(span).collect()
    }

    fn spans(self) -> Vec<(u64, u64)> {
        self.spans_on("rv770")
    }

    fn kinds(self) -> Vec<Kind> {
        Set::new("rv770").resource(3, self.words()).kinds()
    }
}

#[test]
fn a_buffer_reaches_to_its_size_above_four_gigabytes() {
    let mut set = Set::new("rv770");
    set.resource(160, [0xffff_fff0, 0x1f, 0x12, 0, 0, 0, 3 << 30]);
    let first = 0x12_ffff_fff0;
    let area = (Client::Buffer(160), true, false, first, first + 0x20);
    assert_eq!(set.areas(), [area]);
    for kind_of_resource in [0, 1] {
        set.put(0x38000 + 160 * 28 + 24, kind_of_resource << 30);
        assert_eq!(set.areas(), []);
    }
}

#[test]
fn slots_belong_to_the_stages_that_run() {
    let mut set = Set::new("rv770");
    for slot in [0, 159, 160, 319, 320, 335, 336, 495] {
        set.resource(slot, [slot << 8, 0xff, 0, 0, 0, 0, 3 << 30]);
    }
    let slots = |set: &mut Set| -> Vec<u64> { set.areas().iter().map(|a| a.3 >> 8).collect() };
    assert_eq!(slots(&mut set), [0, 159, 160, 319, 320, 335]);
    set.put(mmio::VGT_GS_MODE, 3);
    assert_eq!(slots(&mut set), [0, 159, 160, 319, 320, 335, 336, 495]);
    set.put(mmio::PA_SC_WINDOW_SCISSOR_BR, 0);
    assert_eq!(slots(&mut set), [160, 319, 320, 335, 336, 495]);
}

#[test]
fn a_texture_of_one_level_is_its_pitch_times_its_lines() {
    assert_eq!(FLAT.spans(), [(0x10_0000, 0x10_4000)]);
    let wide = tex!(FLAT; pitch: 128);
    assert_eq!(wide.spans(), [(0x10_0000, 0x10_8000)]);
    let odd = tex!(FLAT; size: (64, 61, 1));
    assert_eq!(odd.spans(), [(0x10_0000, 0x10_4000)], "whole tiles");
    let linear = tex!(odd; mode: 1);
    assert_eq!(linear.spans(), [(0x10_0000, 0x10_3d00)]);
    let bytes16 = tex!(FLAT; format: 34);
    assert_eq!(bytes16.spans(), [(0x10_0000, 0x11_0000)]);
    let blocks = tex!(FLAT; format: 49);
    assert_eq!(
        blocks.spans(),
        [(0x10_0000, 0x10_0800)],
        "8 bytes for 4 by 4"
    );
    let line = tex!(FLAT; dim: 0, mode: 1);
    assert_eq!(line.spans(), [(0x10_0000, 0x10_0100)], "one dimension");
}

#[test]
fn levels_follow_each_other_in_powers_of_two() {
    let chain = tex!(FLAT; size: (48, 48, 1), pitch: 48, levels: (0, 5));
    // 32 by 32, 16 by 16, then three tiles.
    let mips = 4 * (32 * 32 + 16 * 16 + 3 * 64);
    assert_eq!(
        chain.spans(),
        [
            (0x10_0000, 0x10_0000 + 4 * 48 * 48),
            (0x20_0000, 0x20_0000 + mips)
        ]
    );
    let from_second = tex!(chain; levels: (2, 3));
    let first = 0x20_0000 + 4 * 32 * 32;
    assert_eq!(
        from_second.spans(),
        [(first, first + 4 * (16 * 16 + 64))],
        "level 1 keeps its room"
    );
}

#[test]
fn small_levels_of_macro_tiles_have_micro_tiles() {
    // A macro tile is 64 by 64; level 2 is 32 by 32, and would take as much as level 1 in macro tiles.
    let chain = tex!(FLAT; mode: 4, size: (128, 128, 1), pitch: 128, levels: (0, 3));
    let mips = 4 * (64 * 64 + 32 * 32 + 16 * 16);
    assert_eq!(chain.spans()[1], (0x20_0000, 0x20_0000 + mips));
    // Low levels, too.
    let low = tex!(chain; size: (128, 64, 1), levels: (0, 1));
    assert_eq!(low.spans()[1], (0x20_0000, 0x20_0000 + 4 * 64 * 32));
}

#[test]
fn volumes_have_fewer_slices_with_each_level() {
    let volume = tex!(FLAT; dim: 2, size: (64, 64, 8), levels: (0, 1), layers: (3, 4));
    assert_eq!(
        volume.spans(),
        [
            (0x10_0000, 0x10_0000 + 8 * 0x4000),
            (0x20_0000, 0x20_0000 + 4 * 0x1000)
        ],
        "layers do not bound them"
    );
}

#[test]
fn layers_are_bounded_in_each_level() {
    let layered = tex!(FLAT; dim: 5, size: (64, 64, 8), levels: (0, 2), layers: (2, 3));
    let second = 0x20_0000 + 8 * 0x1000;
    assert_eq!(
        layered.spans(),
        [
            (0x10_8000, 0x11_0000),
            (0x20_2000, 0x20_4000),
            (second + 2 * 0x400, second + 4 * 0x400)
        ]
    );
}

#[test]
fn cubes_have_six_faces_and_on_r7xx_room_for_eight() {
    let cube = tex!(FLAT; dim: 3, levels: (0, 2));
    let second = 0x20_0000 + 8 * 0x1000;
    assert_eq!(
        cube.spans(),
        [
            (0x10_0000, 0x10_0000 + 6 * 0x4000),
            (0x20_0000, 0x20_0000 + 6 * 0x1000),
            (second, second + 6 * 0x400)
        ]
    );
    assert_eq!(
        cube.spans_on("r600")[1],
        (0x20_0000, 0x20_0000 + 6 * (0x1000 + 0x400))
    );
}

#[test]
fn samples_multiply_a_texture_and_leave_it_one_level() {
    let sampled = tex!(FLAT; dim: 6, mode: 4, levels: (0, 2));
    assert_eq!(sampled.spans(), [(0x10_0000, 0x10_0000 + 4 * 0x4000)]);
}

#[test]
fn contradictions_of_textures_are_found() {
    for (bad, kind) in [
        (tex!(FLAT; format: 4), kind::SURFACE_FORMAT),
        (tex!(FLAT; format: 0), kind::SURFACE_FORMAT),
        (tex!(FLAT; mode: 3), kind::SURFACE_TILING),
        (tex!(FLAT; format: 47), kind::SURFACE_TILING),
        (tex!(FLAT; dim: 6, levels: (0, 1)), kind::SURFACE_TILING),
        (tex!(FLAT; pitch: 56), kind::SURFACE_ALIGNMENT),
        (tex!(FLAT; mode: 1, pitch: 72), kind::SURFACE_ALIGNMENT),
        (
            tex!(FLAT; mode: 4, base: 0x10_0100),
            kind::SURFACE_ALIGNMENT,
        ),
        (
            tex!(FLAT; mode: 4, size: (128, 128, 1), pitch: 128, levels: (0, 1), mips: 0x20_0100),
            kind::SURFACE_ALIGNMENT,
        ),
        (tex!(FLAT; levels: (2, 1)), kind::VIEW_RANGE),
        (
            tex!(FLAT; dim: 5, size: (64, 64, 4), layers: (2, 1)),
            kind::VIEW_RANGE,
        ),
        (
            tex!(FLAT; dim: 5, size: (64, 64, 4), layers: (0, 4)),
            kind::VIEW_RANGE,
        ),
        (
            tex!(FLAT; dim: 6, mode: 4, levels: (0, 4)),
            kind::RESERVED_VALUE,
        ),
    ] {
        assert!(bad.kinds().contains(&kind), "{kind}: {:x?}", bad.words());
    }
    assert_eq!(FLAT.kinds(), []);
}

proptest! {
    /// A level more, a layer more, a larger texture: nothing is lost of what was reached.
    #[test]
    fn more_of_a_texture_reaches_more(
        dim in 0u32..6, mode in prop::sample::select(vec![0u32, 1, 2, 4]), w in 1u32..300, h in 1u32..300,
        d in 1u32..9, level in 0u32..8,
    ) {
        let bytes = |levels: (u32, u32), layers: (u32, u32)| {
            let pitch = w.next_multiple_of(64);
            let tex = tex!(FLAT; dim, mode, size: (w, h, d), pitch, levels, layers);
            let mut set = Set::new("rv770");
            set.resource(3, tex.words());
            set.areas().iter().map(|a| a.4 - a.3).sum::<u64>()
        };
        let whole = bytes((0, level), (0, d - 1));
        prop_assert!(whole < bytes((0, level + 1), (0, d - 1)));
        prop_assert!(bytes((1.min(level), level), (0, d - 1)) <= whole);
        prop_assert!(bytes((0, level), (d - 1, d - 1)) <= whole);
    }
}
