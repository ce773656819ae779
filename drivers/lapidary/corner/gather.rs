// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Small records of user memory, read together.
//!
//! A copy from user memory costs more than a hundred instructions, whatever its length: the test for sleep alone is
//! fifty. A submission consists of records that lie apart. [`gather`] opens user memory for each number, and does nothing
//! else that copies of 8 and 16 bytes do not need.

use kernel::prelude::*;

use zerocopy::{
    FromBytes,
    IntoBytes, //
};

use crate::corner::extra;

/// Fill `to` with the records whose addresses are in an array at the user address `array`. A record has the size and the
/// alignment of two numbers of 64 bits.
///
/// # Errors
///
/// `EFAULT` for user memory that does not exist. Then `to` may have been written in part.
pub fn gather<T: FromBytes + IntoBytes>(array: u64, to: &mut [T]) -> Result {
    const {
        assert!(size_of::<T>() == size_of::<[u64; 2]>() && align_of::<T>() == align_of::<u64>());
    }
    // SAFETY: C checks that all addresses are of user memory. `to` has as many elements as C is told, each of the size and
    // the alignment of two numbers. An element may have any bytes.
    match unsafe { extra::lapidary_gather(array, to.as_mut_ptr().cast(), to.len()) } {
        true => Ok(()),
        false => Err(EFAULT),
    }
}
