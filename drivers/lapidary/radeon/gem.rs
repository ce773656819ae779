// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Objects: sizes of the memories, making, mapping, tiling.

use kernel::{
    drm::gem::BaseObject,
    prelude::*, //
};

use crate::{
    corner::prime::Shareable,
    memory::{
        object::Bo,
        surfaces, //
    },
    portable::{
        placement::{
            Access,
            Domain,
            Request, //
        },
        radeon::uapi::{
            self as uapi,
            domain,
            gem,
            gem_op, //
        }, //
    },
    radeon::{
        ClientFile,
        Device,
        RadeonFamily, //
    },
    residency::create::{
        create as create_object,
        create_user, //
    },
    running::Running, //
};

/// All known domains.
const DOMAINS: u32 = domain::CPU | domain::GTT | domain::VRAM;

/// Return where an object with these domains should be.
fn wanted(domains: u32) -> Domain {
    match domains {
        domains if domains & domain::VRAM != 0 => Domain::Vram,
        domains if domains & domain::GTT != 0 => Domain::Gtt,
        _ => Domain::System,
    }
}

/// Answer GEM_INFO. Never fails.
pub(super) fn info<F: RadeonFamily>(
    dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemInfo,
    _file: &ClientFile<F>,
) -> Result {
    let memory = &dev.memory;
    *arg = uapi::GemInfo {
        gart_size: memory.gtt_size(),
        vram_size: memory.vram().size(),
        vram_visible: memory.vram().visible_size(),
    };
    Ok(())
}

/// Create an object (GEM_CREATE), and return its size in whole pages. Unknown flags and domains are ignored, as upstream
/// does.
///
/// # Errors
///
/// `EINVAL` for size 0; `ENOMEM` for a size that cannot be allocated, now or ever; `ERESTARTSYS`.
pub(super) fn create<F: RadeonFamily>(
    dev: &Device<F>,
    running: &Running<'_, F>,
    arg: &mut uapi::GemCreate,
    file: &ClientFile<F>,
) -> Result {
    let request = Request {
        size: arg.size,
        align: arg.alignment,
        domain: wanted(arg.initial_domain),
        access: match arg.flags {
            flags if flags & gem::CPU_ACCESS != 0 => Access::Cpu,
            flags if flags & gem::NO_CPU_ACCESS != 0 => Access::Gpu,
            _ => Access::Both,
        },
    };
    let object = create_object(dev, running, &file.inner().allowance, &request)?;
    object
        .note()
        .set_initial_domains(arg.initial_domain & DOMAINS);
    arg.handle = object.create_handle(file)?;
    arg.size = object.bytes();
    Ok(())
}

/// Return the offset for `mmap` (GEM_MMAP).
///
/// # Errors
///
/// `ENOENT`; `ENOMEM`; `EPERM` for a process's memory, which is mapped already.
pub(super) fn mmap<F: RadeonFamily>(
    _dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemMmap,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    if object.is_private() {
        return Err(EPERM);
    }
    arg.addr_ptr = object.create_mmap_offset()?;
    Ok(())
}

/// Store flags and pitch with the object, whatever their values (GEM_SET_TILING). With `SURFACE` in the flags, they
/// decide how CPU mappings show the object while it is in VRAM.
///
/// # Errors
///
/// `ENOENT`, `ERESTARTSYS`.
/// `ENOENT`, `ERESTARTSYS`.
pub(super) fn set_tiling<F: RadeonFamily>(
    _dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemTiling,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    surfaces::rearrange(object, |note| note.set_tiling(arg.tiling_flags, arg.pitch))
}

/// Return what SET_TILING has stored (GEM_GET_TILING).
///
/// # Errors
///
/// `ENOENT`.
pub(super) fn get_tiling<F: RadeonFamily>(
    _dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemTiling,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    (arg.tiling_flags, arg.pitch) = object.note().tiling();
    Ok(())
}

/// Return or set the domains that an object was made with (GEM_OP). Nothing moves at once. An object that should be
/// in VRAM from here on moves there when a submission uses it.
///
/// # Errors
///
/// `ENOENT`; `EINVAL` for another operation.
pub(super) fn op<F: RadeonFamily>(
    _dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemOp,
    file: &ClientFile<F>,
) -> Result {
    let object = Bo::<F>::lookup_handle(file, arg.handle)?;
    if object.is_private() {
        return Err(EPERM);
    }
    match arg.op {
        gem_op::GET_INITIAL_DOMAIN => arg.value = object.note().initial_domains().into(),
        gem_op::SET_INITIAL_DOMAIN => {
            let domains = arg.value as u32 & DOMAINS;
            object.note().set_initial_domains(domains);
            object.set_wanted(wanted(domains));
        }
        _ => return Err(EINVAL),
    }
    Ok(())
}

/// Refuse GEM_VA, because clients have no address spaces of their own on these chips. No other field is read.
///
/// # Errors
///
/// `ENOTTY`, with the result in the operation.
pub(super) fn va<F: RadeonFamily>(
    _dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemVa,
    _file: &ClientFile<F>,
) -> Result {
    arg.operation = uapi::va::RESULT_ERROR;
    Err(ENOTTY)
}

/// Create an object that is memory of the calling process (GEM_USERPTR). The GPU may write it. So the memory must be
/// watched, and must not belong to a file.
///
/// # Errors
///
/// `EINVAL` for addresses that are not of whole pages, unknown flags, and read-only memory, which these chips do not
/// support; `EACCES` unless both `ANONONLY` and `REGISTER` are set; otherwise as [`create_user`].
pub(super) fn userptr<F: RadeonFamily>(
    dev: &Device<F>,
    _running: &Running<'_, F>,
    arg: &mut uapi::GemUserptr,
    file: &ClientFile<F>,
) -> Result {
    use uapi::userptr::{
        ANONONLY,
        READONLY,
        REGISTER,
        VALIDATE, //
    };
    let page = kernel::page::PAGE_SIZE as u64;
    let known = READONLY | ANONONLY | VALIDATE | REGISTER;
    if (arg.addr | arg.size) % page != 0 || arg.flags & !known != 0 || arg.flags & READONLY != 0 {
        return Err(EINVAL);
    }
    if arg.flags & (ANONONLY | REGISTER) != ANONONLY | REGISTER {
        return Err(EACCES);
    }
    let start = usize::try_from(arg.addr).map_err(|_| EFAULT)?;
    let bytes = usize::try_from(arg.size).map_err(|_| ENOMEM)?;
    let object = create_user(
        dev,
        &file.inner().allowance,
        start,
        bytes,
        arg.flags & VALIDATE != 0,
    )?;
    object.note().set_initial_domains(domain::CPU);
    arg.handle = object.create_handle(file)?;
    Ok(())
}
