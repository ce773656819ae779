// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the firmware of these cards does, as ATOM tables.
//!
//! This is the only description of posting: the ROM that a driver sees is made from it, and a posted card of the
//! model is one on which the model has run its `ASIC_Init`. How the real tables are written is not public; what they
//! must achieve is, by what drivers rely on afterwards:
//!
//! | table | effect |
//! | --- | --- |
//! | ASIC_Init | the following, in this order, and a flag in BIOS_SCRATCH\[7\] |
//! | ASIC_RegistersInit | the bus side: no GART, no latched error; block clocks run; PLL reference divider |
//! | SetEngineClock, SetMemoryClock | feedback dividers for the wanted clocks |
//! | MemoryControllerInit | width and place of VRAM, no AGP aperture, the host's path to it, its size |
//! | GetEngineClock, GetMemoryClock | back from the dividers to clocks |
//! | DynamicClockGating | whether idle blocks' clocks stop |
//!
//! Clock = 2 · reference · feedback divider / reference divider: the formula by which Linux reads these dividers
//! (`radeon_clocks.c`). The modelled PLLs only store; nothing in the model depends on a frequency.

use lapidary_registers::r500::{domain, mc_r520, mc_rv515, mmio, pcie, pll};

use super::{FIRMWARE_FB, R5xx, Source, Variant};
use lapidary_model::atom::clocks::{self, REFERENCE};
use lapidary_model::atom::code::{Code, Place, When, behind_port};
use lapidary_model::atom::image::{Image, command};
use lapidary_model::atom::port::{self, Port, Step};
use lapidary_model::atom::run::Card;
use lapidary_model::atom::tables;
use lapidary_model::machine::Machine;

/// Reference divider of engine and memory PLL: steps of 4.5 MHz.
const REFERENCE_DIVIDER: u32 = 12;

/// Polls of the memory controller's status, ten microseconds apart.
const POLLS: u32 = 10_000;

/// Return the ROM of a card with that chip and bytes of VRAM.
pub fn rom(variant: &Variant, vram: u64) -> Image {
    let name = format!("Lapidary.model.{}", variant.name);
    let image = Image::new(variant.device).name(&name).ports(&[
        window(
            port::number::MC,
            mmio::MC_IND_INDEX,
            mmio::MC_IND_DATA,
            16,
            // Which parts of the controller are meant: all.
            Some((7, 16)),
            Some((8, 16)),
        ),
        window(
            port::number::PCIE,
            mmio::PCIE_INDEX,
            mmio::PCIE_DATA,
            11,
            None,
            None,
        ),
    ]);
    clocks::describe(image, variant.clocks)
        .command(command::ASIC_INIT, tables::asic_init(mmio::BIOS_SCRATCH))
        .command(command::REGISTERS_INIT, registers_init(variant))
        .command(
            command::MEMORY_CONTROLLER_INIT,
            memory_controller_init(variant, vram),
        )
        .command(
            command::SET_ENGINE_CLOCK,
            set_clock(pll::m_spll_ref_fb_div::SPLL_FB_DIV),
        )
        .command(
            command::SET_MEMORY_CLOCK,
            set_clock(pll::m_spll_ref_fb_div::MPLL_FB_DIV),
        )
        .command(
            command::GET_ENGINE_CLOCK,
            get_clock(pll::m_spll_ref_fb_div::SPLL_FB_DIV),
        )
        .command(
            command::GET_MEMORY_CLOCK,
            get_clock(pll::m_spll_ref_fb_div::MPLL_FB_DIV),
        )
        .command(command::DYNAMIC_CLOCK_GATING, dynamic_clock_gating())
}

/// Where a careless ROM places VRAM when a driver runs it: not where the computer's firmware did.
pub const ELSEWHERE: u32 = 0x4000_0000;

/// An AGP aperture over all addresses.
const AGP_OPEN: u32 = 0xffff_0000;

/// Return the same with an ASIC_Init that sets up clocks and memory, and leaves the rest as no driver may have it: VRAM
/// from `fb` on, the CPU's way to VRAM in two halves and to another address, idle blocks' clocks stopped.
pub fn careless_rom(variant: &Variant, vram: u64, fb: u32) -> Image {
    rom(variant, vram).command(command::ASIC_INIT, careless_init(variant, vram, fb))
}

/// Return the same with an ASIC_Init that polls memory for ever, as that of a card with a broken memory controller
/// would.
pub fn endless_rom(variant: &Variant, vram: u64) -> Image {
    rom(variant, vram).command(
        command::ASIC_INIT,
        tables::endless_init(mmio::CONFIG_MEMSIZE),
    )
}

/// Return the same with an ASIC_Init that, before it posts the card as it should, tries to get at the memory of the
/// computer by every way that a command table has: command processor, page table, AGP window, surfaces, interrupts.
/// What the command register of PCI configuration space says meanwhile goes to BIOS_SCRATCH\[3\].
pub fn hostile_rom(variant: &Variant, vram: u64) -> Image {
    let layout = variant.mc;
    let behind_pair = |t: &mut Code, index: u32, data: u32, number: u32, value: u32| {
        t.set(Place::Register(index), number)
            .set(Place::Register(data), value);
    };
    let mut t = Code::new(2);
    t.set(
        tables::element(mmio::BIOS_SCRATCH, 3),
        Place::Register(mmio::CONFIG_SPACE.base() + 4),
    );
    // Directly, and through MM_INDEX, which takes the number of a register from a table.
    t.set(Place::Register(mmio::CP_RB_BASE), HOSTILE)
        .set(Place::Register(mmio::GEN_INT_CNTL), u32::MAX)
        .set(Place::Register(mmio::SURFACE_CNTL), HOSTILE);
    behind_pair(
        &mut t,
        mmio::MM_INDEX,
        mmio::MM_DATA,
        mmio::SCRATCH_ADDR / 4,
        HOSTILE,
    );
    // The page table, by the pair and by the port.
    behind_pair(
        &mut t,
        mmio::PCIE_INDEX,
        mmio::PCIE_DATA,
        pcie::PCIE_TX_GART_BASE,
        HOSTILE,
    );
    t.port(port::number::PCIE)
        .set(behind_port(pcie::PCIE_TX_GART_END_LO), HOSTILE)
        .set(behind_port(pcie::PCIE_TX_GART_CNTL), 1)
        // The AGP window.
        .port(port::number::MC)
        .set(behind_port(layout.agp_location), 0x2fff_1000)
        .set(behind_port(layout.agp_location + 1), HOSTILE)
        .port(0)
        .set(Place::Register(mmio::MM_INDEX), 0)
        .set(Place::Register(mmio::PCIE_INDEX), 0);
    tables::complete(tables::set_up(&mut t), mmio::BIOS_SCRATCH);
    rom(variant, vram).command(command::ASIC_INIT, t.build())
}

/// What a hostile table writes to registers of addresses.
const HOSTILE: u32 = 0x0010_0000;

/// Return a port through an index and a data register; `read` and `write` are bits (count, first) that the index needs
/// besides.
fn window(
    number: u8,
    index: u32,
    data: u32,
    bits: u8,
    read: Option<(u8, u8)>,
    write: Option<(u8, u8)>,
) -> Port {
    let select = |with: Option<(u8, u8)>| {
        let mut steps = vec![Step::Clear(32, 0)];
        steps.extend(with.map(|(count, first)| Step::Set(count, first)));
        steps.extend([Step::Index(bits, 0), Step::Write(index)]);
        steps
    };
    let mut reads = select(read);
    reads.push(Step::Read(data));
    let mut writes = select(write);
    writes.extend([
        Step::Data(32, 0),
        Step::Write(data),
        // Leave the window closed.
        Step::Clear(32, 0),
        Step::Write(index),
    ]);
    Port {
        number,
        read: reads,
        write: writes,
    }
}

/// Return ASIC_Init of a careless BIOS. Parameters are engine clock and memory clock.
fn careless_init(variant: &Variant, vram: u64, fb: u32) -> Vec<u8> {
    let layout = variant.mc;
    let location = ((u64::from(fb) + vram - 1) >> 16 << 16) as u32 | (fb >> 16);
    let apertures = mmio::host_path_cntl::HDP_APER_CNTL.mask();
    let mut t = Code::new(2);
    tables::set_up(&mut t)
        .set(Place::Parameter(2), 1)
        .call(command::DYNAMIC_CLOCK_GATING)
        .port(port::number::MC)
        .set(behind_port(layout.fb_location), location)
        .port(0)
        .set(Place::Register(mmio::HDP_FB_LOCATION), 0x1234)
        .and(Place::Register(mmio::HOST_PATH_CNTL), !apertures);
    tables::complete(&mut t, mmio::BIOS_SCRATCH).build()
}

fn registers_init(variant: &Variant) -> Vec<u8> {
    let pipes = (1 << variant.pipes) - 1;
    let mut t = Code::new(0);
    t.port(port::number::PCIE)
        .set(behind_port(pcie::PCIE_TX_GART_CNTL), 0)
        .set(behind_port(pcie::PCIE_TX_GART_ERROR), 0)
        .port(0)
        .set(clock(pll::DYN_SCLK_PWMEM_PIPE), {
            use pll::dyn_sclk_pwmem_pipe::{PIPE_ENABLE, PIPE_MEMORY};
            PIPE_ENABLE.of(pipes) | PIPE_MEMORY.of(pipes)
        })
        .set(
            clock(pll::M_SPLL_REF_FB_DIV),
            pll::m_spll_ref_fb_div::M_SPLL_REF_DIV.of(REFERENCE_DIVIDER),
        );
    t.build()
}

fn memory_controller_init(variant: &Variant, vram: u64) -> Vec<u8> {
    let layout = variant.mc;
    let top = u64::from(FIRMWARE_FB) + vram - 1;
    let location = (top >> 16 << 16) as u32 | (FIRMWARE_FB >> 16);
    let mut t = Code::new(0);
    let (again, idle) = (t.label(), t.label());
    let left = Place::Work(0);
    t.port(port::number::MC)
        .set(left, POLLS)
        .place(again)
        .test(behind_port(layout.status), layout.idle)
        .jump(When::NotEqual, idle)
        .delay_us(10)
        .subtract(left, 1)
        .compare(left, 0)
        .jump(When::NotEqual, again)
        .place(idle)
        .set(behind_port(layout.width.0), layout.width.1)
        .set(behind_port(layout.fb_location), location)
        // An AGP aperture whose start lies above its top is off.
        .set(behind_port(layout.agp_location), 0x0000_ffff)
        .port(0)
        .set(Place::Register(mmio::HDP_FB_LOCATION), FIRMWARE_FB >> 16)
        // Upstream joins the apertures when it is loaded, and not again when it resumes: the firmware must do it too.
        .or(
            Place::Register(mmio::HOST_PATH_CNTL),
            mmio::host_path_cntl::HDP_APER_CNTL.mask(),
        )
        .set(Place::Register(mmio::CONFIG_MEMSIZE), vram as u32);
    t.build()
}

/// Return the table that sets a clock. The parameter is the clock in bits 23:0.
fn set_clock(divider: lapidary_registers::Field) -> Vec<u8> {
    let mut t = Code::new(1);
    let fits = t.label();
    let value = Place::Work(0);
    t.set(value, Place::Parameter(0))
        .and(value, 0x00ff_ffff)
        // To the nearest divider.
        .multiply(value, REFERENCE_DIVIDER)
        .set(value, Place::Quotient)
        .add(value, REFERENCE)
        .divide(value, 2 * REFERENCE)
        .set(value, Place::Quotient)
        .compare(value, divider.max())
        .jump(When::BelowOrEqual, fits)
        .set(value, divider.max())
        .place(fits)
        .shift(value, divider.lo() as i8)
        .mask(clock(pll::M_SPLL_REF_FB_DIV), !divider.mask(), value)
        // The PLL locks.
        .delay_us(200);
    t.build()
}

/// Give the clock in its parameter.
fn get_clock(divider: lapidary_registers::Field) -> Vec<u8> {
    let mut t = Code::new(1);
    let (value, reference) = (Place::Work(0), Place::Work(1));
    t.set(value, clock(pll::M_SPLL_REF_FB_DIV))
        .set(reference, value)
        .and(reference, pll::m_spll_ref_fb_div::M_SPLL_REF_DIV.mask())
        .shift(value, -(divider.lo() as i8))
        .and(value, divider.max())
        .multiply(value, 2 * REFERENCE)
        .set(value, Place::Quotient)
        .divide(value, reference)
        .set(Place::Parameter(0), Place::Quotient);
    t.build()
}

/// Return the table that gates clocks. The parameter is 1 in its low byte to let idle blocks' clocks stop, and 0 to
/// keep them running.
fn dynamic_clock_gating() -> Vec<u8> {
    let blocks = [
        (pll::CP_DYN_CNTL, pll::cp_dyn_cntl::CP_FORCEON),
        (pll::HDP_DYN_CNTL, pll::hdp_dyn_cntl::HDP_FORCEON),
        (pll::E2_DYN_CNTL, pll::e2_dyn_cntl::E2_FORCEON),
        (pll::IDCT_DYN_CNTL, pll::idct_dyn_cntl::IDCT_FORCEON),
        (
            pll::MC_HOST_DYN_CNTL,
            pll::mc_host_dyn_cntl::MC_HOST_FORCEON,
        ),
    ];
    let mut t = Code::new(1);
    let (on, end) = (t.label(), t.label());
    t.test(Place::Parameter(0), 0xff).jump(When::Equal, on);
    for (register, force) in blocks {
        t.and(clock(register), !force.mask());
    }
    t.jump(When::Always, end).place(on);
    for (register, force) in blocks {
        t.or(clock(register), force.mask());
    }
    t.place(end);
    t.build()
}

fn clock(index: u32) -> Place {
    Place::Pll(index as u8)
}

impl R5xx {
    /// Post the card as the firmware does. It runs `ASIC_Init` out of the ROM with the default clocks.
    pub(super) fn post(&mut self, m: &mut Machine) {
        let image = std::mem::take(&mut self.firmware);
        let clocks = self.variant.clocks;
        tables::post(&image, clocks, &mut Board { chip: self, m });
        self.firmware = image;
    }
}

impl R5xx {
    /// Leave behind what a kernel that was replaced has left of its work on a card: command streams switched on, a page
    /// table in force that no driver writes any more, an AGP aperture over all addresses, interrupts enabled, pipes
    /// that registers do not reach, surfaces for the CPU.
    pub(super) fn leave(&mut self, m: &mut Machine) {
        use mmio::{cp_csq_cntl, cp_rb_wptr_delay, surface_info};
        let at = |array: lapidary_registers::RegArray, n| array.at(n).unwrap_or(array.base());
        let surface = surface_info::TILE_MACRO.mask() | surface_info::PITCHSEL.of(4096 / 8);
        for (register, value) in [
            (
                mmio::CP_CSQ_CNTL,
                cp_csq_cntl::CSQ_MODE.of(cp_csq_cntl::csq_mode::PRIBM_INDBM),
            ),
            (mmio::CP_CSQ_MODE, u32::MAX),
            (mmio::GEN_INT_CNTL, mmio::gen_int_cntl::SW_INT_EN.mask()),
            (mmio::DXMODE_INT_MASK, u32::MAX),
            (mmio::SCRATCH_UMSK, 0xff),
            (
                mmio::CP_RB_WPTR_DELAY,
                cp_rb_wptr_delay::PRE_WRITE_TIMER.mask(),
            ),
            (at(mmio::SURFACE_LOWER_BOUND, 1), 0x80_0000),
            (at(mmio::SURFACE_UPPER_BOUND, 1), 0xff_ffff),
            (at(mmio::SURFACE_INFO, 1), surface),
            (at(mmio::SURFACE_LOWER_BOUND, 6), 0x100_0000),
            (at(mmio::SURFACE_UPPER_BOUND, 6), 0x17f_ffff),
            (at(mmio::SURFACE_INFO, 6), surface),
        ] {
            self.regs.set(register, value);
        }
        for (register, value) in [
            (
                pcie::PCIE_TX_GART_CNTL,
                pcie::pcie_tx_gart_cntl::GART_EN.mask(),
            ),
            (pcie::PCIE_TX_GART_START_LO, 0x1000_0000),
            (pcie::PCIE_TX_GART_START_HI, 1),
            (pcie::PCIE_TX_GART_END_LO, 0x1fff_f000),
            (pcie::PCIE_TX_GART_END_HI, 1),
            (pcie::PCIE_TX_GART_BASE, FIRMWARE_FB + 0x10_0000),
            (pcie::PCIE_TX_DISCARD_RD_ADDR_LO, FIRMWARE_FB),
            (pcie::PCIE_TX_DISCARD_RD_ADDR_HI, 1),
            (pcie::PCIE_TX_GART_ERROR, 1),
        ] {
            self.bus.pcie.set(register, value);
        }
        // The memories of the pipes have no power.
        self.pll.set(pll::DYN_SCLK_PWMEM_PIPE, 0);
        let layout = self.bus.layout;
        let (agp_base, agp_base_2) = match layout.domain {
            domain::MC_RV515 => (mc_rv515::MC_AGP_BASE, mc_rv515::MC_AGP_BASE_2),
            _ => (mc_r520::MC_AGP_BASE, mc_r520::MC_AGP_BASE_2),
        };
        for (register, value) in [
            (layout.agp_location, AGP_OPEN),
            (agp_base, 0x1000),
            (agp_base_2, 1),
        ] {
            self.bus.mc.set(register, value);
        }
        // Translations of its own, of the first pages.
        for page in 0..0x1000 {
            self.bus.gart.look_up(page, 0);
        }
        for register in [mmio::SU_REG_DEST, mmio::FG_ZBREG_DEST] {
            if self.regs.register(register).is_some() {
                self.write_pipe(m, register, 0);
            }
        }
    }
}

/// The card as the firmware reaches it.
struct Board<'a> {
    chip: &'a mut R5xx,
    m: &'a mut Machine,
}

impl Board<'_> {
    fn select_pll(&mut self, index: u8, write: bool) {
        use mmio::clock_cntl_index::{PLL_ADDR, PLL_WR_EN};
        let value = PLL_ADDR.of(index.into()) | PLL_WR_EN.of(write.into());
        self.write(mmio::CLOCK_CNTL_INDEX, value);
    }
}

impl Card for Board<'_> {
    fn read(&mut self, offset: u32) -> u32 {
        self.chip.read_register(self.m, offset, Source::Firmware)
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.chip
            .write_register(self.m, offset, value, Source::Firmware);
    }

    fn read_pll(&mut self, index: u8) -> u32 {
        self.select_pll(index, false);
        self.read(mmio::CLOCK_CNTL_DATA)
    }

    fn write_pll(&mut self, index: u8, value: u32) {
        self.select_pll(index, true);
        self.write(mmio::CLOCK_CNTL_DATA, value);
    }
}

#[cfg(test)]
mod tests {
    use lapidary_model::atom::run;

    use super::*;
    use crate::chips::{CHIPS, Variant};
    use lapidary_model::atom::dump;
    use lapidary_model::chip::{Chip, Fuses, Options, State};
    use lapidary_model::memory::Vram;
    use lapidary_model::pci::Facts;

    const VRAM: u64 = 16 << 20;

    fn card(chip: &str, state: State) -> (Machine, R5xx) {
        let mut m = Machine::new(Vram::new(VRAM).unwrap(), &[Facts::default()]);
        let entry = Variant::by_name(chip).unwrap();
        let mut chip = entry.chip(Options {
            vram: VRAM,
            window: VRAM,
            trapped: false,
            state,
            fuses: Fuses::Whole,
        });
        chip.reset(&mut m);
        (m, chip)
    }

    fn execute(chip: &mut R5xx, m: &mut Machine, table: u8, parameters: &[u32]) -> Vec<u32> {
        let image = chip.firmware.clone();
        run::run(&image, table, parameters, &mut Board { chip, m }).unwrap()
    }

    #[test]
    fn every_chip_is_posted_without_a_finding() {
        for entry in CHIPS {
            let (mut m, chip) = card(entry.name, State::Posted);
            let peek = |name: &str| chip.peek(&m, name).unwrap();
            assert_eq!(peek("CONFIG_MEMSIZE"), VRAM as u32, "{}", entry.name);
            assert_eq!(peek("HDP_FB_LOCATION"), 0xc000);
            assert_eq!(peek("BIOS_SCRATCH[7]"), 0x200);
            let mc = |index: u32| chip.bus.mc.get(index);
            assert_eq!(mc(chip.bus.layout.fb_location), 0xc0ff_c000);
            assert_eq!(mc(chip.bus.layout.agp_location), 0x0000_ffff);
            assert_eq!(mc(chip.bus.layout.width.0), chip.bus.layout.width.1);
            let dividers = peek("M_SPLL_REF_FB_DIV");
            assert_eq!(dividers & 0xff, 12);
            assert!(dividers >> 16 > 0 && (dividers >> 8) & 0xff > 0);
            assert_eq!(m.judge.take(), vec![]);
        }
    }

    #[test]
    fn a_careless_firmware_leaves_memory_and_little_else() {
        for entry in CHIPS {
            let (m, chip) = card(entry.name, State::Careless);
            let peek = |name: &str| chip.peek(&m, name).unwrap();
            assert_eq!(peek("CONFIG_MEMSIZE"), VRAM as u32, "{}", entry.name);
            let mc = |index: u32| chip.bus.mc.get(index);
            assert_eq!(mc(chip.bus.layout.fb_location), 0xc0ff_c000);
            assert_eq!(mc(chip.bus.layout.agp_location), AGP_OPEN);
            assert_ne!(peek("HDP_FB_LOCATION"), 0xc000);
            assert_eq!(peek("CP_DYN_CNTL") & 1, 0);
            assert_ne!(peek("PCIE_TX_GART_CNTL"), 0);
            assert_eq!(peek("SU_REG_DEST"), 0);
        }
    }

    #[test]
    fn an_unposted_card_is_posted_by_its_rom() {
        let (mut m, mut chip) = card("r580", State::Unposted);
        assert_eq!(chip.peek(&m, "CONFIG_MEMSIZE"), Some(0));
        assert_eq!(chip.peek(&m, "M_SPLL_REF_FB_DIV"), Some(0));
        let clocks = chip.variant.clocks;
        execute(
            &mut chip,
            &mut m,
            command::ASIC_INIT,
            &[clocks.engine, clocks.memory],
        );
        let (_, posted) = card("r580", State::Posted);
        for (space, other) in [
            (&chip.regs, &posted.regs),
            (&chip.pll, &posted.pll),
            (&chip.bus.mc, &posted.bus.mc),
            (&chip.bus.pcie, &posted.bus.pcie),
        ] {
            assert_eq!(space.values(), other.values());
        }
    }

    #[test]
    fn clocks_are_set_and_read_back() {
        let (mut m, mut chip) = card("rv515", State::Posted);
        let get = |chip: &mut R5xx, m: &mut Machine, table| execute(chip, m, table, &[0])[0];
        assert_eq!(get(&mut chip, &mut m, command::GET_ENGINE_CLOCK), 45_000);
        // 250 MHz is 55.6 steps of 4.5 MHz.
        assert_eq!(get(&mut chip, &mut m, command::GET_MEMORY_CLOCK), 25_200);
        // What lies above bit 23 is not part of the clock.
        execute(
            &mut chip,
            &mut m,
            command::SET_ENGINE_CLOCK,
            &[0x0100_0000 + 22_500],
        );
        assert_eq!(get(&mut chip, &mut m, command::GET_ENGINE_CLOCK), 22_500);
        assert_eq!(get(&mut chip, &mut m, command::GET_MEMORY_CLOCK), 25_200);
        execute(&mut chip, &mut m, command::SET_MEMORY_CLOCK, &[0x00ff_ffff]);
        assert_eq!(get(&mut chip, &mut m, command::GET_MEMORY_CLOCK), 255 * 450);
        assert_eq!(get(&mut chip, &mut m, command::GET_ENGINE_CLOCK), 22_500);
    }

    #[test]
    fn clocks_of_idle_blocks_stop_or_run() {
        let (mut m, mut chip) = card("r520", State::Posted);
        let forced = |chip: &R5xx, m: &Machine| {
            ["CP_DYN_CNTL", "E2_DYN_CNTL", "IDCT_DYN_CNTL"].map(|r| chip.peek(m, r).unwrap() & 1)
        };
        execute(&mut chip, &mut m, command::DYNAMIC_CLOCK_GATING, &[0]);
        assert_eq!(forced(&chip, &m), [1; 3]);
        execute(&mut chip, &mut m, command::DYNAMIC_CLOCK_GATING, &[1]);
        assert_eq!(forced(&chip, &m), [0; 3]);
    }

    #[test]
    fn a_rom_is_what_a_dump_must_be() {
        for entry in CHIPS {
            let rom = entry.rom(VRAM);
            assert_eq!(dump::check(&rom), Ok(rom.as_slice()));
        }
    }
}
