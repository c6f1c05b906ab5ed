//! Shapes, instructions and attributes.

use super::{
    CLOSE_BRACE, CLOSE_PAREN, CLOSE_SQUARE, COMMA, EQUALS, OPEN_BRACE, OPEN_PAREN, OPEN_SQUARE, Reader,
    position,
};
use crate::attributes::COMPUTATIONS;
use crate::outline::tokens::Kind;
use crate::outline::{Expected, InstructionOutline, Role, Token};
use hlo_ir::Span;

/// How deep operations and bodies inside of each other are looked into.
const MAX_DEPTH: usize = 100;

impl Reader<'_> {
    // ---- Shapes --------------------------------------------------------------------------------------------

    /// True before a shape.
    pub(super) fn starts_shape(&mut self) -> bool {
        match self.next.kind {
            OPEN_PAREN => true,
            Kind::Word => match self.after_next().kind {
                OPEN_SQUARE => true,
                OPEN_PAREN => self.str(self.next) == "b",
                _ => false,
            },
            _ => false,
        }
    }

    /// `f32[2]{0}`, `(f32[], s32[])`, `b(f32[2])`; gives its place.
    pub(super) fn shape(&mut self, owner: u32) -> Span {
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
                    if !is_array && !self.starts_shape() {
                        break;
                    }
                    if is_array {
                        self.bump();
                        self.group(Expected::Nothing);
                        if self.starts_layout() {
                            self.group(Expected::Nothing);
                        }
                        if depth == 0 {
                            break;
                        }
                    } else {
                        self.bump();
                    }
                    continue;
                }
                _ => break,
            }
            self.bump();
            if depth == 0 {
                break;
            }
        }
        let span = Span::new(start, self.last_end.max(start));
        if !span.is_empty() {
            self.out.tokens.push(Token { role: Role::Shape, span, owner });
        }
        span
    }

    /// A brace behind the sizes opens a layout only if a number, a colon or the closing brace comes next.
    fn starts_layout(&mut self) -> bool {
        self.is(OPEN_BRACE)
            && matches!(self.after_next().kind, Kind::Number | Kind::Other(b':') | CLOSE_BRACE)
    }

    // ---- Instructions --------------------------------------------------------------------------------------

    /// Instructions up to the closing brace.
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
                self.group(Expected::Nothing);
            } else {
                let root = self.is(Kind::Word) && self.str(self.next) == "ROOT";
                self.bump();
                if root && self.ends(Expected::Nothing) {
                    return;
                }
            }
        }
    }

    /// `ROOT? name = shape? opcode(operands), attributes`.
    fn instruction(&mut self, computation: u32) {
        let id = self.add_instruction(computation);
        let is_root = self.str(self.next) == "ROOT" && self.after_next().kind == Kind::Word;
        if is_root {
            self.bump();
        }
        let name = self.word(Role::Instruction, id);
        if let Some(i) = self.out.instructions.get_mut(id as usize) {
            (i.name, i.is_root) = (name, is_root);
        }
        if self.eat(EQUALS) && !self.ends(Expected::ShapeOrOpcode) {
            self.right_side(id);
        }
        self.end_instruction(id);
    }

    /// `shape opcode(operands), attributes`: a text may be just that.
    pub(super) fn unnamed_instruction(&mut self, computation: u32) {
        let id = self.add_instruction(computation);
        self.right_side(id);
        self.end_instruction(id);
    }

    fn add_instruction(&mut self, computation: u32) -> u32 {
        let span = Span::new(self.next.start, self.next.start);
        let (name, shape, opcode) = (Span::default(), Span::default(), Span::default());
        let new = InstructionOutline { name, span, shape, opcode, is_root: false, computation };
        self.out.instructions.push(new);
        position(self.out.instructions.len())
    }

    fn end_instruction(&mut self, id: u32) {
        let end = self.last_end as u32;
        if let Some(i) = self.out.instructions.get_mut(id as usize) {
            i.span.end = end.max(i.span.start);
        }
    }

    fn right_side(&mut self, id: u32) {
        let (shape, opcode) = self.operation(id);
        if let Some(i) = self.out.instructions.get_mut(id as usize) {
            (i.shape, i.opcode) = (shape, opcode);
        }
        self.attributes(id);
    }

    /// `shape? opcode(operands)`; gives the places of shape and opcode.
    fn operation(&mut self, owner: u32) -> (Span, Span) {
        let (mut shape, mut opcode) = (Span::default(), Span::default());
        if self.starts_shape() {
            shape = self.shape(owner);
        }
        if self.ends(Expected::Opcode) || !self.is(Kind::Word) || self.starts_instruction() {
            return (shape, opcode);
        }
        let text = self.str(self.next);
        opcode = self.word(Role::Opcode, owner);
        if self.is(OPEN_PAREN) {
            if self.depth == MAX_DEPTH || text == "constant" {
                self.group(Expected::Nothing);
            } else {
                self.bump();
                self.depth += 1;
                self.operands(owner);
                self.depth -= 1;
                self.eat(CLOSE_PAREN);
            }
        }
        (shape, opcode)
    }

    /// Operands up to the closing parenthesis.
    fn operands(&mut self, owner: u32) {
        let mut complete = false;
        loop {
            let expected = if complete { Expected::Nothing } else { Expected::Operand(owner) };
            if self.ends(expected) || self.starts_instruction() {
                return;
            }
            let kind = self.next.kind;
            match kind {
                CLOSE_PAREN | CLOSE_BRACE => return,
                COMMA => {
                    complete = false;
                    self.bump();
                }
                _ if self.starts_shape() => {
                    self.shape(owner);
                }
                Kind::Word => {
                    complete = true;
                    if self.after_next().kind == OPEN_PAREN {
                        self.operation(owner);
                        continue;
                    }
                    self.word(Role::Operand, owner);
                    self.element(owner);
                }
                _ if self.opens() => self.group(Expected::Nothing),
                _ => {
                    complete = true;
                    self.bump();
                }
            }
        }
    }

    /// `#0#1` behind a name.
    fn element(&mut self, owner: u32) {
        let start = self.next.end;
        while self.eat(Kind::Other(b'#')) {
            self.eat(Kind::Number);
        }
        if self.last_end > start {
            let span = Span::new(start, self.last_end);
            self.out.tokens.push(Token { role: Role::Element, span, owner });
        }
    }

    // ---- Attributes ----------------------------------------------------------------------------------------

    fn attributes(&mut self, owner: u32) {
        loop {
            // At the start of a line the next instruction may begin: the caller says so.
            let on_line = !self.next.starts_line;
            if (on_line && self.ends(Expected::Nothing)) || !self.eat(COMMA) {
                return;
            }
            if self.ends(Expected::Attribute(owner)) || !self.is(Kind::Word) || self.starts_instruction() {
                continue;
            }
            let name = self.word(Role::Attribute, owner);
            if self.eat(EQUALS) {
                self.value(owner, name);
            }
        }
    }

    fn value(&mut self, owner: u32, name: Span) {
        let text = self.text.get(name.range()).unwrap_or_default();
        if text == "control-predecessors" {
            return self.predecessors(owner);
        }
        match COMPUTATIONS.iter().find(|(n, _)| *n == text) {
            Some(_) if self.ends(Expected::Callee) || self.starts_instruction() => {}
            Some(_) if self.is(Kind::Word) => {
                self.word(Role::Callee, owner);
            }
            Some((_, false)) if self.is(OPEN_BRACE) => self.inline(owner),
            Some((_, true)) if self.eat(OPEN_BRACE) => self.callees(owner),
            _ => self.skip_value(Expected::Value(owner, name)),
        }
    }

    /// `a, {…}}`: computations, each a name or written here.
    fn callees(&mut self, owner: u32) {
        while !self.ends(Expected::Callee) && !self.eat(CLOSE_BRACE) && !self.starts_instruction() {
            match self.next.kind {
                Kind::Word => {
                    self.word(Role::Callee, owner);
                }
                OPEN_BRACE => self.inline(owner),
                _ => {
                    self.bump();
                }
            }
        }
    }

    /// `{ instructions }` in place of a computation's name.
    fn inline(&mut self, owner: u32) {
        if self.depth == MAX_DEPTH {
            return self.group(Expected::Nothing);
        }
        self.depth += 1;
        let id = self.add_computation(Span::default(), Some(owner));
        self.bump();
        self.body(id);
        self.eat(CLOSE_BRACE);
        self.end_computation(id);
        self.depth -= 1;
    }

    fn predecessors(&mut self, owner: u32) {
        if !self.eat(OPEN_BRACE) {
            return;
        }
        while !self.ends(Expected::Predecessor(owner)) && !self.eat(CLOSE_BRACE) && !self.starts_instruction()
        {
            if self.is(Kind::Word) {
                self.word(Role::Predecessor, owner);
            } else {
                self.bump();
            }
        }
    }

    /// Skips a value: groups and words up to a comma, a closing bracket, the next instruction or the line's end.
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
                _ if self.opens() => self.group(inside),
                _ => {
                    self.bump();
                }
            }
        }
    }
}
