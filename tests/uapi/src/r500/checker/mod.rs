// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams that must not reach the engine: whatever could make it touch memory that is not
//! the client's, change how it works, or hang. Each is refused with `EINVAL` and leaves no trace.

mod rectangles;
mod relocations;

use anyhow::{Context as _, Result, ensure};
use lapidary_engines::r500::draw2d::{self, Rect, Surface, rop};
use lapidary_guest::Client as _;
use lapidary_guest::abi::CsReloc;
use lapidary_guest::stream::Access;
use lapidary_guest::{Bo, Device, Domain, Errno, Stream, pm4};
use lapidary_harness::kmsg::Kmsg;
use lapidary_harness::{Context, Test, refused};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use lapidary_uapi_radeon::support::{self, PITCH, WIDTH, untouched};
use std::rc::Rc;

const BOUNDED_2D: &str = "our checker bounds every rectangle of the 2D engine";
const ROWS: i32 = 16;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("checker/packet_types", packet_types),
        Test::new("checker/reserved_header_bits", reserved_bits)
            .upstream_answers("it was accepted", "ignores bits that the manual reserves"),
        Test::new("checker/unknown_opcodes", unknown_opcodes).limit(90),
        Test::new("checker/packets_of_the_kernel", kernel_packets),
        Test::new("checker/draws_without_state", draws_without_state),
        Test::new("checker/truncated_packets", truncated),
        Test::new("checker/forbidden_registers", forbidden_registers),
        Test::new("checker/forbidden_in_a_run", forbidden_run),
        Test::new("checker/registers_beyond_the_engines", beyond_the_engines)
            .lapidary_only("our checker admits registers by name"),
        Test::new(
            "checker/missing_relocation",
            relocations::missing_relocation,
        ),
        Test::new(
            "checker/relocation_marker_of_two_dwords",
            relocations::long_marker,
        )
        .upstream_answers("it was accepted", "looks at the first dword only"),
        Test::new(
            "checker/relocation_out_of_range",
            relocations::relocation_out_of_range,
        ),
        Test::new(
            "checker/relocation_index_between_entries",
            relocations::relocation_between,
        )
        .upstream_answers("it was accepted", "rounds the index down"),
        Test::new("checker/rectangle_beyond_the_object", rectangles::fills)
            .lapidary_only(BOUNDED_2D),
        Test::new("checker/copy_beyond_the_objects", rectangles::copies).lapidary_only(BOUNDED_2D),
        Test::new("checker/line_beyond_the_object", rectangles::lines).lapidary_only(BOUNDED_2D),
        Test::new(
            "checker/surface_of_someone_else",
            rectangles::inherited_surface,
        )
        .lapidary_only(BOUNDED_2D),
        Test::new(
            "checker/offset_beyond_the_object",
            rectangles::offset_beyond,
        )
        .lapidary_only(BOUNDED_2D),
        Test::new("checker/host_data_beyond_the_object", rectangles::host_data),
        Test::new(
            "checker/host_data_that_never_comes",
            rectangles::host_data_missing,
        )
        .lapidary_only("our checker counts host data"),
        Test::new("checker/packets_of_the_2d_engine", engine2d_packets),
        Test::new("checker/waits_that_never_end", endless_waits)
            .lapidary_only("our checker admits waits that end"),
        Test::new("checker/good_before_bad", good_before_bad),
        Test::new("checker/log_flood", log_flood)
            .lapidary_only("our driver bounds what a client can write to the log"),
        Test::new("checker/random_streams", random_streams),
    ]
}

/// Submit a stream that must be refused without a trace.
fn refuse(context: &mut Context, device: &Device, what: &str, stream: &Stream) -> Result<()> {
    untouched(context, || {
        refused("the stream", device.submit(stream), Errno::INVAL)
    })
    .with_context(|| what.to_owned())
}

/// Return a client and one of its objects.
fn client(context: &Context) -> Result<(Rc<Device>, Bo)> {
    let device = context.device()?;
    let bo = support::surface(&device, ROWS as u32, Domain::Gtt)?;
    bo.wait()?;
    Ok((device, bo))
}

fn words(words: &[u32]) -> Stream {
    let mut stream = Stream::new();
    stream.extend(words);
    stream
}

fn packet_types(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let register = mmio::DP_BRUSH_FRGD_CLR;
    refuse(
        context,
        &device,
        "type 1",
        &words(&[pm4::packet1(register, register), 0, 0]),
    )?;
    refuse(
        context,
        &device,
        "type 1 after a filler",
        &words(&[pm4::PACKET2, pm4::packet1(4, 8), 0, 0]),
    )?;
    device
        .submit(&words(&[pm4::PACKET2 | 0x3fff_ffff]))
        .context("type 2 with all bits")?;
    Ok(())
}

fn reserved_bits(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for bit in [13, 14] {
        let header = pm4::packet0(mmio::DP_BRUSH_FRGD_CLR, 1) | (1 << bit);
        refuse(
            context,
            &device,
            &format!("type 0, bit {bit}"),
            &words(&[header, 0]),
        )?;
    }
    Ok(())
}

fn unknown_opcodes(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for opcode in 0..=u8::MAX {
        if lapidary_registers::r500::DATABASE.packet(opcode).is_some() {
            continue;
        }
        refuse(
            context,
            &device,
            &format!("opcode {opcode:#x}"),
            &words(&[pm4::packet3(opcode, 2), 0, 0]),
        )?;
    }
    Ok(())
}

/// Submit packets that make the command processor wait, jump or skip.
fn kernel_packets(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (opcode, body) in [
        (op::PRED_EXEC, &[0x0100_0001][..]),
        (op::COND_EXEC, &[2, 1]),
        (op::COND_EXEC, &[0, 2, 1]),
        (op::WAIT_SEMAPHORE, &[0xfc]),
        (op::WAIT_SEMAPHORE, &[0xfc, 0]),
        (op::WAIT_MEM, &[0, 2]),
    ] {
        let mut stream = Stream::new();
        stream.packet(opcode, body);
        refuse(context, &device, &format!("opcode {opcode:#x}"), &stream)?;
    }
    Ok(())
}

/// Submit draws, and packets that prepare them, in a stream that has set nothing.
fn draws_without_state(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (opcode, body) in [
        (op::_3D_DRAW_VBUF_2, &[0x0003_0034][..]),
        (op::_3D_DRAW_IMMD_2, &[0x0003_0034, 0, 0, 0, 0]),
        (op::_3D_DRAW_INDX_2, &[0x0003_0014, 0x0001_0000, 2]),
        (op::_3D_DRAW_VBUF, &[0, 0x0003_0034]),
        (op::_3D_DRAW_IMMD, &[0, 0x0003_0034, 0, 0, 0]),
        (op::_3D_DRAW_INDX, &[0, 0x0003_0014, 0, 0]),
        (op::_3D_DRAW_128, &[0x0003_0034, 0, 0]),
        (op::_3D_LOAD_VBPNTR, &[1, 0x0000_0404, 0]),
        (op::INDX_BUFFER, &[0, 0, 4]),
        (op::_3D_CLEAR_HIZ, &[0, 1, 0]),
        (op::MPEG_INDEX, &[0, 0, 1, 0, 0]),
    ] {
        let mut stream = Stream::new();
        stream.packet(opcode, body);
        refuse(context, &device, &format!("opcode {opcode:#x}"), &stream)?;
    }
    for (name, offset) in [
        ("RB3D_COLOROFFSET", mmio::RB3D_COLOROFFSET.base()),
        ("ZB_DEPTHOFFSET", mmio::ZB_DEPTHOFFSET),
    ] {
        let mut stream = Stream::new();
        stream.register(offset, 0);
        refuse(
            context,
            &device,
            &format!("{name} without an object"),
            &stream,
        )?;
    }
    Ok(())
}

fn truncated(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let register = mmio::DP_BRUSH_FRGD_CLR;
    for (what, stream) in [
        ("type 0 without body", &[pm4::packet0(register, 1)][..]),
        ("type 0, one short", &[pm4::packet0(register, 2), 0]),
        (
            "type 0, longest",
            &[pm4::packet0(register, pm4::MAX_BODY), 0],
        ),
        (
            "type 0 to one register, longest",
            &[pm4::packet0_same(register, pm4::MAX_BODY), 0],
        ),
        ("type 3 without body", &[pm4::packet3(op::NOP, 1)]),
        (
            "type 3, longest",
            &[pm4::packet3(op::NOP, pm4::MAX_BODY), 0, 0],
        ),
        (
            "after good ones",
            &[
                pm4::PACKET2,
                pm4::packet0(register, 1),
                0,
                pm4::packet3(op::NOP, 2),
                0,
            ],
        ),
    ] {
        refuse(context, &device, what, &words(stream))?;
    }
    Ok(())
}

fn forbidden_registers(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let mut offsets = vec![
        mmio::MM_INDEX,
        mmio::MM_DATA,
        mmio::CLOCK_CNTL_INDEX,
        mmio::CLOCK_CNTL_DATA,
        mmio::PCIE_INDEX,
        mmio::PCIE_DATA,
        mmio::MC_IND_INDEX,
        mmio::MC_IND_DATA,
        mmio::BUS_CNTL,
        mmio::GEN_INT_CNTL,
        mmio::GEN_INT_STATUS,
        mmio::RBBM_SOFT_RESET,
        mmio::CP_RB_BASE,
        mmio::CP_RB_CNTL,
        mmio::CP_RB_RPTR_ADDR,
        mmio::CP_RB_WPTR,
        mmio::CP_IB_BASE,
        mmio::CP_IB_BUFSZ,
        mmio::CP_IB2_BASE,
        mmio::CP_IB2_BUFSZ,
        mmio::CP_CSQ_CNTL,
        mmio::CP_ME_CNTL,
        mmio::CP_ME_RAM_ADDR,
        mmio::CP_ME_RAM_DATAL,
        mmio::SCRATCH_UMSK,
        mmio::SCRATCH_ADDR,
        mmio::D1CRTC_CONTROL,
        mmio::D1GRPH_PRIMARY_SURFACE_ADDRESS,
        0x7ffc,
    ];
    offsets.extend((0..8).filter_map(|i| mmio::SCRATCH_REG.at(i)));
    offsets.extend((0..8).filter_map(|i| mmio::BIOS_SCRATCH.at(i)));
    for offset in offsets {
        let mut stream = Stream::new();
        stream.register(offset, 0);
        refuse(
            context,
            &device,
            &format!("register {offset:#06x}"),
            &stream,
        )?;
    }
    Ok(())
}

/// Write every register of the display and of what comes behind it.
fn beyond_the_engines(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for offset in (0x6000..0x8000).step_by(4) {
        let mut stream = Stream::new();
        stream.register(offset, 0);
        let what = format!("register {offset:#06x}");
        refused(&what, device.submit(&stream), Errno::INVAL)?;
    }
    Ok(())
}

/// Write a run of registers that begins with allowed ones, and one register often.
fn forbidden_run(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    let from = mmio::DP_BRUSH_FRGD_CLR;
    let count = ((mmio::SCRATCH_REG.base() - from) / 4 + 1) as usize;
    let mut stream = Stream::new();
    stream.registers(from, &vec![0; count]);
    refuse(
        context,
        &device,
        "a run into the scratch registers",
        &stream,
    )?;
    let mut stream = Stream::new();
    stream
        .word(pm4::packet0_same(mmio::CP_RB_WPTR, 4))
        .extend(&[0; 4]);
    refuse(context, &device, "CP_RB_WPTR four times", &stream)?;
    let mut stream = Stream::new();
    stream.registers(0x7ff8, &[0; 64]);
    refuse(context, &device, "a run past the last register", &stream)
}

fn surface_of(bo: &Bo) -> Surface<'_> {
    Surface::new(bo, PITCH)
}

/// Submit all packets that drive the 2D engine. Each is well-formed, inside its object, behind a stream that has set
/// the state which it may rely on.
fn engine2d_packets(context: &mut Context) -> Result<()> {
    use lapidary_registers::r500::enums::{brush_type, src_load};
    use lapidary_registers::r500::pm4::gui_control;
    let (device, bo) = client(context)?;
    let surface = surface_of(&bo);
    let mut state = Stream::new();
    let inside = Rect::new(0, 0, 8, 8);
    draw2d::fill_by_registers(&mut state, surface, 7, inside);
    device.submit(&state).context("the state alone")?;
    let at = state
        .words()
        .iter()
        .position(|&word| word == pm4::packet0(mmio::DP_GUI_MASTER_CNTL, 1))
        .context("no GUI control in a fill")?;
    let fill = gui_control::DST_CLIPPING.put(state.words()[at + 1], 0);
    let bare = gui_control::BRUSH_TYPE.put(fill, brush_type::NONE);
    let copy = gui_control::SRC_PITCH_OFF.put(bare, 1);
    let copy = gui_control::WIN31_ROP.put(copy, u32::from(rop::SRCCOPY));
    let upload = gui_control::WIN31_ROP.put(bare, u32::from(rop::SRCCOPY));
    let upload = gui_control::SRC_LOAD.put(upload, src_load::HOST_DATA);
    let (one, place) = (0x0001_0001, surface.pitch_offset());
    let palette: Vec<u32> = (0..17).map(|i| u32::from(i == 0)).collect();
    let packets: [(u8, Vec<u32>); 12] = [
        (op::PAINT, vec![fill, place, 7, 0, one]),
        (op::PAINT_MULTI, vec![fill, place, 7, 0, one]),
        (op::POLYLINE, vec![fill, place, 7, 0, one]),
        (
            op::POLYSCANLINES,
            vec![fill, place, 7, 1, 1, 1 << 16, 1 << 16],
        ),
        (op::PLY_NEXTSCAN, vec![1 << 16, 1 << 16]),
        (op::BITBLT, vec![copy, place, place, one, 0, one]),
        (op::BITBLT_MULTI, vec![copy, place, place, one, 0, one]),
        (
            op::TRANS_BITBLT,
            vec![copy, place, place, 0, 0, 0, one, 0, one],
        ),
        (op::HOSTDATA_BLT, vec![upload, place, 0, 0, 0, one, 1, 7]),
        (op::NEXTCHAR, vec![0, one, 7]),
        (op::SET_SCISSORS, vec![0, one]),
        (op::LOAD_PALETTE, palette),
    ];
    for (opcode, body) in packets {
        let mut stream = state.clone();
        stream.packet(opcode, &body);
        for _ in body.iter().filter(|&&word| word == place) {
            stream.relocation(&bo, Access::Write);
        }
        refuse(context, &device, &format!("opcode {opcode:#x}"), &stream)?;
    }
    Ok(())
}

fn endless_waits(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    // The bits that wait for a CRTC, an overlay or an external event.
    for bit in [0, 1, 2, 3] {
        let mut stream = Stream::new();
        stream.register(mmio::WAIT_UNTIL, 1 << bit);
        refuse(context, &device, &format!("WAIT_UNTIL bit {bit}"), &stream)?;
    }
    Ok(())
}

/// One bad packet spoils the stream: the good ones before it are not executed.
fn good_before_bad(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    bo.write(&[0; 16])?;
    let mut stream = Stream::new();
    draw2d::fill_by_registers(
        &mut stream,
        surface_of(&bo),
        0x77,
        Rect::new(0, 0, WIDTH, ROWS),
    );
    stream.word(pm4::packet1(0, 4)).extend(&[0, 0]);
    refuse(context, &device, "a fill and a type 1 packet", &stream)?;
    ensure!(bo.read()?[0] == 0, "the fill was executed");
    Ok(())
}

/// User space must not be able to fill the kernel log.
fn log_flood(context: &mut Context) -> Result<()> {
    const MOST: usize = 12;
    let (device, bo) = client(context)?;
    let mut log = Kmsg::open_at_end()?;
    let mut bad = support::fillers(2000);
    bad.push(pm4::packet1(0, 4));
    for i in 0..200 {
        refused("a type 1 packet", device.submit(&words(&bad)), Errno::INVAL)?;
        let mut stream = Stream::new();
        stream.raw_entry(CsReloc {
            handle: bo.handle(),
            ..Default::default()
        });
        stream.register(mmio::CP_RB_WPTR, i);
        refused("a forbidden register", device.submit(&stream), Errno::INVAL)?;
        let _ = device.create_raw(u64::MAX, 0, 4, 0);
        let _ = device.info_bytes(0x1234, 0);
    }
    let records = log.read()?;
    ensure!(
        records.len() <= MOST,
        "{} log records, the first: {}",
        records.len(),
        records[0].text
    );
    Ok(())
}

/// Submit dwords of any kind. They are refused or accepted, but nothing breaks, and what is not the stream's stays.
fn random_streams(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let guard = support::surface(&device, 64, Domain::Vram)?;
    guard.write(&[0x600d_600d; 64 * WIDTH as usize])?;
    let headers: Vec<u32> = lapidary_registers::r500::PACKETS
        .iter()
        .flat_map(|packet| (1..12).map(|count| pm4::packet3(packet.opcode, count)))
        .chain((0..0x2000).step_by(4).map(|offset| pm4::packet0(offset, 1)))
        .collect();
    let mut random = fastrand::Rng::with_seed(0x1a51_da12);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        for _ in 0..random.u64(..6) + 1 {
            match random.u64(..4) {
                0 => stream.word(random.u32(..)),
                1 => stream.marker(random.u64(..2) as u32 * 4),
                2 => stream
                    .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
                    .marker(0),
                _ => stream.word(headers[random.u64(..headers.len() as u64) as usize]),
            };
            for _ in 0..random.u64(..4) {
                stream.word(random.u32(..) & 0x000f_000f);
            }
        }
        match device.submit(&stream) {
            Ok(()) => accepted += 1,
            Err(Errno::INVAL) => refused += 1,
            Err(error) => anyhow::bail!("{error:?} for {:x?}", stream.words()),
        }
    }
    bo.wait().context("after random streams")?;
    ensure!(refused > 100, "{accepted} accepted, {refused} refused");
    ensure!(
        guard.read()?.iter().all(|&word| word == 0x600d_600d),
        "another object was written to"
    );
    support::engine_works(&device)
}
