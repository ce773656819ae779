// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of single chips. Each holds on its chip alone.

use super::*;
use lapidary_registers::r600::mmio::{db_depth_control as z, db_shader_control};

#[test]
fn r600_counts_threads_in_fours() {
    let threads = mmio::SQ_THREAD_RESOURCE_MGMT;
    let mut set = Set::new("r600");
    assert_eq!(set.put(threads, 0x0404_3088).kinds(), []);
    for shift in [0, 8, 16, 24] {
        let odd = 0x0404_3088 ^ (1 << shift);
        assert_eq!(set.put(threads, odd).kinds(), [kind::THREAD_COUNT]);
        assert_eq!(Set::new("rv635").put(threads, odd).kinds(), []);
    }
}

#[test]
fn rv670_wants_sixteen_threads_for_a_geometry_shader() {
    let of = |chip, counts| {
        let mut set = Set::new(chip);
        for (register, value) in [
            (mmio::SQ_ESGS_RING_SIZE, 1),
            (mmio::SQ_GSVS_RING_SIZE, 1),
            (mmio::SQ_THREAD_RESOURCE_MGMT, counts),
        ] {
            set.put(register, value);
        }
        assert_eq!(set.kinds(), [], "without one");
        set.put(mmio::VGT_GS_MODE, 3).kinds()
    };
    assert_eq!(of("rv670", 0x1010_3088), []);
    assert_eq!(of("rv670", 0x0f10_3088), [kind::THREAD_COUNT]);
    assert_eq!(of("rv670", 0x100f_3088), [kind::THREAD_COUNT]);
    assert_eq!(of("rv770", 0x0404_3088), []);
}

#[test]
fn some_chips_have_no_vertex_cache() {
    for (chip, without) in [
        ("rv610", true),
        ("rv710", true),
        ("rv670", false),
        ("rv770", false),
    ] {
        let kinds = Set::new(chip).put(mmio::SQ_CONFIG, 1).kinds();
        assert_eq!(kinds.contains(&kind::NO_VERTEX_CACHE), without, "{chip}");
    }
}

#[test]
fn rez_is_not_for_depth_that_is_written_where_it_differs() {
    let order = |n| db_shader_control::Z_ORDER.of(n);
    let control = z::Z_ENABLE.mask() | z::Z_WRITE_ENABLE.mask() | z::ZFUNC.of(5);
    let kinds = |shader, control| {
        let mut set = Set::new("rv770");
        set.put(mmio::DB_SHADER_CONTROL, shader);
        set.put(mmio::DB_DEPTH_CONTROL, control).kinds()
    };
    assert_eq!(kinds(order(2), control), [kind::REZ_NOT_EQUAL]);
    assert_eq!(kinds(order(3), control), [kind::REZ_NOT_EQUAL]);
    assert_eq!(kinds(order(1), control), []);
    assert_eq!(kinds(order(2), control & !z::Z_WRITE_ENABLE.mask()), []);
    assert_eq!(kinds(order(2), control ^ z::ZFUNC.of(1)), []);
}

#[test]
fn fog_is_not_for_floats_of_32_bits() {
    let kinds = |chip, n: u32, format: u32, control| {
        let mut set = Set::new(chip);
        set.put(mmio::CB_COLOR_INFO.at(n).unwrap(), format << 2);
        set.put(mmio::CB_COLOR_CONTROL, control).kinds()
    };
    assert_eq!(kinds("rv670", 0, 14, 1), [kind::FOG_OF_FLOATS]);
    assert_eq!(kinds("rv670", 0, 13, 1), []);
    assert_eq!(kinds("rv670", 0, 14, 0), []);
    assert_eq!(kinds("rv670", 3, 14, 1), []);
    assert_eq!(
        kinds("rv670", 3, 35, 3),
        [kind::FOG_OF_FLOATS],
        "all get the first output"
    );
    assert_eq!(kinds("rv770", 0, 14, 1), [], "no fog");
}

#[test]
fn a_copy_of_depth_needs_its_state() {
    let control = z::Z_ENABLE.mask()
        | z::STENCIL_ENABLE.mask()
        | z::ZFUNC.of(3)
        | z::STENCILFUNC.of(7)
        | z::STENCILZFAIL.of(3);
    let kinds = |chip, control, mask, force| {
        let mut set = Set::new(chip);
        set.put(mmio::DB_DEPTH_CONTROL, control);
        set.put(mmio::DB_STENCILREFMASK, mask);
        set.put(mmio::DB_RENDER_OVERRIDE, force);
        assert_eq!(set.kinds(), [], "no copy");
        set.put(mmio::DB_RENDER_CONTROL, 4).kinds()
    };
    for chip in ["rv610", "rv635"] {
        assert_eq!(kinds(chip, control, 0xff_0000, 2), []);
        for (bit, _) in [
            (z::Z_ENABLE.mask(), ""),
            (z::STENCIL_ENABLE.mask(), ""),
            (z::Z_WRITE_ENABLE.mask(), ""),
            (z::ZFUNC.of(4), ""),
            (z::STENCILFUNC.of(1), ""),
            (z::STENCILZPASS.of(1), ""),
            (z::STENCILZFAIL.of(1), ""),
        ] {
            let wrong = kinds(chip, control ^ bit, 0xff_0000, 2);
            assert_eq!(wrong, [kind::DEPTH_COPY_STATE], "{bit:#x}");
        }
        assert_eq!(kinds(chip, control, 0x7f_0000, 2), [kind::DEPTH_COPY_STATE]);
        assert_eq!(kinds(chip, control, 0xff_0000, 1), [kind::DEPTH_COPY_STATE]);
    }
    assert_eq!(kinds("rv670", 0, 0, 0), []);
}

#[test]
fn eight_samples_limit_the_targets() {
    let set = |chip, targets: u32, samples| {
        let mut set = Set::new(chip);
        let info = (26 << 2) | (4 << 8) | (1 << 18);
        for n in 0..8 {
            let of = |a: lapidary_registers::RegArray| a.at(n).unwrap();
            set.put(of(mmio::CB_COLOR_SIZE), 7 | (63 << 10));
            set.put(of(mmio::CB_COLOR_INFO), if n < targets { info } else { 0 });
        }
        set.put(mmio::CB_TARGET_MASK, u32::MAX);
        set.put(mmio::CB_SHADER_MASK, u32::MAX);
        set.put(mmio::PA_SC_AA_CONFIG, samples);
        set
    };
    assert_eq!(set("rv610", 4, 3).kinds(), []);
    assert_eq!(set("rv610", 5, 3).kinds(), [kind::EIGHT_SAMPLES]);
    assert_eq!(set("rv610", 5, 2).kinds(), []);
    assert_eq!(
        set("rv610", 5, 3).put(mmio::CB_TARGET_MASK, 0xffff).kinds(),
        []
    );
    assert_eq!(set("r600", 7, 3).kinds(), []);
    assert_eq!(set("r600", 8, 3).kinds(), [kind::EIGHT_SAMPLES]);
    assert_eq!(set("rv670", 8, 3).kinds(), []);
    // Not cleared, not exported, or expanded just now.
    let last = mmio::CB_COLOR_INFO.at(7).unwrap();
    assert_eq!(
        set("r600", 8, 3).put(last, (26 << 2) | (4 << 8)).kinds(),
        []
    );
    assert_eq!(
        set("r600", 8, 3).put(mmio::CB_SHADER_MASK, 0xff).kinds(),
        []
    );
    assert_eq!(
        set("r600", 8, 3)
            .put(mmio::CB_COLOR_CONTROL, 4 << 4)
            .kinds(),
        []
    );
}
