// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Small OpenGL programs on Mesa's r300 driver: surfaceless EGL and GBM, OpenGL ES 2 and desktop OpenGL.
//!
//! They run in the guest, dynamically linked, in the Debian root (`root lapidary-mesa` in a job), each in
//! a process of its own under `tests/harness`. A program passes if the renderer is the GPU's
//! and no fallback, no GL call failed, Mesa complained of nothing (a refused submission is such a
//! complaint), everything submitted came to its end, and neither the model's judge nor the kernel log had
//! anything to say. Pixels are not compared: the model executes no draws.

mod complaints;
mod egl;
mod extensions;
mod gbm;
mod gl;
mod programs;
mod scene;

use anyhow::Result;
use complaints::Complaints;
use egl::{Api, Platform};
use lapidary_guest::device;
use lapidary_harness::Test;
use programs::{basic, geometry, hang, several, target, texture, wait};
use scene::Scene;
use std::process::ExitCode;

/// Seconds for one program. Loading Mesa alone takes some, without hardware help.
const LIMIT: u64 = 120;

fn run(platform: Platform, api: Api, program: fn(&Scene) -> Result<()>) -> Result<()> {
    let complaints = Complaints::collect()?;
    let result = Scene::new(platform, api).and_then(|scene| program(&scene));
    match (result, complaints.none()) {
        (Ok(()), said) => said,
        (Err(error), Ok(())) => Err(error),
        (Err(error), Err(said)) => Err(error.context(said.to_string())),
    }
}

/// A test for each line: name, platform, API, function.
macro_rules! programs {
    ($($name:literal $platform:ident $api:ident $function:path;)*) => {
        vec![$(
            Test::new($name, |_| run(Platform::$platform, Api::$api, $function)).limit(LIMIT)
        ),*]
    };
}

fn main() -> ExitCode {
    let mut tests = programs! {
        "clear" Surfaceless Es2 basic::clear;
        "triangle" Surfaceless Es2 basic::triangle;
        "depth-stencil" Surfaceless Es2 basic::depth_stencil;
        "blend" Surfaceless Es2 basic::blend;
        "scissor" Surfaceless Es2 basic::scissor;
        "mipmaps" Surfaceless Es2 texture::mipmaps;
        "cube-map" Surfaceless Es2 texture::cube_map;
        "upload" Surfaceless Es2 texture::upload;
        "compressed" Surfaceless Es2 texture::compressed;
        "copies" Surfaceless Es2 texture::copies;
        "units" Surfaceless Es2 texture::units;
        "buffers" Surfaceless Es2 geometry::buffers;
        "indices" Surfaceless Es2 geometry::indices;
        "points-lines" Surfaceless Es2 geometry::points_lines;
        "uniforms" Surfaceless Es2 geometry::uniforms;
        "shaders" Surfaceless Es2 geometry::shaders;
        "big" Surfaceless Es2 geometry::big;
        "render-to-texture" Surfaceless Es2 target::render_to_texture;
        "formats" Surfaceless Es2 target::formats;
        "readback" Surfaceless Es2 target::readback;
        "multisample" Surfaceless Desktop target::multisample;
        "several-targets" Surfaceless Desktop target::several_targets;
        "desktop" Surfaceless Desktop target::desktop;
        "fences" Surfaceless Es2 wait::fences;
        "queries" Surfaceless Es2 wait::queries;
        "contexts" Surfaceless Es2 several::contexts;
        "gbm-triangle" Gbm Es2 basic::triangle;
        "gbm-mipmaps" Gbm Es2 texture::mipmaps;
        "gbm-swap-chain" Gbm Es2 target::swap_chain;
    };
    tests.push(
        Test::new("two-clients", |_| {
            several::two_clients(["uniforms", "render-to-texture"])
        })
        .limit(2 * LIMIT),
    );
    // Only when asked for by name: upstream's driver does something else then, and the dialogue is not to be compared.
    if std::env::args().any(|word| word == "context-lost" || word == "innocent") {
        tests.extend(programs! { "innocent" Surfaceless Es2 hang::innocent; });
        tests.push(
            Test::new("context-lost", hang::context_lost)
                .needs_control()
                .lapidary_only("upstream's driver does not refuse a client whose commands hang")
                .hangs(1)
                .limit(2 * LIMIT),
        );
    }
    lapidary_harness::main(device::driver, tests)
}
