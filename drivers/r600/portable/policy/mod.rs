// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a user's command stream may do with a register.
//!
//! The register database says what a register *is*. This table says what the checker does when a stream writes it. It
//! is keyed by name and covers the two ranges that packets reach: configuration registers, of which there is one set,
//! and context registers, of which each context has a set. A register is either [admitted] or [refused], by itself or
//! with its block; then the class says why. Registers that the database does not have are refused too.
//!
//! Both kinds keep their values when the stream ends. So only such registers are admitted as name no memory, bound no
//! access and select no mode: colours, coordinates, references and masks of pixels. A draw of another client that has
//! not set them itself can be coloured or cut by them, and nothing else.
//!
//! The compiler spreads the table over the two ranges, so that a look-up costs one load.

mod admitted;
mod refused;

pub use admitted::ADMITTED;
pub use refused::REFUSED;

use lapidary::portable::bits::Registers;

use super::regs::{
    mmio::wait_until,
    pm4::{
        set_config_reg as config,
        set_context_reg as context, //
    }, //
};

/// What the checker does when a stream writes a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Policy {
    /// Refuses the stream: this register is not in the database.
    Unknown,
    /// Refuses the stream: command processor, clocks, interrupts, status.
    Kernel,
    /// Refuses the stream: what all clients share, as pipes, FIFOs and how shaders divide the chip.
    SetUp,
    /// Refuses the stream: an address, or something that bounds which bytes are accessed.
    Memory,
    /// Refuses the stream: decides how the 3D pipe runs.
    Pipe,
    /// Does nothing: no value makes the chip access memory or hang.
    Free,
    /// Admits only bits that wait for something that always happens.
    WaitUntil,
}

impl Policy {
    /// Return whether the stream is refused with any value.
    pub const fn refuses(self) -> bool {
        !matches!(self, Self::Free | Self::WaitUntil)
    }
}

/// The bits of `WAIT_UNTIL` that a stream may set.
pub const WAITS: u32 = wait_until::WAIT_CP_DMA_IDLE.mask()
    | wait_until::WAIT_2D_IDLE.mask()
    | wait_until::WAIT_3D_IDLE.mask()
    | wait_until::WAIT_2D_IDLECLEAN.mask()
    | wait_until::WAIT_3D_IDLECLEAN.mask();

/// Registers of a range.
const fn registers(base: u32, end: u32) -> usize {
    ((end - base) / 4) as usize
}

const CONFIGS: usize = registers(config::BASE, config::END);
const CONTEXTS: usize = registers(context::BASE, context::END);

static CONFIG: [Policy; CONFIGS] = table(config::BASE);
static CONTEXT: [Policy; CONTEXTS] = table(context::BASE);

/// Spread both lists over the range of `N` registers from `base` on. The compiler evaluates this. A register that is
/// named twice does not compile.
const fn table<const N: usize>(base: u32) -> [Policy; N] {
    const fn set<const N: usize>(
        table: &mut [Policy; N],
        base: u32,
        register: u32,
        policy: Policy,
    ) {
        assert!(register % 4 == 0);
        let index = (register.wrapping_sub(base) / 4) as usize;
        if index < N {
            assert!(matches!(table[index], Policy::Unknown));
            table[index] = policy;
        }
    }
    const fn spread<const N: usize>(
        table: &mut [Policy; N],
        base: u32,
        list: &[(Registers, Policy)],
    ) {
        let mut i = 0;
        while i < list.len() {
            let (registers, policy) = list[i];
            match registers {
                Registers::One(register) => set(table, base, register, policy),
                Registers::Array(array) => {
                    let mut n = 0;
                    while let Some(register) = array.at(n) {
                        set(table, base, register, policy);
                        n += 1;
                    }
                }
                Registers::Block(first, last) => {
                    let mut register = first;
                    while register <= last {
                        set(table, base, register, policy);
                        register += 4;
                    }
                }
            }
            i += 1;
        }
    }
    let mut table = [Policy::Unknown; N];
    spread(&mut table, base, ADMITTED);
    spread(&mut table, base, REFUSED);
    table
}

/// Return what to do when a stream writes the register at byte offset `register`.
#[inline]
pub fn of(register: u32) -> Policy {
    let entry = if register >= context::BASE {
        CONTEXT.get((register.wrapping_sub(context::BASE) >> 2) as usize)
    } else {
        CONFIG.get((register.wrapping_sub(config::BASE) >> 2) as usize)
    };
    match entry {
        Some(policy) => *policy,
        None => Policy::Unknown,
    }
}
