// SPDX-License-Identifier: GPL-2.0 OR MIT

//! PCI configuration space of a graphics card: a type-0 header with VRAM, register and I/O BARs and an expansion
//! ROM, and the capabilities power management, PCI Express and MSI, at the places where R5xx cards have them.
//!
//! QEMU emulates most of what the guest writes here (BARs, MSI); the model needs the command register.

/// Offsets in configuration space that the model itself looks at (PCI Local Bus Specification 3.0, 6.1).
mod at {
    pub const COMMAND: usize = 0x04;
    pub const BAR0: usize = 0x10;
    pub const BAR2: usize = 0x18;
    pub const BAR4: usize = 0x20;
    pub const ROM: usize = 0x30;
    pub const PM: usize = 0x50;
    pub const PCIE: usize = 0x58;
    pub const MSI: usize = 0xa0;
}

const COMMAND_MASTER: u16 = 1 << 2;
const COMMAND_INTX_DISABLE: u16 = 1 << 10;

/// What identifies a function and how large its windows are.
#[derive(Clone, Copy, Debug)]
pub struct Identity {
    /// Vendor.
    pub vendor: u16,
    /// Device.
    pub device: u16,
    /// Revision.
    pub revision: u8,
    /// Size of BAR0 (prefetchable VRAM window) in bytes, a power of two.
    pub vram_bar: u64,
    /// Size of BAR2 (registers) in bytes, a power of two.
    pub register_bar: u64,
    /// Size of BAR4 (I/O ports) in bytes, a power of two, at most 256.
    pub io_bar: u64,
    /// Size of the expansion ROM in bytes, a power of two, or 0 for none.
    pub rom: u64,
}

/// 256 bytes of configuration space and which of their bits can be written.
pub struct Config {
    bytes: [u8; 256],
    writable: [u8; 256],
    /// Power-on values, for a reset.
    initial: [u8; 256],
}

impl Default for Config {
    fn default() -> Self {
        Config::new(&Identity {
            vendor: 0x1002,
            device: 0,
            revision: 0,
            vram_bar: 0x1000_0000,
            register_bar: 0x1_0000,
            io_bar: 0x100,
            rom: 0,
        })
    }
}

impl Config {
    /// The power-on state of a function.
    pub fn new(id: &Identity) -> Config {
        let mut c = Config {
            bytes: [0; 256],
            writable: [0; 256],
            initial: [0; 256],
        };
        c.put16(0x00, id.vendor);
        c.put16(0x02, id.device);
        c.put16(0x06, 0x0010); // capabilities list
        c.bytes[0x08] = id.revision;
        c.bytes[0x0a] = 0x80; // display controller, other
        c.bytes[0x0b] = 0x03;
        c.put16(0x2c, id.vendor);
        c.put16(0x2e, id.device);
        c.bytes[0x34] = at::PM as u8;
        c.bytes[0x3d] = 1; // INTA#
        c.allow16(at::COMMAND, 0x0547);
        c.writable[0x0c] = 0xff; // cache line size
        c.writable[0x3c] = 0xff; // interrupt line
        c.bar64(at::BAR0, id.vram_bar, 0xc);
        c.bar64(at::BAR2, id.register_bar, 0x4);
        if id.io_bar != 0 {
            c.put32(at::BAR4, 1);
            c.allow32(at::BAR4, !(id.io_bar as u32 - 1));
        }
        if id.rom != 0 {
            c.allow32(at::ROM, !(id.rom as u32 - 1) | 1);
        }
        // Power management 1.2: D1, D2 supported; the power state can be written.
        c.put16(at::PM, 0x01 | ((at::PCIE as u16) << 8));
        c.put16(at::PM + 2, 0x0602);
        c.allow16(at::PM + 4, 0x0003);
        // PCI Express, version 1 endpoint; 128-byte payload; link 2.5 GT/s, 16 lanes.
        c.put16(at::PCIE, 0x10 | ((at::MSI as u16) << 8));
        c.put16(at::PCIE + 2, 0x0001);
        c.put32(at::PCIE + 4, 0x0000_0fa0);
        c.put16(at::PCIE + 8, 0x0810);
        c.allow16(at::PCIE + 8, 0x78ff);
        c.put32(at::PCIE + 12, 0x0003_1d01);
        c.put16(at::PCIE + 16, 0x0000);
        c.allow16(at::PCIE + 16, 0x01fb);
        c.put16(at::PCIE + 18, 0x1101);
        // MSI: one vector, 64-bit address.
        c.put16(at::MSI, 0x05);
        c.put16(at::MSI + 2, 0x0080);
        c.allow16(at::MSI + 2, 0x0071);
        c.allow32(at::MSI + 4, 0xffff_fffc);
        c.allow32(at::MSI + 8, 0xffff_ffff);
        c.allow16(at::MSI + 12, 0xffff);
        c.initial = c.bytes;
        c
    }

    /// Reads bytes; beyond the 256 there are zeroes, as in the extended space of a function without such capabilities.
    pub fn read(&self, offset: usize, data: &mut [u8]) {
        for (i, b) in data.iter_mut().enumerate() {
            *b = offset
                .checked_add(i)
                .and_then(|o| self.bytes.get(o))
                .copied()
                .unwrap_or(0);
        }
    }

    /// Writes bytes; only writable bits change.
    pub fn write(&mut self, offset: usize, data: &[u8]) {
        for (i, b) in data.iter().enumerate() {
            let Some(o) = offset.checked_add(i).filter(|o| *o < 256) else {
                return;
            };
            let mask = self.writable[o];
            self.bytes[o] = self.bytes[o] & !mask | b & mask;
        }
    }

    /// Back to the power-on state.
    pub fn reset(&mut self) {
        self.bytes = self.initial;
    }

    /// Whether the function may go to the bus by itself.
    pub fn bus_master(&self) -> bool {
        self.command() & COMMAND_MASTER != 0
    }

    /// Whether the driver has forbidden INTx.
    pub fn intx_disabled(&self) -> bool {
        self.command() & COMMAND_INTX_DISABLE != 0
    }

    /// The power state, 0 for D0 to 3 for D3hot.
    pub fn power_state(&self) -> u8 {
        self.bytes[at::PM + 4] & 3
    }

    fn command(&self) -> u16 {
        u16::from_le_bytes([self.bytes[at::COMMAND], self.bytes[at::COMMAND + 1]])
    }

    fn put16(&mut self, o: usize, v: u16) {
        self.bytes[o..o + 2].copy_from_slice(&v.to_le_bytes());
    }

    fn put32(&mut self, o: usize, v: u32) {
        self.bytes[o..o + 4].copy_from_slice(&v.to_le_bytes());
    }

    fn allow16(&mut self, o: usize, v: u16) {
        self.writable[o..o + 2].copy_from_slice(&v.to_le_bytes());
    }

    fn allow32(&mut self, o: usize, v: u32) {
        self.writable[o..o + 4].copy_from_slice(&v.to_le_bytes());
    }

    fn bar64(&mut self, o: usize, size: u64, flags: u32) {
        let mask = !(size - 1);
        self.put32(o, flags);
        self.allow32(o, mask as u32);
        self.allow32(o + 4, (mask >> 32) as u32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read32(c: &Config, o: usize) -> u32 {
        let mut b = [0; 4];
        c.read(o, &mut b);
        u32::from_le_bytes(b)
    }

    #[test]
    fn bars_size_and_keep_their_type() {
        let mut c = Config::default();
        c.write(0x10, &[0xff; 8]);
        c.write(0x18, &[0xff; 8]);
        c.write(0x20, &[0xff; 4]);
        assert_eq!(read32(&c, 0x10), 0xf000_000c);
        assert_eq!(read32(&c, 0x14), 0xffff_ffff);
        assert_eq!(read32(&c, 0x18), 0xffff_0004);
        assert_eq!(read32(&c, 0x20), 0xffff_ff01);
        c.reset();
        assert_eq!(read32(&c, 0x10), 0xc);
    }

    #[test]
    fn capabilities_are_linked() {
        let c = Config::default();
        let mut at = read32(&c, 0x34) as usize & 0xff;
        let mut ids = vec![];
        while at != 0 {
            let word = read32(&c, at);
            ids.push(word & 0xff);
            at = (word as usize >> 8) & 0xff;
        }
        assert_eq!(ids, [0x01, 0x10, 0x05]);
    }

    #[test]
    fn identity_cannot_be_written_and_command_can() {
        let mut c = Config::default();
        c.write(0, &[0; 4]);
        assert_eq!(read32(&c, 0) & 0xffff, 0x1002);
        assert!(!c.bus_master());
        c.write(4, &[4, 4]);
        assert!(c.bus_master() && c.intx_disabled());
        c.write(255, &[1, 2, 3]);
        let mut b = [9; 4];
        c.read(usize::MAX, &mut b);
        assert_eq!(b[1..], [0, 0, 0]);
    }
}
