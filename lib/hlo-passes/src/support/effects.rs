//! Side effects: which instructions must stay although nothing uses their result, and which must not be merged.

use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;

/// Side effects of a module's instructions; calls are followed once and remembered. Adding computations or
/// effects afterwards makes it stale.
pub(crate) struct Effects {
    computations: HashMap<ComputationId, bool>,
}

impl Effects {
    /// Looks through the whole module.
    pub(crate) fn of(module: &Module) -> Self {
        let mut effects = Self { computations: HashMap::new() };
        for c in module.computations_post_order() {
            let any = module[c].instructions().iter().any(|&i| effects.has(module, i));
            effects.computations.insert(c, any);
        }
        effects
    }

    /// True if the instruction does something besides computing its result.
    pub(crate) fn has(&self, module: &Module, id: InstrId) -> bool {
        own_effect(&module[id].op)
            // Callees come first in post-order; a computation that is not known calls itself: leave it alone.
            || module[id].op.called_computations().iter().any(|c| self.computations.get(c).copied().unwrap_or(true))
    }
}

/// True if the operation itself (not what it calls) has an effect.
fn own_effect(op: &Op) -> bool {
    use Op::*;
    match op {
        Infeed(_) | Outfeed(_) | Send(_) | SendDone(_) | Recv(_) | RecvDone(_) => true,
        RngGetAndUpdateState(_) => true,
        CustomCall(a) => a.custom_call_has_side_effect,
        // With a channel they meet other devices, which would wait for ever.
        AllGather(_) | AllGatherStart(_) | AllGatherDone | AllReduce(_) | AllReduceStart(_)
        | AllReduceDone => true,
        AllToAll(_) | CollectiveBroadcast(_) | CollectivePermute(_) | CollectivePermuteStart(_) => true,
        CollectivePermuteDone | RaggedAllToAll(_) | ReduceScatter(_) => true,
        AsyncStart(_) | AsyncUpdate(_) | AsyncDone(_) => true,
        Parameter(_)
        | Constant(_)
        | Tuple
        | GetTupleElement(_)
        | Abs
        | Acos
        | Acosh
        | Asin
        | Asinh
        | Atanh
        | Cbrt
        | Ceil
        | Copy
        | Cosine
        | Cosh
        | CountLeadingZeros
        | Erf
        | Exponential
        | ExponentialMinusOne
        | Floor
        | Imag
        | IsFinite
        | Log
        | LogPlusOne
        | Logistic
        | Negate
        | Not
        | PopulationCount
        | Real
        | RoundNearestAfz
        | RoundNearestEven
        | Rsqrt
        | Sign
        | Sine
        | Sinh
        | Sqrt
        | Tan
        | Tanh
        | Convert
        | BitcastConvert
        | ReducePrecision(_)
        | Add
        | And
        | Atan2
        | Compare(_)
        | Complex
        | Divide
        | Maximum
        | Minimum
        | Mulhi
        | Multiply
        | Or
        | Power
        | Remainder
        | ShiftLeft
        | ShiftRightArithmetic
        | ShiftRightLogical
        | StochasticConvert
        | Subtract
        | Xor
        | Clamp
        | Select
        | Bitcast
        | Broadcast(_)
        | Concatenate(_)
        | Iota(_)
        | Pad(_)
        | Reshape(_)
        | Reverse(_)
        | Slice(_)
        | Transpose(_)
        | DynamicReshape
        | DynamicSlice(_)
        | DynamicUpdateSlice
        | Gather(_)
        | GetDimensionSize(_)
        | Scatter(_)
        | SetDimensionSize(_)
        | Map(_)
        | Reduce(_)
        | ReduceWindow(_)
        | Scan(_)
        | SelectAndScatter(_)
        | Sort(_)
        | TopK(_)
        | Cholesky(_)
        | Convolution(_)
        | Dot(_)
        | Fft(_)
        | RaggedDot(_)
        | ScaledDot(_)
        | TriangularSolve(_)
        | BatchNormGrad(_)
        | BatchNormInference(_)
        | BatchNormTraining(_)
        | Rng(_)
        | RngBitGenerator(_)
        | Call(_)
        | Conditional(_)
        | Fusion(_)
        | OptBarrier
        | While(_)
        | AddDependency
        | AfterAll
        | CopyDone
        | CopyStart(_)
        | Domain(_)
        | PartitionId
        | ReplicaId => false,
    }
}

/// True if two evaluations on the same operands may differ, so that two of them are not one.
pub(crate) fn is_impure(op: &Op) -> bool {
    own_effect(op)
        || matches!(op, Op::Rng(_) | Op::OptBarrier | Op::CustomCall(_) | Op::CopyStart(_) | Op::CopyDone)
}

/// The instructions with control predecessors or successors, as a set by id: passes leave them in place.
pub(crate) fn control_dependent(module: &Module) -> std::collections::HashSet<InstrId> {
    let mut out = std::collections::HashSet::new();
    for c in module.computations() {
        for &i in module[c].instructions() {
            if let Some(common) = module[i].common.as_deref().filter(|c| !c.control_predecessors.is_empty()) {
                out.insert(i);
                out.extend(common.control_predecessors.iter().copied());
            }
        }
    }
    out
}
