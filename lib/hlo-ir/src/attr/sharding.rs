//! `sharding=`: how a value is distributed over devices.
//!
//! There are three generations of notation: device lists `{devices=[2,2]0,1,2,3}`, iotas
//! `{devices=[2,2]<=[4]}`, and axes of a mesh `{mesh['x'=2,'y'=2], [{'x'}, {'y'}]}`. In addition, there are
//! words such as `{replicated}`.

use super::metadata::{OpMetadata, read_one_or_list};
use super::named_sharding::NamedSharding;
use super::tiled_sharding::TiledSharding;
use super::values::write_braced;
use super::{AttrError, AttrReader, AttrValue, BraceContents, ComputationNames, Subgroup};
use crate::Shape;
use std::fmt;
use std::sync::Arc;

/// How a value is distributed over devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Sharding {
    /// The sharding of an array or a token.
    Single(Arc<SingleSharding>),
    /// The shardings of a tuple's leaves, in order. Shared, because all leaves often have the same one.
    Tuple(Vec<Arc<SingleSharding>>),
}

/// How one array is distributed over devices.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SingleSharding {
    /// Which device has which part of the array.
    pub kind: ShardingKind,
    /// The group of values that are sharded together with it.
    pub group: Option<ShardGroup>,
    /// The source of the sharding.
    pub metadata: Vec<OpMetadata>,
}

/// Which device has which part of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum ShardingKind {
    /// Every device has the whole array.
    #[default]
    Replicated,
    /// One device has the whole array.
    Maximal(i64),
    /// The program determines what each device has.
    Manual,
    /// Not known yet.
    Unknown,
    /// Every device has a summand of the array.
    Unreduced,
    /// The array is cut into tiles.
    Tiled(TiledSharding),
    /// The array is sharded along the axes of a mesh.
    Named(NamedSharding),
}

/// A group of values that are sharded together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ShardGroup {
    /// The number of the group.
    pub id: i64,
    /// Whether all values must have the same sharding (`shard_as`) or similar ones (`shard_like`).
    pub same: bool,
}

impl Default for Sharding {
    fn default() -> Self {
        Sharding::Tuple(Vec::new())
    }
}

impl Sharding {
    /// Creates the sharding of one array.
    pub fn single(kind: ShardingKind) -> Self {
        Sharding::Single(Arc::new(SingleSharding { kind, group: None, metadata: Vec::new() }))
    }

    /// Returns the shardings of the leaves. The only leaf of an array is the array itself.
    pub fn leaves(&self) -> &[Arc<SingleSharding>] {
        match self {
            Sharding::Single(one) => std::slice::from_ref(one),
            Sharding::Tuple(leaves) => leaves,
        }
    }

    /// Converts to the sharding of a value of this shape. A single sharding for a tuple applies to each leaf.
    pub fn for_shape(self, shape: &Shape) -> Self {
        match (self, shape) {
            (Sharding::Single(one), Shape::Tuple(_)) => Sharding::Tuple(vec![one; leaf_count(shape).max(1)]),
            (sharding, _) => sharding,
        }
    }
}

/// Returns the number of leaves of a shape.
fn leaf_count(shape: &Shape) -> usize {
    match shape {
        Shape::Tuple(elements) => elements.iter().map(leaf_count).sum(),
        _ => 1,
    }
}

impl SingleSharding {
    /// Returns the rank of the arrays that it fits; `None` if it fits any rank.
    pub fn rank(&self) -> Option<usize> {
        match &self.kind {
            ShardingKind::Tiled(tiled) => Some(tiled.rank()),
            ShardingKind::Named(named) => named.rank(),
            ShardingKind::Replicated
            | ShardingKind::Maximal(_)
            | ShardingKind::Manual
            | ShardingKind::Unknown
            | ShardingKind::Unreduced => None,
        }
    }

    /// Returns the number of devices; `None` if it fits any number or the number does not fit an `i64`.
    pub fn device_count(&self) -> Option<i64> {
        match &self.kind {
            ShardingKind::Tiled(tiled) => tiled.device_count(),
            ShardingKind::Named(named) => named.device_count(),
            ShardingKind::Replicated
            | ShardingKind::Maximal(_)
            | ShardingKind::Manual
            | ShardingKind::Unknown
            | ShardingKind::Unreduced => None,
        }
    }

    /// Reads the text between the braces.
    fn read_inner(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let rest = r.remaining();
        if rest.starts_with("mesh") || rest.starts_with("maximal_mesh") {
            let (named, metadata) = NamedSharding::read(r)?;
            return Ok(Self { kind: ShardingKind::Named(named), group: None, metadata });
        }
        Items::read(r)?.finish(r)
    }

    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        let metadata = if names.writes_metadata() { &self.metadata[..] } else { &[] };
        f.write_str("{")?;
        match &self.kind {
            ShardingKind::Replicated => f.write_str("replicated")?,
            ShardingKind::Maximal(device) => write!(f, "maximal device={device}")?,
            ShardingKind::Manual => f.write_str("manual")?,
            ShardingKind::Unknown => f.write_str("unknown")?,
            ShardingKind::Unreduced => f.write_str("unreduced")?,
            ShardingKind::Tiled(tiled) => tiled.write(f)?,
            ShardingKind::Named(named) => {
                named.write(f)?;
                if !metadata.is_empty() {
                    f.write_str(", metadata=")?;
                    write_braced(f, metadata, ", ", |f, m| m.write(f, names))?;
                }
                return f.write_str("}");
            }
        }
        if let Some(group) = self.group {
            write!(f, " {} {}", if group.same { "shard_as" } else { "shard_like" }, group.id)?;
        }
        match metadata {
            [] => {}
            [one] => {
                f.write_str(" metadata=")?;
                one.write(f, names)?;
            }
            list => {
                f.write_str(" metadata=")?;
                write_braced(f, list, ", ", |f, m| m.write(f, names))?;
            }
        }
        f.write_str("}")
    }
}

/// The items of a sharding without a mesh, as read: separated by blanks, in any order.
#[derive(Default)]
struct Items {
    start: usize,
    replicated: bool,
    maximal: bool,
    manual: bool,
    unknown: bool,
    unreduced: bool,
    device: Option<i64>,
    tiled: Option<TiledSharding>,
    replicate_last: bool,
    subgroups: bool,
    group: Option<ShardGroup>,
    metadata: Vec<OpMetadata>,
}

/// The items between the braces: first those of a sharding with a mesh, then the words and fields of one
/// without.
const ITEMS: &[&str] = &[
    "mesh",
    "maximal_mesh",
    "replicated",
    "maximal",
    "manual",
    "unknown",
    "unreduced",
    "last_tile_dim_replicate",
    "shard_as",
    "shard_like",
    "device",
    "devices",
    "last_tile_dims",
    "metadata",
];

/// The items of a sharding without a mesh.
const MESHLESS_ITEMS: &[&str] = ITEMS.split_at(2).1;

impl Items {
    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut items = Items { start: r.offset_of_next(), ..Items::default() };
        let mut subgroups = None;
        while !matches!(r.peek(), 0 | b'}') {
            match r.one_of(MESHLESS_ITEMS)? {
                0 => items.replicated = true,
                1 => items.maximal = true,
                2 => items.manual = true,
                3 => items.unknown = true,
                4 => items.unreduced = true,
                5 => items.replicate_last = true,
                word @ (6 | 7) => items.group = Some(ShardGroup { id: r.integer()?, same: word == 6 }),
                8 => {
                    r.expect("=")?;
                    items.device = Some(r.integer()?);
                }
                9 => {
                    r.expect("=")?;
                    items.tiled = Some(TiledSharding::read_tiles(r)?);
                }
                10 => {
                    r.expect("=")?;
                    subgroups = Some(TiledSharding::read_subgroups(r)?);
                }
                _ => {
                    r.expect("=")?;
                    items.metadata = read_one_or_list(r)?;
                }
            }
        }
        if let Some(list) = subgroups {
            items.subgroups = true;
            if let Some(tiled) = &mut items.tiled {
                tiled.subgroups = list;
            }
        }
        Ok(items)
    }

    /// Returns the meaning of the items. If there are several words, the first one in this order counts, as
    /// in XLA.
    fn finish(self, r: &AttrReader<'_>) -> Result<SingleSharding, AttrError> {
        let fail = |message: &str| Err(r.error_since(self.start, message.into()));
        let kind = if self.replicated {
            if self.device.is_some() {
                return fail("a replicated sharding has no device");
            }
            ShardingKind::Replicated
        } else if self.maximal {
            let Some(device) = self.device else {
                return fail("a maximal sharding names its device, as in `{maximal device=0}`");
            };
            ShardingKind::Maximal(device)
        } else if self.manual {
            ShardingKind::Manual
        } else if self.unknown {
            ShardingKind::Unknown
        } else if self.unreduced {
            ShardingKind::Unreduced
        } else {
            let Some(mut tiled) = self.tiled else {
                return fail(
                    "a sharding is `replicated`, `maximal`, `manual`, `unknown`, `unreduced`, or has `devices=`",
                );
            };
            if self.replicate_last {
                if self.subgroups {
                    return fail(
                        "`last_tile_dim_replicate` and `last_tile_dims` say the same: give one of them",
                    );
                }
                tiled.subgroups = vec![super::Subgroup::Replicated];
            }
            match tiled.normalized() {
                Ok(kind) => kind,
                Err(message) => return fail(&message),
            }
        };
        Ok(SingleSharding { kind, group: self.group, metadata: self.metadata })
    }
}

/// `{replicated}`, `{devices=[2,2]<=[4]}`, `{{replicated}, {manual}}`, ….
impl AttrValue for Sharding {
    const RULE: &'static str = "sharding";
    const BRACE_CONTENTS: BraceContents = BraceContents {
        words: ITEMS.split_at(10).0,
        fields: ITEMS.split_at(10).1,
        parts: &[
            ("mesh", NamedSharding::BRACE_CONTENTS),
            ("last_tile_dims", BraceContents::words(Subgroup::WORDS)),
            ("metadata", OpMetadata::BRACE_CONTENTS),
        ],
        ..BraceContents::NO_NAMES
    };

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.expect("{")?;
        if r.eat("}") {
            return Ok(Sharding::Tuple(Vec::new()));
        }
        if r.peek() != b'{' {
            let one = SingleSharding::read_inner(r)?;
            r.expect("}")?;
            return Ok(Sharding::Single(Arc::new(one)));
        }
        let leaves = r.items("}", |r| {
            r.expect("{")?;
            let leaf = SingleSharding::read_inner(r)?;
            r.expect("}")?;
            Ok(Arc::new(leaf))
        })?;
        Ok(Sharding::Tuple(leaves))
    }

    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        match self {
            Sharding::Single(one) => one.write(f, names),
            Sharding::Tuple(leaves) => {
                f.write_str("{")?;
                for (i, leaf) in leaves.iter().enumerate() {
                    // XLA prints the index of every fifth leaf, whatever the print options.
                    match i {
                        0 => {}
                        _ if i.is_multiple_of(5) => write!(f, ", /*index={i}*/")?,
                        _ => f.write_str(", ")?,
                    }
                    leaf.write(f, names)?;
                }
                f.write_str("}")
            }
        }
    }
}
