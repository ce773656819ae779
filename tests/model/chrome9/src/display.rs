// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The display, as far as it can be noticed without pixels: vertical blanks and flips (L108-133, L691-711).
//!
//! A display that firmware has lit has sixty vertical blanks a second. A start address that is written is pending until the
//! next one, and so are new settings of a video window. Without a lit display there is no vertical blank, and both are in
//! use at once.

use std::time::{Duration, Instant};

use lapidary_model::chip::State;
use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::enums;
use lapidary_registers::chrome9::mmio::{
    self, address_flip_status as flips, compose_output_mode_select as compose,
    interrupt_flags_masks_control as first,
};
use lapidary_registers::chrome9::para_11::{self, swap_1_iga1, swap_2_iga1, swap_3_iga1};

use crate::{Chrome9, kind};

/// From one vertical blank to the next.
pub const FRAME: Duration = Duration::from_nanos(16_666_667);
/// How long it is.
pub const BLANK: Duration = Duration::from_micros(800);
/// Flips that the next vertical blank completes.
const PENDING: u32 = flips::ALPHA_ADDRESS.mask()
    | flips::V3_ADDRESS.mask()
    | flips::GRAPHICS_ADDRESS.mask()
    | flips::V1_ADDRESS.mask();
/// New settings of video windows that the next vertical blank takes.
const LOADS: u32 = compose::V1_COMMAND_END.mask() | compose::V3_COMMAND_END.mask();

/// The beams.
pub struct Display {
    first: bool,
    second: bool,
    start: Instant,
    /// Frames that have begun.
    frames: u128,
}

impl Display {
    /// Return displays of which none is lit.
    pub fn dark() -> Display {
        Display {
            first: false,
            second: false,
            start: Instant::now(),
            frames: 0,
        }
    }

    /// Return the displays that firmware has left lit, whose first frame begins then.
    pub fn left_by(state: State, start: Instant) -> Display {
        Display {
            start,
            first: matches!(state, State::Crtc | State::Crtcs),
            second: state == State::Crtcs,
            ..Display::dark()
        }
    }

    /// Return when the present frame began, which is with its vertical blank.
    pub fn frame(&self, now: Instant) -> Instant {
        let whole = self.number(now).saturating_mul(FRAME.as_nanos());
        self.start + Duration::from_nanos(whole as u64)
    }

    /// Return which of both displays are lit.
    pub fn lit(&self) -> (bool, bool) {
        (self.first, self.second)
    }

    /// Return when the next vertical blank begins.
    pub fn next_start(&self, now: Instant) -> Instant {
        self.frame(now) + FRAME
    }

    /// Return when the present vertical blank ends, or the next one.
    pub fn next_end(&self, now: Instant) -> Instant {
        let start = if self.blanks(now) {
            self.frame(now)
        } else {
            self.next_start(now)
        };
        start + BLANK
    }

    /// Return when it is within a vertical blank: the present moment, or the beginning of the next one.
    pub fn within(&self, now: Instant) -> Instant {
        if self.blanks(now) {
            now
        } else {
            self.next_start(now)
        }
    }

    fn number(&self, now: Instant) -> u128 {
        now.saturating_duration_since(self.start).as_nanos() / FRAME.as_nanos()
    }

    /// Return whether it is within a vertical blank of a lit display.
    pub fn blanks(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.frame(now)) < BLANK
    }
}

impl Chrome9 {
    /// Do what vertical blanks until now do.
    pub(crate) fn blank(&mut self, m: &mut Machine, now: Instant) {
        let number = self.display.number(now);
        if !self.display.first || number <= self.display.frames {
            return;
        }
        self.display.frames = number;
        let mut status = first::VGA_VSYNC_STATUS.mask();
        if self.display.second {
            status |= first::SECOND_VSYNC_STATUS.mask();
        }
        let word = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL) | status;
        self.regs.set(mmio::INTERRUPT_FLAGS_MASKS_CONTROL, word);
        let word = self.regs.get(mmio::ADDRESS_FLIP_STATUS) & !PENDING;
        self.regs.set(mmio::ADDRESS_FLIP_STATUS, word);
        self.take_settings();
        self.update_interrupt(m);
    }

    /// Return when the next vertical blank has something to do, if it has.
    pub(crate) fn next_blank(&self, now: Instant) -> Option<Instant> {
        let control = self.regs.get(mmio::INTERRUPT_FLAGS_MASKS_CONTROL);
        let enabled = first::INTERRUPT_ENABLE.any(control)
            && (first::VGA_VSYNC_ENABLE.any(control) || first::SECOND_VSYNC_ENABLE.any(control));
        let pending = self.regs.get(mmio::ADDRESS_FLIP_STATUS) & PENDING != 0
            || self.regs.get(mmio::COMPOSE_OUTPUT_MODE_SELECT) & LOADS != 0;
        (self.display.first && (enabled || pending)).then(|| self.display.frame(now) + FRAME)
    }

    /// Take new settings of video windows, which ends their announcement (L236).
    fn take_settings(&mut self) {
        let word = self.regs.get(mmio::COMPOSE_OUTPUT_MODE_SELECT);
        self.regs
            .set(mmio::COMPOSE_OUTPUT_MODE_SELECT, word & !LOADS);
    }

    /// Return the levels of both displays in a status register.
    pub(crate) fn levels(&self, offset: u32, now: Instant) -> u32 {
        let (lit, level) = match offset {
            mmio::INTERRUPT_FLAGS_MASKS_CONTROL => (self.display.first, first::VBLANK_STATUS),
            _ => (self.display.second, flips::IGA2_VBLANK),
        };
        level.of((lit && self.display.blanks(now)).into())
    }

    /// Take a register that was written. A start address is pending while the display is lit, and so are new settings of
    /// video windows.
    pub(crate) fn flip(&mut self, offset: u32) {
        let pending = match offset {
            mmio::COMPOSE_OUTPUT_MODE_SELECT => {
                if !self.display.first {
                    self.take_settings();
                }
                return;
            }
            mmio::CRT_START_ADDRESS => flips::GRAPHICS_ADDRESS,
            mmio::VIDEO_1_START_ADDRESS_0 => flips::V1_ADDRESS,
            mmio::VIDEO_3_START_ADDRESS_0 => flips::V3_ADDRESS,
            mmio::ALPHA_WINDOW_HI_START_ADDRESS => flips::ALPHA_ADDRESS,
            _ => return,
        };
        let mut status = self.regs.get(mmio::ADDRESS_FLIP_STATUS);
        if self.display.first {
            status |= pending.mask();
        }
        // A write by software ends the flip by software before it.
        if offset == mmio::VIDEO_1_START_ADDRESS_0 {
            status &= !flips::V1_SW_FLIP.mask();
        }
        if offset == mmio::VIDEO_3_START_ADDRESS_0 {
            status &= !flips::V3_SW_FLIP.mask();
        }
        self.regs.set(mmio::ADDRESS_FLIP_STATUS, status);
    }

    /// Do a swap that a stream has asked for: the address of three parameters from `from` on becomes a start address. The
    /// manual gives no unit for that of the first display; it is bytes here, as for the second.
    pub(crate) fn swap(&mut self, m: &mut Machine, from: u32, command: u32, targets: &[u32]) {
        if !swap_3_iga1::ENABLE.any(command) {
            return;
        }
        let get = |n| {
            let kind = enums::para_type::REGULATOR_MISC as u8;
            self.parameters.get(kind, 0, from + n)
        };
        let (low, high) = (get(0), get(1));
        if swap_1_iga1::LOCATION.get(low) != enums::location::SYSTEM_LOCAL {
            m.finding(
                kind::RESERVED_VALUE,
                format_args!("a swap to memory that no display reads"),
            );
            return;
        }
        let address =
            (swap_2_iga1::ADDRESS_HIGH.get(high) << 24) | (swap_1_iga1::ADDRESS_LOW.get(low) << 3);
        for target in targets {
            self.regs.set(*target, address);
            if !swap_3_iga1::SKIP_WAIT_BLANK.any(command) {
                self.flip(*target);
            }
        }
        m.trace.line(format_args!("swap to {address:#x}"));
    }

    /// Do what a parameter of type 11h does with a display, if anything.
    pub(crate) fn swap_parameter(&mut self, m: &mut Machine, sub_address: u32, data: u32) {
        const FIRST: u32 = mmio::CRT_START_ADDRESS;
        const SECOND: u32 = mmio::SECOND_DISPLAY_START_ADDRESS;
        match sub_address {
            para_11::SWAP_3_IGA1 => self.swap(m, para_11::SWAP_1_IGA1, data, &[FIRST]),
            para_11::SWAP_6_IGA2 => self.swap(m, para_11::SWAP_4_IGA2, data, &[SECOND]),
            para_11::SWAP_9_DUO => self.swap(m, para_11::SWAP_7_DUO, data, &[FIRST, SECOND]),
            _ => {}
        }
    }
}
