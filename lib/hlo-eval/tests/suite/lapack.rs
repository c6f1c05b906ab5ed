//! Tests of LAPACK's routines as custom calls.

use crate::common::{module, run};
use hlo_eval::{Options, evaluate};
use hlo_ir::{ElementType, Literal, Shape};

/// Calls a routine with a matrix of real numbers, in row-major order. Returns the results.
fn call(target: &str, attributes: &str, [rows, columns]: [i64; 2], a: &[f64], results: &str) -> Vec<Literal> {
    let text = format!(
        "HloModule m
        ENTRY e {{
          a = f64[{rows},{columns}] parameter(0)
          ROOT r = ({results}) custom-call(a), custom_call_target=\"{target}\", api_version=API_VERSION_TYPED_FFI, backend_config={{{attributes}}}
        }}"
    );
    let a = Literal::from_elements(Shape::array(ElementType::F64, [rows, columns]), a);
    let got = evaluate(&module(&text), &[a], &Options::default()).unwrap();
    got.leaves().into_iter().cloned().collect()
}

fn doubles(value: &Literal) -> &[f64] {
    value.elements()
}

#[test]
fn the_interpreter_has_them() {
    let text = r#"HloModule m
        ENTRY e {
          a = f32[2,2] constant({{2,1},{1,2}})
          ROOT r = (f32[2,2], f32[2]) custom-call(a), custom_call_target="Eigh", backend_config="1,1,100,1e-6"
        }"#;
    let got = run(text, &[]).unwrap();
    let bytes: Vec<u8> = got.leaves().iter().flat_map(|l| l.bytes().to_vec()).collect();
    let numbers: Vec<f32> =
        bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect();
    let half = std::f32::consts::FRAC_1_SQRT_2;
    assert_eq!(numbers, [half, half, -half, half, 1.0, 3.0]);
}

#[test]
fn exact_results_are_exact() {
    let got = call("lapack_dgetrf_ffi", "", [2, 2], &[1.0, 2.0, 3.0, 4.0], "f64[2,2], s32[2], s32[]");
    assert_eq!(doubles(&got[0]), [3.0, 4.0, 1.0 / 3.0, 2.0 - 4.0 / 3.0]);
    assert_eq!((got[1].elements::<i32>(), got[2].elements::<i32>()), (&[2, 2][..], &[0][..]));
    // The sign of beta is opposite to that of the element it replaces.
    let got = call("lapack_dgeqrf_ffi", "", [2, 1], &[3.0, 4.0], "f64[2,1], f64[1]");
    assert_eq!((doubles(&got[0]), doubles(&got[1])), (&[-5.0, 0.5][..], &[1.6][..]));
    // A rotation by 90° has the eigenvalues ±i, the one above the real axis first.
    let got = call(
        "lapack_dgeev_ffi",
        "compute_left = 78 : ui8, compute_right = 86 : ui8",
        [2, 2],
        &[0.0, -1.0, 1.0, 0.0],
        "f64[2], f64[2], c128[2,2], c128[2,2], s32[]",
    );
    assert_eq!((doubles(&got[0]), doubles(&got[1])), (&[0.0; 2][..], &[1.0, -1.0][..]));
}

#[test]
fn what_is_defective_has_finite_vectors() {
    let n = 40;
    let shift: Vec<f64> = (0..n * n).map(|at| if at % n == at / n + 1 { 1.0 } else { 0.0 }).collect();
    let got = call(
        "lapack_dgeev_ffi",
        "compute_left = 86 : ui8, compute_right = 86 : ui8",
        [n, n],
        &shift,
        &format!("f64[{n}], f64[{n}], c128[{n},{n}], c128[{n},{n}], s32[]"),
    );
    assert_eq!(got[4].elements::<i32>(), [0]);
    for matrix in &got[..4] {
        let (parts, _) = matrix.bytes().as_chunks();
        assert!(parts.iter().all(|part| f64::from_ne_bytes(*part).is_finite()));
    }
}
