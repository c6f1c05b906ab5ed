//! Origins of values: the arrays of the original program that they correspond to.

use super::Result;
use crate::messages::{
    HloModuleProto, OriginalArrayProto, OriginalValueElementProto, OriginalValueProto,
    OriginalValueRecoveryEntry, OriginalValueRecoveryTableProto,
};
use hlo_ir::Module;
use hlo_ir::attr::{HloString, Origin, OriginRecovery, OriginTree, OriginalArray};
use hlo_ir::diag::Diag;
use hlo_ir::print::{PrintOptions, print_module};

fn read_array(proto: &OriginalArrayProto) -> OriginalArray {
    let instruction = HloString::from_bytes(&proto.instruction_name[..]);
    OriginalArray { instruction, index: proto.shape_index.clone() }
}

fn write_array(array: &OriginalArray) -> OriginalArrayProto {
    let instruction_name = array.instruction.as_bytes().to_vec();
    OriginalArrayProto { instruction_name, shape_index: array.index.clone() }
}

/// Reads the origin of a value. The message lists its arrays in order, with their indices in the value's
/// tuples.
pub fn read_origin(proto: &OriginalValueProto) -> Result<Origin> {
    if proto.is_synthetic_call {
        return Ok(Origin::SyntheticCall);
    }
    let mut tree = OriginTree::Tuple(Vec::new());
    for element in &proto.elements {
        let array = element.original_array.as_deref().map(read_array);
        match element.shape_index.as_slice() {
            [] if proto.elements.len() == 1 => return Ok(Origin::Arrays(OriginTree::Array(array))),
            index => put(&mut tree, index, array)?,
        }
    }
    Ok(Origin::Arrays(tree))
}

/// Inserts an array at a tuple index. The arrays before that index must already be in the tree.
fn put(tree: &mut OriginTree, index: &[i64], array: Option<OriginalArray>) -> Result<()> {
    let mut at = tree;
    for (depth, &i) in index.iter().enumerate() {
        let last = depth + 1 == index.len();
        let OriginTree::Tuple(elements) = at else { return Err(out_of_order(index)) };
        if usize::try_from(i) == Ok(elements.len()) {
            elements.push(OriginTree::Tuple(Vec::new()));
        } else if last || usize::try_from(i).is_ok_and(|i| i + 1 != elements.len()) || i < 0 {
            return Err(out_of_order(index));
        }
        match elements.last_mut() {
            Some(element) => at = element,
            None => return Err(out_of_order(index)),
        }
    }
    match at {
        OriginTree::Tuple(elements) if elements.is_empty() && !index.is_empty() => {
            *at = OriginTree::Array(array);
            Ok(())
        }
        _ => Err(out_of_order(index)),
    }
}

fn out_of_order(index: &[i64]) -> String {
    format!("the arrays of an origin are in the order of their places, found {index:?}")
}

/// Writes an origin.
pub fn write_origin(origin: &Origin) -> OriginalValueProto {
    match origin {
        Origin::SyntheticCall => OriginalValueProto { elements: Vec::new(), is_synthetic_call: true },
        Origin::Arrays(tree) => {
            let mut elements = Vec::new();
            write_tree(tree, &mut Vec::new(), &mut elements);
            OriginalValueProto { elements, is_synthetic_call: false }
        }
    }
}

fn write_tree(tree: &OriginTree, at: &mut Vec<i64>, out: &mut Vec<OriginalValueElementProto>) {
    match tree {
        OriginTree::Array(array) => out.push(OriginalValueElementProto {
            shape_index: at.clone(),
            original_array: array.as_ref().map(|a| Box::new(write_array(a))),
        }),
        OriginTree::Tuple(elements) => {
            for (element, i) in elements.iter().zip(0..) {
                at.push(i);
                write_tree(element, at, out);
                at.pop();
            }
        }
    }
}

/// Reads the recovery table of arrays that are no longer computed, sorted by array. If an array occurs more
/// than once, the first entry counts. `to_module` reads the modules of the table.
pub fn read_recovery(
    proto: &OriginalValueRecoveryTableProto,
    to_module: impl Fn(&HloModuleProto) -> std::result::Result<Module, Vec<Diag>>,
) -> Result<Vec<OriginRecovery>> {
    let entry = |entry: &OriginalValueRecoveryEntry| {
        let array =
            |proto: &Option<Box<OriginalArrayProto>>| proto.as_deref().map(read_array).unwrap_or_default();
        let module = match entry.recovery_module.as_deref() {
            Some(module) => Some(to_module(module).map_err(|diags| {
                let first = diags.first().map_or("", |d| &d.message);
                format!("a module that recovers an array: {first}")
            })?),
            None => None,
        };
        let text = |m| HloString::from(print_module(&m, &PrintOptions::default()).as_str());
        Ok(OriginRecovery {
            array: array(&entry.old_original_array),
            replacement: array(&entry.new_original_array),
            module: module.map(text),
        })
    };
    let mut list: Vec<OriginRecovery> = proto.entries.iter().map(entry).collect::<Result<_>>()?;
    list.sort_by(|a, b| a.array.cmp(&b.array));
    list.dedup_by(|later, first| later.array == first.array);
    Ok(list)
}

/// Writes a recovery table. The IR stores a module that recovers an array as text, which was checked when it
/// was read. `from_module` writes the modules of the table.
pub fn write_recovery(
    list: &[OriginRecovery],
    from_module: impl Fn(&Module) -> HloModuleProto,
) -> OriginalValueRecoveryTableProto {
    let module = |text: &HloString| {
        let module = hlo_parser::parse_module(&text.to_text()).ok()?;
        Some(Box::new(from_module(&module)))
    };
    let entry = |r: &OriginRecovery| OriginalValueRecoveryEntry {
        old_original_array: Some(Box::new(write_array(&r.array))),
        new_original_array: Some(Box::new(write_array(&r.replacement))),
        recovery_module: r.module.as_ref().and_then(module),
    };
    OriginalValueRecoveryTableProto { entries: list.iter().map(entry).collect() }
}
