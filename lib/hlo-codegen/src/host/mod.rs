//! The host function: the plan's steps as native code.
//!
//! `hlo_main(context, params, outputs, arena, constants) -> i32` calls kernels and runtime functions in the
//! plan's order. Loops and branches are native control flow in it. Kernels of a few scalar operations are
//! inlined. The function returns 0 on success. If a runtime function fails, it returns 1 immediately, and the
//! context contains the message. The functions of the plan have the same form, with one more parameter: the
//! counters of random draws, which the host function allocates.

pub(crate) mod copies;
mod parts;

use crate::builder::{Binary, Builder, IntPredicate, Label, ModuleBuilder, PointerFacts, Signature, V};
use crate::kernels::{combiner, comparator, emit_kernel};
use hlo_ir::diag::Diag;
use hlo_ir::watch::{POSITION_WORD, STOP_WORD, Watch};
use hlo_ir::{ComputationId, ElementType, InstrId, Module};
use hlo_kernel::{KernelCode, KernelFunction, KernelTable, KernelUse};
use hlo_plan::{Argument, BufferRef, Plan, RuntimeCall, Step};
use hlo_runtime::ArgType;
use melior::ir::{Type, ValueLike};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

/// The name of the host function.
pub const MAIN: &str = "hlo_main";

/// Maximum number of addresses that are loaded at the start of a function. A function with more loads each
/// address where it is used, because they would not fit into registers.
const MAX_PRELOADED_ADDRESSES: usize = 64;

/// Returns the parameters of a function of the plan, or of a part of one. The host function omits the last
/// one, the counters.
fn parameters<'c>(functions: &ModuleBuilder<'c>) -> [(Type<'c>, Option<PointerFacts>); 6] {
    let ptr = functions.ptr();
    let alone = Some(PointerFacts { noalias: true, align: 8 });
    let arena = Some(PointerFacts { noalias: true, align: 64 });
    [(ptr, None), (ptr, alone), (ptr, alone), (ptr, arena), (ptr, alone), (ptr, None)]
}

/// Returns the name of the function with this index in [`Plan::functions`].
fn function_name(number: usize) -> String {
    format!("function_{number}")
}

/// Maximum size in bytes of a copy that becomes one load and one store.
const MAX_INLINE_COPY_BYTES: u64 = 8;

/// Whether another thread can read the program's position and stop it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Watching {
    /// The program is watched, through the words of `hlo_ir::watch`, whose address the runtime provides.
    Watched,
    /// The program is not watched, and needs no runtime for it.
    Unwatched,
}

/// Emits the host function, and declarations of the functions that it calls, into a module. Kernels are
/// declared unless they are `defined_here`.
pub fn emit_host<'c>(
    functions: &ModuleBuilder<'c>,
    module: &Module,
    plan: &Plan,
    kernels: &KernelTable<'_>,
    defined_here: bool,
) -> Result<(), Diag> {
    emit_host_with(functions, module, plan, kernels, defined_here, Watching::Watched)
}

/// Like [`emit_host`], but `watching` can also select a program that is not watched.
pub(crate) fn emit_host_with<'c>(
    functions: &ModuleBuilder<'c>,
    module: &Module,
    plan: &Plan,
    kernels: &KernelTable<'_>,
    defined_here: bool,
    watching: Watching,
) -> Result<(), Diag> {
    if !defined_here {
        declare_kernels(functions, kernels);
    }
    declare_runtime(functions, plan, kernels);
    let descriptors = emit_descriptors(functions, plan, kernels);
    let applied = emit_applied(functions, module, plan)?;
    let parameters = parameters(functions);
    let streams = streams(plan);
    let parts = Cell::new(0);
    let program =
        Program { module, plan, kernels, functions, descriptors, applied, streams, parts, watching };
    for (number, steps) in plan.bodies().enumerate() {
        let (name, count) = if number < plan.functions.len() {
            (function_name(number), parameters.len())
        } else {
            (MAIN.to_string(), parameters.len() - 1)
        };
        let signature = Signature { parameters: &parameters[..count], result: Some(functions.int(32)) };
        let first = steps.first().and_then(instruction).map(|id| (module, id));
        functions.function(&name, signature, first, |b, args| {
            Host::new(b, &program, kernels.start(number), steps, args).finish(steps).map(drop)
        })?;
    }
    Ok(())
}

/// Assigns a number to each stream of random draws of the program.
fn streams(plan: &Plan) -> BTreeMap<u64, usize> {
    let mut streams = BTreeMap::new();
    collect_all_runtime(plan, &mut |call| {
        for argument in &call.arguments {
            if let Argument::Draws(stream) = *argument {
                let next = streams.len();
                streams.entry(stream).or_insert(next);
            }
        }
    });
    streams
}

/// Declares the kernels and their parallel entries.
fn declare_kernels(functions: &ModuleBuilder<'_>, kernels: &KernelTable<'_>) {
    for function in kernels.functions() {
        let parameters = crate::kernel_functions::parameters(functions, function.kernel.spec.slots);
        if let Some(parameters) = &parameters {
            functions.declaration(&function.name, Signature { parameters, result: None });
        }
        let parameters = crate::kernel_functions::parallel_parameters(functions);
        let signature = Signature { parameters: &parameters, result: None };
        functions.declaration(&function.parallel_name(), signature);
    }
}

/// Declares the runtime functions that the plan calls.
fn declare_runtime<'c>(functions: &ModuleBuilder<'c>, plan: &Plan, kernels: &KernelTable<'_>) {
    let mut names = BTreeSet::from(["hlo_rt_watch", copies::ADDRESSES_SYMBOL]);
    collect_all_runtime(plan, &mut |call| {
        names.insert(call.symbol);
    });
    if kernels.uses().iter().any(|u| u.is_parallel()) {
        names.insert("hlo_rt_parallel_for");
    }
    for steps in plan.bodies() {
        copies::for_each_table(steps, &mut |_| {
            names.insert(copies::COPIES_SYMBOL);
        });
    }
    for symbol in hlo_runtime::symbols().iter().filter(|s| names.contains(s.name)) {
        let ty = |t: ArgType| -> Type<'c> {
            match t {
                ArgType::Ptr => functions.ptr(),
                ArgType::I32 => functions.int(32),
                ArgType::I64 => functions.int(64),
                ArgType::F32 => Type::float32(functions.context()),
                ArgType::F64 => Type::float64(functions.context()),
            }
        };
        let parameters: Vec<_> = symbol.args.iter().map(|&t| (ty(t), None)).collect();
        let signature = Signature { parameters: &parameters, result: symbol.result.map(ty) };
        functions.declaration(symbol.name, signature);
    }
}

/// Calls `found` for every runtime call of a plan.
pub(crate) fn collect_all_runtime<'p>(plan: &'p Plan, found: &mut impl FnMut(&'p RuntimeCall<BufferRef>)) {
    plan.bodies().for_each(|steps| collect_runtime(steps, found));
}

/// Calls `found` for every runtime call of the steps.
fn collect_runtime<'p>(steps: &'p [Step<BufferRef>], found: &mut impl FnMut(&'p RuntimeCall<BufferRef>)) {
    for step in steps {
        match step {
            Step::Runtime(call) => found(call),
            Step::Kernel(_) | Step::Copy { .. } => {}
            Step::While { condition, body, .. } => {
                collect_runtime(condition, found);
                collect_runtime(body, found);
            }
            Step::Conditional { branches, .. } => {
                branches.iter().for_each(|b| collect_runtime(b, found));
            }
        }
    }
}

/// Adds a global for each distinct descriptor and table, and returns their names.
fn emit_descriptors(
    functions: &ModuleBuilder<'_>,
    plan: &Plan,
    kernels: &KernelTable<'_>,
) -> BTreeMap<Vec<i64>, String> {
    let mut names = BTreeMap::new();
    let mut add = |words: &[i64]| {
        if !names.contains_key(words) {
            let name = format!("descriptor_{}", names.len());
            functions.global_i64s(&name, words);
            names.insert(words.to_vec(), name);
        }
    };
    collect_all_runtime(plan, &mut |call| {
        if call.arguments.contains(&Argument::Descriptor) && !call.descriptor.is_empty() {
            add(&call.descriptor);
        }
        if call.takes_lists() {
            copies::addresses(listed(call)).iter().for_each(|words| add(words));
        }
    });
    for u in kernels.uses().iter().filter(|u| u.takes_list()) {
        copies::addresses(u.buffers.iter().copied()).iter().for_each(|words| add(words));
    }
    for steps in plan.bodies() {
        copies::for_each_table(steps, &mut |words| add(&words));
    }
    names
}

/// Returns the buffers whose addresses a runtime call receives in a list: its operands, then its results.
fn listed(call: &RuntimeCall<BufferRef>) -> impl ExactSizeIterator<Item = BufferRef> + Clone {
    let operands = call.operands.len();
    let at = move |i: usize| if i < operands { call.operands[i] } else { call.results[i - operands] };
    (0..operands + call.results.len()).map(at)
}

/// A computation on scalars that becomes a function, which the runtime calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Applied {
    Comparator(ComputationId),
    Combiner(ComputationId, ElementType),
}

impl Applied {
    fn of(argument: &Argument) -> Option<Self> {
        match *argument {
            Argument::Comparator(computation) => Some(Self::Comparator(computation)),
            Argument::Combiner(computation, ty) => Some(Self::Combiner(computation, ty)),
            _ => None,
        }
    }
}

/// Adds a function for each computation that the runtime compares or combines elements with, and returns
/// their names.
fn emit_applied(
    functions: &ModuleBuilder<'_>,
    module: &Module,
    plan: &Plan,
) -> Result<HashMap<Applied, String>, Diag> {
    let mut names = HashMap::new();
    let mut emitted = Ok(());
    collect_all_runtime(plan, &mut |call| {
        for applied in call.arguments.iter().filter_map(Applied::of) {
            let next = names.len();
            names.entry(applied).or_insert_with(|| {
                let (name, function) = match applied {
                    Applied::Comparator(computation) => {
                        let name = format!("comparator_{next}");
                        let function = comparator::emit_function(functions, module, computation, &name);
                        (name, function)
                    }
                    Applied::Combiner(computation, ty) => {
                        let name = format!("combiner_{next}");
                        let function = combiner::emit_function(functions, module, computation, ty, &name);
                        (name, function)
                    }
                };
                if emitted.is_ok() {
                    emitted = function.map_err(|refusal| refusal.of(module, call.instruction));
                }
                name
            });
        }
    });
    emitted.map(|()| names)
}

/// The data that all host functions of a program share.
struct Program<'a, 'c> {
    module: &'a Module,
    plan: &'a Plan,
    kernels: &'a KernelTable<'a>,
    /// The module that functions are added to.
    functions: &'a ModuleBuilder<'c>,
    /// The names of globals.
    descriptors: BTreeMap<Vec<i64>, String>,
    /// The names of the functions that the runtime calls.
    applied: HashMap<Applied, String>,
    /// The numbers of the streams of random draws.
    streams: BTreeMap<u64, usize>,
    /// The number of functions emitted so far that are parts of other functions.
    parts: Cell<usize>,
    watching: Watching,
}

struct Host<'a, 'c> {
    b: &'a Builder<'c>,
    program: &'a Program<'a, 'c>,
    context: V<'c>,
    arena: V<'c>,
    /// The lists of the addresses of parameters, outputs and constants.
    lists: [V<'c>; 3],
    /// The addresses of the buffers that the steps use, if there are few.
    outside: BTreeMap<BufferRef, V<'c>>,
    /// Stack memory for the addresses that a parallel loop or a runtime call receives in a list.
    arguments: Option<V<'c>>,
    /// The counters of random draws, an `i64` for each stream.
    counters: V<'c>,
    /// The block that returns after a failure, or `None` if nothing can fail.
    failed: Option<Label<'c>>,
    /// The address of the two words of `hlo_ir::watch`, if the program is watched.
    watch: Option<V<'c>>,
    /// The number of kernel calls emitted so far: an index into the table's list.
    next_use: Cell<usize>,
    /// The remaining size of this function: see [`parts`].
    room: Cell<usize>,
    /// Whether the steps being emitted are known to fit into this function.
    fits: Cell<bool>,
}

impl<'a, 'c> Host<'a, 'c> {
    /// Begins the function of these steps. `first_use` is the index of their first kernel call.
    fn new(
        b: &'a Builder<'c>,
        program: &'a Program<'a, 'c>,
        first_use: usize,
        steps: &[Step<BufferRef>],
        args: &[V<'c>],
    ) -> Self {
        let [context, params, outputs, arena, constants, passed @ ..] = args else {
            unreachable!("the host function has five parameters, the others six")
        };
        let lists = [*params, *outputs, *constants];
        let mut seen = BTreeSet::new();
        for_each_buffer(steps, &mut |buffer| {
            seen.insert(buffer);
        });
        let few =
            seen.iter().filter(|b| !matches!(b, BufferRef::Arena(_))).count() <= MAX_PRELOADED_ADDRESSES;
        let outside = if few {
            seen.into_iter().filter_map(|r| Some((r, outside(b, lists, r)?))).collect()
        } else {
            BTreeMap::new()
        };
        let most = program.longest_list(first_use, steps);
        let arguments = most.map(|n| b.alloca(b.ptr(), n.max(1) as i64));
        let counters = match passed.first() {
            Some(&counters) => counters,
            None if program.streams.is_empty() => b.null(),
            None => {
                let counters = b.alloca(b.i64(), program.streams.len() as i64);
                for n in 0..program.streams.len() {
                    b.store(b.index(0), b.gep(counters, b.index(n as i64), b.i64()));
                }
                counters
            }
        };
        // The block is only created if it can be reached, because unreachable blocks are not lowered.
        let mut can_fail = program.watching == Watching::Watched && has_loop(steps);
        collect_runtime(steps, &mut |_| can_fail = true);
        let failed = can_fail.then(|| b.label());
        Self {
            b,
            program,
            context: *context,
            arena: *arena,
            lists,
            outside,
            arguments,
            counters,
            watch: match program.watching {
                Watching::Watched => b.call("hlo_rt_watch", &[*context], Some(b.ptr())),
                Watching::Unwatched => None,
            },
            failed,
            next_use: Cell::new(first_use),
            room: Cell::new(parts::MAX_FUNCTION_SIZE),
            fits: Cell::new(false),
        }
    }

    /// Emits the steps and the function's end, and returns the index of the next kernel call.
    fn finish(self, steps: &[Step<BufferRef>]) -> Result<usize, Diag> {
        let b = self.b;
        self.steps(steps)?;
        b.ret(Some(b.const_int(b.int(32), 0)));
        if let Some(failed) = self.failed {
            b.place(failed);
            b.ret(Some(b.const_int(b.int(32), 1)));
        }
        Ok(self.next_use.get())
    }

    /// Emits steps into this function.
    fn emit_inline(&self, steps: &[Step<BufferRef>]) -> Result<(), Diag> {
        for part in copies::parts(steps) {
            match copies::table(part) {
                Some(words) => self.copies(&words),
                None => part.iter().try_for_each(|step| self.step(step))?,
            }
        }
        Ok(())
    }

    fn step(&self, step: &Step<BufferRef>) -> Result<(), Diag> {
        match instruction(step) {
            Some(id) => self.b.at(self.program.module, id, || self.unlocated_step(step)),
            None => self.unlocated_step(step),
        }
    }

    fn unlocated_step(&self, step: &Step<BufferRef>) -> Result<(), Diag> {
        match step {
            Step::Kernel(_) => self.kernel()?,
            Step::Copy { from, to, bytes } => self.copy(*from, *to, *bytes),
            Step::Runtime(call) => self.runtime(call),
            Step::While { instruction, condition, predicate, body } => {
                self.while_loop(*instruction, condition, *predicate, body)?;
            }
            Step::Conditional { selector, by_pred, branches } => {
                self.conditional(*selector, *by_pred, branches)?;
            }
        }
        Ok(())
    }

    /// Returns the address of a buffer.
    fn address(&self, buffer: BufferRef) -> V<'c> {
        let b = self.b;
        if let BufferRef::Arena(offset) = buffer {
            return b.gep(self.arena, b.index(offset as i64), b.int(8));
        }
        let loaded = self.outside.get(&buffer).copied();
        loaded.or_else(|| outside(b, self.lists, buffer)).unwrap_or_else(|| b.null())
    }

    fn kernel(&self) -> Result<(), Diag> {
        let b = self.b;
        let at = self.next_use.replace(self.next_use.get() + 1);
        let Some(u) = self.program.kernels.uses().get(at) else { return Ok(()) };
        let buffers = || -> Vec<V<'c>> { u.buffers.iter().map(|&r| self.address(r)).collect() };
        let range = || [b.index(0), b.index(u.iterations)];
        let function = match &u.code {
            KernelCode::Inline(kernel) => {
                let range = range();
                return emit_kernel(b, kernel, &buffers(), range);
            }
            KernelCode::Function(number) => &self.program.kernels.functions()[*number],
        };
        self.note(u.instruction);
        let range = range();
        match self.arguments {
            Some(arguments) if u.takes_list() => self.by_list(u, function, arguments, range),
            _ => {
                let operands: Vec<V<'c>> = buffers().into_iter().chain(range).collect();
                b.call(&function.name, &operands, None);
            }
        }
        Ok(())
    }

    /// Calls a kernel through its entry that takes a list of addresses, on all threads if the call is
    /// parallel.
    fn by_list(&self, u: &KernelUse<'_>, function: &KernelFunction<'_>, arguments: V<'c>, range: [V<'c>; 2]) {
        let b = self.b;
        self.list(arguments, u.buffers.iter().copied());
        let entry = function.parallel_name();
        let [begin, end] = range;
        if u.is_parallel() {
            let (entry, grain) = (b.address_of(&entry), b.index(u.grain));
            b.call("hlo_rt_parallel_for", &[self.context, entry, arguments, end, grain], None);
        } else {
            b.call(&entry, &[arguments, begin, end], None);
        }
    }

    fn copy(&self, from: BufferRef, to: BufferRef, bytes: u64) {
        let b = self.b;
        let target = self.address(to);
        if bytes <= MAX_INLINE_COPY_BYTES && bytes.is_power_of_two() {
            let ty = b.int(8 * bytes as u32);
            b.store(self.scalar(from, ty), target);
            return;
        }
        b.memcpy(target, self.address(from), b.index(bytes as i64));
    }

    /// Returns the bits of a small buffer. A constant becomes an immediate.
    fn scalar(&self, from: BufferRef, ty: Type<'c>) -> V<'c> {
        if let BufferRef::Constant(n) = from
            && let Some(constant) = self.program.plan.constants.get(n)
        {
            let mut word = [0u8; 8];
            let n = constant.bytes.len().min(8);
            word[..n].copy_from_slice(&constant.bytes[..n]);
            return self.b.const_int(ty, i64::from_le_bytes(word));
        }
        self.b.load(ty, self.address(from))
    }

    /// Stores the current instruction for the watcher.
    fn note(&self, instruction: InstrId) {
        let (b, Some(watch)) = (self.b, self.watch) else { return };
        let word = b.gep(watch, b.index(POSITION_WORD as i64), b.int(32));
        b.store_volatile(b.const_int(b.int(32), i64::from(Watch::place(instruction))), word);
    }

    /// Ends the program if the watcher has stopped it.
    fn check_stop(&self) {
        let b = self.b;
        let (Some(failed), Some(watch)) = (self.failed, self.watch) else { return };
        let word = b.gep(watch, b.index(STOP_WORD as i64), b.int(32));
        let stop = b.load_volatile(b.int(32), word);
        let next = b.label();
        b.branch(b.cmpi(IntPredicate::Eq, stop, b.const_int(b.int(32), 0)), next, failed);
        b.place(next);
    }

    fn runtime(&self, call: &RuntimeCall<BufferRef>) {
        self.note(call.instruction);
        let one_by_one =
            call.arguments.iter().any(|a| matches!(a, Argument::Operand(_) | Argument::Result(_)));
        let buffers: Vec<V<'c>> =
            if one_by_one { listed(call).map(|r| self.address(r)).collect() } else { Vec::new() };
        let status = self.runtime_in_loops(call, 0, buffers);
        let b = self.b;
        if let Some(failed) = self.failed {
            let fine = b.cmpi(IntPredicate::Eq, status, b.const_int(b.int(32), 0));
            let next = b.label();
            b.branch(fine, next, failed);
            b.place(next);
        }
    }

    /// Emits a runtime call, with the loops around it, and returns the combined status.
    fn runtime_in_loops(&self, call: &RuntimeCall<BufferRef>, depth: usize, buffers: Vec<V<'c>>) -> V<'c> {
        let b = self.b;
        let fine = b.const_int(b.int(32), 0);
        let Some(outer) = call.loops.get(depth) else {
            return self.runtime_call(call, &buffers).unwrap_or(fine);
        };
        let body = |i: V<'c>, before: &[V<'c>]| {
            let moved = buffers
                .iter()
                .zip(&outer.strides)
                .map(|(&pointer, &stride)| b.gep(pointer, b.index_mul(i, b.index(stride)), b.int(8)))
                .collect();
            let status = self.runtime_in_loops(call, depth + 1, moved);
            Ok::<_, Infallible>(before.iter().map(|&s| b.binary(Binary::Ori, s, status)).collect())
        };
        let Ok(status) = b.for_carry(b.index(0), b.index(outer.count), 1, &[fine], body);
        status.first().copied().unwrap_or(fine)
    }

    fn runtime_call(&self, call: &RuntimeCall<BufferRef>, buffers: &[V<'c>]) -> Option<V<'c>> {
        let b = self.b;
        let lists = match self.arguments {
            Some(list) if call.takes_lists() => {
                debug_assert!(call.loops.is_empty(), "lists of addresses that move");
                self.list(list, listed(call));
                list
            }
            _ => b.null(),
        };
        let global = |name: Option<&String>| name.map_or_else(|| b.null(), |name| b.address_of(name));
        let argument = |a: &Argument| match *a {
            Argument::Descriptor => global(self.program.descriptors.get(&call.descriptor)),
            Argument::DescriptorFrom(n) => {
                let words = global(self.program.descriptors.get(&call.descriptor));
                b.gep(words, b.index(n as i64), b.i64())
            }
            Argument::Operands => lists,
            Argument::Results => b.gep(lists, b.index(call.operands.len() as i64), b.ptr()),
            Argument::Comparator(_) | Argument::Combiner(..) => {
                global(Applied::of(a).and_then(|applied| self.program.applied.get(&applied)))
            }
            Argument::Operand(n) => buffers[n],
            Argument::Result(n) => buffers[call.operands.len() + n],
            Argument::Draws(stream) => {
                let number = self.program.streams.get(&stream).copied().unwrap_or(0);
                b.gep(self.counters, b.index(number as i64), b.i64())
            }
            Argument::Function(number) => b.address_of(&function_name(number)),
            Argument::Constants => self.lists[2],
            Argument::Counters => self.counters,
            Argument::Number(n) => b.index(n),
        };
        let operands: Vec<V<'c>> =
            std::iter::once(self.context).chain(call.arguments.iter().map(argument)).collect();
        b.call(call.symbol, &operands, Some(b.int(32)))
    }

    fn while_loop(
        &self,
        instruction: InstrId,
        condition: &[Step<BufferRef>],
        predicate: BufferRef,
        body: &[Step<BufferRef>],
    ) -> Result<(), Diag> {
        let b = self.b;
        let [head, inside, after] = [b.label(), b.label(), b.label()];
        b.jump(head);
        b.place(head);
        self.note(instruction);
        self.check_stop();
        self.steps(condition)?;
        b.branch(self.predicate(predicate), inside, after);
        b.place(inside);
        self.steps(body)?;
        b.jump(head);
        b.place(after);
        Ok(())
    }

    fn predicate(&self, buffer: BufferRef) -> V<'c> {
        let b = self.b;
        let byte = self.scalar(buffer, b.int(8));
        b.cmpi(IntPredicate::Ne, byte, b.const_int(b.int(8), 0))
    }

    fn conditional(
        &self,
        selector: BufferRef,
        by_pred: bool,
        branches: &[Vec<Step<BufferRef>>],
    ) -> Result<(), Diag> {
        let b = self.b;
        let after = b.label();
        if let (true, [on_true, on_false]) = (by_pred, branches) {
            self.either(self.predicate(selector), |side| {
                self.steps(if side { on_true } else { on_false })?;
                b.jump(after);
                Ok(())
            })?;
        } else {
            let index = self.scalar(selector, b.int(32));
            debug_assert_eq!(index.r#type(), b.int(32));
            self.branches(index, 0, branches, after)?;
        }
        b.place(after);
        Ok(())
    }

    /// Emits both sides of a branch, each in its own block.
    fn either(&self, condition: V<'c>, side: impl Fn(bool) -> Result<(), Diag>) -> Result<(), Diag> {
        let b = self.b;
        let [then, otherwise] = [b.label(), b.label()];
        b.branch(condition, then, otherwise);
        b.place(then);
        side(true)?;
        b.place(otherwise);
        side(false)
    }

    /// Emits the branches from number `first` on. They are selected by binary search, so that many branches
    /// do not nest deeply. The comparison is unsigned: a negative index selects the last branch.
    fn branches(
        &self,
        index: V<'c>,
        first: usize,
        branches: &[Vec<Step<BufferRef>>],
        after: Label<'c>,
    ) -> Result<(), Diag> {
        let b = self.b;
        if let [] | [_] = branches {
            branches.iter().try_for_each(|one| self.steps(one))?;
            b.jump(after);
            return Ok(());
        }
        let (low, high) = branches.split_at(branches.len() / 2);
        let middle = first + low.len();
        let below = b.cmpi(IntPredicate::Ult, index, b.const_int(index.r#type(), middle as i64));
        self.either(below, |side| {
            if side {
                self.branches(index, first, low, after)
            } else {
                self.branches(index, middle, high, after)
            }
        })
    }
}

/// Returns the instruction that a step computes. Copies belong to the surrounding step.
fn instruction(step: &Step<BufferRef>) -> Option<InstrId> {
    match step {
        Step::Kernel(call) => Some(call.instruction),
        Step::Runtime(call) => Some(call.instruction),
        Step::While { instruction, .. } => Some(*instruction),
        Step::Copy { .. } | Step::Conditional { .. } => None,
    }
}

/// Loads the address of a buffer from the list of parameters, outputs or constants that contains it.
fn outside<'c>(b: &Builder<'c>, lists: [V<'c>; 3], buffer: BufferRef) -> Option<V<'c>> {
    let [params, outputs, constants] = lists;
    let (list, number) = match buffer {
        BufferRef::Param(n) => (params, n),
        BufferRef::Output(n) => (outputs, n),
        BufferRef::Constant(n) => (constants, n),
        BufferRef::Arena(_) => return None,
    };
    Some(b.load(b.ptr(), b.gep(list, b.index(number as i64), b.ptr())))
}

/// Returns whether the steps contain a loop.
fn has_loop(steps: &[Step<BufferRef>]) -> bool {
    steps.iter().any(|step| match step {
        Step::While { .. } => true,
        Step::Conditional { branches, .. } => branches.iter().any(|b| has_loop(b)),
        Step::Kernel(_) | Step::Copy { .. } | Step::Runtime(_) => false,
    })
}

/// Calls `f` for every buffer that a step names, except those of tables of copies, which are resolved at run
/// time.
fn for_each_buffer(steps: &[Step<BufferRef>], f: &mut impl FnMut(BufferRef)) {
    for step in copies::parts(steps).filter(|&part| !copies::is_table(part)).flatten() {
        match step {
            Step::Kernel(k) => {
                k.operands.iter().flatten().chain(&k.results).for_each(|&b| f(b));
            }
            Step::Copy { from, to, .. } => {
                f(*from);
                f(*to);
            }
            Step::Runtime(r) => r.operands.iter().chain(&r.results).for_each(|&b| f(b)),
            Step::While { condition, predicate, body, .. } => {
                for_each_buffer(condition, f);
                f(*predicate);
                for_each_buffer(body, f);
            }
            Step::Conditional { selector, branches, .. } => {
                f(*selector);
                branches.iter().for_each(|b| for_each_buffer(b, f));
            }
        }
    }
}
