//! Loads arrays for inputs and expected results from files or text, or generates them. Errors say what was
//! expected and what was found.

use crate::array_files::{self, listed};
use crate::generate::Spec;
use hlo_ir::{ArrayShape, Literal, Module, Shape, human_bytes};
use hlo_tools_common::Failure;
use hlo_tools_common::language::GivenArray;
use hlo_tools_common::memory::available_bytes;

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

/// A leaf of a parameter or of the result, which requires an array.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// Its name in messages, such as ``parameter 1 `x` ``.
    pub name: String,
    /// The name of a tensor for it: that of the parameter, with a suffix such as `.0` for elements of tuples,
    /// or a name such as `out_0`.
    pub tensor: String,
    /// The shape.
    pub shape: Shape,
}

/// The arrays for all leaves.
pub struct Loaded {
    /// An array for each leaf.
    pub arrays: Vec<Literal>,
    /// A message about tensors in files whose names match no leaf, if there are any.
    pub unused: Option<String>,
}

/// Returns the leaves of the entry's parameters.
pub fn parameter_leaves(module: &Module) -> Vec<Leaf> {
    let parameters = module.parameters(module.entry());
    let leaves = parameters.iter().enumerate().flat_map(|(number, &p)| {
        let name = &module[p].name;
        leaves_of(&module[p].shape, &format!("parameter {number} `{name}`"), name)
    });
    leaves.collect()
}

/// Returns the leaves of the entry's result.
pub fn result_leaves(module: &Module) -> Vec<Leaf> {
    name_leaves(&module[module[module.entry()].root()].shape, "result")
}

/// Returns the leaves of a value. Their names consist of the name of the value and their positions in it.
pub fn name_leaves(shape: &Shape, name: &str) -> Vec<Leaf> {
    let mut leaves = leaves_of(shape, name, "");
    for (number, leaf) in leaves.iter_mut().enumerate() {
        leaf.tensor = format!("{RESULT_NAME}_{number}");
    }
    leaves
}

/// The name of results in files.
pub const RESULT_NAME: &str = "out";

fn leaves_of(shape: &Shape, name: &str, tensor: &str) -> Vec<Leaf> {
    match shape {
        Shape::Tuple(elements) => elements
            .iter()
            .enumerate()
            .flat_map(|(i, element)| {
                leaves_of(element, &format!("{name}, element {i}"), &format!("{tensor}.{i}"))
            })
            .collect(),
        _ => vec![Leaf { name: name.to_string(), tensor: tensor.to_string(), shape: shape.clone() }],
    }
}

/// Reports an error if memory cannot hold the arrays, before any of them is created.
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

/// Returns the shape of a leaf, which must be an array.
pub fn array_shape(leaf: &Leaf) -> Result<&ArrayShape, Failure> {
    let not_array =
        || Failure::Message(format!("{} has shape {}, which no array can hold", leaf.name, leaf.shape));
    leaf.shape.as_array().ok_or_else(not_array)
}

/// Reports an error if the number of arrays is wrong.
pub fn check_count(found: usize, wanted: &[&Leaf], what: &str) -> Result<(), Failure> {
    if found == wanted.len() {
        return Ok(());
    }
    let what = if wanted.len() == 1 { what.strip_suffix('s').unwrap_or(what) } else { what };
    let shown = listed(wanted.iter().map(|leaf| format!("{}: {}", leaf.name, leaf.shape)));
    Err(Failure::Message(format!("the module has {} {what}, {found} given{shown}", wanted.len())))
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
