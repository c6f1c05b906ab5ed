//! What computations are for: whether they run as a whole, and whether they may change what they are handed.

use hlo_ir::{ComputationId, Module, Op};
use std::collections::HashSet;

/// What computations are for.
pub struct Roles {
    /// All that the entry reaches, callees first.
    pub order: Vec<ComputationId>,
    /// Those that run as a whole: not what is applied to elements, nor fusions.
    pub run: HashSet<ComputationId>,
    /// The steps of scans, which run as a whole on slices, and what these call.
    pub steps: HashSet<ComputationId>,
    /// The bodies of loops.
    pub bodies: HashSet<ComputationId>,
    /// What is called once for its result: it may not change what it is handed.
    pub called: HashSet<ComputationId>,
    /// Conditions, whose result is only looked at.
    pub conditions: HashSet<ComputationId>,
}

impl Roles {
    /// Finds the roles of all computations that the entry reaches.
    pub fn of(module: &Module) -> Self {
        let order = module.computations_post_order();
        let mut roles = Self {
            order: Vec::new(),
            run: module.entry_if_set().into_iter().collect(),
            steps: HashSet::new(),
            bodies: HashSet::new(),
            called: HashSet::new(),
            conditions: HashSet::new(),
        };
        for &c in order.iter().rev() {
            if roles.steps.contains(&c) {
                let called = module[c].instructions().iter().filter(|i| runs_callees(&module[**i].op));
                roles.steps.extend(called.flat_map(|&i| module[i].op.called_computations()));
            }
            if !roles.run.contains(&c) {
                continue;
            }
            for &i in module[c].instructions() {
                match &module[i].op {
                    Op::While(a) => {
                        roles.conditions.insert(a.condition);
                        roles.bodies.insert(a.body);
                        roles.run.extend([a.condition, a.body]);
                    }
                    Op::Call(_) | Op::Conditional(_) | Op::AsyncStart(_) => {
                        roles.run.extend(module[i].op.called_computations());
                        roles.called.extend(module[i].op.called_computations());
                    }
                    Op::Scan(_) => roles.steps.extend(module[i].op.called_computations()),
                    _ => {}
                }
            }
        }
        roles.order = order;
        roles
    }

    /// True if the values of a computation have memory: not those of what is applied to elements, nor of fusions.
    pub fn has_memory(&self, computation: ComputationId) -> bool {
        self.run.contains(&computation) || self.steps.contains(&computation)
    }

    /// True if the parameters of a computation are its own to change: the state of a loop.
    pub fn owns_parameters(&self, computation: ComputationId) -> bool {
        self.bodies.contains(&computation) && !self.called.contains(&computation)
    }

    /// True if a computation is a loop's condition and nothing else.
    pub fn is_condition(&self, computation: ComputationId) -> bool {
        self.conditions.contains(&computation)
            && !self.bodies.contains(&computation)
            && !self.called.contains(&computation)
    }
}

/// True for what runs the computations that it calls as a whole.
fn runs_callees(op: &Op) -> bool {
    matches!(op, Op::While(_) | Op::Call(_) | Op::Conditional(_) | Op::AsyncStart(_) | Op::Scan(_))
}
