//! Values of the attributes of products, custom calls and transfers.

use super::values::write_braced;
use super::{
    AttrError, AttrReader, AttrValue, BraceContents, ComputationNames, CustomCallAttrs, HloString, Precision,
    Sharding,
};
use crate::print::{print_shape, write_value};
use crate::{Literal, Shape};
use std::fmt;

/// `operand_precision={high,default}`: one entry for each operand; empty if all are the default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct OperandPrecision(pub Vec<Precision>);

impl AttrValue for OperandPrecision {
    const RULE: &'static str = "precisions";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let list = r.list("{", "}", Precision::read)?;
        let any = list.iter().any(|&p| p != Precision::Default);
        Ok(Self(if any { list } else { Vec::new() }))
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_braced(f, &self.0, ",", |f, p| f.write_str(p.text()))
    }
}

/// A boolean whose default is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct OrTrue(pub bool);

impl Default for OrTrue {
    fn default() -> Self {
        OrTrue(true)
    }
}

impl AttrValue for OrTrue {
    const RULE: &'static str = "boolean";
    const WORDS: &'static [&'static str] = bool::WORDS;

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        bool::read(r).map(OrTrue)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// `literal=f32[2]{0} {1, 2}`, or a tuple of literals in parentheses.
#[derive(Clone, Debug, PartialEq)]
pub struct LiteralValue(pub Literal);

impl Default for LiteralValue {
    fn default() -> Self {
        LiteralValue(Literal::tuple(Vec::new()))
    }
}

/// Maximum nesting depth of literals.
const MAX_DEPTH: usize = 1024;

fn read_literal(r: &mut AttrReader<'_>, depth: usize) -> Result<Literal, AttrError> {
    if depth > MAX_DEPTH {
        return Err(r.expected("a literal that nests less deeply"));
    }
    if r.peek() != b'(' {
        return r.literal();
    }
    r.list("(", ")", |r| read_literal(r, depth + 1)).map(Literal::tuple)
}

fn write_literal(f: &mut dyn fmt::Write, literal: &Literal) -> fmt::Result {
    if !matches!(literal.shape(), Shape::Tuple(_)) {
        write!(f, "{} ", print_shape(literal.shape()))?;
        return write_value(f, literal, None);
    }
    f.write_str("(")?;
    for (i, e) in literal.tuple_elements().iter().enumerate() {
        f.write_str(if i > 0 { ", " } else { " " })?;
        write_literal(f, e)?;
    }
    f.write_str(" )")
}

impl AttrValue for LiteralValue {
    const RULE: &'static str = "literal_value";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        read_literal(r, 0).map(LiteralValue)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write_literal(f, &self.0)
    }
}

/// `domain={kind="sharding", entry={replicated}, exit={manual}}`: a boundary between two parts of a
/// computation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Domain {
    /// The sharding on the side of the users.
    pub entry: Sharding,
    /// The sharding on the side of the operand.
    pub exit: Sharding,
}

impl AttrValue for Domain {
    const RULE: &'static str = "domain";
    const BRACE_CONTENTS: BraceContents = BraceContents {
        fields: &["kind", "entry", "exit"],
        parts: &[("entry", Sharding::BRACE_CONTENTS), ("exit", Sharding::BRACE_CONTENTS)],
        ..BraceContents::NO_NAMES
    };

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let start = r.offset_of_next();
        let (mut kind, mut entry, mut exit) = (None, None, None);
        r.expect("{")?;
        r.items("}", |r| {
            match r.sub_attribute(Self::BRACE_CONTENTS.fields)? {
                0 => {
                    let here = r.offset_of_next();
                    let text: HloString = r.string()?;
                    if text != "sharding" {
                        let message = format!("the kind of a domain is \"sharding\", found {text}");
                        return Err(r.error_since(here, message));
                    }
                    kind = Some(text);
                }
                1 => entry = Some(Sharding::read(r)?),
                _ => exit = Some(Sharding::read(r)?),
            }
            Ok(())
        })?;
        match (kind, entry, exit) {
            (Some(_), Some(entry), Some(exit)) => Ok(Self { entry, exit }),
            _ => Err(r.error_since(start, "a domain has a `kind=`, an `entry=` and an `exit=`".into())),
        }
    }
    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{kind=\"sharding\", entry=")?;
        self.entry.write(f, names)?;
        f.write_str(", exit=")?;
        self.exit.write(f, names)?;
        f.write_str("}")
    }
}

/// `sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1} rhs={…}}` of convolutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SparsityConfig {
    /// The sparsity of the input.
    pub lhs: Option<Sparsity>,
    /// The sparsity of the kernel.
    pub rhs: Option<Sparsity>,
}

/// Structured sparsity along a dimension: `n` of every `m` elements may be non-zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Sparsity {
    /// Number of non-zero elements in each group.
    pub n: i64,
    /// Number of elements in a group.
    pub m: i64,
    /// The dimension.
    pub dimension: i64,
    /// The distance between elements of a group.
    pub stride: i64,
    /// The operand that contains the positions of the non-zero elements, if the text names one.
    pub index_operand: Option<i64>,
}

/// The fields of a [`Sparsity`].
const SPARSITY: &[&str] = &["sparsity", "dimension", "stride", "idx"];

impl AttrValue for SparsityConfig {
    const RULE: &'static str = "sparsity_config";
    const BRACE_CONTENTS: BraceContents = BraceContents {
        fields: &["lhs", "rhs"],
        parts: &[("lhs", BraceContents::fields(SPARSITY)), ("rhs", BraceContents::fields(SPARSITY))],
        ..BraceContents::NO_NAMES
    };

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        let mut out = Self::default();
        r.loose_list("{", "}", |r| {
            match r.sub_attribute(Self::BRACE_CONTENTS.fields)? {
                0 => out.lhs = Some(read_sparsity(r)?),
                _ => out.rhs = Some(read_sparsity(r)?),
            }
            Ok(())
        })?;
        Ok(out)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        let mut separator = "";
        for (name, sparsity) in [("lhs", self.lhs), ("rhs", self.rhs)] {
            let Some(s) = sparsity else { continue };
            let separator = std::mem::replace(&mut separator, " ");
            write!(
                f,
                "{separator}{name}={{sparsity={}x{} dimension={} stride={}",
                s.n, s.m, s.dimension, s.stride
            )?;
            if let Some(index) = s.index_operand {
                write!(f, " idx={index}")?;
            }
            f.write_str("}")?;
        }
        f.write_str("}")
    }
}

fn read_sparsity(r: &mut AttrReader<'_>) -> Result<Sparsity, AttrError> {
    let mut out = Sparsity::default();
    r.loose_list("{", "}", |r| {
        match r.sub_attribute(SPARSITY)? {
            0 => {
                out.n = r.integer()?;
                if !r.eat_next("x") || r.at_blank() {
                    return Err(r.expected("two numbers such as `2x4`"));
                }
                out.m = r.integer()?;
            }
            1 => out.dimension = r.integer()?,
            2 => out.stride = r.integer()?,
            _ => out.index_operand = Some(r.integer()?),
        }
        Ok(())
    })?;
    Ok(out)
}

impl CustomCallAttrs {
    /// Targets of calls that return their operands unchanged. These calls only affect devices and memory.
    pub const FORWARDING_TARGETS: &[&str] = &[
        "AssumeGatherIndicesInBound",
        "LayoutConstraint",
        "MoveToDevice",
        "MoveToHost",
        "PinToDevice",
        "PinToDeviceSram",
        "SPMDFullToShardShape",
        "SPMDShardToFullShape",
        "ShardBarrierFrom",
        "ShardBarrierTo",
        "Sharding",
        "annotate_device_placement",
        "xla.sdy.FuncResultSharding",
        "xla.sdy.GlobalToLocalShape",
        "xla.sdy.LocalToGlobalShape",
        "xla.sdy.PropagationBarrier",
        "xla.sdy.Sharding",
    ];

    /// Returns whether the call returns its operands unchanged.
    pub fn forwards_operands(&self) -> bool {
        self.custom_call_target.as_str().is_some_and(|name| Self::FORWARDING_TARGETS.contains(&name))
    }

    /// Moves the computation of `to_apply` to the called computations, where XLA stores it.
    pub fn normalize(&mut self) {
        if let Some(callee) = self.to_apply.take()
            && self.called_computations.is_empty()
        {
            self.called_computations.push(callee);
        }
    }
}
