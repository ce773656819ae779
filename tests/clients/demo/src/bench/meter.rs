// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Counting the instructions of everything that an action causes, sleeping included.
//!
//! In a guest under `-icount shift=0` with one CPU the time stamp counter advances by one with each
//! instruction. That counts a call from entry to return exactly, but not what the call causes later: an
//! interrupt, a worker that cleans up. Across a sleep the counter is useless, since an idle CPU lets time
//! jump.
//!
//! So the CPU is never idle here: a process of the lowest class spins whenever no other process wants to run, and
//! counts its rounds, each of a known number of instructions. What the time stamp counter advanced, less the
//! instructions of the spinner, is what all others executed: the action, interrupts, workers, context
//! switches, and the timer's ticks. Ticks happen without any action too: the meter measures once what nothing at
//! all costs, and takes that off for the time that has passed.

use anyhow::{Context, Result, ensure};
use rustix::mm::{MapFlags, ProtFlags};
use std::arch::asm;
use std::arch::x86_64::_rdtsc;
use std::time::Duration;

/// Instructions of one round of the spinner, see [`spin`]. The more, the faster the guest's time passes: most
/// do nothing, which costs an emulator nothing.
const ROUND: u64 = 16;

/// Return the time stamp counter.
#[inline]
pub fn ticks() -> u64 {
    // SAFETY: reading the time stamp counter has no preconditions.
    unsafe { _rdtsc() }
}

/// The spinning process; ends when dropped.
pub struct Meter {
    child: libc::pid_t,
    rounds: *mut u64,
    /// Which part of all instructions is executed if nothing is done.
    nothing: f64,
}

/// Count rounds for ever.
///
/// # Safety
///
/// `rounds` points to memory that nothing else writes.
unsafe fn spin(rounds: *mut u64) -> ! {
    // SAFETY: The caller's promise.
    unsafe {
        asm!(
            "2:",
            ".rept 14",
            "nop",
            ".endr",
            "add qword ptr [{rounds}], 1",
            "jmp 2b",
            rounds = in(reg) rounds,
            options(noreturn, nostack),
        )
    }
}

impl Meter {
    /// Start the spinner. Call while the process has one thread.
    ///
    /// # Errors
    ///
    /// If there is no memory, or no process can be made.
    pub fn new() -> Result<Meter> {
        // SAFETY: a new mapping at an address of the kernel's choice touches no existing memory.
        let page = unsafe {
            rustix::mm::mmap_anonymous(
                std::ptr::null_mut(),
                4096,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
            )
        };
        let rounds = page.context("a page for the spinner")?.cast::<u64>();
        // SAFETY: the process has one thread; the child only makes system calls and spins.
        let child = unsafe { libc::fork() };
        ensure!(child >= 0, "fork: {}", std::io::Error::last_os_error());
        if child == 0 {
            // SAFETY: plain system calls with valid arguments; then the loop, whose page is shared with the
            // parent, who only reads it.
            unsafe {
                let parameter: libc::sched_param = std::mem::zeroed();
                if libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL) != 0
                    || libc::sched_setscheduler(0, libc::SCHED_IDLE, &parameter) != 0
                {
                    libc::_exit(1);
                }
                spin(rounds)
            }
        }
        let mut meter = Meter {
            child,
            rounds,
            nothing: 0.0,
        };
        let before = meter.rounds();
        std::thread::sleep(Duration::from_millis(20));
        ensure!(meter.rounds() > before, "the spinner does not spin");
        let mut nothing = Vec::new();
        for _ in 0..9 {
            let (executed, passed) = meter.raw(Duration::from_millis(600), &mut || Ok(()))?;
            nothing.push(executed as f64 / passed as f64);
        }
        nothing.sort_unstable_by(f64::total_cmp);
        meter.nothing = nothing[nothing.len() / 2];
        Ok(meter)
    }

    fn rounds(&self) -> u64 {
        // SAFETY: the page is mapped as long as `self` exists.
        unsafe { self.rounds.read_volatile() }
    }

    /// Return the instructions of all processes but the spinner during `action` and a pause after it, in which the work
    /// that the action has caused is done. What is executed in such a time without an action is subtracted.
    ///
    /// # Errors
    ///
    /// Those of the action.
    pub fn measure(&self, pause: Duration, action: &mut dyn FnMut() -> Result<()>) -> Result<u64> {
        let (executed, passed) = self.raw(pause, action)?;
        Ok(executed.saturating_sub((self.nothing * passed as f64) as u64))
    }

    /// Return the instructions of all processes but the spinner, and of all processes.
    fn raw(&self, pause: Duration, action: &mut dyn FnMut() -> Result<()>) -> Result<(u64, u64)> {
        let (begin, rounds) = (ticks(), self.rounds());
        action()?;
        std::thread::sleep(pause);
        let (end, more) = (ticks(), self.rounds());
        let spun = more.wrapping_sub(rounds).wrapping_mul(ROUND);
        let passed = end.wrapping_sub(begin);
        Ok((passed.saturating_sub(spun), passed))
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // SAFETY: `child` is our own child, not yet waited for.
        unsafe {
            libc::kill(self.child, libc::SIGKILL);
            libc::waitpid(self.child, std::ptr::null_mut(), 0);
        }
    }
}
