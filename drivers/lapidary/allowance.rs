// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Limits of what a device and one client may use.
//!
//! An object takes some kilobytes of kernel memory, whatever its size. A page of a process that the GPU uses stays in
//! memory even if the process has unmapped it. The kernel counts neither for the process. So the driver limits both
//! for each open file. The limits are far above what clients need, and low enough that one file cannot exhaust the
//! machine. A process may open several files, so for pages there is also a limit for the device.
//!
//! Each counted thing has a [`Charge`], which may outlive the client.

use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

/// A counter with a limit.
pub struct Count {
    now: Atomic<usize>,
    most: usize,
}

/// Keeps `amount` counted as long as it exists.
pub struct Charge {
    count: Arc<Count>,
    amount: usize,
}

impl Count {
    /// Make a counter that is 0 and has the limit `most`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(most: usize) -> Result<Arc<Self>> {
        let count = Self {
            now: Atomic::new(0),
            most,
        };
        Ok(Arc::new(count, GFP_KERNEL)?)
    }

    /// Return the limit.
    pub fn most(&self) -> usize {
        self.most
    }
}

impl Charge {
    /// Count `amount` more.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if that is above the limit.
    pub fn new(count: &Arc<Count>, amount: usize) -> Result<Self> {
        let before = count.now.fetch_add(amount, Relaxed);
        let charge = Self {
            count: count.clone(),
            amount,
        };
        match before.checked_add(amount) {
            Some(sum) if sum <= count.most => Ok(charge),
            _ => Err(ENOMEM),
        }
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.count.now.fetch_sub(self.amount, Relaxed);
    }
}

/// The limits of one client.
pub struct Allowance {
    objects: Arc<Count>,
    pages: Arc<Count>,
}

impl Allowance {
    /// Allow at most `objects` objects, and `pages` pages of processes' memory.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(objects: usize, pages: usize) -> Result<Self> {
        Ok(Self {
            objects: Count::new(objects)?,
            pages: Count::new(pages)?,
        })
    }

    /// Count one more object.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if the client has as many as it may have.
    pub fn object(&self) -> Result<Charge> {
        Charge::new(&self.objects, 1)
    }

    /// Return the counter of the client's pinned pages of processes' memory.
    pub fn pages(&self) -> &Arc<Count> {
        &self.pages
    }
}

#[kunit_tests(lapidary_allowance)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_allowed_at_a_time() -> Result {
        let allowance = Allowance::new(2, 5)?;
        let first = allowance.object()?;
        let second = allowance.object()?;
        assert_eq!(allowance.object().err(), Some(ENOMEM));
        drop(first);
        let third = allowance.object()?;
        assert_eq!(allowance.object().err(), Some(ENOMEM));
        let pages = Charge::new(allowance.pages(), 4)?;
        // A refused charge is not counted.
        assert_eq!(Charge::new(allowance.pages(), 2).err(), Some(ENOMEM));
        let more = Charge::new(allowance.pages(), 1)?;
        assert_eq!(
            Charge::new(allowance.pages(), usize::MAX).err(),
            Some(ENOMEM)
        );
        // Charges outlive the client.
        drop(allowance);
        drop((second, third, pages, more));
        Ok(())
    }
}
