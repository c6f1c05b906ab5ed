//! The functions of an ahead-of-time program besides its kernels and its host function: the entry, which C calls, and
//! `hlo_rt_parallel_for` of single-threaded programs.

use super::interface::{Interface, Leaf};
use crate::builder::{Binary, Builder, Cast, IntPredicate, Label, ModuleBuilder, Signature, V};
use crate::executable::ARENA_ALIGNMENT;
use crate::host::MAIN;
use crate::kernel_functions::BUFFER_ALIGNMENT;
use std::convert::Infallible;

/// The status that the entry returns if a pointer is null or not aligned.
pub const BAD_POINTER: i32 = 2;

/// The name of the list of the addresses of constants.
pub(super) const CONSTANT_TABLE_SYMBOL: &str = "hlo_constants";

/// Adds the entry. It checks the pointers. If the program needs a context, the entry calls the host function through the
/// runtime.
pub(super) fn add_entry(functions: &ModuleBuilder<'_>, interface: &Interface, takes_context: bool) {
    let (ptr, status) = (functions.ptr(), Some(functions.int(32)));
    let pointers = [(ptr, None); 6];
    functions.external_pointer(CONSTANT_TABLE_SYMBOL);
    functions.declaration(MAIN, Signature { parameters: &pointers[..5], result: status });
    if takes_context {
        functions.declaration(super::RUN_SYMBOL, Signature { parameters: &pointers, result: status });
    }
    let signature = Signature { parameters: &pointers[..4], result: status };
    let Ok(()) = functions.function(&interface.name, signature, None, |b, parameters| {
        let [arguments, results, arena, context] = parameters else { return Ok::<_, Infallible>(()) };
        let checks = Checks { b, bad: b.label() };
        for (list, leaves) in [(*arguments, &interface.parameters), (*results, &interface.results)] {
            if leaves.iter().any(|leaf| leaf.bytes > 0) {
                checks.pointer(list, align_of::<u64>());
            }
            checks.list(list, leaves);
        }
        if interface.arena_bytes > 0 {
            checks.pointer(*arena, ARENA_ALIGNMENT);
        }
        let lists = [*arguments, *results, *arena, b.address_of(CONSTANT_TABLE_SYMBOL)];
        let called = if takes_context {
            b.call(super::RUN_SYMBOL, &[&[*context, b.address_of(MAIN)], &lists[..]].concat(), status)
        } else {
            b.call(MAIN, &[&[b.null()], &lists[..]].concat(), status)
        };
        b.ret(called);
        b.place(checks.bad);
        b.ret(Some(b.const_int(b.int(32), i64::from(BAD_POINTER))));
        Ok(())
    });
}

/// Checks of pointers, which jump to `bad` if a pointer is null or not aligned.
struct Checks<'b, 'c> {
    b: &'b Builder<'c>,
    bad: Label<'c>,
}

impl<'c> Checks<'_, 'c> {
    /// Adds checks of the pointers of a list. The pointers of empty buffers are not checked.
    fn list(&self, list: V<'c>, leaves: &[Leaf]) {
        let mut from = 0;
        for run in leaves.chunk_by(|a, b| (a.bytes > 0) == (b.bytes > 0)) {
            if run.first().is_some_and(|leaf| leaf.bytes > 0) {
                self.run(list, from, from + run.len());
            }
            from += run.len();
        }
    }

    /// Adds a check of the pointers `from..to` of a list.
    fn run(&self, list: V<'c>, from: usize, to: usize) {
        let b = self.b;
        let bounds = [from, to].map(|n| b.index(n as i64));
        let Ok(bad) = b.for_carry(bounds[0], bounds[1], 1, &[b.const_bool(false)], |i, before| {
            let bad = self.is_bad(b.load(b.ptr(), b.gep(list, i, b.ptr())), BUFFER_ALIGNMENT as usize);
            Ok::<_, Infallible>(before.iter().map(|&before| b.binary(Binary::Ori, before, bad)).collect())
        });
        bad.into_iter().for_each(|bad| self.reject_if(bad));
    }

    /// Adds a check of one pointer.
    fn pointer(&self, pointer: V<'c>, alignment: usize) {
        self.reject_if(self.is_bad(pointer, alignment));
    }

    /// Returns whether a pointer is null or not aligned.
    fn is_bad(&self, pointer: V<'c>, alignment: usize) -> V<'c> {
        let b = self.b;
        let address = b.cast(Cast::Ptrtoint, pointer, b.i64());
        let offset = b.binary(Binary::Andi, address, b.index(alignment as i64 - 1));
        let zero = b.index(0);
        let [null, unaligned] = [(IntPredicate::Eq, address), (IntPredicate::Ne, offset)]
            .map(|(predicate, value)| b.cmpi(predicate, value, zero));
        b.binary(Binary::Ori, null, unaligned)
    }

    fn reject_if(&self, bad: V<'c>) {
        let next = self.b.label();
        self.b.branch(bad, self.bad, next);
        self.b.place(next);
    }
}

/// Adds `hlo_rt_parallel_for(context, body, list, iterations, grain)` of single-threaded programs. It runs the chunks that
/// several threads would run, one after the other.
pub(super) fn add_single_threaded_parallel_for(functions: &ModuleBuilder<'_>) {
    let (ptr, i64) = (functions.ptr(), functions.int(64));
    let parameters = [ptr, ptr, ptr, i64, i64].map(|ty| (ty, None));
    let signature = Signature { parameters: &parameters, result: None };
    let Ok(()) = functions.function("hlo_rt_parallel_for", signature, None, |b, parameters| {
        let [_, body, list, iterations, grain] = parameters else { return Ok::<_, Infallible>(()) };
        b.while_loop(
            &[b.index(0)],
            |begin| Ok::<_, Infallible>(b.cmpi(IntPredicate::Slt, begin[0], *iterations)),
            |begin| {
                let left = b.subi(*iterations, begin[0]);
                let end = b.addi(begin[0], b.binary(Binary::Minsi, left, *grain));
                b.call_pointer(*body, &[*list, begin[0], end]);
                Ok(vec![end])
            },
        )?;
        b.ret(None);
        Ok(())
    });
}
