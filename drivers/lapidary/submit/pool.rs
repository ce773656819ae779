// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The indirect buffers of a ring.
//!
//! A client's commands are never executed where the client can write. So every job has its own copy in an indirect
//! buffer. The buffers lie behind each other in one piece of system memory that the GPU reads through the GTT window.
//! They are allocated and freed in the order in which the ring executes them.

use kernel::{
    device,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    }, //
};

use crate::{
    client_record::ClientRecord,
    corner::{
        buffer::Buffer,
        fence::Fence,
        mm::Range, //
    },
    family::space::{
        GpuAddr,
        Space, //
    },
    memory::managers::Memory,
    portable::{
        bunch::Bunch,
        mapping::{
            Flags,
            Target, //
        },
        replay::RINGS,
        residue::Residue, //
    }, //
};

/// Size of all indirect buffers together, in dwords: 1 MiB.
const POOL_DWORDS: usize = 256 * 1024;
/// Alignment of an indirect buffer in dwords.
const ALIGN_DWORDS: u64 = 64;
/// Dwords of the two pages behind the pool, which the self-test writes.
const TEST_DWORDS: usize = 2 * PAGE_SIZE / 4;
/// Dwords of the page behind these, with the semaphores of the jobs that wait for other rings: one of two dwords for each
/// ring that is waited for.
const SEMAPHORE_DWORDS: usize = PAGE_SIZE / 4;
/// Dwords of all of the memory.
const ALL_DWORDS: usize = POOL_DWORDS + TEST_DWORDS + SEMAPHORE_DWORDS;
/// Pages of the memory.
const PAGES: usize = ALL_DWORDS * 4 / PAGE_SIZE;

/// Fences that a ring keeps, to free them together.
const FENCES: usize = 32;

/// The indirect buffers of one ring, and what else the jobs of the ring have in common.
pub(crate) struct Pool {
    memory: Buffer,
    range: Range,
    /// Where the next buffer begins, in dwords since the pool was made. Never wraps.
    head: u64,
    /// The last client for which the ring has worked, if that is known. Jobs of the kernel do not count.
    client: Option<Arc<ClientRecord>>,
    /// What the client has left in the chip.
    residue: Residue,
    /// Fences of the last jobs, which are freed together.
    fences: Bunch<ARef<Fence>, FENCES>,
}

/// Return where in the memory a buffer of `dwords` behind `head` begins, and where the next one begins.
///
/// A buffer is contiguous. A rest at the end of the memory that is too short for it is left out.
fn behind(head: u64, dwords: u64) -> (usize, u64) {
    let pool = POOL_DWORDS as u64;
    let len = dwords.next_multiple_of(ALIGN_DWORDS);
    let at = head % pool;
    let start = if at + len > pool {
        head + (pool - at)
    } else {
        head
    };
    ((start % pool) as usize, start + len)
}

/// Where the semaphores are by which jobs of a ring wait for other rings.
#[derive(Clone, Copy)]
pub(crate) struct Semaphores(GpuAddr);

impl Semaphores {
    /// Return the address of the semaphore that ring `other` signals.
    pub(crate) fn of(self, other: usize) -> GpuAddr {
        self.0 + other as u64 * 8
    }
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
    /// Make a pool in the page table `space`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `ENOSPC`; as [`Space::map`].
    pub(crate) fn new(
        dev: &device::Device<device::Bound>,
        memory: &Memory,
        space: &dyn Space,
    ) -> Result<Self> {
        let coherent = Buffer::new(dev, ALL_DWORDS)?;
        let range = memory.reserve_gtt((PAGES * PAGE_SIZE) as u64, PAGE_SIZE as u64)?;
        let pool = Self {
            memory: coherent,
            range,
            head: 0,
            client: None,
            residue: Residue::default(),
            fences: Bunch::default(),
        };
        pool.map(memory, space)?;
        Ok(pool)
    }

    /// Enter the pool in the page table.
    ///
    /// # Errors
    ///
    /// As [`Space::map`].
    pub(crate) fn map(&self, memory: &Memory, space: &dyn Space) -> Result {
        space.map(
            memory.gtt_entry(self.range.start()),
            Target::System(self.memory.dma_address()),
            PAGES,
            Flags::READ_WRITE,
        )?;
        space.flush();
        Ok(())
    }

    /// Remove the pool from the page table. The GPU is quiet.
    pub(crate) fn unmap(&self, memory: &Memory, space: &dyn Space) {
        space.unmap(memory.gtt_entry(self.range.start()), PAGES);
        space.flush();
    }

    /// Return the piece that a buffer of `dwords` would take.
    pub(crate) fn next(&self, dwords: usize) -> Piece {
        let (index, mark) = behind(self.head, dwords as u64);
        Piece {
            index,
            addr: self.range.start() + (index * 4) as u64,
            mark,
        }
    }

    /// Return whether `piece` is free when the jobs up to `mark` are done.
    pub(crate) fn is_free(piece: &Piece, mark: u64) -> bool {
        piece.mark <= mark + POOL_DWORDS as u64
    }

    /// Write `words` to `piece`, which [`Pool::next`] has returned for them. Only [`Pool::take`] takes the piece.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the words do not fit the piece.
    pub(crate) fn write(&mut self, piece: Piece, words: &[u32]) -> Result {
        if piece.index + words.len() > POOL_DWORDS {
            return Err(EINVAL);
        }
        self.memory.write(piece.index, words)
    }

    /// Take `piece`, which [`Pool::next`] has returned. The next piece lies behind it.
    ///
    /// Only for a job that is committed, because pieces are freed by the marks of jobs that are done.
    pub(crate) fn take(&mut self, piece: Piece) {
        self.head = piece.mark;
    }

    /// Note that the next job belongs to `client` and has this residue. Return whether [`Slot::change_client`] must come
    /// before it: the last job belonged to another client, or has left what this one must not find.
    ///
    /// [`Slot::change_client`]: crate::family::ring::Slot::change_client
    pub(crate) fn change_client(&mut self, client: &Arc<ClientRecord>, residue: &Residue) -> bool {
        let same = self
            .client
            .as_ref()
            .is_some_and(|last| Arc::ptr_eq(last, client));
        if same {
            return self.residue.follow(residue);
        }
        self.client = Some(client.clone());
        self.residue = *residue;
        true
    }

    /// Keep the memory of a job's fence until it is freed with those of other jobs.
    pub(crate) fn keep(&mut self, fence: ARef<Fence>) {
        self.fences.keep(fence);
    }

    /// Forget for which client the ring has worked last.
    pub(crate) fn forget_client(&mut self) {
        self.client = None;
    }

    /// Return dword `index` of the buffer at `addr`; `None` beyond the pool.
    pub(crate) fn word(&self, addr: GpuAddr, index: u32) -> Option<u32> {
        let at = addr.checked_sub(self.range.start())? / 4 + u64::from(index);
        let at = usize::try_from(at).ok().filter(|&at| at < POOL_DWORDS)?;
        self.memory.read(at).ok()
    }

    /// Return the address of the two pages behind the pool, which are zeroed.
    pub(crate) fn test_pages(&self) -> GpuAddr {
        self.range.start() + (POOL_DWORDS * 4) as u64
    }

    /// Return the semaphores by which jobs of this ring wait for other rings.
    pub(crate) fn semaphores(&self) -> Semaphores {
        const { assert!(2 * RINGS <= SEMAPHORE_DWORDS) };
        Semaphores(self.range.start() + ((POOL_DWORDS + TEST_DWORDS) * 4) as u64)
    }

    /// Set all semaphores to 0. All rings are stopped.
    pub(crate) fn clear_semaphores(&mut self) {
        // No error: the memory has these dwords.
        let _ = self
            .memory
            .write(POOL_DWORDS + TEST_DWORDS, &[0; 2 * RINGS]);
    }

    /// Return whether every dword of the pages behind the pool is `value`.
    pub(crate) fn test(&self, value: u32) -> bool {
        (POOL_DWORDS..POOL_DWORDS + TEST_DWORDS).all(|index| self.memory.read(index) == Ok(value))
    }
}

#[kunit_tests(lapidary_lane)]
mod tests {
    use super::*;
    use crate::corner::{
        gem_kunit::Machine,
        mm::{
            Mm,
            Mode, //
        },
    };

    const POOL: u64 = POOL_DWORDS as u64;

    fn pool(machine: &Machine) -> Result<Pool> {
        let bytes = POOL * 4;
        Ok(Pool {
            memory: Buffer::new(machine.dev(), POOL_DWORDS)?,
            range: Mm::new(0, bytes)?.allocate(bytes, 0, 0, bytes, Mode::Low)?,
            head: 0,
            client: None,
            residue: Residue::default(),
            fences: Bunch::default(),
        })
    }

    #[test]
    fn buffers_follow_each_other_aligned() {
        assert!(behind(0, 1) == (0, ALIGN_DWORDS));
        assert!(behind(ALIGN_DWORDS, ALIGN_DWORDS) == (ALIGN_DWORDS as usize, 2 * ALIGN_DWORDS));
        assert!(behind(0, ALIGN_DWORDS + 1) == (0, 2 * ALIGN_DWORDS));
    }

    #[test]
    fn a_buffer_lies_in_one_piece() {
        // The buffer ends with the memory.
        assert!(behind(POOL - 128, 128) == (POOL_DWORDS - 128, POOL));
        // The buffer would not fit before the end, so the end is left out.
        assert!(behind(POOL - 128, 129) == (0, POOL + 192));
        assert!(behind(5 * POOL - 64, 65_536) == (0, 5 * POOL + 65_536));
    }

    #[test]
    fn what_is_under_way_is_not_overwritten() {
        let (index, mark) = behind(POOL, 64);
        let piece = Piece {
            index,
            addr: 0,
            mark,
        };
        assert!(!Pool::is_free(&piece, 0));
        assert!(!Pool::is_free(&piece, 63));
        assert!(Pool::is_free(&piece, 64));
    }
    #[test]
    fn each_change_of_the_client_shows_once() -> Result {
        let machine = Machine::new()?;
        let mut pool = pool(&machine)?;
        let (a, b) = (ClientRecord::new()?, ClientRecord::new()?);
        let nothing = Residue::default();
        let mut changes = |client| pool.change_client(client, &nothing);
        assert!(changes(&a) && !changes(&a) && changes(&b) && changes(&a) && !changes(&a));
        pool.forget_client();
        assert!(pool.change_client(&a, &nothing) && !pool.change_client(&a, &nothing));
        Ok(())
    }

    #[test]
    fn what_a_client_has_left_itself_shows_too() -> Result {
        let machine = Machine::new()?;
        let mut pool = pool(&machine)?;
        let (a, b) = (ClientRecord::new()?, ClientRecord::new()?);
        let (mut sets, mut draws) = (Residue::default(), Residue::default());
        sets.state(3, true);
        draws.draw();
        let mut changes = |client, residue| pool.change_client(client, residue);
        assert!(changes(&a, &sets) && changes(&a, &draws) && !changes(&a, &draws));
        // The change of the client has cleared what the other left.
        assert!(changes(&b, &sets) && changes(&a, &draws) && !changes(&a, &draws));
        Ok(())
    }

    #[test]
    fn only_a_job_that_is_committed_takes_room() -> Result {
        let machine = Machine::new()?;
        let mut pool = pool(&machine)?;
        // Uncommitted jobs, with more words in total than there is room for. None of them is done.
        for _ in 0..5 {
            let piece = pool.next(65_536);
            assert!(piece.index == 0 && Pool::is_free(&piece, 0));
            pool.write(piece, &[7; 16])?;
        }
        for _ in 0..4 {
            let piece = pool.next(65_536);
            assert!(Pool::is_free(&piece, 0));
            pool.write(piece, &[7; 16])?;
            pool.take(piece);
        }
        let piece = pool.next(65_536);
        assert!(!Pool::is_free(&piece, 0) && Pool::is_free(&piece, 65_536));
        Ok(())
    }
}
