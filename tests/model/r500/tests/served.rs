// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A model served over its sockets: a vfio-user client plays QEMU and its guest, another client the test at the
//! control port.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapidary_model::chip::{Fuses, Options, State};
use lapidary_model::control;
use lapidary_model::family::Entry;
use lapidary_model::machine::Machine;
use lapidary_model::memory::Vram;
use lapidary_model::run::{Shared, System, Worker};
use lapidary_model::server::Function;
use lapidary_model_r500::Variant;
use lapidary_registers::r500::{mmio, pcie};
use vfio_bindings::bindings::vfio::*;
use vfio_user::Client;

const VRAM: u64 = 8 << 20;
/// Where the GPU sees VRAM, as the firmware leaves it.
const FB: u32 = 0xc000_0000;
/// Guest RAM: its bus address, and its place in the GART.
const RAM: u64 = 0x4000_0000;
const RAM_LEN: u64 = 0x10000;
const GTT: u32 = 0x1000_0000;
const TABLE: u32 = 0x10_0000;
const RING: u32 = 0;
const SCRATCH: u32 = 0x8000;

struct Card {
    client: Client,
    ram: File,
    shared: Arc<Shared>,
    server: Option<JoinHandle<anyhow::Result<()>>>,
    _worker: Worker,
    dir: PathBuf,
    wptr: u32,
}

impl Card {
    fn new(name: &str, mapped: bool) -> Card {
        Card::with_window(name, mapped, VRAM)
    }

    fn with_window(name: &str, mapped: bool, window: u64) -> Card {
        let dir = std::env::temp_dir().join(format!("gpu-model-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let entry = Variant::by_name("rv515").unwrap();
        let options = Options {
            vram: VRAM,
            window,
            trapped: !mapped,
            state: State::Posted,
            fuses: Fuses::Whole,
        };
        let functions = entry.functions(options, entry.rom(VRAM));
        let mut machine = Machine::new(Vram::new(VRAM).unwrap(), &functions);
        let mut chip = entry.build(options);
        chip.reset(&mut machine);
        let shared = Shared::new(System { chip, machine });
        let worker = shared.spawn().unwrap();
        control::listen(&dir.join("control"), shared.clone()).unwrap();
        let function = Function::new(shared.clone(), 0, functions[0].clone());
        let socket = dir.join("gpu");
        let at = socket.clone();
        let server = thread::spawn(move || function.bind(&at, mapped)?.serve());
        // The socket exists a moment before the server listens.
        let begin = Instant::now();
        let mut client = loop {
            match Client::new(&socket) {
                Ok(client) => break client,
                Err(e) => assert!(begin.elapsed() < Duration::from_secs(20), "{e}"),
            }
            thread::sleep(Duration::from_millis(1));
        };
        let ram =
            File::from(rustix::fs::memfd_create("ram", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        ram.set_len(RAM_LEN).unwrap();
        client.dma_map(0, RAM, RAM_LEN, ram.as_raw_fd()).unwrap();
        Card {
            client,
            ram,
            shared,
            server: Some(server),
            _worker: worker,
            dir,
            wptr: 0,
        }
    }

    fn config32(&mut self, offset: u64) -> u32 {
        let mut b = [0; 4];
        self.client
            .region_read(VFIO_PCI_CONFIG_REGION_INDEX, offset, &mut b)
            .unwrap();
        u32::from_le_bytes(b)
    }

    fn read(&mut self, offset: u32) -> u32 {
        let mut b = [0; 4];
        self.client.region_read(2, offset.into(), &mut b).unwrap();
        u32::from_le_bytes(b)
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.client
            .region_write(2, offset.into(), &value.to_le_bytes())
            .unwrap();
    }

    /// Return an interrupt line as QEMU would connect it.
    fn connect(&mut self, index: u32) -> File {
        let event =
            File::from(rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap());
        self.client
            .set_irqs(
                index,
                VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
                0,
                1,
                &[event.as_raw_fd()],
            )
            .unwrap();
        event
    }

    /// Do what a driver does until its ring runs.
    fn start(&mut self) {
        self.client
            .region_write(VFIO_PCI_CONFIG_REGION_INDEX, 4, &[6, 0])
            .unwrap();
        for page in 0..(RAM_LEN / 4096) as u32 {
            let entry = ((RAM as u32 + page * 4096) >> 8) | 0xc;
            self.client
                .region_write(0, u64::from(TABLE + page * 4), &entry.to_le_bytes())
                .unwrap();
        }
        for (index, value) in [
            (pcie::PCIE_TX_GART_BASE, FB + TABLE),
            (pcie::PCIE_TX_GART_START_LO, GTT),
            (pcie::PCIE_TX_GART_END_LO, GTT + RAM_LEN as u32 - 4096),
            (
                pcie::PCIE_TX_GART_CNTL,
                pcie::pcie_tx_gart_cntl::GART_EN.mask(),
            ),
        ] {
            self.write(mmio::PCIE_INDEX, index);
            self.write(mmio::PCIE_DATA, value);
        }
        self.write(mmio::CP_ME_RAM_ADDR, 0);
        for i in 0..256 {
            self.write(mmio::CP_ME_RAM_DATAH, 0);
            self.write(mmio::CP_ME_RAM_DATAL, i);
        }
        self.write(mmio::CP_RB_BASE, GTT + RING);
        self.write(
            mmio::CP_RB_CNTL,
            mmio::cp_rb_cntl::RB_BUFSZ.of(9) | mmio::cp_rb_cntl::RB_NO_UPDATE.mask(),
        );
        self.write(mmio::SCRATCH_ADDR, GTT + SCRATCH);
        self.write(mmio::SCRATCH_UMSK, 0xff);
        self.write(
            mmio::CP_CSQ_CNTL,
            mmio::cp_csq_cntl::CSQ_MODE.of(mmio::cp_csq_cntl::csq_mode::PRIBM_INDBM),
        );
        self.write(mmio::GEN_INT_CNTL, mmio::gen_int_cntl::SW_INT_EN.mask());
    }

    /// Submit a fence, which is scratch register 0 and an interrupt.
    fn fence(&mut self, sequence: u32) {
        let scratch = mmio::SCRATCH_REG.at(0).unwrap();
        let words = [
            scratch / 4,
            sequence,
            mmio::GEN_INT_STATUS / 4,
            mmio::gen_int_status::SW_INT_SET.mask(),
        ];
        for w in words {
            self.ram
                .write_all_at(&w.to_le_bytes(), u64::from(RING + self.wptr * 4))
                .unwrap();
            self.wptr += 1;
        }
        self.write(mmio::CP_RB_WPTR, self.wptr);
    }

    fn fence_value(&self) -> u32 {
        let mut b = [0; 4];
        self.ram.read_exact_at(&mut b, SCRATCH.into()).unwrap();
        u32::from_le_bytes(b)
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        let _ = self.client.shutdown();
        let ended = self.server.take().map(JoinHandle::join);
        let _ = std::fs::remove_dir_all(&self.dir);
        if !thread::panicking() {
            ended.unwrap().unwrap().unwrap();
            let left = self.shared.with(|s| s.machine.judge.take());
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

/// Wait for an event; false if none comes for a long time.
fn event(fd: &mut File) -> bool {
    let end = Instant::now() + Duration::from_secs(20);
    let mut b = [0; 8];
    while !matches!(fd.read(&mut b), Ok(8)) {
        if Instant::now() > end {
            return false;
        }
        thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn a_driver_finds_the_card() {
    let mut card = Card::new("find", true);
    assert_eq!(card.config32(0), 0x7142_1002);
    assert_eq!(card.config32(8) >> 8, 0x03_8000);
    let vram = card.client.region(0).unwrap();
    assert_eq!(vram.size, VRAM);
    assert!(vram.file_offset.is_some(), "VRAM can be mapped");
    assert_eq!(card.client.region(2).unwrap().size, 0x10000);
    let mut rom = [0; 2];
    card.client
        .region_read(VFIO_PCI_ROM_REGION_INDEX, 0, &mut rom)
        .unwrap();
    assert_eq!(rom, [0x55, 0xaa]);
    assert_eq!(card.read(mmio::RBBM_STATUS), 0x40);
    // The I/O window shows the first registers.
    let mut b = [0; 4];
    card.client
        .region_write(4, mmio::MM_INDEX.into(), &mmio::RBBM_STATUS.to_le_bytes())
        .unwrap();
    card.client
        .region_read(4, mmio::MM_DATA.into(), &mut b)
        .unwrap();
    assert_eq!(u32::from_le_bytes(b), 0x40);
}

#[test]
fn a_window_of_its_own_size() {
    for window in [VRAM / 4, VRAM * 4] {
        let mut card = Card::with_window(&format!("window-{window}"), true, window);
        let bar = card.client.region(0).unwrap();
        assert_eq!(bar.size, window);
        assert_eq!(bar.sparse_areas.len(), 1);
        let area = &bar.sparse_areas[0];
        assert_eq!((area.offset, area.size), (0, window.min(VRAM)));
        assert_eq!(u64::from(card.read(mmio::CONFIG_MEMSIZE)), VRAM);
        assert_eq!(u64::from(card.read(mmio::CONFIG_APER_SIZE)), window / 2);
        card.start();
    }
    let mut card = Card::with_window("window-beyond", true, VRAM * 2);
    let mut b = [0; 4];
    card.client.region_read(0, VRAM, &mut b).unwrap();
    assert_eq!(b, [0xff; 4], "no memory there");
    let found = control::request(&card.shared, "findings").unwrap();
    assert!(found.starts_with("finding vram-range 1 "), "{found}");
}

#[test]
fn fences_arrive_by_msi() {
    let mut card = Card::new("msi", false);
    assert!(
        card.client.region(0).unwrap().file_offset.is_none(),
        "VRAM is trapped"
    );
    let mut msi = card.connect(VFIO_PCI_MSI_IRQ_INDEX);
    card.start();
    for sequence in 1..=5 {
        card.fence(sequence);
        assert!(event(&mut msi));
        assert_eq!(card.fence_value(), sequence);
        assert_eq!(
            card.read(mmio::GEN_INT_STATUS),
            mmio::gen_int_status::SW_INT.mask()
        );
        card.write(mmio::GEN_INT_STATUS, mmio::gen_int_status::SW_INT.mask());
        card.write(mmio::MSI_REARM_EN, 1);
    }
}

#[test]
fn fences_arrive_by_intx_and_come_back_while_pending() {
    let mut card = Card::new("intx", true);
    let mut intx = card.connect(VFIO_PCI_INTX_IRQ_INDEX);
    card.start();
    card.fence(1);
    assert!(event(&mut intx));
    let unmask = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK;
    card.client
        .set_irqs(VFIO_PCI_INTX_IRQ_INDEX, unmask, 0, 1, &[])
        .unwrap();
    assert!(event(&mut intx), "it was not acknowledged");
    card.write(mmio::GEN_INT_STATUS, mmio::gen_int_status::SW_INT.mask());
    card.client
        .set_irqs(VFIO_PCI_INTX_IRQ_INDEX, unmask, 0, 1, &[])
        .unwrap();
    assert!(matches!(intx.read(&mut [0; 8]), Err(e) if e.kind() == std::io::ErrorKind::WouldBlock));
    card.fence(2);
    assert!(event(&mut intx));
    assert_eq!(card.fence_value(), 2);
}

#[test]
fn a_reset_of_the_function_restores_its_power_on_state() {
    let mut card = Card::new("reset", true);
    card.start();
    card.fence(1);
    card.client.reset().unwrap();
    assert_eq!(card.read(mmio::CP_RB_BASE), 0);
    assert_eq!(card.config32(4) & 0xffff, 0);
    assert_eq!(u64::from(card.read(mmio::CONFIG_MEMSIZE)), VRAM);
}

#[test]
fn power_states_and_what_they_cost() {
    let mut card = Card::new("power", true);
    let control_status = {
        let mut at = u64::from(card.config32(0x34) & 0xff);
        while card.config32(at) & 0xff != 1 {
            at = u64::from((card.config32(at) >> 8) & 0xff);
        }
        at + 4
    };
    let power = |card: &mut Card, state: u8| {
        card.client
            .region_write(VFIO_PCI_CONFIG_REGION_INDEX, control_status, &[state])
            .unwrap();
    };
    card.write(mmio::MM_INDEX, 4);
    control::request(&card.shared, "power d3 kept").unwrap();
    power(&mut card, 3);
    assert_eq!(card.read(mmio::MM_INDEX), u32::MAX);
    power(&mut card, 0);
    assert_eq!(card.read(mmio::MM_INDEX), 4, "kept");
    let found = control::request(&card.shared, "findings").unwrap();
    assert!(found.starts_with("finding power-state 1 "), "{found}");

    let vram = |card: &Card| control::request(&card.shared, "vram 0x100000 32").unwrap();
    let posted = |card: &mut Card| u64::from(card.read(mmio::CONFIG_MEMSIZE)) == VRAM;
    control::request(&card.shared, "power d3 lost").unwrap();
    card.client
        .region_write(VFIO_PCI_CONFIG_REGION_INDEX, 4, &[6, 0])
        .unwrap();
    let before = vram(&card);
    power(&mut card, 3);
    assert_eq!(vram(&card), before);
    power(&mut card, 0);
    let after = vram(&card);
    assert_ne!(after, before);
    assert_eq!(card.config32(4) & 0xffff, 0, "configuration is lost too");
    // No firmware posts the card at a wake-up.
    card.client.reset().unwrap();
    card.client.reset().unwrap();
    assert_eq!(vram(&card), after);
    assert_eq!(card.read(mmio::MM_INDEX), 0);
    assert!(!posted(&mut card));
    // A guest that starts finds a posted one.
    card.client.reset().unwrap();
    assert!(posted(&mut card));
    assert_ne!(vram(&card), after);

    let after = vram(&card);
    control::request(&card.shared, "power d3 posted").unwrap();
    power(&mut card, 3);
    card.client.reset().unwrap();
    assert!(posted(&mut card));
    assert_ne!(vram(&card), after);
    control::request(&card.shared, "power lose").unwrap();
    assert!(!posted(&mut card));
    control::request(&card.shared, "power lose posted").unwrap();
    assert!(posted(&mut card));
}

#[test]
fn a_card_that_works_must_not_be_put_to_sleep() {
    let mut card = Card::new("busy", true);
    card.start();
    control::request(&card.shared, "fault hang 1").unwrap();
    card.fence(1);
    assert_ne!(card.read(mmio::RBBM_STATUS), 0x40);
    card.client
        .region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0x54, &[3])
        .unwrap();
    // It worked, and its command streams were on.
    let found = control::request(&card.shared, "findings").unwrap();
    assert!(
        found.starts_with("finding power-state 2 put into D3hot"),
        "{found}"
    );
}

#[test]
fn a_card_that_was_pulled_out() {
    let mut card = Card::new("pulled", false);
    let mut msi = card.connect(VFIO_PCI_MSI_IRQ_INDEX);
    card.start();
    // Two register accesses still find it: the second is the write pointer's.
    control::request(&card.shared, "fault dead-soon 3").unwrap();
    card.read(mmio::RBBM_STATUS);
    card.fence(1);
    assert!(event(&mut msi));
    assert_eq!(card.fence_value(), 1);
    card.fence(2);
    assert_eq!(card.read(mmio::RBBM_STATUS), u32::MAX);
    assert_eq!(card.config32(0), u32::MAX);
    let mut b = [0; 4];
    card.client.region_write(0, 0x100, &[1, 2, 3, 4]).unwrap();
    card.client.region_read(0, 0x100, &mut b).unwrap();
    assert_eq!(b, [0xff; 4]);
    card.client
        .region_read(VFIO_PCI_ROM_REGION_INDEX, 0, &mut b)
        .unwrap();
    assert_eq!(b, [0xff; 4]);
    card.client.reset().unwrap();
    assert_eq!(card.config32(0), u32::MAX);
    let unmask = VFIO_IRQ_SET_DATA_NONE | VFIO_IRQ_SET_ACTION_UNMASK;
    card.client
        .set_irqs(VFIO_PCI_INTX_IRQ_INDEX, unmask, 0, 1, &[])
        .unwrap();
    assert!(matches!(msi.read(&mut [0; 8]), Err(e) if e.kind() == std::io::ErrorKind::WouldBlock));
    assert_eq!(card.fence_value(), 1);
    // What QEMU would have mapped holds ones as well.
    assert_eq!(
        control::request(&card.shared, "vram 0x7ffffc 4").unwrap(),
        "ffffffff\n"
    );

    control::request(&card.shared, "fault clear").unwrap();
    assert_eq!(card.config32(0), 0x7142_1002);
    assert_eq!(card.config32(4) & 0xffff, 0);
    assert_eq!(card.read(mmio::CP_RB_BASE), 0);
    assert_eq!(u64::from(card.read(mmio::CONFIG_MEMSIZE)), VRAM);
    card.wptr = 0;
    card.start();
    card.fence(3);
    assert!(event(&mut msi), "armed again");

    card.write(mmio::CP_CSQ_CNTL, 0);
    control::request(&card.shared, "fault dead-asleep 1").unwrap();
    assert_eq!(card.read(mmio::RBBM_STATUS), 0x40);
    for state in [3, 0] {
        card.client
            .region_write(VFIO_PCI_CONFIG_REGION_INDEX, 0x54, &[state])
            .unwrap();
        assert_eq!(card.config32(0x54), u32::MAX);
    }
    control::request(&card.shared, "fault clear").unwrap();
    assert_eq!(card.config32(0x54) & 3, 0);
}

#[test]
fn the_control_port_answers() {
    let mut card = Card::new("control", true);
    let mut out = UnixStream::connect(card.dir.join("control")).unwrap();
    let mut lines = BufReader::new(out.try_clone().unwrap()).lines();
    let mut ask = |question: &str| -> (Vec<String>, String) {
        writeln!(out, "{question}").unwrap();
        let mut answer = vec![];
        loop {
            let line = lines.next().unwrap().unwrap();
            if line == "ok" || line.starts_with("error") {
                return (answer, line);
            }
            answer.push(line);
        }
    };
    assert_eq!(
        ask("peek RBBM_STATUS"),
        (vec!["0x00000040".into()], "ok".into())
    );
    assert!(ask("peek NONSENSE").1.starts_with("error no register"));
    assert!(ask("nonsense").1.starts_with("error unknown request"));
    assert!(ask("fault nonsense").1.contains("lost-interrupt"));
    assert!(ask("trace on").1.starts_with("error"));
    card.client.region_write(0, 0x100, &[1, 2, 3, 4]).unwrap();
    assert_eq!(ask("vram 0x100 4"), (vec!["01020304".into()], "ok".into()));
    assert!(ask("vram 0x7ffffe 4").1.starts_with("error"));
    assert_eq!(ask("object 0xc0000000 4096 target").1, "ok");
    assert_eq!(ask("objects clear").1, "ok");

    assert_eq!(ask("findings"), (vec![], "ok".into()));
    card.write(mmio::WAIT_UNTIL, 0);
    let found = ask("findings").0;
    assert!(
        found[0].starts_with("finding unqueued-sync-register 1 WAIT_UNTIL"),
        "{found:?}"
    );
    assert_eq!(ask("findings").0, Vec::<String>::new(), "taken");

    assert_eq!(ask("counters reset").1, "ok");
    card.read(mmio::RBBM_STATUS);
    assert!(ask("counters").0.contains(&"mmio_reads 1".to_string()));

    assert_eq!(ask("fault dead").1, "ok");
    assert_eq!(card.read(mmio::RBBM_STATUS), u32::MAX);
    assert_eq!(card.config32(0), u32::MAX);
    assert_eq!(ask("fault clear").1, "ok");
    assert_eq!(card.read(mmio::RBBM_STATUS), 0x40);
}
