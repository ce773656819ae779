// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Fresh system pages for an object whose VRAM may not be looked at.
//!
//! This needs no ring: the content is thrown away.

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

/// Gives an object whose clear has failed fresh system pages in place of its VRAM: they are zero, as that should have
/// been. Does nothing to others. The caller holds the reservation.
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

/// Throws the content of an object in VRAM away: it has fresh system pages then. Jobs that use the VRAM are not
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
