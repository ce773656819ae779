// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The framework carries a family that is unlike a Radeon: see [`family`]. It is served over its sockets here, one for
//! each function; clients play QEMU and its guest. [`qemu`] has the real one.

mod family;
mod qemu;

use std::fs::File;
use std::io::Read;
use std::os::fd::AsRawFd;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use lapidary_model::chip::{Fuses, Options, State};
use lapidary_model::control::request;
use lapidary_model::family::find;
use lapidary_model::machine::Machine;
use lapidary_model::memory::Vram;
use lapidary_model::run::{Shared, System, Worker};
use lapidary_model::server::{Function, socket};
use lapidary_model::trace::Trace;
use vfio_bindings::bindings::vfio::*;
use vfio_user::Client;

use self::family::{
    ACK, BRIDGE, CLIENTS, DISPLAY, DOORBELL, FAMILY, PAGE, RAM, kind, names, register,
};

/// A model without a guest, its sockets in a folder of its own.
struct Model {
    servers: Vec<JoinHandle<anyhow::Result<()>>>,
    shared: Arc<Shared>,
    _worker: Worker,
    dir: PathBuf,
}

impl Model {
    fn new(name: &str) -> Model {
        let dir = std::env::temp_dir().join(format!("twin-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let options = Options {
            vram: 0,
            window: 0,
            trapped: false,
            state: State::Posted,
            fuses: Fuses::Whole,
        };
        let (_, entry) = find(&[&FAMILY], "twin").unwrap();
        let functions = entry.functions(options, Vec::new());
        let memory = Vram::new(entry.memory(options)).unwrap();
        assert!(memory.is_empty());
        let mut machine = Machine::new(memory, &functions);
        machine.trace = Trace::to_file(&dir.join("trace")).unwrap();
        let mut chip = entry.build(options);
        chip.reset(&mut machine);
        let shared = Shared::new(System { chip, machine });
        let worker = shared.spawn().unwrap();
        let serve = |(number, facts)| {
            let function = Function::new(shared.clone(), number, facts);
            let function = function
                .bind(&socket(&dir.join("gpu"), number), true)
                .unwrap();
            thread::spawn(move || function.serve())
        };
        let servers = functions.into_iter().enumerate().map(serve).collect();
        Model {
            servers,
            shared,
            _worker: worker,
            dir,
        }
    }

    /// Wait until the other side has disconnected from every function.
    fn end(&mut self) {
        let ended: Vec<_> = self.servers.drain(..).map(JoinHandle::join).collect();
        let _ = std::fs::remove_dir_all(&self.dir);
        if !thread::panicking() {
            for end in ended {
                end.unwrap().unwrap();
            }
            let left = self.shared.with(|s| s.machine.judge.take());
            assert!(left.is_empty(), "{left:?}");
        }
    }
}

struct Card {
    /// One for each function.
    clients: Vec<Client>,
    model: Model,
    ram: File,
}

impl Card {
    fn new(name: &str) -> Card {
        let model = Model::new(name);
        let connect = |number| Client::new(&socket(&model.dir.join("gpu"), number)).unwrap();
        let mut clients: Vec<_> = (0..model.servers.len()).map(connect).collect();
        let ram =
            File::from(rustix::fs::memfd_create("ram", rustix::fs::MemfdFlags::CLOEXEC).unwrap());
        let len = (CLIENTS + 1) * PAGE;
        ram.set_len(len).unwrap();
        clients[DISPLAY]
            .dma_map(0, RAM, len, ram.as_raw_fd())
            .unwrap();
        Card {
            clients,
            model,
            ram,
        }
    }

    fn config32(&mut self, function: usize, offset: u64) -> u32 {
        let mut b = [0; 4];
        self.clients[function]
            .region_read(VFIO_PCI_CONFIG_REGION_INDEX, offset, &mut b)
            .unwrap();
        u32::from_le_bytes(b)
    }

    fn configure(&mut self, function: usize, offset: u64, data: &[u8]) {
        self.clients[function]
            .region_write(VFIO_PCI_CONFIG_REGION_INDEX, offset, data)
            .unwrap();
    }

    fn read(&mut self, function: usize, offset: u64) -> u32 {
        let mut b = [0; 4];
        self.clients[function]
            .region_read(0, offset, &mut b)
            .unwrap();
        u32::from_le_bytes(b)
    }

    fn write(&mut self, function: usize, offset: u64, value: u32) {
        self.clients[function]
            .region_write(0, offset, &value.to_le_bytes())
            .unwrap();
    }

    /// Submit a command of a client that copies a dword, at address 0 of its space.
    fn copy(&mut self, client: u64, from: u32, to: u32) {
        let words = [from, to].map(u32::to_le_bytes).concat();
        self.ram.write_all_at(&words, client * PAGE).unwrap();
        self.clients[DISPLAY]
            .region_write(2, client * DOORBELL, &0u64.to_le_bytes())
            .unwrap();
    }

    fn memory(&self, client: u64, address: u64) -> u32 {
        let mut b = [0; 4];
        self.ram
            .read_exact_at(&mut b, client * PAGE + address)
            .unwrap();
        u32::from_le_bytes(b)
    }

    fn fill(&self, client: u64, address: u64, value: u32) {
        self.ram
            .write_all_at(&value.to_le_bytes(), client * PAGE + address)
            .unwrap();
    }

    /// Wait until as many commands have been executed since the beginning.
    fn executed(&self, commands: u64) {
        let begin = Instant::now();
        while self
            .model
            .shared
            .with(|s| s.machine.counters.get("commands"))
            < commands
        {
            assert!(begin.elapsed() < Duration::from_secs(20));
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn ask(&self, line: &str) -> String {
        request(&self.model.shared, line).unwrap()
    }

    /// Return the MSI of a function as QEMU would connect it.
    fn msi(&mut self, function: usize) -> File {
        let event =
            File::from(rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap());
        self.clients[function]
            .set_irqs(
                VFIO_PCI_MSI_IRQ_INDEX,
                VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER,
                0,
                1,
                &[event.as_raw_fd()],
            )
            .unwrap();
        event
    }
}

impl Drop for Card {
    fn drop(&mut self) {
        for client in &self.clients {
            let _ = client.shutdown();
        }
        self.model.end();
    }
}

/// Return the number of events since the last look.
fn events(fd: &mut File) -> u64 {
    let mut n = [0; 8];
    match fd.read(&mut n) {
        Ok(8) => u64::from_ne_bytes(n),
        _ => 0,
    }
}

#[test]
fn each_function_is_what_its_table_says() {
    let mut card = Card::new("table");
    assert_eq!(card.config32(BRIDGE, 0), 0x0409_1106);
    assert_eq!(card.config32(DISPLAY, 0), 0x5122_1106);
    assert_eq!(card.config32(BRIDGE, 8) >> 8, 0x06_0000);
    for function in [BRIDGE, DISPLAY] {
        assert_eq!(card.config32(function, 0xc) & 0x80_0000, 0x80_0000);
    }
    let sizes = |card: &Card, function: usize| {
        [0, 1, 2, 3, 4, 5, VFIO_PCI_ROM_REGION_INDEX]
            .map(|i| card.clients[function].region(i).map_or(0, |r| r.size))
    };
    assert_eq!(sizes(&card, BRIDGE), [16, 0, 0, 0, 0, 0, 0]);
    assert_eq!(sizes(&card, DISPLAY), [0x1000, 0, 0x1000, 0, 0, 0, 0]);
    for bar in [0, 2] {
        let region = card.clients[DISPLAY].region(bar).unwrap();
        assert!(region.file_offset.is_none(), "no memory to map");
    }
    let mut msi = |function: usize| {
        let info = card.clients[function].get_irq_info(VFIO_PCI_MSI_IRQ_INDEX);
        info.unwrap().count
    };
    assert_eq!((msi(BRIDGE), msi(DISPLAY)), (0, 1));
    let error = find(&[&FAMILY], "other").err();
    assert_eq!(error.as_deref(), Some("no chip other; there are twin"));
}

#[test]
fn windows_of_two_functions_show_different_registers() {
    let mut card = Card::new("windows");
    card.write(BRIDGE, 0, 0x1234);
    card.write(DISPLAY, register::CONTROL.into(), 0);
    assert_eq!(card.read(BRIDGE, 0), 0x1234);
    assert_eq!(card.read(DISPLAY, register::STATUS.into()), 0);
    assert_eq!(card.ask("peek GATE"), "0x00001234\n");
    assert_eq!(
        card.ask("touched"),
        "ENGINE STATUS implemented 1 0 the CPU\n\
         ENGINE CONTROL implemented 0 1 the CPU\n\
         BRIDGE GATE stored 1 1 the CPU\n"
    );
    card.read(DISPLAY, register::TIMER.into());
    card.write(DISPLAY, register::STATUS.into(), 1);
    card.read(BRIDGE, 4);
    assert_eq!(
        card.ask("findings"),
        "finding undefined-register-read 1 register 0x1004\n\
         finding unimplemented-register 1 TIMER read by the CPU\n\
         finding read-only-register-write 1 STATUS = 0x00000001\n"
    );
    card.ask("trace off");
    let trace = std::fs::read_to_string(card.model.dir.join("trace")).unwrap();
    assert!(trace.contains("write GATE = 0x00001234"), "{trace}");
}

#[test]
fn a_doorbell_starts_a_command_in_its_address_space() {
    let mut card = Card::new("doorbell");
    let mut event = card.msi(DISPLAY);
    card.configure(DISPLAY, 4, &[6, 0]);
    for client in 1..=CLIENTS {
        card.fill(client, 0x100, 0xa0 + client as u32);
    }
    for (n, client) in [(1, 1), (2, 3)] {
        card.copy(client, 0x100, 0x200);
        card.executed(n);
        let copied: Vec<_> = (1..=CLIENTS).map(|c| card.memory(c, 0x200)).collect();
        let expected = match client {
            1 => [0xa1, 0, 0],
            _ => [0xa1, 0, 0xa3],
        };
        assert_eq!(copied, expected);
        assert_eq!(events(&mut event), 1);
        card.write(DISPLAY, register::CONTROL.into(), ACK.mask());
    }
}

#[test]
fn each_function_maps_and_unmaps_its_own_memory() {
    let mut card = Card::new("memory");
    let seen = |card: &Card| {
        card.model
            .shared
            .with(|s| [BRIDGE, DISPLAY].map(|f| s.machine.functions[f].ram.read(RAM, &mut [0; 4])))
    };
    assert_eq!(seen(&card), [false, true]);
    let (fd, len) = (card.ram.as_raw_fd(), (CLIENTS + 1) * PAGE);
    card.clients[BRIDGE].dma_map(0, RAM, len, fd).unwrap();
    assert_eq!(seen(&card), [true, true]);
    card.clients[DISPLAY].dma_unmap(RAM, len).unwrap();
    assert_eq!(seen(&card), [true, false]);
}

#[test]
fn objects_belong_to_an_address_space() {
    let mut card = Card::new("objects");
    card.configure(DISPLAY, 4, &[6, 0]);
    card.ask("object 2:0x100 0x200 both");
    card.copy(2, 0x100, 0x2fc);
    card.executed(1);
    assert_eq!(card.ask("findings"), "");
    // The same addresses in another space; in the right one, beyond the end.
    card.copy(1, 0x100, 0x200);
    card.executed(2);
    assert_eq!(
        card.ask("findings"),
        "finding outside-objects 2 Copy of 4 bytes at 1:0x100; by client 0x00000000: copy of 1\n"
    );
    card.copy(2, 0x100, 0x300);
    card.executed(3);
    assert_eq!(
        card.ask("findings"),
        "finding outside-objects 1 Copy of 4 bytes at 2:0x300; by client 0x00000000: copy of 2\n"
    );
    card.ask("objects clear");
    card.copy(1, 0x100, 0x200);
    card.executed(4);
    assert!(request(&card.model.shared, "object 0x100000000:0 1 far").is_err());
}

#[test]
fn kinds_and_faults_are_the_familys_too() {
    let mut card = Card::new("kinds");
    card.configure(DISPLAY, 4, &[6, 0]);
    let mut ring = |doorbell: u64, value: u64| {
        card.clients[DISPLAY]
            .region_write(2, doorbell * DOORBELL, &value.to_le_bytes())
            .unwrap();
    };
    ring(0, 0);
    ring(CLIENTS + 1, 0);
    ring(1, 4);
    card.executed(1);
    assert_eq!(
        card.ask("findings"),
        "finding doorbell-range 2 0x0\nfinding command-alignment 1 0x4\n"
    );
    assert_eq!(names(kind::ALL), ["doorbell-range", "command-alignment"]);
    card.ask("fault deaf 1");
    card.fill(1, 0x100, 7);
    card.copy(1, 0x100, 0x200);
    card.copy(1, 0x100, 0x204);
    card.executed(2);
    assert_eq!((card.memory(1, 0x200), card.memory(1, 0x204)), (0, 7));
    let refused = request(&card.model.shared, "fault hang").unwrap_err();
    assert!(refused.contains("there are deaf, dead,"), "{refused}");
}

#[test]
fn one_function_carries_the_power() {
    let mut card = Card::new("power");
    card.write(BRIDGE, 0, 5);
    // A reset of the bridge is its own affair.
    card.configure(BRIDGE, 4, &[1, 0]);
    card.clients[BRIDGE].reset().unwrap();
    assert_eq!(card.config32(BRIDGE, 4) & 0xffff, 0);
    assert_eq!(card.read(BRIDGE, 0), 5);
    // The display asleep: it does not answer, the bridge does, and the chip has lost its registers.
    card.configure(DISPLAY, 0x64, &[3]);
    assert_eq!(card.read(DISPLAY, 0), u32::MAX);
    assert_eq!(card.read(BRIDGE, 0), 0);
    assert_eq!(
        card.ask("findings"),
        "finding power-state 1 register read in power state D3\n"
    );
    card.configure(DISPLAY, 0x64, &[0]);
    assert_eq!(card.read(DISPLAY, 0), 0);
    // Pulled out, both are gone.
    card.ask("fault dead");
    assert_eq!(
        (card.read(BRIDGE, 0), card.read(DISPLAY, 0)),
        (u32::MAX, u32::MAX)
    );
    card.ask("fault clear");
    assert_eq!((card.read(BRIDGE, 0), card.read(DISPLAY, 0)), (0, 0));
}
