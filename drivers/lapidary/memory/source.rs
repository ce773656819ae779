// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The origin of the system pages of an object.
//!
//! Most objects have pages of their own, which are allocated when they are first needed. Some objects stand for
//! memory of others. Memory of another driver is mapped for our device from the creation of the object. Memory of a
//! process is pinned again when it has changed.

use kernel::{
    device,
    dma::DmaAddress,
    drm::gem::IntoGEMObject,
    prelude::*,
    sync::Arc, //
};

use crate::corner::{
    pages::Pages,
    prime::Import,
    userptr::{
        UserMemory,
        UserPages, //
    }, //
};

/// Where the pages of a [`super::backing::Backing`] come from.
pub(crate) enum Source {
    /// The object's own shared-memory file. Its pages are held when first needed, until the object is freed.
    Own(Option<Pages>),
    /// Another driver.
    Foreign(Arc<Import>),
    /// A process. The pages are those of the last job, if there was one.
    User(Arc<UserMemory>, Option<UserPages>),
}

impl Source {
    /// Return the pages, if they are the object's own and held.
    pub(crate) fn own(&self) -> Option<&Pages> {
        match self {
            Self::Own(pages) => pages.as_ref(),
            Self::Foreign(_) | Self::User(..) => None,
        }
    }

    /// Take such pages away.
    pub(crate) fn take_own(&mut self) -> Option<Pages> {
        match self {
            Self::Own(pages) => pages.take(),
            Self::Foreign(_) | Self::User(..) => None,
        }
    }

    /// Make the pages, which are held, reachable for `dev`.
    ///
    /// # Errors
    ///
    /// As [`Pages::map`].
    pub(crate) fn map(&mut self, dev: &device::Device<device::Bound>) -> Result {
        match self {
            Self::Own(Some(pages)) => pages.map(dev),
            Self::User(_, Some(pages)) => pages.map(dev),
            Self::Own(None) | Self::User(_, None) => Err(EINVAL),
            Self::Foreign(_) => Ok(()),
        }
    }

    /// Return the addresses for the device, one for each page. Empty while not mapped.
    pub(crate) fn addresses(&self) -> &[DmaAddress] {
        match self {
            Self::Own(Some(pages)) => pages.addresses(),
            Self::User(_, Some(pages)) => pages.addresses(),
            Self::Own(None) | Self::User(_, None) => &[],
            Self::Foreign(import) => import.addresses(),
        }
    }

    /// End what [`Source::map`] began.
    pub(crate) fn unmap(&mut self, dev: &device::Device<device::Bound>) {
        match self {
            Self::Own(Some(pages)) => pages.unmap(dev),
            Self::User(_, Some(pages)) => pages.unmap(dev),
            // A foreign mapping ends with the import.
            Self::Own(None) | Self::User(_, None) | Self::Foreign(_) => {}
        }
    }

    /// Release the pages of an object that is being freed. They are not mapped any more. Does not wait.
    pub(crate) fn put<O: IntoGEMObject>(self, object: &O) {
        match self {
            Self::Own(Some(pages)) => pages.put(object),
            Self::Own(None) => {}
            Self::Foreign(import) => import.release(),
            Self::User(memory, _) => memory.release(),
        }
    }
}
