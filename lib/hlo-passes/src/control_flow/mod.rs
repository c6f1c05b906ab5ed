//! Passes on calls, loops, conditionals, and the computations of a module.

pub(crate) mod call_inliner;
pub(crate) mod conditional_to_select;
pub(crate) mod flatten_call_graph;
pub(crate) mod map_inline;
pub(crate) mod simplify_conditional;
pub(crate) mod simplify_while_loops;
pub(crate) mod while_loop_constant_sinking;
pub(crate) mod while_loop_invariant_code_motion;

use crate::pass_info::PassInfo;

/// The passes of this folder.
pub(crate) static PASSES: &[&PassInfo] = &[
    &call_inliner::INFO,
    &conditional_to_select::INFO,
    &flatten_call_graph::INFO,
    &map_inline::INFO,
    &simplify_conditional::INFO,
    &simplify_while_loops::INFO,
    &while_loop_constant_sinking::INFO,
    &while_loop_invariant_code_motion::INFO,
];
