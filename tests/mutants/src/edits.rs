// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Makes the edits of a list: does the test that is named fail?
//!
//! Host tests are built and run for each edit. Tests in guests need modules, whose build takes longer than the tests.
//! So the modules are built once with all edits that can be under a switch (see [`crate::switch`]), and a parameter
//! says which of them to have. The others have a build of their own.

use std::{collections::BTreeSet, fs};

use anyhow::{Context, Result, ensure};

use crate::{
    Args,
    guests::Guests,
    list::{GuestList, List, Module, Mutant},
    outcome::{self, Run, Verdict},
    parameter::{NONE, with_parameter},
    switch::{Fault, Source},
    tree::{Edit, Tree},
};

/// An edit, and a test that must notice it.
struct Claim<'a> {
    /// The edit's number.
    number: usize,
    mutant: &'a Mutant,
    step: &'a str,
    /// What a line about a failure has in it.
    text: &'a str,
    verdict: Option<Verdict>,
}

impl Claim<'_> {
    fn settle(&mut self, verdict: Verdict) {
        eprintln!("{}: {}: {verdict}", self.mutant.feature, self.step);
        self.verdict = Some(verdict);
    }
}

/// Make the edits of a list; say whether all were noticed.
///
/// # Errors
///
/// The list does not fit the checkout, or something cannot be run.
pub fn run(args: &Args) -> Result<bool> {
    let list = List::read(&args.list)?;
    let mutants: Vec<_> = list
        .mutant
        .iter()
        .filter(|m| args.wants(&m.feature))
        .collect();
    ensure!(!mutants.is_empty(), "no feature has such a name");

    let tree = Tree::of_head(&args.tree)?;
    for mutant in &mutants {
        tree.edit(mutant)
            .with_context(|| format!("feature {:?}", mutant.feature))?
            .undo()?;
    }
    let mut claims = claims(&mutants);
    let switched = match &list.guests {
        Some(guests) => faults(guests, &tree, &mutants, &claims)?,
        None => Vec::new(),
    };
    if args.dry {
        println!(
            "{} edits can be made, {} of them under switches",
            mutants.len(),
            switched.len()
        );
        return Ok(true);
    }

    for command in &list.setup {
        tree.must(command, "setup")?;
    }
    let runner = Runner {
        list: &list,
        tree: &tree,
    };
    runner.controls(&claims)?;
    if let Some(guests) = &list.guests {
        runner.under_switches(guests, &switched, &mut claims)?;
    }
    runner.one_by_one(&mut claims)?;

    let rows: Vec<_> = claims
        .iter()
        .filter_map(|c| Some((c.mutant, c.step, c.text, c.verdict?)))
        .collect();
    args.show(&outcome::markdown(&rows))?;
    let missed = rows.iter().filter(|r| r.3 != Verdict::Caught).count();
    println!("\n{} passed, {missed} failed", rows.len() - missed);
    Ok(missed == 0)
}

/// Return what the list claims of `mutants`.
fn claims<'a>(mutants: &[&'a Mutant]) -> Vec<Claim<'a>> {
    let mut claims = Vec::new();
    for (number, mutant) in mutants.iter().enumerate() {
        claims.extend(mutant.caught.iter().map(|(step, text)| Claim {
            number,
            mutant,
            step,
            text,
            verdict: None,
        }));
    }
    claims
}

/// Return the edits that guests must notice and that can be under a switch, with the module that each is in.
fn faults<'a>(
    guests: &'a GuestList,
    tree: &Tree,
    mutants: &[&Mutant],
    claims: &[Claim<'_>],
) -> Result<Vec<(usize, &'a Module, Fault)>> {
    let mut faults = Vec::new();
    for (number, mutant) in mutants.iter().enumerate() {
        let wanted = claims
            .iter()
            .any(|c| c.number == number && guests.has(c.step));
        let Some(module) = guests.module_of(&mutant.file).filter(|_| wanted) else {
            continue;
        };
        let text = fs::read_to_string(tree.checkout().join(&mutant.file))?;
        let source = Source::new(&text).with_context(|| mutant.file.clone())?;
        if let Some(fault) = source.fault(mutant) {
            faults.push((number, module, fault));
        }
    }
    Ok(faults)
}

/// Runs the steps of a list.
struct Runner<'a> {
    list: &'a List,
    tree: &'a Tree,
}

impl Runner<'_> {
    /// Run the host tests without any edit: a test that fails anyway proves nothing by failing.
    fn controls(&self, claims: &[Claim<'_>]) -> Result<()> {
        for step in &self.list.step {
            if claims.iter().any(|c| c.step == step.name) {
                passes(&step.name, &self.tree.run(step)?)?;
            }
        }
        Ok(())
    }

    /// Settle the claims of guests about edits under switches.
    fn under_switches(
        &self,
        guests: &GuestList,
        faults: &[(usize, &Module, Fault)],
        claims: &mut [Claim<'_>],
    ) -> Result<()> {
        if faults.is_empty() {
            return Ok(());
        }
        let edits = self.switch(guests, claims, faults)?;
        for command in &guests.build {
            self.tree.must(command, "guests")?;
        }
        let drivers: Vec<_> = guests.driver.iter().map(|d| d.name.as_str()).collect();
        let runner = Guests {
            tree: self.tree,
            suite: &guests.suite,
            library: &guests.library.name,
            drivers: &drivers,
        };
        let is_switched = |claim: &Claim<'_>| faults.iter().any(|f| f.0 == claim.number);

        for (step, driver) in &guests.kunit {
            let mut of_step: Vec<_> = claims
                .iter_mut()
                .filter(|c| c.step == *step && is_switched(c))
                .collect();
            if of_step.is_empty() {
                continue;
            }
            let numbers: Vec<_> = of_step.iter().map(|c| c.number as isize).collect();
            let failed = runner.kunit(driver, &numbers)?;
            for (claim, failed) in of_step.iter_mut().zip(failed) {
                claim.settle(Verdict::of(&failed, claim.text));
            }
        }
        let mut tried = BTreeSet::new();
        for claim in claims {
            if claim.verdict.is_some() || !guests.has(claim.step) || !is_switched(claim) {
                continue;
            }
            if tried.insert(claim.step) {
                passes(claim.step, &runner.run(claim.step, NONE, false)?)?;
            }
            let run = runner.run(claim.step, claim.number as isize, false)?;
            claim.settle(run.verdict(claim.text));
        }
        for edit in edits {
            edit.undo()?;
        }
        Ok(())
    }

    /// Put `faults` under switches, and give the modules their parameters.
    fn switch(
        &self,
        guests: &GuestList,
        claims: &[Claim<'_>],
        faults: &[(usize, &Module, Fault)],
    ) -> Result<Vec<Edit>> {
        let checkout = self.tree.checkout();
        let mut edits = Vec::new();
        let files: BTreeSet<_> = claims.iter().map(|c| c.mutant.file.as_str()).collect();
        for file in files {
            let here: Vec<_> = faults
                .iter()
                .filter(|f| {
                    let mut of = claims.iter().filter(|c| c.number == f.0);
                    of.any(|c| c.mutant.file == file)
                })
                .map(|(number, _, fault)| (*number as isize, fault.clone()))
                .collect();
            if !here.is_empty() {
                let text = fs::read_to_string(checkout.join(file))?;
                let text = Source::new(&text)?.with(&here);
                edits.push(self.tree.change(file, text)?);
            }
        }
        for module in guests.driver.iter().chain([&guests.library]) {
            let text = fs::read_to_string(checkout.join(&module.root))?;
            let text = with_parameter(&text, &[]).with_context(|| module.root.clone())?;
            edits.push(self.tree.change(&module.root, text)?);
        }
        Ok(edits)
    }

    /// Settle the claims that are left, with a build for each edit.
    fn one_by_one(&self, claims: &mut [Claim<'_>]) -> Result<()> {
        let mut tried = BTreeSet::new();
        for claim in claims.iter_mut().filter(|c| c.verdict.is_none()) {
            let guests = self.list.guests.as_ref().filter(|g| g.has(claim.step));
            // Host tests have been run without edits.
            if let Some(guests) = guests.filter(|_| tried.insert(claim.step)) {
                passes(claim.step, &self.guest(guests, claim.step)?)?;
            }
            let edit = self.tree.edit(claim.mutant)?;
            let run = match guests {
                Some(guests) => self.guest(guests, claim.step)?,
                None => self.tree.run(self.list.step(claim.step)?)?,
            };
            claim.settle(run.verdict(claim.text));
            edit.undo()?;
        }
        Ok(())
    }

    /// Build the modules and run a step in a guest.
    fn guest(&self, guests: &GuestList, step: &str) -> Result<Run> {
        for command in &guests.build {
            self.tree.must(command, "guests")?;
        }
        let runner = Guests {
            tree: self.tree,
            suite: &guests.suite,
            library: &guests.library.name,
            drivers: &[],
        };
        runner.run_plain(step)
    }
}

/// Check that a step passes without any edit.
fn passes(step: &str, run: &Run) -> Result<()> {
    ensure!(
        run.passed(),
        "{step} fails without any edit; its output is in {}",
        run.log.display()
    );
    eprintln!("{step} passes without any edit");
    Ok(())
}
