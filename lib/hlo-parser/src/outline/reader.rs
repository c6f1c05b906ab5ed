//! Reads the outline off the tokens. Every function takes what fits and leaves the rest to its caller: none
//! fails, and each token is consumed once.

use super::tokens::{Kind, Lexeme, Tokens};
use super::{ComputationOutline, Expected, InstructionOutline, Outline, Role, Token};
use crate::attributes::COMPUTATIONS;
use crate::scan::MAX_DEPTH;
use hlo_ir::Span;

const COMMA: Kind = Kind::Other(b',');
const EQUALS: Kind = Kind::Other(b'=');
const OPEN_PAREN: Kind = Kind::Other(b'(');
const CLOSE_PAREN: Kind = Kind::Other(b')');
const OPEN_SQUARE: Kind = Kind::Other(b'[');
const CLOSE_SQUARE: Kind = Kind::Other(b']');
const OPEN_BRACE: Kind = Kind::Other(b'{');
const CLOSE_BRACE: Kind = Kind::Other(b'}');

/// The state of the reading.
pub(super) struct Reader<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
    next: Lexeme,
    after_next: Option<Lexeme>,
    /// Where the last consumed token ended.
    last_end: usize,
    /// How deep operations and inline computations nest.
    depth: usize,
    out: Outline,
    /// What the first to meet the end of the text would have read there.
    expected: Option<Expected>,
}

impl<'t> Reader<'t> {
    /// A reader of `text`.
    pub fn new(text: &'t str) -> Self {
        let text = if u32::try_from(text.len()).is_ok() { text } else { "" };
        let mut tokens = Tokens::new(text);
        let next = tokens.next();
        let out = Outline::default();
        Self { text, tokens, next, after_next: None, last_end: 0, depth: 0, out, expected: None }
    }

    /// The outline, and what is expected at the end.
    pub fn read(mut self) -> (Outline, Expected) {
        while !self.ends(Expected::TopLevel) {
            self.top_level();
        }
        self.out.comments = self.tokens.comments;
        (self.out, self.expected.unwrap_or(Expected::TopLevel))
    }

    // ---- Tokens --------------------------------------------------------------------------------------------

    fn bump(&mut self) -> Lexeme {
        let token = self.next;
        self.next = self.after_next.take().unwrap_or_else(|| self.tokens.next());
        self.last_end = token.end;
        token
    }

    fn after_next(&mut self) -> Lexeme {
        *self.after_next.get_or_insert_with(|| self.tokens.next())
    }

    fn is(&self, kind: Kind) -> bool {
        self.next.kind == kind
    }

    /// Consumes a token of that kind if it comes next.
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.is(kind);
        if found {
            self.bump();
        }
        found
    }

    fn str(&self, token: Lexeme) -> &'t str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// True at the end of the text, where `expected` could have stood.
    fn ends(&mut self, expected: Expected) -> bool {
        if self.next.cut {
            self.expected.get_or_insert(Expected::Nothing);
        }
        let ends = self.is(Kind::End);
        if ends {
            self.expected.get_or_insert(expected);
        }
        ends
    }

    /// Consumes the next token, a word, as a token of the outline; gives its place without `%`.
    fn word(&mut self, role: Role, owner: u32) -> Span {
        let token = self.bump();
        let percent = usize::from(self.str(token).starts_with('%'));
        let span = Span::new(token.start + percent, token.end);
        if !span.is_empty() {
            self.out.tokens.push(Token { role, span, owner });
        }
        span
    }

    /// True before `ROOT name` and `name =`. An `=` that follows at once makes the name an attribute's.
    fn starts_instruction(&mut self) -> bool {
        if !self.is(Kind::Word) {
            return false;
        }
        let after = self.after_next();
        match after.kind {
            EQUALS => after.start > self.next.end,
            Kind::Word => self.str(self.next) == "ROOT",
            _ => false,
        }
    }

    /// True at a line that is not indented and starts like a computation or a module.
    fn starts_computation(&mut self) -> bool {
        let token = self.next;
        let before = token.start.checked_sub(1).and_then(|n| self.text.as_bytes().get(n));
        if !self.is(Kind::Word) || !token.starts_line || !matches!(before, None | Some(b'\n' | b'\r')) {
            return false;
        }
        let after = self.after_next().kind;
        after == OPEN_PAREN && self.str(token) != "ROOT"
            || after == OPEN_BRACE
            || matches!(self.str(token), "ENTRY" | "HloModule") && after != EQUALS
    }

    /// True where a group that is not closed must have ended.
    fn must_have_ended(&mut self) -> bool {
        !self.tokens.well_formed
            && self.next.starts_line
            && (self.starts_instruction() || self.starts_computation())
    }

    /// Consumes a bracket and all up to the one that closes it.
    fn group(&mut self, expected: Expected) {
        let mut open = Vec::new();
        loop {
            let kind = self.next.kind;
            match kind {
                Kind::Other(b'(') => open.push(CLOSE_PAREN),
                Kind::Other(b'[') => open.push(CLOSE_SQUARE),
                Kind::Other(b'{') => open.push(CLOSE_BRACE),
                CLOSE_PAREN | CLOSE_SQUARE | CLOSE_BRACE => {
                    // What was opened inside of it was not closed.
                    let Some(depth) = open.iter().rposition(|&o| o == kind) else { return };
                    open.truncate(depth);
                    if depth == 0 {
                        self.bump();
                        return;
                    }
                }
                _ if self.ends(expected) || self.must_have_ended() => return,
                _ => {}
            }
            self.bump();
        }
    }

    fn opens(&self) -> bool {
        matches!(self.next.kind, OPEN_PAREN | OPEN_SQUARE | OPEN_BRACE)
    }

    // ---- Outside computations ------------------------------------------------------------------------------

    fn top_level(&mut self) {
        if self.starts_instruction() {
            // A text may be a single instruction; what stands behind a brace too many is read the same way.
            let id = self.add_computation(Span::default(), None);
            self.body(id);
            return self.end_computation(id);
        }
        if self.starts_shape() {
            let id = self.add_computation(Span::default(), None);
            self.unnamed_instruction(id);
            return self.end_computation(id);
        }
        if !self.is(Kind::Word) {
            self.bump();
            return;
        }
        match self.str(self.next) {
            "HloModule" => self.header(),
            "FileNames" | "FunctionNames" | "FileLocations" | "StackFrames" => {
                self.bump();
                while self.eat(Kind::Number) {
                    if self.is(OPEN_BRACE) {
                        self.group(Expected::Nothing);
                    } else {
                        self.eat(Kind::String);
                    }
                }
            }
            "ENTRY" => self.computation(),
            _ if matches!(self.after_next().kind, OPEN_PAREN | OPEN_BRACE) => self.computation(),
            _ => {
                self.bump();
            }
        }
    }

    fn header(&mut self) {
        self.bump();
        if self.ends(Expected::Nothing) {
            return;
        }
        if self.is(Kind::Word) {
            self.word(Role::Module, 0);
        }
        while self.eat(COMMA) {
            if self.ends(Expected::HeaderAttribute) || self.starts_computation() {
                return;
            }
            if self.is(Kind::Word) {
                self.word(Role::HeaderAttribute, 0);
            }
            if self.eat(EQUALS) {
                self.skip_value(Expected::Nothing);
            }
        }
    }

    fn add_computation(&mut self, name: Span, parent: Option<u32>) -> u32 {
        let span = Span::new(self.next.start, self.next.start);
        let signature = Span::default();
        self.out.computations.push(ComputationOutline { name, span, signature, is_entry: false, parent });
        position(self.out.computations.len())
    }

    fn end_computation(&mut self, id: u32) {
        let end = self.last_end as u32;
        if let Some(c) = self.out.computations.get_mut(id as usize) {
            c.span.end = end.max(c.span.start);
        }
    }

    /// `ENTRY? name signature? { … }`.
    fn computation(&mut self) {
        let id = self.add_computation(Span::default(), None);
        let is_entry = self.str(self.next) == "ENTRY";
        if is_entry {
            self.bump();
        }
        let mut name = Span::default();
        if !self.ends(Expected::Nothing) && self.is(Kind::Word) && !self.starts_instruction() {
            name = self.word(Role::Computation, id);
        }
        let start = self.next.start;
        let mut signature = Span::default();
        if self.is(OPEN_PAREN) {
            self.signature(id);
            signature = Span::new(start, self.last_end);
        }
        if let Some(c) = self.out.computations.get_mut(id as usize) {
            (c.name, c.signature, c.is_entry) = (name, signature, is_entry);
        }
        if !self.ends(Expected::Nothing) && self.eat(OPEN_BRACE) {
            self.body(id);
            self.eat(CLOSE_BRACE);
        }
        self.end_computation(id);
        if self.is(COMMA) && self.after_next().kind == Kind::Word {
            let attribute = self.after_next();
            if self.str(attribute) == "execution_thread" {
                self.bump();
                self.bump();
                self.eat(EQUALS);
                self.eat(Kind::String);
            }
        }
    }

    /// `(name: shape, …) -> shape`.
    fn signature(&mut self, id: u32) {
        self.bump();
        loop {
            if self.ends(Expected::Nothing) {
                return;
            }
            let kind = self.next.kind;
            match kind {
                CLOSE_PAREN => break,
                CLOSE_BRACE | OPEN_BRACE => return,
                _ if self.must_have_ended() => return,
                Kind::Word if self.after_next().kind == Kind::Other(b':') => {
                    self.word(Role::SignatureParameter, id);
                    self.bump();
                    if !self.ends(Expected::ElementType) && self.starts_shape() {
                        self.shape(id);
                    }
                }
                _ => {
                    self.bump();
                }
            }
        }
        self.bump();
        if self.eat(Kind::Other(b'-')) && self.eat(Kind::Other(b'>')) && !self.ends(Expected::ElementType) {
            self.shape(id);
        }
    }

    // ---- Shapes --------------------------------------------------------------------------------------------

    /// True before a shape.
    fn starts_shape(&mut self) -> bool {
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
    fn shape(&mut self, owner: u32) -> Span {
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
    fn body(&mut self, computation: u32) {
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
    fn unnamed_instruction(&mut self, computation: u32) {
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
                    while self.is(Kind::Other(b'#')) {
                        self.bump();
                        self.eat(Kind::Number);
                    }
                }
                _ if self.opens() => self.group(Expected::Nothing),
                _ => {
                    complete = true;
                    self.bump();
                }
            }
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
    fn skip_value(&mut self, expected: Expected) {
        let start = self.last_end;
        loop {
            let written = self.last_end > start;
            let expected = if written { Expected::Nothing } else { expected };
            if (written && self.next.starts_line) || self.ends(expected) || self.starts_instruction() {
                return;
            }
            match self.next.kind {
                COMMA | CLOSE_BRACE | CLOSE_PAREN | CLOSE_SQUARE => return,
                _ if self.opens() => self.group(Expected::Nothing),
                _ => {
                    self.bump();
                }
            }
        }
    }
}

/// The position of the last of `count` entries. A text has fewer than 2³² tokens.
fn position(count: usize) -> u32 {
    u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)
}
