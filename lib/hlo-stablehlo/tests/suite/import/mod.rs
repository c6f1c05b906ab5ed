//! StableHLO to HLO: the translation of the programs in `cases/` equals that of XLA, except for names.
//! Instructions that XLA's translation leaves unused are removed from it.

mod failures;
mod forms;

use hlo_ir::{InstrId, Module, Op};
use hlo_module_diff::{Ignore, Kind, diff};
use hlo_stablehlo::{import::import, text};

/// Translates a text to a module.
fn module(text: &str) -> Module {
    let tree = text::parse(text).unwrap_or_else(|diags| panic!("{diags:#?}"));
    import(&tree).unwrap_or_else(|diags| panic!("{diags:#?}"))
}

/// Returns the error messages for a text that cannot be translated.
fn failures(text: &str) -> Vec<String> {
    let tree = text::parse(text).unwrap_or_else(|diags| panic!("{diags:#?}"));
    match import(&tree) {
        Ok(_) => Vec::new(),
        Err(diags) => diags.into_iter().map(|d| d.message).collect(),
    }
}

/// Returns a `main` with the given operations, whose first argument and result have type `tensor<4xf32>`.
fn function(body: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {{\n{body}\nreturn %x : tensor<4xf32>\n}}"
    )
}

/// Returns the instructions of the entry other than parameters.
fn entry_ops(module: &Module) -> Vec<InstrId> {
    let all = module[module.entry()].instructions().iter().copied();
    all.filter(|&i| !matches!(module[i].op, Op::Parameter(_))).collect()
}

/// Checks that the translation of a program equals that of XLA.
fn check(program: &str, expected: &str) {
    let expected = hlo_parser::parse_module(expected).unwrap_or_else(|diags| panic!("{diags:#?}"));
    let found = module(program);
    // XLA stores the numbers of devices elsewhere, and its text contains no metadata.
    let ignore = Ignore { names: true, layout: true, metadata: true, header: true, ..Ignore::default() };
    let difference = diff(&expected, &found, ignore);
    let line = |module: &Module, id: Option<InstrId>| {
        id.map_or(String::new(), |id| {
            format!("{} {} {:?}", module[id].shape, module[id].op.name(), module[id])
        })
    };
    let instructions = difference.computations.iter().flat_map(|c| &c.instructions);
    let others = instructions.filter(|i| i.kind() != Kind::Same);
    let others: Vec<String> = others
        .map(|i| format!("XLA has\n{}\nfound\n{}", line(&expected, i.left), line(&found, i.right)))
        .collect();
    assert!(others.is_empty(), "{}", others.join("\n\n"));
    assert!(difference.is_same(), "{difference:#?}");
    assert_eq!(found.header.input_output_alias, expected.header.input_output_alias);
    assert_eq!(found.header.buffer_donor, expected.header.buffer_donor);
    assert_eq!(found.header.frontend_attributes, expected.header.frontend_attributes);
}

macro_rules! cases {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            check(
                include_str!(concat!("cases/", stringify!($name), ".mlir")),
                include_str!(concat!("cases/", stringify!($name), ".hlo")),
            );
        }
    )*};
}

cases! {
    collective
    composite
    constants
    control
    dynamic
    effects
    elementwise
    entry
    linear_algebra
    movement
    reduction
}
