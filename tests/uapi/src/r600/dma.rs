// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The DMA ring of R7xx: fills, copies, and that jobs of both rings see each other's results.

use anyhow::{Result, ensure};
use lapidary_engines::r600::{cp, dma};
use lapidary_guest::abi::{self, info_request as find};
use lapidary_guest::stream::Stream;
use lapidary_guest::{Bo, Client as _, Device, Domain, Errno};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused, skip};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("r600/dma/fills_and_copies", fills_and_copies),
        Test::new("r600/dma/rings_see_each_other", rings_see_each_other),
        Test::new("r600/dma/refused_commands", refused_commands),
        Test::new("r600/dma/only_with_a_ring", only_with_a_ring),
    ]
}

/// Return whether the chip has a DMA ring.
fn has_ring(device: &Device) -> Result<bool> {
    Ok(device.info_with(const { find("RING_WORKING") }, abi::RING_DMA)? == 1)
}

/// Skip the test without a DMA ring.
pub fn needs_ring(device: &Device) -> Result<()> {
    match has_ring(device)? {
        true => Ok(()),
        false => skip("a chip without DMA ring"),
    }
}

fn fills_and_copies(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    needs_ring(&device)?;
    for (from, to) in [
        (Domain::Gtt, Domain::Vram),
        (Domain::Vram, Domain::Gtt),
        (Domain::Vram, Domain::Vram),
    ] {
        let (from, to) = (device.create(PAGE, from)?, device.create(PAGE, to)?);
        let mut stream = dma::stream();
        dma::fill(&mut stream, (&from, 0), 1024, 0x1111_1111);
        dma::write(&mut stream, (&from, 16), &[5, 6, 7]);
        dma::fill(&mut stream, (&to, 0), 1024, 0x2222_2222);
        dma::copy(&mut stream, (&from, 8), (&to, 32), 5);
        device.submit(&stream)?;
        let found = to.read()?;
        let mut want = vec![0x2222_2222; 1024];
        want[8..13].copy_from_slice(&[0x1111_1111, 0x1111_1111, 5, 6, 7]);
        ensure!(found == want, "{:x?} …", &found[..16]);
    }
    Ok(())
}

/// Each job waits for those before it on the other ring that use its objects.
fn rings_see_each_other(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    needs_ring(&device)?;
    let (a, b) = (
        device.create(PAGE, Domain::Vram)?,
        device.create(PAGE, Domain::Vram)?,
    );
    for round in 1..50u32 {
        let mut stream = dma::stream();
        dma::fill(&mut stream, (&a, 0), 1024, round);
        device.submit(&stream)?;
        let mut stream = Stream::new();
        cp::copy(&mut stream, (&a, 0), (&b, 0), 4096);
        device.submit(&stream)?;
        let mut stream = dma::stream();
        dma::copy(&mut stream, (&b, 0), (&a, 2048), 512);
        device.submit(&stream)?;
        let found = a.read()?;
        ensure!(
            found.iter().all(|word| *word == round),
            "round {round}: {:x?} …",
            &found[..4]
        );
    }
    Ok(())
}

/// Commands about an object.
type Commands = fn(&mut Stream, &Bo);

/// Submit commands that leave their objects, and such as belong to the kernel.
fn refused_commands(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    needs_ring(&device)?;
    let bo = device.create(PAGE, Domain::Vram)?;
    let cases: [(&str, Commands); 5] = [
        ("a fill behind the end", |stream, bo| {
            dma::fill(stream, (bo, 4), 1024, 1);
        }),
        ("a copy from behind the end", |stream, bo| {
            dma::copy(stream, (bo, 4092), (bo, 0), 2);
        }),
        ("a write without object", |stream, _| {
            stream.extend(&[dma::head(2, 1), 0, 0, 1]);
        }),
        ("a fence", |stream, bo| {
            dma::fill(stream, (bo, 0), 1, 1);
            stream.extend(&[dma::head(6, 0), 0, 0, 1]);
        }),
        ("an indirect buffer", |stream, bo| {
            dma::fill(stream, (bo, 0), 1, 1);
            stream.extend(&[dma::head(4, 0), 0, 8 << 16]);
        }),
    ];
    for (name, commands) in cases {
        let mut stream = dma::stream();
        commands(&mut stream, &bo);
        refused(name, device.submit(&stream), Errno::INVAL)?;
    }
    Ok(())
}

fn only_with_a_ring(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut stream = dma::stream();
    stream.word(dma::NOP);
    match has_ring(&device)? {
        true => Ok(device.submit(&stream)?),
        false => refused("a DMA job", device.submit(&stream), Errno::INVAL),
    }
}
