// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The event by which DRM tells user space that a GPU hung ("wedged"). It contains the necessary action and the
//! guilty process.
//!
//! `Documentation/gpu/drm-uapi.rst` of the kernel, "Device Wedging", describes what a listener sees.

use core::ptr;

use kernel::{
    bindings,
    drm,
    error::to_result,
    fmt,
    prelude::*, //
};

use super::extra;
use crate::portable::hangs::Process;

/// Bytes of a process's name, including the final zero.
const NAME: usize = 16;

/// A process, as messages name it.
#[derive(Clone, Copy)]
pub struct Task {
    pid: i32,
    name: [u8; NAME],
}

impl Task {
    /// Return the process that runs at the moment.
    pub fn current() -> Self {
        let mut name = [0; NAME];
        // SAFETY: The function writes a name and its final zero to `NAME` bytes.
        let pid = unsafe { extra::lapidary_current_task(name.as_mut_ptr().cast()) };
        Self { pid, name }
    }
}

/// Return the process that runs at the moment, as hangs are counted for it.
///
/// Its user is the real user: a program that changes its user can take on only its own. A user of a user namespace
/// counts as the user who has made the outermost of the namespaces around it.
pub fn process() -> Process {
    let (mut user, mut began) = (0, 0);
    // SAFETY: The function writes to both.
    let id = unsafe { extra::lapidary_current_process(&mut user, &mut began) };
    Process {
        user,
        id: id.unsigned_abs(),
        began,
    }
}

/// Return nanoseconds on the clock that process start times use.
pub fn now() -> u64 {
    // SAFETY: No requirements.
    unsafe { extra::lapidary_boot_time() }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = CStr::from_bytes_until_nul(&self.name).unwrap_or(c"");
        write!(f, "{}[{}]", name.to_str().unwrap_or("?"), self.pid)
    }
}

/// What user space has to do to continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing: the driver has reset the GPU.
    Nothing,
    /// Unbind the driver and bind it again.
    Rebind,
}

/// The content of the event.
#[derive(Clone, Copy)]
pub struct Notice {
    /// What has to be done.
    pub way: Way,
    /// The guilty process, if there is one.
    pub guilty: Option<Task>,
}

/// Send the event. May sleep and allocate.
///
/// # Errors
///
/// `ENOMEM`, and the error of the core for a device that user space does not know.
pub fn tell<D: drm::Driver>(dev: &drm::Device<D>, notice: &Notice) -> Result {
    let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::drm_device>();
    let (pid, name) = match &notice.guilty {
        Some(task) => (task.pid, task.name.as_ptr()),
        None => (0, ptr::null()),
    };
    // SAFETY: `drm::Device` begins with the C device, which is alive. The name is null or ends with a zero.
    to_result(unsafe { extra::lapidary_wedged(raw, notice.way == Way::Rebind, pid, name.cast()) })
}

#[kunit_tests(lapidary_wedge)]
mod tests {
    use super::*;
    use kernel::str::CString;

    #[test]
    fn a_task_has_a_name_and_a_number() -> Result {
        let task = Task::current();
        assert!(task.pid > 0 && task.name[0] != 0);
        assert!(task.name[NAME - 1] == 0);
        let text = CString::try_from_fmt(fmt!("{task}"))?;
        let number = CString::try_from_fmt(fmt!("[{}]", task.pid))?;
        assert!(text.to_bytes().ends_with(number.to_bytes()));
        Ok(())
    }

    #[test]
    fn a_process_is_the_same_each_time() {
        let process = process();
        assert!(process == super::process());
        // This is the user of the kernel thread that runs the test.
        assert_eq!(process.user, 0);
        assert_eq!(process.id, Task::current().pid.unsigned_abs());
        assert!(process.began <= now());
    }

    #[test]
    fn strange_names_do_no_harm() -> Result {
        for name in [[b'a'; NAME], [0xff; NAME], [0; NAME]] {
            let task = Task { pid: 7, name };
            let text = CString::try_from_fmt(fmt!("{task}"))?;
            assert!(text.to_bytes().ends_with(b"[7]"));
        }
        Ok(())
    }
}
