// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Puts edits of a source under switches, so that one build has all of them.
//!
//! A function that an edit changes has two bodies then, and asks which of them to execute (see [`crate::parameter`]).
//! This cannot be done outside of functions, in one that is evaluated when it is compiled, and in one whose type is an
//! `impl Trait`, because its two bodies would have different types.

use std::ops::Range;

use anyhow::{Context, Result};
use quote::ToTokens;
use syn::{ReturnType, Signature};

use crate::{functions::functions, list::Mutant, parameter::ASK};

/// A source.
pub struct Source<'a> {
    text: &'a str,
    /// Where the bodies of its functions stand, without their braces.
    bodies: Vec<Range<usize>>,
}

/// An edit that can be under a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The body that it changes.
    range: Range<usize>,
    /// The body with the edit.
    body: String,
}

impl<'a> Source<'a> {
    /// Look at a source.
    ///
    /// # Errors
    ///
    /// It cannot be parsed.
    pub fn new(text: &'a str) -> Result<Self> {
        let file = syn::parse_file(text).context("cannot be parsed")?;
        let bodies = functions(&file.items)
            .iter()
            .filter(|function| can_have_two_bodies(function.signature))
            .map(|function| {
                let braces = &function.block.brace_token.span;
                braces.open().byte_range().end..braces.close().byte_range().start
            })
            .collect();
        Ok(Self { text, bodies })
    }

    /// Return an edit as a fault, if it can be under a switch.
    pub fn fault(&self, mutant: &Mutant) -> Option<Fault> {
        let start = self.text.find(&mutant.replace)?;
        let end = start + mutant.replace.len();
        let range = self
            .bodies
            .iter()
            .find(|body| body.start <= start && end <= body.end)?;
        let body = format!(
            "{}{}{}",
            &self.text[range.start..start],
            mutant.by,
            &self.text[end..range.end]
        );
        syn::parse_str::<syn::Block>(&format!("{{{body}}}")).ok()?;
        Some(Fault {
            range: range.clone(),
            body,
        })
    }

    /// Return the source with faults, each with its number.
    pub fn with(&self, faults: &[(isize, Fault)]) -> String {
        let mut text = String::new();
        let mut done = 0;
        let mut bodies: Vec<_> = self.bodies.iter().collect();
        bodies.sort_by_key(|body| body.start);
        for body in bodies {
            text += &self.text[done..body.start];
            done = body.end;
            let mut faults = faults.iter().filter(|(_, f)| f.range == *body).peekable();
            let original = &self.text[body.clone()];
            if faults.peek().is_none() {
                text += original;
                continue;
            }
            for (number, fault) in faults {
                text += &format!(" if !{ASK}({number}) {{{}}} else", fault.body);
            }
            text += &format!(" {{{original}}} ");
        }
        text + &self.text[done..]
    }
}

/// Return whether a function can choose between two bodies.
fn can_have_two_bodies(signature: &Signature) -> bool {
    let opaque = match &signature.output {
        ReturnType::Default => false,
        ReturnType::Type(_, of) => of
            .to_token_stream()
            .to_string()
            .split_whitespace()
            .any(|word| word == "impl"),
    };
    signature.constness.is_none() && !opaque
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    const TEXT: &str = "\
const A: u32 = 1;
fn f(x: u32) -> u32 { x + 2 }
const fn g() -> u32 { 3 }
impl S { fn h(&self) -> Option<u32> { self.a?; Some(4) } }
fn i() -> Option<impl Fn()> { Some(|| five()) }
";

    fn mutant(replace: &str, by: &str) -> Mutant {
        Mutant {
            feature: String::new(),
            file: String::new(),
            replace: replace.into(),
            by: by.into(),
            caught: BTreeMap::new(),
        }
    }

    #[test]
    fn a_function_has_a_body_for_each_fault() {
        let source = Source::new(TEXT).unwrap();
        let fault = |replace, by| source.fault(&mutant(replace, by)).unwrap();
        let faults = [
            (7, fault("+ 2", "")),
            (8, fault("self.a?;", "")),
            (9, fault("Some(4)", "None")),
        ];
        let text = source.with(&faults);
        let expected = "\
const A: u32 = 1;
fn f(x: u32) -> u32 { if !crate::mutant::on(7) { x  } else { x + 2 } }
const fn g() -> u32 { 3 }
impl S { fn h(&self) -> Option<u32> { if !crate::mutant::on(8) {  Some(4) } else if !crate::mutant::on(9) { self.a?; None } else { self.a?; Some(4) } } }
fn i() -> Option<impl Fn()> { Some(|| five()) }
";
        assert_eq!(text, expected);
        assert_eq!(source.with(&[]), TEXT);
    }

    #[test]
    fn other_places_have_no_switch() {
        let source = Source::new(TEXT).unwrap();
        let none = |replace, by| assert_eq!(source.fault(&mutant(replace, by)), None, "{replace}");
        none("= 1", "= 2");
        none("{ 3 }", "{ 4 }");
        none("3", "4");
        none("five()", "six()");
        none("Option<u32> { self", "Option<u32> { s");
        none("Some(4) }", "Some(4)");
        none("x + 2", "{");
    }

    #[test]
    fn a_source_must_be_one() {
        assert!(Source::new("fn").is_err());
    }
}
