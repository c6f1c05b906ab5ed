//! Specialises a function to the shapes and numbers that it is called with: runs it, with instructions of a builder for
//! tensors.

mod arithmetic;
mod builtins;
mod calls;
mod dims;
mod einsum;
mod expression;
mod lens;
mod lists;
mod methods;
mod outputs;
mod specials;
mod statement;

pub(crate) use lens::Lens;

use crate::ast::{Expr, File, Function};
use crate::error::error;
use crate::known::Notes;
use crate::library;
use crate::scope::{FunctionId, Units};
use crate::value::{Indices, Value};
use hlo_builder::{Builder, Value as Hlo};
use hlo_ir::Span;
use hlo_ir::attr::{HloString, OpMetadata};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use std::collections::{HashMap, HashSet};

/// How many statements may run: functions that call each other could make exponentially many.
const MAX_STATEMENTS: usize = 100_000;

/// A function that is being specialised, with those that it calls.
pub(crate) struct Evaluator<'b, 'f> {
    /// Where the instructions go.
    pub(crate) builder: &'b Builder,
    /// The file, and the library.
    units: Units<'f>,
    /// The index variables so far.
    pub(crate) indices: Indices,
    /// What is likely not as meant.
    pub(crate) warnings: Vec<Diag>,
    /// What its names were.
    pub(crate) known: Notes<'b>,
    statements: usize,
    /// The calls that are going on, the outermost first.
    calls: Vec<FunctionId>,
    /// The names of tensors that have the name of a variable, or were there before: they keep them.
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
    /// Begins the specialisation of functions of a file, whose instructions will have `name` and lines of `text` as their
    /// source.
    pub(crate) fn new(builder: &'b Builder, file: &'f File, name: &'f str, text: &'f str) -> Self {
        Self {
            builder,
            units: Units::new(name, text, file),
            indices: Indices::default(),
            warnings: Vec::new(),
            known: Notes::default(),
            statements: 0,
            calls: Vec::new(),
            named: HashSet::new(),
            bound: HashMap::new(),
        }
    }

    /// The file of the function that runs.
    fn unit(&self) -> usize {
        self.calls.last().map_or(0, |f| f.unit)
    }

    /// The metadata of instructions that a statement makes.
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

    /// Notes what a name that is defined at a place of a file is, if that is the file that is evaluated.
    fn note(&mut self, unit: usize, span: Span, value: &Value<'b>) {
        if unit == 0 {
            self.known.note(span, value);
        }
    }

    /// Gives the instruction of a tensor the name of its variable, unless it has one.
    fn name_tensor(&mut self, tensor: Hlo<'b>, name: &str) {
        if tensor.name().is_some_and(|before| !self.named.contains(&before)) {
            self.keep_name(tensor.named(name));
        }
    }

    /// The tensor keeps its name, whatever variables it is assigned to.
    pub(crate) fn keep_name(&mut self, tensor: Hlo<'b>) {
        self.named.extend(tensor.name());
    }

    /// Runs the statements of a function; the value that it returns.
    fn body(&mut self, function: &'f Function, frame: &mut Frame<'b>) -> Result<Value<'b>, Diag> {
        for statement in &function.body {
            self.statements += 1;
            if self.statements > MAX_STATEMENTS {
                let message = format!("more than {MAX_STATEMENTS} statements run");
                return Err(error(code::TILE_CALL, statement.span, message, "one too many")
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

    /// The error for a name that nothing has.
    fn undefined(&self, frame: &Frame<'b>, name: &str, span: Span) -> Diag {
        let d =
            error(code::TILE_NAME, span, format!("`{name}` is not defined"), "not a name that is known here");
        if library::functions().any(|f| f.function.name.text == name) {
            return d.note(format!("the library has it: `from nn import {name}`"));
        }
        let functions = self.units.unit(self.unit()).names();
        let known = frame
            .names
            .keys()
            .map(String::as_str)
            .chain(functions)
            .chain(builtins::names().map(|n| -> &str { n }));
        proposed(d, span, name, known)
    }
}

/// The names that Tile has without a definition: its functions, and `DType`.
///
/// # Example
/// ```
/// assert!(hlo_tile::builtin_names().any(|name| name == "TensorOutput"));
/// ```
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    builtins::names()
}

/// The error, with the question whether one of `known` was meant.
fn proposed<'a>(d: Diag, span: Span, name: &str, known: impl Iterator<Item = &'a str>) -> Diag {
    match nearest(name, known) {
        Some(meant) => d.did_you_mean(span, meant),
        None => d,
    }
}

/// The error for a value that is not what an operation takes.
fn unsuitable(span: Span, what: &str, found: &Value<'_>) -> Diag {
    let found = found.describe();
    error(code::TILE_OPERAND, span, format!("expected {what}, found {found}"), format!("this is {found}"))
}

/// The name, if that is all that an expression is.
fn name_of(expr: &Expr) -> Option<&str> {
    match &expr.kind {
        crate::ast::ExprKind::Name(name) => Some(name),
        _ => None,
    }
}
