// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where a draw goes: textures, multisampled buffers, several targets at once, other formats, a swap
//! chain; and reading back.

use crate::gl::{PixelPackData, PixelUnpackData};
use crate::scene::{PLAIN, SIDE, Scene, TEXTURED, VERTEX, pattern};
use anyhow::{Result, anyhow};
use glow as c;

/// Draw from one of two targets into the other, back and forth, and to levels of one texture.
pub fn render_to_texture(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    let targets = [scene.usual_target(false)?, scene.target(128, 64, true)?];
    scene.program(VERTEX, TEXTURED)?;
    scene.whole()?;
    for i in 0..6 {
        let ((framebuffer, _), (_, source)) = (targets[i % 2], targets[1 - i % 2]);
        gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
        gl.bind_texture(c::TEXTURE_2D, Some(source));
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    scene.done("drawing back and forth")?;
    // What was drawn is sampled through mipmaps that the GPU makes.
    gl.generate_mipmap(c::TEXTURE_2D);
    scene.sampling(
        c::TEXTURE_2D,
        c::LINEAR_MIPMAP_LINEAR,
        c::LINEAR,
        c::CLAMP_TO_EDGE,
    );
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    gl.delete_framebuffer(targets[0].0);
    gl.delete_texture(targets[0].1);
    scene.done("mipmaps of a target")
}

/// Draw to renderbuffers of every format that OpenGL ES 2 can draw to.
pub fn formats(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    scene.need("GL_OES_rgb8_rgba8")?;
    for format in [c::RGBA4, c::RGB5_A1, c::RGB565, c::RGB8, c::RGBA8] {
        for depth in [None, Some(c::DEPTH_COMPONENT16)] {
            let framebuffer = gl.create_framebuffer().map_err(|e| anyhow!(e))?;
            gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
            let attach = |attachment: u32, format: u32| {
                let buffer = gl.create_renderbuffer().map_err(|e| anyhow!(e))?;
                gl.bind_renderbuffer(c::RENDERBUFFER, Some(buffer));
                gl.renderbuffer_storage(c::RENDERBUFFER, format, 150, 90);
                gl.framebuffer_renderbuffer(
                    c::FRAMEBUFFER,
                    attachment,
                    c::RENDERBUFFER,
                    Some(buffer),
                );
                anyhow::Ok(buffer)
            };
            let mut buffers = vec![attach(c::COLOR_ATTACHMENT0, format)?];
            if let Some(depth) = depth {
                buffers.push(attach(c::DEPTH_ATTACHMENT, depth)?);
                gl.enable(c::DEPTH_TEST);
            } else {
                gl.disable(c::DEPTH_TEST);
            }
            scene.complete()?;
            gl.viewport(0, 0, 150, 90);
            gl.clear_color(0.1, 0.5, 0.9, 1.0);
            gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT);
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
            scene.read(3, 5, 40, 30)?;
            scene.done("a target's format")?;
            gl.delete_framebuffer(framebuffer);
            for buffer in buffers {
                gl.delete_renderbuffer(buffer);
            }
        }
    }
    Ok(())
}

/// Read back the whole, parts, other formats and row lengths, between draws.
pub fn readback(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(true)?;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    for [x, y, width, height] in [
        [0, 0, SIDE, SIDE],
        [7, 9, 1, 1],
        [100, 0, 156, 3],
        [250, 250, 20, 20],
    ] {
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.read(x, y, width, height)?;
    }
    scene.need("GL_EXT_read_format_bgra")?;
    let mut pixels = vec![0; 4 * (SIDE * SIDE) as usize];
    let data = PixelPackData::Slice(Some(&mut pixels));
    gl.read_pixels(0, 0, SIDE, SIDE, c::BGRA, c::UNSIGNED_BYTE, data);
    scene.done("reading back")
}

/// Draw to multisampled renderbuffers, and resolve them. This needs desktop OpenGL.
pub fn multisample(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    let (single, _) = scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    scene.need("GL_EXT_framebuffer_multisample")?;
    let most = gl.get_parameter_i32(c::MAX_SAMPLES);
    for samples in [2, 4, 6].into_iter().filter(|&samples| samples <= most) {
        let framebuffer = gl.create_framebuffer().map_err(|e| anyhow!(e))?;
        gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
        for (attachment, format) in [
            (c::COLOR_ATTACHMENT0, c::RGBA8),
            (c::DEPTH_STENCIL_ATTACHMENT, c::DEPTH24_STENCIL8),
        ] {
            let buffer = gl.create_renderbuffer().map_err(|e| anyhow!(e))?;
            gl.bind_renderbuffer(c::RENDERBUFFER, Some(buffer));
            gl.renderbuffer_storage_multisample(c::RENDERBUFFER, samples, format, SIDE, SIDE);
            gl.framebuffer_renderbuffer(c::FRAMEBUFFER, attachment, c::RENDERBUFFER, Some(buffer));
        }
        scene.complete()?;
        gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
        gl.enable(c::DEPTH_TEST);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        gl.enable(c::SAMPLE_ALPHA_TO_COVERAGE);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        gl.disable(c::SAMPLE_ALPHA_TO_COVERAGE);
        scene.check("drawing with samples")?;
        gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(framebuffer));
        gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(single));
        let [whole, part] = [[0, 0, SIDE, SIDE], [16, 16, 80, 48]];
        for [x0, y0, x1, y1] in [whole, part] {
            let mask = c::COLOR_BUFFER_BIT;
            gl.blit_framebuffer(x0, y0, x1, y1, x0, y0, x1, y1, mask, c::NEAREST);
        }
        gl.bind_framebuffer(c::FRAMEBUFFER, Some(single));
        scene.read(0, 0, SIDE, SIDE)?;
        scene.done("a resolve")?;
    }
    Ok(())
}

/// Draw to several targets at once, and copy between framebuffers with scaling. This needs desktop OpenGL.
pub fn several_targets(scene: &Scene) -> Result<()> {
    const BOTH: &str = "
varying vec4 value;
void main() { gl_FragData[0] = value; gl_FragData[1] = value.wzyx; gl_FragData[2] = vec4(0.5); gl_FragData[3] = value * 0.5; }
";
    let gl = &scene.gl;
    let (first, _) = scene.usual_target(true)?;
    scene.program(VERTEX, BOTH)?;
    scene.whole()?;
    let count = gl.get_parameter_i32(c::MAX_DRAW_BUFFERS).min(4);
    let mut attachments = Vec::new();
    for i in 0..count as u32 {
        let texture = scene.texture(SIDE, SIDE)?;
        let attachment = c::COLOR_ATTACHMENT0 + i;
        gl.framebuffer_texture_2d(c::FRAMEBUFFER, attachment, c::TEXTURE_2D, Some(texture), 0);
        attachments.push(attachment);
        scene.complete()?;
        gl.draw_buffers(&attachments);
        gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.done("several targets")?;
    }
    let (second, _) = scene.target(100, 60, true)?;
    gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(first));
    gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(second));
    let colour = c::COLOR_BUFFER_BIT;
    gl.blit_framebuffer(0, 0, SIDE, SIDE, 0, 0, 100, 60, colour, c::LINEAR);
    gl.blit_framebuffer(0, 0, 50, 50, 50, 50, 0, 0, colour, c::NEAREST);
    gl.bind_framebuffer(c::FRAMEBUFFER, Some(second));
    scene.read(0, 0, 100, 60)?;
    scene.done("copies between framebuffers")
}

/// Draw what OpenGL ES does not reach: volume textures, wire frames, sRGB and float textures and targets. This needs
/// desktop OpenGL.
pub fn desktop(scene: &Scene) -> Result<()> {
    const VOLUME: &str = "
uniform sampler3D image;
varying vec4 value;
void main() { gl_FragColor = texture3D(image, value.xyx); }
";
    let gl = &scene.gl;
    scene.usual_target(true)?;
    scene.whole()?;
    scene.program(VERTEX, VOLUME)?;
    let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
    gl.bind_texture(c::TEXTURE_3D, Some(texture));
    scene.sampling(c::TEXTURE_3D, c::LINEAR, c::LINEAR, c::REPEAT);
    gl.tex_parameter_i32(c::TEXTURE_3D, c::TEXTURE_WRAP_R, c::CLAMP_TO_BORDER as i32);
    let pixels = pattern(16 * 8 * 4 * 4);
    let (format, kind) = (c::RGBA, c::UNSIGNED_BYTE);
    let nothing = PixelUnpackData::Slice(None);
    let internal = c::RGBA8 as i32;
    gl.tex_image_3d(
        c::TEXTURE_3D,
        0,
        internal,
        16,
        8,
        4,
        0,
        format,
        kind,
        nothing,
    );
    // For the same reason as in `Scene::image`; and below.
    gl.finish();
    let data = PixelUnpackData::Slice(Some(&pixels));
    gl.tex_sub_image_3d(c::TEXTURE_3D, 0, 0, 0, 0, 16, 8, 4, format, kind, data);
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.done("a volume texture")?;

    scene.program(VERTEX, PLAIN)?;
    for mode in [c::LINE, c::POINT, c::FILL] {
        gl.polygon_mode(c::FRONT_AND_BACK, mode);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    scene.done("polygon modes")?;

    scene.program(VERTEX, TEXTURED)?;
    let mut internals = vec![c::RGB10_A2, c::RGBA16, c::RGB5, c::LUMINANCE, c::ALPHA];
    for (extension, formats) in [
        ("GL_EXT_texture_sRGB", &[c::SRGB8_ALPHA8, c::SRGB8][..]),
        (
            "GL_ARB_texture_float",
            &[c::RGBA16F, c::RGBA32F, c::RGB16F][..],
        ),
        ("GL_ARB_texture_rg", &[c::R8, c::RG8, c::R16F, c::RG32F][..]),
        ("GL_ARB_depth_texture", &[c::DEPTH_COMPONENT24][..]),
    ] {
        if scene.has(extension) {
            internals.extend(formats);
        }
    }
    for internal in internals {
        let depth = internal == c::DEPTH_COMPONENT24;
        let (format, pixel) = if depth {
            (c::DEPTH_COMPONENT, 4)
        } else {
            (c::RGBA, 16)
        };
        let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
        gl.bind_texture(c::TEXTURE_2D, Some(texture));
        scene.sampling(c::TEXTURE_2D, c::NEAREST, c::NEAREST, c::CLAMP_TO_EDGE);
        let floats: Vec<u8> = (0..32 * 32 * pixel / 4)
            .flat_map(|i| (i as f32 / 4096.0).to_ne_bytes())
            .collect();
        let (target, internal) = (c::TEXTURE_2D, internal as i32);
        let nothing = PixelUnpackData::Slice(None);
        gl.tex_image_2d(target, 0, internal, 32, 32, 0, format, c::FLOAT, nothing);
        gl.finish();
        let data = PixelUnpackData::Slice(Some(&floats));
        gl.tex_sub_image_2d(target, 0, 0, 0, 32, 32, format, c::FLOAT, data);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.check("an internal format")?;
        let framebuffer = gl.create_framebuffer().map_err(|e| anyhow!(e))?;
        let before = scene_target(scene, framebuffer, texture, depth)?;
        if before {
            gl.viewport(0, 0, 32, 32);
            gl.bind_texture(c::TEXTURE_2D, None);
            gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT);
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        }
        scene.target(64, 64, false)?;
        scene.done("an internal format")?;
    }
    Ok(())
}

/// Bind a framebuffer that draws to `texture`; false if the chip cannot draw to its format.
fn scene_target(
    scene: &Scene,
    framebuffer: crate::gl::Framebuffer,
    texture: crate::gl::Texture,
    depth: bool,
) -> Result<bool> {
    let gl = &scene.gl;
    let attachment = if depth {
        c::DEPTH_ATTACHMENT
    } else {
        c::COLOR_ATTACHMENT0
    };
    gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
    gl.framebuffer_texture_2d(c::FRAMEBUFFER, attachment, c::TEXTURE_2D, Some(texture), 0);
    let complete = gl.check_framebuffer_status(c::FRAMEBUFFER) == c::FRAMEBUFFER_COMPLETE;
    scene.check("a framebuffer")?;
    Ok(complete)
}

/// Draw frames of a swap chain, with a draw in each.
pub fn swap_chain(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    scene.egl.swap_chain(320, 200, 5, |frame| {
        gl.viewport(0, 0, 320, 200);
        gl.clear_color(frame as f32 / 5.0, 0.3, 0.3, 1.0);
        gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.check("a frame")
    })?;
    scene.done("a swap chain")
}
