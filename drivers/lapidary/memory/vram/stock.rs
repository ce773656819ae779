// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The stock: free video memory that is known to be zero.
//!
//! A lot holds the data of its last owner, unless it is known to be zero ([`Lot::is_zero`]). No client sees it before
//! the ring has cleared it. Free memory that is zero is the stock. New objects are taken from the stock first
//! ([`Vram::find_zero`]), which costs no commands. The stock has two sources:
//!
//! - When an object has to be cleared and the ring is idle, the same job clears more free memory, up to the limit of
//!   [`Vram::restock`]. These lots, a [`Batch`], are not allocated until the fence has signalled without an error.
//!   The next thread that creates an object tests this. If there is no other room, they are taken back at once, as
//!   stale as before ([`Vram::recall`]). The next fill of them is executed on the kernel's ring, behind the clear. The
//!   CPU waits for the clear before it writes free memory ([`Vram::wait_for_recalled`]).
//! - An object that no job and no CPU mapping has ever reached gives back its zeroed memory.
//!
//! No work is started only for the stock, so a machine on which no objects are created clears nothing. When video
//! memory may lose its content, and when the ring has stopped, the stock becomes empty ([`Vram::forget`]).

use core::mem::take;

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        atomic::Relaxed, //
    },
};

use super::{
    Lot,
    Vram,
    PAGE, //
};
use crate::{
    corner::fence::Fence,
    family::space::GpuAddr,
    portable::placement::Part, //
};

/// What one job clears for the stock, in bytes and as a part of VRAM. The smaller of both applies. At 1 GB/s this
/// takes 4 ms. A client whose job comes directly behind it waits for that long in the worst case.
const BATCH: u64 = 4 << 20;
pub(super) const BATCH_PART: u64 = 16;
/// How long to wait for a clear before waiting again, in milliseconds.
const RECALLED_MS: u32 = 1_000;
/// Lots of a batch.
const PIECES: usize = 16;

/// Lots that are being cleared for the stock.
pub(super) struct Restock {
    pieces: KVec<Lot>,
    /// The lots are zero when it has signalled. `None` if there are no lots.
    fence: Option<ARef<Fence>>,
    /// A thread is making a job for them.
    begun: bool,
    /// The fence of the last lots that were taken back before it had signalled. Earlier ones signal before it, because
    /// there is one ring.
    recalled: Option<ARef<Fence>>,
}

impl Restock {
    /// Make an empty list.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            pieces: KVec::with_capacity(PIECES, GFP_KERNEL)?,
            fence: None,
            begun: false,
            recalled: None,
        })
    }
}

/// Lots that a job is going to clear for the stock. Without [`Batch::committed`] they stay stale.
pub(crate) struct Batch<'v> {
    vram: &'v Vram,
    pieces: KVec<Lot>,
    fence: Option<ARef<Fence>>,
}

impl Batch<'_> {
    /// Return the first address and the size in bytes of each.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (GpuAddr, u64)> + '_ {
        self.pieces.iter().map(|lot| (lot.start, lot.size))
    }

    /// Note that the job is on the kernel's ring, and that this is its fence.
    pub(crate) fn committed(mut self, fence: ARef<Fence>) {
        self.fence = Some(fence);
    }
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        if self.fence.is_none() {
            self.pieces.clear();
        }
        let mut restock = self.vram.restock.lock();
        self.vram
            .clearing
            .store(self.pieces.iter().map(Lot::size).sum(), Relaxed);
        restock.pieces = take(&mut self.pieces);
        restock.fence = self.fence.take();
        restock.begun = false;
    }
}

impl Vram {
    /// Take free and stale memory in `part`, for a job that clears it: at most 4 MiB and a sixteenth of VRAM. `None`
    /// if nothing is stale, or if another job does so at this moment.
    ///
    /// No lock is held.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn restock(&self, part: Part) -> Result<Option<Batch<'_>>> {
        let mut restock = self.restock.lock();
        if restock.begun || restock.fence.is_some() {
            return Ok(None);
        }
        restock.begun = true;
        let mut batch = Batch {
            vram: self,
            pieces: take(&mut restock.pieces),
            fence: None,
        };
        drop(restock);

        let span = self.span(part);
        let mut left = BATCH.min(self.mm.size() / BATCH_PART);
        while left >= PAGE && batch.pieces.len() < batch.pieces.capacity() {
            let piece = Self::take(&self.mm, &self.pages, |mm, node, pages| {
                let stale = pages.stale(&span, left).ok_or(ENOSPC)?;
                let size = stale.end - stale.start;
                Ok((mm.reserve_in(node, stale.start, size)?, false))
            });
            match piece {
                Ok(lot) => {
                    left -= lot.size;
                    batch.pieces.push_within_capacity(lot).map_err(|_| ENOMEM)?;
                }
                Err(e) if e == ENOSPC => break,
                Err(e) => return Err(e),
            }
        }
        Ok((!batch.pieces.is_empty()).then_some(batch))
    }

    /// Return whether lots are being cleared for the stock.
    pub(crate) fn is_clearing(&self) -> bool {
        self.clearing.load(Relaxed) != 0
    }

    /// Add to the stock what has been cleared for it meanwhile.
    pub(crate) fn collect(&self) {
        let mut restock = self.restock.lock();
        let result = restock.fence.as_ref().and_then(|fence| fence.result());
        if let Some(result) = result {
            for lot in restock.pieces.iter_mut() {
                lot.set_zero(result.is_ok());
            }
            self.give_back(&mut restock);
        }
    }

    /// Take back what is being cleared for the stock. It is free and stale, or zero if that is known by now. Return
    /// whether there was anything.
    ///
    /// The job that clears it may be executed later. The next owner of such a lot first fills it on the kernel's
    /// ring, behind that job, or waits for it ([`Vram::wait_for_recalled`]).
    pub(super) fn recall(&self) -> bool {
        self.collect();
        let mut restock = self.restock.lock();
        let fence = restock.fence.clone();
        self.give_back(&mut restock);
        let any = fence.is_some();
        if any {
            restock.recalled = fence;
        }
        any
    }

    /// Return the fence of a job that may still clear free memory.
    pub(super) fn recalled(&self) -> Option<ARef<Fence>> {
        let mut restock = self.restock.lock();
        if restock.recalled.as_ref()?.result().is_some() {
            restock.recalled = None;
        }
        restock.recalled.clone()
    }

    /// Wait until no job clears free memory that was taken back ([`Vram::recall`]). Called by a thread that writes a lot by
    /// the CPU, after it has found the lot.
    ///
    /// # Errors
    ///
    /// `ERESTARTSYS` if a signal arrives.
    pub(crate) fn wait_for_recalled(&self) -> Result {
        if let Some(fence) = self.recalled() {
            // The watchdog makes it signal.
            while !fence.wait(true, RECALLED_MS)? {}
        }
        Ok(())
    }

    fn give_back(&self, restock: &mut Restock) {
        restock.fence = None;
        restock.pieces.clear();
        self.clearing.store(0, Relaxed);
    }

    /// Empty the stock, because VRAM may lose its content or cannot be cleared any more. Any context that may sleep.
    pub(crate) fn forget(&self) {
        self.pages.lock().forget();
    }

    /// Return the bytes in the stock, including those that have been cleared for it by now.
    pub fn stock(&self) -> u64 {
        self.collect();
        self.pages.lock().zeros()
    }
}
