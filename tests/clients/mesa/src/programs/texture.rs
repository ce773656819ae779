// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Textures: mipmaps, cube maps, formats, uploads of parts, copies from the target.

use crate::gl::{CompressedPixelUnpackData, PixelUnpackData};
use crate::scene::{PLAIN, SIDE, Scene, TEXTURED, VERTEX, pattern};
use anyhow::{Result, anyhow};
use glow as c;

/// Sample a square texture with mipmaps under every filter and wrap mode, and one whose sides are no powers of two.
pub fn mipmaps(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, TEXTURED)?;
    scene.rectangle([-0.9, -0.9], [0.9, 0.9], 3.0)?;
    scene.texture(128, 128)?;
    gl.generate_mipmap(c::TEXTURE_2D);
    scene.check("glGenerateMipmap")?;
    for minify in [
        c::NEAREST,
        c::LINEAR,
        c::NEAREST_MIPMAP_NEAREST,
        c::LINEAR_MIPMAP_NEAREST,
        c::NEAREST_MIPMAP_LINEAR,
        c::LINEAR_MIPMAP_LINEAR,
    ] {
        for wrap in [c::REPEAT, c::CLAMP_TO_EDGE, c::MIRRORED_REPEAT] {
            scene.sampling(c::TEXTURE_2D, minify, c::LINEAR, wrap);
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        }
    }
    if scene.has("GL_EXT_texture_filter_anisotropic") {
        gl.tex_parameter_f32(c::TEXTURE_2D, c::TEXTURE_MAX_ANISOTROPY_EXT, 8.0);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    // Mesa writes a small image directly if the GPU is done with what it needs for that, else by a copy;
    // waiting makes it the same in every run.
    for [width, height] in [[100, 37], [1, 1], [7, 256], [513, 3]] {
        scene.done("what was before")?;
        scene.texture(width, height)?;
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    // Levels given one by one, smaller than the pattern's tiles.
    let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
    gl.bind_texture(c::TEXTURE_2D, Some(texture));
    scene.sampling(c::TEXTURE_2D, c::LINEAR_MIPMAP_LINEAR, c::LINEAR, c::REPEAT);
    for level in 0..=6 {
        let side = 64 >> level;
        let pixels = pattern(side * side * 4);
        let size = [side, side];
        scene.image(
            c::TEXTURE_2D,
            level,
            size,
            c::RGBA,
            c::UNSIGNED_BYTE,
            Some(&pixels),
        );
        scene.done("a level")?;
    }
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.read(0, 0, 16, 16)?;
    scene.done("mipmaps")
}

const FACES: [u32; 6] = [
    c::TEXTURE_CUBE_MAP_POSITIVE_X,
    c::TEXTURE_CUBE_MAP_NEGATIVE_X,
    c::TEXTURE_CUBE_MAP_POSITIVE_Y,
    c::TEXTURE_CUBE_MAP_NEGATIVE_Y,
    c::TEXTURE_CUBE_MAP_POSITIVE_Z,
    c::TEXTURE_CUBE_MAP_NEGATIVE_Z,
];

/// Sample cube maps with and without mipmaps, and draw to a face as a target.
pub fn cube_map(scene: &Scene) -> Result<()> {
    const CUBE: &str = "
precision mediump float;
uniform samplerCube image;
varying vec4 value;
void main() { gl_FragColor = textureCube(image, vec3(value.xy - 0.5, 0.3)); }
";
    let gl = &scene.gl;
    let (framebuffer, _) = scene.usual_target(false)?;
    scene.program(VERTEX, CUBE)?;
    scene.whole()?;
    let cube = |side: i32| {
        let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
        gl.bind_texture(c::TEXTURE_CUBE_MAP, Some(texture));
        scene.sampling(c::TEXTURE_CUBE_MAP, c::LINEAR, c::LINEAR, c::CLAMP_TO_EDGE);
        let pixels = pattern(side * side * 4);
        for face in FACES {
            scene.image(
                face,
                0,
                [side, side],
                c::RGBA,
                c::UNSIGNED_BYTE,
                Some(&pixels),
            );
        }
        anyhow::Ok(texture)
    };
    for side in [1, 16, 64] {
        cube(side)?;
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    gl.generate_mipmap(c::TEXTURE_CUBE_MAP);
    let mipmapped = c::LINEAR_MIPMAP_LINEAR;
    scene.sampling(c::TEXTURE_CUBE_MAP, mipmapped, c::LINEAR, c::CLAMP_TO_EDGE);
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.done("a cube map")?;

    let target = cube(32)?;
    let faces = gl.create_framebuffer().map_err(|e| anyhow!(e))?;
    gl.bind_framebuffer(c::FRAMEBUFFER, Some(faces));
    gl.viewport(0, 0, 32, 32);
    scene.program(VERTEX, PLAIN)?;
    for face in FACES {
        let attachment = c::COLOR_ATTACHMENT0;
        gl.framebuffer_texture_2d(c::FRAMEBUFFER, attachment, face, Some(target), 0);
        scene.complete()?;
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
    gl.viewport(0, 0, SIDE, SIDE);
    scene.program(VERTEX, CUBE)?;
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.read(0, 0, 16, 16)?;
    scene.done("drawing to a cube map")
}

/// Upload every uncompressed format of OpenGL ES 2, whole images and parts, with odd widths and alignments.
pub fn upload(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, TEXTURED)?;
    scene.whole()?;
    scene.need("GL_EXT_texture_format_BGRA8888")?;
    let formats = [
        (c::RGBA, c::UNSIGNED_BYTE, 4),
        (c::RGB, c::UNSIGNED_BYTE, 3),
        (c::BGRA, c::UNSIGNED_BYTE, 4),
        (c::RGBA, c::UNSIGNED_SHORT_4_4_4_4, 2),
        (c::RGBA, c::UNSIGNED_SHORT_5_5_5_1, 2),
        (c::RGB, c::UNSIGNED_SHORT_5_6_5, 2),
        (c::LUMINANCE, c::UNSIGNED_BYTE, 1),
        (c::ALPHA, c::UNSIGNED_BYTE, 1),
        (c::LUMINANCE_ALPHA, c::UNSIGNED_BYTE, 2),
    ];
    gl.pixel_store_i32(c::UNPACK_ALIGNMENT, 1);
    for (format, kind, bytes) in formats {
        for [width, height] in [[64, 64], [61, 29]] {
            let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
            gl.bind_texture(c::TEXTURE_2D, Some(texture));
            scene.sampling(c::TEXTURE_2D, c::LINEAR, c::NEAREST, c::CLAMP_TO_EDGE);
            let pixels = pattern(width * height * bytes);
            let size = [width, height];
            scene.image(c::TEXTURE_2D, 0, size, format, kind, Some(&pixels));
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
            // The GPU is still at it when a part is replaced.
            let part = pattern(13 * 7 * bytes);
            let part = PixelUnpackData::Slice(Some(&part));
            gl.tex_sub_image_2d(c::TEXTURE_2D, 0, 5, 11, 13, 7, format, kind, part);
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        }
        scene.check("a format")?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("uploads")
}

/// Sample compressed formats that the chip samples as they are.
pub fn compressed(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, TEXTURED)?;
    scene.whole()?;
    scene.need("GL_EXT_texture_storage")?;
    scene.need("GL_EXT_texture_compression_dxt1")?;
    let mut formats = vec![
        (c::COMPRESSED_RGB_S3TC_DXT1_EXT, 8),
        (c::COMPRESSED_RGBA_S3TC_DXT1_EXT, 8),
    ];
    scene.need("GL_EXT_texture_compression_s3tc")?;
    formats.extend([
        (c::COMPRESSED_RGBA_S3TC_DXT3_EXT, 16),
        (c::COMPRESSED_RGBA_S3TC_DXT5_EXT, 16),
    ]);
    if scene.has("GL_EXT_texture_compression_rgtc") {
        formats.push((c::COMPRESSED_RED_RGTC1, 8));
        formats.push((c::COMPRESSED_RG_RGTC2, 16));
    }
    for (format, block) in formats {
        let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
        gl.bind_texture(c::TEXTURE_2D, Some(texture));
        scene.sampling(c::TEXTURE_2D, c::LINEAR_MIPMAP_LINEAR, c::LINEAR, c::REPEAT);
        gl.tex_storage_2d(c::TEXTURE_2D, 7, format, 64, 64);
        // For the same reason as in `Scene::image`.
        gl.finish();
        for level in 0..=6 {
            let side = 64 >> level;
            let blocks = (side + 3) / 4;
            let data = pattern(blocks * blocks * block);
            let data = CompressedPixelUnpackData::Slice(&data);
            let target = c::TEXTURE_2D;
            gl.compressed_tex_sub_image_2d(target, level, 0, 0, side, side, format, data);
        }
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.check("a compressed format")?;
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("compressed textures")
}

/// Copy from the target into textures, and sample what was copied.
pub fn copies(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, TEXTURED)?;
    scene.whole()?;
    let texture = scene.texture(64, 64)?;
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    gl.copy_tex_sub_image_2d(c::TEXTURE_2D, 0, 3, 5, 100, 50, 40, 30);
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    for format in [c::RGBA, c::RGB] {
        gl.copy_tex_image_2d(c::TEXTURE_2D, 0, format, 10, 10, 128, 64, 0);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    }
    scene.read(0, 0, 16, 16)?;
    gl.delete_texture(texture);
    scene.done("copies")
}

/// Sample sixteen textures in one draw.
pub fn units(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    let count = gl.get_parameter_i32(c::MAX_TEXTURE_IMAGE_UNITS).min(16);
    let mut source = String::from("precision mediump float;\nvarying vec4 value;\n");
    for unit in 0..count {
        source += &format!("uniform sampler2D image{unit};\n");
    }
    source += "void main() {\nvec4 sum = vec4(0.0);\n";
    for unit in 0..count {
        source += &format!("sum += texture2D(image{unit}, value.xy * {unit}.5);\n");
    }
    source += "gl_FragColor = sum;\n}\n";
    let program = scene.program(VERTEX, &source)?;
    scene.whole()?;
    for unit in 0..count {
        gl.active_texture(c::TEXTURE0 + unit as u32);
        scene.texture(8 << (unit % 4), 16)?;
        let at = gl.get_uniform_location(program, &format!("image{unit}"));
        gl.uniform_1_i32(at.as_ref(), unit);
    }
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.read(0, 0, 16, 16)?;
    scene.done("many textures")
}
