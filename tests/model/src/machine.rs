// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Everything around a chip that is not the chip: memory, its PCI functions, and the instruments.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{self, Write};

use crate::fault::{self, Faults};
use crate::judge::Judge;
use crate::kind::{self, Kind};
use crate::memory::{GuestRam, Vram};
use crate::pci::{Config, Facts, Msi};
use crate::power::Power;
use crate::trace::Trace;

/// What a chip works with.
pub struct Machine {
    /// The card's memory; empty if it has none of its own.
    pub vram: Vram,
    /// Its PCI functions.
    pub functions: Vec<Function>,
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

/// A PCI function as the chip reaches it.
pub struct Function {
    /// PCI configuration space.
    pub pci: Config,
    /// The way to the CPU.
    pub irq: Interrupts,
    /// Guest RAM as the bus shows it to this function.
    pub ram: GuestRam,
    /// Its power state and its reset are the whole chip's.
    pub powers: bool,
}

/// The address space that every chip has, and many have alone. Which others there are, such as one for each client, is
/// the family's business.
pub const SPACE: u32 = 0;

/// A range of GPU addresses that a test has declared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Object {
    /// The address space that the addresses are of.
    pub space: u32,
    /// First GPU address.
    pub start: u64,
    /// Length in bytes.
    pub len: u64,
    /// What the test calls it.
    pub name: String,
}

impl Object {
    /// Return whether it holds all of `len` bytes at a GPU address of its space.
    #[inline]
    pub fn holds(&self, address: u64, len: u64) -> bool {
        address >= self.start && len <= self.len && address - self.start <= self.len - len
    }
}

impl Machine {
    /// Return a machine with that VRAM and those functions, instruments at rest.
    pub fn new(vram: Vram, functions: &[Facts]) -> Machine {
        let several = functions.len() > 1;
        let function = |facts: &Facts| Function {
            pci: Config::new(facts, several),
            irq: Interrupts::new(facts.msi),
            ram: GuestRam::default(),
            powers: facts.powers,
        };
        Machine {
            vram,
            functions: functions.iter().map(function).collect(),
            judge: Judge::default(),
            trace: Trace::default(),
            faults: Faults::default(),
            power: Power::default(),
            counters: Counters::default(),
            objects: Vec::new(),
        }
    }

    /// Add a finding, also to the trace.
    pub fn finding(&mut self, kind: Kind, detail: fmt::Arguments<'_>) {
        self.trace.line(format_args!("! finding {kind}: {detail}"));
        self.judge.report(kind, detail);
    }

    /// Return whether `len` bytes at a GPU address of a space lie in one object declared there, or none is declared at
    /// all. A space of which nothing is declared holds no object as soon as another does.
    #[inline]
    pub fn in_object(&self, space: u32, address: u64, len: u64) -> bool {
        self.objects.is_empty()
            || self
                .objects
                .iter()
                .any(|o| o.space == space && o.holds(address, len))
    }

    /// Return the object declared in a space that holds a GPU address.
    #[inline]
    pub fn object_at(&self, space: u32, address: u64) -> Option<&Object> {
        self.objects
            .iter()
            .find(|o| o.space == space && o.holds(address, 1))
    }

    /// Set the interrupt output of a function high or low.
    ///
    /// # Panics
    /// Without such a function.
    pub fn interrupt(&mut self, function: usize, level: bool) {
        if self.faults.armed(fault::DEAD) {
            return;
        }
        let Function { pci, irq, .. } = &mut self.functions[function];
        let able = pci.bus_master();
        let intx = !pci.intx_disabled();
        match irq.set_level(level, able, intx) {
            Sent::No => {}
            Sent::NoMaster => self.finding(kind::BUS_MASTER_OFF, format_args!("MSI")),
            Sent::Msi => self.sent("MSI"),
            Sent::Intx => self.sent("INTx"),
        }
    }

    /// Re-arm MSI of a function, and send what came in between.
    ///
    /// # Panics
    /// Without such a function.
    pub fn rearm(&mut self, function: usize) {
        let irq = &mut self.functions[function].irq;
        let level = irq.level;
        irq.armed = true;
        irq.level = false;
        self.interrupt(function, level);
    }

    /// Unmask INTx of a function, and send again while the output is high.
    ///
    /// # Panics
    /// Without such a function.
    pub fn unmask_intx(&mut self, function: usize) {
        let irq = &mut self.functions[function].irq;
        irq.intx_masked = false;
        let level = irq.level;
        self.interrupt(function, level);
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
    /// Add to a counter; it exists from its first mention on.
    pub fn add(&mut self, name: &'static str, n: u64) {
        let v = self.values.entry(name).or_default();
        *v = v.saturating_add(n);
    }

    /// Return a counter's value; 0 if never mentioned.
    pub fn get(&self, name: &str) -> u64 {
        self.values.get(name).copied().unwrap_or(0)
    }

    /// Return all counters in the order of their names.
    pub fn all(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        self.values.iter().map(|(n, v)| (*n, *v))
    }

    /// Set all to zero. They stay listed.
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

/// The two ways of an interrupt to the CPU: MSI (an edge, perhaps re-armed by the driver) and INTx (a level, which the
/// CPU side masks with each event and unmasks when it has been handled).
pub struct Interrupts {
    policy: Msi,
    level: bool,
    armed: bool,
    msi: Option<File>,
    intx: Option<File>,
    intx_masked: bool,
}

impl Interrupts {
    /// Return lines at rest, with that kind of MSI.
    pub fn new(policy: Msi) -> Interrupts {
        Interrupts {
            policy,
            level: false,
            armed: true,
            msi: None,
            intx: None,
            intx_masked: false,
        }
    }

    /// Take the eventfd for MSI, or none when MSI is switched off. Switching on arms.
    pub fn set_msi(&mut self, fd: Option<File>) {
        self.armed = true;
        self.msi = fd;
    }

    /// Take the eventfd for INTx, or none.
    pub fn set_intx(&mut self, fd: Option<File>) {
        self.intx_masked = false;
        self.intx = fd;
    }

    /// Mask INTx until [`Machine::unmask_intx`].
    pub fn mask_intx(&mut self) {
        self.intx_masked = true;
    }

    /// Return to the state after power-on, with the output low and MSI armed.
    pub fn reset(&mut self) {
        self.level = false;
        self.armed = true;
    }

    /// Raise the output without telling QEMU: a fault.
    pub fn lose(&mut self) {
        self.level = true;
    }

    /// Return the chip's output.
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
            self.armed = self.policy != Msi::Rearmed;
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

    fn machine(msi: Msi) -> Machine {
        let facts = Facts {
            msi,
            ..Facts::default()
        };
        let mut m = Machine::new(Vram::new(4096).unwrap(), &[facts]);
        m.functions[0].pci.write(4, &[6]);
        m
    }

    #[test]
    fn msi_is_an_edge_and_waits_for_the_rearm() {
        let (give, mut look) = eventfd();
        let mut m = machine(Msi::Rearmed);
        m.functions[0].irq.set_msi(Some(give));
        m.interrupt(0, true);
        m.interrupt(0, true);
        assert_eq!(events(&mut look), 1);
        m.interrupt(0, false);
        m.interrupt(0, true);
        assert_eq!(events(&mut look), 0, "not armed");
        m.rearm(0);
        assert_eq!(
            events(&mut look),
            1,
            "what was pending comes with the rearm"
        );
        m.interrupt(0, false);
        m.rearm(0);
        assert_eq!(events(&mut look), 0);
        assert_eq!(m.counters.get("irqs"), 2);
    }

    #[test]
    fn msi_that_is_not_rearmed_comes_with_each_rise() {
        let (give, mut look) = eventfd();
        let mut m = machine(Msi::Edge);
        m.functions[0].irq.set_msi(Some(give));
        for _ in 0..3 {
            m.interrupt(0, true);
            m.interrupt(0, true);
            m.interrupt(0, false);
        }
        assert_eq!(events(&mut look), 3);
    }

    #[test]
    fn msi_needs_bus_mastering() {
        let (give, mut look) = eventfd();
        let mut m = machine(Msi::Rearmed);
        m.functions[0].pci.write(4, &[2]);
        m.functions[0].irq.set_msi(Some(give));
        m.interrupt(0, true);
        assert_eq!(events(&mut look), 0);
        assert_eq!(m.judge.count(kind::BUS_MASTER_OFF), 1);
    }

    #[test]
    fn intx_is_a_level_and_comes_back_on_unmask() {
        let (give, mut look) = eventfd();
        let mut m = machine(Msi::Rearmed);
        m.functions[0].irq.set_intx(Some(give));
        m.interrupt(0, true);
        m.interrupt(0, true);
        assert_eq!(events(&mut look), 1);
        m.unmask_intx(0);
        assert_eq!(events(&mut look), 1, "still high");
        m.interrupt(0, false);
        m.unmask_intx(0);
        assert_eq!(events(&mut look), 0);
        m.functions[0].pci.write(5, &[4]);
        m.interrupt(0, true);
        assert_eq!(
            events(&mut look),
            0,
            "INTx disabled in the command register"
        );
    }

    #[test]
    fn objects_are_judged_only_when_declared() {
        let mut m = machine(Msi::Rearmed);
        assert!(m.in_object(SPACE, 0xdead, 16));
        m.objects.push(Object {
            space: SPACE,
            start: 0x1000,
            len: 0x100,
            name: "a".into(),
        });
        let holds = |address, len| m.in_object(SPACE, address, len);
        assert!(holds(0x10f0, 16) && !holds(0x10f1, 16) && !holds(0xfff, 1));
        assert!(!m.in_object(7, 0x10f0, 16), "of another space");
        assert!(m.object_at(SPACE, 0x10ff).is_some() && m.object_at(7, 0x10ff).is_none());
    }
}
