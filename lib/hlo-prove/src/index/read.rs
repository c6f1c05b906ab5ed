//! The elements of arrays as terms of the solver.
//!
//! An element is a value of an uninterpreted sort, and an elementwise operation an uninterpreted function, because
//! rules that move elements do not depend on their values.

use super::instance::{Kind, Node};
use super::number::{Number, all, any, product};
use crate::semantics::Untranslated;
use hlo_ir::Opcode;
use hlo_passes::rewriting::{Entry, Relation, comparison_direction};
use std::collections::BTreeSet;
use std::rc::Rc;

type Result<T> = std::result::Result<T, Untranslated>;

/// The declarations and formulas that the terms of elements need.
#[derive(Default)]
pub struct Reader {
    /// Whether the elements of variables are functions of their positions in row-major order. Reshapes keep
    /// these.
    by_position: bool,
    declarations: BTreeSet<String>,
    /// The formulas.
    pub formulas: Vec<String>,
    integers: usize,
}

impl Reader {
    /// Creates a reader. `by_position` is true if the clause has reshapes.
    pub fn new(by_position: bool) -> Self {
        Self { by_position, ..Self::default() }
    }

    /// Returns the declarations.
    pub fn declarations(&self) -> String {
        let lines: String = self.declarations.iter().map(|line| format!("{line}\n")).collect();
        let integers: String = (0..self.integers).map(|n| format!("(declare-const j{n} Int)\n")).collect();
        format!("(declare-sort E 0)\n{lines}{integers}")
    }

    fn integer(&mut self) -> Number {
        self.integers += 1;
        Number::Term(format!("j{}", self.integers - 1))
    }

    /// Returns the formula that an element of one array differs from an element of another one. The indices are
    /// in bounds.
    ///
    /// # Errors
    /// An operation has no translation.
    pub fn differ(&mut self, a: &Rc<Node>, b: &Rc<Node>, index: &[Number]) -> Result<String> {
        let (a, a_index) = self.origin(a, index.to_vec())?;
        // The driver repeats a scalar replacement.
        let b_index = if b.dims.is_empty() { Vec::new() } else { index.to_vec() };
        let (b, b_index) = self.origin(b, b_index)?;
        let (Some(first), Some(second)) = (reduction(&a), reduction(&b)) else {
            let (a, b) = (self.element(&a, &a_index)?, self.element(&b, &b_index)?);
            return Ok(if a == b { "false".to_string() } else { format!("(not (= {a} {b}))") });
        };
        // Both combine the same elements in the same order, beginning with the same value.
        let different = |a: &Number, b: &Number| format!("(not {})", a.equals(b));
        if first.computation != second.computation || first.sizes.len() != second.sizes.len() {
            return Ok("true".to_string());
        }
        let mut found: Vec<String> =
            first.sizes.iter().zip(&second.sizes).map(|(a, b)| different(a, b)).collect();
        let reduced: Vec<Number> = first.sizes.iter().map(|_| self.integer()).collect();
        let in_bounds = all(reduced.iter().zip(&first.sizes).map(|(n, size)| n.is_below(size)));
        let (x, y) = (first.index(&a_index, &reduced), second.index(&b_index, &reduced));
        let (x, y) = (self.element(first.operand, &x)?, self.element(second.operand, &y)?);
        found.push(all([in_bounds, format!("(not (= {x} {y}))")]));
        let (x, y) = (self.element(first.init, &[])?, self.element(second.init, &[])?);
        found.push(format!("(not (= {x} {y}))"));
        Ok(any(found))
    }

    /// Follows operations that only move elements. Returns the value that contains the element, and its index.
    fn origin(&mut self, node: &Rc<Node>, index: Vec<Number>) -> Result<(Rc<Node>, Vec<Number>)> {
        let (mut node, mut index) = (node.clone(), index);
        while let Some((next, at)) = self.moved(&node, &index)? {
            (node, index) = (next, at);
        }
        Ok((node, index))
    }

    /// Returns the operand that an operation moves, and the index of an element in it.
    fn moved(&mut self, node: &Node, index: &[Number]) -> Result<Option<(Rc<Node>, Vec<Number>)>> {
        let Kind::Operation { opcode, numbers, operands, rest, .. } = &node.kind else { return Ok(None) };
        let Some(x) = operands.first() else { return Ok(None) };
        let place = |n: &Number| match n {
            Number::Known(n) => usize::try_from(*n).unwrap_or(usize::MAX),
            Number::Term(_) => usize::MAX,
        };
        let at = match opcode {
            Opcode::Slice => {
                let steps = index.iter().zip(&numbers[2]).map(|(i, stride)| i.times(stride));
                steps.zip(&numbers[0]).map(|(step, start)| start.plus(&step)).collect()
            }
            Opcode::Reverse => {
                let all = index.iter().zip(&x.dims).zip(&numbers[0]);
                all.map(|((i, size), flag)| {
                    let other = size.minus(&Number::Known(1)).minus(i);
                    let none = || Some(i.clone());
                    Number::choose(Relation::Equal, flag.clone(), Number::Known(0), none, || Some(other))
                        .unwrap_or_else(|| i.clone())
                })
                .collect()
            }
            Opcode::Transpose => {
                let mut at = index.to_vec();
                index.iter().zip(&numbers[0]).for_each(|(i, d)| at[place(d)] = i.clone());
                at
            }
            Opcode::Broadcast => numbers[0].iter().map(|d| index[place(d)].clone()).collect(),
            Opcode::DynamicSlice => {
                let starts = starts(rest, &node.dims, &x.dims);
                index.iter().zip(starts).map(|(i, start)| start.plus(i)).collect()
            }
            Opcode::Reshape => {
                // The index with the same position, if this index is in bounds.
                let at: Vec<Number> = x.dims.iter().map(|_| self.integer()).collect();
                let in_bounds = all(index.iter().zip(&node.dims).map(|(i, size)| i.is_below(size)));
                let valid = all(at.iter().zip(&x.dims).map(|(i, size)| i.is_below(size)));
                let same = position(&at, &x.dims).equals(&position(index, &node.dims));
                self.formulas.push(format!("(=> {in_bounds} {})", all([valid, same])));
                at
            }
            _ => return Ok(None),
        };
        Ok(Some((x.clone(), at)))
    }

    /// Returns an element.
    fn element(&mut self, node: &Rc<Node>, index: &[Number]) -> Result<String> {
        let (node, index) = self.origin(node, index.to_vec())?;
        let (opcode, direction, numbers, operands, rest) = match &node.kind {
            Kind::Leaf(v) => return Ok(self.leaf(*v, &node.dims, &index)),
            Kind::Constant(text) => return Ok(self.function(&constant_name(text), &[])),
            Kind::Operation { opcode, direction, numbers, operands, rest } => {
                (*opcode, *direction, numbers, operands, rest)
            }
        };
        match opcode {
            Opcode::Iota => {
                let Some(Number::Known(d)) = numbers[0].first() else { return Err(missing(opcode)) };
                self.declarations.insert("(declare-fun iota (Int) E)".to_string());
                let zero = self.function(&constant_name("Integer(0)"), &[]);
                self.formulas.push(format!("(= (iota 0) {zero})"));
                Ok(format!("(iota {})", index[*d as usize]))
            }
            Opcode::Pad => {
                let (x, value) = (&operands[0], self.element(&operands[1], &[])?);
                let (mut inside, mut at) = (Vec::new(), Vec::new());
                for (d, i) in index.iter().enumerate() {
                    let offset = i.minus(&numbers[0][d]);
                    let step = numbers[2][d].plus(&Number::Known(1));
                    let place = match step {
                        Number::Known(1) => offset.clone(),
                        // The quotient exists if the remainder is 0.
                        ref step => {
                            inside.push(format!("(= (mod {offset} {step}) 0)"));
                            Number::Term(format!("(div {offset} {step})"))
                        }
                    };
                    inside.push(format!("(<= 0 {offset})"));
                    inside.push(format!("(< {place} {})", x.dims[d]));
                    at.push(place);
                }
                let element = self.element(x, &at)?;
                Ok(format!("(ite {} {element} {value})", all(inside)))
            }
            Opcode::Concatenate => {
                let Some(Number::Known(d)) = numbers[0].first() else { return Err(missing(opcode)) };
                self.joined(operands, &index, *d as usize)
            }
            Opcode::DynamicUpdateSlice => {
                let (x, update) = (&operands[0], &operands[1]);
                let starts = starts(rest, &update.dims, &x.dims);
                let at: Vec<Number> = index.iter().zip(&starts).map(|(i, start)| i.minus(start)).collect();
                let inside = all(at.iter().zip(&update.dims).map(|(i, size)| i.is_below(size)));
                let (new, old) = (self.element(update, &at)?, self.element(x, &index)?);
                Ok(format!("(ite {inside} {new} {old})"))
            }
            _ if opcode.is_elementwise() => {
                let mut elements = Vec::new();
                for operand in operands {
                    // Some operands can be scalars.
                    let at = if operand.dims.len() < index.len() { &[][..] } else { &index[..] };
                    elements.push(self.element(operand, at)?);
                }
                if opcode == Opcode::Select {
                    self.declarations.insert("(declare-fun truth (E) Bool)".to_string());
                    return Ok(format!("(ite (truth {}) {} {})", elements[0], elements[1], elements[2]));
                }
                let direction = direction.map_or("", |d| comparison_direction(d).text());
                Ok(self.function(&format!("{} {direction}", opcode.name()), &elements))
            }
            _ => Err(missing(opcode)),
        }
    }

    fn joined(&mut self, operands: &[Rc<Node>], index: &[Number], d: usize) -> Result<String> {
        let [first, others @ ..] = operands else { return Err(missing(Opcode::Concatenate)) };
        let here = self.element(first, index)?;
        if others.is_empty() {
            return Ok(here);
        }
        let mut next = index.to_vec();
        next[d] = index[d].minus(&first.dims[d]);
        let there = self.joined(others, &next, d)?;
        Ok(format!("(ite (< {} {}) {here} {there})", index[d], first.dims[d]))
    }

    fn leaf(&mut self, variable: usize, dims: &[Number], index: &[Number]) -> String {
        let index = if self.by_position { &[position(index, dims)][..] } else { index };
        let domain = vec!["Int"; index.len()].join(" ");
        self.declarations.insert(format!("(declare-fun x{variable} ({domain}) E)"));
        if index.is_empty() {
            return format!("x{variable}");
        }
        let index: Vec<String> = index.iter().map(Number::to_string).collect();
        format!("(x{variable} {})", index.join(" "))
    }

    fn function(&mut self, name: &str, operands: &[String]) -> String {
        let domain = vec!["E"; operands.len()].join(" ");
        self.declarations.insert(format!("(declare-fun |{name}| ({domain}) E)"));
        if operands.is_empty() { format!("|{name}|") } else { format!("(|{name}| {})", operands.join(" ")) }
    }
}

fn constant_name(text: &str) -> String {
    format!("constant {text}")
}

/// Returns the clamped starts of a window.
fn starts(rest: &[Number], window: &[Number], dims: &[Number]) -> Vec<Number> {
    let all = rest.iter().zip(window).zip(dims);
    all.map(|((start, n), size)| {
        if n == size {
            return Number::Known(0);
        }
        let last = size.minus(n);
        Number::Term(format!("(ite (< {start} 0) 0 (ite (< {last} {start}) {last} {start}))"))
    })
    .collect()
}

/// Returns the position of an element in row-major order.
fn position(index: &[Number], dims: &[Number]) -> Number {
    let terms = index.iter().enumerate().map(|(d, i)| i.times(&product(&dims[d + 1..])));
    terms.fold(Number::Known(0), |sum, term| sum.plus(&term))
}

/// A reduction: its operands, its computation, and its set of dimensions.
struct Reduction<'n> {
    operand: &'n Rc<Node>,
    init: &'n Rc<Node>,
    computation: &'n [Number],
    set: &'n [Number],
    /// The sizes of the reduced dimensions.
    sizes: Vec<Number>,
}

fn reduction(node: &Node) -> Option<Reduction<'_>> {
    match &node.kind {
        Kind::Operation { opcode: Opcode::Reduce, numbers, operands, .. } => {
            let [operand, init] = &operands[..] else { return None };
            let reduced = operand.dims.iter().zip(&numbers[0]).filter(|(_, flag)| **flag != Number::Known(0));
            let sizes = reduced.map(|(size, _)| size.clone()).collect();
            Some(Reduction { operand, init, computation: &numbers[1], set: &numbers[0], sizes })
        }
        _ => None,
    }
}

impl Reduction<'_> {
    /// Returns the index in the operand for an index of the result and one of the reduced dimensions.
    fn index(&self, result: &[Number], reduced: &[Number]) -> Vec<Number> {
        let (mut result, mut reduced) = (result.iter(), reduced.iter());
        let next = |flag: &Number| {
            let from = if *flag == Number::Known(0) { result.next() } else { reduced.next() };
            from.cloned().unwrap_or(Number::Known(0))
        };
        self.set.iter().map(next).collect()
    }
}

fn missing(opcode: Opcode) -> Untranslated {
    Untranslated(format!("`{}` has no translation", opcode.name()))
}
