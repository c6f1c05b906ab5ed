//! Tests of token boundaries: blanks, strings, and values that contain a comma or a blank.

use hlo_ir::blank::is_blank;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_parser::parse_module;

fn printed(text: &str) -> String {
    match parse_module(text) {
        Ok(module) => print_module(&module, &PrintOptions::default()),
        Err(diags) => panic!("{}: {text}", diags[0].message),
    }
}

fn message(text: &str) -> String {
    match parse_module(text) {
        Ok(_) => panic!("no error in {text}"),
        Err(diags) => diags[0].message.clone(),
    }
}

fn all_reduce(groups: &str) -> String {
    format!(
        "HloModule m, num_partitions=4\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}\n\
         ENTRY e {{ x = f32[4] parameter(0) ROOT y = f32[4] all-reduce(x), channel_id=1, replica_groups={groups}, \
         use_global_device_ids=true, to_apply=add }}"
    )
}

#[test]
fn meshes_of_replica_groups() {
    let plain = "replica_groups=mesh['x'=2,'y'=2] {'x'}, use_global";
    for text in ["mesh['x'=2,'y'=2] {'x'}", "mesh['x'=2,'y'=2], {'x'}", "mesh['x'=2,'y'=2] ,\n /*a*/ {'x'}"] {
        assert!(printed(&all_reduce(text)).contains(plain), "{text}");
    }
    let ids = "mesh['x'=2,'y'=2], device_ids=([2,2]T(1,0)) {'x'}";
    assert!(printed(&all_reduce(ids)).contains(&format!("replica_groups={ids}, use")));
    assert!(printed(&all_reduce("mesh['x'=2,'y'=2], device_ids=([4]) {'x'}")).contains(plain));
    for bad in ["([2,2]T(1,0))", "([4])"] {
        message(&all_reduce(&format!("mesh['x'=2,'y'=2], device_ids={bad}, {{'x'}}")));
    }
}

#[test]
fn threads_are_strings() {
    let thread = |t: &str| {
        printed(&format!("HloModule m\nENTRY e {{ a = f32[] parameter(0) }}, execution_thread={t}"))
    };
    assert!(thread("'host'").trim_end().ends_with("}, execution_thread=\"host\""), "{}", thread("'host'"));
    assert!(thread("\"a\\\"b\\101\"").trim_end().ends_with("}, execution_thread=\"a\\\"bA\""));
    assert!(!thread("'main'").contains("execution_thread"));
    let wrong = "HloModule m\nENTRY e { a = f32[] parameter(0) }, execution_thread=\"\\q\"";
    assert_eq!(message(wrong), "no such escape: write `\\\\` for a backslash");
}

#[test]
fn threads_of_wrapped_operations() {
    let text = r#"HloModule m
ENTRY e {
  p = f32[4] parameter(0)
  s = ((f32[4]), f32[4], s32[]) custom-call-start(p), async_execution_thread='h\'"i', custom_call_target="f"
  ROOT x = f32[4] custom-call-done(s)
}"#;
    let module = parse_module(text).unwrap();
    let diags = hlo_ir::verify::verify(&module);
    assert!(diags.is_empty(), "{}", diags[0].message);
    assert!(print_module(&module, &PrintOptions::default()).contains(r#"async_execution_thread="h\'\"i""#));
}

#[test]
fn an_attribute_that_is_a_literal_has_a_value() {
    let call = |l: &str| {
        format!(
            "HloModule m\nENTRY e {{ ROOT x = f32[4] custom-call(), custom_call_target=\"f\", literal={l} }}"
        )
    };
    assert!(printed(&call("f32[4]{0} {1,2,3,4}")).contains("literal=f32[4]{0} {1, 2, 3, 4}"));
    assert_eq!(
        message(&call("f32[4]{0} {...}")),
        "`{...}` stands for a value that is not written; one is expected here"
    );
}

/// Wherever a blank is allowed, the same characters are blanks.
#[test]
fn blanks_are_the_same_everywhere() {
    let places: [fn(&str) -> String; 6] = [
        |b| format!("HloModule m\nENTRY e {{ ROOT x = f32[2]{b} parameter(0) }}"),
        |b| format!("HloModule m\nENTRY e {{ ROOT x = f32[2,{b}2] parameter(0) }}"),
        |b| format!("HloModule m\nENTRY e {{ ROOT x = f32[2] constant({{1,{b}2}}) }}"),
        |b| {
            format!(
                "HloModule m\nENTRY e {{ x = f32[2,3] parameter(0) ROOT y = f32[3,2] transpose(x), dimensions={{1,{b}0}} }}"
            )
        },
        |b| format!("HloModule m\nENTRY e {{ x = f32[] parameter(0) ROOT y = f32[] negate({b}x) }}"),
        |b| format!("HloModule m\nENTRY e {{ ROOT x = f32[] parameter(0) }}{b}"),
    ];
    let others = ['\u{85}', '\u{a0}', '\u{1680}', '\u{2003}', '\u{2028}', '\u{3000}', '\u{feff}'];
    for (n, place) in places.iter().enumerate() {
        for c in (1..=0x20).map(char::from).chain(others) {
            let accepted = parse_module(&place(&c.to_string())).is_ok();
            assert_eq!(accepted, u8::try_from(c).is_ok_and(is_blank), "{c:?} at place {n}");
        }
    }
}

#[test]
fn windows_have_no_commas() {
    let window = |rank: usize, w: &str| {
        let sizes = ["4"; 3][..rank].join(",");
        format!(
            "HloModule m\nadd {{ a = f32[] parameter(0) b = f32[] parameter(1) ROOT c = f32[] add(a, b) }}\n\
             ENTRY e {{ x = f32[{sizes}] parameter(0) z = f32[] constant(0) \
             ROOT y = f32[{}] reduce-window(x, z), window={w}, to_apply=add }}",
            ["3"; 3][..rank].join(",")
        )
    };
    for good in [
        "{size=2}",
        "{ size= 2  stride=1 }",
        "{size=2stride=1}",
        "{size=2 pad=0_0}",
        "{size=2 /*c*/ stride=1}",
    ] {
        assert!(printed(&window(1, good)).contains("window={size=2}"), "{good}");
    }
    for bad in ["{size=2,stride=1}", "{size =2}", "{size=2 pad=0 _0}", "{size=2 pad=0_ 0}"] {
        message(&window(1, bad));
    }
    for bad in ["{size=2 x 2}", "{size=2x 2}", "{size=2 x2}", "{size=2x2 pad=0_0 x0_0}"] {
        message(&window(2, bad));
    }
}
