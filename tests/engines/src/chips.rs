// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The names of chips.

/// Return a chip's name by its PCI id (public lists of the kernel's `radeon` driver).
pub fn name(id: u32) -> &'static str {
    match id {
        0x7100..=0x710f => "R520",
        0x7140..=0x715f | 0x7180..=0x719f | 0x7200 | 0x7210 | 0x7211 => "RV515",
        0x71c0..=0x71df => "RV530",
        0x7240..=0x724f | 0x7284 => "R580",
        0x7280 | 0x7288 | 0x7289 | 0x728b | 0x728c => "RV570",
        0x7281 | 0x7283 | 0x7287 | 0x7290 | 0x7291 | 0x7293 | 0x7297 => "RV560",
        0x9400..=0x940f => "R600",
        0x9440..=0x946b => "RV770",
        0x9480..=0x949f => "RV730",
        0x94a0..=0x94bf => "RV740",
        0x94c0..=0x94cd => "RV610",
        0x9500..=0x951f => "RV670",
        0x9540..=0x955f => "RV710",
        0x9590..=0x959f => "RV635",
        _ => "unknown",
    }
}
