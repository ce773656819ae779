// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls about an object's domains: GEM_SET_DOMAIN, which only waits, GEM_OP, and objects over memory of the process.

use crate::support::{PITCH, WIDTH, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Device, Domain, Errno, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use rustix::mm::{MapFlags, ProtFlags, mmap_anonymous, munmap};
use std::time::{Duration, Instant};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("domains/cpu_waits", cpu_waits).needs_control(),
        Test::new("domains/others_ask_for_nothing", nothing_asked),
        Test::new("domains/of_the_beginning", initial),
        Test::new("domains/bad_calls", bad_calls),
        Test::new("domains/user_memory", user_memory),
    ]
}

pub(crate) fn set_domain(device: &Device, handle: u32, read: u32, write: u32) -> Result<(), Errno> {
    let mut argument = abi::GemSetDomain {
        handle,
        read_domains: read,
        write_domain: write,
    };
    device
        .ioctl(abi::RADEON_GEM_SET_DOMAIN, &mut argument)
        .map(drop)
}

/// Ask (0) or change (1) the domains that an object was made with.
fn operation(device: &Device, handle: u32, op: u32, value: u64) -> Result<u64, Errno> {
    let mut argument = abi::GemOp { handle, op, value };
    device.ioctl(abi::RADEON_GEM_OP, &mut argument)?;
    Ok(argument.value)
}

fn cpu_waits(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 16, Domain::Gtt)?;
    bo.wait()?;
    for (read, write) in [
        (abi::DOMAIN_CPU, 0),
        (0, abi::DOMAIN_CPU),
        (abi::DOMAIN_VRAM, abi::DOMAIN_CPU),
    ] {
        context.control()?.fault("late-fence", 1)?;
        let mut stream = painter().stream();
        let to = Area::new(&bo, PITCH);
        painter().fill(&mut stream, to, 5, Rect::new(0, 0, WIDTH, 16));
        let begin = Instant::now();
        device.submit(&stream)?;
        set_domain(&device, bo.handle(), abi::DOMAIN_GTT, 0).context("the GTT domain")?;
        ensure!(bo.is_busy()?, "asking for GTT waited");
        set_domain(&device, bo.handle(), read, write)
            .with_context(|| format!("read {read}, write {write}"))?;
        ensure!(
            !bo.is_busy()? && begin.elapsed() > Duration::from_millis(300),
            "read {read}, write {write}: it did not wait"
        );
    }
    Ok(())
}

fn nothing_asked(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = device.create(PAGE, domain)?;
        bo.wait()?;
        for (read, write) in [
            (0, 0),
            (abi::DOMAIN_GTT, 0),
            (0, abi::DOMAIN_VRAM),
            (8, 0),
            (7, 7),
        ] {
            set_domain(&device, bo.handle(), read, write)
                .with_context(|| format!("read {read}, write {write}"))?;
            let at = device.busy(bo.handle()).1;
            ensure!(at == domain.bits(), "it went from {domain:?} to {at}");
        }
    }
    Ok(())
}

fn initial(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = device.create(PAGE, domain)?;
        let at = operation(&device, bo.handle(), 0, u64::MAX)?;
        ensure!(
            at == u64::from(domain.bits()),
            "made in {domain:?}, says {at}"
        );
        for (value, kept) in [(2, 2), (6, 6), (u64::MAX, 7), (0xf0, 0)] {
            operation(&device, bo.handle(), 1, value).with_context(|| format!("to {value:#x}"))?;
            let seen = operation(&device, bo.handle(), 0, 0)?;
            ensure!(seen == kept, "set to {value:#x}, says {seen:#x}");
        }
        let at = device.busy(bo.handle()).1;
        ensure!(at == domain.bits(), "it moved to {at}");
    }
    Ok(())
}

fn bad_calls(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for handle in [0, 0x7777, u32::MAX] {
        let answer = set_domain(&device, handle, abi::DOMAIN_CPU, 0);
        refused("SET_DOMAIN of no object", answer, Errno::NOENT)?;
        refused(
            "OP of no object",
            operation(&device, handle, 0, 0),
            Errno::NOENT,
        )?;
    }
    let bo = device.create(PAGE, Domain::Gtt)?;
    for op in [2, 100, u32::MAX] {
        let answer = operation(&device, bo.handle(), op, 0);
        refused(&format!("operation {op}"), answer, Errno::INVAL)?;
    }
    Ok(())
}

/// Anonymous memory becomes an object.
fn user_memory(context: &mut Context) -> Result<()> {
    /// ANONONLY, VALIDATE, REGISTER.
    const FLAGS: u32 = 2 | 4 | 8;
    let device = context.device()?;
    let bytes = 4 * PAGE as usize;
    // SAFETY: a new mapping at an address of the kernel's choice.
    let address = unsafe {
        mmap_anonymous(
            std::ptr::null_mut(),
            bytes,
            ProtFlags::READ | ProtFlags::WRITE,
            MapFlags::PRIVATE | MapFlags::POPULATE,
        )?
    };
    let mut argument = abi::GemUserptr {
        addr: address as u64,
        size: bytes as u64,
        flags: FLAGS,
        handle: 0,
    };
    device.ioctl(abi::RADEON_GEM_USERPTR, &mut argument)?;
    let bo = lapidary_guest::Bo::adopt(device.clone(), argument.handle, bytes as u64, Domain::Gtt);
    // The CPU has the memory already, so it cannot be mapped a second time.
    let answer = device.mmap_offset(bo.handle());
    refused("mapping it", answer, Errno::PERM)?;
    drop(bo);
    // SAFETY: ours, and nothing refers to it.
    unsafe { munmap(address, bytes)? };
    Ok(())
}
