// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The envelope of the CS ioctl. Every malformed variant gets its documented error and leaves no trace in the device.
//! What upstream ignores is ignored.

use crate::support::{self, fillers, nothing};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::{self, CsReloc};
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Device, Domain, Errno, pm4};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};

const NAMED_DOMAIN: &str = "our driver wants every relocation to name a domain";

/// Return its tests.
pub fn tests() -> Vec<Test> {
    vec![
        Test::new("envelope/accepted", accepted),
        Test::new("envelope/accepted_streams_leave_a_trace", leave_a_trace).needs_control(),
        Test::new("envelope/nothing_to_do", nothing_to_do),
        Test::new("envelope/bad_pointers", bad_pointers),
        Test::new("envelope/ends_at_a_hole", ends_at_a_hole),
        Test::new("envelope/empty_chunks", empty_chunks),
        Test::new("envelope/video_rings", video_rings)
            .lapidary_only("our driver says that it has no such rings"),
        Test::new("envelope/last_chunk_of_a_kind_counts", duplicates),
        Test::new("envelope/lengths_that_wrap", wrapping_lengths)
            .lapidary_only("our driver limits the length of a chunk"),
        Test::new("envelope/too_much", too_much)
            .lapidary_only("our driver limits the size of a submission"),
        Test::new("envelope/long_stream", long_stream),
        Test::new("envelope/partial_relocation", partial_relocation)
            .lapidary_only("our driver wants whole relocation entries"),
        Test::new("envelope/relocation_handles", relocation_handles),
        Test::new("envelope/relocation_cpu_domain", cpu_domain),
        Test::new("envelope/relocation_without_domain", no_domain).lapidary_only(NAMED_DOMAIN),
        Test::new("envelope/relocation_unknown_domain", unknown_domain).lapidary_only(NAMED_DOMAIN),
        Test::new("envelope/same_object_twice", same_object_twice),
        Test::new("envelope/many_relocations", many_relocations),
    ]
}

fn stream() -> Chunk {
    Chunk::commands(nothing().words())
}

fn accepted(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let envelopes = [
        ("commands alone", Envelope::new().with(stream())),
        (
            "empty relocations",
            Envelope::new().with(stream()).with(Chunk::relocations(&[])),
        ),
        (
            "flags before commands",
            Envelope::new()
                .with(Chunk::flags(&[abi::CS_KEEP_TILING]))
                .with(stream()),
        ),
        (
            "flags and ring",
            Envelope::new()
                .with(stream())
                .with(Chunk::flags(&[0, abi::RING_GFX])),
        ),
        (
            "flags, ring, priority",
            Envelope::new()
                .with(stream())
                .with(Chunk::flags(&[0, abi::RING_GFX, 7])),
        ),
        (
            "negative priority",
            Envelope::new()
                .with(stream())
                .with(Chunk::flags(&[0, abi::RING_GFX, !0])),
        ),
        (
            "long flags",
            Envelope::new().with(stream()).with(Chunk::flags(&[0; 16])),
        ),
        (
            "end of frame",
            Envelope::new()
                .with(stream())
                .with(Chunk::flags(&[abi::CS_END_OF_FRAME])),
        ),
        (
            "unknown flags",
            Envelope::new()
                .with(stream())
                .with(Chunk::flags(&[0xffff_fff8])),
        ),
        (
            "unknown chunk",
            Envelope::new()
                .with(Chunk::new(0x77, vec![1, 2, 3]))
                .with(stream()),
        ),
        (
            "ignored fields",
            Envelope::new().with(stream()).ignored_fields(!0, !0, !0),
        ),
        (
            "one dword",
            Envelope::new().with(Chunk::commands(&fillers(1))),
        ),
    ];
    for (what, envelope) in envelopes {
        envelope.submit(&device).context(what)?;
    }
    support::engine_works(&device)
}

/// The check for a trace in the device finds one if there is one.
fn leave_a_trace(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let result = support::untouched(context, || {
        device.submit(&nothing()).context("a good stream")
    });
    let error = result
        .err()
        .context("the device executed a stream and no counter moved")?;
    ensure!(error.to_string().contains("the device saw it"), "{error:#}");
    Ok(())
}

fn nothing_to_do(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        Envelope::new().submit(&device).context("no chunks")?;
        Envelope::new()
            .point_at(1)
            .submit(&device)
            .context("no chunks at a bad address")?;
        Envelope::new()
            .with(Chunk::flags(&[0]))
            .submit(&device)
            .context("flags alone")?;
        Envelope::new()
            .with(Chunk::relocations(&[]))
            .submit(&device)
            .context("no relocations alone")?;
        Ok(())
    })
}

/// Addresses that user space cannot have.
const BAD: [u64; 5] = [
    0,
    8,
    0xffff_8880_0000_0000,
    0x8000_0000_0000_0000,
    u64::MAX - 7,
];

fn bad_pointers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        for bad in BAD {
            let check = |what: &str, envelope: Envelope| {
                refused(
                    &format!("{what} at {bad:#x}"),
                    envelope.submit(&device),
                    Errno::FAULT,
                )
            };
            check("pointers", Envelope::new().with(stream()).point_at(bad))?;
            check(
                "a header",
                Envelope::new().with(stream()).chunk_pointer(0, bad),
            )?;
            check("commands", Envelope::new().with(stream().point_at(bad)))?;
            check(
                "flags",
                Envelope::new()
                    .with(stream())
                    .with(Chunk::flags(&[0]).point_at(bad)),
            )?;
            let entry = Chunk::relocations(&[CsReloc::default()]);
            check(
                "relocations",
                Envelope::new().with(stream()).with(entry.point_at(bad)),
            )?;
        }
        Ok(())
    })
}

/// A buffer that ends where a page without access begins.
struct AtTheBrink(*mut std::ffi::c_void);

impl AtTheBrink {
    fn new() -> Result<AtTheBrink> {
        let pages = 2 * PAGE as usize;
        // SAFETY: a new mapping at an address of the kernel's choice.
        let address = unsafe {
            mmap_anonymous(
                std::ptr::null_mut(),
                pages,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::PRIVATE,
            )?
        };
        // SAFETY: the second of our own two pages.
        unsafe {
            mprotect(
                address.cast::<u8>().add(PAGE as usize).cast(),
                PAGE as usize,
                MprotectFlags::empty(),
            )?;
        }
        Ok(AtTheBrink(address))
    }

    /// Place words so that the last one ends the page.
    fn place(&self, words: &[u32]) -> u64 {
        let first = PAGE as usize / 4 - words.len();
        for (i, &word) in words.iter().enumerate() {
            // SAFETY: inside the first page.
            unsafe { self.0.cast::<u32>().add(first + i).write(word) };
        }
        self.0 as u64 + 4 * first as u64
    }
}

impl Drop for AtTheBrink {
    fn drop(&mut self) {
        // SAFETY: ours, and nothing refers to it.
        let _ = unsafe { munmap(self.0, 2 * PAGE as usize) };
    }
}

fn ends_at_a_hole(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let brink = AtTheBrink::new()?;
    let words = fillers(8);
    let at = brink.place(&words);
    let good = Envelope::new().with(Chunk::commands(&words).point_at(at));
    good.submit(&device).context("up to the hole")?;
    support::untouched(context, || {
        let longer = Envelope::new().with(Chunk::commands(&words).point_at(at).claim(9));
        refused(
            "a dword into the hole",
            longer.submit(&device),
            Errno::FAULT,
        )?;
        let much = Envelope::new().with(Chunk::commands(&words).point_at(at).claim(16000));
        refused("far into the hole", much.submit(&device), Errno::FAULT)?;
        // Three chunk pointers asked for, one there.
        let pointers = brink.place(&[0, 0]);
        let envelope = Envelope::new().with(stream()).claim(3).point_at(pointers);
        refused(
            "pointers into the hole",
            envelope.submit(&device),
            Errno::FAULT,
        )
    })
}

fn empty_chunks(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        refused(
            "no commands",
            Envelope::new().with(Chunk::commands(&[])).submit(&device),
            Errno::INVAL,
        )?;
        let envelope = Envelope::new().with(stream()).with(Chunk::flags(&[]));
        refused("no flags", envelope.submit(&device), Errno::INVAL)
    })
}

/// Return a stream that does nothing, with flags and for a ring.
pub fn on_ring(ring: u32, flags: u32) -> Envelope {
    Envelope::new()
        .with(stream())
        .with(Chunk::flags(&[flags, ring]))
}

fn video_rings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        refused(
            "UVD",
            on_ring(abi::RING_UVD, 0).submit(&device),
            Errno::INVAL,
        )?;
        refused(
            "VCE",
            on_ring(abi::RING_VCE, 0).submit(&device),
            Errno::INVAL,
        )
    })
}

fn duplicates(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // A type 1 packet is refused wherever it is looked at.
    let bad = || Chunk::commands(&[pm4::packet1(0, 4), 0, 0]);
    Envelope::new()
        .with(bad())
        .with(stream())
        .submit(&device)
        .context("a good stream after a bad one")?;
    support::untouched(context, || {
        let envelope = Envelope::new().with(stream()).with(bad());
        refused(
            "a bad stream after a good one",
            envelope.submit(&device),
            Errno::INVAL,
        )?;
        let envelope = on_ring(abi::RING_GFX, 0).with(Chunk::flags(&[0, 99]));
        refused(
            "a bad ring after a good one",
            envelope.submit(&device),
            Errno::INVAL,
        )
    })
}

/// Lengths whose number of bytes does not fit into 32 bits.
fn wrapping_lengths(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let words = fillers(256);
    support::untouched(context, || {
        for length in [
            0x4000_0000,
            0x4000_0010,
            0x4000_0040,
            0x8000_0010,
            0xc000_0010,
            0xffff_fff0,
            u32::MAX,
        ] {
            let what = format!("{length:#x} dwords");
            let envelope = Envelope::new().with(Chunk::commands(&words).claim(length));
            refused(
                &format!("commands of {what}"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
            let relocations = Chunk::relocations(&[CsReloc::default(); 64]).claim(length & !3);
            let envelope = Envelope::new().with(stream()).with(relocations);
            refused(
                &format!("relocations of {what}"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
        }
        Ok(())
    })
}

fn too_much(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        for count in [65, 1000, 0x2000_0001, u32::MAX] {
            let envelope = Envelope::new().with(stream()).claim(count);
            refused(
                &format!("{count} chunks"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
        }
        let envelope = Envelope::new().with(Chunk::commands(&fillers(1 << 20)));
        refused("a million dwords", envelope.submit(&device), Errno::INVAL)?;
        let envelope = Envelope::new()
            .with(stream())
            .with(Chunk::relocations(&vec![CsReloc::default(); 1 << 18]));
        refused(
            "a quarter of a million relocations",
            envelope.submit(&device),
            Errno::INVAL,
        )
    })
}

/// Streams up to the length of Mesa's are accepted.
fn long_stream(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for dwords in [1, 7, 8, 9, 15, 16, 17, 1023, 4096, 16384] {
        Envelope::new()
            .with(Chunk::commands(&fillers(dwords)))
            .submit(&device)
            .with_context(|| format!("{dwords} dwords"))?;
    }
    support::engine_works(&device)
}

fn entry(device: &Device, read: u32, write: u32) -> Result<CsReloc, Errno> {
    let handle = device.create_raw(PAGE, 0, abi::DOMAIN_GTT, 0)?;
    Ok(CsReloc {
        handle,
        read_domains: read,
        write_domain: write,
        flags: 0,
    })
}

fn with_entries(entries: &[CsReloc]) -> Envelope {
    Envelope::new()
        .with(stream())
        .with(Chunk::relocations(entries))
}

fn partial_relocation(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let good = entry(&device, abi::DOMAIN_GTT, 0)?;
    support::untouched(context, || {
        for length in [1, 2, 3, 5, 6, 7] {
            let chunk = Chunk::relocations(&[good; 2]).claim(length);
            let envelope = Envelope::new().with(stream()).with(chunk);
            refused(
                &format!("{length} dwords"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
        }
        Ok(())
    })?;
    device.close(good.handle)?;
    Ok(())
}

fn relocation_handles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let good = entry(&device, abi::DOMAIN_GTT, 0)?;
    with_entries(&[good])
        .submit(&device)
        .context("a good one")?;
    support::untouched(context, || {
        for handle in [0, good.handle + 1, 0x7fff_ffff, u32::MAX] {
            let bad = CsReloc { handle, ..good };
            refused(
                &format!("handle {handle}"),
                with_entries(&[bad]).submit(&device),
                Errno::NOENT,
            )?;
            refused(
                &format!("handle {handle}, second"),
                with_entries(&[good, bad]).submit(&device),
                Errno::NOENT,
            )?;
        }
        Ok(())
    })?;
    device.close(good.handle)?;
    support::untouched(context, || {
        refused(
            "a closed handle",
            with_entries(&[good]).submit(&device),
            Errno::NOENT,
        )
    })
}

fn refuse_domains(context: &mut Context, domains: &[(u32, u32)]) -> Result<()> {
    let device = context.device()?;
    for &(read, write) in domains {
        let entry = entry(&device, read, write)?;
        support::untouched(context, || {
            let what = format!("read domains {read:#x}, write domain {write:#x}");
            refused(&what, with_entries(&[entry]).submit(&device), Errno::INVAL)
        })?;
        device.close(entry.handle)?;
    }
    Ok(())
}

fn cpu_domain(context: &mut Context) -> Result<()> {
    refuse_domains(
        context,
        &[
            (abi::DOMAIN_CPU, 0),
            (0, abi::DOMAIN_CPU),
            (abi::DOMAIN_CPU | abi::DOMAIN_GTT, 0),
        ],
    )
}

fn no_domain(context: &mut Context) -> Result<()> {
    refuse_domains(context, &[(0, 0)])
}

fn unknown_domain(context: &mut Context) -> Result<()> {
    refuse_domains(
        context,
        &[(8, 0), (0, 8), (0x8000_0000, 0), (0, 0xffff_fff8)],
    )
}

fn same_object_twice(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let read = entry(&device, abi::DOMAIN_GTT, 0)?;
    let write = CsReloc {
        read_domains: 0,
        write_domain: abi::DOMAIN_GTT,
        ..read
    };
    for entries in [
        &[read, read][..],
        &[read, write],
        &[write, read],
        &[write, write, read, write],
    ] {
        with_entries(entries)
            .submit(&device)
            .with_context(|| format!("{} entries", entries.len()))?;
    }
    device.wait_idle(read.handle)?;
    device.close(read.handle)?;
    Ok(())
}

fn many_relocations(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects: Vec<_> = (0..300)
        .map(|_| device.create(PAGE, Domain::Gtt))
        .collect::<Result<_, _>>()?;
    let entries: Vec<CsReloc> = (0..2000)
        .map(|i| CsReloc {
            handle: objects[i % objects.len()].handle(),
            read_domains: abi::DOMAIN_GTT,
            write_domain: 0,
            flags: (i % 16) as u32,
        })
        .collect();
    for _ in 0..5 {
        with_entries(&entries).submit(&device)?;
    }
    for bo in &objects {
        bo.wait()?;
        ensure!(!bo.is_busy()?, "busy after waiting");
    }
    Ok(())
}
