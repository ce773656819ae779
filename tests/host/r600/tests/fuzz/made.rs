// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where streams come from: made as clients make them, recorded, or of packets with any contents.

use std::{io, path::Path, rc::Rc};

use fastrand::Rng;
use lapidary::portable::radeon::uapi::cs_flags;
use lapidary_registers::r600::pm4::op;
use lapidary_streams::{of_chips, Recording};

use crate::{
    chips::{by_name, Variant, CHIPS},
    dma, draw, memory,
    packets::packets,
    scene::{begin, finish, header, pick, rarely, Case, Ring, Stream, GENEROUS},
    state::{self, WRITABLE},
};

/// Return the chips that a run is about: the one that `LAPIDARY_CHIP` names, or all.
///
/// # Panics
/// If there is no such chip.
pub fn chips() -> Vec<&'static Variant> {
    match std::env::var("LAPIDARY_CHIP") {
        Ok(name) => vec![by_name(&name).unwrap_or_else(|| panic!("there is no chip {name}"))],
        Err(_) => CHIPS.iter().collect(),
    }
}

/// Make a stream for the graphics ring.
fn gfx(rng: &mut Rng, chip: &'static Variant) -> Case {
    let mut scene = begin(rng, chip);
    match scene.rng.u32(..12) {
        0 | 1 => memory::add(&mut scene),
        2 => {
            memory::add(&mut scene);
            draw::add(&mut scene);
        }
        3 => {
            draw::add(&mut scene);
            draw::add(&mut scene);
        }
        _ => draw::add(&mut scene),
    }
    finish(scene)
}

/// Make a stream as a client makes it, on one of the chips.
pub fn made(rng: &mut Rng, chips: &[&'static Variant]) -> Case {
    let chip = pick(rng, chips);
    if rarely(rng, 6) {
        return dma::made(rng, chip);
    }
    let mut case = gfx(rng, chip);
    if rarely(rng, 16) {
        let other = gfx(rng, chip);
        interleave(rng, &mut case, &other);
    }
    if rarely(rng, 4) {
        case.before = Some(Rc::new(gfx(rng, chip)));
        case.another = rng.bool();
        // The second stream leaves out state that the first one has set.
        match rng.u32(..4) {
            0 => {
                case = Case {
                    another: case.another,
                    ..partial(rng, chip, case.before)
                };
            }
            1 | 2 => case = again(rng, case),
            _ => {}
        }
    }
    case
}

/// Make the stream before once more, without some of its packets.
fn again(rng: &mut Rng, mut case: Case) -> Case {
    let Some(before) = case.before.clone() else {
        return case;
    };
    case.words.clone_from(&before.words);
    case.objects.clone_from(&before.objects);
    for _ in 0..rng.u32(1..4) {
        let packets = packets(&case);
        if let Some(packet) = packets.get(rng.usize(..packets.len().max(1))) {
            case.words.drain(packet.clone());
        }
    }
    case
}

/// Mix the packets of two streams, each in its order, with the objects of both.
fn interleave(rng: &mut Rng, case: &mut Case, other: &Case) {
    let mut sides = [&*case, other].map(|case| (case, packets(case).into_iter().peekable()));
    let mut words = Vec::new();
    while sides
        .iter_mut()
        .any(|(_, packets)| packets.peek().is_some())
    {
        let (from, packets) = &mut sides[rng.usize(..2)];
        for packet in packets.take(rng.usize(1..24)) {
            words.extend(&from.words[packet]);
        }
    }
    case.words = words;
    let number = case.objects.len().max(other.objects.len());
    case.objects.resize(number, GENEROUS);
}

/// Make a stream that relies on what the client's stream before has left.
fn partial(rng: &mut Rng, chip: &'static Variant, before: Option<Rc<Case>>) -> Case {
    let mut scene = begin(rng, chip);
    state::begin(&mut scene);
    draw::some_state(&mut scene);
    let mut case = finish(scene);
    case.before = before;
    case
}

/// Make another stream for the same ring and chip.
pub fn other(rng: &mut Rng, case: &Case) -> Case {
    match case.ring {
        Ring::Gfx => gfx(rng, case.chip),
        Ring::Dma => dma::made(rng, case.chip),
    }
}

/// Return what real programs have sent to the chips that the run is about, of those in the folder that the environment
/// names (see [`of_chips`]). The name of a recording begins with that of its chip.
pub fn recordings() -> io::Result<Vec<Recording>> {
    let Some(folder) = std::env::var_os(lapidary_streams::VARIABLE) else {
        return Ok(Vec::new());
    };
    let mut recordings = Vec::new();
    let chips = chips();
    for (chip, folder) in of_chips(Path::new(&folder), chips.iter().map(|chip| chip.name)) {
        recordings.extend(
            lapidary_streams::read_dir(folder)?
                .into_iter()
                .map(|recording| Recording {
                    name: format!("{chip}/{}", recording.name),
                    ..recording
                }),
        );
    }
    Ok(recordings)
}

/// Return what a real program has sent.
pub fn recorded(recording: &Recording) -> Case {
    let chip = recording.name.split('/').next().and_then(by_name);
    let chip = chip.expect("its name begins with that of a chip");
    let stream = &recording.stream;
    Case {
        ring: if stream.ring == 0 {
            Ring::Gfx
        } else {
            Ring::Dma
        },
        chip,
        by_objects: stream.flags & cs_flags::KEEP_TILING == 0,
        words: stream.words.clone(),
        objects: stream.objects.iter().map(|object| object.size).collect(),
        before: None,
        another: false,
    }
}

/// Make packets with any contents, most of them for registers that may be written.
pub fn garbage(rng: &mut Rng, chips: &[&'static Variant]) -> Case {
    let chip = pick(rng, chips);
    let objects = vec![1 << rng.u32(12..24), GENEROUS];
    if rarely(rng, 4) {
        let words = (0..rng.u32(..40)).map(|_| rng.u32(..)).collect();
        let ring = if rng.bool() { Ring::Gfx } else { Ring::Dma };
        return Case {
            ring,
            chip,
            by_objects: false,
            words,
            objects,
            before: None,
            another: false,
        };
    }
    let mut stream = Stream::default();
    for _ in 0..rng.u32(..24) {
        match rng.u32(..10) {
            0 => drop(stream.words(&[rng.u32(..)])),
            1 => {
                let count = rng.u32(1..8);
                let body: Vec<u32> = (0..count).map(|_| rng.u32(..)).collect();
                stream.packet(rng.u8(..), &body);
            }
            2 => drop(stream.words(&[2 << 30])),
            3 => {
                let opcode = pick(
                    rng,
                    &[
                        op::SET_RESOURCE,
                        op::SET_SAMPLER,
                        op::SET_ALU_CONST,
                        op::SET_LOOP_CONST,
                        op::SET_BOOL_CONST,
                        op::SET_CTL_CONST,
                    ],
                );
                let count = pick(rng, &[1, 3, 7, 7, 14, 4]);
                let at = rng.u32(..0x1000) >> rng.u32(..12);
                stream.words(&[header(opcode, count + 1), at * count]);
                let words: Vec<u32> = (0..count).map(|_| rng.u32(..)).collect();
                stream.words(&words).marker(0).marker(1);
            }
            4 => {
                let count = rng.u32(..64);
                stream.packet(op::DRAW_INDEX_AUTO, &[count, 2]);
            }
            _ => {
                let register = pick(rng, &WRITABLE);
                let value = rng.u32(..) >> rng.u32(..32);
                stream.write(register, value);
                if rarely(rng, 3) {
                    stream.marker(rng.u32(..2));
                }
            }
        }
    }
    Case {
        ring: Ring::Gfx,
        chip,
        by_objects: false,
        words: stream.words,
        objects,
        before: None,
        another: false,
    }
}
