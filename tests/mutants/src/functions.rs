// SPDX-License-Identifier: GPL-2.0 OR MIT

//! The functions of a source.

use syn::{Attribute, Block, ImplItem, Item, Signature, Type};

/// A function with a body.
pub struct Function<'a> {
    /// Its name, after that of the type that it belongs to.
    pub name: String,
    /// Its signature.
    pub signature: &'a Signature,
    /// Its body.
    pub block: &'a Block,
}

/// Return whether this is for the tests only.
fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("kunit_tests")
            || attribute.path().is_ident("cfg")
                && attribute
                    .meta
                    .require_list()
                    .is_ok_and(|list| list.tokens.to_string().contains("KUNIT"))
    })
}

/// Return the functions of a file, with those in modules and implementations.
pub fn functions(items: &[Item]) -> Vec<Function<'_>> {
    let mut found = Vec::new();
    for item in items {
        match item {
            Item::Fn(function) if !is_test(&function.attrs) => found.push(Function {
                name: function.sig.ident.to_string(),
                signature: &function.sig,
                block: &function.block,
            }),
            Item::Impl(item) if !is_test(&item.attrs) => {
                let of = match &*item.self_ty {
                    Type::Path(path) => path.path.segments.last().map(|s| s.ident.to_string()),
                    _ => None,
                };
                for inner in &item.items {
                    if let ImplItem::Fn(function) = inner {
                        let name = &function.sig.ident;
                        found.push(Function {
                            name: of
                                .as_ref()
                                .map_or(name.to_string(), |of| format!("{of}::{name}")),
                            signature: &function.sig,
                            block: &function.block,
                        });
                    }
                }
            }
            Item::Trait(item) => {
                for inner in &item.items {
                    if let syn::TraitItem::Fn(function) = inner {
                        if let Some(block) = &function.default {
                            found.push(Function {
                                name: format!("{}::{}", item.ident, function.sig.ident),
                                signature: &function.sig,
                                block,
                            });
                        }
                    }
                }
            }
            Item::Mod(module) if !is_test(&module.attrs) => {
                if let Some((_, items)) = &module.content {
                    found.extend(functions(items));
                }
            }
            _ => {}
        }
    }
    found
}
