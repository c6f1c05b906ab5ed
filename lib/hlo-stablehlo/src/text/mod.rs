//! MLIR's text form of StableHLO, pretty and generic.
//!
//! `scan` blanks comments and checks brackets. The pest grammar in `grammar/stablehlo.pest` finds operations,
//! regions and blocks. `read` parses the operations by the forms in `format`. An error ends one operation,
//! not the parse.

mod format;
mod grammar;
mod lex;
mod print;
mod read;
mod scan;

pub use print::PrintOptions;
pub(crate) use print::type_text;

use crate::tree::Tree;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;

/// The stack size in bytes. It suffices for the deepest text that the scan accepts, in a build without
/// optimization. The system allocates stack memory on first access, so the size costs nothing.
const STACK_BYTES: usize = 128 << 20;

/// Parses a program. Spans of operations and diagnostics are byte ranges of `text`.
///
/// # Errors
/// The syntax errors, in the order of the text.
pub fn parse(text: &str) -> Result<Tree, Vec<Diag>> {
    if u32::try_from(text.len()).is_err() {
        return Err(vec![Diag::error("the text is larger than 4 GiB").with_code(code::TEXT_SIZE)]);
    }
    let scanned = scan::scan(text).map_err(|diag| vec![diag])?;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK_BYTES);
        match thread.spawn_scoped(scope, || read::read(text, &scanned)).map(|t| t.join()) {
            Ok(Ok(result)) => result,
            // Continue the panic of the thread.
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(e) => Err(vec![Diag::error(format!("there is no thread to read the text on: {e}"))]),
        }
    })
}

/// Prints a program in the pretty form, as MLIR does.
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

/// Prints a program with the given options.
pub fn print_with(tree: &Tree, options: &PrintOptions) -> String {
    print::print(tree, *options)
}
