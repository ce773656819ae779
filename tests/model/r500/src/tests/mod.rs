// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the whole chip, with memory but without a guest: registers are written as a CPU would write them, rings and
//! buffers lie in guest RAM behind the GART, and the chip is stepped by hand.

mod completion;
mod dma;
mod draws;
mod garbage;
mod hdp;
mod packets;
mod registers;
mod ring;
mod soft_reset;
mod streams;

use std::fs::File;
use std::io::Read;

use lapidary_registers::r500::{mmio, pcie};

use super::chips::RV515;
use super::{FIRMWARE_FB, R5xx};
use crate::kind::Kind;
use lapidary_model::chip::{Chip, Fuses, Options, State, Step};
use lapidary_model::family::Entry;
use lapidary_model::machine::Machine;
use lapidary_model::memory::Vram;

const VRAM: u64 = 4 << 20;
/// Where guest RAM lies on the bus.
const RAM: u64 = 0x1_2340_0000;
const RAM_LEN: u64 = 1 << 20;
/// Where the GART shows it.
const GTT: u32 = 0x2000_0000;
const TABLE: u64 = 0x20_0000;
/// The ring, 256 dwords; then the write-back page, and a buffer.
const RING: u32 = 0;
const RING_DWORDS: u32 = 256;
const WRITE_BACK: u32 = 0x1000;
const IB: u32 = 0x2000;
const IB2: u32 = 0x3000;

struct Bench {
    chip: R5xx,
    m: Machine,
    wptr: u32,
    irq: File,
}

impl Bench {
    /// Return a posted card with bus mastering, GART and MSI on, and no microcode yet.
    fn new() -> Bench {
        Bench::with(State::Posted)
    }

    fn with(state: State) -> Bench {
        Bench::sized(state, VRAM, 2 * VRAM)
    }

    fn sized(state: State, vram: u64, window: u64) -> Bench {
        let options = Options {
            vram,
            window,
            trapped: true,
            state,
            fuses: Fuses::Whole,
        };
        let functions = RV515.functions(options, Vec::new());
        let mut m = Machine::new(Vram::new(vram).unwrap(), &functions);
        m.functions[0].pci.write(4, &[6]);
        m.functions[0].ram.map_anonymous(RAM, RAM_LEN).unwrap();
        let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
        let irq = File::from(fd);
        m.functions[0].irq.set_msi(Some(irq.try_clone().unwrap()));
        for page in 0..RAM_LEN / 4096 {
            let bus = RAM + page * 4096;
            let entry = (bus >> 8) as u32 & 0x00ff_fff0 | (((bus >> 32) as u32) << 24) | 0xc;
            m.vram.write(TABLE + page * 4, &entry.to_le_bytes());
        }
        let mut chip = R5xx::new(&RV515, options);
        chip.reset(&mut m);
        let mut b = Bench {
            chip,
            m,
            wptr: 0,
            irq,
        };
        b.pcie(pcie::PCIE_TX_GART_BASE, FIRMWARE_FB + TABLE as u32);
        b.pcie(pcie::PCIE_TX_GART_START_LO, GTT);
        b.pcie(pcie::PCIE_TX_GART_END_LO, GTT + RAM_LEN as u32 - 4096);
        b.pcie(
            pcie::PCIE_TX_GART_CNTL,
            pcie::pcie_tx_gart_cntl::GART_EN.mask(),
        );
        b
    }

    /// Return the same with microcode and a running ring whose read pointer is written back.
    fn running() -> Bench {
        let mut b = Bench::new();
        b.load_microcode();
        b.start(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM);
        b
    }

    fn start(&mut self, mode: u32) {
        let cntl = mmio::cp_rb_cntl::RB_BUFSZ.of(7) | mmio::cp_rb_cntl::RB_BLKSZ.of(3);
        self.write(mmio::CP_RB_BASE, GTT + RING);
        self.write(mmio::CP_RB_RPTR_ADDR, GTT + WRITE_BACK);
        self.write(mmio::SCRATCH_ADDR, GTT + WRITE_BACK + 0x100);
        self.write(mmio::CP_RB_CNTL, cntl);
        self.write(mmio::CP_CSQ_CNTL, mmio::cp_csq_cntl::CSQ_MODE.of(mode));
    }

    fn load_microcode(&mut self) {
        self.write(mmio::CP_ME_RAM_ADDR, 0);
        for i in 0..256 {
            self.write(mmio::CP_ME_RAM_DATAH, i & 0xff);
            self.write(mmio::CP_ME_RAM_DATAL, i * 0x0101_0101);
        }
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.chip.write(&mut self.m, offset, value, u32::MAX);
    }

    fn read(&mut self, offset: u32) -> u32 {
        self.chip.read(&mut self.m, offset)
    }

    fn pcie(&mut self, index: u32, value: u32) {
        self.write(mmio::PCIE_INDEX, index);
        self.write(mmio::PCIE_DATA, value);
    }

    /// Write guest RAM at a GART offset.
    fn put(&mut self, at: u32, words: &[u32]) {
        for (i, w) in words.iter().enumerate() {
            assert!(
                self.m.functions[0]
                    .ram
                    .write(RAM + u64::from(at) + i as u64 * 4, &w.to_le_bytes())
            );
        }
    }

    fn get(&self, at: u32) -> u32 {
        let mut b = [0; 4];
        assert!(self.m.functions[0].ram.read(RAM + u64::from(at), &mut b));
        u32::from_le_bytes(b)
    }

    fn vram(&self, at: u64) -> u32 {
        let mut b = [0; 4];
        assert!(self.m.vram.read(at, &mut b));
        u32::from_le_bytes(b)
    }

    /// Put words into the ring, and announce them.
    fn ring(&mut self, words: &[u32]) {
        for w in words {
            self.put(RING + self.wptr * 4, &[*w]);
            self.wptr = (self.wptr + 1) % RING_DWORDS;
        }
        self.write(mmio::CP_RB_WPTR, self.wptr);
        self.run();
    }

    /// Step until nothing is left to do at once.
    fn run(&mut self) {
        for _ in 0..100_000 {
            if self.chip.step(&mut self.m) != Step::More {
                return;
            }
        }
        panic!("the chip does not come to rest");
    }

    fn interrupts(&mut self) -> u64 {
        let mut n = [0; 8];
        match self.irq.read(&mut n) {
            Ok(8) => u64::from_ne_bytes(n),
            _ => 0,
        }
    }

    fn busy(&mut self) -> bool {
        mmio::rbbm_status::CP_CMDSTRM_BUSY.any(self.read(mmio::RBBM_STATUS))
    }

    /// Let the 2D engine draw anywhere.
    fn open_scissors(&mut self) {
        self.write(mmio::SC_TOP_LEFT, 0);
        self.write(mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff);
        self.write(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff);
    }

    /// Return all findings, as "kind count".
    fn findings(&mut self) -> Vec<(Kind, u64)> {
        self.m
            .judge
            .take()
            .into_iter()
            .map(|f| (f.kind, f.count))
            .collect()
    }
}

impl Drop for Bench {
    /// Check that a test that does not look at its findings has none.
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let left = self.m.judge.take();
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

fn scratch(n: u32) -> u32 {
    mmio::SCRATCH_REG.at(n).unwrap()
}

fn type0(offset: u32, values: &[u32]) -> Vec<u32> {
    let mut p = vec![((values.len() as u32 - 1) << 16) | (offset / 4)];
    p.extend(values);
    p
}

fn type3(opcode: u8, body: &[u32]) -> Vec<u32> {
    let mut p = vec![(3 << 30) | ((body.len() as u32 - 1) << 16) | (u32::from(opcode) << 8)];
    p.extend(body);
    p
}

fn wait_idle_clean() -> Vec<u32> {
    type0(
        mmio::WAIT_UNTIL,
        &[mmio::wait_until::WAIT_2D_IDLECLEAN.mask()],
    )
}
