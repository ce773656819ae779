// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tiling flags in streams. A stream that says `KEEP_TILING_FLAGS` means the tiling bits it contains; one that does
//! not gets those stored with the objects, and has markers behind its pitch registers too. What comes out is read
//! from the model's registers.

use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::stream::Access;
use lapidary_guest::submit::{Chunk, Envelope};
use lapidary_guest::{Bo, Domain, Stream, abi};
use lapidary_harness::{Context, Test};
use lapidary_registers::Field;
use lapidary_registers::r500::mmio::{
    self, dst_pitch_offset, rb3d_colorpitch, tx_offset, zb_depthpitch,
};
use lapidary_uapi_radeon::support::{peek, surface};

/// Tiling that a stream asks for: bits of [`arrived`].
const MACRO: u32 = 1;
const MICRO: u32 = 2;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("tiling/bits_of_the_stream_are_kept", kept).needs_control(),
        Test::new("tiling/flags_of_the_object_take_their_place", patched).needs_control(),
        Test::new("tiling/objects_without_flags_are_linear", linear).needs_control(),
    ]
}

fn set_tiling(bo: &Bo, flags: u32) -> Result<()> {
    let mut argument = abi::GemTiling {
        handle: bo.handle(),
        flags,
        pitch: 256,
    };
    bo.device()
        .ioctl(abi::RADEON_GEM_SET_TILING, &mut argument)?;
    Ok(())
}

/// Registers whose tiling bits are looked at: name, offset, value without them, the bits, whether it is an address.
struct Place {
    name: &'static str,
    offset: u32,
    value: u32,
    macro_bit: Field,
    micro_bits: Field,
    address: bool,
}

fn places() -> [Place; 3] {
    let format = rb3d_colorpitch::COLORFORMAT.put(0, rb3d_colorpitch::colorformat::ARGB8888);
    [
        Place {
            name: "RB3D_COLORPITCH[0]",
            offset: mmio::RB3D_COLORPITCH.base(),
            value: rb3d_colorpitch::COLORPITCH.put(format, 32),
            macro_bit: rb3d_colorpitch::COLORTILE,
            micro_bits: rb3d_colorpitch::COLORMICROTILE,
            address: false,
        },
        Place {
            name: "ZB_DEPTHPITCH",
            offset: mmio::ZB_DEPTHPITCH,
            value: zb_depthpitch::DEPTHPITCH.put(0, 16),
            macro_bit: zb_depthpitch::DEPTHMACROTILE,
            micro_bits: zb_depthpitch::DEPTHMICROTILE,
            address: false,
        },
        Place {
            name: "TX_OFFSET[0]",
            offset: mmio::TX_OFFSET.base(),
            value: 0,
            macro_bit: tx_offset::MACRO_TILE,
            micro_bits: tx_offset::MICRO_TILE,
            address: true,
        },
    ]
}

/// Run one write of each place, and say what tiling bits arrived: macro and micro, for each.
fn arrived(context: &mut Context, flags: u32, keep: bool, bits: u32) -> Result<Vec<(u32, u32)>> {
    let device = context.device()?;
    let bo = surface(&device, 64, Domain::Vram)?;
    set_tiling(&bo, flags)?;
    let (macro_bit, micro_bit) = (bits & 1, bits >> 1);
    let mut stream = Stream::new();
    for place in places() {
        let value = place.macro_bit.put(place.value, macro_bit);
        let value = place.micro_bits.put(value, micro_bit);
        stream.register(place.offset, value);
        // Pitches have a marker only where tiling is to be filled in.
        if place.address || !keep {
            stream.relocation(&bo, Access::Write);
        }
    }
    let mut pitch = lapidary_engines::r500::draw2d::Surface::new(&bo, 256).pitch_offset();
    pitch = dst_pitch_offset::TILE_MACRO.put(pitch, macro_bit);
    pitch = dst_pitch_offset::TILE_MICRO.put(pitch, micro_bit);
    stream
        .register(mmio::DST_PITCH_OFFSET, pitch)
        .relocation(&bo, Access::Write);
    let word = if keep { abi::CS_KEEP_TILING } else { 0 };
    Envelope::new()
        .with(Chunk::relocations(stream.relocations()))
        .with(Chunk::commands(stream.words()))
        .with(Chunk::flags(&[word, abi::RING_GFX]))
        .submit(&device)
        .with_context(|| format!("flags {flags:#x}, keep {keep}"))?;
    bo.wait()?;
    let mut seen = Vec::new();
    for place in places() {
        let value = peek(context.control()?, place.name)?;
        seen.push((place.macro_bit.get(value), place.micro_bits.get(value)));
        ensure!(
            place.address || {
                let plain = place.macro_bit.put(place.micro_bits.put(value, 0), 0);
                plain == place.value
            },
            "{}: {value:#x}: more than the tiling bits changed",
            place.name
        );
    }
    let pitch = peek(context.control()?, "DST_PITCH_OFFSET")?;
    let tile = (
        dst_pitch_offset::TILE_MACRO.get(pitch),
        dst_pitch_offset::TILE_MICRO.get(pitch),
    );
    seen.push(tile);
    Ok(seen)
}

fn expect(seen: &[(u32, u32)], expected: (u32, u32), what: &str) -> Result<()> {
    for (name, seen) in ["colour", "depth", "texture", "2D"].iter().zip(seen) {
        ensure!(
            *seen == expected,
            "{what}: {name} has (macro, micro) {seen:?}, not {expected:?}"
        );
    }
    Ok(())
}

fn kept(context: &mut Context) -> Result<()> {
    for flags in [0, abi::TILING_MACRO, abi::TILING_MACRO | abi::TILING_MICRO] {
        for bits in [0, MACRO, MACRO | MICRO] {
            let seen = arrived(context, flags, true, bits)?;
            expect(
                &seen,
                (bits & 1, bits >> 1),
                &format!("object {flags:#x}, stream {bits:#x}"),
            )?;
        }
    }
    Ok(())
}

fn patched(context: &mut Context) -> Result<()> {
    for (flags, expected) in [
        (abi::TILING_MACRO, (1, 0)),
        (abi::TILING_MICRO, (0, 1)),
        (abi::TILING_MACRO | abi::TILING_MICRO, (1, 1)),
    ] {
        let seen = arrived(context, flags, false, 0)?;
        expect(&seen, expected, &format!("object {flags:#x}"))?;
    }
    Ok(())
}

fn linear(context: &mut Context) -> Result<()> {
    let seen = arrived(context, 0, false, 0)?;
    expect(&seen, (0, 0), "no flags")
}
