//! What the names of a text of StableHLO mean: values by scopes, symbols of the module.

use super::scan::{Kind, Token, scan};
use std::ops::Range;

/// The words that a symbol's definition comes after.
const DEFINING: &[&str] = &["func.func", "sdy.mesh", "module", "builtin.module"];

/// The words and names of a text.
pub struct Outline {
    /// The words.
    pub tokens: Vec<Token>,
    /// The values that are defined, in the order of the text.
    pub values: Vec<Value>,
    /// The functions.
    pub functions: Vec<Function>,
    /// The regions, from `{` to `}`, outer ones first; one that is not closed goes to the end.
    pub regions: Vec<Range<usize>>,
}

/// A value, where it is defined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name, with `%`.
    pub name: Range<usize>,
    /// Where the name is known: from here to the end of the region.
    pub scope: Range<usize>,
    /// True of what a function or block takes.
    pub is_argument: bool,
}

/// A function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Function {
    /// Its name, with `@`.
    pub name: Range<usize>,
    /// All of it, from its keyword on.
    pub range: Range<usize>,
}

impl Outline {
    /// The names of a text.
    pub fn new(text: &str) -> Self {
        let tokens = scan(text);
        let regions = regions(&tokens, text.len());
        let values = values(text, &tokens, &regions);
        let functions = functions(text, &tokens, &regions);
        Self { tokens, values, functions, regions }
    }

    /// The word that touches a place.
    pub fn word_at(&self, at: usize) -> Option<&Token> {
        let after = self.tokens.partition_point(|t| t.range.start <= at);
        let token = self.tokens.get(after.checked_sub(1)?)?;
        let touches = at <= token.range.end && !matches!(token.kind, Kind::Mark(_));
        // At the end of a mark the word before it may still be meant.
        if touches {
            Some(token)
        } else {
            self.tokens.get(after.checked_sub(2)?).filter(|t| t.range.end == at)
        }
    }

    /// The value that a word of a text names.
    pub fn value(&self, text: &str, word: &Token) -> Option<&Value> {
        let (name, at) = (text.get(word.range.clone())?, word.range.start);
        let end = self.values.partition_point(|v| v.name.start <= at);
        let known = self.values[..end].iter().rev();
        known.into_iter().find(|v| v.scope.contains(&at) && text.get(v.name.clone()) == Some(name))
    }

    /// Where a symbol is defined.
    pub fn symbol(&self, text: &str, name: &str) -> Option<Range<usize>> {
        let is_definition = |n: usize, t: &&Token| {
            t.kind == Kind::Symbol && text.get(t.range.clone()) == Some(name) && self.defines(text, n)
        };
        self.tokens.iter().enumerate().find(|(n, t)| is_definition(*n, t)).map(|(_, t)| t.range.clone())
    }

    /// True if the symbol at a number of the words is defined there.
    pub fn defines(&self, text: &str, number: usize) -> bool {
        let word = |n: usize| self.tokens.get(number.checked_sub(n)?).and_then(|t| text.get(t.range.clone()));
        let before = match word(1) {
            Some("public" | "private" | "nested") => word(2),
            other => other,
        };
        before.is_some_and(|word| DEFINING.contains(&word))
    }
}

/// The regions of a text.
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

/// The values that a text defines.
fn values(text: &str, tokens: &[Token], regions: &[Range<usize>]) -> Vec<Value> {
    let mut out = Vec::new();
    let (mut open, mut next, mut brackets) = (Vec::<&Range<usize>>::new(), 0, Vec::new());
    for (n, token) in tokens.iter().enumerate() {
        let at = token.range.start;
        open.retain(|region| at < region.end);
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
                // Of what a loop begins with each has its own name: `(%i = %0, %x = %1)`.
                let is_assigned = match is_inside {
                    true => tokens.get(n + 1).is_some_and(|t| t.kind == Kind::Mark(b'=')),
                    false => is_assigned(tokens, n),
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

/// True if a colon comes after a word, and no number: `%x: tensor<2xf32>`.
fn has_type(tokens: &[Token], n: usize) -> bool {
    let kind = |n: usize| tokens.get(n).map(|t| t.kind);
    kind(n + 1) == Some(Kind::Mark(b':')) && kind(n + 2) != Some(Kind::Number)
}

/// True if an equals sign comes after values that begin with this one: `%x:2, %y = …`.
fn is_assigned(tokens: &[Token], mut n: usize) -> bool {
    let kind = |n: usize| tokens.get(n).map(|t| t.kind);
    loop {
        n += 1;
        if kind(n) == Some(Kind::Mark(b':')) && kind(n + 1) == Some(Kind::Number) {
            n += 2;
        }
        match (kind(n), kind(n + 1)) {
            (Some(Kind::Mark(b'=')), _) => return true,
            (Some(Kind::Mark(b',')), Some(Kind::Value)) => n += 1,
            _ => return false,
        }
    }
}

/// The functions of a text.
fn functions(text: &str, tokens: &[Token], regions: &[Range<usize>]) -> Vec<Function> {
    let mut out = Vec::<Function>::new();
    for (n, token) in tokens.iter().enumerate() {
        if text.get(token.range.clone()) != Some("func.func") {
            continue;
        }
        let start = token.range.start;
        let is_end = |t: &&Token| t.kind == Kind::Symbol || matches!(t.kind, Kind::Mark(_));
        let Some(name) = tokens[n..].iter().find(is_end).filter(|t| t.kind == Kind::Symbol) else { continue };
        // The body is the last region before the next function that is within no region after the name.
        let until = tokens[n + 1..].iter().find(|t| text.get(t.range.clone()) == Some("func.func"));
        let until = until.map_or(text.len(), |t| t.range.start);
        let first = regions.partition_point(|region| region.start < name.range.end);
        let mut end = name.range.end;
        for region in regions[first..].iter().take_while(|region| region.start < until) {
            if region.start >= end {
                end = region.end;
            }
        }
        out.push(Function { name: name.range.clone(), range: start..end });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "module @m {
  func.func public @main(%arg0: tensor<2xf32> {jax.name = \"x\"}, %arg1: tensor<i32>) -> (tensor<2xf32>) {
    %0:2 = stablehlo.while(%iterArg = %arg0, %iterArg_1 = %arg1) : tensor<2xf32>, tensor<i32>
     cond {
      %c = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %iterArg_1, %c : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %iterArg, %iterArg : tensor<2xf32>
      stablehlo.return %1, %iterArg_1 : tensor<2xf32>, tensor<i32>
    }
    %2 = call @f(%0#0) : (tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>
  }
  func.func private @f(%arg0: tensor<2xf32>) -> tensor<2xf32> {
    return %arg0 : tensor<2xf32>
  }
}";

    /// The line that the value is defined in which the given occurrence of a name names.
    fn line(name: &str, nth: usize) -> Option<usize> {
        let outline = Outline::new(TEXT);
        let is_name = |t: &&Token| &TEXT[t.range.clone()] == name;
        let word = outline.tokens.iter().filter(is_name).nth(nth)?;
        let found = outline.value(TEXT, word)?;
        Some(TEXT[..found.name.start].matches('\n').count() + 1)
    }

    #[test]
    fn values_are_found_by_their_regions() {
        assert_eq!(line("%arg0", 1), Some(2));
        assert_eq!(line("%arg0", 3), Some(15));
        assert_eq!(line("%iterArg", 1), Some(3));
        assert_eq!(line("%1", 1), Some(6));
        assert_eq!(line("%1", 3), Some(9));
        assert_eq!(line("%0", 1), Some(3));
        assert_eq!(line("%2", 1), Some(12));
    }

    #[test]
    fn functions_go_to_the_ends_of_their_bodies() {
        let outline = Outline::new(TEXT);
        let lines: Vec<_> = outline
            .functions
            .iter()
            .map(|f| (&TEXT[f.name.clone()], TEXT[f.range.clone()].matches('\n').count() + 1))
            .collect();
        assert_eq!(lines, [("@main", 13), ("@f", 3)]);
        assert_eq!(outline.symbol(TEXT, "@f").map(|r| TEXT[..r.start].matches('\n').count() + 1), Some(15));
    }

    #[test]
    fn broken_texts_have_an_outline() {
        for end in 0..TEXT.len() {
            if let Some(text) = TEXT.get(..end) {
                Outline::new(text);
            }
        }
        for text in ["%", "}}}{{{", "\"\\", "@\"", "func.func", "%é = \u{feff}", "%a:", "%a,%b:2,="] {
            Outline::new(text);
        }
    }
}
