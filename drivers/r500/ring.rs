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
    family,
    portable::{
        ring::Geometry,
        sink::{
            Full,
            Sink, //
        },
    },
};

use crate::{
    cp::Setup,
    portable::{
        emit,
        pm4, //
    },
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
pub(crate) const BYTES: usize = DWORDS as usize * size_of::<u32>() + PAGE_SIZE;

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

/// The command ring of a chip.
#[pin_data]
pub(crate) struct Ring<'a> {
    window: Window<'a>,
    geometry: Geometry,
    memory: Coherent<[u32]>,
    /// What the CP reports.
    reports: Coherent<[u32]>,
    /// Value of `HOST_PATH_CNTL`, into which fences put their bit.
    host_path_cntl: u32,
    /// Position behind the last dword that the CP has been told of.
    #[pin]
    write: Mutex<u32>,
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
        try_pin_init!(Self {
            window,
            geometry: Geometry::new(DWORDS, ALIGN).ok_or(EINVAL)?,
            memory: Coherent::<u32>::zeroed_slice(dev, DWORDS as usize, GFP_KERNEL)?,
            reports: Coherent::<u32>::zeroed_slice(dev, PAGE_SIZE / size_of::<u32>(), GFP_KERNEL)?,
            host_path_cntl: window.read(HOST_PATH_CNTL).into_raw(),
            write <- new_mutex!(0),
        }? Error)
    }

    /// The pieces of memory to be mapped for the chip, each with its length in bytes, in the order
    /// which [`Ring::setup`] expects.
    pub(crate) fn pieces(&self) -> [(DmaAddress, usize); 2] {
        [
            (self.memory.dma_address(), self.memory.size()),
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
        let reports = u32::try_from(start + self.memory.size() as u64)?;
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

    /// Position behind the last dword that the CP has been told of.
    pub(crate) fn write_pointer(&self) -> u32 {
        *self.write.lock()
    }
}

impl family::Ring for Ring<'_> {
    type Slot<'s>
        = Slot<'s>
    where
        Self: 's;

    const JOB_DWORDS: usize = emit::INDIRECT_BUFFER_DWORDS + emit::FENCE_DWORDS + ALIGN as usize;

    fn reserve(&self, dwords: usize) -> Result<Slot<'_>> {
        let write = self.write.lock();
        let dwords = u32::try_from(dwords)?;
        let padded = self.geometry.padded(*write, dwords).ok_or(EINVAL)?;
        if padded > self.geometry.free(self.read_pointer(), *write) {
            return Err(EAGAIN);
        }
        Ok(Slot {
            memory: &self.memory,
            window: self.window,
            geometry: self.geometry,
            host_path_cntl: self.host_path_cntl,
            at: *write,
            left: dwords,
            write,
            cut: false,
        })
    }

    fn completed(&self) -> u32 {
        self.scratch(FENCE)
    }
}

/// A reserved stretch of the ring.
pub(crate) struct Slot<'s> {
    memory: &'s Coherent<[u32]>,
    window: Window<'s>,
    geometry: Geometry,
    host_path_cntl: u32,
    write: MutexGuard<'s, u32>,
    /// Where the next dword goes, and how many may follow.
    at: u32,
    left: u32,
    /// Somebody has written more than was reserved.
    cut: bool,
}

impl Slot<'_> {
    /// Writes a dword at the position, whatever has been reserved.
    fn push(&mut self, word: u32) {
        let at = self.at as usize;
        let write = || {
            io_write!(self.memory, [try: at], word.to_le());
            Ok::<(), Error>(())
        };
        // The position is always reduced to the ring.
        self.cut |= write().is_err();
        self.at = self.geometry.advance(self.at, 1);
    }

    fn note(&mut self, written: Result<(), Full>) {
        self.cut |= written.is_err();
    }
}

impl Sink for Slot<'_> {
    fn put(&mut self, word: u32) -> Result<(), Full> {
        self.left = self.left.checked_sub(1).ok_or(Full)?;
        self.push(word);
        Ok(())
    }
}

impl family::Slot for Slot<'_> {
    fn words(&mut self, words: &[u32]) {
        let written = self.put_all(words);
        self.note(written);
    }

    fn ib(&mut self, ib: family::Ib) {
        let written = match u32::try_from(ib.addr) {
            Ok(addr) => emit::indirect_buffer(self, addr, ib.len),
            Err(_) => Err(Full),
        };
        self.note(written);
    }

    fn fence(&mut self, seq: u32) {
        let fence = emit::Fence {
            scratch: FENCE,
            sequence: seq,
            host_path_cntl: self.host_path_cntl,
        };
        let written = emit::fence(self, fence);
        self.note(written);
    }

    fn kick(mut self) {
        if self.cut {
            // Half a sequence would do harm. The watchdog ends what waits for it.
            pr_err_once!("a job was larger than the place reserved for it\n");
            return;
        }
        for _ in 0..self.geometry.padding(self.at) {
            self.push(pm4::FILLER);
        }
        *self.write = self.at;
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
        let at = at as usize;
        Ok(u32::from_le(io_read!(ring.memory, [try: at])))
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
