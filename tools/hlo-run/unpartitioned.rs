//! Programs that this tool partitions (`--use-spmd-partitioning`). Inputs and results are those of the whole
//! program.

use crate::args::Args;
use crate::leaves::{Leaf, parameter_leaves, result_leaves};
use crate::ranks::OtherRanks;
use hlo_client::Partition;
use hlo_ir::attr::{Sharding, ShardingKind};
use hlo_ir::diag::Source;
use hlo_ir::{ElementType, Literal, Module, Op, Shape};
use hlo_tools_common::{Failure, Reporter};

/// A program before partitioning.
#[derive(Debug)]
pub struct UnpartitionedProgram {
    /// The whole program.
    pub module: Module,
    /// Its parameters and results.
    pub parameters: Vec<Leaf>,
    pub results: Vec<Leaf>,
    partition: Partition,
    /// The shape of a device's result.
    part: Shape,
}

impl UnpartitionedProgram {
    /// Partitions a module, if the arguments request it. Otherwise, prints a note if the module seems to
    /// require it.
    pub fn cut(
        args: &Args,
        (reporter, ranks): (Reporter, OtherRanks<'_>),
        module: &mut Module,
        source: &Source,
    ) -> Result<Option<Self>, Failure> {
        if !args.use_spmd_partitioning {
            if needs_partitioning(module) && !args.quiet && ranks.is_none_or(|ranks| ranks.rank() == 0) {
                reporter.note(
                    "the program's values have shardings, and each device runs all of it: --use-spmd-partitioning cuts it",
                );
            }
            return Ok(None);
        }
        let module_before = module.clone();
        let refused = |error| match error {
            hlo_client::Error::Diags(diags) => Failure::diags(source, diags),
            other => failure(other),
        };
        let partition = hlo_client::partition(module).map_err(refused)?;
        if partition.partitions() == 1 {
            return Err(Failure::Usage(
                "--use-spmd-partitioning: the program has one partition; --num-partitions=P says how many there are"
                    .to_string(),
            ));
        }
        partition.check().map_err(failure)?;
        Ok(Some(Self {
            parameters: parameter_leaves(&module_before),
            results: result_leaves(&module_before),
            module: module_before,
            partition,
            part: module[module[module.entry()].root()].shape.clone(),
        }))
    }

    /// Returns the number of devices of each replica.
    pub fn partitions(&self) -> usize {
        self.partition.partitions()
    }

    /// Returns the shards of the inputs for a device.
    pub fn shard(&self, inputs: &[Literal], device: usize) -> Result<Vec<Literal>, Failure> {
        self.partition.shard(inputs, device % self.partitions()).map_err(failure)
    }

    /// Collects the results of all devices at the first rank. Returns no results at other ranks.
    pub fn gathered(&self, own: Vec<Literal>, ranks: OtherRanks<'_>) -> Result<Vec<Literal>, Failure> {
        let Some(ranks) = ranks else { return Ok(own) };
        let Some(texts) = ranks.gather(bytes_of(&own)?)? else { return Ok(Vec::new()) };
        let all = texts.iter().map(|text| literals_of(text, &self.part));
        Ok(all.collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Joins the results of all devices to the results of the replicas.
    pub fn joined(&self, of_devices: &[Literal]) -> Result<Vec<Literal>, Failure> {
        of_devices
            .chunks(self.partitions())
            .map(|parts| self.partition.whole(parts).map_err(failure))
            .collect()
    }
}

fn failure(error: hlo_client::Error) -> Failure {
    Failure::Message(error.to_string())
}

fn unreadable() -> Failure {
    Failure::Message("internal error: another rank's results are not those of this program".to_string())
}

/// Whether a program with several partitions contains a sharding other than those of parameters. Partitioning
/// keeps the shardings of parameters.
fn needs_partitioning(module: &Module) -> bool {
    let instructions = module.computations().flat_map(|c| module[c].instructions());
    module.header.num_partitions.0 > 1
        && instructions.copied().any(|id| {
            let cuts = |kind: &ShardingKind| matches!(kind, ShardingKind::Tiled(_) | ShardingKind::Named(_));
            let says = |sharding: &Sharding| sharding.leaves().iter().any(|one| cuts(&one.kind));
            !matches!(module[id].op, Op::Parameter(_)) && module[id].sharding().is_some_and(says)
        })
}

/// Serializes values: the sizes of the leaves of each value, then all elements.
fn bytes_of(values: &[Literal]) -> Result<Vec<u8>, Failure> {
    let dims = |leaf: &Literal| leaf.shape().as_array().map_or_else(Vec::new, |a| a.dims.to_vec());
    let sizes: Vec<Vec<Vec<i64>>> =
        values.iter().map(|v| v.leaves().into_iter().map(dims).collect()).collect();
    let mut bytes = serde_json::to_vec(&sizes).map_err(|_| unreadable())?;
    bytes.push(b'\n');
    for leaf in values.iter().flat_map(Literal::leaves).filter(|leaf| leaf.shape().as_array().is_some()) {
        bytes.extend_from_slice(leaf.bytes());
    }
    Ok(bytes)
}

/// Deserializes values of a shape. Their sizes may differ from those of the shape.
fn literals_of(text: &[u8], shape: &Shape) -> Result<Vec<Literal>, Failure> {
    let end = text.iter().position(|&b| b == b'\n').ok_or_else(unreadable)?;
    let sizes: Vec<Vec<Vec<i64>>> = serde_json::from_slice(&text[..end]).map_err(|_| unreadable())?;
    let mut rest = &text[end + 1..];
    let mut values = Vec::with_capacity(sizes.len());
    for sizes in sizes {
        let mut leaves = Vec::with_capacity(sizes.len());
        for (leaf, dims) in shape.leaves().into_iter().zip(sizes) {
            let Some(array) = leaf.as_array() else {
                leaves.push(Literal::try_zeros(leaf).ok_or_else(unreadable)?);
                continue;
            };
            let value = read_array(array.element_type, dims, &mut rest).ok_or_else(unreadable)?;
            leaves.push(value);
        }
        let value = Literal::from_leaves(shape, &mut leaves.into_iter());
        values.push(value.ok_or_else(unreadable)?);
    }
    Ok(values)
}

/// Reads the next array.
fn read_array(ty: ElementType, dims: Vec<i64>, rest: &mut &[u8]) -> Option<Literal> {
    let mut value = Literal::try_zeros(&Shape::array(ty, dims))?;
    let (bytes, after) = rest.split_at_checked(value.bytes().len())?;
    value.bytes_mut().copy_from_slice(bytes);
    *rest = after;
    Some(value)
}
