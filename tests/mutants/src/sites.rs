// SPDX-License-Identifier: GPL-2.0 OR MIT

//! Finds every place where a driver tells its chip something, or waits for it.
//!
//! A *site* is a statement that can be left out:
//!
//! - a write to a register, to the ring or to memory that the chip reads;
//! - a read whose value is not used, which waits for the writes before it;
//! - a delay;
//! - a poll, without which the driver goes on with the first value;
//! - a call of a function of the driver that has such a statement.
//!
//! Functions are told apart by name only, since a statement too many in the list does no harm.
//!
//! A file is parsed, with what stands in braces in the macros that initialise structures. Modules of tests are left
//! out. A write that stands where no statement can be left out is an error, so that none is forgotten.

use std::{collections::BTreeSet, ops::Range};

use anyhow::{Result, bail, ensure};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Block, Expr, ReturnType, Signature, Stmt, Type,
    parse::Parser,
    spanned::Spanned,
    visit::{self, Visit},
};

use crate::{functions::functions, parameter::ASK};

/// Methods that write.
const WRITES: [&str; 9] = [
    "write",
    "write_reg",
    "update",
    "put",
    "emit",
    "write8",
    "try_write8",
    "try_write32",
    "try_write64",
];
/// Methods that read.
const READS: [&str; 4] = ["read", "try_read8", "try_read32", "try_read64"];
/// Functions that wait for a time.
const DELAYS: [&str; 3] = ["fsleep", "udelay", "ndelay"];
/// Functions that wait for a condition: the first argument looks, the second says whether it holds.
const POLLS: [&str; 2] = ["read_poll_timeout", "read_poll_timeout_atomic"];
/// Macros that write.
const MACROS: [&str; 1] = ["io_write"];
/// Modules of portable code whose functions write: commands, and what the video BIOS asks for.
const MODULES: [&str; 2] = ["emit", "atom"];
/// Functions that are never left out for what they call: all values come from them.
const MAKERS: [&str; 1] = ["new"];

/// A file of the driver.
pub struct Source {
    /// Its name, without folders.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A statement that can be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    /// Index of its file.
    pub file: usize,
    /// What it is called: file, function, text, and a number if the function has the text more than once.
    pub name: String,
    /// Where it stands.
    range: Range<usize>,
    /// What stands there when it is left out.
    without: String,
}

/// What the value of the last expression of a block is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tail {
    /// Nothing.
    Unit,
    /// `Result<()>`.
    Ok,
    /// `Option<()>`.
    Some,
    /// Something that cannot be made up.
    Value,
}

/// Return all sites of `sources`, in order.
///
/// # Errors
///
/// A file cannot be parsed, or has a write where no statement can be left out.
pub fn find(sources: &[Source]) -> Result<Vec<Site>> {
    let mut files = Vec::new();
    for source in sources {
        match syn::parse_file(&source.text) {
            Ok(file) => files.push(file),
            Err(error) => bail!("{}: {error}", source.name),
        }
    }
    let acting = acting(&files);
    let mut all = Vec::new();
    for (index, (source, file)) in sources.iter().zip(&files).enumerate() {
        let mut finder = Finder {
            source,
            file: index,
            acting: &acting,
            function: String::new(),
            sites: Vec::new(),
        };
        for function in functions(&file.items) {
            finder.function.clone_from(&function.name);
            finder.block(&function.block.stmts, tail_of(function.signature));
        }
        let mut sites = finder.sites;
        for place in writes_in(file) {
            let covered = sites
                .iter()
                .any(|s| s.range.start <= place.start && place.end <= s.range.end);
            let line = source.text[..place.start].lines().count();
            ensure!(
                covered,
                "{}:{line}: a write that cannot be left out",
                source.name
            );
        }
        number(&mut sites);
        all.append(&mut sites);
    }
    Ok(all)
}

/// Return the text of file `index` with each of its sites under a switch, which has the site's position in `sites` as
/// number.
pub fn switched(sources: &[Source], sites: &[Site], index: usize) -> String {
    let mut inserted: Vec<(usize, bool, isize, String)> = Vec::new();
    for (at, site) in sites.iter().enumerate().filter(|(_, s)| s.file == index) {
        // Where several begin or end, the inner ones begin last and end first.
        let order = at as isize;
        let open = format!("if {ASK}({at}) {{ ");
        let close = format!(" }}{}", site.without);
        inserted.push((site.range.start, true, order, open));
        inserted.push((site.range.end, false, -order, close));
    }
    inserted.sort();
    let source = &sources[index].text;
    let mut text = String::new();
    let mut done = 0;
    for (at, _, _, insertion) in inserted {
        text += &source[done..at];
        text += &insertion;
        done = at;
    }
    text + &source[done..]
}

/// Give those that have a name in common numbers.
fn number(sites: &mut [Site]) {
    for at in 0..sites.len() {
        let name = sites[at].name.clone();
        let same: Vec<usize> = (at..sites.len())
            .filter(|i| sites[*i].name == name)
            .collect();
        if same.len() > 1 {
            for (count, index) in same.into_iter().enumerate() {
                sites[index].name = format!("{name} #{}", count + 1);
            }
        }
    }
}

/// Return the names of the functions that have a site, or call one that has.
fn acting(files: &[syn::File]) -> BTreeSet<String> {
    let mut acting = BTreeSet::new();
    loop {
        let before = acting.len();
        for function in files.iter().flat_map(|file| functions(&file.items)) {
            let name = function.signature.ident.to_string();
            // Everything reads registers, and some of these are behind an index.
            let value = READS.contains(&name.as_str()) || MAKERS.contains(&name.as_str());
            if value || acting.contains(&name) {
                continue;
            }
            let mut look = Look::new(&acting);
            look.visit_block(function.block);
            if look.found {
                acting.insert(name);
            }
        }
        if acting.len() == before {
            return acting;
        }
    }
}

fn tail_of(signature: &Signature) -> Tail {
    let ReturnType::Type(_, of) = &signature.output else {
        return Tail::Unit;
    };
    let Type::Path(path) = &**of else {
        return Tail::Value;
    };
    let Some(last) = path.path.segments.last() else {
        return Tail::Value;
    };
    let nothing = match &last.arguments {
        syn::PathArguments::None => true,
        syn::PathArguments::AngleBracketed(arguments) => matches!(
            arguments.args.first(),
            Some(syn::GenericArgument::Type(Type::Tuple(tuple))) if tuple.elems.is_empty()
        ),
        syn::PathArguments::Parenthesized(_) => false,
    };
    match last.ident.to_string().as_str() {
        "Result" if nothing => Tail::Ok,
        "Option" if nothing => Tail::Some,
        _ => Tail::Value,
    }
}

/// Looks whether something acts.
struct Look<'a> {
    acting: &'a BTreeSet<String>,
    found: bool,
}

impl<'a> Look<'a> {
    fn new(acting: &'a BTreeSet<String>) -> Self {
        Self {
            acting,
            found: false,
        }
    }

    fn is_acting(&self, name: &str) -> bool {
        self.acting.contains(name)
    }

    /// Return whether a called function acts.
    fn call(&self, function: &Expr) -> bool {
        let Expr::Path(path) = function else {
            return false;
        };
        let names: Vec<_> = path
            .path
            .segments
            .iter()
            .map(|s| s.ident.to_string())
            .collect();
        let last = names.last().map_or("", String::as_str);
        DELAYS.contains(&last)
            || POLLS.contains(&last)
            || matches!(names.as_slice(), [first, _] if MODULES.contains(&first.as_str()))
            || self.is_acting(last)
    }
}

impl Visit<'_> for Look<'_> {
    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        self.found |= self.call(&call.func);
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &syn::ExprMethodCall) {
        let name = call.method.to_string();
        self.found |= WRITES.contains(&name.as_str()) || self.is_acting(&name);
        visit::visit_expr_method_call(self, call);
    }

    fn visit_macro(&mut self, makro: &syn::Macro) {
        self.found |= MACROS.iter().any(|name| makro.path.is_ident(name));
        for (_, statements) in blocks_of(&makro.tokens) {
            for statement in &statements {
                self.visit_stmt(statement);
            }
        }
    }
}

/// Return the blocks in a macro's tokens that are the values of fields, each with whether its field has a name.
fn blocks_of(tokens: &TokenStream) -> Vec<(bool, Vec<Stmt>)> {
    let mut blocks = Vec::new();
    let trees: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, tree) in trees.iter().enumerate() {
        let TokenTree::Group(group) = tree else {
            continue;
        };
        let before = |back: usize| at.checked_sub(back).and_then(|index| trees.get(index));
        let colon = matches!(before(1), Some(TokenTree::Punct(p)) if p.as_char() == ':');
        let statements = (colon && group.delimiter() == Delimiter::Brace)
            .then(|| Block::parse_within.parse2(group.stream()).ok())
            .flatten();
        match statements {
            Some(statements) => {
                let named = !matches!(before(2), Some(TokenTree::Ident(i)) if i == "_");
                blocks.push((named, statements));
            }
            None => blocks.extend(blocks_of(&group.stream())),
        }
    }
    blocks
}

/// Return where the files' writes stand, by their tokens, those of macros too.
fn writes_in(file: &syn::File) -> Vec<Range<usize>> {
    fn walk(tokens: TokenStream, found: &mut Vec<Range<usize>>) {
        let trees: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, tree) in trees.iter().enumerate() {
            let TokenTree::Ident(name) = tree else {
                if let TokenTree::Group(group) = tree {
                    walk(group.stream(), found);
                }
                continue;
            };
            let dot = at.checked_sub(1).and_then(|index| trees.get(index));
            let dot = matches!(dot, Some(TokenTree::Punct(p)) if p.as_char() == '.');
            let called = matches!(trees.get(at + 1), Some(TokenTree::Group(_)));
            if dot && called && WRITES.contains(&name.to_string().as_str()) {
                found.push(name.span().byte_range());
            }
        }
    }
    let mut found = Vec::new();
    for function in functions(&file.items) {
        let mut tokens = TokenStream::new();
        quote::ToTokens::to_tokens(function.block, &mut tokens);
        walk(tokens, &mut found);
    }
    found
}

/// Collects the sites of one file.
struct Finder<'a> {
    source: &'a Source,
    file: usize,
    acting: &'a BTreeSet<String>,
    function: String,
    sites: Vec<Site>,
}

impl Finder<'_> {
    fn site(&mut self, range: Range<usize>, without: &str) {
        let text = &self.source.text[range.clone()];
        // Comments in it are no part of the name.
        let text: Vec<_> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.starts_with("//"))
            .collect();
        let text = text.join(" ").replace("( ", "(").replace(", )", ")");
        let text = text.replace(" .", ".").replace(",)", ")");
        self.sites.push(Site {
            file: self.file,
            name: format!("{} {}: {text}", self.source.name, self.function),
            range,
            without: without.into(),
        });
    }

    fn acts(&self, expr: &Expr) -> bool {
        let mut look = Look::new(self.acting);
        look.visit_expr(expr);
        look.found
    }

    /// Look through the statements of a block, whose last may be its value.
    fn block(&mut self, statements: &[Stmt], tail: Tail) {
        for (at, statement) in statements.iter().enumerate() {
            let last = at + 1 == statements.len();
            let range = statement.span().byte_range();
            match statement {
                Stmt::Local(local) => {
                    let Some(init) = &local.init else { continue };
                    let ignored = matches!(local.pat, syn::Pat::Wild(_));
                    if ignored && (self.acts(&init.expr) || is_read(&init.expr)) {
                        self.site(range, "");
                    }
                    self.visit_expr(&init.expr);
                }
                Stmt::Expr(expr, semicolon) => {
                    let tail = match semicolon {
                        None if last => tail,
                        _ => Tail::Unit,
                    };
                    self.statement(expr, range, tail);
                }
                Stmt::Macro(statement) => {
                    let name = &statement.mac.path;
                    if MACROS.iter().any(|m| name.is_ident(m)) {
                        self.site(range, "");
                    } else {
                        self.visit_macro(&statement.mac);
                    }
                }
                Stmt::Item(_) => {}
            }
        }
    }

    /// Look at a statement, or a value, that is an expression.
    fn statement(&mut self, expr: &Expr, range: Range<usize>, tail: Tail) {
        match expr {
            Expr::If(expr) => {
                self.visit_expr(&expr.cond);
                self.block(&expr.then_branch.stmts, tail);
                if let Some((_, other)) = &expr.else_branch {
                    self.statement(other, other.span().byte_range(), tail);
                }
            }
            Expr::Match(expr) => {
                self.visit_expr(&expr.expr);
                for arm in &expr.arms {
                    self.statement(&arm.body, arm.body.span().byte_range(), tail);
                }
            }
            Expr::Block(expr) => self.block(&expr.block.stmts, tail),
            Expr::Unsafe(expr) => self.block(&expr.block.stmts, tail),
            Expr::ForLoop(expr) => {
                self.visit_expr(&expr.expr);
                self.block(&expr.body.stmts, Tail::Unit);
            }
            Expr::While(expr) => {
                self.visit_expr(&expr.cond);
                self.block(&expr.body.stmts, Tail::Unit);
            }
            Expr::Loop(expr) => self.block(&expr.body.stmts, Tail::Unit),
            Expr::Return(_) | Expr::Break(_) | Expr::Continue(_) => self.visit_expr(expr),
            _ => {
                let discarded = tail == Tail::Unit && is_read(expr);
                if tail != Tail::Value && (discarded || self.acts(expr)) {
                    let without = match tail {
                        Tail::Unit | Tail::Value => "",
                        Tail::Ok => " else { Ok(()) }",
                        Tail::Some => " else { Some(()) }",
                    };
                    self.site(range, without);
                }
                self.visit_expr(expr);
            }
        }
    }
}

/// Return whether it reads, and nothing else.
fn is_read(expr: &Expr) -> bool {
    match expr {
        Expr::MethodCall(call) if call.method == "ok" => is_read(&call.receiver),
        Expr::MethodCall(call) => READS.contains(&call.method.to_string().as_str()),
        Expr::Try(expr) => is_read(&expr.expr),
        _ => false,
    }
}

/// Sites inside expressions.
impl Visit<'_> for Finder<'_> {
    fn visit_expr_call(&mut self, call: &syn::ExprCall) {
        let poll = match &*call.func {
            Expr::Path(path) => path
                .path
                .segments
                .last()
                .is_some_and(|s| POLLS.iter().any(|name| s.ident == name)),
            _ => false,
        };
        if let (true, Some(look)) = (poll, call.args.first()) {
            let look = &self.source.text[look.span().byte_range()];
            let without = format!(" else {{ ({look})() }}");
            self.site(call.span().byte_range(), &without);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_closure(&mut self, closure: &syn::ExprClosure) {
        self.visit_expr(&closure.body);
    }

    fn visit_block(&mut self, block: &Block) {
        self.block(&block.stmts, Tail::Value);
    }

    fn visit_expr_match(&mut self, expr: &syn::ExprMatch) {
        self.visit_expr(&expr.expr);
        for arm in &expr.arms {
            self.statement(&arm.body, arm.body.span().byte_range(), Tail::Value);
        }
    }

    fn visit_macro(&mut self, makro: &syn::Macro) {
        for (named, statements) in blocks_of(&makro.tokens) {
            let tail = if named { Tail::Value } else { Tail::Unit };
            self.block(&statements, tail);
        }
    }
}

#[cfg(test)]
mod tests;
