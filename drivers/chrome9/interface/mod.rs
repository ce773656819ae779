// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The user-space interface: the driver `chrome9`, version 1.0.
//!
//! `uapi/drm/chrome9_drm.h` describes each call and its errors, and `Documentation/chrome9/uapi.md` how to use them.
//! [`crate::portable::uapi`] has layouts and numbers.
//!
//! - [`params`]: questions about chip and driver;
//! - [`objects`]: making, mapping and waiting for objects;
//! - [`submit`], [`stream`]: submissions.

use core::fmt;

use kernel::{
    drm::{
        self,
        ioctl::{
            AUTH,
            RENDER_ALLOW, //
        },
    },
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};

use lapidary::{
    corner::ioctl::{
        Command,
        Direction,
        Table, //
    },
    driver::{
        Driver,
        File,
        Registered, //
    },
    family::{
        Arrangement,
        Uapi, //
    },
    memory::Bo,
    portable::replay::Memories,
    submit::workspace::Scratch, //
};

use crate::{
    portable::uapi,
    Chrome9, //
};

mod objects;
mod params;
mod stream;
mod submit;

/// The interface, for [`lapidary::family::Family::Uapi`].
pub(crate) struct Interface;

/// An object that clients use.
type Object = Bo<Chrome9>;
/// A file that is open on a device, as commands receive it.
type ClientFile = drm::File<File<Chrome9>>;
/// The device, as commands receive it.
type Device = drm::Device<Driver<Chrome9>, drm::Registered>;
/// The running chip.
type Running<'a> = lapidary::running::Running<'a, Chrome9>;

/// The last number that an object got. Numbers are not used again: there are more of them than objects can ever be made.
static NUMBERS: Atomic<u64> = Atomic::new(0);

/// What the interface keeps with an object: its number, and whether it was made in system pages.
pub(crate) struct Note {
    number: u64,
    system: Atomic<bool>,
}

impl Default for Note {
    fn default() -> Self {
        Self {
            number: NUMBERS.fetch_add(1, Relaxed).wrapping_add(1),
            system: Atomic::new(false),
        }
    }
}

impl Note {
    /// Return a number that no other object has.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Note that the object was made in system pages.
    fn set_system(&self) {
        self.system.store(true, Relaxed);
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.system.load(Relaxed) {
            true => "made in system pages",
            false => "made for the frame buffer",
        })
    }
}

/// Names one ioctl: its number, argument and handler.
macro_rules! command {
    ($name:ident = $nr:ident($direction:ident $arg:ty) => $handler:path) => {
        struct $name;

        impl Command for $name {
            type Driver = Driver<Chrome9>;
            type Arg = $arg;
            const NR: u32 = uapi::ioctl::$nr;
            const DIRECTION: Direction = Direction::$direction;
            const FLAGS: u32 = AUTH | RENDER_ALLOW;
            const NAME: &'static CStr = kernel::c_str!(concat!("CHROME9_", stringify!($nr)));

            fn run(
                dev: &Device,
                reg: &Registered<'_, Chrome9>,
                arg: &mut $arg,
                file: &ClientFile,
            ) -> Result<u32> {
                $handler(dev, &reg.running, arg, file)?;
                Ok(0)
            }
        }
    };
}

command!(GetParam = GET_PARAM(InOut uapi::GetParam) => params::get);
command!(GemCreate = GEM_CREATE(InOut uapi::GemCreate) => objects::create);
command!(GemMmap = GEM_MMAP(InOut uapi::GemMmap) => objects::mmap);
command!(GemWait = GEM_WAIT(In uapi::GemWait) => objects::wait);
command!(Submit = SUBMIT(In uapi::Submit) => submit::submit);

/// Slots of the table: one more than the highest number.
const SLOTS: usize = uapi::ioctl::SUBMIT as usize + 1;

static COMMANDS: Table<SLOTS> = Table::new()
    .with::<GetParam>()
    .with::<GemCreate>()
    .with::<GemMmap>()
    .with::<GemWait>()
    .with::<Submit>();

impl Uapi<Chrome9> for Interface {
    const INFO: drm::DriverInfo = drm::DriverInfo {
        major: 1,
        minor: 0,
        patchlevel: 0,
        name: c"chrome9",
        desc: c"VIA Chrome9 (Lapidary)",
    };
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor] = COMMANDS.as_slice();
    type Device = ();
    type Client = ();
    type Note = Note;
    type Scratch = Scratch<uapi::Object>;

    fn device() -> Result<()> {
        Ok(())
    }

    fn client(_device: &()) -> Result<()> {
        Ok(())
    }

    fn imported(object: &Object) {
        object.note().set_system();
    }

    fn arrangement(_note: &Note) -> Option<Arrangement> {
        // The CPU sees memory as it is.
        None
    }

    fn lost(_device: &(), _memories: Memories) {
        // The chip has no memories that only one client can own.
    }

    fn closed(_device: &(), _client: &()) {}
}
