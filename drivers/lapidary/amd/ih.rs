// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring of interrupt vectors.
//!
//! From R6xx on a Radeon reports an interrupt by a vector of 16 bytes in a ring in system memory. The vector names the
//! source. The block that writes vectors is the interrupt handler (IH). It copies its write pointer to memory behind
//! the ring. The CPU tells it by a register how far it has read. With message-signalled interrupts that write also lets
//! the next message through.
//!
//! If the ring runs full, the IH overwrites the oldest vectors and sets a bit beside the write pointer. The host then
//! goes on with the oldest vector that is left.
//!
//! The handler of the interrupt can run on another CPU while a thread stops the chip. A read pointer written behind the
//! stop would be taken for one of the ring that is started next. So the thread closes the ring, which waits for a
//! handler that is taking vectors, and a later handler takes none.
//!
//! Pointers count bytes. The facts are from Linux' `radeon` (`r600_irq_process`).

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
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Relaxed,
            Release, //
        },
        barrier::{
            dma_mb,
            Read, //
        },
    },
    time::{
        delay::fsleep,
        Delta, //
    },
};

/// Bytes of the ring.
pub const RING_BYTES: usize = 0x4000;
/// Bytes of the window on system memory that the ring takes: itself, and behind it the page with the write pointer.
pub const BYTES: usize = RING_BYTES + PAGE_SIZE;
/// Logarithm of the ring's size in dwords.
pub const LOG2_DWORDS: u32 = (RING_BYTES / size_of::<u32>()).ilog2();

/// Bytes of a vector.
const VECTOR: u32 = 16;
/// Bits of a pointer into the ring.
const MASK: u32 = RING_BYTES as u32 - VECTOR;
/// Bit of the write pointer that says that vectors were overwritten.
const OVERFLOW: u32 = 1;
/// Dword of the memory with the write pointer.
const WRITE_POINTER: usize = RING_BYTES / size_of::<u32>();

/// No vectors are taken.
const CLOSED: u32 = 0;
/// Vectors may be taken.
const OPEN: u32 = 1;
/// A handler takes vectors.
const TAKING: u32 = 2;
/// How often a thread that closes the ring looks whether the handler has finished.
const LOOK: Delta = Delta::from_micros(10);

/// A vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// Number of the source.
    pub source: u8,
    /// What the source says.
    pub data: u32,
}

/// The registers of the ring. Its size is [`RING_BYTES`].
pub trait Registers: Send + Sync {
    /// Tell the chip that the CPU has read up to byte `offset`.
    fn set_read_pointer(&self, offset: u32);

    /// Read the write pointer. All ones if the device does not answer.
    fn write_pointer(&self) -> u32;

    /// Acknowledge that vectors were overwritten.
    fn clear_overflow(&self);
}

/// A ring of vectors.
pub struct Vectors<R> {
    registers: R,
    memory: Coherent<[u32]>,
    /// The byte that the CPU reads next.
    at: Atomic<u32>,
    /// [`CLOSED`], [`OPEN`] or [`TAKING`].
    gate: Atomic<u32>,
}

impl<R: Registers> Vectors<R> {
    /// Allocate a ring. It is closed.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(dev: &Device<Bound>, registers: R) -> Result<Self> {
        Ok(Self {
            registers,
            memory: Coherent::zeroed_slice(dev, BYTES / size_of::<u32>(), GFP_KERNEL)?,
            at: Atomic::new(0),
            gate: Atomic::new(CLOSED),
        })
    }

    /// Return the registers.
    pub fn registers(&self) -> &R {
        &self.registers
    }

    /// Return the memory to be mapped for the chip, and its length in bytes. The write pointer is [`RING_BYTES`] behind
    /// its start.
    pub fn piece(&self) -> (DmaAddress, usize) {
        (self.memory.dma_address(), self.memory.size())
    }

    /// Close the ring. On return no vectors are taken, and no register is written, until [`Vectors::open`].
    ///
    /// Sleeps while a handler takes vectors, which are at most one ring full. Not concurrent with [`Vectors::open`].
    pub fn close(&self) {
        while let Err(TAKING) = self.gate.cmpxchg(OPEN, CLOSED, Acquire) {
            fsleep(LOOK);
        }
    }

    /// Open the ring. The chip's pointers are those of the ring.
    pub fn open(&self) {
        self.gate.store(OPEN, Release);
    }

    /// Empty the ring, which is closed. The chip writes no vectors, and its pointers are set to zero before it does.
    pub fn empty(&self) {
        self.at.store(0, Relaxed);
        let clear = || {
            io_write!(self.memory, [try: WRITE_POINTER], 0);
            Ok::<(), Error>(())
        };
        // The memory has this dword.
        let _ = clear();
    }

    /// Read dword `index`, a part of the memory.
    fn word(&self, index: usize) -> u32 {
        let read = || Ok::<u32, Error>(io_read!(self.memory, [try: index]));
        u32::from_le(read().unwrap_or(0))
    }

    /// Return the write pointer that the chip has reported.
    pub fn reported(&self) -> u32 {
        self.word(WRITE_POINTER)
    }

    /// Return whether there are vectors before `end`, a write pointer, that have not been taken.
    pub fn is_behind(&self, end: u32) -> bool {
        end & OVERFLOW != 0 || end & MASK != self.at.load(Relaxed)
    }

    /// Pass all vectors before `end`, a write pointer, to `each`. Then tell the chip that they have been read. Return
    /// how many there were.
    ///
    /// Any context, but not concurrent with itself. Reads at most one ring full of vectors, whatever `end` is. One
    /// register write, and one more after an overflow. If the ring is closed, takes none and writes no register.
    pub fn take(&self, end: u32, each: impl FnMut(Vector)) -> u32 {
        self.take_before(|| end, each)
    }

    /// As [`Vectors::take`], of all vectors before the write pointer that the chip has reported. The caller has had a
    /// message.
    ///
    /// A report that shows nothing new, or is no plain pointer, is not believed, and the register is read. As long as
    /// the pointers differ, the chip sends the next message when it is told the read pointer. So a report that does not
    /// move would make it send messages without end.
    pub fn take_reported(&self, each: impl FnMut(Vector)) -> u32 {
        let end = || {
            let reported = self.reported();
            if reported & !MASK == 0 && self.is_behind(reported) {
                return reported;
            }
            match self.registers.write_pointer() {
                // The device does not answer.
                u32::MAX => self.at.load(Relaxed),
                end => end,
            }
        };
        self.take_before(end, each)
    }

    /// As [`Vectors::take`]. `end` is only called if the ring is open.
    fn take_before(&self, end: impl FnOnce() -> u32, each: impl FnMut(Vector)) -> u32 {
        if self.gate.cmpxchg(OPEN, TAKING, Acquire).is_err() {
            return 0;
        }
        let count = self.take_open(end(), each);
        self.gate.store(OPEN, Release);
        count
    }

    /// As [`Vectors::take`], of a ring that stays open meanwhile.
    fn take_open(&self, end: u32, mut each: impl FnMut(Vector)) -> u32 {
        let mut at = self.at.load(Relaxed);
        let overflow = end & OVERFLOW != 0;
        let end = end & MASK;
        if overflow {
            // The chip writes at `end`, so the oldest vector that is whole is the one behind.
            at = end.wrapping_add(VECTOR) & MASK;
        }
        // The vectors were written before the pointer.
        dma_mb(Read);
        let mut count = 0;
        while at != end {
            let index = at as usize / size_of::<u32>();
            each(Vector {
                source: (self.word(index) & 0xff) as u8,
                data: self.word(index + 1) & 0x0fff_ffff,
            });
            at = at.wrapping_add(VECTOR) & MASK;
            count += 1;
        }
        self.at.store(at, Relaxed);
        if overflow {
            self.registers.clear_overflow();
        }
        self.registers.set_read_pointer(at);
        count
    }

    /// Play the chip for a test, and write dword `index` of the memory.
    #[cfg(CONFIG_KUNIT = "y")]
    pub fn play(&self, index: usize, value: u32) -> Result {
        io_write!(self.memory, [try: index], value.to_le());
        Ok(())
    }

    /// Play the chip for a test, and report write pointer `value`.
    #[cfg(CONFIG_KUNIT = "y")]
    pub fn play_report(&self, value: u32) -> Result {
        self.play(WRITE_POINTER, value)
    }
}

#[kunit_tests(lapidary_amd_ih)]
mod tests {
    use super::*;
    use crate::corner::io_kunit;

    /// Registers that remember what was written.
    struct Noted {
        write: Atomic<u32>,
        read: Atomic<u32>,
        cleared: Atomic<u32>,
    }

    impl Registers for Noted {
        fn set_read_pointer(&self, offset: u32) {
            self.read.store(offset, Relaxed);
        }

        fn write_pointer(&self) -> u32 {
            self.write.load(Relaxed)
        }

        fn clear_overflow(&self) {
            let _ = self.cleared.fetch_add(1, Relaxed);
        }
    }

    fn with_ring(test: impl FnOnce(&Vectors<Noted>) -> Result) -> Result {
        let device = io_kunit::Device::new()?;
        let registers = Noted {
            write: Atomic::new(u32::MAX),
            read: Atomic::new(0x77),
            cleared: Atomic::new(0),
        };
        let ring = Vectors::new(device.dev(), registers)?;
        ring.open();
        test(&ring)
    }

    /// Takes all vectors before `end`, and returns the sum of their data.
    fn sum(ring: &Vectors<Noted>, end: u32) -> (u32, u32) {
        let mut sum = 0;
        let count = ring.take(end, |vector| sum += vector.data);
        (count, sum)
    }

    #[test]
    fn vectors_are_taken_once_and_in_order() -> Result {
        with_ring(|ring| {
            for (index, source) in [(0, 181), (1, 224), (2, 0x1ff)] {
                ring.play(4 * index, source)?;
                ring.play(4 * index + 1, 0xf000_0000 | (index as u32 + 1))?;
            }
            ring.play_report(32)?;
            assert_eq!(ring.reported(), 32);
            let mut seen = [(0, 0); 2];
            let mut next = 0;
            let mut each = |vector: Vector| {
                seen[next] = (vector.source, vector.data);
                next += 1;
            };
            assert_eq!(ring.take(32, &mut each), 2);
            assert_eq!(seen, [(181, 1), (224, 2)]);
            assert_eq!(ring.registers().read.load(Relaxed), 32);
            assert_eq!(sum(ring, 32), (0, 0));
            assert_eq!(sum(ring, 48), (1, 3));
            assert_eq!(ring.registers().cleared.load(Relaxed), 0);
            Ok(())
        })
    }

    #[test]
    fn the_end_of_the_ring_is_followed_by_its_start() -> Result {
        with_ring(|ring| {
            let last = RING_BYTES / 4 - 4;
            assert_eq!(sum(ring, RING_BYTES as u32 - 16).0, 1023);
            ring.play(last + 1, 5)?;
            ring.play(1, 6)?;
            assert_eq!(sum(ring, 16), (2, 11));
            assert_eq!(ring.registers().read.load(Relaxed), 16);
            Ok(())
        })
    }

    #[test]
    fn after_an_overflow_the_oldest_vectors_are_taken() -> Result {
        with_ring(|ring| {
            assert_eq!(sum(ring, 64).0, 4);
            // The chip has written a whole ring and one more vector.
            assert_eq!(sum(ring, 80 | OVERFLOW).0, 1023);
            assert_eq!(ring.registers().cleared.load(Relaxed), 1);
            assert_eq!(ring.registers().read.load(Relaxed), 80);
            Ok(())
        })
    }

    #[test]
    fn a_closed_ring_is_left_alone() -> Result {
        with_ring(|ring| {
            ring.play(1, 5)?;
            ring.close();
            // Closing twice is closing.
            ring.close();
            assert_eq!(sum(ring, 16 | OVERFLOW), (0, 0));
            assert_eq!(ring.registers().read.load(Relaxed), 0x77);
            assert_eq!(ring.registers().cleared.load(Relaxed), 0);
            ring.open();
            assert_eq!(sum(ring, 16), (1, 5));
            assert_eq!(ring.registers().read.load(Relaxed), 16);
            Ok(())
        })
    }

    #[test]
    fn an_emptied_ring_begins_anew() -> Result {
        with_ring(|ring| {
            ring.play_report(32)?;
            assert_eq!(ring.take_reported(|_| {}), 2);
            // Otherwise closing it would not end.
            assert_eq!(ring.gate.load(Relaxed), OPEN);
            ring.close();
            ring.empty();
            assert_eq!(ring.reported(), 0);
            assert!(!ring.is_behind(0));
            ring.open();
            ring.play(1, 7)?;
            assert_eq!(sum(ring, 16), (1, 7));
            Ok(())
        })
    }

    #[test]
    fn the_ring_is_not_closed_while_vectors_are_taken() -> Result {
        with_ring(|ring| {
            let mut seen = OPEN;
            ring.take(16, |_| seen = ring.gate.load(Relaxed));
            assert_eq!(seen, TAKING);
            assert_eq!(ring.gate.load(Relaxed), OPEN);
            Ok(())
        })
    }

    #[test]
    fn a_report_that_lies_is_not_believed() -> Result {
        with_ring(|ring| {
            let count = |reported, register| {
                ring.registers().write.store(register, Relaxed);
                ring.play_report(reported)?;
                Ok::<_, Error>(ring.take_reported(|_| {}))
            };
            // It is believed, and then it has not moved.
            assert_eq!(count(32, 0x1000)?, 2);
            assert_eq!(count(32, 48)?, 1);
            // It leads back, which takes the ring once more, and then it does not move.
            assert_eq!(count(32, 48)?, 1023);
            assert_eq!(count(32, 48)?, 1);
            // These are no pointers.
            for reported in [56, 48 | OVERFLOW, 0x4000 | 48, u32::MAX] {
                assert_eq!(count(reported, 48)?, 0);
            }
            assert_eq!(ring.registers().read.load(Relaxed), 48);
            assert_eq!(ring.registers().cleared.load(Relaxed), 0);
            // An overflow is in the register, too.
            assert_eq!(count(64 | OVERFLOW, 64 | OVERFLOW)?, 1023);
            assert_eq!(ring.registers().cleared.load(Relaxed), 1);
            assert_eq!(count(0, u32::MAX)?, 1020);
            assert_eq!(count(0, u32::MAX)?, 0);
            Ok(())
        })
    }

    #[test]
    fn no_pointer_leads_out_of_the_ring() -> Result {
        with_ring(|ring| {
            for end in [u32::MAX, 0x8000_0000, 0x7fff_fff2, 8] {
                assert!(sum(ring, end).0 < 1024);
                assert!(ring.registers().read.load(Relaxed) < RING_BYTES as u32);
                assert_eq!(ring.registers().read.load(Relaxed) % 16, 0);
            }
            Ok(())
        })
    }
}
