// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The seams between the generic driver and one GPU family.
//!
//! A family module (`r500.ko`, …) supplies a unit struct that implements [`Family`]; everything that user
//! space and the DRM core see is the generic driver of this crate, instantiated for it. The order in which
//! the generic driver calls a family:
//!
//! 1. [`Family::identify`]: map the registers, check that the chip is there and posted, say where VRAM is;
//! 2. the generic driver makes the memory managers from that [`Layout`] and the DRM device around them;
//! 3. [`Family::bring_up`]: page table, microcode, rings, ring test; the result is the [`Gpu`];
//! 4. the generic driver requests the interrupt, runs a fence and an indirect buffer through every ring,
//!    and registers the DRM device;
//! 5. when a ring hangs: [`Gpu::quiesce`], then [`Gpu::reset`], after which the jobs of the innocent are put on the
//!    rings again;
//! 6. at unbind, or when resetting does not help: [`Gpu::quiesce`]. After it the chip touches no memory any more, so
//!    that fences can be signalled with an error and pages given back;
//! 7. when the system sleeps: [`Gpu::suspend`], and afterwards [`Gpu::resume`].
//!
//! All methods may sleep unless they say otherwise. Nothing here is called with a reservation lock held
//! *and* allocates: the path from `commit` to retirement is a fence-signalling section.

use core::{
    fmt::Display,
    ops::Range, //
};

use kernel::{
    device,
    dma::DmaAddress,
    drm,
    pci,
    prelude::*, //
};

use crate::{
    corner::{
        extend::Tables,
        stash::Rest, //
    },
    memory::{
        Bo,
        Memory, //
    },
    portable::{
        reason::Reason,
        replay::Memories, //
    },
};

/// An address as the GPU's engines see it, in bytes: VRAM and the GTT window share this space.
pub type GpuAddr = u64;

/// What a family module supplies.
pub trait Family: Sized + Send + Sync + 'static {
    /// The module that open files pin.
    type Module: kernel::ModuleMetadata;
    /// What the PCI id says about the chip.
    type Chip: Send + Sync + 'static;
    /// The user-space interface.
    type Uapi: Uapi<Self>;
    /// A chip whose registers are mapped and that has been identified, not yet touched otherwise.
    type Board<'a>: Send + 'a;
    /// A running chip.
    type Gpu<'a>: Gpu<'a, Isolation: Isolation<Note = Note<Self>>>;

    /// Ids that this family binds.
    const IDS: pci::IdTable<Self::Chip>;
    /// Short name, for the interrupt and fence timelines.
    const NAME: &'static CStr;

    /// Static storage for the driver tables that the generic driver patches once per family.
    ///
    /// Statics cannot be generic, so the family module owns it: `static TABLES: Tables = Tables::new();`.
    fn tables() -> &'static Tables;

    /// The kinds of interrupt to try for `chip`.
    fn irq_types(chip: &Self::Chip) -> pci::IrqTypes;

    /// Maps the registers and reads what is needed to lay out memory.
    ///
    /// The device is enabled for memory accesses; bus mastering is off; the DMA mask is the family's to set.
    /// Must not disturb a display that the firmware has set up.
    ///
    /// # Errors
    ///
    /// `ENODEV` for a chip that does not answer or has not been posted, after one `dev_err!` that says so.
    fn identify<'a>(
        pdev: &'a pci::Device<device::Core<'_>>,
        chip: &'a Self::Chip,
    ) -> Result<(Self::Board<'a>, Layout)>;

    /// Brings the chip up: page table, microcode, rings, ring tests.
    ///
    /// Bus mastering is on. What it takes from `memory` it holds as RAII ranges in the `Gpu`. On return every
    /// ring of [`Gpu::rings`] has executed its ring test and [`Ring::completed`] is 0. On an error everything
    /// is as [`Gpu::quiesce`] would leave it.
    ///
    /// # Errors
    ///
    /// Any, after one clear `dev_err!` line at the place that knows the reason.
    fn bring_up<'a>(board: Self::Board<'a>, memory: &Memory) -> impl PinInit<Self::Gpu<'a>, Error>;
}

/// What the user-space interface of family `F` keeps with an object.
pub type Note<F> = <<F as Family>::Uapi as Uapi<F>>::Note;

/// What the user-space interface of family `F` needs to read a submission.
pub type ScratchOf<F> = <<F as Family>::Uapi as Uapi<F>>::Scratch;

/// Where memory is, as [`Family::identify`] found it.
#[derive(Clone)]
pub struct Layout {
    /// VRAM in GPU addresses. Page aligned.
    pub vram: Range<GpuAddr>,
    /// Bus address of the CPU's window on VRAM (BAR0) and its length in bytes. The window shows VRAM from
    /// its start; what lies behind the window the CPU cannot reach.
    pub aperture: Range<u64>,
    /// VRAM that must stay as it is, as offsets in VRAM: the VGA range, the firmware's scan-out.
    /// Unused entries are empty.
    pub reserved: [Range<u64>; 4],
    /// The window of GPU addresses that goes through the page table ([`Space`]). Page aligned.
    pub gtt: Range<GpuAddr>,
}

/// A running chip.
///
/// All methods take `&self` and may be called from several threads at once unless they say otherwise; the
/// family has its own locks inside.
pub trait Gpu<'a>: Sized + Send + Sync + 'a {
    /// Command ring.
    type Ring: Ring;
    /// Page table of the GTT window.
    type Space: Space;
    /// Command checker or VM membership.
    type Isolation: Isolation;

    /// Index in [`Gpu::rings`] of the ring that takes the kernel's own commands: clears and moves.
    const KERNEL_RING: usize;
    /// Dwords that suffice for one call of [`Gpu::fill`] or [`Gpu::copy`].
    const STEP_DWORDS: usize;

    /// The rings.
    fn rings(&self) -> &[Self::Ring];

    /// The page table that serves [`Layout::gtt`].
    fn space(&self) -> &Self::Space;

    /// How the CPU sees objects whose pixels do not lie in the order of their lines, if the chip can do something about
    /// it.
    ///
    /// All of them show nothing after [`Gpu::resume`]; [`Gpu::reset`] leaves them as they are.
    fn surfaces(&self) -> Option<&dyn Surfaces>;

    /// What proves that a client's stream is harmless.
    fn isolation(&self) -> &Self::Isolation;

    /// Stops everything: interrupts off, rings halted, no memory access by the GPU afterwards.
    ///
    /// Idempotent, never fails, at most 100 ms, also on a device that answers all ones or hangs. Called with
    /// no [`Slot`] outstanding. Not concurrently with itself.
    fn quiesce(&self);

    /// Starts again after [`Gpu::quiesce`]: engines reset, rings empty and tested, interrupts off. Memory and page
    /// table keep their content, and [`Ring::completed`] its number.
    ///
    /// At most 1.1 s, also on a device that answers all ones or hangs. Allocates nothing: fences wait for it. Called
    /// with no [`Slot`] outstanding. Not concurrently with itself or `quiesce`.
    ///
    /// # Errors
    ///
    /// `ENODEV` if the device does not answer, any other if it does not work afterwards: trying again may help. Each
    /// after one line in the log.
    fn reset(&self) -> Result;

    /// Makes the chip ready to lose its power: what is in it and must survive goes to system memory, then as
    /// [`Gpu::quiesce`]. No job is under way, no object lies in VRAM or has entries in the page table.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; the chip runs on then.
    fn suspend(&self) -> Result;

    /// Brings the chip up after [`Gpu::suspend`], as [`Family::bring_up`] does, whatever it has lost; power and
    /// configuration space are as they were. The page table maps nothing but what the family itself needs.
    ///
    /// At most 20 s, which a card takes that firmware has to set up again, else 1 s; takes no memory.
    ///
    /// # Errors
    ///
    /// Any, after one `dev_err!` line. [`Gpu::quiesce`] may follow, [`Gpu::resume`] not.
    fn resume(&self) -> Result;

    /// Writes into `out` commands for [`Gpu::KERNEL_RING`] that fill the first of the `len` bytes at `dst` with `value`;
    /// says how far they got. `dst` and `len` are multiples of 4096, `len` is not 0.
    ///
    /// The written data is in memory when the fence behind these commands has signalled.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if `out` is shorter than [`Gpu::STEP_DWORDS`]; `EINVAL` for a range that the ring cannot reach.
    fn fill(&self, out: &mut [u32], dst: GpuAddr, len: u64, value: u32) -> Result<Step>;

    /// As [`Gpu::fill`], copying from `src`, which does not overlap the destination.
    fn copy(&self, out: &mut [u32], dst: GpuAddr, src: GpuAddr, len: u64) -> Result<Step>;

    /// Reports registers that say what the chip does, by name, for a developer. Reading them has no effects.
    ///
    /// Also while the chip hangs. Allocates nothing.
    fn dump(&self, report: &mut dyn FnMut(&'static str, u32));

    /// Says which kind of interrupt the chip has got. Once, before the handler can run.
    fn interrupt(&self, kind: pci::IrqType);

    /// Lets the fence interrupt of all rings through, or stops it; says whether that is a change.
    ///
    /// Enabling forgets what was pending before: the caller looks at [`Ring::completed`] after it. The next fence
    /// that completes interrupts, once: [`Gpu::top_half`] stops it again. Calls are serialised by the generic
    /// driver; it starts stopped.
    fn arm(&self, on: bool) -> bool;

    /// Whether the fence interrupt is let through.
    fn is_armed(&self) -> bool;

    /// Interrupt top half, in hard-interrupt context: acknowledges what is pending; must not sleep.
    ///
    /// After [`TopHalf::Fence`] and [`TopHalf::Wake`] the fence interrupt is not let through any more.
    /// [`TopHalf::NotMine`] also for a device that answers all ones, unless it sends messages, which are its own.
    fn top_half(&self) -> TopHalf;

    /// Called in the interrupt thread after [`TopHalf::Wake`]: reports what `top_half` has seen and not told.
    fn drain(&self, report: &mut dyn FnMut(Event));
}

/// A part of a fill or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Dwords of commands.
    pub dwords: usize,
    /// Bytes that they fill or copy: at least 4096, a multiple of that, and not more than was asked for.
    pub bytes: u64,
}

/// What the top half of an interrupt has found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TopHalf {
    /// Some other device on the line.
    NotMine,
    /// Acknowledged, nobody to tell.
    Handled,
    /// Acknowledged; fences of this ring may have completed, and nothing else has happened. The handler signals them.
    Fence(usize),
    /// Acknowledged; the thread has to look.
    Wake,
}

/// What the interrupt thread learns from the family.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Fences of this ring may have completed.
    Fence(usize),
    /// The GPU touched an address without a mapping.
    Fault {
        /// Address space, 0 where there is only one.
        vmid: u32,
        /// The address.
        addr: GpuAddr,
    },
    /// The ring reports that it has stopped.
    Hang(usize),
}

/// One command ring.
pub trait Ring: Send + Sync {
    /// A reservation: the ring's lock and the place to write at.
    type Slot<'s>: Slot
    where
        Self: 's;

    /// Upper bound of dwords that one job takes: one [`Slot::change_client`], one [`Slot::ib`] and one [`Slot::fence`],
    /// with padding.
    const JOB_DWORDS: usize;

    /// Locks the ring and makes room for `dwords`, wrap rule included.
    ///
    /// Takes no memory, and no MMIO access unless the ring seems full: the read pointer comes from write-back memory.
    /// Sleeps for the lock only.
    ///
    /// # Errors
    ///
    /// `EAGAIN` when there is no room now; `EINVAL` when there never will be.
    fn reserve(&self, dwords: usize) -> Result<Self::Slot<'_>>;

    /// The sequence number of the last fence that has completed, from write-back memory: no MMIO.
    ///
    /// Any context, hard interrupt included. 0 before the first.
    fn completed(&self) -> u32;

    /// As [`Ring::completed`], but asks the chip, for when its report got lost on the way to memory. `None` if the
    /// device does not answer.
    fn completed_slow(&self) -> Option<u32>;
    /// Size of the ring in dwords.
    fn dwords(&self) -> u32;

    /// Where the chip reads next, as last reported, and where the host writes next: indices of dwords. Sleeps for the
    /// ring's lock only, and takes no MMIO access.
    fn pointers(&self) -> (u32, u32);

    /// The dword at `index`, as the host has written it; 0 beyond the end. Sleeps for the ring's lock only.
    fn word(&self, index: u32) -> u32;
}

/// A reserved stretch of a ring. Nothing reaches the GPU before [`Slot::kick`]; dropping it takes it back.
///
/// The methods are infallible within the reserved number of dwords; what goes beyond it is left out (a bug
/// that `kick` reports once).
pub trait Slot {
    /// Writes dwords that the kernel itself has composed.
    fn words(&mut self, words: &[u32]);

    /// What follows is another client's: what the chip has counted for the last one, and a client can ask for, begins
    /// anew. Behind a [`Slot::fence`], or at the beginning.
    fn change_client(&mut self);

    /// Executes an indirect buffer.
    fn ib(&mut self, ib: Ib);

    /// Flushes what was drawn, writes `seq` where [`Ring::completed`] finds it, then raises the interrupt.
    ///
    /// Also invalidates what the engines may have cached, so that the next job sees what others wrote.
    fn fence(&mut self, seq: u32);

    /// Publishes everything written: barriers and exactly one MMIO write.
    fn kick(self);
}

/// Part of VRAM that the CPU is to see as lines.
#[derive(Clone, Debug)]
pub struct Surface {
    /// Bytes from the start of VRAM, whole pages.
    pub range: Range<u64>,
    /// How its pixels lie there.
    pub arrangement: Arrangement,
}

/// How the pixels of an object lie in memory, as user space says: anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// What they mean is between the family's user-space interface and its [`Surfaces`].
    pub flags: u32,
    /// Bytes from line to line.
    pub pitch: u32,
}

/// Registers through which the CPU sees such VRAM as lines.
///
/// The generic memory code owns which of them are taken. Nothing here takes memory or sleeps.
pub trait Surfaces: Send + Sync {
    /// The registers that can be used, as a set; at most eight. Stays the same.
    fn usable(&self) -> u32;

    /// Whether a register makes a difference to `surface`: its arrangement is one that the chip can undo.
    fn reorders(&self, surface: &Surface) -> bool;

    /// Has register `index` show `surface`, which [`Surfaces::reorders`], or nothing. The CPU's accesses that come
    /// later see it so.
    fn set(&self, index: u32, surface: Option<&Surface>);
}

/// An indirect buffer.
#[derive(Clone, Copy, Debug)]
pub struct Ib {
    /// Where it starts; multiple of 256.
    pub addr: GpuAddr,
    /// Dwords, 1 to 65536.
    pub len: u32,
    /// Address space, 0 where there is only one.
    pub vmid: u32,
}

/// A page table with entries for 4 KiB pages.
///
/// The generic memory code owns the allocation of page indices; a range is mapped and unmapped by whoever
/// has allocated it.
pub trait Space: Send + Sync {
    /// Points `pages` entries from `first` (page index in [`Layout::gtt`]) on at consecutive pages of memory
    /// that start at bus address `addr`: readable, writable and snooped.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the range leaves the window or an address does not fit an entry; nothing is changed then.
    fn map(&self, first: usize, addr: DmaAddress, pages: usize) -> Result;

    /// Makes `count` entries from `first` on harmless. Out-of-range parts are ignored.
    fn unmap(&self, first: usize, count: usize);

    /// Makes earlier `map` and `unmap` calls visible to the GPU. One call for many of them.
    ///
    /// Must have returned before pages of an unmapped range are freed.
    fn flush(&self);
}

/// What proves that a client's commands stay within its objects.
///
/// A command checker, where clients share an address space; membership in the client's own address space elsewhere.
pub trait Isolation: Send + Sync {
    /// What the proof has to know about the client besides its objects. The job is only committed if it still is the same
    /// then.
    type Client: PartialEq;
    /// An object as the proof sees it, and what it finds out about it.
    type Object: Copy + Default + Send;
    /// A place in the proven stream that depends on where an object lies.
    type Fixup: Copy + Default + Send;
    /// What the family's user-space interface keeps with an object.
    type Note;

    /// An object of `size` bytes.
    fn object(size: u64, note: &Self::Note) -> Self::Object;

    /// Whether the proven commands write `object`.
    fn writes(object: &Self::Object) -> bool;

    /// The most fixups that a stream of `dwords` dwords can have.
    fn most_fixups(dwords: usize) -> usize;

    /// Checks `words`, and changes what has to be changed in them.
    ///
    /// `objects` are in the order in which the commands name them; the result does not depend on any address. `fixups` is
    /// as long as [`Isolation::most_fixups`] says; what it holds before is arbitrary.
    ///
    /// # Errors
    ///
    /// [`Refusal`]: user space gets `EINVAL`.
    fn prove(
        &self,
        words: &mut [u32],
        objects: &mut [Self::Object],
        client: &Self::Client,
        fixups: &mut [Self::Fixup],
    ) -> Result<Proof, Refusal>;

    /// Index of the object whose address `fixup` needs.
    fn target(fixup: Self::Fixup) -> usize;

    /// Puts the address of an object that lies at `base` into the proven words.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the address does not fit the field, which the alignment of objects rules out.
    fn place(fixup: Self::Fixup, base: GpuAddr, words: &mut [u32]) -> Result;
}

/// What [`Isolation::prove`] has left in its buffers.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// Dwords to be executed, at least one.
    pub dwords: usize,
    /// Fixups.
    pub fixups: usize,
}

/// Why commands are refused.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// Index in the stream of the dword at fault.
    pub position: u32,
    /// Number of the reason, for user space: 0x1000 or above. What a number means never changes.
    pub number: u32,
    /// A few words for a developer.
    pub reason: &'static str,
}

impl Refusal {
    /// A refusal for `reason`. What `position` counts depends on it.
    pub const fn new(position: u32, reason: Reason) -> Self {
        Self {
            position,
            number: reason.number,
            reason: reason.text,
        }
    }
}

/// A user-space interface: what the DRM core is told about the driver.
pub trait Uapi<F: Family>: Sized + Send + Sync + 'static {
    /// Name and version.
    const INFO: drm::DriverInfo;
    /// The ioctl table; empty slots answer `EINVAL`.
    const IOCTLS: &'static [drm::ioctl::DrmIoctlDescriptor];
    /// State of the interface per device.
    type Device: Send + Sync;
    /// State of the interface per open file.
    type Client: Send + Sync;
    /// State of the interface per object, which all clients share that have a handle of it. Its text is one clause for
    /// a developer.
    type Note: Default + Display + Send + Sync;
    /// Memory that reading a submission takes, kept for the next one.
    type Scratch: Rest + Send;

    /// Makes the device state. It outlives unbind.
    fn device() -> Result<Self::Device>;

    /// Makes the state of a newly opened file. No hardware here.
    fn client(device: &Self::Device) -> Result<Self::Client>;

    /// Another driver's memory has become an object.
    fn imported(object: &Bo<F>);

    /// How the pixels of an object lie in memory, if not in the order of their lines.
    fn arrangement(note: &Self::Note) -> Option<Arrangement>;

    /// The clear of these memories on the chip has failed: nobody owns them any more. Called in a fence-signalling
    /// section, while no job can be committed.
    fn lost(device: &Self::Device, memories: Memories);

    /// A file is closed.
    fn closed(device: &Self::Device, client: &Self::Client);
}
