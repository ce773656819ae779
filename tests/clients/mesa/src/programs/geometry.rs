// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Vertices and shaders: where attributes come from, indices, primitives, constants, long programs.

use crate::scene::{PLAIN, Scene, VERTEX, Vertex, pattern};
use anyhow::Result;
use glow as c;
use zerocopy::IntoBytes;

/// Return a strip of `count` vertices along a wave.
fn wave(count: usize) -> Vec<Vertex> {
    (0..count)
        .map(|i| {
            let x = i as f32 / count as f32 * 2.0 - 1.0;
            let y = if i % 2 == 0 { -0.5 } else { 0.5 };
            [
                x,
                y + x * x * 0.3,
                0.0,
                1.0,
                x.abs(),
                0.5,
                1.0 - x.abs(),
                1.0,
            ]
        })
        .collect()
}

/// Draw with attributes of every type, interleaved and apart, with offsets and strides, and one that is constant.
pub fn buffers(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.vertices(&wave(64))?;
    for first in [0, 3, 40] {
        gl.draw_arrays(c::TRIANGLE_STRIP, first, 20);
    }
    // Attribute 1 in each type, from the same bytes behind the positions.
    let data = pattern(8192);
    let buffer = scene.buffer(c::ARRAY_BUFFER, &data)?;
    for (kind, bytes) in [
        (c::BYTE, 1),
        (c::UNSIGNED_BYTE, 1),
        (c::SHORT, 2),
        (c::UNSIGNED_SHORT, 2),
        (c::FLOAT, 4),
        (c::FIXED, 4),
    ] {
        for size in 1..=4 {
            let stride = (size * bytes + 3) & !3;
            for (normalized, stride, offset) in
                [(true, stride, 64), (false, stride + 12, 4), (true, 0, 128)]
            {
                gl.vertex_attrib_pointer_f32(1, size, kind, normalized, stride, offset);
                gl.draw_arrays(c::TRIANGLES, 0, 30);
            }
        }
        scene.check("an attribute type")?;
    }
    gl.disable_vertex_attrib_array(1);
    gl.vertex_attrib_4_f32(1, 0.1, 0.2, 0.3, 0.4);
    gl.draw_arrays(c::TRIANGLES, 0, 30);
    // New content while the old is being read.
    gl.enable_vertex_attrib_array(1);
    gl.vertex_attrib_pointer_f32(1, 4, c::FLOAT, false, 16, 0);
    for i in 0..4 {
        gl.buffer_sub_data_u8_slice(c::ARRAY_BUFFER, 256 * i, &pattern(512));
        gl.draw_arrays(c::TRIANGLES, 0, 30);
    }
    gl.buffer_data_u8_slice(c::ARRAY_BUFFER, &data, c::DYNAMIC_DRAW);
    gl.draw_arrays(c::TRIANGLES, 0, 30);
    gl.delete_buffer(buffer);
    scene.read(0, 0, 16, 16)?;
    scene.done("vertex buffers")
}

/// Draw by indices of 8, 16 and 32 bits from buffers at odd offsets, and from the client's memory.
pub fn indices(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.vertices(&wave(200))?;
    scene.need("GL_OES_element_index_uint")?;
    let small: Vec<u8> = (0..99).collect();
    let medium: Vec<u16> = (0..99).map(|i| i * 2).collect();
    let large: Vec<u32> = (0..99).rev().collect();
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, &small)?;
    for offset in [0, 1, 3] {
        gl.draw_elements(c::TRIANGLES, 90, c::UNSIGNED_BYTE, offset);
    }
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, medium.as_bytes())?;
    for offset in [0, 2, 6] {
        gl.draw_elements(c::TRIANGLES, 93, c::UNSIGNED_SHORT, offset);
    }
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, large.as_bytes())?;
    for offset in [0, 4, 20] {
        gl.draw_elements(c::TRIANGLE_STRIP, 91, c::UNSIGNED_INT, offset);
    }
    gl.bind_buffer(c::ELEMENT_ARRAY_BUFFER, None);
    gl.bind_buffer(c::ARRAY_BUFFER, None);
    gl.disable_vertex_attrib_array(1);
    let positions: Vec<[f32; 4]> = wave(40).iter().map(|v| [v[0], v[1], v[2], v[3]]).collect();
    let order: Vec<u16> = (0..39).rev().collect();
    scene.more.draw_from_client_memory(&positions, &order);
    scene.read(0, 0, 16, 16)?;
    scene.done("indices")
}

/// Draw every kind of primitive, sizes of points and lines, point sprites.
pub fn points_lines(scene: &Scene) -> Result<()> {
    const SIZED: &str = "
attribute vec4 position;
attribute vec4 extra;
varying vec4 value;
void main() { gl_Position = position; value = extra; gl_PointSize = 1.0 + 20.0 * extra.x; }
";
    const SPRITE: &str = "
precision mediump float;
varying vec4 value;
void main() { gl_FragColor = vec4(gl_PointCoord, value.zw); }
";
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.vertices(&wave(60))?;
    scene.program(VERTEX, PLAIN)?;
    for mode in [
        c::POINTS,
        c::LINES,
        c::LINE_LOOP,
        c::LINE_STRIP,
        c::TRIANGLES,
        c::TRIANGLE_STRIP,
        c::TRIANGLE_FAN,
    ] {
        gl.draw_arrays(mode, 0, 60);
        gl.draw_arrays(mode, 5, 31);
    }
    for width in [0.5, 1.0, 3.5, 9.0] {
        gl.line_width(width);
        gl.draw_arrays(c::LINE_STRIP, 0, 60);
    }
    scene.program(SIZED, PLAIN)?;
    gl.draw_arrays(c::POINTS, 0, 60);
    scene.program(SIZED, SPRITE)?;
    gl.draw_arrays(c::POINTS, 0, 60);
    scene.read(0, 0, 16, 16)?;
    scene.done("points and lines")
}

/// Make many draws with other constants each, more than one submission's worth.
pub fn uniforms(scene: &Scene) -> Result<()> {
    const MOVED: &str = "
attribute vec4 position;
attribute vec4 extra;
uniform mat4 matrix;
uniform vec4 table[32];
uniform float index;
varying vec4 value;
void main() { gl_Position = matrix * position; value = extra + table[int(index)]; }
";
    const TINTED: &str = "
precision mediump float;
uniform vec4 tint[8];
varying vec4 value;
void main() { gl_FragColor = value * tint[0] + tint[3] * tint[7].wzyx; }
";
    let gl = &scene.gl;
    scene.usual_target(false)?;
    let program = scene.program(MOVED, TINTED)?;
    scene.vertices(&wave(12))?;
    let at = |name: &str| gl.get_uniform_location(program, name);
    let (matrix, table, index, tint) = (at("matrix"), at("table"), at("index"), at("tint"));
    let values: Vec<f32> = (0..128).map(|i| i as f32 / 128.0).collect();
    gl.uniform_4_f32_slice(table.as_ref(), &values);
    for i in 0..400 {
        let angle = i as f32 / 50.0;
        let (sine, cosine) = angle.sin_cos();
        #[rustfmt::skip]
        let turn = [
            cosine, sine, 0.0, 0.0,
            -sine, cosine, 0.0, 0.0,
            0.0, 0.0, 1.0, 0.0,
            0.0, 0.0, 0.0, 1.0,
        ];
        gl.uniform_matrix_4_f32_slice(matrix.as_ref(), false, &turn);
        gl.uniform_1_f32(index.as_ref(), (i % 32) as f32);
        if i % 3 == 0 {
            gl.uniform_4_f32_slice(tint.as_ref(), &values[i % 64..i % 64 + 32]);
        }
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 12);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("uniforms")
}

/// Run long fragment programs, with branches and loops, dependent texture reads, and depth written by a shader.
pub fn shaders(scene: &Scene) -> Result<()> {
    const LOOPED: &str = "
precision mediump float;
uniform vec4 seed;
varying vec4 value;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < 20; i++) {
        if (value.x * float(i) > seed.x) sum += sin(value * float(i)) * seed;
        else sum -= cos(value.yxwz) * 0.01;
    }
    gl_FragColor = fract(sum);
}
";
    const DEPENDENT: &str = "
precision mediump float;
uniform sampler2D image;
varying vec4 value;
void main() {
    vec4 at = texture2D(image, value.xy);
    at = texture2D(image, at.xy * value.z);
    at = texture2D(image, at.zw, 2.0);
    gl_FragColor = pow(abs(at), vec4(1.7)) / (length(at) + 0.1) + texture2DProj(image, value.xyw);
}
";
    let gl = &scene.gl;
    scene.usual_target(true)?;
    gl.enable(c::DEPTH_TEST);
    scene.whole()?;
    scene.texture(32, 32)?;
    let mut long = String::from("precision mediump float;\nvarying vec4 value;\nvoid main() {\n");
    long += "vec4 a = value; vec4 b = value.wzyx;\n";
    for i in 0..100 {
        long += &format!(
            "a = a * b.{} + vec4({i}.25) * b; b = max(b, a.yzwx);\n",
            "xyzw".as_bytes()[i % 4] as char
        );
    }
    long += "gl_FragColor = a + b;\n}\n";
    let mut sources = vec![LOOPED.to_owned(), DEPENDENT.to_owned(), long];
    if scene.has("GL_EXT_frag_depth") {
        sources.push(format!(
            "#extension GL_EXT_frag_depth : require\n{}",
            PLAIN.replace(
                "gl_FragColor = value;",
                "gl_FragColor = value; gl_FragDepthEXT = value.x;"
            )
        ));
    }
    if scene.has("GL_OES_standard_derivatives") {
        sources.push(format!(
            "#extension GL_OES_standard_derivatives : require\n{}",
            PLAIN.replace(
                "= value;",
                "= vec4(dFdx(value.x), dFdy(value.y), fwidth(value.zw));"
            )
        ));
    }
    for source in &sources {
        let program = scene.program(VERTEX, source)?;
        let seed = gl.get_uniform_location(program, "seed");
        gl.uniform_4_f32(seed.as_ref(), 0.3, 0.5, 0.7, 0.9);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        gl.use_program(None);
        gl.delete_program(program);
        scene.check("a shader's draw")?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("shaders")
}

/// Draw from buffers of megabytes, and make a draw of more vertices than 16 bits count.
pub fn big(scene: &Scene) -> Result<()> {
    const COUNT: usize = 100_000;
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.vertices(&wave(COUNT))?;
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, COUNT as i32);
    gl.draw_arrays(c::POINTS, 70_000, 20_000);
    let indices: Vec<u32> = (0..COUNT as u32).rev().collect();
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, indices.as_bytes())?;
    gl.draw_elements(c::TRIANGLES, 90_000, c::UNSIGNED_INT, 40);
    scene.done("big vertex buffers")?;
    gl.buffer_data_size(c::ELEMENT_ARRAY_BUFFER, 16 << 20, c::STREAM_DRAW);
    gl.buffer_sub_data_u8_slice(c::ELEMENT_ARRAY_BUFFER, (16 << 20) - 512, &pattern(512));
    scene.texture(2048, 1024)?;
    scene.target(2048, 2048, true)?;
    gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 1000);
    scene.read(2000, 2000, 48, 48)?;
    scene.done("big targets")
}
