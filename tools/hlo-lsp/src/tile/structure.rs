//! Finds functions, statements and the roles of names in the tokens of a text.

use super::outline::{Contraction, Function, KEYWORDS, Origin, Outline, Parameter, Role, Word};
use super::scan::{Kind, Token, scan};
use hlo_ir::Span;
use hlo_tile::library::MODULE;

/// The assignment operators.
const ASSIGNMENTS: [&str; 13] =
    ["=", "+=", "-=", "*=", "/=", "//=", "%=", "**=", "&=", "|=", "^=", "<<=", ">>="];

/// Returns the outline of a text.
pub fn outline(text: &str) -> Outline {
    let outline = Outline::of_tokens(scan(text));
    let tokens: Vec<Token> = outline.tokens.iter().copied().filter(|t| t.kind != Kind::Comment).collect();
    let comments = outline.tokens.iter().copied().filter(|t| t.kind == Kind::Comment).collect();
    let mut structure = Structure {
        text,
        out: outline,
        comments,
        directives_from: 0,
        statement: 0,
        function: None,
        is_first: false,
    };
    for line in tokens.split(|t| t.kind == Kind::LineEnd) {
        structure.line(line);
    }
    structure.out.index(text);
    structure.out
}

struct Structure<'t> {
    text: &'t str,
    out: Outline,
    comments: Vec<Token>,
    /// The offset after which comments may belong to the next function.
    directives_from: usize,
    /// The number of the statement.
    statement: u32,
    /// The function that lines belong to.
    function: Option<u32>,
    /// Whether the next statement is the first one of the function.
    is_first: bool,
}

/// An open bracket.
struct Bracket {
    /// Whether it belongs to a call.
    is_call: bool,
    /// Whether it belongs to a call or a subscript, or is nested in one.
    is_within: bool,
    /// The name of the called function.
    callee: Option<Span>,
}

impl<'t> Structure<'t> {
    fn text(&self, token: Token) -> &'t str {
        self.text.get(token.span.range()).unwrap_or_default()
    }

    fn is(&self, token: Option<&Token>, text: &str) -> bool {
        token.is_some_and(|t| self.text(*t) == text)
    }

    fn word(&mut self, span: Span, role: Role, function: Option<u32>) {
        self.out.words.push(Word { span, role, function, statement: self.statement });
    }

    /// Processes a logical line.
    fn line(&mut self, line: &[Token]) {
        let Some(first) = line.first() else { return };
        self.statement += 1;
        let start = first.span.start as usize;
        let at_margin = start == 0 || self.text.as_bytes().get(start - 1) == Some(&b'\n');
        if at_margin {
            self.function = None;
            match self.text(*first) {
                "def" => return self.definition(line),
                "from" | "import" => return self.import(line),
                _ => {}
            }
        }
        self.statements(line);
    }

    /// Processes `from module import name, name as name`.
    fn import(&mut self, line: &[Token]) {
        let is_from = self.is(line.first(), "from");
        let mut names = false;
        for (n, token) in line.iter().enumerate().filter(|(_, t)| t.kind == Kind::Name) {
            let role = match self.text(*token) {
                "from" | "import" | "as" => Role::Keyword,
                // In `name as other`, only `other` is defined.
                _ if is_from && names && !self.is(line.get(n + 1), "as") => Role::Import,
                _ => Role::Other,
            };
            names |= self.text(*token) == "import";
            self.word(token.span, role, None);
        }
        self.imports(line);
    }

    /// Records the imports of a line from the library.
    fn imports(&mut self, line: &[Token]) {
        let words: Vec<&str> = line.iter().map(|t| self.text(*t)).collect();
        let imports = &mut self.out.imports;
        if let ["from", MODULE, "import", names @ ..] = words.as_slice() {
            imports.all |= *names == ["*"];
            for name in names.split(|w| matches!(*w, "," | "(" | ")")) {
                if let [function] | [function, "as", _] = name {
                    let called = name.last().unwrap_or(function);
                    imports.functions.insert((*called).to_owned(), (*function).to_owned());
                }
            }
        } else if let ["import", modules @ ..] = words.as_slice() {
            let is_library = |m: &&[&str]| matches!(m, [MODULE] | [MODULE, "as", _]);
            let named = modules.split(|w| *w == ",").filter(is_library);
            imports.modules.extend(named.filter_map(|m| Some((*m.last()?).to_owned())));
        }
    }

    /// Processes `def name(parameters): statements`.
    fn definition(&mut self, line: &[Token]) {
        let number = u32::try_from(self.out.functions.len()).unwrap_or(u32::MAX);
        let end = |tokens: &[Token]| tokens.last().map_or(0, |t| t.span.end as usize);
        let colon = self.top_level(line, &[":"]).unwrap_or(line.len());
        let (signature, body) = line.split_at(colon);
        self.word(signature[0].span, Role::Keyword, None);
        let name = signature.get(1).filter(|t| t.kind == Kind::Name).map(|t| t.span).unwrap_or_default();
        if !name.is_empty() {
            self.word(name, Role::Function, Some(number));
        }
        let start = if name.is_empty() { signature[0].span.end } else { name.start } as usize;
        self.out.functions.push(Function {
            name,
            span: Span::new(signature[0].span.start as usize, end(line)),
            signature: Span::new(start, end(signature).max(start)),
            parameters: Vec::new(),
            docstring: None,
        });
        self.directives(number, start);
        self.parameters(number, signature);
        self.function = Some(number);
        self.is_first = true;
        self.statements(body.get(1..).unwrap_or_default());
    }

    /// Processes the parameters between the parentheses of a signature.
    fn parameters(&mut self, function: u32, signature: &[Token]) {
        let open = signature.iter().position(|t| t.kind == Kind::Open).map_or(signature.len(), |n| n + 1);
        let mut depth = 0_i32;
        let parts = signature[open..].split(|t| {
            match t.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth -= 1,
                _ => {}
            }
            depth < 0 || (depth == 0 && self.is(Some(t), ","))
        });
        let parts: Vec<&[Token]> = parts.collect();
        for part in parts {
            let Some(name) = part.first().filter(|t| t.kind == Kind::Name) else { continue };
            let end = part.last().map_or(name.span.end, |t| t.span.end);
            let span = Span::new(name.span.start as usize, end as usize);
            self.word(name.span, Role::Parameter, Some(function));
            if let Some(f) = self.out.functions.last_mut() {
                f.parameters.push(Parameter { name: name.span, span });
            }
            let default = self.top_level(part, &["="]).unwrap_or(part.len());
            let (types, default) = part.split_at(default);
            for t in types.iter().skip(1).filter(|t| t.kind == Kind::Name) {
                self.word(t.span, Role::Other, None);
            }
            // Defaults cannot refer to local names.
            let outer = self.function.take();
            self.expression(default.get(1..).unwrap_or_default(), 0);
            self.function = outer;
        }
    }

    /// Returns the index of the first of some operators outside of brackets.
    fn top_level(&self, tokens: &[Token], operators: &[&str]) -> Option<usize> {
        let mut depth = 0_usize;
        tokens.iter().position(|t| {
            match t.kind {
                Kind::Open => depth += 1,
                Kind::Close => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && t.kind == Kind::Operator && operators.contains(&self.text(*t))
        })
    }

    /// Processes comments `# tile: A: f32[2,3], s = 2` between the previous function's name and this one's.
    fn directives(&mut self, function: u32, name: usize) {
        let from = std::mem::replace(&mut self.directives_from, name);
        let until = name as u32;
        let after = self.comments.partition_point(|c| (c.span.start as usize) < from);
        let before = self.comments.partition_point(|c| c.span.start < until);
        for comment in self.comments.get(after..before).unwrap_or_default().to_vec() {
            let start = comment.span.start as usize;
            let line = self.text[..start].rfind('\n').map_or(0, |n| n + 1);
            let all = self.text(comment);
            let Some(list) = all[1..].trim_start().strip_prefix("tile:") else { continue };
            if !self.text[line..start].trim().is_empty() {
                continue;
            }
            let base = start + all.len() - list.len();
            let tokens = super::scan::scan(list);
            let mut depth = 0_usize;
            for (n, t) in tokens.iter().enumerate() {
                match t.kind {
                    Kind::Open => depth += 1,
                    Kind::Close => depth = depth.saturating_sub(1),
                    _ => {}
                }
                let next = tokens.get(n + 1).and_then(|t| list.get(t.span.range()));
                let is_first = n == 0 || list.get(tokens[n - 1].span.range()) == Some(",");
                if depth == 0 && is_first && t.kind == Kind::Name && matches!(next, Some(":" | "=")) {
                    self.word(t.span.moved(base), Role::Directive, Some(function));
                }
            }
        }
    }

    /// Processes the statements of a line.
    fn statements(&mut self, line: &[Token]) {
        if let (Some(function), Some(last)) = (self.function, line.last())
            && let Some(f) = self.out.functions.get_mut(function as usize)
        {
            f.span = Span::new(f.span.start as usize, last.span.end as usize);
        }
        let mut rest = line;
        while !rest.is_empty() {
            let end = self.top_level(rest, &[";"]).unwrap_or(rest.len());
            self.statement += 1;
            self.one_statement(&rest[..end]);
            rest = rest.get(end + 1..).unwrap_or_default();
        }
    }

    fn one_statement(&mut self, tokens: &[Token]) {
        self.docstring(tokens);
        let equals = self.top_level(tokens, &ASSIGNMENTS).unwrap_or(0);
        let operator = match equals {
            0 => self.top_level(tokens, &[">=", "<="]),
            n => Some(n),
        };
        let is_element = tokens.first().is_some_and(|t| t.kind == Kind::Name) && self.is(tokens.get(1), "[");
        if let Some(operator) = operator.filter(|_| is_element)
            && tokens[operator - 1].kind == Kind::Close
        {
            let (target, operator) = (tokens[0].span, tokens[operator].span);
            self.out.contractions.push(Contraction { target, operator });
        }
        self.expression(tokens, equals);
    }

    /// Records the string that is the first statement of a function.
    fn docstring(&mut self, tokens: &[Token]) {
        let is_first = std::mem::take(&mut self.is_first);
        if let (&[Token { kind: Kind::Text, span }], true, Some(f)) =
            (tokens, is_first, self.out.functions.last_mut())
        {
            f.docstring = Some(span);
        }
    }

    /// Processes the names of a statement or an expression. The first `targets` tokens are assignment
    /// targets.
    fn expression(&mut self, tokens: &[Token], targets: usize) {
        let origin = self.origin(tokens.get(targets + 1..).unwrap_or_default());
        let mut brackets: Vec<Bracket> = Vec::new();
        for (n, token) in tokens.iter().enumerate() {
            let before = n.checked_sub(1).and_then(|n| tokens.get(n));
            match token.kind {
                Kind::Open => brackets.push(self.bracket(*token, before, brackets.last())),
                Kind::Close => _ = brackets.pop(),
                Kind::Name => {
                    let is_free = brackets.last().is_none_or(|b| !b.is_within);
                    let target = (n < targets && is_free).then_some(origin);
                    let role = self.role(*token, before, tokens.get(n + 1), target, brackets.last());
                    self.word(token.span, role, self.function);
                }
                _ => {}
            }
        }
    }

    /// Returns a bracket that is nested in another one.
    fn bracket(&self, open: Token, before: Option<&Token>, around: Option<&Bracket>) -> Bracket {
        let name = before.filter(|t| t.kind == Kind::Name && !self.is_keyword(**t));
        let follows = name.is_some() || before.is_some_and(|t| t.kind == Kind::Close);
        let is_call = follows && self.text(open) == "(";
        Bracket {
            is_call,
            is_within: follows || around.is_some_and(|b| b.is_within),
            callee: name.filter(|_| is_call).map(|t| t.span),
        }
    }

    /// Returns the role of a name between two tokens. `target` is the initial value of a variable if the name
    /// is in the position of an assignment target.
    fn role(
        &self,
        name: Token,
        before: Option<&Token>,
        next: Option<&Token>,
        target: Option<Origin>,
        bracket: Option<&Bracket>,
    ) -> Role {
        let is_called = self.is(next, "(");
        let is_whole = !next.is_some_and(|t| t.kind == Kind::Open) && !self.is(next, ".");
        let begins = self.is(before, "(") || self.is(before, ",");
        match (target, bracket) {
            _ if self.is_keyword(name) => Role::Keyword,
            _ if self.is(before, ".") => Role::Member(is_called),
            (Some(origin), _) if is_whole => Role::Target(origin),
            (_, Some(b)) if b.is_call && begins && self.is(next, "=") => {
                b.callee.map_or(Role::Other, Role::Argument)
            }
            _ if is_called => Role::Callee,
            _ => Role::Use,
        }
    }

    fn is_keyword(&self, token: Token) -> bool {
        KEYWORDS.contains(&self.text(token))
    }

    /// Returns the initial value of a variable with this expression.
    fn origin(&self, value: &[Token]) -> Origin {
        if !self.is(value.get(1), "(") {
            return Origin::Other;
        }
        let is_built = || value.windows(2).any(|w| self.is(w.first(), ".") && self.is(w.get(1), "build"));
        match self.text(value[0]) {
            "TensorDim" | "TensorDims" => Origin::Dim,
            "TensorIndex" | "TensorIndexes" => Origin::Index,
            "TensorOutput" => Origin::Output,
            "Contraction" if is_built() => Origin::Output,
            "Contraction" => Origin::Contraction,
            _ => Origin::Other,
        }
    }
}
