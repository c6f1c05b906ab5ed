//! Scalar programs: computations on scalars, compiled to a list of kernels over registers.
//!
//! Computations that `reduce`, `map`, `sort`, `scatter` and `while` apply many times are compiled once.
//! Applying a program neither allocates nor inspects instructions. A [`Machine`] runs it on one element, as a
//! function (`function.rs`) does, or on many at once.

mod machine;

pub(crate) use machine::Machine;

use crate::element::Scalar;
use crate::kernel::{Kernel, unary, with_storage};
use crate::ops::elementwise;
use crate::plan::order;
use hlo_ir::effects::Effects;
use hlo_ir::{ComputationId, ElementType, InstrId, Literal, Module, Op, Shape};
use smallvec::SmallVec;
use std::collections::HashMap;

/// A compiled computation on scalars (arrays of one element, and tuples of them).
pub(crate) struct Program {
    /// The type of each register.
    types: Vec<ElementType>,
    /// The registers of constants, with their bits.
    constants: Vec<(usize, Scalar)>,
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

/// The registers of an instruction's value, during compilation.
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

/// Maximum number of instructions visited. A larger computation is not compiled.
const MAX_INSTRUCTIONS: usize = 4096;
const MAX_INLINE_DEPTH: usize = 32;

struct Compiler<'m> {
    module: &'m Module,
    effects: &'m Effects,
    program: Program,
    visited: usize,
}

impl Program {
    /// Compiles a computation. Returns `None` if it contains anything but element-wise operations on single
    /// elements, tuples, and calls of such computations.
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

    /// Returns the cost of one run, in operations per lane.
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

    /// Sets the results. Each is in a register of its own that a step writes, so that results can become the
    /// next run's parameters by swapping buffers.
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

    /// Adds the steps of a computation. Returns the registers of its value.
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
        // Other opcodes are compiled if they have a kernel.
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

/// Returns the element type of a static array with one element.
pub(crate) fn single_element(shape: &Shape) -> Option<ElementType> {
    let array = shape.as_array()?;
    (array.is_static() && array.checked_element_count() == Some(1)).then_some(array.element_type)
}

/// Returns the kernel of a `bitcast-convert` between types of the same size, each of at least one byte.
fn reinterpret(from: ElementType, to: ElementType) -> Option<Kernel> {
    let whole = |t: ElementType| t.bit_width() >= 8;
    if !whole(from) || !whole(to) || from.byte_size() != to.byte_size() {
        return None;
    }
    with_storage!(to.byte_size(), T => unary(|x: T| x))
}

/// Returns the bits of an array with one element.
pub(crate) fn bits_of(value: &Literal) -> Option<Scalar> {
    single_element(value.shape())?;
    let mut wide = [0u8; 16];
    wide.get_mut(..value.bytes().len())?.copy_from_slice(value.bytes());
    Some(Scalar::from_le_bytes(wide))
}
