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

/// A set of pieces.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Pieces([u64; WORDS]);

impl Pieces {
    /// Call `change` with the word of `piece` and its bit. A piece that no family may have is left out.
    #[inline]
    fn with(&mut self, piece: usize, change: impl FnOnce(&mut u64, u64)) {
        if let Some(word) = self.0.get_mut(piece / 64) {
            change(word, 1 << (piece % 64));
        }
    }

    /// Return whether a piece is in this set and not in `other`.
    #[inline]
    fn exceeds(&self, other: &Self) -> bool {
        Iterator::zip(self.0.iter(), other.0.iter()).any(|(own, other)| own & !other != 0)
    }
}

/// The pieces of the chip's state that one stream of commands states and leaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Residue {
    /// Pieces that name memory when the stream has ended.
    left: Pieces,
    /// Pieces that the stream has stated before its first draw.
    stated: Pieces,
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
        if !self.draws {
            self.stated.with(piece, |word, bit| *word |= bit);
        }
        self.left.with(piece, |word, bit| match names_memory {
            true => *word |= bit,
            false => *word &= !bit,
        });
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
        if next.draws {
            let stale = self.left.exceeds(&next.stated);
            self.left = next.left;
            return stale;
        }
        let parts = Iterator::zip(next.stated.0.iter(), next.left.0.iter());
        for (word, (stated, left)) in self.left.0.iter_mut().zip(parts) {
            *word = *word & !stated | left;
        }
        false
    }
}
