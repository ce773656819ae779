// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A test program in which every outcome occurs, for the harness's own test (`tests/harness.rs`).

use anyhow::{Result, bail, ensure};
use lapidary_harness::child::{self, End};
use lapidary_harness::{Context, Test, main as run, skip};
use std::process::ExitCode;
use std::time::Duration;

/// Check how children end. This stands here and not in a unit test, because forking needs a process with one thread.
fn ends_of_children(_: &mut Context) -> Result<()> {
    let limit = Duration::from_secs(10);
    ensure!(child::run(limit, || Ok(7))? == End::Exit(7), "a status");
    ensure!(
        child::run(limit, || bail!("as it should"))? == End::Exit(child::FAILED),
        "an error"
    );
    let sleeper = child::spawn(|| {
        std::thread::sleep(Duration::from_secs(60));
        Ok(0)
    })?;
    sleeper.signal(libc::SIGTERM);
    ensure!(
        sleeper.wait(limit)? == End::Signal(libc::SIGTERM),
        "a signal"
    );
    Ok(())
}

fn main() -> ExitCode {
    run(
        || None,
        vec![
            Test::new("good/passes", |_| Ok(())),
            Test::new("good/ends_of_children", ends_of_children),
            Test::new("good/skips", |_| skip("not today")),
            Test::new("good/needs_the_model", |_| Ok(())).needs_control(),
            Test::new("good/not_here", |_| bail!("it ran")).only_if(|| skip("elsewhere")),
            Test::new("good/here", |_| Ok(())).only_if(|| Ok(())),
            Test::new("good/differs", |_| bail!("the known way"))
                .lapidary_answers("known", "it was decided so"),
            Test::new("good/left_out", |_| Ok(())).upstream_only("upstream has it"),
            Test::new("bad/differs_no_more", |_| Ok(())).lapidary_answers("known", "it was so"),
            Test::new("bad/fails", |_| bail!("as it\nshould")),
            Test::new("bad/panics", |_| panic!("on purpose")),
            Test::new("bad/dies", |_| std::process::abort()),
            Test::new("bad/hangs", |_| {
                // Longer than the limit, so that it is asleep when the harness looks.
                loop {
                    std::thread::sleep(Duration::from_secs(60));
                }
            })
            .limit(1),
            Test::new("bad/leaves_a_child", |_| {
                // The harness must neither wait for it nor leave it behind.
                let child = child::spawn(|| {
                    loop {
                        std::thread::sleep(Duration::from_secs(1));
                    }
                })?;
                println!("child {}", child.pid());
                std::mem::forget(child);
                bail!("with a child")
            }),
        ],
    )
}
