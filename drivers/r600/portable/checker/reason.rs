// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Why a command stream is refused.

/// A refusal: what is wrong, and where. User space gets `EINVAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Index in the stream of the dword that is at fault, or of the dword where the fault shows.
    pub position: u32,
    /// What is wrong.
    pub reason: Reason,
}

lapidary::pm4_reasons! {
    common:
        TooManyFixups Truncated ReservedHeaderBits Type1 UnknownPacket ForbiddenPacket PacketLength
        MissingRelocation BadRelocation OffsetBeyondObject;

    // Packets of either ring.
    ForbiddenBits = 0x2000: "bits of a packet that streams may not set",
    Unaligned = 0x2001: "address that is not a multiple of what the packet accesses",
    SourceBounds = 0x2002: "source reaches outside its object",
    DestinationBounds = 0x2003: "destination reaches outside its object",
    Nothing = 0x2004: "copy, fill or write of no bytes",
    OtherGeneration = 0x2005: "packet that this chip does not have",

    // Packets of the command processor.
    Type0 = 0x2010: "type-0 packet",
    PipePacket = 0x2011: "packet for the 3D pipe, which streams may not use",
    RegisterRange = 0x2012: "packet that names registers outside its range",
    RegisterAccess = 0x2013: "copy or wait that names a register",
    UnknownEvent = 0x2014: "event that does not exist, or that streams may not send",
    EventIndex = 0x2015: "event with the index of another",
    EventAddress = 0x2016: "event without the address that it needs, or with one that it does not take",
    Interrupt = 0x2017: "interrupt at the end of the pipe",
    PollFunction = 0x2018: "comparison that does not exist, or that the prefetch parser does not have",
    Predication = 0x2019: "predication that is not switched off",
    StateMemory = 0x201a: "state that is loaded from memory or copied there",
    SyncBounds = 0x201b: "range of caches that reaches outside its object",

    // Registers.
    UnknownRegister = 0x2020: "register that is not known",
    KernelRegister = 0x2021: "register of command processor, clocks or memory",
    SetUpRegister = 0x2022: "register that sets up what all clients share",
    MemoryRegister = 0x2023: "register that names memory or bounds what is accessed",
    PipeRegister = 0x2024: "register that decides what the 3D pipe does",
    RegisterBits = 0x2025: "bits of a register that streams may not set",

    // Packets of the DMA engine.
    UnknownOperation = 0x2030: "operation that the DMA engine does not have",
    ForbiddenOperation = 0x2031: "operation of the DMA engine that streams may not contain",
    StreamTooLong = 0x2032: "stream longer than an indirect buffer of the DMA engine",
    NoObject = 0x2033: "packet for which the list of relocations has no entry left",
    CountTooLarge = 0x2034: "more dwords than the DMA engine of this chip copies at once",

    // Tiled surfaces.
    TilingMode = 0x2040: "tiling that does not exist",
    PixelSize = 0x2041: "pixels of more than 16 bytes",
    Pitch = 0x2042: "pitch that the tiling does not have",
    TiledOffset = 0x2043: "offset of a tiled surface that the tiling does not have",
    SliceSize = 0x2044: "slice that is not made of whole tiles or is smaller than the surface",
    TilePlace = 0x2045: "place in a tiled surface that is not the first pixel of a tile",
    TiledLines = 0x2046: "lines behind the end of a tiled surface",
    TiledBounds = 0x2047: "tiled surface reaches outside its object",
}
