//! Reads the outline from the tokens. Every function consumes the tokens that fit and leaves the rest to its
//! caller. No function fails, and each token is consumed once.

mod instruction;

use super::tokens::{Kind, Lexeme, Tokens};
use super::{ComputationOutline, Expected, Outline, Role, Token};
use crate::syntax::starts_shape;
use hlo_ir::Span;

const COMMA: Kind = Kind::Other(b',');
const EQUALS: Kind = Kind::Other(b'=');
const OPEN_PAREN: Kind = Kind::Other(b'(');
const CLOSE_PAREN: Kind = Kind::Other(b')');
const OPEN_SQUARE: Kind = Kind::Other(b'[');
const CLOSE_SQUARE: Kind = Kind::Other(b']');
const OPEN_BRACE: Kind = Kind::Other(b'{');
const CLOSE_BRACE: Kind = Kind::Other(b'}');

/// The state of the reader.
pub(super) struct Reader<'t> {
    text: &'t str,
    tokens: Tokens<'t>,
    next: Lexeme,
    after_next: Option<Lexeme>,
    /// The end of the last consumed token.
    last_end: usize,
    /// The owner of shapes and of parts of instructions.
    owner: u32,
    /// The nesting depth of operations and inline computations.
    depth: usize,
    out: Outline,
    /// The item that was expected where the end of the text was first reached.
    expected: Option<Expected>,
}

impl<'t> Reader<'t> {
    /// Creates a reader of `text`.
    pub fn new(text: &'t str) -> Self {
        let text = if u32::try_from(text.len()).is_ok() { text } else { "" };
        let mut tokens = Tokens::new(text);
        let next = tokens.next();
        let out = Outline::default();
        Self { text, tokens, next, after_next: None, last_end: 0, owner: 0, depth: 0, out, expected: None }
    }

    /// Returns the outline and the item that is expected at the end.
    pub fn read(mut self) -> (Outline, Expected) {
        while !self.ends(Expected::TopLevel) {
            self.top_level();
        }
        self.out.comments = self.tokens.comments;
        (self.out, self.expected.unwrap_or(Expected::TopLevel))
    }

    // ---- Tokens --------------------------------------------------------------------------------------------

    fn next_token(&mut self) -> Lexeme {
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

    /// Consumes the next token if it has this kind. Returns whether it did.
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.is(kind);
        if found {
            self.next_token();
        }
        found
    }

    fn str(&self, token: Lexeme) -> &'t str {
        self.text.get(token.start..token.end).unwrap_or_default()
    }

    /// Returns whether the reader is at the end of the text. If so, records that `expected` was expected
    /// there.
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

    /// Consumes the next token, a word, and adds it to the outline. Returns its span without `%`.
    fn token(&mut self, role: Role, owner: u32) -> Span {
        let token = self.next_token();
        let percent = usize::from(self.str(token).starts_with('%'));
        let span = Span::new(token.start + percent, token.end);
        if !span.is_empty() {
            self.out.tokens.push(Token { role, span, owner });
        }
        span
    }

    /// Returns whether `ROOT name` or `name =` follows. A name without `%` directly followed by `=` is that
    /// of an attribute.
    fn starts_instruction(&mut self) -> bool {
        if !self.is(Kind::Word) {
            return false;
        }
        let after = self.after_next();
        match after.kind {
            EQUALS => after.start > self.next.end || self.str(self.next).starts_with('%'),
            Kind::Word => self.str(self.next) == "ROOT",
            _ => false,
        }
    }

    /// Returns whether the next line is not indented and starts like a computation or a module.
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

    /// Returns whether an unclosed group must have ended here.
    fn must_have_ended(&mut self) -> bool {
        !self.tokens.well_formed
            && self.next.starts_line
            && (self.starts_instruction() || self.starts_computation())
    }

    /// Consumes a bracket and everything up to the one that closes it.
    fn skip_group(&mut self, expected: Expected) {
        let mut open = Vec::new();
        loop {
            let kind = self.next.kind;
            match kind {
                Kind::Other(b'(') => open.push(CLOSE_PAREN),
                Kind::Other(b'[') => open.push(CLOSE_SQUARE),
                Kind::Other(b'{') => open.push(CLOSE_BRACE),
                CLOSE_PAREN | CLOSE_SQUARE | CLOSE_BRACE => {
                    // Brackets opened inside it are unclosed.
                    let Some(depth) = open.iter().rposition(|&o| o == kind) else { return };
                    open.truncate(depth);
                    if depth == 0 {
                        self.next_token();
                        return;
                    }
                }
                _ if self.ends(expected) || self.must_have_ended() => return,
                _ => {}
            }
            self.next_token();
        }
    }

    fn opens(&self) -> bool {
        matches!(self.next.kind, OPEN_PAREN | OPEN_SQUARE | OPEN_BRACE)
    }

    // ---- Outside computations ------------------------------------------------------------------------------

    fn top_level(&mut self) {
        if self.starts_instruction() {
            // A text may be a single instruction. The text after an extra closing brace is read in the same
            // way.
            let id = self.add_computation(Span::default(), None);
            self.body(id);
            return self.end_computation(id);
        }
        if starts_shape(self) {
            let id = self.add_computation(Span::default(), None);
            self.unnamed_instruction(id);
            return self.end_computation(id);
        }
        if !self.is(Kind::Word) {
            self.next_token();
            return;
        }
        match self.str(self.next) {
            "HloModule" => self.header(),
            "FileNames" | "FunctionNames" | "FileLocations" | "StackFrames" => {
                self.next_token();
                while self.eat(Kind::Number) {
                    if self.is(OPEN_BRACE) {
                        self.skip_group(Expected::Nothing);
                    } else {
                        self.eat(Kind::String);
                    }
                }
            }
            "ENTRY" => self.computation(),
            _ if matches!(self.after_next().kind, OPEN_PAREN | OPEN_BRACE) => self.computation(),
            _ => {
                self.next_token();
            }
        }
    }

    fn header(&mut self) {
        self.next_token();
        if self.ends(Expected::Nothing) {
            return;
        }
        if self.is(Kind::Word) {
            self.token(Role::Module, 0);
        }
        while self.eat(COMMA) {
            if self.ends(Expected::HeaderAttribute) || self.starts_computation() {
                return;
            }
            if !self.is(Kind::Word) {
                continue;
            }
            let name = self.token(Role::HeaderAttribute, 0);
            if self.eat(EQUALS) {
                self.skip_value(Expected::HeaderValue(name));
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

    /// Reads `ENTRY? name signature? { … }`.
    fn computation(&mut self) {
        let id = self.add_computation(Span::default(), None);
        let is_entry = self.str(self.next) == "ENTRY";
        if is_entry {
            self.next_token();
        }
        let mut name = Span::default();
        if !self.ends(Expected::Nothing) && self.is(Kind::Word) && !self.starts_instruction() {
            name = self.token(Role::Computation, id);
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
                self.next_token();
                self.next_token();
                self.eat(EQUALS);
                self.eat(Kind::String);
            }
        }
    }

    /// Reads `(name: shape, …) -> shape`.
    fn signature(&mut self, id: u32) {
        self.owner = id;
        self.next_token();
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
                    self.token(Role::SignatureParameter, id);
                    self.next_token();
                    if !self.ends(Expected::ElementType) && starts_shape(self) {
                        self.shape();
                    }
                }
                _ => {
                    self.next_token();
                }
            }
        }
        self.next_token();
        if self.eat(Kind::Other(b'-')) && self.eat(Kind::Other(b'>')) && !self.ends(Expected::ElementType) {
            self.shape();
        }
    }
}

/// Returns the index of the last of `count` entries. A text has fewer than 2³² tokens.
fn position(count: usize) -> u32 {
    u32::try_from(count.saturating_sub(1)).unwrap_or(u32::MAX)
}
