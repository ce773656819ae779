// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Waiting for the GPU: glFinish, fences, occlusion queries.

use crate::modern::{PASS, SHOW};
use crate::scene::{PLAIN, Scene, VERTEX};
use anyhow::{Result, anyhow, ensure};
use glow as c;

/// Call glFlush, glFinish and EGL fences, with work in between and without.
pub fn fences(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(false)?;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    gl.finish();
    gl.finish();
    for _ in 0..8 {
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        gl.flush();
    }
    gl.finish();
    for _ in 0..4 {
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.egl.fence()?;
    }
    scene.egl.fence()?;
    scene.done("fences")
}

/// Use fences of OpenGL ES 3, waited for by the CPU and by the GPU, signalled and not, and thrown away.
pub fn syncs(scene: &Scene) -> Result<()> {
    /// Nanoseconds.
    const LIMIT: i32 = i32::MAX;
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.modern(PASS, SHOW)?;
    scene.whole()?;
    for turn in 0..6 {
        scene.strip("before a fence")?;
        let fence = gl
            .fence_sync(c::SYNC_GPU_COMMANDS_COMPLETE, 0)
            .map_err(|e| anyhow!(e))?;
        if turn % 2 == 0 {
            gl.wait_sync(fence, 0, u64::MAX);
            scene.strip("after a wait of the GPU")?;
        }
        if turn != 5 {
            let flush = c::SYNC_FLUSH_COMMANDS_BIT;
            let mut answer = c::TIMEOUT_EXPIRED;
            for _ in 0..5 {
                answer = gl.client_wait_sync(fence, flush, LIMIT);
                if answer != c::TIMEOUT_EXPIRED {
                    break;
                }
            }
            ensure!(
                [c::ALREADY_SIGNALED, c::CONDITION_SATISFIED].contains(&answer),
                "a fence was not signalled in ten seconds ({answer:#x})"
            );
            let again = gl.client_wait_sync(fence, 0, 0);
            ensure!(
                again == c::ALREADY_SIGNALED,
                "a signalled fence answers {again:#x}"
            );
        }
        gl.delete_sync(fence);
    }
    scene.read(0, 0, 16, 16)?;
    scene.done("fences of the GPU")
}

/// Run occlusion queries one after another, and several under way at once. How many samples passed is not looked at:
/// the model does not draw.
pub fn queries(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(true)?;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    let target = if scene.has("GL_EXT_occlusion_query_boolean") {
        c::ANY_SAMPLES_PASSED
    } else {
        scene.need("GL_ARB_occlusion_query")?;
        c::SAMPLES_PASSED
    };
    gl.enable(c::DEPTH_TEST);
    let queries = [(); 5].map(|()| scene.more.create_query());
    for &query in &queries {
        scene.more.begin_query(target, query);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 3);
        scene.more.end_query(target);
    }
    scene.check("queries")?;
    for &query in &queries {
        scene.more.query_object(query, c::QUERY_RESULT);
        let ready = scene.more.query_object(query, c::QUERY_RESULT_AVAILABLE);
        ensure!(ready == 1, "a query that was waited for is not ready");
    }
    // A query over a submission's end.
    scene.more.begin_query(target, queries[0]);
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    gl.flush();
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.more.end_query(target);
    scene.more.query_object(queries[0], c::QUERY_RESULT);
    for query in queries {
        scene.more.delete_query(query);
    }
    scene.done("queries")
}
