// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the whole chip, with memory but without a guest: registers are written as a CPU would write them, rings and
//! buffers lie in guest RAM behind the GART, and the chip is stepped by hand.

use std::fs::File;
use std::io::Read;
use std::time::{Duration, Instant};

use lapidary_registers::r500::pm4::{dma_command, op};
use lapidary_registers::r500::{mc_rv515, mmio, pcie};

use super::{FIRMWARE_FB, R5xx, RV515};
use crate::chip::{Chip, Options, State, Step};
use crate::fault::Fault;
use crate::judge::Kind;
use crate::machine::Machine;
use crate::memory::Vram;
use crate::pci::Config;

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
    /// A posted card with bus mastering, GART and MSI on, and no microcode yet.
    fn new() -> Bench {
        Bench::with(State::Posted)
    }

    fn with(state: State) -> Bench {
        let mut m = Machine::new(Vram::new(VRAM).unwrap(), Config::default());
        m.pci.write(4, &[6]);
        m.ram.map_anonymous(RAM, RAM_LEN).unwrap();
        let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
        let irq = File::from(fd);
        m.irq.set_msi(Some(irq.try_clone().unwrap()));
        for page in 0..RAM_LEN / 4096 {
            let bus = RAM + page * 4096;
            let entry = (bus >> 8) as u32 & 0x00ff_fff0 | (((bus >> 32) as u32) << 24) | 0xc;
            m.vram.write(TABLE + page * 4, &entry.to_le_bytes());
        }
        let mut chip = R5xx::new(&RV515, Options { vram: VRAM, state });
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

    /// The same with microcode and a running ring whose read pointer is written back.
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

    /// Guest RAM at a GART offset.
    fn put(&mut self, at: u32, words: &[u32]) {
        for (i, w) in words.iter().enumerate() {
            assert!(
                self.m
                    .ram
                    .write(RAM + u64::from(at) + i as u64 * 4, &w.to_le_bytes())
            );
        }
    }

    fn get(&self, at: u32) -> u32 {
        let mut b = [0; 4];
        assert!(self.m.ram.read(RAM + u64::from(at), &mut b));
        u32::from_le_bytes(b)
    }

    fn vram(&self, at: u64) -> u32 {
        let mut b = [0; 4];
        assert!(self.m.vram.read(at, &mut b));
        u32::from_le_bytes(b)
    }

    /// Puts words into the ring, and announces them.
    fn ring(&mut self, words: &[u32]) {
        for w in words {
            self.put(RING + self.wptr * 4, &[*w]);
            self.wptr = (self.wptr + 1) % RING_DWORDS;
        }
        self.write(mmio::CP_RB_WPTR, self.wptr);
        self.run();
    }

    /// Steps until nothing is left to do at once.
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

    /// Lets the 2D engine draw anywhere.
    fn open_scissors(&mut self) {
        self.write(mmio::SC_TOP_LEFT, 0);
        self.write(mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff);
        self.write(mmio::DEFAULT_SC_BOTTOM_RIGHT, 0x1fff_1fff);
    }

    /// All findings, as "kind count".
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
    /// A test that does not look at its findings must not have any.
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

#[test]
fn a_fresh_card_is_idle_and_posted() {
    let mut b = Bench::new();
    assert_eq!(b.read(mmio::RBBM_STATUS), 0x40);
    assert_eq!(u64::from(b.read(mmio::CONFIG_MEMSIZE)), VRAM);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_FB_LOCATION | 0x7f_0000);
    assert_eq!(b.read(mmio::MC_IND_DATA), 0xc03f_c000);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_STATUS | 0x7f_0000);
    assert!(mc_rv515::mc_status::MC_IDLE.any(b.read(mmio::MC_IND_DATA)));
    assert_eq!(b.read(mmio::D1CRTC_CONTROL), 0);
    let mut u = Bench::with(State::Unposted);
    assert_eq!(u.read(mmio::CONFIG_MEMSIZE), 0);
}

#[test]
fn an_active_crtc_counts_and_is_watched() {
    let mut b = Bench::with(State::Crtc);
    assert_ne!(b.read(mmio::D1CRTC_CONTROL) & 1, 0);
    for line in 0..480 {
        assert_ne!(
            b.vram(line * 640 * 4),
            b.vram((line + 1) % 480 * 640 * 4),
            "the picture shows damage"
        );
    }
    let first = b.read(mmio::D1CRTC_STATUS_FRAME_COUNT);
    std::thread::sleep(Duration::from_millis(20));
    assert_ne!(b.read(mmio::D1CRTC_STATUS_FRAME_COUNT), first);
    b.write(mmio::MC_IND_INDEX, mc_rv515::MC_FB_LOCATION | 0xff_0000);
    b.write(mmio::MC_IND_DATA, 0xc03f_c000);
    assert!(b.findings().is_empty(), "the same value moves nothing");
    b.write(mmio::MC_IND_DATA, 0x003f_0000);
    assert_eq!(b.findings(), [(Kind::ScanoutMoved, 1)]);
    b.write(mmio::D1CRTC_CONTROL, 0);
    b.write(mmio::MC_IND_DATA, 0xc03f_c000);
    assert!(b.findings().is_empty(), "nobody looks any more");
}

#[test]
fn the_ring_executes_and_wraps() {
    let mut b = Bench::running();
    for i in 0..500 {
        b.ring(&type0(scratch(0), &[i]));
        assert_eq!(b.read(scratch(0)), i);
    }
    assert_eq!(b.read(mmio::CP_RB_RPTR), 1000 % RING_DWORDS);
    assert_eq!(b.get(WRITE_BACK), 1000 % RING_DWORDS);
    assert_eq!(b.m.counters.get("packets"), 500);
    assert!(!b.busy());
}

#[test]
fn a_packet_may_wrap_and_come_in_pieces() {
    let mut b = Bench::running();
    let filler = vec![2 << 30; RING_DWORDS as usize - 2];
    b.ring(&filler);
    let packet = type0(scratch(0), &[1, 2, 3, 4]);
    b.ring(&packet[..2]);
    assert!(b.busy(), "half a packet");
    assert_eq!(b.read(scratch(0)), 0);
    b.ring(&packet[2..]);
    assert!(!b.busy());
    assert_eq!([0, 1, 2, 3].map(|i| b.read(scratch(i))), [1, 2, 3, 4]);
    assert_eq!(b.get(WRITE_BACK), 3);
}

#[test]
fn a_packet_longer_than_the_ring_is_executed() {
    let mut b = Bench::running();
    let mut packet = type3(op::NOP, &vec![7; 600]);
    packet.extend(type0(scratch(2), &[9]));
    for piece in packet.chunks(100) {
        b.ring(piece);
    }
    assert_eq!(b.read(scratch(2)), 9);
}

#[test]
fn the_read_pointer_is_written_back_per_block_and_when_empty() {
    let mut b = Bench::running();
    // Blocks are 16 dwords. Nothing runs while the CP is held in reset; then it is let go step by step.
    for _ in 0..20 {
        b.put(b.wptr * 4, &[2 << 30]);
        b.wptr += 1;
    }
    b.put(WRITE_BACK, &[0xffff]);
    b.write(mmio::CP_RB_WPTR, b.wptr);
    for _ in 0..15 {
        b.chip.step(&mut b.m);
    }
    assert_eq!(b.get(WRITE_BACK), 0xffff);
    b.chip.step(&mut b.m);
    assert_eq!(b.get(WRITE_BACK), 16);
    b.run();
    assert_eq!(b.get(WRITE_BACK), 20);
    b.write(
        mmio::CP_RB_CNTL,
        b.chip.regs.get(mmio::CP_RB_CNTL) | mmio::cp_rb_cntl::RB_NO_UPDATE.mask(),
    );
    b.ring(&[2 << 30]);
    assert_eq!((b.get(WRITE_BACK), b.read(mmio::CP_RB_RPTR)), (20, 21));
}

#[test]
fn overrunning_the_ring_is_found() {
    let mut b = Bench::running();
    b.m.faults.arm(Fault::Hang, None);
    b.write(mmio::CP_RB_WPTR, 200);
    b.run();
    b.write(mmio::CP_RB_WPTR, 100);
    assert_eq!(b.findings(), [(Kind::RingOverrun, 1)]);
    b.write(mmio::CP_RB_WPTR, RING_DWORDS);
    assert_eq!(b.findings(), [(Kind::RingPointer, 1)]);
}

#[test]
fn the_write_pointer_waits_in_its_staging_register() {
    let mut b = Bench::running();
    b.write(
        mmio::CP_RB_WPTR_DELAY,
        mmio::cp_rb_wptr_delay::PRE_WRITE_TIMER.of(10_000_000),
    );
    b.put(RING, &type0(scratch(0), &[5]));
    b.write(mmio::CP_RB_WPTR, 2);
    assert!(matches!(b.chip.step(&mut b.m), Step::At(t) if t > Instant::now()));
    assert_eq!(b.read(scratch(0)), 0);
    std::thread::sleep(Duration::from_millis(25));
    b.run();
    assert_eq!(b.read(scratch(0)), 5);
}

#[test]
fn indirect_buffers_nest_and_return() {
    let mut b = Bench::running();
    let mut ib = type0(scratch(0), &[1]);
    ib.extend(type0(mmio::CP_IB2_BASE, &[GTT + IB2, 2]));
    ib.extend(type0(scratch(2), &[b.wptr + 3]));
    b.put(IB, &ib);
    b.put(IB2, &type0(scratch(1), &[2]));
    let mut ring = type0(mmio::CP_IB_BASE, &[GTT + IB, ib.len() as u32]);
    ring.extend(type0(scratch(3), &[4]));
    b.ring(&ring);
    assert_eq!([0, 1, 2, 3].map(|i| b.read(scratch(i))), [1, 2, 3, 4]);
    assert_eq!(b.m.counters.get("indirect_buffers"), 2);
}

#[test]
fn indirect_buffers_must_be_started_by_the_rules() {
    let mut b = Bench::running();
    b.put(IB, &type0(scratch(0), &[1]));
    // IB2 from the ring, IB1 by the CPU, IB1 from inside itself.
    b.ring(&type0(mmio::CP_IB2_BASE, &[GTT + IB, 2]));
    b.write(mmio::CP_IB_BUFSZ, 2);
    b.run();
    let inside = type0(mmio::CP_IB_BASE, &[GTT + IB, 2]);
    b.put(IB2, &inside);
    b.ring(&type0(mmio::CP_IB_BASE, &[GTT + IB2, 3]));
    assert_eq!(b.findings(), [(Kind::IbNesting, 3)]);
    assert_eq!(b.read(scratch(0)), 0);
    // A size that is not the packet's last write.
    b.put(IB, &type0(scratch(0), &[1]));
    b.write(mmio::CP_IB_BASE, GTT + IB);
    b.ring(&[
        (1 << 30) | ((scratch(5) / 4) << 11) | (mmio::CP_IB_BUFSZ / 4),
        2,
        0,
    ]);
    assert_eq!(b.findings(), [(Kind::IbTriggerNotLast, 1)]);
    // A packet that the buffer cuts off; the ring goes on.
    b.put(IB, &type0(scratch(0), &[7, 7]));
    b.ring(&type0(mmio::CP_IB_BASE, &[GTT + IB, 2]));
    b.ring(&type0(scratch(1), &[8]));
    assert_eq!(b.findings(), [(Kind::PacketCrossesBuffer, 1)]);
    assert_eq!((b.read(scratch(0)), b.read(scratch(1))), (1, 8));
}

#[test]
fn scratch_registers_are_written_to_memory_by_mask() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 0b1000_0010);
    b.ring(&type0(scratch(0), &[10, 11, 12, 13, 14, 15, 16, 17]));
    let copies: Vec<u32> = (0..8).map(|i| b.get(WRITE_BACK + 0x100 + i * 4)).collect();
    assert_eq!(copies, [0, 11, 0, 0, 0, 0, 0, 17]);
    b.write(scratch(1), 99);
    assert_eq!(
        b.get(WRITE_BACK + 0x104),
        99,
        "the CPU's writes are copied too"
    );
}

#[test]
fn resynchronised_writes_wait_for_the_back_end() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 0xff);
    b.ring(&type0(mmio::CP_RESYNC_ADDR, &[3, 77]));
    assert_eq!(b.read(scratch(3)), 0);
    b.ring(&type0(
        mmio::RB3D_DSTCACHE_CTLSTAT,
        &[mmio::rb3d_dstcache_ctlstat::DC_FINISH.mask()],
    ));
    assert_eq!((b.read(scratch(3)), b.get(WRITE_BACK + 0x10c)), (77, 77));
    for i in 0..9 {
        b.ring(&type0(mmio::CP_RESYNC_ADDR, &[0, i]));
    }
    assert_eq!(b.findings(), [(Kind::PushOverflow, 1)]);
}

#[test]
fn nothing_runs_before_the_microcode() {
    let mut b = Bench::new();
    b.start(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM);
    b.ring(&type0(scratch(0), &[1]));
    assert_eq!(b.findings(), [(Kind::NoMicrocode, 1)]);
    assert_eq!(b.read(scratch(0)), 0);
    assert!(b.busy());
    b.load_microcode();
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
}

#[test]
fn microcode_reads_back_in_forty_bits() {
    let mut b = Bench::new();
    b.load_microcode();
    b.write(mmio::CP_ME_RAM_RADDR, 0x80);
    for i in [0x80u32, 0x81, 0x82] {
        assert_eq!(b.read(mmio::CP_ME_RAM_DATAH), i);
        assert_eq!(b.read(mmio::CP_ME_RAM_DATAL), i * 0x0101_0101);
    }
}

#[test]
fn the_push_model() {
    let mut b = Bench::new();
    b.load_microcode();
    b.start(mmio::cp_csq_cntl::csq_mode::PRIPIO_INDPIO);
    let primary = |i: u32| mmio::CP_CSQ_APER_PRIMARY.at(i).unwrap();
    // The place inside the aperture does not matter.
    for (i, w) in type0(scratch(0), &[1, 2]).into_iter().enumerate() {
        b.write(primary(5 - i as u32), w);
    }
    b.run();
    assert_eq!((b.read(scratch(0)), b.read(scratch(1))), (1, 2));
    // An indirect stream that is pushed needs its size first.
    let words = type0(scratch(2), &[3]);
    b.write(mmio::CP_IB_BUFSZ, words.len() as u32);
    for w in words {
        b.write(mmio::CP_CSQ_APER_INDIRECT.at(0).unwrap(), w);
    }
    b.run();
    assert_eq!(b.read(scratch(2)), 3);
    let used = b.read(mmio::CP_CSQ_CNTL);
    assert_eq!(mmio::cp_csq_cntl::CSQ_CNT_PRIMARY.get(used), 128);
    b.m.faults.arm(Fault::Hang, Some(1));
    for _ in 0..131 {
        b.write(primary(0), 2 << 30);
        b.run();
    }
    assert_eq!(b.findings(), [(Kind::PushOverflow, 3)]);
}

#[test]
fn pushing_into_a_pulled_stream_is_found() {
    let mut b = Bench::running();
    b.write(mmio::CP_CSQ_APER_PRIMARY.at(0).unwrap(), 0);
    assert_eq!(b.findings(), [(Kind::PushWithoutPushMode, 1)]);
}

#[test]
fn a_clean_soft_reset_in_seven_steps() {
    let mut b = Bench::running();
    b.m.faults.arm(Fault::Hang, Some(1));
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy());
    b.write(mmio::CP_CSQ_CNTL, 0);
    b.write(mmio::CP_CSQ_MODE, 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_CP.mask(),
    );
    assert_ne!(b.read(mmio::RBBM_SOFT_RESET), 0);
    b.write(mmio::RBBM_SOFT_RESET, 0);
    assert_eq!(b.read(mmio::CP_RB_RPTR), 0);
    let cntl = b.read(mmio::CP_RB_CNTL);
    b.write(
        mmio::CP_RB_CNTL,
        cntl | mmio::cp_rb_cntl::RB_RPTR_WR_ENA.mask(),
    );
    b.write(mmio::CP_RB_RPTR_WR, 40);
    b.write(mmio::CP_RB_WPTR, 40);
    b.write(mmio::CP_RB_CNTL, cntl);
    b.write(
        mmio::CP_CSQ_CNTL,
        mmio::cp_csq_cntl::CSQ_MODE.of(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM),
    );
    b.run();
    assert!(!b.busy());
    assert_eq!((b.read(mmio::CP_RB_RPTR), b.read(scratch(0))), (40, 0));
    b.wptr = 40;
    b.ring(&type0(scratch(0), &[2]));
    assert_eq!(b.read(scratch(0)), 2, "the microcode has survived");
}

#[test]
fn a_reset_of_a_running_cp_is_found_and_runs_the_old_ring_again() {
    let mut b = Bench::running();
    b.ring(&type0(scratch(0), &[1]));
    b.write(scratch(0), 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_CP.mask(),
    );
    b.run();
    assert_eq!(b.read(scratch(0)), 0, "held in reset");
    b.write(mmio::RBBM_SOFT_RESET, 0);
    b.run();
    assert_eq!(b.findings(), [(Kind::ResetWhileEnabled, 1)]);
    assert_eq!(
        b.read(scratch(0)),
        1,
        "the write pointer was not made equal"
    );
}

#[test]
fn the_ring_must_not_change_under_a_running_cp() {
    let mut b = Bench::running();
    b.m.faults.arm(Fault::Hang, Some(1));
    b.ring(&[2 << 30]);
    b.write(mmio::CP_RB_BASE, GTT + 0x8000);
    assert_eq!(b.findings(), [(Kind::CpReconfigured, 1)]);
}

#[test]
fn a_packet_raises_the_software_interrupt() {
    let mut b = Bench::running();
    let fire = type0(
        mmio::GEN_INT_STATUS,
        &[mmio::gen_int_status::SW_INT_SET.mask()],
    );
    b.ring(&fire);
    assert_eq!(b.interrupts(), 0, "not enabled");
    assert_eq!(
        b.read(mmio::GEN_INT_STATUS),
        mmio::gen_int_status::SW_INT.mask()
    );
    b.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::SW_INT_EN.mask());
    assert_eq!(b.interrupts(), 1, "enabling shows what is pending");
    b.write(mmio::GEN_INT_STATUS, mmio::gen_int_status::SW_INT.mask());
    assert_eq!(b.read(mmio::GEN_INT_STATUS), 0);
    b.ring(&fire);
    assert_eq!(b.interrupts(), 0, "MSI was not re-armed");
    b.write(mmio::MSI_REARM_EN, 1);
    assert_eq!(b.interrupts(), 1);
    b.ring(&fire);
    assert_eq!(b.interrupts(), 0, "still pending");
}

#[test]
fn faults_happen() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 1);
    b.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::SW_INT_EN.mask());
    b.m.faults.arm(Fault::LostWriteback, Some(1));
    b.ring(&type0(scratch(0), &[1]));
    assert_eq!((b.read(scratch(0)), b.get(WRITE_BACK + 0x100)), (1, 0));
    b.m.faults.arm(Fault::LostInterrupt, Some(1));
    b.ring(&type0(
        mmio::GEN_INT_STATUS,
        &[mmio::gen_int_status::SW_INT_SET.mask()],
    ));
    assert_eq!(
        (b.interrupts(), b.read(mmio::GEN_INT_STATUS)),
        (0, mmio::gen_int_status::SW_INT.mask())
    );
    b.m.faults.arm(Fault::LostRptr, Some(1));
    let before = b.get(WRITE_BACK);
    b.ring(&[2 << 30]);
    assert_eq!(b.get(WRITE_BACK), before);
    b.m.faults.arm(Fault::LateFence, Some(1));
    b.ring(&type0(scratch(0), &[2]));
    assert!(b.busy());
    assert_eq!(b.read(scratch(0)), 1);
    std::thread::sleep(crate::fault::LATE);
    b.run();
    assert_eq!((b.read(scratch(0)), b.get(WRITE_BACK + 0x100)), (2, 2));
}

#[test]
fn an_endless_buffer_needs_a_reset() {
    let mut b = Bench::running();
    b.m.faults.arm(Fault::EndlessBuffer, Some(1));
    b.put(IB, &type0(scratch(0), &[1]));
    b.ring(&type0(mmio::CP_IB_BASE, &[GTT + IB, 2]));
    b.ring(&type0(scratch(1), &[1]));
    for _ in 0..3 {
        std::thread::sleep(Duration::from_millis(2));
        b.write(scratch(0), 0);
        b.run();
        assert_eq!(
            (b.read(scratch(0)), b.read(scratch(1))),
            (1, 0),
            "over and over"
        );
    }
    assert!(b.busy());
    b.write(mmio::CP_CSQ_CNTL, 0);
    b.write(
        mmio::RBBM_SOFT_RESET,
        mmio::rbbm_soft_reset::SOFT_RESET_CP.mask(),
    );
    b.write(mmio::RBBM_SOFT_RESET, 0);
    assert!(!b.busy());
}

#[test]
fn undefined_registers_and_packets_are_found() {
    let mut b = Bench::running();
    assert_eq!(b.read(0xfff0), 0);
    b.write(0xfff0, 1);
    b.write(mmio::RBBM_STATUS, 1);
    b.ring(&type3(0x77, &[0]));
    assert_eq!(
        b.findings(),
        [
            (Kind::UndefinedRegisterRead, 1),
            (Kind::UndefinedRegisterWrite, 1),
            (Kind::ReadOnlyRegisterWrite, 1),
            (Kind::UndefinedPacket, 1)
        ]
    );
}

#[test]
fn sync_registers_are_not_for_the_cpu() {
    let mut b = Bench::running();
    b.write(mmio::WAIT_UNTIL, 0);
    b.write(mmio::ISYNC_CNTL, 0);
    b.write(mmio::RBBM_GUICNTL, 0);
    assert_eq!(b.findings(), [(Kind::UnqueuedSyncRegister, 3)]);
    b.ring(&wait_idle_clean());
}

#[test]
fn registers_through_mm_index() {
    let mut b = Bench::new();
    b.write(mmio::MM_INDEX, scratch(4));
    b.write(mmio::MM_DATA, 0x1234);
    assert_eq!(
        (b.read(mmio::MM_DATA), b.read(scratch(4))),
        (0x1234, 0x1234)
    );
    b.write(mmio::MM_INDEX, (1 << 31) | 0x100);
    b.write(mmio::MM_DATA, 0x5678);
    assert_eq!((b.vram(0x100), b.read(mmio::MM_DATA)), (0x5678, 0x5678));
    b.write(mmio::MM_INDEX, mmio::MM_DATA);
    b.read(mmio::MM_DATA);
    assert_eq!(b.findings(), [(Kind::ReservedValue, 1)]);
}

#[test]
fn clocks_take_byte_writes_of_their_index() {
    let mut b = Bench::new();
    b.chip.write(&mut b.m, mmio::CLOCK_CNTL_INDEX, 0x8d, 0xff);
    b.write(mmio::CLOCK_CNTL_DATA, 0x111);
    b.chip.write(&mut b.m, mmio::CLOCK_CNTL_INDEX, 0x0d, 0xff);
    assert_eq!(b.read(mmio::CLOCK_CNTL_DATA), 0x111);
    b.write(mmio::CLOCK_CNTL_DATA, 0);
    assert_eq!(b.findings(), [(Kind::ReservedValue, 1)]);
}

/// PAINT_MULTI of a 4 by 4 rectangle at the start of VRAM, 32 bits a pixel.
fn paint() -> Vec<u32> {
    use lapidary_registers::r500::pm4::gui_control as g;
    let gui = g::DST_PITCH_OFF.of(1)
        | g::BRUSH_TYPE.of(13)
        | g::DST_TYPE.of(6)
        | g::WIN31_ROP.of(0xf0)
        | g::GMC_CLR_CMP_FCN_DIS.of(1)
        | g::GMC_WR_MSK_DIS.of(1);
    type3(
        op::PAINT_MULTI,
        &[
            gui,
            (FIRMWARE_FB >> 10) | (1 << 22),
            0xa5a5_a5a5,
            0,
            (4 << 16) | 4,
        ],
    )
}

#[test]
fn drawing_must_be_flushed_before_its_completion() {
    let mut b = Bench::running();
    b.write(mmio::SCRATCH_UMSK, 1);
    b.open_scissors();
    b.ring(&paint());
    assert_eq!(b.vram(0), 0xa5a5_a5a5);
    b.ring(&type0(scratch(0), &[1]));
    let found = b.findings();
    assert_eq!(found, [(Kind::CompletionBeforeFlush, 1)]);
    b.ring(&paint());
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.ring(&type0(scratch(0), &[2]));
    assert_eq!(b.findings(), [(Kind::CompletionBeforeHdpInvalidate, 1)]);
    b.ring(&paint());
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.ring(&wait_idle_clean());
    b.ring(&type0(
        mmio::HOST_PATH_CNTL,
        &[mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask()],
    ));
    b.ring(&type0(scratch(0), &[3]));
    assert_eq!(b.findings(), []);
    b.ring(&paint());
    b.ring(&wait_idle_clean());
    assert_eq!(
        b.findings(),
        [(Kind::WaitOnDirtyCache, 1)],
        "nothing would ever clean it"
    );
    b.write(
        mmio::RB2D_DSTCACHE_MODE,
        mmio::rb2d_dstcache_mode::DC_AUTOFLUSH_ENABLE.mask(),
    );
    b.ring(&paint());
    b.ring(&wait_idle_clean());
}

#[test]
fn the_cpu_sees_drawing_through_the_read_buffer() {
    let mut b = Bench::running();
    b.open_scissors();
    b.ring(&paint());
    b.chip.vram_accessed(&mut b.m, 0, 4, false);
    b.ring(&type0(
        mmio::DSTCACHE_CTLSTAT,
        &[mmio::dstcache_ctlstat::DC_FLUSH.mask()],
    ));
    b.chip.vram_accessed(&mut b.m, 0, 4, false);
    assert_eq!(b.findings(), [(Kind::StaleRead, 2)]);
    b.write(
        mmio::HOST_PATH_CNTL,
        mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask(),
    );
    b.chip.vram_accessed(&mut b.m, 0, 4, false);
}

#[test]
fn draws_are_counted_and_not_executed() {
    let mut b = Bench::running();
    b.ring(&type3(
        op::_3D_LOAD_VBPNTR,
        &[2, 0x0201_0201, GTT, GTT + 64],
    ));
    b.ring(&type3(op::_3D_DRAW_VBUF_2, &[0x0003_0024]));
    b.ring(&type3(op::_3D_DRAW_IMMD_2, &[0x0001_0031, 1, 2, 3, 4]));
    assert_eq!(b.m.counters.get("draws_not_executed"), 2);
    assert_eq!(b.read(mmio::VAP_VTX_NUM_ARRAYS), 2);
    assert_eq!(b.read(mmio::VAP_VTX_AOS_ADDR_ODD.at(0).unwrap()), GTT + 64);
    b.ring(&type3(op::_3D_LOAD_VBPNTR, &[3, 0, 0, 0]));
    assert_eq!(b.findings(), [(Kind::PacketLength, 1)]);
}

#[test]
fn mpeg_index_writes_what_its_mask_says() {
    let mut b = Bench::running();
    // VAP_OUT_VTX_FMT_1, TX_ENABLE and RB3D_COLORPITCH of target 0; one quad.
    let mask = (1 << 7) | (1 << 11) | (1 << 19);
    b.ring(&type3(op::MPEG_INDEX, &[mask, 1, 2, 0x40, 0x000d, 1, 0]));
    assert_eq!(b.read(mmio::VAP_OUT_VTX_FMT_1), 1);
    assert_eq!(b.read(mmio::TX_ENABLE), 2);
    assert_eq!(b.read(mmio::RB3D_COLORPITCH.at(0).unwrap()), 0x40);
    assert_eq!(b.m.counters.get("draws_not_executed"), 1);
    b.ring(&type3(op::MPEG_INDEX, &[1 << 12, 0, 0x000d, 1, 0]));
    b.ring(&type3(op::MPEG_INDEX, &[0xf_ffff, 0]));
    assert_eq!(
        b.findings(),
        [(Kind::UndefinedRegisterWrite, 1), (Kind::PacketLength, 1)]
    );
}

#[test]
fn a_wait_for_a_dark_display_hangs() {
    let mut b = Bench::running();
    let wait = type0(
        mmio::WAIT_UNTIL,
        &[mmio::wait_until::WAIT_CRTC_VLINE.mask()],
    );
    b.write(mmio::D1CRTC_CONTROL, 1);
    b.ring(&wait);
    assert!(!b.busy());
    b.write(mmio::D1CRTC_CONTROL, 0);
    b.ring(&wait);
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy());
    assert_eq!(b.read(scratch(0)), 0);
    assert_eq!(b.findings(), [(Kind::WaitForever, 1)]);
}

#[test]
fn waiting_for_a_semaphore() {
    let mut b = Bench::running();
    b.write(mmio::CP_ME_RAM_ADDR, 0xfe);
    b.write(mmio::CP_ME_RAM_DATAL, 1);
    b.ring(&type3(op::WAIT_SEMAPHORE, &[0xfe, 5]));
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy() && b.read(scratch(0)) == 0);
    b.write(mmio::CP_ME_RAM_ADDR, 0xfe);
    b.write(mmio::CP_ME_RAM_DATAL, 0);
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
    assert_eq!(b.chip.cp.me.word(0xfe), 5);
    b.ring(&type3(op::WAIT_SEMAPHORE, &[0xfb]));
    assert_eq!(b.findings(), [(Kind::ReservedValue, 1)]);
}

#[test]
fn waiting_for_memory() {
    let mut b = Bench::running();
    b.put(IB, &[1, 2]);
    b.ring(&type3(op::WAIT_MEM, &[GTT + IB, 2]));
    b.ring(&type0(scratch(0), &[1]));
    assert!(b.busy() && b.read(scratch(0)) == 0);
    b.put(IB, &[0]);
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
}

#[test]
fn conditional_and_predicated_execution() {
    let mut b = Bench::running();
    for (boolean, expected) in [(0u32, 0), (1, 7)] {
        b.put(IB, &[boolean, 2]);
        b.write(scratch(0), 0);
        let mut words = type3(op::COND_EXEC, &[GTT + IB, 2, 2]);
        words.extend(type0(scratch(0), &[7]));
        words.extend(type0(scratch(1), &[boolean + 1]));
        b.ring(&words);
        assert_eq!(
            (b.read(scratch(0)), b.read(scratch(1))),
            (expected, boolean + 1)
        );
    }
    for (devices, expected) in [(0x02u32, 0), (0x01, 7), (0xff, 7)] {
        b.write(scratch(0), 0);
        let mut words = type3(op::PRED_EXEC, &[(devices << 24) | 2]);
        words.extend(type0(scratch(0), &[7]));
        b.ring(&words);
        assert_eq!(b.read(scratch(0)), expected);
    }
}

#[test]
fn a_dma_table_moves_bytes_and_interrupts() {
    let mut b = Bench::running();
    b.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::GUIDMA_INT_EN.mask());
    b.put(IB, &[0x0403_0201, 0x0807_0605]);
    // A copy with odd addresses, one into a register, one that does nothing and ends the table.
    let table: [[u32; 4]; 3] = [
        [GTT + IB + 1, FIRMWARE_FB + 0x101, 6, 0],
        [GTT + IB, scratch(5), 4 | dma_command::DAS.mask(), 0],
        [0, 0, dma_command::EOL.mask(), 0],
    ];
    for (i, d) in table.iter().flatten().enumerate() {
        b.m.vram.write(0x1000 + i as u64 * 4, &d.to_le_bytes());
    }
    b.write(mmio::DMA_GUI_TABLE_ADDR, FIRMWARE_FB + 0x1000);
    assert!(mmio::dma_gui_status::ACTIVE.any(b.read(mmio::DMA_GUI_STATUS)));
    b.run();
    assert_eq!((b.vram(0x100), b.vram(0x104)), (0x0403_0200, 0x0007_0605));
    assert_eq!(b.read(scratch(5)), 0x0403_0201);
    assert_eq!(b.interrupts(), 1);
    assert!(!mmio::dma_gui_status::ACTIVE.any(b.read(mmio::DMA_GUI_STATUS)));
}

#[test]
fn direct_descriptors_by_packet_and_the_wait_for_them() {
    let mut b = Bench::running();
    b.put(IB, &[0xdead_beef; 4]);
    let done = dma_command::EOL.mask() | dma_command::INTDIS.mask();
    let mut words = type0(mmio::CP_VID_SRC_ADDR, &[GTT + IB, FIRMWARE_FB, 8 | done]);
    words.extend(type0(
        mmio::CP_GUI_SRC_ADDR,
        &[GTT + IB, FIRMWARE_FB + 8, 8 | done],
    ));
    let both =
        mmio::wait_until::WAIT_DMA_GUI_IDLE.mask() | mmio::wait_until::WAIT_DMA_VID_IDLE.mask();
    words.extend(type0(mmio::WAIT_UNTIL, &[both]));
    words.extend(type0(
        mmio::HOST_PATH_CNTL,
        &[mmio::host_path_cntl::HDP_READ_BUFFER_INVALIDATE.mask()],
    ));
    words.extend(type0(scratch(0), &[1]));
    b.ring(&words);
    while b.busy() {
        std::thread::sleep(Duration::from_millis(1));
        b.run();
    }
    assert_eq!([0, 4, 8, 12].map(|o| b.vram(o)), [0xdead_beef; 4]);
    assert_eq!((b.read(scratch(0)), b.read(mmio::GEN_INT_STATUS)), (1, 0));
}

#[test]
fn a_table_without_end_is_aborted() {
    let mut b = Bench::running();
    // All of VRAM is a table of descriptors that do nothing, until its end.
    b.write(mmio::DMA_VID_TABLE_ADDR, FIRMWARE_FB + 1);
    for _ in 0..1000 {
        assert_eq!(b.chip.step(&mut b.m), Step::More);
    }
    b.put(RING, &type0(scratch(0), &[1]));
    b.write(mmio::CP_RB_WPTR, 2);
    for _ in 0..100 {
        b.chip.step(&mut b.m);
    }
    assert_eq!(b.read(scratch(0)), 0, "CP_SYNC keeps the streams away");
    b.write(mmio::DMA_VID_STATUS, mmio::dma_vid_status::ABORT_EN.mask());
    assert!(!mmio::dma_vid_status::ACTIVE.any(b.read(mmio::DMA_VID_STATUS)));
    b.write(mmio::DMA_VID_TABLE_ADDR, FIRMWARE_FB);
    assert_eq!(b.findings(), [(Kind::DmaDescriptor, 1)]);
    b.write(mmio::DMA_VID_STATUS, 0);
    b.run();
    assert_eq!(b.read(scratch(0)), 1);
}

#[test]
fn names_can_be_peeked() {
    let b = Bench::running();
    assert_eq!(b.chip.peek(&b.m, "RBBM_STATUS"), Some(0x40));
    assert_eq!(b.chip.peek(&b.m, "SCRATCH_REG[2]"), Some(0));
    assert_eq!(b.chip.peek(&b.m, "MC_FB_LOCATION"), Some(0xc03f_c000));
    assert_eq!(b.chip.peek(&b.m, "PCIE_TX_GART_START_LO"), Some(GTT));
    assert_eq!(b.chip.peek(&b.m, "NO_SUCH"), None);
}

/// Registers and streams of garbage: nothing may panic, and nothing may run without end.
#[test]
fn garbage_is_borne() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed as u32
    };
    for round in 0..16 {
        let mut b = Bench::running();
        for _ in 0..300 {
            // Mostly well-formed packets with bad contents; sometimes nothing but noise.
            let words: Vec<u32> = match random() % 4 {
                0 => (0..random() % 8 + 1).map(|_| random()).collect(),
                1 => {
                    let body: Vec<u32> = (0..random() % 20 + 1).map(|_| random()).collect();
                    type0(random() & 0x7ffc, &body)
                }
                2 => {
                    let packets = lapidary_registers::r500::PACKETS;
                    let opcode = packets[random() as usize % packets.len()].opcode;
                    let body: Vec<u32> = (0..random() % 20 + 1).map(|_| random()).collect();
                    type3(opcode, &body)
                }
                _ => vec![2 << 30],
            };
            for w in words {
                b.put(RING + b.wptr * 4, &[w]);
                b.wptr = (b.wptr + 1) % RING_DWORDS;
            }
            b.write(mmio::CP_RB_WPTR, b.wptr);
            let offset = random() & 0xfffc;
            if round % 2 == 0 {
                b.write(offset, random());
            }
            b.read(random() & 0xfffc);
            for _ in 0..50 {
                b.chip.step(&mut b.m);
            }
        }
        b.m.judge.take();
    }
}
