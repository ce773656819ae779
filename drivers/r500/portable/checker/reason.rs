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
    OutputTooShort: "output buffer shorter than the stream",
    TooManyFixups: "fixup buffer too short",

    // Packets.
    Truncated: "packet longer than the rest of the stream",
    ReservedHeaderBits: "reserved bits set in a packet header",
    Type1: "type-1 packet",
    UnknownPacket: "unknown type-3 packet",
    ForbiddenPacket: "type-3 packet that streams may not contain",
    Draw3d: "3D packet: not checked yet",
    Palette: "palette for the scaler of the 3D engine: not checked yet",
    PacketLength: "length of a packet does not fit its contents",

    // Registers.
    ForbiddenRegister: "register that streams may not write",
    State3d: "3D register: not checked yet",
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
}
