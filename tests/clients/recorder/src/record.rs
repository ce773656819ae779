// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The recorder of a process: what it writes and where.
//!
//! A call is looked at twice. Before it, what the kernel may overwrite or free is copied; after it, the
//! result is known. No lock is held in between: a thread that waits for the GPU must not keep another
//! from submitting.

use crate::client::Clients;
use crate::dialogue;
use crate::memory::Memory;
use lapidary_guest::abi;
use lapidary_streams::{EXTENSION, Object, Stream};
use std::collections::HashMap;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;

/// Environment variable: the folder to write to.
const FOLDER: &str = "LAPIDARY_RECORD";
/// Environment variable: the program's name, which the files begin with.
const PROGRAM: &str = "LAPIDARY_TEST";
/// Major number of DRM devices.
const DRM_MAJOR: u32 = 226;
/// Chunks of a submission that are looked at; no client has more than four.
const MAX_CHUNKS: u32 = 16;

/// Return true for an ioctl of the DRM letter on a DRM device.
pub fn is_drm(fd: i32, request: u64) -> bool {
    if (request >> 8) & 0xff != u64::from(b'd') {
        return false;
    }
    // SAFETY: the structure is plain data.
    let mut stat: libc::stat = unsafe { std::mem::zeroed() };
    // SAFETY: fstat writes one such structure.
    unsafe { libc::fstat(fd, &mut stat) == 0 && libc::major(stat.st_rdev) == DRM_MAJOR }
}

/// A call that is about to be made.
pub struct Prepared {
    /// Descriptor.
    pub fd: i32,
    /// Ioctl number.
    pub request: u64,
    /// The caller's structure.
    pub argument: u64,
    /// It, as it was before the call.
    pub before: Vec<u8>,
    /// For requests that read through a pointer: what was there.
    pub question: Option<u32>,
    /// The submission, if it is one and could be read.
    pub submission: Option<Submission>,
}

/// A command submission before its objects are looked up.
pub struct Submission {
    /// First dwords of the flags chunk.
    pub flags: [u32; 3],
    /// Dwords of it that were given.
    pub flags_length: usize,
    /// The relocation list.
    pub relocations: Vec<abi::CsReloc>,
    /// The commands.
    pub words: Vec<u32>,
    /// Ids of further chunks.
    pub others: Vec<u32>,
}

/// What records.
pub struct Recorder {
    process: u32,
    folder: PathBuf,
    program: String,
    log: File,
    memory: Memory,
    clients: Clients,
    threads: HashMap<i32, usize>,
    submissions: u32,
}

impl Recorder {
    /// Return a recorder, if the environment asks for one and its folder can be written to.
    pub fn from_environment() -> Option<Recorder> {
        let folder = PathBuf::from(std::env::var_os(FOLDER)?);
        let program = std::env::var(PROGRAM).ok()?.replace('/', "-");
        let path = folder.join(format!("{program}.dialogue"));
        match (File::create(&path), Memory::open()) {
            (Ok(log), Some(memory)) => Some(Recorder {
                process: std::process::id(),
                folder,
                program,
                log,
                memory,
                clients: Clients::default(),
                threads: HashMap::new(),
                submissions: 0,
            }),
            (log, _) => {
                let error = log.err().map(|error| error.to_string());
                let reason = error.as_deref().unwrap_or("no /proc/self/mem");
                eprintln!("recorder: {}: {reason}", path.display());
                None
            }
        }
    }

    /// Return whether this is the process that the record began in. False in a forked child.
    pub fn is_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    /// Copy what the call reads.
    pub fn before(&mut self, fd: i32, request: u64, argument: u64) -> Prepared {
        let size = (request >> 16) as usize & 0x3fff;
        let before = self.memory.slice(argument, size).unwrap_or_default();
        let mut prepared = Prepared {
            fd,
            request,
            argument,
            before,
            question: None,
            submission: None,
        };
        if let Some(info) = dialogue::argument::<abi::Info>(&prepared.before, request) {
            let input = abi::INFO_REQUESTS.get(info.request as usize);
            if input.is_some_and(|request| request.input) {
                prepared.question = self.memory.value(info.value);
            }
        } else if let Some(cs) = dialogue::argument::<abi::Cs>(&prepared.before, request) {
            prepared.submission = self.submission(&cs);
        }
        prepared
    }

    fn submission(&self, cs: &abi::Cs) -> Option<Submission> {
        let mut submission = Submission {
            flags: [0; 3],
            flags_length: 0,
            relocations: Vec::new(),
            words: Vec::new(),
            others: Vec::new(),
        };
        let count = cs.num_chunks.min(MAX_CHUNKS) as usize;
        for pointer in self.memory.slice::<u64>(cs.chunks, count)? {
            let chunk: abi::CsChunk = self.memory.value(pointer)?;
            let length = chunk.length_dw as usize;
            if length > lapidary_streams::MAX_WORDS {
                return None;
            }
            match chunk.chunk_id {
                abi::CHUNK_RELOCS => {
                    submission.relocations = self.memory.slice(chunk.chunk_data, length / 4)?;
                }
                abi::CHUNK_IB => {
                    submission.words = self.memory.slice(chunk.chunk_data, length)?;
                }
                abi::CHUNK_FLAGS => {
                    let given: Vec<u32> = self.memory.slice(chunk.chunk_data, length.min(3))?;
                    submission.flags_length = given.len();
                    submission.flags[..given.len()].copy_from_slice(&given);
                }
                other => submission.others.push(other),
            }
        }
        Some(submission)
    }

    /// Write the call down; `errno` is 0 if it succeeded.
    pub fn after(&mut self, mut call: Prepared, errno: i32) {
        let submission = call.submission.take();
        let text = match submission {
            Some(submission) => self.record_submission(call.fd, &submission),
            None => dialogue::describe(&call, errno, &self.memory, &mut self.clients),
        };
        let result = dialogue::result(errno);
        // SAFETY: gettid has no conditions.
        let thread = unsafe { libc::gettid() };
        let next = self.threads.len() + 1;
        let thread = *self.threads.entry(thread).or_insert(next);
        let client = self.clients.number(call.fd);
        // A full disk must not change the program's ways; the comparison sees a cut dialogue.
        let _ = self
            .log
            .write_all(format!("t{thread} c{client} {text} {result}\n").as_bytes());
    }

    /// Write the submission's file; its line.
    fn record_submission(&mut self, fd: i32, submission: &Submission) -> String {
        let number = self.submissions;
        self.submissions += 1;
        let mut names = Vec::new();
        let objects = submission
            .relocations
            .iter()
            .map(|entry| {
                let known = self.clients.object(fd, entry.handle);
                names.push(dialogue::relocation(entry, known));
                Object {
                    size: known.map_or(0, |known| known.size),
                    tiling: known.map_or(0, |known| known.tiling),
                    read: entry.read_domains,
                    write: entry.write_domain,
                }
            })
            .collect();
        let stream = Stream {
            program: self.program.clone(),
            flags: submission.flags[0],
            ring: submission.flags[1],
            objects,
            words: submission.words.clone(),
        };
        let file = format!("{}-{number:03}.{EXTENSION}", self.program);
        // As for the dialogue; a missing file is noticed by who reads the dialogue.
        let _ = std::fs::write(self.folder.join(&file), stream.to_string());
        dialogue::submission(submission, &names, &file)
    }

    /// Forget a descriptor that is about to be closed.
    pub fn closed(&mut self, fd: i32) {
        self.clients.closed(fd);
    }
}
