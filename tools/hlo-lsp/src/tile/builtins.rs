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
        "A new tensor of these sizes. One contraction writes its elements. `TensorOutput()` has no dimensions.",
        "O = TensorOutput(M, N)",
    ),
    entry("TensorDim", "()", "A dimension. `bind_dims` assigns its size.", "K = TensorDim()"),
    entry("TensorDims", "(count)", "Several dimensions.", "K, L = TensorDims(2)"),
    entry(
        "TensorIndex",
        "()",
        "An index. A contraction iterates over all its valid values.",
        "i = TensorIndex()",
    ),
    entry("TensorIndexes", "(count)", "Several indices.", "i, j = TensorIndexes(2)"),
    entry(
        "Contraction",
        "(lens?, name?)",
        "A contraction as a chain of calls, PlaidML 1's form of `O[n] += X[m, n]`. Without `outShape` and `outAccess`, the tensor has no dimensions.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
    entry("abs", "(x)", "The absolute value of each element.", "O = abs(X)"),
    entry("acos", "(x)", "The inverse cosine of each element, in radians.", "O = acos(X)"),
    entry("acosh", "(x)", "The inverse hyperbolic cosine of each element.", "O = acosh(X)"),
    entry(
        "argsort",
        "(x, axis?, direction?)",
        "The indices that sort a tensor along an axis, by default the last one. `direction` is 0 (ascending) or 1 (descending).",
        "O = argsort(X, 0, SortDirection.DESC)",
    ),
    entry("as_bool", "(x)", "Whether each element is not 0.", "O = as_bool(X)"),
    entry(
        "as_float",
        "(x, bits)",
        "Each element as a floating-point number of 16, 32 or 64 bits.",
        "O = as_float(I, 32)",
    ),
    entry(
        "as_int",
        "(x, bits)",
        "Each element as a signed integer of 8, 16, 32 or 64 bits.",
        "O = as_int(X, 32)",
    ),
    entry(
        "as_uint",
        "(x, bits)",
        "Each element as an unsigned integer of 8, 16, 32 or 64 bits.",
        "O = as_uint(X, 8)",
    ),
    entry("asin", "(x)", "The inverse sine of each element, in radians.", "O = asin(X)"),
    entry("asinh", "(x)", "The inverse hyperbolic sine of each element.", "O = asinh(X)"),
    entry("atan", "(x)", "The inverse tangent of each element, in radians.", "O = atan(X)"),
    entry("atanh", "(x)", "The inverse hyperbolic tangent of each element.", "O = atanh(X)"),
    entry(
        "cast",
        "(x, dtype)",
        "Each element converted to another element type.",
        "O = cast(X, DType.FLOAT64)",
    ),
    entry("ceil", "(x)", "Each element rounded up.", "O = ceil(X)"),
    entry(
        "cond",
        "(lhs, rhs, true_case)",
        "In a contraction: the third element if the first two are equal, otherwise 0.",
        "R[n] += cond(X[m, n], Y[m, n], X[m, n])",
    ),
    entry("cos", "(x)", "The cosine of each element.", "O = cos(X)"),
    entry("cosh", "(x)", "The hyperbolic cosine of each element.", "O = cosh(X)"),
    entry(
        "einsum",
        "(formula, x, …)",
        "Sums of products of tensors, in numpy's notation. Each product becomes a contraction.",
        "O = einsum(\"mn,n->m\", X, Z)",
    ),
    entry("erf", "(x)", "The error function of each element.", "O = erf(X)"),
    entry("exp", "(x)", "e to the power of each element.", "O = exp(X)"),
    entry("floor", "(x)", "Each element rounded down.", "O = floor(X)"),
    entry(
        "gather",
        "(x, y, axis?)",
        "The slices of `x` at the indices `y` along an axis, by default the first one.",
        "O = gather(X, I, 0)",
    ),
    entry("ident", "(x)", "Each element, unchanged.", "O = ident(X)"),
    entry(
        "index",
        "(dims, axis)",
        "A tensor of these sizes that contains the index of each element along a dimension, as `s32`.",
        "O = index((M, N), 1)",
    ),
    entry("len", "(list)", "The number of elements of a list.", "O = X * len(X.shape)"),
    entry("log", "(x)", "The natural logarithm of each element.", "O = log(X)"),
    entry("logical_and", "(x, y)", "Whether both elements are not 0.", "O = logical_and(X > 0, Y > 0)"),
    entry("logical_not", "(x)", "Whether each element is 0.", "O = logical_not(X > 0)"),
    entry(
        "logical_or",
        "(x, y)",
        "Whether at least one of two elements is not 0.",
        "O = logical_or(X > 0, Y > 0)",
    ),
    entry(
        "logical_xor",
        "(x, y)",
        "Whether exactly one of two elements is not 0.",
        "O = logical_xor(X > 0, Y > 0)",
    ),
    entry("max", "(x, y)", "The greater of two elements.", "O = max(X, 0)"),
    entry("min", "(x, y)", "The smaller of two elements.", "O = min(X, Y)"),
    entry("pow", "(x, y)", "Each element to the power of another.", "O = pow(X, 2)"),
    entry(
        "prng",
        "(state, dims)",
        "A tensor of these sizes with random numbers from 0 to 1, and the next state. A state is `u32[3]` or `u32[1,3]`.",
        "O, T = prng(S, (M, N))",
    ),
    entry("relu", "(x)", "Each element, or 0 if it is negative.", "O = relu(X)"),
    entry(
        "reshape",
        "(x, dims)",
        "A tensor of other sizes with the same elements, in row-major order.",
        "O = reshape(X, (N, M))",
    ),
    entry("round", "(x)", "Each element rounded to the nearest integer.", "O = round(X)"),
    entry(
        "scatter",
        "(x, y, z)",
        "A tensor of zeros with the shape of `z`, with the slices of `x` added at the indices `y`.",
        "O = scatter(X, I, Y)",
    ),
    entry(
        "select",
        "(x, y, z)",
        "The elements of `y` where `x` is true, and those of `z` elsewhere.",
        "O = select(X > 0, X, Y)",
    ),
    entry("shape", "(x)", "The sizes of a tensor, as a tensor `s32[rank]`.", "O = shape(X)"),
    entry("sigmoid", "(x)", "1 / (1 + exp(-x)) of each element.", "O = sigmoid(X)"),
    entry("sign", "(x)", "The sign of each element: -1, 0 or 1.", "O = sign(X)"),
    entry("sin", "(x)", "The sine of each element.", "O = sin(X)"),
    entry("sinh", "(x)", "The hyperbolic sine of each element.", "O = sinh(X)"),
    entry("sqrt", "(x)", "The square root of each element.", "O = sqrt(X)"),
    entry("tan", "(x)", "The tangent of each element.", "O = tan(X)"),
    entry("tanh", "(x)", "The hyperbolic tangent of each element.", "O = tanh(X)"),
    entry(
        "trace",
        "(x, message)",
        "The tensor. The program prints the message and the tensor when it runs.",
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
        "The order of a tensor's dimensions: `source` is the order in the tensor, and `target` the order in the function.",
        "O = X.use(TensorLens('NM', 'MN'))",
    ),
    entry("DType", "", "The element types, for `cast`.", "O = cast(X, DType.INT32)"),
];

/// Methods and attributes of tensors.
pub const OF_TENSORS: &[Builtin] = &[
    entry(
        "bind_dims",
        "(dim, …)",
        "Assigns the sizes of the tensor to dimensions. A dimension that already has a size must have the same one.",
        "X.bind_dims(M, N)",
    ),
    entry("dtype", "", "The element type of the tensor.", "O = cast(I, X.dtype)"),
    entry("rank", "", "The number of dimensions of the tensor.", "O = X * X.rank"),
    entry(
        "shape",
        "",
        "The sizes of the tensor: `X.shape.dims`, `X.shape.ndims`, `X.shape[0]`.",
        "O = reshape(X, X.shape.dims)",
    ),
    entry("size", "", "The number of elements of the tensor.", "O = X / X.size"),
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
        "Makes indices valid only where `0 <= index < bound`.",
        "R.add_constraint(m < 2)",
    ),
    entry(
        "add_constraints",
        "(index < bound, …)",
        "Adds several constraints.",
        "R.add_constraints(m < 2, n < 2)",
    ),
    entry("no_reduce", "()", "A hint for PlaidML. It changes nothing.", "R.no_reduce()"),
    entry(
        "use_default",
        "(x)",
        "Sets the default: elements that are not written have the values of `x`, which has the shape of the output.",
        "R.use_default(Z)",
    ),
];

/// Methods of contractions before `build`.
pub const OF_CONTRACTIONS: &[Builtin] = &[
    entry(
        "assign",
        "(rhs)",
        "Assigns one value to each element, like `O[n] = …`.",
        "O = Contraction().outShape(M, N).outAccess(m, n).assign(X[m, n]).build()",
    ),
    entry(
        "build",
        "()",
        "Completes the contraction and returns its tensor.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
    entry(
        "init",
        "(x)",
        "Also aggregates each element with the element of `x`.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).init(Z).build()",
    ),
    entry(
        "max",
        "(rhs)",
        "The greatest of the values for an element, like `O[n] >= …`.",
        "O = Contraction().outShape(N).outAccess(n).max(X[m, n]).build()",
    ),
    entry(
        "min",
        "(rhs)",
        "The smallest of the values for an element, like `O[n] <= …`.",
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
        "The product of the values for an element, like `O[n] *= …`.",
        "O = Contraction().outShape(N).outAccess(n).product(X[m, n]).build()",
    ),
    entry(
        "sum",
        "(rhs)",
        "The sum of the values for an element, like `O[n] += …`.",
        "O = Contraction().outShape(N).outAccess(n).sum(X[m, n]).build()",
    ),
];

/// Attributes of `X.shape`.
pub const OF_SHAPES: &[Builtin] = &[
    entry("dims", "", "The sizes, as a list.", "O = reshape(X, X.shape.dims)"),
    entry("ndims", "", "The number of dimensions.", "O = X * X.shape.ndims"),
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
        ">=" => "The result is the greatest of the values for an element.",
        "<=" => "The result is the smallest of the values for an element.",
        "=" => "Each element has at most one value.",
        _ => return None,
    })
}
