// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The list of differences that are known and have a reason, as TOML.

use crate::idle::Declared;
use anyhow::{Context, Result};
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::Path;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Accepted {
    /// Programs whose name begins so keep no objects and are compared call by call.
    #[serde(default)]
    pub exact: Vec<String>,
    /// The differences.
    #[serde(default)]
    pub difference: Vec<Difference>,
    /// Registers whose values have no effect in places.
    #[serde(default)]
    pub idle: Vec<Declared>,
}

/// A call that the two drivers answer differently.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Difference {
    /// The call on upstream's driver, without thread and client; `*` stands for anything.
    pub upstream: String,
    /// The call on ours.
    pub ours: String,
    /// Why that is right.
    pub reason: String,
}

/// One of the two drivers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// radeon.ko.
    Upstream,
    /// Ours.
    Ours,
}

impl Accepted {
    /// Read the file.
    pub fn read(path: &Path) -> Result<Accepted> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        toml::from_str(&text).with_context(|| path.display().to_string())
    }

    /// Return true for a program that is compared call by call.
    pub fn is_exact(&self, program: &str) -> bool {
        self.exact.iter().any(|start| program.starts_with(start))
    }

    /// Put one text in the place of every line that a difference allows on this side, so that the other
    /// side's line is equal to it. Notes the differences that were met.
    pub fn apply(&self, side: Side, lines: &mut [String], met: &mut BTreeSet<usize>) {
        for line in lines {
            // Thread, or "sometimes", and client.
            let Some((at, _)) = line.match_indices(' ').nth(1) else {
                continue;
            };
            let call = &line[at + 1..];
            let found = self.difference.iter().position(|difference| {
                let pattern = match side {
                    Side::Upstream => &difference.upstream,
                    Side::Ours => &difference.ours,
                };
                matches(pattern, call)
            });
            if let Some(index) = found {
                if side == Side::Ours {
                    met.insert(index);
                }
                let known = format!("known difference {}", index + 1);
                line.replace_range(at + 1.., &known);
            }
        }
    }
}

/// Return whether `pattern` matches the text. `*` in the pattern stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let mut parts = pattern.split('*');
    let first = parts.next().unwrap_or("");
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let mut parts: Vec<&str> = parts.collect();
    let Some(last) = parts.pop() else {
        return rest.is_empty();
    };
    for part in parts {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        assert!(matches(
            "INFO MAX_SCLK = * -> ok",
            "INFO MAX_SCLK = 0x1 -> ok"
        ));
        assert!(matches("INFO X -> EINVAL", "INFO X -> EINVAL"));
        assert!(!matches("INFO X -> EINVAL", "INFO X -> EINVAL "));
        assert!(!matches("INFO * -> ok", "INFO X -> EINVAL"));
        assert!(matches("a*b*c", "a12b34c"));
        assert!(!matches("a*bc*bc", "abc"));
    }

    #[test]
    fn a_difference_is_met_on_its_own_side_only() {
        let accepted: Accepted = toml::from_str(
            "[[difference]]\nupstream = 'INFO A = 1 -> ok'\nours = 'INFO A -> EINVAL'\nreason = 'r'\n",
        )
        .unwrap();
        let apply = |side, line: &str| {
            let (mut lines, mut met) = (vec![line.to_owned()], BTreeSet::new());
            accepted.apply(side, &mut lines, &mut met);
            (lines.remove(0), met.len())
        };
        let known = "t1 c1 known difference 1".to_owned();
        assert_eq!(
            apply(Side::Upstream, "t1 c1 INFO A = 1 -> ok"),
            (known.clone(), 0)
        );
        assert_eq!(apply(Side::Ours, "t1 c1 INFO A -> EINVAL"), (known, 1));
        let same = "t1 c1 INFO A -> EINVAL".to_owned();
        assert_eq!(apply(Side::Upstream, &same), (same, 0));
    }
}
