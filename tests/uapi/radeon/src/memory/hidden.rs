// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Video memory that the CPU does not see.

use super::*;
use lapidary_guest::Client as _;
use lapidary_guest::on_upstream;

/// Return the bytes of video memory that the CPU sees and does not see. Skip where it sees all.
fn behind(device: &Device) -> Result<(u64, u64)> {
    let memory = device.gem_info()?;
    let hidden = memory.vram_size - memory.vram_visible;
    if hidden < 32 * MIB {
        return skip("the CPU sees all of video memory");
    }
    Ok((memory.vram_visible, hidden))
}

/// Use more objects than the CPU can see at once, all of them written and read by the CPU and drawn on by the GPU.
pub fn hidden(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 4 * MIB;
    let device = context.device()?;
    let (visible, hidden) = behind(&device)?;
    let bytes = (visible + hidden / 2).min(160 * MIB);
    let bos = objects(&device, bytes, SIZE)?;
    if !on_upstream(&device) {
        let there = bos.iter().filter(|bo| in_vram(bo)).count();
        ensure!(there == bos.len(), "{there} of {} are there", bos.len());
    }
    for (i, bo) in bos.iter().enumerate() {
        touch(bo, i as u32)?;
    }
    let mappings = bos.iter().map(Bo::map).collect::<Result<Vec<_>, _>>()?;
    let last = (SIZE / 4) as usize - 1;
    for (i, (bo, mapping)) in bos.iter().zip(&mappings).enumerate() {
        bo.wait()?;
        let seen = mapping.get(3 * ROW as usize / 4 + 15);
        ensure!(seen == i as u32, "object {i} shows {seen:#x}");
        for at in (1 << 16..last).step_by(5003).chain([last]) {
            mapping.set(at, pattern(i as u32, at));
        }
    }
    for (i, (bo, mapping)) in bos.iter().zip(&mappings).enumerate() {
        touch(bo, !i as u32)?;
        bo.wait()?;
        for at in (1 << 16..last).step_by(5003).chain([last]) {
            let seen = mapping.get(at);
            ensure!(seen == pattern(i as u32, at), "object {i}: {seen:#x}");
        }
        ensure!(mapping.get(0) == !i as u32, "object {i} was not drawn on");
    }
    Ok(())
}

/// Objects that the CPU uses in turns, more than it can see at once, stop moving. Each is moved to where the CPU sees
/// it, and none to where the CPU does not.
pub fn settles(context: &mut Context) -> Result<()> {
    const SIZE: u64 = 2 * MIB;
    let device = context.device()?;
    let (visible, _) = behind(&device)?;
    let bos = objects(&device, visible * 3 / 2, SIZE)?;
    let round = |colour: u32| -> Result<u64> {
        let before = moved(&device)?;
        for (i, bo) in bos.iter().enumerate() {
            touch(bo, colour)?;
            ensure!(mark_of(bo)? == colour, "object {i} has lost its mark");
        }
        Ok(moved(&device)? - before)
    };
    let first = round(1)? + round(2)?;
    let rest = round(3)? + round(4)? + round(5)?;
    ensure!(rest == 0, "{rest} bytes still move, after {first}");
    // An object that moves to where the CPU sees it may evict one from there. That one comes back once and may evict
    // another to system memory.
    let most = bos.len() as u64 * SIZE * 2;
    ensure!(first <= most, "{first} bytes have moved, more than {most}");
    Ok(())
}

/// Objects made with NO_CPU_ACCESS are placed where the CPU does not see them, and can be mapped all the same.
pub fn hidden_for_gpu(context: &mut Context) -> Result<()> {
    const SIZE: u64 = MIB;
    let device = context.device()?;
    let (visible, _) = behind(&device)?;
    let create = || -> Result<Bo> {
        let flags = abi::FLAG_NO_CPU_ACCESS;
        let handle = device.create_raw(SIZE, 0, abi::DOMAIN_VRAM, flags)?;
        Ok(Bo::adopt(device.clone(), handle, SIZE, Domain::Vram))
    };
    let bos = (0..8).map(|_| create()).collect::<Result<Vec<_>>>()?;
    for bo in &bos {
        touch(bo, 3)?;
    }
    let before = moved(&device)?;
    for (i, bo) in bos.iter().enumerate() {
        ensure!(in_vram(bo) && mark_of(bo)? == 3, "object {i}");
        ensure!(in_vram(bo), "object {i} left video memory");
        let bytes = moved(&device)? - before;
        ensure!(
            bytes == (i as u64 + 1) * SIZE,
            "{bytes} bytes of {visible} moved for {i} objects"
        );
    }
    // From now on the CPU sees them.
    for bo in &bos {
        touch(bo, 4)?;
        ensure!(mark_of(bo)? == 4, "again");
    }
    ensure!(moved(&device)? - before == 8 * SIZE, "they moved again");
    Ok(())
}
