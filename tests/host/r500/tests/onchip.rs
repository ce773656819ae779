// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What one client leaves in the chip's own memories and counters, and the kernel removes: executed on the model, which has
//! its own idea of their sizes.

mod support;

use lapidary::portable::sink::{Full, SliceSink};
use lapidary_model_r500::bench::Bench;
use r500::portable::checker::Chip;
use r500::portable::emit::{forget, FORGET_DWORDS};
use r500::portable::onchip::{clear, Memory, MOST_DWORDS};
use r500::portable::pm4::{operation, write};
use r500::portable::regs::{mmio, mmio::dp_cntl, pm4::op};

use self::support::{fill_control, gui};

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
        let words = commands(FORGET_DWORDS, |out| forget(out));
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

/// Return commands that fill 8 by 8 pixels of 32 bits at an address, with the brush as it is.
fn filled(address: u32, brush: u32) -> Vec<u32> {
    let control = gui::DST_CLIPPING.of(1) | gui::BRUSH_TYPE.put(fill_control(), brush);
    let direction = dp_cntl::DST_X_LEFT_TO_RIGHT.of(1) | dp_cntl::DST_Y_TOP_TO_BOTTOM.of(1);
    [
        [mmio::DST_PITCH_OFFSET, (1 << 22) | (address / 1024)],
        [mmio::SC_TOP_LEFT, 0],
        [mmio::SC_BOTTOM_RIGHT, 0x1fff_1fff],
        [mmio::DP_GUI_MASTER_CNTL, control],
        [mmio::DP_CNTL, direction],
        [mmio::DST_Y_X, 0],
        [mmio::DST_HEIGHT_WIDTH, (8 << 16) | 8],
    ]
    .map(|[register, value]| [write(register, 1), value])
    .concat()
}

#[test]
fn brushes_of_others_are_not_seen() {
    const AT: u32 = Bench::GTT + 0x1000;
    let brushes = [
        gui::brush_type::SOLID_COLOR,
        gui::brush_type::MONO_8X8_FG_BG,
        gui::brush_type::COLOR_8X8,
    ];
    let mut bench = Bench::new("rv515", 1 << 20).unwrap();
    for brush in brushes {
        for forgotten in [false, true] {
            let mut words = vec![write(mmio::DP_BRUSH_BKGD_CLR, 2 + 64)];
            words.extend((0..2 + 64).map(|at| SECRET + at));
            assert!(bench.execute(&words));
            if forgotten {
                assert!(bench.execute(&commands(FORGET_DWORDS, |out| forget(out))));
            }
            assert!(bench.execute(&filled(AT, brush)));
            let mut seen = [0xee; 8 * 4];
            bench.get(AT, &mut seen);
            assert_eq!(seen == [0; 8 * 4], forgotten, "{brush:#x}: {seen:x?}");
        }
    }
    assert_eq!(bench.findings(), []);
}

#[test]
fn colours_of_others_are_forgotten() {
    let colours = [
        mmio::DP_BRUSH_BKGD_CLR,
        mmio::DP_BRUSH_FRGD_CLR,
        mmio::CLR_CMP_CLR_SRC,
        mmio::CLR_CMP_CLR_DST,
        mmio::CLR_CMP_MASK,
        mmio::DP_SRC_FRGD_CLR,
        mmio::DP_SRC_BKGD_CLR,
    ];
    let mut bench = Bench::new("rv515", 1 << 20).unwrap();
    for colour in colours {
        assert!(bench.execute(&[write(colour, 1), SECRET]));
        assert_eq!(bench.read(colour), SECRET, "{colour:#x}");
    }
    assert!(bench.execute(&commands(FORGET_DWORDS, |out| forget(out))));
    for colour in colours {
        assert_eq!(bench.read(colour), 0, "{colour:#x}");
    }
    assert_eq!(bench.findings(), []);
}
