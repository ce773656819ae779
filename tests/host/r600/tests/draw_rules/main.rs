// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The rules for draws: for each a stream that passes, and one that differs in a register or a dword and is refused for
//! just that reason.
//!
//! | file | what |
//! | --- | --- |
//! | `stream` | how streams are built and changed |
//! | `clients` | streams in the form of Mesa's, on all chips |
//! | `color`, `depth` | targets |
//! | `shaders` | programs, constant buffers, rings, scratch memory |
//! | `stream_out` | stream-out buffers and their packets |
//! | `draws` | indices, scissors, what a draw needs |

#[path = "../support/mod.rs"]
mod support;

mod clients;
mod color;
mod depth;
mod draws;
mod shaders;
mod stream;
mod stream_out;
