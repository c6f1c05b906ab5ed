//! [`Verified`]: a type that proves that a module obeys the rules.

use super::verify;
use crate::Module;
use crate::diag::Diag;
use std::ops::Deref;

/// A module, or a reference to one, in which [`verify`] found no violation.
///
/// Engines compile or run modules without checking them again: if an instruction violated a rule, compiled
/// code would read and write outside its arrays. Engines therefore take this type, and [`Verified::new`] is
/// the only way to create one. It allows no mutable access. To change the module, call
/// [`Verified::into_module`] and verify the changed module.
///
/// # Example
/// ```
/// use hlo_ir::verify::Verified;
/// use hlo_ir::{ElementType, Module, Op, Shape};
///
/// let mut module = Module::new("m");
/// let main = module.add_computation("main");
/// let x = module.add(main, "x", Shape::array(ElementType::F32, [4]), Op::parameter(0), []);
/// let y = module.add(main, "y", Shape::array(ElementType::F32, [8]), Op::Negate, [x]);
/// module.set_root(main, y);
/// module.set_entry(main);
/// let violations = Verified::new(&module).expect_err("the shapes differ");
/// assert!(violations[0].message.contains("f32[8]"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Verified<M>(M);

/// A module or a reference to one. The trait is sealed because [`Verified`] relies on `module` returning the
/// same module every time.
pub trait HoldsModule: sealed::Sealed {
    /// Returns the module.
    fn module(&self) -> &Module;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for crate::Module {}
    impl Sealed for &crate::Module {}
}

impl HoldsModule for Module {
    fn module(&self) -> &Module {
        self
    }
}

impl HoldsModule for &Module {
    fn module(&self) -> &Module {
        self
    }
}

impl<M: HoldsModule> Verified<M> {
    /// Verifies a module. Time and memory are almost linear in the module.
    ///
    /// # Errors
    /// Returns the violations, at most [`super::MAX_REPORTS`].
    pub fn new(module: M) -> Result<Self, Vec<Diag>> {
        let violations = verify(module.module());
        if violations.is_empty() { Ok(Self(module)) } else { Err(violations) }
    }

    /// Returns a verified reference to the module.
    pub fn as_ref(&self) -> Verified<&Module> {
        Verified(self.0.module())
    }
}

impl Verified<Module> {
    /// Returns the module, which may then be changed.
    pub fn into_module(self) -> Module {
        self.0
    }
}

impl<'a> Verified<&'a Module> {
    /// Returns the reference.
    pub fn get(self) -> &'a Module {
        self.0
    }

    /// Returns a copy of the module.
    pub fn to_owned(self) -> Verified<Module> {
        Verified(self.0.clone())
    }
}

impl<M: HoldsModule> Deref for Verified<M> {
    type Target = Module;

    fn deref(&self) -> &Module {
        self.0.module()
    }
}
