// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a stream may do with registers and parameters.
//!
//! The register database says what a register *is*. These tables say what the checker does when a stream writes it. They are
//! keyed by name and cover the database. What they do not name is refused.
//!
//! | file | what |
//! | --- | --- |
//! | `engine2d` | registers of the 2D engine, which pairs of header 0 write |
//! | `engine3d` | parameters of types 01h, 02h and 04h |
//! | `reserved` | values that these may not have |
//! | `video` | registers of HQV, which pairs of header 5 write |

mod engine2d;
mod engine3d;
mod reserved;
mod video;

pub use engine2d::{
    of,
    Policy,
    ADMITTED,
    END,
    REFUSED, //
};
pub use engine3d::{
    attribute,
    general,
    primitive,
    sample,
    stage,
    Needed,
    Parameter,
    ATTRIBUTES,
    GENERAL,
    PRIMITIVES,
    SAMPLES,
    STAGES,
    SUB_ADDRESSES, //
};
pub use reserved::{
    reserved,
    Values,
    ATTRIBUTE_VALUES,
    GENERAL_VALUES,
    PRIMITIVE_VALUES,
    SAMPLE_VALUES,
    STAGE_VALUES, //
};
pub use video::{
    video,
    Video,
    VIDEO,
    VIDEO_ADMITTED,
    VIDEO_REGISTERS, //
};
