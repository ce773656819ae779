// SPDX-License-Identifier: GPL-2.0 OR MIT

//! A chip and its machine shared between threads: the server's, the control port's, and the one in which the chip
//! does its own work.
//!
//! One lock protects all. The working thread releases it after every step, and does not take it while another thread
//! waits, so that a register access never waits longer than one packet.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::chip::{Chip, Step};
use crate::machine::Machine;

/// A chip together with its machine.
pub struct System {
    /// The chip.
    pub chip: Box<dyn Chip>,
    /// Its surroundings.
    pub machine: Machine,
}

/// The shared system.
pub struct Shared {
    system: Mutex<System>,
    work: Condvar,
    waiting: AtomicUsize,
    /// Work may have come up since the working thread last looked.
    poked: AtomicBool,
    quit: AtomicBool,
}

impl Shared {
    /// Share a system.
    pub fn new(system: System) -> Arc<Shared> {
        Arc::new(Shared {
            system: Mutex::new(system),
            work: Condvar::new(),
            waiting: AtomicUsize::new(0),
            poked: AtomicBool::new(false),
            quit: AtomicBool::new(false),
        })
    }

    /// Lock the system and run `f` on it.
    pub fn with<T>(&self, f: impl FnOnce(&mut System) -> T) -> T {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let mut system = self.lock();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        f(&mut system)
    }

    /// Lock the system and run `f` on it, which may give the chip something to do.
    pub fn kick<T>(&self, f: impl FnOnce(&mut System) -> T) -> T {
        let result = self.with(|system| {
            let result = f(system);
            // Set with the lock held, so that it cannot fall between the working thread's look and its sleep.
            self.poked.store(true, Ordering::SeqCst);
            result
        });
        self.work.notify_one();
        result
    }

    fn lock(&self) -> MutexGuard<'_, System> {
        self.system.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Start the thread in which the chip works.
    ///
    /// # Errors
    /// When the system has no thread to give.
    pub fn spawn(self: &Arc<Self>) -> std::io::Result<Worker> {
        let shared = self.clone();
        let thread = thread::Builder::new()
            .name("command-processor".into())
            .spawn(move || shared.work())?;
        Ok(Worker {
            shared: self.clone(),
            thread: Some(thread),
        })
    }

    fn work(&self) {
        let mut guard = self.lock();
        while !self.quit.load(Ordering::SeqCst) {
            self.poked.store(false, Ordering::SeqCst);
            let system = &mut *guard;
            match system.chip.step(&mut system.machine) {
                Step::More => {
                    if self.waiting.load(Ordering::SeqCst) > 0 {
                        drop(guard);
                        while self.waiting.load(Ordering::SeqCst) > 0 {
                            thread::yield_now();
                        }
                        guard = self.lock();
                    }
                }
                Step::Idle => {
                    guard.machine.trace.flush();
                    while !self.poked.load(Ordering::SeqCst) && !self.quit.load(Ordering::SeqCst) {
                        guard = self
                            .work
                            .wait(guard)
                            .unwrap_or_else(PoisonError::into_inner);
                    }
                }
                Step::At(time) => {
                    let left = time.saturating_duration_since(Instant::now());
                    if !left.is_zero() && !self.poked.load(Ordering::SeqCst) {
                        guard = self
                            .work
                            .wait_timeout(guard, left)
                            .unwrap_or_else(PoisonError::into_inner)
                            .0;
                    }
                }
            }
        }
    }
}

/// The working thread; stopped and joined on drop.
pub struct Worker {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.shared
            .kick(|_| self.shared.quit.store(true, Ordering::SeqCst));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
