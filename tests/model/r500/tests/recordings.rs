// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams of real clients: the model has nothing to say against them.
//!
//! The folder of recordings is named by the environment variable `LAPIDARY_STREAMS`; without it there is nothing to
//! replay. Here stand the registers and packets of an R5xx that carry addresses.

use lapidary_model_r500::bench::{Bench, Touch, Who};
use lapidary_model_r500::engine3d::area::Client;
use lapidary_model_r500::kind::Kind;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_streams::replay::{self, Model, Outcome, Reach, Room, Slot};
use lapidary_streams::{Recording, Stream};

/// A bench, and the state of all chips.
struct R5xx(Bench);

impl R5xx {
    fn new(chip: &str) -> Self {
        Self(Bench::new(chip, 256 << 20).unwrap())
    }
}

impl Model for R5xx {
    type Touch = Touch;
    type Kind = Kind;

    const ROOM: Room = Room {
        vram: Bench::VRAM as u64,
        gtt: Bench::GTT as u64,
        align: 4096,
    };
    const MARKERS_MAY_LACK: bool = false;

    fn slots(header: u32, body: &[u32]) -> Vec<Slot> {
        // Words of pitch and offset of the 2D engine count KiB.
        const KIB: u32 = 10;
        let bytes = |list: Vec<usize>| list.into_iter().map(|i| Slot::Units(i, 0)).collect();
        match header >> 30 {
            0 => {
                let base = (header & 0x1fff) * 4;
                let step = if header & (1 << 15) == 0 { 4 } else { 0 };
                (0..body.len())
                    .filter_map(|i| {
                        let offset = base + i as u32 * step;
                        let array = [mmio::RB3D_COLOROFFSET, mmio::TX_OFFSET]
                            .iter()
                            .any(|a| a.index_of(offset).is_some());
                        match offset {
                            mmio::DST_PITCH_OFFSET | mmio::SRC_PITCH_OFFSET => {
                                Some(Slot::Units(i, KIB))
                            }
                            mmio::ZB_DEPTHOFFSET
                            | mmio::RB3D_AARESOLVE_OFFSET
                            | mmio::ZB_ZPASS_ADDR => Some(Slot::Units(i, 0)),
                            _ => array.then_some(Slot::Units(i, 0)),
                        }
                    })
                    .collect()
            }
            3 => match (header >> 8) as u8 {
                op::INDX_BUFFER => bytes(vec![1]),
                op::_3D_LOAD_VBPNTR => {
                    let arrays = (body[0] & 0x1f) as usize;
                    bytes((0..arrays).map(|i| 2 + i / 2 * 3 + i % 2).collect())
                }
                _ => Vec::new(),
            },
            _ => Vec::new(),
        }
    }

    fn reset(&mut self) {
        self.0.reset();
    }

    fn object(&mut self, address: u64, size: u64, name: &str) {
        self.0.object(address as u32, size, name);
    }

    fn execute(&mut self, words: &[u32]) -> bool {
        self.0.execute(words)
    }

    fn touched(&mut self) -> Vec<Touch> {
        self.0.touched()
    }

    fn reach(touch: &Touch) -> Reach {
        Reach {
            object: touch.object,
            write: touch.write,
            end: touch.end,
            picture: matches!(
                touch.who,
                Who::Client(Client::Color(_) | Client::Texture(_))
            ),
        }
    }

    fn findings(&mut self) -> Vec<(Kind, u64, String)> {
        self.0.findings()
    }

    fn draws(&self) -> u64 {
        self.0.counter("draws_not_executed")
    }
}

fn replay(chip: &str, recordings: &[Recording]) -> Outcome {
    replay::replay(&mut R5xx::new(chip), recordings, |_| false)
}

#[test]
fn real_clients_are_above_reproach() {
    let Some(recordings) = lapidary_streams::from_environment().unwrap() else {
        return;
    };
    for chip in ["rv515", "r520", "rv530", "r580"] {
        // Some draws reach only a face, a level or a half.
        replay(chip, &recordings).check(chip, 8);
    }
}

/// The replay itself: addresses arrive, and a stream that reaches too far is found.
#[test]
fn a_replay_relocates_and_judges() {
    let marker = [0xc000_0000 | (u32::from(op::NOP) << 8), 4];
    let mut words = Vec::new();
    for (offset, value) in [
        (mmio::RB3D_COLOROFFSET.at(0).unwrap(), 0x400),
        (mmio::RB3D_COLORPITCH.at(0).unwrap(), 32 | (6 << 21)),
        (mmio::RB3D_COLOR_CHANNEL_MASK, 15),
        (mmio::US_OUT_FMT.at(1).unwrap(), 15),
        (mmio::US_OUT_FMT.at(2).unwrap(), 15),
        (mmio::US_OUT_FMT.at(3).unwrap(), 15),
        (mmio::SC_SCISSOR1, 31 | (23 << 13)),
        (mmio::SC_CLIP_RULE, 0xffff),
        (mmio::SC_SCREENDOOR, 0xff_ffff),
    ] {
        words.extend([offset / 4, value]);
        if offset == mmio::RB3D_COLOROFFSET.base() {
            words.extend(marker);
        }
    }
    // A triangle from no arrays.
    words.extend([
        0xc000_0000 | (u32::from(op::_3D_DRAW_VBUF_2) << 8),
        0x0003_0024,
    ]);
    let object = |size| lapidary_streams::Object {
        size,
        tiling: 0,
        read: 4,
        write: 4,
    };
    for (size, quiet) in [(0x1000, true), (0xfff, false)] {
        let stream = Stream {
            program: "p".into(),
            objects: vec![object(0x1000), object(size)],
            words: words.clone(),
            ..Stream::default()
        };
        let places = R5xx::ROOM.place(&stream.objects);
        let first = replay::relocate::<R5xx>(&stream, &places)[1];
        assert_eq!(first, Bench::VRAM + 0x2000 + 0x400);
        let name = "p".to_owned();
        let outcome = replay("rv515", &[Recording { name, stream }]);
        assert_eq!(outcome.complaints.is_empty(), quiet, "{outcome:?}");
        assert_eq!((outcome.draws, outcome.pictures), (1, (1, 1)));
    }
}
