//! Compiled programs, which the caller's executables refer to.

use crate::buffer::relaid;
use crate::element;
use crate::engines::{Calls, Engines, is_partitioned_by_caller};
use crate::fault::{Fault, Result};
use crate::layouts::Order;
use crate::memories;
use crate::platform::Platform;
use crate::source::Source;
use hlo_client::{Buffer as Array, CompileOptions};
use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use hlo_ir::{Dims, ElementType, Module, Shape};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// A compiled program.
pub struct Program {
    /// The client that runs the program.
    pub platform: Arc<Platform>,
    /// The module as read from the source.
    pub module: Module,
    /// The compile options.
    pub options: CompileOptions,
    /// The engines that run the program.
    pub engines: Engines,
    /// A fingerprint, which is the same for the same program with the same options.
    pub fingerprint: String,
    /// The program as the caller passed it, for serialization.
    pub source: Source,
    /// The numbers of the devices that the program runs on, replica by replica.
    pub devices: Vec<usize>,
    /// Number of replicas, which run on different data.
    pub replicas: usize,
    /// Number of devices that work on each replica.
    pub partitions: usize,
    /// Whether the program was compiled for no device in particular.
    pub is_portable: bool,
    /// The parameters.
    pub parameters: Vec<Leaf>,
    /// The results on each device.
    pub results: Vec<Leaf>,
    /// For each parameter, whether its buffer is donated.
    pub donated: Vec<bool>,
    /// The kind of functions that the program calls.
    pub calls: Calls,
}

/// A parameter or result: an array or a token. The caller sees a token as an array without elements.
#[derive(Clone, Debug, PartialEq)]
pub struct Leaf {
    /// The shape in the program.
    pub shape: Shape,
    /// The element type that the caller sees.
    pub element_type: ElementType,
    /// The sizes that the caller sees.
    pub dims: Dims,
    /// The order of the dimensions in memory.
    pub order: Order,
    /// The number of the memory kind in [`crate::device::MEMORY_KINDS`].
    pub memory_kind: usize,
    /// The shape of the array that the caller sees. Each element takes at least one byte.
    plain: Shape,
}

impl Leaf {
    fn new((shape, memory_kind): (&Shape, usize)) -> Result<Self> {
        let (element_type, dims, order) = match shape {
            Shape::Array(array) => {
                let order: Dims = array.minor_to_major().iter().map(|&d| d as i64).collect();
                (array.element_type, array.dims.clone(), Order::new(&order))
            }
            Shape::Token => (ElementType::Pred, Dims::from_slice(&[0]), Order::ROW_MAJOR),
            other => {
                return Err(Fault::unimplemented(format!(
                    "the program takes or gives a value of shape {other}"
                )));
            }
        };
        let plain = order.shape(element_type, &dims);
        Ok(Self { shape: shape.clone(), element_type, dims, order, memory_kind, plain })
    }

    /// Converts an array to the form that the caller sees, with its run-time sizes.
    ///
    /// # Errors
    /// There is no memory for the converted array.
    pub fn placed(&self, array: Array) -> Result<Array> {
        let dims = array.shape().as_array().map(|a| &a.dims);
        if *array.shape() == self.plain {
            return Ok(array);
        }
        let plain = match dims {
            Some(dims) if *dims != self.dims => self.order.shape(self.element_type, dims),
            _ => self.plain.clone(),
        };
        relaid(array, &plain)
    }

    /// Returns whether the leaf is a token.
    pub fn is_token(&self) -> bool {
        matches!(self.shape, Shape::Token)
    }

    /// Returns the array that the caller sees in place of a token.
    ///
    /// # Errors
    /// There is no memory for the array.
    pub fn token(&self) -> Result<Array> {
        Ok(Array::zeros(&Shape::array(self.element_type, self.dims.iter().copied()))?)
    }

    /// Returns the number of the element type that the caller sees.
    pub fn type_number(&self) -> i32 {
        element::number(self.element_type)
    }
}

impl Program {
    /// Compiles a verified module.
    ///
    /// # Errors
    /// As [`hlo_client::Client::compile`], or a parameter or result is neither an array nor a token.
    pub fn compile(
        platform: &Arc<Platform>,
        module: Module,
        options: CompileOptions,
        is_portable: bool,
        source: Source,
    ) -> Result<Arc<Self>> {
        let engines = Engines::new(platform, &module, &options)?;
        let executable = engines.best();
        let parameters = executable.parameters().iter().zip(memories::of_parameters(&module));
        let results = executable.result().leaves().into_iter().zip(memories::of_results(&module));
        let parameters = parameters.map(Leaf::new).collect::<Result<Vec<_>>>()?;
        let results = results.map(Leaf::new).collect::<Result<Vec<_>>>()?;
        let devices = executable.devices().iter().map(hlo_client::Device::id).collect();
        let count = |n: i64| usize::try_from(n).unwrap_or(1);
        Ok(Arc::new(Self {
            platform: platform.clone(),
            fingerprint: fingerprint(&module, &options),
            donated: donated(&module),
            calls: if is_partitioned_by_caller(&module, &options) {
                // The partitioned program may call arbitrary functions of the caller.
                Calls::Python
            } else {
                Calls::of(&module)
            },
            replicas: count(module.header.replica_count.0),
            partitions: count(module.header.num_partitions.0),
            module,
            options,
            engines,
            source,
            devices,
            is_portable,
            parameters,
            results,
        }))
    }

    /// Returns the name of the module.
    pub fn name(&self) -> &str {
        &self.module.name
    }
}

/// Returns for each leaf of the parameters whether the module allows writing to it.
fn donated(module: &Module) -> Vec<bool> {
    let shapes = module.entry_shapes().0;
    let starts: Vec<usize> = shapes
        .iter()
        .scan(0, |next, shape| {
            let start = *next;
            *next += shape.leaf_count();
            Some(start)
        })
        .collect();
    let mut donated = vec![false; shapes.iter().map(|s| s.leaf_count()).sum()];
    let aliases = module.header.input_output_alias.iter().map(|a| (a.parameter, &a.parameter_index));
    let donors = module.header.buffer_donor.iter().map(|d| (d.parameter, &d.index));
    for (parameter, index) in aliases.chain(donors) {
        let Some(parameter) = usize::try_from(parameter).ok().filter(|&p| p < shapes.len()) else { continue };
        let Some((before, count)) = leaves_at(shapes[parameter], index) else { continue };
        let start = starts[parameter] + before;
        donated[start..start + count].fill(true);
    }
    donated
}

/// Returns the leaves of a part of a shape: the number of leaves before it, and the number of its leaves.
fn leaves_at(shape: &Shape, index: &[i64]) -> Option<(usize, usize)> {
    let (mut shape, mut before) = (shape, 0);
    for &i in index {
        let parts = shape.as_tuple()?;
        let i = usize::try_from(i).ok().filter(|&i| i < parts.len())?;
        before += parts[..i].iter().map(Shape::leaf_count).sum::<usize>();
        shape = &parts[i];
    }
    Some((before, shape.leaf_count()))
}

/// Returns a fingerprint of a program and its options.
fn fingerprint(module: &Module, options: &CompileOptions) -> String {
    let mut digest = Sha256::new();
    // The number of threads does not affect the fingerprint.
    let options = CompileOptions { threads: 0, ..options.clone() };
    for_each_identifying_part(module, PrintOptions::default(), &mut |part| digest.update(part));
    digest.update(format!("\0{}\0{options:?}", env!("CARGO_PKG_VERSION")));
    digest.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}
