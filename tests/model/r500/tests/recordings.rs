// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams of real clients: the model has nothing to say against them.
//!
//! The folder of recordings is named by the environment variable `LAPIDARY_STREAMS`; without it there is nothing to
//! replay. A stream refers to its objects by markers, which a kernel driver replaces by addresses. That is done here
//! for exactly the registers and packets that carry addresses, by what the markers mean and not as any driver does
//! it: a driver that checks and patches is tested elsewhere.

use std::collections::BTreeMap;

use lapidary_model_r500::bench::{Bench, Who};
use lapidary_model_r500::engine3d::area::Client;
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_streams::{Recording, Stream};

/// GPU addresses of a stream's objects: those that may be in VRAM are there.
fn place(stream: &Stream) -> Vec<u32> {
    const VRAM_DOMAIN: u32 = 4;
    let (mut vram, mut gtt) = (Bench::VRAM, Bench::GTT);
    let place = |o: &lapidary_streams::Object| {
        let next = if (o.read | o.write) & VRAM_DOMAIN != 0 {
            &mut vram
        } else {
            &mut gtt
        };
        let at = *next;
        // A page between objects, so that none ends where another begins.
        *next += (o.size as u32).next_multiple_of(4096) + 4096;
        at
    };
    stream.objects.iter().map(place).collect()
}

/// Return which dwords behind a packet's header take an address, and by how many bits it is shifted there.
fn addresses(header: u32, body: &[u32]) -> Vec<(usize, u32)> {
    // Words of pitch and offset of the 2D engine count KiB.
    const KIB: u32 = 10;
    let bytes = |list: Vec<usize>| list.into_iter().map(|i| (i, 0)).collect();
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
                        mmio::DST_PITCH_OFFSET | mmio::SRC_PITCH_OFFSET => Some((i, KIB)),
                        mmio::ZB_DEPTHOFFSET
                        | mmio::RB3D_AARESOLVE_OFFSET
                        | mmio::ZB_ZPASS_ADDR => Some((i, 0)),
                        _ => array.then_some((i, 0)),
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

/// Return the stream with addresses in place of offsets.
fn relocate(stream: &Stream, objects: &[u32]) -> Vec<u32> {
    let marker = 0xc000_0000 | (u32::from(op::NOP) << 8);
    let mut words = stream.words.clone();
    let mut at = 0;
    while at < words.len() {
        let header = words[at];
        let len = match header >> 30 {
            0 | 3 => 2 + ((header >> 16) & 0x3fff) as usize,
            1 => 3,
            _ => 1,
        };
        let end = at + len;
        let mut next = end;
        for (i, shift) in addresses(header, &words[at + 1..end]) {
            assert_eq!(words[next], marker, "no marker behind dword {at}");
            let object = words[next + 1] as usize / 4;
            words[at + 1 + i] = words[at + 1 + i].wrapping_add(objects[object] >> shift);
            next += 2;
        }
        at = end;
    }
    words
}

fn replay(chip: &str, recordings: &[Recording]) -> BTreeMap<String, Vec<String>> {
    let mut complaints: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut bench = Bench::new(chip, 256 << 20).unwrap();
    let (mut pictures, mut whole) = (0, 0);
    for recording in recordings {
        let stream = &recording.stream;
        let objects = place(stream);
        bench.reset();
        for (at, object) in objects.iter().zip(&stream.objects) {
            bench.object(*at, object.size, &recording.name);
        }
        bench.touched();
        let ended = bench.execute(&relocate(stream, &objects));
        for touch in bench.touched() {
            // What a client does not announce as written it does not expect to change.
            let announced = touch.object.is_some_and(|i| stream.objects[i].write != 0);
            if touch.write && !announced {
                let line = format!("{}: {touch:?}", recording.name);
                let all = complaints.entry("unannounced write".into()).or_default();
                all.push(line);
            }
            if let (Who::Client(Client::Color(_) | Client::Texture(_)), Some(i)) =
                (touch.who, touch.object)
            {
                let end = touch.end - u64::from(objects[i]);
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
    // Clients allocate what hardware needs. Some draws reach only a face, a level or a half; if many did, the
    // model's layout would be too small.
    assert!(whole * 10 >= pictures * 8, "{whole} of {pictures}");
    complaints
}

#[test]
fn real_clients_are_above_reproach() {
    let Some(recordings) = lapidary_streams::from_environment().unwrap() else {
        return;
    };
    for chip in ["rv515", "r520", "rv530", "r580"] {
        let complaints = replay(chip, &recordings);
        for (kind, lines) in &complaints {
            eprintln!("{chip}: {kind} in {} streams, such as", lines.len());
            lines.iter().take(5).for_each(|l| eprintln!("    {l}"));
        }
        assert!(complaints.is_empty(), "{chip}");
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
        let first = relocate(&stream, &place(&stream))[1];
        assert_eq!(first, Bench::VRAM + 0x2000 + 0x400);
        let name = "p".to_owned();
        let complaints = replay("rv515", &[Recording { name, stream }]);
        assert_eq!(complaints.is_empty(), quiet, "{complaints:?}");
    }
}
