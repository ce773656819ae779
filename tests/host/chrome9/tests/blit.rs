// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own work for the 2D engine: dword by dword, at its limits, and executed by the model.

#[path = "checker/bench.rs"]
mod bench;

use chrome9::portable::blit::{Copy, Fill};
use chrome9::portable::emit::{Error, PAD};
use chrome9::portable::place::GART;
use lapidary::portable::sink::SliceSink;

use bench::{Bench, KERNEL};

const MIB: u64 = 1 << 20;

fn fill(address: u64, len: u64, value: u32) -> Result<(Vec<u32>, u64), Error> {
    let fill = Fill::new(address, len, value)?;
    let mut words = vec![0; Fill::DWORDS];
    let mut sink = SliceSink::new(&mut words);
    fill.emit(&mut sink)?;
    assert_eq!(sink.written(), Fill::DWORDS);
    Ok((words, fill.bytes()))
}

fn copy(to: u64, from: u64, len: u64) -> Result<(Vec<u32>, u64), Error> {
    let copy = Copy::new(to, from, len)?;
    let mut words = vec![0; Copy::DWORDS];
    let mut sink = SliceSink::new(&mut words);
    copy.emit(&mut sink)?;
    assert_eq!(sink.written(), Copy::DWORDS);
    Ok((words, copy.bytes()))
}

#[test]
fn a_fill_sets_all_that_it_depends_on() {
    let (words, bytes) = fill(0x12_3000, 0x5000, 0xaabb_ccdd).unwrap();
    assert_eq!(bytes, 0x5000);
    assert_eq!(words[..4], [0xfe00_0000, 8, 0, PAD]);
    let pairs: Vec<_> = words[4..].chunks(2).map(|p| (p[0], p[1])).collect();
    assert_eq!(
        pairs,
        [
            (0x04, 0x300),            // 32 bits a pixel
            (0x48, 0),                // no keys
            (0x08, 512 << 16),        // 4096 bytes a row
            (0x0c, (4 << 16) | 1023), // five rows of 1024 pixels
            (0x10, 0),
            (0x14, 0x12_3000 / 8),
            (0x58, 0xaabb_ccdd),
            (0x00, 0xf000_2001),
        ]
    );
}

#[test]
fn a_copy_sets_all_that_it_depends_on() {
    let (words, bytes) = copy(0x2000, 0x7000, 0x1000).unwrap();
    assert_eq!(bytes, 0x1000);
    assert_eq!(words[..4], [0xfe00_0000, 9, 0, PAD]);
    let pairs: Vec<_> = words[4..22].chunks(2).map(|p| (p[0], p[1])).collect();
    assert_eq!(
        pairs,
        [
            (0x04, 0x300),
            (0x48, 0),
            (0x08, (512 << 16) | 512),
            (0x0c, 1023),
            (0x18, 0),
            (0x1c, 0x7000 / 8),
            (0x10, 0),
            (0x14, 0x2000 / 8),
            (0x00, 0xcc00_0001),
        ]
    );
    assert_eq!(words[22..], [PAD; 2]);
}

#[test]
fn one_step_is_a_rectangle_at_most() {
    assert_eq!(fill(0, 64 * MIB, 0).unwrap().1, 16 * MIB);
    assert_eq!(copy(0, 64 * MIB, 17 * MIB).unwrap().1, 16 * MIB);
}

#[test]
fn what_the_engine_does_not_reach_is_refused() {
    let last = 512 * MIB - 4096;
    assert!(fill(last, 4096, 0).is_ok() && copy(0, last, 4096).is_ok());
    for (address, len, error) in [
        (512 * MIB, 4096, Error::Range),
        (last, 8192, Error::Range),
        (GART, 4096, Error::Range),
        (u64::MAX - 4095, 4096, Error::Range),
        (0, 0, Error::Range),
        (2048, 4096, Error::Alignment),
        (0, 2048, Error::Alignment),
    ] {
        assert_eq!(fill(address, len, 0).err(), Some(error), "{address:#x}");
        assert_eq!(copy(address, 0, len).err(), Some(error), "{address:#x}");
        let from = copy(0, address, len).err();
        assert_eq!(from, Some(error), "{address:#x}");
    }
}

#[test]
fn the_model_fills_and_copies_what_was_asked() {
    let mut bench = Bench::new(8 * MIB);
    let (from, to) = (KERNEL, KERNEL + 0x1_0000);
    bench.object(from, 0x4000);
    bench.object(to, 0x4000);
    assert!(bench.m.vram.write(from, &[0x11; 0x4000]));
    assert!(bench.execute(&fill(from + 0x1000, 0x2000, 0x8899_aabb).unwrap().0));
    assert!(bench.execute(&copy(to, from, 0x4000).unwrap().0));
    let mut bytes = [0; 0x6000];
    assert!(bench.m.vram.read(to - 0x1000, &mut bytes));
    for (at, chunk) in bytes.chunks(4).enumerate() {
        let want: [u8; 4] = match at * 4 {
            0x1000..0x2000 | 0x4000..0x5000 => [0x11; 4],
            0x2000..0x4000 => [0xbb, 0xaa, 0x99, 0x88],
            _ => [0; 4],
        };
        assert_eq!(chunk, want, "{:#x}", at * 4);
    }
    assert_eq!(bench.findings(), []);
}
