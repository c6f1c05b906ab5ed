//! Compares contractions written in Rust, with operators and with `tile!`, to those of a Tile text.

use hlo_builder::{Builder, Value};
use hlo_ir::diag::Code;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{ElementType, Module, Shape};
use hlo_tile::edsl::{Tensor, TensorOutput, cond, indices};
use hlo_tile::{Argument, Tile};

fn f32(dims: &[i64]) -> Shape {
    Shape::array(ElementType::F32, dims.iter().copied())
}

/// Returns the instructions of a module without their metadata.
fn instructions(module: &Module) -> Vec<String> {
    let text = print_module(module, &PrintOptions::short());
    let lines = text.lines().filter(|line| line.starts_with("  "));
    lines.map(|line| line.split(", metadata=").next().unwrap_or(line).to_owned()).collect()
}

/// Specializes the only function of a text for tensors of the given shapes.
fn of_text(text: &str, shapes: &[&[i64]]) -> Vec<String> {
    let tile = Tile::new("text.tile", text).unwrap();
    let arguments: Vec<Argument> =
        shapes.iter().map(|dims| Argument::tensor(ElementType::F32, dims)).collect();
    instructions(&tile.specialize(tile.only_function().unwrap(), &arguments).unwrap().module)
}

/// Builds a module with a function of Rust.
fn of_rust(
    names: &[&str],
    shapes: &[&[i64]],
    function: impl for<'b> Fn(&'b Builder, &[Value<'b>]) -> Value<'b>,
) -> Vec<String> {
    let b = Builder::new("f");
    let parameters: Vec<Value<'_>> =
        (0..).zip(names).zip(shapes).map(|((n, name), dims)| b.parameter(n, f32(dims), name)).collect();
    let result = function(&b, &parameters);
    b.set_return_value(result);
    instructions(&b.build().unwrap_or_else(|errors| panic!("{errors}")))
}

#[test]
fn a_product_is_that_of_the_text() {
    let shapes: &[&[i64]] = &[&[2, 3], &[3, 4]];
    let text = of_text(
        "def matmul(A, B):\n  I, J, K = TensorDims(3)\n  i, j, k = TensorIndexes(3)\n  A.bind_dims(I, K)\n  B.bind_dims(K, J)\n  \
         C = TensorOutput(I, J)\n  C[i, j] += A[i, k] * B[k, j]\n  return C\n",
        shapes,
    );
    let rust = of_rust(&["A", "B"], shapes, |b, p| {
        let [i, j, k] = indices(["i", "j", "k"]);
        let [rows, inner] = p[0].dims();
        let [_, columns] = p[1].bind_dims([Some(inner), None]);
        let mut c = TensorOutput::new(b, [rows, columns]);
        c[(i, j)] += p[0].at((i, k)) * p[1].at((k, j));
        c.value().named("C")
    });
    assert_eq!(rust, text);
}

#[test]
fn strides_constraints_and_defaults_are_those_of_the_text() {
    let shapes: &[&[i64]] = &[&[9], &[4]];
    let text = of_text(
        "def pooled(I, D):\n  i, j = TensorIndexes(2)\n  O = TensorOutput(4)\n  O[3 - i] >= I[2 * i + j - 1]\n  \
         O.add_constraint(j < 2)\n  O.use_default(D)\n  return O\n",
        shapes,
    );
    let rust = of_rust(&["I", "D"], shapes, |b, p| {
        let [i, j] = indices(["i", "j"]);
        let mut o = TensorOutput::new(b, [4]);
        o[3 - i].max(p[0].at(2 * i + j - 1));
        o.add_constraint(j.lt(2));
        o.use_default(p[1]);
        o.value().named("O")
    });
    assert_eq!(rust, text);
}

#[test]
fn division_scalars_and_lists_of_indices_are_those_of_the_text() {
    let shapes: &[&[i64]] = &[&[3, 3]];
    let text = of_text(
        "def trace(X):\n  i = TensorIndex()\n  O = TensorOutput()\n  O[()] *= X[(i - 1) // 2, -i + 4 - 2]\n  return O\n",
        shapes,
    );
    let rust = of_rust(&["X"], shapes, |b, p| {
        let [i] = indices(["i"]);
        let mut o = TensorOutput::new(b, []);
        o[()] *= p[0].at(vec![(i - 1).div_exact(2), -i + 4 - 2]);
        o.value().named("O")
    });
    assert_eq!(rust, text);
}

#[test]
fn elements_are_combined() {
    let b = Builder::new("combined");
    let x = b.constant_r1(&[1i32, 2, 1]);
    let y = b.constant_r1(&[1i32, 1, 5]);
    let z = b.constant_r1(&[10i32, 20, 30]);
    let [i] = indices(["i"]);
    let mut sums = TensorOutput::new(&b, [3]);
    sums[i].assign(x.at(i) + y.at(i));
    assert_eq!(b.compute_constant(sums.value()).unwrap().elements::<i32>(), [2, 3, 6]);
    let mut equal = TensorOutput::new(&b, [3]);
    equal[[i]].assign(x.at(&[i][..]).equals(y.at([i])));
    assert_eq!(b.compute_constant(equal.value()).unwrap().elements::<u8>(), [1, 0, 0]);
    let mut chosen = TensorOutput::new(&b, []);
    chosen[()] += cond(x.at(i), y.at(i), z.at(i));
    assert_eq!(b.compute_constant(chosen.value()).unwrap().elements::<i32>(), [10]);
    let mut least = TensorOutput::new(&b, []);
    least[()].min(z.at(i));
    assert_eq!(b.compute_constant(least.value()).unwrap().elements::<i32>(), [10]);
}

/// Returns the code and the message of the only error of a computation. Checks that a note of the error
/// contains the line.
fn error_of(build: impl for<'b> Fn(&'b Builder, Value<'b>) -> u32) -> (Option<Code>, String) {
    let b = Builder::new("wrong");
    let x = b.parameter(0, f32(&[4, 5]), "x");
    let line = build(&b, x);
    let errors = b.build().unwrap_err();
    let [error] = errors.diags() else { panic!("{errors}") };
    let place = format!("edsl.rs:{line}:");
    assert!(error.notes.iter().any(|note| note.contains(&place)), "{place} is not in {:?}", error.notes);
    (error.code, error.message.clone())
}

#[test]
fn errors_are_of_the_line_of_the_program() {
    let [i, j] = indices(["i", "j"]);
    let (code, message) = error_of(|b, x| {
        let mut o = TensorOutput::new(b, [4]);
        o[i] += x.at(i);
        let line = line!() - 1;
        o.value();
        line
    });
    assert_eq!(
        (code, message.as_str()),
        (Some(Code::new("E3021")), "`x` has 2 dimensions, and is read at 1 indices")
    );
    let (_, message) = error_of(|b, x| {
        let mut o = TensorOutput::new(b, [4]);
        o[i].assign(x.at((i, j)));
        let line = line!() - 1;
        o.value().exp();
        line
    });
    assert_eq!(message, "`=` writes the TensorOutput[0] more than once");
    let (_, message) = error_of(|b, x| {
        let o = TensorOutput::new(b, [4]);
        let _ = (o.value(), x);
        line!() - 2
    });
    assert_eq!(message, "the TensorOutput is never written");
    let (_, message) = error_of(|_, x| {
        let _: [i64; 2] = x.bind_dims([Some(4), Some(6)]);
        line!() - 1
    });
    assert_eq!(message, "dimension 1 of f32[4,5] is 5, and is bound to a size of 6");
    let (_, message) = error_of(|_, x| {
        let _: [i64; 3] = x.dims();
        line!() - 1
    });
    assert_eq!(message, "3 dimensions are bound, the tensor has 2: f32[4,5]");
    let (_, message) = error_of(|b, x| {
        let mut o = TensorOutput::new(b, [4]);
        o[i] += x.at((i, j));
        o[i] *= x.at((i, j));
        let line = line!() - 2;
        o.value();
        line
    });
    assert!(message.starts_with("the TensorOutput is written twice, at "), "{message}");
    for too_large in [i * i64::MAX, i.div_exact(0), (1 << 59) * i + (1 << 59) * i] {
        let (code, _) = error_of(|b, x| {
            let mut o = TensorOutput::new(b, [4]);
            o[i] += x.at((too_large.clone(), j));
            let line = line!() - 1;
            o.value();
            line
        });
        assert_eq!(code, Some(Code::new("E3013")));
    }
}

#[test]
fn what_is_computed_of_an_error_is_no_other_error() {
    let b = Builder::new("wrong");
    let x = b.parameter(0, f32(&[4]), "x");
    let wrong = x.dot(b.parameter(1, f32(&[5]), "y"));
    let [n, m] = wrong.dims();
    let [i, j] = indices(["i", "j"]);
    let mut o = TensorOutput::new(&b, [n, m]);
    o[(i, j)] += wrong.at((i, j)) * x.at(i);
    o.value();
    assert_eq!(b.errors().len(), 1, "{:?}", b.errors());
}

#[test]
fn what_is_likely_not_meant_is_a_warning() {
    let b = Builder::new("nothing");
    let x = b.parameter(0, f32(&[4]), "x");
    let [i] = indices(["i"]);
    let mut o = TensorOutput::new(&b, [4]);
    o[i] += x.at(i + 7);
    let (value, warnings) = o.value_and_warnings();
    assert_eq!(value.shape().unwrap(), f32(&[4]));
    assert_eq!(warnings.len(), 1);
}
