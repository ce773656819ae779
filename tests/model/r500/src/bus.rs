// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GPU addresses: what the units of the chip see behind the memory controller.
//!
//! A GPU address has 32 bits. `MC_FB_LOCATION` says where VRAM lies among them, the PCI Express GART maps a second
//! window onto system memory (see [`super::gart`]), and everything else hits nothing. An access that hits nothing is
//! a finding; a read of it yields all ones.

use lapidary_registers::Domain;
use lapidary_registers::r500::{domain, mc_r520, mc_rv515, pcie};

use super::cache::Caches;
use super::engine3d::area::{Area, Client};
use super::gart::{Gart, PAGE, Window};
use super::regs::REGISTERS;
use super::touched::{Journal, Who};
use crate::kind::{self, Kind};
use crate::unit::Unit;
use lapidary_model::amd::display::Scanout;
use lapidary_model::machine::{Machine, SPACE};
use lapidary_model::memory::{split, split_mut};
use lapidary_model::registers::Space;
use lapidary_model::runs::Runs;

/// Where the two generations of memory controller have their registers.
#[derive(Clone, Copy)]
pub struct McLayout {
    /// The database's domain.
    pub domain: Domain,
    /// Index of MC_FB_LOCATION.
    pub fb_location: u32,
    /// Index of MC_AGP_LOCATION.
    pub agp_location: u32,
    /// Index of MC_STATUS.
    pub status: u32,
    /// What MC_STATUS reads when idle.
    pub idle: u32,
    /// A register that says how wide the memory is, and its value after posting.
    pub width: (u32, u32),
}

/// RV515.
pub static MC_RV515: McLayout = McLayout {
    domain: domain::MC_RV515,
    fb_location: mc_rv515::MC_FB_LOCATION,
    agp_location: mc_rv515::MC_AGP_LOCATION,
    status: mc_rv515::MC_STATUS,
    idle: mc_rv515::mc_status::MC_IDLE.mask(),
    width: (mc_rv515::MC_CNTL, 1),
};

/// R520 and all others.
pub static MC_R520: McLayout = McLayout {
    domain: domain::MC_R520,
    fb_location: mc_r520::MC_FB_LOCATION,
    agp_location: mc_r520::MC_AGP_LOCATION,
    status: mc_r520::MC_STATUS,
    idle: mc_r520::mc_status::MC_IDLE.mask(),
    width: (mc_r520::MC_CNTL0, 2 << 24),
};

/// The memory side of the chip.
pub struct Bus {
    /// Which memory controller.
    pub layout: &'static McLayout,
    /// Its registers.
    pub mc: Space,
    /// The PCI Express block's registers.
    pub pcie: Space,
    /// Translation state.
    pub gart: Gart,
    /// What is in caches.
    pub caches: Caches,
    /// What each CRTC reads.
    pub scanouts: [Option<Scanout>; 2],
    /// So many looks at its status show the memory controller busy yet.
    pub busy: u32,
    /// What engines have touched, for tests that ask.
    pub journal: Journal,
}

/// What a GPU address leads to.
enum Target {
    Vram(u64),
    Ram(u64),
}

/// A reason why it leads nowhere.
type Miss = (Kind, String);

impl Bus {
    /// Return a memory side at rest.
    pub fn new(layout: &'static McLayout, chip: &str) -> Bus {
        Bus {
            layout,
            mc: Space::new(
                &REGISTERS,
                "memory controller register",
                layout.domain,
                chip,
                1,
                0x100,
            ),
            pcie: Space::new(&REGISTERS, "PCIE register", domain::PCIE, chip, 1, 0x800),
            gart: Gart::default(),
            caches: Caches::default(),
            scanouts: [None; 2],
            busy: 0,
            journal: Journal::default(),
        }
    }

    /// Go back to the state after power-on.
    pub fn reset(&mut self) {
        self.mc.reset();
        self.pcie.reset();
        self.gart = Gart::default();
        self.caches = Caches::default();
        self.scanouts = [None; 2];
        self.busy = 0;
    }

    /// Return where VRAM lies: first and last GPU address.
    pub fn frame_buffer(&self) -> (u64, u64) {
        let location = self.mc.get(self.layout.fb_location);
        (
            u64::from(location & 0xffff) << 16,
            (u64::from(location >> 16) << 16) | 0xffff,
        )
    }

    /// Return what is wrong with the AGP aperture, for which a PCI Express card has no use: what it lies over.
    pub fn agp_over(&self) -> Option<&'static str> {
        let location = self.mc.get(self.layout.agp_location);
        let (start, top) = (
            u64::from(location & 0xffff) << 16,
            u64::from(location >> 16) << 16,
        );
        // One whose start is not below its top is off.
        let over = |first: u64, last: u64| start < top && start <= last && first <= top | 0xffff;
        let (fb, fb_end) = self.frame_buffer();
        if over(fb, fb_end) {
            return Some("VRAM");
        }
        Window::of(&self.pcie)
            .is_some_and(|window| over(window.start, window.end))
            .then_some("the GART window")
    }

    /// Judge a write to a register of the GART, which must not move where it translates to while it does.
    pub fn judge_gart(&self, m: &mut Machine, register: u32, value: u32) {
        const PLACES: [u32; 5] = [
            pcie::PCIE_TX_GART_START_LO,
            pcie::PCIE_TX_GART_START_HI,
            pcie::PCIE_TX_GART_END_LO,
            pcie::PCIE_TX_GART_END_HI,
            pcie::PCIE_TX_GART_BASE,
        ];
        let moves = PLACES.contains(&register) && self.pcie.get(register) != value;
        if moves && Window::of(&self.pcie).is_some() {
            m.finding(
                kind::GART_MOVED,
                format_args!("PCIE register {register:#x} = {value:#010x} while GART_EN is set"),
            );
        }
    }

    /// Judge a write to a register of the memory controller, while command streams are on or not.
    pub fn judge_mc(&self, m: &mut Machine, register: u32, value: u32, streams: bool) {
        let moves = [self.layout.fb_location, self.layout.agp_location].contains(&register);
        let why = match (self.busy != 0, streams) {
            (true, _) => "while it is busy",
            (_, true) => "while command streams are on",
            _ => return,
        };
        if moves {
            m.finding(
                kind::MC_BUSY,
                format_args!("memory controller register {register:#x} = {value:#010x} {why}"),
            );
        }
    }

    /// Read bytes at a GPU address; what hits nothing reads as ones.
    pub fn read(&mut self, m: &mut Machine, unit: Unit, address: u32, bytes: &mut [u8]) {
        self.judge(m, unit, address, bytes.len(), "read");
        if let Some(holder) = self.caches.holder(unit, address.into(), bytes.len() as u64) {
            m.finding(
                kind::STALE_READ,
                format_args!("{unit:?} reads {address:#010x}, which is still in {holder}"),
            );
        }
        let mut at = u64::from(address);
        for piece in split_mut(address.into(), bytes) {
            let done = match self.translate(m, at, false) {
                Ok(Target::Vram(offset)) => m
                    .vram
                    .read(offset, piece)
                    .then_some(())
                    .ok_or_else(|| beyond(at, offset)),
                Ok(Target::Ram(bus)) => {
                    if !m.functions[0].pci.bus_master() {
                        Err((kind::BUS_MASTER_OFF, format!("read of {bus:#x}")))
                    } else {
                        m.functions[0]
                            .ram
                            .read(bus, piece)
                            .then_some(())
                            .ok_or_else(|| no_ram(at, bus))
                    }
                }
                Err(miss) => Err(miss),
            };
            if let Err((kind, text)) = done {
                piece.fill(0xff);
                m.finding(kind, format_args!("{unit:?}: {text}"));
            }
            at += piece.len() as u64;
        }
    }

    /// Write bytes at a GPU address; what hits nothing is lost.
    pub fn write(&mut self, m: &mut Machine, unit: Unit, address: u32, bytes: &[u8]) {
        self.judge(m, unit, address, bytes.len(), "write");
        let len = bytes.len() as u64;
        for s in self.scanouts.into_iter().flatten() {
            let a = u64::from(address);
            if unit.is_engine() && a < s.start + s.len && s.start < a + len {
                m.finding(
                    kind::SCANOUT_OVERWRITTEN,
                    format_args!("{unit:?} writes {address:#010x}"),
                );
            }
        }
        let mut at = u64::from(address);
        for piece in split(address.into(), bytes) {
            let done = match self.translate(m, at, true) {
                Ok(Target::Vram(offset)) => {
                    if m.vram.write(offset, piece) {
                        self.caches.vram_written(offset, piece.len() as u64);
                        Ok(())
                    } else {
                        Err(beyond(at, offset))
                    }
                }
                Ok(Target::Ram(bus)) => {
                    if !m.functions[0].pci.bus_master() {
                        Err((kind::BUS_MASTER_OFF, format!("write of {bus:#x}")))
                    } else {
                        m.functions[0]
                            .ram
                            .write(bus, piece)
                            .then_some(())
                            .ok_or_else(|| no_ram(at, bus))
                    }
                }
                Err(miss) => Err(miss),
            };
            match done {
                Ok(()) => self.caches.written(unit, at, piece.len() as u64),
                Err((kind, text)) => m.finding(kind, format_args!("{unit:?}: {text}")),
            }
            at += piece.len() as u64;
        }
    }

    /// Read a dword.
    pub fn read32(&mut self, m: &mut Machine, unit: Unit, address: u32) -> u32 {
        let mut word = [0; 4];
        self.read(m, unit, address, &mut word);
        u32::from_le_bytes(word)
    }

    /// Write a dword.
    pub fn write32(&mut self, m: &mut Machine, unit: Unit, address: u32, value: u32) {
        self.write(m, unit, address, &value.to_le_bytes());
    }

    /// Judge that something in memory tells the CPU that work is done. What the CPU will look at must have left the
    /// caches.
    pub fn completion(&mut self, m: &mut Machine, how: &str) {
        if let Some(address) = self.caches.dirty() {
            m.finding(
                kind::COMPLETION_BEFORE_FLUSH,
                format_args!("{how}, with {address:#010x} in a destination cache"),
            );
            self.caches.clear();
        }
        if let Some(offset) = self.caches.host_dirty() {
            m.finding(
                kind::COMPLETION_BEFORE_HDP_INVALIDATE,
                format_args!("{how}, with VRAM {offset:#x} drawn to"),
            );
            self.caches.invalidate_host();
        }
    }

    fn judge(&mut self, m: &mut Machine, unit: Unit, address: u32, len: usize, what: &str) {
        if !unit.is_engine() {
            return;
        }
        let start = u64::from(address);
        let write = what == "write";
        self.journal.add(
            &m.objects,
            Who::Unit(unit),
            write,
            start,
            start + len as u64,
        );
        if !m.in_object(SPACE, start, len as u64) {
            m.finding(
                kind::OUTSIDE_OBJECTS,
                format_args!("{unit:?} {what} of {len} bytes at {address:#010x}"),
            );
        }
    }

    /// Judge what the units of the 3D engine may touch in a draw, as if they did.
    pub fn touch(&mut self, m: &mut Machine, areas: &[Area]) {
        for area in areas {
            self.touch_area(m, area);
        }
        for area in areas {
            self.caches.filled(area.client);
        }
        for area in areas.iter().filter(|a| a.write) {
            self.caches.drawn(area.client, area.runs);
            let (start, end) = self.frame_buffer();
            if area.runs.start >= start && area.runs.start <= end {
                self.caches.vram_drawn(Runs {
                    start: area.runs.start - start,
                    ..area.runs
                });
            }
        }
        for area in areas
            .iter()
            .filter(|a| matches!(a.client, Client::Texture(_)))
        {
            // A draw that also writes where it may read from knows what it does.
            if !areas.iter().any(|w| w.write && w.runs.meets(&area.runs)) {
                self.caches.texture_fetched(area.runs);
            }
        }
    }

    fn touch_area(&mut self, m: &mut Machine, area: &Area) {
        let runs = &area.runs;
        if runs.is_empty() {
            return;
        }
        let (start, end) = (runs.start, runs.end());
        if self.journal.on() {
            for write in [false, true] {
                if if write { area.write } else { area.read } {
                    let who = Who::Client(area.client);
                    self.journal.add(&m.objects, who, write, start, end);
                }
            }
        }
        // First and last byte are touched, and an object has no gaps: what holds both holds all.
        if !m.in_object(SPACE, start, end - start) {
            m.finding(kind::OUTSIDE_OBJECTS, format_args!("{area}"));
        }
        if let Some((kind, text)) = self.unreachable(m, area) {
            m.finding(kind, format_args!("{area}: {text}"));
        }
        if area.read {
            if let Some(holder) = self.caches.holder_of(area.client, runs) {
                m.finding(
                    kind::STALE_READ,
                    format_args!("{area}, some of which is still in {holder}"),
                );
            }
        }
        if matches!(area.client, Client::Texture(_)) && self.caches.texture_outdated(runs) {
            m.finding(
                kind::STALE_READ,
                format_args!(
                    "{area}, some of which has changed since it went to the texture cache"
                ),
            );
        }
        for s in self.scanouts.into_iter().flatten() {
            if area.write && runs.touches(s.start, s.start + s.len) {
                m.finding(kind::SCANOUT_OVERWRITTEN, format_args!("{area}"));
            }
        }
    }

    /// Return the first reason why not all of an area can be reached.
    fn unreachable(&mut self, m: &mut Machine, area: &Area) -> Option<Miss> {
        let (start, end) = (area.runs.start, area.runs.end());
        if end > 1 << 32 {
            return Some((
                kind::ADDRESS_UNMAPPED,
                format!("{end:#x} is beyond 32 bits of address"),
            ));
        }
        let (fb, fb_end) = self.frame_buffer();
        if start >= fb && end - 1 <= fb_end {
            return (end - fb > m.vram.len()).then(|| beyond(end - 1, end - 1 - fb));
        }
        let mut last = None;
        for (from, to) in area.runs.iter() {
            for page in from / PAGE..=(to - 1) / PAGE {
                if last.replace(page) == Some(page) {
                    continue;
                }
                let at = from.max(page * PAGE);
                for write in [false, true] {
                    if !if write { area.write } else { area.read } {
                        continue;
                    }
                    match self.translate(m, at, write) {
                        Ok(Target::Vram(offset)) if offset >= m.vram.len() => {
                            return Some(beyond(at, offset));
                        }
                        Ok(Target::Vram(_)) => {}
                        Ok(Target::Ram(bus)) if !m.functions[0].pci.bus_master() => {
                            return Some((kind::BUS_MASTER_OFF, format!("{bus:#x}")));
                        }
                        Ok(Target::Ram(bus)) => {
                            if !m.functions[0].ram.read(bus, &mut [0]) {
                                return Some(no_ram(at, bus));
                            }
                        }
                        Err(miss) => return Some(miss),
                    }
                }
            }
        }
        None
    }

    fn translate(&mut self, m: &mut Machine, address: u64, write: bool) -> Result<Target, Miss> {
        let (start, end) = self.frame_buffer();
        if address >= start && address <= end {
            return Ok(Target::Vram(address - start));
        }
        let unmapped = |why: &str| Err((kind::ADDRESS_UNMAPPED, format!("{address:#010x} {why}")));
        let Some(window) = Window::of(&self.pcie) else {
            return unmapped("is not VRAM, and the GART is off");
        };
        let Some(page) = window.page(address) else {
            return unmapped("is neither VRAM nor in the GART window");
        };
        let entry_at = window.table + u64::from(page) * 4;
        let mut word = [0; 4];
        if entry_at < start || entry_at > end || !m.vram.read(entry_at - start, &mut word) {
            return Err((
                kind::GART_TABLE,
                format!("the entry for {address:#010x} would lie at {entry_at:#010x}"),
            ));
        }
        let (entry, stale) = self.gart.look_up(page, u32::from_le_bytes(word));
        if stale {
            let now = u32::from_le_bytes(word);
            m.finding(
                kind::GART_STALE_TLB,
                format_args!(
                    "{address:#010x}: the TLB has {:#010x}, the table {now:#010x}",
                    entry.0
                ),
            );
        }
        if (write && !entry.writable()) || (!write && !entry.readable()) {
            let way = if write { "written" } else { "read" };
            let latch = self.pcie.get(pcie::PCIE_TX_GART_ERROR) | 1;
            self.pcie.set(pcie::PCIE_TX_GART_ERROR, latch);
            return Err((
                kind::GART_FAULT,
                format!("{address:#010x} may not be {way}, entry {:#010x}", entry.0),
            ));
        }
        Ok(Target::Ram(entry.page() | (address & (PAGE - 1))))
    }
}

fn beyond(address: u64, offset: u64) -> Miss {
    (
        kind::ADDRESS_UNMAPPED,
        format!("{address:#010x} is VRAM {offset:#x}, beyond its end"),
    )
}

fn no_ram(address: u64, bus: u64) -> Miss {
    (
        kind::DMA_FAULT,
        format!("{address:#010x} leads to bus address {bus:#x}, where there is no memory"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use lapidary_model::memory::Vram;
    use lapidary_model::pci::Facts;

    const FB: u32 = 0xc000_0000;

    fn set_up() -> (Machine, Bus) {
        let mut m = Machine::new(Vram::new(1 << 20).unwrap(), &[Facts::default()]);
        m.functions[0].pci.write(4, &[6]);
        m.functions[0]
            .ram
            .map_anonymous(0x1_0000_0000, 0x10000)
            .unwrap();
        let mut bus = Bus::new(&MC_RV515, "rv515");
        bus.mc.set(mc_rv515::MC_FB_LOCATION, 0xc00f_c000);
        bus.pcie.set(pcie::PCIE_TX_GART_BASE, FB + 0x8000);
        bus.pcie.set(pcie::PCIE_TX_GART_START_LO, 0x1000_0000);
        bus.pcie.set(pcie::PCIE_TX_GART_END_LO, 0x1000_3000);
        bus.pcie.set(
            pcie::PCIE_TX_GART_CNTL,
            pcie::pcie_tx_gart_cntl::GART_EN.mask(),
        );
        // Pages 0 and 1 lead to RAM in exchanged order, page 2 may only be read, page 3 is not mapped.
        for (page, entry) in [
            (0u64, 0x0100_001cu32),
            (1, 0x0100_000c),
            (2, 0x0100_0028),
            (3, 0),
        ] {
            m.vram.write(0x8000 + page * 4, &entry.to_le_bytes());
        }
        (m, bus)
    }

    #[test]
    fn vram_and_gart_are_reached() {
        let (mut m, mut bus) = set_up();
        bus.write(&mut m, Unit::Cp, FB + 0x100, &[1, 2, 3, 4]);
        assert_eq!(bus.read32(&mut m, Unit::Cp, FB + 0x100), 0x0403_0201);
        bus.write(&mut m, Unit::Cp, 0x1000_0ffc, &[1, 1, 1, 1, 2, 2, 2, 2]);
        let mut word = [0; 4];
        assert!(m.functions[0].ram.read(0x1_0000_1ffc, &mut word));
        assert_eq!(word, [1; 4]);
        assert!(m.functions[0].ram.read(0x1_0000_0000, &mut word));
        assert_eq!(word, [2; 4], "the second page lies elsewhere");
        assert!(m.judge.take().is_empty());
    }

    #[test]
    fn what_hits_nothing_is_found() {
        let (mut m, mut bus) = set_up();
        assert_eq!(bus.read32(&mut m, Unit::Cp, 0x5000_0000), u32::MAX);
        assert_eq!(m.judge.count(kind::ADDRESS_UNMAPPED), 1);
        bus.write32(&mut m, Unit::Cp, 0x1000_2000, 7);
        bus.read32(&mut m, Unit::Cp, 0x1000_3000);
        assert_eq!(m.judge.count(kind::GART_FAULT), 2);
        bus.read32(&mut m, Unit::Cp, 0x1000_2000);
        assert_eq!(m.judge.count(kind::GART_FAULT), 2);
        bus.read32(&mut m, Unit::Cp, FB + 0xf_fffe);
        bus.read32(&mut m, Unit::Cp, u32::MAX);
        m.functions[0].pci.write(4, &[2]);
        bus.read32(&mut m, Unit::Cp, 0x1000_0000);
        assert_eq!(m.judge.count(kind::BUS_MASTER_OFF), 1);
    }

    #[test]
    fn an_entry_without_memory_behind_it() {
        let (mut m, mut bus) = set_up();
        m.vram.write(0x8000, &0x0200_000cu32.to_le_bytes());
        assert_eq!(bus.read32(&mut m, Unit::Cp, 0x1000_0000), u32::MAX);
        assert_eq!(m.judge.count(kind::DMA_FAULT), 1);
    }

    #[test]
    fn a_changed_entry_needs_an_invalidation() {
        let (mut m, mut bus) = set_up();
        bus.read32(&mut m, Unit::Cp, 0x1000_0000);
        m.vram.write(0x8000, &0x0100_000cu32.to_le_bytes());
        bus.read32(&mut m, Unit::Cp, 0x1000_0000);
        assert_eq!(m.judge.count(kind::GART_STALE_TLB), 1);
        bus.gart.invalidate();
        bus.read32(&mut m, Unit::Cp, 0x1000_0000);
        assert_eq!(m.judge.count(kind::GART_STALE_TLB), 1);
    }

    #[test]
    fn caches_are_judged() {
        let (mut m, mut bus) = set_up();
        bus.write(&mut m, Unit::Engine2d, FB + 0x100, &[0; 16]);
        bus.read32(&mut m, Unit::Engine2d, FB + 0x100);
        assert!(m.judge.take().is_empty());
        bus.read32(&mut m, Unit::Fetch, FB + 0x100);
        assert_eq!(m.judge.count(kind::STALE_READ), 1);
        bus.completion(&mut m, "test");
        assert_eq!(m.judge.count(kind::COMPLETION_BEFORE_FLUSH), 1);
        bus.write(&mut m, Unit::Engine2d, FB + 0x100, &[0; 16]);
        bus.caches.flush_2d();
        m.judge.take();
        bus.completion(&mut m, "test");
        assert_eq!(m.judge.count(kind::COMPLETION_BEFORE_FLUSH), 0);
        assert_eq!(m.judge.count(kind::COMPLETION_BEFORE_HDP_INVALIDATE), 1);
    }

    #[test]
    fn declared_objects_bound_the_engines() {
        let (mut m, mut bus) = set_up();
        m.objects.push(lapidary_model::machine::Object {
            space: SPACE,
            start: u64::from(FB) + 0x1000,
            len: 0x100,
            name: "a".into(),
        });
        bus.write(&mut m, Unit::Engine2d, FB + 0x1000, &[0; 0x100]);
        bus.write(&mut m, Unit::Cp, FB, &[0; 4]);
        assert_eq!(m.judge.count(kind::OUTSIDE_OBJECTS), 0);
        bus.write(&mut m, Unit::Engine2d, FB + 0x1000, &[0; 0x101]);
        assert_eq!(m.judge.count(kind::OUTSIDE_OBJECTS), 1);
    }

    #[test]
    fn the_scanout_is_protected() {
        let (mut m, mut bus) = set_up();
        bus.scanouts[1] = Some(Scanout {
            start: FB.into(),
            len: 0x1000,
        });
        bus.write(&mut m, Unit::Engine2d, FB + 0xfff, &[0; 4]);
        assert_eq!(m.judge.count(kind::SCANOUT_OVERWRITTEN), 1);
        bus.write(&mut m, Unit::Engine2d, FB + 0x1000, &[0; 4]);
        assert_eq!(m.judge.count(kind::SCANOUT_OVERWRITTEN), 1);
    }
}
