// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the fuzzers of command checkers have in common.
//!
//! A checker admits a stream only if all memory that the chip accesses by it lies in the objects of the stream. A
//! fuzzer makes streams, has the checker judge them, and executes on the model what it admits. The model computes
//! each byte that its units access from its own reading of the manual. None may lie outside the objects.
//!
//! A round makes one stream and a few spoilt ones from a number of its own, so that each round can be repeated alone.
//! What differs from family to family is a [`Family`].
//!
//! | module | what |
//! | --- | --- |
//! | [`chance`] | small decisions |
//! | [`family`] | what a family must say: its cases, its checker, its model |
//! | [`scene`] | a submission in the making |
//! | [`rounds`] | one round |
//! | [`run`](mod@run) | rounds on many threads, and the settings |
//! | [`mutate`] | ways to spoil a stream |
//! | [`minimize`](mod@minimize) | the smallest stream that shows a fault |
//! | [`place`] | places for objects in the address space of a bench |
//! | [`report`] | what a run has looked at |
//! | [`rate`] | how fast a checker is: not of the fuzz, but of the benches of the same checkers |
//! | [`roms`] | images of a video BIOS, for the guard of posting |

pub mod chance;
pub mod family;
pub mod minimize;
pub mod mutate;
pub mod place;
pub mod rate;
pub mod report;
pub mod roms;
pub mod rounds;
pub mod run;
pub mod scene;

pub use family::{Case, Family, Grammar, Verdict};
pub use minimize::minimize;
pub use report::{Report, Share};
pub use run::{Settings, run, run_from_environment};
pub use scene::Scene;
