// SPDX-License-Identifier: GPL-2.0 OR MIT

//! `evidence`: which clients have exercised which registers of the model.
//!
//! Reads the lists of touched registers that guests left (`gpu-model --touched`), one or more for each client, and
//! prints in Markdown how many registers of each block each client touched, and which implemented ones no client did.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail, ensure};
use clap::Parser;
use lapidary_model::family::Family;
use lapidary_model::registers::Class;
use lapidary_model_programs::FAMILIES;
use lapidary_registers::Database;

/// Which clients have exercised which registers of the model.
#[derive(Parser)]
struct Args {
    /// Whose registers, by the name of the driver.
    #[arg(long, default_value = "r500")]
    family: String,
    /// Which of its register maps, by the name of the database; the family's own if none is named.
    #[arg(long)]
    map: Option<String>,
    /// `CLIENT=FILE`: a list of touched registers; lists of the same client are added up.
    #[arg(required = true)]
    lists: Vec<String>,
}

/// Names of registers by client, in the order in which the clients were named.
type Clients = Vec<(String, BTreeSet<String>)>;

fn main() -> Result<ExitCode> {
    let args = Args::parse();
    let family = FAMILIES
        .iter()
        .find(|family| family.name == args.family)
        .with_context(|| format!("no family {}", args.family))?;
    let database = match &args.map {
        Some(name) => {
            lapidary_registers::database(name).with_context(|| format!("no register map {name}"))?
        }
        None => family.database(),
    };
    let mut clients = Clients::new();
    for list in &args.lists {
        let (client, file) = list
            .split_once('=')
            .with_context(|| format!("{list:?} is not CLIENT=FILE"))?;
        let path = PathBuf::from(file);
        let text = std::fs::read_to_string(&path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        let names = names(&text).with_context(|| format!("in {}", path.display()))?;
        ensure!(!names.is_empty(), "{} is empty", path.display());
        match clients.iter_mut().find(|(name, _)| name == client) {
            Some((_, all)) => all.extend(names),
            None => clients.push((client.into(), names)),
        }
    }
    print!("{}", table(family, database, &clients));
    Ok(ExitCode::SUCCESS)
}

/// Return the register names of a list, without the index of an array's element.
fn names(text: &str) -> Result<BTreeSet<String>> {
    text.lines()
        .map(|line| match line.split_whitespace().nth(1) {
            Some(name) => Ok(name.split('[').next().unwrap_or(name).to_owned()),
            None => bail!("{line:?} is not BLOCK NAME …"),
        })
        .collect()
}

/// Return the table by block, and the implemented registers that no client touched.
fn table(family: &Family, database: &Database, clients: &Clients) -> String {
    let mut blocks: BTreeMap<&str, Vec<(&str, bool)>> = BTreeMap::new();
    for r in database.registers {
        let implemented = family.class(r) == Some(Class::Implemented);
        let block = blocks.entry(r.block).or_default();
        // The same name may stand for different words on different chips.
        if block.iter().all(|(name, _)| *name != r.name) {
            block.push((r.name, implemented));
        }
    }
    let mut text = String::from("| block | registers | implemented |");
    for (client, _) in clients {
        text += &format!(" {client} |");
    }
    text += " none |\n| --- | --: | --: |";
    text += &" --: |".repeat(clients.len() + 1);
    text += "\n";
    let mut left = String::new();
    for (block, registers) in &blocks {
        let implemented = registers.iter().filter(|(_, i)| *i).count();
        text += &format!("| {block} | {} | {implemented} |", registers.len());
        for (_, names) in clients {
            let n = registers.iter().filter(|(r, _)| names.contains(*r)).count();
            text += &format!(" {n} |");
        }
        let by_none = |name: &str| clients.iter().all(|(_, names)| !names.contains(name));
        let n = registers.iter().filter(|(r, _)| by_none(r)).count();
        text += &format!(" {n} |\n");
        let untouched: Vec<&str> = registers
            .iter()
            .filter(|(r, implemented)| *implemented && by_none(r))
            .map(|(r, _)| *r)
            .collect();
        if !untouched.is_empty() {
            left += &format!("- {block}: {}\n", untouched.join(", "));
        }
    }
    format!("{text}\nImplemented, and touched by no client (the model's own tests only):\n\n{left}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let list =
            "CP CP_RB_WPTR implemented 0 117 the CPU\nCP SCRATCH_REG[3] implemented 0 1 ring\n";
        assert_eq!(
            names(list).unwrap().into_iter().collect::<Vec<_>>(),
            ["CP_RB_WPTR", "SCRATCH_REG"]
        );
        assert!(names("nonsense\n").is_err());
    }

    #[test]
    fn what_a_client_touches_is_counted_and_not_left_over() {
        let touched = |list: &[&str]| list.iter().map(|n| n.to_string()).collect();
        let family = *FAMILIES.iter().find(|f| f.name == "r500").unwrap();
        let one = table(
            family,
            family.database(),
            &vec![("a".into(), touched(&["CP_RB_WPTR"]))],
        );
        let none = table(
            family,
            family.database(),
            &vec![("a".into(), touched(&["NO_SUCH"]))],
        );
        assert!(none.contains("CP_RB_WPTR,") && !one.contains("CP_RB_WPTR,"));
        let row = |text: &str| {
            let row = text.lines().find(|l| l.starts_with("| CP |"));
            row.map(|r| r.split('|').nth(4).map(|n| n.trim().to_owned()))
        };
        assert_eq!(row(&one), Some(Some("1".into())));
        assert_eq!(row(&none), Some(Some("0".into())));
    }
}
