// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Why a command stream is refused.

/// A refusal: what is wrong, and where. User space gets `EINVAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Index in the stream of the dword that is at fault, or of the one where the fault shows.
    pub position: u32,
    /// What is wrong.
    pub reason: Reason,
}

/// Defines [`Reason`] and its texts in one place.
macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident: $text:literal,)*) => {
        /// What is wrong with a command stream.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Reason {
            $($(#[$meta])* #[doc = $text] $name,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// A few words for a log line.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

reasons! {
    // The caller's buffers.
    TooManyFixups: "fixup buffer too short",

    // Packets.
    Truncated: "packet longer than the rest of the stream",
    ReservedHeaderBits: "reserved bits set in a packet header",
    Type1: "type-1 packet",
    UnknownPacket: "unknown type-3 packet",
    ForbiddenPacket: "type-3 packet that streams may not contain",
    Palette: "palette for a kind of source that streams may not use",
    PacketLength: "length of a packet does not fit its contents",

    // Registers.
    UnknownRegister: "register that is not known",
    KernelRegister: "register of command processor, bus or memory",
    DisplayRegister: "register of the display or another output",
    SetUpRegister: "register that sets pipes up",
    AliasRegister: "register that says in another way what is tracked in one way only",
    DirectDraw: "register that draws without a draw packet",
    OnChipRegister: "register that reads or writes a memory on the chip",
    OtherChip: "register of another chip",
    ForbiddenBits: "bits of a register that streams may not set",

    // Relocations.
    MissingRelocation: "address without a relocation marker behind its packet",
    BadRelocation: "relocation marker that names no entry",
    OffsetBeyondObject: "offset beyond the end of the object",

    // Surfaces.
    ZeroPitch: "pitch of zero",
    TiledPitch: "pitch that no row of tiles has",
    TiledOffset: "offset of a tiled surface is not a multiple of 2 KiB",
    TiledMono: "monochrome surface with tiles",
    MicroTiledSource: "micro-tiled object as source of the 2D engine",

    // GUI control.
    ReservedControlBits: "reserved bits set in a GUI control word",
    PixelType: "pixel type that the 2D engine does not have",
    SourceType: "source type that the 2D engine does not have",
    SourceLoad: "source that the 2D engine does not have",
    BrushType: "brush that the 2D engine does not have",

    // State that an operation needs.
    NoControl: "2D operation without a GUI control word in the same stream",
    NoDestination: "2D operation without pitch and offset of the destination in the same stream",
    NoSource: "2D operation without pitch and offset of the source in the same stream",
    NoDestinationCorner: "2D operation without a fresh corner of the destination",
    NoSourceCorner: "2D operation without a fresh corner of the source",
    NoLineStart: "line without a fresh start point",
    NoDirection: "2D operation without a direction in the same stream or after a line",
    Direction: "packet while the direction is not left to right and top to bottom",
    SourceInFill: "operation without source rectangle whose raster operation reads the source",
    SourceNotFromHost: "host data for an operation that does not read host data",
    SourceNotInMemory: "copy whose source is not in memory",

    // Geometry.
    Coordinate: "coordinate outside -8192 to 8191",
    EmptyArea: "rectangle or span without extent, or inside out",
    AreaRange: "rectangle reaches outside -8192 to 8191",
    DestinationBounds: "destination reaches outside its object",
    SourceBounds: "source reaches outside its object",

    // Host data.
    UnexpectedHostData: "host data while no operation expects any",
    HostDataCount: "host data do not fill the rectangle that waits for them, or overflow it",
    HostDataPending: "something else while an operation waits for host data",
    HostDataUnfinished: "stream ends while an operation waits for host data",

    // What clients share.
    PipesRestricted: "tracked register, draw or end of stream while register writes do not reach all pipes",
    NotHyperZOwner: "hierarchical Z or depth compression without owning their memories",
    NotCmaskOwner: "colour compression without owning its memory",
    OnChipBounds: "fill beyond the end of a memory on the chip",

    // Pictures of the 3D pipeline.
    TilingMode: "tiling that pixels of this size do not have",
    ColorFormat: "colour format that the 3D pipeline does not draw",
    DepthFormat: "depth format that does not exist",
    TextureFormat: "texture format or shape without a known size",
    TextureLevels: "more levels than a texture has, or levels and a pitch",

    // State that a draw needs.
    NoColorControl: "draw without RB3D_CCTL in the same stream",
    NoColorMask: "draw without RB3D_COLOR_CHANNEL_MASK in the same stream",
    NoAntiAlias: "draw without GB_AA_CONFIG in the same stream",
    NoResolveControl: "draw without RB3D_AARESOLVE_CTL in the same stream",
    NoDepthControl: "draw without ZB_CNTL in the same stream",
    NoDepthBandwidth: "draw without ZB_BW_CNTL in the same stream",
    NoScissor: "draw without SC_SCISSOR1 in the same stream",
    NoColorBuffer: "draw to a target without address and pitch in the same stream",
    NoResolveBuffer: "draw that resolves samples without address and pitch in the same stream",
    NoDepthBuffer: "draw with depth without address, pitch and format in the same stream",
    NoTextureEnable: "draw without TX_ENABLE in the same stream",
    NoTexture: "draw with a texture that is not wholly described in the same stream",
    NoArrays: "draw that fetches vertices without arrays in the same stream",
    NoIndexBounds: "draw that fetches vertices without bounds of indices in the same stream",
    NoIndexOffset: "draw that fetches vertices without VAP_INDEX_OFFSET in the same stream",
    NoVertexSize: "draw of vertices in the stream without their size in the same stream",
    NoVertexCount: "draw without VAP_ALT_NUM_VERTICES in the same stream, which it refers to",

    // What a draw touches.
    ColorBounds: "colour buffer smaller than the scissor",
    DepthBounds: "depth buffer smaller than the scissor",
    ResolveBounds: "buffer for resolved samples smaller than the scissor",
    ScissorBounds: "scissor too wide for a buffer, after a draw that relied on it",
    TextureBounds: "texture reaches outside its object",
    ArrayBounds: "vertex array without room for one element",
    VertexBounds: "vertices outside their arrays",
    IndexBounds: "index buffer reaches outside its object",
    IndexOffset: "negative offset of vertices that are counted",
    PassBounds: "count of pixels stored outside its object",

    // Draw packets.
    PrimitiveType: "primitive that does not exist or is not drawn",
    PrimitiveWalk: "vertices come in another way than the packet brings them",
    NoVertices: "draw without vertices",
    ArrayCount: "no vertex arrays or too many",
    VertexData: "dwords of vertices do not fit number and size",
    IndexData: "dwords of indices do not fit their number",
    IndexTarget: "index buffer that does not go to the index port",
    UnexpectedIndices: "index buffer without a draw that waits for it",
    IndicesDue: "something else while a draw waits for its index buffer",
}
