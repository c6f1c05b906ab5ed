//! Moves a copy down to where its value is back on the device.

use super::Legalizer;
use super::bitcasts::CopyShapes;
use super::paths::{ValueLocation, move_after, move_before};
use crate::support::host_memory::{MOVE_TO_DEVICE, moved, part_mut};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, InstrId, Layout, Module, Op, Shape};
use hlo_passes::support::clone::clone_instruction;
use std::collections::HashSet;

impl Legalizer {
    /// Moves a copy down. Returns false if it cannot, because not every place on the path is known.
    pub(super) fn move_down(&mut self, module: &mut Module, copy: ValueLocation) -> Result<bool, Diag> {
        let &[source] = &module[copy.0].operands[..] else { return Ok(false) };
        let (Some(before), Some(after)) = (module[source].shape.as_array(), module[copy.0].shape.as_array())
        else {
            return Ok(false);
        };
        let shapes = CopyShapes { before: before.clone(), after: after.clone() };
        let Some(way) = self.copy_path(module, copy, shapes)? else { return Ok(false) };
        for (at, shapes) in way {
            self.pass(module, copy.0, at, &shapes)?;
        }
        module.replace_all_uses_with(copy.0, source);
        module.set_operands(copy.0, []);
        self.gone.push(copy.0);
        Ok(true)
    }

    /// Returns all places on the path of a copy down. Each comes with the shapes of the copy's operand and
    /// result if the copy runs after it.
    fn copy_path(
        &self,
        module: &Module,
        copy: ValueLocation,
        shapes: CopyShapes,
    ) -> Result<Option<Vec<(ValueLocation, CopyShapes)>>, Diag> {
        let mut out = Vec::new();
        let mut seen = HashSet::new();
        let mut work = vec![(copy, shapes)];
        while let Some((at, shapes)) = work.pop() {
            let Some(below) = self.paths.down(module, at) else { return Ok(None) };
            for next in below {
                let instr = &module[next.0];
                if !seen.insert(next) {
                    continue;
                }
                let mut shapes = shapes.clone();
                match (&instr.op, instr.shape.as_array()) {
                    (Op::Bitcast, Some(result)) => {
                        shapes = shapes
                            .after_bitcast(result)
                            .ok_or_else(|| self.unknown(module, copy.0, next.0))?;
                    }
                    // A reshape has its own layout, so a copy cannot move past it.
                    (Op::Reshape(_) | Op::Copy, _) => return Ok(None),
                    (Op::Slice(_) | Op::DynamicSlice(_), Some(result)) => {
                        shapes = CopyShapes {
                            before: laid_out_as(result, &shapes.before),
                            after: laid_out_as(result, &shapes.after),
                        };
                    }
                    _ => {}
                }
                let ends = matches!(instr.op, Op::Slice(_) | Op::DynamicSlice(_))
                    || moved(module, next.0, MOVE_TO_DEVICE).is_some();
                if ends && move_after(module, next.0).is_none() {
                    return Ok(None);
                }
                if matches!(instr.op, Op::DynamicUpdateSlice)
                    && instr.operands.get(1).and_then(|&o| move_before(module, o)).is_none()
                {
                    return Ok(None);
                }
                out.push((next, shapes.clone()));
                if !ends {
                    work.push((next, shapes));
                }
            }
        }
        Ok(Some(out))
    }

    /// Moves an instruction on the path before the copy.
    fn pass(
        &mut self,
        module: &mut Module,
        copy: InstrId,
        at: ValueLocation,
        shapes: &CopyShapes,
    ) -> Result<(), Diag> {
        let id = at.0;
        set_layout(module, at, &shapes.before);
        if matches!(module[id].op, Op::Parameter(_)) {
            for caller in self.paths.flow.callers(module[id].parent).to_vec() {
                self.set_loop_layout(module, (caller, at.1), &shapes.before);
            }
        }
        if matches!(module[id].op, Op::DynamicUpdateSlice) {
            self.write(module, id);
        } else if matches!(module[id].op, Op::Slice(_) | Op::DynamicSlice(_))
            || moved(module, id, MOVE_TO_DEVICE).is_some()
        {
            self.end(module, copy, id, shapes);
        }
        Ok(())
    }

    /// Sets a layout for an element of a loop's result, of its body's result and of its condition's state.
    fn set_loop_layout(&self, module: &mut Module, at: ValueLocation, like: &ArrayShape) {
        set_layout(module, at, like);
        let Op::While(a) = &module[at.0].op else { return };
        let (body, condition) = (a.body, a.condition);
        let root = module.has_root(body).then(|| module[body].root());
        let state = module.parameters(condition).first().copied();
        for id in root.into_iter().chain(state) {
            set_layout(module, (id, at.1), like);
        }
    }

    /// Moves the `MoveToHost` of an update's value directly before the update, and adapts the value to the
    /// current layout.
    fn write(&mut self, module: &mut Module, update: InstrId) {
        let Some(&written) = module[update].operands.get(1) else { return };
        let Some(annotation) = move_before(module, written) else { return };
        let parent = module[update].parent;
        let base = module[annotation].name.clone();
        let name = module.unique_name(&base);
        let new = clone_instruction(module, annotation, parent, &name, [written]);
        module.set_shape(new, module[written].shape.clone());
        module.replace_operand(update, 1, new);
        let operand = module[annotation].operands[0];
        module.replace_all_uses_with(annotation, operand);
        module.set_operands(annotation, []);
        self.gone.push(annotation);
        self.done.extend([annotation, new]);
        let written = module[new].operands[0];
        let (Some(into), Some(array)) = (module[update].shape.as_array(), module[written].shape.as_array())
        else {
            return;
        };
        if into.minor_to_major() != array.minor_to_major() {
            let shape: Shape = laid_out_as(array, into).into();
            let name = module.unique_name("copy");
            let copy = module.add(parent, &name, shape.clone(), Op::Copy, [written]);
            module.copy_provenance(update, copy);
            module.set_shape(new, shape);
            module.replace_operand(new, 0, copy);
        }
    }

    /// Inserts the copy after the `MoveToDevice`, which is moved directly after a slice.
    fn end(&mut self, module: &mut Module, copy: InstrId, id: InstrId, shapes: &CopyShapes) {
        let Some(annotation) = move_after(module, id) else { return };
        let parent = module[id].parent;
        let new = if annotation == id {
            annotation
        } else {
            let base = module[annotation].name.clone();
            let name = module.unique_name(&base);
            let new = clone_instruction(module, annotation, parent, &name, [id]);
            module.set_shape(new, shapes.before.clone().into());
            new
        };
        let base = module[copy].name.clone();
        let name = module.unique_name(&base);
        let moved_copy = clone_instruction(module, copy, parent, &name, [new]);
        module.set_shape(moved_copy, shapes.after.clone().into());
        for user in module.users(id).to_vec() {
            if user != new && user != moved_copy {
                module.replace_operands(user, id, moved_copy);
            }
        }
        if module.is_root(id) {
            module.set_root(parent, moved_copy);
        }
        if new != annotation {
            let operand = module[annotation].operands[0];
            module.replace_all_uses_with(annotation, operand);
            module.set_operands(annotation, []);
            self.gone.push(annotation);
        }
    }

    fn unknown(&self, module: &Module, copy: InstrId, bitcast: InstrId) -> Diag {
        let (copy_name, name) = (&module[copy].name, &module[bitcast].name);
        Diag::error(format!("`{copy_name}`, in the host's memory, can't be moved to the device past `{name}`"))
            .at(module.span(bitcast), "this does more than adding or dropping an outermost dimension of size 1, or exchanging dimensions")
            .and(module.span(copy), "this copy changes a layout in the host's memory")
    }
}

/// Returns a shape with the layout of another shape of the same rank.
fn laid_out_as(shape: &ArrayShape, like: &ArrayShape) -> ArrayShape {
    let layout = like.layout.clone().unwrap_or_else(|| Layout::row_major(like.rank()));
    shape.clone().with_layout(layout)
}

/// Sets the layout of an instruction's array, or of an element of its tuple, to that of another array.
fn set_layout(module: &mut Module, (id, index): ValueLocation, like: &ArrayShape) {
    let mut shape = module[id].shape.clone();
    if let Some(Shape::Array(a)) = part_mut(&mut shape, index.as_slice())
        && a.rank() == like.rank()
    {
        *a = laid_out_as(a, like);
        module.set_shape(id, shape);
    }
}
