// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The last step. Everything that can fail has happened, and nothing is visible yet.
//!
//! A [`Job`] holds the lane's lock, a piece of its indirect buffers with the words in it, memory for a fence and a
//! part of the ring. [`Job::commit`] turns that into work for the GPU. Dropping the job gives all of it back.

use core::mem::swap;

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        lock::mutex::MutexGuard,
        Arc, //
    },
};

use crate::{
    client_record::ClientRecord,
    corner::{
        events,
        fence::{
            Fence,
            Signalling,
            Unborn, //
        },
        wedge, //
    },
    family::{
        gpu::Gpu,
        ring::{
            Ib,
            Ring,
            Slot, //
        },
        Family, //
    },
    memory::usage::Use,
    portable::{
        hangs::Process,
        replay::Memories, //
    },
    running::Running,
    submit::{
        lane::{
            Jobs,
            Lane, //
        },
        pool::{
            Piece,
            Pool, //
        }, //
    },
    timeline::Timeline, //
};

/// How long to wait for room on a ring, in milliseconds. The watchdog acts much earlier.
const ROOM_MS: u32 = 30_000;

type RingOf<'a, F> = <<F as Family>::Gpu<'a> as Gpu<'a>>::Ring;

/// A job that cannot fail any more.
pub struct Job<'j, 'a, F: Family> {
    running: &'j Running<'a, F>,
    lane: &'j Lane<F>,
    /// Dropped before the lock of the pool is released.
    slot: <RingOf<'a, F> as Ring>::Slot<'j>,
    pool: MutexGuard<'j, Pool>,
    piece: Piece,
    ib: Ib,
    /// The job's number.
    seqno: u64,
    unborn: Unborn<Timeline<Jobs<F>>>,
    uses: &'j mut KVVec<Use<F>>,
    record: Option<Arc<ClientRecord>>,
    memories: Memories,
    process: Process,
}

impl<'j, 'a, F: Family> Job<'j, 'a, F> {
    /// Reserve what a job on ring `index` needs that executes `words` and uses the objects in `uses`. The uses are
    /// taken from there when the job is committed. The job belongs to `record`, or to the kernel.
    ///
    /// # Errors
    ///
    /// `ENODEV` after unbind; `EBUSY` if the GPU does not work any more or has no room for 30 s; `ECANCELED` if
    /// `record` is banned or the calling process is refused; `ERESTARTSYS` if a signal arrives; `ENOMEM`; `EINVAL` if
    /// there are no words or no such ring.
    pub(crate) fn prepare(
        running: &'j Running<'a, F>,
        index: usize,
        words: &[u32],
        uses: &'j mut KVVec<Use<F>>,
        record: Option<&Arc<ClientRecord>>,
    ) -> Result<Self> {
        let (ring, lane) = running.ring(index).ok_or(EINVAL)?;
        let len = u32::try_from(words.len())?;
        if len == 0 {
            return Err(EINVAL);
        }
        let timeline = lane.timeline();
        let unborn = timeline.unborn()?;

        let mut turn = timeline.turn(ROOM_MS);
        let (mut pool, piece, seqno) = loop {
            let pool = lane.pool().lock();
            let piece = pool.next(words.len());
            let fits = |mark| Pool::is_free(&piece, mark);
            if let Some(seqno) = turn.room(|| ring.completed(), fits)? {
                break (pool, piece, seqno);
            }
            // No thread waits for long with the lock held, because waiting for the lock cannot be interrupted.
            drop(pool);
            turn.wait(fits)?;
        };
        drop(turn);
        let process = wedge::process();
        // The client may have been convicted meanwhile.
        if let Some(record) = record {
            if record.is_banned() || running.data().hangs.refuses(&process) {
                return Err(ECANCELED);
            }
        }
        // The ring has room whenever the timeline has, because it is larger than all jobs together. A chip that
        // reports otherwise is broken.
        let slot = ring.reserve(RingOf::<'a, F>::JOB_DWORDS).map_err(|error| {
            if error == EAGAIN {
                EBUSY
            } else {
                error
            }
        })?;
        pool.write(piece, words)?;
        Ok(Self {
            running,
            lane,
            slot,
            pool,
            piece,
            ib: Ib {
                addr: piece.addr,
                len,
                vmid: 0,
            },
            seqno,
            unborn,
            uses,
            record: record.cloned(),
            memories: Memories::NONE,
            process,
        })
    }

    /// Set the memories on the chip that the job may use. For a job of the kernel, these are the memories that it
    /// clears for their next owner.
    pub(crate) fn set_memories(&mut self, memories: Memories) {
        self.memories = memories;
    }

    /// Set the address space of a client in which the job is executed, instead of that of the kernel.
    pub(crate) fn set_vmid(&mut self, vmid: u32) {
        self.ib.vmid = vmid;
    }

    /// Return the objects that it uses.
    pub(crate) fn uses(&self) -> &[Use<F>] {
        self.uses
    }

    /// Submit the job to the GPU. `attach` is called with its fence before the job can complete.
    pub(crate) fn commit(self, attach: impl FnOnce(&Fence, &[Use<F>])) -> ARef<Fence> {
        let signalling = Signalling::begin();
        let mut slot = self.slot;
        let mut pool = self.pool;
        pool.take(self.piece);
        let timeline = self.lane.timeline();
        let own = timeline.start(self.unborn, self.seqno);
        let fence = own.fence().clone();
        attach(&fence, self.uses);
        let client = self.record.as_ref();
        if client.is_some_and(|client| pool.change_client(client)) {
            slot.change_client();
        }
        // Behind all jobs on which it may depend: their objects are locked, and its own ring is, too.
        let order = self.running.next_order();
        timeline.commit(own, self.piece.mark, self.ib, order, |load| {
            swap(&mut load.uses, self.uses);
            load.record = self.record;
            load.memories = self.memories;
            load.process = self.process;
        });
        slot.ib(self.ib);
        // The hardware's number has 32 bits. The timeline extends it.
        slot.fence(self.seqno as u32);
        slot.kick();
        events::commit(timeline.context(), self.seqno, self.piece.addr, self.ib.len);
        drop(pool);
        drop(signalling);
        self.running.committed(self.lane);
        fence
    }
}
