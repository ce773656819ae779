// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Desktop OpenGL from before shaders: vertices one by one, lists, stipples, alpha test, fog, clip planes, pixels drawn
//! without a texture, and indices in the command stream.

use crate::entries::{CLAMP, POLYGON, QUAD_STRIP};
use crate::scene::{PLAIN, SIDE, Scene, VERTEX, pattern};
use anyhow::Result;
use glow as c;

/// `GL_FLAT` and `GL_SMOOTH`.
const SHADES: [u32; 2] = [0x1d00, 0x1d01];
/// `GL_ALPHA_TEST`.
const ALPHA_TEST: u32 = 0x0bc0;
/// `GL_POLYGON_STIPPLE`.
const POLYGON_STIPPLE: u32 = 0x0b42;
/// `GL_LINE_STIPPLE`.
const LINE_STIPPLE: u32 = 0x0b24;
/// `GL_POINT_SPRITE`.
const POINT_SPRITE: u32 = 0x8861;
/// `GL_FOG` and `GL_FOG_MODE`.
const FOG: [u32; 2] = [0x0b60, 0x0b65];
/// `GL_EXP`, `GL_EXP2`, `GL_LINEAR`.
const FOG_MODES: [u32; 3] = [0x0800, 0x0801, 0x2601];
/// `GL_CLIP_PLANE0`.
const CLIP_PLANE0: u32 = 0x3000;
/// `GL_COMPILE`.
const COMPILE: u32 = 0x1300;
/// `GL_COLOR`, for glCopyPixels.
const COLOR: u32 = 0x1800;
/// `GL_VERTEX_PROGRAM_TWO_SIDE`.
const TWO_SIDE: u32 = 0x8643;

/// Send `count` vertices, one by one.
fn primitive(scene: &Scene, mode: u32, count: usize) {
    let calls = &scene.entries;
    calls.begin_primitive(mode);
    for i in 0..count {
        let (sine, cosine) = (i as f32 * 0.9).sin_cos();
        calls.color(cosine.abs(), sine.abs(), 0.5, 0.7);
        calls.coordinate(cosine, sine, 0.0, 1.0);
        calls.at(cosine * 0.8, sine * 0.8, 0.1, 1.0);
    }
    calls.end_primitive();
}

/// Draw vertices one by one, every primitive that there is, in lists, and with the state of that time.
pub fn immediate(scene: &Scene) -> Result<()> {
    let (gl, calls) = (&scene.gl, &scene.entries);
    scene.usual_target(true)?;
    let modes = [
        c::POINTS,
        c::LINES,
        c::LINE_LOOP,
        c::LINE_STRIP,
        c::TRIANGLES,
        c::TRIANGLE_STRIP,
        c::TRIANGLE_FAN,
        c::QUADS,
        QUAD_STRIP,
        POLYGON,
    ];
    for shade in SHADES {
        calls.shade(shade);
        for mode in modes {
            primitive(scene, mode, 12);
        }
    }
    calls.begin_list(1, COMPILE);
    primitive(scene, c::QUADS, 40);
    primitive(scene, POLYGON, 7);
    calls.finish_list();
    for _ in 0..3 {
        calls.call(1);
    }
    scene.done("vertices one by one")?;

    gl.enable(ALPHA_TEST);
    for function in c::NEVER..=c::ALWAYS {
        calls.alpha(function, 0.5);
        primitive(scene, c::TRIANGLES, 9);
    }
    gl.disable(ALPHA_TEST);
    let stipple: [u8; 128] = std::array::from_fn(|i| (i * 37) as u8);
    gl.enable(POLYGON_STIPPLE);
    calls.stipple_polygons(&stipple);
    primitive(scene, POLYGON, 7);
    gl.disable(POLYGON_STIPPLE);
    gl.enable(LINE_STIPPLE);
    for factor in [1, 3, 200] {
        calls.stipple_lines(factor, 0x5a0f);
        primitive(scene, c::LINE_STRIP, 12);
        primitive(scene, c::LINES, 12);
    }
    gl.disable(LINE_STIPPLE);
    for i in 0..6 {
        gl.enable(CLIP_PLANE0 + i);
        calls.clip(CLIP_PLANE0 + i, &[0.5, -0.25, 1.0, f64::from(i) * 0.1]);
        primitive(scene, c::QUADS, 8);
    }
    for i in 0..6 {
        gl.disable(CLIP_PLANE0 + i);
    }
    gl.enable(FOG[0]);
    for mode in FOG_MODES {
        calls.fog(FOG[1], mode as i32);
        primitive(scene, c::TRIANGLE_FAN, 9);
    }
    gl.disable(FOG[0]);
    gl.enable(c::COLOR_LOGIC_OP);
    for operation in [c::XOR, c::COPY_INVERTED, c::SET] {
        calls.logic(operation);
        primitive(scene, c::QUADS, 4);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("the state before shaders")
}

/// Draw textures of the fixed pipeline, pixels and bitmaps at the raster position, sprites, two-sided colours.
pub fn pixels(scene: &Scene) -> Result<()> {
    const SIDES: &str = "
void main() {
    gl_Position = gl_Vertex; gl_FrontColor = gl_Color; gl_BackColor = gl_Color.wzyx;
    gl_TexCoord[0] = gl_MultiTexCoord0; gl_PointSize = 9.0;
}
";
    const TINTED: &str = "
uniform sampler2D image;
void main() { gl_FragColor = gl_Color + texture2D(image, gl_TexCoord[0].xy); }
";
    let (gl, calls) = (&scene.gl, &scene.entries);
    scene.usual_target(false)?;
    gl.enable(c::TEXTURE_2D);
    scene.texture(32, 32)?;
    primitive(scene, c::QUADS, 8);
    for wrap in [CLAMP, c::CLAMP_TO_BORDER, c::MIRRORED_REPEAT] {
        scene.sampling(c::TEXTURE_2D, c::LINEAR, c::LINEAR, wrap);
        gl.tex_parameter_f32_slice(
            c::TEXTURE_2D,
            c::TEXTURE_BORDER_COLOR,
            &[0.1, 0.9, 0.4, 0.5],
        );
        primitive(scene, c::QUADS, 8);
    }
    gl.enable(POINT_SPRITE);
    gl.enable(c::PROGRAM_POINT_SIZE);
    let program = scene.program(SIDES, TINTED)?;
    gl.enable(TWO_SIDE);
    for mode in [c::TRIANGLES, c::POINTS, c::QUADS] {
        primitive(scene, mode, 12);
    }
    gl.use_program(None);
    gl.delete_program(program);
    gl.disable(c::TEXTURE_2D);
    scene.done("textures")?;
    for [x, y] in [[-0.9, -0.9], [0.1, 0.2]] {
        calls.raster(x, y);
        // Each makes a texture of its own, in memory that the one before may still use. Waiting makes it the same in
        // every run.
        calls.draw_rgba(40, 20, &pattern(4 * 40 * 20));
        scene.done("drawn pixels")?;
        calls.draw_bitmap(24, &pattern(4 * 24));
        scene.done("a bitmap")?;
        calls.copy_pixels_here(10, 10, 50, 30, COLOR);
        scene.done("pixels at the raster position")?;
    }
    Ok(())
}

/// Draw by indices and vertices in the client's memory, of which there are few enough for the command stream, and more.
pub fn client_memory(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    gl.enable_vertex_attrib_array(0);
    let positions: Vec<[f32; 4]> = (0..300)
        .map(|i| {
            let (sine, cosine) = (i as f32).sin_cos();
            [cosine, sine, 0.0, 1.0]
        })
        .collect();
    for count in [3, 6, 9, 12, 30, 300] {
        let order: Vec<u16> = (0..count).rev().collect();
        scene.more.draw_from_client_memory(&positions, &order);
        scene.check("indices in the client's memory")?;
    }
    scene.read(0, 0, SIDE, 8)?;
    scene.done("the client's memory")
}
