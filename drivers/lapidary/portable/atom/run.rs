// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The machine that runs command tables.
//!
//! A table's header says how many bytes of parameters it has. The parameters of a table that it calls lie behind them.
//! Each table has 64 work words of its own, which are zero at its start. Work words from 0x40 on are common to all
//! tables and have meanings: results of multiplication and division, bases, a bit number and its masks. Two flags keep
//! the result of the last comparison. (Source: Linux, `atom.c`.)
//!
//! A damaged program is stopped; [`Why`] says why, and [`Stopped`] where. Real programs have been seen to access
//! scratch memory that is not there, to call tables that are not there, and to use PCI and I/O registers, which no
//! driver offers. These three are ignored, as Linux does.

use super::{
    card::Card,
    clocks,
    code::{shift_left, shift_right, Alu, Kind, Operation, Part, CASE, LAST_CASE},
    image::{Error, Image},
    port::{Ports, WRITES},
};

/// The table that posts a card. Its parameters are engine and memory clock in units of 10 kHz.
const ASIC_INIT: u8 = 0;
/// The table that sets the fan's speed, on cards where it can be set.
const SPEED_FAN_CONTROL: u8 = 57;

/// Steps that [`run`] and [`post`] may take, those of the ports' programs included.
pub const MOST_STEPS: u32 = 200_000;
/// Microseconds that their programs may ask to wait, all together.
pub const MOST_WAIT_US: u32 = 10_000_000;
/// Tables that may be active at once.
const MOST_TABLES: usize = 16;
/// Work words of a table.
pub(super) const WORK: usize = 64;
/// Parameter words of all active tables.
const PARAMETERS: usize = 256;
/// Words of scratch memory: 20 KiB, as Linux offers where the BIOS does not say.
const SCRATCH: usize = 20 * 1024 / 4;
/// Words of memory that a run needs.
pub const MEMORY: usize = MOST_TABLES * WORK + PARAMETERS + SCRATCH;

/// In a command table: bytes of parameters, and the first operation.
const PARAMETER_BYTES: usize = 5;
const PARAMETER_MASK: u8 = 0x7f;
const CODE: usize = 6;

/// Why a program was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The image is missing or damaged on the way to the program or in it.
    Image(Error),
    /// There is no such table.
    NoTable,
    /// An operation that is not described or not implemented.
    Operation(u8),
    /// There is no such work word.
    Work(u8),
    /// There is no room for so many parameters.
    Parameter(u8),
    /// A port without a program.
    Port(u16),
    /// A step in a port's program that is not described.
    PortStep(u8),
    /// A register that the card does not have, by byte offset.
    Register(u32),
    /// Tables that call each other too deep.
    TooDeep,
    /// It takes more than [`MOST_STEPS`] steps.
    TooLong,
    /// It waits longer than [`MOST_WAIT_US`].
    TooSlow,
    /// There is less memory than [`MEMORY`].
    NoMemory,
}

impl Why {
    /// Return a few words for a log line.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::Image(error) => error.reason(),
            Self::NoTable => "no such table",
            Self::Operation(_) => "unknown operation",
            Self::Work(_) => "no such work word",
            Self::Parameter(_) => "too many parameters",
            Self::Port(_) => "no such port",
            Self::PortStep(_) => "unknown step of a port",
            Self::Register(_) => "no such register",
            Self::TooDeep => "nested too deep",
            Self::TooLong => "does not end",
            Self::TooSlow => "waits too long",
            Self::NoMemory => "too little memory",
        }
    }
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        Self::Image(error)
    }
}

/// A program that was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    /// The table that was running.
    pub table: u8,
    /// Offset in the table of the byte that comes next.
    pub at: usize,
    /// Why it was stopped.
    pub why: Why,
}

/// The steps and the time to wait that are left.
pub struct Budget {
    steps: u32,
    micros: u32,
}

impl Budget {
    const fn new() -> Self {
        Self {
            steps: MOST_STEPS,
            micros: MOST_WAIT_US,
        }
    }

    /// Take one step.
    ///
    /// # Errors
    ///
    /// [`Why::TooLong`] if no step is left.
    pub fn step(&mut self) -> Result<(), Why> {
        self.steps = self.steps.checked_sub(1).ok_or(Why::TooLong)?;
        Ok(())
    }

    fn wait(&mut self, micros: u32) -> Result<(), Why> {
        self.micros = self.micros.checked_sub(micros).ok_or(Why::TooSlow)?;
        Ok(())
    }
}

/// Post the card that `image` belongs to, with the clocks that it names. `memory` is [`MEMORY`] words of any contents.
///
/// # Errors
///
/// [`Stopped`] if the program was stopped.
pub fn post(image: &[u8], memory: &mut [u32], card: &mut dyn Card) -> Result<(), Stopped> {
    let clocks = clocks::clocks(image).map_err(|error| Stopped {
        table: ASIC_INIT,
        at: 0,
        why: error.into(),
    })?;
    // One budget for both tables.
    let mut budget = Budget::new();
    let parameters = clocks.parameters();
    execute(image, ASIC_INIT, &parameters, memory, card, &mut budget)?;
    // A card without such a fan has no such table. A card whose fan is not set works, too.
    let _ = execute(image, SPEED_FAN_CONTROL, &[], memory, card, &mut budget);
    Ok(())
}

/// Run command table `table` of `image` with `parameters`. `memory` is [`MEMORY`] words of any contents. At the end its
/// first words are the parameters as the table has left them.
///
/// # Errors
///
/// [`Stopped`] if the program was stopped.
pub fn run(
    image: &[u8],
    table: u8,
    parameters: &[u32],
    memory: &mut [u32],
    card: &mut dyn Card,
) -> Result<(), Stopped> {
    execute(image, table, parameters, memory, card, &mut Budget::new())
}

/// Do what [`run`] does, with what is left of a budget.
fn execute(
    image: &[u8],
    table: u8,
    parameters: &[u32],
    memory: &mut [u32],
    card: &mut dyn Card,
    budget: &mut Budget,
) -> Result<(), Stopped> {
    let not_begun = |why| Stopped { table, at: 0, why };
    let image = Image::new(image).map_err(|error| not_begun(error.into()))?;
    memory.fill(0);
    let mut machine = Machine::new(image, memory, card, budget).ok_or(not_begun(Why::NoMemory))?;
    for (to, from) in machine.parameters.iter_mut().zip(parameters) {
        *to = *from;
    }
    machine.enter(table, 0).map_err(not_begun)?;
    machine.run().map_err(|why| Stopped {
        table: machine.frame.table,
        at: machine.frame.at.saturating_sub(machine.frame.start),
        why,
    })
}

/// A table that is running.
#[derive(Clone, Copy, Default)]
pub(super) struct Frame {
    pub(super) table: u8,
    /// Where it begins.
    pub(super) start: usize,
    /// The byte that comes next.
    pub(super) at: usize,
    /// Its first parameter word, and where those of tables that it calls begin.
    pub(super) first: usize,
    pub(super) behind: usize,
}

/// Where the registers of a table's operands are.
#[derive(Clone, Copy)]
pub(super) enum Mode {
    Window,
    Port(u8),
    Elsewhere,
}

pub(super) struct Machine<'a> {
    pub(super) image: Image<'a>,
    pub(super) ports: Ports,
    pub(super) card: &'a mut dyn Card,
    pub(super) parameters: &'a mut [u32],
    pub(super) work: &'a mut [u32],
    pub(super) scratch: &'a mut [u32],
    pub(super) budget: &'a mut Budget,
    pub(super) frame: Frame,
    /// Tables that wait for the running one to end.
    callers: [Frame; MOST_TABLES - 1],
    pub(super) depth: usize,
    pub(super) mode: Mode,
    equal: bool,
    above: bool,
    pub(super) quotient: u32,
    pub(super) remainder: u32,
    /// Byte offset of the data words.
    pub(super) data_block: u16,
    pub(super) register_block: u16,
    /// Byte offset of the window on scratch memory.
    pub(super) scratch_base: u32,
    pub(super) attributes: u16,
    pub(super) bit: u8,
}

impl<'a> Machine<'a> {
    fn new(
        image: Image<'a>,
        memory: &'a mut [u32],
        card: &'a mut dyn Card,
        budget: &'a mut Budget,
    ) -> Option<Self> {
        let (parameters, memory) = memory.split_at_mut_checked(PARAMETERS)?;
        let (work, memory) = memory.split_at_mut_checked(MOST_TABLES * WORK)?;
        let (scratch, _) = memory.split_at_mut_checked(SCRATCH)?;
        Some(Self {
            ports: Ports::new(&image),
            image,
            card,
            parameters,
            work,
            scratch,
            budget,
            frame: Frame::default(),
            callers: [Frame::default(); MOST_TABLES - 1],
            depth: 0,
            mode: Mode::Window,
            equal: false,
            above: false,
            quotient: 0,
            remainder: 0,
            data_block: 0,
            register_block: 0,
            scratch_base: 0,
            attributes: 0,
            bit: 0,
        })
    }

    /// Enter table `table`, whose parameters are the words from `first` on.
    fn enter(&mut self, table: u8, first: usize) -> Result<(), Why> {
        let start = self.image.command(table)?.ok_or(Why::NoTable)?;
        let bytes = self.image.bytes();
        let parameters = bytes.byte(start.saturating_add(PARAMETER_BYTES))? & PARAMETER_MASK;
        self.frame = Frame {
            table,
            start,
            at: start.saturating_add(CODE),
            first,
            behind: first.saturating_add(usize::from(parameters / 4)),
        };
        let work = self.depth.saturating_mul(WORK);
        if let Some(words) = self
            .work
            .get_mut(work..)
            .and_then(|rest| rest.get_mut(..WORK))
        {
            words.fill(0);
        }
        Ok(())
    }

    /// Run until the first table ends.
    fn run(&mut self) -> Result<(), Why> {
        loop {
            self.budget.step()?;
            let number = self.byte()?;
            match Operation::decode(number).ok_or(Why::Operation(number))? {
                Operation::Alu(alu, kind) => self.alu(alu, kind)?,
                Operation::Port => {
                    let number = self.word()?;
                    self.mode = match u8::try_from(number) {
                        Ok(0) => Mode::Window,
                        Ok(port) if port < WRITES => Mode::Port(port),
                        _ => return Err(Why::Port(number)),
                    };
                }
                Operation::Elsewhere => {
                    self.byte()?;
                    self.mode = Mode::Elsewhere;
                }
                Operation::RegisterBlock => self.register_block = self.word()?,
                Operation::ScratchBase => {
                    let attribute = self.byte()?;
                    self.scratch_base = self.source(attribute)?;
                }
                Operation::Switch => self.switch()?,
                Operation::Jump(when) => {
                    let target = self.word()?;
                    if when.holds(self.equal, self.above) {
                        self.jump(target);
                    }
                }
                Operation::Wait(unit) => {
                    let micros = u32::from(self.byte()?).saturating_mul(unit);
                    self.budget.wait(micros)?;
                    self.card.wait(micros);
                }
                Operation::Call => self.call()?,
                Operation::Nothing => {}
                Operation::Tell => {
                    self.byte()?;
                }
                Operation::DataBlock => self.data_block = self.data_table()?,
                Operation::End => match self.depth.checked_sub(1) {
                    None => return Ok(()),
                    Some(caller) => {
                        self.depth = caller;
                        self.frame = self.callers.get(caller).copied().ok_or(Why::TooDeep)?;
                    }
                },
            }
        }
    }

    fn jump(&mut self, target: u16) {
        self.frame.at = self.frame.start.saturating_add(target.into());
    }

    fn call(&mut self) -> Result<(), Why> {
        let table = self.byte()?;
        if self.image.command(table)?.is_none() {
            return Ok(());
        }
        let place = self.callers.get_mut(self.depth).ok_or(Why::TooDeep)?;
        *place = self.frame;
        self.depth = self.depth.saturating_add(1);
        self.enter(table, self.frame.behind)
    }

    /// Return the offset of the data table that the next byte names.
    fn data_table(&mut self) -> Result<u16, Why> {
        let place = match self.byte()? {
            0 => 0,
            u8::MAX => self.frame.start,
            table => self.image.data(table)?.unwrap_or(0),
        };
        u16::try_from(place).map_err(|_| Why::Image(Error::OutOfImage))
    }

    fn switch(&mut self) -> Result<(), Why> {
        let attribute = self.byte()?;
        let value = self.source(attribute)?;
        while self.image.bytes().word(self.frame.at)? != LAST_CASE {
            self.budget.step()?;
            let mark = self.byte()?;
            if mark != CASE {
                return Err(Why::Operation(mark));
            }
            let case = self.immediate(Part::source(attribute))?;
            let target = self.word()?;
            if case == value {
                self.jump(target);
                return Ok(());
            }
        }
        self.word()?;
        Ok(())
    }

    fn alu(&mut self, alu: Alu, kind: Kind) -> Result<(), Why> {
        let attribute = self.byte()?;
        let part = match alu {
            // These have no source, and the destination takes the source's part.
            Alu::Clear | Alu::ShiftPartLeft | Alu::ShiftPartRight => Part::source(attribute),
            _ => Part::destination(attribute),
        };
        let destination = self.operand(kind, part)?;
        // A register that is only written is not read, because reading may have effects.
        let word = match alu {
            Alu::Move if part.is_whole() => 0,
            _ => self.get(destination)?,
        };
        let old = part.take(word);
        let new = match alu {
            Alu::Clear => 0,
            Alu::ShiftPartLeft => shift_left(old, self.byte()?.into()),
            Alu::ShiftPartRight => shift_right(old, self.byte()?.into()),
            Alu::Mask => {
                let mask = self.immediate(Part::source(attribute))?;
                old & mask | self.source(attribute)?
            }
            _ => {
                let source = self.source(attribute)?;
                match self.compute(alu, part, word, source) {
                    Some(new) => new,
                    None => return Ok(()),
                }
            }
        };
        self.put(destination, part.put(word, new))
    }

    /// Compute the new value of a part of `word` from `source`. None if the destination does not change.
    fn compute(&mut self, alu: Alu, part: Part, word: u32, source: u32) -> Option<u32> {
        let old = part.take(word);
        // Only eight bits of it are used.
        let by = source & 0xff;
        Some(match alu {
            Alu::And => old & source,
            Alu::Or => old | source,
            Alu::Xor => old ^ source,
            Alu::Add => old.wrapping_add(source),
            Alu::Subtract => old.wrapping_sub(source),
            Alu::ShiftWordLeft => part.take(shift_left(word, by)),
            Alu::ShiftWordRight => part.take(shift_right(word, by)),
            Alu::Multiply => {
                self.quotient = old.wrapping_mul(source);
                return None;
            }
            Alu::Divide => {
                self.quotient = old.checked_div(source).unwrap_or(0);
                self.remainder = old.checked_rem(source).unwrap_or(0);
                return None;
            }
            Alu::Compare => {
                self.equal = old == source;
                self.above = old > source;
                return None;
            }
            Alu::Test => {
                self.equal = old & source == 0;
                return None;
            }
            // A move; the caller has done the others.
            Alu::Move | Alu::Mask | Alu::Clear | Alu::ShiftPartLeft | Alu::ShiftPartRight => source,
        })
    }
}
