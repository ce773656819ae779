// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures of one, two and three dimensions, arrays and cubes, in every format, through samplers of every kind.

use crate::gl::{CompressedPixelUnpackData, PixelUnpackData};
use crate::modern::{Format, PASS, RGBA8};
use crate::scene::{Scene, pattern};
use anyhow::{Context as _, Result, anyhow};
use glow as c;

/// Return the body of a fragment shader that samples `image` at `place`.
fn sampling(kind: &str, place: &str) -> String {
    format!(
        "uniform {kind} image;\nin vec4 value;\nout vec4 colour;\n\
         void main() {{ colour = vec4(texture(image, {place})) + vec4(textureLod(image, {place}, 1.5)); }}\n"
    )
}

/// Use volumes and arrays with all levels, filled in slices, in parts and by copies, and a level or layer as target.
pub fn volumes(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    for (target, kind) in [
        (c::TEXTURE_3D, "sampler3D"),
        (c::TEXTURE_2D_ARRAY, "sampler2DArray"),
    ] {
        scene.modern(PASS, &sampling(kind, "value.xyx"))?;
        for [width, height, depth] in [[64, 32, 16], [20, 9, 5], [1, 1, 3], [128, 128, 1]] {
            let levels = 1 + i32::max(width, height).ilog2() as i32;
            let texture = scene.storage(target, levels, c::RGBA8, [width, height, depth])?;
            for level in 0..levels {
                let shrunk = |side: i32| (side >> level).max(1);
                let slices = if target == c::TEXTURE_3D {
                    shrunk(depth)
                } else {
                    depth
                };
                let size = [shrunk(width), shrunk(height), slices];
                scene.fill(target, level, size, RGBA8);
            }
            for minify in [c::LINEAR_MIPMAP_LINEAR, c::NEAREST_MIPMAP_LINEAR, c::LINEAR] {
                scene.sampling(target, minify, c::LINEAR, c::REPEAT);
                gl.tex_parameter_i32(target, c::TEXTURE_WRAP_R, c::MIRRORED_REPEAT as i32);
                scene.strip("a volume")?;
            }
            if width > 16 {
                let part = pattern(4 * 7 * 5 * 2);
                let data = PixelUnpackData::Slice(Some(&part));
                let [w, h, d] = [7, 5, 2];
                let (format, kind) = (c::RGBA, c::UNSIGNED_BYTE);
                let z = (depth - d).max(0);
                if depth > 1 {
                    gl.tex_sub_image_3d(target, 0, 3, 2, z, w, h, d, format, kind, data);
                }
                gl.copy_tex_sub_image_3d(target, 0, 4, 4, 0, 10, 10, 12, 5);
                scene.strip("a volume with new parts")?;
                gl.generate_mipmap(target);
                scene.strip("a volume with new levels")?;
            }
            gl.bind_texture(target, None);
            let framebuffer = scene.framebuffer()?;
            let at = c::COLOR_ATTACHMENT0;
            let slice = depth / 2;
            gl.framebuffer_texture_layer(c::FRAMEBUFFER, at, Some(texture), 0, slice);
            scene.complete()?;
            gl.clear(c::COLOR_BUFFER_BIT);
            scene.read(0, 0, 1, 1)?;
            gl.delete_framebuffer(framebuffer);
            scene.usual(c::RGBA8)?;
            gl.delete_texture(texture);
            scene.done("volumes and arrays")?;
        }
    }
    Ok(())
}

/// Sample textures of every uncompressed format, with integers and floats, as what they are.
pub fn formats(scene: &Scene) -> Result<()> {
    const BYTE: u32 = c::UNSIGNED_BYTE;
    let formats: [(&str, &[Format]); 3] = [
        (
            "",
            &[
                Format::new(c::R8, c::RED, BYTE, 1),
                Format::new(c::RG8, c::RG, BYTE, 2),
                Format::new(c::RGB8, c::RGB, BYTE, 3),
                Format::new(c::SRGB8, c::RGB, BYTE, 3),
                Format::new(c::SRGB8_ALPHA8, c::RGBA, BYTE, 4),
                Format::new(c::R8_SNORM, c::RED, c::BYTE, 1),
                Format::new(c::RGBA8_SNORM, c::RGBA, c::BYTE, 4),
                Format::new(c::RGB565, c::RGB, c::UNSIGNED_SHORT_5_6_5, 2),
                Format::new(c::RGBA4, c::RGBA, c::UNSIGNED_SHORT_4_4_4_4, 2),
                Format::new(c::RGB5_A1, c::RGBA, c::UNSIGNED_SHORT_5_5_5_1, 2),
                Format::new(c::RGB10_A2, c::RGBA, c::UNSIGNED_INT_2_10_10_10_REV, 4),
                Format::new(c::RGB9_E5, c::RGB, c::UNSIGNED_INT_5_9_9_9_REV, 4),
                Format::new(
                    c::R11F_G11F_B10F,
                    c::RGB,
                    c::UNSIGNED_INT_10F_11F_11F_REV,
                    4,
                ),
                Format::new(c::R16F, c::RED, c::HALF_FLOAT, 2),
                Format::new(c::RG16F, c::RG, c::HALF_FLOAT, 4),
                Format::new(c::RGBA16F, c::RGBA, c::HALF_FLOAT, 8),
                Format::new(c::R32F, c::RED, c::FLOAT, 4),
                Format::new(c::RG32F, c::RG, c::FLOAT, 8),
                Format::new(c::RGB32F, c::RGB, c::FLOAT, 12),
                Format::new(c::RGBA32F, c::RGBA, c::FLOAT, 16),
            ],
        ),
        (
            "i",
            &[
                Format::new(c::R8I, c::RED_INTEGER, c::BYTE, 1),
                Format::new(c::RG16I, c::RG_INTEGER, c::SHORT, 4),
                Format::new(c::RGBA32I, c::RGBA_INTEGER, c::INT, 16),
            ],
        ),
        (
            "u",
            &[
                Format::new(c::R8UI, c::RED_INTEGER, BYTE, 1),
                Format::new(c::RG16UI, c::RG_INTEGER, c::UNSIGNED_SHORT, 4),
                Format::new(c::RGBA32UI, c::RGBA_INTEGER, c::UNSIGNED_INT, 16),
                Format::new(
                    c::RGB10_A2UI,
                    c::RGBA_INTEGER,
                    c::UNSIGNED_INT_2_10_10_10_REV,
                    4,
                ),
            ],
        ),
    ];
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    for (prefix, formats) in formats {
        scene.modern(PASS, &sampling(&format!("{prefix}sampler2D"), "value.xy"))?;
        for &format in formats {
            for (levels, size) in [(7, [64, 64]), (1, [61, 29])] {
                let texture = scene.filled(levels, size, format)?;
                // Components in another order, and constants in their place.
                let swizzle = [c::BLUE, c::ONE, c::RED, c::ZERO];
                let names = [
                    c::TEXTURE_SWIZZLE_R,
                    c::TEXTURE_SWIZZLE_G,
                    c::TEXTURE_SWIZZLE_B,
                    c::TEXTURE_SWIZZLE_A,
                ];
                scene.strip("a format")?;
                for (name, value) in names.into_iter().zip(swizzle) {
                    gl.tex_parameter_i32(c::TEXTURE_2D, name, value as i32);
                }
                gl.tex_parameter_i32(c::TEXTURE_2D, c::TEXTURE_BASE_LEVEL, (levels - 1) / 2);
                gl.tex_parameter_i32(c::TEXTURE_2D, c::TEXTURE_MAX_LEVEL, levels - 1);
                scene.strip("a format in another order")?;
                gl.bind_texture(c::TEXTURE_2D, None);
                gl.delete_texture(texture);
                scene.done("a texture's format")?;
            }
        }
    }
    Ok(())
}

/// Use sampler objects with filters, wrapping, limits of the level, and colours of the border where there are some.
pub fn samplers(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.rectangle([-1.0, -1.0], [1.0, 1.0], 4.0)?;
    let mut body = String::from("in vec4 value;\nout vec4 colour;\n");
    for unit in 0..16 {
        body += &format!("uniform sampler2D image{unit};\n");
    }
    body += "void main() {\nvec4 sum = vec4(0.0);\n";
    for unit in 0..16 {
        body += &format!("sum += texture(image{unit}, value.xy * {unit}.5);\n");
    }
    body += "colour = sum;\n}\n";
    let program = scene.modern(PASS, &body)?;
    scene.filled(6, [32, 32], RGBA8)?;
    let texture = scene.filled(4, [40, 12], RGBA8)?;
    let wraps = [c::REPEAT, c::MIRRORED_REPEAT, c::CLAMP_TO_EDGE];
    let filters = [
        c::NEAREST,
        c::LINEAR,
        c::NEAREST_MIPMAP_NEAREST,
        c::LINEAR_MIPMAP_NEAREST,
        c::NEAREST_MIPMAP_LINEAR,
        c::LINEAR_MIPMAP_LINEAR,
    ];
    for unit in 0..16_u32 {
        let i = unit as usize;
        gl.active_texture(c::TEXTURE0 + unit);
        gl.bind_texture(c::TEXTURE_2D, Some(texture));
        scene.set(program, &format!("image{unit}"), unit as i32);
        let sampler = gl.create_sampler().map_err(|e| anyhow!(e))?;
        let set = |name: u32, value: u32| gl.sampler_parameter_i32(sampler, name, value as i32);
        set(c::TEXTURE_MIN_FILTER, filters[i % 6]);
        set(c::TEXTURE_MAG_FILTER, filters[i % 2]);
        set(c::TEXTURE_WRAP_S, wraps[i % 3]);
        set(c::TEXTURE_WRAP_T, wraps[i / 3 % 3]);
        gl.sampler_parameter_f32(sampler, c::TEXTURE_MIN_LOD, i as f32 * 0.25 - 1.0);
        gl.sampler_parameter_f32(sampler, c::TEXTURE_MAX_LOD, 8.0 - i as f32 * 0.5);
        if !scene.is_es() {
            gl.sampler_parameter_f32(sampler, c::TEXTURE_LOD_BIAS, i as f32 * 0.3 - 2.0);
            if i % 4 == 1 {
                set(c::TEXTURE_WRAP_S, c::CLAMP_TO_BORDER);
                let border = [0.1 * i as f32, 0.5, 0.25, 1.0];
                gl.sampler_parameter_f32_slice(sampler, c::TEXTURE_BORDER_COLOR, &border);
            }
        }
        gl.bind_sampler(unit, Some(sampler));
    }
    scene.strip("sixteen samplers")?;
    for unit in (0..16).step_by(3) {
        gl.bind_sampler(unit, None);
        scene.strip("fewer samplers")?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("samplers")
}

/// Draw with textures of one dimension, arrays of them, and rectangles, also as targets. This needs desktop OpenGL.
pub fn lines(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    scene.modern(PASS, &sampling("sampler1D", "value.x"))?;
    let line = scene.storage(c::TEXTURE_1D, 8, c::RGBA8, [200, 1, 1])?;
    for level in 0..8 {
        let width = (200 >> level).max(1);
        scene.entries.write_line(level, 0, &pattern(4 * width));
    }
    scene.strip("a line")?;
    scene.entries.write_line(0, 30, &pattern(4 * 20));
    scene.entries.copy_line(c::TEXTURE_1D, 0, 7, 3, 5, 50);
    gl.generate_mipmap(c::TEXTURE_1D);
    let mipmapped = c::LINEAR_MIPMAP_LINEAR;
    scene.sampling(c::TEXTURE_1D, mipmapped, c::LINEAR, c::REPEAT);
    scene.strip("a line with new parts")?;
    scene.framebuffer()?;
    scene.entries.attach_line(line, 0);
    scene.complete()?;
    gl.clear(c::COLOR_BUFFER_BIT);
    scene.done("a line as target")?;

    scene.usual(c::RGBA8)?;
    gl.bind_texture(c::TEXTURE_1D, None);
    for (target, kind, place) in [
        (c::TEXTURE_1D_ARRAY, "sampler1DArray", "value.xy"),
        (c::TEXTURE_RECTANGLE, "sampler2DRect", "value.xy * 50.0"),
    ] {
        let body = format!(
            "uniform {kind} image;\nin vec4 value;\nout vec4 colour;\n\
             void main() {{ colour = texture(image, {place}) + vec4(textureSize(image{}), 0, 0); }}\n",
            if target == c::TEXTURE_RECTANGLE {
                ""
            } else {
                ", 0"
            }
        );
        scene.modern(PASS, &body).context(kind)?;
        let texture = scene.storage(target, 1, c::RGBA8, [90, 11, 1])?;
        scene.fill(target, 0, [90, 11, 1], RGBA8);
        scene.sampling(target, c::LINEAR, c::LINEAR, c::CLAMP_TO_EDGE);
        scene.strip(kind)?;
        gl.delete_texture(texture);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("lines and rectangles")
}

/// Draw with compressed formats in textures, arrays and cubes, with RGTC and sRGB, and with parts that are replaced.
pub fn compressed(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    let formats = [
        (c::COMPRESSED_RGBA_S3TC_DXT1_EXT, 8),
        (c::COMPRESSED_RGBA_S3TC_DXT5_EXT, 16),
        (c::COMPRESSED_SRGB_ALPHA_S3TC_DXT1_EXT, 8),
        (c::COMPRESSED_RED_RGTC1, 8),
        (c::COMPRESSED_SIGNED_RED_RGTC1, 8),
        (c::COMPRESSED_RG_RGTC2, 16),
        (c::COMPRESSED_SIGNED_RG_RGTC2, 16),
    ];
    for (target, kind, place) in [
        (c::TEXTURE_2D, "sampler2D", "value.xy"),
        (c::TEXTURE_2D_ARRAY, "sampler2DArray", "value.xyz"),
        (c::TEXTURE_CUBE_MAP, "samplerCube", "value.xyz"),
    ] {
        scene.modern(PASS, &sampling(kind, place))?;
        for (format, block) in formats {
            let texture = scene.storage(target, 6, format, [48, 48, 3])?;
            for level in 0..6 {
                let side = (48 >> level).max(1);
                let blocks = (side + 3) / 4;
                let data = pattern(blocks * blocks * block * 3);
                let one = CompressedPixelUnpackData::Slice(&data[..data.len() / 3]);
                let three = CompressedPixelUnpackData::Slice(&data);
                match target {
                    c::TEXTURE_2D_ARRAY => gl.compressed_tex_sub_image_3d(
                        target, level, 0, 0, 0, side, side, 3, format, three,
                    ),
                    c::TEXTURE_CUBE_MAP => {
                        for face in 0..6 {
                            let face = c::TEXTURE_CUBE_MAP_POSITIVE_X + face;
                            let one = CompressedPixelUnpackData::Slice(&data[..data.len() / 3]);
                            gl.compressed_tex_sub_image_2d(
                                face, level, 0, 0, side, side, format, one,
                            );
                        }
                    }
                    _ => {
                        gl.compressed_tex_sub_image_2d(target, level, 0, 0, side, side, format, one)
                    }
                }
            }
            scene.strip("a compressed format")?;
            if target == c::TEXTURE_2D {
                let data = pattern(2 * block);
                let part = CompressedPixelUnpackData::Slice(&data);
                gl.compressed_tex_sub_image_2d(target, 0, 8, 12, 8, 4, format, part);
                scene.strip("a compressed format with a new part")?;
            }
            gl.bind_texture(target, None);
            gl.delete_texture(texture);
            scene.done("compressed formats")?;
        }
    }
    Ok(())
}
