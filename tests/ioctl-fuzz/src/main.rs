// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `ioctl-fuzz`: several processes use the device at random, for a bounded number of calls.
//!
//! Each process is a client that makes, maps, fills, copies, shares and drops objects by the CPU and by the GPU. It
//! keeps a copy of what must be in each of them, and compares. Beside that it does what no reasonable client does:
//! spoilt streams, broken envelopes, wild arguments, closing objects and files with jobs in flight. None of it may
//! reach another client's objects; see [`worker`]. Meanwhile the supervisor here sends signals and kills processes at
//! random moments. What an interface supplies, `radeon` or `chrome9`, is in [`interface`].
//!
//! All that a process decides comes from its seed, so a failure names a seed and the number of steps; the supervisor
//! tries the same steps once more without company and says whether that is enough.

mod chrome9;
mod interface;
mod objects;
mod radeon;
mod shared;
mod wild;
mod worker;

use anyhow::{Context as _, Result, bail, ensure};
use chrome9::Chrome9;
use clap::Parser;
use interface::{Buffer as _, Interface};
use lapidary_harness::child::{self, Child, End};
use lapidary_harness::control::Control;
use lapidary_harness::limit::Limit;
use lapidary_harness::patience;
use radeon::Radeon;
use shared::Board;
use std::marker::PhantomData;
use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::rc::Rc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use worker::Plan;

/// How long a process may do without finishing a step.
const STUCK: Duration = Duration::from_secs(30);

/// Return a seed that no run had before.
fn fresh() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_nanos() as u64
}

/// Uses the device at random.
#[derive(Parser)]
struct Args {
    /// Whatever is decided comes from it. Without it the clock says one.
    #[arg(long, default_value_t = fresh())]
    seed: u64,
    /// Calls of all processes together.
    #[arg(long, default_value_t = 20_000)]
    calls: u64,
    /// Processes at the same time.
    #[arg(long, default_value_t = 4)]
    workers: u32,
    /// Objects are so many times larger: for more memory than there is.
    #[arg(long, default_value_t = 1)]
    scale: u32,
    /// The CPU sees tiled objects as lines: where the model sees its accesses, or the GPU is real.
    #[arg(long)]
    surfaces: bool,
    /// Repeats one process of a failed run, without company: WORKER.LIFE.
    #[arg(long, value_name = "WORKER.LIFE", value_parser = life, requires = "steps")]
    alone: Option<(u32, u32)>,
    /// So many steps of it.
    #[arg(long)]
    steps: Option<u64>,
}

fn life(text: &str) -> Result<(u32, u32)> {
    let (worker, life) = text.split_once('.').context("WORKER.LIFE")?;
    Ok((worker.parse()?, life.parse()?))
}

fn main() -> ExitCode {
    let args = Args::parse();
    match run_any(&args) {
        Ok(()) => {
            println!("test ioctl-fuzz ... ok\n1 passed, 0 failed");
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("test ioctl-fuzz ... FAILED: {error:#}\n0 passed, 1 failed");
            ExitCode::FAILURE
        }
    }
}

/// A process and what it is to do.
struct Life {
    number: u32,
    child: Child,
    steps: u64,
    /// How long until it is stuck.
    limit: Limit,
}

struct Supervisor<'a, I> {
    args: &'a Args,
    board: Board,
    /// Objects that all processes may import and spoil, one in each place.
    public: Vec<OwnedFd>,
    interface: PhantomData<I>,
}

impl<I: Interface> Supervisor<'_, I> {
    fn plan(&self, worker: u32, life: u32) -> Plan<'_> {
        Plan {
            seed: self.args.seed,
            worker,
            life,
            scale: self.args.scale,
            surfaces: self.args.surfaces,
            public: &self.public,
            board: &self.board,
        }
    }

    /// Start a process; without `steps` it goes on until it is told to stop.
    fn spawn(&self, worker: u32, number: u32, steps: Option<u64>) -> Result<Life> {
        self.board.step(worker).store(0);
        let child =
            child::spawn(|| worker::run::<I>(&self.plan(worker, number), steps).map(|()| 0))?;
        Ok(Life {
            number,
            child,
            steps: 0,
            limit: Limit::new(STUCK * patience()),
        })
    }

    /// Return what to say of a process that failed, after a try without the others.
    fn describe(&self, worker: u32, life: u32, steps: u64, how: &str) -> Result<String> {
        let again = self
            .spawn(worker, life, Some(steps))?
            .child
            .wait(Duration::from_secs(120) * patience());
        let verdict = match again {
            Ok(End::Exit(0)) => "passes alone, so it takes the others",
            _ => "fails alone, too",
        };
        Ok(format!(
            "process {worker}.{life} {how} at step {steps}; --seed {} --scale {}{} --alone {worker}.{life} --steps {steps} \
             {verdict}",
            self.args.seed,
            self.args.scale,
            if self.args.surfaces {
                " --surfaces"
            } else {
                ""
            }
        ))
    }

    /// Let the processes work until they have made all calls.
    fn work(&self) -> Result<()> {
        let mut rng = fastrand::Rng::with_seed(self.args.seed ^ 0x5afe);
        let mut lives = (0..self.args.workers)
            .map(|worker| self.spawn(worker, 0, None))
            .collect::<Result<Vec<_>>>()?;
        while self.board.calls() < self.args.calls {
            std::thread::sleep(Duration::from_millis(10));
            for worker in 0..self.args.workers {
                let life = &mut lives[worker as usize];
                let number = life.number;
                let steps = self.board.step(worker).load();
                if let Some(end) = life.child.poll()? {
                    bail!(self.describe(worker, number, steps, &format!("ended with {end:?}"))?);
                }
                if steps != life.steps {
                    (life.steps, life.limit) = (steps, Limit::new(STUCK * patience()));
                }
                if life.limit.is_over() {
                    bail!(self.describe(worker, number, steps, "is stuck")?);
                }
                match rng.u32(..400) {
                    0 => {
                        life.child.signal(libc::SIGKILL);
                        self.board.count_killed();
                        *life = self.spawn(worker, number + 1, None)?;
                    }
                    1..=20 => life.child.signal(libc::SIGUSR1),
                    _ => {}
                }
            }
        }
        self.board.stop();
        for (worker, life) in lives.into_iter().enumerate() {
            let end = life.child.wait(STUCK * patience())?;
            if end != End::Exit(0) {
                let worker = worker as u32;
                let steps = self.board.step(worker).load();
                bail!(self.describe(worker, life.number, steps, &format!("ended with {end:?}"))?);
            }
        }
        Ok(())
    }
}

/// Wait for a device with one of the interfaces, and use it.
fn run_any(args: &Args) -> Result<()> {
    Radeon::supply();
    Chrome9::supply();
    let mut limit = Limit::new(Duration::from_secs(5));
    loop {
        match (
            lapidary_guest::Device::open(),
            lapidary_chrome9_client::Device::open(),
        ) {
            (Ok(device), _) => return run::<Radeon>(args, &device),
            (_, Ok(device)) => return run::<Chrome9>(args, &device),
            (Err(radeon), Err(chrome9)) => limit.rest(&format!("{radeon}; {chrome9}"))?,
        }
    }
}

fn run<I: Interface>(args: &Args, device: &Rc<I::Device>) -> Result<()> {
    ensure!(
        (1..=shared::WORKERS).contains(&args.workers),
        "1 to {} processes",
        shared::WORKERS
    );
    // Before there are processes: one that has just begun may get the signal at once.
    worker::quiet_signals()?;
    let mut control = Control::find()?;
    ensure!(
        I::SURFACES || !args.surfaces,
        "objects are always seen as lines"
    );
    I::look_at(device)?;
    let mut rng = fastrand::Rng::with_seed(args.seed);
    let size = objects::smallest(args.scale);
    let mut public = Vec::new();
    for &place in I::PLACES {
        let handle = I::create(&mut rng, device, size, place)?;
        let bo = I::adopt(device.clone(), handle, size, place);
        public.push(device.export(bo.handle())?);
    }
    let resets = I::resets(device)?;
    let before = I::usage(device)?;
    let supervisor = Supervisor::<I> {
        args,
        board: Board::new()?,
        public,
        interface: PhantomData,
    };
    if let Some((worker, life)) = args.alone {
        return worker::run::<I>(&supervisor.plan(worker, life), args.steps);
    }
    // Before anything can end this process.
    println!("seed {}", args.seed);
    let begin = Instant::now();
    let worked = supervisor.work();
    let board = &supervisor.board;
    println!(
        "{} calls in {} s, {} processes killed",
        board.calls(),
        begin.elapsed().as_secs(),
        board.killed()
    );
    let steps = I::steps(args.surfaces);
    for (kind, (name, _)) in steps.iter().enumerate() {
        let (done, refused) = board.tally(kind);
        println!("    {name}: {done} done, {refused} refused");
    }
    worked?;
    if let Some(control) = &mut control {
        let mut findings = control.findings()?;
        findings.retain(|finding| !I::own_fault().contains(&finding.kind.as_str()));
        ensure!(findings.is_empty(), "the model's judge: {findings:?}");
    }
    ensure!(I::resets(device)? == resets, "the GPU was reset");
    // What the dead held comes back.
    let mut limit = Limit::new(Duration::from_secs(10) * patience());
    loop {
        let now = I::usage(device)?;
        if now == before {
            break;
        }
        limit.rest(&format!("memory in use: {now:?} bytes, {before:?} before"))?;
    }
    let idle: Vec<_> = steps
        .iter()
        .enumerate()
        .filter(|&(kind, _)| board.tally(kind).0 == 0)
        .map(|(_, &(name, _))| name)
        .collect();
    ensure!(idle.is_empty(), "never done: {}", idle.join(", "));
    Ok(())
}
