// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Up to eight targets at once, targets of every format, and how a draw changes what is there.

use crate::gl::{PixelPackData, Program};
use crate::modern::{PASS, SHOW};
use crate::scene::{SIDE, Scene};
use anyhow::{Result, anyhow, ensure};
use glow as c;

/// Return a program with `count` outputs of a type.
fn outputs(scene: &Scene, count: usize, kind: &str) -> Result<Program> {
    let mut body = String::from("in vec4 value;\n");
    for i in 0..count {
        body += &format!("layout(location = {i}) out {kind} out{i};\n");
    }
    body += "void main() {\n";
    for i in 0..count {
        body += &format!("out{i} = {kind}(value * {i}.5);\n");
    }
    body += "}\n";
    scene.modern(PASS, &body)
}

fn attachments(count: usize) -> Vec<u32> {
    (0..count as u32)
        .map(|i| c::COLOR_ATTACHMENT0 + i)
        .collect()
}

/// Draw to one to eight targets, with holes between them, of one format and of several, cleared together and alone.
pub fn eight_targets(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    let most = gl.get_parameter_i32(c::MAX_DRAW_BUFFERS);
    ensure!(most == 8, "{most} targets");
    scene.whole()?;
    let program = outputs(scene, 8, "vec4")?;
    let formats = [
        c::RGBA8,
        c::RGBA8,
        c::RGB10_A2,
        c::R8,
        c::RG8,
        c::RGB565,
        c::SRGB8_ALPHA8,
        c::RGBA4,
    ];
    let all = attachments(8);
    scene.framebuffer()?;
    gl.viewport(0, 0, 120, 90);
    for count in 1..=8 {
        scene.attach(all[count - 1], formats[count - 1], [120, 90])?;
        scene.complete()?;
        gl.draw_buffers(&all[..count]);
        gl.clear(c::COLOR_BUFFER_BIT);
        scene.strip("several targets")?;
        scene.done("several targets")?;
    }
    for holes in [0b1010_1010, 0b1000_0001, 0b0001_1000_u32] {
        let some: Vec<u32> = (0..8)
            .map(|i| {
                if (holes >> i) & 1 == 1 {
                    all[i]
                } else {
                    c::NONE
                }
            })
            .collect();
        gl.draw_buffers(&some);
        scene.strip("targets with holes")?;
    }
    gl.draw_buffers(&all);
    for i in 0..8 {
        let value = [i as f32 / 8.0, 0.5, 0.25, 1.0];
        gl.clear_buffer_f32_slice(c::COLOR, i, &value);
    }
    gl.enable(c::BLEND);
    gl.blend_func_separate(c::SRC_ALPHA, c::ONE, c::ONE, c::DST_ALPHA);
    scene.strip("blending into eight targets")?;
    for at in all {
        gl.read_buffer(at);
        scene.read(0, 0, 16, 16)?;
    }
    gl.use_program(None);
    gl.delete_program(program);
    scene.done("eight targets")
}

/// Blend with equations and masks of each target by itself, and with two sources of blending.
pub fn blending(scene: &Scene) -> Result<()> {
    const SOURCES: &str = "
in vec4 value;
out vec4 first;
out vec4 second;
void main() { first = value; second = value.wzyx * 0.5; }
";
    let gl = &scene.gl;
    scene.need("GL_ARB_draw_buffers_blend")?;
    scene.whole()?;
    outputs(scene, 8, "vec4")?;
    let all = attachments(8);
    scene.framebuffer()?;
    gl.viewport(0, 0, 100, 100);
    for &at in &all {
        scene.attach(at, c::RGBA8, [100, 100])?;
    }
    scene.complete()?;
    gl.draw_buffers(&all);
    gl.clear(c::COLOR_BUFFER_BIT);
    let factors = [
        c::ZERO,
        c::ONE,
        c::SRC_COLOR,
        c::ONE_MINUS_DST_ALPHA,
        c::CONSTANT_COLOR,
        c::SRC_ALPHA_SATURATE,
        c::ONE_MINUS_SRC_ALPHA,
        c::DST_COLOR,
    ];
    let equations = [
        c::FUNC_ADD,
        c::FUNC_SUBTRACT,
        c::FUNC_REVERSE_SUBTRACT,
        c::MIN,
        c::MAX,
    ];
    for turn in 0..8 {
        for i in 0..8 {
            let factor = |n: usize| factors[(i * 3 + turn + n) % 8];
            let buffer = i as u32;
            if (turn + i) % 3 == 0 {
                gl.disable_draw_buffer(c::BLEND, buffer);
            } else {
                gl.enable_draw_buffer(c::BLEND, buffer);
            }
            let [a, b, d, e] = [factor(0), factor(1), factor(2), factor(4)];
            gl.blend_func_separate_draw_buffer(buffer, a, b, d, e);
            gl.blend_equation_draw_buffer(buffer, equations[(turn + i) % 5]);
            gl.color_mask_draw_buffer(buffer, i != turn, true, turn % 2 == 0, i % 2 == 0);
        }
        scene.strip("blending by target")?;
    }
    scene.done("blending by target")?;

    scene.usual(c::RGBA8)?;
    let bodies = [(c::VERTEX_SHADER, PASS), (c::FRAGMENT_SHADER, SOURCES)];
    scene.stages(&bodies, |program| {
        scene.entries.locate_output(program, 0, 0, c"first");
        scene.entries.locate_output(program, 0, 1, c"second");
    })?;
    gl.enable(c::BLEND);
    gl.color_mask(true, true, true, true);
    gl.blend_equation_separate(c::FUNC_ADD, c::FUNC_ADD);
    for (from, to) in [
        (c::SRC1_COLOR, c::ONE_MINUS_SRC1_COLOR),
        (c::SRC1_ALPHA, c::ONE),
        (c::ONE, c::ONE_MINUS_SRC1_ALPHA),
    ] {
        gl.blend_func_separate(from, to, to, from);
        scene.strip("two sources")?;
    }
    gl.disable(c::BLEND);
    gl.enable(c::COLOR_LOGIC_OP);
    for operation in c::CLEAR..=c::SET {
        scene.entries.logic(operation);
        scene.strip("a logic operation")?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("two sources and logic operations")
}

/// Draw to and read from a target of each format; `kind` is the type of the shader's output.
fn each(scene: &Scene, kind: &str, formats: &[u32]) -> Result<()> {
    let gl = &scene.gl;
    outputs(scene, 1, kind)?;
    for &internal in formats {
        let framebuffer = scene.framebuffer()?;
        let texture = scene.attach(c::COLOR_ATTACHMENT0, internal, [70, 50])?;
        scene
            .complete()
            .map_err(|e| anyhow!("{internal:#x}: {e:#}"))?;
        gl.viewport(0, 0, 70, 50);
        match kind {
            "ivec4" => gl.clear_buffer_i32_slice(c::COLOR, 0, &[-5, 6, -7, 8]),
            "uvec4" => gl.clear_buffer_u32_slice(c::COLOR, 0, &[1, 2, 3, 4]),
            _ => gl.clear_buffer_f32_slice(c::COLOR, 0, &[0.5, -2.0, 3.0, 1.0]),
        }
        scene.strip("a format")?;
        let mut pixels = vec![0; 16 * 16 * 16];
        let data = PixelPackData::Slice(Some(&mut pixels));
        let (format, component) = match kind {
            "ivec4" => (c::RGBA_INTEGER, c::INT),
            "uvec4" => (c::RGBA_INTEGER, c::UNSIGNED_INT),
            _ => (c::RGBA, c::FLOAT),
        };
        // OpenGL ES reads normalised formats as bytes only.
        let component = match internal {
            c::R8
            | c::RG8
            | c::RGB8
            | c::RGBA8
            | c::SRGB8_ALPHA8
            | c::RGBA4
            | c::RGB5_A1
            | c::RGB565 => c::UNSIGNED_BYTE,
            _ => component,
        };
        if internal != c::RGB10_A2 {
            gl.read_pixels(0, 0, 16, 16, format, component, data);
        }
        scene
            .done("a target's format")
            .map_err(|e| anyhow!("{internal:#x}: {e:#}"))?;
        gl.delete_framebuffer(framebuffer);
        gl.delete_texture(texture);
    }
    Ok(())
}

/// Draw to targets of every format of OpenGL ES 3, normalised, signed, unsigned, and floats.
pub fn formats(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.whole()?;
    let normalised = [
        c::R8,
        c::RG8,
        c::RGB8,
        c::RGBA8,
        c::SRGB8_ALPHA8,
        c::RGBA4,
        c::RGB5_A1,
        c::RGB565,
        c::RGB10_A2,
    ];
    each(scene, "vec4", &normalised)?;
    let signed = [
        c::R8I,
        c::RG8I,
        c::RGBA8I,
        c::R16I,
        c::RG16I,
        c::RGBA16I,
        c::R32I,
        c::RG32I,
        c::RGBA32I,
    ];
    each(scene, "ivec4", &signed)?;
    let unsigned = [
        c::R8UI,
        c::RG8UI,
        c::RGBA8UI,
        c::R16UI,
        c::RG16UI,
        c::RGBA16UI,
        c::R32UI,
        c::RG32UI,
        c::RGBA32UI,
        c::RGB10_A2UI,
    ];
    each(scene, "uvec4", &unsigned)?;
    scene.need("GL_EXT_color_buffer_float")?;
    let floats = [
        c::R16F,
        c::RG16F,
        c::RGBA16F,
        c::R32F,
        c::RG32F,
        c::RGBA32F,
        c::R11F_G11F_B10F,
    ];
    gl.enable(c::BLEND);
    gl.blend_func_separate(c::ONE, c::ONE, c::ONE, c::ONE);
    each(scene, "vec4", &floats[..3])?;
    gl.disable(c::BLEND);
    each(scene, "vec4", &floats[3..])?;
    scene.modern(PASS, SHOW)?;
    scene.usual(c::RGBA8)?;
    // What is there may be forgotten.
    gl.invalidate_framebuffer(c::FRAMEBUFFER, &[c::COLOR_ATTACHMENT0]);
    scene.strip("a forgotten target")?;
    scene.read(0, 0, SIDE, SIDE)?;
    scene.done("targets of every format")
}

/// Draw to formats of targets that only desktop OpenGL has, which are signed and 16 bits normalised, and sRGB in linear
/// light.
pub fn desktop_formats(scene: &Scene) -> Result<()> {
    scene.whole()?;
    let formats = [
        c::R16,
        c::RG16,
        c::RGBA16,
        c::R8_SNORM,
        c::RG8_SNORM,
        c::RGBA8_SNORM,
        c::R16_SNORM,
        c::RGBA16_SNORM,
        c::RGBA12,
        c::RGB10_A2,
    ];
    each(scene, "vec4", &formats)?;
    scene.gl.enable(c::FRAMEBUFFER_SRGB);
    each(scene, "vec4", &[c::SRGB8_ALPHA8, c::RGBA32F])?;
    scene.done("targets of desktop formats")
}
