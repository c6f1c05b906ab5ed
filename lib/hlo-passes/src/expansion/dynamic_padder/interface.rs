//! The sizes that are passed to and from computations, and the interface of the entry.

use super::{Flags, Leaves, Padder, Result, Size, Sizes, padded_shape};
use hlo_ir::build::Build;
use hlo_ir::diag::Diag;
use hlo_ir::{ComputationId, ElementType, InstrId, Op, Shape};

/// The interface of a computation.
pub(super) struct Interface {
    pub(super) computation: ComputationId,
    /// For each parameter, the dimensions whose sizes are passed with it.
    pub(super) parameters: Vec<Flags>,
    /// Whether the only parameter is a tuple that contains its sizes. Otherwise the sizes are additional
    /// parameters after the others.
    pub(super) wrapped: bool,
    /// The dimensions of the result whose sizes are returned with it. The computation then returns the tuple
    /// (result, sizes…).
    pub(super) result: Flags,
    /// Whether the result of the checks so far follows the sizes of the parameter.
    pub(super) takes_check: bool,
    /// Whether the result of the checks follows the sizes of the result.
    pub(super) gives_check: bool,
    pub(super) kind: Kind,
}

/// The kind of caller of a computation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// No caller: the computation is the module's entry.
    Entry,
    /// An instruction that passes sizes.
    Called,
    /// A loop that continues only while all checks pass.
    Condition,
    /// An instruction that applies the computation to elements, such as `reduce`. No sizes are passed.
    Applied,
}

/// Marks the dimensions that a shape declares dynamic.
pub(super) fn declared(shape: &Shape) -> Flags {
    let rank = |s: &&Shape| s.as_array().map_or(0, |a| a.rank());
    let mut flags: Flags = shape.leaves().iter().map(|s| smallvec::smallvec![false; rank(s)]).collect();
    for (leaf, d) in shape.dynamic_dimensions() {
        flags[leaf][d] = true;
    }
    flags
}

/// Marks the dimensions that either operand marks.
pub(super) fn union(mut a: Flags, b: &Flags) -> Flags {
    for (a, b) in a.iter_mut().zip(b) {
        a.iter_mut().zip(b).for_each(|(a, b)| *a |= b);
    }
    a
}

/// Marks the dimensions that have a run-time size.
pub(super) fn sized(leaves: &Leaves) -> Flags {
    leaves.iter().map(|sizes| sizes.iter().map(Option::is_some).collect()).collect()
}

pub(super) fn marked(flags: &Flags) -> Vec<(usize, usize)> {
    let all = flags.iter().enumerate();
    all.flat_map(|(leaf, dims)| (0..dims.len()).filter(|&d| dims[d]).map(move |d| (leaf, d))).collect()
}

impl Padder<'_> {
    /// Creates values for the parameters and their sizes.
    pub(super) fn take_parameters(&mut self, interface: &Interface) -> Result<()> {
        let parameters = self.module.parameters(self.computation);
        let mut number = parameters.len() as i64;
        for (&id, flags) in parameters.iter().zip(&interface.parameters) {
            self.at = id;
            let marked = marked(flags);
            if marked.is_empty() && !interface.takes_check {
                continue;
            }
            let mut leaves: Leaves = flags.iter().map(|dims| dims.iter().map(|_| None).collect()).collect();
            let shape = self.module[id].shape.clone();
            if interface.wrapped {
                self.wrap_shape(id, marked.len(), interface.takes_check);
                if interface.takes_check {
                    let so_far = self.element(id, marked.len() + 1)?;
                    self.checks.push(so_far);
                }
                let value = self.element(id, 0)?;
                self.values.insert(id, value);
                self.declared.insert(id, shape);
            }
            for (k, (leaf, d)) in marked.into_iter().enumerate() {
                let size = if interface.wrapped {
                    self.element(id, k + 1)?
                } else {
                    let op = Op::parameter(number);
                    number += 1;
                    self.add(Shape::scalar(ElementType::S32), op, &[])
                };
                leaves[leaf][d] = Some(size);
            }
            if leaves.iter().any(Self::any) {
                self.sizes.insert(id, leaves);
            }
        }
        Ok(())
    }

    /// Changes an instruction's shape to a tuple of the original shape, its sizes and the result of the
    /// checks.
    pub(super) fn wrap_shape(&mut self, id: InstrId, sizes: usize, check: bool) {
        let mut parts = vec![padded_shape(&self.module[id].shape)];
        parts.resize(sizes + 1, Shape::scalar(ElementType::S32));
        if check {
            parts.push(Shape::scalar(ElementType::Pred));
        }
        self.module.set_shape(id, Shape::tuple(parts));
        if let Some(sharding) = self.module[id].common.as_ref().map(|c| c.sharding.is_some())
            && sharding
        {
            self.module.common_mut(id).sharding = None;
        }
    }

    /// Returns the sizes of the dimensions that `flags` marks.
    pub(super) fn asked(&mut self, shape: &Shape, leaves: &Leaves, flags: &Flags) -> Result<Vec<InstrId>> {
        let arrays = shape.leaves();
        let mut out = Vec::new();
        for (leaf, d) in marked(flags) {
            let size: Size = leaves.get(leaf).and_then(|sizes| sizes.get(d)).copied().flatten();
            let bound = arrays.get(leaf).and_then(|s| s.as_array()).and_then(|a| a.dims.get(d)).copied();
            out.push(self.known_size(size, bound.unwrap_or(0))?);
        }
        Ok(out)
    }

    /// Creates the root that callers expect.
    pub(super) fn create_root(&mut self, root: InstrId, interface: &Interface) -> Result<()> {
        let shape = self.declared(root);
        let leaves = self.sizes.get(&root).cloned().unwrap_or_default();
        let mut value = self.value(root);
        let untold = |leaf: usize, d: usize| {
            !interface.result.get(leaf).and_then(|dims| dims.get(d)).copied().unwrap_or(false)
        };
        let hidden: Leaves = leaves
            .iter()
            .enumerate()
            .map(|(leaf, sizes)| {
                sizes.iter().enumerate().map(|(d, s)| s.filter(|_| untold(leaf, d))).collect()
            })
            .collect();
        if hidden.iter().any(Self::any) {
            if interface.kind != Kind::Entry {
                return Err(self.hidden_size(&shape));
            }
            value = self.zero_padding(value, &mut hidden.into_iter())?;
        }
        let mut more = self.asked(&shape, &leaves, &interface.result)?;
        match interface.kind {
            Kind::Applied if !self.checks.is_empty() => return Err(self.undeclared_size_error()),
            Kind::Condition => {
                let fit = self.all_fit();
                value = self.both(Op::And, value, fit);
            }
            _ if interface.gives_check => more.push(self.all_fit()),
            _ => {}
        }
        if !more.is_empty() {
            let mut parts = vec![value];
            if interface.kind == Kind::Entry && shape.is_tuple() {
                let count = shape.as_tuple().map_or(0, <[Shape]>::len);
                parts = (0..count).map(|k| self.element(value, k)).collect::<Result<_>>()?;
            }
            parts.extend(more);
            value = self.tuple(&parts);
        }
        if value != root {
            self.module.set_root(self.computation, value);
        }
        if interface.kind == Kind::Entry {
            self.update_header(&shape);
        }
        Ok(())
    }

    fn undeclared_size_error(&self) -> Diag {
        let name = &self.module[self.computation].name;
        Diag::error(format!(
            "`{name}`, which is applied to elements, has sizes known at run time only that need not fit each other"
        ))
        .at(self.module.span(self.at), "nothing can be told about sizes beside this result")
        .note("interpret the module, or call the computation in a loop")
    }

    fn hidden_size(&self, shape: &Shape) -> Diag {
        let name = &self.module[self.computation].name;
        let message = format!(
            "`{name}` gives {shape}, of which a dimension that is declared static has a size known at run time only"
        );
        Diag::error(message)
            .at(self.module.span(self.at), "this is the result")
            .note("declare the dimension dynamic, such as `f32[<=4]`")
    }

    /// Replaces the elements beyond the sizes by zeros, because a result that is declared static has its full
    /// declared size.
    pub(super) fn zero_padding(
        &mut self,
        value: InstrId,
        leaves: &mut impl Iterator<Item = Sizes>,
    ) -> Result<InstrId> {
        match self.shape(value) {
            Shape::Tuple(parts) => {
                let mut elements = Vec::with_capacity(parts.len());
                for k in 0..parts.len() {
                    let element = self.element(value, k)?;
                    elements.push(self.zero_padding(element, leaves)?);
                }
                Ok(self.tuple(&elements))
            }
            Shape::Array(a) => {
                let sizes = leaves.next().unwrap_or_default();
                if !Self::any(&sizes) {
                    return Ok(value);
                }
                let zero = self.zero(a.element_type)?;
                Ok(self.mask(value, &sizes, zero))
            }
            Shape::Token | Shape::Opaque | Shape::Buffer(_) => {
                leaves.next();
                Ok(value)
            }
        }
    }

    /// Updates the module header to the entry's new parameters and result.
    fn update_header(&mut self, result: &Shape) {
        let root = self.shape(self.module[self.computation].root());
        let more = self.module.parameters(self.computation).len();
        let header = &mut self.module.header;
        if let Some(layout) = &mut header.entry_computation_layout {
            layout.parameters.iter_mut().for_each(|p| *p = padded_shape(p));
            layout.parameters.resize(more, Shape::scalar(ElementType::S32));
            let written = padded_shape(&layout.result);
            layout.result = match (&root, written) {
                (Shape::Tuple(parts), Shape::Tuple(mut of)) => {
                    let known = of.len();
                    of.to_mut().extend(parts.iter().skip(known).cloned());
                    Shape::Tuple(of)
                }
                (Shape::Tuple(parts), one) => {
                    Shape::Tuple(std::iter::once(one).chain(parts.iter().skip(1).cloned()).collect())
                }
                (_, written) => written,
            };
        }
        if !result.is_tuple() && root.is_tuple() {
            header.input_output_alias.iter_mut().for_each(|a| a.output.insert(0, 0));
        }
    }
}
