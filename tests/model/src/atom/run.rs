// SPDX-License-Identifier: GPL-2.0 OR MIT

//! An interpreter for ATOM command tables: how the modelled firmware posts its card.
//!
//! A real card is posted by the x86 code in its ROM, which runs the command table `ASIC_Init`. The model has no x86,
//! and runs the table itself, out of the very image that a driver sees in the ROM BAR. Upstream's interpreter runs
//! the same bytes if it finds an unposted card, so that neither reading of the byte code stands alone.
//!
//! Everything is bounded: a table that reads outside of its image, uses what does not exist, nests too deep or does not
//! come to an end stops with a message.

use super::code::{CODE, kind, op, work};
use super::port;

/// What a table works on.
pub trait Card {
    /// Read a register of the register aperture, by byte offset.
    fn read(&mut self, offset: u32) -> u32;
    /// Write one.
    fn write(&mut self, offset: u32, value: u32);
    /// Read a clock register, by index.
    fn read_pll(&mut self, index: u8) -> u32;
    /// Write one.
    fn write_pll(&mut self, index: u8, value: u32);
}

/// Operations that one run may take.
const MOST_STEPS: u32 = 100_000;
/// Tables that may be active at once.
const MOST_TABLES: u32 = 8;
/// Parameter words that a run has, for the table and all those it calls.
const PARAMETERS: usize = 64;

/// Which bits of a word an operand means, by the three bits that say so: mask before shifting, and shift.
const PARTS: [(u32, u32); 8] = [
    (0xffff_ffff, 0),
    (0x0000_ffff, 0),
    (0x00ff_ff00, 8),
    (0xffff_0000, 16),
    (0x0000_00ff, 0),
    (0x0000_ff00, 8),
    (0x00ff_0000, 16),
    (0xff00_0000, 24),
];

/// Return the part that a destination means: the source's part says the size, two more bits say which one.
fn destination_part(attribute: u8) -> u8 {
    let which = attribute >> 6;
    match (attribute >> 3) & 7 {
        0 => 0,
        1..=3 => 1 + which.min(2),
        _ => 4 + which,
    }
}

/// Run a command table of an image with these parameters; give them back as the table left them.
///
/// # Errors
/// One line that says what stopped it.
pub fn run(
    image: &[u8],
    table: u8,
    parameters: &[u32],
    card: &mut dyn Card,
) -> Result<Vec<u32>, String> {
    let mut runner = Runner {
        image,
        card,
        parameters: [0; PARAMETERS],
        port: 0,
        quotient: 0,
        remainder: 0,
        equal: false,
        above: false,
        steps: 0,
    };
    let kept = parameters.len().min(PARAMETERS);
    runner.parameters[..kept].copy_from_slice(&parameters[..kept]);
    runner.table(table, 0, 0)?;
    Ok(runner.parameters[..kept].to_vec())
}

struct Runner<'a> {
    image: &'a [u8],
    card: &'a mut dyn Card,
    parameters: [u32; PARAMETERS],
    port: u8,
    quotient: u32,
    remainder: u32,
    equal: bool,
    above: bool,
    steps: u32,
}

/// One table in execution.
struct Frame {
    start: usize,
    at: usize,
    first: usize,
    work: [u32; 64],
}

/// An operand whose place is known.
#[derive(Clone, Copy)]
struct Operand {
    kind: u8,
    index: u16,
}

impl Runner<'_> {
    fn byte(&self, at: usize) -> Result<u8, String> {
        self.image
            .get(at)
            .copied()
            .ok_or_else(|| format!("byte {at:#x} is outside of the image"))
    }

    fn word(&self, at: usize) -> Result<u16, String> {
        Ok(u16::from_le_bytes([self.byte(at)?, self.byte(at + 1)?]))
    }

    fn table(&mut self, number: u8, first: usize, depth: u32) -> Result<(), String> {
        if depth == MOST_TABLES {
            return Err(format!(
                "command table {number} is the {depth}th inside another"
            ));
        }
        let header = usize::from(self.word(0x48)?);
        let list = usize::from(self.word(header + 0x1e)?);
        let start = usize::from(self.word(list + 4 + 2 * usize::from(number))?);
        if start == 0 {
            return Err(format!("no command table {number}"));
        }
        let own = usize::from(self.byte(start + 5)? & 0x7f) / 4;
        let mut frame = Frame {
            start,
            at: start + CODE,
            first,
            work: [0; 64],
        };
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(format!("command table {number} does not end"));
            }
            let operation = self.take(&mut frame)?;
            if operation == op::END {
                return Ok(());
            }
            if operation == op::CALL {
                let called = self.take(&mut frame)?;
                let entry = self.word(list + 4 + 2 * usize::from(called))?;
                if entry != 0 {
                    self.table(called, first + own, depth + 1)?;
                }
                continue;
            }
            self.operation(operation, &mut frame)
                .map_err(|e| format!("command table {number}, before byte {:#x}: {e}", frame.at))?;
        }
    }

    fn take(&self, frame: &mut Frame) -> Result<u8, String> {
        frame.at += 1;
        self.byte(frame.at - 1)
    }

    fn take16(&self, frame: &mut Frame) -> Result<u16, String> {
        frame.at += 2;
        self.word(frame.at - 2)
    }

    fn operation(&mut self, operation: u8, frame: &mut Frame) -> Result<(), String> {
        match operation {
            op::SET_PORT => {
                let port = self.take16(frame)?;
                self.port = u8::try_from(port).map_err(|_| format!("no port {port}"))?;
            }
            op::DELAY_MS | op::DELAY_US => {
                self.take(frame)?;
            }
            op::JUMP..op::TEST => {
                let target = self.take16(frame)?;
                let taken = match operation - op::JUMP {
                    0 => true,
                    1 => self.equal,
                    2 => !self.above && !self.equal,
                    3 => self.above,
                    4 => !self.above,
                    5 => self.above || self.equal,
                    _ => !self.equal,
                };
                if taken {
                    frame.at = frame.start + usize::from(target);
                }
            }
            _ => {
                // Operations with a destination: six numbers each, one per kind of it.
                let bases = [
                    op::MOVE,
                    op::AND,
                    op::OR,
                    op::SHIFT_LEFT,
                    op::SHIFT_RIGHT,
                    op::MUL,
                    op::DIV,
                    op::ADD,
                    op::SUB,
                    op::COMPARE,
                    op::TEST,
                    op::MASK,
                ];
                let base = bases
                    .into_iter()
                    .find(|b| (*b..*b + 6).contains(&operation))
                    .ok_or_else(|| format!("operation {operation} is not known"))?;
                let to = [kind::REGISTER, kind::PARAMETER, kind::WORK, 3, kind::PLL, 7]
                    [usize::from(operation - base)];
                self.arithmetic(base, to, frame)?;
            }
        }
        Ok(())
    }

    fn arithmetic(&mut self, base: u8, to: u8, frame: &mut Frame) -> Result<(), String> {
        let attribute = self.take(frame)?;
        let operand = self.operand(to, frame)?;
        let part = match base {
            // A shift names one part, by the bits for the source.
            op::SHIFT_LEFT | op::SHIFT_RIGHT => (attribute >> 3) & 7,
            _ => destination_part(attribute),
        };
        let (mask, shift) = PARTS[usize::from(part)];
        let whole = if base == op::MOVE && mask == u32::MAX {
            0
        } else {
            self.get(operand, frame)?
        };
        let old = (whole & mask) >> shift;
        let new = match base {
            op::SHIFT_LEFT => old.checked_shl(self.take(frame)?.into()).unwrap_or(0),
            op::SHIFT_RIGHT => old.checked_shr(self.take(frame)?.into()).unwrap_or(0),
            op::MASK => {
                let keep = self.immediate((attribute >> 3) & 7, frame)?;
                old & keep | self.source(attribute, frame)?
            }
            _ => {
                let source = self.source(attribute, frame)?;
                match base {
                    op::MOVE => source,
                    op::AND => old & source,
                    op::OR => old | source,
                    op::ADD => old.wrapping_add(source),
                    op::SUB => old.wrapping_sub(source),
                    op::MUL => {
                        self.quotient = old.wrapping_mul(source);
                        return Ok(());
                    }
                    op::DIV => {
                        self.quotient = old.checked_div(source).unwrap_or(0);
                        self.remainder = old.checked_rem(source).unwrap_or(0);
                        return Ok(());
                    }
                    op::COMPARE => {
                        self.equal = old == source;
                        self.above = old > source;
                        return Ok(());
                    }
                    _ => {
                        self.equal = old & source == 0;
                        self.above = false;
                        return Ok(());
                    }
                }
            }
        };
        self.put(operand, whole & !mask | (new << shift) & mask, frame)
    }

    fn operand(&self, kind: u8, frame: &mut Frame) -> Result<Operand, String> {
        let index = match kind {
            kind::REGISTER => self.take16(frame)?,
            kind::PARAMETER | kind::WORK | kind::PLL => self.take(frame)?.into(),
            _ => return Err(format!("operands of kind {kind} are not known")),
        };
        Ok(Operand { kind, index })
    }

    fn immediate(&self, part: u8, frame: &mut Frame) -> Result<u32, String> {
        Ok(match part {
            0 => {
                let low = self.take16(frame)?;
                u32::from(low) | (u32::from(self.take16(frame)?) << 16)
            }
            1..=3 => self.take16(frame)?.into(),
            _ => self.take(frame)?.into(),
        })
    }

    fn source(&mut self, attribute: u8, frame: &mut Frame) -> Result<u32, String> {
        let part = (attribute >> 3) & 7;
        if attribute & 7 == kind::VALUE {
            return self.immediate(part, frame);
        }
        let operand = self.operand(attribute & 7, frame)?;
        let (mask, shift) = PARTS[usize::from(part)];
        Ok((self.get(operand, frame)? & mask) >> shift)
    }

    fn get(&mut self, operand: Operand, frame: &Frame) -> Result<u32, String> {
        let index = usize::from(operand.index);
        match operand.kind {
            kind::REGISTER if self.port == 0 => Ok(self.card.read(u32::from(operand.index) * 4)),
            kind::REGISTER => self.through_port(self.port, operand.index.into(), 0),
            kind::PLL => Ok(self.card.read_pll(operand.index as u8)),
            kind::PARAMETER => self
                .parameters
                .get(frame.first + index)
                .copied()
                .ok_or_else(|| format!("no parameter word {index}")),
            _ => match operand.index as u8 {
                work::QUOTIENT => Ok(self.quotient),
                work::REMAINDER => Ok(self.remainder),
                _ => frame
                    .work
                    .get(index)
                    .copied()
                    .ok_or_else(|| format!("no work word {index:#x}")),
            },
        }
    }

    fn put(&mut self, operand: Operand, value: u32, frame: &mut Frame) -> Result<(), String> {
        let index = usize::from(operand.index);
        match operand.kind {
            kind::REGISTER if self.port == 0 => {
                self.card.write(u32::from(operand.index) * 4, value);
            }
            kind::REGISTER => {
                self.through_port(self.port | port::WRITES, operand.index.into(), value)?;
            }
            kind::PLL => self.card.write_pll(operand.index as u8, value),
            kind::PARAMETER => {
                *self
                    .parameters
                    .get_mut(frame.first + index)
                    .ok_or_else(|| format!("no parameter word {index}"))? = value;
            }
            _ => match operand.index as u8 {
                work::QUOTIENT => self.quotient = value,
                work::REMAINDER => self.remainder = value,
                _ => {
                    *frame
                        .work
                        .get_mut(index)
                        .ok_or_else(|| format!("no work word {index:#x}"))? = value;
                }
            },
        }
        Ok(())
    }

    /// Run a port's program; the word at its end.
    fn through_port(&mut self, number: u8, index: u32, data: u32) -> Result<u32, String> {
        let mut at = self.port_program(number)?;
        let mut word = 0;
        let bits = |size: u8| {
            u32::MAX
                .checked_shr(32 - u32::from(size.min(32)))
                .unwrap_or(0)
        };
        loop {
            self.steps += 1;
            let operation = self.byte(at)?;
            let offset = u32::from(self.word(at + 1)?) * 4;
            let (size, from) = (bits(self.byte(at + 1)?), self.byte(at + 2)? & 31);
            match operation {
                port::op::NOP => {}
                port::op::READ => word = self.card.read(offset),
                port::op::WRITE => self.card.write(offset, word),
                port::op::CLEAR => word &= !(size << from),
                port::op::SET => word |= size << from,
                port::op::INDEX | port::op::DATA => {
                    let to = self.byte(at + 3)? & 31;
                    let value = if operation == port::op::INDEX {
                        index
                    } else {
                        data
                    };
                    word = word & !(size << to) | (((value >> from) & size) << to);
                }
                port::op::END => return Ok(word),
                _ => return Err(format!("step {operation} of a port is not known")),
            }
            at += port::op::LENGTHS[usize::from(operation)];
        }
    }

    fn port_program(&self, number: u8) -> Result<usize, String> {
        let header = usize::from(self.word(0x48)?);
        let list = usize::from(self.word(header + 0x20)?);
        let mut at = usize::from(self.word(list + 4 + 2 * super::image::data::INDIRECT_IO)?) + 4;
        while self.byte(at)? == port::op::START {
            let found = self.byte(at + 1)? == number;
            at += 2;
            if found {
                return Ok(at);
            }
            while self.byte(at)? != port::op::END {
                at += port::op::LENGTHS
                    .get(usize::from(self.byte(at)?))
                    .ok_or("a port's program is damaged")?;
            }
            at += port::op::LENGTHS[usize::from(port::op::END)];
        }
        Err(format!("no program for port {number:#04x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::code::{Code, Place, When, behind_port};
    use super::super::image::Image;
    use super::super::port::{Port, Step};
    use super::*;
    use std::collections::BTreeMap;

    /// Registers that count; 0x74 is a window to what 0x70 selects.
    #[derive(Default)]
    struct Board {
        registers: BTreeMap<u32, u32>,
        pll: BTreeMap<u8, u32>,
    }

    impl Card for Board {
        fn read(&mut self, offset: u32) -> u32 {
            let at = match offset {
                0x74 => 0x1000 + (self.read(0x70) & 0xff),
                other => other,
            };
            self.registers.get(&at).copied().unwrap_or(0)
        }

        fn write(&mut self, offset: u32, value: u32) {
            let at = match offset {
                0x74 => 0x1000 + (self.read(0x70) & 0xff),
                other => other,
            };
            self.registers.insert(at, value);
        }

        fn read_pll(&mut self, index: u8) -> u32 {
            self.pll.get(&index).copied().unwrap_or(0)
        }

        fn write_pll(&mut self, index: u8, value: u32) {
            self.pll.insert(index, value);
        }
    }

    fn execute(
        tables: Vec<(u8, Vec<u8>)>,
        parameters: &[u32],
    ) -> (Result<Vec<u32>, String>, Board) {
        let window = Port {
            number: 2,
            read: vec![
                Step::Clear(32, 0),
                Step::Index(8, 0),
                Step::Write(0x70),
                Step::Read(0x74),
            ],
            write: vec![
                Step::Clear(32, 0),
                Step::Set(1, 23),
                Step::Index(8, 0),
                Step::Write(0x70),
                Step::Data(32, 0),
                Step::Write(0x74),
            ],
        };
        let mut image = Image::new(0x7142).ports(&[window]);
        for (number, bytes) in tables {
            image = image.command(number, bytes);
        }
        let mut board = Board::default();
        let result = run(&image.build(), 0, parameters, &mut board);
        (result, board)
    }

    #[test]
    fn arithmetic_and_loops() {
        let mut c = Code::new(2);
        let again = c.label();
        // The sum of 1 to p0, and p0 * 10 / 3.
        c.set(Place::Work(0), Place::Parameter(0))
            .place(again)
            .add(Place::Register(0x100), Place::Work(0))
            .subtract(Place::Work(0), 1)
            .compare(Place::Work(0), 0)
            .jump(When::Above, again)
            .multiply(Place::Parameter(0), 10)
            .set(Place::Work(1), Place::Quotient)
            .divide(Place::Work(1), 3)
            .set(Place::Parameter(1), Place::Quotient)
            .set(Place::Register(0x104), Place::Remainder)
            .set(Place::Pll(7), 0xff00)
            .mask(Place::Pll(7), 0xf000, 0x42)
            .shift(Place::Pll(7), 8);
        let (result, board) = execute(vec![(0, c.build())], &[100, 0]);
        assert_eq!(result, Ok(vec![100, 333]));
        assert_eq!(board.registers[&0x100], 5050);
        assert_eq!(board.registers[&0x104], 1);
        assert_eq!(board.pll[&7], 0xf0_4200);
    }

    #[test]
    fn ports_lead_to_other_registers() {
        let mut c = Code::new(0);
        c.port(2)
            .set(behind_port(0x15), 0x1234_5678)
            .or(behind_port(0x15), 0x8000_0000)
            .port(0)
            .set(Place::Register(0x15 * 4), 1);
        let (result, board) = execute(vec![(0, c.build())], &[]);
        assert_eq!(result, Ok(vec![]));
        assert_eq!(board.registers[&0x1015], 0x9234_5678);
        assert_eq!(board.registers[&(0x15 * 4)], 1);
        assert_eq!(board.registers[&0x70], 0x0080_0015);
    }

    #[test]
    fn called_tables_have_parameters_of_their_own() {
        let mut outer = Code::new(1);
        outer
            .set(Place::Parameter(1), 41)
            .call(3)
            .set(Place::Parameter(0), Place::Parameter(1))
            .call(9);
        let mut inner = Code::new(1);
        inner.add(Place::Parameter(0), 1);
        let (result, _) = execute(vec![(0, outer.build()), (3, inner.build())], &[0, 0]);
        assert_eq!(
            result,
            Ok(vec![42, 42]),
            "a table that is not there is passed over"
        );
    }

    #[test]
    fn parts_of_words() {
        // By hand: the assembler does not make these. MOVE_REG, immediate byte to bits 23:16; MOVE_WS from a byte.
        let bytes = vec![
            0,
            0,
            1,
            1,
            1,
            0, //
            1,
            5,
            0x40,
            0,
            0x44,
            0x33,
            0x22,
            0x11, //
            1,
            5 | (4 << 3) | (2 << 6),
            0x40,
            0,
            0xaa, //
            3,
            5 << 3,
            0,
            0x40,
            0, // work 0, byte 0 <- byte 1 of the register
            1,
            2,
            0x41,
            0,
            0, // whole
            91,
        ];
        let (result, board) = execute(vec![(0, bytes)], &[]);
        assert_eq!(result, Ok(vec![]));
        assert_eq!(board.registers[&0x100], 0x11aa_3344);
        assert_eq!(board.registers[&0x104], 0x33);
    }

    #[test]
    fn nothing_runs_for_ever_or_outside() {
        let mut forever = Code::new(0);
        let l = forever.label();
        forever.place(l).jump(When::Always, l);
        let mut recursive = Code::new(0);
        recursive.call(0);
        let mut parameters = Code::new(0);
        parameters.set(Place::Parameter(200), 1);
        let mut port = Code::new(0);
        port.port(7).set(behind_port(1), 1);
        let unknown = vec![0, 0, 1, 1, 0, 0, 83];
        let outside = vec![0, 0, 1, 1, 0, 0, 67, 0xff, 0xff];
        for (table, message) in [
            (forever.build(), "does not end"),
            (recursive.build(), "inside another"),
            (parameters.build(), "no parameter word 200"),
            (port.build(), "no program for port 0x87"),
            (unknown, "operation 83 is not known"),
            (outside, "outside of the image"),
        ] {
            let (result, _) = execute(vec![(0, table)], &[]);
            let error = result.expect_err(message);
            assert!(error.contains(message), "{error}");
        }
        let mut board = Board::default();
        assert!(run(&[], 0, &[], &mut board).is_err());
    }
}
