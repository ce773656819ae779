// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Small OpenGL programs on Mesa's r300 and r600 drivers: surfaceless EGL and GBM, OpenGL ES 2 and 3, desktop OpenGL 2.1
//! and 3.3. What Mesa does not have on a chip is skipped there.
//!
//! They run in the guest, dynamically linked, in the Debian root (`root lapidary-mesa` in a job), each in
//! a process of its own under `tests/harness`. A program passes if the renderer is the GPU's
//! and no fallback, no GL call failed, Mesa complained of nothing (a refused submission is such a
//! complaint), everything submitted came to its end, and neither the model's judge nor the kernel log had
//! anything to say. Pixels are not compared: the model executes no draws.

mod chips;
mod complaints;
mod egl;
mod entries;
mod extensions;
mod gbm;
mod gl;
mod modern;
mod programs;
mod scene;

use anyhow::Result;
use complaints::Complaints;
use egl::{Api, Platform};
use lapidary_guest::device;
use lapidary_harness::Test;
use programs::{
    basic, blocks, conditions, copies, depth, feedback, fixed, geometry, hang, instances, language,
    layers, outputs, samples, several, stage, target, texture, wait,
};
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
            chips::declare(
                $name,
                Test::new($name, |_| run(Platform::$platform, Api::$api, $function))
                    .only_if(|| chips::need(Api::$api))
                    .limit(LIMIT),
            )
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

        "uniform-blocks" Surfaceless Es3 blocks::uniform_blocks;
        "constants" Surfaceless Es3 blocks::constants;
        "occlusion" Surfaceless Es3 conditions::occlusion;
        "blits" Surfaceless Es3 copies::blits;
        "buffer-copies" Surfaceless Es3 copies::buffers;
        "pixel-buffers" Surfaceless Es3 copies::pixel_buffers;
        "depth-formats" Surfaceless Es3 depth::formats;
        "depth-copies" Surfaceless Es3 depth::copies;
        "shadows" Surfaceless Es3 depth::shadows;
        "feedback" Surfaceless Es3 feedback::buffers;
        "feedback-paused" Surfaceless Es3 feedback::paused;
        "instances" Surfaceless Es3 instances::instances;
        "attributes" Surfaceless Es3 instances::attributes;
        "restarts" Surfaceless Es3 instances::restarts;
        "arithmetic" Surfaceless Es3 language::arithmetic;
        "arrays" Surfaceless Es3 language::arrays;
        "fetches" Surfaceless Es3 language::fetches;
        "volumes" Surfaceless Es3 layers::volumes;
        "texture-formats" Surfaceless Es3 layers::formats;
        "samplers" Surfaceless Es3 layers::samplers;
        "eight-targets" Surfaceless Es3 outputs::eight_targets;
        "target-formats" Surfaceless Es3 outputs::formats;
        "resolves" Surfaceless Es3 samples::resolves;
        "several-with-samples" Surfaceless Core samples::several;
        "syncs" Surfaceless Es3 wait::syncs;
        "gbm-instances" Gbm Es3 instances::instances;

        "immediate" Surfaceless Desktop fixed::immediate;
        "pixels" Surfaceless Desktop fixed::pixels;
        "client-memory" Surfaceless Desktop fixed::client_memory;

        "texture-buffers" Surfaceless Core blocks::texture_buffers;
        "statistics" Surfaceless Core conditions::statistics;
        "conditional" Surfaceless Core conditions::conditional;
        "occlusion-counts" Surfaceless Core conditions::occlusion;
        "images" Surfaceless Core copies::images;
        "cleared-buffers" Surfaceless Core copies::buffers;
        "feedback-strips" Surfaceless Core feedback::buffers;
        "feedback-drawn" Surfaceless Core feedback::paused;
        "feedback-overflow" Surfaceless Core feedback::overflow;
        "offsets" Surfaceless Core instances::offsets;
        "restart-index" Surfaceless Core instances::restarts;
        "lines-rectangles" Surfaceless Core layers::lines;
        "compressed-layers" Surfaceless Core layers::compressed;
        "borders" Surfaceless Core layers::samplers;
        "blend-by-target" Surfaceless Core outputs::blending;
        "desktop-formats" Surfaceless Core outputs::desktop_formats;
        "sample-textures" Surfaceless Core samples::textures;
        "sample-shading" Surfaceless Core samples::shading;
        "geometry" Surfaceless Core stage::geometry;
        "geometry-feedback" Surfaceless Core stage::geometry_feedback;
        "layered" Surfaceless Core stage::layered;
        "between" Surfaceless Core stage::between;
        "viewports" Surfaceless Core stage::viewports;
    };
    tests.push(
        Test::new("two-clients", |_| {
            several::two_clients("two-clients", ["uniforms", "render-to-texture"])
        })
        .limit(2 * LIMIT),
    );
    tests.push(chips::declare(
        "two-newer-clients",
        Test::new("two-newer-clients", |_| {
            several::two_clients("two-newer-clients", ["geometry", "feedback-drawn"])
        })
        .only_if(|| chips::need(Api::Core))
        .limit(2 * LIMIT),
    ));
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
