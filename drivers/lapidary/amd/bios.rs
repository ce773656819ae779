// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Posting: how a card that has been powered on gets clocks and memory.
//!
//! The computer's firmware posts the card that it shows something on. The driver posts all others, and each card that
//! has lost its power while the computer slept. The card's video BIOS has the program for it, ASIC_Init, in byte code.
//! The machine in [`atom`] runs it for all families. The family says what the program runs on and which registers it
//! may write ([`Chip`]).

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
        guard::{
            Guard,
            Rules, //
        },
        Card,
        Clocks, //
    },
};

/// The most bytes of an image that are read. Pointers in it have 16 bits.
const LARGEST: usize = 1 << 16;

/// A chip that its video BIOS posts.
pub trait Chip {
    /// Return whether firmware has set the card up.
    fn is_posted(&self) -> bool;

    /// Return what the video BIOS may write.
    fn rules(&self) -> &'static Rules;

    /// Call `program` once with the card. The caller puts a guard with [`Chip::rules`] before it.
    fn reach(&self, program: &mut dyn FnMut(&mut dyn Card));
}

/// The card's video BIOS, and the memory that running it takes. Posting again after sleep allocates nothing.
#[pin_data]
pub struct Bios {
    image: KVVec<u8>,
    clocks: Option<Clocks>,
    #[pin]
    memory: Mutex<KVVec<u32>>,
}

impl Bios {
    /// Read it, if the card has one. A card without a video BIOS works and has one line in the log. So does a card
    /// whose video BIOS does not say which clocks it sets.
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

    /// Return the clocks that it sets, if it says.
    pub fn clocks(&self) -> Option<Clocks> {
        self.clocks
    }
}

/// Post the card unless firmware has done so.
///
/// Sleeps, up to twice [`atom::MOST_WAIT_US`]. The caller alone uses the card meanwhile.
///
/// # Errors
///
/// `ENODEV` if the card has no video BIOS. `EIO` if the video BIOS cannot be run or does not post the card. Each with
/// one line in the log.
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
    let mut dropped = None;
    chip.reach(&mut |card| {
        let mut guard = Guard::new(card, chip.rules());
        result = atom::post(&bios.image, &mut bios.memory.lock(), &mut guard);
        dropped = guard.dropped();
    });
    if let Some(dropped) = dropped {
        dev_warn!(
            dev,
            "video BIOS: {} writes that posting does not need were dropped, the first to {} {:#x}\n",
            dropped.count,
            dropped.name,
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
    use crate::{
        corner::io_kunit,
        portable::{
            atom::guard::{
                BackPair,
                Pair,
                Space,
                Spaces, //
            },
            bits::Field, //
        }, //
    };
    use core::cell::Cell;

    const NO_REGISTER: Space = Space {
        name: "",
        rows: &[],
        pair: None,
    };

    /// No register may be written.
    static NONE: Rules = Rules {
        window: &[],
        back: BackPair {
            pair: Pair {
                index: 0,
                data: 4,
                number: Field::new(30, 0),
            },
            memory: Field::new(31, 31),
        },
        spaces: Spaces::new(&[]),
        clocks: NO_REGISTER,
        memory_controller: NO_REGISTER,
    };

    /// A chip that counts what it is asked.
    struct Counting {
        posted: bool,
        reached: Cell<u32>,
    }

    impl Chip for Counting {
        fn is_posted(&self) -> bool {
            self.posted
        }

        fn rules(&self) -> &'static Rules {
            &NONE
        }

        fn reach(&self, _program: &mut dyn FnMut(&mut dyn Card)) {
            self.reached.set(self.reached.get() + 1);
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
