//! Compiled programs: runs them and describes their parameters, results and memory.

use crate::collectives::{Collectives, OtherDevices};
use crate::jit::Linked;
use crate::transfers::{Run, Transfer, transfers};
use hlo_analysis::Donation;
use hlo_communicator::Failure;
use hlo_ir::diag::Diag;
use hlo_ir::host::{Host, NoHost};
use hlo_ir::watch::Watch;
use hlo_ir::{AlignedBytes, InstrId, Module, Packing, Shape};
use hlo_plan::Plan;
use hlo_runtime::Context;
use std::alloc::Layout;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// The host function's type: `hlo_main(context, params, outputs, arena, constants) -> status`.
type Main =
    unsafe extern "C" fn(*const Context, *const *const u8, *const *mut u8, *mut u8, *const *const u8) -> i32;

/// The alignment that compiled code assumes for the address of every buffer.
const ALIGNMENT: usize = crate::kernel_functions::BUFFER_ALIGNMENT as usize;
/// The alignment of the arena and of constants: a cache line.
pub(crate) const ARENA_ALIGNMENT: usize = 64;

/// The duration of each step of a compilation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Scheduling, buffer assignment and planning of kernels.
    pub plan: Duration,
    /// Building and lowering MLIR, summed over threads.
    pub mlir: Duration,
    /// LLVM's optimizer and code generator, summed over threads.
    pub llvm: Duration,
    /// Wall-clock time from the plan to the object files.
    pub compile: Duration,
    /// Linking.
    pub link: Duration,
    /// Whether the code came from a cache, so that nothing was compiled.
    pub was_kept: bool,
}

/// The reason why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The number of buffers differs from the number of leaves of the parameters or of the result.
    #[error("expected {expected} {what} buffers, found {found}")]
    Count {
        /// `input` or `output`.
        what: &'static str,
        /// Number of leaves.
        expected: usize,
        /// Number of buffers.
        found: usize,
    },
    /// The size of a buffer differs from the size of its leaf.
    #[error("{what} buffer {index} of shape {shape} takes {expected} bytes, found {found}")]
    Size {
        /// `input` or `output`.
        what: &'static str,
        /// The index of the leaf.
        index: usize,
        /// The shape of the leaf.
        shape: String,
        /// The size of the leaf in bytes.
        expected: u64,
        /// The size of the buffer in bytes.
        found: usize,
    },
    /// Memory for a buffer could not be allocated. Contains its size in bytes.
    #[error("there is no memory for {}", hlo_ir::human_bytes(*.0))]
    OutOfMemory(u64),
    /// A runtime function failed.
    #[error("{0}")]
    Failed(String),
    /// A transfer or a collective failed: for example, an infeed received an item of another shape, a receive
    /// would wait forever, or the devices diverged.
    #[error("{message}")]
    Transfer {
        /// The instruction, in the module that was compiled.
        instruction: InstrId,
        /// The error, with the instruction's name.
        message: String,
    },
    /// A parameter was donated for an output that is not the one that the program assigns to it.
    #[error("input {input} can't be given away for output {output}: the program's donations are others")]
    Donation {
        /// The index of the leaf of the parameters.
        input: usize,
        /// The index of the leaf of the result.
        output: usize,
    },
    /// The number of device runs differs from the number of the program's devices.
    #[error("the program runs on {expected} devices, but was given buffers for {found}")]
    Devices {
        /// Number of devices.
        expected: usize,
        /// Number of devices that buffers were passed for.
        found: usize,
    },
    /// Another device failed. Its error contains the reason.
    #[error("another device has failed")]
    Elsewhere,
    /// The watcher stopped the run.
    #[error("the run was stopped")]
    Stopped {
        /// The loop, in the module that was compiled.
        instruction: Option<InstrId>,
    },
}

/// The location of the elements of a leaf of the parameters.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// The elements are in this slice.
    Bytes(&'a [u8]),
    /// The parameter is donated. Its elements are in the output with this index when the run begins. The pair
    /// must be one of [`Executable::donations`].
    InOutput(usize),
}

impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

/// Memory of a given alignment, initialized to zero.
struct Block {
    address: *mut u8,
    layout: Layout,
}

// SAFETY: the block owns its memory.
unsafe impl Send for Block {}
// SAFETY: shared references only read the address.
unsafe impl Sync for Block {}

impl Block {
    fn new(bytes: u64, alignment: usize) -> Result<Self, RunError> {
        let size = usize::try_from(bytes).map_err(|_| RunError::OutOfMemory(bytes))?.max(1);
        let layout = Layout::from_size_align(size, alignment).map_err(|_| RunError::OutOfMemory(bytes))?;
        // SAFETY: the size is not zero.
        let address = unsafe { std::alloc::alloc_zeroed(layout) };
        if address.is_null() { Err(RunError::OutOfMemory(bytes)) } else { Ok(Self { address, layout }) }
    }

    /// Returns the memory. An empty block has one byte.
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the block owns this number of bytes, which are initialized.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.layout.size()) }
    }

    fn from_slice(bytes: &[u8], alignment: usize) -> Result<Self, RunError> {
        let block = Self::new(bytes.len() as u64, alignment)?;
        // SAFETY: the block has at least this number of bytes and nothing else refers to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.address, bytes.len()) };
        Ok(block)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: the memory was allocated with this layout and not freed before.
        unsafe { std::alloc::dealloc(self.address, self.layout) }
    }
}

/// The constants, and the list of their addresses, which compiled code reads.
struct Constants {
    _blocks: Vec<Block>,
    addresses: Vec<*const u8>,
}

// SAFETY: the addresses point into blocks that live as long as they do and are only read.
unsafe impl Send for Constants {}
// SAFETY: as above.
unsafe impl Sync for Constants {}

/// The memory of a run besides its buffers: the arena, and the lists of the addresses of parameters and
/// results.
struct RunMemory {
    arena: Block,
    params: Vec<*const u8>,
    results: Vec<*mut u8>,
}

// SAFETY: the lists are empty between runs.
unsafe impl Send for RunMemory {}

/// A compiled program. Several threads may run it at the same time.
pub struct Executable {
    main: Main,
    /// Keeps the code of `main` alive.
    _linked: Linked,
    context: Context,
    constants: Constants,
    transfers: Vec<Transfer>,
    collectives: Collectives,
    donations: Vec<Donation>,
    /// The memory of finished runs, which later runs reuse.
    memory: Mutex<Vec<RunMemory>>,
    arena_bytes: u64,
    parameters: Vec<Shape>,
    result: Shape,
    /// The sizes of the leaves inside compiled code, in bytes.
    param_bytes: Vec<u64>,
    output_bytes: Vec<u64>,
    /// The packing of each leaf of parameters and result, if the layout of the leaf requires one.
    param_packing: Vec<Option<Packing>>,
    output_packing: Vec<Option<Packing>>,
    timings: Timings,
}

/// Returns the packing of each leaf.
fn packing<'s>(leaves: impl Iterator<Item = &'s Shape>) -> Vec<Option<Packing>> {
    leaves.map(|l| l.as_array().and_then(Packing::of)).collect()
}

/// Returns the sizes of the caller's buffers.
fn outside<'a>(sizes: &'a [u64], packing: &'a [Option<Packing>]) -> impl ExactSizeIterator<Item = u64> + 'a {
    // Inside compiled code, a packed element takes one byte.
    let size = |(&size, packing): (&u64, &Option<Packing>)| match packing {
        Some(p) => p.packed_size(size as usize) as u64,
        None => size,
    };
    sizes.iter().zip(packing).map(size)
}

impl std::fmt::Debug for Executable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Executable")
            .field("parameters", &self.parameters)
            .field("result", &self.result)
            .field("arena_bytes", &self.arena_bytes)
            .finish_non_exhaustive()
    }
}

impl Executable {
    /// Creates the executable of a plan.
    ///
    /// # Safety
    /// `main` is the host function of `plan`, and `linked` keeps its code alive.
    pub(crate) unsafe fn new(
        module: &Module,
        plan: Plan,
        linked: Linked,
        main: *const (),
        context: Context,
        timings: Timings,
    ) -> Result<Self, Diag> {
        let blocks = plan
            .constants
            .iter()
            .map(|c| Block::from_slice(&c.bytes, ARENA_ALIGNMENT))
            .collect::<Result<Vec<_>, _>>()
            .map_err(|e| Diag::error(e.to_string()))?;
        let addresses = blocks.iter().map(|c| c.address.cast_const()).collect();
        let (parameters, result) = module.entry_shapes();
        let param_packing = packing(parameters.iter().flat_map(|p| p.leaves()));
        let output_packing = packing(result.leaves().into_iter());
        Ok(Self {
            // SAFETY: guaranteed by the caller. The host function has this signature.
            main: unsafe { std::mem::transmute::<*const (), Main>(main) },
            _linked: linked,
            context,
            constants: Constants { _blocks: blocks, addresses },
            transfers: transfers(module, &plan.transfers),
            collectives: Collectives::new(module, &plan.collectives)?,
            donations: plan.donations,
            memory: Mutex::new(Vec::new()),
            arena_bytes: plan.arena_bytes,
            parameters: parameters.into_iter().cloned().collect(),
            result: result.clone(),
            param_bytes: plan.param_bytes,
            output_bytes: plan.output_bytes,
            param_packing,
            output_packing,
            timings,
        })
    }

    /// Returns the program's devices and collectives.
    pub(crate) fn collectives(&self) -> &Collectives {
        &self.collectives
    }

    /// Returns the shapes of the parameters, as in the module's `entry_computation_layout` if it has one.
    /// Each leaf's layout determines the format of its input buffer: a layout with `E(4)` packs the elements.
    pub fn parameters(&self) -> &[Shape] {
        &self.parameters
    }

    /// Returns the shape of the result, as in the module's `entry_computation_layout` if it has one. Each
    /// leaf's layout determines the format of its output buffer.
    pub fn result(&self) -> &Shape {
        &self.result
    }

    /// Returns the parameters that may be donated, and the leaf of the result that each of them may be
    /// donated for.
    pub fn donations(&self) -> &[Donation] {
        &self.donations
    }

    /// Returns the size of the arena for temporaries, in bytes: the maximum that live temporaries take at the
    /// same time.
    pub fn arena_bytes(&self) -> u64 {
        self.arena_bytes
    }

    /// Returns the duration of each step of the compilation.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// Returns the number of threads that a run uses, including the calling thread.
    pub fn threads(&self) -> usize {
        self.context.threads()
    }

    /// Runs the program on one buffer per flattened parameter leaf. Returns one buffer per flattened result
    /// leaf (empty for tokens). Programs with infeeds and outfeeds need a host: see
    /// [`Executable::run_with_host`].
    ///
    /// # Errors
    /// Returns the errors of [`Executable::run_watched`], or [`RunError::OutOfMemory`] for a result.
    pub fn run(&self, inputs: &[&[u8]]) -> Result<Vec<AlignedBytes>, RunError> {
        self.run_with_host(inputs, &mut NoHost)
    }

    /// Like [`Executable::run`], with a host that infeeds read from and outfeeds write to.
    ///
    /// # Errors
    /// Returns the errors of [`Executable::run_watched`], or [`RunError::OutOfMemory`] for a result.
    pub fn run_with_host(
        &self,
        inputs: &[&[u8]],
        host: &mut dyn Host,
    ) -> Result<Vec<AlignedBytes>, RunError> {
        let mut outputs = Vec::with_capacity(self.output_bytes.len());
        for bytes in outside(&self.output_bytes, &self.output_packing) {
            let buffer = usize::try_from(bytes).ok().and_then(AlignedBytes::try_zeroed);
            outputs.push(buffer.ok_or(RunError::OutOfMemory(bytes))?);
        }
        let mut slices: Vec<&mut [u8]> = outputs.iter_mut().map(|o| &mut **o).collect();
        self.run_into(inputs, &mut slices, host)?;
        Ok(outputs)
    }

    /// Runs the program on one buffer per flattened parameter leaf and writes one buffer per flattened result
    /// leaf.
    ///
    /// After the first run nothing is allocated (in each participating thread, after that thread's first run)
    /// under these conditions: buffers start at multiples of 16 bytes (other buffers are copied), no layout
    /// packs elements, and the program has no transfers and no custom calls.
    ///
    /// # Errors
    /// Returns the errors of [`Executable::run_watched`].
    pub fn run_into(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        self.run_watched(inputs, outputs, host, None)
    }

    /// Like [`Executable::run_into`], but inputs may be donated, and another thread may watch the run. Inputs
    /// that are not donated are slices or [`Input::Bytes`]. The watcher can read which instruction the run
    /// has reached, and can stop the run at the next iteration of a loop. After a stop or an error, the
    /// contents of the outputs are unspecified.
    ///
    /// # Errors
    /// - [`RunError::Count`] and [`RunError::Size`] if buffers do not fit the shapes.
    /// - [`RunError::Donation`] if an input is donated for an output that is not one of its
    ///   [`Executable::donations`].
    /// - [`RunError::OutOfMemory`] if the temporaries cannot be allocated.
    /// - [`RunError::Devices`] if the program has several devices ([`Executable::run_on_devices`]).
    /// - The error of the run itself: a runtime function that failed, a transfer that the host rejected, or
    ///   the watcher's stop.
    pub fn run_watched<'a, I: Copy + Into<Input<'a>>>(
        &self,
        inputs: &[I],
        outputs: &mut [&mut [u8]],
        host: &mut dyn Host,
        watch: Option<&Watch>,
    ) -> Result<(), RunError> {
        match self.devices().devices() {
            1 => self.run_among(inputs, outputs, host, watch, None),
            expected => Err(RunError::Devices { expected, found: 1 }),
        }
    }

    /// Like [`Executable::run_watched`], but on one of several devices.
    pub(crate) fn run_among<'a, I: Copy + Into<Input<'a>>>(
        &self,
        inputs: &[I],
        outputs: &mut [&mut [u8]],
        host: &mut dyn Host,
        watch: Option<&Watch>,
        others: OtherDevices<'_>,
    ) -> Result<(), RunError> {
        for (parameter, &input) in inputs.iter().enumerate() {
            let Input::InOutput(output) = input.into() else { continue };
            if output >= outputs.len() || !self.donations.contains(&Donation { parameter, output }) {
                return Err(RunError::Donation { input: parameter, output });
            }
        }
        let parameter_shapes = || self.parameters.iter().flat_map(Shape::leaves).collect();
        let param_sizes = outside(&self.param_bytes, &self.param_packing);
        let found = inputs.iter().map(|&input| match input.into() {
            Input::Bytes(bytes) => bytes.len(),
            Input::InOutput(output) => outputs[output].len(),
        });
        check("input", parameter_shapes, param_sizes, found)?;
        let output_sizes = outside(&self.output_bytes, &self.output_packing);
        check("output", || self.result.leaves(), output_sizes, outputs.iter().map(|b| b.len()))?;
        let memory = self.memory.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut memory = match memory {
            Some(memory) => memory,
            None => RunMemory {
                arena: Block::new(self.arena_bytes, ARENA_ALIGNMENT)?,
                params: Vec::with_capacity(inputs.len()),
                results: Vec::with_capacity(outputs.len()),
            },
        };
        let outcome = self.run_in(&mut memory, inputs, outputs, (host, watch), others);
        memory.params.clear();
        memory.results.clear();
        self.memory.lock().unwrap_or_else(PoisonError::into_inner).push(memory);
        outcome
    }

    /// Runs the program on buffers whose sizes were checked.
    fn run_in<'a, I: Copy + Into<Input<'a>>>(
        &self,
        memory: &mut RunMemory,
        inputs: &[I],
        outputs: &mut [&mut [u8]],
        (host, watch): (&mut dyn Host, Option<&Watch>),
        others: OtherDevices<'_>,
    ) -> Result<(), RunError> {
        let RunMemory { arena, params, results } = memory;
        // Outputs that are unaligned or packed are computed in a temporary block and copied.
        let mut detours = Vec::new();
        for (i, output) in outputs.iter_mut().enumerate() {
            results.push(if is_aligned(output) && self.output_packing[i].is_none() {
                output.as_mut_ptr()
            } else {
                let block = Block::new(self.output_bytes[i], ALIGNMENT)?;
                let address = block.address;
                detours.push((i, block));
                address
            });
        }
        let mut copies = Vec::new();
        for (i, &input) in inputs.iter().enumerate() {
            let input: &[u8] = match input.into() {
                Input::Bytes(bytes) => bytes,
                // The elements are already in the buffer that the program writes the result to.
                Input::InOutput(output)
                    if is_aligned(outputs[output]) && self.output_packing[output].is_none() =>
                {
                    params.push(results[output].cast_const());
                    continue;
                }
                Input::InOutput(output) => outputs[output],
            };
            params.push(match self.param_packing[i] {
                None if is_aligned(input) => input.as_ptr(),
                None => {
                    copies.push(Block::from_slice(input, ALIGNMENT)?);
                    copies[copies.len() - 1].address.cast_const()
                }
                Some(packing) => {
                    let mut block = Block::new(self.param_bytes[i], ALIGNMENT)?;
                    packing.unpack(input, block.bytes_mut());
                    copies.push(block);
                    copies[copies.len() - 1].address.cast_const()
                }
            });
        }
        let constants = self.constants.addresses.as_ptr();
        let mut run = Run::new(&self.transfers, host, others);
        let words = watch.map(Watch::words);
        let (failure, collective) = self.context.with_transfers(&mut run, words, others, |context| {
            // SAFETY: every buffer has the size and alignment that the plan gave it, which was checked above.
            // This run has exclusive access to the outputs and the arena. The context lives as long as the
            // call.
            let status =
                unsafe { (self.main)(context, params.as_ptr(), results.as_ptr(), arena.address, constants) };
            ((status != 0).then(|| context.take_error()), context.take_failed_collective())
        });
        match collective {
            Some((_, Failure::Remote)) => return Err(RunError::Elsewhere),
            Some((site, Failure::Stopped)) => {
                return Err(RunError::Stopped { instruction: self.collectives.instruction(site) });
            }
            Some((site, Failure::Local(message))) => {
                let transfer = |instruction| RunError::Transfer { instruction, message: message.clone() };
                let instruction = self.collectives.instruction(site);
                return Err(instruction.map_or_else(|| RunError::Failed(message.clone()), transfer));
            }
            None if run.failed_elsewhere() => return Err(RunError::Elsewhere),
            None if run.is_stopped() => {
                return Err(RunError::Stopped { instruction: run.failed() });
            }
            None => {}
        }
        if let (Some(None), Some(watch)) = (&failure, watch)
            && watch.is_stopped()
        {
            return Err(RunError::Stopped { instruction: watch.at() });
        }
        let failure = failure.map(|message| message.unwrap_or_else(|| "a runtime function failed".into()));
        match (failure, run.failed(), run.unfinished()) {
            (Some(message), Some(instruction), _) | (None, _, Some((instruction, message))) => {
                return Err(RunError::Transfer { instruction, message });
            }
            (Some(message), None, _) => return Err(RunError::Failed(message)),
            (None, _, None) => {}
        }
        for (i, mut block) in detours {
            let output = &mut outputs[i];
            let computed = &block.bytes_mut()[..self.output_bytes[i] as usize];
            match self.output_packing[i] {
                Some(packing) => packing.pack(computed, output),
                None => output.copy_from_slice(computed),
            }
        }
        Ok(())
    }
}

fn is_aligned(bytes: &[u8]) -> bool {
    bytes.as_ptr().addr().is_multiple_of(ALIGNMENT)
}

/// Compares the number and sizes of buffers with those that the program expects.
fn check<'s>(
    what: &'static str,
    shapes: impl FnOnce() -> Vec<&'s Shape>,
    sizes: impl ExactSizeIterator<Item = u64>,
    found: impl ExactSizeIterator<Item = usize>,
) -> Result<(), RunError> {
    if sizes.len() != found.len() {
        return Err(RunError::Count { what, expected: sizes.len(), found: found.len() });
    }
    for (index, (expected, found)) in sizes.zip(found).enumerate() {
        if expected != found as u64 {
            let shape = shapes().get(index).map_or_else(String::new, |s| s.to_string());
            return Err(RunError::Size { what, index, shape, expected, found });
        }
    }
    Ok(())
}
