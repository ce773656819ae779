// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What every program needs: a context that runs on the GPU, shaders, buffers, textures, something to
//! draw into, and a look at the error state.

use crate::chips;
use crate::egl::{Api, Egl, Platform};
use crate::entries::Entries;
use crate::extensions::Extensions;
use crate::gl::{Buffer, Framebuffer, Gl, PixelPackData, PixelUnpackData, Program, Texture};
use anyhow::{Result, anyhow, bail, ensure};
use glow as c;
use zerocopy::IntoBytes;

/// Pixels a side of the usual target.
pub const SIDE: i32 = 256;

/// Vertex shader: attribute 0 is the position, attribute 1 goes to the fragment shader.
pub const VERTEX: &str = "
attribute vec4 position;
attribute vec4 extra;
varying vec4 value;
void main() { gl_Position = position; value = extra; }
";
/// Fragment shader: the value that came from the vertices.
pub const PLAIN: &str = "
#ifdef GL_ES
precision mediump float;
#endif
varying vec4 value;
void main() { gl_FragColor = value; }
";
/// Fragment shader: one texture at the coordinates that came from the vertices.
pub const TEXTURED: &str = "
#ifdef GL_ES
precision mediump float;
#endif
uniform sampler2D image;
varying vec4 value;
void main() { gl_FragColor = texture2D(image, value.xy); }
";

/// A vertex: position, and four numbers for the shader.
pub type Vertex = [f32; 8];

/// A program's surroundings.
pub struct Scene {
    /// Calls.
    pub gl: Gl,
    /// More calls.
    pub more: Extensions,
    /// Still more calls.
    pub entries: Entries,
    /// Words of `GL_EXTENSIONS`.
    extensions: Vec<String>,
    /// Context and display; dropped last.
    pub egl: Egl,
}

impl Scene {
    /// Return a current context whose renderer is the GPU.
    pub fn new(platform: Platform, api: Api) -> Result<Scene> {
        let egl = Egl::new(platform, api)?;
        let gl = egl.gl();
        let renderer = gl.get_parameter_string(c::RENDERER);
        let expected = chips::renderer()?;
        ensure!(
            renderer.split(" (").next() == Some(&expected),
            "the renderer is {renderer:?}, not {expected:?} on the GPU"
        );
        let extensions = match api {
            Api::Es2 | Api::Desktop => gl
                .get_parameter_string(c::EXTENSIONS)
                .split_whitespace()
                .map(str::to_owned)
                .collect(),
            Api::Es3 | Api::Core => (0..gl.get_parameter_i32(c::NUM_EXTENSIONS) as u32)
                .map(|i| gl.get_parameter_indexed_string(c::EXTENSIONS, i))
                .collect(),
        };
        if api == Api::Core {
            // This profile draws nothing without one.
            let array = gl.create_vertex_array().map_err(|e| anyhow!(e))?;
            gl.bind_vertex_array(Some(array));
        }
        Ok(Scene {
            more: egl.extensions()?,
            entries: Entries::load(|name| egl.address(name)),
            gl,
            extensions,
            egl,
        })
    }

    /// Return whether the context has an extension.
    pub fn has(&self, extension: &str) -> bool {
        self.extensions.iter().any(|e| e == extension)
    }

    /// Fail if it has not: what this driver is known to have is part of what is tested.
    pub fn need(&self, extension: &str) -> Result<()> {
        ensure!(self.has(extension), "no {extension}");
        Ok(())
    }

    /// Fail if any call since the last look was wrong.
    pub fn check(&self, what: &str) -> Result<()> {
        match self.gl.get_error() {
            c::NO_ERROR => Ok(()),
            error => bail!("{what}: GL error {error:#x}"),
        }
    }

    /// Wait until the GPU has done everything, and look at the error state.
    pub fn done(&self, what: &str) -> Result<()> {
        self.gl.finish();
        self.check(what)
    }

    /// Compile and link; attributes 0 and 1 are `position` and `extra`. The program is in use after it.
    pub fn program(&self, vertex: &str, fragment: &str) -> Result<Program> {
        let gl = &self.gl;
        let program = gl.create_program().map_err(|e| anyhow!(e))?;
        for (kind, source) in [(c::VERTEX_SHADER, vertex), (c::FRAGMENT_SHADER, fragment)] {
            let shader = gl.create_shader(kind).map_err(|e| anyhow!(e))?;
            gl.shader_source(shader, source);
            gl.compile_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                bail!("a shader: {}", gl.get_shader_info_log(shader));
            }
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        gl.bind_attrib_location(program, 0, "position");
        gl.bind_attrib_location(program, 1, "extra");
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            bail!("linking: {}", gl.get_program_info_log(program));
        }
        gl.use_program(Some(program));
        Ok(program)
    }

    /// Return a buffer with this content, bound to `target`.
    pub fn buffer(&self, target: u32, data: &[u8]) -> Result<Buffer> {
        let buffer = self.gl.create_buffer().map_err(|e| anyhow!(e))?;
        self.gl.bind_buffer(target, Some(buffer));
        self.gl.buffer_data_u8_slice(target, data, c::STATIC_DRAW);
        Ok(buffer)
    }

    /// Put vertices into a buffer, and set attributes 0 and 1 up for them.
    pub fn vertices(&self, vertices: &[Vertex]) -> Result<Buffer> {
        let buffer = self.buffer(c::ARRAY_BUFFER, vertices.as_bytes())?;
        for attribute in 0..2 {
            let offset = 16 * attribute as i32;
            self.gl.enable_vertex_attrib_array(attribute);
            self.gl
                .vertex_attrib_pointer_f32(attribute, 4, c::FLOAT, false, 32, offset);
        }
        Ok(buffer)
    }

    /// Return a rectangle of two triangles, as four vertices of a strip; texture coordinates from 0 to `repeat`.
    pub fn rectangle(&self, from: [f32; 2], to: [f32; 2], repeat: f32) -> Result<Buffer> {
        let corner = |x, y, s, t| [x, y, 0.0, 1.0, s, t, 0.0, 1.0];
        self.vertices(&[
            corner(from[0], from[1], 0.0, 0.0),
            corner(to[0], from[1], repeat, 0.0),
            corner(from[0], to[1], 0.0, repeat),
            corner(to[0], to[1], repeat, repeat),
        ])
    }

    /// Return the whole target as such a rectangle.
    pub fn whole(&self) -> Result<Buffer> {
        self.rectangle([-1.0, -1.0], [1.0, 1.0], 1.0)
    }

    /// Return an RGBA texture with a pattern, bound to the unit that is active, without mipmaps.
    pub fn texture(&self, width: i32, height: i32) -> Result<Texture> {
        let texture = self.gl.create_texture().map_err(|e| anyhow!(e))?;
        self.gl.bind_texture(c::TEXTURE_2D, Some(texture));
        self.sampling(c::TEXTURE_2D, c::NEAREST, c::NEAREST, c::CLAMP_TO_EDGE);
        let pixels = pattern(width * height * 4);
        self.image(
            c::TEXTURE_2D,
            0,
            [width, height],
            c::RGBA,
            c::UNSIGNED_BYTE,
            Some(&pixels),
        );
        Ok(texture)
    }

    /// Set filters and wrap mode of the bound texture.
    pub fn sampling(&self, target: u32, minify: u32, magnify: u32, wrap: u32) {
        for (name, value) in [
            (c::TEXTURE_MIN_FILTER, minify),
            (c::TEXTURE_MAG_FILTER, magnify),
            (c::TEXTURE_WRAP_S, wrap),
            (c::TEXTURE_WRAP_T, wrap),
        ] {
            self.gl.tex_parameter_i32(target, name, value as i32);
        }
    }

    /// Make one level of the bound texture, with the internal format as OpenGL ES wants it, which is that of the
    /// pixels.
    ///
    /// Between making the level and filling it the GPU is waited for: a driver may have it clear new memory,
    /// and Mesa writes to memory that is not in use directly, to other memory by a copy. So it is the
    /// same in every run.
    pub fn image(
        &self,
        target: u32,
        level: i32,
        [width, height]: [i32; 2],
        format: u32,
        kind: u32,
        pixels: Option<&[u8]>,
    ) {
        let (gl, internal) = (&self.gl, format as i32);
        let nothing = PixelUnpackData::Slice(None);
        gl.tex_image_2d(
            target, level, internal, width, height, 0, format, kind, nothing,
        );
        if pixels.is_some() {
            gl.finish();
            let data = PixelUnpackData::Slice(pixels);
            gl.tex_sub_image_2d(target, level, 0, 0, width, height, format, kind, data);
        }
    }

    /// Return a framebuffer with a texture for its colour and, if asked for, a renderbuffer for depth and
    /// stencil; bound, with the viewport over all of it.
    pub fn target(&self, width: i32, height: i32, depth: bool) -> Result<(Framebuffer, Texture)> {
        let gl = &self.gl;
        let colour = gl.create_texture().map_err(|e| anyhow!(e))?;
        gl.bind_texture(c::TEXTURE_2D, Some(colour));
        self.sampling(c::TEXTURE_2D, c::LINEAR, c::LINEAR, c::CLAMP_TO_EDGE);
        self.image(
            c::TEXTURE_2D,
            0,
            [width, height],
            c::RGBA,
            c::UNSIGNED_BYTE,
            None,
        );
        let framebuffer = gl.create_framebuffer().map_err(|e| anyhow!(e))?;
        gl.bind_framebuffer(c::FRAMEBUFFER, Some(framebuffer));
        gl.framebuffer_texture_2d(
            c::FRAMEBUFFER,
            c::COLOR_ATTACHMENT0,
            c::TEXTURE_2D,
            Some(colour),
            0,
        );
        if depth {
            self.need_either(&["GL_OES_packed_depth_stencil", "GL_EXT_packed_depth_stencil"])?;
            let buffer = gl.create_renderbuffer().map_err(|e| anyhow!(e))?;
            gl.bind_renderbuffer(c::RENDERBUFFER, Some(buffer));
            gl.renderbuffer_storage(c::RENDERBUFFER, c::DEPTH24_STENCIL8, width, height);
            for attachment in [c::DEPTH_ATTACHMENT, c::STENCIL_ATTACHMENT] {
                gl.framebuffer_renderbuffer(
                    c::FRAMEBUFFER,
                    attachment,
                    c::RENDERBUFFER,
                    Some(buffer),
                );
            }
        }
        self.complete()?;
        gl.viewport(0, 0, width, height);
        gl.bind_texture(c::TEXTURE_2D, None);
        Ok((framebuffer, colour))
    }

    fn need_either(&self, extensions: &[&str]) -> Result<()> {
        ensure!(
            extensions.iter().any(|extension| self.has(extension)),
            "none of {extensions:?}"
        );
        Ok(())
    }

    /// Fail if the bound framebuffer cannot be drawn into.
    pub fn complete(&self) -> Result<()> {
        match self.gl.check_framebuffer_status(c::FRAMEBUFFER) {
            c::FRAMEBUFFER_COMPLETE => Ok(()),
            status => bail!("the framebuffer is not complete: {status:#x}"),
        }
    }

    /// Return the usual target, cleared.
    pub fn usual_target(&self, depth: bool) -> Result<(Framebuffer, Texture)> {
        let target = self.target(SIDE, SIDE, depth)?;
        self.gl.clear_color(0.2, 0.4, 0.6, 1.0);
        self.gl.clear(if depth {
            c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT
        } else {
            c::COLOR_BUFFER_BIT
        });
        Ok(target)
    }

    /// Read a rectangle back as RGBA bytes, which waits for the GPU. What the pixels are is not looked
    /// at: the model does not draw.
    pub fn read(&self, x: i32, y: i32, width: i32, height: i32) -> Result<Vec<u8>> {
        let mut pixels = vec![0; 4 * (width * height) as usize];
        let data = PixelPackData::Slice(Some(&mut pixels));
        self.gl
            .read_pixels(x, y, width, height, c::RGBA, c::UNSIGNED_BYTE, data);
        self.check("glReadPixels")?;
        Ok(pixels)
    }
}

/// Return the bytes that are not all the same.
pub fn pattern(bytes: i32) -> Vec<u8> {
    (0..bytes).map(|i| ((i * 7) ^ (i >> 5)) as u8).collect()
}
