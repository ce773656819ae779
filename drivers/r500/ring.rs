// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command ring, with the command processor as its engine.
//!
//! The ring itself is that of all families ([`lapidary::amd::ring`]). The command processor (CP) writes its read
//! pointer to the page of reports, and copies the scratch registers there. One scratch register takes the sequence
//! numbers of fences, another the value of the ring test (R5xx 4.4, 4.9). Fillers are type-2 packets.

use kernel::{
    io::{
        register::Array,
        Io, //
    },
    prelude::*, //
};

use lapidary::{
    amd::ring::{
        self,
        Engine,
        Numbered,
        Shape,
        Slot,
        MOST_ALIGN, //
    },
    family::{
        GpuAddr,
        Ib, //
    },
    portable::sink::{
        Full,
        SliceSink, //
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

/// Alignment of the write pointer in dwords: the most that the CP fetches at once.
const ALIGN: u32 = 16;

/// Scratch register that takes the sequence numbers of fences.
const FENCE: u32 = 0;

/// Scratch register that the ring test writes.
pub(crate) const TEST: u32 = 1;

/// Places in the page of reports, in dwords. The read pointer is in another cache line than the scratch registers.
const SCRATCH: usize = 0;
const READ_POINTER: usize = 16;

const SHAPE: Shape = Shape {
    dwords: DWORDS,
    align: ALIGN,
    filler: pm4::FILLER,
    fence: SCRATCH + FENCE as usize,
    test: SCRATCH + TEST as usize,
    read_pointer: READ_POINTER,
};

/// Bytes that [`Ring`] takes of the window on system memory: the ring and the page of reports.
pub(crate) const BYTES: usize = SHAPE.bytes();

/// Alignment of the ring in GPU addresses, in bytes.
pub(crate) const ALIGNMENT: u64 = SHAPE.ring_bytes() as u64;

/// The command ring of a chip.
pub(crate) type Ring<'a> = ring::Ring<Cp<'a>>;

/// The command processor.
pub(crate) struct Cp<'a> {
    window: Window<'a>,
    fence: Numbered<{ emit::FENCE_DWORDS }>,
}

impl<'a> Cp<'a> {
    /// Return the CP of the chip in `window`. `HOST_PATH_CNTL` must have been set up: fences write it with one bit
    /// changed.
    ///
    /// # Errors
    ///
    /// Those of [`Numbered::new`], which do not happen.
    pub(crate) fn new(window: Window<'a>) -> Result<Self> {
        let host_path_cntl = window.read(HOST_PATH_CNTL).into_raw();
        let fence = Numbered::new(|sequence| {
            let mut words = [0; emit::FENCE_DWORDS];
            let fence = emit::Fence {
                scratch: FENCE,
                sequence,
                host_path_cntl,
            };
            emit::fence(&mut SliceSink::new(&mut words), fence).map_err(|_| ENOSPC)?;
            Ok(words)
        })?;
        Ok(Self { window, fence })
    }

    /// Read scratch register `index`.
    fn scratch(&self, index: u32) -> u32 {
        self.window.read(SCRATCH_REG::at(index as usize)).into_raw()
    }
}

/// Return the addresses that the CP needs if the pieces of `ring` are mapped one after the other from GPU address
/// `start` on. `start` must be aligned to the ring's size.
///
/// # Errors
///
/// `EINVAL` if an address has more than 32 bits.
pub(crate) fn setup(ring: &Ring<'_>, start: GpuAddr) -> Result<Setup> {
    Ok(Setup {
        ring: u32::try_from(start)?,
        order: ring.log2_qwords(),
        scratch: u32::try_from(ring.report_address(start, SCRATCH))?,
        read_pointer: u32::try_from(ring.report_address(start, READ_POINTER))?,
    })
}

impl Engine for Cp<'_> {
    const JOB_DWORDS: usize =
        emit::FORGET_DWORDS + emit::INDIRECT_BUFFER_DWORDS + emit::FENCE_DWORDS + ALIGN as usize;

    fn name(&self) -> &'static str {
        "CP"
    }

    fn shape(&self) -> Shape {
        const { assert!(ALIGN as usize <= MOST_ALIGN) };
        SHAPE
    }

    fn publish(&self, position: u32) {
        self.window.write_reg(CP_RB_WPTR::from(position));
    }

    fn read_pointer(&self) -> u32 {
        self.window.read(CP_RB_RPTR).into_raw()
    }

    fn completed(&self, _reported: u32) -> Option<u32> {
        let number = self.scratch(FENCE);
        // All ones may be a sequence number, or the answer of a device that is gone.
        (number != u32::MAX || !is_dead(self.window)).then_some(number)
    }

    fn emptied(&self, completed: u32) {
        let number = SCRATCH_REG::from(completed);
        self.window.write(SCRATCH_REG::at(FENCE as usize), number);
    }

    fn change_client(&self, slot: &mut Slot<'_, Self>) {
        let mut words = [0; emit::FORGET_DWORDS];
        if emit::forget(&mut SliceSink::new(&mut words)).is_err() {
            slot.spoil();
        }
        slot.append(&words);
    }

    fn ib(&self, slot: &mut Slot<'_, Self>, ib: Ib) {
        let mut words = [0; emit::INDIRECT_BUFFER_DWORDS];
        let written = match u32::try_from(ib.addr) {
            Ok(addr) => emit::indirect_buffer(&mut SliceSink::new(&mut words), addr, ib.len),
            Err(_) => Err(Full),
        };
        if written.is_err() {
            slot.spoil();
        }
        slot.append(&words);
    }

    fn fence(&self, slot: &mut Slot<'_, Self>, seq: u32) {
        slot.append_numbered(&self.fence, seq);
    }

    fn test(&self) -> Option<u32> {
        Some(self.scratch(TEST))
    }

    fn set_test(&self, value: u32) {
        let value = SCRATCH_REG::from(value);
        self.window.write(SCRATCH_REG::at(TEST as usize), value);
    }

    fn status(&self) -> u32 {
        self.window.read(RBBM_STATUS).into_raw()
    }
}

#[kunit_tests(r500_ring)]
mod tests {
    use super::*;
    use crate::regs::fake;
    use kernel::alloc::KBox;
    use lapidary::family::{
        self,
        Ring as _,
        Slot as _, //
    };

    /// A ring in the memory of a device on the faux bus, and a register window that is storage.
    fn with_ring(test: impl FnOnce(&Ring<'_>, Window<'_>) -> Result) -> Result {
        let device = fake::Device::new()?;
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let ring = KBox::pin_init(Ring::new(device.dev(), Cp::new(window)?), GFP_KERNEL)?;
        test(&ring, window)
    }

    fn dword(ring: &Ring<'_>, at: u32) -> Result<u32> {
        Ok(ring.word(at))
    }

    /// Plays the CP, which has consumed everything before `position`.
    fn consumed(ring: &Ring<'_>, position: u32) -> Result {
        ring.play_report(READ_POINTER, position)
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
            let most = ring.capacity();
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
            ring.play_position(DWORDS - ALIGN);
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
            ring.play_report(fence, 5)?;
            ring.play_report(test, 6)?;
            ring.play_position(64);
            consumed(ring, 32)?;
            ring.empty();
            assert_eq!((ring.write_pointer(), ring.read_pointer()), (0, 0));
            assert_eq!((ring.completed(), ring.tested()), (5, 0));
            Ok(())
        })
    }

    #[test]
    fn a_chip_that_has_forgotten_is_told_the_last_fence() -> Result {
        with_ring(|ring, window| {
            let fence = SCRATCH + FENCE as usize;
            ring.play_report(fence, 5)?;
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
            // The highest number, or a device that is gone.
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
            let most = ring.capacity();
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
            assert!(!slot.is_cut());
            assert!(slot.left() <= ALIGN);
            slot.words(&[0; 2 * ALIGN as usize]);
            assert!(slot.is_cut());
            Ok(())
        })
    }

    #[test]
    fn a_fence_has_its_number_in_one_place() -> Result {
        with_ring(|ring, _| {
            let fence = &ring.engine().fence;
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
                ring.play_position(start);
                consumed(ring, start)?;
                let mut slot = ring.reserve(emit::FENCE_DWORDS)?;
                slot.fence(seq);
                assert!(!slot.is_cut());
                drop(slot);
                for (at, want) in composed.iter().enumerate() {
                    let at = (start + at as u32) % DWORDS;
                    assert_eq!(dword(ring, at)?, *want);
                }
            }
            assert_eq!(composed[fence.index()], seq);
            Ok(())
        })
    }

    #[test]
    fn fences_are_seen_in_memory() -> Result {
        with_ring(|ring, _| {
            assert_eq!(ring.completed(), 0);
            let fence = SCRATCH + FENCE as usize;
            ring.play_report(fence, 5)?;
            assert_eq!(ring.completed(), 5);
            Ok(())
        })
    }

    #[test]
    fn the_chip_learns_where_things_are() -> Result {
        with_ring(|ring, _| {
            let found = setup(ring, ALIGNMENT)?;
            assert_eq!(u64::from(found.ring), ALIGNMENT);
            assert_eq!(found.order, 15);
            assert_eq!(u64::from(found.scratch), 2 * ALIGNMENT);
            assert_eq!(found.read_pointer, found.scratch + 64);
            assert!(setup(ring, u64::MAX / 2).is_err());
            assert!(setup(ring, (1 << 32) - ALIGNMENT).is_err());
            Ok(())
        })
    }
}
