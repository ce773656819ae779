// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Giving system pages back when the system runs out of memory.
//!
//! The kernel asks in the middle of an allocation, whatever locks its thread holds. So locks are only tried for,
//! nothing is waited for, and nothing is allocated. It needs no ring: the pages stay in their file, from where they are
//! swapped.

use kernel::sync::{
    aref::ARef,
    Arc, //
};

use crate::{
    corner::{
        mmap,
        resv::{
            self,
            Held, //
        },
        roster::Roster,
        shrinker::Shrink, //
    },
    family::Family,
    memory::{
        gtt,
        managers::Memory,
        object::{
            At,
            Bo,
            Object, //
        }, //
    }, //
};

/// Objects that one call of the shrinker looks at.
const LOOKS: usize = 1024;

/// Gives system pages back.
pub struct Reclaim<F: Family> {
    objects: Arc<Roster<Object<F>>>,
    memory: Arc<Memory>,
}

impl<F: Family> Reclaim<F> {
    /// Those of `objects`, which are in `memory`.
    pub fn new(objects: Arc<Roster<Object<F>>>, memory: Arc<Memory>) -> Self {
        Self { objects, memory }
    }

    /// Gives back the pages of one object, if no job uses it.
    fn reclaim(object: ARef<Bo<F>>) -> Option<usize> {
        let object = Held::try_lock(object)?;
        if object.is_pinned() || !resv::wait(&**object, 0).ok()? {
            return None;
        }
        let At::System(backing) = object.at() else {
            return None;
        };
        if !object.try_displaced(&backing) {
            return None;
        }
        mmap::zap(&**object);
        let pages = gtt::relinquish(object.memory().gtt(), &backing, &**object);
        Object::arrange(&object);
        pages
    }
}

impl<F: Family> Shrink for Reclaim<F> {
    fn count(&self) -> usize {
        self.objects.pages()
    }

    fn scan(&self, want: usize) -> Option<usize> {
        let mut looks = LOOKS;
        let (mut pages, mut asked) = (0, false);
        while pages < want {
            let Some(mut names) = self.objects.try_lock() else {
                break;
            };
            let Some(entry) = names.next(self.memory.now(), &mut looks) else {
                break;
            };
            asked = true;
            let object = entry.keep();
            drop(names);
            if let Some(object) = object {
                pages += Self::reclaim(object).unwrap_or(0);
            }
        }
        // If this call has only found out that objects were used meanwhile, the kernel may ask again.
        (pages != 0 || (looks == 0 && !asked)).then_some(pages)
    }
}
