// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The whole chip, driven through registers and rings as a driver does.

use lapidary_model::chip::{Chip as _, Fuses};
use lapidary_registers::r600::dma::{self, op as dma_op};
use lapidary_registers::r600::mmio;
use lapidary_registers::r600::pm4::op;

use crate::bench::{Bench, packet};
use crate::chips::CHIPS;
use crate::kind::{self, Kind};
use crate::{fault, ih};

mod benches;
mod draws;
mod streamout;

fn bench() -> Bench {
    let mut b = Bench::new("rv770").unwrap();
    let start = b.findings();
    assert!(start.is_empty(), "{start:?}");
    b
}

/// Return the kinds of all findings.
fn kinds(b: &mut Bench) -> Vec<Kind> {
    b.findings().into_iter().map(|(kind, ..)| kind).collect()
}

fn arm(b: &mut Bench, fault: fault::Fault, times: Option<u64>) {
    b.parts().1.faults.arm(fault, times);
}

/// Return a packet that writes a scratch register.
fn scratch(n: u32, value: u32) -> [u32; 3] {
    let offset = mmio::SCRATCH_REG.at(n).unwrap();
    [packet(op::SET_CONFIG_REG, 2), (offset - 0x8000) / 4, value]
}

/// Return an end-of-pipe event that writes a dword and interrupts.
fn eop(at: u64, value: u32) -> [u32; 6] {
    let select = (1 << 29) | (2 << 24);
    [
        packet(op::EVENT_WRITE_EOP, 5),
        0x514,
        at as u32,
        (at >> 32) as u32 | select,
        value,
        0,
    ]
}

/// Return the header of a packet for the DMA engine.
fn header(op: u8, count: u32) -> u32 {
    dma::header::OP.of(op.into()) | dma::header::COUNT.of(count)
}

#[test]
fn every_chip_runs_both_rings() {
    for chip in CHIPS {
        let mut b = Bench::new(chip.name).unwrap();
        assert!(b.execute(&scratch(0, 1)), "{}", chip.name);
        assert!(b.dma(&[header(dma_op::WRITE, 1), 0x1000, 0, 5]));
        let copy = [header(dma_op::COPY, 1), 0x2000, 0x1000, 0, 0];
        let len = if chip.generation.is_r7xx { 5 } else { 4 };
        assert!(b.dma(&copy[..len]));
        assert_eq!((b.peek("SCRATCH_REG[0]"), b.get32(0x2000)), (Some(1), 5));
        let found = b.findings();
        assert!(found.is_empty(), "{}: {found:?}", chip.name);
    }
}

/// Return what a started RV770 of which half works finds of a map of its backends.
fn half_with_map(map: u32) -> Vec<(Kind, u64)> {
    let mut b = Bench::fused("rv770", Fuses::Half).unwrap();
    let pipes = mmio::gb_tiling_config::PIPE_TILING.of(3);
    let map = mmio::gb_tiling_config::BACKEND_MAP.of(map);
    b.write(mmio::GB_TILING_CONFIG, pipes | map);
    for copy in CHIPS[4].generation.tiling_copies {
        b.write(copy.1, pipes);
    }
    b.load();
    b.start();
    b.findings()
        .into_iter()
        .map(|(kind, count, _)| (kind, count))
        .collect()
}

#[test]
fn a_backend_that_does_not_work_serves_no_pipe() {
    assert_eq!(half_with_map(0xaa00), []);
    // The last pipe has the fourth backend, in each of two engines.
    assert_eq!(half_with_map(0xea00), [(kind::DEAD_BACKEND, 2)]);
}

#[test]
fn backends_that_do_not_work_count_no_samples() {
    use lapidary_registers::r600::enums::vgt_event::ZPASS_DONE;
    let at = 0x10_0000u32;
    for (fuses, valid) in [
        (Fuses::Whole, [true; 4]),
        (Fuses::Half, [true, false, true, false]),
        (Fuses::Nothing, [true; 4]),
    ] {
        let mut b = Bench::fused("rv770", fuses).unwrap();
        b.load();
        b.start();
        b.put(u64::from(at), &[0x11; 64]);
        b.execute(&[packet(op::EVENT_WRITE, 3), ZPASS_DONE | (1 << 8), at, 0]);
        let written = |i: u64| b.get32(u64::from(at) + 16 * i) != 0x1111_1111;
        assert_eq!([0, 1, 2, 3].map(written), valid, "{fuses:?}");
    }
}

#[test]
fn fuses_say_which_units_work() {
    use mmio::cc_gc_shader_pipe_config::{INACTIVE_QD_PIPES, INACTIVE_SIMDS};
    for (fuses, simds, pipes, backends) in [
        (Fuses::Whole, 0, 0xf0, 0xf0),
        (Fuses::Half, 0x2aa, 0xfa, 0xfa),
        (Fuses::Nothing, 0x3ff, 0xff, 0xff),
    ] {
        let mut b = Bench::fused("rv770", fuses).unwrap();
        let config = b.read(mmio::CC_GC_SHADER_PIPE_CONFIG);
        let disabled = b.read(mmio::CC_RB_BACKEND_DISABLE);
        assert_eq!(INACTIVE_SIMDS.get(config), simds, "{fuses:?}");
        assert_eq!(INACTIVE_QD_PIPES.get(config), pipes, "{fuses:?}");
        let field = mmio::cc_rb_backend_disable::BACKEND_DISABLE;
        assert_eq!(field.get(disabled), backends, "{fuses:?}");
    }
}

#[test]
fn only_r7xx_fills_by_dma() {
    let mut b = Bench::new("r600").unwrap();
    b.dma(&[header(dma_op::CONSTANT_FILL, 1)]);
    assert_eq!(kinds(&mut b), [kind::UNDEFINED_PACKET]);
}

#[test]
fn a_tiled_copy_and_its_way_back_agree() {
    use lapidary_registers::r600::dma::write::{tiled_info, tiled_slice};
    use lapidary_registers::r600::enums::array_mode::ARRAY_2D_TILED_THIN1;
    let mut b = bench();
    // Two macro tiles of 32-bit pixels: 64 by 64 each, one line of them.
    let config =
        mmio::gb_tiling_config::PIPE_TILING.of(3) | mmio::gb_tiling_config::BANK_TILING.of(1);
    let (width, height) = (128, 64);
    let (linear, back, tiled) = (0x10_0000, 0x20_0000, 0x30_0000);
    let pixels: Vec<u8> = (0..width * height)
        .flat_map(|p: u32| p.to_le_bytes())
        .collect();
    b.put(linear, &pixels);
    b.write(mmio::GB_TILING_CONFIG, config);
    let copy = |detile: u32, address: u64| {
        [
            header(dma_op::COPY, width * height) | dma::header::TILED.mask(),
            (tiled >> 8) as u32,
            tiled_info::DETILE.of(detile)
                | tiled_info::ARRAY_MODE.of(ARRAY_2D_TILED_THIN1)
                | tiled_info::LOG2_BPP.of(2)
                | tiled_info::HEIGHT.of(height - 1)
                | tiled_info::PITCH_TILE_MAX.of(width / 8 - 1),
            tiled_slice::SLICE_TILE_MAX.of(width * height / 64 - 1),
            0,
            address as u32,
            0,
        ]
    };
    assert!(b.dma(&copy(0, linear)) && b.dma(&copy(1, back)));
    let mut out = vec![0; pixels.len()];
    b.get(back, &mut out);
    assert!(out == pixels);
    let mut stored = vec![0; pixels.len()];
    b.get(tiled, &mut stored);
    assert!(stored != pixels, "it was tiled in between");
    // The second tile of the line lies in pipe 4, bank 1.
    assert_eq!(b.get32(tiled + (((1 << 3) | 4) << 8)), 8);
    assert!(b.findings().is_empty());
}

#[test]
fn a_scratch_register_is_written_and_copied_to_memory() {
    let mut b = bench();
    assert!(b.ring(&scratch(3, 0xdead_beef)));
    assert_eq!(b.peek("SCRATCH_REG[3]"), Some(0xdead_beef));
    assert_eq!(b.get32(Bench::WRITE_BACK + 12), 0xdead_beef);
    assert!(b.execute(&scratch(4, 7)));
    assert_eq!(b.read(mmio::SCRATCH_REG.at(4).unwrap()), 7);
    assert!(b.findings().is_empty());
}

#[test]
fn the_read_pointers_are_written_back() {
    let mut b = bench();
    b.ring(&[0x8000_0000; 16]);
    assert_eq!(
        b.get32(Bench::WRITE_BACK + 1024),
        b.peek("CP_RB_RPTR").unwrap()
    );
    b.dma(&[header(dma_op::NOP, 0); 8]);
    assert_eq!(b.get32(Bench::WRITE_BACK + 1792), 32);
    assert_eq!(b.peek("DMA_RB_RPTR"), Some(32));
    assert!(b.findings().is_empty());
}

#[test]
fn an_end_of_pipe_event_writes_and_interrupts() {
    let mut b = bench();
    assert!(b.ring(&eop(Bench::GTT, 77)));
    assert_eq!(b.get32(Bench::GTT), 77);
    assert_eq!(b.get32(Bench::IH_RING), ih::source::CP_EOP);
    assert_eq!(b.get32(Bench::WRITE_BACK + 2048), 16);
    assert!(b.parts().1.functions[0].irq.level());
    b.write(mmio::IH_RB_RPTR, 16);
    assert!(!b.parts().1.functions[0].irq.level());
    assert!(b.findings().is_empty());
}

#[test]
fn without_its_enable_nothing_interrupts() {
    let mut b = bench();
    b.write(mmio::CP_INT_CNTL, 0);
    assert!(b.ring(&eop(Bench::GTT, 77)));
    assert_eq!(b.get32(Bench::GTT), 77);
    assert_eq!(b.get32(Bench::WRITE_BACK + 2048), 0);
}

#[test]
fn a_full_interrupt_ring_says_so() {
    let mut b = bench();
    for i in 0..64 {
        b.ring(&eop(Bench::GTT, i));
    }
    assert_eq!(kinds(&mut b), [kind::IH_OVERFLOW]);
    assert_eq!(b.get32(Bench::WRITE_BACK + 2048) & 1, 1);
    let cntl = b.read(mmio::IH_RB_CNTL);
    b.write(
        mmio::IH_RB_CNTL,
        cntl | mmio::ih_rb_cntl::IH_WPTR_OVERFLOW_CLEAR.mask(),
    );
    assert_eq!(b.read(mmio::IH_RB_WPTR) & 1, 0);
}

#[test]
fn the_dma_engine_writes_copies_and_fences() {
    let mut b = bench();
    b.put(Bench::VRAM + 0x1000, &[1, 2, 3, 4, 5, 6, 7, 8]);
    let (to, from) = (Bench::GTT + 0x100, Bench::VRAM + 0x1000);
    assert!(b.dma(&[
        header(dma_op::WRITE, 2),
        (Bench::VRAM + 0x2000) as u32,
        0,
        0x1111_1111,
        0x2222_2222,
        header(dma_op::COPY, 2),
        to as u32,
        from as u32,
        0,
        0,
        header(dma_op::FENCE, 0),
        Bench::GTT as u32,
        0,
        5,
        header(dma_op::TRAP, 0),
    ]));
    assert_eq!(b.get32(Bench::VRAM + 0x2004), 0x2222_2222);
    assert_eq!((b.get32(to), b.get32(to + 4)), (0x0403_0201, 0x0807_0605));
    assert_eq!(b.get32(Bench::GTT), 5);
    assert_eq!(b.get32(Bench::IH_RING), ih::source::DMA_TRAP);
    assert!(b.findings().is_empty());
}

#[test]
fn the_dma_engine_fills() {
    let mut b = bench();
    assert!(b.dma(&[header(dma_op::CONSTANT_FILL, 5000), 0x1000, 0xabcd_0123, 0]));
    assert_eq!(b.get32(0x1000 + 4 * 4999), 0xabcd_0123);
    assert_eq!(b.get32(0x1000 + 4 * 5000), 0);
    assert!(b.findings().is_empty());
}

#[test]
fn an_indirect_buffer_of_the_dma_engine_ends_at_eight_dwords() {
    let mut b = bench();
    let base = b.dma_buffer(&[header(dma_op::WRITE, 1), 0x3000, 0, 9]);
    let call = [header(dma_op::INDIRECT_BUFFER, 0), base as u32, 4 << 16];
    let mut aligned = vec![header(dma_op::NOP, 0); 5];
    aligned.extend(call);
    assert!(b.dma(&aligned));
    assert_eq!(b.get32(0x3000), 9);
    assert!(b.findings().is_empty());
    assert!(b.dma(&call));
    assert_eq!(kinds(&mut b), [kind::IB_ALIGNMENT]);
}

#[test]
fn rings_wait_for_each_other() {
    let mut b = bench();
    let at = Bench::GTT + 0x40;
    let mut waits = vec![packet(op::MEM_SEMAPHORE, 2), at as u32, 7 << 29];
    waits.extend(scratch(0, 1));
    assert!(!b.ring(&waits), "it waits");
    assert_eq!(b.peek("SCRATCH_REG[0]"), Some(0));
    let signal = header(dma_op::SEMAPHORE, 0) | dma::header::SIGNAL.mask();
    b.dma(&[signal, at as u32, 0]);
    // A poll comes up with time.
    for _ in 0..1000 {
        b.settle();
        std::thread::sleep(std::time::Duration::from_millis(1));
        if b.peek("SCRATCH_REG[0]") == Some(1) {
            break;
        }
    }
    assert_eq!(b.peek("SCRATCH_REG[0]"), Some(1));
    assert_eq!(b.get32(at), 0, "the wait has taken it");
    assert!(b.findings().is_empty());
}

#[test]
fn cp_dma_copies_between_memories() {
    let mut b = bench();
    b.put(Bench::VRAM + 0x5000, &[9; 4096]);
    let body = [0x5000, 1 << 31, Bench::GTT as u32, 0, 4096];
    let mut words = vec![packet(op::CP_DMA, 5)];
    words.extend(body);
    assert!(b.execute(&words));
    assert_eq!(b.get32(Bench::GTT + 4092), 0x0909_0909);
    let places = [0x5000, 0, Bench::GTT as u32, 0];
    assert_eq!(b.parts().0.on_chip("cp-dma"), Some(&places[..]));
    assert!(b.findings().is_empty());
}

#[test]
fn memory_and_registers_are_compared() {
    let mut b = bench();
    b.put(Bench::GTT, &5u32.to_le_bytes());
    let wait = |function: u32| {
        vec![
            packet(op::WAIT_REG_MEM, 6),
            0x10 | function,
            Bench::GTT as u32,
            0,
            5,
            u32::MAX,
            10,
        ]
    };
    assert!(b.execute(&wait(3)));
    assert!(b.execute(&wait(5)));
    assert!(!b.execute(&wait(6)), "it waits");
    assert!(b.findings().is_empty());
}

#[test]
fn a_conditional_write_happens_or_not() {
    let mut b = bench();
    b.put(Bench::GTT, &5u32.to_le_bytes());
    let write = |reference: u32, to: u64| {
        vec![
            packet(op::COND_WRITE, 8),
            0x113,
            Bench::GTT as u32,
            0,
            reference,
            u32::MAX,
            to as u32,
            0,
            42,
        ]
    };
    assert!(b.execute(&write(5, Bench::GTT + 8)) && b.execute(&write(6, Bench::GTT + 12)));
    assert_eq!((b.get32(Bench::GTT + 8), b.get32(Bench::GTT + 12)), (42, 0));
}

#[test]
fn set_packets_stay_in_their_range() {
    let mut b = bench();
    assert!(b.execute(&[packet(op::SET_CONTEXT_REG, 2), 0x1000, 1]));
    assert_eq!(kinds(&mut b), [kind::SET_RANGE]);
    assert!(b.execute(&[packet(op::SET_CONFIG_REG, 3), 0xaff, 1, 2]));
    assert_eq!(kinds(&mut b), [kind::SET_RANGE]);
}

#[test]
fn what_hits_nothing_is_found() {
    let mut b = bench();
    let to = Bench::GTT + 0x1_0000;
    let copy = |from: u32| vec![packet(op::CP_DMA, 5), from, 0, to as u32, 0, 4];
    b.execute(&copy(0x5000_0000));
    assert_eq!(kinds(&mut b), [kind::ADDRESS_UNMAPPED]);
    // The page table's entry is taken away.
    let entry = Bench::VRAM_LEN + ((1 << 20) / 4096 + 17) * 8;
    b.parts().1.vram.write(entry, &[0; 8]);
    b.execute(&[packet(op::CP_DMA, 5), 0, 0, (to + 4096) as u32, 0, 4]);
    assert_eq!(kinds(&mut b), [kind::VM_FAULT]);
    b.object(Bench::GTT + 0x2000, 16, "a");
    b.execute(&[
        packet(op::MEM_WRITE, 4),
        (Bench::GTT + 0x2010) as u32,
        1 << 18,
        1,
        0,
    ]);
    assert_eq!(kinds(&mut b), [kind::OUTSIDE_OBJECTS]);
}

#[test]
fn a_changed_entry_needs_an_invalidation() {
    let mut b = bench();
    let write = [packet(op::MEM_WRITE, 4), Bench::GTT as u32, 1 << 18, 1, 0];
    b.execute(&write);
    let at = Bench::VRAM_LEN + ((1 << 20) / 4096) * 8;
    let mut entry = [0; 8];
    b.parts().1.vram.read(at, &mut entry);
    let moved = (u64::from_le_bytes(entry) + 4096).to_le_bytes();
    b.parts().1.vram.write(at, &moved);
    b.execute(&write);
    assert_eq!(kinds(&mut b), [kind::VM_STALE_TLB]);
    b.write(
        mmio::VM_CONTEXT0_INVALIDATION_LOW_ADDR,
        (Bench::GTT >> 12) as u32,
    );
    b.write(
        mmio::VM_CONTEXT0_INVALIDATION_HIGH_ADDR,
        (Bench::GTT >> 12) as u32,
    );
    b.write(mmio::VM_CONTEXT0_REQUEST_RESPONSE, 1);
    assert_eq!(b.read(mmio::VM_CONTEXT0_REQUEST_RESPONSE) >> 4, 1);
    b.execute(&write);
    assert!(b.findings().is_empty());
}

#[test]
fn engines_need_their_microcode() {
    let mut b = Bench::halted("rv770").unwrap();
    b.start();
    let mut all = kinds(&mut b);
    all.sort();
    assert_eq!(all, [kind::NO_MICROCODE, kind::NO_RLC]);
}

#[test]
fn the_first_packet_initialises() {
    let mut b = Bench::halted("rv770").unwrap();
    b.load();
    b.start();
    assert!(b.findings().is_empty());
    b.write(mmio::CP_ME_CNTL, mmio::cp_me_cntl::ME_HALT.mask());
    b.write(mmio::GRBM_SOFT_RESET, 1);
    b.write(mmio::GRBM_SOFT_RESET, 0);
    // Reading begins where writing goes on.
    let (cntl, at) = (b.read(mmio::CP_RB_CNTL), b.read(mmio::CP_RB_WPTR));
    let take = mmio::cp_rb_cntl::RB_RPTR_WR_ENA.mask();
    b.write(mmio::CP_RB_CNTL, cntl | take);
    b.write(mmio::CP_RB_RPTR_WR, at);
    b.write(mmio::CP_RB_WPTR, at);
    b.write(mmio::CP_RB_CNTL, cntl);
    b.write(mmio::CP_ME_CNTL, 0);
    b.ring(&scratch(0, 1));
    assert_eq!(kinds(&mut b), [kind::NOT_INITIALIZED]);
}

#[test]
fn a_hang_ends_with_a_soft_reset() {
    let mut b = bench();
    arm(&mut b, fault::HANG, Some(1));
    assert!(!b.ring(&scratch(0, 1)));
    let status = b.peek("GRBM_STATUS").unwrap();
    assert!(status >> 31 == 1, "{status:#x}");
    b.write(mmio::CP_ME_CNTL, mmio::cp_me_cntl::ME_HALT.mask());
    b.write(mmio::GRBM_SOFT_RESET, 1);
    assert_eq!(b.peek("GRBM_STATUS").unwrap() >> 31, 0);
    assert!(b.findings().is_empty());
}

#[test]
fn a_hang_of_the_dma_engine_ends_with_a_soft_reset() {
    let mut b = bench();
    arm(&mut b, fault::HANG_DMA, Some(1));
    assert!(!b.dma(&[header(dma_op::NOP, 0)]));
    assert_eq!(b.peek("DMA_STATUS_REG"), Some(0));
    assert!(b.ring(&scratch(0, 1)), "the other ring goes on");
    let cntl = b.read(mmio::DMA_RB_CNTL);
    b.write(mmio::DMA_RB_CNTL, cntl & !1);
    let reset = b.parts().0.variant.generation.srbm.register;
    b.write(reset, 1 << 20);
    assert_eq!(b.peek("DMA_STATUS_REG"), Some(1));
    assert!(b.findings().is_empty());
}

#[test]
fn buffers_of_the_dma_engine_hang_like_those_of_the_other() {
    for fault in [fault::HANG_BUFFER, fault::ENDLESS_BUFFER] {
        let mut b = bench();
        let at = Bench::GTT + 0x1000;
        b.put(at, &header(dma_op::NOP, 0).to_le_bytes().repeat(8));
        let buffer = [
            header(dma_op::NOP, 0),
            header(dma_op::NOP, 0),
            header(dma_op::NOP, 0),
            header(dma_op::NOP, 0),
            header(dma_op::NOP, 0),
            header(dma_op::INDIRECT_BUFFER, 0),
            at as u32,
            8 << 16,
        ];
        assert!(b.dma(&buffer));
        arm(&mut b, fault, Some(1));
        assert!(!b.dma(&buffer));
        assert!(b.ring(&scratch(0, 1)), "the other ring goes on");
        assert!(b.findings().is_empty());
    }
}

#[test]
fn a_ring_does_not_take_more_than_it_holds() {
    let mut b = bench();
    arm(&mut b, fault::HANG, Some(1));
    b.ring(&[0x8000_0000; 200]);
    b.ring(&[0x8000_0000; 100]);
    assert_eq!(kinds(&mut b), [kind::RING_OVERRUN]);
}

#[test]
fn a_ring_that_shrinks_is_read_from_within() {
    let mut b = bench();
    b.ring(&[0x8000_0000; 200]);
    b.write(mmio::CP_ME_CNTL, mmio::cp_me_cntl::ME_HALT.mask());
    b.write(mmio::CP_RB_CNTL, mmio::cp_rb_cntl::RB_BUFSZ.of(3));
    b.write(mmio::CP_ME_CNTL, 0);
    for wptr in 0..16 {
        b.write(mmio::CP_RB_WPTR, wptr);
        b.settle();
    }
    assert_eq!(b.peek("CP_RB_RPTR"), Some(15));
}

#[test]
fn indirect_buffers_nest_twice() {
    let mut b = bench();
    let inner: Vec<u32> = scratch(1, 11).into();
    let base = b.dma_buffer(&inner);
    let call = |at: u64, words: usize| {
        [
            packet(op::INDIRECT_BUFFER, 3),
            at as u32,
            (at >> 32) as u32,
            words as u32,
        ]
    };
    assert!(b.execute(&call(base, 3)));
    assert_eq!(b.peek("SCRATCH_REG[1]"), Some(11));
    assert!(b.findings().is_empty());
    // A buffer that calls itself: the third level is refused.
    let own = b.dma_buffer(&call(base, 4));
    assert_eq!(own, base);
    assert!(b.execute(&call(base, 4)));
    assert_eq!(kinds(&mut b), [kind::IB_NESTING]);
}

#[test]
fn a_packet_ends_inside_its_buffer() {
    let mut b = bench();
    assert!(b.execute(&[packet(op::NOP, 9), 0]));
    assert_eq!(kinds(&mut b), [kind::PACKET_CROSSES_BUFFER]);
}

#[test]
fn the_cpu_sees_old_bytes_until_a_flush() {
    let mut b = bench();
    b.execute(&[packet(op::MEM_WRITE, 4), 0x7000, 1 << 18, 3, 0]);
    let read = |b: &mut Bench| {
        let (chip, m) = b.parts();
        let mut word = [0; 4];
        lapidary_model::chip::Chip::vram_read(chip, m, 0x7000, &mut word);
        u32::from_le_bytes(word)
    };
    assert_eq!(read(&mut b), 3);
    assert_eq!(kinds(&mut b), [kind::STALE_READ]);
    b.write(mmio::HDP_DEBUG1, 0);
    read(&mut b);
    assert_eq!(read(&mut b), 3);
    assert!(b.findings().is_empty());
}

#[test]
fn nothing_reaches_memory_in_a_blackout() {
    let mut b = bench();
    let citf = b.parts().0.variant.generation.mc.citf_cntl;
    b.write(citf, 3);
    b.ring(&scratch(0, 1));
    assert!(kinds(&mut b).contains(&kind::MC_BLACKOUT));
}

#[test]
fn an_engine_that_becomes_idle_interrupts() {
    let mut b = bench();
    b.ring(&scratch(0, 1));
    assert_eq!(b.get32(Bench::WRITE_BACK + 2048), 0, "not asked for");
    b.write(
        mmio::GRBM_INT_CNTL,
        mmio::grbm_int_cntl::GUI_IDLE_INT_ENABLE.mask(),
    );
    b.ring(&scratch(0, 1));
    assert_eq!(b.get32(Bench::IH_RING), ih::source::GUI_IDLE);
}

#[test]
fn streams_interrupt_by_their_number() {
    let mut b = bench();
    b.execute(&[packet(op::CP_INTERRUPT, 1), 1 << 30]);
    assert_eq!(b.get32(Bench::IH_RING), ih::source::CP_IB1);
    b.ring(&[packet(op::CP_INTERRUPT, 1), 1 << 31]);
    assert_eq!(b.get32(Bench::IH_RING + 16), ih::source::CP_RING);
    assert!(b.findings().is_empty());
}

#[test]
fn the_memory_that_a_crtc_reads_is_protected() {
    let mut b = bench();
    let (chip, m) = b.parts();
    chip.light_crtc(m, 0);
    b.execute(&[packet(op::MEM_WRITE, 4), 0x1000, 1 << 18, 3, 0]);
    assert_eq!(kinds(&mut b), [kind::SCANOUT_OVERWRITTEN]);
}

#[test]
fn a_predicate_skips_packets_that_ask_for_it() {
    use lapidary_registers::r600::pm4::set_predication::control::{DRAW_VISIBLE, PRED_OP, pred_op};
    let mut b = bench();
    // Nothing was visible.
    let set = |control: u32| [packet(op::SET_PREDICATION, 2), Bench::GTT as u32, control];
    b.put(Bench::GTT, &[0; 16]);
    b.execute(&set(PRED_OP.of(pred_op::ZPASS) | DRAW_VISIBLE.mask()));
    let mut asks = scratch(0, 1);
    asks[0] |= 1;
    b.execute(&asks);
    assert_eq!(b.peek("SCRATCH_REG[0]"), Some(0));
    b.execute(&scratch(1, 1));
    assert_eq!(b.peek("SCRATCH_REG[1]"), Some(1), "it does not ask");
    b.put(Bench::GTT + 8, &7u64.to_le_bytes());
    b.execute(&set(PRED_OP.of(pred_op::ZPASS) | DRAW_VISIBLE.mask()));
    b.execute(&asks);
    assert_eq!(b.peek("SCRATCH_REG[0]"), Some(1));
    b.execute(&set(PRED_OP.of(pred_op::CLEAR)));
    assert!(b.findings().is_empty());
}

#[test]
fn counts_are_written_by_events() {
    let mut b = bench();
    b.put(Bench::GTT, &[0xff; 80]);
    let event = |kind: u32, at: u64| [packet(op::EVENT_WRITE, 3), kind, at as u32, 0];
    b.execute(&event(0x115, Bench::GTT));
    for backend in 0..4 {
        let high = b.get32(Bench::GTT + backend * 16 + 4);
        assert_eq!(high, 1 << 31, "the count of backend {backend} is valid");
    }
    assert_eq!(
        b.get32(Bench::GTT + 64),
        u32::MAX,
        "there are four backends"
    );
    b.execute(&[packet(op::EVENT_WRITE, 3), 0x10, 0, 0]);
    assert_eq!(kinds(&mut b), [kind::PACKET_LENGTH]);
}

#[test]
fn a_card_is_posted_by_its_rom() {
    let mut b = Bench::halted("rv635").unwrap();
    assert_eq!(b.peek("CONFIG_MEMSIZE"), Some(16 << 20));
    assert_eq!(
        b.peek("BIOS_SCRATCH[4]"),
        Some(72_500),
        "the engine's clock"
    );
    assert_eq!(b.peek("MC_VM_FB_LOCATION"), Some(0));
    assert!(b.findings().is_empty());
}

#[test]
fn registers_beyond_the_bar_are_reached_by_index() {
    let mut b = bench();
    b.write(mmio::MM_INDEX, 0x2_8350);
    b.write(mmio::MM_DATA, 5);
    assert_eq!(b.read(mmio::MM_DATA), 5);
    assert!(b.findings().is_empty());
}
