//! Attributes that every instruction accepts and that do not affect its value.

use super::program::{DEVICES, Line, Program};
use super::types::{Type, list};
use crate::Numbers;
use hlo_ir::Opcode;

/// Adds random attributes to instructions.
pub(super) fn add_random_attributes(program: &mut Program, numbers: &mut Numbers) {
    let frames = if program.tables.is_empty() { 0 } else { super::header::FRAMES };
    let last = program.computations.len().saturating_sub(1);
    for (n, computation) in program.computations.iter_mut().enumerate() {
        for (i, line) in computation.lines.iter_mut().enumerate() {
            if numbers.one_in(8) && n == last {
                let ty = line.ty.clone();
                put(line, "sharding", sharding(&ty, numbers));
            }
            let has_some = line.attributes.iter().any(|(name, _)| name == "frontend_attributes");
            if numbers.one_in(12) && !has_some {
                let text = numbers.pick(&[
                    "{a=\"b\"}",
                    "{_x=\"1\",k={\"n\": [1, {\"z\": \"}\"}]}}",
                    "{a.b=\"\\\"\"}",
                ]);
                put(line, "frontend_attributes", text.into());
            }
            if numbers.one_in(10) && i > 0 {
                line.control.push(numbers.below(i));
            }
            if numbers.one_in(20) {
                put(line, "statistics", "{visualizing_index=0,stat=1.5,other=2}".into());
            }
            if line.opcode == Opcode::Parameter && numbers.one_in(6) {
                let flags: Vec<&str> =
                    line.ty.leaves().iter().map(|_| numbers.pick(&["true", "false"])).collect();
                if !flags.is_empty() {
                    put(line, "parameter_replication", format!("{{{}}}", flags.join(",")));
                }
            }
            if numbers.one_in(10) {
                let text = origin(&line.ty, numbers);
                put(line, "origin", text);
            }
            if numbers.one_in(3) {
                put(line, "metadata", metadata(frames, numbers));
            }
            if numbers.one_in(10) {
                let text = numbers.pick(&[
                    "\"plain\"",
                    "\"a\\\"b\\\\\"",
                    "{\"a\":[1,2,{\"b\":\"}\"}]}",
                    "{}",
                    "\"\"",
                ]);
                put(line, "backend_config", text.into());
            }
        }
    }
}

fn put(line: &mut Line, name: &str, text: String) {
    line.attributes.push((name.into(), text));
}

/// Returns a sharding of a value, with one sharding for each leaf of a tuple.
pub(super) fn sharding(ty: &Type, numbers: &mut Numbers) -> String {
    match ty {
        Type::Tuple(_) => {
            let leaves: Vec<String> = ty.leaves().iter().map(|t| leaf_sharding(t, numbers)).collect();
            if leaves.is_empty() { "{replicated}".into() } else { format!("{{{}}}", leaves.join(", ")) }
        }
        Type::Array(a) if a.rank() > 1 && numbers.one_in(3) => named_sharding(a.rank(), numbers),
        Type::Array(_) | Type::Token | Type::Opaque => leaf_sharding(ty, numbers),
    }
}

/// Returns a sharding of dimensions along the named axes of a mesh.
fn named_sharding(rank: usize, numbers: &mut Numbers) -> String {
    let order = numbers.permutation(rank);
    let both = numbers.one_in(2);
    let axes: Vec<String> = (0..rank as i64)
        .map(|i| match (i == order[0], i == order[1]) {
            (true, _) => numbers.pick(&["{'x'}", "{'x', ?}"]).into(),
            (_, true) if both => "{'y'}".into(),
            _ => numbers.pick(&["{}", "{?}"]).to_string(),
        })
        .collect();
    let rest = if both { "" } else { numbers.pick(&["", ", replicated={'y'}", ", unreduced={'y'}"]) };
    format!("{{mesh['x'=2,'y'=2], [{}]{rest}}}", axes.join(", "))
}

fn leaf_sharding(ty: &Type, numbers: &mut Numbers) -> String {
    let rank = ty.as_array().map_or(0, |a| a.rank());
    if rank == 0 || numbers.one_in(3) {
        let all = ["{replicated}", "{maximal device=1}", "{manual}", "{unknown}", "{maximal device=0}"];
        return numbers.pick(&all).into();
    }
    // Four devices along the dimensions, or two along the dimensions and the others replicated or manual.
    let mut tiles = vec![1; rank];
    tiles[numbers.below(rank)] *= 2;
    let mut suffix = "";
    if numbers.one_in(2) {
        tiles.push(2);
        suffix = numbers.pick(&[" last_tile_dim_replicate", " last_tile_dims={manual}"]);
    } else {
        tiles[numbers.below(rank)] *= 2;
    }
    let devices = match numbers.below(3) {
        0 => list(&numbers.permutation(DEVICES as usize)),
        _ => numbers.pick(&["<=[4]", "<=[2,2]T(1,0)"]).into(),
    };
    format!("{{devices=[{}]{devices}{suffix}}}", list(&tiles))
}

/// Returns the origin of a value, with one name for each leaf.
fn origin(ty: &Type, numbers: &mut Numbers) -> String {
    if numbers.one_in(6) {
        return "{[synthetic_call]}".into();
    }
    fn tree(ty: &Type, numbers: &mut Numbers) -> String {
        match ty {
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|p| tree(p, numbers)).collect();
                format!("({})", parts.join(", "))
            }
            Type::Array(_) | Type::Token | Type::Opaque => {
                numbers.pick(&["{\"a.1\"}", "{\"t\" {0}}", "{\"t\" {1,2}}"]).into()
            }
        }
    }
    format!("{{{}}}", tree(ty, numbers))
}

fn metadata(frames: usize, numbers: &mut Numbers) -> String {
    let all = [
        "op_type=\"dot_general\"",
        "op_name=\"jit(f)/a \\\"b\\\"\"",
        "source_file=\"dir/a b.py\"",
        "source_line=12",
        "source_end_line=13",
        "source_column=1",
        "source_end_column=80",
        "profile_type={1}",
        "deduplicated_name=\"d\"",
        "scheduling_name=\"s\"",
    ];
    let mut parts: Vec<String> = all.iter().filter(|_| numbers.one_in(3)).map(ToString::to_string).collect();
    if frames > 0 && numbers.one_in(2) {
        parts.push(format!("stack_frame_id={}", 1 + numbers.below(frames)));
    }
    if parts.is_empty() {
        parts.push("op_name=\"x\"".into());
    }
    format!("{{{}}}", parts.join(" "))
}
