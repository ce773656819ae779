// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Power: what power management, a reset of the function, and being pulled out do to a card.
//!
//! PCI power management promises nothing about a function that comes back from D3hot without the bit No_Soft_Reset,
//! which these cards do not have: configuration space is as after a reset, registers are lost, memory was not
//! refreshed (PCI Power Management 1.2, 5.4). A guest that sleeps in S3 puts its devices into D3hot first; at its
//! wake-up QEMU brings the function back to D0 and resets it, and no firmware posts it then. At the start of a guest
//! there is a reset too, and firmware has posted the card after it. The model tells the two apart by whether the card
//! has been accessed since it came back.
//!
//! | what happens | configuration | registers | VRAM |
//! | --- | --- | --- | --- |
//! | to D3hot | kept | lost | kept |
//! | D3hot to D0 | as at power-on | not posted | scrambled |
//! | a reset right after that | as at power-on | not posted | scrambled |
//! | a reset of a card in use | as at power-on | as `--state` says | scrambled |
//! | pulled out | all ones | all ones | all ones |
//! | put back | as at power-on | as `--state` says | scrambled |
//!
//! Of several functions one carries the power of the chip (`powers` in its table); the others sleep, wake up and are
//! reset by themselves, with nothing lost but their configuration.
//!
//! What mapped VRAM holds after the card was pulled out can still be changed by the CPU, since QEMU keeps its mapping.

use crate::fault;
use crate::kind;
use crate::machine::Machine;
use crate::memory::Vram;
use crate::run::System;

/// What D3hot costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sleep {
    /// Registers and VRAM; the card is not posted afterwards.
    #[default]
    Lost,
    /// The same, but a firmware posts the card at wake-up.
    Posted,
    /// Nothing.
    Kept,
}

impl Sleep {
    /// Return the one of that name, as the control port uses it.
    pub fn by_name(name: &str) -> Option<Sleep> {
        Some(match name {
            "lost" => Sleep::Lost,
            "posted" => Sleep::Posted,
            "kept" => Sleep::Kept,
            _ => return None,
        })
    }
}

/// How the card sleeps, and whether it has been used since it was powered.
#[derive(Default)]
pub struct Power {
    /// What D3hot costs from now on.
    pub sleep: Sleep,
    /// The card has come back from D3hot and has not been accessed since.
    woken: bool,
    /// The CPU has touched the card since its last reset.
    used: bool,
    /// How often VRAM was scrambled.
    scrambles: u64,
}

impl Power {
    /// Record that the CPU touches a register.
    pub fn touched(&mut self) {
        self.used = true;
        self.woken = false;
    }
}

/// Return whether a function answers on its BARs. A CPU that asks one that sleeps is a finding.
pub fn answers(m: &mut Machine, function: usize, what: &str) -> bool {
    if m.faults.armed(fault::DEAD) {
        return false;
    }
    let state = m.functions[function].pci.power_state();
    if state != 0 {
        m.finding(
            kind::POWER_STATE,
            format_args!("{what} in power state D{state}"),
        );
    }
    state == 0
}

/// Write configuration space, which may switch the power off or on.
pub fn config_write(s: &mut System, function: usize, offset: usize, data: &[u8]) {
    if s.machine.faults.armed(fault::DEAD) {
        return;
    }
    let asleep = |s: &System| s.machine.functions[function].pci.power_state() == 3;
    let was = asleep(s);
    s.machine.functions[function].pci.write(offset, data);
    match (was, asleep(s), s.machine.functions[function].powers) {
        (false, true, true) => fall_asleep(s),
        (true, false, true) => wake_up(s, function),
        (true, false, false) => s.machine.functions[function].pci.reset(),
        _ => {}
    }
}

fn fall_asleep(s: &mut System) {
    s.machine.trace.line(format_args!("power: D3hot"));
    s.machine.counters.add("sleeps", 1);
    if s.chip.busy() {
        s.machine.finding(
            kind::POWER_STATE,
            format_args!("put into D3hot while it was working"),
        );
    }
    if s.chip.listens() {
        s.machine.finding(
            kind::POWER_STATE,
            format_args!("put into D3hot while its command streams were on"),
        );
    }
    if s.machine.power.sleep != Sleep::Kept {
        s.chip.lose_power(&mut s.machine);
    }
    if s.machine.faults.take(fault::DEAD_ASLEEP) {
        remove(s);
    }
}

fn wake_up(s: &mut System, function: usize) {
    s.machine.trace.line(format_args!("power: D0"));
    let sleep = s.machine.power.sleep;
    s.machine.power.used = false;
    if sleep == Sleep::Kept {
        return;
    }
    s.machine.functions[function].pci.reset();
    lose(s, sleep == Sleep::Posted);
}

/// Let the power fail and come back. Everything but configuration space is lost.
pub fn lose(s: &mut System, posted: bool) {
    if posted {
        s.chip.reset(&mut s.machine);
    } else {
        s.chip.lose_power(&mut s.machine);
    }
    s.machine.power.woken = !posted;
    scramble(&mut s.machine);
}

/// Reset a function.
pub fn reset(s: &mut System, function: usize) {
    if s.machine.faults.armed(fault::DEAD) {
        return;
    }
    if !s.machine.functions[function].powers {
        s.machine.functions[function].pci.reset();
        return;
    }
    if s.machine.functions[function].pci.power_state() == 3 {
        wake_up(s, function);
    }
    s.machine.functions[function].pci.reset();
    if s.machine.power.woken {
        s.chip.lose_power(&mut s.machine);
        return;
    }
    s.chip.reset(&mut s.machine);
    if std::mem::take(&mut s.machine.power.used) {
        scramble(&mut s.machine);
    }
}

/// Remove the card while it works.
pub fn remove(s: &mut System) {
    s.machine.trace.line(format_args!("power: removed"));
    for function in 0..s.machine.functions.len() {
        s.machine.interrupt(function, false);
    }
    s.machine.faults.arm(fault::DEAD, None);
    fill(&s.machine.vram, |_| u64::MAX);
}

/// Put it back.
pub fn insert(s: &mut System) {
    s.machine.trace.line(format_args!("power: inserted"));
    s.machine.faults.arm(fault::DEAD, Some(0));
    for function in &mut s.machine.functions {
        function.pci.reset();
    }
    s.machine.power.used = false;
    lose(s, true);
}

/// Scramble memory that lacks refresh, with other bytes each time, and the same ones in each run.
pub fn scramble(m: &mut Machine) {
    m.power.scrambles += 1;
    let seed = m.power.scrambles << 40;
    fill(&m.vram, |word| mixed(seed ^ word));
}

/// Apply the finisher of SplitMix64 (Steele, Lea, Flood 2014).
fn mixed(word: u64) -> u64 {
    let x = word.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Fill VRAM with a function of the quadword's number.
fn fill(vram: &Vram, word: impl Fn(u64) -> u64) {
    let mut bytes = vec![0; 1 << 16];
    for at in (0..vram.len()).step_by(bytes.len()) {
        for (i, b) in bytes.chunks_exact_mut(8).enumerate() {
            b.copy_from_slice(&word(at / 8 + i as u64).to_le_bytes());
        }
        let n = (vram.len() - at).min(bytes.len() as u64) as usize;
        vram.write(at, &bytes[..n]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrambled_memory_has_no_pattern_and_is_the_same_in_each_run() {
        let take = |m: &Machine| {
            let mut bytes = vec![0; 1 << 16];
            assert!(m.vram.read(0x1_0000, &mut bytes));
            bytes
        };
        let machine = || Machine::new(Vram::new(0x2_1000).unwrap(), &[]);
        let (mut a, mut b) = (machine(), machine());
        scramble(&mut a);
        scramble(&mut b);
        let first = take(&a);
        assert_eq!(first, take(&b));
        let mut words: Vec<&[u8]> = first.chunks_exact(8).collect();
        words.sort_unstable();
        words.dedup();
        assert_eq!(words.len(), first.len() / 8);
        let mut last = [0; 8];
        assert!(a.vram.read(0x2_0ff8, &mut last) && last != [0; 8]);
        scramble(&mut a);
        assert_ne!(first, take(&a));
    }
}
