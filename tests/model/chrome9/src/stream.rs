// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What a fetched stream says: headers of four dwords, and what follows them (decision 2).

use std::ops::Range;

use lapidary_model::judge::Doing;
use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::{DATABASE, domain, enums, header, mmio, para_11};

use crate::queue::Write;
use crate::regulator::{Source, Which, is_null};
use crate::{Chrome9, host, kind};

/// Bits 31:24 of a header.
const HEADER: u32 = 0xfe;
/// Registers that pairs of the 2D path may name.
const PAIRS_2D: Range<u32> = 0..0x200;
/// Where the window of host data begins.
const HOST_DATA: u32 = 0x20_0000;

/// What a stream is in the middle of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stream {
    /// Nothing: a header comes, or padding.
    #[default]
    Between,
    /// Pairs of an offset and a value.
    Pairs {
        /// How many are to come.
        left: u32,
        /// They are for the video engines.
        video: bool,
    },
    /// Counted data.
    Data {
        /// How many dwords are to come.
        left: u32,
        /// Where they go.
        to: To,
    },
    /// Parameters, until the next header.
    Parameters(Which),
}

/// Where counted data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum To {
    /// To the window of host data.
    Host,
    /// To the space of the 3D window.
    Engine3d,
    /// To a register of the video engines.
    Video(u32),
}

impl Stream {
    /// Return whether a header may come.
    pub fn open(self) -> bool {
        matches!(self, Stream::Between | Stream::Parameters(_))
    }
}

/// Return the code of a header, if the dword is one.
pub fn code(word: u32) -> Option<u32> {
    let code = (word >> 16) & 0xff;
    let known = DATABASE.by_offset(domain::HEADER, code).is_some();
    (word >> 24 == HEADER && known).then_some(code)
}

impl Chrome9 {
    /// Execute a unit of a stream.
    pub(crate) fn stream_unit(&mut self, m: &mut Machine, at: u64, words: [u32; 4]) {
        let open = self.fetcher.stream.open();
        m.judge.doing(Some(Doing {
            stream: if self.fetcher.in_branch() {
                "branch"
            } else {
                "ring"
            },
            address: at,
            header: words[0],
            name: |word| match code(word).and_then(|c| DATABASE.by_offset(domain::HEADER, c)) {
                Some((register, _)) => register.name.into(),
                None => format!("{word:#010x}"),
            },
        }));
        match code(words[0]) {
            Some(code) if open => self.header(m, code, words),
            _ => self.words(m, words),
        }
        m.judge.doing(None);
    }

    /// Judge that a stream ends here.
    pub(crate) fn stream_end(&mut self, m: &mut Machine) {
        if matches!(
            self.fetcher.stream,
            Stream::Pairs { .. } | Stream::Data { .. }
        ) {
            m.finding(
                kind::STREAM_TRUNCATED,
                format_args!("before {:#x}: {:?}", self.fetcher.at(), self.fetcher.stream),
            );
        }
        self.interrupt_list(m, kind::UNFINISHED_PRIMITIVE, "the stream ends");
        self.fetcher.stream = Stream::Between;
    }

    fn header(&mut self, m: &mut Machine, code: u32, [first, count, third, _]: [u32; 4]) {
        let place = first & 0xffff;
        let name = DATABASE
            .by_offset(domain::HEADER, code)
            .map_or("", |(register, _)| register.name);
        m.trace.line(format_args!(
            "header {name} {first:08x} {count:08x} {third:08x}"
        ));
        m.counters.add("headers", 1);
        self.fetcher.stream = Stream::Between;
        if self.engine3d.waits() && !goes_on(code, count, third) {
            self.interrupt_list(m, kind::HEADER_IN_PRIMITIVE, &format!("header {first:08x}"));
        }
        let pairs = |video| Stream::Pairs { left: count, video };
        let data = |to| Stream::Data { left: count, to };
        let next = match code {
            header::REGISTERS_2D => pairs(false),
            header::VIDEO_REGISTERS => pairs(true),
            header::HOST_DATA_2D => data(To::Host),
            header::VIDEO_DATA => data(To::Video(place)),
            header::PARAMETERS => {
                let Some(which) = window(count).filter(|w| w.space() == place) else {
                    m.finding(
                        kind::HEADER_REGISTER,
                        format_args!("parameters for {place:#x} by {count:#x}"),
                    );
                    return;
                };
                self.set_window(m, Source::Stream, which, third);
                Stream::Parameters(which)
            }
            header::VERTEX_DATA => {
                if window(place) != Some(Which::Engine3d) {
                    m.finding(kind::HEADER_REGISTER, format_args!("data by {place:#x}"));
                    return;
                }
                self.set_window(m, Source::Stream, Which::Engine3d, third);
                data(To::Engine3d)
            }
            header::BRANCH => return self.branch(m, para_11::BRANCH_2),
            header::SECOND_BRANCH_ASSUMED => return self.branch(m, para_11::SECOND_BRANCH_1),
            header::DEBUG => return,
            _ => {
                m.finding(
                    kind::UNIMPLEMENTED_HEADER,
                    format_args!("{first:#010x}, for {count} dwords or pairs"),
                );
                return;
            }
        };
        let nothing = count == 0 && !matches!(next, Stream::Parameters(_));
        self.fetcher.stream = if nothing { Stream::Between } else { next };
    }

    /// Take what follows a header.
    fn words(&mut self, m: &mut Machine, words: [u32; 4]) {
        let mut offset = None;
        for word in words {
            match self.fetcher.stream {
                Stream::Between if is_null(word) => {}
                Stream::Between => {
                    m.finding(kind::NO_HEADER, format_args!("{word:#010x}"));
                    return;
                }
                Stream::Parameters(which) => self.parameter(m, Source::Stream, which, word),
                Stream::Data { left, to } => {
                    self.fetcher.stream = match left - 1 {
                        0 => Stream::Between,
                        left => Stream::Data { left, to },
                    };
                    match to {
                        To::Host => self.execute(
                            m,
                            Write {
                                offset: HOST_DATA,
                                value: word,
                            },
                        ),
                        To::Engine3d => self.parameter(m, Source::Stream, Which::Engine3d, word),
                        To::Video(place) => self.pair(m, true, place, word),
                    }
                }
                Stream::Pairs { left, video } => match offset.take() {
                    None => offset = Some(word),
                    Some(place) => {
                        self.fetcher.stream = match left - 1 {
                            0 => Stream::Between,
                            left => Stream::Pairs { left, video },
                        };
                        self.pair(m, video, place, word);
                    }
                },
            }
        }
    }

    /// Write a register that a stream names.
    fn pair(&mut self, m: &mut Machine, video: bool, place: u32, value: u32) {
        let allowed = if video {
            host::is_alias(place) || host::is_video_wait(place)
        } else {
            PAIRS_2D.contains(&place)
        };
        let known = DATABASE
            .by_offset(lapidary_registers::Domain::MMIO, host::canonical(place))
            .is_some();
        if !allowed || !known || place % 4 != 0 {
            m.finding(
                kind::HEADER_REGISTER,
                format_args!("{place:#x} = {value:#010x}"),
            );
            return;
        }
        self.execute(
            m,
            Write {
                offset: place,
                value,
            },
        );
    }
}

/// Return whether a header may come within a primitive list: for more of its data, or as padding.
fn goes_on(code: u32, window: u32, setting: u32) -> bool {
    let kind = mmio::cr_setting::HPARATYPE.get(setting);
    match code {
        header::VERTEX_DATA => kind == enums::para_type::VERTEX,
        header::PARAMETERS => {
            kind == enums::para_type::DUMMY
                || kind == enums::para_type::VERTEX && window == mmio::SETTING_3D
        }
        _ => false,
    }
}

/// Return the window that has its setting at an offset.
fn window(setting: u32) -> Option<Which> {
    match setting {
        mmio::CR_SETTING => Some(Which::Regulator),
        mmio::SETTING_3D => Some(Which::Engine3d),
        _ => None,
    }
}
