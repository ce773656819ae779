// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The submissions themselves: a program must submit the same words with the same objects on both drivers.

use lapidary_streams::{Recording, Stream};

/// A program's submissions, in order.
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

/// What differs first, in words.
pub fn difference(upstream: &[&Recording], ours: &[&Recording]) -> Option<String> {
    for (a, b) in upstream.iter().zip(ours) {
        if let Some(what) = first_difference(&a.stream, &b.stream) {
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

fn first_difference(a: &Stream, b: &Stream) -> Option<String> {
    if (a.flags, a.ring) != (b.flags, b.ring) {
        return Some(format!(
            "flags {:x} ring {}, ours flags {:x} ring {}",
            a.flags, a.ring, b.flags, b.ring
        ));
    }
    if a.objects != b.objects {
        let pair = a.objects.iter().zip(&b.objects).position(|(a, b)| a != b);
        let at = pair.unwrap_or(a.objects.len().min(b.objects.len()));
        let (a, b) = (a.objects.get(at), b.objects.get(at));
        return Some(format!("object {at} is {a:x?}, ours {b:x?}"));
    }
    let pair = a.words.iter().zip(&b.words).position(|(a, b)| a != b);
    match pair {
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
    use lapidary_streams::Object;

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

    #[test]
    fn programs_are_told_apart() {
        let all = ["clear-000", "clear-001", "clear-x-000"].map(|name| recording(name, &[]));
        assert_eq!(of_program(&all, "clear").len(), 2);
        assert_eq!(of_program(&all, "clear-x").len(), 1);
    }

    #[test]
    fn any_difference_is_seen() {
        let a = recording("a-000", &[1, 2]);
        assert_eq!(difference(&[&a], &[&a.clone()]), None);
        let said = |b: &Recording| difference(&[&a], &[b]).unwrap();
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
        assert!(difference(&[&a], &[]).unwrap().starts_with("1 submissions"));
    }
}
