//! Readers of operation attributes that check the kind of the value.

use super::failure::Result;
use crate::tree::{Attribute, Attributes, Operation, TypeKind, ValueId};
use hlo_ir::attr::{AttrContext, AttrError, AttrReader, AttrValue, HloString, Resolver};
use hlo_ir::{ComputationId, Dims, Literal, Shape};

/// Access to the attributes of an operation.
impl Operation {
    /// Returns a required attribute.
    pub(super) fn required(&self, name: &str) -> Result<&Attribute> {
        self.attribute(name).ok_or_else(|| self.failure(format!("the attribute `{name}` is missing")))
    }

    /// Reads an attribute with the given reader. Returns `None` if the attribute is absent.
    fn read<'a, T>(
        &'a self,
        name: &str,
        what: &str,
        read: impl FnOnce(&'a Attribute) -> Option<T>,
    ) -> Result<Option<T>> {
        let Some(attribute) = self.attribute(name) else { return Ok(None) };
        let wrong = || self.failure(format!("the attribute `{name}` is not {what}"));
        read(attribute).map(Some).ok_or_else(wrong)
    }

    /// Reads a required list of numbers.
    pub(super) fn dims(&self, name: &str) -> Result<Dims> {
        self.required(name)?;
        Ok(self.dims_if_any(name)?.unwrap_or_default())
    }

    /// Reads an optional list of numbers.
    pub(super) fn dims_if_any(&self, name: &str) -> Result<Option<Dims>> {
        self.read(name, "a list of numbers", |a| a.ints().map(Dims::from_vec))
    }

    /// Reads an optional list of `count` numbers. The default for each is `default`.
    pub(super) fn dims_or(&self, name: &str, count: usize, default: i64) -> Result<Dims> {
        let Some(list) = self.dims_if_any(name)? else { return Ok(Dims::from_elem(default, count)) };
        if list.len() == count {
            Ok(list)
        } else {
            self.fail(format!("`{name}` has {} numbers, but {count} are needed", list.len()))
        }
    }

    /// Reads an optional list of `count` pairs. The default is zeros.
    pub(super) fn pairs_or(&self, name: &str, count: usize) -> Result<Vec<(i64, i64)>> {
        let list = self.dims_or(name, 2 * count, 0)?;
        Ok(list.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    /// Reads the rows of a required matrix of numbers.
    pub(super) fn rows(&self, name: &str) -> Result<Vec<Vec<i64>>> {
        let rows = self.read(name, "a matrix of numbers", rows)?;
        rows.ok_or_else(|| self.failure(format!("the attribute `{name}` is missing")))
    }

    /// Reads a required number.
    pub(super) fn int(&self, name: &str) -> Result<i64> {
        self.required(name)?;
        self.int_or(name, 0)
    }

    /// Reads an optional number.
    pub(super) fn int_or(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.read(name, "a number", Attribute::as_int)?.unwrap_or(default))
    }

    /// Reads an optional Boolean. The default is false.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.read(name, "a truth value", Attribute::as_bool)?.unwrap_or(false))
    }

    /// Reads a required string.
    pub(super) fn text(&self, name: &str) -> Result<&str> {
        self.required(name)?;
        Ok(self.read(name, "a text", Attribute::as_str)?.unwrap_or(""))
    }

    /// Reads an optional string as bytes. The default is empty.
    pub(super) fn bytes_or_empty(&self, name: &str) -> Result<HloString> {
        Ok(self.read(name, "a text", bytes)?.unwrap_or_default())
    }

    /// Reads a required word of an enumeration `stablehlo.…`. Returns its index in `words`.
    pub(super) fn word(&self, name: &str, kind: &str, words: &[&str]) -> Result<usize> {
        self.required(name)?;
        Ok(self.optional_word(name, kind, words)?.unwrap_or(0))
    }

    /// Reads an optional word of an enumeration, as [`Operation::word`] does.
    pub(super) fn optional_word(&self, name: &str, kind: &str, words: &[&str]) -> Result<Option<usize>> {
        let Some(word) = self.read(name, &format!("a `{kind}`"), |a| a.word(kind))? else { return Ok(None) };
        match words.iter().position(|w| *w == word) {
            Some(at) => Ok(Some(at)),
            None => self.fail(format!("`{word}` is no `{name}`: one of {} is", words.join(", "))),
        }
    }

    /// Returns the fields of a required structure `stablehlo.…`.
    pub(super) fn structure(&self, name: &str, kind: &str) -> Result<Fields<'_>> {
        self.required(name)?;
        self.structure_if_any(name, kind).map(|fields| match fields {
            Some(fields) => fields,
            None => Fields { op: self, fields: None },
        })
    }

    /// Returns the fields of an optional structure.
    pub(super) fn structure_if_any(&self, name: &str, kind: &str) -> Result<Option<Fields<'_>>> {
        let fields = self.read(name, &format!("a `{kind}`"), |a| a.fields(kind))?;
        Ok(fields.map(|fields| Fields { op: self, fields: Some(fields) }))
    }

    /// Returns an operand.
    pub(super) fn operand(&self, index: usize) -> Result<ValueId> {
        let missing = || self.failure(format!("operand {index} is missing"));
        self.operands.get(index).copied().ok_or_else(missing)
    }

    /// Returns a result.
    pub(super) fn result(&self, index: usize) -> Result<ValueId> {
        let missing = || self.failure(format!("result {index} is missing"));
        self.results.get(index).copied().ok_or_else(missing)
    }
}

/// The fields of a structure that is an attribute of an operation. Absent fields are zero or empty.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    op: &'a Operation,
    fields: Option<&'a Attributes>,
}

impl<'a> Fields<'a> {
    /// Returns the fields of a structure in a list.
    pub fn of(op: &'a Operation, attribute: &'a Attribute, kind: &str) -> Result<Self> {
        match attribute.fields(kind) {
            Some(fields) => Ok(Self { op, fields: Some(fields) }),
            None => op.fail(format!("an attribute is not a `{kind}`")),
        }
    }

    /// Returns a field.
    pub fn get(&self, name: &str) -> Option<&'a Attribute> {
        self.fields?.get(name)
    }

    /// Reads a list of numbers.
    pub fn dims(&self, name: &str) -> Result<Dims> {
        let Some(attribute) = self.get(name) else { return Ok(Dims::new()) };
        let wrong = || self.op.failure(format!("the field `{name}` is not a list of numbers"));
        attribute.ints().map(Dims::from_vec).ok_or_else(wrong)
    }

    /// Reads a number.
    pub fn int(&self, name: &str) -> Result<i64> {
        let Some(attribute) = self.get(name) else { return Ok(0) };
        attribute.as_int().ok_or_else(|| self.op.failure(format!("the field `{name}` is not a number")))
    }
}

/// Returns the rows of a matrix of numbers. A matrix without columns has no rows here.
fn rows(attribute: &Attribute) -> Option<Vec<Vec<i64>>> {
    match attribute {
        Attribute::Elements(elements) => {
            let [count, length] = *elements.ty.as_tensor()?.dims else { return None };
            let (count, length) = (usize::try_from(count).ok()?, usize::try_from(length).ok()?);
            let all = elements.ints()?;
            match length {
                0 => Some(vec![Vec::new(); count.min(all.len())]),
                _ => Some(all.chunks_exact(length).map(<[i64]>::to_vec).collect()),
            }
        }
        Attribute::Array(items) => items.iter().map(Attribute::ints).collect(),
        _ => None,
    }
}

/// Returns the bytes of a string attribute.
pub fn bytes(attribute: &Attribute) -> Option<HloString> {
    match attribute {
        Attribute::String(bytes) => Some(HloString::from_bytes(&**bytes)),
        _ => None,
    }
}

/// Parses an attribute value in HLO text, such as a sharding.
///
/// # Errors
/// A message about the syntax error.
pub fn from_text<A: AttrValue>(text: &str) -> std::result::Result<A, String> {
    let mut reader = AttrReader::with_context(text, 0, AttrContext { resolver: &NoModule, inline: &[] });
    let wrong = |e: AttrError| match e.diag {
        Some(diag) => diag.message,
        None if e.found.is_empty() => e.expected,
        None => format!("expected {}, found {}", e.expected, e.found),
    };
    let value = A::read(&mut reader).map_err(wrong)?;
    match reader.remaining() {
        "" => Ok(value),
        rest => Err(format!("`{}` follows it", rest.chars().take(20).collect::<String>())),
    }
}

/// A resolver for texts that do not refer to a module.
struct NoModule;

impl NoModule {
    fn refuse<T>() -> std::result::Result<T, AttrError> {
        Err(AttrError::with_message(hlo_ir::Span::default(), "it names a shape or a value".into()))
    }
}

impl Resolver for NoModule {
    fn computation(&self, _: &str) -> Option<ComputationId> {
        None
    }

    fn shape(&self, _: &str, _: usize) -> std::result::Result<(Shape, usize), AttrError> {
        Self::refuse()
    }

    fn literal(&self, _: &str, _: usize) -> std::result::Result<(Literal, usize), AttrError> {
        Self::refuse()
    }

    fn check_module(&self, _: &str) -> std::result::Result<(), String> {
        Err("it is not looked at".into())
    }
}

/// Returns the value of a floating-point attribute as an `f32`.
pub fn as_f32(attribute: &Attribute) -> Option<f32> {
    let Attribute::Float(number) = attribute else { return None };
    match &*number.ty {
        TypeKind::Float(crate::tree::FloatType::F32) => Some(f32::from_bits(number.bits as u32)),
        TypeKind::Float(crate::tree::FloatType::F64) => Some(f64::from_bits(number.bits) as f32),
        _ => None,
    }
}

/// Returns the value of a floating-point attribute as an `f64`.
pub fn as_f64(attribute: &Attribute) -> Option<f64> {
    let Attribute::Float(number) = attribute else { return None };
    match &*number.ty {
        TypeKind::Float(crate::tree::FloatType::F64) => Some(f64::from_bits(number.bits)),
        _ => as_f32(attribute).map(f64::from),
    }
}
