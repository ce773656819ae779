// SPDX-License-Identifier: GPL-2.0 OR MIT

//! INFO on R6xx and R7xx. Expected answers are those that upstream gives and that Mesa's r600 relies on.

use anyhow::{Context as _, Result, bail, ensure};
use lapidary_guest::abi::{self, info_request as find};
use lapidary_guest::{Client as _, Errno};
use lapidary_harness::{Context, Test, refused};

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("r600/info/pipes_and_tiles", pipes_and_tiles),
        Test::new("r600/info/not_for_this_family", not_for_this_family),
        Test::new("r600/info/rings", rings),
        Test::new("r600/info/registers", registers),
        Test::new("r600/info/time", time),
    ]
}

/// A chip, and what its fuses leave.
struct Chip {
    id: u64,
    pipes: u64,
    tile_pipes: u64,
    /// Backends as the chip was made, whatever the fuses say.
    backends: u64,
    whole: Units,
    /// Every second unit works, beginning with the first.
    half: Units,
}

/// Units that work.
#[derive(Clone, Copy)]
struct Units {
    simds: u64,
    backend_map: u64,
}

/// Return a row of the table.
const fn chip(
    id: u64,
    [pipes, tile_pipes, backends]: [u64; 3],
    [whole, half]: [(u64, u64); 2],
) -> Chip {
    Chip {
        id,
        pipes,
        tile_pipes,
        backends,
        whole: Units {
            simds: whole.0,
            backend_map: whole.1,
        },
        half: Units {
            simds: half.0,
            backend_map: half.1,
        },
    }
}

/// R600, RV610, RV635, RV670, RV770, RV730, RV710, RV740.
const CHIPS: [Chip; 8] = [
    chip(0x9400, [4, 8, 4], [(4, 0xfa50), (2, 0xaa00)]),
    chip(0x94c3, [1, 1, 1], [(2, 0), (1, 0)]),
    chip(0x9598, [2, 2, 1], [(3, 0), (2, 0)]),
    chip(0x9501, [4, 4, 4], [(4, 0xe4), (2, 0xa0)]),
    chip(0x9440, [4, 8, 4], [(10, 0xfa50), (5, 0xaa00)]),
    chip(0x9490, [2, 4, 2], [(8, 0x50), (4, 0)]),
    chip(0x9540, [2, 2, 1], [(2, 0), (1, 0)]),
    chip(0x94b3, [4, 4, 4], [(8, 0xe4), (4, 0xa0)]),
];

impl Chip {
    /// Return what fuses of that name leave.
    fn units(&self, fuses: &str) -> Result<Units> {
        Ok(match fuses {
            "whole" => self.whole,
            "half" => self.half,
            // Fuses that cannot be true. Memory is tiled as on a whole chip.
            "nothing" => Units {
                simds: 0,
                ..self.whole
            },
            other => bail!("LAPIDARY_FUSES is {other}"),
        })
    }
}

/// The model's fuses (`gpu-model --fuses`) are in LAPIDARY_FUSES, if not those of a whole chip.
fn pipes_and_tiles(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let id = device.info(find("DEVICE_ID"))?;
    let chip = CHIPS
        .iter()
        .find(|chip| chip.id == id)
        .with_context(|| format!("no model is {id:#x}"))?;
    let fuses = std::env::var("LAPIDARY_FUSES");
    let units = chip.units(fuses.as_deref().unwrap_or("whole"))?;
    // The bits that are the same for all models, and the pipes.
    let tiling = 0x4910 | (u64::from(chip.tile_pipes.ilog2()) << 1);
    for (name, want) in [
        ("MAX_PIPES", chip.pipes),
        ("NUM_TILE_PIPES", chip.tile_pipes),
        ("NUM_BACKENDS", chip.backends),
        ("BACKEND_MAP", units.backend_map),
        ("TILING_CONFIG", (units.backend_map << 16) | tiling),
        ("ACTIVE_CU_COUNT", units.simds),
        ("MAX_SE", 1),
        ("NUM_GB_PIPES", 0),
        ("NUM_Z_PIPES", 0),
    ] {
        let found = device.info(find(name)).context(name)?;
        ensure!(found == want, "{name}: {found:#x}, not {want:#x}");
    }
    let crystal = device.info(find("CLOCK_CRYSTAL_FREQ"))?;
    ensure!(
        (10_000..200_000).contains(&crystal),
        "a crystal of {crystal} kHz"
    );
    Ok(())
}

fn not_for_this_family(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for name in [
        "VA_START",
        "IB_VM_MAX_SIZE",
        "MAX_SH_PER_SE",
        "SI_TILE_MODE_ARRAY",
        "CIK_MACROTILE_MODE_ARRAY",
        "SI_BACKEND_ENABLED_MASK",
    ] {
        refused(name, device.info(find(name)), Errno::INVAL)?;
    }
    Ok(())
}

/// Only R7xx have a DMA ring.
fn rings(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let id = device.info(find("DEVICE_ID"))?;
    let r7xx = [0x9440, 0x9490, 0x9540, 0x94b3].contains(&id);
    let working = |ring| device.info_with(const { find("RING_WORKING") }, ring);
    for (ring, want) in [
        (abi::RING_GFX, 1),
        (abi::RING_COMPUTE, 1),
        (abi::RING_DMA, u64::from(r7xx)),
        (abi::RING_UVD, 0),
        (abi::RING_VCE, 0),
    ] {
        let found = working(ring).with_context(|| format!("ring {ring}"))?;
        ensure!(found == want, "ring {ring}: {found}");
    }
    for ring in [5, 100, u32::MAX] {
        refused(&format!("ring {ring}"), working(ring), Errno::INVAL)?;
    }
    Ok(())
}

/// Clients may read some status registers, and no others.
fn registers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let read = |offset| device.info_with(const { find("READ_REG") }, offset);
    // GRBM_STATUS, GRBM_STATUS2, SRBM_STATUS, DMA_STATUS_REG.
    for offset in [0x8010, 0x8014, 0xe50, 0xd034] {
        read(offset).with_context(|| format!("register {offset:#x}"))?;
    }
    for offset in [0, 4, 0x8500, 0x8012, 0xc104, 0x1_0000, u32::MAX] {
        refused(&format!("register {offset:#x}"), read(offset), Errno::INVAL)?;
    }
    Ok(())
}

/// The clock counter of the GPU goes on.
fn time(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let first = device.info(find("TIMESTAMP"))?;
    let second = device.info(find("TIMESTAMP"))?;
    ensure!(second > first, "{second} after {first}");
    Ok(())
}
