//! Checks the rules of StableHLO that a translation to HLO would not check.
//!
//! HLO's verifier checks the sizes and element types of most operations. This module contains the rules on
//! what HLO lacks or expresses in another way: quantized types, result types that regions or constants
//! determine, attributes in the form of arrays, layouts, channels, accuracy. A report names the constraint of
//! the specification, such as `(C5)`, if it has a number.

mod attributes;
mod check;
mod collectives;
mod elementwise;
mod quantized;
mod regions;
mod results;
mod sizes;
mod transfers;

use crate::Tree;
use crate::tree::{Elements, Operation, ValueId};
use check::Check;
use hlo_ir::diag::Diag;
use hlo_ir::verify::MAX_REPORTS;
use std::collections::HashMap;
use std::sync::Arc;

/// Returns the violations in a program, in program order and up to [`MAX_REPORTS`]. The list is empty if the
/// program obeys these rules. Time and memory are nearly linear in the size of the program.
pub fn verify(tree: &Tree) -> Vec<Diag> {
    let mut constants: HashMap<ValueId, &Arc<Elements>> = HashMap::new();
    let mut reports = Vec::new();
    let mut pending: Vec<&Operation> = tree.operations().iter().rev().collect();
    while let Some(operation) = pending.pop() {
        if reports.len() >= MAX_REPORTS {
            break;
        }
        if let (Some(crate::tree::Attribute::Elements(value)), [result]) =
            (operation.attribute("value"), &operation.results[..])
        {
            constants.insert(*result, value);
        }
        check_operation(&mut Check::new(tree, operation, &constants, &mut reports));
        let blocks = operation.regions.iter().flat_map(|r| &r.blocks);
        let before = pending.len();
        pending.extend(blocks.flat_map(|b| &b.operations));
        if let Some(inner) = pending.get_mut(before..) {
            inner.reverse();
        }
    }
    reports.truncate(MAX_REPORTS);
    reports
}

/// Checks the rules of an operation.
fn check_operation(check: &mut Check<'_, '_>) {
    quantized::types(check);
    let name = check.operation.name.clone();
    match name.as_str() {
        "func.func" => quantized::arguments(check),
        "stablehlo.constant" => sizes::constant(check),
        "stablehlo.broadcast" => sizes::broadcast(check),
        "stablehlo.broadcast_in_dim" => quantized::broadcast_in_dim(check),
        "stablehlo.dynamic_broadcast_in_dim" => {
            sizes::by_operand(check, 1, "C7");
            quantized::broadcast_in_dim(check);
        }
        "stablehlo.dynamic_iota" => sizes::by_operand(check, 0, "C2"),
        "stablehlo.dynamic_reshape" => sizes::by_operand(check, 1, "C4"),
        "stablehlo.reshape" => {
            sizes::one_bounded(check);
            quantized::reshape(check);
        }
        "stablehlo.transpose" => {
            sizes::transpose(check);
            quantized::transpose(check);
        }
        "stablehlo.rng" => sizes::by_operand(check, 2, "C2"),
        "stablehlo.dot" => sizes::dot(check),
        "stablehlo.dot_general" => {
            attributes::product(check);
            quantized::dot_general(check);
        }
        "stablehlo.convolution" => {
            attributes::product(check);
            quantized::convolution(check);
        }
        "stablehlo.get_tuple_element" => results::element(check),
        "stablehlo.tuple" => results::tuple(check),
        "stablehlo.reduce" => results::reduce(check),
        "stablehlo.reduce_window" => attributes::window(check, false),
        "stablehlo.select_and_scatter" => {
            attributes::window(check, true);
            regions::gives_arrays(check);
        }
        "stablehlo.triangular_solve" => attributes::transpose_option(check),
        "stablehlo.custom_call" => attributes::custom_call(check),
        "stablehlo.if" | "stablehlo.case" => regions::branches(check),
        "stablehlo.async_start" => regions::asynchronous(check),
        "stablehlo.all_reduce" | "stablehlo.reduce_scatter" => collectives::reduction(check),
        "stablehlo.all_to_all" => collectives::all_to_all(check),
        "stablehlo.collective_broadcast" => collectives::broadcast(check),
        "stablehlo.send" => transfers::send(check),
        "stablehlo.recv" => transfers::recv(check),
        "chlo.scan" => sizes::scan(check),
        _ => elementwise::elementwise(check, name.as_str()),
    }
    if quantized::is_of_one_scale(&name) {
        quantized::one_scale(check);
    }
    attributes::accuracy(check);
}
