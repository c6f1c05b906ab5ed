//! Functions, copied for the arguments of their calls.

use super::copies::{Copy, Request};
use super::failure::{Result, fail};
use super::fold::Integers;
use super::refiner::Refiner;
use super::{Argument, is_global_constant, types};
use crate::import::failure::Failure;
use crate::import::regions::only_block;
use crate::text::type_text;
use crate::tree::{Attribute, Name, Operation, Region, Type, TypeKind, ValueId};
use std::rc::Rc;

/// Maximum number of functions of the refined program.
const MAX_FUNCTIONS: usize = 4096;

impl<'t> Refiner<'t> {
    /// Copies the entry function for arguments of the given shapes.
    pub fn entry(&mut self, entry: &'t Operation, arguments: &[Argument]) -> Result<()> {
        let declared = entry.body().map_or(&[][..], |block| &block.arguments);
        if declared.len() != arguments.len() {
            let (expected, found) = (declared.len(), arguments.len());
            return fail(entry, format!("it has {expected} arguments, but {found} shapes are given"));
        }
        let mut types = Vec::with_capacity(arguments.len());
        let mut known: Vec<Option<Integers>> = Vec::with_capacity(arguments.len());
        for (number, (&value, argument)) in declared.iter().zip(arguments).enumerate() {
            let ty = self.tree.type_of(value);
            let does_not_fit =
                || format!("argument {number} is of type {}, but {} is given", type_text(ty), argument.shape);
            let same_elements = match (ty.as_tensor(), argument.shape.as_array()) {
                (Some(tensor), Some(array)) => {
                    tensor.element.element_type().is_none_or(|e| e == array.element_type)
                }
                _ => true,
            };
            match types::with_shape(ty, &argument.shape) {
                Ok(refined) if same_elements && !types::is_unknown(&refined) => types.push(refined),
                _ => return fail(entry, does_not_fit()),
            }
            known.push(argument.value.map(|value| Integers::from([value])));
        }
        let name = entry.symbol_name().unwrap_or("main");
        let request = Request { function: entry, name, types, known };
        self.copy(entry, request, true)?;
        Ok(())
    }

    /// Replaces a call of the function that the attribute `symbol` names by a call of a copy.
    pub fn call(&mut self, op: &'t Operation, symbol: &str, into: &mut Vec<Operation>) -> Result<()> {
        let operands = self.operands(op)?;
        let Some(name) = op.attribute(symbol).and_then(Attribute::as_str) else {
            return fail(op, format!("the attribute `{symbol}` is no symbol"));
        };
        let request = self.request(op, name, &operands)?;
        let kept: Vec<bool> = request.known.iter().map(Option::is_none).collect();
        let copy = self.copy(op, request, false)?;
        if copy.results.len() != op.results.len() {
            let (expected, found) = (copy.results.len(), op.results.len());
            return fail(op, format!("`{name}` has {expected} results, but {found} are named"));
        }
        let operands = operands.into_iter().zip(kept).filter_map(|(value, kept)| kept.then_some(value));
        let mut call = self.with_results(op, operands.collect(), Vec::new());
        call.attributes.remove("arg_attrs");
        call.attributes.set(symbol, Attribute::Symbol(copy.name.clone()));
        let mut constants = Vec::new();
        for (index, (&old, (ty, known))) in op.results.iter().zip(&copy.results).enumerate() {
            self.set_type(&call, index, ty.clone())?;
            if let Some(integers) = known {
                // The call's own result is not used any more.
                let value = self.add_value(old, ty.clone());
                self.add_constant(op, value, integers.clone(), &mut constants);
            }
        }
        if !copy.is_constant {
            into.push(call);
        }
        into.append(&mut constants);
        Ok(())
    }

    /// Returns the request of a call, with the integers for which the function is specialized.
    fn request(&self, op: &Operation, name: &str, operands: &[ValueId]) -> Result<Request<'t>> {
        let (name, function) = self.functions.find(op, name)?;
        let types: Vec<Type> = operands.iter().map(|&value| self.type_of(value).clone()).collect();
        let known = operands.iter().map(|value| self.known.get(value).cloned());
        let is_integer = |&old: &ValueId| {
            let tensor = self.tree.type_of(old).as_tensor();
            tensor.is_some_and(|t| matches!(*t.element, TypeKind::Integer(..) | TypeKind::Index))
        };
        // A static function of known integers is evaluated if all its results are integers.
        let is_evaluated = op.results.iter().all(is_integer) && known.clone().all(|k| k.is_some());
        let counts_all = self.functions.dynamic.contains(name) || is_evaluated;
        let counts = |number| counts_all || is_global_constant(function, number);
        let known = known.enumerate().map(|(number, known)| known.filter(|_| counts(number))).collect();
        Ok(Request { function, name, types, known })
    }

    /// Returns the name of the copy of a static function that a custom call applies.
    pub fn applied_function(&mut self, op: &Operation, name: &str) -> Result<Name> {
        let (name, function) = self.functions.find(op, name)?;
        let arguments = function.body().map_or(&[][..], |block| &block.arguments);
        let types: Vec<Type> = arguments.iter().map(|&old| self.tree.type_of(old).clone()).collect();
        let known = vec![None; types.len()];
        Ok(self.copy(op, Request { function, name, types, known }, false)?.name.clone())
    }

    /// Returns the copy of a function for the given arguments, and creates it on first use. The copy of the
    /// entry keeps all arguments.
    fn copy(&mut self, user: &Operation, request: Request<'t>, is_entry: bool) -> Result<Rc<Copy>> {
        let key = request.key();
        if let Some(copy) = self.functions.copies.get(&key) {
            return Ok(Rc::clone(copy));
        }
        let name = request.name;
        if self.functions.open.contains(&name) {
            return fail(user, format!("`{name}` calls itself, by way of this: HLO has no recursion"));
        }
        if self.functions.copies.len() >= MAX_FUNCTIONS {
            return fail(
                user,
                format!("the program needs more than {MAX_FUNCTIONS} functions for these sizes"),
            );
        }
        self.functions.open.push(name);
        let copy = self.deeper(user, |this| this.make_copy(user, &request, is_entry))?;
        self.functions.open.pop();
        let copy = Rc::new(copy);
        self.functions.copies.insert(key, Rc::clone(&copy));
        Ok(copy)
    }

    fn make_copy(&mut self, user: &Operation, request: &Request<'t>, is_entry: bool) -> Result<Copy> {
        let function = request.function;
        let block = match &function.regions[..] {
            [region] => only_block(function, region).map_err(Failure::into_diags)?,
            _ => return fail(function, "a function of one block is needed: it has 0"),
        };
        if block.arguments.len() != request.types.len() {
            let (expected, found) = (block.arguments.len(), request.types.len());
            return fail(user, format!("`{}` has {expected} arguments, but {found} are given", request.name));
        }
        let name = self.functions.fresh_name(request.name);
        let mut operations = Vec::with_capacity(block.operations.len());
        let mut arguments = Vec::with_capacity(block.arguments.len());
        let mut kept = Vec::with_capacity(block.arguments.len());
        for ((&old, ty), known) in block.arguments.iter().zip(&request.types).zip(&request.known) {
            let value = self.add_value(old, ty.clone());
            kept.push(is_entry || known.is_none());
            if is_entry || known.is_none() {
                arguments.push(value);
            }
            if let Some(integers) = known {
                let constant = if is_entry { self.add_value(old, ty.clone()) } else { value };
                self.add_constant(function, constant, integers.clone(), &mut operations);
            }
        }
        let last = self.operations(block, &mut operations)?;
        let given = self.operands(last)?;
        let results: Vec<(Type, Option<Integers>)> = given
            .iter()
            .map(|value| (self.type_of(*value).clone(), self.known.get(value).cloned()))
            .collect();
        let is_constant = results.iter().all(|(_, known)| known.is_some())
            && operations.iter().all(|op| op.name == "stablehlo.constant");
        operations.push(self.copied(last)?);
        let mut copy = Operation { regions: Vec::new(), ..function.clone() };
        copy.attributes.set("sym_name", Attribute::string(&name));
        let inputs = arguments.iter().map(|&value| self.type_of(value).clone()).collect();
        let outputs = results.iter().map(|(ty, _)| ty.clone()).collect();
        let ty: Type = TypeKind::Function { inputs, results: outputs }.into();
        copy.attributes.set("function_type", Attribute::Type(ty));
        if let Some(list) = function.attribute("arg_attrs").and_then(Attribute::as_array) {
            let list = list.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(a, _)| a.clone());
            copy.attributes.set("arg_attrs", Attribute::Array(list.collect()));
        }
        copy.regions = vec![Region { blocks: vec![crate::tree::Block { arguments, operations }] }];
        if !is_constant || is_entry {
            self.new.operations_mut().push(copy);
        }
        Ok(Copy { name, results, is_constant })
    }
}
