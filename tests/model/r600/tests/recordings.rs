// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams of real clients: the model has nothing to say against them.
//!
//! The environment variable `LAPIDARY_STREAMS` names the folder of a chip, or the folder that has one for each chip (see
//! [`of_chips`]); without it there is nothing to replay. A stream refers to its objects by markers, which a kernel
//! driver replaces by addresses. That is done here for exactly the registers and packets that carry addresses, by what
//! the markers mean and not as any driver does it: a driver that checks and patches is tested elsewhere.

use std::collections::BTreeMap;
use std::path::Path;

use lapidary_model_r600::bench::{Bench, By, Client};
use lapidary_model_r600::kind::{self, Kind};
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::pm4::op;
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

/// GPU addresses of a stream's objects: those that may be in VRAM are there.
fn place(stream: &Stream) -> Vec<u64> {
    const VRAM_DOMAIN: u32 = 4;
    let (mut vram, mut gtt) = (Bench::VRAM, Bench::GTT);
    let place = |o: &lapidary_streams::Object| {
        let next = if (o.read | o.write) & VRAM_DOMAIN != 0 {
            &mut vram
        } else {
            &mut gtt
        };
        // Two macro tiles of the largest kind, so that an object begins at one.
        let at = next.next_multiple_of(1 << 18);
        // A page between objects, so that none ends where another begins.
        *next = at + o.size.next_multiple_of(4096) + 4096;
        at
    };
    stream.objects.iter().map(place).collect()
}

/// How an address stands in the dwords of a packet.
#[derive(Clone, Copy)]
enum Form {
    /// In units of 256 bytes.
    Units,
    /// In bytes, with bits 39:32 in the lowest byte of the dword so many behind it.
    Bytes(usize),
}

/// Return which dwords behind a packet's header take an address, in the order of their markers.
fn addresses(header: u32, body: &[u32]) -> Vec<(usize, Form)> {
    let pair = |i: usize| vec![(i, Form::Bytes(1))];
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
                .map(|i| (i, Form::Units))
                .collect()
        }
        op::SET_RESOURCE => match body[7] >> 30 {
            2 => vec![(3, Form::Units), (4, Form::Units)],
            3 => vec![(1, Form::Bytes(2))],
            _ => Vec::new(),
        },
        op::DRAW_INDEX | op::SET_PREDICATION | op::MEM_WRITE => pair(0),
        op::EVENT_WRITE if body.len() == 3 => pair(1),
        op::EVENT_WRITE_EOP => pair(1),
        op::WAIT_REG_MEM if body[0] & 0x10 != 0 => pair(1),
        op::COPY_DW => {
            let sides = [(1, body[0] & 1), (3, body[0] & 2)];
            let memory = sides.into_iter().filter(|(_, memory)| *memory != 0);
            memory.map(|(i, _)| (i, Form::Bytes(1))).collect()
        }
        op::CP_DMA => vec![(0, Form::Bytes(1)), (2, Form::Bytes(1))],
        op::STRMOUT_BASE_UPDATE => vec![(1, Form::Units)],
        op::STRMOUT_BUFFER_UPDATE => {
            let sides = [(1, body[0] & 1 != 0), (3, body[0] & 6 == 4)];
            let memory = sides.into_iter().filter(|(_, memory)| *memory);
            memory.map(|(i, _)| (i, Form::Bytes(1))).collect()
        }
        _ => Vec::new(),
    }
}

/// Return the stream with addresses in place of offsets.
fn relocate(stream: &Stream, objects: &[u64]) -> Vec<u32> {
    let marker = 0xc000_0000 | (u32::from(op::NOP) << 8);
    let mut words = stream.words.clone();
    let mut at = 0;
    while at < words.len() {
        let header = words[at];
        let len = match header >> 30 {
            0 | 3 => 2 + ((header >> 16) & 0x3fff) as usize,
            _ => 1,
        };
        let end = at + len;
        let mut next = end;
        for (i, form) in addresses(header, &words[at + 1..end]) {
            let Some([found, index]) = words.get(next..next + 2) else {
                break;
            };
            // What has no marker is no address: an empty slot of an array.
            if *found != marker {
                break;
            }
            let object = objects[*index as usize / 4];
            match form {
                Form::Units => {
                    words[at + 1 + i] = words[at + 1 + i].wrapping_add((object >> 8) as u32);
                }
                Form::Bytes(high) => {
                    let low = u64::from(words[at + 1 + i]) + object;
                    words[at + 1 + i] = low as u32;
                    words[at + 1 + i + high] += (low >> 32) as u32;
                }
            }
            next += 2;
        }
        at = end;
    }
    words
}

/// Return what the model has to say, by kinds.
fn replay(chip: &str, recordings: &[Recording]) -> BTreeMap<String, Vec<String>> {
    let mut complaints: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut bench = Bench::with_vram(chip, VRAM).unwrap();
    let tiling = TILING.iter().find(|(name, _)| *name == chip).unwrap().1;
    bench.write(mmio::GB_TILING_CONFIG, tiling);
    let start = bench.checkpoint();
    let (mut pictures, mut whole) = (0, 0);
    for recording in recordings {
        let stream = &recording.stream;
        let objects = place(stream);
        bench.clear_objects();
        bench.restore(&start);
        for (at, object) in objects.iter().zip(&stream.objects) {
            bench.object(*at, object.size, &recording.name);
        }
        bench.touched();
        let ended = bench.execute(&relocate(stream, &objects));
        for touch in bench.touched() {
            // What a client does not announce as written it does not expect to change.
            let announced = touch.object.is_some_and(|i| stream.objects[i].write != 0);
            if touch.write && !announced {
                let line = format!("{}: {touch:x?}", recording.name);
                let all = complaints.entry("unannounced write".into()).or_default();
                all.push(line);
            }
            if let (By::Client(Client::Color(_) | Client::Texture(_) | Client::Depth), Some(i)) =
                (touch.who.by, touch.object)
            {
                let end = touch.end - objects[i];
                pictures += 1;
                whole += u32::from(end + 4096 > stream.objects[i].size);
            }
        }
        if !ended {
            let name = recording.name.clone();
            complaints
                .entry("it does not end".into())
                .or_default()
                .push(name);
        }
        for (kind, count, detail) in bench.findings() {
            if (chip, kind) == KNOWN {
                continue;
            }
            let line = format!("{}: {count} times, {detail}", recording.name);
            complaints.entry(kind.to_string()).or_default().push(line);
        }
    }
    let draws = bench.counter("draws_not_executed");
    assert!(draws >= 1, "nothing was drawn");
    println!(
        "{chip}: {} streams, {draws} draws, {whole} of {pictures} pictures fill their object",
        recordings.len()
    );
    // Clients allocate what hardware needs. Some draws reach only a face or a level, and samples, masks and HTILE data lie
    // behind a picture; if most did not reach the end, the model's layout would be too small.
    assert!(whole * 10 >= pictures * 7, "{whole} of {pictures}");
    complaints
}

#[test]
fn real_clients_are_above_reproach() {
    let Some(top) = std::env::var_os(VARIABLE) else {
        return;
    };
    let folders = of_chips(Path::new(&top), TILING.iter().map(|(chip, _)| *chip));
    assert!(!folders.is_empty(), "no folder of a chip in {top:?}");
    let mut wrong = Vec::new();
    for (chip, folder) in folders {
        let complaints = replay(chip, &read_dir(folder).unwrap());
        for (kind, lines) in &complaints {
            eprintln!("{chip}: {kind} in {} streams, such as", lines.len());
            lines.iter().take(5).for_each(|l| eprintln!("    {l}"));
            wrong.push(format!("{chip}: {kind}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:?}");
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
        let objects = place(&stream);
        assert_eq!(relocate(&stream, &objects)[2], (objects[1] >> 8) as u32 + 4);
        let name = "p".to_owned();
        let complaints = replay("rv770", &[Recording { name, stream }]);
        assert_eq!(complaints.is_empty(), quiet, "{complaints:?}");
    }
}
