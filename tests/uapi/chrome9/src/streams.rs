// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the checker refuses in a stream, with the reason and the dword. The tests of the checker itself try all there is
//! (`tests/host/chrome9`); here it is seen that the driver asks it, refuses what it refuses, and says so.
//!
//! Each case differs in one thing from a stream that is accepted and draws.

use crate::support::{DEPTH, on, refused_for, stream, surface, untouched, whole};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::blit::{Blit, Rect, Source};
use lapidary_chrome9_client::stream::{NULL, UNIT, Write, header};
use lapidary_chrome9_client::{
    Bo, Client as _, Device, Errno, Place, Stream, Submission, emit, reason,
};
use lapidary_harness::{Context, Test, refused};
use lapidary_registers::chrome9::mmio::{self, cr_setting, dimension, pitch};
use lapidary_registers::chrome9::{enums, header as code};
use std::rc::Rc;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("streams/headers_are_those_for_clients", headers),
        Test::new("streams/the_regulator_belongs_to_the_kernel", regulator),
        Test::new("streams/counts_end_with_the_stream", counts),
        Test::new("streams/only_padding_between_headers", padding),
        Test::new("streams/registers_are_those_of_the_2d_engine", registers),
        Test::new("streams/a_command_needs_its_registers", state),
        Test::new("streams/state_is_not_inherited", inherited),
        Test::new("streams/rectangles_stay_in_their_objects", bounds),
        Test::new("streams/copies_do_not_overlap_the_wrong_way", overlap),
        Test::new("streams/host_data_is_as_long_as_the_blit", host_data),
        Test::new("streams/headers_in_payloads_are_data", payloads),
        Test::new("streams/random_ones_do_no_harm", random).limit(120),
    ]
}

const COLOUR: u32 = 0x00c0_ffee;

/// Objects and a copy between them.
struct Scene {
    device: Rc<Device>,
    from: Bo,
    to: Bo,
}

impl Scene {
    fn new(context: &mut Context) -> Result<Scene> {
        let device = context.device()?;
        let from = surface(&device, 32, Place::FrameBuffer)?;
        let to = surface(&device, 32, Place::FrameBuffer)?;
        from.write(&vec![COLOUR; from.size() as usize / 4])?;
        Ok(Scene { device, from, to })
    }

    fn copy(&self) -> Blit {
        Blit::copy(DEPTH, on(1), whole(&self.to), on(0), (0, 0))
    }

    fn stream(&self, blit: &Blit) -> Stream {
        stream(&[&self.from, &self.to], std::slice::from_ref(blit))
    }

    /// Check that a stream is accepted and draws.
    fn accepts(&self, submission: &Submission) -> Result<()> {
        self.to.wait()?;
        self.to.write(&[1; 8])?;
        submission.issue(&self.device).context("the good stream")?;
        let seen = self.to.read()?[0];
        ensure!(seen == COLOUR, "it drew {seen:#x}");
        Ok(())
    }

    /// Check that streams are refused without a trace on the device.
    fn refuses(&self, context: &mut Context, cases: &[Case]) -> Result<()> {
        untouched(context, || {
            for case in cases {
                refused_for(
                    &case.what,
                    &self.device,
                    &case.submission,
                    Errno::INVAL,
                    (case.reason, case.position as u32),
                )?;
            }
            Ok(())
        })
    }
}

/// A stream that is refused, why, and where.
struct Case {
    what: String,
    submission: Submission,
    reason: u32,
    position: usize,
}

impl Case {
    fn new(what: impl Into<String>, submission: Submission, reason: u32, position: usize) -> Case {
        Case {
            what: what.into(),
            submission,
            reason,
            position,
        }
    }
}

/// Return where a register's value is.
fn value_of(words: &[u32], register: u32) -> Result<usize> {
    // Values can look like offsets. Offsets have even places here, because a header has four dwords.
    let place = (UNIT..words.len())
        .step_by(2)
        .find(|&at| words[at] == register);
    Ok(place.with_context(|| format!("no register {register:#x}"))? + 1)
}

fn headers(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let good = Submission::of(&scene.stream(&scene.copy()));
    scene.accepts(&good)?;
    let mut cases = Vec::new();
    for (code, reason) in [
        (code::DEBUG, reason::FORBIDDEN_HEADER),
        (code::VIDEO_DATA, reason::FORBIDDEN_HEADER),
        (code::DMA_REGISTERS, reason::FORBIDDEN_HEADER),
        (code::BRANCH, reason::NESTED_BRANCH),
        (code::SECOND_BRANCH_ASSUMED, reason::NESTED_BRANCH),
        (0x40, reason::UNKNOWN_HEADER),
        (0xff, reason::UNKNOWN_HEADER),
    ] {
        let [first, count] = header(code, 1);
        let mut bad = good.clone();
        let at = bad.words.len();
        bad.words.extend([first, count, 0, 0, 0, NULL, NULL, NULL]);
        cases.push(Case::new(format!("header {code:#x}"), bad, reason, at));
    }
    scene.refuses(context, &cases)
}

/// Parameters that move the ring, call buffers or write fences, through each window and each header for parameters.
fn regulator(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let good = Submission::of(&scene.stream(&scene.copy()));
    scene.accepts(&good)?;
    let windows = [
        (mmio::CR_SETTING, mmio::CR_SPACE.base()),
        (mmio::SETTING_3D, mmio::SPACE_3D.base()),
    ];
    let mut cases = Vec::new();
    for kind in [
        enums::para_type::REGULATOR,
        enums::para_type::REGULATOR_MISC,
    ] {
        let setting = cr_setting::HPARATYPE.of(kind);
        let mut headers: Vec<[u32; 4]> = windows
            .iter()
            .map(|(register, space)| {
                let first = header(code::PARAMETERS, 0)[0] | space;
                [first, *register, setting, 0]
            })
            .collect();
        let counted = header(code::VERTEX_DATA, 0)[0] | mmio::SETTING_3D;
        headers.push([counted, 4, setting, 0]);
        for words in headers {
            let mut bad = good.clone();
            let at = bad.words.len();
            bad.words.extend(words);
            // AGP_PAUSE_LOW, or FENCE_4.
            bad.words
                .extend([0x6400_0000, 0x6500_0000, 0x0700_0000, NULL]);
            let what = format!("type {kind:#x} by {words:x?}");
            cases.push(Case::new(what, bad, reason::KERNEL_TYPE, at + 2));
        }
    }
    scene.refuses(context, &cases)
}

fn counts(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let good = Submission::of(&scene.stream(&scene.copy()));
    scene.accepts(&good)?;
    let pairs = good.words[1];
    let mut cases = Vec::new();
    for (count, reason) in [
        (0, reason::EMPTY_HEADER),
        (pairs + 4, reason::TRUNCATED),
        (0x4000_0000, reason::TRUNCATED),
        (0x8000_0000, reason::TRUNCATED),
        (u32::MAX, reason::TRUNCATED),
    ] {
        let mut bad = good.clone();
        bad.words[1] = count;
        cases.push(Case::new(format!("{count:#x} pairs"), bad, reason, 1));
    }
    scene.refuses(context, &cases)
}

fn padding(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let stream = scene.stream(&scene.copy());
    let good = Submission::of(&stream);
    scene.accepts(&good)?;
    let mut cases = Vec::new();
    for word in [0, 1, 0xfd00_0000, u32::MAX] {
        let mut bad = good.clone();
        let at = bad.words.len() + 2;
        bad.words.extend([NULL, NULL, word, NULL]);
        cases.push(Case::new(format!("{word:#x}"), bad, reason::NO_HEADER, at));
    }
    // One pair less than there are.
    let mut bad = good;
    bad.words[1] -= 1;
    let last = value_of(&bad.words, mmio::GECMD)? - 1;
    cases.push(Case::new("a pair", bad, reason::NO_HEADER, last));
    scene.refuses(context, &cases)
}

fn registers(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let good = Submission::of(&scene.stream(&scene.copy()));
    scene.accepts(&good)?;
    let at = value_of(&good.words, mmio::GEMODE)? - 1;
    let ring = mmio::CR_SPACE.at(0).context("CR_SPACE")?;
    let mut cases = Vec::new();
    for (register, reason) in [
        (mmio::CR_SETTING, reason::PAIR_RANGE),
        (ring, reason::PAIR_RANGE),
        (mmio::AGP_PAUSE_ADDRESS_PORT, reason::PAIR_RANGE),
        (mmio::VGA_SEQUENCER, reason::PAIR_RANGE),
        (u32::MAX & !3, reason::PAIR_RANGE),
        (mmio::PATADDR, reason::PATTERN_REGISTER),
    ] {
        let mut bad = good.clone();
        bad.words[at] = register;
        cases.push(Case::new(format!("{register:#x}"), bad, reason, at));
    }
    scene.refuses(context, &cases)
}

/// Without one of its registers a command is refused, each for a reason of its own.
fn state(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let blit = scene.copy().clipped(whole(&scene.to));
    let good = scene.stream(&blit);
    scene.accepts(&Submission::of(&good))?;
    let mut reasons = Vec::new();
    let needed = [
        mmio::GEMODE,
        mmio::PITCH,
        mmio::DIMENSION,
        mmio::DSTPOS,
        mmio::DSTBASE,
        mmio::SRCPOS,
        mmio::SRCBASE,
        mmio::KEYCONTROL,
        mmio::CLIPTL,
    ];
    for register in needed {
        let handles = [scene.from.handle(), scene.to.handle()];
        let mut writes = emit::registers(&handles, &blit);
        let all = writes.len();
        writes.retain(|write| write.register != register);
        ensure!(writes.len() + 1 == all, "{register:#x} is not set once");
        let mut stream = Stream::new();
        stream.registers(&writes);
        let answer = scene.device.submit(&stream);
        refused(&format!("without {register:#x}"), answer, Errno::INVAL)?;
        let refusal = scene.device.refusal()?;
        let command = value_of(stream.words(), mmio::GECMD)?;
        ensure!(
            reason::STATE.contains(&refusal.reason) && refusal.position as usize == command,
            "without {register:#x}: {refusal:?}"
        );
        ensure!(
            !reasons.contains(&refusal.reason),
            "without {register:#x}: the same reason as before"
        );
        reasons.push(refusal.reason);
    }
    Ok(())
}

/// What an earlier stream has set, of this client or of another, does not count.
fn inherited(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let good = scene.stream(&scene.copy());
    let mut command = Stream::new();
    let value = good.words()[value_of(good.words(), mmio::GECMD)?];
    command.registers(&[Write::new(mmio::GECMD, value)]);
    command.list(&scene.to);
    let other = scene.device.another()?;
    for _ in 0..3 {
        scene.accepts(&Submission::of(&good))?;
        for device in [&scene.device, &other] {
            let mut submission = Submission::of(&command);
            if Rc::ptr_eq(device, &other) {
                submission.objects.clear();
            }
            let answer = submission.issue(device);
            refused("a command alone", answer, Errno::INVAL)?;
            let why = device.refusal()?.reason;
            ensure!(reason::STATE.contains(&why), "for reason {why:#x}");
        }
    }
    Ok(())
}

fn bounds(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let good = Submission::of(&scene.stream(&scene.copy()));
    scene.accepts(&good)?;
    let command = value_of(&good.words, mmio::GECMD)?;
    let mut cases = Vec::new();
    let mut change = |what: &str, register: u32, value: u32, reason: u32| -> Result<()> {
        let mut bad = good.clone();
        let at = value_of(&bad.words, register)?;
        bad.words[at] = value;
        cases.push(Case::new(what, bad, reason, command));
        Ok(())
    };
    let size =
        |width: u32, height: u32| dimension::WIDTH.of(width - 1) | dimension::HEIGHT.of(height - 1);
    let (target, source) = (reason::DESTINATION_BOUNDS, reason::SOURCE_BOUNDS);
    change("a row more", mmio::DIMENSION, size(64, 33), target)?;
    change("a pixel more", mmio::DIMENSION, size(65, 32), target)?;
    change("all that fits", mmio::DIMENSION, size(4096, 4096), target)?;
    change("a row lower", mmio::DSTPOS, 1 << 16, target)?;
    change("a pixel to the right", mmio::DSTPOS, 1, target)?;
    change("a row lower in the source", mmio::SRCPOS, 1 << 16, source)?;
    change(
        "a pixel to the right in the source",
        mmio::SRCPOS,
        1,
        source,
    )?;
    let pitches = |to: u32, from: u32| pitch::DESTINATION.of(to / 8) | pitch::SOURCE.of(from / 8);
    change("a longer pitch", mmio::PITCH, pitches(264, 256), target)?;
    change(
        "a longer pitch of the source",
        mmio::PITCH,
        pitches(256, 264),
        source,
    )?;
    scene.refuses(context, &cases)
}

fn overlap(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let within = |to: (u32, u32), from: (u32, u32)| {
        Blit::copy(DEPTH, on(1), Rect::new(to.0, to.1, 20, 10), on(1), from)
    };
    let mut cases = Vec::new();
    for (to, from) in [
        ((3, 0), (0, 0)),
        ((0, 0), (3, 0)),
        ((0, 4), (0, 0)),
        ((0, 0), (0, 4)),
        ((2, 4), (5, 0)),
        ((5, 0), (2, 4)),
    ] {
        let good = within(to, from);
        scene
            .device
            .submit(&scene.stream(&good))
            .with_context(|| format!("{from:?} to {to:?}"))?;
        let mut bad = good;
        (bad.leftwards, bad.upwards) = (!bad.leftwards, !bad.upwards);
        let bad = Submission::of(&scene.stream(&bad));
        let command = value_of(&bad.words, mmio::GECMD)?;
        // The source is listed once more, as an entry of its own.
        let source = value_of(&bad.words, mmio::SRCBASE)? as u32;
        let mut twice = bad.clone();
        let entry = twice.objects.len() as u32;
        let relocation = twice
            .relocations
            .iter_mut()
            .find(|relocation| relocation.dword == source)
            .context("no relocation of the source")?;
        let object = twice.objects[relocation.object as usize];
        relocation.object = entry;
        twice.objects.push(object);
        let what = format!("{from:?} to {to:?}, the wrong way");
        let what_twice = format!("{what}, by two entries");
        cases.push(Case::new(what, bad, reason::COPY_OVERLAP, command));
        cases.push(Case::new(what_twice, twice, reason::COPY_OVERLAP, command));
    }
    scene.to.wait()?;
    scene.refuses(context, &cases)
}

fn host_data(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let rect = Rect::new(0, 0, 8, 3);
    let upload = Blit::upload(DEPTH, on(1), rect, vec![COLOUR; 24]);
    let good = scene.stream(&upload);
    scene.accepts(&Submission::of(&good))?;
    let data = good.words().len() - 24 - UNIT;
    let mut cases = Vec::new();
    let with = |words: &[u32]| {
        let mut submission = Submission::of(&good);
        submission.words.truncate(data);
        let mut rest = Stream::new();
        rest.host_data(words);
        submission.words.extend(rest.words());
        submission
    };
    let short = with(&[COLOUR; 23]);
    let end = short.words.len();
    cases.push(Case::new("a dword less", short, reason::HOST_MISSING, end));
    let long = with(&[COLOUR; 25]);
    let excess = data + UNIT + 24;
    cases.push(Case::new("a dword more", long, reason::HOST_EXCESS, excess));
    let mut none = Submission::of(&good);
    none.words.truncate(data);
    cases.push(Case::new("no data", none, reason::HOST_MISSING, data));
    scene.refuses(context, &cases)?;
    // In two pieces it is as good.
    let mut two = Submission::of(&good);
    two.words.truncate(data);
    for count in [5, 19] {
        let mut rest = Stream::new();
        rest.host_data(&vec![COLOUR; count]);
        two.words.extend(rest.words());
    }
    scene.accepts(&two)
}

/// Pixels that look like headers are pixels.
fn payloads(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let forged: Vec<u32> = [
        header(code::BRANCH, 1)[0],
        header(code::REGISTERS_2D, 1)[0],
        header(code::PARAMETERS, mmio::CR_SETTING)[0],
        mmio::CR_SETTING,
        enums::para_type::REGULATOR << 16,
        NULL,
        u32::MAX,
        0,
    ]
    .into_iter()
    .cycle()
    .take(64 * 32)
    .collect();
    let upload = Blit::upload(DEPTH, on(1), whole(&scene.to), forged.clone());
    ensure!(matches!(upload.source, Source::Colour { .. }), "pixels");
    scene.device.submit(&scene.stream(&upload))?;
    ensure!(scene.to.read()? == forged, "the pixels are others");
    let fill = Blit::fill(DEPTH, on(1), whole(&scene.to), forged[0]);
    scene.device.submit(&scene.stream(&fill))?;
    ensure!(scene.to.read()?[0] == forged[0], "the colour is another");
    Ok(())
}

/// Streams with a few wrong dwords are refused or do no harm: objects that they do not list keep what they have.
fn random(context: &mut Context) -> Result<()> {
    let mut rng = fastrand::Rng::with_seed(0x5eed);
    let scene = Scene::new(context)?;
    let witness = surface(&scene.device, 64, Place::FrameBuffer)?;
    witness.write(&vec![COLOUR; witness.size() as usize / 4])?;
    let upload = Blit::upload(DEPTH, on(1), Rect::new(3, 3, 8, 3), vec![COLOUR; 24]);
    let scenes = [
        scene.copy(),
        upload,
        Blit::fill(DEPTH, on(1), whole(&scene.to), 7),
    ];
    let (mut accepted, mut refused) = (0, 0);
    for round in 0..3000 {
        let mut submission = Submission::of(&scene.stream(&scenes[round % scenes.len()]));
        for _ in 0..rng.usize(1..3) {
            let at = rng.usize(0..submission.words.len());
            let word = &mut submission.words[at];
            *word = match rng.u8(0..3) {
                0 => *word ^ (1 << rng.u32(0..32)),
                1 => rng.u32(..),
                _ => word.wrapping_add(rng.u32(0..16)),
            };
        }
        match submission.issue(&scene.device) {
            Ok(()) => accepted += 1,
            Err(Errno::INVAL) => refused += 1,
            Err(error) => anyhow::bail!("round {round}: {error}"),
        }
    }
    ensure!(
        accepted > 100 && refused > 1000,
        "{accepted} accepted, {refused} refused"
    );
    scene.to.wait()?;
    let intact = witness.read()?.iter().all(|&word| word == COLOUR);
    ensure!(intact, "an object that no stream lists has changed");
    scene.accepts(&Submission::of(&scene.stream(&scene.copy())))
}
