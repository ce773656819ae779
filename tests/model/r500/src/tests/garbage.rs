// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Noise: whatever the guest does, the model neither panics nor runs without end.

use super::{Bench, RING, RING_DWORDS, type0, type3};
use lapidary_model::chip::Chip;
use lapidary_registers::r500::mmio;

/// Registers and streams of garbage: nothing may panic, and nothing may run without end.
#[test]
fn garbage_is_borne() {
    let mut random = fastrand::Rng::with_seed(0x2545_f491_4f6c_dd1d);
    let mut random = move || random.u32(..);
    for round in 0..16 {
        let mut b = Bench::running();
        for _ in 0..300 {
            // Mostly well-formed packets with bad contents; sometimes nothing but noise.
            let words: Vec<u32> = match random() % 4 {
                0 => (0..random() % 8 + 1).map(|_| random()).collect(),
                1 => {
                    let body: Vec<u32> = (0..random() % 20 + 1).map(|_| random()).collect();
                    type0(random() & 0x7ffc, &body)
                }
                2 => {
                    let packets = lapidary_registers::r500::PACKETS;
                    let opcode = packets[random() as usize % packets.len()].opcode;
                    let body: Vec<u32> = (0..random() % 20 + 1).map(|_| random()).collect();
                    type3(opcode, &body)
                }
                _ => vec![2 << 30],
            };
            for w in words {
                b.put(RING + b.wptr * 4, &[w]);
                b.wptr = (b.wptr + 1) % RING_DWORDS;
            }
            b.write(mmio::CP_RB_WPTR, b.wptr);
            let offset = random() & 0xfffc;
            if round % 2 == 0 {
                b.write(offset, random());
            }
            b.read(random() & 0xfffc);
            for _ in 0..50 {
                b.chip.step(&mut b.m);
            }
        }
        b.m.judge.take();
    }
}
