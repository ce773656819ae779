// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One process: two clients whose objects it knows, one that spoils its own, one for wild calls.
//!
//! The first two do sound work only, and everything they have is compared dword by dword. The third submits spoilt
//! streams and broken envelopes, so its objects may contain anything but another process's data. The fourth has no
//! objects whose content matters.

use crate::objects::{Client, Link, Mark, Object, UserMemory, Window, smallest};
use crate::shared::{Board, KINDS};
use crate::streams::{self, Sound};
use crate::wild::Wild;
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::submit::{self, Envelope};
use lapidary_guest::{Bo, Device, Domain, Errno, abi};
use lapidary_harness::child::{self, End};
use lapidary_harness::patience;
use lapidary_harness::syncobj::Syncobj;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

/// Objects that a client has at most.
const OBJECTS: usize = 12;
/// Wild calls in one step.
const WILD_AT_ONCE: u64 = 10;
/// Such steps that one file is good for.
const WILD: u64 = 40;
/// Times a call that says `EAGAIN` is repeated before that counts as no progress.
const AGAIN: u32 = 1000;

/// What a process is to do.
pub struct Plan<'a> {
    /// Of the run.
    pub seed: u64,
    /// Which process.
    pub worker: u32,
    /// Which life of it.
    pub life: u32,
    /// How large objects are.
    pub scale: u32,
    /// Tiling flags may make a difference to what the CPU sees.
    pub surfaces: bool,
    /// Objects that every process may spoil.
    pub public: &'a [OwnedFd],
    /// Where to count.
    pub board: &'a Board,
}

/// Do `steps` steps, or go on until the board says stop.
pub fn run(plan: &Plan<'_>, steps: Option<u64>) -> Result<()> {
    let mut worker = Worker::new(plan)?;
    let mut step = 0;
    while steps.map_or(!plan.board.stopped(), |steps| step < steps) {
        step += 1;
        plan.board.step(plan.worker).store(step);
        worker
            .step()
            .with_context(|| format!("process {}.{}, step {step}", plan.worker, plan.life))?;
    }
    for client in &mut worker.sound {
        for object in &mut client.objects {
            object.look(worker.mark).context("at the end")?;
        }
    }
    Ok(())
}

/// Let SIGUSR1 interrupt calls and do nothing else, here and in all processes that begin later.
pub fn quiet_signals() -> Result<()> {
    extern "C" fn nothing(_: libc::c_int) {}
    // SAFETY: all zero is a valid action without flags, so that calls are interrupted and not restarted.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = nothing as *const () as usize;
    // SAFETY: the handler does nothing.
    let answer = unsafe { libc::sigaction(libc::SIGUSR1, &action, std::ptr::null_mut()) };
    ensure!(
        answer == 0,
        "sigaction: {}",
        std::io::Error::last_os_error()
    );
    Ok(())
}

/// Repeat a call as long as it says `EAGAIN`, which must not be for ever.
fn patiently(what: &str, call: impl Fn() -> Result<(), Errno>) -> Result<Result<(), Errno>> {
    for _ in 0..AGAIN {
        match call() {
            Err(Errno::AGAIN) => std::thread::yield_now(),
            answer => return Ok(answer),
        }
    }
    bail!("{what}: EAGAIN without progress")
}

struct Worker<'a> {
    plan: &'a Plan<'a>,
    rng: fastrand::Rng,
    mark: Mark,
    sound: Vec<Client>,
    spoiler: Client,
    wild: (Rc<Device>, Wild, u64),
}

impl<'a> Worker<'a> {
    fn new(plan: &'a Plan<'a>) -> Result<Worker<'a>> {
        let device = Device::open()?;
        let seed = (plan.seed << 32) | (u64::from(plan.worker) << 24) | u64::from(plan.life);
        Ok(Worker {
            plan,
            rng: fastrand::Rng::with_seed(seed),
            mark: Mark::of(plan.worker, plan.life),
            sound: vec![
                Client::new(device.another()?),
                Client::new(device.another()?),
            ],
            spoiler: Client::new(device.another()?),
            wild: (device, Wild::new(), 0),
        })
    }

    /// Make one step of a random kind.
    fn step(&mut self) -> Result<()> {
        let chances = [
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
            ("tile", if self.plan.surfaces { 30 } else { 2 }),
        ];
        let mut left = self
            .rng
            .u32(..chances.iter().map(|&(_, chance)| chance).sum::<u32>());
        let at = chances.iter().position(|&(_, chance)| {
            let here = left < chance;
            left = left.wrapping_sub(chance);
            here
        });
        let name = chances[at.context("no step")?].0;
        let done = match name {
            "make" => self.make()?,
            "close" => self.close(),
            "look" => self.look()?,
            "write" => self.write()?,
            "draw" => self.draw()?,
            "spoil" => self.spoil()?,
            "envelope" => self.envelope()?,
            "ask" => self.ask()?,
            "share" => self.share()?,
            "public" => self.public()?,
            "wild" => self.wild()?,
            "client" => self.client()?,
            "fork" => self.fork()?,
            "user memory" => self.user_memory()?,
            "tile" => self.tile()?,
            _ => self.syncobj()?,
        };
        let kind = KINDS.iter().position(|kind| *kind == name);
        self.plan.board.count(kind.context("no such kind")?, done);
        Ok(())
    }

    fn count(&self, calls: u64) {
        self.plan.board.count_calls(calls);
    }

    /// Return the index of a client whose objects are known.
    fn any_sound(&mut self) -> usize {
        self.rng.usize(..self.sound.len())
    }

    /// Return an object of such a client, if it has any.
    fn any_object(&mut self) -> Option<(usize, usize)> {
        let client = self.any_sound();
        let objects = self.sound[client].objects.len();
        (objects > 0).then(|| (client, self.rng.usize(..objects)))
    }

    /// Return a new object; it must be zero.
    fn make(&mut self) -> Result<bool> {
        let size = smallest(self.plan.scale) * self.rng.u64(1..=8);
        let domain = Domain::ALL[self.rng.usize(..2)];
        let (flags, alignment) = (
            self.rng.u32(..8) & abi::FLAG_GTT_WC,
            1 << self.rng.u32(..14),
        );
        let spoiler = self.rng.u32(..4) == 0;
        let client = self.any_sound();
        let client = if spoiler {
            &mut self.spoiler
        } else {
            &mut self.sound[client]
        };
        if client.objects.len() >= OBJECTS {
            return Ok(false);
        }
        let handle = client
            .device
            .create_raw(size, alignment, domain.bits(), flags)
            .with_context(|| format!("{size} bytes in {domain:?}"))?;
        let mut object = Object::new(Bo::adopt(client.device.clone(), handle, size, domain));
        if self.rng.u32(..3) > 0 {
            object.look(self.mark).context("a new object")?;
        }
        client.objects.push(object);
        self.count(2);
        Ok(true)
    }

    /// Drop an object, whatever is under way with it; its mapping may live on for a moment.
    fn close(&mut self) -> bool {
        let Some((client, at)) = self.any_object() else {
            return false;
        };
        let spoiler = self.rng.u32(..4) == 0 && !self.spoiler.objects.is_empty();
        let object = if spoiler {
            let at = self.rng.usize(..self.spoiler.objects.len());
            self.spoiler.objects.swap_remove(at)
        } else {
            self.sound[client].objects.swap_remove(at)
        };
        let Object { bo, window, .. } = object;
        if self.rng.bool() {
            drop(window);
            drop(bo);
        } else {
            drop(bo);
            if let Window::Mapped(mapping) = &window {
                mapping.get(0);
            }
        }
        self.count(2);
        true
    }

    fn look(&mut self) -> Result<bool> {
        let mark = self.mark;
        if self.rng.u32(..3) == 0 && !self.spoiler.objects.is_empty() {
            let at = self.rng.usize(..self.spoiler.objects.len());
            self.count(1);
            self.spoiler.objects[at].search(mark)?;
            return Ok(true);
        }
        let Some((client, at)) = self.any_object() else {
            return Ok(false);
        };
        let object = &mut self.sound[client].objects[at];
        object.look(mark)?;
        // The next look maps it anew.
        if let Window::Mapped(_) = object.window {
            if self.rng.bool() {
                object.window = Window::None;
            }
        }
        self.count(3);
        Ok(true)
    }

    fn write(&mut self) -> Result<bool> {
        let Some((client, at)) = self.any_object() else {
            return Ok(false);
        };
        self.sound[client].objects[at].write(&mut self.rng, self.mark)?;
        self.count(1);
        Ok(true)
    }

    /// Submit sound work, which must be done.
    fn draw(&mut self) -> Result<bool> {
        let client = self.any_sound();
        let rng = &mut self.rng;
        let Client {
            device,
            objects,
            links,
        } = &mut self.sound[client];
        if objects.is_empty() {
            return Ok(false);
        }
        let sound = Sound::new(rng, objects, self.mark);
        let mut envelope = Envelope::of(&sound.stream);
        // Sometimes in a chain of submissions that wait for each other.
        let chained = (!links.is_empty() && rng.u32(..3) == 0).then(|| rng.usize(..links.len()));
        if let Some(at) = chained {
            let link = &links[at];
            if link.last > 0 {
                envelope = envelope.with(submit::before(&[link.object.at(link.point(link.last))]));
            }
            let next = link.object.at(link.point(link.last + 1));
            envelope = envelope.with(submit::after(&[next]));
        }
        patiently("a sound stream", || envelope.submit(device))?
            .with_context(|| format!("a sound stream {:x?}", sound.stream.words()))?;
        sound.apply(objects);
        if let Some(at) = chained {
            links[at].last += 1;
        }
        self.count(1);
        Ok(true)
    }

    /// Return a spoilt stream. The driver may take it or not.
    fn spoil(&mut self) -> Result<bool> {
        let Client {
            device, objects, ..
        } = &self.spoiler;
        if objects.is_empty() {
            return Ok(false);
        }
        let envelope = streams::spoilt(&mut self.rng, objects, self.mark);
        self.count(1);
        Ok(patiently("a spoilt stream", || envelope.submit(device))?.is_ok())
    }

    fn envelope(&mut self) -> Result<bool> {
        let Client {
            device, objects, ..
        } = &self.spoiler;
        let Some(object) = objects.first() else {
            return Ok(false);
        };
        let envelope = streams::broken(&mut self.rng, &object.bo);
        self.count(1);
        Ok(patiently("a broken envelope", || envelope.submit(device))?.is_ok())
    }

    /// Call that change nothing that is known.
    fn ask(&mut self) -> Result<bool> {
        let Some((client, at)) = self.any_object() else {
            return Ok(false);
        };
        let (what, number, bits) = (self.rng.u32(..8), self.rng.u32(..0x30), self.rng.u32(..8));
        let object = &self.sound[client].objects[at];
        let (device, handle) = (object.bo.device(), object.bo.handle());
        self.count(1);
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

    /// Tile an object for a moment, with a pitch of any kind.
    fn tile(&mut self) -> Result<bool> {
        const KINDS: u32 =
            abi::TILING_MACRO | abi::TILING_MICRO | abi::TILING_SWAP_16BIT | abi::TILING_SWAP_32BIT;
        let Some((client, at)) = self.any_object() else {
            return Ok(false);
        };
        let pitch = match self.rng.u32(..8) {
            0 => self.rng.u32(..),
            1 => self.rng.u32(..5000),
            2 | 3 => self.rng.u32(..300) * 16,
            _ => self.rng.u32(1..32) * 128,
        };
        let mut flags = self.rng.u32(..) & KINDS;
        if self.plan.surfaces {
            flags |= abi::TILING_SURFACE;
        }
        let object = &mut self.sound[client].objects[at];
        if let Window::User(_) = object.window {
            return Ok(false);
        }
        object.tile(flags, pitch, self.mark)?;
        self.count(5);
        Ok(true)
    }

    /// Give an object of one client a name in the other.
    fn share(&mut self) -> Result<bool> {
        let Some((client, at)) = self.any_object() else {
            return Ok(false);
        };
        let guest = 1 - client;
        let object = &self.sound[client].objects[at];
        let already = self.sound[guest].objects.iter().any(|o| o.is_same(object));
        let user = matches!(object.window, Window::User(_));
        if already || user || self.sound[guest].objects.len() >= OBJECTS {
            return Ok(false);
        }
        let buffer = object
            .bo
            .device()
            .export(object.bo.handle())
            .context("export")?;
        let handle = self.sound[guest]
            .device
            .import(buffer.as_fd())
            .context("import")?;
        let (size, domain) = (object.bo.size(), object.bo.domain());
        let twin = Object {
            bo: Bo::adopt(self.sound[guest].device.clone(), handle, size, domain),
            content: object.content.clone(),
            window: Window::None,
        };
        self.sound[guest].objects.push(twin);
        self.count(2);
        Ok(true)
    }

    /// Draw into something that others draw into as well, and let go of it.
    fn public(&mut self) -> Result<bool> {
        let at = self.rng.usize(..self.plan.public.len());
        let buffer = &self.plan.public[at];
        let client = self.any_sound();
        let device = &self.sound[client].device;
        let handle = device.import(buffer.as_fd()).context("importing")?;
        let size = smallest(self.plan.scale);
        let bo = Bo::adopt(device.clone(), handle, size, Domain::ALL[at]);
        let mut stream = painter().stream();
        let area = Rect::new(self.rng.i32(0..32), 0, 32, 16);
        let colour = self.mark.word(0);
        painter().fill(&mut stream, Area::new(&bo, 256), colour, area);
        device
            .submit(&stream)
            .context("drawing to a public object")?;
        self.count(3);
        Ok(true)
    }

    fn wild(&mut self) -> Result<bool> {
        let (device, wild, age) = &mut self.wild;
        *age += 1;
        if *age % WILD == 0 {
            *device = device.another()?;
        }
        let mut done = false;
        for _ in 0..WILD_AT_ONCE {
            let answer = wild.call(&mut self.rng, device);
            if let Err(error @ (Errno::IO | Errno::NODEV)) = answer {
                bail!("a wild call: {error}");
            }
            done |= answer.is_ok();
        }
        self.count(WILD_AT_ONCE);
        Ok(done)
    }

    /// Replace a client with all it has, busy or not, by a new one. The file may have had another descriptor.
    fn client(&mut self) -> Result<bool> {
        let fresh = Client::new(self.wild.0.another()?);
        let at = self.any_sound();
        let old = if self.rng.u32(..3) == 0 {
            std::mem::replace(&mut self.spoiler, fresh)
        } else {
            std::mem::replace(&mut self.sound[at], fresh)
        };
        if self.rng.bool() {
            let twin = rustix::io::dup(&*old.device)?;
            drop(old);
            drop(twin);
        }
        self.count(2);
        Ok(true)
    }

    /// Fork a child that sees what its parent has mapped, and goes.
    fn fork(&mut self) -> Result<bool> {
        let mark = self.mark;
        let client = self.any_sound();
        let objects = &mut self.sound[client].objects;
        let kills = self.rng.bool();
        let child = child::spawn(|| {
            for object in objects.iter_mut().take(3) {
                // Its own copy of private memory is nothing the GPU writes to.
                if !matches!(object.window, Window::User(_)) {
                    object.look(mark)?;
                }
            }
            Ok(0)
        })?;
        if kills {
            child.signal(libc::SIGKILL);
        }
        let end = child.wait(Duration::from_secs(20) * patience())?;
        let fine = end == End::Exit(0) || kills && end == End::Signal(libc::SIGKILL);
        ensure!(fine, "a child ended with {end:?}");
        self.count(3);
        Ok(true)
    }

    /// Make an object of memory of the process.
    fn user_memory(&mut self) -> Result<bool> {
        /// ANONONLY, VALIDATE, REGISTER.
        const FLAGS: u32 = 2 | 4 | 8;
        let client = self.any_sound();
        if self.sound[client].objects.len() >= OBJECTS {
            return Ok(false);
        }
        let size = smallest(self.plan.scale) * self.rng.u64(1..=4);
        let memory = UserMemory::new(size as usize)?;
        let device = self.sound[client].device.clone();
        let mut argument = abi::GemUserptr {
            addr: memory.address(),
            size,
            flags: FLAGS,
            handle: 0,
        };
        self.count(1);
        device
            .ioctl(abi::RADEON_GEM_USERPTR, &mut argument)
            .context("memory of the process")?;
        let mut object = Object::new(Bo::adopt(device, argument.handle, size, Domain::Gtt));
        object.window = Window::User(memory);
        self.sound[client].objects.push(object);
        Ok(true)
    }

    /// Make or drop synchronisation objects. One that work was submitted with is signalled in the end. The file for
    /// wild calls gets some, too, so that it may guess their handles.
    fn syncobj(&mut self) -> Result<bool> {
        let client = self.any_sound();
        let Client { device, links, .. } = &mut self.sound[client];
        self.plan.board.count_calls(2);
        if links.len() < 4 {
            let object = Syncobj::new(device, false).context("a synchronisation object")?;
            let timeline = self.rng.bool();
            links.push(Link {
                object,
                timeline,
                last: 0,
            });
            let mut argument = abi::SyncobjCreate {
                handle: 0,
                flags: self.rng.u32(..2),
            };
            return Ok(self
                .wild
                .0
                .ioctl(abi::SYNCOBJ_CREATE, &mut argument)
                .is_ok());
        }
        let link = links.swap_remove(self.rng.usize(..links.len()));
        if link.last > 0 && self.rng.bool() {
            let limit = Duration::from_secs(20) * patience();
            let point = link.point(link.last);
            let signalled = link.object.wait(point, limit, false).context("waiting")?;
            ensure!(signalled, "point {point} of a chain is not signalled");
        }
        Ok(true)
    }
}
