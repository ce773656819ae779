// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command ring.
//!
//! A power of two of dwords in system memory, which the host fills and the command processor (CP)
//! empties (R5xx 4.4). The host learns what has been done without asking the chip: the CP writes
//! its read pointer to memory, and copies to the scratch registers, of which one takes the sequence
//! numbers of fences (R5xx 4.9). Both go to one page that the CPU caches and the chip's writes
//! snoop. So a submission costs one register access, the write pointer, and to see that a fence has
//! signalled costs none.
//!
//! Packets may run over the end of the ring to its start. The write pointer is left at multiples of
//! what the CP fetches at once, with fillers (type-2 packets) in between.

use kernel::{
    device::{
        Bound,
        Device, //
    },
    dma::{
        Coherent,
        DmaAddress, //
    },
    io::{
        io_read,
        io_write,
        register::Array,
        Io, //
    },
    new_mutex,
    page::PAGE_SIZE,
    pr_err_once,
    prelude::*,
    sync::{
        lock::mutex::MutexGuard,
        Mutex, //
    },
};

use lapidary::{
    corner::buffer::Buffer,
    family,
    portable::{
        ring::Geometry,
        sink::{
            Full,
            Sink,
            SliceSink, //
        },
    },
};

use crate::{
    cp::Setup,
    portable::{
        emit,
        pm4, //
    },
    probe::is_dead,
    regs::{
        mmio::*,
        Window, //
    },
};

/// Size of the ring in dwords: 256 KiB, some 1,600 jobs.
const DWORDS: u32 = 1 << 16;

/// Alignment of the write pointer in dwords: what the CP fetches at once at most.
const ALIGN: u32 = 16;

/// Bytes that [`Ring`] takes of the window on system memory: the ring and the page that the CP
/// writes to.
pub(crate) const BYTES: usize = RING_BYTES + PAGE_SIZE;
const RING_BYTES: usize = DWORDS as usize * size_of::<u32>();

/// Alignment of the ring in GPU addresses, in bytes.
pub(crate) const ALIGNMENT: u64 = DWORDS as u64 * size_of::<u32>() as u64;

/// Scratch register that takes the sequence numbers of fences.
const FENCE: u32 = 0;

/// Scratch register that the ring test writes.
pub(crate) const TEST: u32 = 1;

/// Places in the page that the CP writes to, in dwords: scratch registers, and the read pointer in
/// another cache line.
const SCRATCH: usize = 0;
const READ_POINTER: usize = 16;

/// What fills the ring up to the next multiple of [`ALIGN`].
const PADDING: [u32; ALIGN as usize] = [pm4::FILLER; ALIGN as usize];

/// What a fence is made of. Only its number changes from one to the next.
struct FenceWords {
    words: [u32; emit::FENCE_DWORDS],
    /// Where the number is.
    number: u32,
}

impl FenceWords {
    /// Composes the words for a chip whose `HOST_PATH_CNTL` has this value, into which fences put their bit.
    fn new(host_path_cntl: u32) -> Result<Self> {
        let compose = |sequence| {
            let mut words = [0; emit::FENCE_DWORDS];
            let fence = emit::Fence {
                scratch: FENCE,
                sequence,
                host_path_cntl,
            };
            emit::fence(&mut SliceSink::new(&mut words), fence).map_err(|_| ENOSPC)?;
            Ok::<_, Error>(words)
        };
        let words = compose(0)?;
        let other = compose(u32::MAX)?;
        let differ = |(a, b): (&u32, &u32)| a != b;
        let number = words.iter().zip(&other).position(differ).ok_or(EINVAL)?;
        Ok(Self {
            words,
            number: number as u32,
        })
    }
}

/// The part of the ring that is being written.
struct Write {
    memory: Buffer,
    /// Position behind the last dword that the CP has been told of.
    at: u32,
}

impl Write {
    /// Writes `words` from position `at` on, over the end of the ring to its start if need be.
    fn put(&mut self, at: u32, words: &[u32]) -> Result {
        let left = (DWORDS - at) as usize;
        match words.split_at_checked(left) {
            Some((end, start)) => {
                self.memory.write(at as usize, end)?;
                self.memory.write(0, start)
            }
            None => self.memory.write(at as usize, words),
        }
    }
}

/// The command ring of a chip.
#[pin_data]
pub(crate) struct Ring<'a> {
    window: Window<'a>,
    geometry: Geometry,
    /// Bus address of the ring.
    base: DmaAddress,
    /// What the CP reports.
    reports: Coherent<[u32]>,
    fence: FenceWords,
    #[pin]
    write: Mutex<Write>,
}

impl<'a> Ring<'a> {
    /// Allocates a ring for the chip in `window`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(
        dev: &'a Device<Bound>,
        window: Window<'a>,
    ) -> impl PinInit<Self, Error> + 'a {
        pin_init::pin_init_scope(move || {
            let memory = Buffer::new(dev, DWORDS as usize)?;
            Ok(try_pin_init!(Self {
                window,
                geometry: Geometry::new(DWORDS, ALIGN).ok_or(EINVAL)?,
                base: memory.dma_address(),
                reports: Coherent::<u32>::zeroed_slice(
                    dev,
                    PAGE_SIZE / size_of::<u32>(),
                    GFP_KERNEL,
                )?,
                fence: FenceWords::new(window.read(HOST_PATH_CNTL).into_raw())?,
                write <- new_mutex!(Write { memory, at: 0 }),
            }? Error))
        })
    }

    /// The pieces of memory to be mapped for the chip, each with its length in bytes, in the order
    /// which [`Ring::setup`] expects.
    pub(crate) fn pieces(&self) -> [(DmaAddress, usize); 2] {
        [
            (self.base, RING_BYTES),
            (self.reports.dma_address(), self.reports.size()),
        ]
    }

    /// What the CP has to know if the pieces are mapped one after the other from GPU address
    /// `start`, which must be aligned to the ring's size.
    ///
    /// # Errors
    ///
    /// `EINVAL` if an address has more than 32 bits.
    pub(crate) fn setup(&self, start: u64) -> Result<Setup> {
        let ring = u32::try_from(start)?;
        let reports = u32::try_from(start + RING_BYTES as u64)?;
        Ok(Setup {
            ring,
            order: self.geometry.log2_qwords(),
            scratch: reports + (SCRATCH * size_of::<u32>()) as u32,
            read_pointer: reports + (READ_POINTER * size_of::<u32>()) as u32,
        })
    }

    /// A dword of what the CP reports.
    fn report(&self, index: usize) -> u32 {
        let read = || Ok::<u32, Error>(io_read!(self.reports, [try: index]));
        // The index is one of the constants above, or a scratch register's.
        u32::from_le(read().unwrap_or(0))
    }

    /// The copy of scratch register `index` in memory.
    pub(crate) fn scratch(&self, index: u32) -> u32 {
        self.report(SCRATCH + (index & 7) as usize)
    }

    /// The CP's read pointer, as last reported.
    pub(crate) fn read_pointer(&self) -> u32 {
        self.report(READ_POINTER)
    }

    /// The ring is empty, and its pointers are zero: the CP has been stopped.
    ///
    /// What it has reported about the ring test is forgotten. The number of the last fence is not: a chip that has lost its
    /// registers gets it back.
    pub(crate) fn empty(&self) {
        let mut write = self.write.lock();
        write.at = 0;
        for index in [READ_POINTER, SCRATCH + TEST as usize] {
            let clear = || {
                io_write!(self.reports, [try: index], 0);
                Ok::<(), Error>(())
            };
            // Both are constants inside the page.
            let _ = clear();
        }
        let number = SCRATCH_REG::from(self.scratch(FENCE));
        self.window.write(SCRATCH_REG::at(FENCE as usize), number);
    }

    /// Position behind the last dword that the CP has been told of.
    pub(crate) fn write_pointer(&self) -> u32 {
        self.write.lock().at
    }
}

impl family::Ring for Ring<'_> {
    type Slot<'s>
        = Slot<'s>
    where
        Self: 's;

    const JOB_DWORDS: usize = emit::RESTART_COUNTERS_DWORDS
        + emit::INDIRECT_BUFFER_DWORDS
        + emit::FENCE_DWORDS
        + ALIGN as usize;

    fn reserve(&self, dwords: usize) -> Result<Slot<'_>> {
        let write = self.write.lock();
        let at = write.at;
        let dwords = u32::try_from(dwords)?;
        let padded = self.geometry.padded(at, dwords).ok_or(EINVAL)?;
        // A report may have been lost on its way; the chip itself knows.
        let full = |read| padded > self.geometry.free(read, at);
        if full(self.read_pointer()) && full(self.window.read(CP_RB_RPTR).into_raw() % DWORDS) {
            return Err(EAGAIN);
        }
        Ok(Slot {
            window: self.window,
            geometry: self.geometry,
            fence: &self.fence,
            at,
            left: dwords,
            write,
            cut: false,
        })
    }

    fn completed(&self) -> u32 {
        self.scratch(FENCE)
    }

    fn completed_slow(&self) -> Option<u32> {
        let number = self.window.read(SCRATCH_REG::at(FENCE as usize)).into_raw();
        // All ones may be a number, or a device that is not there.
        (number != u32::MAX || !is_dead(self.window)).then_some(number)
    }

    fn dwords(&self) -> u32 {
        DWORDS
    }

    fn pointers(&self) -> (u32, u32) {
        (self.read_pointer(), self.write_pointer())
    }

    fn word(&self, index: u32) -> u32 {
        self.write.lock().memory.read(index as usize).unwrap_or(0)
    }
}

/// A reserved stretch of the ring.
pub(crate) struct Slot<'s> {
    window: Window<'s>,
    geometry: Geometry,
    fence: &'s FenceWords,
    write: MutexGuard<'s, Write>,
    /// Where the next dword goes, and how many may follow.
    at: u32,
    left: u32,
    /// Somebody has written more than was reserved.
    cut: bool,
}

impl Slot<'_> {
    /// Writes dwords at the position, whatever has been reserved.
    fn push(&mut self, words: &[u32]) {
        // The position is always reduced to the ring, and nobody writes more than the ring has.
        self.cut |= self.write.put(self.at, words).is_err();
        self.at = self.geometry.advance(self.at, words.len() as u32);
    }

    /// Writes dwords that have been reserved.
    fn append(&mut self, words: &[u32]) {
        match self.left.checked_sub(words.len() as u32) {
            Some(left) => {
                self.left = left;
                self.push(words);
            }
            None => self.cut = true,
        }
    }
}

impl Sink for Slot<'_> {
    fn put(&mut self, word: u32) -> Result<(), Full> {
        self.append(&[word]);
        match self.cut {
            false => Ok(()),
            true => Err(Full),
        }
    }
}

impl family::Slot for Slot<'_> {
    fn words(&mut self, words: &[u32]) {
        self.append(words);
    }

    fn change_client(&mut self) {
        let mut words = [0; emit::RESTART_COUNTERS_DWORDS];
        self.cut |= emit::restart_counters(&mut SliceSink::new(&mut words)).is_err();
        self.append(&words);
    }

    fn ib(&mut self, ib: family::Ib) {
        let mut words = [0; emit::INDIRECT_BUFFER_DWORDS];
        let written = match u32::try_from(ib.addr) {
            Ok(addr) => emit::indirect_buffer(&mut SliceSink::new(&mut words), addr, ib.len),
            Err(_) => Err(Full),
        };
        self.cut |= written.is_err();
        self.append(&words);
    }

    fn fence(&mut self, seq: u32) {
        let number = self.geometry.advance(self.at, self.fence.number);
        self.append(&self.fence.words);
        if !self.cut {
            self.cut |= self.write.put(number, &[seq]).is_err();
        }
    }

    fn kick(mut self) {
        if self.cut {
            // Half a sequence would do harm. The watchdog ends what waits for it.
            pr_err_once!("a job was larger than the place reserved for it\n");
            return;
        }
        let padding = self.geometry.padding(self.at) as usize;
        self.push(PADDING.get(..padding).unwrap_or(&PADDING));
        self.write.at = self.at;
        // A register write is ordered behind the writes to memory before it.
        self.window.write_reg(CP_RB_WPTR::from(self.at));
    }
}

#[kunit_tests(r500_ring)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use family::{
        Ring as _,
        Slot as _, //
    };
    use kernel::alloc::KBox;

    /// A ring in the memory of a device on the faux bus, and a register window that is storage.
    fn with_ring(test: impl FnOnce(&Ring<'_>, Window<'_>) -> Result) -> Result {
        let device = fake::Device::new()?;
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let ring = KBox::pin_init(Ring::new(device.dev(), window), GFP_KERNEL)?;
        test(&ring, window)
    }

    fn dword(ring: &Ring<'_>, at: u32) -> Result<u32> {
        ring.write.lock().memory.read(at as usize)
    }

    /// Plays the CP, which has consumed everything before `position`.
    fn consumed(ring: &Ring<'_>, position: u32) -> Result {
        io_write!(ring.reports, [try: READ_POINTER], position.to_le());
        Ok(())
    }

    fn write_pointer(window: Window<'_>) -> u32 {
        window.read(CP_RB_WPTR).into_raw()
    }

    #[test]
    fn a_job_is_padded_and_published_once() -> Result {
        with_ring(|ring, window| {
            let mut slot = ring.reserve(3)?;
            slot.words(&[1, 2, 3]);
            assert_eq!(write_pointer(window), 0);
            slot.kick();
            assert_eq!(write_pointer(window), ALIGN);
            for (at, want) in [(0, 1), (1, 2), (2, 3), (3, pm4::FILLER), (15, pm4::FILLER)] {
                assert_eq!(dword(ring, at)?, want);
            }
            assert_eq!(dword(ring, ALIGN)?, 0);
            Ok(())
        })
    }

    #[test]
    fn a_dropped_slot_leaves_no_trace() -> Result {
        with_ring(|ring, window| {
            let mut slot = ring.reserve(32)?;
            slot.words(&[7; 32]);
            drop(slot);
            let mut slot = ring.reserve(1)?;
            slot.words(&[8]);
            slot.kick();
            assert_eq!(write_pointer(window), ALIGN);
            assert_eq!(dword(ring, 0)?, 8);
            assert_eq!(dword(ring, 1)?, pm4::FILLER);
            Ok(())
        })
    }

    #[test]
    fn a_full_ring_has_no_room_until_the_chip_has_read() -> Result {
        with_ring(|ring, window| {
            let most = ring.geometry.capacity();
            ring.reserve(most as usize)?.kick();
            // Nothing was written, so nothing is padded or published.
            assert_eq!(write_pointer(window), 0);
            let mut slot = ring.reserve(most as usize)?;
            for _ in 0..most {
                slot.words(&[9]);
            }
            slot.kick();
            assert_eq!(write_pointer(window), DWORDS - ALIGN);
            assert_eq!(ring.reserve(1).err(), Some(EAGAIN));
            consumed(ring, ALIGN)?;
            assert!(ring.reserve(1).is_ok());
            assert_eq!(ring.reserve(ALIGN as usize + 1).err(), Some(EAGAIN));
            assert_eq!(ring.reserve(DWORDS as usize).err(), Some(EINVAL));
            assert_eq!(ring.reserve(usize::MAX).err(), Some(EINVAL));
            Ok(())
        })
    }

    #[test]
    fn a_lost_report_does_not_fill_the_ring() -> Result {
        with_ring(|ring, window| {
            ring.write.lock().at = DWORDS - ALIGN;
            assert_eq!(ring.reserve(1).err(), Some(EAGAIN));
            window.write_reg(CP_RB_RPTR::from(DWORDS - ALIGN));
            assert!(ring.reserve(1).is_ok());
            Ok(())
        })
    }

    #[test]
    fn an_emptied_ring_begins_anew() -> Result {
        with_ring(|ring, _| {
            let (fence, test) = (SCRATCH + FENCE as usize, SCRATCH + TEST as usize);
            io_write!(ring.reports, [try: fence], 5u32.to_le());
            io_write!(ring.reports, [try: test], 6u32.to_le());
            ring.write.lock().at = 64;
            consumed(ring, 32)?;
            ring.empty();
            assert_eq!((ring.write_pointer(), ring.read_pointer()), (0, 0));
            assert_eq!((ring.completed(), ring.scratch(TEST)), (5, 0));
            Ok(())
        })
    }

    #[test]
    fn a_chip_that_has_forgotten_is_told_the_last_fence() -> Result {
        with_ring(|ring, window| {
            let fence = SCRATCH + FENCE as usize;
            io_write!(ring.reports, [try: fence], 5u32.to_le());
            assert_eq!(ring.completed_slow(), Some(0));
            ring.empty();
            assert_eq!(ring.completed_slow(), Some(5));
            let test = window.read(SCRATCH_REG::at(TEST as usize));
            assert_eq!(test.into_raw(), 0);
            Ok(())
        })
    }

    #[test]
    fn the_chip_itself_says_what_is_done() -> Result {
        with_ring(|ring, window| {
            let set = |value| {
                window.write(SCRATCH_REG::at(FENCE as usize), SCRATCH_REG::from(value));
            };
            set(7);
            assert_eq!(ring.completed_slow(), Some(7));
            // The last number of all, or a device that is gone.
            set(u32::MAX);
            assert_eq!(ring.completed_slow(), Some(u32::MAX));
            window.write_reg(RBBM_STATUS::from(u32::MAX));
            assert_eq!(ring.completed_slow(), None);
            Ok(())
        })
    }

    #[test]
    fn a_job_may_run_over_the_end() -> Result {
        with_ring(|ring, window| {
            let most = ring.geometry.capacity();
            let mut slot = ring.reserve(most as usize)?;
            for _ in 0..most {
                slot.words(&[9]);
            }
            slot.kick();
            consumed(ring, DWORDS - ALIGN)?;
            let mut slot = ring.reserve(20)?;
            for word in 0..20 {
                slot.words(&[word]);
            }
            slot.kick();
            assert_eq!(write_pointer(window), ALIGN);
            assert_eq!(dword(ring, DWORDS - 1)?, 15);
            assert_eq!(dword(ring, 0)?, 16);
            assert_eq!(dword(ring, 3)?, 19);
            assert_eq!(dword(ring, 4)?, pm4::FILLER);
            Ok(())
        })
    }

    #[test]
    fn a_job_is_as_long_as_it_says() -> Result {
        with_ring(|ring, _| {
            let mut slot = ring.reserve(<Ring<'_> as family::Ring>::JOB_DWORDS)?;
            slot.change_client();
            slot.ib(family::Ib {
                addr: 0x1000,
                len: 8,
                vmid: 0,
            });
            slot.fence(1);
            assert!(!slot.cut);
            assert!(slot.left <= ALIGN);
            slot.words(&[0; 2 * ALIGN as usize]);
            assert!(slot.cut);
            Ok(())
        })
    }

    #[test]
    fn a_fence_has_its_number_in_one_place() -> Result {
        with_ring(|ring, _| {
            let fence = &ring.fence;
            let mut composed = [0; emit::FENCE_DWORDS];
            let seq = 0x1234_5678;
            let one = emit::Fence {
                scratch: FENCE,
                sequence: seq,
                host_path_cntl: 0,
            };
            emit::fence(&mut SliceSink::new(&mut composed), one).map_err(|_| EINVAL)?;
            // Once over the end of the ring, too.
            for start in [0, DWORDS - ALIGN] {
                ring.write.lock().at = start;
                consumed(ring, start)?;
                let mut slot = ring.reserve(emit::FENCE_DWORDS)?;
                slot.fence(seq);
                assert!(!slot.cut);
                drop(slot);
                for (at, want) in composed.iter().enumerate() {
                    let at = ring.geometry.advance(start, at as u32);
                    assert_eq!(dword(ring, at)?, *want);
                }
            }
            assert_eq!(composed[fence.number as usize], seq);
            Ok(())
        })
    }

    #[test]
    fn fences_are_seen_in_memory() -> Result {
        with_ring(|ring, _| {
            assert_eq!(ring.completed(), 0);
            let fence = SCRATCH + FENCE as usize;
            io_write!(ring.reports, [try: fence], 5u32.to_le());
            assert_eq!(ring.completed(), 5);
            Ok(())
        })
    }

    #[test]
    fn the_chip_learns_where_things_are() -> Result {
        with_ring(|ring, _| {
            let setup = ring.setup(ALIGNMENT)?;
            assert_eq!(u64::from(setup.ring), ALIGNMENT);
            assert_eq!(setup.order, 15);
            assert_eq!(u64::from(setup.scratch), 2 * ALIGNMENT);
            assert_eq!(setup.read_pointer, setup.scratch + 64);
            assert!(ring.setup(u64::MAX / 2).is_err());
            assert!(ring.setup((1 << 32) - ALIGNMENT).is_err());
            Ok(())
        })
    }
}
