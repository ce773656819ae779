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
    /// The stream of the ring is started anew while it is fetched.
    RING_RESTART = "ring-restart",
    /// A pause address that adds fewer than five units, or that does not end a block of 80h bytes.
    RING_KICK = "ring-kick",
    /// The fetcher has reached the end of the ring.
    RING_END = "ring-end",
    /// What stands where a header has to be is neither one nor padding.
    NO_HEADER = "no-header",
    /// A header for a register that it cannot write.
    HEADER_REGISTER = "header-register",
    /// A header that the model does not execute.
    UNIMPLEMENTED_HEADER = "unimplemented-header",
    /// A stream ends within what a header counts.
    STREAM_TRUNCATED = "stream-truncated",
    /// A fence that waits for room in the queue of fences, whose emptying is not public.
    FENCE_QUEUE_FULL = "fence-queue-full",
    /// What is to be restored is not what was saved.
    STATE_NOT_SAVED = "state-not-saved",
    /// A branch in a branch.
    NESTED_BRANCH = "nested-branch",
    /// A branch while branches are forbidden.
    BRANCH_DISABLED = "branch-disabled",
    /// A wait for a vertical blank of a display that is dark, which would last for ever.
    WAIT_FOR_NOTHING = "wait-for-nothing",
    /// A read of the fetcher while another block is chosen for reading back.
    READ_BACK_BLOCK = "read-back-block",
    /// An address of the GART without a page.
    GART_FAULT = "gart-fault",
    /// An entry of the GART that has changed since the last flush.
    GART_STALE = "gart-stale",
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
    /// A draw, or a count of pixels, depends on parameters that were never written.
    UNDEFINED_STATE = "undefined-state",
    /// A parameter, a fence or the end of a stream comes while a primitive list waits for data, or vertices are left over.
    UNFINISHED_PRIMITIVE = "unfinished-primitive",
    /// A header comes while a primitive list waits for data, and does not go on with it.
    HEADER_IN_PRIMITIVE = "header-in-primitive",
    /// A coordinate is no number, and nothing looks for that.
    NAN_VERTEX = "nan-vertex",
    /// An index outside of its bounds, or bounds that hold none.
    INDEX_BOUNDS = "index-bounds",
    /// A window of a picture of HQV that ends where it begins, or before.
    EMPTY_WINDOW = "empty-window",
    /// Both halves of an address are used, and one is from another stream.
    HALF_ADDRESS = "half-address",
}

#[cfg(test)]
mod tests {
    use super::ALL;

    #[test]
    fn names_are_distinct_words() {
        assert_eq!(super::mistakes(ALL), [""; 0]);
    }
}
