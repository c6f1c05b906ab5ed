//! Loads arrays for inputs and expected results from files or text, or generates them. Errors say what was
//! expected and what was found.

use crate::array_files;
use crate::generate::Spec;
use crate::leaves::{Leaf, Loaded, array_shape, check_count, check_memory};
use hlo_ir::{Literal, Shape};
use hlo_tools_common::Failure;
use hlo_tools_common::language::GivenArray;

/// The source of arrays.
#[derive(Clone, Debug, PartialEq)]
pub enum Arrays {
    /// `.npy` files with one array each, `.npz` archives with several, and safetensors files with named
    /// tensors.
    Files(Vec<String>),
    /// Literals as text, with the option that contains them. A tuple stands for its elements.
    Texts(&'static str, Vec<String>),
    /// Generated arrays, each from its specification.
    Generated(Vec<Spec>),
    /// The arrays stored with a program, with tuples flattened.
    Kept(Vec<Literal>),
    /// The files of each device.
    OfDevices(Vec<Vec<String>>),
}

impl Arrays {
    /// Returns the arrays of one of several devices.
    pub fn for_device(&self, device: usize) -> Self {
        match self {
            Arrays::OfDevices(files) => Arrays::Files(files.get(device).cloned().unwrap_or_default()),
            other => other.clone(),
        }
    }

    /// Returns the shapes of the arrays, if they are known without the program.
    pub fn given(&self) -> Result<Vec<GivenArray>, Failure> {
        match self {
            Arrays::Files(files) => array_files::given(files),
            Arrays::Texts(option, texts) => {
                Ok(literals(option, texts)?.iter().filter_map(GivenArray::of).collect())
            }
            Arrays::Generated(_) | Arrays::Kept(_) | Arrays::OfDevices(_) => Ok(Vec::new()),
        }
    }

    /// Returns the arrays for the leaves, in order. Tokens need none. `what` is the plural for messages:
    /// `inputs`, `expected results`.
    pub fn load(&self, leaves: &[Leaf], what: &str) -> Result<Loaded, Failure> {
        check_memory(leaves, what)?;
        let wanted: Vec<&Leaf> = leaves.iter().filter(|l| l.shape != Shape::Token).collect();
        let mut unused = None;
        let arrays = match self {
            Arrays::Files(files) => {
                let loaded = array_files::load(files, &wanted, what)?;
                unused = loaded.unused;
                loaded.arrays
            }
            Arrays::OfDevices(files) => {
                let devices = files.len();
                let message = format!("the {what} are those of {devices} devices, the module runs on one");
                return Err(Failure::Message(message));
            }
            Arrays::Texts(option, texts) => from_texts(option, texts, &wanted, what)?,
            Arrays::Kept(arrays) => fitting(arrays.clone(), &wanted, what)?,
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
        Ok(Loaded { arrays: all.flatten().collect(), unused })
    }
}

fn from_texts(option: &str, texts: &[String], wanted: &[&Leaf], what: &str) -> Result<Vec<Literal>, Failure> {
    fitting(literals(option, texts)?, wanted, what)
}

/// Parses literals and returns their arrays. Tuples are flattened.
fn literals(option: &str, texts: &[String]) -> Result<Vec<Literal>, Failure> {
    let mut arrays = Vec::new();
    for (i, text) in texts.iter().enumerate() {
        let literal = hlo_parser::parse_literal(text)
            .map_err(|diags| Failure::argument(&format!("{option} #{}", i + 1), text, diags))?;
        arrays.extend(literal.leaves().into_iter().cloned());
    }
    Ok(arrays)
}

/// Checks that the arrays have the shapes of the leaves.
fn fitting(arrays: Vec<Literal>, wanted: &[&Leaf], what: &str) -> Result<Vec<Literal>, Failure> {
    check_count(arrays.len(), wanted, what)?;
    for (array, leaf) in arrays.iter().zip(wanted) {
        if !leaf.shape.accepts(array.shape()) {
            let (found, expected) = (array.shape(), &leaf.shape);
            return Err(Failure::Message(format!("{}: {expected} is expected, {found} given", leaf.name)));
        }
    }
    Ok(arrays.into_iter().map(sized).collect())
}

/// Returns the array with a static shape of its actual sizes.
fn sized(array: Literal) -> Literal {
    match array.shape().as_array().filter(|a| !a.is_static()).map(|a| a.with_sizes(&a.dims)) {
        Some(shape) => array.with_shape(shape.into()),
        None => array,
    }
}
