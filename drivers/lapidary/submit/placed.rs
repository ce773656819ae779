// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fourth step: the objects are where the job uses them, and the commands contain their addresses.
//!
//! The addresses do not change until the job's fence has signalled, because the job keeps the objects placed.

use kernel::{
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    },
};

use crate::{
    client_record::ClientRecord,
    corner::{
        exec::{
            self,
            Usage, //
        },
        fence::Fence,
        resv, //
    },
    family::{
        gpu::Gpu,
        isolation::Isolation,
        Family, //
    },
    memory::{
        object::Bo,
        usage::Use, //
    },
    portable::{
        replay::Memories,
        residue::Residue, //
    },
    running::Running,
    submit::{
        addresses::Addresses, //
        job::{
            Job,
            Order, //
        },
    }, //
};

/// Commands with addresses, and the objects that lie there.
pub struct Placed<'e, F: Family, I: Isolation> {
    pub(super) words: &'e [u32],
    pub(super) client: &'e I::Client,
    pub(super) residue: &'e Residue,
    pub(super) isolation: &'e I,
    pub(super) addresses: Addresses<'e, F>,
    /// An object is a process's memory.
    pub(super) user: bool,
    pub(super) locked: exec::Locked<'e, Bo<F>>,
}

impl<F: Family, I: Isolation> Placed<'_, F, I> {
    /// Reserve everything else, and commit a job of `record` that may use `memories` on the chip. It begins when the jobs
    /// of other rings that use the objects are done, too. `now` returns the present facts about the client for the proof.
    /// It is called when no other job can be put before this one any more. `publish` is called with the fence when the objects have it.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if these facts differ from those of the proof, if a process has changed memory that the job uses, or
    /// if the clear of an object has failed meanwhile; as [`Job::prepare`]. After an error nothing has been executed.
    pub fn submit(
        self,
        running: &Running<'_, F>,
        order: Order,
        record: &Arc<ClientRecord>,
        memories: Memories,
        now: impl FnOnce() -> I::Client,
        publish: impl FnOnce(&Fence),
    ) -> Result<ARef<Fence>> {
        let Self {
            words,
            client,
            residue,
            isolation,
            addresses,
            user,
            locked,
        } = self;
        let own = running.contexts();
        let used = |item: &Use<F>| resv::pending(item.object(), item.writes(), own);
        let behind = match running.gpu().rings().len() {
            // The ring orders all jobs.
            1 => 0,
            _ => addresses
                .uses
                .iter()
                .map(used)
                .fold(order.behind, |a, b| a | b),
        };
        let order = Order { behind, ..order };
        let clearing = addresses.clearing;
        let admit = |uses: &[Use<F>]| {
            // Waiting for room on the ring may include a reset, which has judged the jobs before this one.
            let lost = clearing && uses.iter().any(Use::is_lost);
            if now() != *client || lost {
                return Err(EAGAIN);
            }
            let lock = user.then(|| running.data().memory.invalidation().lock());
            if user && !uses.iter().all(Use::is_current) {
                return Err(EAGAIN);
            }
            running.flush_host_path(uses.iter().map(Use::object));
            Ok(lock)
        };
        let client_of = Some((record, residue));
        let mut job = Job::prepare(running, order, words, addresses.uses, client_of, admit)?;
        job.set_memories(memories);
        job.set_vmid(isolation.vmid(client));
        Ok(job.commit(|fence, uses| {
            locked.attach(fence, uses, |item| match item.writes() {
                true => (item.object(), Usage::Write),
                false => (item.object(), Usage::Read),
            });
            if user {
                uses.iter().for_each(|item| item.guard(fence));
            }
            publish(fence);
        }))
    }
}
