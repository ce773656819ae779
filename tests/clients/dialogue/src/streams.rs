// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The submissions themselves: a program must submit the same words with the same objects on both drivers.
//!
//! One thing about objects is a matter of time: Mesa takes an object that it has kept, if there is one of at most twice
//! the size that it wants, and else makes one of just that size.

use crate::idle::Idle;
use lapidary_streams::{Object, Recording, Stream};

/// The ring of the command processor.
const GRAPHICS: u32 = 0;

/// Return a program's submissions, in order.
pub fn of_program<'a>(all: &'a [Recording], program: &str) -> Vec<&'a Recording> {
    // Names end in `-NNN`.
    let belongs = |name: &str| {
        name.rsplit_once('-')
            .is_some_and(|(start, _)| start == program)
    };
    all.iter()
        .filter(|recording| belongs(&recording.name))
        .collect()
}

/// Return what differs first, in words. `exact`: the program keeps no objects. `idle`: registers whose values have no
/// effect in places.
pub fn difference(
    upstream: &[&Recording],
    ours: &[&Recording],
    exact: bool,
    idle: &mut Idle,
) -> Option<String> {
    for (a, b) in upstream.iter().zip(ours) {
        if let Some(what) = first_difference(&a.stream, &b.stream, exact, idle) {
            return Some(format!("{}: {what}", a.name));
        }
    }
    (upstream.len() != ours.len()).then(|| {
        format!(
            "{} submissions on upstream's driver, {} on ours",
            upstream.len(),
            ours.len()
        )
    })
}

/// Return whether two objects do the same, though one may be a kept one.
fn alike(a: &Object, b: &Object, exact: bool) -> bool {
    let size = if exact || a.size.max(b.size) > 2 * a.size.min(b.size) {
        b.size
    } else {
        a.size
    };
    *a == Object { size, ..*b }
}

fn first_difference(a: &Stream, b: &Stream, exact: bool, idle: &mut Idle) -> Option<String> {
    if (a.flags, a.ring) != (b.flags, b.ring) {
        return Some(format!(
            "flags {:x} ring {}, ours flags {:x} ring {}",
            a.flags, a.ring, b.flags, b.ring
        ));
    }
    let pair = a.objects.iter().zip(&b.objects);
    let other = pair.clone().position(|(a, b)| !alike(a, b, exact));
    if other.is_some() || a.objects.len() != b.objects.len() {
        let at = other.unwrap_or(pair.len());
        let (a, b) = (a.objects.get(at), b.objects.get(at));
        return Some(format!("object {at} is {a:x?}, ours {b:x?}"));
    }
    match idle.difference(&a.words, &b.words, a.ring == GRAPHICS) {
        Some(at) => Some(format!(
            "word {at} is {:08x}, ours {:08x}",
            a.words[at], b.words[at]
        )),
        None if a.words.len() != b.words.len() => {
            Some(format!("{} words, ours {}", a.words.len(), b.words.len()))
        }
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(name: &str, words: &[u32]) -> Recording {
        Recording {
            name: name.into(),
            stream: Stream {
                words: words.to_vec(),
                objects: vec![Object::default()],
                ..Stream::default()
            },
        }
    }

    fn compare(upstream: &[&Recording], ours: &[&Recording], exact: bool) -> Option<String> {
        difference(upstream, ours, exact, &mut Idle::new(&[]).unwrap())
    }

    #[test]
    fn programs_are_told_apart() {
        let all = ["clear-000", "clear-001", "clear-x-000"].map(|name| recording(name, &[]));
        assert_eq!(of_program(&all, "clear").len(), 2);
        assert_eq!(of_program(&all, "clear-x").len(), 1);
    }

    #[test]
    fn any_difference_is_seen() {
        let a = recording("a-000", &[1, 2]);
        assert_eq!(compare(&[&a], &[&a.clone()], true), None);
        let said = |b: &Recording| compare(&[&a], &[b], false).unwrap();
        assert_eq!(
            said(&recording("a-000", &[1, 3])),
            "a-000: word 1 is 00000002, ours 00000003"
        );
        assert_eq!(said(&recording("a-000", &[1])), "a-000: 2 words, ours 1");
        let mut other = a.clone();
        other.stream.objects[0].tiling = 3;
        assert!(said(&other).starts_with("a-000: object 0 is"));
        other = a.clone();
        other.stream.flags = 1;
        assert!(said(&other).starts_with("a-000: flags 0"));
        let none = compare(&[&a], &[], false).unwrap();
        assert!(none.starts_with("1 submissions"));
    }

    #[test]
    fn a_kept_object_may_be_up_to_twice_as_large() {
        let sized = |size| {
            let mut a = recording("a-000", &[]);
            a.stream.objects[0].size = size;
            a
        };
        let differ = |a, b, exact| compare(&[&sized(a)], &[&sized(b)], exact).is_some();
        assert!(!differ(0x1000, 0x2000, false) && !differ(0x2000, 0x1000, false));
        assert!(differ(0x1000, 0x3000, false) && differ(0x3000, 0x1000, false));
        assert!(differ(0x1000, 0x2000, true));
        let mut two = sized(0x1000);
        two.stream.objects.push(Object::default());
        assert!(compare(&[&sized(0x1000)], &[&two], false).is_some());
    }
}
