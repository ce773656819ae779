// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip on the bench: posted, with memory, VM context 0 and both rings running, and no QEMU around it.
//!
//! ```
//! use lapidary_model_r600::bench::Bench;
//! use lapidary_model_r600::kind;
//!
//! let mut bench = Bench::new("rv770").unwrap();
//! assert!(bench.execute(&[0x8000_0000])); // a filler
//! assert!(bench.findings().is_empty());
//! bench.execute(&[0xc000_5a00, 0]); // no such opcode
//! assert_eq!(bench.findings()[0].0, kind::UNDEFINED_PACKET);
//! ```
//!
//! | GPU addresses | what |
//! | --- | --- |
//! | [`Bench::VRAM`] … | [`Bench::vram_len`] bytes of VRAM; the page table is behind them |
//! | [`Bench::GTT`] … | [`Bench::GTT_LEN`] bytes of system memory behind VM context 0 |
//! | the MiB before it | the rings, the ring of interrupts, the write-back page and the command buffers |
//!
//! Everything else leads nowhere.
//!
//! A stream begins with what streams before it left in the registers, until [`Bench::reset`] or [`Bench::restore`].
//! [`Bench::touched`] says which bytes units of the chip have read and written, by [`Bench::touched_by_packet`] for each packet
//! of a stream alone. A draw touches its footprint ([`crate::engine3d`]).

use std::io;

use lapidary_model::chip::{Chip, Fuses, Options, State, Step};
use lapidary_model::family::Entry;
use lapidary_model::machine::{Machine, Object, SPACE};
use lapidary_model::memory::Vram;
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::pm4::op;

pub use crate::checkpoint::Checkpoint;
pub use crate::engine3d::area::{Client, Ring, Stage};
use crate::kind::Kind;
pub use crate::touched::{By, Detail, Touch, Who};
use crate::vm::{ENTRY, PAGE};
use crate::{R6xx, Variant};

/// Where system memory lies on the bus.
const BUS: u64 = 0x1_2340_0000;
/// System memory for rings and buffers, before that for objects.
const PRIVATE: u64 = 1 << 20;
/// Both command rings and the ring of interrupts: log2 of the dwords.
const RING_LOG: u32 = 8;
/// Flags of an entry: valid, system, snooped, readable, writable.
const FLAGS: u64 = 0x67;

/// Offsets in the private memory.
mod at {
    pub const RING: u64 = 0;
    pub const DMA_RING: u64 = 0x1000;
    pub const IH_RING: u64 = 0x2000;
    pub const WRITE_BACK: u64 = 0x3000;
    pub const BUFFER: u64 = 0x4000;
    pub const DMA_BUFFER: u64 = 0x8_0000;
}

/// Bytes at the end of VRAM that hold the page table.
const TABLE: u64 = 1 << 20;

/// A chip and its machine.
pub struct Bench {
    chip: R6xx,
    machine: Machine,
    vram_len: u64,
    start: Checkpoint,
    wptr: u32,
    dma_wptr: u32,
}

impl Bench {
    /// GPU address of VRAM.
    pub const VRAM: u64 = 0;
    /// Bytes of it, of the card that [`Bench::new`] takes.
    pub const VRAM_LEN: u64 = (16 << 20) - TABLE;
    /// GPU address of system memory for objects.
    pub const GTT: u64 = 0x2000_0000;
    /// Bytes of it.
    pub const GTT_LEN: u64 = 64 << 20;
    /// The longest indirect buffer that [`Bench::execute`] takes, in dwords.
    pub const MAX_WORDS: usize = ((at::DMA_BUFFER - at::BUFFER) / 4) as usize;
    /// GPU address of the page to which the chip writes back: scratch registers from its start, the read pointer of the
    /// ring at 1024, that of the DMA engine at 1792, the write pointer of the interrupts at 2048.
    pub const WRITE_BACK: u64 = Self::PRIVATE_AT + at::WRITE_BACK;
    /// GPU address of the ring of interrupts.
    pub const IH_RING: u64 = Self::PRIVATE_AT + at::IH_RING;

    const PRIVATE_AT: u64 = Self::GTT - PRIVATE;

    /// Return a chip by the name that `gpu-model --chip` takes.
    ///
    /// # Errors
    /// When there is no such chip, or the system has no such memory.
    pub fn new(chip: &str) -> io::Result<Bench> {
        Self::with_vram(chip, 16 << 20)
    }

    /// Return the same with so many bytes of VRAM, the last MiB of which are the page table's: a multiple of 16 MiB, less than
    /// 496 MiB.
    ///
    /// # Errors
    /// As of [`Bench::new`].
    pub fn with_vram(chip: &str, vram: u64) -> io::Result<Bench> {
        let mut bench = Self::built(chip, vram, Fuses::Whole)?;
        bench.load();
        bench.start();
        bench.start = bench.chip.checkpoint();
        Ok(bench)
    }

    /// Return the same before its microcode is loaded and its engines are started.
    ///
    /// # Errors
    /// As of [`Bench::new`].
    pub fn halted(chip: &str) -> io::Result<Bench> {
        Self::fused(chip, Fuses::Whole)
    }

    /// Return the same with fuses.
    ///
    /// # Errors
    /// As of [`Bench::new`].
    pub fn fused(chip: &str, fuses: Fuses) -> io::Result<Bench> {
        Self::built(chip, 16 << 20, fuses)
    }

    fn built(chip: &str, vram: u64, fuses: Fuses) -> io::Result<Bench> {
        let entry = Variant::by_name(chip)
            .ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, format!("no chip {chip}")))?;
        let vram_len = vram - TABLE;
        let options = Options {
            vram,
            window: vram,
            trapped: true,
            state: State::Posted,
            fuses,
        };
        let functions = entry.functions(options, Vec::new());
        let mut machine = Machine::new(Vram::new(vram)?, &functions);
        machine.functions[0].pci.write(4, &[6]);
        let ram = PRIVATE + Self::GTT_LEN;
        machine.functions[0].ram.map_anonymous(BUS, ram)?;
        let mut chip = entry.chip(options);
        chip.reset(&mut machine);
        for page in 0..ram / PAGE {
            let entry = (BUS + page * PAGE) | FLAGS;
            machine
                .vram
                .write(vram_len + page * ENTRY, &entry.to_le_bytes());
        }
        let mut bench = Bench {
            start: chip.checkpoint(),
            chip,
            machine,
            vram_len,
            wptr: 0,
            dma_wptr: 0,
        };
        let layout = bench.chip.bus.layout();
        let [start, end, table] = layout.window;
        bench.write(start, (Self::PRIVATE_AT >> 12) as u32);
        bench.write(end, ((Self::GTT + Self::GTT_LEN - 1) >> 12) as u32);
        bench.write(table, (vram_len >> 12) as u32);
        bench.write(
            mmio::VM_CONTEXT_CNTL.base(),
            mmio::vm_context_cntl::ENABLE_CONTEXT.mask(),
        );
        Ok(bench)
    }

    /// Return how many bytes of VRAM are there for objects.
    pub fn vram_len(&self) -> u64 {
        self.vram_len
    }

    /// Return the present registers, to come back to with [`Bench::restore`].
    pub fn checkpoint(&self) -> Checkpoint {
        self.chip.checkpoint()
    }

    /// Restore registers that were left behind on purpose, and the rest as [`Bench::reset`] does. Objects stay.
    pub fn restore(&mut self, state: &Checkpoint) {
        self.chip.restore(state);
        self.machine.judge.take();
        (self.wptr, self.dma_wptr) = (0, 0);
    }

    /// Go back to the state after [`Bench::new`], except for what lies in memory. Findings and objects are forgotten.
    /// Takes some ten microseconds.
    pub fn reset(&mut self) {
        self.chip.restore(&self.start);
        self.machine.objects.clear();
        self.machine.judge.take();
        (self.wptr, self.dma_wptr) = (0, 0);
    }

    /// Load all microcode: words that no one executes.
    pub fn load(&mut self) {
        let g = self.chip.variant.generation;
        for (address, data, words) in [
            (mmio::RLC_UCODE_ADDR, mmio::RLC_UCODE_DATA, g.rlc_words),
            (
                mmio::CP_PFP_UCODE_ADDR,
                mmio::CP_PFP_UCODE_DATA,
                g.pfp_words,
            ),
            (mmio::CP_ME_RAM_WADDR, mmio::CP_ME_RAM_DATA, g.me_words),
        ] {
            for word in 0..words as u32 {
                if address == mmio::RLC_UCODE_ADDR || word == 0 {
                    self.write(address, word);
                }
                self.write(data, 0x1234_0000 | word);
            }
        }
    }

    /// Start the RLC, the interrupts, the CP and the DMA engine.
    pub fn start(&mut self) {
        use mmio::{cp_rb_cntl, dma_rb_cntl, ih_cntl, ih_rb_cntl};
        let unit = |offset: u64| ((Self::PRIVATE_AT + offset) >> 8) as u32;
        let back = |offset: u64| (Self::WRITE_BACK + offset) as u32;
        for (register, value) in [
            (mmio::RLC_CNTL, mmio::rlc_cntl::RLC_ENABLE.mask()),
            (mmio::IH_RB_BASE, unit(at::IH_RING)),
            (mmio::IH_RB_WPTR_ADDR_LO, back(2048)),
            (
                mmio::IH_RB_CNTL,
                ih_rb_cntl::IH_RB_ENABLE.mask()
                    | ih_rb_cntl::IH_RB_SIZE.of(RING_LOG)
                    | ih_rb_cntl::IH_WPTR_WRITEBACK_ENABLE.mask()
                    | ih_rb_cntl::IH_WPTR_OVERFLOW_ENABLE.mask(),
            ),
            (
                mmio::IH_CNTL,
                ih_cntl::ENABLE_INTR.mask() | ih_cntl::RPTR_REARM.mask(),
            ),
            (mmio::CP_INT_CNTL, u32::MAX),
            (mmio::DMA_CNTL, mmio::dma_cntl::TRAP_ENABLE.mask()),
            (mmio::CP_RB_BASE, unit(at::RING)),
            (mmio::CP_RB_RPTR_ADDR, back(1024)),
            (mmio::SCRATCH_ADDR, unit(at::WRITE_BACK)),
            (mmio::SCRATCH_UMSK, 0xff),
            (
                mmio::CP_RB_CNTL,
                cp_rb_cntl::RB_BUFSZ.of(RING_LOG - 1) | cp_rb_cntl::RB_BLKSZ.of(2),
            ),
            (mmio::CP_ME_CNTL, 0xff),
            (mmio::DMA_RB_BASE, unit(at::DMA_RING)),
            (mmio::DMA_RB_RPTR_ADDR_LO, back(1792)),
            (mmio::DMA_IB_CNTL, mmio::dma_ib_cntl::DMA_IB_ENABLE.mask()),
            (
                mmio::DMA_RB_CNTL,
                dma_rb_cntl::DMA_RB_ENABLE.mask()
                    | dma_rb_cntl::DMA_RB_SIZE.of(RING_LOG)
                    | dma_rb_cntl::DMA_RPTR_WRITEBACK_ENABLE.mask(),
            ),
        ] {
            self.write(register, value);
        }
        self.ring(&[packet(op::ME_INITIALIZE, 6), 1, 0, 7, 1 << 16, 0, 0]);
    }

    /// Write a register (byte offset) as the CPU does.
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

    /// Return the chip and its machine.
    pub fn parts(&mut self) -> (&mut R6xx, &mut Machine) {
        (&mut self.chip, &mut self.machine)
    }

    /// Declare a range of GPU addresses as an object. From the first one on, engines may touch nothing else.
    pub fn object(&mut self, address: u64, len: u64, name: &str) {
        self.machine.objects.push(Object {
            space: SPACE,
            start: address,
            len,
            name: name.into(),
        });
    }

    /// Forget all declared objects: engines may touch all memory there is.
    pub fn clear_objects(&mut self) {
        self.machine.objects.clear();
    }

    /// Take what engines have touched since the last call of this or of [`Bench::touched_by_packet`], put together by unit,
    /// direction and object. The first call switches this on and yields nothing. It costs time from then on. What the chip
    /// itself fetches and writes back (commands, read pointers, scratch registers, semaphores, the interrupt ring) is left out.
    pub fn touched(&mut self) -> Vec<Touch> {
        self.chip.accesses(Detail::Stream)
    }

    /// Take the same, and keep the packets of the next stream apart ([`Who::packet`]).
    pub fn touched_by_packet(&mut self) -> Vec<Touch> {
        self.chip.accesses(Detail::Packet)
    }

    /// Fill memory behind a GPU address, without the chip. False if it does not all lie in VRAM or behind VM context 0.
    pub fn put(&mut self, address: u64, bytes: &[u8]) -> bool {
        match self.place(address) {
            Some(Place::Vram(offset)) => self.machine.vram.write(offset, bytes),
            Some(Place::Bus(bus)) => self.machine.functions[0].ram.write(bus, bytes),
            None => false,
        }
    }

    /// Read memory behind a GPU address, without the chip. False (and `bytes` untouched) as in [`Bench::put`].
    pub fn get(&self, address: u64, bytes: &mut [u8]) -> bool {
        match self.place(address) {
            Some(Place::Vram(offset)) => self.machine.vram.read(offset, bytes),
            Some(Place::Bus(bus)) => self.machine.functions[0].ram.read(bus, bytes),
            None => false,
        }
    }

    /// Read a dword in the same way; 0 where nothing is.
    pub fn get32(&self, address: u64) -> u32 {
        let mut word = [0; 4];
        self.get(address, &mut word);
        u32::from_le_bytes(word)
    }

    /// Execute words in the graphics ring. False if they do not come to an end.
    pub fn ring(&mut self, words: &[u32]) -> bool {
        for word in words {
            let at = at::RING + u64::from(self.wptr) * 4;
            self.machine.functions[0]
                .ram
                .write(BUS + at, &word.to_le_bytes());
            self.wptr = (self.wptr + 1) % (1 << RING_LOG);
        }
        self.write(mmio::CP_RB_WPTR, self.wptr);
        self.settle();
        !self.chip.cp_busy()
    }

    /// Execute words as an indirect buffer of the graphics ring. False if they do not come to an end. Then only
    /// [`Bench::reset`] or [`Bench::restore`] helps.
    ///
    /// # Panics
    /// With more than [`Bench::MAX_WORDS`].
    pub fn execute(&mut self, words: &[u32]) -> bool {
        assert!(words.len() <= Self::MAX_WORDS, "{} dwords", words.len());
        let base = self.buffer(at::BUFFER, words);
        self.ring(&[
            packet(op::INDIRECT_BUFFER, 3),
            base as u32,
            (base >> 32) as u32,
            words.len() as u32,
        ])
    }

    /// Execute words in the ring of the DMA engine. False if they do not come to an end.
    pub fn dma(&mut self, words: &[u32]) -> bool {
        for word in words {
            let at = at::DMA_RING + u64::from(self.dma_wptr) * 4;
            self.machine.functions[0]
                .ram
                .write(BUS + at, &word.to_le_bytes());
            self.dma_wptr = (self.dma_wptr + 1) % (1 << RING_LOG);
        }
        self.write(mmio::DMA_RB_WPTR, self.dma_wptr << 2);
        self.settle();
        !self.chip.dma_busy()
    }

    /// Write words for an indirect buffer of the DMA engine. Return its GPU address.
    pub fn dma_buffer(&mut self, words: &[u32]) -> u64 {
        self.buffer(at::DMA_BUFFER, words)
    }

    /// Return the position in the ring of the DMA engine, in dwords.
    pub fn dma_position(&self) -> u32 {
        self.dma_wptr
    }

    fn place(&self, address: u64) -> Option<Place> {
        if address < self.vram_len {
            return Some(Place::Vram(address));
        }
        let offset = address.checked_sub(Self::PRIVATE_AT)?;
        Some(Place::Bus(BUS + offset))
    }

    fn buffer(&mut self, offset: u64, words: &[u32]) -> u64 {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        self.machine.functions[0].ram.write(BUS + offset, &bytes);
        Self::PRIVATE_AT + offset
    }

    /// Let the chip work until it waits for something or is idle.
    pub fn settle(&mut self) {
        while self.chip.step(&mut self.machine) == Step::More {}
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

    /// Return one of the counters that the control port's `counters` prints.
    pub fn counter(&self, name: &str) -> u64 {
        self.machine.counters.get(name)
    }
}

/// Return the header of a type-3 packet with a body of so many dwords.
pub fn packet(opcode: u8, body: u32) -> u32 {
    0xc000_0000 | ((body - 1) << 16) | (u32::from(opcode) << 8)
}

/// Where a GPU address leads.
enum Place {
    Vram(u64),
    Bus(u64),
}
