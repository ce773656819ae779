// SPDX-License-Identifier: GPL-2.0 OR MIT

//! CPU mappings of objects, in video memory (pages of the BAR, by fault) and in system memory.
//!
//! Accesses that must end in a signal happen in a child.

use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::on_upstream;
use lapidary_guest::{Bo, Domain, Errno};
use lapidary_harness::child::{self, End};
use lapidary_harness::mapping::Mapping;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use rustix::mm::{MapFlags, MremapFlags, ProtFlags, mmap, mprotect, mremap, munmap};
use std::ffi::c_void;
use std::time::Duration;

const PAGES: u64 = 8;
const SIZE: u64 = PAGES * PAGE;
const LIMIT: Duration = Duration::from_secs(10);

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("mapping/holds_data", holds_data),
        Test::new("mapping/two_views_of_one_object", two_views),
        Test::new("mapping/private_is_refused", private),
        Test::new("mapping/mremap", remap),
        Test::new("mapping/fork", fork),
        Test::new("mapping/partial_munmap", partial_munmap),
        Test::new("mapping/read_only", read_only),
        Test::new("mapping/not_beyond_the_object", beyond),
        Test::new("mapping/access_beyond_the_end", access_beyond),
        Test::new("mapping/wild_offsets", wild_offsets),
        Test::new("mapping/others_offsets", others_offsets),
        Test::new("mapping/outlives_handle_and_file", outlives),
        Test::new("mapping/populate_and_lock", populate),
        Test::new("mapping/as_ioctl_argument", as_argument),
    ]
}

/// Run a test body over an object in each domain.
fn in_both(context: &mut Context, body: fn(&Bo) -> Result<()>) -> Result<()> {
    for domain in Domain::ALL {
        let bo = context.device()?.create(SIZE, domain)?;
        body(&bo).with_context(|| format!("{domain:?}"))?;
    }
    Ok(())
}

fn pattern(i: usize) -> u32 {
    (i as u32).wrapping_mul(0x9e37_79b9) ^ 0x5151_5151
}

fn fill(mapping: &Mapping) {
    for i in 0..mapping.len() {
        mapping.set(i, pattern(i));
    }
}

fn check(mapping: &Mapping) -> Result<()> {
    for i in 0..mapping.len() {
        ensure!(
            mapping.get(i) == pattern(i),
            "dword {i} is {:#x}",
            mapping.get(i)
        );
    }
    Ok(())
}

fn holds_data(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let mapping = bo.map()?;
        let zero = (0..mapping.len()).all(|i| mapping.get(i) == 0);
        ensure!(zero || on_upstream(bo.device()), "a new object is not zero");
        fill(&mapping);
        check(&mapping)?;
        drop(mapping);
        check(&bo.map()?).context("mapped again")
    })
}

fn two_views(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let (first, second) = (bo.map()?, bo.map()?);
        ensure!(
            first.address() != second.address(),
            "the same address twice"
        );
        fill(&first);
        check(&second)?;
        second.set(3, 77);
        ensure!(first.get(3) == 77, "the views differ");
        Ok(())
    })
}

fn private(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let offset = bo.device().mmap_offset(bo.handle())?;
        let map = |flags| Mapping::new(bo.device(), offset, SIZE as usize, flags).map(drop);
        refused("MAP_PRIVATE", map(MapFlags::PRIVATE), Errno::INVAL)?;
        refused(
            "MAP_PRIVATE, populated",
            map(MapFlags::PRIVATE | MapFlags::POPULATE),
            Errno::INVAL,
        )?;
        map(MapFlags::SHARED_VALIDATE).context("MAP_SHARED_VALIDATE")
    })
}

fn remap(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let mapping = bo.map()?;
        fill(&mapping);
        let bytes = SIZE as usize;
        // SAFETY: grows a mapping of ours, which may move; on success the result is used instead.
        let grown = unsafe { mremap(mapping.address(), bytes, 2 * bytes, MremapFlags::MAYMOVE) };
        refused("growing", grown, Errno::FAULT)?;
        // A place to move to: reserved, then taken over.
        // SAFETY: an anonymous mapping at an address of the kernel's choice.
        let place = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                bytes,
                ProtFlags::empty(),
                MapFlags::PRIVATE,
            )?
        };
        // SAFETY: the old mapping is given up, and the place is our own reservation.
        let moved = unsafe {
            rustix::mm::mremap_fixed(mapping.leak(), bytes, bytes, MremapFlags::MAYMOVE, place)?
        };
        ensure!(moved == place, "moved elsewhere");
        let words: Vec<u32> = (0..bytes / 4)
            // SAFETY: the moved mapping has this length.
            .map(|i| unsafe { moved.cast::<u32>().add(i).read_volatile() })
            .collect();
        ensure!(
            words
                .iter()
                .enumerate()
                .all(|(i, &word)| word == pattern(i)),
            "the data did not move along"
        );
        // SAFETY: ours, and not used any more.
        unsafe { munmap(moved, bytes)? };
        Ok(())
    })
}

fn fork(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let mapping = bo.map()?;
        fill(&mapping);
        let end = child::run(LIMIT, || {
            check(&mapping).context("in the child")?;
            mapping.set(7, 0xc0ff_ee00);
            Ok(0)
        })?;
        ensure!(end == End::Exit(0), "the child ended with {end:?}");
        ensure!(
            mapping.get(7) == 0xc0ff_ee00,
            "what the child wrote did not arrive"
        );
        mapping.set(7, pattern(7));
        check(&mapping)
    })
}

fn partial_munmap(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let mapping = bo.map()?;
        fill(&mapping);
        let page = PAGE as usize;
        let words = page / 4;
        // SAFETY: pages 2 and 3 of our own mapping; nothing below touches them except a child that
        // is to be killed for it.
        unsafe {
            munmap(
                mapping
                    .address()
                    .cast::<u8>()
                    .add(2 * page)
                    .cast::<c_void>(),
                2 * page,
            )?
        };
        for i in (0..2 * words).chain(4 * words..8 * words) {
            ensure!(mapping.get(i) == pattern(i), "dword {i}");
        }
        for i in [2 * words, 3 * words, 4 * words - 1] {
            let end = child::run(LIMIT, || Ok((mapping.get(i) & 1) as i32))?;
            ensure!(
                end == End::Signal(libc::SIGSEGV),
                "dword {i} in the hole: {end:?}"
            );
        }
        // The object is whole. The hole was only in the mapping.
        check(&bo.map()?)
    })
}

fn read_only(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        bo.map()?.set(5, 99);
        let mapping = bo.map()?;
        // SAFETY: our own mapping; only a child that is to be killed writes to it from here on.
        unsafe {
            mprotect(
                mapping.address(),
                mapping.bytes(),
                rustix::mm::MprotectFlags::READ,
            )?
        };
        ensure!(mapping.get(5) == 99, "reading");
        let end = child::run(LIMIT, || {
            mapping.set(5, 1);
            Ok(0)
        })?;
        ensure!(end == End::Signal(libc::SIGSEGV), "a write: {end:?}");
        ensure!(mapping.get(5) == 99, "it was written");
        Ok(())
    })
}

fn beyond(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let offset = bo.device().mmap_offset(bo.handle())?;
        let map =
            |offset, bytes| Mapping::new(bo.device(), offset, bytes, MapFlags::SHARED).map(drop);
        let size = SIZE as usize;
        refused(
            "a page more",
            map(offset, size + PAGE as usize),
            Errno::INVAL,
        )?;
        refused("twice as much", map(offset, 2 * size), Errno::INVAL)?;
        refused("from inside", map(offset + PAGE, size), Errno::INVAL)?;
        map(offset, PAGE as usize).context("only the first page")
    })
}

fn access_beyond(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        // A hole behind the mapping, so that no neighbour catches the access.
        // SAFETY: an anonymous reservation at an address of the kernel's choice.
        let place = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                2 * SIZE as usize,
                ProtFlags::empty(),
                MapFlags::PRIVATE,
            )?
        };
        let offset = bo.device().mmap_offset(bo.handle())?;
        // SAFETY: replaces the first half of our own reservation.
        let address = unsafe {
            mmap(
                place,
                SIZE as usize,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED | MapFlags::FIXED,
                bo.device().as_ref(),
                offset,
            )?
        };
        let word = address.cast::<u32>();
        let last = SIZE as usize / 4 - 1;
        let end = child::run(LIMIT, || {
            // SAFETY: the last dword of the mapping.
            unsafe { word.add(last).read_volatile() };
            Ok(0)
        })?;
        ensure!(end == End::Exit(0), "the last dword: {end:?}");
        let end = child::run(LIMIT, || {
            // SAFETY: an inaccessible reservation of ours; the access is to kill this child.
            Ok(unsafe { word.add(last + 1).read_volatile() } as i32)
        })?;
        ensure!(
            matches!(end, End::Signal(libc::SIGSEGV | libc::SIGBUS)),
            "the dword after it: {end:?}"
        );
        // SAFETY: ours, and not used any more.
        unsafe { munmap(place, 2 * SIZE as usize)? };
        Ok(())
    })
}

fn wild_offsets(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(SIZE, Domain::Vram)?;
    let known = device.mmap_offset(bo.handle())?;
    // Nothing lives at the start of the file, far behind, or at the very end of the address range.
    for offset in [0, PAGE, known ^ (1 << 40), 0x7fff_ffff_ffff_f000] {
        let answer = Mapping::new(&device, offset, PAGE as usize, MapFlags::SHARED);
        ensure!(
            matches!(answer, Err(Errno::INVAL | Errno::OVERFLOW)),
            "offset {offset:#x}: expected a refusal, got {answer:?}"
        );
    }
    Ok(())
}

fn others_offsets(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    for domain in Domain::ALL {
        let bo = device.create(SIZE, domain)?;
        let offset = device.mmap_offset(bo.handle())?;
        let answer = Mapping::new(&other, offset, SIZE as usize, MapFlags::SHARED).map(drop);
        refused("another client's object", answer, Errno::ACCESS)?;
    }
    Ok(())
}

fn outlives(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let device = context.device()?;
        let bo = device.create(SIZE, domain)?;
        let mapping = bo.map()?;
        fill(&mapping);
        drop(bo);
        check(&mapping).context("without a handle")?;
        drop(device);
        check(&mapping).context("without a file")?;
        // Another client's new objects do not get its memory.
        let other = context.device()?;
        let objects: Vec<Bo> = (0..32)
            .map(|_| other.create(SIZE, domain))
            .collect::<Result<_, _>>()?;
        for bo in &objects {
            bo.write(&[0xdead_dead; 16])?;
        }
        check(&mapping).context("beside new objects")?;
    }
    Ok(())
}

fn populate(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let offset = bo.device().mmap_offset(bo.handle())?;
        let mapping = Mapping::new(
            bo.device(),
            offset,
            SIZE as usize,
            MapFlags::SHARED | MapFlags::POPULATE,
        )?;
        fill(&mapping);
        check(&mapping)
    })
}

/// Use mapped memory as the buffer of an ioctl. The kernel may read and write it like any other.
fn as_argument(context: &mut Context) -> Result<()> {
    in_both(context, |bo| {
        let mapping = bo.map()?;
        let mut argument = lapidary_guest::abi::Info {
            request: const { lapidary_guest::abi::info_request("DEVICE_ID") }.id,
            pad: 0,
            value: mapping.address() as u64,
        };
        bo.device()
            .ioctl(lapidary_guest::abi::RADEON_INFO, &mut argument)?;
        ensure!(mapping.get(0) != 0, "nothing was written");
        Ok(())
    })
}
