//! The types of attributes: integers, lists, enums, windows, dimension labels, ….

use super::{AttrError, AttrReader, AttrValue, ComputationNames};
use crate::{ComputationId, Dims};
use std::fmt;

impl AttrValue for i64 {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.integer()
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl AttrValue for Option<i64> {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.integer().map(Some)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{}", self.unwrap_or_default())
    }
}

impl AttrValue for bool {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        for (text, value) in [("true", true), ("false", false), ("1", true), ("0", false)] {
            if r.eat(text) {
                return Ok(value);
            }
        }
        Err(r.error("`true` or `false`"))
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl AttrValue for f32 {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let rest = r.remaining();
        let end = rest
            .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.')))
            .unwrap_or(rest.len());
        match rest[..end].parse() {
            Ok(v) => {
                r.advance(end);
                Ok(v)
            }
            Err(_) => Err(r.error("a number")),
        }
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str(&crate::print::format_f32(*self))
    }
}

/// Reads `{a,b,…}` with `item` for each.
fn braced_list<'a, T>(
    r: &mut AttrReader<'a>,
    mut item: impl FnMut(&mut AttrReader<'a>) -> Result<T, AttrError>,
) -> Result<Vec<T>, AttrError> {
    r.expect("{")?;
    let mut out = Vec::new();
    if r.eat("}") {
        return Ok(out);
    }
    loop {
        out.push(item(r)?);
        if r.eat("}") {
            return Ok(out);
        }
        if !r.eat(",") {
            return Err(r.error("`,` or `}`"));
        }
    }
}

fn write_braced<T>(
    f: &mut dyn fmt::Write,
    items: &[T],
    separator: &str,
    mut item: impl FnMut(&mut dyn fmt::Write, &T) -> fmt::Result,
) -> fmt::Result {
    f.write_str("{")?;
    for (i, x) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(separator)?;
        }
        item(f, x)?;
    }
    f.write_str("}")
}

/// `{0,1}`: dimension numbers or sizes.
impl AttrValue for Dims {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        Ok(braced_list(r, AttrReader::integer)?.into())
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, self, ",", |f, d| write!(f, "{d}"))
    }
}

impl AttrValue for ComputationId {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.computation()
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        names.write_computation(f, *self)
    }
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        f(*self);
    }
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        f(self);
    }
}

impl AttrValue for Option<ComputationId> {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.computation().map(Some)
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        self.map_or(Ok(()), |c| names.write_computation(f, c))
    }
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        self.iter().for_each(|&c| f(c));
    }
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        self.iter_mut().for_each(f);
    }
}

impl AttrValue for Vec<ComputationId> {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        braced_list(r, AttrReader::computation)
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, self, ", ", |f, &c| names.write_computation(f, c))
    }
    fn for_each_computation(&self, f: &mut dyn FnMut(ComputationId)) {
        self.iter().for_each(|&c| f(c));
    }
    fn for_each_computation_mut(&mut self, f: &mut dyn FnMut(&mut ComputationId)) {
        self.iter_mut().for_each(f);
    }
}

/// An attribute that is kept as it was written: its meaning is not needed for what the tools do with it yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Raw(pub Box<str>);

impl AttrValue for Raw {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        Ok(Raw(r.verbatim().into()))
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Declares an attribute type that is one of a few words.
macro_rules! word_enum {
    ($($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $text:literal,)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$vdoc])* $variant,)* }

        impl $name {
            /// The word in HLO text.
            pub fn text(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }

        impl AttrValue for $name {
            fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
                const WORDS: &[&str] = &[$($text),*];
                let expected = || format!("one of {}", WORDS.join(", "));
                let start = r.offset();
                let word = r.identifier().map_err(|mut e| { e.expected = expected(); e })?;
                match word {
                    $($text => Ok($name::$variant),)*
                    other => {
                        let mut e = r.error_since(start, expected());
                        e.found = format!("`{other}`");
                        Err(e)
                    }
                }
            }
            fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
                f.write_str(self.text())
            }
        }
    )*};
}

word_enum! {
    /// Which relation `compare` tests.
    ComparisonDirection {
        /// Equal.
        #[default] Eq = "EQ",
        /// Not equal.
        Ne = "NE",
        /// Greater or equal.
        Ge = "GE",
        /// Greater.
        Gt = "GT",
        /// Less or equal.
        Le = "LE",
        /// Less.
        Lt = "LT",
    }
    /// How `compare` orders its operands.
    ComparisonType {
        /// By the element type: IEEE for floats, signed or unsigned for integers. Not written.
        #[default] Default = "DEFAULT",
        /// IEEE 754 comparison.
        Float = "FLOAT",
        /// The total order of floats: -NaN < -inf < … < -0 < +0 < … < inf < NaN.
        TotalOrder = "TOTALORDER",
        /// Two's complement.
        Signed = "SIGNED",
        /// Unsigned.
        Unsigned = "UNSIGNED",
    }
    /// What a fusion was formed around.
    FusionKind {
        /// A loop over the output's elements.
        #[default] Loop = "kLoop",
        /// Producers fused into a reduction.
        Input = "kInput",
        /// Consumers fused onto a library operation.
        Output = "kOutput",
        /// What the backend config says.
        Custom = "kCustom",
    }
    /// The transform of `fft`.
    FftType {
        /// Complex to complex, forward.
        #[default] Fft = "FFT",
        /// Complex to complex, inverse.
        Ifft = "IFFT",
        /// Real to complex, forward.
        Rfft = "RFFT",
        /// Complex to real, inverse.
        Irfft = "IRFFT",
    }
    /// The generator of `rng-bit-generator`.
    RngAlgorithm {
        /// The backend's choice; here Philox, as XLA's CPU backend chooses.
        #[default] Default = "rng_default",
        /// ThreeFry-2x32, 20 rounds.
        ThreeFry = "rng_three_fry",
        /// Philox-4x32, 10 rounds.
        Philox = "rng_philox",
    }
    /// The distribution of `rng`.
    RngDistribution {
        /// Uniform between the operands.
        #[default] Uniform = "rng_uniform",
        /// Normal with the operands as mean and standard deviation.
        Normal = "rng_normal",
    }
    /// How `triangular-solve` takes its matrix.
    TransposeKind {
        /// As it is.
        #[default] NoTranspose = "NO_TRANSPOSE",
        /// Transposed.
        Transpose = "TRANSPOSE",
        /// Conjugated and transposed.
        Adjoint = "ADJOINT",
    }
}

/// One dimension of `slice`: elements `start, start+stride, …` below `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SliceDim {
    /// The first index.
    pub start: i64,
    /// One past the last index that may be taken.
    pub limit: i64,
    /// The step, at least 1.
    pub stride: i64,
}

/// `{[0:4], [1:9:2]}`.
impl AttrValue for Vec<SliceDim> {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        braced_list(r, |r| {
            r.expect("[")?;
            let start = r.integer()?;
            r.expect(":")?;
            let limit = r.integer()?;
            let stride = if r.eat(":") { r.integer()? } else { 1 };
            r.expect("]")?;
            Ok(SliceDim { start, limit, stride })
        })
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, self, ", ", |f, d| {
            write!(f, "[{}:{}", d.start, d.limit)?;
            if d.stride != 1 {
                write!(f, ":{}", d.stride)?;
            }
            f.write_str("]")
        })
    }
}

/// One dimension of `pad`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PaddingDim {
    /// Elements added before (removed if negative).
    pub low: i64,
    /// Elements added after (removed if negative).
    pub high: i64,
    /// Elements added between neighbours; never negative.
    pub interior: i64,
}

/// `0_1x2_3_1`: low, high and (if not 0) interior padding per dimension.
impl AttrValue for Vec<PaddingDim> {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut out = Vec::new();
        if r.at_end() {
            return Ok(out); // rank 0: XLA prints `padding=`
        }
        loop {
            let low = r.integer()?;
            r.expect("_")?;
            let high = r.integer()?;
            let interior = if r.eat("_") { r.integer()? } else { 0 };
            out.push(PaddingDim { low, high, interior });
            if !r.eat("x") {
                return Ok(out);
            }
        }
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let interior = self.iter().any(|d| d.interior != 0);
        for (i, d) in self.iter().enumerate() {
            if i > 0 {
                f.write_str("x")?;
            }
            write!(f, "{}_{}", d.low, d.high)?;
            if interior {
                write!(f, "_{}", d.interior)?;
            }
        }
        Ok(())
    }
}

/// One dimension of a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WindowDim {
    /// The number of elements in the window.
    pub size: i64,
    /// The step between windows.
    pub stride: i64,
    /// Padding before the base area (negative removes).
    pub pad_low: i64,
    /// Padding after the base area.
    pub pad_high: i64,
    /// Base dilation: the distance between neighbours of the base area, 1 for none.
    pub lhs_dilate: i64,
    /// Window dilation: the distance between neighbours of the window.
    pub rhs_dilate: i64,
    /// True if the window is applied back to front.
    pub reversed: bool,
}

impl Default for WindowDim {
    fn default() -> Self {
        Self { size: 1, stride: 1, pad_low: 0, pad_high: 0, lhs_dilate: 1, rhs_dilate: 1, reversed: false }
    }
}

/// The window of a convolution or a windowed reduction, one entry a (spatial) dimension.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Window {
    /// The dimensions.
    pub dims: Vec<WindowDim>,
}

/// Reads `AxBxC` with `item` for each.
fn by_x<'a, T>(
    r: &mut AttrReader<'a>,
    mut item: impl FnMut(&mut AttrReader<'a>) -> Result<T, AttrError>,
) -> Result<Vec<T>, AttrError> {
    let mut out = vec![item(r)?];
    while r.eat("x") {
        out.push(item(r)?);
    }
    Ok(out)
}

/// `{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=… rhs_dilate=… rhs_reversal=…}`.
impl AttrValue for Window {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset();
        let mut dims: Option<Vec<WindowDim>> = None;
        let mut fields: Vec<(&str, Vec<(i64, i64)>)> = Vec::new();
        r.expect("{")?;
        while !r.eat("}") {
            let name = r.identifier()?;
            r.expect("=")?;
            match name {
                "size" => {
                    dims = Some(
                        by_x(r, AttrReader::integer)?
                            .into_iter()
                            .map(|size| WindowDim { size, ..WindowDim::default() })
                            .collect(),
                    )
                }
                "pad" => fields.push((
                    name,
                    by_x(r, |r| {
                        let low = r.integer()?;
                        r.expect("_")?;
                        Ok((low, r.integer()?))
                    })?,
                )),
                "stride" | "lhs_dilate" | "rhs_dilate" | "rhs_reversal" => {
                    fields.push((name, by_x(r, |r| Ok((r.integer()?, 0)))?))
                }
                _ => {
                    return Err(r.error_since(
                        start,
                        format!(
                            "a window has no `{name}`: size, stride, pad, lhs_dilate, rhs_dilate, rhs_reversal"
                        ),
                    ));
                }
            }
            r.eat(",");
        }
        let Some(mut dims) = dims else {
            return if fields.is_empty() {
                Ok(Window::default())
            } else {
                Err(r.error_since(start, "a window needs `size=`".into()))
            };
        };
        for (name, values) in fields {
            if values.len() != dims.len() {
                return Err(r.error_since(
                    start,
                    format!("`{name}=` has {} dimensions, `size=` has {}", values.len(), dims.len()),
                ));
            }
            for (d, (a, b)) in dims.iter_mut().zip(values) {
                match name {
                    "stride" => d.stride = a,
                    "pad" => (d.pad_low, d.pad_high) = (a, b),
                    "lhs_dilate" => d.lhs_dilate = a,
                    "rhs_dilate" => d.rhs_dilate = a,
                    _ => d.reversed = a != 0,
                }
            }
        }
        Ok(Window { dims })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let join = |item: &dyn Fn(&WindowDim) -> String| -> String {
            self.dims.iter().map(item).collect::<Vec<_>>().join("x")
        };
        let some = |differs: &dyn Fn(&WindowDim) -> bool| self.dims.iter().any(differs);
        f.write_str("{")?;
        if !self.dims.is_empty() {
            write!(f, "size={}", join(&|d| d.size.to_string()))?;
        }
        if some(&|d| d.stride != 1) {
            write!(f, " stride={}", join(&|d| d.stride.to_string()))?;
        }
        if some(&|d| d.pad_low != 0 || d.pad_high != 0) {
            write!(f, " pad={}", join(&|d| format!("{}_{}", d.pad_low, d.pad_high)))?;
        }
        if some(&|d| d.lhs_dilate != 1) {
            write!(f, " lhs_dilate={}", join(&|d| d.lhs_dilate.to_string()))?;
        }
        if some(&|d| d.rhs_dilate != 1) {
            write!(f, " rhs_dilate={}", join(&|d| d.rhs_dilate.to_string()))?;
        }
        if some(&|d| d.reversed) {
            write!(f, " rhs_reversal={}", join(&|d| u8::from(d.reversed).to_string()))?;
        }
        f.write_str("}")
    }
}

/// Which dimensions of a convolution's operands and result mean what: `b01f_01io->b01f`.
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

/// Reads one of the three label groups: positions of the two letters and of the digits 0, 1, ….
fn label_group(text: &str, first: char, second: char) -> Option<(i64, i64, Dims)> {
    let position = |c: char| {
        let mut found = text.chars().enumerate().filter(|&(_, x)| x == c).map(|(i, _)| i as i64);
        found.next().filter(|_| found.next().is_none())
    };
    let spatial: Option<Dims> = (0..text.chars().count().checked_sub(2)?)
        .map(|d| u32::try_from(d).ok().and_then(|d| char::from_digit(d, 10)).and_then(position))
        .collect();
    Some((position(first)?, position(second)?, spatial?))
}

impl AttrValue for ConvDimLabels {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset();
        let text = r.verbatim();
        let read = || {
            let (operands, output) = text.split_once("->")?;
            let (input, kernel) = operands.split_once('_')?;
            let (input_batch, input_feature, input_spatial) = label_group(input.trim(), 'b', 'f')?;
            let (kernel_input_feature, kernel_output_feature, kernel_spatial) =
                label_group(kernel.trim(), 'i', 'o')?;
            let (output_batch, output_feature, output_spatial) = label_group(output.trim(), 'b', 'f')?;
            let same =
                input_spatial.len() == kernel_spatial.len() && input_spatial.len() == output_spatial.len();
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
        };
        read().ok_or_else(|| {
            let mut e = r.error_since(start, "dimension labels such as `b01f_01io->b01f`".into());
            e.found = format!("`{text}`");
            e
        })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        let group = |a: i64, ca: char, b: i64, cb: char, spatial: &Dims| -> String {
            let mut out = vec!['?'; spatial.len() + 2];
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
