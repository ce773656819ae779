// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Giving memory back when the system runs out of it.
//!
//! The kernel asks every registered shrinker how much memory it could free, and then to free some of it. It asks in
//! the middle of an allocation, and the allocating thread may hold any locks. So the answer only uses trylock, does
//! not wait and does not allocate.
//!
//! C header: `include/linux/shrinker.h`.

use core::ptr::NonNull;

use kernel::{
    prelude::*,
    sync::Arc, //
};

use crate::corner::extra;

/// The answer that the kernel should not ask again now: `SHRINK_STOP`, all bits set.
const SHRINK_STOP: c_ulong = c_ulong::MAX;

/// State that can give memory back.
pub trait Shrink: Send + Sync + 'static {
    /// Return the number of pages that could perhaps be given back.
    fn count(&self) -> usize;

    /// Give back about `want` pages. Return how many, or `None` if it makes no sense to ask again now. Neither waits
    /// nor allocates.
    fn scan(&self, want: usize) -> Option<usize>;
}

/// A registered shrinker. The kernel may call it while this exists.
pub struct Shrinker<T: Shrink> {
    raw: NonNull<extra::lapidary_shrinker>,
    _who: Arc<T>,
}

// SAFETY: A shrinker may be freed by any thread. The object that answers is `Send` and `Sync`.
unsafe impl<T: Shrink> Send for Shrinker<T> {}
// SAFETY: A shared reference gives access to nothing.
unsafe impl<T: Shrink> Sync for Shrinker<T> {}

impl<T: Shrink> Shrinker<T> {
    /// Register `who` with the kernel. `name` is what debugfs shows.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new(name: &CStr, who: Arc<T>) -> Result<Self> {
        let data = core::ptr::from_ref::<T>(&who).cast_mut().cast();
        // SAFETY: The name is copied. `who` lives as long as the shrinker, which is freed when this is dropped.
        let raw = unsafe {
            extra::lapidary_shrinker_new(
                name.as_char_ptr(),
                data,
                Some(Self::count),
                Some(Self::scan),
            )
        };
        Ok(Self {
            raw: NonNull::new(raw).ok_or(ENOMEM)?,
            _who: who,
        })
    }

    /// # Safety
    ///
    /// `data` is what [`Shrinker::new`] has passed.
    unsafe extern "C" fn count(data: *mut c_void) -> c_ulong {
        // SAFETY: By the caller's promise.
        unsafe { &*data.cast::<T>() }.count()
    }

    /// # Safety
    ///
    /// `data` is what [`Shrinker::new`] has passed.
    unsafe extern "C" fn scan(data: *mut c_void, want: c_ulong) -> c_ulong {
        // SAFETY: By the caller's promise.
        let pages = unsafe { &*data.cast::<T>() }.scan(want);
        pages.unwrap_or(SHRINK_STOP)
    }
}

impl<T: Shrink> Drop for Shrinker<T> {
    fn drop(&mut self) {
        // SAFETY: Made in `new`. The function waits for calls under way.
        unsafe { extra::lapidary_shrinker_free(self.raw.as_ptr()) };
    }
}

#[kunit_tests(lapidary_shrinker)]
mod tests {
    use super::*;
    use kernel::sync::atomic::{
        Atomic,
        Relaxed, //
    };

    struct Test(Atomic<u32>);

    impl Shrink for Test {
        fn count(&self) -> usize {
            3
        }

        fn scan(&self, want: usize) -> Option<usize> {
            self.0.add(1, Relaxed);
            (want != 7).then_some(want)
        }
    }

    #[test]
    fn answers_reach_the_kernel() -> Result {
        let test = Arc::new(Test(Atomic::new(0)), GFP_KERNEL)?;
        let shrinker = Shrinker::new(c"lapidary-kunit", test.clone())?;
        let data = core::ptr::from_ref::<Test>(&test).cast_mut().cast();
        // SAFETY: The pointer that `new` passes.
        unsafe {
            assert_eq!(Shrinker::<Test>::count(data), 3);
            assert_eq!(Shrinker::<Test>::scan(data, 2), 2);
            assert_eq!(Shrinker::<Test>::scan(data, 7), SHRINK_STOP);
        }
        assert!(test.0.load(Relaxed) >= 1);
        drop(shrinker);
        assert!(Arc::into_unique_or_drop(test).is_some());
        Ok(())
    }
}
