//! A function of a file, for arguments of given shapes: a module.

use crate::argument::{Argument, ArgumentValue, Directive, FunctionArgument};
use crate::ast::{File, Function, Name};
use crate::error::error;
use crate::evaluate::Evaluator;
use crate::known::Known;
use crate::scope::{self, FunctionId};
use crate::types;
use crate::value::Value;
use hlo_builder::{Builder, Value as Hlo};
use hlo_ir::diag::{Diag, Severity};
use hlo_ir::rules::code;
use hlo_ir::suggest::nearest;
use hlo_ir::{ArrayShape, Module, Shape, Span};
use hlo_tile_syntax::parse_python;

/// A file of Tile that has been read.
#[derive(Clone, Debug)]
pub struct Tile {
    name: String,
    text: String,
    file: File,
    directives: Vec<Directive>,
}

/// What a function became.
#[derive(Clone, Debug)]
pub struct Specialized {
    /// The module. Its parameters are the tensors among the function's arguments, its result is what the function returns:
    /// a tuple, if that is several.
    pub module: Module,
    /// What is likely not as meant.
    pub warnings: Vec<Diag>,
}

/// What a call of a function gave: [`Tile::call`].
#[derive(Clone, Debug)]
pub struct Called<'b> {
    /// What the function returned: one tensor or several.
    pub results: Vec<Hlo<'b>>,
    /// What is likely not as meant.
    pub warnings: Vec<Diag>,
}

/// The tensors that a function returns.
enum Results<'b> {
    One(Hlo<'b>),
    /// As a tuple or list.
    Several(Vec<Hlo<'b>>),
}

impl Tile {
    /// Reads a file; `name` is what its instructions have as their source. The file may have parts that are Python and not Tile
    /// ([`Tile::warnings`]).
    ///
    /// # Errors
    /// The first place that is not Tile, if no function is Tile; or a function is imported from the library that it does not
    /// have.
    pub fn new(name: &str, text: &str) -> Result<Self, Diag> {
        let file = parse_python(text)?;
        scope::check(&file, false)?;
        let directives = Directive::all(text, &file)?;
        Ok(Self { name: name.to_owned(), text: text.to_owned(), file, directives })
    }

    /// The functions.
    pub fn functions(&self) -> &[Function] {
        &self.file.functions
    }

    /// Returns the errors of the parts of the file that are Python and not Tile.
    pub fn python(&self) -> &[Diag] {
        &self.file.python
    }

    /// Returns a warning for each part of the file that is Python and not Tile. A call of such a function is an error.
    pub fn warnings(&self) -> Vec<Diag> {
        let warning = |why: &Diag| {
            let message = format!("not read: {}", why.message);
            Diag { severity: Severity::Warning, message, ..why.clone().with_code(code::TILE_PYTHON) }
        };
        self.file.python.iter().map(warning).collect()
    }

    /// The arguments that the file gives for a function: `# tile: A: f32[2,3], s = 2` before it.
    pub fn directive(&self, function: &str) -> Option<&Directive> {
        self.directives.iter().find(|d| d.function == function)
    }

    /// The function that is meant where none is named: the only one that the file gives arguments for, or the only one.
    ///
    /// # Errors
    /// There are several, or none.
    pub fn only_function(&self) -> Result<&str, Diag> {
        if let [directive] = self.directives.as_slice() {
            return Ok(&directive.function);
        }
        match self.file.functions.as_slice() {
            [function] => Ok(&function.name.text),
            [] => Err(Diag::error("the file has no function").with_code(code::TILE_CALL)),
            several => {
                let names: Vec<&str> = several.iter().map(|f| f.name.text.as_str()).collect();
                let message = format!("the file has several functions: {}", names.join(", "));
                Err(Diag::error(message).with_code(code::TILE_CALL).note("name one"))
            }
        }
    }

    /// The module of a function for arguments: one for each parameter that has no default.
    ///
    /// # Errors
    /// There is no such function, an argument is no tensor of a type that Tile has, or what is wrong in the function.
    pub fn specialize(&self, function: &str, arguments: &[Argument]) -> Result<Specialized, Diag> {
        self.differentiate(function, arguments, &[])
    }

    /// As [`Tile::specialize`], with gradients of what the function returns, or of the sum of its elements, by the tensors that
    /// are arguments for these parameters: the module's result is the tuple of both.
    ///
    /// # Errors
    /// As [`Tile::specialize`]; the function returns several tensors, or one without floating-point numbers; a parameter is no
    /// tensor; an operation has no gradient.
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

    /// As [`Tile::differentiate`], with what the names of the function were, and those of the functions that it calls; if it fails,
    /// as far as it came.
    ///
    /// # Errors
    /// As [`Tile::differentiate`].
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
        // While there are the values that they were.
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

    /// What the function returns, and the function.
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
            // What is for no parameter is an error of the call.
            values.push((number.unwrap_or(called.parameters.len()), argument));
        }
        // The module's parameters have the order of the function's.
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

    /// Adds what a function does to a computation that is being built: its results, and what is likely not as meant.
    ///
    /// # Errors
    /// There is no such function, an argument is no tensor of a type that Tile has, or what is wrong in the function. Some
    /// instructions may have been added before that.
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

    /// The tensors that a function returned.
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
                Err(error(code::TILE_CALL, called.name.span, message, "`return O` is missing"))
            }
            value => Ok(Results::One(evaluator.tensor(value, returned)?)),
        }
    }

    /// Gives instructions the lines of the file as their places, for diagnostics of whoever runs the module.
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
            let d = Diag::error(format!("the file has no function `{function}`")).with_code(code::TILE_CALL);
            match nearest(function, names()) {
                Some(meant) => d.note(format!("did you mean `{meant}`?")),
                None => d.note(format!("it has {}", names().collect::<Vec<_>>().join(", "))),
            }
        })
    }

    /// Where a function returns.
    fn returned(&self, function: &Function) -> Span {
        function.body.last().map_or(function.name.span, |s| s.span)
    }
}

/// The tuple of a result and its gradients by parameters.
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
        return Err(error(code::TILE_TYPE, place, message, "this function")
            .note("of several tensors, return the one that is to be differentiated"));
    }
    let mut values = Vec::with_capacity(by.len());
    for name in by {
        let Some((_, value)) = tensors.iter().find(|(n, _)| n == name) else {
            let message = format!("`{}` has no parameter `{name}` that is a tensor", function.name.text);
            let d = error(code::TILE_CALL, place, message, "this function");
            return Err(match nearest(name, tensors.iter().map(|(n, _)| n.as_str())) {
                Some(meant) => d.note(format!("did you mean `{meant}`?")),
                None => d,
            });
        };
        values.push(*value);
    }
    let gradients = b.gradients(result, &values);
    if let Some(found) = b.errors().first() {
        return Err(error(code::TILE_TYPE, place, found.message.clone(), "the gradient of this function"));
    }
    for (gradient, name) in gradients.iter().zip(by) {
        gradient.named(&format!("d{name}"));
    }
    Ok(b.tuple(&[vec![result], gradients].concat()))
}

/// The shape of a tensor that is an argument, without layout.
fn tensor_shape(shape: &ArrayShape, place: Span) -> Result<Shape, Diag> {
    if !types::is_known(shape.element_type) || !shape.is_static() {
        let message = format!("Tile has no tensors such as {shape}");
        return Err(error(code::TILE_TYPE, place, message, "the argument for this parameter"));
    }
    Ok(ArrayShape::new(shape.element_type, shape.dims.iter().copied()).into())
}

/// The error for a module that the builder did not finish: what should have been found before.
fn unbuilt(errors: &hlo_builder::BuildErrors, place: Span) -> Diag {
    let message = errors.diags().first().map_or("the module could not be built", |d| d.message.as_str());
    Diag::error(message.to_owned()).at(place, "of this function")
}
