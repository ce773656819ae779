// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Copies of every kind that OpenGL has: between targets, buffers, textures, and from and to the client.

use crate::gl::{PixelPackData, PixelUnpackData};
use crate::modern::{Format, PASS, RGBA8, SHOW};
use crate::scene::{SIDE, Scene, pattern};
use anyhow::{Result, ensure};
use glow as c;

/// Copy between targets: scaled, mirrored, in part, from format to format, within one texture's levels.
pub fn blits(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.whole()?;
    scene.modern(PASS, SHOW)?;
    let formats = [c::RGBA8, c::RGB565, c::RGB10_A2, c::SRGB8_ALPHA8, c::R8];
    for from_format in formats {
        for to_format in formats {
            let (from, first) = scene.usual(from_format)?;
            scene.strip("what is copied")?;
            let (to, second) = scene.usual(to_format)?;
            gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(from));
            gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(to));
            for ([x0, y0, x1, y1], filter) in [
                ([0, 0, SIDE, SIDE], c::NEAREST),
                ([0, 0, 100, 30], c::LINEAR),
                ([SIDE, 0, 0, SIDE], c::LINEAR),
                ([17, 200, 19, 3], c::NEAREST),
            ] {
                let mask = c::COLOR_BUFFER_BIT;
                gl.blit_framebuffer(0, 0, SIDE, SIDE, x0, y0, x1, y1, mask, filter);
            }
            scene.check("a copy between targets")?;
            gl.bind_framebuffer(c::FRAMEBUFFER, None);
            for framebuffer in [from, to] {
                gl.delete_framebuffer(framebuffer);
            }
            for texture in [first, second] {
                gl.delete_texture(texture);
            }
        }
        scene.done("copies between targets")?;
    }
    // Between integers, and between the levels of a texture.
    for internal in [c::RGBA8UI, c::R32I, c::RG16UI] {
        let texture = scene.storage(c::TEXTURE_2D, 4, internal, [64, 64, 1])?;
        let mut framebuffers = Vec::new();
        for level in 0..4 {
            framebuffers.push(scene.framebuffer()?);
            let at = c::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_2d(c::FRAMEBUFFER, at, c::TEXTURE_2D, Some(texture), level);
            scene.complete()?;
        }
        for level in 1..4 {
            gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(framebuffers[level - 1]));
            gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(framebuffers[level]));
            let side = 64 >> level;
            let mask = c::COLOR_BUFFER_BIT;
            gl.blit_framebuffer(0, 0, side, side, 0, 0, side, side, mask, c::NEAREST);
        }
        scene.done("copies of integers")?;
    }
    Ok(())
}

/// Copy buffers, map them in every way, throw them away and fill them anew, between draws that use them.
pub fn buffers(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.modern(PASS, SHOW)?;
    let content = pattern(128 << 10);
    scene.buffer(c::COPY_READ_BUFFER, &content)?;
    let to = scene.vertices(&[[0.25; 8]; 256])?;
    gl.bind_buffer(c::COPY_WRITE_BUFFER, Some(to));
    gl.draw_arrays(c::TRIANGLES, 0, 255);
    // Offsets and sizes that are and are not multiples of four.
    for (from_offset, to_offset, bytes) in [
        (0, 0, 4096),
        (64, 512, 1000),
        (4, 8, 4),
        (1, 3, 5),
        (3, 2000, 777),
    ] {
        let [from, to] = [c::COPY_READ_BUFFER, c::COPY_WRITE_BUFFER];
        gl.copy_buffer_sub_data(from, to, from_offset, to_offset, bytes);
        gl.draw_arrays(c::TRIANGLES, 0, 255);
        scene.check("a copy of a buffer")?;
    }
    // Within one buffer.
    let read = c::COPY_READ_BUFFER;
    gl.copy_buffer_sub_data(read, read, 0, 64 << 10, 4096);
    scene.done("copies of buffers")?;
    let target = c::ARRAY_BUFFER;
    let write = c::MAP_WRITE_BIT;
    for access in [
        write | c::MAP_INVALIDATE_BUFFER_BIT,
        write | c::MAP_INVALIDATE_RANGE_BIT,
        write | c::MAP_UNSYNCHRONIZED_BIT,
        write | c::MAP_FLUSH_EXPLICIT_BIT | c::MAP_INVALIDATE_RANGE_BIT,
        write,
    ] {
        gl.draw_arrays(c::TRIANGLES, 0, 255);
        ensure!(
            gl.write_mapped(target, 512, &content[..2048], access),
            "a buffer cannot be mapped ({access:#x})"
        );
        gl.draw_arrays(c::TRIANGLES, 0, 255);
        scene.check("a mapped buffer")?;
    }
    ensure!(
        gl.read_mapped(target, 100, 1000).is_some(),
        "a buffer cannot be read"
    );
    gl.buffer_data_u8_slice(target, &content[..8192], c::STREAM_DRAW);
    gl.draw_arrays(c::TRIANGLES, 0, 255);
    scene.done("mapped buffers")?;
    if !scene.is_es() {
        scene.need("GL_ARB_clear_buffer_object")?;
        let bytes = 64 << 10;
        scene.entries.clear_words(read, 256, bytes, 0xdead_beef);
        let mut some = vec![0; 512];
        gl.get_buffer_sub_data(read, 300, &mut some);
        scene.done("a cleared buffer")?;
    }
    Ok(())
}

/// Copy pixels from and to buffers, in several formats and with every alignment of rows.
pub fn pixel_buffers(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.whole()?;
    scene.modern(PASS, SHOW)?;
    let pack = scene.buffer(c::PIXEL_PACK_BUFFER, &[])?;
    gl.buffer_data_size(c::PIXEL_PACK_BUFFER, 512 << 10, c::STREAM_READ);
    for (offset, [x, y, width, height]) in [(0, [0, 0, SIDE, SIDE]), (1024, [3, 5, 33, 7])] {
        scene.strip("what is read")?;
        let data = PixelPackData::BufferOffset(offset);
        gl.read_pixels(x, y, width, height, c::RGBA, c::UNSIGNED_BYTE, data);
        ensure!(
            gl.read_mapped(c::PIXEL_PACK_BUFFER, offset as i32, 256)
                .is_some(),
            "what was read cannot be mapped"
        );
    }
    // What was read is the source of textures, through the same buffer.
    gl.bind_buffer(c::PIXEL_PACK_BUFFER, None);
    gl.bind_buffer(c::PIXEL_UNPACK_BUFFER, Some(pack));
    let formats = [
        RGBA8,
        Format::new(c::RGB8, c::RGB, c::UNSIGNED_BYTE, 3),
        Format::new(c::RG8, c::RG, c::UNSIGNED_BYTE, 2),
        Format::new(c::R32F, c::RED, c::FLOAT, 4),
        Format::new(c::RGBA16F, c::RGBA, c::HALF_FLOAT, 8),
        Format::new(c::RGBA8UI, c::RGBA_INTEGER, c::UNSIGNED_BYTE, 4),
    ];
    for format in formats {
        let texture = scene.storage(c::TEXTURE_2D, 1, format.internal, [90, 50, 1])?;
        for (align, row, offset) in [(1, 0, 0), (4, 100, 16), (8, 96, 1024)] {
            gl.pixel_store_i32(c::UNPACK_ALIGNMENT, align);
            gl.pixel_store_i32(c::UNPACK_ROW_LENGTH, row);
            let data = PixelUnpackData::BufferOffset(offset);
            let (components, kind) = (format.format, format.kind);
            gl.tex_sub_image_2d(c::TEXTURE_2D, 0, 2, 3, 80, 40, components, kind, data);
            scene.check("pixels of a buffer")?;
        }
        gl.delete_texture(texture);
        scene.done("pixels of buffers")?;
    }
    Ok(())
}

/// Copy regions of one texture into another of another kind. Clear textures and read them back. This needs desktop
/// OpenGL.
pub fn images(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.need("GL_ARB_copy_image")?;
    scene.usual(c::RGBA8)?;
    let plane = scene.filled(5, [64, 64], RGBA8)?;
    let array = scene.storage(c::TEXTURE_2D_ARRAY, 3, c::RGBA8, [64, 64, 4])?;
    let cube = scene.storage(c::TEXTURE_CUBE_MAP, 2, c::RGBA8, [64, 64, 1])?;
    let volume = scene.storage(c::TEXTURE_3D, 2, c::RGBA8, [64, 64, 8])?;
    let numbers = scene.storage(c::TEXTURE_2D, 1, c::R32UI, [64, 64, 1])?;
    let [flat, layers, faces, deep] = [
        c::TEXTURE_2D,
        c::TEXTURE_2D_ARRAY,
        c::TEXTURE_CUBE_MAP,
        c::TEXTURE_3D,
    ];
    gl.copy_image_sub_data(
        plane, flat, 0, 0, 0, 0, array, layers, 0, 0, 0, 2, 64, 64, 1,
    );
    gl.copy_image_sub_data(
        plane, flat, 1, 3, 5, 0, array, layers, 1, 7, 1, 3, 20, 17, 1,
    );
    gl.copy_image_sub_data(
        array, layers, 0, 0, 0, 0, volume, deep, 0, 0, 0, 1, 64, 64, 4,
    );
    gl.copy_image_sub_data(volume, deep, 0, 8, 8, 0, cube, faces, 0, 0, 0, 0, 40, 30, 6);
    gl.copy_image_sub_data(
        plane, flat, 0, 0, 0, 0, numbers, flat, 0, 0, 0, 0, 64, 64, 1,
    );
    scene.done("copies of regions")?;
    scene.need("GL_ARB_clear_texture")?;
    for (texture, level) in [(plane, 0), (plane, 4), (array, 1), (volume, 0), (cube, 1)] {
        scene.entries.clear_level(texture, level, [1, 2, 3, 4]);
    }
    scene.done("cleared textures")?;
    for (target, texture, pixels) in [
        (flat, plane, 64 * 64),
        (layers, array, 64 * 64 * 4),
        (deep, volume, 64 * 64 * 8),
    ] {
        gl.bind_texture(target, Some(texture));
        let mut data = vec![0; 4 * pixels];
        let data = PixelPackData::Slice(Some(&mut data));
        gl.get_tex_image(target, 0, c::RGBA, c::UNSIGNED_BYTE, data);
    }
    scene.done("textures read back")
}
