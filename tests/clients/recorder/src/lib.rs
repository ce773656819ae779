// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A library for `LD_PRELOAD` that writes down what a program and a `radeon` driver say to each other.
//!
//! It overrides the C library's `ioctl` and `close`, and passes every call on unchanged. After each call on a DRM
//! device it writes a line with arguments and result to `$LAPIDARY_RECORD/$LAPIDARY_TEST.dialogue`. It also writes each
//! command submission as a file of [`lapidary_streams`]. Without both variables it does nothing. Nothing random is
//! written. Objects, open files and threads are numbered in the order in which they appear, and addresses are left out,
//! so that two runs of the same program can be compared line by line.
//!
//! The caller's memory is read through `/proc/self/mem`, so that a program that gives the kernel a bad pointer gets the
//! kernel's answer and does not crash in this library. A forked child records nothing, since it would write into its
//! parent's files.

mod client;
mod dialogue;
mod memory;
mod record;

use libc::{c_char, c_int, c_ulong, c_void};
use record::{Prepared, Recorder};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Descriptors beyond this are not looked at.
const DESCRIPTORS: usize = 1024;

/// Descriptors that a recorded call was made on, until they are closed. Asked without a lock: what this
/// library itself opens and closes passes through [`close`] as well.
static DRM: [AtomicBool; DESCRIPTORS] = [const { AtomicBool::new(false) }; DESCRIPTORS];

static RECORDER: OnceLock<Option<Mutex<Recorder>>> = OnceLock::new();

/// Do `work` with the recorder if this process has one, keeping the caller's `errno`.
fn with_recorder<T>(work: impl FnOnce(&mut Recorder) -> T) -> Option<T> {
    // SAFETY: a pointer to this thread's own variable.
    let errno = unsafe { *libc::__errno_location() };
    let answer = RECORDER
        .get_or_init(|| Recorder::from_environment().map(Mutex::new))
        .as_ref()
        .and_then(|recorder| {
            let mut recorder = recorder.lock().unwrap_or_else(PoisonError::into_inner);
            recorder.is_this_process().then(|| work(&mut recorder))
        });
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
    answer
}

/// Return the next definition of a function after this library's.
fn next(name: &std::ffi::CStr) -> *mut c_void {
    // SAFETY: the name is a string; dlsym has no other condition.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr().cast::<c_char>()) }
}

/// Stand before the C library's `ioctl`.
///
/// # Safety
/// As ioctl(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    type Ioctl = unsafe extern "C" fn(c_int, c_ulong, *mut c_void) -> c_int;
    // SAFETY: the C library's ioctl takes these (the third through an ellipsis, which on this ABI is the
    // same register); a process without it cannot have been started.
    let real = unsafe { std::mem::transmute::<*mut c_void, Ioctl>(next(c"ioctl")) };
    let prepared: Option<Prepared> = if record::is_drm(fd, request) {
        with_recorder(|recorder| {
            if let Some(known) = usize::try_from(fd).ok().and_then(|fd| DRM.get(fd)) {
                known.store(true, Relaxed);
            }
            recorder.before(fd, request, argument as u64)
        })
    } else {
        None
    };
    // SAFETY: the caller's own arguments.
    let result = unsafe { real(fd, request, argument) };
    if let Some(prepared) = prepared {
        // SAFETY: a pointer to this thread's own variable.
        let errno = unsafe { *libc::__errno_location() };
        let errno = if result < 0 { errno } else { 0 };
        with_recorder(|recorder| recorder.after(prepared, errno));
    }
    result
}

/// Stand before the C library's `close`, so that a descriptor's next life is not taken for its last.
///
/// # Safety
/// As close(2).
#[unsafe(no_mangle)]
pub unsafe extern "C" fn close(fd: c_int) -> c_int {
    type Close = unsafe extern "C" fn(c_int) -> c_int;
    // SAFETY: the C library's close takes this.
    let real = unsafe { std::mem::transmute::<*mut c_void, Close>(next(c"close")) };
    let known = usize::try_from(fd).ok().and_then(|fd| DRM.get(fd));
    if known.is_some_and(|known| known.swap(false, Relaxed)) {
        with_recorder(|recorder| recorder.closed(fd));
    }
    // SAFETY: the caller's own argument.
    unsafe { real(fd) }
}
