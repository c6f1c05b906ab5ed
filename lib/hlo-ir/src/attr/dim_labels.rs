//! `dim_labels=` of convolutions: the meaning of each dimension.

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use crate::Dims;
use std::fmt;

/// The meaning of the dimensions of a convolution's operands and result: `b01f_01io->b01f`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct ConvDimLabels {
    /// The lhs batch dimension.
    pub input_batch: i64,
    /// The lhs feature dimension.
    pub input_feature: i64,
    /// The lhs spatial dimensions, in window order.
    pub input_spatial: Dims,
    /// The rhs input feature dimension.
    pub kernel_input_feature: i64,
    /// The rhs output feature dimension.
    pub kernel_output_feature: i64,
    /// The rhs spatial dimensions, in window order.
    pub kernel_spatial: Dims,
    /// The result's batch dimension.
    pub output_batch: i64,
    /// The result's feature dimension.
    pub output_feature: i64,
    /// The result's spatial dimensions, in window order.
    pub output_spatial: Dims,
}

/// Maximum length of a label group, more than the number of labels.
const MAX_LABELS: usize = 64;

/// Reads one of the three label groups. Returns the positions of the two letters and of the digits 0, 1, ….
fn label_group(text: &str, first: char, second: char) -> Option<(i64, i64, Dims)> {
    let position = |c: char| {
        let mut found = text.chars().enumerate().filter(|&(_, x)| x == c).map(|(i, _)| i as i64);
        found.next().filter(|_| found.next().is_none())
    };
    if text.len() > MAX_LABELS {
        return None;
    }
    let count = text.chars().filter(|&c| c != '?').count().checked_sub(2)?;
    let spatial: Option<Dims> = (0..count)
        .map(|d| u32::try_from(d).ok().and_then(|d| char::from_digit(d, 10)).and_then(position))
        .collect();
    Some((position(first)?, position(second)?, spatial?))
}

impl ConvDimLabels {
    /// Returns the meaning of the labels of the input, the kernel and the output.
    fn from_groups(input: &str, kernel: &str, output: &str) -> Option<Self> {
        let (input_batch, input_feature, input_spatial) = label_group(input, 'b', 'f')?;
        let (kernel_input_feature, kernel_output_feature, kernel_spatial) = label_group(kernel, 'i', 'o')?;
        let (output_batch, output_feature, output_spatial) = label_group(output, 'b', 'f')?;
        let same = input_spatial.len() == kernel_spatial.len() && input_spatial.len() == output_spatial.len();
        same.then_some(ConvDimLabels {
            input_batch,
            input_feature,
            input_spatial,
            kernel_input_feature,
            kernel_output_feature,
            kernel_spatial,
            output_batch,
            output_feature,
            output_spatial,
        })
    }
}

impl AttrValue for ConvDimLabels {
    const RULE: &'static str = "dim_labels";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset_of_next();
        let text = r.take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'?' | b'_' | b'-' | b'>'));
        let groups = text.split_once("->").and_then(|(operands, output)| {
            let (input, kernel) = operands.split_once('_')?;
            let is_group = |group: &str, letters: &str| {
                let is_label = |c: char| c.is_ascii_digit() || c == '?' || letters.contains(c);
                group.len() >= 2 && group.chars().all(is_label)
            };
            let are_groups = is_group(input, "bf") && is_group(kernel, "io") && is_group(output, "bf");
            are_groups.then_some([input, kernel, output])
        });
        let Some([input, kernel, output]) = groups else {
            const EXPECTED: &str = "dimension labels such as `b01f_01io->b01f`";
            if text.is_empty() {
                return Err(r.expected(EXPECTED));
            }
            let error = r.error_since(start, EXPECTED.into());
            return Err(AttrError { found: format!("`{text}`"), ..error });
        };
        Self::from_groups(input, kernel, output).ok_or_else(|| {
            let message = format!(
                "`{text}` does not label the dimensions: each group has its two letters and the digits from 0 on \
                 once, as in `b01f_01io->b01f`"
            );
            r.error_since(start, message)
        })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let group = |a: i64, ca: char, b: i64, cb: char, spatial: &Dims| -> String {
            // A `?` is a dimension without a meaning.
            let last = spatial.iter().copied().fold(a.max(b), i64::max);
            let mut out = vec!['?'; usize::try_from(last).unwrap_or(0).min(MAX_LABELS) + 1];
            let mut put = |at: i64, c: char| {
                if let Some(slot) = out.get_mut(at as usize) {
                    *slot = c;
                }
            };
            put(a, ca);
            put(b, cb);
            for (d, &at) in spatial.iter().enumerate() {
                put(at, char::from_digit(d as u32, 10).unwrap_or('?'));
            }
            out.into_iter().collect()
        };
        write!(
            f,
            "{}_{}->{}",
            group(self.input_batch, 'b', self.input_feature, 'f', &self.input_spatial),
            group(self.kernel_input_feature, 'i', self.kernel_output_feature, 'o', &self.kernel_spatial),
            group(self.output_batch, 'b', self.output_feature, 'f', &self.output_spatial),
        )
    }
}
