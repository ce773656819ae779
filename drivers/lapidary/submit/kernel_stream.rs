// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Commands that the kernel itself composes: clearing and self-test.
//!
//! They never contain user words, and go to ring 0.

use kernel::{
    prelude::*,
    sync::aref::ARef, //
};

use crate::{
    corner::{
        exec::{
            Exec,
            Usage, //
        },
        fence::Fence, //
    },
    family::{
        Family,
        Gpu,
        GpuAddr, //
    },
    memory::Bo,
    running::Running,
    submit::{
        job::Job,
        Load, //
    },
};

/// What [`Gpu::fill`] needs at most.
const FILL_DWORDS: usize = 1024;

/// Commands of the kernel for ring 0.
pub struct KernelStream {
    words: KVVec<u32>,
}

impl KernelStream {
    /// Fills `len` bytes at `dst` with `value`; both in whole pages.
    pub fn fill<F: Family>(
        running: &Running<'_, F>,
        dst: GpuAddr,
        len: u64,
        value: u32,
    ) -> Result<Self> {
        let mut words = KVVec::from_elem(0, FILL_DWORDS, GFP_KERNEL)?;
        let used = running.gpu().fill(&mut words, dst, len, value)?;
        words.truncate(used);
        Ok(Self { words })
    }

    /// Executes the commands.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run<F: Family>(self, running: &Running<'_, F>) -> Result<ARef<Fence>> {
        Ok(Job::prepare(running, 0, &self.words, Load::Empty)?.commit(|_| {}))
    }

    /// Executes the commands, which change the content of `object`: everybody waits for them.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run_on<F: Family>(
        self,
        running: &Running<'_, F>,
        object: &ARef<Bo<F>>,
    ) -> Result<ARef<Fence>> {
        let objects = core::slice::from_ref(object);
        pin_init::stack_pin_init!(let exec = Exec::new(1));
        let locked = exec.lock(objects)?;
        let job = Job::prepare(running, 0, &self.words, Load::Object(object.clone()))?;
        Ok(job.commit(|fence| locked.attach(fence, |_| Usage::Kernel)))
    }
}
