// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Saved state of the 3D engine (L563-582, L611-621, L676-691).
//!
//! The manual does not give the layout, so no program can read it (decision 14). Here it is a list of parameters, with a
//! sum over all of it. What is restored has to be what was saved.

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::enums;
use lapidary_registers::chrome9::para_10::{
    self, interrupt_state_buffer_1 as interrupt_1, interrupt_state_buffer_2 as interrupt_2,
    restore_1, restore_2,
};
use lapidary_registers::chrome9::para_11::{self, save_1, save_2};

use crate::fetch::Place;
use crate::unit::Unit;
use crate::{Chrome9, bus, kind};

/// The first dword.
const MAGIC: u32 = 0x5ea1_c903;
/// The most parameters that a saved state has: more than there are.
const MOST: u32 = 0x1_0000;
/// Types of the 3D engine.
const TYPES: std::ops::RangeInclusive<u8> =
    (enums::para_type::ATTRIBUTE as u8)..=(enums::para_type::PRIMITIVE as u8);

const REGULATOR: u8 = enums::para_type::REGULATOR as u8;
const MISC: u8 = enums::para_type::REGULATOR_MISC as u8;

/// Return a sum over dwords that a changed one or a changed order changes.
fn sum(words: &[u32]) -> u32 {
    words.iter().fold(MAGIC, |sum, word| {
        (sum ^ word).rotate_left(5).wrapping_mul(0x9e37_79b1)
    })
}

impl Chrome9 {
    /// Save the state of the 3D engine, if the buffer's settings say so. A setting of type 10h has priority.
    pub(crate) fn save(&mut self, m: &mut Machine) {
        let get = |kind, n| self.parameters.get(kind, 0, n);
        let interrupt = get(REGULATOR, para_10::INTERRUPT_STATE_BUFFER_2);
        let own = get(MISC, para_11::SAVE_2);
        let place = if interrupt_2::STORE_3D.any(interrupt) {
            let low = get(REGULATOR, para_10::INTERRUPT_STATE_BUFFER_1);
            Place {
                at: (u64::from(interrupt_2::ADDRESS_HIGH.get(interrupt)) << 24)
                    | (u64::from(interrupt_1::ADDRESS_LOW.get(low)) << 4),
                location: interrupt_1::LOCATION.get(low),
            }
        } else if save_2::STORE_3D.any(own) {
            let low = get(MISC, para_11::SAVE_1);
            Place {
                at: (u64::from(save_2::ADDRESS_HIGH.get(own)) << 24)
                    | (u64::from(save_1::ADDRESS_LOW.get(low)) << 4),
                location: save_1::LOCATION.get(low),
            }
        } else {
            return;
        };
        let list: Vec<u32> = self.parameters.all(TYPES).flatten().collect();
        let mut words = vec![MAGIC, list.len() as u32 / 2];
        words.extend(list);
        words.push(sum(&words));
        for (i, word) in words.iter().enumerate() {
            let at = place.at + i as u64 * 4;
            let place = Place { at, ..place };
            if !bus::store(m, &mut self.gart, Unit::Regulator, place, *word) {
                return;
            }
        }
        m.counters.add("saved_states", 1);
    }

    /// Restore the state of the 3D engine.
    pub(crate) fn restore(&mut self, m: &mut Machine) {
        let low = self.parameters.get(REGULATOR, 0, para_10::RESTORE_1);
        let high = self.parameters.get(REGULATOR, 0, para_10::RESTORE_2);
        let place = Place {
            at: (u64::from(restore_2::ADDRESS_HIGH.get(high)) << 24)
                | (u64::from(restore_1::ADDRESS_LOW.get(low)) << 4),
            location: restore_1::LOCATION.get(low),
        };
        let Some(words) = self.saved(m, place) else {
            m.finding(
                kind::STATE_NOT_SAVED,
                format_args!("at {:#x}, location {}", place.at, place.location),
            );
            return;
        };
        self.parameters.forget(TYPES);
        for pair in words.chunks_exact(2) {
            self.parameters.put(pair[0], pair[1]);
        }
        m.counters.add("restored_states", 1);
    }

    /// Read what was saved; none if that is not what is there.
    fn saved(&mut self, m: &mut Machine, place: Place) -> Option<Vec<u32>> {
        let mut load = |n: u32| {
            let at = place.at + u64::from(n) * 4;
            bus::load(m, &mut self.gart, Place { at, ..place })
        };
        let count = load(1)?;
        if load(0)? != MAGIC || count > MOST {
            return None;
        }
        let words: Option<Vec<u32>> = (0..2 + 2 * count).map(&mut load).collect();
        let words = words?;
        (load(2 + 2 * count)? == sum(&words)).then(|| words[2..].to_vec())
    }

    /// Let the fetcher go on at the address that is to be restored.
    pub(crate) fn restore_fetch(&mut self, m: &mut Machine) {
        self.trigger_at(m, self.ring_address(para_10::RESTORE_3));
    }
}
