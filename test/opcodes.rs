//! Generates and checks `docs/opcodes.md`, which lists for each opcode what the tests show: the engines that
//! run it, the element types, and where it is tested. `BLESS=1` writes the file.
//!
//! An opcode counts as interpreted or compiled if a test that runs in that engine contains it. The RUN lines
//! of a module in `test/exec` determine the engines; a module in `test/corpus` runs in both. The element
//! types of an opcode are those for which the verifier accepts a form in `test/types/forms.rs`.
//! `test/types/mod.rs` runs all of these in both engines.

use crate::files;
use crate::manual::sections;
use crate::types::forms::{FORMS, OPERANDS, computations};
use hlo_ir::{ElementType, Family, Module, Opcode};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

/// The facts that tests show about an opcode.
#[derive(Default)]
struct Facts {
    interpreted: bool,
    compiled: bool,
    /// The kinds of tests, in the order of the table.
    tests: BTreeSet<&'static str>,
    types: BTreeSet<usize>,
}

type Table = BTreeMap<&'static str, Facts>;

fn facts(table: &mut Table, opcode: Opcode) -> &mut Facts {
    table.entry(opcode.name()).or_default()
}

/// Returns the opcodes of a module.
fn opcodes(module: &Module) -> BTreeSet<Opcode> {
    let all = module.computations().flat_map(|c| module[c].instructions().iter().copied());
    all.map(|i| module[i].opcode()).collect()
}

/// Returns the text of the files below a folder whose names have this ending.
fn texts(folder: &Path, end: &str) -> Vec<String> {
    let all = files::below(folder).into_iter().filter(|p| p.to_string_lossy().ends_with(end));
    all.filter_map(|p| std::fs::read_to_string(p).ok()).collect()
}

/// Adds the facts from modules with results in the text.
fn execution_tests(root: &Path, table: &mut Table) {
    for text in texts(&root.join("test/exec"), ".hlo") {
        let Ok(module) = hlo_parser::parse_module(&text) else { continue };
        let runs: Vec<&str> =
            text.lines().filter(|l| l.contains("RUN:") && !l.contains("not hlo-run")).collect();
        let has = |flags: &[&str]| runs.iter().any(|r| flags.iter().any(|f| r.contains(f)));
        for opcode in opcodes(&module) {
            let facts = facts(table, opcode);
            facts.interpreted |= has(&["--engine=both", "--engine=eval"]);
            facts.compiled |= has(&["--engine=both", "--engine=jit"]);
            facts.tests.insert("exec");
        }
    }
}

/// Adds the facts from the corpus, all of which runs in both engines.
fn corpus(root: &Path, table: &mut Table) {
    for text in texts(&root.join("test/corpus"), "module.hlo") {
        let Ok(module) = hlo_parser::parse_module(&text) else { continue };
        for opcode in opcodes(&module) {
            let facts = facts(table, opcode);
            facts.interpreted = true;
            facts.compiled = true;
            facts.tests.insert("corpus");
        }
    }
}

/// Returns the opcode in a form's text: the word before the operands.
fn opcode_of(form: &str) -> Option<Opcode> {
    let words = form.split(['(', ' ']).filter(|w| !w.is_empty());
    words.into_iter().find_map(Opcode::from_name)
}

/// Adds the element types for which a form of the opcode is accepted.
fn element_types(table: &mut Table) {
    for (n, &ty) in ElementType::ALL.iter().enumerate() {
        for form in FORMS {
            let Some(opcode) = opcode_of(form) else { continue };
            facts(table, opcode).tests.insert("types");
            if !facts(table, opcode).types.contains(&n) && accepted(form, ty) {
                facts(table, opcode).types.insert(n);
            }
        }
    }
}

/// Checks whether the verifier accepts a form for `$T` and for some type in the other places.
fn accepted(form: &str, ty: ElementType) -> bool {
    let complex = ty.complex_type().unwrap_or(ty);
    let form =
        form.replace("$T", ty.name()).replace("$R", ty.real_type().name()).replace("$C", complex.name());
    let mut frame = format!("HloModule m\n{}ENTRY main {{\n", computations(ty));
    for (n, (name, shape)) in OPERANDS.iter().enumerate() {
        let _ = writeln!(frame, "  {name} = {} parameter({n})", shape.replace("$T", ty.name()));
    }
    ElementType::ALL.iter().any(|other| {
        let form = form.replace("$*", other.name()).replace("$O", other.name());
        let text = format!("{frame}  ROOT result = {form}\n}}\n");
        hlo_parser::parse_module(&text).is_ok_and(|m| hlo_ir::verify::verify(&m).is_empty())
    })
}

/// A function that checks whether an element type is in a group.
type Kind = fn(ElementType) -> bool;

/// Returns the types as text. A complete group is written by its name.
fn in_words(types: &BTreeSet<usize>) -> String {
    let all = ElementType::ALL;
    let groups: [(&str, Kind); 5] = [
        ("pred", ElementType::is_pred),
        ("s1 … s64", ElementType::is_signed_integer),
        ("u1 … u64", ElementType::is_unsigned_integer),
        ("f4 … f64", ElementType::is_float),
        ("c64, c128", ElementType::is_complex),
    ];
    if types.len() == all.len() {
        return "all".into();
    }
    let mut words = Vec::new();
    for (name, is_of) in groups {
        let group: Vec<usize> = (0..all.len()).filter(|&n| is_of(all[n])).collect();
        if group.iter().all(|n| types.contains(n)) {
            words.push(name.to_string())
        } else {
            words.extend(group.iter().filter(|n| types.contains(n)).map(|&n| all[n].name().to_string()))
        }
    }
    words.join(", ")
}

/// Returns the element types of opcodes without a form. Most of these return their operands.
fn without_form(opcode: Opcode) -> &'static str {
    match (opcode, opcode.family()) {
        (Opcode::ScaledDot, _) => "as `dot`, scales of f8e8m0fnu",
        (Opcode::RngGetAndUpdateState, _) => "u64",
        (Opcode::PartitionId | Opcode::ReplicaId, _) => "u32",
        (_, Family::Structural | Family::Control | Family::Effects | Family::Collective) => "all",
        _ => "",
    }
}

fn page(table: &mut Table) -> String {
    let pages: BTreeMap<String, String> = sections().into_iter().collect();
    let mut out = "# Opcodes\n\nWhich opcode is read, checked, interpreted and compiled, for which element types, and \
                   what tests it. Each name leads to a description with an example.\n\nGenerated from the tests \
                   (`BLESS=1 cargo test --test suite opcodes::` writes it again): \
                   `exec` are the modules of `test/exec`, `corpus` those of `test/corpus`,\n`types` the walk over \
                   all element types, `random` the programs of `test/random.rs`, `text` the random modules of\n\
                   `lib/hlo-testing`, which have every opcode.\n\n\
                   | opcode | parse | verify | interpret | compile | element types | tests |\n\
                   |---|---|---|---|---|---|---|\n"
        .to_string();
    for &opcode in Opcode::ALL {
        let facts = facts(table, opcode);
        if hlo_testing::generate::runs_alone(opcode) {
            facts.tests.insert("random");
        }
        facts.tests.insert("text");
        let runs = |yes: bool| if yes { "yes" } else { "no" };
        let types = match in_words(&facts.types) {
            words if words.is_empty() => without_form(opcode).into(),
            words => words,
        };
        let tests: Vec<&str> = facts.tests.iter().copied().collect();
        let name = opcode.name();
        let _ = writeln!(
            out,
            "| [`{name}`](opcodes/{}#{name}) | yes | yes | {} | {} | {types} | {} |",
            pages[name],
            runs(facts.interpreted),
            runs(facts.compiled),
            tests.join(", ")
        );
    }
    out
}

#[test]
fn the_page_of_the_opcodes_is_current() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut table = Table::new();
    execution_tests(root, &mut table);
    corpus(root, &mut table);
    element_types(&mut table);
    let expected = page(&mut table);
    let path = root.join("docs/opcodes.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).expect("docs can be written");
    }
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    let untyped: Vec<&str> = expected.lines().filter(|l| l.contains("|  |")).collect();
    assert!(untyped.is_empty(), "no form in test/types/forms.rs has these: {untyped:#?}");
    assert!(found == expected, "docs/opcodes.md is out of date: BLESS=1 cargo test --test suite opcodes::");
}
