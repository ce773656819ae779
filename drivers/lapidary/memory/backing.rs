// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The system pages of an object, and the addresses that they have in the GTT window.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use crate::memory::{
    resident::Resident,
    source::Source,
    windowed::Windowed, //
};

/// What an object in system pages lives in.
#[pin_data]
pub(crate) struct Backing {
    /// The pages. The window is one of their users while there are addresses.
    #[pin]
    pub(crate) pages: Resident,
    /// The addresses.
    pub(crate) window: Windowed,
}

impl Backing {
    /// `size` bytes of pages of the object's own, with addresses that are multiples of `align`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(size: u64, align: u64) -> Result<Arc<Self>> {
        Self::with(Source::Own(None), size, align)
    }

    /// The same with pages from anywhere.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn with(source: Source, size: u64, align: u64) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                pages <- Resident::new(source),
                window: Windowed::new(size, align),
            }),
            GFP_KERNEL,
        )
    }
}
