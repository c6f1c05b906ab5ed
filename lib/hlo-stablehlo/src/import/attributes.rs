//! What attributes of operations say, checked.

use super::failure::Result;
use crate::tree::{Attribute, Attributes, Operation, TypeKind, ValueId};
use hlo_ir::attr::{AttrContext, AttrError, AttrReader, AttrValue, HloString, Resolver};
use hlo_ir::{ComputationId, Dims, Literal, Shape};

/// Attributes of an operation.
impl Operation {
    /// An attribute that has to be there.
    pub(super) fn required(&self, name: &str) -> Result<&Attribute> {
        self.attribute(name).ok_or_else(|| self.failure(format!("the attribute `{name}` is missing")))
    }

    /// The value of an attribute by a reader; `None` if it is not there.
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

    /// A list of numbers.
    pub(super) fn dims(&self, name: &str) -> Result<Dims> {
        self.required(name)?;
        Ok(self.dims_if_any(name)?.unwrap_or_default())
    }

    /// A list of numbers that may be left out.
    pub(super) fn dims_if_any(&self, name: &str) -> Result<Option<Dims>> {
        self.read(name, "a list of numbers", |a| a.ints().map(Dims::from_vec))
    }

    /// A list of so many numbers; if it is left out, each is `default`.
    pub(super) fn dims_or(&self, name: &str, count: usize, default: i64) -> Result<Dims> {
        let Some(list) = self.dims_if_any(name)? else { return Ok(Dims::from_elem(default, count)) };
        match list.len() == count {
            true => Ok(list),
            false => self.fail(format!("`{name}` has {} numbers, but {count} are needed", list.len())),
        }
    }

    /// A list of pairs; if it is left out, so many of zeros.
    pub(super) fn pairs_or(&self, name: &str, count: usize) -> Result<Vec<(i64, i64)>> {
        let list = self.dims_or(name, 2 * count, 0)?;
        Ok(list.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect())
    }

    /// The rows of a matrix of numbers.
    pub(super) fn rows(&self, name: &str) -> Result<Vec<Vec<i64>>> {
        let rows = self.read(name, "a matrix of numbers", rows)?;
        rows.ok_or_else(|| self.failure(format!("the attribute `{name}` is missing")))
    }

    /// A number.
    pub(super) fn int(&self, name: &str) -> Result<i64> {
        self.required(name)?;
        self.int_or(name, 0)
    }

    /// A number that may be left out.
    pub(super) fn int_or(&self, name: &str, default: i64) -> Result<i64> {
        Ok(self.read(name, "a number", Attribute::as_int)?.unwrap_or(default))
    }

    /// A truth value; false if it is left out.
    pub(super) fn flag(&self, name: &str) -> Result<bool> {
        Ok(self.read(name, "a truth value", Attribute::as_bool)?.unwrap_or(false))
    }

    /// A text.
    pub(super) fn text(&self, name: &str) -> Result<&str> {
        self.required(name)?;
        Ok(self.read(name, "a text", Attribute::as_str)?.unwrap_or(""))
    }

    /// A text that may be left out.
    pub(super) fn bytes_or_empty(&self, name: &str) -> Result<HloString> {
        Ok(self.read(name, "a text", bytes)?.unwrap_or_default())
    }

    /// The word of an enumeration, `stablehlo.…`, as one of some words: its place among them.
    pub(super) fn word(&self, name: &str, kind: &str, words: &[&str]) -> Result<usize> {
        self.required(name)?;
        Ok(self.word_if_any(name, kind, words)?.unwrap_or(0))
    }

    /// As [`Operation::word`], of an attribute that may be left out.
    pub(super) fn word_if_any(&self, name: &str, kind: &str, words: &[&str]) -> Result<Option<usize>> {
        let Some(word) = self.read(name, &format!("a `{kind}`"), |a| a.word(kind))? else { return Ok(None) };
        match words.iter().position(|w| *w == word) {
            Some(at) => Ok(Some(at)),
            None => self.fail(format!("`{word}` is no `{name}`: one of {} is", words.join(", "))),
        }
    }

    /// The fields of a structure, `stablehlo.…`.
    pub(super) fn structure(&self, name: &str, kind: &str) -> Result<Fields<'_>> {
        self.required(name)?;
        self.structure_if_any(name, kind).map(|fields| match fields {
            Some(fields) => fields,
            None => Fields { op: self, fields: None },
        })
    }

    /// As [`Operation::structure`], of one that may be left out.
    pub(super) fn structure_if_any(&self, name: &str, kind: &str) -> Result<Option<Fields<'_>>> {
        let fields = self.read(name, &format!("a `{kind}`"), |a| a.fields(kind))?;
        Ok(fields.map(|fields| Fields { op: self, fields: Some(fields) }))
    }

    /// An operand.
    pub(super) fn operand(&self, index: usize) -> Result<ValueId> {
        let missing = || self.failure(format!("operand {index} is missing"));
        self.operands.get(index).copied().ok_or_else(missing)
    }

    /// A result.
    pub(super) fn result(&self, index: usize) -> Result<ValueId> {
        let missing = || self.failure(format!("result {index} is missing"));
        self.results.get(index).copied().ok_or_else(missing)
    }
}

/// The fields of a structure that is an attribute of an operation. Those that are left out are zero or empty.
#[derive(Clone, Copy)]
pub struct Fields<'a> {
    op: &'a Operation,
    fields: Option<&'a Attributes>,
}

impl<'a> Fields<'a> {
    /// Of a structure in a list.
    pub fn of(op: &'a Operation, attribute: &'a Attribute, kind: &str) -> Result<Self> {
        match attribute.fields(kind) {
            Some(fields) => Ok(Self { op, fields: Some(fields) }),
            None => op.fail(format!("an attribute is not a `{kind}`")),
        }
    }

    /// A field.
    pub fn get(&self, name: &str) -> Option<&'a Attribute> {
        self.fields?.get(name)
    }

    /// A list of numbers.
    pub fn dims(&self, name: &str) -> Result<Dims> {
        let Some(attribute) = self.get(name) else { return Ok(Dims::new()) };
        let wrong = || self.op.failure(format!("the field `{name}` is not a list of numbers"));
        attribute.ints().map(Dims::from_vec).ok_or_else(wrong)
    }

    /// A number.
    pub fn int(&self, name: &str) -> Result<i64> {
        let Some(attribute) = self.get(name) else { return Ok(0) };
        attribute.as_int().ok_or_else(|| self.op.failure(format!("the field `{name}` is not a number")))
    }
}

/// The rows of a matrix of numbers: of one of no columns none.
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

/// The bytes of a text.
pub fn bytes(attribute: &Attribute) -> Option<HloString> {
    match attribute {
        Attribute::String(bytes) => Some(HloString::from_bytes(&**bytes)),
        _ => None,
    }
}

/// Reads a value from HLO text that is an attribute, such as a sharding.
///
/// # Errors
/// What is wrong with it, in words.
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

/// The resolver of texts that name nothing of a module.
struct NoModule;

impl NoModule {
    fn refuse<T>() -> std::result::Result<T, AttrError> {
        Err(AttrError::says(hlo_ir::Span::default(), "it names a shape or a value".into()))
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

/// The bits of a floating-point attribute as a number of type `f32`.
pub fn as_f32(attribute: &Attribute) -> Option<f32> {
    let Attribute::Float(number) = attribute else { return None };
    match &*number.ty {
        TypeKind::Float(crate::tree::FloatType::F32) => Some(f32::from_bits(number.bits as u32)),
        TypeKind::Float(crate::tree::FloatType::F64) => Some(f64::from_bits(number.bits) as f32),
        _ => None,
    }
}

/// The bits of a floating-point attribute as a number of type `f64`.
pub fn as_f64(attribute: &Attribute) -> Option<f64> {
    let Attribute::Float(number) = attribute else { return None };
    match &*number.ty {
        TypeKind::Float(crate::tree::FloatType::F64) => Some(f64::from_bits(number.bits)),
        _ => as_f32(attribute).map(f64::from),
    }
}
