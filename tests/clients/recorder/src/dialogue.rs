// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The words of the dialogue: one line a call.

use crate::client::{Clients, Known};
use crate::memory::Memory;
use crate::record::{Prepared, Submission};
use lapidary_guest::abi;
use zerocopy::{FromBytes, Immutable, KnownLayout};

/// `drm_gem_flink`: handle, name out. (Public header drm.h.)
const GEM_FLINK: u64 = abi::request(3, 0x0a, 8);
/// `drm_gem_open`: name; handle and size out.
const GEM_OPEN: u64 = abi::request(3, 0x0b, 16);

#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Flink {
    handle: u32,
    name: u32,
}

#[derive(Clone, Copy, FromBytes, Immutable, KnownLayout)]
#[repr(C)]
struct Open {
    name: u32,
    handle: u32,
    size: u64,
}

/// A structure that only one request takes.
pub trait Argument: FromBytes + Immutable + KnownLayout {
    /// The request's number.
    const REQUEST: u64;
}
impl Argument for abi::Info {
    const REQUEST: u64 = abi::RADEON_INFO;
}
impl Argument for abi::Cs {
    const REQUEST: u64 = abi::RADEON_CS;
}

/// Return the argument, if `request` is the one that takes it.
pub fn argument<T: Argument>(bytes: &[u8], request: u64) -> Option<T> {
    (request == T::REQUEST)
        .then(|| T::read_from_bytes(bytes).ok())
        .flatten()
}

/// Return a call's outcome: `ok` or the error's name.
pub fn result(errno: i32) -> String {
    let name = match errno {
        0 => return "-> ok".into(),
        libc::EINTR => "EINTR",
        libc::EAGAIN => "EAGAIN",
        libc::EINVAL => "EINVAL",
        libc::ENOENT => "ENOENT",
        libc::ENOMEM => "ENOMEM",
        libc::EBUSY => "EBUSY",
        libc::EFAULT => "EFAULT",
        libc::EACCES => "EACCES",
        libc::EPERM => "EPERM",
        libc::ENOTTY => "ENOTTY",
        libc::ENODEV => "ENODEV",
        libc::EIO => "EIO",
        libc::ENOSPC => "ENOSPC",
        libc::EDEADLK => "EDEADLK",
        libc::ETIME => "ETIME",
        libc::ENOSYS => "ENOSYS",
        libc::EOPNOTSUPP => "EOPNOTSUPP",
        other => return format!("-> errno {other}"),
    };
    format!("-> {name}")
}

/// Return domain bits by name.
fn domains(bits: u32) -> String {
    let mut names = Vec::new();
    for (bit, name) in [
        (abi::DOMAIN_CPU, "CPU"),
        (abi::DOMAIN_GTT, "GTT"),
        (abi::DOMAIN_VRAM, "VRAM"),
    ] {
        if bits & bit != 0 {
            names.push(name.to_owned());
        }
    }
    let rest = bits & !(abi::DOMAIN_CPU | abi::DOMAIN_GTT | abi::DOMAIN_VRAM);
    if rest != 0 || bits == 0 {
        names.push(format!("{rest:x}"));
    }
    names.join("|")
}

fn object(known: Option<Known>) -> String {
    known.map_or("bo?".into(), |known| format!("bo{}", known.number))
}

/// Describe one entry of a relocation list.
pub fn relocation(entry: &abi::CsReloc, known: Option<Known>) -> String {
    format!(
        "{} read={} write={} flags={:x}",
        object(known),
        domains(entry.read_domains),
        domains(entry.write_domain),
        entry.flags
    )
}

/// Return a submission; its commands are in `file`.
pub fn submission(submission: &Submission, objects: &[String], file: &str) -> String {
    let flags: Vec<String> = submission.flags[..submission.flags_length.min(3)]
        .iter()
        .map(|flag| format!("{flag:x}"))
        .collect();
    let mut text = format!(
        "CS flags=[{}] words={} objects=[{}] file={file}",
        flags.join(" "),
        submission.words.len(),
        objects.join(", ")
    );
    if !submission.others.is_empty() {
        text += &format!(" other chunks={:?}", submission.others);
    }
    text
}

/// Describe any call but a submission, and update what is known of the file's objects.
pub fn describe(call: &Prepared, errno: i32, memory: &Memory, clients: &mut Clients) -> String {
    let after: Vec<u8> = memory
        .slice(call.argument, call.before.len())
        .unwrap_or_default();
    let good = errno == 0;
    known(call, &after, good, memory, clients).unwrap_or_else(|| {
        format!(
            "ioctl nr={:#04x} bytes={}",
            call.request & 0xff,
            (call.request >> 16) & 0x3fff
        )
    })
}

fn known(
    call: &Prepared,
    after: &[u8],
    good: bool,
    memory: &Memory,
    clients: &mut Clients,
) -> Option<String> {
    fn read<T: FromBytes>(bytes: &[u8]) -> Option<T> {
        T::read_from_bytes(bytes).ok()
    }
    let fd = call.fd;
    let answered = |text: String| {
        if good {
            format!(" {text}")
        } else {
            String::new()
        }
    };
    Some(match call.request {
        abi::VERSION => {
            let version: abi::Version = read(after)?;
            let length = version.name_len.min(64);
            let name: Vec<u8> = match version.name {
                0 => Vec::new(),
                name => memory.slice(name as u64, length)?,
            };
            format!(
                "VERSION {}.{}.{} {}",
                version.major,
                version.minor,
                version.patch,
                String::from_utf8_lossy(&name)
            )
        }
        abi::GET_CAP => {
            let cap: abi::GetCap = read(after)?;
            format!(
                "GET_CAP {:#x}{}",
                cap.capability,
                answered(format!("= {}", cap.value))
            )
        }
        abi::GEM_CLOSE => {
            let close: abi::GemClose = read(&call.before)?;
            let text = format!("GEM_CLOSE {}", object(clients.object(fd, close.handle)));
            if good {
                clients.remove(fd, close.handle);
            }
            text
        }
        GEM_FLINK => {
            let flink: Flink = read(after)?;
            if good {
                clients.name(fd, flink.handle, flink.name);
            }
            format!("GEM_FLINK {}", object(clients.object(fd, flink.handle)))
        }
        GEM_OPEN => {
            let open: Open = read(after)?;
            let tiling = clients.named(open.name).map_or(0, |(_, tiling)| tiling);
            let new = good.then(|| clients.add(fd, open.handle, open.size, tiling));
            format!(
                "GEM_OPEN{}",
                answered(format!("= {} size={:#x}", object(new), open.size))
            )
        }
        abi::PRIME_HANDLE_TO_FD => {
            let prime: abi::PrimeHandle = read(after)?;
            format!(
                "PRIME_HANDLE_TO_FD {}",
                object(clients.object(fd, prime.handle))
            )
        }
        abi::PRIME_FD_TO_HANDLE => {
            let prime: abi::PrimeHandle = read(after)?;
            let new = good.then(|| clients.add(fd, prime.handle, 0, 0));
            format!(
                "PRIME_FD_TO_HANDLE{}",
                answered(format!("= {}", object(new)))
            )
        }
        abi::RADEON_GEM_INFO => {
            let info: abi::GemInfo = read(after)?;
            format!(
                "GEM_INFO gart={:#x} vram={:#x} visible={:#x}",
                info.gart_size, info.vram_size, info.vram_visible
            )
        }
        abi::RADEON_GEM_CREATE => {
            let create: abi::GemCreate = read(after)?;
            let pages = create.size.next_multiple_of(4096);
            let new = good.then(|| clients.add(fd, create.handle, pages, 0));
            format!(
                "GEM_CREATE size={:#x} alignment={:#x} domain={} flags={:x}{}",
                create.size,
                create.alignment,
                domains(create.initial_domain),
                create.flags,
                answered(format!("= {}", object(new)))
            )
        }
        abi::RADEON_GEM_MMAP => {
            let map: abi::GemMmap = read(after)?;
            format!("GEM_MMAP {}", object(clients.object(fd, map.handle)))
        }
        abi::RADEON_GEM_SET_DOMAIN => {
            let set: abi::GemSetDomain = read(after)?;
            format!(
                "GEM_SET_DOMAIN {} read={} write={}",
                object(clients.object(fd, set.handle)),
                domains(set.read_domains),
                domains(set.write_domain)
            )
        }
        abi::RADEON_GEM_WAIT_IDLE => {
            let wait: abi::GemWaitIdle = read(&call.before)?;
            format!("GEM_WAIT_IDLE {}", object(clients.object(fd, wait.handle)))
        }
        abi::RADEON_GEM_BUSY => {
            let busy: abi::GemBusy = read(after)?;
            format!(
                "GEM_BUSY {} domain={}",
                object(clients.object(fd, busy.handle)),
                domains(busy.domain)
            )
        }
        abi::RADEON_INFO => {
            let info: abi::Info = read(after)?;
            let request = abi::INFO_REQUESTS.get(info.request as usize);
            let name = request.map_or(format!("{:#x}", info.request), |r| r.name.to_owned());
            let question = call.question.map_or(String::new(), |q| format!(" {q:#x}"));
            let words = request.map_or(4, |r| r.bytes) / 4;
            let answer: Vec<u32> = memory.slice(info.value, words).unwrap_or_default();
            let answer: Vec<String> = answer.iter().map(|word| format!("{word:#x}")).collect();
            format!(
                "INFO {name}{question}{}",
                answered(format!("= {}", answer.join(" ")))
            )
        }
        abi::RADEON_CS => "CS that cannot be read".to_owned(),
        abi::RADEON_GEM_SET_TILING => {
            let set: abi::GemTiling = read(&call.before)?;
            if good {
                clients.set_tiling(fd, set.handle, set.flags);
            }
            format!(
                "GEM_SET_TILING {} flags={:x} pitch={}",
                object(clients.object(fd, set.handle)),
                set.flags,
                set.pitch
            )
        }
        abi::RADEON_GEM_GET_TILING => {
            let get: abi::GemTiling = read(after)?;
            if good {
                clients.set_tiling(fd, get.handle, get.flags);
            }
            format!(
                "GEM_GET_TILING {}{}",
                object(clients.object(fd, get.handle)),
                answered(format!("= flags={:x} pitch={}", get.flags, get.pitch))
            )
        }
        abi::RADEON_GEM_VA => "GEM_VA".to_owned(),
        abi::RADEON_GEM_OP => {
            let op: abi::GemOp = read(after)?;
            format!(
                "GEM_OP {} op={}{}",
                object(clients.object(fd, op.handle)),
                op.op,
                answered(format!("= {}", op.value))
            )
        }
        abi::RADEON_GEM_USERPTR => {
            let user: abi::GemUserptr = read(after)?;
            let new = good.then(|| clients.add(fd, user.handle, user.size, 0));
            format!(
                "GEM_USERPTR size={:#x} flags={:x}{}",
                user.size,
                user.flags,
                answered(format!("= {}", object(new)))
            )
        }
        _ => return None,
    })
}
