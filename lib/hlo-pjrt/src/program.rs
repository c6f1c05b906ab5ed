//! Compiled programs, which the caller's executables refer to.

use crate::engines::{Calls, Engines, RunIndex, is_partitioned_by_caller};
use crate::fault::Result;
pub use crate::leaf::Leaf;
use crate::memories;
use crate::platform::Platform;
use crate::source::Source;
use hlo_client::{CompileOptions, Executable};
use hlo_ir::print::{PrintOptions, for_each_identifying_part};
use hlo_ir::{Module, Shape};
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

    /// Returns the executable for a run. Compiles the program first if necessary.
    pub fn executable_of(&self, turn: RunIndex) -> &Executable {
        self.engines.of(turn, &self.platform, &self.module, &self.options)
    }

    /// Compiles the program in the background.
    pub fn compile_later(self: &Arc<Self>) {
        let later = Arc::downgrade(self);
        self.platform.pool.push(move || {
            if let Some(program) = later.upgrade() {
                program.engines.compiled(&program.platform, &program.module, &program.options);
            }
        });
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
