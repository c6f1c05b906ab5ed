//! Hover: describes the word under the cursor.

use super::Source;
use super::attributes::{self, Attribute};
use super::index::{Part, Symbol};
use crate::symbol::shortened;
use hlo_ir::{Arity, ElementType, FloatFormat, Opcode, Shape, Span, Special};
use hlo_parser::outline::{Role, Token};
use std::ops::Range;

/// Maximum length of a line of HLO.
const MAX_LINE_LENGTH: usize = 240;

/// Returns a description of the word at an offset, and its range.
pub fn hover(d: &Source, offset: usize) -> Option<(String, Range<usize>)> {
    let part = d.part_at(offset)?;
    let offset = offset.checked_sub(part.start)?;
    let context = Context { d, part, text: d.text_of(part) };
    let token = part.token_at(context.text, offset)?;
    let (value, span) = match token.role {
        Role::Module => (format!("The module `{}`.", context.at(token.span)), token.span),
        Role::HeaderAttribute => {
            let a = attributes::of_module().into_iter().find(|a| a.name == context.at(token.span))?;
            (attribute(&a, "every module"), token.span)
        }
        Role::Shape => context.element_type(token.span, offset)?,
        Role::Opcode => (opcode(context.at(token.span))?, token.span),
        Role::Attribute => (context.attribute(&token)?, token.span),
        Role::Element => {
            let operand = part.outline.token_before(&token)?;
            (
                context.element(operand, &token)?,
                Span::new(operand.span.start as usize, token.span.end as usize),
            )
        }
        Role::Computation
        | Role::Callee
        | Role::Instruction
        | Role::Operand
        | Role::Predecessor
        | Role::SignatureParameter => (context.symbol(&token)?, token.span),
    };
    Some((value, span.moved(part.start).range()))
}

struct Context<'a> {
    d: &'a Source,
    part: &'a Part,
    text: &'a str,
}

impl Context<'_> {
    fn at(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or_default()
    }

    fn line(&self, span: Span) -> u32 {
        self.d.text.position(self.part.start + span.start as usize).line + 1
    }

    fn symbol(&self, token: &Token) -> Option<String> {
        let symbol = self.part.symbol(self.text, token)?;
        let is_use = !super::index::is_definition(token.role);
        let mut out = match symbol {
            Symbol::Instruction(i) => self.instruction(i)?,
            Symbol::Computation(c) => self.computation(c)?,
        };
        if is_use {
            out.push_str(&format!("\n\nDefined in line {}.", self.line(self.part.name(symbol))));
        }
        Some(out)
    }

    /// Describes an instruction: its line, its shape and its opcode.
    fn instruction(&self, id: u32) -> Option<String> {
        let i = self.part.outline.instructions.get(id as usize)?;
        let mut out = format!("```hlo\n{}\n```", shortened(self.at(i.span), MAX_LINE_LENGTH));
        if i.shape.is_empty()
            && let Some(shape) = self.inferred_shape(id)
        {
            out.push_str(&format!("\n\nShape `{shape}`, from the operands."));
        } else if !i.shape.is_empty() {
            out.push_str(&format!("\n\nShape `{}`.", shortened(self.at(i.shape), MAX_LINE_LENGTH)));
        }
        if let Some(summary) = summary(self.at(i.opcode)) {
            out.push_str(&format!("\n\n`{}`: {summary}", self.at(i.opcode)));
        }
        for (n, frame) in self.part.source(self.text, id).iter().enumerate() {
            let words = if n == 0 { "From" } else { "Called from" };
            out.push_str(&format!("\n\n{words} `{frame}`."));
        }
        Some(out)
    }

    /// Describes an element of a tuple: its shape if it is known, and the tuple.
    fn element(&self, operand: &Token, element: &Token) -> Option<String> {
        let tuple = self.symbol(operand)?;
        let path = self.at(element.span).replace('#', ", ");
        Some(match self.element_shape(operand, element) {
            Some(shape) => format!("Element {path} has the shape `{shape}`.\n\n{tuple}"),
            None => tuple,
        })
    }

    fn element_shape(&self, operand: &Token, element: &Token) -> Option<Shape> {
        let Symbol::Instruction(id) = self.part.symbol(self.text, operand)? else { return None };
        let written = self.part.outline.instructions.get(id as usize)?.shape;
        let mut shape = if written.is_empty() {
            self.inferred_shape(id)?
        } else {
            hlo_parser::parse_shape(self.at(written)).ok()?
        };
        for index in self.at(element.span).split('#') {
            let Shape::Tuple(elements) = shape else { return None };
            let index = index.trim().parse::<usize>().ok().filter(|&i| i < elements.len())?;
            shape = elements[index].clone();
        }
        Some(shape)
    }

    /// Returns the shape of an instruction that is written without one. It is known only if the module has no
    /// errors.
    fn inferred_shape(&self, id: u32) -> Option<Shape> {
        let (module, found) = self.part.in_module(self.text, id)?;
        Some(module[found].shape.clone())
    }

    fn computation(&self, id: u32) -> Option<String> {
        let c = self.part.outline.computations.get(id as usize)?;
        let name = self.at(c.name);
        let entry = if c.is_entry { "ENTRY " } else { "" };
        let inside = || self.part.outline.instructions.iter().filter(|i| i.computation == id);
        let signature = if c.signature.is_empty() {
            let shape = |i: &hlo_parser::outline::InstructionOutline| self.at(i.shape).to_owned();
            let parameters = inside().filter(|i| self.at(i.opcode) == "parameter");
            let parameters: Vec<_> =
                parameters.map(|i| format!("{}: {}", self.at(i.name), shape(i))).collect();
            let root = inside().find(|i| i.is_root).or(inside().next_back());
            let result = root.map_or(String::new(), |r| format!(" -> {}", shape(r)));
            format!("({}){result}", parameters.join(", "))
        } else {
            self.at(c.signature).to_owned()
        };
        let mut out = format!("```hlo\n{entry}{name} {}\n```", shortened(&signature, MAX_LINE_LENGTH));
        let count = inside().count();
        out.push_str(&format!("\n\n{count} instruction{}", if count == 1 { "" } else { "s" }));
        let symbol = Symbol::Computation(id);
        let uses = self.part.occurrences(self.text, symbol).iter().filter(|t| t.role == Role::Callee).count();
        match uses {
            0 => out.push('.'),
            1 => out.push_str(", called in one place."),
            n => out.push_str(&format!(", called in {n} places.")),
        }
        Some(out)
    }

    fn attribute(&self, token: &Token) -> Option<String> {
        let i = self.part.outline.instructions.get(token.owner as usize)?;
        let name = self.at(i.opcode);
        let opcode = attributes::opcode(name).map(|(o, _)| o);
        let a = attributes::find(opcode, self.at(token.span))?;
        let common = attributes::common(opcode).iter().any(|c| c.name == a.name);
        Some(attribute(&a, if common { "every instruction" } else { name }))
    }

    /// Describes the element type in a shape under the cursor.
    fn element_type(&self, shape: Span, offset: usize) -> Option<(String, Span)> {
        let is_word = |c: char| c.is_ascii_alphanumeric();
        let before = self.text.get(..offset)?;
        let start = before.trim_end_matches(is_word).len();
        let end = offset + self.text[offset..].find(|c| !is_word(c)).unwrap_or(self.text.len() - offset);
        let span = Span::new(start, end);
        if span.start < shape.start || span.end > shape.end {
            return None;
        }
        Some((format!("`{}`: {}", self.at(span), element_type(self.at(span))?), span))
    }
}

/// Returns a sentence about the operation of an opcode.
pub fn summary(text: &str) -> Option<String> {
    let (opcode, wrapped) = attributes::opcode(text)?;
    let name = opcode.name();
    Some(match wrapped {
        None => opcode.summary().to_owned(),
        Some(Opcode::AsyncStart) => format!("Starts a `{name}` that runs beside other instructions."),
        Some(Opcode::AsyncUpdate) => {
            format!("Lets a `{name}` that was started go on without waiting for it.")
        }
        Some(_) => format!("Waits for a `{name}` that was started and gives its result."),
    })
}

/// Describes an opcode: its operation, operands and attributes.
fn opcode(text: &str) -> Option<String> {
    let (opcode, wrapped) = attributes::opcode(text)?;
    let mut out = format!("`{text}`: {}", summary(text)?);
    if wrapped.is_none() || wrapped == Some(Opcode::AsyncStart) {
        out.push_str(&format!("\n\n{}", takes(opcode)));
    }
    if let Some(manual) = opcode.manual().filter(|_| wrapped.is_none()) {
        let text = manual.text.strip_prefix(opcode.summary()).unwrap_or(manual.text).trim_start();
        let text = without_links(text);
        out.push_str(&format!("\n\n{text}\n\n```hlo\n{}```", manual.example));
        if let Some(result) = manual.result {
            out.push_str(&format!("\n\n```text\n{result}```"));
        }
    }
    Some(out)
}

/// Replaces the links of a text by their titles: an editor has no pages that they can lead to.
fn without_links(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, title, after)) = first_link(rest) {
        out.push_str(before);
        out.push_str(title);
        rest = after;
    }
    out + rest
}

/// Returns the text before the first link, its title, and the text after it.
fn first_link(text: &str) -> Option<(&str, &str, &str)> {
    let middle = text.find("](")?;
    let start = text[..middle].rfind('[')?;
    let end = middle + text[middle..].find(')')?;
    Some((&text[..start], &text[start + 1..middle], &text[end + 1..]))
}

/// Describes the operands and attributes of an opcode, in Markdown.
pub fn takes(opcode: Opcode) -> String {
    let plural = |n: usize| if n == 1 { "" } else { "s" };
    let operands = match (opcode, opcode.arity()) {
        (Opcode::Parameter, _) => "Takes its number.".to_owned(),
        (Opcode::Constant, _) => "Takes its value.".to_owned(),
        (_, Arity::Exactly(0)) => "Takes no operands.".to_owned(),
        (_, Arity::Exactly(n)) => format!("Takes {n} operand{}.", plural(n)),
        (_, Arity::AtLeast(0)) => "Takes any number of operands.".to_owned(),
        (_, Arity::AtLeast(n)) => format!("Takes {n} or more operands."),
    };
    let mut out = operands;
    let attributes = attributes::of_opcode(opcode);
    if !attributes.is_empty() {
        out.push_str("\n\nAttributes:\n");
    }
    for a in &attributes {
        let required = if a.required { " (required)" } else { "" };
        out.push_str(&format!("\n- `{}`{required}: {}", a.name, a.doc));
    }
    out
}

fn attribute(a: &Attribute, of: &str) -> String {
    let kind = if a.required { "required" } else { "optional" };
    let mut out = format!("`{}=`: {}\n\nAn attribute of {}, {kind}.", a.name, a.doc, quoted(of));
    if !a.words.is_empty() {
        out.push_str(&format!(" One of `{}`.", a.words.join("`, `")));
    }
    out
}

/// Quotes opcodes, but not other descriptions.
fn quoted(of: &str) -> String {
    if of.contains(' ') { of.to_owned() } else { format!("`{of}`") }
}

/// Describes an element type.
pub fn element_type(name: &str) -> Option<String> {
    let Some(ty) = ElementType::from_name(name) else {
        return Some(match name {
            "token" => "orders instructions with effects; has no value.".into(),
            "opaque" => "a value that only custom calls know.".into(),
            _ => return None,
        });
    };
    let bits = ty.bit_width();
    Some(if ty.is_pred() {
        "truth values.".into()
    } else if ty.is_complex() {
        format!("complex numbers with two parts of type `{}`.", ty.real_type())
    } else if ty.is_signed_integer() {
        format!("signed integers of {bits} bit{}.", if bits == 1 { "" } else { "s" })
    } else if ty.is_unsigned_integer() {
        format!("unsigned integers of {bits} bit{}.", if bits == 1 { "" } else { "s" })
    } else {
        let mut out = format!("floating-point numbers of {bits} bits");
        if let Some(f) = FloatFormat::of(ty) {
            out.push_str(&format!(
                ": {} of the exponent, {} of the fraction",
                f.exponent_bits, f.mantissa_bits
            ));
            let special = match f.special {
                Special::Ieee => "with infinities and NaN",
                Special::NanOnly => "with NaN, without infinities",
                Special::Fnuz => "with NaN, without infinities and negative zero",
                Special::FiniteOnly => "without infinities and NaN",
                Special::PowerOfTwo => "powers of two and NaN only",
            };
            out.push_str(&format!("; {special}"));
        }
        out + "."
    })
}
