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
