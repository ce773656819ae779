// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects move between system pages and frame buffer, because the 2D engine reaches the frame buffer only. There can be
//! more of them than the frame buffer holds. What they contain moves with them.

use crate::support::{DEPTH, PITCH, copy, engine_works, fill, is_in_frame_buffer, stream, surface};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::blit::{Blit, Rect, Surface};
use lapidary_chrome9_client::{Bo, Client as _, Device, Errno, Place, Stream};
use lapidary_harness::limit::Limit;
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test, refused};
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
        Test::new("memory/another_clients_objects_make_room", another).limit(120),
        Test::new("memory/is_given_back", given_back).limit(120),
        Test::new("memory/a_listed_object_comes_home", home).limit(120),
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
