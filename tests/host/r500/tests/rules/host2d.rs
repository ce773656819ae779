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
    stream.words(&[pm4::FILLER]);
    rules.push(Rule::new(
        Reason::HostDataPending,
        &stream,
        last,
        pm4::operation(op::SET_SCISSORS, 2),
    ));
    // Packets with a dword more or less than the character has, bit by bit and with rows at bytes.
    let glyph = packet(
        op::HOSTDATA_BLT,
        host_control(),
        &[0, 0, 0, y_x(9, 7), 2, 1, 2],
    );
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 9, 1));
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 9, 3));
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 8, y_x(9, 8)).shows_at(9));
    let control = gui::SRC_LOAD.put(host_control(), gui::src_load::HOST_DATA_BYTE);
    let glyph = packet(op::HOSTDATA_BLT, control, &[0, 0, 0, y_x(9, 7), 3, 1, 2, 3]);
    rules.push(Rule::new(Reason::HostDataCount, &glyph, 9, 2));
    let mut next = glyph;
    next.packet(op::NEXTCHAR, &[0, y_x(9, 7), 1, 2, 3]);
    rules.push(Rule::new(Reason::HostDataCount, &next, 17, y_x(8, 7)).shows_at(17));
}
