// SPDX-License-Identifier: GPL-2.0 OR MIT

//! HyperZ and CMASK: memories on the chip that one client at a time may use. INFO hands them out; whoever does not
//! own them can neither clear them nor switch their use on.

use crate::support::{engine_works, fillers, peek, surface, untouched, vgem, within};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::child::{self, End};
use lapidary_guest::harness::{Context, Test, refused};
use lapidary_guest::submit::Envelope;
use lapidary_guest::{Bo, Device, Domain, Errno, Stream, abi, stream::Access};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use std::os::fd::AsFd;
use std::time::Duration;

const SIZE: u32 = 64;
/// Bytes of an object that is somebody else's.
const BYTES: u64 = 4096;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("hyperz/depth_memory_is_its_owners", depth_memory),
        Test::new("hyperz/colour_mask_is_its_owners", colour_mask),
        Test::new("hyperz/comes_back_when_the_owner_closes", closing),
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

/// Refused without owning it, admitted with, refused to everybody else, refused again once given back.
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
        deny(&owner, "nobody owns it")?;
        ensure!(ask(&owner, request, 1)?, "{}: not given", request.name);
        owner
            .submit(&stream)
            .context("the owner")
            .context(one.what)?;
        bo.wait()?;
        deny(&other, "somebody else")?;
        ensure!(
            !ask(&owner, request, 0)?,
            "{}: not taken back",
            request.name
        );
        deny(&owner, "given back")?;
    }
    // The registers that switch it off are everybody's.
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

/// Who does not own HyperZ may leave its bit in SC_HYPERZ_EN; the kernel clears it.
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

/// The owner changes while submissions wait for somebody else's fence: they are refused when all has been reserved, and
/// give it back. Those refused here would take more room than all jobs together have.
fn refused_late(context: &mut Context) -> Result<()> {
    /// Dwords of the largest stream, and how many of them fill what jobs are executed from.
    const LARGEST: usize = 65_536;
    const FILL: usize = 4;
    let device = context.device()?;
    let vgem = vgem()?;
    let handle = vgem.create(BYTES)?;
    let buffer = vgem.device().export(handle)?;
    let foreign = device.import(buffer.as_fd())?;
    let foreign = Bo::adopt(device.clone(), foreign, BYTES, Domain::Gtt);
    let mut stream = Stream::new();
    stream.extend(&fillers(LARGEST));
    stream.entry(&foreign, Access::Write);
    let envelope = Envelope::of(&stream);
    for round in 0..=FILL {
        let fence = vgem.attach_fence(handle, true)?;
        let own = std::process::id();
        let other = child::spawn(|| {
            // It sleeps nowhere else than in the submission's wait, which comes after the proof.
            while !sleeps(own)? {
                std::thread::sleep(Duration::from_millis(1));
            }
            // The same file, hence the same client.
            let owned = ask(&device, HYPERZ, (round % 2 == 0).into())?;
            vgem.signal(fence)?;
            Ok(owned.into())
        })?;
        let answer = envelope.submit(&device);
        let end = other.wait(Duration::from_secs(10))?;
        ensure!(
            end == End::Exit((round % 2 == 0).into()),
            "round {round}: changing the owner ended with {end:?}"
        );
        refused("a job of another owner", answer, Errno::AGAIN)
            .with_context(|| format!("round {round}"))?;
    }
    ensure!(!ask(&device, HYPERZ, 0)?, "not taken back");
    within(Duration::from_secs(10), "the next job", || {
        device.submit(&stream)?;
        foreign.wait()
    })??;
    engine_works(&device)
}

/// Whether a process of one thread sleeps, and can be interrupted.
fn sleeps(pid: u32) -> Result<bool> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(") ").context("its name")?;
    Ok(fields.starts_with('S'))
}
