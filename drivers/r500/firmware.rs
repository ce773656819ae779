// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Loading the command processor's microcode.
//!
//! The command processor is a small processor of its own with 256 words of program memory, which
//! are empty after power-on. One image serves the whole family. It is written word by word, in two
//! halves (R5xx 4.12), and can be read back (R5xx 4.13), which is done here: a word that did not
//! arrive would show much later, as a packet that does something else.
//!
//! The engines have to be idle, and the command processor stopped. The image stays in memory: it is loaded again after
//! every reset, when asking user space for it is out of the question.

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

/// The image, which has the right form.
pub(crate) struct Image(Firmware);

/// Gets the image from user space.
///
/// # Errors
///
/// What the firmware loader reports; `EINVAL` for an image of the wrong form. Each after one line
/// in the log.
pub(crate) fn get(dev: &Device) -> Result<Image> {
    // The loader's own message would be a second one.
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

/// Loads the image and compares what was loaded. Allocates nothing.
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

/// Writes all words, and reads them back; on a difference returns where, and what was read.
fn write_verified(window: Window<'_>, microcode: &Microcode<'_>) -> Result<(), (usize, u32, u32)> {
    write(window, microcode);
    verify(window, microcode)
}

/// Writes all words. The address moves on with each low half.
fn write(window: Window<'_>, microcode: &Microcode<'_>) {
    window.write_reg(CP_ME_RAM_ADDR::zeroed());
    for word in microcode.words() {
        window.write_reg(CP_ME_RAM_DATAH::from(u32::from(word.high)));
        window.write_reg(CP_ME_RAM_DATAL::from(word.low));
    }
}

/// Reads all words back; on a difference returns where, and what was read.
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
