// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The guard before the video BIOS, with rules of a family that does not exist.

use lapidary::portable::{
    atom::{
        guard::{BackPair, Dropped, Guard, Pair, Row, Rules, Space, Spaces, Values},
        Card,
    },
    bits::{
        Field, RegArray,
        Registers::{Array, Block, One},
    },
};
use proptest::prelude::*;

/// The pair that leads back to the window.
const BACK: (u32, u32) = (0x10, 0x18);
/// An index register with two data registers, for the links and the sensors.
const LINKS: (u32, u32) = (0x20, 0x24);
const SENSORS: (u32, u32) = (0x20, 0x28);
/// The pair of the clocks, by which an operand also goes.
const CLOCKS: (u32, u32) = (0x40, 0x44);

const fn pair(registers: (u32, u32), number: Field) -> Pair {
    Pair {
        index: registers.0,
        data: registers.1,
        number,
    }
}

const WINDOW_ROWS: &[Row] = &[
    // The first row that has a register decides.
    (One(0x104), Values::ZERO),
    (Block(0x100, 0x10c), Values::Any),
    (Array(RegArray::new(0x200, 3, 8)), Values::Without(0xf0)),
    (
        One(0x300),
        Values::Above(Field::new(7, 0), Field::new(15, 8)),
    ),
    (One(0x304), Values::With(0x11)),
    // Over all pairs: a row for a register of a pair has no effect.
    (Block(0x00, 0x4c), Values::Any),
];

const CLOCK_SPACE: Space = Space {
    name: "clock",
    rows: &[(Block(8, 15), Values::Any)],
    pair: Some(pair(CLOCKS, Field::new(7, 0))),
};

static RULES: Rules = Rules {
    window: WINDOW_ROWS,
    back: BackPair {
        pair: pair(BACK, Field::new(23, 0)),
        memory: Field::new(31, 30),
    },
    spaces: Spaces::new(&[
        Space {
            name: "link",
            rows: &[(Block(1, 4), Values::Any)],
            pair: Some(pair(LINKS, Field::new(11, 4))),
        },
        Space {
            name: "sensor",
            rows: &[(Block(3, 9), Values::Any)],
            pair: Some(pair(SENSORS, Field::new(3, 0))),
        },
        CLOCK_SPACE,
    ]),
    clocks: CLOCK_SPACE,
    memory_controller: Space {
        name: "controller",
        rows: &[(One(2), Values::Without(1))],
        pair: None,
    },
};

/// A chip that follows its index registers and remembers where writes arrived.
#[derive(Default)]
struct Chip {
    back: u32,
    shared: u32,
    clock: u32,
    /// Space, number and value.
    arrived: Vec<(&'static str, u32, u32)>,
    ports: usize,
    waited: u32,
}

impl Chip {
    fn arrive(&mut self, offset: u32, value: u32) {
        let at = match offset {
            0x10 => return self.back = value,
            0x20 => return self.shared = value,
            0x40 => return self.clock = value,
            0x18 if self.back >> 30 != 0 => ("memory", self.back),
            0x18 => {
                let behind = self.back & 0xff_fffc;
                // The chip would go round in circles.
                assert_ne!(behind, 0x18);
                return self.arrive(behind, value);
            }
            0x24 => ("link", (self.shared >> 4) & 0xff),
            0x28 => ("sensor", self.shared & 0xf),
            0x44 => ("clock", self.clock & 0xff),
            _ => ("register", offset),
        };
        self.arrived.push((at.0, at.1, value));
    }
}

impl Card for Chip {
    fn read(&mut self, offset: u32) -> Option<u32> {
        Some(offset + 1)
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.arrive(offset, value);
        (offset != 0x10c).then_some(())
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.ports += 1;
        self.write(offset, value)
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.clock = index.into();
        2
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        self.clock = index.into();
        self.arrived.push(("clock", index.into(), value));
    }

    fn read_mc(&mut self, _index: u8) -> u32 {
        3
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        self.arrived.push(("controller", index.into(), value));
    }

    fn wait(&mut self, micros: u32) {
        self.waited += micros;
    }
}

/// Return what arrives and what is dropped of the writes of `program`.
fn run(program: impl FnOnce(&mut Guard<'_>)) -> (Vec<(&'static str, u32, u32)>, Option<Dropped>) {
    let mut chip = Chip::default();
    let mut guard = Guard::new(&mut chip, &RULES);
    program(&mut guard);
    let dropped = guard.dropped();
    (chip.arrived, dropped)
}

fn one(name: &'static str, number: u32) -> Option<Dropped> {
    Some(Dropped {
        count: 1,
        name,
        number,
    })
}

/// Write a register of the window alone, and return whether the write arrives.
fn written(offset: u32, value: u32) -> bool {
    let (arrived, dropped) = run(|guard| assert_eq!(guard.write(offset, value), Some(())));
    if dropped.is_none() {
        assert_eq!(arrived, [("register", offset, value)]);
    } else {
        assert_eq!((arrived, dropped), (vec![], one("register", offset)));
    }
    dropped.is_none()
}

#[test]
fn rows_say_what_is_written() {
    assert!(written(0x100, !0));
    // The first row decides.
    assert!(written(0x104, 0));
    assert!(!written(0x104, 4));
    assert!(written(0x208, 0xff0f));
    assert!(!written(0x208, 0x10));
    // Between the registers of the array, and behind it.
    assert!(!written(0x204, 0));
    assert!(!written(0x218, 0));
    // The first field must be above the second.
    assert!(written(0x300, 0x0102));
    assert!(!written(0x300, 0x0101));
    assert!(!written(0x300, 0x0201));
    // Both bits must be set, whatever the others are.
    assert!(written(0x304, 0x11));
    assert!(written(0x304, !0));
    assert!(!written(0x304, !0x10));
    assert!(!written(0x304, 0));
    // In no row.
    assert!(!written(0x400, 0));
}

#[test]
fn each_data_register_leads_to_its_own_space() {
    let (arrived, dropped) = run(|guard| {
        guard.write(LINKS.0, 0x0037);
        guard.write(LINKS.1, 5);
        guard.write(SENSORS.1, 6);
        guard.write(CLOCKS.0, 0xff09);
        guard.write(CLOCKS.1, 7);
    });
    assert_eq!(dropped, None);
    assert_eq!(arrived, [("link", 3, 5), ("sensor", 7, 6), ("clock", 9, 7)]);

    let (arrived, dropped) = run(|guard| {
        guard.write(LINKS.0, 0x0057);
        guard.write(LINKS.1, 5);
    });
    assert_eq!((arrived, dropped), (vec![], one("link", 5)));
}

/// Rows for the registers of pairs would let everything through.
#[test]
fn a_row_does_not_open_a_pair() {
    for (index, data) in [BACK, LINKS, SENSORS, CLOCKS] {
        let (arrived, dropped) = run(|guard| {
            guard.write(data, 0);
        });
        assert_eq!((arrived, dropped), (vec![], one("register", data)));
        let (arrived, _) = run(|guard| {
            guard.write(index, 0x0fff);
            guard.write(data, 0);
        });
        assert_eq!(arrived, []);
    }
}

#[test]
fn the_way_back_leads_to_the_window_memory_and_other_pairs() {
    let (arrived, dropped) = run(|guard| {
        for (index, value) in [(0x103, 1), ((1 << 30) | 0x104, 2), (0x20, 0x10), (0x24, 3)] {
            guard.write(BACK.0, index);
            guard.write(BACK.1, value);
        }
    });
    assert_eq!(dropped, None);
    let memory = (1 << 30) | 0x104;
    assert_eq!(
        arrived,
        [
            ("register", 0x100, 1),
            ("memory", memory, 2),
            ("link", 1, 3)
        ]
    );
    for behind in [BACK.0, BACK.1, 0x400] {
        let (arrived, dropped) = run(|guard| {
            guard.write(BACK.0, behind);
            guard.write(BACK.1, 0);
        });
        assert_eq!((arrived, dropped), (vec![], one("register", behind)));
    }
}

/// Clocks and the memory controller, as operands of their own kind.
#[test]
fn operands_are_judged_by_their_space() {
    let (arrived, dropped) = run(|guard| {
        guard.write_pll(8, 1);
        guard.write_mc(2, 2);
    });
    assert_eq!(dropped, None);
    assert_eq!(arrived, [("clock", 8, 1), ("controller", 2, 2)]);
    let (arrived, dropped) = run(|guard| guard.write_pll(7, 1));
    assert_eq!((arrived, dropped), (vec![], one("clock", 7)));
    for (index, value) in [(2, 3), (3, 2)] {
        let (arrived, dropped) = run(|guard| guard.write_mc(index, value));
        assert_eq!(
            (arrived, dropped),
            (vec![], one("controller", index.into()))
        );
    }
}

/// The card's own way to a clock changes the index register of the clocks' pair.
#[test]
fn an_operand_forgets_the_index_of_its_pair_only() {
    for between in [
        |guard: &mut Guard<'_>| assert_eq!(guard.read_pll(8), 2),
        |guard: &mut Guard<'_>| guard.write_pll(8, 0),
        // It is dropped.
        |guard: &mut Guard<'_>| guard.write_pll(7, 0),
    ] {
        let (arrived, dropped) = run(|guard| {
            guard.write(CLOCKS.0, 9);
            guard.write(LINKS.0, 0x10);
            between(guard);
            guard.write(CLOCKS.1, 0);
            guard.write(LINKS.1, 4);
        });
        assert!(arrived.ends_with(&[("link", 1, 4)]));
        assert!(!arrived.contains(&("clock", 9, 0)));
        assert!(dropped.is_some());
    }
    // The memory controller has no pair.
    let (arrived, _) = run(|guard| {
        guard.write(CLOCKS.0, 9);
        assert_eq!(guard.read_mc(2), 3);
        guard.write_mc(2, 0);
        guard.write(CLOCKS.1, 1);
    });
    assert_eq!(arrived, [("controller", 2, 0), ("clock", 9, 1)]);
}

#[test]
fn the_rest_is_the_cards() {
    let mut chip = Chip::default();
    let mut guard = Guard::new(&mut chip, &RULES);
    assert_eq!(guard.read(0x400), Some(0x401));
    guard.wait(7);
    assert_eq!(guard.write_for_port(0x100, 1), Some(()));
    // A register that the card does not have stops the program; one that is dropped does not.
    assert_eq!(guard.write(0x10c, 1), None);
    assert_eq!(guard.write(0x400, 1), Some(()));
    assert_eq!((chip.waited, chip.ports), (7, 1));
}

/// Return what the rules say, in other words.
fn may(space: &str, number: u32, value: u32) -> bool {
    match (space, number) {
        ("memory", _) => true,
        ("link", 1..=4) | ("sensor", 3..=9) | ("clock", 8..=15) => true,
        ("controller", 2) => value & 1 == 0,
        ("register", 0x104) => value == 0,
        ("register", 0x100..=0x10c) => true,
        ("register", 0x200 | 0x208 | 0x210) => value & 0xf0 == 0,
        ("register", 0x300) => value & 0xff > (value >> 8) & 0xff,
        ("register", 0x304) => value & 0x11 == 0x11,
        ("register", 0..=0x4c) => ![0x10, 0x18, 0x20, 0x24, 0x28, 0x40, 0x44].contains(&number),
        _ => false,
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Write(u32, u32),
    Port(u32, u32),
    ReadClock(u8),
    Clock(u8, u32),
    Controller(u8, u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let offset = prop_oneof![
        4 => prop::sample::select(vec![0x10, 0x18, 0x20, 0x24, 0x28, 0x40, 0x44]),
        1 => (0u32..0x110).prop_map(|word| word * 4),
    ];
    let value = prop_oneof![
        prop::sample::select(vec![0x10, 0x18, 0x20, 0x24, 0x28, 0x40, 0x44]),
        0u32..0x440,
        (0u32..0x110).prop_map(|word| (1 << 30) | word),
        any::<u32>(),
    ];
    let step = (0..8, offset, value, 0u8..20).prop_map(|(kind, offset, value, index)| match kind {
        0 => Step::ReadClock(index),
        1 => Step::Clock(index, value),
        2 => Step::Controller(index, value),
        3 => Step::Port(offset, value),
        _ => Step::Write(offset, value),
    });
    prop::collection::vec(step, 0..60)
}

proptest! {
    /// Whatever a program writes, by whatever way, what arrives is allowed; and it is dropped or it arrives.
    #[test]
    fn only_what_is_allowed_arrives(steps in steps()) {
        let (mut writes, mut indices) = (0, 0);
        let mut chip = Chip::default();
        let mut guard = Guard::new(&mut chip, &RULES);
        let mut back: Option<u32> = None;
        for step in steps {
            match step {
                Step::Write(offset, value) | Step::Port(offset, value) => {
                    writes += 1;
                    let behind = match (offset, back) {
                        (0x18, Some(word)) if word >> 30 == 0 => word & 0xff_fffc,
                        _ => offset,
                    };
                    let index = offset == 0x10 || [0x20, 0x40].contains(&behind);
                    indices += u32::from(index);
                    if offset == 0x10 {
                        back = Some(value);
                    }
                    match step {
                        Step::Port(..) => guard.write_for_port(offset, value),
                        _ => guard.write(offset, value),
                    };
                }
                Step::ReadClock(index) => {
                    guard.read_pll(index);
                }
                Step::Clock(index, value) => {
                    writes += 1;
                    guard.write_pll(index, value);
                }
                Step::Controller(index, value) => {
                    writes += 1;
                    guard.write_mc(index, value);
                }
            }
        }
        let dropped = guard.dropped().map_or(0, |dropped| dropped.count);
        for &(space, number, value) in &chip.arrived {
            prop_assert!(may(space, number, value), "{space} {number:#x} = {value:#x}");
        }
        prop_assert_eq!(writes, indices + dropped + chip.arrived.len() as u32);
    }
}
