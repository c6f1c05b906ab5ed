//! What is wrong with a file: its syntax, and what specialising its functions shows.

use crate::check::{Checked, Found, MAX, guarded};
use crate::facts::Facts;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_instruction_within};
use hlo_ir::{Module, Opcode};
use hlo_tile::ast::Function;
use hlo_tile::{Directive, Specialized, Tile};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// How long functions are specialised: one that takes longer is finished, those after it have their syntax checked only. What a
/// function may do is limited, too, by `hlo_tile`.
const PATIENCE: Duration = Duration::from_secs(5);

/// The longest line of HLO that is shown.
const MAX_LINE: usize = 240;

/// Checks a file: the functions that have arguments in a comment `# tile: …` are specialised to them.
pub fn check(name: &str, text: &str) -> Checked {
    let mut facts = Facts::default();
    let diags = match guarded(|| Tile::new(name, text)).and_then(|read| read) {
        Ok(tile) => of_functions(&tile, &mut facts),
        Err(diag) => vec![diag],
    };
    Checked { found: diags.iter().map(|diag| Found::new(0, text, diag)).collect(), facts }
}

/// What is wrong with the functions of a file, in the order of the text.
fn of_functions(tile: &Tile, facts: &mut Facts) -> Vec<Diag> {
    let mut diags = tile.python().to_vec();
    let start = Instant::now();
    for function in tile.functions() {
        let Some(directive) = tile.directive(&function.name.text) else { continue };
        if start.elapsed() > PATIENCE || diags.len() > MAX {
            break;
        }
        let found = guarded(|| specialized(tile, function, directive, facts));
        for diag in found.unwrap_or_else(|defect| vec![defect]) {
            // What has no place is of the whole function.
            let diag = match diag.primary() {
                Some(_) => diag,
                None => diag.at(function.name.span, ""),
            };
            // What is wrong in a function is wrong in each that calls it.
            if !diags.iter().any(|d| is_same(d, &diag)) {
                diags.push(diag);
            }
        }
    }
    diags.sort_by_key(|d| d.primary().map_or(0, |l| l.span.start));
    diags
}

/// True if two diagnostics say the same of the same place, whoever called the function that it is in.
fn is_same(a: &Diag, b: &Diag) -> bool {
    let place = |d: &Diag| d.primary().map(|l| l.span);
    (a.code, &a.message, place(a)) == (b.code, &b.message, place(b))
}

/// Specialises a function to the arguments of its comment: what is wrong with it.
fn specialized(tile: &Tile, function: &Function, directive: &Directive, facts: &mut Facts) -> Vec<Diag> {
    let name = &function.name.text;
    let end = function.body.last().map_or(function.name.span.end, |s| s.span.end);
    // What a function is by its own comment says more than what it is for one that calls it.
    let own = function.name.span.start as usize..end as usize;
    let (made, names) = tile.inspect(name, &directive.arguments, &[]);
    for known in names {
        let at = known.span.start as usize;
        if own.contains(&at) {
            facts.names.insert(at, format!("is {known}"));
        } else {
            facts.names.entry(at).or_insert_with(|| format!("is {known}, as `{name}` calls it"));
        }
    }
    let Specialized { module, warnings } = match made {
        Ok(made) => made,
        Err(diag) => return vec![diag],
    };
    let root = &module[module[module.entry()].root()];
    let returns = format!("returns `{}` for the arguments of its comment", root.shape.without_layout());
    facts.names.insert(own.start, returns);
    for (line, hlo) in contractions(&module) {
        if own.contains(&line) {
            facts.hlo.insert(line, hlo);
        } else {
            facts.hlo.entry(line).or_insert(hlo);
        }
    }
    warnings
}

/// The contractions of a module, by where the lines begin that they are made of.
fn contractions(module: &Module) -> BTreeMap<usize, Vec<String>> {
    let options = PrintOptions { layouts: false, ..PrintOptions::short() };
    let all = module[module.entry()].instructions().iter().copied();
    let mut out: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    // What is made of no line of the text has no place.
    for id in all.filter(|&id| module[id].opcode() == Opcode::Contraction && !module.span(id).is_empty()) {
        let hlo = print_instruction_within(module, id, &options, MAX_LINE);
        out.entry(module.span(id).start as usize).or_default().push(hlo);
    }
    out
}
