// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The ring in the frame buffer: fetch, pause, jump, stop, headers, branches.

use lapidary_registers::chrome9::enums::{location, para_type};
use lapidary_registers::chrome9::mmio::{self, engine_status, gecmd};
use lapidary_registers::chrome9::{mmio_read, para_10, para_11};

use super::Bench;
use crate::kind;
use lapidary_model::chip::Chip;

/// The ring, and its end.
pub(super) const RING: u32 = 0x10_0000;
const END: u32 = RING + 0x1000;
/// A branch.
pub(super) const BRANCH: u32 = 0x20_0000;
/// What pads.
pub(super) const PAD: u32 = 0xcc00_0000;
/// Dwords of a block, at whose end a pause address may be.
const BLOCK: usize = 32;
pub(super) const PAUSE: u32 = 0;
const JUMP: u32 = 1;
const STOP: u32 = 2;

/// Return a header with those dwords behind it.
pub(super) fn header(code: u32, count: u32, third: u32, rest: &[u32]) -> Vec<u32> {
    let mut words = vec![0xfe00_0000 | code, count, third, PAD];
    words.extend(rest);
    words.resize(words.len().next_multiple_of(4), PAD);
    words
}

/// Return a header 0 with those pairs.
fn pairs(pairs: &[(u32, u32)]) -> Vec<u32> {
    let words: Vec<_> = pairs.iter().flat_map(|(o, v)| [*o, *v]).collect();
    header(0, pairs.len() as u32, 0, &words)
}

/// Return a header 2 with parameters for the window of the regulator.
pub(super) fn regulator(kind: u32, values: &[u32]) -> Vec<u32> {
    header(0x2_0420, mmio::CR_SETTING, kind << 16, values)
}

/// Return a header that begins a branch.
pub(super) fn branch(code: u32) -> Vec<u32> {
    header(
        (code << 16) | 0x420,
        mmio::CR_SETTING,
        para_type::DUMMY << 16,
        &[],
    )
}

pub(super) fn tag(value: u32) -> Vec<u32> {
    regulator(
        para_type::REGULATOR_MISC,
        &[(para_11::SW_INSPECTION_1 << 24) | value],
    )
}

impl Bench {
    pub(super) fn put(&mut self, at: u32, words: &[u32]) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        assert!(self.m.vram.write(at.into(), &bytes));
    }

    /// Write parameters of type 10h.
    pub(super) fn setup(&mut self, values: &[(u32, u32)]) {
        let words: Vec<_> = values.iter().map(|(sub, v)| (sub << 24) | v).collect();
        self.parameters(para_type::REGULATOR, &words);
    }

    /// Put blocks into the ring from a dword on, padded, and return the dword behind them.
    pub(super) fn block(&mut self, from: usize, parts: &[Vec<u32>]) -> usize {
        let mut words = parts.concat();
        words.resize(words.len().next_multiple_of(BLOCK), PAD);
        self.put(RING + from as u32 * 4, &words);
        from + words.len()
    }

    /// Move the pause address to the last unit before a dword of the ring.
    pub(super) fn pause(&mut self, behind: usize, id: u32) {
        let at = RING + behind as u32 * 4 - 16;
        self.setup(&[
            (para_10::AGP_PAUSE_LOW, at & 0xff_fff0),
            (para_10::AGP_PAUSE_HIGH, (id << 8) | (at >> 24)),
        ]);
    }

    /// Take so many steps.
    pub(super) fn steps(&mut self, n: usize) {
        for _ in 0..n {
            self.chip.step(&mut self.m);
        }
    }

    /// Describe the ring, whose first pause address is behind a dword, and trigger.
    pub(super) fn start(&mut self, behind: usize, id: u32) {
        self.describe(behind, id);
        self.setup(&[(para_10::AGP_CONTROL, 0x0a_0001)]);
    }

    /// Describe the ring, whose first pause address is behind a dword.
    fn describe(&mut self, behind: usize, id: u32) {
        let low = |at: u32| at & 0xff_fff0;
        self.setup(&[
            (para_10::AGP_START_LOW, low(RING) | location::SYSTEM_LOCAL),
            (para_10::AGP_START_HIGH, RING >> 24),
            (para_10::AGP_END_LOW, low(END)),
            (para_10::AGP_END_HIGH, END >> 24),
            (para_10::AGP_JUMP_LOW, 0xff_fff0),
            (para_10::AGP_JUMP_HIGH, 0xff),
        ]);
        self.pause(behind, id);
    }

    pub(super) fn seen(&self) -> u32 {
        self.chip.peek(&self.m, "SW_INSPECTION_1").unwrap_or(0)
    }

    /// Run one block and return what it left, and what was found.
    pub(super) fn one(&mut self, parts: &[Vec<u32>]) -> Vec<kind::Kind> {
        let behind = self.block(0, parts);
        self.start(behind, PAUSE);
        self.found()
    }
}

#[test]
fn the_fetcher_waits_at_the_pause_address_and_goes_on_behind_it() {
    let mut b = Bench::new();
    let first = b.block(0, &[tag(1)]);
    let second = b.block(first, &[tag(2)]);
    b.start(first, PAUSE);
    assert_eq!(b.seen(), 1);
    assert_eq!(b.read(mmio_read::AGP_STATE), 1 << 31);
    assert_eq!(b.read(mmio_read::AGP_FETCH), RING + first as u32 * 4);
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
    b.pause(second, PAUSE);
    assert_eq!(b.seen(), 2);
    assert_eq!(b.read(mmio_read::AGP_PAUSE), RING + second as u32 * 4 - 16);
    assert_eq!(b.found(), []);
}

#[test]
fn the_port_of_the_display_moves_the_pause_address_too() {
    let mut b = Bench::new();
    let first = b.block(0, &[tag(1)]);
    let second = b.block(first, &[tag(2)]);
    b.start(first, PAUSE);
    b.write(mmio::AGP_PAUSE_ADDRESS_PORT, RING + second as u32 * 4 - 16);
    assert_eq!((b.seen(), b.found()), (2, vec![]));
}

#[test]
fn stop_ends_and_jump_begins_again() {
    let mut b = Bench::new();
    let first = b.block(0, &[tag(1)]);
    b.start(first, STOP);
    assert_eq!(b.read(mmio_read::AGP_STATE), 0, "it does not wait");
    let second = b.block(first, &[tag(2)]);
    b.pause(second, PAUSE);
    assert_eq!(b.seen(), 1, "a new pause address starts nothing");
    b.found();
    // By the ID: the block at the start is fetched again and again.
    b.describe(first, JUMP);
    b.post(mmio::CR_SPACE.base(), (para_10::AGP_CONTROL << 24) | 1);
    b.steps(1 + first / 4);
    assert_eq!(b.read(mmio_read::AGP_FETCH), RING);
    b.steps(1);
    assert_eq!(b.read(mmio_read::AGP_FETCH), RING + 16);
    assert!(engine_status::CR_BUSY.any(b.read(mmio::ENGINE_STATUS)));
    assert_eq!(b.found(), []);
}

#[test]
fn the_jump_address_leads_back_to_the_start() {
    let mut b = Bench::new();
    let first = b.block(0, &[tag(1)]);
    let second = b.block(first, &[tag(2)]);
    b.start(first, PAUSE);
    // The next block is at the start.
    b.block(0, &[tag(5)]);
    let jump = RING + second as u32 * 4 - 16;
    b.setup(&[
        (para_10::AGP_JUMP_LOW, jump & 0xff_fff0),
        (para_10::AGP_JUMP_HIGH, jump >> 24),
    ]);
    let pause = RING + second as u32 * 4;
    assert_eq!(b.found(), []);
    // A pause address in the second block's place would be met first: that of the first block is needed again. Moving
    // it there means moving it twice, because it is there already.
    b.post(
        mmio::CR_SPACE.base(),
        (para_10::AGP_PAUSE_LOW << 24) | (pause & 0xff_fff0),
    );
    b.post(
        mmio::CR_SPACE.base(),
        (para_10::AGP_PAUSE_HIGH << 24) | (pause >> 24),
    );
    b.steps(2);
    let pause = RING + first as u32 * 4 - 16;
    b.post(
        mmio::CR_SPACE.base(),
        (para_10::AGP_PAUSE_LOW << 24) | (pause & 0xff_fff0),
    );
    b.post(
        mmio::CR_SPACE.base(),
        (para_10::AGP_PAUSE_HIGH << 24) | (pause >> 24),
    );
    b.run();
    assert_eq!(b.seen(), 5);
    assert_eq!(b.read(mmio_read::AGP_FETCH), pause + 16);
    assert_eq!(
        b.found(),
        [kind::RING_KICK],
        "the address in between ends no block"
    );
}

#[test]
fn the_end_of_the_ring_stops_the_fetcher() {
    let mut b = Bench::new();
    let first = b.block(0, &[tag(1)]);
    b.start(first, PAUSE);
    b.put(
        RING + first as u32 * 4,
        &vec![PAD; (0x1000 - first * 4) / 4],
    );
    b.pause(0x1000 / 4 + BLOCK, PAUSE);
    assert_eq!(b.found(), [kind::RING_END]);
    assert_eq!(b.read(mmio::ENGINE_STATUS), 0);
}

#[test]
fn a_kick_is_a_whole_block_and_a_ring_is_started_once() {
    let mut b = Bench::new();
    b.put(RING, &[PAD; 256]);
    b.start(BLOCK, PAUSE);
    assert_eq!(b.found(), []);
    b.pause(BLOCK + 16, PAUSE);
    assert_eq!(
        b.found(),
        [kind::RING_KICK],
        "not at the end of a block, and short"
    );
    b.pause(2 * BLOCK, PAUSE);
    assert_eq!(b.found(), [kind::RING_KICK], "short");
    b.pause(3 * BLOCK, PAUSE);
    assert_eq!(b.found(), []);
    b.setup(&[(para_10::INTERRUPT_COMMAND, 2)]);
    b.pause(4 * BLOCK, PAUSE);
    b.setup(&[(para_10::AGP_CONTROL, 1)]);
    assert_eq!(
        b.found(),
        [kind::RING_RESTART],
        "it is held, and not at its end"
    );
}

#[test]
fn a_held_fetcher_does_nothing_and_is_busy() {
    let mut b = Bench::new();
    let first = b.block(0, &[tag(1)]);
    b.setup(&[(para_10::INTERRUPT_COMMAND, 2)]);
    b.start(first, PAUSE);
    assert_eq!(b.seen(), 0);
    assert!(engine_status::CR_BUSY.any(b.read(mmio::ENGINE_STATUS)));
    b.setup(&[(para_10::INTERRUPT_COMMAND, 0)]);
    assert_eq!((b.seen(), b.found()), (1, vec![]));
}

#[test]
fn a_stop_waits_for_the_end_of_a_critical_section() {
    let mut b = Bench::new();
    let critical = |on| regulator(para_type::REGULATOR_MISC, &[(para_11::CR_MISC << 24) | on]);
    let stop = regulator(
        para_type::REGULATOR,
        &[(para_10::INTERRUPT_COMMAND << 24) | 1],
    );
    let parts = [critical(1), stop.clone(), tag(1), critical(0), tag(2)];
    assert_eq!(b.one(&parts), []);
    assert_eq!(b.seen(), 1, "what comes behind the section is not executed");
    assert_eq!(b.one(&[stop, tag(3)]), []);
    assert_eq!(b.seen(), 1);
}

#[test]
fn pairs_draw_and_host_data_is_counted() {
    let mut b = Bench::new();
    let fill = gecmd::ROP.of(0xf0) | gecmd::FIXED_COLOR_PATTERN.mask() | gecmd::COMMAND.of(1);
    let upload = gecmd::ROP.of(0xcc) | gecmd::SOURCE_SYSTEM.mask() | gecmd::COMMAND.of(1);
    let target = [
        (mmio::GEMODE, 0),
        (mmio::PITCH, 2 << 16),
        (mmio::DSTBASE, 0),
        (mmio::DSTPOS, 0),
        (mmio::DIMENSION, 3),
    ];
    let mut filling = target.to_vec();
    filling.extend([(mmio::MONOPATFGC, 7), (mmio::GECMD, fill)]);
    let mut loading = target.to_vec();
    loading.extend([
        (mmio::DSTPOS, 1 << 16),
        (mmio::SRCPOS, 0),
        (mmio::GECMD, upload),
    ]);
    // Data that looks like a header is data.
    let parts = [
        pairs(&filling),
        pairs(&loading),
        header(0x1_0000, 1, 0, &[0xfe02_0420]),
    ];
    assert_eq!(b.one(&parts), []);
    assert_eq!(b.bytes(0, 4), [7; 4]);
    assert_eq!(b.bytes(16, 4), [0x20, 0x04, 0x02, 0xfe]);
}

#[test]
fn parameters_of_both_windows_and_counted_vertices_arrive() {
    let mut b = Bench::new();
    let state = header(
        0x2_0440,
        mmio::SETTING_3D,
        para_type::ATTRIBUTE << 16,
        &[0x5000_1234, 0x5200_0007],
    );
    let constant = header(0x2_0440, mmio::SETTING_3D, 0x2203_0004, &[0x3f80_0000]);
    let vertices = header(0x3_043c, 5, 0, &[1, 2, 3, 0xfe00_0000, 5]);
    let parts = [state, constant, vertices, tag(9)];
    assert_eq!(
        b.one(&parts),
        [kind::UNDEFINED_STATE],
        "nothing says what a vertex is"
    );
    let peek = |b: &Bench, name| b.chip.peek(&b.m, name);
    assert_eq!(peek(&b, "RT0_1"), Some(0x1234));
    assert_eq!(peek(&b, "CONSTANT_LOW[4]"), Some(0x3f80_0000));
    assert_eq!((peek(&b, "VERTEX_DWORD"), b.seen()), (Some(5), 9));
}

#[test]
fn video_registers_pass_by_their_second_places() {
    let mut b = Bench::new();
    let stride = 0x2000 + mmio::ALPHA_STREAM_STRIDE;
    let parts = [
        header(0x5_0000, 2, 0, &[stride, 0x40, mmio::WAIT_CONTROL_VIDEO, 1]),
        header(0x4_0000 | stride, 2, 0, &[0x50, 0x60]),
    ];
    assert_eq!(b.one(&parts), []);
    assert_eq!(b.chip.peek(&b.m, "ALPHA_STREAM_STRIDE"), Some(0x60));
}

#[test]
fn what_does_not_fit_is_found_and_its_twin_is_not() {
    let wrong: &[(Vec<u32>, kind::Kind)] = &[
        (vec![1, 2, 3, 4], kind::NO_HEADER),
        (vec![0xfe08_0000, 0, 0, 0], kind::NO_HEADER),
        (pairs(&[(mmio::CR_SETTING, 0)]), kind::HEADER_REGISTER),
        (pairs(&[(0x1fd, 0)]), kind::HEADER_REGISTER),
        (
            header(0x5_0000, 1, 0, &[mmio::AGP_PAUSE_ADDRESS_PORT, 0]),
            kind::HEADER_REGISTER,
        ),
        (
            header(0x2_0440, mmio::CR_SETTING, 0x11_0000, &[]),
            kind::HEADER_REGISTER,
        ),
        (
            header(0x2_0420, 0x294, 0x11_0000, &[]),
            kind::HEADER_REGISTER,
        ),
        (header(0x3_041c, 1, 0, &[PAD]), kind::HEADER_REGISTER),
        (header(0x7_0000, 0, 0, &[]), kind::UNIMPLEMENTED_HEADER),
        (regulator(para_type::PRIMITIVE, &[]), kind::WINDOW_TYPE),
    ];
    for (stream, kind) in wrong {
        let mut b = Bench::new();
        assert_eq!(b.one(&[stream.clone()]), [*kind], "{stream:x?}");
    }
    let right = [
        vec![PAD, 0xdd00_0000, 0xee00_0000, 0xcf00_0000],
        pairs(&[(mmio::DSTPOS, 0)]),
        header(0x6_0000, 0, 0, &[]),
        header(0x2_0420, mmio::CR_SETTING, 0x11_0000, &[]),
        regulator(para_type::REGULATOR_MISC, &[]),
    ];
    assert_eq!(Bench::new().one(&right), []);
}

impl Bench {
    /// Run a branch of those words by a header; `enable` is for BRANCH_CONTROL.
    pub(super) fn branch(&mut self, code: u32, words: &[u32], enable: u32) -> Vec<kind::Kind> {
        self.put(BRANCH, words);
        let first = if code == 0x82 {
            para_11::BRANCH_2
        } else {
            para_11::SECOND_BRANCH_1
        };
        let set = |n: u32, v: u32| ((first + n) << 24) | v;
        let place = regulator(
            para_type::REGULATOR_MISC,
            &[
                set(0, BRANCH & 0xff_fffe),
                set(1, BRANCH >> 24),
                set(2, words.len() as u32 / 4),
            ],
        );
        let allow = regulator(
            para_type::REGULATOR,
            &[(para_10::BRANCH_CONTROL << 24) | enable],
        );
        self.one(&[allow, place, branch(code), tag(2)])
    }
}

#[test]
fn a_branch_is_executed_and_the_ring_goes_on() {
    for code in [0x82, 0x83] {
        let mut b = Bench::new();
        let fill = [(mmio::DSTPOS, 0x1234)];
        assert_eq!(b.branch(code, &pairs(&fill), 1), []);
        assert_eq!((b.seen(), b.m.counters.get("branches")), (2, 1));
    }
}

#[test]
fn branches_do_not_nest_and_can_be_forbidden() {
    let mut b = Bench::new();
    assert_eq!(b.branch(0x82, &branch(0x82), 1), [kind::NESTED_BRANCH]);
    assert_eq!(b.seen(), 2);
    assert_eq!(b.branch(0x82, &tag(7), 0), [kind::BRANCH_DISABLED]);
    assert_eq!(b.branch(0x82, &[], 1), [kind::RESERVED_VALUE], "of no size");
}

#[test]
fn a_branch_ends_what_it_has_begun() {
    let mut b = Bench::new();
    // Two pairs are counted, and one comes. The pair that follows in the ring is no part of it.
    let mut short = pairs(&[(mmio::DSTPOS, 1)]);
    short[1] = 3;
    assert_eq!(
        b.branch(0x82, &short, 1),
        [kind::HEADER_REGISTER, kind::STREAM_TRUNCATED]
    );
    assert_eq!(b.seen(), 2);
}

#[test]
fn reading_back_needs_the_block_of_the_regulator() {
    let mut b = Bench::new();
    b.setup(&[(para_10::READ_BACK_SETTING, 6)]);
    b.read(mmio_read::AGP_FETCH);
    assert_eq!(b.found(), [kind::READ_BACK_BLOCK]);
    b.setup(&[(para_10::READ_BACK_SETTING, 0)]);
    b.read(mmio_read::AGP_FETCH);
    assert_eq!(b.found(), []);
}
