// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring of the command regulator.
//!
//! A ring is a piece of system memory behind the GART. The regulator has no write pointer. It fetches up to a pause address,
//! and the host moves that address behind each job, by one register write (L235). [`portable::ring`](crate::portable::ring) has
//! the rules. The regulator writes the numbers of fences to a page of system memory by its bus address, and keeps the last
//! one in a register.
//!
//! A job calls a buffer of commands as a branch (L712-752), and ends with a fence. Between them are commands without effect,
//! for what the regulator has requested before it takes notice of the branch.
//!
//! The ring itself learns by the numbers of fences which blocks are done: it remembers for the last jobs where they end.

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
        Io, //
    },
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
    family::{
        self,
        GpuAddr,
        Ib, //
    },
    lock::shared_mutex,
    portable::sink::{
        Full,
        Sink, //
    },
};

use crate::{
    cr,
    portable::{
        emit,
        place::Place,
        ring::{
            Block,
            Ring as Geometry,
            BLOCK, //
        },
    },
    regs::{
        mmio::AGP_PAUSE_ADDRESS_PORT,
        mmio_read::FENCE_ID,
        Window, //
    },
};

/// Size of the ring in bytes. It is larger than all jobs together that can be under way, and twice a block.
pub(crate) const BYTES: usize = 256 * 1024;

/// Dwords of a block.
const BLOCK_DWORDS: usize = BLOCK as usize / size_of::<u32>();

/// For how many of the last jobs the ring remembers where they end. A power of two, and more than can be under way.
const REMEMBERED: usize = 512;

/// Dwords of the page of reports: the number of the last fence, and of the last ring test.
const FENCE: usize = 0;
const TEST: usize = 4;

/// A command ring.
#[pin_data]
pub(crate) struct Ring<'a> {
    window: Window<'a>,
    /// Bus address of the ring.
    base: DmaAddress,
    /// What the regulator reports.
    reports: Coherent<[u32]>,
    #[pin]
    write: Mutex<Write>,
}

/// The part of a ring that is being written.
struct Write {
    memory: Buffer,
    /// As the regulator has been told.
    geometry: Geometry,
    /// The regulator fetches.
    started: bool,
    /// Where the jobs with the last numbers end.
    ends: KVec<u64>,
}

impl Write {
    /// Return where the job with a number ends; 0 if that is not known.
    fn end(&self, number: u32) -> u64 {
        let end = self.ends.get(number as usize % REMEMBERED);
        end.copied().unwrap_or(0)
    }
}

impl<'a> Ring<'a> {
    /// Allocate a ring that the regulator finds behind the GART from `start` on.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` for an address that is not a ring's.
    pub(crate) fn new<'d>(
        dev: &'d Device<Bound>,
        window: Window<'a>,
        start: GpuAddr,
    ) -> impl PinInit<Self, Error> + use<'a, 'd> {
        pin_init::pin_init_scope(move || {
            let memory = Buffer::new(dev, BYTES / size_of::<u32>())?;
            let mut ends = KVec::with_capacity(REMEMBERED, GFP_KERNEL)?;
            ends.resize(REMEMBERED, 0, GFP_KERNEL)?;
            let place = Place::of(start).ok_or(EINVAL)?;
            let geometry =
                Geometry::new(place.address, BYTES as u32, place.location).ok_or(EINVAL)?;
            Ok(try_pin_init!(Self {
                window,
                base: memory.dma_address(),
                reports: Coherent::<u32>::zeroed_slice(
                    dev,
                    PAGE_SIZE / size_of::<u32>(),
                    GFP_KERNEL,
                )?,
                write <- shared_mutex!(
                    Write {
                        memory,
                        geometry,
                        started: false,
                        ends,
                    },
                    "ring.write",
                ),
            }? Error))
        })
    }

    /// Return the piece of memory to be mapped for the regulator, with its length in bytes.
    pub(crate) fn piece(&self) -> (DmaAddress, usize) {
        (self.base, BYTES)
    }

    /// Read dword `index` of the page of reports.
    fn report(&self, index: usize) -> u32 {
        let read = || Ok::<u32, Error>(io_read!(self.reports, [try: index]));
        // The index is one of the constants above.
        u32::from_le(read().unwrap_or(0))
    }

    /// Return the bus address of dword `index` of the page of reports.
    fn report_address(&self, index: usize) -> u64 {
        self.reports.dma_address() + (index * size_of::<u32>()) as u64
    }

    /// Return the number that the last ring test has written.
    pub(crate) fn tested(&self) -> u32 {
        self.report(TEST)
    }

    /// Return the number of the last fence that the regulator keeps in its register.
    pub(crate) fn number(&self) -> u32 {
        self.window.read(FENCE_ID).into_raw()
    }

    /// Empty the ring. The regulator has been stopped, and starts with the next job. The number of the last fence stays.
    pub(crate) fn empty(&self) {
        let mut write = self.write.lock();
        write.started = false;
        write.geometry = write.geometry.emptied();
        write.ends.iter_mut().for_each(|end| *end = 0);
    }

    /// Let the regulator write `number` as a ring test does. The first one starts the ring, and no other block follows until
    /// it is done.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if the ring is full.
    pub(crate) fn test(&self, number: u32) -> Result {
        let mut slot = self.reserve_block(emit::FENCE_DWORDS)?;
        slot.write_fence(TEST, number);
        family::Slot::kick(slot);
        Ok(())
    }

    /// Let the regulator write the number of the last fence once more, so that its register has it, too.
    ///
    /// # Errors
    ///
    /// `EAGAIN` if the ring is full.
    pub(crate) fn repeat(&self) -> Result {
        let mut slot = self.reserve_block(emit::FENCE_DWORDS)?;
        slot.write_fence(FENCE, family::Ring::completed(self));
        family::Slot::kick(slot);
        Ok(())
    }

    /// Play the regulator for a test, and report that the fence `number` is done.
    #[cfg(CONFIG_KUNIT = "y")]
    fn play(&self, number: u32) -> Result {
        kernel::io::io_write!(self.reports, [try: FENCE], number.to_le());
        Ok(())
    }

    /// Lock the ring and take a block of `dwords`.
    fn reserve_block(&self, dwords: usize) -> Result<Slot<'_, 'a>> {
        let mut write = self.write.lock();
        let dwords = u32::try_from(dwords)?;
        if dwords > write.geometry.most() / size_of::<u32>() as u32 {
            return Err(EINVAL);
        }
        let done = write.end(family::Ring::completed(self));
        write.geometry.retire(done);
        let mut after = write.geometry;
        let block = after.reserve(dwords).ok_or(EAGAIN)?;
        Ok(Slot {
            ring: self,
            write,
            after,
            at: block.at / size_of::<u32>() as u32,
            end: (block.at + block.bytes) / size_of::<u32>() as u32,
            block,
            number: None,
            cut: false,
        })
    }
}

impl<'a> family::Ring for Ring<'a> {
    type Slot<'s>
        = Slot<'s, 'a>
    where
        Self: 's;

    const JOB_DWORDS: usize =
        (emit::BRANCH_DWORDS + emit::BEHIND_BRANCH_DWORDS + emit::FENCE_DWORDS)
            .next_multiple_of(BLOCK_DWORDS);
    // There is only one ring.
    const SEMAPHORE_DWORDS: usize = 0;

    fn reserve(&self, dwords: usize) -> Result<Slot<'_, 'a>> {
        self.reserve_block(dwords)
    }

    fn completed(&self) -> u32 {
        self.report(FENCE)
    }

    fn completed_slow(&self) -> Option<u32> {
        let number = self.number();
        // All ones may be a number, or the answer of a device that is gone.
        (number != u32::MAX || !cr::is_dead(self.window)).then_some(number)
    }

    fn dwords(&self) -> u32 {
        (BYTES / size_of::<u32>()) as u32
    }

    fn pointers(&self) -> (u32, u32) {
        let mut write = self.write.lock();
        let done = write.end(family::Ring::completed(self));
        write.geometry.retire(done);
        let (next, done) = write.geometry.offsets();
        let dword = size_of::<u32>() as u32;
        (done / dword, next / dword)
    }

    fn word(&self, index: u32) -> u32 {
        self.write.lock().memory.read(index as usize).unwrap_or(0)
    }
}

/// A block that is being written.
pub(crate) struct Slot<'s, 'a> {
    ring: &'s Ring<'a>,
    write: MutexGuard<'s, Write>,
    /// The ring behind the block.
    after: Geometry,
    block: Block,
    /// Where the next dword goes, and where the block ends.
    at: u32,
    end: u32,
    /// The number of the job's fence.
    number: Option<u32>,
    /// More was written than was reserved, or a command could not be composed. The job is not published.
    cut: bool,
}

impl Slot<'_, '_> {
    /// Write dwords that have been reserved.
    fn append(&mut self, words: &[u32]) {
        let end = self.at as usize + words.len();
        if end > self.end as usize {
            self.cut = true;
            return;
        }
        self.cut |= self.write.memory.write(self.at as usize, words).is_err();
        self.at = end as u32;
    }

    /// Fill with commands without effect up to `end`.
    fn pad(&mut self, end: u32) {
        match end.checked_sub(self.at) {
            Some(left) => self.cut |= emit::pad(self, left).is_err(),
            None => self.cut = true,
        }
    }

    /// Write a fence at the end of the block, which reports in dword `report`. What came behind a fence would still be
    /// fetched when the block counts as done.
    fn write_fence(&mut self, report: usize, number: u32) {
        self.pad(self.end.saturating_sub(emit::FENCE_DWORDS as u32));
        let address = self.ring.report_address(report);
        self.cut |= emit::fence(self, address, number).is_err();
    }
}

impl Sink for Slot<'_, '_> {
    fn put(&mut self, word: u32) -> Result<(), Full> {
        self.put_all(&[word])
    }

    fn put_all(&mut self, words: &[u32]) -> Result<(), Full> {
        self.append(words);
        match self.cut {
            false => Ok(()),
            true => Err(Full),
        }
    }
}

impl family::Slot for Slot<'_, '_> {
    fn words(&mut self, words: &[u32]) {
        self.append(words);
    }

    fn signal(&mut self, _semaphore: GpuAddr) {
        self.cut = true;
    }

    fn wait(&mut self, _semaphore: GpuAddr) {
        self.cut = true;
    }

    /// The checker demands that a stream states all that it depends on, so nothing of another client is found.
    fn change_client(&mut self) {}

    fn ib(&mut self, ib: Ib) {
        let bytes = ib.len.saturating_mul(size_of::<u32>() as u32);
        let branch = match Place::of(ib.addr) {
            Some(place) => emit::branch(self, place.address.into(), bytes, place.location),
            None => Err(emit::Error::Range),
        };
        self.cut |= branch.is_err();
        self.append(&emit::BEHIND_BRANCH);
    }

    fn fence(&mut self, seq: u32) {
        self.number = Some(seq);
        self.write_fence(FENCE, seq);
    }

    fn kick(mut self) {
        self.pad(self.end);
        let skipped = self.block.skipped / size_of::<u32>() as u32;
        if skipped != 0 {
            (self.at, self.end) = (
                self.block.skipped_at / size_of::<u32>() as u32,
                self.ring_end(),
            );
            self.pad(self.end);
        }
        if self.cut {
            // Half a sequence would do harm. The watchdog ends the job as hung.
            pr_err_once!("a job was larger than the place reserved for it\n");
            return;
        }
        let Self {
            ring,
            write,
            after,
            block,
            number,
            ..
        } = &mut self;
        write.geometry = *after;
        if let Some(end) = number.and_then(|n| write.ends.get_mut(n as usize % REMEMBERED)) {
            *end = block.end;
        }
        // A register write comes behind all earlier writes to memory.
        if write.started {
            let pause = AGP_PAUSE_ADDRESS_PORT::from(after.pause_address(block));
            ring.window.write_reg(pause);
        } else {
            write.started = true;
            cr::send(ring.window, &after.start(block));
        }
    }
}

impl Slot<'_, '_> {
    /// Return the dword behind the ring's last one.
    fn ring_end(&self) -> u32 {
        (BYTES / size_of::<u32>()) as u32
    }
}

#[kunit_tests(chrome9_ring)]
mod tests {
    use super::*;
    use crate::{
        portable::{
            emit::PAD,
            place::GART, //
        },
        regs::{
            fake,
            mmio::{
                CR_SETTING,
                ENGINE_STATUS, //
            }, //
        }, //
    };
    use family::{
        Ring as _,
        Slot as _, //
    };
    use kernel::alloc::KBox;

    /// Where the ring lies behind the GART.
    const START: u32 = 0x10_0000;

    fn with_ring(test: impl FnOnce(&Ring<'_>, Window<'_>) -> Result) -> Result {
        let device = fake::Device::new()?;
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let start = GART + u64::from(START);
        let ring = KBox::pin_init(Ring::new(device.dev(), window, start), GFP_KERNEL)?;
        test(&ring, window)
    }

    /// Put a job on the ring. Return whether there was room.
    fn job(ring: &Ring<'_>, number: u32) -> Result {
        let mut slot = ring.reserve(<Ring<'_> as family::Ring>::JOB_DWORDS)?;
        slot.change_client();
        slot.ib(Ib {
            addr: GART + 0x20_0000,
            len: 16,
            vmid: 0,
        });
        slot.fence(number);
        assert!(!slot.cut);
        slot.kick();
        Ok(())
    }

    const JOB: u32 = <Ring<'_> as family::Ring>::JOB_DWORDS as u32;

    fn pause(window: Window<'_>) -> u32 {
        window.read(AGP_PAUSE_ADDRESS_PORT).into_raw()
    }

    #[test]
    fn the_first_job_starts_the_ring_and_others_move_the_pause_address() -> Result {
        with_ring(|ring, window| {
            job(ring, 1)?;
            assert_eq!(window.read(CR_SETTING).into_raw(), 0x10 << 16);
            assert_eq!(pause(window), 0);
            window.write_reg(CR_SETTING::zeroed());
            job(ring, 2)?;
            assert_eq!(pause(window), START + 2 * 4 * JOB - 16);
            assert_eq!(window.read(CR_SETTING).into_raw(), 0);
            Ok(())
        })
    }

    #[test]
    fn a_job_calls_its_buffer_and_ends_with_its_fence() -> Result {
        with_ring(|ring, _| {
            job(ring, 0x1234_5678)?;
            // A[23:1]; location and A[31:24]; units.
            let call = [5, 6, 7].map(|index| ring.word(index));
            assert_eq!(call, [0x6920_0000, 0x6a40_0000, 0x6b00_0004]);
            let behind = emit::BEHIND_BRANCH.iter().zip(emit::BRANCH_DWORDS as u32..);
            for (want, index) in behind {
                assert_eq!(ring.word(index), *want);
            }
            let fence = [JOB - 2, JOB - 1].map(|index| ring.word(index));
            assert_eq!(fence, [0x0634_5678, 0x0757_1200]);
            assert_eq!(ring.word(JOB), 0);
            Ok(())
        })
    }

    #[test]
    fn a_dropped_slot_leaves_no_trace() -> Result {
        with_ring(|ring, window| {
            let mut slot = ring.reserve(JOB as usize)?;
            slot.fence(7);
            drop(slot);
            assert_eq!(window.read(CR_SETTING).into_raw(), 0);
            assert_eq!(ring.pointers(), (0, 0));
            job(ring, 1)?;
            assert_eq!(ring.pointers(), (0, JOB));
            Ok(())
        })
    }

    #[test]
    fn fences_make_room() -> Result {
        with_ring(|ring, _| {
            let mut jobs = 0;
            while job(ring, jobs + 1).is_ok() {
                jobs += 1;
            }
            // More than the generic driver has under way.
            assert!(jobs > 256 && jobs < REMEMBERED as u32);
            assert_eq!(ring.reserve(JOB as usize).err(), Some(EAGAIN));
            ring.play(2)?;
            assert_eq!(ring.pointers().0, 2 * JOB);
            assert!(job(ring, jobs + 1).is_ok());
            // Nobody believes a number that was not given.
            ring.play(u32::MAX)?;
            assert_eq!(ring.pointers().0, 2 * JOB);
            Ok(())
        })
    }

    #[test]
    fn the_end_of_the_ring_is_padded() -> Result {
        with_ring(|ring, window| {
            let mut number = 0;
            loop {
                let before = ring.pointers().1;
                number += 1;
                job(ring, number)?;
                ring.play(number)?;
                if ring.pointers().1 < before {
                    assert_eq!(ring.pointers().1, JOB);
                    assert_eq!(ring.word(before), 0xfe02_0420);
                    assert_eq!(ring.word(ring.dwords() - 1), PAD);
                    assert_eq!(pause(window), START + 4 * JOB - 16);
                    return Ok(());
                }
            }
        })
    }

    #[test]
    fn what_is_too_long_is_refused() -> Result {
        with_ring(|ring, window| {
            let all = ring.dwords() as usize;
            assert_eq!(ring.reserve(all).err(), Some(EINVAL));
            assert_eq!(ring.reserve(usize::MAX).err(), Some(EINVAL));
            // More than was reserved, a buffer that is not whole units, a second ring: such a job is not published.
            let mut long = ring.reserve(4)?;
            long.words(&[0; BLOCK_DWORDS + 1]);
            long.kick();
            let mut ragged = ring.reserve(JOB as usize)?;
            ragged.ib(Ib {
                addr: GART,
                len: 3,
                vmid: 0,
            });
            ragged.kick();
            let mut waits = ring.reserve(JOB as usize)?;
            waits.wait(GART);
            waits.kick();
            assert_eq!(ring.pointers(), (0, 0));
            assert_eq!(window.read(CR_SETTING).into_raw(), 0);
            Ok(())
        })
    }

    #[test]
    fn an_emptied_ring_begins_anew() -> Result {
        with_ring(|ring, window| {
            job(ring, 1)?;
            job(ring, 2)?;
            ring.play(1)?;
            ring.empty();
            assert_eq!((ring.pointers(), ring.completed()), ((0, 0), 1));
            window.write_reg(CR_SETTING::zeroed());
            job(ring, 3)?;
            assert_eq!(window.read(CR_SETTING).into_raw(), 0x10 << 16);
            Ok(())
        })
    }

    #[test]
    fn the_chip_itself_says_what_is_done() -> Result {
        with_ring(|ring, window| {
            window.write_reg(FENCE_ID::from(7));
            assert_eq!(ring.completed_slow(), Some(7));
            // The highest number, or a device that is gone.
            window.write_reg(FENCE_ID::from(u32::MAX));
            assert_eq!(ring.completed_slow(), Some(u32::MAX));
            window.write_reg(ENGINE_STATUS::from(u32::MAX));
            assert_eq!(ring.completed_slow(), None);
            Ok(())
        })
    }
}
