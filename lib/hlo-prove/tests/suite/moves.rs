//! Rules that move elements are proved for all sizes, and wrong ones are refuted.

use super::{rule, solver};
use hlo_prove::{Verdict, check};

fn verdict(clause: &str) -> Verdict {
    let findings = check(&rule(clause), &solver()).expect("the solver runs");
    let [finding] = &findings[..] else { panic!("{clause}: {findings:?}") };
    finding.verdict.clone()
}

#[test]
fn right_rules_are_proved() {
    let rules = [
        "transpose{p}(transpose{q}(x)) => transpose{q[p]}(x)",
        "slice{a, b, s}(broadcast{m}(x)) => broadcast{m}(slice{a[m], b[m], s[m]}(x))",
        "reverse{r}(transpose{p}(x)) => transpose{p}(reverse{r[inverse(p)]}(x))",
        "concatenate{d}(reverse{r}(x), reverse{r}(y)) => reverse{r}(concatenate{d}(x, y)) where r[d] == 0",
        "slice{a, b, s}(concatenate{d}(x, y)) => slice{a, b, s}(x) where b <= size(x)",
        "slice{a, b, s}(concatenate{d}(w, x, y, z)) => slice{a, b, s}(w) where b <= size(w)",
        "slice{a, b, s}(concatenate{d}(x, y)) =>
            slice{if(index == d[0], a - size(x), a), if(index == d[0], b - size(x), b), s}(y) where size(x)[d] <= a[d]",
        "add(slice{a, b, s}(x), slice{a, b, s}(y)) => slice{a, b, s}(add(x, y))",
        "reduce{r, f}(reverse{q}(x), init) => reverse{q[0]}(reduce{r, f}(x, init)) where r == 1, q == 0",
        "dynamic-slice(pad{l, h, 0}(x, v), i...) => broadcast{}(v) where empty(x)",
        "reshape(transpose{index}(x)) => reshape(x)",
        "select(p, slice{a, b, s}(x), slice{a, b, s}(y)) => slice{a, b, s}(select(p, x, y)) where scalar(p)",
    ];
    for clause in rules {
        let found = verdict(clause);
        assert!(found.is_proof(), "{clause}: {found:?}");
    }
}

#[test]
fn wrong_rules_are_refuted() {
    let rules = [
        "transpose{p}(transpose{q}(x)) => transpose{p[q]}(x)",
        "transpose{p}(broadcast{m}(x)) => broadcast{p[m]}(x)",
        "slice{c, d, t}(slice{a, b, s}(x)) => slice{a + c, a + d, s * t}(x)",
        "slice{a, b, s}(reverse{r}(x)) => reverse{r}(slice{a, b, s}(x))",
        "reverse{r}(reverse{q}(x)) => reverse{r}(x)",
        "pad{m, n, 0}(pad{l, h, i}(x, v), v) => pad{l + m, h + n, i}(x, v)",
        "slice{a, b, s}(pad{l, h, 0}(x, v)) => broadcast{}(v) where a <= l, !empty(result)",
        "dynamic-slice(x, i...) => slice{0, size(result), 1}(x)",
        "dynamic-update-slice(dynamic-update-slice(x, u, i...), v, j...) => dynamic-update-slice(x, v, j...)",
        "select(p, dynamic-update-slice(x, u, i...), x) => dynamic-update-slice(x, u, i...)",
        "broadcast{m}(iota{d}()) => iota{d}()",
        "reshape(transpose{p}(x)) => reshape(x)",
        "slice{a, b, s}(concatenate{d}(x, y)) => slice{a, b, s}(y)",
        // The driver repeats scalars, and bounds of `clamp` can be scalars.
        "pad{l, h, i}(broadcast{m}(x), v) => x where scalar(x)",
        "reverse{r}(clamp(l, x, h)) => clamp(l, x, h) where scalar(l)",
    ];
    for clause in rules {
        let found = verdict(clause);
        assert!(matches!(found, Verdict::Refuted(_)), "{clause}: {found:?}");
    }
}

/// Rules that are right only for the forms that the check can make, or for small ranks.
#[test]
fn forms_that_are_not_checked_are_no_proof() {
    let clauses = [
        "pad{l, h, if(l == 0, 0, l[9])}(x, v) => reverse{1}(x)",
        "maximum(pad{l, h, i}(x, v), broadcast{m}(v)) => maximum(x, v)",
        "pad{l, h, inverse(l)}(x, v) => reverse{1}(x)",
        "pad{l, h, l[l]}(x, v) => reverse{1}(x)",
        "transpose{p}(transpose{p}(transpose{p}(transpose{p}(transpose{p}(transpose{p}(x)))))) => x",
        "reverse{r}(x) => reverse{if(3 <= index, 0, if(size(x) <= 1, 0, r))}(x)
            where some if(3 <= index, 1, if(size(x) <= 1, r, 0)) == 1",
        // It can be applied again to its own result.
        "reverse{r}(reverse{q}(x)) => reverse{q}(reverse{r}(x))",
    ];
    for clause in clauses {
        let found = verdict(clause);
        assert!(!found.is_proof(), "{clause}: {found:?}");
    }
}

/// Long patterns and expressions end with an error.
#[test]
fn large_rules_end() {
    let deep =
        |depth: usize| (0..depth).fold("x".to_string(), |inner, n| format!("reverse{{r{n}}}({inner})"));
    let wide: Vec<String> = (0..16).map(|n| format!("x{n}")).collect();
    let clauses = [
        format!("{} => x", deep(14)),
        format!("concatenate{{d}}({}) => x0", wide.join(", ")),
        format!("slice{{a, b, s}}(x) => x where a{} == 0", " % 7".repeat(15)),
    ];
    for clause in clauses {
        let found = verdict(&clause);
        assert!(matches!(found, Verdict::Failed(_)), "{clause}: {found:?}");
    }
}

/// A clause that applies to no arrays is an error, and so is one that the check cannot translate.
#[test]
fn a_clause_without_a_case_is_no_proof() {
    let clauses = [
        "slice{a, b, s}(x) => x where some b < a",
        "transpose{p}(x) => broadcast{p[index + 1]}(x)",
        "reduce{r, f}(negate(x), init) => negate(reduce{r, f}(x, init))",
    ];
    for clause in clauses {
        let found = verdict(clause);
        assert!(matches!(found, Verdict::Failed(_)), "{clause}: {found:?}");
    }
}
