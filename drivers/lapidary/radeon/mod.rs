// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` user-space interface, 2.51.0, that Mesa and libdrm use.
//!
//! `Documentation/radeon-uapi.md` describes each call and its errors. [`crate::portable::radeon::uapi`] contains
//! layouts and numbers. A number that is missing in the table answers `EINVAL`, as upstream's driver does for its
//! obsolete calls.

use core::marker::PhantomData;

use kernel::{
    drm::{
        self,
        ioctl::{
            AUTH,
            RENDER_ALLOW, //
        },
    },
    prelude::*,
};

use crate::{
    corner::ioctl::Table,
    driver::{
        Driver,
        File, //
    },
    family::{
        isolation::Isolation,
        surfaces::Arrangement,
        Family,
        Uapi, //
    },
    memory::object::Bo,
    portable::{
        radeon::envelope::{
            self,
            Rings, //
        },
        replay::Memories, //
    },
    running::IsolationOf,
    submit::workspace::Scratch, //
};

mod cs;
mod gem;
mod info;
pub mod note;
pub mod owners;
mod stream;
mod wait;

use note::Note;
use owners::{
    Client,
    Owners,
    Resource, //
};

/// What the interface has to know about a Radeon family.
pub trait RadeonFamily: Family<Uapi = Radeon> {
    /// Return the rings that clients may name, and how clients are isolated there. The answer is always the same.
    fn rings(gpu: &Self::Gpu<'_>) -> Rings;

    /// Return the index in [`Gpu::rings`](crate::family::gpu::Gpu::rings) of the ring that executes what clients send
    /// to `ring` with `priority`. `ring` is one of [`RadeonFamily::rings`]. A higher priority is more urgent.
    fn ring(ring: envelope::Ring, priority: i32) -> usize;

    /// Return what INFO reports about every chip.
    fn facts(gpu: &Self::Gpu<'_>) -> Facts;

    /// Answer a `request` of INFO that only some families know. `None` if this one does not.
    fn info<'g>(gpu: &'g Self::Gpu<'_>, request: u32) -> Option<Info<'g>>;

    /// Read the register at byte `offset` if clients may see it. `None` if they may not.
    fn register(_gpu: &Self::Gpu<'_>, _offset: u32) -> Option<u32> {
        None
    }

    /// Return the temperature of the chip in thousandths of a degree, 0 if it has no sensor.
    fn temperature(_gpu: &Self::Gpu<'_>) -> i32 {
        0
    }

    /// Return the client of a submission, as the family's isolation sees it.
    fn client<'a>(
        gpu: &Self::Gpu<'a>,
        submitter: Submitter,
    ) -> <IsolationOf<'a, Self> as Isolation>::Client;

    /// The number of dwords that [`RadeonFamily::clear`] writes at most. 0 if the chips have no memories that only one
    /// client can own. Clients may ask for them nevertheless.
    const CLEAR_DWORDS: usize = 0;

    /// Write into `out` the commands for the kernel's ring that remove what the last owner of `resource` has left
    /// there. Return the number of dwords, at least one.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if `out` is shorter than [`RadeonFamily::CLEAR_DWORDS`].
    fn clear(_gpu: &Self::Gpu<'_>, _resource: Resource, _out: &mut [u32]) -> Result<usize> {
        Err(ENOSPC)
    }
}

/// What a command checker has to know about the submitter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitter {
    /// The ring that the stream is for.
    pub ring: envelope::Ring,
    /// The stream's own tiling bits apply, not those of the objects.
    pub keep_tiling: bool,
    /// The client owns the memories of hierarchical Z and Z compression.
    pub hyperz: bool,
    /// The client owns the memory of colour compression.
    pub cmask: bool,
}

impl Submitter {
    /// Return the memories on the chip that the client owns.
    fn memories(&self) -> Memories {
        let owned = [
            (self.hyperz, Resource::HyperZ),
            (self.cmask, Resource::Cmask),
        ];
        owned
            .iter()
            .filter(|(owned, _)| *owned)
            .fold(Memories::NONE, |all, (_, one)| all.and(one.memories()))
    }
}

/// An answer of INFO.
#[derive(Clone, Copy)]
pub enum Info<'a> {
    /// 4 bytes.
    Word(u32),
    /// 8 bytes: a size or a counter.
    Long(u64),
    /// An array.
    Words(&'a [u32]),
}

/// What INFO reports about every chip.
#[derive(Clone, Copy)]
pub struct Facts {
    /// Reference clock in kHz.
    pub crystal_khz: u32,
    /// Engine and memory clock in kHz, as the video BIOS has set them; `None` if it does not say.
    pub clocks_khz: Option<(u32, u32)>,
}

/// The interface, for [`Family::Uapi`].
pub struct Radeon;

/// A file that is open on a device of family `F`, as commands receive it.
type ClientFile<F> = drm::File<File<F>>;
/// The device, as commands receive it.
type Device<F> = drm::Device<Driver<F>, drm::Registered>;

/// All calls may be made on render nodes, and on primary nodes after authentication.
const FLAGS: u32 = AUTH | RENDER_ALLOW;

/// Names one ioctl: its number, argument and handler.
macro_rules! command {
    ($(#[$meta:meta])* $name:ident = $nr:ident($direction:ident $arg:ty) => $handler:path) => {
        $(#[$meta])*
        struct $name<F>(PhantomData<F>);

        impl<F: RadeonFamily> crate::corner::ioctl::Command for $name<F> {
            type Driver = Driver<F>;
            type Arg = $arg;
            const NR: u32 = crate::portable::radeon::uapi::ioctl::$nr;
            const DIRECTION: crate::corner::ioctl::Direction =
                crate::corner::ioctl::Direction::$direction;
            const FLAGS: u32 = FLAGS;
            const NAME: &'static CStr = kernel::c_str!(concat!("RADEON_", stringify!($nr)));

            fn run(
                dev: &Device<F>,
                reg: &crate::driver::Registered<'_, F>,
                arg: &mut $arg,
                file: &ClientFile<F>,
            ) -> Result<u32> {
                $handler(dev, &reg.running, arg, file)?;
                Ok(0)
            }
        }
    };
}

use crate::portable::radeon::uapi;

command!(GemInfo = GEM_INFO(InOut uapi::GemInfo) => gem::info);
command!(GemCreate = GEM_CREATE(InOut uapi::GemCreate) => gem::create);
command!(GemMmap = GEM_MMAP(InOut uapi::GemMmap) => gem::mmap);
command!(GemSetDomain = GEM_SET_DOMAIN(InOut uapi::GemSetDomain) => wait::set_domain);
command!(GemWaitIdle = GEM_WAIT_IDLE(In uapi::GemWaitIdle) => wait::idle);
command!(GemBusy = GEM_BUSY(InOut uapi::GemBusy) => wait::busy);
command!(GemSetTiling = GEM_SET_TILING(InOut uapi::GemTiling) => gem::set_tiling);
command!(GemGetTiling = GEM_GET_TILING(InOut uapi::GemTiling) => gem::get_tiling);
command!(GemVa = GEM_VA(InOut uapi::GemVa) => gem::va);
command!(GemOp = GEM_OP(InOut uapi::GemOp) => gem::op);
command!(GemUserptr = GEM_USERPTR(InOut uapi::GemUserptr) => gem::userptr);
command!(CsCommand = CS(InOut uapi::Cs) => cs::submit);
command!(InfoCommand = INFO(InOut uapi::Info) => info::info);

/// Slots of the table: one more than the highest number.
const SLOTS: usize = uapi::ioctl::GEM_USERPTR as usize + 1;

struct Commands<F>(PhantomData<F>);

impl<F: RadeonFamily> Commands<F> {
    const TABLE: &'static Table<SLOTS> = &Table::new()
        .with::<GemInfo<F>>()
        .with::<GemCreate<F>>()
        .with::<GemMmap<F>>()
        .with::<GemSetDomain<F>>()
        .with::<GemWaitIdle<F>>()
        .with::<GemBusy<F>>()
        .with::<GemSetTiling<F>>()
        .with::<GemGetTiling<F>>()
        .with::<GemVa<F>>()
        .with::<GemOp<F>>()
        .with::<GemUserptr<F>>()
        .with::<CsCommand<F>>()
        .with::<InfoCommand<F>>();
}

impl<F: RadeonFamily> Uapi<F> for Radeon {
    const INFO: drm::DriverInfo = drm::DriverInfo {
        major: 2,
        minor: 51,
        patchlevel: 0,
        name: c"radeon",
        desc: c"AMD Radeon (Lapidary)",
    };
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor] = Commands::<F>::TABLE.as_slice();
    type Device = Owners;
    type Client = Client;
    type Note = Note;
    type Scratch = Scratch<uapi::CsReloc>;

    fn device() -> Result<Owners> {
        Ok(Owners::new())
    }

    fn client(device: &Owners) -> Result<Client> {
        Ok(device.client())
    }

    fn imported(object: &Bo<F>) {
        object.note().set_initial_domains(uapi::domain::GTT);
    }

    fn arrangement(note: &Note) -> Option<Arrangement> {
        note.arrangement()
    }

    fn lost(device: &Owners, memories: Memories) {
        device.lose(memories);
    }

    fn closed(device: &Owners, client: &Client) {
        device.release(Resource::HyperZ, client);
        device.release(Resource::Cmask, client);
    }
}
