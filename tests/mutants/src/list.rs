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
    /// Ways to run tests.
    pub step: Vec<Step>,
    /// Features and how to take them away.
    pub mutant: Vec<Mutant>,
}

/// A way to run tests: commands, one after the other until one fails.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// What [`Mutant::caught`] calls it.
    pub name: String,
    /// What has to be built first. That it builds at all is no test: a failure here is an error of the list.
    #[serde(default)]
    pub build: Vec<Vec<String>>,
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
        Self::parse(&text).with_context(|| format!("in {}", path.display()))
    }

    fn parse(text: &str) -> Result<List> {
        let list: List = toml::from_str(text)?;
        for mutant in &list.mutant {
            anyhow::ensure!(
                !mutant.caught.is_empty(),
                "nothing is said to notice {:?}",
                mutant.feature
            );
            for name in mutant.caught.keys() {
                list.step(name)?;
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

    #[test]
    fn a_list() {
        let list = List::parse(GOOD).unwrap();
        assert_eq!(list.mutant[0].caught["unit"], "adds");
        assert_eq!(list.step("unit").unwrap().timeout, 600);
    }

    #[test]
    fn claims_must_name_a_step() {
        assert!(List::parse(&GOOD.replace("{ unit =", "{ other =")).is_err());
        assert!(List::parse(&GOOD.replace("{ unit = \"adds\" }", "{}")).is_err());
    }
}
