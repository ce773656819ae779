// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Locks that generic code makes.
//!
//! Lockdep assigns a lock to a class. The class has a key and a name, both identified by their address. Generic code
//! of this library is compiled into each family's module. The key that [`new_mutex!`](kernel::sync::new_mutex) makes
//! is a static, which exists once. The name is a literal, of which each module has its own copy. Lockdep treats two
//! names for one key as an error and stops checking. So generic code makes its locks by these macros, in which names
//! are statics, too.

/// The name of a lock, with one address for all modules.
#[doc(hidden)]
#[macro_export]
macro_rules! lock_name {
    ($name:literal) => {{
        static NAME: &::kernel::str::CStr = ::kernel::c_str!($name);
        NAME
    }};
}

/// A mutex of generic code.
#[macro_export]
macro_rules! shared_mutex {
    ($inner:expr, $name:literal $(,)?) => {
        ::kernel::sync::Mutex::new(
            $inner,
            $crate::lock_name!($name),
            ::kernel::static_lock_class!(),
        )
    };
}

/// A spinlock of generic code.
#[macro_export]
macro_rules! shared_spinlock {
    ($inner:expr, $name:literal $(,)?) => {
        ::kernel::sync::SpinLock::new(
            $inner,
            $crate::lock_name!($name),
            ::kernel::static_lock_class!(),
        )
    };
}

/// A spinlock of generic code that interrupt handlers take, too. Interrupts are off on this CPU while it is held.
#[macro_export]
macro_rules! shared_spinlock_irq {
    ($inner:expr, $name:literal $(,)?) => {
        ::kernel::sync::SpinLockIrq::new(
            $inner,
            $crate::lock_name!($name),
            ::kernel::static_lock_class!(),
        )
    };
}

/// A condition variable of generic code.
#[macro_export]
macro_rules! shared_condvar {
    ($name:literal $(,)?) => {
        ::kernel::sync::CondVar::new($crate::lock_name!($name), ::kernel::static_lock_class!())
    };
}

pub use crate::{
    shared_condvar,
    shared_mutex,
    shared_spinlock,
    shared_spinlock_irq, //
};
