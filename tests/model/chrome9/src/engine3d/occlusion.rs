// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The count of pixels that pass depth and stencil test (L828-841), which a parameter writes to memory.
//!
//! 01h/1Ch and 1Dh set the count. 21h and 22h are an address, in units of 4 bytes: when the high half comes and the whole is
//! not 0, the count is written there. The low half has to come first. Nothing is drawn here, so the count stays as it was
//! set.

use lapidary_model::machine::Machine;
use lapidary_model::runs::Runs;
use lapidary_registers::chrome9::enums;
use lapidary_registers::chrome9::para_01::{self, z_13, z_14, z_18, z_19};

use super::area::{Client, Footprint};
use super::judge;
use super::state::State;
use crate::fetch::Place;
use crate::unit::Unit;
use crate::{Chrome9, bus, kind};

/// What the address counts.
const UNIT: u64 = 4;

impl Chrome9 {
    /// Act on the high half of the address.
    pub(crate) fn write_occlusion(&mut self, m: &mut Machine, high: u32) {
        let state = State::new(&self.parameters);
        let low = z_18::OCCLUSION_ADDRESS_LOW_ASSUMED.get(state.attribute(para_01::Z_18));
        let address = (z_19::OCCLUSION_ADDRESS_HIGH.get(high) << 24) | low;
        let mixed = state.mixed(enums::para_type::ATTRIBUTE, para_01::Z_18, para_01::Z_19);
        if address == 0 && state.unwritten().is_empty() {
            return;
        }
        let count = (z_14::OCCLUSION_COUNT_HIGH.get(state.attribute(para_01::Z_14)) << 24)
            | z_13::OCCLUSION_COUNT_LOW.get(state.attribute(para_01::Z_13));
        let unwritten = state.unwritten();
        if !unwritten.is_empty() {
            m.finding(
                kind::UNDEFINED_STATE,
                format_args!("an occlusion count: {}", unwritten.join(" ")),
            );
            return;
        }
        if mixed {
            m.finding(
                kind::HALF_ADDRESS,
                format_args!("Z_18 and Z_19 come from different streams"),
            );
        }
        let footprint = Footprint::written(
            Client::Occlusion,
            false,
            z_19::LOCATION.get(high),
            Runs::one(u64::from(address) * UNIT, UNIT),
            format!("{count} pixels"),
        );
        m.counters.add("occlusion_counts", 1);
        self.engine3d.record(std::slice::from_ref(&footprint));
        if judge::touch(m, &mut self.gart, std::slice::from_ref(&footprint)) {
            let place = Place {
                at: u64::from(address) * UNIT,
                location: footprint.location,
            };
            bus::store(m, &mut self.gart, Unit::Engine3d, place, count);
        }
    }
}
