//! Conversion of metadata and stack frames to locations. As in JAX, the operation's name encloses the call
//! stack.

use crate::tree::{FileRange, Location, Name};
use hlo_ir::attr::{HloString, OpMetadata};
use hlo_ir::{InstrId, Module, SourceFrame, SourceFrames};
use std::collections::HashMap;
use std::sync::Arc;

/// The locations of a module's instructions.
pub(super) struct Locations<'m> {
    module: &'m Module,
    frames: SourceFrames<'m>,
    /// The locations of call stacks, by the number of the innermost frame. Instructions share them.
    stacks: HashMap<i32, Arc<Location>>,
}

impl<'m> Locations<'m> {
    pub(super) fn of(module: &'m Module) -> Self {
        Self { module, frames: SourceFrames::of(module), stacks: HashMap::new() }
    }

    /// Returns the location of an instruction.
    pub(super) fn get(&mut self, id: InstrId) -> Location {
        let Some(common) = self.module[id].common.as_deref() else { return Location::Unknown };
        let metadata = &common.metadata;
        let mut place = self.place(metadata);
        // MLIR writes an operation type as a name that ends with a colon.
        if !metadata.op_type.is_empty() {
            place = Arc::new(Location::Named(format!("{}:", metadata.op_type.to_text()).into(), place));
        }
        if metadata.op_name.is_empty() {
            (*place).clone()
        } else {
            Location::Named(name(&metadata.op_name), place)
        }
    }

    /// Returns the location of the argument for a parameter. If the metadata contains no name, it is the
    /// parameter's name.
    pub(super) fn of_parameter(&mut self, id: InstrId) -> Location {
        match self.get(id) {
            Location::Unknown => Location::Named(Name::from(&*self.module[id].name), Arc::default()),
            known => known,
        }
    }

    fn place(&mut self, metadata: &OpMetadata) -> Arc<Location> {
        let stack = metadata.stack_frame_id;
        if let Some(known) = self.stacks.get(&stack) {
            return Arc::clone(known);
        }
        let place = Arc::new(of_trace(&self.frames.trace_of(metadata)));
        if stack > 0 {
            self.stacks.insert(stack, Arc::clone(&place));
        }
        place
    }
}

/// Returns the location of a call stack.
fn of_trace(trace: &[SourceFrame<'_>]) -> Location {
    let mut frames = trace.iter().rev();
    let Some(outermost) = frames.next() else { return Location::Unknown };
    frames.fold(of_frame(outermost), |caller, frame| Location::CallSite {
        callee: Arc::new(of_frame(frame)),
        caller: Arc::new(caller),
    })
}

fn of_frame(frame: &SourceFrame<'_>) -> Location {
    let number = |n: i32| u32::try_from(n).unwrap_or(0);
    let file = Location::File(Arc::new(FileRange {
        file: name(frame.file),
        line: number(frame.lines.0),
        column: number(frame.columns.0),
        end_line: number(frame.lines.1),
        end_column: number(frame.columns.1),
    }));
    match frame.function {
        Some(function) => Location::Named(name(function), Arc::new(file)),
        None => file,
    }
}

fn name(text: &HloString) -> Name {
    Name::from(text.to_text().into_owned())
}
