// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A recorded dialogue, and what of it must be the same in every run.
//!
//! Mesa keeps objects that it no longer needs, takes one of them when the GPU is done with it, and gives it
//! back to the kernel when it lay unused for a while. Whether a call creates an object or finds one is thus a
//! matter of time, and so are the calls around it. Such calls are compared as sets, without the objects'
//! numbers: one with the same arguments has the same result in both runs, and one that only one run has is
//! successful. All other calls are compared in order, for each thread, objects in submissions by what they are
//! (see [`crate::streams`]). A program that keeps no objects is compared call by call, see `exact` in
//! [`crate::accepted`].

use anyhow::{Context, Result};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Calls that a cache of objects makes or leaves out.
const OF_THE_CACHE: [&str; 5] = [
    "GEM_BUSY",
    "GEM_CLOSE",
    "GEM_CREATE",
    "GEM_MMAP",
    "GEM_WAIT_IDLE",
];

/// Before the lines of such calls.
const SOMETIMES: &str = "sometimes ";

/// One call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// `t1`, `t2`, …
    pub thread: String,
    /// The rest of the line.
    pub text: String,
}

/// All calls of a process, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Log(pub Vec<Call>);

impl Log {
    /// Read a file of the recorder.
    pub fn read(path: &Path) -> Result<Log> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Log::parse(&text).with_context(|| path.display().to_string())
    }

    fn parse(text: &str) -> Result<Log> {
        let calls = text.lines().map(|line| {
            let (thread, rest) = line.split_once(' ').with_context(|| format!("`{line}`"))?;
            Ok(Call {
                thread: thread.to_owned(),
                text: rest.to_owned(),
            })
        });
        calls.collect::<Result<_>>().map(Log)
    }

    /// Return the number of submissions that the kernel took.
    pub fn admitted(&self) -> usize {
        self.submissions()
            .filter(|text| text.ends_with("-> ok"))
            .count()
    }

    /// Return the number of submissions that it refused.
    pub fn refused(&self) -> usize {
        self.submissions().count() - self.admitted()
    }

    fn submissions(&self) -> impl Iterator<Item = &str> {
        self.0
            .iter()
            .map(|call| call.text.as_str())
            .filter(|text| word(text) == "CS")
    }

    /// Return what is compared, as lines: each thread's calls in order, then the set of the others, of which
    /// [`without_luck`] takes some away.
    pub fn lines(&self, exact: bool) -> Vec<String> {
        let mut threads: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut set = BTreeSet::new();
        for call in &self.0 {
            if exact {
                threads.entry("all").or_default().push(call.text.clone());
            } else if OF_THE_CACHE.contains(&word(&call.text)) {
                set.insert(format!("{SOMETIMES}{}", without_time(&call.text)));
            } else {
                let calls = threads.entry(&call.thread).or_default();
                calls.push(without_numbers(&call.text));
            }
        }
        let ordered = threads
            .into_iter()
            .flat_map(|(thread, calls)| calls.into_iter().map(move |c| format!("{thread} {c}")));
        ordered.chain(set).collect()
    }
}

/// Take away what only one of two runs had to do: successful calls of the cache with arguments that the other
/// run has no such call with.
pub fn without_luck(a: &mut Vec<String>, b: &mut Vec<String>) {
    let asked = |lines: &[String]| -> BTreeSet<String> {
        let calls = lines.iter().filter(|line| line.starts_with(SOMETIMES));
        calls.map(|line| question(line).to_owned()).collect()
    };
    let (in_a, in_b) = (asked(a), asked(b));
    for (lines, other) in [(a, in_b), (b, in_a)] {
        lines.retain(|line| {
            let luck = line.starts_with(SOMETIMES) && line.ends_with("-> ok");
            !luck || other.contains(question(line))
        });
    }
}

/// Return a call without its result.
fn question(line: &str) -> &str {
    line.rsplit_once(" -> ").map_or(line, |(call, _)| call)
}

/// Return the call's name: the word after the client's number.
fn word(text: &str) -> &str {
    text.split(' ').nth(1).unwrap_or("")
}

/// Replace every `bo` with a number by `bo`.
fn without_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("bo") {
        let (before, after) = rest.split_at(at + 2);
        out.push_str(before);
        let starts_word = before.len() == 2 || before[..at].ends_with([' ', '[']);
        rest = if starts_word {
            after.trim_start_matches(|c: char| c.is_ascii_digit())
        } else {
            after
        };
    }
    out + rest
}

/// Return the text without the answer to whether the GPU is done.
fn without_time(text: &str) -> String {
    let text = without_numbers(text);
    match (word(&text), text.strip_suffix("-> EBUSY")) {
        ("GEM_BUSY", Some(call)) => format!("{call}-> ok"),
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_objects_go() {
        assert_eq!(
            without_numbers(
                "c1 CS objects=[bo12 read=GTT, bo3 write=VRAM] file=turbo7-000.cs -> ok"
            ),
            "c1 CS objects=[bo read=GTT, bo write=VRAM] file=turbo7-000.cs -> ok"
        );
        assert_eq!(without_numbers("c1 GEM_BUSY bo?"), "c1 GEM_BUSY bo?");
    }

    const ONE: &str = "t1 c1 GEM_CREATE size=1 = bo1 -> ok\nt1 c1 GEM_BUSY bo1 domain=GTT -> EBUSY\n\
        t2 c1 CS objects=[bo1] -> ok\nt1 c1 INFO MAX_SE = 1 -> ok\n";
    const OTHER: &str = "t1 c1 INFO MAX_SE = 1 -> ok\nt2 c1 CS objects=[bo2] -> ok\n\
        t1 c1 GEM_CREATE size=1 = bo1 -> ok\nt1 c1 GEM_CREATE size=1 = bo2 -> ok\n\
        t1 c1 GEM_BUSY bo2 domain=GTT -> ok\n";

    #[test]
    fn what_time_decides_is_not_compared() {
        let (one, other) = (Log::parse(ONE).unwrap(), Log::parse(OTHER).unwrap());
        assert_eq!(one.lines(false), other.lines(false));
        assert_ne!(one.lines(true), other.lines(true));
        assert_eq!((one.admitted(), one.refused()), (1, 0));
    }

    #[test]
    fn what_time_does_not_decide_is() {
        let lines = |text: &str| Log::parse(text).unwrap().lines(false);
        for (from, to) in [
            ("MAX_SE = 1", "MAX_SE = 2"),
            ("[bo1] -> ok", "[bo1] -> EINVAL"),
            ("bo1 -> ok", "bo1 -> ENOMEM"),
            ("size=1 = bo1 -> ok", "size=2 = bo1 -> ENOMEM"),
        ] {
            let (mut one, mut other) = (lines(ONE), lines(&ONE.replace(from, to)));
            without_luck(&mut one, &mut other);
            assert_ne!(one, other, "{from}");
        }
    }

    #[test]
    fn what_only_one_run_had_to_do_is_not_compared() {
        let lines = |text: &str| Log::parse(text).unwrap().lines(false);
        let more = "t1 c1 GEM_CREATE size=2 = bo7 -> ok\nt1 c1 GEM_CLOSE bo1 -> ok\n";
        let (mut one, mut other) = (lines(ONE), lines(&format!("{ONE}{more}")));
        assert_ne!(one, other);
        without_luck(&mut one, &mut other);
        assert_eq!(one, other);
        assert_eq!(one, lines(ONE));
    }
}
