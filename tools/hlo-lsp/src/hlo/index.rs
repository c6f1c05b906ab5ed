//! The outline of one module of a file with its names resolved.

use hlo_ir::{InstrId, Module, SourceFrame, SourceFrames};
use hlo_parser::outline::{Outline, Role, Token, outline};
use std::cell::OnceCell;
use std::fmt;

/// Something with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol {
    /// The instruction at that position of the outline.
    Instruction(u32),
    /// The computation at that position of the outline.
    Computation(u32),
}

/// A module of a file. Spans of the outline count from the module's start.
pub struct Part {
    /// Where it starts in the file.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// What is in it.
    pub outline: Outline,
    /// The instructions by computation and name, those of the same name in the order of the text.
    instructions: Vec<u32>,
    /// The computations by name, likewise.
    computations: Vec<u32>,
    module: OnceCell<Option<Module>>,
}

/// A place in the program that a module was made of.
pub struct PlaceInProgram {
    /// The path of the file.
    pub file: String,
    /// The first line and the last, from 1 on; 0 if they are not known.
    pub lines: (i32, i32),
    /// The columns, likewise.
    pub columns: (i32, i32),
    text: String,
}

/// `train.py:3:5 in loss`.
impl fmt::Display for PlaceInProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Part {
    /// The module `text`, which starts at `start` of the file.
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

    /// The module, if `text`, this part's text, has no errors.
    pub fn module(&self, text: &str) -> Option<&Module> {
        self.module.get_or_init(|| hlo_parser::parse_module(text).ok()).as_ref()
    }

    /// The module, if it has no errors, and in it an instruction of the outline.
    pub fn in_module(&self, text: &str, id: u32) -> Option<(&Module, InstrId)> {
        let span = self.outline.instructions.get(id as usize)?.span;
        let module = self.module(text)?;
        let inside = module.computations().flat_map(|c| module[c].instructions());
        Some((module, inside.copied().find(|&x| module.span(x) == span)?))
    }

    /// Where an instruction of the outline comes from in the user's program, then where that is called from, and so on.
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

    /// The instruction of a computation that a name means.
    pub fn instruction(&self, text: &str, computation: u32, name: &str) -> Option<u32> {
        let key = |&i: &u32| {
            let i = &self.outline.instructions[i as usize];
            (i.computation, &text[i.name.range()])
        };
        let at = self.instructions.partition_point(|i| key(i) < (computation, name));
        let found = self.instructions.get(at)?;
        (key(found) == (computation, name)).then_some(*found)
    }

    /// The computation that a name means.
    pub fn computation(&self, text: &str, name: &str) -> Option<u32> {
        let key = |&c: &u32| &text[self.outline.computations[c as usize].name.range()];
        let at = self.computations.partition_point(|c| key(c) < name);
        let found = self.computations.get(at)?;
        (!name.is_empty() && key(found) == name).then_some(*found)
    }

    /// What a token names.
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
                // The names of a signature bind nothing: this one is the parameter's if it looks like it.
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

    /// The token at or directly before a byte of the part. The `%` of a name belongs to it.
    pub fn token_at(&self, text: &str, offset: usize) -> Option<Token> {
        let percent = text.as_bytes().get(offset) == Some(&b'%');
        self.outline.token_at(offset + usize::from(percent)).copied()
    }

    /// The token at or directly before a byte of the part, if it names something.
    pub fn symbol_at(&self, text: &str, offset: usize) -> Option<(Symbol, Token)> {
        let token = self.token_at(text, offset)?;
        Some((self.symbol(text, &token)?, token))
    }

    /// The name of a symbol.
    pub fn name(&self, symbol: Symbol) -> hlo_ir::Span {
        match symbol {
            Symbol::Instruction(i) => self.outline.instructions.get(i as usize).map(|i| i.name),
            Symbol::Computation(c) => self.outline.computations.get(c as usize).map(|c| c.name),
        }
        .unwrap_or_default()
    }

    /// Every token that names a symbol, in the order of the text.
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

/// True for the places where names are defined.
pub fn is_definition(role: Role) -> bool {
    matches!(role, Role::Instruction | Role::Computation)
}
