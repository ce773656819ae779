// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Draws that read vertices in other ways: instances, integers, many streams, restarted strips, offsets of indices.

use crate::gl::Program;
use crate::modern::{PASS, SHOW};
use crate::scene::{Scene, Vertex, pattern};
use anyhow::Result;
use glow as c;
use zerocopy::IntoBytes;

/// Return vertices of a spiral.
fn spiral(count: usize) -> Vec<Vertex> {
    (0..count)
        .map(|i| {
            let part = i as f32 / count as f32;
            let (sine, cosine) = (part * 20.0).sin_cos();
            [
                cosine * part,
                sine * part,
                part,
                1.0,
                part,
                1.0 - part,
                0.5,
                1.0,
            ]
        })
        .collect()
}

/// Draw instances with attributes that advance once per vertex, per instance and per several, with indices and without.
pub fn instances(scene: &Scene) -> Result<()> {
    const MOVED: &str = "
in vec4 position;
in vec4 extra;
in vec4 offset;
in vec4 tint;
out vec4 value;
void main() {
    gl_Position = position * 0.1 + offset;
    value = extra * tint + vec4(float(gl_InstanceID) * 0.01);
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&spiral(30))?;
    let bodies = [(c::VERTEX_SHADER, MOVED), (c::FRAGMENT_SHADER, SHOW)];
    scene.stages(&bodies, |program: Program| {
        gl.bind_attrib_location(program, 2, "offset");
        gl.bind_attrib_location(program, 3, "tint");
    })?;
    scene.buffer(c::ARRAY_BUFFER, spiral(100).as_bytes())?;
    for (attribute, divisor) in [(2, 1), (3, 3)] {
        let offset = 16 * (attribute as i32 - 2);
        gl.enable_vertex_attrib_array(attribute);
        gl.vertex_attrib_pointer_f32(attribute, 4, c::FLOAT, false, 32, offset);
        gl.vertex_attrib_divisor(attribute, divisor);
    }
    let order: Vec<u16> = (0..30).rev().collect();
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, order.as_bytes())?;
    for count in [1, 2, 7, 100] {
        gl.draw_arrays_instanced(c::TRIANGLES, 0, 30, count);
        gl.draw_arrays_instanced(c::TRIANGLE_STRIP, 3, 20, count);
        gl.draw_elements_instanced(c::TRIANGLES, 27, c::UNSIGNED_SHORT, 6, count);
        scene.check("instances")?;
    }
    gl.vertex_attrib_divisor(2, 0);
    gl.draw_arrays_instanced(c::POINTS, 0, 30, 9);
    scene.read(0, 0, 16, 16)?;
    scene.done("instances")
}

/// Draw with attributes of sixteen streams, each a buffer of its own. They are integers, packed and half floats,
/// normalised and not.
pub fn attributes(scene: &Scene) -> Result<()> {
    const WHOLE: &str = "
in vec4 position;
in ivec4 extra;
in uvec4 more;
in vec4 dense;
out vec4 value;
void main() {
    gl_Position = position + dense * 0.01;
    value = vec4(extra & ivec4(0xff)) / 255.0 + vec4(more >> 24u) * 0.1;
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&spiral(64))?;
    let bodies = [(c::VERTEX_SHADER, WHOLE), (c::FRAGMENT_SHADER, SHOW)];
    scene.stages(&bodies, |program| {
        gl.bind_attrib_location(program, 2, "more");
        gl.bind_attrib_location(program, 3, "dense");
    })?;
    scene.buffer(c::ARRAY_BUFFER, &pattern(8192))?;
    for attribute in 2..4 {
        gl.enable_vertex_attrib_array(attribute);
    }
    let integers = [
        (c::BYTE, c::UNSIGNED_BYTE, 1),
        (c::SHORT, c::UNSIGNED_SHORT, 2),
        (c::INT, c::UNSIGNED_INT, 4),
    ];
    let floats = [
        (c::INT_2_10_10_10_REV, 4, true),
        (c::UNSIGNED_INT_2_10_10_10_REV, 4, false),
        (c::HALF_FLOAT, 4, false),
        (c::HALF_FLOAT, 3, false),
        (c::HALF_FLOAT, 1, false),
        (c::INT, 3, true),
        (c::UNSIGNED_INT, 2, false),
    ];
    for (i, (kind, size, normalised)) in floats.into_iter().enumerate() {
        let (signed, unsigned, bytes) = integers[i % 3];
        for components in 1..=4 {
            let stride = (components * bytes + 3) & !3;
            gl.vertex_attrib_pointer_i32(1, components, signed, stride, 32);
            gl.vertex_attrib_pointer_i32(2, components, unsigned, stride + 4, 64);
            gl.vertex_attrib_pointer_f32(3, size, kind, normalised, 16, 128);
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 60);
        }
        scene.check("types of attributes")?;
    }
    for attribute in 1..4 {
        gl.disable_vertex_attrib_array(attribute);
    }

    let mut body = String::from("out vec4 value;\n");
    for i in 0..16 {
        body += &format!("in vec4 a{i};\n");
    }
    body += "void main() {\nvec4 sum = vec4(0.0);\n";
    for i in 1..16 {
        body += &format!("sum += a{i};\n");
    }
    body += "gl_Position = a0; value = sum;\n}\n";
    let bodies = [(c::VERTEX_SHADER, &*body), (c::FRAGMENT_SHADER, SHOW)];
    scene.stages(&bodies, |program| {
        for i in 0..16 {
            gl.bind_attrib_location(program, i, &format!("a{i}"));
        }
    })?;
    let content = pattern(4096);
    for attribute in 0..16 {
        let bytes = 1024 + 64 * attribute as usize;
        scene.buffer(c::ARRAY_BUFFER, &content[..bytes])?;
        gl.enable_vertex_attrib_array(attribute);
        let offset = 4 * attribute as i32;
        gl.vertex_attrib_pointer_f32(attribute, 4, c::UNSIGNED_BYTE, true, 12, offset);
    }
    gl.draw_arrays(c::TRIANGLES, 0, 60);
    gl.draw_arrays_instanced(c::LINES, 10, 40, 3);
    scene.read(0, 0, 16, 16)?;
    scene.done("attributes of many streams")
}

/// Draw strips that an index restarts, in each size of index.
pub fn restarts(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&spiral(100))?;
    scene.modern(PASS, SHOW)?;
    gl.enable(c::PRIMITIVE_RESTART_FIXED_INDEX);
    let restarted = |i: u32, mark: u32| if i % 9 == 8 { mark } else { i };
    let small: Vec<u8> = (0..90).map(|i| restarted(i, 0xff) as u8).collect();
    let medium: Vec<u16> = (0..90).map(|i| restarted(i, 0xffff) as u16).collect();
    let large: Vec<u32> = (0..90).map(|i| restarted(i, u32::MAX)).collect();
    let sizes = [
        (c::UNSIGNED_BYTE, small.as_bytes(), 1),
        (c::UNSIGNED_SHORT, medium.as_bytes(), 2),
        (c::UNSIGNED_INT, large.as_bytes(), 4),
    ];
    for (kind, bytes, size) in sizes {
        scene.buffer(c::ELEMENT_ARRAY_BUFFER, bytes)?;
        for mode in [
            c::TRIANGLE_STRIP,
            c::LINE_STRIP,
            c::TRIANGLE_FAN,
            c::LINE_LOOP,
        ] {
            for offset in [0, 3 * size] {
                gl.draw_elements(mode, 80, kind, offset);
                gl.draw_elements_instanced(mode, 31, kind, offset, 3);
            }
        }
        scene.check("restarted strips")?;
    }
    if !scene.is_es() {
        gl.disable(c::PRIMITIVE_RESTART_FIXED_INDEX);
        gl.enable(c::PRIMITIVE_RESTART);
        for index in [0, 17, 40] {
            scene.entries.restart_index(index);
            gl.draw_elements(c::TRIANGLE_STRIP, 80, c::UNSIGNED_INT, 0);
        }
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("restarted strips")
}

/// Add offsets to indices, draw several ranges in one call, and use the number of a vertex in the shader.
pub fn offsets(scene: &Scene) -> Result<()> {
    const NUMBERED: &str = "
in vec4 position;
in vec4 extra;
out vec4 value;
void main() { gl_Position = position; value = extra + vec4(float(gl_VertexID), float(gl_InstanceID), 0, 0); }
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&spiral(200))?;
    scene.modern(NUMBERED, SHOW)?;
    let order: Vec<u16> = (0..60).collect();
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, order.as_bytes())?;
    for base in [0, 1, 50, 139] {
        gl.draw_elements_base_vertex(c::TRIANGLES, 60, c::UNSIGNED_SHORT, 0, base);
    }
    gl.draw_elements_base_vertex(c::TRIANGLES, 30, c::UNSIGNED_SHORT, 60, -20);
    scene
        .entries
        .draw_ranges(c::TRIANGLE_STRIP, &[(0, 10), (20, 30), (100, 5), (190, 10)]);
    gl.draw_arrays_instanced(c::TRIANGLES, 60, 60, 4);
    scene.read(0, 0, 16, 16)?;
    scene.done("offsets of indices")
}
