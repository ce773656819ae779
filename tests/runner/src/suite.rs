// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The list of steps, as `tests/suite.toml` has it.

use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

/// All steps, in the order in which they run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Commands on the host.
    #[serde(default)]
    pub host: Vec<HostStep>,
    /// Jobs in a guest.
    #[serde(default)]
    pub guest: Vec<GuestStep>,
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
    /// The output must have at least one closing line with counts.
    #[serde(default)]
    pub counts: bool,
    /// Limit in seconds.
    #[serde(default = "default_host_timeout")]
    pub timeout: u64,
}

/// A job in a guest with a GPU model.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestStep {
    /// Unique name, also of the output folder.
    pub name: String,
    /// The model, or `none`.
    #[serde(default = "default_chip")]
    pub chip: String,
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

/// Something provoked on purpose: what, and exactly how often.
#[derive(Debug, Deserialize)]
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

fn default_chip() -> String {
    "rv515".into()
}

impl Suite {
    /// Reads and validates the list.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let suite: Self =
            toml::from_str(&text).with_context(|| format!("{} is wrong", path.display()))?;
        let mut names: Vec<_> = suite.names().collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            anyhow::bail!("{}: two steps are called {}", path.display(), pair[0]);
        }
        Ok(suite)
    }

    /// Names of all steps.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let host = self.host.iter().map(|step| step.name.as_str());
        host.chain(self.guest.iter().map(|step| step.name.as_str()))
    }
}
