// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What one client leaves in the chip's own memories and counters, and the kernel removes: executed on the model, which has
//! its own idea of their sizes.

use lapidary::portable::sink::{Full, SliceSink};
use lapidary_model_r500::bench::Bench;
use r500::portable::checker::Chip;
use r500::portable::emit::{restart_counters, RESTART_COUNTERS_DWORDS};
use r500::portable::onchip::{clear, Memory, MOST_DWORDS};
use r500::portable::pm4::{operation, write};
use r500::portable::regs::{mmio, pm4::op};

const SECRET: u32 = 0x5ec2_e703;

/// Chips with their pixel and Z pipes.
const CHIPS: [(Chip, &str, u32, u32); 4] = [
    (Chip::Rv515, "rv515", 1, 1),
    (Chip::Rv530, "rv530", 1, 2),
    (Chip::Rv570, "rv570", 3, 3),
    (Chip::R580, "r580", 4, 4),
];

const MEMORIES: [(Memory, &str, u8); 3] = [
    (Memory::HiZ, "hiz", op::_3D_CLEAR_HIZ),
    (Memory::ZMask, "zmask", op::_3D_CLEAR_ZMASK),
    (Memory::CMask, "cmask", op::_3D_CLEAR_CMASK),
];

fn commands(length: usize, emit: impl Fn(&mut SliceSink<'_>) -> Result<(), Full>) -> Vec<u32> {
    let mut words = vec![0; length];
    let mut sink = SliceSink::new(&mut words);
    emit(&mut sink).expect("there is room");
    let written = sink.written();
    words.truncate(written);
    let short = emit(&mut SliceSink::new(&mut vec![0; written - 1]));
    assert_eq!(short, Err(Full));
    words
}

#[test]
fn a_clear_leaves_nothing_and_fits() {
    for (chip, name, pixel, z) in CHIPS {
        let mut bench = Bench::new(name, 1 << 20).unwrap();
        for (memory, content, opcode) in MEMORIES {
            let size = memory.dwords(chip, pixel, z);
            // As much as a client can fill, piece by piece.
            for start in (0..size).step_by(1024) {
                let words = [operation(opcode, 3), start, 1024.min(size - start), SECRET];
                assert!(bench.execute(&words));
            }
            let held = |bench: &Bench| {
                let words = bench.on_chip(content).expect("the model has it").iter();
                words.filter(|&&word| word != 0).count()
            };
            assert_eq!(held(&bench), size as usize, "{name} {content}");
            let words = commands(MOST_DWORDS, |out| clear(out, memory, size));
            assert!(bench.execute(&words));
            assert_eq!(held(&bench), 0, "{name} {content}");
        }
        assert_eq!(bench.findings(), [], "{name}");
    }
}

#[test]
fn counters_of_pixels_begin_anew_in_all_pipes() {
    const AT: u32 = Bench::GTT + 0x100;
    for (_, name, pixel, z) in CHIPS {
        let mut bench = Bench::new(name, 1 << 20).unwrap();
        let select = match pixel == z {
            true => mmio::SU_REG_DEST,
            false => mmio::FG_ZBREG_DEST,
        };
        let on = |pipe: u32, register, value| {
            [
                [write(select, 1), 1 << pipe],
                [write(register, 1), value],
                [write(select, 1), 0xf],
            ]
            .concat()
        };
        for pipe in 0..z {
            assert!(bench.execute(&on(pipe, mmio::ZB_ZPASS_DATA, SECRET + pipe)));
        }
        let words = commands(RESTART_COUNTERS_DWORDS, |out| restart_counters(out));
        assert!(bench.execute(&words));
        for pipe in 0..z {
            let address = AT + 4 * pipe;
            bench.put(address, &[0xff; 4]);
            assert!(bench.execute(&on(pipe, mmio::ZB_ZPASS_ADDR, address)));
            let mut seen = [0xee; 4];
            bench.get(address, &mut seen);
            assert_eq!(seen, [0; 4], "{name}: pipe {pipe}");
        }
        assert_eq!(bench.findings(), [], "{name}");
    }
}
