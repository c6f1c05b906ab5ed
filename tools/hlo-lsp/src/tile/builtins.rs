//! The built-in functions, methods and element types of Tile, with a one-line description of each.

/// A function, a method or an attribute.
#[derive(Clone, Copy, Debug)]
pub struct Builtin {
    /// The name.
    pub name: &'static str,
    /// The parameters, in parentheses; empty if it is not callable.
    pub takes: &'static str,
    /// The description.
    pub doc: &'static str,
    /// A statement that uses it.
    pub example: &'static str,
}

const fn entry(name: &'static str, takes: &'static str, doc: &'static str, example: &'static str) -> Builtin {
    Builtin { name, takes, doc, example }
}

/// The functions, `DType` and `SortDirection`.
pub const FUNCTIONS: &[Builtin] = &[
    entry(
        "TensorOutput",
        "(size, …)",
        "A new tensor of these sizes, which one contraction writes; `TensorOutput()` has no dimensions.",
        "O = TensorOutput(M, N)",
    ),
    entry("TensorDim", "()", "A dimension, whose size `bind_dims` says.", "K = TensorDim()"),
    entry("TensorDims", "(count)", "Several dimensions.", "K, L = TensorDims(2)"),
    entry("TensorIndex", "()", "An index, which runs over all that is valid.", "i = TensorIndex()"),
    entry("TensorIndexes", "(count)", "Several indices.", "i, j = TensorIndexes(2)"),
    entry(
        "Contraction",
        "(lens?, name?)",
        "A contraction as a chain, PlaidML 1's spelling of `O[n] += X[m, n]`. Without `outShape` and `outAccess` the tensor has no dimensions.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
    entry("abs", "(x)", "The absolute value of each element.", "O = abs(X)"),
    entry("acos", "(x)", "The angle of each element, of which it is the cosine.", "O = acos(X)"),
    entry("acosh", "(x)", "The inverse of `cosh`, of each element.", "O = acosh(X)"),
    entry(
        "argsort",
        "(x, axis?, direction?)",
        "The indices that sort a tensor along an axis, the last one if none is given; `direction` is 0 (ascending) or 1 (descending).",
        "O = argsort(X, 0, SortDirection.DESC)",
    ),
    entry("as_bool", "(x)", "Whether each element is not 0.", "O = as_bool(X)"),
    entry(
        "as_float",
        "(x, bits)",
        "Each element as a floating-point number of 16, 32 or 64 bits.",
        "O = as_float(I, 32)",
    ),
    entry("as_int", "(x, bits)", "Each element as an integer of 8, 16, 32 or 64 bits.", "O = as_int(X, 32)"),
    entry(
        "as_uint",
        "(x, bits)",
        "Each element as an integer without a sign of 8, 16, 32 or 64 bits.",
        "O = as_uint(X, 8)",
    ),
    entry("asin", "(x)", "The angle of each element, of which it is the sine.", "O = asin(X)"),
    entry("asinh", "(x)", "The inverse of `sinh`, of each element.", "O = asinh(X)"),
    entry("atan", "(x)", "The angle of each element, of which it is the tangent.", "O = atan(X)"),
    entry("atanh", "(x)", "The inverse of `tanh`, of each element.", "O = atanh(X)"),
    entry("cast", "(x, dtype)", "Each element in another element type.", "O = cast(X, DType.FLOAT64)"),
    entry("ceil", "(x)", "Each element rounded up.", "O = ceil(X)"),
    entry(
        "cond",
        "(lhs, rhs, true_case)",
        "In a contraction: the third element where the first two are equal, else 0.",
        "R[n] += cond(X[m, n], Y[m, n], X[m, n])",
    ),
    entry("cos", "(x)", "The cosine of each element.", "O = cos(X)"),
    entry("cosh", "(x)", "The hyperbolic cosine of each element.", "O = cosh(X)"),
    entry(
        "einsum",
        "(formula, x, …)",
        "Sums of products of tensors, in numpy's notation; each product becomes a contraction.",
        "O = einsum(\"mn,n->m\", X, Z)",
    ),
    entry("erf", "(x)", "The error function of each element.", "O = erf(X)"),
    entry("exp", "(x)", "e to the power of each element.", "O = exp(X)"),
    entry("floor", "(x)", "Each element rounded down.", "O = floor(X)"),
    entry(
        "gather",
        "(x, y, axis?)",
        "The slices of `x` along an axis, the first one if none is given, at the indices `y`.",
        "O = gather(X, I, 0)",
    ),
    entry("ident", "(x)", "Each element as it is.", "O = ident(X)"),
    entry(
        "index",
        "(dims, axis)",
        "For each element of a tensor of these sizes its index in a dimension, in `s32`.",
        "O = index((M, N), 1)",
    ),
    entry("len", "(list)", "How many elements a list has.", "O = X * len(X.shape)"),
    entry("log", "(x)", "The natural logarithm of each element.", "O = log(X)"),
    entry("logical_and", "(x, y)", "Whether both elements are not 0.", "O = logical_and(X > 0, Y > 0)"),
    entry("logical_not", "(x)", "Whether each element is 0.", "O = logical_not(X > 0)"),
    entry("logical_or", "(x, y)", "Whether one of two elements is not 0.", "O = logical_or(X > 0, Y > 0)"),
    entry(
        "logical_xor",
        "(x, y)",
        "Whether exactly one of two elements is not 0.",
        "O = logical_xor(X > 0, Y > 0)",
    ),
    entry("max", "(x, y)", "The greater one of two elements.", "O = max(X, 0)"),
    entry("min", "(x, y)", "The lesser one of two elements.", "O = min(X, Y)"),
    entry("pow", "(x, y)", "Each element to the power of another.", "O = pow(X, 2)"),
    entry(
        "prng",
        "(state, dims)",
        "Random numbers from 0 to 1 in a tensor of these sizes, and the next state; a state is `u32[3]` or `u32[1,3]`.",
        "O, T = prng(S, (M, N))",
    ),
    entry("relu", "(x)", "Each element, or 0 if it is less.", "O = relu(X)"),
    entry(
        "reshape",
        "(x, dims)",
        "The same elements in row-major order in a tensor of other sizes.",
        "O = reshape(X, (N, M))",
    ),
    entry("round", "(x)", "Each element rounded to the nearest whole number.", "O = round(X)"),
    entry(
        "scatter",
        "(x, y, z)",
        "Zeros in the shape of `z`, to whose slices at the indices `y` those of `x` are added.",
        "O = scatter(X, I, Y)",
    ),
    entry(
        "select",
        "(x, y, z)",
        "The elements of `y` where `x` is true, else those of `z`.",
        "O = select(X > 0, X, Y)",
    ),
    entry("shape", "(x)", "The sizes of a tensor, as a tensor `s32[rank]`.", "O = shape(X)"),
    entry("sigmoid", "(x)", "1 / (1 + exp(-x)) of each element.", "O = sigmoid(X)"),
    entry("sign", "(x)", "-1, 0 or 1 by the sign of each element.", "O = sign(X)"),
    entry("sin", "(x)", "The sine of each element.", "O = sin(X)"),
    entry("sinh", "(x)", "The hyperbolic sine of each element.", "O = sinh(X)"),
    entry("sqrt", "(x)", "The square root of each element.", "O = sqrt(X)"),
    entry("tan", "(x)", "The tangent of each element.", "O = tan(X)"),
    entry("tanh", "(x)", "The hyperbolic tangent of each element.", "O = tanh(X)"),
    entry(
        "trace",
        "(x, message)",
        "The tensor, which is printed after the message when the program runs.",
        "O = trace(X, \"X is\")",
    ),
    entry(
        "SortDirection",
        "",
        "The directions of `argsort`, `ASC` and `DESC`.",
        "O = argsort(X, 0, SortDirection.ASC)",
    ),
    entry(
        "TensorLens",
        "(source, target)",
        "The order of a tensor's dimensions: those of the tensor are in the order of `source`, the function names them in that of `target`.",
        "O = X.use(TensorLens('NM', 'MN'))",
    ),
    entry("DType", "", "The element types, for `cast`.", "O = cast(X, DType.INT32)"),
];

/// Methods and attributes of tensors.
pub const OF_TENSORS: &[Builtin] = &[
    entry(
        "bind_dims",
        "(dim, …)",
        "Gives dimensions the sizes of the tensor; those that have a size already must have the same.",
        "X.bind_dims(M, N)",
    ),
    entry("dtype", "", "The element type of the tensor.", "O = cast(I, X.dtype)"),
    entry("rank", "", "How many dimensions the tensor has.", "O = X * X.rank"),
    entry(
        "shape",
        "",
        "The sizes of the tensor: `X.shape.dims`, `X.shape.ndims`, `X.shape[0]`.",
        "O = reshape(X, X.shape.dims)",
    ),
    entry("size", "", "How many elements the tensor has.", "O = X / X.size"),
    entry(
        "use",
        "(lens)",
        "The tensor with its dimensions in the order of the lens.",
        "O = X.use(TensorLens('NM', 'MN'))",
    ),
];

/// Methods of outputs, and of contractions before `build`.
pub const OF_OUTPUTS: &[Builtin] = &[
    entry(
        "add_constraint",
        "(index < bound)",
        "Indices are valid only where `0 <= index < bound`.",
        "R.add_constraint(m < 2)",
    ),
    entry(
        "add_constraints",
        "(index < bound, …)",
        "The same for several constraints.",
        "R.add_constraints(m < 2, n < 2)",
    ),
    entry("no_reduce", "()", "A hint to PlaidML, which changes nothing.", "R.no_reduce()"),
    entry(
        "use_default",
        "(x)",
        "Elements that are not written are those of `x`, which has the shape of the output.",
        "R.use_default(Z)",
    ),
];

/// Methods of contractions before `build`.
pub const OF_CONTRACTIONS: &[Builtin] = &[
    entry(
        "assign",
        "(rhs)",
        "Each element has one value, as by `O[n] = …`.",
        "O = Contraction().outShape(M, N).outAccess(m, n).assign(X[m, n]).build()",
    ),
    entry(
        "build",
        "()",
        "The contraction as a tensor, of which all has been said.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
    entry(
        "init",
        "(x)",
        "Every element is aggregated with that of `x`, too.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).init(Z).build()",
    ),
    entry(
        "max",
        "(rhs)",
        "The greatest of several values for an element, as by `O[n] >= …`.",
        "O = Contraction().outShape(N).outAccess(n).max(X[m, n]).build()",
    ),
    entry(
        "min",
        "(rhs)",
        "The least of several values for an element, as by `O[n] <= …`.",
        "O = Contraction().outShape(N).outAccess(n).min(X[m, n]).build()",
    ),
    entry(
        "outAccess",
        "(index, …)",
        "The element that is written.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
    entry(
        "outShape",
        "(size, …)",
        "The sizes of the output.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
    entry(
        "product",
        "(rhs)",
        "The product of several values for an element, as by `O[n] *= …`.",
        "O = Contraction().outShape(N).outAccess(n).product(X[m, n]).build()",
    ),
    entry(
        "sum",
        "(rhs)",
        "The sum of several values for an element, as by `O[n] += …`.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
];

/// Attributes of `X.shape`.
pub const OF_SHAPES: &[Builtin] = &[
    entry("dims", "", "The sizes, as a list.", "O = reshape(X, X.shape.dims)"),
    entry("ndims", "", "How many dimensions there are.", "O = X * X.shape.ndims"),
];

/// The members of `DType` and their HLO element types.
pub const ELEMENT_TYPES: [(&str, &str); 13] = [
    ("BOOLEAN", "pred"),
    ("INT8", "s8"),
    ("INT16", "s16"),
    ("INT32", "s32"),
    ("INT64", "s64"),
    ("UINT8", "u8"),
    ("UINT16", "u16"),
    ("UINT32", "u32"),
    ("UINT64", "u64"),
    ("BFLOAT16", "bf16"),
    ("FLOAT16", "f16"),
    ("FLOAT32", "f32"),
    ("FLOAT64", "f64"),
];

/// Returns the function called `name`.
pub fn of_name(name: &str) -> Option<&'static Builtin> {
    FUNCTIONS.iter().find(|b| b.name == name)
}

/// Returns the parameters of a callable. Omits parameters that may be repeated.
pub fn parameters(builtin: &Builtin) -> impl Iterator<Item = &'static str> {
    let names = builtin
        .takes
        .trim_matches(['(', ')'])
        .split(", ")
        .filter(|n| !builtin.takes.contains('…') && !n.is_empty());
    names.map(|n| n.trim_end_matches('?'))
}

/// Describes the aggregation of a contraction's operator.
pub fn aggregation(operator: &str) -> Option<&'static str> {
    Some(match operator {
        "+=" => "Values for the same element are added.",
        "*=" => "Values for the same element are multiplied.",
        ">=" => "Of several values for an element the greatest is taken.",
        "<=" => "Of several values for an element the least is taken.",
        "=" => "Each element has one value at most.",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlo_tile::Tile;

    #[test]
    fn all_functions_that_there_are_have_a_description() {
        let mut expected: Vec<&str> = hlo_tile::builtin_names().collect();
        let mut described: Vec<&str> = FUNCTIONS.iter().map(|b| b.name).collect();
        expected.sort_unstable();
        described.sort_unstable();
        assert_eq!(described, expected);
    }

    /// Returns a function that contains the statement of an example.
    fn program(example: &str) -> String {
        // The example writes the output whose methods it calls, or this function does.
        let write = if example.starts_with("R[") { "" } else { "  R[n] += X[m, n]\n" };
        let (before, after) = if example.starts_with("R.") { (write, "") } else { ("", write) };
        let result = if example.starts_with("O = ") && !example.contains("TensorOutput") { "O" } else { "X" };
        format!(
            "# tile: X: f32[2,3], Y: f32[2,3], Z: f32[3], I: s32[2], S: u32[3]\ndef f(X, Y, Z, I, S):\n  \
             M, N = TensorDims(2)\n  m, n = TensorIndexes(2)\n  X.bind_dims(M, N)\n  R = TensorOutput(N)\n\
             {before}  {example}\n{after}  T = R + 1\n  return {result}, T\n"
        )
    }

    #[test]
    fn examples_are_tile_and_have_what_they_are_of() {
        let all = [FUNCTIONS, OF_TENSORS, OF_OUTPUTS, OF_CONTRACTIONS, OF_SHAPES].concat();
        for b in all {
            assert!(b.example.contains(b.name), "{}", b.name);
            let text = program(b.example);
            let made = Tile::new("example.tile", &text)
                .and_then(|tile| tile.specialize("f", &tile.directive("f").expect("arguments").arguments));
            assert!(made.is_ok(), "{}: {made:?}", b.name);
        }
    }

    #[test]
    fn parameters_are_those_that_there_are() {
        for b in FUNCTIONS {
            for name in parameters(b) {
                // Passing an argument twice reports an error that shows that the parameter exists.
                let text = format!("def f(X):\n  return {}({name}=X, {name}=X)\n", b.name);
                let tile = Tile::new("call.tile", &text).unwrap();
                let x = hlo_tile::Argument::tensor(hlo_ir::ElementType::F32, &[2]);
                let message = tile.specialize("f", &[x]).unwrap_err().message;
                let fits = message.contains("is given twice");
                assert!(fits, "{}: {message}", b.name);
            }
        }
    }

    #[test]
    fn element_types_are_those_that_there_are() {
        for (name, in_hlo) in ELEMENT_TYPES {
            let text = format!("def f(X):\n  return cast(X, DType.{name})\n");
            let x = hlo_tile::Argument::tensor(hlo_ir::ElementType::S32, &[2]);
            let made = Tile::new("cast.tile", &text).unwrap().specialize("f", &[x]).unwrap();
            let root = made.module[made.module.entry()].root();
            assert_eq!(made.module[root].shape.to_string(), format!("{in_hlo}[2]"), "{name}");
        }
    }
}
