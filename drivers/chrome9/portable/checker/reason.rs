// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Why a stream is refused: a number for programs, and a text for people.
//!
//! Numbers of this family's checker are 0x4001 to 0x4fff. The meaning of a number never changes.

/// A refusal: what is wrong, and where. User space gets `EINVAL`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Index of the dword of the stream that is at fault, or where the fault shows; the length of the stream if something is
    /// missing at its end. If [`Reason::of_relocation`] says so, index of the relocation.
    pub position: u32,
    /// What is wrong.
    pub reason: Reason,
}

/// Defines the reasons.
macro_rules! reasons {
    ($($(#[$meta:meta])* $name:ident = $number:literal: $text:literal,)*) => {
        /// What is wrong with a stream.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Reason {
            $(
                #[doc = $text]
                $(#[$meta])*
                $name,
            )*
        }

        impl Reason {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Return the number that user space sees. It never changes.
            pub const fn number(self) -> u32 {
                match self {
                    $(Self::$name => $number,)*
                }
            }

            /// Return a few words in ASCII.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

impl Reason {
    /// Return whether the position of a refusal is the index of a relocation, and not that of a dword.
    pub const fn of_relocation(self) -> bool {
        matches!(
            self,
            Self::RelocationLength
                | Self::RelocationOrder
                | Self::RelocationObject
                | Self::RelocationOffset
                | Self::RelocationAlignment
                | Self::RelocationUnused
        )
    }
}

reasons! {
    // The stream as a whole.
    StreamLength = 0x4001: "length that is no multiple of 16 bytes",
    TooManyFixups = 0x4002: "more addresses than relocations",

    // Headers.
    NoHeader = 0x4003: "neither header nor padding where one must be",
    UnknownHeader = 0x4004: "header that does not exist",
    ForbiddenHeader = 0x4005: "header that streams may not have",
    NestedBranch = 0x4006: "branch in a stream, which is a branch itself",
    HeaderBits = 0x4007: "bits of a header that have no meaning",
    EmptyHeader = 0x4008: "header that counts nothing",
    Truncated = 0x4009: "count that reaches beyond the end of the stream",
    HeaderRegister = 0x400a: "header for a register that is no window of parameters",
    HeaderInParameters = 0x400b: "header among parameters, where the regulator may not find it",

    // Settings.
    KernelType = 0x400c: "parameters of a type that belongs to the kernel",
    ReservedType = 0x400d: "parameters of a type that does not exist",
    ForbiddenType = 0x400e: "parameters of a type that streams may not set",
    SettingBits = 0x400f: "setting with bits that have no meaning for its type",
    NotPadding = 0x4010: "parameter of the dummy type that is no padding",

    // Addresses.
    RelocationLength = 0x4020: "relocations that are no whole number of four dwords",
    RelocationOrder = 0x4021: "relocation that is not behind the one before it",
    RelocationObject = 0x4022: "relocation to an object that is not in the list",
    RelocationOffset = 0x4023: "relocation to an offset beyond its object",
    RelocationAlignment = 0x4024: "relocation to an offset that the address cannot have",
    RelocationUnused = 0x4025: "relocation of something that is no address",
    NoRelocation = 0x4026: "address without a relocation",
    AddressBits = 0x4027: "address that is not zero in the stream",

    // Registers in pairs.
    PairRange = 0x4101: "offset beyond the registers of the 2D engine",
    PairAlignment = 0x4102: "offset of a register that is no multiple of 4",
    UnknownRegister = 0x4103: "register that is not known",
    PatternRegister = 0x4104: "register of patterns and lines, which streams cannot have",
    KernelRegister = 0x4105: "register that belongs to the kernel",
    RegisterBits = 0x4106: "bits of a register that have no meaning",
    WaitBits = 0x4107: "wait for something else than an idle 2D engine, 3D engine or HQV",

    // Commands of the 2D engine.
    UnknownCommand = 0x4110: "command that the 2D engine does not have",
    Line = 0x4111: "line of the 2D engine",
    Rotation = 0x4112: "rotation by the 2D engine",
    QuickStart = 0x4113: "early start of the 2D engine",
    SystemDestination = 0x4114: "result of the 2D engine that the CPU would have to read",
    LinearSurface = 0x4115: "surface of the 2D engine without a pitch",
    Pattern = 0x4116: "pattern that is not of one colour",
    PixelDepth = 0x4117: "depth of pixels that does not exist",
    MonoMemory = 0x4118: "monochrome source that does not come from the CPU",
    MonoBits = 0x4119: "bits for monochrome sources without such a source",
    MonoAlignment = 0x411a: "alignment of monochrome rows that does not exist",
    KeyWithoutPixels = 0x411b: "colour key without pixels of a source to compare",

    // State that a command needs.
    NoMode = 0x4120: "2D command without GEMODE in the same stream",
    NoPitch = 0x4121: "2D command without PITCH in the same stream",
    NoDimension = 0x4122: "2D command without DIMENSION in the same stream",
    NoDestinationPosition = 0x4123: "2D command without DSTPOS in the same stream",
    NoDestination = 0x4124: "2D command without DSTBASE in the same stream",
    NoSourcePosition = 0x4125: "2D command without SRCPOS in the same stream",
    NoSource = 0x4126: "2D command without SRCBASE in the same stream",
    NoKey = 0x4127: "2D command without KEYCONTROL in the same stream",
    NoClip = 0x4128: "2D command without both corners of its clip in the same stream",
    NoForeground = 0x4129: "2D command without FGCOLOR in the same stream",
    NoBackground = 0x412a: "2D command without BGCOLOR in the same stream",
    NoPatternColor = 0x412b: "2D command without MONOPATFGC in the same stream",

    // What it touches.
    PitchZero = 0x4130: "pitch of zero for more than the first row",
    DestinationEdge = 0x4131: "rectangle that begins before its destination",
    DestinationBounds = 0x4132: "rectangle that reaches beyond its destination's object",
    SourceEdge = 0x4133: "rectangle that begins before its source",
    SourceBounds = 0x4134: "rectangle that reaches beyond its source's object",
    CopyOverlap = 0x4135: "copy that would read what it has written",

    // Data of the CPU.
    HostNotRead = 0x4140: "data of the CPU for a command that does not read its source",
    HostOrigin = 0x4141: "data of the CPU that does not begin at position 0",
    HostDirection = 0x4142: "data of the CPU for a command that goes backwards",
    HostWindow = 0x4143: "data of the CPU outside of its window",
    HostUnexpected = 0x4144: "data of the CPU without a command that takes it",
    HostExcess = 0x4145: "more data of the CPU than the command takes",
    HostMissing = 0x4146: "less data of the CPU than the command takes",

    // Parameters.
    UnknownParameter = 0x4201: "parameter that is not known",
    ParameterBits = 0x4202: "bits of a parameter that have no meaning",
    LostParameter = 0x4203: "parameter of which only zero is known",
    SubType = 0x4204: "sub-type of parameters that does not exist",
    TableRange = 0x4205: "entry beyond the end of its table",
    TargetCount = 0x4206: "more render targets than there are",
    FastClear = 0x4207: "index of fast clears with more bits than there are",
    VertexCache = 0x4208: "vertex cache, which nothing empties",
    ShaderLength = 0x4209: "shader longer than its memory",
    ReservedValue = 0x420a: "value of a field that is reserved",
    ShaderFog = 0x420b: "fog of the shader and of a render target",
    ShaderDepth = 0x420c: "fog by depth with depth of the shader",
    ClipPlanes = 0x420d: "second group of clip planes without the first",
    Anisotropy = 0x420e: "anisotropic filter in one direction only",

    // State that a draw needs.
    NoAttribute = 0x4210: "draw without all parameters of type 01h in the same stream",
    NoGeneral = 0x4211: "draw without all parameters of type 02h, sub-type FEh, in the same stream",
    NoPrimitive = 0x4212: "draw without all parameters of type 04h in the same stream",
    NoTarget = 0x4213: "draw without all parameters of a render target in the same stream",
    NoDepth = 0x4214: "draw without all parameters of the depth buffer in the same stream",
    NoStencil = 0x4215: "draw without base and location of the stencil buffer in the same stream",
    NoCoarseDepth = 0x4216: "draw without all parameters of the coarse depth buffer in the same stream",
    NoStage = 0x4217: "shader without all parameters of all textures in the same stream",
    NoSample = 0x4218: "shader without all parameters of all samples in the same stream",
    NoTable = 0x4219: "draw without all entries of a table in the same stream",
    NoVertexBuffer = 0x421a: "draw without base and location of the vertex buffer in the same stream",
    NoIndexBounds = 0x421b: "draw by index without bounds of the index in the same stream",
    NoCount = 0x421c: "count of pixels stored without setting it in the same stream",
    SplitAddress = 0x421d: "parts of an address that are not of one place",
    HalfAddress = 0x421e: "half of an address without the other",

    // Caches that may hold what another client has left.
    ColorCache = 0x4220: "cache of colours that the stream has not emptied",
    DepthCache = 0x4221: "cache of depth that the stream has not emptied",
    CoarseCache = 0x4222: "cache of coarse depth that is not empty",
    TextureCache = 0x4223: "cache of textures that the stream has not emptied",

    // What a draw touches.
    WindowRange = 0x4230: "window that is empty or beyond 2048",
    SurfacePitch = 0x4231: "pitch of zero",
    TargetFormat = 0x4232: "format that no render target has",
    TargetBounds = 0x4233: "render target smaller than the windows",
    DepthFormat = 0x4234: "format that no depth buffer has",
    DepthBounds = 0x4235: "depth buffer smaller than the windows",
    StencilFormat = 0x4236: "stencil test with depth that has no stencil",
    StencilBounds = 0x4237: "stencil buffer smaller than the windows",
    CoarseBounds = 0x4238: "coarse depth buffer smaller than the windows",
    CountBounds = 0x4239: "count of pixels stored outside its object",
    TargetBlend = 0x423a: "blending with a format that forbids it",

    // Textures.
    TextureKind = 0x4240: "kind that no texture has",
    TextureSize = 0x4241: "size that no texture has",
    TextureExponents = 0x4242: "exponents of a texture that are not its size",
    TextureFormat = 0x4243: "format that no texture has",
    TextureLevels = 0x4244: "more levels than a texture has",
    TextureAddress = 0x4245: "texture without all addresses in one object",
    TextureBounds = 0x4246: "texture that reaches beyond its object",
    CubeLevels = 0x4247: "levels of a cube that are not offsets from its faces",

    // Vertices.
    VertexLength = 0x4250: "length of a vertex that is not the number of its attributes",
    NanTest = 0x4251: "no test for coordinates that are no numbers",
    PrimitiveType = 0x4252: "primitive that does not exist or is not described",
    PrimitiveCycle = 0x4253: "cycle of vertices that does not take one vertex for each primitive",
    VertexCount = 0x4254: "list that is no whole number of primitives",
    VertexData = 0x4255: "data that are not just what a list takes",
    VertexPitch = 0x4256: "vertex buffer with a pitch of zero",
    VertexBounds = 0x4257: "vertex buffer that ends before its largest index",
    IndexBounds = 0x4258: "largest index that is less than the smallest",
    IndexRange = 0x4259: "index outside its bounds",

    // Registers of HQV in pairs.
    VideoRange = 0x4301: "offset that is no register of HQV",
    VideoBusy = 0x4302: "register of HQV before a wait for the picture that it has started",
    VideoUnfinished = 0x4303: "picture of HQV that the stream does not wait for",
    LostRegister = 0x4304: "register of HQV of which only zero is known",
    VideoFields = 0x4305: "picture by fields, or with a record of those before it",
    SourceTiles = 0x4306: "tiles of a source that is not of motion compensation",

    // Control of HQV.
    VideoControl = 0x4310: "control of HQV that neither starts a picture nor switches it off",
    VideoInterrupt = 0x4311: "interrupt of HQV, which belongs to the kernel",
    VideoSource = 0x4312: "picture whose source is not in memory",
    VideoFormat = 0x4313: "format that no picture has",
    VideoOutput = 0x4314: "destination of 32 bits and of 10 bits a colour at once",

    // State that a picture needs.
    NoVideo = 0x4320: "picture without all registers of HQV in the same stream",
    NoChroma = 0x4321: "picture of two planes without the second in the same stream",
    NoBuffer = 0x4322: "picture without all destinations in the same stream",
    NoSubpicture = 0x4323: "sub-picture without all registers of it in the same stream",
    NoSubpicturePalette = 0x4324: "sub-picture without its whole palette in the same stream",

    // What a picture touches.
    VideoWindow = 0x4330: "window of a picture that is empty",
    VideoOrigin = 0x4331: "neither video nor sub-picture begins where the destination does",
    VideoStride = 0x4332: "stride of zero",
    LumaBounds = 0x4333: "source smaller than its window",
    ChromaBounds = 0x4334: "second plane smaller than the window of the source",
    PictureBounds = 0x4335: "destination smaller than its windows and the background",
    SubpictureBounds = 0x4336: "sub-picture smaller than its window",
    ResidueBounds = 0x4337: "buffer for pixels left of segments smaller than the picture",
}
