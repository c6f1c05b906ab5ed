//! Attributes that take several fields of an instruction's message, or depend on the rest of the instruction.

use super::Result;
use super::context::{Reading, Writing};
use super::devices::{read_groups, write_groups};
use super::shape::{read_shape, write_shape};
use super::sharding::{read_sharding, write_sharding};
use crate::messages::HloInstructionProto;
use hlo_ir::attr::{ComparisonType, Domain, HloString, LayoutConstraints, ReplicaGroups, SliceSizes};

/// An attribute that is read from and written to a whole instruction message.
pub trait Part: Sized {
    /// Reads the attribute from its fields.
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self>;

    /// Writes the attribute to its fields.
    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>);
}

impl Part for ReplicaGroups {
    fn read(proto: &HloInstructionProto, _: &Reading<'_>) -> Result<Self> {
        read_groups(proto)
    }

    fn write(&self, proto: &mut HloInstructionProto, _: &mut Writing<'_>) {
        write_groups(self, proto);
    }
}

/// The IR's entry of a domain is its exit in XLA's message, and the other way round: XLA calls the side of
/// the operand the entry.
impl Part for Domain {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        match (&proto.domain_entry_sharding, &proto.domain_exit_sharding) {
            (Some(operand), Some(user)) => Ok(Self {
                entry: read_sharding(user, context.payloads)?,
                exit: read_sharding(operand, context.payloads)?,
            }),
            _ => Err("a domain has a sharding on either side".into()),
        }
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        proto.domain_entry_sharding = Some(Box::new(write_sharding(&self.exit, &mut context.payloads)));
        proto.domain_exit_sharding = Some(Box::new(write_sharding(&self.entry, &mut context.payloads)));
    }
}

impl Part for LayoutConstraints {
    fn read(proto: &HloInstructionProto, _: &Reading<'_>) -> Result<Self> {
        let shapes = || proto.operand_shapes_with_layout.iter().map(read_shape).collect::<Result<_>>();
        Ok(Self(proto.constrain_layout.then(shapes).transpose()?))
    }

    fn write(&self, proto: &mut HloInstructionProto, _: &mut Writing<'_>) {
        proto.constrain_layout = self.0.is_some();
        proto.operand_shapes_with_layout = self.0.iter().flatten().map(write_shape).collect();
    }
}

/// The comparison type of `compare`. A message always contains it. The IR contains it only if it is not the
/// usual one for the operands' element type.
impl Part for ComparisonType {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let text = &proto.comparison_type;
        let Some(said) = Self::ALL.iter().copied().find(|c| c.text() == text) else {
            return Err(format!("`{text}` is no order of numbers"));
        };
        let ty = context.operand_shape(0).and_then(|s| s.as_array()).map(|a| a.element_type);
        Ok(if ty.is_some_and(|ty| said.is_usual_for(ty)) { Self::Default } else { said })
    }

    fn write(&self, proto: &mut HloInstructionProto, context: &mut Writing<'_>) {
        let ty = context.operand_element_type;
        let is_usual = |c: &&Self| **c != Self::Default && ty.is_some_and(|ty| c.is_usual_for(ty));
        let said = match self {
            Self::Default => Self::ALL.iter().find(is_usual).unwrap_or(self),
            other => other,
        };
        proto.comparison_type = said.text().to_owned();
    }
}

/// The sizes of slices, one for each dimension of the operand.
impl Part for SliceSizes {
    fn read(proto: &HloInstructionProto, context: &Reading<'_>) -> Result<Self> {
        let sizes = &proto.dynamic_slice_sizes;
        let rank = context
            .operand_shape(0)
            .and_then(|s| s.leaves().first().and_then(|s| s.as_array()))
            .map(|a| a.rank());
        match rank {
            _ if sizes.is_empty() => Ok(Self::default()),
            Some(rank) if rank > 0 && sizes.len().is_multiple_of(rank) => {
                Ok(Self(sizes.chunks(rank).map(<[i64]>::to_vec).collect()))
            }
            _ => Err(format!("{sizes:?} are no sizes of slices of the operand")),
        }
    }

    fn write(&self, proto: &mut HloInstructionProto, _: &mut Writing<'_>) {
        proto.dynamic_slice_sizes = self.0.concat();
    }
}

/// The thread of an asynchronous operation. Messages omit the name of the main thread.
impl Part for Option<HloString> {
    fn read(proto: &HloInstructionProto, _: &Reading<'_>) -> Result<Self> {
        Ok(thread(&proto.async_execution_thread))
    }

    fn write(&self, proto: &mut HloInstructionProto, _: &mut Writing<'_>) {
        proto.async_execution_thread = self.as_ref().map_or(Vec::new(), |t| t.as_bytes().to_vec());
    }
}

/// Returns the thread that a message names, or `None` for the main thread.
pub fn thread(name: &[u8]) -> Option<HloString> {
    (!name.is_empty() && name != b"main").then(|| HloString::from_bytes(name))
}
