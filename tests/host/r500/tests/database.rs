// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The policy table and the register database cover each other.

use lapidary::portable::bits::Registers;
use lapidary_registers::{r500::REGISTERS, Domain, Register};
use r500::portable::policy::{self, Policy, ADMITTED, REACHABLE, REFUSED};

/// Return the registers of the aperture whose elements a type-0 packet can all reach.
fn reachable() -> impl Iterator<Item = &'static Register> {
    REGISTERS.iter().filter(|register| {
        register.domain == Domain::MMIO && (register.offset as usize) < REACHABLE * 4
    })
}

fn elements(register: &Register) -> impl Iterator<Item = u32> + '_ {
    (0..register.len).filter_map(|i| register.array().at(i))
}

#[test]
fn every_register_is_admitted_checked_or_refused_on_purpose() {
    let mut missing = Vec::new();
    for register in reachable() {
        for offset in elements(register) {
            if policy::of(offset) == Policy::Unknown {
                missing.push(format!("{} at {offset:#06x}", register.name));
            }
        }
    }
    assert!(missing.is_empty(), "no policy for {missing:?}");
}

#[test]
fn elements_of_an_array_are_treated_alike() {
    for register in reachable() {
        let policies: Vec<_> = elements(register).map(policy::of).collect();
        assert!(
            policies.iter().all(|policy| *policy == policies[0]),
            "{}: {policies:?}",
            register.name
        );
    }
}

#[test]
fn what_is_admitted_is_a_register() {
    let known = |offset: u32| reachable().any(|r| elements(r).any(|at| at == offset));
    for (registers, policy) in ADMITTED {
        assert!(!policy.refuses(), "{registers:?} is admitted by {policy:?}");
        match registers {
            Registers::One(offset) => assert!(known(*offset), "{offset:#06x}"),
            Registers::Array(array) => {
                for i in 0..array.len() {
                    assert!(known(array.at(i).unwrap()), "{array:?}");
                }
            }
            Registers::Block(..) => panic!("{registers:?}: nothing is admitted by the block"),
        }
    }
    for (registers, policy) in REFUSED {
        assert!(policy.refuses(), "{registers:?} is refused by {policy:?}");
    }
}

/// No client may write a register through its alias and so past the policy of the register itself.
#[test]
fn second_addresses_are_refused() {
    for register in reachable().filter(|register| register.mirror_of.is_some()) {
        for offset in elements(register) {
            assert!(policy::of(offset).refuses(), "{}", register.name);
        }
    }
}

/// Registers that Mesa's r300 driver (`r300_emit.c`, `r300_context.c`, `r300_render.c`, `r300_state.c`) and
/// xf86-video-ati (`radeon_accel.c`, `radeon_exa_funcs.c`, `radeon_exa_render.c`,
/// `radeon_textured_videofuncs.c`) write on R5xx.
const CLIENTS: &str = "
    BRUSH_Y_X DEFAULT_SC_BOTTOM_RIGHT DP_BRUSH_BKGD_CLR DP_BRUSH_FRGD_CLR DP_CNTL DP_GUI_MASTER_CNTL
    DP_SRC_BKGD_CLR DP_SRC_FRGD_CLR DP_WRITE_MASK DSTCACHE_CTLSTAT DST_HEIGHT_WIDTH DST_PITCH_OFFSET DST_Y_X
    SRC_PITCH_OFFSET SRC_Y_X WAIT_UNTIL
    VAP_ALT_NUM_VERTICES VAP_CLIP_CNTL VAP_CNTL VAP_CNTL_STATUS VAP_GB_HORZ_CLIP_ADJ VAP_GB_HORZ_DISC_ADJ
    VAP_GB_VERT_CLIP_ADJ VAP_GB_VERT_DISC_ADJ VAP_INDEX_OFFSET VAP_OUT_VTX_FMT_0 VAP_OUT_VTX_FMT_1
    VAP_PROG_STREAM_CNTL VAP_PROG_STREAM_CNTL_EXT VAP_PSC_SGN_NORM_CNTL VAP_PVS_CODE_CNTL_0
    VAP_PVS_CODE_CNTL_1 VAP_PVS_CONST_CNTL VAP_PVS_FLOW_CNTL_ADDRS_LW VAP_PVS_FLOW_CNTL_ADDRS_UW
    VAP_PVS_FLOW_CNTL_LOOP_INDEX VAP_PVS_FLOW_CNTL_OPC VAP_PVS_STATE_FLUSH_REG VAP_PVS_VECTOR_DATA_REG
    VAP_PVS_VECTOR_DATA_REG_128 VAP_PVS_VECTOR_INDX_REG VAP_PVS_VTX_TIMEOUT_REG VAP_TEX_TO_COLOR_CNTL
    VAP_VF_MAX_VTX_INDX VAP_VF_MIN_VTX_INDX VAP_VPORT_XOFFSET VAP_VPORT_XSCALE VAP_VPORT_YOFFSET
    VAP_VPORT_YSCALE VAP_VPORT_ZOFFSET VAP_VPORT_ZSCALE VAP_VSM_VTX_ASSM VAP_VTE_CNTL VAP_VTX_SIZE
    VAP_VTX_STATE_CNTL
    FG_ALPHA_FUNC FG_ALPHA_VALUE FG_DEPTH_SRC FG_FOG_BLEND FG_ZBREG_DEST
    GA_COLOR_CONTROL GA_COLOR_CONTROL_PS3 GA_LINE_CNTL GA_LINE_STIPPLE_CONFIG GA_LINE_STIPPLE_VALUE GA_OFFSET
    GA_POINT_MINMAX GA_POINT_S0 GA_POINT_S1 GA_POINT_SIZE GA_POINT_T0 GA_POINT_T1 GA_POLY_MODE GA_ROUND_MODE
    GA_US_VECTOR_DATA GA_US_VECTOR_INDEX
    GB_AA_CONFIG GB_ENABLE GB_MSPOS0 GB_MSPOS1 GB_SELECT GB_Z_PEQ_CONFIG
    RB3D_AARESOLVE_CTL RB3D_AARESOLVE_OFFSET RB3D_AARESOLVE_PITCH RB3D_ABLENDCNTL RB3D_BLENDCNTL RB3D_CCTL
    RB3D_CMASK_OFFSET RB3D_CMASK_PITCH RB3D_COLOROFFSET RB3D_COLORPITCH RB3D_COLOR_CHANNEL_MASK
    RB3D_COLOR_CLEAR_VALUE RB3D_COLOR_CLEAR_VALUE_AR RB3D_COLOR_CLEAR_VALUE_GB RB3D_CONSTANT_COLOR_AR
    RB3D_CONSTANT_COLOR_GB RB3D_DISCARD_SRC_PIXEL_GTE_THRESHOLD RB3D_DISCARD_SRC_PIXEL_LTE_THRESHOLD
    RB3D_DITHER_CTL RB3D_DSTCACHE_CTLSTAT RB3D_ROPCNTL
    RS_COUNT RS_INST RS_INST_COUNT RS_IP
    SC_CLIP_0_A SC_CLIP_0_B SC_CLIP_RULE SC_EDGERULE SC_HYPERZ_EN SC_SCISSOR0 SC_SCISSOR1 SC_SCREENDOOR
    SU_CULL_MODE SU_DEPTH_OFFSET SU_DEPTH_SCALE SU_POLY_OFFSET_BACK_OFFSET SU_POLY_OFFSET_BACK_SCALE
    SU_POLY_OFFSET_ENABLE SU_POLY_OFFSET_FRONT_OFFSET SU_POLY_OFFSET_FRONT_SCALE SU_REG_DEST SU_TEX_WRAP
    SU_TEX_WRAP_PS3
    TX_BORDER_COLOR TX_ENABLE TX_FILTER0 TX_FILTER1 TX_FORMAT0 TX_FORMAT1 TX_FORMAT2 TX_INVALTAGS TX_OFFSET
    US_CODE_ADDR US_CODE_OFFSET US_CODE_RANGE US_CONFIG US_FC_BOOL_CONST US_FC_CTRL US_FC_INT_CONST US_FORMAT0
    US_OUT_FMT US_PIXSIZE US_W_FMT
    ZB_BW_CNTL ZB_CNTL ZB_DEPTHCLEARVALUE ZB_DEPTHOFFSET ZB_DEPTHPITCH ZB_FORMAT ZB_HIZ_OFFSET ZB_HIZ_PITCH
    ZB_STENCILREFMASK ZB_STENCILREFMASK_BF ZB_ZCACHE_CTLSTAT ZB_ZMASK_OFFSET ZB_ZMASK_PITCH ZB_ZPASS_ADDR
    ZB_ZPASS_DATA ZB_ZSTENCILCNTL ZB_ZTOP
";

#[test]
fn what_clients_write_is_not_refused() {
    for name in CLIENTS.split_whitespace() {
        let register = lapidary_registers::r500::DATABASE
            .by_name_in(Domain::MMIO, name)
            .unwrap_or_else(|| panic!("{name} is in the database"));
        for offset in elements(register) {
            let policy = policy::of(offset);
            assert!(!policy.refuses(), "{name} is refused: {policy:?}");
        }
    }
}
