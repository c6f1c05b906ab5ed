//! Files with arrays: `.npy` files with one array, `.npz` archives with several, which are used in order, and
//! safetensors files, whose tensors are assigned by name.

use crate::leaves::{Leaf, Loaded, array_shape, check_count, listed};
use hlo_ir::{ArrayShape, Literal};
use hlo_tools_common::language::GivenArray;
use hlo_tools_common::mapped::FileBytes;
use hlo_tools_common::npz::Npz;
use hlo_tools_common::safetensors::{Safetensors, Tensor};
use hlo_tools_common::{Failure, npy};
use std::collections::HashMap;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Npy,
    Npz,
    Safetensors,
}

impl Kind {
    /// Detects the format from the first bytes of a file. The file name only matters if they are not
    /// recognized.
    fn of(name: &str, start: &[u8]) -> Option<Self> {
        if start.starts_with(b"PK") {
            Some(Kind::Npz)
        } else if start.starts_with(b"\x93NUMPY") {
            Some(Kind::Npy)
        } else if Safetensors::is_start(start) || name.ends_with(".safetensors") {
            Some(Kind::Safetensors)
        } else {
            None
        }
    }
}

/// The location of one array.
enum Place {
    Npy(String, FileBytes),
    Npz(usize, usize),
}

/// Open files with arrays.
pub struct ArrayFiles {
    archives: Vec<(String, Npz)>,
    places: Vec<Place>,
    tensors: Vec<(String, Safetensors)>,
}

impl ArrayFiles {
    /// Opens files whose arrays are used in order.
    pub fn in_order(files: &[String]) -> Result<Self, Failure> {
        let opened = Self::open(files)?;
        match opened.tensors.first() {
            Some((name, _)) => {
                let message =
                    "tensors of a safetensors file have names, not an order: .npy or .npz is expected";
                Err(Failure::file(name, message))
            }
            None => Ok(opened),
        }
    }

    /// Opens files. Arrays without names are in the order of the files.
    fn open(files: &[String]) -> Result<Self, Failure> {
        let mut opened = Self { archives: Vec::new(), places: Vec::new(), tensors: Vec::new() };
        for name in files {
            let failed = |e: String| Failure::file(name, e);
            let is_known = |start: &[u8]| Kind::of(name, start).is_some();
            let file = FileBytes::open(name, "arrays", is_known).map_err(failed)?;
            match Kind::of(name, &file) {
                Some(Kind::Npz) => {
                    let archive = Npz::new(file).map_err(failed)?;
                    let number = opened.archives.len();
                    opened.places.extend((0..archive.len()).map(|i| Place::Npz(number, i)));
                    opened.archives.push((name.clone(), archive));
                }
                Some(Kind::Safetensors) => {
                    opened.tensors.push((name.clone(), Safetensors::new(file).map_err(failed)?));
                }
                Some(Kind::Npy) | None => opened.places.push(Place::Npy(name.clone(), file)),
            }
        }
        Ok(opened)
    }

    /// Returns the number of arrays without names.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the name of an array for messages.
    pub fn name(&self, number: usize) -> String {
        match self.places.get(number) {
            Some(Place::Npy(name, _)) => name.clone(),
            Some(&Place::Npz(archive, position)) => self
                .archives
                .get(archive)
                .map_or_else(String::new, |(name, npz)| format!("{name}, array `{}`", npz.name(position))),
            None => String::new(),
        }
    }

    /// Reads an array, which must have the given shape.
    pub fn read(&mut self, number: usize, shape: &ArrayShape) -> Result<Literal, String> {
        match self.places.get(number) {
            Some(Place::Npy(_, file)) => npy::read_mapped(file, 0..file.len(), shape),
            Some(&Place::Npz(archive, position)) => match self.archives.get_mut(archive) {
                Some((_, npz)) => npz.read(position, shape),
                None => Err("no such archive".to_string()),
            },
            None => Err("no such array".to_string()),
        }
    }

    /// Reads the header of an array.
    fn header(&mut self, number: usize) -> Result<npy::Header, String> {
        match self.places.get(number) {
            Some(Place::Npy(_, file)) => npy::Header::read(&mut &file[..]),
            Some(&Place::Npz(archive, position)) => match self.archives.get_mut(archive) {
                Some((_, npz)) => npz.header(position),
                None => Err("no such archive".to_string()),
            },
            None => Err("no such array".to_string()),
        }
    }

    /// Returns the shape of an array, and the value of an integer scalar.
    fn given(&mut self, number: usize) -> Result<GivenArray, String> {
        let header = self.header(number)?;
        let (shape, is_raw) = header.shape().ok_or_else(|| format!("HLO has no arrays of {header}"))?;
        let is_scalar = shape.rank() == 0;
        let scalar = if is_scalar { GivenArray::of(&self.read(number, &shape)?) } else { None };
        Ok(GivenArray { shape, is_raw, value: scalar.and_then(|scalar| scalar.value) })
    }

    /// Reads an array for a leaf.
    fn read_for(&mut self, number: usize, leaf: &Leaf) -> Result<Literal, Failure> {
        let read = self.read(number, array_shape(leaf)?);
        read.map_err(|e| Failure::Message(format!("{}: {}: {e}", leaf.name, self.name(number))))
    }

    /// Returns the tensor with the name of each leaf, and the tensors whose names match no leaf.
    fn tensors_for<'a>(&'a self, wanted: &[&Leaf]) -> Result<Named<'a>, Failure> {
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        for (position, leaf) in wanted.iter().enumerate() {
            if let Some(other) = by_name.insert(&leaf.tensor, position)
                && !self.tensors.is_empty()
            {
                let (one, other) = (&wanted[other].name, &leaf.name);
                let name = &leaf.tensor;
                return Err(Failure::Message(format!(
                    "a tensor `{name}` would be for {one} and for {other}"
                )));
            }
        }
        let mut found: Vec<Option<Found<'a>>> = vec![None; wanted.len()];
        let mut unused = Vec::new();
        for (file, tensors) in &self.tensors {
            for tensor in tensors.tensors() {
                let this = Found { file, tensors, tensor };
                let Some(&position) = by_name.get(tensor.name.as_str()) else {
                    unused.push(this);
                    continue;
                };
                if let Some(first) = found[position].replace(this) {
                    let message = format!("tensor {} is in {}, too", tensor.quoted_name(), first.file);
                    return Err(Failure::file(file, message));
                }
            }
        }
        Ok(Named { found, unused })
    }
}

/// A tensor and the file that contains it.
#[derive(Clone, Copy)]
struct Found<'a> {
    file: &'a str,
    tensors: &'a Safetensors,
    tensor: &'a Tensor,
}

impl Found<'_> {
    fn read(self, leaf: &Leaf) -> Result<Literal, Failure> {
        let name = self.tensor.quoted_name();
        let explained =
            |e: String| Failure::Message(format!("{}: {}, tensor {name}: {e}", leaf.name, self.file));
        self.tensors.read(self.tensor, array_shape(leaf)?).map_err(explained)
    }
}

/// The tensors assigned to leaves.
struct Named<'a> {
    found: Vec<Option<Found<'a>>>,
    /// Tensors whose names match no leaf.
    unused: Vec<Found<'a>>,
}

/// Loads the arrays for leaves from files. Tensors are assigned by name. The arrays of the other files are
/// assigned in order to the remaining leaves.
pub fn load(files: &[String], wanted: &[&Leaf], what: &str) -> Result<Loaded, Failure> {
    let mut files = ArrayFiles::open(files)?;
    if files.tensors.is_empty() {
        check_count(files.len(), wanted, what)?;
    }
    let named = files.tensors_for(wanted)?;
    let without = named.found.iter().filter(|f| f.is_none()).count();
    if without != files.len() {
        return Err(Failure::Message(misfit(&files, &named, wanted, what)));
    }
    let mut arrays = Vec::with_capacity(wanted.len());
    for (found, leaf) in named.found.iter().zip(wanted) {
        arrays.push(found.map(|found| found.read(leaf)).transpose()?);
    }
    let unused = (!named.unused.is_empty()).then(|| {
        let names = listed(named.unused.iter().map(|f| format!("{}, {}", f.file, f.tensor.quoted_name())));
        format!("tensors that are none of the module's {what}: {}{names}", named.unused.len())
    });
    let mut numbers = 0..files.len();
    let mut filled = Vec::with_capacity(wanted.len());
    for (array, leaf) in arrays.into_iter().zip(wanted) {
        // The number of arrays equals the number of leaves without a tensor.
        filled.extend(match array {
            Some(array) => Some(array),
            None => numbers.next().map(|number| files.read_for(number, leaf)).transpose()?,
        });
    }
    Ok(Loaded { arrays: filled, unused })
}

/// Returns the shapes of the arrays of files, in order.
pub fn given(files: &[String]) -> Result<Vec<GivenArray>, Failure> {
    let mut files = ArrayFiles::in_order(files)?;
    let mut arrays = Vec::with_capacity(files.len());
    for number in 0..files.len() {
        let given = files.given(number);
        arrays.push(given.map_err(|e| Failure::file(&files.name(number), e))?);
    }
    Ok(arrays)
}

/// Returns the message for a number of arrays that differs from the number of leaves without a tensor. It
/// lists both.
fn misfit(files: &ArrayFiles, named: &Named<'_>, wanted: &[&Leaf], what: &str) -> String {
    let without: Vec<&Leaf> =
        wanted.iter().zip(&named.found).filter(|(_, f)| f.is_none()).map(|(leaf, _)| *leaf).collect();
    let leaf = |leaf: &&Leaf| format!("{}: {}, tensor `{}`", leaf.name, leaf.shape, leaf.tensor);
    let mut message = match without.len() {
        0 => format!("all {} {what} are tensors; other arrays that are given: {}", wanted.len(), files.len()),
        n => format!("of {} {what}, no tensors are given for {n}", wanted.len()),
    };
    message.push_str(&listed(without.iter().map(leaf)));
    if !without.is_empty() && files.len() > 0 {
        message.push_str(&format!("\nother arrays that are given for these: {}", files.len()));
    }
    if !named.unused.is_empty() {
        let unused = named.unused.iter();
        let unused = unused.map(|f| format!("{}: {}, {}", f.tensor.quoted_name(), f.tensor, f.file));
        message.push_str(&format!("\ntensors of other names: {}{}", named.unused.len(), listed(unused)));
    } else if !without.is_empty() {
        message.push_str("\nthere are no tensors of other names");
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_files() {
        assert_eq!(Kind::of("a.safetensors", b"PK\x03\x04"), Some(Kind::Npz));
        assert_eq!(Kind::of("a", b"\x93NUMPY\x01\0"), Some(Kind::Npy));
        assert_eq!(Kind::of("a", b"\x40\0\0\0\0\0\0\0{\"x\""), Some(Kind::Safetensors));
        assert_eq!(Kind::of("a.safetensors", b""), Some(Kind::Safetensors));
        assert_eq!(Kind::of("a.npy", b"text"), None);
    }
}
