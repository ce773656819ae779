// SPDX-License-Identifier: GPL-2.0 OR MIT

//! New system pages for an object whose VRAM must not be read.
//!
//! This needs no ring, because the content is discarded.

use kernel::prelude::*;

use crate::{
    corner::{
        mmap,
        resv, //
    },
    family::Family,
    memory::{
        backing::Backing, //
        object::{
            Bo,
            Home,
            Object, //
        },
    }, //
};

/// Give an object whose clear has failed new system pages in place of its VRAM. They are zero, as the VRAM should
/// have been. Does nothing for other objects. The caller holds the reservation.
///
/// # Errors
///
/// `ENOMEM`.
pub(crate) fn renew<F: Family>(object: &Bo<F>) -> Result {
    match object.content().is_lost() {
        true => replace(object),
        false => Ok(()),
    }
}

/// Discard the content of an object in VRAM. The object then has new system pages. Jobs that use the VRAM are not
/// executed any more.
pub(crate) fn replace<F: Family>(object: &Bo<F>) -> Result {
    resv::assert_held(object);
    let fresh = Backing::new(object.bytes(), object.align())?;
    mmap::zap(object);
    let old = object.settle(Home::System(fresh));
    Object::arrange(object);
    drop(old);
    Ok(())
}
