// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Colour compare: pixels that a key keeps from being written.
//!
//! `CLR_CMP_CNTL` (R5xx 5.2.2.10) has a function for the source pixel, one for the destination pixel, and two bits
//! that say which of them count. `CLR_CMP_MASK` chooses the bits that are compared.
//!
//! Decision. The manual contradicts itself about the source function: value 4 is said to *write* pixels that equal
//! the key, while the same field "strips off" the key colour, `SRC_REF_CLR` is "to be stripped off", the
//! destination's value 4 *preserves* equal pixels, and values 0 and 1 mean never and always keeping pixels back in
//! both. xf86-video-ati, on real Radeons, programs 4 for "skip pixels equal to the key" and remarks that this is the
//! opposite of Rage 128 (from whose manual the sentence stems). So both functions here say when the write is
//! *inhibited*: 0 never, 1 always, 4 if equal, 5 if not equal.
//!
//! With both enabled, "the final decision is based on the agreement": a pixel is written if both agree to write it.

use lapidary_registers::r500::mmio::clr_cmp_cntl;

/// When a comparison keeps a pixel from being written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Function {
    /// Never.
    Never,
    /// Always.
    Always,
    /// If the pixel equals the key.
    Equal,
    /// If the pixel differs from the key.
    NotEqual,
    /// Never; but a source pixel that equals the key is exclusive-ored with the foreground colour.
    Flip,
}

/// The colour compare unit's set-up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    source: Option<Function>,
    destination: Option<Function>,
    source_colour: u32,
    destination_colour: u32,
    mask: u32,
}

impl Key {
    /// A unit that lets every pixel through.
    pub const OFF: Key = Key {
        source: None,
        destination: None,
        source_colour: 0,
        destination_colour: 0,
        mask: 0,
    };

    /// Decode `CLR_CMP_CNTL`; the rest are the colours and the mask as the registers hold them, the mask already cut
    /// to the pixel size. The second value is what is reserved in it.
    pub fn new(
        control: u32,
        source_colour: u32,
        destination_colour: u32,
        mask: u32,
    ) -> (Key, Option<&'static str>) {
        let mut reserved = None;
        let mut function = |code: u32, flips: bool| match code {
            0 => Function::Never,
            1 => Function::Always,
            4 => Function::Equal,
            5 => Function::NotEqual,
            7 if flips => Function::Flip,
            _ => {
                reserved = Some("a colour compare function");
                Function::Never
            }
        };
        let source = function(clr_cmp_cntl::CLR_CMP_SRC.get(control), true);
        let destination = function(clr_cmp_cntl::CLR_CMP_DST.get(control), false);
        let (by_source, by_destination) = match clr_cmp_cntl::CMP_ENABLE.get(control) {
            0 => (false, true),
            1 => (true, false),
            2 => (true, true),
            _ => {
                reserved = Some("CMP_ENABLE");
                (false, false)
            }
        };
        // A function that never inhibits needs no pixel to be looked at.
        let active = |on: bool, f: Function| (on && f != Function::Never).then_some(f);
        let key = Key {
            source: active(by_source, source),
            destination: active(by_destination, destination),
            source_colour: source_colour & mask,
            destination_colour: destination_colour & mask,
            mask,
        };
        (key, reserved)
    }

    /// Return whether the destination pixel must be known.
    pub fn uses_destination(&self) -> bool {
        self.destination.is_some()
    }

    /// Return whether every pixel is written, unchanged.
    pub fn is_off(&self) -> bool {
        self.source.is_none() && self.destination.is_none()
    }

    /// Return the source pixel to draw with, or `None` if the source function keeps the pixel back.
    pub fn source(&self, pixel: u32, foreground: u32) -> Option<u32> {
        let equal = pixel & self.mask == self.source_colour;
        match self.source {
            None | Some(Function::Never) => Some(pixel),
            Some(Function::Always) => None,
            Some(Function::Equal) => (!equal).then_some(pixel),
            Some(Function::NotEqual) => equal.then_some(pixel),
            Some(Function::Flip) => Some(if equal { pixel ^ foreground } else { pixel }),
        }
    }

    /// Return whether the destination function lets this destination pixel be overwritten.
    pub fn destination_allows(&self, pixel: u32) -> bool {
        let equal = pixel & self.mask == self.destination_colour;
        match self.destination {
            None | Some(Function::Never | Function::Flip) => true,
            Some(Function::Always) => false,
            Some(Function::Equal) => !equal,
            Some(Function::NotEqual) => equal,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u32 = u32::MAX;

    fn control(source: u32, destination: u32, enable: u32) -> u32 {
        source | (destination << 8) | (enable << 24)
    }

    #[test]
    fn source_functions() {
        let with = |f| Key::new(control(f, 0, 1), 0x12, 0, ALL).0;
        assert_eq!(with(0).source(0x12, 0), Some(0x12));
        assert_eq!(with(1).source(0x34, 0), None);
        assert_eq!(with(4).source(0x12, 0), None);
        assert_eq!(with(4).source(0x13, 0), Some(0x13));
        assert_eq!(with(5).source(0x12, 0), Some(0x12));
        assert_eq!(with(5).source(0x13, 0), None);
        assert_eq!(with(7).source(0x12, 0xff), Some(0xed));
        assert_eq!(with(7).source(0x13, 0xff), Some(0x13));
    }

    #[test]
    fn destination_functions() {
        let with = |f| Key::new(control(0, f, 0), 0, 0x12, ALL).0;
        assert!(with(0).destination_allows(0x12) && !with(0).uses_destination());
        assert!(!with(1).destination_allows(0x34));
        assert!(!with(4).destination_allows(0x12) && with(4).destination_allows(0x13));
        assert!(with(5).destination_allows(0x12) && !with(5).destination_allows(0x13));
    }

    #[test]
    fn enable_chooses_the_functions() {
        let only_destination = Key::new(control(1, 1, 0), 0, 0, ALL).0;
        assert_eq!(only_destination.source(5, 0), Some(5));
        assert!(!only_destination.destination_allows(5));
        let only_source = Key::new(control(1, 1, 1), 0, 0, ALL).0;
        assert_eq!(only_source.source(5, 0), None);
        assert!(only_source.destination_allows(5));
        let both = Key::new(control(1, 1, 2), 0, 0, ALL).0;
        assert!(both.source(5, 0).is_none() && !both.destination_allows(5));
        assert!(Key::new(control(0, 0, 2), 0, 0, ALL).0.is_off());
    }

    #[test]
    fn mask_limits_the_comparison() {
        let key = Key::new(control(4, 0, 1), 0xab12_3456, 0, 0x00ff_ffff).0;
        assert_eq!(key.source(0xcd12_3456, 0), None);
        assert_eq!(key.source(0xcd12_3457, 0), Some(0xcd12_3457));
    }

    #[test]
    fn reserved_codes_are_named() {
        for code in [2, 3, 6] {
            assert!(Key::new(control(code, 0, 1), 0, 0, ALL).1.is_some());
            assert!(Key::new(control(0, code, 0), 0, 0, ALL).1.is_some());
        }
        assert!(Key::new(control(0, 7, 0), 0, 0, ALL).1.is_some());
        assert!(Key::new(control(0, 0, 3), 0, 0, ALL).1.is_some());
        assert!(Key::new(control(7, 5, 2), 0, 0, ALL).1.is_none());
    }
}
