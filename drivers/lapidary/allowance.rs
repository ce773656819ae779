// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What there may be at most, of a device and of one client.
//!
//! An object takes some kilobytes of the kernel's memory, whatever its size, and a page of a process that the GPU uses
//! stays in memory even if the process has unmapped it. Neither is counted by the kernel for the process. So the driver
//! bounds both for each open file: far above what clients need, and low enough that one file cannot use up the machine.
//! A process may open several files; for pages there is a bound for the device besides.
//!
//! What is counted has a [`Charge`], which may outlive the client.

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

/// How many there are of something, and how many there may be.
pub struct Count {
    now: Atomic<usize>,
    most: usize,
}

/// So many are counted, as long as this is there.
pub struct Charge {
    count: Arc<Count>,
    amount: usize,
}

impl Count {
    /// None yet, and `most` at a time.
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

    /// How many there may be.
    pub fn most(&self) -> usize {
        self.most
    }
}

impl Charge {
    /// Counts `amount` more.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if that is more than there may be.
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

/// What one client may have.
pub struct Allowance {
    objects: Arc<Count>,
    pages: Arc<Count>,
}

impl Allowance {
    /// At most `objects` objects, and `pages` pages of processes' memory.
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

    /// One object more.
    ///
    /// # Errors
    ///
    /// `ENOMEM` if the client has as many as it may have.
    pub fn object(&self) -> Result<Charge> {
        Charge::new(&self.objects, 1)
    }

    /// The client's pages of processes' memory that are pinned.
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
        // Nothing is left of what was refused.
        assert_eq!(Charge::new(allowance.pages(), 2).err(), Some(ENOMEM));
        let more = Charge::new(allowance.pages(), 1)?;
        assert_eq!(
            Charge::new(allowance.pages(), usize::MAX).err(),
            Some(ENOMEM)
        );
        // They outlive the client.
        drop(allowance);
        drop((second, third, pages, more));
        Ok(())
    }
}
