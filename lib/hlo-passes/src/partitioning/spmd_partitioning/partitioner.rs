//! Builds the program of one device, computation by computation.

use super::plan::Plan;
use super::value::{Part, Value};
use crate::partitioning::channels::Channels;
use crate::partitioning::tilings::tilings;
use crate::support::combiner::Combiners;
use hlo_ir::attr::TileAssignment;
use hlo_ir::build::{Build, ComputationNamer};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ComputationId, Dims, ElementType, InstrId, Literal, Module, Op, Shape};
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// Builds the computations of one device from those of the whole program.
pub(super) struct Partitioner<'m> {
    pub(super) module: &'m mut Module,
    /// Number of devices that work on each copy of the program.
    pub(super) devices: usize,
    pub(super) channels: Channels,
    pub(super) namer: ComputationNamer,
    pub(super) combiners: Combiners,
    /// The emitted collectives.
    pub(super) exchanges: HashSet<InstrId>,
    /// Whether a loop is currently partitioned only to find out its cost.
    pub(super) trying: bool,
    pub(super) scope: Scope,
    /// The plans found so far.
    pub(super) plans: RefCell<HashMap<ReshardingKey, Rc<Plan>>>,
}

/// The source and target shardings of a conversion, and the sizes of the array.
pub(super) type ReshardingKey = (TileAssignment, TileAssignment, Dims);

/// The state of the computation that is being built.
pub(super) struct Scope {
    /// The new computation.
    pub(super) to: ComputationId,
    /// The current instruction of the whole program.
    pub(super) at: InstrId,
    /// The results of the whole program's instructions.
    pub(super) values: HashMap<InstrId, Value>,
    /// The device's partition id.
    partition: Option<InstrId>,
    /// Per-device numbers, by the list of the numbers of all devices.
    tables: HashMap<Vec<i64>, InstrId>,
    /// Values in other shardings.
    pub(super) resharded: HashMap<(InstrId, TileAssignment), InstrId>,
    /// The original of each value that is a resharded version of another.
    pub(super) origins: HashMap<InstrId, InstrId>,
    /// The shardings in which a value is available.
    pub(super) versions: HashMap<InstrId, Vec<Part>>,
    /// The cost of values that alternatives may avoid.
    pub(super) costs: HashMap<InstrId, f64>,
    /// The values that are emitted again for another sharding instead of being exchanged.
    pub(super) remade: HashMap<InstrId, Rematerialization>,
}

/// How to emit a value again from something smaller.
#[derive(Clone, Debug)]
pub(super) enum Rematerialization {
    /// By broadcasting a scalar.
    Splat(InstrId),
    /// As an iota along a dimension.
    Count(usize),
    /// By broadcasting an array along these dimensions.
    Broadcast(Box<Part>, Dims),
}

impl Scope {
    fn new(to: ComputationId, at: InstrId) -> Self {
        Self {
            to,
            at,
            values: HashMap::new(),
            partition: None,
            tables: HashMap::new(),
            resharded: HashMap::new(),
            origins: HashMap::new(),
            versions: HashMap::new(),
            costs: HashMap::new(),
            remade: HashMap::new(),
        }
    }
}

impl Build for Partitioner<'_> {
    fn add(&mut self, shape: impl Into<Shape>, op: Op, operands: &[InstrId]) -> InstrId {
        self.module.add_like_in(self.scope.to, self.scope.at, shape, op, operands.iter().copied())
    }

    fn shape_of(&self, id: InstrId) -> Shape {
        self.module[id].shape.clone()
    }
}

impl<'m> Partitioner<'m> {
    pub(super) fn new(module: &'m mut Module) -> Self {
        let devices = usize::try_from(module.header.num_partitions.0).unwrap_or(1).max(1);
        let channels = Channels::of(module);
        let namer = ComputationNamer::new(module);
        let (entry, root) = (module.entry(), module[module.entry()].root());
        Self {
            devices,
            channels,
            namer,
            combiners: Combiners::default(),
            exchanges: HashSet::new(),
            trying: false,
            scope: Scope::new(entry, root),
            plans: RefCell::default(),
            module,
        }
    }

    /// Builds the computation of one device from `from`. `parameters` and `result` are the shardings of the
    /// parameters and of the result, leaf by leaf.
    pub(super) fn computation(
        &mut self,
        from: ComputationId,
        parameters: &[Vec<TileAssignment>],
        result: &[TileAssignment],
    ) -> Result<ComputationId, Diag> {
        let name = self.namer.fresh(&format!(
            "{}_{}",
            self.module[from].name,
            if self.trying { "tried" } else { "spmd" }
        ));
        let to = self.module.add_computation(&name);
        self.module[to].execution_thread = self.module[from].execution_thread.clone();
        let root = self.module[from].root();
        let outer = std::mem::replace(&mut self.scope, Scope::new(to, root));
        let made = self.fill(from, parameters, result);
        self.scope = outer;
        made.map(|()| to)
    }

    fn fill(
        &mut self,
        from: ComputationId,
        parameters: &[Vec<TileAssignment>],
        result: &[TileAssignment],
    ) -> Result<(), Diag> {
        for id in self.module.post_order(from) {
            self.scope.at = id;
            let value = match &self.module[id].op {
                Op::Parameter(p) => {
                    let number = usize::try_from(p.number).unwrap_or(usize::MAX);
                    let tilings = parameters.get(number).cloned();
                    let tilings = tilings.unwrap_or_else(|| self.replicated(&self.module[id].shape));
                    self.parameter(id, &tilings)
                }
                _ => self.instruction(id)?,
            };
            self.order(id, &value);
            self.scope.values.insert(id, value);
        }
        let root = self.module[from].root();
        self.scope.at = root;
        let value = self.value(root);
        let value = self.resharded_value(&value, result);
        let made = self.materialized(&value);
        self.module.set_root(self.scope.to, made);
        Ok(())
    }

    /// Adds a parameter. It keeps its name, which is unique in the new computation.
    fn parameter(&mut self, id: InstrId, tilings: &[TileAssignment]) -> Value {
        // The verifier has already reported a caller that does not match.
        let own = self.replicated(&self.module[id].shape);
        let fits = own.len() == tilings.len() && own.iter().zip(tilings).all(|(a, b)| a.rank() == b.rank());
        let tilings = if fits { tilings } else { &own[..] };
        let shape = self.local_shape(&self.module[id].shape, tilings);
        let (name, op) = (self.module[id].name.clone(), self.module[id].op.clone());
        let made = self.module.add(self.scope.to, &name, shape, op, []);
        self.module.copy_provenance(id, made);
        let common = self.module[id].common.as_deref().cloned();
        if let Some(common) = common {
            let own = self.module.common_mut(made);
            own.frontend_attributes = common.frontend_attributes;
            own.parameter_replication = common.parameter_replication;
        }
        self.unpacked(made, &self.module[id].shape.clone(), &mut tilings.iter())
    }

    /// Copies the control predecessors of an instruction to its result.
    fn order(&mut self, id: InstrId, value: &Value) {
        let before: Vec<InstrId> = self.module[id].control_predecessors().to_vec();
        let Some(made) = value.id().filter(|_| !before.is_empty()) else { return };
        let before: Vec<InstrId> =
            before.iter().filter_map(|p| self.scope.values.get(p)?.id()).filter(|&p| p != made).collect();
        self.module.common_mut(made).control_predecessors = before;
    }

    /// Returns the result of an instruction of the whole program.
    pub(super) fn value(&self, id: InstrId) -> Value {
        // Operands come first, so the result is always present.
        self.scope.values.get(&id).cloned().unwrap_or(Value::Tuple(Vec::new()))
    }

    /// Returns the result of an operand of the current instruction.
    pub(super) fn operand(&self, n: usize) -> Option<Value> {
        self.module[self.scope.at].operands.get(n).map(|&o| self.value(o))
    }

    /// Returns the result of an operand of the current instruction, if it is an array.
    pub(super) fn part(&self, n: usize) -> Option<Part> {
        match self.operand(n)? {
            Value::Array(part) => Some(part),
            _ => None,
        }
    }

    /// Returns the required shardings of the results of an instruction, leaf by leaf. Dynamic arrays are not
    /// split.
    pub(super) fn required_shardings(&self, id: InstrId) -> Vec<TileAssignment> {
        let shape = &self.module[id].shape;
        let mut wanted = self.replicated(shape);
        // Errors were reported before.
        if let Ok(found) = tilings(self.module, id, self.devices) {
            for ((tiling, found), leaf) in wanted.iter_mut().zip(found).zip(shape.leaves()) {
                if let Some(found) = found.filter(|_| leaf.as_array().is_some_and(|a| a.is_static())) {
                    *tiling = found;
                }
            }
        }
        wanted
    }

    /// Returns replicated tile assignments for all leaves.
    pub(super) fn replicated(&self, shape: &Shape) -> Vec<TileAssignment> {
        let rank = |leaf: &Shape| leaf.as_array().map_or(0, ArrayShape::rank);
        shape.leaves().into_iter().map(|leaf| TileAssignment::replicated(rank(leaf), self.devices)).collect()
    }

    /// Returns the shape of a device's part.
    pub(super) fn local_shape(&self, shape: &Shape, tilings: &[TileAssignment]) -> Shape {
        fn local(shape: &Shape, tilings: &mut std::slice::Iter<'_, TileAssignment>) -> Shape {
            match shape {
                Shape::Tuple(parts) => Shape::Tuple(parts.iter().map(|p| local(p, tilings)).collect()),
                Shape::Array(a) => match tilings.next() {
                    Some(tiling) if !tiling.is_whole() => a.with_sizes(&tiling.shard(&a.dims)).into(),
                    _ => shape.clone(),
                },
                other => {
                    tilings.next();
                    other.clone()
                }
            }
        }
        local(shape, &mut tilings.iter())
    }

    /// Takes a new instruction apart into the parts of a value of the whole program.
    pub(super) fn unpacked(
        &mut self,
        id: InstrId,
        whole: &Shape,
        tilings: &mut std::slice::Iter<'_, TileAssignment>,
    ) -> Value {
        match whole {
            Shape::Tuple(parts) => {
                let elements = parts.iter().enumerate().map(|(n, part)| {
                    let element = self.element(id, n).unwrap_or(id);
                    self.unpacked(element, part, tilings)
                });
                Value::Tuple(elements.collect())
            }
            Shape::Array(shape) => {
                let tiling = tilings.next().cloned();
                let tiling = tiling.unwrap_or_else(|| TileAssignment::replicated(shape.rank(), self.devices));
                Value::Array(Part { id, shape: shape.clone(), tiling })
            }
            _ => {
                tilings.next();
                Value::Token(id)
            }
        }
    }

    /// Returns the single instruction that defines a value.
    pub(super) fn materialized(&mut self, value: &Value) -> InstrId {
        match value {
            Value::Array(part) => part.id,
            Value::Token(id) => *id,
            Value::Tuple(parts) => {
                let parts: Vec<InstrId> = parts.iter().map(|p| self.materialized(p)).collect();
                self.tuple(&parts)
            }
        }
    }

    /// Converts the leaves of a value to these shardings.
    pub(super) fn resharded_value(&mut self, value: &Value, to: &[TileAssignment]) -> Value {
        let mut to = to.iter();
        self.resharded_leaves(value, &mut to)
    }

    fn resharded_leaves(&mut self, value: &Value, to: &mut std::slice::Iter<'_, TileAssignment>) -> Value {
        match value {
            Value::Array(part) => match to.next() {
                Some(to) => Value::Array(self.reshard(part, to)),
                None => value.clone(),
            },
            Value::Token(id) => {
                to.next();
                Value::Token(*id)
            }
            Value::Tuple(parts) => Value::Tuple(parts.iter().map(|p| self.resharded_leaves(p, to)).collect()),
        }
    }

    /// Returns the partition id of the device that runs the program.
    pub(super) fn partition_id(&mut self) -> InstrId {
        if let Some(id) = self.scope.partition {
            return id;
        }
        let id = self.add(Shape::scalar(ElementType::U32), Op::PartitionId, &[]);
        self.scope.partition = Some(id);
        id
    }

    /// Returns the number of the device, from a list with one number for each device.
    pub(super) fn of_device(&mut self, numbers: Vec<i64>) -> InstrId {
        if let Some(&known) = self.scope.tables.get(&numbers) {
            return known;
        }
        let scalar = Shape::scalar(INDEX_TYPE);
        let made = match numbers.first() {
            Some(&first) if numbers.iter().all(|&n| n == first) => self.index(first),
            _ => {
                let values: Vec<i32> = numbers.iter().map(|&n| narrow(n)).collect();
                let table = Literal::r1(&values);
                let table = self.add(table.shape().clone(), Op::constant(table), &[]);
                let partition = self.partition_id();
                let row =
                    self.add(ArrayShape::new(INDEX_TYPE, [1]), Op::dynamic_slice([1]), &[table, partition]);
                self.add(scalar, Op::reshape(), &[row])
            }
        };
        self.scope.tables.insert(numbers, made);
        made
    }

    /// Emits a constant index.
    pub(super) fn index(&mut self, number: i64) -> InstrId {
        self.add(Shape::scalar(INDEX_TYPE), Op::constant(Literal::r0(narrow(number))), &[])
    }

    /// Emits the start of the device's tile along a dimension.
    pub(super) fn tile_start(&mut self, part: &Part, d: usize) -> InstrId {
        let shard = part.local_dims().get(d).copied().unwrap_or(0);
        let places = part.tiling.places();
        self.of_device(places.iter().map(|p| p.tile.get(d).copied().unwrap_or(0) * shard).collect())
    }

    /// Adds an operation with the shape of its first operand.
    pub(super) fn same(&mut self, op: Op, operands: &[InstrId]) -> InstrId {
        let shape = operands.first().map_or(Shape::Token, |&o| self.shape_of(o));
        self.add(shape, op, operands)
    }

    /// Broadcasts a scalar to these dimensions.
    pub(super) fn spread(&mut self, scalar: InstrId, dims: &[i64]) -> InstrId {
        match self.array_of(scalar) {
            Some(a) if !dims.is_empty() => {
                self.broadcast(scalar, &ArrayShape::new(a.element_type, dims.iter().copied()), &[])
            }
            _ => scalar,
        }
    }

    /// Returns the part for an instruction that defines the tiles of an array.
    pub(super) fn made(&self, id: InstrId, whole: &ArrayShape, tiling: &TileAssignment) -> Part {
        Part { id, shape: whole.clone(), tiling: tiling.clone() }
    }

    /// Returns the shape of the parts of an array, in its layout.
    pub(super) fn shard_shape(&self, whole: &ArrayShape, tiling: &TileAssignment) -> ArrayShape {
        whole.with_sizes(&tiling.shard(&whole.dims))
    }
}

/// The type of indices.
pub(super) const INDEX_TYPE: ElementType = ElementType::S32;

/// Converts an index to [`INDEX_TYPE`]. Arrays are smaller than indices that do not fit, so they saturate.
fn narrow(number: i64) -> i32 {
    i32::try_from(number).unwrap_or(if number < 0 { i32::MIN } else { i32::MAX })
}

impl Part {
    /// Returns the sizes of the device's tile.
    pub(super) fn local_dims(&self) -> Dims {
        self.tiling.shard(&self.shape.dims)
    }

    /// Returns whether tiles are padded along a dimension.
    pub(super) fn is_filled_up(&self, d: usize) -> bool {
        let (size, tiles) = (self.shape.dims.get(d), self.tiling.tiles().get(d));
        matches!((size, tiles), (Some(size), Some(tiles)) if size % tiles != 0)
    }
}
