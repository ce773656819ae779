// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tables of what a command checker does with a register, by the register's offset.
//!
//! A family lists registers by name, in arrays and in blocks. The compiler spreads the lists over a range of registers,
//! so that a look-up costs one load. A register that is named twice does not compile.

use super::bits::Registers;

/// What the lists of a family may contain.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lists {
    /// Registers may lie outside the range, and are left out. Otherwise such a register does not compile.
    pub beyond: bool,
    /// A block means those registers in it that no other entry before it names. Otherwise such a register does not
    /// compile.
    pub rest: bool,
}

impl Lists {
    /// Spread `lists` over the `N` registers from byte offset `base` on. Registers in no list have `unknown`.
    ///
    /// To be evaluated by the compiler.
    pub const fn spread<P: Copy, const N: usize>(
        self,
        base: u32,
        lists: &[&[(Registers, P)]],
        unknown: P,
    ) -> [P; N] {
        let mut known = [None; N];
        let mut list = 0;
        while list < lists.len() {
            let mut entry = 0;
            while entry < lists[list].len() {
                let (registers, policy) = lists[list][entry];
                self.entry(&mut known, base, registers, policy);
                entry += 1;
            }
            list += 1;
        }
        let mut table = [unknown; N];
        let mut i = 0;
        while i < N {
            if let Some(policy) = known[i] {
                table[i] = policy;
            }
            i += 1;
        }
        table
    }

    const fn entry<P: Copy, const N: usize>(
        self,
        known: &mut [Option<P>; N],
        base: u32,
        registers: Registers,
        policy: P,
    ) {
        match registers {
            Registers::One(register) => self.set(known, base, register, policy, false),
            Registers::Array(array) => {
                let mut n = 0;
                while let Some(register) = array.at(n) {
                    self.set(known, base, register, policy, false);
                    n += 1;
                }
            }
            Registers::Block(first, last) => {
                let mut register = first;
                while register <= last {
                    self.set(known, base, register, policy, self.rest);
                    register += 4;
                }
            }
        }
    }

    /// Set the policy of one register. With `rest` one that has a policy keeps it.
    const fn set<P: Copy, const N: usize>(
        self,
        known: &mut [Option<P>; N],
        base: u32,
        register: u32,
        policy: P,
        rest: bool,
    ) {
        assert!(register % 4 == 0);
        let index = (register.wrapping_sub(base) / 4) as usize;
        assert!(index < N || self.beyond);
        if index < N {
            assert!(known[index].is_none() || rest);
            if known[index].is_none() {
                known[index] = Some(policy);
            }
        }
    }
}
