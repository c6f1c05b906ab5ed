//! Emission of one element of an instruction as a function of its index. Fusions are emitted this way.
//!
//! [`ElementCx::value`] walks from the requested element back through the instructions of the kernel to
//! loads. On the way it maps the index through broadcasts, slices, transposes, …. Values computed for an
//! index are cached, so that a value with several users is computed once.

use super::element::{ElementCx, Key, Precomputed};
use super::index::{self, Idx};
use super::{dot, gather, reduce, scalar, window};
use crate::builder::IntPredicate;
use crate::elem::{self, Elem};
use crate::ops::{convert, elementwise};
use hlo_ir::access::{Along, Axis};
use hlo_ir::{ArrayShape, InstrId, Moves, Op};
use hlo_kernel::{Root, Source};
use hlo_plan::{Refusal, array};

impl<'c> ElementCx<'_, 'c> {
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
        if let Some(held) = self.precomputed(id) {
            return Ok(vec![self.precomputed_value(id, held, index)?]);
        }
        let key: Key = (id, index.iter().map(|i| i.key()).collect());
        if let Some(known) = self.computed_before(&key) {
            return Ok(known);
        }
        let module = self.body.module;
        let values = self.one_deeper(|| {
            self.b.at(module, id, || self.fresh_results(id, index)).map_err(|e| e.at(module, id))
        })?;
        self.set_computed(key, &values);
        Ok(values)
    }

    /// Computes the elements of all results of an instruction that is not in the cache.
    fn fresh_results(&self, id: InstrId, index: &[Idx<'c>]) -> Result<Vec<Elem<'c>>, Refusal> {
        Ok(match self.body.sources.get(&id) {
            Some(Source::Slot(slot)) => {
                let shape = array(self.body.module, id)?;
                let at = self.position(shape, index);
                vec![elem::load(self.b, shape.element_type, self.buffer(*slot), at)]
            }
            Some(Source::Constant(c)) => vec![self.constant(*c, index)?],
            None => match &self.body.module[id].op {
                Op::Reduce(_) => reduce::element(self, id, index)?,
                Op::ReduceWindow(_) => window::element(self, id, index)?,
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
            Op::Gather(_) => gather::element(self, id, index),
            Op::GetTupleElement(g) => {
                let tuple = self.operand(id, 0);
                let leaves = self.results(tuple, index)?;
                leaves.get(g.index as usize).copied().ok_or_else(|| "a tuple index out of range".into())
            }
            Op::Dot(_) => dot::element(self, id, index),
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
