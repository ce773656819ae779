// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The kinds of misuse that a Chrome9 can show, beside those of any card.

pub use lapidary_model::kind::*;

lapidary_model::kinds! { FAMILY;
    /// A window of the command regulator got a type of parameters that it does not take.
    WINDOW_TYPE = "window-type",
    /// A parameter that the database does not know was set.
    UNDEFINED_PARAMETER = "undefined-parameter",
    /// A parameter was set at which hardware does something that the model does not; once for each.
    UNIMPLEMENTED_PARAMETER = "unimplemented-parameter",
    /// A value that the manual calls reserved, or a combination that it forbids.
    RESERVED_VALUE = "reserved-value",
    /// A command queue that is not as long as its ends say, too short, or not in its memory.
    QUEUE_SETUP = "queue-setup",
    /// An address beyond the end of the frame buffer.
    FRAME_BUFFER_RANGE = "frame-buffer-range",
    /// The 2D engine was told something that the model does not do.
    ENGINE2D_UNSUPPORTED = "engine2d-unsupported",
    /// The 2D engine got a new command while it waited for data of the CPU.
    HOST_DATA_MISSING = "host-data-missing",
    /// A copy reads pixels that it has written before.
    COPY_OVERLAP = "copy-overlap",
    /// A pitch of 0 with more than one row.
    PITCH_ZERO = "pitch-zero",
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_distinct_words() {
        assert_eq!(super::mistakes(ALL), [""; 0]);
    }
}
