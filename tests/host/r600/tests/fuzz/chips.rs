// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The chips, as the checker is told of them and as the model names them.

use std::sync::LazyLock;

use r600::portable::checker::Chip;

use crate::support;

/// A chip.
#[derive(Debug)]
pub struct Variant {
    /// The model's name.
    pub name: &'static str,
    pub checker: Chip,
}

/// All of them.
pub static CHIPS: LazyLock<Vec<Variant>> = LazyLock::new(|| {
    let variant = |(name, checker)| Variant { name, checker };
    support::CHIPS.into_iter().map(variant).collect()
});

/// Return a chip by name.
pub fn by_name(name: &str) -> Option<&'static Variant> {
    CHIPS.iter().find(|chip| chip.name == name)
}
