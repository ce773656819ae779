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
/// All methods take `&self` and may be called from several threads at once unless they say otherwise. The family has
/// its own locks inside.
pub trait Gpu<'a>: Sized + Send + Sync + 'a {
    /// Command ring.
    type Ring: Ring;
    /// Page table of the GTT window.
    type Space: Space;
    /// Command checker or VM membership.
    type Isolation: Isolation;

    /// The number of dwords that one call of [`Gpu::fill`] or [`Gpu::copy`] writes at most.
    const STEP_DWORDS: usize;

    /// Whether the CPU's way to VRAM keeps data that [`Gpu::flush_host_path`] has to flush. Where it is `false`, the
    /// commands of a fence do all that is needed.
    const HOST_PATH: bool = false;

    /// Whether the ring of the kernel's own commands reaches the GTT window. Where it is `false`, [`Gpu::fill`] and
    /// [`Gpu::copy`] are asked for VRAM only, and the CPU moves objects between VRAM and system pages. The CPU then sees
    /// all of VRAM.
    const REACHES_SYSTEM: bool = true;

    /// Pass on to VRAM what the CPU has written, and drop what has been read ahead for it. Called before a job that uses
    /// VRAM which the CPU has a mapping of, and before the CPU accesses VRAM that jobs have written, if there is a
    /// [`Gpu::HOST_PATH`].
    fn flush_host_path(&self) {}

    /// Return the rings.
    fn rings(&self) -> &[Self::Ring];

    /// Return the index in [`Gpu::rings`] of the ring for the kernel's own commands: clears and moves. The answer is
    /// always the same.
    fn kernel_ring(&self) -> usize;

    /// Return the page table that serves [`Layout::gtt`](super::space::Layout::gtt).
    fn space(&self) -> &Self::Space;

    /// Return the registers that show the CPU tiled objects as lines, if the chip has such registers.
    ///
    /// All of them show nothing after [`Gpu::resume`]. [`Gpu::reset`] does not change them.
    fn surfaces(&self) -> Option<&dyn Surfaces>;

    /// Return the proof that a client's stream is harmless.
    fn isolation(&self) -> &Self::Isolation;

    /// Stop everything: interrupts off, rings halted, no memory access by the GPU afterwards.
    ///
    /// Idempotent. Never fails. Takes at most 100 ms, also on a device that answers all ones or hangs. Called with no
    /// [`Slot`](super::ring::Slot) outstanding. Not concurrent with itself.
    fn quiesce(&self);

    /// Start again after [`Gpu::quiesce`]: engines reset, rings empty and tested, interrupts off. Memory and page
    /// table keep their content, and [`Ring::completed`] its number.
    ///
    /// Takes at most 1.1 s, also on a device that answers all ones or hangs. Allocates nothing, because fences wait
    /// for it. Called with no [`Slot`](super::ring::Slot) outstanding. Not concurrent with itself or `quiesce`.
    ///
    /// # Errors
    ///
    /// `ENODEV` if the device does not answer. Any other error if it does not work afterwards; another try may help.
    /// One line in the log precedes each error.
    fn reset(&self) -> Result;

    /// Prepare the chip for a loss of power. Move the state that must survive to system memory, then stop the chip as
    /// [`Gpu::quiesce`] does. No job is under way, and no object lies in VRAM or has entries in the page table.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EBUSY` if engines do not become idle. The chip then continues to run.
    fn suspend(&self) -> Result;

    /// Start the chip after [`Gpu::suspend`], as [`Family::bring_up`](crate::family::Family::bring_up) does, whatever
    /// it has lost. Power and configuration space are as they were. The page table maps only what the family itself
    /// needs.
    ///
    /// Takes at most 20 s for a card that firmware has to set up again, otherwise at most 1 s. Does not allocate.
    ///
    /// # Errors
    ///
    /// Any, after one `dev_err!` line. [`Gpu::quiesce`] may follow, but not [`Gpu::resume`].
    fn resume(&self) -> Result;

    /// Write commands for ring `ring` into `out` that fill with `value` a first part of the `len` bytes at `dst`.
    /// Return how large that part is. `dst` and `len` are multiples of 4096, and `len` is not 0.
    ///
    /// The data is in memory when the fence behind these commands has signalled.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if `out` is shorter than [`Gpu::STEP_DWORDS`]; `EINVAL` for a range that the ring cannot reach.
    fn fill(
        &self,
        ring: usize,
        out: &mut [u32],
        dst: GpuAddr,
        len: u64,
        value: u32,
    ) -> Result<Step>;

    /// As [`Gpu::fill`], but copy from `src`, which does not overlap the destination.
    fn copy(
        &self,
        ring: usize,
        out: &mut [u32],
        dst: GpuAddr,
        src: GpuAddr,
        len: u64,
    ) -> Result<Step>;

    /// Report registers that describe the state of the chip, by name, for developers. Reading them has no side
    /// effects.
    ///
    /// May be called while the chip hangs. Allocates nothing.
    fn dump(&self, report: &mut dyn FnMut(&'static str, u32));

    /// Set which kind of interrupt the chip uses. Called once, before the handler can run.
    fn interrupt(&self, kind: pci::IrqType);

    /// Arm the fence interrupts of the rings whose bits are set in `rings` (bit 0 is that of ring 0), and disarm those
    /// of the other rings. Return whether one was armed that had been disarmed.
    ///
    /// Arming clears what was pending before, so the caller reads [`Ring::completed`] afterwards. The next fence that
    /// completes on the ring raises one interrupt, and [`Gpu::top_half`] disarms it. A family may arm all rings if it is
    /// to arm one. The generic driver serialises the calls. All are disarmed at first.
    fn arm(&self, rings: u32) -> bool;

    /// Return whether the fence interrupt of ring `ring` is armed.
    fn is_armed(&self, ring: usize) -> bool;

    /// Interrupt top half, in hard-interrupt context. Acknowledge what is pending. Must not sleep.
    ///
    /// After [`TopHalf::Fence`] the fence interrupt of that ring is disarmed, and after [`TopHalf::Wake`] those of the
    /// rings that [`Gpu::drain`] reports. Return [`TopHalf::NotMine`]
    /// also for a device that answers all ones, unless the interrupt is a message, which always belongs to this
    /// device.
    fn top_half(&self) -> TopHalf;

    /// Report what `top_half` has seen and not returned. Called in the interrupt thread after [`TopHalf::Wake`].
    fn drain(&self, report: &mut dyn FnMut(Event));
}

/// A part of a fill or copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Dwords of commands.
    pub dwords: usize,
    /// Bytes that they fill or copy: a multiple of 4096, at least 4096, and not more than requested.
    pub bytes: u64,
}

/// The result of the top half of an interrupt.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum TopHalf {
    /// The interrupt belongs to another device on the line.
    NotMine,
    /// Acknowledged. There is nothing to report.
    Handled,
    /// Acknowledged. Fences of this ring may have completed, and nothing else has happened. The handler signals them.
    Fence(usize),
    /// Acknowledged. The interrupt thread has to look.
    Wake,
}

/// What the family reports to the interrupt thread.
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
