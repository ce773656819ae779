// SPDX-License-Identifier: GPL-2.0 OR MIT

//! How the CPU caches video memory: write-combined. The kernel keeps a list of the memory types of
//! physical ranges for x86's page attribute table; the aperture must be on it.

use anyhow::{Context as _, Result, ensure};
use lapidary_guest::Client as _;
use lapidary_guest::Domain;
use lapidary_harness::sysfs::PciDevice;
use lapidary_harness::{Context, Test, skip};

const LIST: &str = "/sys/kernel/debug/x86/pat_memtype_list";

pub fn tests() -> Vec<Test> {
    vec![Test::new("caching/vram_is_write_combined", write_combined)]
}

/// Parse `PAT: [mem 0x00000000fd000000-0x00000000fe000000] write-combining`, whose end is outside.
fn parse(line: &str) -> Option<(u64, u64, &str)> {
    let (_, rest) = line.split_once("[mem ")?;
    let (range, kind) = rest.split_once("] ")?;
    let (from, to) = range.split_once('-')?;
    let number = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).ok();
    Some((number(from)?, number(to)?, kind.trim()))
}

fn write_combined(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let bo = device.create(1 << 20, Domain::Vram)?;
    let mapping = bo.map()?;
    for page in 0..256 {
        mapping.set(page * 1024, page as u32);
    }
    let (first, last, _) = PciDevice::of(&device)?.resource(0)?;
    let Ok(list) = std::fs::read_to_string(LIST) else {
        return skip(format!("no {LIST}"));
    };
    let mut covered = 0;
    for line in list.lines() {
        let Some((from, to, kind)) = parse(line) else {
            continue;
        };
        if to <= first || from > last {
            continue;
        }
        ensure!(kind == "write-combining", "part of VRAM is {kind}: {line}");
        covered += to.min(last + 1) - from.max(first);
    }
    let visible = device.gem_info().context("memory sizes")?.vram_visible;
    ensure!(
        covered >= visible,
        "only {covered:#x} bytes of the aperture {first:#x}-{last:#x} are on the list:\n{list}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn lines() {
        let line = "PAT: [mem 0x00000000fd000000-0x00000000fe000000] write-combining";
        assert_eq!(
            super::parse(line),
            Some((0xfd00_0000, 0xfe00_0000, "write-combining"))
        );
        assert_eq!(super::parse("PAT memtype list:"), None);
    }
}
