// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws that lack an object or whose objects are too small: no driver admits them.

use super::{FULL, SIZE, client, whole};
use anyhow::{Context as _, Result};
use lapidary_engines::r500::draw3d::{Array, Draw, Image, Vertices};
use lapidary_guest::{Device, Domain, Errno, Stream, pm4};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, refused};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_uapi_radeon::support::{surface, untouched};

pub(super) fn refuse(
    context: &mut Context,
    device: &Device,
    what: &str,
    stream: &Stream,
) -> Result<()> {
    untouched(context, || {
        refused("the stream", device.submit(stream), Errno::INVAL)
    })
    .with_context(|| what.to_owned())
}

/// Submit a draw that must be refused without a trace.
pub(super) fn refuse_draw(
    context: &mut Context,
    device: &Device,
    what: &str,
    draw: &Draw<'_>,
) -> Result<()> {
    let mut stream = Stream::new();
    draw.emit(&mut stream);
    refuse(context, device, what, &stream)
}

/// Return a draw without the packet that draws.
fn state(draw: &Draw<'_>) -> Stream {
    let mut stream = Stream::new();
    draw.state(&mut stream);
    stream
}

pub(super) fn missing_objects(context: &mut Context) -> Result<()> {
    use mmio::zb_cntl::{Z_ENABLE, ZWRITEENABLE};
    let (device, bo) = client(context, Domain::Gtt)?;
    bo.wait()?;
    let good = Draw::on(whole(&bo));
    // The same draw without a colour target, but with its channels on.
    let bare = Draw {
        colour: None,
        ..good.clone()
    };
    let mut stream = state(&bare);
    stream.register(mmio::RB3D_COLOR_CHANNEL_MASK, 0xf);
    stream.extend(&draw_words(&bare));
    refuse(context, &device, "no colour surface", &stream)?;
    let mut stream = state(&good);
    stream.register(mmio::ZB_CNTL, ZWRITEENABLE.put(Z_ENABLE.put(0, 1), 1));
    stream.extend(&draw_words(&good));
    refuse(context, &device, "no depth surface", &stream)?;
    let mut stream = state(&good);
    stream.register(mmio::TX_ENABLE, 1);
    stream.extend(&draw_words(&good));
    refuse(context, &device, "no texture", &stream)?;
    // An array that is counted and not named.
    let mut stream = state(&good);
    stream.packet(op::_3D_LOAD_VBPNTR, &[1, 0x0404, 0]);
    refuse(context, &device, "an array without an object", &stream)?;
    let mut stream = state(&good);
    stream
        .packet(op::INDX_BUFFER, &[0, 0, 1])
        .word(pm4::PACKET2);
    refuse(context, &device, "indices without an object", &stream)
}

/// Return the packets at the end of a draw that need no relocation.
fn draw_words(draw: &Draw<'_>) -> Vec<u32> {
    let mut stream = Stream::new();
    draw.emit(&mut stream);
    stream.words()[state(draw).len()..].to_vec()
}

pub(super) fn surfaces(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let depth = surface(&device, SIZE, Domain::Gtt)?;
    bo.wait()?;
    depth.wait()?;
    let good = Draw {
        depth: Some(whole(&depth)),
        ..Draw::on(whole(&bo))
    };
    let colour = |image| Draw {
        colour: Some(image),
        ..good.clone()
    };
    let with_depth = |image| Draw {
        depth: Some(image),
        ..good.clone()
    };
    let row = Image {
        offset: 4 * SIZE,
        ..whole(&bo)
    };
    for (what, draw) in [
        (
            "a row more than there is",
            Draw {
                scissor: (SIZE, SIZE + 1),
                ..good.clone()
            },
        ),
        (
            "all rows there can be",
            Draw {
                scissor: (SIZE, 4096),
                ..good.clone()
            },
        ),
        (
            "colour: longer rows",
            colour(Image {
                pitch: SIZE + 2,
                ..whole(&bo)
            }),
        ),
        (
            "colour: the longest rows",
            colour(Image {
                pitch: 8192,
                ..whole(&bo)
            }),
        ),
        ("colour: a row further", colour(row)),
        (
            "depth: longer rows",
            with_depth(Image {
                pitch: SIZE + 4,
                ..whole(&depth)
            }),
        ),
        (
            "depth: a row further",
            with_depth(Image { bo: &depth, ..row }),
        ),
    ] {
        refuse_draw(context, &device, what, &draw)?;
    }
    Ok(())
}

pub(super) fn textures(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let texture = surface(&device, SIZE, Domain::Gtt)?;
    bo.wait()?;
    texture.wait()?;
    for (what, image) in [
        (
            "a row more",
            Image {
                height: SIZE + 1,
                ..whole(&texture)
            },
        ),
        (
            "twice as wide",
            Image {
                pitch: 2 * SIZE,
                ..whole(&texture)
            },
        ),
        (
            "the largest",
            Image {
                pitch: 2048,
                height: 2048,
                ..whole(&texture)
            },
        ),
        (
            "one more level",
            Image {
                levels: 1,
                ..whole(&texture)
            },
        ),
    ] {
        let draw = Draw {
            textures: &[image],
            ..Draw::on(whole(&bo))
        };
        refuse_draw(context, &device, what, &draw)?;
        let draw = Draw {
            textures: &[whole(&texture), image],
            ..Draw::on(whole(&bo))
        };
        refuse_draw(context, &device, &format!("{what}, second unit"), &draw)?;
    }
    Ok(())
}

pub(super) fn arrays(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let vertices = device.create(PAGE, Domain::Gtt)?;
    bo.wait()?;
    let good = Array::new(&vertices);
    for (what, arrays, count) in [
        ("more vertices", &[good][..], FULL + 2),
        ("the most vertices", &[good], 0xffff),
        (
            "the second array",
            &[good, Array { stride: 8, ..good }],
            FULL,
        ),
        (
            "far apart",
            &[Array {
                stride: 127,
                ..good
            }],
            32,
        ),
    ] {
        let vertices = Vertices::Arrays(arrays, count);
        refuse_draw(
            context,
            &device,
            what,
            &Draw {
                vertices,
                ..Draw::on(whole(&bo))
            },
        )?;
    }
    Ok(())
}

/// The draw says how many vertices there are; the packet must have as many.
pub(super) fn immediate(context: &mut Context) -> Result<()> {
    use mmio::vap_vf_cntl::NUM_VERTICES;
    let (device, bo) = client(context, Domain::Gtt)?;
    bo.wait()?;
    let good = Draw::on(whole(&bo));
    let words = draw_words(&good);
    let at = words
        .iter()
        .rposition(|&word| word == pm4::packet3(op::_3D_DRAW_IMMD_2, 13))
        .context("no draw in a draw")?;
    for count in [0, 2, 4, 0xffff] {
        let mut changed = words.clone();
        changed[at + 1] = NUM_VERTICES.put(changed[at + 1], count);
        let mut stream = state(&good);
        stream.extend(&changed);
        refuse(context, &device, &format!("{count} instead of 3"), &stream)?;
    }
    Ok(())
}
