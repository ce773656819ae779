// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Takes each write and each wait of a driver away (see [`sites`]): which test notices?
//!
//! In the copy of the checkout every site gets a switch, and the modules a parameter that says which one is off (see
//! [`crate::parameter`]). So the modules are built once. Sites are in the family's module and in what the library shares
//! between families. All sites go through the KUnit suites first, in one guest that loads the module again for each of
//! them. What is left goes through the steps of the list, each in a guest of its own, since a chip remembers what it
//! has been told, until one of them fails.
//!
//! A site that nothing notices must stand in the list with the reason why only silicon could. The list is right only if
//! all its entries are sites, and nothing notices them. Such sites pass all steps, so they are left out together first:
//! only if a step fails without all of them does each go through the steps.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::{
    Args,
    guests::Guests,
    outcome::Run,
    parameter::{NONE, REASONED, with_parameter},
    sites::{self, Site, Source},
    tree::Tree,
};

/// The list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    /// Folders of the driver's sources; those in folders below are not looked at. Names of sites in all but the first
    /// begin with the last part of the folder.
    sources: Vec<String>,
    /// The source that has the module's parameters.
    root: String,
    /// Code that several drivers share, which a library has.
    shared: Shared,
    /// The module.
    module: String,
    /// Builds everything.
    setup: Vec<Vec<String>>,
    /// Builds the modules and what holds them.
    build: Vec<Vec<String>>,
    /// Where the guest steps are described.
    suite: String,
    /// The guest steps, in the order in which they are tried.
    step: Vec<GuestStep>,
    /// What nothing notices.
    #[serde(default)]
    unseen: Vec<Unseen>,
}

/// Sources of a library.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Shared {
    /// Their folders. Names of sites begin with the last part of each.
    sources: Vec<String>,
    /// The library's source that has its module's parameters.
    root: String,
    /// The library's module, loaded before the driver's.
    module: String,
}

/// A guest step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct GuestStep {
    /// Its name in the suite.
    name: String,
    /// Beginnings of the names of sites that it is tried first for.
    #[serde(default)]
    first: Vec<String>,
}

/// A site that no test can notice.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Unseen {
    /// The site's name.
    site: String,
    /// Why.
    why: String,
}

/// Who noticed that a site was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Noticed {
    step: String,
    test: String,
}

/// Run the whole; true if all is as the list says.
///
/// # Errors
///
/// The list does not fit the driver, or something cannot be run.
pub fn run(args: &Args) -> Result<bool> {
    let text = fs::read_to_string(&args.list)
        .with_context(|| format!("cannot read {}", args.list.display()))?;
    let list: List =
        toml::from_str(&text).with_context(|| format!("in {}", args.list.display()))?;
    let tree = Tree::of_head(&args.tree)?;
    let mut sources = Vec::new();
    for (folder, prefix) in list.folders() {
        sources.extend(read(&tree.checkout().join(folder), &prefix)?);
    }
    let sites = sites::find(&sources)?;
    list.check(&sites)?;
    let wanted: Vec<usize> = (0..sites.len())
        .filter(|at| args.wants(&sites[*at].name))
        .collect();
    ensure!(!wanted.is_empty(), "no site has such a name");
    if args.dry {
        for at in &wanted {
            println!("{}", sites[*at].name);
        }
        println!(
            "{} sites, {} of them unseen",
            sites.len(),
            list.unseen.len()
        );
        return Ok(true);
    }

    for command in &list.setup {
        tree.must(command, "setup")?;
    }
    list.switch(&tree, &sources, &sites)?;
    for command in &list.build {
        tree.must(command, "build")?;
    }
    let mut steps = Steps {
        list: &list,
        guests: Guests {
            tree: &tree,
            suite: &list.suite,
            library: &list.shared.module,
            drivers: &[&list.module],
        },
        tried: BTreeSet::new(),
    };
    let mut noticed = steps.kunit(&sites, &wanted)?;
    let reasoned = |at: &usize| list.reason(&sites[*at].name).is_some();
    let together = wanted.iter().any(reasoned) && steps.notice("", REASONED)?.is_none();
    for (at, noticed) in wanted.iter().zip(&mut noticed) {
        let site = &sites[*at];
        if noticed.is_none() && !(together && reasoned(at)) {
            *noticed = steps.notice(&site.name, *at as isize)?;
        }
        eprintln!(
            "{}: {}",
            site.name,
            noticed
                .as_ref()
                .map_or("SURVIVED".into(), |n| format!("{}: {}", n.step, n.test))
        );
    }

    let rows: Vec<_> = wanted
        .iter()
        .map(|at| sites[*at].name.as_str())
        .zip(noticed)
        .collect();
    let (table, wrong) = list.judge(&rows);
    args.show(&table)?;
    println!("\n{} passed, {wrong} failed", rows.len() - wrong);
    Ok(wrong == 0)
}

/// The guest steps, and which of them are known to pass with all sites.
struct Steps<'a> {
    list: &'a List,
    guests: Guests<'a>,
    tried: BTreeSet<&'a str>,
}

impl Steps<'_> {
    /// Return what notices each of `wanted` in the KUnit suites.
    fn kunit(&self, sites: &[Site], wanted: &[usize]) -> Result<Vec<Option<Noticed>>> {
        let numbers: Vec<_> = wanted.iter().map(|at| *at as isize).collect();
        let failed = self.guests.kunit(&self.list.module, &numbers)?;
        let noticed = wanted.iter().zip(failed).map(|(at, failed)| {
            let first = failed.into_iter().next();
            let said = first.as_deref().unwrap_or("passes");
            eprintln!("kunit: {said}: {}", sites[*at].name);
            first.map(|test| Noticed {
                step: "kunit".into(),
                test,
            })
        });
        Ok(noticed.collect())
    }

    /// Run the steps without the site of that name and number, until one fails.
    fn notice(&mut self, name: &str, site: isize) -> Result<Option<Noticed>> {
        for step in self.list.steps_for(name) {
            // A step that fails anyway proves nothing by failing.
            if self.tried.insert(&step.name) {
                if let Some(noticed) = self.run(step, NONE)? {
                    bail!("{} fails with all sites: {}", step.name, noticed.test);
                }
                eprintln!("{} passes with all sites", step.name);
            }
            let noticed = self.run(step, site)?;
            if noticed.is_some() {
                return Ok(noticed);
            }
        }
        Ok(None)
    }

    /// Run a step without one site, to the first test that fails.
    fn run(&self, step: &GuestStep, site: isize) -> Result<Option<Noticed>> {
        let run = self.guests.run(&step.name, site, true)?;
        Ok((!run.passed()).then(|| Noticed {
            step: step.name.clone(),
            test: complaint(&run),
        }))
    }
}

/// Return the sources of a folder, by name, which begins with `prefix`.
fn read(folder: &Path, prefix: &str) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    for entry in
        fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            sources.push(Source {
                name: format!("{prefix}{name}"),
                text: fs::read_to_string(&path)?,
            });
        }
    }
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}

impl List {
    /// Check that all entries are sites, once.
    fn check(&self, sites: &[Site]) -> Result<()> {
        for (at, entry) in self.unseen.iter().enumerate() {
            ensure!(
                sites.iter().any(|site| site.name == entry.site),
                "the list has an entry that is no site (any more): {}",
                entry.site
            );
            ensure!(
                !entry.why.trim().is_empty(),
                "no reason is given for {}",
                entry.site
            );
            let again = self.unseen[..at].iter().any(|e| e.site == entry.site);
            ensure!(!again, "the list has an entry twice: {}", entry.site);
        }
        Ok(())
    }

    /// Put all sites of the copy under switches.
    fn switch(&self, tree: &Tree, sources: &[Source], sites: &[Site]) -> Result<()> {
        let reasoned: Vec<_> = (0..sites.len())
            .filter(|at| self.reason(&sites[*at].name).is_some())
            .collect();
        for (index, source) in sources.iter().enumerate() {
            let mut text = sites::switched(sources, sites, index);
            if source.name == self.root {
                text = with_parameter(&text, &reasoned)?;
            }
            let path = tree.checkout().join(self.path(&source.name));
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
        }
        let root = tree.checkout().join(&self.shared.root);
        let text =
            fs::read_to_string(&root).with_context(|| format!("cannot read {}", root.display()))?;
        fs::write(&root, with_parameter(&text, &reasoned)?)
            .with_context(|| format!("cannot write {}", root.display()))
    }

    /// Return all folders of sources, with what the names of those in it begin with.
    fn folders(&self) -> impl Iterator<Item = (&Path, String)> {
        let all = self.sources.iter().chain(&self.shared.sources);
        all.enumerate().map(|(index, folder)| {
            let folder = Path::new(folder);
            let last = folder.file_name().unwrap_or_default().to_string_lossy();
            let prefix = if index == 0 {
                String::new()
            } else {
                format!("{last}/")
            };
            (folder, prefix)
        })
    }

    /// Return where the source of that name is.
    fn path(&self, name: &str) -> PathBuf {
        let (prefix, file) = name.split_at(name.rfind('/').map_or(0, |at| at + 1));
        self.folders()
            .find(|(_, of)| of == prefix)
            .map_or_else(PathBuf::new, |(folder, _)| folder.join(file))
    }

    /// Return the entry for a site that nothing notices.
    fn reason(&self, site: &str) -> Option<&Unseen> {
        self.unseen.iter().find(|entry| entry.site == site)
    }

    /// Return the steps, those first that are meant for a site of that name.
    fn steps_for(&self, site: &str) -> impl Iterator<Item = &GuestStep> {
        let is_first = move |step: &&GuestStep| step.first.iter().any(|f| site.starts_with(f));
        let rest = self.step.iter().filter(move |step| !is_first(step));
        self.step.iter().filter(is_first).chain(rest)
    }

    /// Return the table, and how many rows are not as they should be.
    fn judge(&self, rows: &[(&str, Option<Noticed>)]) -> (String, usize) {
        let mut table = String::from("| without | fails in | test |\n| --- | --- | --- |\n");
        let mut wrong = 0;
        for (name, noticed) in rows {
            let (step, test) = match (noticed, self.reason(name)) {
                (Some(noticed), None) => (noticed.step.as_str(), noticed.test.clone()),
                (None, Some(reason)) => ("nothing", reason.why.trim().to_owned()),
                (Some(noticed), Some(_)) => {
                    wrong += 1;
                    let test = format!("{}, BUT THE LIST SAYS NOTHING NOTICES", noticed.test);
                    (noticed.step.as_str(), test)
                }
                (None, None) => {
                    wrong += 1;
                    ("", "SURVIVED".into())
                }
            };
            let cell = |text: &str| text.replace('|', "\\|").replace('\n', " ");
            table += &format!("| `{}` | {step} | {} |\n", cell(name), cell(&test));
        }
        (table, wrong)
    }
}

/// Return what failed first in a run of the runner: a test of the guest if one did.
fn complaint(run: &Run) -> String {
    let lines = || run.output.lines().filter_map(|l| l.strip_prefix("    "));
    let test = lines().find_map(|l| l.strip_prefix("test ")?.split_once(" ... FAILED"));
    match test {
        Some((test, _)) => test.to_owned(),
        None => lines().next().unwrap_or("the runner failed").to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> List {
        let head = "sources = [\"s\", \"s/t\"]\nroot = \"r.rs\"\nmodule = \"m\"\nshared = { sources = [\"l/n\", \"l/o\"], root = \"l/l.rs\", module = \"l\" }\nsetup = []\nbuild = []\nsuite = \"t\"\n";
        toml::from_str(&format!("{head}{text}")).unwrap()
    }

    fn noticed(step: &str, test: &str) -> Option<Noticed> {
        Some(Noticed {
            step: step.into(),
            test: test.into(),
        })
    }

    #[test]
    fn survivors_and_stale_entries_are_wrong() {
        let list = list(
            "step = []\n[[unseen]]\nsite = \"a\"\nwhy = \"w\"\n[[unseen]]\nsite = \"b\"\nwhy = \"w\"\n",
        );
        let rows = [
            ("a", None),
            ("b", noticed("kunit", "t")),
            ("c", noticed("guest", "u|v")),
            ("d", None),
        ];
        let (table, wrong) = list.judge(&rows);
        assert_eq!(wrong, 2);
        assert!(table.contains("| `a` | nothing | w |"));
        assert!(table.contains("| `b` | kunit | t, BUT"));
        assert!(table.contains("| `c` | guest | u\\|v |"));
        assert!(table.contains("| `d` |  | SURVIVED |"));
    }

    #[test]
    fn entries_are_sites() {
        let sources = [Source {
            name: "a.rs".into(),
            text: "fn f() { w.write(A); }".into(),
        }];
        let sites = sites::find(&sources).unwrap();
        let entry = "[[unseen]]\nsite = \"a.rs f: w.write(A);\"\nwhy = \"w\"\n";
        let checked = |text: &str| list(&format!("step = []\n{text}")).check(&sites);
        assert!(checked(entry).is_ok());
        assert!(checked(&entry.repeat(2)).is_err());
        assert!(checked(&entry.replace("A)", "B)")).is_err());
        assert!(checked(&entry.replace("\"w\"", "\" \"")).is_err());
    }

    #[test]
    fn steps_that_are_meant_come_first() {
        let list = list(
            "[[step]]\nname = \"a\"\n[[step]]\nname = \"b\"\nfirst = [\"irq.rs\", \"cp.rs stop\"]\n",
        );
        let names = |site| -> Vec<_> { list.steps_for(site).map(|s| s.name.as_str()).collect() };
        assert_eq!(names("cp.rs stop: x"), ["b", "a"]);
        assert_eq!(names("cp.rs start: x"), ["a", "b"]);
    }

    #[test]
    fn a_source_is_found_by_its_name() {
        let list = list("step = []");
        assert_eq!(list.path("a.rs"), Path::new("s/a.rs"));
        assert_eq!(list.path("t/a.rs"), Path::new("s/t/a.rs"));
        assert_eq!(list.path("n/a.rs"), Path::new("l/n/a.rs"));
        assert_eq!(list.path("o/a.rs"), Path::new("l/o/a.rs"));
    }

    #[test]
    fn a_test_that_fails_has_a_name() {
        let run = |output: &str| Run {
            ok: false,
            output: output.into(),
            log: "".into(),
        };
        let failed = run(
            "s: FAILED (3 s)\n    the job failed: exit status: 1\n    test a/b ... FAILED (why)\n",
        );
        assert_eq!(complaint(&failed), "a/b");
        assert_eq!(
            complaint(&run("s: FAILED\n    undeclared finding x 1\n")),
            "undeclared finding x 1"
        );
    }
}
