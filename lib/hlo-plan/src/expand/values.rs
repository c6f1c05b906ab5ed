//! The buffers of values: new buffers, those of constants, and copies in another layout.

use super::{Expander, Frame, Leaves};
use crate::{BufId, Constant, Pin, RuntimeCall, Step, copy, layouts};
use hlo_ir::attr::ConstantAttrs;
use hlo_ir::{ArrayShape, InstrId, Op, Shape};
use std::rc::Rc;

impl Expander<'_> {
    /// Returns the size of a leaf in bytes, or `None` for a token. Reports an error if the leaf can't be
    /// compiled.
    pub(super) fn leaf_bytes(&mut self, id: InstrId, shape: &Shape) -> Option<u64> {
        match shape {
            Shape::Array(a) if a.is_static() => {
                let bytes = a
                    .checked_element_count()
                    .and_then(|n| n.checked_mul(a.element_type.byte_size() as i64))
                    .filter(|&n| n <= i64::MAX / 2);
                if bytes.is_none() {
                    self.reject(id, format!("{a} takes more bytes than can be addressed"));
                }
                bytes.map(|n| n as u64)
            }
            Shape::Array(a) => {
                let message =
                    format!("{a} has dynamic dimensions: the pass `dynamic_padder` has to run before");
                self.reject(id, message);
                None
            }
            Shape::Token => None,
            Shape::Tuple(_) | Shape::Opaque | Shape::Buffer(_) => {
                self.reject(id, format!("values of shape {shape} can't be compiled"));
                None
            }
        }
    }

    /// Returns the same value in the layouts of another shape.
    pub(super) fn relaid(
        &mut self,
        id: InstrId,
        leaves: Leaves,
        from: &Shape,
        to: &Shape,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        if layouts::agree(from, to) {
            return leaves;
        }
        let shapes = from.leaves().into_iter().zip(to.leaves());
        let parts: Vec<_> = leaves.iter().copied().zip(shapes).collect();
        let relaid = parts.into_iter().map(|(leaf, (from, to))| {
            let (Some(buffer), Some((a, b))) = (leaf, layouts::change(from, to)) else { return leaf };
            let Some(descriptor) = copy::descriptor(b, &a.strides(), &b.strides()) else {
                self.reject(id, format!("a change of layout from {from:#} to {to:#} can't be compiled"));
                return leaf;
            };
            let other = self.buffers.add(self.buffers[buffer].bytes, Pin::Free, Some(id));
            let call = RuntimeCall::with_descriptor(id, copy::SYMBOL, descriptor, vec![buffer], vec![other]);
            steps.push(Step::Runtime(call));
            Some(other)
        });
        relaid.collect()
    }

    /// Returns the leaves of operand number `index` in the layouts of another shape.
    pub(super) fn operand_as(
        &mut self,
        id: InstrId,
        index: usize,
        shape: Option<&Shape>,
        frame: &Frame<'_>,
        steps: &mut Vec<Step<BufId>>,
    ) -> Leaves {
        let leaves = self.operand(id, index, frame);
        match (self.module[id].operands.get(index), shape) {
            (Some(&o), Some(to)) => self.relaid(id, leaves, &self.module[o].shape, to, steps),
            _ => leaves,
        }
    }

    /// Creates buffers for the leaves of a shape.
    pub(super) fn fresh(&mut self, id: InstrId, shape: &Shape) -> Leaves {
        shape
            .leaves()
            .into_iter()
            .map(|s| self.leaf_bytes(id, s).map(|b| self.buffers.add(b, Pin::Free, Some(id))))
            .collect()
    }

    /// Returns a value whose bytes are those of its operand.
    pub(super) fn alias(&mut self, id: InstrId, frame: &Frame<'_>) -> Leaves {
        let leaves = self.operand(id, 0, frame);
        let sizes: Vec<Option<u64>> =
            self.module[id].shape.leaves().into_iter().map(|s| self.leaf_bytes(id, s)).collect();
        let have: Vec<Option<u64>> = leaves.iter().map(|l| l.map(|b| self.buffers[b].bytes)).collect();
        if sizes != have {
            self.reject(id, "operand and result don't have the same size in bytes");
            return self.fresh(id, &self.module[id].shape);
        }
        leaves
    }

    /// Copies each leaf.
    pub(super) fn copies(&self, from: &Leaves, to: &Leaves, steps: &mut Vec<Step<BufId>>) {
        for (from, to) in from.iter().zip(to.iter()) {
            if let (Some(from), Some(to)) = (*from, *to) {
                steps.push(Step::Copy { from, to, bytes: self.buffers[to].bytes });
            }
        }
    }

    /// Returns the buffers of a constant.
    pub(super) fn constant(&mut self, id: InstrId) -> Leaves {
        if let Some(known) = self.constant_leaves.get(&id) {
            return known.clone();
        }
        let module = self.module;
        let Op::Constant(c) = &module[id].op else { return Rc::new([]) };
        if c.is_elided() {
            self.reject(id, ConstantAttrs::ELIDED);
        }
        let literals = c.literal.leaves();
        let shapes = module[id].shape.leaves();
        let mut leaves = Vec::with_capacity(shapes.len());
        for (i, shape) in shapes.into_iter().enumerate() {
            let size = self.leaf_bytes(id, shape);
            let (Some(size), Some(array)) = (size, shape.as_array()) else {
                leaves.push(None);
                continue;
            };
            let bytes = literals.get(i).map_or(&[][..], |l| l.bytes());
            if bytes.len() as u64 != size {
                self.reject(id, format!("the literal does not have the elements of {array}"));
            }
            // Constants that share their elements share the buffer. Each other layout gets a buffer of its
            // own.
            let order = (!array.is_dense_row_major()).then_some(array);
            let number = *self.constant_numbers.entry((bytes.as_ptr(), order)).or_insert_with(|| {
                self.constants.push(Constant { instruction: id, bytes: in_layout(array, bytes) });
                self.constants.len() - 1
            });
            leaves.push(Some(self.buffers.add(size, Pin::Constant(number), Some(id))));
        }
        let leaves = Leaves::from(leaves);
        self.constant_leaves.insert(id, leaves.clone());
        leaves
    }
}

/// Reorders row-major bytes for a layout.
fn in_layout(shape: &ArrayShape, bytes: &[u8]) -> Vec<u8> {
    let size = shape.element_type.byte_size();
    if shape.is_dense_row_major() || bytes.len() != shape.byte_size() || bytes.is_empty() {
        return bytes.to_vec();
    }
    let strides = shape.strides();
    let mut out = vec![0; bytes.len()];
    let mut index = vec![0i64; shape.rank()];
    let mut at = 0i64;
    for element in bytes.chunks_exact(size) {
        let to = at as usize * size;
        out[to..to + size].copy_from_slice(element);
        for d in (0..shape.rank()).rev() {
            index[d] += 1;
            at += strides[d];
            if index[d] < shape.dims[d] {
                break;
            }
            at -= strides[d] * shape.dims[d];
            index[d] = 0;
        }
    }
    out
}
