// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A command ring.
//!
//! The chip reads dwords from a ring in memory as far as the host says that it has written. Clients' commands are not
//! in it: it only names the indirect buffers in which they are.

use kernel::prelude::*;

use crate::family::space::GpuAddr;

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
