// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Everything around a chip that is not the chip: memory, PCI configuration, interrupt lines, and the instruments.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};

use crate::fault::{Fault, Faults};
use crate::judge::{Judge, Kind};
use crate::memory::{GuestRam, Vram};
use crate::pci::Config;
use crate::power::Power;
use crate::trace::Trace;

/// What a chip works with.
pub struct Machine {
    /// The card's memory.
    pub vram: Vram,
    /// Guest RAM as the bus shows it.
    pub ram: GuestRam,
    /// PCI configuration space.
    pub pci: Config,
    /// The way to the CPU.
    pub irq: Interrupts,
    /// Findings.
    pub judge: Judge,
    /// Trace.
    pub trace: Trace,
    /// Armed faults.
    pub faults: Faults,
    /// What became of the power.
    pub power: Power,
    /// Named counters.
    pub counters: Counters,
    /// Which GPU bytes belong to whom, as the test says; empty: not judged.
    pub objects: Vec<Object>,
}

/// A range of GPU addresses that a test has declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// First GPU address.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
    /// What the test calls it.
    pub name: String,
}

impl Machine {
    /// A machine with that VRAM and configuration space, instruments at rest.
    pub fn new(vram: Vram, pci: Config) -> Machine {
        Machine {
            vram,
            ram: GuestRam::default(),
            pci,
            irq: Interrupts::default(),
            judge: Judge::default(),
            trace: Trace::default(),
            faults: Faults::default(),
            power: Power::default(),
            counters: Counters::default(),
            objects: Vec::new(),
        }
    }

    /// A finding, also in the trace.
    pub fn finding(&mut self, kind: Kind, detail: fmt::Arguments<'_>) {
        self.trace.line(format_args!("! finding {kind}: {detail}"));
        self.judge.report(kind, detail);
    }

    /// Whether `len` bytes at a GPU address lie in one declared object, or nobody has declared any.
    pub fn in_object(&self, address: u64, len: u64) -> bool {
        self.objects.is_empty()
            || self
                .objects
                .iter()
                .any(|o| address >= o.start && len <= o.len && address - o.start <= o.len - len)
    }

    /// The declared object that holds a GPU address.
    pub fn object_at(&self, address: u64) -> Option<&Object> {
        self.objects
            .iter()
            .find(|o| address >= o.start && address - o.start < o.len)
    }

    /// The chip's interrupt output is high or low from now on.
    pub fn interrupt(&mut self, level: bool) {
        if self.faults.armed(Fault::Dead) {
            return;
        }
        let able = self.pci.bus_master();
        let intx = !self.pci.intx_disabled();
        match self.irq.set_level(level, able, intx) {
            Sent::No => {}
            Sent::NoMaster => self.finding(Kind::BusMasterOff, format_args!("MSI")),
            Sent::Msi => self.sent("MSI"),
            Sent::Intx => self.sent("INTx"),
        }
    }

    /// The driver has re-armed MSI; sends what came in between.
    pub fn rearm(&mut self) {
        let level = self.irq.level;
        self.irq.armed = true;
        self.irq.level = false;
        self.interrupt(level);
    }

    /// The CPU has unmasked INTx; sends again while the output is high.
    pub fn unmask_intx(&mut self) {
        self.irq.intx_masked = false;
        let level = self.irq.level;
        self.interrupt(level);
    }

    fn sent(&mut self, how: &str) {
        self.counters.add("irqs", 1);
        self.trace.line(format_args!("interrupt {how}"));
    }
}

/// Named counters, for tests and benches.
#[derive(Default)]
pub struct Counters {
    values: BTreeMap<&'static str, u64>,
}

impl Counters {
    /// Adds to a counter; it exists from its first mention on.
    pub fn add(&mut self, name: &'static str, n: u64) {
        let v = self.values.entry(name).or_default();
        *v = v.saturating_add(n);
    }

    /// A counter's value; 0 if never mentioned.
    pub fn get(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    /// All counters in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.values.iter().map(|(n, v)| (*n, *v))
    }

    /// All back to zero; they keep being listed.
    pub fn reset(&mut self) {
        self.values.values_mut().for_each(|v| *v = 0);
    }
}

enum Sent {
    No,
    NoMaster,
    Msi,
    Intx,
}

/// The two ways of an interrupt to the CPU: MSI (an edge, re-armed by the driver) and INTx (a level, which the
/// CPU side masks with each event and unmasks when it has been handled).
pub struct Interrupts {
    level: bool,
    armed: bool,
    msi: Option<File>,
    intx: Option<File>,
    intx_masked: bool,
}

impl Default for Interrupts {
    fn default() -> Self {
        Interrupts {
            level: false,
            armed: true,
            msi: None,
            intx: None,
            intx_masked: false,
        }
    }
}

impl Interrupts {
    /// Takes the eventfd for MSI, or none when MSI is switched off. Switching on arms.
    pub fn set_msi(&mut self, fd: Option<File>) {
        self.armed = true;
        self.msi = fd;
    }

    /// Takes the eventfd for INTx, or none.
    pub fn set_intx(&mut self, fd: Option<File>) {
        self.intx_masked = false;
        self.intx = fd;
    }

    /// INTx is masked until [`Machine::unmask_intx`].
    pub fn mask_intx(&mut self) {
        self.intx_masked = true;
    }

    /// As after power-on: the output is low, and MSI armed.
    pub fn reset(&mut self) {
        self.level = false;
        self.armed = true;
    }

    /// The output goes high and nobody hears of it: a fault.
    pub fn lose(&mut self) {
        self.level = true;
    }

    /// The chip's output.
    pub fn level(&self) -> bool {
        self.level
    }

    fn set_level(&mut self, level: bool, master: bool, intx_enabled: bool) -> Sent {
        let rising = level && !self.level;
        self.level = level;
        if let Some(fd) = &self.msi {
            if !rising || !self.armed {
                return Sent::No;
            }
            if !master {
                return Sent::NoMaster;
            }
            self.armed = false;
            return if signal(fd).is_ok() {
                Sent::Msi
            } else {
                Sent::No
            };
        }
        match &self.intx {
            Some(fd) if level && intx_enabled && !self.intx_masked => {
                self.intx_masked = true;
                if signal(fd).is_ok() {
                    Sent::Intx
                } else {
                    Sent::No
                }
            }
            _ => Sent::No,
        }
    }
}

fn signal(mut fd: &File) -> io::Result<()> {
    fd.write_all(&1u64.to_ne_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read;

    fn eventfd() -> (File, File) {
        let fd = rustix::event::eventfd(0, rustix::event::EventfdFlags::NONBLOCK).unwrap();
        let file = File::from(fd);
        (file.try_clone().unwrap(), file)
    }

    fn events(fd: &mut File) -> u64 {
        let mut n = [0; 8];
        match fd.read(&mut n) {
            Ok(8) => u64::from_ne_bytes(n),
            _ => 0,
        }
    }

    fn machine() -> Machine {
        let mut m = Machine::new(Vram::new(4096).unwrap(), Config::default());
        m.pci.write(4, &[6]);
        m
    }

    #[test]
    fn msi_is_an_edge_and_waits_for_the_rearm() {
        let (give, mut look) = eventfd();
        let mut m = machine();
        m.irq.set_msi(Some(give));
        m.interrupt(true);
        m.interrupt(true);
        assert_eq!(events(&mut look), 1);
        m.interrupt(false);
        m.interrupt(true);
        assert_eq!(events(&mut look), 0, "not armed");
        m.rearm();
        assert_eq!(
            events(&mut look),
            1,
            "what was pending comes with the rearm"
        );
        m.interrupt(false);
        m.rearm();
        assert_eq!(events(&mut look), 0);
        assert_eq!(m.counters.get("irqs"), 2);
    }

    #[test]
    fn msi_needs_bus_mastering() {
        let (give, mut look) = eventfd();
        let mut m = machine();
        m.pci.write(4, &[2]);
        m.irq.set_msi(Some(give));
        m.interrupt(true);
        assert_eq!(events(&mut look), 0);
        assert_eq!(m.judge.count(Kind::BusMasterOff), 1);
    }

    #[test]
    fn intx_is_a_level_and_comes_back_on_unmask() {
        let (give, mut look) = eventfd();
        let mut m = machine();
        m.irq.set_intx(Some(give));
        m.interrupt(true);
        m.interrupt(true);
        assert_eq!(events(&mut look), 1);
        m.unmask_intx();
        assert_eq!(events(&mut look), 1, "still high");
        m.interrupt(false);
        m.unmask_intx();
        assert_eq!(events(&mut look), 0);
        m.pci.write(5, &[4]);
        m.interrupt(true);
        assert_eq!(
            events(&mut look),
            0,
            "INTx disabled in the command register"
        );
    }

    #[test]
    fn objects_are_judged_only_when_declared() {
        let mut m = machine();
        assert!(m.in_object(0xdead, 16));
        m.objects.push(Object {
            start: 0x1000,
            len: 0x100,
            name: "a".into(),
        });
        assert!(m.in_object(0x10f0, 16) && !m.in_object(0x10f1, 16) && !m.in_object(0xfff, 1));
    }
}
