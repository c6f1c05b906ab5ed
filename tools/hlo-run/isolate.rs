//! `--isolate`: runs each instruction separately, on operands that the interpreter computed, and compares
//! compiled code with the interpreter.
//!
//! The instructions of a computation are compiled together, in a module where each of them has parameters as
//! its operands and is an element of the result. Therefore no pass combines two of them, and no error
//! propagates from one to another.

use crate::args::Args;
use crate::bisect::Subject;
use crate::engine;
use crate::feed::Feed;
use crate::leaves::{check_memory, name_leaves};
use crate::pipeline;
use hlo_ir::effects::Effects;
use hlo_ir::print::{PrintOptions, print_instruction_within};
use hlo_ir::suggest::nearest;
use hlo_ir::{ComputationId, InstrId, Literal, Module, Op, Opcode, Shape, SourceFrames};
use hlo_tools_common::args::DiagnosticsFormat;
use hlo_tools_common::compare::{Comparison, compare};
use hlo_tools_common::{Failure, Reporter, print};
use std::collections::{HashMap, HashSet, VecDeque};

/// Maximum number of rows without `--full`.
const MAX_SHOWN_ROWS: usize = 20;
/// Maximum length of an instruction's text.
const MAX_TEXT: usize = 110;

/// An instruction and the outcome of its comparison.
struct Row {
    computation: String,
    text: String,
    outcome: Outcome,
}

enum Outcome {
    Compared(Vec<Comparison>),
    Failed(String),
}

impl Outcome {
    /// Returns the size of the error for sorting. Failures come before all errors.
    fn units(&self) -> f64 {
        match self {
            Outcome::Compared(all) => all.iter().map(|c| c.units).fold(0.0, f64::max),
            Outcome::Failed(_) => f64::INFINITY,
        }
    }

    fn is_wrong(&self) -> bool {
        match self {
            Outcome::Compared(all) => all.iter().any(|c| c.mismatches > 0),
            Outcome::Failed(_) => true,
        }
    }
}

/// Compares all instructions of a module, and prints the largest errors.
pub fn run(args: &Args, reporter: Reporter, subject: &Subject<'_>, feed: &mut Feed) -> Result<(), Failure> {
    let module = subject.module;
    check_only(module, &args.only)?;
    // The reason of a failure is part of the table.
    let reporter = Reporter { format: DiagnosticsFormat::Text, ..reporter };
    let mut open: VecDeque<(ComputationId, Vec<Literal>)> = VecDeque::new();
    let mut inputs = subject.inputs.iter().cloned();
    let arguments = module.parameters(module.entry()).into_iter();
    let arguments: Option<Vec<Literal>> =
        arguments.map(|p| Literal::from_leaves(&module[p].shape, &mut inputs)).collect();
    open.push_back((module.entry(), arguments.ok_or_else(|| Failure::Message("too few inputs".into()))?));
    let mut seen: HashSet<ComputationId> = HashSet::new();
    let mut rows: Vec<Row> = Vec::new();
    let mut left_out = 0;
    let effects = Effects::of(module);
    while let Some((computation, arguments)) = open.pop_front() {
        if !seen.insert(computation) {
            continue;
        }
        let values = values(subject, computation, &arguments, feed)?;
        let wanted = |i: &InstrId| args.only.is_empty() || args.only.iter().any(|o| is_named(module, *i, o));
        let computing = module.post_order(computation).into_iter().filter(|&i| computes(module, i));
        let (alone, others): (Vec<InstrId>, Vec<InstrId>) = computing.filter(wanted).partition(|&i| {
            !effects.has(module, i) && values.contains_key(&i) && depends_only_on_operands(module, i, &values)
        });
        left_out += others.len();
        let mut group = Group { subject, values: &values, reporter, feed, rows: &mut rows };
        group.compare(&alone);
        for i in module.post_order(computation) {
            open.extend(called(module, i, &values).into_iter().filter(|(c, _)| !effects.any(*c)));
        }
    }
    // The sort is stable: equal errors stay in the order of the module.
    rows.sort_by(|a, b| b.outcome.units().total_cmp(&a.outcome.units()));
    print(table(&rows, left_out, args.full).as_bytes())?;
    if rows.iter().any(|r| r.outcome.is_wrong()) { Err(Failure::Shown) } else { Ok(()) }
}

/// Reports an error for a name in `--only` that matches nothing in the module, because comparing nothing
/// would look like success.
fn check_only(module: &Module, only: &[String]) -> Result<(), Failure> {
    let all: Vec<InstrId> =
        module.computations().flat_map(|c| module[c].instructions().iter().copied()).collect();
    let Some(unknown) = only.iter().find(|name| !all.iter().any(|&i| is_named(module, i, name))) else {
        return Ok(());
    };
    let known = all.iter().flat_map(|&i| [&*module[i].name, module[i].opcode().name()]);
    let proposal = nearest(unknown.trim_start_matches('%'), known);
    let proposal = proposal.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
    Err(Failure::Message(format!(
        "--only: no instruction of the module has the name or the opcode `{unknown}`{proposal}"
    )))
}

/// Whether `--only` names the instruction, by its name or its opcode.
fn is_named(module: &Module, id: InstrId, name: &str) -> bool {
    let instr = &module[id];
    *instr.name == *name.trim_start_matches('%') || instr.opcode().name() == name
}

/// Whether the instruction computes something.
fn computes(module: &Module, id: InstrId) -> bool {
    !matches!(
        module[id].opcode(),
        Opcode::Parameter | Opcode::Constant | Opcode::Tuple | Opcode::GetTupleElement | Opcode::AfterAll
    )
}

/// Whether the result of an instruction depends only on its operands, and their values are known.
fn depends_only_on_operands(module: &Module, id: InstrId, values: &HashMap<InstrId, Literal>) -> bool {
    let instr = &module[id];
    let random = |op: &Op| matches!(op, Op::Rng(_) | Op::RngGetAndUpdateState(_));
    let mut work = instr.op.called_computations();
    let mut seen: HashSet<ComputationId> = HashSet::new();
    while let Some(c) = work.pop() {
        if seen.insert(c) {
            let inside = module[c].instructions();
            if inside.iter().any(|&i| random(&module[i].op)) {
                return false;
            }
            work.extend(inside.iter().flat_map(|&i| module[i].op.called_computations()));
        }
    }
    !random(&instr.op)
        && instr.common.as_deref().is_none_or(|c| c.control_predecessors.is_empty())
        && instr.operands.iter().all(|o| values.contains_key(o))
}

/// Returns the computations that an instruction calls as part of the program, with the arguments of the first
/// call.
fn called(
    module: &Module,
    id: InstrId,
    values: &HashMap<InstrId, Literal>,
) -> Vec<(ComputationId, Vec<Literal>)> {
    let operands: Option<Vec<Literal>> = module[id].operands.iter().map(|o| values.get(o).cloned()).collect();
    let Some(operands) = operands else { return Vec::new() };
    match &module[id].op {
        Op::Call(a) => vec![(a.to_apply, operands)],
        Op::Fusion(a) => vec![(a.calls, operands)],
        Op::While(a) => vec![(a.condition, operands.clone()), (a.body, operands)],
        Op::Conditional(a) => {
            let branches = a.branches();
            let index = operands.first().and_then(|index| index.integer_at(0)).unwrap_or(0);
            // For a pred, the first branch is for true. A number out of range selects the last branch.
            let taken =
                match operands.first().and_then(|o| o.shape().as_array()).map(|a| a.element_type.is_pred()) {
                    Some(true) => usize::from(index == 0),
                    _ => usize::try_from(index).unwrap_or(usize::MAX).min(branches.len().saturating_sub(1)),
                };
            let branch = branches.get(taken).copied().zip(operands.get(taken + 1).cloned());
            branch.map(|(c, argument)| (c, vec![argument])).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

/// Whether a value can be passed to and returned from a program.
fn is_data(shape: &Shape) -> bool {
    shape.leaves().iter().all(|leaf| leaf.as_array().is_some_and(|a| a.is_static()))
}

/// Returns the values of the instructions of a computation, evaluated by the interpreter.
fn values(
    subject: &Subject<'_>,
    computation: ComputationId,
    arguments: &[Literal],
    feed: &mut Feed,
) -> Result<HashMap<InstrId, Literal>, Failure> {
    let mut module = subject.module.clone();
    let ids: Vec<InstrId> =
        module.post_order(computation).into_iter().filter(|&i| is_data(&module[i].shape)).collect();
    let shape = Shape::Tuple(ids.iter().map(|&i| module[i].shape.clone()).collect());
    check_memory(&name_leaves(&shape, "value"), "values of all instructions")?;
    let name = module.unique_name("values");
    let all = module.add(computation, &name, shape, Op::Tuple, ids.iter().copied());
    module.set_root(computation, all);
    module.header.entry_computation_layout = None;
    module.header.is_scheduled = false;
    make_entry(&mut module, computation);
    let inputs: Vec<Literal> = arguments.iter().flat_map(Literal::leaves).cloned().collect();
    feed.rewind(false);
    let result = engine::interpret(&module, subject.source, &inputs, subject.settings, feed)?;
    Ok(ids.into_iter().zip(result.tuple_elements().iter().cloned()).collect())
}

/// The instructions of one computation.
struct Group<'a> {
    subject: &'a Subject<'a>,
    values: &'a HashMap<InstrId, Literal>,
    reporter: Reporter,
    feed: &'a mut Feed,
    rows: &'a mut Vec<Row>,
}

impl Group<'_> {
    /// Compares instructions, all at once. If that fails, compares fewer at a time.
    fn compare(&mut self, ids: &[InstrId]) {
        let Some(&first) = ids.first() else { return };
        let failure = match self.compiled(ids) {
            Ok(results) => {
                for (&id, got) in ids.iter().zip(results) {
                    let outcome = self.outcome(id, &got);
                    self.push(id, outcome);
                }
                return;
            }
            Err(failure) => failure,
        };
        if ids.len() > 1 {
            let (a, b) = ids.split_at(ids.len() / 2);
            self.compare(a);
            self.compare(b);
            return;
        }
        let why = self.reporter.failure(&failure);
        let line = why.lines().next().unwrap_or_default().to_string();
        self.push(first, Outcome::Failed(line));
    }

    /// Returns the results of compiled code for each instruction.
    fn compiled(&mut self, ids: &[InstrId]) -> Result<Vec<Literal>, Failure> {
        let Subject { module, source, settings, .. } = *self.subject;
        let (given, operands) = isolated(module, ids);
        let values = operands.iter().filter_map(|o| self.values.get(o));
        let inputs: Vec<Literal> = values.flat_map(Literal::leaves).cloned().collect();
        let mut alone = given.clone();
        pipeline::lower(&mut alone, source)?;
        self.feed.rewind(false);
        let by = engine::Engine::Compiled;
        let all = engine::run_once(by, (&given, &alone), source, &inputs, settings, self.feed)?;
        Ok(all.tuple_elements().to_vec())
    }

    fn outcome(&self, id: InstrId, got: &Literal) -> Outcome {
        let Some(want) = self.values.get(&id) else { return Outcome::Compared(Vec::new()) };
        let tolerances = self.subject.tolerances.between_engines();
        let parts = got.leaves().into_iter().zip(want.leaves());
        let compared: Result<Vec<Comparison>, String> =
            parts.map(|(got, want)| compare(got, want, tolerances.by_type(want))).collect();
        match compared {
            Ok(all) => Outcome::Compared(all),
            Err(why) => Outcome::Failed(why),
        }
    }

    fn push(&mut self, id: InstrId, outcome: Outcome) {
        let module = self.subject.module;
        let options = PrintOptions { print_large_constants: false, ..PrintOptions::short() };
        let text = print_instruction_within(module, id, &options, MAX_TEXT);
        let text = match SourceFrames::of(module).line(id) {
            Some(trace) => format!("{text}  from {trace}"),
            None => text,
        };
        self.rows.push(Row { computation: module[module[id].parent].name.to_string(), text, outcome });
    }
}

/// Returns a module that computes each of the instructions from parameters, and the operand for each
/// parameter.
fn isolated(module: &Module, ids: &[InstrId]) -> (Module, Vec<InstrId>) {
    let mut module = module.clone();
    let name = module.unique_name("isolated");
    let entry = module.add_computation(&name);
    let mut parameters: HashMap<InstrId, InstrId> = HashMap::new();
    let mut operands: Vec<InstrId> = Vec::new();
    let mut results = Vec::with_capacity(ids.len());
    for &id in ids {
        let instr = module[id].clone();
        let mut own = Vec::with_capacity(instr.operands.len());
        for &o in &instr.operands {
            let parameter = match parameters.get(&o) {
                Some(&known) => known,
                None => {
                    let number = operands.len() as i64;
                    let (name, shape) = (module.unique_name("p"), module[o].shape.clone());
                    let op = Op::parameter(number);
                    let new = module.add(entry, &name, shape, op, []);
                    operands.push(o);
                    parameters.insert(o, new);
                    new
                }
            };
            own.push(parameter);
        }
        let name = module.unique_name(&instr.name);
        let copy = module.add(entry, &name, instr.shape, instr.op, own);
        if let Some(common) = instr.common {
            module.common_mut(copy).result_accuracy = common.result_accuracy;
        }
        results.push(copy);
    }
    let shape = Shape::Tuple(results.iter().map(|&r| module[r].shape.clone()).collect());
    let name = module.unique_name("results");
    let root = module.add(entry, &name, shape, Op::Tuple, results);
    module.set_root(entry, root);
    module.header = hlo_ir::Header::default();
    make_entry(&mut module, entry);
    (module, operands)
}

/// Makes a computation the entry and removes the computations that it does not reach, including the old
/// entry.
fn make_entry(module: &mut Module, entry: ComputationId) {
    module.set_entry(entry);
    let mut reached = HashSet::from([entry]);
    let mut work = vec![entry];
    while let Some(c) = work.pop() {
        let callees = module[c].instructions().iter().flat_map(|&i| module[i].op.called_computations());
        work.extend(callees.filter(|&c| reached.insert(c)));
    }
    for c in module.computations().filter(|c| !reached.contains(c)).collect::<Vec<_>>() {
        module.remove_computation(c);
    }
}

/// Returns the table, with the largest errors first.
fn table(rows: &[Row], left_out: usize, full: bool) -> String {
    let mut out = format!(
        "{:>12} {:>11} {:>11} {:>15}  instruction\n",
        "error/limit", "absolute", "relative", "differ"
    );
    let shown = if full { rows.len() } else { MAX_SHOWN_ROWS };
    let wrong = rows.iter().filter(|r| r.outcome.is_wrong()).count();
    // Wrong results are always shown, up to a readable number.
    for row in rows.iter().take(shown) {
        let name = format!("{}: {}", row.computation, row.text);
        match &row.outcome {
            Outcome::Failed(why) => out.push_str(&format!("{:>12}  {name}\n{:>14}{why}\n", "failed", "")),
            Outcome::Compared(all) => {
                let most = |of: fn(&Comparison) -> f64| all.iter().map(of).fold(0.0, f64::max);
                let mismatches: usize = all.iter().map(|c| c.mismatches).sum();
                let elements: usize = all.iter().map(|c| c.elements).sum();
                out.push_str(&format!(
                    "{:>12.3e} {:>11.3e} {:>11.3e} {:>15}  {name}\n",
                    most(|c| c.units),
                    most(|c| c.largest_absolute),
                    most(|c| c.largest_relative),
                    format!("{mismatches}/{elements}"),
                ));
            }
        }
    }
    if rows.len() > shown {
        out.push_str(&format!("… and {} more (--full shows all)\n", rows.len() - shown));
    }
    let plural = if rows.len() == 1 { "" } else { "s" };
    out.push_str(&format!("{} instruction{plural} compared, {wrong} beyond the tolerance", rows.len()));
    if left_out > 0 {
        out.push_str(&format!(
            ", {left_out} left out (side effects, random numbers, sizes known at run time only)"
        ));
    }
    out.push('\n');
    out
}
