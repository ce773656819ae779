// SPDX-License-Identifier: GPL-2.0 OR MIT

//! INFO: facts about chip and driver.
//!
//! The answer is written to a user pointer. It has 4 bytes, or 8 where the value is a size or a counter, or it is an
//! array or a structure. A request that has no meaning on a family answers `EINVAL`, which user space expects.
//!
//! Requests from 0x4C500000 on are additions of this driver. They are declared in `uapi/drm/lapidary_drm.h`.

use kernel::{
    prelude::*,
    uaccess::{
        UserPtr,
        UserSlice, //
    },
};

use zerocopy::{
    Immutable,
    IntoBytes, //
};

use crate::{
    client_record::ClientRecord,
    portable::radeon::{
        additions::{
            self,
            feature,
            info as own,
            LastRefusal,
            ResetStatus, //
        },
        uapi::{
            self,
            info, //
        },
    },
    radeon::{
        owners::Resource,
        ClientFile,
        Device,
        Info,
        RadeonFamily, //
    },
    running::Running,
    submit::kernel_stream::KernelStream,
};

/// Features beyond upstream's interface.
const FEATURES: u64 =
    feature::SYNCOBJ | feature::RESET_STATUS | feature::LAST_REFUSAL | feature::FDINFO;

/// Some clocks are reported in kHz and some in MHz.
const KHZ_PER_MHZ: u32 = 1000;

/// An answer.
enum Answer<'a> {
    /// A kind of answer that the family can give, too.
    Plain(Info<'a>),
    Reset(ResetStatus),
    Refusal(LastRefusal),
}

/// Answer INFO.
///
/// # Errors
///
/// `EINVAL` for a request that does not exist or has no meaning here; `EFAULT` for a bad pointer; as [`want`].
pub(super) fn info<F: RadeonFamily>(
    dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::Info,
    file: &ClientFile<F>,
) -> Result {
    let pointer = UserPtr::from_addr(usize::try_from(arg.value).map_err(|_| EFAULT)?);
    let question = || -> Result<u32> { UserSlice::new(pointer, 4).reader().read() };
    match answer(dev, running, arg.request, file, question)? {
        Answer::Plain(Info::Word(word)) => UserSlice::new(pointer, 4).writer().write(&word),
        Answer::Plain(Info::Long(long)) => UserSlice::new(pointer, 8).writer().write(&long),
        Answer::Plain(Info::Words(words)) => write(pointer, words),
        Answer::Reset(status) => write(pointer, &status),
        Answer::Refusal(refusal) => write(pointer, &refusal),
    }
}

fn write<T: IntoBytes + Immutable + ?Sized>(pointer: UserPtr, answer: &T) -> Result {
    let bytes = answer.as_bytes();
    UserSlice::new(pointer, bytes.len())
        .writer()
        .write_slice(bytes)
}

/// Return what has happened to the submissions of a file.
fn reset_status<F: RadeonFamily>(dev: &Device<F>, record: &ClientRecord) -> ResetStatus {
    let flags = match record.is_banned() {
        true => additions::reset_status::BANNED,
        false => 0,
    };
    ResetStatus {
        guilty: record.guilty(),
        innocent: record.innocent(),
        resets: dev.resets(),
        flags,
    }
}

/// Return why the last refused submission of a file was refused.
fn last_refusal(record: &ClientRecord) -> LastRefusal {
    let refusals = record.refusals();
    let mut answer = LastRefusal {
        count: refusals.count,
        reason: 0,
        position: additions::NO_POSITION,
        error: 0,
        pad: 0,
        text: LastRefusal::text(""),
    };
    if let Some((refusal, error)) = refusals.last {
        answer.reason = refusal.number;
        answer.position = refusal.position;
        answer.error = error.to_errno().unsigned_abs();
        answer.text = LastRefusal::text(refusal.reason);
    }
    answer
}

fn answer<'r, F: RadeonFamily>(
    dev: &Device<F>,
    running: &'r Running<'_, F>,
    request: u32,
    file: &ClientFile<F>,
    question: impl FnOnce() -> Result<u32>,
) -> Result<Answer<'r>> {
    let long = |value| Ok(Answer::Plain(Info::Long(value)));
    let facts = || F::facts(running.gpu());
    let record = &file.inner().get_ref().record;
    let working = || u32::from(running.is_working());
    let clocks = || facts().clocks_khz.ok_or(EINVAL);
    Ok(Answer::Plain(Info::Word(match request {
        info::DEVICE_ID => running.pdev().device_id().into(),
        info::ACCEL_WORKING | info::ACCEL_WORKING2 => working(),
        // There is no display. The request still reads its argument.
        info::CRTC_FROM_ID => {
            question()?;
            return Err(EINVAL);
        }
        info::READ_REG => F::register(running.gpu(), question()?).ok_or(EINVAL)?,
        info::WANT_HYPERZ => want(dev, running, file, Resource::HyperZ, question()?)?,
        info::WANT_CMASK => want(dev, running, file, Resource::Cmask, question()?)?,
        info::CLOCK_CRYSTAL_FREQ => facts().crystal_khz,
        info::FUSION_GART_WORKING | info::SI_CP_DMA_COMPUTE | info::VA_UNMAP_WORKING => 1,
        // There is no direct framebuffer and no video encoder.
        info::FASTFB_WORKING | info::VCE_FW_VERSION | info::VCE_FB_VERSION => 0,
        info::RING_WORKING => match F::rings(running.gpu()).has(question()?).ok_or(EINVAL)? {
            true => working(),
            false => 0,
        },
        info::NUM_BYTES_MOVED => return long(dev.memory.moved()),
        // The engine always runs at the clock that the video BIOS has set.
        info::MAX_SCLK => clocks()?.0,
        info::CURRENT_GPU_SCLK => clocks()?.0 / KHZ_PER_MHZ,
        info::CURRENT_GPU_MCLK => clocks()?.1 / KHZ_PER_MHZ,
        info::VRAM_USAGE => return long(dev.memory.vram_usage()),
        info::GTT_USAGE => return long(dev.memory.gtt_usage()),
        // CAST: user space receives the bits of the number.
        info::CURRENT_GPU_TEMP => F::temperature(running.gpu()) as u32,
        info::GPU_RESET_COUNTER => dev.resets(),
        own::FENCES_POLLED => return long(dev.polled()),
        own::FEATURES => return long(FEATURES),
        own::RESET_STATUS => return Ok(Answer::Reset(reset_status(dev, record))),
        own::LAST_REFUSAL => return Ok(Answer::Refusal(last_refusal(record))),
        _ => {
            return F::info(running.gpu(), request)
                .map(Answer::Plain)
                .ok_or(EINVAL)
        }
    })))
}

/// Ask for (1) or give back (0) a memory that only one client can own. Return whether the client owns it. A new owner
/// finds no data of the last owner there.
///
/// # Errors
///
/// `EINVAL` for another value; as [`Job::prepare`](crate::submit::job::Job::prepare).
fn want<F: RadeonFamily>(
    dev: &Device<F>,
    running: &Running<'_, F>,
    file: &ClientFile<F>,
    resource: Resource,
    wanted: u32,
) -> Result<u32> {
    let client = &file.inner().get_ref().client;
    match wanted {
        0 => dev.uapi.release(resource, client),
        1 => dev.uapi.acquire(resource, client, |publish| {
            if F::CLEAR_DWORDS == 0 {
                publish();
                return Ok(());
            }
            let mut stream = KernelStream::new(running)?;
            stream.append(F::CLEAR_DWORDS, |out| {
                F::clear(running.gpu(), resource, out)
            })?;
            stream.run_for(resource.memories(), publish)
        })?,
        _ => return Err(EINVAL),
    }
    Ok(u32::from(dev.uapi.owns(resource, client)))
}
