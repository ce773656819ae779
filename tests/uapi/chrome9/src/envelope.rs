// SPDX-License-Identifier: GPL-2.0 OR MIT

//! SUBMIT: its structure, the lengths of its lists, the objects that it names. What is refused changes nothing, and says why
//! and where.

use crate::support::{
    self, NOWHERE, bent_refused_for, engine_works, fill, refused_for, surface, untouched,
};
use anyhow::{Result, ensure};
use lapidary_chrome9_client::abi::{Object, Param, Relocation, Submit, Sync};
use lapidary_chrome9_client::stream::{Address, NULL, Write};
use lapidary_chrome9_client::{Bo, Client as _, Device, Errno, Place, Stream, Submission, reason};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::{Context, Test, refused};
use lapidary_registers::chrome9::mmio;
use std::rc::Rc;
use std::time::Duration;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("envelope/a_stream_without_effect_is_accepted", nothing),
        Test::new("envelope/unknown_flags_are_refused", flags),
        Test::new("envelope/a_stream_has_whole_units", units),
        Test::new("envelope/a_stream_has_a_greatest_length", longest),
        Test::new("envelope/the_longest_list_of_objects", objects),
        Test::new("envelope/the_longest_list_of_relocations", relocations),
        Test::new("envelope/the_longest_lists_of_syncs", syncs),
        Test::new("envelope/unknown_handles_are_refused", handles),
        Test::new("envelope/an_object_may_be_listed_twice", twice),
        Test::new("envelope/reserved_has_to_be_zero", reserved),
        Test::new("envelope/bad_pointers_are_refused", pointers),
        Test::new("envelope/empty_lists_need_no_pointer", no_pointer),
        Test::new("envelope/lists_may_be_anywhere", unaligned),
        Test::new("envelope/lengths_do_not_wrap", lengths),
        Test::new(
            "envelope/refused_submissions_change_nothing",
            nothing_changes,
        ),
        Test::new("envelope/refusals_are_the_clients_own", own),
        Test::new("envelope/accepted_submissions_are_no_refusals", no_refusal),
    ]
}

/// Return the submission of a fill, and the object that it fills.
fn good(device: &Rc<Device>) -> Result<(Submission, Bo)> {
    let bo = surface(device, 16, Place::FrameBuffer)?;
    Ok((Submission::of(&fill(&bo, 5)), bo))
}

fn nothing(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for _ in 0..20 {
        Submission::nothing().issue(&device)?;
    }
    engine_works(&device)
}

fn flags(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    untouched(context, || {
        for bit in 0..32 {
            bent_refused_for(
                &format!("flag {bit}"),
                &device,
                &Submission::nothing(),
                |submit| submit.flags = 1 << bit,
                Errno::INVAL,
                (reason::FLAGS, NOWHERE),
            )?;
        }
        Ok(())
    })
}

fn units(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    untouched(context, || {
        for (dwords, why) in [
            (0, reason::EMPTY),
            (1, reason::UNITS),
            (2, reason::UNITS),
            (3, reason::UNITS),
            (5, reason::UNITS),
            (4095, reason::UNITS),
        ] {
            let submission = Submission {
                words: vec![NULL; dwords],
                ..Default::default()
            };
            let what = format!("{dwords} dwords");
            refused_for(&what, &device, &submission, Errno::INVAL, (why, NOWHERE))?;
        }
        Ok(())
    })
}

fn longest(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.param(Param::MostDwords)? as usize;
    let mut submission = Submission {
        words: vec![NULL; most],
        ..Default::default()
    };
    submission.issue(&device)?;
    for more in [4, 8, 4096] {
        submission.words.resize(most + more, NULL);
        let what = format!("{} dwords", most + more);
        refused_for(
            &what,
            &device,
            &submission,
            Errno::INVAL,
            (reason::TOO_LONG, NOWHERE),
        )?;
    }
    engine_works(&device)
}

fn objects(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.param(Param::MostObjects)? as usize;
    let mut kept = Vec::new();
    for i in 0..most {
        kept.push(device.create(PAGE, Place::ALL[i % 2])?);
    }
    let object = |bo: &Bo| Object {
        handle: bo.handle(),
        reserved: 0,
    };
    let mut submission = Submission::nothing();
    submission.objects = kept.iter().map(object).collect();
    submission.issue(&device)?;
    for bo in [&kept[0], &kept[most - 1]] {
        bo.wait()?;
    }
    submission.objects.push(object(&kept[0]));
    refused_for(
        "one object more",
        &device,
        &submission,
        Errno::INVAL,
        (reason::OBJECTS, NOWHERE),
    )
}

fn relocations(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.param(Param::MostRelocations)? as usize;
    let bo = surface(&device, 16, Place::FrameBuffer)?;
    // A base that is set again and again. No command needs it.
    let write = Write::address(
        mmio::DSTBASE,
        Address {
            handle: bo.handle(),
            offset: 8,
        },
    );
    let mut stream = Stream::new();
    stream.registers(&vec![write; most]);
    let mut submission = Submission::of(&stream);
    submission.issue(&device)?;
    submission.relocations.push(Relocation {
        dword: u32::MAX,
        ..Default::default()
    });
    refused_for(
        "one relocation more",
        &device,
        &submission,
        Errno::INVAL,
        (reason::RELOCATIONS, NOWHERE),
    )
}

fn syncs(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let most = device.param(Param::MostSyncs)? as usize;
    let mut line = Vec::new();
    for _ in 0..=most {
        line.push(Syncobj::new(&device, true)?);
    }
    let all: Vec<_> = line.iter().take(most).map(|sync| sync.at(0)).collect();
    let mut submission = Submission::nothing();
    submission.wait = all.clone();
    submission.signal = all.clone();
    submission.issue(&device)?;
    for list in 0..2 {
        let mut submission = Submission::nothing();
        let longer = [&all[..], &[line[most].at(0)]].concat();
        match list {
            0 => submission.wait = longer,
            _ => submission.signal = longer,
        }
        refused_for(
            &format!("one more in list {list}"),
            &device,
            &submission,
            Errno::INVAL,
            (reason::SYNCS, NOWHERE),
        )?;
    }
    Ok(())
}

fn handles(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let (good, _bo) = good(&device)?;
    let closed = device.create_raw(PAGE, 0)?.handle;
    device.close(closed)?;
    // So many of the other client that its last handle is not one of this client's.
    let mut foreign = 0;
    for _ in 0..40 {
        foreign = other.create_raw(PAGE, 0)?.handle;
    }
    untouched(context, || {
        // More than the driver looks up at once.
        for place in [0, 1, 7, 8, 30] {
            for handle in [closed, foreign, 0, u32::MAX] {
                let mut submission = good.clone();
                let known = submission.objects[0];
                submission.objects = vec![known; 32];
                submission.objects[place].handle = handle;
                refused_for(
                    &format!("handle {handle} at {place}"),
                    &device,
                    &submission,
                    Errno::NOENT,
                    (reason::NO_OBJECT, place as u32),
                )?;
            }
        }
        Ok(())
    })
}

fn twice(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (mut submission, bo) = good(&device)?;
    let known = submission.objects[0];
    submission.objects = vec![known; 20];
    for relocation in &mut submission.relocations {
        relocation.object = 17;
    }
    submission.issue(&device)?;
    ensure!(bo.read()?[0] == 5, "nothing was drawn");
    Ok(())
}

fn reserved(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (good, _bo) = good(&device)?;
    let sync = Syncobj::new(&device, true)?;
    untouched(context, || {
        for bit in [0, 1, 31] {
            for place in [0, 3, 9] {
                let mut submission = good.clone();
                let known = submission.objects[0];
                submission.objects = vec![known; 10];
                submission.objects[place].reserved = 1 << bit;
                refused_for(
                    &format!("bit {bit} of object {place}"),
                    &device,
                    &submission,
                    Errno::INVAL,
                    (reason::RESERVED, place as u32),
                )?;
                for list in 0..2 {
                    let mut submission = good.clone();
                    // A handle may be signalled once.
                    let mut syncs = vec![sync.at(0); if list == 0 { 10 } else { 1 }];
                    let place = place.min(syncs.len() - 1);
                    syncs[place].flags = 1 << bit;
                    match list {
                        0 => submission.wait = syncs,
                        _ => submission.signal = syncs,
                    }
                    refused_for(
                        &format!("bit {bit} of sync {place} of list {list}"),
                        &device,
                        &submission,
                        Errno::INVAL,
                        (reason::RESERVED, place as u32),
                    )?;
                }
            }
        }
        Ok(())
    })
}

/// A list of a submission: its pointer and its length.
type List = (&'static str, fn(&mut Submit) -> (&mut u64, &mut u32));

const LISTS: [List; 5] = [
    ("stream", |s| (&mut s.stream, &mut s.dwords)),
    ("objects", |s| (&mut s.objects, &mut s.object_count)),
    ("relocations", |s| {
        (&mut s.relocations, &mut s.relocation_count)
    }),
    ("wait", |s| (&mut s.wait, &mut s.wait_count)),
    ("signal", |s| (&mut s.signal, &mut s.signal_count)),
];

/// Pointers that lead nowhere: for a length of 1 and of many elements.
const NOWHERE_AT_ALL: [u64; 7] = [
    0,
    8,
    0xffff_ffff_8100_0000,
    0x8000_0000_0000_0000,
    0xffff_8880_0000_0000,
    u64::MAX - 15,
    u64::MAX,
];

fn pointers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (good, _bo) = good(&device)?;
    let refusals = device.refusal()?.count;
    untouched(context, || {
        for (name, list) in LISTS {
            for pointer in NOWHERE_AT_ALL {
                for count in [4, 64] {
                    let answer = good.issue_bent(&device, |submit| {
                        let (at, length) = list(submit);
                        (*at, *length) = (pointer, count);
                    });
                    let what = format!("{count} of {name} at {pointer:#x}");
                    refused(&what, answer, Errno::FAULT)?;
                }
            }
        }
        Ok(())
    })?;
    ensure!(
        device.refusal()?.count == refusals,
        "a pointer that leads nowhere is no refusal"
    );
    Ok(())
}

fn no_pointer(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for pointer in NOWHERE_AT_ALL {
        for (name, list) in &LISTS[1..] {
            let answer = Submission::nothing().issue_bent(&device, |submit| {
                let (at, length) = list(submit);
                (*at, *length) = (pointer, 0);
            });
            answer.map_err(|error| anyhow::anyhow!("no {name} at {pointer:#x}: {error}"))?;
        }
    }
    Ok(())
}

/// Lists of user space need no alignment.
fn unaligned(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (good, bo) = good(&device)?;
    for shift in 1..8 {
        bo.wait()?;
        bo.map()?.set(0, 0);
        let shifted = |bytes: Vec<u8>| [vec![0xee; shift], bytes].concat();
        let flat = |words: &[u32]| words.iter().flat_map(|w| w.to_ne_bytes()).collect();
        let stream: Vec<u8> = shifted(flat(&good.words));
        let objects = good.objects.iter().flat_map(|o| [o.handle, o.reserved]);
        let objects = shifted(flat(&objects.collect::<Vec<_>>()));
        let relocations = good.relocations.iter();
        let relocations = relocations.flat_map(|r| [r.dword, r.object, r.offset, r.field]);
        let relocations = shifted(flat(&relocations.collect::<Vec<_>>()));
        good.issue_bent(&device, |submit| {
            submit.stream = stream[shift..].as_ptr() as u64;
            submit.objects = objects[shift..].as_ptr() as u64;
            submit.relocations = relocations[shift..].as_ptr() as u64;
        })?;
        ensure!(bo.read()?[0] == 5, "shifted by {shift}: nothing was drawn");
    }
    Ok(())
}

/// Lengths are refused for what they are, before anything is read.
fn lengths(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let reasons = [
        reason::TOO_LONG,
        reason::OBJECTS,
        reason::RELOCATIONS,
        reason::SYNCS,
        reason::SYNCS,
    ];
    untouched(context, || {
        for ((name, list), why) in LISTS.into_iter().zip(reasons) {
            for count in [
                0x1000_0000,
                0x2000_0000,
                0x4000_0000,
                0x7fff_fffc,
                0x8000_0000,
                0xffff_fffc,
            ] {
                bent_refused_for(
                    &format!("{count:#x} of {name}"),
                    &device,
                    &Submission::nothing(),
                    |submit| *list(submit).1 = count,
                    Errno::INVAL,
                    (why, NOWHERE),
                )?;
            }
        }
        Ok(())
    })
}

/// A submission that is refused for its last list draws nothing and signals nothing.
fn nothing_changes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (good, bo) = good(&device)?;
    bo.write(&[9; 16])?;
    let done = Syncobj::new(&device, false)?;
    untouched(context, || {
        let mut wrong = good.clone().signals(done.at(0));
        wrong.relocations[0].object = 1;
        refused("an object", wrong.issue(&device), Errno::INVAL)?;
        let mut wrong = good.clone().signals(done.at(0));
        wrong.signal.push(Sync {
            handle: 9999,
            ..Default::default()
        });
        refused("a sync", wrong.issue(&device), Errno::NOENT)?;
        Ok(())
    })?;
    let wait = done.wait(0, Duration::ZERO, false);
    refused("its fence", wait, Errno::INVAL)?;
    ensure!(bo.read()?[..16] == [9; 16], "something was drawn");
    good.issue(&device)?;
    ensure!(bo.read()?[..16] == [5; 16], "nothing was drawn");
    Ok(())
}

fn own(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let bent = Submission::nothing().issue_bent(&device, |submit| submit.flags = 1);
    refused("a flag", bent, Errno::INVAL)?;
    ensure!(device.refusal()?.count == 1, "it is not counted");
    ensure!(
        other.refusal()?.count == 0 && other.refusal()?.reason == 0,
        "another client sees it: {:?}",
        other.refusal()?
    );
    Ok(())
}

fn no_refusal(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bent = Submission::nothing().issue_bent(&device, |submit| submit.flags = 1);
    refused("a flag", bent, Errno::INVAL)?;
    let before = device.refusal()?;
    for _ in 0..4 {
        support::engine_works(&device)?;
    }
    let after = device.refusal()?;
    ensure!(before == after, "{before:?} before, {after:?} after");
    Ok(())
}
