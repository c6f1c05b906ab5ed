//! Specialization: converts a function of a file to a module, for arguments of given shapes.

use crate::argument::{Argument, ArgumentValue, Directive, FunctionArgument};
use crate::ast::{File, Function, Name};
use crate::error::error;
use crate::evaluate::Evaluator;
use crate::known::Known;
use crate::rules;
use crate::scope::{self, FunctionId};
use crate::types;
use crate::value::Value;
use hlo_builder::{Builder, Value as Hlo};
use hlo_ir::diag::{Diag, Severity};
use hlo_ir::suggest::nearest;
use hlo_ir::{ArrayShape, Module, Shape, Span};
use hlo_tile_syntax::parse_python;

/// A parsed Tile file.
#[derive(Clone, Debug)]
pub struct Tile {
    name: String,
    text: String,
    file: File,
    directives: Vec<Directive>,
}

/// The result of specializing a function.
#[derive(Clone, Debug)]
pub struct Specialized {
    /// The module. Its parameters are the tensors among the function's arguments. Its result is the result of
    /// the function: a tuple if the function returns several tensors.
    pub module: Module,
    /// Warnings about likely mistakes.
    pub warnings: Vec<Diag>,
}

/// The result of calling a function with [`Tile::call`].
#[derive(Clone, Debug)]
pub struct Called<'b> {
    /// The tensors that the function returned, at least one.
    pub results: Vec<Hlo<'b>>,
    /// Warnings about likely mistakes.
    pub warnings: Vec<Diag>,
}

/// The tensors that a function returned.
enum Results<'b> {
    One(Hlo<'b>),
    /// A tuple or list of tensors.
    Several(Vec<Hlo<'b>>),
}

impl Tile {
    /// Parses a file. `name` is the source name of its instructions. The file may contain parts that are
    /// Python but not Tile ([`Tile::warnings`]).
    ///
    /// # Errors
    /// Returns the first syntax error if no function is valid Tile, or an error if an imported function is
    /// not in the library.
    pub fn new(name: &str, text: &str) -> Result<Self, Diag> {
        let file = parse_python(text)?;
        scope::check(&file, false)?;
        let directives = Directive::all(text, &file)?;
        Ok(Self { name: name.to_owned(), text: text.to_owned(), file, directives })
    }

    /// Returns the functions.
    pub fn functions(&self) -> &[Function] {
        &self.file.functions
    }

    /// Returns the errors of the parts of the file that are Python but not Tile.
    pub fn python(&self) -> &[Diag] {
        &self.file.python
    }

    /// Returns a warning for each part of the file that is Python but not Tile. Calling such a function is an
    /// error.
    pub fn warnings(&self) -> Vec<Diag> {
        let warning = |why: &Diag| {
            let message = format!("not read: {}", why.message);
            Diag { severity: Severity::Warning, message, ..why.clone().with_code(rules::TILE_PYTHON) }
        };
        self.file.python.iter().map(warning).collect()
    }

    /// Returns the arguments that the file specifies for a function with a comment
    /// `# tile: A: f32[2,3], s = 2`.
    pub fn directive(&self, function: &str) -> Option<&Directive> {
        self.directives.iter().find(|d| d.function == function)
    }

    /// Returns the default function: the only one with arguments in the file, or the only function.
    ///
    /// # Errors
    /// Returns an error if there are several candidates or none.
    pub fn only_function(&self) -> Result<&str, Diag> {
        if let [directive] = self.directives.as_slice() {
            return Ok(&directive.function);
        }
        match self.file.functions.as_slice() {
            [function] => Ok(&function.name.text),
            [] => Err(Diag::error("the file has no function").with_code(rules::TILE_CALL)),
            several => {
                let names: Vec<&str> = several.iter().map(|f| f.name.text.as_str()).collect();
                let message = format!("the file has several functions: {}", names.join(", "));
                Err(Diag::error(message).with_code(rules::TILE_CALL).note("name one"))
            }
        }
    }

    /// Converts a function to a module. `arguments` contains an argument for each parameter without a
    /// default.
    ///
    /// # Errors
    /// Returns an error if the function does not exist, if an argument is not a tensor of a type that Tile
    /// supports, or if the function is invalid.
    pub fn specialize(&self, function: &str, arguments: &[Argument]) -> Result<Specialized, Diag> {
        self.differentiate(function, arguments, &[])
    }

    /// Like [`Tile::specialize`], but also computes gradients with respect to the tensor parameters in `by`.
    /// The differentiated value is the function's result or the sum of its elements. The result of the module
    /// is a tuple of the function's result and the gradients.
    ///
    /// # Errors
    /// Returns the errors of [`Tile::specialize`]. Also returns an error if the function returns several
    /// tensors or a tensor that is not floating-point. Returns an error if a parameter is not a tensor, or if
    /// an operation has no gradient.
    ///
    /// # Example
    /// ```
    /// use hlo_tile::{Argument, Tile};
    ///
    /// let tile = Tile::new("squares.tile", "def squares(X):\n  return X * X\n").map_err(|e| e.message)?;
    /// let x = Argument::tensor(hlo_ir::ElementType::F32, &[3]);
    /// let made = tile.differentiate("squares", &[x], &["X"]).map_err(|e| e.message)?;
    /// let result = &made.module[made.module[made.module.entry()].root()].shape;
    /// assert_eq!(result.to_string(), "(f32[3], f32[3])");
    /// # Ok::<(), String>(())
    /// ```
    pub fn differentiate(
        &self,
        function: &str,
        arguments: &[Argument],
        by: &[&str],
    ) -> Result<Specialized, Diag> {
        self.inspect(function, arguments, by).0
    }

    /// Like [`Tile::differentiate`], but also returns the values of the names in the function and in the
    /// functions that it calls. If it fails, it returns the names that were defined before the error.
    ///
    /// # Errors
    /// Returns the errors of [`Tile::differentiate`].
    ///
    /// # Example
    /// ```
    /// use hlo_tile::{Argument, Tile};
    ///
    /// let tile = Tile::new("twice.tile", "def twice(X):\n  Y = X + X\n  return Z\n").map_err(|e| e.message)?;
    /// let x = Argument::tensor(hlo_ir::ElementType::F32, &[3]);
    /// let (made, names) = tile.inspect("twice", &[x], &[]);
    /// assert_eq!(made.unwrap_err().message, "`Z` is not defined");
    /// assert_eq!(names[1].to_string(), "a tensor `f32[3]`");
    /// # Ok::<(), String>(())
    /// ```
    pub fn inspect(
        &self,
        function: &str,
        arguments: &[Argument],
        by: &[&str],
    ) -> (Result<Specialized, Diag>, Vec<Known>) {
        let b = Builder::new(function);
        let mut evaluator = Evaluator::new(&b, &self.file, &self.name, &self.text);
        let root = self.root(&mut evaluator, function, arguments, by);
        // The values must be described before they are destroyed.
        let names = evaluator.known.described();
        let made = root.and_then(|(root, called)| {
            b.set_return_value(root);
            let warnings = std::mem::take(&mut evaluator.warnings);
            let mut module = b.build().map_err(|errors| unbuilt(&errors, called.name.span))?;
            self.place(&mut module);
            Ok(Specialized { module, warnings })
        });
        (made, names)
    }

    /// Returns the result of the function, and the function.
    fn root<'b>(
        &self,
        evaluator: &mut Evaluator<'b, '_>,
        function: &str,
        arguments: &[Argument],
        by: &[&str],
    ) -> Result<(Hlo<'b>, &Function), Diag> {
        let b = evaluator.builder;
        let number = self.find(function)?;
        let called = &self.file.functions[number];
        let metadata = b.metadata_scope(evaluator.metadata(called.name.span));
        let mut values = Vec::with_capacity(arguments.len());
        let mut positions = 0..called.parameters.len();
        for argument in arguments {
            let number = match &argument.name {
                None => positions.next(),
                Some(name) => called.parameters.iter().position(|p| p.name.text == *name),
            };
            // An argument without a parameter is an error of the call.
            values.push((number.unwrap_or(called.parameters.len()), argument));
        }
        // The parameters of the module have the order of the function's parameters.
        values.sort_by_key(|(number, _)| *number);
        let mut given = Vec::with_capacity(values.len());
        let mut tensors = 0;
        let mut tensors_of = Vec::new();
        for (number, argument) in values {
            let parameter = called.parameters.get(number).map(|p| &p.name);
            let place = parameter.map_or(called.name.span, |p| p.span);
            let value = match &argument.value {
                ArgumentValue::Tensor(shape) => {
                    let name = parameter.map_or("", |p| p.text.as_str());
                    let shape = tensor_shape(shape, place)?;
                    tensors += 1;
                    Value::Tensor(b.parameter(tensors - 1, shape, name))
                }
                ArgumentValue::Integer(n) => Value::Integer(*n),
                ArgumentValue::Float(x) => Value::Float(*x),
                ArgumentValue::Truth(x) => Value::Truth(*x),
                ArgumentValue::Text(text) => Value::Text(text.clone()),
            };
            let name = parameter.cloned().or_else(|| {
                let text = argument.name.clone()?;
                Some(Name { text, span: called.name.span })
            });
            if let Value::Tensor(tensor) = &value {
                evaluator.keep_name(*tensor);
            }
            if let (Value::Tensor(tensor), Some(parameter)) = (&value, parameter) {
                tensors_of.push((parameter.text.clone(), *tensor));
            }
            given.push((name, value, place));
        }
        drop(metadata);
        let result = evaluator.call(FunctionId { unit: 0, number }, given, None)?;
        let _metadata = b.metadata_scope(evaluator.metadata(called.name.span));
        let root = match self.results(evaluator, called, &result)? {
            Results::One(value) => value,
            Results::Several(all) => b.tuple(&all),
        };
        let root = if by.is_empty() { root } else { with_gradients(b, called, root, &tensors_of, by)? };
        Ok((root, called))
    }

    /// Calls a function while a computation is being built. Adds its operations to the computation and
    /// returns the results and warnings about likely mistakes.
    ///
    /// # Errors
    /// Returns an error if the function does not exist, if an argument is not a tensor of a type that Tile
    /// supports, or if the function is invalid. Some instructions may already have been added.
    ///
    /// # Example
    /// ```
    /// use hlo_builder::Builder;
    /// use hlo_tile::Tile;
    ///
    /// let tile = Tile::new("scaled.tile", "def scaled(X, factor):\n  return X * factor\n").map_err(|e| e.message)?;
    /// let b = Builder::new("twice");
    /// let x = b.constant_r1(&[1.0f32, 2.0]);
    /// let called = tile.call(&b, "scaled", &[x.into(), 2.into()]).map_err(|e| e.message)?;
    /// let result = b.compute_constant(called.results[0]).map_err(|e| e.to_string())?;
    /// assert_eq!(result.elements::<f32>(), [2.0, 4.0]);
    /// # Ok::<(), String>(())
    /// ```
    pub fn call<'b>(
        &self,
        builder: &'b Builder,
        function: &str,
        arguments: &[FunctionArgument<'b>],
    ) -> Result<Called<'b>, Diag> {
        let number = self.find(function)?;
        let called = &self.file.functions[number];
        let mut evaluator = Evaluator::new(builder, &self.file, &self.name, &self.text);
        let mut given = Vec::with_capacity(arguments.len());
        for (number, argument) in arguments.iter().enumerate() {
            let parameter = called.parameters.get(number).map(|p| &p.name);
            let place = parameter.map_or(called.name.span, |p| p.span);
            let value = match *argument {
                FunctionArgument::Tensor(tensor) => {
                    let shape = evaluator.shape_of(tensor, place)?;
                    tensor_shape(&shape, place)?;
                    evaluator.keep_name(tensor);
                    Value::Tensor(tensor)
                }
                FunctionArgument::Integer(n) => Value::Integer(n),
                FunctionArgument::Float(x) => Value::Float(x),
                FunctionArgument::Truth(x) => Value::Truth(x),
                FunctionArgument::Default => continue,
            };
            given.push((parameter.cloned(), value, place));
        }
        let result = evaluator.call(FunctionId { unit: 0, number }, given, None)?;
        let results = match self.results(&mut evaluator, called, &result)? {
            Results::One(value) => vec![value],
            Results::Several(all) => all,
        };
        Ok(Called { results, warnings: std::mem::take(&mut evaluator.warnings) })
    }

    /// Returns the tensors that a function returned.
    fn results<'b>(
        &self,
        evaluator: &mut Evaluator<'b, '_>,
        called: &Function,
        result: &Value<'b>,
    ) -> Result<Results<'b>, Diag> {
        let returned = self.returned(called);
        match result {
            Value::Sequence(all) => {
                let tensors = all.iter().map(|value| evaluator.tensor(value, returned));
                Ok(Results::Several(tensors.collect::<Result<_, _>>()?))
            }
            Value::Nothing => {
                let message = format!("`{}` returns nothing", called.name.text);
                Err(error(rules::TILE_CALL, called.name.span, message, "`return O` is missing"))
            }
            value => Ok(Results::One(evaluator.tensor(value, returned)?)),
        }
    }

    /// Sets the spans of instructions to lines of the file, for diagnostics when the module runs.
    fn place(&self, module: &mut Module) {
        let mut lines = vec![Span::default()];
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let blanks = line.len() - line.trim_start().len();
            lines.push(Span::new(start + blanks, start + line.trim_end().len().max(blanks)));
            start += line.len();
        }
        for computation in module.computations().collect::<Vec<_>>() {
            for id in module[computation].instructions().to_vec() {
                let metadata = module[id].common.as_ref().map(|c| &c.metadata);
                let of_file = metadata.filter(|m| m.source_file.as_str() == Some(&self.name));
                let line = of_file.and_then(|m| usize::try_from(m.source_line).ok());
                if let Some(&span) = line.and_then(|line| lines.get(line)) {
                    module.set_span(id, span);
                }
            }
        }
    }

    fn find(&self, function: &str) -> Result<usize, Diag> {
        let names = || self.file.functions.iter().map(|f| f.name.text.as_str());
        let found = names().position(|n| n == function);
        if let Some(why) = found.and_then(|number| self.file.functions[number].python.as_ref()) {
            return Err(why.clone());
        }
        found.ok_or_else(|| {
            let d = Diag::error(format!("the file has no function `{function}`")).with_code(rules::TILE_CALL);
            match nearest(function, names()) {
                Some(meant) => d.note(format!("did you mean `{meant}`?")),
                None => d.note(format!("it has {}", names().collect::<Vec<_>>().join(", "))),
            }
        })
    }

    /// Returns the span of the `return` statement.
    fn returned(&self, function: &Function) -> Span {
        function.body.last().map_or(function.name.span, |s| s.span)
    }
}

/// Returns a tuple of a result and its gradients with respect to parameters.
fn with_gradients<'b>(
    b: &'b Builder,
    function: &Function,
    result: Hlo<'b>,
    tensors: &[(String, Hlo<'b>)],
    by: &[&str],
) -> Result<Hlo<'b>, Diag> {
    let place = function.name.span;
    let is_float = |s: Shape| s.as_array().is_some_and(|a| a.element_type.is_float());
    if !result.shape().is_ok_and(is_float) {
        let message = format!(
            "gradients are of one tensor of floating-point numbers, `{}` returns another",
            function.name.text
        );
        return Err(error(rules::TILE_TYPE, place, message, "this function")
            .note("of several tensors, return the one that is to be differentiated"));
    }
    let mut values = Vec::with_capacity(by.len());
    for name in by {
        let Some((_, value)) = tensors.iter().find(|(n, _)| n == name) else {
            let message = format!("`{}` has no parameter `{name}` that is a tensor", function.name.text);
            let d = error(rules::TILE_CALL, place, message, "this function");
            return Err(match nearest(name, tensors.iter().map(|(n, _)| n.as_str())) {
                Some(meant) => d.note(format!("did you mean `{meant}`?")),
                None => d,
            });
        };
        values.push(*value);
    }
    let gradients = b.gradients(result, &values);
    if let Some(found) = b.errors().first() {
        return Err(error(rules::TILE_TYPE, place, found.message.clone(), "the gradient of this function"));
    }
    for (gradient, name) in gradients.iter().zip(by) {
        gradient.named(&format!("d{name}"));
    }
    Ok(b.tuple(&[vec![result], gradients].concat()))
}

/// Returns the shape of a tensor argument, without layout.
fn tensor_shape(shape: &ArrayShape, place: Span) -> Result<Shape, Diag> {
    if !types::is_known(shape.element_type) || !shape.is_static() {
        let message = format!("Tile has no tensors such as {shape}");
        return Err(error(rules::TILE_TYPE, place, message, "the argument for this parameter"));
    }
    Ok(ArrayShape::new(shape.element_type, shape.dims.iter().copied()).into())
}

/// Returns the error for a module that the builder rejected although all earlier checks passed.
fn unbuilt(errors: &hlo_builder::BuildErrors, place: Span) -> Diag {
    let message = errors.diags().first().map_or("the module could not be built", |d| d.message.as_str());
    Diag::error(message.to_owned()).at(place, "of this function")
}
