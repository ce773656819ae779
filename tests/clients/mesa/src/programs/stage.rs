// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Geometry shaders, layers of targets, and what else lies between vertex shader and rasteriser.

use crate::modern::{PASS, RGBA8, SHOW};
use crate::scene::{SIDE, Scene, Vertex};
use anyhow::Result;
use glow as c;

/// Return vertices of a ring.
fn ring(count: usize) -> Vec<Vertex> {
    (0..count)
        .map(|i| {
            let (sine, cosine) = (i as f32 * 0.7).sin_cos();
            [cosine * 0.8, sine * 0.8, 0.0, 1.0, cosine, sine, 0.5, 1.0]
        })
        .collect()
}

/// Return the body of a geometry shader that repeats its input `copies` times.
fn repeating(input: &str, vertices: usize, output: &str, copies: usize) -> String {
    let most = vertices * copies;
    let strip = match output {
        "points" => "",
        _ => "EndPrimitive();",
    };
    format!(
        "
layout({input}) in;
layout({output}, max_vertices = {most}) out;
in vec4 value[];
out vec4 shade;
void main() {{
    for (int copy = 0; copy < {copies}; copy++) {{
        for (int i = 0; i < {vertices}; i++) {{
            gl_Position = gl_in[i].gl_Position * (1.0 - 0.1 * float(copy));
            shade = value[i] + vec4(float(gl_PrimitiveIDIn) * 0.1);
            EmitVertex();
        }}
        {strip}
    }}
}}
"
    )
}

const SHADED: &str = "
in vec4 shade;
out vec4 colour;
void main() { colour = shade; }
";

/// Run geometry shaders with every kind of input and output, several sizes, indices, and one that sometimes emits
/// nothing.
pub fn geometry(scene: &Scene) -> Result<()> {
    const CUT: &str = "
layout(triangles) in;
layout(triangle_strip, max_vertices = 60) out;
in vec4 value[];
out vec4 shade;
uniform int count;
void main() {
    for (int i = 0; i < count; i++) {
        EndPrimitive();
        if (value[0].x > 0.0) {
            gl_Position = gl_in[i % 3].gl_Position;
            gl_PrimitiveID = i;
            shade = value[i % 3];
            EmitVertex();
        }
    }
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&ring(36))?;
    let kinds = [
        ("points", 1, &[c::POINTS][..]),
        ("lines", 2, &[c::LINES, c::LINE_STRIP, c::LINE_LOOP]),
        (
            "lines_adjacency",
            4,
            &[c::LINES_ADJACENCY, c::LINE_STRIP_ADJACENCY],
        ),
        (
            "triangles",
            3,
            &[c::TRIANGLES, c::TRIANGLE_STRIP, c::TRIANGLE_FAN],
        ),
        (
            "triangles_adjacency",
            6,
            &[c::TRIANGLES_ADJACENCY, c::TRIANGLE_STRIP_ADJACENCY],
        ),
    ];
    let outputs = ["points", "line_strip", "triangle_strip"];
    let order: Vec<u8> = (0..36).rev().collect();
    scene.buffer(c::ELEMENT_ARRAY_BUFFER, &order)?;
    for (i, (input, vertices, modes)) in kinds.into_iter().enumerate() {
        for (j, output) in outputs.into_iter().enumerate() {
            let body = repeating(input, vertices, output, 1 + 3 * ((i + j) % 3));
            let bodies = [
                (c::VERTEX_SHADER, PASS),
                (c::GEOMETRY_SHADER, &body),
                (c::FRAGMENT_SHADER, SHADED),
            ];
            scene.stages(&bodies, |_| ())?;
            for &mode in modes {
                gl.draw_arrays(mode, 0, 36);
                gl.draw_elements(mode, 24, c::UNSIGNED_BYTE, 4);
            }
            scene.check("a geometry shader")?;
        }
    }
    let bodies = [
        (c::VERTEX_SHADER, PASS),
        (c::GEOMETRY_SHADER, CUT),
        (c::FRAGMENT_SHADER, SHADED),
    ];
    let program = scene.stages(&bodies, |_| ())?;
    for count in [0, 1, 57] {
        scene.set(program, "count", count);
        gl.draw_arrays_instanced(c::TRIANGLES, 0, 9, 2);
    }
    // A draw without the stage, and one with it again: the rings come and go.
    scene.modern(PASS, SHOW)?;
    gl.draw_arrays(c::TRIANGLES, 0, 9);
    gl.use_program(Some(program));
    gl.draw_arrays(c::TRIANGLES, 0, 9);
    scene.read(0, 0, 16, 16)?;
    scene.done("geometry shaders")
}

/// Run geometry shaders with samplers and constants, and with a capture of what they emit.
pub fn geometry_feedback(scene: &Scene) -> Result<()> {
    const FETCHING: &str = "
layout(points) in;
layout(triangle_strip, max_vertices = 8) out;
layout(std140) uniform Block { vec4 offset[16]; };
uniform sampler2D image;
uniform float scale;
in vec4 value[];
out vec4 shade;
out vec2 place;
void main() {
    for (int i = 0; i < 4; i++) {
        vec4 texel = texelFetch(image, ivec2(i, gl_PrimitiveIDIn), 0);
        gl_Position = gl_in[0].gl_Position + offset[i] * scale + texel * 0.01;
        shade = value[0] + texel;
        place = gl_Position.xy;
        EmitVertex();
    }
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&ring(40))?;
    scene.filled(1, [8, 8], RGBA8)?;
    let bodies = [
        (c::VERTEX_SHADER, PASS),
        (c::GEOMETRY_SHADER, FETCHING),
        (c::FRAGMENT_SHADER, SHADED),
    ];
    let program = scene.stages(&bodies, |program| {
        let names = ["shade", "place", "gl_Position"];
        gl.transform_feedback_varyings(program, &names, c::INTERLEAVED_ATTRIBS);
    })?;
    let at = gl.get_uniform_location(program, "scale");
    gl.uniform_1_f32(at.as_ref(), 0.3);
    let block = scene.buffer(c::UNIFORM_BUFFER, &[0x3d; 256])?;
    gl.bind_buffer_base(c::UNIFORM_BUFFER, 0, Some(block));
    let target = scene.buffer(c::TRANSFORM_FEEDBACK_BUFFER, &[0; 16384])?;
    gl.bind_buffer_base(c::TRANSFORM_FEEDBACK_BUFFER, 0, Some(target));
    let kinds = [
        c::PRIMITIVES_GENERATED,
        c::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
    ];
    let mut queries = Vec::new();
    for kind in kinds {
        let query = scene.query()?;
        gl.begin_query(kind, query);
        queries.push(query);
    }
    gl.begin_transform_feedback(c::TRIANGLES);
    gl.draw_arrays(c::POINTS, 0, 40);
    gl.draw_arrays(c::POINTS, 4, 9);
    gl.end_transform_feedback();
    for kind in kinds {
        gl.end_query(kind);
    }
    for query in queries {
        gl.get_query_parameter_u32(query, c::QUERY_RESULT);
    }
    gl.draw_arrays(c::POINTS, 0, 40);
    scene.read(0, 0, 16, 16)?;
    scene.done("a geometry shader's capture")
}

/// Draw to layers of arrays, cubes and volumes as one target, clear them together, with depth.
pub fn layered(scene: &Scene) -> Result<()> {
    const LAYERS: &str = "
layout(triangles) in;
layout(triangle_strip, max_vertices = 18) out;
in vec4 value[];
out vec4 shade;
void main() {
    for (int layer = 0; layer < 6; layer++) {
        for (int i = 0; i < 3; i++) {
            gl_Layer = layer;
            gl_Position = gl_in[i].gl_Position;
            shade = value[i] * float(layer);
            EmitVertex();
        }
        EndPrimitive();
    }
}
";
    let gl = &scene.gl;
    scene.vertices(&ring(12))?;
    let bodies = [
        (c::VERTEX_SHADER, PASS),
        (c::GEOMETRY_SHADER, LAYERS),
        (c::FRAGMENT_SHADER, SHADED),
    ];
    scene.stages(&bodies, |_| ())?;
    gl.enable(c::DEPTH_TEST);
    gl.viewport(0, 0, 64, 64);
    for (target, levels) in [
        (c::TEXTURE_2D_ARRAY, 3),
        (c::TEXTURE_CUBE_MAP, 1),
        (c::TEXTURE_3D, 2),
    ] {
        let colour = scene.storage(target, levels, c::RGBA8, [64, 64, 6])?;
        for level in 0..levels {
            scene.framebuffer()?;
            let at = c::COLOR_ATTACHMENT0;
            gl.framebuffer_texture(c::FRAMEBUFFER, at, Some(colour), level);
            if target != c::TEXTURE_3D && level == 0 {
                let depth = scene.storage(target, 1, c::DEPTH24_STENCIL8, [64, 64, 6])?;
                let at = c::DEPTH_STENCIL_ATTACHMENT;
                gl.framebuffer_texture(c::FRAMEBUFFER, at, Some(depth), 0);
                gl.bind_texture(target, Some(colour));
            }
            scene.complete()?;
            gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
            gl.draw_arrays(c::TRIANGLES, 0, 12);
            scene.done("layers")?;
        }
        // One of the layers by itself.
        if target != c::TEXTURE_CUBE_MAP {
            scene.framebuffer()?;
            let at = c::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_layer(c::FRAMEBUFFER, at, Some(colour), levels - 1, 2);
            scene.complete()?;
            gl.draw_arrays(c::TRIANGLES, 0, 12);
            scene.read(0, 0, 8, 8)?;
        }
    }
    scene.done("layered targets")
}

/// Use clip distances, sizes of points, interpolation of every kind, the first vertex as the provoking one, clamped
/// depth.
pub fn between(scene: &Scene) -> Result<()> {
    const CLIPPED: &str = "
in vec4 position;
in vec4 extra;
flat out ivec4 whole;
noperspective out vec4 straight;
centroid out vec4 inner;
out vec4 value;
out float gl_ClipDistance[6];
void main() {
    gl_Position = position;
    gl_PointSize = 3.0 + extra.x * 8.0;
    whole = ivec4(extra * 10.0);
    straight = extra; inner = extra.wzyx; value = extra;
    for (int i = 0; i < 6; i++) gl_ClipDistance[i] = extra.x + float(i) * 0.1;
}
";
    const MIXED: &str = "
flat in ivec4 whole;
noperspective in vec4 straight;
centroid in vec4 inner;
in vec4 value;
in float gl_ClipDistance[6];
out vec4 colour;
void main() {
    colour = vec4(whole) * 0.1 + straight * inner + value + gl_ClipDistance[2];
    if (!gl_FrontFacing) colour *= 0.5;
    colour.xy += gl_PointCoord + gl_FragCoord.zw + float(gl_PrimitiveID);
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&ring(30))?;
    scene.modern(CLIPPED, MIXED)?;
    for enabled in 0..=6 {
        if enabled > 0 {
            gl.enable(c::CLIP_DISTANCE0 + enabled - 1);
        }
        gl.draw_arrays(c::TRIANGLES, 0, 30);
    }
    gl.enable(c::PROGRAM_POINT_SIZE);
    gl.draw_arrays(c::POINTS, 0, 30);
    gl.disable(c::PROGRAM_POINT_SIZE);
    scene.entries.provoke(crate::entries::FIRST_VERTEX);
    gl.enable(c::DEPTH_CLAMP);
    for mode in [c::LINE_STRIP, c::TRIANGLE_STRIP, c::TRIANGLE_FAN] {
        gl.draw_arrays(mode, 0, 30);
    }
    gl.enable(c::POLYGON_SMOOTH);
    gl.enable(c::LINE_SMOOTH);
    for mode in [c::LINE, c::POINT, c::FILL] {
        gl.polygon_mode(c::FRONT_AND_BACK, mode);
        gl.draw_arrays(c::TRIANGLES, 0, 30);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("between vertices and pixels")
}

/// Draw with sixteen viewports and scissors, chosen by a geometry shader.
pub fn viewports(scene: &Scene) -> Result<()> {
    const CHOOSING: &str = "#version 330
#extension GL_ARB_viewport_array : require
layout(triangles) in;
layout(triangle_strip, max_vertices = 12) out;
in vec4 value[];
out vec4 shade;
void main() {
    for (int copy = 0; copy < 4; copy++) {
        for (int i = 0; i < 3; i++) {
            gl_ViewportIndex = (gl_PrimitiveIDIn * 4 + copy) % 16;
            gl_Position = gl_in[i].gl_Position;
            shade = value[i];
            EmitVertex();
        }
        EndPrimitive();
    }
}
";
    let gl = &scene.gl;
    scene.need("GL_ARB_viewport_array")?;
    scene.usual(c::RGBA8)?;
    scene.vertices(&ring(12))?;
    let bodies = [
        (c::VERTEX_SHADER, PASS),
        (c::GEOMETRY_SHADER, CHOOSING),
        (c::FRAGMENT_SHADER, SHADED),
    ];
    scene.stages(&bodies, |_| ())?;
    let quarter = SIDE / 4;
    let (mut views, mut scissors) = (Vec::new(), Vec::new());
    for i in 0..16 {
        let (x, y) = (i % 4 * quarter, i / 4 * quarter);
        views.push([x as f32 + 0.5, y as f32, quarter as f32, 40.25]);
        scissors.push([x, y + i, quarter, quarter - i]);
    }
    gl.viewport_f32_slice(0, 16, &views);
    gl.draw_arrays(c::TRIANGLES, 0, 12);
    gl.scissor_slice(0, 16, &scissors);
    for i in 0..16 {
        gl.enable_draw_buffer(c::SCISSOR_TEST, i);
        gl.draw_arrays(c::TRIANGLES, 0, 12);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("viewports")
}
