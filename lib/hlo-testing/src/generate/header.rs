//! The parts of a module outside of its computations: header attributes and stack-frame tables.

use super::Options;
use super::program::{DEVICES, Program};
use super::types::Type;
use crate::Numbers;
use hlo_ir::Opcode;

/// The number of stack frames in the tables.
pub(super) const FRAMES: usize = 3;

const TABLES: &str = "FileNames
1 \"a.py\"
2 \"dir/b \\\"c\\\".py\"

FunctionNames
1 \"f\"
2 \"g.<locals>.<lambda>\"

FileLocations
1 {file_name_id=1 function_name_id=1 line=3 end_line=3 column=1 end_column=9}
2 {file_name_id=2 function_name_id=2 line=10 end_line=12 column=5 end_column=6}

StackFrames
1 {file_location_id=1 parent_frame_id=0}
2 {file_location_id=2 parent_frame_id=1}
3 {file_location_id=1 parent_frame_id=2}

";

/// Adds header attributes that match the entry, and stack-frame tables.
pub(super) fn add(program: &mut Program, options: Options, numbers: &mut Numbers) {
    let Some(entry) = program.computations.last() else { return };
    let parameters: Vec<Type> =
        entry.lines.iter().filter(|l| l.opcode == Opcode::Parameter).map(|l| l.ty.clone()).collect();
    let result = entry.lines[entry.root].ty.clone();
    let mut header = Vec::new();
    let mut put = |name: &str, text: String| header.push((name.to_string(), text));
    // Operands precede users, so the order is a valid schedule.
    if numbers.one_in(5) {
        put("is_scheduled", "true".into());
    }
    // Results that may share memory with parameters of their type, and parameters that may be overwritten.
    let outputs = match &result {
        Type::Tuple(parts) => parts.iter().enumerate().map(|(i, t)| (format!("{{{i}}}"), t)).collect(),
        one => vec![("{}".to_string(), one)],
    };
    let mut used = vec![false; parameters.len()];
    let mut aliases = Vec::new();
    for (index, ty) in outputs {
        // Arrays of narrow types may be packed in one place and not in the other.
        let plain = ty.as_array().is_some_and(|a| a.element.is_pred() || a.element.bit_width() >= 8);
        let free = (0..parameters.len()).find(|&p| plain && !used[p] && parameters[p] == *ty);
        if let (Some(p), true) = (free, numbers.one_in(2)) {
            used[p] = true;
            aliases.push(format!("{index}: ({p}, {{}}, {})", numbers.pick(&["may-alias", "must-alias"])));
        }
    }
    if !aliases.is_empty() {
        put("input_output_alias", format!("{{ {} }}", aliases.join(", ")));
    }
    let donors: Vec<String> = (0..parameters.len())
        .filter(|&p| !used[p] && parameters[p].as_array().is_some() && numbers.one_in(4))
        .map(|p| format!("({p}, {{}})"))
        .collect();
    if !donors.is_empty() {
        put("buffer_donor", format!("{{ {} }}", donors.join(", ")));
    }
    if numbers.one_in(10) {
        put("alias_passthrough_params", "true".into());
    }
    if numbers.one_in(2) {
        let shapes: Vec<String> = parameters.iter().map(|p| p.write(None)).collect();
        put("entry_computation_layout", format!("{{({})->{}}}", shapes.join(", "), result.write(None)));
    }
    if numbers.one_in(8) {
        put("allow_spmd_sharding_propagation_to_parameters", "{true}".into());
    }
    if numbers.one_in(8) {
        put("allow_spmd_sharding_propagation_to_output", numbers.pick(&["{true}", "{false}"]).into());
    }
    put("replica_count", DEVICES.to_string());
    put("num_partitions", DEVICES.to_string());
    if numbers.one_in(5) {
        put("frontend_attributes", "{fingerprint_before_lhs=\"a\",x={\"k\": [1, 2]}}".into());
    }
    if numbers.one_in(10) {
        put(
            "origin_recovery_table",
            "{ {\"a\" {0}} : {\"b\"}, \"ENTRY e {\\n ROOT x = f32[] parameter(0)\\n}\" }".into(),
        );
    }
    program.header = header;
    if options.decorated && numbers.one_in(2) {
        program.tables = TABLES.into();
    }
}
