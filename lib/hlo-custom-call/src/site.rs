//! What a custom call is, apart from its data: the target, the convention, the types of operands and results.
//!
//! A [`CallSite`] travels from the compiler to the runtime as the words of a descriptor.

use std::fmt;

use hlo_runtime::Error;

/// The type of an array and how its elements lie.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrayType {
    /// The element type's name in HLO text, such as `f32`.
    pub element: String,
    /// The bytes of one element in memory.
    pub element_bytes: usize,
    /// The sizes.
    pub dims: Vec<usize>,
    /// The dimensions from the fastest to the slowest varying one.
    pub minor_to_major: Vec<usize>,
}

impl ArrayType {
    /// The number of elements; the largest number if there are more.
    pub fn element_count(&self) -> usize {
        self.dims.iter().fold(1, |n: usize, &d| n.saturating_mul(d))
    }

    /// The size in bytes; the largest number if it is more.
    pub fn byte_size(&self) -> usize {
        self.element_count().saturating_mul(self.element_bytes)
    }

    /// From one element to the next of each dimension, in elements.
    pub fn strides(&self) -> Vec<usize> {
        let mut strides = vec![0; self.dims.len()];
        let mut next = 1usize;
        for &d in &self.minor_to_major {
            if let (Some(stride), Some(&size)) = (strides.get_mut(d), self.dims.get(d)) {
                *stride = next;
                next = next.saturating_mul(size.max(1));
            }
        }
        strides
    }
}

impl fmt::Display for ArrayType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |numbers: &[usize]| numbers.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
        write!(f, "{}[{}]", self.element, list(&self.dims))?;
        if self.minor_to_major.iter().rev().copied().ne(0..self.dims.len()) {
            write!(f, "{{{}}}", list(&self.minor_to_major))?;
        }
        Ok(())
    }
}

/// The type of an operand or of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueType {
    /// An array.
    Array(ArrayType),
    /// A token: it has no memory.
    Token,
    /// Several values.
    Tuple(Vec<ValueType>),
}

impl ValueType {
    /// The arrays in it, in order.
    pub fn arrays(&self) -> Vec<&ArrayType> {
        match self {
            ValueType::Array(a) => vec![a],
            ValueType::Token => Vec::new(),
            ValueType::Tuple(parts) => parts.iter().flat_map(ValueType::arrays).collect(),
        }
    }
}

impl fmt::Display for ValueType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ValueType::Array(a) => a.fmt(f),
            ValueType::Token => f.write_str("token[]"),
            ValueType::Tuple(parts) => {
                f.write_str("(")?;
                for (i, part) in parts.iter().enumerate() {
                    f.write_str(if i > 0 { ", " } else { "" })?;
                    part.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// The calling conventions of targets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i64)]
pub enum ApiVersion {
    /// `void target(void* out, const void** in)`.
    #[default]
    Original = 0,
    /// `void target(void* out, const void** in, XlaCustomCallStatus* status)`.
    StatusReturning = 1,
    /// `void target(void* out, const void** in, const char* opaque, size_t opaque_len, XlaCustomCallStatus*
    /// status)`.
    StatusReturningUnified = 2,
    /// XLA's typed FFI: attributes by name.
    TypedFfi = 3,
}

/// A custom call, apart from its data.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallSite {
    /// The target's name.
    pub target: String,
    /// The calling convention.
    pub api: ApiVersion,
    /// `backend_config`: opaque bytes, or the attributes of a typed call as a dictionary.
    pub config: Vec<u8>,
    /// The operands' types.
    pub operands: Vec<ValueType>,
    /// The result's type.
    pub result: ValueType,
    /// Arrays of the result (by number) that share memory with arrays of the operands.
    pub aliases: Vec<(usize, usize)>,
}

impl Default for ValueType {
    fn default() -> Self {
        ValueType::Tuple(Vec::new())
    }
}

/// How deep tuples nest at most.
const MAX_DEPTH: usize = 64;

impl CallSite {
    /// The arrays of all operands, in order.
    pub fn operand_arrays(&self) -> Vec<&ArrayType> {
        self.operands.iter().flat_map(ValueType::arrays).collect()
    }

    /// The arrays of the result, in order.
    pub fn result_arrays(&self) -> Vec<&ArrayType> {
        self.result.arrays()
    }

    /// The words of a descriptor.
    pub fn encode(&self) -> Vec<i64> {
        let mut words = vec![0, self.api as i64];
        put_bytes(&mut words, self.target.as_bytes());
        put_bytes(&mut words, &self.config);
        words.push(self.operands.len() as i64);
        self.operands.iter().for_each(|o| put_type(&mut words, o));
        put_type(&mut words, &self.result);
        words.push(self.aliases.len() as i64);
        for &(result, operand) in &self.aliases {
            words.extend([result as i64, operand as i64]);
        }
        words[0] = words.len() as i64;
        words
    }

    /// Reads what [`CallSite::encode`] wrote.
    ///
    /// # Safety
    /// `words` must point to as many words as the first one says.
    pub(crate) unsafe fn decode(words: *const i64) -> Result<CallSite, Error> {
        // SAFETY: the caller's promise.
        let words = unsafe { std::slice::from_raw_parts(words, usize::try_from(*words).unwrap_or(1)) };
        let mut r = Reader { words: &words[1..] };
        let api = match r.word()? {
            0 => ApiVersion::Original,
            1 => ApiVersion::StatusReturning,
            2 => ApiVersion::StatusReturningUnified,
            3 => ApiVersion::TypedFfi,
            other => return Err(Error(format!("unknown calling convention {other}"))),
        };
        let (target, config) = (r.text()?, r.bytes()?);
        let operands = (0..r.size()?).map(|_| r.value(0)).collect::<Result<_, _>>()?;
        let result = r.value(0)?;
        let aliases = (0..r.size()?).map(|_| Ok((r.size()?, r.size()?))).collect::<Result<_, Error>>()?;
        Ok(CallSite { target, api, config, operands, result, aliases })
    }
}

fn put_bytes(words: &mut Vec<i64>, bytes: &[u8]) {
    words.push(bytes.len() as i64);
    words.extend(bytes.chunks(8).map(|chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        i64::from_le_bytes(word)
    }));
}

fn put_type(words: &mut Vec<i64>, value: &ValueType) {
    match value {
        ValueType::Token => words.push(0),
        ValueType::Array(a) => {
            words.push(1);
            put_bytes(words, a.element.as_bytes());
            words.extend([a.element_bytes as i64, a.dims.len() as i64]);
            words.extend(a.dims.iter().chain(&a.minor_to_major).map(|&n| n as i64));
        }
        ValueType::Tuple(parts) => {
            words.extend([2, parts.len() as i64]);
            parts.iter().for_each(|p| put_type(words, p));
        }
    }
}

struct Reader<'a> {
    words: &'a [i64],
}

impl Reader<'_> {
    fn word(&mut self) -> Result<i64, Error> {
        let (&first, rest) = self.words.split_first().ok_or_else(damaged)?;
        self.words = rest;
        Ok(first)
    }

    fn size(&mut self) -> Result<usize, Error> {
        usize::try_from(self.word()?).map_err(|_| damaged())
    }

    fn bytes(&mut self) -> Result<Vec<u8>, Error> {
        let len = self.size()?;
        let words = self.words.get(..len.div_ceil(8)).ok_or_else(damaged)?;
        self.words = &self.words[words.len()..];
        let mut bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        bytes.truncate(len);
        Ok(bytes)
    }

    fn text(&mut self) -> Result<String, Error> {
        String::from_utf8(self.bytes()?).map_err(|_| damaged())
    }

    fn value(&mut self, depth: usize) -> Result<ValueType, Error> {
        if depth > MAX_DEPTH {
            return Err(damaged());
        }
        match self.word()? {
            0 => Ok(ValueType::Token),
            1 => {
                let (element, element_bytes, rank) = (self.text()?, self.size()?, self.size()?);
                let dims = (0..rank).map(|_| self.size()).collect::<Result<_, _>>()?;
                let minor_to_major = (0..rank).map(|_| self.size()).collect::<Result<_, _>>()?;
                Ok(ValueType::Array(ArrayType { element, element_bytes, dims, minor_to_major }))
            }
            2 => (0..self.size()?)
                .map(|_| self.value(depth + 1))
                .collect::<Result<_, _>>()
                .map(ValueType::Tuple),
            _ => Err(damaged()),
        }
    }
}

fn damaged() -> Error {
    Error("the call's description is damaged".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(element: &str, dims: &[usize], minor_to_major: &[usize]) -> ValueType {
        ValueType::Array(ArrayType {
            element: element.into(),
            element_bytes: 4,
            dims: dims.into(),
            minor_to_major: minor_to_major.into(),
        })
    }

    #[test]
    fn words_say_what_the_call_is() {
        let site = CallSite {
            target: "a target".into(),
            api: ApiVersion::StatusReturningUnified,
            config: b"some bytes".to_vec(),
            operands: vec![
                array("f32", &[2, 3], &[0, 1]),
                ValueType::Token,
                ValueType::Tuple(vec![array("s32", &[], &[]), ValueType::default()]),
            ],
            result: array("f32", &[7], &[0]),
            aliases: vec![(0, 1)],
        };
        let words = site.encode();
        // SAFETY: the words are as many as the first one says.
        assert_eq!(unsafe { CallSite::decode(words.as_ptr()) }, Ok(site.clone()));
        for cut in 2..words.len() {
            let mut words = words[..cut].to_vec();
            words[0] = cut as i64;
            // SAFETY: as above.
            assert!(unsafe { CallSite::decode(words.as_ptr()) }.is_err());
        }
        assert_eq!(site.operands[0].to_string(), "f32[2,3]{0,1}");
        assert_eq!(site.operands[2].to_string(), "(s32[], ())");
        assert_eq!(site.operand_arrays()[0].strides(), [1, 2]);
    }
}
