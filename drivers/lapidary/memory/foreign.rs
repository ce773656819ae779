// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The buffers of other drivers that our objects stand for.
//!
//! Their mappings for our device end at unbind, whether the objects still exist or not.

use kernel::{
    new_mutex,
    prelude::*,
    rbtree::{
        RBTree,
        RBTreeNode, //
    },
    sync::{
        Arc,
        Mutex, //
    },
};

use crate::corner::{
    later,
    prime::Import, //
};

/// All imports of one device, by their address in kernel memory.
#[pin_data]
pub(crate) struct Foreign {
    #[pin]
    imports: Mutex<RBTree<usize, Arc<Import>>>,
}

fn key(import: &Arc<Import>) -> usize {
    core::ptr::from_ref::<Import>(import).addr()
}

impl Foreign {
    pub(crate) fn new() -> Result<Arc<Self>> {
        Arc::pin_init(
            pin_init!(Self {
                imports <- new_mutex!(RBTree::new()),
            }),
            GFP_KERNEL,
        )
    }

    /// Add an import.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub(crate) fn add(&self, import: &Arc<Import>) -> Result {
        let node = RBTreeNode::new(key(import), import.clone(), GFP_KERNEL)?;
        self.imports.lock().insert(node);
        Ok(())
    }

    /// Remove an import whose end has been requested.
    pub(crate) fn remove(&self, import: &Arc<Import>) {
        let node = self.imports.lock().remove_node(&key(import));
        drop(node);
    }
}

/// Ends the mappings of all imports when it is dropped. It is dropped after the DRM device has been unplugged, so
/// that no new imports are made, and when the GPU is quiet.
pub struct ForeignLoan(pub(crate) Arc<Foreign>);

impl Drop for ForeignLoan {
    fn drop(&mut self) {
        // Outside of the lock, because the end of an import may have to wait for the reservation of another driver.
        let imports = core::mem::take(&mut *self.0.imports.lock());
        for import in imports.values() {
            import.unmap();
        }
        // Wait for the imports whose objects have just been freed.
        later::flush();
    }
}
