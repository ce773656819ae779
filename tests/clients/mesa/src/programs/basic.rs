// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Clears, a triangle, and the state between rasteriser and colour buffer.

use crate::scene::{PLAIN, SIDE, Scene, VERTEX, Vertex};
use anyhow::Result;
use glow as c;

const TRIANGLE: [Vertex; 3] = [
    [-0.9, -0.9, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0],
    [0.9, -0.9, 0.5, 1.0, 0.0, 1.0, 0.0, 1.0],
    [0.0, 0.9, 1.0, 1.0, 0.0, 0.0, 1.0, 0.5],
];

/// Clear colour, depth and stencil together and alone, with masks and a scissor.
pub fn clear(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.target(SIDE, SIDE, true)?;
    gl.clear_depth_f32(0.75);
    gl.clear_stencil(0x5a);
    let all = c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT;
    let each = [
        all,
        c::COLOR_BUFFER_BIT,
        c::DEPTH_BUFFER_BIT,
        c::STENCIL_BUFFER_BIT,
        c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT,
    ];
    for (i, mask) in each.into_iter().enumerate() {
        gl.clear_color(i as f32 / 4.0, 0.5, 1.0, 0.25);
        gl.clear(mask);
        scene.done("a clear")?;
    }
    gl.color_mask(true, false, true, false);
    gl.stencil_mask_separate(c::FRONT_AND_BACK, 0x0f);
    gl.clear(all);
    gl.color_mask(true, true, true, true);
    gl.enable(c::SCISSOR_TEST);
    gl.scissor(13, 17, 101, 55);
    gl.clear(all);
    scene.read(0, 0, SIDE, SIDE)?;
    scene.done("a clear with masks")
}

/// Draw one triangle with interpolated colours.
pub fn triangle(scene: &Scene) -> Result<()> {
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.vertices(&TRIANGLE)?;
    scene.gl.draw_arrays(c::TRIANGLES, 0, 3);
    scene.read(0, 0, SIDE, SIDE)?;
    scene.done("a triangle")
}

/// Test all functions of the depth and the stencil test, two-sided stencil, no depth writes, polygon offset.
pub fn depth_stencil(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(true)?;
    scene.program(VERTEX, PLAIN)?;
    scene.vertices(&TRIANGLE)?;
    let functions = [
        c::NEVER,
        c::LESS,
        c::EQUAL,
        c::LEQUAL,
        c::GREATER,
        c::NOTEQUAL,
        c::GEQUAL,
        c::ALWAYS,
    ];
    let operations = [
        c::KEEP,
        c::ZERO,
        c::REPLACE,
        c::INCR,
        c::INCR_WRAP,
        c::DECR,
        c::DECR_WRAP,
        c::INVERT,
    ];
    gl.enable(c::DEPTH_TEST);
    for function in functions {
        gl.depth_func(function);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    gl.depth_mask(false);
    gl.depth_range_f32(0.25, 0.75);
    gl.enable(c::POLYGON_OFFSET_FILL);
    gl.polygon_offset(-1.5, 4.0);
    gl.draw_arrays(c::TRIANGLES, 0, 3);
    scene.check("the depth test")?;
    gl.disable(c::POLYGON_OFFSET_FILL);
    gl.enable(c::STENCIL_TEST);
    for (i, function) in functions.into_iter().enumerate() {
        let operation = |n: usize| operations[(i + n) % operations.len()];
        gl.stencil_func_separate(c::FRONT, function, i as i32, 0xff);
        gl.stencil_func_separate(c::BACK, functions[7 - i], 0x80, 0x7f);
        gl.stencil_op_separate(c::FRONT, operation(0), operation(1), operation(2));
        gl.stencil_op_separate(c::BACK, operation(3), operation(4), operation(5));
        gl.stencil_mask_separate(c::BACK, 0xf0);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    gl.disable(c::DEPTH_TEST);
    gl.draw_arrays(c::TRIANGLES, 0, 3);
    scene.read(0, 0, 16, 16)?;
    scene.done("the stencil test")
}

/// Blend by equations and factors, with a constant colour, colour masks, dithering.
pub fn blend(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.vertices(&TRIANGLE)?;
    gl.enable(c::BLEND);
    gl.blend_color(0.1, 0.2, 0.3, 0.4);
    let factors = [
        c::ZERO,
        c::ONE,
        c::SRC_COLOR,
        c::ONE_MINUS_SRC_COLOR,
        c::DST_COLOR,
        c::ONE_MINUS_DST_COLOR,
        c::SRC_ALPHA,
        c::ONE_MINUS_SRC_ALPHA,
        c::DST_ALPHA,
        c::ONE_MINUS_DST_ALPHA,
        c::CONSTANT_COLOR,
        c::ONE_MINUS_CONSTANT_ALPHA,
    ];
    for (i, &from) in factors.iter().enumerate() {
        let to = factors[(i * 5 + 1) % factors.len()];
        gl.blend_func_separate(from, to, to, from);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    gl.blend_func_separate(c::SRC_ALPHA_SATURATE, c::ONE, c::ONE, c::ZERO);
    gl.draw_arrays(c::TRIANGLES, 0, 3);
    let mut equations = vec![c::FUNC_ADD, c::FUNC_SUBTRACT, c::FUNC_REVERSE_SUBTRACT];
    scene.need("GL_EXT_blend_minmax")?;
    equations.extend([c::MIN, c::MAX]);
    for (i, &equation) in equations.iter().enumerate() {
        let alpha = equations[(i + 1) % equations.len()];
        gl.blend_equation_separate(equation, alpha);
        gl.color_mask(i & 1 == 0, i & 2 == 0, true, i & 4 == 0);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    gl.disable(c::DITHER);
    gl.draw_arrays(c::TRIANGLES, 0, 3);
    scene.read(0, 0, 16, 16)?;
    scene.done("blending")
}

/// Draw with scissors and viewports at the edges and beyond them, culling, discarded fragments.
pub fn scissor(scene: &Scene) -> Result<()> {
    const DISCARD: &str = "
precision mediump float;
varying vec4 value;
void main() { if (value.x < 0.5) discard; gl_FragColor = value; }
";
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, DISCARD)?;
    scene.vertices(&TRIANGLE)?;
    gl.enable(c::SCISSOR_TEST);
    for [x, y, width, height] in [
        [0, 0, SIDE, SIDE],
        [10, 20, 30, 40],
        [-50, -50, 100, 100],
        [200, 200, 1000, 1000],
        [255, 255, 1, 1],
        [40, 40, 0, 0],
        [300, 300, 20, 20],
    ] {
        gl.scissor(x, y, width, height);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    gl.disable(c::SCISSOR_TEST);
    for [x, y, width, height] in [[0, 0, 64, 64], [-128, -128, 512, 512], [100, 7, 1, 300]] {
        gl.viewport(x, y, width, height);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    gl.enable(c::CULL_FACE);
    for (face, winding) in [
        (c::BACK, c::CCW),
        (c::FRONT, c::CCW),
        (c::BACK, c::CW),
        (c::FRONT_AND_BACK, c::CW),
    ] {
        gl.cull_face(face);
        gl.front_face(winding);
        gl.draw_arrays(c::TRIANGLES, 0, 3);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("scissors")
}
