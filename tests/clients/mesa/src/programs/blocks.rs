// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Where shaders find numbers: blocks of uniforms, and buffers as textures.

use crate::modern::{PASS, SHOW};
use crate::scene::{Scene, pattern};
use anyhow::{Context as _, Result, ensure};
use glow as c;

/// Use blocks in both stages, as many as there may be, whole buffers and ranges, and new content between draws.
pub fn uniform_blocks(scene: &Scene) -> Result<()> {
    const EACH: usize = 12;
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    let most = gl.get_parameter_i32(c::MAX_VERTEX_UNIFORM_BLOCKS);
    ensure!(most >= EACH as i32, "{most} blocks");
    let lines = |line: &dyn Fn(usize) -> String| (0..EACH).map(line).collect::<Vec<_>>().concat();
    let declare = |stage: &str| {
        lines(&|i| {
            format!(
                "layout(std140) uniform {stage}{i} {{ vec4 table{stage}{i}[64]; int at{stage}{i}; }};\n"
            )
        })
    };
    let sum =
        |stage: &str| lines(&|i| format!("sum += table{stage}{i}[(at{stage}{i} + {i}) & 63];\n"));
    let vertex = format!(
        "{}in vec4 position;\nin vec4 extra;\nout vec4 value;\nvoid main() {{\nvec4 sum = extra;\n{}\
         gl_Position = position; value = sum;\n}}\n",
        declare("v"),
        sum("v")
    );
    let fragment = format!(
        "{}in vec4 value;\nout vec4 colour;\nvoid main() {{\nvec4 sum = value;\n{}colour = sum;\n}}\n",
        declare("f"),
        sum("f")
    );
    let program = scene.modern(&vertex, &fragment)?;
    let align = gl.get_parameter_i32(c::UNIFORM_BUFFER_OFFSET_ALIGNMENT);
    let size = (65 * 16_u32).next_multiple_of(align as u32) as i32;
    let content = pattern(size * 2 * EACH as i32);
    let buffer = scene.buffer(c::UNIFORM_BUFFER, &content)?;
    let small = scene.buffer(c::UNIFORM_BUFFER, &content[..65 * 16])?;
    for (stage, base) in [("v", 0), ("f", EACH)] {
        for i in 0..EACH {
            let name = format!("{stage}{i}");
            let block = gl.get_uniform_block_index(program, &name).context(name)?;
            gl.uniform_block_binding(program, block, (base + i) as u32);
        }
    }
    let target = c::UNIFORM_BUFFER;
    for binding in 0..2 * EACH as i32 {
        let at = binding * size;
        gl.bind_buffer_range(target, binding as u32, Some(buffer), at, 65 * 16);
    }
    scene.strip("blocks")?;
    gl.bind_buffer_base(target, 3, Some(small));
    scene.strip("a whole buffer as block")?;
    for turn in 0..8 {
        gl.bind_buffer_range(target, 0, Some(buffer), turn * align, 65 * 16);
        gl.bind_buffer_range(target, 20, Some(buffer), (8 - turn) * align, 65 * 16);
        scene.strip("a block that moves")?;
    }
    // New content while the old is in use.
    gl.bind_buffer(target, Some(small));
    for turn in 0..3 {
        gl.buffer_sub_data_u8_slice(target, 16 * turn, &content[..256]);
        scene.strip("a block with new content")?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("uniform blocks")
}

/// Use constants in great number, indexed by what the vertices say.
pub fn constants(scene: &Scene) -> Result<()> {
    const TABLE: &str = "
uniform vec4 table[200];
uniform int first;
in vec4 position;
in vec4 extra;
out vec4 value;
void main() {
    gl_Position = position;
    value = table[(first + int(extra.x * 50.0)) % 200] + table[int(extra.y * 30.0)] * table[199];
}
";
    const SUM: &str = "
uniform vec4 tint[150];
in vec4 value;
out vec4 colour;
void main() {
    vec4 sum = value;
    for (int i = 0; i < int(value.x * 8.0); i++) sum += tint[i * 3 + int(value.y * 7.0)];
    colour = sum;
}
";
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    let program = scene.modern(TABLE, SUM)?;
    let values: Vec<f32> = (0..800).map(|i| i as f32 / 800.0).collect();
    let table = gl.get_uniform_location(program, "table");
    let tint = gl.get_uniform_location(program, "tint");
    gl.uniform_4_f32_slice(table.as_ref(), &values);
    for turn in 0..60 {
        scene.set(program, "first", turn * 3);
        gl.uniform_4_f32_slice(tint.as_ref(), &values[turn as usize * 4..][..600 - 240]);
        scene.strip("constants")?;
    }
    scene.modern(PASS, SHOW)?;
    scene.strip("no constants")?;
    scene.done("constants")
}

/// Use buffers as textures of many formats, in both stages, and their sizes.
pub fn texture_buffers(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    let content = pattern(64 << 10);
    let buffer = scene.buffer(c::TEXTURE_BUFFER, &content)?;
    let small = scene.buffer(c::TEXTURE_BUFFER, &content[..48])?;
    let texture = gl.create_texture().map_err(|e| anyhow::anyhow!(e))?;
    gl.bind_texture(c::TEXTURE_BUFFER, Some(texture));
    let formats: [(&str, &[u32]); 3] = [
        (
            "",
            &[
                c::R8,
                c::RG8,
                c::RGBA8,
                c::R16,
                c::RG16,
                c::RGBA16,
                c::R16F,
                c::RG16F,
                c::RGBA16F,
                c::R32F,
                c::RG32F,
                c::RGBA32F,
            ],
        ),
        (
            "i",
            &[c::R8I, c::RG16I, c::RGBA32I, c::R32I, c::RGBA8I, c::RG32I],
        ),
        (
            "u",
            &[c::R8UI, c::RG8UI, c::RGBA16UI, c::R32UI, c::RGBA32UI],
        ),
    ];
    for (prefix, formats) in formats {
        let vertex = format!(
            "uniform {prefix}samplerBuffer image;\nin vec4 position;\nin vec4 extra;\nout vec4 value;\n\
             void main() {{ gl_Position = position; value = extra + vec4(texelFetch(image, gl_VertexID)); }}\n"
        );
        let fragment = format!(
            "uniform {prefix}samplerBuffer other;\nin vec4 value;\nout vec4 colour;\nvoid main() {{\n\
             int size = textureSize(other);\ncolour = vec4(texelFetch(other, int(value.x * 100.0))) / float(size);\n}}\n"
        );
        let program = scene.modern(&vertex, &fragment)?;
        scene.set(program, "image", 0);
        scene.set(program, "other", 0);
        for &format in formats {
            for content in [buffer, small] {
                scene.entries.buffer_of_texture(format, Some(content));
                scene
                    .strip("a buffer as texture")
                    .map_err(|e| e.context(format!("{format:#x}")))?;
            }
        }
    }
    scene.entries.buffer_of_texture(c::R8, None);
    scene.read(0, 0, 16, 16)?;
    scene.done("texture buffers")
}
