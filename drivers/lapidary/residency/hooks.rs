// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The hooks that the corner calls for an object: page faults, sharing with other drivers, and its release.
//!
//! A page fault may move an object so that the CPU sees it, which needs the ring. So these hooks are here and not in
//! the file of the object.

use kernel::{
    drm,
    page::PAGE_SIZE,
    prelude::*,
    sync::{
        aref::ARef,
        Arc, //
    }, //
};

use crate::{
    corner::{
        gem::{
            Backed,
            Frame, //
        },
        pages::Pages,
        prime::{
            Import,
            Shareable, //
        },
        roster::{
            Place,
            Roster,
            Seat, //
        }, //
    },
    driver::Driver,
    family::{
        gpu::Gpu,
        Family,
        Uapi, //
    },
    memory::{
        gtt,
        object::{
            At,
            Bo,
            Object, //
        },
        renew::renew,
        surfaces, //
    },
    portable::replay::Content,
    residency::{
        create::create_foreign,
        moves,
        to_vram, //
    }, //
};

// SAFETY: A range of VRAM belongs to the object until it is freed, and `bus_address` is inside BAR0. System pages are
// held from when `frames` reports them until `release`, after which there is no mapping. `seat` is not used here.
unsafe impl<F: Family> Backed for Object<F> {
    /// Return the list of movable objects. Memory of a process or of another driver is not on it: this driver can
    /// neither move it nor use its reservation.
    fn roster(&self) -> Option<&Arc<Roster<Self>>> {
        (self.foreign.is_none() && self.user().is_none()).then_some(self.objects())
    }

    fn seat(&self) -> &Seat {
        &self.seat
    }

    fn place(&self) -> Place {
        self.standing()
    }

    fn release(object: &Bo<F>) {
        // Before its range can belong to another object.
        surfaces::give_back(object);
        let zero = !object.is_reached() && object.content() == Content::Own;
        object.set_zero(zero);
        let at = object.at();
        object.displaced(&at);
        if let At::System(backing) = at {
            let memory = object.memory();
            gtt::release(memory.gtt(), &backing, object);
            memory.discount_system(object.bytes());
            // The release above has asked for its end.
            if let Some(import) = &object.foreign {
                memory.foreign().remove(import);
            }
        }
        if object.is_astray() {
            object.memory().count_astray(false);
        }
    }

    fn frames(
        object: &Bo<F>,
        dev: &drm::Device<Driver<F>, drm::Registered>,
        first: usize,
        report: &mut dyn FnMut(Frame) -> bool,
    ) -> Result {
        // The fault handler holds the reservation, so the home does not change. It has waited for the clear.
        renew(object)?;
        object.check()?;
        if let At::Vram { start, size } = object.at() {
            object.set_reached();
            object.set_shown();
            let vram = object.memory().vram();
            let from = start + (first * PAGE_SIZE) as u64;
            if vram.bus_address(from).is_some() {
                if <F::Gpu<'static> as Gpu<'static>>::HOST_PATH {
                    dev.registration_data_with(|reg| {
                        reg.running.flush_host_path([object].into_iter());
                        Ok::<(), Error>(())
                    })?;
                }
                let offset = start - object.memory().layout().vram.start;
                surfaces::show(object, offset..offset + size)?;
                for addr in (from..start + size).step_by(PAGE_SIZE) {
                    // The CPU does not see the rest. The next fault moves the object.
                    let Some(bus) = vram.bus_address(addr) else {
                        break;
                    };
                    if !report(Frame::Vram((bus / PAGE_SIZE as u64) as usize)) {
                        break;
                    }
                }
                return Ok(());
            }
            let object = object.into();
            dev.registration_data_with(|reg| to_vram::show(&reg.running, &object))?;
        }
        match object.at() {
            At::System(backing) => {
                backing.pages.hold(object)?;
                Self::has_pages(object);
                backing
                    .pages
                    .frames(first, &mut |frame| report(Frame::Ram(frame)));
                Ok(())
            }
            // The CPU sees it now.
            At::Vram { .. } => Err(EAGAIN),
        }
    }
}

impl<F: Family> Shareable for Object<F> {
    fn is_private(&self) -> bool {
        self.user().is_some()
    }

    fn pin(object: &Bo<F>, dev: Option<&drm::Device<Driver<F>, drm::Registered>>) -> Result {
        if object.vram().is_some() {
            let dev = dev.ok_or(ENODEV)?;
            let object = object.into();
            dev.registration_data_with(|reg| moves::to_system(&reg.running, &object))?;
        }
        match object.at() {
            At::System(backing) => backing.pages.hold(object)?,
            At::Vram { .. } => return Err(EBUSY),
        }
        Self::has_pages(object);
        (**object).pin()
    }

    fn unpin(object: &Bo<F>) {
        (**object).unpin();
    }

    fn pages(object: &Bo<F>, show: &mut dyn FnMut(&Pages)) -> Result {
        match object.at() {
            At::System(backing) if backing.pages.show(show) => Ok(()),
            _ => Err(EINVAL),
        }
    }

    fn most(dev: &drm::Device<Driver<F>, drm::Registered>) -> u64 {
        dev.memory.gtt_size()
    }

    fn import(
        dev: &drm::Device<Driver<F>, drm::Registered>,
        import: Arc<Import>,
    ) -> Result<ARef<Bo<F>>> {
        let object = create_foreign(dev, import)?;
        F::Uapi::imported(&object);
        Ok(object)
    }
}
