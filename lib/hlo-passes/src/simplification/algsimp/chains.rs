//! Shortens chains of reshapes and transposes. A whole chain is often equivalent to a single transpose, or to
//! none.
//!
//! ```text
//! a = f32[2,3,4,5] reshape(x)                        x = f32[2,12,5]
//! b = f32[2,5,3,4] transpose(a), dimensions={0,3,1,2}
//! c = f32[2,5,12] reshape(b)
//! →
//! c = f32[2,5,12] transpose(x), dimensions={0,2,1}
//! ```

use crate::support::rewrite::{Cx, Pattern, index};
use hlo_ir::build::Build;
use hlo_ir::{ArrayShape, Dims, InstrId, Op, Opcode};

pub(super) static PATTERNS: &[Pattern] = &[Pattern::new(
    "reshapes-transposes",
    "reshape(transpose(reshape(x))) and longer chains of both → a shorter chain, or x",
    &[Opcode::Reshape, Opcode::Transpose],
    shorter_chain,
)];

/// Maximum length of a chain.
const MAX_STEPS: usize = 6;

/// Maximum rank of an array in a chain.
const MAX_RANK: usize = 16;

/// Dimensions divided into pieces that no step splits. Dimensions of size 1 have no pieces.
struct Pieces {
    /// The size of each piece, by its number.
    sizes: Vec<i64>,
    /// The numbers of the pieces in the order of the first array.
    first: Vec<usize>,
    /// The numbers of the pieces of each dimension of the current array.
    current: Vec<Vec<usize>>,
}

impl Pieces {
    fn of(dims: &[i64]) -> Self {
        let mut pieces = Self { sizes: Vec::new(), first: Vec::new(), current: Vec::new() };
        for &size in dims {
            let number = pieces.sizes.len();
            let some = size != 1;
            if some {
                pieces.sizes.push(size);
                pieces.first.push(number);
            }
            pieces.current.push(if some { vec![number] } else { Vec::new() });
        }
        pieces
    }

    /// Applies a reshape. Returns `None` if the sizes have no common pieces.
    fn reshape(&mut self, dims: &[i64]) -> Option<()> {
        let mut flat: std::collections::VecDeque<usize> = self.current.concat().into();
        let mut grouped = Vec::with_capacity(dims.len());
        for &size in dims {
            let mut group = Vec::new();
            let mut rest = size;
            while rest != 1 {
                let piece = flat.pop_front()?;
                let n = *self.sizes.get(piece)?;
                group.push(piece);
                if rest % n == 0 {
                    rest /= n;
                } else if n % rest == 0 {
                    flat.push_front(self.split(piece, rest)?);
                    rest = 1;
                } else {
                    return None;
                }
            }
            grouped.push(group);
        }
        self.current = grouped;
        flat.is_empty().then_some(())
    }

    /// Shrinks a piece to `size`, and returns the number of the new piece with the rest.
    fn split(&mut self, piece: usize, size: i64) -> Option<usize> {
        let after = self.sizes.len();
        let whole = self.sizes.get_mut(piece)?;
        let rest = *whole / size;
        *whole = size;
        self.sizes.push(rest);
        let place = self.first.iter().position(|&p| p == piece)?;
        self.first.insert(place + 1, after);
        Some(after)
    }

    fn transpose(&mut self, permutation: &[i64]) -> Option<()> {
        self.current =
            permutation.iter().map(|&d| self.current.get(index(d)?).cloned()).collect::<Option<_>>()?;
        Some(())
    }

    /// Returns the sizes of the blocks of pieces that stay together, in the order of the first array, and
    /// their permutation. If nothing moves, there is a single block.
    fn blocks(&self) -> Option<(Dims, Dims)> {
        let place = |piece: usize| self.first.iter().position(|&p| p == piece);
        // The position of the first piece and the size of each block, in the order of the result.
        let mut moved: Vec<(usize, i64)> = Vec::new();
        let mut next = None;
        for &piece in self.current.iter().flatten() {
            let (at, size) = (place(piece)?, *self.sizes.get(piece)?);
            match moved.last_mut().filter(|_| next == Some(at)) {
                Some(block) => block.1 = block.1.checked_mul(size)?,
                None => moved.push((at, size)),
            }
            next = Some(at + 1);
        }
        let mut before = moved.clone();
        before.sort_unstable();
        let sizes = before.iter().map(|b| b.1).collect();
        let permutation = moved
            .iter()
            .map(|m| before.iter().position(|b| b == m).map(|p| p as i64))
            .collect::<Option<_>>()?;
        Some((sizes, permutation))
    }
}

/// Returns the sizes of a non-empty row-major array.
fn plain(cx: &Cx<'_>, id: InstrId) -> Option<Dims> {
    let a = cx.array(id).filter(|a| a.is_row_major())?;
    (a.rank() <= MAX_RANK && a.dims.iter().all(|&size| size > 0)).then_some(a.dims)
}

/// Returns the instruction and the reshapes and transposes before it, the last first.
fn chain_of(cx: &Cx<'_>, id: InstrId) -> Vec<InstrId> {
    let mut chain = Vec::new();
    let mut at = id;
    while chain.len() < MAX_STEPS
        && matches!(cx.opcode(at), Opcode::Reshape | Opcode::Transpose)
        && plain(cx, at).is_some()
    {
        chain.push(at);
        let Some(x) = cx.operand(at, 0) else { break };
        at = x;
    }
    chain
}

fn shorter_chain(cx: &mut Cx<'_>, id: InstrId) -> Option<InstrId> {
    let chain = chain_of(cx, id);
    (2..=chain.len()).rev().find_map(|n| shorter(cx, &chain[..n]))
}

/// Emits the chain with fewer steps. The old chain must become unused: if something else used one of its
/// transposes, the elements would be moved twice.
fn shorter(cx: &mut Cx<'_>, chain: &[InstrId]) -> Option<InstrId> {
    let (&id, &start) = (chain.first()?, chain.last()?);
    let x = cx.operand(start, 0)?;
    let (from, to) = (plain(cx, x)?, plain(cx, id)?);
    let mut pieces = Pieces::of(&from);
    for &step in chain.iter().rev() {
        match &cx.module[step].op {
            Op::Transpose(t) => pieces.transpose(&t.dimensions)?,
            _ => pieces.reshape(&plain(cx, step)?)?,
        }
    }
    let (blocks, permutation) = pieces.blocks()?;
    if permutation.len() < 2 {
        return Some(if from == to { x } else { cx.add_same_shape(Op::reshape(), &[x]) });
    }
    let sizes: Dims = permutation.iter().map(|&d| blocks.get(index(d)?).copied()).collect::<Option<_>>()?;
    let steps = usize::from(blocks != from) + 1 + usize::from(sizes != to);
    let used_once = chain.windows(2).all(|w| cx.used_only_by(w[1], w[0]));
    if steps >= chain.len() || !used_once {
        return None;
    }
    let x = cx.reshaped(x, &blocks)?;
    if sizes == to {
        return Some(cx.add_same_shape(Op::transpose(permutation), &[x]));
    }
    let shape = ArrayShape::new(cx.element_type(id)?, sizes);
    let moved = cx.add(shape, Op::transpose(permutation), &[x]);
    Some(cx.add_same_shape(Op::reshape(), &[moved]))
}
