//! Tests of the registry of custom calls with LAPACK's routines: targets in Rust, built-in targets, and calls
//! that are rejected.

use hlo_custom_call::{ApiVersion, ArrayType, CallSite, Registry, ValueType};
use hlo_runtime::Context;

/// Returns a registry with this crate's routines, and one with the interpreter's.
fn registries() -> [Registry; 2] {
    let (mut fast, mut plain) = (Registry::new(), Registry::new());
    fast.add(hlo_lapack::LAPACK);
    plain.add(hlo_eval::lapack::LAPACK);
    [fast, plain]
}

fn array(element: &str, dims: &[usize]) -> ValueType {
    let element_bytes = match element {
        "f64" | "c64" | "s64" => 8,
        "c128" => 16,
        "s8" | "pred" => 1,
        _ => 4,
    };
    ValueType::Array(ArrayType {
        element: element.into(),
        element_bytes,
        dims: dims.to_vec(),
        minor_to_major: (0..dims.len()).rev().collect(),
    })
}

/// Returns the same array with column-major matrices.
fn columns(element: &str, dims: &[usize]) -> ValueType {
    let ValueType::Array(mut a) = array(element, dims) else { unreachable!() };
    a.minor_to_major.swap(0, 1);
    ValueType::Array(a)
}

fn site(target: &str, operands: Vec<ValueType>, result: Vec<ValueType>) -> CallSite {
    let result = match <[ValueType; 1]>::try_from(result) {
        Ok([one]) => one,
        Err(several) => ValueType::Tuple(several),
    };
    CallSite { target: target.into(), operands, result, ..CallSite::default() }
}

fn lapack(target: &str, config: &str, operands: Vec<ValueType>, result: Vec<ValueType>) -> CallSite {
    CallSite { api: ApiVersion::TypedFfi, config: config.into(), ..site(target, operands, result) }
}

/// Calls a target on arrays of `T`, and returns the bytes of its results.
fn call<T: Copy>(registry: &Registry, site: &CallSite, operands: &[&[T]]) -> Result<Vec<Vec<u64>>, String> {
    let bytes: Vec<&[u8]> = operands
        .iter()
        // SAFETY: every number can be read as bytes.
        .map(|o| unsafe { std::slice::from_raw_parts(o.as_ptr().cast(), size_of_val(*o)) })
        .collect();
    let sizes: Vec<usize> = site.result_arrays().iter().map(|a| a.byte_size()).collect();
    let mut results: Vec<Vec<u64>> = sizes.iter().map(|s| vec![0; s.div_ceil(8)]).collect();
    let mut views: Vec<&mut [u8]> = results
        .iter_mut()
        .zip(&sizes)
        // SAFETY: words can be accessed as bytes.
        .map(|(r, &s)| unsafe { std::slice::from_raw_parts_mut(r.as_mut_ptr().cast(), s) })
        .collect();
    registry.call(&Context::new(2), site, &bytes, &mut views).map_err(|e| e.0)?;
    Ok(results)
}

fn f32s(words: &[u64], n: usize) -> Vec<f32> {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_ne_bytes()).collect();
    bytes.chunks_exact(4).take(n).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
}

#[test]
fn targets_written_in_rust() {
    registries().into_iter().for_each(check_targets_written_in_rust);
}

fn check_targets_written_in_rust(mut registry: Registry) {
    registry.register("scale", |call| {
        let factor = call.operand::<f32>(1)?[0];
        let x = call.operand::<f32>(0)?;
        for (to, &from) in call.result::<f32>(0)?.iter_mut().zip(x) {
            *to = factor * from;
        }
        Ok(())
    });
    registry.register("panics", |_| panic!("oh"));
    let scale = site("scale", vec![array("f32", &[3]), array("f32", &[])], vec![array("f32", &[3])]);
    assert_eq!(registry.check(&scale), Ok(()));
    let got = call(&registry, &scale, &[&[1f32, 2.0, 3.0], &[2.0]]).unwrap();
    assert_eq!(f32s(&got[0], 3), [2.0, 4.0, 6.0]);
    let other = site("scale", vec![array("f32", &[3]), array("s32", &[])], vec![array("f32", &[3])]);
    let message = call(&registry, &other, &[&[1f32, 2.0, 3.0], &[2.0]]).unwrap_err();
    assert_eq!(message, "`scale`: operand 1 must be of type f32, it is s32[]");
    let panics = site("panics", vec![], vec![array("f32", &[])]);
    assert_eq!(call::<f32>(&registry, &panics, &[]).unwrap_err(), "`panics`: internal error: oh");
    // The buffers do not match the types.
    let message = call(&registry, &scale, &[&[1f32, 2.0], &[2.0]]).unwrap_err();
    assert_eq!(message, "`scale`: the buffers do not have the sizes of the types");
}

#[test]
fn names_that_are_not_known() {
    registries().into_iter().for_each(check_names_that_are_not_known);
}

fn check_names_that_are_not_known(mut registry: Registry) {
    registry.register("mine", |_| Ok(()));
    let unknown = |name: &str| registry.check(&site(name, vec![], vec![])).unwrap_err().0;
    assert_eq!(unknown("min"), "unknown custom call target `min`; did you mean `mine`?");
    assert_eq!(unknown("topk"), "unknown custom call target `topk`; did you mean `TopK`?");
    let message = unknown("something else");
    assert!(
        message.contains("known: ") && message.contains("mine") && message.contains("getrf"),
        "{message}"
    );
    // Names of any length and contents.
    for name in ["", "lapack_", "lapack__ffi", "lapack_é_ffi", &"x".repeat(1 << 16), "a\0b"] {
        assert!(registry.check(&site(name, vec![], vec![])).is_err());
    }
}

#[test]
fn the_largest_elements() {
    registries().into_iter().for_each(check_the_largest_elements);
}

fn check_the_largest_elements(registry: Registry) {
    for (element, k) in [("f32", 2), ("s32", 4), ("u32", 0)] {
        let s =
            site("TopK", vec![array(element, &[2, 4])], vec![array(element, &[2, k]), array("s32", &[2, k])]);
        let input = [1u32, 7, 7, 0, 0x3f80_0000, 0, 5, 9];
        let got = call(&registry, &s, &[&input]).unwrap();
        let words: Vec<u32> = got[1].iter().flat_map(|w| [*w as u32, (*w >> 32) as u32]).collect();
        match k {
            2 => assert_eq!(words, [1, 2, 0, 3]),
            4 => assert_eq!(words, [1, 2, 0, 3, 0, 3, 2, 1]),
            _ => assert!(words.is_empty()),
        }
    }
    let refused = |operands: Vec<ValueType>, results: Vec<ValueType>| {
        assert!(registry.check(&site("TopK", operands, results)).is_err());
    };
    refused(vec![], vec![]);
    refused(vec![array("f32", &[])], vec![array("f32", &[]), array("s32", &[])]);
    refused(vec![array("f32", &[4])], vec![array("f32", &[5]), array("s32", &[5])]);
    refused(vec![array("f32", &[4])], vec![array("f32", &[2]), array("f32", &[2])]);
    refused(vec![array("c64", &[4])], vec![array("c64", &[2]), array("s32", &[2])]);
    refused(vec![columns("f32", &[4, 4])], vec![array("f32", &[4, 2]), array("s32", &[4, 2])]);
}

#[test]
fn moves_hand_on_their_operand_in_any_layout() {
    registries().into_iter().for_each(check_moves_hand_on_their_operand_in_any_layout);
}

fn check_moves_hand_on_their_operand_in_any_layout(registry: Registry) {
    let s = site("Sharding", vec![array("f32", &[2, 3])], vec![columns("f32", &[2, 3])]);
    let got = call(&registry, &s, &[&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0]]).unwrap();
    assert_eq!(f32s(&got[0], 6), [1.0, 4.0, 2.0, 5.0, 3.0, 6.0]);
    let s = site("annotate_device_placement", vec![array("f32", &[2])], vec![array("f32", &[3])]);
    assert_eq!(
        registry.check(&s).unwrap_err().0,
        "`annotate_device_placement`: hands on its operand where there is one device: f32[2] can't be f32[3]"
    );
}

/// A factor times its conjugate transpose equals the matrix, in either layout.
#[test]
fn routines_take_any_layout() {
    registries().into_iter().for_each(check_routines_take_any_layout);
}

fn check_routines_take_any_layout(registry: Registry) {
    let a = [4f32, 2.0, 2.0, 5.0];
    for make in [array, columns] {
        let types = vec![make("f32", &[2, 2]), array("s32", &[])];
        let s = lapack("lapack_spotrf_ffi", "{uplo = 76 : ui8}", vec![make("f32", &[2, 2])], types);
        let got = call(&registry, &s, &[&a]).unwrap();
        let l = f32s(&got[0], 4);
        // The other triangle is not changed.
        let want = if s.operand_arrays()[0].minor_to_major == [1, 0] {
            [2.0, 2.0, 1.0, 2.0]
        } else {
            [2.0, 1.0, 2.0, 2.0]
        };
        assert_eq!(l, want);
        assert_eq!(got[1], [0]);
    }
}

#[test]
fn what_is_not_finite_gives_nan_and_info() {
    registries().into_iter().for_each(check_what_is_not_finite_gives_nan_and_info);
}

fn check_what_is_not_finite_gives_nan_and_info(registry: Registry) {
    for bad in [f64::NAN, f64::INFINITY] {
        let a = [1.0, 2.0, bad, 4.0];
        let m = || array("f64", &[2, 2]);
        let v = || array("f64", &[2]);
        let info = || array("s32", &[]);
        let c = || array("c128", &[2, 2]);
        for (name, config, results) in [
            ("lapack_dgesdd_ffi", "{mode = 65 : ui8}", vec![m(), v(), m(), m(), info()]),
            ("lapack_dsyevd_ffi", "{mode = 86 : ui8, uplo = 76 : ui8}", vec![m(), v(), info()]),
            (
                "lapack_dgeev_ffi",
                "{compute_left = 86 : ui8, compute_right = 86 : ui8}",
                vec![v(), v(), c(), c(), info()],
            ),
            ("lapack_dgetrf_ffi", "{}", vec![m(), array("s32", &[2]), info()]),
            ("lapack_dgeqrf_ffi", "{}", vec![m(), v()]),
        ] {
            let s = lapack(name, config, vec![m()], results);
            let got = call(&registry, &s, &[&a]).unwrap();
            if name.contains("ev") || name.contains("gesdd") {
                assert!(f64::from_bits(got[1][0]).is_nan(), "{name}");
                assert_ne!(*got.last().unwrap(), [0], "{name}");
            }
        }
    }
}

/// Arrays without elements may have sizes that no loop can iterate over.
#[test]
fn enormous_sizes_of_nothing() {
    let (huge, f, info) = (1 << 60, |dims: &[usize]| array("f32", dims), || array("s32", &[]));
    for registry in registries() {
        let s =
            lapack("lapack_sgeqrf_ffi", "", vec![f(&[huge, 0, 0])], vec![f(&[huge, 0, 0]), f(&[huge, 0])]);
        assert!(call::<f32>(&registry, &s, &[&[]]).is_ok());
        let results = vec![f(&[0, huge]), array("s32", &[0]), info()];
        let lu = lapack("lapack_sgetrf_ffi", "", vec![f(&[0, huge])], results);
        let results = vec![f(&[0]), f(&[0]), f(&[0]), f(&[0, huge]), info()];
        let three = vec![f(&[0]), f(&[0]), f(&[0]), f(&[0, huge])];
        let tridiagonal = lapack("lapack_sgtsv_ffi", "", three, results);
        for s in [lu, tridiagonal] {
            let message = registry.check(&s).unwrap_err().0;
            assert!(
                message.contains("at most 2147483647 rows and columns, found 1152921504606846976"),
                "{message}"
            );
        }
    }
}

#[test]
fn empty_matrices() {
    registries().into_iter().for_each(check_empty_matrices);
}

fn check_empty_matrices(registry: Registry) {
    for dims in [[0, 0], [3, 0], [0, 3]] {
        let [m, n] = dims;
        let types = |list: &[&[usize]]| list.iter().map(|d| array("f32", d)).collect::<Vec<_>>();
        let mut results = types(&[&dims, &[0], &[m, m], &[n, n]]);
        results.push(array("s32", &[]));
        let s = lapack("lapack_sgesdd_ffi", "{mode = 65 : ui8}", types(&[&dims]), results);
        let got = call::<f32>(&registry, &s, &[&[]]).unwrap();
        assert_eq!(
            f32s(&got[2], m * m),
            (0..m * m).map(|i| f32::from(u8::from(i % (m + 1) == 0))).collect::<Vec<_>>()
        );
        let mut results = types(&[&dims]);
        results.extend([array("s32", &[0]), array("s32", &[])]);
        assert!(
            call::<f32>(&registry, &lapack("lapack_sgetrf_ffi", "", types(&[&dims]), results), &[&[]])
                .is_ok()
        );
        assert!(
            call::<f32>(
                &registry,
                &lapack("lapack_sgeqrf_ffi", "", types(&[&dims]), types(&[&dims, &[0]])),
                &[&[]]
            )
            .is_ok()
        );
    }
}

#[test]
fn operands_that_do_not_fit_are_refused() {
    registries().into_iter().for_each(check_operands_that_do_not_fit_are_refused);
}

fn check_operands_that_do_not_fit_are_refused(registry: Registry) {
    let f = |dims: &[usize]| array("f32", dims);
    let i = |dims: &[usize]| array("s32", dims);
    let refused = |name: &str, config: &str, operands: Vec<ValueType>, results: Vec<ValueType>, why: &str| {
        let message = registry.check(&lapack(name, config, operands, results)).unwrap_err().0;
        assert!(message.contains(why), "{message}\nshould contain: {why}");
    };
    let lu = "lapack_sgetrf_ffi";
    refused(lu, "", vec![], vec![], "has 1 operands, found 0");
    refused(
        lu,
        "",
        vec![f(&[2])],
        vec![f(&[2]), i(&[1]), i(&[])],
        "f32 of at least 2 dimensions as operand 0",
    );
    refused(lu, "", vec![i(&[2, 2])], vec![f(&[2, 2]), i(&[2]), i(&[])], "found s32[2,2]");
    refused(
        lu,
        "",
        vec![f(&[2, 2])],
        vec![f(&[2, 2]), i(&[3]), i(&[])],
        "gives [2] behind the batch as result 1",
    );
    refused(lu, "", vec![f(&[5, 2, 2])], vec![f(&[5, 2, 2]), i(&[4, 2]), i(&[5])], "a batch of one size");
    refused(lu, "{x", vec![f(&[2, 2])], vec![f(&[2, 2]), i(&[2]), i(&[])], "the attributes can't be read");
    let potrf = |config: &str, n: usize, why: &str| {
        refused("lapack_spotrf_ffi", config, vec![f(&[2, n])], vec![f(&[2, n]), i(&[])], why);
    };
    potrf("{}", 2, "the attribute `uplo` is missing");
    potrf("{uplo = 1 : ui8}", 2, "the attribute `uplo` must be 76 (`L`) or 85 (`U`), found 1");
    potrf("{uplo = 76 : ui8}", 3, "takes square matrices, found 2 by 3");
    let hessenberg = |low: i64, high: i64| {
        let config = format!("{{low = {low} : i32, high = {high} : i32}}");
        let results = vec![f(&[3, 3]), f(&[2]), i(&[])];
        refused("lapack_sgehrd_ffi", &config, vec![f(&[3, 3])], results, "works on the rows");
    };
    hessenberg(0, 3);
    hessenberg(3, 2);
    hessenberg(1, i64::MAX);
    hessenberg(i64::MIN, 3);
    let q = vec![f(&[3, 2]), f(&[3])];
    refused("lapack_sorgqr_ffi", "", q, vec![f(&[3, 2])], "at most as many reflectors as columns");
    // Sizes whose product exceeds any memory.
    let huge = 1 << 62;
    let s = lapack(lu, "", vec![f(&[huge, huge])], vec![f(&[huge, huge]), i(&[huge]), i(&[])]);
    assert!(registry.call(&Context::new(1), &s, &[], &mut []).is_err());
}
