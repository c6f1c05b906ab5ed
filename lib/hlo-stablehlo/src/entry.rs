//! The entry function of a program.

use crate::Tree;
use crate::tree::Operation;
use hlo_ir::diag::Diag;

/// Returns the function of the given name. Without a name, returns the only function, or `main` if there are
/// several.
///
/// # Errors
/// There is no such function.
pub fn entry_function<'t>(tree: &'t Tree, name: Option<&str>) -> Result<&'t Operation, Diag> {
    let functions: Vec<&Operation> = tree.operations().iter().filter(|op| op.name == "func.func").collect();
    let of_name = |name| functions.iter().find(|function| function.symbol_name() == Some(name)).copied();
    let found = match (name, &functions[..]) {
        (Some(name), _) => of_name(name),
        (None, [only]) => Some(*only),
        (None, _) => of_name("main"),
    };
    found.ok_or_else(|| {
        let module = &tree.module;
        let diag = match name {
            Some(name) => module.diag(format!("it has no function `{name}`")),
            None => module.diag("it has no function `main`, nor only one function"),
        };
        let names: Vec<&str> = functions.iter().filter_map(|function| function.symbol_name()).collect();
        match &names[..] {
            [] => diag,
            names => diag.note(format!("its functions: {}; `--fn=NAME` chooses one", listed(names))),
        }
    })
}

/// Returns the first ten names of a list, for an error message.
fn listed(names: &[&str]) -> String {
    const MAX_LISTED_NAMES: usize = 10;
    let shown: Vec<&str> = names.iter().take(MAX_LISTED_NAMES).copied().collect();
    let more = if names.len() > MAX_LISTED_NAMES { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}
