//! `trace`: reports its operands when the program reaches the call (XLA preview, "Trace").

use std::sync::Arc;

use crate::target::Target;
use crate::{Call, ValueType};
use hlo_ir::Literal;
use hlo_ir::print::print_literal;
use hlo_runtime_core::Error;

/// The name of the target.
pub const TRACE: &str = "trace";

/// A function that receives traced values: the tag, which is the call's `backend_config`, and the value,
/// which is a tuple if there are several.
pub type Tracer = dyn Fn(&str, &Literal) + Send + Sync;

/// The maximum number of elements that are printed completely. Larger arrays show the first elements of each
/// dimension.
const MAX_FULL_ELEMENTS: usize = 1000;

/// Prints a traced value and its tag as a line to standard error.
pub(crate) fn to_standard_error(tag: &str, value: &Literal) {
    let separator = if tag.is_empty() { "" } else { ": " };
    let line = format!("{tag}{separator}{}\n", print_literal(value, Some(MAX_FULL_ELEMENTS)));
    // If standard error fails, there is nowhere to report the failure.
    let _ = std::io::Write::write_all(&mut std::io::stderr().lock(), line.as_bytes());
}

/// Returns the target, which passes its operands to `tracer`.
pub(crate) fn target(tracer: Arc<Tracer>) -> Target {
    Target::new(move |site, _| {
        if !site.result_arrays().is_empty() {
            return Err(Error(format!("gives a token, and no {}", site.result)));
        }
        let tag = String::from_utf8_lossy(&site.config).into_owned();
        let values: Vec<ValueType> =
            site.operands.iter().filter(|o| **o != ValueType::Token).cloned().collect();
        let tracer = tracer.clone();
        Ok(Arc::new(move |call: &mut Call<'_>| {
            let mut arrays = (0..call.types.operands.len()).map(|number| call.operand_literal(number));
            let mut all = (values.iter())
                .map(|value| literal(value, &mut arrays))
                .collect::<Result<Vec<Literal>, Error>>()?;
            let value = match (all.pop(), all.is_empty()) {
                (Some(only), true) => only,
                (last, _) => Literal::tuple(all.into_iter().chain(last).collect()),
            };
            tracer(&tag, &value);
            Ok(())
        }))
    })
}

/// Builds a value of type `value` from the next arrays.
fn literal(
    value: &ValueType,
    arrays: &mut dyn Iterator<Item = Result<Literal, Error>>,
) -> Result<Literal, Error> {
    match value {
        ValueType::Array(_) => {
            arrays.next().unwrap_or_else(|| Err(Error("internal error: an operand is missing".into())))
        }
        ValueType::Token => Ok(Literal::token()),
        ValueType::Tuple(parts) => {
            parts.iter().map(|part| literal(part, arrays)).collect::<Result<_, _>>().map(Literal::tuple)
        }
    }
}
