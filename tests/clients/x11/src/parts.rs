// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The scene: requests of the core protocol of which a driver may have the engine do some.

use anyhow::Result;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ClipOrdering, ConfigureWindowAux, ConnectionExt, CoordMode, CreateGCAux, CreateWindowAux,
    FillStyle, GX, Gcontext, ImageFormat, LineStyle, Pixmap, Point, Rectangle, Segment,
    SubwindowMode, WindowClass,
};

use crate::screen::{Screen, functions, rectangle};

/// How often something is done with a pixmap, so that a server that moves what is used often has moved it.
const OFTEN: u32 = 40;

/// Rectangles, points and lines, with each function; some reach beyond the screen.
pub fn fills(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    for function in functions() {
        let aux = CreateGCAux::new().function(function);
        let gc = s.context(s.root, &aux.foreground(s.colour()).background(s.colour()))?;
        let areas: Vec<_> = (0..12).map(|_| s.somewhere(120, 90)).collect();
        s.x.poly_fill_rectangle(s.root, gc, &areas)?.check()?;
        let edges = [
            rectangle(-20, 40, 33, 21),
            rectangle(s.width as i16 - 9, -5, 40, 18),
            rectangle(300, s.height as i16 - 1, 77, 9),
            rectangle(211, 3, 1, 1),
            rectangle(213, 3, 1, 31),
            rectangle(215, 3, 31, 1),
        ];
        s.x.poly_fill_rectangle(s.root, gc, &edges)?.check()?;
        let points: Vec<_> = (0..20)
            .map(|_| {
                let at = s.somewhere(1, 1);
                Point { x: at.x, y: at.y }
            })
            .collect();
        s.x.poly_point(CoordMode::ORIGIN, s.root, gc, &points)?
            .check()?;
        let segments: Vec<_> = (0..12)
            .map(|i| {
                let at = s.somewhere(100, 100);
                let (right, below) = (at.x + at.width as i16, at.y + at.height as i16);
                // Horizontal, vertical, and any.
                let (x2, y2) = [(right, at.y), (at.x, below), (right, below)][i % 3];
                Segment {
                    x1: at.x,
                    y1: at.y,
                    x2,
                    y2,
                }
            })
            .collect();
        s.x.poly_segment(s.root, gc, &segments)?.check()?;
        s.x.free_gc(gc)?;
    }
    let dashed = CreateGCAux::new()
        .foreground(s.colour())
        .background(s.colour())
        .line_style(LineStyle::DOUBLE_DASH)
        .line_width(3);
    let gc = s.context(s.root, &dashed)?;
    let corners = [(20, 20), (600, 20), (600, 440), (20, 440), (20, 20)];
    let corners = corners.map(|(x, y)| Point { x, y });
    s.x.poly_line(CoordMode::ORIGIN, s.root, gc, &corners)?
        .check()?;
    Ok(())
}

/// Copies from the screen to itself: with and without overlap in each direction, and with each function.
pub fn copies(s: &Screen) -> Result<()> {
    s.confetti(150)?;
    s.noise(s.root, s.depth, rectangle(100, 100, 200, 100))?;
    let gc = s.context(s.root, &CreateGCAux::new())?;
    let copy = |gc: Gcontext, from: Rectangle, x: i16, y: i16| -> Result<()> {
        let Rectangle { width, height, .. } = from;
        s.x.copy_area(s.root, s.root, gc, from.x, from.y, x, y, width, height)?
            .check()?;
        Ok(())
    };
    for step in [1, 7, 64] {
        for (dx, dy) in [
            (-1, -1),
            (0, -1),
            (1, -1),
            (-1, 0),
            (1, 0),
            (-1, 1),
            (0, 1),
            (1, 1),
        ] {
            let from = rectangle(120 + step, 90 + step, 251, 173);
            copy(gc, from, from.x + dx * step, from.y + dy * step)?;
        }
    }
    for _ in 0..60 {
        let (from, to) = (s.somewhere(200, 150), s.somewhere(1, 1));
        copy(gc, from, to.x, to.y)?;
    }
    // Beyond the edges, from and to.
    copy(gc, rectangle(-15, -10, 100, 80), 400, 300)?;
    copy(gc, rectangle(300, 200, 100, 80), -40, -30)?;
    copy(gc, rectangle(300, 200, 100, 80), s.width as i16 - 50, 400)?;
    for function in functions() {
        let gc = s.context(s.root, &CreateGCAux::new().function(function))?;
        for _ in 0..4 {
            let (from, to) = (s.somewhere(90, 70), s.somewhere(1, 1));
            copy(gc, from, to.x, to.y)?;
        }
        s.x.free_gc(gc)?;
    }
    Ok(())
}

/// Fills and copies that may change some planes only. Those of whole bytes are what an engine can do.
pub fn planes(s: &Screen) -> Result<()> {
    s.confetti(100)?;
    for mask in [
        0x0000_00ff,
        0x0000_ff00,
        0x00ff_0000,
        0x00ff_ff00,
        0x0000_0ff0,
        0x5555_5555,
        0,
    ] {
        for function in [GX::COPY, GX::XOR, GX::INVERT] {
            let aux = CreateGCAux::new().plane_mask(mask).function(function);
            let gc = s.context(s.root, &aux.foreground(s.colour()))?;
            let areas: Vec<_> = (0..6).map(|_| s.somewhere(90, 70)).collect();
            s.x.poly_fill_rectangle(s.root, gc, &areas)?.check()?;
            for _ in 0..6 {
                let (from, to) = (s.somewhere(90, 70), s.somewhere(1, 1));
                let Rectangle { width, height, .. } = from;
                s.x.copy_area(
                    s.root, s.root, gc, from.x, from.y, to.x, to.y, width, height,
                )?
                .check()?;
            }
            s.x.free_gc(gc)?;
        }
    }
    Ok(())
}

/// Pixmaps of several sizes: drawn to, copied among each other, to the screen and from it.
pub fn pixmaps(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    let sizes = [(64, 64), (101, 37), (333, 7), (5, 200), (256, 128)];
    let pixmaps = sizes
        .iter()
        .map(|(w, h)| s.pixmap(s.depth, *w, *h))
        .collect::<Result<Vec<Pixmap>>>()?;
    let gc = s.context(s.root, &CreateGCAux::new())?;
    for (p, (w, h)) in pixmaps.iter().zip(sizes) {
        s.noise(*p, s.depth, rectangle(0, 0, w, h))?;
    }
    for round in 0..OFTEN {
        for (i, (p, (w, h))) in pixmaps.iter().zip(sizes).enumerate() {
            let area = rectangle(
                s.number(w.into()) as i16,
                s.number(h.into()) as i16,
                1 + s.number(40) as u16,
                1 + s.number(30) as u16,
            );
            s.fill(*p, s.colour(), area)?;
            let other = pixmaps[(i + 1) % pixmaps.len()];
            s.x.copy_area(other, *p, gc, 1, 2, area.x, area.y, 23, 17)?
                .check()?;
            s.x.copy_area(*p, *p, gc, 0, 0, 3, 1, w, h)?.check()?;
            let to = s.somewhere(1, 1);
            s.x.copy_area(*p, s.root, gc, 0, 0, to.x, to.y, w, h)?
                .check()?;
            if round % 4 == 0 {
                let from = s.somewhere(60, 40);
                s.x.copy_area(
                    s.root,
                    *p,
                    gc,
                    from.x,
                    from.y,
                    2,
                    2,
                    from.width,
                    from.height,
                )?
                .check()?;
            }
        }
    }
    for (p, (w, h)) in pixmaps.iter().zip(sizes) {
        s.keep(*p, rectangle(0, 0, w, h))?;
        s.x.free_pixmap(*p)?;
    }
    Ok(())
}

/// Rectangles filled with tiles of several sizes and origins.
pub fn tiles(s: &Screen) -> Result<()> {
    for (width, height) in [(8, 8), (17, 13), (1, 5), (64, 64), (200, 3)] {
        let tile = s.pixmap(s.depth, width, height)?;
        s.noise(tile, s.depth, rectangle(0, 0, width, height))?;
        for function in [GX::COPY, GX::XOR, GX::AND_REVERSE] {
            let aux = CreateGCAux::new()
                .fill_style(FillStyle::TILED)
                .tile(tile)
                .function(function)
                .tile_stipple_x_origin(s.number(20) as i32)
                .tile_stipple_y_origin(s.number(20) as i32);
            let gc = s.context(s.root, &aux)?;
            let areas: Vec<_> = (0..OFTEN / 4).map(|_| s.somewhere(150, 90)).collect();
            s.x.poly_fill_rectangle(s.root, gc, &areas)?.check()?;
            s.x.free_gc(gc)?;
        }
        s.x.free_pixmap(tile)?;
    }
    Ok(())
}

/// Fills and copies inside of rectangles of a clip.
pub fn clips(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    for round in 0..12 {
        let gc = s.context(s.root, &CreateGCAux::new().foreground(s.colour()))?;
        let inside: Vec<_> = (0..1 + round).map(|_| s.somewhere(160, 120)).collect();
        s.x.set_clip_rectangles(ClipOrdering::UNSORTED, gc, 3, -2, &inside)?
            .check()?;
        let areas: Vec<_> = (0..4).map(|_| s.somewhere(300, 200)).collect();
        s.x.poly_fill_rectangle(s.root, gc, &areas)?.check()?;
        for (dx, dy) in [(9, 5), (-9, 5), (9, -5), (-9, -5)] {
            s.x.copy_area(s.root, s.root, gc, 40, 30, 40 + dx, 30 + dy, 500, 400)?
                .check()?;
        }
        s.x.free_gc(gc)?;
    }
    Ok(())
}

/// Windows that cover each other, are moved with what they show, scrolled and taken away.
pub fn windows(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    let mut all = Vec::new();
    for i in 0..4u32 {
        let id = s.x.generate_id()?;
        let aux = CreateWindowAux::new()
            .background_pixel(s.colour())
            .border_pixel(s.colour())
            .override_redirect(1);
        let at = 30 + 60 * i as i16;
        s.x.create_window(
            s.depth,
            id,
            s.root,
            at,
            at,
            200,
            150,
            3,
            WindowClass::INPUT_OUTPUT,
            0,
            &aux,
        )?
        .check()?;
        s.x.map_window(id)?.check()?;
        all.push(id);
    }
    for (round, id) in all.iter().cycle().take(24).enumerate() {
        s.fill(*id, s.colour(), rectangle(20, 10, 90, 70))?;
        s.noise(*id, s.depth, rectangle(60, 50, 50, 40))?;
        let gc = s.context(*id, &CreateGCAux::new())?;
        // What is hidden cannot be copied, and its place becomes background.
        s.x.copy_area(*id, *id, gc, 0, 0, 5, -7, 200, 150)?
            .check()?;
        s.x.free_gc(gc)?;
        let to = s.somewhere(1, 1);
        let aux = ConfigureWindowAux::new()
            .x(i32::from(to.x) / 2)
            .y(i32::from(to.y) / 2);
        s.x.configure_window(*id, &aux)?.check()?;
        if round == 20 {
            s.x.unmap_window(all[1])?.check()?;
        }
    }
    let aux = CreateGCAux::new().subwindow_mode(SubwindowMode::INCLUDE_INFERIORS);
    let gc = s.context(s.root, &aux)?;
    s.x.copy_area(s.root, s.root, gc, 0, 0, 320, 240, 320, 240)?
        .check()?;
    Ok(())
}

/// Text in both kinds, between drawing that the engine may do.
pub fn text(s: &Screen) -> Result<()> {
    let font = s.font()?;
    for function in functions() {
        let aux = CreateGCAux::new()
            .font(font)
            .function(function)
            .foreground(s.colour())
            .background(s.colour());
        let gc = s.context(s.root, &aux)?;
        for _ in 0..5 {
            s.fill(s.root, s.colour(), s.somewhere(200, 60))?;
            let at = s.somewhere(1, 1);
            s.x.image_text8(s.root, gc, at.x, at.y, b"Chrome9: 16 functions")?
                .check()?;
            // An item of text: its length, an offset, the text.
            let mut item = vec![14, 3];
            item.extend(b"lapidary, 2026");
            s.x.poly_text8(s.root, gc, at.x, at.y + 20, &item)?
                .check()?;
            let from = s.somewhere(90, 40);
            s.x.copy_area(s.root, s.root, gc, from.x, from.y, at.x, at.y, 90, 40)?
                .check()?;
        }
        s.x.free_gc(gc)?;
    }
    Ok(())
}

/// Bitmaps: as stipples, copied as a plane, and put.
pub fn bitmaps(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    let bitmap = s.pixmap(1, 37, 23)?;
    let one = s.context(bitmap, &CreateGCAux::new().foreground(1).background(0))?;
    // A row of 37 bits has 64.
    s.x.put_image(
        ImageFormat::XY_BITMAP,
        bitmap,
        one,
        37,
        23,
        0,
        0,
        0,
        1,
        &s.bytes(8 * 23),
    )?
    .check()?;
    for style in [FillStyle::STIPPLED, FillStyle::OPAQUE_STIPPLED] {
        for function in functions() {
            let aux = CreateGCAux::new()
                .fill_style(style)
                .stipple(bitmap)
                .function(function)
                .tile_stipple_x_origin(s.number(37) as i32)
                .foreground(s.colour())
                .background(s.colour());
            let gc = s.context(s.root, &aux)?;
            let areas: Vec<_> = (0..3).map(|_| s.somewhere(150, 90)).collect();
            s.x.poly_fill_rectangle(s.root, gc, &areas)?.check()?;
            let to = s.somewhere(1, 1);
            s.x.copy_plane(bitmap, s.root, gc, 2, 1, to.x, to.y, 35, 22, 1)?
                .check()?;
            s.x.free_gc(gc)?;
        }
    }
    let gc = s.context(
        s.root,
        &CreateGCAux::new()
            .foreground(s.colour())
            .background(s.colour()),
    )?;
    for _ in 0..10 {
        let to = s.somewhere(1, 1);
        s.x.put_image(
            ImageFormat::XY_BITMAP,
            s.root,
            gc,
            37,
            23,
            to.x,
            to.y,
            0,
            1,
            &s.bytes(8 * 23),
        )?
        .check()?;
        s.fill(s.root, s.colour(), s.somewhere(60, 40))?;
    }
    Ok(())
}

/// Pixels put and taken, in turn with fills and copies: CPU and engine each find what the other has drawn.
pub fn images(s: &Screen) -> Result<()> {
    let gc = s.context(s.root, &CreateGCAux::new())?;
    for _ in 0..40 {
        s.noise(s.root, s.depth, s.somewhere(150, 100))?;
        s.fill(s.root, s.colour(), s.somewhere(100, 60))?;
        let area = s.somewhere(120, 80);
        let pixels = s.look(s.root, area)?;
        let (from, to) = (s.somewhere(150, 100), s.somewhere(1, 1));
        s.x.copy_area(
            s.root,
            s.root,
            gc,
            from.x,
            from.y,
            to.x,
            to.y,
            from.width,
            from.height,
        )?
        .check()?;
        s.x.put_image(
            ImageFormat::Z_PIXMAP,
            s.root,
            gc,
            area.width,
            area.height,
            to.y,
            to.x / 2,
            0,
            s.depth,
            &pixels,
        )?
        .check()?;
    }
    Ok(())
}

/// Pixmaps whose pixels have other sizes than the screen's.
pub fn deep(s: &Screen) -> Result<()> {
    let area = rectangle(0, 0, 150, 100);
    for depth in [32, 24, 8] {
        let [one, other] = [s.pixmap(depth, 150, 100)?, s.pixmap(depth, 150, 100)?];
        s.noise(one, depth, area)?;
        s.noise(other, depth, area)?;
        for round in 0..OFTEN {
            let function = GX::from(round % 16);
            let aux = CreateGCAux::new().function(function);
            let gc = s.context(one, &aux.foreground(s.number(u32::MAX)))?;
            let at = |end| s.number(end) as i16;
            let fill = rectangle(at(100), at(70), 1 + at(40) as u16, 1 + at(25) as u16);
            s.x.poly_fill_rectangle(one, gc, &[fill])?.check()?;
            s.x.copy_area(one, other, gc, at(50), at(50), at(50), at(50), 61, 33)?
                .check()?;
            s.x.copy_area(other, other, gc, 5, 5, at(11), at(11), 130, 80)?
                .check()?;
            s.x.copy_area(other, one, gc, at(50), at(50), at(50), at(50), 40, 44)?
                .check()?;
            s.x.free_gc(gc)?;
        }
        s.keep(one, area)?;
        s.keep(other, area)?;
        s.x.free_pixmap(one)?;
        s.x.free_pixmap(other)?;
    }
    Ok(())
}
