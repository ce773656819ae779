// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A lane: what the driver keeps for one ring.
//!
//! A lane consists of the fences of the ring's jobs, the resources that the jobs hold until they are done, and the
//! indirect buffers ([`Pool`]). The lock of the pool determines the order: the submitter that holds it is the next on
//! the ring.

use kernel::{
    device,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    }, //
};

use crate::{
    client_record::ClientRecord,
    corner::workqueue::Worker,
    family::{
        ring::Ib,
        space::Space,
        Family, //
    },
    lock::shared_mutex,
    memory::{
        managers::Memory,
        usage::Use, //
    },
    portable::{
        hangs::Process,
        replay::{
            Behind,
            Memories, //
        }, //
    },
    submit::pool::Pool,
    timeline::{
        Kind,
        Timeline, //
    }, //
};

/// The jobs of family `F`.
pub struct Jobs<F>(core::marker::PhantomData<fn() -> F>);

/// Number of objects for which the record of a job has memory from the beginning, and the largest number for which
/// the memory is kept.
const FEW: usize = 16;
const MANY: usize = 128;

/// The resources that a job holds until its fence has signalled.
pub struct Load<F: Family> {
    /// The objects that it uses.
    pub uses: KVVec<Use<F>>,
    /// The client of the job; `None` for a job of the kernel.
    pub record: Option<Arc<ClientRecord>>,
    /// Memories on the chip that a client's job may use, or that a job of the kernel clears.
    pub memories: Memories,
    /// The process that has submitted it. Has no meaning for a job of the kernel.
    pub process: Process,
}

impl<F: Family> Default for Load<F> {
    fn default() -> Self {
        Self {
            uses: KVVec::new(),
            record: None,
            memories: Memories::NONE,
            process: Process::default(),
        }
    }
}

/// How a job is executed.
#[derive(Clone, Copy)]
pub struct Command {
    /// Its commands.
    pub ib: Ib,
    /// The jobs of other rings that it waits for.
    pub behind: Behind,
}

impl<F: Family> Kind for Jobs<F> {
    const DRIVER: &'static CStr = F::NAME;
    type Load = Load<F>;
    type Command = Command;

    fn load() -> Result<Self::Load> {
        Ok(Load {
            uses: KVVec::with_capacity(FEW, GFP_KERNEL)?,
            record: None,
            memories: Memories::NONE,
            process: Process::default(),
        })
    }

    fn ran(load: &Self::Load, nanoseconds: u64) {
        if let Some(record) = &load.record {
            record.ran(nanoseconds);
        }
    }

    fn spend(load: &mut Self::Load) {
        if load.uses.capacity() > MANY {
            load.uses = KVVec::new();
        }
        load.uses.clear();
        load.record = None;
        load.memories = Memories::NONE;
    }
}

/// Timeline and indirect buffers of one ring.
#[pin_data]
pub struct Lane<F: Family> {
    timeline: Arc<Timeline<Jobs<F>>>,
    #[pin]
    pool: Mutex<Pool>,
}

impl<F: Family> Lane<F> {
    /// Make a lane whose timeline hastens `worker`, and has fences of `context`.
    pub(crate) fn new(
        dev: &device::Device<device::Bound>,
        memory: &Memory,
        space: &dyn Space,
        worker: &Arc<Worker>,
        context: u64,
    ) -> Result<Pin<KBox<Self>>> {
        let pool = Pool::new(dev, memory, space)?;
        let timeline = Timeline::with_context(worker.clone(), context)?;
        KBox::pin_init(
            pin_init!(Self {
                timeline,
                pool <- shared_mutex!(pool, "lane.pool"),
            }),
            GFP_KERNEL,
        )
    }

    /// Return the fences of the ring.
    pub fn timeline(&self) -> &Arc<Timeline<Jobs<F>>> {
        &self.timeline
    }

    /// Return the indirect buffers. The thread that holds the lock is the next to put a job on the ring.
    pub(crate) fn pool(&self) -> &Mutex<Pool> {
        &self.pool
    }
}
