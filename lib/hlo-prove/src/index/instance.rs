//! Instances of a pattern: arrays of given ranks whose sizes, and whose numbers of attributes, are terms of the
//! solver. Sets and orders of dimensions are known in an instance.

use super::number::{Number, all, any, product, same_list};
use crate::semantics::Untranslated;
use hlo_ir::Opcode;
use hlo_passes::rewriting::{
    Clause, Condition, Direction, Expression, Length, Lists, Operation, Relation, Term, common, entry, form,
    length, list_length,
};
use std::rc::Rc;

type Result<T> = std::result::Result<T, Untranslated>;

/// Maximum rank of the arrays of an instance.
pub const MAX_RANK: usize = 3;

/// Maximum number of instances of a pattern.
const MAX_INSTANCES: usize = 4096;

/// A value of an instance.
#[derive(Clone, Debug)]
pub struct Node {
    /// The sizes.
    pub dims: Vec<Number>,
    /// The operation that computes it.
    pub kind: Kind,
}

/// The operation that computes a value.
#[derive(Clone, Debug)]
pub enum Kind {
    /// A variable of the pattern.
    Leaf(usize),
    /// A constant, whose elements are all equal. It has the sizes that its user needs.
    Constant(String),
    /// An operation.
    Operation {
        /// The opcode.
        opcode: Opcode,
        /// The direction of a comparison.
        direction: Option<Direction>,
        /// The lists of numbers in attributes.
        numbers: Vec<Vec<Number>>,
        /// The operands.
        operands: Vec<Rc<Node>>,
        /// The values of the scalars at the end of the operands.
        rest: Vec<Number>,
    },
}

/// An instance with attributes of an operation.
struct Attributes {
    instance: Instance,
    /// The lists of numbers.
    numbers: Vec<Vec<Number>>,
    /// The sizes of the result if the operands do not determine them.
    written: Vec<Number>,
}

/// The parts of an operation that determine the sizes of its result.
struct Parts<'p> {
    numbers: &'p [Vec<Number>],
    operands: &'p [Rc<Node>],
    rest: &'p [Number],
    /// The sizes if the operands do not determine them.
    written: &'p [Number],
    /// Whether the operation is part of a replacement.
    is_replacement: bool,
}

/// The values of the variables in an instance, and what is known about its numbers.
#[derive(Clone, Debug)]
pub struct Instance {
    arrays: Vec<Option<Rc<Node>>>,
    lists: Vec<Option<Vec<Number>>>,
    rests: Vec<Option<Vec<Number>>>,
    /// Number of integers that are declared. Their names are `n0`, `n1`, ….
    pub integers: usize,
    /// The formulas that a valid instance satisfies.
    pub constraints: Vec<String>,
    /// Number of computations.
    computations: i128,
}

impl Lists<Number> for Instance {
    fn entries(&self, list: usize) -> Option<usize> {
        Some(self.lists.get(list)?.as_ref()?.len())
    }

    fn list(&self, list: usize, at: usize) -> Option<Number> {
        self.lists.get(list)?.as_ref()?.get(at).cloned()
    }

    fn rank(&self, variable: usize) -> Option<usize> {
        Some(self.array(variable)?.dims.len())
    }

    fn size(&self, variable: usize, dimension: usize) -> Option<Number> {
        self.array(variable)?.dims.get(dimension).cloned()
    }

    fn operands(&self, rest: usize) -> Option<usize> {
        Some(self.rests.get(rest)?.as_ref()?.len())
    }

    fn value(&self, rest: usize, at: usize) -> Option<Number> {
        self.rests.get(rest)?.as_ref()?.get(at).cloned()
    }
}

/// Returns the instances of a clause's pattern. Each has the root of the pattern and the matched arrays.
///
/// # Errors
/// An operation has no translation.
pub fn instances(clause: &Clause) -> Result<Vec<(Instance, Rc<Node>)>> {
    let empty = Instance {
        arrays: vec![None; clause.variables.len()],
        lists: vec![None; clause.lists.len()],
        rests: vec![None; clause.rests.len()],
        integers: 0,
        constraints: Vec::new(),
        computations: 0,
    };
    empty.operation(&clause.pattern)
}

impl Instance {
    fn array(&self, variable: usize) -> Option<&Rc<Node>> {
        self.arrays.get(variable)?.as_ref()
    }

    /// Declares an integer.
    fn integer(&mut self) -> Number {
        self.integers += 1;
        Number::Term(format!("n{}", self.integers - 1))
    }

    /// Declares integers that are not negative.
    fn sizes(&mut self, rank: usize) -> Vec<Number> {
        let sizes: Vec<Number> = (0..rank).map(|_| self.integer()).collect();
        self.constraints.extend(sizes.iter().map(|size| format!("(<= 0 {size})")));
        sizes
    }

    /// Returns all instances of a term of the pattern.
    fn term(&self, term: &Term) -> Result<Vec<(Instance, Rc<Node>)>> {
        match term {
            Term::Variable(v) => Ok(match self.array(*v) {
                Some(known) => vec![(self.clone(), known.clone())],
                None => (0..=MAX_RANK).map(|rank| self.leaf(*v, rank)).collect(),
            }),
            Term::Literal(_) => Ok(vec![(self.clone(), Rc::new(constant(term)))]),
            Term::Operation(operation) => self.operation(operation),
            Term::Computed(_) | Term::Rest(..) => Err(missing("a term of the pattern")),
        }
    }

    /// Returns the instance with a variable of this rank.
    fn leaf(&self, variable: usize, rank: usize) -> (Instance, Rc<Node>) {
        let mut instance = self.clone();
        let node = Rc::new(Node { dims: instance.sizes(rank), kind: Kind::Leaf(variable) });
        instance.arrays[variable] = Some(node.clone());
        (instance, node)
    }

    fn operation(&self, operation: &Operation) -> Result<Vec<(Instance, Rc<Node>)>> {
        let mut partial: Vec<(Instance, Vec<Rc<Node>>)> = vec![(self.clone(), Vec::new())];
        for term in operation.operands.iter().filter(|term| !matches!(term, Term::Rest(..))) {
            let mut next = Vec::new();
            for (instance, operands) in &partial {
                for (instance, operand) in instance.term(term)? {
                    next.push((instance, [&operands[..], &[operand]].concat()));
                }
                limit(next.len())?;
            }
            partial = next;
        }
        let mut found = Vec::new();
        for (instance, operands) in partial {
            for Attributes { mut instance, numbers, written } in instance.attributes(operation, &operands)? {
                let rest = match operation.operands.last() {
                    Some(Term::Rest(rest, _)) => match &instance.rests[*rest] {
                        Some(known) => known.clone(),
                        None => {
                            let rank = operands.first().map_or(0, |x| x.dims.len());
                            let starts: Vec<Number> = (0..rank).map(|_| instance.integer()).collect();
                            instance.rests[*rest] = Some(starts.clone());
                            starts
                        }
                    },
                    _ => Vec::new(),
                };
                let Some(node) =
                    instance.make(operation, numbers, operands.clone(), rest, &written, false)?
                else {
                    continue;
                };
                let node = Rc::new(node);
                if let Some(v) = operation.bound {
                    instance.arrays[v] = Some(node.clone());
                }
                found.push((instance, node));
            }
            limit(found.len())?;
        }
        Ok(found)
    }

    /// Returns the instances for all attributes of an operation.
    fn attributes(&self, operation: &Operation, operands: &[Rc<Node>]) -> Result<Vec<Attributes>> {
        let opcode = operation.opcode;
        let rank = operands.first().map_or(0, |x| x.dims.len());
        let known = |lists: &[&[usize]]| -> Vec<Vec<Number>> {
            let number = |&n: &usize| Number::Known(n as i128);
            lists.iter().map(|list| list.iter().map(number).collect()).collect()
        };
        let mut found = Vec::new();
        let mut failure = None;
        let mut add = |numbers: Vec<Vec<Number>>, written: &dyn Fn(&mut Instance) -> Vec<Number>| {
            let mut instance = self.clone();
            let written = written(&mut instance);
            match instance.unified(operation, &numbers) {
                Ok(Some(instance)) => found.push(Attributes { instance, numbers, written }),
                Ok(None) => {}
                Err(why) => failure = Some(why),
            }
        };
        let none = |_: &mut Instance| Vec::new();
        match opcode {
            Opcode::Broadcast => {
                for result in rank..=MAX_RANK {
                    for map in arrangements(result, rank) {
                        add(known(&[&map]), &|instance| {
                            let mut dims = instance.sizes(result);
                            map.iter().zip(&operands[0].dims).for_each(|(&d, size)| dims[d] = size.clone());
                            dims
                        });
                    }
                }
            }
            Opcode::Transpose => arrangements(rank, rank).iter().for_each(|p| add(known(&[p]), &none)),
            Opcode::Reverse => subsets(rank).iter().for_each(|set| add(known(&[set]), &none)),
            Opcode::Reduce => {
                let computation = [self.computations as usize + 1];
                subsets(rank).iter().for_each(|set| add(known(&[set, &computation]), &none));
            }
            Opcode::Iota => {
                for result in 1..=MAX_RANK {
                    (0..result).for_each(|d| add(known(&[&[d]]), &|instance| instance.sizes(result)));
                }
            }
            Opcode::Reshape => {
                (0..=MAX_RANK).for_each(|result| add(Vec::new(), &|instance| instance.sizes(result)));
            }
            Opcode::Concatenate => (0..rank).for_each(|d| add(known(&[&[d]]), &none)),
            Opcode::Slice | Opcode::Pad => {
                let mut instance = self.clone();
                let lists = form(opcode).map_or(0, |form| form.lists.len());
                let numbers: Option<Vec<Vec<Number>>> =
                    (0..lists).map(|n| instance.fresh(operation.numbers.get(n), rank)).collect();
                let Some(numbers) = numbers else { return Ok(found) };
                if let Some(instance) = instance.unified(operation, &numbers)? {
                    found.push(Attributes { instance, numbers, written: Vec::new() });
                }
            }
            Opcode::DynamicSlice => {
                let mut instance = self.clone();
                let numbers = vec![instance.sizes(rank)];
                if let Some(instance) = instance.unified(operation, &numbers)? {
                    found.push(Attributes { instance, numbers, written: Vec::new() });
                }
            }
            _ if opcode == Opcode::DynamicUpdateSlice || opcode.is_elementwise() => add(Vec::new(), &none),
            _ => return Err(missing(opcode.name())),
        }
        if let Some(why) = failure {
            return Err(why);
        }
        found.iter_mut().for_each(|attributes| attributes.instance.computations += 1);
        Ok(found)
    }

    /// Returns the numbers of a list in the pattern: those of a list that is already known, or new integers. Returns
    /// `None` if the known list has another length.
    fn fresh(&mut self, expression: Option<&Expression>, rank: usize) -> Option<Vec<Number>> {
        match expression {
            Some(Expression::Integer(value)) => Some(vec![Number::Known((*value).into()); rank]),
            Some(Expression::List(list)) if self.lists[*list].is_some() => {
                self.lists[*list].clone().filter(|known| known.len() == rank)
            }
            _ => Some((0..rank).map(|_| self.integer()).collect()),
        }
    }

    /// Binds the lists of a pattern to numbers. Returns `None` if the pattern does not match them.
    ///
    /// # Errors
    /// A list has no translation. The driver may know it, so the instance must not be ignored.
    fn unified(mut self, operation: &Operation, numbers: &[Vec<Number>]) -> Result<Option<Instance>> {
        for (expression, numbers) in operation.numbers.iter().zip(numbers) {
            if let Expression::List(list) = expression
                && self.lists[*list].is_none()
            {
                self.lists[*list] = Some(numbers.clone());
                continue;
            }
            match length(expression, &self) {
                Some(Length::List(length)) if length != numbers.len() => return Ok(None),
                Some(_) => {}
                None => return Ok(None),
            }
            let known = self.computed(expression, numbers.len())?;
            for (number, known) in numbers.iter().zip(known) {
                match number.equals(&known).as_str() {
                    "true" => {}
                    "false" => return Ok(None),
                    formula => self.constraints.push(formula.to_string()),
                }
            }
        }
        Ok(Some(self))
    }

    /// Makes an operation. Adds the formulas that a valid operation satisfies. `written` has the sizes of the
    /// result if the operands do not determine them. Returns `None` if the operation is not valid.
    fn make(
        &mut self,
        operation: &Operation,
        numbers: Vec<Vec<Number>>,
        operands: Vec<Rc<Node>>,
        rest: Vec<Number>,
        written: &[Number],
        is_replacement: bool,
    ) -> Result<Option<Node>> {
        let opcode = operation.opcode;
        let parts = Parts { numbers: &numbers, operands: &operands, rest: &rest, written, is_replacement };
        let Some(dims) = self.dims(opcode, &parts)? else { return Ok(None) };
        let kind = Kind::Operation { opcode, direction: operation.direction, numbers, operands, rest };
        Ok(Some(Node { dims, kind }))
    }

    /// Returns the sizes of an operation's result.
    fn dims(&mut self, opcode: Opcode, parts: &Parts<'_>) -> Result<Option<Vec<Number>>> {
        let Parts { numbers, operands, rest, written, is_replacement } = *parts;
        let dims = operands.first().map_or(&[][..], |x| &x.dims);
        let indices = |list: &[Number]| -> Result<Vec<usize>> {
            let index = |n: &Number| match n {
                Number::Known(n) => usize::try_from(*n).ok(),
                Number::Term(_) => None,
            };
            list.iter().map(index).collect::<Option<_>>().ok_or_else(|| missing("a number of a dimension"))
        };
        Ok(Some(match opcode {
            Opcode::Broadcast => {
                let map = indices(&numbers[0])?;
                let is_valid = map.len() == dims.len()
                    && map.iter().enumerate().all(|(k, d)| *d < written.len() && !map[..k].contains(d));
                if !is_valid {
                    return Ok(None);
                }
                self.constraints.extend(map.iter().zip(dims).map(|(&d, size)| written[d].equals(size)));
                written.to_vec()
            }
            Opcode::Transpose => {
                let p = indices(&numbers[0])?;
                let is_valid = p.len() == dims.len()
                    && p.iter().enumerate().all(|(k, d)| *d < p.len() && !p[..k].contains(d));
                if !is_valid {
                    return Ok(None);
                }
                p.iter().map(|&d| dims[d].clone()).collect()
            }
            Opcode::Reverse => dims.to_vec(),
            Opcode::Iota => match indices(&numbers[0])?[..] {
                [d] if d < written.len() => written.to_vec(),
                _ => return Ok(None),
            },
            Opcode::Reshape => {
                self.constraints.push(product(dims).equals(&product(written)));
                written.to_vec()
            }
            Opcode::Reduce => {
                let set = indices(&numbers[0])?;
                if set.len() != dims.len() || !operands[1].dims.is_empty() {
                    return Ok(None);
                }
                let kept = dims.iter().zip(set).filter(|(_, reduced)| *reduced == 0);
                kept.map(|(size, _)| size.clone()).collect()
            }
            Opcode::Slice => self.sliced(numbers, dims),
            Opcode::Pad if operands[1].dims.is_empty() => self.padded(numbers, dims),
            Opcode::Pad => return Ok(None),
            Opcode::Concatenate => return self.joined(&indices(&numbers[0])?, operands),
            Opcode::DynamicSlice => {
                if numbers[0].len() != dims.len() || rest.len() != dims.len() {
                    return Ok(None);
                }
                self.window(&numbers[0], dims);
                numbers[0].clone()
            }
            Opcode::DynamicUpdateSlice => {
                if operands[1].dims.len() != dims.len() || rest.len() != dims.len() {
                    return Ok(None);
                }
                self.window(&operands[1].dims, dims);
                dims.to_vec()
            }
            _ => return Ok(self.elementwise(opcode, operands, is_replacement)),
        }))
    }

    /// Adds the formulas that a window is no larger than its array.
    fn window(&mut self, window: &[Number], dims: &[Number]) {
        let fits = window.iter().zip(dims).map(|(n, size)| format!("(and (<= 0 {n}) (<= {n} {size}))"));
        self.constraints.extend(fits);
    }

    fn sliced(&mut self, numbers: &[Vec<Number>], dims: &[Number]) -> Vec<Number> {
        let mut result = Vec::new();
        for (d, size) in dims.iter().enumerate() {
            let (start, limit, stride) = (&numbers[0][d], &numbers[1][d], &numbers[2][d]);
            let valid =
                format!("(and (<= 0 {start}) (<= {start} {limit}) (<= {limit} {size}) (<= 1 {stride}))");
            self.constraints.push(valid);
            let range = limit.minus(start);
            if *stride == Number::Known(1) {
                result.push(range);
                continue;
            }
            // The quotient, rounded up.
            let count = self.integer();
            let below = count.minus(&Number::Known(1)).times(stride);
            let formula =
                format!("(and (<= 0 {count}) (< {below} {range}) (<= {range} (* {count} {stride})))");
            let none = format!("(and (= {count} 0) (= {range} 0))");
            self.constraints.push(format!("(or {none} {formula})"));
            result.push(count);
        }
        result
    }

    fn padded(&mut self, numbers: &[Vec<Number>], dims: &[Number]) -> Vec<Number> {
        let mut result = Vec::new();
        for (d, size) in dims.iter().enumerate() {
            let (low, high, interior) = (&numbers[0][d], &numbers[1][d], &numbers[2][d]);
            let between = match interior {
                Number::Known(0) => Number::Known(0),
                interior => Number::Term(format!("(ite (< 0 {size}) (* (- {size} 1) {interior}) 0)")),
            };
            let padded = low.plus(high).plus(size).plus(&between);
            self.constraints.push(format!("(<= 0 {interior})"));
            self.constraints.push(format!("(<= 0 {padded})"));
            result.push(padded);
        }
        result
    }

    fn joined(&mut self, dimension: &[usize], operands: &[Rc<Node>]) -> Result<Option<Vec<Number>>> {
        let &[dimension] = dimension else { return Ok(None) };
        let mut dims = operands[0].dims.clone();
        for operand in &operands[1..] {
            if operand.dims.len() != dims.len() {
                return Ok(None);
            }
            for (d, size) in operand.dims.iter().enumerate() {
                if d == dimension {
                    dims[d] = dims[d].plus(size);
                } else {
                    self.constraints.push(dims[d].equals(size));
                }
            }
        }
        Ok((dimension < dims.len()).then_some(dims))
    }

    /// Returns the common sizes of the operands. Constants have any sizes. Predicates of selections and bounds of
    /// `clamp` can be scalars. In a replacement, the driver repeats scalar operands of the other operations.
    fn elementwise(
        &mut self,
        opcode: Opcode,
        operands: &[Rc<Node>],
        is_replacement: bool,
    ) -> Option<Vec<Number>> {
        let may_be_scalar = |n: usize| match opcode {
            Opcode::Select => n == 0 || is_replacement,
            Opcode::Clamp => n != 1,
            _ => is_replacement,
        };
        // The operands whose sizes the result has.
        let has_sizes = |n: &usize| match opcode {
            Opcode::Select => *n > 0,
            Opcode::Clamp => *n == 1,
            _ => true,
        };
        let arrays: Vec<usize> =
            (0..operands.len()).filter(|&n| !matches!(operands[n].kind, Kind::Constant(_))).collect();
        let sized = arrays.iter().copied().filter(has_sizes);
        let dims = operands[sized.max_by_key(|&n| operands[n].dims.len())?].dims.clone();
        for n in arrays {
            let operand = &operands[n].dims;
            if operand.len() == dims.len() {
                self.constraints.push(same_list(&dims, operand));
            } else if !operand.is_empty() || !may_be_scalar(n) {
                return None;
            }
        }
        Some(dims)
    }

    /// Makes the replacement, for a result of these sizes. Returns `None` if it is not valid.
    ///
    /// # Errors
    /// A term has no translation.
    pub fn replacement(&mut self, term: &Term, result: &[Number]) -> Result<Option<Rc<Node>>> {
        let operation = match term {
            Term::Variable(v) => {
                return self.array(*v).cloned().map(Some).ok_or_else(|| missing("a variable"));
            }
            Term::Literal(_) => return Ok(Some(Rc::new(constant(term)))),
            Term::Computed(_) | Term::Rest(..) => return Err(missing("a computed constant")),
            Term::Operation(operation) => operation,
        };
        let (mut operands, mut rest) = (Vec::new(), Vec::new());
        for term in operation.operands.iter() {
            match term {
                Term::Rest(list, at) => rest = self.selected(*list, at)?,
                term => match self.replacement(term, result)? {
                    Some(operand) => operands.push(operand),
                    None => return Ok(None),
                },
            }
        }
        let rank = operands.first().map_or(0, |x| x.dims.len());
        let mut numbers = Vec::new();
        for (n, expression) in operation.numbers.iter().enumerate() {
            let count = list_length(operation.opcode, n, rank);
            numbers.push(self.computed(expression, count)?);
        }
        if operation.opcode == Opcode::Broadcast && numbers.is_empty() {
            numbers.push(Vec::new());
        }
        Ok(self.make(operation, numbers, operands, rest, result, true)?.map(Rc::new))
    }

    fn computed(&self, expression: &Expression, count: usize) -> Result<Vec<Number>> {
        let entries = (0..count).map(|k| entry(expression, k, self)).collect::<Option<_>>();
        entries.ok_or_else(|| missing("a list of numbers"))
    }

    /// Returns the selected scalars of a list of operands.
    fn selected(&self, list: usize, at: &[Expression]) -> Result<Vec<Number>> {
        let all = self.rests[list].clone().ok_or_else(|| missing("a list of operands"))?;
        let Some(at) = at.first() else { return Ok(all) };
        let Some(Length::List(count)) = length(at, self) else { return Err(missing("a list of operands")) };
        let places = self.computed(at, count)?;
        let select = |place: &Number| match place {
            Number::Known(n) => usize::try_from(*n).ok().and_then(|n| all.get(n)).cloned(),
            Number::Term(_) => None,
        };
        places.iter().map(select).collect::<Option<_>>().ok_or_else(|| missing("a list of operands"))
    }

    /// Returns the formula of a condition, or `None` if it is about element types or known values, which the proof
    /// does not need.
    ///
    /// # Errors
    /// The condition has no translation.
    pub fn condition(&self, condition: &Condition) -> Result<Option<String>> {
        let dims = |v: usize| self.array(v).map(|x| &x.dims[..]).ok_or_else(|| missing("a variable"));
        Ok(Some(match condition {
            Condition::All(list) => {
                let known: Vec<Option<String>> =
                    list.iter().map(|c| self.condition(c)).collect::<Result<_>>()?;
                all(known.into_iter().flatten())
            }
            Condition::Any(list) => {
                let known: Vec<Option<String>> =
                    list.iter().map(|c| self.condition(c)).collect::<Result<_>>()?;
                let Some(known) = known.into_iter().collect::<Option<Vec<String>>>() else { return Ok(None) };
                any(known)
            }
            Condition::Not(inner) => match inner.first().map(|c| self.condition(c)).transpose()?.flatten() {
                Some(formula) => negated(&formula),
                None => return Ok(None),
            },
            Condition::Some(relation, a, b) => any(self.compared(*relation, a, b)?),
            Condition::Compare(relation, a, b) => all(self.compared(*relation, a, b)?),
            Condition::Empty(v) => any(dims(*v)?.iter().map(|d| d.equals(&Number::Known(0)))),
            Condition::Scalar(v) => dims(*v)?.is_empty().to_string(),
            Condition::SameRank(a, b) => (dims(*a)?.len() == dims(*b)?.len()).to_string(),
            Condition::SameSizes(a, b) => same_list(dims(*a)?, dims(*b)?),
            Condition::Type(..)
            | Condition::SameType(..)
            | Condition::SameOpcode(..)
            | Condition::Constant(_)
            | Condition::Always(..)
            | Condition::Ordered
            | Condition::ByInteger
            | Condition::ByValue => return Ok(None),
        }))
    }

    /// Returns the formulas of a comparison of lists, one for each dimension.
    fn compared(&self, relation: Relation, a: &Expression, b: &Expression) -> Result<Vec<String>> {
        // Lists of different lengths satisfy no comparison.
        let Some(length) = common([a, b], self) else { return Ok(vec!["false".to_string()]) };
        let count = match length {
            Length::One => 1,
            Length::List(count) => count,
        };
        let (a, b) = (self.computed(a, count)?, self.computed(b, count)?);
        Ok(a.iter().zip(&b).map(|(a, b)| a.relate(relation, b)).collect())
    }
}

/// Checks the number of instances.
fn limit(count: usize) -> Result<()> {
    if count > MAX_INSTANCES {
        return Err(Untranslated(format!("the pattern has more than {MAX_INSTANCES} forms")));
    }
    Ok(())
}

fn missing(what: &str) -> Untranslated {
    Untranslated(format!("{what} has no translation"))
}

fn constant(term: &Term) -> Node {
    let text = match term {
        Term::Literal(value) => format!("{value:?}"),
        _ => String::new(),
    };
    Node { dims: Vec::new(), kind: Kind::Constant(text) }
}

/// Returns the negation of a formula.
pub fn negated(formula: &str) -> String {
    match formula {
        "true" => "false".to_string(),
        "false" => "true".to_string(),
        other => format!("(not {other})"),
    }
}

/// Returns all lists of `count` different numbers below `limit`.
fn arrangements(limit: usize, count: usize) -> Vec<Vec<usize>> {
    let mut found = vec![Vec::new()];
    for _ in 0..count {
        let longer = found.iter().flat_map(|list: &Vec<usize>| {
            let unused = (0..limit).filter(|n| !list.contains(n));
            unused.map(|n| [&list[..], &[n]].concat()).collect::<Vec<_>>()
        });
        found = longer.collect();
    }
    found
}

/// Returns all lists of `count` numbers that are 0 or 1.
fn subsets(count: usize) -> Vec<Vec<usize>> {
    (0..1usize << count).map(|bits| (0..count).map(|d| bits >> d & 1).collect()).collect()
}
