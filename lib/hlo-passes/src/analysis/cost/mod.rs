//! What a module costs to run, by XLA's measures (its `HloCostAnalysis`): arithmetic operations, transcendental functions,
//! bytes read and written, and bytes that devices hand to each other, of each instruction and in all.
//!
//! An element of an elementwise operation is one operation, whatever its type; a multiplication with an addition in a
//! product is two. Transcendental functions are counted apart. An instruction reads its operands and writes its result,
//! but slices, updates, gathers and scatters touch only what they move, and inside of a fusion nothing goes to memory. A
//! loop costs what its body and condition cost, times the number of its iterations if that is known; a conditional
//! what the branch costs that costs most, in each measure.

mod communication;
mod instruction;

pub(crate) use communication::sent;

use crate::support::trip_count::trip_count;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;
use std::ops::{Add, AddAssign, Mul};

/// What something costs. Sums saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Arithmetic operations, on numbers of any type; no transcendental functions.
    pub flops: u64,
    /// Transcendental functions.
    pub transcendentals: u64,
    /// Bytes read and written.
    pub bytes: u64,
    /// Bytes that each device hands to others, on average.
    pub sent: u64,
}

/// A usual processor, to weigh operations against memory with: operations, transcendental functions and bytes a second.
const FLOPS: f64 = 64e9;
const TRANSCENDENTALS: f64 = 4e9;
const BYTES: f64 = 16e9;

impl Cost {
    /// Operations a byte, transcendental functions among them; `None` if no bytes are touched.
    pub fn intensity(&self) -> Option<f64> {
        let operations = self.flops.saturating_add(self.transcendentals);
        (self.bytes > 0).then(|| operations as f64 / self.bytes as f64)
    }

    /// A rough time in seconds on a usual processor, for comparing costs: what takes longer of calculating and of reading
    /// and writing.
    pub fn seconds(&self) -> f64 {
        let calculating = self.flops as f64 / FLOPS + self.transcendentals as f64 / TRANSCENDENTALS;
        calculating.max(self.bytes as f64 / BYTES)
    }

    /// The larger in each measure.
    fn max(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
            sent: self.sent.max(other.sent),
        }
    }

    /// The same without memory.
    fn calculation(self) -> Cost {
        Cost { bytes: 0, ..self }
    }
}

impl Add for Cost {
    type Output = Cost;
    fn add(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.saturating_add(other.flops),
            transcendentals: self.transcendentals.saturating_add(other.transcendentals),
            bytes: self.bytes.saturating_add(other.bytes),
            sent: self.sent.saturating_add(other.sent),
        }
    }
}

impl AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        *self = *self + other;
    }
}

impl Mul<u64> for Cost {
    type Output = Cost;
    fn mul(self, times: u64) -> Cost {
        Cost {
            flops: self.flops.saturating_mul(times),
            transcendentals: self.transcendentals.saturating_mul(times),
            bytes: self.bytes.saturating_mul(times),
            sent: self.sent.saturating_mul(times),
        }
    }
}

impl std::iter::Sum for Cost {
    fn sum<I: Iterator<Item = Cost>>(costs: I) -> Cost {
        costs.fold(Cost::default(), Add::add)
    }
}

/// What a module costs.
#[derive(Clone, Debug)]
pub struct ModuleCost {
    instructions: HashMap<InstrId, Cost>,
    computations: HashMap<ComputationId, Cost>,
    /// The computations that run by themselves, each with how often it runs: the entry first, callers before those that
    /// they call. Fused computations, and those that are applied to elements, are part of the instruction that names them.
    pub runs: Vec<(ComputationId, u64)>,
    /// Loops that are counted once, because it is not known how often they run.
    pub unknown_loops: Vec<InstrId>,
    /// Custom calls, of which only the memory is counted.
    pub custom_calls: Vec<InstrId>,
}

impl ModuleCost {
    /// What each instruction, and each computation, of a module costs. Linear in the module.
    pub fn of(module: &Module) -> Self {
        let mut cost = Self {
            instructions: HashMap::new(),
            computations: HashMap::new(),
            runs: Vec::new(),
            unknown_loops: Vec::new(),
            custom_calls: Vec::new(),
        };
        // Those that are called come first.
        let order = module.computations_post_order();
        for &c in &order {
            let mut sum = Cost::default();
            for &i in module[c].instructions() {
                let own = cost.instruction_cost(module, i);
                cost.instructions.insert(i, own);
                sum += own;
            }
            cost.computations.insert(c, sum);
        }
        cost.count_runs(module, &order);
        cost
    }

    /// What an instruction costs each time it runs, with all that it calls.
    pub fn instruction(&self, id: InstrId) -> Cost {
        self.instructions.get(&id).copied().unwrap_or_default()
    }

    /// What a computation costs each time it runs.
    pub fn computation(&self, id: ComputationId) -> Cost {
        self.computations.get(&id).copied().unwrap_or_default()
    }

    /// What the module costs: its entry.
    pub fn total(&self, module: &Module) -> Cost {
        module.entry_if_set().map_or(Cost::default(), |entry| self.computation(entry))
    }

    /// The cost of what an instruction calls and how often; its own if it calls nothing.
    fn instruction_cost(&mut self, module: &Module, id: InstrId) -> Cost {
        let op = &module[id].op;
        match op {
            Op::While(a) => {
                let (condition, body) = (self.computation(a.condition), self.computation(a.body));
                match trips(module, id) {
                    Some(trips) => body * trips + condition * trips.saturating_add(1),
                    None => {
                        self.unknown_loops.push(id);
                        body + condition
                    }
                }
            }
            Op::Conditional(_) => {
                let branches = op.called_computations().into_iter().map(|c| self.computation(c));
                branches.fold(Cost::default(), Cost::max)
            }
            Op::Call(_) | Op::AsyncStart(_) => {
                op.called_computations().into_iter().map(|c| self.computation(c)).sum()
            }
            Op::CustomCall(_) => {
                self.custom_calls.push(id);
                self.own(module, id)
            }
            _ => self.own(module, id),
        }
    }

    fn own(&self, module: &Module, id: InstrId) -> Cost {
        instruction::cost(module, id, &|c| self.computation(c))
    }

    /// Finds what runs by itself, and how often; callers come last in `order`.
    fn count_runs(&mut self, module: &Module, order: &[ComputationId]) {
        let mut runs: HashMap<ComputationId, u64> = HashMap::new();
        if let Some(entry) = module.entry_if_set() {
            runs.insert(entry, 1);
        }
        for &c in order.iter().rev() {
            let Some(&times) = runs.get(&c) else { continue };
            self.runs.push((c, times));
            for &i in module[c].instructions() {
                let op = &module[i].op;
                let mut add = |callee: ComputationId, each: u64| {
                    let sum = runs.entry(callee).or_default();
                    *sum = sum.saturating_add(times.saturating_mul(each));
                };
                match op {
                    Op::While(a) => {
                        let trips = trips(module, i);
                        add(a.body, trips.unwrap_or(1));
                        add(a.condition, trips.map_or(1, |n| n.saturating_add(1)));
                    }
                    Op::Call(_) | Op::Conditional(_) | Op::AsyncStart(_) => {
                        op.called_computations().into_iter().for_each(|callee| add(callee, 1));
                    }
                    _ => {}
                }
            }
        }
    }
}

/// How often a loop's body runs, if the loop tells it or that can be calculated.
pub(crate) fn trips(module: &Module, id: InstrId) -> Option<u64> {
    let config = module[id].common.as_deref().and_then(|c| c.backend_config.as_str());
    config.and_then(known_trip_count).or_else(|| trip_count(module, id).map(|t| t.trips))
}

/// The number in `"known_trip_count":{"n":"12"}`.
fn known_trip_count(config: &str) -> Option<u64> {
    let (_, rest) = config.split_once("\"known_trip_count\"")?;
    let (_, rest) = rest.split_once("\"n\"")?;
    let digits = rest.trim_start_matches([':', ' ', '"']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests;
