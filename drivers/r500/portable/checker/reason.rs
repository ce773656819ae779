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

    // Packets.
    Packet2d = 0x106a: "type-3 packet for the 2D engine, which streams drive by registers",

    // Registers.
    UnknownRegister = 0x1009: "register that is not known",
    KernelRegister = 0x100a: "register of command processor, bus or memory",
    DisplayRegister = 0x100b: "register of the display or another output",
    SetUpRegister = 0x100c: "register that sets pipes up",
    AliasRegister = 0x100d: "register that says in another way what is tracked in one way only",
    DirectDraw = 0x100e: "register that draws without a draw packet",
    OnChipRegister = 0x100f: "register that reads or writes a memory on the chip",
    OtherChip = 0x1010: "register of another chip",
    ForbiddenBits = 0x1011: "bits of a register that streams may not set",

    // Surfaces.
    ZeroPitch = 0x1015: "pitch of zero",
    TiledPitch = 0x1016: "pitch that no row of tiles has",
    TiledOffset = 0x1017: "offset of a tiled surface is not a multiple of 2 KiB",
    TiledMono = 0x1018: "monochrome surface with tiles",
    MicroTiledSource = 0x1019: "micro-tiled object as source of the 2D engine",

    // GUI control.
    ReservedControlBits = 0x101a: "reserved bits set in a GUI control word",
    PixelType = 0x101b: "pixel type that the 2D engine does not have",
    SourceType = 0x101c: "source type that the 2D engine does not have",
    SourceLoad = 0x101d: "source that the 2D engine does not have",
    BrushType = 0x101e: "brush that the 2D engine does not have",

    // State that an operation needs.
    NoControl = 0x101f: "2D operation without a GUI control word in the same stream",
    NoDestination = 0x1020: "2D operation without pitch and offset of the destination in the same stream",
    NoSource = 0x1021: "2D operation without pitch and offset of the source in the same stream",
    NoDestinationCorner = 0x1022: "2D operation without a fresh corner of the destination",
    NoSourceCorner = 0x1023: "2D operation without a fresh corner of the source",
    NoLineStart = 0x1024: "line without a fresh start point",
    NoDirection = 0x1025: "2D operation without a direction in the same stream or after a line",
    SourceInLine = 0x1027: "line whose raster operation or colour compare reads the source",
    SourceNotFromHost = 0x1028: "host data for an operation that does not read host data",

    // Geometry.
    Coordinate = 0x102a: "coordinate outside -8192 to 8191",
    EmptyArea = 0x102b: "rectangle or span without extent, or inside out",
    AreaRange = 0x102c: "rectangle reaches outside -8192 to 8191",
    DestinationBounds = 0x102d: "destination reaches outside its object",
    SourceBounds = 0x102e: "source reaches outside its object",

    // Host data.
    UnexpectedHostData = 0x102f: "host data while no operation expects any",
    HostDataCount = 0x1030: "host data do not fill the rectangle that waits for them, or overflow it",
    HostDataPending = 0x1031: "something else while an operation waits for host data",
    HostDataUnfinished = 0x1032: "stream ends while an operation waits for host data",

    // What clients share.
    PipesRestricted = 0x1033: "tracked register, draw or end of stream while register writes do not reach all pipes",
    NotHyperZOwner = 0x1034: "hierarchical Z or depth compression without owning their memories",
    NotCmaskOwner = 0x1035: "colour compression without owning its memory",
    OnChipBounds = 0x1036: "fill beyond the end of a memory on the chip",

    // Pictures of the 3D pipeline.
    TilingMode = 0x1037: "tiling that pixels of this size do not have",
    ColorFormat = 0x1038: "colour format that the 3D pipeline does not draw",
    DepthFormat = 0x1039: "depth format that does not exist",
    TextureFormat = 0x103a: "texture format or shape without a known size",
    TextureLevels = 0x103b: "more levels than a texture has, or levels and a pitch",

    // State that a draw needs.
    NoColorControl = 0x103c: "draw without RB3D_CCTL in the same stream",
    NoColorMask = 0x103d: "draw without RB3D_COLOR_CHANNEL_MASK in the same stream",
    NoAntiAlias = 0x103e: "draw without GB_AA_CONFIG in the same stream",
    NoResolveControl = 0x103f: "draw without RB3D_AARESOLVE_CTL in the same stream",
    NoDepthControl = 0x1040: "draw without ZB_CNTL in the same stream",
    NoDepthBandwidth = 0x1041: "draw without ZB_BW_CNTL in the same stream",
    NoScissor = 0x1042: "draw without SC_SCISSOR1 in the same stream",
    NoColorBuffer = 0x1043: "draw to a target without address and pitch in the same stream",
    NoResolveBuffer = 0x1044: "draw that resolves samples without address and pitch in the same stream",
    NoDepthBuffer = 0x1045: "draw with depth without address, pitch and format in the same stream",
    NoTextureEnable = 0x1046: "draw without TX_ENABLE in the same stream",
    NoTexture = 0x1047: "draw with a texture that is not wholly described in the same stream",
    NoArrays = 0x1048: "draw that fetches vertices without arrays in the same stream",
    NoIndexBounds = 0x1049: "draw that fetches vertices without bounds of indices in the same stream",
    NoIndexOffset = 0x104a: "draw that fetches vertices without VAP_INDEX_OFFSET in the same stream",
    NoVertexSize = 0x104b: "draw of vertices in the stream without their size in the same stream",
    NoVertexCount = 0x104c: "draw without VAP_ALT_NUM_VERTICES in the same stream, which it refers to",

    // What a draw touches.
    ColorBounds = 0x104d: "colour buffer smaller than the scissor",
    DepthBounds = 0x104e: "depth buffer smaller than the scissor",
    ResolveBounds = 0x104f: "buffer for resolved samples smaller than the scissor",
    ScissorBounds = 0x1050: "scissor too wide for a buffer, after a draw that relied on it",
    TextureBounds = 0x1051: "texture reaches outside its object",
    ArrayBounds = 0x1052: "vertex array without room for one element",
    VertexBounds = 0x1053: "vertices outside their arrays",
    IndexBounds = 0x1054: "index buffer reaches outside its object",
    IndexOffset = 0x1055: "negative offset of vertices that are counted",
    PassBounds = 0x1056: "count of pixels stored outside its object",

    // Draw packets.
    PrimitiveType = 0x1057: "primitive that does not exist or is not drawn",
    PrimitiveWalk = 0x1058: "vertices come in another way than the packet brings them",
    NoVertices = 0x1059: "draw without vertices",
    ArrayCount = 0x105a: "no vertex arrays or too many",
    VertexData = 0x105b: "dwords of vertices do not fit number and size",
    IndexData = 0x105c: "dwords of indices do not fit their number",
    IndexTarget = 0x105d: "index buffer that does not go to the index port",
    UnexpectedIndices = 0x105e: "index buffer without a draw that waits for it",
    IndicesDue = 0x105f: "something else while a draw waits for its index buffer",
    EmptyVertex = 0x1060: "draw of vertices in the stream that have no dwords",
    WritesDue = 0x1061: "draw too close behind PS3_VTX_FMT or PS3_TEX_SOURCE",

    // Caches.
    ColorCache = 0x1062: "register that may change only while the colour cache is empty",
    DepthCache = 0x1063: "register that may change only while the depth cache is empty",

    // Pictures that the manual rules out.
    CubeShape = 0x1064: "cube whose faces are not square",
    DepthTiles = 0x1065: "16-bit depth of one sample in micro-tiles that are not square",
    DepthCompression = 0x1066: "fast fill and depth compression in a combination that the chip does not have",
    CompressedFormat = 0x1067: "compressed depth of 16 bits",
    CompressedTiles = 0x1068: "fast fill or compressed depth without micro-tiles",
    CompressedPitch = 0x1069: "pitch of compressed depth that its squares do not fill",
}
