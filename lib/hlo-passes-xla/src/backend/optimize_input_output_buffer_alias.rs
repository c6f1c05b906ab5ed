//! `optimize_input_output_buffer_alias`: lets results use the memory of donated parameters.
//!
//! ```text
//! HloModule m, buffer_donor={ (0, {}) }    →    HloModule m, input_output_alias={ {}: (0, {}, may-alias) }
//! ```
//!
//! Each array of the result that does not share memory yet gets the first free donated array with the same
//! number of bytes and the same memory space. With `donors-only=false`, any array of a parameter may be used,
//! for callers that are known to donate all of them.

use hlo_ir::attr::{BufferDonor, InputOutputAlias, ShapeIndex};
use hlo_ir::{Module, Shape};
use hlo_passes::{OptionInfo, OptionValue, PassInfo, Rewrites};
use std::collections::{HashMap, HashSet, VecDeque};

/// The pass's entry in the registry.
pub static INFO: PassInfo = PassInfo {
    name: "optimize_input_output_buffer_alias",
    summary: "let results reuse the memory of donated parameters",
    options: &[OptionInfo {
        name: "donors-only",
        summary: "whether to use only the parameters listed in `buffer_donor`",
        default: OptionValue::Switch(true),
    }],
    example: "\
HloModule optimize_input_output_buffer_alias, buffer_donor={ (1, {}) }

ENTRY e {
  x = f32[8] parameter(0)
  y = f32[8] parameter(1)
  ROOT s = f32[8] add(x, y)
}
",
    build: |_, options| {
        let donors_only = options.switch("donors-only");
        Box::new(move |module: &mut Module, rewrites: &mut Rewrites| Ok(run(module, donors_only, rewrites)))
    },
    ..PassInfo::PLAIN
};

/// The size in bytes and the memory space, which must be equal for two arrays to share memory.
type Kind = (u64, i32);

fn run(module: &mut Module, donors_only: bool, rewrites: &mut Rewrites) -> bool {
    let entry = module.entry();
    let mut shared = HashSet::new();
    let mut given = HashSet::new();
    for alias in &module.header.input_output_alias {
        shared.insert(alias.output.clone());
        given.insert((alias.parameter, alias.parameter_index.clone()));
    }
    let donors: HashSet<(i64, ShapeIndex)> =
        module.header.buffer_donor.iter().map(|d| (d.parameter, d.index.clone())).collect();
    // The arrays that may be used, in order.
    let mut free: HashMap<Kind, VecDeque<(i64, ShapeIndex)>> = HashMap::new();
    for (n, parameter) in module.parameters(entry).into_iter().enumerate() {
        for (index, kind) in arrays(&module[parameter].shape) {
            let place = (n as i64, index);
            if !given.contains(&place) && (donors.contains(&place) || !donors_only) {
                free.entry(kind).or_default().push_back(place);
            }
        }
    }
    let root = module[entry].root();
    let mut aliases = Vec::new();
    for (output, kind) in arrays(&module[root].shape) {
        if shared.contains(&output) || !rewrites.allowed() {
            continue;
        }
        let Some((parameter, parameter_index)) = free.get_mut(&kind).and_then(VecDeque::pop_front) else {
            continue;
        };
        rewrites.made("share", &module[root].name);
        aliases.push(InputOutputAlias { output, parameter, parameter_index, must: false });
    }
    let changed = !aliases.is_empty();
    let header = &mut module.header;
    for alias in &aliases {
        let used = BufferDonor { parameter: alias.parameter, index: alias.parameter_index.clone() };
        header.buffer_donor.retain(|d| *d != used);
    }
    header.input_output_alias.extend(aliases);
    header.input_output_alias.sort_by(|a, b| a.output.cmp(&b.output));
    changed
}

/// Returns the arrays of a shape that occupy memory: index, size in bytes and memory space.
fn arrays(shape: &Shape) -> Vec<(ShapeIndex, Kind)> {
    fn walk(shape: &Shape, at: &mut ShapeIndex, out: &mut Vec<(ShapeIndex, Kind)>) {
        match shape {
            Shape::Tuple(parts) => {
                for (n, part) in parts.iter().enumerate() {
                    at.push(n as i64);
                    walk(part, at, out);
                    at.pop();
                }
            }
            // Dynamic arrays are skipped, because their size is known only at run time.
            Shape::Array(a) if a.is_static() && a.byte_size() > 0 => {
                out.push((at.clone(), (a.stored_size() as u64, a.memory_space())));
            }
            _ => {}
        }
    }
    let mut out = Vec::new();
    walk(shape, &mut Vec::new(), &mut out);
    out
}
