// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Addresses of the 3D engine, as they arrive at the chip. That engine reaches the frame buffer and system pages. A parameter has
//! 24 bits beside its sub-address, so an address is in two of them, and its location in one of the two or in a third.
//!
//! The streams only set parameters. The model says what it has received, and what is at that address in the frame buffer.

use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::stream::{Address, Parameter};
use lapidary_chrome9_client::{Bo, Client as _, Place, Stream};
use lapidary_harness::control::Control;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_registers::chrome9::enums::{location, location_3d, para_type};
use lapidary_registers::chrome9::para_01::{self, z_1, z_2};
use lapidary_registers::chrome9::para_04::{
    self, vertex_buffer_high, vertex_buffer_low, vertex_format_1,
};

/// Bytes of a unit of bases.
const UNIT: u64 = 256;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("addresses/a_base_and_its_location", base).needs_control(),
        Test::new("addresses/two_halves_and_a_location", halves).needs_control(),
    ]
}

/// Return what the model has received for a parameter.
fn peek(control: &mut Control, name: &str) -> Result<u32> {
    let lines = control.request(&format!("peek {name}"))?;
    let text = lines.first().context("no answer")?;
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16)
        .with_context(|| format!("{name}: {text}"))
}

/// Return a dword of the frame buffer.
fn frame_buffer(control: &mut Control, address: u64) -> Result<u32> {
    let lines = control.request(&format!("vram {address} 4"))?;
    let text = lines.first().context("no answer")?;
    let bytes = u32::from_str_radix(text.trim(), 16).with_context(|| text.clone())?;
    Ok(bytes.swap_bytes())
}

/// Make an object whose dwords are their numbers, and others before it, so that it does not begin at 0.
fn numbered(context: &mut Context, place: Place) -> Result<(Vec<Bo>, Bo)> {
    let device = context.device()?;
    let others = (0..3).map(|_| device.create(5 * PAGE, place));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let bo = device.create(8 * PAGE, place)?;
    let words: Vec<u32> = (0..bo.size() as u32 / 4).map(|i| 0xadd0_0000 | i).collect();
    bo.write(&words)?;
    Ok((others, bo))
}

/// The base and the location of the depth buffer.
fn base(context: &mut Context) -> Result<()> {
    for place in Place::ALL {
        let (_others, bo) = numbered(context, place)?;
        for offset in [0, 0x100, 0x3f00, 0x7f00] {
            let address = Address {
                handle: bo.handle(),
                offset,
            };
            let mut stream = Stream::new();
            stream.parameters(
                para_type::ATTRIBUTE,
                &[
                    Parameter::address(para_01::Z_1, address),
                    Parameter::address(para_01::Z_2, address),
                ],
            );
            bo.device().submit(&stream)?;
            bo.wait()?;
            let control = context.control()?;
            let at = u64::from(z_1::BASE.get(peek(control, "Z_1")?)) * UNIT;
            let found = z_2::LOCATION.get(peek(control, "Z_2")?);
            check(
                control,
                place,
                found == location_3d::SYSTEM_LOCAL,
                at,
                offset,
            )?;
        }
        let still = bo.read()?;
        ensure!(still[9] == 0xadd0_0009, "{place}: the object has changed");
    }
    Ok(())
}

/// The vertex buffer: bits 23:0, bits 31:24 and the location are in three parameters.
fn halves(context: &mut Context) -> Result<()> {
    for place in Place::ALL {
        let (_others, bo) = numbered(context, place)?;
        for offset in [0, 4, 0x1234, 0x7ffc] {
            let address = Address {
                handle: bo.handle(),
                offset,
            };
            let mut stream = Stream::new();
            stream.parameters(
                para_type::PRIMITIVE,
                &[
                    Parameter::address(para_04::VERTEX_FORMAT_1, address),
                    Parameter::address(para_04::VERTEX_BUFFER_LOW, address),
                    Parameter::address(para_04::VERTEX_BUFFER_HIGH, address),
                ],
            );
            bo.device().submit(&stream)?;
            bo.wait()?;
            let control = context.control()?;
            let low = vertex_buffer_low::ADDRESS_LOW.get(peek(control, "VERTEX_BUFFER_LOW")?);
            let high = vertex_buffer_high::ADDRESS_HIGH.get(peek(control, "VERTEX_BUFFER_HIGH")?);
            let at = (u64::from(high) << 24) | u64::from(low);
            let found = vertex_format_1::LOCATION.get(peek(control, "VERTEX_FORMAT_1")?);
            check(control, place, found == location::SYSTEM_LOCAL, at, offset)?;
        }
    }
    Ok(())
}

/// Check that an address is that of a byte of the numbered object.
fn check(control: &mut Control, place: Place, local: bool, at: u64, offset: u32) -> Result<()> {
    ensure!(
        local == (place == Place::FrameBuffer),
        "{place}: the location is another"
    );
    if local {
        let seen = frame_buffer(control, at)?;
        let expected = 0xadd0_0000 | (offset / 4);
        ensure!(
            seen == expected,
            "{place}, offset {offset:#x}: at {at:#x} is {seen:#x}, not {expected:#x}"
        );
    } else {
        ensure!(
            at % PAGE == u64::from(offset) % PAGE,
            "{place}, offset {offset:#x}: address {at:#x}"
        );
    }
    Ok(())
}
