//! Attributes that are one field of a message: converts their values.

use super::context::{Reading, Writing};
use super::literal::{read_literal, write_literal};
use super::shape::{read_shape, write_shape};
use super::{Result, dims};
use crate::messages::{
    LiteralProto, OutputOperandAliasing, PaddingConfig, PaddingConfigDimension, ShapeProto, SliceDimensions,
    SourceTarget, TriState,
};
use hlo_ir::Dims;
use hlo_ir::attr::{
    Count, HloString, LiteralValue, OperandAlias, OptionalShape, OrTrue, PaddingDim, SliceDim,
    SourceTargetPairs,
};

/// An attribute value that is stored in one field of type `P`.
pub trait Field<P>: Sized {
    /// Converts the field to the attribute value.
    fn read(proto: &P, context: &Reading<'_>) -> Result<Self>;

    /// Converts the attribute value to the field.
    fn write(&self, context: &mut Writing<'_>) -> P;
}

/// Implements [`Field`] for values whose conversion does not depend on the instruction.
macro_rules! plain_fields {
    ($($value:ty = $proto:ty { $read:expr, $write:expr })*) => {$(
        impl Field<$proto> for $value {
            fn read(proto: &$proto, _: &Reading<'_>) -> Result<Self> {
                let read: fn(&$proto) -> Result<Self> = $read;
                read(proto)
            }

            fn write(&self, _: &mut Writing<'_>) -> $proto {
                let write: fn(&Self) -> $proto = $write;
                write(self)
            }
        }
    )*};
}

plain_fields! {
    bool = bool { |&b| Ok(b), |&b| b }
    i64 = i64 { |&n| Ok(n), |&n| n }
    f32 = f32 { |&n| Ok(n), |&n| n }
    Dims = Vec<i64> { |list| Ok(dims(list)), |dims| dims.to_vec() }
    HloString = Vec<u8> { |bytes| Ok(HloString::from_bytes(&bytes[..])), |text| text.as_bytes().to_vec() }
    OrTrue = bool { |&b| Ok(OrTrue(b)), |b| b.0 }
    // `false` is the default of the field, so it reads as an absent attribute.
    Option<bool> = bool { |&b| Ok(b.then_some(true)), |b| b.unwrap_or(false) }
    // Files from before the introduction of groups contain 0 instead of 1.
    Count = i64 { |&n| Ok(Count(if n == 0 { 1 } else { n })), |n| n.0 }

    // Numbers of bits. They are small.
    i64 = i32 { |&n| Ok(n.into()), |&n| i32::try_from(n).unwrap_or(i32::MAX) }
    Option<i64> = Option<i32> {
        |n| Ok(n.map(i64::from)),
        |n| n.map(|n| i32::try_from(n).unwrap_or(i32::MAX))
    }
    // Channel ids are positive; 0 means that there is none.
    Option<i64> = i64 { |&n| Ok(Some(n).filter(|&n| n > 0)), |n| n.unwrap_or(0) }
    // A single or optional dimension, which the message stores as a list.
    i64 = Vec<i64> { read_one, |&n| vec![n] }
    Option<i64> = Vec<i64> {
        |list| if list.is_empty() { Ok(None) } else { read_one(list).map(Some) },
        |n| Vec::from_iter(*n)
    }
    // The message has three states. The unspecified state reads as `false`.
    bool = i32 {
        |&state| Ok(state == TriState::TRI_STATE_TRUE),
        |&b| if b { TriState::TRI_STATE_TRUE } else { TriState::TRI_STATE_FALSE }
    }

    OptionalShape = Option<Box<ShapeProto>> {
        |shape| shape.as_ref().map(|s| read_shape(s)).transpose().map(OptionalShape),
        |shape| shape.0.as_ref().map(|s| Box::new(write_shape(s)))
    }
    Option<LiteralValue> = Option<Box<LiteralProto>> {
        |literal| literal.as_ref().map(|l| read_literal(l).map(LiteralValue)).transpose(),
        |literal| literal.as_ref().map(|l| Box::new(write_literal(&l.0)))
    }

    Vec<SliceDim> = Vec<SliceDimensions> {
        |list| Ok(list.iter().map(|d| SliceDim { start: d.start, limit: d.limit, stride: d.stride }).collect()),
        |list| list.iter().map(|d| SliceDimensions { start: d.start, limit: d.limit, stride: d.stride }).collect()
    }
    Vec<PaddingDim> = Option<Box<PaddingConfig>> { read_padding, write_padding }
    SourceTargetPairs = Vec<SourceTarget> {
        |list| Ok(SourceTargetPairs(list.iter().map(|p| (p.source, p.target)).collect())),
        |pairs| pairs.0.iter().map(|&(source, target)| SourceTarget { source, target }).collect()
    }
    Vec<OperandAlias> = Vec<OutputOperandAliasing> { read_aliases, write_aliases }
}

fn read_one(list: &Vec<i64>) -> Result<i64> {
    match list[..] {
        [n] => Ok(n),
        _ => Err(format!("expected one dimension, found {list:?}")),
    }
}

fn read_padding(proto: &Option<Box<PaddingConfig>>) -> Result<Vec<PaddingDim>> {
    let dimension = |d: &PaddingConfigDimension| PaddingDim {
        low: d.edge_padding_low,
        high: d.edge_padding_high,
        interior: d.interior_padding,
    };
    Ok(proto.iter().flat_map(|config| &config.dimensions).map(dimension).collect())
}

#[expect(clippy::ptr_arg, reason = "the type of the attribute")]
fn write_padding(padding: &Vec<PaddingDim>) -> Option<Box<PaddingConfig>> {
    let dimension = |d: &PaddingDim| PaddingConfigDimension {
        edge_padding_low: d.low,
        edge_padding_high: d.high,
        interior_padding: d.interior,
    };
    Some(Box::new(PaddingConfig { dimensions: padding.iter().map(dimension).collect() }))
}

#[expect(clippy::ptr_arg, reason = "the type of the field")]
fn read_aliases(list: &Vec<OutputOperandAliasing>) -> Result<Vec<OperandAlias>> {
    let alias = |a: &OutputOperandAliasing| OperandAlias {
        output: a.output_shape_index.clone(),
        operand: a.operand_index,
        operand_index: a.operand_shape_index.clone(),
    };
    Ok(list.iter().map(alias).collect())
}

#[expect(clippy::ptr_arg, reason = "the type of the attribute")]
fn write_aliases(list: &Vec<OperandAlias>) -> Vec<OutputOperandAliasing> {
    let alias = |a: &OperandAlias| OutputOperandAliasing {
        output_shape_index: a.output.clone(),
        operand_index: a.operand,
        operand_shape_index: a.operand_index.clone(),
    };
    list.iter().map(alias).collect()
}
