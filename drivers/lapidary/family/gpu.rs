// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A running chip.

use kernel::{
    pci,
    prelude::*, //
};

use crate::family::{
    isolation::Isolation,
    ring::Ring,
    space::{
        GpuAddr,
        Space, //
    },
    surfaces::Surfaces, //
};

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

    /// The page table that serves [`Layout::gtt`](super::space::Layout::gtt).
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
    /// no [`Slot`](super::ring::Slot) outstanding. Not concurrently with itself.
    fn quiesce(&self);

    /// Starts again after [`Gpu::quiesce`]: engines reset, rings empty and tested, interrupts off. Memory and page
    /// table keep their content, and [`Ring::completed`] its number.
    ///
    /// At most 1.1 s, also on a device that answers all ones or hangs. Allocates nothing: fences wait for it. Called
    /// with no [`Slot`](super::ring::Slot) outstanding. Not concurrently with itself or `quiesce`.
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

    /// Brings the chip up after [`Gpu::suspend`], as [`Family::bring_up`](crate::family::Family::bring_up) does,
    /// whatever it has lost; power and configuration space are as they were. The page table maps nothing but what the
    /// family itself needs.
    ///
    /// At most 20 s, which a card takes that firmware has to set up again, else 1 s; takes no memory.
    ///
    /// # Errors
    ///
    /// Any, after one `dev_err!` line. [`Gpu::quiesce`] may follow, [`Gpu::resume`] not.
    fn resume(&self) -> Result;

    /// Writes into `out` commands for [`Gpu::KERNEL_RING`] that fill the first of the `len` bytes at `dst` with
    /// `value`; says how far they got. `dst` and `len` are multiples of 4096, `len` is not 0.
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
    /// Acknowledged; nothing to tell.
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
