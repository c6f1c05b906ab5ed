//! The structure of an MLIR bytecode file: its sections and the tables in them.

use super::cursor::Cursor;
use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::layout::{MAGIC, section};

/// A file, split into its tables. Attributes, types and operations are decoded later, when they are used.
pub(super) struct File<'a> {
    /// The size of the file in bytes.
    pub(super) len: usize,
    /// The version of the bytecode.
    pub(super) version: u64,
    /// The strings.
    pub(super) strings: Vec<&'a [u8]>,
    /// The names of operations.
    pub(super) operations: Vec<OperationName<'a>>,
    /// The encoded attributes.
    pub(super) attributes: Vec<Entry<'a>>,
    /// The encoded types.
    pub(super) types: Vec<Entry<'a>>,
    /// The resources of dialects, in the order in which attributes number them: an alignment, a size, and
    /// data.
    pub(super) resources: Vec<Cursor<'a>>,
    /// The properties of operations.
    pub(super) properties: Vec<Cursor<'a>>,
    /// The operations.
    pub(super) ir: Cursor<'a>,
}

/// The name of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct OperationName<'a> {
    /// The dialect.
    pub(super) dialect: &'a str,
    /// The name within the dialect.
    pub(super) name: &'a str,
    /// Whether the writer knew the operation. If so, its properties have the encoding of its dialect.
    pub(super) is_registered: bool,
}

/// An attribute or a type.
#[derive(Clone, Debug)]
pub(super) struct Entry<'a> {
    /// The dialect of the attribute or type.
    pub(super) dialect: &'a str,
    /// Whether the dialect encoded it. Otherwise it is text.
    pub(super) is_encoded: bool,
    /// The encoded bytes.
    pub(super) bytes: Cursor<'a>,
}

/// The sections of a file.
type Sections<'a> = [Option<Cursor<'a>>; section::COUNT];

impl<'a> File<'a> {
    /// Splits a file into its tables.
    pub(super) fn parse(bytes: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(bytes);
        if cursor.len() < MAGIC.len() || cursor.bytes(MAGIC.len())? != MAGIC {
            return Err(Fault::new("this is no MLIR bytecode: that begins with `ML\\xefR`"));
        }
        let version = cursor.varint()?;
        if version > 6 {
            return Err(Fault::new(format!("bytecode of version {version}: up to version 6 is known")));
        }
        cursor.zero_terminated()?;
        let sections = sections(cursor)?;
        let strings = strings(required(&sections, section::STRING, "strings")?)?;
        let (dialects, operations) =
            dialects(version, &strings, required(&sections, section::DIALECT, "dialects")?)?;
        let (attributes, types) = entries(
            &dialects,
            required(&sections, section::ATTRIBUTE_OFFSET, "offsets of attributes and types")?,
            required(&sections, section::ATTRIBUTE, "attributes and types")?,
        )?;
        let resources = match (&sections[section::RESOURCE], &sections[section::RESOURCE_OFFSET]) {
            (Some(data), Some(offsets)) => resources(offsets.clone(), data.clone())?,
            (None, None) => Vec::new(),
            _ => {
                return Err(Fault::new("a file has resources without offsets, or offsets without resources"));
            }
        };
        let properties = match &sections[section::PROPERTIES] {
            Some(data) => properties(data.clone())?,
            None => Vec::new(),
        };
        let ir = required(&sections, section::IR, "operations")?;
        let len = bytes.len();
        Ok(Self { len, version, strings, operations, attributes, types, resources, properties, ir })
    }
}

/// Reads the sections, by number.
fn sections(mut cursor: Cursor<'_>) -> Result<Sections<'_>> {
    let mut found = Sections::default();
    while !cursor.is_empty() {
        let at = cursor.position();
        let (id, content) = cursor.section()?;
        match found.get_mut(usize::from(id)) {
            None => return Err(Fault::at(at, format!("section {id}, which is unknown"))),
            Some(Some(_)) => return Err(Fault::at(at, format!("section {id} is there twice"))),
            Some(place) => *place = Some(content),
        }
    }
    Ok(found)
}

fn required<'a>(sections: &Sections<'a>, id: usize, what: &str) -> Result<Cursor<'a>> {
    sections[id].clone().ok_or_else(|| Fault::new(format!("the bytecode has no section of {what}")))
}

/// Reads the strings. The section contains their lengths from the last to the first, and then their bytes.
fn strings(mut cursor: Cursor<'_>) -> Result<Vec<&[u8]>> {
    let count = cursor.count()?;
    let mut lengths = Vec::with_capacity(count);
    for _ in 0..count {
        match cursor.count()? {
            0 => return Err(cursor.fault("a string without a zero at its end")),
            length => lengths.push(length),
        }
    }
    let mut strings = Vec::with_capacity(count);
    for length in lengths.into_iter().rev() {
        strings.push(&cursor.bytes(length)?[..length - 1]);
    }
    Ok(strings)
}

/// Returns the string with the given number. Errors have the position of the cursor.
fn name<'a>(strings: &[&'a [u8]], cursor: &Cursor<'_>, number: u64) -> Result<&'a str> {
    let bytes = usize::try_from(number).ok().and_then(|n| strings.get(n));
    let bytes = bytes.ok_or_else(|| cursor.fault(format!("there is no string {number}")))?;
    std::str::from_utf8(bytes).map_err(|_| cursor.fault(format!("string {number}, a name, is no UTF-8")))
}

/// Reads a dialect's number and returns the dialect.
fn dialect<'a>(dialects: &[&'a str], cursor: &mut Cursor<'_>) -> Result<&'a str> {
    let number = cursor.varint()?;
    let found = usize::try_from(number).ok().and_then(|n| dialects.get(n));
    found.copied().ok_or_else(|| cursor.fault(format!("there is no dialect {number}")))
}

/// Reads the names of dialects and operations.
fn dialects<'a>(
    version: u64,
    strings: &[&'a [u8]],
    mut cursor: Cursor<'a>,
) -> Result<(Vec<&'a str>, Vec<OperationName<'a>>)> {
    let count = cursor.count()?;
    let mut dialects = Vec::with_capacity(count);
    for _ in 0..count {
        // Since version 1 a dialect may state its version. StableHLO programs do not need it.
        let (number, is_versioned) = if version >= 1 { cursor.flagged()? } else { (cursor.varint()?, false) };
        dialects.push(name(strings, &cursor, number)?);
        if is_versioned {
            cursor.expect_section(section::DIALECT_VERSIONS as u8)?;
        }
    }
    let mut operations = Vec::new();
    if version >= 4 {
        // The number of operations. The loop below does not need it.
        cursor.varint()?;
    }
    while !cursor.is_empty() {
        let dialect = dialect(&dialects, &mut cursor)?;
        for _ in 0..cursor.count()? {
            let (number, is_registered) =
                if version >= 5 { cursor.flagged()? } else { (cursor.varint()?, true) };
            let name = name(strings, &cursor, number)?;
            operations.push(OperationName { dialect, name, is_registered });
        }
    }
    Ok((dialects, operations))
}

/// Reads the tables of attributes and types. They are grouped by dialect. For each entry the table contains
/// its size and whether the dialect encoded it.
fn entries<'a>(
    dialects: &[&'a str],
    mut offsets: Cursor<'a>,
    mut data: Cursor<'a>,
) -> Result<(Vec<Entry<'a>>, Vec<Entry<'a>>)> {
    let counts = [offsets.count()?, offsets.count()?];
    let [attributes, types] = counts.map(|count| -> Result<Vec<Entry<'a>>> {
        let mut entries = Vec::new();
        while entries.len() < count {
            let dialect = dialect(dialects, &mut offsets)?;
            let group = offsets.count()?;
            if group > count - entries.len() {
                return Err(offsets.fault("a dialect has more attributes or types than there are"));
            }
            for _ in 0..group {
                let (size, is_encoded) = offsets.flagged()?;
                let size = data.checked_count(size)?;
                entries.push(Entry { dialect, is_encoded, bytes: data.part(size)? });
            }
        }
        Ok(entries)
    });
    Ok((attributes?, types?))
}

/// Reads the resources of dialects, and skips other resources.
fn resources<'a>(mut offsets: Cursor<'a>, mut data: Cursor<'a>) -> Result<Vec<Cursor<'a>>> {
    let mut resources = Vec::new();
    let external = offsets.count()?;
    let mut group = 0;
    while !offsets.is_empty() {
        // The owner of the resources: a name or a dialect. Attributes refer to resources by number, so the
        // key is skipped.
        offsets.varint()?;
        for _ in 0..offsets.count()? {
            offsets.varint()?;
            let size = offsets.varint()?;
            offsets.byte()?;
            let size = data.checked_count(size)?;
            let content = data.part(size)?;
            if group >= external {
                resources.push(content);
            }
        }
        group += 1;
    }
    Ok(resources)
}

/// Reads the properties of operations, each after its size.
fn properties(mut cursor: Cursor<'_>) -> Result<Vec<Cursor<'_>>> {
    let count = cursor.count()?;
    let mut properties = Vec::new();
    for _ in 0..count {
        let size = cursor.count()?;
        properties.push(cursor.part(size)?);
    }
    Ok(properties)
}
