//! Attributes of operations, in the form that messages contain them.

use super::Result;
use super::as_text::{AsText as _, ByTable as _, Form};
use super::context::{Reading, Writing};
use crate::messages::HloInstructionProto;
use hlo_ir::{Op, with_attrs};

/// Reads the attributes of an operation.
#[allow(clippy::needless_borrow, reason = "`AsText` needs the reference, see its module")]
pub fn read_attributes(op: &mut Op, proto: &HloInstructionProto, context: &Reading<'_>) -> Result<()> {
    with_attrs!(op, a => (&Form::of(&*a)).read(a, proto, context)?);
    Ok(())
}

/// Writes the attributes of an operation.
#[allow(clippy::needless_borrow, reason = "`AsText` needs the reference, see its module")]
pub fn write_attributes(op: &Op, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
    with_attrs!(op, a => (&Form::of(a)).write(a, proto, context));
}
