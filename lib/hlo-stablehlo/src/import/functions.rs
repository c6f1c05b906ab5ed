//! Translation of functions to computations, in the order callees first.

use super::failure::{Failure, Result};
use super::importer::{ImportedValue, Importer, Site};
use super::ops::chlo;
use crate::tree::{Attribute, Block, Operation};
use hlo_ir::build::Build;
use hlo_ir::{ComputationId, InstrId, Op};
use std::collections::HashMap;

/// The state of a function in the traversal of calls.
#[derive(Clone, Copy, PartialEq)]
enum Visit {
    /// The traversal of its callees is in progress.
    Open,
    Done,
}

/// Returns the functions that a function calls: through calls, composites and custom calls.
pub(crate) fn callees(function: &Operation) -> Vec<(&Operation, &str)> {
    let mut found = Vec::new();
    let mut pending = vec![function];
    while let Some(op) = pending.pop() {
        let symbol = |name: &str| op.attribute(name).and_then(Attribute::as_str);
        match &*op.name {
            "func.call" => found.extend(symbol("callee").map(|s| (op, s))),
            "stablehlo.composite" if !chlo::is_known_composite(op) => {
                found.extend(symbol("decomposition").map(|s| (op, s)));
            }
            "stablehlo.custom_call" => {
                let list =
                    op.attribute("called_computations").and_then(Attribute::as_array).unwrap_or_default();
                found.extend(list.iter().filter_map(|a| Some((op, a.as_str()?))));
            }
            _ => {}
        }
        let blocks = op.regions.iter().flat_map(|r| &r.blocks);
        pending.extend(blocks.flat_map(|b| &b.operations));
    }
    found
}

impl<'t> Importer<'t> {
    /// Translates `main` and all functions that it reaches. Returns the computation of `main` unless
    /// something failed.
    pub fn functions(&mut self) -> Option<ComputationId> {
        let main = match self.entry_function() {
            Ok(main) => main,
            Err(diag) => {
                self.report(Failure::Because(Box::new(diag)));
                return None;
            }
        };
        for function in self.in_order_of_calls(main) {
            let made = self.function(function, std::ptr::eq(function, main));
            let id = made.map_err(|failure| self.report(failure)).ok();
            if let Some(name) = function.symbol_name() {
                self.computations.insert(name, id);
            }
            if std::ptr::eq(function, main) {
                return id;
            }
        }
        None
    }

    /// Returns the functions that `main` reaches, callees first. Reports recursion.
    fn in_order_of_calls(&mut self, main: &'t Operation) -> Vec<&'t Operation> {
        let mut order = Vec::new();
        let mut visits: HashMap<*const Operation, Visit> =
            HashMap::from([(std::ptr::from_ref(main), Visit::Open)]);
        let mut open = vec![(main, callees(main))];
        while let Some((function, calls)) = open.last_mut() {
            let function = *function;
            let Some((call, name)) = calls.pop() else {
                visits.insert(function, Visit::Done);
                order.push(function);
                open.pop();
                continue;
            };
            let Some(&callee) = self.symbols.get(name) else { continue };
            match visits.get(&std::ptr::from_ref(callee)) {
                Some(Visit::Done) => {}
                Some(Visit::Open) => {
                    let message = format!("`{name}` calls itself, by way of this: HLO has no recursion");
                    self.report(call.failure(message));
                }
                None => {
                    visits.insert(callee, Visit::Open);
                    open.push((callee, callees(callee)));
                }
            }
        }
        order
    }

    /// Returns the computation of a called function.
    pub fn called(&self, op: &Operation, name: &str) -> Result<ComputationId> {
        match self.computations.get(name) {
            Some(Some(id)) => Ok(*id),
            Some(None) => Err(Failure::Reported),
            // The function is part of a recursion, which was reported.
            None if self.symbols.get(name).is_some_and(|f| f.name == "func.func") => Err(Failure::Reported),
            None => op.fail(format!("there is no function `{name}`")),
        }
    }

    fn function(&mut self, function: &'t Operation, is_entry: bool) -> Result<ComputationId> {
        let Some(block) = function.body() else {
            let blocks: usize = function.regions.iter().map(|r| r.blocks.len()).sum();
            return function.fail(format!("a function of one block is needed: it has {blocks}"));
        };
        let name = function.symbol_name().unwrap_or("main");
        let name = self.names.fresh(name);
        let computation = self.module.add_computation(&name);
        if function.attribute("execution_thread").is_some() {
            self.module[computation].execution_thread = Some(function.bytes_or_empty("execution_thread")?);
        }
        self.site = Site::new(computation);
        for number in 0..block.arguments.len() {
            self.argument(function, block, number, is_entry)?;
        }
        let results = self.block(block)?;
        self.site = Site::new(computation);
        let root = self.function_result(function, &results)?;
        self.module.set_root(computation, root);
        Ok(computation)
    }

    fn argument(&mut self, function: &Operation, block: &Block, number: usize, is_entry: bool) -> Result<()> {
        let Some(&value) = block.arguments.get(number) else { return Ok(()) };
        self.site = self.argument_site(function, number, value, is_entry)?;
        let parameter = self.parameter(function, value, number)?;
        self.annotate(parameter);
        if let Some(replicated) = self.replication(function, number)? {
            self.module.common_mut(parameter).parameter_replication = replicated;
        }
        self.set_representation(value, ImportedValue::Instruction(parameter));
        Ok(())
    }

    /// Returns the root of a function's computation: its only result or a tuple, with the shardings of the
    /// results.
    fn function_result(&mut self, function: &Operation, results: &[InstrId]) -> Result<InstrId> {
        let shardings = self.result_shardings(function, results)?;
        let tuple_sharding = shardings.as_ref().map(|s| super::shardings::tuple_of(s));
        match (results, shardings) {
            ([one], None) => Ok(*one),
            ([one], Some(shardings)) => {
                let tuple = self.tuple(results);
                let own = self.module[*one].sharding().cloned();
                if own.is_some() {
                    let own = super::shardings::tuple_of(&[own]);
                    self.module.common_mut(tuple).sharding = Some(own);
                }
                let root = self.add(self.module[*one].shape.clone(), Op::get_tuple_element(0), &[tuple]);
                self.module.common_mut(root).sharding = shardings.into_iter().next().flatten();
                Ok(root)
            }
            (results, _) => {
                let root = self.tuple(results);
                if tuple_sharding.is_some() {
                    self.module.common_mut(root).sharding = tuple_sharding;
                }
                Ok(root)
            }
        }
    }
}
