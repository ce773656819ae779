// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A command ring.
//!
//! The chip reads dwords from a ring in memory, up to the position that the host has published. Clients' commands are
//! not in the ring. The ring only names the indirect buffers that contain them.

use kernel::prelude::*;

use crate::family::space::GpuAddr;

/// One command ring.
pub trait Ring: Send + Sync {
    /// A reservation: the ring's lock and the place to write to.
    type Slot<'s>: Slot
    where
        Self: 's;

    /// Upper limit of the dwords of one job: one [`Slot::change_client`], one [`Slot::ib`] and one [`Slot::fence`],
    /// with padding.
    const JOB_DWORDS: usize;

    /// Upper limit of the dwords of a [`Slot::signal`] or [`Slot::wait`].
    const SEMAPHORE_DWORDS: usize;

    /// Lock the ring and make room for `dwords` and padding. The room may wrap at the end of the ring.
    ///
    /// Does not allocate. Makes no MMIO access unless the ring seems full, because the read pointer is in write-back
    /// memory. Sleeps for the lock only.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if there is no room now; `EINVAL` if there never will be.
    fn reserve(&self, dwords: usize) -> Result<Self::Slot<'_>>;

    /// Return the sequence number of the last completed fence, from write-back memory without MMIO.
    ///
    /// Any context, hard interrupt included. 0 before the first fence.
    fn completed(&self) -> u32;

    /// As [`Ring::completed`], but read the chip's register, for use when its report to memory is lost. `None` if the
    /// device does not answer.
    fn completed_slow(&self) -> Option<u32>;
    /// Return the size of the ring in dwords.
    fn dwords(&self) -> u32;

    /// Return where the chip reads next, as last reported, and where the host writes next, as indices of dwords.
    /// Sleeps for the ring's lock only, and makes no MMIO access.
    fn pointers(&self) -> (u32, u32);

    /// Return the dword at `index`, as the host has written it; 0 beyond the end. Sleeps for the ring's lock only.
    fn word(&self, index: u32) -> u32;
}

/// A ring on the heap, where it stays.
impl<R: Ring> Ring for Pin<KBox<R>> {
    type Slot<'s>
        = R::Slot<'s>
    where
        Self: 's;

    const JOB_DWORDS: usize = R::JOB_DWORDS;
    const SEMAPHORE_DWORDS: usize = R::SEMAPHORE_DWORDS;

    fn reserve(&self, dwords: usize) -> Result<Self::Slot<'_>> {
        (**self).reserve(dwords)
    }

    fn completed(&self) -> u32 {
        (**self).completed()
    }

    fn completed_slow(&self) -> Option<u32> {
        (**self).completed_slow()
    }

    fn dwords(&self) -> u32 {
        (**self).dwords()
    }

    fn pointers(&self) -> (u32, u32) {
        (**self).pointers()
    }

    fn word(&self, index: u32) -> u32 {
        (**self).word(index)
    }
}

/// A reserved part of a ring. Nothing reaches the GPU before [`Slot::kick`]. Dropping the slot cancels the
/// reservation.
///
/// The methods cannot fail within the reserved number of dwords. Further dwords are left out (a bug that `kick`
/// reports once).
pub trait Slot {
    /// Write dwords that the kernel itself has composed.
    fn words(&mut self, words: &[u32]);

    /// Signal the semaphore at GPU address `semaphore` when the jobs before are done. A semaphore has 64 bits. Signalling
    /// adds one. Used only if there is more than one ring.
    fn signal(&mut self, semaphore: GpuAddr);

    /// Wait until the semaphore at GPU address `semaphore` is not 0, then subtract one. Used only if there is more than
    /// one ring.
    fn wait(&mut self, semaphore: GpuAddr);

    /// Begin the commands of another client, or of one whose earlier commands have left what these must not find
    /// ([`Residue`](crate::portable::residue::Residue)). Make the chip neutral, and reset the counters that a client can
    /// read. Called behind a [`Slot::fence`], or at the beginning.
    fn change_client(&mut self);

    /// Execute an indirect buffer.
    fn ib(&mut self, ib: Ib);

    /// Flush what was drawn, write `seq` where [`Ring::completed`] reads it, then raise the interrupt.
    ///
    /// Also invalidate the caches of the engines, so that the next job sees what others wrote.
    fn fence(&mut self, seq: u32);

    /// Publish all that was written: barriers and exactly one MMIO write.
    fn kick(self);
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
