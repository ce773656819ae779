// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The fence interrupt of a chip that has one interrupt for its one ring, which comes once and is then armed again.
//!
//! The source is enabled only while a thread waits for a fence, so a busy ring without waiters does not interrupt at all.
//!
//! A message-signalled interrupt (MSI) is sent once and then has to be re-armed. The re-arm must be the last access, because
//! a source that is pending then sends the next message. A register access costs the CPU about as much as a thousand
//! instructions, so a wait has few of them:
//!
//! - With messages the source stays enabled, and the re-arm lets one message through. To arm, the driver acknowledges
//!   the old state, waits until the chip has done so, and re-arms the message. The handler accesses no register: only this
//!   chip sends the message, only an enabled source causes it, and the next arming acknowledges.
//! - A line stays high as long as an enabled source is pending. The handler reads the status, disables the source and
//!   acknowledges it. Arming enables the source.
//!
//! A chip with a ring of interrupt vectors has another way ([`crate::amd::ih`]).

use kernel::{
    pci,
    sync::atomic::{
        Atomic,
        Full,
        Relaxed, //
    },
};

use crate::family::TopHalf;

/// The ring whose fences raise the interrupt. There is only one.
const RING: usize = 0;

/// Who holds an interrupt line high.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Pending {
    /// Not this chip, or it does not answer.
    Nothing,
    /// A fence has completed.
    Fence,
    /// Something that the driver does not use, which has been switched off.
    Other,
}

/// The registers of the interrupt.
pub trait Source: Send + Sync {
    /// Enable the fence's source and no other one, or none at all.
    fn enable(&self, on: bool);

    /// Acknowledge a fence that is pending, and wait until the chip has done so.
    ///
    /// A posted write takes a while to arrive. A late one would also acknowledge the interrupt of a fence that completes
    /// after the caller has looked which fences have. So this ends with a read, whose answer comes behind the write and
    /// behind what the chip wrote to memory before.
    fn acknowledge(&self);

    /// Re-arm the message.
    fn rearm(&self);

    /// Look who holds the line high. Switch off what the driver does not use.
    fn pending(&self) -> Pending;
}

/// The interrupt logic of one chip.
pub struct OneShot<S: Source> {
    source: S,
    /// Interrupts are messages, which are re-armed after each.
    messages: Atomic<bool>,
    /// The fence interrupt is armed, and has not come since.
    armed: Atomic<bool>,
    /// The source is enabled.
    enabled: Atomic<bool>,
    /// The chip may send a message. None has come since the last re-arm.
    ready: Atomic<bool>,
}

impl<S: Source> OneShot<S> {
    /// Take over the interrupts of a chip, and disable them.
    pub fn new(source: S) -> Self {
        let irq = Self {
            source,
            messages: Atomic::new(false),
            armed: Atomic::new(false),
            enabled: Atomic::new(false),
            ready: Atomic::new(false),
        };
        irq.off();
        irq
    }

    /// Return the registers.
    pub fn source(&self) -> &S {
        &self.source
    }

    /// Note the kind of interrupt. Called before the handler can run.
    pub fn set_kind(&self, kind: pci::IrqType) {
        let messages = !matches!(kind, pci::IrqType::Intx);
        self.messages.store(messages, Relaxed);
        self.begin();
    }

    /// Let the first message through.
    fn begin(&self) {
        if self.messages.load(Relaxed) {
            self.ready.store(true, Relaxed);
            self.source.rearm();
        }
    }

    /// Arm the fence interrupt for one time, or disarm it. Return whether that is a change. Arming acknowledges what
    /// was pending.
    pub fn arm(&self, on: bool) -> bool {
        if self.is_armed() == on {
            return false;
        }
        if on {
            self.source.acknowledge();
            // This store comes before the interrupt can. A message that was on its way is taken for the awaited one.
            // The handler clears `ready` first. So either this function re-arms, or the handler finds that a thread
            // still waits, and arms again.
            self.armed.store(true, Relaxed);
            if !self.enabled.load(Relaxed) {
                self.enabled.store(true, Relaxed);
                self.source.enable(true);
            }
            if self.messages.load(Relaxed) && !self.ready.xchg(true, Full) {
                self.source.rearm();
            }
        } else {
            self.off();
        }
        true
    }

    /// Return whether the fence interrupt is armed and has not come since.
    pub fn is_armed(&self) -> bool {
        self.armed.load(Relaxed)
    }

    /// Disable all sources and disarm.
    pub fn off(&self) {
        self.mask();
        self.armed.store(false, Relaxed);
    }

    /// Disable all sources.
    fn mask(&self) {
        self.source.enable(false);
        self.enabled.store(false, Relaxed);
    }

    /// Bring a chip that may have lost its registers to the state after [`OneShot::new`] and [`OneShot::set_kind`].
    pub fn renew(&self) {
        self.off();
        self.begin();
    }

    /// Handle the hard interrupt. Find out whether the chip has raised it, and quiet it. A fence interrupt comes once
    /// and then has to be armed again.
    pub fn top_half(&self) -> TopHalf {
        if self.messages.load(Relaxed) {
            // The chip sends no other message before the re-arm. If it was another source, arming finds out.
            self.ready.store(false, Relaxed);
            self.armed.xchg(false, Full);
            return TopHalf::Fence(RING);
        }
        match self.source.pending() {
            Pending::Nothing => TopHalf::NotMine,
            Pending::Other => TopHalf::Handled,
            Pending::Fence => {
                self.mask();
                // The line must be low before the handler returns.
                self.source.acknowledge();
                // This store is the last. From here on another CPU may arm again.
                self.armed.store(false, Relaxed);
                TopHalf::Fence(RING)
            }
        }
    }
}
