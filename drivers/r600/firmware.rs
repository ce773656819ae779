// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The microcode images.
//!
//! Three processors of the chip execute microcode: the prefetch parser and the micro engine of the command processor
//! ([`cp`](crate::cp)), and the RLC ([`rlc`](crate::rlc)). Their memories are empty after power-on. The images stay in
//! memory, because they are loaded again after a reset. Then the firmware loader cannot be used: user space and the
//! disks may depend on the reset.

use kernel::{
    device::Device,
    firmware::Firmware,
    prelude::*, //
};

use crate::{
    chip::Chipset,
    hal::microcode,
    portable::firmware::{
        self,
        Processor, //
    },
};

/// The images of a chip, all of the right form.
pub(crate) struct Images {
    pfp: Firmware,
    me: Firmware,
    rlc: Firmware,
}

impl Images {
    /// Request the images of `chipset` from the firmware loader. Sleeps.
    ///
    /// # Errors
    ///
    /// Those of the firmware loader; `EINVAL` for an image of the wrong form. Each after one line in the log.
    pub(crate) fn get(dev: &Device, chipset: Chipset) -> Result<Self> {
        let names = microcode::of(chipset);
        let get = |name: &'static CStr, processor| {
            // The loader would log a second line.
            let image = Firmware::request_nowarn(name, dev)
                .inspect_err(|_| dev_err!(dev, "firmware {} not found\n", name))?;
            let needed = firmware::size(chipset.generation(), processor);
            if image.size() != needed {
                dev_err!(
                    dev,
                    "firmware {} has {} bytes, not {}\n",
                    name,
                    image.size(),
                    needed
                );
                return Err(EINVAL);
            }
            Ok(image)
        };
        let images = Self {
            pfp: get(names.pfp, Processor::Pfp)?,
            me: get(names.me, Processor::Me)?,
            rlc: get(names.rlc, Processor::Rlc)?,
        };
        dev_info!(dev, "firmware {}, {}, {}\n", names.pfp, names.me, names.rlc);
        Ok(images)
    }

    /// Return the words of the prefetch parser, in the order in which they are loaded.
    pub(crate) fn pfp(&self) -> impl Iterator<Item = u32> + '_ {
        firmware::words(self.pfp.data())
    }

    /// Return the words of the micro engine. An instruction of R6xx has three.
    pub(crate) fn me(&self) -> impl Iterator<Item = u32> + '_ {
        firmware::words(self.me.data())
    }

    /// Return the words of the RLC.
    pub(crate) fn rlc(&self) -> impl Iterator<Item = u32> + '_ {
        firmware::words(self.rlc.data())
    }
}
