// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Heaps in memory of the caller: sorting, and the least of many items. They cannot panic and do not allocate.

use core::{
    cell::Cell,
    cmp::Reverse, //
};

/// Sort by `key`, the least first.
pub fn sort<T: Copy, K: Ord>(items: &mut [T], key: impl Fn(&T) -> K) {
    let cells = Cell::from_mut(items).as_slice_of_cells();
    arrange(cells, &key);
    for last in (1..cells.len()).rev() {
        if let (Some(top), Some(end)) = (cells.first(), cells.get(last)) {
            exchange(top, end);
        }
        sink(cells.get(..last).unwrap_or(&[]), 0, &key);
    }
}

/// Make a heap, the greatest first.
fn arrange<T: Copy, K: Ord>(cells: &[Cell<T>], key: &impl Fn(&T) -> K) {
    for root in (0..cells.len() / 2).rev() {
        sink(cells, root, key);
    }
}

/// Exchange two values. `Cell::swap` is not used because it panics for cells that overlap.
fn exchange<T: Copy>(a: &Cell<T>, b: &Cell<T>) {
    a.set(b.replace(a.get()));
}

/// Let element `at` sink in a heap. All below it is in order.
fn sink<T: Copy, K: Ord>(cells: &[Cell<T>], mut at: usize, key: &impl Fn(&T) -> K) {
    let key = |index: usize| cells.get(index).map(|cell| key(&cell.get()));
    loop {
        let left = at.saturating_mul(2).saturating_add(1);
        let right = left.saturating_add(1);
        let child = if key(right) > key(left) { right } else { left };
        let (Some(upper), Some(lower)) = (cells.get(at), cells.get(child)) else {
            break;
        };
        if key(at) >= key(child) {
            break;
        }
        exchange(upper, lower);
        at = child;
    }
}

/// The least of many items, as many as there is room for.
///
/// Time grows with the number of items times the logarithm of the room.
pub struct Least<'a, T> {
    /// A heap when it is full, the greatest first.
    room: &'a mut [T],
    count: usize,
}

impl<'a, T: Copy + Ord> Least<'a, T> {
    /// Make an empty set. The initial content of `room` does not matter.
    pub fn new(room: &'a mut [T]) -> Self {
        Self { room, count: 0 }
    }

    /// Keep `item`, if it is among the least so far.
    pub fn offer(&mut self, item: T) {
        let full = self.room.len();
        if let Some(free) = self.room.get_mut(self.count) {
            *free = item;
            self.count = self.count.saturating_add(1);
            if self.count == full {
                arrange(self.cells(), &|item| *item);
            }
        } else if let Some(greatest) = self.room.first_mut().filter(|first| item < **first) {
            *greatest = item;
            sink(self.cells(), 0, &|item| *item);
        }
    }

    /// Sort the items, the least last, and return their number. They are at the beginning of the room.
    pub fn finish(self) -> usize {
        let found = self.room.get_mut(..self.count).unwrap_or(&mut []);
        sort(found, |item| Reverse(*item));
        self.count
    }

    fn cells(&mut self) -> &[Cell<T>] {
        Cell::from_mut(&mut *self.room).as_slice_of_cells()
    }
}
