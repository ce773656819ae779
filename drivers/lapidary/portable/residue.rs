// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the commands of a client leave in the chip.
//!
//! Where all clients share an address space, a register may name memory longer than the commands run that have set it.
//! The memory can belong to another client by the time of the next draw. So the driver makes the chip neutral before
//! the commands of another client. Between commands of the same client it does so only if a draw could use what is
//! left: state that names memory, that earlier commands have set, and that the next ones do not state again before
//! their first draw.
//!
//! State is divided into pieces, whose numbers are the family's. A piece is stated as a whole.

/// Pieces that a family may have.
pub const PIECES: usize = 640;

const WORDS: usize = PIECES / 64;

/// Sixty-four pieces of the chip's state, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pieces {
    /// Those that name memory when the stream has ended.
    left: u64,
    /// Those that the stream has stated before its first draw.
    stated: u64,
}

/// The pieces of the chip's state that one stream of commands states and leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residue {
    pieces: [Pieces; WORDS],
    /// The stream states a piece, or draws.
    any: bool,
    /// The stream draws.
    draws: bool,
}

impl Residue {
    /// Make this the residue of a stream without commands. An empty one costs a comparison.
    #[inline]
    pub fn clear(&mut self) {
        // Without `any` nothing has been noted.
        if self.any {
            *self = Self::default();
        }
    }

    /// Note that the stream states `piece` as a whole, which then names memory or not.
    ///
    /// A piece from [`PIECES`] on is not noted.
    #[inline]
    pub fn state(&mut self, piece: usize, names_memory: bool) {
        self.any = true;
        let Some(pieces) = self.pieces.get_mut(piece / 64) else {
            return;
        };
        let bit = 1 << (piece % 64);
        if !self.draws {
            pieces.stated |= bit;
        }
        match names_memory {
            true => pieces.left |= bit,
            false => pieces.left &= !bit,
        }
    }

    /// Note that the stream draws.
    #[inline]
    pub fn draw(&mut self) {
        self.any = true;
        self.draws = true;
    }

    /// Note that a stream with the residue `next` is executed behind the streams of this one. All are of one client.
    /// Return whether the chip must be made neutral before it.
    pub fn follow(&mut self, next: &Self) -> bool {
        if !next.any {
            return false;
        }
        self.any = true;
        let mut stale = false;
        for (pieces, next_pieces) in self.pieces.iter_mut().zip(&next.pieces) {
            let kept = pieces.left & !next_pieces.stated;
            if next.draws {
                // What the draws have not found stated by their stream.
                stale |= kept != 0;
                pieces.left = next_pieces.left;
            } else {
                pieces.left = kept | next_pieces.left;
            }
        }
        stale
    }
}
