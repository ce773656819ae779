// SPDX-License-Identifier: GPL-2.0 OR MIT

//! OpenGL calls without `unsafe` at every line.
//!
//! What makes a GL call unsafe is that it needs a current context and that some calls read memory of the
//! caller later on. [`Gl`] exists only while its context is current in this thread (see [`crate::egl`]),
//! and the calls below take slices, so that nothing is left for the caller to promise; calls with client
//! pointers are in [`crate::extensions`].

use glow::HasContext;
pub use glow::{
    CompressedPixelUnpackData, NativeBuffer as Buffer, NativeFence as Fence,
    NativeFramebuffer as Framebuffer, NativeProgram as Program, NativeQuery as Query,
    NativeRenderbuffer as Renderbuffer, NativeSampler as Sampler, NativeShader as Shader,
    NativeTexture as Texture, NativeTransformFeedback as Feedback,
    NativeUniformLocation as Uniform, NativeVertexArray as VertexArray, PixelPackData,
    PixelUnpackData,
};

/// The calls of a current context.
pub struct Gl(glow::Context);

impl Gl {
    /// Take the calls of the context that is current.
    ///
    /// # Safety
    /// That context must stay current in this thread while the value lives, and `load` must return
    /// addresses of GL functions.
    pub unsafe fn load(load: impl FnMut(&str) -> *const std::ffi::c_void) -> Gl {
        // SAFETY: the caller's promise.
        Gl(unsafe { glow::Context::from_loader_function(load) })
    }
}

impl Gl {
    /// Map part of the buffer at `target` with these access bits, write `data` there and, if the bits say that it is
    /// done explicitly, flush the first half of it. Unmap. Return whether the buffer could be mapped.
    pub fn write_mapped(&self, target: u32, offset: i32, data: &[u8], access: u32) -> bool {
        let length = data.len() as i32;
        // SAFETY: the context is current; the mapping has `length` bytes, which only this call writes, and ends here.
        unsafe {
            let at = self.0.map_buffer_range(target, offset, length, access);
            if at.is_null() {
                return false;
            }
            std::ptr::copy_nonoverlapping(data.as_ptr(), at, data.len());
            if access & glow::MAP_FLUSH_EXPLICIT_BIT != 0 {
                self.0.flush_mapped_buffer_range(target, 0, length / 2);
            }
            self.0.unmap_buffer(target);
        }
        true
    }

    /// Map part of the buffer at `target` for reading, and return what is there.
    pub fn read_mapped(&self, target: u32, offset: i32, length: i32) -> Option<Vec<u8>> {
        // SAFETY: as above, for reading.
        unsafe {
            let at = (self.0).map_buffer_range(target, offset, length, glow::MAP_READ_BIT);
            if at.is_null() {
                return None;
            }
            let data = std::slice::from_raw_parts(at, length as usize).to_vec();
            self.0.unmap_buffer(target);
            Some(data)
        }
    }
}

macro_rules! calls {
    ($($name:ident($($argument:ident: $type:ty),*) $(-> $answer:ty)?;)*) => {
        impl Gl {
            $(
                #[doc = concat!("`", stringify!($name), "`, as in OpenGL.")]
                #[allow(clippy::too_many_arguments)]
                pub fn $name(&self, $($argument: $type),*) $(-> $answer)? {
                    // SAFETY: the context is current; slices are read during the call.
                    unsafe { self.0.$name($($argument),*) }
                }
            )*
        }
    };
}

calls! {
    get_error() -> u32;
    get_parameter_string(name: u32) -> String;
    get_parameter_i32(name: u32) -> i32;
    get_parameter_indexed_string(name: u32, index: u32) -> String;
    enable(what: u32);
    disable(what: u32);
    flush();
    finish();

    clear(mask: u32);
    clear_color(red: f32, green: f32, blue: f32, alpha: f32);
    clear_depth_f32(depth: f32);
    clear_stencil(stencil: i32);
    viewport(x: i32, y: i32, width: i32, height: i32);
    scissor(x: i32, y: i32, width: i32, height: i32);
    color_mask(red: bool, green: bool, blue: bool, alpha: bool);
    depth_mask(on: bool);
    depth_func(function: u32);
    depth_range_f32(near: f32, far: f32);
    stencil_func_separate(face: u32, function: u32, reference: i32, mask: u32);
    stencil_op_separate(face: u32, fail: u32, depth_fail: u32, pass: u32);
    stencil_mask_separate(face: u32, mask: u32);
    blend_color(red: f32, green: f32, blue: f32, alpha: f32);
    blend_equation_separate(colour: u32, alpha: u32);
    blend_func_separate(from: u32, to: u32, from_alpha: u32, to_alpha: u32);
    cull_face(face: u32);
    front_face(winding: u32);
    polygon_offset(factor: f32, units: f32);
    polygon_mode(face: u32, mode: u32);
    line_width(width: f32);
    viewport_f32_slice(first: u32, count: i32, values: &[[f32; 4]]);
    scissor_slice(first: u32, count: i32, values: &[[i32; 4]]);
    enable_draw_buffer(what: u32, buffer: u32);
    disable_draw_buffer(what: u32, buffer: u32);
    color_mask_draw_buffer(buffer: u32, red: bool, green: bool, blue: bool, alpha: bool);
    blend_func_separate_draw_buffer(buffer: u32, from: u32, to: u32, from_alpha: u32, to_alpha: u32);
    blend_equation_draw_buffer(buffer: u32, equation: u32);
    sample_coverage(value: f32, invert: bool);
    clear_buffer_f32_slice(what: u32, buffer: u32, values: &[f32]);
    clear_buffer_i32_slice(what: u32, buffer: u32, values: &[i32]);
    clear_buffer_u32_slice(what: u32, buffer: u32, values: &[u32]);
    clear_buffer_depth_stencil(what: u32, buffer: u32, depth: f32, stencil: i32);

    create_shader(kind: u32) -> Result<Shader, String>;
    shader_source(shader: Shader, source: &str);
    compile_shader(shader: Shader);
    get_shader_compile_status(shader: Shader) -> bool;
    get_shader_info_log(shader: Shader) -> String;
    delete_shader(shader: Shader);
    create_program() -> Result<Program, String>;
    attach_shader(program: Program, shader: Shader);
    bind_attrib_location(program: Program, index: u32, name: &str);
    link_program(program: Program);
    get_program_link_status(program: Program) -> bool;
    get_program_info_log(program: Program) -> String;
    use_program(program: Option<Program>);
    delete_program(program: Program);
    get_uniform_location(program: Program, name: &str) -> Option<Uniform>;
    uniform_1_i32(at: Option<&Uniform>, value: i32);
    uniform_1_f32(at: Option<&Uniform>, value: f32);
    uniform_4_f32(at: Option<&Uniform>, x: f32, y: f32, z: f32, w: f32);
    uniform_4_f32_slice(at: Option<&Uniform>, values: &[f32]);
    uniform_matrix_4_f32_slice(at: Option<&Uniform>, transpose: bool, values: &[f32]);

    get_uniform_block_index(program: Program, name: &str) -> Option<u32>;
    uniform_block_binding(program: Program, block: u32, binding: u32);
    transform_feedback_varyings(program: Program, names: &[&str], mode: u32);

    create_vertex_array() -> Result<VertexArray, String>;
    bind_vertex_array(array: Option<VertexArray>);
    create_buffer() -> Result<Buffer, String>;
    bind_buffer(target: u32, buffer: Option<Buffer>);
    buffer_data_u8_slice(target: u32, data: &[u8], usage: u32);
    buffer_data_size(target: u32, size: i32, usage: u32);
    buffer_sub_data_u8_slice(target: u32, offset: i32, data: &[u8]);
    delete_buffer(buffer: Buffer);
    bind_buffer_base(target: u32, index: u32, buffer: Option<Buffer>);
    bind_buffer_range(target: u32, index: u32, buffer: Option<Buffer>, offset: i32, size: i32);
    copy_buffer_sub_data(from: u32, to: u32, from_offset: i32, to_offset: i32, size: i32);
    get_buffer_sub_data(target: u32, offset: i32, data: &mut [u8]);
    enable_vertex_attrib_array(index: u32);
    disable_vertex_attrib_array(index: u32);
    vertex_attrib_4_f32(index: u32, x: f32, y: f32, z: f32, w: f32);
    vertex_attrib_pointer_f32(index: u32, size: i32, kind: u32, normalized: bool, stride: i32, offset: i32);
    draw_arrays(mode: u32, first: i32, count: i32);
    draw_elements(mode: u32, count: i32, kind: u32, offset: i32);
    vertex_attrib_pointer_i32(index: u32, size: i32, kind: u32, stride: i32, offset: i32);
    vertex_attrib_divisor(index: u32, divisor: u32);
    draw_arrays_instanced(mode: u32, first: i32, count: i32, instances: i32);
    draw_elements_instanced(mode: u32, count: i32, kind: u32, offset: i32, instances: i32);
    draw_elements_base_vertex(mode: u32, count: i32, kind: u32, offset: i32, base: i32);
    begin_transform_feedback(mode: u32);
    end_transform_feedback();
    pause_transform_feedback();
    resume_transform_feedback();
    create_transform_feedback() -> Result<Feedback, String>;
    bind_transform_feedback(target: u32, feedback: Option<Feedback>);

    create_query() -> Result<Query, String>;
    begin_query(target: u32, query: Query);
    end_query(target: u32);
    query_counter(query: Query, target: u32);
    get_query_parameter_u32(query: Query, name: u32) -> u32;
    delete_query(query: Query);
    fence_sync(condition: u32, flags: u32) -> Result<Fence, String>;
    client_wait_sync(fence: Fence, flags: u32, limit: i32) -> u32;
    wait_sync(fence: Fence, flags: u32, limit: u64);
    delete_sync(fence: Fence);

    create_texture() -> Result<Texture, String>;
    active_texture(unit: u32);
    bind_texture(target: u32, texture: Option<Texture>);
    tex_parameter_i32(target: u32, name: u32, value: i32);
    tex_parameter_f32(target: u32, name: u32, value: f32);
    tex_image_2d(target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_sub_image_2d(target: u32, level: i32, x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_image_3d(target: u32, level: i32, internal: i32, width: i32, height: i32, depth: i32, border: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_sub_image_3d(target: u32, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_parameter_f32_slice(target: u32, name: u32, values: &[f32]);
    tex_image_2d_multisample(target: u32, samples: i32, internal: i32, width: i32, height: i32, fixed: bool);
    tex_storage_1d(target: u32, levels: i32, internal: u32, width: i32);
    tex_storage_3d(target: u32, levels: i32, internal: u32, width: i32, height: i32, depth: i32);
    tex_storage_2d(target: u32, levels: i32, internal: u32, width: i32, height: i32);
    compressed_tex_sub_image_2d(target: u32, level: i32, x: i32, y: i32, width: i32, height: i32, format: u32, pixels: CompressedPixelUnpackData<'_>);
    copy_tex_image_2d(target: u32, level: i32, internal: u32, x: i32, y: i32, width: i32, height: i32, border: i32);
    copy_tex_sub_image_2d(target: u32, level: i32, to_x: i32, to_y: i32, x: i32, y: i32, width: i32, height: i32);
    copy_tex_sub_image_3d(target: u32, level: i32, to_x: i32, to_y: i32, to_z: i32, x: i32, y: i32, width: i32, height: i32);
    compressed_tex_sub_image_3d(target: u32, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32, format: u32, pixels: CompressedPixelUnpackData<'_>);
    copy_image_sub_data(from: Texture, from_target: u32, from_level: i32, x: i32, y: i32, z: i32, to: Texture, to_target: u32, to_level: i32, to_x: i32, to_y: i32, to_z: i32, width: i32, height: i32, depth: i32);
    get_tex_image(target: u32, level: i32, format: u32, kind: u32, pixels: PixelPackData<'_>);
    generate_mipmap(target: u32);
    create_sampler() -> Result<Sampler, String>;
    bind_sampler(unit: u32, sampler: Option<Sampler>);
    sampler_parameter_i32(sampler: Sampler, name: u32, value: i32);
    sampler_parameter_f32(sampler: Sampler, name: u32, value: f32);
    sampler_parameter_f32_slice(sampler: Sampler, name: u32, values: &[f32]);
    pixel_store_i32(name: u32, value: i32);
    delete_texture(texture: Texture);

    create_framebuffer() -> Result<Framebuffer, String>;
    bind_framebuffer(target: u32, framebuffer: Option<Framebuffer>);
    framebuffer_texture_2d(target: u32, attachment: u32, texture_target: u32, texture: Option<Texture>, level: i32);
    framebuffer_renderbuffer(target: u32, attachment: u32, renderbuffer_target: u32, renderbuffer: Option<Renderbuffer>);
    framebuffer_texture(target: u32, attachment: u32, texture: Option<Texture>, level: i32);
    framebuffer_texture_layer(target: u32, attachment: u32, texture: Option<Texture>, level: i32, layer: i32);
    read_buffer(buffer: u32);
    invalidate_framebuffer(target: u32, attachments: &[u32]);
    check_framebuffer_status(target: u32) -> u32;
    delete_framebuffer(framebuffer: Framebuffer);
    create_renderbuffer() -> Result<Renderbuffer, String>;
    bind_renderbuffer(target: u32, renderbuffer: Option<Renderbuffer>);
    renderbuffer_storage(target: u32, format: u32, width: i32, height: i32);
    renderbuffer_storage_multisample(target: u32, samples: i32, format: u32, width: i32, height: i32);
    delete_renderbuffer(renderbuffer: Renderbuffer);
    draw_buffers(buffers: &[u32]);
    blit_framebuffer(x0: i32, y0: i32, x1: i32, y1: i32, to_x0: i32, to_y0: i32, to_x1: i32, to_y1: i32, mask: u32, filter: u32);
    read_pixels(x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, pixels: PixelPackData<'_>);
}
