//! The outline of one module of a file, with resolved names.

use hlo_ir::{InstrId, Module, SourceFrame, SourceFrames};
use hlo_parser::outline::{Outline, Role, Token, outline};
use std::cell::OnceCell;
use std::fmt;

/// A named item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// The index of an instruction in the outline.
    Instruction(u32),
    /// The index of a computation in the outline.
    Computation(u32),
}

/// A module of a file. Spans of the outline are relative to the start of the module.
pub struct Part {
    /// The start of the module in the file.
    pub start: usize,
    /// The end of the module in the file.
    pub end: usize,
    /// The outline of the module.
    pub outline: Outline,
    /// The instructions sorted by computation and name. Instructions with the same name are in the order of
    /// the text.
    instructions: Vec<u32>,
    /// The computations sorted by name, in the same way.
    computations: Vec<u32>,
    module: OnceCell<Option<Module>>,
}

/// A location in the program that the module was generated from.
pub struct PlaceInProgram {
    /// The path of the file.
    pub file: String,
    /// The first and the last line, starting at 1; 0 if unknown.
    pub lines: (i32, i32),
    /// The first and the last column, starting at 1; 0 if unknown.
    pub columns: (i32, i32),
    text: String,
}

/// Prints a location such as `train.py:3:5 in loss`.
impl fmt::Display for PlaceInProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Part {
    /// Creates the part for the module `text`, which starts at `start` in the file.
    pub fn new(text: &str, start: usize) -> Self {
        let outline = outline(text);
        let mut instructions: Vec<u32> = (0..).take(outline.instructions.len()).collect();
        instructions.sort_by_key(|&i| {
            let i = &outline.instructions[i as usize];
            (i.computation, &text[i.name.range()])
        });
        let mut computations: Vec<u32> = (0..).take(outline.computations.len()).collect();
        computations.sort_by_key(|&c| &text[outline.computations[c as usize].name.range()]);
        let end = start + text.len();
        Self { start, end, outline, instructions, computations, module: OnceCell::new() }
    }

    /// Returns the module if `text`, the text of this part, has no errors.
    pub fn module(&self, text: &str) -> Option<&Module> {
        self.module.get_or_init(|| hlo_parser::parse_module(text).ok()).as_ref()
    }

    /// Returns the module, if it has no errors, and the instruction for an index in the outline.
    pub fn in_module(&self, text: &str, id: u32) -> Option<(&Module, InstrId)> {
        let span = self.outline.instructions.get(id as usize)?.span;
        let module = self.module(text)?;
        let inside = module.computations().flat_map(|c| module[c].instructions());
        Some((module, inside.copied().find(|&x| module.span(x) == span)?))
    }

    /// Returns the locations of an instruction in the user's program, innermost call first.
    pub fn source(&self, text: &str, id: u32) -> Vec<PlaceInProgram> {
        let Some((module, found)) = self.in_module(text, id) else { return Vec::new() };
        let frames = SourceFrames::of(module);
        let place = |f: &SourceFrame<'_>| PlaceInProgram {
            file: f.file.to_text().into_owned(),
            lines: f.lines,
            columns: f.columns,
            text: f.to_string(),
        };
        frames.trace(found).iter().map(place).collect()
    }

    /// Returns the instruction of a computation with the given name.
    pub fn instruction(&self, text: &str, computation: u32, name: &str) -> Option<u32> {
        let key = |&i: &u32| {
            let i = &self.outline.instructions[i as usize];
            (i.computation, &text[i.name.range()])
        };
        let at = self.instructions.partition_point(|i| key(i) < (computation, name));
        let found = self.instructions.get(at)?;
        (key(found) == (computation, name)).then_some(*found)
    }

    /// Returns the computation with the given name.
    pub fn computation(&self, text: &str, name: &str) -> Option<u32> {
        let key = |&c: &u32| &text[self.outline.computations[c as usize].name.range()];
        let at = self.computations.partition_point(|c| key(c) < name);
        let found = self.computations.get(at)?;
        (!name.is_empty() && key(found) == name).then_some(*found)
    }

    /// Returns the item that a token names.
    pub fn symbol(&self, text: &str, token: &Token) -> Option<Symbol> {
        let name = text.get(token.span.range())?;
        match token.role {
            Role::Instruction => Some(Symbol::Instruction(token.owner)),
            Role::Operand | Role::Predecessor => {
                let computation = self.outline.instructions.get(token.owner as usize)?.computation;
                self.instruction(text, computation, name).map(Symbol::Instruction)
            }
            Role::SignatureParameter => {
                let found = self.instruction(text, token.owner, name)?;
                let opcode = self.outline.instructions.get(found as usize)?.opcode;
                // Names in a signature need not match. This one refers to the instruction with its name if
                // that is a parameter.
                (text.get(opcode.range()) == Some("parameter")).then_some(Symbol::Instruction(found))
            }
            Role::Computation => Some(Symbol::Computation(token.owner)),
            Role::Callee => self.computation(text, name).map(Symbol::Computation),
            Role::Module
            | Role::HeaderAttribute
            | Role::Shape
            | Role::Opcode
            | Role::Element
            | Role::Attribute => None,
        }
    }

    /// Returns the token at an offset or directly before it. The `%` of a name belongs to the token.
    pub fn token_at(&self, text: &str, offset: usize) -> Option<Token> {
        let percent = text.as_bytes().get(offset) == Some(&b'%');
        self.outline.token_at(offset + usize::from(percent)).copied()
    }

    /// Returns the token at an offset or directly before it, and the item that it names.
    pub fn symbol_at(&self, text: &str, offset: usize) -> Option<(Symbol, Token)> {
        let token = self.token_at(text, offset)?;
        Some((self.symbol(text, &token)?, token))
    }

    /// Returns the span of the name of an item.
    pub fn name(&self, symbol: Symbol) -> hlo_ir::Span {
        match symbol {
            Symbol::Instruction(i) => self.outline.instructions.get(i as usize).map(|i| i.name),
            Symbol::Computation(c) => self.outline.computations.get(c as usize).map(|c| c.name),
        }
        .unwrap_or_default()
    }

    /// Returns all tokens that name an item, in the order of the text.
    pub fn occurrences(&self, text: &str, symbol: Symbol) -> Vec<Token> {
        let name = &text[self.name(symbol).range()];
        let tokens = match symbol {
            Symbol::Instruction(i) => {
                let computation = self.outline.instructions.get(i as usize).map_or(0, |i| i.computation);
                let span = self.outline.computations.get(computation as usize).map(|c| c.span);
                self.outline.tokens_in(span.unwrap_or_default())
            }
            Symbol::Computation(_) => &self.outline.tokens,
        };
        let same = |t: &&Token| &text[t.span.range()] == name && self.symbol(text, t) == Some(symbol);
        tokens.iter().filter(same).copied().collect()
    }
}

/// Whether names with this role are definitions.
pub fn is_definition(role: Role) -> bool {
    matches!(role, Role::Instruction | Role::Computation)
}
