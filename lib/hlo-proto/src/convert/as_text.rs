//! Attributes that XLA's messages have no fields for: each is stored as its HLO text in `text_attributes`, and called
//! computations in `called_computation_ids`.
//!
//! An attribute struct without rows in the table of [`attributes`](super::attributes) is stored so. [`ByTable`] and [`AsText`]
//! have the same methods; the compiler picks those of `ByTable` for a struct that has rows, because `AsText` needs one more
//! reference to its receiver.

use super::Result;
use super::attributes::Attributes;
use super::read::{Reading, read_text_with};
use super::write::{Writing, write_text_with};
use crate::messages::HloInstructionProto;
use hlo_ir::attr::Attrs;

/// Attributes to read.
pub(super) struct Target<'a, A>(pub &'a mut A);

/// Attributes to write.
pub(super) struct Source<'a, A>(pub &'a A);

/// Reads and writes attributes by the rows of their struct.
pub(super) trait ByTable {
    /// Reads the attributes from a message.
    fn read(&mut self, _: &HloInstructionProto, _: &Reading<'_>) -> Result<()> {
        Ok(())
    }

    /// Writes the attributes to a message.
    fn write(&self, _: &mut HloInstructionProto, _: &mut Writing<'_>) {}
}

impl<A: Attributes> ByTable for Target<'_, A> {
    fn read(&mut self, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()> {
        *self.0 = A::read(proto, context)?;
        Ok(())
    }
}

impl<A: Attributes> ByTable for Source<'_, A> {
    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        self.0.write(proto, context);
    }
}

/// Reads and writes attributes as text.
pub(super) trait AsText {
    /// Reads the attributes from a message.
    fn read(&mut self, _: &HloInstructionProto, _: &Reading<'_>) -> Result<()> {
        Ok(())
    }

    /// Writes the attributes to a message.
    fn write(&self, _: &mut HloInstructionProto, _: &mut Writing<'_>) {}
}

impl<A: Attrs> AsText for &mut Target<'_, A> {
    fn read(&mut self, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()> {
        for (index, field) in self.0.fields().iter().enumerate() {
            let text = proto.text_attributes.iter().find(|text| text.name == field.name);
            if let Some(text) = text {
                read_text_with(text, |reader| self.0.read_field(index, reader))?;
            }
        }
        let mut ids = proto.called_computation_ids.iter();
        let mut called = Ok(());
        self.0.for_each_computation_mut(&mut |computation| match context.called(&mut ids) {
            Ok(found) => *computation = found,
            Err(why) => called = Err(why),
        });
        called
    }
}

impl<A: Attrs> AsText for &Source<'_, A> {
    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        for (index, field) in
            self.0.fields().iter().enumerate().filter(|&(index, _)| !self.0.is_default(index))
        {
            let text = write_text_with(field.name, |out, names| self.0.write_field(index, out, names));
            // The text of a computation is empty: its id is written below.
            proto.text_attributes.extend((!text.value.is_empty()).then_some(text));
        }
        self.0.for_each_computation(&mut |computation| context.call(&computation, proto));
    }
}
