//! The operations of the supported dialects, with their inherent attributes and VHLO forms.
//!
//! ```
//! use hlo_stablehlo::dialect;
//!
//! let gather = dialect::operation("stablehlo.gather").expect("it is in the table");
//! let names: Vec<_> = gather.attributes.iter().map(|a| a.name).collect();
//! assert_eq!(names, ["dimension_numbers", "indices_are_sorted", "slice_sizes"]);
//! ```

mod elementwise;
mod info;
mod table;
mod version;

pub use elementwise::{elementwise_name, elementwise_opcode, plain_opcode};
pub use info::{Inherent, ListOf, OperationInfo, Versioned};
pub use version::Version;

use std::collections::HashMap;
use std::sync::LazyLock;

/// Returns the operation of a name with its dialect, such as `stablehlo.add`. Returns `None` if the dialects
/// `builtin`, `chlo`, `func`, `sdy` and `stablehlo` do not have it.
pub fn operation(name: &str) -> Option<&'static OperationInfo> {
    let at = table::OPERATIONS.binary_search_by(|info| info.name.cmp(name)).ok()?;
    table::OPERATIONS.get(at)
}

/// Returns all operations, sorted by name.
pub fn operations() -> &'static [OperationInfo] {
    table::OPERATIONS
}

/// Returns the operation that a VHLO name such as `add_v1` stands for. `return_v1` stands for
/// `stablehlo.return`, and in the body of a function for `func.return`.
pub fn vhlo_operation(name: &str) -> Option<(&'static OperationInfo, &'static Versioned)> {
    static BY_NAME: LazyLock<HashMap<&'static str, (&'static OperationInfo, &'static Versioned)>> =
        LazyLock::new(|| {
            let all =
                table::OPERATIONS.iter().flat_map(|info| info.vhlo.iter().map(move |v| (v.name, (info, v))));
            all.collect()
        });
    BY_NAME.get(name).copied()
}
