//! Checks of computations and their callers: cycles, the entry, fusions, threads.

use super::graph::{cycles, path};
use super::{Verifier, label};
use crate::attr::{CallAttrs, HloString};
use crate::rules::code;
use crate::{ComputationId, InstrId, Op};
use std::collections::HashMap;

impl Verifier<'_> {
    /// Checks that no computation calls itself and that nothing calls the entry.
    pub(super) fn check_call_graph(&mut self) {
        let module = self.module;
        let all: Vec<ComputationId> = module.computations().collect();
        let position: HashMap<ComputationId, usize> = all.iter().enumerate().map(|(n, &c)| (c, n)).collect();
        let mut edges: Vec<Vec<usize>> = vec![Vec::new(); all.len()];
        // The first call along each edge, for the report.
        let mut calls: HashMap<(usize, usize), InstrId> = HashMap::new();
        for (n, &c) in all.iter().enumerate() {
            for &i in module[c].instructions() {
                for callee in module[i].op.called_computations() {
                    let Some(&to) = position.get(&callee) else {
                        continue; // the rule of the opcode reports it
                    };
                    calls.entry((n, to)).or_insert_with(|| {
                        edges[n].push(to);
                        i
                    });
                    if module.entry_if_set() == Some(callee) && to != n {
                        let message = format!(
                            "`{}` calls any computation but the entry, found `{}`, which is it",
                            module[i].op.name(),
                            module[callee].name
                        );
                        self.report(code::ENTRY_CALLED, i, message);
                    }
                }
            }
        }
        for cycle in cycles(&edges) {
            let names = path(cycle.iter().map(|&n| &*module[all[n]].name));
            let message = format!("a computation calls itself: {names}");
            let next = cycle.get(1).copied().unwrap_or(cycle[0]);
            match calls.get(&(cycle[0], next)) {
                Some(&i) => self.report(code::CALL_CYCLE, i, message),
                None => self.report_module(code::CALL_CYCLE, message),
            };
        }
    }

    /// Checks that each composite call names the operation that it represents.
    pub(super) fn check_composites(&mut self) {
        let module = self.module;
        for i in module.computations().flat_map(|c| module[c].instructions()).copied() {
            let Op::Call(CallAttrs { is_composite: true, .. }) = &module[i].op else { continue };
            let attribute =
                |name: &str| Some(module[i].common.as_ref()?.frontend_attributes.get(name)?.to_text());
            let is_number = |v: &str| v.parse::<i64>().is_ok_and(|v| v >= 0);
            let message = if attribute("composite.name").is_none_or(|name| name.is_empty()) {
                "a composite call has a `composite.name` in its `frontend_attributes`".to_string()
            } else if attribute("composite.attributes").is_some_and(|a| a.is_empty()) {
                "the `composite.attributes` of a composite call are not empty: `{}` says that there are none"
                    .to_string()
            } else if let Some(version) = attribute("composite.version").filter(|v| !is_number(v)) {
                format!(
                    "the `composite.version` of a composite call is a number of 0 or more, found `{version}`"
                )
            } else {
                continue;
            };
            self.report_attribute(code::COMPOSITE, i, "frontend_attributes", message);
        }
    }

    /// Checks that each fused computation belongs to one fusion.
    pub(super) fn check_fusions(&mut self) {
        let module = self.module;
        let mut calls: HashMap<ComputationId, (InstrId, bool)> = HashMap::new();
        for c in module.computations() {
            for &i in module[c].instructions() {
                let fuses = matches!(module[i].op, Op::Fusion(_));
                for callee in module[i].op.called_computations() {
                    let Some(&(first, fused)) = calls.get(&callee) else {
                        calls.insert(callee, (i, fuses));
                        continue;
                    };
                    if (fuses || fused) && module.is_live_computation(callee) {
                        let message = format!(
                            "a fused computation has one caller, but `{}` has several",
                            module[callee].name
                        );
                        label(
                            self.report(code::FUSED_ONCE, i, message),
                            module.span(first),
                            "another caller".to_string(),
                        );
                    }
                }
            }
        }
    }

    /// Checks that each computation calls only computations of its own thread, and that an asynchronous
    /// operation calls one of the thread that it names.
    pub(super) fn check_threads(&mut self) {
        let module = self.module;
        let name = thread_name;
        for c in module.computations() {
            for &i in module[c].instructions() {
                let own = match &module[i].op {
                    Op::AsyncStart(a) => a.async_execution_thread.as_ref(),
                    Op::AsyncUpdate(a) => a.async_execution_thread.as_ref(),
                    Op::AsyncDone(a) => a.async_execution_thread.as_ref(),
                    _ => None,
                };
                let asynchronous =
                    matches!(module[i].op, Op::AsyncStart(_) | Op::AsyncUpdate(_) | Op::AsyncDone(_));
                if asynchronous && own.is_none() {
                    continue;
                }
                let caller = name(own.or(module[c].execution_thread.as_ref()));
                for callee in module[i].op.called_computations() {
                    if !module.is_live_computation(callee) {
                        continue;
                    }
                    let found = name(module[callee].execution_thread.as_ref());
                    if found != caller {
                        let message = format!(
                            "`{}` runs on the thread `{caller}`, but calls `{}` of the thread `{found}`",
                            module[i].name, module[callee].name
                        );
                        self.report(code::CALLEE_THREAD, i, message);
                    }
                }
            }
        }
    }
}

/// Returns the name of a thread for a message.
fn thread_name(thread: Option<&HloString>) -> std::borrow::Cow<'_, str> {
    thread.map_or("main".into(), HloString::to_text)
}
