//! The dialect `check` of StableHLO's tests. Its operations become custom calls that fail if values differ
//! from the expected ones.

use crate::import::failure::Result;
use crate::import::importer::Importer;
use crate::tree::{Attribute, Operation, TypeKind};
use hlo_ir::attr::{CustomCallApiVersion, CustomCallAttrs};
use hlo_ir::build::Build;
use hlo_ir::{Op, Shape};

impl Importer<'_> {
    /// Translates `check.expect_…` with two values, or with a value and a constant.
    pub(super) fn check(&mut self, op: &Operation, name: &str) -> Result<()> {
        let config = match name {
            "expect_eq" | "expect_eq_const" => "{}".to_owned(),
            "expect_almost_eq" | "expect_almost_eq_const" => {
                format!("{{tolerance = {:?} : f64}}", tolerance(op)?)
            }
            "expect_close" => {
                let (least, most) =
                    (count(op, "min_ulp_difference", 0)?, count(op, "max_ulp_difference", 1)?);
                format!("{{max_ulp_difference = {most} : ui64, min_ulp_difference = {least} : ui64}}")
            }
            _ => return op.fail("it has no translation to HLO"),
        };
        let mut operands = self.operands(op)?;
        if name.ends_with("_const") {
            operands.push(self.constant(op)?);
        }
        let attrs = CustomCallAttrs {
            custom_call_target: op.name.as_str().into(),
            custom_call_has_side_effect: true,
            api_version: CustomCallApiVersion::TypedFfi,
            ..CustomCallAttrs::default()
        };
        let id = self.add(Shape::tuple(Vec::new()), Op::CustomCall(Box::new(attrs)), &operands);
        self.module.common_mut(id).backend_config = config.as_str().into();
        Ok(())
    }
}

/// Reads an optional number of type `ui64`.
fn count(op: &Operation, name: &str, default: u64) -> Result<u64> {
    match op.attribute(name) {
        None => Ok(default),
        // In text, a number without a type has the type `i64`.
        Some(&Attribute::Integer(value, _)) => {
            u64::try_from(value).or_else(|_| op.fail(format!("the attribute `{name}` must not be {value}")))
        }
        Some(_) => op.fail(format!("the attribute `{name}` is not a number")),
    }
}

/// Reads the largest accepted difference.
fn tolerance(op: &Operation) -> Result<f64> {
    match op.attribute("tolerance") {
        None => Ok(1e-4),
        Some(Attribute::Float(number)) if matches!(&*number.ty, TypeKind::Float(ty) if ty.bits() == 64) => {
            Ok(f64::from_bits(number.bits))
        }
        Some(_) => op.fail("the attribute `tolerance` is no number of type f64"),
    }
}
