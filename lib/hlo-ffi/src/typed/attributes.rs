//! Attributes in the memory layout that handlers read.

use std::any::Any;
use std::ffi::{c_int, c_void};
use std::ptr::null_mut;

use half::{bf16, f16};

use super::abi::{self, Array, Attrs, Scalar, Span};
use super::api::span;
use hlo_custom_call::{Attribute, Attributes};
use hlo_runtime_core::Error;

/// The memory that frames point to. It does not move until the arena is dropped.
#[derive(Default)]
pub(super) struct Arena(Vec<Box<dyn Any + Send + Sync>>);

/// Values that may contain pointers into the arena that owns them.
struct ArenaValues<T> {
    _values: Vec<T>,
}

// SAFETY: the contents of an arena are not written after they are added.
unsafe impl<T> Send for ArenaValues<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for ArenaValues<T> {}

impl Arena {
    /// Stores a list, and returns the address of its first element.
    pub(super) fn list<T: 'static>(&mut self, values: Vec<T>) -> *const T {
        let address = values.as_ptr();
        self.0.push(Box::new(ArenaValues { _values: values }));
        address
    }

    fn one<T: 'static>(&mut self, value: T) -> *const T {
        self.list(vec![value])
    }

    fn text(&mut self, text: &str) -> Span {
        let kept: *const u8 = self.list(text.as_bytes().to_vec());
        Span { text: kept.cast(), ..span(text) }
    }

    /// Stores the attributes of a call.
    pub(super) fn attributes(&mut self, attributes: &Attributes) -> Result<Attrs, Error> {
        self.dictionary(attributes.entries())
    }

    fn dictionary(&mut self, entries: &[(String, Attribute)]) -> Result<Attrs, Error> {
        let mut sorted: Vec<&(String, Attribute)> = entries.iter().collect();
        sorted.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
        let (mut kinds, mut names, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (name, attribute) in sorted {
            let (kind, value) = self.attribute(attribute).map_err(|e| Error(format!("`{name}`: {e}")))?;
            let name = self.text(name);
            kinds.push(kind);
            names.push(self.one(name));
            values.push(value);
        }
        let count = kinds.len() as i64;
        let (kinds, names, values) = (self.list(kinds), self.list(names), self.list(values));
        Ok(Attrs { struct_size: size_of::<Attrs>(), extensions: null_mut(), count, kinds, names, values })
    }

    fn attribute(&mut self, attribute: &Attribute) -> Result<(c_int, *const c_void), Error> {
        Ok(match attribute {
            Attribute::Text(text) => {
                let text = self.text(text);
                (abi::STRING, self.one(text).cast())
            }
            Attribute::Dictionary(entries) => {
                let dictionary = self.dictionary(entries)?;
                (abi::DICTIONARY, self.one(dictionary).cast())
            }
            Attribute::Array(ty, numbers) => {
                let mut bytes = Vec::new();
                for number in numbers {
                    bytes.extend(scalar(number, ty)?);
                }
                // Words, so that the numbers are aligned.
                let data: *const u64 = self.list(words(&bytes));
                let array = Array { element: element(ty)?, count: numbers.len(), data: data.cast() };
                (abi::ARRAY, self.one(array).cast())
            }
            Attribute::List(_) => return Err(Error("lists of attributes can't be passed".into())),
            Attribute::Bool(_) | Attribute::Integer(..) | Attribute::Float(..) => {
                let ty = match attribute {
                    Attribute::Integer(_, ty) | Attribute::Float(_, ty) => ty,
                    _ => "pred",
                };
                let value: *const u64 = self.list(words(&scalar(attribute, ty)?));
                (abi::SCALAR, self.one(Scalar { element: element(ty)?, value: value.cast() }).cast())
            }
        })
    }
}

fn element(ty: &str) -> Result<c_int, Error> {
    abi::element_number(ty).ok_or_else(|| Error(format!("numbers of type {ty} can't be passed")))
}

/// Returns the bytes of a number with element type `ty`.
fn scalar(number: &Attribute, ty: &str) -> Result<Vec<u8>, Error> {
    let wrong = || Error(format!("this is no number of type {ty}"));
    match number {
        Attribute::Bool(value) if ty == "pred" => Ok(vec![u8::from(*value)]),
        Attribute::Integer(value, _) => {
            let bytes = match ty {
                "pred" | "s8" | "u8" => 1,
                "s16" | "u16" => 2,
                "s32" | "u32" => 4,
                "s64" | "u64" => 8,
                _ => return scalar(&Attribute::Float(*value as f64, "f64"), ty),
            };
            Ok(value.to_le_bytes()[..bytes].to_vec())
        }
        Attribute::Float(value, _) => match ty {
            "f16" => Ok(f16::from_f64(*value).to_ne_bytes().to_vec()),
            "bf16" => Ok(bf16::from_f64(*value).to_ne_bytes().to_vec()),
            "f32" => Ok((*value as f32).to_ne_bytes().to_vec()),
            "f64" => Ok(value.to_ne_bytes().to_vec()),
            _ => Err(wrong()),
        },
        _ => Err(wrong()),
    }
}

fn words(bytes: &[u8]) -> Vec<u64> {
    let word = |chunk: &[u8]| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        u64::from_ne_bytes(word)
    };
    bytes.chunks(8).map(word).collect()
}
