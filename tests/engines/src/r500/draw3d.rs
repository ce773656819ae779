// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Small 3D draws by command stream, with all state that decides what memory they touch.
//!
//! A draw reads vertices (R5xx 7.4, from the stream itself or from arrays, by running number or by an index
//! buffer), reads textures, and reads and writes a colour and a depth surface at most as far as the scissor lets
//! it. [`Draw`] says which of these there are. [`Draw::emit`] writes registers, packets and relocation markers in the
//! form that the kernel interface wants. A marker follows each address, and none a pitch, because submissions of this
//! crate keep their tiling bits ([`lapidary_guest::submit::Envelope::of`]).
//!
//! The picture does not matter here: coordinates are window coordinates, the fragment program writes nothing of
//! interest.

use lapidary_guest::Bo;
use lapidary_guest::stream::{Access, Stream};
use lapidary_registers::r500::mmio;
use lapidary_registers::r500::pm4::op;

/// A colour or depth surface, or a texture: an object and where in it.
#[derive(Clone, Copy, Debug)]
pub struct Image<'a> {
    /// The object.
    pub bo: &'a Bo,
    /// Bytes from its start, a multiple of 32.
    pub offset: u32,
    /// Pixels from row to row; for textures their width.
    pub pitch: u32,
    /// Rows.
    pub height: u32,
    /// Of a texture: levels beyond the first, each half as wide and high as the one before.
    pub levels: u32,
}

impl<'a> Image<'a> {
    /// Return an image of 32-bit pixels from the start of an object.
    pub fn new(bo: &'a Bo, pitch: u32, height: u32) -> Image<'a> {
        Image {
            bo,
            offset: 0,
            pitch,
            height,
            levels: 0,
        }
    }
}

/// One array of vertices, four floats each.
#[derive(Clone, Copy, Debug)]
pub struct Array<'a> {
    /// The object.
    pub bo: &'a Bo,
    /// Bytes from its start, a multiple of 4.
    pub offset: u32,
    /// Dwords from vertex to vertex.
    pub stride: u32,
}

impl<'a> Array<'a> {
    /// Return an array of vertices without gaps from the start of an object.
    pub fn new(bo: &'a Bo) -> Array<'a> {
        Array {
            bo,
            offset: 0,
            stride: VERTEX,
        }
    }
}

/// Where the vertices come from.
#[derive(Clone, Debug)]
pub enum Vertices<'a> {
    /// From the stream: so many.
    Immediate(u32),
    /// From the arrays, by running number: so many.
    Arrays(&'a [Array<'a>], u32),
    /// From the arrays, by 16-bit indices.
    Indexed(&'a [Array<'a>], Indices<'a>),
}

/// An index buffer.
#[derive(Clone, Copy, Debug)]
pub struct Indices<'a> {
    /// The object.
    pub bo: &'a Bo,
    /// Bytes from its start, a multiple of 4.
    pub offset: u32,
    /// Indices.
    pub count: u32,
    /// The largest that may be used (VAP_VF_MAX_VTX_INDX).
    pub max: u32,
}

/// MIP_FILTER that picks the nearest level.
const MIP_NEAREST: u32 = 1;
/// Dwords of a vertex of one array, and of an immediate one.
const VERTEX: u32 = 4;

/// A draw of points.
#[derive(Clone, Debug)]
pub struct Draw<'a> {
    /// Colour target, ARGB8888.
    pub colour: Option<Image<'a>>,
    /// Depth surface, 24 and 8 bits.
    pub depth: Option<Image<'a>>,
    /// Textures of unit 0 and on, ARGB8888.
    pub textures: &'a [Image<'a>],
    /// The vertices.
    pub vertices: Vertices<'a>,
    /// Rows and columns that may be drawn to, from the corner.
    pub scissor: (u32, u32),
}

impl<'a> Draw<'a> {
    /// Return three immediate points on a colour target, all of which may be drawn to.
    pub fn on(colour: Image<'a>) -> Draw<'a> {
        Draw {
            colour: Some(colour),
            depth: None,
            textures: &[],
            vertices: Vertices::Immediate(3),
            scissor: (colour.pitch, colour.height),
        }
    }

    /// Append state and draw.
    pub fn emit(&self, stream: &mut Stream) {
        self.state(stream);
        self.draw(stream);
    }

    /// Append everything but the draw.
    pub fn state(&self, stream: &mut Stream) {
        purge(stream);
        self.scissors(stream);
        self.colour(stream);
        self.depth(stream);
        self.textures(stream);
        geometry(stream);
        fragments(stream);
    }

    fn scissors(&self, stream: &mut Stream) {
        let (w, h) = self.scissor;
        let end = mmio::sc_scissor1::XS1.put(0, w - 1);
        let end = mmio::sc_scissor1::YS1.put(end, h - 1);
        stream
            .register(mmio::SC_SCISSOR0, 0)
            .register(mmio::SC_SCISSOR1, end)
            .register(mmio::SC_CLIP_RULE, 0xffff)
            .register(mmio::SC_SCREENDOOR, 0x00ff_ffff)
            .register(mmio::GB_AA_CONFIG, 0)
            .register(mmio::RB3D_AARESOLVE_CTL, 0);
    }

    fn colour(&self, stream: &mut Stream) {
        use mmio::{rb3d_cctl, rb3d_colorpitch};
        stream
            .register(
                mmio::RB3D_CCTL,
                rb3d_cctl::INDEPENDENT_COLORFORMAT_ENABLE.put(0, 1),
            )
            .register(mmio::RB3D_ROPCNTL, 0)
            .register(mmio::RB3D_BLENDCNTL, 0)
            .register(mmio::RB3D_ABLENDCNTL, 0);
        if let Some(image) = &self.colour {
            let pitch = rb3d_colorpitch::COLORPITCH.put(0, image.pitch / 2);
            let pitch =
                rb3d_colorpitch::COLORFORMAT.put(pitch, rb3d_colorpitch::colorformat::ARGB8888);
            stream
                .register(mmio::RB3D_COLOROFFSET.base(), image.offset)
                .relocation(image.bo, Access::Write)
                .register(mmio::RB3D_COLORPITCH.base(), pitch);
        }
        let mask = if self.colour.is_some() { 0xf } else { 0 };
        stream.register(mmio::RB3D_COLOR_CHANNEL_MASK, mask);
    }

    fn depth(&self, stream: &mut Stream) {
        use mmio::{zb_cntl, zb_depthpitch, zb_format};
        let mut control = 0;
        if let Some(image) = &self.depth {
            let format = zb_format::depthformat::INTEGER_24_STENCIL_8;
            stream
                .register(mmio::ZB_FORMAT, zb_format::DEPTHFORMAT.put(0, format))
                .register(mmio::ZB_DEPTHOFFSET, image.offset)
                .relocation(image.bo, Access::Write)
                .register(
                    mmio::ZB_DEPTHPITCH,
                    zb_depthpitch::DEPTHPITCH.put(0, image.pitch / 4),
                );
            control = zb_cntl::Z_ENABLE.put(control, 1);
            control = zb_cntl::ZWRITEENABLE.put(control, 1);
        }
        stream
            .register(mmio::ZB_BW_CNTL, 0)
            .register(mmio::SC_HYPERZ_EN, 0)
            .register(mmio::GB_Z_PEQ_CONFIG, 0)
            .register(mmio::ZB_CNTL, control)
            .register(mmio::ZB_ZSTENCILCNTL, 0);
    }

    fn textures(&self, stream: &mut Stream) {
        use mmio::{tx_filter0, tx_format0, tx_format1};
        for (unit, image) in self.textures.iter().enumerate() {
            let size = tx_format0::TXWIDTH.put(0, image.pitch - 1);
            let size = tx_format0::TXHEIGHT.put(size, image.height - 1);
            let size = tx_format0::NUM_LEVELS.put(size, image.levels);
            let format = tx_format1::txformat::FMT_8_8_8_8;
            let filter = tx_filter0::ID.put(0, unit as u32);
            let filter = if image.levels == 0 {
                filter
            } else {
                tx_filter0::MIP_FILTER.put(filter, MIP_NEAREST)
            };
            let at = |array: lapidary_registers::RegArray| array.at(unit as u32).unwrap_or(0);
            stream
                .register(at(mmio::TX_FILTER0), filter)
                .register(at(mmio::TX_FILTER1), 0)
                .register(at(mmio::TX_FORMAT0), size)
                .register(at(mmio::TX_FORMAT1), tx_format1::TXFORMAT.put(0, format))
                .register(at(mmio::TX_FORMAT2), 0)
                .register(at(mmio::TX_OFFSET), image.offset)
                .relocation(image.bo, Access::Read);
        }
        stream
            .register(mmio::TX_INVALTAGS, 0)
            .register(mmio::TX_ENABLE, (1 << self.textures.len()) - 1);
    }

    fn draw(&self, stream: &mut Stream) {
        use mmio::vap_vf_cntl::{self, prim_type, prim_walk};
        let control = |walk: u32, count: u32| {
            let word = vap_vf_cntl::PRIM_TYPE.put(0, prim_type::POINTS);
            let word = vap_vf_cntl::PRIM_WALK.put(word, walk);
            vap_vf_cntl::NUM_VERTICES.put(word, count)
        };
        let limits = |stream: &mut Stream, arrays: u32, max: u32| {
            stream
                .register(mmio::VAP_VTX_SIZE, VERTEX * arrays)
                .register(mmio::VAP_VF_MAX_VTX_INDX, max)
                .register(mmio::VAP_VF_MIN_VTX_INDX, 0)
                .register(mmio::VAP_INDEX_OFFSET, 0);
        };
        match self.vertices {
            Vertices::Immediate(count) => {
                limits(stream, 1, count.saturating_sub(1));
                let mut body = vec![control(prim_walk::VERTEX_DATA, count)];
                for vertex in 0..count {
                    body.extend([vertex as f32, 0.0, 0.0, 1.0].map(f32::to_bits));
                }
                stream.packet(op::_3D_DRAW_IMMD_2, &body);
            }
            Vertices::Arrays(arrays, count) => {
                limits(stream, arrays.len() as u32, count.saturating_sub(1));
                load_arrays(stream, arrays);
                stream.packet(
                    op::_3D_DRAW_VBUF_2,
                    &[control(prim_walk::VERTEX_LIST, count)],
                );
            }
            Vertices::Indexed(arrays, indices) => {
                limits(stream, arrays.len() as u32, indices.max);
                load_arrays(stream, arrays);
                stream.packet(
                    op::_3D_DRAW_INDX_2,
                    &[control(prim_walk::INDEXES, indices.count)],
                );
                index_buffer(stream, &indices);
            }
        }
        purge(stream);
    }
}

/// Write back and drop the lines of the colour and the depth cache, as Mesa does before it sets up targets. Their
/// registers change only while the caches are empty (R5xx 10.1), and not every driver empties them behind a submission.
fn purge(stream: &mut Stream) {
    use mmio::{rb3d_dstcache_ctlstat as color, zb_zcache_ctlstat as depth};
    let both = color::DC_FLUSH.put(0, color::dc_flush::FLUSH);
    let both = color::DC_FREE.put(both, color::dc_free::FREE);
    let all = depth::ZC_FLUSH.put(0, 1);
    let all = depth::ZC_FREE.put(all, 1);
    stream
        .register(mmio::RB3D_DSTCACHE_CTLSTAT, both)
        .register(mmio::ZB_ZCACHE_CTLSTAT, all);
}

/// Name the arrays (3D_LOAD_VBPNTR): two share a dword of sizes and strides, then come their addresses.
fn load_arrays(stream: &mut Stream, arrays: &[Array<'_>]) {
    let mut body = vec![arrays.len() as u32];
    for pair in arrays.chunks(2) {
        let attributes = pair.iter().enumerate();
        body.push(attributes.fold(0, |word, (i, array)| {
            word | (((array.stride << 8) | VERTEX) << (16 * i))
        }));
        body.extend(pair.iter().map(|array| array.offset));
    }
    stream.packet(op::_3D_LOAD_VBPNTR, &body);
    for array in arrays {
        stream.relocation(array.bo, Access::Read);
    }
}

/// Feed the index port from memory (INDX_BUFFER): whole dwords, two 16-bit indices each.
fn index_buffer(stream: &mut Stream, indices: &Indices<'_>) {
    /// Every dword goes to the same register, the vertex assembler's port for indices.
    const ONE_REGISTER: u32 = 1 << 31;
    let port = mmio::VAP_PORT_IDX.base() / 4;
    let dwords = indices.count.div_ceil(2);
    stream
        .packet(
            op::INDX_BUFFER,
            &[ONE_REGISTER | port, indices.offset, dwords],
        )
        .relocation(indices.bo, Access::Read);
}

/// Append the state of one input vector, straight to the rasterizer: no vertex program, no clipping, no viewport.
fn geometry(stream: &mut Stream) {
    use mmio::{vap_clip_cntl, vap_cntl, vap_out_vtx_fmt_0, vap_prog_stream_cntl, vap_vte_cntl};
    /// DATA_TYPE of four floats (R5xx 7.4).
    const FLOAT_4: u32 = 3;
    let input = vap_prog_stream_cntl::DATA_TYPE_0.put(0, FLOAT_4);
    let input = vap_prog_stream_cntl::LAST_VEC_0.put(input, 1);
    let window = vap_vte_cntl::VTX_XY_FMT.put(0, 1);
    let window = vap_vte_cntl::VTX_Z_FMT.put(window, 1);
    let control = vap_cntl::PVS_NUM_SLOTS.put(0, 10);
    let control = vap_cntl::PVS_NUM_CNTLRS.put(control, 5);
    let control = vap_cntl::PVS_NUM_FPUS.put(control, 2);
    let control = vap_cntl::VF_MAX_VTX_NUM.put(control, 12);
    stream
        .register(mmio::VAP_PVS_STATE_FLUSH_REG, 0)
        .register(mmio::VAP_CNTL, control)
        .register(mmio::VAP_CNTL_STATUS, 0)
        .register(mmio::VAP_PROG_STREAM_CNTL.base(), input)
        .register(mmio::VAP_PROG_STREAM_CNTL_EXT.base(), 0xf688)
        .register(mmio::VAP_CLIP_CNTL, vap_clip_cntl::CLIP_DISABLE.put(0, 1))
        .register(mmio::VAP_VTE_CNTL, window)
        .register(mmio::VAP_VTX_STATE_CNTL, 0x5555)
        .register(mmio::VAP_VSM_VTX_ASSM, 1)
        .register(
            mmio::VAP_OUT_VTX_FMT_0,
            vap_out_vtx_fmt_0::VTX_POS_PRESENT.put(0, 1),
        )
        .register(mmio::VAP_OUT_VTX_FMT_1, 0)
        .register(mmio::GA_POINT_SIZE, 0x0006_0006)
        .register(mmio::GA_POLY_MODE, 0)
        .register(mmio::SU_CULL_MODE, 0)
        .register(mmio::SU_POLY_OFFSET_ENABLE, 0)
        .register(mmio::RS_COUNT, 0)
        .register(mmio::RS_INST_COUNT, 0);
}

/// Append a fragment program of one instruction, one output of 32 bits.
fn fragments(stream: &mut Stream) {
    use mmio::us_out_fmt::{OUT_FMT, out_fmt};
    /// Dwords of an instruction, the first with its type in the lowest bits: 1 is one that may write outputs.
    const OUTPUT: [u32; 6] = [1, 0, 0, 0, 0, 0];
    let unused = OUT_FMT.put(0, out_fmt::UNUSED);
    stream
        .registers(
            mmio::US_OUT_FMT.base(),
            &[OUT_FMT.put(0, out_fmt::C4_8), unused, unused, unused],
        )
        .register(mmio::US_W_FMT, 0)
        .register(mmio::US_CONFIG, 0)
        .register(mmio::US_PIXSIZE, 0)
        .register(mmio::US_FC_CTRL, 0)
        .register(mmio::US_CODE_ADDR, 0)
        .register(mmio::US_CODE_RANGE, 0)
        .register(mmio::US_CODE_OFFSET, 0)
        .register(mmio::GA_US_VECTOR_INDEX, 0);
    for word in OUTPUT {
        stream.register(mmio::GA_US_VECTOR_DATA, word);
    }
    stream
        .register(mmio::FG_ALPHA_FUNC, 0)
        .register(mmio::FG_DEPTH_SRC, 0)
        .register(mmio::FG_FOG_BLEND, 0);
}

/// Write the count of pixels that passed the depth test since `count_from_zero` (R5xx: one dword for each pipe).
pub fn write_count(stream: &mut Stream, bo: &Bo, offset: u32) {
    stream
        .register(mmio::ZB_ZPASS_ADDR, offset)
        .relocation(bo, Access::Write);
}

/// Begin to count pixels that pass the depth test.
pub fn count_from_zero(stream: &mut Stream) {
    stream.register(mmio::ZB_ZPASS_DATA, 0);
}
