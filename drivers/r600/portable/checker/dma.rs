// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The walk through a stream for the DMA ring.
//!
//! A packet takes the objects for its addresses from the list of relocations, in order. A copy takes that of its source
//! first, although the destination comes first in the packet (Linux, `drivers/gpu/drm/radeon/r600_cs.c`:
//! `r600_dma_cs_parse`).
//!
//! Header bits that an operation does not have must be zero. Among them is the count of a NOP, because nothing public
//! says whether the engine skips as many dwords. A count of zero is refused, because nothing public says whether it means
//! none or all. Indirect buffers, fences, traps and semaphores are the kernel's.

use core::cell::Cell;

use lapidary::portable::{
    pm4::{
        Body,
        Fixups,
        Stream, //
    },
    residue::Residue, //
};

use super::{
    place::{
        self,
        Doing,
        Form, //
    },
    reason::{
        Reason,
        Refusal, //
    },
    tiled::Surface,
    Chip,
    Fixup,
    Object, //
};
use crate::portable::{
    dma::MOST_INDIRECT_DWORDS,
    regs::dma::{
        header,
        mmio_r6xx::copy::addresses_hi,
        mmio_r7xx::constant_fill,
        op,
        upper, //
    },
    Generation, //
};

/// Bytes of a dword, which is what the engine counts and aligns to.
const DWORD: u64 = 4;

/// Check `words`, a stream for the DMA ring. No dword of it is changed.
///
/// `objects` are those of the relocation entries, in order. Their `access` is filled in. `fixups` must be as long as
/// [`max_fixups`](super::max_fixups) says. `residue` becomes empty, because the DMA engine keeps
/// nothing of a stream. Return the number of fixups. Nothing in `words` may be executed unless this succeeds.
///
/// # Errors
///
/// [`Refusal`] says what is wrong with the stream and where. User space gets `EINVAL`.
pub fn check(
    words: &mut [u32],
    objects: &mut [Object],
    chip: &Chip,
    fixups: &mut [Fixup],
    residue: &mut Residue,
) -> Result<usize, Refusal> {
    residue.clear();
    let mut checker = Checker {
        stream: Stream::new(words),
        objects,
        taken: 0,
        fixups: Fixups::new(fixups),
        chip,
        position: 0,
    };
    match checker.run() {
        Ok(()) => Ok(checker.fixups.count()),
        Err(reason) => Err(Refusal {
            position: checker.position as u32,
            reason,
        }),
    }
}

/// Return how many bytes a count of dwords is.
fn bytes(count: u32) -> u64 {
    u64::from(count).wrapping_mul(DWORD)
}

struct Checker<'a> {
    stream: Stream<'a>,
    objects: &'a mut [Object],
    /// Entries of the list that packets have taken.
    taken: u32,
    fixups: Fixups<'a, Form>,
    chip: &'a Chip,
    /// Index of the dword that is being checked.
    position: usize,
}

impl Checker<'_> {
    fn run(&mut self) -> Result<(), Reason> {
        let words = self.stream.words();
        if words.len() > MOST_INDIRECT_DWORDS as usize {
            return Err(Reason::StreamTooLong);
        }
        let mut start = 0;
        while let Some(word) = words.get(start).map(Cell::get) {
            self.position = start;
            let length = self.length(word)?;
            let first = start.wrapping_add(1);
            let end = start.wrapping_add(length);
            let mut body = Body::new(self.stream.values(first, end)?, first);
            self.packet(word, start, &mut body)?;
            start = end;
        }
        Ok(())
    }

    /// Return the number of dwords of the packet with header `word`, from 1 to 65540.
    fn length(&self, word: u32) -> Result<usize, Reason> {
        let count = header::COUNT.get(word) as usize;
        let tiled = header::TILED.any(word);
        let (length, fields) = match header::OP.get(word) as u8 {
            op::NOP => (1, 0),
            op::WRITE => {
                let place: usize = if tiled { 5 } else { 3 };
                let fields = header::COUNT.mask() | header::TILED.mask();
                (place.wrapping_add(count), fields)
            }
            op::COPY => {
                let length = match (tiled, self.chip.generation) {
                    (true, _) => 7,
                    (false, Generation::R6xx) => 4,
                    (false, Generation::R7xx) => 5,
                };
                (length, header::COUNT.mask() | header::TILED.mask())
            }
            op::CONSTANT_FILL => match self.chip.generation {
                Generation::R6xx => return Err(Reason::OtherGeneration),
                Generation::R7xx => (4, header::COUNT.mask()),
            },
            op::INDIRECT_BUFFER | op::SEMAPHORE | op::FENCE | op::TRAP => {
                return Err(Reason::ForbiddenOperation);
            }
            _ => return Err(Reason::UnknownOperation),
        };
        if word & !(header::OP.mask() | fields) != 0 {
            return Err(Reason::ReservedHeaderBits);
        }
        if fields != 0 && count == 0 {
            return Err(Reason::Nothing);
        }
        // The field has 16 bits on both generations.
        if self.chip.generation == Generation::R6xx && count == header::COUNT.max() as usize {
            return Err(Reason::CountTooLarge);
        }
        Ok(length)
    }

    /// Check a packet, whose header is dword `start` of the stream.
    fn packet(&mut self, word: u32, start: usize, body: &mut Body<'_>) -> Result<(), Reason> {
        let bytes = bytes(header::COUNT.get(word));
        let tiled = header::TILED.any(word);
        let at = |dwords: usize| start.wrapping_add(dwords);
        match header::OP.get(word) as u8 {
            op::WRITE if tiled => {
                let surface = self.surface(start, body)?;
                // Nothing is read for a write.
                if surface.detile {
                    self.position = at(2);
                    return Err(Reason::ForbiddenBits);
                }
                self.tiled(at(1), &surface, bytes, Doing::Writes)
            }
            op::WRITE => {
                let (low, high) = (body.take()?, body.take()?);
                self.linear(at(1), Form::Next, low, high, bytes, Doing::Writes)
            }
            op::COPY if tiled => {
                let surface = self.surface(start, body)?;
                let (low, high) = (body.take()?, body.take()?);
                if surface.detile {
                    self.tiled(at(1), &surface, bytes, Doing::Reads)?;
                    self.linear(at(5), Form::Next, low, high, bytes, Doing::Writes)
                } else {
                    self.linear(at(5), Form::Next, low, high, bytes, Doing::Reads)?;
                    self.tiled(at(1), &surface, bytes, Doing::Writes)
                }
            }
            op::COPY => {
                let (to, from) = (body.take()?, body.take()?);
                let (to_high, from_high, to_form, from_form) = match self.chip.generation {
                    Generation::R6xx => {
                        let both = body.take()?;
                        let fields = [addresses_hi::SRC_ADDRESS_HI, addresses_hi::DST_ADDRESS_HI];
                        self.position = at(3);
                        if both & !(fields[0].mask() | fields[1].mask()) != 0 {
                            return Err(Reason::ForbiddenBits);
                        }
                        let [source, destination] = fields.map(|field| field.get(both));
                        (destination, source, Form::SecondUpper, Form::Next)
                    }
                    Generation::R7xx => {
                        let (to_high, from_high) = (body.take()?, body.take()?);
                        (to_high, from_high, Form::Second, Form::Second)
                    }
                };
                self.linear(at(2), from_form, from, from_high, bytes, Doing::Reads)?;
                self.linear(at(1), to_form, to, to_high, bytes, Doing::Writes)
            }
            op::CONSTANT_FILL => {
                let (low, _value, high) = (body.take()?, body.take()?, body.take()?);
                let field = constant_fill::address_hi::DST_ADDRESS_HI;
                if high & !field.mask() != 0 {
                    self.position = at(3);
                    return Err(Reason::ForbiddenBits);
                }
                let high = field.get(high);
                self.linear(at(1), Form::SecondUpper, low, high, bytes, Doing::Writes)
            }
            _ => Ok(()),
        }
    }

    /// Return the next object of the list, and its number.
    fn object(&mut self) -> Result<(u32, &mut Object), Reason> {
        let number = self.taken;
        let object = self
            .objects
            .get_mut(number as usize)
            .ok_or(Reason::NoObject)?;
        self.taken = number.wrapping_add(1);
        Ok((number, object))
    }

    /// Check an access to bytes that follow one another. Dword `position` has the lower part of the offset, `low`.
    /// `high` is the upper part.
    fn linear(
        &mut self,
        position: usize,
        form: Form,
        low: u32,
        high: u32,
        bytes: u64,
        doing: Doing,
    ) -> Result<(), Reason> {
        const { assert!(upper::ADDRESS_HI.max() == 0xff) };
        self.position = position;
        let offset = place::offset(low, high, 0, DWORD)?;
        let (number, object) = self.object()?;
        place::range(object, offset, bytes, doing)?;
        Ok(self.fixups.push(position, number, form)?)
    }

    /// Read the surface of a packet, whose header is dword `start`.
    fn surface(&mut self, start: usize, body: &mut Body<'_>) -> Result<Surface, Reason> {
        let words = [body.take()?, body.take()?, body.take()?, body.take()?];
        let mut at = 0;
        Surface::new(words, self.chip, &mut at).inspect_err(|_| {
            self.position = start.wrapping_add(1).wrapping_add(at);
        })
    }

    /// Check an access to a surface. Dword `position` has its offset.
    fn tiled(
        &mut self,
        position: usize,
        surface: &Surface,
        bytes: u64,
        doing: Doing,
    ) -> Result<(), Reason> {
        self.position = position;
        let (offset, bytes) = surface.extent(bytes)?;
        let (number, object) = self.object()?;
        place::range(object, offset, bytes, doing).map_err(|_| Reason::TiledBounds)?;
        Ok(self.fixups.push(position, number, surface.form())?)
    }
}
