// SPDX-License-Identifier: GPL-2.0 OR MIT

//! 2D drawing that must work, in both domains and between them. Expected pixels are computed here, by loops that say
//! what is meant.

use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw2d::{self, Brush, Format, Raster, Rect, SourceType, Surface, rop};
use lapidary_guest::Client as _;
use lapidary_guest::{Bo, Device, Domain, Stream};
use lapidary_harness::{Context, Test};
use lapidary_uapi_radeon::support::{PITCH, WIDTH, surface};
use std::rc::Rc;

const ROWS: u32 = 32;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("drawing/fill_by_registers", fill_by_registers),
        Test::new("drawing/copy_by_registers", copy_by_registers),
        Test::new("drawing/pixel_formats", pixel_formats),
        Test::new("drawing/surface_inside_an_object", inside_an_object),
        Test::new("drawing/many_small_streams", many_small_streams),
        Test::new("drawing/streams_of_two_clients", two_clients),
        Test::new("drawing/cpu_writes_are_seen", cpu_writes),
        Test::new("drawing/brushes", brushes),
        Test::new("drawing/copies_between_domains", copies_between_domains),
        Test::new("drawing/raster_operations", raster_operations),
        Test::new("drawing/host_data", host_data)
            .upstream_answers("Invalid argument", "admits no host data"),
        Test::new("drawing/colour_key", colour_key),
        Test::new("drawing/lines", lines),
    ]
}

/// A picture in the CPU's memory to compare with.
struct Expected(Vec<u32>);

impl Expected {
    fn new(start: impl Fn(i32, i32) -> u32) -> Expected {
        Expected(
            (0..ROWS as i32 * WIDTH)
                .map(|i| start(i % WIDTH, i / WIDTH))
                .collect(),
        )
    }

    fn rect(&mut self, rect: Rect, mut pixel: impl FnMut(i32, i32, u32) -> u32) {
        for y in rect.y..rect.y + rect.h {
            for x in rect.x..rect.x + rect.w {
                let old = &mut self.0[(y * WIDTH + x) as usize];
                *old = pixel(x, y, *old);
            }
        }
    }

    fn compare(&self, bo: &Bo) -> Result<()> {
        let seen = bo.read()?;
        for (i, (&expected, &seen)) in self.0.iter().zip(&seen).enumerate() {
            let (x, y) = (i as i32 % WIDTH, i as i32 / WIDTH);
            ensure!(
                expected == seen,
                "pixel ({x}, {y}): expected {expected:#010x}, seen {seen:#010x}"
            );
        }
        Ok(())
    }
}

fn pattern(x: i32, y: i32) -> u32 {
    (x as u32 * 0x0101_0003) ^ (y as u32 * 0x0307_1011) ^ 0x8000_0000
}

/// Return an object that the CPU filled with the pattern.
fn patterned(device: &Rc<Device>, domain: Domain) -> Result<Bo> {
    let bo = surface(device, ROWS, domain)?;
    bo.write(&Expected::new(pattern).0)?;
    Ok(bo)
}

fn on(bo: &Bo) -> Surface<'_> {
    Surface::new(bo, PITCH)
}

fn fill_by_registers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = patterned(&device, domain)?;
        let mut expected = Expected::new(pattern);
        let mut stream = Stream::new();
        for (i, rect) in [
            Rect::new(0, 0, WIDTH, 1),
            Rect::new(3, 4, 5, 6),
            Rect::new(WIDTH - 1, 31, 1, 1),
        ]
        .into_iter()
        .enumerate()
        {
            let colour = 0x0102_0304 * (i as u32 + 1);
            draw2d::fill_by_registers(&mut stream, on(&bo), colour, rect);
            expected.rect(rect, |_, _, _| colour);
        }
        device.submit(&stream)?;
        expected
            .compare(&bo)
            .with_context(|| format!("{domain:?}"))?;
    }
    Ok(())
}

fn copy_by_registers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for from in Domain::ALL {
        for to in Domain::ALL {
            let (source, target) = (patterned(&device, from)?, surface(&device, ROWS, to)?);
            let mut stream = Stream::new();
            let rect = Rect::new(7, 3, 41, 20);
            draw2d::copy_by_registers(&mut stream, on(&source), on(&target), (2, 9), rect);
            device.submit(&stream)?;
            let mut expected = Expected::new(|_, _| 0);
            expected.rect(rect, |x, y, _| pattern(x - 7 + 2, y - 3 + 9));
            expected
                .compare(&target)
                .with_context(|| format!("{from:?} to {to:?}"))?;
        }
    }
    Ok(())
}

fn pixel_formats(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (format, colour) in [
        (Format::C8, 0xa7),
        (Format::Rgb565, 0xb3c5),
        (Format::Argb8888, 0x8081_8283),
    ] {
        let bo = patterned(&device, Domain::Gtt)?;
        let to = Surface { format, ..on(&bo) };
        let mut stream = Stream::new();
        draw2d::fill_by_registers(&mut stream, to, colour, Rect::new(3, 1, 10, 2));
        device.submit(&stream)?;
        let mut bytes: Vec<u8> = Expected::new(pattern)
            .0
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        let size = format.bytes() as usize;
        for y in 1..3 {
            for x in 3..13 {
                let at = y * PITCH as usize + x * size;
                bytes[at..at + size].copy_from_slice(&u32::to_le_bytes(colour)[..size]);
            }
        }
        let seen: Vec<u8> = bo
            .read()?
            .iter()
            .flat_map(|word| word.to_le_bytes())
            .collect();
        for (i, (expected, seen)) in bytes.iter().zip(&seen).enumerate() {
            ensure!(
                expected == seen,
                "{format:?}: byte {i} is {seen:#x}, expected {expected:#x}"
            );
        }
    }
    Ok(())
}

/// The offset of a surface is relative to its object.
fn inside_an_object(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for domain in Domain::ALL {
        let bo = surface(&device, 64, domain)?;
        let to = Surface {
            offset: 5 * 1024,
            ..on(&bo)
        };
        let mut stream = Stream::new();
        draw2d::fill_by_registers(&mut stream, to, 0x99, Rect::new(1, 1, 2, 2));
        device.submit(&stream)?;
        let first = 5 * 256 + WIDTH as usize + 1;
        let drawn = [
            first,
            first + 1,
            first + WIDTH as usize,
            first + WIDTH as usize + 1,
        ];
        for (i, word) in bo.read()?.into_iter().enumerate() {
            let expected = if drawn.contains(&i) { 0x99 } else { 0 };
            ensure!(word == expected, "{domain:?}: dword {i} is {word:#x}");
        }
    }
    Ok(())
}

/// Submit more streams than the ring has room for at once.
fn many_small_streams(context: &mut Context) -> Result<()> {
    const COUNT: i32 = 5000;
    let device = context.device()?;
    let bo = surface(&device, ROWS, Domain::Vram)?;
    for i in 0..COUNT {
        let mut stream = Stream::new();
        draw2d::fill_by_registers(
            &mut stream,
            on(&bo),
            i as u32,
            Rect::new(i % WIDTH, i / WIDTH % 32, 1, 1),
        );
        device
            .submit(&stream)
            .with_context(|| format!("stream {i}"))?;
    }
    let seen = bo.read()?;
    let cells = WIDTH * ROWS as i32;
    for cell in 0..cells {
        let last = (COUNT - 1 - cell) / cells * cells + cell;
        ensure!(
            seen[cell as usize] == last as u32,
            "pixel {cell} is {}, expected {last}",
            seen[cell as usize]
        );
    }
    Ok(())
}

/// Two clients draw in turn; neither disturbs the other's state.
fn two_clients(context: &mut Context) -> Result<()> {
    let clients = [context.device()?, context.device()?];
    let objects = [
        surface(&clients[0], ROWS, Domain::Vram)?,
        surface(&clients[1], ROWS, Domain::Gtt)?,
    ];
    for round in 0..50 {
        for (i, client) in clients.iter().enumerate() {
            let mut stream = Stream::new();
            let colour = 0x1000 * (i as u32 + 1) + round as u32;
            draw2d::fill_by_registers(
                &mut stream,
                on(&objects[i]),
                colour,
                Rect::new(round, i as i32, 1, 1),
            );
            client.submit(&stream)?;
        }
    }
    for (i, bo) in objects.iter().enumerate() {
        let mut expected = Expected::new(|_, _| 0);
        expected.rect(Rect::new(0, i as i32, 50, 1), |x, _, _| {
            0x1000 * (i as u32 + 1) + x as u32
        });
        expected.compare(bo)?;
    }
    Ok(())
}

/// The CPU changes the source between two copies; each copy sees what was there before it.
fn cpu_writes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for from in Domain::ALL {
        let (source, target) = (
            surface(&device, ROWS, from)?,
            surface(&device, ROWS, Domain::Vram)?,
        );
        let mapping = source.map()?;
        for round in 0..30 {
            mapping.set(0, round);
            mapping.set(mapping.len() - 1, !round);
            let mut stream = Stream::new();
            let all = Rect::new(0, 0, WIDTH, ROWS as i32);
            draw2d::copy_by_registers(&mut stream, on(&source), on(&target), (0, 0), all);
            device.submit(&stream)?;
            let seen = target.read()?;
            let ends = (seen[0], seen[seen.len() - 1]);
            ensure!(
                ends == (round, !round),
                "{from:?}, round {round}: {ends:x?}"
            );
        }
    }
    Ok(())
}

fn brushes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = patterned(&device, Domain::Vram)?;
    let mut expected = Expected::new(pattern);
    let mut stream = Stream::new();
    let rects = [
        Rect::new(0, 0, 3, 3),
        Rect::new(60, 1, 4, 30),
        Rect::new(10, 10, 1, 1),
    ];
    let brush = Brush::Solid(0x00c0_ffee);
    draw2d::fill(&mut stream, on(&bo), brush, rop::PATCOPY, &rects);
    let overlapping = [Rect::new(20, 2, 5, 9), Rect::new(22, 4, 9, 2)];
    let brush = Brush::Solid(0x0bad_cafe);
    draw2d::fill(&mut stream, on(&bo), brush, rop::PATINVERT, &overlapping);
    // A pattern that is the same mirrored, aligned with the surface.
    let rows = [0xff, 0x81, 0xbd, 0xa5, 0xa5, 0xbd, 0x81, 0xff];
    let brush = Brush::Mono {
        back: 0x11,
        front: 0x22,
        rows,
    };
    let area = Rect::new(35, 5, 17, 19);
    draw2d::fill(&mut stream, on(&bo), brush, rop::PATCOPY, &[area]);
    device.submit(&stream)?;
    rects
        .into_iter()
        .for_each(|rect| expected.rect(rect, |_, _, _| 0x00c0_ffee));
    overlapping
        .into_iter()
        .for_each(|rect| expected.rect(rect, |_, _, old| old ^ 0x0bad_cafe));
    expected.rect(area, |x, y, _| {
        if (rows[(y & 7) as usize] >> (x & 7)) & 1 != 0 {
            0x22
        } else {
            0x11
        }
    });
    expected.compare(&bo)
}

fn copies_between_domains(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for from in Domain::ALL {
        for to in Domain::ALL {
            let (source, target) = (patterned(&device, from)?, surface(&device, ROWS, to)?);
            let copies = [
                ((0, 0), Rect::new(32, 0, 32, 16)),
                ((32, 16), Rect::new(0, 16, 32, 16)),
            ];
            let mut stream = Stream::new();
            let (source, code) = (on(&source), rop::SRCCOPY);
            draw2d::copy(&mut stream, source, on(&target), Brush::None, code, &copies);
            device.submit(&stream)?;
            let mut expected = Expected::new(|_, _| 0);
            for ((sx, sy), rect) in copies {
                expected.rect(rect, |x, y, _| pattern(x - rect.x + sx, y - rect.y + sy));
            }
            expected
                .compare(&target)
                .with_context(|| format!("{from:?} to {to:?}"))?;
        }
    }
    Ok(())
}

/// Draw by all 256 operations on one pixel each, with patterns in which every combination of bits occurs.
fn raster_operations(context: &mut Context) -> Result<()> {
    const P: u32 = 0xf0f0_f0f0;
    const S: u32 = 0xcccc_cccc;
    const D: u32 = 0xaaaa_aaaa;
    let device = context.device()?;
    let (source, target) = (
        surface(&device, ROWS, Domain::Gtt)?,
        surface(&device, ROWS, Domain::Vram)?,
    );
    source.write(&[S; (WIDTH * ROWS as i32) as usize])?;
    target.write(&[D; (WIDTH * ROWS as i32) as usize])?;
    for first in (0..256).step_by(64) {
        let mut stream = Stream::new();
        for code in first..first + 64 {
            let rect = Rect::new(code % WIDTH, code / WIDTH, 1, 1);
            let (brush, copies) = (Brush::Solid(P), [((0, 0), rect)]);
            let (source, target) = (on(&source), on(&target));
            draw2d::copy(&mut stream, source, target, brush, code as u8, &copies);
        }
        device.submit(&stream)?;
    }
    let seen = target.read()?;
    for code in 0..256u32 {
        let expected = (0..32).fold(0, |word, bit| {
            let row = (((P >> bit) & 1) << 2) | (((S >> bit) & 1) << 1) | ((D >> bit) & 1);
            word | (((code >> row) & 1) << bit)
        });
        ensure!(
            seen[code as usize] == expected,
            "ROP {code:#04x}: {:#x}, not {expected:#x}",
            seen[code as usize]
        );
    }
    Ok(())
}

fn host_data(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = patterned(&device, Domain::Vram)?;
    let mut expected = Expected::new(pattern);
    let mut stream = Stream::new();
    // Colours.
    let rect = Rect::new(5, 2, 7, 3);
    let words: Vec<u32> = (0..21).map(|i| 0x0100_0000 + i).collect();
    let raster = Raster { rect, words };
    draw2d::bitmaps(
        &mut stream,
        on(&bo),
        SourceType::Colour,
        0,
        0,
        rop::SRCCOPY,
        &[raster],
    );
    expected.rect(rect, |x, y, _| 0x0100_0000 + ((y - 2) * 7 + x - 5) as u32);
    // Bits, several bitmaps of odd widths.
    let bit = |i: i32| (0x9d2c_5680_u64.rotate_left(i as u32 * 7 % 64) >> (i % 13)) & 1 != 0;
    for (kind, top) in [
        (SourceType::MonoOpaque, 8),
        (SourceType::MonoTransparent, 20),
    ] {
        let rasters: Vec<Raster> = [(0, 8, 8), (10, 5, 7), (17, 1, 3), (20, 33, 2)]
            .into_iter()
            .map(|(x, w, h)| {
                let mut words = vec![0; (w * h + 31) as usize / 32];
                for i in (0..w * h).filter(|&i| bit(i)) {
                    words[i as usize / 32] |= 1 << (i % 32);
                }
                Raster {
                    rect: Rect::new(x, top, w, h),
                    words,
                }
            })
            .collect();
        draw2d::bitmaps(
            &mut stream,
            on(&bo),
            kind,
            0xf0,
            0x0b,
            rop::SRCCOPY,
            &rasters,
        );
        for raster in &rasters {
            let rect = raster.rect;
            expected.rect(rect, |x, y, old| {
                match (bit((y - rect.y) * rect.w + x - rect.x), kind) {
                    (true, _) => 0xf0,
                    (false, SourceType::MonoTransparent) => old,
                    (false, _) => 0x0b,
                }
            });
        }
    }
    device.submit(&stream)?;
    expected.compare(&bo)
}

fn colour_key(context: &mut Context) -> Result<()> {
    const KEY: u32 = 0x00ff_00ff;
    let device = context.device()?;
    let (source, target) = (
        surface(&device, ROWS, Domain::Gtt)?,
        patterned(&device, Domain::Vram)?,
    );
    let image = |x: i32, y: i32| if (x + y) % 3 == 0 { KEY } else { pattern(y, x) };
    source.write(&Expected::new(image).0)?;
    let rect = Rect::new(9, 5, 40, 20);
    let mut stream = Stream::new();
    draw2d::copy_keyed(&mut stream, on(&source), on(&target), KEY, (3, 2), rect);
    device.submit(&stream)?;
    let mut expected = Expected::new(pattern);
    expected.rect(rect, |x, y, old| match image(x - 9 + 3, y - 5 + 2) {
        KEY => old,
        pixel => pixel,
    });
    expected.compare(&target)
}

fn lines(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = surface(&device, ROWS, Domain::Vram)?;
    let mut expected = Expected::new(|_, _| 0);
    let mut stream = Stream::new();
    // A frame, closed, so that the corners need no agreement; and a diagonal without its end.
    let corners = [(2, 3), (40, 3), (40, 20), (2, 20), (2, 3)];
    draw2d::lines(&mut stream, on(&bo), 0x0a, rop::PATCOPY, &corners);
    draw2d::lines(
        &mut stream,
        on(&bo),
        0x0b,
        rop::PATCOPY,
        &[(5, 5), (15, 15)],
    );
    draw2d::lines(
        &mut stream,
        on(&bo),
        0x0c,
        rop::PATCOPY,
        &[(35, 18), (28, 11)],
    );
    device.submit(&stream)?;
    for rect in [
        Rect::new(2, 3, 39, 1),
        Rect::new(2, 20, 39, 1),
        Rect::new(2, 3, 1, 18),
        Rect::new(40, 3, 1, 18),
    ] {
        expected.rect(rect, |_, _, _| 0x0a);
    }
    for i in 0..10 {
        expected.rect(Rect::new(5 + i, 5 + i, 1, 1), |_, _, _| 0x0b);
    }
    for i in 0..7 {
        expected.rect(Rect::new(35 - i, 18 - i, 1, 1), |_, _, _| 0x0c);
    }
    expected.compare(&bo)
}
