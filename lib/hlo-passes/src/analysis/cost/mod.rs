//! Estimates the cost of running a module, by the measures of XLA's `HloCostAnalysis`. The measures are
//! arithmetic operations, transcendental functions, bytes read and written, and bytes sent between devices.
//! They are computed for each instruction and for the whole module.
//!
//! - An elementwise operation counts one operation per element, whatever its type. A multiply-add in a
//!   product counts two. Transcendental functions are counted separately.
//! - An instruction reads its operands and writes its result. Slices, updates, gathers and scatters access
//!   only the elements that they move. Values inside a fusion do not access memory.
//! - A loop costs as much as its body and condition, multiplied by the trip count if it is known.
//! - A conditional costs, in each measure, as much as its most expensive branch.

mod communication;
pub(crate) mod instruction;

pub(crate) use communication::sent;

use crate::support::trip_count::trip_count;
use hlo_ir::{ComputationId, InstrId, Module, Op};
use std::collections::HashMap;
use std::ops::{Add, AddAssign, Mul};

/// The cost of an instruction, computation or module. Sums saturate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Number of arithmetic operations on numbers of any type, without transcendental functions.
    pub flops: u64,
    /// Number of transcendental functions.
    pub transcendentals: u64,
    /// Number of bytes read and written.
    pub bytes: u64,
    /// Average number of bytes that each device sends to others.
    pub sent: u64,
}

/// Assumed speed of a typical processor: operations, transcendental functions and bytes per second.
const FLOPS: f64 = 64e9;
const TRANSCENDENTALS: f64 = 4e9;
const BYTES: f64 = 16e9;

impl Cost {
    /// Returns the number of operations per byte, including transcendental functions, or `None` if no bytes
    /// are accessed.
    pub fn intensity(&self) -> Option<f64> {
        let operations = self.flops.saturating_add(self.transcendentals);
        (self.bytes > 0).then(|| operations as f64 / self.bytes as f64)
    }

    /// Returns a rough time in seconds on a typical processor, for comparing costs. It is the longer of the
    /// time to calculate and the time to read and write.
    pub fn seconds(&self) -> f64 {
        let calculating = self.flops as f64 / FLOPS + self.transcendentals as f64 / TRANSCENDENTALS;
        calculating.max(self.bytes as f64 / BYTES)
    }

    /// Returns the maximum in each measure.
    fn max(self, other: Cost) -> Cost {
        Cost {
            flops: self.flops.max(other.flops),
            transcendentals: self.transcendentals.max(other.transcendentals),
            bytes: self.bytes.max(other.bytes),
            sent: self.sent.max(other.sent),
        }
    }

    /// Returns the cost without memory accesses.
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

/// The cost of a module and of its instructions and computations.
#[derive(Clone, Debug)]
pub struct ModuleCost {
    instructions: HashMap<InstrId, Cost>,
    computations: HashMap<ComputationId, Cost>,
    /// The computations that run on their own, each with the number of times that it runs. The entry comes
    /// first, and callers come before the computations that they call. Fused computations, and those applied
    /// to elements, count as part of the instruction that names them.
    pub runs: Vec<(ComputationId, u64)>,
    /// The loops with an unknown trip count. Their bodies are counted once.
    pub unknown_loops: Vec<InstrId>,
    /// The custom calls. Only their memory accesses are counted.
    pub custom_calls: Vec<InstrId>,
}

impl ModuleCost {
    /// Computes the cost of each instruction and each computation of a module, in time linear in the module's
    /// size.
    pub fn of(module: &Module) -> Self {
        let mut cost = Self {
            instructions: HashMap::new(),
            computations: HashMap::new(),
            runs: Vec::new(),
            unknown_loops: Vec::new(),
            custom_calls: Vec::new(),
        };
        // Callees come before callers.
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

    /// Returns the cost of one execution of an instruction, including everything that it calls.
    pub fn instruction(&self, id: InstrId) -> Cost {
        self.instructions.get(&id).copied().unwrap_or_default()
    }

    /// Returns the cost of one execution of a computation.
    pub fn computation(&self, id: ComputationId) -> Cost {
        self.computations.get(&id).copied().unwrap_or_default()
    }

    /// Returns the cost of the module's entry.
    pub fn total(&self, module: &Module) -> Cost {
        module.entry_if_set().map_or(Cost::default(), |entry| self.computation(entry))
    }

    /// Returns the total cost of the computations that an instruction runs, or its own cost if it runs none.
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

    /// Finds the computations that run on their own and how often they run. `order` contains callees before
    /// callers.
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

/// Returns the trip count of a loop, read from its `backend_config` or else calculated.
pub(crate) fn trips(module: &Module, id: InstrId) -> Option<u64> {
    let config = module[id].common.as_deref().and_then(|c| c.backend_config.as_str());
    config.and_then(known_trip_count).or_else(|| trip_count(module, id).map(|t| t.trips))
}

/// Reads the number in `"known_trip_count":{"n":"12"}`.
fn known_trip_count(config: &str) -> Option<u64> {
    let (_, rest) = config.split_once("\"known_trip_count\"")?;
    let (_, rest) = rest.split_once("\"n\"")?;
    let digits = rest.trim_start_matches([':', ' ', '"']);
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    digits.get(..end)?.parse().ok()
}
