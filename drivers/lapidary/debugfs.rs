// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The state of a device for developers, as files in debugfs.
//!
//! | file | shows |
//! | --- | --- |
//! | `lapidary_rings` | pointers of each ring, and the dwords around the jobs under way |
//! | `lapidary_fences` | progress of each ring |
//! | `lapidary_clients` | open files: engine time, resets, refusals, objects |
//! | `lapidary_objects` | objects of open files, and their places |
//! | `lapidary_memory` | used parts of VRAM and of the GTT window |
//! | `lapidary_resets` | resets and lost interrupts so far |
//! | `lapidary_registers` | status registers, by name |

use kernel::{
    drm::{
        self,
        gem::BaseObject, //
    },
    fmt::{
        self,
        Write, //
    }, //
};

use crate::{
    corner::{
        debugfs::{
            self,
            File,
            Page, //
        },
        fdinfo::{
            Accounts,
            Objects,
            Region, //
        },
        resv, //
    },
    driver::{
        Driver,
        Registered, //
    },
    family::{
        gpu::Gpu,
        ring::Ring,
        Family, //
    }, //
};

/// Dwords of a ring that are shown before the jobs under way, and the largest number shown in total.
const BEFORE: u32 = 32;
const MOST: u32 = 4096;
/// Dwords of a line.
const LINE: u32 = 8;

type Device<F> = drm::Device<Driver<F>, drm::Registered>;

/// Files of a device of family `F`.
pub(crate) struct Files<F>(core::marker::PhantomData<fn() -> F>);

impl<F: Family> Files<F> {
    /// All of them.
    pub(crate) const ALL: &'static [File<Driver<F>>] = &[
        File {
            name: c"lapidary_rings",
            show: rings::<F>,
        },
        File {
            name: c"lapidary_fences",
            show: fences::<F>,
        },
        File {
            name: c"lapidary_clients",
            show: clients::<F>,
        },
        File {
            name: c"lapidary_objects",
            show: objects::<F>,
        },
        File {
            name: c"lapidary_memory",
            show: memory::<F>,
        },
        File {
            name: c"lapidary_resets",
            show: resets::<F>,
        },
        File {
            name: c"lapidary_registers",
            show: registers::<F>,
        },
    ];
}

fn rings<F: Family>(_: &Device<F>, reg: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    for (index, ring) in reg.running.gpu().rings().iter().enumerate() {
        let size = ring.dwords();
        let (read, write) = ring.pointers();
        writeln!(
            out,
            "ring {index}: size {size:#x} read {read:#x} write {write:#x} completed {}",
            ring.completed()
        )?;
        // The pointers come from the chip and may be invalid.
        let pending = write + size - read.min(size);
        let shown = (pending.checked_rem(size).unwrap_or(0) + BEFORE).min(MOST);
        for line in 0..shown.div_ceil(LINE) {
            let at = |word: u32| (write + size - shown + line * LINE + word) % size.max(1);
            write!(out, "{:#07x}:", at(0))?;
            for word in 0..LINE.min(shown - line * LINE) {
                write!(out, " {:08x}", ring.word(at(word)))?;
            }
            writeln!(out)?;
        }
    }
    Ok(())
}

fn fences<F: Family>(_: &Device<F>, reg: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    let running = &reg.running;
    for index in 0..running.gpu().rings().len() {
        let Some((ring, lane)) = running.ring(index) else {
            break;
        };
        let timeline = lane.timeline();
        let progress = timeline.progress();
        writeln!(
            out,
            "ring {index}: context {} committed {} written {} signalled {} dropped {} {}",
            timeline.context(),
            progress.committed,
            ring.completed(),
            progress.signalled,
            timeline.dropped(),
            match timeline.is_wanted() {
                true => "waited for",
                false => "not waited for",
            }
        )?;
    }
    Ok(())
}

fn clients<F: Family>(dev: &Device<F>, _: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    debugfs::clients(dev, |client| {
        let record = &client.file.inner().get_ref().record;
        let (mut count, mut bytes) = (0u64, 0u64);
        for (_, object) in Objects::<Driver<F>>::of(client.file) {
            count += 1;
            bytes += object.size() as u64;
        }
        writeln!(
            out,
            "client {} pid {}: engine {} ns, guilty {} innocent {}{}, refused {}, objects {} of {} bytes",
            client.id,
            client.pid,
            record.engine(),
            record.guilty(),
            record.innocent(),
            if record.is_banned() { " banned" } else { "" },
            record.refusals().count,
            count,
            bytes
        )
    })
}

fn objects<F: Family>(dev: &Device<F>, _: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    debugfs::clients(dev, |client| {
        for (handle, object) in Objects::<Driver<F>>::of(client.file) {
            let region = match Driver::<F>::share(&object).region {
                Region::Vram => "vram",
                Region::Gtt => "gtt",
                Region::Cpu => "cpu",
            };
            writeln!(
                out,
                "client {} handle {}: {} bytes in {}, {}{}",
                client.id,
                handle,
                object.size(),
                region,
                object.note(),
                match resv::wait(&*object, 0) {
                    Ok(true) => "",
                    _ => ", busy",
                }
            )?;
        }
        Ok(())
    })
}

fn memory<F: Family>(dev: &Device<F>, _: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    let memory = &dev.memory;
    let layout = memory.layout();
    writeln!(
        out,
        "vram: {:#x} to {:#x}, {} bytes for objects, {} used, {} visible, {} in stock",
        layout.vram.start,
        layout.vram.end,
        memory.vram().size(),
        memory.vram_usage(),
        memory.vram().visible_size(),
        memory.vram().stock()
    )?;
    writeln!(
        out,
        "gtt: {:#x} to {:#x}, {} bytes of objects, {} placed of {}",
        layout.gtt.start,
        layout.gtt.end,
        memory.gtt_usage(),
        memory.gtt_placed(),
        memory.gtt_size()
    )
}

fn resets<F: Family>(dev: &Device<F>, reg: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    writeln!(out, "working: {}", u32::from(reg.running.is_working()))?;
    writeln!(out, "resets: {}", dev.resets())?;
    writeln!(out, "polled fences: {}", dev.polled())?;
    writeln!(out, "a hang after: {} ms", crate::hang_ms())
}

fn registers<F: Family>(_: &Device<F>, reg: &Registered<'_, F>, out: &mut Page<'_>) -> fmt::Result {
    let mut result = Ok(());
    reg.running.gpu().dump(&mut |name, value| {
        if result.is_ok() {
            result = writeln!(out, "{name} {value:#010x}");
        }
    });
    result
}
