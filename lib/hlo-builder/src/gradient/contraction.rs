//! Gradients of contractions and of operations that can be written as contractions: dot products,
//! convolutions and windowed sums.
//!
//! A contraction combines the elements `S[g(x)]` into `O[f(x)]` for all valid indices `x`. Its gradient with
//! respect to `S` is a contraction over the same indices. It reads the gradient of `O` at `f(x)` and the
//! other operands. The accesses that it no longer reads remain as constraints, so that the same indices are
//! valid.

use super::{Gradients, Step};
use crate::Value;
use hlo_ir::attr::{ConvolutionAttrs, DotAttrs, ReduceWindowAttrs};
use hlo_ir::contraction::{Affine, Aggregation, Combination, Constraint, Contraction};
use hlo_ir::{ArrayShape, ElementType, Op, Opcode, Shape};

/// Maximum number of combined values that the gradient of a maximum of combinations stores.
const MAX_STORED_COMBINATIONS: i128 = 1 << 28;

/// A contraction with its operands, its result and the gradient of its result.
#[derive(Clone)]
struct Contracted<'b> {
    contraction: Contraction,
    operands: Vec<Value<'b>>,
    result: Value<'b>,
    gradient: Value<'b>,
}

impl<'b> Step<'b> {
    /// Returns the gradients of a contraction with respect to its operands, or `None` for other operations.
    pub(super) fn of_contraction(&self) -> Result<Option<Gradients<'b>>, String> {
        let contraction = match &self.op {
            Op::Contraction(a) => a.access.clone(),
            Op::Dot(a) => of_dot(a, self.array(self.operands[0]).rank(), self.array(self.operands[1]).rank()),
            Op::Convolution(a) => {
                let kernel = self.array(self.operands[1]);
                of_convolution(a, &kernel).ok_or(
                    "`convolution` has gradients without dilation of its input and without batch groups only",
                )?
            }
            Op::ReduceWindow(a) if self.operands.len() == 2 => self.of_windows(a)?,
            _ => return Ok(None),
        };
        let read = contraction.operands.len();
        let (operands, rest) = self.operands.split_at_checked(read).ok_or("a contraction lacks operands")?;
        let contracted = Contracted {
            contraction,
            operands: operands.to_vec(),
            result: self.result,
            gradient: self.gradient,
        };
        let mut out = Vec::with_capacity(self.operands.len());
        for number in 0..read {
            out.push(if self.is_active[number] { self.by_operand(&contracted, number)? } else { None });
        }
        match (&self.op, rest) {
            (Op::Contraction(_), [_]) => out.push(Some(self.by_default(&contracted))),
            (Op::ReduceWindow(_), _) if self.is_active[1] => {
                return Err("`reduce-window` has no gradient by its initial value here".into());
            }
            _ => out.extend(rest.iter().map(|_| None)),
        }
        Ok(Some(out))
    }

    /// Adds a contraction over the valid indices of another one. Its constraints are those of the other
    /// contraction plus one for each access that it no longer reads. An index that occurs only in constraints
    /// must still be counted. In this case, the contraction also reads ones with the access that contains the
    /// index.
    fn contracted(
        &self,
        of: &Contracted<'b>,
        shape: ArrayShape,
        (output, aggregation, mut combination): (Vec<Affine>, Aggregation, Combination),
        mut read: Vec<(Vec<Affine>, Value<'b>)>,
    ) -> Value<'b> {
        let mut constraints = of.contraction.constraints.clone();
        let all = of.contraction.operands.iter().zip(&of.operands);
        for (access, operand) in all.chain([(&of.contraction.output, &of.result)]) {
            let sizes = self.array(*operand).dims;
            let is_read = |(a, v): &(Vec<Affine>, Value<'b>)| a == access && self.array(*v).dims == sizes;
            if (*access == output && shape.dims == sizes) || read.iter().any(is_read) {
                continue;
            }
            let has = |list: &[Affine], index: usize| list.iter().any(|e| e.depends_on(index));
            let is_known = |index: usize| has(&output, index) || read.iter().any(|(a, _)| has(a, index));
            let hides = (0..of.contraction.indices).any(|i| has(access, i) && !is_known(i));
            if hides && combination == Combination::Single {
                let element_type = self.array(read[0].1).element_type;
                let ones = match element_type {
                    ElementType::Pred => self.builder.constant_r0(true).broadcast(&sizes),
                    other => self.builder.full(&ArrayShape::new(other, sizes.iter().copied()), 1.0),
                };
                read.push((access.clone(), ones));
                combination = Combination::Multiply;
                continue;
            }
            let strips = access.iter().zip(&sizes);
            constraints.extend(strips.map(|(index, &bound)| Constraint { index: index.clone(), bound }));
        }
        let (accesses, operands): (Vec<_>, Vec<_>) = read.into_iter().unzip();
        let contraction = Contraction {
            indices: of.contraction.indices,
            output,
            operands: accesses,
            aggregation,
            combination,
            constraints,
        };
        self.builder.contraction(Shape::Array(shape), contraction, &operands, None)
    }

    /// Returns the gradient with respect to operand `number`.
    fn by_operand(&self, of: &Contracted<'b>, number: usize) -> Result<Option<Value<'b>>, String> {
        let c = &of.contraction;
        let own = &c.operands[number];
        let gradient = (c.output.clone(), of.gradient);
        let other = |n: usize| (c.operands[n].clone(), of.operands[n]);
        let (combination, read) = match (c.aggregation, c.combination) {
            (Aggregation::Product, _) => return Err("a contraction by `*=` has no gradient here".into()),
            (_, Combination::Equal) => return Ok(None),
            (Aggregation::Sum | Aggregation::Assign, Combination::Single | Combination::Add) => {
                (Combination::Single, vec![gradient])
            }
            (Aggregation::Sum | Aggregation::Assign, Combination::Multiply) => {
                (Combination::Multiply, vec![gradient, other(1 - number)])
            }
            (Aggregation::Sum | Aggregation::Assign, Combination::Select) => {
                if number < 2 {
                    return Ok(None);
                }
                (Combination::Select, vec![other(0), other(1), gradient])
            }
            (Aggregation::Max | Aggregation::Min, Combination::Single) => {
                (Combination::Select, vec![other(0), (c.output.clone(), of.result), gradient])
            }
            (Aggregation::Max | Aggregation::Min, _) => return self.by_combined(of, number),
        };
        let shape = self.array(of.operands[number]);
        let how = (own.clone(), Aggregation::Sum, combination);
        Ok(Some(self.contracted(of, shape, how, read)))
    }

    /// Returns the gradient of a maximum or minimum of combinations. It stores all combined values in an
    /// array.
    fn by_combined(&self, of: &Contracted<'b>, number: usize) -> Result<Option<Value<'b>>, String> {
        let c = &of.contraction;
        let shape = self.array(of.result);
        let shapes: Vec<Shape> = of.operands.iter().map(|&o| Shape::Array(self.array(o))).collect();
        let nest = c.nest(&Shape::Array(shape.clone()), &shapes.iter().collect::<Vec<_>>());
        let Ok(Some(nest)) = nest else { return Ok(None) };
        let ranges = nest.ranges();
        let (mut access, mut sizes, mut count) = (Vec::new(), Vec::new(), 1_i128);
        for index in 0..c.indices {
            let (low, high) = nest
                .in_variables(&Affine::index(index, c.indices))
                .extremes(&ranges)
                .ok_or("the indices are too large")?;
            count = count.saturating_mul(high - low + 1);
            if count > MAX_STORED_COMBINATIONS {
                return Err(format!(
                    "the gradient of a maximum of combinations needs all of them at once, more than {MAX_STORED_COMBINATIONS}"
                ));
            }
            let mut affine = Affine::index(index, c.indices);
            affine.constant = -(low as i64);
            access.push(affine);
            sizes.push((high - low + 1) as i64);
        }
        let combined_shape = ArrayShape::new(shape.element_type, sizes);
        let read = c.operands.iter().cloned().zip(of.operands.iter().copied()).collect();
        let how = (access.clone(), Aggregation::Assign, c.combination);
        let combined = self.contracted(of, combined_shape.clone(), how, read);
        // Only the combined values that equal the result receive its gradient.
        let read =
            vec![(access.clone(), combined), (c.output.clone(), of.result), (c.output.clone(), of.gradient)];
        let how = (access.clone(), Aggregation::Sum, Combination::Select);
        let gradient = self.contracted(of, combined_shape, how, read);
        let output = self.array(of.result).dims;
        let strips = c.output.iter().zip(&output);
        let strips = strips.map(|(index, &bound)| Constraint { index: index.clone(), bound });
        let contraction = Contraction {
            output: access,
            aggregation: Aggregation::Assign,
            constraints: c.constraints.iter().cloned().chain(strips).collect(),
            ..c.clone()
        };
        let made = Contracted { contraction, operands: of.operands.clone(), result: combined, gradient };
        self.by_operand(&made, number)
    }

    /// Returns the gradient with respect to the default value: the gradient of the elements that no index
    /// writes.
    fn by_default(&self, of: &Contracted<'b>) -> Value<'b> {
        let shape = self.array(of.result).with_element_type(ElementType::Pred);
        let first = self.array(of.operands[0]).dims;
        let ones = self.builder.constant_r0(true).broadcast(&first);
        let how = (of.contraction.output.clone(), Aggregation::Max, Combination::Single);
        let written = self.contracted(of, shape, how, vec![(of.contraction.operands[0].clone(), ones)]);
        written.select(self.like(self.gradient, 0.0), self.gradient)
    }

    /// Converts a windowed sum, maximum or minimum to a contraction.
    fn of_windows(&self, a: &ReduceWindowAttrs) -> Result<Contraction, String> {
        let aggregation = {
            let module = self.builder.module();
            match module[module[a.to_apply].root()].op.opcode() {
                Opcode::Add => Aggregation::Sum,
                Opcode::Maximum => Aggregation::Max,
                Opcode::Minimum => Aggregation::Min,
                _ => return Err("`reduce-window` has gradients of sums, maxima and minima only".into()),
            }
        };
        let rank = a.window.dims.len();
        let (mut access, mut constraints) = (Vec::new(), Vec::new());
        for (d, w) in a.window.dims.iter().enumerate() {
            if w.lhs_dilate != 1 {
                return Err("`reduce-window` has no gradient here where its operand is dilated".into());
            }
            let mut index = Affine::constant(-w.pad_low, 2 * rank);
            index.coefficients[d] = w.stride;
            index.coefficients[rank + d] = w.rhs_dilate;
            access.push(index);
            constraints.push(Constraint { index: Affine::index(rank + d, 2 * rank), bound: w.size });
        }
        Ok(Contraction {
            indices: 2 * rank,
            output: (0..rank).map(|d| Affine::index(d, 2 * rank)).collect(),
            operands: vec![access],
            aggregation,
            combination: Combination::Single,
            constraints,
        })
    }
}

/// Converts a dot product to a contraction. Its indices are the dimensions of the result, then the
/// contracting dimensions.
fn of_dot(a: &DotAttrs, left: usize, right: usize) -> Contraction {
    let batch = a.lhs_batch_dims.len();
    let contracted = a.lhs_contracting_dims.len();
    let free = |rank: usize| rank.saturating_sub(batch + contracted);
    let result = batch + free(left) + free(right);
    let indices = result + contracted;
    let access = |rank: usize, batches: &[i64], contracts: &[i64], first: usize| {
        let mut next = first;
        let mut dim = |d: usize| {
            let at = |list: &[i64]| list.iter().position(|&b| b == d as i64);
            let index = at(batches).or_else(|| at(contracts).map(|n| result + n)).unwrap_or_else(|| {
                next += 1;
                next - 1
            });
            Affine::index(index, indices)
        };
        (0..rank).map(&mut dim).collect::<Vec<_>>()
    };
    Contraction {
        indices,
        output: (0..result).map(|d| Affine::index(d, indices)).collect(),
        operands: vec![
            access(left, &a.lhs_batch_dims, &a.lhs_contracting_dims, batch),
            access(right, &a.rhs_batch_dims, &a.rhs_contracting_dims, batch + free(left)),
        ],
        aggregation: Aggregation::Sum,
        combination: Combination::Multiply,
        constraints: Vec::new(),
    }
}

/// Converts a convolution to a contraction. Its indices are batch, group, output feature in the group, output
/// positions, input feature in the group, and kernel positions. Returns `None` if the input is dilated or if
/// there are batch groups.
fn of_convolution(a: &ConvolutionAttrs, kernel: &ArrayShape) -> Option<Contraction> {
    let window = &a.window.dims;
    if a.batch_groups() != 1 || window.iter().any(|w| w.lhs_dilate != 1) {
        return None;
    }
    let labels = &a.dim_labels;
    let spatial = window.len();
    let indices = 4 + 2 * spatial;
    let (batch, group, feature, input) = (0, 1, 2, 3 + spatial);
    let size = |d: i64| kernel.dims.get(usize::try_from(d).ok()?).copied();
    let inputs = size(labels.kernel_input_feature)?;
    let outputs = size(labels.kernel_output_feature)? / a.feature_groups();
    let in_group = |size: i64, index: usize| {
        let mut affine = Affine::index(index, indices);
        affine.coefficients[group] = size;
        affine
    };
    let arrange = |rank: usize, places: Vec<(i64, Affine)>| -> Option<Vec<Affine>> {
        let mut out = vec![Affine::constant(0, indices); rank];
        for (d, affine) in places {
            *out.get_mut(usize::try_from(d).ok()?)? = affine;
        }
        Some(out)
    };
    let rank = spatial + 2;
    let mut output = vec![
        (labels.output_batch, Affine::index(batch, indices)),
        (labels.output_feature, in_group(outputs, feature)),
    ];
    let mut left = vec![
        (labels.input_batch, Affine::index(batch, indices)),
        (labels.input_feature, in_group(inputs, input)),
    ];
    let mut right = vec![
        (labels.kernel_input_feature, Affine::index(input, indices)),
        (labels.kernel_output_feature, in_group(outputs, feature)),
    ];
    for (d, w) in window.iter().enumerate() {
        let (place, tap) = (3 + d, 4 + spatial + d);
        let mut at = Affine::constant(-w.pad_low, indices);
        at.coefficients[place] = w.stride;
        at.coefficients[tap] = w.rhs_dilate;
        if w.reversed {
            at.coefficients[tap] = -w.rhs_dilate;
            at.constant += w.rhs_dilate * (w.size - 1);
        }
        output.push((*labels.output_spatial.get(d)?, Affine::index(place, indices)));
        left.push((*labels.input_spatial.get(d)?, at));
        right.push((*labels.kernel_spatial.get(d)?, Affine::index(tap, indices)));
    }
    let within = |index: usize, bound: i64| Constraint { index: Affine::index(index, indices), bound };
    Some(Contraction {
        indices,
        output: arrange(rank, output)?,
        operands: vec![arrange(rank, left)?, arrange(rank, right)?],
        aggregation: Aggregation::Sum,
        combination: Combination::Multiply,
        constraints: vec![within(group, a.feature_groups()), within(feature, outputs), within(input, inputs)],
    })
}
