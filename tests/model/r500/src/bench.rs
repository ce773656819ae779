// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip on the bench: posted, with memory, a GART and a running ring, and no QEMU around it.
//!
//! Host programs (fuzz tests, replays of recorded streams) execute command streams on it and ask the judge:
//!
//! ```
//! use lapidary_model_r500::bench::Bench;
//! use lapidary_model_r500::kind;
//!
//! let mut bench = Bench::new("rv515", 1 << 20).unwrap();
//! bench.object(Bench::VRAM, 0x1000, "target");
//! assert!(bench.execute(&[0x8000_0000])); // a filler
//! assert!(bench.findings().is_empty());
//! bench.execute(&[0xc000_5a00, 0]); // no such opcode
//! assert_eq!(bench.findings()[0].0, kind::UNDEFINED_PACKET);
//! ```
//!
//! | GPU addresses | what |
//! | --- | --- |
//! | [`Bench::VRAM`] … | VRAM, as many bytes as asked for |
//! | the 128 KiB after it | VRAM too, with the page table |
//! | [`Bench::GTT`] … | [`Bench::GTT_LEN`] bytes of system memory behind the GART |
//! | the MiB before it | the ring and the buffer that [`Bench::execute`] uses |
//!
//! Everything else leads nowhere.

use std::io;
use std::path::Path;

use lapidary_registers::r500::{mmio, pcie};

use crate::kind::Kind;
pub use crate::touched::{Touch, Who};
use crate::{Checkpoint, FIRMWARE_FB, R5xx, Variant};
use lapidary_model::chip::{Chip, Fuses, Options, State, Step};
use lapidary_model::family::Entry;
use lapidary_model::machine::{Machine, Object, SPACE};
use lapidary_model::memory::Vram;
use lapidary_model::trace::Trace;

const PAGE: u64 = 4096;
/// Room for the page table at the end of VRAM.
const TABLE_ROOM: u64 = 0x2_0000;
/// Where system memory lies on the bus.
const BUS: u64 = 0x1_2340_0000;
/// System memory for ring and command buffer, before that for objects.
const PRIVATE: u32 = 1 << 20;
/// log2 of the ring's size in quadwords.
const RING_LOG: u32 = 7;
const RING_DWORDS: u32 = 2 << RING_LOG;
/// The command buffer, behind the ring.
const BUFFER: u32 = 0x1000;

/// A chip and its machine.
pub struct Bench {
    chip: R5xx,
    machine: Machine,
    /// The state after setting up.
    start: Checkpoint,
    /// The page table, and where it lies in VRAM.
    table: (u64, Vec<u8>),
    wptr: u32,
}

impl Bench {
    /// GPU address of VRAM.
    pub const VRAM: u32 = FIRMWARE_FB;
    /// GPU address of system memory for objects.
    pub const GTT: u32 = 0x2000_0000;
    /// Bytes of it.
    pub const GTT_LEN: u32 = 64 << 20;
    /// Dwords that [`Bench::execute`] takes at once.
    pub const MAX_WORDS: usize = (PRIVATE - BUFFER) as usize / 4;

    /// Return a chip by the name that `gpu-model --chip` takes, with at least that much VRAM (it is rounded up to 64
    /// KiB; at most 512 MiB).
    ///
    /// # Errors
    /// When there is no such chip, or the system has no such memory.
    pub fn new(chip: &str, vram: u64) -> io::Result<Bench> {
        let entry = Variant::by_name(chip)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no chip {chip}")))?;
        let table_at = vram.max(1).next_multiple_of(0x1_0000);
        let vram = table_at + TABLE_ROOM;
        let options = Options {
            vram,
            window: 2 * vram.next_power_of_two(),
            trapped: false,
            state: State::Posted,
            fuses: Fuses::Whole,
        };
        let functions = entry.functions(options, Vec::new());
        let mut machine = Machine::new(Vram::new(vram)?, &functions);
        machine.functions[0].pci.write(4, &[6]);
        let ram = u64::from(PRIVATE + Self::GTT_LEN);
        machine.functions[0].ram.map_anonymous(BUS, ram)?;
        let mut chip = entry.chip(options);
        chip.reset(&mut machine);
        let table = (0..ram / PAGE)
            .flat_map(|page| {
                let bus = BUS + page * PAGE;
                let high = ((bus >> 32) as u32) << 24;
                ((bus >> 8) as u32 & 0x00ff_fff0 | high | 0xc).to_le_bytes()
            })
            .collect();
        let start = chip.checkpoint();
        let mut bench = Bench {
            chip,
            machine,
            start,
            table: (table_at, table),
            wptr: 0,
        };
        bench.set_up(ram as u32);
        bench.start = bench.chip.checkpoint();
        bench.reset();
        Ok(bench)
    }

    fn set_up(&mut self, ram: u32) {
        let window = Self::GTT - PRIVATE;
        for (index, value) in [
            (pcie::PCIE_TX_GART_BASE, Self::VRAM + self.table.0 as u32),
            (pcie::PCIE_TX_GART_START_LO, window),
            (
                pcie::PCIE_TX_GART_END_LO,
                window + (ram & !(PAGE as u32 - 1)) - PAGE as u32,
            ),
            (
                pcie::PCIE_TX_GART_CNTL,
                pcie::pcie_tx_gart_cntl::GART_EN.mask(),
            ),
        ] {
            self.write(mmio::PCIE_INDEX, index);
            self.write(mmio::PCIE_DATA, value);
        }
        self.write(mmio::CP_ME_RAM_ADDR, 0);
        for _ in 0..256 {
            self.write(mmio::CP_ME_RAM_DATAL, 0);
        }
        use mmio::cp_csq_cntl::{CSQ_MODE, csq_mode};
        use mmio::cp_rb_cntl::{RB_BUFSZ, RB_NO_UPDATE};
        self.write(mmio::CP_RB_BASE, window);
        self.write(
            mmio::CP_RB_CNTL,
            RB_BUFSZ.of(RING_LOG) | RB_NO_UPDATE.mask(),
        );
        self.write(mmio::CP_CSQ_CNTL, CSQ_MODE.of(csq_mode::PRIBM_INDBM));
    }

    /// Return the present registers, to come back to with [`Bench::restore`].
    pub fn checkpoint(&self) -> Checkpoint {
        self.chip.checkpoint()
    }

    /// Restore registers that were left behind on purpose, and the rest as [`Bench::reset`] does. Objects stay.
    pub fn restore(&mut self, state: &Checkpoint) {
        self.chip.restore(state);
        self.machine.vram.write(self.table.0, &self.table.1);
        self.machine.judge.take();
        self.wptr = 0;
    }

    /// Go back to the state after [`Bench::new`], except for what lies in memory. The page table is made whole again.
    /// Findings and objects are forgotten. Takes a few microseconds.
    pub fn reset(&mut self) {
        self.chip.restore(&self.start);
        self.machine.vram.write(self.table.0, &self.table.1);
        self.machine.objects.clear();
        self.machine.judge.take();
        self.wptr = 0;
    }

    /// Write a register (byte offset) as the CPU does, to leave a state behind for a stream to come.
    pub fn write(&mut self, register: u32, value: u32) {
        self.chip
            .write(&mut self.machine, register & !3, value, u32::MAX);
    }

    /// Read a register (byte offset) as the CPU does.
    pub fn read(&mut self, register: u32) -> u32 {
        self.chip.read(&mut self.machine, register & !3)
    }

    /// Return the value of a register by name, with `[index]` behind an array's, without side effects.
    pub fn peek(&self, name: &str) -> Option<u32> {
        self.chip.peek(&self.machine, name)
    }

    /// Return what a memory inside the chip holds: see [`lapidary_model::chip::Chip::on_chip`].
    pub fn on_chip(&self, name: &str) -> Option<&[u32]> {
        self.chip.on_chip(name)
    }

    /// Declare a range of GPU addresses as an object. From the first one on, engines may touch nothing else.
    pub fn object(&mut self, address: u32, len: u64, name: &str) {
        self.machine.objects.push(Object {
            space: SPACE,
            start: address.into(),
            len,
            name: name.into(),
        });
    }

    /// Forget all declared objects: engines may touch all memory there is.
    pub fn clear_objects(&mut self) {
        self.machine.objects.clear();
    }

    /// Fill memory behind a GPU address, without the chip. False if it does not all lie in VRAM or behind the GART.
    pub fn put(&mut self, address: u32, bytes: &[u8]) -> bool {
        match self.place(address) {
            Some(Place::Vram(offset)) => self.machine.vram.write(offset, bytes),
            Some(Place::Bus(bus)) => self.machine.functions[0].ram.write(bus, bytes),
            None => false,
        }
    }

    /// Read memory behind a GPU address, without the chip. False (and `bytes` untouched) as in [`Bench::put`].
    pub fn get(&self, address: u32, bytes: &mut [u8]) -> bool {
        match self.place(address) {
            Some(Place::Vram(offset)) => self.machine.vram.read(offset, bytes),
            Some(Place::Bus(bus)) => self.machine.functions[0].ram.read(bus, bytes),
            None => false,
        }
    }

    fn place(&self, address: u32) -> Option<Place> {
        let window = Self::GTT - PRIVATE;
        if address >= Self::VRAM {
            Some(Place::Vram((address - Self::VRAM).into()))
        } else {
            let offset = u64::from(address.checked_sub(window)?);
            Some(Place::Bus(BUS + offset))
        }
    }

    /// Execute words as an indirect buffer, to the end. False if the stream does not end, because it waits for
    /// something that will not happen. Then only [`Bench::reset`] helps.
    ///
    /// # Panics
    /// With more than [`Bench::MAX_WORDS`].
    pub fn execute(&mut self, words: &[u32]) -> bool {
        assert!(words.len() <= Self::MAX_WORDS, "{} dwords", words.len());
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.machine.functions[0]
            .ram
            .write(BUS + u64::from(BUFFER), &bytes);
        let base = Self::GTT - PRIVATE + BUFFER;
        // CP_IB_BASE and CP_IB_BUFSZ lie side by side: the size is the last write, and starts the buffer.
        let start = [(1 << 16) | (mmio::CP_IB_BASE / 4), base, words.len() as u32];
        for word in start {
            let at = BUS + u64::from(self.wptr) * 4;
            self.machine.functions[0].ram.write(at, &word.to_le_bytes());
            self.wptr = (self.wptr + 1) % RING_DWORDS;
        }
        self.write(mmio::CP_RB_WPTR, self.wptr);
        while self.chip.step(&mut self.machine) == Step::More {}
        !mmio::rbbm_status::CP_CMDSTRM_BUSY.any(self.peek("RBBM_STATUS").unwrap_or(0))
    }

    /// Take the findings: kind, how often, and the first one's detail.
    pub fn findings(&mut self) -> Vec<(Kind, u64, String)> {
        self.machine
            .judge
            .take()
            .into_iter()
            .map(|f| (f.kind, f.count, f.detail))
            .collect()
    }

    /// Take what engines have touched since the last call: merged by unit, direction and object. The first call
    /// switches this on and yields nothing; it costs time from then on.
    pub fn touched(&mut self) -> Vec<Touch> {
        self.chip.accesses()
    }

    /// Return one of the counters that the control port's `counters` prints.
    pub fn counter(&self, name: &str) -> u64 {
        self.machine.counters.get(name)
    }

    /// Write a trace from now on.
    ///
    /// # Errors
    /// Whatever creating the file yields.
    pub fn trace(&mut self, path: &Path) -> io::Result<()> {
        self.machine.trace = Trace::to_file(path)?;
        Ok(())
    }
}

/// Where a GPU address leads.
enum Place {
    Vram(u64),
    Bus(u64),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind;
    use lapidary_registers::r500::mmio;

    fn scratch(value: u32) -> [u32; 2] {
        [mmio::SCRATCH_REG.at(3).unwrap() / 4, value]
    }

    #[test]
    fn streams_run_to_their_end_and_leave_state_until_a_reset() {
        let mut b = Bench::new("r580", 100).unwrap();
        // More rounds than the ring has room for.
        for i in 0..500 {
            assert!(b.execute(&scratch(i)));
        }
        assert_eq!(b.peek("SCRATCH_REG[3]"), Some(499));
        b.write(mmio::VAP_VTX_SIZE, 12);
        assert_eq!(b.peek("VAP_VTX_SIZE"), Some(12));
        assert!(b.findings().is_empty());
        b.reset();
        assert_eq!(b.peek("SCRATCH_REG[3]"), Some(0));
        assert_eq!(b.peek("VAP_VTX_SIZE"), Some(0));
        assert!(b.execute(&scratch(7)) && b.execute(&[]));
        assert_eq!(b.peek("SCRATCH_REG[3]"), Some(7));
    }

    #[test]
    fn a_stream_that_waits_for_ever_says_so() {
        let mut b = Bench::new("rv515", 1 << 20).unwrap();
        // A semaphore, taken twice.
        let opcode = u32::from(lapidary_registers::r500::pm4::op::WAIT_SEMAPHORE);
        let take = [0xc001_0000 | (opcode << 8), 0xff, 1];
        assert!(b.execute(&take));
        assert!(!b.execute(&take));
        b.reset();
        assert!(b.execute(&scratch(1)));
    }

    #[test]
    fn memory_is_where_it_says() {
        let mut b = Bench::new("rv515", 0x1_0000).unwrap();
        assert!(b.put(Bench::VRAM + 0xfffc, &[1, 2, 3, 4]));
        assert!(b.put(Bench::GTT + Bench::GTT_LEN - 4, &[5, 6, 7, 8]));
        assert!(!b.put(Bench::GTT + Bench::GTT_LEN - 3, &[5, 6, 7, 8]));
        assert!(!b.put(0x1000_0000, &[0]));
        let mut word = [0; 4];
        assert!(b.get(Bench::GTT + Bench::GTT_LEN - 4, &mut word));
        assert_eq!(word, [5, 6, 7, 8]);
        assert!(Bench::new("rv999", 1).is_err());
    }

    #[test]
    fn objects_bound_the_engines() {
        let mut b = Bench::new("rv515", 1 << 20).unwrap();
        b.object(Bench::VRAM, 0x1000, "a");
        let solid = |base: u32| {
            use lapidary_registers::r500::mmio::*;
            [
                (SC_TOP_LEFT, 0),
                (SC_BOTTOM_RIGHT, 0x1fff_1fff),
                (DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff),
                (DP_GUI_MASTER_CNTL, {
                    use dp_gui_master_cntl::*;
                    DST_PITCH_OFF.mask()
                        | BRUSH_TYPE.of(13) // solid
                        | DST_TYPE.of(6) // 32 bits
                        | WIN31_ROP.of(0xf0)
                        | GMC_CLR_CMP_FCN_DIS.mask()
                        | GMC_WR_MSK_DIS.mask()
                }),
                (DST_PITCH_OFFSET, (4 << 22) | (base >> 10)),
                (DP_CNTL, 3),
                (DST_Y_X, 0),
                (DST_HEIGHT_WIDTH, (8 << 16) | 8),
            ]
            .into_iter()
            .flat_map(|(offset, value)| [offset / 4, value])
            .collect::<Vec<u32>>()
        };
        assert!(b.execute(&solid(Bench::VRAM)));
        let inside = b.findings();
        assert!(inside.is_empty(), "{inside:?}");
        assert!(b.execute(&solid(Bench::VRAM + 0x1000)));
        assert_eq!(b.findings()[0].0, kind::OUTSIDE_OBJECTS);
    }
}
