//! Tests of dynamic dimensions: values have their actual sizes. The expected numbers are jaxlib's. It
//! computes everything in arrays with the sizes of the bounds and masks the elements beyond the actual size.

use crate::common::{assert_same, run};

const ONE_TO_EIGHT: &str = "f32[8] {1,2,3,4,5,6,7,8}";

/// Runs `body` with `x`, an array of 8 elements, and `d`, its first `n` elements.
fn run_sized(body: &str, n: i32) -> Result<hlo_ir::Literal, hlo_eval::EvalError> {
    let text = format!(
        "HloModule m
         add {{ a = f32[] parameter(0)
           b = f32[] parameter(1)
           ROOT c = f32[] add(a, b) }}
         greater {{ a = f32[] parameter(0)
           b = f32[] parameter(1)
           ROOT c = pred[] compare(a, b), direction=GT }}
         ENTRY e {{
           x = f32[8] parameter(0)
           n = s32[] parameter(1)
           d = f32[<=8] set-dimension-size(x, n), dimensions={{0}}
           zero = f32[] constant(0)
           {body} }}"
    );
    run(&text, &[ONE_TO_EIGHT, &format!("s32[] {n}")])
}

/// Returns the sum and the size of a dimension of `s`, an array with the given dimensions.
fn summed(dimensions: &str, sized: usize) -> String {
    format!(
        "\n sum = f32[] reduce(s, zero), dimensions={{{dimensions}}}, to_apply=add
         size = s32[] get-dimension-size(s), dimensions={{{sized}}}
         ROOT both = (f32[], s32[]) tuple(sum, size)"
    )
}

#[test]
fn sums_and_sizes_are_those_of_jaxlib() {
    for (s, n, sum, size) in [
        ("s = f32[<=8] copy(d)", 5, "15", 5),
        ("s = f32[<=8] add(d, x)", 5, "30", 5),
        ("s = f32[<=16] concatenate(d, d), dimensions={0}", 5, "30", 10),
        (
            "i = f32[16] iota(), iota_dimension=0
             c = f32[<=16] concatenate(d, d), dimensions={0}
             s = f32[<=16] multiply(c, i)",
            5,
            "155",
            10,
        ),
        ("s = f32[4] slice(d), slice={[2:6]}", 5, "12", 4),
        ("s = f32[<=8] slice(d), slice={[0:8]}", 5, "15", 5),
        ("s = f32[4] slice(d), slice={[0:8:2]}", 5, "9", 4),
        (
            "i = f32[8] iota(), iota_dimension=0
             r = f32[<=8] reverse(d), dimensions={0}
             s = f32[<=8] multiply(r, i)",
            5,
            "20",
            5,
        ),
        ("p = f32[] constant(100)\n s = f32[<=11] pad(d, p), padding=1_2", 5, "315", 8),
        ("p = f32[] constant(100)\n s = f32[<=15] pad(d, p), padding=0_0_1", 5, "415", 9),
        ("p = f32[] constant(100)\n s = f32[<=5] pad(d, p), padding=-1_-2", 5, "5", 2),
        ("s = f32[<=7] reduce-window(d, zero), window={size=2}, to_apply=add", 5, "24", 4),
        ("s = f32[<=4] reduce-window(d, zero), window={size=2 stride=2}, to_apply=add", 5, "10", 2),
        (
            "i = f32[8] iota(), iota_dimension=0
             r = f32[<=8] sort(d), dimensions={0}, to_apply=greater
             s = f32[<=8] multiply(r, i)",
            5,
            "20",
            5,
        ),
        (
            "p = pred[8] constant({1,0,1,0,1,0,1,0})
             i = f32[8] iota(), iota_dimension=0
             s = f32[<=8] select(p, d, i)",
            5,
            "13",
            5,
        ),
        (
            "i = s32[3,1] constant({{0},{6},{4}})
             u = f32[3] constant({10,20,30})
             s = f32[<=8] scatter(d, i, u), update_window_dims={}, inserted_window_dims={0},
               scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
            5,
            "55",
            5,
        ),
        ("c = s32[<=8] bitcast-convert(d)\n s = f32[<=8] bitcast-convert(c)", 5, "15", 5),
    ] {
        let got = run_sized(&format!("{s}{}", summed("0", 0)), n);
        assert_same(got, &format!("(f32[], s32[]) ({sum}, {size})"));
    }
}

#[test]
fn arrays_of_two_dimensions() {
    let sizes = "two = s32[] constant(2)\n three = s32[] constant(3)\n";
    for (s, n, sum, sized, size) in [
        ("s = f32[2,<=8] broadcast(d), dimensions={1}", 5, "30", 1, 5),
        ("s = f32[2,<=4] dynamic-reshape(d, two, three)", 6, "21", 1, 3),
        ("s = f32[2,<=4] reshape(d)", 6, "21", 1, 3),
        ("s = f32[<=4,2] reshape(d)", 6, "21", 0, 3),
        (
            "b = f32[2,<=8] broadcast(d), dimensions={1}\n s = f32[<=8,2] transpose(b), dimensions={1,0}",
            5,
            "30",
            0,
            5,
        ),
    ] {
        let got = run_sized(&format!("{sizes}{s}{}", summed("0,1", sized)), n);
        assert_same(got, &format!("(f32[], s32[]) ({sum}, {size})"));
    }
    // Merged dimensions: the elements are contiguous. jaxlib's sum by position is 67.
    let merged = "HloModule m
        add { a = f32[] parameter(0)
          b = f32[] parameter(1)
          ROOT c = f32[] add(a, b) }
        ENTRY e {
          x = f32[2,4] parameter(0)
          n = s32[] constant(3)
          d = f32[2,<=4] set-dimension-size(x, n), dimensions={1}
          m = f32[<=8] reshape(d)
          i = f32[8] iota(), iota_dimension=0
          s = f32[<=8] multiply(m, i)
          zero = f32[] constant(0)
          ROOT r = f32[] reduce(s, zero), dimensions={0}, to_apply=add }";
    assert_same(run(merged, &["f32[2,4] {{0,1,2,3},{4,5,6,7}}"]), "f32[] 67");
}

#[test]
fn results_have_their_real_size() {
    assert_same(run_sized("ROOT r = f32[<=8] add(d, d)", 5), "f32[5] {2,4,6,8,10}");
    assert_same(run_sized("ROOT r = f32[<=8] add(d, d)", 0), "f32[0] {}");
    assert_same(
        run_sized("ROOT r = f32[] dot(d, d), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 5),
        "f32[] 55",
    );
    assert_same(
        run_sized("ROOT r = f32[] dot(d, x), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 5),
        "f32[] 55",
    );
    // Slices end at the end of the array. Their start is clamped so that they are in bounds.
    let at_four = "i = s32[] constant(4)\n";
    assert_same(
        run_sized(&format!("{at_four}ROOT r = f32[3] dynamic-slice(d, i), dynamic_slice_sizes={{3}}"), 5),
        "f32[3] {3,4,5}",
    );
    assert_same(
        run_sized(&format!("{at_four}ROOT r = f32[8] dynamic-slice(d, i), dynamic_slice_sizes={{8}}"), 5),
        "f32[8] {1,2,3,4,5,0,0,0}",
    );
    let update = "u = f32[3] constant({10,20,30})\n";
    assert_same(
        run_sized(&format!("{at_four}{update}ROOT r = f32[<=8] dynamic-update-slice(d, u, i)"), 5),
        "f32[5] {1,2,10,20,30}",
    );
    assert_same(
        run_sized(
            "i = s32[3,1] constant({{0},{6},{4}})
             ROOT r = f32[3] gather(d, i), offset_dims={}, collapsed_slice_dims={0}, start_index_map={0},
               index_vector_dim=1, slice_sizes={1}",
            5,
        ),
        "f32[3] {1,5,5}",
    );
    // Negative padding that removes more elements than exist leaves none.
    assert_same(run_sized("ROOT r = f32[<=2] pad(d, zero), padding=-3_-3", 4), "f32[0] {}");
    // An array is extended with zeros, and the bound makes it static again.
    assert_same(
        run_sized("m = s32[] constant(7)\n ROOT r = f32[<=8] set-dimension-size(d, m), dimensions={0}", 5),
        "f32[7] {1,2,3,4,5,0,0}",
    );
}

#[test]
fn sizes_travel_through_tuples_loops_and_calls() {
    let text = "HloModule m
        go_on { p = (f32[<=8], s32[]) parameter(0)
          i = s32[] get-tuple-element(p), index=1
          k = s32[] constant(2)
          ROOT l = pred[] compare(i, k), direction=LT }
        body { p = (f32[<=8], s32[]) parameter(0)
          i = s32[] get-tuple-element(p), index=1
          one = s32[] constant(1)
          j = s32[] add(i, one)
          d = f32[<=8] get-tuple-element(p), index=0
          twice = f32[<=8] add(d, d)
          n = s32[] get-dimension-size(d), dimensions={0}
          m = s32[] subtract(n, one)
          shorter = f32[<=8] set-dimension-size(twice, m), dimensions={0}
          ROOT t = (f32[<=8], s32[]) tuple(shorter, j) }
        ENTRY e {
          d = f32[<=8] parameter(0)
          zero = s32[] constant(0)
          state = (f32[<=8], s32[]) tuple(d, zero)
          ROOT w = (f32[<=8], s32[]) while(state), condition=go_on, body=body }";
    assert_same(run(text, &["f32[5] {1,2,3,4,5}"]), "(f32[3], s32[]) ({4,8,12}, 2)");
}

#[test]
fn what_does_not_fit_is_named() {
    for (body, n, wanted) in [
        (
            "m = s32[] constant(3)
             e = f32[<=8] set-dimension-size(x, m), dimensions={0}
             ROOT r = f32[<=8] add(d, e)",
            5,
            "dimension 0 of `d` has 5 elements at run time and dimension 0 of `e` has 3",
        ),
        ("ROOT r = f32[<=8] add(d, d)", 9, "dimension 0 is set to 9, which is not from 0 to its bound, 8"),
        ("ROOT r = f32[<=8] add(d, d)", -1, "dimension 0 is set to -1"),
        (
            "ROOT r = f32[2,<=4] reshape(d)",
            5,
            "5 elements, of f32[5] at run time, do not divide into 2 parts",
        ),
        ("ROOT r = f32[<=2,<=4] reshape(d)", 6, "does not say which dimensions"),
        (
            "two = s32[] constant(2)\n three = s32[] constant(3)
             ROOT r = f32[2,<=4] dynamic-reshape(d, two, three)",
            5,
            "the operand has 5 elements, f32[5], the sizes are those of 6, f32[2,3]",
        ),
    ] {
        let error = run_sized(body, n).expect_err(body);
        assert!(error.message.contains(wanted), "{}", error.message);
        assert!(error.instruction.is_some());
    }
    let unbounded = "HloModule m\n ENTRY e { ROOT p = f32[?] parameter(0) }";
    let error = run(unbounded, &["f32[2] {1,2}"]).expect_err("no bound");
    assert!(error.message.contains("`p` has shape f32[?]"), "{}", error.message);
    let bounded = "HloModule m\n ENTRY e { ROOT p = f32[<=3] parameter(0) }";
    assert_same(run(bounded, &["f32[2] {1,2}"]), "f32[2] {1,2}");
    assert!(run(bounded, &["f32[4] {1,2,3,4}"]).is_err());
}
