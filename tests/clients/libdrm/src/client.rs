// SPDX-License-Identifier: GPL-2.0 OR MIT

//! libdrm_radeon's objects with Rust's lifetimes: a client, its buffer objects, its command stream.

use crate::radeon::{BoManager, CsManager, Radeon, RawBo, RawCs};
use anyhow::{Context, Result, bail, ensure};
use lapidary_guest::device::Domain;
use lapidary_guest::pm4;
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::fs::File;
use std::os::fd::AsRawFd;
use std::path::Path;

/// An open device with the library's two managers.
pub struct Client {
    pub radeon: Radeon,
    buffers: *mut BoManager,
    streams: *mut CsManager,
    pub file: File,
}

impl Client {
    /// Open a device node.
    pub fn open(path: &Path) -> Result<Client> {
        let radeon = Radeon::load()?;
        let file = File::options()
            .read(true)
            .write(true)
            .open(path)
            .with_context(|| path.display().to_string())?;
        let fd = file.as_raw_fd();
        // SAFETY: an open descriptor that outlives both managers.
        let (buffers, streams) = unsafe {
            (
                (radeon.bo_manager_gem_ctor)(fd),
                (radeon.cs_manager_gem_ctor)(fd),
            )
        };
        ensure!(!buffers.is_null() && !streams.is_null(), "no managers");
        Ok(Client {
            radeon,
            buffers,
            streams,
            file,
        })
    }

    fn open_bo(&self, name: u32, size: u32, alignment: u32, domain: u32) -> Result<Bo<'_>> {
        // SAFETY: the manager lives; the numbers may be anything.
        let raw = unsafe { (self.radeon.bo_open)(self.buffers, name, size, alignment, domain, 0) };
        ensure!(
            !raw.is_null(),
            "radeon_bo_open({name}, {size}, {alignment}, {domain})"
        );
        Ok(Bo { client: self, raw })
    }

    /// Return a new object.
    pub fn create(&self, size: u32, domain: Domain) -> Result<Bo<'_>> {
        self.open_bo(0, size, 4096, domain.bits())
    }

    /// Open another client's object, by its global name.
    pub fn open_name(&self, name: u32) -> Result<Bo<'_>> {
        self.open_bo(name, 0, 0, 0)
    }

    /// Return a command stream with room for `words`, and these limits for space checks, in bytes.
    pub fn stream(&self, words: u32, limits: [(Domain, u32); 2]) -> Result<Commands<'_>> {
        // SAFETY: the manager lives.
        let raw = unsafe { (self.radeon.cs_create)(self.streams, words) };
        ensure!(!raw.is_null(), "radeon_cs_create({words})");
        for (domain, bytes) in limits {
            // SAFETY: the stream was just made.
            unsafe { (self.radeon.cs_set_limit)(raw, domain.bits(), bytes) };
        }
        let state = Box::new(Flush {
            emit: self.radeon.cs_emit,
            erase: self.radeon.cs_erase,
            stream: raw,
            count: Cell::new(0),
            error: Cell::new(0),
        });
        let pointer: *const Flush = &*state;
        // SAFETY: the state lives as long as the stream.
        unsafe { (self.radeon.cs_space_set_flush)(raw, Some(flush), pointer as *mut c_void) };
        Ok(Commands {
            client: self,
            raw,
            flush: state,
        })
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        // SAFETY: nothing of this client lives longer: objects and streams borrow it.
        unsafe {
            (self.radeon.cs_manager_gem_dtor)(self.streams);
            (self.radeon.bo_manager_gem_dtor)(self.buffers);
        }
    }
}

fn check(what: &str, answer: c_int) -> Result<()> {
    match answer {
        0 => Ok(()),
        error => bail!("{what} answered {error}"),
    }
}

/// A buffer object.
pub struct Bo<'a> {
    client: &'a Client,
    raw: *mut RawBo,
}

impl Bo<'_> {
    fn library(&self) -> &Radeon {
        &self.client.radeon
    }

    /// Return the library's pointer.
    pub fn raw(&self) -> *mut RawBo {
        self.raw
    }

    /// Return the size in bytes.
    pub fn size(&self) -> u32 {
        // SAFETY: the object lives as long as this value.
        unsafe { (*self.raw).size }
    }

    /// Return the GEM handle, as the library says and as it lies in the structure.
    pub fn handle(&self) -> Result<u32> {
        // SAFETY: as above.
        let (said, lies) =
            unsafe { ((self.library().bo_get_handle)(self.raw), (*self.raw).handle) };
        ensure!(said == lies && said != 0, "handles {said} and {lies}");
        Ok(said)
    }

    /// Let `work` see the object's words; map before (which waits for the GPU) and unmap after.
    pub fn with_words<T>(&self, write: bool, work: impl FnOnce(&mut [u32]) -> T) -> Result<T> {
        // SAFETY: the library maps `size` bytes, page aligned, until it unmaps them; nothing else in this process
        // accesses them meanwhile.
        unsafe {
            check(
                "radeon_bo_map",
                (self.library().bo_map)(self.raw, c_int::from(write)),
            )?;
            let words = self.size() as usize / 4;
            let answer = work(std::slice::from_raw_parts_mut(
                (*self.raw).ptr.cast(),
                words,
            ));
            check("radeon_bo_unmap", (self.library().bo_unmap)(self.raw))?;
            Ok(answer)
        }
    }

    /// Wait until the GPU is done with it.
    pub fn wait(&self) -> Result<()> {
        // SAFETY: as above.
        check("radeon_bo_wait", unsafe {
            (self.library().bo_wait)(self.raw)
        })
    }

    /// Return true if the GPU is not done with it, and the domain it is in.
    pub fn busy(&self) -> (bool, u32) {
        let mut domain = 0;
        // SAFETY: as above.
        let answer = unsafe { (self.library().bo_is_busy)(self.raw, &mut domain) };
        (answer != 0, domain)
    }

    /// Store tiling flags and pitch.
    pub fn set_tiling(&self, flags: u32, pitch: u32) -> Result<()> {
        // SAFETY: as above.
        let answer = unsafe { (self.library().bo_set_tiling)(self.raw, flags, pitch) };
        check("radeon_bo_set_tiling", answer)
    }

    /// Return what was stored.
    pub fn tiling(&self) -> Result<(u32, u32)> {
        let (mut flags, mut pitch) = (0, 0);
        // SAFETY: as above.
        let answer = unsafe { (self.library().bo_get_tiling)(self.raw, &mut flags, &mut pitch) };
        check("radeon_bo_get_tiling", answer)?;
        Ok((flags, pitch))
    }

    /// Ask the kernel to make it ready for a domain.
    pub fn set_domain(&self, read: u32, write: u32) -> Result<()> {
        // SAFETY: as above.
        let answer = unsafe { (self.library().gem_set_domain)(self.raw, read, write) };
        check("radeon_gem_set_domain", answer)
    }

    /// Give it a global name; the library's answer if that is refused.
    pub fn name(&self) -> Result<u32, c_int> {
        let mut name = 0;
        // SAFETY: as above.
        match unsafe { (self.library().gem_get_kernel_name)(self.raw, &mut name) } {
            0 => Ok(name),
            error => Err(error),
        }
    }
}

impl Clone for Bo<'_> {
    fn clone(&self) -> Self {
        // SAFETY: as above; the reference that is counted here is dropped with the new value.
        unsafe { (self.library().bo_ref)(self.raw) };
        Bo {
            client: self.client,
            raw: self.raw,
        }
    }
}

impl Drop for Bo<'_> {
    fn drop(&mut self) {
        // SAFETY: each value holds one reference.
        unsafe { (self.library().bo_unref)(self.raw) };
    }
}

/// A command stream under construction.
pub struct Commands<'a> {
    client: &'a Client,
    raw: *mut RawCs,
    /// On the heap, where the library's pointer stays right.
    flush: Box<Flush>,
}

/// What the library's wish for a flush leads to.
struct Flush {
    emit: unsafe extern "C" fn(*mut RawCs) -> c_int,
    erase: unsafe extern "C" fn(*mut RawCs) -> c_int,
    stream: *mut RawCs,
    /// How often it wished.
    count: Cell<u32>,
    /// First answer of the calls that was not 0.
    error: Cell<c_int>,
}

unsafe extern "C" fn flush(state: *mut c_void) {
    // SAFETY: the pointer that `Client::stream` gave, in the same thread, and the stream it is about.
    unsafe {
        let state = &*state.cast::<Flush>();
        state.count.set(state.count.get() + 1);
        let empty = (*state.stream).cdw == 0;
        let emitted = if empty { 0 } else { (state.emit)(state.stream) };
        let erased = (state.erase)(state.stream);
        if state.error.get() == 0 {
            state.error.set(if emitted != 0 { emitted } else { erased });
        }
    }
}

impl Commands<'_> {
    fn library(&self) -> &Radeon {
        &self.client.radeon
    }

    /// Return the library's pointer.
    pub fn raw(&self) -> *mut RawCs {
        self.raw
    }

    /// Write a section of exactly the words that `work` writes; markers count two.
    pub fn section(
        &mut self,
        words: u32,
        work: impl FnOnce(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let here = (c"client.rs".as_ptr(), c"section".as_ptr());
        // SAFETY: the stream lives; the strings are constants.
        let answer = unsafe { (self.library().cs_begin)(self.raw, words, here.0, here.1, 1) };
        check("radeon_cs_begin", answer)?;
        work(self)?;
        // SAFETY: as above.
        let answer = unsafe { (self.library().cs_end)(self.raw, here.0, here.1, 2) };
        check("radeon_cs_end", answer)
    }

    /// Write one dword, as the header's inline function does.
    pub fn word(&mut self, word: u32) -> Result<()> {
        // SAFETY: the public part of a living stream; the room is checked.
        unsafe {
            let cs = &mut *self.raw;
            ensure!(cs.cdw < cs.ndw, "no room: radeon_cs_begin did not make any");
            cs.packets.add(cs.cdw as usize).write(word);
            cs.cdw += 1;
            if cs.section_ndw != 0 {
                cs.section_cdw += 1;
            }
        }
        Ok(())
    }

    /// Write one register.
    pub fn register(&mut self, offset: u32, value: u32) -> Result<()> {
        self.word(pm4::packet0(offset, 1))?;
        self.word(value)
    }

    /// Name an object for the packet before.
    pub fn relocation(&mut self, bo: &Bo<'_>, read: u32, write: u32) -> Result<()> {
        // SAFETY: both live.
        let answer = unsafe { (self.library().cs_write_reloc)(self.raw, bo.raw, read, write, 0) };
        check("radeon_cs_write_reloc", answer)
    }

    /// Tell the library which objects the next submission will read and write; it wants to know before
    /// they are named. Fails if they do not fit.
    pub fn reserve(&mut self, objects: &[(&Bo<'_>, u32, u32)]) -> Result<()> {
        // SAFETY: all live.
        let answer = unsafe {
            (self.library().cs_space_reset_bos)(self.raw);
            for (bo, read, write) in objects {
                (self.library().cs_space_add_persistent_bo)(self.raw, bo.raw, *read, *write);
            }
            (self.library().cs_space_check)(self.raw)
        };
        check("radeon_cs_space_check", answer)
    }

    /// Tell the library of one more object that the next submission will use.
    pub fn reserve_more(&mut self, bo: &Bo<'_>, read: u32, write: u32) -> Result<()> {
        // SAFETY: both live.
        let answer = unsafe {
            (self.library().cs_space_add_persistent_bo)(self.raw, bo.raw, read, write);
            (self.library().cs_space_check)(self.raw)
        };
        check("radeon_cs_space_check", answer)
    }

    /// Submit, and empty the stream.
    pub fn emit(&mut self) -> Result<()> {
        // SAFETY: the stream lives.
        unsafe {
            check("radeon_cs_emit", (self.library().cs_emit)(self.raw))?;
            check("radeon_cs_erase", (self.library().cs_erase)(self.raw))
        }
    }

    /// Return how often the library wanted a flush, all of which must have gone well.
    pub fn flushes(&self) -> Result<u32> {
        check("a flush", self.flush.error.get())?;
        Ok(self.flush.count.get())
    }
}

impl Drop for Commands<'_> {
    fn drop(&mut self) {
        // SAFETY: made by this value, and nothing else uses it.
        unsafe { (self.library().cs_destroy)(self.raw) };
    }
}
