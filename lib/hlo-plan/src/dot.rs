//! Matrix products as runtime calls. Batch, contracting and free dimensions in any layout become the strides
//! of `batch × (m × k · k × n)`, with loops around the call where dimensions can't be merged.

use crate::{BufId, OuterLoop, RuntimeCall, copy};
use hlo_ir::{ArrayShape, Dims, ElementType, InstrId, Module, Op};
use hlo_runtime_core::{DotDesc, ElementCode, has_product};

/// Number of multiplications per call below which a kernel is faster than the runtime.
const MIN_RUNTIME_MULTIPLICATIONS: i64 = 512;

/// One dimension of the iteration space, with its stride in each array, in elements. The stride is 0 if the
/// array does not have the dimension.
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

/// A product as a runtime call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DotCall {
    /// For each operand that is first packed into a buffer of its own, the descriptor of that copy.
    pub(crate) packed: [Option<Vec<i64>>; 2],
    descriptor: DotDesc,
    loops: Vec<OuterLoop>,
}

impl DotCall {
    /// Returns the step over the given buffers.
    pub(crate) fn call(
        self,
        instruction: InstrId,
        operands: Vec<BufId>,
        results: Vec<BufId>,
    ) -> RuntimeCall<BufId> {
        let d = self.descriptor;
        // The fields in the order of `DotDesc`.
        let words = vec![
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
        ];
        let call = RuntimeCall::with_descriptor(instruction, "hlo_rt_dot", words, operands, results);
        RuntimeCall { loops: self.loops, ..call }
    }
}

/// The axes of a product, by kind.
struct Axes {
    batch: Vec<Axis>,
    m: Vec<Axis>,
    n: Vec<Axis>,
    k: Vec<Axis>,
}

/// Returns the call for a `dot`, or `None` if a kernel is faster or the runtime has no such product.
pub(crate) fn lower(module: &Module, id: InstrId) -> Option<DotCall> {
    let dims = Dimensions::of(module, id)?;
    let [lhs, rhs, out] = types(module, id)?;
    let (lhs_code, rhs_code, out_code) = (code(lhs)?, code(rhs)?, code(out)?);
    // The runtime wraps sums to the byte in which narrower integers are stored, not to their width.
    if (out.is_integer() && out.bit_width() < 8) || !has_product(lhs_code, rhs_code, out_code) {
        return None;
    }
    let (axes, packed) = dims.with_one_sum()?;
    let k = axes.k.first().copied().unwrap_or(Axis::ONE);
    let mut outer = axes.batch;
    let m = take_largest(axes.m, &mut outer);
    let n = take_largest(axes.n, &mut outer);
    let mut loops = Vec::new();
    let batch = take_largest(outer, &mut loops);
    let multiplications =
        [m.size, n.size, k.size].into_iter().try_fold(1i64, i64::checked_mul).unwrap_or(i64::MAX);
    if multiplications < MIN_RUNTIME_MULTIPLICATIONS {
        return None;
    }
    let bytes = |stride: i64, ty: ElementType| stride * ty.byte_size() as i64;
    Some(DotCall {
        packed,
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

fn types(module: &Module, id: InstrId) -> Option<[ElementType; 3]> {
    let instr = &module[id];
    let ty = |id: InstrId| module[id].shape.as_array().map(|a| a.element_type);
    Some([ty(*instr.operands.first()?)?, ty(*instr.operands.get(1)?)?, ty(id)?])
}

/// Removes and returns the largest axis. The others are added to `rest`.
fn take_largest(mut axes: Vec<Axis>, rest: &mut Vec<Axis>) -> Axis {
    let largest = (0..axes.len()).max_by_key(|&i| (axes[i].size, std::cmp::Reverse(i)));
    let taken = largest.map_or(Axis::ONE, |i| axes.remove(i));
    rest.extend(axes);
    taken
}

/// The dimensions of a product by kind, as positions in the operands.
struct Dimensions<'m> {
    lhs: &'m ArrayShape,
    rhs: &'m ArrayShape,
    out: &'m ArrayShape,
    /// Pairs of positions in the left and the right operand.
    batch: Vec<(usize, usize)>,
    m: Vec<usize>,
    n: Vec<usize>,
    /// Pairs of positions in the left and the right operand.
    k: Vec<(usize, usize)>,
}

impl<'m> Dimensions<'m> {
    fn of(module: &'m Module, id: InstrId) -> Option<Self> {
        let instr = &module[id];
        let Op::Dot(a) = &instr.op else { return None };
        let lhs = module[*instr.operands.first()?].shape.as_array()?;
        let rhs = module[*instr.operands.get(1)?].shape.as_array()?;
        let out = instr.shape.as_array()?;
        let pairs = |l: &Dims, r: &Dims| -> Option<Vec<(usize, usize)>> {
            l.iter()
                .zip(r)
                .map(|(&l, &r)| {
                    let (l, r) = (usize::try_from(l).ok()?, usize::try_from(r).ok()?);
                    (l < lhs.rank() && r < rhs.rank()).then_some((l, r))
                })
                .collect()
        };
        let batch = pairs(&a.lhs_batch_dims, &a.rhs_batch_dims)?;
        let k = pairs(&a.lhs_contracting_dims, &a.rhs_contracting_dims)?;
        let used =
            |d: usize, part: fn(&(usize, usize)) -> usize| batch.iter().chain(&k).any(|p| part(p) == d);
        let m: Vec<usize> = (0..lhs.rank()).filter(|&d| !used(d, |p| p.0)).collect();
        let n: Vec<usize> = (0..rhs.rank()).filter(|&d| !used(d, |p| p.1)).collect();
        (batch.len() + m.len() + n.len() == out.rank()).then_some(Self { lhs, rhs, out, batch, m, n, k })
    }

    /// Returns the axes for operands with the given strides. Axes of size 1 are removed, and the others are
    /// merged where possible.
    fn axes(&self, ls: &[i64], rs: &[i64]) -> Axes {
        let os = self.out.strides();
        let (first_m, first_n) = (self.batch.len(), self.batch.len() + self.m.len());
        let batch = self.batch.iter().enumerate().map(|(i, &(l, r))| Axis {
            size: self.lhs.dims[l],
            lhs: ls[l],
            rhs: rs[r],
            out: os[i],
        });
        let m = self.m.iter().enumerate().map(|(i, &d)| Axis {
            size: self.lhs.dims[d],
            lhs: ls[d],
            rhs: 0,
            out: os[first_m + i],
        });
        let n = self.n.iter().enumerate().map(|(i, &d)| Axis {
            size: self.rhs.dims[d],
            lhs: 0,
            rhs: rs[d],
            out: os[first_n + i],
        });
        let k = self.k.iter().map(|&(l, r)| Axis { size: self.lhs.dims[l], lhs: ls[l], rhs: rs[r], out: 0 });
        Axes {
            batch: merged(batch.collect()),
            m: merged(m.collect()),
            n: merged(n.collect()),
            k: merged(k.collect()),
        }
    }

    /// Returns the axes with a single axis to sum along. If the contracting dimensions can't be merged into
    /// one, the smaller operand, the larger one or both are packed: copied so that these dimensions are
    /// innermost.
    fn with_one_sum(&self) -> Option<(Axes, [Option<Vec<i64>>; 2])> {
        let (ls, rs) = (self.lhs.strides(), self.rhs.strides());
        let axes = self.axes(&ls, &rs);
        if axes.k.len() <= 1 {
            return Some((axes, [None, None]));
        }
        let rank = |pairs: &[(usize, usize)], by: &dyn Fn(&(usize, usize)) -> i64| {
            let mut pairs = pairs.to_vec();
            pairs.sort_by_key(|p| std::cmp::Reverse(by(p)));
            pairs
        };
        let like_rhs = rank(&self.k, &|p| rs[p.1]);
        let like_lhs = rank(&self.k, &|p| ls[p.0]);
        let order = |batch: Vec<usize>, free: &[usize], k: Vec<usize>| -> Vec<usize> {
            batch.into_iter().chain(free.iter().copied()).chain(k).collect()
        };
        let left = |k: &[(usize, usize)]| {
            order(self.batch.iter().map(|p| p.0).collect(), &self.m, k.iter().map(|p| p.0).collect())
        };
        let right = |k: &[(usize, usize)]| {
            order(self.batch.iter().map(|p| p.1).collect(), &self.n, k.iter().map(|p| p.1).collect())
        };
        let (pack_left, pack_right) = (left(&like_rhs), right(&like_lhs));
        let one = if self.lhs.byte_size() <= self.rhs.byte_size() {
            [(Some(&pack_left), None), (None, Some(&pack_right))]
        } else {
            [(None, Some(&pack_right)), (Some(&pack_left), None)]
        };
        // Both operands in the order of the right one.
        let pack_right_too = right(&like_rhs);
        for (l, r) in one.into_iter().chain([(Some(&pack_left), Some(&pack_right_too))]) {
            let new_ls = l.map(|order| packed_strides(self.lhs, order));
            let new_rs = r.map(|order| packed_strides(self.rhs, order));
            let axes = self.axes(new_ls.as_ref().unwrap_or(&ls), new_rs.as_ref().unwrap_or(&rs));
            if axes.k.len() <= 1 {
                let copy = |shape: &ArrayShape, to: Option<Dims>| match to {
                    Some(to) => copy::descriptor(shape, &shape.strides(), &to).map(Some),
                    None => Some(None),
                };
                return Some((axes, [copy(self.lhs, new_ls)?, copy(self.rhs, new_rs)?]));
            }
        }
        None
    }
}

/// Returns the strides of a dense array with its dimensions in the given order, innermost last.
fn packed_strides(shape: &ArrayShape, order: &[usize]) -> Dims {
    let mut strides: Dims = smallvec::smallvec![0; shape.rank()];
    let mut stride = 1;
    for &d in order.iter().rev() {
        strides[d] = stride;
        stride *= shape.dims[d];
    }
    strides
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

/// Returns the runtime's code for an element type, or `None` if its products don't support the type.
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
