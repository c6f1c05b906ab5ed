//! `literal-canonicalizer` lets equal constants share memory.

use hlo_ir::{Literal, Module, Op};
use hlo_passes::Pipeline;

/// Runs passes over a module. Returns the module and whether it changed.
fn run(text: &str, passes: &str) -> (Module, bool) {
    let mut module = hlo_parser::parse_module(text).unwrap_or_else(|d| panic!("{d:?}"));
    let pipeline = Pipeline::parse(passes).unwrap_or_else(|d| panic!("{d:?}"));
    let changed = pipeline.run(&mut module, &mut ()).unwrap_or_else(|d| panic!("{d:?}"));
    (module, changed)
}

/// Returns the literal of the constant with a name.
fn literal<'m>(module: &'m Module, name: &str) -> &'m Literal {
    let mut all = module.computations().flat_map(|c| module[c].instructions());
    let found = all.find_map(|&i| match &module[i].op {
        Op::Constant(a) if *module[i].name == *name => Some(&a.literal),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no constant `{name}`"))
}

const EQUAL: &str = "HloModule m\nf {\n  a = s32[3] constant({1, 2, 3})\n  ROOT n = s32[3] negate(a)\n}\n\
        ENTRY e {\n  b = s32[3] constant({1, 2, 3})\n  d = s32[3] constant({1, 2, 4})\n  c = s32[3] call(), to_apply=f\n\
        \x20 t = (s32[3], s32[3]) constant(({1, 2, 4}, {1, 2, 3}))\n  ROOT r = (s32[3], s32[3]) tuple(b, d)\n}\n";

#[test]
fn equal_constants_of_all_computations_share_memory() {
    let (module, changed) = run(EQUAL, "literal-canonicalizer");
    let (a, b, d) = (literal(&module, "a"), literal(&module, "b"), literal(&module, "d"));
    let [first, second] = literal(&module, "t").tuple_elements() else { panic!("two elements") };
    assert!(changed);
    assert_eq!(a.bytes().as_ptr(), b.bytes().as_ptr());
    assert!(second.shares_storage(a) && first.shares_storage(d));
    assert!(!a.shares_storage(d));
    assert_eq!(a.elements::<i32>(), [1, 2, 3]);
}

#[test]
fn arrays_below_the_size_keep_their_memory() {
    let (module, changed) = run(EQUAL, "literal-canonicalizer{min-size-bytes=13}");
    assert!(!changed && !literal(&module, "a").shares_storage(literal(&module, "b")));
    assert!(run(EQUAL, "literal-canonicalizer{min-size-bytes=12}").1);
}

#[test]
fn nans_of_other_payloads_keep_their_memory() {
    let text = "HloModule m\nENTRY e {\n  a = f32[2] constant({1, nan})\n  b = f32[2] constant({1, nan(0x123)})\n\
            \x20 c = f32[2] constant({1, nan})\n  ROOT r = (f32[2], f32[2], f32[2]) tuple(a, b, c)\n}\n";
    let (module, changed) = run(text, "literal-canonicalizer");
    let (a, b, c) = (literal(&module, "a"), literal(&module, "b"), literal(&module, "c"));
    assert!(changed && a.shares_storage(c) && !a.shares_storage(b));
}

#[test]
fn a_shared_literal_that_is_written_to_is_copied_first() {
    let (module, _) = run(EQUAL, "literal-canonicalizer");
    let mut own = literal(&module, "a").clone();
    own.elements_mut::<i32>()[0] = 7;
    assert_eq!(literal(&module, "b").elements::<i32>(), [1, 2, 3]);
}
