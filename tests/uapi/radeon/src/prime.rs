// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Memory shared with other drivers: vgem, udmabuf, and a second GPU of the same kind (`boot --gpu2`).
//!
//! Every byte that is drawn into or read from foreign memory is compared with what its owner sees of it.

use crate::support::{
    PITCH, Reprobe, WIDTH, bound, copy, engine_works, fill, needs_checker, nothing, surface, within,
};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::painter::{Area, Rect, painter};
use lapidary_guest::{Bo, Device, Domain, Errno, Stream, abi};
use lapidary_harness::child::{self, End};
use lapidary_harness::foreign::{MemoryFile, Vgem, View, is_idle};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused, skip};
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::rc::Rc;
use std::time::{Duration, Instant};

const ROWS: u32 = 80;
const SIZE: u64 = (PITCH * ROWS) as u64;
const UPSTREAM_MAPS: &str = "upstream's mappings of foreign memory end in SIGBUS";

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("prime/vgem_is_drawn_into_and_read", vgem_import),
        Test::new("prime/udmabuf_is_drawn_into_and_read", udmabuf_import),
        Test::new("prime/one_handle_and_one_buffer", one_handle),
        Test::new(
            "prime/foreign_memory_is_mapped_by_its_owner",
            foreign_mapping,
        )
        .lapidary_only(UPSTREAM_MAPS),
        Test::new("prime/what_is_exported_is_seen_by_others", export),
        Test::new("prime/shared_objects_stay_out_of_video_memory", stays_out),
        Test::new("prime/their_fences_are_waited_for", their_fences),
        Test::new("prime/their_readers_do_not_hold_up_readers", their_readers),
        Test::new("prime/unannounced_writes_wait_for_readers", unannounced)
            .lapidary_only("upstream believes what a client says about its writes"),
        Test::new("prime/who_waits_for_them_holds_up_nobody", others_go_on)
            .lapidary_only("upstream's driver waits with all objects locked"),
        Test::new(
            "prime/who_waits_for_them_can_be_killed",
            killed_while_waiting,
        ),
        Test::new("prime/our_fences_are_seen_by_them", our_fences).needs_control(),
        Test::new("prime/the_exporter_goes_first", exporter_goes),
        Test::new("prime/larger_than_the_window", too_large)
            .lapidary_only("upstream has the memory made first, half a gigabyte of it"),
        Test::new("prime/between_two_gpus", two_gpus),
    ]
}

/// Return the tests that leave the device in need of a new probe.
pub fn last_tests() -> Vec<Test> {
    vec![
        Test::new("prime/unbind_while_they_are_waited_for", unbind_waits)
            .lapidary_only("our driver can be taken away in use"),
        Test::new("prime/unbind_with_shared_memory", unbind).lapidary_only(
            "upstream keeps the device's mappings of foreign memory until the objects go, and does not expect to be \
             unbound under its clients",
        ),
    ]
}

fn pattern(seed: u32) -> Vec<u32> {
    let count = (SIZE / 4) as u32;
    (0..count)
        .map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9))
        .collect()
}

fn same(seen: &[u32], expected: &[u32], what: &str) -> Result<()> {
    ensure!(
        seen.len() == expected.len(),
        "{what}: {} dwords",
        seen.len()
    );
    for (i, (seen, expected)) in seen.iter().zip(expected).enumerate() {
        ensure!(
            seen == expected,
            "{what}: dword {i} is {seen:#010x}, not {expected:#010x}"
        );
    }
    Ok(())
}

fn import(device: &Rc<Device>, buffer: &OwnedFd) -> Result<Bo> {
    let handle = device.import(buffer.as_fd()).context("importing")?;
    Ok(Bo::adopt(device.clone(), handle, SIZE, Domain::Gtt))
}

/// Draw into foreign memory and copy out of it. `view` is its owner's.
fn both_ways(device: &Rc<Device>, foreign: &Bo, view: &View) -> Result<()> {
    for domain in Domain::ALL {
        let ours = surface(device, ROWS, domain)?;
        for seed in 1..4 {
            let source = pattern(seed);
            view.write(&source);
            device.submit(&copy(foreign, &ours))?;
            same(&ours.read()?, &source, &format!("read into {domain:?}"))?;
            device.submit(&fill(foreign, seed))?;
            foreign.wait()?;
            same(&view.read(), &vec![seed; source.len()], "a fill")?;
            let source = pattern(!seed);
            ours.write(&source)?;
            device.submit(&copy(&ours, foreign))?;
            foreign.wait()?;
            same(&view.read(), &source, &format!("written from {domain:?}"))?;
        }
    }
    ensure!(
        device.busy(foreign.handle()).1 == abi::DOMAIN_GTT,
        "foreign memory is reported in {}",
        device.busy(foreign.handle()).1
    );
    Ok(())
}

fn vgem_import(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    both_ways(&device, &foreign, &vgem.map(handle, SIZE)?)
}

fn memory_file() -> Result<(MemoryFile, OwnedFd)> {
    let file = MemoryFile::new(SIZE)?;
    match file.buffer()? {
        Some(buffer) => Ok((file, buffer)),
        None => skip("there is no udmabuf"),
    }
}

fn udmabuf_import(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (file, buffer) = memory_file()?;
    let foreign = import(&device, &buffer)?;
    both_ways(&device, &foreign, &file.map()?)
}

fn inode(buffer: &OwnedFd) -> Result<u64> {
    Ok(rustix::fs::fstat(buffer)?.st_ino as u64)
}

fn one_handle(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (_file, buffer) = memory_file()?;
    let foreign = import(&device, &buffer)?;
    ensure!(
        device.import(buffer.as_fd())? == foreign.handle(),
        "a second import gives another handle"
    );
    let again = device.export(foreign.handle())?;
    ensure!(
        inode(&again)? == inode(&buffer)?,
        "exporting makes another buffer"
    );
    // Another client has an object of its own for the same buffer.
    let other = device.another()?;
    let theirs = import(&other, &again)?;
    other.submit(&fill(&theirs, 7))?;
    device.submit(&fill(&foreign, 8))?;
    foreign.wait()?;
    theirs.wait()?;
    // After the last handle is closed, importing makes an object again.
    drop(foreign);
    let foreign = import(&device, &buffer)?;
    device.submit(&fill(&foreign, 9))?;
    foreign.wait()?;
    Ok(())
}

fn foreign_mapping(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let (file, buffer) = memory_file()?;
    let foreign = import(&device, &buffer)?;
    let source = pattern(5);
    file.map()?.write(&source);
    let map = foreign.map()?;
    same(
        &map.read(0, source.len()),
        &source,
        "through the GPU's driver",
    )?;
    map.set(17, 0x1234);
    ensure!(file.map()?.read()[17] == 0x1234, "a store is not seen");
    // The mapping has the buffer, not the object.
    drop((foreign, buffer, file));
    ensure!(map.get(17) == 0x1234, "the mapping went with the object");
    Ok(())
}

fn export(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    for domain in Domain::ALL {
        let ours = surface(&device, ROWS, domain)?;
        let source = pattern(domain.bits());
        ours.write(&source)?;
        let buffer = device.export(ours.handle())?;
        let handle = vgem.node().import(buffer.as_fd()).context("vgem imports")?;
        // vgem does not map what is not its own.
        let view = View::new(buffer.as_fd(), 0, SIZE)?;
        same(&view.read(), &source, &format!("{domain:?} before"))?;
        for colour in 1..4 {
            device.submit(&fill(&ours, colour))?;
            ours.wait()?;
            same(&view.read(), &vec![colour; source.len()], "a fill")?;
            view.write(&source);
            same(&ours.read()?, &source, "what vgem's client wrote")?;
        }
        // After the last importer has detached, it is an ordinary object again.
        drop(view);
        vgem.node().close(handle)?;
        device.submit(&fill(&ours, 9))?;
        same(&ours.read()?, &vec![9; source.len()], "afterwards")?;
    }
    Ok(())
}

fn set_domain(bo: &Bo, domain: u32) -> Result<(), Errno> {
    let mut argument = abi::GemSetDomain {
        handle: bo.handle(),
        read_domains: domain,
        write_domain: 0,
    };
    bo.device()
        .ioctl(abi::RADEON_GEM_SET_DOMAIN, &mut argument)
        .map(drop)
}

fn stays_out(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    refused(
        "foreign memory",
        set_domain(&foreign, abi::DOMAIN_VRAM),
        Errno::INVAL,
    )?;
    set_domain(&foreign, abi::DOMAIN_GTT).context("foreign memory, GTT")?;
    set_domain(&foreign, abi::DOMAIN_CPU).context("foreign memory, CPU")?;

    let ours = surface(&device, ROWS, Domain::Vram)?;
    let source = pattern(77);
    ours.write(&source)?;
    let buffer = device.export(ours.handle())?;
    set_domain(&ours, abi::DOMAIN_VRAM).context("exported, not used by others")?;
    let theirs = vgem.node().import(buffer.as_fd())?;
    refused(
        "used by another driver",
        set_domain(&ours, abi::DOMAIN_VRAM),
        Errno::INVAL,
    )?;
    ensure!(
        device.busy(ours.handle()).1 == abi::DOMAIN_GTT,
        "it is in {}",
        device.busy(ours.handle()).1
    );
    // A submission that prefers video memory uses it where it is.
    let mut stream = painter().stream();
    painter().fill(
        &mut stream,
        Area::new(&ours, PITCH),
        3,
        Rect::new(0, 0, WIDTH, 1),
    );
    device.submit(&stream)?;
    ours.wait()?;
    ensure!(
        device.busy(ours.handle()).1 == abi::DOMAIN_GTT,
        "it moved to {}",
        device.busy(ours.handle()).1
    );
    let mut expected = source;
    expected[..WIDTH as usize].fill(3);
    same(&ours.read()?, &expected, "moved for others")?;
    vgem.node().close(theirs)?;
    set_domain(&ours, abi::DOMAIN_VRAM).context("not used by others any more")
}

/// Return a child that signals `fence` after a while.
fn signal_later(vgem: &Vgem, fence: u32) -> Result<child::Child> {
    child::spawn(|| {
        std::thread::sleep(Duration::from_millis(300));
        vgem.signal(fence)?;
        Ok(0)
    })
}

fn their_fences(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let view = vgem.map(handle, SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    let waits = |what: &str, write: bool, act: &dyn Fn() -> Result<()>| -> Result<()> {
        let fence = vgem.attach_fence(handle, write)?;
        refused(what, device.busy(foreign.handle()).0, Errno::BUSY)?;
        let signaller = signal_later(&vgem, fence)?;
        let begin = Instant::now();
        act().context(what.to_owned())?;
        // The wait below would wait for them in any case.
        let taken = begin.elapsed();
        ensure!(
            taken >= Duration::from_millis(250),
            "{what}: after {taken:?} already"
        );
        foreign.wait()?;
        ensure!(
            signaller.wait(Duration::from_secs(5))? == End::Exit(0),
            "{what}: signaller"
        );
        device.busy(foreign.handle()).0.context("idle afterwards")
    };
    waits("WAIT_IDLE", true, &|| Ok(foreign.wait()?))?;
    waits("SET_DOMAIN", true, &|| {
        Ok(set_domain(&foreign, abi::DOMAIN_CPU)?)
    })?;
    waits("drawing while they write", true, &|| {
        Ok(device.submit(&fill(&foreign, 1))?)
    })?;
    waits("drawing while they read", false, &|| {
        Ok(device.submit(&fill(&foreign, 2))?)
    })?;
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    waits("reading while they write", true, &|| {
        Ok(device.submit(&copy(&foreign, &ours))?)
    })?;
    same(&view.read(), &vec![2; (SIZE / 4) as usize], "in the end")
}

/// Two that only read do not wait for each other.
fn their_readers(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    vgem.map(handle, SIZE)?.write(&pattern(3));
    let fence = vgem.attach_fence(handle, false)?;
    device.submit(&copy(&foreign, &ours))?;
    same(&ours.read()?, &pattern(3), "read while they read")?;
    vgem.signal(fence)?;
    Ok(())
}

/// A job whose commands write an object counts as a writer, whatever its list of objects says. It waits for readers,
/// and others wait for it.
fn unannounced(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    // Otherwise the driver knows no more than the list.
    needs_checker()?;
    let handle = vgem.create(SIZE)?;
    let view = vgem.map(handle, SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    view.write(&pattern(6));
    // The writer says that it reads.
    let announced = fill(&foreign, 5);
    let mut stream = painter().stream();
    stream.extend(announced.words());
    for entry in announced.relocations() {
        stream.raw_entry(abi::CsReloc {
            read_domains: entry.write_domain,
            write_domain: 0,
            ..*entry
        });
    }
    let fence = vgem.attach_fence(handle, false)?;
    let child = child::spawn(|| {
        device.submit(&stream)?;
        foreign.wait()?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(300));
    same(&view.read(), &pattern(6), "while they read")?;
    vgem.signal(fence)?;
    let end = child.wait(Duration::from_secs(5))?;
    ensure!(end == End::Exit(0), "the writer ended with {end:?}");
    same(&view.read(), &vec![5; (SIZE / 4) as usize], "afterwards")
}

/// A submission that waits for another driver does not lock its other objects.
fn others_go_on(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    vgem.map(handle, SIZE)?.write(&pattern(8));
    // Shared by two clients of this device, and known to another driver.
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    let buffer = device.export(ours.handle())?;
    let known = vgem.node().import(buffer.as_fd())?;
    let other = device.another()?;
    let theirs = import(&other, &buffer)?;

    let fence = vgem.attach_fence(handle, true)?;
    let mut waiting = child::spawn(|| {
        device.submit(&copy(&foreign, &ours))?;
        ours.wait()?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(300));
    ensure!(waiting.poll()?.is_none(), "did not wait for vgem");
    within(
        Duration::from_secs(2),
        "another client",
        || -> Result<()> {
            for colour in 1..4 {
                other.submit(&fill(&theirs, colour))?;
                set_domain(&theirs, abi::DOMAIN_CPU)?;
                same(
                    &theirs.read()?,
                    &vec![colour; (SIZE / 4) as usize],
                    "a fill",
                )?;
            }
            theirs.map()?.set(3, 17);
            Ok(())
        },
    )??;
    ensure!(waiting.poll()?.is_none(), "it did not wait for vgem");
    vgem.signal(fence)?;
    let end = waiting.wait(Duration::from_secs(5))?;
    ensure!(end == End::Exit(0), "who waited ended with {end:?}");
    same(&theirs.read()?, &pattern(8), "what waited")?;
    Ok(vgem.node().close(known)?)
}

/// A signal ends a submission that waits for another driver, and leaves nothing locked.
fn killed_while_waiting(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    let fence = vgem.attach_fence(handle, true)?;
    let child = child::spawn(|| {
        device.submit(&copy(&foreign, &ours))?;
        Ok(0)
    })?;
    std::thread::sleep(Duration::from_millis(200));
    child.signal(libc::SIGKILL);
    let end = child.wait(Duration::from_secs(1))?;
    ensure!(end == End::Signal(libc::SIGKILL), "it ended with {end:?}");
    within(Duration::from_secs(1), "another submission", || {
        device.submit(&fill(&ours, 4))?;
        ours.wait()
    })??;
    vgem.signal(fence)?;
    device.submit(&copy(&foreign, &ours))?;
    Ok(ours.wait()?)
}

fn our_fences(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let handle = vgem.create(SIZE)?;
    let buffer = vgem.node().export(handle)?;
    let foreign = import(&device, &buffer)?;
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    let exported = device.export(ours.handle())?;
    let imported = vgem.node().import(exported.as_fd())?;
    ensure!(is_idle(buffer.as_fd(), true)?, "busy before its first use");
    for (theirs, buffer, target) in [(handle, &buffer, &foreign), (imported, &exported, &ours)] {
        context.control()?.fault("late-fence", 1)?;
        device.submit(&fill(target, 1))?;
        ensure!(
            !is_idle(buffer.as_fd(), true)?,
            "written, and idle for writers"
        );
        ensure!(
            !is_idle(buffer.as_fd(), false)?,
            "written, and idle for readers"
        );
        refused(
            "vgem's reader",
            vgem.attach_fence(theirs, false),
            Errno::BUSY,
        )?;
        target.wait()?;
        ensure!(is_idle(buffer.as_fd(), true)?, "not idle after waiting");
        context.control()?.fault("late-fence", 1)?;
        let copy_of = surface(&device, ROWS, Domain::Gtt)?;
        device.submit(&copy(target, &copy_of))?;
        ensure!(
            !is_idle(buffer.as_fd(), true)?,
            "read, and idle for writers"
        );
        ensure!(
            is_idle(buffer.as_fd(), false)?,
            "read, and busy for readers"
        );
        refused(
            "vgem's writer",
            vgem.attach_fence(theirs, true),
            Errno::BUSY,
        )?;
        target.wait()?;
    }
    Ok(())
}

fn exporter_goes(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    // Theirs.
    let handle = vgem.create(SIZE)?;
    vgem.map(handle, SIZE)?.write(&pattern(1));
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    vgem.node().close(handle)?;
    drop(vgem);
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    device.submit(&copy(&foreign, &ours))?;
    same(&ours.read()?, &pattern(1), "after its owner")?;
    device.submit(&fill(&foreign, 2))?;
    // Gone while it is drawn into.
    drop(foreign);
    // Ours, with a job under way.
    let vgem = self::Vgem::open()?;
    let buffer = device.export(ours.handle())?;
    let _theirs = vgem.node().import(buffer.as_fd())?;
    let view = View::new(buffer.as_fd(), 0, SIZE)?;
    device.submit(&fill(&ours, 3))?;
    drop((ours, buffer, device));
    let device = context.device()?;
    engine_works(&device)?;
    same(
        &view.read(),
        &vec![3; (SIZE / 4) as usize],
        "after our client",
    )
}

fn too_large(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    // vgem allocates memory when a driver attaches, and none does.
    let window = device.gem_info()?.gart_size;
    let handle = vgem.create(window + PAGE)?;
    refused(
        "more than the window",
        device.import(vgem.node().export(handle)?.as_fd()),
        Errno::NOMEM,
    )?;
    engine_works(&device)
}

/// Return the second GPU, if there is one.
pub fn second(first: &Device) -> Result<Rc<Device>> {
    for minor in 128..192 {
        let path = PathBuf::from(format!("/dev/dri/renderD{minor}"));
        if path == first.path() {
            continue;
        }
        let Ok(device) = Device::open_path(&path) else {
            continue;
        };
        if device.version().is_ok_and(|v| v.name == "radeon") {
            return Ok(Rc::new(device));
        }
    }
    skip("there is one GPU")
}

fn two_gpus(context: &mut Context) -> Result<()> {
    let first = context.device()?;
    let second = second(&first)?;
    for domain in Domain::ALL {
        let source = pattern(domain.bits());
        let ours = surface(&first, ROWS, domain)?;
        ours.write(&source)?;
        let theirs = import(&second, &first.export(ours.handle())?)?;
        let copied = surface(&second, ROWS, domain)?;
        second.submit(&copy(&theirs, &copied))?;
        same(&copied.read()?, &source, "copied by the second GPU")?;
        // In turn, each behind the other by fences alone.
        for round in 0..20 {
            first.submit(&fill(&ours, round))?;
            second.submit(&copy(&theirs, &copied))?;
            second.submit(&fill(&theirs, !round))?;
            first.submit(&nothing_with(&ours))?;
            same(
                &copied.read()?,
                &vec![round; source.len()],
                "what the first has drawn",
            )?;
            same(
                &ours.read()?,
                &vec![!round; source.len()],
                "what the second has drawn",
            )?;
        }
    }
    Ok(())
}

/// Return a submission that reads `bo` and does nothing with it.
fn nothing_with(bo: &Bo) -> Stream {
    let mut stream = nothing();
    painter().mention(&mut stream, bo);
    stream
}

/// A client that waits for another driver does not delay unbind, since that driver may never be done.
fn unbind_waits(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let (pci, driver) = bound(&device)?;
    let reprobe = Reprobe::of(&device)?;
    let handle = vgem.create(SIZE)?;
    let foreign = import(&device, &vgem.node().export(handle)?)?;
    let (idle, domain) = (|| foreign.wait(), || set_domain(&foreign, abi::DOMAIN_CPU));
    let waits: [&dyn Fn() -> Result<(), Errno>; 2] = [&idle, &domain];
    // vgem gives up by itself after 10 s.
    let fence = vgem.attach_fence(handle, true)?;
    let mut children = Vec::new();
    for wait in waits {
        children.push(child::spawn(|| {
            refused("a wait for vgem", wait(), Errno::NODEV)?;
            Ok(0)
        })?);
    }
    std::thread::sleep(Duration::from_millis(300));
    within(Duration::from_secs(7), "unbinding", || pci.unbind(&driver))??;
    for child in children {
        let end = child.wait(Duration::from_secs(10))?;
        ensure!(end == End::Exit(0), "the waiting client ended with {end:?}");
    }
    vgem.signal(fence)?;
    drop((foreign, device));
    reprobe.now()?;
    engine_works(&context.device()?).context("after binding again")
}

fn unbind(context: &mut Context) -> Result<()> {
    let (device, vgem) = (context.device()?, Vgem::open()?);
    let reprobe = Reprobe::of(&device)?;
    let handle = vgem.create(SIZE)?;
    let buffer = vgem.node().export(handle)?;
    let foreign = import(&device, &buffer)?;
    let ours = surface(&device, ROWS, Domain::Gtt)?;
    ours.write(&pattern(4))?;
    let exported = device.export(ours.handle())?;
    let theirs = vgem.node().import(exported.as_fd())?;
    device.submit(&fill(&foreign, 6))?;
    foreign.wait()?;
    reprobe.now()?;
    // The device is gone, but vgem's memory is still there.
    let view = vgem.map(handle, SIZE)?;
    same(
        &view.read(),
        &vec![6; (SIZE / 4) as usize],
        "foreign memory",
    )?;
    refused(
        "the old client imports",
        device.import(buffer.as_fd()),
        Errno::NODEV,
    )?;
    let again = context.device()?;
    let foreign_again = import(&again, &buffer)?;
    again.submit(&fill(&foreign_again, 7))?;
    foreign_again.wait()?;
    same(
        &view.read(),
        &vec![7; (SIZE / 4) as usize],
        "with the new device",
    )?;
    drop((foreign, ours));
    // The object of a device that is gone, imported anew.
    let orphan = import(&again, &exported)?;
    let copied = surface(&again, ROWS, Domain::Gtt)?;
    again.submit(&copy(&orphan, &copied))?;
    same(&copied.read()?, &pattern(4), "what the old device exported")?;
    vgem.node().close(theirs)?;
    drop((orphan, exported, device));
    engine_works(&again)
}
