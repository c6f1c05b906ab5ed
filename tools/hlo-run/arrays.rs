//! Getting arrays, for inputs and for expected results: from files, from text, or made up. What does not fit is
//! named with what was expected and what was found.

use crate::generate::Spec;
use hlo_ir::{ArrayShape, Literal, Module, Shape, human_bytes};
use hlo_tools_common::memory::available_bytes;
use hlo_tools_common::npz::Npz;
use hlo_tools_common::{Failure, npy, open_file};
use std::io::{BufReader, Read};

/// Where arrays come from.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrays {
    /// `.npy` files with one array each, `.npz` archives with several.
    Files(Vec<String>),
    /// Literals as text; a tuple stands for its elements. With the option that they were given by.
    Texts(&'static str, Vec<String>),
    /// Made up, each by its description.
    Generated(Vec<Spec>),
}

/// A leaf of a parameter or of the result, which an array is wanted for.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// What it is, such as ``parameter 1 `x` ``.
    pub name: String,
    /// The shape.
    pub shape: Shape,
}

/// The leaves of the entry's parameters.
pub fn parameter_leaves(module: &Module) -> Vec<Leaf> {
    let parameters = module.parameters(module.entry());
    let leaves = parameters.iter().enumerate().flat_map(|(number, &p)| {
        name_leaves(&module[p].shape, &format!("parameter {number} `{}`", module[p].name))
    });
    leaves.collect()
}

/// The leaves of the entry's result.
pub fn result_leaves(module: &Module) -> Vec<Leaf> {
    name_leaves(&module[module[module.entry()].root()].shape, "result")
}

/// The leaves of a value, by the value's name and their places in it.
pub fn name_leaves(shape: &Shape, name: &str) -> Vec<Leaf> {
    match shape {
        Shape::Tuple(elements) => elements
            .iter()
            .enumerate()
            .flat_map(|(i, element)| name_leaves(element, &format!("{name}, element {i}")))
            .collect(),
        _ => vec![Leaf { name: name.to_string(), shape: shape.clone() }],
    }
}

/// Refuses arrays that memory can't hold, before any of them is made.
pub fn check_memory(leaves: &[Leaf], what: &str) -> Result<(), Failure> {
    let needed = leaves.iter().fold(0usize, |n, leaf| n.saturating_add(leaf.shape.byte_size()));
    let available = available_bytes();
    if needed <= available {
        return Ok(());
    }
    let Some(largest) = leaves.iter().max_by_key(|l| l.shape.byte_size()) else { return Ok(()) };
    Err(Failure::Message(format!(
        "the {what} take {}, {} of memory are available; the largest is {}, {} ({})",
        human_bytes(needed as u64),
        human_bytes(available as u64),
        largest.name,
        largest.shape,
        human_bytes(largest.shape.byte_size() as u64),
    )))
}

impl Arrays {
    /// The arrays for the leaves, in order. Tokens need none. `what` names them: `inputs`, `expected results`.
    pub fn load(&self, leaves: &[Leaf], what: &str) -> Result<Vec<Literal>, Failure> {
        check_memory(leaves, what)?;
        let wanted: Vec<&Leaf> = leaves.iter().filter(|l| l.shape != Shape::Token).collect();
        let arrays = match self {
            Arrays::Files(files) => from_files(files, &wanted, what)?,
            Arrays::Texts(option, texts) => from_texts(option, texts, &wanted, what)?,
            Arrays::Generated(specs) => {
                check_count(specs.len(), &wanted, what)?;
                let made = specs.iter().zip(&wanted).map(|(spec, leaf)| {
                    let shape = array_shape(leaf)?;
                    spec.generate(&shape.with_sizes(&shape.dims))
                        .ok_or_else(|| Failure::Message(format!("there is no memory for {shape}")))
                });
                made.collect::<Result<_, _>>()?
            }
        };
        let mut arrays = arrays.into_iter();
        let all = leaves.iter().map(|leaf| match leaf.shape {
            Shape::Token => Some(Literal::token()),
            _ => arrays.next(),
        });
        // The counts were checked.
        Ok(all.flatten().collect())
    }
}

fn array_shape(leaf: &Leaf) -> Result<&ArrayShape, Failure> {
    let not_array =
        || Failure::Message(format!("{} has shape {}, which no array can hold", leaf.name, leaf.shape));
    leaf.shape.as_array().ok_or_else(not_array)
}

fn check_count(found: usize, wanted: &[&Leaf], what: &str) -> Result<(), Failure> {
    if found == wanted.len() {
        return Ok(());
    }
    let what = if wanted.len() == 1 { what.strip_suffix('s').unwrap_or(what) } else { what };
    let mut message = format!("the module has {} {what}, {found} given", wanted.len());
    for leaf in wanted.iter().take(20) {
        message.push_str(&format!("\n  {}: {}", leaf.name, leaf.shape));
    }
    if wanted.len() > 20 {
        message.push_str(&format!("\n  and {} more", wanted.len() - 20));
    }
    Err(Failure::Message(message))
}

/// A place that one array is read from.
enum Place {
    Npy(String),
    Npz(usize, usize),
}

/// Open files with arrays: `.npy` files with one each, `.npz` archives with several.
pub struct ArrayFiles {
    archives: Vec<(String, Npz)>,
    places: Vec<Place>,
}

impl ArrayFiles {
    /// Opens files; the arrays come in the files' order.
    pub fn open(files: &[String]) -> Result<Self, Failure> {
        let mut opened = Self { archives: Vec::new(), places: Vec::new() };
        for name in files {
            if is_zip(name)? {
                let archive = Npz::open(name).map_err(|e| Failure::file(name, e))?;
                let number = opened.archives.len();
                opened.places.extend((0..archive.len()).map(|i| Place::Npz(number, i)));
                opened.archives.push((name.clone(), archive));
            } else {
                opened.places.push(Place::Npy(name.clone()));
            }
        }
        Ok(opened)
    }

    /// The number of arrays.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// What an array is called in messages.
    pub fn name(&self, number: usize) -> String {
        match self.places.get(number) {
            Some(Place::Npy(name)) => name.clone(),
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
            Some(Place::Npy(name)) => {
                let (file, _) = open_file(name, "an array")?;
                npy::read(&mut BufReader::new(file), shape)
            }
            Some(&Place::Npz(archive, position)) => match self.archives.get_mut(archive) {
                Some((_, npz)) => npz.read(position, shape),
                None => Err("no such archive".to_string()),
            },
            None => Err("no such array".to_string()),
        }
    }
}

fn from_files(files: &[String], wanted: &[&Leaf], what: &str) -> Result<Vec<Literal>, Failure> {
    let mut files = ArrayFiles::open(files)?;
    check_count(files.len(), wanted, what)?;
    let mut arrays = Vec::with_capacity(wanted.len());
    for (number, leaf) in wanted.iter().enumerate() {
        let array = files.read(number, array_shape(leaf)?);
        let explained = |e: String| Failure::Message(format!("{}: {}: {e}", leaf.name, files.name(number)));
        arrays.push(array.map_err(explained)?);
    }
    Ok(arrays)
}

/// True if a file begins as zip files do; its name does not matter.
fn is_zip(name: &str) -> Result<bool, Failure> {
    let (mut file, _) = open_file(name, "arrays").map_err(|e| Failure::file(name, e))?;
    let mut start = [0u8; 2];
    match file.read_exact(&mut start) {
        Ok(()) => Ok(start == *b"PK"),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(Failure::file(name, e)),
    }
}

fn from_texts(option: &str, texts: &[String], wanted: &[&Leaf], what: &str) -> Result<Vec<Literal>, Failure> {
    let mut arrays = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let literal = hlo_parser::parse_literal(text)
            .map_err(|diags| Failure::argument(&format!("{option} #{}", i + 1), text, diags))?;
        arrays.extend(literal.leaves().into_iter().cloned());
    }
    check_count(arrays.len(), wanted, what)?;
    for (array, leaf) in arrays.iter().zip(wanted) {
        if !leaf.shape.accepts(array.shape()) {
            let (found, expected) = (array.shape(), &leaf.shape);
            return Err(Failure::Message(format!("{}: {expected} is expected, {found} given", leaf.name)));
        }
    }
    Ok(arrays.into_iter().map(sized).collect())
}

/// The array under a static shape: its sizes are the ones that it has.
fn sized(array: Literal) -> Literal {
    match array.shape().as_array().filter(|a| !a.is_static()).map(|a| a.with_sizes(&a.dims)) {
        Some(shape) => array.with_shape(shape.into()),
        None => array,
    }
}
