//! Compiled programs: running them, and what is known about them.

use crate::devices::{Collectives, OtherDevices};
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

/// `hlo_main(context, params, outputs, arena, constants) -> status`.
type Main =
    unsafe extern "C" fn(*const Context, *const *const u8, *const *mut u8, *mut u8, *const *const u8) -> i32;

/// What compiled code assumes of every buffer's address.
const ALIGNMENT: usize = crate::kernel_table::BUFFER_ALIGNMENT as usize;
/// The alignment of the arena and of constants: a cache line.
pub(crate) const ARENA_ALIGNMENT: usize = 64;

/// Where the time of compilation went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timings {
    /// Schedule, buffer assignment, planning of kernels.
    pub plan: Duration,
    /// Building and lowering MLIR, summed over threads.
    pub mlir: Duration,
    /// LLVM's optimiser and code generator, summed over threads.
    pub llvm: Duration,
    /// From the plan to object files, as the clock has it.
    pub compile: Duration,
    /// Linking.
    pub link: Duration,
    /// True if the code was in a cache, and nothing was compiled.
    pub was_kept: bool,
}

/// Why a run failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RunError {
    /// The number of buffers is not that of the flattened parameters or results.
    #[error("expected {expected} {what} buffers, found {found}")]
    Count {
        /// `input` or `output`.
        what: &'static str,
        /// The number of leaves.
        expected: usize,
        /// The number of buffers.
        found: usize,
    },
    /// A buffer does not have its leaf's size.
    #[error("{what} buffer {index} of shape {shape} takes {expected} bytes, found {found}")]
    Size {
        /// `input` or `output`.
        what: &'static str,
        /// The number of the leaf.
        index: usize,
        /// Its shape.
        shape: String,
        /// Its size.
        expected: u64,
        /// The buffer's size.
        found: usize,
    },
    /// There is no memory for a buffer.
    #[error("there is no memory for {}", hlo_ir::human_bytes(*.0))]
    OutOfMemory(u64),
    /// A runtime function failed.
    #[error("{0}")]
    Failed(String),
    /// A transfer or a collective failed: an infeed without an item that fits, a receive that waits for ever, devices that
    /// diverge.
    #[error("{message}")]
    Transfer {
        /// The instruction, of the module that was compiled.
        instruction: InstrId,
        /// What is wrong, with the instruction's name.
        message: String,
    },
    /// A parameter was given away for another result than the program has it for.
    #[error("input {input} can't be given away for output {output}: the program's donations are others")]
    Donation {
        /// The number of the leaf of the parameters.
        input: usize,
        /// The number of the leaf of the result.
        output: usize,
    },
    /// The program was not given what each of its devices needs.
    #[error("the program runs on {expected} devices, but was given buffers for {found}")]
    Devices {
        /// The number of devices.
        expected: usize,
        /// For how many there are buffers.
        found: usize,
    },
    /// Another device has failed, which says why.
    #[error("another device has failed")]
    Elsewhere,
    /// Whoever watches the run ended it.
    #[error("the run was stopped")]
    Stopped {
        /// The loop, of the module that was compiled.
        instruction: Option<InstrId>,
    },
}

/// The elements of a leaf of the parameters.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// They lie here.
    Bytes(&'a [u8]),
    /// They were given away: they lie in the output of that number, one of [`Executable::donations`], when the run begins.
    InOutput(usize),
}

impl<'a> From<&'a [u8]> for Input<'a> {
    fn from(bytes: &'a [u8]) -> Self {
        Self::Bytes(bytes)
    }
}

/// Memory of a given alignment, zero at first.
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

    /// The memory; of an empty block one byte.
    fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: the block owns as many bytes, which are initialised.
        unsafe { std::slice::from_raw_parts_mut(self.address, self.layout.size()) }
    }

    fn from_slice(bytes: &[u8], alignment: usize) -> Result<Self, RunError> {
        let block = Self::new(bytes.len() as u64, alignment)?;
        // SAFETY: the block has at least as many bytes and is nobody else's.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), block.address, bytes.len()) };
        Ok(block)
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout and not freed before.
        unsafe { std::alloc::dealloc(self.address, self.layout) }
    }
}

/// The constants, and the list of their addresses that compiled code takes.
struct Constants {
    _blocks: Vec<Block>,
    addresses: Vec<*const u8>,
}

// SAFETY: the addresses are those of blocks that live as long and are only read.
unsafe impl Send for Constants {}
// SAFETY: as above.
unsafe impl Sync for Constants {}

/// What a run needs besides its buffers: the arena, and the lists of the addresses of parameters and results.
struct RunMemory {
    arena: Block,
    params: Vec<*const u8>,
    results: Vec<*mut u8>,
}

// SAFETY: between runs the lists are empty.
unsafe impl Send for RunMemory {}

/// A compiled program. It may be run from several threads at once.
pub struct Executable {
    main: Main,
    /// Keeps the code of `main`.
    _linked: Linked,
    context: Context,
    constants: Constants,
    transfers: Vec<Transfer>,
    collectives: Collectives,
    donations: Vec<Donation>,
    /// The memory of runs that are over, for the next ones.
    memory: Mutex<Vec<RunMemory>>,
    arena_bytes: u64,
    parameters: Vec<Shape>,
    result: Shape,
    /// The sizes that compiled code works with.
    param_bytes: Vec<u64>,
    output_bytes: Vec<u64>,
    /// The packing of each parameter's and result's leaf whose layout asks for it.
    param_packing: Vec<Option<Packing>>,
    output_packing: Vec<Option<Packing>>,
    timings: Timings,
}

/// The packing of each leaf.
fn packing<'s>(leaves: impl Iterator<Item = &'s Shape>) -> Vec<Option<Packing>> {
    leaves.map(|l| l.as_array().and_then(Packing::of)).collect()
}

/// The sizes of the caller's buffers.
fn outside<'a>(sizes: &'a [u64], packing: &'a [Option<Packing>]) -> impl ExactSizeIterator<Item = u64> + 'a {
    // A packed element takes one byte inside.
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
    /// The program of a plan.
    ///
    /// # Safety
    /// `main` is the host function of `plan`, and `linked` keeps its code.
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
            // SAFETY: the caller's promise; the host function has this signature.
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

    /// The program's devices and collectives.
    pub(crate) fn collectives(&self) -> &Collectives {
        &self.collectives
    }

    /// The shapes of the parameters, as the module's `entry_computation_layout` has them if there is one. Input buffers are laid out by the layouts of their leaves: elements of a layout with `E(4)` are packed.
    pub fn parameters(&self) -> &[Shape] {
        &self.parameters
    }

    /// The shape of the result, as the module's `entry_computation_layout` has it if there is one. Output buffers are laid out by the layouts of its leaves.
    pub fn result(&self) -> &Shape {
        &self.result
    }

    /// Which parameters may be given away, and for which leaves of the result.
    pub fn donations(&self) -> &[Donation] {
        &self.donations
    }

    /// The size of the arena for temporaries: the most bytes that they take at a time.
    pub fn arena_bytes(&self) -> u64 {
        self.arena_bytes
    }

    /// Where the time of compilation went.
    pub fn timings(&self) -> Timings {
        self.timings
    }

    /// The number of threads that a run uses, the caller's included.
    pub fn threads(&self) -> usize {
        self.context.threads()
    }

    /// Runs on one buffer a flattened parameter leaf and returns one a flattened result leaf (empty for tokens).
    /// Infeeds and outfeeds need a host: see [`Executable::run_with_host`].
    ///
    /// # Errors
    /// Those of [`Executable::run_watched`], and [`RunError::OutOfMemory`] for a result.
    pub fn run(&self, inputs: &[&[u8]]) -> Result<Vec<AlignedBytes>, RunError> {
        self.run_with_host(inputs, &mut NoHost)
    }

    /// As [`Executable::run`], with what infeeds and outfeeds read from and write to.
    ///
    /// # Errors
    /// Those of [`Executable::run_watched`], and [`RunError::OutOfMemory`] for a result.
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

    /// Runs on one buffer a flattened parameter leaf and writes one a flattened result leaf. Nothing is allocated
    /// after the first run (by each thread that takes part after its first) if buffers start at multiples of 16 bytes
    /// (others are copied), no layout packs elements, nothing is transferred and no custom call is made.
    ///
    /// # Errors
    /// Those of [`Executable::run_watched`].
    pub fn run_into(
        &self,
        inputs: &[&[u8]],
        outputs: &mut [&mut [u8]],
        host: &mut dyn Host,
    ) -> Result<(), RunError> {
        self.run_watched(inputs, outputs, host, None)
    }

    /// As [`Executable::run_into`], on inputs that may be given away (others are slices, or [`Input::Bytes`]), and while another
    /// thread may look where the run is, and end it at the next round of a loop. What the outputs hold then is open.
    ///
    /// # Errors
    /// [`RunError::Count`] and [`RunError::Size`] if buffers do not fit the shapes, [`RunError::Donation`] if an input is given away
    /// for an output that is none of its, [`RunError::OutOfMemory`] for the temporaries, [`RunError::Devices`] if the program has
    /// several devices ([`Executable::run_on_devices`]), and what the run itself ends with: a failed call of the runtime, a
    /// transfer that the host refuses, or the watcher's stop.
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

    /// As [`Executable::run_watched`], on one of several devices.
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

    /// A run on buffers whose sizes were checked.
    fn run_in<'a, I: Copy + Into<Input<'a>>>(
        &self,
        memory: &mut RunMemory,
        inputs: &[I],
        outputs: &mut [&mut [u8]],
        (host, watch): (&mut dyn Host, Option<&Watch>),
        others: OtherDevices<'_>,
    ) -> Result<(), RunError> {
        let RunMemory { arena, params, results } = memory;
        // Outputs that are not aligned, or packed, are computed elsewhere and copied.
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
                // The program finds its elements where it will write the result.
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
            // SAFETY: every buffer has the size and alignment that the plan gave it, checked above; outputs and the
            // arena are exclusively ours; the context lives as long as the call.
            let status =
                unsafe { (self.main)(context, params.as_ptr(), results.as_ptr(), arena.address, constants) };
            ((status != 0).then(|| context.take_error()), context.take_failed_collective())
        });
        match collective {
            Some((_, Failure::Elsewhere)) => return Err(RunError::Elsewhere),
            Some((site, Failure::Stopped)) => {
                return Err(RunError::Stopped { instruction: self.collectives.instruction(site) });
            }
            Some((site, Failure::Here(message))) => {
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

/// Compares buffers with what the program takes.
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
