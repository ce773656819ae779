// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Telling user space that the GPU was reset, or does not work any more.
//!
//! Making a core dump and an event allocates, and an allocation may have to wait for a fence. So recovery only leaves
//! a notice, and a worker of its own does the rest.

use kernel::{
    prelude::*,
    sync::Arc, //
};

use crate::{
    corner::{
        wedge,
        workqueue::Run, //
    },
    family::Family,
    running::Running, //
};

/// Publishes the state of the hung GPU. Then sends the event "wedged" of the device, with the necessary action and
/// the guilty process.
pub(crate) struct Notifier<'a, F: Family>(pub(crate) Arc<Running<'a, F>>);

impl<F: Family> Run for Notifier<'_, F> {
    fn run(&self) {
        let running = &*self.0;
        running.snapshot.lock().publish(running);
        let notice = running.notice.lock().take();
        if let Some(notice) = notice {
            if let Err(error) = wedge::tell(&running.dev, &notice) {
                dev_dbg!(running.pdev, "nobody was told of a reset: {:?}\n", error);
            }
        }
    }
}
