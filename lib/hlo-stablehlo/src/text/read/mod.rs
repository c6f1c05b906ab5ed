//! Reader of text.

mod attribute;
mod convolution;
mod elements;
mod forms;
mod function;
mod location;
mod operation;
mod pretty;
mod sdy;
mod signature;
mod types;
mod values;

pub use attribute::float_bits;

use super::grammar::{self, Rule};
use super::lex::{Cursor, Fault, Result, Text, error_since};
use crate::tree::{Attribute, Location, MAX_DEPTH, Name, Operation, Tree, Type};
use foldhash::{HashMap, HashMapExt};
use hlo_ir::Span;
use hlo_ir::diag::Diag;
use hlo_ir::rules::code;
use pest::iterators::Pair;
use values::Values;

/// Maximum number of errors to report.
const MAX_ERRORS: usize = 20;
/// Maximum number of types, attributes and locations that an alias may stand for. It can double with each
/// nested alias.
const MAX_ALIAS_SIZE: usize = 1 << 20;

/// Reads a program. `scanned` is the text after the scan.
pub fn read(text: &str, scanned: &str) -> std::result::Result<Tree, Vec<Diag>> {
    let pairs = grammar::parse(scanned, text).map_err(|d| vec![d])?;
    let mut reader = Reader::new(text);
    let mut operations = Vec::new();
    for pair in pairs {
        match pair.as_rule() {
            Rule::alias => reader.note_alias(&pair),
            Rule::resources => reader.note_resources(&pair),
            Rule::operation => operations.push(pair),
            _ => {}
        }
    }
    reader.file(operations);
    let mut errors = reader.errors;
    if errors.is_empty() {
        return Ok(reader.tree);
    }
    errors.truncate(MAX_ERRORS);
    Err(errors)
}

/// The state of the reader.
pub struct Reader<'a> {
    text: &'a str,
    tree: Tree,
    errors: Vec<Diag>,
    values: Values<'a>,
    /// The names in the text, so that each is stored once.
    names: HashMap<Box<str>, Name>,
    /// The types of tensors, by their text.
    types: HashMap<&'a str, Type>,
    aliases: HashMap<&'a str, Alias>,
    /// The strings of `dialect_resources` by name, with their quotes.
    resources: HashMap<&'a str, &'a str>,
    /// The current nesting depth.
    depth: usize,
    /// The number of types, attributes and locations read so far, including those behind aliases.
    size: usize,
}

/// An alias such as `#loc1`.
struct Alias {
    /// The span of its definition.
    span: Span,
    /// Its meaning, set on first use.
    value: Option<Meaning>,
    /// The number of types, attributes and locations that it contains.
    size: usize,
    /// Whether its definition is being read. A use in this state is cyclic.
    is_open: bool,
}

/// The meaning of an alias.
#[derive(Clone)]
enum Meaning {
    Type(Type),
    Attribute(Attribute),
    Location(Location),
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            text,
            tree: Tree::new(),
            errors: Vec::new(),
            values: Values::default(),
            names: HashMap::new(),
            types: HashMap::new(),
            aliases: HashMap::new(),
            resources: HashMap::new(),
            depth: 0,
            size: 0,
        }
    }

    /// Sets the operations of the file. A single module is the whole program; other operations are put into
    /// one.
    fn file(&mut self, operations: Vec<Pair<'_, Rule>>) {
        let mut read: Vec<Operation> = Vec::new();
        for pair in operations {
            if let Some(op) = self.operation(pair) {
                read.push(op);
            }
        }
        if read.len() == 1 && read[0].name == "builtin.module" {
            self.tree.module = read.remove(0);
        } else {
            *self.tree.operations_mut() = read;
        }
    }

    /// Returns a cursor on a part of the text.
    fn cursor(&self, span: Span) -> Cursor<'a> {
        Cursor::with_context(&self.text[span.range()], span.start as usize, Text)
    }

    /// Records an error unless the limit is reached.
    fn report(&mut self, fault: Fault) {
        if let Fault::Error(diag) = fault
            && self.errors.len() < MAX_ERRORS
        {
            self.errors.push(*diag);
        }
    }

    /// Checks whether the error limit is reached.
    fn is_at_error_limit(&self) -> bool {
        self.errors.len() >= MAX_ERRORS
    }

    /// Returns a name that is stored once.
    fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name = Name::from(text);
        self.names.insert(text.into(), name.clone());
        name
    }

    /// Reads something that may contain others of its kind, one nesting level deeper.
    fn nested<T>(
        &mut self,
        c: &mut Cursor<'a>,
        read: impl FnOnce(&mut Self, &mut Cursor<'a>) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= MAX_DEPTH {
            let start = c.offset_of_next();
            let diag = Diag::error(format!("this lies more than {MAX_DEPTH} deep within others"));
            return Err(diag.with_code(code::BRACKET_DEPTH).at(Span::new(start, start + 1), "").into());
        }
        self.depth += 1;
        self.size += 1;
        let result = read(self, c);
        self.depth -= 1;
        result
    }

    /// Records the position of an alias definition. It is read on first use, because it may refer to later
    /// aliases.
    fn note_alias(&mut self, pair: &Pair<'_, Rule>) {
        let span = pair.as_span();
        let whole = &self.text[span.start()..span.end()];
        let Some((name, _)) = whole.split_once('=') else { return };
        let value = Span::new(span.start() + name.len() + 1, span.end());
        let name = name.trim_end();
        let known = self.aliases.insert(name, Alias { span: value, value: None, size: 0, is_open: false });
        if known.is_some() {
            let span = Span::new(span.start(), span.start() + name.len());
            self.errors.push(Diag::error(format!("the alias `{name}` is defined twice")).at(span, ""));
        }
    }

    /// Returns the meaning of the alias at `start`. On first use, `read` reads its definition.
    fn alias(
        &mut self,
        c: &Cursor<'a>,
        start: usize,
        read: impl FnOnce(&mut Self, &mut Cursor<'a>) -> Result<Meaning>,
    ) -> Result<Meaning> {
        let name = &self.text[start..c.offset()];
        let Some(alias) = self.aliases.get_mut(name) else {
            return Err(error_since(c, start, format!("`{name}` is defined nowhere")));
        };
        if alias.is_open {
            return Err(error_since(c, start, format!("`{name}` is part of itself")));
        }
        if let Some(value) = &alias.value {
            self.size += alias.size;
            return Ok(value.clone());
        }
        alias.is_open = true;
        let mut inner = Cursor::with_context(&self.text[alias.span.range()], alias.span.start as usize, Text);
        let before = self.size;
        let read = read(self, &mut inner).and_then(|value| inner.expect_end().map(|()| value));
        let size = self.size - before;
        if let Some(alias) = self.aliases.get_mut(name) {
            alias.is_open = false;
            alias.size = size;
            alias.value = read.as_ref().ok().cloned();
        }
        if size > MAX_ALIAS_SIZE {
            return Err(error_since(
                c,
                start,
                format!("`{name}` stands for more than {MAX_ALIAS_SIZE} others"),
            ));
        }
        read
    }

    fn type_alias(&mut self, c: &Cursor<'a>, start: usize, name: &str) -> Result<Type> {
        match self.alias(c, start, |r, c| r.ty(c).map(Meaning::Type))? {
            Meaning::Type(ty) => Ok(ty),
            _ => Err(error_since(c, start, format!("`!{name}` is no type"))),
        }
    }

    fn attribute_alias(&mut self, c: &Cursor<'a>, start: usize) -> Result<Attribute> {
        match self.alias(c, start, |r, c| r.attribute(c).map(Meaning::Attribute))? {
            Meaning::Type(ty) => Ok(Attribute::Type(ty)),
            Meaning::Attribute(value) => Ok(value),
            Meaning::Location(location) => Ok(Attribute::Location(location)),
        }
    }

    fn location_alias(&mut self, c: &Cursor<'a>, start: usize, name: &str) -> Result<Location> {
        match self.alias(c, start, |r, c| r.location(c).map(Meaning::Location))? {
            Meaning::Location(location) | Meaning::Attribute(Attribute::Location(location)) => Ok(location),
            _ => Err(error_since(c, start, format!("`#{name}` is no location"))),
        }
    }

    /// Records the strings of `{-# dialect_resources: { builtin: { name: "0x…" } } #-}`.
    fn note_resources(&mut self, pair: &Pair<'_, Rule>) {
        let span = pair.as_span();
        let mut c = self.cursor(Span::new(span.start(), span.end()));
        c.advance("{-#".len());
        if let Err(fault) = self.resource_group(&mut c, 0) {
            self.report(fault);
        }
    }

    /// Reads `name: { … }, name: "…"` up to the closing bracket.
    fn resource_group(&mut self, c: &mut Cursor<'a>, depth: usize) -> Result<()> {
        loop {
            if c.eat("#-}") || c.eat("}") {
                return Ok(());
            }
            let start = c.offset_of_next();
            if c.byte() == b'"' {
                super::lex::string(c)?;
            } else {
                super::lex::some_word(c, "the name of a resource")?;
            }
            let name = self.text[start..c.offset()].trim_matches('"');
            c.expect(":")?;
            let value = c.offset_of_next();
            if c.byte() == b'{' && depth < 4 {
                c.advance(1);
                self.resource_group(c, depth + 1)?;
            } else {
                super::lex::string(c)?;
                self.resources.insert(name, &self.text[value..c.offset()]);
            }
            c.eat(",");
        }
    }
}
