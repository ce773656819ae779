// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What the firmware of these cards does, as ATOM tables.
//!
//! This is the only description of posting: the ROM that a driver sees is made from it, and a posted card of the model
//! is one on which the model has run its `ASIC_Init`. How the real tables are written is not public; what they must
//! achieve is, by what drivers rely on afterwards: the size of VRAM, a place for it, the CPU's way to it, and engine and
//! memory clocks that can be read back.

use lapidary_model::atom::clocks;
use lapidary_model::atom::code::{Code, Place};
use lapidary_model::atom::image::{Image, command};
use lapidary_model::atom::run::Card;
use lapidary_model::atom::tables;
use lapidary_model::machine::Machine;
use lapidary_registers::r600::{mmio, mmio_r6xx, mmio_r7xx};

use crate::chips::Variant;
use crate::{R6xx, Source};

/// Scratch words of the BIOS in which the tables keep the clocks that they have set.
const ENGINE: u32 = 4;
const MEMORY: u32 = 5;

/// Return the ROM of a card with that chip and bytes of VRAM.
pub fn rom(variant: &Variant, vram: u64) -> Image {
    let name = format!("Lapidary.model.{}", variant.name);
    let image = Image::new(variant.device).name(&name);
    clocks::describe(image, variant.clocks)
        .command(command::ASIC_INIT, tables::asic_init(mmio::BIOS_SCRATCH))
        .command(command::REGISTERS_INIT, registers_init())
        .command(
            command::MEMORY_CONTROLLER_INIT,
            memory_controller_init(variant, vram),
        )
        .command(command::SET_ENGINE_CLOCK, set_clock(ENGINE))
        .command(command::SET_MEMORY_CLOCK, set_clock(MEMORY))
        .command(command::GET_ENGINE_CLOCK, get_clock(ENGINE))
        .command(command::GET_MEMORY_CLOCK, get_clock(MEMORY))
        .command(command::DYNAMIC_CLOCK_GATING, Code::new(1).build())
}

/// Return the same with an ASIC_Init that polls memory for ever, as that of a card with a broken memory controller
/// would.
pub fn endless_rom(variant: &Variant, vram: u64) -> Image {
    rom(variant, vram).command(
        command::ASIC_INIT,
        tables::endless_init(mmio::CONFIG_MEMSIZE),
    )
}

/// What a hostile table writes to registers of addresses.
const HOSTILE: u32 = 0x0010_0000;

/// Return the same with an ASIC_Init that, before it posts the card as it should, tries to get at the memory of the
/// computer: by the rings of both engines and of the interrupts, by the page table, by the AGP window, by what the CP
/// writes back. It writes registers by operands and through MM_INDEX.
pub fn hostile_rom(variant: &Variant, vram: u64) -> Image {
    let layout = variant.generation.mc;
    let agp_base = match variant.generation.is_r7xx {
        true => mmio_r7xx::MC_VM_AGP_BASE,
        false => mmio_r6xx::MC_VM_AGP_BASE,
    };
    let mut t = Code::new(2);
    for (register, value) in [
        (mmio::CP_RB_BASE, HOSTILE),
        (mmio::CP_ME_CNTL, 0xff),
        (mmio::DMA_RB_BASE, HOSTILE),
        (mmio::DMA_RB_CNTL, mmio::dma_rb_cntl::DMA_RB_ENABLE.mask()),
        (mmio::IH_RB_BASE, HOSTILE),
        (mmio::IH_RB_CNTL, mmio::ih_rb_cntl::IH_RB_ENABLE.mask()),
        (layout.window[2], HOSTILE),
        (
            mmio::VM_CONTEXT_CNTL.base(),
            mmio::vm_context_cntl::ENABLE_CONTEXT.mask(),
        ),
        (agp_base, HOSTILE),
    ] {
        t.set(Place::Register(register), value);
    }
    t.set(Place::Register(mmio::MM_INDEX), mmio::SCRATCH_ADDR)
        .set(Place::Register(mmio::MM_DATA), HOSTILE)
        .set(Place::Register(mmio::MM_INDEX), 0);
    tables::complete(tables::set_up(&mut t), mmio::BIOS_SCRATCH);
    rom(variant, vram).command(command::ASIC_INIT, t.build())
}

/// Return the table that initialises registers. Nothing translates, and no engine takes commands.
fn registers_init() -> Vec<u8> {
    let mut t = Code::new(0);
    t.set(Place::Register(mmio::VM_CONTEXT_CNTL.base()), 0)
        .set(
            Place::Register(mmio::CP_ME_CNTL),
            mmio::cp_me_cntl::ME_HALT.mask(),
        )
        .set(Place::Register(mmio::DMA_RB_CNTL), 0)
        .set(Place::Register(mmio::IH_RB_CNTL), 0)
        .set(Place::Register(mmio::RLC_CNTL), 0);
    t.build()
}

fn memory_controller_init(variant: &Variant, vram: u64) -> Vec<u8> {
    let layout = variant.generation.mc;
    let top = ((vram - 1) >> 24) as u32;
    let open = mmio::bif_fb_en::FB_READ_EN.mask() | mmio::bif_fb_en::FB_WRITE_EN.mask();
    let mut t = Code::new(0);
    t.set(Place::Register(layout.fb_location), top << 16)
        .set(Place::Register(layout.system[0]), 0)
        .set(Place::Register(layout.system[1]), ((vram - 1) >> 12) as u32)
        // An aperture that begins above its end is off.
        .set(Place::Register(layout.agp[0]), 0x0fff_ffff)
        .set(Place::Register(layout.agp[1]), 0)
        .set(Place::Register(mmio::HDP_NONSURFACE_BASE), 0)
        .set(Place::Register(mmio::HDP_NONSURFACE_SIZE), 0x3fff_ffff)
        .set(Place::Register(mmio::BIF_FB_EN), open)
        .set(Place::Register(mmio::CONFIG_MEMSIZE), vram as u32);
    t.build()
}

/// Return the table that sets a clock. The parameter is the clock in bits 23:0.
fn set_clock(word: u32) -> Vec<u8> {
    let mut t = Code::new(1);
    let value = Place::Work(0);
    t.set(value, Place::Parameter(0))
        .and(value, 0x00ff_ffff)
        .set(tables::element(mmio::BIOS_SCRATCH, word), value)
        // The PLL locks.
        .delay_us(200);
    t.build()
}

/// Give the clock in its parameter.
fn get_clock(word: u32) -> Vec<u8> {
    let mut t = Code::new(1);
    t.set(
        Place::Parameter(0),
        tables::element(mmio::BIOS_SCRATCH, word),
    );
    t.build()
}

impl R6xx {
    /// Post the card as the firmware does. It runs `ASIC_Init` out of the ROM with the default clocks.
    pub(crate) fn post(&mut self, m: &mut Machine) {
        let image = std::mem::take(&mut self.firmware);
        let clocks = self.variant.clocks;
        tables::post(&image, clocks, &mut Board { chip: self, m });
        self.firmware = image;
    }
}

/// The card as its firmware sees it.
struct Board<'a> {
    chip: &'a mut R6xx,
    m: &'a mut Machine,
}

impl Card for Board<'_> {
    fn read(&mut self, offset: u32) -> u32 {
        self.chip.read_register(self.m, offset, Source::Firmware)
    }

    fn write(&mut self, offset: u32, value: u32) {
        self.chip
            .write_register(self.m, offset, value, Source::Firmware);
    }

    /// Log an error, since these chips have their clock registers in the aperture.
    fn read_pll(&mut self, index: u8) -> u32 {
        log::error!("the firmware reads clock register {index:#x}, and there is none");
        0
    }

    fn write_pll(&mut self, index: u8, _value: u32) {
        log::error!("the firmware writes clock register {index:#x}, and there is none");
    }
}
