// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Tracepoints: what happens to submissions, fences, objects and the GPU.
//!
//! The events are declared in `events.h`. An event that is off costs the call of an empty function. All of them may
//! be raised in any context.

use kernel::prelude::*;

use super::extra;

/// A submission has been proven harmless.
#[derive(Clone, Copy)]
pub struct Submission {
    /// The DRM core's number of the client.
    pub client: u64,
    /// Dwords of commands.
    pub dwords: usize,
    /// Entries for objects. Several may name one object.
    pub objects: usize,
    /// Synchronisation objects to wait for.
    pub waits: usize,
}

/// Trace that a submission has been proven harmless. It now waits for earlier work.
pub fn submit(submission: Submission) {
    let Submission {
        client,
        dwords,
        objects,
        waits,
    } = submission;
    // SAFETY: Numbers only.
    unsafe { extra::lapidary_event_submit(client, dwords as u32, objects as u32, waits as u32) };
}

/// Trace that job `seqno` of fence context `context` is on the ring, with its commands at `addr`.
pub fn commit(context: u64, seqno: u64, addr: u64, dwords: u32) {
    // SAFETY: Numbers only.
    unsafe { extra::lapidary_event_commit(context, seqno, addr, dwords) };
}

/// Trace that a fence has signalled with `result`.
pub fn signalled(context: u64, seqno: u64, result: Result) {
    let error = result.err().map_or(0, Error::to_errno);
    // SAFETY: Numbers only.
    unsafe { extra::lapidary_event_signalled(context, seqno, error) };
}

/// Trace that the content of an object of `size` bytes moves to another memory. Address 0 means system pages outside
/// of the GPU's address space.
pub fn moved(size: u64, from: u64, to: u64) {
    // SAFETY: Numbers only.
    unsafe { extra::lapidary_event_move(size, from, to) };
}

/// Trace that ring `ring` hangs in job `seqno`, and that the GPU is going to be reset.
pub fn reset(ring: usize, seqno: u64) {
    // SAFETY: Numbers only.
    unsafe { extra::lapidary_event_reset(ring as u32, seqno) };
}

/// Trace that a submission of `client` is refused for the reason with this number.
pub fn refused(client: u64, reason: u32, position: u32, error: Error) {
    // SAFETY: Numbers only.
    unsafe { extra::lapidary_event_refused(client, reason, position, error.to_errno()) };
}

#[kunit_tests(lapidary_events)]
mod tests {
    use super::*;
    use kernel::error::to_result;

    #[test]
    fn events_arrive_while_somebody_listens() -> Result {
        let mut sum = 0u64;
        // No probe is registered. Fences of other devices may have signalled, but not with such numbers.
        signalled(1 << 60, 1, Ok(()));
        assert!(sum == 0);
        // SAFETY: The sum lives until the probe is unregistered.
        to_result(unsafe { extra::lapidary_event_watch(&mut sum) })?;
        signalled(1 << 40, 7, Err(EIO));
        // SAFETY: Registered above with the same sum.
        unsafe { extra::lapidary_event_unwatch(&mut sum) };
        let seen = sum;
        assert!(seen >= (1 << 40) + 7 + 5);
        signalled(1 << 40, 7, Ok(()));
        assert!(sum == seen);
        Ok(())
    }
}
