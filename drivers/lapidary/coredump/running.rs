// SPDX-License-Identifier: GPL-2.0 OR MIT

//! From a running GPU to a [`Snapshot`], and from the snapshot to user space.

use kernel::{
    drm::gem::BaseObject,
    fmt::{
        self,
        Write, //
    },
    prelude::*, //
};

use super::{
    print_words,
    Item,
    Snapshot,
    IB_DWORDS, //
};
use crate::{
    corner::coredump::Text,
    family::{
        gpu::Gpu,
        Family, //
    },
    running::Running, //
};

impl Snapshot {
    /// Copy the state of a GPU whose ring `index` hangs in its oldest job. No submission is made meanwhile. Allocates
    /// nothing.
    ///
    /// A state that has not been published yet is kept, because the first one is the important one.
    pub(crate) fn take<F: Family>(&mut self, running: &Running<'_, F>, index: usize) {
        if self.taken {
            return;
        }
        let Some((ring, lane)) = running.ring(index) else {
            return;
        };
        self.registers.clear();
        running.gpu().dump(&mut |name, value| {
            // Registers beyond the limit are left out.
            let _ = self.registers.push_within_capacity((name, value));
        });
        self.copy_ring(ring);

        let progress = lane.timeline().progress();
        self.ring = index;
        self.seqno = progress.signalled + 1;
        self.committed = progress.committed;
        self.objects.clear();
        self.left_out = 0;
        let job = lane.timeline().first(|command, load| {
            self.kernel = load.record.is_none();
            for item in load.uses.iter() {
                let item = Item {
                    addr: item.addr().unwrap_or(0),
                    size: item.object().size() as u64,
                    writes: item.writes(),
                };
                if self.objects.push_within_capacity(item).is_err() {
                    self.left_out += 1;
                }
            }
            command.ib
        });
        self.commands.clear();
        if let Some(ib) = job {
            self.ib = ib;
            let pool = lane.pool().lock();
            for word in 0..ib.len.min(IB_DWORDS as u32) {
                let Some(word) = pool.word(ib.addr, word) else {
                    break;
                };
                let _ = self.commands.push_within_capacity(word);
            }
        }
        self.taken = true;
    }

    /// Publish the state that has been taken, if there is one, as a dump. May sleep and allocate.
    pub(crate) fn publish<F: Family>(&mut self, running: &Running<'_, F>) {
        if !self.taken {
            return;
        }
        self.taken = false;
        let mut text = Text::new();
        let result = self
            .print(running, &mut text)
            .map_err(|_| ENOMEM)
            .and_then(|()| text.publish(running.pdev().as_ref()));
        match result {
            Ok(()) => dev_info!(
                running.pdev(),
                "state of the hung GPU in /sys/class/devcoredump\n"
            ),
            Err(error) => dev_warn!(running.pdev(), "no dump of the hung GPU: {:?}\n", error),
        }
    }

    fn print<F: Family>(&self, running: &Running<'_, F>, out: &mut Text) -> fmt::Result {
        let layout = running.data().memory.layout();
        writeln!(out, "lapidary coredump 1")?;
        writeln!(out, "driver {}", F::NAME.to_str().unwrap_or(""))?;
        writeln!(out, "device {:#06x}", running.pdev().device_id())?;
        writeln!(out, "resets {}", running.data().resets())?;
        writeln!(out, "vram {:#x} {:#x}", layout.vram.start, layout.vram.end)?;
        writeln!(out, "gtt {:#x} {:#x}", layout.gtt.start, layout.gtt.end)?;
        writeln!(
            out,
            "hung ring {} job {} of {}",
            self.ring, self.seqno, self.committed
        )?;
        writeln!(out, "by {}", if self.kernel { "kernel" } else { "client" })?;
        writeln!(out, "[registers]")?;
        for (name, value) in self.registers.iter() {
            writeln!(out, "{name} {value:#010x}")?;
        }
        writeln!(
            out,
            "[ring] first {:#x} read {:#x} write {:#x} size {:#x}",
            self.first, self.read, self.write, self.size
        )?;
        print_words(out, &self.words)?;
        writeln!(
            out,
            "[ib] addr {:#x} dwords {}",
            self.ib.addr,
            self.commands.len()
        )?;
        print_words(out, &self.commands)?;
        writeln!(out, "[objects]")?;
        for item in self.objects.iter() {
            let access = if item.writes { "write" } else { "read" };
            writeln!(out, "{:#x} {} {}", item.addr, item.size, access)?;
        }
        if self.left_out != 0 {
            writeln!(out, "and {} more", self.left_out)?;
        }
        writeln!(out, "[end]")
    }
}
