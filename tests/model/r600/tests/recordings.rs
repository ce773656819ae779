// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams of real clients: the model has nothing to say against them.
//!
//! `LAPIDARY_STREAMS` names the folder of a chip, or the folder that has one for each chip (see [`of_chips`]); without it
//! there is nothing to replay. Here stand the registers and packets of R6xx and R7xx that carry addresses.

use std::path::Path;

use lapidary_model_r600::bench::{Bench, By, Checkpoint, Client, Touch};
use lapidary_model_r600::kind::{self, Kind};
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::pm4::op;
use lapidary_streams::replay::{self, Model, Outcome, Reach, Room, Slot};
use lapidary_streams::{Recording, Stream, VARIABLE, of_chips, read_dir};

/// VRAM of a bench.
const VRAM: u64 = 256 << 20;

/// What the driver of a chip tells all units of its memory (Linux, `r600.c`, `rv770.c`).
const TILING: [(&str, u32); 8] = [
    ("r600", 0x4916),
    ("rv610", 0x4910),
    ("rv635", 0x4912),
    ("rv670", 0x4914),
    ("rv770", 0x4916),
    ("rv730", 0x4914),
    ("rv710", 0x4912),
    ("rv740", 0x4914),
];

/// What is known of a client: Mesa has four threads for each of the export and the geometry shader on RV670, for which the
/// manual wants sixteen (seed 1453).
const KNOWN: (&str, Kind) = ("rv670", kind::THREAD_COUNT);

/// Registers and some packets count 256 bytes: log2 of them.
const UNIT: u32 = 8;

/// A bench, and the state from which each recording starts.
struct R6xx {
    bench: Bench,
    start: Checkpoint,
}

impl R6xx {
    fn new(chip: &str) -> Self {
        let mut bench = Bench::with_vram(chip, VRAM).unwrap();
        let tiling = TILING.iter().find(|(name, _)| *name == chip).unwrap().1;
        bench.write(mmio::GB_TILING_CONFIG, tiling);
        let start = bench.checkpoint();
        Self { bench, start }
    }
}

impl Model for R6xx {
    type Touch = Touch;
    type Kind = Kind;

    const ROOM: Room = Room {
        vram: Bench::VRAM,
        gtt: Bench::GTT,
        // Two macro tiles of the largest kind, so that an object begins at one.
        align: 1 << 18,
    };
    const MARKERS_MAY_LACK: bool = true;

    fn slots(header: u32, body: &[u32]) -> Vec<Slot> {
        let pair = |i: usize| vec![Slot::Bytes(i, i + 1)];
        match (header >> 8) as u8 {
            op::SET_CONTEXT_REG | op::SET_CONFIG_REG => {
                let base = if (header >> 8) as u8 == op::SET_CONFIG_REG {
                    0x8000
                } else {
                    0x28000
                };
                let takes = |offset: u32| {
                    let arrays = [
                        mmio::CB_COLOR_BASE,
                        mmio::CB_COLOR_FRAG,
                        mmio::CB_COLOR_TILE,
                        mmio::SQ_ALU_CONST_CACHE_PS,
                        mmio::SQ_ALU_CONST_CACHE_VS,
                        mmio::SQ_ALU_CONST_CACHE_GS,
                        mmio::VGT_STRMOUT_BUFFER_BASE,
                    ];
                    let singles = [
                        mmio::DB_DEPTH_BASE,
                        mmio::DB_HTILE_DATA_BASE,
                        mmio::SQ_PGM_START_PS,
                        mmio::SQ_PGM_START_VS,
                        mmio::SQ_PGM_START_GS,
                        mmio::SQ_PGM_START_ES,
                        mmio::SQ_PGM_START_FS,
                        mmio::SQ_ESGS_RING_BASE,
                        mmio::SQ_GSVS_RING_BASE,
                        mmio::SQ_ESTMP_RING_BASE,
                        mmio::SQ_GSTMP_RING_BASE,
                        mmio::SQ_VSTMP_RING_BASE,
                        mmio::SQ_PSTMP_RING_BASE,
                        mmio::SQ_FBUF_RING_BASE,
                        mmio::SQ_REDUC_RING_BASE,
                    ];
                    arrays.iter().any(|a| a.index_of(offset).is_some()) || singles.contains(&offset)
                };
                (1..body.len())
                    .filter(|i| takes(base + (body[0] + *i as u32 - 1) * 4))
                    .map(|i| Slot::Units(i, UNIT))
                    .collect()
            }
            op::SET_RESOURCE => match body[7] >> 30 {
                2 => vec![Slot::Units(3, UNIT), Slot::Units(4, UNIT)],
                3 => vec![Slot::Bytes(1, 3)],
                _ => Vec::new(),
            },
            op::DRAW_INDEX | op::SET_PREDICATION | op::MEM_WRITE => pair(0),
            op::EVENT_WRITE if body.len() == 3 => pair(1),
            op::EVENT_WRITE_EOP => pair(1),
            op::WAIT_REG_MEM if body[0] & 0x10 != 0 => pair(1),
            op::COPY_DW => {
                let sides = [(1, body[0] & 1), (3, body[0] & 2)];
                let memory = sides.into_iter().filter(|(_, memory)| *memory != 0);
                memory.map(|(i, _)| Slot::Bytes(i, i + 1)).collect()
            }
            op::CP_DMA => vec![Slot::Bytes(0, 1), Slot::Bytes(2, 3)],
            op::STRMOUT_BASE_UPDATE => vec![Slot::Units(1, UNIT)],
            op::STRMOUT_BUFFER_UPDATE => {
                let sides = [(1, body[0] & 1 != 0), (3, body[0] & 6 == 4)];
                let memory = sides.into_iter().filter(|(_, memory)| *memory);
                memory.map(|(i, _)| Slot::Bytes(i, i + 1)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn reset(&mut self) {
        self.bench.clear_objects();
        self.bench.restore(&self.start);
    }

    fn object(&mut self, address: u64, size: u64, name: &str) {
        self.bench.object(address, size, name);
    }

    fn execute(&mut self, words: &[u32]) -> bool {
        self.bench.execute(words)
    }

    fn touched(&mut self) -> Vec<Touch> {
        self.bench.touched()
    }

    fn reach(touch: &Touch) -> Reach {
        Reach {
            object: touch.object,
            write: touch.write,
            end: touch.end,
            picture: matches!(
                touch.who.by,
                By::Client(Client::Color(_) | Client::Texture(_) | Client::Depth)
            ),
        }
    }

    fn findings(&mut self) -> Vec<(Kind, u64, String)> {
        self.bench.findings()
    }

    fn draws(&self) -> u64 {
        self.bench.counter("draws_not_executed")
    }
}

fn replay(chip: &str, recordings: &[Recording]) -> Outcome {
    replay::replay(&mut R6xx::new(chip), recordings, |kind| {
        (chip, *kind) == KNOWN
    })
}

#[test]
fn real_clients_are_above_reproach() {
    let Some(top) = std::env::var_os(VARIABLE) else {
        return;
    };
    let folders = of_chips(Path::new(&top), TILING.iter().map(|(chip, _)| *chip));
    assert!(!folders.is_empty(), "no folder of a chip in {top:?}");
    for (chip, folder) in folders {
        // Some draws reach only a face or a level. Samples, masks and HTILE data lie behind a picture.
        replay(chip, &read_dir(folder).unwrap()).check(chip, 7);
    }
}

/// The replay itself: addresses arrive, and a stream that reaches too far is found.
#[test]
fn a_replay_relocates_and_judges() {
    let set = |register: u32, values: &[u32]| {
        let (opcode, base) = match register {
            0x8000..0xac00 => (op::SET_CONFIG_REG, 0x8000),
            _ => (op::SET_CONTEXT_REG, 0x28000),
        };
        let count = values.len() as u32;
        let header = 0xc000_0000 | (count << 16) | (u32::from(opcode) << 8);
        [&[header, (register - base) / 4], values].concat()
    };
    let marker = |object: u32| vec![0xc000_0000 | (u32::from(op::NOP) << 8), object * 4];
    let corner = 64 | (64 << 16);
    let draw = vec![0xc001_0000 | (u32::from(op::DRAW_INDEX_AUTO) << 8), 3, 2];
    let words = [
        set(mmio::CB_COLOR_BASE.base(), &[4]),
        marker(1),
        set(mmio::CB_COLOR_INFO.base(), &[(26 << 2) | (2 << 8)]),
        set(mmio::CB_COLOR_SIZE.base(), &[7 | (63 << 10)]),
        set(mmio::CB_TARGET_MASK, &[15]),
        set(mmio::PA_SC_SCREEN_SCISSOR_BR, &[corner]),
        set(mmio::PA_SC_WINDOW_SCISSOR_BR, &[corner]),
        set(mmio::PA_SC_GENERIC_SCISSOR_BR, &[corner]),
        set(mmio::SQ_PGM_EXPORTS_PS, &[2]),
        set(mmio::SQ_PGM_START_PS, &[0]),
        marker(0),
        set(mmio::SQ_PGM_START_VS, &[0]),
        marker(0),
        set(mmio::SQ_PGM_START_FS, &[0]),
        marker(0),
        set(mmio::VGT_PRIMITIVE_TYPE, &[4]),
        draw,
    ]
    .concat();
    let object = |size, write| lapidary_streams::Object {
        size,
        tiling: 0,
        read: 4,
        write,
    };
    for (size, write, quiet) in [(0x4400, 4, true), (0x43ff, 4, false), (0x4400, 0, false)] {
        let stream = Stream {
            program: "p".into(),
            objects: vec![object(0x100, 0), object(size, write)],
            words: words.clone(),
            ..Stream::default()
        };
        let places = R6xx::ROOM.place(&stream.objects);
        let first = replay::relocate::<R6xx>(&stream, &places)[2];
        assert_eq!(first, (places[1] >> 8) as u32 + 4);
        let name = "p".to_owned();
        let outcome = replay("rv770", &[Recording { name, stream }]);
        assert_eq!(outcome.complaints.is_empty(), quiet, "{outcome:?}");
        // The target is read and written.
        assert_eq!((outcome.draws, outcome.pictures), (1, (2, 2)));
    }
}
