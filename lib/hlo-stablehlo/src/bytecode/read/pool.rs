//! The attributes and types of a file. Each is decoded once, when it is first used.

use super::cursor::Cursor;
use super::file::{Entry, File};
use crate::bytecode::fault::{Fault, Result};
use crate::tree::{Attribute, Location, MAX_DEPTH, Name, Type};
use std::sync::Arc;

/// The size of an attribute or type including those that it refers to. References may be shared, so a file of
/// some hundred bytes may encode a tree that is too large for any walk over it.
#[derive(Clone, Copy, Debug, Default)]
struct Extent {
    /// The nesting depth.
    depth: usize,
    /// The number of attributes and types, with shared ones counted at each occurrence.
    nodes: usize,
}

/// Maximum number of attributes and types in one attribute or type.
const MAX_NODES: usize = 1 << 22;

#[derive(Clone)]
enum Slot<T> {
    Unread,
    /// Decoding is in progress. A reference to the entry in this state is cyclic.
    Reading,
    Read(T, Extent),
}

/// The function that decodes an attribute or type of a dialect.
type Decode<T> = fn(&mut Decoder<'_, '_>, dialect: &str) -> Result<T>;

/// The functions that decode the attributes and types of all dialects. References between them go through the
/// pool.
#[derive(Clone, Copy)]
pub(super) struct Decoders {
    pub(super) attribute: Decode<Attribute>,
    pub(super) ty: Decode<Type>,
}

/// The attributes and types of a file.
pub(super) struct Pool<'a> {
    pub(super) file: &'a File<'a>,
    decoders: Decoders,
    attributes: Vec<Slot<Attribute>>,
    types: Vec<Slot<Type>>,
    /// The number of entries whose decoding is in progress.
    level: usize,
}

impl<'a> Pool<'a> {
    pub(super) fn new(file: &'a File<'a>, decoders: Decoders) -> Self {
        Self {
            decoders,
            attributes: vec![Slot::Unread; file.attributes.len()],
            types: vec![Slot::Unread; file.types.len()],
            level: 0,
            file,
        }
    }

    /// Returns a string of the file's table.
    pub(super) fn string(&self, number: u64) -> Result<&'a [u8]> {
        let found = usize::try_from(number).ok().and_then(|n| self.file.strings.get(n));
        found.copied().ok_or_else(|| Fault::new(format!("there is no string {number}")))
    }

    /// Returns the attribute with the given number.
    pub(super) fn attribute(&mut self, number: u64) -> Result<Attribute> {
        Ok(self.attribute_of_extent(number)?.0)
    }

    /// Returns the type with the given number.
    pub(super) fn ty(&mut self, number: u64) -> Result<Type> {
        Ok(self.type_of_extent(number)?.0)
    }

    /// Returns the location with the given number.
    pub(super) fn location(&mut self, number: u64) -> Result<Location> {
        match self.attribute(number)? {
            Attribute::Location(location) => Ok(location),
            _ => Err(Fault::new(format!("attribute {number} is no location"))),
        }
    }

    fn attribute_of_extent(&mut self, number: u64) -> Result<(Attribute, Extent)> {
        let at = index(number, self.attributes.len(), "attribute")?;
        match &self.attributes[at] {
            Slot::Read(attribute, extent) => return Ok((attribute.clone(), *extent)),
            Slot::Reading => return Err(Fault::new(format!("attribute {number} is part of itself"))),
            Slot::Unread => {}
        }
        self.attributes[at] = Slot::Reading;
        let file = self.file;
        let (attribute, extent) = self.read(&file.attributes[at], self.decoders.attribute)?;
        // Call traces may be deep. Their outer part can be cut off, because no result depends on it.
        let (attribute, extent) = match attribute {
            Attribute::Location(_) if extent.exceeds_limits() => {
                (Attribute::Location(Location::Unknown), Extent::default())
            }
            attribute => (attribute, extent.checked(&file.attributes[at])?),
        };
        self.attributes[at] = Slot::Read(attribute.clone(), extent);
        Ok((attribute, extent))
    }

    fn type_of_extent(&mut self, number: u64) -> Result<(Type, Extent)> {
        let at = index(number, self.types.len(), "type")?;
        match &self.types[at] {
            Slot::Read(ty, extent) => return Ok((ty.clone(), *extent)),
            Slot::Reading => return Err(Fault::new(format!("type {number} is part of itself"))),
            Slot::Unread => {}
        }
        self.types[at] = Slot::Reading;
        let file = self.file;
        let (ty, extent) = self.read(&file.types[at], self.decoders.ty)?;
        let extent = extent.checked(&file.types[at])?;
        self.types[at] = Slot::Read(ty.clone(), extent);
        Ok((ty, extent))
    }

    fn read<T>(&mut self, entry: &Entry<'a>, decode: Decode<T>) -> Result<(T, Extent)> {
        if self.level >= MAX_DECODING_DEPTH {
            return Err(entry.bytes.fault("attributes or types nest too deeply"));
        }
        self.level += 1;
        let mut decoder = Decoder {
            pool: self,
            cursor: entry.bytes.clone(),
            inner: Extent::default(),
            is_encoded: entry.is_encoded,
        };
        let value = decode(&mut decoder, entry.dialect)?;
        let Decoder { cursor, inner, .. } = decoder;
        self.level -= 1;
        if !cursor.is_empty() {
            return Err(cursor.fault("an attribute or type goes on after its end"));
        }
        Ok((value, Extent { depth: inner.depth + 1, nodes: inner.nodes.saturating_add(1) }))
    }
}

/// Maximum nesting depth while decoding. It is larger than the final limit because call traces, which are cut
/// off, may be deeper.
const MAX_DECODING_DEPTH: usize = 4 * MAX_DEPTH;

fn index(number: u64, len: usize, what: &str) -> Result<usize> {
    let at = usize::try_from(number).ok().filter(|&n| n < len);
    at.ok_or_else(|| Fault::new(format!("there is no {what} {number}")))
}

impl Extent {
    fn exceeds_limits(self) -> bool {
        self.depth > MAX_DEPTH || self.nodes > MAX_NODES
    }

    fn checked(self, entry: &Entry<'_>) -> Result<Self> {
        if self.exceeds_limits() {
            return Err(entry.bytes.fault("attributes or types nest too deeply"));
        }
        Ok(self)
    }
}

/// The decoder of one attribute or type.
pub(super) struct Decoder<'p, 'a> {
    pool: &'p mut Pool<'a>,
    cursor: Cursor<'a>,
    /// The extent of the attributes and types that this one refers to.
    inner: Extent,
    pub(super) is_encoded: bool,
}

impl<'a> Decoder<'_, 'a> {
    /// Creates an error at the current position.
    pub(super) fn fault(&self, message: impl Into<String>) -> Fault {
        self.cursor.fault(message)
    }

    /// Creates the error for a code that a dialect does not have.
    pub(super) fn unknown(&self, dialect: &str, what: &str, code: u64) -> Fault {
        self.fault(format!("{what} {code} of the dialect `{dialect}`, which is unknown"))
    }

    /// Reads an unsigned number.
    pub(super) fn varint(&mut self) -> Result<u64> {
        self.cursor.varint()
    }

    /// Returns the cursor over the remaining bytes.
    pub(super) fn cursor(&mut self) -> &mut Cursor<'a> {
        &mut self.cursor
    }

    /// Reads a reference to an attribute.
    pub(super) fn attribute(&mut self) -> Result<Attribute> {
        let number = self.varint()?;
        self.attribute_of(number)
    }

    /// Reads a reference to an optional attribute.
    pub(super) fn optional_attribute(&mut self) -> Result<Option<Attribute>> {
        let (number, is_there) = self.cursor.flagged()?;
        if is_there { self.attribute_of(number).map(Some) } else { Ok(None) }
    }

    fn attribute_of(&mut self, number: u64) -> Result<Attribute> {
        let (attribute, extent) = self.pool.attribute_of_extent(number)?;
        self.inner.add(extent);
        Ok(attribute)
    }

    /// Reads a list of attributes after their count.
    pub(super) fn attributes(&mut self) -> Result<Vec<Attribute>> {
        (0..self.cursor.count()?).map(|_| self.attribute()).collect()
    }

    /// Reads a reference to a type.
    pub(super) fn ty(&mut self) -> Result<Type> {
        let number = self.varint()?;
        let (ty, extent) = self.pool.type_of_extent(number)?;
        self.inner.add(extent);
        Ok(ty)
    }

    /// Reads a list of types after their count.
    pub(super) fn types(&mut self) -> Result<Vec<Type>> {
        (0..self.cursor.count()?).map(|_| self.ty()).collect()
    }

    /// Reads a reference to a location. Call traces that nest deeper than [`MAX_DECODING_DEPTH`] are cut off.
    pub(super) fn location(&mut self) -> Result<Location> {
        if self.pool.level == MAX_DECODING_DEPTH {
            self.varint()?;
            return Ok(Location::Unknown);
        }
        match self.attribute()? {
            Attribute::Location(location) => Ok(location),
            _ => Err(self.fault("a location is expected")),
        }
    }

    /// Reads a reference to a string of the file's table.
    pub(super) fn string(&mut self) -> Result<&'a [u8]> {
        let number = self.varint()?;
        self.pool.string(number)
    }

    /// Reads a string as an attribute.
    pub(super) fn string_attribute(&mut self) -> Result<Attribute> {
        Ok(Attribute::String(self.string()?.into()))
    }

    /// Reads a string attribute as a name. Bytes that are not UTF-8 are replaced.
    pub(super) fn name(&mut self) -> Result<Name> {
        match self.attribute()? {
            Attribute::String(bytes) => Ok(Name::from(&*String::from_utf8_lossy(&bytes))),
            _ => Err(self.fault("a string is expected")),
        }
    }

    /// Reads a reference to a resource and returns its data.
    pub(super) fn resource(&mut self) -> Result<&'a [u8]> {
        let number = self.varint()?;
        let found = usize::try_from(number).ok().and_then(|n| self.pool.file.resources.get(n));
        let mut content = found.ok_or_else(|| self.fault(format!("there is no resource {number}")))?.clone();
        let alignment = content.varint()?;
        let size = content.count()?;
        content.align(alignment)?;
        content.bytes(size)
    }

    /// Reads text that ends with a zero byte.
    pub(super) fn text(&mut self) -> Result<Arc<str>> {
        let bytes = self.cursor.zero_terminated()?;
        let text = std::str::from_utf8(bytes).map_err(|_| self.fault("a text is no UTF-8"))?;
        Ok(text.into())
    }
}

impl Extent {
    fn add(&mut self, inner: Self) {
        self.depth = self.depth.max(inner.depth);
        self.nodes = self.nodes.saturating_add(inner.nodes);
    }
}
