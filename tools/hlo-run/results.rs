//! Prints results, writes them to files, and compares them.

use crate::leaves::{Leaf, RESULT_NAME, name_leaves};
use hlo_ir::Literal;
use hlo_ir::print::print_literal;
use hlo_tools_common::compare::{Tolerance, compare, elements, magnitude};
use hlo_tools_common::safetensors::{self, Dtype};
use hlo_tools_common::{Failure, npy, npz, print, write_file};
use std::io::{BufWriter, Write};
use std::path::Path;

/// Maximum number of elements of an array that are printed without `--full`.
pub const MAX_SHOWN_ELEMENTS: usize = 1000;

/// Prints a result: an array on one line, each element of a tuple on its own.
pub fn print_result(result: &Literal, full: bool) -> Result<(), Failure> {
    print(result_text(result, full).as_bytes())
}

/// Returns the text of a result.
pub fn result_text(result: &Literal, full: bool) -> String {
    let shown = (!full).then_some(MAX_SHOWN_ELEMENTS);
    let mut text = String::new();
    for leaf in result.leaves() {
        text.push_str(&print_literal(leaf, shown));
        text.push('\n');
    }
    text
}

/// The kind of output that `-o` selects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// An archive of all results.
    Npz,
    /// A file with the only result.
    Npy,
    /// A file with all results by name.
    Safetensors,
    /// A folder with a file for each result.
    Folder,
}

impl Target {
    /// Returns the kind of output for a path.
    pub fn of(path: &str) -> Result<Self, Failure> {
        let target = Path::new(path);
        match target.extension().and_then(|e| e.to_str()) {
            Some("npz") => Ok(Target::Npz),
            Some("npy") => Ok(Target::Npy),
            Some("safetensors") => Ok(Target::Safetensors),
            _ if target.is_dir() || path.ends_with('/') => Ok(Target::Folder),
            _ => Err(Failure::Usage(format!(
                "-o {path}: an .npz file, an .npy file, a .safetensors file or a folder is expected (a new folder \
                 with a `/` at its end)"
            ))),
        }
    }
}

/// Rejects an output that cannot hold the results, before anything runs.
pub fn check_target(path: Option<&str>, results: &[Leaf]) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    match Target::of(path)? {
        Target::Npy if results.len() != 1 => Err(Failure::Message(format!(
            "-o {path}: the module has {} results, an .npy file holds one; use .npz, .safetensors or a folder",
            results.len()
        ))),
        Target::Safetensors => {
            let lacks = |leaf: &&Leaf| {
                leaf.shape.as_array().is_some_and(|array| Dtype::of(array.element_type).is_none())
            };
            let Some(Leaf { name, shape, .. }) = results.iter().find(lacks) else { return Ok(()) };
            Err(Failure::Message(format!(
                "-o {path}: {name} is {shape}, which safetensors has no type for; use .npz or a folder"
            )))
        }
        Target::Npy | Target::Npz | Target::Folder => Ok(()),
    }
}

/// Writes a result's leaves to `path`: an `.npz` or `.safetensors` file, an `.npy` if there is one leaf, or a folder.
pub fn write_result(result: &Literal, path: &str) -> Result<(), Failure> {
    let leaves = result.leaves();
    check_target(Some(path), &name_leaves(result.shape(), "result"))?;
    let target = Path::new(path);
    match Target::of(path)? {
        Target::Npz => write_file(target, |file| npz::write(BufWriter::new(file), RESULT_NAME, &leaves)),
        Target::Npy => leaves.iter().try_for_each(|leaf| write_npy(target, leaf)),
        Target::Safetensors => write_file(target, |file| {
            let mut out = BufWriter::new(file);
            safetensors::write(&mut out, RESULT_NAME, &leaves)?;
            out.flush()
        }),
        Target::Folder => {
            std::fs::create_dir_all(target).map_err(|e| Failure::file(path, e))?;
            leaves
                .iter()
                .enumerate()
                .try_for_each(|(i, leaf)| write_npy(&target.join(format!("{RESULT_NAME}_{i}.npy")), leaf))
        }
    }
}

/// Writes an array to an `.npy` file.
pub fn write_npy(path: &Path, literal: &Literal) -> Result<(), Failure> {
    write_file(path, |file| {
        let mut out = BufWriter::new(file);
        npy::write(&mut out, literal)?;
        out.flush()
    })
}

/// The tolerances of results.
#[derive(Clone, Debug, Default)]
pub struct Tolerances {
    /// The relative tolerance in the arguments.
    pub rtol: Option<f64>,
    /// The absolute tolerance in the arguments.
    pub atol: Option<f64>,
    /// The tolerances of a case: none, one for all results, or one for each.
    pub case: Vec<Tolerance>,
    /// The fraction of elements that may be outside the tolerance.
    pub max_mismatches: f64,
    /// The range of all elements, if nothing else is expected.
    pub range: Option<(f64, f64)>,
    /// Whether the absolute tolerance of the type is relative to the largest element.
    pub scaled: bool,
}

impl Tolerances {
    /// Returns the tolerances for comparing the engines. When sums cancel, the error depends on the size of
    /// the terms, for which the largest element of the array is an estimate. Given expected values need no
    /// such allowance.
    pub fn between_engines(&self) -> Self {
        Self { scaled: true, ..self.clone() }
    }

    /// Returns the tolerance of a value that is not a result: that of the arguments, or of the type.
    pub fn by_type(&self, literal: &Literal) -> Tolerance {
        Self { case: Vec::new(), ..self.clone() }.of(0, literal)
    }

    /// Returns the tolerance of result `number`: that of the arguments, of the case, or of the type, in this
    /// order.
    fn of(&self, number: usize, literal: &Literal) -> Tolerance {
        let of_case = self.case.get(number).or(match self.case.as_slice() {
            [one] => Some(one),
            _ => None,
        });
        let usual = of_case.copied().unwrap_or_else(|| match literal.shape().as_array() {
            Some(shape) if self.scaled => {
                Tolerance::default_for(shape.element_type).scaled(magnitude(literal))
            }
            Some(shape) => Tolerance::default_for(shape.element_type),
            None => Tolerance { rtol: 0.0, atol: 0.0 },
        });
        Tolerance { rtol: self.rtol.unwrap_or(usual.rtol), atol: self.atol.unwrap_or(usual.atol) }
    }
}

/// Checks that all elements are in a half-open range.
pub fn check_range(got: &Literal, (low, high): (f64, f64), leaves: &[Leaf]) -> Result<(), Failure> {
    for (got, leaf) in got.leaves().into_iter().zip(leaves) {
        let outside = elements(got).find(|x| !(low..high).contains(x));
        if let Some(x) = outside {
            let message = format!("{}: {x} does not lie in the range from {low} to below {high}", leaf.name);
            return Err(Failure::Message(message));
        }
    }
    Ok(())
}

/// Compares a result's leaves with the expected ones. The error contains the whole report.
pub fn check(
    what: &str,
    got: &Literal,
    want: &[Literal],
    leaves: &[Leaf],
    tolerances: &Tolerances,
) -> Result<(), Failure> {
    let mut report = String::new();
    for (number, ((got, want), leaf)) in got.leaves().into_iter().zip(want).zip(leaves).enumerate() {
        match compare(got, want, tolerances.of(number, want)) {
            Ok(c) if c.mismatches == 0 || c.mismatch_fraction() <= tolerances.max_mismatches => {}
            Ok(c) => report.push_str(&format!("\n{}: {c}", leaf.name)),
            Err(e) => report.push_str(&format!("\n{}: {e}\n", leaf.name)),
        }
    }
    if report.is_empty() { Ok(()) } else { Err(Failure::Message(format!("{what}{}", report.trim_end()))) }
}
