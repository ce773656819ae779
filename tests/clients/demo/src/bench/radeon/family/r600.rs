// SPDX-License-Identifier: GPL-2.0 OR MIT

//! R6xx and R7xx. The state is what a 3D driver emits before it draws: runs of context registers, samplers, and buffer
//! resources.

use super::Family;
use crate::rows::Row;
use anyhow::{Context, Result};
use lapidary_engines::r600::{cp, dma};
use lapidary_guest::painter::Painter;
use lapidary_guest::stream::Access;
use lapidary_guest::{Bo, Domain, Stream, abi, pm4};
use lapidary_harness::mapping::PAGE;
use lapidary_registers::r600::mmio::{self, sq_tex_resource_word6};
use lapidary_registers::r600::pm4::{op, set_context_reg};

/// The float 1.0.
const ONE: u32 = 0x3f80_0000;

/// A run of values: packet, its first dword, how many values, and the value.
struct Run(u8, u32, usize, u32);

const fn context(register: u32, count: usize, value: u32) -> Run {
    let first = (register - set_context_reg::BASE) >> 2;
    Run(op::SET_CONTEXT_REG, first, count, value)
}

/// Return the first register of an array.
const fn first(array: lapidary_registers::RegArray) -> u32 {
    match array.at(0) {
        Some(register) => register,
        None => panic!("an empty array"),
    }
}

/// What is emitted again and again, in this order.
const RUNS: &[Run] = &[
    context(first(mmio::PA_CL_VPORT_XSCALE), 6, ONE),
    context(first(mmio::SPI_VS_OUT_ID), 10, 0),
    context(first(mmio::SPI_PS_INPUT_CNTL), 32, 0),
    context(mmio::CB_BLEND_RED, 4, ONE),
    Run(op::SET_SAMPLER, 0, 3, 0),
    context(mmio::DB_DEPTH_CONTROL, 1, 0),
    context(mmio::PA_CL_CLIP_CNTL, 4, 0),
    context(first(mmio::CB_BLEND_CONTROL_TARGET), 8, 0),
    Run(op::SET_LOOP_CONST, 0, 1, 0),
    context(mmio::PA_SU_POINT_SIZE, 4, 0),
    context(mmio::PA_CL_GB_VERT_CLIP_ADJ, 4, ONE),
];

/// Resources of vertex shaders, by number.
const BUFFERS: std::ops::Range<u32> = 160..320;
/// Dwords of a resource.
const RESOURCE: u32 = 7;

/// Dwords of a packet that sets one, with its relocation.
const BUFFER_DWORDS: usize = 11;

/// The family.
pub struct R600;

impl Family for R600 {
    fn painter(&self) -> &'static dyn Painter {
        &lapidary_engines::r600::R600
    }

    fn submission(&self) -> f64 {
        0.8
    }

    /// Return a stream whose objects are all buffers of vertex shaders, if there is room for their resources.
    fn state(&self, objects: &[Bo], dwords: usize) -> Stream {
        let mut stream = Stream::new();
        let mut runs = RUNS.iter().cycle();
        for (i, object) in objects.iter().enumerate() {
            let number = BUFFERS.start + i as u32 % (BUFFERS.end - BUFFERS.start);
            let last = object.size() as u32 - 1;
            let buffer = sq_tex_resource_word6::TYPE.of(3);
            if dwords / objects.len() < BUFFER_DWORDS {
                self.painter().mention(&mut stream, object);
            } else {
                stream
                    .packet(
                        op::SET_RESOURCE,
                        &[number * RESOURCE, 0, last, 16 << 8, 0, 0, 0, buffer],
                    )
                    .relocation(object, Access::Read);
            }
            let end = dwords * (i + 1) / objects.len();
            assert!(stream.len() <= end, "{dwords} dwords are too short");
            fill(&mut stream, end, &mut runs);
        }
        assert_eq!(
            (stream.len(), stream.relocations().len()),
            (dwords, objects.len())
        );
        stream
    }

    /// Return a stream whose last packet would move the ring.
    fn refused(&self, objects: &[Bo], dwords: usize) -> Stream {
        let mut stream = self.state(objects, dwords - 3);
        let ring = (mmio::CP_RB_BASE - lapidary_registers::r600::pm4::set_config_reg::BASE) >> 2;
        stream.packet(op::SET_CONFIG_REG, &[ring, 0]);
        stream
    }

    fn slow(&self, target: &Bo) -> Stream {
        const COPIES: usize = 24;
        let half = (target.size() / 2) as u32;
        let mut stream = Stream::new();
        for _ in 0..COPIES {
            cp::copy(&mut stream, (target, 0), (target, half), half);
        }
        stream
    }

    fn rows(&self) -> Vec<Row> {
        [(8, 128), (500, 128)]
            .into_iter()
            .map(|(dwords, times)| {
                Row::submission(format!("dma {dwords}"), times, move |side| {
                    let has_ring = side
                        .device
                        .info_with(const { abi::info_request("RING_WORKING") }, abi::RING_DMA)?;
                    anyhow::ensure!(has_ring == 1, "no DMA ring");
                    let object = |domain| -> Result<Bo> {
                        side.device.create(PAGE, domain).context("an object")
                    };
                    let (from, to) = (object(Domain::Gtt)?, object(Domain::Vram)?);
                    let mut stream = dma::stream();
                    while stream.len() + 5 <= dwords {
                        dma::copy(&mut stream, (&from, 0), (&to, 0), 16);
                    }
                    while stream.len() < dwords {
                        stream.word(dma::NOP);
                    }
                    Ok((stream, vec![from, to]))
                })
            })
            .collect()
    }
}

/// Append runs up to length `end`, the last one cut short.
fn fill<'a>(stream: &mut Stream, end: usize, runs: &mut impl Iterator<Item = &'a Run>) {
    while stream.len() < end {
        let left = end - stream.len();
        if left <= 2 {
            stream.extend(&[pm4::PACKET2; 2][..left]);
            return;
        }
        let Some(&Run(opcode, first, count, value)) = runs.next() else {
            return;
        };
        // A sampler is set as a whole.
        let count = if count == 3 && left < 5 {
            0
        } else {
            count.min(left - 2)
        };
        if count == 0 {
            continue;
        }
        let mut body = vec![value; count + 1];
        body[0] = first;
        stream.packet(opcode, &body);
    }
}
