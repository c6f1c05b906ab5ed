//! Rules for calls, loops, branches and fusions.

rules! {
    FUSION_PARAMETERS = "E0901" "fusion-parameters" {
        rule: "A fused computation has a parameter of the right shape for each operand of its fusion.",
        why: "A fusion is a call whose computation is compiled as one kernel.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] fusion(x, x), kind=kLoop, calls=f
}
"),
        fix: "pass one operand: `fusion(x)`",
        section: "HLO text, opcodes",
    }
    CONDITION_PARAMETER = "E0902" "condition-parameter" {
        rule: "The condition of a `while` takes the loop-carried value as its only parameter.",
        why: "The condition reads the value before each iteration.",
        example: Some(r"HloModule m

go_on {
  a = f32[5] parameter(0)
  ROOT b = pred[] constant(true)
}

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] while(x), condition=go_on, body=f
}
"),
        fix: "write `a = f32[4] parameter(0)`, or a tuple for several values",
        section: "Operation semantics, While",
    }
    CONDITION_RESULT = "E0903" "condition-result" {
        rule: "The condition of a `while` returns a `pred[]`, which is true to continue the loop.",
        why: "The loop ends when it returns false.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] while(x), condition=f, body=f
}
"),
        fix: "compare: `ROOT b = pred[] compare(i, n), direction=LT`",
        section: "Operation semantics, While",
    }
    BODY_PARAMETER = "E0904" "body-parameter" {
        rule: "The body of a `while` takes the loop-carried value as its only parameter.",
        why: "The value is the operand in the first iteration, and then the result of the previous iteration.",
        example: Some(r"HloModule m

go_on {
  a = f32[4] parameter(0)
  ROOT b = pred[] constant(true)
}

f {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  ROOT c = f32[4] add(a, b)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] while(x), condition=go_on, body=f
}
"),
        fix: "make the loop-carried value a tuple of two arrays",
        section: "Operation semantics, While",
    }
    BODY_RESULT = "E0905" "body-result" {
        rule: "The body of a `while` returns the next loop-carried value, which has the same shape.",
        why: "The value has the same shape in all iterations.",
        example: Some(r"HloModule m

go_on {
  a = f32[4] parameter(0)
  ROOT b = pred[] constant(true)
}

grow {
  a = f32[4] parameter(0)
  ROOT b = f32[5] constant({1, 2, 3, 4, 5})
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] while(x), condition=go_on, body=grow
}
"),
        fix: "return `f32[4]`; a value that grows must have its final size from the start",
        section: "Operation semantics, While",
    }
    BRANCH_INDEX = "E0906" "branch-index" {
        rule: "The index of a `conditional` is a scalar, `pred[]` or `s32[]`.",
        why: "A `pred` selects one of two branches, an `s32` one of a list. An index out of range selects the last branch.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  i = s64[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] conditional(i, x), branch_computations={f}
}
"),
        fix: "convert the index: `j = s32[] convert(i)`",
        section: "Operation semantics, Conditional",
    }
    PRED_BRANCHES = "E0907" "pred-branches" {
        rule: "A `conditional` with a `pred` has a `true_computation` and a `false_computation`.",
        why: "The operands after the index are their arguments, in this order.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  p = pred[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] conditional(p, x), branch_computations={f}
}
"),
        fix: "write `conditional(p, x, x), true_computation=f, false_computation=f`",
        section: "Operation semantics, Conditional",
    }
    INDEXED_BRANCHES = "E0908" "indexed-branches" {
        rule: "A `conditional` with an `s32` has at least one computation in `branch_computations`.",
        why: "Index 0 selects branch 0, and so on.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] conditional(i, x, x), true_computation=f, false_computation=f
}
"),
        fix: "write `branch_computations={f, f}`",
        section: "Operation semantics, Conditional",
    }
    BRANCH_OPERANDS = "E0909" "branch-operands" {
        rule: "A `conditional` has one operand for each branch, after the index.",
        why: "Each branch has its own argument, often a tuple.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] conditional(i, x), branch_computations={f, f}
}
"),
        fix: "pass `x` twice: `conditional(i, x, x)`",
        section: "Operation semantics, Conditional",
    }
    BRANCH_PARAMETER = "E0910" "branch-parameter" {
        rule: "A branch takes its operand as its only parameter.",
        why: "Only the selected branch is called.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[5] parameter(1)
  ROOT y = f32[4] conditional(i, x), branch_computations={f}
}
"),
        fix: "slice `x` to `f32[4]`",
        section: "Operation semantics, Conditional",
    }
    BRANCH_RESULT = "E0911" "branch-result" {
        rule: "All branches of a `conditional` return the same shape.",
        why: "The result has that shape, whichever branch is selected.",
        example: Some(r"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

grow {
  a = f32[4] parameter(0)
  ROOT b = f32[5] constant({1, 2, 3, 4, 5})
}

ENTRY main {
  i = s32[] parameter(0)
  x = f32[4] parameter(1)
  ROOT y = f32[4] conditional(i, x, x), branch_computations={f, grow}
}
"),
        fix: "pad or slice in the branches",
        section: "Operation semantics, Conditional",
    }
    COMPOSITE = "E0912" "composite" {
        rule: "A call with `is_composite=true` names its operation as `composite.name` in its `frontend_attributes`. `composite.attributes` is not empty, and `composite.version` is a number of at least 0.",
        why: "A compiler that knows the operation by its name uses its own code instead of the computation.",
        example: Some(r#"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY main {
  x = f32[4] parameter(0)
  ROOT y = f32[4] call(x), to_apply=f, is_composite=true
}
"#),
        fix: "add `frontend_attributes={composite.name=\"my.negate\"}`",
        section: "Operation semantics, Call",
    }
}
