//! Printing of forms that only one operation has.

use super::attribute;
use super::operation::Printer;
use super::types;
use crate::text::format::COMMUTATIVE;
use crate::tree::{Attribute, Attributes, Operation, Type, TypeKind};
use std::fmt::Write;

impl Printer<'_> {
    pub fn constant(&mut self, op: &Operation) {
        let result = op.results.first().map(|&v| self.tree.type_of(v));
        match op.attribute("value") {
            Some(value @ Attribute::Elements(elements)) if Some(&elements.ty) == result => {
                self.attributes(op, &["value"], "");
                self.out.push(' ');
                attribute::write(&mut self.out, value);
            }
            _ => self.generic(op),
        }
    }

    pub fn reduce(&mut self, op: &Operation) {
        let (inputs, inits) = op.operands.split_at(op.operands.len() / 2);
        for (i, (&input, &init)) in inputs.iter().zip(inits).enumerate() {
            self.text(if i > 0 { ", (" } else { "(" });
            self.operand(input);
            self.text(" init: ");
            self.operand(init);
            self.out.push(')');
        }
        let applied = self.applied(op);
        if let Some(name) = applied {
            let _ = write!(self.out, " applies {name}");
        }
        self.text(" across dimensions = ");
        let dimensions = op.attribute("dimensions").cloned().unwrap_or_else(|| Attribute::i64s(Vec::new()));
        attribute::integers(&mut self.out, &dimensions);
        self.attributes(op, &["dimensions"], "");
        self.text(" : ");
        self.function_type(op);
        if applied.is_some() {
            return;
        }
        let Some(region) = op.regions.first() else { return };
        self.new_line();
        self.text(" reducer");
        let arguments = region.blocks.first().map_or(&[][..], |block| &block.arguments);
        let (elements, accumulators) = arguments.split_at(arguments.len() / 2);
        for (&element, &accumulator) in elements.iter().zip(accumulators) {
            self.out.push('(');
            self.argument(element);
            self.text(", ");
            self.argument(accumulator);
            self.text(") ");
        }
        self.out.push(' ');
        self.region(op, region, false, false);
    }

    /// Returns the operation that a reduction applies, if its region contains nothing else.
    fn applied(&self, op: &Operation) -> Option<&'static str> {
        let block = op.body()?;
        let [inner, end] = &block.operations[..] else { return None };
        let name = COMMUTATIVE.iter().copied().find(|&name| inner.name == name)?;
        let ty = |value: &_| self.tree.type_of(*value);
        let first = ty(op.operands.first()?).as_tensor()?;
        let scalar = Type::tensor([], first.element.clone());
        let is_plain = inner.operands == block.arguments
            && inner.operands.len() == 2
            && inner.operands.iter().chain(&inner.results).all(|value| *ty(value) == scalar)
            && end.name == "stablehlo.return"
            && end.operands == inner.results
            && inner.results.len() == 1;
        is_plain.then_some(name)
    }

    pub fn while_loop(&mut self, op: &Operation) {
        self.out.push('(');
        let body = op.regions.get(1).and_then(|region| region.blocks.first());
        let arguments = body.map_or(&[][..], |block| &block.arguments);
        for (i, (&argument, &operand)) in arguments.iter().zip(&op.operands).enumerate() {
            if i > 0 {
                self.text(", ");
            }
            self.operand(argument);
            self.text(" = ");
            self.operand(operand);
        }
        self.out.push(')');
        if !op.operands.is_empty() {
            self.text(" : ");
            let tree = self.tree;
            types::list(&mut self.out, op.operands.iter().map(|&v| tree.type_of(v)));
        }
        self.attributes(op, &[], " attributes");
        self.new_line();
        for (word, region) in ["cond ", " do "].into_iter().zip(&op.regions) {
            self.text(word);
            self.region(op, region, false, false);
        }
    }

    pub fn scan(&mut self, op: &Operation) {
        let sizes = op.attribute("operandSegmentSizes").and_then(Attribute::ints).unwrap_or_default();
        let inputs = sizes.first().map_or(0, |&n| (n.max(0) as usize).min(op.operands.len()));
        let (inputs, inits) = op.operands.split_at(inputs);
        self.out.push('(');
        self.operands(inputs);
        self.text(") inits (");
        self.operands(inits);
        let dimension = op.attribute("dimension").and_then(Attribute::as_int).unwrap_or_default();
        let _ = write!(self.out, ") dimension={dimension} ");
        self.attributes(op, &["dimension", "operandSegmentSizes", "resultSegmentSizes"], " attributes");
        self.out.push(' ');
        if let Some(region) = op.regions.first() {
            self.region(op, region, true, false);
        }
        self.text(" : ");
        self.function_type(op);
    }

    pub fn function(&mut self, op: &Operation) {
        self.out.push(' ');
        if let Some(visibility) = op.attribute("sym_visibility").and_then(Attribute::as_str) {
            self.text(visibility);
            self.out.push(' ');
        }
        attribute::symbol(&mut self.out, op.symbol_name().unwrap_or_default());
        let (inputs, results) = match op.attribute("function_type") {
            Some(Attribute::Type(ty)) => match &**ty {
                TypeKind::Function { inputs, results } => (&inputs[..], &results[..]),
                _ => (&[][..], &[][..]),
            },
            _ => (&[][..], &[][..]),
        };
        let block = op.regions.first().and_then(|region| region.blocks.first());
        self.out.push('(');
        for (i, ty) in inputs.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            let argument = block.and_then(|block| block.arguments.get(i)).copied();
            if let Some(argument) = argument {
                self.operand(argument);
                self.text(": ");
            }
            types::write(&mut self.out, ty);
            self.print_attributes_of(op, "arg_attrs", i);
            if let Some(argument) = argument {
                self.location_of_argument(argument);
            }
        }
        self.out.push(')');
        self.results_of_function(op, results);
        const FUNCTION_ATTRIBUTES: [&str; 5] =
            ["sym_name", "sym_visibility", "function_type", "arg_attrs", "res_attrs"];
        self.attributes(op, &FUNCTION_ATTRIBUTES, " attributes");
        if let Some(region) = op.regions.first().filter(|region| !region.blocks.is_empty()) {
            self.out.push(' ');
            self.region(op, region, false, false);
        }
    }

    fn results_of_function(&mut self, op: &Operation, results: &[Type]) {
        let Some(first) = results.first() else { return };
        self.text(" -> ");
        let is_plain = results.len() == 1
            && !matches!(**first, TypeKind::Function { .. })
            && attributes_of(op, "res_attrs", 0).is_none_or(Attributes::is_empty);
        if is_plain {
            return types::write(&mut self.out, first);
        }
        self.out.push('(');
        for (i, ty) in results.iter().enumerate() {
            if i > 0 {
                self.text(", ");
            }
            types::write(&mut self.out, ty);
            self.print_attributes_of(op, "res_attrs", i);
        }
        self.out.push(')');
    }

    /// Writes ` {…}`: the attributes of an argument or a result.
    fn print_attributes_of(&mut self, op: &Operation, list: &str, index: usize) {
        if let Some(said) = attributes_of(op, list, index).filter(|said| !said.is_empty()) {
            self.out.push(' ');
            attribute::dictionary(&mut self.out, said);
        }
    }

    pub fn module(&mut self, op: &Operation) {
        if let Some(name) = op.symbol_name() {
            self.out.push(' ');
            attribute::symbol(&mut self.out, name);
        }
        self.attributes(op, &["sym_name"], " attributes");
        self.out.push(' ');
        if let Some(region) = op.regions.first() {
            self.region(op, region, false, false);
        }
    }
}

/// Returns the attributes of an argument or a result of a function.
fn attributes_of<'o>(op: &'o Operation, list: &str, index: usize) -> Option<&'o Attributes> {
    match op.attribute(list)?.as_array()?.get(index)? {
        Attribute::Dictionary(said) => Some(said),
        _ => None,
    }
}
