// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Programs, their constants, rings and stream-out.

use super::*;

fn reads(client: Client, start: u64, bytes: u64) -> Short {
    (client, true, false, start, start + bytes)
}

fn changes(client: Client, start: u64, bytes: u64) -> Short {
    (client, true, true, start, start + bytes)
}

#[test]
fn programs_begin_where_their_registers_say() {
    let mut set = Set::new("rv770");
    for (n, start, offset) in [
        (1, mmio::SQ_PGM_START_PS, mmio::SQ_PGM_CF_OFFSET_PS),
        (2, mmio::SQ_PGM_START_VS, mmio::SQ_PGM_CF_OFFSET_VS),
        (3, mmio::SQ_PGM_START_FS, mmio::SQ_PGM_CF_OFFSET_FS),
        (4, mmio::SQ_PGM_START_GS, mmio::SQ_PGM_CF_OFFSET_GS),
        (5, mmio::SQ_PGM_START_ES, mmio::SQ_PGM_CF_OFFSET_ES),
    ] {
        set.put(start, n << 4).put(offset, n);
    }
    let at = |stage, n: u64| reads(Client::Program(stage), n * 0x1008, 16);
    let plain = [at(Stage::Ps, 1), at(Stage::Vs, 2), at(Stage::Fs, 3)];
    assert_eq!(set.all(), plain);
    set.put(mmio::VGT_GS_MODE, 1);
    assert_eq!(set.all(), plain, "scenario A");
    set.put(mmio::VGT_GS_MODE, 2);
    assert_eq!(
        set.all()[..5],
        [&plain[..], &[at(Stage::Gs, 4), at(Stage::Es, 5)]].concat()
    );
    set.put(mmio::VGT_GS_MODE, 0);
    set.put(mmio::PA_SC_SCREEN_SCISSOR_BR, 0);
    assert_eq!(set.all(), plain[1..]);
}

#[test]
fn constant_buffers_count_by_their_size_unless_the_file_is_on() {
    let mut set = Set::new("rv770");
    for (n, caches, sizes) in [
        (
            1,
            mmio::SQ_ALU_CONST_CACHE_PS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_PS,
        ),
        (
            2,
            mmio::SQ_ALU_CONST_CACHE_VS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_VS,
        ),
        (
            3,
            mmio::SQ_ALU_CONST_CACHE_GS,
            mmio::SQ_ALU_CONST_BUFFER_SIZE_GS,
        ),
    ] {
        set.put(caches.at(15).unwrap(), n << 8);
        set.put(sizes.at(15).unwrap(), n);
        set.put(caches.at(3).unwrap(), 0x1234);
    }
    let of = |stage, n: u64| reads(Client::Constants(stage, 15), n << 16, n << 8);
    assert_eq!(set.areas(), [of(Stage::Ps, 1), of(Stage::Vs, 2)]);
    set.put(mmio::SQ_CONFIG, mmio::sq_config::DX9_CONSTS.mask());
    assert_eq!(set.areas(), []);
    set.put(mmio::SQ_CONFIG, 0);
    set.put(mmio::VGT_GS_MODE, 3);
    assert_eq!(
        set.areas(),
        [of(Stage::Ps, 1), of(Stage::Vs, 2), of(Stage::Gs, 3)]
    );
}

#[test]
fn programs_get_no_more_registers_than_their_share() {
    for (resources, share, geometry) in [
        (mmio::SQ_PGM_RESOURCES_PS, (false, 0), 0),
        (mmio::SQ_PGM_RESOURCES_VS, (false, 16), 0),
        (mmio::SQ_PGM_RESOURCES_GS, (true, 0), 3),
        (mmio::SQ_PGM_RESOURCES_ES, (true, 16), 3),
    ] {
        let mut set = Set::new("rv610");
        let register = match share.0 {
            true => mmio::SQ_GPR_RESOURCE_MGMT_2,
            false => lapidary_registers::r600::mmio_r6xx::SQ_GPR_RESOURCE_MGMT_1,
        };
        set.put(register, 40 << share.1).put(resources, 40);
        set.put(mmio::VGT_GS_MODE, geometry);
        for (register, value) in [(mmio::SQ_ESGS_RING_SIZE, 1), (mmio::SQ_GSVS_RING_SIZE, 1)] {
            set.put(register, value);
        }
        assert_eq!(set.kinds(), [], "{resources:#x}");
        assert_eq!(set.put(resources, 41).kinds(), [kind::GPR_DEMAND]);
        set.put(mmio::VGT_GS_MODE, 0);
        let idle = geometry == 3;
        assert_eq!(set.kinds().is_empty(), idle, "it does not run");
    }
}

#[test]
fn shares_of_registers_are_those_that_there_are() {
    use lapidary_registers::r600::mmio_r7xx::SQ_GPR_RESOURCE_MGMT_1;
    let mut set = Set::new("rv730");
    set.put(SQ_GPR_RESOURCE_MGMT_1, 60 | (50 << 16) | (4 << 28));
    set.put(mmio::SQ_GPR_RESOURCE_MGMT_2, 5 | (5 << 16));
    assert_eq!(set.kinds(), []);
    set.put(mmio::SQ_GPR_RESOURCE_MGMT_2, 6 | (5 << 16));
    assert_eq!(set.kinds(), [kind::GPR_DEMAND]);
    // Shares that change with the need have no bound.
    set.put(
        SQ_GPR_RESOURCE_MGMT_1,
        60 | (50 << 16) | (4 << 28) | (1 << 27),
    );
    assert_eq!(set.kinds(), []);
}

#[test]
fn a_pixel_shader_exports_something() {
    let mut set = Set::new("rv770");
    assert_eq!(
        set.put(mmio::SQ_PGM_EXPORTS_PS, 0).kinds(),
        [kind::NO_PIXEL_EXPORT]
    );
    assert_eq!(set.put(mmio::PA_SC_SCREEN_SCISSOR_BR, 0).kinds(), []);
}

#[test]
fn rings_count_whole_for_the_stages_that_reach_them() {
    let mut set = Set::new("rv770");
    for (n, base, size) in [
        (1, mmio::SQ_ESGS_RING_BASE, mmio::SQ_ESGS_RING_SIZE),
        (2, mmio::SQ_GSVS_RING_BASE, mmio::SQ_GSVS_RING_SIZE),
        (3, mmio::SQ_ESTMP_RING_BASE, mmio::SQ_ESTMP_RING_SIZE),
        (4, mmio::SQ_GSTMP_RING_BASE, mmio::SQ_GSTMP_RING_SIZE),
        (5, mmio::SQ_VSTMP_RING_BASE, mmio::SQ_VSTMP_RING_SIZE),
        (6, mmio::SQ_PSTMP_RING_BASE, mmio::SQ_PSTMP_RING_SIZE),
        (7, mmio::SQ_FBUF_RING_BASE, mmio::SQ_FBUF_RING_SIZE),
        (8, mmio::SQ_REDUC_RING_BASE, mmio::SQ_REDUC_RING_SIZE),
        (9, mmio::SX_MEMORY_EXPORT_BASE, mmio::SX_MEMORY_EXPORT_SIZE),
    ] {
        set.put(base, n << 12).put(size, n);
    }
    let clients = [
        Client::Ring(Ring::Esgs),
        Client::Ring(Ring::Gsvs),
        Client::Ring(Ring::Scratch(Stage::Es)),
        Client::Ring(Ring::Scratch(Stage::Gs)),
        Client::Ring(Ring::Scratch(Stage::Vs)),
        Client::Ring(Ring::Scratch(Stage::Ps)),
        Client::Ring(Ring::Fbuf),
        Client::Ring(Ring::Reduction),
        Client::Export,
    ];
    let all: Vec<Short> = (1u64..)
        .zip(clients)
        .map(|(n, client)| changes(client, n << 20, n << 8))
        .collect();
    assert_eq!(set.areas(), all[4..]);
    set.put(mmio::VGT_GS_MODE, 3);
    assert_eq!(set.areas(), all);
    set.put(mmio::PA_SC_SCREEN_SCISSOR_BR, 0);
    let without = [&all[..5], &all[7..]].concat();
    assert_eq!(set.areas(), without, "no pixel");
}

#[test]
fn a_ring_holds_an_element() {
    let mut set = Set::new("rv770");
    set.put(mmio::SQ_VSTMP_RING_SIZE, 1);
    set.put(mmio::SQ_VSTMP_RING_ITEMSIZE, 64);
    assert_eq!(set.kinds(), []);
    set.put(mmio::SQ_VSTMP_RING_ITEMSIZE, 65);
    assert_eq!(set.kinds(), [kind::RING_TOO_SMALL]);
    set.put(mmio::SQ_VSTMP_RING_ITEMSIZE, 0);
    set.put(mmio::VGT_GS_MODE, 3);
    set.put(mmio::SQ_GSVS_RING_SIZE, 1);
    assert_eq!(
        set.kinds(),
        [kind::RING_TOO_SMALL],
        "no ring before the geometry shader"
    );
}

#[test]
fn stream_out_writes_from_its_offset_to_its_size() {
    let mut set = Set::new("rv770");
    for n in 0..4 {
        set.put(mmio::VGT_STRMOUT_BUFFER_BASE.at(n).unwrap(), (n + 1) << 4);
        set.put(mmio::VGT_STRMOUT_BUFFER_SIZE.at(n).unwrap(), 0x40);
        set.put(mmio::VGT_STRMOUT_BUFFER_OFFSET.at(n).unwrap(), 0x10 * n);
    }
    set.put(mmio::VGT_STRMOUT_BUFFER_EN, 0b1010);
    assert_eq!(set.areas(), []);
    set.put(mmio::VGT_STRMOUT_EN, 1);
    assert_eq!(
        set.areas(),
        [
            (Client::StreamOut(1), false, true, 0x2040, 0x2100),
            (Client::StreamOut(3), false, true, 0x40c0, 0x4100)
        ]
    );
    set.put(mmio::VGT_STRMOUT_BUFFER_OFFSET.at(3).unwrap(), 0x50);
    assert_eq!(set.areas().len(), 1, "a full buffer");
}
