//! Support code for the functions that `tile!` generates.

use crate::error::noted;
use crate::rules;
use crate::{FunctionArgument, Tile};
pub use hlo_builder::{Builder, Value};
use hlo_ir::diag::Diag;
use std::panic::Location;
use std::sync::OnceLock;

/// A Tile text in a Rust program.
#[derive(Debug)]
pub struct Text {
    file: &'static str,
    /// The line of the file where the text begins.
    line: usize,
    text: &'static str,
    tile: OnceLock<Result<Tile, Diag>>,
}

impl Text {
    /// Creates a text that begins at a line of a file.
    pub const fn new(file: &'static str, line: usize, text: &'static str) -> Self {
        Self { file, line, text, tile: OnceLock::new() }
    }

    /// Calls a function of the text. The builder reports errors.
    #[track_caller]
    pub fn call<'b, const N: usize>(
        &self,
        builder: &'b Builder,
        function: &str,
        arguments: &[FunctionArgument<'b>],
    ) -> [Value<'b>; N] {
        // If an argument failed, its error was already reported.
        let unmade = arguments.iter().find_map(|a| match a {
            FunctionArgument::Tensor(tensor) if tensor.shape().is_err() => Some(*tensor),
            _ => None,
        });
        if let Some(unmade) = unmade {
            return [unmade; N];
        }
        let _line = builder.line_scope(Location::caller());
        let errors = builder.errors().len();
        let tile = self.tile.get_or_init(|| Tile::new(self.file, &self.padded()));
        let called = tile.as_ref().map_err(Clone::clone).and_then(|t| t.call(builder, function, arguments));
        let results = called.map_err(|diag| self.placed(diag)).and_then(|called| {
            let found = called.results.len();
            <[Value<'b>; N]>::try_from(called.results).map_err(|_| {
                let message = format!("`{function}` returns {found} tensors, its `return` names {N}");
                Diag::error(message).with_code(rules::TILE_CALL)
            })
        });
        match results {
            Ok(results) => results,
            // The builder has already reported an error.
            Err(_) if builder.errors().len() > errors => [builder.nothing(); N],
            Err(diag) => [builder.reject(diag); N],
        }
    }

    /// Returns the text after as many empty lines as precede it in the file, so that line numbers match the
    /// file.
    fn padded(&self) -> String {
        "\n".repeat(self.line.saturating_sub(1)) + self.text
    }

    /// Replaces the spans of a diagnostic with notes that name lines of the file.
    fn placed(&self, mut diag: Diag) -> Diag {
        let text = self.padded();
        let labels = std::mem::take(&mut diag.labels);
        let notes = labels.into_iter().map(|label| {
            let before = text.as_bytes().iter().take(label.span.start as usize);
            let line = 1 + before.filter(|b| **b == b'\n').count();
            noted(self.file, line, &label.message)
        });
        diag.notes = notes.chain(std::mem::take(&mut diag.notes)).collect();
        diag
    }
}
