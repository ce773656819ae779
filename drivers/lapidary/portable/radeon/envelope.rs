// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The envelope of a submission: which chunks it has, how long they are, and what they request.
//!
//! A submission is a list of chunks. Each chunk has an id, a length in dwords and a user pointer. There are chunks
//! for the command stream (`IB`), the objects that it uses (`RELOCS`), and flags, ring and priority (`FLAGS`). This
//! module checks the numbers alone; it never sees user memory. Its caller copies a chunk only after [`Envelope::add`]
//! has accepted its length. So no number of user space is multiplied, allocated or copied without a bound.
//!
//! The rules of acceptance follow Linux (`drivers/gpu/drm/radeon/radeon_cs.c`). Unknown chunks are ignored (and never
//! copied). Of several chunks of a kind the last one counts. Unknown flags are ignored. A submission without a
//! command stream, or without any chunk, does nothing. The rules differ where those of Linux would be a hole:
//!
//! - lengths are bounded before they are used, and byte counts are computed where they cannot wrap;
//! - a relocation chunk must consist of whole entries;
//! - a relocation must name a domain that the GPU can reach, and no unknown domain.
//!
//! Two kinds of chunks are our own ([`additions::chunk`]): synchronisation objects to wait for, and to signal. A
//! submission has at most one of each. It then needs a command stream, because without one the objects would never be
//! signalled.
//!
//! Every refusal is `EINVAL` to user space. [`Error`] contains the reason, for the one line in the debug log.

use super::{
    super::reason::Reason,
    additions::{
        self,
        MAX_SYNCS,
        SYNC_DWORDS, //
    },
    uapi::{
        chunk,
        cs_flags,
        cs_ring,
        domain,
        CsChunk,
        CsReloc,
        RELOC_PRIORITY_MASK, //
    },
};

/// The most chunks that a submission may have. Clients send three, or four with a constant engine.
pub const MAX_CHUNKS: u32 = 64;
/// The longest command stream in dwords, 256 KiB. Clients send up to 16384 dwords.
pub const MAX_IB_DWORDS: u32 = 64 * 1024;
/// The most relocation entries of a submission, 256 KiB of them.
pub const MAX_RELOCS: u32 = 16 * 1024;
/// Dwords of the flags chunk that have a meaning. Further dwords are not read.
pub const FLAGS_DWORDS: u32 = 3;

/// Dwords of a relocation entry.
pub const RELOC_DWORDS: u32 = 4;

/// Why a submission's envelope is refused. User space receives `EINVAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Error {
    /// More than [`MAX_CHUNKS`] chunks.
    TooManyChunks,
    /// A command stream or flags chunk without contents.
    EmptyChunk,
    /// A command stream of more than [`MAX_IB_DWORDS`].
    StreamTooLong,
    /// More than [`MAX_RELOCS`] relocation entries.
    TooManyRelocs,
    /// A relocation chunk that ends within an entry.
    PartialReloc,
    /// A ring that the chip does not have, or a number that is no ring.
    NoSuchRing,
    /// Virtual addresses requested on a chip that has none.
    NoVm,
    /// Physical mode requested on a ring whose streams are not checked.
    NeedsVm,
    /// A chunk of synchronisation objects that ends within an entry.
    PartialSync,
    /// More than [`MAX_SYNCS`] synchronisation objects in a chunk.
    TooManySyncs,
    /// Two chunks of synchronisation objects of one kind.
    TwoSyncChunks,
    /// Synchronisation objects without a command stream.
    SyncWithoutStream,
    /// A relocation without any domain. The object would have no place.
    NoDomain,
    /// A relocation with unknown domain bits.
    UnknownDomain,
    /// A relocation that requests memory that the GPU cannot reach.
    CpuDomain,
}

impl Error {
    /// Every error.
    pub const ALL: [Self; 15] = [
        Self::TooManyChunks,
        Self::EmptyChunk,
        Self::StreamTooLong,
        Self::TooManyRelocs,
        Self::PartialReloc,
        Self::NoSuchRing,
        Self::NoVm,
        Self::NeedsVm,
        Self::PartialSync,
        Self::TooManySyncs,
        Self::TwoSyncChunks,
        Self::SyncWithoutStream,
        Self::NoDomain,
        Self::UnknownDomain,
        Self::CpuDomain,
    ];

    /// Return the reason for user space: 0x1xx for the envelope, 0x2xx for a relocation.
    pub const fn reason(self) -> Reason {
        let (number, text) = match self {
            Self::TooManyChunks => (0x101, "too many chunks"),
            Self::EmptyChunk => (0x102, "empty chunk"),
            Self::StreamTooLong => (0x103, "command stream too long"),
            Self::TooManyRelocs => (0x104, "too many relocations"),
            Self::PartialReloc => (0x105, "relocation chunk ends within an entry"),
            Self::NoSuchRing => (0x106, "no such ring"),
            Self::NoVm => (0x107, "no virtual addresses on this chip"),
            Self::NeedsVm => (0x108, "ring needs virtual addresses"),
            Self::PartialSync => (
                0x109,
                "chunk of synchronisation objects ends within an entry",
            ),
            Self::TooManySyncs => (0x10a, "too many synchronisation objects"),
            Self::TwoSyncChunks => (0x10b, "two chunks of synchronisation objects of one kind"),
            Self::SyncWithoutStream => (0x10c, "synchronisation objects without commands"),
            Self::NoDomain => (0x201, "relocation without a domain"),
            Self::UnknownDomain => (0x202, "relocation with unknown domain bits"),
            Self::CpuDomain => (0x203, "relocation in the CPU domain"),
        };
        Reason::new(number, text)
    }
}

/// Where a chunk's data are, and how many dwords of them to copy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// User pointer.
    pub pointer: u64,
    /// Dwords, within the bound of the chunk's kind.
    pub dwords: u32,
}

impl Extent {
    /// Return the length in bytes. Bounds on the lengths keep this far from overflow.
    pub const fn bytes(self) -> usize {
        (self.dwords as usize).saturating_mul(4)
    }
}

/// The chunks of a submission that have a meaning.
///
/// Start with [`Envelope::new`], [`add`](Envelope::add) each chunk in order, then copy what the accessors return.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Envelope {
    stream: Option<Extent>,
    const_stream: Option<Extent>,
    relocs: Option<Extent>,
    flags: Option<Extent>,
    sync_in: Option<Extent>,
    sync_out: Option<Extent>,
}

impl Envelope {
    /// Make an envelope for `num_chunks` chunks, none of which has been read.
    ///
    /// # Errors
    ///
    /// [`Error::TooManyChunks`]. Zero chunks are accepted, as a submission that does nothing.
    pub const fn new(num_chunks: u32) -> Result<Self, Error> {
        if num_chunks > MAX_CHUNKS {
            return Err(Error::TooManyChunks);
        }
        Ok(Self {
            stream: None,
            const_stream: None,
            relocs: None,
            flags: None,
            sync_in: None,
            sync_out: None,
        })
    }

    /// Add the next chunk.
    ///
    /// # Errors
    ///
    /// [`Error::EmptyChunk`], [`Error::StreamTooLong`], [`Error::TooManyRelocs`], [`Error::PartialReloc`],
    /// [`Error::PartialSync`], [`Error::TooManySyncs`], [`Error::TwoSyncChunks`].
    /// Chunks of unknown kinds are not errors, whatever their length.
    pub fn add(&mut self, chunk: &CsChunk) -> Result<(), Error> {
        let extent = Extent {
            pointer: chunk.chunk_data,
            dwords: chunk.length_dw,
        };
        match chunk.chunk_id {
            chunk::RELOCS => {
                if extent.dwords % RELOC_DWORDS != 0 {
                    return Err(Error::PartialReloc);
                }
                if extent.dwords / RELOC_DWORDS > MAX_RELOCS {
                    return Err(Error::TooManyRelocs);
                }
                self.relocs = Some(extent);
            }
            chunk::IB => self.stream = Some(stream(extent)?),
            chunk::CONST_IB => self.const_stream = Some(stream(extent)?),
            chunk::FLAGS => {
                if extent.dwords == 0 {
                    return Err(Error::EmptyChunk);
                }
                self.flags = Some(Extent {
                    dwords: extent.dwords.min(FLAGS_DWORDS),
                    ..extent
                });
            }
            additions::chunk::SYNC_IN => syncs(&mut self.sync_in, extent)?,
            additions::chunk::SYNC_OUT => syncs(&mut self.sync_out, extent)?,
            _ => {}
        }
        Ok(())
    }

    /// Check the envelope after all chunks have been added.
    ///
    /// # Errors
    ///
    /// [`Error::SyncWithoutStream`].
    pub const fn finish(&self) -> Result<(), Error> {
        let syncs = self.sync_in.is_some() || self.sync_out.is_some();
        if syncs && self.stream.is_none() {
            return Err(Error::SyncWithoutStream);
        }
        Ok(())
    }

    /// Return the synchronisation objects to wait for, 0 to [`MAX_SYNCS`] whole entries.
    pub const fn sync_in(&self) -> Option<Extent> {
        self.sync_in
    }

    /// Return the synchronisation objects to signal, 0 to [`MAX_SYNCS`] whole entries.
    pub const fn sync_out(&self) -> Option<Extent> {
        self.sync_out
    }

    /// Return the command stream, 1 to [`MAX_IB_DWORDS`] dwords. Without one the submission does nothing and
    /// succeeds.
    pub const fn stream(&self) -> Option<Extent> {
        self.stream
    }

    /// Return the constant engine's stream, which only chips with virtual addresses use.
    pub const fn const_stream(&self) -> Option<Extent> {
        self.const_stream
    }

    /// Return the relocation entries, if there are any.
    pub const fn relocs(&self) -> Option<Extent> {
        match self.relocs {
            Some(Extent { dwords: 0, .. }) => None,
            relocs => relocs,
        }
    }

    /// Return the number of relocation entries, at most [`MAX_RELOCS`].
    pub const fn num_relocs(&self) -> u32 {
        match self.relocs {
            Some(extent) => extent.dwords / RELOC_DWORDS,
            None => 0,
        }
    }

    /// Return the flags, 1 to [`FLAGS_DWORDS`] dwords. Without them [`Flags::default`] applies.
    pub const fn flags(&self) -> Option<Extent> {
        self.flags
    }
}

fn syncs(slot: &mut Option<Extent>, extent: Extent) -> Result<(), Error> {
    if extent.dwords % SYNC_DWORDS != 0 {
        return Err(Error::PartialSync);
    }
    if extent.dwords / SYNC_DWORDS > MAX_SYNCS {
        return Err(Error::TooManySyncs);
    }
    match slot.replace(extent) {
        None => Ok(()),
        Some(_) => Err(Error::TwoSyncChunks),
    }
}

const fn stream(extent: Extent) -> Result<Extent, Error> {
    if extent.dwords == 0 {
        return Err(Error::EmptyChunk);
    }
    if extent.dwords > MAX_IB_DWORDS {
        return Err(Error::StreamTooLong);
    }
    Ok(extent)
}

/// The content of the flags chunk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// Keep the tiling bits of the stream instead of using those of the objects.
    pub keep_tiling: bool,
    /// Addresses in the stream are virtual addresses of the client.
    pub use_vm: bool,
    /// Ring number as given, a [`cs_ring`] value or any other.
    pub ring: u32,
    /// Priority, higher is more urgent.
    pub priority: i32,
}

impl Flags {
    /// Read the dwords of the chunk. Missing dwords mean 0, further dwords are ignored.
    pub fn read(words: &[u32]) -> Self {
        let word = |index: usize| words.get(index).copied().unwrap_or(0);
        Self {
            keep_tiling: word(0) & cs_flags::KEEP_TILING != 0,
            use_vm: word(0) & cs_flags::USE_VM != 0,
            ring: word(1),
            priority: word(2) as i32,
        }
    }

    /// Return the ring for this submission.
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchRing`], [`Error::NoVm`], [`Error::NeedsVm`].
    pub fn ring(&self, rings: &Rings) -> Result<Ring, Error> {
        let ring = match self.ring {
            cs_ring::GFX => Ring::Gfx,
            // Chips without compute rings run such streams on the graphics ring.
            cs_ring::COMPUTE if rings.compute == Support::None => Ring::Gfx,
            cs_ring::COMPUTE => Ring::Compute,
            cs_ring::DMA => Ring::Dma,
            cs_ring::UVD => Ring::Uvd,
            cs_ring::VCE => Ring::Vce,
            _ => return Err(Error::NoSuchRing),
        };
        let support = match ring {
            Ring::Gfx => rings.gfx,
            Ring::Compute => rings.compute,
            Ring::Dma => rings.dma,
            Ring::Uvd | Ring::Vce => Support::None,
        };
        match (support, self.use_vm) {
            (_, true) if !rings.vm => Err(Error::NoVm),
            (Support::None, _) => Err(Error::NoSuchRing),
            (Support::Checked, false) | (Support::Virtual, true) => Ok(ring),
            (Support::Checked, true) => Err(Error::NoVm),
            (Support::Virtual, false) => Err(Error::NeedsVm),
        }
    }
}

/// What a ring executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Graphics.
    Gfx,
    /// Compute.
    Compute,
    /// Asynchronous DMA.
    Dma,
    /// Video decoder.
    Uvd,
    /// Video encoder.
    Vce,
}

/// How a ring isolates clients.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Support {
    /// There is no such ring.
    None,
    /// Streams are checked.
    Checked,
    /// Each client has its own address space.
    Virtual,
}

/// The rings of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rings {
    /// Whether clients have address spaces at all.
    pub vm: bool,
    /// Graphics.
    pub gfx: Support,
    /// Compute.
    pub compute: Support,
    /// Asynchronous DMA.
    pub dma: Support,
}

impl Rings {
    /// One checked graphics ring: R5xx, and R6xx without its DMA ring.
    pub const GFX: Self = Self {
        vm: false,
        gfx: Support::Checked,
        compute: Support::None,
        dma: Support::None,
    };

    /// A checked graphics ring and a checked DMA ring: R7xx.
    pub const GFX_DMA: Self = Self {
        dma: Support::Checked,
        ..Self::GFX
    };

    /// Return whether clients can submit to ring `number`. `None` if that is not the number of a ring.
    pub const fn has(&self, number: u32) -> Option<bool> {
        let support = match number {
            // Compute streams run on the graphics ring where there is no other.
            cs_ring::GFX | cs_ring::COMPUTE => self.gfx,
            cs_ring::DMA => self.dma,
            cs_ring::UVD | cs_ring::VCE => Support::None,
            _ => return None,
        };
        Some(!matches!(support, Support::None))
    }
}

/// What a relocation entry says of its object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relocation {
    /// Allowed domains: [`domain::GTT`], [`domain::VRAM`] or both; not empty.
    pub domains: u32,
    /// Whether the entry states that the object is written.
    pub write: bool,
    /// Priority, 0 to 15, higher is more urgent.
    pub priority: u32,
}

impl Relocation {
    /// Check the domains of a relocation entry. The write domain takes precedence over the read domains.
    ///
    /// # Errors
    ///
    /// [`Error::UnknownDomain`], [`Error::NoDomain`], [`Error::CpuDomain`].
    pub const fn new(reloc: &CsReloc) -> Result<Self, Error> {
        const KNOWN: u32 = domain::CPU | domain::GTT | domain::VRAM;
        if (reloc.read_domains | reloc.write_domain) & !KNOWN != 0 {
            return Err(Error::UnknownDomain);
        }
        let domains = if reloc.write_domain != 0 {
            reloc.write_domain
        } else {
            reloc.read_domains
        };
        if domains == 0 {
            return Err(Error::NoDomain);
        }
        if domains & domain::CPU != 0 {
            return Err(Error::CpuDomain);
        }
        Ok(Self {
            domains,
            write: reloc.write_domain != 0,
            priority: reloc.flags & RELOC_PRIORITY_MASK,
        })
    }
}
