// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Every rule of the checker: a stream that keeps it, and the same stream with one dword changed that breaks
//! it and is refused for just that reason.

mod cache;
mod color;
mod depth;
mod geometry2d;
mod host2d;
mod results;
mod results3d;
mod rule;
mod shared;
mod state2d;
mod stream;
mod streams2d;
mod streams3d;
#[path = "../support/mod.rs"]
mod support;
mod texture;
mod vertex;

use r500::portable::checker::Reason;
use rule::{differ_in_one_dword, Rule};
use std::collections::BTreeSet;

/// All rules, by topic.
const TOPICS: &[fn(&mut Vec<Rule>)] = &[
    stream::packets,
    stream::registers,
    stream::relocations,
    state2d::control,
    state2d::state,
    state2d::sources,
    state2d::compare,
    state2d::lines,
    state2d::places,
    geometry2d::surfaces,
    geometry2d::geometry,
    geometry2d::directions,
    geometry2d::lines,
    geometry2d::scissors,
    host2d::host,
    host2d::amounts,
    color::needed,
    color::bounds,
    color::tiling,
    color::narrowing,
    color::resolve,
    depth::rules,
    depth::compression,
    cache::color,
    cache::depth_too,
    texture::needed,
    texture::changes,
    texture::formats,
    texture::sizes,
    texture::chains,
    texture::tilings,
    vertex::counted,
    vertex::indexed,
    vertex::buffered,
    vertex::embedded,
    vertex::shader_formats,
    shared::pipes,
    shared::owners,
];

fn rules() -> Vec<Rule> {
    let mut rules = Vec::new();
    for topic in TOPICS {
        topic(&mut rules);
    }
    rules
}

#[test]
fn one_dword_decides() {
    let broken: Vec<String> = rules()
        .iter()
        .filter_map(|rule| rule.test().err())
        .collect();
    assert!(broken.is_empty(), "{}", broken.join("\n"));
}

#[test]
fn every_reason_has_a_rule() {
    let tested: BTreeSet<Reason> = rules()
        .iter()
        .map(|rule| rule.reason)
        .chain([Reason::TooManyFixups])
        .collect();
    let missing: Vec<_> = Reason::ALL
        .iter()
        .filter(|reason| !tested.contains(reason))
        .collect();
    assert!(missing.is_empty(), "no test breaks {missing:?}");
}

#[test]
fn one_dword_is_one_dword() {
    assert!(differ_in_one_dword(&[1, 2, 3], &[1, 5, 3]));
    assert!(!differ_in_one_dword(&[1, 2, 3], &[1, 2, 3]));
    assert!(!differ_in_one_dword(&[1, 2, 3], &[2, 2, 1]));
    assert!(!differ_in_one_dword(&[1, 2, 3], &[1, 2]));
}
