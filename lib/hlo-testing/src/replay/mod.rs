//! Rebuilds modules instruction by instruction with the methods of `hlo_builder`. Every opcode has a method,
//! its shape is inferred from the operands, and the result has the attributes of the original.

mod collective;
mod elementwise;
mod instruction;

use hlo_builder::{Builder, Computation, Value};
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape, verify};
use std::collections::{HashMap, HashSet};

/// The prefix that is added to the names of the entry's instructions. The builder never uses such names
/// itself.
pub const PREFIX: &str = "new.";

/// The computations of the module, each created once.
struct Called<'m> {
    module: &'m Module,
    made: HashMap<ComputationId, Computation>,
}

impl Called<'_> {
    fn get(&mut self, id: ComputationId) -> Computation {
        self.made.entry(id).or_insert_with(|| Computation::part_of(self.module, id)).clone()
    }
}

/// Rebuilds the entry of a module, without layouts. Instructions keep their names, with [`PREFIX`] added.
///
/// There are two differences. A broadcast to the sizes of its operand becomes a copy, because the builder
/// omits it. A constant that is a tuple becomes a tuple of constants.
///
/// # Errors
/// Returns a description of the problem if the module is not valid or if the builder's result differs.
///
/// # Example
/// ```
/// use hlo_testing::replay;
///
/// let module = hlo_parser::parse_module("ENTRY e { x = f32[2] parameter(0) ROOT y = f32[2] negate(x) }").unwrap();
/// let built = replay::rebuild(&module)?;
/// assert_eq!(&*built[built[built.entry()].root()].name, "new.y");
/// # Ok::<(), String>(())
/// ```
pub fn rebuild(original: &Module) -> Result<Module, String> {
    if let Some(error) = verify::verify(original).first() {
        return Err(format!("not valid: {}", error.message));
    }
    let b = Builder::new("replayed");
    let mut called = Called { module: original, made: HashMap::new() };
    let mut values: HashMap<InstrId, Value<'_>> = HashMap::new();
    let order = operands_first(original);
    for &id in &order {
        let what = &original[id];
        let name = format!("`{}`, {} of {}", what.name, what.op.opcode(), what.shape);
        let operands: Option<Vec<Value<'_>>> = what.operands.iter().map(|o| values.get(o).copied()).collect();
        let operands = operands.ok_or_else(|| format!("{name} comes before its operands"))?;
        let value = instruction::rebuilt(&b, original, id, &operands, &mut called)
            .ok_or_else(|| format!("{name} has no such shape"))?;
        let shape = value.shape().map_err(|e| format!("{name}: {e}"))?;
        if !shape.compatible(&what.shape) {
            return Err(format!("{name} has shape {shape}"));
        }
        values.insert(id, value.named(&format!("{PREFIX}{}", what.name)));
    }
    b.set_return_value(values[&original[original.entry()].root()]);
    let built = b.build().map_err(|e| e.to_string())?;
    let made: HashMap<&str, InstrId> =
        built[built.entry()].instructions().iter().map(|&i| (&*built[i].name, i)).collect();
    for &i in &order {
        let name = &original[i].name;
        let Some(&made) = made.get(&*format!("{PREFIX}{name}")) else {
            return Err(format!(
                "`{name}`, {} of {}, is not there",
                original[i].op.opcode(),
                original[i].shape
            ));
        };
        let of = built.entry();
        let (found, wanted) = (normalized_operation(&built, made, of), expected(original, i, of));
        let is_tuple = matches!(original[i].op, Op::Constant(_)) && original[i].shape.is_tuple();
        let counts = (built[made].operands.len(), original[i].operands.len());
        if counts.0 != counts.1 && !is_tuple {
            return Err(format!("`{name}` has {} operands instead of {}", counts.0, counts.1));
        }
        if found != wanted {
            return Err(format!("`{name}` became {found:?}, not {wanted:?}"));
        }
    }
    Ok(built)
}

/// Returns the instructions of the entry, operands first. Keeps the order of the list if operands come first
/// in it, because the streams of random numbers (`hlo_ir::streams`) depend on it.
fn operands_first(module: &Module) -> Vec<InstrId> {
    let list = module[module.entry()].instructions();
    let mut before = HashSet::new();
    let listed = list.iter().all(|&i| {
        before.insert(i);
        module[i].operands.iter().all(|o| before.contains(o))
    });
    if listed { list.to_vec() } else { module.post_order(module.entry()) }
}

/// Returns the operation and the shape of an instruction, without names and with all computation ids
/// replaced.
fn normalized_operation(module: &Module, id: InstrId, any: ComputationId) -> (Op, Shape) {
    let mut op = module[id].op.clone();
    if let Some(attrs) = op.attrs_mut() {
        attrs.for_each_computation_mut(&mut |c| *c = any);
    }
    (op, module[id].shape.without_layout())
}

/// Returns the expected result of rebuilding an instruction.
fn expected(original: &Module, id: InstrId, any: ComputationId) -> (Op, Shape) {
    let instruction = &original[id];
    let (op, shape) = normalized_operation(original, id, any);
    match op {
        Op::Broadcast(_) if shape.compatible(&original[instruction.operands[0]].shape) => (Op::Copy, shape),
        Op::Constant(_) if shape.is_tuple() => (Op::Tuple, shape),
        op => (op, shape),
    }
}
