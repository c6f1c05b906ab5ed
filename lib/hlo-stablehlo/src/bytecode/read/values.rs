//! The values of regions by their numbers.

use crate::Tree;
use crate::bytecode::fault::{Fault, Result};
use crate::tree::{Type, TypeKind, ValueId};

/// A value of a scope.
#[derive(Clone, Copy)]
enum Slot {
    /// Neither defined nor used so far.
    Empty,
    /// Used, but not defined so far.
    Used(ValueId),
    Defined(ValueId),
}

/// The values of a region that is isolated from the values above, including those of its nested regions.
#[derive(Default)]
struct Scope {
    values: Vec<Slot>,
    /// The number of the next value, for each open region.
    next: Vec<usize>,
}

/// The visible values, and the values of enclosing scopes that are not visible at the moment.
pub(super) struct Values {
    scopes: Vec<Scope>,
    /// The number of values that all scopes may still define. Each takes at least a byte of the file.
    left: usize,
}

impl Values {
    /// Creates the values of a file of the given size in bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { scopes: vec![Scope::default()], left: bytes }
    }

    /// Opens a scope for regions that cannot use values from above.
    pub(super) fn begin_isolated(&mut self) {
        self.scopes.push(Scope::default());
    }

    /// Closes the scope of isolated regions.
    pub(super) fn end_isolated(&mut self) {
        self.scopes.pop();
    }

    /// Opens a region that defines `count` values.
    pub(super) fn begin_region(&mut self, count: usize) -> Result<()> {
        let Some(left) = self.left.checked_sub(count) else {
            return Err(Fault::new("regions have more values than the file has bytes"));
        };
        self.left = left;
        let scope = self.scope()?;
        let first = scope.values.len();
        scope.next.push(first);
        scope.values.resize(first + count, Slot::Empty);
        Ok(())
    }

    /// Closes a region that defines `count` values. Fails if one of them was used but not defined.
    pub(super) fn end_region(&mut self, count: usize) -> Result<()> {
        self.left += count;
        let scope = self.scope()?;
        scope.next.pop();
        let first = scope.values.len().saturating_sub(count);
        if scope.values.drain(first..).any(|slot| matches!(slot, Slot::Used(_))) {
            return Err(Fault::new("a value is used that nothing defines"));
        }
        Ok(())
    }

    fn scope(&mut self) -> Result<&mut Scope> {
        self.scopes.last_mut().ok_or_else(|| Fault::new("a value outside of all regions"))
    }

    /// Returns the slot of the next value.
    fn next_slot(&mut self) -> Result<&mut Slot> {
        let scope = self.scope()?;
        let next = scope.next.last_mut().ok_or_else(|| Fault::new("a value outside of all regions"))?;
        let at = *next;
        *next += 1;
        scope.values.get_mut(at).ok_or_else(|| Fault::new("a region has more values than it says"))
    }

    /// Defines the next value, with the given type.
    pub(super) fn define(&mut self, tree: &mut Tree, ty: Type) -> Result<ValueId> {
        let slot = self.next_slot()?;
        let value = match *slot {
            Slot::Empty => tree.add_value(ty),
            Slot::Used(value) => {
                tree.set_type(value, ty);
                value
            }
            Slot::Defined(_) => return Err(Fault::new("a region has more values than it says")),
        };
        *slot = Slot::Defined(value);
        Ok(value)
    }

    /// Defines the next value as another name of `value`.
    pub(super) fn define_as(&mut self, value: ValueId) -> Result<()> {
        *self.next_slot()? = Slot::Defined(value);
        Ok(())
    }

    /// Returns the value with the given number. The type of a value is unknown until it is defined.
    pub(super) fn get(&mut self, tree: &mut Tree, number: u64) -> Result<ValueId> {
        let place = usize::try_from(number).ok().and_then(|n| self.scope().ok()?.values.get_mut(n));
        let slot = place.ok_or_else(|| Fault::new(format!("there is no value {number}")))?;
        match *slot {
            Slot::Defined(value) | Slot::Used(value) => Ok(value),
            Slot::Empty => {
                let value = tree.add_value(TypeKind::None.into());
                *slot = Slot::Used(value);
                Ok(value)
            }
        }
    }

    /// Checks whether none of the next `count` values has been used.
    pub(super) fn are_unused(&self, count: usize) -> bool {
        let Some(scope) = self.scopes.last() else { return false };
        let next = scope.next.last().copied().unwrap_or(0);
        let slots = scope.values.get(next..).unwrap_or_default().iter().take(count);
        slots.filter(|slot| matches!(slot, Slot::Empty)).count() == count
    }
}
