//! Arguments: the shapes and numbers that a function is specialized for.

use crate::ast::File;
use crate::error::error;
use crate::rules;
use hlo_builder::Value;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, Shape, Span};

/// An argument of a function.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The name of its parameter, or `None` for the parameter at its position.
    pub name: Option<String>,
    /// The value.
    pub value: ArgumentValue,
}

/// The value of an argument.
#[derive(Clone, Debug, PartialEq)]
pub enum ArgumentValue {
    /// A tensor of the given type and shape. It becomes a parameter of the module.
    Tensor(ArrayShape),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A boolean.
    Truth(bool),
    /// A string, such as the order of a tensor's dimensions.
    Text(String),
}

/// An argument of a function that is called while a computation is being built
/// ([`Tile::call`](crate::Tile::call), `tile!`): a tensor, a number, or `()` for the parameter's default.
#[derive(Clone, Copy, Debug)]
pub enum FunctionArgument<'b> {
    /// A tensor of the computation.
    Tensor(Value<'b>),
    /// An integer.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A boolean.
    Truth(bool),
    /// The default value of the parameter.
    Default,
}

impl<'b> From<Value<'b>> for FunctionArgument<'b> {
    fn from(tensor: Value<'b>) -> Self {
        Self::Tensor(tensor)
    }
}

macro_rules! arguments {
    ($($native:ty => $kind:ident)*) => {
        $(
            impl From<$native> for FunctionArgument<'_> {
                fn from(value: $native) -> Self {
                    Self::$kind(value.into())
                }
            }
        )*
    };
}

arguments! { i32 => Integer i64 => Integer f32 => Float f64 => Float bool => Truth }

impl From<()> for FunctionArgument<'_> {
    fn from((): ()) -> Self {
        Self::Default
    }
}

impl Argument {
    /// Returns a tensor argument for the parameter at the argument's position.
    pub fn tensor(element_type: ElementType, dims: &[i64]) -> Self {
        ArgumentValue::Tensor(ArrayShape::new(element_type, dims.iter().copied())).into()
    }

    /// Returns an integer argument for the parameter at the argument's position.
    pub fn integer(value: i64) -> Self {
        ArgumentValue::Integer(value).into()
    }

    /// Returns a floating-point argument for the parameter at the argument's position.
    pub fn float(value: f64) -> Self {
        ArgumentValue::Float(value).into()
    }

    /// Returns this argument for the parameter called `name`.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// Parses an argument: `f32[2,3]`, `2`, `0.5`, `True`, `'NHWC'`. A name and `:` or `=` before it select
    /// the parameter.
    ///
    /// # Errors
    /// Returns an error with a span in `text` if `text` is not an argument.
    ///
    /// # Example
    /// ```
    /// use hlo_tile::Argument;
    ///
    /// let argument = Argument::parse("I: f32[1,64,3]").unwrap();
    /// assert_eq!(argument, Argument::tensor(hlo_ir::ElementType::F32, &[1, 64, 3]).named("I"));
    /// assert_eq!(Argument::parse("s0 = 2").unwrap(), Argument::integer(2).named("s0"));
    /// assert!(Argument::parse("f33[2]").is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, Diag> {
        let start = text.len() - text.trim_start().len();
        let trimmed = text.trim();
        let (name, at) = match trimmed.find([':', '=']) {
            Some(n) => (Some(trimmed[..n].trim().to_owned()), n + 1),
            None => (None, 0),
        };
        let rest = &trimmed[at..];
        let written = rest.trim();
        let place = start + at + (rest.len() - rest.trim_start().len());
        let value = value(written).map_err(|d| d.moved(place))?;
        Ok(Self { name, value })
    }
}

impl From<ArgumentValue> for Argument {
    fn from(value: ArgumentValue) -> Self {
        Self { name: None, value }
    }
}

fn value(text: &str) -> Result<ArgumentValue, Diag> {
    match text {
        "True" | "true" => return Ok(ArgumentValue::Truth(true)),
        "False" | "false" => return Ok(ArgumentValue::Truth(false)),
        _ => {}
    }
    if let Ok(n) = text.parse() {
        return Ok(ArgumentValue::Integer(n));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && let Ok(x) = text.parse()
    {
        return Ok(ArgumentValue::Float(x));
    }
    let quoted = |quote| text.strip_prefix(quote)?.strip_suffix(quote);
    if let Some(inner) = quoted('\'').or_else(|| quoted('"')) {
        return Ok(ArgumentValue::Text(inner.to_owned()));
    }
    match hlo_parser::parse_shape(text) {
        Ok(Shape::Array(shape)) => Ok(ArgumentValue::Tensor(shape)),
        Ok(other) => {
            let message = format!("an argument is an array or a number, found {other}");
            Err(error(rules::TILE_CALL, Span::new(0, text.len()), message, "not an array"))
        }
        Err(errors) => {
            let d = errors.into_iter().next();
            let d = d.unwrap_or_else(|| Diag::error("not a shape").at(Span::new(0, text.len()), ""));
            Err(d.note("an argument is the shape of a tensor, such as `f32[2,3]`, or a number"))
        }
    }
}

/// A comment `# tile: A: f32[2,3], s = 2` before a function: the default arguments for specializing it.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The name of the function.
    pub function: String,
    /// The arguments.
    pub arguments: Vec<Argument>,
}

impl Directive {
    /// Returns the directives of a file. Each directive is on lines of its own before its function.
    pub(crate) fn all(text: &str, file: &File) -> Result<Vec<Self>, Diag> {
        let mut found = Vec::new();
        let mut from = 0;
        for function in &file.functions {
            let until = function.name.span.start as usize;
            let mut arguments = Vec::new();
            let mut is_given = false;
            let mut start = from;
            for line in text[from..until].split_inclusive('\n') {
                let comment = line.trim_start().strip_prefix('#').map(str::trim_start);
                if let Some(list) = comment.and_then(|c| c.strip_prefix("tile:")) {
                    is_given = true;
                    let base = start + line.len() - list.len();
                    for (offset, part) in parts(list) {
                        arguments.push(Argument::parse(part).map_err(|d| d.moved(base + offset))?);
                    }
                }
                start += line.len();
            }
            if is_given {
                found.push(Self { function: function.name.text.clone(), arguments });
            }
            from = until;
        }
        Ok(found)
    }
}

/// Splits a list at the commas outside of brackets. Returns each part with its offset.
fn parts(list: &str) -> Vec<(usize, &str)> {
    let mut out = Vec::new();
    let (mut depth, mut start) = (0_usize, 0);
    for (n, c) in list.char_indices() {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                out.push((start, &list[start..n]));
                start = n + 1;
            }
            _ => {}
        }
    }
    out.push((start, &list[start..]));
    out.retain(|(_, part)| !part.trim().is_empty());
    out
}
