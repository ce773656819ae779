// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The copy of the checkout in which edits are made.
//!
//! It has an output folder of its own, which stays between runs, so that only what an edit touches is built again.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail, ensure};

use crate::{
    list::{Mutant, Step},
    outcome::Run,
};

/// The copy.
pub struct Tree {
    root: PathBuf,
}

/// An edit that has been made. Dropping it undoes it as well as it can.
pub struct Edit {
    file: PathBuf,
    before: String,
    undone: bool,
}

impl Tree {
    /// Make or refresh the copy at `root` from HEAD of the checkout in the current directory.
    ///
    /// # Errors
    ///
    /// Not in a checkout, or the disk says no.
    pub fn of_head(root: &Path) -> Result<Tree> {
        fs::create_dir_all(root).with_context(|| format!("cannot make {}", root.display()))?;
        let root = root.canonicalize()?;
        // Files of HEAD that are the same already keep their time stamps: cargo and make go by them.
        let fresh = root.join("fresh");
        let _ = fs::remove_dir_all(&fresh);
        fs::create_dir(&fresh)?;
        // The checkout may belong to another user, because inside the root every user is root.
        let mut archive = Command::new("git")
            .args(["-c", "safe.directory=*", "archive", "HEAD"])
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot run git")?;
        let out = archive.stdout.take().context("git has no output")?;
        must(
            Command::new("tar")
                .arg("-x")
                .arg("-C")
                .arg(&fresh)
                .stdin(out),
        )?;
        ensure!(archive.wait()?.success(), "git archive failed");
        let checkout = root.join("checkout");
        must(
            Command::new("rsync")
                .args([
                    "-rl",
                    "--perms",
                    "--checksum",
                    "--delete",
                    "--exclude=/build",
                ])
                .arg(format!("{}/", fresh.display()))
                .arg(&checkout),
        )?;
        fs::remove_dir_all(&fresh)?;
        ensure!(
            checkout.join("tests/suite").exists(),
            "HEAD of the current directory is not this project"
        );
        Ok(Tree { root })
    }

    /// Return where the copy is.
    pub fn checkout(&self) -> PathBuf {
        self.root.join("checkout")
    }

    /// Make a mutant's edit.
    ///
    /// # Errors
    ///
    /// The text to be replaced does not stand in the file exactly once: the list is out of date.
    pub fn edit(&self, mutant: &Mutant) -> Result<Edit> {
        let before = fs::read_to_string(self.checkout().join(&mutant.file))
            .with_context(|| format!("cannot read {}", mutant.file))?;
        let after =
            replaced(&before, &mutant.replace, &mutant.by).with_context(|| mutant.file.clone())?;
        self.change(&mutant.file, after)
    }

    /// Replace the text of a file.
    ///
    /// # Errors
    ///
    /// The file cannot be read or written.
    pub fn change(&self, name: &str, text: String) -> Result<Edit> {
        let file = self.checkout().join(name);
        let before = fs::read_to_string(&file).with_context(|| format!("cannot read {name}"))?;
        fs::write(&file, text)?;
        Ok(Edit {
            file,
            before,
            undone: false,
        })
    }

    /// Run a command that must succeed; its output goes into a file of that name.
    ///
    /// # Errors
    ///
    /// It fails, or cannot be started.
    pub fn must(&self, words: &[String], name: &str) -> Result<()> {
        let run = self.command(words, "", 3600, name)?;
        ensure!(
            run.ok,
            "{words:?} fails; its output is in {}",
            run.log.display()
        );
        Ok(())
    }

    /// Run a step.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn run(&self, step: &Step) -> Result<Run> {
        self.command(&step.run, &step.dir, step.timeout, &step.name)
    }

    /// Run a command in a folder of the copy, for at most `limit` seconds; its output goes into a file of that name.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn command(&self, words: &[String], dir: &str, limit: u64, name: &str) -> Result<Run> {
        let Some((program, arguments)) = words.split_first() else {
            bail!("{name} has no command");
        };
        let log = self.root.join(format!("{name}.log"));
        let file = fs::File::create(&log)?;
        let status = Command::new("timeout")
            .args(["-k", "5", &limit.to_string()])
            .arg(program)
            .args(arguments)
            .current_dir(self.checkout().join(dir))
            .env("CARGO_TARGET_DIR", self.checkout().join("build/target"))
            .env("CARGO_INCREMENTAL", "1")
            .stdin(Stdio::null())
            .stdout(file.try_clone()?)
            .stderr(file)
            .status()
            .with_context(|| format!("cannot run {program}"))?;
        Ok(Run {
            ok: status.success(),
            output: String::from_utf8_lossy(&fs::read(&log)?).into_owned(),
            log,
        })
    }
}

/// Return `text` with the one occurrence of `what` replaced.
fn replaced(text: &str, what: &str, by: &str) -> Result<String> {
    let times = text.matches(what).count();
    ensure!(times == 1, "{what:?} stands there {times} times, not once");
    ensure!(what != by, "{what:?} is replaced by itself");
    Ok(text.replacen(what, by, 1))
}

fn must(command: &mut Command) -> Result<()> {
    let status = command
        .status()
        .with_context(|| format!("cannot run {command:?}"))?;
    ensure!(status.success(), "{command:?} failed: {status}");
    Ok(())
}

impl Edit {
    /// Take the edit back.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn undo(mut self) -> Result<()> {
        self.undone = true;
        fs::write(&self.file, &self.before)
            .with_context(|| format!("cannot write {}", self.file.display()))
    }
}

impl Drop for Edit {
    fn drop(&mut self) {
        if !self.undone {
            // The next start makes the copy anew from HEAD anyway.
            let _ = fs::write(&self.file, &self.before);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_one_place() {
        assert_eq!(replaced("a b c", "b", "x").unwrap(), "a x c");
        assert!(replaced("a b b", "b", "x").is_err());
        assert!(replaced("a c", "b", "x").is_err());
        assert!(replaced("a b", "b", "b").is_err());
    }
}
