// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The journal of what units have touched, for tests that want to know it and not only whether it was allowed.
//!
//! Accesses are put together: one entry for each unit, direction and object, with the lowest and the highest address. A
//! family says by its type `W` what counts as a unit.

use crate::machine::Object;

/// What a unit has touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touch<W> {
    /// Who.
    pub who: W,
    /// Whether it was written, else read.
    pub write: bool,
    /// Which of the declared objects holds the first address of the access; none: outside of all.
    pub object: Option<usize>,
    /// Lowest address.
    pub start: u64,
    /// The address behind the highest one. An access that begins in an object may end behind it.
    pub end: u64,
}

/// The journal, which is off at first.
pub struct Journal<W> {
    entries: Option<Vec<Touch<W>>>,
}

impl<W> Default for Journal<W> {
    fn default() -> Journal<W> {
        Journal { entries: None }
    }
}

impl<W: PartialEq> Journal<W> {
    /// Switch it on and forget what there was.
    pub fn begin(&mut self) {
        self.entries = Some(Vec::new());
    }

    /// Return whether it is on.
    pub fn on(&self) -> bool {
        self.entries.is_some()
    }

    /// Add an access.
    pub fn add(&mut self, objects: &[Object], who: W, write: bool, start: u64, end: u64) {
        let Some(entries) = &mut self.entries else {
            return;
        };
        if start >= end {
            return;
        }
        let object = objects.iter().position(|o| o.holds(start, 1));
        let same = |t: &&mut Touch<W>| t.who == who && t.write == write && t.object == object;
        match entries.iter_mut().find(same) {
            Some(t) => {
                t.start = t.start.min(start);
                t.end = t.end.max(end);
            }
            None => entries.push(Touch {
                who,
                write,
                object,
                start,
                end,
            }),
        }
    }

    /// Take all entries; the journal stays on if it was.
    pub fn take(&mut self) -> Vec<Touch<W>> {
        self.entries
            .as_mut()
            .map(std::mem::take)
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_put_together_by_object() {
        let objects = [0x1000u64, 0x3000].map(|start| Object {
            space: crate::machine::SPACE,
            start,
            len: 0x1000,
            name: String::new(),
        });
        let who = "the 2D engine";
        let mut j = Journal::default();
        j.add(&objects, who, true, 0x1000, 0x1004);
        assert!(j.take().is_empty() && !j.on());
        j.begin();
        for start in [0x1800, 0x1100, 0x3000, 0x2000, 0x1ffc] {
            j.add(&objects, who, true, start, start + 8);
        }
        j.add(&objects, who, false, 0x1000, 0x1004);
        j.add(&objects, who, false, 0x1000, 0x1000);
        let spans: Vec<_> = j
            .take()
            .iter()
            .map(|t| (t.object, t.write, t.start, t.end))
            .collect();
        assert_eq!(
            spans,
            [
                (Some(0), true, 0x1100, 0x2004),
                (Some(1), true, 0x3000, 0x3008),
                (None, true, 0x2000, 0x2008),
                (Some(0), false, 0x1000, 0x1004)
            ]
        );
        assert!(j.on() && j.take().is_empty());
    }
}
