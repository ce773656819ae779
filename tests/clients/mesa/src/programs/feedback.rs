// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Transform feedback: what vertex and geometry shaders return is written to buffers, and drawn from there.

use crate::gl::{Buffer, Query};
use crate::modern::SHOW;
use crate::scene::{Scene, Vertex};
use anyhow::{Result, anyhow, ensure};
use glow as c;

const CAPTURED: &str = "
in vec4 position;
in vec4 extra;
out vec4 value;
out vec2 pair;
out float single;
void main() {
    gl_Position = position;
    value = extra + vec4(float(gl_VertexID));
    pair = position.xy;
    single = extra.w;
}
";

/// Return twelve vertices on a line.
fn vertices() -> Vec<Vertex> {
    (0..12)
        .map(|i| {
            let x = i as f32 / 6.0 - 1.0;
            let y = if i % 2 == 0 { -0.5 } else { 0.5 };
            [x, y, 0.0, 1.0, 0.5, x, 0.25, 1.0]
        })
        .collect()
}

/// Return an empty buffer for captured values.
fn space(scene: &Scene, bytes: i32) -> Result<Buffer> {
    let buffer = scene.buffer(c::TRANSFORM_FEEDBACK_BUFFER, &[])?;
    scene
        .gl
        .buffer_data_size(c::TRANSFORM_FEEDBACK_BUFFER, bytes, c::STREAM_COPY);
    Ok(buffer)
}

/// Run `draws` between the beginning and the end of a capture, and a query about it.
fn capture(scene: &Scene, mode: u32, kind: u32, draws: impl FnOnce()) -> Result<Query> {
    let query = scene.query()?;
    scene.gl.begin_query(kind, query);
    scene.gl.begin_transform_feedback(mode);
    draws();
    scene.gl.end_transform_feedback();
    scene.gl.end_query(kind);
    scene.check("a capture")?;
    Ok(query)
}

fn answered(scene: &Scene, query: Query) -> Result<()> {
    let gl = &scene.gl;
    gl.get_query_parameter_u32(query, c::QUERY_RESULT);
    let ready = gl.get_query_parameter_u32(query, c::QUERY_RESULT_AVAILABLE);
    ensure!(ready == 1, "a query that was waited for is not ready");
    gl.delete_query(query);
    Ok(())
}

/// Capture into interleaved and separate buffers, whole and in part, with every kind of primitive, and draw from what
/// was written.
pub fn buffers(scene: &Scene) -> Result<()> {
    const WRITTEN: u32 = c::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN;
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    let source = scene.vertices(&vertices())?;
    let bodies = [(c::VERTEX_SHADER, CAPTURED), (c::FRAGMENT_SHADER, SHOW)];
    let names = ["value", "pair", "single"];
    let together = scene.stages(&bodies, |program| {
        gl.transform_feedback_varyings(program, &names, c::INTERLEAVED_ATTRIBS);
    })?;
    let apart = scene.stages(&bodies, |program| {
        gl.transform_feedback_varyings(program, &names, c::SEPARATE_ATTRIBS);
    })?;
    let plain = scene.modern(crate::modern::PASS, SHOW)?;

    gl.use_program(Some(together));
    let target = space(scene, 4096)?;
    gl.bind_buffer_base(c::TRANSFORM_FEEDBACK_BUFFER, 0, Some(target));
    let mut queries = Vec::new();
    for (mode, kind) in [
        (c::POINTS, c::POINTS),
        (c::LINES, c::LINES),
        (c::TRIANGLES, c::TRIANGLES),
        (c::LINE_STRIP, c::LINES),
        (c::TRIANGLE_STRIP, c::TRIANGLES),
    ] {
        // OpenGL ES wants the mode of the draw to be that of the capture; strips are desktop's.
        if mode == kind || !scene.is_es() {
            queries.push(capture(scene, kind, WRITTEN, || {
                gl.draw_arrays(mode, 0, 12);
            })?);
        }
    }
    gl.enable(c::RASTERIZER_DISCARD);
    queries.push(capture(scene, c::TRIANGLES, WRITTEN, || {
        gl.draw_arrays(c::TRIANGLES, 0, 6);
        gl.draw_arrays(c::TRIANGLES, 3, 9);
        gl.draw_arrays_instanced(c::TRIANGLES, 0, 3, 3);
    })?);
    gl.disable(c::RASTERIZER_DISCARD);
    for query in queries {
        answered(scene, query)?;
    }
    ensure!(
        gl.read_mapped(c::TRANSFORM_FEEDBACK_BUFFER, 0, 256)
            .is_some(),
        "what was written cannot be mapped"
    );

    // Three buffers, two of them the same one at different offsets.
    gl.use_program(Some(apart));
    let other = space(scene, 8192)?;
    gl.bind_buffer_range(c::TRANSFORM_FEEDBACK_BUFFER, 0, Some(target), 256, 1024);
    gl.bind_buffer_range(c::TRANSFORM_FEEDBACK_BUFFER, 1, Some(other), 0, 512);
    gl.bind_buffer_range(c::TRANSFORM_FEEDBACK_BUFFER, 2, Some(other), 1024, 4096);
    let query = capture(scene, c::POINTS, WRITTEN, || {
        gl.draw_arrays(c::POINTS, 0, 12);
    })?;
    answered(scene, query)?;
    for index in 0..3 {
        gl.bind_buffer_base(c::TRANSFORM_FEEDBACK_BUFFER, index, None);
    }

    // The first buffer as vertices: values as positions, at a stride of seven floats.
    gl.use_program(Some(plain));
    gl.bind_buffer(c::ARRAY_BUFFER, Some(target));
    for attribute in 0..2 {
        gl.vertex_attrib_pointer_f32(attribute, 4, c::FLOAT, false, 28, 0);
    }
    gl.draw_arrays(c::TRIANGLES, 0, 12);
    gl.delete_buffer(source);
    scene.read(0, 0, 16, 16)?;
    scene.done("captured vertices")
}

/// Capture with pauses, with other draws and a submission in between, and with two objects in turn.
pub fn paused(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&vertices())?;
    let bodies = [(c::VERTEX_SHADER, CAPTURED), (c::FRAGMENT_SHADER, SHOW)];
    let captured = scene.stages(&bodies, |program| {
        gl.transform_feedback_varyings(program, &["value", "single"], c::INTERLEAVED_ATTRIBS);
    })?;
    let plain = scene.modern(crate::modern::PASS, SHOW)?;
    gl.use_program(Some(captured));
    let mut objects = Vec::new();
    for _ in 0..2 {
        let object = gl.create_transform_feedback().map_err(|e| anyhow!(e))?;
        gl.bind_transform_feedback(c::TRANSFORM_FEEDBACK, Some(object));
        let buffer = space(scene, 2048)?;
        gl.bind_buffer_base(c::TRANSFORM_FEEDBACK_BUFFER, 0, Some(buffer));
        gl.begin_transform_feedback(c::TRIANGLES);
        gl.draw_arrays(c::TRIANGLES, 0, 6);
        gl.pause_transform_feedback();
        objects.push(object);
    }
    scene.check("captures that pause")?;
    gl.use_program(Some(plain));
    gl.draw_arrays(c::TRIANGLES, 0, 12);
    gl.flush();
    gl.use_program(Some(captured));
    for &object in &objects {
        gl.bind_transform_feedback(c::TRANSFORM_FEEDBACK, Some(object));
        gl.resume_transform_feedback();
        gl.draw_arrays(c::TRIANGLES, 3, 6);
        gl.flush();
        gl.draw_arrays(c::TRIANGLES, 0, 3);
        gl.end_transform_feedback();
    }
    scene.check("captures that go on")?;
    if !scene.is_es() {
        // As many vertices as were written, which only the chip knows.
        gl.bind_transform_feedback(c::TRANSFORM_FEEDBACK, None);
        gl.use_program(Some(plain));
        for &object in &objects {
            scene.entries.draw_feedback(c::TRIANGLES, object, None);
        }
        scene.need("GL_ARB_transform_feedback3")?;
        scene.entries.draw_feedback(c::LINES, objects[0], Some(0));
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("paused captures")
}

/// Capture into buffers that are too small, and count what is written and what would have been. Use four buffers at
/// once, with gaps.
pub fn overflow(scene: &Scene) -> Result<()> {
    const FOUR: &str = "
in vec4 position;
in vec4 extra;
out vec4 value;
out vec4 a;
out vec3 b;
out float d;
void main() {
    gl_Position = position;
    value = extra; a = position; b = extra.zyx; d = float(gl_InstanceID);
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.vertices(&vertices())?;
    scene.need("GL_ARB_transform_feedback3")?;
    let bodies = [(c::VERTEX_SHADER, FOUR), (c::FRAGMENT_SHADER, SHOW)];
    let next = "gl_NextBuffer";
    let names = [
        "a",
        "gl_SkipComponents2",
        "d",
        next,
        "b",
        next,
        "gl_SkipComponents4",
        next,
        "value",
    ];
    scene.stages(&bodies, |program| {
        gl.transform_feedback_varyings(program, &names, c::INTERLEAVED_ATTRIBS);
    })?;
    for (index, bytes) in [(0, 4096), (1, 256), (2, 64), (3, 1024)] {
        let buffer = space(scene, bytes)?;
        gl.bind_buffer_base(c::TRANSFORM_FEEDBACK_BUFFER, index, Some(buffer));
    }
    for mode in [c::POINTS, c::LINES, c::TRIANGLES] {
        let generated = scene.query()?;
        gl.begin_query(c::PRIMITIVES_GENERATED, generated);
        let written = capture(
            scene,
            mode,
            c::TRANSFORM_FEEDBACK_PRIMITIVES_WRITTEN,
            || {
                gl.draw_arrays_instanced(mode, 0, 12, 5);
            },
        )?;
        gl.end_query(c::PRIMITIVES_GENERATED);
        answered(scene, generated)?;
        answered(scene, written)?;
    }
    // Primitives are counted without a capture, too.
    let generated = scene.query()?;
    gl.begin_query(c::PRIMITIVES_GENERATED, generated);
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 12);
    gl.end_query(c::PRIMITIVES_GENERATED);
    answered(scene, generated)?;
    scene.done("captures that overflow")
}
