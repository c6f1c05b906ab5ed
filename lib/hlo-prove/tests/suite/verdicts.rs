//! Right rules are proved, and wrong rules are refuted.

use super::{rule, solver};
use hlo_passes::rewriting::{ALGSIMP, Proof};
use hlo_prove::{Finding, Verdict, check};

fn findings(clauses: &str) -> Vec<Finding> {
    check(&rule(clauses), &solver()).expect("the solver runs")
}

#[test]
fn the_file_of_proofs_is_current() {
    let rules = ALGSIMP.iter();
    let unknown: Vec<&str> =
        rules.filter(|rule| Proof::of(rule) == Proof::Unknown).map(|rule| &*rule.name).collect();
    assert!(unknown.is_empty(), "rules without a proof: {unknown:?}: make prove");
}

#[test]
fn right_rules_are_proved() {
    let rules = [
        "add(x, -0.0) => x where float(x)",
        "op(once multiply(x, z), once multiply(y, z)) => multiply(op(x, y), z) where integer(x) for op in add | subtract",
        "multiply(negate(x), negate(y)) => multiply(x, y) where float(x), negatable(x)",
        "minimum(once maximum(x, c1), c2) => clamp(c1, x, c2) where c1 <= c2",
        "remainder(remainder(x, y), y) => remainder(x, y) where !complex(x)",
        "complex(real(x), imag(x)) => x where complex(x)",
        // The solver needs more time for 64 bits.
        "remainder(x, c) => and(x, [c - 1]) where unsigned(x), width(x) <= 32, 0 < log2(c)",
        "remainder(x, y) => x where integer(x), always 0 <= x, always x < y",
    ];
    for clauses in rules {
        for finding in findings(clauses) {
            assert!(finding.verdict.is_proof(), "{clauses} [{}]: {:?}", finding.types, finding.verdict);
        }
    }
}

/// A wrong rule, the element types for which it is wrong, and a part of a counterexample.
#[test]
fn wrong_rules_are_refuted() {
    let rules = [
        ("add(x, 0) => x where float(x)", &["f16", "bf16", "f32", "f64"][..], "the pattern is f32[] 0,"),
        ("subtract(x, x) => 0 where float(x)", &["f32"], "nan"),
        ("divide(multiply(x, y), y) => x where integer(x)", &["s8", "s32", "u64"], ""),
        ("negate(subtract(x, y)) => subtract(y, x) where float(x)", &["f16", "f32"], "-0"),
        ("not(compare(x, y, LT)) => compare(x, y, GE)", &["f32", "bf16"], "nan"),
        ("minimum(maximum(x, a), b) => clamp(b, x, a)", &["s2", "f64"], ""),
        ("divide(x, 4) => shift-right-arithmetic(x, 2) where signed(x)", &["s4", "s32"], ""),
        ("divide(negate(x), negate(y)) => divide(x, y) where signed(x)", &["s16"], ""),
        ("subtract(x, 0) => negate(x)", &["u32"], ""),
        ("remainder(x, c) => and(x, [c - 1]) where signed(x), 0 < log2(c)", &["s8", "s32"], ""),
        ("remainder(x, y) => x where integer(x), always x < y", &["s32"], ""),
        ("divide(x, c) => shift-right-logical(x, [log2(c)]) where signed(x)", &["s4", "s64"], ""),
        ("subtract(x, c) => add(x, [1 - c]) where signed(x)", &["s16"], ""),
        ("maximum(x, lowest) => lowest", &["s64", "f32"], ""),
        ("multiply(x, convert(p)) => select(p, x, 0) where float(x), pred(p)", &["f32"], ""),
    ];
    for (clauses, types, part) in rules {
        let all = findings(clauses);
        for ty in types {
            let finding = all.iter().find(|f| f.types.split(", ").next() == Some(ty)).expect(clauses);
            let Verdict::Refuted(found) = &finding.verdict else {
                panic!("{clauses} [{ty}]: {:?}", finding.verdict)
            };
            assert!(*ty != "f32" || found.to_string().contains(part), "{clauses} [{ty}]: {found}");
        }
        let failed = all.iter().find(|f| matches!(f.verdict, Verdict::Failed(_)));
        assert!(failed.is_none(), "{clauses}: {failed:?}");
    }
}

/// Without a condition, the rule is right for the types that cannot represent a wrong value.
#[test]
fn conditions_on_values_are_part_of_the_question() {
    let all = findings("clamp(a, x, b) => minimum(maximum(x, a), b) where a <= b");
    assert!(all.iter().any(|f| f.types == "f32") && all.iter().all(|f| f.verdict.is_proof()), "{all:?}");
    let all = findings("maximum(x, c) => c where 5 < c, unsigned(x)");
    let u4 = all.iter().find(|f| f.types == "u4").expect("a case");
    assert!(matches!(u4.verdict, Verdict::Refuted(_)));
    // No number of two bits is above 5.
    let u2 = all.iter().find(|f| f.types == "u2").expect("a case");
    assert_eq!(u2.verdict, Verdict::Vacuous);
}

/// A clause that the check cannot decide is not proved.
#[test]
fn a_clause_without_a_case_is_no_proof() {
    let clauses = [
        // No number of 16 bits is above the product.
        "add(x, c) => x where unsigned(x), 16 <= width(x), width(x) <= 16, 4611686018427387904 * 4 < c",
        // An integer and a floating-point number are not ordered.
        "maximum(x, c) => x where float(x), 0 < c",
        // The result of the shift is no floating-point number.
        "add(x, x) => shift-left(x, 1) where float(x)",
    ];
    for clauses in clauses {
        let all = findings(clauses);
        assert!(all.iter().any(|f| matches!(f.verdict, Verdict::Failed(_))), "{clauses}: {all:?}");
    }
}

/// Wrong rules that an earlier form of the check called proved.
#[test]
fn comparisons_of_different_types_and_negated_conditions_are_checked() {
    let rules = [
        "and(not(compare(x, y, LT)), compare(a, b, LT)) => and(compare(x, y, GE), compare(a, b, LT)) where signed(a)",
        "select(p, true, x) => and(p, x) where !same-sizes(p, x)",
        "multiply(x, select(p, 1, 0)) => select(p, 0, x) where integer(x)",
    ];
    for clauses in rules {
        let all = findings(clauses);
        assert!(all.iter().any(|f| matches!(f.verdict, Verdict::Refuted(_))), "{clauses}: {all:?}");
    }
    // The condition is false for the comparison of floating-point numbers.
    let all = findings(&format!("{}, by-integer, 32 <= width(a)", rules[0]));
    assert!(all.iter().all(|f| f.verdict.is_proof() && !f.types.contains("f32")), "{all:?}");
}
