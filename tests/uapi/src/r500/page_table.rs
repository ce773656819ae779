// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The page table of the GTT window lies in video memory. A client that could write to it could read all of the
//! machine's memory, so no object lies next to it.

use anyhow::{Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::territory;
use lapidary_guest::{Domain, abi};
use lapidary_harness::mapping::PAGE;
use lapidary_harness::{Context, Test};
use lapidary_uapi_radeon::memory::{MIB, in_vram, room};
use lapidary_uapi_radeon::support::peek;

/// A row of blocks of the longest pitch that a surface register holds, 511 units of 8 bytes: the most that a client's
/// wrong pitch could make the CPU's accesses go astray. 32 lines of tiles.
const APART: u64 = 511 * 8 * 32;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("memory/nothing_borders_on_the_page_table", page_table)
            .needs_control()
            .lapidary_only("upstream's page table lies among the objects"),
    ]
}

/// Fill video memory to the last page, and look where everything lies.
fn page_table(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    room(&device)?;
    let memory = device.gem_info()?;
    let entries = memory.gart_size / PAGE;
    let control = context.control()?;
    let table = u64::from(peek(control, "PCIE_TX_GART_BASE")?);
    let scapegoat = u64::from(peek(control, "PCIE_TX_DISCARD_RD_ADDR_LO")?);
    let kept = table.min(scapegoat)..(table + entries * 4).max(scapegoat + PAGE);

    let free = || -> Result<u64> {
        let used = device.info(const { abi::info_request("VRAM_USAGE") })?;
        Ok(memory.vram_size.saturating_sub(used))
    };
    let mut objects = Vec::new();
    let mut size = 16 * MIB;
    while size >= PAGE {
        if free()? < size {
            size /= 2;
            continue;
        }
        objects.push(device.create(size, Domain::Vram)?);
        // There are holes, but none of this size: another has left.
        let all = objects.iter().all(in_vram);
        size /= if all { 1 } else { 2 };
    }
    let mut nearest = u64::MAX;
    for bo in objects.iter().filter(|bo| in_vram(bo)) {
        let start = territory::address(context.control()?, bo)?;
        let end = start + bo.size();
        ensure!(
            end + APART <= kept.start || kept.end + APART <= start,
            "an object at {start:#x}..{end:#x}, the page table at {kept:#x?}"
        );
        let apart = kept.start.checked_sub(end);
        nearest = nearest.min(apart.or(start.checked_sub(kept.end)).unwrap_or(0));
    }
    ensure!(
        nearest < 2 * APART,
        "the nearest object is {nearest:#x} bytes away: memory is not full"
    );
    Ok(())
}
