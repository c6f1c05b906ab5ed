//! Converts a text to a [`File`] with `grammar/tile.pest`.

use crate::ast::{
    Argument, Binary, Expr, ExprKind, File, Function, Import, Imported, Name, Parameter, Statement,
    StatementKind, Unary,
};
use crate::grammar::{Rule, TileGrammar};
use crate::lines::{end_of_string, logical_lines};
use crate::syntax;
use crate::syntax_error::explain;
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use pest::Parser as _;
use pest::Token;
use pest::iterators::{Pair, Pairs};
use pest::pratt_parser::{Assoc, Op, PrattParser};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::LazyLock;

/// Maximum nesting depth of operators in an expression. The evaluator recurses for each level.
const MAX_DEPTH: usize = 256;

/// A piece of text with its grammar rule.
type Piece<'t> = Pair<'t, Rule>;

/// Parses a file.
///
/// # Errors
/// Returns the first syntax error.
///
/// # Example
/// ```
/// let file = hlo_tile_syntax::parse("def f(A, B):\n  return A + B\n").unwrap();
/// assert_eq!(file.functions[0].parameters.len(), 2);
/// assert!(hlo_tile_syntax::parse("def f(A, B)\n  return A + B\n").unwrap_err().labels[0].message.contains("expected `:`"));
/// ```
pub fn parse(text: &str) -> Result<File, Diag> {
    let lines = lines_of(text)?;
    file(&lines, Vec::new(), Vec::new())
}

/// Parses a Python file that contains Tile functions. [`File::python`] contains the errors of the other
/// parts.
///
/// # Errors
/// Returns the first syntax error if no function is valid Tile.
///
/// # Example
/// ```
/// let text = "def f(A):\n  return -A\n\ndef g(A):\n  for i in A:\n    print(i)\n";
/// let file = hlo_tile_syntax::parse_python(text).unwrap();
/// assert!(file.functions[0].python.is_none());
/// assert!(file.functions[1].python.as_ref().is_some_and(|d| d.message.starts_with("Tile has no loops")));
/// ```
pub fn parse_python(text: &str) -> Result<File, Diag> {
    let lines = lines_of(text)?;
    let Err(error) = TileGrammar::parse(Rule::file, &lines) else {
        return file(&lines, Vec::new(), Vec::new());
    };
    let mut tile = lines.clone().into_bytes();
    let (mut functions, mut python) = (Vec::new(), Vec::new());
    for part in parts(&lines) {
        let found = &lines[part.clone()];
        let Err(why) = TileGrammar::parse(Rule::file, found) else { continue };
        let why = explain(&why, found).moved(part.start);
        functions.extend(defined(found, part.start).map(|name| Function {
            name,
            parameters: Vec::new(),
            body: Vec::new(),
            python: Some(why.clone()),
        }));
        python.push(why);
        tile[part].iter_mut().filter(|b| **b != b'\n').for_each(|b| *b = b' ');
    }
    // Only whole lines were replaced with blanks.
    let tile = String::from_utf8(tile).map_err(|_| Diag::error("the text is not UTF-8"))?;
    let file = file(&tile, functions, python)?;
    if file.functions.iter().any(|f| f.python.is_none()) { Ok(file) } else { Err(explain(&error, &lines)) }
}

/// Returns the logical lines of a text.
fn lines_of(text: &str) -> Result<String, Diag> {
    if u32::try_from(text.len()).is_err() {
        return Err(Diag::error("the text is longer than 4 GiB"));
    }
    logical_lines(text)
}

/// Splits a file into parts. Each part begins with a line that is not indented. A decorator belongs to the
/// function below it.
fn parts(lines: &str) -> Vec<Range<usize>> {
    let bytes = lines.as_bytes();
    let mut starts: Vec<usize> = Vec::new();
    let (mut at, mut decorated) = (0, false);
    while at < bytes.len() {
        if !matches!(bytes[at], b' ' | b'\t' | b'\n') {
            if !decorated {
                starts.push(at);
            }
            decorated = bytes[at] == b'@';
        }
        while at < bytes.len() && bytes[at] != b'\n' {
            at = match bytes[at] {
                quote @ (b'"' | b'\'') => end_of_string(bytes, at, quote).unwrap_or(bytes.len()),
                _ => at + 1,
            };
        }
        at += 1;
    }
    let ends = starts.iter().skip(1).copied().chain([lines.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns the name of the function that a part of a file defines. The part begins at offset `start`.
fn defined(part: &str, start: usize) -> Option<Name> {
    let line = part.lines().find(|line| !line.starts_with('@'))?;
    let rest = line.strip_prefix("def ")?.trim_start();
    let name = rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|name| is_name(name))?;
    let at = start + (rest.as_ptr() as usize - part.as_ptr() as usize);
    Some(Name { text: name.to_owned(), span: Span::new(at, at + name.len()) })
}

/// Parses logical lines that are all Tile. `functions` and `python` describe the other parts of the file.
fn file(lines: &str, functions: Vec<Function>, python: Vec<Diag>) -> Result<File, Diag> {
    let parsed = TileGrammar::parse(Rule::file, lines).map_err(|e| explain(&e, lines))?;
    if let Some(at) = deepest(&parsed) {
        return Err(too_deep(Span::new(at, at + 1)));
    }
    let mut file = File { functions, python, ..File::default() };
    for piece in parsed.flat_map(Pair::into_inner) {
        match piece.as_rule() {
            Rule::function => file.functions.push(function(piece)?),
            Rule::import => imports(piece, &mut file.imports),
            _ => {}
        }
    }
    file.functions.sort_by_key(|f| f.name.span.start);
    let mut first: HashMap<&str, Span> = HashMap::new();
    for Function { name, .. } in &file.functions {
        if let Some(first) = first.insert(&name.text, name.span) {
            let message = format!("there are two functions `{}`", name.text);
            return Err(syntax(name.span, message, "the second").and(first, "the first"));
        }
    }
    Ok(file)
}

/// Whether a text is a valid name. Python keywords such as `def` are not valid.
///
/// # Example
/// ```
/// use hlo_tile_syntax::is_name;
///
/// assert!(is_name("KX_1") && !is_name("in") && !is_name("1x") && !is_name("a b"));
/// ```
pub fn is_name(text: &str) -> bool {
    TileGrammar::parse(Rule::name, text)
        .is_ok_and(|mut found| found.as_str() == text && found.next().is_some())
}

/// Operators by increasing precedence, as in Python.
static PRECEDENCE: LazyLock<PrattParser<Rule>> = LazyLock::new(|| {
    let left = |rule| Op::infix(rule, Assoc::Left);
    let comparisons = [Rule::le, Rule::gt, Rule::ge, Rule::eq, Rule::ne].into_iter().map(left);
    PrattParser::new()
        .op(left(Rule::or))
        .op(left(Rule::and))
        .op(Op::prefix(Rule::not))
        .op(comparisons.fold(left(Rule::lt), |a, b| a | b))
        .op(left(Rule::bit_or))
        .op(left(Rule::bit_xor))
        .op(left(Rule::bit_and))
        .op(left(Rule::shift_left) | left(Rule::shift_right))
        .op(left(Rule::add) | left(Rule::subtract))
        .op(left(Rule::multiply) | left(Rule::divide) | left(Rule::floor_divide) | left(Rule::modulo))
        .op(Op::prefix(Rule::minus) | Op::prefix(Rule::plus) | Op::prefix(Rule::invert))
        .op(Op::infix(Rule::power, Assoc::Right))
        .op(Op::postfix(Rule::call) | Op::postfix(Rule::subscript) | Op::postfix(Rule::attribute))
});

fn span(piece: &Piece<'_>) -> Span {
    Span::new(piece.as_span().start(), piece.as_span().end())
}

fn name(piece: &Piece<'_>) -> Name {
    Name { text: piece.as_str().to_owned(), span: span(piece) }
}

/// Parses `import a, b as c` and `from a import b as c, …`.
fn imports(piece: Piece<'_>, out: &mut Vec<Import>) {
    let Some(piece) = piece.into_inner().next() else { return };
    if piece.as_rule() == Rule::import_module {
        for part in piece.into_inner().filter(|p| p.as_rule() == Rule::module) {
            let (module, other) = renamed(part);
            out.push(Import { module, what: Imported::Module(other) });
        }
        return;
    }
    let mut module = Name { text: String::new(), span: span(&piece) };
    let mut what = Imported::Functions(Vec::new());
    for part in piece.into_inner() {
        match (part.as_rule(), &mut what) {
            (Rule::path, _) => module = name(&part),
            (Rule::star, _) => what = Imported::All,
            (Rule::imported, Imported::Functions(all)) => all.push(renamed(part)),
            _ => {}
        }
    }
    out.push(Import { module, what });
}

/// Parses `name as other`.
fn renamed(piece: Piece<'_>) -> (Name, Option<Name>) {
    let place = span(&piece);
    let mut names = piece.into_inner().filter(|p| matches!(p.as_rule(), Rule::path | Rule::name));
    let first = names.next().map_or(Name { text: String::new(), span: place }, |p| name(&p));
    (first, names.next().map(|p| name(&p)))
}

fn function(piece: Piece<'_>) -> Result<Function, Diag> {
    let mut out = Function { name: name(&piece), parameters: Vec::new(), body: Vec::new(), python: None };
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::signature => signature(part, &mut out)?,
            Rule::block => {
                for line in part.into_inner() {
                    statements(line, &mut out.body)?;
                }
            }
            _ => statements(part, &mut out.body)?,
        }
    }
    Ok(out)
}

fn signature(piece: Piece<'_>, out: &mut Function) -> Result<(), Diag> {
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::name => out.name = name(&part),
            Rule::parameter => {
                let parameter = parameter(part)?;
                let same = out.parameters.iter().find(|p| p.name.text == parameter.name.text);
                if let Some(first) = same {
                    let message = format!("two parameters are called `{}`", parameter.name.text);
                    return Err(
                        syntax(parameter.name.span, message, "the second").and(first.name.span, "the first")
                    );
                }
                out.parameters.push(parameter);
            }
            _ => {}
        }
    }
    Ok(())
}

/// Parses `name: type = default`. The type is ignored.
fn parameter(piece: Piece<'_>) -> Result<Parameter, Diag> {
    let mut out = Parameter { name: name(&piece), default: None };
    let mut is_default = false;
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::name => out.name = name(&part),
            Rule::equals => is_default = true,
            Rule::expression if is_default => out.default = Some(expression(part)?),
            _ => {}
        }
    }
    Ok(out)
}

/// Parses the statements of a line.
fn statements(line: Piece<'_>, out: &mut Vec<Statement>) -> Result<(), Diag> {
    for piece in line.into_inner().filter(|p| p.as_rule() == Rule::statement) {
        let whole = trimmed(&piece);
        let Some(inner) = piece.into_inner().next() else { continue };
        let kind = match inner.as_rule() {
            Rule::pass => StatementKind::Pass,
            Rule::return_ => {
                let value = inner.into_inner().find(|p| p.as_rule() == Rule::expression_list);
                StatementKind::Return(value.map(value_of_list).transpose()?)
            }
            Rule::assignment => assignment(inner)?,
            Rule::assert => {
                let all = inner.into_inner().filter(|p| p.as_rule() == Rule::expression);
                let mut all = all.map(expression).collect::<Result<Vec<_>, _>>()?.into_iter();
                let test = all.next().unwrap_or_else(|| nothing(whole));
                StatementKind::Assert { test, message: all.next() }
            }
            _ => StatementKind::Expression(value_of_list(inner)?),
        };
        out.push(Statement { kind, span: whole });
    }
    Ok(())
}

/// Returns the span without trailing blanks.
fn trimmed(piece: &Piece<'_>) -> Span {
    let start = piece.as_span().start();
    Span::new(start, start + piece.as_str().trim_end().len())
}

fn assignment(piece: Piece<'_>) -> Result<StatementKind, Diag> {
    let mut lists = Vec::new();
    let mut operator = String::new();
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::assign => operator = part.as_str().trim_end_matches('=').to_owned(),
            _ => lists.push(part),
        }
    }
    let mut lists = lists.into_iter();
    let targets = lists.next().map(elements).transpose()?.unwrap_or_default().0;
    let value = lists.next().map_or_else(|| Ok(nothing(Span::default())), value_of_list)?;
    Ok(StatementKind::Assign { targets, operator, value })
}

fn nothing(span: Span) -> Expr {
    Expr { kind: ExprKind::Nothing, span }
}

/// Parses a list of elements separated by commas. Also returns whether it contains a comma.
fn elements(list: Piece<'_>) -> Result<(Vec<Expr>, bool), Diag> {
    let mut out = Vec::new();
    let mut commas = false;
    for part in list.into_inner() {
        match part.as_rule() {
            Rule::element => out.push(element(part)?),
            _ => commas = true,
        }
    }
    Ok((out, commas))
}

/// Returns a single expression, or a tuple of several.
fn value_of_list(list: Piece<'_>) -> Result<Expr, Diag> {
    let whole = trimmed(&list);
    let (mut all, commas) = elements(list)?;
    match all.pop() {
        Some(only) if all.is_empty() && !commas => Ok(only),
        last => {
            all.extend(last);
            Ok(Expr { kind: ExprKind::Sequence(all), span: whole })
        }
    }
}

/// Parses an expression or `*expression`.
fn element(piece: Piece<'_>) -> Result<Expr, Diag> {
    let whole = trimmed(&piece);
    let mut starred = false;
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::star => starred = true,
            _ => {
                let inner = expression(part)?;
                return Ok(if starred {
                    Expr { kind: ExprKind::Starred(Box::new(inner)), span: whole }
                } else {
                    inner
                });
            }
        }
    }
    Ok(nothing(whole))
}

/// An expression and the nesting depth of its operators.
struct NestedExpr {
    expr: Expr,
    depth: usize,
    /// Whether it is a comparison without parentheses.
    compares: bool,
}

impl NestedExpr {
    fn leaf(expr: Expr) -> Self {
        let depth = depth(&expr);
        Self { expr, depth, compares: false }
    }

    /// Returns an operation on operands with the given maximum depth.
    fn over(kind: ExprKind, span: Span, depth: usize) -> Result<Self, Diag> {
        if depth >= MAX_DEPTH {
            return Err(too_deep(span));
        }
        Ok(Self { expr: Expr { kind, span }, depth: depth + 1, compares: false })
    }
}

/// Returns the offset where more than [`MAX_DEPTH`] prefix and right-associative operators are nested,
/// including those around brackets. The parser recurses for each of them.
fn deepest(file: &Pairs<'_, Rule>) -> Option<usize> {
    let (mut operations, mut all) = (Vec::new(), 0);
    for token in file.clone().tokens() {
        match token {
            Token::Start { rule: Rule::operation, .. } => operations.push(0),
            Token::End { rule: Rule::operation, .. } => all -= operations.pop().unwrap_or(0),
            Token::Start { rule, pos } if nests(rule) => {
                operations.iter_mut().last().into_iter().for_each(|here: &mut usize| *here += 1);
                all += 1;
                if all > MAX_DEPTH {
                    return Some(pos.pos());
                }
            }
            _ => {}
        }
    }
    None
}

/// Whether the parser recurses for the operator.
fn nests(rule: Rule) -> bool {
    matches!(rule, Rule::minus | Rule::plus | Rule::invert | Rule::not | Rule::power)
}

fn too_deep(span: Span) -> Diag {
    let message = format!("more than {MAX_DEPTH} operators in one another");
    syntax(span, message, "a name for a part of it would help")
}

/// Returns the nesting depth of operators, calls and brackets. It is limited, because the parts of an
/// expression were checked when they were created.
fn depth(expr: &Expr) -> usize {
    let of_all = |all: &[Expr]| all.iter().map(depth).max().unwrap_or(0);
    let optional = |expr: &Option<Box<Expr>>| expr.as_deref().map_or(0, depth);
    let inside = match &expr.kind {
        ExprKind::Integer(_) | ExprKind::Float(_) | ExprKind::Truth(_) | ExprKind::Nothing => return 0,
        ExprKind::Text(_) | ExprKind::Name(_) => return 0,
        ExprKind::Unary(_, a) | ExprKind::Attribute(a, _) | ExprKind::Starred(a) => depth(a),
        ExprKind::Binary(_, a, b) => depth(a).max(depth(b)),
        ExprKind::Call(called, arguments) => {
            arguments.iter().map(|a| depth(&a.value)).fold(depth(called), usize::max)
        }
        ExprKind::Subscript(base, indices) => depth(base).max(of_all(indices)),
        ExprKind::Slice { base, from, until } => depth(base).max(optional(from)).max(optional(until)),
        ExprKind::Conditional { test, then, otherwise } => depth(test).max(depth(then)).max(depth(otherwise)),
        ExprKind::Sequence(all) => of_all(all),
    };
    inside + 1
}

/// Parses an operation, or `a if test else b`.
fn expression(piece: Piece<'_>) -> Result<Expr, Diag> {
    let parts = piece.into_inner().filter(|p| p.as_rule() == Rule::operation);
    let mut parts = parts.map(operation).collect::<Result<Vec<_>, _>>()?;
    let Some(mut last) = parts.pop() else { return Ok(nothing(Span::default())) };
    while let (Some(test), Some(then)) = (parts.pop(), parts.pop()) {
        let place = Span::new(then.expr.span.start as usize, last.expr.span.end as usize);
        let depth = then.depth.max(test.depth).max(last.depth);
        let kind = ExprKind::Conditional {
            test: Box::new(test.expr),
            then: Box::new(then.expr),
            otherwise: Box::new(last.expr),
        };
        last = NestedExpr::over(kind, place, depth)?;
    }
    Ok(last.expr)
}

fn operation(piece: Piece<'_>) -> Result<NestedExpr, Diag> {
    PRECEDENCE
        .map_primary(|piece| Ok(NestedExpr::leaf(primary(piece)?)))
        .map_prefix(|operator, operand: Result<NestedExpr, Diag>| {
            let operand = operand?;
            let kind = match operator.as_rule() {
                Rule::minus => Unary::Negate,
                Rule::plus => Unary::Plus,
                Rule::invert => Unary::Invert,
                _ => Unary::Not,
            };
            let place = Span::new(operator.as_span().start(), operand.expr.span.end as usize);
            NestedExpr::over(ExprKind::Unary(kind, Box::new(operand.expr)), place, operand.depth)
        })
        .map_postfix(|operand, operator| postfix(operand?, operator))
        .map_infix(|left, operator, right| infix(left?, &operator, right?))
        .parse(piece.into_inner())
}

fn infix(left: NestedExpr, operator: &Piece<'_>, right: NestedExpr) -> Result<NestedExpr, Diag> {
    let text = operator.as_str();
    let Some(binary) = Binary::of(text) else {
        return Err(syntax(span(operator), format!("`{text}` is no operator"), "not an operator"));
    };
    if binary.is_comparison() && left.compares {
        let message = "comparisons can't be chained";
        return Err(syntax(span(operator), message, "the second comparison")
            .note("a constraint is `index < bound`, and includes `0 <= index`"));
    }
    let place = Span::new(left.expr.span.start as usize, right.expr.span.end as usize);
    let depth = left.depth.max(right.depth);
    let kind = ExprKind::Binary(binary, Box::new(left.expr), Box::new(right.expr));
    Ok(NestedExpr { compares: binary.is_comparison(), ..NestedExpr::over(kind, place, depth)? })
}

fn postfix(operand: NestedExpr, piece: Piece<'_>) -> Result<NestedExpr, Diag> {
    let whole = Span::new(operand.expr.span.start as usize, trimmed(&piece).end as usize);
    let base = Box::new(operand.expr);
    let kind = match piece.as_rule() {
        Rule::call => {
            let arguments = piece.into_inner().filter(|p| p.as_rule() == Rule::argument);
            ExprKind::Call(base, arguments.map(argument).collect::<Result<_, _>>()?)
        }
        Rule::subscript => subscript(base, piece)?,
        _ => {
            let attribute = piece.into_inner().find(|p| p.as_rule() == Rule::name);
            let attribute = attribute.map_or(Name { text: String::new(), span: whole }, |p| name(&p));
            ExprKind::Attribute(base, attribute)
        }
    };
    // Expressions inside brackets count, too.
    let made = Expr { kind, span: whole };
    let inside = depth(&made) - 1;
    NestedExpr::over(made.kind, whole, inside)
}

/// Parses `base[i, j]` or `base[from:until]`.
fn subscript(base: Box<Expr>, piece: Piece<'_>) -> Result<ExprKind, Diag> {
    let (mut list, mut until) = (None, None);
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::expression_list => list = Some(part),
            Rule::until => until = Some(part),
            _ => {}
        }
    }
    let list = list.map(value_of_list).transpose()?;
    let Some(until) = until else {
        return Ok(ExprKind::Subscript(base, list.map_or_else(Vec::new, listed)));
    };
    if let Some(Expr { kind: ExprKind::Sequence(_), span }) = &list {
        return Err(syntax(*span, "a part of a list is `list[from:until]`", "more than one position"));
    }
    let until = until.into_inner().find(|p| p.as_rule() == Rule::expression).map(expression).transpose()?;
    Ok(ExprKind::Slice { base, from: list.map(Box::new), until: until.map(Box::new) })
}

/// Returns the elements of an expression between brackets: `[i, j]`, `[(i, j)]` and `[()]` are lists of
/// indices.
fn listed(expr: Expr) -> Vec<Expr> {
    match expr.kind {
        ExprKind::Sequence(all) => all,
        _ => vec![expr],
    }
}

fn argument(piece: Piece<'_>) -> Result<Argument, Diag> {
    let mut out = Argument { name: None, value: nothing(span(&piece)) };
    for part in piece.into_inner() {
        match part.as_rule() {
            Rule::name => out.name = Some(name(&part)),
            Rule::element => out.value = element(part)?,
            _ => {}
        }
    }
    Ok(out)
}

fn primary(piece: Piece<'_>) -> Result<Expr, Diag> {
    let place = span(&piece);
    let text = piece.as_str();
    let kind = match piece.as_rule() {
        Rule::integer => match text.replace('_', "").parse() {
            Ok(n) => ExprKind::Integer(n),
            Err(_) => {
                let message = format!("`{text}` is more than {}", i64::MAX);
                return Err(syntax(place, message, "an integer of 64 bits is expected"));
            }
        },
        Rule::float => match text.replace('_', "").parse() {
            Ok(x) => ExprKind::Float(x),
            Err(_) => return Err(syntax(place, format!("`{text}` is no number"), "not a number")),
        },
        Rule::string => ExprKind::Text(unquoted(text).to_owned()),
        Rule::truth => match text {
            "True" => ExprKind::Truth(true),
            "False" => ExprKind::Truth(false),
            _ => ExprKind::Nothing,
        },
        Rule::tuple => return parenthesised(piece),
        Rule::list => {
            let list = piece.into_inner().find(|p| p.as_rule() == Rule::expression_list);
            ExprKind::Sequence(list.map(elements).transpose()?.unwrap_or_default().0)
        }
        _ => ExprKind::Name(text.to_owned()),
    };
    Ok(Expr { kind, span: place })
}

/// Parses parentheses: `(a)` is `a`, `(a,)` and `(a, b)` are tuples.
fn parenthesised(piece: Piece<'_>) -> Result<Expr, Diag> {
    let place = span(&piece);
    let list = piece.into_inner().find(|p| p.as_rule() == Rule::expression_list);
    let inner = list.map_or(Ok(Expr { kind: ExprKind::Sequence(Vec::new()), span: place }), value_of_list)?;
    Ok(Expr { kind: inner.kind, span: place })
}

fn unquoted(text: &str) -> &str {
    let quotes =
        if text.len() >= 6 && (text.starts_with("\"\"\"") || text.starts_with("'''")) { 3 } else { 1 };
    text.get(quotes..text.len().saturating_sub(quotes)).unwrap_or_default()
}
