//! Converts values to other layouts.

use super::rewrite::same_layout;
use hlo_ir::{InstrId, Module, Op, Shape};

/// Converts a value to the layouts of `shape` by copying its arrays.
pub fn relaid(module: &mut Module, id: InstrId, shape: &Shape) -> InstrId {
    relaid_by(module, id, shape, &|module, id, shape| relaid_array(module, id, shape, Op::Copy))
}

/// Emits an operation on an array that only changes its layout.
pub(crate) fn relaid_array(module: &mut Module, id: InstrId, shape: &Shape, op: Op) -> InstrId {
    let copy = module.add_like(id, shape.clone(), op, [id]);
    module.copy_annotations(id, copy);
    copy
}

/// Converts a value to the layouts of `shape`. `array` converts one array.
pub(crate) fn relaid_by(
    module: &mut Module,
    id: InstrId,
    shape: &Shape,
    array: &dyn Fn(&mut Module, InstrId, &Shape) -> InstrId,
) -> InstrId {
    let computation = module[id].parent;
    let base = module[id].name.clone();
    if same_layout(&module[id].shape, shape) {
        return id;
    }
    match shape {
        Shape::Tuple(elements) => {
            let mut parts = Vec::with_capacity(elements.len());
            for (n, element) in elements.iter().enumerate() {
                let own = module[id].shape.as_tuple().and_then(|t| t.get(n)).cloned();
                let stays = own.as_ref().is_some_and(|own| same_layout(own, element));
                let part = if matches!(module[id].op, Op::Tuple) {
                    module[id].operands.get(n).copied()
                } else {
                    own.map(|own| {
                        let name = module.unique_name(&base);
                        let op = Op::get_tuple_element(n as i64);
                        module.add(computation, &name, own, op, [id])
                    })
                };
                match part {
                    Some(part) if stays => parts.push(part),
                    Some(part) => parts.push(relaid_by(module, part, element, array)),
                    None => return id,
                }
            }
            let tuple = module.add_like(id, shape.clone(), Op::Tuple, parts);
            module.copy_annotations(id, tuple);
            tuple
        }
        _ => array(module, id, shape),
    }
}
