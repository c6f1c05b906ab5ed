//! Scalar programs: a computation on scalars as a list of kernels over registers.
//!
//! What `reduce`, `map`, `sort`, `scatter` and `while` apply again and again is compiled once; applying it
//! then neither allocates nor looks at instructions. A register holds a number of *lanes*, so that one pass
//! through the program can serve many elements.

use crate::EvalError;
use crate::evaluator::Evaluator;
use crate::kernel::{Kernel, unary, with_storage};
use crate::ops::elementwise;
use crate::plan::order;
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, ElementType, ElementwiseOp, InstrId, Literal, Module, Op, Shape};
use smallvec::SmallVec;
use std::collections::HashMap;
use std::rc::Rc;

/// A compiled computation on scalars (arrays of one element, and tuples of such).
pub(crate) struct Program {
    /// The type of each register.
    types: Vec<ElementType>,
    /// Registers that hold constants, with their bits.
    constants: Vec<(usize, u128)>,
    /// The registers of the parameters' leaves.
    parameters: Vec<usize>,
    /// The registers of the result's leaves.
    results: Vec<usize>,
    steps: Vec<ScalarStep>,
}

struct ScalarStep {
    kernel: Kernel,
    operands: SmallVec<[usize; 3]>,
    result: usize,
}

/// What an instruction's value is made of while compiling.
#[derive(Clone)]
enum Value {
    Register(usize),
    Tuple(Vec<Value>),
}

impl Value {
    fn flatten(&self, out: &mut Vec<usize>) {
        match self {
            Value::Register(r) => out.push(*r),
            Value::Tuple(t) => t.iter().for_each(|v| v.flatten(out)),
        }
    }
}

/// Instructions looked at before a computation counts as too large to be compiled.
const MAX_INSTRUCTIONS: usize = 4096;
const MAX_INLINE_DEPTH: usize = 32;

struct Compiler<'m> {
    module: &'m Module,
    effects: &'m Effects,
    program: Program,
    visited: usize,
}

impl Program {
    /// Compiles a computation; `None` if it holds anything but element-wise operations on single elements,
    /// tuples, and calls of such.
    pub(crate) fn compile(module: &Module, computation: ComputationId, effects: &Effects) -> Option<Program> {
        let program = Program {
            types: Vec::new(),
            constants: Vec::new(),
            parameters: Vec::new(),
            results: Vec::new(),
            steps: Vec::new(),
        };
        let mut compiler = Compiler { module, effects, program, visited: 0 };
        let mut arguments = Vec::new();
        for p in module.parameters(computation) {
            arguments.push(compiler.parameter(&module[p].shape, 0)?);
        }
        arguments.iter().for_each(|a| a.flatten(&mut compiler.program.parameters));
        let result = compiler.inline(computation, &arguments, 0)?;
        compiler.results(&result)?;
        Some(compiler.program)
    }

    /// The program that applies one operation to two values of a type; `None` if it is not defined on the type.
    fn of_operation(op: ElementwiseOp<'_>, ty: ElementType) -> Option<Program> {
        let kernel = elementwise::kernel(op, &[ty, ty], ty).ok()?;
        let step = ScalarStep { kernel, operands: smallvec::smallvec![0, 1], result: 2 };
        Some(Program {
            types: vec![ty; 3],
            constants: Vec::new(),
            parameters: vec![0, 1],
            results: vec![2],
            steps: vec![step],
        })
    }

    /// The work of one run, in operations a lane.
    pub(crate) fn cost(&self) -> usize {
        self.steps.len() + 1
    }

    fn register_types<'a>(&'a self, registers: &'a [usize]) -> impl Iterator<Item = ElementType> + 'a {
        registers.iter().map(|&r| self.types[r])
    }
}

impl Compiler<'_> {
    fn register(&mut self, ty: ElementType) -> usize {
        self.program.types.push(ty);
        self.program.types.len() - 1
    }

    /// Sets the results: each in a register of its own that a step writes, so that results can become the next
    /// run's parameters by swapping buffers.
    fn results(&mut self, value: &Value) -> Option<()> {
        let mut registers = Vec::new();
        value.flatten(&mut registers);
        for register in registers {
            let made = self.program.steps.iter().any(|s| s.result == register);
            let fresh = if made && !self.program.results.contains(&register) {
                register
            } else {
                let ty = self.program.types[register];
                let kernel = reinterpret(ty, ty).or_else(|| Some(unary(|x: u8| x)))?;
                let result = self.register(ty);
                self.program.steps.push(ScalarStep {
                    kernel,
                    operands: smallvec::smallvec![register],
                    result,
                });
                result
            };
            self.program.results.push(fresh);
        }
        Some(())
    }

    fn parameter(&mut self, shape: &Shape, depth: usize) -> Option<Value> {
        if depth > MAX_INLINE_DEPTH {
            return None;
        }
        Some(match shape {
            Shape::Tuple(t) => {
                Value::Tuple(t.iter().map(|s| self.parameter(s, depth + 1)).collect::<Option<_>>()?)
            }
            _ => Value::Register(self.register(single_element(shape)?)),
        })
    }

    /// Adds the steps of a computation; its value in terms of registers.
    fn inline(&mut self, computation: ComputationId, arguments: &[Value], depth: usize) -> Option<Value> {
        if depth > MAX_INLINE_DEPTH || !self.module.has_root(computation) {
            return None;
        }
        let mut values: HashMap<InstrId, Value> = HashMap::new();
        for id in order(self.module, computation, self.effects) {
            self.visited += 1;
            if self.visited > MAX_INSTRUCTIONS {
                return None;
            }
            let value = self.instruction(id, &values, arguments, depth)?;
            values.insert(id, value);
        }
        values.remove(&self.module[computation].root())
    }

    fn instruction(
        &mut self,
        id: InstrId,
        values: &HashMap<InstrId, Value>,
        arguments: &[Value],
        depth: usize,
    ) -> Option<Value> {
        let instr = &self.module[id];
        let operands: Vec<Value> =
            instr.operands.iter().map(|o| values.get(o).cloned()).collect::<Option<_>>()?;
        // Opcodes that are not named here are compiled if they have a kernel.
        match &instr.op {
            Op::Parameter(p) => return arguments.get(usize::try_from(p.number).ok()?).cloned(),
            Op::Tuple => return Some(Value::Tuple(operands)),
            Op::GetTupleElement(a) => match operands.first()? {
                Value::Tuple(t) => return t.get(usize::try_from(a.index).ok()?).cloned(),
                Value::Register(_) => return None,
            },
            Op::Call(a) => return self.inline(a.to_apply, &operands, depth + 1),
            Op::Fusion(a) => return self.inline(a.calls, &operands, depth + 1),
            Op::Copy | Op::OptBarrier | Op::Domain(_) => return operands.into_iter().next(),
            Op::Broadcast(_) | Op::Reshape(_) | Op::Transpose(_) | Op::Reverse(_) => {
                single_element(&instr.shape)?;
                return operands.into_iter().next();
            }
            _ => {}
        }
        let ty = single_element(&instr.shape)?;
        let mut registers: SmallVec<[usize; 3]> = SmallVec::new();
        for value in &operands {
            match value {
                Value::Register(r) => registers.push(*r),
                Value::Tuple(_) => return None,
            }
        }
        if let Op::Constant(a) = &instr.op {
            let bits = bits_of(&a.literal)
                .filter(|_| !a.is_elided() && a.literal.shape().compatible(&instr.shape))?;
            let register = self.register(ty);
            self.program.constants.push((register, bits));
            return Some(Value::Register(register));
        }
        let types: SmallVec<[ElementType; 3]> = registers.iter().map(|&r| self.program.types[r]).collect();
        let kernel = match &instr.op {
            Op::BitcastConvert => reinterpret(*types.first()?, ty)?,
            op => elementwise::kernel(op.elementwise()?, &types, ty).ok()?,
        };
        let result = self.register(ty);
        self.program.steps.push(ScalarStep { kernel, operands: registers, result });
        Some(Value::Register(result))
    }
}

/// The element type of a static array of one element.
fn single_element(shape: &Shape) -> Option<ElementType> {
    let array = shape.as_array()?;
    (array.is_static() && array.checked_element_count() == Some(1)).then_some(array.element_type)
}

/// `bitcast-convert` between types of whole bytes and the same size.
fn reinterpret(from: ElementType, to: ElementType) -> Option<Kernel> {
    let whole = |t: ElementType| t.bit_width() >= 8;
    if !whole(from) || !whole(to) || from.byte_size() != to.byte_size() {
        return None;
    }
    with_storage!(to.byte_size(), T => unary(|x: T| x))
}

/// The bits of an array of one element.
fn bits_of(value: &Literal) -> Option<u128> {
    single_element(value.shape())?;
    let mut wide = [0u8; 16];
    wide.get_mut(..value.bytes().len())?.copy_from_slice(value.bytes());
    Some(u128::from_le_bytes(wide))
}

/// The bits of each leaf, if all are single elements.
pub(crate) fn flat_scalars(value: &Literal) -> Option<Vec<u128>> {
    value.leaves().into_iter().map(bits_of).collect()
}

/// A value of `like`'s shape from the bits of its leaves.
pub(crate) fn write_scalars(like: &Literal, bits: &[u128]) -> Literal {
    let mut leaves = like.leaves().into_iter().zip(bits).map(|(leaf, bits)| {
        let mut leaf = leaf.clone();
        let size = leaf.bytes().len();
        leaf.bytes_mut().copy_from_slice(&bits.to_le_bytes()[..size.min(16)]);
        leaf
    });
    Literal::from_leaves(like.shape(), &mut leaves).unwrap_or_else(|| like.clone())
}

/// A program with its registers.
pub(crate) struct Machine {
    program: Rc<Program>,
    registers: Vec<Vec<u128>>,
    capacity: usize,
}

impl Machine {
    /// Registers of up to `capacity` lanes.
    pub(crate) fn new(program: Rc<Program>, capacity: usize) -> Self {
        let mut registers: Vec<Vec<u128>> =
            program.types.iter().map(|t| vec![0; (t.byte_size() * capacity).div_ceil(16)]).collect();
        for &(register, bits) in &program.constants {
            let size = program.types[register].byte_size();
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut registers[register]);
            for lane in bytes.chunks_exact_mut(size) {
                lane.copy_from_slice(&bits.to_le_bytes()[..size]);
            }
        }
        Self { program, registers, capacity }
    }

    fn leaf_types_are(&self, registers: &[usize], value: &Literal) -> bool {
        let leaves = value.leaves();
        leaves.len() == registers.len()
            && leaves
                .iter()
                .zip(self.program.register_types(registers))
                .all(|(l, t)| l.shape().as_array().is_some_and(|a| a.element_type == t))
    }

    /// True if the parameters' leaves have the types of the value's.
    pub(crate) fn accepts(&self, value: &Literal) -> bool {
        self.leaf_types_are(&self.program.parameters, value)
    }

    /// True if the results' leaves have the types of the value's.
    pub(crate) fn returns(&self, value: &Literal) -> bool {
        self.leaf_types_are(&self.program.results, value)
    }

    /// The types of the results' leaves.
    pub(crate) fn result_types(&self) -> Vec<ElementType> {
        self.program.register_types(&self.program.results).collect()
    }

    /// The lanes of a parameter leaf.
    pub(crate) fn parameter_mut(&mut self, index: usize) -> &mut [u8] {
        match self.program.parameters.get(index) {
            Some(&r) => bytemuck::cast_slice_mut(&mut self.registers[r]),
            None => &mut [],
        }
    }

    /// The lanes of a result leaf; lanes that did not run hold anything.
    pub(crate) fn result(&self, index: usize) -> &[u8] {
        match self.program.results.get(index) {
            Some(&r) => bytemuck::cast_slice(&self.registers[r]),
            None => &[],
        }
    }

    /// Runs the program on the first `lanes` lanes.
    pub(crate) fn run(&mut self, lanes: usize) {
        let lanes = lanes.min(self.capacity);
        for step in &self.program.steps {
            let size = |r: usize| self.program.types[r].byte_size() * lanes;
            let mut out = std::mem::take(&mut self.registers[step.result]);
            let mut operands: [&[u8]; 3] = [&[]; 3];
            for (slot, &r) in operands.iter_mut().zip(&step.operands) {
                *slot = &bytemuck::cast_slice(&self.registers[r])[..size(r)];
            }
            let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut out);
            (step.kernel)(&operands[..step.operands.len().min(3)], &mut bytes[..size(step.result)]);
            self.registers[step.result] = out;
        }
    }

    /// Runs one lane on the given bits of the parameters' leaves.
    pub(crate) fn call(&mut self, arguments: &[u128]) -> Result<(), EvalError> {
        if arguments.len() != self.program.parameters.len() {
            return Err(EvalError::new("a scalar program is called with the wrong number of arguments"));
        }
        for (&register, &bits) in self.program.parameters.iter().zip(arguments) {
            self.registers[register][0] = bits;
        }
        self.run(1);
        Ok(())
    }

    /// The bits of each result leaf in lane 0.
    pub(crate) fn read_results(&self, out: &mut [u128]) {
        for (bits, &register) in out.iter_mut().zip(&self.program.results) {
            let size = self.program.types[register].byte_size();
            *bits = self.registers[register][0] & (u128::MAX >> (128 - 8 * size));
        }
    }

    /// Makes the results the first parameters of the next run.
    fn feed_back(&mut self) {
        for (&parameter, &result) in self.program.parameters.iter().zip(&self.program.results) {
            self.registers.swap(parameter, result);
        }
    }
}

/// A computation from scalars to scalars, ready to be applied to many elements: a program where it can be
/// compiled, else run by the evaluator element by element.
pub(crate) struct Function {
    body: Body,
    parameters: Vec<ElementType>,
    results: Vec<ElementType>,
    cost: usize,
}

enum Body {
    Machine(Machine),
    Computation { id: ComputationId, arguments: Vec<Vec<u128>>, values: Vec<Vec<u128>> },
}

impl Function {
    /// Prepares a computation whose parameters are scalars of the types `parameters` and whose result is one
    /// scalar, or a tuple of scalars, of the types `results`, for up to `capacity` lanes.
    pub(crate) fn new(
        ev: &mut Evaluator<'_>,
        id: ComputationId,
        parameters: &[ElementType],
        results: &[ElementType],
        capacity: usize,
    ) -> Result<Self, EvalError> {
        let module = ev.module;
        let wrong = |what: &str| {
            EvalError::new(format!("computation `{}` has {what} that do not fit its use", module[id].name))
        };
        let declared: Vec<Option<ElementType>> =
            module.parameters(id).iter().map(|&p| single_element(&module[p].shape)).collect();
        if !declared.iter().copied().eq(parameters.iter().map(|&t| Some(t))) {
            return Err(wrong("parameters"));
        }
        let root = &module[module[id].root()].shape;
        let returned: Vec<Option<ElementType>> = root.leaves().into_iter().map(single_element).collect();
        if !returned.iter().copied().eq(results.iter().map(|&t| Some(t))) {
            return Err(wrong("results"));
        }
        let (body, cost) = match ev.program(id) {
            Some(program) => {
                let cost = program.cost();
                (Body::Machine(Machine::new(program, capacity)), cost)
            }
            None => {
                let buffers = |types: &[ElementType]| -> Vec<Vec<u128>> {
                    types.iter().map(|t| vec![0; (t.byte_size() * capacity).div_ceil(16)]).collect()
                };
                (Body::Computation { id, arguments: buffers(parameters), values: buffers(results) }, 1)
            }
        };
        Ok(Self { body, parameters: parameters.to_vec(), results: results.to_vec(), cost })
    }

    /// The function that applies one operation to two scalars of a type, for up to `capacity` lanes; `None` if the
    /// operation is not element-wise or not defined on the type.
    pub(crate) fn of_operation(op: ElementwiseOp<'_>, ty: ElementType, capacity: usize) -> Option<Self> {
        let program = Program::of_operation(op, ty)?;
        let cost = program.cost();
        let body = Body::Machine(Machine::new(Rc::new(program), capacity));
        Some(Self { body, parameters: vec![ty; 2], results: vec![ty], cost })
    }

    /// The work of one run, in operations a lane.
    pub(crate) fn cost(&self) -> usize {
        self.cost
    }

    /// The lanes of a parameter, for writing.
    pub(crate) fn parameter_mut(&mut self, index: usize) -> &mut [u8] {
        match &mut self.body {
            Body::Machine(m) => m.parameter_mut(index),
            Body::Computation { arguments, .. } => {
                arguments.get_mut(index).map_or(&mut [], |a| bytemuck::cast_slice_mut(a))
            }
        }
    }

    /// Writes one value to the first `lanes` lanes of a parameter.
    pub(crate) fn fill_parameter(&mut self, index: usize, value: &[u8], lanes: usize) {
        if value.is_empty() {
            return;
        }
        for lane in self.parameter_mut(index).chunks_exact_mut(value.len()).take(lanes) {
            lane.copy_from_slice(value);
        }
    }

    /// The lanes of a result.
    pub(crate) fn result(&self, index: usize) -> &[u8] {
        match &self.body {
            Body::Machine(m) => m.result(index),
            Body::Computation { values, .. } => values.get(index).map_or(&[], |v| bytemuck::cast_slice(v)),
        }
    }

    /// Applies the function to the first `lanes` lanes.
    pub(crate) fn run(&mut self, ev: &mut Evaluator<'_>, lanes: usize) -> Result<(), EvalError> {
        ev.charge(self.cost * lanes)?;
        match &mut self.body {
            Body::Machine(m) => m.run(lanes),
            Body::Computation { id, arguments, values } => {
                for lane in 0..lanes {
                    let mut literals = Vec::with_capacity(arguments.len());
                    for (&p, (ty, buffer)) in
                        ev.module.parameters(*id).iter().zip(self.parameters.iter().zip(arguments.iter()))
                    {
                        let size = ty.byte_size();
                        let bytes: &[u8] = bytemuck::cast_slice(buffer);
                        let shape = ev.module[p].shape.clone();
                        let element =
                            hlo_ir::AlignedBytes::from_slice(&bytes[lane * size..(lane + 1) * size]);
                        literals.push(Literal::from_bytes(shape, element));
                    }
                    let result = ev.run_computation(*id, literals)?;
                    for ((leaf, ty), buffer) in
                        result.leaves().iter().zip(&self.results).zip(values.iter_mut())
                    {
                        let size = ty.byte_size();
                        let bytes: &mut [u8] = bytemuck::cast_slice_mut(buffer);
                        bytes[lane * size..(lane + 1) * size].copy_from_slice(leaf.bytes());
                    }
                }
            }
        }
        Ok(())
    }

    /// Leaves the first parameters as they are in the lanes where `keep` is true, by making them the results.
    pub(crate) fn keep_parameters(&mut self, keep: &[bool]) {
        for index in 0..self.results.len() {
            let size = self.results[index].byte_size();
            let old: Vec<u8> = self.parameter_mut(index)[..keep.len() * size].to_vec();
            let results: &mut [u8] = match &mut self.body {
                Body::Machine(m) => bytemuck::cast_slice_mut(&mut m.registers[m.program.results[index]]),
                Body::Computation { values, .. } => bytemuck::cast_slice_mut(&mut values[index]),
            };
            for (lane, _) in keep.iter().enumerate().filter(|(_, k)| **k) {
                let range = lane * size..(lane + 1) * size;
                results[range.clone()].copy_from_slice(&old[range]);
            }
        }
    }

    /// Makes the results the first parameters of the next run.
    pub(crate) fn feed_back(&mut self) {
        match &mut self.body {
            Body::Machine(m) => m.feed_back(),
            Body::Computation { arguments, values, .. } => {
                for (a, v) in arguments.iter_mut().zip(values) {
                    a.clone_from(v);
                }
            }
        }
    }
}
