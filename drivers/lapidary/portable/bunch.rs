// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Things that are dropped together.
//!
//! Memory at which readers may still look is freed after a grace period of RCU. One grace period is enough for all that is
//! given up in the meantime. A kernel with `CONFIG_SLUB_TINY` does not wait for more to come, so that what is given up
//! alone costs a grace period of its own, which is some thousand instructions and two switches of the thread.

/// Up to `N` things.
#[derive(Debug)]
pub struct Bunch<T, const N: usize> {
    things: [Option<T>; N],
    count: usize,
}

impl<T, const N: usize> Default for Bunch<T, N> {
    fn default() -> Self {
        Self {
            things: [const { None }; N],
            count: 0,
        }
    }
}

impl<T, const N: usize> Bunch<T, N> {
    /// Keep `thing`. If there is no room for it, drop all others before.
    #[inline]
    pub fn keep(&mut self, thing: T) {
        if self.count == N {
            *self = Self::default();
        }
        if let Some(place) = self.things.get_mut(self.count) {
            *place = Some(thing);
            self.count = self.count.wrapping_add(1);
        }
    }
}
