//! Reads instructions with [`crate::syntax`], and their parts: shapes, and attributes that contain names.

use super::{
    CLOSE_BRACE, CLOSE_PAREN, CLOSE_SQUARE, COMMA, EQUALS, OPEN_BRACE, OPEN_PAREN, OPEN_SQUARE, Reader,
    position,
};
use crate::attributes::COMPUTATIONS;
use crate::outline::tokens::{Kind, Lexeme};
use crate::outline::{Expected, InstructionOutline, Role, Token};
use crate::syntax::{self, Definition, Part, Text, starts_shape, wanted};
use hlo_ir::Span;
use std::convert::Infallible;

/// Maximum nesting depth of operations and bodies that are read.
const MAX_DEPTH: usize = 100;

impl Reader<'_> {
    // ---- Shapes --------------------------------------------------------------------------------------------

    /// Reads a shape, such as `f32[2]{0}`, `(f32[], s32[])` or `b(f32[2])`, and returns its span.
    pub(super) fn shape(&mut self) -> Span {
        let start = self.next.start;
        let mut depth = 0usize;
        loop {
            let expected = if depth > 0 { Expected::ElementType } else { Expected::Nothing };
            if self.ends(expected) || self.must_have_ended() {
                break;
            }
            match self.next.kind {
                OPEN_PAREN => depth += 1,
                CLOSE_PAREN if depth > 0 => depth -= 1,
                COMMA if depth > 0 => {}
                Kind::Word => {
                    let is_array = self.after_next().kind == OPEN_SQUARE;
                    if !is_array && !starts_shape(self) {
                        break;
                    }
                    if is_array {
                        self.next_token();
                        self.skip_group(Expected::Nothing);
                        if self.starts_layout() {
                            self.skip_group(Expected::Nothing);
                        }
                        if depth == 0 {
                            break;
                        }
                    } else {
                        self.next_token();
                    }
                    continue;
                }
                _ => break,
            }
            self.next_token();
            if depth == 0 {
                break;
            }
        }
        let span = Span::new(start, self.last_end.max(start));
        if !span.is_empty() {
            self.out.tokens.push(Token { role: Role::Shape, span, owner: self.owner });
        }
        span
    }

    /// Returns whether a brace after the sizes opens a layout: a number, a colon or the closing brace must
    /// follow it.
    fn starts_layout(&mut self) -> bool {
        self.is(OPEN_BRACE)
            && matches!(self.after_next().kind, Kind::Number | Kind::Other(b':') | CLOSE_BRACE)
    }

    // ---- Instructions --------------------------------------------------------------------------------------

    /// Reads instructions up to the closing brace.
    pub(super) fn body(&mut self, computation: u32) {
        loop {
            if self.ends(Expected::Instruction) || self.is(CLOSE_BRACE) || self.starts_computation() {
                return;
            }
            let is_attached =
                self.is(Kind::Word) && self.next.starts_line && self.after_next().kind == EQUALS;
            if is_attached || self.starts_instruction() {
                self.instruction(computation);
            } else if self.opens() {
                self.skip_group(Expected::Nothing);
            } else {
                let root = self.is(Kind::Word) && self.str(self.next) == "ROOT";
                self.next_token();
                if root && self.ends(Expected::Nothing) {
                    return;
                }
            }
        }
    }

    /// Reads an instruction, which may be incomplete.
    fn instruction(&mut self, computation: u32) {
        self.add_instruction(computation, |reader| {
            let Ok(definition) = syntax::definition(reader);
            definition
        });
    }

    /// Reads `shape opcode(operands), attributes` without a name. A text may consist of that alone.
    pub(super) fn unnamed_instruction(&mut self, computation: u32) {
        self.add_instruction(computation, |_| Definition { goes_on: true, ..Definition::default() });
    }

    /// Adds an instruction whose start `define` reads.
    fn add_instruction(&mut self, computation: u32, define: impl FnOnce(&mut Self) -> Definition<Span>) {
        let start = self.next.start;
        let (name, shape, opcode) = (Span::default(), Span::default(), Span::default());
        let span = Span::new(start, start);
        let new = InstructionOutline { name, span, shape, opcode, is_root: false, computation };
        self.out.instructions.push(new);
        let id = position(self.out.instructions.len());
        let outer = std::mem::replace(&mut self.owner, id);
        let Definition { root, name, goes_on } = define(self);
        let (mut shape, mut opcode) = (None, Span::default());
        if goes_on {
            let Ok(head) = syntax::head(self);
            (shape, opcode) = (head.shape, head.opcode);
            let Ok(()) = syntax::inside(self, &head, 0);
            self.attributes();
        }
        self.owner = outer;
        if let Some(i) = self.out.instructions.get_mut(id as usize) {
            (i.name, i.is_root) = (name, root.is_some());
            (i.shape, i.opcode) = (shape.unwrap_or_default(), opcode);
            i.span = Span::new(start, self.last_end.max(start));
        }
    }

    /// Reads tuple element indices after a name, such as `#0#1`.
    fn element(&mut self) {
        let start = self.next.end;
        while self.eat(Kind::Other(b'#')) {
            self.eat(Kind::Number);
        }
        if self.last_end > start {
            let span = Span::new(start, self.last_end);
            self.out.tokens.push(Token { role: Role::Element, span, owner: self.owner });
        }
    }

    fn first_byte(&self, token: Lexeme) -> u8 {
        self.text.as_bytes().get(token.start).copied().unwrap_or(0)
    }

    // ---- Attributes ----------------------------------------------------------------------------------------

    /// Reads `, name=value` repeatedly.
    fn attributes(&mut self) {
        loop {
            // At the start of a line, the next instruction may begin. The caller handles that.
            let on_line = !self.next.starts_line;
            if (on_line && self.ends(Expected::Nothing)) || !self.eat(COMMA) {
                return;
            }
            let expected = Expected::Attribute(self.owner);
            if self.ends(expected) || !self.is(Kind::Word) || self.starts_instruction() {
                continue;
            }
            let name = self.token(Role::Attribute, self.owner);
            if self.eat(EQUALS) {
                self.value(name);
            }
        }
    }

    fn value(&mut self, name: Span) {
        let text = self.text.get(name.range()).unwrap_or_default();
        if text == "control-predecessors" {
            if self.eat(OPEN_BRACE) {
                self.names(Role::Predecessor, Expected::Predecessor(self.owner));
            }
            return;
        }
        match COMPUTATIONS.iter().find(|(n, _)| *n == text) {
            Some(_) if self.ends(Expected::Callee) || self.starts_instruction() => {}
            Some(_) if self.is(Kind::Word) => {
                self.token(Role::Callee, self.owner);
            }
            Some((_, false)) if self.is(OPEN_BRACE) => self.inline(),
            Some((_, true)) if self.eat(OPEN_BRACE) => self.names(Role::Callee, Expected::Callee),
            _ => self.skip_value(Expected::Value(self.owner, name)),
        }
    }

    /// Reads a list such as `a, {…}}`: names, and inline computations.
    fn names(&mut self, role: Role, expected: Expected) {
        while !self.ends(expected) && !self.eat(CLOSE_BRACE) && !self.starts_instruction() {
            match self.next.kind {
                Kind::Word => {
                    self.token(role, self.owner);
                }
                OPEN_BRACE if role == Role::Callee => self.inline(),
                _ => {
                    self.next_token();
                }
            }
        }
    }

    /// Reads `{ instructions }` in place of a computation's name.
    fn inline(&mut self) {
        if self.depth == MAX_DEPTH {
            return self.skip_group(Expected::Nothing);
        }
        self.depth += 1;
        let id = self.add_computation(Span::default(), Some(self.owner));
        self.next_token();
        self.body(id);
        self.eat(CLOSE_BRACE);
        self.end_computation(id);
        self.depth -= 1;
    }

    /// Skips a value: groups and words up to a comma, a closing bracket, the next instruction or the end of
    /// the line.
    pub(super) fn skip_value(&mut self, expected: Expected) {
        let start = self.last_end;
        let inside = match expected {
            Expected::Value(owner, name) => Expected::Inside(owner, name),
            _ => Expected::Nothing,
        };
        loop {
            let written = self.last_end > start;
            let expected = if written { Expected::Nothing } else { expected };
            if (written && self.next.starts_line) || self.ends(expected) || self.starts_instruction() {
                return;
            }
            match self.next.kind {
                COMMA | CLOSE_BRACE | CLOSE_PAREN | CLOSE_SQUARE => return,
                _ if self.opens() => self.skip_group(inside),
                _ => {
                    self.next_token();
                }
            }
        }
    }
}

impl Text for Reader<'_> {
    type Token = Span;
    type Stop = Infallible;
    const MAX_DEPTH: usize = MAX_DEPTH;

    fn offset(&mut self) -> usize {
        self.next.start
    }

    fn peek(&mut self) -> u8 {
        self.first_byte(self.next)
    }

    fn ahead(&mut self, part: Part) -> Option<u8> {
        let after = self.after_next();
        let is_part = match part {
            Part::Root => after.kind == Kind::Word && self.is_word("ROOT"),
            Part::Number => self.is(Kind::Number) || self.is(Kind::Other(b'-')),
            Part::Name | Part::Opcode | Part::Operand | Part::Sign => self.is(Kind::Word),
        };
        is_part.then(|| self.first_byte(after))
    }

    fn is_word(&mut self, word: &str) -> bool {
        self.str(self.next) == word
    }

    fn take(&mut self, part: Part) -> Span {
        let role = match part {
            Part::Name => Role::Instruction,
            Part::Opcode => Role::Opcode,
            Part::Operand => Role::Operand,
            Part::Root | Part::Number | Part::Sign => {
                let token = self.next_token();
                return Span::new(token.start, token.end);
            }
        };
        let span = self.token(role, self.owner);
        if part == Part::Operand {
            self.element();
        }
        span
    }

    fn shape(&mut self) -> Result<Span, Infallible> {
        Ok(Reader::shape(self))
    }

    fn group(&mut self) -> Result<(), Infallible> {
        self.skip_group(Expected::Nothing);
        Ok(())
    }

    fn unexpected(&mut self, _: &'static str) -> Result<(), Infallible> {
        Ok(())
    }

    fn is_cut(&mut self, wanted: &'static str) -> bool {
        let expected = match wanted {
            wanted::SHAPE_OR_OPCODE => Expected::ShapeOrOpcode,
            wanted::OPCODE => Expected::Opcode,
            wanted::OPERAND | wanted::AFTER_SHAPE => Expected::Operand(self.owner),
            _ => Expected::Nothing,
        };
        self.ends(expected) || self.is(CLOSE_BRACE) || self.starts_instruction()
    }

    fn skip(&mut self) {
        if self.opens() {
            self.skip_group(Expected::Nothing);
        } else {
            self.next_token();
        }
    }
}
