//! Attributes that are one of a few words. Messages store them as numbers of an enumeration or as the word
//! itself.

use super::Result;
use super::context::{Reading, Writing};
use super::fields::Field;
use crate::messages as proto;
use hlo_ir::attr::{
    ComparisonDirection, ConvolutionKind, CustomCallApiVersion, CustomCallSchedule, DotAlgorithm, FftType,
    FusionKind, OperandPrecision, PaddingType, Precision, RngAlgorithm, RngDistribution, TransposeKind,
};

/// Implements [`Field`] for words that messages store as numbers. The name of a number is a prefix and the
/// word in capital letters.
macro_rules! numbered_words {
    ($($name:ident = $numbers:ident, $prefix:literal;)*) => {$(
        impl Field<i32> for $name {
            fn read(number: &i32, _: &Reading<'_>) -> Result<Self> {
                let values = proto::$numbers::VALUES;
                let found = values.iter().find(|(_, n)| n == number).map(|(name, _)| *name);
                // In some enumerations the number 0 means that nothing is specified.
                let Some(name) = found else {
                    return Err(format!("{number} is no number of {}", stringify!($name)));
                };
                let word = name.strip_prefix($prefix).unwrap_or(name);
                let known = Self::ALL.iter().copied().find(|w| w.text().eq_ignore_ascii_case(word));
                Ok(known.unwrap_or_default())
            }

            fn write(&self, _: &mut Writing<'_>) -> i32 {
                let is_word = |name: &str| {
                    name.strip_prefix($prefix).is_some_and(|word| word.eq_ignore_ascii_case(self.text()))
                };
                proto::$numbers::VALUES.iter().find(|(name, _)| is_word(name)).map_or(0, |&(_, n)| n)
            }
        }
    )*};
}

numbered_words! {
    ConvolutionKind = ConvolutionKind, "CONVOLUTION_KIND_";
    CustomCallApiVersion = CustomCallApiVersion, "";
    CustomCallSchedule = CustomCallSchedule, "";
    DotAlgorithm = AlgorithmProto, "ALG_";
    FftType = FftType, "";
    PaddingType = PaddingType, "";
    Precision = PrecisionProto, "";
    RngAlgorithm = RandomAlgorithm, "";
    RngDistribution = RandomDistribution, "";
    TransposeKind = TransposeProto, "";
}

/// Implements [`Field`] for words that messages store as text.
macro_rules! written_words {
    ($($name:ident)*) => {$(
        impl Field<String> for $name {
            fn read(text: &String, _: &Reading<'_>) -> Result<Self> {
                let known = Self::ALL.iter().copied().find(|w| w.text() == text);
                known.ok_or_else(|| format!("expected one of {}, found `{text}`", Self::WORDS.join(", ")))
            }

            fn write(&self, _: &mut Writing<'_>) -> String {
                self.text().to_owned()
            }
        }
    )*};
}

written_words! { ComparisonDirection FusionKind }

impl Field<Vec<i32>> for OperandPrecision {
    fn read(numbers: &Vec<i32>, context: &Reading<'_>) -> Result<Self> {
        let list = numbers.iter().map(|n| Precision::read(n, context)).collect::<Result<Vec<_>>>()?;
        let any = list.iter().any(|&p| p != Precision::Default);
        Ok(Self(if any { list } else { Vec::new() }))
    }

    /// Writes one number for each operand that can have a precision.
    fn write(&self, context: &mut Writing<'_>) -> Vec<i32> {
        match &self.0[..] {
            [] => vec![0; context.precisions],
            list => list.iter().map(|p| p.write(context)).collect(),
        }
    }
}
