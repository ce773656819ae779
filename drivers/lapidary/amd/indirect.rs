// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Registers behind an index and a data register.
//!
//! A Radeon shows some of its registers, those of the bus interface, the memory controller or the clocks, one at a time.
//! The host writes the number of a register to an index register and then accesses it through a data register. What
//! else goes into the index, and whether it is put back afterwards, differs from pair to pair ([`Pair`]).
//!
//! Registers of such a space are relative to a type of its own, and [`Indirect`] takes only registers of the spaces that
//! its pair serves. A clock register cannot be read through the memory controller's pair, nor straight from the window.

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

    /// Selects register `index` and reads it.
    fn read(window: Self::Window<'_>, index: u32) -> u32;

    /// Selects register `index` and writes `value` to it.
    fn write(window: Self::Window<'_>, index: u32, value: u32);
}

/// A pair whose index register stays as it is between accesses, and is the same for reading and writing.
pub trait Select: Pair {
    /// Selects register `index`.
    fn select(window: Self::Window<'_>, index: u32);

    /// Reads the register that is selected.
    fn read_selected(window: Self::Window<'_>) -> u32;

    /// Writes `value` to the register that is selected.
    fn write_selected(window: Self::Window<'_>, value: u32);
}

/// States that the registers of space `Self` are reached through the pair `P`.
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
/// Index and data are two accesses, so a lock holds them together. It is not taken in interrupt context.
#[pin_data]
pub struct Indirect<'a, P: Pair> {
    window: P::Window<'a>,
    #[pin]
    pair: SpinLock<()>,
    kind: PhantomData<P>,
}

impl<'a, P: Pair> Indirect<'a, P> {
    /// Returns an initializer for the registers behind `P` in `window`. There must be only one for each pair.
    pub fn new(window: P::Window<'a>) -> impl PinInit<Self> + use<'a, P> {
        pin_init!(Self {
            window,
            pair <- shared_spinlock!((), "indirect.pair"),
            kind: PhantomData,
        })
    }

    /// Number of the register `R` in its space.
    const fn index<R: Register>() -> u32 {
        // CAST: indices are below 0x1_0000.
        R::OFFSET as u32
    }

    /// Reads the register `R`.
    pub fn read<R>(&self) -> R
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        P::read(self.window, Self::index::<R>()).into()
    }

    /// Writes `value` to the register that its type names.
    pub fn write<R>(&self, value: R)
    where
        R: Indexed,
        R::BaseFamily: ServedBy<P>,
    {
        let _pair = self.pair.lock();
        P::write(self.window, Self::index::<R>(), value.into());
    }

    /// Reads the register `R`, passes it through `change` and writes the result. No other access to the space comes in
    /// between.
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

    /// Selects register `R` for several accesses, each of which costs one access to the window.
    ///
    /// The other registers of the space have to wait meanwhile.
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
    /// Reads the register.
    pub fn read(&self) -> R {
        P::read_selected(self.window).into()
    }

    /// Writes the register.
    pub fn write(&self, value: R) {
        P::write_selected(self.window, value.into());
    }
}
