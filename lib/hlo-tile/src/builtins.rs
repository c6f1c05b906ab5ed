//! The names and parameters of built-in functions.

use crate::elementwise::Function;

/// A built-in function that is not elementwise.
pub(crate) struct Builtin {
    /// The name.
    pub(crate) name: &'static str,
    /// The parameters. Names that end in `?` are optional. A last parameter with `*` accepts any number of
    /// arguments.
    pub(crate) parameters: &'static [&'static str],
}

/// The built-in functions that are not elementwise.
pub(crate) const BUILTINS: &[Builtin] = &[
    Builtin { name: "Contraction", parameters: &["lens?", "name?"] },
    Builtin { name: "TensorDim", parameters: &[] },
    Builtin { name: "TensorDims", parameters: &["count"] },
    Builtin { name: "TensorIndex", parameters: &[] },
    Builtin { name: "TensorIndexes", parameters: &["count"] },
    Builtin { name: "TensorLens", parameters: &["source", "target"] },
    Builtin { name: "TensorOutput", parameters: &["*"] },
    Builtin { name: "argsort", parameters: &["x", "axis?", "direction?"] },
    Builtin { name: "as_bool", parameters: &["x"] },
    Builtin { name: "as_float", parameters: &["x", "bits"] },
    Builtin { name: "as_int", parameters: &["x", "bits"] },
    Builtin { name: "as_uint", parameters: &["x", "bits"] },
    Builtin { name: "cast", parameters: &["x", "dtype"] },
    Builtin { name: "cond", parameters: &["lhs", "rhs", "true_case"] },
    Builtin { name: "einsum", parameters: &["*"] },
    Builtin { name: "gather", parameters: &["x", "y", "axis?"] },
    Builtin { name: "index", parameters: &["dims", "axis"] },
    Builtin { name: "len", parameters: &["list"] },
    Builtin { name: "prng", parameters: &["state", "dims"] },
    Builtin { name: "reshape", parameters: &["x", "dims"] },
    Builtin { name: "scatter", parameters: &["x", "y", "z"] },
    Builtin { name: "shape", parameters: &["x"] },
    Builtin { name: "trace", parameters: &["x", "message"] },
];

/// Returns the names that Tile defines: the built-in functions and `DType`.
///
/// # Example
/// ```
/// assert!(hlo_tile::builtin_names().any(|name| name == "TensorOutput"));
/// ```
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    let elementwise = Function::ALL.iter().map(|f| f.name()).filter(|n| Function::of_name(n).is_some());
    BUILTINS.iter().map(|b| b.name).chain(elementwise).chain(["DType", "SortDirection"])
}
