// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pictures as PNG files.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

/// Write pixels (red in bits 23:16, green in 15:8, blue in 7:0) as a PNG file.
pub fn write(path: &Path, width: u32, height: u32, pixels: &[u32]) -> Result<()> {
    let file = File::create(path).with_context(|| format!("writing {}", path.display()))?;
    let mut encoder = png::Encoder::new(BufWriter::new(file), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let bytes: Vec<u8> = pixels
        .iter()
        .flat_map(|p| [(p >> 16) as u8, (p >> 8) as u8, *p as u8])
        .collect();
    let mut writer = encoder.write_header()?;
    writer
        .write_image_data(&bytes)
        .with_context(|| format!("writing {}", path.display()))?;
    writer
        .finish()
        .with_context(|| format!("writing {}", path.display()))
}
