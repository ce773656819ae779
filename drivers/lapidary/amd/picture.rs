// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The firmware's picture, kept while the card sleeps.
//!
//! VRAM loses its content when the card is powered off. Buffer objects are moved to system memory before. What the
//! firmware left is not in an object: the text screen of the VGA core, and the frame buffer into which a driver like
//! simpledrm draws without knowing that the card sleeps. These are the ranges of [`Layout::reserved`]. The CPU copies
//! them while the card is idle, if a display is on.
//!
//! The CPU reads device memory slowly, eight bytes at a time. A frame buffer of 8 MiB takes about a second on hardware.

use core::ops::Range;

use kernel::{
    device::Bound,
    io::Io,
    new_mutex,
    pci,
    prelude::*,
    sync::Mutex, //
};

use crate::{
    corner::wc,
    family::Layout, //
};

/// Bytes that one access copies.
const STEP: usize = size_of::<u64>();

/// The firmware's ranges of VRAM, and their content while the card sleeps.
#[pin_data]
pub struct Picture<'a> {
    pdev: &'a pci::Device<Bound>,
    /// The BAR of the window on VRAM.
    bar: u32,
    /// The ranges as offsets in VRAM, some of them empty.
    reserved: [Range<u64>; 4],
    /// Bytes of VRAM that the CPU sees.
    visible: u64,
    #[pin]
    saved: Mutex<KVec<Saved<'a>>>,
}

/// One range.
struct Saved<'a> {
    view: wc::Window<'a>,
    copy: VVec<u64>,
}

impl<'a> Picture<'a> {
    /// Return an initializer with nothing saved. BAR `bar` is the window on VRAM.
    pub fn new(
        pdev: &'a pci::Device<Bound>,
        bar: u32,
        layout: &Layout,
    ) -> impl PinInit<Self> + use<'a> {
        let reserved = layout.reserved.clone();
        let visible = layout.aperture.end - layout.aperture.start;
        pin_init!(Self {
            pdev,
            bar,
            reserved,
            visible,
            saved <- new_mutex!(KVec::new()),
        })
    }

    /// Copy the ranges to system memory if a display `shows` them. Otherwise drop what was saved before.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn save(&self, shows: bool) -> Result {
        let mut saved = self.saved.lock();
        saved.clear();
        if !shows {
            return Ok(());
        }
        for range in ranges(&self.reserved, self.visible) {
            let size = usize::try_from(range.end - range.start)?;
            let view = wc::Window::new(self.pdev, self.bar, range.start, size)?;
            let mut copy = VVec::with_capacity(size / STEP, GFP_KERNEL)?;
            for at in (0..size).step_by(STEP) {
                copy.push(view.try_read64(at)?, GFP_KERNEL)?;
            }
            saved.push(Saved { view, copy }, GFP_KERNEL)?;
        }
        Ok(())
    }

    /// Write back what was saved, and free the copy.
    pub fn restore(&self) {
        let saved = core::mem::take(&mut *self.saved.lock());
        for Saved { view, copy } in &saved {
            for (step, &value) in copy.iter().enumerate() {
                // No error: the copy is as long as the view.
                let _ = view.try_write64(value, step * STEP);
            }
        }
    }
}

/// Return those of `reserved` that the CPU sees, each once.
fn ranges(reserved: &[Range<u64>], visible: u64) -> impl Iterator<Item = Range<u64>> + '_ {
    reserved
        .iter()
        .enumerate()
        .filter_map(move |(index, range)| {
            let again = reserved.iter().take(index).any(|other| other == range);
            let range = range.start..range.end.min(visible);
            (!again && !range.is_empty()).then_some(range)
        })
}

#[kunit_tests(lapidary_amd_picture)]
mod tests {
    use super::*;

    #[test]
    fn each_visible_range_is_saved_once() {
        let vga = 0..0x4_0000;
        let picture = 0xf_0000..0x30_0000;
        let reserved = [vga.clone(), vga.clone(), picture.clone(), 0..0];
        let mut found = ranges(&reserved, 0x100_0000);
        assert_eq!(found.next(), Some(vga.clone()));
        assert_eq!(found.next(), Some(picture));
        assert_eq!(found.next(), None);
        let mut found = ranges(&reserved, 0x10_0000);
        assert_eq!(found.next(), Some(vga.clone()));
        assert_eq!(found.next(), Some(0xf_0000..0x10_0000));
        assert_eq!(found.next(), None);
        assert_eq!(ranges(&reserved, 0xf_0000).nth(1), None);
    }
}
