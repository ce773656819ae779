// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The state that the engines start from.
//!
//! These are registers that no client sets and all rely on: how the 2D and the 3D engine wait for each other, which
//! pipes receive register writes, sample positions, rounding. Some can be written only through the ring (R5xx 9.1.14).
//! Those of the 3D pipe can be written only while its caches are empty. So the driver writes all of them through the
//! ring. The values are Linux' (`rv515_ring_start`).

use kernel::prelude::*;

use lapidary::portable::sink::{
    Full,
    Sink, //
};

use crate::portable::{
    emit,
    pm4,
    regs::mmio::*, //
};

/// All sample positions in the middle of the pixel, in twelfths.
const MIDDLE: u32 = 6;

/// Rounding to nearest, for geometry and colours.
const NEAREST: u32 = 1;

/// Polygons are drawn as triangles.
const TRIANGLES: u32 = 2;

/// How many textures there are.
const TEXTURES: u32 = 16;

/// The most dwords that [`initial`] writes.
pub(crate) const DWORDS: usize = 45 + 2 * emit::FLUSH_DWORDS + emit::WAIT_IDLE_DWORDS;

/// Write the state for a chip with `pipes` pixel pipes. If the chip can select Z pipes for register writes, `z_pipes`
/// is the selection.
///
/// Some of these registers decide where the engines draw or what they read: the pipes, the offset of coordinates in the
/// depth buffer, the numbers of textures. Streams of clients cannot write those.
///
/// # Errors
///
/// [`Full`] if `out` takes less than [`DWORDS`].
pub(crate) fn initial(out: &mut impl Sink, pipes: u32, z_pipes: Option<u32>) -> Result<(), Full> {
    emit::write(
        out,
        ISYNC_CNTL,
        isync_cntl::ISYNC_ANY2D_IDLE3D.of(1)
            | isync_cntl::ISYNC_ANY3D_IDLE2D.of(1)
            | isync_cntl::ISYNC_WAIT_IDLEGUI.of(1)
            | isync_cntl::ISYNC_CPSCRATCH_IDLEGUI.of(1),
    )?;
    emit::wait_idle(out)?;
    emit::write(
        out,
        DST_PIPE_CONFIG,
        dst_pipe_config::PIPE_AUTO_CONFIG.of(1),
    )?;
    emit::write(out, GB_SELECT, 0)?;
    emit::write(out, GB_ENABLE, 0)?;
    emit::write(out, SU_REG_DEST, every(pipes))?;
    if let Some(z_pipes) = z_pipes {
        emit::write(out, FG_ZBREG_DEST, z_pipes)?;
    }
    emit::write(out, ZB_DEPTHXY_OFFSET, 0)?;
    emit::write(out, VAP_INDEX_OFFSET, 0)?;
    // The ID of each texture is its unit's number.
    out.put(pm4::write(TX_FILTER0.at(0).unwrap_or(0), TEXTURES))?;
    for unit in 0..TEXTURES {
        out.put(tx_filter0::ID.of(unit))?;
    }
    emit::flush(out)?;
    emit::write(out, GB_AA_CONFIG, 0)?;
    emit::flush(out)?;
    emit::write(
        out,
        GB_MSPOS0,
        gb_mspos0::MS_X0.of(MIDDLE)
            | gb_mspos0::MS_Y0.of(MIDDLE)
            | gb_mspos0::MS_X1.of(MIDDLE)
            | gb_mspos0::MS_Y1.of(MIDDLE)
            | gb_mspos0::MS_X2.of(MIDDLE)
            | gb_mspos0::MS_Y2.of(MIDDLE)
            | gb_mspos0::MSBD0_X.of(MIDDLE)
            | gb_mspos0::MSBD0_Y.of(MIDDLE),
    )?;
    emit::write(
        out,
        GB_MSPOS1,
        gb_mspos1::MS_X3.of(MIDDLE)
            | gb_mspos1::MS_Y3.of(MIDDLE)
            | gb_mspos1::MS_X4.of(MIDDLE)
            | gb_mspos1::MS_Y4.of(MIDDLE)
            | gb_mspos1::MS_X5.of(MIDDLE)
            | gb_mspos1::MS_Y5.of(MIDDLE)
            | gb_mspos1::MSBD1.of(MIDDLE),
    )?;
    emit::write(
        out,
        GA_ENHANCE,
        ga_enhance::DEADLOCK_CNTL.of(1) | ga_enhance::FASTSYNC_CNTL.of(1),
    )?;
    emit::write(
        out,
        GA_POLY_MODE,
        ga_poly_mode::FRONT_PTYPE.of(TRIANGLES) | ga_poly_mode::BACK_PTYPE.of(TRIANGLES),
    )?;
    emit::write(
        out,
        GA_ROUND_MODE,
        ga_round_mode::GEOMETRY_ROUND.of(NEAREST) | ga_round_mode::COLOR_ROUND.of(NEAREST),
    )
}

/// Return a mask with a bit for each of `pipes` pipes.
pub(crate) const fn every(pipes: u32) -> u32 {
    u32::MAX >> (32 - if pipes < 1 { 1 } else { pipes })
}

#[kunit_tests(r500_state)]
mod tests {
    use super::*;
    use lapidary::portable::sink::{
        CountingSink,
        SliceSink, //
    };

    #[test]
    fn the_length_is_right() {
        for pipes in 1..=4 {
            let mut count = CountingSink::default();
            assert!(initial(&mut count, pipes, Some(3)).is_ok());
            assert_eq!(count.0, DWORDS);
            let mut count = CountingSink::default();
            assert!(initial(&mut count, pipes, None).is_ok());
            assert_eq!(count.0, DWORDS - 2);
        }
    }

    #[test]
    fn each_pipe_has_a_bit() {
        assert_eq!([0, 1, 2, 3, 4].map(every), [1, 1, 3, 7, 15]);
    }

    /// The offsets and values of a stream of register writes, in order.
    fn writes(words: &[u32]) -> Result<KVec<(u32, u32)>> {
        let mut writes = KVec::new();
        let mut rest = words;
        while let [header, body @ ..] = rest {
            // A type-0 packet: register number, and one less than the number of values.
            assert_eq!(header >> 30, 0);
            let (first, count) = (header & 0x1fff, (header >> 16 & 0x3fff) + 1);
            let (values, behind) = body.split_at_checked(count as usize).ok_or(EINVAL)?;
            for (register, value) in (first..).zip(values) {
                writes.push((4 * register, *value), GFP_KERNEL)?;
            }
            rest = behind;
        }
        Ok(writes)
    }

    /// The same for one of the kernel's sequences.
    fn of(emit: impl FnOnce(&mut SliceSink<'_>) -> Result<(), Full>) -> Result<KVec<(u32, u32)>> {
        let mut words = [0; DWORDS];
        let mut out = SliceSink::new(&mut words);
        emit(&mut out).map_err(|_| ENOSPC)?;
        let written = out.written();
        writes(words.get(..written).ok_or(EINVAL)?)
    }

    /// The values are those of Linux' `rv515_ring_start`, as numbers.
    #[test]
    fn each_register_has_its_value() -> Result {
        for (pipes, mask) in [(1, 1), (2, 3), (3, 7), (4, 0xf)] {
            for z_pipes in [None, Some(3)] {
                let mut want = KVec::new();
                let mut add = |all: &[(u32, u32)]| want.extend_from_slice(all, GFP_KERNEL);
                add(&[(ISYNC_CNTL, 0x33)])?;
                add(&of(|out| emit::wait_idle(out))?)?;
                add(&[(DST_PIPE_CONFIG, 1 << 31), (GB_SELECT, 0), (GB_ENABLE, 0)])?;
                add(&[(SU_REG_DEST, mask)])?;
                if let Some(z_pipes) = z_pipes {
                    add(&[(FG_ZBREG_DEST, z_pipes)])?;
                }
                add(&[(ZB_DEPTHXY_OFFSET, 0), (VAP_INDEX_OFFSET, 0)])?;
                for unit in 0..16 {
                    add(&[(TX_FILTER0.at(unit).ok_or(EINVAL)?, unit << 28)])?;
                }
                add(&of(|out| emit::flush(out))?)?;
                add(&[(GB_AA_CONFIG, 0)])?;
                add(&of(|out| emit::flush(out))?)?;
                add(&[(GB_MSPOS0, 0x6666_6666), (GB_MSPOS1, 0x0666_6666)])?;
                add(&[(GA_ENHANCE, 3), (GA_POLY_MODE, 0x120), (GA_ROUND_MODE, 5)])?;
                let found = of(|out| initial(out, pipes, z_pipes))?;
                assert_eq!(found.as_slice(), want.as_slice());
            }
        }
        Ok(())
    }
}
