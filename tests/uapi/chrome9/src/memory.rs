// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects move between system pages and frame buffer, because the 2D engine reaches the frame buffer only. There can be
//! more of them than the frame buffer holds. What they contain moves with them.

use crate::support::{
    DEPTH, PITCH, copy, engine_works, fill, is_in_frame_buffer, on, stream, surface,
};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::blit::{Blit, Rect, Surface};
use lapidary_chrome9_client::{Bo, Client as _, Device, Errno, Place, Stream};
use lapidary_harness::child::{self, End};
use lapidary_harness::limit::Limit;
use lapidary_harness::mapping::{Mapping, PAGE};
use lapidary_harness::swap::{Zram, meminfo, swapped};
use lapidary_harness::{Context, Test, refused, skip};
use std::rc::Rc;
use std::time::Duration;

/// Bytes of large objects, where there is enough frame buffer for many of them.
const LARGE: u64 = 8 << 20;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("memory/system_pages_are_drawn_on", system),
        Test::new("memory/the_cpu_and_the_engine_take_turns", turns),
        Test::new("memory/more_objects_than_frame_buffer", more).limit(180),
        Test::new("memory/all_system_pages_pass_through", pass).limit(180),
        Test::new("memory/objects_that_do_not_fit_together", together).limit(120),
        Test::new(
            "memory/a_streams_own_objects_make_way_for_each_other",
            divided,
        )
        .limit(120),
        Test::new("memory/another_clients_objects_make_room", another).limit(120),
        Test::new("memory/four_clients_take_turns", four).limit(180),
        Test::new("memory/is_given_back", given_back).limit(120),
        Test::new("memory/a_listed_object_comes_home", home).limit(120),
        Test::new("memory/pages_go_to_swap_and_back", swap).limit(180),
    ]
}

/// Make enough large objects to fill the frame buffer and half of it again.
fn plenty(device: &Rc<Device>, place: Place) -> Result<Vec<Bo>> {
    let room = device.param(Param::FrameBufferSize)?;
    let bytes = LARGE.min(room / 16 / PAGE * PAGE);
    let count = room / bytes * 3 / 2;
    (0..count)
        .map(|i| {
            device
                .create(bytes, place)
                .with_context(|| format!("object {i} of {count}"))
        })
        .collect()
}

/// Fill the first row of an object, and mark its last dword by the CPU.
fn mark(device: &Device, bo: &Bo, number: u32) -> Result<()> {
    let mapping = bo.map()?;
    mapping.set(mapping.len() - 1, !number);
    drop(mapping);
    let target = Surface {
        object: 0,
        offset: 0,
        pitch: PITCH,
    };
    let fill = Blit::fill(DEPTH, target, Rect::new(0, 0, 16, 1), number);
    Ok(device.submit(&stream(&[bo], &[fill]))?)
}

fn is_marked(bo: &Bo, number: u32) -> Result<()> {
    bo.wait()?;
    let mapping = bo.map()?;
    let last = mapping.len() - 1;
    let seen = [0, 15, 16, last].map(|at| mapping.get(at));
    ensure!(
        seen == [number, number, 0, !number],
        "object {number} contains {seen:x?}"
    );
    Ok(())
}

fn system(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 4096, Place::System)?;
    let words: Vec<u32> = (0..bo.size() as u32 / 4).collect();
    bo.write(&words)?;
    let target = Surface {
        object: 0,
        offset: 0,
        pitch: PITCH,
    };
    let fill = Blit::fill(DEPTH, target, Rect::new(8, 100, 4, 1), 7);
    device.submit(&stream(&[&bo], &[fill]))?;
    let seen = bo.read()?;
    for (at, &word) in seen.iter().enumerate() {
        let drawn = (100 * 64 + 8..100 * 64 + 12).contains(&at);
        let expected = if drawn { 7 } else { at as u32 };
        ensure!(word == expected, "dword {at}: {word:#x}");
    }
    Ok(())
}

/// The CPU writes by one mapping all the time, while the engine draws on the object and copies it.
fn turns(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for place in Place::ALL {
        let bo = surface(&device, 64, place)?;
        let other = surface(&device, 64, Place::System)?;
        let mapping = bo.map()?;
        let (first, last) = (0, mapping.len() - 1);
        for round in 0..40u32 {
            device.submit(&fill(&bo, round))?;
            bo.wait()?;
            ensure!(
                mapping.get(first) == round && mapping.get(last) == round,
                "{place}, round {round}: the fill is not seen"
            );
            mapping.set(last, !round);
            device.submit(&copy(&bo, &other))?;
            other.wait()?;
            let seen = other.map()?;
            ensure!(
                seen.get(first) == round && seen.get(last) == !round,
                "{place}, round {round}: the copy has not what the CPU wrote"
            );
        }
    }
    Ok(())
}

fn more(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects = plenty(&device, Place::FrameBuffer)?;
    for (i, bo) in objects.iter().enumerate() {
        mark(&device, bo, i as u32).with_context(|| format!("object {i}"))?;
    }
    for (i, bo) in objects.iter().enumerate() {
        is_marked(bo, i as u32)?;
    }
    // From the other end, so that each is away when it is used.
    for (i, bo) in objects.iter().enumerate().rev() {
        mark(&device, bo, 1000 + i as u32)?;
    }
    for (i, bo) in objects.iter().enumerate() {
        is_marked(bo, 1000 + i as u32)?;
    }
    engine_works(&device)
}

fn pass(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects = plenty(&device, Place::System)?;
    for round in 0..2u32 {
        for (i, bo) in objects.iter().enumerate() {
            mark(&device, bo, 1000 * round + i as u32).with_context(|| format!("object {i}"))?;
        }
        for (i, bo) in objects.iter().enumerate() {
            is_marked(bo, 1000 * round + i as u32)?;
        }
    }
    engine_works(&device)
}

/// A stream that draws on more than the frame buffer is refused for lack of memory, and draws nothing. With one object less
/// than half of them it is accepted.
fn together(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let objects = plenty(&device, Place::System)?;
    let draw = |objects: &[Bo], colour: u32| {
        let blits: Vec<Blit> = (0..objects.len())
            .map(|object| {
                let target = Surface {
                    object,
                    offset: 0,
                    pitch: PITCH,
                };
                Blit::fill(DEPTH, target, Rect::new(0, 0, 16, 1), colour)
            })
            .collect();
        let list: Vec<&Bo> = objects.iter().collect();
        device.submit(&stream(&list, &blits))
    };
    let half = &objects[..objects.len() / 2];
    draw(half, 5).context("half of them")?;
    refused("all of them", draw(&objects, 9), Errno::NOMEM)?;
    for (i, bo) in objects.iter().enumerate() {
        let seen = {
            bo.wait()?;
            bo.map()?.get(3)
        };
        let expected = if i < half.len() { 5 } else { 0 };
        ensure!(seen == expected, "object {i} contains {seen}");
    }
    draw(half, 6).context("half of them again")?;
    half[0].wait()?;
    ensure!(half[0].map()?.get(3) == 6, "nothing was drawn");
    engine_works(&device)
}

/// Small objects of a stream lie all over the frame buffer, so that no room is left in one piece for its large one. All of them
/// fit together.
fn divided(context: &mut Context) -> Result<()> {
    const KEEP: usize = 4;
    let device = context.device()?;
    let room = device.param(Param::FrameBufferSize)?;
    let bytes = room / 16 / PAGE * PAGE;
    let all: Vec<Bo> = (0..16)
        .map(|_| device.create(bytes, Place::FrameBuffer))
        .collect::<Result<_, _>>()?;
    for bo in &all {
        mark(&device, bo, 0)?;
        bo.wait()?;
    }
    let mut there = Vec::new();
    for bo in all {
        if is_in_frame_buffer(&bo)? {
            there.push(bo);
        }
    }
    ensure!(there.len() > 2 * KEEP, "{} are there", there.len());
    let every = there.len() / KEEP;
    let small: Vec<Bo> = there.into_iter().step_by(every).take(KEEP).collect();
    // More than lies between any two of them, and with them less than all of them.
    let mut list = small;
    list.push(device.create(bytes * (every as u64 + 1), Place::System)?);
    let mut blits = Vec::new();
    for (object, bo) in list.iter().enumerate() {
        let mapping = bo.map()?;
        mapping.set(mapping.len() - 1, !(object as u32));
        let target = Surface {
            object,
            offset: 0,
            pitch: PITCH,
        };
        let row = Rect::new(0, 0, 16, 1);
        blits.push(Blit::fill(DEPTH, target, row, object as u32));
    }
    let list: Vec<&Bo> = list.iter().collect();
    device.submit(&stream(&list, &blits))?;
    for (i, bo) in list.iter().enumerate() {
        is_marked(bo, i as u32)?;
        ensure!(is_in_frame_buffer(bo)?, "object {i} is elsewhere");
    }
    engine_works(&device)
}

/// One client fills the frame buffer. Another has room all the same, and the first finds its data again.
fn another(context: &mut Context) -> Result<()> {
    let (device, other) = context.devices()?;
    let objects = plenty(&device, Place::FrameBuffer)?;
    for (i, bo) in objects.iter().enumerate() {
        mark(&device, bo, i as u32)?;
    }
    let bo = surface(&other, 4096, Place::FrameBuffer)?;
    other.submit(&fill(&bo, 3))?;
    let seen = bo.read()?;
    ensure!(seen.iter().all(|&word| word == 3), "the other's picture");
    for (i, bo) in objects.iter().enumerate() {
        is_marked(bo, i as u32)?;
    }
    Ok(())
}

/// Four clients submit streams at the same time that each draw on more than half of the frame buffer. Each is carried out: a
/// client has its turn when the others' objects can move.
fn four(context: &mut Context) -> Result<()> {
    const MOST: u64 = 64 << 20;
    const COUNT: usize = 9;
    let device = context.device()?;
    let room = device.param(Param::FrameBufferSize)?;
    if room > MOST {
        return skip("the frame buffer is large, and moving takes long");
    }
    let bytes = room / 16 / PAGE * PAGE;
    let client = |name: u32| -> Result<()> {
        let device = Device::open()?;
        let objects: Vec<Bo> = (0..COUNT)
            .map(|i| device.create(bytes, Place::ALL[i % 2]))
            .collect::<Result<_, _>>()?;
        let list: Vec<&Bo> = objects.iter().collect();
        for round in 0..12 {
            let number = |object: usize| (name << 16) + (round << 8) + object as u32;
            let mut rows = Vec::new();
            for (object, bo) in objects.iter().enumerate() {
                let mapping = bo.map()?;
                mapping.set(mapping.len() - 1, !number(object));
                let rect = Rect::new(0, 0, 16, 1);
                rows.push(Blit::fill(DEPTH, on(object), rect, number(object)));
            }
            device
                .submit(&stream(&list, &rows))
                .with_context(|| format!("round {round}"))?;
            for (object, bo) in objects.iter().enumerate() {
                is_marked(bo, number(object)).with_context(|| format!("round {round}"))?;
            }
        }
        Ok(())
    };
    let clients: Vec<_> = (1..=4)
        .map(|name| child::spawn(move || client(name).map(|()| 0)))
        .collect::<Result<_>>()?;
    for client in clients {
        let end = client.wait(Duration::from_secs(150))?;
        ensure!(end == End::Exit(0), "a client ended with {end:?}");
    }
    engine_works(&device)
}

/// Closed objects leave room: three times the frame buffer, one after the other.
fn given_back(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for round in 0..2 {
        let objects = plenty(&device, Place::FrameBuffer)?;
        for (i, bo) in objects.iter().enumerate() {
            mark(&device, bo, round * 1000 + i as u32)?;
        }
        // Some are still in use when they are closed.
        drop(objects);
    }
    engine_works(&device)
}

/// An object that was made for the frame buffer and had to leave it returns when a submission uses it, also if the 2D engine does
/// not. One that was made in system pages stays there.
fn home(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut objects = plenty(&device, Place::FrameBuffer)?;
    for (i, bo) in objects.iter().enumerate() {
        mark(&device, bo, i as u32)?;
    }
    let mut away = None;
    for (i, bo) in objects.iter().enumerate() {
        bo.wait()?;
        if !is_in_frame_buffer(bo)? {
            away = Some(i);
        }
    }
    let number = away.context("all of them are in the frame buffer")?;
    let bo = objects.swap_remove(number);
    drop(objects);
    let other = surface(&device, 64, Place::System)?;
    other.write(&[11])?;
    let mut list = Stream::nothing();
    list.list(&bo);
    list.list(&other);
    // The memory of closed objects is free a little later.
    let mut limit = Limit::new(Duration::from_secs(3));
    loop {
        device.submit(&list)?;
        bo.wait()?;
        if is_in_frame_buffer(&bo)? {
            break;
        }
        limit.rest("it does not return")?;
    }
    ensure!(!is_in_frame_buffer(&other)?, "the other has moved");
    is_marked(&bo, number as u32)
}

/// With objects of more system pages than the machine has, idle ones are swapped. They come back when the CPU reads them, and
/// when the 2D engine uses them.
fn swap(context: &mut Context) -> Result<()> {
    const MOST: u64 = 1536 << 20;
    let device = context.device()?;
    let all = meminfo("MemTotal:")?;
    if all > MOST {
        return skip("the machine has too much memory");
    }
    let bytes = LARGE.min(device.param(Param::FrameBufferSize)? / 8 / PAGE * PAGE);
    let _zram = Zram::new(all)?;
    let count = (meminfo("MemAvailable:")? * 9 / 8 / bytes) as u32;
    // Dwords of a page, and where one is marked.
    let page = PAGE as usize / 4;
    let first = PITCH as usize;
    let words = (bytes / 4) as u32;
    let word = |i: u32, at: usize| i.wrapping_mul(words).wrapping_add(at as u32);
    let mut objects = Vec::new();
    for i in 0..count {
        let bo = device
            .create(bytes, Place::System)
            .with_context(|| format!("object {i} of {count}"))?;
        let mapping = bo.map()?;
        for at in (first..mapping.len()).step_by(page) {
            mapping.set(at, word(i, at));
        }
        objects.push((bo, mapping));
    }
    let used = swapped()?;
    ensure!(used >= 16 << 20, "only {used} bytes are swapped");
    let look = |i: u32, mapping: &Mapping| -> Result<()> {
        for at in (first..mapping.len()).step_by(page) {
            let seen = mapping.get(at);
            ensure!(
                seen == word(i, at),
                "object {i}, dword {at}: {seen:#x} of {count} objects"
            );
        }
        Ok(())
    };
    // Those that were made first have been idle for longest. The engine draws on every third, before the CPU looks.
    for (i, (bo, mapping)) in (0..).zip(&objects) {
        if i % 3 == 0 {
            let row = Blit::fill(DEPTH, on(0), Rect::new(0, 0, 16, 1), i);
            device
                .submit(&stream(&[bo], &[row]))
                .with_context(|| format!("object {i}"))?;
            bo.wait()?;
            ensure!(mapping.get(15) == i, "object {i}: nothing was drawn");
        }
        look(i, mapping)?;
    }
    engine_works(&device)
}
