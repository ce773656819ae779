// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory of the process that the GPU uses where it lies.
//!
//! Upstream's driver has the same calls, but its page table entries for such memory do not allow writes on these
//! chips, so that what the GPU writes there is lost. It also ignores a failure to pin pages, and then the GPU may read
//! page 0. Tests that need either are for ours only.

use crate::support::{PITCH, copy, engine_works, fill, fillers, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Device, Domain, Errno, abi};
use lapidary_harness::child::{self, End};
use lapidary_harness::foreign::{MemoryFile, Vgem};
use lapidary_harness::limit::Limit;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap_anonymous, munmap};
use std::ffi::c_void;
use std::os::fd::AsFd;
use std::rc::Rc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const READONLY: u32 = 1;
const ANONONLY: u32 = 2;
/// The pages are got at once.
pub const VALIDATE: u32 = 4;
const REGISTER: u32 = 8;
/// Flags without which no memory can be written.
pub const WRITABLE: u32 = ANONONLY | REGISTER;

const ROWS: u32 = 64;
const SIZE: u64 = (PITCH * ROWS) as u64;
const LOST: &str = "upstream's page table does not let the GPU write a process's memory";
const IGNORED: &str = "upstream ignores that it could not get the pages";

/// Return its tests.
pub fn tests() -> Vec<Test> {
    vec![
        Test::new("userptr/what_is_refused", what_is_refused),
        Test::new("userptr/read_only_is_refused", read_only)
            .lapidary_only("upstream admits it from R6xx on"),
        Test::new("userptr/neither_mapped_nor_exported", not_shared),
        Test::new("userptr/is_read", is_read),
        Test::new("userptr/is_written", is_written).lapidary_only(LOST),
        Test::new("userptr/files_are_refused", files).lapidary_only(IGNORED),
        Test::new("userptr/video_memory_alone_is_refused", placement),
        Test::new("userptr/unmapped_while_it_is_written", unmapped)
            .lapidary_only(LOST)
            .needs_control(),
        Test::new("userptr/other_pages_at_the_same_address", replaced).lapidary_only(LOST),
        Test::new("userptr/changed_under_a_submission", changed).lapidary_only(LOST),
        Test::new("userptr/changed_while_the_rings_are_full", changed_late)
            .lapidary_only(LOST)
            .needs_control(),
        Test::new("userptr/moved_away", moved).lapidary_only(IGNORED),
        Test::new("userptr/fork", forked).lapidary_only(LOST),
        Test::new("userptr/exit_while_it_is_written", exits)
            .lapidary_only(LOST)
            .needs_control(),
        Test::new("userptr/many", many).lapidary_only(LOST),
        Test::new("userptr/named_often_and_got_once", named_often)
            .lapidary_only("upstream gets the pages again for each entry"),
        Test::new("userptr/validated_and_got_once", validated)
            .lapidary_only("upstream keeps no pages that it got to validate them"),
        Test::new("userptr/not_more_than_a_part_of_memory", half)
            .lapidary_only("upstream's bound is the size of its window"),
    ]
}

/// Anonymous memory of this process, unmapped when dropped.
pub struct Memory {
    address: *mut c_void,
    bytes: usize,
}

impl Memory {
    /// Return new memory, which is zero.
    pub fn new(bytes: u64) -> Result<Memory> {
        Memory::at(std::ptr::null_mut(), bytes, MapFlags::PRIVATE)
    }

    fn at(address: *mut c_void, bytes: u64, flags: MapFlags) -> Result<Memory> {
        let bytes = bytes as usize;
        let prot = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: a new mapping, at a place of the kernel's choice or where the caller has none any more.
        let address = unsafe { mmap_anonymous(address, bytes, prot, flags)? };
        Ok(Memory { address, bytes })
    }

    /// Return all of it.
    pub fn read(&self) -> Vec<u32> {
        let first = self.address.cast::<u32>();
        let word = |i| {
            // SAFETY: inside the mapping.
            unsafe { first.add(i).read_volatile() }
        };
        (0..self.bytes / 4).map(word).collect()
    }

    fn write(&self, words: &[u32]) {
        for (i, &word) in words.iter().enumerate().take(self.bytes / 4) {
            // SAFETY: inside the mapping.
            unsafe { self.address.cast::<u32>().add(i).write_volatile(word) };
        }
    }

    /// Put other memory in the place of this after `delay`. `self` unmaps that in the end.
    fn replaced_in(&self, delay: Duration) -> JoinHandle<Result<()>> {
        let (address, bytes) = (self.address as usize, self.bytes as u64);
        std::thread::spawn(move || {
            std::thread::sleep(delay);
            let flags = MapFlags::PRIVATE | MapFlags::FIXED;
            Memory::at(address as *mut c_void, bytes, flags).map(std::mem::forget)
        })
    }

    /// Return an object that is this memory.
    pub fn object(&self, device: &Rc<Device>, flags: u32) -> Result<Bo, Errno> {
        let handle = userptr(device, self.address as u64, self.bytes as u64, flags)?;
        Ok(Bo::adopt(
            device.clone(),
            handle,
            self.bytes as u64,
            Domain::Gtt,
        ))
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: the mapping is ours and no reference into it exists.
        let _ = unsafe { munmap(self.address, self.bytes) };
    }
}

fn userptr(device: &Device, addr: u64, size: u64, flags: u32) -> Result<u32, Errno> {
    let mut argument = abi::GemUserptr {
        addr,
        size,
        flags,
        handle: 0,
    };
    device.ioctl(abi::RADEON_GEM_USERPTR, &mut argument)?;
    Ok(argument.handle)
}

fn pattern(seed: u32) -> Vec<u32> {
    (0..(SIZE / 4) as u32)
        .map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9))
        .collect()
}

fn plain(colour: u32) -> Vec<u32> {
    vec![colour; (SIZE / 4) as usize]
}

fn what_is_refused(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(4 * PAGE)?;
    let address = memory.address as u64;
    // What Mesa asks to find out whether there is such a call.
    refused("all zero", userptr(&device, 0, 0, 0), Errno::ACCESS)?;
    for flags in [0, ANONONLY, REGISTER, VALIDATE, VALIDATE | REGISTER] {
        refused(
            "written unwatched",
            userptr(&device, address, PAGE, flags),
            Errno::ACCESS,
        )?;
    }
    for flags in [WRITABLE | 16, 1 << 31] {
        refused(
            "flags",
            userptr(&device, address, PAGE, flags),
            Errno::INVAL,
        )?;
    }
    refused(
        "odd address",
        userptr(&device, address + 4, PAGE, WRITABLE),
        Errno::INVAL,
    )?;
    refused(
        "odd size",
        userptr(&device, address, PAGE + 4, WRITABLE),
        Errno::INVAL,
    )?;
    let window = device.gem_info()?.gart_size;
    refused(
        "more than the window",
        userptr(&device, address, window + PAGE, WRITABLE),
        Errno::NOMEM,
    )
}

/// The GPU may write what it uses: there are no pages that it can only read.
fn read_only(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(PAGE)?;
    let address = memory.address as u64;
    for flags in [READONLY, READONLY | WRITABLE] {
        refused(
            "flags",
            userptr(&device, address, PAGE, flags),
            Errno::INVAL,
        )?;
    }
    Ok(())
}

fn not_shared(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    refused("GEM_MMAP", device.mmap_offset(bo.handle()), Errno::PERM)?;
    refused("export", device.export(bo.handle()).map(drop), Errno::PERM)?;
    let mut argument = abi::GemOp {
        handle: bo.handle(),
        op: 0,
        value: 0,
    };
    refused(
        "GEM_OP",
        device.ioctl(abi::RADEON_GEM_OP, &mut argument),
        Errno::PERM,
    )?;
    bo.wait()?;
    device.busy(bo.handle()).0.context("idle")
}

fn is_read(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    memory.write(&pattern(1));
    for flags in [WRITABLE, WRITABLE | VALIDATE] {
        let bo = memory.object(&device, flags)?;
        for domain in Domain::ALL {
            let ours = surface(&device, ROWS, domain)?;
            device.submit(&copy(&bo, &ours))?;
            ensure!(ours.read()? == pattern(1), "{domain:?}, flags {flags}");
        }
    }
    Ok(())
}

fn is_written(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    // Its pages come into being by this.
    let bo = memory.object(&device, WRITABLE)?;
    for colour in 1..5 {
        device.submit(&fill(&bo, colour))?;
        bo.wait()?;
        ensure!(memory.read() == plain(colour), "a fill");
        let ours = surface(&device, ROWS, Domain::Vram)?;
        ours.write(&pattern(colour))?;
        device.submit(&copy(&ours, &bo))?;
        bo.wait()?;
        ensure!(memory.read() == pattern(colour), "a copy");
    }
    ensure!(device.busy(bo.handle()).1 == abi::DOMAIN_GTT, "where it is");
    // Inside of larger memory, the rest stays.
    let large = Memory::new(SIZE + 2 * PAGE)?;
    let inner = userptr(
        &device,
        large.address as u64 + PAGE,
        SIZE,
        WRITABLE | VALIDATE,
    )?;
    let inner = Bo::adopt(device.clone(), inner, SIZE, Domain::Gtt);
    device.submit(&fill(&inner, 9))?;
    inner.wait()?;
    let (seen, page) = (large.read(), PAGE as usize / 4);
    ensure!(seen[page..seen.len() - page] == plain(9), "inside");
    ensure!(
        seen[..page]
            .iter()
            .chain(&seen[seen.len() - page..])
            .all(|&w| w == 0),
        "around"
    );
    Ok(())
}

fn files(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let file = MemoryFile::new(SIZE)?;
    let view = file.map()?;
    let address = view.address() as u64;
    refused(
        "a file's",
        userptr(&device, address, SIZE, WRITABLE | VALIDATE),
        Errno::PERM,
    )?;
    let bo = Bo::adopt(
        device.clone(),
        userptr(&device, address, SIZE, WRITABLE)?,
        SIZE,
        Domain::Gtt,
    );
    refused(
        "a file's, when it is used",
        device.submit(&fill(&bo, 1)),
        Errno::PERM,
    )?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    drop(memory);
    refused("none", device.submit(&fill(&bo, 1)), Errno::FAULT)?;
    engine_works(&device)
}

fn placement(context: &mut Context) -> Result<()> {
    use lapidary_guest::submit::{Chunk, Envelope};
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    let stream = fill(&bo, 1);
    let mut relocations = stream.relocations().to_vec();
    for entry in &mut relocations {
        (entry.read_domains, entry.write_domain) = (0, abi::DOMAIN_VRAM);
    }
    let answer = Envelope::with_flags_of(&stream, Chunk::commands(stream.words()))
        .with(Chunk::relocations(&relocations))
        .submit(&device);
    refused("VRAM alone", answer, Errno::INVAL)
}

/// Memory that is unmapped while a job writes it is released when the job is done.
fn unmapped(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for _ in 0..5 {
        let memory = Memory::new(SIZE)?;
        let bo = memory.object(&device, WRITABLE)?;
        context.control()?.fault("late-fence", 1)?;
        device.submit(&fill(&bo, 7))?;
        drop(memory);
        ensure!(!bo.is_busy()?, "unmapped before the job had ended");
        refused("afterwards", device.submit(&fill(&bo, 8)), Errno::FAULT)?;
    }
    engine_works(&device)
}

fn replaced(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    for colour in 0..20 {
        device.submit(&fill(&bo, colour))?;
        // In the place of the old one, which is unmapped by that.
        let flags = MapFlags::PRIVATE | MapFlags::FIXED;
        let fresh = Memory::at(memory.address, SIZE, flags)?;
        std::mem::forget(std::mem::replace(&mut memory, fresh));
        ensure!(memory.read() == plain(0), "the old job wrote new memory");
        device.submit(&fill(&bo, !colour))?;
        bo.wait()?;
        ensure!(
            memory.read() == plain(!colour),
            "the new job wrote old memory"
        );
    }
    Ok(())
}

/// The memory changes when a submission has its pages, and waits for another driver: it begins anew, with the new ones.
fn changed(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let vgem = Vgem::open()?;
    let handle = vgem.create(SIZE)?;
    vgem.map(handle, SIZE)?.write(&pattern(5));
    let buffer = vgem.node().export(handle)?;
    let source = device.import(buffer.as_fd())?;
    let source = Bo::adopt(device.clone(), source, SIZE, Domain::Gtt);
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    let fence = vgem.attach_fence(handle, true)?;
    let signaller = child::spawn(|| {
        std::thread::sleep(Duration::from_millis(600));
        vgem.signal(fence)?;
        Ok(0)
    })?;
    let changer = memory.replaced_in(Duration::from_millis(300));
    let begin = Instant::now();
    let answer = device.submit(&copy(&source, &bo));
    let taken = begin.elapsed();
    changer.join().expect("a thread").context("new memory")?;
    answer?;
    ensure!(
        taken > Duration::from_millis(500),
        "the submission did not wait: {taken:?}"
    );
    ensure!(
        signaller.wait(Duration::from_secs(5))? == End::Exit(0),
        "signalling failed"
    );
    bo.wait()?;
    ensure!(memory.read() == pattern(5), "the job wrote old memory");
    engine_works(&device)
}

/// The memory changes when a submission has placed its objects, and waits for room: it begins anew, with the new memory.
fn changed_late(context: &mut Context) -> Result<()> {
    /// Dwords of the largest stream. Four of them fill what jobs are executed from.
    const LARGEST: usize = 65_536;
    /// Each delays a job by 0.5 s.
    const LATE: u32 = 16;
    let device = context.device()?;
    let other = surface(&device, ROWS, Domain::Gtt)?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    let large = |bo: &Bo, colour| {
        let mut stream = fill(bo, colour);
        stream.extend(&fillers(LARGEST - stream.words().len()));
        stream
    };
    // The pages are pinned and have addresses.
    device.submit(&fill(&bo, 1))?;
    bo.wait()?;
    let stream = large(&other, 2);
    context.control()?.fault("late-fence", LATE)?;
    for count in 0.. {
        ensure!(count < LATE / 2, "no submission waits for room");
        let begin = Instant::now();
        device.submit(&stream)?;
        if begin.elapsed() > Duration::from_millis(200) {
            break;
        }
    }
    let stream = large(&bo, 3);
    let changer = memory.replaced_in(Duration::from_millis(100));
    let begin = Instant::now();
    let answer = device.submit(&stream);
    let taken = begin.elapsed();
    changer.join().expect("a thread").context("new memory")?;
    answer?;
    ensure!(
        taken > Duration::from_millis(150),
        "the submission did not wait: {taken:?}"
    );
    bo.wait()?;
    ensure!(memory.read() == plain(3), "the job wrote old memory");
    engine_works(&device)
}

fn moved(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    device.submit(&fill(&bo, 3))?;
    let elsewhere = Memory::new(SIZE)?;
    let flags = MremapFlags::MAYMOVE;
    // SAFETY: both are mappings of ours; the second is replaced.
    let address = unsafe {
        rustix::mm::mremap_fixed(
            memory.address,
            memory.bytes,
            memory.bytes,
            flags,
            elsewhere.address,
        )
    };
    ensure!(address? == elsewhere.address, "mremap");
    std::mem::forget(memory);
    ensure!(
        elsewhere.read() == plain(3),
        "what was written before it moved"
    );
    refused("where it was", device.submit(&fill(&bo, 4)), Errno::FAULT)?;
    ensure!(elsewhere.read() == plain(3), "written where it went");
    Ok(())
}

/// After a fork the object still is the parent's memory, and only the parent may use it.
fn forked(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    device.submit(&fill(&bo, 1))?;
    let end = child::run(Duration::from_secs(10), || {
        ensure!(memory.read() == plain(1), "the child's copy");
        refused("in the child", device.submit(&fill(&bo, 2)), Errno::PERM)?;
        memory.write(&plain(5));
        Ok(0)
    })?;
    ensure!(end == End::Exit(0), "the child: {end:?}");
    device.submit(&fill(&bo, 3))?;
    bo.wait()?;
    ensure!(memory.read() == plain(3), "the parent's memory");
    Ok(())
}

fn exits(context: &mut Context) -> Result<()> {
    for _ in 0..5 {
        context.control()?.fault("late-fence", 1)?;
        let end = child::run(Duration::from_secs(10), || {
            let device = Device::open()?;
            let memory = Memory::new(SIZE)?;
            let bo = memory.object(&device, WRITABLE)?;
            device.submit(&fill(&bo, 1))?;
            std::mem::forget((memory, bo));
            Ok(0)
        })?;
        ensure!(end == End::Exit(0), "{end:?}");
    }
    engine_works(&context.device()?)
}

fn many(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let all = (0..64)
        .map(|_| {
            let memory = Memory::new(SIZE)?;
            let bo = memory.object(&device, WRITABLE)?;
            Ok((memory, bo))
        })
        .collect::<Result<Vec<_>>>()?;
    for round in 0..3 {
        for (i, (_, bo)) in all.iter().enumerate() {
            device.submit(&fill(bo, (round << 8) | i as u32))?;
        }
        for (i, (memory, bo)) in all.iter().enumerate() {
            bo.wait()?;
            ensure!(
                memory.read() == plain((round << 8) | i as u32),
                "round {round}, {i}"
            );
        }
    }
    Ok(())
}

/// Return the pages that were pinned for devices since the machine was started.
fn pinned() -> Result<u64> {
    // Adds what each CPU has counted for itself.
    std::fs::read("/proc/sys/vm/stat_refresh")?;
    let text = std::fs::read_to_string("/proc/vmstat")?;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix("nr_foll_pin_acquired "));
    Ok(line.context("no line for pins")?.parse()?)
}

/// A submission that names an object several times pins its pages once.
fn named_often(context: &mut Context) -> Result<()> {
    const TIMES: u64 = 1000;
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    let bo = memory.object(&device, WRITABLE)?;
    for colour in [3, 4] {
        let mut stream = fill(&bo, colour);
        let entry = stream.relocations()[0];
        for _ in 0..TIMES {
            stream.raw_entry(entry);
        }
        let before = pinned()?;
        device.submit(&stream)?;
        let seen = pinned()? - before;
        ensure!(seen < TIMES, "{seen} pages of {} were pinned", SIZE / PAGE);
        bo.wait()?;
        ensure!(memory.read() == plain(colour), "colour {colour}");
    }
    Ok(())
}

/// Pages that were pinned to validate memory are those that the first submission uses.
fn validated(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let memory = Memory::new(SIZE)?;
    let begin = pinned()?;
    let bo = memory.object(&device, WRITABLE | VALIDATE)?;
    let validated = pinned()?;
    device.submit(&fill(&bo, 6))?;
    let seen = [validated - begin, pinned()? - validated];
    // The first write to a page may move it, so that all are pinned again.
    ensure!(
        seen[0] >= SIZE / PAGE && seen[1] == 0,
        "of {} pages {seen:?} were pinned by the two calls",
        SIZE / PAGE
    );
    bo.wait()?;
    ensure!(memory.read() == plain(6), "the picture");
    Ok(())
}

/// Pinned memory is not in a process's resident memory once it is unmapped, so there is a bound to it.
fn half(context: &mut Context) -> Result<()> {
    const BYTES: u64 = 64 << 20;
    let device = context.device()?;
    let all = {
        let text = std::fs::read_to_string("/proc/meminfo")?;
        let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"));
        let number = line.and_then(|line| line.split_whitespace().next());
        number.context("no total")?.parse::<u64>()? * 1024
    };
    let mut memory = Memory::new(BYTES)?;
    let mut objects = Vec::new();
    // One client, and then all together.
    for (client, part) in [&device, &device.another()?, &device.another()?]
        .into_iter()
        .zip([4, 2, 2])
    {
        let before = objects.len();
        let error = loop {
            ensure!(
                objects.len() as u64 * BYTES <= all / part,
                "{} objects are pinned",
                objects.len()
            );
            match memory.object(client, WRITABLE | VALIDATE) {
                Ok(bo) => objects.push(bo),
                Err(error) => break error,
            }
            // Where the old one was, which stays pinned.
            if objects.len() == 2 {
                memory = Memory::new(BYTES)?;
            }
        };
        ensure!(error == Errno::NOMEM, "{error}");
        let count = objects.len() - before;
        let own = (objects.len() - before) as u64 * BYTES;
        ensure!(own <= all / 4, "a client has pinned {count}");
        ensure!(count > 1 || before > 3, "{count} objects, after {before}");
    }
    let refused = memory.object(&device.another()?, WRITABLE | VALIDATE);
    ensure!(
        matches!(refused, Err(Errno::NOMEM)),
        "a client more pins memory, {} objects are pinned",
        objects.len()
    );
    drop(objects);
    // They are unpinned a little later.
    let mut limit = Limit::new(Duration::from_secs(2));
    while memory.object(&device, WRITABLE | VALIDATE).is_err() {
        limit.rest("there is no room after they have gone")?;
    }
    Ok(())
}
