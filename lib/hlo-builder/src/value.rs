//! Values: the results of instructions of a computation under construction.

use crate::{BuildErrors, Builder};
use hlo_ir::attr::{FrontendAttributes, HloString, OpMetadata, ResultAccuracy, Sharding};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, InstrId, Shape};
use std::panic::Location;

/// A value of a computation under construction: the result of an instruction. This is XLA's `XlaOp`.
///
/// Values are `Copy`. An operation cannot combine values of different builders.
#[derive(Clone, Copy, Debug)]
pub struct Value<'b> {
    pub(crate) builder: &'b Builder,
    /// The instruction, or `None` for a value that could not be created.
    pub(crate) id: Option<InstrId>,
}

impl<'b> Value<'b> {
    /// Returns the builder that the value belongs to.
    pub fn builder(self) -> &'b Builder {
        self.builder
    }

    /// Returns the shape.
    ///
    /// # Errors
    /// Returns the errors of the builder so far if the value could not be created, or an error if the
    /// computation was already built.
    #[track_caller]
    pub fn shape(self) -> Result<Shape, BuildErrors> {
        match self.shape_if_made() {
            Some(shape) => Ok(shape),
            None => Err(self.builder.errors_so_far(Location::caller())),
        }
    }

    /// Returns the value if it has the given shape. Reports an error otherwise. Layouts are not compared.
    #[track_caller]
    pub fn check_shape(self, expected: &Shape) -> Self {
        let Some(found) = self.shape_if_made() else { return self };
        if found.compatible(expected) {
            return self;
        }
        let message = format!("the value must be {expected}, found {found}");
        self.builder.fail(Location::caller(), Diag::error(message))
    }

    /// Reports an error unless both values have the same shape. Layouts are not compared.
    #[track_caller]
    pub fn check_same_shape(self, other: Value<'_>) {
        if let (Some(a), Some(b)) = (self.shape_if_made(), other.shape_if_made())
            && !a.compatible(&b)
        {
            let message = format!("both values must have one shape, found {a} and {b}");
            self.builder.fail(Location::caller(), Diag::error(message));
        }
    }

    /// Returns the shape, or `None` if the value could not be created.
    pub(crate) fn shape_if_made(self) -> Option<Shape> {
        let id = self.builder.made(self)?;
        Some(self.builder.module()[id].shape.clone())
    }

    /// Returns the shape of an array. For other values, reports an error that `what` requires an array.
    #[track_caller]
    pub(crate) fn array(self, what: &str) -> Option<ArrayShape> {
        match self.shape_if_made()? {
            Shape::Array(a) => Some(a),
            other => {
                let message = format!("`{what}` needs an array, found {other}");
                self.builder.fail(Location::caller(), Diag::error(message));
                None
            }
        }
    }

    /// Returns the element type of an array.
    #[track_caller]
    pub(crate) fn element_type(self, what: &str) -> Option<ElementType> {
        self.array(what).map(|a| a.element_type)
    }
}

/// Attributes that every instruction may have.
impl Value<'_> {
    /// Returns the name of the instruction, or `None` if it could not be created.
    pub fn name(self) -> Option<String> {
        let id = self.builder.made(self)?;
        Some(self.builder.module()[id].name.to_string())
    }

    /// Renames the instruction. Changes the name to a unique one if another instruction has it.
    pub fn named(self, name: &str) -> Self {
        if let Some(id) = self.id {
            self.builder.state.borrow_mut().rename(id, name);
        }
        self
    }

    /// Sets the metadata, which describes the source of the instruction.
    pub fn with_metadata(self, metadata: OpMetadata) -> Self {
        self.change(|c| c.metadata = metadata)
    }

    /// Sets the sharding. A sharding of one array applies to each element of a tuple.
    pub fn with_sharding(self, sharding: Sharding) -> Self {
        let Some(shape) = self.shape_if_made() else { return self };
        self.change(|c| c.sharding = Some(sharding.for_shape(&shape)))
    }

    /// Sets the frontend attributes.
    pub fn with_frontend_attributes(self, attributes: FrontendAttributes) -> Self {
        self.change(|c| c.frontend_attributes = attributes)
    }

    /// Sets the backend config: a string or JSON.
    pub fn with_backend_config(self, config: &str) -> Self {
        self.change(|c| c.backend_config = HloString::from(config))
    }

    /// Sets the accuracy of a unary function.
    pub fn with_accuracy(self, accuracy: ResultAccuracy) -> Self {
        self.change(|c| c.result_accuracy = accuracy)
    }

    /// Adds a control dependency: the instruction runs after that of `other`.
    #[track_caller]
    pub fn after(self, other: Value<'_>) -> Self {
        let Some(before) = other.id else { return self };
        if !std::ptr::eq(self.builder, other.builder) || self.id.is_some_and(|id| id <= before) {
            let message = "a value can only come after one that was added to the same computation before";
            return self.builder.fail(Location::caller(), Diag::error(message));
        }
        self.change(|c| c.control_predecessors.push(before))
    }

    fn change(self, change: impl FnOnce(&mut hlo_ir::CommonAttrs)) -> Self {
        if let Some(id) = self.id {
            let mut state = self.builder.state.borrow_mut();
            if state.has(id) {
                change(state.module.common_mut(id));
            }
        }
        self
    }
}
