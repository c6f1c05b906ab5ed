//! `gather_expander`: converts each `gather` to a loop over its index vectors, or to a single slice.
//!
//! ```text
//! gather(x, indices)  →  i = 0; out = 0
//!                        while i < n { out[i] = dynamic-slice(x, indices[i]); i = i + 1 }
//! ```
//!
//! Both forms move a slice that would exceed the operand to the inside. With `mode=simple`, the pass only
//! expands gathers with a single index vector, which need no loop.

use crate::pass_info::{OptionInfo, OptionValue, PassInfo};
use crate::rewrites::Rewrites;
use crate::support::expander::{Emitter, expand_all};
use crate::support::index_vectors::{IndexVectors, VectorDims};
use hlo_ir::attr::GatherAttrs;
use hlo_ir::build::Build;
use hlo_ir::{InstrId, Module, Op};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "gather_expander",
    summary: "replace gathers by loops of dynamic slices, or by one slice for a single index vector",
    options: &[OptionInfo {
        name: "mode",
        summary: "whether to expand all gathers, or only those with one index vector",
        default: OptionValue::Choice { word: "all", of: &["all", "simple"] },
    }],
    example: "\
HloModule gather_expander

ENTRY e {
  x = f32[8,3] parameter(0)
  i = s32[1] parameter(1)
  ROOT g = f32[3] gather(x, i), offset_dims={0}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=0, slice_sizes={1,3}
}
",
    build: |_, options| {
        let simple = options.choice("mode") == "simple";
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| {
            let wanted = |op: &Op| matches!(op, Op::Gather(_));
            Ok(expand_all(module, "gather", wanted, |e, id| expand(e, id, simple), rewrites))
        })
    },
    ..PassInfo::PLAIN
};

/// The mapping from the slices of a gather to its result.
struct Slices<'a> {
    attrs: &'a GatherAttrs,
    /// The sizes of a slice in the dimensions of the result.
    sizes: Vec<i64>,
    /// The dimensions of the result that enumerate the slices.
    batch_dims: Vec<usize>,
}

fn expand(e: &mut Emitter<'_>, id: InstrId, simple: bool) -> Option<InstrId> {
    let Op::Gather(attrs) = e.module[id].op.clone() else { return None };
    let (operand, indices) = (e.operand(0)?, e.operand(1)?);
    let shape = e.shape().as_array()?.clone();
    if !e.is_static(id) || !attrs.offset_dims.is_sorted() {
        return None;
    }
    let is_offset = |d: &usize| attrs.offset_dims.contains(&(*d as i64));
    let mut sizes = vec![1; shape.rank()];
    (0..shape.rank()).filter(is_offset).for_each(|d| sizes[d] = shape.dims[d]);
    let batch_dims = (0..shape.rank()).filter(|d| !is_offset(d)).collect();
    let slices = Slices { attrs: &attrs, sizes, batch_dims };
    let of = VectorDims {
        vector: attrs.index_vector_dim,
        components: &attrs.start_index_map,
        batching: [&attrs.operand_batching_dims, &attrs.start_indices_batching_dims],
    };
    let dims = e.array(operand)?.dims;
    if simple && of.count(&e.array(indices)?.dims) != Some(1) {
        return None;
    }
    let vectors = IndexVectors::new(e, indices, of, &dims)?;
    if vectors.batch.len() != slices.batch_dims.len() {
        return None;
    }
    let zeros = e.zeros(&shape)?;
    let result = match vectors.count() {
        _ if shape.dims.contains(&0) || attrs.reads_nothing() => zeros,
        1 => {
            let zero = e.index(0)?;
            let batch = vec![zero; vectors.batch.len()];
            slices.slice(e, &vectors, operand, vectors.rows, zero, &batch)?
        }
        count => {
            let last = e.counted_loop("gather", count, &[operand, vectors.rows, zeros], |e, i, state| {
                let &[operand, rows, made] = state else { return None };
                let batch = e.unravel(i, &vectors.batch)?;
                let slice = slices.slice(e, &vectors, operand, rows, i, &batch)?;
                let mut place = vec![e.index(0)?; shape.rank()];
                slices.batch_dims.iter().zip(&batch).for_each(|(&d, &b)| place[d] = b);
                let made = e.updated(made, &place, slice);
                Some(vec![operand, rows, made])
            })?;
            *last.last()?
        }
    };
    e.results(&[result])
}

impl Slices<'_> {
    /// Returns the slice for an index vector, in the dimensions of the result.
    fn slice(
        &self,
        e: &mut Emitter<'_>,
        vectors: &IndexVectors,
        operand: InstrId,
        rows: InstrId,
        i: InstrId,
        batch: &[InstrId],
    ) -> Option<InstrId> {
        let start = vectors.start(e, rows, i, batch)?;
        let slice = e.part(operand, &start, &self.attrs.slice_sizes)?;
        e.reshaped(slice, &self.sizes)
    }
}
