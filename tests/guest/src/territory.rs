// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Telling the device model which GPU bytes belong to whose object, so that its judge sees an engine step outside.
//!
//! No driver tells where an object lies; the family's painter knows how to ask the model ([`Painter::address`]). Objects
//! must stay where they are while they are declared; the harness takes declarations back after each test.
//!
//! [`Painter::address`]: crate::painter::Painter::address

use crate::bo::Bo;
use crate::painter::painter;
use anyhow::{Result, ensure};
use lapidary_harness::control::Control;

/// The object's GPU address in bytes.
pub fn address(control: &mut Control, bo: &Bo) -> Result<u64> {
    painter().address(control, bo)
}

/// Declares the objects, each under its name; everything else is nobody's from now on.
pub fn declare(control: &mut Control, objects: &[(&str, &Bo)]) -> Result<()> {
    for (name, bo) in objects {
        let at = address(control, bo)?;
        ensure!(!name.contains(' '), "{name}");
        control.request(&format!("object {at:#x} {:#x} {name}", bo.size()))?;
    }
    Ok(())
}
