// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The state of a GPU that hangs, for a device core dump.
//!
//! Nothing may be allocated between the detection of a hang and the reset, because fences depend on it. So a
//! [`Snapshot`] has its memory from the beginning. [`Snapshot::take`] copies into it what the reset will destroy.
//! Later, when the GPU runs again, [`Snapshot::publish`] makes a text of less than 1 MiB of it. The text consists of
//! sections of lines. `pm4-decode` of the project's tests prints it with names.
//!
//! A reader of the text sees what one client has sent, including numbers and inline pixels, and where objects are in
//! the GPU's address space. The text does not contain contents of objects, addresses of the kernel or the bus, or
//! commands of other clients.
//!
//! ```text
//! lapidary coredump 1
//! driver r500
//! …
//! [registers]
//! RBBM_STATUS 0xe4010140
//! [ring] base 0x0 read 0x40 write 0x60 size 0x10000
//! c0013f00 00100000 00000008
//! [ib] addr 0xd0001000 dwords 16
//! …
//! [objects]
//! 0xd0200000 65536 write
//! [end]
//! ```

use kernel::{
    fmt::{
        self,
        Write, //
    },
    prelude::*, //
};

use crate::{
    corner::coredump::Text,
    family::{
        ring::{
            Ib,
            Ring, //
        },
        space::GpuAddr, //
    }, //
};

mod running;

/// Dwords of the ring that are copied: some hundred jobs up to the write pointer.
const RING_DWORDS: usize = 16 * 1024;
/// Dwords of the indirect buffer that are copied: as many as a client can submit.
const IB_DWORDS: usize = 64 * 1024;
/// Objects of the job that are copied. The text says how many there are more.
const OBJECTS: usize = 4096;
/// Registers that are copied.
const REGISTERS: usize = 64;
/// Dwords of a line.
const LINE: usize = 8;
/// Dwords of the ring before the read pointer, which were executed last.
const BEFORE: u32 = 64;

// The text has less than 1 MiB: nine bytes for a dword, a short line for a register or an object, and some lines
// before.
const _: () = assert!((RING_DWORDS + IB_DWORDS) * 9 + (REGISTERS + OBJECTS) * 64 + 1024 < 1 << 20);

/// An object of the job that hangs.
#[derive(Clone, Copy)]
struct Item {
    addr: GpuAddr,
    size: u64,
    writes: bool,
}

/// Memory for the state of one GPU, and the state after it has been taken.
pub(crate) struct Snapshot {
    taken: bool,
    /// The ring that hangs, its job, and the last committed job.
    ring: usize,
    seqno: u64,
    committed: u64,
    /// Whether the job belongs to the kernel.
    kernel: bool,
    registers: KVec<(&'static str, u32)>,
    read: u32,
    write: u32,
    size: u32,
    /// Index in the ring of the first dword that is copied.
    first: u32,
    words: KVVec<u32>,
    ib: Ib,
    commands: KVVec<u32>,
    objects: KVVec<Item>,
    left_out: usize,
}

impl Snapshot {
    /// Allocate memory for one state.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            taken: false,
            ring: 0,
            seqno: 0,
            committed: 0,
            kernel: false,
            registers: KVec::with_capacity(REGISTERS, GFP_KERNEL)?,
            read: 0,
            write: 0,
            size: 0,
            first: 0,
            words: KVVec::with_capacity(RING_DWORDS, GFP_KERNEL)?,
            ib: Ib {
                addr: 0,
                len: 0,
                vmid: 0,
            },
            commands: KVVec::with_capacity(IB_DWORDS, GFP_KERNEL)?,
            objects: KVVec::with_capacity(OBJECTS, GFP_KERNEL)?,
            left_out: 0,
        })
    }

    /// Copy the part of a ring around the jobs under way.
    fn copy_ring(&mut self, ring: &impl Ring) {
        let (read, write) = ring.pointers();
        let size = ring.dwords();
        (self.read, self.write, self.size) = (read, write, size);
        self.words.clear();
        if size == 0 {
            return;
        }
        let pending = (write + size - read % size) % size;
        let kept = (pending + BEFORE).min(size - 1).min(RING_DWORDS as u32);
        self.first = (write + size - kept) % size;
        for index in 0..kept {
            let word = ring.word((self.first + index) % size);
            let _ = self.words.push_within_capacity(word);
        }
    }
}

/// Print dwords as hexadecimal numbers, several in a line.
fn print_words(out: &mut Text, words: &[u32]) -> fmt::Result {
    for line in words.chunks(LINE) {
        for (index, word) in line.iter().enumerate() {
            let before = if index == 0 { "" } else { " " };
            write!(out, "{before}{word:08x}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

#[kunit_tests(lapidary_snapshot)]
mod tests {
    use super::*;

    /// A ring in which each dword contains its index.
    struct Indices {
        read: u32,
        write: u32,
    }

    /// A slot. This ring has none.
    struct Nothing;

    impl crate::family::ring::Slot for Nothing {
        fn words(&mut self, _words: &[u32]) {}

        fn change_client(&mut self) {}

        fn signal(&mut self, _semaphore: GpuAddr) {}
        fn wait(&mut self, _semaphore: GpuAddr) {}
        fn ib(&mut self, _ib: Ib) {}

        fn fence(&mut self, _seq: u32) {}

        fn kick(self) {}
    }

    const SIZE: u32 = 256;

    impl Ring for Indices {
        type Slot<'s> = Nothing;
        const JOB_DWORDS: usize = 0;
        const SEMAPHORE_DWORDS: usize = 0;

        fn reserve(&self, _dwords: usize) -> Result<Nothing> {
            Err(EINVAL)
        }

        fn completed(&self) -> u32 {
            0
        }

        fn completed_slow(&self) -> Option<u32> {
            None
        }

        fn dwords(&self) -> u32 {
            SIZE
        }

        fn pointers(&self) -> (u32, u32) {
            (self.read, self.write)
        }

        fn word(&self, index: u32) -> u32 {
            index
        }
    }

    #[test]
    fn the_ring_is_kept_up_to_the_write_pointer() -> Result {
        let mut snapshot = Snapshot::new()?;
        snapshot.copy_ring(&Indices {
            read: 100,
            write: 110,
        });
        assert!(snapshot.first == 100 - BEFORE);
        assert!(snapshot.words.len() == 10 + BEFORE as usize);
        assert!(snapshot.words.first() == Some(&(100 - BEFORE)));
        assert!(snapshot.words.last() == Some(&109));
        Ok(())
    }

    #[test]
    fn the_ring_may_run_over_its_end() -> Result {
        let mut snapshot = Snapshot::new()?;
        snapshot.copy_ring(&Indices {
            read: 250,
            write: 4,
        });
        assert!(snapshot.words.len() == 10 + BEFORE as usize);
        assert!(snapshot.words.last() == Some(&3));
        // A dead device answers all ones.
        snapshot.copy_ring(&Indices {
            read: u32::MAX,
            write: 4,
        });
        assert!(snapshot.words.len() < SIZE as usize);
        assert!(snapshot.words.last() == Some(&3));
        Ok(())
    }

    #[test]
    fn words_are_printed_in_lines() -> Result {
        let mut text = Text::new();
        print_words(&mut text, &[1, 2, 3, 4, 5, 6, 7, 8, 0xffff_ffff]).map_err(|_| ENOMEM)?;
        let lines: &[u8] =
            b"00000001 00000002 00000003 00000004 00000005 00000006 00000007 00000008\nffffffff\n";
        assert!(text.as_bytes() == lines);
        Ok(())
    }
}
