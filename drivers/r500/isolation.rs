// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What keeps the commands of a client within its objects.
//!
//! An R5xx has one address space for everybody, so the only protection is to look at what is to be
//! executed: the portable [`checker`] walks through a stream, copies what is harmless, and notes
//! where addresses have to go. This file is its connection to the generic driver.

use kernel::prelude::*;

use lapidary::family::{
    self,
    GpuAddr, //
};

use crate::portable::checker::{
    self,
    Fixup,
    Options, //
};

/// The command checker.
pub(crate) struct Isolation;

impl family::Isolation for Isolation {
    type Fixup = Fixup;

    fn prove(
        &self,
        stream: &[u32],
        objects: &mut [family::Object],
        keep_tiling: bool,
        out: &mut [u32],
        fixups: &mut KVVec<Fixup>,
    ) -> Result<usize> {
        let mut known = KVVec::with_capacity(objects.len(), GFP_KERNEL)?;
        for object in objects.iter() {
            known.push(
                checker::Object {
                    size: object.size,
                    tiling: object.tiling,
                    access: checker::Access::default(),
                },
                GFP_KERNEL,
            )?;
        }
        let most = checker::max_fixups(stream.len());
        fixups.resize(most, Fixup::default(), GFP_KERNEL)?;

        let options = Options {
            keep_tiling,
            ..Options::default()
        };
        let used = checker::check(stream, &mut known, options, out, fixups).map_err(|refusal| {
            pr_debug!(
                "refused at dword {}: {:?}\n",
                refusal.position,
                refusal.reason
            );
            EINVAL
        })?;
        fixups.truncate(used);
        for (object, known) in objects.iter_mut().zip(known.iter()) {
            object.reads = known.access.reads;
            object.writes = known.access.writes;
        }
        Ok(stream.len())
    }

    fn object(fixup: Fixup) -> usize {
        fixup.object as usize
    }

    fn place(fixup: Fixup, base: GpuAddr, words: &mut [u32]) -> Result {
        let word = words.get_mut(fixup.dword as usize).ok_or(EINVAL)?;
        *word = fixup.apply(*word, base).ok_or(EINVAL)?;
        Ok(())
    }
}
