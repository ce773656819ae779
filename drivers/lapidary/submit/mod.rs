// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The path of a submission, from the words of user space to the ring.
//!
//! ```text
//! objects → prove → wait and lock → place → job → commit → fence → interrupt → retire
//! ```
//!
//! It begins when the family's user-space interface has copied the commands in. It does not depend on how clients
//! encode them. Each step is a type. Each step consumes the result of the step before it, and only that step can make
//! it:
//!
//! | step | type | made by | what may fail |
//! | --- | --- | --- | --- |
//! | commands, and objects with where they may be | [`objects::Objects`] | the interface | handles |
//! | commands proven harmless | [`checked::Checked`] | `Objects::prove` | the check |
//! | fences of other drivers waited for, objects locked | [`locked::Locked`] | `Checked::lock` | signals, [`others`] |
//! | objects at their [`addresses`], addresses in the words | [`placed::Placed`] | `Locked::place` | memory |
//! | everything reserved | [`job::Job`] | `Placed::prepare` | room on the ring |
//! | on the ring | a fence | [`job::Job::commit`] | nothing |
//!
//! The words stay in one piece of memory, which the steps pass on ([`workspace`]).
//!
//! A submission may also wait for synchronisation objects and signal them. It looks them up before the proof, and
//! waits before it locks the objects ([`syncs`]).
//!
//! Submissions that place objects at the same time do not take each other's last room ([`placing`]).
//!
//! So an unproven stream cannot reach a ring, user memory is not accessed once objects are locked, and addresses
//! exist only while they cannot change. Commands of the kernel itself ([`kernel_stream`]) begin with the job.

mod addresses;
pub mod admission;
pub mod checked;
pub mod job;
pub mod kernel_stream;
pub mod lane;
pub mod locked;
pub mod objects;
pub mod others;
pub mod placed;
pub mod placing;
pub(crate) mod pool;
mod self_test;
pub mod syncs;
pub mod workspace;
