// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The last step. Everything that can fail has happened, and nothing is visible yet.
//!
//! A [`Job`] holds the lane's lock, a piece of its indirect buffers with the words in it, memory for a fence and a
//! part of the ring. [`Job::commit`] turns that into work for the GPU. Dropping the job gives all of it back.

use core::mem::swap;

use kernel::{
    pr_err_once,
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
        replay::{
            Behind,
            Memories,
            RINGS, //
        },
        residue::Residue, //
    },
    running::Running,
    submit::{
        lane::{
            Command,
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

/// Where a job stands in the order of all jobs.
#[derive(Clone, Copy, Debug)]
pub struct Order {
    /// Index of its ring.
    pub ring: usize,
    /// The rings, a bit for each, whose present jobs are done before it begins.
    pub behind: u32,
}

/// A job that cannot fail any more.
pub struct Job<'j, 'a, F: Family> {
    running: &'j Running<'a, F>,
    lane: &'j Lane<F>,
    /// Index of its ring.
    index: usize,
    /// The place on the ring, unless the job waits for other rings. Dropped before the lock of the pool is released.
    slot: Option<<RingOf<'a, F> as Ring>::Slot<'j>>,
    /// The rings that the job waits for, a bit for each.
    behind: u32,
    /// Locked if there are any.
    _crossing: Option<MutexGuard<'j, ()>>,
    /// What the caller of [`Job::prepare`] has locked.
    _admitted: Option<MutexGuard<'j, ()>>,
    pool: MutexGuard<'j, Pool>,
    piece: Piece,
    ib: Ib,
    /// The job's number.
    seqno: u64,
    unborn: Unborn<Timeline<Jobs<F>>>,
    uses: &'j mut KVVec<Use<F>>,
    /// Its client, and what its commands leave in the chip.
    client: Option<(&'j Arc<ClientRecord>, &'j Residue)>,
    memories: Memories,
    process: Process,
}

impl<'j, 'a, F: Family> Job<'j, 'a, F> {
    /// Reserve what a job needs that executes `words` and uses the objects in `uses`. The uses are taken from there when
    /// the job is committed. The job belongs to `client`, for which its commands leave something in the chip, or to the
    /// kernel. Those of the kernel leave nothing.
    ///
    /// `admit` has the last word about the uses. It is called when no other job can be put before this one any more, and
    /// may return a lock that is held until the end of the commit. It is called before any place on a ring is taken: the
    /// holder of a place waits for no lock, because a job that waits for several rings takes places on all of them.
    ///
    /// # Errors
    ///
    /// Those of `admit`; `ENODEV` after unbind; `EBUSY` if the GPU does not work any more or has no room for 30 s; `ECANCELED` if
    /// the client is banned or the calling process is refused; `ERESTARTSYS` if a signal arrives; `ENOMEM`; `EINVAL` if
    /// there are no words or no such ring.
    pub(crate) fn prepare(
        running: &'j Running<'a, F>,
        order: Order,
        words: &[u32],
        uses: &'j mut KVVec<Use<F>>,
        client: Option<(&'j Arc<ClientRecord>, &'j Residue)>,
        admit: impl FnOnce(&[Use<F>]) -> Result<Option<MutexGuard<'j, ()>>>,
    ) -> Result<Self> {
        let index = order.ring;
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
        if let Some((record, _)) = client {
            if record.is_banned() || running.data().hangs.refuses(&process) {
                return Err(ECANCELED);
            }
        }
        let admitted = admit(uses)?;
        // The ring has room whenever the timeline has, because it is larger than all jobs together. A chip that
        // reports otherwise is broken.
        let busy = |error| if error == EAGAIN { EBUSY } else { error };
        let behind = order.behind & !(1 << index);
        let (slot, crossing) = if behind == 0 {
            let slot = ring.reserve(RingOf::<'a, F>::JOB_DWORDS).map_err(busy)?;
            (Some(slot), None)
        } else {
            // Such a job writes to several rings, one after the other. Until then no other one does.
            let crossing = running.crossing.lock();
            drop(ring.reserve(Self::most_dwords()).map_err(busy)?);
            (None, Some(crossing))
        };
        pool.write(piece, words)?;
        Ok(Self {
            running,
            lane,
            index,
            slot,
            behind,
            _crossing: crossing,
            _admitted: admitted,
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
            client,
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

    /// Upper limit of the dwords of a job that waits for all other rings.
    fn most_dwords() -> usize {
        RingOf::<'a, F>::JOB_DWORDS + (RINGS - 1) * RingOf::<'a, F>::SEMAPHORE_DWORDS
    }

    /// Let the rings that the job waits for signal its semaphores. Return for which jobs it waits.
    fn signal(&self) -> Behind {
        let mut behind = Behind::NONE;
        if self.behind == 0 {
            return behind;
        }
        let others = (0..RINGS).filter(|ring| self.behind & 1 << ring != 0);
        for (other, (ring, lane)) in others.filter_map(|i| Some((i, self.running.ring(i)?))) {
            // There is room, because the ring is larger than all of its jobs together. If not, the job does not wait there.
            if let Ok(mut slot) = ring.reserve(RingOf::<'a, F>::SEMAPHORE_DWORDS) {
                // While this place is held, no job is committed to that ring.
                let last = lane.timeline().progress().committed;
                if last == 0 {
                    continue;
                }
                behind.add(other, last);
                slot.signal(self.pool.semaphores().of(other));
                slot.kick();
            }
        }
        behind
    }

    /// Submit the job to the GPU. `attach` is called with its fence before the job can complete.
    pub(crate) fn commit(self, attach: impl FnOnce(&Fence, &[Use<F>])) -> ARef<Fence> {
        let signalling = Signalling::begin();
        let behind = self.signal();
        let (ib, slot, mut pool) = (self.ib, self.slot, self.pool);
        pool.take(self.piece);
        let timeline = self.lane.timeline();
        let own = timeline.start(self.unborn, self.seqno);
        let fence = own.fence().clone();
        pool.keep(fence.clone());
        attach(&fence, self.uses);
        let client = self.client;
        let changed = client.is_some_and(|(record, residue)| pool.change_client(record, residue));
        // Behind all jobs on which it may depend: their objects are locked, and its own ring is, too.
        let order = self.running.next_order();
        let command = Command { ib, behind };
        timeline.commit(own, self.piece.mark, command, order, |load| {
            swap(&mut load.uses, self.uses);
            load.record = client.map(|(record, _)| record.clone());
            load.memories = self.memories;
            load.process = self.process;
        });
        let ring = self.running.ring(self.index).map(|(ring, _)| ring);
        let slot = slot.or_else(|| ring?.reserve(Self::most_dwords()).ok());
        if let Some(mut slot) = slot {
            for other in behind.rings() {
                slot.wait(pool.semaphores().of(other));
            }
            if changed {
                slot.change_client();
            }
            slot.ib(ib);
            // The hardware's number has 32 bits. The timeline extends it.
            slot.fence(self.seqno as u32);
            slot.kick();
        } else {
            // There was room before. The watchdog ends the job as hung.
            pr_err_once!("a ring has lost the room for a job\n");
        }
        events::commit(timeline.context(), self.seqno, self.piece.addr, ib.len);
        drop(pool);
        drop(signalling);
        self.running.committed(self.lane);
        fence
    }
}
