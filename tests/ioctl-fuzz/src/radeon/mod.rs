// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `radeon` interface, which several families have. A family adds other commands for the same pixels ([`family`]).

mod family;
mod streams;
mod tile;

use crate::interface::{Interface, Submission};
use crate::objects::{Mark, Object, UserMemory, Window, smallest};
use crate::worker::{OBJECTS, Worker};
use anyhow::{Context as _, Result, bail, ensure};
use family::family;
use lapidary_guest::abi::info_request;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::{self, Envelope};
use lapidary_guest::{Bo, Device, Domain, abi};
use lapidary_harness::syncobj::Sync;
use rustix::io::Errno;
use std::rc::Rc;
use streams::{Effect, Sound};

/// The interface.
#[derive(Clone, Copy, Debug)]
pub struct Radeon;

impl Interface for Radeon {
    type Device = Device;
    type Place = Domain;
    type Bo = Bo;
    type Submission = Envelope;
    type Effect = Vec<Effect>;

    const PLACES: &'static [Domain] = &Domain::ALL;
    const CALLS: &'static [(u32, usize)] = &[
        (0x1c, 24),
        (0x1d, 32),
        (0x1e, 32),
        (0x21, 32),
        (0x22, 32),
        (0x23, 12),
        (0x24, 8),
        (0x26, 32),
        (0x27, 16),
        (0x28, 12),
        (0x29, 12),
        (0x2a, 8),
        (0x2b, 24),
        (0x2c, 16),
        (0x2d, 24),
    ];
    const SURFACES: bool = true;

    fn steps(surfaces: bool) -> Vec<(&'static str, u32)> {
        vec![
            ("make", 8),
            ("close", 5),
            ("look", 8),
            ("write", 6),
            ("draw", 24),
            ("spoil", 18),
            ("envelope", 6),
            ("ask", 10),
            ("share", 4),
            ("public", 2),
            ("wild", 20),
            ("client", 1),
            ("fork", 1),
            ("user memory", 2),
            ("syncobj", 3),
            ("tile", if surfaces { 30 } else { 2 }),
        ]
    }

    fn supply() {
        family::supply();
    }

    fn look_at(device: &Device) -> Result<()> {
        family().look_at(device)
    }

    fn own_fault() -> &'static [&'static str] {
        family().own_fault()
    }

    fn resets(device: &Device) -> Result<u64> {
        Ok(device.reset_counter()?.into())
    }

    fn usage(device: &Device) -> Result<Vec<u64>> {
        Ok(vec![
            device.info(info_request("VRAM_USAGE"))?,
            device.info(info_request("GTT_USAGE"))?,
        ])
    }

    fn create(
        rng: &mut fastrand::Rng,
        device: &Device,
        size: u64,
        domain: Domain,
    ) -> Result<u32, Errno> {
        let flags = rng.u32(..8) & abi::FLAG_GTT_WC;
        let alignment = 1 << rng.u32(..14);
        device.create_raw(size, alignment, domain.bits(), flags)
    }

    fn adopt(device: Rc<Device>, handle: u32, size: u64, domain: Domain) -> Bo {
        Bo::adopt(device, handle, size, domain)
    }

    fn paint(rng: &mut fastrand::Rng, bo: &Bo, colour: u32) -> Result<()> {
        let mut stream = painter().stream();
        let area = Rect::new(rng.i32(0..32), 0, 32, 16);
        painter().fill(&mut stream, Area::new(bo, 256), colour, area);
        Ok(bo.device().submit(&stream)?)
    }

    fn sound(
        rng: &mut fastrand::Rng,
        objects: &[Object<Radeon>],
        mark: Mark,
    ) -> (Envelope, Vec<Effect>) {
        let Sound { stream, effects } = Sound::new(rng, objects, mark);
        (Envelope::of(&stream), effects)
    }

    fn apply(effects: &Vec<Effect>, objects: &[Object<Radeon>]) {
        streams::apply(effects, objects);
    }

    fn spoilt(rng: &mut fastrand::Rng, objects: &[Object<Radeon>], mark: Mark) -> Envelope {
        streams::spoilt(rng, objects, mark)
    }

    fn broken(rng: &mut fastrand::Rng, bo: &Bo) -> Envelope {
        streams::broken(rng, bo)
    }

    fn ask(rng: &mut fastrand::Rng, object: &Object<Radeon>, _: &Device) -> Result<bool> {
        let (what, number, bits) = (rng.u32(..8), rng.u32(..0x30), rng.u32(..8));
        let (device, handle) = (object.bo.device(), object.bo.handle());
        let answer = match what {
            0 => {
                let (answer, domain) = device.busy(handle);
                let plausible = answer.is_err() || (1..=4).contains(&domain);
                ensure!(plausible, "an object in domain {domain}");
                answer
            }
            1 => object.bo.wait(),
            2 => device.info_bytes(number, bits).map(drop),
            3 => device.mmap_offset(handle).map(drop),
            4 => {
                let mut argument = abi::GemSetDomain {
                    handle,
                    read_domains: bits,
                    write_domain: 0,
                };
                device
                    .ioctl(abi::RADEON_GEM_SET_DOMAIN, &mut argument)
                    .map(drop)
            }
            5 => {
                let mut argument = abi::GemOp {
                    handle,
                    op: number & 3,
                    value: u64::from(bits),
                };
                device.ioctl(abi::RADEON_GEM_OP, &mut argument).map(drop)
            }
            6 => {
                // Streams here keep their own tiling bits, so the flags are only stored. The CPU would see tiles, see
                // `tile`.
                let mut argument = abi::GemTiling {
                    handle,
                    flags: 0,
                    pitch: bits * 64,
                };
                device.ioctl(abi::RADEON_GEM_SET_TILING, &mut argument)?;
                argument.pitch = u32::MAX;
                device.ioctl(abi::RADEON_GEM_GET_TILING, &mut argument)?;
                ensure!(argument.pitch == bits * 64, "tiling flags are forgotten");
                Ok(())
            }
            _ => device.gem_info().map(drop),
        };
        Ok(answer.is_ok())
    }

    fn step(worker: &mut Worker<'_, Radeon>, name: &str) -> Result<bool> {
        match name {
            "user memory" => user_memory(worker),
            "tile" => tile(worker),
            _ => bail!("no step {name}"),
        }
    }
}

/// Tile an object for a moment, with a pitch of any kind.
fn tile(worker: &mut Worker<'_, Radeon>) -> Result<bool> {
    const KINDS: u32 =
        abi::TILING_MACRO | abi::TILING_MICRO | abi::TILING_SWAP_16BIT | abi::TILING_SWAP_32BIT;
    let Some((client, at)) = worker.any_object() else {
        return Ok(false);
    };
    let pitch = match worker.rng.u32(..8) {
        0 => worker.rng.u32(..),
        1 => worker.rng.u32(..5000),
        2 | 3 => worker.rng.u32(..300) * 16,
        _ => worker.rng.u32(1..32) * 128,
    };
    let mut flags = worker.rng.u32(..) & KINDS;
    if worker.plan.surfaces {
        flags |= abi::TILING_SURFACE;
    }
    let object = &mut worker.sound[client].objects[at];
    if let Window::User(_) = object.window {
        return Ok(false);
    }
    object.tile(flags, pitch, worker.mark)?;
    worker.count(5);
    Ok(true)
}

/// Make an object of memory of the process.
fn user_memory(worker: &mut Worker<'_, Radeon>) -> Result<bool> {
    /// ANONONLY, VALIDATE, REGISTER.
    const FLAGS: u32 = 2 | 4 | 8;
    let client = worker.any_sound();
    if worker.sound[client].objects.len() >= OBJECTS {
        return Ok(false);
    }
    let size = smallest(worker.plan.scale) * worker.rng.u64(1..=4);
    let memory = UserMemory::new(size as usize)?;
    let device = worker.sound[client].device.clone();
    let mut argument = abi::GemUserptr {
        addr: memory.address(),
        size,
        flags: FLAGS,
        handle: 0,
    };
    worker.count(1);
    device
        .ioctl(abi::RADEON_GEM_USERPTR, &mut argument)
        .context("memory of the process")?;
    let mut object = Object::new(Bo::adopt(device, argument.handle, size, Domain::Gtt));
    object.window = Window::User(memory);
    worker.sound[client].objects.push(object);
    Ok(true)
}

impl Submission<Radeon> for Envelope {
    fn wait_for(&mut self, sync: Sync) {
        *self = std::mem::take(self).with(submit::before(&[sync]));
    }

    fn signal(&mut self, sync: Sync) {
        *self = std::mem::take(self).with(submit::after(&[sync]));
    }

    fn issue(&self, device: &Device) -> Result<(), Errno> {
        self.submit(device)
    }
}
