//! Every module in `test/print` prints in each of the four forms byte for byte as XLA printed it.
//!
//! `NAME.input.txt` is the module, and `NAME.FORM.txt` is the output of jaxlib 0.10.2.

use hlo_ir::Module;
use hlo_ir::print::{PrintOptions, print_module};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/print")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
}

fn parse(name: &str, text: &str) -> Module {
    hlo_parser::parse_module(text).unwrap_or_else(|diags| panic!("{name}: {diags:?}"))
}

fn names() -> Vec<String> {
    let entries = std::fs::read_dir(folder()).unwrap_or_else(|e| panic!("{}: {e}", folder().display()));
    let files = entries.filter_map(|e| e.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> =
        files.filter_map(|f| Some(f.strip_suffix(".input.txt")?.to_owned())).collect();
    names.sort();
    assert!(names.len() > 10, "{names:?}");
    names
}

/// Returns the module after the changes that XLA makes when it reads one.
fn as_read(name: &str) -> Module {
    let mut module = parse(name, &read(&format!("{name}.input.txt")));
    module.make_names_unique();
    module.renumber_stack_frames();
    module
}

/// Returns the first line that differs between two texts.
fn first_difference<'t>(a: &'t str, b: &'t str) -> Option<(usize, &'t str, &'t str)> {
    let lines = a.split('\n').zip(b.split('\n')).enumerate();
    lines.into_iter().find(|(_, (x, y))| x != y).map(|(n, (x, y))| (n + 1, x, y))
}

fn prints_as_xla(form: &str, options: &PrintOptions) {
    let mut failed = Vec::new();
    for name in names() {
        let (printed, wanted) = (print_module(&as_read(&name), options), read(&format!("{name}.{form}.txt")));
        if printed != wanted {
            failed.push(format!("{name}: {:#?}", first_difference(&printed, &wanted)));
        }
    }
    assert!(failed.is_empty(), "not as XLA prints in the {form} form:\n{}", failed.join("\n"));
}

#[test]
fn default_form() {
    // XLA elides large constants by default.
    prints_as_xla("default", &PrintOptions { print_large_constants: false, ..PrintOptions::default() });
}

#[test]
fn short_form() {
    prints_as_xla("short", &PrintOptions::short());
}

#[test]
fn canonical_form() {
    prints_as_xla("canonical", &PrintOptions::canonical());
}

#[test]
fn fingerprint_form() {
    prints_as_xla("fingerprint", &PrintOptions::fingerprint());
}

#[test]
fn the_default_form_keeps_everything() {
    for name in names() {
        let module = as_read(&name);
        let printed = print_module(&module, &PrintOptions::default());
        let mut again = parse(&name, &printed);
        assert_eq!(module.difference(&again), None, "{name}");
        assert_eq!(print_module(&again, &PrintOptions::default()), printed, "{name}");
        // Names that are already unique do not change.
        again.make_names_unique();
        assert_eq!(module.difference(&again), None, "{name}");
    }
}

#[test]
fn operand_shapes_and_layouts_are_switches() {
    let module = parse("", "ENTRY e { a = f32[2]{0} parameter(0) ROOT b = f32[2]{0} negate(a) }");
    let options = PrintOptions { operand_shapes: true, layouts: false, ..PrintOptions::default() };
    let printed = print_module(&module, &options);
    assert!(printed.contains("ROOT %b = f32[2] negate(f32[2] %a)"), "{printed}");
}

#[test]
fn compact_tuple_elements_read_back() {
    let text = "HloModule m ENTRY e { t = (f32[], (s32[], pred[])) parameter(0) \
                u = (s32[], pred[]) get-tuple-element(t), index=1 v = pred[] get-tuple-element(u), index=1 \
                w = f32[] get-tuple-element(t), index=0 ROOT x = (pred[], f32[]) tuple(v, w) }";
    let options = PrintOptions { compact_gte: true, ..PrintOptions::default() };
    let printed = print_module(&parse("", text), &options);
    assert!(printed.contains("tuple(%t#1#1, %t#0)"), "{printed}");
    assert!(!printed.contains("get-tuple-element"), "{printed}");
    assert_eq!(print_module(&parse("", &printed), &options), printed);
}

/// Each computation calls the previous one twice. Printed inline, the last would be 2^60 times as large as
/// the first.
#[test]
fn printing_in_place_does_not_explode() {
    let mut text = String::from("HloModule m\nc0 { p = f32[] parameter(0) ROOT r = f32[] negate(p) }\n");
    for n in 1..60 {
        let callee = n - 1;
        text.push_str(&format!(
            "c{n} {{ p = f32[] parameter(0) x = f32[] call(p), to_apply=c{callee} ROOT r = f32[] call(x), to_apply=c{callee} }}\n"
        ));
    }
    let printed = print_module(&parse("chain", &text), &PrintOptions::canonical());
    assert!(printed.len() < 40_000, "{}", printed.len());
    assert!(printed.contains("to_apply=c58"));
}

/// Each instruction uses the two before it. As a tree, it would have 2^2000 nodes.
#[test]
fn orders_are_linear_on_dense_graphs() {
    let mut text =
        String::from("HloModule m\nENTRY e {\n a0 = f32[] parameter(0)\n a1 = f32[] parameter(1)\n");
    for n in 2..2000 {
        text.push_str(&format!(" a{n} = f32[] add(a{}, a{})\n", n - 1, n - 2));
    }
    text.push('}');
    let module = parse("dense", &text);
    assert_eq!(module.post_order(module.entry()).len(), 2000);
}
