// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the chip has been told when the driver has it, whatever firmware, or the kernel before, had left there.
//!
//! On the model of a card that was left in a bad state (`--state careless`) each of these registers has another value
//! before. On others many are right from the start. Sleep and reset lose all of them.

use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::Domain;
use lapidary_harness::control::Control;
use lapidary_harness::limit::Limit;
use lapidary_harness::machine::{self, Depth, Kind};
use lapidary_harness::{Context, Test};
use lapidary_registers::r500::{mmio, pcie, pll};
use lapidary_uapi_radeon::support::{engine_works, fill, peek, surface};
use std::time::Duration;

const PROMISE: &str = "how upstream's driver sets up the chip is its own affair";
/// Bytes of a page.
const PAGE: u64 = 4096;
/// Low bits of the entry of a page that may be read and written.
const READ_WRITE: u32 = 0xc;

pub fn tests() -> Vec<Test> {
    let test = |name, body| Test::new(name, body).needs_control().lapidary_only(PROMISE);
    vec![
        test("bringup/registers", |c| registers(c.control()?)),
        test("bringup/page_table", |c| page_table(c.control()?)),
        test("bringup/after_sleep", after_sleep),
        test("bringup/entries_go_with_their_object", entries_go),
    ]
}

/// Return a register with the bits that count, and their value.
fn wants() -> Vec<(&'static str, u32, u32)> {
    use mmio::{cp_csq_cntl, cp_csq_mode, cp_rb_wptr_delay, gen_int_cntl, host_path_cntl};
    use pcie::pcie_tx_gart_cntl;
    let all = u32::MAX;
    vec![
        // The fences' may be on: what was waited for last left it so, with messages.
        ("GEN_INT_CNTL", !gen_int_cntl::SW_INT_EN.mask(), 0),
        ("DXMODE_INT_MASK", all, 0),
        (
            "CP_RB_WPTR_DELAY",
            all,
            cp_rb_wptr_delay::PRE_WRITE_TIMER.of(64) | cp_rb_wptr_delay::PRE_WRITE_LIMIT.of(15),
        ),
        (
            "CP_CSQ_MODE",
            all,
            cp_csq_mode::INDIRECT1_START.of(77) | cp_csq_mode::INDIRECT2_START.of(77),
        ),
        (
            "CP_CSQ_CNTL",
            cp_csq_cntl::CSQ_MODE.mask(),
            cp_csq_cntl::CSQ_MODE.of(cp_csq_cntl::csq_mode::PRIBM_INDBM),
        ),
        (
            "HOST_PATH_CNTL",
            host_path_cntl::HDP_APER_CNTL.mask(),
            host_path_cntl::HDP_APER_CNTL.mask(),
        ),
        ("MC_AGP_LOCATION", all, all),
        ("MC_AGP_BASE", all, 0),
        ("MC_AGP_BASE_2", all, 0),
        (
            "PCIE_TX_GART_CNTL",
            pcie_tx_gart_cntl::GART_EN.mask() | pcie_tx_gart_cntl::UNMAPPED_ACCESS.mask(),
            pcie_tx_gart_cntl::GART_EN.mask()
                | pcie_tx_gart_cntl::UNMAPPED_ACCESS
                    .of(pcie_tx_gart_cntl::unmapped_access::DISCARD),
        ),
        ("PCIE_TX_GART_START_HI", all, 0),
        ("PCIE_TX_GART_END_HI", all, 0),
        ("PCIE_TX_DISCARD_RD_ADDR_HI", all, 0),
        ("PCIE_TX_GART_ERROR", all, 0),
        (
            "CP_DYN_CNTL",
            pll::cp_dyn_cntl::CP_FORCEON.mask(),
            pll::cp_dyn_cntl::CP_FORCEON.mask(),
        ),
        (
            "E2_DYN_CNTL",
            pll::e2_dyn_cntl::E2_FORCEON.mask(),
            pll::e2_dyn_cntl::E2_FORCEON.mask(),
        ),
        (
            "IDCT_DYN_CNTL",
            pll::idct_dyn_cntl::IDCT_FORCEON.mask(),
            pll::idct_dyn_cntl::IDCT_FORCEON.mask(),
        ),
        ("SURFACE_INFO[1]", all, 0),
        ("SURFACE_INFO[6]", all, 0),
        ("GB_SELECT", all, 0),
        ("GB_ENABLE", all, 0),
    ]
}

/// Return where VRAM begins among the addresses of the GPU.
fn vram_start(control: &mut Control) -> Result<u64> {
    Ok(u64::from(peek(control, "MC_FB_LOCATION")? & 0xffff) << 16)
}

/// Check whether the chip is set up.
pub fn registers(control: &mut Control) -> Result<()> {
    let mut wrong = Vec::new();
    for (name, mask, value) in wants() {
        let found = peek(control, name)?;
        if found & mask != value {
            wrong.push(format!("{name} is {found:#x}"));
        }
    }
    let start = vram_start(control)?;
    let host = u64::from(peek(control, "HDP_FB_LOCATION")?) << 16;
    if host != start {
        wrong.push(format!("HDP_FB_LOCATION is {host:#x}, VRAM at {start:#x}"));
    }
    // The memories of the pipes in use, and of these alone, are powered.
    let pipes = peek(control, "GB_PIPE_SELECT")?;
    let powered = pll::dyn_sclk_pwmem_pipe::PIPE_MEMORY.get(peek(control, "DYN_SCLK_PWMEM_PIPE")?);
    if powered != mmio::gb_pipe_select::PIPE_MASK.get(pipes) {
        wrong.push(format!("DYN_SCLK_PWMEM_PIPE powers {powered:#x}"));
    }
    ensure!(wrong.is_empty(), "{}", wrong.join("; "));
    Ok(())
}

/// Return the dwords of a page of VRAM.
fn page(control: &mut Control, offset: u64) -> Result<Vec<u32>> {
    let lines = control.request(&format!("vram {offset} {PAGE}"))?;
    let digits: Vec<u8> = lines
        .iter()
        .flat_map(|line| line.bytes())
        .filter(u8::is_ascii_hexdigit)
        .collect();
    ensure!(
        digits.len() == 2 * PAGE as usize,
        "{} digits of a page",
        digits.len()
    );
    let word =
        |digits: &[u8]| Ok(u32::from_str_radix(std::str::from_utf8(digits)?, 16)?.swap_bytes());
    digits.chunks_exact(8).map(word).collect()
}

/// Check that the window lies beside VRAM, and its table in VRAM. Each entry leads nowhere, or to a page that may be
/// read and written. What lies behind the table, where reads of nothing are answered from, is zero.
fn page_table(control: &mut Control) -> Result<()> {
    let vram = vram_start(control)?;
    let size = u64::from(peek(control, "CONFIG_MEMSIZE")?);
    let first = u64::from(peek(control, "PCIE_TX_GART_START_LO")?);
    let last = u64::from(peek(control, "PCIE_TX_GART_END_LO")?);
    let table = u64::from(peek(control, "PCIE_TX_GART_BASE")?);
    let nothing = u64::from(peek(control, "PCIE_TX_DISCARD_RD_ADDR_LO")?);
    ensure!(
        first <= last && (last < vram || first >= vram + size),
        "the window is {first:#x}..={last:#x}, VRAM at {vram:#x}"
    );
    let end = table + ((last - first) / PAGE + 1) * 4;
    ensure!(
        table >= vram && nothing >= end && nothing + PAGE <= vram + size,
        "the table is {table:#x}..{end:#x}, reads of nothing at {nothing:#x}"
    );
    for at in [table, (table + end) / 2 / PAGE * PAGE, end - PAGE] {
        let noise = page(control, at - vram)?
            .into_iter()
            .find(|entry| ![0, READ_WRITE].contains(&(entry & 0xf)));
        ensure!(noise.is_none(), "the table has {noise:x?} at {at:#x}");
    }
    let shown = page(control, nothing - vram)?;
    ensure!(
        shown.iter().all(|word| *word == 0),
        "reads of nothing show {:#x}",
        shown[0]
    );
    Ok(())
}

/// Return how many entries of the page table lead to a page.
fn mapped(control: &mut Control) -> Result<usize> {
    let vram = vram_start(control)?;
    let first = u64::from(peek(control, "PCIE_TX_GART_START_LO")?);
    let last = u64::from(peek(control, "PCIE_TX_GART_END_LO")?);
    let table = u64::from(peek(control, "PCIE_TX_GART_BASE")?) - vram;
    let bytes = (last - first) / PAGE * 4 + 4;
    let mut count = 0;
    for at in (0..bytes).step_by(PAGE as usize) {
        let entries = page(control, table + at)?;
        count += entries.iter().filter(|entry| **entry != 0).count();
    }
    Ok(count)
}

/// Pages that the GPU has used and that their object gives back are out of its reach.
fn entries_go(context: &mut Context) -> Result<()> {
    const OBJECTS: usize = 8;
    let device = context.device()?;
    engine_works(&device)?;
    // What earlier clients had is given back when they are gone, not at once.
    let mut before = mapped(context.control()?)?;
    let mut limit = Limit::new(Duration::from_secs(10));
    loop {
        limit.rest("entries change while the GPU is not used")?;
        let now = mapped(context.control()?)?;
        if now == before {
            break;
        }
        before = now;
    }
    let objects: Vec<_> = (0..OBJECTS)
        .map(|_| surface(&device, 64, Domain::Gtt))
        .collect::<Result<_>>()?;
    for bo in &objects {
        device.submit(&fill(bo, 1))?;
    }
    for bo in &objects {
        bo.wait()?;
    }
    let pages: u64 = objects.iter().map(|bo| bo.size() / PAGE).sum();
    let during = mapped(context.control()?)?;
    ensure!(
        during as u64 >= before as u64 + pages,
        "{during} entries, {before} before {pages} pages were used"
    );
    drop(objects);
    let mut limit = Limit::new(Duration::from_secs(10));
    while mapped(context.control()?)? > before {
        limit.rest("entries stay in the page table")?;
    }
    engine_works(&device)
}

/// The card has lost everything, and has been posted by the driver: all is as before, at the same place.
fn after_sleep(context: &mut Context) -> Result<()> {
    let places = [
        "MC_FB_LOCATION",
        "PCIE_TX_GART_START_LO",
        "PCIE_TX_GART_END_LO",
        "PCIE_TX_GART_BASE",
        "PCIE_TX_DISCARD_RD_ADDR_LO",
    ];
    let take = |control: &mut Control| -> Result<Vec<u32>> {
        places.iter().map(|name| peek(control, name)).collect()
    };
    let before = take(context.control()?)?;
    // A job that is done, so that there is a number to forget.
    engine_works(&context.device()?)?;
    let fence = peek(context.control()?, "SCRATCH_REG[0]")?;
    machine::rehearse(Kind::Memory, Depth::Platform)?;
    let control = context.control()?;
    let after = take(control)?;
    for ((name, before), after) in places.iter().zip(before).zip(after) {
        ensure!(before == after, "{name} was {before:#x}, is {after:#x}");
    }
    let now = peek(control, "SCRATCH_REG[0]")?;
    ensure!(
        now.wrapping_sub(fence) < 1 << 31,
        "the last fence was {fence}, is {now}"
    );
    registers(control)?;
    page_table(control)?;
    engine_works(&context.device()?).context("after sleep")
}
