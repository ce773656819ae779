// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Targets with 2, 4 and 8 samples: drawn to, resolved, copied, and sampled one by one.

use crate::modern::{PASS, SHOW};
use crate::scene::{SIDE, Scene};
use anyhow::{Result, anyhow, ensure};
use glow as c;

const SAMPLES: [i32; 3] = [2, 4, 8];

/// Fail if the driver has fewer samples than these chips.
fn need_samples(scene: &Scene) -> Result<()> {
    let most = scene.gl.get_parameter_i32(c::MAX_SAMPLES);
    ensure!(most >= 8, "{most} samples at most");
    Ok(())
}

/// Draw to renderbuffers of each number of samples and many formats, with depth, and resolve them to one sample whole
/// and in part.
pub fn resolves(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    need_samples(scene)?;
    scene.modern(PASS, SHOW)?;
    scene.whole()?;
    let formats = [
        (c::RGBA8, c::DEPTH24_STENCIL8),
        (c::SRGB8_ALPHA8, c::DEPTH32F_STENCIL8),
        (c::RGB565, c::DEPTH_COMPONENT16),
        (c::RGB10_A2, c::DEPTH_COMPONENT32F),
        (c::R8, c::DEPTH_COMPONENT24),
        (c::RG8, 0),
    ];
    for samples in SAMPLES {
        for (colour, depth) in formats {
            let (single, _) = scene.usual(colour)?;
            let many = scene.framebuffer()?;
            scene.attach_samples(c::COLOR_ATTACHMENT0, colour, samples)?;
            if depth != 0 {
                let at = match depth {
                    c::DEPTH24_STENCIL8 | c::DEPTH32F_STENCIL8 => c::DEPTH_STENCIL_ATTACHMENT,
                    _ => c::DEPTH_ATTACHMENT,
                };
                scene.attach_samples(at, depth, samples)?;
                gl.enable(c::DEPTH_TEST);
            } else {
                gl.disable(c::DEPTH_TEST);
            }
            scene.complete()?;
            gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
            gl.enable(c::SAMPLE_ALPHA_TO_COVERAGE);
            scene.strip("drawing with samples")?;
            gl.disable(c::SAMPLE_ALPHA_TO_COVERAGE);
            gl.enable(c::SAMPLE_COVERAGE);
            gl.sample_coverage(0.6, samples == 4);
            scene.strip("coverage")?;
            gl.disable(c::SAMPLE_COVERAGE);
            gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(many));
            gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(single));
            let mask = c::COLOR_BUFFER_BIT;
            for [x0, y0, x1, y1] in [[0, 0, SIDE, SIDE], [16, 16, 80, 48]] {
                gl.blit_framebuffer(x0, y0, x1, y1, x0, y0, x1, y1, mask, c::NEAREST);
            }
            scene.done("a resolve")?;
        }
    }
    Ok(())
}

/// Draw to several targets with samples, and resolve them one after another. Resolve depth and stencil, and copy them
/// with their samples.
pub fn several(scene: &Scene) -> Result<()> {
    const TWO: &str = "
in vec4 value;
layout(location = 0) out vec4 first;
layout(location = 1) out vec4 second;
void main() { first = value; second = value.wzyx; }
";
    let gl = &scene.gl;
    need_samples(scene)?;
    scene.modern(PASS, TWO)?;
    scene.whole()?;
    gl.enable(c::DEPTH_TEST);
    gl.enable(c::STENCIL_TEST);
    let both = [c::COLOR_ATTACHMENT0, c::COLOR_ATTACHMENT1];
    for samples in SAMPLES {
        let mut framebuffers = Vec::new();
        for samples in [samples, samples, 0] {
            framebuffers.push(scene.framebuffer()?);
            for at in both {
                scene.attach_samples(at, c::RGBA8, samples)?;
            }
            scene.attach_samples(c::DEPTH_STENCIL_ATTACHMENT, c::DEPTH24_STENCIL8, samples)?;
            scene.complete()?;
            gl.draw_buffers(&both);
            gl.viewport(0, 0, SIDE, SIDE);
            gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
            scene.strip("two targets with samples")?;
        }
        let all = c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT;
        gl.bind_framebuffer(c::READ_FRAMEBUFFER, Some(framebuffers[0]));
        for at in both {
            gl.read_buffer(at);
            for (to, mask) in [(1, all), (2, c::COLOR_BUFFER_BIT), (2, c::DEPTH_BUFFER_BIT)] {
                gl.bind_framebuffer(c::DRAW_FRAMEBUFFER, Some(framebuffers[to]));
                let [w, h] = [SIDE, SIDE];
                gl.blit_framebuffer(0, 0, w, h, 0, 0, w, h, mask, c::NEAREST);
                scene.check("a copy of samples")?;
            }
        }
        scene.done("several targets with samples")?;
    }
    Ok(())
}

/// Use textures with samples that shaders fetch one by one, masks of samples, and shaders that run for each sample.
pub fn textures(scene: &Scene) -> Result<()> {
    const FETCH: &str = "
uniform sampler2DMS image;
uniform int samples;
in vec4 value;
out vec4 colour;
void main() {
    vec4 sum = vec4(0.0);
    for (int i = 0; i < samples; i++) sum += texelFetch(image, ivec2(value.xy * 200.0), i);
    colour = sum / float(samples) + vec4(textureSize(image), 0, 0);
}
";
    let gl = &scene.gl;
    need_samples(scene)?;
    scene.whole()?;
    let plain = scene.modern(PASS, SHOW)?;
    let fetch = scene.modern(PASS, FETCH)?;
    let target = c::TEXTURE_2D_MULTISAMPLE;
    for samples in SAMPLES {
        for (internal, depth) in [
            (c::RGBA8, c::DEPTH24_STENCIL8),
            (c::RGBA16F, c::DEPTH_COMPONENT32F),
            (c::RG16, c::DEPTH_COMPONENT16),
        ] {
            let many = scene.framebuffer()?;
            let mut textures = Vec::new();
            let depth_at = match depth {
                c::DEPTH24_STENCIL8 => c::DEPTH_STENCIL_ATTACHMENT,
                _ => c::DEPTH_ATTACHMENT,
            };
            for (at, internal) in [(c::COLOR_ATTACHMENT0, internal), (depth_at, depth)] {
                let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
                gl.bind_texture(target, Some(texture));
                let [w, h] = [200, 100];
                gl.tex_image_2d_multisample(target, samples, internal as i32, w, h, true);
                gl.framebuffer_texture_2d(c::FRAMEBUFFER, at, target, Some(texture), 0);
                textures.push(texture);
            }
            scene.complete()?;
            gl.use_program(Some(plain));
            gl.viewport(0, 0, 200, 100);
            gl.enable(c::DEPTH_TEST);
            gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT);
            scene.strip("a texture with samples")?;
            gl.enable(c::SAMPLE_MASK);
            for mask in [0x55, 0xf0, 0] {
                scene.entries.mask_samples(0, mask);
                scene.strip("a mask of samples")?;
            }
            gl.disable(c::SAMPLE_MASK);
            gl.enable(c::SAMPLE_ALPHA_TO_ONE);
            gl.disable(c::MULTISAMPLE);
            scene.strip("without multisampling")?;
            gl.enable(c::MULTISAMPLE);
            gl.disable(c::SAMPLE_ALPHA_TO_ONE);
            gl.disable(c::DEPTH_TEST);
            // The samples of colour and of depth, in another target.
            scene.usual(c::RGBA8)?;
            gl.use_program(Some(fetch));
            scene.set(fetch, "samples", samples);
            for &texture in &textures {
                gl.bind_texture(target, Some(texture));
                scene.strip("fetched samples")?;
            }
            gl.bind_texture(target, None);
            gl.delete_framebuffer(many);
            for texture in textures {
                gl.delete_texture(texture);
            }
            scene.done("textures with samples")?;
        }
    }
    Ok(())
}

/// Run shaders for each sample, with the sample's number and place.
pub fn shading(scene: &Scene) -> Result<()> {
    const EACH: &str = "#version 330
#extension GL_ARB_sample_shading : require
in vec4 value;
out vec4 colour;
void main() { colour = value + vec4(gl_SamplePosition, float(gl_SampleID), 1.0); }
";
    let gl = &scene.gl;
    need_samples(scene)?;
    scene.need("GL_ARB_sample_shading")?;
    scene.whole()?;
    let plain = scene.modern(PASS, SHOW)?;
    let each = scene.modern(PASS, EACH)?;
    for samples in SAMPLES {
        scene.framebuffer()?;
        scene.attach_samples(c::COLOR_ATTACHMENT0, c::RGBA8, samples)?;
        scene.attach_samples(c::DEPTH_STENCIL_ATTACHMENT, c::DEPTH24_STENCIL8, samples)?;
        scene.complete()?;
        gl.viewport(0, 0, SIDE, SIDE);
        gl.enable(c::DEPTH_TEST);
        gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT);
        gl.use_program(Some(each));
        scene.strip("each sample by its number")?;
        gl.use_program(Some(plain));
        gl.enable(c::SAMPLE_SHADING);
        for share in [0.0, 0.5, 1.0] {
            scene.entries.shade_samples(share);
            scene.strip("a share of the samples")?;
        }
        gl.disable(c::SAMPLE_SHADING);
        scene.done("shading of samples")?;
    }
    Ok(())
}
