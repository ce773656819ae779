// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The command regulator (CR): its two windows, and what parameters of types 10h and 11h do.
//!
//! A window is a setting, which says what type of parameters follows, and a space to which they are written (L535-552).
//! The windows differ in the types that they take: one is for types 10h and 11h, the other for all. CPU and
//! streams have windows of their own, because public drivers move the pause address while a stream is executed.

use lapidary_model::machine::Machine;
use lapidary_registers::chrome9::mmio::{cr_setting as setting, cr_space as space};
use lapidary_registers::chrome9::para_10::{
    self, agp_control, cmdq_1, cmdq_3, cmdq_4, cmdq_5, interrupt_command,
};
use lapidary_registers::chrome9::para_11::{self, fence_1, fence_2, fence_3, fence_4};
use lapidary_registers::chrome9::{enums, mmio, mmio_read};
use lapidary_registers::chrome9::{para_00, para_01};

use crate::unit::Unit;
use crate::{CPU, Chrome9, bus, fault, kind};

/// Types that the window of the regulator takes. The last is for padding, which public drivers give to both windows.
const REGULATOR_TYPES: &[u32] = &[
    enums::para_type::REGULATOR,
    enums::para_type::REGULATOR_MISC,
    enums::para_type::DUMMY,
];
/// Types that the 3D window takes beside those.
const TYPES_3D: &[u32] = &[
    enums::para_type::VERTEX,
    enums::para_type::ATTRIBUTE,
    enums::para_type::TEXTURE,
    enums::para_type::TABLE,
    enums::para_type::PRIMITIVE,
    enums::para_type::INITIALISATION,
];
/// Sub-addresses of null parameters, with which public drivers pad (index 3.6).
const NULL: &[u32] = &[0xcc, 0xcd, 0xce, 0xcf, 0xdd, 0xee];
/// The shortest command queue, in units of 16 bytes (L632).
const SHORTEST_QUEUE: u32 = 0x800;
/// Numbers that the queue of fences holds. The manual gives none: ours, to be checked on hardware.
const FENCE_QUEUE: usize = 16;

/// One of the two windows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Window {
    setting: Option<u32>,
    /// Parameters since the setting.
    count: u32,
}

impl Window {
    /// Return the setting, if it is of a type that the window takes.
    pub fn setting(self) -> Option<u32> {
        self.setting
    }
}

/// Return whether a dword is a null parameter.
pub fn is_null(word: u32) -> bool {
    NULL.contains(&(word >> 24))
}

/// Which window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Which {
    /// CR_SETTING and CR_SPACE.
    Regulator,
    /// SETTING_3D and SPACE_3D.
    Engine3d,
}

/// Who writes to a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The CPU.
    Host,
    /// A fetched stream.
    Stream,
}

impl Source {
    /// Return the name that findings and lists use.
    fn name(self) -> &'static str {
        match self {
            Source::Host => CPU,
            Source::Stream => "a stream",
        }
    }
}

impl Which {
    /// Return the offset of its space.
    pub fn space(self) -> u32 {
        match self {
            Which::Regulator => mmio::CR_SPACE.base(),
            Which::Engine3d => mmio::SPACE_3D.base(),
        }
    }
}

impl Chrome9 {
    /// Take a setting.
    pub(crate) fn set_window(&mut self, m: &mut Machine, source: Source, which: Which, value: u32) {
        let kind = setting::HPARATYPE.get(value);
        let known =
            REGULATOR_TYPES.contains(&kind) || which == Which::Engine3d && TYPES_3D.contains(&kind);
        if !known {
            m.finding(
                kind::WINDOW_TYPE,
                format_args!("type {kind:02x}h for the window {which:?}"),
            );
        }
        let goes_on = [enums::para_type::VERTEX, enums::para_type::DUMMY].contains(&kind);
        if which == Which::Engine3d && !goes_on {
            let by = format!("a setting of type {kind:02x}h");
            self.interrupt_list(m, kind::UNFINISHED_PRIMITIVE, &by);
        }
        self.windows[source as usize][which as usize] = Window {
            setting: known.then_some(value),
            count: 0,
        };
    }

    /// Take a parameter.
    pub(crate) fn parameter(&mut self, m: &mut Machine, source: Source, which: Which, value: u32) {
        let window = &mut self.windows[source as usize][which as usize];
        let count = window.count;
        window.count = count.saturating_add(1);
        let Some(word) = window.setting else {
            if is_null(value) {
                return;
            }
            m.finding(
                kind::WINDOW_TYPE,
                format_args!("parameter {value:#010x} for the window {which:?}, which has no type"),
            );
            return;
        };
        let kind = setting::HPARATYPE.get(word);
        let place = (kind as u8, setting::HPARASUBTYPE.get(word) as u8);
        match kind {
            enums::para_type::DUMMY => {}
            enums::para_type::VERTEX => {
                self.parameters
                    .set(m, place, para_00::VERTEX_DWORD, value, source.name());
                self.vertex_data(m, value, count == 0, is_null(value));
            }
            enums::para_type::TABLE => {
                let index = setting::HPARAADR.get(word).saturating_add(count);
                // Behind the table's end there may be padding.
                if !is_null(value) || self.parameters.knows(place, index) {
                    self.parameters.set(m, place, index, value, source.name());
                }
            }
            _ => {
                let sub_address = space::SUB_ADDRESS.get(value);
                let data = space::DATA.get(value);
                if is_null(value) {
                    return;
                }
                self.parameters
                    .set(m, place, sub_address, data, source.name());
                match kind {
                    enums::para_type::ATTRIBUTE if sub_address == para_01::Z_19 => {
                        self.write_occlusion(m, data);
                    }
                    enums::para_type::REGULATOR => self.regulate(m, sub_address, data),
                    enums::para_type::REGULATOR_MISC => self.regulate_misc(m, sub_address, data),
                    _ => {}
                }
            }
        }
    }

    /// Do what a parameter of type 10h does.
    fn regulate(&mut self, m: &mut Machine, sub_address: u32, data: u32) {
        match sub_address {
            para_10::INTERRUPT_COMMAND
                if interrupt_command::STOP.any(data) && interrupt_command::PAUSE.any(data) =>
            {
                m.finding(
                    kind::RESERVED_VALUE,
                    format_args!("INTERRUPT_COMMAND stops and pauses"),
                );
            }
            para_10::INTERRUPT_COMMAND => {
                self.fetcher.held = interrupt_command::PAUSE.any(data);
                if interrupt_command::STOP.any(data) {
                    self.stop_fetch(m);
                }
            }
            para_10::AGP_PAUSE_HIGH => self.move_pause(m),
            para_10::AGP_CONTROL => {
                if agp_control::CLEAR_AGP.any(data) {
                    self.clear_fetch(m);
                }
                if agp_control::CLEAR_FENCE_QUEUE.any(data) {
                    self.fences.clear();
                }
                if agp_control::RESTORE_3D.any(data) {
                    self.restore(m);
                }
                if agp_control::RESTORE_AGP.any(data) {
                    self.restore_fetch(m);
                }
                if agp_control::TRIGGER.any(data) {
                    self.trigger(m);
                }
            }
            para_10::CMDQ_5 => self.judge_queue(m, para_10::CMDQ_1, data, "CMDQ"),
            para_10::CMDQ_2D_3D_5 => self.judge_queue(m, para_10::CMDQ_2D_3D_1, data, "CMDQ_2D_3D"),
            _ => {}
        }
    }

    /// Judge a command queue that is switched on: five parameters from `first` on, of which `control` is the last. Both
    /// queues have the same layout.
    fn judge_queue(&self, m: &mut Machine, first: u32, control: u32, name: &'static str) {
        if !cmdq_5::ENABLE.any(control) {
            return;
        }
        let get = |n| {
            self.parameters
                .get(enums::para_type::REGULATOR as u8, 0, first + n)
        };
        let (start, end, high, length) = (get(0), get(1), get(2), cmdq_4::LENGTH.get(get(3)));
        let address = |low: u32, high: u32| (u64::from(high) << 24) | u64::from(low & 0xff_fff0);
        let start_address = address(start, cmdq_3::START_HIGH.get(high));
        // The end is the last unit, or the byte behind it: a difference of one unit is no matter.
        let end_address = address(end, cmdq_3::END_HIGH.get(high));
        let units = end_address.saturating_sub(start_address) / 16 + 1;
        let location = cmdq_1::LOCATION.get(start);
        let mut wrong = |text: std::fmt::Arguments<'_>| {
            m.finding(kind::QUEUE_SETUP, format_args!("{name}: {text}"));
        };
        if location == enums::location::RESERVED {
            wrong(format_args!("location 11b"));
        } else if location == enums::location::SYSTEM_LOCAL && end_address >= self.options.vram {
            wrong(format_args!(
                "ends at {end_address:#x}, beyond the frame buffer"
            ));
        } else if length < SHORTEST_QUEUE {
            wrong(format_args!(
                "{length:#x} units, and {SHORTEST_QUEUE:#x} is the least"
            ));
        } else if u64::from(length) > units {
            wrong(format_args!(
                "{length:#x} units between ends {units:#x} units apart"
            ));
        }
    }

    /// Do what a parameter of type 11h does.
    fn regulate_misc(&mut self, m: &mut Machine, sub_address: u32, data: u32) {
        match sub_address {
            para_11::FENCE_4 if fence_4::TRIGGER.any(data) => self.fence(m, data),
            para_11::CR_MISC => self.try_stop(m),
            para_11::SAVE_3 if para_11::save_3::TRIGGER.any(data) => self.save(m),
            _ => self.swap_parameter(m, sub_address, data),
        }
    }

    /// Make a fence (L670-676). All engines are idle: the regulator goes on only when a command has been executed.
    fn fence(&mut self, m: &mut Machine, command: u32) {
        let get = |index| {
            let kind = enums::para_type::REGULATOR_MISC as u8;
            self.parameters.get(kind, 0, index)
        };
        let number =
            (fence_4::ID_HIGH.get(command) << 24) | fence_3::ID_LOW.get(get(para_11::FENCE_3));
        let address = (u64::from(fence_1::ADDRESS_HIGH.get(get(para_11::FENCE_1))) << 24)
            | (u64::from(fence_2::ADDRESS_LOW.get(get(para_11::FENCE_2))) << 4);
        self.interrupt_list(m, kind::UNFINISHED_PRIMITIVE, "a fence");
        m.trace.line(format_args!("fence {number:#x}"));
        self.reads.set(mmio_read::FENCE_ID, number);
        let writes = fence_4::WRITE_MEMORY.any(command);
        if writes && m.faults.take(fault::LOST_WRITEBACK) {
            m.trace
                .line(format_args!("fault: write-back of fence {number:#x} lost"));
        } else if writes {
            bus::write_system(m, Unit::Regulator, address, number);
        }
        if fence_4::QUEUE.any(command) {
            if self.fences.len() >= FENCE_QUEUE {
                // A regulator that may not overwrite the last one would wait, and how the queue is emptied is not public.
                if !fence_4::SKIP_IF_FULL.any(command) {
                    m.finding(
                        kind::FENCE_QUEUE_FULL,
                        format_args!("fence {number:#x} does not overwrite the last one"),
                    );
                }
                self.fences.pop();
            }
            self.fences.push(number);
            self.raise_regulator(m);
        }
    }
}
