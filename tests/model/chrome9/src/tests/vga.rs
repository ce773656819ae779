// SPDX-License-Identifier: GPL-2.0 OR MIT

//! VGA: registers behind an index, and ports of their own.

use lapidary_model::chip::{Chip, State};
use lapidary_registers::chrome9::mmio::{self, vga_graphics, vga_status};

use super::Bench;
use crate::kind;

/// Where a port lies.
const fn place(port: u32) -> u32 {
    0x8000 + port
}

impl Bench {
    /// Write a byte to a port.
    fn out(&mut self, port: u32, value: u32) {
        let shift = 8 * (port & 3);
        let dword = place(port) & !3;
        self.chip
            .write(&mut self.m, dword, value << shift, 0xff << shift);
    }

    /// Read a byte from a port.
    fn inb(&mut self, port: u32) -> u32 {
        (self.read(place(port) & !3) >> (8 * (port & 3))) & 0xff
    }
}

#[test]
fn registers_are_kept_behind_their_indices() {
    let mut b = Bench::new();
    for (index, data, register, name) in [
        (0x3c4, 0x3c5, 0x14, "SR10[4]"),
        (0x3ce, 0x3cf, 0x05, "GR00[5]"),
        (0x3d4, 0x3d5, 0x6b, "CRTC50[27]"),
    ] {
        b.out(index, register);
        b.out(data, 0xa5);
        b.out(index, register - 1);
        b.out(data, 0x5a);
        assert_eq!(b.inb(data), 0x5a, "{name}");
        b.out(index, register);
        assert_eq!((b.inb(index), b.inb(data)), (register, 0xa5), "{name}");
        assert_eq!(b.chip.peek(&b.m, name), Some(0xa5), "{name}");
    }
    assert_eq!(b.found(), []);
}

#[test]
fn the_attribute_controller_takes_index_and_data_in_turn() {
    let mut b = Bench::new();
    b.inb(0x3da);
    for value in [0x10, 0x41, 0x31, 0x42] {
        b.out(0x3c0, value);
    }
    assert_eq!(b.inb(0x3c1), 0x42);
    assert_eq!(b.chip.peek(&b.m, "AR00[16]"), Some(0x41));
    assert_eq!(b.chip.peek(&b.m, "AR00[17]"), Some(0x42));
    // After an index alone, reading the status begins anew.
    b.out(0x3c0, 0x12);
    b.inb(0x3da);
    b.out(0x3c0, 0x10);
    assert_eq!(b.inb(0x3c1), 0x41);
    assert_eq!(b.found(), []);
}

#[test]
fn single_ports_read_what_was_written_where_the_pc_has_them() {
    let mut b = Bench::new();
    b.out(0x3c2, 0xe3);
    b.out(0x3c3, 0x01);
    b.out(0x3c6, 0xff);
    b.out(0x3c8, 0x07);
    assert_eq!((b.inb(0x3cc), b.inb(0x3c2)), (0xe3, 0), "no monitor");
    assert_eq!((b.inb(0x3c3), b.inb(0x3c6), b.inb(0x3c8)), (1, 0xff, 7));
    b.chip.lose_power(&mut b.m);
    let misc = b.read(mmio::VGA_GRAPHICS);
    assert_eq!(vga_graphics::MISC_OUTPUT.get(misc), 0);
    assert_eq!(b.found(), []);
}

#[test]
fn the_status_shows_the_vertical_blank_of_a_lit_display() {
    let bits = vga_status::BLANK.mask() | vga_status::RETRACE.mask();
    let mut b = Bench::lit(State::Crtc);
    assert_eq!(b.read(mmio::VGA_STATUS), bits, "its first frame begins");
    assert_eq!(Bench::new().read(mmio::VGA_STATUS), 0, "dark");
}

#[test]
fn a_register_that_no_source_names_is_a_finding() {
    let mut b = Bench::new();
    b.out(0x3d4, 0x20);
    b.out(0x3d5, 1);
    assert_eq!(b.inb(0x3d5), 0);
    b.inb(0x3b4);
    assert_eq!(
        b.found(),
        [
            kind::UNDEFINED_REGISTER_READ,
            kind::UNDEFINED_REGISTER_READ,
            kind::UNDEFINED_REGISTER_WRITE,
        ]
    );
}
