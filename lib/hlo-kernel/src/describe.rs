//! Kernels as text: `hlo-run --emit=kernels`.

use crate::blocks::SumBlocks;
use crate::columns::ColumnPlan;
use crate::contraction::{ContractionPlan, ElementStrategy, Shared};
use crate::cumulative::CumulativePlan;
use crate::loops::{LoopNest, Tiles};
use crate::reads::{Read, reads};
use crate::rows::RowPlan;
use crate::select_scatter::SelectAndScatterPlan;
use crate::table::{KernelCode, KernelTable, KernelUse};
use crate::{Body, Combine, Kernel, Root, Strategy};
use hlo_ir::{InstrId, Op};
use std::collections::{HashMap, HashSet};
use std::fmt::Write;

/// Text of indented lines.
#[derive(Default)]
struct Lines {
    text: String,
    depth: usize,
}

impl Lines {
    fn line(&mut self, line: impl std::fmt::Display) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "{:1$}{line}", "", 2 * self.depth);
    }

    /// Writes the first line of a loop. The following lines are in the loop.
    fn open(&mut self, line: impl std::fmt::Display) {
        self.line(line);
        self.depth += 1;
    }
}

impl KernelTable<'_> {
    /// Returns the kernels of the program as text: those that are functions, with the number of their calls,
    /// and those in the host function.
    pub fn describe(&self) -> String {
        let mut calls = vec![0; self.functions().len()];
        self.uses().iter().filter_map(KernelUse::function).for_each(|number| calls[number] += 1);
        let mut out = String::new();
        let mut add = |title: String, kernel: &Kernel<'_>| {
            let gap = if out.is_empty() { "" } else { "\n" };
            let _ = write!(out, "{gap}{title}\n{}", kernel.describe());
        };
        for (function, calls) in self.functions().iter().zip(calls) {
            let calls = if calls == 1 { "1 call".to_string() } else { format!("{calls} calls") };
            add(format!("{}: {}, {calls}", function.name, function.kernel.strategy.name()), &function.kernel);
        }
        for u in self.uses() {
            if let KernelCode::Inline(kernel) = &u.code {
                let name = &kernel.body.module[u.instruction].name;
                add(format!("{name}: {}, in the host function", kernel.strategy.name()), kernel);
            }
        }
        out
    }
}

impl Strategy<'_> {
    /// Returns the name of the strategy: see the [crate's documentation](crate).
    pub fn name(&self) -> &'static str {
        match self {
            Strategy::Update(..) => "update",
            Strategy::Scatter(_) => "scatter",
            Strategy::SelectAndScatter(_) => "select-and-scatter",
            Strategy::Contraction(_) => "contraction",
            Strategy::Cumulative(_) => "cumulative",
            Strategy::Rows(_) => "rows",
            Strategy::Columns(_) => "columns",
            Strategy::Loops(_) => "loops",
            Strategy::Separate(_) => "separate",
        }
    }
}

impl Kernel<'_> {
    /// Returns the loops and the values that they compute as text, with two spaces before each line. `i0` is the
    /// index in the first dimension of a result, `r0` the index of the first loop over operands, `b0` the first buffer. The
    /// strategies loops, rows, columns and separate also list the elements that they read.
    pub fn describe(&self) -> String {
        let out = Lines { depth: 1, ..Lines::default() };
        let mut out = Writer { kernel: self, out, loops: operand_loops(&self.body) };
        match &self.strategy {
            Strategy::Update(root, nest) => out.update(*root, nest),
            Strategy::Scatter(root) => out.scatter(*root),
            Strategy::SelectAndScatter(plan) => out.windows(plan),
            Strategy::Contraction(plan) => out.contraction(plan),
            Strategy::Cumulative(plan) => out.cumulative(plan),
            Strategy::Rows(plan) => out.rows(plan),
            Strategy::Columns(plan) => out.columns(plan),
            Strategy::Loops(nest) => out.loops(&self.body, nest),
            Strategy::Separate(nests) => {
                nests.iter().for_each(|(roots, nest)| out.loops(&self.body.with_roots(roots.clone()), nest));
            }
        }
        out.out.text
    }
}

struct Writer<'k, 'm> {
    kernel: &'k Kernel<'m>,
    out: Lines,
    /// The names of the loops over operands.
    loops: HashMap<(InstrId, usize), String>,
}

/// Names the loops of reductions over reduced dimensions, and of products over contracting ones.
fn operand_loops(body: &Body<'_>) -> HashMap<(InstrId, usize), String> {
    let mut names = HashMap::new();
    for &id in &body.computed {
        let loops = match &body.module[id].op {
            Op::Reduce(a) => a.dimensions.len(),
            Op::Dot(a) => a.lhs_contracting_dims.len(),
            _ => 0,
        };
        for n in 0..loops {
            names.insert((id, n), format!("r{}", names.len()));
        }
    }
    names
}

/// Returns the variables of these dimensions of the results, and their ranges.
fn variables(dims: &[usize], sizes: &[i64]) -> String {
    if let [d] = dims {
        return format!("i{d} in 0..{}", sizes[*d]);
    }
    let names: Vec<String> = dims.iter().map(|d| format!("i{d}")).collect();
    let ranges: Vec<String> = dims.iter().map(|&d| sizes[d].to_string()).collect();
    format!("({}) in {}", names.join(", "), ranges.join(" x "))
}

impl Writer<'_, '_> {
    fn name(&self, id: InstrId) -> &str {
        &self.kernel.body.module[id].name
    }

    /// Opens the loops over the iterations, and prints how threads share them.
    fn shared(&mut self, variables: &str) {
        let (all, grain) = (self.kernel.iterations, self.kernel.grain);
        let sharing = if grain < all {
            format!(" (threads share {all} iterations, {grain} per chunk)")
        } else {
            String::new()
        };
        self.out.open(format!("for {variables}{sharing}"));
    }

    /// Opens the loops of a nest.
    fn nest(&mut self, nest: &LoopNest) {
        if nest.flat {
            return self.shared(&format!("i in 0..{}", nest.dims[0]));
        }
        if let Some(Tiles { across, along, side, .. }) = nest.tiles {
            self.shared(&variables(&nest.order, &nest.dims));
            let line =
                format!("computes tiles of {side} x {side} along i{across}, stores them along i{along}");
            return self.out.line(line);
        }
        // A single loop is shared and has pieces.
        let split = if nest.order.len() == 1 { 0 } else { nest.split };
        if split > 0 {
            self.shared(&variables(&nest.order[..split], &nest.dims));
        }
        for (level, &d) in nest.order.iter().enumerate().skip(split) {
            let is_innermost = level + 1 == nest.order.len();
            let ends = if is_innermost { &nest.pieces[..] } else { &nest.dims[d..=d] };
            let starts = [0].iter().chain(ends);
            let pieces: Vec<String> = starts.zip(ends).map(|(from, to)| format!("{from}..{to}")).collect();
            let range = format!("i{d} in {}", pieces.join(", "));
            match split {
                0 => self.shared(&range),
                _ => self.out.open(format!("for {range}")),
            }
        }
    }

    fn loops(&mut self, body: &Body<'_>, nest: &LoopNest) {
        let depth = self.out.depth;
        self.nest(nest);
        let mut needed: HashSet<InstrId> = body.roots.iter().map(|r| r.id).collect();
        for id in body.computed.iter().rev() {
            if needed.contains(id) {
                needed.extend(&body.module[*id].operands);
            }
        }
        for &id in body.computed.iter().filter(|id| needed.contains(id)) {
            self.reduction(id, None);
            self.product(id);
        }
        body.roots.iter().for_each(|root| self.store(root, nest.flat));
        self.out.depth = depth;
        self.reads(body, nest.flat);
    }

    /// Returns the text of the loops of an instruction over its operands. `sizes` contains the number and the size
    /// of each loop. Returns `once` if there are none.
    fn over(&self, id: InstrId, sizes: impl Iterator<Item = (usize, i64)>) -> String {
        let name = |n: usize| self.loops.get(&(id, n)).map_or("?", String::as_str);
        let loops: Vec<String> = sizes.map(|(n, size)| format!("{} in 0..{size}", name(n))).collect();
        if loops.is_empty() { "once".to_string() } else { format!("over {}", loops.join(", ")) }
    }

    /// Writes what a reduction accumulates, in these blocks or in its own. Does nothing for other instructions.
    fn reduction(&mut self, id: InstrId, blocks: Option<&SumBlocks>) {
        let body = &self.kernel.body;
        let Ok(reduction) = body.reduction(id) else { return };
        let number = |d: usize| reduction.attrs.dimensions.iter().position(|&r| r == d as i64).unwrap_or(0);
        let numbers: Vec<usize> = reduction.reduced.iter().map(|&d| number(d)).collect();
        let over = self.over(id, numbers.iter().copied().zip(reduction.sizes.iter().copied()));
        let (what, how) = match reduction.combine {
            Combine::Sum(ty) => ("sum", format!(" in {ty}")),
            Combine::Extremum(e) if e.greatest => ("maximum", format!(" as {}", e.integers)),
            Combine::Extremum(e) => ("minimum", format!(" as {}", e.integers)),
            Combine::Computation => (&*body.module[reduction.attrs.to_apply].name, String::new()),
        };
        let parts = |(level, sizes): (usize, Vec<i64>)| {
            let name = numbers.get(level).and_then(|&n| self.loops.get(&(id, n))).map_or("?", String::as_str);
            let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
            format!(", {name} in parts of {}", sizes.join(" and "))
        };
        let parts: String = blocks.unwrap_or(&reduction.blocks).steps().into_iter().map(parts).collect();
        let line = format!("{} = {what}{how} {over}{parts}", self.name(id));
        self.out.line(line);
    }

    /// Writes the sum of a product. Does nothing for other instructions.
    fn product(&mut self, id: InstrId) {
        let module = self.kernel.body.module;
        let Op::Dot(a) = &module[id].op else { return };
        let Some(lhs) = module[module[id].operands[0]].shape.as_array() else { return };
        let sizes = a.lhs_contracting_dims.iter().map(|&d| lhs.dims[d as usize]).enumerate();
        let line = format!("{} = sum of products {}", self.name(id), self.over(id, sizes));
        self.out.line(line);
    }

    /// Writes where a result is stored.
    fn store(&mut self, root: &Root, flat: bool) {
        let body = &self.kernel.body;
        let sizes: &[i64] = body.root_shape(root).map_or(&[], |shape| &shape.dims);
        let index =
            sizes.iter().enumerate().map(|(d, &n)| if n == 1 { "0".to_string() } else { format!("i{d}") });
        let index =
            if flat && !sizes.is_empty() { "i".to_string() } else { index.collect::<Vec<_>>().join(", ") };
        let is_tuple = body.module[root.id].shape.is_tuple();
        let leaf = if is_tuple { format!(" {{{}}}", root.leaf) } else { String::new() };
        let line = format!("b{}[{index}] = {}{leaf}", root.slot, self.name(root.id));
        self.out.line(line);
    }

    /// Writes the stores of all results.
    fn stores(&mut self) {
        let kernel = self.kernel;
        kernel.body.roots.iter().for_each(|root| self.store(root, false));
    }

    /// Writes the elements that are read.
    fn reads(&mut self, body: &Body<'_>, flat: bool) {
        let Some(reads) = reads(body) else { return self.out.line("reads too many elements to list") };
        let mut lines = Vec::new();
        for Read { slot, operand, index } in reads {
            let operand = &body.module[operand];
            let index: Vec<String> = index.iter().map(|place| place.text(&self.loops)).collect();
            let index = if flat && !index.is_empty() { "i".to_string() } else { index.join(", ") };
            let line = format!("reads b{slot}[{index}]: {} {:#}", operand.name, operand.shape);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        lines.iter().for_each(|line| self.out.line(line));
    }

    fn update(&mut self, root: InstrId, nest: &LoopNest) {
        let depth = self.out.depth;
        self.nest(nest);
        let slot = self.kernel.body.roots[0].slot;
        let line = format!("b{slot}[start + index] = update of {}", self.name(root));
        self.out.line(line);
        self.out.depth = depth;
    }

    fn scatter(&mut self, root: InstrId) {
        let slots: Vec<String> = self.kernel.body.roots.iter().map(|r| format!("b{}", r.slot)).collect();
        let (name, slots) = (self.name(root), slots.join(", "));
        let line = format!("for each update of {name}: combines it with an element of {slots}");
        self.out.line(line);
    }

    fn windows(&mut self, plan: &SelectAndScatterPlan<'_>) {
        let depth = self.out.depth;
        if !plan.independent.is_empty() {
            self.shared(&variables(&plan.independent, &plan.shape.dims));
        }
        self.out.line(format!("fills b{} with the initial value", self.kernel.body.roots[0].slot));
        if !plan.sequential.is_empty() {
            self.out.open(format!("for {}", variables(&plan.sequential, &plan.source_shape.dims)));
        }
        self.out.line("selects an element of the window, and combines the source's element with it");
        self.out.depth = depth;
    }

    fn contraction(&mut self, plan: &ContractionPlan<'_>) {
        let Some(loops) = &plan.loops else { return self.out.line("no index is valid") };
        let (depth, levels) = (self.out.depth, loops.nest.levels());
        let range = |variable: usize| {
            let range = levels[variable].range();
            format!("v{variable} in {}..{}", range.low, range.high + 1)
        };
        let part = |(variable, shared): (usize, &Shared)| match shared.step {
            1 => range(variable),
            step => format!("{} in {} parts of {step}", range(variable), shared.count),
        };
        let shared: Vec<String> = loops.shared.iter().enumerate().map(part).collect();
        if !shared.is_empty() {
            self.shared(&shared.join(", "));
        }
        for variable in loops.shared.len()..loops.nest.outer() {
            self.out.open(format!("for {}", range(variable)));
        }
        match (&loops.interior, &loops.blocks) {
            (_, Some(blocks)) => self.out.line(format!("computes blocks of {} elements", blocks.size)),
            (Some((_, ElementStrategy::Strips(n))), None) => {
                self.out.line(format!("computes strips of {n} elements"));
            }
            (Some((_, ElementStrategy::Unrolled)), None) | (None, None) => {}
        }
        let is_unrolled = matches!(loops.interior, Some((_, ElementStrategy::Unrolled)));
        let unrolled = if is_unrolled { ", unrolled" } else { "" };
        for &variable in &loops.inner {
            self.out.open(format!("for {}{unrolled}", range(variable)));
        }
        let slot = self.kernel.spec.result_slots[0];
        self.out.line(format!("b{slot}: {} in {}", plan.contraction, plan.work_type()));
        self.out.depth = depth;
    }

    fn cumulative(&mut self, plan: &CumulativePlan) {
        let depth = self.out.depth;
        let Ok(shape) = self.kernel.body.root_shape(&self.kernel.body.roots[0]) else { return };
        let mut outer =
            if plan.outer.is_empty() { Vec::new() } else { vec![variables(&plan.outer, &shape.dims)] };
        outer.extend(plan.minor.map(|t| format!("i{} in {} tiles of {}", t.dimension, t.count, t.size)));
        if !outer.is_empty() {
            self.shared(&outer.join(", "));
        }
        let direction = if plan.backwards { ", from the last" } else { "" };
        let blocks = plan.block.map_or(String::new(), |n| format!(", in blocks of {n}"));
        let (d, size) = (plan.dimension, shape.dims[plan.dimension]);
        self.out.open(format!("for i{d} in 0..{size}{direction}{blocks}"));
        self.stores();
        self.out.depth = depth;
    }

    fn rows(&mut self, plan: &RowPlan) {
        let (kernel, depth) = (self.kernel, self.out.depth);
        if !plan.leading.is_empty() {
            let leading: Vec<usize> = (0..plan.leading.len()).collect();
            self.shared(&variables(&leading, &plan.leading));
        }
        let row: i64 = plan.trailing.iter().product();
        for &id in &plan.per_row {
            if !matches!(kernel.body.module[id].op, Op::Reduce(_)) {
                let line = format!("{} = one value per row", self.name(id));
                self.out.line(line);
                continue;
            }
            self.reduction(id, None);
        }
        for &id in &plan.kept {
            let line = format!("keeps {row} elements of {} on the stack", self.name(id));
            self.out.line(line);
        }
        for (k, size) in plan.trailing.iter().enumerate() {
            self.out.open(format!("for i{} in 0..{size}", plan.leading.len() + k));
        }
        self.stores();
        self.out.depth = depth;
        self.reads(&kernel.body, false);
    }

    fn columns(&mut self, plan: &ColumnPlan) {
        let (kernel, depth) = (self.kernel, self.out.depth);
        let Ok(shape) = kernel.body.root_shape(&kernel.body.roots[0]) else { return };
        let mut outer =
            if plan.outer.is_empty() { Vec::new() } else { vec![variables(&plan.outer, &shape.dims)] };
        outer.push(format!("i{} in {} tiles of {}", plan.minor, plan.tiles, plan.tile));
        self.shared(&outer.join(", "));
        let (levels, tile, ty) = (1 + plan.blocks.levels(), plan.tile, plan.accumulator);
        self.out.line(format!("keeps {levels} x {tile} accumulators of {ty} on the stack"));
        self.reduction(plan.root, Some(&plan.blocks));
        if plan.together > 1 {
            self.out.line(format!("reads {} rows together", plan.together));
        }
        self.stores();
        self.out.depth = depth;
        self.reads(&kernel.body, false);
    }
}
