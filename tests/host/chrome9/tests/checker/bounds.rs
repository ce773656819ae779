// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Bounds byte by byte: a blit is admitted if the object has its last byte, and refused if it ends one byte before.

use chrome9::portable::checker::{Reason, Refusal};
use chrome9::portable::regs::mmio::{self, gecmd};

use crate::rule::objects;
use crate::support::*;

/// Return the bytes that a rectangle takes of its object, pixel by pixel.
fn last(blit: &Blit, (x, y): (u32, u32), pitch: u32, offset: u32) -> u64 {
    let (width, height) = blit.size;
    let column = |i: u32| {
        if gecmd::DEC_X.any(blit.command) {
            x - i
        } else {
            x + i
        }
    };
    let row = |i: u32| {
        if gecmd::DEC_Y.any(blit.command) {
            y - i
        } else {
            y + i
        }
    };
    let mut end = 0;
    for j in 0..height {
        for i in 0..width {
            let first = offset + row(j) * pitch + column(i) * blit.bytes;
            end = end.max(u64::from(first + blit.bytes));
        }
    }
    end
}

fn cases() -> Vec<Blit> {
    let mut cases = Vec::new();
    for bytes in [1, 2, 4] {
        for direction in 0..4 {
            for (size, to, from) in [
                ((1, 1), (1, 0), (0, 1)),
                ((1, 1), (3, 7), (5, 2)),
                ((7, 5), (6, 4), (11, 13)),
                // Wider than the pitch, so that rows lie across each other.
                ((70, 3), (69, 2), (80, 9)),
            ] {
                for (destination, source) in [(0, 0), (8, 4096), (4096, 0x1238)] {
                    cases.push(Blit {
                        command: COPY
                            | gecmd::DEC_X.of(direction & 1)
                            | gecmd::DEC_Y.of(direction >> 1),
                        bytes,
                        size,
                        to,
                        from,
                        to_pitch: 64,
                        from_pitch: 136,
                        destination: (0, destination),
                        source: (1, source),
                        key: 0,
                    });
                }
            }
        }
    }
    cases
}

#[test]
fn the_last_byte_decides() {
    let cases = cases();
    assert_eq!(cases.len(), 144);
    for blit in &cases {
        let stream = blit.stream();
        let [to, from] = [
            last(blit, blit.to, blit.to_pitch, blit.destination.1),
            last(blit, blit.from, blit.from_pitch, blit.source.1),
        ];
        let check = |sizes: [u64; 2]| run(&stream.words, &stream.relocations, &objects(&sizes));
        let position = stream.value_of(mmio::GECMD) as u32;
        let refusal = |reason| Some(Refusal { position, reason });
        let accesses = check([to, from]).map(|checked| checked.objects);
        let accesses = accesses.unwrap_or_else(|refusal| panic!("{refusal:?}: {blit:?}"));
        for (object, writes) in accesses.iter().zip([true, false]) {
            let access = object.access;
            assert_eq!(
                (access.writes, access.reads, access.frame_buffer),
                (writes, !writes, true),
                "{blit:?}"
            );
        }
        assert_eq!(
            check([to - 1, from]).err(),
            refusal(Reason::DestinationBounds),
            "{blit:?}"
        );
        assert_eq!(
            check([to, from - 1]).err(),
            refusal(Reason::SourceBounds),
            "{blit:?}"
        );
    }
}

#[test]
fn a_clip_makes_nothing_legal() {
    let mut blit = BLIT;
    blit.command |= gecmd::CLIP_ENABLE.mask();
    let mut pairs = vec![set(mmio::CLIPTL, 0), set(mmio::CLIPBR, 0)];
    pairs.extend(blit.pairs());
    let mut stream = Stream::new();
    stream.pairs(&pairs);
    let end = last(&blit, blit.to, blit.to_pitch, 0);
    let check = |size| run(&stream.words, &stream.relocations, &objects(&[size]));
    assert!(check(end).is_ok());
    assert_eq!(
        check(end - 1).unwrap_err().reason,
        Reason::DestinationBounds
    );
}

#[test]
fn the_largest_blit_does_not_overflow() {
    let all = u32::MAX;
    let mut stream = Stream::new();
    stream.pairs(&[
        set(mmio::GEMODE, depth(4)),
        set(mmio::PITCH, all & 0x07ff_07ff),
        set(mmio::DIMENSION, all & 0x0fff_0fff),
        set(mmio::KEYCONTROL, 0),
        set(mmio::DSTPOS, all & 0x0fff_0fff),
        set(mmio::SRCPOS, all & 0x0fff_0fff),
        base(mmio::DSTBASE, 0, 0xffff_fff8),
        base(mmio::SRCBASE, 1, 0xffff_fff8),
        set(mmio::GECMD, COPY),
    ]);
    let end = 0xffff_fff8 + (2 * 0xfff) * (0x7ff * 8) + 2 * 0xfff * 4 + 4;
    let check = |sizes: [u64; 2]| run(&stream.words, &stream.relocations, &objects(&sizes));
    assert!(check([end, end]).is_ok());
    assert_eq!(
        check([end - 1, end]).unwrap_err().reason,
        Reason::DestinationBounds
    );
    assert_eq!(
        check([end, end - 1]).unwrap_err().reason,
        Reason::SourceBounds
    );
}

/// Data of the largest picture would fill the window eight times over: the window's end counts for each header.
#[test]
fn data_stays_in_its_window() {
    let blit = Blit {
        command: UPLOAD,
        bytes: 4,
        size: (2048, 512),
        to: (0, 0),
        to_pitch: 8192,
        ..BLIT
    };
    let check = |address: u32, first: usize| {
        let mut stream = blit.stream();
        let at = stream.words.len();
        stream.host(address, &vec![0; first]);
        stream.host(0, &vec![0; 0x10_0000 - first]);
        let result = run(&stream.words, &stream.relocations, &objects(&[4 << 20]));
        result.map(drop).map_err(|refusal| {
            assert_eq!(refusal.position as usize, at);
            refusal.reason
        })
    };
    assert_eq!(check(0, 0x8_0000), Ok(()));
    assert_eq!(check(4, 0x8_0000), Err(Reason::HostWindow));
    assert_eq!(check(0, 0x8_0001), Err(Reason::HostWindow));
}
