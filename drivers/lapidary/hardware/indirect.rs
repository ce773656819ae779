// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers behind an index and a data register.
//!
//! Some registers are not in the register window: those of a bus interface, a memory controller, of clocks or of VGA. The
//! host writes the number of such a register to an index register and then accesses it through a data register. Pairs
//! differ in what else is written to the index, and in whether the index is reset afterwards ([`Pair`]).
//!
//! Each space of such registers has a type of its own. [`Indirect`] takes only registers of the spaces that its pair
//! serves. A clock register cannot be read through the memory controller's pair, nor straight from the window.

use core::marker::PhantomData;

use kernel::{
    io::register::{
        Register,
        RelativeRegister,
        WithBase, //
    },
    prelude::*,
    sync::{
        lock::spinlock::SpinLockGuard,
        SpinLock, //
    },
};

use crate::lock::shared_spinlock;

/// An index and a data register.
pub trait Pair {
    /// The window in which they are.
    type Window<'a>: Copy;

    /// Select register `index` and read it.
    fn read(window: Self::Window<'_>, index: u32) -> u32;

    /// Select register `index` and write `value` to it.
    fn write(window: Self::Window<'_>, index: u32, value: u32);
}

/// A pair whose index may stay between accesses, and is the same for reading and writing.
pub trait Select: Pair {
    /// Select register `index`.
    fn select(window: Self::Window<'_>, index: u32);

    /// Read the register that is selected.
    fn read_selected(window: Self::Window<'_>) -> u32;

    /// Write `value` to the register that is selected.
    fn write_selected(window: Self::Window<'_>, value: u32);
}

/// A space of registers behind the pair `P`.
pub trait ServedBy<P: Pair> {}

/// A register of an indirect space.
pub trait Indexed:
    RelativeRegister + WithBase + Register<Storage = u32> + From<u32> + Into<u32>
{
}

impl<R> Indexed for R where
    R: RelativeRegister + WithBase + Register<Storage = u32> + From<u32> + Into<u32>
{
}

/// The registers behind the pair `P`.
///
/// An access takes two accesses to the window, under a spinlock. The lock is not taken in interrupt context.
#[pin_data]
pub struct Indirect<'a, P: Pair> {
    window: P::Window<'a>,
    #[pin]
    pair: SpinLock<()>,
    kind: PhantomData<P>,
}

impl<'a, P: Pair> Indirect<'a, P> {
    /// Return an initializer for the registers behind `P` in `window`. There must be only one for each pair.
    pub fn new(window: P::Window<'a>) -> impl PinInit<Self> + use<'a, P> {
        pin_init!(Self {
            window,
            pair <- shared_spinlock!((), "indirect.pair"),
            kind: PhantomData,
        })
    }

    /// Return the number of the register `R` in its space.
    const fn index<R: Register>() -> u32 {
        // CAST: indices are below 0x1_0000.
        R::OFFSET as u32
    }

    /// Read the register `R`.
    pub fn read<R>(&self) -> R
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        P::read(self.window, Self::index::<R>()).into()
    }

    /// Write `value` to the register that its type names.
    pub fn write<R>(&self, value: R)
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        P::write(self.window, Self::index::<R>(), value.into());
    }

    /// Read the register `R`, pass it through `change` and write the result. The lock is held over all of it.
    pub fn update<R>(&self, change: impl FnOnce(R) -> R)
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        let index = Self::index::<R>();
        let value = change(P::read(self.window, index).into());
        P::write(self.window, index, value.into());
    }

    /// Select register `R` for several accesses. Each costs one access to the window.
    ///
    /// The spinlock is held until the result is dropped.
    pub fn select<R>(&self) -> Selected<'_, 'a, P, R>
    where
        P: Select,
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let pair = self.pair.lock();
        P::select(self.window, Self::index::<R>());
        Selected {
            window: self.window,
            _pair: pair,
            register: PhantomData,
        }
    }
}

/// A register that stays selected while this lives.
pub struct Selected<'s, 'a, P: Select, R> {
    window: P::Window<'a>,
    _pair: SpinLockGuard<'s, ()>,
    register: PhantomData<R>,
}

impl<P: Select, R: Indexed> Selected<'_, '_, P, R> {
    /// Read the register.
    pub fn read(&self) -> R {
        P::read_selected(self.window).into()
    }

    /// Write the register.
    pub fn write(&self, value: R) {
        P::write_selected(self.window, value.into());
    }
}
