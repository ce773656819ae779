// SPDX-License-Identifier: GPL-2.0 OR MIT

//! HyperZ and CMASK: memories on the chip that one client at a time may use. INFO assigns them to a client. Other
//! clients can neither clear them nor switch their use on.

use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw2d::{self, Rect, Surface};
use lapidary_guest::Client as _;
use lapidary_guest::submit::Envelope;
use lapidary_guest::{Bo, Device, Domain, Errno, Stream, abi, stream::Access};
use lapidary_harness::child::{self, End};
use lapidary_harness::foreign::Vgem;
use lapidary_harness::limit::Limit;
use lapidary_harness::{Context, Test, refused};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_uapi_radeon::support::{
    engine_works, fillers, hang_twice, peek, surface, untouched, within,
};
use std::os::fd::AsFd;
use std::time::Duration;

const LEAVES: &str = "upstream's driver clears nothing on the chip";
const SIZE: u32 = 64;
const SECRET: u32 = 0x5ec2_e704;
/// Bytes of an object of another client.
const BYTES: u64 = 4096;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("hyperz/depth_memory_is_its_owners", depth_memory),
        Test::new("hyperz/colour_mask_is_its_owners", colour_mask),
        Test::new("hyperz/comes_back_when_the_owner_closes", closing),
        Test::new("hyperz/has_one_owner", one_owner),
        Test::new("hyperz/the_next_owner_finds_nothing", leftovers)
            .needs_control()
            .lapidary_only(LEAVES),
        Test::new("hyperz/a_clear_that_fails_leaves_no_owner", clear_fails)
            .needs_control()
            .kernel("hung, no fence in", 4)
            .lapidary_only(LEAVES)
            .limit(120),
        Test::new("hyperz/counters_of_others_are_not_seen", counters).lapidary_only(LEAVES),
        Test::new("hyperz/is_switched_off_for_others", switched_off).needs_control(),
        Test::new("hyperz/refused_submissions_leave_nothing", refused_late)
            .lapidary_only("upstream's driver asks once, before it waits"),
    ]
}

fn ask(device: &Device, request: abi::InfoRequest, value: u32) -> Result<bool> {
    Ok(device.info_with(request, value)? == 1)
}

const HYPERZ: abi::InfoRequest = abi::info_request("WANT_HYPERZ");
const CMASK: abi::InfoRequest = abi::info_request("WANT_CMASK");

/// One thing that needs the memory.
struct Use {
    what: &'static str,
    stream: fn() -> Stream,
}

fn packet(opcode: u8) -> Stream {
    let mut stream = Stream::new();
    // From the first dword of the memory, 4 dwords, all zero.
    stream.packet(opcode, &[0, 4, 0]);
    stream
}

fn register(offset: u32, value: u32) -> Stream {
    let mut stream = Stream::new();
    stream.register(offset, value);
    stream
}

const DEPTH_USES: [Use; 6] = [
    Use {
        what: "3D_CLEAR_ZMASK",
        stream: || packet(op::_3D_CLEAR_ZMASK),
    },
    Use {
        what: "3D_CLEAR_HIZ",
        stream: || packet(op::_3D_CLEAR_HIZ),
    },
    Use {
        what: "HIZ_ENABLE",
        stream: || register(mmio::ZB_BW_CNTL, mmio::zb_bw_cntl::HIZ_ENABLE.put(0, 1)),
    },
    Use {
        what: "FAST_FILL",
        stream: || register(mmio::ZB_BW_CNTL, mmio::zb_bw_cntl::FAST_FILL.put(0, 1)),
    },
    Use {
        what: "ZB_ZMASK_PITCH",
        stream: || register(mmio::ZB_ZMASK_PITCH, 64),
    },
    Use {
        what: "ZB_HIZ_PITCH",
        stream: || register(mmio::ZB_HIZ_PITCH, 64),
    },
];

const COLOUR_USES: [Use; 2] = [
    Use {
        what: "3D_CLEAR_CMASK",
        stream: || packet(op::_3D_CLEAR_CMASK),
    },
    Use {
        what: "CMASK_ENABLE",
        stream: || register(mmio::RB3D_CCTL, mmio::rb3d_cctl::CMASK_ENABLE.put(0, 1)),
    },
];

/// Check that a use is refused without ownership, admitted with it, refused to other clients, and refused again once it
/// is given back.
fn owned(context: &mut Context, request: abi::InfoRequest, uses: &[Use]) -> Result<()> {
    let owner = context.device()?;
    let other = owner.another()?;
    let bo = surface(&owner, SIZE, Domain::Vram)?;
    bo.wait()?;
    for one in uses {
        let stream = (one.stream)();
        let mut deny = |device: &Device, who: &str| {
            untouched(context, || {
                refused(who, device.submit(&stream), Errno::INVAL)
            })
            .with_context(|| one.what)
        };
        deny(&owner, "without an owner")?;
        ensure!(ask(&owner, request, 1)?, "{}: not given", request.name);
        owner
            .submit(&stream)
            .context("the owner")
            .context(one.what)?;
        bo.wait()?;
        deny(&other, "another client")?;
        ensure!(
            !ask(&owner, request, 0)?,
            "{}: not taken back",
            request.name
        );
        deny(&owner, "given back")?;
    }
    // Every client may write the registers that switch it off.
    for (what, offset) in [
        ("ZB_BW_CNTL", mmio::ZB_BW_CNTL),
        ("RB3D_CCTL", mmio::RB3D_CCTL),
    ] {
        other.submit(&register(offset, 0)).context(what)?;
    }
    Ok(())
}

fn depth_memory(context: &mut Context) -> Result<()> {
    owned(context, HYPERZ, &DEPTH_USES)
}

fn colour_mask(context: &mut Context) -> Result<()> {
    owned(context, CMASK, &COLOUR_USES)
}

fn closing(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = first.another()?;
    for (request, opcode) in [(HYPERZ, op::_3D_CLEAR_ZMASK), (CMASK, op::_3D_CLEAR_CMASK)] {
        let owner = first.another()?;
        let stream = packet(opcode);
        ensure!(ask(&owner, request, 1)?, "{}: not given", request.name);
        owner.submit(&stream).context("the owner")?;
        drop(owner);
        refused("after the owner", second.submit(&stream), Errno::INVAL)?;
        ensure!(ask(&second, request, 1)?, "{}: not free", request.name);
        second.submit(&stream).context("the next owner")?;
        ensure!(
            !ask(&second, request, 0)?,
            "{}: not taken back",
            request.name
        );
    }
    Ok(())
}

/// Of two clients that ask for one of the memories only the first gets it, and keeps it whatever the other asks.
fn one_owner(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    for (request, opcode) in [(HYPERZ, op::_3D_CLEAR_ZMASK), (CMASK, op::_3D_CLEAR_CMASK)] {
        let (owner, other) = (first.another()?, first.another()?);
        let stream = packet(opcode);
        ensure!(ask(&owner, request, 1)?, "{}: not given", request.name);
        for answer in [1, 0, 1] {
            ensure!(
                !ask(&other, request, answer)?,
                "{}: two have it",
                request.name
            );
            refused("the other", other.submit(&stream), Errno::INVAL)?;
            owner.submit(&stream).context("the owner")?;
        }
        ensure!(ask(&owner, request, 1)?, "{}: lost", request.name);
    }
    engine_works(&first)
}

/// The memories on the chip, the packets that fill them, and how they are asked for.
const MEMORIES: [(&str, u8, abi::InfoRequest); 3] = [
    ("hiz", op::_3D_CLEAR_HIZ, HYPERZ),
    ("zmask", op::_3D_CLEAR_ZMASK, HYPERZ),
    ("cmask", op::_3D_CLEAR_CMASK, CMASK),
];

/// Return how many dwords a memory on the chip has, and how many of them are the secret and zero.
fn on_chip(context: &mut Context, name: &str) -> Result<[usize; 3]> {
    let mut count = [0; 3];
    for line in context.control()?.request(&format!("on-chip {name}"))? {
        let (times, value) = line.split_once(' ').context("no run")?;
        let times: usize = times.parse()?;
        count[0] += times;
        match u32::from_str_radix(value.trim_start_matches("0x"), 16)? {
            SECRET => count[1] += times,
            0 => count[2] += times,
            _ => {}
        }
    }
    Ok(count)
}

/// Have the owner fill all of a memory with the secret.
fn leave_secret(context: &mut Context, owner: &Device, memory: (&str, u8)) -> Result<usize> {
    let (name, opcode) = memory;
    let [size, ..] = on_chip(context, name)?;
    let mut stream = Stream::new();
    for start in (0..size).step_by(4096) {
        let count = (size - start).min(4096);
        stream.packet(opcode, &[start as u32, count as u32, SECRET]);
    }
    owner.submit(&stream).context(name.to_owned())?;
    Ok(size)
}

/// What one owner leaves in a memory on the chip the next one does not find; and it is cleared when it changes hands,
/// not for each submission.
fn leftovers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (name, opcode, request) in MEMORIES {
        let owner = device.another()?;
        ensure!(ask(&owner, request, 1)?, "{name}: not given");
        let size = leave_secret(context, &owner, (name, opcode))?;
        // Work of the owner, and of others, changes nothing about it.
        for client in [&owner, &device] {
            let bo = surface(client, SIZE, Domain::Vram)?;
            let mut stream = register(mmio::ZB_BW_CNTL, 0);
            stream.entry(&bo, Access::Write);
            client.submit(&stream)?;
            bo.wait()?;
        }
        ensure!(
            on_chip(context, name)? == [size, size, 0],
            "{name}: the owner's content is lost"
        );
        // The owner closes its file with jobs in flight, and the next owner asks at once.
        leave_secret(context, &owner, (name, opcode))?;
        drop(owner);
        let next = device.another()?;
        ensure!(ask(&next, request, 1)?, "{name}: not free");
        engine_works(&next)?;
        ensure!(
            on_chip(context, name)? == [size, 0, size],
            "{name}: what the last owner has left is there"
        );
    }
    Ok(())
}

/// The clear of a memory on the chip hangs twice. The client that asked does not get the memory, its jobs behind the
/// clear on the ring are not executed, and it is not blamed. At the next request the memory is cleared again.
fn clear_fails(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (name, opcode, request) in [MEMORIES[0], MEMORIES[2]] {
        let owner = device.another()?;
        ensure!(ask(&owner, request, 1)?, "{name}: not given");
        let size = leave_secret(context, &owner, (name, opcode))?;
        engine_works(&owner)?;
        drop(owner);

        let next = device.another()?;
        let given = hang_twice(context, || ask(&next, request, 1))?;
        ensure!(given, "{name}: not free");
        let mut seen = Vec::new();
        for (client, mut stream) in [(&next, packet(opcode)), (&device, Stream::new())] {
            let bo = surface(client, SIZE, Domain::Gtt)?;
            let target = Surface::new(&bo, 4 * SIZE);
            draw2d::fill_by_registers(&mut stream, target, 1, Rect::new(0, 0, 1, 1));
            client.submit(&stream)?;
            seen.push(bo);
        }
        within(Duration::from_secs(40), "the wait", || {
            seen.iter().try_for_each(Bo::wait)
        })??;
        ensure!(
            seen[0].read()?[0] == 0,
            "{name}: a job of the next owner was executed"
        );
        ensure!(seen[1].read()?[0] == 1, "{name}: another's job was not");
        ensure!(
            on_chip(context, name)?[1] == size,
            "{name}: the clear was executed"
        );
        let status = next.reset_status()?;
        ensure!(
            status.guilty == 0 && status.flags == 0 && status.innocent == 2,
            "{status:?}"
        );
        refused(
            "the owner that is none",
            next.submit(&packet(opcode)),
            Errno::INVAL,
        )?;
        ensure!(ask(&next, request, 1)?, "{name}: not given again");
        engine_works(&next)?;
        ensure!(
            on_chip(context, name)?[2] == size,
            "{name}: what the last owner has left is there"
        );
    }
    Ok(())
}

/// A client that asks for the number of pixels before it has drawn any reads zero, whatever another client's counter
/// is. Its own counter is kept from job to job.
fn counters(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let other = device.another()?;
    let own = device.create(BYTES, Domain::Gtt)?;
    let others = other.create(BYTES, Domain::Gtt)?;
    let ask_count = |bo: &Bo, address: u32| -> Result<()> {
        let mut stream = Stream::new();
        stream
            .register(mmio::ZB_ZPASS_ADDR, address)
            .relocation(bo, Access::Write);
        Ok(bo.device().submit(&stream)?)
    };
    for round in 0..3 {
        own.write(&[u32::MAX; 2])?;
        others.write(&[u32::MAX])?;
        device.submit(&register(mmio::ZB_ZPASS_DATA, SECRET + round))?;
        ask_count(&own, 0)?;
        // The kernel's own work in between makes no difference.
        drop(device.create(BYTES, Domain::Vram)?);
        ask_count(&own, 4)?;
        ask_count(&others, 0)?;
        let (own, others) = (own.read()?, others.read()?);
        ensure!(
            own[..2] == [SECRET + round; 2] && others[0] == 0,
            "round {round}: {:x?}, and the other {:#x}",
            &own[..2],
            others[0]
        );
    }
    Ok(())
}

/// A client that does not own HyperZ may leave its bit in SC_HYPERZ_EN. The driver clears it.
fn switched_off(context: &mut Context) -> Result<()> {
    use mmio::sc_hyperz_en::{HZ_ADJ, HZ_EN};
    let device = context.device()?;
    let bo = surface(&device, SIZE, Domain::Vram)?;
    let wish = HZ_ADJ.put(HZ_EN.put(0, 1), 7);
    for (owner, expected) in [(false, HZ_EN.put(wish, 0)), (true, wish)] {
        if owner {
            ensure!(ask(&device, HYPERZ, 1)?, "not given");
        }
        let mut stream = register(mmio::SC_HYPERZ_EN, wish);
        stream.entry(&bo, Access::Write);
        device.submit(&stream)?;
        bo.wait()?;
        let seen = peek(context.control()?, "SC_HYPERZ_EN")?;
        ensure!(
            seen == expected,
            "owner {owner}: SC_HYPERZ_EN is {seen:#x}, not {expected:#x}"
        );
    }
    ensure!(!ask(&device, HYPERZ, 0)?, "not taken back");
    engine_works(&device)
}

/// The owner changes while submissions wait for another driver's fence. They are refused after the driver has reserved
/// everything for them, and release it. Together they would take more room than all jobs have.
fn refused_late(context: &mut Context) -> Result<()> {
    /// Dwords of the largest stream, and how many of them fill what jobs are executed from.
    const LARGEST: usize = 65_536;
    const FILL: usize = 4;
    let device = context.device()?;
    let vgem = Vgem::open()?;
    let handle = vgem.create(BYTES)?;
    let buffer = vgem.node().export(handle)?;
    let foreign = device.import(buffer.as_fd())?;
    let foreign = Bo::adopt(device.clone(), foreign, BYTES, Domain::Gtt);
    let mut stream = Stream::new();
    stream.extend(&fillers(LARGEST));
    stream.entry(&foreign, Access::Write);
    let envelope = Envelope::of(&stream);
    let fence = vgem.attach_fence(handle, true)?;
    // Processes with the same file are the same client. No job comes between them, which would give back what they took.
    let submitters = (0..=FILL).map(|_| {
        child::spawn(|| {
            let answer = envelope.submit(&device);
            refused("a job of another owner", answer, Errno::AGAIN)?;
            Ok(0)
        })
    });
    let submitters = submitters.collect::<Result<Vec<_>>>()?;
    let mut limit = Limit::new(Duration::from_secs(10));
    for submitter in &submitters {
        // It sleeps nowhere else than in the submission's waits, which come after the proof.
        while !sleeps(submitter.pid())? {
            limit.rest("a submission does not wait")?;
        }
    }
    ensure!(ask(&device, HYPERZ, 1)?, "not given");
    vgem.signal(fence)?;
    for (number, submitter) in submitters.into_iter().enumerate() {
        let end = submitter.wait(Duration::from_secs(10))?;
        ensure!(end == End::Exit(0), "submitter {number} ended with {end:?}");
    }
    within(Duration::from_secs(10), "the next job", || {
        device.submit(&stream)?;
        foreign.wait()
    })??;
    ensure!(!ask(&device, HYPERZ, 0)?, "not taken back");
    engine_works(&device)
}

/// Return whether a process of one thread sleeps, and can be interrupted.
fn sleeps(pid: i32) -> Result<bool> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("its name")?;
    Ok(fields.starts_with('S'))
}
