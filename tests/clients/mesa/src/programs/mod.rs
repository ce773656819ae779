// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The programs. Each takes a [`Scene`](crate::scene::Scene), uses one part of OpenGL in the variety that
//! makes a driver emit different registers and packets, waits for the GPU, and returns an error if a call
//! failed. None looks at what was drawn: the model executes no draws.

pub mod basic;
pub mod blocks;
pub mod conditions;
pub mod copies;
pub mod depth;
pub mod feedback;
pub mod fixed;
pub mod geometry;
pub mod hang;
pub mod instances;
pub mod language;
pub mod layers;
pub mod outputs;
pub mod samples;
pub mod several;
pub mod stage;
pub mod target;
pub mod texture;
pub mod wait;
