// SPDX-License-Identifier: GPL-2.0 OR MIT

//! One process: two clients whose objects it knows, one that spoils its own, one for wild calls.
//!
//! The first two do sound work only, and everything they have is compared dword by dword. The third submits spoilt
//! streams and broken envelopes, so its objects may contain anything but another process's data. The fourth has no
//! objects whose content matters.

use crate::interface::{Buffer as _, Device as _, Interface, Submission as _};
use crate::objects::{Client, Link, Mark, Object, Window, smallest};
use crate::shared::Board;
use crate::wild::Wild;
use anyhow::{Context as _, Result, bail, ensure};
use lapidary_harness::child::{self, End};
use lapidary_harness::syncobj::Syncobj;
use lapidary_harness::{drm, patience};
use rustix::io::Errno;
use std::os::fd::{AsFd, OwnedFd};
use std::rc::Rc;
use std::time::Duration;

/// Objects that a client has at most.
pub const OBJECTS: usize = 12;
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
    /// Objects that every process may spoil, one in each place.
    pub public: &'a [OwnedFd],
    /// Where to count.
    pub board: &'a Board,
}

/// Do `steps` steps, or go on until the board says stop.
pub fn run<I: Interface>(plan: &Plan<'_>, steps: Option<u64>) -> Result<()> {
    let mut worker = Worker::<I>::new(plan)?;
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

/// A process at work.
pub struct Worker<'a, I: Interface> {
    /// What it is to do.
    pub plan: &'a Plan<'a>,
    /// Whatever is decided comes from it.
    pub rng: fastrand::Rng,
    /// What it writes.
    pub mark: Mark,
    /// Clients whose objects are known.
    pub sound: Vec<Client<I>>,
    spoiler: Client<I>,
    wild: (Rc<I::Device>, Wild, u64),
    /// Kinds of steps, and how often each is done beside the others.
    steps: Vec<(&'static str, u32)>,
}

impl<'a, I: Interface> Worker<'a, I> {
    fn new(plan: &'a Plan<'a>) -> Result<Worker<'a, I>> {
        let device = I::Device::open()?;
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
            steps: I::steps(plan.surfaces),
        })
    }

    /// Make one step of a random kind.
    fn step(&mut self) -> Result<()> {
        let all = self.steps.iter().map(|&(_, chance)| chance).sum::<u32>();
        let mut left = self.rng.u32(..all);
        let at = self.steps.iter().position(|&(_, chance)| {
            let here = left < chance;
            left = left.wrapping_sub(chance);
            here
        });
        let kind = at.context("no step")?;
        let done = match self.steps[kind].0 {
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
            "syncobj" => self.syncobj()?,
            own => I::step(self, own)?,
        };
        self.plan.board.count(kind, done);
        Ok(())
    }

    /// Count calls to the device.
    pub fn count(&self, calls: u64) {
        self.plan.board.count_calls(calls);
    }

    /// Return the index of a client whose objects are known.
    pub fn any_sound(&mut self) -> usize {
        self.rng.usize(..self.sound.len())
    }

    /// Return an object of such a client, if it has any.
    pub fn any_object(&mut self) -> Option<(usize, usize)> {
        let client = self.any_sound();
        let objects = self.sound[client].objects.len();
        (objects > 0).then(|| (client, self.rng.usize(..objects)))
    }

    /// Return a new object; it must be zero.
    fn make(&mut self) -> Result<bool> {
        let size = smallest(self.plan.scale) * self.rng.u64(1..=8);
        let place = I::PLACES[self.rng.usize(..I::PLACES.len())];
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
        let handle = I::create(&mut self.rng, &client.device, size, place)
            .with_context(|| format!("{size} bytes in {place:?}"))?;
        let mut object = Object::new(I::adopt(client.device.clone(), handle, size, place));
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
        let (mut submission, effect) = I::sound(rng, objects, self.mark);
        // Sometimes in a chain of submissions that wait for each other.
        let chained = (!links.is_empty() && rng.u32(..3) == 0).then(|| rng.usize(..links.len()));
        if let Some(at) = chained {
            let link = &links[at];
            if link.last > 0 {
                submission.wait_for(link.object.at(link.point(link.last)));
            }
            submission.signal(link.object.at(link.point(link.last + 1)));
        }
        patiently("a sound stream", || submission.issue(device))?.with_context(|| {
            let sizes: Vec<_> = objects
                .iter()
                .map(|o| (o.bo.handle(), o.bo.size()))
                .collect();
            format!("a sound stream {submission:x?} with handles and sizes {sizes:?}")
        })?;
        I::apply(&effect, objects);
        if let Some(at) = chained {
            links[at].last += 1;
        }
        self.count(1);
        Ok(true)
    }

    /// Return a spoilt stream. The driver may take it or not.
    fn spoil(&mut self) -> Result<bool> {
        if self.spoiler.objects.is_empty() {
            return Ok(false);
        }
        let submission = I::spoilt(&mut self.rng, &self.spoiler.objects, self.mark);
        self.try_it("a spoilt stream", &submission)
    }

    fn envelope(&mut self) -> Result<bool> {
        let Some(object) = self.spoiler.objects.first() else {
            return Ok(false);
        };
        let submission = I::broken(&mut self.rng, &object.bo);
        self.try_it("a broken envelope", &submission)
    }

    /// Make a submission that may be refused, and return whether it was not. What is refused has to be counted as such.
    fn try_it(&self, what: &str, submission: &I::Submission) -> Result<bool> {
        let device = &self.spoiler.device;
        let before = I::refusals(device)?;
        let answer = patiently(what, || submission.issue(device))?;
        let refused = answer.is_err_and(I::is_refusal);
        self.count(1);
        if let (Some(before), Some(after)) = (before, I::refusals(device)?) {
            ensure!(
                after == before + u64::from(refused),
                "{what}: {after} refusals after {before}, and the answer is {answer:?}: {submission:x?}"
            );
            self.count(2);
        }
        Ok(answer.is_ok())
    }

    /// Call that change nothing that is known.
    fn ask(&mut self) -> Result<bool> {
        let Some((client, at)) = self.any_object() else {
            return Ok(false);
        };
        self.count(1);
        I::ask(&mut self.rng, &self.sound[client].objects[at], &self.wild.0)
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
        let (size, place) = (object.bo.size(), object.bo.place());
        let twin = Object {
            bo: I::adopt(self.sound[guest].device.clone(), handle, size, place),
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
        let bo = I::adopt(device.clone(), handle, size, I::PLACES[at]);
        I::paint(&mut self.rng, &bo, self.mark.word(0)).context("drawing to a public object")?;
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
            let answer = wild.call::<I>(&mut self.rng, device);
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
            let mut argument = drm::SyncobjCreate {
                handle: 0,
                flags: self.rng.u32(..2),
            };
            return Ok(self
                .wild
                .0
                .ioctl(drm::SYNCOBJ_CREATE, &mut argument)
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
