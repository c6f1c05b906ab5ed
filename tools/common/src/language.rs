//! The languages that modules come in: HLO text, StableHLO, and Tile, of which a function is specialised.

#![allow(rustdoc::broken_intra_doc_links, reason = "the help texts are not Markdown")]

use crate::format::verified;
use crate::{Failure, Input};
use clap::{Args, ValueEnum};
use hlo_forms::Form;
use hlo_ir::diag::{Diag, Source};
use hlo_ir::rules;
use hlo_parser::Parsed;
use hlo_tile::{Argument, Tile};

/// The language of a text, and what of a file of Tile is wanted.
#[derive(Args, Clone, Debug, Default)]
pub struct LanguageArgs {
    /// The language of the input; if not given, files whose names end in .tile are Tile, others what their text begins
    /// like. Bytecode and protocol buffers are known by their contents
    #[arg(long, value_name = "LANGUAGE", help_heading = "Tile")]
    pub from: Option<Language>,

    /// The function of a file of Tile that becomes the module; may be left out if there is one, or one with arguments in
    /// a comment `# tile: A: f32[2,3], s = 2`
    #[arg(long = "fn", value_name = "NAME", help_heading = "Tile")]
    pub function: Option<String>,

    /// An argument of the function: the shape of a tensor, such as 'f32[2,3]', or a number; 'NAME=…' is for the parameter
    /// of that name, others are in order; once for each parameter
    #[arg(long = "arg", value_name = "ARGUMENT", help_heading = "Tile")]
    pub arguments: Vec<String>,

    /// Add the gradients by these parameters of the function, of what it returns, or the sum of that: the result is a tuple
    #[arg(long = "grad", value_name = "NAME,…", value_delimiter = ',', help_heading = "Tile")]
    pub gradients: Vec<String>,
}

/// A language that modules come in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Language {
    /// HLO text.
    Hlo,
    /// StableHLO, as MLIR prints it.
    Stablehlo,
    /// Tile, PlaidML's eDSL in its Python spelling.
    Tile,
}

impl LanguageArgs {
    /// Reads the module of `text`, which is the input's or a part of it, and verifies it unless `no_verify`. The inner error
    /// is one of the text.
    ///
    /// # Errors
    /// An argument for a function of Tile is none; or the language has no functions, or the file none.
    pub fn parse(
        &self,
        input: &Input,
        text: &str,
        no_verify: bool,
    ) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        if let Some(given) = &input.given {
            self.check_unused("none")?;
            return match self.from {
                None => Ok(verified(given.clone().into(), no_verify)),
                Some(_) => Err(Failure::file(&input.source.name, "--from is for text, and this is no text")),
            };
        }
        let form = match self.from {
            Some(Language::Tile) => return self.specialize(&input.source, text),
            None if is_tile(&input.source.name) => return self.specialize(&input.source, text),
            Some(Language::Hlo) => Form::Hlo,
            Some(Language::Stablehlo) => Form::StableHlo,
            None => Form::of(text.as_bytes()),
        };
        self.check_unused(if form == Form::Hlo { "HLO text" } else { "none" })?;
        Ok(form.read(text.as_bytes()).and_then(|program| verified(program.into(), no_verify)))
    }

    /// The same, normalized as XLA does.
    ///
    /// # Errors
    /// As [`LanguageArgs::parse`].
    pub fn read(
        &self,
        input: &Input,
        text: &str,
        no_verify: bool,
    ) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        let parsed = self.parse(input, text, no_verify)?;
        Ok(parsed.map(|mut parsed| {
            parsed.module.normalize();
            parsed
        }))
    }

    /// Refuses what is for Tile, of a file that is something else.
    fn check_unused(&self, what: &str) -> Result<(), Failure> {
        let option = match (&self.function, self.arguments.first(), self.gradients.first()) {
            (Some(_), ..) => "--fn",
            (None, Some(_), _) => "--arg",
            (None, None, Some(_)) => "--grad",
            (None, None, None) => return Ok(()),
        };
        Err(Failure::Usage(format!(
            "{option} is for files of Tile, and this is {what} (--from=tile reads it as Tile)"
        )))
    }

    fn specialize(&self, source: &Source, text: &str) -> Result<Result<Parsed, Vec<Diag>>, Failure> {
        let mut arguments = Vec::with_capacity(self.arguments.len());
        for argument in &self.arguments {
            let parsed = Argument::parse(argument);
            arguments.push(parsed.map_err(|d| Failure::argument("--arg", argument, vec![d]))?);
        }
        let specialized = Tile::new(&source.name, text).and_then(|tile| {
            let function = match &self.function {
                Some(function) => function.clone(),
                None => tile.only_function().map_err(|d| d.note("`--fn=NAME` names one"))?.to_owned(),
            };
            if arguments.is_empty()
                && let Some(directive) = tile.directive(&function)
            {
                arguments.clone_from(&directive.arguments);
            }
            let by: Vec<&str> = self.gradients.iter().map(String::as_str).collect();
            let made = tile.differentiate(&function, &arguments, &by);
            // Where none are given at all, that is what to say.
            let exists = tile.functions().iter().any(|f| f.name.text == function);
            let missing = exists && arguments.is_empty();
            made.map_err(|d| match d.code {
                Some(rules::code::TILE_CALL) if missing => {
                    d.note("`--arg='f32[2,3]'` gives an argument, or a comment `# tile: A: f32[2,3]` before the function")
                }
                _ => d,
            })
        });
        Ok(match specialized {
            Ok(made) => Ok(Parsed { module: made.module, warnings: made.warnings }),
            Err(diag) => Err(vec![diag]),
        })
    }
}

/// True for the name of a file of Tile.
pub fn is_tile(name: &str) -> bool {
    std::path::Path::new(name).extension().is_some_and(|e| e.eq_ignore_ascii_case("tile"))
}
