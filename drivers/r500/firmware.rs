// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Loading the command processor's microcode.
//!
//! The command processor is a small processor with 256 words of program memory, which are empty after power-on. One
//! image serves the whole family. It is written word by word, in two halves (R5xx 4.12). The driver reads it back (R5xx
//! 4.13), because a word that did not arrive would show much later, as a packet that does something else.
//!
//! The engines must be idle and the command processor stopped. The image stays in memory, because it is loaded again
//! after every reset. Then the firmware loader cannot be used: user space and the disks may depend on the reset.

use kernel::{
    device::Device,
    firmware::Firmware,
    io::Io,
    prelude::*, //
};

use crate::{
    portable::firmware::{
        Error,
        Microcode,
        IMAGE_SIZE,
        WORDS, //
    },
    regs::{
        mmio::*,
        Window, //
    },
};

/// Name of the image, as in linux-firmware.
const IMAGE: &CStr = c"radeon/R520_cp.bin";

/// An image of the right form.
pub(crate) struct Image(Firmware);

/// Request the image from the firmware loader. Sleeps.
///
/// # Errors
///
/// Those of the firmware loader; `EINVAL` for an image of the wrong form. Each after one line in the log.
pub(crate) fn get(dev: &Device) -> Result<Image> {
    // The loader would log a second line.
    let image = Firmware::request_nowarn(IMAGE, dev)
        .inspect_err(|_| dev_err!(dev, "CP firmware {} not found\n", IMAGE))?;
    Microcode::new(image.data()).map_err(|error| {
        match error {
            Error::Size { found } => dev_err!(
                dev,
                "CP firmware {} has {} bytes, not {}\n",
                IMAGE,
                found,
                IMAGE_SIZE
            ),
            Error::Word { index } => dev_err!(
                dev,
                "CP firmware {} is no microcode: word {} has more than 40 bits\n",
                IMAGE,
                index
            ),
        }
        EINVAL
    })?;
    dev_info!(dev, "CP firmware {}, {} words\n", IMAGE, WORDS);
    Ok(Image(image))
}

/// Load the image and verify it. Allocates nothing.
///
/// # Errors
///
/// `EIO` if the memory does not hold what was written, after one line in the log.
pub(crate) fn load(dev: &Device, window: Window<'_>, image: &Image) -> Result {
    let microcode = Microcode::new(image.0.data()).map_err(|_| EINVAL)?;
    write_verified(window, &microcode).map_err(|(index, high, low)| {
        dev_err!(
            dev,
            "CP microcode did not load: word {} reads {:02x}{:08x}\n",
            index,
            high,
            low
        );
        EIO
    })
}

/// Write all words and read them back. On a difference return the index of the word, and the two halves that were read.
fn write_verified(window: Window<'_>, microcode: &Microcode<'_>) -> Result<(), (usize, u32, u32)> {
    write(window, microcode);
    verify(window, microcode)
}

/// Write all words. The chip increments the address with each low half.
fn write(window: Window<'_>, microcode: &Microcode<'_>) {
    window.write_reg(CP_ME_RAM_ADDR::zeroed());
    for word in microcode.words() {
        window.write_reg(CP_ME_RAM_DATAH::from(u32::from(word.high)));
        window.write_reg(CP_ME_RAM_DATAL::from(word.low));
    }
}

/// Read all words back. On a difference return the index of the word, and the two halves that were read.
fn verify(window: Window<'_>, microcode: &Microcode<'_>) -> Result<(), (usize, u32, u32)> {
    window.write_reg(CP_ME_RAM_RADDR::zeroed());
    for (index, word) in microcode.words().enumerate() {
        let high = window.read(CP_ME_RAM_DATAH).into_raw() & 0xff;
        let low = window.read(CP_ME_RAM_DATAL).into_raw();
        if (high, low) != (u32::from(word.high), word.low) {
            return Err((index, high, low));
        }
    }
    Ok(())
}

#[kunit_tests(r500_firmware)]
mod tests {
    use super::*;
    use crate::regs::fake;

    /// Loads an image into plain memory, which keeps the last word only.
    fn load(window: Window<'_>, image: &[u8]) -> Result<Result<(), (usize, u32, u32)>> {
        let microcode = Microcode::new(image).map_err(|_| EINVAL)?;
        Ok(write_verified(window, &microcode))
    }

    #[test]
    fn what_does_not_arrive_is_noticed() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let mut image = KVec::from_elem(0u8, IMAGE_SIZE, GFP_KERNEL)?;
        // Big endian: the low byte of the high half, and the low half.
        for word in image.chunks_exact_mut(8) {
            word.copy_from_slice(&[0, 0, 0, 7, 1, 2, 3, 4]);
        }
        assert_eq!(load(window, &image)?, Ok(()));
        assert_eq!(window.read(CP_ME_RAM_DATAH).into_raw(), 7);
        assert_eq!(window.read(CP_ME_RAM_DATAL).into_raw(), 0x0102_0304);
        image[8 * 5 + 7] = 5;
        assert_eq!(load(window, &image)?, Err((5, 7, 0x0102_0304)));
        Ok(())
    }

    #[test]
    fn words_are_written_and_read_from_the_first_on() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        window.write_reg(CP_ME_RAM_ADDR::from(9));
        window.write_reg(CP_ME_RAM_RADDR::from(9));
        let image = KVec::from_elem(0u8, IMAGE_SIZE, GFP_KERNEL)?;
        assert_eq!(load(window, &image)?, Ok(()));
        assert_eq!(window.read(CP_ME_RAM_ADDR).into_raw(), 0);
        assert_eq!(window.read(CP_ME_RAM_RADDR).into_raw(), 0);
        Ok(())
    }
}
