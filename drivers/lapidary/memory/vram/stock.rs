// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The stock: free video memory that is known to be zero.
//!
//! A lot holds what its last owner left, unless it is known to be zero ([`Lot::is_zero`]): no client sees it before the
//! ring has cleared it. Free memory that is zero is the stock, from which new objects are taken first
//! ([`Vram::find_zero`]); they cost no commands. It comes from two sources:
//!
//! - when an object has to be cleared and the ring is idle, the same job clears more of what is free: up to
//!   [`Vram::restock`]'s bound. Those lots, a [`Batch`], are handed out to nobody until the fence has signalled without
//!   an error, for which the next who makes an object looks. If there is no other room they are taken back at once and
//!   are as stale as before ([`Vram::recall`]): whatever fills them next does so on the kernel's ring, behind the
//!   clear;
//! - an object that no job and no CPU mapping has ever reached gives back what it got.
//!
//! Nothing runs on its own account, so that a machine on which no objects are made clears nothing. When video memory
//! may lose its content, and when the ring has stopped, there is no stock any more ([`Vram::forget`]).

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

/// What one job clears for the stock, in bytes and as a part of VRAM: the less of both. At 1 GB/s that takes 4 ms,
/// which is how long a client waits at worst whose job comes directly behind it.
const BATCH: u64 = 4 << 20;
pub(super) const BATCH_PART: u64 = 16;
/// Lots of a batch.
const PIECES: usize = 16;

/// Lots on the way to the stock.
pub(super) struct Restock {
    pieces: KVec<Lot>,
    /// Behind it they are zero. `None` if there are none.
    fence: Option<ARef<Fence>>,
    /// A thread is making a job for them.
    begun: bool,
}

impl Restock {
    /// None are. Errors: `ENOMEM`.
    pub(super) fn new() -> Result<Self> {
        Ok(Self {
            pieces: KVec::with_capacity(PIECES, GFP_KERNEL)?,
            fence: None,
            begun: false,
        })
    }
}

/// Lots that a job is going to clear for the stock. Without [`Batch::committed`] they are stale, as they were.
pub(crate) struct Batch<'v> {
    vram: &'v Vram,
    pieces: KVec<Lot>,
    fence: Option<ARef<Fence>>,
}

impl Batch<'_> {
    /// First address and bytes of each.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = (GpuAddr, u64)> + '_ {
        self.pieces.iter().map(|lot| (lot.start, lot.size))
    }

    /// The job is on the kernel's ring, and its fence is this one.
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
    /// Takes what is free and stale in `part`, for a job that clears it: 4 MiB at most and a sixteenth of VRAM. `None`
    /// if nothing is stale, or if another job does so at this moment.
    ///
    /// No lock is held. Errors: `ENOMEM`.
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

    /// Whether lots are being cleared for the stock.
    pub(crate) fn is_clearing(&self) -> bool {
        self.clearing.load(Relaxed) != 0
    }

    /// Adds to the stock what has been cleared for it meanwhile.
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

    /// Takes back what is being cleared for the stock: it is free and stale, or zero if that is known by now. Says
    /// whether there was anything.
    ///
    /// The job that clears it may be executed after that. Whoever gets one of these lots has it filled by the kernel's
    /// ring, behind that job, before anything else gets to it.
    pub(super) fn recall(&self) -> bool {
        self.collect();
        let mut restock = self.restock.lock();
        let any = restock.fence.is_some();
        self.give_back(&mut restock);
        any
    }

    fn give_back(&self, restock: &mut Restock) {
        restock.fence = None;
        restock.pieces.clear();
        self.clearing.store(0, Relaxed);
    }

    /// VRAM may lose its content, or cannot be cleared any more: nothing is zero. Any context that may sleep.
    pub(crate) fn forget(&self) {
        self.pages.lock().forget();
    }

    /// Bytes in the stock, those included that have been cleared for it by now.
    pub fn stock(&self) -> u64 {
        self.collect();
        self.pages.lock().zeros()
    }
}
