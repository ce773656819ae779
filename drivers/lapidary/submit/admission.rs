// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The client of a submission: whether it may submit, and the record of what is refused to it.

use kernel::{
    drm,
    prelude::*,
    sync::Arc, //
};

use crate::{
    client_record::ClientRecord,
    corner::{
        debug,
        debugfs,
        events, //
    },
    driver::{
        Driver,
        File, //
    },
    family::{
        isolation::Refusal,
        Family, //
    },
    portable::reason::{
        Reason,
        NO_POSITION, //
    }, //
};

/// The client of a submission.
pub struct Client<'s, F: Family> {
    dev: &'s drm::Device<Driver<F>, drm::Registered>,
    record: &'s Arc<ClientRecord>,
    id: u64,
}

impl<'s, F: Family> Client<'s, F> {
    /// Admit the client of `file`.
    ///
    /// # Errors
    ///
    /// `ECANCELED` if a job of this client has hung the GPU, or if its process or user has done so too often
    /// ([`crate::hangs`]).
    pub fn admit(
        dev: &'s drm::Device<Driver<F>, drm::Registered>,
        file: &'s drm::File<File<F>>,
    ) -> Result<Self> {
        let client = Self {
            dev,
            record: &file.inner().get_ref().record,
            id: debugfs::client_id(file),
        };
        let banned = match client.record.is_banned() {
            true => Some(Reason::BANNED),
            false => dev
                .hangs
                .refuses_current()
                .then_some(Reason::HUNG_TOO_OFTEN),
        };
        if let Some(reason) = banned {
            client.refuse(Refusal::new(NO_POSITION, reason), ECANCELED);
            return Err(ECANCELED);
        }
        Ok(client)
    }

    /// Record that its submission is refused with `error`. The client can ask why.
    pub fn refuse(&self, refusal: Refusal, error: Error) {
        debug::refused(self.dev, refusal.position, refusal.reason);
        self.record.refuse(refusal, error);
        events::refused(self.id, refusal.number, refusal.position, error);
    }

    /// Return the record of its work.
    pub fn record(&self) -> &'s Arc<ClientRecord> {
        self.record
    }

    /// Return the number of the file, for events.
    pub fn id(&self) -> u64 {
        self.id
    }
}
