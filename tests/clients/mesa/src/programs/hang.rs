// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A GPU that hangs, as Mesa's users see it: the innocent see nothing, and the guilty learns it from its refused
//! submissions.
//!
//! Mesa's r300 asks the kernel for no reset status and offers no robustness extension, so OpenGL itself has nothing to
//! tell. What is left is the line that Mesa prints when the kernel refuses a submission.

use crate::complaints::Complaints;
use crate::egl::{Api, Platform};
use crate::scene::{PLAIN, Scene, VERTEX};
use anyhow::{Context as _, Result, bail, ensure};
use glow as c;
use lapidary_harness::Context;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What Mesa prints of a submission that is answered with `ECANCELED`.
const REFUSED: &str = "The kernel rejected CS, see dmesg for more information (-125)";
/// How long a hang may last: the driver's `hang_ms`, the reset, and time for a loaded machine.
const BOUND: Duration = Duration::from_secs(20);
/// What a child says when it is ready.
const READY: &str = "ready";

fn frames(scene: &Scene, count: usize) -> Result<()> {
    let gl = &scene.gl;
    scene.usual_target(true)?;
    scene.program(VERTEX, PLAIN)?;
    scene.whole()?;
    for _ in 0..count {
        gl.clear(c::COLOR_BUFFER_BIT | c::DEPTH_BUFFER_BIT);
        gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.done("a frame")?;
    }
    Ok(())
}

/// Draw frames, wait for a line from the process that started this one, and draw more.
pub fn innocent(scene: &Scene) -> Result<()> {
    frames(scene, 4)?;
    println!("{READY}");
    std::io::stdout().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    frames(scene, 16)
}

/// A client of Mesa hangs the GPU while another one draws.
pub fn context_lost(context: &mut Context) -> Result<()> {
    let mut other = Command::new(std::env::current_exe()?)
        .args(["--child", "innocent"])
        .env("LAPIDARY_TEST", "context-lost-innocent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut said = BufReader::new(other.stdout.take().context("no output")?);
    let mut line = String::new();
    while line.trim() != READY {
        line.clear();
        ensure!(said.read_line(&mut line)? != 0, "the other client ended");
    }

    let complaints = Complaints::collect()?;
    let scene = Scene::new(Platform::Surfaceless, Api::Es2)?;
    for name in ["GL_KHR_robustness", "GL_EXT_robustness"] {
        ensure!(!scene.has(name), "{name}: Mesa has learnt to tell");
    }
    frames(&scene, 2)?;
    ensure!(
        complaints.so_far()?.is_empty(),
        "complaints before the hang"
    );
    context.control()?.fault("endless-buffer", 1)?;
    let begin = Instant::now();
    scene.gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.gl.flush();
    // Mesa submits in a thread of its own; the other client's work is to come behind this.
    std::thread::sleep(Duration::from_millis(300));
    writeln!(other.stdin.take().context("no input")?, "go on")?;
    scene.gl.finish();
    ensure!(
        begin.elapsed() < BOUND,
        "the hang took {:?}",
        begin.elapsed()
    );

    // From now on the guilty is refused, and says so, but its calls return.
    for _ in 0..3 {
        scene.gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
        scene.gl.finish();
    }
    ensure!(scene.gl.get_error() == c::NO_ERROR, "an error of OpenGL");
    drop(scene);
    let lines = complaints.so_far()?;
    ensure!(!lines.is_empty(), "the guilty was not told");
    if let Some(line) = lines.iter().find(|line| !line.contains(REFUSED)) {
        bail!("Mesa said something else: {line}");
    }

    let mut rest = String::new();
    said.read_to_string(&mut rest)?;
    let status = other.wait()?;
    ensure!(status.success(), "the innocent: {status} {}", rest.trim());
    Ok(())
}
