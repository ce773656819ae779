// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The `chrome9` interface.

mod blits;
mod broken;
mod spoilt;

use crate::interface::Interface;
use crate::objects::{Mark, Object};
use anyhow::{Context as _, Result, ensure};
use blits::Depths;
use broken::Bent;
use lapidary_chrome9_client::abi::Param;
use lapidary_chrome9_client::blit::{Blit, Depth, Rect, Surface};
use lapidary_chrome9_client::stream::NULL;
use lapidary_chrome9_client::{Bo, Device, Place, Stream, Submission, device, emit};
use lapidary_harness::mapping::{Mapping, PAGE};
use lapidary_harness::sysfs::PciDevice;
use rustix::io::Errno;
use rustix::mm::MapFlags;
use std::os::fd::{AsFd as _, AsRawFd as _};
use std::path::Path;
use std::rc::Rc;

/// The interface.
#[derive(Clone, Copy, Debug)]
pub struct Chrome9;

impl Interface for Chrome9 {
    type Device = Device;
    type Place = Place;
    type Bo = Bo;
    type Submission = Bent;
    type Effect = Vec<Blit>;

    const PLACES: &'static [Place] = &Place::ALL;
    const CALLS: &'static [(u32, usize)] = &[(0, 16), (1, 16), (2, 16), (3, 16), (4, 64)];
    // So that a stream somewhere in it may be accepted.
    const FILLER: u64 = ((NULL as u64) << 32) | NULL as u64;

    fn steps(_: bool) -> Vec<(&'static str, u32)> {
        vec![
            ("make", 8),
            ("close", 5),
            ("look", 8),
            ("write", 6),
            ("draw", 24),
            ("spoil", 24),
            ("envelope", 8),
            ("ask", 10),
            ("share", 4),
            ("public", 2),
            ("wild", 20),
            ("client", 1),
            ("fork", 1),
            ("syncobj", 3),
        ]
    }

    /// What the checker admits is defined in all its pixels.
    fn own_fault() -> &'static [&'static str] {
        &[]
    }

    fn resets(device: &Device) -> Result<u64> {
        Ok(device.param(Param::Resets)?)
    }

    /// An object moves between system pages and frame buffer, so there is one number. It is in debugfs.
    fn usage(device: &Device) -> Result<Vec<u64>> {
        let address = PciDevice::of(device)?.address();
        let path = Path::new("/sys/kernel/debug/dri").join(address);
        let path = path.join("lapidary_memory");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let before = |words: &str| -> Result<u64> {
            let end = text.find(words).with_context(|| text.clone())?;
            let number = text[..end].rsplit(' ').next().unwrap_or_default();
            Ok(number.parse()?)
        };
        Ok(vec![before(" used")? + before(" bytes of objects")?])
    }

    fn refusals(device: &Device) -> Result<Option<u64>> {
        Ok(Some(device.param(Param::Refusals)?))
    }

    fn is_refusal(error: Errno) -> bool {
        [Errno::INVAL, Errno::NOENT, Errno::NODATA, Errno::CANCELED].contains(&error)
    }

    fn create(
        _: &mut fastrand::Rng,
        device: &Device,
        size: u64,
        place: Place,
    ) -> Result<u32, Errno> {
        Ok(device.create_raw(size, place.flags())?.handle)
    }

    fn adopt(device: Rc<Device>, handle: u32, size: u64, place: Place) -> Bo {
        Bo::adopt(device, handle, size, place)
    }

    fn paint(rng: &mut fastrand::Rng, bo: &Bo, colour: u32) -> Result<()> {
        let target = Surface {
            object: 0,
            offset: 0,
            pitch: 256,
        };
        let rect = Rect::new(rng.u32(0..32), 0, 32, 16);
        let mut stream = Stream::new();
        let fill = Blit::fill(Depth::Bits32, target, rect, colour);
        emit::blit(&mut stream, &[bo.handle()], &fill);
        Ok(bo.device().submit(&stream)?)
    }

    fn sound(
        rng: &mut fastrand::Rng,
        objects: &[Object<Chrome9>],
        mark: Mark,
    ) -> (Bent, Vec<Blit>) {
        let blits = blits::some(rng, objects, mark, Depths::All);
        let handles = blits::handles(objects);
        let mut stream = Stream::new();
        for blit in &blits {
            emit::blit(&mut stream, &handles, blit);
        }
        (Bent::new(Submission::of(&stream)), blits)
    }

    fn apply(blits: &Vec<Blit>, objects: &[Object<Chrome9>]) {
        blits::apply(blits, objects);
    }

    fn spoilt(rng: &mut fastrand::Rng, objects: &[Object<Chrome9>], mark: Mark) -> Bent {
        spoilt::submission(rng, objects, mark)
    }

    fn broken(rng: &mut fastrand::Rng, bo: &Bo) -> Bent {
        broken::submission(rng, bo)
    }

    fn ask(rng: &mut fastrand::Rng, object: &Object<Chrome9>, other: &Device) -> Result<bool> {
        let bo = &object.bo;
        let (device, handle) = (bo.device(), bo.handle());
        let answer = match rng.u32(..8) {
            0 => bo.is_busy().map(drop),
            1 => bo.wait(),
            2 => {
                let reserved = rng.u32(..4).saturating_sub(2);
                device.param_raw(rng.u32(..0x10), reserved).map(drop)
            }
            3 => device.mmap_offset(handle).map(drop),
            4 => {
                // In the past, at this moment, or a little later.
                let distance = rng.i64(-1_000_000..1_000_000);
                device.wait_until(handle, device::now_ns() + distance)
            }
            5 => {
                let path = format!("/proc/self/fdinfo/{}", device.as_fd().as_raw_fd());
                let text = std::fs::read_to_string(&path).context(path)?;
                ensure!(text.contains("drm-engine-gfx"), "fdinfo: {text}");
                Ok(())
            }
            6 => {
                // The offset is no secret, and no right.
                let offset = device.mmap_offset(handle)?;
                let mapping = Mapping::new(other, offset, bo.size() as usize, MapFlags::SHARED);
                ensure!(mapping.is_err(), "a mapping of another client's object");
                Ok(())
            }
            _ => {
                let (offset, bytes) = (device.mmap_offset(handle)?, bo.size() as usize);
                let page = PAGE as usize;
                let mut odd = vec![
                    ("beyond the end", offset, bytes + page, MapFlags::SHARED),
                    ("private", offset, bytes, MapFlags::PRIVATE),
                ];
                if bytes > page {
                    // Behind an object of one page there may be another object.
                    odd.push((
                        "from the middle",
                        offset + PAGE,
                        bytes - page,
                        MapFlags::SHARED,
                    ));
                }
                for (what, offset, bytes, flags) in odd {
                    let mapping = Mapping::new(&**device, offset, bytes, flags);
                    ensure!(mapping.is_err(), "a mapping, {what}");
                }
                Ok(())
            }
        };
        Ok(answer.is_ok())
    }
}
