// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Declares to the device model which GPU bytes belong to which object, so that its judge sees an access outside.
//!
//! No driver tells where an object lies. The family's painter knows how to ask the model ([`Painter::address`]).
//! Objects must not move while they are declared. The harness removes declarations after each test.
//!
//! [`Painter::address`]: crate::painter::Painter::address

use crate::bo::Bo;
use crate::painter::painter;
use anyhow::{Result, ensure};
use lapidary_harness::control::Control;

/// Return the object's GPU address in bytes.
pub fn address(control: &mut Control, bo: &Bo) -> Result<u64> {
    painter().address(control, bo)
}

/// Declare the objects, each under its name. From now on all other memory belongs to no object.
pub fn declare(control: &mut Control, objects: &[(&str, &Bo)]) -> Result<()> {
    for (name, bo) in objects {
        let at = address(control, bo)?;
        ensure!(!name.contains(' '), "{name}");
        control.request(&format!("object {at:#x} {:#x} {name}", bo.size()))?;
    }
    Ok(())
}
