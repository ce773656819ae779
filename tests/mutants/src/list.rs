// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The list of edits.

use std::{collections::BTreeMap, path::Path};

use anyhow::{Context, Result};
use serde::Deserialize;

/// A whole list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct List {
    /// Commands that come before everything else, once: what no edit of the list reaches is built there.
    #[serde(default)]
    pub setup: Vec<Vec<String>>,
    /// Ways to run tests on the host.
    pub step: Vec<Step>,
    /// Ways to run tests in guests.
    pub guests: Option<GuestList>,
    /// Features and how to take them away.
    pub mutant: Vec<Mutant>,
}

/// Tests in guests: the steps of a suite.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestList {
    /// The suite, below the checkout.
    pub suite: String,
    /// Builds the modules and what holds them.
    pub build: Vec<Vec<String>>,
    /// The module that all drivers need.
    pub library: Module,
    /// The drivers.
    pub driver: Vec<Module>,
    /// Steps that are the KUnit suites of library and driver, with that driver.
    #[serde(default)]
    pub kunit: BTreeMap<String, String>,
    /// The names of all steps of the suite.
    #[serde(skip)]
    steps: Vec<String>,
}

/// A module of the kernel.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Module {
    /// Its name.
    pub name: String,
    /// The folder of its sources, below the checkout.
    pub sources: String,
    /// The source that has its parameters.
    pub root: String,
}

impl GuestList {
    /// Return whether a step runs in a guest.
    pub fn has(&self, step: &str) -> bool {
        self.steps.iter().any(|s| s == step)
    }

    /// Return the module that a source belongs to.
    pub fn module_of(&self, file: &str) -> Option<&Module> {
        let mut modules = self.driver.iter().chain([&self.library]);
        modules.find(|m| Path::new(file).starts_with(&m.sources) && file.ends_with(".rs"))
    }

    /// Take the names of the steps from the suite.
    fn read_steps(&mut self, suite: &str) -> Result<()> {
        #[derive(Deserialize)]
        struct Suite {
            guest: Vec<Guest>,
        }
        #[derive(Deserialize)]
        struct Guest {
            name: String,
        }
        let suite: Suite = toml::from_str(suite)?;
        self.steps = suite.guest.into_iter().map(|g| g.name).collect();
        for step in self.kunit.keys() {
            anyhow::ensure!(self.has(step), "the suite has no step {step:?}");
        }
        Ok(())
    }
}

/// A way to run tests: commands, one after the other until one fails.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What [`Mutant::caught`] calls it.
    pub name: String,
    /// The tests; they pass if the command exits with 0.
    pub run: Vec<String>,
    /// Working directory below the checkout.
    #[serde(default)]
    pub dir: String,
    /// Limit in seconds.
    #[serde(default = "default_timeout")]
    pub timeout: u64,
}

fn default_timeout() -> u64 {
    600
}

/// A feature and the edit that takes it away.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// The feature, in a few words.
    pub feature: String,
    /// File below the checkout.
    pub file: String,
    /// Text that stands there exactly once …
    pub replace: String,
    /// … and what stands there instead.
    pub by: String,
    /// Step and what a line of its output that tells of a failure has in it.
    pub caught: BTreeMap<String, String>,
}

impl List {
    /// Read a list.
    ///
    /// # Errors
    ///
    /// A file that cannot be read, is not such a list, or names a step that it does not have.
    pub fn read(path: &Path) -> Result<List> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let read = |suite: &str| {
            std::fs::read_to_string(suite).with_context(|| format!("cannot read {suite}"))
        };
        Self::parse(&text, read).with_context(|| format!("in {}", path.display()))
    }

    fn parse(text: &str, read: impl Fn(&str) -> Result<String>) -> Result<List> {
        let mut list: List = toml::from_str(text)?;
        if let Some(guests) = &mut list.guests {
            guests.read_steps(&read(&guests.suite)?)?;
        }
        for mutant in &list.mutant {
            anyhow::ensure!(
                !mutant.caught.is_empty(),
                "nothing is said to notice {:?}",
                mutant.feature
            );
            for name in mutant.caught.keys() {
                if !list.guests.as_ref().is_some_and(|g| g.has(name)) {
                    list.step(name)?;
                }
            }
        }
        Ok(list)
    }

    /// Return the step of that name.
    ///
    /// # Errors
    ///
    /// There is none.
    pub fn step(&self, name: &str) -> Result<&Step> {
        self.step
            .iter()
            .find(|step| step.name == name)
            .with_context(|| format!("there is no step {name:?}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
        [[step]]
        name = "unit"
        run = ["true"]
        [[mutant]]
        feature = "adding"
        file = "a.rs"
        replace = "+"
        by = "-"
        caught = { unit = "adds" }
    "#;

    const GUESTS: &str = r#"
        [guests]
        suite = "s"
        build = []
        library = { name = "l", sources = "d/l", root = "d/l/l.rs" }
        driver = [{ name = "m", sources = "d/lm", root = "d/lm/m.rs" }]
        kunit = { k = "m" }
    "#;

    fn parse(text: &str) -> Result<List> {
        List::parse(text, |suite| {
            assert_eq!(suite, "s");
            Ok("[[guest]]\nname = \"k\"\n[[guest]]\nname = \"other\"\n".into())
        })
    }

    #[test]
    fn steps_of_guests_are_those_of_their_suite() {
        let other = GOOD.replace("{ unit =", "{ other =");
        let list = parse(&format!("{other}{GUESTS}")).unwrap();
        let guests = list.guests.unwrap();
        assert!(guests.has("k") && guests.has("other") && !guests.has("unit"));
        assert!(parse(&format!("{GOOD}{}", GUESTS.replace("{ k =", "{ j ="))).is_err());
    }

    #[test]
    fn a_source_belongs_to_a_module() {
        let guests = parse(&format!("{GOOD}{GUESTS}")).unwrap().guests.unwrap();
        let of = |file| guests.module_of(file).map(|m| m.name.as_str());
        assert_eq!(of("d/l/x/a.rs"), Some("l"));
        assert_eq!(of("d/lm/a.rs"), Some("m"));
        assert_eq!(of("d/lm/a.c"), None);
        assert_eq!(of("d/other/a.rs"), None);
    }

    #[test]
    fn a_list() {
        let list = parse(GOOD).unwrap();
        assert_eq!(list.mutant[0].caught["unit"], "adds");
        assert_eq!(list.step("unit").unwrap().timeout, 600);
    }

    #[test]
    fn claims_must_name_a_step() {
        assert!(parse(&GOOD.replace("{ unit =", "{ other =")).is_err());
        assert!(parse(&GOOD.replace("{ unit = \"adds\" }", "{}")).is_err());
    }
}
