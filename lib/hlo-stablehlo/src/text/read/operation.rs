//! Reading of operations: their results, the generic form, regions and blocks.

use super::Reader;
use super::values::Group;
use crate::dialect;
use crate::text::format;
use crate::text::grammar::Rule;
use crate::text::lex::{self, Cursor, Fault, Result, error_at, error_since};
use crate::tree::{Attributes, Block, Location, Name, Operation, Region, Type, ValueId};
use hlo_ir::Span;
use hlo_ir::diag::{Diag, suggest::nearest};
use hlo_ir::rules::code;
use pest::iterators::{Pair, Pairs};
use std::borrow::Cow;

/// An operation that is being read.
pub struct Draft<'p> {
    /// The name of the operation.
    pub name: Name,
    pub operands: Vec<ValueId>,
    /// The spans of the operands.
    pub operand_spans: Vec<Span>,
    pub attributes: Attributes,
    pub regions: Vec<Region>,
    /// The types of the results.
    pub results: Vec<Type>,
    /// The location, if a part of the operation contained it.
    pub location: Option<Location>,
    /// The regions that have not been read so far.
    pub unread: std::iter::Peekable<Pairs<'p, Rule>>,
}

/// A result name of an operation: the name, the number of results, and the span.
type ResultName<'a> = (&'a str, usize, Span);

/// Returns the error for an operation that has no pretty form but is written as if it had one.
fn without_form(name: &str, span: Span) -> Diag {
    let diag = Diag::error(format!("`{name}` is no operation with a form of its own"));
    let diag = diag.with_code(code::SYNTAX).at(span, "");
    let meant = match dialect::operation(name) {
        Some(_) => None,
        None => nearest(name, dialect::operations().iter().map(|info| info.name)),
    };
    match meant {
        Some(meant) => diag.did_you_mean(span, meant),
        None => diag.note(format!("the generic form is `\"{name}\"(…) : (…) -> …`")),
    }
}

/// Returns the current name of an MHLO operation: that of StableHLO, or of CHLO if only CHLO has it.
fn successor(name: &str) -> String {
    let [stablehlo, chlo] = [format!("stablehlo.{name}"), format!("chlo.{name}")];
    if format::find(&stablehlo).is_none() && format::find(&chlo).is_some() { chlo } else { stablehlo }
}

impl<'a> Reader<'a> {
    /// Reads an operation. Returns `None` if it contains an error, which is reported.
    pub fn operation(&mut self, pair: Pair<'_, Rule>) -> Option<Operation> {
        let start = pair.as_span().start();
        let span = Span::new(start, start + written(pair.as_str()));
        let mut c = self.cursor(span);
        let mut names = Vec::new();
        let read =
            self.result_names(&mut c, &mut names).and_then(|()| self.operation_behind_names(&mut c, pair));
        let read = read.and_then(|draft| self.finish(draft, &names, span));
        match read {
            Ok(op) => Some(op),
            Err(fault) => {
                self.report(fault);
                for (name, ..) in names {
                    self.values.define(name, None);
                }
                None
            }
        }
    }

    /// Reads `%0:2, %sum =`.
    fn result_names(&mut self, c: &mut Cursor<'a>, names: &mut Vec<ResultName<'a>>) -> Result<()> {
        while c.peek() == b'%' {
            let start = c.offset();
            c.advance(1);
            let name = lex::suffix(c, "a value's name")?;
            let span = c.since(start);
            let count = if c.eat(":") { lex::integer(c)? } else { 1usize };
            names.push((name, count, span));
            if !c.eat(",") {
                return c.expect("=");
            }
        }
        Ok(())
    }

    fn operation_behind_names<'p>(&mut self, c: &mut Cursor<'a>, pair: Pair<'p, Rule>) -> Result<Draft<'p>> {
        let start = c.offset_of_next();
        let is_generic = c.byte() == b'"';
        let name: Cow<'a, str> =
            if is_generic { lex::text(c)?.into() } else { lex::some_word(c, "an operation")?.into() };
        let name_span = c.since(start);
        let name = self.name_of_operation(&name);
        let mut draft = Draft {
            name,
            operands: Vec::new(),
            operand_spans: Vec::new(),
            attributes: Attributes::default(),
            regions: Vec::new(),
            results: Vec::new(),
            location: None,
            unread: pair.into_inner().peekable(),
        };
        if is_generic {
            self.generic(c, &mut draft)?;
        } else {
            match format::find(&draft.name) {
                Some(form) => self.pretty(c, &mut draft, form)?,
                None => return Err(without_form(&draft.name, name_span).into()),
            }
        }
        if lex::peek_word(c) == "loc" {
            draft.location = Some(self.location(c)?);
        }
        c.expect_end()?;
        Ok(draft)
    }

    /// Returns the full name of an operation. MHLO names become StableHLO names, and short names of functions
    /// get their dialect.
    fn name_of_operation(&mut self, name: &str) -> Name {
        let long = match name {
            "module" => "builtin.module",
            "func" => "func.func",
            "return" => "func.return",
            "call" => "func.call",
            _ => match name.strip_prefix("mhlo.") {
                Some(rest) => return self.name(&successor(rest)),
                None => name,
            },
        };
        self.name(long)
    }

    /// Reads `(%0, %1) <{…}> ({ … }) {…} : (…) -> …`.
    fn generic(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        c.expect("(")?;
        if !c.eat(")") {
            self.operands(c, draft)?;
            c.expect(")")?;
        }
        if c.peek() == b'[' {
            return Err(c.expected("no blocks to go on with: branches between blocks are not supported"));
        }
        if c.eat("<") {
            draft.attributes = self.dictionary(c)?;
            c.expect(">")?;
        }
        self.regions_in_parentheses(c, draft)?;
        self.more_attributes(c, draft)?;
        c.expect(":")?;
        self.function_signature(c, draft)
    }

    /// Reads regions in parentheses, if they come next.
    pub fn regions_in_parentheses(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        if c.peek() != b'(' {
            return Ok(());
        }
        c.expect("(")?;
        loop {
            let region = self.region(c, draft, &[])?;
            draft.regions.push(region);
            if !c.eat(",") {
                return c.expect(")");
            }
        }
    }

    /// Reads a dictionary of attributes, if one comes next.
    pub fn more_attributes(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        if c.peek() != b'{' {
            return Ok(());
        }
        let start = c.offset();
        let more = self.dictionary(c)?;
        for (name, value) in more.iter() {
            if draft.attributes.get(name).is_some() {
                return Err(error_since(c, start, format!("the attribute `{name}` is given twice")));
            }
            draft.attributes.set(name.clone(), value.clone());
        }
        Ok(())
    }

    /// Reads `%0` or `%1#2`.
    pub fn operand(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        let start = c.offset_of_next();
        let value = self.value(c)?;
        draft.operands.push(value);
        draft.operand_spans.push(c.since(start));
        Ok(())
    }

    /// Reads one or more operands.
    pub fn operands(&mut self, c: &mut Cursor<'a>, draft: &mut Draft<'_>) -> Result<()> {
        c.separated(|c| self.operand(c, draft))?;
        Ok(())
    }

    /// Reads the name of a value and returns the value.
    fn value(&mut self, c: &mut Cursor<'a>) -> Result<ValueId> {
        let start = c.offset_of_next();
        if !c.eat("%") {
            return Err(c.expected("a value such as `%0`"));
        }
        let name = lex::suffix(c, "a value's name")?;
        let index = if c.eat_next("#") { Some(lex::integer::<usize>(c)?) } else { None };
        let Some(entry) = self.values.get(name) else {
            return Err(error_since(c, start, format!("`%{name}` is defined nowhere before")));
        };
        let Some(group) = &entry.values else { return Err(Fault::Reported) };
        match (index, group.len()) {
            (index, n) if index.unwrap_or(0) < n => Ok(group[index.unwrap_or(0)]),
            (_, n) => Err(error_since(c, start, format!("`%{name}` is {n} values"))),
        }
    }

    /// Creates the operation and defines the names of its results.
    fn finish(&mut self, draft: Draft<'_>, names: &[ResultName<'a>], span: Span) -> Result<Operation> {
        let named: usize = names.iter().fold(0, |n, name| n.saturating_add(name.1));
        if !names.is_empty() && named != draft.results.len() {
            let first = names[0].2;
            let message =
                format!("`{}` gives {} results, but {named} are named", draft.name, draft.results.len());
            return Err(error_at(first, message));
        }
        let results: Vec<ValueId> = draft.results.into_iter().map(|ty| self.tree.add_value(ty)).collect();
        let mut rest = &results[..];
        for &(name, count, span) in names {
            let (group, more) = rest.split_at(count);
            rest = more;
            self.define(name, group, span)?;
        }
        Ok(Operation {
            name: draft.name,
            operands: draft.operands,
            results,
            attributes: draft.attributes,
            regions: draft.regions,
            location: draft.location.unwrap_or_default(),
            span,
        })
    }

    /// Defines a name for values.
    pub fn define(&mut self, name: &'a str, group: &[ValueId], span: Span) -> Result<()> {
        // Numbers are the names of unnamed values.
        if !name.bytes().all(|b| b.is_ascii_digit()) {
            for (i, &value) in group.iter().enumerate() {
                let kept = if group.len() == 1 { self.name(name) } else { format!("{name}#{i}").into() };
                self.tree.set_name(value, kept);
            }
        }
        if !self.values.define(name, Some(Group::from_slice(group))) {
            return Err(error_at(span, format!("`%{name}` is defined already")));
        }
        Ok(())
    }

    /// Reads a region. Its entry block has the given arguments if it has no label.
    pub fn region(
        &mut self,
        c: &mut Cursor<'a>,
        draft: &mut Draft<'_>,
        arguments: &[Argument<'a>],
    ) -> Result<Region> {
        let start = c.offset_of_next();
        while draft.unread.next_if(|p| !matches!(p.as_rule(), Rule::region | Rule::enclosed)).is_some() {}
        match draft.unread.next_if(|p| p.as_span().start() == start) {
            Some(pair) => {
                c.rewind(pair.as_span().end());
                let is_isolated = ISOLATED.contains(&draft.name.as_str());
                self.nested(c, |r, _| r.region_of(pair, arguments, is_isolated))
            }
            // Empty braces may also be a dictionary. The grammar cannot distinguish them.
            None => {
                c.expect("{")?;
                c.expect("}")?;
                let mut block = Block::default();
                self.in_scope(false, |r| r.add_arguments(&mut block, arguments))?;
                Ok(Region { blocks: if arguments.is_empty() { Vec::new() } else { vec![block] } })
            }
        }
    }

    fn region_of(
        &mut self,
        pair: Pair<'_, Rule>,
        arguments: &[Argument<'a>],
        isolated: bool,
    ) -> Result<Region> {
        self.in_scope(isolated, |r| {
            let mut block = Block::default();
            r.add_arguments(&mut block, arguments)?;
            let mut blocks = Vec::new();
            for part in pair.into_inner() {
                if r.is_at_error_limit() {
                    break;
                }
                match part.as_rule() {
                    Rule::operation => block.operations.extend(r.operation(part)),
                    _ => {
                        if !block.operations.is_empty() || !block.arguments.is_empty() {
                            blocks.push(std::mem::take(&mut block));
                        }
                        blocks.push(r.block(part)?);
                    }
                }
            }
            if !block.operations.is_empty() || !block.arguments.is_empty() {
                blocks.push(block);
            }
            Ok(Region { blocks })
        })
    }

    fn in_scope<T>(&mut self, isolated: bool, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let around = self.values.open(isolated);
        let result = read(self);
        self.values.close(around);
        result
    }

    /// Reads a block with a label.
    fn block(&mut self, pair: Pair<'_, Rule>) -> Result<Block> {
        let mut block = Block::default();
        for part in pair.into_inner() {
            if part.as_rule() == Rule::operation {
                block.operations.extend(self.operation(part));
                continue;
            }
            let mut c = self.cursor(Span::new(part.as_span().start(), part.as_span().end()));
            c.expect("^")?;
            lex::suffix(&mut c, "a block's name")?;
            if c.peek() == b'(' {
                let arguments = c.list("(", ")", |c| self.argument(c))?;
                self.add_arguments(&mut block, &arguments)?;
            }
            c.expect(":")?;
        }
        Ok(block)
    }

    /// Reads `%arg0: tensor<f32> loc(…)`.
    pub fn argument(&mut self, c: &mut Cursor<'a>) -> Result<Argument<'a>> {
        let (name, span) = self.argument_name(c)?;
        c.expect(":")?;
        let ty = self.ty(c)?;
        let location = if lex::peek_word(c) == "loc" { self.location(c)? } else { Location::Unknown };
        Ok(Argument { name, ty, location, span })
    }

    /// Reads `%arg0`.
    pub fn argument_name(&mut self, c: &mut Cursor<'a>) -> Result<(&'a str, Span)> {
        let start = c.offset_of_next();
        if !c.eat("%") {
            return Err(c.expected("an argument such as `%arg0`"));
        }
        let name = lex::suffix(c, "an argument's name")?;
        Ok((name, c.since(start)))
    }

    /// Creates the arguments of a block.
    fn add_arguments(&mut self, block: &mut Block, arguments: &[Argument<'a>]) -> Result<()> {
        for argument in arguments {
            let value = self.tree.add_value(argument.ty.clone());
            self.tree.set_location(value, argument.location.clone());
            self.define(argument.name, &[value], argument.span)?;
            block.arguments.push(value);
        }
        Ok(())
    }
}

/// An argument of a block.
#[derive(Clone, Debug)]
pub struct Argument<'a> {
    pub name: &'a str,
    pub ty: Type,
    pub location: Location,
    pub span: Span,
}

/// Operations whose regions cannot use values from outside.
const ISOLATED: &[&str] = &[
    "builtin.module",
    "func.func",
    "sdy.manual_computation",
    "sdy.named_computation",
    "chlo.scan",
    "stablehlo.async_start",
];

/// Returns the length of an operation's text without trailing blanks and comments.
fn written(text: &str) -> usize {
    let mut text = text.trim_end();
    loop {
        let line = text.rfind('\n').map_or(0, |at| at + 1);
        if text[line..].trim_start().starts_with("//") {
            text = text[..line].trim_end()
        } else {
            return text.len();
        }
    }
}
