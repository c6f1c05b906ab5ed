//! The tables of a file to write: strings, dialects, names of operations, attributes and types.
//!
//! References to entries are written last, because entries get their numbers only when all are known. The
//! most used entries get the smallest numbers, which take fewer bytes.

use super::sink::Sink;
use crate::bytecode::layout::section;
use hlo_ir::AlignedBytes;
use std::collections::HashMap;
use std::hash::Hash;
use std::rc::Rc;
use std::sync::Arc;

/// An attribute of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AttributeId(u32);

/// A type of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct TypeId(u32);

/// A string of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct StringId(u32);

/// The name of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct OperationId(u32);

/// An item to write.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Token {
    Byte(u8),
    Number(u64),
    Signed(i64),
    Attribute(AttributeId),
    /// An attribute that may be absent.
    Optional(Option<AttributeId>),
    Type(TypeId),
    /// The type of a block's argument, and whether a location follows.
    ArgumentType(TypeId, bool),
    String(StringId),
    Operation(OperationId),
    /// The number of bytes, and the bytes.
    Blob(Arc<AlignedBytes>),
    /// Text with a zero byte at the end.
    Text(Rc<str>),
    /// A section of operations.
    Section(Vec<Token>),
}

/// An attribute or a type.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Entry {
    dialect: u32,
    is_encoded: bool,
    tokens: Vec<Token>,
}

/// A list of distinct items, in the order in which they were added.
struct Unique<T>(Vec<Rc<T>>, HashMap<Rc<T>, u32>);

impl<T: Hash + Eq> Unique<T> {
    fn add(&mut self, thing: T) -> u32 {
        if let Some(&at) = self.1.get(&thing) {
            return at;
        }
        let (at, thing) = (self.0.len() as u32, Rc::new(thing));
        self.0.push(Rc::clone(&thing));
        self.1.insert(thing, at);
        at
    }
}

impl<T> Default for Unique<T> {
    fn default() -> Self {
        Self(Vec::new(), HashMap::new())
    }
}

/// The tables.
#[derive(Default)]
pub(super) struct Tables {
    strings: Unique<Vec<u8>>,
    dialects: Unique<String>,
    operations: Unique<(u32, u32)>,
    attributes: Unique<Entry>,
    types: Unique<Entry>,
    properties: Unique<Vec<Token>>,
}

impl Tables {
    pub(super) fn string(&mut self, bytes: &[u8]) -> StringId {
        StringId(self.strings.add(bytes.to_vec()))
    }

    /// Returns the id of an operation's name.
    pub(super) fn operation(&mut self, dialect: &str, name: &str) -> OperationId {
        let (dialect, name) = (self.dialect(dialect), self.string(name.as_bytes()).0);
        OperationId(self.operations.add((dialect, name)))
    }

    /// Adds an attribute in the encoding of its dialect.
    pub(super) fn attribute(&mut self, dialect: &str, tokens: Vec<Token>) -> AttributeId {
        let dialect = self.dialect(dialect);
        AttributeId(self.attributes.add(Entry { dialect, is_encoded: true, tokens }))
    }

    /// Adds an attribute that is text.
    pub(super) fn attribute_text(&mut self, dialect: &str, text: &str) -> AttributeId {
        let (dialect, tokens) = (self.dialect(dialect), vec![Token::Text(text.into())]);
        AttributeId(self.attributes.add(Entry { dialect, is_encoded: false, tokens }))
    }

    /// Adds a type in the encoding of its dialect.
    pub(super) fn ty(&mut self, dialect: &str, tokens: Vec<Token>) -> TypeId {
        let dialect = self.dialect(dialect);
        TypeId(self.types.add(Entry { dialect, is_encoded: true, tokens }))
    }

    /// Adds a type that is text.
    pub(super) fn type_text(&mut self, dialect: &str, text: &str) -> TypeId {
        let (dialect, tokens) = (self.dialect(dialect), vec![Token::Text(text.into())]);
        TypeId(self.types.add(Entry { dialect, is_encoded: false, tokens }))
    }

    /// Adds the properties of an operation and returns their number.
    pub(super) fn properties(&mut self, tokens: Vec<Token>) -> u64 {
        self.properties.add(tokens).into()
    }

    fn dialect(&mut self, name: &str) -> u32 {
        self.string(name.as_bytes());
        self.dialects.add(name.into())
    }

    /// Writes the sections of a file after its header. `ir` contains the operations.
    pub(super) fn sections(mut self, bytecode: u64, ir: &[Token], out: &mut Sink) {
        let numbers = Numbers::new(&self, ir);
        out.section(section::DIALECT, self.dialect_section(bytecode, &numbers));
        let (mut offsets, mut data) = (Sink::default(), Sink::default());
        offsets.varint(self.attributes.0.len() as u64);
        offsets.varint(self.types.0.len() as u64);
        numbers.entries(&self.attributes.0, &numbers.attributes, &mut offsets, &mut data);
        numbers.entries(&self.types.0, &numbers.types, &mut offsets, &mut data);
        out.section(section::ATTRIBUTE_OFFSET, offsets);
        out.section(section::ATTRIBUTE, data);
        let mut operations = Sink::default();
        numbers.emit(ir, &mut operations);
        out.section(section::IR, operations);
        if bytecode >= 5 {
            let mut properties = Sink::default();
            properties.varint(self.properties.0.len() as u64);
            for tokens in &self.properties.0 {
                let mut content = Sink::default();
                numbers.emit(tokens, &mut content);
                properties.varint(content.len() as u64);
                properties.bytes(&content.into_bytes());
            }
            out.section(section::PROPERTIES, properties);
        }
        out.section(section::STRING, self.string_section());
    }

    /// Writes the names of dialects, and of operations grouped by dialect.
    fn dialect_section(&mut self, bytecode: u64, numbers: &Numbers) -> Sink {
        let mut out = Sink::default();
        let names: Vec<StringId> =
            self.dialects.0.clone().iter().map(|name| self.string(name.as_bytes())).collect();
        out.varint(names.len() as u64);
        for name in names {
            // The lowest bit tells whether the dialect's version follows.
            out.varint(u64::from(name.0) << u32::from(bytecode >= 1));
        }
        if bytecode >= 4 {
            out.varint(self.operations.0.len() as u64);
        }
        let order = &numbers.operations.order;
        for group in order.chunk_by(|&a, &b| self.operations.0[a].0 == self.operations.0[b].0) {
            out.varint(self.operations.0[group[0]].0.into());
            out.varint(group.len() as u64);
            for &at in group {
                let name = u64::from(self.operations.0[at].1);
                // The lowest bit tells whether the operation is known to its dialect.
                out.varint(if bytecode >= 5 { name << 1 | 1 } else { name });
            }
        }
        out
    }

    fn string_section(&self) -> Sink {
        let mut out = Sink::default();
        out.varint(self.strings.0.len() as u64);
        for string in self.strings.0.iter().rev() {
            out.varint(string.len() as u64 + 1);
        }
        for string in &self.strings.0 {
            out.zero_terminated(string);
        }
        out
    }
}

/// The order of the entries of a table, and their numbers in it.
struct Order {
    order: Vec<usize>,
    numbers: Vec<u64>,
}

impl Order {
    /// Sorts entries by dialect, and within a dialect the most used ones first.
    fn new(uses: &[usize], dialect: impl Fn(usize) -> u32) -> Self {
        let mut order: Vec<usize> = (0..uses.len()).collect();
        order.sort_by_key(|&at| (dialect(at), std::cmp::Reverse(uses[at]), at));
        let mut numbers = vec![0; uses.len()];
        for (number, &at) in order.iter().enumerate() {
            numbers[at] = number as u64;
        }
        Self { order, numbers }
    }
}

/// The numbers of attributes, types and operations.
struct Numbers {
    attributes: Order,
    types: Order,
    operations: Order,
}

/// Numbers of uses.
struct Uses {
    attributes: Vec<usize>,
    types: Vec<usize>,
    operations: Vec<usize>,
}

impl Uses {
    fn count(&mut self, tokens: &[Token]) {
        for token in tokens {
            match token {
                Token::Attribute(id) | Token::Optional(Some(id)) => self.attributes[id.0 as usize] += 1,
                Token::Type(id) | Token::ArgumentType(id, _) => self.types[id.0 as usize] += 1,
                Token::Operation(id) => self.operations[id.0 as usize] += 1,
                Token::Section(inner) => self.count(inner),
                _ => {}
            }
        }
    }
}

impl Numbers {
    fn new(tables: &Tables, ir: &[Token]) -> Self {
        let mut uses = Uses {
            attributes: vec![0; tables.attributes.0.len()],
            types: vec![0; tables.types.0.len()],
            operations: vec![0; tables.operations.0.len()],
        };
        uses.count(ir);
        tables.attributes.0.iter().chain(&tables.types.0).for_each(|entry| uses.count(&entry.tokens));
        tables.properties.0.iter().for_each(|tokens| uses.count(tokens));
        Self {
            attributes: Order::new(&uses.attributes, |at| tables.attributes.0[at].dialect),
            types: Order::new(&uses.types, |at| tables.types.0[at].dialect),
            operations: Order::new(&uses.operations, |at| tables.operations.0[at].0),
        }
    }

    /// Writes attributes or types in groups by dialect: their bytes and sizes.
    fn entries(&self, entries: &[Rc<Entry>], order: &Order, offsets: &mut Sink, data: &mut Sink) {
        for group in order.order.chunk_by(|&a, &b| entries[a].dialect == entries[b].dialect) {
            offsets.varint(entries[group[0]].dialect.into());
            offsets.varint(group.len() as u64);
            for entry in group.iter().map(|&at| &entries[at]) {
                let start = data.len();
                self.emit(&entry.tokens, data);
                offsets.varint(((data.len() - start) as u64) << 1 | u64::from(entry.is_encoded));
            }
        }
    }

    fn emit(&self, tokens: &[Token], out: &mut Sink) {
        for token in tokens {
            match token {
                Token::Byte(byte) => out.byte(*byte),
                Token::Number(number) => out.varint(*number),
                Token::Signed(number) => out.signed(*number),
                Token::Attribute(id) => out.varint(self.attributes.numbers[id.0 as usize]),
                Token::Optional(None) => out.varint(0),
                Token::Optional(Some(id)) => out.varint(self.attributes.numbers[id.0 as usize] << 1 | 1),
                Token::Type(id) => out.varint(self.types.numbers[id.0 as usize]),
                Token::ArgumentType(id, has_location) => {
                    out.varint(self.types.numbers[id.0 as usize] << 1 | u64::from(*has_location));
                }
                Token::String(id) => out.varint(id.0.into()),
                Token::Operation(id) => out.varint(self.operations.numbers[id.0 as usize]),
                Token::Blob(bytes) => {
                    out.varint(bytes.len() as u64);
                    out.bytes(bytes);
                }
                Token::Text(text) => out.zero_terminated(text.as_bytes()),
                Token::Section(inner) => {
                    let mut content = Sink::default();
                    self.emit(inner, &mut content);
                    out.section(section::IR, content);
                }
            }
        }
    }
}

/// Returns the dialect of a text: the part before the first character that no name contains.
pub(super) fn dialect_of(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(text.len());
    &text[..end]
}
