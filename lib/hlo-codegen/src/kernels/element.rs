//! The context in which the elements of a kernel are emitted: the buffers, and the values that were already
//! computed.

use super::index::{self, Idx};
use crate::builder::{Binary, Builder, Cast, V};
use crate::elem::{self, Elem};
use hlo_ir::{ArrayShape, ElementType, InstrId};
use hlo_kernel::{Body, Root};
use hlo_plan::fusions::{MAX_DEPTH, MAX_ELEMENTS};
use hlo_plan::{Refusal, array};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// An instruction, and the index of one of its elements.
pub(super) type Key = (InstrId, Vec<(usize, i64)>);

/// A precomputed value that replaces the computation of an instruction.
#[derive(Clone, Copy)]
pub enum Precomputed<'c> {
    /// The value is the same for every index in the current row.
    Scalar(Elem<'c>),
    /// The values are in a row-major array over the last `dims` dimensions of the instruction.
    Row {
        /// The array.
        base: V<'c>,
        /// Number of trailing dimensions that the array covers.
        dims: usize,
    },
}

/// The state of the emission of a kernel's elements.
pub struct ElementCx<'a, 'c> {
    /// The insertion point.
    pub b: &'a Builder<'c>,
    /// The kernel's instructions.
    pub body: &'a Body<'a>,
    buffers: Vec<V<'c>>,
    /// Whether indices are linear positions: see [`Body::is_flat`].
    pub flat: bool,
    // The innermost region is last. Values computed in a region cannot be used outside of it.
    scopes: RefCell<Vec<HashMap<Key, Vec<Elem<'c>>>>>,
    held: RefCell<HashMap<InstrId, Precomputed<'c>>>,
    depth: Cell<usize>,
    /// Number of elements computed so far.
    computed: Cell<usize>,
    /// The instructions that the results need at their own index, operands first. Computing them in this
    /// order limits the nesting depth of long chains.
    pub(super) spine: Vec<InstrId>,
}

impl<'a, 'c> ElementCx<'a, 'c> {
    /// Creates a context that reads from and writes to `buffers`.
    pub fn new(b: &'a Builder<'c>, body: &'a Body<'a>, buffers: &[V<'c>], flat: bool) -> Self {
        Self {
            b,
            body,
            buffers: buffers.to_vec(),
            flat,
            scopes: RefCell::new(vec![HashMap::new()]),
            held: RefCell::new(HashMap::new()),
            depth: Cell::new(0),
            computed: Cell::new(0),
            spine: body.elementwise_spine(),
        }
    }

    /// Runs `f` in a nested MLIR region. Values computed in it are removed from the cache afterwards.
    pub fn scoped<T>(&self, f: impl FnOnce() -> T) -> T {
        self.scopes.borrow_mut().push(HashMap::new());
        let result = f();
        self.scopes.borrow_mut().pop();
        result
    }

    /// Makes later uses of the instruction read its value from `held`.
    pub fn set_precomputed(&self, id: InstrId, held: Precomputed<'c>) {
        self.held.borrow_mut().insert(id, held);
    }

    /// Returns the precomputed value of an instruction.
    pub(super) fn precomputed(&self, id: InstrId) -> Option<Precomputed<'c>> {
        self.held.borrow().get(&id).copied()
    }

    /// Returns the values that were already computed for a key.
    pub(super) fn computed_before(&self, key: &Key) -> Option<Vec<Elem<'c>>> {
        self.scopes.borrow().iter().rev().find_map(|s| s.get(key).cloned())
    }

    /// Records the values of a key, until the current region ends.
    pub(super) fn set_computed(&self, key: Key, values: &[Elem<'c>]) {
        if let Some(scope) = self.scopes.borrow_mut().last_mut() {
            scope.insert(key, values.to_vec());
        }
    }

    /// Computes the values of an instruction that another instruction uses. Returns an error if instructions
    /// nest too deeply or the kernel computes too many values.
    pub(super) fn one_deeper<T>(&self, compute: impl FnOnce() -> Result<T, Refusal>) -> Result<T, Refusal> {
        let (depth, computed) = (self.depth.get() + 1, self.computed.get() + 1);
        if depth > MAX_DEPTH || computed > MAX_ELEMENTS {
            return Err(if depth > MAX_DEPTH {
                format!("a kernel whose instructions nest more than {MAX_DEPTH} deep").into()
            } else {
                format!("a kernel that computes more than {MAX_ELEMENTS} values for each element").into()
            });
        }
        self.computed.set(computed);
        self.depth.set(depth);
        let outcome = compute();
        self.depth.set(depth - 1);
        outcome
    }

    /// Returns the address of a buffer.
    pub fn buffer(&self, slot: usize) -> V<'c> {
        self.buffers[slot]
    }

    /// Returns the position of an element in memory, in elements.
    pub fn position(&self, shape: &ArrayShape, index: &[Idx<'c>]) -> V<'c> {
        if self.flat {
            return index.first().copied().unwrap_or(Idx::constant(0)).emit(self.b);
        }
        index::linear(self.b, index, &shape.strides()).emit(self.b)
    }

    /// Allocates an array of `count` elements of type `ty` on the stack. Must be called in a function's entry
    /// block.
    pub fn stack_array(&self, ty: ElementType, count: i64) -> V<'c> {
        let parts = if ty.is_complex() { 2 } else { 1 };
        self.b.alloca(elem::memory_type(self.b, ty), count * parts)
    }

    /// Stores an element of a result.
    pub fn store(&self, root: &Root, index: &[Idx<'c>], value: Elem<'c>) -> Result<(), Refusal> {
        let shape = self.body.root_shape(root)?;
        let at = self.position(shape, index);
        elem::store(self.b, shape.element_type, self.buffers[root.slot], at, value);
        Ok(())
    }

    /// Returns a placeholder for an element that no iteration needs. The code must be well formed even if a
    /// loop has no iterations.
    pub(super) fn no_element(&self, ty: ElementType) -> Elem<'c> {
        elem::constant(self.b, ty, &[])
    }

    /// Returns an operand of an instruction.
    pub(super) fn operand(&self, id: InstrId, n: usize) -> InstrId {
        self.body.module[id].operands[n]
    }

    /// Returns the shape of an array.
    pub(super) fn shape(&self, id: InstrId) -> Result<&'a ArrayShape, Refusal> {
        array(self.body.module, id)
    }

    /// Emits the conjunction of conditions; `None` if there are none.
    pub(super) fn condition(&self, conditions: Vec<V<'c>>) -> Option<V<'c>> {
        conditions.into_iter().reduce(|a, c| self.b.binary(Binary::Andi, a, c))
    }

    /// Emits `if condition { then } else { otherwise }` on elements. A missing condition is true.
    pub fn choose(
        &self,
        condition: Option<V<'c>>,
        ty: ElementType,
        then: impl FnOnce() -> Result<Elem<'c>, Refusal>,
        otherwise: impl FnOnce() -> Result<Elem<'c>, Refusal>,
    ) -> Result<Elem<'c>, Refusal> {
        let Some(condition) = condition else { return then() };
        let types = elem::types(self.b, ty);
        let side = |value: Result<Elem<'c>, Refusal>| value.map(|v| v.flatten());
        let values =
            self.b.if_else(condition, &types, || side(self.scoped(then)), || side(self.scoped(otherwise)))?;
        Ok(Elem::from_values(ty, &values))
    }

    /// Returns an integer element as an index clamped to `0..=limit`.
    pub fn clamped(&self, e: Elem<'c>, ty: ElementType, limit: i64) -> Result<Idx<'c>, Refusal> {
        let b = self.b;
        let v = self.wide(e, ty)?;
        let (zero, limit_v) = (b.index(0), b.index(limit));
        let clamped = if ty.is_unsigned_integer() {
            b.binary(Binary::Umin, v, limit_v)
        } else {
            let low = b.binary(Binary::Smax, v, zero);
            b.binary(Binary::Smin, low, limit_v)
        };
        Ok(Idx::value(clamped, 0, limit))
    }

    /// Returns an integer element extended to 64 bits.
    pub fn wide(&self, e: Elem<'c>, ty: ElementType) -> Result<V<'c>, Refusal> {
        let Elem::One(v) = e else { return Err("an index can't be complex".into()) };
        let b = self.b;
        Ok(match ty {
            t if t.bit_width() == 64 => v,
            t if t.is_signed_integer() => b.cast(Cast::Extsi, v, b.i64()),
            t if t.is_unsigned_integer() || t.is_pred() => b.cast(Cast::Extui, v, b.i64()),
            _ => return Err(format!("an index can't be of type {ty}").into()),
        })
    }
}
