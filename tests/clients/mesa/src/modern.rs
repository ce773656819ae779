// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What programs of OpenGL ES 3 and OpenGL 3.3 need beyond [`crate::scene`]: shaders of several stages in either
//! language, textures of any kind, targets of any format.

use crate::egl::Api;
use crate::gl::{Framebuffer, PixelUnpackData, Program, Query, Texture};
use crate::scene::{SIDE, Scene, pattern};
use anyhow::{Result, anyhow, bail};
use glow as c;

/// Body of a vertex shader: position, and four numbers for the next stage.
pub const PASS: &str = "
in vec4 position;
in vec4 extra;
out vec4 value;
void main() { gl_Position = position; value = extra; }
";
/// Body of a fragment shader: what came from the vertices.
pub const SHOW: &str = "
in vec4 value;
out vec4 colour;
void main() { colour = value; }
";

/// How a texture's or target's pixels lie in the client's memory.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Internal format, sized.
    pub internal: u32,
    /// Components.
    pub format: u32,
    /// Type of a component.
    pub kind: u32,
    /// Bytes of a pixel.
    pub bytes: i32,
}

impl Format {
    /// Return a format.
    pub const fn new(internal: u32, format: u32, kind: u32, bytes: i32) -> Format {
        Format {
            internal,
            format,
            kind,
            bytes,
        }
    }
}

/// RGBA bytes.
pub const RGBA8: Format = Format::new(c::RGBA8, c::RGBA, c::UNSIGNED_BYTE, 4);

impl Scene {
    /// Return whether the context is one of OpenGL ES.
    pub fn is_es(&self) -> bool {
        matches!(self.egl.api(), Api::Es2 | Api::Es3)
    }

    fn source(&self, body: &str) -> String {
        let version = match self.egl.api() {
            Api::Core => "#version 330\n",
            _ => {
                "#version 300 es\nprecision highp float;\nprecision highp int;\n\
                 precision highp sampler2DArray;\nprecision highp sampler3D;\n\
                 precision highp sampler2DShadow;\nprecision highp sampler2DArrayShadow;\n\
                 precision highp samplerCubeShadow;\nprecision highp isampler2D;\nprecision highp usampler2D;\n"
            }
        };
        format!("{version}{body}")
    }

    /// Compile shaders of any stages, let `before` prepare the program, and link it. The program is in use after it.
    /// Attributes 0 and 1 are `position` and `extra`. A body that begins with `#` has its own version.
    pub fn stages(&self, bodies: &[(u32, &str)], before: impl FnOnce(Program)) -> Result<Program> {
        let gl = &self.gl;
        let program = gl.create_program().map_err(|e| anyhow!(e))?;
        for &(kind, body) in bodies {
            let shader = gl.create_shader(kind).map_err(|e| anyhow!(e))?;
            let source = if body.starts_with('#') {
                body.to_owned()
            } else {
                self.source(body)
            };
            gl.shader_source(shader, &source);
            gl.compile_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                bail!("a shader: {}\n{source}", gl.get_shader_info_log(shader));
            }
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        gl.bind_attrib_location(program, 0, "position");
        gl.bind_attrib_location(program, 1, "extra");
        before(program);
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            bail!("linking: {}", gl.get_program_info_log(program));
        }
        gl.use_program(Some(program));
        Ok(program)
    }

    /// Return a program of two bodies.
    pub fn modern(&self, vertex: &str, fragment: &str) -> Result<Program> {
        let bodies = [(c::VERTEX_SHADER, vertex), (c::FRAGMENT_SHADER, fragment)];
        self.stages(&bodies, |_| ())
    }

    /// Set a sampler or other integer of the program in use.
    pub fn set(&self, program: Program, name: &str, value: i32) {
        let at = self.gl.get_uniform_location(program, name);
        self.gl.uniform_1_i32(at.as_ref(), value);
    }

    /// Return a texture of `target` with storage for `levels`, bound to the active unit, with nearest filters. Depth
    /// is the number of layers or slices, and the faces of a cube are not counted.
    pub fn storage(
        &self,
        target: u32,
        levels: i32,
        internal: u32,
        [width, height, depth]: [i32; 3],
    ) -> Result<Texture> {
        let gl = &self.gl;
        let texture = gl.create_texture().map_err(|e| anyhow!(e))?;
        gl.bind_texture(target, Some(texture));
        match target {
            c::TEXTURE_1D => gl.tex_storage_1d(target, levels, internal, width),
            c::TEXTURE_3D | c::TEXTURE_2D_ARRAY => {
                gl.tex_storage_3d(target, levels, internal, width, height, depth);
            }
            _ => gl.tex_storage_2d(target, levels, internal, width, height),
        }
        let minify = if levels > 1 {
            c::NEAREST_MIPMAP_NEAREST
        } else {
            c::NEAREST
        };
        self.sampling(target, minify, c::NEAREST, c::CLAMP_TO_EDGE);
        if let Err(error) = self.check("a texture's storage") {
            bail!("{error:#}: {internal:#x} for {target:#x}");
        }
        // For the same reason as in `Scene::image`.
        gl.finish();
        Ok(texture)
    }

    /// Fill a level of the texture that is bound to `target`; for a cube, the one face that `target` names.
    pub fn fill(&self, target: u32, level: i32, [width, height, depth]: [i32; 3], format: Format) {
        let pixels = pattern(width * height * depth * format.bytes);
        let data = PixelUnpackData::Slice(Some(&pixels));
        let (components, kind) = (format.format, format.kind);
        self.gl.pixel_store_i32(c::UNPACK_ALIGNMENT, 1);
        if matches!(target, c::TEXTURE_3D | c::TEXTURE_2D_ARRAY) {
            self.gl.tex_sub_image_3d(
                target, level, 0, 0, 0, width, height, depth, components, kind, data,
            );
        } else {
            self.gl
                .tex_sub_image_2d(target, level, 0, 0, width, height, components, kind, data);
        }
    }

    /// Return a filled texture of two dimensions with all its levels.
    pub fn filled(
        &self,
        levels: i32,
        [width, height]: [i32; 2],
        format: Format,
    ) -> Result<Texture> {
        let size = [width, height, 1];
        let texture = self.storage(c::TEXTURE_2D, levels, format.internal, size)?;
        for level in 0..levels {
            let size = [(width >> level).max(1), (height >> level).max(1), 1];
            self.fill(c::TEXTURE_2D, level, size, format);
        }
        self.check("a texture's levels")?;
        Ok(texture)
    }

    /// Return a new framebuffer, bound.
    pub fn framebuffer(&self) -> Result<Framebuffer> {
        let framebuffer = self.gl.create_framebuffer().map_err(|e| anyhow!(e))?;
        self.gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
        Ok(framebuffer)
    }

    /// Attach a new texture of two dimensions to the bound framebuffer, without filling it.
    pub fn attach(&self, attachment: u32, internal: u32, size: [i32; 2]) -> Result<Texture> {
        let texture = self.storage(c::TEXTURE_2D, 1, internal, [size[0], size[1], 1])?;
        let target = c::TEXTURE_2D;
        self.gl
            .framebuffer_texture_2d(c::FRAMEBUFFER, attachment, target, Some(texture), 0);
        self.gl.bind_texture(target, None);
        Ok(texture)
    }

    /// Attach a new renderbuffer with samples to the bound framebuffer.
    pub fn attach_samples(&self, attachment: u32, internal: u32, samples: i32) -> Result<()> {
        let gl = &self.gl;
        let buffer = gl.create_renderbuffer().map_err(|e| anyhow!(e))?;
        gl.bind_renderbuffer(c::RENDERBUFFER, Some(buffer));
        gl.renderbuffer_storage_multisample(c::RENDERBUFFER, samples, internal, SIDE, SIDE);
        gl.framebuffer_renderbuffer(c::FRAMEBUFFER, attachment, c::RENDERBUFFER, Some(buffer));
        Ok(())
    }

    /// Return a texture that is the colour of a new framebuffer of the usual size, bound and cleared.
    pub fn usual(&self, internal: u32) -> Result<(Framebuffer, Texture)> {
        let framebuffer = self.framebuffer()?;
        let texture = self.attach(c::COLOR_ATTACHMENT0, internal, [SIDE, SIDE])?;
        self.complete()?;
        self.gl.viewport(0, 0, SIDE, SIDE);
        self.gl.clear_color(0.2, 0.4, 0.6, 1.0);
        self.gl.clear(c::COLOR_BUFFER_BIT);
        Ok((framebuffer, texture))
    }

    /// Return a new query.
    pub fn query(&self) -> Result<Query> {
        self.gl.create_query().map_err(|e| anyhow!(e))
    }

    /// Draw a strip of four vertices, and look at the error state.
    pub fn strip(&self, what: &str) -> Result<()> {
        self.gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        self.check(what)
    }
}
