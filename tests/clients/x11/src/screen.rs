// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The screen that is drawn to, by a connection of its own.

use anyhow::{Context, Result, ensure};
use std::cell::RefCell;
use std::collections::HashSet;
use x11rb::connection::Connection;
use x11rb::protocol::xproto::{
    ConnectionExt, CreateGCAux, Drawable, Font, GX, Gcontext, ImageFormat, Pixmap, Rectangle,
};
use x11rb::rust_connection::RustConnection;

/// Each part of the scene leaves more colours than these.
const COLOURS: usize = 16;

/// The screen, and a part's source of numbers.
pub struct Screen {
    /// The connection.
    pub x: RustConnection,
    /// The root window.
    pub root: Drawable,
    /// Its width.
    pub width: u16,
    /// Its height.
    pub height: u16,
    /// Bits of a pixel that count.
    pub depth: u8,
    /// The same numbers for each part.
    numbers: RefCell<fastrand::Rng>,
    /// Pixels to be left beside those of the screen.
    pixels: RefCell<Vec<u8>>,
}

/// Return a rectangle.
pub fn rectangle(x: i16, y: i16, width: u16, height: u16) -> Rectangle {
    Rectangle {
        x,
        y,
        width,
        height,
    }
}

/// Return all sixteen functions of source and destination.
pub fn functions() -> impl Iterator<Item = GX> {
    (0..16u32).map(GX::from)
}

impl Screen {
    /// Connect to a display, and clear its screen.
    pub fn open(display: &str) -> Result<Screen> {
        let (x, number) =
            RustConnection::connect(Some(display)).context("the X server takes no client")?;
        let first = x.setup().roots.get(number).context("no screen")?;
        let (root, depth) = (first.root, first.root_depth);
        let (width, height) = (first.width_in_pixels, first.height_in_pixels);
        let screen = Screen {
            x,
            root,
            width,
            height,
            depth,
            numbers: RefCell::new(fastrand::Rng::with_seed(855)),
            pixels: RefCell::default(),
        };
        screen.fill(root, 0x2104, rectangle(0, 0, width, height))?;
        Ok(screen)
    }

    /// Return a number from 0 to below `end`.
    pub fn number(&self, end: u32) -> u32 {
        self.numbers.borrow_mut().u32(0..end.max(1))
    }

    /// Return a pixel of any colour.
    pub fn colour(&self) -> u32 {
        self.number(u32::MAX) & (u32::MAX >> (32 - u32::from(self.depth)))
    }

    /// Return bytes of any value.
    pub fn bytes(&self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.numbers.borrow_mut().fill(&mut bytes);
        bytes
    }

    /// Return the bytes of a pixel of some depth.
    pub fn pixel_bytes(depth: u8) -> usize {
        match depth {
            ..=8 => 1,
            9..=16 => 2,
            _ => 4,
        }
    }

    /// Return a place and a size within the screen, at least 1 x 1 pixels.
    pub fn somewhere(&self, most_width: u16, most_height: u16) -> Rectangle {
        let width = 1 + self.number(most_width.into());
        let height = 1 + self.number(most_height.into());
        let x = self.number(u32::from(self.width) - width);
        let y = self.number(u32::from(self.height) - height);
        rectangle(x as i16, y as i16, width as u16, height as u16)
    }

    /// Make a context for drawing. Copies send no events.
    pub fn context(&self, drawable: Drawable, aux: &CreateGCAux) -> Result<Gcontext> {
        let id = self.x.generate_id()?;
        self.x
            .create_gc(id, drawable, &aux.graphics_exposures(0))?
            .check()?;
        Ok(id)
    }

    /// Fill a rectangle.
    pub fn fill(&self, drawable: Drawable, colour: u32, area: Rectangle) -> Result<()> {
        let gc = self.context(drawable, &CreateGCAux::new().foreground(colour))?;
        self.x.poly_fill_rectangle(drawable, gc, &[area])?.check()?;
        self.x.free_gc(gc)?;
        Ok(())
    }

    /// Fill the screen with rectangles of all colours.
    pub fn confetti(&self, count: u32) -> Result<()> {
        for _ in 0..count {
            self.fill(self.root, self.colour(), self.somewhere(90, 60))?;
        }
        Ok(())
    }

    /// Make a pixmap.
    pub fn pixmap(&self, depth: u8, width: u16, height: u16) -> Result<Pixmap> {
        let id = self.x.generate_id()?;
        self.x
            .create_pixmap(depth, id, self.root, width, height)?
            .check()?;
        Ok(id)
    }

    /// Open the font that every server has.
    pub fn font(&self) -> Result<Font> {
        let id = self.x.generate_id()?;
        self.x.open_font(id, b"fixed")?.check()?;
        Ok(id)
    }

    /// Put pixels of any value into a drawable of some depth.
    pub fn noise(&self, drawable: Drawable, depth: u8, area: Rectangle) -> Result<()> {
        let row = (usize::from(area.width) * Screen::pixel_bytes(depth)).next_multiple_of(4);
        let gc = self.context(drawable, &CreateGCAux::new())?;
        self.x
            .put_image(
                ImageFormat::Z_PIXMAP,
                drawable,
                gc,
                area.width,
                area.height,
                area.x,
                area.y,
                0,
                depth,
                &self.bytes(row * usize::from(area.height)),
            )?
            .check()?;
        self.x.free_gc(gc)?;
        Ok(())
    }

    /// Return the pixels of a part of a drawable.
    pub fn look(&self, drawable: Drawable, area: Rectangle) -> Result<Vec<u8>> {
        let Rectangle {
            x,
            y,
            width,
            height,
        } = area;
        let format = ImageFormat::Z_PIXMAP;
        let reply = self
            .x
            .get_image(format, drawable, x, y, width, height, u32::MAX)?
            .reply()?;
        Ok(reply.data)
    }

    /// Leave the pixels of a drawable too.
    pub fn keep(&self, drawable: Drawable, area: Rectangle) -> Result<()> {
        let pixels = self.look(drawable, area)?;
        self.pixels.borrow_mut().extend(pixels);
        Ok(())
    }

    /// Return the pixels of the screen, and what was kept before. All has been drawn then.
    ///
    /// # Errors
    /// If these have too few colours for any part of the scene.
    pub fn finish(self) -> Result<Vec<u8>> {
        let mut pixels = self.look(self.root, rectangle(0, 0, self.width, self.height))?;
        pixels.extend(self.pixels.take());
        let all = pixels.chunks(Screen::pixel_bytes(self.depth));
        let colours = all.collect::<HashSet<_>>().len();
        ensure!(colours > COLOURS, "{colours} colours are left only");
        Ok(pixels)
    }
}
