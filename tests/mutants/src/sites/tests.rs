// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Sites of small drivers, made up here.

use super::*;

fn source(text: &str) -> Vec<Source> {
    vec![Source {
        name: "a.rs".into(),
        text: text.into(),
    }]
}

fn names(text: &str) -> Vec<String> {
    let sites = find(&source(text)).unwrap();
    sites.into_iter().map(|site| site.name).collect()
}

/// Return the text with all switches.
fn with_switches(text: &str) -> String {
    let sources = source(text);
    switched(&sources, &find(&sources).unwrap(), 0)
}

#[test]
fn writes_and_waits_are_found() {
    let text = "fn f(w: W) { let a = w.read(A); w.write_reg(a); let _ = w.read(B); w.read(C); w.try_read32(E).ok()?; \
            fsleep(T); w.poke(D); }";
    assert_eq!(
        names(text),
        [
            "a.rs f: w.write_reg(a);",
            "a.rs f: let _ = w.read(B);",
            "a.rs f: w.read(C);",
            "a.rs f: w.try_read32(E).ok()?;",
            "a.rs f: fsleep(T);",
        ]
    );
}

#[test]
fn what_calls_a_site_is_one() {
    let text = "struct S; impl S { fn low(&self) { self.w.update(A, |a| a) } fn high(&self) { self.low(); } \
            fn new() -> Self { s.high(); s } fn made() { S::new(); } }";
    assert_eq!(
        names(text),
        [
            "a.rs S::low: self.w.update(A, |a| a)",
            "a.rs S::high: self.low();",
            "a.rs S::new: s.high();",
        ]
    );
}

#[test]
fn equal_ones_are_numbered() {
    assert_eq!(
        names("fn f() { emit::flush(out)?; g(); emit::flush(out)?; }"),
        [
            "a.rs f: emit::flush(out)?; #1",
            "a.rs f: emit::flush(out)?; #2",
        ]
    );
}

#[test]
fn a_long_one_has_its_name_in_one_line() {
    assert_eq!(
        names(
            "fn f() {\n    w\n        .write(\n            // Why.\n            A,\n            b,\n        );\n}"
        ),
        ["a.rs f: w.write(A, b);"]
    );
}

#[test]
fn tests_are_left_alone() {
    let text = "#[kunit_tests(a)] mod tests { fn f() { w.write(A); } } \
            #[cfg(CONFIG_KUNIT = \"y\")] mod fake { fn f() { w.write(A); } }";
    assert!(names(text).is_empty());
}

#[test]
fn a_value_is_made_up_where_it_can_be() {
    assert_eq!(
        with_switches("fn f() -> Result { w.put(1)?; w.put(2) }"),
        "fn f() -> Result { if crate::mutant::on(0) { w.put(1)?; } \
             if crate::mutant::on(1) { w.put(2) } else { Ok(()) } }"
    );
    assert_eq!(
        with_switches("fn f() -> Option<()> { match a { 0 => w.put(2), _ => None } }"),
        "fn f() -> Option<()> { match a { 0 => if crate::mutant::on(0) { w.put(2) } else { Some(()) }, \
             _ => None } }"
    );
}

#[test]
fn a_poll_becomes_a_look() {
    assert_eq!(
        with_switches(
            "fn f() -> u32 { let s = poll::read_poll_timeout(|| Ok(r()), |s| s == 0, A, B)?; s }"
        ),
        "fn f() -> u32 { let s = if crate::mutant::on(0) { poll::read_poll_timeout(|| Ok(r()), |s| s == 0, A, B) } \
             else { (|| Ok(r()))() }?; s }"
    );
}

#[test]
fn initialisers_in_macros_are_looked_into() {
    let text = "fn stop() { w.write(A); } \
            fn f() -> X { Ok(pin_init!(X { a: 1, _: { stop() }, b: { stop(); 2 } }? Error)) }";
    assert_eq!(
        names(text),
        [
            "a.rs stop: w.write(A);",
            "a.rs f: stop()",
            "a.rs f: stop();",
        ]
    );
}

#[test]
fn switches_nest() {
    assert_eq!(
        with_switches("fn f() { g(|| { w.write(A); }); } fn g() { w.write(B) }"),
        "fn f() { if crate::mutant::on(0) { g(|| { if crate::mutant::on(1) { w.write(A); } }); } } \
             fn g() { if crate::mutant::on(2) { w.write(B) } }"
    );
}

#[test]
fn a_write_that_cannot_be_left_out_is_an_error() {
    let error = find(&source(
        "fn f() -> u32 {\n    let a = w.write(A);\n    a\n}",
    ))
    .unwrap_err();
    assert_eq!(error.to_string(), "a.rs:2: a write that cannot be left out");
    assert!(find(&source("fn f() -> u32 { pin!(w.write(A)) }")).is_err());
}
