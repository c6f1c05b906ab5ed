//! Error messages for invalid names, attributes, operands, shapes and literals.

use super::check;

#[test]
fn names_that_are_not_known() {
    check(
        r#"HloModule m, is_schedule=true

region {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}

ENTRY e {
  input = f32[4] parameter(0)
  zero = f33[] constant(0)
  a = f32[4] negat(input)
  b = f32[] reduce(inptu, input), dimensions={0}, to_apply=regoin
  c = f32[4] transpose(input), dimension={0}
  d = f32[4] compare(input, input), direction=LESS
  e = f32[4] add(input, f)
  ROOT f = f32[4] negate(input)
}
"#,
        r#"
error[E0111]: a module has no attribute `is_schedule`
  ┌─ m.hlo:1:14
  │
1 │ HloModule m, is_schedule=true
  │              ^^^^^^^^^^^
  │
  = did you mean `is_scheduled`?

error[E0151]: unknown element type `f33`
   ┌─ m.hlo:11:10
   │
11 │   zero = f33[] constant(0)
   │          ^^^ not an element type
   │
   = did you mean `f32`?

error[E0130]: unknown opcode `negat`
   ┌─ m.hlo:12:14
   │
12 │   a = f32[4] negat(input)
   │              ^^^^^
   │
   = did you mean `negate`?

error[E0120]: no instruction `inptu` is defined in computation `e`
   ┌─ m.hlo:13:20
   │
13 │   b = f32[] reduce(inptu, input), dimensions={0}, to_apply=regoin
   │                    ^^^^^
   │
   = did you mean `input`?

error[E0122]: no computation `regoin` is defined before this point
   ┌─ m.hlo:13:60
   │
13 │   b = f32[] reduce(inptu, input), dimensions={0}, to_apply=regoin
   │                                                            ^^^^^^
   │
   = did you mean `region`?

error[E0140]: `transpose` has no attribute `dimension`
   ┌─ m.hlo:14:32
   │
14 │   c = f32[4] transpose(input), dimension={0}
   │                                ^^^^^^^^^
   │
   = did you mean `dimensions`?
   = it takes dimensions, and what every instruction does: parameter_replication, sharding, frontend_attributes, control-predecessors, statistics, origin, metadata, backend_config

error[E0143]: expected one of `EQ`, `NE`, `GE`, `GT`, `LE`, `LT` in `direction=`, found `LESS`
   ┌─ m.hlo:15:47
   │
15 │   d = f32[4] compare(input, input), direction=LESS
   │                                               ^^^^ expected one of `EQ`, `NE`, `GE`, `GT`, `LE`, `LT`

error[E0121]: `f` is used before it is defined
   ┌─ m.hlo:16:25
   │
16 │   e = f32[4] add(input, f)
   │                         ^ used here
17 │   ROOT f = f32[4] negate(input)
   │        - defined here
"#,
    );
}

#[test]
fn things_given_twice() {
    check(
        r#"HloModule m, num_partitions=2, num_partitions=2

ENTRY e {
  a = f32[4] parameter(0)
  a = f32[4] negate(a)
  ROOT b = f32[4] broadcast(a), dimensions={0}, dimensions={0}
  ROOT c = f32[4] negate(a)
}

ENTRY e {
  a = f32[4] parameter(0)
}
"#,
        r#"
error[E0141]: the module has `num_partitions` twice
  ┌─ m.hlo:1:32
  │
1 │ HloModule m, num_partitions=2, num_partitions=2
  │                                ^^^^^^^^^^^^^^ given again here

error[E0116]: the name `a` is used twice in a computation
  ┌─ m.hlo:5:3
  │
4 │   a = f32[4] parameter(0)
  │   - first defined here
5 │   a = f32[4] negate(a)
  │   ^ defined again here

error[E0141]: `broadcast` has `dimensions` twice
  ┌─ m.hlo:6:49
  │
6 │   ROOT b = f32[4] broadcast(a), dimensions={0}, dimensions={0}
  │                                                 ^^^^^^^^^^ given again here

error[E0115]: a computation has one root
  ┌─ m.hlo:7:3
  │
6 │   ROOT b = f32[4] broadcast(a), dimensions={0}, dimensions={0}
  │   ---- the first one
7 │   ROOT c = f32[4] negate(a)
  │   ^^^^ the second one

error[E0113]: the module has two entry computations
   ┌─ m.hlo:10:1
   │
 3 │ ENTRY e {
   │ ----- the first one
   ·
10 │ ENTRY e {
   │ ^^^^^ the second one

error[E0114]: computation `e` is defined twice
   ┌─ m.hlo:10:7
   │
 3 │ ENTRY e {
   │       - first defined here
   ·
10 │ ENTRY e {
   │       ^ defined again here
"#,
    );
}

#[test]
fn attributes_and_operands_that_are_missing_or_wrong() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4] parameter()
  b = f32[4] parameter(-1)
  c = f32[4] parameter(0)
  d = f32[4] transpose(c)
  e = f32[4] add(c)
  f = f32[4] add(c, 1)
  g = f32[4] slice(c), slice={[0:x]}
  h = f32[4] pad(c, c), padding=1x2
  i = f32[4] convolution(c, c), dim_labels=b0f_0io
  j = f32[4] negate(c), control-predecessors=c
  k = f32[4] negate(f32[5] c)
  l = constant(1)
  n = convert(c)
  ROOT m = f32[4] negate(c)
}
"#,
        r#"
error[E0131]: a parameter needs its number, as in `parameter(0)`
  ┌─ m.hlo:4:14
  │
4 │   a = f32[4] parameter()
  │              ^^^^^^^^^

error[E0131]: a parameter's number is not negative, found -1
  ┌─ m.hlo:5:24
  │
5 │   b = f32[4] parameter(-1)
  │                        ^^

error[E0142]: `transpose` needs the attribute `dimensions=`
  ┌─ m.hlo:7:14
  │
7 │   d = f32[4] transpose(c)
  │              ^^^^^^^^^

error[E0301]: `add` takes 2 operands, found 1
  ┌─ m.hlo:8:14
  │
8 │   e = f32[4] add(c)
  │              ^^^

error[E0125]: expected an operand's name, found `1`
  ┌─ m.hlo:9:21
  │
9 │   f = f32[4] add(c, 1)
  │                     ^ a constant is an instruction: `c = f32[] constant(1)`

error[E0143]: expected an integer in `slice=`, found `x`
   ┌─ m.hlo:10:34
   │
10 │   g = f32[4] slice(c), slice={[0:x]}
   │                                  ^ expected an integer

error[E0143]: expected `_` in `padding=`, found `x2`
   ┌─ m.hlo:11:34
   │
11 │   h = f32[4] pad(c, c), padding=1x2
   │                                  ^^ expected `_`

error[E0143]: expected dimension labels such as `b01f_01io->b01f` in `dim_labels=`, found `b0f_0io`
   ┌─ m.hlo:12:44
   │
12 │   i = f32[4] convolution(c, c), dim_labels=b0f_0io
   │                                            ^^^^^^^ expected dimension labels such as `b01f_01io->b01f`

error[E0143]: expected a list such as `{a, b}` in `control-predecessors=`, found `c`
   ┌─ m.hlo:13:46
   │
13 │   j = f32[4] negate(c), control-predecessors=c
   │                                              ^ expected a list such as `{a, b}`

error[E0123]: the operand is written as `f32[5]`, but `c` has `f32[4]`
   ┌─ m.hlo:14:21
   │
 6 │   c = f32[4] parameter(0)
   │   ----------------------- the operand
   ·
14 │   k = f32[4] negate(f32[5] c)
   │                     ^^^^^^ the shape written

error[E0134]: a constant's shape must be written, as in `c = f32[] constant(1)`
   ┌─ m.hlo:15:16
   │
15 │   l = constant(1)
   │                ^
"#,
    );
}

#[test]
fn shapes_and_literals_that_are_wrong() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4,x] parameter(0)
  b = f32[4]{1} parameter(1)
  c = f32[4,4]{0} parameter(2)
  d = f32[4]{0:Q(1)} parameter(3)
  e = f32[99999999999999999999] parameter(4)
  f = s8[2] constant({1, 300})
  g = f32[2] constant({1, 2, 3})
  h = f32[9999999999,9999999999] constant({...})
  i = f32[] constant(one)
  ROOT j = f32[] parameter(5)
}
"#,
        r#"
error[E0150]: expected a dimension size, such as `4`, `<=4` or `?`, found `x`
  ┌─ m.hlo:4:13
  │
4 │   a = f32[4,x] parameter(0)
  │             ^

error[E0154]: the layout names dimension 1, which `f32[4]` does not have: its only dimension is 0
  ┌─ m.hlo:5:14
  │
5 │   b = f32[4]{1} parameter(1)
  │              ^

error[E0154]: the layout of `f32[4,4]` does not name its dimension 1
  ┌─ m.hlo:6:15
  │
6 │   c = f32[4,4]{0} parameter(2)
  │               ^^^ 1 of 2 dimensions

error[E0150]: expected a layout item such as `T(8,128)`, `E(4)` or `S(1)`, found `Q`
  ┌─ m.hlo:7:16
  │
7 │   d = f32[4]{0:Q(1)} parameter(3)
  │                ^

error[E0152]: the size of dimension 0 does not fit 63 bits
  ┌─ m.hlo:8:11
  │
8 │   e = f32[99999999999999999999] parameter(4)
  │           ^^^^^^^^^^^^^^^^^^^^

error[E0162]: 300 is out of range for s8
  ┌─ m.hlo:9:26
  │
9 │   f = s8[2] constant({1, 300})
  │                          ^^^ s8 holds -128 to 127

error[E0161]: dimension 0 of `f32[2]` has size 2, but the text has more
   ┌─ m.hlo:10:30
   │
10 │   g = f32[2] constant({1, 2, 3})
   │                       -      ^ more than 2 elements
   │                       │
   │                       they start here

error[E0163]: `f32[9999999999,9999999999]` is too large for a value that is not written
   ┌─ m.hlo:11:44
   │
11 │   h = f32[9999999999,9999999999] constant({...})
   │                                            ^^^ print the module with its large constants

error[E0160]: expected an element of type f32, found `one`
   ┌─ m.hlo:12:22
   │
12 │   i = f32[] constant(one)
   │                      ^^^ expected an element of type f32
"#,
    );
}

#[test]
fn a_signature_that_does_not_fit() {
    check(
        r#"HloModule m, entry_computation_layout={(f32[4])->}

ENTRY e (a) -> f32[5] {
  ROOT a = f32[4] parameter(0)
}
"#,
        r#"
error[E0150]: expected a shape such as `f32[2,3]`, found `}`
  ┌─ m.hlo:1:50
  │
1 │ HloModule m, entry_computation_layout={(f32[4])->}
  │                                                  ^ expected a shape such as `f32[2,3]`

error[E0110]: expected `:`, found `)`
  ┌─ m.hlo:3:11
  │
3 │ ENTRY e (a) -> f32[5] {
  │           ^ expected `:`

error[E0118]: the signature gives the result `f32[5]`, but the root has `f32[4]`
  ┌─ m.hlo:3:16
  │
3 │ ENTRY e (a) -> f32[5] {
  │                ^^^^^^ the signature
4 │   ROOT a = f32[4] parameter(0)
  │   ---------------------------- the root
"#,
    );
}

#[test]
fn a_computation_without_instructions() {
    check(
        r#"HloModule m

ENTRY e {
}
"#,
        r#"
error[E0117]: a computation has at least one instruction
  ┌─ m.hlo:4:1
  │
4 │ }
  │ ^
"#,
    );
}

#[test]
fn a_shape_that_cannot_be_inferred() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  ROOT b = convert(a)
}
"#,
        r#"
error[E0132]: the shape of `convert` does not follow from its operands
  ┌─ m.hlo:5:12
  │
5 │   ROOT b = convert(a)
  │            ^^^^^^^ write it, as in `x = f32[2] convert(…)`
"#,
    );
}

#[test]
fn an_operand_that_inference_refuses() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[5] parameter(1)
  ROOT c = add(a, b)
}
"#,
        r#"
error[E0304]: `add` needs operands 0 and 1 of the same sizes, found f32[4] and f32[5]
  ┌─ m.hlo:6:12
  │
6 │   ROOT c = add(a, b)
  │            ^^^
"#,
    );
}

#[test]
fn errors_of_inline_computations() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply={
    p = f32[] parameter(0)
    q = f32[] parameter(1)
    ROOT s = f32[] ad(p, q)
  }, is_stable=true
}
"#,
        r#"
error[E0130]: unknown opcode `ad`
  ┌─ m.hlo:9:20
  │
9 │     ROOT s = f32[] ad(p, q)
  │                    ^^
  │
  = did you mean `add`?

error[E0140]: `reduce` has no attribute `is_stable`
   ┌─ m.hlo:10:6
   │
10 │   }, is_stable=true
   │      ^^^^^^^^^
   │
   = it takes dimensions, to_apply, and what every instruction does: parameter_replication, sharding, frontend_attributes, control-predecessors, statistics, origin, metadata, backend_config
"#,
    );
}

#[test]
fn a_computation_that_calls_itself() {
    check(
        r#"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] call(a), to_apply=f
}

ENTRY e {
  a = f32[4] parameter(0)
  ROOT b = f32[4] call(a), to_apply=f
}
"#,
        r#"
error[E0207]: computation `f` calls itself
  ┌─ m.hlo:5:37
  │
3 │ f {
  │ - it can be called after its end
4 │   a = f32[4] parameter(0)
5 │   ROOT b = f32[4] call(a), to_apply=f
  │                                     ^
"#,
    );
}

#[test]
fn the_end_of_an_asynchronous_operation_on_another_thread() {
    check(
        r#"HloModule m

f {
  a = f32[4] parameter(0)
  ROOT b = f32[4] negate(a)
}

ENTRY e {
  a = f32[4] parameter(0)
  s = ((f32[4]), f32[4], u32[]) async-start(a), async_execution_thread="one", calls=f
  ROOT d = f32[4] async-done(s), async_execution_thread="two"
}
"#,
        r#"
error[E0223]: the asynchronous operation runs on the thread `one`, not `two`
   ┌─ m.hlo:11:19
   │
10 │   s = ((f32[4]), f32[4], u32[]) async-start(a), async_execution_thread="one", calls=f
   │   ----------------------------------------------------------------------------------- started here
11 │   ROOT d = f32[4] async-done(s), async_execution_thread="two"
   │                   ^^^^^^^^^^
"#,
    );
}
