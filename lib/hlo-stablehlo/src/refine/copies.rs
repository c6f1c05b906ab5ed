//! The functions of a program, and their copies.

use super::failure::{Result, fail};
use super::fold::Integers;
use super::types;
use crate::Tree;
use crate::import::functions::callees;
use crate::text::type_text;
use crate::tree::{Name, Operation, Type, ValueId};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The functions of a program, and their copies.
pub(super) struct Functions<'t> {
    /// The functions of the program by name.
    symbols: HashMap<&'t str, &'t Operation>,
    /// The functions that contain unknown sizes or call such a function.
    pub dynamic: HashSet<&'t str>,
    /// The copies, by [`Request::key`].
    pub copies: HashMap<String, Rc<Copy>>,
    /// The names of all copies.
    names: HashSet<Name>,
    /// The functions whose copying is in progress, in the order of their calls.
    pub open: Vec<&'t str>,
}

/// A function and the arguments of a call.
pub(super) struct Request<'t> {
    pub function: &'t Operation,
    pub name: &'t str,
    pub types: Vec<Type>,
    /// The known integers of each argument for which the function is specialized.
    pub known: Vec<Option<Integers>>,
}

/// A copied function.
pub(super) struct Copy {
    pub name: Name,
    /// The type and the integers of each result.
    pub results: Vec<(Type, Option<Integers>)>,
    /// Whether the copy computes nothing because all its results are known.
    pub is_constant: bool,
}

impl Request<'_> {
    /// Returns a key that is equal for calls that can share a copy.
    pub fn key(&self) -> String {
        let mut key = self.name.to_owned();
        for (ty, known) in self.types.iter().zip(&self.known) {
            key += &format!("\n{}", type_text(ty));
            if let Some(integers) = known {
                key += &format!(" {integers:?}");
            }
        }
        key
    }
}

impl<'t> Functions<'t> {
    pub fn new(tree: &'t Tree) -> Self {
        let functions = tree.operations().iter().rev().filter(|op| op.name == "func.func");
        let symbols: HashMap<_, _> = functions.filter_map(|op| Some((op.symbol_name()?, op))).collect();
        let dynamic = dynamic_functions(tree, &symbols);
        Self { symbols, dynamic, copies: HashMap::new(), names: HashSet::new(), open: Vec::new() }
    }

    /// Returns the function of a name.
    pub fn find(&self, user: &Operation, name: &str) -> Result<(&'t str, &'t Operation)> {
        match self.symbols.get_key_value(name) {
            Some((&name, &function)) => Ok((name, function)),
            None => fail(user, format!("there is no function `{name}`")),
        }
    }

    /// Returns a name for a copy: that of the function, or that with a number.
    pub fn fresh_name(&mut self, name: &str) -> Name {
        let mut fresh = Name::from(name);
        let mut number = 0;
        while !self.names.insert(fresh.clone()) {
            // The names of other functions are reserved.
            loop {
                fresh = format!("{name}_{number}").into();
                number += 1;
                if !self.symbols.contains_key(&*fresh) {
                    break;
                }
            }
        }
        fresh
    }
}

/// Returns the functions that contain unknown sizes or call such a function.
fn dynamic_functions<'t>(tree: &'t Tree, symbols: &HashMap<&'t str, &'t Operation>) -> HashSet<&'t str> {
    let mut callers: HashMap<&str, Vec<&'t str>> = HashMap::new();
    let mut pending = Vec::new();
    for (&name, &function) in symbols {
        for (_, callee) in callees(function) {
            callers.entry(callee).or_default().push(name);
        }
        if has_unknown_sizes(tree, function) {
            pending.push(name);
        }
    }
    let mut dynamic = HashSet::new();
    while let Some(name) = pending.pop() {
        if dynamic.insert(name) {
            pending.extend(callers.get(name).into_iter().flatten());
        }
    }
    dynamic
}

/// Checks whether a value in a function has an unknown size.
fn has_unknown_sizes(tree: &Tree, function: &Operation) -> bool {
    let is_unknown = |&value: &ValueId| types::is_unknown(tree.type_of(value));
    let mut pending = vec![function];
    while let Some(op) = pending.pop() {
        if op.results.iter().any(is_unknown) {
            return true;
        }
        for block in op.regions.iter().flat_map(|r| &r.blocks) {
            if block.arguments.iter().any(is_unknown) {
                return true;
            }
            pending.extend(&block.operations);
        }
    }
    false
}
