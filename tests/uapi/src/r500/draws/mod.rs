// SPDX-License-Identifier: GPL-2.0 OR MIT

//! 3D draws: whole small ones are admitted and executed, with every source of vertices and every kind of surface,
//! in both domains; what reaches beyond an object is refused and leaves no trace.
//!
//! Where the device model is there it knows which bytes are the client's ([`territory`]), so that its judge sees
//! an engine step outside.

mod bounds;
mod limits;

use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw3d::{self, Array, Draw, Image, Indices, Vertices};
use lapidary_guest::Client as _;
use lapidary_guest::territory;
use lapidary_guest::{Bo, Device, Domain, Stream};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_uapi_radeon::support::{engine_works, surface};
use std::rc::Rc;

const BYTES: &str = "our checker bounds every byte that a draw may touch";
/// Pixels of a row and rows of the surfaces here: 16 KiB.
const SIZE: u32 = 64;
/// Vertices of an array that fill a page.
const FULL: u32 = PAGE as u32 / 16;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("draws/immediate", immediate),
        Test::new("draws/arrays", arrays),
        Test::new("draws/indices", indices),
        Test::new("draws/textures", textures),
        Test::new("draws/depth", depth),
        Test::new("draws/counting_pixels", counting),
        Test::new("draws/inside_objects", inside_objects),
        Test::new("draws/levels_of_a_flat_texture", flat_texture)
            .lapidary_only("our checker follows levels to the last"),
        Test::new("draws/are_executed", executed).needs_control(),
        Test::new("draws/missing_objects", bounds::missing_objects),
        Test::new("draws/surfaces_too_small", bounds::surfaces),
        Test::new("draws/textures_too_small", bounds::textures),
        Test::new("draws/arrays_too_short", bounds::arrays),
        Test::new(
            "draws/wrong_number_of_immediate_vertices",
            bounds::immediate,
        ),
        Test::new("draws/last_vertex", limits::last_vertex).lapidary_only(BYTES),
        Test::new("draws/largest_index", limits::largest_index)
            .needs_control()
            .upstream_answers(
                "Invalid argument",
                "refuses what ours lowers to what the arrays hold",
            ),
        Test::new("draws/offset_of_an_array", limits::array_offset).lapidary_only(BYTES),
        Test::new("draws/index_buffer", limits::index_buffer).lapidary_only(BYTES),
        Test::new("draws/offset_of_a_texture", limits::texture_offset).lapidary_only(BYTES),
        Test::new("draws/address_of_a_count", limits::count_address).lapidary_only(BYTES),
        Test::new("draws/wider_than_the_surface", limits::wide_scissor)
            .needs_control()
            .lapidary_only(BYTES),
        Test::new("draws/sizes_that_wrap", limits::wrapping).lapidary_only(BYTES),
        Test::new("draws/state_of_someone_else", limits::inherited)
            .lapidary_only("our checker knows only the state that the stream itself has set"),
    ]
}

/// Return a client and an object that is a target of [`SIZE`] rows and columns.
fn client(context: &Context, domain: Domain) -> Result<(Rc<Device>, Bo)> {
    let device = context.device()?;
    let bo = surface(&device, SIZE, domain)?;
    Ok((device, bo))
}

fn whole(bo: &Bo) -> Image<'_> {
    Image::new(bo, SIZE, SIZE)
}

/// Submit the draw with its objects declared to the judge, and wait for it.
fn admit(
    context: &mut Context,
    device: &Device,
    what: &str,
    draw: &Draw<'_>,
    objects: &[(&str, &Bo)],
) -> Result<()> {
    let mut stream = Stream::new();
    draw.emit(&mut stream);
    admit_stream(context, device, what, &stream, objects)
}

fn admit_stream(
    context: &mut Context,
    device: &Device,
    what: &str,
    stream: &Stream,
    objects: &[(&str, &Bo)],
) -> Result<()> {
    if let Some(control) = context.control_if_any() {
        territory::declare(control, objects)?;
    }
    device.submit(stream).context(what.to_owned())?;
    for (name, bo) in objects {
        bo.wait()
            .with_context(|| format!("{what}: waiting for {name}"))?;
    }
    if let Some(control) = context.control_if_any() {
        control.request("objects clear")?;
    }
    Ok(())
}

fn immediate(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let (device, bo) = client(context, domain)?;
        for count in [1, 3, 500] {
            let vertices = Vertices::Immediate(count);
            let draw = Draw {
                vertices,
                ..Draw::on(whole(&bo))
            };
            let what = format!("{count} vertices, {domain:?}");
            admit(context, &device, &what, &draw, &[("colour", &bo)])?;
        }
        engine_works(&device)?;
    }
    Ok(())
}

fn arrays(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let (device, bo) = client(context, domain)?;
        let buffers = [device.create(PAGE, domain)?, device.create(PAGE, domain)?];
        let [first, second] = &buffers;
        let both = [
            Array::new(first),
            Array {
                offset: 64,
                ..Array::new(second)
            },
        ];
        for (what, arrays, count) in [
            ("one array", &both[..1], FULL),
            ("two arrays", &both, FULL - 4),
            ("one vertex", &both, 1),
        ] {
            let vertices = Vertices::Arrays(arrays, count);
            let draw = Draw {
                vertices,
                ..Draw::on(whole(&bo))
            };
            let objects = [("colour", &bo), ("first", first), ("second", second)];
            admit(context, &device, what, &draw, &objects)
                .with_context(|| format!("{domain:?}"))?;
        }
        engine_works(&device)?;
    }
    Ok(())
}

/// Return indices 0, 1, 2, … below `end`, over and over.
fn index_words(count: u32, end: u32) -> Vec<u32> {
    let index = |i: u32| i % end;
    (0..count.div_ceil(2))
        .map(|i| index(2 * i) | (index(2 * i + 1) << 16))
        .collect()
}

fn indices(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let (device, bo) = client(context, domain)?;
        let vertices = device.create(PAGE, domain)?;
        let bytes = device.create(PAGE, domain)?;
        bytes.write(&index_words(PAGE as u32 / 2, FULL))?;
        for (offset, count) in [
            (0, 2),
            (0, PAGE as u32 / 2),
            (1024, 600),
            (PAGE as u32 - 4, 2),
        ] {
            let indices = Indices {
                bo: &bytes,
                offset,
                count,
                max: FULL - 1,
            };
            let arrays = [Array::new(&vertices)];
            let draw = Draw {
                vertices: Vertices::Indexed(&arrays, indices),
                ..Draw::on(whole(&bo))
            };
            let what = format!("{count} indices from {offset}, {domain:?}");
            let objects = [
                ("colour", &bo),
                ("vertices", &vertices),
                ("indices", &bytes),
            ];
            admit(context, &device, &what, &draw, &objects)?;
        }
        engine_works(&device)?;
    }
    Ok(())
}

fn textures(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let (device, bo) = client(context, domain)?;
        let first = surface(&device, SIZE, domain)?;
        let second = surface(&device, 2 * SIZE, domain)?;
        let images = [
            whole(&first),
            // A square of levels: 64², 32², … 1.
            Image {
                levels: 6,
                ..whole(&second)
            },
            // The second half, by its offset.
            Image {
                offset: SIZE * SIZE * 2,
                height: SIZE / 2,
                ..whole(&first)
            },
        ];
        for count in 1..=images.len() {
            let draw = Draw {
                textures: &images[..count],
                ..Draw::on(whole(&bo))
            };
            let objects = [("colour", &bo), ("first", &first), ("second", &second)];
            admit(
                context,
                &device,
                &format!("{count} textures, {domain:?}"),
                &draw,
                &objects,
            )?;
        }
        engine_works(&device)?;
    }
    Ok(())
}

/// A texture of one row has as many levels as its width has: the height stays 1.
fn flat_texture(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Vram)?;
    let texture = device.create(2 * PAGE, Domain::Vram)?;
    for (width, height) in [(SIZE, 1), (8, SIZE), (SIZE, 8)] {
        let image = Image {
            levels: 6,
            ..Image::new(&texture, width, height)
        };
        let draw = Draw {
            textures: &[image],
            ..Draw::on(whole(&bo))
        };
        let objects = [("colour", &bo), ("texture", &texture)];
        admit(
            context,
            &device,
            &format!("{width} by {height}"),
            &draw,
            &objects,
        )?;
    }
    engine_works(&device)
}

fn depth(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let (device, bo) = client(context, domain)?;
        let depth = surface(&device, SIZE, domain)?;
        let draw = Draw {
            depth: Some(whole(&depth)),
            ..Draw::on(whole(&bo))
        };
        let objects = [("colour", &bo), ("depth", &depth)];
        admit(
            context,
            &device,
            &format!("both, {domain:?}"),
            &draw,
            &objects,
        )?;
        let draw = Draw {
            colour: None,
            ..draw
        };
        admit(
            context,
            &device,
            &format!("depth alone, {domain:?}"),
            &draw,
            &objects[1..],
        )?;
        engine_works(&device)?;
    }
    Ok(())
}

/// Return a draw between the two ends of a query.
fn query(draw: &Draw<'_>, bo: &Bo, offset: u32) -> Stream {
    let mut stream = Stream::new();
    draw3d::count_from_zero(&mut stream);
    draw.emit(&mut stream);
    draw3d::write_count(&mut stream, bo, offset);
    stream
}

fn counting(context: &mut Context) -> Result<()> {
    for domain in Domain::ALL {
        let (device, bo) = client(context, domain)?;
        let depth = surface(&device, SIZE, domain)?;
        let counts = device.create(PAGE, domain)?;
        let draw = Draw {
            depth: Some(whole(&depth)),
            ..Draw::on(whole(&bo))
        };
        for offset in [0, 64, PAGE as u32 - 32] {
            let stream = query(&draw, &counts, offset);
            let objects = [("colour", &bo), ("depth", &depth), ("counts", &counts)];
            let what = format!("count to {offset}, {domain:?}");
            admit_stream(context, &device, &what, &stream, &objects)?;
        }
        engine_works(&device)?;
    }
    Ok(())
}

/// Offsets are inside the object, whatever its address.
fn inside_objects(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, 3 * SIZE, Domain::Vram)?;
    let size = SIZE * SIZE * 4;
    let colour = Image {
        offset: size,
        ..whole(&bo)
    };
    let depth = Image {
        offset: 2 * size,
        ..whole(&bo)
    };
    let arrays = [Array {
        offset: 128,
        ..Array::new(&bo)
    }];
    let draw = Draw {
        depth: Some(depth),
        textures: &[whole(&bo)],
        vertices: Vertices::Arrays(&arrays, 64),
        ..Draw::on(colour)
    };
    admit(
        context,
        &device,
        "all in one object",
        &draw,
        &[("all", &bo)],
    )?;
    engine_works(&device)
}

fn executed(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context, Domain::Vram)?;
    context.control()?.quiet()?;
    let before = context.control()?.counters()?;
    let mut stream = Stream::new();
    let draw = Draw::on(whole(&bo));
    draw.emit(&mut stream);
    draw.emit(&mut stream);
    device.submit(&stream)?;
    bo.wait()?;
    let after = context.control()?.counters()?.since(&before);
    let draws: u64 = after
        .iter()
        .filter(|(name, _)| name.starts_with("draws"))
        .map(|(_, count)| count)
        .sum();
    ensure!(draws == 2, "the device saw {draws} draws: {after:?}");
    Ok(())
}
