// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A lane: what the driver keeps for one ring.
//!
//! A client's commands are never executed where the client can write, so every job has its own copy in an
//! indirect buffer. The buffers lie one behind the other in one piece of system memory that the GPU reads
//! through the GTT window, and are taken and given back in the order in which the ring executes them. A lock
//! keeps that order: whoever holds it is the next on the ring.

use kernel::{
    device, new_mutex,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    },
};

use crate::{
    corner::{
        buffer::Buffer,
        mm::Range,
        workqueue::Worker, //
    },
    family::{
        Family,
        GpuAddr,
        Space, //
    },
    memory::Memory,
    submit::Load,
    timeline::{
        Kind,
        Timeline, //
    },
};

/// Size of the indirect buffers together, in dwords: 1 MiB.
const POOL_DWORDS: usize = 256 * 1024;
/// Alignment of an indirect buffer in dwords.
const ALIGN_DWORDS: u64 = 64;
/// Dwords of the two pages behind the pool, which the self-test writes.
const TEST_DWORDS: usize = 2 * PAGE_SIZE / 4;

/// The jobs of family `F`.
pub struct Jobs<F>(core::marker::PhantomData<fn() -> F>);

impl<F: Family> Kind for Jobs<F> {
    const DRIVER: &'static CStr = F::NAME;
    type Load = Load<F>;
}

/// Timeline and indirect buffers of one ring.
#[pin_data]
pub struct Lane<F: Family> {
    timeline: Arc<Timeline<Jobs<F>>>,
    #[pin]
    pool: Mutex<Pool>,
}

impl<F: Family> Lane<F> {
    /// Makes a lane whose timeline hastens `worker`.
    pub(crate) fn new(
        dev: &device::Device<device::Bound>,
        memory: &Memory,
        space: &dyn Space,
        worker: &Arc<Worker>,
    ) -> Result<Pin<KBox<Self>>> {
        let pool = Pool::new(dev, memory, space)?;
        let timeline = Timeline::new(worker.clone())?;
        KBox::pin_init(
            pin_init!(Self {
                timeline,
                pool <- new_mutex!(pool),
            }),
            GFP_KERNEL,
        )
    }

    /// The fences of the ring.
    pub fn timeline(&self) -> &Arc<Timeline<Jobs<F>>> {
        &self.timeline
    }

    /// The indirect buffers. Whoever holds the lock is the next to put a job on the ring.
    pub(crate) fn pool(&self) -> &Mutex<Pool> {
        &self.pool
    }
}

/// The indirect buffers of one ring.
pub(crate) struct Pool {
    memory: Buffer,
    range: Range,
    /// Where the next buffer begins, in dwords since the beginning of time: never wraps.
    head: u64,
}

/// A piece of the pool.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    /// First dword in the memory.
    index: usize,
    /// First byte, for the GPU.
    pub(crate) addr: GpuAddr,
    /// Where the next piece begins.
    pub(crate) mark: u64,
}

impl Pool {
    fn new(
        dev: &device::Device<device::Bound>,
        memory: &Memory,
        space: &dyn Space,
    ) -> Result<Self> {
        let dwords = POOL_DWORDS + TEST_DWORDS;
        let pages = dwords * 4 / PAGE_SIZE;
        let coherent = Buffer::new(dev, dwords)?;
        let range = memory.reserve_gtt((dwords * 4) as u64, PAGE_SIZE as u64)?;
        space.map(
            memory.gtt_entry(range.start()),
            coherent.dma_address(),
            pages,
        )?;
        space.flush();
        Ok(Self {
            memory: coherent,
            range,
            head: 0,
        })
    }

    /// Takes the pool out of the page table: the GPU is quiet.
    pub(crate) fn unmap(&self, memory: &Memory, space: &dyn Space) {
        space.unmap(
            memory.gtt_entry(self.range.start()),
            (POOL_DWORDS + TEST_DWORDS) * 4 / PAGE_SIZE,
        );
        space.flush();
    }

    /// The piece that a buffer of `dwords` would take.
    pub(crate) fn next(&self, dwords: usize) -> Piece {
        let pool = POOL_DWORDS as u64;
        let len = (dwords as u64).next_multiple_of(ALIGN_DWORDS);
        let at = self.head % pool;
        let start = if at + len > pool {
            self.head + (pool - at)
        } else {
            self.head
        };
        let index = (start % pool) as usize;
        Piece {
            index,
            addr: self.range.start() + (index * 4) as u64,
            mark: start + len,
        }
    }

    /// Whether `piece` is free when the jobs up to `mark` are done.
    pub(crate) fn is_free(piece: &Piece, mark: u64) -> bool {
        piece.mark <= mark + POOL_DWORDS as u64
    }

    /// Takes `piece`, the one that [`Pool::next`] gives for `words`, and writes `words` to it.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the words do not fit the piece.
    pub(crate) fn take(&mut self, piece: Piece, words: &[u32]) -> Result {
        if piece.index + words.len() > POOL_DWORDS {
            return Err(EINVAL);
        }
        self.memory.write(piece.index, words)?;
        self.head = piece.mark;
        Ok(())
    }

    /// The address of the two pages behind the pool, which are zeroed.
    pub(crate) fn test_pages(&self) -> GpuAddr {
        self.range.start() + (POOL_DWORDS * 4) as u64
    }

    /// Whether every dword of the pages behind the pool is `value`.
    pub(crate) fn test(&self, value: u32) -> bool {
        (POOL_DWORDS..POOL_DWORDS + TEST_DWORDS).all(|index| self.memory.read(index) == Ok(value))
    }
}
