//! Roles of computations: whether they run as a whole, and whether they may overwrite their parameters.

use hlo_ir::{ComputationId, Module, Op};
use std::collections::HashSet;

/// The roles of the computations of a module.
pub struct Roles {
    /// All computations that the entry reaches, callees first.
    pub order: Vec<ComputationId>,
    /// Computations that run as a whole. Excludes fused computations and computations that are applied to
    /// elements.
    pub run: HashSet<ComputationId>,
    /// The steps of scans, which run as a whole on slices, and the computations that they call.
    pub steps: HashSet<ComputationId>,
    /// The bodies of loops.
    pub bodies: HashSet<ComputationId>,
    /// Computations that are called once for their result. They may not overwrite their parameters.
    pub called: HashSet<ComputationId>,
    /// Loop conditions. Their result is only read.
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

    /// Checks whether the values of a computation have memory. Values of fused computations and of
    /// computations that are applied to elements have none.
    pub fn has_memory(&self, computation: ComputationId) -> bool {
        self.run.contains(&computation) || self.steps.contains(&computation)
    }

    /// Checks whether a computation may overwrite its parameters. This is so for the state of a loop.
    pub fn owns_parameters(&self, computation: ComputationId) -> bool {
        self.bodies.contains(&computation) && !self.called.contains(&computation)
    }

    /// Checks whether a computation is used only as the condition of loops.
    pub fn is_condition(&self, computation: ComputationId) -> bool {
        self.conditions.contains(&computation)
            && !self.bodies.contains(&computation)
            && !self.called.contains(&computation)
    }
}

/// Checks whether an operation runs the computations that it calls as a whole.
fn runs_callees(op: &Op) -> bool {
    matches!(op, Op::While(_) | Op::Call(_) | Op::Conditional(_) | Op::AsyncStart(_) | Op::Scan(_))
}
