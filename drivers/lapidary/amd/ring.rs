// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A ring that the host fills with commands and an engine of the chip empties.
//!
//! A ring is a power of two of dwords in system memory. The host tells the engine its write pointer. The engine reports
//! its read pointer and the sequence numbers of fences to a page of memory behind the ring. The CPU caches that page,
//! and the chip's writes snoop. A submission costs one register access, that of the write pointer. Seeing that a fence
//! has signalled costs none.
//!
//! Packets may run over the end of the ring to its start. The write pointer is always a multiple of what the engine
//! fetches at once; fillers make up the difference.
//!
//! This is the same for the command processor of each family, for compute queues, and for the DMA rings of R7xx and Sea
//! Islands. The family's [`Engine`] says how the write pointer is published, where the engine reports what, and which
//! packets make up a job.

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
        io_write, //
    },
    page::PAGE_SIZE,
    pr_err_once,
    prelude::*,
    sync::{
        lock::mutex::MutexGuard,
        Mutex, //
    },
};

use crate::{
    corner::buffer::Buffer,
    family::{
        self,
        GpuAddr,
        Ib, //
    },
    lock::shared_mutex,
    portable::{
        ring::Geometry,
        sink::{
            Full,
            Sink, //
        },
    },
};

/// The largest alignment of a write pointer, in dwords.
pub const MOST_ALIGN: usize = 16;

/// The size of a ring, and where its engine reports what.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Dwords of the ring, a power of two.
    pub dwords: u32,
    /// Alignment of the write pointer in dwords: a power of two, at most [`MOST_ALIGN`].
    pub align: u32,
    /// A dword that the engine skips.
    pub filler: u32,
    /// Dword of the page of reports that takes the sequence numbers of fences.
    pub fence: usize,
    /// Dword of the page of reports that takes what the ring test writes.
    pub test: usize,
    /// Dword of the page of reports that takes the read pointer.
    pub read_pointer: usize,
}

impl Shape {
    /// Return the bytes of the ring. It is aligned to as many in GPU addresses.
    pub const fn ring_bytes(&self) -> usize {
        self.dwords as usize * size_of::<u32>()
    }

    /// Return the bytes of the window on system memory that a ring takes: itself, and behind it the page of reports.
    pub const fn bytes(&self) -> usize {
        self.ring_bytes() + PAGE_SIZE
    }
}

/// What empties a ring, as the host sees it.
pub trait Engine: Send + Sync + Sized {
    /// Upper bound of the dwords of one job, as [`family::Ring::JOB_DWORDS`].
    const JOB_DWORDS: usize;

    /// Return what its ring is called in a log line, for example `CP`.
    fn name(&self) -> &'static str;

    /// Return the shape of the ring. The answer is always the same.
    fn shape(&self) -> Shape;

    /// Tell the chip that the ring is filled up to dword `position`, by one register write. It is ordered behind all
    /// earlier writes to memory.
    fn publish(&self, position: u32);

    /// Read from the chip which dword of the ring the engine reads next.
    fn read_pointer(&self) -> u32;

    /// Return the dword of the ring that the reported read pointer `report` means.
    fn position(&self, report: u32) -> u32 {
        report
    }

    /// Read from the chip the sequence number of the last fence that has completed. `None` if the device does not
    /// answer. An engine that keeps no such number returns `reported`, the number in memory.
    fn completed(&self, reported: u32) -> Option<u32>;

    /// Restore what the chip needs after the ring has been emptied. `completed` is the number of the last fence, from
    /// memory: the chip may have lost its registers.
    fn emptied(&self, completed: u32);

    /// Upper bound of the dwords of a semaphore, as [`family::Ring::SEMAPHORE_DWORDS`].
    const SEMAPHORE_DWORDS: usize = 0;

    /// Write what [`family::Slot::signal`] says. An engine that is the only one does not have it.
    fn signal(&self, slot: &mut Slot<'_, Self>, semaphore: GpuAddr) {
        let _ = semaphore;
        slot.spoil();
    }

    /// Write what [`family::Slot::wait`] says, likewise.
    fn wait(&self, slot: &mut Slot<'_, Self>, semaphore: GpuAddr) {
        let _ = semaphore;
        slot.spoil();
    }

    /// Write what [`family::Slot::change_client`] says.
    fn change_client(&self, slot: &mut Slot<'_, Self>);

    /// Write what [`family::Slot::ib`] says.
    fn ib(&self, slot: &mut Slot<'_, Self>, ib: Ib);

    /// Write what [`family::Slot::fence`] says.
    fn fence(&self, slot: &mut Slot<'_, Self>, seq: u32);

    /// Read from the chip the value that the ring test has written. `None` if the engine writes it to memory only.
    fn test(&self) -> Option<u32>;

    /// Set it to `value`, by the CPU, if the chip keeps it.
    fn set_test(&self, value: u32);

    /// Read the engine's status register, for a log line.
    fn status(&self) -> u32;
}

/// Commands that are the same each time but for one dword, a number.
pub struct Numbered<const N: usize> {
    words: [u32; N],
    /// Where the number is.
    number: u32,
}

impl<const N: usize> Numbered<N> {
    /// Compose the commands with two different numbers, and find the dword that differs.
    ///
    /// # Errors
    ///
    /// Those of `compose`; `EINVAL` if no dword differs.
    pub fn new(compose: impl Fn(u32) -> Result<[u32; N]>) -> Result<Self> {
        let words = compose(0)?;
        let other = compose(u32::MAX)?;
        let differ = |(a, b): (&u32, &u32)| a != b;
        let number = words.iter().zip(&other).position(differ).ok_or(EINVAL)?;
        Ok(Self {
            words,
            number: number as u32,
        })
    }

    /// Return the index of the dword that is the number.
    pub fn index(&self) -> usize {
        self.number as usize
    }
}

/// The part of a ring that is being written.
struct Write {
    memory: Buffer,
    /// Position behind the last dword that has been published.
    at: u32,
}

impl Write {
    /// Write `words` from position `at` on, and from the start of the ring when its end is reached.
    fn put(&mut self, at: u32, words: &[u32]) -> Result {
        let left = self.memory.len().saturating_sub(at as usize);
        match words.split_at_checked(left) {
            Some((end, start)) => {
                self.memory.write(at as usize, end)?;
                self.memory.write(0, start)
            }
            None => self.memory.write(at as usize, words),
        }
    }
}

/// A command ring.
#[pin_data]
pub struct Ring<E: Engine> {
    engine: E,
    geometry: Geometry,
    shape: Shape,
    /// Fillers up to the next multiple of the alignment.
    padding: [u32; MOST_ALIGN],
    /// Bus address of the ring.
    base: DmaAddress,
    /// What the engine reports.
    reports: Coherent<[u32]>,
    #[pin]
    write: Mutex<Write>,
}

impl<E: Engine> Ring<E> {
    /// Allocate a ring for `engine`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`; `EINVAL` if the shape is not that of a ring.
    pub fn new<'a>(dev: &'a Device<Bound>, engine: E) -> impl PinInit<Self, Error> + use<'a, E> {
        pin_init::pin_init_scope(move || {
            let shape = engine.shape();
            if shape.align as usize > MOST_ALIGN {
                return Err(EINVAL);
            }
            let memory = Buffer::new(dev, shape.dwords as usize)?;
            Ok(try_pin_init!(Self {
                engine,
                geometry: Geometry::new(shape.dwords, shape.align).ok_or(EINVAL)?,
                shape,
                padding: [shape.filler; MOST_ALIGN],
                base: memory.dma_address(),
                reports: Coherent::<u32>::zeroed_slice(
                    dev,
                    PAGE_SIZE / size_of::<u32>(),
                    GFP_KERNEL,
                )?,
                write <- shared_mutex!(Write { memory, at: 0 }, "ring.write"),
            }? Error))
        })
    }

    /// Return the engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// Return the two pieces of memory to be mapped for the chip: the ring, and behind it the page of reports. Each has
    /// its length in bytes.
    pub fn pieces(&self) -> [(DmaAddress, usize); 2] {
        [
            (self.base, self.shape.ring_bytes()),
            (self.reports.dma_address(), self.reports.size()),
        ]
    }

    /// Return the GPU address of dword `index` of the page of reports, if the pieces are mapped one behind the other
    /// from `start` on.
    pub fn report_address(&self, start: GpuAddr, index: usize) -> GpuAddr {
        start + (self.shape.ring_bytes() + index * size_of::<u32>()) as u64
    }

    /// Return the logarithm of the ring's size in qwords.
    pub fn log2_qwords(&self) -> u32 {
        self.geometry.log2_qwords()
    }

    /// Read dword `index` of the page of reports.
    fn report(&self, index: usize) -> u32 {
        let read = || Ok::<u32, Error>(io_read!(self.reports, [try: index]));
        // The index is one of the shape's.
        u32::from_le(read().unwrap_or(0))
    }

    /// Return the value of the ring test, as reported.
    pub fn tested(&self) -> u32 {
        self.report(self.shape.test)
    }

    /// Return the dword that the engine reads next, as last reported.
    pub fn read_pointer(&self) -> u32 {
        self.engine.position(self.report(self.shape.read_pointer))
    }

    /// Empty the ring and set its pointers to zero. The engine has been stopped.
    ///
    /// The report of the ring test is cleared. The number of the last fence stays.
    pub fn empty(&self) {
        let mut write = self.write.lock();
        write.at = 0;
        self.zero_report(self.shape.read_pointer);
        self.zero_report(self.shape.test);
        self.engine.emptied(self.report(self.shape.fence));
    }

    /// Set dword `index` of the page of reports to zero.
    fn zero_report(&self, index: usize) {
        let clear = || {
            io_write!(self.reports, [try: index], 0);
            Ok::<(), Error>(())
        };
        // The index is one of the shape's.
        let _ = clear();
    }

    /// Return the position behind the last dword that has been published.
    pub fn write_pointer(&self) -> u32 {
        self.write.lock().at
    }

    /// Play the engine for a test, and report `value` in dword `index`.
    #[cfg(CONFIG_KUNIT = "y")]
    pub fn play_report(&self, index: usize, value: u32) -> Result {
        io_write!(self.reports, [try: index], value.to_le());
        Ok(())
    }

    /// Move the write pointer to dword `position`, for a test.
    #[cfg(CONFIG_KUNIT = "y")]
    pub fn play_position(&self, position: u32) {
        self.write.lock().at = position;
    }

    /// Return the most dwords that an empty ring takes, for a test.
    #[cfg(CONFIG_KUNIT = "y")]
    pub fn capacity(&self) -> u32 {
        self.geometry.capacity()
    }
}

impl<E: Engine> family::Ring for Ring<E> {
    type Slot<'s>
        = Slot<'s, E>
    where
        Self: 's;

    const JOB_DWORDS: usize = E::JOB_DWORDS;
    const SEMAPHORE_DWORDS: usize = E::SEMAPHORE_DWORDS;

    fn reserve(&self, dwords: usize) -> Result<Slot<'_, E>> {
        let write = self.write.lock();
        let at = write.at;
        let dwords = u32::try_from(dwords)?;
        let padded = self.geometry.padded(at, dwords).ok_or(EINVAL)?;
        // A report may have been lost on its way. The chip is asked only if the ring seems full.
        let full = |read| padded > self.geometry.free(read, at);
        if full(self.read_pointer()) && full(self.geometry.wrap(self.engine.read_pointer())) {
            return Err(EAGAIN);
        }
        Ok(Slot {
            ring: self,
            at,
            left: dwords,
            write,
            cut: false,
        })
    }

    fn completed(&self) -> u32 {
        self.report(self.shape.fence)
    }

    fn completed_slow(&self) -> Option<u32> {
        self.engine.completed(family::Ring::completed(self))
    }

    fn dwords(&self) -> u32 {
        self.shape.dwords
    }

    fn pointers(&self) -> (u32, u32) {
        (self.read_pointer(), self.write_pointer())
    }

    fn word(&self, index: u32) -> u32 {
        self.write.lock().memory.read(index as usize).unwrap_or(0)
    }
}

/// A reserved stretch of a ring.
pub struct Slot<'s, E: Engine> {
    ring: &'s Ring<E>,
    write: MutexGuard<'s, Write>,
    /// Where the next dword goes, and how many may follow.
    at: u32,
    left: u32,
    /// More was written than was reserved, or a command could not be composed. The job is not published.
    cut: bool,
}

impl<E: Engine> Slot<'_, E> {
    /// Write dwords at the position, without a look at what is reserved.
    fn push(&mut self, words: &[u32]) {
        // No error: the position is reduced to the ring, and no job is longer than the ring.
        self.cut |= self.write.put(self.at, words).is_err();
        self.at = self.ring.geometry.advance(self.at, words.len() as u32);
    }

    /// Write dwords that have been reserved.
    pub fn append(&mut self, words: &[u32]) {
        match self.left.checked_sub(words.len() as u32) {
            Some(left) => {
                self.left = left;
                self.push(words);
            }
            None => self.cut = true,
        }
    }

    /// Write commands with their number.
    pub fn append_numbered<const N: usize>(&mut self, commands: &Numbered<N>, number: u32) {
        let place = self.ring.geometry.advance(self.at, commands.number);
        self.append(&commands.words);
        if !self.cut {
            self.cut |= self.write.memory.set(place as usize, number).is_err();
        }
    }

    /// Note that a command could not be composed. The job is not published.
    pub fn spoil(&mut self) {
        self.cut = true;
    }

    fn state(&self) -> Result<(), Full> {
        match self.cut {
            false => Ok(()),
            true => Err(Full),
        }
    }

    /// Return the position in the ring of the dword that comes next.
    pub fn position(&self) -> u32 {
        self.at
    }

    /// Return how many of the reserved dwords are left.
    pub fn left(&self) -> u32 {
        self.left
    }

    /// Return whether the job will not be published.
    pub fn is_cut(&self) -> bool {
        self.cut
    }
}

impl<E: Engine> Sink for Slot<'_, E> {
    #[inline]
    fn put(&mut self, word: u32) -> Result<(), Full> {
        match self.left.checked_sub(1) {
            Some(left) => {
                self.left = left;
                self.cut |= self.write.memory.set(self.at as usize, word).is_err();
                self.at = self.ring.geometry.advance(self.at, 1);
            }
            None => self.cut = true,
        }
        self.state()
    }

    /// One copy. If the dwords do not all fit, none is written: the job is not published.
    fn put_all(&mut self, words: &[u32]) -> Result<(), Full> {
        self.append(words);
        self.state()
    }
}

impl<E: Engine> family::Slot for Slot<'_, E> {
    fn words(&mut self, words: &[u32]) {
        self.append(words);
    }

    fn signal(&mut self, semaphore: GpuAddr) {
        self.ring.engine.signal(self, semaphore);
    }

    fn wait(&mut self, semaphore: GpuAddr) {
        self.ring.engine.wait(self, semaphore);
    }

    fn change_client(&mut self) {
        self.ring.engine.change_client(self);
    }

    fn ib(&mut self, ib: Ib) {
        self.ring.engine.ib(self, ib);
    }

    fn fence(&mut self, seq: u32) {
        self.ring.engine.fence(self, seq);
    }

    fn kick(mut self) {
        if self.cut {
            // Half a sequence would do harm. The watchdog ends the job as hung.
            pr_err_once!("a job was larger than the place reserved for it\n");
            return;
        }
        let ring = self.ring;
        let padding = ring.geometry.padding(self.at) as usize;
        self.push(ring.padding.get(..padding).unwrap_or(&ring.padding));
        self.write.at = self.at;
        ring.engine.publish(self.at);
    }
}

#[kunit_tests(lapidary_amd_ring)]
mod tests {
    use super::*;
    use crate::corner::io_kunit;
    use family::{
        Ring as _,
        Slot as _, //
    };
    use kernel::{
        alloc::KBox,
        sync::atomic::{
            Atomic,
            Relaxed, //
        }, //
    };

    /// An engine that counts in bytes, as that of a DMA ring does.
    struct Dma {
        told: Atomic<u32>,
        fence: Numbered<3>,
    }

    const SHAPE: Shape = Shape {
        dwords: 64,
        align: 8,
        filler: 0xf000_0000,
        fence: 7,
        test: 3,
        read_pointer: 5,
    };

    impl Engine for Dma {
        const JOB_DWORDS: usize = 16;

        fn name(&self) -> &'static str {
            "DMA"
        }

        fn shape(&self) -> Shape {
            SHAPE
        }

        fn publish(&self, position: u32) {
            self.told.store(position << 2, Relaxed);
        }

        fn read_pointer(&self) -> u32 {
            0
        }

        fn position(&self, report: u32) -> u32 {
            report >> 2
        }

        fn completed(&self, reported: u32) -> Option<u32> {
            Some(reported)
        }

        fn emptied(&self, completed: u32) {
            self.told.store(completed, Relaxed);
        }

        fn signal(&self, slot: &mut Slot<'_, Self>, semaphore: GpuAddr) {
            slot.append(&[0x8000_0000, semaphore as u32]);
        }

        fn wait(&self, slot: &mut Slot<'_, Self>, semaphore: GpuAddr) {
            slot.append(&[0x9000_0000, semaphore as u32]);
        }

        fn change_client(&self, _slot: &mut Slot<'_, Self>) {}

        /// The packet ends at a multiple of eight dwords.
        fn ib(&self, slot: &mut Slot<'_, Self>, ib: Ib) {
            while slot.position() % 8 != 5 && !slot.is_cut() {
                slot.append(&[SHAPE.filler]);
            }
            slot.append(&[0x4000_0000, ib.addr as u32, ib.len]);
        }

        fn fence(&self, slot: &mut Slot<'_, Self>, seq: u32) {
            slot.append_numbered(&self.fence, seq);
        }

        fn test(&self) -> Option<u32> {
            None
        }

        fn set_test(&self, _value: u32) {}

        fn status(&self) -> u32 {
            0
        }
    }

    fn with_ring(test: impl FnOnce(&Ring<Dma>) -> Result) -> Result {
        let device = io_kunit::Device::new()?;
        let engine = Dma {
            told: Atomic::new(0),
            fence: Numbered::new(|seq| Ok([0x6000_0000, 0x1000, seq]))?,
        };
        let ring = KBox::pin_init(Ring::new(device.dev(), engine), GFP_KERNEL)?;
        test(&ring)
    }

    #[test]
    fn an_engine_may_count_in_bytes() -> Result {
        with_ring(|ring| {
            let mut slot = ring.reserve(1)?;
            slot.words(&[9]);
            slot.kick();
            assert_eq!(ring.engine().told.load(Relaxed), 32);
            ring.play_report(SHAPE.read_pointer, 32)?;
            assert_eq!(ring.pointers(), (8, 8));
            assert_eq!((ring.word(0), ring.word(1)), (9, SHAPE.filler));
            Ok(())
        })
    }

    #[test]
    fn dwords_are_put_one_by_one_or_together() -> Result {
        with_ring(|ring| {
            let mut slot = ring.reserve(4)?;
            assert!(slot.put(1).is_ok());
            assert!(slot.put_all(&[2, 3]).is_ok());
            assert_eq!((slot.position(), slot.left()), (3, 1));
            // There is no room for both, so that neither is written.
            assert!(slot.put_all(&[4, 5]).is_err());
            drop(slot);
            let words = [ring.word(0), ring.word(1), ring.word(2), ring.word(3)];
            assert_eq!(words, [1, 2, 3, 0]);
            Ok(())
        })
    }

    #[test]
    fn rings_wait_by_packets_of_the_engine() -> Result {
        with_ring(|ring| {
            let mut slot = ring.reserve(4)?;
            slot.wait(0x1008);
            slot.signal(0x1010);
            slot.kick();
            let words = [ring.word(0), ring.word(1), ring.word(2), ring.word(3)];
            assert_eq!(words, [0x9000_0000, 0x1008, 0x8000_0000, 0x1010]);
            Ok(())
        })
    }

    #[test]
    fn a_packet_may_depend_on_its_place() -> Result {
        with_ring(|ring| {
            let mut slot = ring.reserve(Dma::JOB_DWORDS)?;
            slot.words(&[1, 2, 3, 4, 5, 6]);
            slot.ib(Ib {
                addr: 0x2000,
                len: 4,
                vmid: 0,
            });
            assert!(!slot.is_cut());
            assert_eq!(slot.position(), 16);
            slot.kick();
            let words = [ring.word(12), ring.word(13), ring.word(14), ring.word(15)];
            assert_eq!(words, [SHAPE.filler, 0x4000_0000, 0x2000, 4]);
            Ok(())
        })
    }

    #[test]
    fn a_number_may_lie_beyond_the_end() -> Result {
        with_ring(|ring| {
            ring.play_position(62);
            ring.play_report(SHAPE.read_pointer, 62 << 2)?;
            let mut slot = ring.reserve(3)?;
            slot.fence(77);
            slot.kick();
            assert_eq!(
                (ring.word(62), ring.word(63), ring.word(0)),
                (0x6000_0000, 0x1000, 77)
            );
            Ok(())
        })
    }

    #[test]
    fn a_spoilt_job_is_not_published() -> Result {
        with_ring(|ring| {
            ring.play_report(SHAPE.fence, 5)?;
            ring.play_report(SHAPE.test, 6)?;
            let mut slot = ring.reserve(3)?;
            slot.fence(1);
            slot.spoil();
            drop(slot);
            assert_eq!((ring.write_pointer(), ring.tested()), (0, 6));
            ring.empty();
            // The chip is given the last number.
            assert_eq!(ring.engine().told.load(Relaxed), 5);
            assert_eq!((ring.completed(), ring.tested()), (5, 0));
            Ok(())
        })
    }

    #[test]
    fn reports_lie_behind_the_ring() -> Result {
        with_ring(|ring| {
            let [(_, ring_bytes), (_, reports)] = ring.pieces();
            assert_eq!((ring_bytes, reports), (256, PAGE_SIZE));
            assert_eq!(SHAPE.bytes(), 256 + PAGE_SIZE);
            assert_eq!(ring.report_address(0x10_0000, 7), 0x10_0000 + 256 + 28);
            Ok(())
        })
    }
}
