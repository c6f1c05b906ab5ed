//! Operations, and the regions and blocks that contain them.

use super::cursor::Cursor;
use super::dialects;
use super::file::{File, OperationName};
use super::pool::{Decoders, Pool};
use super::values::Values;
use crate::Tree;
use crate::bytecode::fault::{Fault, Result};
use crate::bytecode::layout::{has, section};
use crate::bytecode::vhlo::Meaning;
use crate::dialect::{self, OperationInfo};
use crate::tree::{
    Attribute, Attributes, Block, Location, MAX_DEPTH, Name, Operation, Region, Type, ValueId,
};
use std::rc::Rc;

/// Reads the operations of a file.
pub(super) fn read(file: &File<'_>) -> Result<Tree> {
    let mut reader = Reader {
        pool: Pool::new(file, Decoders { attribute: dialects::attribute, ty: dialects::ty }),
        kinds: vec![None; file.operations.len()],
        tree: Tree::new(),
        values: Values::new(file.len),
        depth: 0,
    };
    let mut cursor = file.ir.clone();
    let mut block = reader.block(&mut cursor, "")?;
    if !cursor.is_empty() {
        return Err(cursor.fault("the operations go on after their end"));
    }
    match block.operations.pop() {
        Some(module) if module.name == "builtin.module" && block.operations.is_empty() => {
            let mut tree = reader.tree;
            tree.module = module;
            Ok(tree)
        }
        _ => Err(Fault::new("the bytecode holds something else than one `builtin.module`")),
    }
}

/// The information that all operations of a name share.
struct Kind {
    name: Name,
    /// The encoding of the properties.
    properties: Properties,
    /// The meaning of a VHLO operation.
    meaning: Option<Meaning>,
}

/// The encoding of an operation's properties.
enum Properties {
    /// A dictionary. The writer did not know the operation.
    Dictionary,
    /// Attributes with these names, all of them present.
    Required(Vec<Name>),
    /// Attributes with these names. The number of an optional attribute carries a flag.
    Inherent(&'static OperationInfo),
    /// Unknown.
    Unknown,
}

struct Reader<'f> {
    pool: Pool<'f>,
    kinds: Vec<Option<Rc<Kind>>>,
    tree: Tree,
    values: Values,
    depth: usize,
}

impl<'f> Reader<'f> {
    /// Reads a block: the number of operations, the arguments, and the operations.
    fn block(&mut self, cursor: &mut Cursor<'f>, parent: &str) -> Result<Block> {
        let (count, has_arguments) = cursor.flagged()?;
        let count = cursor.checked_count(count)?;
        let mut block = Block::default();
        if has_arguments {
            block.arguments = self.block_arguments(cursor)?;
            if self.pool.file.version >= 3 && cursor.byte()? != 0 {
                skip_use_orders(cursor, block.arguments.len())?;
            }
        }
        for _ in 0..count {
            if let Some(operation) = self.operation(cursor, parent)? {
                block.operations.push(operation);
            }
        }
        Ok(block)
    }

    fn block_arguments(&mut self, cursor: &mut Cursor<'f>) -> Result<Vec<ValueId>> {
        let count = cursor.count()?;
        let mut arguments = Vec::with_capacity(count);
        for _ in 0..count {
            let (number, has_location) =
                if self.pool.file.version >= 4 { cursor.flagged()? } else { (cursor.varint()?, true) };
            let ty = self.pool.ty(number)?;
            let location = if has_location { Some(cursor.varint()?) } else { None };
            let value = self.values.define(&mut self.tree, ty)?;
            if let Some(number) = location {
                let location = self.pool.location(number)?;
                self.tree.set_location(value, location);
            }
            arguments.push(value);
        }
        Ok(arguments)
    }

    /// Reads an operation. Returns `None` if its results are only other names of its operands.
    fn operation(&mut self, cursor: &mut Cursor<'f>, parent: &str) -> Result<Option<Operation>> {
        let at = cursor.position();
        let kind = self.kind(cursor)?;
        let mut location = Location::Unknown;
        self.content(cursor, &kind, parent, &mut location).map_err(|fault| {
            let place = place(&location).map_or(String::new(), |place| format!(" from {place}"));
            fault.note(format!("in `{}`{place}, at byte {at}", kind.name))
        })
    }

    /// Reads the parts of an operation that follow its name.
    fn content(
        &mut self,
        cursor: &mut Cursor<'f>,
        kind: &Kind,
        parent: &str,
        location: &mut Location,
    ) -> Result<Option<Operation>> {
        let mask = cursor.byte()?;
        let number = cursor.varint()?;
        *location = self.pool.location(number)?;
        let mut discardable = None;
        if mask & has::ATTRIBUTES != 0 {
            discardable = match self.pool.attribute(cursor.varint()?)? {
                Attribute::Dictionary(attributes) => Some(attributes),
                _ => return Err(cursor.fault("the attributes of an operation are no dictionary")),
            };
        }
        let mut attributes = Vec::new();
        if mask & has::PROPERTIES != 0 {
            let number = cursor.varint()?;
            self.properties(kind, number, &mut attributes)?;
        }
        attributes.extend(
            discardable.iter().flat_map(|d| d.iter()).map(|(name, value)| (name.clone(), value.clone())),
        );
        let mut types = Vec::new();
        if mask & has::RESULTS != 0 {
            types =
                (0..cursor.count()?).map(|_| self.pool.ty(cursor.varint()?)).collect::<Result<Vec<_>>>()?;
        }
        let mut operands = Vec::new();
        if mask & has::OPERANDS != 0 {
            operands = (0..cursor.count()?)
                .map(|_| self.values.get(&mut self.tree, cursor.varint()?))
                .collect::<Result<Vec<_>>>()?;
        }
        if mask & has::SUCCESSORS != 0 {
            return Err(cursor.fault("jumps between blocks, which StableHLO has not"));
        }
        if self.pool.file.version >= 3 && mask & has::USE_ORDERS != 0 {
            skip_use_orders(cursor, types.len())?;
        }
        if kind.name == "builtin.unrealized_conversion_cast" && self.is_alias(&operands, &types) {
            for operand in operands {
                self.values.define_as(operand)?;
            }
            return Ok(None);
        }
        let results =
            types.into_iter().map(|ty| self.values.define(&mut self.tree, ty)).collect::<Result<Vec<_>>>()?;
        let (name, attributes) = match &kind.meaning {
            Some(meaning) => (meaning.name(parent), meaning.attributes(attributes)?),
            None => (kind.name.clone(), attributes.into_iter().collect::<Attributes>()),
        };
        let regions = if mask & has::REGIONS != 0 { self.regions(cursor, &name)? } else { Vec::new() };
        let location = location.clone();
        Ok(Some(Operation {
            name,
            operands,
            results,
            attributes,
            regions,
            location,
            span: Default::default(),
        }))
    }

    /// Reads an operation's number and returns what is known of such operations.
    fn kind(&mut self, cursor: &mut Cursor<'f>) -> Result<Rc<Kind>> {
        let number = cursor.varint()?;
        let at = usize::try_from(number).ok().filter(|&n| n < self.kinds.len());
        let Some(at) = at else { return Err(cursor.fault(format!("there is no operation {number}"))) };
        if let Some(kind) = &self.kinds[at] {
            return Ok(Rc::clone(kind));
        }
        let kind = Kind::new(self.pool.file.operations[at])
            .map_err(|fault| fault.note(format!("in the name of operation {number}")))?;
        let kind = Rc::new(kind);
        self.kinds[at] = Some(Rc::clone(&kind));
        Ok(kind)
    }

    /// Reads the inherent attributes of an operation from the property entry with the given number.
    fn properties(&mut self, kind: &Kind, number: u64, out: &mut Vec<(Name, Attribute)>) -> Result<()> {
        let found = usize::try_from(number).ok().and_then(|n| self.pool.file.properties.get(n));
        let Some(cursor) = found else { return Err(Fault::new(format!("there are no properties {number}"))) };
        let mut cursor = cursor.clone();
        match &kind.properties {
            Properties::Dictionary => match self.pool.attribute(cursor.varint()?)? {
                Attribute::Dictionary(all) => out.extend(all.iter().map(|(n, v)| (n.clone(), v.clone()))),
                _ => return Err(cursor.fault("the properties of an operation are no dictionary")),
            },
            Properties::Required(names) => {
                out.reserve(names.len() + 1);
                for name in names {
                    out.push((name.clone(), self.pool.attribute(cursor.varint()?)?));
                }
            }
            Properties::Inherent(info) => self.inherent(info, &mut cursor, out)?,
            Properties::Unknown => {
                return Err(Fault::new(format!("the properties of `{}` are not known", kind.name)));
            }
        }
        if !cursor.is_empty() {
            return Err(cursor.fault("the properties of an operation go on after their end"));
        }
        Ok(())
    }

    fn inherent(
        &mut self,
        info: &'static OperationInfo,
        cursor: &mut Cursor<'f>,
        out: &mut Vec<(Name, Attribute)>,
    ) -> Result<()> {
        // A writer from before the introduction of an attribute leaves no slot for it.
        let mut rest = cursor.clone();
        let mut count = 0;
        while !rest.is_empty() {
            rest.varint()?;
            count += 1;
        }
        let is_older = count + info.attributes.iter().filter(|a| a.is_later).count() == info.attributes.len();
        for inherent in info.attributes.iter().filter(|a| !(is_older && a.is_later)) {
            if inherent.is_optional {
                if let (number, true) = cursor.flagged()? {
                    out.push((inherent.name.into(), self.pool.attribute(number)?));
                }
            } else {
                out.push((inherent.name.into(), self.pool.attribute(cursor.varint()?)?));
            }
        }
        Ok(())
    }

    /// Reads the regions of an operation: their number, whether they are isolated from the values above, and
    /// the regions.
    fn regions(&mut self, cursor: &mut Cursor<'f>, name: &Name) -> Result<Vec<Region>> {
        let (count, is_isolated) = cursor.flagged()?;
        let mut inner;
        // Isolated regions are stored in a section, so that readers can skip them.
        let cursor = if is_isolated && self.pool.file.version >= 2 {
            inner = cursor.expect_section(section::IR as u8)?;
            &mut inner
        } else {
            cursor
        };
        let count = cursor.checked_count(count)?;
        if self.depth == MAX_DEPTH {
            return Err(cursor.fault("regions nest too deeply"));
        }
        self.depth += 1;
        if is_isolated {
            self.values.begin_isolated();
        }
        let regions = (0..count).map(|_| self.region(cursor, name)).collect::<Result<Vec<_>>>()?;
        if is_isolated {
            self.values.end_isolated();
        }
        self.depth -= 1;
        Ok(regions)
    }

    /// Reads a region: the number of blocks, the number of values, and the blocks.
    fn region(&mut self, cursor: &mut Cursor<'f>, parent: &Name) -> Result<Region> {
        let count = cursor.count()?;
        let mut region = Region::default();
        if count == 0 {
            return Ok(region);
        }
        let values = cursor.count()?;
        self.values.begin_region(values)?;
        for _ in 0..count {
            region.blocks.push(self.block(cursor, parent)?);
        }
        self.values.end_region(values)?;
        Ok(region)
    }

    /// Checks whether a cast between dialects is redundant: both sides have the same types in the tree.
    fn is_alias(&self, operands: &[ValueId], types: &[Type]) -> bool {
        operands.len() == types.len()
            && operands.iter().zip(types).all(|(&value, ty)| self.tree.type_of(value) == ty)
            && self.values.are_unused(types.len())
    }
}

impl Kind {
    fn new(name: OperationName<'_>) -> Result<Self> {
        let OperationName { dialect, name, is_registered } = name;
        let full = format!("{dialect}.{name}");
        if dialect == "vhlo" {
            let Some((info, versioned)) = dialect::vhlo_operation(name) else {
                return Err(Fault::new(format!(
                    "`{full}`, which StableHLO {} has not",
                    dialect::Version::CURRENT
                )));
            };
            return Ok(Self {
                name: full.into(),
                properties: Properties::Required(versioned.attributes.iter().map(|&a| a.into()).collect()),
                meaning: Some(Meaning::new(info, versioned)),
            });
        }
        let properties = match dialect::operation(&full) {
            _ if !is_registered => Properties::Dictionary,
            Some(info) => Properties::Inherent(info),
            None => Properties::Unknown,
        };
        Ok(Self { name: full.into(), properties, meaning: None })
    }
}

/// Skips the order in which a value's users are listed. It has no meaning here.
fn skip_use_orders(cursor: &mut Cursor<'_>, values: usize) -> Result<()> {
    let count = if values > 1 { cursor.count()? } else { 1 };
    for _ in 0..count {
        if values > 1 {
            cursor.varint()?;
        }
        let (uses, _) = cursor.flagged()?;
        for _ in 0..cursor.checked_count(uses)? {
            cursor.varint()?;
        }
    }
    Ok(())
}

/// Returns the position that a location contains, for error messages.
fn place(location: &Location) -> Option<String> {
    match location {
        Location::Unknown => None,
        Location::File(range) => Some(format!("{}:{}:{}", range.file, range.line, range.column)),
        Location::Named(name, inner) => place(inner).or_else(|| Some(name.to_string())),
        Location::CallSite { callee, .. } => place(callee),
        Location::Fused(parts, _) => parts.iter().find_map(place),
    }
}
