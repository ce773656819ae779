// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The state that a draw sees, and what is found out about it.

use lapidary_model::registers::Space;
use lapidary_model::runs::Runs;
use lapidary_registers::RegArray;
use lapidary_registers::r600::enums::gs_mode;
use lapidary_registers::r600::mmio;

use super::area::{Area, Client};
use crate::chips::Variant;
use crate::kind::Kind;

/// The registers of a chip.
#[derive(Clone, Copy)]
pub struct State<'a> {
    regs: &'a Space,
    /// The chip.
    pub chip: &'static Variant,
}

impl<'a> State<'a> {
    /// Return the present state.
    pub fn new(regs: &'a Space, chip: &'static Variant) -> State<'a> {
        State { regs, chip }
    }

    /// Return a register.
    pub fn get(&self, register: u32) -> u32 {
        self.regs.get(register)
    }

    /// Return a register of an array; zero behind its end.
    pub fn at(&self, array: RegArray, index: u32) -> u32 {
        array.at(index).map_or(0, |offset| self.regs.get(offset))
    }

    /// Return whether the geometry shader runs, and with it the export shader. In scenario A the vertex grouper only counts
    /// primitives for the shaders that run anyway: Mesa draws with it without either of the two (`r600_state_common.c`), and
    /// nothing public says more.
    pub fn geometry(&self) -> bool {
        use mmio::vgt_gs_mode::MODE;
        matches!(
            MODE.get(self.get(mmio::VGT_GS_MODE)),
            gs_mode::GS_SCENARIO_B | gs_mode::GS_SCENARIO_G
        )
    }

    /// Return the binary logarithm of the samples of a pixel.
    pub fn log2_samples(&self) -> u32 {
        mmio::pa_sc_aa_config::MSAA_NUM_SAMPLES.get(self.get(mmio::PA_SC_AA_CONFIG))
    }
}

/// Something that a draw may touch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// Who and where.
    pub area: Area,
    /// The register that holds its address.
    pub base: u32,
}

/// What a draw may touch, and what is wrong with its state.
#[derive(Debug, Default)]
pub struct Found {
    /// The former.
    pub pieces: Vec<Piece>,
    /// The latter, in words.
    pub complaints: Vec<(Kind, String)>,
}

impl Found {
    /// Record that a unit reads.
    pub fn reads(&mut self, base: u32, client: Client, runs: Runs) {
        self.touches(base, client, (true, false), runs);
    }

    /// Record that a unit reads and writes.
    pub fn changes(&mut self, base: u32, client: Client, runs: Runs) {
        self.touches(base, client, (true, true), runs);
    }

    /// Record that a unit may read, and may write.
    pub fn touches(&mut self, base: u32, client: Client, (read, write): (bool, bool), runs: Runs) {
        if !runs.is_empty() && (read || write) {
            let area = Area {
                client,
                read,
                write,
                runs,
            };
            self.pieces.push(Piece { area, base });
        }
    }

    /// Record that something is wrong.
    pub fn complain(&mut self, kind: Kind, text: String) {
        self.complaints.push((kind, text));
    }

    /// Forget everything.
    pub fn clear(&mut self) {
        self.pieces.clear();
        self.complaints.clear();
    }
}
