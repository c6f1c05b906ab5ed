//! Partitioning: turns a program that describes all partitions together into the program of one partition,
//! and divides its arguments and results into tiles.

use crate::Error;
use hlo_ir::attr::{Sharding, ShardingKind, Summands, TileAssignment};
use hlo_ir::devices::{DeviceCounts, MAX_DEVICES};
use hlo_ir::verify::Verified;
use hlo_ir::{ArrayShape, Dims, InstrId, Instruction, Literal, Module, Op, Shape};
use hlo_passes::{CustomPartitioner, Pipeline, expand_custom_partitions};

/// How the parameters and results of a partitioned program are divided.
#[derive(Clone, Debug)]
pub struct Partition {
    partitions: usize,
    /// The leaves of the parameters, in order.
    parameters: Vec<Cut>,
    /// The leaves of the result, in order.
    result: Vec<Cut>,
    result_shape: Shape,
    inspected: Vec<Inspected>,
}

/// A value of the whole program that an `InspectSharding` call asks about.
#[derive(Clone, Debug, PartialEq)]
pub struct Inspected {
    /// The `backend_config` of the call, which identifies the receiver of the answer.
    pub config: Vec<u8>,
    /// How the value is divided among the partitions.
    pub sharding: ShardingKind,
}

/// A leaf of the whole program, and the part of it that each partition holds.
#[derive(Clone, Debug)]
struct Cut {
    shape: Shape,
    /// `None` if the leaf is not divided.
    tiling: Option<TileAssignment>,
    /// Set if the partitions hold summands of the leaf.
    summands: Option<Summands>,
}

/// Collects the result of `said` for the leaves of the parameters and for the leaves of the result.
fn ends<T: Clone>(
    module: &Module,
    partitions: usize,
    said: impl Fn(&Instruction, usize) -> Result<Vec<Option<T>>, String>,
) -> Result<[Vec<Option<T>>; 2], Error> {
    let of = |id: InstrId| match partitions {
        1 => Ok(vec![None; module[id].shape.leaf_count()]),
        _ => said(&module[id], partitions).map_err(Error::new),
    };
    let entry = module.entry();
    let parameters = module.parameters(entry).into_iter().map(of).collect::<Result<Vec<_>, _>>()?;
    Ok([parameters.into_iter().flatten().collect(), of(module[entry].root())?])
}

/// Removes the calls that ask for the sharding of their operand, and returns the answers to them.
fn inspect(module: &mut Module) -> Vec<Inspected> {
    let is_asking = |id: &InstrId| match &module[*id].op {
        Op::CustomCall(a) => a.custom_call_target.as_str() == Some("InspectSharding"),
        _ => false,
    };
    let every = module.computations().flat_map(|c| module[c].instructions().iter().copied());
    let asking: Vec<InstrId> = every.filter(is_asking).collect();
    let mut found = Vec::new();
    for id in asking {
        let Some(&operand) = module[id].operands.first() else { continue };
        let sharding = match module[operand].sharding() {
            Some(Sharding::Single(one)) => one.kind.clone(),
            _ => ShardingKind::Replicated,
        };
        let config = module[id].common.as_ref().map(|c| c.backend_config.as_bytes().to_vec());
        found.push(Inspected { config: config.unwrap_or_default(), sharding });
        module.replace_all_uses_with(id, operand);
        module.remove(id);
    }
    found
}

/// Verifies a module that describes what all of its partitions do together, and partitions it by its
/// shardings. Afterwards the module describes what each partition does. A module with one partition does not
/// change.
///
/// # Errors
/// The module is invalid, it needs more devices than a program may have, or a sharding cannot be applied.
/// Errors of instructions name the instruction.
pub fn partition(module: &mut Module) -> Result<Partition, Error> {
    partition_with(module, None)
}

/// Partitions a module as [`partition`] does. `partitioner` replaces the custom calls that it handles.
///
/// # Errors
/// As [`partition`], or such a call cannot be partitioned, or a computation of the partitioner is invalid.
pub fn partition_with(
    module: &mut Module,
    partitioner: Option<&dyn CustomPartitioner>,
) -> Result<Partition, Error> {
    Verified::new(&*module)?;
    let counts = DeviceCounts::of(module).ok_or_else(|| {
        let (replicas, partitions) = (module.header.replica_count.0, module.header.num_partitions.0);
        Error::new(format!(
            "expected at most {MAX_DEVICES} devices, found {replicas} replicas of {partitions} partitions"
        ))
    })?;
    let partitions = counts.partitions;
    let summands = ends(module, partitions, Summands::of_instruction)?;
    Pipeline::parse("expand-unreduced,sharding-propagation")?.run(module, &mut ())?;
    if let Some(partitioner) = partitioner {
        expand_custom_partitions(module, partitioner)?;
    }
    let inspected = inspect(module);
    let tilings = ends(module, partitions, TileAssignment::of_instruction)?;
    let (arguments, result_shape) = module.entry_shapes();
    let result_shape = result_shape.clone();
    let shapes = [arguments.iter().flat_map(|s| s.leaves()).collect(), result_shape.leaves()];
    let [parameters, result] = [0, 1].map(|end: usize| {
        let said = tilings[end].iter().zip(&summands[end]);
        shapes[end]
            .iter()
            .zip(said)
            .map(|(shape, (tiling, summands))| Cut::of(shape, tiling, summands))
            .collect()
    });
    // The remover removes the shardings in applied computations, which are not partitioned.
    Pipeline::parse("spmd-partitioning,sharding-remover,all-reduce-combiner")?.run(module, &mut ())?;
    Ok(Partition { partitions, parameters, result, result_shape, inspected })
}

impl Partition {
    /// Returns the number of partitions.
    pub fn partitions(&self) -> usize {
        self.partitions
    }

    /// Checks that all parameters can be divided and all results can be joined.
    ///
    /// # Errors
    /// The program determines the parts of a value itself (`manual`).
    pub fn check(&self) -> Result<(), Error> {
        for (what, cuts) in [("argument", &self.parameters), ("result", &self.result)] {
            for (n, cut) in cuts.iter().enumerate() {
                cut.tiled().map_err(|why| Error::new(format!("{what} {n}: {why}")))?;
            }
        }
        Ok(())
    }

    /// Returns the shapes of the leaves of the whole program's parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &Shape> {
        self.parameters.iter().map(|cut| &cut.shape)
    }

    /// Returns the shape of the whole program's result.
    pub fn result(&self) -> &Shape {
        &self.result_shape
    }

    /// Returns the shardings of the leaves of the parameters and of the leaves of the result.
    pub fn shardings(&self) -> [Vec<ShardingKind>; 2] {
        [&self.parameters, &self.result].map(|cuts| cuts.iter().map(Cut::kind).collect())
    }

    /// Returns the answers to the program's `InspectSharding` calls.
    pub fn inspected(&self) -> &[Inspected] {
        &self.inspected
    }

    /// Returns the parts of the whole program's arguments that a partition holds. `values` has one value for
    /// each leaf of the parameters. Where a tile extends beyond the end of an array that it does not divide
    /// evenly, it is filled with zeros.
    ///
    /// # Errors
    /// The number of values differs from the number of leaves, a value does not fit its parameter, the
    /// program determines the parts of a value itself (`manual`), there is no such partition, or there is no
    /// memory for the parts.
    pub fn shard(&self, values: &[Literal], partition: usize) -> Result<Vec<Literal>, Error> {
        if values.len() != self.parameters.len() {
            return Err(Error::argument_count(self.parameters.len(), values.len()));
        }
        if partition >= self.partitions {
            let last = self.partitions - 1;
            return Err(Error::new(format!("there is no partition {partition}: they are 0 to {last}")));
        }
        let part = |(n, (cut, value)): (usize, (&Cut, &Literal))| {
            cut.tile(value, partition).map_err(|why| Error::new(format!("argument {n}: {why}")))
        };
        self.parameters.iter().zip(values).enumerate().map(part).collect()
    }

    /// Returns the parts of all partitions. See [`Partition::shard`].
    ///
    /// # Errors
    /// As [`Partition::shard`].
    pub fn shards(&self, values: &[Literal]) -> Result<Vec<Vec<Literal>>, Error> {
        (0..self.partitions).map(|partition| self.shard(values, partition)).collect()
    }

    /// Joins the results of the partitions into the whole result.
    ///
    /// # Errors
    /// The number of results differs from the number of partitions, a result does not fit this program, the
    /// program determines the parts of a value itself (`manual`), or there is no memory for the whole result.
    pub fn whole(&self, results: &[Literal]) -> Result<Literal, Error> {
        if results.len() != self.partitions {
            let (expected, found) = (self.partitions, results.len());
            return Err(Error::new(format!("expected the results of {expected} partitions, found {found}")));
        }
        let parts: Vec<Vec<&Literal>> = results.iter().map(Literal::leaves).collect();
        let mut leaves = Vec::with_capacity(self.result.len());
        if let Some(wrong) = parts.iter().find(|p| p.len() != self.result.len()) {
            let (expected, found) = (self.result.len(), wrong.len());
            return Err(Error::new(format!("expected {expected} results of each partition, found {found}")));
        }
        for (n, cut) in self.result.iter().enumerate() {
            let of_leaf: Vec<&Literal> = parts.iter().filter_map(|p| p.get(n).copied()).collect();
            leaves.push(cut.join(&of_leaf).map_err(|why| Error::new(format!("result {n}: {why}")))?);
        }
        Literal::from_leaves(&self.result_shape, &mut leaves.into_iter())
            .ok_or_else(|| Error::new("internal error: the leaves of a result do not fit it"))
    }
}

impl Cut {
    /// Creates a leaf. Arrays with dynamic sizes are not divided.
    fn of(shape: &Shape, tiling: &Option<TileAssignment>, summands: &Option<Summands>) -> Self {
        let is_cut = shape.as_array().is_some_and(ArrayShape::is_static);
        let (tiling, summands) = if is_cut { (tiling.clone(), summands.clone()) } else { (None, None) };
        Self { shape: shape.clone(), tiling, summands }
    }

    fn kind(&self) -> ShardingKind {
        match (&self.summands, &self.tiling) {
            (Some(summands), _) => summands.to_kind(),
            (None, Some(tiling)) => tiling.to_kind(),
            (None, None) => ShardingKind::Replicated,
        }
    }

    /// Returns the part of a value that a partition holds.
    fn tile(&self, value: &Literal, partition: usize) -> Result<Literal, String> {
        if !self.shape.accepts(value.shape()) {
            return Err(format!("expected an array of shape {}, found {}", self.shape, value.shape()));
        }
        let Some((array, tiling)) = self.tiled()? else { return Ok(value.clone()) };
        let local = tiling.shard(&array.dims);
        let mut tile = zeros(array, &local)?;
        // The first partition of each group holds the full value, and the others hold zeros.
        let is_all = |s: &Summands| s.groups().iter().any(|group| group.first() == Some(&partition));
        let has_it = self.summands.as_ref().is_none_or(is_all);
        if let Some(place) = tiling.place(partition).filter(|_| has_it) {
            let bytes = tile.bytes_mut();
            Overlap::of(array, &local, &place.tile).each(|from, to, count| {
                bytes[to..][..count].copy_from_slice(&value.bytes()[from..][..count]);
            });
        }
        Ok(tile)
    }

    /// Joins the parts, one of each partition, into the array.
    fn join(&self, parts: &[&Literal]) -> Result<Literal, String> {
        let Some(summands) = &self.summands else { return self.join_parts(parts) };
        let mut sums: Vec<Literal> = parts.iter().map(|&p| p.clone()).collect();
        for group in summands.groups() {
            let of_group: Vec<Literal> = group.iter().map(|&p| sums[p].clone()).collect();
            let sum = sum(&of_group)?;
            group.iter().for_each(|&p| sums[p] = sum.clone());
        }
        self.join_parts(&sums.iter().collect::<Vec<_>>())
    }

    /// Joins parts that are not summands.
    fn join_parts(&self, parts: &[&Literal]) -> Result<Literal, String> {
        let Some((array, tiling)) = self.tiled()? else {
            let first = *parts.first().ok_or("there are no parts")?;
            return if self.shape.accepts(first.shape()) {
                Ok(first.clone())
            } else {
                Err(format!("expected a part of shape {}, found {}", self.shape, first.shape()))
            };
        };
        let local = tiling.shard(&array.dims);
        let mut whole = zeros(array, &array.dims)?;
        let bytes = whole.bytes_mut();
        for (place, part) in tiling.places().iter().zip(parts) {
            let fits = |a: &ArrayShape| a.dims == local && a.element_type == array.element_type;
            if !part.shape().as_array().is_some_and(fits) {
                let expected = Shape::array(array.element_type, local.clone());
                return Err(format!("expected a part of shape {expected}, found {}", part.shape()));
            }
            // Partitions that hold the same tile hold the same elements.
            if place.replica == 0 {
                Overlap::of(array, &local, &place.tile).each(|to, from, count| {
                    bytes[to..][..count].copy_from_slice(&part.bytes()[from..][..count]);
                });
            }
        }
        Ok(whole)
    }

    /// Returns the array and its tiles, or `None` if there is only one tile.
    fn tiled(&self) -> Result<Option<(&ArrayShape, &TileAssignment)>, String> {
        let tiling = self.summands.as_ref().map(|s| &s.summed).or(self.tiling.as_ref());
        let (Some(array), Some(tiling)) = (self.shape.as_array(), tiling) else { return Ok(None) };
        if tiling.is_replicated() && self.summands.is_none() {
            return Ok(None);
        }
        if tiling.groups() > 1 {
            return Err("the program itself says what each partition has of it (`manual`)".to_string());
        }
        Ok(Some((array, tiling)))
    }
}

/// Adds arrays of one shape, in their order.
fn sum(arrays: &[Literal]) -> Result<Literal, String> {
    let shape = arrays.first().ok_or("there are no parts")?.shape().clone();
    let is_pred = shape.as_array().is_some_and(|a| a.element_type.is_pred());
    let mut module = Module::new("sum");
    let entry = module.add_computation("e");
    let mut total = None;
    for n in 0..arrays.len() {
        let next = module.add(entry, &format!("p{n}"), shape.clone(), Op::parameter(n as i64), []);
        let op = if is_pred { Op::Or } else { Op::Add };
        total = Some(match total {
            None => next,
            Some(before) => module.add(entry, &format!("s{n}"), shape.clone(), op, [before, next]),
        });
    }
    module.set_root(entry, total.ok_or("there are no parts")?);
    module.set_entry(entry);
    hlo_eval::evaluate(&module, arrays, &hlo_eval::Options::default()).map_err(|e| e.to_string())
}

/// Returns an array of zeros with the element type of `like`.
fn zeros(like: &ArrayShape, dims: &Dims) -> Result<Literal, String> {
    let shape = Shape::array(like.element_type, dims.clone());
    Literal::try_zeros(&shape).ok_or_else(|| format!("there is no memory for an array of shape {shape}"))
}

/// The overlap of an array and one of its tiles, both row-major.
struct Overlap {
    /// The sizes of the overlap.
    sizes: Dims,
    /// The offset of the overlap in the array, in bytes.
    start: usize,
    /// The strides of each dimension in the array and in the tile, in bytes.
    strides: Vec<(usize, usize)>,
    element_bytes: usize,
}

impl Overlap {
    fn of(array: &ArrayShape, local: &Dims, tile: &[i64]) -> Self {
        let element_bytes = array.element_type.byte_size();
        let bytes = |n: i64| usize::try_from(n).unwrap_or(0) * element_bytes;
        // Where the sizes are not multiples, the last tiles may begin beyond the end.
        let begins: Dims = (0..local.len()).map(|d| (tile[d] * local[d]).min(array.dims[d])).collect();
        let sizes = (0..local.len()).map(|d| (array.dims[d] - begins[d]).min(local[d])).collect();
        let (whole, part) = (array.row_major_strides(), ArrayShape::new(array.element_type, local.clone()));
        let part = part.row_major_strides();
        Self {
            sizes,
            start: begins.iter().zip(&whole).map(|(&at, &stride)| bytes(at * stride)).sum(),
            strides: whole.iter().zip(&part).map(|(&a, &b)| (bytes(a), bytes(b))).collect(),
            element_bytes,
        }
    }

    /// Calls `row` for each row with its offsets in the array and in the tile, and its size, all in bytes.
    fn each(&self, mut row: impl FnMut(usize, usize, usize)) {
        let Some((&last, outer)) = self.sizes.split_last() else { return row(0, 0, self.element_bytes) };
        let bytes = usize::try_from(last).unwrap_or(0) * self.element_bytes;
        let rows: i64 = outer.iter().product();
        if bytes == 0 {
            return;
        }
        for n in 0..usize::try_from(rows).unwrap_or(0) {
            let index = hlo_ir::unravel(n, outer);
            let (mut whole, mut part) = (self.start, 0);
            for (&i, (of_whole, of_part)) in index.iter().zip(&self.strides) {
                let i = usize::try_from(i).unwrap_or(0);
                whole += i * of_whole;
                part += i * of_part;
            }
            row(whole, part, bytes);
        }
    }
}
