//! Error messages for truncated texts, unmatched brackets and missing tokens.

use super::check;

#[test]
fn an_empty_text() {
    check(
        r#""#,
        r#"
error[E0108]: the text is empty: expected a module, which starts with `HloModule`
  ┌─ m.hlo:1:1
  │
1 │
  │ ^
"#,
    );
}

#[test]
fn no_hlo_text() {
    check(
        r#"hello world
"#,
        r#"
error[E0110]: expected `HloModule` and a name, or a computation such as `ENTRY main {`, found `hello`
  ┌─ m.hlo:1:1
  │
1 │ hello world
  │ ^^^^^
"#,
    );
}

#[test]
fn a_nul_byte() {
    check(
        "HloModule m\0\n",
        r#"
error[E0101]: the text has a NUL byte: it is not HLO text
  ┌─ m.hlo:1:12
  │
1 │ HloModule m?
  │            ^
"#,
    );
}

#[test]
fn a_text_that_ends_in_a_body() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[] parameter(0)
  ROOT b = f32[] add(a, "#,
        r#"
error[E0103]: the text ends before this `(` is closed
  ┌─ m.hlo:5:21
  │
5 │   ROOT b = f32[] add(a,
  │                     ^ - the text ends here
  │                     │
  │                     a `)` is missing
"#,
    );
}

/// Found by fuzzing: the span of a second error, about an empty body, began inside a multi-byte character.
#[test]
fn a_text_that_ends_in_an_empty_body() {
    check(
        "HloModule m\n\nENTRY e {\n // \u{2cd}\n",
        r#"
error[E0103]: the text ends before this `{` is closed
  ┌─ m.hlo:3:9
  │
3 │ ENTRY e {
  │         ^ a `}` is missing
4 │  // ˍ
  │     - the text ends here
"#,
    );
}

#[test]
fn a_text_that_ends_in_a_string() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[] parameter(0), metadata={op_name="x}
}
"#,
        r#"
error[E0106]: this string is not closed
  ┌─ m.hlo:4:45
  │
4 │   a = f32[] parameter(0), metadata={op_name="x}
  │                                             ^ a `"` is missing
"#,
    );
}

#[test]
fn a_text_that_ends_in_a_comment() {
    check(
        r#"HloModule m /* never closed

ENTRY e {
  a = f32[] parameter(0)
}
"#,
        r#"
error[E0107]: the text ends inside a comment
  ┌─ m.hlo:1:13
  │
1 │ HloModule m /* never closed
  │             ^^ the comment starts here
"#,
    );
}

#[test]
fn a_bracket_too_many() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[] parameter(0))
}
"#,
        r#"
error[E0104]: nothing is open that this `)` could close
  ┌─ m.hlo:4:25
  │
4 │   a = f32[] parameter(0))
  │                         ^
"#,
    );
}

#[test]
fn an_unclosed_bracket_hides_only_its_own_instruction() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  b = f32[4] add(a, a
  c = f32[4] sbtract(a, b)
  ROOT d = f32[4] add(b, c)
}
"#,
        r#"
error[E0103]: this `(` is not closed
  ┌─ m.hlo:5:17
  │
5 │   b = f32[4] add(a, a
  │                 ^ a `)` is missing
6 │   c = f32[4] sbtract(a, b)
  │   - before this instruction

error[E0130]: unknown opcode `sbtract`
  ┌─ m.hlo:6:14
  │
6 │   c = f32[4] sbtract(a, b)
  │              ^^^^^^^
  │
  = did you mean `subtract`?
"#,
    );
}

#[test]
fn tokens_that_were_forgotten() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4] parameter(0)
  b f32[4] negate(a)
  c = f32[4] negate a
  d = f32[4] add(a b)
  e = f32[4] negate(a) metadata={op_name="x"}
  f= f32[4] negate(a)
  h = s32[4] iota()result_accuracy= iota_dimension=0
  ROOT g = f32[4] add(b, c)
}
"#,
        r#"
error[E0110]: expected `=`, found `f32`
  ┌─ m.hlo:5:5
  │
5 │   b f32[4] negate(a)
  │     ^^^ expected `=`

error[E0110]: expected `(`, found `a`
  ┌─ m.hlo:6:21
  │
6 │   c = f32[4] negate a
  │                     ^ expected `(`

error[E0110]: expected `,` or `)`, found `b`
  ┌─ m.hlo:7:20
  │
7 │   d = f32[4] add(a b)
  │                    ^ expected `,` or `)`

error[E0110]: expected `,` and an attribute `name=value`, or the next instruction, found `metadata`
  ┌─ m.hlo:8:24
  │
8 │   e = f32[4] negate(a) metadata={op_name="x"}
  │                        ^^^^^^^^

error[E0110]: expected an instruction `name = …`, found `f`
  ┌─ m.hlo:9:3
  │
9 │   f= f32[4] negate(a)
  │   ^ expected an instruction `name = …`
  │
  = a blank goes before the `=` of an instruction; `name=value` is an attribute

error[E0110]: expected `,` and an attribute `name=value`, or the next instruction, found `result_accuracy`
   ┌─ m.hlo:10:20
   │
10 │   h = s32[4] iota()result_accuracy= iota_dimension=0
   │                    ^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn blanks_that_were_forgotten_on_a_line_of_several_instructions() {
    for line in ["b= f32[] negate(a)", "b= (f32[]) tuple(a)", "ROOT b= negate(a)"] {
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  a = f32[] parameter(0) {line}\n  c = f32[] negate(a)\n}}\n"
        );
        let errors = hlo_parser::parse_module(&text).unwrap_err();
        let words: Vec<&str> = errors.iter().map(|e| &*e.message).collect();
        assert_eq!(words, ["expected an instruction `name = …`, found `b`"], "{line}");
    }
}

#[test]
fn a_mistake_has_the_same_words_whatever_else_is_wrong() {
    let alone = |line: &str| {
        let text = format!("ENTRY e {{\n  a = f32[] parameter(0)\n{line}\n}}\n");
        let first = |text: &str| hlo_parser::parse_module(text).unwrap_err().remove(0).message;
        let before = text.replace("  a =", "  z = f32[] add(a a)\n  a =");
        let second = hlo_parser::parse_module(&before).unwrap_err().remove(1).message;
        assert_eq!(first(&text), second);
        second
    };
    assert_eq!(alone("  c = Foo[2] negate(a)"), "unknown element type `Foo`");
    assert_eq!(alone("  c = negat(a a)"), "unknown opcode `negat`");
    assert_eq!(alone("  c = f32[] add(a, 1.5)"), "expected an operand's name, found `1.5`");
    assert_eq!(alone("  c = f32[] add(f32[] f32[] a, a)"), "expected an operand, found `f32`");
    assert_eq!(alone("  c = f32[2]{x} negate(a)"), "expected a dimension number, found `x`");
    assert_eq!(alone("  c = [2] negate(a)"), "expected a shape such as `f32[2,3]`, found `[`");
}

#[test]
fn a_body_in_an_attribute_that_breaks_off() {
    check(
        r#"HloModule m

ENTRY e {
  p = f32[2] parameter(0)
  s = ((f32[2]), f32[2], u32[]) negate-start(p), calls=
  {
    a = f32[2] parameter(0(
    ROOT n = f32[2] negate(a)
  }
  ROOT d = f32[2] negate-done(s)
}
"#,
        r#"
error[E0103]: this `(` is not closed
  ┌─ m.hlo:7:25
  │
7 │     a = f32[2] parameter(0(
  │                         ^ a `)` is missing
8 │     ROOT n = f32[2] negate(a)
  │     ---- before this instruction
"#,
    );
}
