// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Device core dumps: a file that describes a device after a failure.
//!
//! The kernel keeps a dump for five minutes, or until a write to its file (`/sys/class/devcoredump/devcd*/data`)
//! frees it. While a dump exists, the kernel drops further dumps of the same device: the first hang is the important
//! one. A kernel without `CONFIG_DEV_COREDUMP` keeps no dump.

use core::ptr;

use kernel::{
    bindings,
    device,
    fmt,
    prelude::*, //
};

use super::extra;

/// A text that grows. What does not fit into memory is cut off.
pub struct Text {
    bytes: VVec<u8>,
    cut: bool,
}

impl Text {
    /// Make an empty text.
    pub const fn new() -> Self {
        Self {
            bytes: VVec::new(),
            cut: false,
        }
    }

    /// Return what has been written so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Publish the text as the dump of `dev`, unless the device has a dump already. May sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if the text has been cut off, because half a dump explains nothing.
    pub fn publish(self, dev: &device::Device) -> Result {
        if self.cut || self.bytes.is_empty() {
            return Err(ENOMEM);
        }
        let raw = ptr::from_ref(dev).cast_mut().cast::<bindings::device>();
        let (data, len, _) = self.bytes.into_raw_parts();
        // SAFETY: The device is alive, and the dump takes a reference. The text was allocated by `vmalloc()`, and the
        // dump owns it from here on.
        unsafe { extra::lapidary_coredump(raw, data.cast(), len) };
        Ok(())
    }
}

impl Default for Text {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.bytes
            .extend_from_slice(text.as_bytes(), GFP_KERNEL)
            .map_err(|_| {
                self.cut = true;
                fmt::Error
            })
    }
}

#[kunit_tests(lapidary_coredump)]
mod tests {
    use super::*;
    use crate::corner::gem_kunit::Machine;
    use kernel::fmt::Write;

    #[test]
    fn a_text_grows() -> Result {
        let mut text = Text::new();
        for line in 0..2000 {
            writeln!(text, "line {line:04}").map_err(|_| ENOMEM)?;
        }
        assert!(text.as_bytes().len() == 2000 * 10);
        assert!(text.as_bytes().ends_with(b"line 1999\n"));
        Ok(())
    }

    #[test]
    fn half_a_text_is_no_dump() -> Result {
        let machine = Machine::new()?;
        assert!(Text::new().publish(machine.dev()) == Err(ENOMEM));
        let mut text = Text::new();
        write!(text, "half").map_err(|_| ENOMEM)?;
        text.cut = true;
        assert!(text.publish(machine.dev()) == Err(ENOMEM));
        Ok(())
    }
}
