// SPDX-License-Identifier: GPL-2.0 OR MIT

//! GPU addresses: what the units of the chip see behind the memory controller.
//!
//! A GPU address has 40 bits. MC_VM_FB_LOCATION says where VRAM lies among them. What lies in the system aperture goes
//! to the memory controller as it is. Everything else goes through VM context 0 if its window holds it (see
//! [`super::vm`]). An access that hits nothing is a finding; a read of it yields all ones.

use lapidary_model::amd::display::Scanout;
use lapidary_model::machine::{Machine, SPACE};
use lapidary_model::memory::{split, split_mut};
use lapidary_model::registers::Space;
use lapidary_registers::r600::{mmio, mmio_r6xx, mmio_r7xx};

use crate::hdp::ReadAhead;
use crate::kind::{self, Kind};
use crate::touched::{By, Detail, Journal, Who};
use crate::unit::Unit;
use crate::vm::{ENTRY, PAGE, Tlb, Window};

/// Where the two register maps have the registers of the memory controller.
pub struct Layout {
    /// MC_VM_FB_LOCATION.
    pub fb_location: u32,
    /// MC_VM_SYSTEM_APERTURE_LOW_ADDR and MC_VM_SYSTEM_APERTURE_HIGH_ADDR.
    pub system: [u32; 2],
    /// MC_VM_AGP_BOT and MC_VM_AGP_TOP.
    pub agp: [u32; 2],
    /// VM_CONTEXT0_PAGE_TABLE_START_ADDR, VM_CONTEXT0_PAGE_TABLE_END_ADDR, VM_CONTEXT0_PAGE_TABLE_BASE_ADDR.
    pub window: [u32; 3],
    /// The register whose BLACKOUT closes the memory controller.
    pub citf_cntl: u32,
}

/// R6xx.
pub static R6XX: Layout = Layout {
    fb_location: mmio_r6xx::MC_VM_FB_LOCATION,
    system: [
        mmio_r6xx::MC_VM_SYSTEM_APERTURE_LOW_ADDR,
        mmio_r6xx::MC_VM_SYSTEM_APERTURE_HIGH_ADDR,
    ],
    agp: [mmio_r6xx::MC_VM_AGP_BOT, mmio_r6xx::MC_VM_AGP_TOP],
    window: [
        mmio_r6xx::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
        mmio_r6xx::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
        mmio_r6xx::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
    ],
    citf_cntl: mmio_r6xx::CITF_CNTL,
};

/// R7xx.
pub static R7XX: Layout = Layout {
    fb_location: mmio_r7xx::MC_VM_FB_LOCATION,
    system: [
        mmio_r7xx::MC_VM_SYSTEM_APERTURE_LOW_ADDR,
        mmio_r7xx::MC_VM_SYSTEM_APERTURE_HIGH_ADDR,
    ],
    agp: [mmio_r7xx::MC_VM_AGP_BOT, mmio_r7xx::MC_VM_AGP_TOP],
    window: [
        mmio_r7xx::VM_CONTEXT0_PAGE_TABLE_START_ADDR,
        mmio_r7xx::VM_CONTEXT0_PAGE_TABLE_END_ADDR,
        mmio_r7xx::VM_CONTEXT0_PAGE_TABLE_BASE_ADDR,
    ],
    citf_cntl: mmio_r7xx::MC_CITF_CNTL,
};

/// The memory side of the chip, besides its registers.
pub struct Bus {
    layout: &'static Layout,
    /// What the TLBs hold.
    pub tlb: Tlb,
    /// What the CPU may still see of old bytes.
    pub read_ahead: ReadAhead,
    /// What each CRTC reads.
    pub scanouts: [Option<Scanout>; 2],
    /// What engines have touched.
    pub journal: Journal,
    /// How fine the journal is.
    pub detail: Detail,
    /// The packet that is executed, by its position in the first-level indirect buffer, in dwords.
    pub packet: Option<u32>,
    /// Where VRAM lies, first and last GPU address.
    frame_buffer: (u64, u64),
    /// What goes to the memory controller as it is.
    system: (u64, u64),
    /// The window of VM context 0, if it is open.
    window: Option<Window>,
    /// The memory controller is closed to clients.
    blackout: bool,
}

/// What a GPU address leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An offset in VRAM.
    Vram(u64),
    /// An address on the bus.
    Ram(u64),
}

/// A reason why it leads nowhere.
pub type Miss = (Kind, String);

impl Bus {
    /// Return a memory side at rest.
    pub fn new(layout: &'static Layout) -> Bus {
        Bus {
            layout,
            tlb: Tlb::default(),
            read_ahead: ReadAhead::default(),
            scanouts: [None; 2],
            journal: Journal::default(),
            detail: Detail::default(),
            packet: None,
            frame_buffer: (0, 0),
            system: (0, 0),
            window: None,
            blackout: false,
        }
    }

    /// Return the places of its registers.
    pub fn layout(&self) -> &'static Layout {
        self.layout
    }

    /// Return where VRAM lies: first and last GPU address.
    pub fn frame_buffer(&self) -> (u64, u64) {
        self.frame_buffer
    }

    /// Return the window of VM context 0, if it is open.
    pub fn window(&self) -> Option<Window> {
        self.window
    }

    /// Return whether a register decides where addresses lead.
    pub fn is_place(&self, register: u32) -> bool {
        let l = self.layout;
        register == l.fb_location
            || register == l.citf_cntl
            || register == mmio::VM_CONTEXT_CNTL.base()
            || [l.system, l.agp].concat().contains(&register)
            || l.window.contains(&register)
    }

    /// Take over what the registers say.
    pub fn configure(&mut self, regs: &Space) {
        let l = self.layout;
        self.tlb.moved();
        self.blackout = mmio_r7xx::mc_citf_cntl::BLACKOUT.any(regs.get(l.citf_cntl));
        let location = regs.get(l.fb_location);
        self.frame_buffer = (
            u64::from(location & 0xffff) << 24,
            (u64::from(location >> 16) << 24) | 0xff_ffff,
        );
        let page = |register| u64::from(regs.get(register)) << 12;
        self.system = (page(l.system[0]), page(l.system[1]) | (PAGE - 1));
        let open =
            mmio::vm_context_cntl::ENABLE_CONTEXT.any(regs.get(mmio::VM_CONTEXT_CNTL.base()));
        self.window = open.then(|| Window {
            start: page(l.window[0]),
            end: page(l.window[1]) | (PAGE - 1),
            table: page(l.window[2]),
        });
    }

    /// Read bytes at a GPU address; what hits nothing reads as ones.
    pub fn read(&mut self, m: &mut Machine, unit: Unit, address: u64, bytes: &mut [u8]) {
        self.judge(m, unit, address, bytes.len(), false);
        let mut at = address;
        for piece in split_mut(address, bytes) {
            let done = self
                .translate(m, at, false)
                .and_then(|target| match target {
                    Target::Vram(offset) => inside(m.vram.read(offset, piece), at, offset),
                    Target::Ram(bus) if !m.functions[0].pci.bus_master() => Err(no_master(bus)),
                    Target::Ram(bus) => there(m.functions[0].ram.read(bus, piece), at, bus),
                });
            if let Err((kind, text)) = done {
                piece.fill(0xff);
                m.finding(kind, format_args!("{unit} reads: {text}"));
            }
            at += piece.len() as u64;
        }
    }

    /// Write bytes at a GPU address; what hits nothing is lost.
    pub fn write(&mut self, m: &mut Machine, unit: Unit, address: u64, bytes: &[u8]) {
        self.judge(m, unit, address, bytes.len(), true);
        let end = address + bytes.len() as u64;
        for s in self.scanouts.into_iter().flatten() {
            if unit.is_engine() && address < s.start + s.len && s.start < end {
                m.finding(
                    kind::SCANOUT_OVERWRITTEN,
                    format_args!("{unit} writes {address:#012x}"),
                );
            }
        }
        let mut at = address;
        for piece in split(address, bytes) {
            let done = self.translate(m, at, true).and_then(|target| match target {
                Target::Vram(offset) => {
                    self.read_ahead.written(offset, piece.len() as u64);
                    inside(m.vram.write(offset, piece), at, offset)
                }
                Target::Ram(bus) if !m.functions[0].pci.bus_master() => Err(no_master(bus)),
                Target::Ram(bus) => there(m.functions[0].ram.write(bus, piece), at, bus),
            });
            if let Err((kind, text)) = done {
                m.finding(kind, format_args!("{unit} writes: {text}"));
            }
            at += piece.len() as u64;
        }
    }

    /// Read a dword.
    pub fn read32(&mut self, m: &mut Machine, unit: Unit, address: u64) -> u32 {
        let mut word = [0; 4];
        self.read(m, unit, address, &mut word);
        u32::from_le_bytes(word)
    }

    /// Write a dword.
    pub fn write32(&mut self, m: &mut Machine, unit: Unit, address: u64, value: u32) {
        self.write(m, unit, address, &value.to_le_bytes());
    }

    /// Enter an access in the journal, and judge whether it is that of an object.
    fn judge(&mut self, m: &mut Machine, unit: Unit, address: u64, len: usize, write: bool) {
        if !unit.is_engine() {
            return;
        }
        if self.journal.on() {
            let who = self.who(By::Unit(unit));
            let end = address + len as u64;
            self.journal.add(&m.objects, who, write, address, end);
        }
        if !m.in_object(SPACE, address, len as u64) {
            let how = if write { "writes" } else { "reads" };
            m.finding(
                kind::OUTSIDE_OBJECTS,
                format_args!("{unit} {how} {len} bytes at {address:#012x}"),
            );
        }
    }

    /// Return how the journal names a unit that acts for the present packet.
    pub fn who(&self, by: By) -> Who {
        let packet = self.packet.filter(|_| self.detail == Detail::Packet);
        Who { by, packet }
    }

    /// Return whether all addresses from one to another go to the frame buffer as they are.
    pub fn is_vram(&self, first: u64, last: u64) -> bool {
        let inside = |(start, end): (u64, u64)| first >= start && last <= end;
        inside(self.system) && inside(self.frame_buffer)
    }

    /// Return what an address leads to. That the TLB has an old entry for it is a finding.
    ///
    /// # Errors
    /// Why it leads nowhere.
    pub fn translate(
        &mut self,
        m: &mut Machine,
        address: u64,
        write: bool,
    ) -> Result<Target, Miss> {
        let mut stale = None;
        let found = self.look_up(m, address, write, &mut stale);
        if let Some((kind, text)) = stale {
            m.finding(kind, format_args!("{text}"));
        }
        found
    }

    /// Return what an address leads to, and in `stale` that the TLB has an old entry for it.
    ///
    /// # Errors
    /// Why it leads nowhere.
    pub fn look_up(
        &mut self,
        m: &Machine,
        address: u64,
        write: bool,
        stale: &mut Option<Miss>,
    ) -> Result<Target, Miss> {
        if self.blackout {
            return Err((kind::MC_BLACKOUT, format!("{address:#012x}")));
        }
        let (start, end) = self.frame_buffer;
        let in_system = address >= self.system.0 && address <= self.system.1;
        if in_system {
            return if address >= start && address <= end {
                Ok(Target::Vram(address - start))
            } else {
                Err(unmapped(address, "is in the system aperture and not VRAM"))
            };
        }
        let Some(window) = self.window else {
            return Err(unmapped(
                address,
                "is outside of the system aperture, and VM context 0 is off",
            ));
        };
        let Some(page) = window.page(address) else {
            return Err(unmapped(
                address,
                "is neither in the system aperture nor in VM context 0",
            ));
        };
        let entry_at = window.table + page * ENTRY;
        let mut bytes = [0; ENTRY as usize];
        let offset = entry_at.checked_sub(start).filter(|_| entry_at <= end);
        if !offset.is_some_and(|offset| m.vram.read(offset, &mut bytes)) {
            return Err((
                kind::VM_TABLE,
                format!("the entry for {address:#012x} would lie at {entry_at:#012x}"),
            ));
        }
        let now = u64::from_le_bytes(bytes);
        let (entry, old) = self.tlb.look_up(page, now);
        if old {
            let entry = entry.0;
            let text = format!("{address:#012x}: the TLB has {entry:#018x}, the table {now:#018x}");
            *stale = Some((kind::VM_STALE_TLB, text));
        }
        if (write && !entry.writable()) || (!write && !entry.readable()) {
            let way = if write { "written" } else { "read" };
            return Err((
                kind::VM_FAULT,
                format!("{address:#012x} may not be {way}, entry {:#018x}", entry.0),
            ));
        }
        let at = entry.page() | (address & (PAGE - 1));
        if entry.system() {
            return Ok(Target::Ram(at));
        }
        if at < start || at > end {
            return Err(unmapped(at, "is what an entry for VRAM leads to"));
        }
        Ok(Target::Vram(at - start))
    }
}

fn unmapped(address: u64, why: &str) -> Miss {
    (kind::ADDRESS_UNMAPPED, format!("{address:#012x} {why}"))
}

fn no_master(bus: u64) -> Miss {
    (kind::BUS_MASTER_OFF, format!("{bus:#x}"))
}

fn inside(done: bool, address: u64, offset: u64) -> Result<(), Miss> {
    done.then_some(()).ok_or_else(|| {
        (
            kind::ADDRESS_UNMAPPED,
            format!("{address:#012x} is VRAM {offset:#x}, beyond its end"),
        )
    })
}

fn there(done: bool, address: u64, bus: u64) -> Result<(), Miss> {
    done.then_some(()).ok_or_else(|| {
        (
            kind::DMA_FAULT,
            format!("{address:#012x} leads to bus address {bus:#x}, where there is no memory"),
        )
    })
}
