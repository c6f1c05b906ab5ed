//! Values: what instructions of a computation under construction give.

use crate::{BuildErrors, Builder};
use hlo_ir::attr::{FrontendAttributes, HloString, OpMetadata, ResultAccuracy, Sharding};
use hlo_ir::diag::Diag;
use hlo_ir::{ArrayShape, ElementType, InstrId, Shape};
use std::panic::Location;

/// A value of a computation under construction: what an instruction gives. XLA's `XlaOp`.
///
/// It is copied freely. Values of different builders don't go together.
#[derive(Clone, Copy, Debug)]
pub struct Value<'b> {
    pub(crate) builder: &'b Builder,
    /// `None` stands for a value that could not be made.
    pub(crate) id: Option<InstrId>,
}

impl<'b> Value<'b> {
    /// The builder whose value it is.
    pub fn builder(self) -> &'b Builder {
        self.builder
    }

    /// The shape.
    ///
    /// # Errors
    /// The value could not be made: the errors of the builder so far. Or the computation was built before.
    #[track_caller]
    pub fn shape(self) -> Result<Shape, BuildErrors> {
        match self.shape_if_made() {
            Some(shape) => Ok(shape),
            None => Err(self.builder.errors_so_far(Location::caller())),
        }
    }

    /// The value itself if it has that shape, layouts aside; otherwise an error.
    #[track_caller]
    pub fn check_shape(self, expected: &Shape) -> Self {
        let Some(found) = self.shape_if_made() else { return self };
        if found.compatible(expected) {
            return self;
        }
        let message = format!("the value must be {expected}, found {found}");
        self.builder.fail(Location::caller(), Diag::error(message))
    }

    /// An error unless both have the same shape, layouts aside.
    #[track_caller]
    pub fn check_same_shape(self, other: Value<'_>) {
        if let (Some(a), Some(b)) = (self.shape_if_made(), other.shape_if_made())
            && !a.compatible(&b)
        {
            let message = format!("both values must have one shape, found {a} and {b}");
            self.builder.fail(Location::caller(), Diag::error(message));
        }
    }

    /// The shape, unless the value could not be made.
    pub(crate) fn shape_if_made(self) -> Option<Shape> {
        let id = self.builder.made(self)?;
        Some(self.builder.module()[id].shape.clone())
    }

    /// The shape of an array; for any other value an error that `what` needs one.
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

    /// The element type of an array.
    #[track_caller]
    pub(crate) fn element_type(self, what: &str) -> Option<ElementType> {
        self.array(what).map(|a| a.element_type)
    }
}

/// Attributes that every instruction may have.
impl Value<'_> {
    /// The name of the instruction; `None` if it could not be made.
    pub fn name(self) -> Option<String> {
        let id = self.builder.made(self)?;
        Some(self.builder.module()[id].name.to_string())
    }

    /// The value with a name for its instruction, made unique if another one has it.
    pub fn named(self, name: &str) -> Self {
        if let Some(id) = self.id {
            self.builder.state.borrow_mut().rename(id, name);
        }
        self
    }

    /// The value with the metadata of the program that it comes from.
    pub fn with_metadata(self, metadata: OpMetadata) -> Self {
        self.change(|c| c.metadata = metadata)
    }

    /// The value, spread over devices like this: each element of a tuple, if it is a sharding of one array.
    pub fn with_sharding(self, sharding: Sharding) -> Self {
        let Some(shape) = self.shape_if_made() else { return self };
        self.change(|c| c.sharding = Some(sharding.for_shape(&shape)))
    }

    /// The value with what the front end notes for itself.
    pub fn with_frontend_attributes(self, attributes: FrontendAttributes) -> Self {
        self.change(|c| c.frontend_attributes = attributes)
    }

    /// The value with what a backend notes for itself: a string or JSON.
    pub fn with_backend_config(self, config: &str) -> Self {
        self.change(|c| c.backend_config = HloString::from(config))
    }

    /// The result of a unary function, as exact as that.
    pub fn with_accuracy(self, accuracy: ResultAccuracy) -> Self {
        self.change(|c| c.result_accuracy = accuracy)
    }

    /// The value, whose instruction runs after that of another one.
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
