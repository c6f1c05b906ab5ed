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
        rule: "The condition of a `while` takes the state as its one parameter.",
        why: "It looks at the state before each iteration.",
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
        fix: "take `a = f32[4] parameter(0)`; several values are one tuple",
        section: "Operation semantics, While",
    }
    CONDITION_RESULT = "E0903" "condition-result" {
        rule: "The condition of a `while` gives a `pred[]`: whether to go on.",
        why: "The loop ends when it gives false.",
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
        rule: "The body of a `while` takes the state as its one parameter.",
        why: "The state is the operand before the first iteration, and the body's result after it.",
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
        fix: "make the state a tuple of two arrays",
        section: "Operation semantics, While",
    }
    BODY_RESULT = "E0905" "body-result" {
        rule: "The body of a `while` gives the next state, of the state's shape.",
        why: "The shape is the same in all iterations.",
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
        fix: "give `f32[4]`; a state that grows needs the final size from the start",
        section: "Operation semantics, While",
    }
    BRANCH_INDEX = "E0906" "branch-index" {
        rule: "A `conditional` chooses by a scalar: a `pred[]` or an `s32[]`.",
        why: "A `pred` chooses between two branches, an `s32` among a list; an index out of range takes the last one.",
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
        rule: "A `conditional` of a `pred` has a `true_computation` and a `false_computation`.",
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
        rule: "A `conditional` of an `s32` has `branch_computations`, at least one.",
        why: "Branch 0 runs for index 0 and so on.",
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
        rule: "A `conditional` has an operand for each branch, after the index.",
        why: "Each branch has an argument of its own, often a tuple.",
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
        rule: "A branch takes its operand as its one parameter.",
        why: "Only the branch that is chosen is called.",
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
        rule: "The branches of a `conditional` give one shape.",
        why: "The result has that shape, whichever branch is chosen.",
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
        rule: "A call with `is_composite=true` has the `composite.name` of the operation that it is made of in its `frontend_attributes`. `composite.attributes` is not empty, and `composite.version` is a number of 0 or more.",
        why: "A compiler that knows the operation takes it by its name in place of the computation.",
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
