//! The functions and names of a Tile text, with the roles of the names. The text may contain errors.

use super::builtins;
use super::library;
use super::scan::{Kind, Token};
use hlo_ir::Span;
use hlo_tile::library::LibraryFunction;
use std::collections::{HashMap, HashSet};

/// The outline of a text.
#[derive(Debug, Default)]
pub struct Outline {
    /// All tokens.
    pub tokens: Vec<Token>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The names, in the order of the text.
    pub words: Vec<Word>,
    /// The contractions `O[i] += …`.
    pub contractions: Vec<Contraction>,
    /// The imports from the library.
    pub imports: Imports,
    /// The definitions of local names, by function and name.
    defined: HashMap<(u32, String), Vec<u32>>,
    /// The first definition of each global name.
    global: HashMap<String, u32>,
}

/// The imports of a file from the library.
#[derive(Clone, Debug, Default)]
pub struct Imports {
    /// The imported functions: their names in the file, and their names in the library.
    pub functions: HashMap<String, String>,
    /// Whether all functions are imported with their own names.
    pub all: bool,
    /// The names of the library in the file.
    pub modules: Vec<String>,
}

/// A function `def name(parameters): …`.
#[derive(Clone, Debug)]
pub struct Function {
    /// The name; empty if it is not written yet.
    pub name: Span,
    /// The whole function, starting at `def`.
    pub span: Span,
    /// The signature, from the name up to the `:`.
    pub signature: Span,
    /// The parameters, with their defaults.
    pub parameters: Vec<Parameter>,
    /// The string that is the first statement.
    pub docstring: Option<Span>,
}

/// A parameter.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// The name.
    pub name: Span,
    /// The whole parameter.
    pub span: Span,
}

/// An occurrence of a name.
#[derive(Clone, Copy, Debug)]
pub struct Word {
    /// The span.
    pub span: Span,
    /// The role of the name.
    pub role: Role,
    /// The function that contains the name; `None` if the name is outside of functions or does not refer to
    /// local names.
    pub function: Option<u32>,
    /// The number of the statement. Later statements have larger numbers.
    pub statement: u32,
}

/// The role of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A keyword: `def`, `return`, `and`.
    Keyword,
    /// The name of a function at its definition.
    Function,
    /// A name that is imported.
    Import,
    /// A parameter at its definition.
    Parameter,
    /// A variable that is assigned to.
    Target(Origin),
    /// A name that is called.
    Callee,
    /// Any other use.
    Use,
    /// `name` of `.name`. The value is whether it is called.
    Member(bool),
    /// `name` of `f(name=…)`: a parameter of the function whose name is at the span.
    Argument(Span),
    /// A parameter of the function in a comment `# tile: …`.
    Directive,
    /// A name without a meaning here: the name of a module, a type.
    Other,
}

/// The initial value of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// `TensorDim`
    Dim,
    /// `TensorIndex`
    Index,
    /// `TensorOutput`
    Output,
    /// A `Contraction` before `build`.
    Contraction,
    /// Anything else.
    Other,
}

/// A statement `O[i] += …`.
#[derive(Clone, Copy, Debug)]
pub struct Contraction {
    /// The output `O`.
    pub target: Span,
    /// The operator `+=`.
    pub operator: Span,
}

/// The item that a word names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Symbol<'t> {
    /// A function of the file, or an imported one.
    Global(&'t str),
    /// A local name of a function: a parameter or a variable.
    Local(u32, &'t str),
}

/// The keywords (those of `grammar/tile.pest` that can occur in a file).
pub const KEYWORDS: [&str; 17] = [
    "and", "as", "assert", "def", "else", "from", "if", "import", "in", "is", "not", "or", "pass", "return",
    "True", "False", "None",
];

impl Outline {
    /// Creates an outline that only contains tokens.
    pub(super) fn of_tokens(tokens: Vec<Token>) -> Self {
        Self { tokens, ..Self::default() }
    }

    /// Adds the definitions of names, after all words were added.
    pub(super) fn index(&mut self, text: &str) {
        self.words.sort_by_key(|w| w.span.start);
        for (n, word) in (0..).zip(&self.words) {
            let name = text.get(word.span.range()).unwrap_or_default().to_owned();
            match (word.role, word.function) {
                (Role::Function | Role::Import, _) => {
                    self.global.entry(name).or_insert(n);
                }
                (Role::Parameter | Role::Target(_), Some(function)) => {
                    self.defined.entry((function, name)).or_default().push(n);
                }
                _ => {}
            }
        }
    }

    /// Returns the word that contains an offset or ends there.
    pub fn word_at(&self, at: usize) -> Option<&Word> {
        let after = self.words.partition_point(|w| w.span.start as usize <= at);
        let word = self.words.get(after.checked_sub(1)?)?;
        (at <= word.span.end as usize).then_some(word)
    }

    /// Returns the word at a span.
    fn word_of(&self, span: Span) -> Option<&Word> {
        let n = self.words.partition_point(|w| w.span.start < span.start);
        self.words.get(n).filter(|w| w.span == span)
    }

    /// Returns the item that a word names, or `None` for built-in and undefined names.
    pub fn symbol<'t>(&self, text: &'t str, word: &Word) -> Option<Symbol<'t>> {
        let name = text.get(word.span.range())?;
        match word.role {
            Role::Function | Role::Import => Some(Symbol::Global(name)),
            Role::Parameter | Role::Target(_) | Role::Directive => Some(Symbol::Local(word.function?, name)),
            Role::Callee | Role::Use => match self.reaching(text, word) {
                Some(_) => Some(Symbol::Local(word.function?, name)),
                None => self.global.contains_key(name).then_some(Symbol::Global(name)),
            },
            Role::Argument(callee) => {
                let callee = self.word_of(callee)?;
                let Some(Symbol::Global(function)) = self.symbol(text, callee) else { return None };
                let function = self.function_of(*self.global.get(function)?)?;
                let mut parameters = self.functions.get(function as usize)?.parameters.iter();
                let is_one = parameters.any(|p| text.get(p.name.range()) == Some(name));
                is_one.then_some(Symbol::Local(function, name))
            }
            Role::Keyword | Role::Member(_) | Role::Other => None,
        }
    }

    /// Returns the number of the function whose name a word is.
    fn function_of(&self, word: u32) -> Option<u32> {
        let span = self.words.get(word as usize)?.span;
        self.functions.iter().position(|f| f.name == span).map(|n| n as u32)
    }

    /// Returns the function called `name`.
    pub fn function_named(&self, name: &str) -> Option<&Function> {
        let number = self.function_of(*self.global.get(name)?)?;
        self.functions.get(number as usize)
    }

    /// Returns all words that name an item.
    pub fn occurrences(&self, text: &str, symbol: Symbol<'_>) -> Vec<Word> {
        let (Symbol::Global(name) | Symbol::Local(_, name)) = symbol;
        let same = |w: &&Word| text.get(w.span.range()) == Some(name) && self.symbol(text, w) == Some(symbol);
        self.words.iter().filter(same).copied().collect()
    }

    /// Returns the definition that a word refers to: the last one before it if there are several.
    pub fn definition(&self, text: &str, word: &Word) -> Option<&Word> {
        match self.symbol(text, word)? {
            Symbol::Global(name) => self.words.get(*self.global.get(name)? as usize),
            Symbol::Local(..) if is_definition(word.role) => self.word_of(word.span),
            Symbol::Local(function, name) => match word.role {
                Role::Callee | Role::Use => self.reaching(text, word),
                _ => self.words.get(*self.definitions(function, name).first()? as usize),
            },
        }
    }

    /// Returns the definitions of a local name.
    fn definitions(&self, function: u32, name: &str) -> &[u32] {
        self.defined.get(&(function, name.to_owned())).map_or(&[], Vec::as_slice)
    }

    /// Returns the local definition that the use of a name refers to. A use before the first definition
    /// refers to that definition, unless there is a function with that name.
    fn reaching(&self, text: &str, word: &Word) -> Option<&Word> {
        let name = text.get(word.span.range())?;
        let all = self.definitions(word.function?, name);
        let get = |n: u32| self.words.get(n as usize);
        let before = all.partition_point(|&n| {
            get(n).is_some_and(|d| d.role == Role::Parameter || d.statement < word.statement)
        });
        match before.checked_sub(1) {
            Some(last) => get(all[last]),
            None if self.global.contains_key(name) || self.is_given(name) => None,
            None => get(*all.first()?),
        }
    }

    /// Returns the definitions of local names before the last statement of the text, the nearest first, one
    /// for each name.
    pub fn visible<'t>(&self, text: &'t str, function: u32) -> Vec<(&'t str, &Word)> {
        let ends = |t: &&Token| t.kind == Kind::LineEnd || text.get(t.span.range()) == Some(";");
        let end = self.tokens.iter().rev().find(ends).map_or(0, |t| t.span.start);
        let mut seen = HashSet::new();
        let before = self.words.iter().rev().filter(|w| match w.role {
            Role::Parameter => w.function == Some(function),
            Role::Target(_) => w.function == Some(function) && w.span.start < end,
            _ => false,
        });
        let named = before.filter_map(|w| Some((text.get(w.span.range())?, w)));
        named.filter(|(name, _)| seen.insert(*name)).collect()
    }

    /// Whether a name is that of a built-in function, or of a library function if all of them are imported.
    pub fn is_given(&self, name: &str) -> bool {
        builtins::of_name(name).is_some() || (self.imports.all && library::of_name(name).is_some())
    }

    /// Returns the library function that a word names.
    pub fn of_library(&self, text: &str, word: &Word) -> Option<LibraryFunction> {
        let name = text.get(word.span.range())?;
        match (word.role, self.symbol(text, word)) {
            (Role::Member(_), _) => {
                let end = self.tokens.partition_point(|t| t.span.start < word.span.start);
                let is_one = self.ends_with_library(text, &self.tokens[..end]);
                library::of_name(name).filter(|_| is_one)
            }
            (_, Some(Symbol::Global(name))) => library::of_name(self.imports.functions.get(name)?),
            (Role::Callee | Role::Use, None) if self.imports.all => library::of_name(name),
            _ => None,
        }
    }

    /// Whether the last tokens are the name of the library and a dot.
    pub fn ends_with_library(&self, text: &str, tokens: &[Token]) -> bool {
        let word = |n: usize| tokens.iter().rev().nth(n).and_then(|t| text.get(t.span.range()));
        let is_called = |name| self.imports.modules.iter().any(|m| m == name);
        word(0) == Some(".") && word(1).is_some_and(is_called) && word(2) != Some(".")
    }

    /// Returns the logical line that contains an offset.
    pub fn line_at(&self, at: usize) -> Span {
        let n = self.tokens.partition_point(|t| (t.span.start as usize) < at);
        let is_end = |t: &Token| t.kind == Kind::LineEnd;
        let start = self.tokens[..n].iter().rposition(is_end).map_or(0, |n| n + 1);
        let end = self.tokens[n..].iter().position(is_end).map_or(self.tokens.len(), |e| n + e);
        let mut line = self.tokens[start..end].iter().filter(|t| t.kind != Kind::Comment);
        let first = line.next();
        let last = line.next_back().or(first);
        first
            .zip(last)
            .map_or(Span::default(), |(a, b)| Span::new(a.span.start as usize, b.span.end as usize))
    }
}

/// Whether names with this role are definitions.
pub fn is_definition(role: Role) -> bool {
    matches!(role, Role::Function | Role::Import | Role::Parameter | Role::Target(_))
}
