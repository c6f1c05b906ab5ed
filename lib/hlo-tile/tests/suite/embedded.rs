//! Tests `tile!`: Tile functions in a Rust program.

use hlo_builder::Builder;
use hlo_ir::{ElementType, Shape};

hlo_tile::tile! {
    # What stands in brackets may go on, indented as one likes.
    def matmul(A, B):
        """The product of two matrices."""
        I, J, K = TensorDims(3)
        i, j, k = TensorIndexes(3)
        A.bind_dims(I, K)
        B.bind_dims(K,
          J)
        C = TensorOutput(I, J)
        C[i, j] += A[i, k] * B[
  k, j]
        return C

    def halves(X, step=2):
        N = TensorDim()
        n = TensorIndex()
        X.bind_dims(N)
        O = TensorOutput((N + step - 1) / / step)  # a half
        O[n] = X[step * n]
        return O

    # Several results, names that are words of Rust, a call of another function.
    def both(type, scale, flag):
        low = select(flag, type * scale, type)
        return low, halves(type, step=3)

    def left(X, wide):
        """X: [N]"""
        N = TensorDim()
        n = TensorIndex()
        X.bind_dims(N)
        O = TensorOutput(
N if wide else 1
        )  # as in http://example.org
        O[n] = X[n]
        return O
}

mod inner {
    hlo_tile::tile! { def twice(X): return X + X }
}

#[test]
fn functions_are_called_on_values() {
    let b = Builder::new("calls");
    let x = b.constant_r2(&[[1.0f32, 2.0], [3.0, 4.0]]);
    let y = b.constant_r2(&[[0.0f32, 1.0], [1.0, 0.0]]);
    let product = inner::twice(&b, matmul(&b, x, y));
    assert_eq!(b.compute_constant(product).unwrap().elements::<f32>(), [4.0, 2.0, 8.0, 6.0]);

    let line = b.constant_r1(&[1.0f32, 2.0, 3.0, 4.0, 5.0]);
    let taken = |value| b.compute_constant(value).unwrap().elements::<f32>().to_vec();
    assert_eq!(taken(halves(&b, line, ())), [1.0, 3.0, 5.0]);
    assert_eq!(taken(halves(&b, line, 4)), [1.0, 5.0]);
    let [scaled, third] = both(&b, line, 0.5, true);
    assert_eq!(taken(scaled), [0.5, 1.0, 1.5, 2.0, 2.5]);
    assert_eq!(taken(third), [1.0, 4.0]);
    assert_eq!(taken(left(&b, line, true)).len(), 5);
    assert_eq!(taken(left(&b, line, false)), [1.0]);
}

#[test]
fn instructions_have_the_lines_of_the_program() {
    let b = Builder::new("lines");
    let matrix = b.parameter(0, Shape::array(ElementType::F32, [3, 3]), "x");
    b.set_return_value(matmul(&b, matrix, matrix));
    let module = b.build().unwrap();
    let metadata = &module[module[module.entry()].root()].common.as_ref().unwrap().metadata;
    assert!(metadata.source_file.as_str().unwrap().ends_with("embedded.rs"));
    let line =
        include_str!("embedded.rs").lines().position(|l| l.contains("C[i, j] += A[i, k]")).unwrap() + 1;
    assert_eq!(metadata.source_line as usize, line);
    assert_eq!(metadata.op_name.as_str(), Some("matmul"));
}

#[test]
fn errors_have_the_lines_of_the_program() {
    let b = Builder::new("errors");
    let f32 = |dims: &[i64]| Shape::array(ElementType::F32, dims.iter().copied());
    let x = b.parameter(0, f32(&[3, 4]), "x");
    let y = b.parameter(1, f32(&[5, 4]), "y");
    // Operations on a failed value report no further error.
    let product = matmul(&b, x, y);
    let called = line!() - 1;
    inner::twice(&b, product).exp();
    let errors = b.build().unwrap_err();
    let [error] = errors.diags() else { panic!("{errors}") };
    assert_eq!(error.message, "`K` is 4, but dimension 0 of the tensor is 5");
    let at = |text: &str| include_str!("embedded.rs").lines().position(|l| l.contains(text)).unwrap() + 1;
    let shown = errors.to_string();
    for line in [at("B.bind_dims(K,"), at("A.bind_dims(I, K)"), called as usize] {
        assert!(shown.contains(&format!("embedded.rs:{line}")), "line {line}: {shown}");
    }
}

/// A function does not rename the tensors that are passed to it.
#[test]
fn arguments_keep_their_names() {
    let b = Builder::new("names");
    let x = b.parameter(0, Shape::array(ElementType::F32, [3]), "x");
    let y = x.exp().named("y");
    both(&b, x, y, true);
    inner::twice(&b, y);
    assert_eq!((x.name().as_deref(), y.name().as_deref()), (Some("x"), Some("y")));
}

#[test]
fn values_of_others_are_one_error() {
    let (b, other) = (Builder::new("one"), Builder::new("other"));
    let x = b.parameter(0, Shape::array(ElementType::F32, [3]), "x");
    let foreign = other.parameter(0, Shape::array(ElementType::F32, [3]), "x");
    x.dot(x.reshape(&[1, 3])).exp();
    let line = line!() + 1;
    both(&b, x, foreign, true);
    let errors = b.errors();
    assert_eq!(errors.len(), 2, "{errors:?}");
    assert!(errors[1].message.contains("`other`"), "{errors:?}");
    let place = format!("embedded.rs:{line}:");
    assert!(errors[1].notes.iter().any(|n| n.contains(&place)), "{errors:?}");
}

#[test]
fn wrong_calls_are_errors() {
    let b = Builder::new("calls");
    let x = b.parameter(0, Shape::array(ElementType::F32, [3]), "x");
    halves(&b, 1.5, x);
    let tuple = b.tuple(&[x]);
    halves(&b, tuple, 2);
    assert_eq!(b.errors().len(), 2, "{:?}", b.errors());
}
