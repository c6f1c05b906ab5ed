//! Division of long programs into several functions, because LLVM's compile time grows faster than the size
//! of a function. Steps that do not fit into the host function move to functions that it calls.

use super::{Host, Program, copies, instruction, parameters};
use crate::builder::{IntPredicate, Signature};
use hlo_ir::diag::Diag;
use hlo_kernel::{KernelCode, KernelUse};
use hlo_plan::{BufferRef, Step};
use std::ops::Range;

/// Maximum size of a function, in approximate LLVM instructions.
pub(super) const MAX_FUNCTION_SIZE: usize = 2048;
/// Minimum size of a range of steps that becomes a separate function. A smaller one only does if it does not
/// fit into the calling function.
const MIN_OUTLINED_SIZE: usize = 64;

/// Estimates the number of LLVM instructions of steps. Lists must be passed in order, because the estimate
/// consumes the kernel calls.
struct Sizes<'k> {
    /// The remaining kernel calls.
    uses: std::slice::Iter<'k, KernelUse<'k>>,
}

impl Sizes<'_> {
    fn list(&mut self, steps: &[Step<BufferRef>]) -> usize {
        self.units(steps).into_iter().map(|(_, size)| size).sum()
    }

    fn step(&mut self, step: &Step<BufferRef>) -> usize {
        match step {
            Step::Kernel(_) => match self.uses.next() {
                Some(KernelUse { code: KernelCode::Inline(kernel), .. }) => 16 * kernel.code_size,
                Some(u) => 4 + addresses(u.buffers.len()),
                None => 4,
            },
            Step::Copy { .. } => 4,
            Step::Runtime(r) => 8 + addresses(r.operands.len() + r.results.len()),
            // Passes over loops also process the loops around them.
            Step::While { condition, body, .. } => 64 + self.list(condition) + self.list(body),
            Step::Conditional { branches, .. } => branches.iter().map(|b| 8 + self.list(b)).sum(),
        }
    }

    /// Returns the units of emission, each a single step or a table of copies: its number of steps, and its
    /// size.
    fn units(&mut self, steps: &[Step<BufferRef>]) -> Vec<(usize, usize)> {
        let mut out = Vec::with_capacity(steps.len());
        for part in copies::parts(steps) {
            if copies::is_table(part) {
                out.push((part.len(), 8))
            } else {
                out.extend(part.iter().map(|step| (1, self.step(step))))
            }
        }
        out
    }

    /// Splits the steps into ranges of size up to [`MAX_FUNCTION_SIZE`], and returns their sizes. A larger
    /// step gets a range of its own.
    fn split(&mut self, steps: &[Step<BufferRef>]) -> Vec<(Range<usize>, usize)> {
        let mut out: Vec<(Range<usize>, usize)> = Vec::new();
        let mut at = 0;
        for (count, more) in self.units(steps) {
            match out.last_mut() {
                Some((range, size)) if *size + more <= MAX_FUNCTION_SIZE => {
                    *range = range.start..at + count;
                    *size += more;
                }
                _ => out.push((at..at + count, more)),
            }
            at += count;
        }
        out
    }
}

/// Returns the size of code for `count` addresses, loaded one by one or through a table.
fn addresses(count: usize) -> usize {
    if count < copies::MIN_TABLE_ENTRIES { 2 * count } else { 8 }
}

impl<'c> Host<'_, 'c> {
    /// Emits steps. Steps that do not fit into this function become calls of other functions.
    pub(super) fn steps(&self, steps: &[Step<BufferRef>]) -> Result<(), Diag> {
        // The enclosing steps were measured together with these.
        if self.fits.get() {
            return self.emit_inline(steps);
        }
        let uses = self.program.kernels.uses().get(self.next_use.get()..).unwrap_or_default();
        let sizes = || Sizes { uses: uses.iter() };
        let total = sizes().list(steps);
        if total <= self.room.get() {
            return self.measured(steps, total);
        }
        for (range, size) in sizes().split(steps) {
            let part = &steps[range];
            match size {
                _ if size > MAX_FUNCTION_SIZE => self.emit_inline(part)?,
                _ if size < MIN_OUTLINED_SIZE && size <= self.room.get() => self.measured(part, size)?,
                _ => self.call_part(part)?,
            }
        }
        Ok(())
    }

    /// Emits steps of the given size, which fits.
    fn measured(&self, steps: &[Step<BufferRef>], size: usize) -> Result<(), Diag> {
        self.room.set(self.room.get() - size);
        self.fits.set(true);
        let done = self.emit_inline(steps);
        self.fits.set(false);
        done
    }

    /// Emits a function of these steps, and a call of it.
    fn call_part(&self, steps: &[Step<BufferRef>]) -> Result<(), Diag> {
        let program = self.program;
        let name = format!("part_{}", program.parts.replace(program.parts.get() + 1));
        let mut can_fail = false;
        let b = self.b;
        let i32 = b.int(32);
        let signature = Signature { parameters: &parameters(program.functions), result: Some(i32) };
        let first = steps.first().and_then(instruction).map(|id| (program.module, id));
        program.functions.function(&name, signature, first, |b, args| {
            let host = Host::new(b, program, self.next_use.get(), steps, args);
            can_fail = host.failed.is_some();
            self.next_use.set(host.finish(steps)?);
            Ok::<(), Diag>(())
        })?;
        let [params, outputs, constants] = self.lists;
        let arguments = [self.context, params, outputs, self.arena, constants, self.counters];
        let status = b.call(&name, &arguments, Some(i32));
        if let (true, Some(status), Some(failed)) = (can_fail, status, self.failed) {
            let next = b.label();
            b.branch(b.cmpi(IntPredicate::Eq, status, b.const_int(i32, 0)), next, failed);
            b.place(next);
        }
        Ok(())
    }
}

impl Program<'_, '_> {
    /// Returns the maximum number of addresses that a step passes in a list. `first` is the index of the
    /// first kernel call.
    pub(super) fn longest_list(&self, first: usize, steps: &[Step<BufferRef>]) -> Option<usize> {
        let uses = self.kernels.uses().get(first..).unwrap_or_default();
        let in_lists = uses.iter().take(kernel_calls(steps)).filter(|u| u.takes_list());
        let mut most = in_lists.map(|u| u.buffers.len()).max();
        super::collect_runtime(steps, &mut |call| {
            if call.takes_lists() {
                most = most.max(Some(call.operands.len() + call.results.len()));
            }
        });
        most
    }
}

/// Returns the number of kernel calls among the steps.
fn kernel_calls(steps: &[Step<BufferRef>]) -> usize {
    let count = |step: &Step<BufferRef>| match step {
        Step::Kernel(_) => 1,
        Step::Copy { .. } | Step::Runtime(_) => 0,
        Step::While { condition, body, .. } => kernel_calls(condition) + kernel_calls(body),
        Step::Conditional { branches, .. } => branches.iter().map(|b| kernel_calls(b)).sum(),
    };
    steps.iter().map(count).sum()
}
