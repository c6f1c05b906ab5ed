//! The header of a safetensors file: parses the list of tensors and checks it against the rules of the
//! format.

use super::dtype::Dtype;
use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor};
use std::collections::HashSet;
use std::fmt;
use std::ops::Range;

/// Maximum length of a header in bytes, as in the reference implementation.
const MAX_HEADER: u64 = 100_000_000;

/// The size of the length field before the header.
const LENGTH_FIELD_BYTES: usize = 8;

/// Maximum number of dimensions shown of a shape.
const MAX_SHOWN_DIMS: usize = 12;

/// Maximum number of characters shown of a name.
const MAX_SHOWN_NAME: usize = 80;

/// A tensor in the header.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor {
    /// The name. It may be any text.
    pub name: String,
    /// The element type.
    pub dtype: Dtype,
    /// The dimension sizes.
    pub dims: Vec<u64>,
    /// The byte range of its elements in the file.
    pub range: Range<usize>,
}

impl Tensor {
    /// Returns the name in backquotes, truncated if it is long.
    pub fn quoted_name(&self) -> String {
        quoted(&self.name)
    }
}

impl fmt::Display for Tensor {
    /// Prints the type and the sizes, such as `F32[2,3]`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut dims: Vec<String> = self.dims.iter().take(MAX_SHOWN_DIMS).map(u64::to_string).collect();
        if self.dims.len() > MAX_SHOWN_DIMS {
            dims.push("…".to_string());
        }
        write!(f, "{}[{}]", self.dtype, dims.join(","))
    }
}

fn quoted(name: &str) -> String {
    let shown: String = name.chars().take(MAX_SHOWN_NAME).flat_map(char::escape_debug).collect();
    format!("`{shown}{}`", if name.chars().nth(MAX_SHOWN_NAME).is_some() { "…" } else { "" })
}

/// Reads the header of a file. The tensors are in the order of their elements in the file.
///
/// # Errors
/// Returns an error in these cases:
/// - The file is truncated or longer than its tensors.
/// - The header is not a JSON object of tensors, or names a tensor twice.
/// - The type of a tensor is unknown, or its sizes do not match its number of bytes.
/// - The bytes of a tensor are outside the file or belong to another tensor.
pub fn read(file: &[u8]) -> Result<Vec<Tensor>, String> {
    let cut = |what: &str| format!("not a safetensors file: {what}");
    let Some((length, rest)) = file.split_first_chunk::<LENGTH_FIELD_BYTES>() else {
        return Err(cut("shorter than the 8 bytes of its header's length"));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER {
        return Err(cut(&format!("a header of {length} bytes, where {MAX_HEADER} are the most")));
    }
    if length > rest.len() as u64 {
        return Err(cut(&format!("a header of {length} bytes, of which the file has {}", rest.len())));
    }
    let (header, data) = rest.split_at(length as usize);
    // A copy, because a mapped file may change, and the header must remain valid UTF-8.
    let header = String::from_utf8(header.to_vec())
        .map_err(|e| format!("the header is not UTF-8, from byte {} on", e.utf8_error().valid_up_to()))?;
    if !header.starts_with('{') {
        return Err(cut("the header does not begin with `{`"));
    }
    let mut json = serde_json::Deserializer::from_str(&header);
    let entries = Entries.deserialize(&mut json).and_then(|entries| json.end().map(|()| entries));
    let entries = entries.map_err(|e| format!("the header: {e}"))?;
    tensors(entries, data.len() as u64, LENGTH_FIELD_BYTES + header.len())
}

/// Returns the tensors, after checking that each byte of the file belongs to exactly one tensor.
fn tensors(mut entries: Vec<(String, Info)>, size: u64, start: usize) -> Result<Vec<Tensor>, String> {
    entries.sort_by_key(|(_, info)| info.offsets);
    let mut tensors: Vec<Tensor> = Vec::with_capacity(entries.len());
    let mut end = 0;
    for (name, Info { dtype, dims, offsets: (from, to) }) in entries {
        // The range is set after the checks.
        let tensor = Tensor { name, dtype, dims, range: 0..0 };
        let wrong = |what: String| Err(format!("tensor {}: {what}", tensor.quoted_name()));
        if from > to || to > size {
            return wrong(format!("bytes {from} to {to} of {size}"));
        }
        let bytes = match byte_size(dtype, &tensor.dims) {
            Ok(bytes) => bytes,
            Err(what) => return wrong(format!("{tensor} {what}")),
        };
        if bytes != to - from {
            return wrong(format!("{tensor} takes {bytes} bytes, not the {} from {from} to {to}", to - from));
        }
        if from != end {
            let before = tensors.last().map(Tensor::quoted_name);
            return wrong(match before {
                Some(before) if from < end => {
                    format!("bytes {from} to {to} are those of tensor {before}, too")
                }
                _ => format!("bytes {end} to {from} before it are no tensor's"),
            });
        }
        end = to;
        // Both are at most the file's length.
        let range = start + from as usize..start + to as usize;
        tensors.push(Tensor { range, ..tensor });
    }
    if end == size {
        Ok(tensors)
    } else {
        Err(format!("bytes {end} to {size}, after the last tensor, are no tensor's"))
    }
}

/// Returns the size of a tensor in bytes, or a message if it is not valid.
fn byte_size(dtype: Dtype, dims: &[u64]) -> Result<u64, &'static str> {
    let count =
        if dims.contains(&0) { Some(0) } else { dims.iter().try_fold(1u64, |n, &size| n.checked_mul(size)) };
    let bits =
        count.and_then(|count| count.checked_mul(dtype.bits())).ok_or("has more bytes than there can be")?;
    if bits % 8 == 0 { Ok(bits / 8) } else { Err("does not end with a byte") }
}

/// The description of a tensor in the header.
struct Info {
    dtype: Dtype,
    dims: Vec<u64>,
    offsets: (u64, u64),
}

/// Deserializes the whole header: an object of tensors by their names.
struct Entries;

impl<'de> DeserializeSeed<'de> for Entries {
    type Value = Vec<(String, Info)>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Entries {
    type Value = Vec<(String, Info)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        let mut names = HashSet::new();
        while let Some(name) = map.next_key::<String>()? {
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format!("tensor {} is there twice", quoted(&name))));
            }
            if name == "__metadata__" {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let info = map.next_value_seed(InfoSeed);
            let info = info.map_err(|e| A::Error::custom(format!("tensor {}: {e}", quoted(&name))))?;
            entries.push((name, info));
        }
        Ok(entries)
    }
}

/// Deserializes the description of a tensor: an object of `dtype`, `shape` and `data_offsets`.
struct InfoSeed;

impl<'de> DeserializeSeed<'de> for InfoSeed {
    type Value = Info;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Info, D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InfoSeed {
    type Value = Info;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object of `dtype`, `shape` and `data_offsets`")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Info, A::Error> {
        let (mut dtype, mut dims, mut offsets) = (None, None, None);
        while let Some(key) = map.next_key::<String>()? {
            let first = match key.as_str() {
                "dtype" => {
                    let name = map.next_value::<String>()?;
                    let known = Dtype::from_name(&name).ok_or_else(|| {
                        let known = Dtype::names().join(", ");
                        A::Error::custom(format!("dtype {} is none of {known}", quoted(&name)))
                    })?;
                    dtype.replace(known).is_none()
                }
                "shape" => dims.replace(map.next_value::<Vec<u64>>()?).is_none(),
                "data_offsets" => offsets.replace(map.next_value::<(u64, u64)>()?).is_none(),
                // Ignore other keys, as the reference implementation does.
                _ => map.next_value::<IgnoredAny>().map(|_| true)?,
            };
            if !first {
                return Err(A::Error::custom(format!("`{key}` is there twice")));
            }
        }
        let missing = |key| A::Error::custom(format!("`{key}` is missing"));
        Ok(Info {
            dtype: dtype.ok_or_else(|| missing("dtype"))?,
            dims: dims.ok_or_else(|| missing("shape"))?,
            offsets: offsets.ok_or_else(|| missing("data_offsets"))?,
        })
    }
}
