// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Pictures of HQV, the scaler of video. The tests of the checker itself try all there is (`tests/host/chrome9`); here it is seen
//! that a picture reaches the chip and ends, that one is refused for what is wrong with it, and that its objects are where the
//! engine reaches them.

use crate::support::{is_in_frame_buffer, refused_for, untouched};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::stream::{Address, Write};
use lapidary_chrome9_client::{Bo, Client as _, Device, Errno, Place, Stream, Submission, reason};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_registers::RegArray;
use lapidary_registers::chrome9::enums::hqv_format;
use lapidary_registers::chrome9::mmio::{
    self, hqv_control, hqv_destination_stride, hqv_source_stride, hqv_video_source_end as corner,
    wait_control_2d_3d as wait,
};
use std::rc::Rc;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("hqv/pictures_of_both_engines_end", pictures).needs_control(),
        Test::new("hqv/objects_move_to_the_frame_buffer", places),
        Test::new("hqv/a_picture_is_refused_for_what_is_wrong", refusals),
    ]
}

/// How far the places of video registers in streams are behind the registers.
const ALIAS: u32 = 0x2000;

/// Objects and a picture between them, of 32 x 16 pixels of 16 bits.
struct Scene {
    device: Rc<Device>,
    from: Bo,
    to: Bo,
    engine: u32,
}

impl Scene {
    fn new(context: &mut Context, engine: u32, place: Place) -> Result<Scene> {
        let device = context.device()?;
        let from = device.create(PAGE, place)?;
        let to = device.create(3 * PAGE, place)?;
        Ok(Scene {
            device,
            from,
            to,
            engine,
        })
    }

    /// Return where a stream has a register of the engine.
    fn at(&self, register: RegArray) -> u32 {
        register.base() + 0x1000 * self.engine + ALIAS
    }

    /// Return the writes of registers, the control last.
    fn writes(&self) -> Vec<Write> {
        let set = |register, value| Write::new(self.at(register), value);
        let base = |register, bo: &Bo, offset| {
            let handle = bo.handle();
            Write::address(self.at(register), Address { handle, offset })
        };
        let last = corner::X.of(31) | corner::Y.of(15);
        vec![
            set(mmio::HQV_COLOR_ADJUSTMENT_1, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_2, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_3, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_4, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_5, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_6, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_7, 0),
            set(mmio::HQV_COLOR_ADJUSTMENT_8, 0),
            set(mmio::HQV_VIDEO_SOURCE_START, 0),
            set(mmio::HQV_VIDEO_SOURCE_END, last),
            set(mmio::HQV_VIDEO_DESTINATION_START, 0),
            set(mmio::HQV_VIDEO_DESTINATION_END, last),
            set(mmio::HQV_TUNING, 0x4664_8688),
            set(mmio::HQV_EXTENDED_CONTROL, 0),
            set(mmio::HQV_STATIC_STRIDE, 0),
            set(mmio::HQV_VIDEO_H_SCALE, 0),
            set(mmio::HQV_VIDEO_V_SCALE, 0),
            set(mmio::HQV_BACKGROUND, 0),
            set(mmio::HQV_BACKGROUND_OFFSET, last),
            set(mmio::HQV_SUBPICTURE_CONTROL, 0),
            set(mmio::HQV_MODE, 0),
            set(mmio::HQV_DEINTERLACE, 0),
            base(mmio::HQV_SOURCE_LUMA, &self.from, 0),
            base(mmio::HQV_DESTINATION_1, &self.to, 0),
            base(mmio::HQV_RESIDUE_BASE, &self.to, PAGE as u32),
            set(
                mmio::HQV_SOURCE_STRIDE,
                hqv_source_stride::STRIDE.of(256 / 16),
            ),
            set(
                mmio::HQV_DESTINATION_STRIDE,
                hqv_destination_stride::STRIDE.of(256 / 16),
            ),
            set(
                mmio::HQV_CONTROL,
                hqv_control::FORMAT.of(hqv_format::YUV422)
                    | hqv_control::ENABLE.mask()
                    | hqv_control::SINGLE_BUFFER.mask()
                    | hqv_control::SOURCE_FLIP.mask(),
            ),
        ]
    }

    fn stream(&self) -> Stream {
        let mut stream = Stream::new();
        stream.video(&self.writes());
        let idle = [wait::WAIT_HQV0_IDLE, wait::WAIT_HQV1_IDLE];
        stream.registers(&[Write::new(
            mmio::WAIT_CONTROL_2D_3D,
            idle[self.engine as usize].mask(),
        )]);
        stream
    }

    /// Return where the value of a register stands in the stream.
    fn value_of(&self, words: &[u32], register: RegArray) -> Result<usize> {
        let offset = self.at(register);
        let place = (4..words.len()).step_by(2).find(|at| words[*at] == offset);
        Ok(place.with_context(|| format!("no register {offset:#x}"))? + 1)
    }
}

fn pictures(context: &mut Context) -> Result<()> {
    for engine in 0..2 {
        let scene = Scene::new(context, engine, Place::FrameBuffer)?;
        let before = context.control()?.quiet()?;
        for _ in 0..3 {
            scene.device.submit(&scene.stream())?;
        }
        scene.to.wait()?;
        let counted = context.control()?.quiet()?.since(&before);
        let pictures = counted.get("hqv_pictures").copied().unwrap_or(0);
        ensure!(pictures == 3, "engine {engine}: {pictures} pictures");
    }
    Ok(())
}

/// An object in system pages moves when a picture uses it.
fn places(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context, 0, Place::System)?;
    scene.from.write(&[7; 8])?;
    scene.device.submit(&scene.stream())?;
    scene.to.wait()?;
    for bo in [&scene.from, &scene.to] {
        ensure!(
            is_in_frame_buffer(bo)?,
            "handle {} has not moved",
            bo.handle()
        );
    }
    ensure!(scene.from.read()?[7] == 7, "its content has changed");
    Ok(())
}

fn refusals(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context, 1, Place::FrameBuffer)?;
    let good = Submission::of(&scene.stream());
    good.issue(&scene.device).context("the good stream")?;
    scene.to.wait()?;
    let of = |register| scene.value_of(&good.words, register);
    let control = of(mmio::HQV_CONTROL)?;
    let end = good.words.len();
    let rows = |register| -> Result<(usize, u32)> {
        let at = of(register)?;
        Ok((at, good.words[at]))
    };
    let (source, last) = rows(mmio::HQV_VIDEO_SOURCE_END)?;
    let (destination, _) = rows(mmio::HQV_VIDEO_DESTINATION_END)?;
    let matrix = of(mmio::HQV_COLOR_ADJUSTMENT_1)? - 1;
    let other = good.words[matrix] - 0x1000;
    let cases = [
        ("no columns", source, 15, reason::VIDEO_WINDOW, control),
        (
            "no rows",
            source,
            last & !0x7ff,
            reason::VIDEO_WINDOW,
            control,
        ),
        ("nothing", destination, 0, reason::VIDEO_WINDOW, control),
        ("a row more", source, last + 1, reason::LUMA_BOUNDS, control),
        (
            "rows behind the object",
            destination,
            last + 33,
            reason::PICTURE_BOUNDS,
            control,
        ),
        ("the other engine", matrix, other, reason::NO_VIDEO, control),
        ("a display", matrix, 0x2200, reason::VIDEO_RANGE, matrix),
        ("no wait", end - 3, 0, reason::VIDEO_UNFINISHED, end),
    ];
    untouched(context, || {
        for (what, at, value, reason, position) in cases {
            let mut bad = good.clone();
            bad.words[at] = value;
            let why = (reason, position as u32);
            refused_for(what, &scene.device, &bad, Errno::INVAL, why)?;
        }
        Ok(())
    })
}
