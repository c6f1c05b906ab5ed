//! Specialises a function to the shapes and numbers that it is called with: runs it, with instructions of a builder for
//! tensors.

mod arithmetic;
mod builtins;
mod dims;
mod expression;
mod methods;
mod outputs;
mod specials;
mod statement;

use crate::ast::{Expr, File, Function, Name};
use crate::error::error;
use crate::known::Notes;
use crate::value::{Indices, Value};
use hlo_builder::Builder;
use hlo_ir::Span;
use hlo_ir::attr::{HloString, OpMetadata};
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use std::collections::HashMap;

/// How many statements may run: functions that call each other could make exponentially many.
const MAX_STATEMENTS: usize = 100_000;

/// How many calls may be within each other.
const MAX_CALLS: usize = 64;

/// A function that is being specialised, with those that it calls.
pub(crate) struct Evaluator<'b, 'f> {
    /// Where the instructions go.
    pub(crate) builder: &'b Builder,
    file: &'f File,
    /// The name of the file, and where its lines begin.
    source: String,
    lines: Vec<usize>,
    /// The index variables so far.
    pub(crate) indices: Indices,
    /// What is likely not as meant.
    pub(crate) warnings: Vec<Diag>,
    /// What its names were.
    pub(crate) known: Notes<'b>,
    statements: usize,
    /// The calls that are going on, the outermost first: of which function, from where.
    calls: Vec<(usize, Option<Span>)>,
}

/// The variables of a function.
#[derive(Debug, Default)]
pub(crate) struct Frame<'b> {
    names: HashMap<String, Value<'b>>,
}

impl<'b, 'f> Evaluator<'b, 'f> {
    /// Begins the specialisation of functions of a file, whose instructions will have `name` and lines of `text` as their
    /// source.
    pub(crate) fn new(builder: &'b Builder, file: &'f File, name: &str, text: &str) -> Self {
        let lines = text.bytes().enumerate().filter(|(_, b)| *b == b'\n').map(|(n, _)| n + 1);
        Self {
            builder,
            file,
            source: name.to_owned(),
            lines: std::iter::once(0).chain(lines).collect(),
            indices: Indices::default(),
            warnings: Vec::new(),
            known: Notes::default(),
            statements: 0,
            calls: Vec::new(),
        }
    }

    /// The metadata of instructions that a statement makes.
    pub(crate) fn metadata(&self, at: Span) -> OpMetadata {
        let line = self.lines.partition_point(|&start| start <= at.start as usize);
        let names: Vec<&str> =
            self.calls.iter().map(|(f, _)| self.file.functions[*f].name.text.as_str()).collect();
        OpMetadata {
            op_name: HloString::from(names.join("/").as_str()),
            source_file: HloString::from(self.source.as_str()),
            source_line: i32::try_from(line).unwrap_or(i32::MAX),
            ..OpMetadata::default()
        }
    }

    /// Runs a function: its result. Parameters that no argument is for have their defaults.
    pub(crate) fn call(
        &mut self,
        function: usize,
        arguments: Vec<(Option<Name>, Value<'b>, Span)>,
        from: Option<Span>,
    ) -> Result<Value<'b>, Diag> {
        let called: &'f Function = &self.file.functions[function];
        let from_or_name = from.unwrap_or(called.name.span);
        if self.calls.iter().any(|(f, _)| *f == function) {
            let message = format!("`{}` calls itself", called.name.text);
            return Err(error(code::TILE_CALL, from_or_name, message, "nothing would end that"));
        }
        if self.calls.len() >= MAX_CALLS {
            let message = format!("more than {MAX_CALLS} calls within each other");
            return Err(error(code::TILE_CALL, from_or_name, message, "one too many"));
        }
        let mut frame = self.bound_arguments(called, arguments, from_or_name)?;
        self.calls.push((function, from));
        let result = self.body(called, &mut frame);
        self.calls.pop();
        result.map_err(|d| match from {
            Some(from) => d.and(from, format!("in this call of `{}`", called.name.text)),
            None => d,
        })
    }

    /// The parameters with their values.
    fn bound_arguments(
        &mut self,
        called: &'f Function,
        arguments: Vec<(Option<Name>, Value<'b>, Span)>,
        from: Span,
    ) -> Result<Frame<'b>, Diag> {
        let mut frame = Frame::default();
        let count = arguments.len();
        for (position, (name, value, span)) in arguments.into_iter().enumerate() {
            let parameter = match &name {
                None => called.parameters.get(position),
                Some(name) => called.parameters.iter().find(|p| p.name.text == name.text),
            };
            let Some(parameter) = parameter else {
                return Err(match name {
                    None => {
                        let message = format!(
                            "`{}` takes {} arguments, found {count}",
                            called.name.text,
                            called.parameters.len()
                        );
                        error(code::TILE_CALL, span, message, "one too many")
                            .and(called.name.span, "defined here")
                    }
                    Some(name) => {
                        let message = format!("`{}` has no parameter `{}`", called.name.text, name.text);
                        let d = error(code::TILE_CALL, name.span, message, "not one of its parameters")
                            .and(called.name.span, "defined here");
                        let names = called.parameters.iter().map(|p| p.name.text.as_str());
                        proposed(d, name.span, &name.text, names)
                    }
                });
            };
            self.known.note(parameter.name.span, &value);
            if frame.names.insert(parameter.name.text.clone(), value).is_some() {
                let message = format!("`{}` is given twice", parameter.name.text);
                return Err(error(code::TILE_CALL, span, message, "the second"));
            }
        }
        for parameter in &called.parameters {
            if frame.names.contains_key(&parameter.name.text) {
                continue;
            }
            let Some(default) = &parameter.default else {
                let message = format!(
                    "`{}` is called without its argument `{}`",
                    called.name.text, parameter.name.text
                );
                return Err(error(code::TILE_CALL, from, message, "it is missing here")
                    .and(parameter.name.span, "the parameter"));
            };
            let value = self.expression(&Frame::default(), default)?;
            self.known.note(parameter.name.span, &value);
            frame.names.insert(parameter.name.text.clone(), value);
        }
        Ok(frame)
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
        let functions = self.file.functions.iter().map(|f| f.name.text.as_str());
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
