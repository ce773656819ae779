// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Takes each write and each wait of a driver away (see [`sites`]): which test notices?
//!
//! In the copy of the checkout every site gets a switch, and the modules a parameter that says which one is off (see
//! [`parameter`]). So the modules are built once. Sites are in the family's module and in what the library shares
//! between families. All sites go through the KUnit suites first, in one guest that loads the module again for each of
//! them. What is left goes through the steps of the list, each in a guest of its own, since a chip remembers what it
//! has been told, until one of them fails.
//!
//! A site that nothing notices must stand in the list with the reason why only silicon could. The list is right only if
//! all its entries are sites, and nothing notices them. Such sites pass all steps, so they are left out together first:
//! only if a step fails without all of them does each go through the steps.

mod parameter;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use self::parameter::{NONE, PARAMETER, REASONED, with_parameter, without};
use crate::{
    Args,
    list::Step,
    outcome::Run,
    sites::{self, Site, Source},
    tree::Tree,
};

/// Seconds that a guest may take for the KUnit suites of all sites.
const KUNIT_LIMIT: u64 = 3600;
/// Seconds that a step may take; its guest has a limit of its own.
const STEP_LIMIT: u64 = 900;

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
    /// Their folder. Names of sites begin with its last part.
    sources: String,
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
    let mut noticed = kunit(&tree, &list, &sites, &wanted)?;
    let mut guests = Guests {
        list: &list,
        tree: &tree,
        tried: BTreeSet::new(),
    };
    let reasoned = |at: &usize| list.reason(&sites[*at].name).is_some();
    let together = wanted.iter().any(reasoned) && guests.notice("", REASONED)?.is_none();
    for (at, noticed) in wanted.iter().zip(&mut noticed) {
        let site = &sites[*at];
        if noticed.is_none() && !(together && reasoned(at)) {
            *noticed = guests.notice(&site.name, *at as isize)?;
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
struct Guests<'a> {
    list: &'a List,
    tree: &'a Tree,
    tried: BTreeSet<&'a str>,
}

impl Guests<'_> {
    /// Run the steps without the site of that name and number, until one fails.
    fn notice(&mut self, name: &str, site: isize) -> Result<Option<Noticed>> {
        for step in self.list.steps_for(name) {
            // A step that fails anyway proves nothing by failing.
            if self.tried.insert(&step.name) {
                if let Some(noticed) = self.list.guest(self.tree, step, NONE)? {
                    bail!("{} fails with all sites: {}", step.name, noticed.test);
                }
                eprintln!("{} passes with all sites", step.name);
            }
            let noticed = self.list.guest(self.tree, step, site)?;
            if noticed.is_some() {
                return Ok(noticed);
            }
        }
        Ok(None)
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
        let all = self.sources.iter().chain([&self.shared.sources]);
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

    /// Run a guest step without one site.
    fn guest(&self, tree: &Tree, step: &GuestStep, site: isize) -> Result<Option<Noticed>> {
        let suite = fs::read_to_string(tree.checkout().join(&self.suite))?;
        let suite = without(
            &suite,
            &step.name,
            [&self.shared.module, &self.module],
            site,
        )
        .with_context(|| format!("in {}", self.suite))?;
        let file = "build/mutant-suite.toml";
        fs::write(tree.checkout().join(file), suite)?;
        let run = [
            "build/target/release/lapidary-runner",
            "--suite",
            file,
            "--out",
            "build/guests",
        ];
        let run = tree.run(&Step {
            name: step.name.clone(),
            build: Vec::new(),
            run: run.map(String::from).to_vec(),
            dir: String::new(),
            timeout: STEP_LIMIT,
        })?;
        Ok((!run.passed()).then(|| Noticed {
            step: step.name.clone(),
            test: complaint(&run),
        }))
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

/// Return what notices each of `wanted` in the KUnit suites.
fn kunit(
    tree: &Tree,
    list: &List,
    sites: &[Site],
    wanted: &[usize],
) -> Result<Vec<Option<Noticed>>> {
    // The control comes first, and last again: a site that leaves something behind must not fail those after it.
    let mut left: Vec<isize> = vec![NONE];
    left.extend(wanted.iter().map(|at| *at as isize));
    left.push(NONE);
    let mut results: Vec<(isize, Option<String>)> = Vec::new();
    while !left.is_empty() {
        let words = [
            "scripts/boot",
            "--out",
            "build/guests/kunit-each",
            "--chip",
            "none",
            "--append",
            "kunit.enable=1 log_buf_len=1M",
            "--timeout",
            &KUNIT_LIMIT.to_string(),
            "--",
            &kunit_job(list, &left),
        ]
        .map(String::from);
        tree.command(&words, "", KUNIT_LIMIT + 60, "kunit-each")?;
        let output = fs::read(tree.checkout().join("build/guests/kunit-each/job"))?;
        let shown = kunit_results(&String::from_utf8_lossy(&output));
        ensure!(
            !shown.is_empty(),
            "the guest for the KUnit suites did nothing; what it left is in build/guests/kunit-each of the copy"
        );
        left.drain(..shown.len().min(left.len()));
        results.extend(shown);
    }
    let results = controlled(results)?;
    eprintln!("KUnit passes with all sites, before and after");
    for (at, failed) in &results {
        let failed = failed.as_deref().unwrap_or("passes");
        if let Some(site) = usize::try_from(*at).ok().and_then(|at| sites.get(at)) {
            eprintln!("kunit: {failed}: {}", site.name);
        }
    }
    Ok(results
        .into_iter()
        .map(|(_, failed)| {
            failed.map(|test| Noticed {
                step: "kunit".into(),
                test,
            })
        })
        .collect())
}

/// Return the results of sites, without those of the controls around them, which must have passed.
fn controlled(mut results: Vec<(isize, Option<String>)>) -> Result<Vec<(isize, Option<String>)>> {
    let last = results.pop();
    let first = results.drain(..1.min(results.len())).next();
    for control in [first, last] {
        match control {
            Some((NONE, None)) => {}
            Some((NONE, Some(failed))) => bail!("KUnit fails with all sites: {failed}"),
            _ => bail!("KUnit was not run with all sites, before and after"),
        }
    }
    Ok(results)
}

/// Load library and driver once for each of `sites`, and show what the suites said.
fn kunit_job(list: &List, sites: &[isize]) -> String {
    let mut job = String::new();
    let (library, module) = (&list.shared.module, &list.module);
    let sites: Vec<_> = sites.iter().map(isize::to_string).collect();
    job += &format!("for site in {}; do\n", sites.join(" "));
    job += "echo \"site $site\"\n";
    job += "dmesg -c >/dev/null\n";
    job += &format!("load {library} {PARAMETER}=$site || echo 'not loaded'\n");
    job += &format!("load {module} {PARAMETER}=$site || echo 'not loaded'\n");
    job += "dmesg -c | grep -E '   (not )?ok |BUG|Oops|panic|WARNING'\n";
    job += &format!("rmmod {module} {library} || exit 1\necho done\ndone\n");
    job
}

/// Return the sites that such a job has run, each with what failed first.
///
/// The last one that began and did not end has taken the guest down.
fn kunit_results(output: &str) -> Vec<(isize, Option<String>)> {
    let mut results: Vec<(isize, Option<String>)> = Vec::new();
    let mut passed = 0;
    let mut ended = true;
    for line in output.lines() {
        if let Some(site) = line.strip_prefix("site ").and_then(|s| s.parse().ok()) {
            results.push((site, None));
            passed = 0;
            ended = false;
        } else if let Some((_, failed)) = results.last_mut() {
            let said = line.split_once("] ").map_or(line, |(_, said)| said);
            let case = |ok: &str| {
                let case = said.strip_prefix("   ")?.trim_start().strip_prefix(ok)?;
                Some(case.split_once(' ')?.1.to_owned())
            };
            if line == "done" {
                ended = true;
                if passed == 0 && failed.is_none() {
                    *failed = Some("no case ran".into());
                }
            } else if case("ok ").is_some() {
                passed += 1;
            } else if said.starts_with("ok ") || said.starts_with("not ok ") {
                // A whole suite.
            } else if failed.is_none() {
                *failed = Some(case("not ok ").unwrap_or_else(|| said.trim().to_owned()));
            }
        }
    }
    if let (false, Some((_, failed))) = (ended, results.last_mut()) {
        *failed = Some("the guest dies".into());
    }
    results
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> List {
        let head = "sources = [\"s\", \"s/t\"]\nroot = \"r.rs\"\nmodule = \"m\"\nshared = { sources = \"l/n\", root = \"l/l.rs\", module = \"l\" }\nsetup = []\nbuild = []\nsuite = \"t\"\n";
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
    }

    #[test]
    fn cases_that_fail_are_told_by_site() {
        let output = "site -1\n[ 1.0]     ok 1 a\n[ 1.0] ok 1 s\ndone\n\
            site 3\n[ 2.0]     ok 1 a\n[ 2.0]     not ok 2 b\n[ 2.0] not ok 1 s\ndone\n\
            site 4\ndone\n\
            site 5\n[ 3.0] BUG: x\n";
        assert_eq!(
            kunit_results(output),
            [
                (-1, None),
                (3, Some("b".into())),
                (4, Some("no case ran".into())),
                (5, Some("the guest dies".into())),
            ]
        );
    }

    #[test]
    fn sites_count_only_between_controls_that_pass() {
        let failed = || Some("a".to_owned());
        let run = |results: &[(isize, Option<String>)]| controlled(results.to_vec()).ok();
        let all = [(NONE, None), (3, failed()), (4, None), (NONE, None)];
        assert_eq!(run(&all), Some(all[1..3].to_vec()));
        assert_eq!(run(&[(NONE, failed()), (3, None), (NONE, None)]), None);
        assert_eq!(run(&[(NONE, None), (3, None), (NONE, failed())]), None);
        assert_eq!(run(&[(NONE, None), (3, None)]), None);
        assert_eq!(run(&[(NONE, None)]), None);
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
