//! Attributes that XLA's messages have no fields for: each is stored as its HLO text in `text_attributes`, and called
//! computations in `called_computation_ids`.
//!
//! An attribute struct without rows in the table of [`attributes`](super::attributes) is stored in this way. `(&Form::of(a))`
//! has the methods of [`ByTable`] if the struct of `a` has rows, and otherwise those of [`AsText`]: the compiler prefers
//! `ByTable`, because `AsText` requires one more reference to the receiver.

use super::Result;
use super::attributes::Attributes;
use super::context::{Reading, Writing};
use super::text::{read_text_with, write_text_with};
use crate::messages::HloInstructionProto;
use hlo_ir::attr::Attrs;
use std::marker::PhantomData;

/// The form in which messages contain the attributes of struct `A`.
pub(super) struct Form<A>(PhantomData<A>);

impl<A> Form<A> {
    /// Returns the form of a value's struct.
    pub fn of(_: &A) -> Self {
        Self(PhantomData)
    }
}

/// Reads and writes attributes by the rows of their struct.
pub(super) trait ByTable<A> {
    /// Reads the attributes from a message.
    fn read(&self, attributes: &mut A, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()>;

    /// Writes the attributes to a message.
    fn write(&self, attributes: &A, proto: &mut HloInstructionProto, context: &mut Writing<'_>);
}

impl<A: Attributes> ByTable<A> for Form<A> {
    fn read(&self, attributes: &mut A, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()> {
        *attributes = A::read(proto, context)?;
        Ok(())
    }

    fn write(&self, attributes: &A, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        attributes.write(proto, context);
    }
}

/// Reads and writes attributes as text.
pub(super) trait AsText<A> {
    /// Reads the attributes from a message.
    fn read(&self, attributes: &mut A, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()>;

    /// Writes the attributes to a message.
    fn write(&self, attributes: &A, proto: &mut HloInstructionProto, context: &mut Writing<'_>);
}

impl<A: Attrs> AsText<A> for &Form<A> {
    fn read(&self, attributes: &mut A, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()> {
        for (index, field) in attributes.fields().iter().enumerate() {
            let text = proto.text_attributes.iter().find(|text| text.name == field.name);
            if let Some(text) = text {
                read_text_with(text, |reader| attributes.read_field(index, reader))?;
            }
        }
        let mut ids = proto.called_computation_ids.iter();
        let mut called = Ok(());
        attributes.for_each_computation_mut(&mut |computation| match context.called(&mut ids) {
            Ok(found) => *computation = found,
            Err(why) => called = Err(why),
        });
        called
    }

    fn write(&self, attributes: &A, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        for (index, field) in attributes.fields().iter().enumerate() {
            if !attributes.is_default(index) {
                let text =
                    write_text_with(field.name, |out, names| attributes.write_field(index, out, names));
                // The text of a computation is empty: its id is written below.
                proto.text_attributes.extend((!text.value.is_empty()).then_some(text));
            }
        }
        attributes.for_each_computation(&mut |computation| context.call(&computation, proto));
    }
}
