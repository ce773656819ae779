// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The envelope of a submission: what is accepted and what is not, and that no length is ever used unbounded.

use lapidary::portable::radeon::{
    additions::{chunk as own, MAX_SYNCS},
    envelope::*,
    uapi::{chunk, cs_ring, domain, CsChunk, CsReloc},
};
use proptest::prelude::*;

fn piece(chunk_id: u32, length_dw: u32, chunk_data: u64) -> CsChunk {
    CsChunk {
        chunk_id,
        length_dw,
        chunk_data,
    }
}

fn envelope(pieces: &[CsChunk]) -> Result<Envelope, Error> {
    let mut envelope = Envelope::new(pieces.len() as u32)?;
    for piece in pieces {
        envelope.add(piece)?;
    }
    Ok(envelope)
}

#[test]
fn the_usual_three_chunks() {
    let envelope = envelope(&[
        piece(chunk::IB, 552, 0x1000),
        piece(chunk::RELOCS, 8, 0x2000),
        piece(chunk::FLAGS, 2, 0x3000),
    ])
    .unwrap();
    let extent = |pointer, dwords| Some(Extent { pointer, dwords });
    assert_eq!(envelope.stream(), extent(0x1000, 552));
    assert_eq!(envelope.relocs(), extent(0x2000, 8));
    assert_eq!(envelope.num_relocs(), 2);
    assert_eq!(envelope.flags(), extent(0x3000, 2));
    assert_eq!(envelope.stream().unwrap().bytes(), 552 * 4);
}

#[test]
fn nothing_is_a_submission_too() {
    assert_eq!(envelope(&[]), Ok(Envelope::default()));
    let only_relocs = envelope(&[piece(chunk::RELOCS, 4, 0)]).unwrap();
    assert_eq!(only_relocs.stream(), None);
    let no_relocs = envelope(&[piece(chunk::RELOCS, 0, 0)]).unwrap();
    assert_eq!((no_relocs.relocs(), no_relocs.num_relocs()), (None, 0));
}

#[test]
fn the_number_of_chunks_is_bounded() {
    assert!(Envelope::new(MAX_CHUNKS).is_ok());
    assert_eq!(Envelope::new(MAX_CHUNKS + 1), Err(Error::TooManyChunks));
    assert_eq!(Envelope::new(u32::MAX), Err(Error::TooManyChunks));
}

/// Linux multiplies the length in 32 bits, so that 0x40000040 dwords become 256 bytes.
#[test]
fn a_stream_length_that_wraps_in_bytes_is_refused() {
    for (length, result) in [
        (0, Err(Error::EmptyChunk)),
        (1, Ok(())),
        (MAX_IB_DWORDS, Ok(())),
        (MAX_IB_DWORDS + 1, Err(Error::StreamTooLong)),
        (0x4000_0040, Err(Error::StreamTooLong)),
        (u32::MAX, Err(Error::StreamTooLong)),
    ] {
        for id in [chunk::IB, chunk::CONST_IB] {
            assert_eq!(
                envelope(&[piece(id, length, 0)]).map(|_| ()),
                result,
                "{length:#x}"
            );
        }
    }
}

/// Linux takes a relocation chunk of 4n + 1 dwords and then finds entry n.
#[test]
fn relocations_come_whole() {
    for length in [1, 2, 3, 5, 4 * MAX_RELOCS + 1] {
        assert_eq!(
            envelope(&[piece(chunk::RELOCS, length, 0)]),
            Err(Error::PartialReloc)
        );
    }
    assert!(envelope(&[piece(chunk::RELOCS, 4 * MAX_RELOCS, 0)]).is_ok());
    for length in [4 * MAX_RELOCS + 4, 0x4000_0000, u32::MAX - 3] {
        assert_eq!(
            envelope(&[piece(chunk::RELOCS, length, 0)]),
            Err(Error::TooManyRelocs)
        );
    }
}

#[test]
fn flags_may_be_longer_but_not_empty() {
    assert_eq!(
        envelope(&[piece(chunk::FLAGS, 0, 0)]),
        Err(Error::EmptyChunk)
    );
    let long = envelope(&[piece(chunk::FLAGS, u32::MAX, 7)]).unwrap();
    assert_eq!(
        long.flags(),
        Some(Extent {
            pointer: 7,
            dwords: FLAGS_DWORDS
        })
    );
}

#[test]
fn unknown_chunks_are_ignored_and_the_last_of_a_kind_counts() {
    let envelope = envelope(&[
        piece(chunk::IB, 1, 1),
        piece(0, u32::MAX, 2),
        piece(99, 0, 3),
        piece(chunk::IB, 2, 4),
    ])
    .unwrap();
    assert_eq!(
        envelope.stream(),
        Some(Extent {
            pointer: 4,
            dwords: 2
        })
    );
}

#[test]
fn flags_default_to_graphics() {
    assert_eq!(Flags::read(&[]), Flags::default());
    assert_eq!(
        Flags::read(&[0xffff_fffd, cs_ring::COMPUTE, -5i32 as u32, 9]),
        Flags {
            keep_tiling: true,
            use_vm: false,
            ring: cs_ring::COMPUTE,
            priority: -5
        }
    );
}

#[test]
fn rings_of_a_chip_with_one() {
    let ring = |ring, use_vm| {
        Flags {
            ring,
            use_vm,
            ..Flags::default()
        }
        .ring(&Rings::GFX)
    };
    assert_eq!(ring(cs_ring::GFX, false), Ok(Ring::Gfx));
    assert_eq!(ring(cs_ring::COMPUTE, false), Ok(Ring::Gfx));
    for absent in [cs_ring::DMA, cs_ring::UVD, cs_ring::VCE, 5, u32::MAX] {
        assert_eq!(ring(absent, false), Err(Error::NoSuchRing), "{absent}");
    }
    assert_eq!(ring(cs_ring::GFX, true), Err(Error::NoVm));
}

#[test]
fn rings_of_a_chip_with_address_spaces() {
    let rings = Rings {
        vm: true,
        gfx: Support::Virtual,
        compute: Support::Virtual,
        dma: Support::Checked,
    };
    let ring = |ring, use_vm| {
        Flags {
            ring,
            use_vm,
            ..Flags::default()
        }
        .ring(&rings)
    };
    assert_eq!(ring(cs_ring::GFX, true), Ok(Ring::Gfx));
    assert_eq!(ring(cs_ring::GFX, false), Err(Error::NeedsVm));
    assert_eq!(ring(cs_ring::COMPUTE, true), Ok(Ring::Compute));
    assert_eq!(ring(cs_ring::DMA, false), Ok(Ring::Dma));
    assert_eq!(ring(cs_ring::DMA, true), Err(Error::NoVm));
    assert_eq!(ring(cs_ring::UVD, true), Err(Error::NoSuchRing));
}

#[test]
fn which_rings_there_are() {
    let dma = Rings {
        dma: Support::Checked,
        ..Rings::GFX
    };
    for (number, with, without) in [
        (cs_ring::GFX, Some(true), Some(true)),
        (cs_ring::COMPUTE, Some(true), Some(true)),
        (cs_ring::DMA, Some(true), Some(false)),
        (cs_ring::UVD, Some(false), Some(false)),
        (cs_ring::VCE, Some(false), Some(false)),
        (5, None, None),
        (u32::MAX, None, None),
    ] {
        let has = (dma.has(number), Rings::GFX.has(number));
        assert_eq!(has, (with, without), "{number}");
    }
}

/// Linux takes an entry without domains, and the object then appears to lie at GPU address 0.
#[test]
fn domains_are_known_and_reachable() {
    let place = |read_domains, write_domain| {
        Relocation::new(&CsReloc {
            handle: 1,
            read_domains,
            write_domain,
            flags: 0xfff7,
        })
    };
    let relocation = |domains, write| {
        Ok(Relocation {
            domains,
            write,
            priority: 7,
        })
    };
    assert_eq!(place(0, 0), Err(Error::NoDomain));
    assert_eq!(place(8, 0), Err(Error::UnknownDomain));
    assert_eq!(place(domain::VRAM, 0x8000_0000), Err(Error::UnknownDomain));
    assert_eq!(
        place(domain::VRAM | 8, domain::GTT),
        Err(Error::UnknownDomain)
    );
    assert_eq!(place(domain::CPU, 0), Err(Error::CpuDomain));
    assert_eq!(place(domain::GTT, domain::CPU), Err(Error::CpuDomain));
    assert_eq!(place(domain::VRAM | domain::CPU, 0), Err(Error::CpuDomain));
    assert_eq!(place(domain::VRAM, 0), relocation(domain::VRAM, false));
    assert_eq!(
        place(domain::VRAM, domain::GTT),
        relocation(domain::GTT, true)
    );
    // What is only read does not matter if something is written.
    assert_eq!(
        place(domain::CPU, domain::GTT),
        relocation(domain::GTT, true)
    );
    let both = domain::GTT | domain::VRAM;
    assert_eq!(place(both, 0), relocation(both, false));
}

proptest! {
    #[test]
    fn what_is_to_be_copied_is_bounded(pieces in prop::collection::vec((0u32..6, any::<u32>(), any::<u64>()), 0..80)) {
        let pieces: Vec<_> = pieces.into_iter().map(|(id, length, data)| {
            // Small lengths as often as any.
            piece(id, if data & 1 == 0 { length % 100 } else { length }, data)
        }).collect();
        if let Ok(envelope) = envelope(&pieces) {
            for (extent, most) in [
                (envelope.stream(), MAX_IB_DWORDS),
                (envelope.const_stream(), MAX_IB_DWORDS),
                (envelope.relocs(), 4 * MAX_RELOCS),
                (envelope.flags(), FLAGS_DWORDS),
            ] {
                if let Some(extent) = extent {
                    prop_assert!(extent.dwords >= 1 && extent.dwords <= most);
                    prop_assert_eq!(extent.bytes(), 4 * extent.dwords as usize);
                }
            }
            prop_assert!(envelope.num_relocs() <= MAX_RELOCS);
        }
    }
}

#[test]
fn synchronisation_objects_come_in_whole_entries_and_once() {
    let stream = piece(chunk::IB, 4, 0x1000);
    for id in [own::SYNC_IN, own::SYNC_OUT] {
        for dwords in [0, 4, MAX_SYNCS * 4] {
            let envelope = envelope(&[stream, piece(id, dwords, 0x2000)]).unwrap();
            let extent = Some(Extent {
                pointer: 0x2000,
                dwords,
            });
            let (before, after) = (envelope.sync_in(), envelope.sync_out());
            match id {
                own::SYNC_IN => assert_eq!((before, after), (extent, None)),
                _ => assert_eq!((before, after), (None, extent)),
            }
            assert_eq!(envelope.finish(), Ok(()));
        }
        for dwords in [1, 2, 3, 5, u32::MAX] {
            let bad = envelope(&[piece(id, dwords, 0)]);
            assert_eq!(bad, Err(Error::PartialSync), "{dwords}");
        }
        for dwords in [MAX_SYNCS * 4 + 4, 0x4000_0000, u32::MAX - 3] {
            let bad = envelope(&[piece(id, dwords, 0)]);
            assert_eq!(bad, Err(Error::TooManySyncs), "{dwords}");
        }
        let twice = envelope(&[piece(id, 4, 0), piece(id, 4, 0)]);
        assert_eq!(twice, Err(Error::TwoSyncChunks));
        let alone = envelope(&[piece(id, 0, 0)]).unwrap();
        assert_eq!(alone.finish(), Err(Error::SyncWithoutStream));
    }
    assert_eq!(envelope(&[]).unwrap().finish(), Ok(()));
}
