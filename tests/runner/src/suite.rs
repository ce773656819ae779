// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The list of steps, as the files of `tests/suite` have it.

use std::{
    collections::{
        BTreeMap,
        BTreeSet, //
    },
    path::Path, //
};

use anyhow::Context;
use serde::Deserialize;

use crate::schedule::Task;

/// All steps, in the order in which they run.
#[derive(Debug, Default)]
pub struct Suite {
    /// Shell text put before every guest's job: functions that jobs share.
    pub prelude: String,
    /// Commands on the host.
    pub host: Vec<HostStep>,
    /// Jobs in a guest.
    pub guest: Vec<GuestStep>,
    /// Comparisons of two guests' tests; they run last.
    pub compare: Vec<CompareStep>,
}

/// One file of the folder: the steps of a family of GPUs, or of none, and what they have in common.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    prelude: String,
    /// The model of guest steps that name none.
    #[serde(default = "no_chip")]
    chip: String,
    /// The drivers that guest steps choose from. Those that name none take `ours`, if it is there.
    #[serde(default)]
    driver: BTreeMap<String, Driver>,
    #[serde(default)]
    host: Vec<HostStep>,
    #[serde(default)]
    guest: Vec<GuestStep>,
    #[serde(default)]
    compare: Vec<CompareStep>,
}

/// What the guest steps on a driver have in common.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Driver {
    /// Shell command before the job that loads it; the step fails if the command does.
    load: String,
    /// The kernels it is for.
    #[serde(default)]
    kernel: Kernel,
    /// Kernel log lines of level warning or worse that loading it provokes.
    #[serde(default)]
    kmsg: Vec<Declared>,
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
    /// It takes long: `make check` leaves it to `make check-long`.
    #[serde(default)]
    pub long: bool,
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
    /// The model, or `none`; the file's if empty.
    #[serde(default)]
    pub chip: String,
    /// Several models: one step for each, with its name appended.
    #[serde(default)]
    pub chips: Vec<String>,
    /// The driver, by its name in the file, or `none`.
    #[serde(default)]
    pub driver: Option<String>,
    /// Instead of the driver's command that loads it; empty if the job does that.
    #[serde(default)]
    pub load: Option<String>,
    /// Shell command before the driver is loaded; the step fails if the command does.
    #[serde(default)]
    pub before: String,
    /// The kernels it is for; the driver's if it does not say.
    #[serde(default)]
    kernel: Option<Kernel>,
    /// It takes long: `make check` leaves it to `make check-long` and `make check-debug`.
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
    /// The guest's memory in MiB; as usual if it is 0.
    #[serde(default)]
    pub ram: u32,
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
    /// Kernel log lines of level warning or worse that this step provokes, besides the driver's.
    #[serde(default)]
    pub kmsg: Vec<Declared>,
    /// Findings of the judge that this step provokes.
    #[serde(default)]
    pub findings: Vec<Declared>,
    /// Limit in seconds.
    #[serde(default = "default_guest_timeout")]
    pub timeout: u64,
}

/// Any step.
#[derive(Clone, Copy, Debug)]
pub enum Step<'a> {
    /// A command.
    Host(&'a HostStep),
    /// A job in a guest.
    Guest(&'a GuestStep),
    /// A comparison.
    Compare(&'a CompareStep),
}

impl<'a> Step<'a> {
    /// Return its unique name.
    pub fn name(&self) -> &'a str {
        match self {
            Self::Host(step) => &step.name,
            Self::Guest(step) => &step.name,
            Self::Compare(step) => &step.name,
        }
    }

    /// Return the names of the guest steps that run before it.
    fn needs(&self) -> Vec<String> {
        match self {
            Self::Host(step) => step.after.clone(),
            Self::Guest(_) => Vec::new(),
            Self::Compare(step) => [&step.upstream[..], &step.ours[..]].concat(),
        }
    }

    /// Return the step for the schedule.
    pub fn task(&self) -> Task {
        Task {
            name: self.name().to_owned(),
            needs: self.needs(),
            compiles: matches!(self, Self::Host(_)),
        }
    }
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
    /// What takes long, on the usual kernel.
    Long,
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

fn no_chip() -> String {
    "none".into()
}

impl Suite {
    /// Read and validate the files of a folder, in the order of their names, or a single file.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let mut files = vec![path.to_owned()];
        if path.is_dir() {
            let entries = std::fs::read_dir(path)?.collect::<Result<Vec<_>, _>>()?;
            files = entries.iter().map(|entry| entry.path()).collect();
            files.retain(|file| file.extension().is_some_and(|word| word == "toml"));
            files.sort_unstable();
        }
        let mut suite = Self::default();
        for file in files {
            let text = std::fs::read_to_string(&file)
                .with_context(|| format!("cannot read {}", file.display()))?;
            suite
                .add(&text)
                .with_context(|| format!("{} is wrong", file.display()))?;
        }
        suite
            .validate()
            .with_context(|| format!("{} is wrong", path.display()))?;
        Ok(suite)
    }

    /// Add the steps of a file.
    fn add(&mut self, text: &str) -> anyhow::Result<()> {
        let file: File = toml::from_str(text)?;
        self.prelude += &file.prelude;
        self.host.extend(file.host);
        for mut step in file.guest {
            if step.chip.is_empty() {
                step.chip.clone_from(&file.chip);
            }
            step.take_driver(&file.driver)
                .with_context(|| step.name.clone())?;
            self.guest.extend(step.each_chip());
        }
        let compare = file.compare.iter().flat_map(CompareStep::each_chip);
        self.compare.extend(compare);
        Ok(())
    }

    fn validate(&self) -> anyhow::Result<()> {
        let mut names: Vec<_> = self.names().collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            anyhow::bail!("two steps are called {}", pair[0]);
        }
        for step in self.steps() {
            for part in step.needs() {
                let known = self.guest.iter().any(|guest| guest.name == part);
                anyhow::ensure!(known, "{}: no guest step {part}", step.name());
            }
        }
        Ok(())
    }

    /// Leave out what a selection does not run.
    pub fn select(&mut self, selection: Selection) {
        match selection {
            Selection::Check => {
                self.host.retain(|step| !step.long);
                self.guest.retain(|step| !step.long);
            }
            Selection::Long => {
                self.host.retain(|step| step.long);
                self.guest
                    .retain(|step| step.long && step.kernel() != Kernel::Debug);
                self.compare.clear();
            }
            Selection::Debug => {
                self.host.clear();
                self.compare.clear();
                self.guest.retain(|step| step.kernel() != Kernel::Usual);
            }
        }
    }

    /// Return all steps: commands, guests, comparisons. A command that waits for guests stands before them too, so that
    /// it begins as soon as it can.
    pub fn steps(&self) -> impl Iterator<Item = Step<'_>> {
        self.host
            .iter()
            .map(Step::Host)
            .chain(self.guest.iter().map(Step::Guest))
            .chain(self.compare.iter().map(Step::Compare))
    }

    /// Return the names of all steps.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.steps().map(|step| step.name())
    }

    /// Return the names of the steps that these words choose: all without words, else those that contain one, and what
    /// a chosen step needs.
    pub fn chosen(&self, words: &[String]) -> BTreeSet<&str> {
        let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word));
        let mut chosen: BTreeSet<&str> = self.names().filter(|name| wanted(name)).collect();
        let needed = self.steps().filter(|step| wanted(step.name()));
        let needed: BTreeSet<_> = needed.flat_map(|step| step.needs()).collect();
        chosen.extend(self.names().filter(|name| needed.contains(*name)));
        chosen
    }
}

/// Return a step's name on one of its chips.
fn on(name: &str, chip: &str) -> String {
    format!("{name}-{chip}")
}

impl GuestStep {
    /// Return the kernels it is for.
    pub fn kernel(&self) -> Kernel {
        self.kernel.unwrap_or_default()
    }

    /// Return the script that the guest runs after `prelude`; its programs find in the environment, as
    /// `LAPIDARY_PATIENCE`, the factor by which their own time limits grow.
    pub fn script(&self, prelude: &str, patience: u64) -> String {
        let mut script = format!("export LAPIDARY_PATIENCE={patience}\n{prelude}\n");
        for command in [Some(&self.before), self.load.as_ref()]
            .into_iter()
            .flatten()
        {
            if !command.is_empty() {
                script += &format!("{{ {command}\n}} || exit 1\n");
            }
        }
        script + &self.job
    }

    /// Complete the step with what its driver says.
    fn take_driver(&mut self, drivers: &BTreeMap<String, Driver>) -> anyhow::Result<()> {
        let driver = match self.driver.as_deref() {
            Some("none") => None,
            Some(name) => Some(
                drivers
                    .get(name)
                    .with_context(|| format!("there is no driver {name}"))?,
            ),
            None => drivers.get("ours"),
        };
        if let Some(driver) = driver {
            self.load.get_or_insert_with(|| driver.load.clone());
            self.kernel.get_or_insert(driver.kernel);
            self.kmsg.extend(driver.kmsg.iter().cloned());
        }
        Ok(())
    }

    /// Return the step for each of its chips, or as it is.
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
    /// Return the step for each of its chips.
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

    fn parse(text: &str) -> anyhow::Result<Suite> {
        let mut suite = Suite::default();
        suite.add(text)?;
        suite.validate()?;
        Ok(suite)
    }

    #[test]
    fn a_step_takes_what_its_driver_says() {
        let suite = parse(
            r#"
            chip = "rv515"
            [driver.ours]
            load = "load r500"
            kmsg = [{ what = "taints", count = 1 }]
            [driver.upstream]
            load = "upstream"
            kernel = "usual"
            [[guest]]
            name = "a"
            before = "load vgem"
            job = "true"
            [[guest]]
            name = "b"
            driver = "upstream"
            job = "true"
            [[guest]]
            name = "c"
            load = ""
            kernel = "debug"
            job = "true"
            [[guest]]
            name = "d"
            chip = "r520"
            driver = "none"
            job = "true"
            "#,
        )
        .unwrap();
        let scripts: Vec<_> = suite.guest.iter().map(|step| step.script("", 1)).collect();
        let begin = "export LAPIDARY_PATIENCE=1\n\n";
        assert_eq!(
            scripts[0],
            format!("{begin}{{ load vgem\n}} || exit 1\n{{ load r500\n}} || exit 1\ntrue")
        );
        assert_eq!(
            scripts[1],
            format!("{begin}{{ upstream\n}} || exit 1\ntrue")
        );
        assert_eq!(
            scripts[2..],
            [format!("{begin}true"), format!("{begin}true")]
        );
        let kernels: Vec<_> = suite.guest.iter().map(GuestStep::kernel).collect();
        assert_eq!(
            kernels,
            [Kernel::Any, Kernel::Usual, Kernel::Debug, Kernel::Any]
        );
        let lines: Vec<_> = suite.guest.iter().map(|step| step.kmsg.len()).collect();
        assert_eq!(lines, [1, 0, 1, 0]);
        assert_eq!(suite.guest[0].chip, "rv515");
        assert_eq!(suite.guest[3].chip, "r520");
        let unknown = parse("[[guest]]\nname = \"a\"\njob = \"true\"\ndriver = \"b\"");
        let error = format!("{:#}", unknown.unwrap_err());
        assert_eq!(error, "a: there is no driver b");
    }

    #[test]
    fn a_folder_is_its_files_in_the_order_of_their_names() {
        let dir = std::env::temp_dir().join(format!("lapidary-suite-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        for (file, step) in [("2.toml", "b"), ("1.toml", "a"), ("readme", "c")] {
            let text = format!("[[host]]\nname = \"{step}\"\nrun = [\"true\"]\n");
            std::fs::write(dir.join(file), text).unwrap();
        }
        let suite = Suite::read(&dir).unwrap();
        assert_eq!(suite.names().collect::<Vec<_>>(), ["a", "b"]);
        std::fs::write(dir.join("3.toml"), "[[host]]\nname = \"a\"\nrun = []\n").unwrap();
        let error = format!("{:#}", Suite::read(&dir).unwrap_err());
        assert!(error.ends_with("two steps are called a"), "{error}");
        std::fs::remove_dir_all(&dir).unwrap();
    }

    #[test]
    fn steps_are_made_for_each_chip() {
        let suite = parse(SUITE).unwrap();
        let names: Vec<_> = suite.names().collect();
        assert_eq!(
            names,
            ["later", "a-rv515", "a-r520", "b-r520", "c", "both-r520"]
        );
        assert_eq!(suite.guest[1].chip, "r520");
    }

    #[test]
    fn a_comparison_brings_what_it_compares() {
        let suite = parse(SUITE).unwrap();
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
            let mut suite = parse(&text).unwrap();
            suite.select(selection);
            let names: Vec<_> = suite.names().map(str::to_owned).collect();
            names.join(" ")
        };
        assert_eq!(
            names(Selection::Check),
            "later a-rv515 a-r520 b-r520 both-r520"
        );
        assert_eq!(names(Selection::Debug), "a-rv515 a-r520 c");
        assert_eq!(names(Selection::Long), "c");
    }

    #[test]
    fn a_comparison_of_nothing_is_an_error() {
        let error = parse(&SUITE.replace("[\"b\"]", "[\"d\"]")).unwrap_err();
        assert!(
            error.to_string().contains("no guest step d-r520"),
            "{error}"
        );
    }
}
