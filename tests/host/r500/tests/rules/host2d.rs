// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The 2D engine: data from the stream.

use super::{rule::Rule, streams2d::*, support::*};
use r500::portable::{
    checker::Reason,
    pm4,
    regs::{mmio, pm4::op},
};

pub fn host(rules: &mut Vec<Rule>) {
    let stream = host_data();
    let last = stream.here() - 2;
    let harmless = pm4::write(mmio::DP_SRC_FRGD_CLR, 1);
    rules.extend([
        Rule::new(Reason::HostDataPending, &stream, last - 2, harmless).shows_at(last - 1),
        // The header of the last write becomes a filler; its value is one already.
        Rule::new(Reason::HostDataUnfinished, &stream, last, pm4::FILLER).shows_at(last + 1),
        // The last one too early and not at all, and a rectangle that takes less.
        Rule::new(
            Reason::HostDataCount,
            &stream,
            last - 2,
            pm4::write(mmio::HOST_DATA_LAST, 1),
        )
        .shows_at(last - 1),
        Rule::new(
            Reason::HostDataCount,
            &stream,
            last,
            pm4::write(mmio::HOST_DATA.at(7).unwrap(), 1),
        )
        .shows_at(last + 1),
        Rule::new(Reason::HostDataCount, &stream, last - 3, y_x(1, 32)).shows_at(last - 1),
    ]);
    let mut stream = host_data();
    let at = stream.here();
    stream.write(mmio::DP_SRC_FRGD_CLR, 1);
    for register in [mmio::HOST_DATA.at(3).unwrap(), mmio::HOST_DATA_LAST] {
        rules.push(
            Rule::new(
                Reason::UnexpectedHostData,
                &stream,
                at,
                pm4::write(register, 1),
            )
            .shows_at(at + 1),
        );
    }
    // A packet while data are awaited.
    let mut stream = host_data();
    let last = stream.here() - 2;
    stream.words(&[pm4::FILLER, pm4::FILLER]);
    rules.push(Rule::new(
        Reason::HostDataPending,
        &stream,
        last,
        pm4::operation(op::_3D_DRAW_VBUF, 3),
    ));
}

/// Add the rules of how many dwords a rectangle takes, by its size, pixels, and where its rows begin.
pub fn amounts(rules: &mut Vec<Rule>) {
    let bytes = gui::SRC_LOAD.put(host_control(), gui::src_load::HOST_DATA_BYTE);
    let colours = gui::SRC_TYPE.put(host_control(), gui::src_type::COLOR);
    let of_8 = |word| gui::DST_TYPE.put(word, gui::dst_type::CI8);
    let of_16 = |word| gui::DST_TYPE.put(word, gui::dst_type::RGB565);
    // Rectangles of 7 by 9 pixels with their dwords, and another size that takes more or less.
    for (control, dwords, other, others) in [
        (host_control(), 2, y_x(10, 7), 3),
        (host_control(), 2, y_x(9, 8), 3),
        (host_control(), 2, y_x(4, 7), 1),
        (bytes, 3, y_x(8, 7), 2),
        (bytes, 3, y_x(9, 17), 7),
        (of_8(bytes), 3, y_x(8, 7), 2),
        (of_8(colours), 16, y_x(9, 8), 18),
        (of_16(colours), 32, y_x(9, 8), 36),
        (colours, 63, y_x(9, 8), 72),
        (colours, 63, y_x(10, 7), 70),
        (colours, 63, y_x(8, 7), 56),
    ] {
        for one_register in [false, true] {
            let mut stream = Stream::new();
            stream
                .write(mmio::DP_CNTL, FORWARD)
                .write(mmio::DP_GUI_MASTER_CNTL, control)
                .write(mmio::DST_PITCH_OFFSET, surface(256, 0))
                .marker(0)
                .rectangle(0, 0, 7, 9);
            let size = stream.here() - 1;
            let first = mmio::HOST_DATA.at(0).unwrap();
            let data = vec![0; dwords - 1];
            if one_register {
                stream.words(&[pm4::write_one(first, dwords as u32 - 1)]);
                stream.words(&data);
            } else {
                for some in data.chunks(8) {
                    stream.writes(first, some);
                }
            }
            stream.write(mmio::HOST_DATA_LAST, pm4::FILLER);
            // The dword that should have been the last, or the last that should not have been it.
            let headers = if one_register { 0 } else { (others - 1) / 8 };
            let shows = if others < dwords {
                size + 1 + others + headers
            } else {
                stream.here() - 1
            };
            rules.push(Rule::new(Reason::HostDataCount, &stream, size, other).shows_at(shows));
        }
    }
}
