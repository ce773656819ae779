// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The interrupt of a running GPU.
//!
//! The family's top half acknowledges; everything else happens in a thread, which signals the fences that have
//! completed and lets the interrupt through again if somebody still waits. What takes long is the worker's.

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
        Event,
        Family,
        Gpu,
        Ring,
        TopHalf, //
    },
    running::Running,
};

/// Faults that are printed, per device.
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
}

impl<F: Family> irq::ThreadedHandler for Handler<'_, F> {
    fn handle(&self) -> irq::ThreadedIrqReturn {
        match self.running.gpu.top_half() {
            TopHalf::NotMine => irq::ThreadedIrqReturn::None,
            TopHalf::Handled => irq::ThreadedIrqReturn::Handled,
            TopHalf::Wake => irq::ThreadedIrqReturn::WakeThread,
        }
    }

    fn handle_threaded(&self) -> irq::IrqReturn {
        let running = &*self.running;
        let signalling = Signalling::begin();
        running.gpu.drain(&mut |event| match event {
            Event::Fence(index) => {
                if let Some((ring, lane)) = running.ring(index) {
                    if lane.timeline().process(ring.completed()).1 != 0 {
                        running.watchdog.interrupted();
                    }
                }
            }
            Event::Fault { vmid, addr } => {
                if self.faults.fetch_add(1, Relaxed) < FAULTS_PRINTED {
                    dev_err!(running.pdev, "GPU fault at {:#x}, space {}\n", addr, vmid);
                }
            }
            // The worker resets it.
            Event::Hang(index) => running.watchdog.accuse(index),
        });
        running.arm();
        drop(signalling);
        running.worker.hasten();
        irq::IrqReturn::Handled
    }
}
