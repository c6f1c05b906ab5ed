//! Modules built anew instruction by instruction through the methods of `hlo_builder`: every opcode has one, its shape follows
//! from the operands, and what is built has the attributes of the original.

mod elementwise;
mod instruction;

use hlo_builder::{Builder, Computation, Value};
use hlo_ir::{ComputationId, InstrId, Module, Op, Shape, verify};
use std::collections::{HashMap, HashSet};

/// What stands before the name that an instruction of the entry had: what the builder adds of its own never has such a name.
pub const PREFIX: &str = "new.";

/// What computations of the module are called, each the same one each time.
struct Called<'m> {
    module: &'m Module,
    made: HashMap<ComputationId, Computation>,
}

impl Called<'_> {
    fn get(&mut self, id: ComputationId) -> Computation {
        self.made.entry(id).or_insert_with(|| Computation::part_of(self.module, id)).clone()
    }
}

/// Builds the entry of a module anew, without layouts. An instruction is called what it was called, after [`PREFIX`].
///
/// Two things are not what they were: a broadcast to the sizes that its operand has, which the builder leaves out, is a copy,
/// and a constant that is a tuple is a tuple of constants.
///
/// # Errors
/// The module is not valid, or the builder does not do the same: in words.
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
        let (found, wanted) = (essence(&built, made, of), expected(original, i, of));
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

/// Returns the instructions of the entry, operands first: in the order of the list where that is such an order, since the
/// streams of random numbers (`hlo_ir::streams`) follow from it.
fn operands_first(module: &Module) -> Vec<InstrId> {
    let list = module[module.entry()].instructions();
    let mut before = HashSet::new();
    let listed = list.iter().all(|&i| {
        before.insert(i);
        module[i].operands.iter().all(|o| before.contains(o))
    });
    if listed { list.to_vec() } else { module.post_order(module.entry()) }
}

/// What an instruction is, apart from names and from which number a computation has.
fn essence(module: &Module, id: InstrId, any: ComputationId) -> (Op, Shape) {
    let mut op = module[id].op.clone();
    if let Some(attrs) = op.attrs_mut() {
        attrs.for_each_computation_mut(&mut |c| *c = any);
    }
    (op, module[id].shape.without_layout())
}

/// What the builder is to make of an instruction.
fn expected(original: &Module, id: InstrId, any: ComputationId) -> (Op, Shape) {
    let instruction = &original[id];
    let (op, shape) = essence(original, id, any);
    match op {
        Op::Broadcast(_) if shape.compatible(&original[instruction.operands[0]].shape) => (Op::Copy, shape),
        Op::Constant(_) if shape.is_tuple() => (Op::Tuple, shape),
        op => (op, shape),
    }
}
