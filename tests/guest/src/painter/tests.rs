// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A painter for a chip that does not exist: clients have address spaces, and a DMA engine fills and copies row by row.

use super::*;
use crate::abi;
use crate::device::Domain;
use crate::stream::Access;
use crate::submit::{Chunk, Envelope};
use anyhow::bail;
use std::path::Path;
use std::rc::Rc;

/// Header of a command that fills: address, address's high half, colour, bytes.
const FILL: u32 = 0x0b;
/// Header of a command that copies: both addresses, bytes.
const COPY: u32 = 0x01;

struct Dma;

/// Append the address of pixel (`x`, `y`), low half first.
fn at(stream: &mut Stream, area: Area<'_>, access: Access, x: i32, y: i32) {
    let inside = u64::from(area.offset) + y as u64 * u64::from(area.pitch) + x as u64 * 4;
    let address = stream.address(area.bo, access) + inside;
    stream.extend(&[address as u32, (address >> 32) as u32]);
}

impl Painter for Dma {
    fn module(&self) -> &'static str {
        "dma"
    }

    fn knows(&self, _: u32) -> bool {
        true
    }

    fn stream(&self) -> Stream {
        Stream::on(abi::CS_USE_VM, abi::RING_DMA)
    }

    fn map(&self, bo: &Bo) -> Result<Option<u64>, Errno> {
        if bo.handle() == 0 {
            return Err(Errno::NOENT);
        }
        Ok(Some(u64::from(bo.handle()) << 32))
    }

    fn forbidden(&self) -> Vec<Forbidden> {
        Vec::new()
    }

    fn fill(&self, stream: &mut Stream, to: Area<'_>, colour: u32, rect: Rect) {
        for y in rect.y..rect.y + rect.h {
            stream.word(FILL);
            at(stream, to, Access::Write, rect.x, y);
            stream.extend(&[colour, rect.w as u32 * 4]);
        }
    }

    fn copy(
        &self,
        stream: &mut Stream,
        from: Area<'_>,
        to: Area<'_>,
        corner: (i32, i32),
        rect: Rect,
    ) {
        for row in 0..rect.h {
            stream.word(COPY);
            at(stream, from, Access::Read, corner.0, corner.1 + row);
            at(stream, to, Access::Write, rect.x, rect.y + row);
            stream.word(rect.w as u32 * 4);
        }
    }

    fn triangle(&self, _: &mut Stream, _: Area<'_>, _: u32) -> bool {
        false
    }

    fn mention(&self, stream: &mut Stream, bo: &Bo) {
        stream.entry(bo, Access::Read);
    }

    fn nothing(&self, stream: &mut Stream) {
        stream.word(self.filler());
    }

    fn filler(&self) -> u32 {
        0
    }

    fn address(&self, _: &mut Control, _: &Bo) -> Result<u64> {
        bail!("there is no model")
    }

    fn is_stopped(&self, _: &mut Control) -> Result<()> {
        bail!("there is no model")
    }

    fn registers(&self) -> &'static [&'static str] {
        &[]
    }
}

/// Make an object without a device behind it: its ioctls fail.
fn object(handle: u32, domain: Domain) -> Bo {
    let device = Device::open_path(Path::new("/dev/null")).expect("a file");
    Bo::adopt_by(Rc::new(device), handle, 4096, domain, |bo| Dma.map(bo))
}

#[test]
fn virtual_streams_hold_addresses_and_list_objects() {
    let (from, to) = (object(5, Domain::Gtt), object(6, Domain::Vram));
    let mut stream = Dma.stream();
    Dma.fill(
        &mut stream,
        Area::new(&to, 256),
        0xc0_10_75,
        Rect::new(2, 1, 4, 2),
    );
    let source = Area {
        offset: 1024,
        ..Area::new(&from, 512)
    };
    Dma.copy(
        &mut stream,
        source,
        Area::new(&to, 256),
        (1, 2),
        Rect::new(0, 3, 8, 1),
    );
    let words = [
        [FILL, 0x108, 6, 0xc0_10_75, 16].as_slice(),
        &[FILL, 0x208, 6, 0xc0_10_75, 16],
        &[COPY, 0x804, 5, 0x300, 6, 32],
    ]
    .concat();
    assert_eq!(stream.words(), words);
    let entry = |handle, read_domains, write_domain| abi::CsReloc {
        handle,
        read_domains,
        write_domain,
        flags: 0,
    };
    let list = [entry(6, 0, abi::DOMAIN_VRAM), entry(5, abi::DOMAIN_GTT, 0)];
    assert_eq!(stream.relocations(), list);
    assert_eq!(stream.flags(), [abi::CS_USE_VM, abi::RING_DMA]);
    // The chunks are the same as on any family.
    let envelope = Envelope::new()
        .with(Chunk::relocations(&list))
        .with(Chunk::commands(&words))
        .with(Chunk::flags(&[abi::CS_USE_VM, abi::RING_DMA]));
    assert_eq!(
        format!("{:?}", Envelope::of(&stream)),
        format!("{envelope:?}")
    );
}

#[test]
fn envelopes_made_by_hand_keep_the_painters_flags_and_ring() {
    let envelope = Envelope::with_flags_of(&Dma.stream(), Chunk::commands(&[1, 2]));
    let expected = Envelope::new()
        .with(Chunk::commands(&[1, 2]))
        .with(Chunk::flags(&[abi::CS_USE_VM, abi::RING_DMA]));
    assert_eq!(format!("{envelope:?}"), format!("{expected:?}"));
}

#[test]
fn a_mapping_that_failed_is_an_error_of_the_object() {
    assert_eq!(object(0, Domain::Gtt).address(), Err(Errno::NOENT));
    assert_eq!(object(3, Domain::Gtt).address(), Ok(Some(3 << 32)));
}

#[test]
#[should_panic(expected = "a relocation in a stream with addresses")]
fn virtual_streams_take_no_relocation() {
    Dma.stream()
        .relocation(&object(1, Domain::Gtt), Access::Read);
}

#[test]
#[should_panic(expected = "addresses in a stream that relocates")]
fn streams_that_relocate_take_no_address() {
    Stream::new().address(&object(1, Domain::Gtt), Access::Read);
}
