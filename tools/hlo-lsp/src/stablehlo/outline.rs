//! Resolves the names in a StableHLO text: values by scope, and symbols of the module.

use super::scan::{Kind, Token, scan};
use std::collections::HashMap;
use std::ops::Range;

/// The keywords that precede the definition of a symbol.
const SYMBOL_KEYWORDS: &[&str] = &["func.func", "sdy.mesh", "module", "builtin.module"];

/// The words and names of a text.
pub struct Outline {
    /// The words.
    pub tokens: Vec<Token>,
    /// The defined values, in the order of the text.
    pub values: Vec<Value>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The regions, from `{` to `}`, outer ones first. A region that is not closed extends to the end.
    pub regions: Vec<Range<usize>>,
    /// The indices of the values with each name.
    by_name: HashMap<String, Vec<usize>>,
}

/// A value at its definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name, including `%`.
    pub name: Range<usize>,
    /// The range where the name is visible: from the definition to the end of the region.
    pub scope: Range<usize>,
    /// Whether it is an argument of a function or block.
    pub is_argument: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, including `@`.
    pub name: Range<usize>,
    /// The whole function, starting at its keyword.
    pub range: Range<usize>,
}

impl Outline {
    /// Creates the outline of a text.
    pub fn new(text: &str) -> Self {
        let tokens = scan(text);
        let regions = regions(&tokens, text.len());
        let values = values(text, &tokens, &regions);
        let functions = functions(text, &tokens, &regions);
        let mut by_name = HashMap::<_, Vec<usize>>::new();
        for (number, value) in values.iter().enumerate() {
            by_name.entry(text[value.name.clone()].to_string()).or_default().push(number);
        }
        Self { tokens, values, functions, regions, by_name }
    }

    /// Returns the word that touches an offset.
    pub fn word_at(&self, at: usize) -> Option<&Token> {
        let after = self.tokens.partition_point(|t| t.range.start <= at);
        let token = self.tokens.get(after.checked_sub(1)?)?;
        let touches = at <= token.range.end && !matches!(token.kind, Kind::Mark(_));
        // At the end of a mark, use the word before the mark if it ends there.
        if touches {
            Some(token)
        } else {
            self.tokens.get(after.checked_sub(2)?).filter(|t| t.range.end == at)
        }
    }

    /// Returns the value that a word names.
    pub fn value(&self, text: &str, word: &Token) -> Option<&Value> {
        let (name, at) = (text.get(word.range.clone())?, word.range.start);
        let same = self.by_name.get(name)?;
        let before = &same[..same.partition_point(|&number| self.values[number].name.start <= at)];
        before.iter().rev().map(|&number| &self.values[number]).find(|v| v.scope.contains(&at))
    }

    /// Returns the values that a part of the text defines.
    pub fn values_in(&self, part: &Range<usize>) -> &[Value] {
        let before = |end: usize| self.values.partition_point(|v| v.name.start < end);
        &self.values[before(part.start)..before(part.end)]
    }

    /// Returns the definition of a symbol.
    pub fn symbol(&self, text: &str, name: &str) -> Option<Range<usize>> {
        let is_definition = |n: usize, t: &&Token| {
            t.kind == Kind::Symbol && text.get(t.range.clone()) == Some(name) && self.defines(text, n)
        };
        self.tokens.iter().enumerate().find(|(n, t)| is_definition(*n, t)).map(|(_, t)| t.range.clone())
    }

    /// Whether the symbol at a word index is a definition.
    pub fn defines(&self, text: &str, number: usize) -> bool {
        let word = |n: usize| self.tokens.get(number.checked_sub(n)?).and_then(|t| text.get(t.range.clone()));
        let before = match word(1) {
            Some("public" | "private" | "nested") => word(2),
            other => other,
        };
        before.is_some_and(|word| SYMBOL_KEYWORDS.contains(&word))
    }
}

/// Returns the regions of a text.
fn regions(tokens: &[Token], end: usize) -> Vec<Range<usize>> {
    let (mut out, mut open) = (Vec::new(), Vec::new());
    for token in tokens {
        match token.kind {
            Kind::Mark(b'{') => {
                open.push(out.len());
                out.push(token.range.start..end);
            }
            Kind::Mark(b'}') => {
                if let Some(region) = open.pop() {
                    let region: &mut Range<usize> = &mut out[region];
                    region.end = token.range.end;
                }
            }
            _ => {}
        }
    }
    out
}

/// Returns the values that a text defines.
fn values(text: &str, tokens: &[Token], regions: &[Range<usize>]) -> Vec<Value> {
    let mut out = Vec::new();
    let (mut open, mut next, mut brackets) = (Vec::<&Range<usize>>::new(), 0, Vec::new());
    let mut known = List { end: 0, is_assigned: false };
    for (n, token) in tokens.iter().enumerate() {
        let at = token.range.start;
        while open.pop_if(|region| region.end <= at).is_some() {}
        while let Some(region) = regions.get(next).filter(|region| region.start < at) {
            if at < region.end {
                open.push(region);
            }
            next += 1;
        }
        match token.kind {
            Kind::Mark(bracket @ (b'(' | b'[' | b'{')) => brackets.push(bracket),
            Kind::Mark(b')' | b']' | b'}') => {
                brackets.pop();
            }
            Kind::Value => {
                let is_inside = brackets.last() == Some(&b'(');
                let is_argument = is_inside && has_type(tokens, n);
                // Each initial value of a loop has its own name: `(%i = %0, %x = %1)`.
                let is_assigned = if is_inside {
                    tokens.get(n + 1).is_some_and(|t| t.kind == Kind::Mark(b'='))
                } else {
                    if known.end <= n {
                        known = list(tokens, n);
                    }
                    known.is_assigned
                };
                if is_argument || is_assigned {
                    let scope = at..open.last().map_or(text.len(), |region| region.end);
                    out.push(Value { name: token.range.clone(), scope, is_argument });
                }
            }
            _ => {}
        }
    }
    out
}

/// Whether a colon and a type follow a word, as in `%x: tensor<2xf32>`, rather than a number.
fn has_type(tokens: &[Token], n: usize) -> bool {
    let kind = |n: usize| tokens.get(n).map(|t| t.kind);
    kind(n + 1) == Some(Kind::Mark(b':')) && kind(n + 2) != Some(Kind::Number)
}

/// A comma-separated list of values: `%x:2, %y`.
struct List {
    /// The index of the word after the list.
    end: usize,
    /// Whether that is an equals sign.
    is_assigned: bool,
}

/// Returns the list that begins with a value.
fn list(tokens: &[Token], mut n: usize) -> List {
    let kind = |n: usize| tokens.get(n).map(|t| t.kind);
    loop {
        n += 1;
        if kind(n) == Some(Kind::Mark(b':')) && kind(n + 1) == Some(Kind::Number) {
            n += 2;
        }
        match (kind(n), kind(n + 1)) {
            (Some(Kind::Mark(b',')), Some(Kind::Value)) => n += 1,
            (after, _) => return List { end: n, is_assigned: after == Some(Kind::Mark(b'=')) },
        }
    }
}

/// Returns the functions of a text.
fn functions(text: &str, tokens: &[Token], regions: &[Range<usize>]) -> Vec<Function> {
    let is_start = |n: &usize| text.get(tokens[*n].range.clone()) == Some("func.func");
    let starts: Vec<usize> = (0..tokens.len()).filter(is_start).collect();
    let mut out = Vec::new();
    for (number, &n) in starts.iter().enumerate() {
        let after = starts.get(number + 1).copied().unwrap_or(tokens.len());
        let is_end = |t: &&Token| t.kind == Kind::Symbol || matches!(t.kind, Kind::Mark(_));
        let name = tokens[n..after].iter().find(is_end).filter(|t| t.kind == Kind::Symbol);
        let Some(name) = name else { continue };
        // The body is the last region before the next function that is not nested in another region after the
        // name.
        let until = tokens.get(after).map_or(text.len(), |t| t.range.start);
        let first = regions.partition_point(|region| region.start < name.range.end);
        let mut end = name.range.end;
        for region in regions[first..].iter().take_while(|region| region.start < until) {
            if region.start >= end {
                end = region.end;
            }
        }
        out.push(Function { name: name.range.clone(), range: tokens[n].range.start..end });
    }
    out
}
