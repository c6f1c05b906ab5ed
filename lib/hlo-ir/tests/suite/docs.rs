//! Checks that the tables in `docs/hlo-text.md` match the tables in the code. `BLESS=1` updates them.

use hlo_ir::attr::{Attrs as _, Field, Presence};
use hlo_ir::{Arity, CommonField, Family, Header, Opcode};
use std::fmt::Write as _;
use std::path::Path;

#[test]
fn the_tables_of_the_text_page_are_current() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/hlo-text.md");
    let found = std::fs::read_to_string(&path).unwrap();
    let tables = [
        ("common attributes", common_attributes()),
        ("header attributes", header_attributes()),
        ("opcodes", opcodes()),
        ("attributes", attributes()),
    ];
    let expected = tables.iter().fold(found.clone(), |page, (name, table)| replace(&page, name, table));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &expected).unwrap();
    } else {
        assert!(found == expected, "docs/hlo-text.md is out of date: BLESS=1 cargo test -p hlo-ir docs::");
    }
}

/// `docs/adding-an-opcode.md` lists the families and the values of traits. A row of the table can have each.
#[test]
fn the_page_about_opcodes_lists_all_families_and_traits() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/adding-an-opcode.md")).unwrap();
    let enums = [
        ("src/opcode/mod.rs", "Family"),
        ("src/opcode/traits.rs", "Moves"),
        ("src/opcode/traits.rs", "SizeRule"),
        ("src/opcode/traits.rs", "FusionRole"),
    ];
    for (source, name) in enums {
        let source = std::fs::read_to_string(root.join(source)).unwrap();
        let (_, body) = source.split_once(&format!("pub enum {name} {{\n")).expect(name);
        let (body, _) = body.split_once("\n}").expect("an enum ends");
        let variants: Vec<&str> =
            body.lines().filter_map(|line| line.strip_prefix("    ")?.strip_suffix(',')).collect();
        assert!(variants.len() > 5, "{name}: {variants:?}");
        // Elementwise opcodes have a section of their own.
        for variant in variants.into_iter().filter(|v| *v != "Elementwise" || name != "Family") {
            assert!(page.contains(&format!("`{variant}`")), "the page does not list `{name}::{variant}`");
        }
    }
}

/// Returns the page with the named table replaced. A table is between two comments.
fn replace(page: &str, name: &str, table: &str) -> String {
    let start = format!("<!-- generated: {name} -->\n");
    let (before, rest) = page.split_once(&start).unwrap_or_else(|| panic!("the page has no table `{name}`"));
    let (_, after) = rest.split_once("<!-- end -->").expect("a table ends");
    format!("{before}{start}{table}<!-- end -->{after}")
}

/// Escapes `|`, which would end a table cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

fn common_attributes() -> String {
    let mut out = String::from("| attribute | meaning | grammar rule |\n|---|---|---|\n");
    for field in CommonField::ALL {
        let of = if Opcode::ALL.iter().all(|&o| field.applies_to(o)) { "" } else { " Unary functions only." };
        let _ = writeln!(out, "| `{}=` | {}{of} | `{}` |", field.name(), cell(field.doc()), field.rule());
    }
    out
}

fn header_attributes() -> String {
    let mut out = String::from("| attribute | meaning | grammar rule |\n|---|---|---|\n");
    for field in Header::default().fields() {
        let _ = writeln!(out, "| `{}=` | {} | `{}` |", field.name, cell(field.doc), field.rule);
    }
    out
}

const FAMILIES: &[(Family, &str)] = &[
    (Family::Structural, "Structure"),
    (Family::Elementwise, "Elementwise"),
    (Family::DataMovement, "Data movement"),
    (Family::Indexing, "Indexing"),
    (Family::Reduction, "Reductions, windows, sorting"),
    (Family::LinearAlgebra, "Linear algebra"),
    (Family::Normalization, "Normalization"),
    (Family::Random, "Random numbers"),
    (Family::Control, "Control"),
    (Family::Effects, "Tokens, transfers, custom calls"),
    (Family::Collective, "Collectives"),
];

fn opcodes() -> String {
    let listed = |o: &Opcode| FAMILIES.iter().any(|(f, _)| *f == o.family());
    assert!(Opcode::ALL.iter().all(listed), "a family lacks its heading");
    let mut out = String::new();
    for (family, title) in FAMILIES {
        let _ =
            write!(out, "\n### {title}\n\n| opcode | operands | attributes | result |\n|---|---|---|---|\n");
        for opcode in Opcode::ALL.iter().filter(|o| o.family() == *family) {
            let operands = match opcode.arity() {
                Arity::Exactly(n) => n.to_string(),
                Arity::AtLeast(n) => format!("{n} or more"),
            };
            let fields: Vec<String> = fields(*opcode).iter().map(written).collect();
            let _ = writeln!(
                out,
                "| `{opcode}` | {operands} | {} | {} |",
                fields.join(" "),
                cell(opcode.summary())
            );
        }
    }
    out.push('\n');
    out
}

fn fields(opcode: Opcode) -> &'static [Field] {
    let op = opcode.default_op();
    op.attrs().map_or(&[], |a| a.fields())
}

/// Returns the name of an attribute, in bold if the attribute is required.
fn written(field: &Field) -> String {
    match field.presence {
        Presence::Required => format!("**`{}`**", field.name),
        Presence::Always | Presence::Optional => format!("`{}`", field.name),
    }
}

/// Returns one row for each meaning of each name.
fn attributes() -> String {
    let mut rows: Vec<(&Field, Vec<&'static str>)> = Vec::new();
    for &opcode in Opcode::ALL {
        for field in fields(opcode) {
            match rows.iter_mut().find(|(f, _)| f.name == field.name && f.doc == field.doc) {
                Some((_, opcodes)) => opcodes.push(opcode.name()),
                None => rows.push((field, vec![opcode.name()])),
            }
        }
    }
    rows.sort_by_key(|(f, _)| f.name);
    let mut out = String::from("| attribute | meaning | grammar rule | of |\n|---|---|---|---|\n");
    for (field, opcodes) in rows {
        let words: Vec<String> =
            field.words.iter().filter(|w| !w.is_empty()).map(|w| format!("`{w}`")).collect();
        let words = if words.is_empty() { String::new() } else { format!(" One of {}.", words.join(", ")) };
        let opcodes: Vec<String> = opcodes.iter().map(|o| format!("`{o}`")).collect();
        let meaning = cell(field.doc);
        let (name, rule) = (field.name, field.rule);
        let _ = writeln!(out, "| `{name}=` | {meaning}{words} | `{rule}` | {} |", opcodes.join(", "));
    }
    out
}
