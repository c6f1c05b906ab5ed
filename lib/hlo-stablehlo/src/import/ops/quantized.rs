//! Operations on quantized types. HLO has no such types, so values are the stored integers. Operations that
//! move elements move these. All others are computed on the expressed numbers, and the result is quantized
//! again, as the specification defines.

use crate::import::failure::Result;
use crate::import::importer::{ImportedValue, Importer};
use crate::import::types::{Quantized, element_of};
use crate::tree::{Operation, Quantization, TypeKind, ValueId};
use hlo_ir::build::Build;
use hlo_ir::{AlignedBytes, ArrayShape, ElementType, InstrId, Literal, Op};

/// Operations that pass values on unchanged, whatever their type.
const FORWARDING_OPERATIONS: &[&str] = &[
    "builtin.unrealized_conversion_cast",
    "func.call",
    "stablehlo.bitcast_convert",
    "stablehlo.case",
    "stablehlo.composite",
    "stablehlo.constant",
    "stablehlo.custom_call",
    "stablehlo.get_dimension_size",
    "stablehlo.get_tuple_element",
    "stablehlo.if",
    "stablehlo.infeed",
    "stablehlo.optimization_barrier",
    "stablehlo.outfeed",
    "stablehlo.recv",
    "stablehlo.send",
    "stablehlo.tuple",
    "stablehlo.while",
];

/// Operations that move elements. They move the stored integers if operands and results have the same
/// quantization.
const DATA_MOVEMENT_OPERATIONS: &[&str] = &[
    "stablehlo.all_gather",
    "stablehlo.all_to_all",
    "stablehlo.broadcast",
    "stablehlo.broadcast_in_dim",
    "stablehlo.collective_broadcast",
    "stablehlo.collective_permute",
    "stablehlo.concatenate",
    "stablehlo.dynamic_broadcast_in_dim",
    "stablehlo.dynamic_gather",
    "stablehlo.dynamic_pad",
    "stablehlo.dynamic_reshape",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.gather",
    "stablehlo.pad",
    "stablehlo.real_dynamic_slice",
    "stablehlo.reshape",
    "stablehlo.reverse",
    "stablehlo.select",
    "stablehlo.set_dimension_size",
    "stablehlo.slice",
    "stablehlo.transpose",
];

impl<'t> Importer<'t> {
    pub(super) fn quantized_op(&mut self, op: &'t Operation) -> Result<()> {
        match &*op.name {
            "stablehlo.uniform_quantize" | "stablehlo.uniform_dequantize" => {
                let operand = self.expressed(op, op.operand(0)?)?;
                let result = op.result(0)?;
                let id = match self.quantization_of(result) {
                    Some(quantization) => self.quantize(op, operand, quantization)?,
                    None => operand,
                };
                self.set_result(op, id)
            }
            name if FORWARDING_OPERATIONS.contains(&name) => self.by_dialect(op),
            name if DATA_MOVEMENT_OPERATIONS.contains(&name) && self.is_alike(op) => self.by_dialect(op),
            _ => self.in_expressed_numbers(op),
        }
    }

    /// Returns the quantization of a value, if it is a quantized array.
    fn quantization_of(&self, value: ValueId) -> Option<&'t Quantization> {
        match &*self.tree.type_of(value).as_tensor()?.element {
            TypeKind::Quantized(quantization) => Some(quantization),
            _ => None,
        }
    }

    /// Checks whether all quantized operands and results have the same scale.
    fn is_alike(&self, op: &Operation) -> bool {
        let mut all = op.operands.iter().chain(&op.results).filter_map(|&v| self.quantization_of(v));
        let Some(first) = all.next() else { return true };
        // With an axis, the scales differ along it, and the operation may change which axis that is.
        first.axis.is_none() && all.all(|other| other == first)
    }

    /// Computes the operation on the expressed numbers.
    fn in_expressed_numbers(&mut self, op: &'t Operation) -> Result<()> {
        let mut stored: Vec<(ValueId, ImportedValue<'t>)> = Vec::new();
        let mut done = Ok(());
        for &operand in &op.operands {
            let is_new = stored.iter().all(|(v, _)| *v != operand);
            if self.quantization_of(operand).is_none() || !is_new {
                continue;
            }
            match self.expressed(op, operand) {
                Ok(id) => {
                    let before = self.set_representation(operand, ImportedValue::Instruction(id));
                    stored.push((operand, before));
                }
                Err(failure) => done = Err(failure),
            }
        }
        if done.is_ok() {
            self.quantized = Quantized::Expressed;
            done = self.by_dialect(op);
            self.quantized = Quantized::Stored;
        }
        for (value, held) in stored {
            self.set_representation(value, held);
        }
        done?;
        for &result in &op.results {
            if let Some(quantization) = self.quantization_of(result) {
                let id = self.value(op, result)?;
                let id = self.quantize(op, id, quantization)?;
                self.set_representation(result, ImportedValue::Instruction(id));
            }
        }
        Ok(())
    }

    /// Returns the expressed numbers of a value: `(stored - zero point) * scale`. A value that is not
    /// quantized is returned unchanged.
    fn expressed(&mut self, op: &Operation, value: ValueId) -> Result<InstrId> {
        let id = self.value(op, value)?;
        let Some(quantization) = self.quantization_of(value) else { return Ok(id) };
        let shape = self.array(op, id)?.with_element_type(expressed_type(op, quantization)?);
        let mut id = self.add(shape.clone(), Op::Convert, &[id]);
        if let Some(zero_points) = self.zero_points(op, &shape, quantization)? {
            id = self.add(shape.clone(), Op::Subtract, &[id, zero_points]);
        }
        let scales = self.along_axis(op, &shape, quantization, &quantization.scales)?;
        Ok(self.add(shape, Op::Multiply, &[id, scales]))
    }

    /// Returns the stored integers for numbers: `number / scale + zero point`, clamped and rounded.
    fn quantize(&mut self, op: &Operation, id: InstrId, quantization: &Quantization) -> Result<InstrId> {
        let shape = self.array(op, id)?;
        let ty = expressed_type(op, quantization)?;
        if shape.element_type != ty {
            return op.fail(format!("it stores numbers of type {ty} and not of {}", shape.element_type));
        }
        let scales = self.along_axis(op, &shape, quantization, &quantization.scales)?;
        let mut id = self.add(shape.clone(), Op::Divide, &[id, scales]);
        if let Some(zero_points) = self.zero_points(op, &shape, quantization)? {
            id = self.add(shape.clone(), Op::Add, &[id, zero_points]);
        }
        let [least, most] = [quantization.storage_min, quantization.storage_max].map(|n| n as f64);
        let (least, most) = (self.float(op, ty, least)?, self.float(op, ty, most)?);
        let limited = self.add(shape.clone(), Op::Clamp, &[least, id, most]);
        let rounded = self.add(shape.clone(), Op::RoundNearestEven, &[limited]);
        let stored = element_of(&quantization.storage, Quantized::Stored).map_err(|why| op.failure(why))?;
        Ok(self.add(shape.with_element_type(stored), Op::Convert, &[rounded]))
    }

    /// Returns the zero points as an array of the given shape, or `None` if all are zero.
    fn zero_points(
        &mut self,
        op: &Operation,
        shape: &ArrayShape,
        quantization: &Quantization,
    ) -> Result<Option<InstrId>> {
        if quantization.zero_points.iter().all(|&z| z == 0) {
            return Ok(None);
        }
        let numbers: Vec<f64> = quantization.zero_points.iter().map(|&z| z as f64).collect();
        self.along_axis(op, shape, quantization, &numbers).map(Some)
    }

    /// Returns the numbers along the axis of a quantization, or its single number, as an array of the given
    /// shape.
    fn along_axis(
        &mut self,
        op: &Operation,
        shape: &ArrayShape,
        quantization: &Quantization,
        numbers: &[f64],
    ) -> Result<InstrId> {
        let ty = shape.element_type;
        let wrong = || op.failure(format!("{} scales or zero points are not for {shape}", numbers.len()));
        let Some(axis) = quantization.axis else {
            let number = self.float(op, ty, *numbers.first().ok_or_else(wrong)?)?;
            return Ok(if shape.rank() == 0 { number } else { self.broadcast(number, shape, &[]) });
        };
        let size = usize::try_from(axis).ok().and_then(|axis| shape.dims.get(axis).copied());
        if size != i64::try_from(numbers.len()).ok() {
            return Err(wrong());
        }
        let bytes: Vec<u8> = match ty {
            ElementType::F64 => numbers.iter().flat_map(|n| n.to_le_bytes()).collect(),
            _ => numbers.iter().flat_map(|n| (*n as f32).to_le_bytes()).collect(),
        };
        let wide = if ty == ElementType::F64 { ty } else { ElementType::F32 };
        let vector = ArrayShape::new(wide, [numbers.len() as i64]);
        let literal = Literal::try_from_bytes(vector.clone().into(), AlignedBytes::from_slice(&bytes));
        let mut id = self.add(vector.clone(), Op::constant(literal.ok_or_else(wrong)?), &[]);
        if wide != ty {
            id = self.add(vector.with_element_type(ty), Op::Convert, &[id]);
        }
        Ok(self.broadcast(id, shape, &[i64::from(axis)]))
    }

    /// Returns a number as a scalar.
    fn float(&mut self, op: &Operation, ty: ElementType, value: f64) -> Result<InstrId> {
        let scalar = match ty {
            ElementType::F64 => self.scalar(ty, &value.to_le_bytes()),
            _ => self.scalar(ElementType::F32, &(value as f32).to_le_bytes()),
        };
        let scalar = scalar.ok_or_else(|| op.failure(format!("{value} is no {ty}")))?;
        Ok(match ty {
            ElementType::F32 | ElementType::F64 => scalar,
            _ => self.add(ArrayShape::new(ty, []), Op::Convert, &[scalar]),
        })
    }
}

/// Returns the type of the expressed numbers.
fn expressed_type(op: &Operation, quantization: &Quantization) -> Result<ElementType> {
    let ty = element_of(&quantization.expressed, Quantized::Expressed).map_err(|why| op.failure(why))?;
    if ty.is_float() {
        Ok(ty)
    } else {
        op.fail(format!("quantized numbers do not stand for numbers of type {ty}"))
    }
}
