// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What our driver says about a client's submissions besides an error: the reason of the last refusal, and the resets
//! that concern them.

use crate::support::{self, CHUNKS, PITCH, WIDTH, nothing, settled};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::{self, CsReloc};
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Device, Domain, Errno};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};

const OURS: &str = "asks for numbers of our own";
const NONE: u32 = u32::MAX;

pub fn tests() -> Vec<Test> {
    let ours = |name, body| Test::new(name, body).lapidary_only(OURS);
    vec![
        ours("refusal/answers_are_as_long_as_documented", lengths),
        ours("refusal/bad_pointers", bad_pointers),
        ours("refusal/of_commands", of_commands),
        ours("refusal/of_the_envelope", of_the_envelope),
        ours("refusal/of_relocations", of_relocations),
        ours("refusal/leaves_no_reference", no_reference),
        ours("refusal/is_the_clients_own", own),
        ours("refusal/nothing_was_reset", nothing_was_reset),
        ours("refusal/after_a_hang", after_a_hang)
            .needs_control()
            .hangs(1),
    ]
}

fn lengths(context: &mut Context) -> Result<()> {
    const MARK: u8 = 0xa5;
    let device = context.device()?;
    for request in abi::LAPIDARY_INFO_REQUESTS {
        let mut buffer = [MARK; 256];
        let mut argument = abi::Info {
            request: request.id,
            pad: 0,
            value: buffer.as_mut_ptr() as u64,
        };
        device
            .ioctl(abi::RADEON_INFO, &mut argument)
            .with_context(|| request.name.to_owned())?;
        let (answer, rest) = buffer.split_at(request.bytes);
        ensure!(
            rest.iter().all(|&byte| byte == MARK),
            "{} wrote beyond {} bytes",
            request.name,
            request.bytes
        );
        ensure!(
            answer.chunks(4).all(|word| word != [MARK; 4]),
            "{} left a hole",
            request.name
        );
    }
    for id in [0x4c4f_ffff, 0x4c50_0004, 0x4c50_ffff] {
        refused(
            &format!("request {id:#x}"),
            device.info_bytes(id, 0),
            Errno::INVAL,
        )?;
    }
    Ok(())
}

fn bad_pointers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for value in [0, 0x1000, 0xffff_ffff_8100_0000, u64::MAX] {
        for request in abi::LAPIDARY_INFO_REQUESTS {
            let mut argument = abi::Info {
                request: request.id,
                pad: 0,
                value,
            };
            let answer = device.ioctl(abi::RADEON_INFO, &mut argument);
            refused(
                &format!("{} to {value:#x}", request.name),
                answer,
                Errno::FAULT,
            )?;
        }
    }
    Ok(())
}

/// Submit an envelope that must be refused with this error and for this reason.
pub fn refused_for(
    what: &str,
    device: &Device,
    envelope: &Envelope,
    error: Errno,
    reason: u32,
    position: u32,
) -> Result<()> {
    let before = device.last_refusal()?.count;
    refused(what, envelope.submit(device), error)?;
    let last = device.last_refusal()?;
    ensure!(
        last.count == before + 1 && last.error == error.raw_os_error() as u32,
        "{what}: {last:?}"
    );
    ensure!(
        last.reason == reason && last.position == position,
        "{what}: {last:?}"
    );
    ensure!(!last.text.is_empty(), "{what}: no words");
    Ok(())
}

fn of_commands(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::needs_checker()?;
    ensure!(
        device.last_refusal()?.count == 0 && device.last_refusal()?.text.is_empty(),
        "a new client has been refused: {:?}",
        device.last_refusal()?
    );
    support::untouched(context, || {
        for forbidden in painter().forbidden() {
            for at in [0, 5, 17] {
                let mut words = support::fillers(at);
                words.extend(&forbidden.words);
                let envelope = support::envelope(Chunk::commands(&words));
                let (reason, what) = (forbidden.reason, format!("{forbidden:x?} at {at}"));
                refused_for(&what, &device, &envelope, Errno::INVAL, reason, at as u32)?;
            }
        }
        Ok(())
    })?;
    let last = device.last_refusal()?;
    device.submit(&nothing())?;
    ensure!(
        device.last_refusal()? == last,
        "a good submission changed it"
    );
    Ok(())
}

fn of_the_envelope(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let stream = || support::envelope(Chunk::commands(nothing().words()));
    let ring = support::on_ring(support::NO_RING, support::needed_flags());
    refused_for("a ring", &device, &ring, Errno::INVAL, 0x106, NONE)?;
    let many = stream().claim(1000);
    refused_for("many chunks", &device, &many, Errno::INVAL, 0x101, NONE)?;
    let empty = stream().with(Chunk::flags(&[]));
    refused_for("empty flags", &device, &empty, Errno::INVAL, 0x102, CHUNKS)?;
    let partial = stream().with(Chunk::relocations(&[CsReloc::default()]).claim(3));
    refused_for("a part", &device, &partial, Errno::INVAL, 0x105, CHUNKS)
}

fn of_relocations(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(PAGE, Domain::Gtt)?;
    let good = CsReloc {
        handle: bo.handle(),
        read_domains: abi::DOMAIN_GTT,
        ..Default::default()
    };
    // More than the driver looks up at once.
    for before in [0, 1, 7, 8, 20] {
        for (bad, error, reason) in [
            (
                CsReloc {
                    handle: 9999,
                    ..good
                },
                Errno::NOENT,
                0x204,
            ),
            (
                CsReloc {
                    read_domains: 0,
                    ..good
                },
                Errno::INVAL,
                0x201,
            ),
            (
                CsReloc {
                    read_domains: 8,
                    ..good
                },
                Errno::INVAL,
                0x202,
            ),
            (
                CsReloc {
                    read_domains: 1,
                    ..good
                },
                Errno::INVAL,
                0x203,
            ),
        ] {
            let mut entries = vec![good; before];
            entries.extend([bad, good]);
            let envelope = support::envelope(Chunk::commands(nothing().words()))
                .with(Chunk::relocations(&entries));
            let what = format!("{reason:#x} behind {before}");
            refused_for(&what, &device, &envelope, error, reason, before as u32)?;
        }
    }
    Ok(())
}

/// A refused submission releases the objects that it names, for every reason and every place of the entry at fault.
fn no_reference(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 1 << 20;
    let device = context.device()?;
    let before = settled(&device)?;
    let ordinary = nothing().words().to_vec();
    let forbidden = painter().forbidden().into_iter().next();
    let forbidden = forbidden.map(|forbidden| ("a command", forbidden.words, None, Errno::INVAL));
    let cases: Vec<_> = forbidden
        .into_iter()
        .chain([
            ("a handle", ordinary.clone(), Some((9999, 2)), Errno::NOENT),
            ("a domain", ordinary, Some((0, 8)), Errno::INVAL),
        ])
        .collect();
    for domain in Domain::ALL {
        // More than the driver looks up at once, on both sides.
        for place in [0, 1, 8, 11] {
            for (what, words, bad, error) in &cases {
                let mut objects = Vec::new();
                let mut entries = Vec::new();
                for _ in 0..12 {
                    let bo = device.create(SIZE, domain)?;
                    entries.push(CsReloc {
                        handle: bo.handle(),
                        read_domains: domain.bits(),
                        ..Default::default()
                    });
                    objects.push(bo);
                }
                if let Some((handle, read_domains)) = *bad {
                    entries[place].read_domains = read_domains;
                    if handle != 0 {
                        entries[place].handle = handle;
                    }
                }
                let envelope =
                    support::envelope(Chunk::commands(words)).with(Chunk::relocations(&entries));
                refused(what, envelope.submit(&device), *error)?;
                drop(objects);
                let left = settled(&device)?;
                ensure!(
                    left == before,
                    "{what} at {place} in {domain:?}: {left:?} bytes in use, not {before:?}"
                );
            }
        }
    }
    Ok(())
}

fn own(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let bad = support::refused_envelope();
    refused("a bad submission", bad.submit(&device), Errno::INVAL)?;
    ensure!(
        device.last_refusal()?.count == 1 && other.last_refusal()?.count == 0,
        "another client sees it"
    );
    Ok(())
}

fn nothing_was_reset(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    device.submit(&nothing())?;
    let status = device.reset_status()?;
    ensure!(
        status.guilty == 0
            && status.innocent == 0
            && status.flags == 0
            && status.resets == device.reset_counter()?,
        "{status:?}"
    );
    Ok(())
}

/// After a hang the guilty client's reset status and reason of refusal say so. Other clients' do not change.
fn after_a_hang(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let bo = support::surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    let mut stream = painter().stream();
    painter().fill(
        &mut stream,
        Area::new(&bo, PITCH),
        1,
        Rect::new(0, 0, WIDTH, 16),
    );
    context.control()?.fault("hang", 1)?;
    device.submit(&stream)?;
    bo.wait()?;
    context.control()?.clear_faults()?;
    let envelope = Envelope::of(&stream);
    refused_for("banned", &device, &envelope, Errno::CANCELED, 0x001, NONE)?;
    let status = device.reset_status()?;
    ensure!(
        status.guilty == 1 && status.flags == 1 && status.resets == device.reset_counter()?,
        "the guilty: {status:?}"
    );
    let status = other.reset_status()?;
    ensure!(
        status.guilty == 0 && status.flags == 0 && other.last_refusal()?.count == 0,
        "another client: {status:?}"
    );
    other.submit(&nothing())?;
    support::engine_works(&other)
}
