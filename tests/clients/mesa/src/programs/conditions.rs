// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Queries of every kind, and draws that happen only if a query says so. What the counts are is not looked at: the model
//! does not draw.

use crate::gl::Query;
use crate::modern::{PASS, SHOW};
use crate::scene::Scene;
use anyhow::{Result, ensure};
use glow as c;

/// `GL_PRIMITIVES_SUBMITTED` … `GL_CLIPPING_OUTPUT_PRIMITIVES` of ARB_pipeline_statistics_query without those of stages
/// that these chips have not.
const STATISTICS: [u32; 8] = [
    0x82ee, 0x82ef, 0x82f0, 0x82f3, 0x82f4, 0x82f6, 0x82f7, 0x887f,
];
/// `GL_QUERY_WAIT_INVERTED` and the three behind it.
const INVERTED: std::ops::RangeInclusive<u32> = 0x8e17..=0x8e1a;

/// Wait for a query, and see that it is ready after that.
fn answered(scene: &Scene, query: Query) -> Result<()> {
    let gl = &scene.gl;
    gl.get_query_parameter_u32(query, c::QUERY_RESULT);
    let ready = gl.get_query_parameter_u32(query, c::QUERY_RESULT_AVAILABLE);
    ensure!(ready == 1, "a query that was waited for is not ready");
    Ok(())
}

fn prepared(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    scene.usual(c::RGBA8)?;
    scene.attach(
        c::DEPTH_STENCIL_ATTACHMENT,
        c::DEPTH24_STENCIL8,
        [crate::scene::SIDE; 2],
    )?;
    scene.complete()?;
    scene.modern(PASS, SHOW)?;
    scene.whole()?;
    gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT | c::STENCIL_BUFFER_BIT);
    gl.enable(c::DEPTH_TEST);
    Ok(())
}

/// Count samples in numbers and as yes or no, many at once, empty ones, and over the end of a submission.
pub fn occlusion(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    prepared(scene)?;
    let mut kinds = vec![c::ANY_SAMPLES_PASSED, c::ANY_SAMPLES_PASSED_CONSERVATIVE];
    if !scene.is_es() {
        kinds.push(c::SAMPLES_PASSED);
    }
    for kind in kinds {
        let mut queries = Vec::new();
        for i in 0..40 {
            let query = scene.query()?;
            gl.begin_query(kind, query);
            if i % 4 != 0 {
                gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
            }
            if i % 7 == 0 {
                gl.flush();
                gl.draw_arrays(c::TRIANGLE_STRIP, 0, 3);
            }
            gl.end_query(kind);
            queries.push(query);
        }
        for query in queries {
            answered(scene, query)?;
            gl.delete_query(query);
        }
        scene.done("occlusion queries")?;
    }
    Ok(())
}

/// Measure time, and what the stages did.
pub fn statistics(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    prepared(scene)?;
    let elapsed = scene.query()?;
    gl.begin_query(c::TIME_ELAPSED, elapsed);
    scene.strip("time")?;
    let now = scene.query()?;
    gl.query_counter(now, c::TIMESTAMP);
    gl.flush();
    scene.strip("time after a submission")?;
    gl.end_query(c::TIME_ELAPSED);
    for query in [elapsed, now] {
        answered(scene, query)?;
    }
    scene.need("GL_ARB_pipeline_statistics_query")?;
    let mut queries = Vec::new();
    for kind in STATISTICS {
        let query = scene.query()?;
        gl.begin_query(kind, query);
        scene
            .check("a statistic")
            .map_err(|e| e.context(format!("{kind:#x}")))?;
        queries.push(query);
    }
    scene.strip("statistics")?;
    gl.flush();
    scene.strip("statistics after a submission")?;
    for kind in STATISTICS {
        gl.end_query(kind);
    }
    for query in queries {
        answered(scene, query)?;
    }
    scene.done("statistics")
}

/// Draw and clear under every kind of condition, by samples and by overflow of a capture.
pub fn conditional(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    prepared(scene)?;
    scene.need("GL_ARB_conditional_render_inverted")?;
    let modes = [
        c::QUERY_WAIT,
        c::QUERY_NO_WAIT,
        c::QUERY_BY_REGION_WAIT,
        0x8e16,
    ];
    for kind in [c::SAMPLES_PASSED, c::ANY_SAMPLES_PASSED] {
        let query = scene.query()?;
        gl.begin_query(kind, query);
        scene.strip("a condition")?;
        gl.flush();
        scene.strip("the rest of a condition")?;
        gl.end_query(kind);
        for mode in modes.into_iter().chain(INVERTED) {
            scene.entries.begin_condition(query, mode);
            scene.strip("a conditional draw")?;
            gl.clear(c::COLOR_BUFFER_BIT);
            scene.entries.end_condition();
        }
        // The condition holds over the end of a submission.
        scene.entries.begin_condition(query, c::QUERY_WAIT);
        scene.strip("a conditional draw")?;
        gl.flush();
        scene.strip("a conditional draw after a submission")?;
        scene.entries.end_condition();
        answered(scene, query)?;
    }
    scene.done("conditional draws")
}
