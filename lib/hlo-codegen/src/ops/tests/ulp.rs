//! The error of every mathematical function in units in the last place, for each type and both engines: the table of
//! docs/numerics.md. `make ulp` measures all of it anew (`f16`, `bf16` and `f32` in every bit pattern) and writes the
//! table; the test that always runs takes a sample of the wide types and holds it to what the table says.
//!
//! References: `f64` functions of libm for the types up to `f32`, arithmetic of 256 bits for `f64`. The exhaustive
//! run over `f32` takes the compiled `f64` functions, whose own errors the table has.

use super::accuracy::{points_f32, points_f64};
use super::{Compiled, Number, Random};
use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use hlo_ir::{ElementType, FloatFormat, Literal, Op, Shape};

/// Bits of the reference.
const P: usize = 256;
const RM: RoundingMode = RoundingMode::None;

/// Functions of large precision.
struct Big {
    constants: Consts,
}

impl Big {
    fn new() -> Self {
        Self { constants: Consts::new().expect("memory") }
    }

    fn num(x: f64) -> BigFloat {
        // Subnormal numbers, which the library does not read, by way of a normal one.
        let mut big = BigFloat::from_f64(if x.is_subnormal() { libm::ldexp(x, 200) } else { x }, P);
        if let (true, Some(exponent)) = (x.is_subnormal(), big.exponent()) {
            big.set_exponent(exponent - 200);
        }
        big
    }

    fn exp(&mut self, x: &BigFloat) -> BigFloat {
        x.exp(P, RM, &mut self.constants)
    }

    fn ln(&mut self, x: &BigFloat) -> BigFloat {
        x.ln(P, RM, &mut self.constants)
    }

    /// True where a few terms of a power series at 0 are enough.
    fn tiny(x: &BigFloat) -> bool {
        x.exponent().is_none_or(|e| e < -60)
    }

    /// x + a x² + b x³.
    fn series(x: &BigFloat, a: f64, b: f64) -> BigFloat {
        let square = x.mul(x, P, RM);
        let tail = x.mul(&Self::num(b), P, RM).add(&Self::num(a), P, RM);
        x.add(&square.mul(&tail, P, RM), P, RM)
    }

    fn exp_m1(&mut self, x: &BigFloat) -> BigFloat {
        match Self::tiny(x) {
            true => Self::series(x, 0.5, 1.0 / 6.0),
            false => self.exp(x).sub(&Self::num(1.0), P, RM),
        }
    }

    fn log1p(&mut self, x: &BigFloat) -> BigFloat {
        match Self::tiny(x) {
            true => Self::series(x, -0.5, 1.0 / 3.0),
            // Exact: the sum has at most 113 bits, or the 1 is far below the last of 256.
            false => self.ln(&x.add(&Self::num(1.0), P, RM)),
        }
    }

    fn logistic(&mut self, x: &BigFloat) -> BigFloat {
        let e = self.exp(&x.neg());
        Self::num(1.0).div(&e.add(&Self::num(1.0), P, RM), P, RM)
    }

    fn tanh(&mut self, x: &BigFloat) -> BigFloat {
        if to_f64(x).abs() > 350.0 {
            return Self::num(to_f64(x).signum());
        }
        let e = self.exp_m1(&x.add(x, P, RM));
        e.div(&e.add(&Self::num(2.0), P, RM), P, RM)
    }

    fn pi(&mut self) -> BigFloat {
        Self::num(1.0).atan(P, RM, &mut self.constants).mul(&Self::num(4.0), P, RM)
    }

    /// The power series, which loses 60 of the 256 bits at the most below 6.5; beyond, one.
    fn erf(&mut self, x: &BigFloat) -> BigFloat {
        if to_f64(x).abs() > 6.5 {
            return Self::num(to_f64(x).signum());
        }
        let square = x.mul(x, P, RM).neg();
        let (mut power, mut sum) = (x.clone(), x.clone());
        for n in 1..400 {
            power = power.mul(&square, P, RM).div(&Self::num(n.into()), P, RM);
            sum = sum.add(&power.div(&Self::num(f64::from(2 * n + 1)), P, RM), P, RM);
        }
        let root = self.pi().sqrt(P, RM);
        sum.mul(&Self::num(2.0), P, RM).div(&root, P, RM)
    }

    fn power(&mut self, x: &BigFloat, y: &BigFloat) -> BigFloat {
        let magnitude = self.ln(&x.abs()).mul(y, P, RM);
        let magnitude = self.exp(&magnitude);
        let odd = to_f64(y) % 2.0 != 0.0;
        if x.is_negative() && odd { magnitude.neg() } else { magnitude }
    }

    fn atan2(&mut self, y: &BigFloat, x: &BigFloat) -> BigFloat {
        let angle = y.div(x, P, RM).atan(P, RM, &mut self.constants);
        match (x.is_negative(), y.is_negative()) {
            (false, _) => angle,
            (true, false) => angle.add(&self.pi(), P, RM),
            (true, true) => angle.sub(&self.pi(), P, RM),
        }
    }
}

/// The nearest `f64` or one next to it.
fn to_f64(x: &BigFloat) -> f64 {
    let Some((words, _, sign, exponent, _)) = x.as_raw_parts() else { return f64::NAN };
    // The value is 0.mantissa · 2^exponent, the last word being the highest.
    let value = words
        .iter()
        .rev()
        .take(2)
        .fold((0.0, 2f64.powi(-64)), |(sum, unit), &w| (sum + w as f64 * unit, unit * 2f64.powi(-64)));
    let value = libm::ldexp(value.0, exponent);
    if sign == Sign::Neg { -value } else { value }
}

/// A reference: the value and what it lacks.
type Wanted = (f64, f64);

/// A function of one argument: in `f64`, and in large precision.
struct Function {
    op: Op,
    real: fn(f64) -> f64,
    big: fn(&mut Big, &BigFloat) -> BigFloat,
}

fn logistic(x: f64) -> f64 {
    let e = libm::exp(-x.abs());
    if x < 0.0 { e / (1.0 + e) } else { 1.0 / (1.0 + e) }
}

fn functions() -> Vec<Function> {
    macro_rules! list {
        ($($op:ident $real:expr, $big:expr;)*) => {
            vec![$(Function { op: Op::$op, real: $real, big: $big },)*]
        };
    }
    macro_rules! plain {
        ($name:ident) => {
            |b, x| x.$name(P, RM, &mut b.constants)
        };
    }
    list! {
        Exponential libm::exp, Big::exp;
        ExponentialMinusOne libm::expm1, Big::exp_m1;
        Log libm::log, Big::ln;
        LogPlusOne libm::log1p, Big::log1p;
        Logistic logistic, Big::logistic;
        Tanh libm::tanh, Big::tanh;
        Erf libm::erf, Big::erf;
        Sine libm::sin, plain!(sin);
        Cosine libm::cos, plain!(cos);
        Tan libm::tan, plain!(tan);
        Asin libm::asin, plain!(asin);
        Acos libm::acos, plain!(acos);
        Sinh libm::sinh, plain!(sinh);
        Cosh libm::cosh, plain!(cosh);
        Asinh libm::asinh, plain!(asinh);
        Acosh |x| if x < 1.0 { f64::NAN } else { libm::acosh(x) }, plain!(acosh);
        Atanh libm::atanh, plain!(atanh);
        Cbrt libm::cbrt, |_, x| x.cbrt(P, RM);
        Sqrt |x| x.sqrt(), |_, x| x.sqrt(P, RM);
        Rsqrt |x| 1.0 / x.sqrt(), |_, x| Big::num(1.0).div(&x.sqrt(P, RM), P, RM);
    }
}

impl Function {
    fn wanted(&self, big: &mut Big, x: f64) -> Wanted {
        let near = (self.real)(x);
        precise(near, x != 0.0 && x.is_finite(), || (self.big)(big, &Big::num(x)))
    }
}

/// The reference where the value is an ordinary number, else what the C library has: zeros, infinities, NaN.
fn precise(near: f64, ordinary: bool, value: impl FnOnce() -> BigFloat) -> Wanted {
    if !ordinary || near == 0.0 || !near.is_finite() {
        return (near, 0.0);
    }
    let value = value();
    let high = to_f64(&value);
    (high, to_f64(&value.sub(&Big::num(high), P, RM)))
}

/// The distance in units in the last place of the format; infinite for a NaN or a zero's sign that is wrong.
fn error(format: &FloatFormat, got: f64, (want, rest): Wanted) -> f64 {
    if got.is_nan() || want.is_nan() {
        return if got.is_nan() && want.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let rounded = format.decode(format.encode(want));
    if got == rounded && (got == 0.0 || got.is_infinite()) {
        return if got.is_sign_negative() == rounded.is_sign_negative() { 0.0 } else { f64::INFINITY };
    }
    // An infinity next to the largest number is one place off.
    let largest = format.decode(format.max_bits());
    let finite = |x: f64| {
        let limit = largest + libm::ldexp(1.0, format.last_place(largest));
        if limit.is_finite() { x.clamp(-limit, limit) } else { x.clamp(-largest, largest) }
    };
    let size = if want == 0.0 { f64::from_bits(1) } else { finite(want) };
    let difference = (finite(got) - finite(want)) - if rest.is_finite() { rest } else { 0.0 };
    libm::ldexp(difference.abs(), -format.last_place(size))
}

/// How a function is computed.
#[derive(Clone, Copy, PartialEq)]
enum Engine {
    Compiled,
    Interpreted,
}

/// A function of some arguments of one type.
struct Runner {
    compiled: Option<Compiled>,
    module: hlo_ir::Module,
    ty: ElementType,
}

impl Runner {
    fn new(engine: Engine, op: &Op, ty: ElementType, operands: usize, count: usize) -> Self {
        let compiled = engine == Engine::Compiled;
        let names: Vec<String> = (0..operands).map(|n| format!("a{n}")).collect();
        let parameters = names.iter().enumerate();
        let parameters: String =
            parameters.map(|(n, name)| format!("{name} = {ty}[{count}] parameter({n})\n")).collect();
        let call = format!("ROOT r = {ty}[{count}] {}({})", op.name(), names.join(", "));
        let module = hlo_parser::parse_module(&format!("HloModule m\nENTRY e {{\n{parameters}{call}\n}}\n"));
        let compiled = compiled.then(|| Compiled::new(op.clone(), ty, &vec![ty; operands]));
        Self { compiled, module: module.expect("a module"), ty }
    }

    fn run(&self, inputs: &[&[u8]]) -> Vec<u8> {
        if let Some(compiled) = &self.compiled {
            return compiled.run(inputs);
        }
        let count = inputs[0].len() / self.ty.byte_size();
        let literal = |bytes: &&[u8]| {
            let bytes = hlo_ir::AlignedBytes::from_slice(bytes);
            Literal::from_bytes(Shape::array(self.ty, [count as i64]), bytes)
        };
        let inputs: Vec<Literal> = inputs.iter().map(literal).collect();
        let result = hlo_eval::evaluate(&self.module, &inputs, &hlo_eval::Options::default());
        result.expect("a result").bytes().to_vec()
    }
}

/// The greatest error at the given bit patterns.
fn greatest(
    engine: Engine,
    op: &Op,
    ty: ElementType,
    patterns: &[Vec<u64>],
    mut wanted: impl FnMut(&[f64]) -> Wanted,
) -> f64 {
    let format = FloatFormat::of(ty).expect("a floating-point type");
    let size = ty.byte_size();
    let bytes: Vec<Vec<u8>> =
        patterns.iter().map(|p| p.iter().flat_map(|b| b.to_le_bytes()[..size].to_vec()).collect()).collect();
    let slices: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let got = Runner::new(engine, op, ty, patterns.len(), patterns[0].len()).run(&slices);
    let mut worst = 0f64;
    for (n, got) in got.chunks_exact(size).enumerate() {
        let mut wide = [0; 8];
        wide[..size].copy_from_slice(got);
        let arguments: Vec<f64> = patterns.iter().map(|p| format.decode(p[n])).collect();
        let e = error(&format, format.decode(u64::from_le_bytes(wide)), wanted(&arguments));
        if e.is_infinite() && worst.is_finite() {
            println!("{} of {arguments:?} in {ty}: {:?}", op.name(), format.decode(u64::from_le_bytes(wide)));
        }
        worst = worst.max(e);
    }
    worst
}

/// How much is measured.
#[derive(Clone, Copy, PartialEq)]
enum Extent {
    Sample,
    All,
}

/// The columns of the table.
const COLUMNS: [&str; 7] =
    ["function", "`f16`", "`bf16`", "`f32`", "`f64`", "`f32` interpreted", "`f64` interpreted"];

/// One row of the table.
fn row(function: &Function, extent: Extent) -> Vec<f64> {
    let op = &function.op;
    let all_16: Vec<Vec<u64>> = vec![(0..1 << 16).collect()];
    let near = |x: &[f64]| ((function.real)(x[0]), 0.0);
    let single: Vec<u64> = points_f32(20_000).iter().map(|x| x.to_bits().into()).collect();
    let count = if extent == Extent::All { 4_000 } else { 40 };
    let double: Vec<u64> = points_f64(count).iter().map(|x| x.to_bits()).collect();
    let mut big = Big::new();
    let wanted: std::collections::HashMap<u64, Wanted> =
        double.iter().map(|&x| (x, function.wanted(&mut big, f64::from_bits(x)))).collect();
    let precise = |x: &[f64]| wanted.get(&x[0].to_bits()).copied().unwrap_or((f64::NAN, 0.0));
    let (single, double) = (vec![single], vec![double]);
    let sampled = greatest(Engine::Compiled, op, ElementType::F32, &single, near);
    let f32_compiled = match extent {
        Extent::Sample => sampled,
        Extent::All => sampled.max(every_f32(op)),
    };
    vec![
        greatest(Engine::Compiled, op, ElementType::F16, &all_16, near),
        greatest(Engine::Compiled, op, ElementType::Bf16, &all_16, near),
        f32_compiled,
        greatest(Engine::Compiled, op, ElementType::F64, &double, precise),
        greatest(Engine::Interpreted, op, ElementType::F32, &single, near),
        greatest(Engine::Interpreted, op, ElementType::F64, &double, precise),
    ]
}

/// Of so many numbers of `f32` one is measured: all, unless `ULP_STEP` says otherwise.
fn step() -> u32 {
    std::env::var("ULP_STEP").ok().and_then(|s| s.parse().ok()).unwrap_or(1).max(1)
}

/// The greatest error over all numbers of `f32`, against the compiled function of `f64`.
fn every_f32(op: &Op) -> f64 {
    const CHUNK: u32 = 1 << 16;
    let step = step();
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get()) as u32;
    std::thread::scope(|scope| {
        let part = |first: u32| {
            scope.spawn(move || {
                let single = Compiled::new(op.clone(), ElementType::F32, &[ElementType::F32]);
                let double = Compiled::new(op.clone(), ElementType::F64, &[ElementType::F64]);
                let count = u32::MAX / step;
                let chunks = (first..=count / CHUNK).step_by(threads as usize);
                let chunk = |n: u32| (0..CHUNK).map(move |i| (n * CHUNK + i).wrapping_mul(step));
                chunks.fold(0f64, |worst, n| worst.max(errors_of_f32(&single, &double, chunk(n))))
            })
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().map(|p| p.join().expect("a thread")).fold(0.0, f64::max)
    })
}

fn errors_of_f32(single: &Compiled, double: &Compiled, patterns: impl Iterator<Item = u32>) -> f64 {
    let x: Vec<f32> = patterns.map(f32::from_bits).collect();
    let wide: Vec<f64> = x.iter().map(|&x| x.into()).collect();
    let got: Vec<u8> = single.run(&[bytemuck::cast_slice(&x)]);
    let want: Vec<u8> = double.run(&[bytemuck::cast_slice(&wide)]);
    let pairs = got.chunks_exact(4).zip(want.chunks_exact(8));
    pairs.fold(0, |worst, (got, want)| {
        let (got, want) = (f32::from_bytes(got), f64::from_bytes(want));
        // Most are nearer than what was seen already, which takes no exact answer to see.
        let scale = f64::from_bits((0x7fe - (want.to_bits() >> 52 & 0x7ff).clamp(897, 0x7fd)) << 52);
        let units = ((f64::from(got) - want) * scale).abs() * f64::from(1 << 23);
        let close = units.is_finite() && (got != 0.0 || want == 0.0) && (units * 1e6) as u64 <= worst;
        if close && (got != 0.0 || got.is_sign_negative() == want.is_sign_negative()) {
            return worst;
        }
        worst.max((error(&FloatFormat::F32, got.into(), (want, 0.0)) * 1e6) as u64)
    }) as f64
        / 1e6
}

/// Rows of the functions of two arguments, at a sample.
fn binary_rows(extent: Extent) -> Vec<(String, Vec<f64>)> {
    let count = if extent == Extent::All { 20_000 } else { 300 };
    let mut random = Random(9);
    let mut unit = || (random.next() >> 11) as f64 / 2f64.powi(53);
    let (mut xs, mut ys) = (vec![0.0, -0.0, 1.0, f64::INFINITY], vec![1.0, 2.0, f64::NAN, -1.0]);
    for _ in 0..count {
        xs.extend([unit() * 4.0, 1.0 + (unit() - 0.5) * 1e-3, (unit() * 600.0 - 300.0).exp2(), unit() - 0.5]);
        ys.extend([unit() * 40.0 - 20.0, (unit() - 0.5) * 1e4, unit() * 4.0 - 2.0, (unit() * 20.0).round()]);
    }
    type Real = fn(f64, f64) -> f64;
    type Precise = fn(&mut Big, &BigFloat, &BigFloat) -> BigFloat;
    let functions: [(Op, Real, Precise); 2] =
        [(Op::Power, libm::pow, Big::power), (Op::Atan2, libm::atan2, Big::atan2)];
    let rows = functions.into_iter().map(|(op, real, exact)| {
        let mut big = Big::new();
        let mut of = |ty: ElementType, engine| {
            let format = FloatFormat::of(ty).expect("a floating-point type");
            let bits = |v: &[f64]| v.iter().map(|&x| format.encode(x)).collect::<Vec<u64>>();
            greatest(engine, &op, ty, &[bits(&xs), bits(&ys)], |v| {
                let near = real(v[0], v[1]);
                let ordinary = v.iter().all(|x| *x != 0.0 && x.is_finite()) && ty == ElementType::F64;
                precise(near, ordinary, || exact(&mut big, &Big::num(v[0]), &Big::num(v[1])))
            })
        };
        let row = vec![
            of(ElementType::F16, Engine::Compiled),
            of(ElementType::Bf16, Engine::Compiled),
            of(ElementType::F32, Engine::Compiled),
            of(ElementType::F64, Engine::Compiled),
            of(ElementType::F32, Engine::Interpreted),
            of(ElementType::F64, Engine::Interpreted),
        ];
        (op.name().to_string(), row)
    });
    rows.collect()
}

fn table(extent: Extent) -> Vec<(String, Vec<f64>)> {
    let unary = functions().into_iter().map(|f| {
        let row = row(&f, extent);
        println!("{} {row:?}", f.op.name());
        (f.op.name().to_string(), row)
    });
    let mut rows: Vec<(String, Vec<f64>)> = unary.collect();
    rows.extend(binary_rows(extent));
    rows
}

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/numerics.md");

/// The rows of the table in the documentation.
fn documented() -> Vec<(String, Vec<f64>)> {
    let text = std::fs::read_to_string(DOCS).expect("docs/numerics.md");
    let rows = text.lines().filter(|l| l.starts_with("| ")).skip(1);
    let cells = |line: &str| -> Vec<String> { line.split('|').map(|c| c.trim().to_string()).collect() };
    rows.map(|line| {
        let cells = cells(line);
        let numbers = cells[2..cells.len() - 1].iter().map(|c| c.parse().expect("a number"));
        (cells[1].clone(), numbers.collect())
    })
    .collect()
}

/// XLA's own bounds for `f32` and `f64`: how many numbers a result may be away from the correctly rounded one.
const BUDGETS: [(&str, f64, f64); 8] = [
    ("exponential", 6.0, 1.0),
    ("log", 1.0, 1.0),
    ("log-plus-one", 1.0, 1.0),
    ("tanh", 3.0, 4.0),
    ("sine", 1.0, 1.0),
    ("cosine", 1.0, 1.0),
    ("atan2", 3.0, 2.0),
    ("rsqrt", 1.0, 1.0),
];

#[test]
fn errors_are_those_of_the_table_and_within_the_budgets_of_xla() {
    let documented = documented();
    let find = |name: &str| documented.iter().find(|d| d.0 == name).map(|d| d.1.clone());
    for (name, single, double) in BUDGETS {
        let row = find(name).unwrap_or_else(|| panic!("no row for {name}"));
        for (error, budget) in [(row[2], single), (row[3], double), (row[4], single), (row[5], double)] {
            // A result is so many numbers away from the nearest one.
            assert!(error <= budget + 0.5, "{name}: {row:?}");
        }
    }
    let mut bad = Vec::new();
    for (name, errors) in table(Extent::Sample) {
        let bounds = find(&name).unwrap_or_else(|| panic!("no row for {name}: `make ulp` writes the table"));
        bad.extend(
            errors
                .iter()
                .zip(&bounds)
                .zip(&COLUMNS[1..])
                .filter(|((e, b), _)| e > b)
                .map(|((error, bound), column)| format!("{name} {column}: {error}, the table has {bound}")),
        );
    }
    assert!(bad.is_empty(), "{}", bad.join("\n"));
}

#[test]
#[ignore = "takes long: `make ulp`"]
fn all_errors_are_measured() {
    let mut lines =
        vec![format!("| {} |", COLUMNS.join(" | ")), format!("|{}", "---|".repeat(COLUMNS.len()))];
    if step() > 1 {
        lines[0] = lines[0].replacen("`f32` |", &format!("`f32`, one bit pattern of {} |", step()), 1);
    }
    for (name, errors) in table(Extent::All) {
        assert!(
            errors.iter().all(|e| e.is_finite()),
            "{name}: a wrong NaN, infinity or sign of zero: {errors:?}"
        );
        // Rounded up: the table is a bound.
        let cells = errors.iter().map(|e| format!("{:.2}", (e * 100.0).ceil() / 100.0));
        lines.push(format!("| {name} | {} |", cells.collect::<Vec<_>>().join(" | ")));
    }
    let text = std::fs::read_to_string(DOCS).expect("docs/numerics.md");
    let before = text.lines().take_while(|l| !l.starts_with('|'));
    let after = text.lines().skip_while(|l| !l.starts_with('|')).skip_while(|l| l.starts_with('|'));
    let all: Vec<&str> = before.chain(lines.iter().map(String::as_str)).chain(after).collect();
    std::fs::write(DOCS, all.join("\n") + "\n").expect("docs/numerics.md is written");
}
