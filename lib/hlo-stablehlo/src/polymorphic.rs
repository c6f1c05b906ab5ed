//! Programs for arguments of unknown sizes.

use crate::Tree;
use crate::import::import_function;
use crate::refine::{Argument, Parameter, needs_shapes, parameters, refine};
use hlo_ir::Module;
use hlo_ir::diag::Diag;

/// A StableHLO program, translated if it does not depend on the shapes of its arguments.
#[derive(Clone, Debug)]
pub enum Program {
    /// The module of a program whose arguments have known or bounded sizes.
    Module(Box<Module>),
    /// A program that requires the shapes of its arguments.
    Polymorphic(Box<Polymorphic>),
}

/// A program with arguments whose sizes are neither known nor bounded.
///
/// # Example
/// ```
/// use hlo_ir::{ElementType, Shape};
/// use hlo_stablehlo::{Program, text};
///
/// let tree = text::parse("
///   func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
///     %y = stablehlo.add %x, %x : tensor<?x4xf32>
///     return %y : tensor<?x4xf32>
///   }")?;
/// let Program::Polymorphic(program) = Program::new(tree, None)? else { panic!("its sizes are known") };
/// let module = program.module(&[Shape::array(ElementType::F32, [8, 4]).into()])?;
/// assert_eq!(module[module[module.entry()].root()].shape.to_string(), "f32[8,4]");
/// # Ok::<(), Vec<hlo_ir::diag::Diag>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Polymorphic {
    tree: Tree,
    function: Option<String>,
    parameters: Vec<Parameter>,
}

impl Program {
    /// Translates a program if it does not require shapes. Without `function`, the entry is the only
    /// function, or `main` if there are several.
    ///
    /// # Errors
    /// There is no such function. If no shapes are required, also the errors of [`import_function`].
    pub fn new(tree: Tree, function: Option<&str>) -> Result<Self, Vec<Diag>> {
        let one = |diag| vec![diag];
        if !needs_shapes(&tree, function).map_err(one)? {
            return import_function(&tree, function).map(|module| Self::Module(Box::new(module)));
        }
        let parameters = parameters(&tree, function).map_err(one)?;
        let function = function.map(str::to_owned);
        Ok(Self::Polymorphic(Box::new(Polymorphic { tree, function, parameters })))
    }
}

impl Polymorphic {
    /// Returns the parameters as the program declares them.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Returns the module for arguments of the given shapes, one for each parameter.
    ///
    /// # Errors
    /// The errors of [`refine`] and of [`import_function`].
    pub fn module(&self, arguments: &[Argument]) -> Result<Module, Vec<Diag>> {
        let function = self.function.as_deref();
        import_function(&refine(&self.tree, function, arguments)?, function)
    }
}
