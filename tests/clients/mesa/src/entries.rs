// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GL calls that `glow` does not have.
//!
//! Source of names, types and values: the public headers glcorearb.h and gl.h.

use crate::gl::{Buffer, Feedback, Program, Query, Texture};
use std::ffi::{CStr, c_char, c_void};

/// `GL_PROVOKING_VERTEX` chooses the first vertex.
pub const FIRST_VERTEX: u32 = 0x8e4d;
/// `GL_QUAD_STRIP`.
pub const QUAD_STRIP: u32 = 8;
/// `GL_POLYGON`.
pub const POLYGON: u32 = 9;
/// `GL_CLAMP`, which only the compatibility profile has.
pub const CLAMP: u32 = 0x2900;

macro_rules! entries {
    ($($name:ident = $gl:literal ($($argument:ident: $type:ty),*);)*) => {
        /// Entry points; one that Mesa does not have is missed when it is called.
        pub struct Entries {
            $($name: Option<extern "system" fn($($type),*)>,)*
        }

        impl Entries {
            /// Look the entry points up.
            #[allow(clippy::useless_transmute)]
            pub fn load(load: impl Fn(&str) -> Option<extern "system" fn()>) -> Entries {
                Entries {
                    $(
                        // A function without arguments has the general type already.
                        // SAFETY: the type is the one that OpenGL gives the function of that name.
                        $name: load($gl).map(|call| unsafe {
                            std::mem::transmute::<extern "system" fn(), extern "system" fn($($type),*)>(call)
                        }),
                    )*
                }
            }

            $(
                fn $name(&self) -> extern "system" fn($($type),*) {
                    self.$name.unwrap_or_else(|| panic!("no {}", $gl))
                }
            )*
        }
    };
}

entries! {
    tex_buffer = "glTexBuffer" (target: u32, format: u32, buffer: u32);
    tex_sub_image_1d = "glTexSubImage1D" (target: u32, level: i32, x: i32, width: i32, format: u32, kind: u32, pixels: *const c_void);
    framebuffer_texture_1d = "glFramebufferTexture1D" (target: u32, attachment: u32, kind: u32, texture: u32, level: i32);
    copy_tex_sub_image_1d = "glCopyTexSubImage1D" (target: u32, level: i32, to: i32, x: i32, y: i32, width: i32);
    clear_tex_image = "glClearTexImage" (texture: u32, level: i32, format: u32, kind: u32, data: *const c_void);
    clear_buffer_sub_data = "glClearBufferSubData" (target: u32, internal: u32, offset: isize, size: isize, format: u32, kind: u32, data: *const c_void);
    primitive_restart_index = "glPrimitiveRestartIndex" (index: u32);
    provoking_vertex = "glProvokingVertex" (mode: u32);
    bind_frag_data_location_indexed = "glBindFragDataLocationIndexed" (program: u32, colour: u32, index: u32, name: *const c_char);
    sample_mask = "glSampleMaski" (word: u32, mask: u32);
    min_sample_shading = "glMinSampleShading" (value: f32);
    begin_conditional_render = "glBeginConditionalRender" (query: u32, mode: u32);
    end_conditional_render = "glEndConditionalRender" ();
    draw_transform_feedback = "glDrawTransformFeedback" (mode: u32, feedback: u32);
    draw_transform_feedback_stream = "glDrawTransformFeedbackStream" (mode: u32, feedback: u32, stream: u32);
    multi_draw_arrays = "glMultiDrawArrays" (mode: u32, first: *const i32, count: *const i32, draws: i32);
    logic_op = "glLogicOp" (operation: u32);
    alpha_func = "glAlphaFunc" (function: u32, reference: f32);
    shade_model = "glShadeModel" (mode: u32);
    polygon_stipple = "glPolygonStipple" (mask: *const u8);
    line_stipple = "glLineStipple" (factor: i32, pattern: u16);
    clip_plane = "glClipPlane" (plane: u32, equation: *const f64);
    begin = "glBegin" (mode: u32);
    end = "glEnd" ();
    colour = "glColor4f" (red: f32, green: f32, blue: f32, alpha: f32);
    texture_coordinate = "glTexCoord4f" (s: f32, t: f32, r: f32, q: f32);
    vertex = "glVertex4f" (x: f32, y: f32, z: f32, w: f32);
    new_list = "glNewList" (list: u32, mode: u32);
    end_list = "glEndList" ();
    call_list = "glCallList" (list: u32);
    raster_position = "glRasterPos2f" (x: f32, y: f32);
    draw_pixels = "glDrawPixels" (width: i32, height: i32, format: u32, kind: u32, pixels: *const c_void);
    copy_pixels = "glCopyPixels" (x: i32, y: i32, width: i32, height: i32, kind: u32);
    bitmap = "glBitmap" (width: i32, height: i32, x: f32, y: f32, move_x: f32, move_y: f32, bits: *const u8);
    fog_mode = "glFogi" (name: u32, value: i32);
}

/// Calls of plain numbers, by the name of the entry.
macro_rules! plain {
    ($($call:ident => $entry:ident($($argument:ident: $type:ty),*);)*) => {
        impl Entries {
            $(
                #[doc = concat!("Call `", stringify!($entry), "`.")]
                #[allow(clippy::too_many_arguments)]
                pub fn $call(&self, $($argument: $type),*) {
                    self.$entry()($($argument),*);
                }
            )*
        }
    };
}

plain! {
    copy_line => copy_tex_sub_image_1d(target: u32, level: i32, to: i32, x: i32, y: i32, width: i32);
    restart_index => primitive_restart_index(index: u32);
    provoke => provoking_vertex(mode: u32);
    mask_samples => sample_mask(word: u32, mask: u32);
    shade_samples => min_sample_shading(value: f32);
    end_condition => end_conditional_render();
    logic => logic_op(operation: u32);
    alpha => alpha_func(function: u32, reference: f32);
    shade => shade_model(mode: u32);
    stipple_lines => line_stipple(factor: i32, pattern: u16);
    begin_primitive => begin(mode: u32);
    end_primitive => end();
    color => colour(red: f32, green: f32, blue: f32, alpha: f32);
    coordinate => texture_coordinate(s: f32, t: f32, r: f32, q: f32);
    at => vertex(x: f32, y: f32, z: f32, w: f32);
    begin_list => new_list(list: u32, mode: u32);
    finish_list => end_list();
    call => call_list(list: u32);
    raster => raster_position(x: f32, y: f32);
    copy_pixels_here => copy_pixels(x: i32, y: i32, width: i32, height: i32, kind: u32);
    fog => fog_mode(name: u32, value: i32);
}

impl Entries {
    /// Make a buffer the content of the texture at `TEXTURE_BUFFER`.
    pub fn buffer_of_texture(&self, format: u32, buffer: Option<Buffer>) {
        let name = buffer.map_or(0, |buffer| buffer.0.get());
        self.tex_buffer()(glow::TEXTURE_BUFFER, format, name);
    }

    /// Replace a part of a one-dimensional texture of RGBA bytes.
    pub fn write_line(&self, level: i32, x: i32, pixels: &[u8]) {
        let (format, kind) = (glow::RGBA, glow::UNSIGNED_BYTE);
        let width = pixels.len() as i32 / 4;
        let at = pixels.as_ptr().cast();
        self.tex_sub_image_1d()(glow::TEXTURE_1D, level, x, width, format, kind, at);
    }

    /// Attach a level of a one-dimensional texture as the first colour.
    pub fn attach_line(&self, texture: Texture, level: i32) {
        let (target, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
        self.framebuffer_texture_1d()(target, at, glow::TEXTURE_1D, texture.0.get(), level);
    }

    /// Clear a level of a texture of RGBA bytes to a colour.
    pub fn clear_level(&self, texture: Texture, level: i32, colour: [u8; 4]) {
        let (format, kind) = (glow::RGBA, glow::UNSIGNED_BYTE);
        self.clear_tex_image()(texture.0.get(), level, format, kind, colour.as_ptr().cast());
    }

    /// Fill a part of the buffer at `target` with one word.
    pub fn clear_words(&self, target: u32, offset: usize, bytes: usize, word: u32) {
        let (format, kind) = (glow::RED_INTEGER, glow::UNSIGNED_INT);
        let (offset, bytes) = (offset as isize, bytes as isize);
        let word: *const u32 = &word;
        self.clear_buffer_sub_data()(
            target,
            glow::R32UI,
            offset,
            bytes,
            format,
            kind,
            word.cast(),
        );
    }

    /// Say which output of the fragment shader is which colour and which of its two sources.
    pub fn locate_output(&self, program: Program, colour: u32, index: u32, name: &CStr) {
        self.bind_frag_data_location_indexed()(program.0.get(), colour, index, name.as_ptr());
    }

    /// Draw on the condition of a query's result.
    pub fn begin_condition(&self, query: Query, mode: u32) {
        self.begin_conditional_render()(query.0.get(), mode);
    }

    /// Draw as many vertices as were written to the buffers of a feedback object.
    pub fn draw_feedback(&self, mode: u32, feedback: Feedback, stream: Option<u32>) {
        match stream {
            None => self.draw_transform_feedback()(mode, feedback.0.get()),
            Some(stream) => {
                self.draw_transform_feedback_stream()(mode, feedback.0.get(), stream);
            }
        }
    }

    /// Draw several ranges of vertices.
    pub fn draw_ranges(&self, mode: u32, ranges: &[(i32, i32)]) {
        let (first, count): (Vec<i32>, Vec<i32>) = ranges.iter().copied().unzip();
        self.multi_draw_arrays()(mode, first.as_ptr(), count.as_ptr(), ranges.len() as i32);
    }

    /// Set the stipple of polygons.
    pub fn stipple_polygons(&self, mask: &[u8; 128]) {
        self.polygon_stipple()(mask.as_ptr());
    }

    /// Set a clip plane.
    pub fn clip(&self, plane: u32, equation: &[f64; 4]) {
        self.clip_plane()(plane, equation.as_ptr());
    }

    /// Draw a rectangle of RGBA bytes at the raster position.
    pub fn draw_rgba(&self, width: i32, height: i32, pixels: &[u8]) {
        assert!(pixels.len() as i32 >= 4 * width * height);
        let at = pixels.as_ptr().cast();
        self.draw_pixels()(width, height, glow::RGBA, glow::UNSIGNED_BYTE, at);
    }

    /// Draw a bitmap of 32 by `height` pixels at the raster position.
    pub fn draw_bitmap(&self, height: i32, bits: &[u8]) {
        assert!(bits.len() as i32 >= 4 * height);
        self.bitmap()(32, height, 0.0, 0.0, 33.0, 0.0, bits.as_ptr());
    }
}
