// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The modules' parameter that says which fault they have, in their source and in the steps that load them.
//!
//! Faults have numbers. A fault is a site that is left out (see [`crate::sites`]), or an edit (see [`crate::switch`]).

use anyhow::{Context, Result, bail, ensure};

/// The function that a switched module asks whether it is without a fault.
pub const ASK: &str = "crate::mutant::on";
/// Name of the parameter.
pub const PARAMETER: &str = "mutant";
/// No fault has this number.
pub const NONE: isize = -1;
/// All sites with a reason have this number.
pub const REASONED: isize = -2;
/// The program in the guest that has the tests.
const TESTS: &str = "lapidary-uapi-tests";

/// What the kernel's `build_assert!` calls if the optimiser cannot prove it. No kernel has it, so an ordinary build fails
/// then. With switches in functions the optimiser proves less, and the assertion is one of the run.
const UNPROVEN: &str = r#"
#[no_mangle]
extern "C" fn rust_build_error() -> ! {
    panic!("a build assertion does not hold")
}
"#;

/// Return a module's root with a parameter that says which fault it has, or that it has all of `reasoned`.
///
/// # Errors
///
/// The module has no parameters.
pub fn with_parameter(text: &str, reasoned: &[usize]) -> Result<String> {
    let opening = "    params: {\n";
    ensure!(
        text.matches(opening).count() == 1,
        "the module's parameters do not begin where they did"
    );
    let parameter = format!(
        "{opening}        {PARAMETER}: i32 {{\n            default: {NONE},\n            description: \"Fault\",\n        }},\n"
    );
    let asked = format!(
        "\nmod mutant {{\n    pub(crate) fn on(site: i32) -> bool {{\n        \
         let off = crate::module_parameters::{PARAMETER}.value();\n        \
         off != site && (off != {REASONED} || !{reasoned:?}.contains(&site))\n    }}\n}}\n"
    );
    Ok(text.replace(opening, &parameter) + &asked + UNPROVEN)
}

/// Return a suite that has only the step `name`, which loads library and driver with a fault. The driver is the one of
/// `drivers` that the step loads. With `stop`, the step ends with the first test that fails.
///
/// # Errors
///
/// The suite has no such step, or it loads none of the drivers.
pub fn with_fault(
    suite: &str,
    name: &str,
    library: &str,
    drivers: &[&str],
    fault: isize,
    stop: bool,
) -> Result<String> {
    let mut suite: toml::Table = toml::from_str(suite)?;
    let usual = suite
        .get("driver")
        .and_then(|drivers| drivers.get("ours")?.get("load"));
    let usual = usual
        .and_then(toml::Value::as_str)
        .unwrap_or_default()
        .to_owned();
    let step = leave_only(&mut suite, name)?;
    let text = |key| {
        step.get(key)
            .and_then(toml::Value::as_str)
            .map(str::to_owned)
    };
    let job = text("job").with_context(|| format!("{name} has no job"))?;
    let loads = text("load").unwrap_or(usual);
    let before = text("before").unwrap_or_default();
    let load = drivers
        .iter()
        .map(|driver| format!("load {driver}"))
        .find(|load| job.contains(load) || loads.contains(load))
        .with_context(|| format!("{name} loads none of {drivers:?}"))?;
    let with_fault =
        |text: &str, load: &str| text.replace(load, &format!("{load} {PARAMETER}={fault}"));
    let mut job = with_fault(&job, &load);
    if stop {
        job = job.replace(TESTS, &format!("{TESTS} --stop"));
    }
    let loads = with_fault(&loads, &load);
    // The library comes before the driver, and with parameters only where it is loaded by name.
    let load = format!("load {library}");
    let before = match before.as_str() {
        "" => with_fault(&load, &load),
        before if before.contains(&load) => with_fault(before, &load),
        before => format!("{} && {before}", with_fault(&load, &load)),
    };
    step.insert("before".into(), before.into());
    step.insert("load".into(), loads.into());
    step.insert("job".into(), job.into());
    Ok(toml::to_string(&suite)?)
}

/// Return a suite that has only the step `name`.
///
/// # Errors
///
/// The suite has no such step.
pub fn only(suite: &str, name: &str) -> Result<String> {
    let mut suite: toml::Table = toml::from_str(suite)?;
    leave_only(&mut suite, name)?;
    Ok(toml::to_string(&suite)?)
}

/// Take all guest steps out of a suite but one.
fn leave_only<'a>(suite: &'a mut toml::Table, name: &str) -> Result<&'a mut toml::Table> {
    let Some(toml::Value::Array(steps)) = suite.get_mut("guest") else {
        bail!("there are no guest steps");
    };
    steps.retain(|step| step.get("name").and_then(toml::Value::as_str) == Some(name));
    let [toml::Value::Table(step)] = steps.as_mut_slice() else {
        bail!("there is no step {name:?}");
    };
    Ok(step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_step_is_left_with_the_parameter() {
        let suite = r#"
            [driver.ours]
            load = "load m x=1"
            [[guest]]
            name = "a"
            job = "lapidary-uapi-tests t"
            [[guest]]
            name = "b"
            before = "load l y=2"
            load = "load m"
            job = "load m z=3"
        "#;
        let drivers = ["other", "m"];
        let text = |suite: &str, name| with_fault(suite, name, "l", &drivers, 7, true).unwrap();
        let a = text(suite, "a");
        assert!(a.contains("before = \"load l mutant=7\""), "{a}");
        assert!(a.contains("load = \"load m mutant=7 x=1\""), "{a}");
        assert!(a.contains("job = \"lapidary-uapi-tests --stop t\""), "{a}");
        assert!(!a.contains("\"b\""), "{a}");
        let b = only(suite, "b").unwrap();
        assert!(
            b.contains("before = \"load l y=2\"") && !b.contains("\"a\""),
            "{b}"
        );
        assert!(only(suite, "c").is_err());
        let b = text(suite, "b");
        assert!(b.contains("before = \"load l mutant=7 y=2\""), "{b}");
        assert!(b.contains("load = \"load m mutant=7\""), "{b}");
        assert!(b.contains("job = \"load m mutant=7 z=3\""), "{b}");
        let other = text(&suite.replace("load l y=2", "load v"), "b");
        assert!(
            other.contains("before = \"load l mutant=7 && load v\""),
            "{other}"
        );
        let whole = with_fault(suite, "a", "l", &drivers, 7, false).unwrap();
        assert!(whole.contains("job = \"lapidary-uapi-tests t\""), "{whole}");
        assert!(with_fault(suite, "c", "l", &drivers, 7, true).is_err());
        assert!(with_fault(suite, "a", "l", &["other"], 7, true).is_err());
    }

    #[test]
    fn the_parameter_is_the_modules() {
        let text = with_parameter(
            "x! {\n    params: {\n        a: i32 {},\n    },\n}\n",
            &[3, 5],
        )
        .unwrap();
        assert!(text.contains("params: {\n        mutant: i32 {"));
        assert!(text.contains("let off = crate::module_parameters::mutant.value();"));
        assert!(text.contains("off != site && (off != -2 || ![3, 5].contains(&site))"));
        assert!(with_parameter("x", &[]).is_err());
    }
}
