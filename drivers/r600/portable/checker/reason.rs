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
    // 0x2011 was a packet for the 3D pipe.
    RegisterRange = 0x2012: "packet that names registers outside its range",
    RegisterAccess = 0x2013: "copy or wait that names a register",
    UnknownEvent = 0x2014: "event that does not exist, or that streams may not send",
    EventIndex = 0x2015: "event with the index of another",
    EventAddress = 0x2016: "event without the address that it needs, or with one that it does not take",
    Interrupt = 0x2017: "interrupt at the end of the pipe",
    PollFunction = 0x2018: "comparison that does not exist, or that the prefetch parser does not have",
    Predication = 0x2019: "predication by a result that does not exist",
    StateMemory = 0x201a: "state that is loaded from memory or copied there",
    SyncBounds = 0x201b: "range of caches that reaches outside its object",
    Predicated = 0x201c: "predicated packet that is not a draw",
    ObjectTiling = 0x201d: "tiling that is to be taken from an object",

    // Registers.
    UnknownRegister = 0x2020: "register that is not known",
    KernelRegister = 0x2021: "register of command processor, clocks or memory",
    SetUpRegister = 0x2022: "register that sets up what all clients share",
    MemoryRegister = 0x2023: "register that names memory or bounds what is accessed",
    // 0x2024 was a register that decides what the 3D pipe does.
    RegisterBits = 0x2025: "bits of a register that streams may not set",
    PacketRegister = 0x2026: "register that only packets write",
    RegisterValue = 0x2027: "value of a register that streams may not write",
    DrawsMayRun = 0x2028: "register of a ring without a wait for draws before",

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

    // Draws.
    PrimitiveType = 0x2050: "primitive that does not exist for 3D draws",
    DrawInitiator = 0x2051: "draw whose indices do not come from where the packet says",
    IndexType = 0x2052: "indices whose width is not stated, or does not exist",
    NoIndices = 0x2053: "draw without indices",
    IndexData = 0x2054: "number of indices in the packet is not what it says",
    NoSamples = 0x2055: "draw without PA_SC_AA_CONFIG from the same stream",
    NoGeometryMode = 0x2056: "draw without VGT_GS_MODE from the same stream",
    ScissorBounds = 0x2057: "scissor reaches outside a target",
    SliceOrder = 0x2058: "first slice of a target behind the last one",

    // Colour targets.
    NoTargetMask = 0x2060: "draw without CB_TARGET_MASK from the same stream",
    NoColorControl = 0x2061: "draw without CB_COLOR_CONTROL from the same stream",
    NoColorInfo = 0x2062: "draw without all eight CB_COLOR_INFO from the same stream",
    NoColorBuffer = 0x2063: "draw to a target whose address, size or slices are not stated",
    ColorFormat = 0x2064: "format that is not that of a colour target",
    ColorBounds = 0x2065: "colour target reaches outside its object",
    TileMode = 0x2066: "use of CMASK and FMASK that does not exist",
    NoColorMasks = 0x2067: "draw to a target whose CMASK or FMASK are not stated",
    CmaskBounds = 0x2068: "CMASK reaches outside its object",
    FmaskBounds = 0x2069: "FMASK reaches outside its object",

    // The depth target.
    NoDepthInfo = 0x2070: "draw without DB_DEPTH_INFO from the same stream",
    NoDepthBuffer = 0x2071: "draw with a depth target whose address, size or slices are not stated",
    DepthBounds = 0x2073: "depth target reaches outside its object",
    NoHtile = 0x2074: "draw with HTILE whose address or layout is not stated",
    HtileSize = 0x2075: "tiles of HTILE that are not of 8 x 8 pixels",
    HtileBounds = 0x2076: "HTILE reaches outside its object",

    // Shaders.
    ProgramBounds = 0x2080: "program does not begin in its object",
    NoConstantSize = 0x2081: "draw with a constant buffer whose size is not stated",
    NoConstants = 0x2082: "draw with a constant buffer whose address is not stated",
    ConstantBounds = 0x2083: "constant buffer reaches outside its object",
    RingState = 0x2084: "draw with a ring whose address, size or elements are not stated",
    RingItem = 0x2085: "element of a ring larger than the ring",
    RingBounds = 0x2086: "ring reaches outside its object",

    // Stream-out.
    StreamOutState = 0x2090: "stream-out buffer whose address, size or distance of vertices is not stated",
    StreamOutBounds = 0x2091: "stream-out buffer reaches outside its object",
    StreamOutOffset = 0x2092: "stream-out that goes on behind the end of its buffer",
    StreamOutBase = 0x2093: "address of a stream-out buffer that is not the one in its register",

    // Resources, samplers and constants; surfaces of any kind.
    ElementTiling = 0x20a0: "tiling of elements whose size is not a power of two",
    SampleTiling = 0x20a1: "several samples without 2D tiling",
    ResourceSlot = 0x20a2: "resource that does not exist",
    PartialResource = 0x20a3: "part of a resource",
    ResourceType = 0x20a4: "resource that is neither a buffer nor a texture",
    ByteOrder = 0x20a5: "resource with another byte order than the chip",
    BufferBounds = 0x20a6: "buffer that begins outside its object",
    TextureFormat = 0x20a7: "texture format that this chip does not have, or whose size is not known",
    TexturePitch = 0x20a8: "lines of a texture overlap",
    TextureSamples = 0x20a9: "texture with more than eight samples",
    TextureLevels = 0x20aa: "first level of a texture behind the last one",
    TextureLayers = 0x20ab: "first layer of a texture behind the last one",
    CubeLayers = 0x20ac: "several cubes in a texture",
    Interlaced = 0x20ad: "texture of two fields",
    TextureBounds = 0x20ae: "base level of a texture reaches outside its object",
    MipBounds = 0x20af: "levels of a texture reach outside their object",
    SamplerSlot = 0x20b0: "sampler that does not exist",
    PartialSampler = 0x20b1: "part of a sampler",
    ConstantRange = 0x20b2: "constants that do not exist",
}
