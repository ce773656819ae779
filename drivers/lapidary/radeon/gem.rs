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

/// The domains that there are.
const DOMAINS: u32 = domain::CPU | domain::GTT | domain::VRAM;

/// Where an object with these domains should be.
fn wanted(domains: u32) -> Domain {
    match domains {
        domains if domains & domain::VRAM != 0 => Domain::Vram,
        domains if domains & domain::GTT != 0 => Domain::Gtt,
        _ => Domain::System,
    }
}

/// GEM_INFO. Never fails.
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

/// GEM_CREATE. Unknown flags and domains are ignored, as upstream does.
///
/// # Errors
///
/// `EINVAL` for size 0; `ENOMEM` for what cannot be had, now or ever; `ERESTARTSYS`.
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
    Ok(())
}

/// GEM_MMAP: the offset for `mmap`.
///
/// # Errors
///
/// `ENOENT`, `ENOMEM`; `EPERM` for a process's memory, which is mapped already.
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

/// GEM_SET_TILING: stores flags and pitch with the object, whatever they are. With `SURFACE` among them they decide how
/// CPU mappings show it while it is in VRAM.
///
/// # Errors
///
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

/// GEM_GET_TILING: what SET_TILING has stored.
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

/// GEM_OP: gets or sets the domains that an object was made with. An object that should be in VRAM now comes there when
/// a submission uses it; nothing moves at once.
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

/// GEM_VA: clients have no address spaces of their own on these chips. Looks at nothing else.
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

/// GEM_USERPTR: an object that is memory of the calling process. The GPU may write it, so that it must be watched, and
/// not of a file.
///
/// # Errors
///
/// `EINVAL` for addresses that are not of whole pages, unknown flags, and read-only memory, which these chips do not
/// take; `EACCES` unless both `ANONONLY` and `REGISTER` are asked for; otherwise as [`create_user`].
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
