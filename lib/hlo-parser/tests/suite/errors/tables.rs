//! Error messages for tables, headers and crossing brackets.

use super::check;

#[test]
fn an_entry_of_a_table_that_lacks_something() {
    check(
        r#"HloModule m

FileLocations
7 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1}

ENTRY e {
  a = f32[4] parameter(0)
}
"#,
        r#"
error[E0112]: an entry of `FileLocations` needs `end_column=`
  ┌─ m.hlo:4:3
  │
4 │ 7 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1}
  │   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
"#,
    );
}

#[test]
fn a_broken_table() {
    check(
        r#"HloModule m

StackFrames
1 {file_location_id=1 parent_frame_id=1}
two {file_location_id=1 parent_frame_id=1}
3 {file_location_id=1 parent_frame_id=1}

ENTRY e {
  ROOT a = f32[4] foo()
}
"#,
        r#"
error[E0110]: expected an instruction `name = …`, found `file_location_id`
  ┌─ m.hlo:5:6
  │
5 │ two {file_location_id=1 parent_frame_id=1}
  │      ^^^^^^^^^^^^^^^^ expected an instruction `name = …`
  │
  = a blank goes before the `=` of an instruction; `name=value` is an attribute

error[E0110]: expected a computation such as `ENTRY main {`, found `3`
  ┌─ m.hlo:6:1
  │
6 │ 3 {file_location_id=1 parent_frame_id=1}
  │ ^ expected a computation such as `ENTRY main {`

error[E0130]: unknown opcode `foo`
  ┌─ m.hlo:9:19
  │
9 │   ROOT a = f32[4] foo()
  │                   ^^^
"#,
    );
}

#[test]
fn crossing_brackets() {
    check(
        r#"HloModule m

ENTRY e {
  a = f32[4 parameter(0])
  b = (f32[4} negate(a)
}
"#,
        r#"
error[E0103]: this `(` is not closed
  ┌─ m.hlo:4:22
  │
4 │   a = f32[4 parameter(0])
  │                      ^ - before this `]`
  │                      │
  │                      a `)` is missing

error[E0104]: nothing is open that this `}` could close
  ┌─ m.hlo:5:13
  │
5 │   b = (f32[4} negate(a)
  │           - ^
  │           │
  │           the `[` open here needs `]`
"#,
    );
}

#[test]
fn what_follows_the_header() {
    check(
        r#"HloModule m is_scheduled=true

ENTRY e {
  a = f32[4] parameter(0)
}
"#,
        r#"
error[E0110]: expected `,` and an attribute `name=value`, or a computation, found `is_scheduled`
  ┌─ m.hlo:1:13
  │
1 │ HloModule m is_scheduled=true
  │             ^^^^^^^^^^^^
"#,
    );
}

#[test]
fn a_table_that_is_there_twice() {
    check(
        r#"HloModule m

FileNames
1 "a.py"

FileNames
1 "b.py"

ENTRY e {
  a = f32[4] parameter(0)
}
"#,
        r#"
error[E0112]: the module has two tables `FileNames`
  ┌─ m.hlo:6:1
  │
3 │ FileNames
  │ --------- the first one
  ·
6 │ FileNames
  │ ^^^^^^^^^ the second one
"#,
    );
}
