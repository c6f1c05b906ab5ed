//! Checks a file: its syntax, and the specialization of its functions.

use crate::diagnostics::{Checked, MAX_DIAGNOSTICS, PartDiagnostic, guarded};
use crate::facts::Facts;
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_instruction_within};
use hlo_ir::{Module, Opcode};
use hlo_tile::ast::Function;
use hlo_tile::{Directive, Specialized, Tile};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time limit for specializing functions. A function that takes longer is completed; the functions after it
/// are only checked for syntax. `hlo_tile` also limits the work of a function.
const SPECIALIZATION_TIMEOUT: Duration = Duration::from_secs(5);

/// Maximum length of a line of HLO.
const MAX_LINE: usize = 240;

/// Checks a file. Functions with arguments in a comment `# tile: …` are specialized for them.
pub fn check(name: &str, text: &str) -> Checked {
    let mut facts = Facts::default();
    let diags = match guarded(|| Tile::new(name, text)).and_then(|read| read) {
        Ok(tile) => of_functions(&tile, &mut facts),
        Err(diag) => vec![diag],
    };
    Checked { found: diags.iter().map(|diag| PartDiagnostic::new(0, text, diag)).collect(), facts }
}

/// Returns the diagnostics of the functions of a file, in the order of the text.
fn of_functions(tile: &Tile, facts: &mut Facts) -> Vec<Diag> {
    let mut diags = tile.python().to_vec();
    let start = Instant::now();
    for function in tile.functions() {
        let Some(directive) = tile.directive(&function.name.text) else { continue };
        if start.elapsed() > SPECIALIZATION_TIMEOUT || diags.len() > MAX_DIAGNOSTICS {
            break;
        }
        let found = guarded(|| specialized(tile, function, directive, facts));
        for diag in found.unwrap_or_else(|defect| vec![defect]) {
            // A diagnostic without a span applies to the whole function.
            let diag = match diag.primary() {
                Some(_) => diag,
                None => diag.at(function.name.span, ""),
            };
            // An error in a function is found again in each of its callers.
            if !diags.iter().any(|d| is_same(d, &diag)) {
                diags.push(diag);
            }
        }
    }
    diags.sort_by_key(|d| d.primary().map_or(0, |l| l.span.start));
    diags
}

/// Whether two diagnostics have the same message and span. The caller of the function does not matter.
fn is_same(a: &Diag, b: &Diag) -> bool {
    let place = |d: &Diag| d.primary().map(|l| l.span);
    (a.code, &a.message, place(a)) == (b.code, &b.message, place(b))
}

/// Specializes a function for the arguments in its comment and returns the diagnostics.
fn specialized(tile: &Tile, function: &Function, directive: &Directive, facts: &mut Facts) -> Vec<Diag> {
    let name = &function.name.text;
    let end = function.body.last().map_or(function.name.span.end, |s| s.span.end);
    // The values for the function's own comment take precedence over those for a caller.
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

/// Returns the contractions of a module, by the offsets of their lines.
fn contractions(module: &Module) -> BTreeMap<usize, Vec<String>> {
    let options = PrintOptions { layouts: false, ..PrintOptions::short() };
    let all = module[module.entry()].instructions().iter().copied();
    let mut out: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    // Instructions that do not come from a line of the text have no span.
    for id in all.filter(|&id| module[id].opcode() == Opcode::Contraction && !module.span(id).is_empty()) {
        let hlo = print_instruction_within(module, id, &options, MAX_LINE);
        out.entry(module.span(id).start as usize).or_default().push(hlo);
    }
    out
}
