// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A folder of recordings.

use crate::{EXTENSION, Stream, VARIABLE, parse};
use std::io;
use std::path::{Path, PathBuf};

/// One file of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recording {
    /// The file's name without folder and extension, such as `triangle-002`.
    pub name: String,
    /// What it holds.
    pub stream: Stream,
}

/// Read every recording of a folder, in the order of their names; other files are left alone.
///
/// # Errors
/// If the folder or a file cannot be read, if a file is no recording, and if there is none at all: a
/// test that was told a folder must not pass because the folder is empty. The message names the path.
pub fn read_dir(path: impl AsRef<Path>) -> io::Result<Vec<Recording>> {
    let path = path.as_ref();
    let at = |path: &Path, error: io::Error| {
        io::Error::new(error.kind(), format!("{}: {error}", path.display()))
    };
    let mut files: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|error| at(path, error))? {
        let file = entry.map_err(|error| at(path, error))?.path();
        if file.extension().is_some_and(|e| e == EXTENSION) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let error = io::Error::new(io::ErrorKind::NotFound, "no recorded streams in there");
        return Err(at(path, error));
    }
    files
        .iter()
        .map(|file| {
            let text = std::fs::read_to_string(file).map_err(|error| at(file, error))?;
            let stream = parse(&text)
                .map_err(|error| at(file, io::Error::new(io::ErrorKind::InvalidData, error)))?;
            let name = file.file_stem().unwrap_or_default();
            Ok(Recording {
                name: name.to_string_lossy().into_owned(),
                stream,
            })
        })
        .collect()
}

/// Return the recordings of the folder that the environment names; `None` if it names none.
///
/// # Errors
/// As [`read_dir`].
pub fn from_environment() -> io::Result<Option<Vec<Recording>>> {
    std::env::var_os(VARIABLE).map(read_dir).transpose()
}

/// Return the chips whose recordings a folder holds, of `chips`, each with the folder of its recordings. `top` has a
/// folder with the name of each chip; or it is the folder of one chip, and the last part of its path that is the name of
/// a chip, or ends in `-` and the name, says which: `build/mesa-rv770/streams`.
pub fn of_chips<'a>(
    top: &Path,
    chips: impl IntoIterator<Item = &'a str>,
) -> Vec<(&'a str, PathBuf)> {
    let chips: Vec<&str> = chips.into_iter().collect();
    let below: Vec<_> = (chips.iter())
        .map(|&chip| (chip, top.join(chip)))
        .filter(|(_, folder)| folder.is_dir())
        .collect();
    if !below.is_empty() {
        return below;
    }
    let chip = top.iter().rev().find_map(|part| {
        let part = part.to_str()?;
        let last = part.rsplit('-').next()?;
        chips.iter().find(|&&chip| chip == last)
    });
    chip.map(|&chip| (chip, top.to_path_buf()))
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chip_is_in_the_path() {
        let chips = ["rv770", "rv710"];
        let of = |path: &str| of_chips(Path::new(path), chips);
        for path in [
            "x/rv770",
            "x/mesa-rv770/streams",
            "rv710/mesa-up-rv770/dialogue",
        ] {
            assert_eq!(of(path), [("rv770", PathBuf::from(path))]);
        }
        assert_eq!(of("x/mesa-rv7700/streams"), []);
        assert_eq!(of("mesa/streams"), []);
    }

    #[test]
    fn or_each_chip_has_a_folder() {
        let top = std::env::temp_dir().join(format!("streams-{}-rv770", std::process::id()));
        let folder = top.join("rv710");
        std::fs::create_dir_all(&folder).unwrap();
        assert_eq!(of_chips(&top, ["rv770", "rv710"]), [("rv710", folder)]);
        std::fs::remove_dir_all(&top).unwrap();
    }
}
