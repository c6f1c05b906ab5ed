//! StableHLO to HLO: the programs in `cases/` are what XLA's translation makes of them, up to names. What that leaves unused
//! is taken out of them.

mod failures;
mod forms;

use hlo_ir::{InstrId, Module, Op};
use hlo_module_diff::{Ignore, Kind, diff};
use hlo_stablehlo::{import::import, text};

/// The module that a text stands for.
fn module(text: &str) -> Module {
    let tree = text::parse(text).unwrap_or_else(|diags| panic!("{diags:#?}"));
    import(&tree).unwrap_or_else(|diags| panic!("{diags:#?}"))
}

/// What is wrong with a text that can't be translated.
fn failures(text: &str) -> Vec<String> {
    let tree = text::parse(text).unwrap_or_else(|diags| panic!("{diags:#?}"));
    match import(&tree) {
        Ok(_) => Vec::new(),
        Err(diags) => diags.into_iter().map(|d| d.message).collect(),
    }
}

/// The operations of a text's `main`, in a function of one argument and one result of type `tensor<4xf32>`.
fn function(body: &str) -> String {
    format!(
        "func.func @main(%x: tensor<4xf32>, %i: tensor<i32>) -> tensor<4xf32> {{\n{body}\nreturn %x : tensor<4xf32>\n}}"
    )
}

/// The instructions of the entry that do something.
fn entry_ops(module: &Module) -> Vec<InstrId> {
    let all = module[module.entry()].instructions().iter().copied();
    all.filter(|&i| !matches!(module[i].op, Op::Parameter(_))).collect()
}

/// Checks that a program becomes the one that XLA makes of it.
fn check(program: &str, expected: &str) {
    let expected = hlo_parser::parse_module(expected).unwrap_or_else(|diags| panic!("{diags:#?}"));
    let found = module(program);
    // XLA has the counts of devices elsewhere, and metadata are not in its text.
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
