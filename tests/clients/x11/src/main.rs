// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws by an X server with a driver that is to be tried, and leaves what is on the screen then.
//!
//! It starts the server, draws one part of the scene after the other, and writes the pixels behind each part to a file of
//! its own. The same parts by a server that draws everything by the CPU must leave the same files. Nothing here is random or
//! depends on time, and nothing knows what the driver does by its engine.

mod parts;
mod render;
mod screen;
mod server;

use anyhow::{Context, Result};
use clap::Parser;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::screen::Screen;
use crate::server::{Server, Setup};

/// A part of the scene.
type Part = (&'static str, fn(&Screen) -> Result<()>);

/// What the core protocol draws.
const SCENE: &[Part] = &[
    ("fills", parts::fills),
    ("copies", parts::copies),
    ("pixmaps", parts::pixmaps),
    ("tiles", parts::tiles),
    ("clips", parts::clips),
    ("windows", parts::windows),
    ("text", parts::text),
    ("bitmaps", parts::bitmaps),
    ("images", parts::images),
    ("deep", parts::deep),
    // The last: openchrome goes on with the mask of these when others ask for none.
    ("planes", parts::planes),
];

/// What the Render extension draws.
const RENDER: &[Part] = &[
    ("colours", render::colours),
    ("pictures", render::pictures),
    ("masks", render::masks),
    ("from-the-screen", render::from_the_screen),
];

#[derive(Parser)]
#[command(about = "Draws a scene by an X server, and leaves the pixels of each part")]
struct Arguments {
    /// The folder for pixels, and the server's log.
    #[arg(long)]
    out: PathBuf,
    /// Bits of a pixel that count.
    #[arg(long, default_value_t = 16)]
    depth: u8,
    /// The X server's driver.
    #[arg(long, default_value = "openchrome")]
    driver: String,
    /// An option of the driver; may be repeated.
    #[arg(long, value_name = "NAME=VALUE")]
    option: Vec<String>,
    /// A library to load before the server.
    #[arg(long)]
    preload: Option<PathBuf>,
    /// Draw by the Render extension instead of the core protocol.
    #[arg(long)]
    render: bool,
    /// Draw by the server of that display, which is there already.
    #[arg(long)]
    display: Option<String>,
}

fn run(arguments: Arguments) -> Result<()> {
    let out = arguments.out;
    fs::create_dir_all(&out).with_context(|| format!("no folder {}", out.display()))?;
    let setup = Setup {
        driver: arguments.driver,
        options: arguments.option,
        depth: arguments.depth,
        preload: arguments.preload,
    };
    let (server, display) = match arguments.display {
        Some(display) => (None, display),
        None => {
            let server = Server::start(&setup, &out)?;
            let display = server.display.clone();
            (Some(server), display)
        }
    };
    let parts = if arguments.render { RENDER } else { SCENE };
    for (name, draw) in parts {
        let screen = Screen::open(&display)?;
        draw(&screen).with_context(|| format!("{name} failed"))?;
        fs::write(out.join(format!("{name}.pixels")), screen.finish()?)?;
    }
    server.map_or(Ok(()), Server::stop)
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(e) => {
            eprintln!("lapidary-x11: {e:#}");
            ExitCode::FAILURE
        }
    }
}
