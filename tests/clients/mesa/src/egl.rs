// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A current OpenGL context without a window system: EGL's surfaceless platform, or GBM.

use crate::extensions::Extensions;
use crate::gbm::{self, Gbm};
use crate::gl::Gl;
use anyhow::{Context as _, Result, ensure};
use khronos_egl as egl;
use lapidary_guest::device::Device;
use std::ffi::c_void;
use std::fs::File;

/// `EGL_PLATFORM_GBM_MESA`.
const PLATFORM_GBM: egl::Enum = 0x31d7;
/// `EGL_PLATFORM_SURFACELESS_MESA`.
const PLATFORM_SURFACELESS: egl::Enum = 0x31dd;
/// `EGL_NATIVE_VISUAL_ID`.
const NATIVE_VISUAL_ID: egl::Int = 0x302e;

type Instance = egl::DynamicInstance<egl::EGL1_5>;

/// Where the context comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// `EGL_MESA_platform_surfaceless`: Mesa chooses the render node.
    Surfaceless,
    /// `EGL_KHR_platform_gbm` on the first render node of a `radeon` device.
    Gbm,
}

/// Which OpenGL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Api {
    /// OpenGL ES 2.
    Es2,
    /// OpenGL 2.1, compatibility.
    Desktop,
    /// OpenGL ES 3.
    Es3,
    /// OpenGL 3.3, core.
    Core,
}

impl Api {
    fn is_es(self) -> bool {
        matches!(self, Api::Es2 | Api::Es3)
    }
}

/// A display with one or more contexts, of which one is current.
pub struct Egl {
    instance: Instance,
    display: egl::Display,
    config: egl::Config,
    api: Api,
    context: egl::Context,
    gbm: Option<Gbm>,
}

impl Egl {
    /// Open the platform's display and make a context current, without a surface.
    pub fn new(platform: Platform, api: Api) -> Result<Egl> {
        // SAFETY: libEGL has no initialisers with conditions.
        let instance = unsafe { Instance::load_required() }.context("libEGL")?;
        let gbm = match platform {
            Platform::Surfaceless => None,
            Platform::Gbm => {
                let path = Device::open()?.path().to_owned();
                let node = File::options().read(true).write(true).open(path)?;
                Some(Gbm::open(node)?)
            }
        };
        let (kind, native) = match &gbm {
            None => (PLATFORM_SURFACELESS, egl::DEFAULT_DISPLAY),
            Some(gbm) => (PLATFORM_GBM, gbm.as_ptr()),
        };
        // SAFETY: the native display is what the platform wants, and lives as long as this value.
        let display = unsafe { instance.get_platform_display(kind, native, &[egl::ATTRIB_NONE]) }
            .context("eglGetPlatformDisplay")?;
        instance.initialize(display).context("eglInitialize")?;
        let kind = if api.is_es() {
            egl::OPENGL_ES_API
        } else {
            egl::OPENGL_API
        };
        instance.bind_api(kind).context("eglBindAPI")?;
        let config = Self::config(&instance, display, platform, api)?;
        let context = Self::make_context(&instance, display, config, api, None)?;
        instance
            .make_current(display, None, None, Some(context))
            .context("eglMakeCurrent")?;
        Ok(Egl {
            instance,
            display,
            config,
            api,
            context,
            gbm,
        })
    }

    fn config(
        instance: &Instance,
        display: egl::Display,
        platform: Platform,
        api: Api,
    ) -> Result<egl::Config> {
        let renderable = match api {
            Api::Es2 => egl::OPENGL_ES2_BIT,
            Api::Es3 => egl::OPENGL_ES3_BIT,
            Api::Desktop | Api::Core => egl::OPENGL_BIT,
        };
        let surface = match platform {
            Platform::Surfaceless => egl::PBUFFER_BIT,
            Platform::Gbm => egl::WINDOW_BIT,
        };
        let wanted = [
            egl::SURFACE_TYPE,
            surface,
            egl::RENDERABLE_TYPE,
            renderable,
            egl::RED_SIZE,
            8,
            egl::DEPTH_SIZE,
            24,
            egl::STENCIL_SIZE,
            8,
            egl::NONE,
        ];
        let mut configs = Vec::with_capacity(256);
        instance
            .choose_config(display, &wanted, &mut configs)
            .context("eglChooseConfig")?;
        configs
            .into_iter()
            .find(|&config| {
                // A swap chain's format must be the config's; the other platform has none.
                platform == Platform::Surfaceless
                    || instance.get_config_attrib(display, config, NATIVE_VISUAL_ID)
                        == Ok(gbm::XRGB8888 as egl::Int)
            })
            .context("no config with 8 bits a channel, depth and stencil")
    }

    fn make_context(
        instance: &Instance,
        display: egl::Display,
        config: egl::Config,
        api: Api,
        shared: Option<egl::Context>,
    ) -> Result<egl::Context> {
        let attributes: &[egl::Int] = match api {
            Api::Es2 => &[egl::CONTEXT_MAJOR_VERSION, 2, egl::NONE],
            Api::Es3 => &[egl::CONTEXT_MAJOR_VERSION, 3, egl::NONE],
            Api::Desktop => &[egl::NONE],
            Api::Core => &[
                egl::CONTEXT_MAJOR_VERSION,
                3,
                egl::CONTEXT_MINOR_VERSION,
                3,
                egl::CONTEXT_OPENGL_PROFILE_MASK,
                egl::CONTEXT_OPENGL_CORE_PROFILE_BIT,
                egl::NONE,
            ],
        };
        instance
            .create_context(display, config, shared, attributes)
            .context("eglCreateContext")
    }

    /// Return which OpenGL the contexts are of.
    pub fn api(&self) -> Api {
        self.api
    }

    /// Return the address of a call, if Mesa has one of that name.
    pub fn address(&self, name: &str) -> Option<extern "system" fn()> {
        self.instance.get_proc_address(name)
    }

    /// Return the current context's calls.
    pub fn gl(&self) -> Gl {
        let load = |name: &str| -> *const c_void {
            self.instance
                .get_proc_address(name)
                .map_or(std::ptr::null(), |call| call as *const c_void)
        };
        // SAFETY: this value's context is current in this thread, and the addresses are EGL's.
        unsafe { Gl::load(load) }
    }

    /// Return further calls of the current context.
    pub fn extensions(&self) -> Result<Extensions> {
        let queries = if self.api == Api::Es2 { "EXT" } else { "" };
        Extensions::load(|name| self.instance.get_proc_address(name), queries)
    }

    /// Make another context that shares objects with the first.
    pub fn another(&self) -> Result<egl::Context> {
        let shared = Some(self.context);
        Self::make_context(&self.instance, self.display, self.config, self.api, shared)
    }

    /// Make another context of this display current; `None` is the first.
    pub fn switch(&self, context: Option<egl::Context>) -> Result<()> {
        let context = context.unwrap_or(self.context);
        self.instance
            .make_current(self.display, None, None, Some(context))
            .context("eglMakeCurrent")
    }

    /// Destroy a context that [`Egl::another`] made and that is not current.
    pub fn destroy(&self, context: egl::Context) -> Result<()> {
        self.instance
            .destroy_context(self.display, context)
            .context("eglDestroyContext")
    }

    /// Make a fence and wait for it, at most ten seconds.
    pub fn fence(&self) -> Result<()> {
        const LIMIT: egl::Time = 10_000_000_000;
        // SAFETY: the display is initialised, the sync object is this call's own.
        let answer = unsafe {
            let fence = self
                .instance
                .create_sync(
                    self.display,
                    egl::SYNC_FENCE as egl::Enum,
                    &[egl::ATTRIB_NONE],
                )
                .context("eglCreateSync")?;
            let flush = egl::SYNC_FLUSH_COMMANDS_BIT as egl::Int;
            let answer = self
                .instance
                .client_wait_sync(self.display, fence, flush, LIMIT)
                .context("eglClientWaitSync")?;
            self.instance.destroy_sync(self.display, fence)?;
            answer
        };
        ensure!(
            answer == egl::CONDITION_SATISFIED as egl::Int,
            "a fence was not signalled in ten seconds ({answer:#x})"
        );
        Ok(())
    }

    /// Draw `frames` frames into a swap chain of GBM; `draw` is given the number of the frame.
    pub fn swap_chain(
        &self,
        width: u32,
        height: u32,
        frames: u32,
        mut draw: impl FnMut(u32) -> Result<()>,
    ) -> Result<()> {
        let gbm = self.gbm.as_ref().context("a swap chain needs GBM")?;
        let native = gbm.surface(width, height)?;
        // SAFETY: a surface of the same device as the display, which lives on.
        let surface = unsafe {
            self.instance.create_platform_window_surface(
                self.display,
                self.config,
                native.as_ptr(),
                &[egl::ATTRIB_NONE],
            )
        }
        .context("eglCreatePlatformWindowSurface")?;
        let both = Some(surface);
        self.instance
            .make_current(self.display, both, both, Some(self.context))
            .context("eglMakeCurrent")?;
        for frame in 0..frames {
            draw(frame)?;
            self.instance
                .swap_buffers(self.display, surface)
                .context("eglSwapBuffers")?;
            let stride = gbm.cycle(native)?;
            ensure!(
                stride >= 4 * width,
                "a row of {width} pixels has {stride} bytes"
            );
        }
        self.switch(None)?;
        self.instance
            .destroy_surface(self.display, surface)
            .context("eglDestroySurface")
    }
}

impl Drop for Egl {
    fn drop(&mut self) {
        // Mesa's threads end here, so that all they said is in a recording.
        let _ = self.instance.make_current(self.display, None, None, None);
        let _ = self.instance.destroy_context(self.display, self.context);
        let _ = self.instance.terminate(self.display);
    }
}
