//! Completion at the cursor.

use super::Source;
use super::attributes::{self, Attribute};
use super::hover::{element_type, takes};
use super::index::Part;
use crate::completion::{List, MAX_NAMES};
use crate::symbol::shortened;
use hlo_ir::attr::BraceContents;
use hlo_ir::{Arity, ElementType, Opcode};
use hlo_parser::outline::{Expected, Outline, Role, expected_at_end, open_brackets};
use lsp_types::{CompletionItemKind, CompletionList};

/// Returns the completions at an offset.
pub fn complete(d: &Source, offset: usize, snippets: bool) -> CompletionList {
    let mut list = List::new(snippets);
    if let Some(part) = d.part_at(offset) {
        fill(&mut list, d, part, offset - part.start);
    }
    list.into()
}

fn fill<'a>(list: &mut List<'a>, d: &'a Source, part: &Part, offset: usize) {
    let text = d.text_of(part);
    let Some(before) = text.get(..offset) else { return };
    let start = before.trim_end_matches(is_word).len();
    list.range = d.text.range(part.start + start, part.start + offset);
    list.typed = &before[start..];
    let before = before[..start].strip_suffix('%').unwrap_or(&before[..start]);
    // Only the current computation determines what is expected.
    let base = part.outline.computations.iter().rev().filter(|c| c.parent.is_none());
    let base = base.map(|c| c.span.start as usize).find(|&s| s < before.len()).unwrap_or(0);
    let before = &before[base..];
    let (expected, outline) = expected_at_end(before);
    let scope = Scope { text: before, outline: &outline };
    match expected {
        Expected::Nothing => {}
        Expected::TopLevel => list.words(&["HloModule", "ENTRY"], "starts a module or its entry computation"),
        Expected::HeaderAttribute => {
            let written = scope.written(Role::HeaderAttribute, 0);
            let all = attributes::of_module();
            let unwritten = all.iter().filter(|a| !written.contains(&a.name));
            unwritten.for_each(|a| list.attribute(a, "module"));
        }
        Expected::HeaderValue(name) => {
            let name = before.get(name.range()).unwrap_or_default();
            if let Some(a) = attributes::of_module().iter().find(|a| a.name == name) {
                list.words(a.words, a.doc);
            }
        }
        Expected::ElementType => list.element_types(),
        Expected::Instruction => list.words(&["ROOT"], "the computation's result"),
        Expected::ShapeOrOpcode => {
            list.element_types();
            list.opcodes(&text[offset..]);
        }
        Expected::Opcode => list.opcodes(&text[offset..]),
        Expected::Operand(owner) | Expected::Predecessor(owner) => list.instructions(&scope, owner),
        Expected::Attribute(owner) => list.attributes(&scope, owner),
        Expected::Value(owner, name) => {
            let name = before.get(name.range()).unwrap_or_default();
            if let Some(a) = attributes::find(scope.opcode(owner), name) {
                list.words(a.words, a.doc);
            }
        }
        Expected::Inside(owner, name) => {
            if let Some(a) =
                attributes::find(scope.opcode(owner), before.get(name.range()).unwrap_or_default())
            {
                list.inside(&before[name.end as usize..], &a);
            }
        }
        Expected::Callee => list.computations(text, part, base + before.len()),
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-')
}

/// The text before the cursor and its outline.
struct Scope<'a> {
    text: &'a str,
    outline: &'a Outline,
}

impl<'a> Scope<'a> {
    fn opcode(&self, instruction: u32) -> Option<Opcode> {
        let i = self.outline.instructions.get(instruction as usize)?;
        Some(attributes::opcode(self.text.get(i.opcode.range())?)?.0)
    }

    /// Returns the attributes that are already written.
    fn written(&self, role: Role, owner: u32) -> Vec<&'a str> {
        let tokens = self.outline.tokens.iter().filter(|t| t.role == role && t.owner == owner);
        tokens.filter_map(|t| self.text.get(t.span.range())).collect()
    }
}

impl List<'_> {
    fn element_types(&mut self) {
        let names = ElementType::ALL.iter().map(|t| t.name()).chain(["token", "opaque"]);
        for (n, name) in names.enumerate() {
            let doc = element_type(name).unwrap_or_default();
            let close = if self.snippets && !matches!(name, "token" | "opaque") { "[$0]" } else { "[]" };
            self.add(name, CompletionItemKind::TYPE_PARAMETER, &doc, format!("{name}{close}"), n);
        }
    }

    /// Adds opcodes. `after` is the text after the cursor.
    fn opcodes(&mut self, after: &str) {
        let has_operands = after.trim_start_matches(is_word).trim_start_matches(' ').starts_with('(');
        for (n, &opcode) in Opcode::ALL.iter().enumerate() {
            let new = match (has_operands, self.snippets) {
                (true, _) => opcode.name().to_owned(),
                (false, true) => snippet(opcode),
                (false, false) => format!("{}(", opcode.name()),
            };
            // Sorted after the element types, if there are any.
            self.add(opcode.name(), CompletionItemKind::FUNCTION, opcode.summary(), new, 1000 + n);
            self.describe(takes(opcode));
        }
    }

    /// Adds the instructions of the computation before the current one, the nearest first.
    fn instructions(&mut self, scope: &Scope<'_>, owner: u32) {
        let all = &scope.outline.instructions;
        let Some(computation) = all.get(owner as usize).map(|i| i.computation) else { return };
        let before = all.iter().take(owner as usize).rev();
        let visible = before.filter(|i| i.computation == computation && !i.name.is_empty());
        let mut order = 0;
        for i in visible {
            let name = scope.text.get(i.name.range()).unwrap_or_default();
            if !name.starts_with(self.typed) {
                continue;
            }
            if order == MAX_NAMES {
                self.incomplete = true;
                return;
            }
            let shape = scope.text.get(i.shape.range()).unwrap_or_default();
            let opcode = scope.text.get(i.opcode.range()).unwrap_or_default();
            let detail = format!("{} {opcode}", shortened(shape, 60));
            self.add(name, CompletionItemKind::VARIABLE, detail.trim(), name.to_owned(), order);
            order += 1;
        }
    }

    /// Adds the computations that are defined before `offset` of the module, the nearest first.
    fn computations(&mut self, text: &str, part: &Part, offset: usize) {
        let defined = part.outline.computations.iter().rev();
        // A computation that is not closed contains the cursor.
        let defined = defined.filter(|c| (c.span.end as usize) < offset && !c.name.is_empty());
        let mut order = 0;
        for c in defined {
            let name = &text[c.name.range()];
            if !name.starts_with(self.typed) {
                continue;
            }
            if order == MAX_NAMES {
                self.incomplete = true;
                return;
            }
            let detail = shortened(&text[c.signature.range()], 100);
            self.add(name, CompletionItemKind::MODULE, &detail, name.to_owned(), order);
            order += 1;
        }
    }

    /// Adds the attributes that an instruction does not have yet, those of its opcode before the common ones.
    fn attributes(&mut self, scope: &Scope<'_>, owner: u32) {
        let written = scope.written(Role::Attribute, owner);
        let opcode = scope.opcode(owner);
        let own = opcode.map_or(Vec::new(), attributes::of_opcode);
        let of = opcode.map_or("instruction", Opcode::name);
        for a in own.iter().filter(|a| !written.contains(&a.name)) {
            self.attribute(a, of);
        }
        for a in attributes::common(opcode).iter().filter(|a| !written.contains(&a.name)) {
            self.attribute(a, "every instruction");
        }
    }

    fn attribute(&mut self, a: &Attribute, of: &str) {
        let detail = if a.required { format!("{of}, required") } else { of.to_owned() };
        let order = self.items.len() + if a.required { 0 } else { 100 };
        self.field(a.name, &detail, a.inside, order);
        self.describe(a.doc.to_owned());
    }

    /// Adds a name with `=`. Braces follow if their contents are known.
    fn field(&mut self, name: &str, detail: &str, inside: BraceContents, order: usize) {
        let braces = self.snippets && inside.braces && inside != BraceContents::NO_NAMES;
        let new = format!("{name}={}", if braces { "{$0}" } else { "" });
        self.add(name, CompletionItemKind::PROPERTY, detail, new, order);
    }

    /// Adds completions at the end of `value`, the start of an attribute's value after the `=`.
    fn inside(&mut self, value: &str, a: &Attribute) {
        let text = |span: &hlo_ir::Span| value.get(span.range()).unwrap_or_default();
        let brackets = open_brackets(value);
        let mut inside = a.inside;
        let mut around = None;
        for bracket in brackets.get(1..).unwrap_or_default() {
            if let Some(field) = around {
                inside = inside.part(text(field)).unwrap_or(BraceContents::NO_NAMES);
            }
            if !bracket.is_brace || !inside.braces {
                return;
            }
            // A word may determine what can follow it.
            let words = bracket.names.iter().map(text).filter(|w| inside.words.contains(w));
            inside = words.filter_map(|w| inside.part(w)).next_back().unwrap_or(inside);
            around = bracket.field.as_ref();
        }
        let Some(bracket) = brackets.last() else { return };
        if bracket.awaits_value {
            let part = around.and_then(|field| inside.part(text(field)));
            return self.words(part.filter(|p| !p.braces).map_or(&[], |p| p.words), a.doc);
        }
        let written: Vec<&str> = bracket.names.iter().map(text).collect();
        let unwritten = |names: &'static [&'static str]| names.iter().filter(|n| !written.contains(n));
        for word in unwritten(inside.words) {
            self.add(word, CompletionItemKind::KEYWORD, a.name, (*word).to_owned(), self.items.len());
        }
        for field in unwritten(inside.fields) {
            let part = inside.part(field).unwrap_or(BraceContents::NO_NAMES);
            self.field(field, a.name, part, self.items.len());
        }
    }
}

/// Returns a snippet with an opcode and placeholders for its operands and required attributes.
pub fn snippet(opcode: Opcode) -> String {
    let mut places = 0;
    let mut place = || {
        places += 1;
        format!("${{{places}}}")
    };
    let operands = match (opcode, opcode.arity()) {
        (Opcode::Parameter | Opcode::Constant, _) => 1,
        (_, Arity::Exactly(n)) => n,
        (_, Arity::AtLeast(n)) => n.max(1),
    };
    let operands: Vec<String> = (0..operands).map(|_| place()).collect();
    let mut out = format!("{}({})", opcode.name(), operands.join(", "));
    for a in attributes::of_opcode(opcode).iter().filter(|a| a.required) {
        out.push_str(&format!(", {}={}", a.name, place()));
    }
    out
}
