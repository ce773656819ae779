// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The list of steps, as `tests/suite.toml` has it.

use std::{
    collections::{
        BTreeMap,
        BTreeSet, //
    },
    path::Path, //
};

use anyhow::Context;
use serde::Deserialize;

/// All steps, in the order in which they run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Shell text put before every guest's job: functions that jobs share.
    #[serde(default)]
    pub prelude: String,
    /// Commands on the host.
    #[serde(default)]
    pub host: Vec<HostStep>,
    /// Jobs in a guest.
    #[serde(default)]
    pub guest: Vec<GuestStep>,
    /// Comparisons of two guests' tests; they run last.
    #[serde(default)]
    pub compare: Vec<CompareStep>,
}

/// A command; it passes if it exits with 0.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostStep {
    /// Unique name, also of the output folder.
    pub name: String,
    /// Program and arguments.
    pub run: Vec<String>,
    /// Working directory below the checkout.
    #[serde(default)]
    pub dir: String,
    /// Environment variables; `$TOP` in a value stands for the checkout's absolute path.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Guest steps that run before it; a chosen step brings them with it. Without any it runs before all guests.
    #[serde(default)]
    pub after: Vec<String>,
    /// The output must have at least one closing line with counts.
    #[serde(default)]
    pub counts: bool,
    /// Limit in seconds.
    #[serde(default = "default_host_timeout")]
    pub timeout: u64,
}

/// A job in a guest with a GPU model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestStep {
    /// Unique name, also of the output folder.
    pub name: String,
    /// The model, or `none`.
    #[serde(default = "default_chip")]
    pub chip: String,
    /// Several models: one step for each, with its name appended.
    #[serde(default)]
    pub chips: Vec<String>,
    /// The kernels it is for.
    #[serde(default)]
    pub kernel: Kernel,
    /// It takes long: only `make check-debug` runs it.
    #[serde(default)]
    pub long: bool,
    /// The guest sees the Debian root, read-only, as 9p share `root`.
    #[serde(default)]
    pub root: bool,
    /// The guest has two models of the chip.
    #[serde(default)]
    pub gpu2: bool,
    /// Its processors.
    #[serde(default = "default_cpus")]
    pub cpus: u32,
    /// It has one processor, whose clock counts instructions: it passes for what is executed, however busy the host is.
    #[serde(default)]
    pub instructions: bool,
    /// Swap space in MiB, as /dev/vda; none if 0.
    #[serde(default)]
    pub swap: u32,
    /// How often the guest may be started until it comes to an end, if it sleeps on its swap space; 0 counts as 1.
    #[serde(default)]
    pub lives: u32,
    /// Further arguments of the model.
    #[serde(default)]
    pub model: Vec<String>,
    /// Further words of the kernel command line.
    #[serde(default)]
    pub append: String,
    /// Shell script that the guest runs; its exit status must be 0.
    pub job: String,
    /// The job's output must have at least one closing line with counts.
    #[serde(default)]
    pub counts: bool,
    /// The kernel log must have at least one KUnit suite of this module, and none that failed.
    #[serde(default)]
    pub kunit: bool,
    /// Texts that the kernel log must have.
    #[serde(default)]
    pub expect: Vec<String>,
    /// Kernel log lines of level warning or worse that this step provokes.
    #[serde(default)]
    pub kmsg: Vec<Declared>,
    /// Findings of the judge that this step provokes.
    #[serde(default)]
    pub findings: Vec<Declared>,
    /// Limit in seconds.
    #[serde(default = "default_guest_timeout")]
    pub timeout: u64,
}

/// The kernels a guest step is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kernel {
    /// The usual one in `make check`, the debug flavour in `make check-debug`.
    #[default]
    Any,
    /// The usual one only: what it looks at is not ours.
    Usual,
    /// The debug flavour only, in `make check` too.
    Debug,
}

/// What is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All but what takes long.
    Check,
    /// The guest steps that may run on the debug kernel, also those that take long; nothing else.
    Debug,
}

/// The same tests on upstream's driver and on ours: one step for each chip, with its name appended to that of the
/// step and of the guest steps.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CompareStep {
    /// Unique name.
    pub name: String,
    /// The chips.
    pub chips: Vec<String>,
    /// Guest steps on upstream's driver.
    pub upstream: Vec<String>,
    /// Guest steps on ours.
    pub ours: Vec<String>,
    /// Only tests whose name contains one of these words.
    #[serde(default)]
    pub only: Vec<String>,
}

/// Something provoked on purpose: what, and exactly how often.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declared {
    /// Text that the line contains, or kind of the finding.
    pub what: String,
    /// How often.
    pub count: u64,
}

fn default_host_timeout() -> u64 {
    1200
}

fn default_guest_timeout() -> u64 {
    300
}

fn default_cpus() -> u32 {
    2
}

fn default_chip() -> String {
    "rv515".into()
}

impl Suite {
    /// Reads and validates the list.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is wrong", path.display()))
    }

    fn parse(text: &str) -> anyhow::Result<Self> {
        let mut suite: Self = toml::from_str(text)?;
        suite.guest = suite.guest.iter().flat_map(GuestStep::each_chip).collect();
        suite.compare = suite
            .compare
            .iter()
            .flat_map(CompareStep::each_chip)
            .collect();
        let mut names: Vec<_> = suite.names().collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            anyhow::bail!("two steps are called {}", pair[0]);
        }
        for (name, needed) in suite.needs() {
            for part in needed {
                let known = suite.guest.iter().any(|guest| guest.name == *part);
                anyhow::ensure!(known, "{name}: no guest step {part}");
            }
        }
        Ok(suite)
    }

    /// Leaves out what a selection does not run.
    pub fn select(&mut self, selection: Selection) {
        match selection {
            Selection::Check => self.guest.retain(|step| !step.long),
            Selection::Debug => {
                self.host.clear();
                self.compare.clear();
                self.guest.retain(|step| step.kernel != Kernel::Usual);
            }
        }
    }

    /// Names of all steps.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let host = self.host.iter().map(|step| step.name.as_str());
        host.chain(self.guest.iter().map(|step| step.name.as_str()))
            .chain(self.compare.iter().map(|step| step.name.as_str()))
    }

    /// Names of the steps that these words choose: all without words, else those that contain one, and what a
    /// chosen step needs.
    pub fn chosen(&self, words: &[String]) -> BTreeSet<&str> {
        let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
        let mut chosen: BTreeSet<&str> = self.names().filter(|name| wanted(name)).collect();
        for (_, needed) in self.needs().filter(|(name, _)| wanted(name)) {
            chosen.extend(needed.into_iter().map(String::as_str));
        }
        chosen
    }

    /// Steps that need guest steps before them, and which.
    fn needs(&self) -> impl Iterator<Item = (&str, Vec<&String>)> {
        let late = |step: &'_ HostStep| !step.after.is_empty();
        let host = self.host.iter().filter(move |step| late(step));
        let host = host.map(|step| (step.name.as_str(), step.after.iter().collect()));
        host.chain(self.compare.iter().map(|step| {
            let both = step.upstream.iter().chain(&step.ours).collect();
            (step.name.as_str(), both)
        }))
    }
}

/// A step's name on one of its chips.
fn on(name: &str, chip: &str) -> String {
    format!("{name}-{chip}")
}

impl GuestStep {
    /// The step for each of its chips, or as it is.
    fn each_chip(&self) -> Vec<Self> {
        if self.chips.is_empty() {
            return vec![self.clone()];
        }
        let step = |chip: &String| Self {
            name: on(&self.name, chip),
            chip: chip.clone(),
            chips: Vec::new(),
            ..self.clone()
        };
        self.chips.iter().map(step).collect()
    }
}

impl CompareStep {
    /// The step for each of its chips.
    fn each_chip(&self) -> Vec<Self> {
        let all = |names: &[String], chip: &str| names.iter().map(|name| on(name, chip)).collect();
        let step = |chip: &String| Self {
            name: on(&self.name, chip),
            chips: vec![chip.clone()],
            upstream: all(&self.upstream, chip),
            ours: all(&self.ours, chip),
            only: self.only.clone(),
        };
        self.chips.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUITE: &str = r#"
        [[guest]]
        name = "a"
        chips = ["rv515", "r520"]
        job = "true"
        [[guest]]
        name = "b-r520"
        job = "true"
        [[guest]]
        name = "c"
        job = "true"
        [[host]]
        name = "later"
        run = ["true"]
        after = ["c"]
        [[compare]]
        name = "both"
        chips = ["r520"]
        upstream = ["a"]
        ours = ["b"]
    "#;

    #[test]
    fn steps_are_made_for_each_chip() {
        let suite = Suite::parse(SUITE).unwrap();
        let names: Vec<_> = suite.names().collect();
        assert_eq!(
            names,
            ["later", "a-rv515", "a-r520", "b-r520", "c", "both-r520"]
        );
        assert_eq!(suite.guest[1].chip, "r520");
    }

    #[test]
    fn a_comparison_brings_what_it_compares() {
        let suite = Suite::parse(SUITE).unwrap();
        let chosen: Vec<_> = suite.chosen(&["both".into()]).into_iter().collect();
        assert_eq!(chosen, ["a-r520", "b-r520", "both-r520"]);
        let chosen: Vec<_> = suite.chosen(&["later".into()]).into_iter().collect();
        assert_eq!(chosen, ["c", "later"]);
        assert_eq!(suite.chosen(&[]).len(), 6);
    }

    #[test]
    fn a_selection_leaves_steps_out() {
        let names = |selection| {
            let text = SUITE
                .replace("name = \"b-r520\"", "name = \"b-r520\"\nkernel = \"usual\"")
                .replace("name = \"c\"", "name = \"c\"\nlong = true");
            let mut suite = Suite::parse(&text).unwrap();
            suite.select(selection);
            let names: Vec<_> = suite.names().map(str::to_owned).collect();
            names.join(" ")
        };
        assert_eq!(
            names(Selection::Check),
            "later a-rv515 a-r520 b-r520 both-r520"
        );
        assert_eq!(names(Selection::Debug), "a-rv515 a-r520 c");
    }

    #[test]
    fn a_comparison_of_nothing_is_an_error() {
        let error = Suite::parse(&SUITE.replace("[\"b\"]", "[\"d\"]")).unwrap_err();
        assert!(
            error.to_string().contains("no guest step d-r520"),
            "{error}"
        );
    }
}
