// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Relocations: their order, what they may name, and that each address of a stream has one.
//!
//! The stream of each test is a fill between two units without effect, in which one thing is changed.

use crate::support::{DEPTH, fill, refused_for, surface, untouched};
use anyhow::{Context as _, Result, ensure};
use lapidary_chrome9_client::abi::Relocation;
use lapidary_chrome9_client::blit::{Blit, Rect, Surface};
use lapidary_chrome9_client::{
    Bo, Client as _, Device, Errno, Place, Stream, Submission, emit, reason,
};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_registers::chrome9::mmio::{self, dstbase};
use std::rc::Rc;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("relocations/place_the_object_and_its_offset", place),
        Test::new("relocations/are_sorted", sorted),
        Test::new("relocations/name_listed_objects", listed),
        Test::new("relocations/stay_in_their_object", inside),
        Test::new("relocations/are_multiples_of_8", aligned),
        Test::new("relocations/are_for_addresses_only", only_addresses),
        Test::new("relocations/each_address_has_one", each),
        Test::new("relocations/address_bits_are_zero_in_the_stream", zero),
    ]
}

/// A fill of an object and where its address is.
struct Scene {
    device: Rc<Device>,
    bo: Bo,
    good: Submission,
    /// Index of the dword with the address.
    address: u32,
}

impl Scene {
    fn new(context: &mut Context) -> Result<Scene> {
        let device = context.device()?;
        let bo = surface(&device, 32, Place::FrameBuffer)?;
        let mut stream = Stream::nothing();
        stream.append(&fill(&bo, 6));
        stream.append(&Stream::nothing());
        let good = Submission::of(&stream);
        let address = good.relocations[0].dword;
        ensure!(
            good.words[address as usize - 1] == mmio::DSTBASE,
            "the relocation is for another register"
        );
        Ok(Scene {
            device,
            bo,
            good,
            address,
        })
    }

    /// Check that a change makes the driver refuse the submission, without a trace of it on the device. Without the change
    /// it draws.
    fn refuses(
        &self,
        context: &mut Context,
        cases: &[(String, Submission, u32, u32)],
    ) -> Result<()> {
        self.bo.write(&[0; 4])?;
        untouched(context, || {
            for (what, submission, reason, position) in cases {
                refused_for(
                    what,
                    &self.device,
                    submission,
                    Errno::INVAL,
                    (*reason, *position),
                )?;
            }
            Ok(())
        })?;
        ensure!(self.bo.read()?[0] == 0, "something was drawn");
        self.good.issue(&self.device).context("without a change")?;
        ensure!(self.bo.read()?[0] == 6, "nothing was drawn");
        Ok(())
    }

    fn changed(&self, change: impl FnOnce(&mut Submission)) -> Submission {
        let mut submission = self.good.clone();
        change(&mut submission);
        submission
    }
}

/// One stream fills parts of several objects, by offsets and by the order of the list.
fn place(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut objects = Vec::new();
    for i in 0..6 {
        objects.push(device.create(4 * PAGE, Place::ALL[i % 2])?);
    }
    let handles: Vec<u32> = objects.iter().map(Bo::handle).collect();
    let mut stream = Stream::new();
    let mut expected = vec![vec![0; 4096]; objects.len()];
    for round in 0..24u32 {
        let object = round as usize * 5 % objects.len();
        let offset = round * 264;
        let target = Surface {
            object,
            offset,
            pitch: 64,
        };
        let rect = Rect::new(0, 0, 3, 1);
        let colour = 0x100 + round;
        let fill = Blit::fill(DEPTH, target, rect, colour);
        emit::blit(&mut stream, &handles, &fill);
        expected[object][offset as usize / 4..][..3].fill(colour);
    }
    device.submit(&stream)?;
    for (i, (bo, expected)) in objects.iter().zip(&expected).enumerate() {
        let seen = bo.read()?;
        let odd = seen.iter().zip(expected).position(|(a, b)| a != b);
        ensure!(odd.is_none(), "object {i}: dword {odd:?} is another");
    }
    Ok(())
}

fn sorted(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let mut stream = fill(&scene.bo, 6);
    stream.append(&fill(&scene.bo, 6));
    let two = Submission::of(&stream);
    let mut cases = Vec::new();
    let mut swapped = two.clone();
    swapped.relocations.swap(0, 1);
    cases.push(("swapped".to_owned(), swapped, reason::RELOCATION_ORDER, 1));
    let mut same = two.clone();
    same.relocations[1] = same.relocations[0];
    cases.push((
        "twice the same".to_owned(),
        same,
        reason::RELOCATION_ORDER,
        1,
    ));
    // By field, too: the second field of a dword is behind the first.
    let mut fields = two;
    fields.relocations[1].dword = fields.relocations[0].dword;
    fields.relocations[0].field = 1;
    cases.push(("fields".to_owned(), fields, reason::RELOCATION_ORDER, 1));
    scene.refuses(context, &cases)
}

fn listed(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let mut cases = Vec::new();
    for object in [1, 2, 0x8000_0000, u32::MAX] {
        let submission = scene.changed(|s| s.relocations[0].object = object);
        cases.push((
            format!("object {object}"),
            submission,
            reason::RELOCATION_OBJECT,
            0,
        ));
    }
    let none = scene.changed(|s| s.objects.clear());
    cases.push(("no objects".to_owned(), none, reason::RELOCATION_OBJECT, 0));
    scene.refuses(context, &cases)
}

fn inside(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let size = scene.bo.size() as u32;
    let mut cases = Vec::new();
    for offset in [size, size + 8, 0x8000_0000, 0xffff_fff8, u32::MAX] {
        let submission = scene.changed(|s| s.relocations[0].offset = offset);
        cases.push((
            format!("offset {offset:#x}"),
            submission,
            reason::RELOCATION_OFFSET,
            0,
        ));
    }
    // The address is inside, and the rectangle is not.
    let command = scene
        .good
        .words
        .iter()
        .rposition(|&word| word == mmio::GECMD)
        .context("there is a command")?;
    for offset in [8, 256, size - 8] {
        let submission = scene.changed(|s| s.relocations[0].offset = offset);
        cases.push((
            format!("offset {offset:#x}"),
            submission,
            reason::DESTINATION_BOUNDS,
            command as u32 + 1,
        ));
    }
    scene.refuses(context, &cases)
}

fn aligned(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let mut cases = Vec::new();
    for offset in [1, 2, 4, 7, 12] {
        let submission = scene.changed(|s| s.relocations[0].offset = offset);
        cases.push((
            format!("offset {offset}"),
            submission,
            reason::RELOCATION_ALIGNMENT,
            0,
        ));
    }
    scene.refuses(context, &cases)
}

fn only_addresses(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let one = scene.good.relocations[0];
    let mut cases = Vec::new();
    // In front of the address: the first one is at fault.
    for dword in [0, 1, 4, scene.address - 2, scene.address - 1] {
        let submission = scene.changed(|s| s.relocations.insert(0, Relocation { dword, ..one }));
        cases.push((
            format!("dword {dword}"),
            submission,
            reason::RELOCATION_UNUSED,
            0,
        ));
    }
    // Behind it, and beyond the stream: the second one is.
    let end = scene.good.words.len() as u32;
    for dword in [scene.address + 1, end - 1, end, end + 1, u32::MAX] {
        let submission = scene.changed(|s| s.relocations.push(Relocation { dword, ..one }));
        cases.push((
            format!("dword {dword}"),
            submission,
            reason::RELOCATION_UNUSED,
            1,
        ));
    }
    // The dword has one address.
    for field in [1, u32::MAX] {
        let submission = scene.changed(|s| s.relocations.push(Relocation { field, ..one }));
        cases.push((
            format!("field {field}"),
            submission,
            reason::RELOCATION_UNUSED,
            1,
        ));
    }
    scene.refuses(context, &cases)
}

fn each(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let mut cases = Vec::new();
    let none = scene.changed(|s| s.relocations.clear());
    cases.push((
        "none".to_owned(),
        none,
        reason::NO_RELOCATION,
        scene.address,
    ));
    let later = scene.changed(|s| s.relocations[0].dword += 1);
    cases.push((
        "one for the next dword".to_owned(),
        later,
        reason::NO_RELOCATION,
        scene.address,
    ));
    let field = scene.changed(|s| s.relocations[0].field = 1);
    cases.push((
        "one for another field".to_owned(),
        field,
        reason::NO_RELOCATION,
        scene.address,
    ));
    scene.refuses(context, &cases)
}

fn zero(context: &mut Context) -> Result<()> {
    let scene = Scene::new(context)?;
    let mut cases = Vec::new();
    for value in [1, 0x1000, dstbase::ADDRESS.mask()] {
        let submission = scene.changed(|s| s.words[scene.address as usize] = value);
        cases.push((
            format!("{value:#x}"),
            submission,
            reason::ADDRESS_BITS,
            scene.address,
        ));
    }
    scene.refuses(context, &cases)
}
