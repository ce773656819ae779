// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The proof that the commands of a client stay within its objects.

use kernel::prelude::*;

use crate::{
    family::space::GpuAddr,
    memory::reached::Located,
    portable::{
        reason::Reason,
        residue::Residue, //
    },
};

/// The proof that a client's commands stay within its objects.
///
/// It is a command checker where clients share an address space. Elsewhere the client's own address space isolates
/// it.
pub trait Isolation: Send + Sync {
    /// The facts about the client, besides its objects, on which the proof depends. The job is committed only if they
    /// are still the same then.
    type Client: PartialEq;
    /// An object as the proof sees it, with the facts that the proof finds out about it.
    type Object: Copy + Default + Send;
    /// A place in the proven stream that depends on the address of an object.
    type Fixup: Copy + Default + Send;
    /// The data that the family's user-space interface keeps with an object.
    type Note;

    /// Whether clients share the address space. If they do, objects in system pages are given addresses in the GTT
    /// window, and [`Isolation::place`] writes the addresses into the commands. Otherwise such objects are only made
    /// resident, and [`Isolation::enter`] receives their places.
    const SHARED: bool;

    /// Return an object of `size` bytes, as the proof sees it.
    fn object(size: u64, note: &Self::Note) -> Self::Object;

    /// Return whether the proven commands write `object`.
    fn writes(object: &Self::Object) -> bool;

    /// Return whether the proven commands reach `object` in VRAM only. Never the case if the ring
    /// [`reaches system pages`](crate::family::Gpu::REACHES_SYSTEM).
    fn needs_vram(object: &Self::Object) -> bool {
        let _ = object;
        false
    }

    /// Return the most fixups that a stream of `dwords` dwords can have.
    fn most_fixups(dwords: usize) -> usize;

    /// Check `words`, and make the necessary changes in them. Say in `residue` what they leave in the chip for those
    /// behind them.
    ///
    /// `objects` are in the order in which the commands name them. One may occur several times. The result does not
    /// depend on any address. `fixups` is as long as [`Isolation::most_fixups`] says. Its initial content does not
    /// matter. `residue` is empty or what another proof has said. Where nothing outlasts a stream it is never written.
    ///
    /// # Errors
    ///
    /// [`Refusal`]. User space receives `EINVAL`.
    fn prove(
        &self,
        words: &mut [u32],
        objects: &mut [Self::Object],
        client: &Self::Client,
        fixups: &mut [Self::Fixup],
        residue: &mut Residue,
    ) -> Result<Proof, Refusal>;

    /// Return the index of the object whose address `fixup` needs, as [`Isolation::prove`] was given the objects.
    fn target(fixup: Self::Fixup) -> usize;

    /// Write the address of an object that lies at `base` into the proven words.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the address does not fit the field. The alignment of objects prevents this.
    fn place(fixup: Self::Fixup, base: GpuAddr, words: &mut [u32]) -> Result;

    /// Enter an object that the commands use in the page tables of `client`, if it is not there yet. Called for each
    /// object of a submission before it becomes a job, unless the address space is [`Isolation::SHARED`].
    ///
    /// The object stays where it is until [`Uapi::displaced`](crate::family::Uapi::displaced) is called for it. Both are
    /// called under its reservation. All entries are void after [`Gpu::suspend`](crate::family::Gpu::suspend) and after
    /// unbind. Does not allocate, because there are page tables for all that a client has mapped.
    ///
    /// # Errors
    ///
    /// Any. The submission fails with it.
    fn enter(&self, client: &Self::Client, note: &Self::Note, object: &Located<'_>) -> Result {
        let _ = (client, note, object);
        Ok(())
    }

    /// Return the address space in which commands of `client` are executed, for [`Ib::vmid`](crate::family::Ib). Called
    /// when no other job can be put before this one on its ring any more.
    fn vmid(&self, client: &Self::Client) -> u32 {
        let _ = client;
        0
    }
}

/// The result of [`Isolation::prove`]: how much of its buffers is in use.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    /// Dwords to be executed, at least one.
    pub dwords: usize,
    /// Fixups.
    pub fixups: usize,
}

/// Why commands are refused.
#[derive(Clone, Copy, Debug)]
pub struct Refusal {
    /// Index in the stream of the dword at fault.
    pub position: u32,
    /// Number of the reason, for user space: 0x1000 or above. Its meaning never changes.
    pub number: u32,
    /// A few words for a developer.
    pub reason: &'static str,
}

impl Refusal {
    /// Make a refusal for `reason`. The reason defines what `position` counts.
    pub const fn new(position: u32, reason: Reason) -> Self {
        Self {
            position,
            number: reason.number,
            reason: reason.text,
        }
    }
}
