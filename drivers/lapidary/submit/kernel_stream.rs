// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Commands that the kernel itself composes: clears of objects and of memories on the chip, moves, and the self-test.
//!
//! They never contain words of user space, and are executed on [`Gpu::kernel_ring`]. The self-test uses each ring.

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
        gpu::{
            Gpu,
            Step, //
        },
        space::GpuAddr,
        Family, //
    },
    memory::{
        object::Bo,
        usage::Use, //
    },
    portable::replay::Memories,
    running::{
        IsolationOf,
        Running, //
    },
    submit::{
        job::{
            Job,
            Order, //
        },
        workspace::{
            Borrowed,
            Workspace, //
        }, //
    }, //
};

/// Commands of the kernel for a ring.
pub struct KernelStream<'s, 'a, F: Family> {
    running: &'s Running<'a, F>,
    ring: usize,
    workspace: Borrowed<'s, F, IsolationOf<'a, F>>,
    len: usize,
}

impl<'s, 'a, F: Family> KernelStream<'s, 'a, F> {
    /// Make an empty stream for the kernel's ring.
    pub fn new(running: &'s Running<'a, F>) -> Result<Self> {
        Self::on(running, running.gpu().kernel_ring())
    }

    /// Make an empty stream for ring `ring`.
    pub(crate) fn on(running: &'s Running<'a, F>, ring: usize) -> Result<Self> {
        Ok(Self {
            running,
            ring,
            workspace: running.workspace()?,
            len: 0,
        })
    }

    /// Fill `len` bytes at `dst` with `value`. Both are in whole pages.
    pub fn fill(&mut self, dst: GpuAddr, len: u64, value: u32) -> Result {
        let (gpu, ring) = (self.running.gpu(), self.ring);
        self.steps(len, |out, done| {
            gpu.fill(ring, out, dst + done, len - done, value)
        })
    }

    /// Copy `len` bytes from `src` to `dst`, which do not overlap. All are in whole pages.
    pub fn copy(&mut self, dst: GpuAddr, src: GpuAddr, len: u64) -> Result {
        let (gpu, ring) = (self.running.gpu(), self.ring);
        self.steps(len, |out, done| {
            gpu.copy(ring, out, dst + done, src + done, len - done)
        })
    }

    /// Call `step` with the number of bytes that are done, until all `len` bytes are.
    fn steps(&mut self, len: u64, mut step: impl FnMut(&mut [u32], u64) -> Result<Step>) -> Result {
        let mut done = 0;
        while done < len {
            self.append(<F::Gpu<'a> as Gpu<'a>>::STEP_DWORDS, |out| {
                let Step { dwords, bytes } = step(out, done)?;
                // An empty step would never end.
                done += bytes.max(1);
                Ok(dwords)
            })?;
        }
        Ok(())
    }

    /// Append the dwords that `write` writes, at most `most`. `write` returns their number.
    pub(crate) fn append(
        &mut self,
        most: usize,
        write: impl FnOnce(&mut [u32]) -> Result<usize>,
    ) -> Result {
        let out = self.workspace.words.room(self.len + most)?;
        self.len += write(out.get_mut(self.len..).ok_or(EINVAL)?)?;
        Ok(())
    }

    /// Reserve what a job needs that executes the commands.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    fn job(&mut self) -> Result<Job<'_, 'a, F>> {
        let Workspace { words, uses, .. } = &mut *self.workspace;
        // The caller has waited for the objects, if other rings use them.
        let order = Order {
            ring: self.ring,
            behind: 0,
        };
        Job::prepare(
            self.running,
            order,
            words.filled(self.len),
            uses,
            None,
            |_| Ok(None),
        )
    }

    /// Execute the commands.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run(mut self) -> Result<ARef<Fence>> {
        Ok(self.job()?.commit(|_, _| {}))
    }

    /// Execute the commands, which clear `memories` on the chip for their next owner. `publish` is called when no
    /// other job can be put before them any more, and before they can have failed.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`]. `publish` has not been called then.
    pub(crate) fn run_for(mut self, memories: Memories, publish: impl FnOnce()) -> Result {
        let mut job = self.job()?;
        job.set_memories(memories);
        job.commit(|_, _| publish());
        Ok(())
    }

    /// Execute the commands, which change the content of `object`. All accesses to it wait for them.
    ///
    /// # Errors
    ///
    /// As [`Job::prepare`].
    pub(crate) fn run_on(mut self, object: &ARef<Bo<F>>) -> Result<ARef<Fence>> {
        let uses = &mut self.workspace.uses;
        uses.push(Use::new(object.clone(), true, false), GFP_KERNEL)?;
        pin_init::stack_pin_init!(let exec = Exec::new(1));
        let locked = exec.lock(uses, Use::object)?;
        Ok(self.job()?.commit(|fence, uses| {
            locked.attach(fence, uses, |item| (item.object(), Usage::Kernel));
        }))
    }
}
