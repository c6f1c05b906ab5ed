//! `layout-assignment` on random modules with random layouts: it preserves the layouts of the entry and the
//! results. A second run changes nothing, even after the module was printed and parsed. The pass also
//! preserves results if it stops early, as in the search for a wrong rewrite.

use hlo_ir::attr::FusionKind;
use hlo_ir::print::{PrintOptions, print_module};
use hlo_ir::{ArrayShape, ComputationId, InstrId, Literal, Module, Op, Shape};
use hlo_passes::{Extent, Observer, PassInfo};
use hlo_testing::generate::{Options, Style, program};
use hlo_testing::{Numbers, values};
use std::collections::HashSet;

struct Strict(Extent);

impl Observer for Strict {
    fn verify_each(&self) -> bool {
        true
    }

    fn before_pass(&mut self, _: &PassInfo, _: &Module) -> Extent {
        self.0
    }
}

fn assign_some(module: &mut Module, extent: Extent) -> Result<bool, String> {
    let pipeline = crate::pipeline("layout-assignment");
    pipeline.run(module, &mut Strict(extent)).map_err(|d| format!("{d:?}"))
}

fn assign(module: &mut Module) -> Result<bool, String> {
    assign_some(module, Extent::Whole)
}

/// NaNs are compared by their bits, because the pass changes no instruction that computes them.
fn same_bits(a: &Literal, b: &Literal) -> bool {
    a.leaves().iter().zip(b.leaves()).all(|(a, b)| a.shape().as_array().is_none() || a.bytes() == b.bytes())
}

fn results(module: &Module) -> Option<Literal> {
    let mut numbers = Numbers::new(7);
    let parameters = module.parameters(module.entry());
    let inputs: Option<Vec<Literal>> =
        parameters.iter().map(|&p| values::random(&module[p].shape, &mut numbers, true)).collect();
    let options = hlo_eval::Options { max_operations: Some(2_000_000), ..hlo_eval::Options::default() };
    hlo_eval::evaluate(module, &inputs?, &options).ok()
}

/// Checks layouts that must agree, and returns the first two that differ as an error. Custom fusions must not
/// change.
fn agreement(module: &Module) -> Result<(), String> {
    let mut fixed = HashSet::new();
    for c in module.computations_post_order().into_iter().rev() {
        for &i in module[c].instructions() {
            if matches!(&module[i].op, Op::Fusion(a) if a.kind == FusionKind::Custom) || fixed.contains(&c) {
                fixed.extend(module[i].op.called_computations());
            }
        }
    }
    for c in module.computations().filter(|c| !fixed.contains(c)) {
        for &i in module[c].instructions() {
            agreement_at(module, i)
                .map_err(|why| format!("{} of {}: {why}", module[i].name, module[c].name))?;
        }
    }
    Ok(())
}

fn agreement_at(module: &Module, i: InstrId) -> Result<(), String> {
    let instr = &module[i];
    let operand = |n: usize| &module[instr.operands[n]].shape;
    let root = |c: ComputationId| &module[module[c].root()].shape;
    let parameter = |c: ComputationId, n: usize| &module[module.parameters(c)[n]].shape;
    let one = |what: &str, a: &Shape, b: &Shape| {
        if same_orders(a, b) {
            Ok(())
        } else {
            Err(format!("{what}: {} and {}", a.with_layouts(), b.with_layouts()))
        }
    };
    match &instr.op {
        Op::Tuple => {
            let parts = instr.shape.as_tuple().unwrap();
            parts.iter().enumerate().try_for_each(|(n, part)| one("an element", part, operand(n)))
        }
        Op::GetTupleElement(a) => {
            one("the element", &instr.shape, &operand(0).as_tuple().unwrap()[a.index as usize])
        }
        Op::While(a) => {
            let places = [operand(0), parameter(a.body, 0), parameter(a.condition, 0), root(a.body)];
            places.iter().try_for_each(|place| one("the state", &instr.shape, place))
        }
        Op::Conditional(a) => a.branches().into_iter().enumerate().try_for_each(|(n, c)| {
            one("an argument", operand(n + 1), parameter(c, 0))?;
            one("the result", &instr.shape, root(c))
        }),
        Op::Fusion(a) if a.kind == FusionKind::Custom => Ok(()),
        Op::Call(_) | Op::Fusion(_) => instr.op.called_computations().iter().try_for_each(|&c| {
            (0..instr.operands.len()).try_for_each(|n| one("an argument", operand(n), parameter(c, n)))?;
            one("the result", &instr.shape, root(c))
        }),
        _ => Ok(()),
    }
}

/// Returns whether arrays have the same orders of dimensions. Excludes layouts with further attributes, which
/// do not change, and arrays of dynamic sizes, where dimensions of size 1 can be at any position.
fn same_orders(a: &Shape, b: &Shape) -> bool {
    let plain = |a: &ArrayShape| a.is_static() && a.layout_items().is_none();
    a.leaves().iter().zip(b.leaves()).all(|(a, b)| match (a.as_array(), b.as_array()) {
        (Some(a), Some(b)) if plain(a) && plain(b) => a.minor_to_major() == b.minor_to_major(),
        _ => true,
    })
}

/// Runs the pass on a module, and returns whether the interpreter could run the module.
fn check(text: &str) -> Result<bool, String> {
    let Ok(mut module) = hlo_parser::parse_module(text) else { return Ok(false) };
    if !hlo_ir::verify::verify(&module).is_empty() {
        return Ok(false);
    }
    let before = results(&module);
    let entry = module.entry_layout().map(|l| l.into_owned());
    assign(&mut module)?;
    let printed = print_module(&module, &PrintOptions::default());
    agreement(&module).map_err(|why| format!("{why}\n{printed}"))?;
    let entry = entry.ok_or("no entry")?;
    // Layouts with further attributes do not change.
    let agree = |i: InstrId, asked: &Shape| {
        module[i].shape.leaves().into_iter().zip(asked.leaves()).all(|(own, asked)| {
            let items = own.as_array().and_then(|a| a.layout.as_ref()).is_some_and(|l| l.items().is_some());
            items
                || own.as_array().map(|a| a.minor_to_major()) == asked.as_array().map(|a| a.minor_to_major())
        })
    };
    let parameters = module.parameters(module.entry());
    let kept = parameters.into_iter().zip(&entry.parameters).all(|(p, asked)| agree(p, asked))
        && agree(module[module.entry()].root(), &entry.result);
    if !kept {
        return Err(format!("other layouts at the entry than {entry:?}:\n{printed}"));
    }
    if assign(&mut module)? {
        let again = print_module(&module, &PrintOptions::default());
        return Err(format!("a second run changes\n{printed}\nto\n{again}"));
    }
    let mut read = hlo_parser::parse_module(&printed).map_err(|d| format!("{d:?}\n{printed}"))?;
    if assign(&mut read)? {
        let again = print_module(&read, &PrintOptions::default());
        return Err(format!("once it is read again, a second run changes\n{printed}\nto\n{again}"));
    }
    let random = module
        .computations()
        .any(|c| module[c].instructions().iter().any(|&i| matches!(module[i].op, Op::Rng(_))));
    let (Some(before), false) = (before, random) else { return Ok(false) };
    let Some(after) = results(&module) else { return Err(format!("it can't be run:\n{printed}")) };
    if !same_bits(&before, &after) {
        return Err(format!("other results:\n{printed}"));
    }
    for rewrites in [1, 3] {
        let mut module = hlo_parser::parse_module(text).map_err(|d| format!("{d:?}"))?;
        assign_some(&mut module, Extent::Rewrites(rewrites))?;
        let part = results(&module);
        if !part.is_some_and(|part| same_bits(&before, &part)) {
            let printed = print_module(&module, &PrintOptions::default());
            return Err(format!("other results after {rewrites} rewrites:\n{printed}"));
        }
    }
    Ok(true)
}

/// `HLO_SEEDS=N` tries N random programs of each kind.
#[test]
fn random_modules() {
    let seeds: u64 = std::env::var("HLO_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut run = 0;
    for seed in 0..seeds {
        for executable in [true, false] {
            let options = Options { steps: 8, decorated: false, executable, ..Options::default() };
            // Executable programs have no tiles or similar attributes.
            let style = Style { layouts: !executable, orders: executable, ..Style::default() };
            let text = program(seed, options).text(style);
            match check(&text) {
                Ok(interpreted) => run += u64::from(interpreted && executable),
                Err(message) => panic!("seed {seed}, executable={executable}: {message}\nfrom\n{text}"),
            }
        }
    }
    assert!(run > seeds / 2, "only {run} of {seeds} programs were run");
}
