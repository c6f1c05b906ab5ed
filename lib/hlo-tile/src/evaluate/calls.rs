//! Calls of Tile functions, from the file and from the library.
//!
//! Spans refer to one text. Therefore values that are passed to a function of another file, and values that
//! it returns, lose their spans. Errors in such a function are reported at the call.

use super::{Evaluator, Frame, proposed};
use crate::ast::{Function, Name};
use crate::contraction::Access;
use crate::error::error;
use crate::rules;
use crate::scope::FunctionId;
use crate::value::{Dim, Value};
use hlo_ir::Span;
use hlo_ir::diag::Diag;

/// Maximum depth of nested calls.
const MAX_CALL_DEPTH: usize = 64;

/// An argument of a call: the parameter name if there is one, the value, and its span.
pub(crate) type CallArgument<'b> = (Option<Name>, Value<'b>, Span);

impl<'b, 'f> Evaluator<'b, 'f> {
    /// Calls a function and returns its result. Parameters without an argument get their defaults.
    pub(crate) fn call(
        &mut self,
        id: FunctionId,
        mut arguments: Vec<CallArgument<'b>>,
        from: Option<Span>,
    ) -> Result<Value<'b>, Diag> {
        let called = self.units.function(id);
        let from_or_name = from.unwrap_or(called.name.span);
        if self.calls.contains(&id) {
            let message = format!("`{}` calls itself", self.units.title(id));
            return Err(error(rules::TILE_CALL, from_or_name, message, "nothing would end that"));
        }
        if self.calls.len() >= MAX_CALL_DEPTH {
            let message = format!("more than {MAX_CALL_DEPTH} calls within each other");
            return Err(error(rules::TILE_CALL, from_or_name, message, "one too many"));
        }
        if let Some(why) = &called.python {
            let call = format!("in this call of `{}`", self.units.title(id));
            return Err(why.clone().and(from_or_name, call));
        }
        let is_foreign = id.unit != self.unit();
        if is_foreign {
            for (_, value, place) in &mut arguments {
                *value = self.without_places(value, *place)?;
            }
        }
        let mut frame = self.bound_arguments(id, arguments, from_or_name)?;
        let warnings = self.warnings.len();
        self.calls.push(id);
        let mut result = self.run(called, &mut frame);
        if let (true, Ok(value)) = (is_foreign, &result) {
            let returned = called.body.last().map_or(called.name.span, |s| s.span);
            result = self.without_places(value, returned);
        }
        self.calls.pop();
        if is_foreign {
            let found = self.warnings.split_off(warnings);
            let found: Vec<Diag> = found.into_iter().map(|d| self.at_call(d, id, from_or_name)).collect();
            self.warnings.extend(found);
        }
        result.map_err(|d| match from {
            Some(from) if is_foreign => self.at_call(d, id, from),
            Some(from) => d.and(from, format!("in this call of `{}`", self.units.title(id))),
            None => d,
        })
    }

    /// Assigns defaults to parameters without a value, and runs the statements.
    fn run(&mut self, called: &'f Function, frame: &mut Frame<'b>) -> Result<Value<'b>, Diag> {
        for parameter in &called.parameters {
            if let (Some(default), false) =
                (&parameter.default, frame.names.contains_key(&parameter.name.text))
            {
                let value = self.expression(&Frame::default(), default)?;
                self.note(self.unit(), parameter.name.span, &value);
                frame.names.insert(parameter.name.text.clone(), value);
            }
        }
        self.body(called, frame)
    }

    /// Returns a frame that contains the parameters with an argument.
    fn bound_arguments(
        &mut self,
        id: FunctionId,
        arguments: Vec<CallArgument<'b>>,
        from: Span,
    ) -> Result<Frame<'b>, Diag> {
        let called = self.units.function(id);
        let title = self.units.title(id);
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
                        let message =
                            format!("`{title}` takes {} arguments, found {count}", called.parameters.len());
                        let d = error(rules::TILE_CALL, span, message, "one too many");
                        self.and_in(d, id.unit, called.name.span, "defined here")
                    }
                    Some(name) => {
                        let message = format!("`{title}` has no parameter `{}`", name.text);
                        let d = error(rules::TILE_CALL, name.span, message, "not one of its parameters");
                        let d = self.and_in(d, id.unit, called.name.span, "defined here");
                        let names = called.parameters.iter().map(|p| p.name.text.as_str());
                        proposed(d, name.span, &name.text, names)
                    }
                });
            };
            self.note(id.unit, parameter.name.span, &value);
            if frame.names.insert(parameter.name.text.clone(), value).is_some() {
                let message = format!("`{}` is given twice", parameter.name.text);
                return Err(error(rules::TILE_CALL, span, message, "the second"));
            }
        }
        let is_missing =
            |p: &&crate::ast::Parameter| p.default.is_none() && !frame.names.contains_key(&p.name.text);
        if let Some(parameter) = called.parameters.iter().find(is_missing) {
            let message = format!("`{title}` is called without its argument `{}`", parameter.name.text);
            let d = error(rules::TILE_CALL, from, message, "it is missing here");
            return Err(self.and_in(d, id.unit, parameter.name.span, "the parameter"));
        }
        Ok(frame)
    }

    /// Adds a second location to the diagnostic: as a label if it is in the file of the running function,
    /// otherwise as a note.
    fn and_in(&self, d: Diag, unit: usize, place: Span, message: &str) -> Diag {
        if unit == self.unit() {
            return d.and(place, message);
        }
        d.note(self.units.unit(unit).noted(place, message))
    }

    /// Moves a diagnostic from a function of another file to the call. The original spans become notes.
    fn at_call(&self, mut d: Diag, id: FunctionId, from: Span) -> Diag {
        d.suggestions.clear();
        let labels = std::mem::take(&mut d.labels);
        let d = d.at(from, format!("in this call of `{}`", self.units.title(id)));
        let unit = self.units.unit(id.unit);
        let places = labels.iter().filter(|l| !l.span.is_empty());
        places.fold(d, |d, label| d.note(unit.noted(label.span, &label.message)))
    }

    /// Converts a value for a function of another file. Outputs are computed, so that later errors about them
    /// have no spans in the wrong file.
    fn without_places(&mut self, value: &Value<'b>, span: Span) -> Result<Value<'b>, Diag> {
        Ok(match value {
            Value::Output(_) => Value::Tensor(self.tensor(value, span)?),
            Value::Dim(dim) => match dim.size.get() {
                Some((size, _)) => {
                    let dim = Dim::known(size, Span::default());
                    Value::Dim(dim)
                }
                None => value.clone(),
            },
            Value::Elements(combination, operands) => {
                let operands = operands.iter().map(|access| Access {
                    indices: access.indices.iter().map(|(p, _)| (p.clone(), Span::default())).collect(),
                    span: Span::default(),
                    ..access.clone()
                });
                Value::Elements(*combination, operands.collect())
            }
            Value::Sequence(all) => {
                Value::Sequence(all.iter().map(|v| self.without_places(v, span)).collect::<Result<_, _>>()?)
            }
            other => other.clone(),
        })
    }
}
