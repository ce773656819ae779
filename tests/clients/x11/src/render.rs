// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Requests of the Render extension, which blends pictures. A driver may have a 3D engine do some.

use anyhow::{Context, Result};
use x11rb::connection::Connection;
use x11rb::protocol::render::{
    Color, ConnectionExt as _, CreatePictureAux, PictOp, Pictformat, Pictforminfo, Picture, Repeat,
};
use x11rb::protocol::xproto::Drawable;

use crate::screen::{Screen, rectangle};

/// Operators, of which some take alpha of the source, some of the destination.
const OPERATORS: [PictOp; 8] = [
    PictOp::CLEAR,
    PictOp::SRC,
    PictOp::OVER,
    PictOp::IN,
    PictOp::OUT_REVERSE,
    PictOp::ATOP,
    PictOp::XOR,
    PictOp::ADD,
];

/// How often each is done, so that a server that moves what is used often has moved it.
const OFTEN: u32 = 12;

/// The formats that the parts use.
struct Formats {
    screen: Pictformat,
    argb: Pictformat,
    alpha: Pictformat,
}

impl Formats {
    fn of(s: &Screen) -> Result<Formats> {
        let all = s.x.render_query_pict_formats()?.reply()?;
        let find = |what: &str, wanted: &dyn Fn(&Pictforminfo) -> bool| {
            let found = all.formats.iter().find(|f| wanted(f));
            found
                .map(|f| f.id)
                .with_context(|| format!("the server has no format of {what}"))
        };
        let visual = s.x.setup().roots[0].root_visual;
        let mut visuals = all.screens[0].depths.iter().flat_map(|d| &d.visuals);
        let screen = visuals
            .find(|v| v.visual == visual)
            .context("the screen has no format")?;
        Ok(Formats {
            screen: screen.format,
            argb: find("32 bits", &|f| {
                f.depth == 32 && f.direct.alpha_mask == 0xff && f.direct.red_shift == 16
            })?,
            alpha: find("alpha", &|f| f.depth == 8 && f.direct.alpha_mask == 0xff)?,
        })
    }
}

impl Screen {
    /// Make a picture of a drawable.
    fn picture(&self, drawable: Drawable, format: Pictformat, repeat: Repeat) -> Result<Picture> {
        let id = self.x.generate_id()?;
        let aux = CreatePictureAux::new().repeat(repeat);
        self.x
            .render_create_picture(id, drawable, format, &aux)?
            .check()?;
        Ok(id)
    }

    /// Make a picture of a pixmap of its own, with pixels of any value.
    fn noisy(&self, format: Pictformat, depth: u8, [w, h]: [u16; 2], r: Repeat) -> Result<Picture> {
        let pixmap = self.pixmap(depth, w, h)?;
        self.noise(pixmap, depth, rectangle(0, 0, w, h))?;
        self.picture(pixmap, format, r)
    }

    /// Blend somewhere.
    fn blend(&self, op: PictOp, source: Picture, mask: Picture, to: Picture) -> Result<()> {
        let area = self.somewhere(120, 90);
        self.x
            .render_composite(
                op,
                source,
                mask,
                to,
                3,
                1,
                2,
                4,
                area.x,
                area.y,
                area.width,
                area.height,
            )?
            .check()?;
        Ok(())
    }
}

/// Return a colour, whose components contain its alpha.
fn colour(s: &Screen) -> Color {
    let alpha = s.number(0x1_0000);
    let part = || s.number(alpha + 1) as u16;
    Color {
        red: part(),
        green: part(),
        blue: part(),
        alpha: alpha as u16,
    }
}

/// One colour as a source: a rectangle, a picture of one repeated pixel, and a picture without pixels.
pub fn colours(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    let f = Formats::of(s)?;
    let screen = s.picture(s.root, f.screen, Repeat::NONE)?;
    let mask = s.noisy(f.alpha, 8, [64, 64], Repeat::NORMAL)?;
    for op in OPERATORS {
        for _ in 0..OFTEN {
            let area = s.somewhere(120, 90);
            s.x.render_fill_rectangles(op, screen, colour(s), &[area])?
                .check()?;
            let pixel = s.noisy(f.argb, 32, [1, 1], Repeat::NORMAL)?;
            s.blend(op, pixel, x11rb::NONE, screen)?;
            s.blend(op, pixel, mask, screen)?;
            let solid = s.x.generate_id()?;
            s.x.render_create_solid_fill(solid, colour(s))?.check()?;
            s.blend(op, solid, x11rb::NONE, screen)?;
            s.blend(op, solid, mask, screen)?;
        }
    }
    Ok(())
}

/// Pictures as sources, to the screen and to a pixmap.
pub fn pictures(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    let f = Formats::of(s)?;
    let screen = s.picture(s.root, f.screen, Repeat::NONE)?;
    let pixmap = s.pixmap(32, s.width, s.height)?;
    let other = s.picture(pixmap, f.argb, Repeat::NONE)?;
    s.fill(pixmap, 0x7f20_4060, rectangle(0, 0, s.width, s.height))?;
    for repeat in [Repeat::NONE, Repeat::NORMAL] {
        for size in [[64, 64], [100, 30], [256, 128]] {
            let source = s.noisy(f.argb, 32, size, repeat)?;
            let same = s.noisy(f.screen, s.depth, size, repeat)?;
            for op in OPERATORS {
                for _ in 0..OFTEN / 3 {
                    for to in [screen, other] {
                        s.blend(op, source, x11rb::NONE, to)?;
                        s.blend(op, same, x11rb::NONE, to)?;
                    }
                }
            }
        }
    }
    s.keep(pixmap, rectangle(0, 0, s.width, s.height))
}

/// Pictures with masks: of alpha, with one repeated pixel, and with an alpha for each component.
pub fn masks(s: &Screen) -> Result<()> {
    s.confetti(60)?;
    let f = Formats::of(s)?;
    let screen = s.picture(s.root, f.screen, Repeat::NONE)?;
    let source = s.noisy(f.argb, 32, [128, 128], Repeat::NORMAL)?;
    let alpha = s.noisy(f.alpha, 8, [128, 64], Repeat::NORMAL)?;
    let pixel = s.noisy(f.argb, 32, [1, 1], Repeat::NORMAL)?;
    let pixmap = s.pixmap(32, 64, 64)?;
    s.noise(pixmap, 32, rectangle(0, 0, 64, 64))?;
    let components = s.x.generate_id()?;
    let aux = CreatePictureAux::new()
        .repeat(Repeat::NORMAL)
        .componentalpha(1);
    s.x.render_create_picture(components, pixmap, f.argb, &aux)?
        .check()?;
    for op in OPERATORS {
        for mask in [alpha, pixel, components] {
            for _ in 0..OFTEN {
                s.blend(op, source, mask, screen)?;
            }
        }
    }
    Ok(())
}

/// The screen itself as a source, which is where no driver has to move anything.
pub fn from_the_screen(s: &Screen) -> Result<()> {
    s.confetti(120)?;
    let f = Formats::of(s)?;
    let screen = s.picture(s.root, f.screen, Repeat::NONE)?;
    let pixmap = s.pixmap(32, s.width, s.height)?;
    let other = s.picture(pixmap, f.argb, Repeat::NONE)?;
    s.fill(pixmap, 0x7f20_4060, rectangle(0, 0, s.width, s.height))?;
    let mask = s.noisy(f.alpha, 8, [64, 64], Repeat::NORMAL)?;
    for op in OPERATORS {
        for _ in 0..OFTEN {
            s.blend(op, screen, x11rb::NONE, other)?;
            s.blend(op, screen, mask, other)?;
            s.blend(op, other, mask, screen)?;
            s.blend(op, other, x11rb::NONE, screen)?;
            s.blend(op, screen, mask, screen)?;
        }
    }
    s.keep(pixmap, rectangle(0, 0, s.width, s.height))
}
