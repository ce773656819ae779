// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The interrupt of a running GPU.
//!
//! The handler acknowledges the interrupt and signals the fences that have completed, which wakes their waiters. If
//! no thread waits for a later fence, this is all. Otherwise the interrupt thread arms the interrupt again. This may
//! sleep, because it takes the lock under which the GPU is started and stopped. The worker does what takes long. It
//! is hastened only if threads wait for its work. Otherwise it looks by itself while jobs are under way.

use kernel::{
    irq,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        Arc, //
    },
};

use crate::{
    corner::fence::Signalling,
    family::{
        gpu::{
            Event,
            Gpu,
            TopHalf, //
        },
        ring::Ring,
        Family, //
    },
    running::Running, //
};

/// Faults that are logged, per device.
const FAULTS_PRINTED: u32 = 8;

/// The interrupt handler of a running GPU.
pub struct Handler<'a, F: Family> {
    running: Arc<Running<'a, F>>,
    faults: Atomic<u32>,
}

impl<'a, F: Family> Handler<'a, F> {
    pub(crate) fn new(running: Arc<Running<'a, F>>) -> Self {
        Self {
            running,
            faults: Atomic::new(0),
        }
    }

    /// Signal the fences that have completed on ring `index`. Any context.
    fn signal(&self, index: usize) {
        let running = &*self.running;
        let Some((ring, lane)) = running.ring(index) else {
            return;
        };
        if lane.timeline().process(ring.completed()).1 != 0 {
            running.watchdog.interrupted();
        }
        if lane.timeline().is_urgent() {
            running.worker.hasten();
        }
    }
}

impl<F: Family> irq::ThreadedHandler for Handler<'_, F> {
    fn handle(&self) -> irq::ThreadedIrqReturn {
        match self.running.gpu.top_half() {
            TopHalf::NotMine => irq::ThreadedIrqReturn::None,
            TopHalf::Handled => irq::ThreadedIrqReturn::Handled,
            TopHalf::Fence(index) => {
                self.signal(index);
                match self.running.is_wanted() {
                    true => irq::ThreadedIrqReturn::WakeThread,
                    false => irq::ThreadedIrqReturn::Handled,
                }
            }
            TopHalf::Wake => irq::ThreadedIrqReturn::WakeThread,
        }
    }

    fn handle_threaded(&self) -> irq::IrqReturn {
        let running = &*self.running;
        let signalling = Signalling::begin();
        running.gpu.drain(&mut |event| match event {
            Event::Fence(index) => self.signal(index),
            Event::Fault { vmid, addr } => {
                if self.faults.fetch_add(1, Relaxed) < FAULTS_PRINTED {
                    dev_err!(running.pdev, "GPU fault at {:#x}, space {}\n", addr, vmid);
                }
            }
            // The worker resets it.
            Event::Hang(index) => {
                running.watchdog.accuse(index);
                running.worker.hasten();
            }
        });
        running.arm();
        drop(signalling);
        irq::IrqReturn::Handled
    }
}
