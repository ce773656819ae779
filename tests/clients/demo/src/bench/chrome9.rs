// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `chrome9` interface. State is writes of the 2D engine's registers without the one that starts it.

use crate::client::{Client, Op, Place};
use anyhow::{Context, Result, bail};
use lapidary_chrome9_client::abi::{self, Param};
use lapidary_chrome9_client::blit::{Blit, Depth, Rect, Surface};
use lapidary_chrome9_client::stream::{Address, UNIT, Write};
use lapidary_chrome9_client::{self as client, Bo, Device, Errno, Stream, Submission, emit};
use lapidary_harness::mapping::PAGE;
use lapidary_registers::chrome9::mmio;
use std::rc::Rc;

/// Registers that are set again and again, in this order.
const STATE: [u32; 11] = [
    mmio::GEMODE,
    mmio::PITCH,
    mmio::DIMENSION,
    mmio::DSTPOS,
    mmio::KEYCONTROL,
    mmio::MONOPATFGC,
    mmio::SRCPOS,
    mmio::FGCOLOR,
    mmio::BGCOLOR,
    mmio::CLIPTL,
    mmio::CLIPBR,
];

/// A client.
pub struct Chrome9 {
    device: Rc<Device>,
}

impl Chrome9 {
    /// Open the device of this interface.
    ///
    /// # Errors
    ///
    /// If it cannot be opened.
    pub fn open() -> Result<Chrome9> {
        let device = Device::open()?;
        Ok(Chrome9 { device })
    }
}

/// Return objects of one page, by turns in the frame buffer and in system pages.
fn objects(device: &Rc<Device>, count: usize) -> Result<Vec<Bo>> {
    (0..count)
        .map(|i| {
            let place = client::Place::ALL[i % 2];
            device.create(PAGE, place).context("an object")
        })
        .collect()
}

/// Return the writes of a stream of `dwords` that names each of `objects` once, evenly spread.
///
/// # Panics
///
/// If it is too short for the objects.
fn state(objects: &[Bo], dwords: usize) -> Vec<Write> {
    let pairs = (dwords - UNIT) / 2;
    let mut registers = STATE.iter().cycle();
    let mut writes = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        let register = [mmio::DSTBASE, mmio::SRCBASE][i % 2];
        let handle = object.handle();
        writes.push(Write::address(register, Address { handle, offset: 0 }));
        let end = pairs * (i + 1) / objects.len();
        assert!(writes.len() <= end, "{dwords} dwords are too short");
        let more = registers.by_ref().take(end - writes.len());
        writes.extend(more.map(|&register| Write::new(register, 0)));
    }
    writes
}

fn stream(writes: &[Write]) -> Stream {
    let mut stream = Stream::new();
    stream.registers(writes);
    stream
}

/// A submission whose argument lies ready.
struct Prepared {
    // What the argument points to.
    _submission: Submission,
    argument: abi::Submit,
}

impl Prepared {
    fn new(stream: &Stream) -> Prepared {
        let submission = Submission::of(stream);
        let argument = submission.argument();
        Prepared {
            _submission: submission,
            argument,
        }
    }

    fn submit(&self, device: &Device) -> Result<(), Errno> {
        let mut argument = self.argument;
        device.ioctl(abi::SUBMIT, &mut argument).map(drop)
    }
}

impl Chrome9 {
    fn again(&self, stream: &Stream, objects: Vec<Bo>) -> Op {
        let prepared = Prepared::new(stream);
        let device = self.device.clone();
        Box::new(move |_| {
            let _ = &objects;
            prepared.submit(&device).context("submitting")
        })
    }
}

impl Client for Chrome9 {
    fn submission(&self, dwords: usize, count: usize) -> Result<Op> {
        let objects = objects(&self.device, count)?;
        let stream = stream(&state(&objects, dwords));
        assert_eq!(
            (stream.words().len(), stream.relocations().len()),
            (dwords, count)
        );
        Ok(self.again(&stream, objects))
    }

    fn by_turns(&self) -> Result<Op> {
        let mut all = Vec::new();
        for device in [self.device.clone(), self.device.another()?] {
            let objects = objects(&device, 2)?;
            let prepared = Prepared::new(&stream(&state(&objects, 500)));
            all.push((prepared, device, objects));
        }
        Ok(Box::new(move |i| {
            let (prepared, device, _) = &all[i % all.len()];
            prepared.submit(device).context("submitting")
        }))
    }

    fn fills(&self, count: usize) -> Result<Op> {
        let target = self.device.create(PAGE * 4, client::Place::FrameBuffer)?;
        let surface = Surface {
            object: 0,
            offset: 0,
            pitch: 256,
        };
        let mut stream = Stream::new();
        for i in 0..count as u32 {
            let rect = Rect::new(i % 8 * 8, i / 8 % 8 * 8, 8, 8);
            let fill = Blit::fill(Depth::Bits32, surface, rect, 0x0012_3456);
            emit::blit(&mut stream, &[target.handle()], &fill);
        }
        Ok(self.again(&stream, vec![target]))
    }

    /// The last register would move the ring.
    fn refusal(&self) -> Result<Op> {
        let objects = objects(&self.device, 2)?;
        let mut writes = state(&objects, 500);
        let last = writes.last_mut().context("no register")?;
        *last = Write::new(mmio::AGP_PAUSE_ADDRESS_PORT, 0);
        let prepared = Prepared::new(&stream(&writes));
        let device = self.device.clone();
        Ok(Box::new(move |_| {
            let _ = &objects;
            match prepared.submit(&device) {
                Err(Errno::INVAL) => Ok(()),
                Err(error) => Err(error).context("submitting what is to be refused"),
                Ok(()) => bail!("the stream was to be refused"),
            }
        }))
    }

    fn wait(&self) -> Result<Op> {
        // If the model took longer than half a second the watchdog would look after the engine, which is counted.
        const BYTES: u64 = 1 << 20;
        const FILLS: usize = 24;
        const PITCH: u32 = 8192;
        let target = self.device.create(BYTES, client::Place::FrameBuffer);
        let target = target.context("a large object")?;
        let surface = Surface {
            object: 0,
            offset: 0,
            pitch: PITCH,
        };
        let all = Rect::new(0, 0, PITCH / 4, BYTES as u32 / PITCH);
        let fill = Blit::fill(Depth::Bits32, surface, all, 0x0012_3456);
        let mut stream = Stream::new();
        for _ in 0..FILLS {
            emit::blit(&mut stream, &[target.handle()], &fill);
        }
        let prepared = Prepared::new(&stream);
        let device = self.device.clone();
        Ok(Box::new(move |_| {
            prepared.submit(&device).context("submitting")?;
            target.wait().context("waiting")
        }))
    }

    fn life(&self, size: u64, place: Place, touch: bool) -> Result<Op> {
        let place = match place {
            Place::Vram => client::Place::FrameBuffer,
            Place::System => client::Place::System,
        };
        let device = self.device.clone();
        Ok(Box::new(move |_| {
            let bo = device.create(size, place).context("making an object")?;
            if touch {
                let mapping = bo.map().context("mapping it")?;
                for page in 0..size / PAGE {
                    mapping.set((page * PAGE / 4) as usize, 1);
                }
            }
            Ok(())
        }))
    }

    fn resets(&self) -> Result<u64> {
        Ok(self.device.param(Param::Resets)?)
    }
}
