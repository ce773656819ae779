// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Calls of the portable code of `chrome9.ko`.

use chrome9::portable::{
    blit::{Copy, Fill},
    emit::{self, Error, Location},
    ring::{Block, Ring},
};
use lapidary::portable::sink::SliceSink;

/// Call the kernel's own commands.
///
/// # Errors
///
/// What they say.
pub fn commands(out: &mut [u32], address: u64, word: u32) -> Result<(), Error> {
    let sink = &mut SliceSink::new(out);
    emit::branch(sink, address, word, Location::Gart)?;
    emit::pad(sink, word)?;
    let fill = Fill::new(address, word.into(), word)?;
    fill.emit(sink)?;
    let copy = Copy::new(fill.bytes(), address, word.into())?;
    copy.emit(sink)?;
    emit::fence(sink, address, word)
}

/// Call the ring.
pub fn ring(ring: &mut Ring, numbers: [u32; 3], position: u64) -> Option<(Block, [u32; 13])> {
    *ring = Ring::new(numbers[0], numbers[1], Location::FrameBuffer)?;
    ring.retire(position);
    let block = ring.reserve(numbers[2] ^ ring.most())?;
    let mut words = [0; 13];
    let parameters = ring
        .start(&block)
        .into_iter()
        .chain(ring.kick(&block))
        .chain(ring.stop(&block));
    for (word, parameter) in words.iter_mut().zip(parameters) {
        *word = parameter;
    }
    (!ring.is_idle()).then_some((block, words))
}
