//! Emission of one element of an instruction as a function of its index. Fusions are emitted this way.
//!
//! [`ElementCx::value`] walks from the requested element back through the instructions of the kernel to
//! loads. On the way it maps the index through broadcasts, slices, transposes, …. Values computed for an
//! index are cached, so that a value with several users is computed once.

use super::body::{Body, Root, Source, array};
use super::index::{self, Idx};
use super::scalar;
use crate::builder::{Binary, Builder, Cast, IntPredicate, V};
use crate::elem::{self, Elem};
use crate::ops::{convert, elementwise};
use hlo_ir::access::{Along, Axis};
use hlo_ir::{ArrayShape, ElementType, InstrId, Moves, Op};
use hlo_plan::Refusal;
use hlo_plan::fusions::{MAX_DEPTH, MAX_ELEMENTS};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;

type Key = (InstrId, Vec<(usize, i64)>);

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
    spine: Vec<InstrId>,
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

    /// Returns the shape of a result.
    pub fn root_shape(&self, root: &Root) -> Result<&'a ArrayShape, Refusal> {
        let leaves = self.body.module[root.id].shape.leaves();
        leaves.get(root.leaf).and_then(|s| s.as_array()).ok_or_else(|| "a result that is not an array".into())
    }

    /// Stores an element of a result.
    pub fn store(&self, root: &Root, index: &[Idx<'c>], value: Elem<'c>) -> Result<(), Refusal> {
        let shape = self.root_shape(root)?;
        let at = self.position(shape, index);
        elem::store(self.b, shape.element_type, self.buffers[root.slot], at, value);
        Ok(())
    }

    /// Returns the element of an instruction at an index.
    pub fn value(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let results = self.results(id, index)?;
        results
            .first()
            .copied()
            .ok_or_else(|| format!("`{}` has no result", self.body.module[id].name).into())
    }

    /// Returns the elements of all results of an instruction at an index. A variadic reduction or a tuple has
    /// several results.
    pub fn results(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
        if let Some(held) = self.held.borrow().get(&id).copied() {
            return Ok(vec![self.precomputed_value(id, held, index)?]);
        }
        let key: Key = (id, index.iter().map(|i| i.key()).collect());
        if let Some(e) = self.scopes.borrow().iter().rev().find_map(|s| s.get(&key).cloned()) {
            return Ok(e);
        }
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
        let module = self.body.module;
        let values = self.b.at(module, id, || self.fresh_results(id, index)).map_err(|e| e.at(module, id));
        self.depth.set(depth - 1);
        let values = values?;
        if let Some(scope) = self.scopes.borrow_mut().last_mut() {
            scope.insert(key, values.clone());
        }
        Ok(values)
    }

    /// Computes the elements of all results of an instruction that is not in the cache.
    fn fresh_results(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
        Ok(match self.body.sources.get(&id) {
            Some(Source::Slot(slot)) => {
                let shape = array(self.body.module, id)?;
                let at = self.position(shape, index);
                vec![elem::load(self.b, shape.element_type, self.buffers[*slot], at)]
            }
            Some(Source::Constant(c)) => vec![self.constant(*c, index)?],
            None => match &self.body.module[id].op {
                Op::Reduce(_) => super::reduce::element(self, id, index)?,
                Op::ReduceWindow(_) => super::window::element(self, id, index)?,
                Op::Tuple => {
                    let operands = &self.body.module[id].operands;
                    operands.iter().map(|&o| self.value(o, index)).collect::<Result<_, _>>()?
                }
                _ => vec![self.compute(id, index)?],
            },
        })
    }

    /// Returns the elements of the kernel's results at an index.
    pub fn root_values(&self, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
        for &id in &self.spine {
            // As operands, scalars have an empty index, even if positions are linear.
            let scalar = self.body.module[id].shape.is_scalar();
            self.results(id, if scalar { &[] } else { index })?;
        }
        let value = |root: &Root| {
            let results = self.results(root.id, index)?;
            results.get(root.leaf).copied().ok_or_else(|| "a result that is not computed".into())
        };
        self.body.roots.iter().map(value).collect()
    }

    /// Returns a placeholder for an element that no iteration needs. The code must be well formed even if a
    /// loop has no iterations.
    fn no_element(&self, ty: ElementType) -> Elem<'c> {
        elem::constant(self.b, ty, &[])
    }

    fn precomputed_value(
        &self,
        id: InstrId,
        held: Precomputed<'c>,
        index: &[Idx<'c>],
    ) -> Result<Elem<'c>, Refusal> {
        match held {
            Precomputed::Scalar(e) => Ok(e),
            Precomputed::Row { base, dims } => {
                let shape = array(self.body.module, id)?;
                let first = shape.rank() - dims;
                let at = index::linear(self.b, &index[first..], &shape.row_major_strides()[first..]);
                Ok(elem::load(self.b, shape.element_type, base, at.emit(self.b)))
            }
        }
    }

    pub(super) fn operand(&self, id: InstrId, n: usize) -> InstrId {
        self.body.module[id].operands[n]
    }

    pub(super) fn shape(&self, id: InstrId) -> Result<&'a ArrayShape, Refusal> {
        array(self.body.module, id)
    }

    /// Returns an element of a constant of any rank that is embedded in the code. All its elements are equal,
    /// or the index is known, or it is small.
    fn constant(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let module = self.body.module;
        let Op::Constant(c) = &module[id].op else {
            return Err(format!("`{}` is not a constant and has no buffer", module[id].name).into());
        };
        let shape = self.shape(id)?;
        let size = shape.element_type.byte_size();
        let bytes = c.literal.bytes();
        let uniform = bytes.chunks_exact(size).all(|e| e == &bytes[..size]);
        let position = index
            .iter()
            .zip(shape.row_major_strides())
            .try_fold(0, |p, (i, stride)| Some(p + i.as_constant()? * stride));
        match position {
            _ if bytes.is_empty() => Ok(self.no_element(shape.element_type)),
            _ if uniform => Ok(elem::constant(self.b, shape.element_type, &bytes[..size])),
            Some(p) => Ok(elem::constant(self.b, shape.element_type, &bytes[p as usize * size..][..size])),
            None => self.constant_by_selects(shape, bytes, index),
        }
    }

    /// Returns an element of a small constant array by comparing the position with each index.
    fn constant_by_selects(
        &self,
        shape: &ArrayShape,
        bytes: &[u8],
        index: &[Idx<'c>],
    ) -> Result<Elem<'c>, Refusal> {
        let size = shape.element_type.byte_size();
        let position = if self.flat {
            index[0].emit(self.b)
        } else {
            index::linear(self.b, index, &shape.row_major_strides()).emit(self.b)
        };
        let mut elements = bytes.chunks_exact(size).enumerate();
        let (_, first) = elements.next().ok_or("an empty constant")?;
        let mut out = elem::constant(self.b, shape.element_type, first).flatten();
        for (i, e) in elements {
            let n = self.b.index(i as i64);
            let here = self.b.cmpi(IntPredicate::Eq, position, n);
            let e = elem::constant(self.b, shape.element_type, e).flatten();
            out = e.iter().zip(&out).map(|(&e, &o)| self.b.select(here, e, o)).collect();
        }
        Ok(Elem::from_values(shape.element_type, &out))
    }

    fn compute(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let module = self.body.module;
        let instr = &module[id];
        let b = self.b;
        match &instr.op {
            Op::Constant(_) => self.constant(id, index),
            Op::Iota(a) => {
                let ty = self.shape(id)?.element_type;
                let i = index.get(a.iota_dimension as usize).copied().unwrap_or(Idx::constant(0));
                Ok(convert::from_index(b, ty, i.emit(b)))
            }
            Op::Reshape(_) => {
                let inner = self.relaid_index(id, index)?;
                self.value(self.operand(id, 0), &inner)
            }
            Op::Bitcast => {
                let operand = self.operand(id, 0);
                let (from, to) = (self.shape(operand)?.element_type, self.shape(id)?.element_type);
                if from.byte_size() != to.byte_size() {
                    return Err(
                        format!("a bitcast from {from} to {to} can't be compiled inside a kernel").into()
                    );
                }
                let e = self.value(operand, &self.relaid_index(id, index)?)?;
                if from == to {
                    return Ok(e);
                }
                convert::bitcast_convert(b, to, e, from).map_err(Refusal::from)
            }
            Op::Pad(_) => self.pad(id, index),
            Op::Concatenate(_) => self.concatenate(id, index),
            Op::DynamicSlice(_) => {
                let operand = self.operand(id, 0);
                let starts = self.dynamic_starts(id, 1, self.shape(operand)?, self.shape(id)?)?;
                let inner: Vec<Idx<'c>> = index.iter().zip(starts).map(|(i, s)| s.add(b, *i)).collect();
                self.value(operand, &inner)
            }
            Op::DynamicUpdateSlice => self.dynamic_update_slice(id, index),
            Op::Gather(_) => super::gather::element(self, id, index),
            Op::GetTupleElement(g) => {
                let tuple = self.operand(id, 0);
                let leaves = self.results(tuple, index)?;
                leaves.get(g.index as usize).copied().ok_or_else(|| "a tuple index out of range".into())
            }
            Op::Dot(_) => super::dot::element(self, id, index),
            Op::Map(a) => {
                let arguments: Vec<Elem<'c>> =
                    instr.operands.iter().map(|&o| self.value(o, index)).collect::<Result<_, _>>()?;
                scalar::apply(b, module, a.to_apply, &arguments, false)?
                    .into_iter()
                    .next()
                    .ok_or_else(|| "a map without results".into())
            }
            Op::BitcastConvert => self.bitcast_convert(id, index),
            Op::Copy => self.value(self.operand(id, 0), index),
            op if op.opcode().traits().moves == Moves::View => {
                self.value(self.operand(id, 0), &self.moved_index(id, index)?)
            }
            op => {
                let elementwise = op.elementwise();
                let op =
                    elementwise.ok_or_else(|| format!("{} can't be compiled inside a kernel", op.name()))?;
                let operands = instr
                    .operands
                    .iter()
                    .map(|&o| {
                        let shape = self.shape(o)?;
                        // Some operands of `select` and `clamp` may be scalars.
                        let index = if shape.rank() == 0 { &[][..] } else { index };
                        Ok((self.value(o, index)?, shape.element_type))
                    })
                    .collect::<Result<Vec<_>, Refusal>>()?;
                elementwise::emit(b, op, self.shape(id)?.element_type, &operands).map_err(Refusal::from)
            }
        }
    }

    /// Returns the operand index of an instruction that only moves elements.
    fn moved_index(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Idx<'c>>, Refusal> {
        let access = self.body.module.access(id, 0);
        let unsaid = || {
            let name = self.body.module[id].op.name();
            Refusal::from(format!("{name} can't be compiled inside a kernel"))
        };
        let along = |axis: &Axis| match *axis {
            Axis::Along(Along { dim, stride, offset, step: 1 }) => {
                let i = *index.get(dim).ok_or_else(unsaid)?;
                Ok(match stride {
                    -1 => i.subtracted_from(self.b, offset),
                    _ => i.times(self.b, stride).plus(offset),
                })
            }
            _ => Err(unsaid()),
        };
        access.axes().ok_or_else(unsaid)?.iter().map(along).collect()
    }

    /// Returns the operand index of a reshape, or of a bitcast, which keeps the position in memory.
    fn relaid_index(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Idx<'c>>, Refusal> {
        let to = self.shape(id)?;
        let from = self.shape(self.operand(id, 0))?;
        let reshape = matches!(self.body.module[id].op, Op::Reshape(_));
        if reshape || (to.is_row_major() && from.is_row_major()) {
            return Ok(index::reshape(self.b, index, &from.dims, &to.dims));
        }
        let position = index::linear(self.b, index, &to.strides());
        Ok(index::delinearize(self.b, position, &from.dims, &from.minor_to_major()))
    }

    fn condition(&self, conditions: Vec<V<'c>>) -> Option<V<'c>> {
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

    /// Emits an element of a `pad` (operation semantics, "Pad").
    fn pad(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let Op::Pad(attrs) = &self.body.module[id].op else { return Err("not a pad".into()) };
        let (operand, padding) = (self.operand(id, 0), self.operand(id, 1));
        let from = self.shape(operand)?;
        let b = self.b;
        let mut inside = Vec::new();
        let mut inner = Vec::new();
        for ((i, p), &size) in index.iter().zip(&attrs.padding).zip(&from.dims) {
            // The verifier limits the padded size, but not each of its summands.
            let step = p.interior.saturating_add(1);
            let last = (size - 1).saturating_mul(step);
            let shifted = i.without_padding(b, p.low, last);
            if shifted.hi < 0 || shifted.lo > last || size == 0 {
                return self.value(padding, &[]);
            }
            if shifted.lo < 0 {
                let zero = b.index(0);
                inside.push(b.cmpi(IntPredicate::Sge, shifted.emit(b), zero));
            }
            if shifted.hi > last {
                let limit = b.index(last);
                inside.push(b.cmpi(IntPredicate::Sle, shifted.emit(b), limit));
            }
            let shifted = shifted.within(0, last);
            if step == 1 {
                inner.push(shifted);
            } else {
                let (q, r) = shifted.divide(b, step);
                let zero = b.index(0);
                if r.as_constant() != Some(0) {
                    inside.push(b.cmpi(IntPredicate::Eq, r.emit(b), zero));
                }
                inner.push(q.within(0, size - 1));
            }
        }
        let condition = self.condition(inside);
        let outside = self.value(padding, &[])?;
        self.choose(condition, from.element_type, || self.value(operand, &inner), || Ok(outside))
    }

    fn concatenate(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let Op::Concatenate(attrs) = &self.body.module[id].op else { return Err("not a concatenate".into()) };
        let d = attrs.dimension() as usize;
        let mut pieces = Vec::new();
        let mut start = 0;
        for &o in &self.body.module[id].operands {
            let size = self.shape(o)?.dims[d];
            if size > 0 && index[d].hi >= start && index[d].lo < start + size {
                pieces.push((o, start, size));
            }
            start += size;
        }
        if pieces.is_empty() {
            return Ok(self.no_element(self.shape(id)?.element_type));
        }
        self.piece(id, d, &pieces, index)
    }

    fn piece(
        &self,
        id: InstrId,
        d: usize,
        pieces: &[(InstrId, i64, i64)],
        index: &[Idx<'c>],
    ) -> Result<Elem<'c>, Refusal> {
        if let [(operand, start, size)] = *pieces {
            let mut inner = index.to_vec();
            inner[d] = index[d].plus(-start).within(0, size - 1);
            return self.value(operand, &inner);
        }
        // Binary search, so that many pieces do not nest deeply.
        let (low, high) = pieces.split_at(pieces.len() / 2);
        let Some(&(_, start, _)) = high.first() else { return Err("an empty concatenate".into()) };
        let limit = self.b.index(start);
        let below = self.b.cmpi(IntPredicate::Slt, index[d].emit(self.b), limit);
        let ty = self.shape(id)?.element_type;
        self.choose(Some(below), ty, || self.piece(id, d, low, index), || self.piece(id, d, high, index))
    }

    /// Returns the clamped start indices of a dynamic slice or update. The start indices are the operands
    /// from number `first` on: either one scalar per dimension or one vector.
    pub fn dynamic_starts(
        &self,
        id: InstrId,
        first: usize,
        operand: &ArrayShape,
        window: &ArrayShape,
    ) -> Result<Vec<Idx<'c>>, Refusal> {
        let operands = &self.body.module[id].operands;
        (0..operand.rank())
            .map(|d| {
                let (start, index) = match operands.get(first) {
                    Some(&o) if self.shape(o)?.rank() == 1 => (o, vec![Idx::constant(d as i64)]),
                    _ => (operands[first + d], Vec::new()),
                };
                let limit = operand.dims[d] - window.dims[d];
                if limit == 0 {
                    return Ok(Idx::constant(0));
                }
                let ty = self.shape(start)?.element_type;
                self.clamped(self.value(start, &index)?, ty, limit)
            })
            .collect()
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

    /// Emits a dynamic update that is not in place: each element comes from the update or from the operand.
    fn dynamic_update_slice(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Elem<'c>, Refusal> {
        let (operand, update) = (self.operand(id, 0), self.operand(id, 1));
        let (whole, window) = (self.shape(operand)?, self.shape(update)?);
        let starts = self.dynamic_starts(id, 2, whole, window)?;
        let b = self.b;
        let mut inside = Vec::new();
        let mut inner = Vec::new();
        for (d, start) in starts.iter().enumerate() {
            let (i, s) = (index[d].emit(b), start.emit(b));
            let offset = b.index_sub(i, s);
            if window.dims[d] != whole.dims[d] {
                let size = b.index(window.dims[d]);
                // The comparison is unsigned: a negative offset is outside too.
                inside.push(b.cmpi(IntPredicate::Ult, offset, size));
            }
            inner.push(Idx::value(offset, 0, window.dims[d] - 1));
        }
        let condition = self.condition(inside);
        self.choose(
            condition,
            whole.element_type,
            || self.value(update, &inner),
            || self.value(operand, index),
        )
    }
}
