// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Giving system pages back when the system runs out of memory.
//!
//! The kernel asks in the middle of an allocation, and the allocating thread may hold any locks. So this code only
//! uses trylock, does not wait and does not allocate. It needs no ring, because the pages stay in their file, from
//! which they are swapped.

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
    /// Reclaim pages of `objects`, whose manager is `memory`.
    pub fn new(objects: Arc<Roster<Object<F>>>, memory: Arc<Memory>) -> Self {
        Self { objects, memory }
    }

    /// Give back the pages of one object, if no job uses it.
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
        // If all looks of this call found objects that were used meanwhile, the kernel may ask again.
        (pages != 0 || (looks == 0 && !asked)).then_some(pages)
    }
}
