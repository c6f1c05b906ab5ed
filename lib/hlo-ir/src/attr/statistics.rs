//! `statistics=` and `result_accuracy=`: numbers from profiles, and the required accuracy of a result.

use super::string::write_key;
use super::{AttrError, AttrReader, AttrValue, BraceContents, ComputationNames};
use std::fmt;

/// Prints a number with six digits, as XLA does, if that reads back exactly, and otherwise with as many as
/// needed.
fn write_number(f: &mut dyn fmt::Write, value: f64) -> fmt::Result {
    let short = crate::print::format_g(value, 6);
    match short.parse::<f64>() {
        Ok(back) if back == value => f.write_str(&short),
        _ => f.write_str(&crate::print::format_f64(value)),
    }
}

/// `statistics={visualizing_index=0,stat=1.5}`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Statistics {
    /// The index of the number to show in visualizations.
    pub visualizing_index: i64,
    /// The numbers by name, in the order of the text.
    pub values: Vec<(Box<str>, f64)>,
}

impl AttrValue for Statistics {
    const RULE: &'static str = "statistics";
    const BRACE_CONTENTS: BraceContents = BraceContents::fields(&["visualizing_index"]);

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut index = None;
        let values = r.list("{", "}", |r| {
            if index.is_none() {
                r.sub_attribute(Self::BRACE_CONTENTS.fields)?;
                index = Some(r.integer()?);
                return Ok(None);
            }
            let name = r.key()?;
            Ok(Some((name, r.decimal()?)))
        })?;
        Ok(Self { visualizing_index: index.unwrap_or(0), values: values.into_iter().flatten().collect() })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{{visualizing_index={}", self.visualizing_index)?;
        for (name, value) in &self.values {
            f.write_str(",")?;
            write_key(f, name)?;
            f.write_str("=")?;
            write_number(f, *value)?;
        }
        f.write_str("}")
    }
}

/// The required accuracy of an elementwise function's result.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum ResultAccuracy {
    /// The backend's default accuracy.
    #[default]
    Default,
    /// The highest accuracy of the backend.
    Highest,
    /// Errors up to these bounds.
    Tolerance {
        /// The absolute error.
        atol: f64,
        /// The relative error.
        rtol: f64,
        /// The error in units in the last place.
        ulps: i64,
    },
}

/// The words of `mode=`.
const MODES: &[&str] = &["default", "highest"];

/// The fields of `tolerance=`.
const TOLERANCES: &[&str] = &["atol", "rtol", "ulps"];

/// `{mode=highest}` or `{tolerance={atol=0.1,rtol=0,ulps=2}}`.
impl AttrValue for ResultAccuracy {
    const RULE: &'static str = "result_accuracy";
    const BRACE_CONTENTS: BraceContents = BraceContents {
        fields: &["mode", "tolerance"],
        parts: &[("mode", BraceContents::word(MODES)), ("tolerance", BraceContents::fields(TOLERANCES))],
        ..BraceContents::NO_NAMES
    };

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.expect("{")?;
        let accuracy = if r.sub_attribute(Self::BRACE_CONTENTS.fields)? == 0 {
            match r.one_of_ignoring_case(MODES)? {
                0 => ResultAccuracy::Default,
                _ => ResultAccuracy::Highest,
            }
        } else {
            read_tolerance(r)?
        };
        r.expect("}")?;
        Ok(accuracy)
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        match self {
            ResultAccuracy::Default => f.write_str("{mode=default}"),
            ResultAccuracy::Highest => f.write_str("{mode=highest}"),
            ResultAccuracy::Tolerance { atol, rtol, ulps } => {
                f.write_str("{tolerance={atol=")?;
                write_number(f, *atol)?;
                f.write_str(",rtol=")?;
                write_number(f, *rtol)?;
                write!(f, ",ulps={ulps}}}}}")
            }
        }
    }
}

fn read_tolerance(r: &mut AttrReader<'_>) -> Result<ResultAccuracy, AttrError> {
    let (mut atol, mut rtol, mut ulps) = (0.0, 0.0, 0);
    r.list("{", "}", |r| {
        let start = r.offset_of_next();
        let negative = match r.sub_attribute(TOLERANCES)? {
            0 => {
                atol = r.decimal()?;
                atol < 0.0
            }
            1 => {
                rtol = r.decimal()?;
                rtol < 0.0
            }
            _ => {
                ulps = r.integer()?;
                ulps < 0
            }
        };
        if negative { Err(r.error_since(start, "a tolerance is not negative".into())) } else { Ok(()) }
    })?;
    Ok(ResultAccuracy::Tolerance { atol, rtol, ulps })
}
