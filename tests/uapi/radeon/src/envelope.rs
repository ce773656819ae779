// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The envelope of the CS ioctl. Every malformed variant gets its documented error and leaves no trace in the device.
//! What upstream ignores is ignored.

use crate::support::{self, NO_RING, fillers, needed_flags, nothing, on_ring};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::abi::{self, CsReloc};
use lapidary_guest::painter::painter;
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Bo, Device, Domain, Errno};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
use rustix::mm::{MapFlags, MprotectFlags, ProtFlags, mmap_anonymous, mprotect, munmap};
use std::rc::Rc;

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

/// Make an envelope that does nothing.
fn plain() -> Envelope {
    support::envelope(stream())
}

fn accepted(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let usual = nothing();
    let ring = usual.flags()[1];
    let needed = support::needed_flags();
    let flagged = |flags: &[u32]| Envelope::new().with(stream()).with(Chunk::flags(flags));
    let mut long = vec![0; 16];
    long[..2].copy_from_slice(&[needed, ring]);
    let envelopes = [
        ("no list of objects", plain()),
        ("an empty list", plain().with(Chunk::relocations(&[]))),
        (
            "flags before commands",
            Envelope::new()
                .with(Chunk::flags(usual.flags()))
                .with(stream()),
        ),
        ("flags and ring", flagged(&[needed, ring])),
        ("flags, ring, priority", flagged(&[needed, ring, 7])),
        ("negative priority", flagged(&[needed, ring, !0])),
        ("long flags", flagged(&long)),
        (
            "end of frame",
            flagged(&[needed | abi::CS_END_OF_FRAME, ring]),
        ),
        ("unknown flags", flagged(&[needed | 0xffff_fff8, ring])),
        (
            "unknown chunk",
            Envelope::new()
                .with(Chunk::new(0x77, vec![1, 2, 3]))
                .with(stream())
                .with(Chunk::flags(usual.flags())),
        ),
        ("ignored fields", plain().ignored_fields(!0, !0, !0)),
        ("one dword", support::envelope(Chunk::commands(&fillers(1)))),
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
            check("pointers", plain().point_at(bad))?;
            check("a header", plain().chunk_pointer(0, bad))?;
            check("commands", support::envelope(stream().point_at(bad)))?;
            check("flags", plain().with(Chunk::flags(&[0]).point_at(bad)))?;
            let entry = Chunk::relocations(&[CsReloc::default()]);
            check("relocations", plain().with(entry.point_at(bad)))?;
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
    let good = support::envelope(Chunk::commands(&words).point_at(at));
    good.submit(&device).context("up to the hole")?;
    support::untouched(context, || {
        let longer = support::envelope(Chunk::commands(&words).point_at(at).claim(9));
        refused(
            "a dword into the hole",
            longer.submit(&device),
            Errno::FAULT,
        )?;
        let much = support::envelope(Chunk::commands(&words).point_at(at).claim(16000));
        refused("far into the hole", much.submit(&device), Errno::FAULT)?;
        // Three chunk pointers asked for, one there.
        let pointers = brink.place(&[0, 0]);
        let envelope = plain().claim(3).point_at(pointers);
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
            support::envelope(Chunk::commands(&[])).submit(&device),
            Errno::INVAL,
        )?;
        let envelope = plain().with(Chunk::flags(&[]));
        refused("no flags", envelope.submit(&device), Errno::INVAL)
    })
}

fn video_rings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    support::untouched(context, || {
        refused(
            "UVD",
            on_ring(abi::RING_UVD, needed_flags()).submit(&device),
            Errno::INVAL,
        )?;
        refused(
            "VCE",
            on_ring(abi::RING_VCE, needed_flags()).submit(&device),
            Errno::INVAL,
        )
    })
}

fn duplicates(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // Where the driver checks no commands, ones that cannot be read take their place.
    let (bad, error) = match painter().forbidden().first() {
        Some(forbidden) => (Chunk::commands(&forbidden.words), Errno::INVAL),
        None => (stream().point_at(BAD[1]), Errno::FAULT),
    };
    Envelope::new()
        .with(bad.clone())
        .with(stream())
        .with(Chunk::flags(nothing().flags()))
        .submit(&device)
        .context("a good stream after a bad one")?;
    support::untouched(context, || {
        let envelope = plain().with(bad.clone());
        refused(
            "a bad stream after a good one",
            envelope.submit(&device),
            error,
        )?;
        let envelope = plain().with(Chunk::flags(&[needed_flags(), NO_RING]));
        refused(
            "a bad ring after a good one",
            envelope.submit(&device),
            Errno::INVAL,
        )
    })
}

/// Submit lengths whose number of bytes does not fit into 32 bits.
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
            let envelope = support::envelope(Chunk::commands(&words).claim(length));
            refused(
                &format!("commands of {what}"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
            let relocations = Chunk::relocations(&[CsReloc::default(); 64]).claim(length & !3);
            let envelope = plain().with(relocations);
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
            let envelope = plain().claim(count);
            refused(
                &format!("{count} chunks"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
        }
        let envelope = support::envelope(Chunk::commands(&fillers(1 << 20)));
        refused("a million dwords", envelope.submit(&device), Errno::INVAL)?;
        let envelope = plain().with(Chunk::relocations(&vec![CsReloc::default(); 1 << 18]));
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
        support::envelope(Chunk::commands(&fillers(dwords)))
            .submit(&device)
            .with_context(|| format!("{dwords} dwords"))?;
    }
    support::engine_works(&device)
}

/// Make an object, and an entry for it.
fn entry(device: &Rc<Device>, read: u32, write: u32) -> Result<(Bo, CsReloc)> {
    let bo = device.create(PAGE, Domain::Gtt)?;
    let entry = CsReloc {
        handle: bo.handle(),
        read_domains: read,
        write_domain: write,
        flags: 0,
    };
    Ok((bo, entry))
}

fn with_entries(entries: &[CsReloc]) -> Envelope {
    plain().with(Chunk::relocations(entries))
}

fn partial_relocation(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (_bo, good) = entry(&device, abi::DOMAIN_GTT, 0)?;
    support::untouched(context, || {
        for length in [1, 2, 3, 5, 6, 7] {
            let chunk = Chunk::relocations(&[good; 2]).claim(length);
            let envelope = plain().with(chunk);
            refused(
                &format!("{length} dwords"),
                envelope.submit(&device),
                Errno::INVAL,
            )?;
        }
        Ok(())
    })
}

fn relocation_handles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (bo, good) = entry(&device, abi::DOMAIN_GTT, 0)?;
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
    drop(bo);
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
        let (_bo, entry) = entry(&device, read, write)?;
        support::untouched(context, || {
            let what = format!("read domains {read:#x}, write domain {write:#x}");
            refused(&what, with_entries(&[entry]).submit(&device), Errno::INVAL)
        })?;
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
    let (bo, read) = entry(&device, abi::DOMAIN_GTT, 0)?;
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
    bo.wait()?;
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
