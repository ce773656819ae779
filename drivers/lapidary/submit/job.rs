// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The last step: everything that can fail has happened, and nothing is visible yet.
//!
//! A [`Job`] holds the lane's lock, a piece of its indirect buffers with the words in it, memory for a fence and
//! a stretch of the ring. [`Job::commit`] turns that into work for the GPU; dropping the job gives all of it
//! back.

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        lock::mutex::MutexGuard, //
    },
};

use crate::{
    corner::fence::{
        Fence,
        Signalling,
        Unborn, //
    },
    family::{
        Family,
        Gpu,
        Ib,
        Ring,
        Slot, //
    },
    running::Running,
    submit::{
        lane::{
            Jobs,
            Lane,
            Piece,
            Pool, //
        },
        Load, //
    },
    timeline::Timeline,
};

/// How long to wait for room on a ring, in milliseconds. The watchdog acts much earlier.
const ROOM_MS: u32 = 30_000;

type RingOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Ring;

/// A job that cannot fail any more.
pub struct Job<'j, 'a, F: Family> {
    running: &'j Running<'a, F>,
    lane: &'j Lane<F>,
    /// Taken back before the pool's lock is given up.
    slot: <RingOf<'a, F> as Ring>::Slot<'j>,
    pool: MutexGuard<'j, Pool>,
    piece: Piece,
    len: u32,
    unborn: Unborn<Timeline<Jobs<F>>>,
    load: Load<F>,
}

impl<'j, 'a, F: Family> Job<'j, 'a, F> {
    /// Reserves what a job on ring `index` needs that executes `words`.
    ///
    /// # Errors
    ///
    /// `ENODEV` after unbind, `EBUSY` after a hang, `ERESTARTSYS` if a signal arrives, `ENOMEM`; `EINVAL` if there
    /// are no words or no such ring.
    pub(crate) fn prepare(
        running: &'j Running<'a, F>,
        index: usize,
        words: &[u32],
        load: Load<F>,
    ) -> Result<Self> {
        let (ring, lane) = running.ring(index).ok_or(EINVAL)?;
        let len = u32::try_from(words.len())?;
        if len == 0 {
            return Err(EINVAL);
        }
        let unborn = lane.timeline().unborn()?;

        let mut pool = lane.pool().lock();
        let piece = pool.next(words.len());
        lane.timeline().process(ring.completed());
        lane.timeline()
            .wait_for_room(ROOM_MS, |mark| Pool::is_free(&piece, mark))?;
        // The ring has room whenever the timeline has: it is larger than all jobs together.
        let slot = ring.reserve(RingOf::<'a, F>::JOB_DWORDS)?;
        pool.take(piece, words)?;
        Ok(Self {
            running,
            lane,
            slot,
            pool,
            piece,
            len,
            unborn,
            load,
        })
    }

    /// Gives the job to the GPU. `attach` is called with its fence before the job can complete.
    pub(crate) fn commit(self, attach: impl FnOnce(&Fence)) -> ARef<Fence> {
        let signalling = Signalling::begin();
        let mut slot = self.slot;
        let (seqno, fence) = self
            .lane
            .timeline()
            .commit(self.unborn, self.piece.mark, self.load);
        attach(&fence);
        slot.ib(Ib {
            addr: self.piece.addr,
            len: self.len,
            vmid: 0,
        });
        // The hardware's number has 32 bits; the timeline extends it.
        slot.fence(seqno as u32);
        slot.kick();
        drop(self.pool);
        drop(signalling);
        self.running.committed(self.lane);
        fence
    }
}
