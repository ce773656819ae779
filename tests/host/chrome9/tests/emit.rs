// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kernel's own commands, dword by dword.

use chrome9::portable::emit::{
    branch, fence, pad, Error, Location, BEHIND_BRANCH, BRANCH_DWORDS, FENCE_DWORDS, PAD,
};
use lapidary::portable::sink::SliceSink;

fn written(f: impl FnOnce(&mut SliceSink<'_>) -> Result<(), Error>) -> Result<Vec<u32>, Error> {
    let mut out = [0; 32];
    let mut sink = SliceSink::new(&mut out);
    f(&mut sink)?;
    let n = sink.written();
    Ok(out[..n].to_vec())
}

#[test]
fn a_branch_names_its_buffer_in_three_parts() {
    let words = written(|s| branch(s, 0x1234_5670, 0x100, Location::Gart)).unwrap();
    assert_eq!(
        words,
        [
            0xfe02_0420,
            0x41c,
            0x0011_0000,
            PAD, // parameters of type 11h
            0x6800_0000,
            0x6934_5670,
            0x6a40_0012,
            0x6b00_0010, // A[23:1], location and A[31:24], units
            0xfe82_0420,
            0x41c,
            0x0030_0000,
            PAD,
        ]
    );
    assert_eq!(words.len(), BRANCH_DWORDS);
    let words = written(|s| branch(s, 0, 16, Location::FrameBuffer)).unwrap();
    assert_eq!(words[5..8], [0x6900_0000, 0x6a00_0000, 0x6b00_0001]);
}

#[test]
fn a_fence_has_an_address_of_44_bits_and_a_number_of_32() {
    let words = written(|s| fence(s, 0xabc_1234_5670, 0x89ab_cdef)).unwrap();
    assert_eq!(
        words,
        [
            0xfe02_0420,
            0x41c,
            0x0011_0000,
            PAD,
            0x040a_bc12,
            0x0534_5670,
            0x06ab_cdef,
            0x0757_8900, // and the regulator never waits for room in the queue
        ]
    );
    assert_eq!(words.len(), FENCE_DWORDS);
}

/// A header that lets parameters without effect follow.
const IDLE: [u32; 4] = [0xfe02_0420, 0x41c, 0x0030_0000, PAD];

#[test]
fn padding_begins_with_a_header_and_is_whole_units() {
    assert_eq!(written(|s| pad(s, 0)).unwrap(), []);
    assert_eq!(written(|s| pad(s, 4)).unwrap(), IDLE);
    let words = written(|s| pad(s, 12)).unwrap();
    assert_eq!((&words[..4], &words[4..]), (&IDLE[..], &[PAD; 8][..]));
    assert_eq!(written(|s| pad(s, 6)).err(), Some(Error::Alignment));
    assert_eq!(written(|s| pad(s, 36)).err(), Some(Error::Full));
}

#[test]
fn behind_a_branch_come_as_many_units_as_may_be_requested() {
    assert_eq!(BEHIND_BRANCH.len(), 34 * 4);
    for pair in BEHIND_BRANCH.chunks(8) {
        assert_eq!((&pair[..4], &pair[4..]), (&IDLE[..], &[PAD; 4][..]));
    }
}

#[test]
fn what_cannot_be_expressed_is_refused() {
    let call = |address, bytes| written(|s| branch(s, address, bytes, Location::Gart)).err();
    assert_eq!(call(0xffff_fff0, 16), None);
    assert_eq!(call(0xffff_fff8, 16), Some(Error::Alignment));
    assert_eq!(call(0, 24), Some(Error::Alignment));
    assert_eq!(call(0x1_0000_0000, 16), Some(Error::Range));
    assert_eq!(call(0, 0), Some(Error::Range));
    let signal = |address| written(|s| fence(s, address, 1)).err();
    assert_eq!(signal(0xfff_ffff_fff0), None);
    assert_eq!(signal(0xfff_ffff_fff8), Some(Error::Alignment));
    assert_eq!(signal(0x1000_0000_0000), Some(Error::Range));
    let mut short = [0; 7];
    assert_eq!(
        fence(&mut SliceSink::new(&mut short), 0, 1),
        Err(Error::Full)
    );
}
