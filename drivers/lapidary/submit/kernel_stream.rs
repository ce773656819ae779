// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Commands that the kernel itself composes: clearing, of objects and of memories on the chip, moving, and self-test.
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
    memory::{
        Bo,
        Use, //
    },
    portable::replay::Memories,
    running::{
        IsolationOf,
        Running, //
    },
    submit::{
        job::Job,
        workspace::Lease, //
    },
};

/// What [`Gpu::fill`] and [`Gpu::copy`] need at most, and the other commands.
const MOST_DWORDS: usize = 1024;

/// Commands of the kernel for ring 0.
pub struct KernelStream<'s, 'a, F: Family> {
    running: &'s Running<'a, F>,
    space: Lease<'s, F, IsolationOf<'a, F>>,
    len: usize,
}

impl<'s, 'a, F: Family> KernelStream<'s, 'a, F> {
    /// No commands yet.
    pub fn new(running: &'s Running<'a, F>) -> Result<Self> {
        Ok(Self {
            running,
            space: running.workspace()?,
            len: 0,
        })
    }

    /// Fills `len` bytes at `dst` with `value`; both in whole pages.
    pub fn fill(&mut self, dst: GpuAddr, len: u64, value: u32) -> Result {
        let gpu = self.running.gpu();
        self.append(|out| gpu.fill(out, dst, len, value))
    }

    /// Copies `len` bytes from `src` to `dst`, which do not overlap; all in whole pages.
    pub fn copy(&mut self, dst: GpuAddr, src: GpuAddr, len: u64) -> Result {
        let gpu = self.running.gpu();
        self.append(|out| gpu.copy(out, dst, src, len))
    }

    /// Adds the dwords that `write` makes, at most 1024, and of which it says the number.
    pub(crate) fn append(&mut self, write: impl FnOnce(&mut [u32]) -> Result<usize>) -> Result {
        let out = self.space.words.room(self.len + MOST_DWORDS)?;
        self.len += write(out.get_mut(self.len..).ok_or(EINVAL)?)?;
        Ok(())
    }

    /// Executes the commands.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run(mut self) -> Result<ARef<Fence>> {
        let space = &mut *self.space;
        let words = space.words.filled(self.len);
        Ok(Job::prepare(self.running, 0, words, &mut space.uses, None)?.commit(|_, _| {}))
    }

    /// Executes the commands, which clear `memories` on the chip for their next owner. `publish` is called when no other
    /// job can come before them any more, and before they can have failed.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`]; `publish` has not been called then.
    pub(crate) fn run_for(mut self, memories: Memories, publish: impl FnOnce()) -> Result {
        let space = &mut *self.space;
        let words = space.words.filled(self.len);
        let mut job = Job::prepare(self.running, 0, words, &mut space.uses, None)?;
        job.set_memories(memories);
        job.commit(|_, _| publish());
        Ok(())
    }

    /// Executes the commands, which change the content of `object`: everybody waits for them.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run_on(mut self, object: &ARef<Bo<F>>) -> Result<ARef<Fence>> {
        let space = &mut *self.space;
        let words = space.words.filled(self.len);
        space
            .uses
            .push(Use::new(object.clone(), true, false), GFP_KERNEL)?;
        pin_init::stack_pin_init!(let exec = Exec::new(1));
        let locked = exec.lock(&space.uses, Use::object)?;
        let job = Job::prepare(self.running, 0, words, &mut space.uses, None)?;
        Ok(job.commit(|fence, uses| {
            locked.attach(fence, uses, |item| (item.object(), Usage::Kernel));
        }))
    }
}
