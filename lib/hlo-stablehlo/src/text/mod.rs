//! StableHLO as text: MLIR's, in the pretty and the generic form.
//!
//! `scan` blanks comments and checks brackets; the pest grammar in `grammar/stablehlo.pest` finds operations, regions and
//! blocks; `read` takes operations apart, each in the form that `format` describes. An error ends one operation, not the
//! parse.

mod format;
mod grammar;
mod lex;
mod print;
mod read;
mod scan;
#[cfg(test)]
mod tests;

pub use print::PrintOptions;
pub(crate) use print::type_text;

use crate::tree::Tree;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// Memory of a stack is used when it is touched only, so that its size costs nothing: enough for each level of the deepest
/// text that the scan lets through, in a build without optimisation.
const STACK: usize = 128 << 20;

/// The program that `text` describes. Spans of operations and diagnostics are byte ranges of `text`.
///
/// # Errors
/// What can't be read, in the order of the text.
pub fn parse(text: &str) -> Result<Tree, Vec<Diag>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diag::error("the text is larger than 4 GiB").with_code(code::TEXT_SIZE)]);
    }
    let scanned = scan::scan(text).map_err(|diag| vec![diag])?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, || read::read(text, &scanned)).map(|t| t.join()) {
            Ok(Ok(result)) => result,
            // What went wrong on the thread goes on here.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(vec![Diag::error(format!("there is no thread to read the text on: {e}"))]),
        }
    })
}

/// The program as MLIR prints StableHLO, in the pretty form.
///
/// # Example
/// ```
/// use hlo_stablehlo::text;
///
/// let tree = text::parse("func.func @f(%x: tensor<f32>) -> tensor<f32> { return %x : tensor<f32> }").expect("a function");
/// assert_eq!(
///     text::print(&tree),
///     "module {
///   func.func @f(%arg0: tensor<f32>) -> tensor<f32> {
///     return %arg0 : tensor<f32>
///   }
/// }
/// "
/// );
/// ```
pub fn print(tree: &Tree) -> String {
    print::print(tree, PrintOptions::default())
}

/// The program as text in the form that is asked for.
pub fn print_with(tree: &Tree, options: &PrintOptions) -> String {
    print::print(tree, *options)
}
