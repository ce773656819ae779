// SPDX-License-Identifier: GPL-2.0 OR MIT

//! OpenGL calls without `unsafe` at every line.
//!
//! What makes a GL call unsafe is that it needs a current context and that some calls read memory of the
//! caller later on. [`Gl`] exists only while its context is current in this thread (see [`crate::egl`]),
//! and the calls below take slices, so that nothing is left for the caller to promise; calls with client
//! pointers are in [`crate::extensions`].

use glow::HasContext;
pub use glow::{
    CompressedPixelUnpackData, NativeBuffer as Buffer, NativeFramebuffer as Framebuffer,
    NativeProgram as Program, NativeRenderbuffer as Renderbuffer, NativeShader as Shader,
    NativeTexture as Texture, NativeUniformLocation as Uniform, PixelPackData, PixelUnpackData,
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

    create_buffer() -> Result<Buffer, String>;
    bind_buffer(target: u32, buffer: Option<Buffer>);
    buffer_data_u8_slice(target: u32, data: &[u8], usage: u32);
    buffer_data_size(target: u32, size: i32, usage: u32);
    buffer_sub_data_u8_slice(target: u32, offset: i32, data: &[u8]);
    delete_buffer(buffer: Buffer);
    enable_vertex_attrib_array(index: u32);
    disable_vertex_attrib_array(index: u32);
    vertex_attrib_4_f32(index: u32, x: f32, y: f32, z: f32, w: f32);
    vertex_attrib_pointer_f32(index: u32, size: i32, kind: u32, normalized: bool, stride: i32, offset: i32);
    draw_arrays(mode: u32, first: i32, count: i32);
    draw_elements(mode: u32, count: i32, kind: u32, offset: i32);

    create_texture() -> Result<Texture, String>;
    active_texture(unit: u32);
    bind_texture(target: u32, texture: Option<Texture>);
    tex_parameter_i32(target: u32, name: u32, value: i32);
    tex_parameter_f32(target: u32, name: u32, value: f32);
    tex_image_2d(target: u32, level: i32, internal: i32, width: i32, height: i32, border: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_sub_image_2d(target: u32, level: i32, x: i32, y: i32, width: i32, height: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_image_3d(target: u32, level: i32, internal: i32, width: i32, height: i32, depth: i32, border: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_sub_image_3d(target: u32, level: i32, x: i32, y: i32, z: i32, width: i32, height: i32, depth: i32, format: u32, kind: u32, pixels: PixelUnpackData<'_>);
    tex_storage_2d(target: u32, levels: i32, internal: u32, width: i32, height: i32);
    compressed_tex_sub_image_2d(target: u32, level: i32, x: i32, y: i32, width: i32, height: i32, format: u32, pixels: CompressedPixelUnpackData<'_>);
    copy_tex_image_2d(target: u32, level: i32, internal: u32, x: i32, y: i32, width: i32, height: i32, border: i32);
    copy_tex_sub_image_2d(target: u32, level: i32, to_x: i32, to_y: i32, x: i32, y: i32, width: i32, height: i32);
    generate_mipmap(target: u32);
    pixel_store_i32(name: u32, value: i32);
    delete_texture(texture: Texture);

    create_framebuffer() -> Result<Framebuffer, String>;
    bind_framebuffer(target: u32, framebuffer: Option<Framebuffer>);
    framebuffer_texture_2d(target: u32, attachment: u32, texture_target: u32, texture: Option<Texture>, level: i32);
    framebuffer_renderbuffer(target: u32, attachment: u32, renderbuffer_target: u32, renderbuffer: Option<Renderbuffer>);
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
