// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Depth and stencil of every format: as targets, as textures, compared by samplers, copied.

use crate::gl::Texture;
use crate::modern::{Format, PASS, SHOW};
use crate::scene::{SIDE, Scene};
use anyhow::Result;
use glow as c;

const FORMATS: [(Format, bool); 5] = [
    (
        Format::new(
            c::DEPTH_COMPONENT16,
            c::DEPTH_COMPONENT,
            c::UNSIGNED_SHORT,
            2,
        ),
        false,
    ),
    (
        Format::new(c::DEPTH_COMPONENT24, c::DEPTH_COMPONENT, c::UNSIGNED_INT, 4),
        false,
    ),
    (
        Format::new(c::DEPTH_COMPONENT32F, c::DEPTH_COMPONENT, c::FLOAT, 4),
        false,
    ),
    (
        Format::new(
            c::DEPTH24_STENCIL8,
            c::DEPTH_STENCIL,
            c::UNSIGNED_INT_24_8,
            4,
        ),
        true,
    ),
    (
        Format::new(
            c::DEPTH32F_STENCIL8,
            c::DEPTH_STENCIL,
            c::FLOAT_32_UNSIGNED_INT_24_8_REV,
            8,
        ),
        true,
    ),
];

fn attachment(stencil: bool) -> u32 {
    if stencil {
        c::DEPTH_STENCIL_ATTACHMENT
    } else {
        c::DEPTH_ATTACHMENT
    }
}

/// Let the bound texture's samplers compare, or not.
fn compare(scene: &Scene, target: u32, function: Option<u32>) {
    let gl = &scene.gl;
    let mode = match function {
        Some(_) => c::COMPARE_REF_TO_TEXTURE,
        None => c::NONE,
    };
    gl.tex_parameter_i32(target, c::TEXTURE_COMPARE_MODE, mode as i32);
    if let Some(function) = function {
        gl.tex_parameter_i32(target, c::TEXTURE_COMPARE_FUNC, function as i32);
    }
}

/// Draw with depth and stencil in a new texture of a format, several sizes and levels.
fn drawn(scene: &Scene, format: Format, stencil: bool, size: [i32; 2]) -> Result<Texture> {
    let gl = &scene.gl;
    scene.framebuffer()?;
    scene.attach(c::COLOR_ATTACHMENT0, c::RGBA8, size)?;
    let depth = scene.attach(attachment(stencil), format.internal, size)?;
    scene.complete()?;
    gl.viewport(0, 0, size[0], size[1]);
    gl.enable(c::DEPTH_TEST);
    gl.depth_func(c::LEQUAL);
    if stencil {
        gl.enable(c::STENCIL_TEST);
        gl.stencil_func_separate(c::FRONT_AND_BACK, c::ALWAYS, 7, 0xff);
        gl.stencil_op_separate(c::FRONT_AND_BACK, c::KEEP, c::INCR, c::REPLACE);
    }
    gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
    scene.strip("depth")?;
    // A clear of one of the two, and of a part.
    gl.clear_buffer_f32_slice(c::DEPTH, 0, &[0.25]);
    if stencil {
        gl.clear_buffer_i32_slice(c::STENCIL, 0, &[3]);
        gl.clear_buffer_depth_stencil(c::DEPTH_STENCIL, 0, 0.5, 9);
    }
    gl.enable(c::SCISSOR_TEST);
    gl.scissor(5, 5, 30, 20);
    gl.clear(c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
    gl.disable(c::SCISSOR_TEST);
    scene.strip("depth after clears")?;
    gl.disable(c::DEPTH_TEST);
    gl.disable(c::STENCIL_TEST);
    Ok(depth)
}

/// Draw to depth of every format, then sample it with and without a comparison, in several sizes.
pub fn formats(scene: &Scene) -> Result<()> {
    const LOOK: &str = "
uniform sampler2D image;
in vec4 value;
out vec4 colour;
void main() { colour = texture(image, value.xy) + value; }
";
    const COMPARED: &str = "
uniform sampler2DShadow image;
in vec4 value;
out vec4 colour;
void main() { colour = vec4(texture(image, value.xyz)) + textureProj(image, value); }
";
    let gl = &scene.gl;
    scene.whole()?;
    let plain = scene.modern(PASS, SHOW)?;
    let look = scene.modern(PASS, LOOK)?;
    let compared = scene.modern(PASS, COMPARED)?;
    for (format, stencil) in FORMATS {
        for size in [[SIDE, SIDE], [100, 60], [33, 7]] {
            gl.use_program(Some(plain));
            let depth = drawn(scene, format, stencil, size)?;
            let (framebuffer, colour) = scene.usual(c::RGBA8)?;
            gl.bind_texture(c::TEXTURE_2D, Some(depth));
            gl.use_program(Some(look));
            compare(scene, c::TEXTURE_2D, None);
            scene.strip("sampled depth")?;
            gl.use_program(Some(compared));
            for function in [c::LEQUAL, c::GREATER, c::NEVER] {
                compare(scene, c::TEXTURE_2D, Some(function));
                scene.sampling(c::TEXTURE_2D, c::LINEAR, c::LINEAR, c::CLAMP_TO_EDGE);
                scene.strip("compared depth")?;
            }
            gl.bind_texture(c::TEXTURE_2D, None);
            gl.delete_framebuffer(framebuffer);
            gl.delete_texture(colour);
            gl.delete_texture(depth);
            scene.done("a format of depth")?;
        }
    }
    Ok(())
}

/// Use shadow maps as arrays and cubes, filled by the client and by draws into layers and levels.
pub fn shadows(scene: &Scene) -> Result<()> {
    const ARRAY: &str = "
uniform sampler2DArrayShadow image;
in vec4 value;
out vec4 colour;
void main() { colour = vec4(texture(image, value)); }
";
    const CUBE: &str = "
uniform samplerCubeShadow image;
in vec4 value;
out vec4 colour;
void main() { colour = vec4(texture(image, value)); }
";
    let gl = &scene.gl;
    scene.whole()?;
    let plain = scene.modern(PASS, SHOW)?;
    for (target, body) in [(c::TEXTURE_2D_ARRAY, ARRAY), (c::TEXTURE_CUBE_MAP, CUBE)] {
        let program = scene.modern(PASS, body)?;
        for (format, stencil) in [FORMATS[0], FORMATS[2], FORMATS[3]] {
            let texture = scene.storage(target, 3, format.internal, [64, 64, 5])?;
            gl.use_program(Some(plain));
            gl.enable(c::DEPTH_TEST);
            gl.depth_func(c::ALWAYS);
            for (layer, level) in [(0, 0), (4, 0), (2, 1), (1, 2)] {
                scene.framebuffer()?;
                let side = 64 >> level;
                scene.attach(c::COLOR_ATTACHMENT0, c::RGBA8, [side, side])?;
                let at = attachment(stencil);
                let whole = Some(texture);
                if target == c::TEXTURE_CUBE_MAP {
                    let face = c::TEXTURE_CUBE_MAP_POSITIVE_X + layer as u32;
                    gl.framebuffer_texture_2d(c::FRAMEBUFFER, at, face, whole, level);
                } else {
                    gl.framebuffer_texture_layer(c::FRAMEBUFFER, at, whole, level, layer);
                }
                scene.complete()?;
                gl.viewport(0, 0, side, side);
                gl.clear(c::DEPTH_BUFFER_BIT);
                scene.strip("a layer of depth")?;
            }
            gl.disable(c::DEPTH_TEST);
            scene.usual(c::RGBA8)?;
            gl.use_program(Some(program));
            gl.bind_texture(target, Some(texture));
            compare(scene, target, Some(c::LESS));
            let mipmapped = c::LINEAR_MIPMAP_NEAREST;
            scene.sampling(target, mipmapped, c::LINEAR, c::CLAMP_TO_EDGE);
            scene.strip("a shadow map")?;
            gl.bind_texture(target, None);
            scene.done("shadow maps")?;
        }
    }
    // Depth that the client supplies.
    for (format, _) in FORMATS {
        let texture = scene.filled(2, [40, 24], format)?;
        gl.bind_texture(c::TEXTURE_2D, None);
        gl.delete_texture(texture);
        scene.done("depth from the client")?;
    }
    Ok(())
}

/// Copy depth and stencil between targets, alone and together.
pub fn copies(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.whole()?;
    scene.modern(PASS, SHOW)?;
    for (format, stencil) in FORMATS {
        let size = [SIDE, SIDE];
        drawn(scene, format, stencil, size)?;
        let from = scene.framebuffer()?;
        scene.attach(attachment(stencil), format.internal, size)?;
        scene.complete()?;
        let to = scene.framebuffer()?;
        scene.attach(attachment(stencil), format.internal, size)?;
        scene.complete()?;
        gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(from));
        gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(to));
        let mut masks = vec![c::DEPTH_BUFFER_BIT];
        if stencil {
            masks.extend([
                c::STENCIL_BUFFER_BIT,
                c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT,
            ]);
        }
        for mask in masks {
            for [x0, y0, x1, y1] in [[0, 0, SIDE, SIDE], [8, 16, 100, 200]] {
                gl.blit_framebuffer(x0, y0, x1, y1, x0, y0, x1, y1, mask, c::NEAREST);
            }
            // Upside down, and larger.
            gl.blit_framebuffer(0, 0, 64, 64, SIDE, SIDE, 0, 0, mask, c::NEAREST);
            scene.check("a copy of depth or stencil")?;
        }
        scene.done("copies of depth and stencil")?;
    }
    Ok(())
}
