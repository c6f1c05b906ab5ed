//! The languages of modules: HLO text, StableHLO, and Tile, for which a function is specialized.

#![allow(rustdoc::broken_intra_doc_links, reason = "the help texts are not Markdown")]

use crate::format::verified;
use crate::{Failure, Input};
use clap::{Args, ValueEnum};
use hlo_forms::{Form, Opened, Parameter, Program};
use hlo_ir::diag::{Diag, Source};
use hlo_ir::{ArrayShape, Literal, Shape};
use hlo_parser::Parsed;
use hlo_tile::{Argument, ArgumentValue, Tile, rules};

/// The language of a text, and the arguments for a Tile or StableHLO function.
#[derive(Args, Clone, Debug, Default)]
pub struct LanguageArgs {
    /// The language of the input. If not given, files whose names end in .tile are Tile, and the language of
    /// others is detected from their text. Bytecode and protocol buffers are detected from their contents
    #[arg(long, value_name = "LANGUAGE", help_heading = "Tile and StableHLO")]
    pub from: Option<Language>,

    /// The Tile or StableHLO function that becomes the module. You can omit it if a Tile file has only one
    /// function, or only one with arguments in a comment `# tile: A: f32[2,3], s = 2`, or if the StableHLO
    /// function is `main` or the only one
    #[arg(long = "fn", value_name = "NAME", help_heading = "Tile and StableHLO")]
    pub function: Option<String>,

    /// The shapes of the arguments of a StableHLO program with unknown sizes (`tensor<?x4xf32>`), one for
    /// each argument, such as 'f32[8,4],f32[4]'. An integer that selects a platform may have a value:
    /// 's32[]=0'
    #[arg(long, value_name = "SHAPE,…", help_heading = "Tile and StableHLO")]
    pub refine: Option<String>,

    /// An argument of the function: the shape of a tensor, such as 'f32[2,3]', or a number; once for each
    /// parameter. 'NAME=…' is for the parameter with that name, others are in order
    #[arg(long = "arg", value_name = "ARGUMENT", help_heading = "Tile and StableHLO")]
    pub arguments: Vec<String>,

    /// Add the gradients of the function's result, or of the sum of its elements, with respect to these
    /// parameters. The result becomes a tuple
    #[arg(long = "grad", value_name = "NAME,…", value_delimiter = ',', help_heading = "Tile and StableHLO")]
    pub gradients: Vec<String>,
}

/// The language of a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// HLO text.
    Hlo,
    /// StableHLO, as MLIR prints it.
    Stablehlo,
    /// Tile, PlaidML's eDSL in its Python spelling.
    Tile,
}

/// An input array of a program, as far as it is known before the program is read.
#[derive(Clone, Debug, PartialEq)]
pub struct GivenArray {
    /// The shape.
    pub shape: ArrayShape,
    /// Whether the element type may be another one of the same size. This is the case for files with types
    /// that numpy does not have.
    pub is_raw: bool,
    /// The value of an integer scalar.
    pub value: Option<i64>,
}

impl GivenArray {
    /// Returns the description of an input array.
    pub fn of(array: &Literal) -> Option<Self> {
        let shape = array.shape().as_array()?.clone();
        let value = if shape.rank() == 0 { array.integer_at(0) } else { None };
        Some(Self { shape, is_raw: false, value: value.and_then(|value| i64::try_from(value).ok()) })
    }
}

/// Returns the input arrays of a program in the order of its arguments, or no arrays if none are given.
pub type GivenArrays<'a> = &'a dyn Fn() -> Result<Vec<GivenArray>, Failure>;

impl LanguageArgs {
    /// Reads the module of `text`, which is the text of the input or a part of it, and verifies it unless
    /// `no_verify`. If the text does not specify the shapes of arguments and no option does, the shapes of
    /// `arrays` are used. The inner error contains diagnostics of the text.
    ///
    /// # Errors
    /// Returns an error if an argument for a Tile function or a shape for a StableHLO function is invalid.
    /// Returns an error if the language has no functions, or if the file does not contain the function. Also
    /// returns the errors of `arrays`.
    pub fn parse(
        &self,
        input: &Input,
        text: &str,
        no_verify: bool,
        arrays: GivenArrays<'_>,
    ) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        if let Some(given) = &input.given {
            self.check_unused("none")?;
            return match self.from {
                None => Ok(verified(given.clone().into(), no_verify)),
                Some(_) => Err(Failure::file(&input.source.name, "--from is for text, and this is no text")),
            };
        }
        let form = match self.from {
            Some(Language::Tile) => return self.specialize(&input.source, text, arrays),
            None if is_tile(&input.source.name) => return self.specialize(&input.source, text, arrays),
            Some(Language::Hlo) => Form::Hlo,
            Some(Language::Stablehlo) => Form::StableHlo,
            None => Form::of(text.as_bytes()),
        };
        if form == Form::StableHlo {
            return self.stablehlo(text, no_verify, arrays);
        }
        self.check_unused(if form == Form::Hlo { "HLO text" } else { "none" })?;
        Ok(form.read(text.as_bytes()).and_then(|program| verified(program.into(), no_verify)))
    }

    /// Reads StableHLO. If the sizes of its arguments are unknown, determines them from the options or
    /// `arrays`.
    fn stablehlo(
        &self,
        text: &str,
        no_verify: bool,
        arrays: GivenArrays<'_>,
    ) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        self.check_tile_options("StableHLO")?;
        let opened = Form::StableHlo.open(text.as_bytes(), self.function.as_deref());
        let polymorphic = match opened {
            Ok(Opened::Polymorphic(polymorphic)) => polymorphic,
            Ok(Opened::Program(_)) if self.refine.is_some() => {
                return Err(Failure::Usage(
                    "--refine: the sizes of the program's arguments are known".into(),
                ));
            }
            Ok(Opened::Program(program)) => return Ok(verified((*program).into(), no_verify)),
            Err(diags) => return Ok(Err(diags)),
        };
        let arguments = match &self.refine {
            Some(shapes) => shapes_of(shapes)?,
            None => arguments_of(&arrays()?, polymorphic.parameters()),
        };
        if arguments.is_empty() {
            return Ok(Err(vec![missing_shapes_error(polymorphic.parameters())]));
        }
        let module = polymorphic.module(&arguments);
        Ok(module.and_then(|module| verified(Program::from(module).into(), no_verify)))
    }

    /// Like [`LanguageArgs::parse`], and normalizes the module as XLA does.
    ///
    /// # Errors
    /// Returns the errors of [`LanguageArgs::parse`].
    pub fn read(
        &self,
        input: &Input,
        text: &str,
        no_verify: bool,
    ) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        let parsed = self.parse(input, text, no_verify, &|| Ok(Vec::new()))?;
        Ok(parsed.map(|mut parsed| {
            parsed.module.normalize();
            parsed
        }))
    }

    /// Rejects options for Tile and StableHLO if the file is in another language.
    fn check_unused(&self, what: &str) -> Result<(), Failure> {
        self.check_tile_options(what)?;
        let option = match (&self.function, &self.refine) {
            (Some(_), _) => "--fn",
            (None, Some(_)) => "--refine",
            (None, None) => return Ok(()),
        };
        let languages = if option == "--fn" { "Tile and StableHLO" } else { "StableHLO" };
        Err(Failure::Usage(format!(
            "{option} is for files of {languages}, and this is {what} (--from=LANGUAGE says what it is)"
        )))
    }

    /// Rejects options for Tile if the file is in another language.
    fn check_tile_options(&self, what: &str) -> Result<(), Failure> {
        let option = match (self.arguments.first(), self.gradients.first()) {
            (Some(_), _) => "--arg",
            (None, Some(_)) => "--grad",
            (None, None) => return Ok(()),
        };
        Err(Failure::Usage(format!(
            "{option} is for files of Tile, and this is {what} (--from=tile reads it as Tile)"
        )))
    }

    /// Specializes a Tile function. If neither an option nor a comment specifies a tensor, the arguments are
    /// the input arrays.
    fn specialize(
        &self,
        source: &Source,
        text: &str,
        arrays: GivenArrays<'_>,
    ) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        if self.refine.is_some() {
            let message =
                "--refine is for files of StableHLO; `--arg` gives the arguments of a function of Tile";
            return Err(Failure::Usage(message.into()));
        }
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            let parsed = Argument::parse(argument);
            arguments.push(parsed.map_err(|d| Failure::argument("--arg", argument, vec![d]))?);
        }
        let tensors_are_missing =
            arguments.iter().all(|a| a.name.is_some() && !matches!(a.value, ArgumentValue::Tensor(_)));
        let given = if tensors_are_missing { arrays()? } else { Vec::new() };
        let specialized = Tile::new(&source.name, text).and_then(|tile| {
            let function = match &self.function {
                Some(function) => function.clone(),
                None => tile.only_function().map_err(|d| d.note("`--fn=NAME` names one"))?.to_owned(),
            };
            match tile.directive(&function) {
                Some(directive) if arguments.is_empty() => arguments.clone_from(&directive.arguments),
                _ => arguments.extend(given.iter().map(|array| Argument {
                    name: None,
                    value: ArgumentValue::Tensor(array.shape.clone()),
                })),
            }
            let by: Vec<&str> = self.gradients.iter().map(String::as_str).collect();
            let made = tile.differentiate(&function, &arguments, &by);
            // If there are no arguments at all, add a note that explains how to pass them.
            let exists = tile.functions().iter().any(|f| f.name.text == function);
            let missing = exists && arguments.is_empty();
            let made = made.map_err(|d| match d.code {
                Some(rules::TILE_CALL) if missing => {
                    d.note("`--arg='f32[2,3]'` gives an argument, or a comment `# tile: A: f32[2,3]` before the function")
                }
                _ => d,
            })?;
            Ok(Parsed { module: made.module, warnings: [tile.warnings(), made.warnings].concat() })
        });
        Ok(specialized.map_err(|diag| vec![diag]))
    }
}

/// Whether a file name is that of a Tile file.
pub fn is_tile(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("tile"))
}

/// Parses the shapes of `--refine`. They are separated by commas outside of brackets and braces. `=` and a
/// value may follow a shape.
fn shapes_of(text: &str) -> Result<Vec<hlo_forms::Argument>, Failure> {
    let mut depth = 0usize;
    let parts = text.split(|c: char| {
        match c {
            '[' | '{' | '(' => depth += 1,
            ']' | '}' | ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let argument = |part: &str| {
        let (shape, value) = part.split_once('=').map_or((part, None), |(shape, value)| (shape, Some(value)));
        let shape = hlo_parser::parse_shape(shape.trim());
        let shape = shape.map_err(|diags| Failure::argument("--refine", part, diags))?;
        let value = value.map(|value| value.trim().parse::<i64>()).transpose();
        let value =
            value.map_err(|_| Failure::Usage(format!("--refine: `{part}` has no integer as its value")))?;
        Ok(hlo_forms::Argument { shape, value })
    };
    parts.map(argument).collect()
}

/// Returns the arguments for the parameters of a program from input arrays. Files of types that numpy does
/// not have do not specify the element type.
fn arguments_of(arrays: &[GivenArray], parameters: &[Parameter]) -> Vec<hlo_forms::Argument> {
    let argument = |(number, array): (usize, &GivenArray)| {
        let parameter = parameters.get(number);
        let ty = parameter.and_then(|p| p.shape.as_array()).map(|a| a.element_type);
        let same_size = ty.is_some_and(|ty| ty.byte_size() == array.shape.element_type.byte_size());
        let shape = match ty.filter(|_| array.is_raw && same_size) {
            Some(ty) => array.shape.with_element_type(ty),
            None => array.shape.clone(),
        };
        let value = array.value.filter(|_| parameter.is_some_and(|p| p.is_global_constant));
        hlo_forms::Argument { shape: shape.into(), value }
    };
    arrays.iter().enumerate().map(argument).collect()
}

/// Returns the error for a program with arguments of unknown sizes, if no shapes are given.
fn missing_shapes_error(parameters: &[Parameter]) -> Diag {
    let shapes: Vec<String> = parameters.iter().map(|parameter| parameter.shape.to_string()).collect();
    let example =
        parameters.iter().map(|parameter| example_of(&parameter.shape).to_string()).collect::<Vec<_>>();
    Diag::error(format!("the sizes of the program's arguments are unknown: {}", shapes.join(", ")))
        .note(format!("`--refine='{}'` gives the shapes of all arguments", example.join(",")))
        .note("`hlo-run` takes them from its inputs: --input, --inputs or --case")
}

/// Returns an example of a shape, with a size for each unknown one.
fn example_of(shape: &Shape) -> Shape {
    match shape.as_array() {
        Some(array) => {
            let size = |&size: &i64| if size == ArrayShape::UNBOUNDED { 8 } else { size };
            ArrayShape::new(array.element_type, array.dims.iter().map(size)).into()
        }
        None => shape.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shapes_are_separated_by_commas_outside_of_brackets() {
        let shapes =
            |text| shapes_of(text).map(|all| all.iter().map(|a| a.shape.to_string()).collect::<Vec<_>>());
        assert_eq!(shapes("f32[8,4], s32[]").ok(), Some(vec!["f32[8,4]".into(), "s32[]".into()]));
        assert_eq!(shapes_of("s32[]=3,f32[2]").ok().map(|a| a[0].value), Some(Some(3)));
        assert!(shapes("f32[8").is_err());
        assert!(shapes_of("s32[]=x").is_err());
    }
}
