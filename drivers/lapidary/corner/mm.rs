// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A manager of address ranges: `struct drm_mm` made safe.
//!
//! The memory of these GPUs is one range. A surface lies at consecutive addresses, of any size, sometimes below a
//! limit (the part of VRAM that the CPU sees). A manager allocates such ranges of VRAM or of the GART's address
//! space, and takes them back when the owner drops them. It does not touch the memory itself.
//!
//! C header: `include/drm/drm_mm.h`.

use kernel::{
    bindings,
    error::to_result,
    new_mutex,
    prelude::*,
    sync::{
        Arc,
        Mutex, //
    },
    types::Opaque, //
};

/// Memory for one [`Range`].
pub struct Node(Pin<KBox<Opaque<bindings::drm_mm_node>>>);

impl Node {
    /// Allocate it.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn new() -> Result<Self> {
        Ok(Self(KBox::pin(Opaque::zeroed(), GFP_KERNEL)?))
    }
}

/// A manager of the addresses `start..start + size`.
///
/// Locking: an inner mutex, held for the duration of one search. No other lock is taken under it.
///
/// # Invariants
///
/// `mm` is initialised, and is used only with `used` locked. Every node in it belongs to a [`Range`],
/// which holds a reference to this manager.
#[pin_data(PinnedDrop)]
pub struct Mm {
    /// Bytes handed out; also the lock of `mm`.
    #[pin]
    used: Mutex<u64>,
    #[pin]
    mm: Opaque<bindings::drm_mm>,
    start: u64,
    size: u64,
}

// SAFETY: `drm_mm` is not tied to a thread.
unsafe impl Send for Mm {}
// SAFETY: All access to `mm` is serialised by `used`.
unsafe impl Sync for Mm {}

/// From which side of a hole an allocation is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// The smallest hole that fits: least fragmentation.
    Best,
    /// The lowest addresses.
    Low,
    /// The highest addresses.
    High,
}

impl Mode {
    fn as_raw(self) -> bindings::drm_mm_insert_mode {
        match self {
            Mode::Best => bindings::drm_mm_insert_mode_DRM_MM_INSERT_BEST,
            Mode::Low => bindings::drm_mm_insert_mode_DRM_MM_INSERT_LOW,
            Mode::High => bindings::drm_mm_insert_mode_DRM_MM_INSERT_HIGH,
        }
    }
}

impl Mm {
    /// Create a manager of the `size` addresses from `start` on.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the range is empty or wraps; `ENOMEM`.
    pub fn new(start: u64, size: u64) -> Result<Arc<Self>> {
        if size == 0 || start.checked_add(size).is_none() {
            return Err(EINVAL);
        }
        Arc::pin_init(
            try_pin_init!(Self {
                used <- new_mutex!(0),
                mm <- Opaque::ffi_init(|mm: *mut bindings::drm_mm| {
                    // SAFETY: `mm` is valid for writes. Initialisation does not depend on what was in the memory,
                    // except for the optional callback, which must be null.
                    unsafe {
                        mm.write(pin_init::zeroed());
                        bindings::drm_mm_init(mm, start, size);
                    }
                }),
                start,
                size,
            }),
            GFP_KERNEL,
        )
    }

    /// Return the first address managed.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Return the number of addresses managed.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Return the number of addresses allocated at the moment, reservations included.
    pub fn used(&self) -> u64 {
        *self.used.lock()
    }

    /// Allocate `size` addresses that begin at a multiple of `align` (0 and 1: any) and lie inside `from..to`.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if there is no such hole (also for `size` 0); `EINVAL` if `from` is above `to`; `ENOMEM`.
    pub fn allocate(
        self: &Arc<Self>,
        size: u64,
        align: u64,
        from: u64,
        to: u64,
        mode: Mode,
    ) -> Result<Range> {
        let mut node = Some(Node::new()?);
        self.allocate_in(&mut node, size, align, from, to, mode)
    }

    /// Allocate as [`Mm::allocate`] does, without allocating memory. Take `node` on success.
    pub fn allocate_in(
        self: &Arc<Self>,
        node: &mut Option<Node>,
        size: u64,
        align: u64,
        from: u64,
        to: u64,
        mode: Mode,
    ) -> Result<Range> {
        if from > to {
            return Err(EINVAL);
        }
        self.insert(node, size, |mm, node| {
            // SAFETY: The manager is locked. The node is zeroed and stays in place while it is in the manager.
            to_result(unsafe {
                bindings::drm_mm_insert_node_in_range(
                    mm,
                    node,
                    size,
                    align,
                    0,
                    from,
                    to,
                    mode.as_raw(),
                )
            })
        })
    }

    /// Allocate exactly `start..start + size`.
    ///
    /// # Errors
    ///
    /// `ENOSPC` if part of it is allocated already or lies outside; `EINVAL` if it is empty or wraps; `ENOMEM`.
    pub fn reserve(self: &Arc<Self>, start: u64, size: u64) -> Result<Range> {
        self.reserve_in(&mut Some(Node::new()?), start, size)
    }

    /// Reserve as [`Mm::reserve`] does, without allocating memory. Take `node` on success.
    pub fn reserve_in(
        self: &Arc<Self>,
        node: &mut Option<Node>,
        start: u64,
        size: u64,
    ) -> Result<Range> {
        if size == 0 || start.checked_add(size).is_none() {
            return Err(EINVAL);
        }
        self.insert(node, size, |mm, node| {
            // SAFETY: As in `allocate`. The node is not in the manager yet.
            unsafe {
                (*node).start = start;
                (*node).size = size;
                to_result(bindings::drm_mm_reserve_node(mm, node))
            }
        })
    }

    fn insert(
        self: &Arc<Self>,
        memory: &mut Option<Node>,
        size: u64,
        put: impl FnOnce(*mut bindings::drm_mm, *mut bindings::drm_mm_node) -> Result,
    ) -> Result<Range> {
        let raw = memory.as_ref().ok_or(ENOMEM)?.0.get();
        let mut used = self.used.lock();
        put(self.mm.get(), raw)?;
        // Never wraps, because the ranges are disjoint and `start + size` does not wrap.
        *used += size;
        // SAFETY: The manager is locked and has just filled in the node.
        let start = unsafe { (*raw).start };
        drop(used);
        let Node(node) = memory.take().ok_or(ENOMEM)?;
        // INVARIANT: `put` succeeded, hence the node is in the manager.
        Ok(Range {
            mm: self.clone(),
            node,
            start,
            size,
        })
    }
}

#[pinned_drop]
impl PinnedDrop for Mm {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: The manager is initialised. No `Range` is left, because each holds a reference.
        unsafe { bindings::drm_mm_takedown(self.mm.get()) };
    }
}

/// Addresses allocated from an [`Mm`]. Dropping them frees them.
///
/// # Invariants
///
/// `node` is in `mm` and covers `start..start + size`.
pub struct Range {
    mm: Arc<Mm>,
    node: Pin<KBox<Opaque<bindings::drm_mm_node>>>,
    start: u64,
    size: u64,
}

// SAFETY: The node is used only with the manager's lock held.
unsafe impl Send for Range {}
// SAFETY: A shared `Range` gives access to plain numbers only.
unsafe impl Sync for Range {}

impl Range {
    /// Return the first address.
    pub fn start(&self) -> u64 {
        self.start
    }

    /// Return the number of addresses.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Return the address behind the last one.
    pub fn end(&self) -> u64 {
        self.start + self.size
    }
}

impl Drop for Range {
    fn drop(&mut self) {
        let mut used = self.mm.used.lock();
        // SAFETY: By the invariant the node is in the manager, which is locked.
        unsafe { bindings::drm_mm_remove_node(self.node.get()) };
        *used -= self.size;
    }
}

#[kunit_tests(lapidary_mm)]
mod tests {
    use super::*;

    const END: u64 = 0x10_0000 + 0x1_0000;

    fn mm() -> Result<Arc<Mm>> {
        Mm::new(0x10_0000, 0x1_0000)
    }

    #[test]
    fn refuses_empty_and_wrapping_managers() -> Result {
        assert_eq!(Mm::new(0, 0).err(), Some(EINVAL));
        assert_eq!(Mm::new(u64::MAX, 2).err(), Some(EINVAL));
        Ok(())
    }

    #[test]
    fn ranges_lie_inside_and_do_not_overlap() -> Result {
        let mm = mm()?;
        let a = mm.allocate(0x3000, 0, 0, u64::MAX, Mode::Best)?;
        let b = mm.allocate(0x5000, 0, 0, u64::MAX, Mode::Best)?;
        assert!(a.start() >= mm.start() && a.end() <= END);
        assert!(b.start() >= mm.start() && b.end() <= END);
        assert!(a.end() <= b.start() || b.end() <= a.start());
        assert_eq!(mm.used(), 0x8000);
        Ok(())
    }

    #[test]
    fn alignment_holds_behind_an_odd_neighbour() -> Result {
        let mm = mm()?;
        let _odd = mm.allocate(0x1000, 0, 0, u64::MAX, Mode::Low)?;
        let a = mm.allocate(0x1000, 0x8000, 0, u64::MAX, Mode::Low)?;
        assert_eq!(a.start(), 0x10_8000);
        assert_eq!(
            mm.allocate(1, u64::MAX, 0, u64::MAX, Mode::Low).err(),
            Some(ENOSPC)
        );
        Ok(())
    }

    #[test]
    fn limits_and_modes() -> Result {
        let mm = mm()?;
        let low = mm.allocate(0x1000, 0, 0, 0x10_8000, Mode::High)?;
        assert_eq!(low.end(), 0x10_8000);
        let high = mm.allocate(0x1000, 0, 0, u64::MAX, Mode::High)?;
        assert_eq!(high.end(), END);
        let first = mm.allocate(0x1000, 0, 0, u64::MAX, Mode::Low)?;
        assert_eq!(first.start(), mm.start());
        assert_eq!(
            mm.allocate(0x9000, 0, 0, 0x10_8000, Mode::Best).err(),
            Some(ENOSPC)
        );
        assert_eq!(mm.allocate(1, 0, 2, 1, Mode::Best).err(), Some(EINVAL));
        Ok(())
    }

    #[test]
    fn full_then_freed_then_full_again() -> Result {
        let mm = mm()?;
        let all = mm.allocate(mm.size(), 0, 0, u64::MAX, Mode::Best)?;
        assert_eq!(
            mm.allocate(1, 0, 0, u64::MAX, Mode::Best).err(),
            Some(ENOSPC)
        );
        assert_eq!(mm.used(), mm.size());
        drop(all);
        assert_eq!(mm.used(), 0);
        let again = mm.allocate(mm.size(), 0, 0, u64::MAX, Mode::Best)?;
        assert_eq!(again.size(), mm.size());
        Ok(())
    }

    #[test]
    fn neighbours_merge_when_freed() -> Result {
        let mm = mm()?;
        let a = mm.allocate(0x4000, 0, 0, u64::MAX, Mode::Low)?;
        let b = mm.allocate(0x4000, 0, 0, u64::MAX, Mode::Low)?;
        let c = mm.allocate(0x8000, 0, 0, u64::MAX, Mode::Low)?;
        drop(b);
        assert_eq!(
            mm.allocate(0x8000, 0, 0, u64::MAX, Mode::Best).err(),
            Some(ENOSPC)
        );
        drop(a);
        let d = mm.allocate(0x8000, 0, 0, u64::MAX, Mode::Best)?;
        assert_eq!(d.start(), mm.start());
        assert_eq!(c.end(), END);
        Ok(())
    }

    #[test]
    fn reservations_are_exact_and_exclusive() -> Result {
        let mm = mm()?;
        let kept = mm.reserve(0x10_4000, 0x1000)?;
        assert_eq!((kept.start(), kept.end()), (0x10_4000, 0x10_5000));
        assert_eq!(mm.reserve(0x10_4800, 0x1000).err(), Some(ENOSPC));
        assert_eq!(mm.reserve(0, 0x1000).err(), Some(ENOSPC));
        assert_eq!(mm.reserve(END - 0x800, 0x1000).err(), Some(ENOSPC));
        assert_eq!(mm.reserve(0x10_0000, 0).err(), Some(EINVAL));
        assert_eq!(mm.reserve(u64::MAX, 2).err(), Some(EINVAL));
        let low = mm.allocate(0x4000, 0, 0, u64::MAX, Mode::Low)?;
        let next = mm.allocate(0x1000, 0, 0, u64::MAX, Mode::Low)?;
        assert_eq!(low.end(), kept.start());
        assert_eq!(next.start(), kept.end());
        Ok(())
    }

    #[test]
    fn zero_and_huge_sizes_do_not_fit() -> Result {
        let mm = mm()?;
        assert_eq!(
            mm.allocate(0, 0, 0, u64::MAX, Mode::Best).err(),
            Some(ENOSPC)
        );
        assert_eq!(
            mm.allocate(u64::MAX, 0, 0, u64::MAX, Mode::Best).err(),
            Some(ENOSPC)
        );
        assert_eq!(mm.used(), 0);
        Ok(())
    }

    #[test]
    fn a_range_keeps_its_manager_alive() -> Result {
        let a = {
            let mm = mm()?;
            mm.allocate(0x1000, 0, 0, u64::MAX, Mode::Best)?
        };
        assert_eq!(a.size(), 0x1000);
        Ok(())
    }
}
