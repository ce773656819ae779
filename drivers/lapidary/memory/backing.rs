// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The system pages of an object, and which page tables lead to them.

use kernel::{
    prelude::*,
    sync::{
        atomic::Atomic,
        Arc, //
    },
};

use crate::memory::{
    resident::Resident,
    source::Source,
    windowed::Windowed, //
};

/// The storage of an object in system pages.
#[pin_data]
pub(crate) struct Backing {
    /// The pages. While there are addresses, the window is one user of the pages. While clients reach the pages, they
    /// are another user.
    #[pin]
    pub(crate) pages: Resident,
    /// The addresses in the window.
    pub(crate) window: Windowed,
    /// Clients reach the pages in address spaces of their own: see [`super::reached`].
    pub(crate) reached: Atomic<bool>,
}

impl Backing {
    /// Make a backing of `size` bytes of pages of the object's own, with addresses that are multiples of `align`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn new(size: u64, align: u64) -> Result<Arc<Self>> {
        Self::with(Source::Own(None), size, align)
    }

    /// Make a backing with pages from `source`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn with(source: Source, size: u64, align: u64) -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                pages <- Resident::new(source),
                window: Windowed::new(size, align),
                reached: Atomic::new(false),
            }),
            GFP_KERNEL,
        )
    }
}
