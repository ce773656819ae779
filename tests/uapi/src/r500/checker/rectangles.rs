// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Streams that draw, copy or upload beyond the objects that they name.

use super::{ROWS, client, refuse, surface_of, words};
use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw2d::{self, Brush, Raster, Rect, SourceType, Surface, rop};
use lapidary_guest::stream::Access;
use lapidary_guest::{Domain, Stream, pm4};
use lapidary_harness::Context;
use lapidary_registers::r500::mmio;
use lapidary_uapi_radeon::support::{self, WIDTH};

/// Rectangles that stick out of a surface of `WIDTH` × `ROWS` pixels whose rows fill the object.
const OUTSIDE: [Rect; 11] = [
    Rect::new(0, 0, WIDTH, ROWS + 1),
    Rect::new(0, ROWS, 1, 1),
    Rect::new(0, ROWS - 1, WIDTH + 1, 1),
    Rect::new(1, ROWS - 1, WIDTH, 1),
    Rect::new(0, 0, 1, 0x1fff),
    Rect::new(0, 0, 0x1fff, ROWS),
    Rect::new(0, 0x1fff, 1, 1),
    Rect::new(0x1fff, 0x1fff, 0x1fff, 0x1fff),
    Rect::new(0, -1, 1, 1),
    Rect::new(-1, 0, 1, 1),
    Rect::new(-8192, -8192, 4, 4),
];

/// Return what a clip that is wide open on the positive side does not hide.
fn sticks_out_after_clipping(rect: Rect) -> bool {
    rect.y >= 0 && rect.x >= 0
}

pub(super) fn fills(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let inside = Rect::new(0, 0, WIDTH, ROWS);
    for rect in OUTSIDE
        .into_iter()
        .filter(|&rect| sticks_out_after_clipping(rect))
    {
        for rects in [&[rect][..], &[inside, rect], &[rect, inside]] {
            let mut stream = Stream::new();
            let brush = Brush::Solid(0);
            draw2d::fill(&mut stream, surface_of(&bo), brush, rop::PATCOPY, rects);
            refuse(context, &device, &format!("{rects:?}"), &stream)?;
        }
    }
    // The same with a pitch that makes the rows longer than the object says.
    let wide = Surface::new(&bo, 16320);
    let mut stream = Stream::new();
    draw2d::fill_by_registers(&mut stream, wide, 0, Rect::new(0, 0, 16, 2));
    refuse(context, &device, "a pitch beyond the object", &stream)
}

pub(super) fn copies(context: &mut Context) -> Result<()> {
    let (device, small) = client(context)?;
    let large = support::surface(&device, 64, Domain::Gtt)?;
    let cases = [
        (&small, &large, (0, ROWS), Rect::new(0, 0, 1, 1)),
        (&small, &large, (0, 1), Rect::new(0, 0, WIDTH, ROWS)),
        (&small, &large, (0, 0), Rect::new(0, 0, WIDTH, ROWS + 1)),
        (&small, &large, (1, ROWS - 1), Rect::new(0, 0, WIDTH, 1)),
        (&small, &large, (0, -1), Rect::new(0, 0, 4, 4)),
        (&small, &large, (-1, 0), Rect::new(0, 0, 4, 4)),
        (&small, &large, (0x1fff, 0x1fff), Rect::new(0, 0, 4, 4)),
        (&large, &small, (0, 0), Rect::new(0, ROWS, 1, 1)),
        (&large, &small, (0, 0), Rect::new(0, 1, WIDTH, ROWS)),
        (&large, &small, (0, 0), Rect::new(0, 0, 0x1fff, 0x1fff)),
    ];
    for (from, to, at, rect) in cases {
        let (from, to) = (surface_of(from), surface_of(to));
        for copies in [
            &[(at, rect)][..],
            &[((0, 0), Rect::new(0, 0, 4, 4)), (at, rect)],
        ] {
            let mut stream = Stream::new();
            draw2d::copy(&mut stream, from, to, Brush::None, rop::SRCCOPY, copies);
            refuse(context, &device, &format!("{copies:?}"), &stream)?;
        }
        let mut stream = Stream::new();
        draw2d::copy_keyed(&mut stream, from, to, 0, at, rect);
        refuse(
            context,
            &device,
            &format!("keyed {at:?}: {rect:?}"),
            &stream,
        )?;
    }
    Ok(())
}

/// The engine still knows the surface of the stream before; a stream must not draw there.
pub(super) fn inherited_surface(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let mut stream = Stream::new();
    draw2d::fill_by_registers(
        &mut stream,
        surface_of(&bo),
        7,
        Rect::new(0, 0, WIDTH, ROWS),
    );
    device.submit(&stream)?;
    bo.wait()?;
    let other = device.another()?;
    let mut stream = Stream::new();
    stream
        .register(mmio::DP_BRUSH_FRGD_CLR, 9)
        .register(mmio::DST_Y_X, 0)
        .register(mmio::DST_HEIGHT_WIDTH, 0x0001_0001);
    refuse(context, &other, "a rectangle without a surface", &stream)?;
    ensure!(bo.read()?[0] == 7, "it was drawn");
    Ok(())
}

pub(super) fn offset_beyond(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for kib in [bo.size() as u32 / 1024, 1 << 10, (1 << 22) - 1] {
        let to = Surface {
            offset: kib * 1024,
            ..surface_of(&bo)
        };
        let mut stream = Stream::new();
        draw2d::fill_by_registers(&mut stream, to, 0, Rect::new(0, 0, 1, 1));
        refuse(
            context,
            &device,
            &format!("{kib} KiB inside {} bytes", bo.size()),
            &stream,
        )?;
    }
    Ok(())
}

pub(super) fn lines(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for points in [
        [(0, 0), (0, ROWS + 1)],
        [(0, ROWS + 4), (0, 0)],
        [(0, 0), (WIDTH + 1, ROWS + 1)],
        [(0, 0), (0x1fff, 0x1fff)],
    ] {
        let mut stream = Stream::new();
        draw2d::lines(&mut stream, surface_of(&bo), 0, rop::PATCOPY, &points);
        refuse(context, &device, &format!("{points:?}"), &stream)?;
    }
    Ok(())
}

pub(super) fn host_data(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let cases = [
        ("outside", Rect::new(0, ROWS, 4, 4), 16),
        (
            "too high",
            Rect::new(0, 0, 4, ROWS + 1),
            4 * (ROWS as usize + 1),
        ),
        ("too few dwords", Rect::new(0, 0, 4, 4), 15),
        ("too many dwords", Rect::new(0, 0, 4, 4), 17),
    ];
    for (what, rect, count) in cases {
        let raster = Raster {
            rect,
            words: vec![0; count],
        };
        let mut stream = Stream::new();
        let (kind, code) = (SourceType::Colour, rop::SRCCOPY);
        draw2d::bitmaps(&mut stream, surface_of(&bo), kind, 0, 0, code, &[raster]);
        refuse(context, &device, what, &stream)?;
    }
    Ok(())
}

/// Submit a fill that becomes a blit which waits for host data that the stream does not bring.
pub(super) fn host_data_missing(context: &mut Context) -> Result<()> {
    use lapidary_registers::r500::enums::src_load;
    use lapidary_registers::r500::pm4::gui_control;
    let (device, bo) = client(context)?;
    let mut fill = Stream::new();
    draw2d::fill_by_registers(&mut fill, surface_of(&bo), 0, Rect::new(0, 0, 8, 8));
    // The same stream, but the source is host data.
    let control = pm4::packet0(mmio::DP_GUI_MASTER_CNTL, 1);
    let at = fill
        .words()
        .iter()
        .position(|&word| word == control)
        .context("no GUI control in a fill")?
        + 1;
    let mut changed = fill.words().to_vec();
    changed[at] = gui_control::SRC_LOAD.put(changed[at], src_load::HOST_DATA);
    changed[at] = gui_control::WIN31_ROP.put(changed[at], u32::from(rop::SRCCOPY));
    let mut stream = words(&changed);
    stream.entry(&bo, Access::Write);
    refuse(context, &device, "no data at all", &stream)?;
    let some = mmio::HOST_DATA.base();
    stream.register(some, 0);
    refuse(context, &device, "one dword of 64", &stream)
}
