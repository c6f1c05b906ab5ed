//! The attributes in a module's first line (HLO text, "Module header").

use super::{
    AttrError, AttrReader, AttrValue, BufferDonor, ComputationNames, FrontendAttributes, InputOutputAlias,
    OriginRecovery, OriginalArray, attrs,
};
use crate::Shape;
use std::fmt;

attrs! {
    /// The attributes of a module, in printing order.
    Header {
        /// Whether the instructions of each computation are in execution order.
        is_scheduled: bool = Optional,
        /// Results that share memory with parameters.
        input_output_alias: Vec<InputOutputAlias> = Optional,
        /// Parameters whose memory may be reused for results.
        buffer_donor: Vec<BufferDonor> = Optional,
        /// Whether a parameter that the program returns unchanged may share memory with the result.
        alias_passthrough_params: bool = Optional,
        /// The shapes, with layouts, of the entry's parameters and result.
        entry_computation_layout: Option<EntryLayout> = Optional,
        /// Whether the partitioner may choose shardings of parameters: one value for all, or one for each.
        allow_spmd_sharding_propagation_to_parameters: PropagationAllowed = Optional,
        /// Whether the partitioner may choose shardings of results: one value for all, or one for each.
        allow_spmd_sharding_propagation_to_output: PropagationAllowed = Optional,
        /// Number of copies of the program that run on different data.
        replica_count: Count = Optional,
        /// Number of devices that run each copy.
        num_partitions: Count = Optional,
        /// Data of the front end, passed through unchanged.
        frontend_attributes: FrontendAttributes = Optional,
        /// How to recover arrays of the original program from arrays of this one.
        origin_recovery_table: Vec<OriginRecovery> = Optional,
        /// Which arrays of the original program are logged, and how.
        debug_attributes: Vec<DebugAttribute> = Optional,
    }
}

/// A count whose default is 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Count(pub i64);

impl Default for Count {
    fn default() -> Self {
        Count(1)
    }
}

impl AttrValue for Count {
    const RULE: &'static str = "integer";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.integer().map(Count)
    }
    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// The shapes of an entry's parameters and of its result.
#[derive(Clone, Debug, PartialEq)]
pub struct EntryLayout {
    /// The parameters' shapes.
    pub parameters: Vec<Shape>,
    /// The result's shape.
    pub result: Shape,
}

impl Default for EntryLayout {
    fn default() -> Self {
        Self { parameters: Vec::new(), result: Shape::tuple(Vec::new()) }
    }
}

/// `{(f32[2]{0}, s32[])->f32[2]{0}}`.
impl AttrValue for EntryLayout {
    const RULE: &'static str = "entry_layout";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.expect("{")?;
        if r.peek() != b'(' {
            return Err(r.expected("the parameters' shapes in parentheses"));
        }
        let Shape::Tuple(parameters) = r.shape()? else {
            return Err(r.expected("the parameters' shapes in parentheses"));
        };
        r.expect("->")?;
        let result = r.shape()?;
        r.expect("}")?;
        Ok(Self { parameters: parameters.to_vec(), result })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{(")?;
        for (i, shape) in self.parameters.iter().enumerate() {
            f.write_str(if i > 0 { ", " } else { "" })?;
            write!(f, "{shape:#}")?;
        }
        write!(f, ")->{:#}}}", self.result)
    }
}

/// Whether something is allowed: one value for all, or one for each.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PropagationAllowed(pub Vec<bool>);

impl Default for PropagationAllowed {
    fn default() -> Self {
        PropagationAllowed(vec![false])
    }
}

/// `{true,false}`, or `true` for `{true}`.
impl AttrValue for PropagationAllowed {
    const RULE: &'static str = "propagation_allowed";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        if r.peek() == b'{' {
            return AttrValue::read(r).map(PropagationAllowed);
        }
        bool::read(r).map(|all| PropagationAllowed(vec![all]))
    }

    fn write(&self, f: &mut dyn fmt::Write, names: &dyn ComputationNames) -> fmt::Result {
        self.0.write(f, names)
    }
}

/// The logging of an array.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct DebugAttribute {
    /// The array.
    pub array: OriginalArray,
    /// How the array is logged: one entry for each item in the text.
    pub logs: Vec<DebugLog>,
}

/// How an array is logged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct DebugLog {
    /// Whether the fusion debugger logs it.
    pub fusion_debugger: bool,
    /// The ID of the callback.
    pub callback_id: i64,
    /// Whether each partition logs its part.
    pub partitioned: bool,
    /// The ID of the operation that requests the logging.
    pub op_id: i64,
}

/// `{ {"x"}:({log_mode=default,callback_id=1,partitioned=true,op_id=3}) }`.
impl AttrValue for Vec<DebugAttribute> {
    const RULE: &'static str = "debug_attributes";

    fn read(r: &mut AttrReader<'_>) -> Result<Self, AttrError> {
        r.loose_list("{", "}", |r| {
            r.expect("{")?;
            let array = super::origin::read_array(r)?.unwrap_or_default();
            r.expect("}")?;
            r.expect(":")?;
            let logs = r.loose_list("(", ")", read_log)?;
            Ok(DebugAttribute { array, logs })
        })
    }

    fn write(&self, f: &mut dyn fmt::Write, _: &dyn ComputationNames) -> fmt::Result {
        f.write_str("{")?;
        for (i, attribute) in self.iter().enumerate() {
            f.write_str(if i > 0 { ", {" } else { " {" })?;
            super::origin::write_array(f, &attribute.array)?;
            f.write_str("}:(")?;
            for (j, log) in attribute.logs.iter().enumerate() {
                write!(
                    f,
                    "{}{{log_mode={},callback_id={},partitioned={},op_id={}}}",
                    if j > 0 { "," } else { "" },
                    if log.fusion_debugger { "fusion_debugger" } else { "default" },
                    log.callback_id,
                    log.partitioned,
                    log.op_id
                )?;
            }
            f.write_str(")")?;
        }
        f.write_str(" }")
    }
}

fn read_log(r: &mut AttrReader<'_>) -> Result<DebugLog, AttrError> {
    let mut log = DebugLog::default();
    r.loose_list("{", "}", |r| {
        match r.sub_attribute(&["log_mode", "callback_id", "partitioned", "op_id"])? {
            0 => log.fusion_debugger = r.one_of(&["default", "fusion_debugger"])? == 1,
            1 => log.callback_id = r.integer()?,
            2 => log.partitioned = bool::read(r)?,
            _ => log.op_id = r.integer()?,
        }
        Ok(())
    })?;
    Ok(log)
}
