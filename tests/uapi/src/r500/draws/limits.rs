// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The last byte: draws that end at the end of an object are admitted, draws that reach one element further are
//! not, with every size and offset that a draw has.

use super::bounds::{refuse, refuse_draw};
use super::{FULL, SIZE, admit, client, index_words, query, whole};
use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw3d::{Array, Draw, Image, Indices, Vertices};
use lapidary_guest::{Domain, Stream};
use lapidary_harness::Context;
use lapidary_harness::mapping::PAGE;
use lapidary_uapi_radeon::support::{peek, surface};

const END: u32 = PAGE as u32;

pub(super) fn last_vertex(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let vertices = device.create(PAGE, Domain::Gtt)?;
    let bytes = device.create(PAGE, Domain::Gtt)?;
    bytes.write(&index_words(2, 1))?;
    let arrays = [Array::new(&vertices)];
    let objects = [
        ("colour", &bo),
        ("vertices", &vertices),
        ("indices", &bytes),
    ];
    let listed = |count| Draw {
        vertices: Vertices::Arrays(&arrays, count),
        ..Draw::on(whole(&bo))
    };
    admit(context, &device, "up to the end", &listed(FULL), &objects)?;
    refuse_draw(context, &device, "one vertex more", &listed(FULL + 1))?;
    let indexed = |max| {
        let indices = Indices {
            bo: &bytes,
            offset: 0,
            count: 2,
            max,
        };
        Draw {
            vertices: Vertices::Indexed(&arrays, indices),
            ..Draw::on(whole(&bo))
        }
    };
    admit(
        context,
        &device,
        "the last index",
        &indexed(FULL - 1),
        &objects,
    )?;
    admit(
        context,
        &device,
        "one index more, clamped",
        &indexed(FULL),
        &objects,
    )
}

/// Indices are data, which the checker does not see. A register bounds them, and the driver lowers it to what the
/// arrays hold.
pub(super) fn largest_index(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let vertices = device.create(PAGE, Domain::Gtt)?;
    let bytes = device.create(PAGE, Domain::Gtt)?;
    bytes.write(&[u32::MAX; 4])?;
    let arrays = [Array::new(&vertices)];
    let objects = [
        ("colour", &bo),
        ("vertices", &vertices),
        ("indices", &bytes),
    ];
    for max in [FULL + 1, 0xffff, 0xff_ffff] {
        let indices = Indices {
            bo: &bytes,
            offset: 0,
            count: 4,
            max,
        };
        let draw = Draw {
            vertices: Vertices::Indexed(&arrays, indices),
            ..Draw::on(whole(&bo))
        };
        admit(
            context,
            &device,
            &format!("indices up to {max}"),
            &draw,
            &objects,
        )?;
        let seen = peek(context.control()?, "VAP_VF_MAX_VTX_INDX")?;
        ensure!(
            seen == FULL - 1,
            "indices up to {max}: executed up to {seen}"
        );
    }
    Ok(())
}

pub(super) fn array_offset(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let vertices = device.create(PAGE, Domain::Gtt)?;
    let objects = [("colour", &bo), ("vertices", &vertices)];
    for (offset, count, good) in [
        (END - 16, 1, true),
        (END - 32, 2, true),
        (END - 12, 1, false),
        (END - 16, 2, false),
        (4, FULL, false),
        (END, 1, false),
        (0x7fff_fffc, 1, false),
        (0xffff_fff0, 2, false),
    ] {
        let arrays = [Array {
            offset,
            ..Array::new(&vertices)
        }];
        let draw = Draw {
            vertices: Vertices::Arrays(&arrays, count),
            ..Draw::on(whole(&bo))
        };
        let what = format!("{count} vertices from {offset:#x}");
        if good {
            admit(context, &device, &what, &draw, &objects)?;
        } else {
            refuse_draw(context, &device, &what, &draw)?;
        }
    }
    Ok(())
}

pub(super) fn index_buffer(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let vertices = device.create(PAGE, Domain::Gtt)?;
    let bytes = device.create(PAGE, Domain::Gtt)?;
    bytes.write(&index_words(END / 2, FULL))?;
    let arrays = [Array::new(&vertices)];
    let objects = [
        ("colour", &bo),
        ("vertices", &vertices),
        ("indices", &bytes),
    ];
    for (offset, count, good) in [
        (0, END / 2, true),
        (END - 4, 2, true),
        (0, END / 2 + 2, false),
        (4, END / 2, false),
        (END - 4, 4, false),
        (END, 2, false),
        (0xffff_fffc, 4, false),
        (0, 0xffff, false),
    ] {
        let indices = Indices {
            bo: &bytes,
            offset,
            count,
            max: FULL - 1,
        };
        let draw = Draw {
            vertices: Vertices::Indexed(&arrays, indices),
            ..Draw::on(whole(&bo))
        };
        let what = format!("{count} indices from {offset:#x}");
        if good {
            admit(context, &device, &what, &draw, &objects)?;
        } else {
            refuse_draw(context, &device, &what, &draw)?;
        }
    }
    Ok(())
}

pub(super) fn texture_offset(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let texture = surface(&device, SIZE, Domain::Gtt)?;
    let bytes = 4 * SIZE * SIZE;
    let objects = [("colour", &bo), ("texture", &texture)];
    for (offset, height, good) in [
        (0, SIZE, true),
        (bytes / 2, SIZE / 2, true),
        (32, SIZE, false),
        (bytes / 2, SIZE / 2 + 1, false),
        (bytes, 1, false),
        (0xffff_ffe0, 1, false),
    ] {
        let image = Image {
            offset,
            height,
            ..whole(&texture)
        };
        let draw = Draw {
            textures: &[image],
            ..Draw::on(whole(&bo))
        };
        let what = format!("{height} rows from {offset:#x}");
        if good {
            admit(context, &device, &what, &draw, &objects)?;
        } else {
            refuse_draw(context, &device, &what, &draw)?;
        }
    }
    Ok(())
}

pub(super) fn count_address(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let depth = surface(&device, SIZE, Domain::Gtt)?;
    let counts = device.create(PAGE, Domain::Gtt)?;
    depth.wait()?;
    let draw = Draw {
        depth: Some(whole(&depth)),
        ..Draw::on(whole(&bo))
    };
    for offset in [END, END + 64, 1 << 20, 0x7fff_fffc, 0xffff_fffc] {
        let stream = query(&draw, &counts, offset);
        refuse(
            context,
            &device,
            &format!("a count at {offset:#x}"),
            &stream,
        )?;
    }
    Ok(())
}

/// Columns beyond the surface's pitch lie in its next rows, and those of the last row beyond the object. The driver
/// lowers the scissor to what the objects hold; the judge watches.
pub(super) fn wide_scissor(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let depth = surface(&device, SIZE, Domain::Gtt)?;
    let good = Draw {
        depth: Some(whole(&depth)),
        ..Draw::on(whole(&bo))
    };
    let objects = [("colour", &bo), ("depth", &depth)];
    for columns in [SIZE, 2, SIZE, SIZE + 1, SIZE + 64, 4096] {
        let draw = Draw {
            scissor: (columns, SIZE),
            ..good.clone()
        };
        admit(
            context,
            &device,
            &format!("{columns} columns"),
            &draw,
            &objects,
        )?;
    }
    Ok(())
}

/// Draw with sizes and offsets whose sums and products do not fit into 32 bits.
pub(super) fn wrapping(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let depth = surface(&device, SIZE, Domain::Gtt)?;
    bo.wait()?;
    depth.wait()?;
    for offset in [0xffff_ffe0, 0xffff_c000, 0x8000_0000] {
        let image = Image {
            offset,
            ..whole(&bo)
        };
        let what = format!("from {offset:#x}");
        refuse_draw(
            context,
            &device,
            &format!("colour {what}"),
            &Draw::on(image),
        )?;
        let image = Image {
            bo: &depth,
            ..image
        };
        let draw = Draw {
            depth: Some(image),
            ..Draw::on(whole(&bo))
        };
        refuse_draw(context, &device, &format!("depth {what}"), &draw)?;
    }
    Ok(())
}

/// The engine still has the state of the stream before; a stream that sets none must not draw with it.
pub(super) fn inherited(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Gtt)?;
    let vertices = device.create(PAGE, Domain::Gtt)?;
    let arrays = [Array::new(&vertices)];
    let draw = Draw {
        vertices: Vertices::Arrays(&arrays, 4),
        ..Draw::on(whole(&bo))
    };
    let objects = [("colour", &bo), ("vertices", &vertices)];
    admit(context, &device, "with its state", &draw, &objects)?;
    let (mut all, mut state) = (Stream::new(), Stream::new());
    draw.emit(&mut all);
    draw.state(&mut state);
    let other = device.another()?;
    // What is behind the state, without the arrays: only the packet that draws.
    let last = all.words().last().context("an empty draw")?;
    let mut alone = Stream::new();
    alone.packet(lapidary_registers::r500::pm4::op::_3D_DRAW_VBUF_2, &[*last]);
    refuse(context, &other, "the draw alone", &alone)?;
    // All state but the arrays, in a stream of the same client.
    let mut stream = state;
    stream.packet(lapidary_registers::r500::pm4::op::_3D_DRAW_VBUF_2, &[*last]);
    refuse(context, &device, "without arrays", &stream)
}
