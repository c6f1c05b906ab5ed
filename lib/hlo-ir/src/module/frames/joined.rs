//! Stack frames of what is put in place of calls.

use super::{Frame, StackFrame, number};
use crate::Module;
use std::collections::HashMap;

/// Adds frames to a module's tables: those of called instructions, called from where their calls are.
pub struct JoinedFrames {
    /// What is added to a parent's number where it is written.
    offset: usize,
    known: HashMap<StackFrame, usize>,
    joined: HashMap<(i32, i32), i32>,
}

impl JoinedFrames {
    /// For the tables that the module has now; nothing else may add frames from here on.
    pub fn of(module: &Module) -> Self {
        let frames = &module.stack_frames.stack_frames;
        let mut known = HashMap::with_capacity(frames.len());
        for (index, frame) in frames.iter().enumerate() {
            known.entry(*frame).or_insert(index + 1);
        }
        Self { offset: Frame::offset(&module.stack_frames), known, joined: HashMap::new() }
    }

    /// The frame of what stands at the frame `inner` of a computation that is called at `outer`: that of `inner`, but
    /// what is called from nowhere is called from `outer`. `inner` itself where it is called from `outer` already, and
    /// where a number leads nowhere; 0 stands for no frame.
    pub fn inside(&mut self, module: &mut Module, outer: i32, inner: i32) -> i32 {
        if outer == 0 {
            return inner;
        }
        if let Some(&known) = self.joined.get(&(outer, inner)) {
            return known;
        }
        let joined = self.join(module, outer, inner).unwrap_or(inner);
        self.joined.insert((outer, inner), joined);
        joined
    }

    fn join(&mut self, module: &mut Module, outer: i32, inner: i32) -> Option<i32> {
        let frames = &mut module.stack_frames.stack_frames;
        let outer = usize::try_from(outer).ok().filter(|n| (1..=frames.len()).contains(n))?;
        // From the innermost outwards. No trace is longer than the table.
        let mut locations = Vec::new();
        let mut at = usize::try_from(inner).ok()?;
        while at != 0 && locations.len() < frames.len() {
            if at == outer {
                return None;
            }
            let frame = frames.get(at - 1)?;
            locations.push(frame.location);
            at = usize::try_from(frame.parent).ok()?.checked_sub(self.offset)?;
        }
        let mut parent = outer;
        for location in locations.into_iter().rev() {
            let frame = StackFrame { location, parent: number(parent + self.offset)? };
            parent = *self.known.entry(frame).or_insert_with(|| {
                frames.push(frame);
                frames.len()
            });
        }
        number(parent)
    }
}
