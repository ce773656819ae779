// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Spoilt streams. A blit loses or changes some of its registers, so that the stream has the right form and many are
//! accepted; or dwords, relocations and objects of the finished submission are changed.

use super::Chrome9;
use super::blits::{self, Depths};
use super::broken::Bent;
use crate::objects::{Mark, Object};
use lapidary_chrome9_client::abi;
use lapidary_chrome9_client::blit::{Blit, Source};
use lapidary_chrome9_client::stream::{Address, Write};
use lapidary_chrome9_client::{Stream, Submission, emit};

/// Return a dword that looks like no process's.
pub fn anything(rng: &mut fastrand::Rng) -> u32 {
    let word = match rng.u32(..4) {
        0 => rng.u32(..),
        1 => rng.u32(..) & 0x000f_000f,
        2 => u32::MAX << rng.u32(..32),
        _ => rng.u32(..64),
    };
    if Mark::any(word) { !word } else { word }
}

/// Return a value that is changed. Colours keep their marks.
fn changed(rng: &mut fastrand::Rng, value: u32, mark: Mark) -> u32 {
    if Mark::any(value) {
        return value;
    }
    let new = match rng.u32(..4) {
        0 | 1 => value ^ (1 << rng.u32(..32)),
        2 => value.wrapping_add(rng.u32(..4)).wrapping_sub(2),
        _ => anything(rng),
    };
    if mark.foreign(new) { 0 } else { new }
}

/// Return a submission that names nothing but `objects`, of which there is at least one.
pub fn submission(rng: &mut fastrand::Rng, objects: &[Object<Chrome9>], mark: Mark) -> Bent {
    let handles = blits::handles(objects);
    let mut stream = Stream::new();
    for mut blit in blits::some(rng, objects, mark, Depths::Only32) {
        if rng.u32(..6) == 0 {
            // Copies within an object may read what they have written then.
            (blit.leftwards, blit.upwards) = (rng.bool(), rng.bool());
        }
        let mut writes = emit::registers(&handles, &blit);
        if rng.u32(..4) == 0 {
            spoil_writes(rng, &mut writes, &handles, mark);
        }
        stream.registers(&writes);
        append_data(rng, &mut stream, &blit, mark);
    }
    let mut submission = Submission::of(&stream);
    if rng.u32(..3) == 0 {
        spoil_words(rng, &mut submission, mark);
    }
    if rng.u32(..6) == 0 {
        spoil_relocations(rng, &mut submission);
    }
    if rng.u32(..12) == 0 {
        spoil_objects(rng, &mut submission, &handles);
    }
    if rng.u32(..6) == 0 {
        list_twice(rng, &mut submission);
    }
    Bent::new(submission)
}

fn spoil_writes(rng: &mut fastrand::Rng, writes: &mut Vec<Write>, handles: &[u32], mark: Mark) {
    for _ in 0..rng.u32(1..=2) {
        if writes.is_empty() {
            return;
        }
        let at = rng.usize(..writes.len());
        let write = &mut writes[at];
        match rng.u32(..8) {
            0 => drop(writes.remove(at)),
            1 => {
                let twin = *write;
                writes.insert(rng.usize(..=at), twin);
            }
            2 => write.register = 4 * rng.u32(..0x1c),
            3 => write.register = anything(rng),
            4 => {
                if let Some(address) = &mut write.address {
                    address.handle = handles[rng.usize(..handles.len())];
                }
            }
            5 => {
                if let Some(Address { offset, .. }) = &mut write.address {
                    *offset = match rng.u32(..4) {
                        0 => anything(rng),
                        1 => offset.wrapping_sub(8),
                        _ => offset.wrapping_add(8 * rng.u32(..600)),
                    };
                }
            }
            _ => write.value = changed(rng, write.value, mark),
        }
    }
}

/// Append the CPU's data of a blit, sometimes not as many as there should be, or in several pieces.
fn append_data(rng: &mut fastrand::Rng, stream: &mut Stream, blit: &Blit, mark: Mark) {
    let width = blit.rect.width as usize;
    let mut data = match &blit.source {
        Source::None | Source::Surface { .. } => return,
        Source::Mono { bits, padding, .. } => emit::mono(bits, width, *padding),
        Source::Colour { pixels } => emit::colours(pixels, width, blit.depth),
    };
    match rng.u32(..12) {
        0 => data.truncate(rng.usize(..data.len())),
        1 => data.extend(vec![mark.word(1); rng.usize(1..8)]),
        2 => {
            let (one, two) = data.split_at(rng.usize(..data.len()));
            stream.host_data(one);
            stream.host_data(two);
            return;
        }
        _ => {}
    }
    stream.host_data(&data);
}

fn spoil_words(rng: &mut fastrand::Rng, submission: &mut Submission, mark: Mark) {
    for _ in 0..rng.u32(1..=3) {
        if submission.words.is_empty() {
            return;
        }
        let at = rng.usize(..submission.words.len());
        match rng.u32(..8) {
            _ if Mark::any(submission.words[at]) => {}
            0 => {
                submission.words.remove(at);
                move_relocations(submission, at, u32::MAX);
            }
            1 => {
                submission.words.insert(at, anything(rng));
                move_relocations(submission, at, 1);
            }
            2 => submission.words.truncate(at / 4 * 4),
            3 => {
                // A unit twice.
                let unit = at / 4 * 4;
                let twin: Vec<u32> = submission
                    .words
                    .iter()
                    .copied()
                    .skip(unit)
                    .take(4)
                    .collect();
                submission.words.splice(unit..unit, twin);
                move_relocations(submission, unit, 4);
            }
            _ => submission.words[at] = changed(rng, submission.words[at], mark),
        }
    }
}

/// Let relocations follow dwords behind one that was added or removed.
fn move_relocations(submission: &mut Submission, from: usize, by: u32) {
    for relocation in &mut submission.relocations {
        if relocation.dword as usize >= from {
            relocation.dword = relocation.dword.wrapping_add(by);
        }
    }
}

fn spoil_relocations(rng: &mut fastrand::Rng, submission: &mut Submission) {
    let entries = &mut submission.relocations;
    if entries.is_empty() {
        return;
    }
    let at = rng.usize(..entries.len());
    let entry = &mut entries[at];
    match rng.u32(..9) {
        0 => entry.dword = anything(rng),
        1 => entry.dword = entry.dword.wrapping_add(rng.u32(..5)).wrapping_sub(2),
        2 => entry.object = rng.u32(..4),
        3 => entry.object = anything(rng),
        4 => entry.offset = anything(rng),
        5 => entry.offset = entry.offset.wrapping_add(8 * rng.u32(..600)),
        6 => entry.field = rng.u32(..3),
        7 => {
            let twin = *entry;
            entries.insert(at, twin);
        }
        _ => drop(entries.remove(at)),
    }
}

fn spoil_objects(rng: &mut fastrand::Rng, submission: &mut Submission, handles: &[u32]) {
    let entries = &mut submission.objects;
    if entries.is_empty() {
        return;
    }
    let at = rng.usize(..entries.len());
    match rng.u32(..5) {
        0 => entries[at].handle = handles[rng.usize(..handles.len())],
        1 => entries[at].handle = rng.u32(..),
        2 => entries[at].reserved = 1 << rng.u32(..32),
        3 => entries.push(abi::Object {
            handle: handles[rng.usize(..handles.len())],
            reserved: 0,
        }),
        _ => drop(entries.remove(at)),
    }
}

/// List an object again, and let some relocations name it by its second place. That is allowed.
fn list_twice(rng: &mut fastrand::Rng, submission: &mut Submission) {
    if submission.objects.is_empty() {
        return;
    }
    let first = rng.usize(..submission.objects.len());
    let second = submission.objects.len() as u32;
    submission.objects.push(submission.objects[first]);
    for relocation in &mut submission.relocations {
        if relocation.object as usize == first && rng.bool() {
            relocation.object = second;
        }
    }
}
