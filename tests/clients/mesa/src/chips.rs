// SPDX-License-Identifier: GPL-2.0 OR MIT

//! What Mesa makes of a chip: by which name it calls it, which OpenGL it has there, and what the judge finds of it.
//!
//! The chip is known before Mesa is loaded, from the ids in sysfs, so that a program that cannot run there is skipped
//! without a word to the driver. What is listed here must work: a version that Mesa no longer has is a failure.

use crate::egl::Api;
use anyhow::{Context, Result};
use lapidary_engines::chips;
use lapidary_harness::{Test, skip};
use std::path::Path;

/// Where the nodes of DRM devices are.
const NODES: &str = "/sys/class/drm";
/// PCI vendor.
const ATI: u32 = 0x1002;

/// A group of chips that are alike to Mesa.
struct Group {
    /// Names.
    chips: &'static [&'static str],
    /// The word before the name in `GL_RENDERER`.
    vendor: &'static str,
    /// Which OpenGL there is.
    apis: &'static [Api],
    /// Why others are not there.
    because: &'static str,
}

const GROUPS: [Group; 3] = [
    Group {
        chips: &["RV515", "R520", "RV530", "RV560", "RV570", "R580"],
        vendor: "ATI",
        apis: &[Api::Es2, Api::Desktop],
        because: "Mesa has OpenGL 2.1 and OpenGL ES 2.0 on R5xx",
    },
    Group {
        chips: &["R600"],
        vendor: "AMD",
        apis: &[Api::Es2, Api::Desktop, Api::Es3],
        because: "Mesa has OpenGL 2.1 and OpenGL ES 3.0 on R600",
    },
    Group {
        chips: &[
            "RV610", "RV635", "RV670", "RV770", "RV730", "RV710", "RV740",
        ],
        vendor: "AMD",
        apis: &[Api::Es2, Api::Desktop, Api::Es3, Api::Core],
        because: "",
    },
];

/// What the judge finds of Mesa on both drivers.
struct Declared {
    /// The chip.
    chip: &'static str,
    /// Kind of finding.
    finding: &'static str,
    /// Programs, each with the exact number of findings.
    programs: &'static [(&'static str, u64)],
}

const DECLARED: [Declared; 1] = [
    // Mesa gives geometry and export shaders four threads each. RV670 needs 16 (R6xx 6.1.5). Each draw with a geometry
    // shader is a finding.
    Declared {
        chip: "RV670",
        finding: "thread-count",
        programs: &[
            ("geometry", 70),
            ("geometry-feedback", 3),
            ("layered", 8),
            ("viewports", 17),
            ("two-newer-clients", 70),
        ],
    },
];

fn id(device: &Path, attribute: &str) -> Option<u32> {
    let text = std::fs::read_to_string(device.join(attribute)).ok()?;
    u32::from_str_radix(text.trim().trim_start_matches("0x"), 16).ok()
}

/// Return the name of the machine's chip and its group.
fn chip() -> Result<(&'static str, &'static Group)> {
    for node in std::fs::read_dir(NODES).context(NODES)? {
        let device = node?.path().join("device");
        if id(&device, "vendor") != Some(ATI) {
            continue;
        }
        let name = chips::name(id(&device, "device").unwrap_or_default());
        if let Some(group) = GROUPS.iter().find(|group| group.chips.contains(&name)) {
            return Ok((name, group));
        }
    }
    anyhow::bail!("no chip that Mesa's r300 or r600 drives")
}

/// Declare what the judge finds when `test`, the program of that name, runs on the machine's chip.
pub fn declare(name: &str, test: Test) -> Test {
    let Ok((chip, _)) = chip() else {
        return test;
    };
    let declared = DECLARED.iter().filter(|declared| declared.chip == chip);
    declared.fold(test, |test, declared| {
        let count = (declared.programs.iter()).find(|(program, _)| *program == name);
        match count {
            Some(&(_, count)) => test.finding(declared.finding, count),
            None => test,
        }
    })
}

/// Return what `GL_RENDERER` begins with on the GPU. Mesa's software renderers, which it falls back to, name
/// themselves.
pub fn renderer() -> Result<String> {
    let (name, group) = chip()?;
    Ok(format!("{} {name}", group.vendor))
}

/// Skip the test if Mesa does not have this OpenGL on the chip.
///
/// # Errors
///
/// The reason, as [`lapidary_harness::Skip`].
pub fn need(api: Api) -> Result<()> {
    let (_, group) = chip()?;
    if group.apis.contains(&api) {
        return Ok(());
    }
    skip(group.because)
}
