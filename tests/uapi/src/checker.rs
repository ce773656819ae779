// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Command streams that must not reach the engine: whatever could make it touch memory that is not
//! the client's, change how it works, or hang. Each is refused with `EINVAL` and leaves no trace.

use crate::support::{self, PITCH, WIDTH, untouched};
use anyhow::{Context as _, Result, ensure};
use lapidary_guest::abi::CsReloc;
use lapidary_guest::draw2d::{self, Brush, Raster, Rect, Scan, SourceType, Surface, rop};
use lapidary_guest::harness::{Context, Test, refused};
use lapidary_guest::kmsg::Kmsg;
use lapidary_guest::stream::Access;
use lapidary_guest::{Bo, Device, Domain, Errno, Stream, pm4};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;
use std::rc::Rc;

const UNBOUNDED_2D: &str = "does not bound 2D rectangles";
const NO_2D_PACKETS: &str = "refuses all 2D packets";
const ROWS: i32 = 16;

pub fn tests() -> Vec<Test> {
    vec![
        Test::new("checker/packet_types", packet_types),
        Test::new("checker/reserved_header_bits", reserved_bits).lapidary_only("ignores them"),
        Test::new("checker/unknown_opcodes", unknown_opcodes).limit(90),
        Test::new("checker/packets_of_the_kernel", kernel_packets),
        Test::new("checker/draws_3d", draws_3d).lapidary_only("has a checker for them"),
        Test::new("checker/truncated_packets", truncated),
        Test::new("checker/forbidden_registers", forbidden_registers),
        Test::new("checker/forbidden_in_a_run", forbidden_run),
        Test::new("checker/missing_relocation", missing_relocation),
        Test::new("checker/relocation_marker_of_two_dwords", long_marker)
            .lapidary_only("looks at the first"),
        Test::new("checker/relocation_out_of_range", relocation_out_of_range),
        Test::new(
            "checker/relocation_index_between_entries",
            relocation_between,
        )
        .lapidary_only("rounds it down"),
        Test::new("checker/rectangle_beyond_the_object", rectangle_registers)
            .lapidary_only(UNBOUNDED_2D),
        Test::new("checker/copy_beyond_the_source", copy_registers).lapidary_only(UNBOUNDED_2D),
        Test::new("checker/surface_of_someone_else", inherited_surface).lapidary_only(UNBOUNDED_2D),
        Test::new("checker/offset_beyond_the_object", offset_beyond).lapidary_only(UNBOUNDED_2D),
        Test::new("checker/rectangle_packets", rectangle_packets).lapidary_only(NO_2D_PACKETS),
        Test::new("checker/copy_packets", copy_packets).lapidary_only(NO_2D_PACKETS),
        Test::new("checker/line_packets", line_packets).lapidary_only(NO_2D_PACKETS),
        Test::new("checker/host_data_packets", host_data_packets).lapidary_only(NO_2D_PACKETS),
        Test::new("checker/host_data_that_never_comes", host_data_missing)
            .lapidary_only("does not count host data"),
        Test::new("checker/packets_without_surface", without_surface).lapidary_only(NO_2D_PACKETS),
        Test::new("checker/waits_that_never_end", endless_waits)
            .lapidary_only("lets any wait through"),
        Test::new("checker/good_before_bad", good_before_bad),
        Test::new("checker/log_flood", log_flood).lapidary_only("prints the whole stream"),
        Test::new("checker/random_streams", random_streams).limit(60),
    ]
}

/// Submits a stream that must be refused without a trace.
fn refuse(context: &mut Context, device: &Device, what: &str, stream: &Stream) -> Result<()> {
    untouched(context, || {
        refused(what, device.submit(stream), Errno::INVAL)
    })
    .with_context(|| what.to_owned())
}

/// A client and one of its objects.
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
        if lapidary_registers::r500::packet(opcode).is_some() {
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

/// Packets that make the command processor wait, jump or skip.
fn kernel_packets(context: &mut Context) -> Result<()> {
    let device = context.device()?;
    for (opcode, body) in [
        (op::PRED_EXEC, &[0x0100_0001][..]),
        (op::COND_EXEC, &[2, 1]),
        (op::COND_EXEC, &[0, 2, 1]),
        (op::WAIT_SEMAPHORE, &[0xfc]),
        (op::WAIT_SEMAPHORE, &[0xfc, 0]),
        (op::WAIT_MEM, &[0, 2]),
        (
            op::LOAD_PALETTE,
            &[1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        ),
    ] {
        let mut stream = Stream::new();
        stream.packet(opcode, body);
        refuse(context, &device, &format!("opcode {opcode:#x}"), &stream)?;
    }
    Ok(())
}

fn draws_3d(context: &mut Context) -> Result<()> {
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
        ("VAP_VF_CNTL", mmio::VAP_VF_CNTL),
    ] {
        let mut stream = Stream::new();
        stream.register(offset, 0);
        refuse(context, &device, name, &stream)?;
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

/// A run of registers that begins with allowed ones, and one register written often.
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

fn missing_relocation(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for register in [mmio::DST_PITCH_OFFSET, mmio::SRC_PITCH_OFFSET] {
        let value = surface_of(&bo).pitch_offset();
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream.register(register, value);
        refuse(context, &device, "at the end", &stream)?;
        stream.register(mmio::DP_BRUSH_FRGD_CLR, 0);
        refuse(context, &device, "another packet follows", &stream)?;
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream
            .register(register, value)
            .word(pm4::PACKET2)
            .marker(0);
        refuse(context, &device, "a filler in between", &stream)?;
    }
    Ok(())
}

fn long_marker(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let mut stream = Stream::new();
    stream.entry(&bo, Access::Write);
    stream
        .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
        .packet(op::NOP, &[0, 0]);
    refuse(context, &device, "a marker of two dwords", &stream)
}

fn relocation_out_of_range(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for index in [4, 8, 1000, 0x7fff_fffc, 0x8000_0000, 0xffff_fffc, u32::MAX] {
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream
            .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
            .marker(index);
        refuse(
            context,
            &device,
            &format!("index {index:#x} of one entry"),
            &stream,
        )?;
    }
    let mut stream = Stream::new();
    stream
        .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
        .marker(0);
    refuse(context, &device, "index 0 of no entry", &stream)
}

fn relocation_between(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for index in [1, 2, 3] {
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        stream
            .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
            .marker(index);
        refuse(context, &device, &format!("index {index}"), &stream)?;
    }
    Ok(())
}

/// Rectangles that stick out of a surface of `WIDTH` × `ROWS` pixels whose rows fill the object.
const OUTSIDE: [Rect; 11] = [
    Rect::new(0, 0, WIDTH, ROWS + 1),
    Rect::new(0, ROWS, 1, 1),
    Rect::new(0, ROWS - 1, WIDTH + 1, 1),
    Rect::new(1, ROWS - 1, WIDTH, 1),
    Rect::new(0, 0, 1, 0x1fff),
    Rect::new(0, 0, 0x1fff, ROWS),
    Rect::new(0, 0x1fff, 1, 1),
    Rect::new(0x1fff, 0x1fff, 0x1fff, 0x1fff),
    Rect::new(0, -1, 1, 1),
    Rect::new(-1, 0, 1, 1),
    Rect::new(-8192, -8192, 4, 4),
];

/// What a clip that is wide open on the positive side does not hide.
fn sticks_out_after_clipping(rect: Rect) -> bool {
    rect.y >= 0 && rect.x >= 0
}

fn rectangle_registers(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for rect in OUTSIDE
        .into_iter()
        .filter(|&rect| sticks_out_after_clipping(rect))
    {
        let mut stream = Stream::new();
        draw2d::fill_by_registers(&mut stream, surface_of(&bo), 0, rect);
        refuse(context, &device, &format!("{rect:?}"), &stream)?;
    }
    // The same with a pitch that makes the rows longer than the object says.
    let wide = Surface::new(&bo, 16320);
    let mut stream = Stream::new();
    draw2d::fill_by_registers(&mut stream, wide, 0, Rect::new(0, 0, 16, 2));
    refuse(context, &device, "a pitch beyond the object", &stream)
}

fn copy_registers(context: &mut Context) -> Result<()> {
    let (device, from) = client(context)?;
    let to = support::surface(&device, 64, Domain::Gtt)?;
    let cases = [
        ((0, ROWS), Rect::new(0, 0, 1, 1)),
        ((0, 0), Rect::new(0, 0, WIDTH, ROWS + 1)),
        ((1, ROWS - 1), Rect::new(0, 0, WIDTH, 1)),
        ((0, -1), Rect::new(0, 0, 4, 4)),
        ((-1, 0), Rect::new(0, 0, 4, 4)),
        ((0x1fff, 0x1fff), Rect::new(0, 0, 4, 4)),
    ];
    for (at, rect) in cases {
        let mut stream = Stream::new();
        draw2d::copy_by_registers(&mut stream, surface_of(&from), surface_of(&to), at, rect);
        refuse(context, &device, &format!("from {at:?}: {rect:?}"), &stream)?;
    }
    Ok(())
}

/// The engine still knows the surface of the stream before; a stream must not draw there.
fn inherited_surface(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let mut stream = Stream::new();
    draw2d::fill_by_registers(
        &mut stream,
        surface_of(&bo),
        7,
        Rect::new(0, 0, WIDTH, ROWS),
    );
    device.submit(&stream)?;
    bo.wait()?;
    let other = device.another()?;
    let mut stream = Stream::new();
    stream
        .register(mmio::DP_BRUSH_FRGD_CLR, 9)
        .register(mmio::DST_Y_X, 0)
        .register(mmio::DST_HEIGHT_WIDTH, 0x0001_0001);
    refuse(context, &other, "a rectangle without a surface", &stream)?;
    ensure!(bo.read()?[0] == 7, "it was drawn");
    Ok(())
}

fn offset_beyond(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for kib in [bo.size() as u32 / 1024, 1 << 10, (1 << 22) - 1] {
        let to = Surface {
            offset: kib * 1024,
            ..surface_of(&bo)
        };
        let mut stream = Stream::new();
        draw2d::fill_by_registers(&mut stream, to, 0, Rect::new(0, 0, 1, 1));
        refuse(
            context,
            &device,
            &format!("{kib} KiB inside {} bytes", bo.size()),
            &stream,
        )?;
    }
    Ok(())
}

fn rectangle_packets(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let inside = Rect::new(0, 0, WIDTH, ROWS);
    for rect in OUTSIDE
        .into_iter()
        .filter(|&rect| sticks_out_after_clipping(rect))
    {
        for rects in [&[rect][..], &[inside, rect], &[rect, inside]] {
            let mut stream = Stream::new();
            draw2d::paint_multi(
                &mut stream,
                surface_of(&bo),
                Brush::Solid(0),
                rop::PATCOPY,
                rects,
            );
            refuse(context, &device, &format!("PAINT_MULTI {rect:?}"), &stream)?;
        }
        let mut stream = Stream::new();
        draw2d::paint(
            &mut stream,
            surface_of(&bo),
            Brush::Solid(0),
            rop::PATCOPY,
            &[rect],
        );
        refuse(context, &device, &format!("PAINT {rect:?}"), &stream)?;
        let spans = vec![(rect.x, rect.x + rect.w)];
        let scan = Scan {
            top: rect.y,
            height: rect.h,
            spans,
        };
        let mut stream = Stream::new();
        draw2d::polyscanlines(
            &mut stream,
            surface_of(&bo),
            Brush::Solid(0),
            rop::PATCOPY,
            &[scan],
        );
        refuse(
            context,
            &device,
            &format!("POLYSCANLINES {rect:?}"),
            &stream,
        )?;
    }
    Ok(())
}

fn copy_packets(context: &mut Context) -> Result<()> {
    let (device, small) = client(context)?;
    let large = support::surface(&device, 64, Domain::Gtt)?;
    let cases = [
        (&small, &large, (0, ROWS), Rect::new(0, 0, 1, 1)),
        (&small, &large, (0, 1), Rect::new(0, 0, WIDTH, ROWS)),
        (&small, &large, (1, ROWS - 1), Rect::new(0, 0, WIDTH, 1)),
        (&small, &large, (0, -1), Rect::new(0, 0, 4, 4)),
        (&large, &small, (0, 0), Rect::new(0, ROWS, 1, 1)),
        (&large, &small, (0, 0), Rect::new(0, 1, WIDTH, ROWS)),
        (&large, &small, (0, 0), Rect::new(0, 0, 0x1fff, 0x1fff)),
    ];
    for (from, to, at, rect) in cases {
        let (from, to) = (surface_of(from), surface_of(to));
        let mut stream = Stream::new();
        draw2d::bitblt(&mut stream, from, to, Brush::None, rop::SRCCOPY, at, rect);
        refuse(
            context,
            &device,
            &format!("BITBLT from {at:?}: {rect:?}"),
            &stream,
        )?;
        let mut stream = Stream::new();
        let copies = [((0, 0), Rect::new(0, 0, 4, 4)), (at, rect)];
        draw2d::bitblt_multi(&mut stream, from, to, Brush::None, rop::SRCCOPY, &copies);
        refuse(
            context,
            &device,
            &format!("BITBLT_MULTI from {at:?}: {rect:?}"),
            &stream,
        )?;
        let mut stream = Stream::new();
        draw2d::trans_bitblt(&mut stream, from, to, 0, at, rect);
        refuse(
            context,
            &device,
            &format!("TRANS_BITBLT from {at:?}: {rect:?}"),
            &stream,
        )?;
    }
    Ok(())
}

fn line_packets(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    for points in [
        [(0, 0), (0, ROWS + 1)],
        [(0, ROWS + 4), (0, 0)],
        [(0, 0), (WIDTH + 1, ROWS + 1)],
        [(0, 0), (0x1fff, 0x1fff)],
    ] {
        let mut stream = Stream::new();
        draw2d::polyline(&mut stream, surface_of(&bo), 0, rop::PATCOPY, &points);
        refuse(context, &device, &format!("{points:?}"), &stream)?;
    }
    Ok(())
}

fn host_data_packets(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let cases = [
        (
            "outside",
            Raster {
                rect: Rect::new(0, ROWS, 4, 4),
                words: vec![0; 16],
            },
        ),
        (
            "too high",
            Raster {
                rect: Rect::new(0, 0, 4, ROWS + 1),
                words: vec![0; 4 * (ROWS as usize + 1)],
            },
        ),
        (
            "too few dwords",
            Raster {
                rect: Rect::new(0, 0, 4, 4),
                words: vec![0; 15],
            },
        ),
    ];
    for (what, raster) in cases {
        let mut stream = Stream::new();
        let kind = SourceType::Colour;
        draw2d::hostdata_blt(
            &mut stream,
            surface_of(&bo),
            kind,
            0,
            0,
            rop::SRCCOPY,
            &[raster],
        );
        refuse(context, &device, what, &stream)?;
    }
    // A count of raster dwords that reaches beyond the packet.
    let raster = Raster {
        rect: Rect::new(0, 0, 4, 4),
        words: vec![0; 16],
    };
    let mut stream = Stream::new();
    draw2d::hostdata_blt(
        &mut stream,
        surface_of(&bo),
        SourceType::Colour,
        0,
        0,
        rop::SRCCOPY,
        &[raster],
    );
    let body = stream.words().len() - 2 - 16;
    for count in [15, 17, 0x3fff, 0xffff_fff0] {
        let mut bad = words(
            &[
                &stream.words()[..body - 1],
                &[count],
                &stream.words()[body..],
            ]
            .concat(),
        );
        bad.entry(&bo, Access::Write);
        refuse(
            context,
            &device,
            &format!("{count} dwords announced, 16 there"),
            &bad,
        )?;
    }
    Ok(())
}

/// A blit by registers that waits for host data which the stream does not bring.
fn host_data_missing(context: &mut Context) -> Result<()> {
    use lapidary_registers::r500::enums::src_load;
    use lapidary_registers::r500::pm4::gui_control;
    let (device, bo) = client(context)?;
    let mut fill = Stream::new();
    draw2d::fill_by_registers(&mut fill, surface_of(&bo), 0, Rect::new(0, 0, 8, 8));
    // The same stream, but the source is host data.
    let control = pm4::packet0(mmio::DP_GUI_MASTER_CNTL, 1);
    let at = fill
        .words()
        .iter()
        .position(|&word| word == control)
        .context("no GUI control in a fill")?
        + 1;
    let mut changed = fill.words().to_vec();
    changed[at] = gui_control::SRC_LOAD.put(changed[at], src_load::HOST_DATA);
    changed[at] = gui_control::WIN31_ROP.put(changed[at], u32::from(rop::SRCCOPY));
    let mut stream = words(&changed);
    stream.entry(&bo, Access::Write);
    refuse(context, &device, "no data at all", &stream)?;
    let some = mmio::HOST_DATA.base();
    stream.register(some, 0);
    refuse(context, &device, "one dword of 64", &stream)
}

/// Packets that would use a surface which this stream never named.
fn without_surface(context: &mut Context) -> Result<()> {
    use lapidary_registers::r500::pm4::gui_control;
    let (device, bo) = client(context)?;
    let mut stream = Stream::new();
    draw2d::paint_multi(
        &mut stream,
        surface_of(&bo),
        Brush::Solid(0),
        rop::PATCOPY,
        &[Rect::new(0, 0, 4, 4)],
    );
    // Without the flag, the pitch and offset dword and the marker.
    let (direction, good) = stream.words().split_at(2);
    let control = gui_control::DST_PITCH_OFF.put(good[1], 0);
    let body = [&[control][..], &good[3..good.len() - 2]].concat();
    let mut bad = words(direction);
    bad.packet(op::PAINT_MULTI, &body);
    refuse(context, &device, "PAINT_MULTI", &bad)?;
    for (opcode, body) in [
        (op::NEXTCHAR, &[0, 0x0008_0008, 0, 0][..]),
        (op::PLY_NEXTSCAN, &[0x0001_0000, 0x0004_0000]),
    ] {
        let mut bad = Stream::new();
        bad.packet(opcode, body);
        refuse(context, &device, &format!("opcode {opcode:#x}"), &bad)?;
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

/// Dwords of any kind: refused or accepted, but nothing breaks, and what is not the stream's stays.
fn random_streams(context: &mut Context) -> Result<()> {
    let (device, bo) = client(context)?;
    let guard = support::surface(&device, 64, Domain::Vram)?;
    guard.write(&[0x600d_600d; 64 * WIDTH as usize])?;
    let headers: Vec<u32> = lapidary_registers::r500::PACKETS
        .iter()
        .flat_map(|packet| (1..12).map(|count| pm4::packet3(packet.opcode, count)))
        .chain((0..0x2000).step_by(4).map(|offset| pm4::packet0(offset, 1)))
        .collect();
    let mut random = support::Random::new(0x1a51_da12);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..3000 {
        let mut stream = Stream::new();
        stream.entry(&bo, Access::Write);
        for _ in 0..random.below(6) + 1 {
            match random.below(4) {
                0 => stream.word(random.next() as u32),
                1 => stream.marker(random.below(2) as u32 * 4),
                2 => stream
                    .register(mmio::DST_PITCH_OFFSET, surface_of(&bo).pitch_offset())
                    .marker(0),
                _ => stream.word(headers[random.below(headers.len() as u64) as usize]),
            };
            for _ in 0..random.below(4) {
                stream.word(random.next() as u32 & 0x000f_000f);
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
