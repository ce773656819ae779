// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The machine for command tables: each operation on small programs written out in bytes, each way to be stopped, and
//! bytes of any kind.

use std::collections::BTreeMap;

use lapidary::portable::atom::{
    post, run, Card, Error, Stopped, Why, MEMORY, MOST_STEPS, MOST_WAIT_US,
};
use proptest::prelude::*;

/// Registers that remember, and a list of what was done to them.
#[derive(Default)]
struct Recorder {
    registers: BTreeMap<u32, u32>,
    pll: BTreeMap<u8, u32>,
    mc: BTreeMap<u8, u32>,
    log: Vec<String>,
    accesses: u64,
    waited: u64,
}

impl Recorder {
    fn note(&mut self, line: impl FnOnce() -> String) {
        self.accesses += 1;
        if self.log.len() < 64 {
            self.log.push(line());
        }
    }
}

impl Card for Recorder {
    fn read(&mut self, offset: u32) -> Option<u32> {
        self.note(|| format!("read {offset:#x}"));
        (offset < 0x1_0000).then(|| self.registers.get(&offset).copied().unwrap_or(0))
    }

    fn write(&mut self, offset: u32, value: u32) -> Option<()> {
        self.note(|| format!("write {offset:#x} {value:#x}"));
        (offset < 0x1_0000).then(|| {
            self.registers.insert(offset, value);
        })
    }

    fn write_for_port(&mut self, offset: u32, value: u32) -> Option<()> {
        self.note(|| "port".into());
        self.write(offset, value)
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.note(|| format!("pll {index:#x}"));
        self.pll.get(&index).copied().unwrap_or(0)
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        self.note(|| format!("pll {index:#x} {value:#x}"));
        self.pll.insert(index, value);
    }

    fn read_mc(&mut self, index: u8) -> u32 {
        self.note(|| format!("mc {index:#x}"));
        self.mc.get(&index).copied().unwrap_or(0)
    }

    fn write_mc(&mut self, index: u8, value: u32) {
        self.note(|| format!("mc {index:#x} {value:#x}"));
        self.mc.insert(index, value);
    }

    fn wait(&mut self, micros: u32) {
        self.waited += u64::from(micros);
    }
}

const HEADER: usize = 0x80;
const COMMANDS: usize = 0x100;
const DATAS: usize = 0x300;
const FIRST: usize = 0x500;

fn put16(image: &mut [u8], at: usize, value: usize) {
    image[at..at + 2].copy_from_slice(&u16::try_from(value).unwrap().to_le_bytes());
}

/// Return an image with these command tables (number, bytes of parameters, code) and data tables (number, contents).
fn image(commands: &[(u8, u8, &[u8])], datas: &[(u8, &[u8])]) -> Vec<u8> {
    let mut image = vec![0; FIRST];
    image[..2].copy_from_slice(&[0x55, 0xaa]);
    put16(&mut image, 0x18, 0x60);
    image[0x30..0x3a].copy_from_slice(b" 761295520");
    put16(&mut image, 0x48, HEADER);
    image[HEADER + 4..HEADER + 8].copy_from_slice(b"ATOM");
    put16(&mut image, HEADER + 0x1e, COMMANDS);
    put16(&mut image, HEADER + 0x20, DATAS);
    for (number, parameters, code) in commands {
        let at = image.len();
        put16(&mut image, COMMANDS + 4 + 2 * usize::from(*number), at);
        image.extend([0, 0, 1, 1, 0, *parameters]);
        image.extend_from_slice(code);
    }
    for (number, bytes) in datas {
        let at = image.len();
        put16(&mut image, DATAS + 4 + 2 * usize::from(*number), at);
        image.extend([0, 0, 1, 1]);
        image.extend_from_slice(bytes);
    }
    image
}

/// Run table 0 of an image.
fn execute(image: &[u8], card: &mut Recorder) -> Result<Vec<u32>, Stopped> {
    let mut memory = vec![0xdead_beef; MEMORY];
    run(image, 0, &[10, 20, 30], &mut memory, card)?;
    memory.truncate(8);
    Ok(memory)
}

/// Run one table of this code; its parameters at the end.
fn code(code: &[u8]) -> (Result<Vec<u32>, Stopped>, Recorder) {
    let mut card = Recorder::default();
    card.registers.insert(0x100, 0x4433_2211);
    let result = execute(&image(&[(0, 8, code)], &[]), &mut card);
    (result, card)
}

/// Run a program that comes to its end, as [`code`] does.
fn done(bytes: &[u8]) -> (Vec<u32>, Recorder) {
    let (result, card) = code(bytes);
    (result.expect("it comes to its end"), card)
}

const END: u8 = 91;
/// Attributes: an immediate source of 32, 16 and 8 bits.
const LONG: u8 = 5;
const WORD: u8 = 5 | (1 << 3);
const BYTE: u8 = 5 | (4 << 3);

#[test]
fn results_of_the_operations() {
    // Number of the operation on a parameter, the word that it begins with, an immediate source, what becomes of it.
    for (operation, old, source, new) in [
        (2, 0xffff_ffff, 0x1234_5678, 0x1234_5678u32), // move
        (8, 0xff00_ff00, 0x1234_5678, 0x1200_5600),    // and
        (14, 0xff00_0000, 0x0034_5678, 0xff34_5678),   // or
        (104, 0xffff_0000, 0x1234_5678, 0xedcb_5678),  // xor
        (44, 0xffff_ffff, 2, 1),                       // add
        (50, 1, 2, 0xffff_ffff),                       // subtract
        (110, 0x8000_0001, 4, 0x10),                   // shift word left
        (110, 0x8000_0001, 32, 0),
        (110, 0x8000_0001, 0x104, 0x10), // eight bits of the number count
        (116, 0x8000_0001, 4, 0x0800_0000), // shift word right
        (116, 0x8000_0001, 200, 0),
    ] {
        let mut bytes = vec![2, LONG, 0];
        bytes.extend(u32::to_le_bytes(old));
        bytes.extend([operation, LONG, 0]);
        bytes.extend(u32::to_le_bytes(source));
        bytes.push(END);
        assert_eq!(done(&bytes).0[0], new, "operation {operation}");
    }
}

#[test]
fn operations_without_a_source() {
    // clear: whole, its upper half
    assert_eq!(done(&[85, 0, 0, END]).0[0], 0);
    let part = |operation: &[u8]| {
        let mut bytes = vec![2, LONG, 0, 0x78, 0x56, 0x34, 0x12];
        bytes.extend_from_slice(operation);
        bytes.push(END);
        done(&bytes).0[0]
    };
    assert_eq!(part(&[85, 3 << 3, 0]), 0x0000_5678);
    // mask: keep 0xff00ff00, or 0x1; in byte 1: keep 0x0f, or 0x80
    assert_eq!(
        part(&[93, LONG, 0, 0, 0xff, 0, 0xff, 1, 0, 0, 0]),
        0x1200_5601
    );
    assert_eq!(part(&[93, BYTE | (1 << 6), 0, 0x0f, 0x80]), 0x1234_8678);
    // shift by a number in the program: the whole, and within a part, out of which bits are lost
    assert_eq!(part(&[20, 0, 0, 8]), 0x3456_7800);
    assert_eq!(part(&[26, 0, 0, 8]), 0x0012_3456);
    assert_eq!(part(&[20, 1 << 3, 0, 8]), 0x1234_7800);
    assert_eq!(part(&[26, 3 << 3, 0, 4]), 0x0123_5678);
    assert_eq!(part(&[20, 0, 0, 32]), 0);
    assert_eq!(part(&[26, 0, 0, 255]), 0);
    // A shift of the whole word brings bits of its neighbours into the part: byte 1, by 4 from work word 0.
    let mut shifted = vec![3, BYTE, 0, 4];
    shifted.extend([110, 2 | (4 << 3) | (1 << 6), 0, 0]);
    assert_eq!(part(&shifted), 0x1234_6778);
}

#[test]
fn parts_of_words() {
    // Register 0x40 (byte offset 0x100) holds 0x44332211. Attributes: part of the source, part of the destination.
    let moved = |attribute: u8| {
        let bytes = [
            2, LONG, 0, 0xff, 0xff, 0xff, 0xff, 2, attribute, 0, 0x40, 0, END,
        ];
        done(&bytes).0[0]
    };
    assert_eq!(moved(0), 0x4433_2211);
    assert_eq!(moved(1 << 3), 0xffff_2211);
    assert_eq!(moved((2 << 3) | (1 << 6)), 0xff33_22ff);
    assert_eq!(moved((3 << 3) | (2 << 6)), 0x4433_ffff);
    // There is no fourth place for 16 bits.
    assert_eq!(moved((1 << 3) | (3 << 6)), 0x0000_2211);
    assert_eq!(moved(4 << 3), 0xffff_ff11);
    assert_eq!(moved((5 << 3) | (1 << 6)), 0xffff_22ff);
    assert_eq!(moved((6 << 3) | (2 << 6)), 0xff33_ffff);
    assert_eq!(moved((7 << 3) | (3 << 6)), 0x44ff_ffff);
    // The parts need not be the same.
    assert_eq!(moved(7 << 3), 0xffff_ff44);
}

#[test]
fn a_register_that_is_only_written_is_not_read() {
    let (_, card) = done(&[1, LONG, 0x40, 0, 1, 2, 3, 4, END]);
    assert_eq!(card.log, ["write 0x100 0x4030201"]);
    let (_, card) = done(&[1, BYTE, 0x40, 0, 7, END]);
    assert_eq!(card.log, ["read 0x100", "write 0x100 0x44332207"]);
    // Comparing only reads.
    let (_, card) = done(&[60, BYTE, 0x40, 0, 7, END]);
    assert_eq!(card.log, ["read 0x100"]);
}

#[test]
fn places_of_all_kinds() {
    // To clock register 0x2a and memory controller register 0x11, and from there to parameters.
    let (words, card) = done(&[
        5, LONG, 0x2a, 1, 0, 0, 0, 6, LONG, 0x11, 2, 0, 0, 0, 2, 6, 0, 0x2a, 2, 7, 1, 0x11, END,
    ]);
    assert_eq!(words[..2], [1, 2]);
    assert_eq!(
        card.log,
        ["pll 0x2a 0x1", "mc 0x11 0x2", "pll 0x2a", "mc 0x11"]
    );
    // Scratch memory: word 3 of the window at byte 0x20 is word 11 of the memory, or word 1 of the window at 0x28.
    // Beyond its end it reads as 0.
    let (words, _) = done(&[
        59, WORD, 0x20, 0, 4, LONG, 3, 9, 0, 0, 0, 59, WORD, 0x28, 0, 2, 3, 0, 1, //
        59, LONG, 0xff, 0xff, 0xff, 0xff, 4, LONG, 3, 9, 0, 0, 0, 2, 3, 1, 3, END,
    ]);
    assert_eq!(words[..2], [9, 0]);
    // Register 0 takes byte offsets, and a table gives it the number of a register.
    let (_, card) = done(&[1, LONG, 0, 0, 0x40, 0, 0, 0, END]);
    assert_eq!(card.log, ["write 0x0 0x100"]);
    // A base for registers, also as a work word.
    let (words, card) = done(&[58, 0x30, 0, 2, 0, 0, 0x10, 0, 2, 2, 1, 0x48, END]);
    assert_eq!(words[..2], [0x4433_2211, 0x30]);
    assert_eq!(card.log, ["read 0x100"]);
    // PCI and I/O registers are nowhere.
    let (words, card) = done(&[56, 0, 1, LONG, 1, 0, 1, 1, 1, 1, 2, 0, 0, 1, 0, END]);
    assert_eq!((words[0], card.log), (0, vec![]));
    assert_eq!(done(&[57, 0, 2, 0, 0, 0x40, 0, END]).0[0], 0);
    assert_eq!(
        done(&[57, 0, 55, 0, 0, 2, 0, 0, 0x40, 0, END]).0[0],
        0x4433_2211
    );
}

#[test]
fn data_tables_are_read() {
    let program = [
        102,
        7,
        2,
        4,
        0,
        4,
        0, // parameter 0: the long at 4 of table 7, the first behind its header
        2,
        4 | (2 << 3),
        1,
        4,
        0, // parameter 1, lower half: its middle
        102,
        255,
        2,
        4,
        2,
        6,
        0, // parameter 2: the first bytes of this program
        END,
    ];
    let image = image(&[(0, 12, &program)], &[(7, &[1, 2, 3, 4])]);
    let mut card = Recorder::default();
    let words = execute(&image, &mut card).expect("it comes to its end");
    // Part 2 of the source goes to part 1 of the destination; parameter 1 was 20.
    assert_eq!(words[..3], [0x0403_0201, 0x0302, 0x0402_0766]);
    // A table that is not there is the image's start.
    let program = [102, 8, 2, 4, 0, 0, 0, 2, 2, 1, 0x42, END];
    let image = self::image(&[(0, 8, &program)], &[]);
    let words = execute(&image, &mut card).expect("it comes to its end");
    assert_eq!(words[..2], [0xaa55, 0]);
}

#[test]
fn products_and_quotients() {
    // parameter 0 = 10: times 7 in 0x40; 100 / 7 in 0x40 and 0x41; by 0.
    let (words, _) = done(&[
        32, BYTE, 0, 7, 2, 2, 2, 0x40, 38, BYTE, 1, 7, 2, 2, 3, 0x40, 2, 2, 4, 0x41, //
        38, BYTE, 1, 0, 2, 2, 5, 0x40, 2, 2, 6, 0x41, END,
    ]);
    assert_eq!(words[..7], [10, 20, 70, 2, 6, 0, 0]);
}

#[test]
fn work_words_with_a_meaning() {
    let (words, _) = done(&[
        3, LONG, 0x43, 5, 1, 0, 0, 2, 2, 0, 0x44, 2, 2, 1, 0x45, 2, 2, 2, 0x43, // bit 5
        3, LONG, 0x44, 1, 1, 1, 1, 2, 2, 3, 0x44, // its mask cannot be written
        3, LONG, 0x46, 1, 2, 3, 4, 2, 2, 4, 0x46, // base of scratch memory
        3, LONG, 0x47, 1, 2, 3, 4, 2, 2, 5, 0x47, // attributes
        3, BYTE, 0x43, 40, 2, 2, 6, 0x44, 2, 2, 7, 0x45, // there is no bit 40
        END,
    ]);
    assert_eq!(
        words,
        [0x20, !0x20, 5, 0x20, 0x0403_0201, 0x0201, 0, u32::MAX]
    );
}

#[test]
fn jumps_by_what_a_comparison_said() {
    // Compares parameter 0, which is 10; the jump goes over a move of 1 to parameter 1.
    let taken = |compare: u8, with: u8, jump: u8| {
        let bytes = [compare, BYTE, 0, with, jump, 17, 0, 2, BYTE, 1, 1, END];
        // The jump's target is the table's last byte: six of header and eleven.
        assert_eq!(bytes[11], END);
        done(&bytes).0[1] == 20
    };
    let row = |compare, with| [67, 68, 69, 70, 71, 72, 73].map(|jump| taken(compare, with, jump));
    let (t, f) = (true, false);
    // always, equal, below, above, not above, not below, not equal
    assert_eq!(row(61, 10), [t, t, f, f, t, t, f]);
    assert_eq!(row(61, 11), [t, f, t, f, t, f, t]);
    assert_eq!(row(61, 9), [t, f, f, t, f, t, t]);
    // Testing bits: no common bit is "equal".
    assert_eq!(row(75, 5)[1], t);
    assert_eq!(row(75, 2)[1], f);
}

#[test]
fn a_switch_finds_its_case() {
    // On parameter 0: cases 9 and 10, each of which sets parameter 1; none of them: 3. Places count the six bytes of
    // the table's header.
    let chosen = |value: u8| {
        let mut bytes = vec![2, LONG, 0, value, 0, 0, 0];
        bytes.extend([
            66,
            1 | (4 << 3),
            0,
            0x63,
            9,
            29,
            0,
            0x63,
            10,
            34,
            0,
            0x5a,
            0x5a,
        ]);
        bytes.extend([67, 39, 0]);
        for (place, answer) in [(29, 1), (34, 2), (39, 3)] {
            assert_eq!(bytes.len() + 6, place);
            bytes.extend([2, BYTE, 1, answer, END]);
        }
        done(&bytes).0[1]
    };
    assert_eq!([chosen(9), chosen(10), chosen(11)], [1, 2, 3]);
    let (result, _) = code(&[66, BYTE, 1, 0x64, 0]);
    assert_eq!(why(result), Why::Operation(0x64));
}

#[test]
fn tables_call_tables() {
    // The caller has one parameter; the called table's first is the caller's second. Each has work words of its own.
    let caller = [
        3, BYTE, 0, 5, 2, BYTE, 1, 41, 82, 3, 2, 1, 2, 1, 2, 2, 0, 0, 82, 99, END,
    ];
    let called = [44, BYTE, 0, 1, 2, 2, 1, 0, 3, BYTE, 0, 6, END];
    let image = image(&[(0, 4, &caller), (3, 4, &called)], &[]);
    let mut card = Recorder::default();
    let words = execute(&image, &mut card).expect("it comes to its end");
    // A table that is not there (99) is passed over.
    assert_eq!(words[..4], [5, 42, 42, 0]);
}

#[test]
fn words_of_ended_tables_are_gone() {
    // Table 3 leaves 7 in its work word 0; table 4, in the same place, finds 0.
    let leaves = [3, BYTE, 0, 7, END];
    let finds = [2, 2, 0, 0, END];
    let image = image(
        &[
            (0, 0, &[82, 3, 82, 4, END]),
            (3, 0, &leaves),
            (4, 0, &finds),
        ],
        &[],
    );
    let words = execute(&image, &mut Recorder::default()).expect("it comes to its end");
    assert_eq!(words[0], 0);
}

/// The way through an index register at 0x70 and a data register at 0x74, as programs of port 2.
const PORTS: &[u8] = &[
    // read: bits 7:0 from the index, bits 22:16 set, from the attributes bit 4 to bit 8
    1, 2, 4, 32, 0, 6, 8, 0, 0, 5, 7, 16, 7, 1, 4, 8, 3, 28, 0, 2, 29, 0, 0, 9, 0, 0, //
    // write: the same without attributes, then the data
    1, 0x82, 4, 32, 0, 6, 8, 0, 0, 5, 8, 16, 3, 28, 0, 8, 32, 0, 0, 3, 29, 0, 9, 0, 0, //
    0,
];

#[test]
fn ports_lead_to_other_registers() {
    let program = [
        3, BYTE, 0x47, 0x10, // attributes
        55, 2, 0, 1, LONG, 0x15, 0, 1, 2, 3, 4, 2, 0, 0, 0x15, 0, 55, 0, 0, 2, 0, 1, 0x40, 0, END,
    ];
    let image = image(&[(0, 8, &program)], &[(23, PORTS)]);
    let mut card = Recorder::default();
    let words = execute(&image, &mut card).expect("it comes to its end");
    assert_eq!(
        card.log,
        [
            "port",
            "write 0x70 0xff0015",
            "port",
            "write 0x74 0x4030201",
            "port",
            "write 0x70 0x7f0115",
            "read 0x74",
            "read 0x100"
        ]
    );
    assert_eq!(words[..2], [0x0403_0201, 0]);
}

#[test]
fn a_damaged_list_of_ports_ends_before_the_damage() {
    let second = |bytes: &[u8]| {
        let mut list = PORTS[..PORTS.len() - 1].to_vec();
        list.extend_from_slice(bytes);
        let write = [
            55, 2, 0, 1, LONG, 1, 0, 1, 0, 0, 0, 55, 3, 0, 2, 0, 0, 1, 0, END,
        ];
        let mut card = Recorder::default();
        let result = execute(&image(&[(0, 0, &write)], &[(23, &list)]), &mut card);
        assert_eq!(card.registers[&0x74], 1);
        result.map(|words| words[0])
    };
    // A program of one step, and one of an unknown step; then the list's end, or the image's.
    assert_eq!(second(&[1, 3, 2, 0x40, 0, 9, 0, 0, 0]), Ok(0));
    assert_eq!(
        second(&[1, 3, 10, 0, 9, 0, 0, 0]).unwrap_err().why,
        Why::Port(3)
    );
    assert_eq!(second(&[1, 3, 2]).unwrap_err().why, Why::Port(3));
}

/// A port's program is part of the program: one of many steps uses up the same budget.
#[test]
fn steps_of_ports_count() {
    let mut list = vec![1, 0x82];
    list.extend([0; 999]);
    list.extend([3, 28, 0, 9, 0, 0, 0]);
    // Writes through the port for ever.
    let program = [55, 2, 0, 1, LONG, 1, 0, 1, 0, 0, 0, 67, 9, 0];
    let image = image(&[(0, 0, &program)], &[(23, &list)]);
    let mut card = Recorder::default();
    assert_eq!(why(execute(&image, &mut card)), Why::TooLong);
    let writes = u64::from(MOST_STEPS) / 1000;
    assert!(
        (1..=2 * writes).contains(&card.accesses),
        "{}",
        card.accesses
    );
}

#[test]
fn waits_are_in_their_units() {
    let (_, card) = done(&[80, 3, 81, 7, 90, 99, 98, 1, END]);
    assert_eq!(card.waited, 3_007);
}

/// Return an image that says which clocks it sets.
fn with_clocks(commands: &[(u8, u8, &[u8])]) -> Vec<u8> {
    let mut info = [0; 0x55 - 4];
    info[4..8].copy_from_slice(&45_000u32.to_le_bytes());
    info[8..12].copy_from_slice(&25_000u32.to_le_bytes());
    info[0x4e..0x50].copy_from_slice(&2_700u16.to_le_bytes());
    let mut image = image(commands, &[(4, &info)]);
    let table = usize::from(u16::from_le_bytes([image[DATAS + 12], image[DATAS + 13]]));
    put16(&mut image, table, 0x55);
    image
}

/// Posting runs two tables, which share its time and its steps.
#[test]
fn both_tables_of_posting_have_one_budget() {
    // Each waits 24 times 255 ms, or writes a register for ever; the fan's table may fail.
    let waits: Vec<u8> = [80, 255].repeat(24).into_iter().chain([END]).collect();
    let mut card = Recorder::default();
    let image = with_clocks(&[(0, 8, &waits), (57, 0, &waits)]);
    assert_eq!(post(&image, &mut [0; MEMORY], &mut card), Ok(()));
    assert!(card.waited > 6_120_000, "the second table has run");
    assert!(card.waited <= MOST_WAIT_US.into(), "{}", card.waited);

    // 30000 rounds of four steps, of which one is a write; two steps a write are left for the second table.
    let mut most: Vec<u8> = vec![3, LONG, 0, 0x60, 0xea, 0, 0]; // work word 0 = 60000
    most.extend([1, LONG, 0x40, 0, 1, 2, 3, 4]); // at byte 13
    most.extend([51, LONG, 0, 2, 0, 0, 0, 62, LONG, 0, 0, 0, 0, 0]); // less 2, against 0
    most.extend([73, 13, 0, END]);
    let writes = [1, LONG, 0x40, 0, 1, 2, 3, 4, 67, 6, 0];
    let mut card = Recorder::default();
    let image = with_clocks(&[(0, 8, &most), (57, 0, &writes)]);
    assert_eq!(post(&image, &mut [0; MEMORY], &mut card), Ok(()));
    let left = u64::from(MOST_STEPS) - 120_000;
    let accesses = 30_000 + left / 2;
    assert!(
        (accesses - 2..=accesses).contains(&card.accesses),
        "{}",
        card.accesses
    );
}

fn why(result: Result<Vec<u32>, Stopped>) -> Why {
    result.expect_err("it is stopped").why
}

#[test]
fn each_way_to_be_stopped_has_its_name() {
    let stopped = |bytes: &[u8]| why(code(bytes).0);
    assert_eq!(stopped(&[67, 6, 0]), Why::TooLong);
    assert_eq!(stopped(&[80, 255, 67, 6, 0]), Why::TooSlow);
    assert_eq!(stopped(&[82, 0]), Why::TooDeep);
    assert_eq!(stopped(&[67, 0xff, 0xff]), Why::Image(Error::OutOfImage));
    assert_eq!(stopped(&[1, LONG, 0x40]), Why::Image(Error::OutOfImage));
    for operation in [0, 83, 100, 101, 121, 122, 255] {
        assert_eq!(stopped(&[operation]), Why::Operation(operation));
    }
    assert_eq!(stopped(&[2, 2, 0, 0x49, END]), Why::Work(0x49));
    assert_eq!(stopped(&[3, BYTE, 0xff, 1, END]), Why::Work(0xff));
    assert_eq!(stopped(&[55, 0x80, 0]), Why::Port(0x80));
    assert_eq!(stopped(&[55, 0, 1]), Why::Port(0x100));
    assert_eq!(stopped(&[55, 4, 0, 2, 0, 0, 1, 0, END]), Why::Port(4));
    assert_eq!(stopped(&[2, 0, 0, 0, 0x40, END]), Why::Register(0x1_0000));
    assert_eq!(
        stopped(&[1, LONG, 0, 0x40, 1, 0, 0, 0, END]),
        Why::Register(0x1_0000)
    );
    // Parameters of tables that call each other add up to more than there are.
    let calls = [44, BYTE, 255, 1, 82, 0];
    let deep = image(&[(0, 0x7f, &calls)], &[]);
    assert_eq!(
        why(execute(&deep, &mut Recorder::default())),
        Why::Parameter(255)
    );
    let no_table = run(
        &image(&[], &[]),
        0,
        &[],
        &mut [0; MEMORY],
        &mut Recorder::default(),
    );
    assert_eq!(no_table.map_err(|stopped| stopped.why), Err(Why::NoTable));
    let no_memory = run(
        &image(&[(0, 0, &[END])], &[]),
        0,
        &[],
        &mut [0; MEMORY - 1],
        &mut Recorder::default(),
    );
    assert_eq!(no_memory.map_err(|stopped| stopped.why), Err(Why::NoMemory));
}

#[test]
fn where_it_stopped_is_told() {
    let image = image(&[(0, 0, &[90, 82, 9, END]), (9, 0, &[90, 90, 83])], &[]);
    let stopped = execute(&image, &mut Recorder::default());
    let want = Stopped {
        table: 9,
        at: 9,
        why: Why::Operation(83),
    };
    assert_eq!(stopped, Err(want));
}

/// Return the bytes that are more often operations than not.
fn program() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![
        4 => 0u8..=123,
        2 => 0u8..8,
        1 => any::<u8>(),
    ];
    prop::collection::vec(byte, 1..200)
}

fn bounded(image: &[u8], table: u8) -> Result<(), TestCaseError> {
    let mut card = Recorder::default();
    let mut memory = vec![0; MEMORY];
    // That it comes back is the test; and how much it did.
    let _ = run(image, table, &[1, 2], &mut memory, &mut card);
    // One step accesses at most a source and, reading and writing, a destination.
    prop_assert!(card.accesses <= 4 * u64::from(MOST_STEPS));
    prop_assert!(card.waited <= u64::from(MOST_WAIT_US));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Any program ends in bounded time, without a panic.
    #[test]
    fn any_program_ends(first in program(), second in program(), ports in program(), own in 0u8..=255) {
        let mut list = PORTS.to_vec();
        list.pop();
        list.extend(ports);
        bounded(&image(&[(0, own, &first), (1, own / 2, &second)], &[(23, &list), (5, &first)]), 0)?;
    }

    /// So does any image.
    #[test]
    fn any_image_ends(
        bytes in prop::collection::vec(any::<u8>(), 0..600),
        changes in prop::collection::vec((0usize..FIRST, any::<u8>()), 0..6),
        table in 0u8..4,
    ) {
        let mut image = image(&[(0, 8, &bytes), (1, 8, &bytes)], &[(23, &bytes)]);
        for (at, byte) in changes {
            image[at] = byte;
        }
        bounded(&image, table)?;
    }
}
