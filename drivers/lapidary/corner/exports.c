// SPDX-License-Identifier: GPL-2.0 OR MIT
/* Exports every global Rust symbol of the library crate; the list is generated from its object. */
#include <linux/export.h>

#define EXPORT_SYMBOL_RUST_GPL(sym) extern int sym; EXPORT_SYMBOL_GPL(sym)

#include "exports_generated.h"
