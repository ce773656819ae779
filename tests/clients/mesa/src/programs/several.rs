// SPDX-License-Identifier: GPL-2.0 OR MIT

//! More than one: contexts of one process, and processes at once.

use crate::scene::{SIDE, Scene, TEXTURED, VERTEX};
use anyhow::{Context as _, Result, bail};
use glow as c;
use std::process::{Child, Command, Stdio};

/// Draw by three contexts that share objects and take turns. Two end before the first.
pub fn contexts(scene: &Scene) -> Result<()> {
    let gl = &scene.gl;
    let texture = scene.texture(64, 64)?;
    let others = [scene.egl.another()?, scene.egl.another()?];
    for context in [None, Some(others[0]), Some(others[1])] {
        scene.egl.switch(context)?;
        scene.target(SIDE, SIDE, true)?;
        scene.program(VERTEX, TEXTURED)?;
        scene.whole()?;
        gl.bind_texture(c::TEXTURE_2D, Some(texture));
    }
    for _ in 0..3 {
        for context in [None, Some(others[0]), Some(others[1])] {
            scene.egl.switch(context)?;
            gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
            gl.flush();
        }
    }
    for context in [None, Some(others[1]), Some(others[0])] {
        scene.egl.switch(context)?;
        scene.read(0, 0, 16, 16)?;
        scene.done("contexts in turn")?;
    }
    scene.egl.switch(None)?;
    for other in others {
        scene.egl.destroy(other)?;
    }
    gl.draw_arrays(c::TRIANGLE_STRIP, 0, 4);
    scene.done("the last context")
}

/// Run two of the other programs at the same time, each in a process of its own. `name` is that of the test.
pub fn two_clients(name: &str, programs: [&str; 2]) -> Result<()> {
    let this = std::env::current_exe()?;
    let mut clients: Vec<(&str, Child)> = Vec::new();
    for program in programs {
        let child = Command::new(&this)
            .args(["--child", program])
            .env("LAPIDARY_TEST", format!("{name}-{program}"))
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("starting {program}"))?;
        clients.push((program, child));
    }
    let mut complaints = Vec::new();
    for (program, child) in clients {
        let output = child.wait_with_output()?;
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stdout);
            complaints.push(format!("{program}: {} {}", output.status, said.trim()));
        }
    }
    if !complaints.is_empty() {
        bail!("{}", complaints.join("; "));
    }
    Ok(())
}
