//! Collection of values from modules.

use super::read::Target;
use crate::test_files;
use hlo_ir::attr::Attrs as _;
use hlo_ir::blank::TrimBlanks;
use hlo_ir::{CommonField, Header, Opcode};
use hlo_parser::internals::{Rule, Scanned, ScannedText, head, parse_rule, scan};
use pest::iterators::Pair;
use std::collections::HashSet;

/// The folders with texts.
const FOLDERS: [&str; 7] = [
    "lib/hlo-parser/tests/suite/attributes/samples",
    "test/corpus",
    "test/exec",
    "test/parse",
    "test/passes",
    "test/print",
    "test/verify",
];

/// A value in a text, and its kind.
pub type Value = (Target, String);

/// Returns the values of all texts in a fixed order, each one once.
pub fn values() -> Vec<Value> {
    let mut out = Vec::new();
    for path in FOLDERS.into_iter().flat_map(test_files::below) {
        let modules = match path.extension().and_then(|e| e.to_str()) {
            Some("hlo") => modules(&std::fs::read_to_string(&path).unwrap()),
            Some("txt") => std::fs::read_to_string(&path).unwrap().lines().filter_map(sample).collect(),
            _ => Vec::new(),
        };
        modules.iter().for_each(|module| of_module(module, &mut out));
    }
    let mut seen = HashSet::new();
    out.retain(|(target, text)| seen.insert((format!("{target:?}"), text.clone())));
    out
}

/// Splits a file into its modules, which lines `// -----` separate.
fn modules(text: &str) -> Vec<String> {
    let mut out = vec![String::new()];
    for line in text.lines() {
        if line.starts_with("// -----") {
            out.push(String::new());
        } else if let Some(module) = out.last_mut() {
            *module += line;
            module.push('\n');
        }
    }
    out
}

/// Returns a module with a line of a file of samples: the first line of a module, or an instruction.
fn sample(line: &str) -> Option<String> {
    if line.is_empty() || line.starts_with([' ', '^', '#']) || line.starts_with("-> ") {
        return None;
    }
    let line = line.replace('¶', "\n");
    Some(if line.starts_with("HloModule") {
        line
    } else {
        format!("HloModule m\n\nENTRY e {{\n  ROOT r = {line}\n}}\n")
    })
}

/// A module whose values are collected.
struct Module<'t> {
    source: &'t str,
    scanned: &'t Scanned<'t>,
    out: &'t mut Vec<Value>,
}

/// Adds the values of a module up to its first syntax error.
fn of_module(source: &str, out: &mut Vec<Value>) {
    let scanned = &scan(source);
    let Ok(prologue) = parse_rule(Rule::prologue, &scanned.text, 0) else { return };
    let mut module = Module { source, scanned, out };
    let mut end = 0;
    for part in prologue.into_inner() {
        end = part.as_span().end();
        match part.as_rule() {
            Rule::header => module.header(part),
            _ => module.table(part),
        }
    }
    let rest = &scanned.text[end..];
    if let Ok(computations) = parse_rule(Rule::computations, rest.trim_blanks_start(), end) {
        computations.into_inner().for_each(|computation| module.computation(computation));
    }
}

impl Module<'_> {
    /// Adds the text of `part`, a slice of the scanned text.
    fn add(&mut self, target: Target, part: &str) {
        let start = part.as_ptr() as usize - self.scanned.text.as_ptr() as usize;
        let text = &self.source[start..start + part.len()];
        self.out.push((target, text.trim_blanks().to_owned()));
    }

    fn table(&mut self, table: Pair<'_, Rule>) {
        let mut parts = table.into_inner();
        let target = match parts.next().map(|name| name.as_str()) {
            Some("FileLocations") => Target::FileLocation,
            Some("StackFrames") => Target::StackFrame,
            _ => Target::TableString,
        };
        for entry in parts {
            self.add(target, entry.as_str().trim_start_matches(|c: char| c.is_ascii_digit()));
        }
    }

    fn computation(&mut self, computation: Pair<'_, Rule>) {
        for part in computation.into_inner() {
            match part.as_rule() {
                Rule::computation_head => {
                    for part in part.into_inner() {
                        match part.as_rule() {
                            Rule::parameter_list => self.add(Target::Parameters, part.as_str()),
                            Rule::shape_token => self.add(Target::Shape, part.as_str()),
                            _ => {}
                        }
                    }
                }
                Rule::body => self.body(part),
                Rule::execution_thread => {
                    self.add(Target::Thread, part.as_str().split_once('=').map_or("", |(_, v)| v));
                }
                _ => {}
            }
        }
    }

    fn body(&mut self, body: Pair<'_, Rule>) {
        let mut opcode = None;
        for part in body.into_inner() {
            match part.as_rule() {
                Rule::statement => opcode = self.statement(part.as_str()),
                _ => {
                    if let Some(opcode) = opcode {
                        self.attribute(part, opcode);
                    }
                }
            }
        }
    }

    /// Adds the operation of a statement and returns its opcode.
    fn statement(&mut self, statement: &str) -> Option<Opcode> {
        let mut t = ScannedText::new(statement, 0);
        t.definition(true).ok()?;
        let start = t.c.offset_of_next();
        self.add(Target::Operation, &statement[start..]);
        head(&mut t).ok().and_then(|head| Opcode::from_name(head.opcode))
    }

    fn header(&mut self, header: Pair<'_, Rule>) {
        for attribute in header.into_inner().filter(|part| part.as_rule() == Rule::attribute) {
            let Some((name, value)) = attribute.as_str().split_once('=') else { continue };
            let index = Header::default().fields().iter().position(|f| f.name == name);
            if let Some(index) = index {
                self.add(Target::Header(index), value);
            }
        }
    }

    /// Adds the value of an attribute of an instruction.
    fn attribute(&mut self, attribute: Pair<'_, Rule>, opcode: Opcode) {
        if attribute.as_rule() == Rule::calling_attribute {
            attribute.into_inner().filter(|p| p.as_rule() == Rule::body).for_each(|body| self.body(body));
            return;
        }
        let Some((name, value)) = attribute.as_str().split_once('=') else { return };
        let op = opcode.default_op();
        let own = op.attrs().and_then(|a| a.fields().iter().position(|f| f.name == name));
        let field = own.map(|index| Target::Field(opcode, index));
        if let Some(target) = field.or_else(|| CommonField::from_name(name).map(Target::Common)) {
            self.add(target, value);
        }
    }
}
