//! Specializes a function for the shapes and numbers of its arguments: runs the function and adds
//! instructions to a builder.

mod arithmetic;
mod builtins;
mod calls;
mod dims;
pub(crate) mod einsum;
mod expression;
mod lens;
mod lists;
mod methods;
mod outputs;
mod specials;
mod statement;

use crate::ast::{Expr, File, Function};
use crate::builtins::builtin_names;
use crate::error::error;
use crate::known::KnownValues;
use crate::library;
use crate::rules;
use crate::scope::{FunctionId, Units};
use crate::value::{Indices, Value};
use hlo_builder::{Builder, Value as Hlo};
use hlo_ir::Span;
use hlo_ir::attr::{HloString, OpMetadata};
use hlo_ir::diag::Diag;
use hlo_ir::suggest::nearest;
use std::collections::{HashMap, HashSet};

/// Maximum number of executed statements. Functions that call each other could run exponentially many.
const MAX_STATEMENTS: usize = 100_000;

/// Specializes a function, including the functions that it calls.
pub(crate) struct Evaluator<'b, 'f> {
    /// The builder that receives the instructions.
    pub(crate) builder: &'b Builder,
    /// The file and the library.
    units: Units<'f>,
    /// The index variables created so far.
    pub(crate) indices: Indices,
    /// Warnings about likely mistakes.
    pub(crate) warnings: Vec<Diag>,
    /// The values of the names in the function.
    pub(crate) known: KnownValues<'b>,
    statements: usize,
    /// The active calls, the outermost first.
    calls: Vec<FunctionId>,
    /// The names of tensors that keep their names, because they have the name of a variable or existed
    /// before.
    named: HashSet<String>,
    /// The names of the TensorDims that a tensor was bound to, by the name of its instruction.
    bound: HashMap<String, Vec<Option<String>>>,
}

/// The variables of a function.
#[derive(Debug, Default)]
pub(crate) struct Frame<'b> {
    names: HashMap<String, Value<'b>>,
}

impl<'b, 'f> Evaluator<'b, 'f> {
    /// Creates an evaluator for functions of a file. Instructions get `name` and lines of `text` as their
    /// source.
    pub(crate) fn new(builder: &'b Builder, file: &'f File, name: &'f str, text: &'f str) -> Self {
        Self {
            builder,
            units: Units::new(name, text, file),
            indices: Indices::default(),
            warnings: Vec::new(),
            known: KnownValues::default(),
            statements: 0,
            calls: Vec::new(),
            named: HashSet::new(),
            bound: HashMap::new(),
        }
    }

    /// Returns the file of the running function.
    fn unit(&self) -> usize {
        self.calls.last().map_or(0, |f| f.unit)
    }

    /// Returns the metadata for instructions of a statement.
    pub(crate) fn metadata(&self, at: Span) -> OpMetadata {
        let unit = self.units.unit(self.unit());
        let names: Vec<&str> =
            self.calls.iter().map(|&f| self.units.function(f).name.text.as_str()).collect();
        OpMetadata {
            op_name: HloString::from(names.join("/").as_str()),
            source_file: HloString::from(unit.name),
            source_line: i32::try_from(unit.line(at)).unwrap_or(i32::MAX),
            ..OpMetadata::default()
        }
    }

    /// Records the value of a name that is defined at a span, if the span is in the evaluated file.
    fn note(&mut self, unit: usize, span: Span, value: &Value<'b>) {
        if unit == 0 {
            self.known.note(span, value);
        }
    }

    /// Names the instruction of a tensor after its variable, unless it must keep its name.
    fn name_tensor(&mut self, tensor: Hlo<'b>, name: &str) {
        if tensor.name().is_some_and(|before| !self.named.contains(&before)) {
            self.keep_name(tensor.named(name));
        }
    }

    /// Makes the tensor keep its name even if it is assigned to other variables.
    pub(crate) fn keep_name(&mut self, tensor: Hlo<'b>) {
        self.named.extend(tensor.name());
    }

    /// Runs the statements of a function and returns its result.
    fn body(&mut self, function: &'f Function, frame: &mut Frame<'b>) -> Result<Value<'b>, Diag> {
        for statement in &function.body {
            self.statements += 1;
            if self.statements > MAX_STATEMENTS {
                let message = format!("more than {MAX_STATEMENTS} statements run");
                return Err(error(rules::TILE_CALL, statement.span, message, "one too many")
                    .note("functions that call each other twice make exponentially many"));
            }
            let scope = self.builder.metadata_scope(self.metadata(statement.span));
            let returned = self.statement(frame, statement)?;
            drop(scope);
            if let Some(value) = returned {
                return Ok(value);
            }
        }
        Ok(Value::Nothing)
    }

    /// Returns the error for an undefined name.
    fn undefined(&self, frame: &Frame<'b>, name: &str, span: Span) -> Diag {
        let d = error(
            rules::TILE_NAME,
            span,
            format!("`{name}` is not defined"),
            "not a name that is known here",
        );
        if library::functions().any(|f| f.function.name.text == name) {
            return d.note(format!("the library has it: `from nn import {name}`"));
        }
        let functions = self.units.unit(self.unit()).names();
        let known = frame
            .names
            .keys()
            .map(String::as_str)
            .chain(functions)
            .chain(builtin_names().map(|n| -> &str { n }));
        proposed(d, span, name, known)
    }
}

/// Suggests the most similar name in `known`.
fn proposed<'a>(d: Diag, span: Span, name: &str, known: impl Iterator<Item = &'a str>) -> Diag {
    match nearest(name, known) {
        Some(meant) => d.did_you_mean(span, meant),
        None => d,
    }
}

/// Returns the error for a value that an operation does not accept.
fn unsuitable(span: Span, what: &str, found: &Value<'_>) -> Diag {
    let found = found.describe();
    error(rules::TILE_OPERAND, span, format!("expected {what}, found {found}"), format!("this is {found}"))
}

/// Returns the name if the expression is a single name.
fn name_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        crate::ast::ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
