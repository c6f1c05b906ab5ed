//! Rules for each opcode: how the sizes of the result follow from the operands, and which dimensions of the
//! operands must have the same size.

use crate::error::EvalError;
use crate::ops::support::Result;
use hlo_ir::access::loops;
use hlo_ir::attr::{RaggedDotAttrs, ScanAttrs};
use hlo_ir::{ArrayShape, Dims, Instruction, Literal, Op, Shape, SizeRule};

/// A dimension of an operand: the number of the operand, and that of the dimension.
pub(super) type Place = (usize, usize);

/// How the sizes of a result follow from those of the operands.
pub(super) enum Sizes {
    /// The operation accepts values as they are. Its result has the sizes of the value that it passes on or
    /// computes.
    Carried,
    /// The bounds, independent of the operands.
    Bounds,
    /// The sizes of the first operand, as a whole or of each part.
    Operand,
    /// The sizes that the operands share, except scalars.
    Elementwise,
    /// The sizes that shape inference computes.
    Inferred,
    /// The sizes of the operand, mapped by `dimensions`.
    Broadcast(Dims),
    /// The sizes of the operand, and the bound of the additional dimension.
    Prefix,
    /// The sizes of the operand, which are kept, split or merged.
    Reshaped(Option<i64>),
    /// The sizes of `pad`, but at least 0.
    Padded,
}

/// Returns the size rule of an instruction, and the dimensions of its operands that it pairs.
pub(super) fn rule(instr: &Instruction, operands: &[Literal]) -> Result<(Sizes, Vec<Vec<Place>>)> {
    let rank = |o: usize| operands.get(o).and_then(|v| v.shape().as_array()).map_or(0, ArrayShape::rank);
    // Pairs each dimension of the operands in a range, except `but`.
    let alike = |which: std::ops::Range<usize>, but: Option<i64>| -> Vec<Vec<Place>> {
        let all = which.clone().map(rank).max().unwrap_or(0);
        let places = |d: usize| which.clone().filter(|&o| rank(o) == all).map(|o| (o, d)).collect();
        (0..all).filter(|&d| Some(d as i64) != but).map(places).collect()
    };
    // Pairs the dimensions that share a loop in the description of what the operation reads.
    let together = || {
        let shapes: Vec<&Shape> = operands.iter().map(Literal::shape).collect();
        let walked = loops(&instr.op, &shapes, &instr.shape).into_iter().map(|(_, dims)| dims);
        walked.filter(|dims| dims.len() > 1).collect::<Vec<_>>()
    };
    let n = operands.len();
    Ok(match &instr.op {
        Op::Select if operands.get(1).is_some_and(|v| v.shape().is_tuple()) => (Sizes::Carried, vec![]),
        Op::BitcastConvert => (Sizes::Prefix, vec![]),
        Op::Broadcast(a) => (Sizes::Broadcast(a.dimensions.clone()), vec![]),
        Op::Reshape(a) => (Sizes::Reshaped(a.inferred_dimension), vec![]),
        Op::Bitcast => (Sizes::Reshaped(None), vec![]),
        Op::Pad(_) => (Sizes::Padded, vec![]),
        Op::Concatenate(a) => (Sizes::Inferred, alike(0..n, Some(a.dimension()))),
        Op::BatchNormTraining(a) | Op::BatchNormGrad(a) => {
            let ranks: Vec<usize> = (0..n).map(rank).collect();
            (Sizes::Inferred, features(&instr.op, a.feature_index as usize, &ranks))
        }
        Op::Cholesky(_) => (Sizes::Inferred, square(rank(0), None)),
        Op::TriangularSolve(a) => (Sizes::Inferred, square(rank(0), Some(a.left_side))),
        Op::RaggedDot(a) => {
            let groups = ragged_groups(a, rank(0), rank(2));
            (Sizes::Inferred, [together(), groups].concat())
        }
        Op::Scan(a) => (Sizes::Inferred, vec![scanned(a, n)?]),
        Op::RaggedAllToAll(_) => (Sizes::Inferred, alike(0..2, Some(0))),
        op => match op.opcode().traits().sizes {
            SizeRule::Forwarded => (Sizes::Carried, vec![]),
            SizeRule::Bounds => (Sizes::Bounds, vec![]),
            SizeRule::FirstOperand => (Sizes::Operand, vec![]),
            SizeRule::Elementwise => (Sizes::Elementwise, together()),
            SizeRule::Inferred => (Sizes::Inferred, vec![]),
            SizeRule::Paired => (Sizes::Inferred, together()),
            SizeRule::Own => {
                return Err(EvalError::internal(format!("no rule for the sizes of {}", op.name())));
            }
        },
    })
}

/// Returns the pairs of batch normalization: the features of all operands, and all dimensions of an array and
/// its gradient.
fn features(op: &Op, feature: usize, ranks: &[usize]) -> Vec<Vec<Place>> {
    let whole = ranks.first().copied().unwrap_or(0);
    let place = |(o, &rank): (usize, &usize)| (o, if rank == whole && whole != 1 { feature } else { 0 });
    let mut all = vec![ranks.iter().enumerate().map(place).collect()];
    if let Op::BatchNormGrad(_) = op {
        all.extend((0..whole).map(|d| vec![(0, d), (4, d)]));
    }
    all
}

/// Returns the pairs of square matrices, and of right-hand sides on their left or right.
fn square(rank: usize, left: Option<bool>) -> Vec<Vec<Place>> {
    let (row, column) = (rank.saturating_sub(2), rank.saturating_sub(1));
    let mut all = vec![vec![(0, row), (0, column)]];
    if let Some(left) = left {
        all[0].push((1, if left { row } else { column }));
        all.extend((0..row).map(|d| vec![(0, d), (1, d)]));
    }
    all
}

/// Returns the dimension of a `scan` for each of its inputs. The inputs come before the carries.
fn scanned(a: &ScanAttrs, operands: usize) -> Result<Vec<Place>> {
    let carries = usize::try_from(a.num_carries).ok();
    let inputs = carries.and_then(|carries| operands.checked_sub(carries));
    let along = a.dimensions.first().and_then(|&d| usize::try_from(d).ok());
    let (inputs, along) = inputs
        .zip(along)
        .ok_or_else(|| EvalError::internal("a scan without a dimension, or with too many carries"))?;
    Ok((0..inputs).map(|o| (o, along)).collect())
}

/// Returns the pairs of the group sizes of a `ragged-dot`: the groups of the right operand, and the
/// dimensions before the ragged one that the group sizes may depend on.
fn ragged_groups(a: &RaggedDotAttrs, rank: usize, rank_of_sizes: usize) -> Vec<Vec<Place>> {
    let (Some(&ragged), Some(groups)) = (a.lhs_ragged_dims.first(), rank_of_sizes.checked_sub(1)) else {
        return Vec::new();
    };
    if a.lhs_batch_dims.contains(&ragged) {
        return Vec::new();
    }
    let contracted = a.lhs_contracting_dims.iter().position(|&d| d == ragged);
    let before: Vec<i64> = match contracted {
        Some(n) => a.lhs_batch_dims.iter().chain(&a.lhs_contracting_dims[..n]).copied().collect(),
        None => {
            let is_free = |d: &i64| !a.lhs_batch_dims.contains(d) && !a.lhs_contracting_dims.contains(d);
            let free = (0..rank as i64).filter(is_free).take_while(|&d| d != ragged);
            a.lhs_batch_dims.iter().copied().chain(free).collect()
        }
    };
    let depends = before.iter().take(groups).enumerate();
    let mut all: Vec<Vec<Place>> = depends.map(|(k, &d)| vec![(2, k), (0, d as usize)]).collect();
    all.extend(a.rhs_group_dims.first().map(|&d| vec![(2, groups), (1, d as usize)]));
    all
}
