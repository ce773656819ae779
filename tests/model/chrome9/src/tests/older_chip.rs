// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Commands for the 3D engine of an older chip: bad input that a public driver has for this one.
//!
//! xf86-video-openchrome 0.6.0 sets that engine up when it starts, through the 3D window. Its code for the Render extension,
//! which no client of ours could make it use, draws by it: the target is at 40h to 42h, the clip at 70h and 71h, and
//! vertices come between the words ECh and EEh. Values and places are facts, the picture is ours.

use lapidary_registers::chrome9::mmio;

use super::Bench;
use crate::kind::{self, Kind};

/// Parameters of a type whose sub-address is in bits 31:24, all 0.
fn zeroes(sub_addresses: impl IntoIterator<Item = u32>) -> Vec<u32> {
    sub_addresses.into_iter().map(|s| s << 24).collect()
}

impl Bench {
    /// Write a setting of the 3D window, and parameters.
    fn window_3d(&mut self, setting: u32, parameters: &[u32]) {
        self.write(mmio::SETTING_3D, setting);
        for value in parameters {
            self.write(mmio::SPACE_3D.base(), *value);
        }
    }

    /// Return how often each kind was found.
    fn kinds(&mut self) -> Vec<(Kind, usize)> {
        let mut kinds: Vec<(Kind, usize)> = Vec::new();
        for kind in self.found() {
            match kinds.iter_mut().find(|(k, _)| *k == kind) {
                Some((_, count)) => *count += 1,
                None => kinds.push((kind, 1)),
            }
        }
        kinds
    }

    /// The 2D engine works and nothing is busy.
    fn works(&mut self) {
        for (register, value) in [
            (mmio::GEMODE, 0x300),
            (mmio::DSTBASE, 0x1000 / 8),
            (mmio::PITCH, (64 / 8) << 16),
            (mmio::DSTPOS, 0),
            (mmio::DIMENSION, 3),
            (mmio::KEYCONTROL, 0),
            (mmio::MONOPATFGC, 0x1234_5678),
            (mmio::GECMD, 0xf000_2001),
        ] {
            self.write(register, value);
        }
        assert_eq!(self.bytes(0x1000, 16), [0x78, 0x56, 0x34, 0x12].repeat(4));
        assert_eq!(self.read(mmio::ENGINE_STATUS), 0);
        assert_eq!(self.found(), []);
    }

    /// Set the engine of the older chip up, as the driver does when it starts.
    fn set_up_older_chip(&mut self) {
        self.window_3d(0x0001_0000, &zeroes(0..=0x7d));
        let mut stage = zeroes(0..=0x94);
        stage.push(0x8240_0000);
        self.window_3d(0x0002_0000, &stage);
        self.window_3d(0x0102_0000, &stage);
        self.window_3d(0xfe02_0000, &zeroes(0..=3));
        self.window_3d(0x0003_0000, &[0; 0x100]);
        let mut fetch = vec![0x0033_3004, 0x1000_0002];
        fetch.extend(zeroes(0x60..=0x64));
        self.window_3d(0x0010_0000, &fetch);
        let first = [0x4000_800f, 0x4400_0000, 0x4508_0c04, 0x4680_0408];
        self.window_3d(0x00fe_0000, &first);
        self.window_3d(0x00fe_0000, &zeroes(0x50..=0x53));
        let then = [
            0x0800_0001,
            0x0a00_0183,
            0x0b00_019f,
            0x0c00_018b,
            0x0d00_019b,
            0x0e00_0000,
            0x0f00_0000,
            0x1000_0000,
            0x1100_0000,
            0x2000_0000,
        ];
        self.window_3d(0x00fe_0000, &then);
    }
}

#[test]
fn setting_up_the_3d_engine_of_an_older_chip_is_found() {
    let mut b = Bench::new();
    b.set_up_older_chip();
    assert_eq!(b.kinds(), [(kind::UNDEFINED_PARAMETER, 576)]);
    b.works();
}

#[test]
fn drawing_by_the_3d_engine_of_an_older_chip_is_a_draw_without_state() {
    let mut b = Bench::new();
    b.set_up_older_chip();
    b.found();
    // Target at 2000h with 64 bytes a row, operation, colour, pixels that are written, clip.
    b.window_3d(0x0001_0000, &[0x4000_2000, 0x4100_0000, 0x4209_0040]);
    b.window_3d(
        0x0001_0000,
        &[0x4400_0cff, 0x43ff_ffff, 0x7a11_2233, 0x7b00_00ff],
    );
    b.window_3d(0x0001_0000, &[0x0001_0400]);
    b.window_3d(0x0001_0000, &[0x7000_0010, 0x7100_0010]);
    // Three of these are other parameters here, enables and fog, and seven are none.
    assert_eq!(b.kinds(), [(kind::UNDEFINED_PARAMETER, 7)]);
    // Two triangles of three floats a vertex, and the word that fires them twice.
    let (near, far, w) = (1f32.to_bits(), 9f32.to_bits(), 0.05f32.to_bits());
    let mut list = vec![0xec00_6800, 0xee02_0000];
    for (x, y) in [
        (near, near),
        (far, near),
        (near, far),
        (near, far),
        (far, near),
        (far, far),
    ] {
        list.extend([x, y, w]);
    }
    list.extend([0xee12_0300; 2]);
    b.window_3d(0x0000_0000, &list);
    // What follows ends the list.
    b.window_3d(0x0001_0000, &[0]);
    assert_eq!(b.kinds(), [(kind::UNDEFINED_STATE, 1)]);
    assert_eq!(b.bytes(0x2000, 0x400), [0; 0x400]);
    b.works();
}
