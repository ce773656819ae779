// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Rules of the form of a stream: headers, counts, padding, windows, relocations.

use chrome9::portable::checker::Reason;
use chrome9::portable::emit::PAD;
use chrome9::portable::regs::{enums::para_type, header, mmio};

use crate::rule::{Rule, PAGE};
use crate::support::*;

/// Types behind the setting of a window.
fn setting(kind: u32) -> u32 {
    kind << 16
}

/// Return padding as public drivers have it in a ring: a setting of the dummy type.
fn dummy() -> Stream {
    let mut stream = Stream::new();
    stream.words(&[
        head(header::PARAMETERS, mmio::CR_SPACE.at(0).unwrap()),
        mmio::CR_SETTING,
        setting(para_type::DUMMY),
        PAD,
        0xcccc_ccc0,
        0xddd0_0000,
        PAD,
        PAD,
    ]);
    stream
}

pub fn headers(rules: &mut Vec<Rule>) {
    let stream = BLIT.stream();
    let code = |code| head(code, 0);
    for (bad, reason) in [
        (0, Reason::NoHeader),
        (0xff00_0000, Reason::NoHeader),
        (code(0x03), Reason::HeaderRegister),
        (head(3, 0x41c), Reason::HeaderRegister),
        (head(3, 0x440), Reason::HeaderRegister),
        (code(0x04), Reason::ForbiddenHeader),
        (code(0x05), Reason::VideoRange),
        (code(0x06), Reason::ForbiddenHeader),
        (code(0x07), Reason::ForbiddenHeader),
        (code(0x08), Reason::UnknownHeader),
        (code(0x80), Reason::UnknownHeader),
        (code(0x81), Reason::UnknownHeader),
        (code(0x82), Reason::NestedBranch),
        (head(0x82, 0x420), Reason::NestedBranch),
        (code(0x83), Reason::NestedBranch),
        (code(0xff), Reason::UnknownHeader),
        (head(0, 4), Reason::HeaderBits),
        (head(2, 0), Reason::HeaderRegister),
    ] {
        let rule = Rule::new(reason, &stream, 0, bad);
        let at = match bad {
            // The offset of the setting is looked at first.
            bad if bad == head(2, 0) => 1,
            // The first pair has no register of video.
            bad if bad == code(0x05) => UNIT,
            _ => 0,
        };
        rules.push(rule.shows_at(at));
    }
    let pairs = stream.words[1];
    rules.extend([
        Rule::new(Reason::HeaderBits, &stream, 2, 1),
        Rule::new(Reason::HeaderBits, &stream, 3, 1),
        Rule::new(Reason::HeaderBits, &stream, 3, head(0, 0)),
        Rule::new(Reason::EmptyHeader, &stream, 1, 0),
        // The last pair is padding then.
        Rule::new(Reason::Truncated, &stream, 1, pairs + 2),
        Rule::new(Reason::Truncated, &stream, 1, 0x8000_0000),
        Rule::new(Reason::Truncated, &stream, 1, u32::MAX),
        // One pair less: its offset stands where padding has to be.
        Rule::new(Reason::NoHeader, &stream, 1, pairs - 1)
            .shows_at(stream.value_of(mmio::GECMD) - 1),
    ]);
    let padding = stream.words.len() - 1;
    assert_eq!(stream.words[padding], PAD);
    for rubbish in [0, 1, head(0, 0), head(0x82, 0), 0xcb00_0000, 0xd000_0000] {
        rules.push(Rule::new(Reason::NoHeader, &stream, padding, rubbish));
    }
    // Between headers, in each place of a unit.
    let mut stream = Stream::new();
    stream.words(&[PAD, 0xce00_0000, 0xcf12_3456, 0xee00_0000]);
    stream.pairs(&[set(mmio::FGCOLOR, 0)]);
    for at in 0..UNIT {
        rules.push(Rule::new(Reason::NoHeader, &stream, at, 0));
    }
    for at in 1..UNIT {
        rules.push(Rule::new(Reason::NoHeader, &stream, at, head(0, 0)));
    }
}

pub fn pairs(rules: &mut Vec<Rule>) {
    let stream = BLIT.stream();
    let at = stream.value_of(mmio::FGCOLOR) - 1;
    let one = |register: u32, reason| Rule::new(reason, &stream, at, register);
    rules.extend([
        one(0x200, Reason::PairRange),
        one(mmio::CR_SETTING, Reason::PairRange),
        one(0x420, Reason::PairRange),
        one(mmio::AGP_PAUSE_ADDRESS_PORT, Reason::PairRange),
        one(mmio::VGA_SEQUENCER, Reason::PairRange),
        one(0x8000, Reason::PairRange),
        one(0x8000_0000, Reason::PairRange),
        one(u32::MAX, Reason::PairRange),
        one(mmio::FGCOLOR + 1, Reason::PairAlignment),
        one(mmio::FGCOLOR + 2, Reason::PairAlignment),
        one(mmio::UNKNOWN_30, Reason::UnknownRegister),
        one(mmio::UNKNOWN_54, Reason::UnknownRegister),
        one(0x70, Reason::UnknownRegister),
        one(0xfc, Reason::UnknownRegister),
        one(mmio::PATADDR, Reason::PatternRegister),
        one(mmio::MONOPAT.at(0).unwrap(), Reason::PatternRegister),
        one(mmio::MONOPAT.at(1).unwrap(), Reason::PatternRegister),
        one(mmio::MONOPATBGC, Reason::PatternRegister),
        one(mmio::COLORPAT.at(0).unwrap(), Reason::PatternRegister),
        one(mmio::COLORPAT.at(63).unwrap(), Reason::PatternRegister),
        one(mmio::OFFSET, Reason::PatternRegister),
        one(mmio::COMMAND_ID_2D_3D, Reason::KernelRegister),
    ]);
    let mut stream = Stream::new();
    stream.pairs(&[set(mmio::WAIT_CONTROL_2D_3D, 0xc0c0_0000)]);
    for bit in (0..32).filter(|bit| ![22, 23, 30, 31].contains(bit)) {
        rules.push(Rule::new(
            Reason::WaitBits,
            &stream,
            stream.value_of(mmio::WAIT_CONTROL_2D_3D),
            1 << bit,
        ));
    }
}

pub fn windows(rules: &mut Vec<Rule>) {
    let stream = dummy();
    for register in [0, 0x294, 0x400, 0x41d, 0x420, 0x440, 0x600, 0x8000] {
        rules.push(Rule::new(Reason::HeaderRegister, &stream, 1, register));
    }
    for space in [0, 0x41c, 0x424, 0x440, 0x43c] {
        rules.push(Rule::new(
            Reason::HeaderRegister,
            &stream,
            0,
            head(header::PARAMETERS, space),
        ));
    }
    rules.extend([
        Rule::new(Reason::HeaderRegister, &stream, 1, mmio::SETTING_3D).shows_at(0),
        Rule::new(Reason::HeaderBits, &stream, 3, 0x10),
        Rule::new(
            Reason::SettingBits,
            &stream,
            2,
            setting(para_type::DUMMY) | 1,
        ),
        Rule::new(
            Reason::SettingBits,
            &stream,
            2,
            setting(para_type::DUMMY) | 0x100,
        ),
        Rule::new(
            Reason::SettingBits,
            &stream,
            2,
            setting(para_type::DUMMY) | 0x100_0000,
        ),
        Rule::new(Reason::NotPadding, &stream, 4, 0),
        Rule::new(Reason::NotPadding, &stream, 5, 0x5000_0000),
        Rule::new(Reason::HeaderInParameters, &stream, 5, head(0, 0)),
        Rule::new(Reason::HeaderInParameters, &stream, 6, head(0x82, 0x420)),
        Rule::new(Reason::HeaderInParameters, &stream, 7, head(0xff, 0)),
        Rule::new(Reason::NotPadding, &stream, 7, 0x6900_0001),
        // At the beginning of a unit a header is one, also among parameters.
        Rule::new(Reason::HeaderBits, &stream, 4, head(0, 0)).shows_at(6),
        Rule::new(Reason::NestedBranch, &stream, 4, head(0x82, 0x420)),
        Rule::new(Reason::UnknownHeader, &stream, 4, head(0x84, 0)),
    ]);
    // Both windows.
    let mut other = dummy();
    other.words[0] = head(header::PARAMETERS, mmio::SPACE_3D.at(0).unwrap());
    other.words[1] = mmio::SETTING_3D;
    for kind in 0..=0xff {
        let reason = match kind {
            para_type::REGULATOR | para_type::REGULATOR_MISC => Reason::KernelType,
            para_type::INITIALISATION => Reason::ForbiddenType,
            para_type::DUMMY => continue,
            _ => Reason::ReservedType,
        };
        rules.push(Rule::new(reason, &stream, 2, setting(kind)));
        match kind {
            // Padding is no parameter of theirs. Their own rules are elsewhere.
            para_type::VERTEX
            | para_type::ATTRIBUTE
            | para_type::TEXTURE
            | para_type::TABLE
            | para_type::PRIMITIVE => {}
            _ => rules.push(Rule::new(reason, &other, 2, setting(kind))),
        }
    }
}

pub fn relocations(rules: &mut Vec<Rule>) {
    let mut copy = Blit {
        command: COPY,
        ..BLIT
    };
    copy.source.1 = 8;
    copy.destination.1 = 16;
    let stream = copy.stream();
    let [to, from] = [mmio::DSTBASE, mmio::SRCBASE].map(|register| stream.value_of(register));
    let relocation = |reason, at, what, value| Rule::relocation(reason, &stream, at, what, value);
    rules.extend([
        // Both for one dword, and the second before the first.
        relocation(Reason::RelocationOrder, 1, 0, to as u32),
        relocation(Reason::RelocationOrder, 0, 0, from as u32).shows_at(1),
        relocation(Reason::RelocationOrder, 1, 0, 0),
        relocation(Reason::RelocationObject, 0, 1, 2),
        relocation(Reason::RelocationObject, 1, 1, u32::MAX),
        relocation(Reason::RelocationOffset, 0, 2, PAGE as u32),
        relocation(Reason::RelocationOffset, 1, 2, u32::MAX),
        relocation(Reason::RelocationAlignment, 0, 2, 4),
        relocation(Reason::RelocationAlignment, 1, 2, 9),
        // Of a dword before, of its register, of one behind, and of one that there is not.
        relocation(Reason::RelocationUnused, 0, 0, to as u32 - 2),
        relocation(Reason::RelocationUnused, 0, 0, to as u32 - 1),
        relocation(Reason::NoRelocation, 0, 0, to as u32 + 1).shows_at(to),
        relocation(Reason::NoRelocation, 1, 0, u32::MAX).shows_at(from),
        // The second address of a dword with one.
        relocation(Reason::NoRelocation, 0, 3, 1).shows_at(to),
        Rule::new(Reason::AddressBits, &stream, to, 1),
        Rule::new(Reason::AddressBits, &stream, from, 0x0200_0000),
        // A register that is none of an address any more.
        Rule::new(Reason::RelocationUnused, &stream, from - 1, mmio::FGCOLOR)
            .shows_at(1)
            .after_fill(),
        // And one that has become one.
        Rule::new(
            Reason::NoRelocation,
            &stream,
            stream.value_of(mmio::SRCPOS) - 1,
            mmio::SRCBASE,
        )
        .shows_at(stream.value_of(mmio::SRCPOS)),
    ]);
}

impl Rule {
    /// Let the command need no source.
    fn after_fill(mut self) -> Self {
        let at = self.stream.value_of(mmio::GECMD);
        self.stream.words[at] = FILL;
        self
    }
}
