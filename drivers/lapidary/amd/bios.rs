// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Posting: how a card that has just got power becomes one with clocks and memory.
//!
//! The computer's firmware posts the card that it shows something on. A second card, or one that has lost its power
//! while the computer slept, is left to the driver. The card's video BIOS brings the program for it, ASIC_Init, in byte
//! code, which [`atom`] runs on all families alike. What the program runs on, and which registers it may write, is the
//! family's ([`Chip`]).

use kernel::{
    device::{
        Core,
        Device, //
    },
    new_mutex,
    pci,
    prelude::*,
    sync::Mutex, //
};

use crate::{
    corner::rom,
    portable::atom::{
        self,
        Card,
        Clocks, //
    },
};

/// Bytes of an image that are looked at: pointers in it have 16 bits.
const LARGEST: usize = 1 << 16;

/// A chip that its video BIOS posts.
pub trait Chip {
    /// Returns whether firmware has set the card up.
    fn is_posted(&self) -> bool;

    /// Calls `program` once with the card, as far as posting may reach it. Returns which writes were dropped.
    fn reach(&self, program: &mut dyn FnMut(&mut dyn Card)) -> Option<Dropped>;
}

/// Writes of a program that posting does not need.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// How many.
    pub count: u32,
    /// The space of the register that the first one went to, for a log line.
    pub space: &'static str,
    /// The number of that register there.
    pub number: u32,
}

/// The card's video BIOS, and what it takes to run it: posting again after sleep allocates nothing.
#[pin_data]
pub struct Bios {
    image: KVVec<u8>,
    clocks: Option<Clocks>,
    #[pin]
    memory: Mutex<KVVec<u32>>,
}

impl Bios {
    /// Reads it, if the card has one. A card without one, or one that does not say which clocks it sets, has one line in
    /// the log and works.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn read(pdev: &pci::Device<Core<'_>>) -> Result<Option<Pin<KBox<Self>>>> {
        let image = match rom::read(pdev, LARGEST) {
            Ok(image) => image,
            Err(error) if error == ENOMEM => return Err(error),
            Err(_) => {
                dev_info!(pdev, "no video BIOS, clocks are not known\n");
                return Ok(None);
            }
        };
        let clocks = atom::clocks(&image)
            .inspect_err(|error| {
                let reason = error.reason();
                dev_info!(pdev, "video BIOS: {}; clocks are not known\n", reason);
            })
            .ok();
        let memory = KVVec::from_elem(0, atom::MEMORY, GFP_KERNEL)?;
        let bios = KBox::try_pin_init(
            try_pin_init!(Self {
                image,
                clocks,
                memory <- new_mutex!(memory),
            }? Error),
            GFP_KERNEL,
        )?;
        Ok(Some(bios))
    }

    /// The clocks that it sets, if it says.
    pub fn clocks(&self) -> Option<Clocks> {
        self.clocks
    }
}

/// Posts the card unless firmware has. May sleep, up to [`atom::MOST_WAIT_US`]. The caller alone uses the card meanwhile.
///
/// # Errors
///
/// `ENODEV` if the card has no video BIOS, `EIO` if it cannot be run or does not do what it is there for; with one
/// line in the log.
pub fn ensure(dev: &Device, chip: &impl Chip, bios: Option<&Bios>) -> Result {
    if chip.is_posted() {
        return Ok(());
    }
    let Some(bios) = bios else {
        dev_err!(
            dev,
            "card has not been posted, and there is no video BIOS to do it\n"
        );
        return Err(ENODEV);
    };
    let mut result = Ok(());
    let dropped = chip.reach(&mut |card| {
        result = atom::post(&bios.image, &mut bios.memory.lock(), card);
    });
    if let Some(dropped) = dropped {
        dev_warn!(
            dev,
            "video BIOS: {} writes that posting does not need were dropped, the first to {} {:#x}\n",
            dropped.count,
            dropped.space,
            dropped.number
        );
    }
    if let Err(stopped) = result {
        let (table, at, reason) = (stopped.table, stopped.at, stopped.why.reason());
        dev_err!(
            dev,
            "card cannot be posted: video BIOS, command table {}, byte {:#x}: {}\n",
            table,
            at,
            reason
        );
        return Err(EIO);
    }
    if !chip.is_posted() {
        dev_err!(
            dev,
            "card cannot be posted: video BIOS has run and did not set up memory\n"
        );
        return Err(EIO);
    }
    dev_info!(dev, "posted by its video BIOS\n");
    Ok(())
}

#[kunit_tests(lapidary_amd_bios)]
mod tests {
    use super::*;
    use crate::corner::io_kunit;
    use core::cell::Cell;

    /// A chip that counts what it is asked.
    struct Counting {
        posted: bool,
        reached: Cell<u32>,
    }

    impl Chip for Counting {
        fn is_posted(&self) -> bool {
            self.posted
        }

        fn reach(&self, _program: &mut dyn FnMut(&mut dyn Card)) -> Option<Dropped> {
            self.reached.set(self.reached.get() + 1);
            None
        }
    }

    #[test]
    fn only_what_is_not_posted_needs_a_bios() -> Result {
        let device = io_kunit::Device::new()?;
        for (posted, want) in [(true, Ok(())), (false, Err(ENODEV))] {
            let chip = Counting {
                posted,
                reached: Cell::new(0),
            };
            assert!(ensure(device.dev(), &chip, None) == want);
            assert_eq!(chip.reached.get(), 0);
        }
        Ok(())
    }
}
