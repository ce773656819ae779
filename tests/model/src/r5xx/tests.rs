// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tests of the whole chip, with memory but without a guest.
