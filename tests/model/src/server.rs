// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The vfio-user side: regions, guest memory and interrupts of one PCI function. A device of several functions is
//! served on several sockets.
//!
//! A function's windows are those of its table ([`crate::pci::Facts`]). One onto the card's memory is offered for
//! mapping unless trapped access is asked for; then QEMU forwards every access, slowly, and the model sees it. Accesses
//! to registers and doorbells are forwarded always. The ROM region holds the expansion ROM.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use vfio_bindings::bindings::vfio::*;
use vfio_user::{
    DmaMapFlags, DmaUnmapFlags, IrqInfo, Server, ServerBackend, ServerRegion, SparseArea,
};

use crate::fault;
use crate::kind;
use crate::pci::{Bar, Facts, Msi, Window};
use crate::power;
use crate::run::{Shared, System};

const CONFIG: u32 = VFIO_PCI_CONFIG_REGION_INDEX;
const ROM: u32 = VFIO_PCI_ROM_REGION_INDEX;

/// Return the socket of a device's function: `base` for function 0, and `base.N` for function N. `scripts/devices`
/// gives QEMU the same names.
pub fn socket(base: &Path, number: usize) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    if number > 0 {
        name.push(format!(".{number}"));
    }
    name.into()
}

/// A function whose socket is there.
pub struct Bound {
    server: Server,
    function: Function,
}

impl Bound {
    /// Wait for QEMU and serve it until it disconnects.
    ///
    /// # Errors
    /// On a protocol error that ends the connection.
    pub fn serve(mut self) -> anyhow::Result<()> {
        Ok(self.server.run(&mut self.function)?)
    }
}

/// One function, ready to be served.
pub struct Function {
    shared: Arc<Shared>,
    number: usize,
    facts: Facts,
}

impl Function {
    /// Return the function of that number of a system, whose machine was made with these facts among others.
    pub fn new(shared: Arc<Shared>, number: usize, facts: Facts) -> Function {
        Function {
            shared,
            number,
            facts,
        }
    }

    /// Make the socket on which QEMU finds the function. A connection waits until [`Bound::serve`] takes it. If
    /// `mapped`, QEMU may map the card's memory.
    ///
    /// # Errors
    /// When the socket cannot be made.
    pub fn bind(self, socket: &Path, mapped: bool) -> anyhow::Result<Bound> {
        let vram = self
            .shared
            .with(|s| (s.machine.vram.fd(), s.machine.vram.len()));
        let regions = (0..VFIO_PCI_NUM_REGIONS)
            .map(|i| self.region(i, mapped.then_some(vram)))
            .collect();
        let irqs = (0..VFIO_PCI_NUM_IRQS)
            .map(|index| match index {
                VFIO_PCI_INTX_IRQ_INDEX => IrqInfo {
                    index,
                    count: 1,
                    flags: VFIO_IRQ_INFO_EVENTFD
                        | VFIO_IRQ_INFO_MASKABLE
                        | VFIO_IRQ_INFO_AUTOMASKED,
                },
                VFIO_PCI_MSI_IRQ_INDEX if self.facts.msi != Msi::None => IrqInfo {
                    index,
                    count: 1,
                    flags: VFIO_IRQ_INFO_EVENTFD | VFIO_IRQ_INFO_NORESIZE,
                },
                _ => IrqInfo {
                    index,
                    count: 0,
                    flags: 0,
                },
            })
            .collect();
        Ok(Bound {
            server: Server::new(socket, true, irqs, regions)?,
            function: self,
        })
    }

    /// Return what the other side is told of a region; `vram` is the descriptor to map and how many bytes are in it.
    fn region(&self, index: u32, vram: Option<(i32, u64)>) -> ServerRegion {
        let mut info = vfio_region_info {
            argsz: size_of::<vfio_region_info>() as u32,
            index,
            ..Default::default()
        };
        let bar = self.bar(index);
        let (size, flags) = match (index, bar) {
            (CONFIG, _) => (
                256,
                VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE,
            ),
            (ROM, _) if !self.facts.rom.is_empty() => {
                (self.facts.rom.len() as u64, VFIO_REGION_INFO_FLAG_READ)
            }
            (_, Some(bar)) => (
                bar.size,
                VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE,
            ),
            _ => (0, 0),
        };
        info.size = size;
        info.flags = flags;
        let mut sparse_areas = vec![];
        let mut mmap_fd = None;
        if let (Some(Window::Memory), Some((fd, len))) = (bar.map(|b| &b.window), vram) {
            info.flags |= VFIO_REGION_INFO_FLAG_MMAP;
            // The descriptor is only sent along with a list of areas. What lies beyond the end of VRAM is trapped.
            sparse_areas.push(SparseArea {
                area: vfio_region_sparse_mmap_area {
                    offset: 0,
                    size: size.min(len),
                },
            });
            mmap_fd = Some(fd);
        }
        ServerRegion {
            region_info: info,
            sparse_areas,
            mmap_fd,
        }
    }

    fn bar(&self, index: u32) -> Option<&Bar> {
        // Regions of BARs have their numbers.
        self.facts.bars.iter().find(|b| u32::from(b.index) == index)
    }

    fn rom_read(&self, offset: u64, data: &mut [u8]) {
        for (i, b) in data.iter_mut().enumerate() {
            *b = usize::try_from(offset)
                .ok()
                .and_then(|o| o.checked_add(i))
                .and_then(|o| self.facts.rom.get(o))
                .copied()
                .unwrap_or(0xff);
        }
    }
}

/// Split an access into the dwords it touches: (offset, byte mask, where its bytes lie in the data).
fn dwords(offset: u64, len: usize) -> impl Iterator<Item = (u32, Range<usize>, Range<usize>)> {
    let end = offset.saturating_add(len as u64);
    let first = offset & !3;
    (0..)
        .map(move |i| first + i * 4)
        .take_while(move |o| *o < end)
        .map(move |o| {
            let from = o.max(offset);
            let to = (o + 4).min(end);
            (
                o as u32,
                (from - o) as usize..(to - o) as usize,
                (from - offset) as usize..(to - offset) as usize,
            )
        })
}

/// Judge the size of an access to registers, of which some are commonly accessed by bytes.
fn judge_size(s: &mut System, offset: u64, len: usize, bytes: &Range<u32>) {
    let whole = len == 4 && offset % 4 == 0;
    let end = offset.saturating_add(len as u64);
    let bytewise = offset >= bytes.start.into() && end <= bytes.end.into();
    if !(whole || bytewise) {
        s.machine.finding(
            kind::REGISTER_ACCESS_SIZE,
            format_args!("{len} bytes at {offset:#x}"),
        );
    }
}

/// Serve an access to a register or a doorbell. Return whether the function answers.
fn accessed(s: &mut System, function: usize, what: &str) -> bool {
    if s.machine.faults.last(fault::DEAD_SOON) {
        power::remove(s);
    }
    let answers = power::answers(&mut s.machine, function, what);
    if answers {
        s.machine.power.touched();
    }
    answers
}

fn registers_read(
    s: &mut System,
    function: usize,
    offset: u64,
    bytes: &Range<u32>,
    data: &mut [u8],
) {
    s.machine.counters.add("mmio_reads", 1);
    if !accessed(s, function, "register read") {
        data.fill(0xff);
        return;
    }
    judge_size(s, offset, data.len(), bytes);
    for (o, part, to) in dwords(offset, data.len()) {
        let value = s.chip.read(&mut s.machine, o);
        data[to].copy_from_slice(&value.to_le_bytes()[part]);
        if s.machine.trace.on() {
            let text = s.chip.describe(o, value);
            s.machine.trace.line(format_args!("read  {text}"));
        }
    }
}

fn registers_write(s: &mut System, function: usize, offset: u64, bytes: &Range<u32>, data: &[u8]) {
    s.machine.counters.add("mmio_writes", 1);
    if !accessed(s, function, "register write") {
        return;
    }
    judge_size(s, offset, data.len(), bytes);
    for (o, part, from) in dwords(offset, data.len()) {
        let mut value = [0; 4];
        let mut mask = [0; 4];
        value[part.clone()].copy_from_slice(&data[from]);
        mask[part].fill(0xff);
        let value = u32::from_le_bytes(value);
        if s.machine.trace.on() {
            let text = s.chip.describe(o, value);
            s.machine.trace.line(format_args!("write {text}"));
        }
        s.chip
            .write(&mut s.machine, o, value, u32::from_le_bytes(mask));
    }
}

/// Serve an access to VRAM. Return whether the function answers.
fn vram_accessed(s: &mut System, function: usize, counter: &'static str) -> bool {
    s.machine.counters.add(counter, 1);
    power::answers(&mut s.machine, function, "VRAM access")
}

fn doorbell_read(s: &mut System, function: usize, offset: u64, data: &mut [u8]) {
    s.machine.counters.add("doorbell_reads", 1);
    data.fill(0xff);
    if accessed(s, function, "doorbell read") {
        s.chip.doorbell_read(&mut s.machine, offset, data);
        s.machine
            .trace
            .line(format_args!("read  doorbell {offset:#x} = {data:02x?}"));
    }
}

fn doorbell_write(s: &mut System, function: usize, offset: u64, data: &[u8]) {
    s.machine.counters.add("doorbell_writes", 1);
    if accessed(s, function, "doorbell write") {
        s.machine
            .trace
            .line(format_args!("write doorbell {offset:#x} = {data:02x?}"));
        s.chip.doorbell_write(&mut s.machine, offset, data);
    }
}

impl ServerBackend for Function {
    fn region_read(&mut self, region: u32, offset: u64, data: &mut [u8]) -> io::Result<()> {
        let number = self.number;
        match (region, self.bar(region).map(|b| &b.window)) {
            (CONFIG, _) => self.shared.with(|s| {
                if s.machine.faults.armed(fault::DEAD) {
                    data.fill(0xff);
                } else {
                    s.machine.functions[number].pci.read(offset as usize, data);
                }
            }),
            (ROM, _) => {
                if self
                    .shared
                    .with(|s| power::answers(&mut s.machine, number, "ROM read"))
                {
                    self.rom_read(offset, data);
                } else {
                    data.fill(0xff);
                }
            }
            (_, Some(Window::Registers { first, bytes })) => {
                let offset = offset.saturating_add((*first).into());
                self.shared
                    .with(|s| registers_read(s, number, offset, bytes, data));
            }
            (_, Some(Window::Memory)) => self.shared.with(|s| {
                if vram_accessed(s, number, "vram_reads") {
                    s.chip.vram_read(&mut s.machine, offset, data);
                } else {
                    data.fill(0xff);
                }
            }),
            (_, Some(Window::Doorbells)) => {
                self.shared.with(|s| doorbell_read(s, number, offset, data));
            }
            _ => data.fill(0xff),
        }
        Ok(())
    }

    fn region_write(&mut self, region: u32, offset: u64, data: &[u8]) -> io::Result<()> {
        let number = self.number;
        match (region, self.bar(region).map(|b| &b.window)) {
            (CONFIG, _) => {
                self.shared
                    .kick(|s| power::config_write(s, number, offset as usize, data));
            }
            (_, Some(Window::Registers { first, bytes })) => {
                let offset = offset.saturating_add((*first).into());
                self.shared
                    .kick(|s| registers_write(s, number, offset, bytes, data));
            }
            (_, Some(Window::Memory)) => self.shared.with(|s| {
                if vram_accessed(s, number, "vram_writes") {
                    s.chip.vram_write(&mut s.machine, offset, data);
                }
            }),
            (_, Some(Window::Doorbells)) => {
                self.shared
                    .kick(|s| doorbell_write(s, number, offset, data));
            }
            _ => {}
        }
        Ok(())
    }

    fn dma_map(
        &mut self,
        _: DmaMapFlags,
        offset: u64,
        address: u64,
        size: u64,
        fd: Option<File>,
    ) -> io::Result<()> {
        // Ranges without a descriptor are firmware and device memory: nothing the device would reach.
        let Some(fd) = fd else { return Ok(()) };
        self.shared.with(|s| {
            s.machine.functions[self.number]
                .ram
                .map(address, size, &fd, offset)
        })
    }

    fn dma_unmap(&mut self, flags: DmaUnmapFlags, address: u64, size: u64) -> io::Result<()> {
        self.shared.with(|s| {
            let ram = &mut s.machine.functions[self.number].ram;
            if flags.contains(DmaUnmapFlags::UNMAP_ALL) {
                ram.clear();
            } else {
                ram.unmap(address, size);
            }
        });
        Ok(())
    }

    fn reset(&mut self) -> io::Result<()> {
        self.shared.kick(|s| power::reset(s, self.number));
        Ok(())
    }

    fn set_irqs(
        &mut self,
        index: u32,
        flags: u32,
        _start: u32,
        count: u32,
        fds: Vec<File>,
    ) -> io::Result<()> {
        let action = flags & VFIO_IRQ_SET_ACTION_TYPE_MASK;
        let fd = fds.into_iter().next();
        self.shared.with(|s| match (index, action) {
            (VFIO_PCI_MSI_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER) if count == 0 || fd.is_some() => {
                s.machine.functions[self.number].irq.set_msi(fd)
            }
            (VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_TRIGGER)
                if count == 0 || fd.is_some() =>
            {
                s.machine.functions[self.number].irq.set_intx(fd)
            }
            (VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_MASK) => {
                s.machine.functions[self.number].irq.mask_intx()
            }
            // With an eventfd this would ask for unmasking by that descriptor: QEMU uses it only with KVM's
            // resampling, and falls back.
            (VFIO_PCI_INTX_IRQ_INDEX, VFIO_IRQ_SET_ACTION_UNMASK) if fd.is_none() => {
                s.machine.unmask_intx(self.number)
            }
            _ => {}
        });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_split_into_dwords() {
        let parts: Vec<_> = dwords(6, 7).collect();
        assert_eq!(
            parts,
            vec![(4, 2..4, 0..2), (8, 0..4, 2..6), (12, 0..1, 6..7)]
        );
        assert_eq!(dwords(8, 4).collect::<Vec<_>>(), vec![(8, 0..4, 0..4)]);
        assert_eq!(dwords(0, 0).count(), 0);
    }
}
