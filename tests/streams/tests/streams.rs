// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What is printed is read back the same; no text whatever makes the reader panic; folders.

use lapidary_streams::{Object, Stream, parse, read_dir};
use proptest::prelude::*;
use std::path::PathBuf;

fn object() -> impl Strategy<Value = Object> {
    (any::<u64>(), any::<u32>(), any::<u32>(), any::<u32>()).prop_map(
        |(size, tiling, read, write)| Object {
            size,
            tiling,
            read,
            write,
        },
    )
}

prop_compose! {
    fn stream()(
        program in "[a-zA-Z0-9_.:-]{1,20}",
        flags in any::<u32>(),
        ring in any::<u32>(),
        objects in prop::collection::vec(object(), 0..8),
        words in prop::collection::vec(any::<u32>(), 0..40),
    ) -> Stream {
        Stream { program, flags, ring, objects, words }
    }
}

proptest! {
    #[test]
    fn printed_is_read_back(stream in stream()) {
        prop_assert_eq!(parse(&stream.to_string()), Ok(stream));
    }

    #[test]
    fn no_text_panics(text in "(program|flags|ring|object|words|#|[0-9a-fg+]{1,9}| |\n){0,60}") {
        let _ = parse(&text);
    }

    /// A file that lost its end is refused, wherever it was cut at a line's end.
    #[test]
    fn a_cut_file_is_refused(stream in stream(), cut in any::<prop::sample::Index>()) {
        prop_assume!(!stream.words.is_empty());
        let text = stream.to_string();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let kept = lines[..cut.index(lines.len())].concat();
        prop_assert!(parse(&kept).is_err());
    }

    #[test]
    fn a_word_more_is_refused(stream in stream(), extra in any::<u32>()) {
        let text = format!("{stream}{extra:08x}\n");
        prop_assert!(parse(&text).is_err());
    }
}

fn folder(name: &str) -> PathBuf {
    let path = std::env::temp_dir().join(format!("lapidary-streams-{}-{name}", std::process::id()));
    std::fs::create_dir(&path).unwrap();
    path
}

#[test]
fn a_folder_in_order() {
    let path = folder("order");
    let stream = |program: &str| Stream {
        program: program.into(),
        words: vec![0x8000_0000; 9],
        ..Stream::default()
    };
    for name in ["b-000", "a-001", "a-000"] {
        let file = path.join(name).with_extension("cs");
        std::fs::write(file, stream(name).to_string()).unwrap();
    }
    std::fs::write(path.join("notes.txt"), "not a recording").unwrap();
    let names: Vec<String> = read_dir(&path)
        .unwrap()
        .into_iter()
        .map(|recording| {
            assert_eq!(recording.stream, stream(&recording.name));
            recording.name
        })
        .collect();
    assert_eq!(names, ["a-000", "a-001", "b-000"]);

    std::fs::write(path.join("c-000.cs"), "program c\nflags x\n").unwrap();
    let error = read_dir(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("c-000.cs: line 2: `x` is not a number"),
        "{error}"
    );
    std::fs::remove_dir_all(&path).unwrap();
}

#[test]
fn an_empty_folder_is_an_error() {
    let path = folder("empty");
    let error = read_dir(&path).unwrap_err().to_string();
    assert!(error.ends_with("no recorded streams in there"), "{error}");
    std::fs::remove_dir(&path).unwrap();
    assert!(read_dir(&path).is_err());
}
