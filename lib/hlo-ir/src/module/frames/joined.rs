//! Stack frames of instructions that replace calls.

use super::{Frame, StackFrame, number};
use crate::Module;
use std::collections::HashMap;

/// Adds frames to a module's tables: frames of called instructions, with the frame of the call as caller.
pub struct JoinedFrames {
    /// The number added to a parent's number in the table.
    offset: usize,
    known: HashMap<StackFrame, usize>,
    joined: HashMap<(i32, i32), i32>,
}

impl JoinedFrames {
    /// Starts with the current tables of the module. No other code may add frames afterwards.
    pub fn of(module: &Module) -> Self {
        let frames = &module.stack_frames.stack_frames;
        let mut known = HashMap::with_capacity(frames.len());
        for (index, frame) in frames.iter().enumerate() {
            known.entry(*frame).or_insert(index + 1);
        }
        Self { offset: Frame::offset(&module.stack_frames), known, joined: HashMap::new() }
    }

    /// Returns the frame of an instruction with frame `inner` in a computation that is called at frame
    /// `outer`. It is `inner`, with `outer` as the caller of its outermost frame. Returns `inner` itself if
    /// `outer` is already among its callers, or if a number is invalid. 0 means no frame.
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
        // From the innermost frame outwards. No trace is longer than the table.
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
