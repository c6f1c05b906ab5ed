//! General products as calls of the runtime: any batch, contracting and free dimensions in any layout become
//! the strides of `batch × (m × k · k × n)`, with loops around the call where dimensions can't be merged.

use super::{BufId, OuterLoop, RuntimeCall, RuntimeFunction};
use hlo_ir::{Dims, ElementType, InstrId, Module, Op};
use hlo_runtime::{DotDesc, ElementCode};

/// Up to so many multiplications a call, a kernel is faster than the runtime, which packs its operands.
const SMALL_PRODUCT: i64 = 512;

/// One dimension of the iteration space; a stride of 0 where an array does not have it. In elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Axis {
    size: i64,
    lhs: i64,
    rhs: i64,
    out: i64,
}

impl Axis {
    const ONE: Axis = Axis { size: 1, lhs: 0, rhs: 0, out: 0 };
}

/// A product as a call of the runtime.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DotCall {
    descriptor: DotDesc,
    loops: Vec<OuterLoop>,
}

impl DotCall {
    /// The step over the given buffers.
    pub(crate) fn call(
        self,
        instruction: InstrId,
        operands: Vec<BufId>,
        results: Vec<BufId>,
    ) -> RuntimeCall<BufId> {
        let d = self.descriptor;
        RuntimeCall {
            instruction,
            function: RuntimeFunction::Dot,
            // The fields in their order in `DotDesc`.
            descriptor: vec![
                d.lhs_type,
                d.rhs_type,
                d.out_type,
                d.batch,
                d.m,
                d.n,
                d.k,
                d.lhs_batch_stride,
                d.lhs_m_stride,
                d.lhs_k_stride,
                d.rhs_batch_stride,
                d.rhs_k_stride,
                d.rhs_n_stride,
                d.out_batch_stride,
                d.out_m_stride,
                d.out_n_stride,
            ],
            operands,
            results,
            loops: self.loops,
        }
    }
}

/// The axes of a product by kind.
struct Axes {
    batch: Vec<Axis>,
    m: Vec<Axis>,
    n: Vec<Axis>,
    k: Vec<Axis>,
}

/// The call for a `dot`; `None` where a kernel is better or the runtime has no such product.
pub(crate) fn lower(module: &Module, id: InstrId) -> Option<DotCall> {
    let axes = axes(module, id)?;
    let [lhs, rhs, out] = types(module, id)?;
    let (lhs_code, rhs_code, out_code) = (code(lhs)?, code(rhs)?, code(out)?);
    // The runtime wraps sums to the byte that narrower integers are stored in, not to their width.
    if out.is_integer() && out.bit_width() < 8 {
        return None;
    }
    // A sum over dimensions that can't be seen as one is the kernels' business.
    let k = match axes.k[..] {
        [] => Axis::ONE,
        [k] => k,
        _ => return None,
    };
    let mut outer = axes.batch;
    let m = take_largest(axes.m, &mut outer);
    let n = take_largest(axes.n, &mut outer);
    let mut loops = Vec::new();
    let batch = take_largest(outer, &mut loops);
    let multiplications =
        [m.size, n.size, k.size].into_iter().try_fold(1i64, i64::checked_mul).unwrap_or(i64::MAX);
    if multiplications <= SMALL_PRODUCT {
        return None;
    }
    let bytes = |stride: i64, ty: ElementType| stride * ty.byte_size() as i64;
    Some(DotCall {
        descriptor: DotDesc {
            lhs_type: lhs_code as i64,
            rhs_type: rhs_code as i64,
            out_type: out_code as i64,
            batch: batch.size,
            m: m.size,
            n: n.size,
            k: k.size,
            lhs_batch_stride: batch.lhs,
            lhs_m_stride: m.lhs,
            lhs_k_stride: k.lhs,
            rhs_batch_stride: batch.rhs,
            rhs_k_stride: k.rhs,
            rhs_n_stride: n.rhs,
            out_batch_stride: batch.out,
            out_m_stride: m.out,
            out_n_stride: n.out,
        },
        loops: loops
            .into_iter()
            .map(|a| OuterLoop {
                count: a.size,
                strides: vec![bytes(a.lhs, lhs), bytes(a.rhs, rhs), bytes(a.out, out)],
            })
            .collect(),
    })
}

/// True if the sum of a `dot` runs over dimensions that can't be seen as one in these layouts.
pub(crate) fn contracts_scattered_dimensions(module: &Module, id: InstrId) -> bool {
    axes(module, id).is_some_and(|a| a.k.len() > 1)
}

fn types(module: &Module, id: InstrId) -> Option<[ElementType; 3]> {
    let instr = &module[id];
    let ty = |id: InstrId| module[id].shape.as_array().map(|a| a.element_type);
    Some([ty(*instr.operands.first()?)?, ty(*instr.operands.get(1)?)?, ty(id)?])
}

/// Takes the largest axis; the others go to `rest`.
fn take_largest(mut axes: Vec<Axis>, rest: &mut Vec<Axis>) -> Axis {
    let largest = (0..axes.len()).max_by_key(|&i| (axes[i].size, std::cmp::Reverse(i)));
    let taken = largest.map_or(Axis::ONE, |i| axes.remove(i));
    rest.extend(axes);
    taken
}

/// The axes of a product without those of size 1, merged where that is possible.
fn axes(module: &Module, id: InstrId) -> Option<Axes> {
    let instr = &module[id];
    let Op::Dot(attrs) = &instr.op else { return None };
    let lhs = module[*instr.operands.first()?].shape.as_array()?;
    let rhs = module[*instr.operands.get(1)?].shape.as_array()?;
    let out = instr.shape.as_array()?;
    let (ls, rs, os) = (lhs.strides(), rhs.strides(), out.strides());
    let at = |d: i64, list: &Dims| usize::try_from(d).ok().and_then(|d| list.get(d).copied());
    let mut next_out = os.iter().copied();
    let mut axes = Axes { batch: Vec::new(), m: Vec::new(), n: Vec::new(), k: Vec::new() };
    for (&l, &r) in attrs.lhs_batch_dims.iter().zip(&attrs.rhs_batch_dims) {
        axes.batch.push(Axis {
            size: at(l, &lhs.dims)?,
            lhs: at(l, &ls)?,
            rhs: at(r, &rs)?,
            out: next_out.next()?,
        });
    }
    for (&l, &r) in attrs.lhs_contracting_dims.iter().zip(&attrs.rhs_contracting_dims) {
        axes.k.push(Axis { size: at(l, &lhs.dims)?, lhs: at(l, &ls)?, rhs: at(r, &rs)?, out: 0 });
    }
    let free = |rank: usize, batch: &Dims, contracting: &Dims| -> Vec<usize> {
        (0..rank).filter(|&d| !batch.contains(&(d as i64)) && !contracting.contains(&(d as i64))).collect()
    };
    for d in free(lhs.rank(), &attrs.lhs_batch_dims, &attrs.lhs_contracting_dims) {
        axes.m.push(Axis { size: lhs.dims[d], lhs: ls[d], rhs: 0, out: next_out.next()? });
    }
    for d in free(rhs.rank(), &attrs.rhs_batch_dims, &attrs.rhs_contracting_dims) {
        axes.n.push(Axis { size: rhs.dims[d], lhs: 0, rhs: rs[d], out: next_out.next()? });
    }
    for list in [&mut axes.batch, &mut axes.m, &mut axes.n, &mut axes.k] {
        *list = merged(std::mem::take(list));
    }
    Some(axes)
}

/// Merges axes that step through every array as one longer axis would.
fn merged(mut axes: Vec<Axis>) -> Vec<Axis> {
    axes.retain(|a| a.size != 1);
    axes.sort_by_key(|a| std::cmp::Reverse((a.out, a.lhs, a.rhs)));
    let mut out: Vec<Axis> = Vec::new();
    for a in axes {
        match out.last_mut() {
            Some(outer)
                if outer.lhs == a.lhs * a.size
                    && outer.rhs == a.rhs * a.size
                    && outer.out == a.out * a.size =>
            {
                *outer = Axis { size: outer.size * a.size, ..a };
            }
            _ => out.push(a),
        }
    }
    out
}

/// The runtime's code for an element type; `None` if its products don't know the type.
pub(crate) fn code(ty: ElementType) -> Option<ElementCode> {
    use ElementType as T;
    Some(match ty {
        T::Pred => ElementCode::Pred,
        T::S1 | T::S2 | T::S4 | T::S8 => ElementCode::S8,
        T::S16 => ElementCode::S16,
        T::S32 => ElementCode::S32,
        T::S64 => ElementCode::S64,
        T::U1 | T::U2 | T::U4 | T::U8 => ElementCode::U8,
        T::U16 => ElementCode::U16,
        T::U32 => ElementCode::U32,
        T::U64 => ElementCode::U64,
        T::F16 => ElementCode::F16,
        T::Bf16 => ElementCode::Bf16,
        T::F32 => ElementCode::F32,
        T::F64 => ElementCode::F64,
        T::C64 => ElementCode::C64,
        T::C128 => ElementCode::C128,
        T::F8E5M2 | T::F8E4M3 | T::F8E4M3Fn | T::F8E4M3B11Fnuz | T::F8E3M4 | T::F8E5M2Fnuz => return None,
        T::F8E4M3Fnuz | T::F8E8M0Fnu | T::F4E2M1Fn | T::F6E3M2Fn | T::F6E2M3Fn => return None,
    })
}
