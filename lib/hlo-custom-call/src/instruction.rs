//! Conversion of `custom-call` instructions to call sites, for both engines.
//!
//! Operands are passed in the layouts of `operand_layout_constraints`, or row-major without constraints.
//! Results have the layout of the instruction's shape.

use crate::{ApiVersion, ArrayType, CallSite, ValueType};
use hlo_ir::attr::{CustomCallApiVersion, CustomCallAttrs};
use hlo_ir::{InstrId, Module, Op, Shape};

/// Returns the call site of a `custom-call` instruction.
///
/// # Errors
/// Returns an error if the instruction is not a custom call, if its target is not UTF-8, or if an operand or
/// the result has a dynamic, opaque or buffer shape.
pub fn site(module: &Module, id: InstrId) -> Result<CallSite, String> {
    let instr = &module[id];
    let Op::CustomCall(attrs) = &instr.op else { return Err("this is not a custom call".into()) };
    let target = attrs.custom_call_target.as_str().ok_or("the target's name is no UTF-8")?;
    let operands = (0..instr.operands.len())
        .map(|i| operand_shape(module, id, i).ok_or("an operand is missing".to_string()))
        .collect::<Result<Vec<Shape>, String>>()?;
    Ok(CallSite {
        target: target.into(),
        api: match attrs.api_version {
            CustomCallApiVersion::Original => ApiVersion::Original,
            CustomCallApiVersion::StatusReturning => ApiVersion::StatusReturning,
            CustomCallApiVersion::StatusReturningUnified => ApiVersion::StatusReturningUnified,
            CustomCallApiVersion::TypedFfi => ApiVersion::TypedFfi,
        },
        config: instr.common.as_ref().map_or_else(Vec::new, |c| c.backend_config.as_bytes().to_vec()),
        operands: operands.iter().map(value_type).collect::<Result<_, _>>()?,
        result: value_type(&instr.shape)?,
        aliases: aliases(attrs, &operands, &instr.shape),
    })
}

/// Returns the shape in which an operand of a `custom-call` is passed.
pub fn operand_shape(module: &Module, id: InstrId, number: usize) -> Option<Shape> {
    let constraint = match &module[id].op {
        Op::CustomCall(attrs) => attrs.operand_layout_constraints.0.as_ref().and_then(|c| c.get(number)),
        _ => None,
    };
    let operand = module[id].operands.get(number)?;
    Some(constraint.cloned().unwrap_or_else(|| module[*operand].shape.without_layout()))
}

fn value_type(shape: &Shape) -> Result<ValueType, String> {
    match shape {
        Shape::Array(a) if a.is_static() => Ok(ValueType::Array(ArrayType {
            element: a.element_type.to_string(),
            element_bytes: a.element_type.byte_size(),
            dims: a.dims.iter().map(|&d| usize::try_from(d).unwrap_or(0)).collect(),
            minor_to_major: a.minor_to_major().to_vec(),
        })),
        Shape::Token => Ok(ValueType::Token),
        Shape::Tuple(parts) => parts.iter().map(value_type).collect::<Result<_, _>>().map(ValueType::Tuple),
        Shape::Array(_) | Shape::Opaque | Shape::Buffer(_) => {
            Err(format!("custom calls with values of shape {shape} can't be made"))
        }
    }
}

/// Returns the pairs of result arrays and operand arrays that share memory.
fn aliases(attrs: &CustomCallAttrs, operands: &[Shape], result: &Shape) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    for alias in &attrs.output_to_operand_aliasing {
        let operand = usize::try_from(alias.operand).ok();
        let Some((before, shape)) = operand.and_then(|n| Some((operands.get(..n)?, operands.get(n)?))) else {
            continue;
        };
        let (to, from) = (arrays_before(result, &alias.output), arrays_before(shape, &alias.operand_index));
        let (Some((to, part)), Some((from, _))) = (to, from) else { continue };
        let first: usize = before.iter().map(array_count).sum();
        pairs.extend((0..array_count(part)).map(|i| (to + i, first + from + i)));
    }
    pairs
}

/// Returns the number of arrays before the part of a shape at `index`, and the part.
fn arrays_before<'a>(shape: &'a Shape, index: &[i64]) -> Option<(usize, &'a Shape)> {
    let (mut before, mut part) = (0, shape);
    for &i in index {
        let (parts, i) = (part.as_tuple()?, usize::try_from(i).ok()?);
        before += parts.get(..i)?.iter().map(array_count).sum::<usize>();
        part = parts.get(i)?;
    }
    Some((before, part))
}

fn array_count(shape: &Shape) -> usize {
    shape.leaves().into_iter().filter(|s| s.as_array().is_some()).count()
}
