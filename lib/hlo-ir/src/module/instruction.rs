//! Instructions.

use crate::attr::{
    AttrError, AttrReader, AttrValue, BraceContents, ComputationNames, FrontendAttributes, HloString,
    OpMetadata, Origin, ResultAccuracy, Sharding, Statistics,
};
use crate::{ComputationId, InstrId, Op, Opcode, Shape};
use smallvec::SmallVec;
use std::fmt;

/// One instruction: `name = shape opcode(operands), attributes`.
#[derive(Clone, Debug, PartialEq)]
pub struct Instruction {
    /// The name, without `%`, unique in its computation.
    pub name: Box<str>,
    /// The result's shape.
    pub shape: Shape,
    /// The opcode and its attributes.
    pub op: Op,
    /// The operands, in the same computation.
    pub operands: SmallVec<[InstrId; 3]>,
    /// The attributes that every opcode accepts, if there are any.
    pub common: Option<Box<CommonAttrs>>,
    /// The computation that contains the instruction.
    pub parent: ComputationId,
}

impl Instruction {
    /// Returns the opcode.
    pub fn opcode(&self) -> Opcode {
        self.op.opcode()
    }

    /// Returns the instructions that must run before this one, even if it does not use their results.
    pub fn control_predecessors(&self) -> &[InstrId] {
        self.common.as_deref().map_or(&[], |c| &c.control_predecessors)
    }

    /// Returns the attribute `sharding=`, if present.
    pub fn sharding(&self) -> Option<&Sharding> {
        self.common.as_deref()?.sharding.as_ref()
    }
}

/// The attributes that every instruction accepts (HLO text, "Common values"). A default value means absent.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CommonAttrs {
    /// `parameter_replication=`: for each leaf of a parameter, whether all replicas have the same value.
    pub parameter_replication: Vec<bool>,
    /// `sharding=`.
    pub sharding: Option<Sharding>,
    /// `frontend_attributes=`.
    pub frontend_attributes: FrontendAttributes,
    /// `control-predecessors=`: instructions that must run before this one.
    pub control_predecessors: Vec<InstrId>,
    /// `statistics=`.
    pub statistics: Option<Box<Statistics>>,
    /// `result_accuracy=`, for opcodes that accept it.
    pub result_accuracy: ResultAccuracy,
    /// `origin=`.
    pub origin: Option<Box<Origin>>,
    /// `metadata=`.
    pub metadata: OpMetadata,
    /// `backend_config=`: opaque text, empty if there is none.
    pub backend_config: HloString,
}

/// One of the attributes that every instruction accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "they are the fields of `CommonAttrs`")]
pub enum CommonField {
    ParameterReplication,
    Sharding,
    FrontendAttributes,
    ControlPredecessors,
    Statistics,
    ResultAccuracy,
    Origin,
    Metadata,
    BackendConfig,
}

impl CommonField {
    /// All fields, in printing order.
    pub const ALL: &[CommonField] = &[
        CommonField::ParameterReplication,
        CommonField::Sharding,
        CommonField::FrontendAttributes,
        CommonField::ControlPredecessors,
        CommonField::Statistics,
        CommonField::ResultAccuracy,
        CommonField::Origin,
        CommonField::Metadata,
        CommonField::BackendConfig,
    ];

    /// Returns the name before the `=`.
    pub fn name(self) -> &'static str {
        match self {
            CommonField::ParameterReplication => "parameter_replication",
            CommonField::Sharding => "sharding",
            CommonField::FrontendAttributes => "frontend_attributes",
            CommonField::ControlPredecessors => "control-predecessors",
            CommonField::Statistics => "statistics",
            CommonField::ResultAccuracy => "result_accuracy",
            CommonField::Origin => "origin",
            CommonField::Metadata => "metadata",
            CommonField::BackendConfig => "backend_config",
        }
    }

    /// Returns its meaning in one sentence.
    pub fn doc(self) -> &'static str {
        match self {
            CommonField::ParameterReplication => {
                "For each leaf of a parameter, whether all replicas have the same value."
            }
            CommonField::Sharding => "How the result is spread over devices.",
            CommonField::FrontendAttributes => "Data of the front end, as `{key=\"value\"}`.",
            CommonField::ControlPredecessors => "Instructions that must run before this one.",
            CommonField::Statistics => "Measured values, and which one to show.",
            CommonField::ResultAccuracy => "How exact the result of a unary function has to be.",
            CommonField::Origin => "The array of the original program that the result is.",
            CommonField::Metadata => "Where in the user's program the instruction comes from.",
            CommonField::BackendConfig => "Data of a backend: a string or JSON.",
        }
    }

    /// Returns the names that may occur between its braces.
    pub fn inside(self) -> BraceContents {
        match self {
            CommonField::Sharding => Sharding::BRACE_CONTENTS,
            CommonField::Statistics => Statistics::BRACE_CONTENTS,
            CommonField::ResultAccuracy => ResultAccuracy::BRACE_CONTENTS,
            CommonField::Metadata => OpMetadata::BRACE_CONTENTS,
            CommonField::ParameterReplication
            | CommonField::FrontendAttributes
            | CommonField::ControlPredecessors
            | CommonField::Origin
            | CommonField::BackendConfig => BraceContents::NO_NAMES,
        }
    }

    /// Returns the name of the grammar rule of its value, see [`AttrValue::RULE`].
    pub fn rule(self) -> &'static str {
        match self {
            CommonField::ParameterReplication => <Vec<bool>>::RULE,
            CommonField::Sharding => Sharding::RULE,
            CommonField::FrontendAttributes => FrontendAttributes::RULE,
            CommonField::ControlPredecessors => "predecessors",
            CommonField::Statistics => Statistics::RULE,
            CommonField::ResultAccuracy => ResultAccuracy::RULE,
            CommonField::Origin => Origin::RULE,
            CommonField::Metadata => OpMetadata::RULE,
            CommonField::BackendConfig => "config",
        }
    }

    /// Returns the attribute with this name, if there is one.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|f| f.name() == name)
    }

    /// Returns whether instructions of this opcode accept the attribute.
    pub fn applies_to(self, opcode: Opcode) -> bool {
        self != CommonField::ResultAccuracy || opcode.has_accuracy()
    }
}

impl CommonAttrs {
    /// Reads the value of an attribute. Ignores control predecessors, because the reader does not know the
    /// names of instructions.
    ///
    /// # Errors
    /// The text is not a value of the attribute. The error contains what was expected, and where.
    pub fn read_field(&mut self, field: CommonField, r: &mut AttrReader<'_>) -> Result<(), AttrError> {
        match field {
            CommonField::ParameterReplication => self.parameter_replication = AttrValue::read(r)?,
            CommonField::Sharding => self.sharding = Some(AttrValue::read(r)?),
            CommonField::FrontendAttributes => self.frontend_attributes = AttrValue::read(r)?,
            CommonField::ControlPredecessors => {}
            CommonField::Statistics => {
                let statistics = Statistics::read(r)?;
                self.statistics = (statistics != Statistics::default()).then(|| Box::new(statistics));
            }
            CommonField::ResultAccuracy => self.result_accuracy = AttrValue::read(r)?,
            CommonField::Origin => self.origin = Some(Box::new(AttrValue::read(r)?)),
            CommonField::Metadata => self.metadata = AttrValue::read(r)?,
            CommonField::BackendConfig => self.backend_config = r.string_or_dict()?,
        }
        Ok(())
    }

    /// Copies the value of an attribute from `from`.
    pub(crate) fn copy_field(&mut self, field: CommonField, from: &Self) {
        match field {
            CommonField::ParameterReplication => {
                self.parameter_replication.clone_from(&from.parameter_replication);
            }
            CommonField::Sharding => self.sharding.clone_from(&from.sharding),
            CommonField::FrontendAttributes => self.frontend_attributes.clone_from(&from.frontend_attributes),
            CommonField::ControlPredecessors => {
                self.control_predecessors.clone_from(&from.control_predecessors);
            }
            CommonField::Statistics => self.statistics.clone_from(&from.statistics),
            CommonField::ResultAccuracy => self.result_accuracy = from.result_accuracy,
            CommonField::Origin => self.origin.clone_from(&from.origin),
            CommonField::Metadata => self.metadata.clone_from(&from.metadata),
            CommonField::BackendConfig => self.backend_config.clone_from(&from.backend_config),
        }
    }

    /// Returns whether an attribute is absent.
    pub fn is_default(&self, field: CommonField) -> bool {
        match field {
            CommonField::ParameterReplication => self.parameter_replication.is_empty(),
            CommonField::Sharding => self.sharding.is_none(),
            CommonField::FrontendAttributes => self.frontend_attributes.is_empty(),
            CommonField::ControlPredecessors => self.control_predecessors.is_empty(),
            CommonField::Statistics => self.statistics.is_none(),
            CommonField::ResultAccuracy => self.result_accuracy == ResultAccuracy::Default,
            CommonField::Origin => self.origin.is_none(),
            CommonField::Metadata => self.metadata.is_empty(),
            CommonField::BackendConfig => self.backend_config.is_empty(),
        }
    }

    /// Prints the value of an attribute. Prints nothing for control predecessors, because it does not know
    /// their names.
    ///
    /// # Errors
    /// The errors of `f`.
    pub fn write_field(
        &self,
        field: CommonField,
        f: &mut dyn fmt::Write,
        names: &dyn ComputationNames,
    ) -> fmt::Result {
        match field {
            CommonField::ParameterReplication => self.parameter_replication.write(f, names),
            CommonField::Sharding => self.sharding.write(f, names),
            CommonField::FrontendAttributes => self.frontend_attributes.write(f, names),
            CommonField::ControlPredecessors => Ok(()),
            CommonField::Statistics => self.statistics.as_ref().map_or(Ok(()), |s| s.write(f, names)),
            CommonField::ResultAccuracy => self.result_accuracy.write(f, names),
            CommonField::Origin => self.origin.as_ref().map_or(Ok(()), |o| o.write(f, names)),
            CommonField::Metadata => self.metadata.write(f, names),
            CommonField::BackendConfig => self.backend_config.write_bare_or_quoted(f),
        }
    }
}
