//! Matrices for tests, and calls of both implementations of LAPACK's routines: this crate's and the
//! interpreter's.

use hlo_custom_call::{ApiVersion, ArrayType, CallSite, Registry, ValueType};
use num_complex::Complex;

pub type C = Complex<f64>;

/// Returns both implementations with their names.
pub fn registries() -> [(&'static str, Registry); 2] {
    let (mut fast, mut plain) = (Registry::new(), Registry::new());
    fast.add(hlo_lapack::LAPACK);
    plain.add(hlo_eval::lapack::LAPACK);
    [("hlo-lapack", fast), ("hlo-eval", plain)]
}

/// A matrix of complex numbers, column by column.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<C>,
}

impl Matrix {
    pub fn new(rows: usize, columns: usize, f: impl Fn(usize, usize) -> C) -> Matrix {
        let values = (0..rows * columns).map(|at| f(at % rows.max(1), at / rows.max(1))).collect();
        Matrix { rows, columns, values }
    }

    pub fn get(&self, i: usize, j: usize) -> C {
        self.values[i + j * self.rows]
    }

    pub fn times(&self, other: &Matrix) -> Matrix {
        assert_eq!(self.columns, other.rows);
        let sum = |i, j| (0..self.columns).map(|k| self.get(i, k) * other.get(k, j)).sum();
        Matrix::new(self.rows, other.columns, sum)
    }

    pub fn adjoint(&self) -> Matrix {
        Matrix::new(self.columns, self.rows, |i, j| self.get(j, i).conj())
    }

    pub fn identity(n: usize) -> Matrix {
        Matrix::new(n, n, |i, j| C::from(f64::from(u8::from(i == j))))
    }

    /// Returns a matrix with these values on its diagonal.
    pub fn diagonal(rows: usize, columns: usize, values: &[C]) -> Matrix {
        Matrix::new(rows, columns, |i, j| if i == j { values[i] } else { C::from(0.0) })
    }

    /// Returns the first `count` columns.
    pub fn first_columns(&self, count: usize) -> Matrix {
        Matrix::new(self.rows, count, |i, j| self.get(i, j))
    }

    #[track_caller]
    pub fn close_to(&self, other: &Matrix, what: &str) {
        self.is_within(1e-10, other, what);
    }

    #[track_caller]
    pub fn is_within(&self, tolerance: f64, other: &Matrix, what: &str) {
        assert_eq!((self.rows, self.columns), (other.rows, other.columns), "{what}");
        let scale = other.values.iter().map(|z| z.norm()).fold(1.0, f64::max);
        for (a, b) in self.values.iter().zip(&other.values) {
            assert!((a - b).norm() <= tolerance * scale, "{what}: {a} and {b} of\n{self:?}\n{other:?}");
        }
    }
}

/// A pseudorandom number generator.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn next(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn matrix(&mut self, rows: usize, columns: usize, complex: bool) -> Matrix {
        let values: Vec<C> = (0..rows * columns)
            .map(|_| C::new(self.next(), if complex { self.next() } else { 0.0 }))
            .collect();
        Matrix::new(rows, columns, |i, j| values[i + j * rows])
    }
}

/// An array of a call: the matrices of a batch, and the number of their dimensions after those of the batch.
#[derive(Clone, Debug)]
pub struct Array {
    pub element: &'static str,
    pub inner: usize,
    pub batch: Vec<Matrix>,
}

/// The layout of an array: `minor_to_major` as a function of the number of dimensions.
pub type Layout = fn(usize) -> Vec<usize>;

/// Row-major, column-major, and with interleaved matrices of a batch.
pub const LAYOUTS: [Layout; 3] = [
    |rank| (0..rank).rev().collect(),
    |rank| {
        let mut order: Vec<usize> = (0..rank).rev().collect();
        if rank > 1 {
            order.swap(0, 1);
        }
        order
    },
    |rank| (0..rank).collect(),
];

/// The type of an operand or result: the element type, and the sizes of each matrix, which are empty for a
/// number.
pub type Shape = (&'static str, Vec<usize>);

fn array_type(element: &str, dims: Vec<usize>, layout: Layout) -> ArrayType {
    let element_bytes = match element {
        "f32" | "s32" => 4,
        "c128" => 16,
        _ => 8,
    };
    ArrayType { element: element.into(), element_bytes, minor_to_major: layout(dims.len()), dims }
}

/// Returns the byte offset of an element of matrix number `b`.
fn place(ty: &ArrayType, batch: &[usize], mut b: usize, index: [usize; 2]) -> usize {
    let strides = ty.strides();
    let mut at = 0;
    for (d, &size) in batch.iter().enumerate().rev() {
        at += b % size * strides[d];
        b /= size;
    }
    let inner: usize = strides[batch.len()..].iter().zip(index).map(|(s, i)| s * i).sum();
    (at + inner) * ty.element_bytes
}

/// Calls a routine on a batch of these sizes.
pub fn call(
    registry: &Registry,
    (name, attributes): (&str, &str),
    operands: &[Array],
    results: &[Shape],
    (batch, layout): (&[usize], Layout),
) -> Vec<Array> {
    let count = batch.iter().product();
    let whole = |element: &'static str, inner: &[usize]| array_type(element, [batch, inner].concat(), layout);
    let mut inputs: Vec<(ArrayType, Vec<u8>)> = Vec::new();
    for operand in operands {
        let inner = operand.batch.first().map_or([0, 0], |m| [m.rows, m.columns]);
        let ty = whole(operand.element, &inner[..operand.inner]);
        let mut bytes = vec![0; ty.byte_size()];
        for (b, m) in operand.batch.iter().enumerate() {
            for (i, j) in (0..m.columns).flat_map(|j| (0..m.rows).map(move |i| (i, j))) {
                let z = to_bytes(operand.element, m.get(i, j));
                bytes[place(&ty, batch, b, [i, j])..][..z.len()].copy_from_slice(&z);
            }
        }
        inputs.push((ty, bytes));
    }
    let types: Vec<ArrayType> = results.iter().map(|(e, inner)| whole(e, inner)).collect();
    let mut result: Vec<ValueType> = types.iter().cloned().map(ValueType::Array).collect();
    let site = CallSite {
        target: name.into(),
        api: ApiVersion::TypedFfi,
        config: attributes.into(),
        operands: inputs.iter().map(|(ty, _)| ValueType::Array(ty.clone())).collect(),
        result: if result.len() == 1 { result.remove(0) } else { ValueType::Tuple(result) },
        aliases: Vec::new(),
    };
    let planned = registry.plan(site).unwrap();
    let views: Vec<&[u8]> = inputs.iter().map(|(_, bytes)| &**bytes).collect();
    let mut outputs: Vec<Vec<u8>> = types.iter().map(|t| vec![0xff; t.byte_size()]).collect();
    let mut places: Vec<&mut [u8]> = outputs.iter_mut().map(|o| &mut **o).collect();
    planned.call_here(&views, &mut places).unwrap();
    let array = |(element, inner): &Shape, ty: &ArrayType, bytes: &[u8]| {
        let at = |d: usize| inner.get(d).copied().unwrap_or(1);
        let number = |b, i, j| from_bytes(element, &bytes[place(ty, batch, b, [i, j])..]);
        let matrix = |b| Matrix::new(at(0), at(1), |i, j| number(b, i, j));
        Array { element, inner: inner.len(), batch: (0..count).map(matrix).collect() }
    };
    results.iter().zip(&types).zip(&outputs).map(|((r, t), o)| array(r, t, o)).collect()
}

fn to_bytes(element: &str, z: C) -> Vec<u8> {
    match element {
        "s32" => (z.re as i32).to_ne_bytes().into(),
        "f32" => (z.re as f32).to_ne_bytes().into(),
        "f64" => z.re.to_ne_bytes().into(),
        "c64" => [(z.re as f32).to_ne_bytes(), (z.im as f32).to_ne_bytes()].concat(),
        _ => [z.re.to_ne_bytes(), z.im.to_ne_bytes()].concat(),
    }
}

fn from_bytes(element: &str, bytes: &[u8]) -> C {
    let single = |at: usize| f64::from(f32::from_ne_bytes(*bytes[at..].first_chunk().unwrap()));
    let double = |at: usize| f64::from_ne_bytes(*bytes[at..].first_chunk().unwrap());
    match element {
        "s32" => C::from(f64::from(i32::from_ne_bytes(*bytes.first_chunk().unwrap()))),
        "f32" => C::from(single(0)),
        "f64" => C::from(double(0)),
        "c64" => C::new(single(0), single(4)),
        _ => C::new(double(0), double(8)),
    }
}
