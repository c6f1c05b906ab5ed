//! The interface of a program: one buffer for each leaf of its parameters and of its result.

use super::Target;
use super::names::identifiers;
use crate::executable::ARENA_ALIGNMENT;
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, InstrId, Module, Packing, Shape};
use hlo_plan::Plan;

/// One buffer of the interface.
#[derive(Clone, Debug)]
pub struct Leaf {
    /// The name, an identifier in C and Rust.
    pub name: String,
    /// A description for a comment: "parameter `x`, part 0".
    pub about: String,
    /// The shape with its layout, or `None` for a token, whose buffer is never accessed.
    pub array: Option<ArrayShape>,
    /// The size in bytes.
    pub bytes: u64,
}

impl Leaf {
    /// Returns the number of elements in memory.
    pub fn elements(&self) -> u64 {
        self.array.as_ref().map_or(0, |a| self.bytes / a.element_type.byte_size() as u64)
    }
}

/// A program's interface.
#[derive(Clone, Debug)]
pub struct Interface {
    /// The name of the entry.
    pub name: String,
    /// The name of the HLO module.
    pub module: String,
    /// The input buffers, in the order of the entry's structure.
    pub parameters: Vec<Leaf>,
    /// The output buffers.
    pub results: Vec<Leaf>,
    /// The size of the arena in bytes: a multiple of its alignment.
    pub arena_bytes: u64,
    /// The machine that the program was compiled for.
    pub target: Target,
    /// The runtime functions that the program calls.
    pub runtime: Vec<String>,
    /// The functions of the C library and the mathematical library that the program calls.
    pub library: Vec<String>,
}

impl Interface {
    /// Creates the interface of the program compiled from `prepared`, which the compiler's passes produced
    /// from `given`.
    ///
    /// # Errors
    /// A layout packs several elements into a byte.
    pub(super) fn new(
        name: &str,
        given: &Module,
        prepared: &Module,
        plan: &Plan,
        target: &Target,
    ) -> Result<Self, Vec<Diag>> {
        let (mut parameters, mut results) =
            (parameters(given, prepared, plan), results(given, prepared, plan));
        let errors = [&parameters, &results].into_iter().flatten().filter_map(refusal);
        let errors: Vec<Diag> = errors.collect();
        if !errors.is_empty() {
            return Err(errors);
        }
        let leaves = || parameters.iter().chain(&results).map(|(_, leaf)| leaf.name.as_str());
        let mut names = identifiers(leaves(), &["arena", "alignment"]).into_iter();
        for (_, leaf) in parameters.iter_mut().chain(&mut results) {
            leaf.name = names.next().unwrap_or_default();
        }
        let leaves = |list: Vec<Named>| list.into_iter().map(|(_, leaf)| leaf).collect();
        Ok(Self {
            name: name.to_string(),
            module: given.name.to_string(),
            parameters: leaves(parameters),
            results: leaves(results),
            arena_bytes: plan.arena_bytes.next_multiple_of(ARENA_ALIGNMENT as u64),
            target: target.clone(),
            runtime: Vec::new(),
            library: Vec::new(),
        })
    }

    /// Returns whether the program calls functions that need a context.
    pub fn takes_context(&self) -> bool {
        self.runtime.iter().any(|f| f == super::RUN_SYMBOL)
    }

    /// Returns the libraries that the object must be linked with, as arguments of a C compiler.
    pub fn libraries(&self) -> Vec<&'static str> {
        let mut libraries = Vec::new();
        if !self.runtime.is_empty() {
            libraries.push("libhlo_runtime.a");
        }
        if self.takes_context() {
            libraries.extend(["-lpthread", "-ldl"]);
        }
        if !self.runtime.is_empty() || self.library.iter().any(|f| !is_in_libc(f)) {
            libraries.push("-lm");
        }
        libraries
    }
}

/// Returns whether a function is in a library that a C compiler links by default: the C library or the
/// compiler's own.
fn is_in_libc(function: &str) -> bool {
    function.starts_with("mem") || function.starts_with("__")
}

/// A leaf, and the module and instruction that it belongs to.
type Named<'m> = ((&'m Module, InstrId), Leaf);

/// Returns an error if a leaf cannot be a buffer.
fn refusal(((module, instruction), leaf): &Named<'_>) -> Option<Diag> {
    let array = leaf.array.as_ref()?;
    Packing::of(array)?;
    let shape = Shape::Array(array.clone());
    let message = format!(
        "{} of an ahead-of-time program is {}, several elements in a byte: these programs take one byte an element; \
         leave `E({})` out of the layout",
        leaf.about,
        shape.with_layouts(),
        array.element_size_bits()
    );
    Some(Diag::error(message).at(module.span(*instruction), "this value"))
}

/// Returns the leaves of a shape, each with its path.
fn paths(shape: &Shape) -> Vec<(Vec<usize>, &Shape)> {
    match shape.as_tuple() {
        None => vec![(Vec::new(), shape)],
        Some(parts) => {
            let part = |(i, part)| {
                let below = paths(part).into_iter();
                below.map(move |(path, leaf)| (std::iter::once(i).chain(path).collect(), leaf))
            };
            parts.iter().enumerate().flat_map(part).collect()
        }
    }
}

fn leaf(name: &str, what: &str, path: &[usize], shape: &Shape, bytes: u64) -> Leaf {
    let mut leaf =
        Leaf { name: name.to_string(), about: what.to_string(), array: shape.as_array().cloned(), bytes };
    if !path.is_empty() {
        let path: Vec<String> = path.iter().map(usize::to_string).collect();
        leaf.name = format!("{name}_{}", path.join("_"));
        leaf.about = format!("{what}, part {{{}}}", path.join(","));
    }
    leaf
}

/// Returns the leaves of the parameters, followed by the sizes of dynamic dimensions in the order of the
/// leaves.
fn parameters<'m>(given: &'m Module, prepared: &Module, plan: &Plan) -> Vec<Named<'m>> {
    let (placed, _) = prepared.entry_shapes();
    let placed: Vec<&Shape> = placed.into_iter().flat_map(Shape::leaves).collect();
    let mut sizes = Vec::new();
    let mut out = Vec::new();
    for id in given.parameters(given.entry()) {
        let (name, what) = (&given[id].name, format!("parameter `{}`", given[id].name));
        for (path, declared) in paths(&given[id].shape) {
            let Some(&shape) = placed.get(out.len()) else { continue };
            let bytes = plan.param_bytes.get(out.len()).copied().unwrap_or(0);
            let leaf = leaf(name, &what, &path, shape, bytes);
            for (_, d) in declared.dynamic_dimensions() {
                sizes.push((id, size_of(&leaf, d)));
            }
            out.push(((given, id), padded(leaf, declared)));
        }
    }
    for (id, (name, about)) in sizes {
        let bytes = plan.param_bytes.get(out.len()).copied().unwrap_or(0);
        let array = placed.get(out.len()).and_then(|s| s.as_array()).cloned();
        out.push(((given, id), Leaf { name, about, array, bytes }));
    }
    out
}

/// Returns the leaves of the result, followed by the sizes of dynamic dimensions and a flag: whether all
/// sizes were consistent.
fn results<'m>(given: &'m Module, prepared: &Module, plan: &Plan) -> Vec<Named<'m>> {
    let root = given[given.entry()].root();
    let (_, result) = prepared.entry_shapes();
    let placed = result.leaves();
    let mut sizes = Vec::new();
    let mut out = Vec::new();
    for (path, declared) in paths(&given[root].shape) {
        let Some(&shape) = placed.get(out.len()) else { continue };
        let bytes = plan.output_bytes.get(out.len()).copied().unwrap_or(0);
        let leaf = leaf("result", "the result", &path, shape, bytes);
        sizes.extend(declared.dynamic_dimensions().into_iter().map(|(_, d)| size_of(&leaf, d)));
        out.push(((given, root), padded(leaf, declared)));
    }
    while let Some(&shape) = placed.get(out.len()) {
        let bytes = plan.output_bytes.get(out.len()).copied().unwrap_or(0);
        let number = out.len() - given[root].shape.leaf_count();
        let (name, about) = sizes.get(number).cloned().unwrap_or_else(|| {
            ("sizes_fit".into(), "0 if sizes that are known only at run time did not match".into())
        });
        out.push(((given, root), Leaf { name, about, array: shape.as_array().cloned(), bytes }));
    }
    out
}

/// Returns the name of the size of a leaf's dimension, and a description of it.
fn size_of(leaf: &Leaf, d: usize) -> (String, String) {
    (format!("{}_size{d}", leaf.name), format!("the size of dimension {d} of {}", leaf.about))
}

fn padded(mut leaf: Leaf, declared: &Shape) -> Leaf {
    if declared.is_dynamic() {
        leaf.about += &format!(", {declared}: the values are the first elements of the padded array");
    }
    leaf
}

/// Returns the names of an element type in C and Rust.
pub(super) fn element_names(element: ElementType) -> (&'static str, &'static str) {
    use ElementType as E;
    match element {
        E::F64 => ("double", "f64"),
        E::F32 => ("float", "f32"),
        E::C64 => ("hlo_c64", "[f32; 2]"),
        E::C128 => ("hlo_c128", "[f64; 2]"),
        E::F16 | E::Bf16 => ("uint16_t", "u16"),
        other => match (other.byte_size(), other.is_signed_integer()) {
            (1, true) => ("int8_t", "i8"),
            (2, true) => ("int16_t", "i16"),
            (4, true) => ("int32_t", "i32"),
            (_, true) => ("int64_t", "i64"),
            (1, false) => ("uint8_t", "u8"),
            (2, false) => ("uint16_t", "u16"),
            (4, false) => ("uint32_t", "u32"),
            (_, false) => ("uint64_t", "u64"),
        },
    }
}

/// Returns a note for users on an element type that C does not have.
pub(super) fn element_note(element: ElementType) -> &'static str {
    use ElementType as E;
    match element {
        E::F64 | E::F32 | E::C64 | E::C128 => "",
        E::Pred => "0 or 1",
        E::F16 | E::Bf16 => "bits",
        other if other.is_integer() && other.bit_width() < 8 => "one byte per element",
        other if other.is_integer() => "",
        other if other.bit_width() < 8 => "bits, one byte per element",
        _ => "bits",
    }
}
