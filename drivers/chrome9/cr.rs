// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The CPU's window on the command regulator (CR).
//!
//! A parameter has a type, a sub-address and 24 bits. The CPU writes the type to one register, and then parameters to the
//! space behind it (L535-542). The driver uses type 10h, the commands in front of the regulator.
//!
//! Nothing in the manual is called a reset. [`stop`] is ours, to be checked on hardware (decision 3). A stop of the regulator
//! also saves its state to a buffer (L563-582), whose size nobody says. The driver gives it [`STATE_BYTES`], and does not
//! read it.
//!
//! [`stop`] also switches off both engines of HQV, the scaler of video, whose pictures streams start (L486). Their registers
//! do not pass the regulator here (L103).

use kernel::{
    io::{
        poll,
        register::Array,
        Io, //
    },
    prelude::*,
    time::Delta, //
};

use crate::{
    portable::{
        emit::{
            parameter,
            setting,
            Location, //
        },
        regs::{
            enums::para_type,
            mmio::engine_status,
            para_10::{
                self,
                agp_control,
                interrupt_command,
                interrupt_state_buffer_1,
                interrupt_state_buffer_2,
                read_back_setting, //
            },
        },
    },
    regs::{
        mmio::*,
        Window, //
    },
};

/// Bytes of the buffer for the state that a stop saves.
pub(crate) const STATE_BYTES: u64 = 64 * 1024;

/// Bits of an address in the lower of its two parameters.
const LOW_BITS: u32 = 24;

/// How long the engines may take to become idle before the chip starts. Real ones take microseconds; a model on a busy
/// machine must first get a CPU.
pub(crate) const PATIENCE: Delta = Delta::from_millis(250);
/// How long they may take where nothing depends on the answer.
pub(crate) const HASTE: Delta = Delta::from_millis(80);

/// Bits of the status that are 0 when nothing is at work. That of the second HQV is only assumed, so that nothing waits for it.
const BUSY: u32 = engine_status::BUSY_2D.mask()
    | engine_status::BUSY_3D.mask()
    | engine_status::BLOCKS_3D_BUSY.mask()
    | engine_status::HQV0_BUSY.mask()
    | engine_status::CR_BUSY.mask()
    | engine_status::QUEUE_BUSY.mask();

/// Write parameters of type 10h.
pub(crate) fn send(window: Window<'_>, parameters: &[u32]) {
    window.write_reg(CR_SETTING::from(setting(para_type::REGULATOR)));
    for &parameter in parameters {
        window.write(CR_SPACE::at(0), CR_SPACE::from(parameter));
    }
}

/// Return whether the device has vanished from the bus, or is in a state without power.
///
/// No valid state of the status register has all bits set, because not all of them exist.
pub(crate) fn is_dead(window: Window<'_>) -> bool {
    window.read(ENGINE_STATUS).into_raw() == u32::MAX
}

/// Tell the regulator where a stop saves its state: [`STATE_BYTES`] bytes at offset `state` of the frame buffer. Choose what
/// reads of the regulator show.
pub(crate) fn set_up(window: Window<'_>, state: u32) {
    let location = Location::FrameBuffer.code();
    send(
        window,
        &[
            parameter(
                para_10::READ_BACK_SETTING,
                read_back_setting::BLOCK.of(read_back_setting::block::CR),
            ),
            parameter(
                para_10::INTERRUPT_STATE_BUFFER_1,
                state | interrupt_state_buffer_1::LOCATION.of(location),
            ),
            parameter(
                para_10::INTERRUPT_STATE_BUFFER_2,
                interrupt_state_buffer_2::ADDRESS_HIGH.of(state >> LOW_BITS),
            ),
        ],
    );
}

/// Switch off both engines of HQV.
fn switch_off_video(window: Window<'_>) {
    window.write(HQV_CONTROL::at(0), HQV_CONTROL::zeroed());
    window.write(HQV_CONTROL::at(1), HQV_CONTROL::zeroed());
}

/// End the fetch of commands, switch off HQV, and wait until the engines are idle. Return whether they are.
///
/// Takes at most `patience`, also on a device that does not answer.
pub(crate) fn stop(window: Window<'_>, patience: Delta) -> bool {
    send(
        window,
        &[
            parameter(
                para_10::AGP_CONTROL,
                agp_control::CLEAR_AGP.mask() | agp_control::CLEAR_FENCE_QUEUE.mask(),
            ),
            parameter(para_10::INTERRUPT_COMMAND, interrupt_command::STOP.mask()),
        ],
    );
    // The regulator may be waiting for a picture.
    switch_off_video(window);
    let idle = poll::read_poll_timeout(
        || Ok(window.read(ENGINE_STATUS).into_raw()),
        |status| status & BUSY == 0,
        Delta::from_micros(10),
        patience,
    )
    .is_ok();
    // What the regulator had in its queue may have started another.
    switch_off_video(window);
    send(window, &[parameter(para_10::INTERRUPT_COMMAND, 0)]);
    idle
}

#[kunit_tests(chrome9_cr)]
mod tests {
    use super::*;
    use crate::regs::fake;

    #[test]
    fn a_stop_switches_off_both_engines_of_video() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        let on = HQV_CONTROL::zeroed()
            .with_enable(true)
            .with_source_flip(true);
        window.write(HQV_CONTROL::at(0), on);
        window.write(HQV_CONTROL::at(1), on);
        assert!(stop(window, HASTE));
        assert_eq!(window.read(HQV_CONTROL::at(0)).into_raw(), 0);
        assert_eq!(window.read(HQV_CONTROL::at(1)).into_raw(), 0);
        Ok(())
    }

    #[test]
    fn a_stop_fails_while_an_engine_is_busy() -> Result {
        let mut memory = fake::Memory::new()?;
        let window = memory.window()?;
        for (busy, stops) in [
            (engine_status::HQV0_BUSY.mask(), false),
            (engine_status::BUSY_2D.mask(), false),
            (engine_status::HQV1_BUSY_ASSUMED.mask(), true),
        ] {
            window.try_write32(busy, STATUS)?;
            assert_eq!(stop(window, Delta::from_millis(1)), stops);
        }
        Ok(())
    }

    /// Place of a register that can only be read.
    const STATUS: usize = crate::portable::regs::mmio::ENGINE_STATUS as usize;
}
