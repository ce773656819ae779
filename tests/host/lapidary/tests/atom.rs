// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Clocks from the video BIOS: good images, damaged ones, and any bytes at all.

use lapidary::portable::atom::{clocks, Clocks, Error, HIGHEST_KHZ, HIGHEST_REFERENCE_KHZ};
use proptest::prelude::*;

const PCI_DATA: usize = 0x60;
const HEADER: usize = 0x80;
const TABLES: usize = 0xc0;
const INFO: usize = 0x140;
const INFO_SIZE: usize = 0x5c;

/// Return an image as a card has it, with clocks in units of 10 kHz.
fn image(engine: u32, memory: u32, reference: u16) -> Vec<u8> {
    let mut image = vec![0; 0x400];
    let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
    put(0, &[0x55, 0xaa, 2]);
    put(0x18, &(PCI_DATA as u16).to_le_bytes());
    put(PCI_DATA, b"PCIR");
    put(0x30, b" 761295520");
    put(0x48, &(HEADER as u16).to_le_bytes());
    put(HEADER + 4, b"ATOM");
    put(HEADER + 0x20, &(TABLES as u16).to_le_bytes());
    put(TABLES + 4 + 8, &(INFO as u16).to_le_bytes());
    put(INFO, &(INFO_SIZE as u16).to_le_bytes());
    put(INFO + 2, &[1, 4]);
    put(INFO + 8, &engine.to_le_bytes());
    put(INFO + 0xc, &memory.to_le_bytes());
    put(INFO + 0x52, &reference.to_le_bytes());
    image
}

/// Return the answer after bytes have been changed.
fn changed(at: usize, bytes: &[u8]) -> Result<Clocks, Error> {
    let mut image = image(45_000, 25_000, 2_700);
    image[at..at + bytes.len()].copy_from_slice(bytes);
    clocks(&image)
}

#[test]
fn clocks_are_found() {
    let found = clocks(&image(45_000, 25_000, 2_700));
    let want = Clocks {
        engine_khz: 450_000,
        memory_khz: 250_000,
        reference_khz: 27_000,
    };
    assert_eq!(found, Ok(want));
}

#[test]
fn each_way_to_be_wrong_has_its_name() {
    let far = 0xfff0u16.to_le_bytes();
    assert_eq!(clocks(&[]), Err(Error::NoRom));
    assert_eq!(clocks(&[0x55, 0xaa]), Err(Error::OutOfImage));
    assert_eq!(changed(0, &[0]), Err(Error::NoRom));
    assert_eq!(changed(PCI_DATA + 0x14, &[3]), Err(Error::OtherCode));
    assert_eq!(changed(0x18, &far), Err(Error::OutOfImage));
    assert_eq!(changed(0x31, b"8"), Err(Error::NoAtom));
    assert_eq!(changed(0x48, &[0, 0]), Err(Error::NoAtom));
    assert_eq!(changed(0x48, &far), Err(Error::NoAtom));
    assert_eq!(changed(HEADER + 4, b"MOTA"), Err(Error::NoAtom));
    assert_eq!(changed(HEADER + 0x20, &far), Err(Error::OutOfImage));
    assert_eq!(changed(HEADER + 0x20, &[0, 0]), Err(Error::NoTable));
    assert_eq!(changed(TABLES + 12, &[0, 0]), Err(Error::NoTable));
    assert_eq!(changed(TABLES + 12, &far), Err(Error::OutOfImage));
    assert_eq!(changed(INFO + 2, &[2]), Err(Error::OtherRevision));
    // The table ends before the reference clock, or behind the image.
    assert_eq!(changed(INFO, &[0x53, 0]), Err(Error::OutOfImage));
    assert!(changed(INFO, &[0x54, 0]).is_ok());
    assert_eq!(changed(INFO, &[0xff, 0xff]), Err(Error::OutOfImage));
}

#[test]
fn clocks_that_no_card_has_are_refused() {
    let most = HIGHEST_KHZ / 10;
    let reference = (HIGHEST_REFERENCE_KHZ / 10) as u16;
    assert!(clocks(&image(most, most, reference)).is_ok());
    for (engine, memory, reference) in [
        (0, most, reference),
        (most, 0, reference),
        (most, most, 0),
        (most + 1, most, reference),
        (most, most + 1, reference),
        (most, most, reference + 1),
        (u32::MAX, most, reference),
        (most, 0x1999_999a, reference),
    ] {
        assert_eq!(
            clocks(&image(engine, memory, reference)),
            Err(Error::BadClock)
        );
    }
}

proptest! {
    #[test]
    fn any_clock_in_range_is_read(
        engine in 1..=HIGHEST_KHZ / 10,
        memory in 1..=HIGHEST_KHZ / 10,
        reference in 1..=(HIGHEST_REFERENCE_KHZ / 10) as u16,
    ) {
        let want = Clocks {
            engine_khz: engine * 10,
            memory_khz: memory * 10,
            reference_khz: u32::from(reference) * 10,
        };
        prop_assert_eq!(clocks(&image(engine, memory, reference)), Ok(want));
    }

    /// What is cut off is missed, and nothing else happens.
    #[test]
    fn a_cut_image_is_an_error_or_whole(len in 0usize..0x400) {
        let whole = image(45_000, 25_000, 2_700);
        let cut = clocks(&whole[..len]);
        if len >= INFO + INFO_SIZE {
            prop_assert_eq!(cut, clocks(&whole));
        } else {
            prop_assert!(cut.is_err());
        }
    }

    /// Whatever the bytes are, an answer is in range.
    #[test]
    fn damage_is_harmless(
        changes in prop::collection::vec((0usize..0x400, any::<u8>()), 0..12),
        len in 0usize..=0x400,
    ) {
        let mut image = image(45_000, 25_000, 2_700);
        for (at, byte) in changes {
            image[at] = byte;
        }
        if let Ok(found) = clocks(&image[..len]) {
            prop_assert!((1..=HIGHEST_KHZ).contains(&found.engine_khz));
            prop_assert!((1..=HIGHEST_KHZ).contains(&found.memory_khz));
            prop_assert!((1..=HIGHEST_REFERENCE_KHZ).contains(&found.reference_khz));
        }
    }

    #[test]
    fn noise_is_no_image(bytes in prop::collection::vec(any::<u8>(), 0..2048)) {
        prop_assume!(!bytes.starts_with(&[0x55, 0xaa]));
        prop_assert_eq!(clocks(&bytes), Err(Error::NoRom));
    }
}
