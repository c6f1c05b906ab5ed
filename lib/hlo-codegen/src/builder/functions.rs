//! The contents of an MLIR module: functions, declarations and constants.

use super::locations::DebugInfo;
use super::{Builder, SourceFile, V, long, long_block, named};
use hlo_ir::{InstrId, Module};
use melior::Context;
use melior::dialect::llvm;
use melior::ir::attribute::{
    ArrayAttribute, DenseElementsAttribute, DictionaryAttribute, IntegerAttribute, StringAttribute,
    TypeAttribute,
};
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::{IntegerType, RankedTensorType};
use melior::ir::{Attribute, Block, BlockLike, BlockRef, Location, Operation, Region, RegionLike, Type};

/// Attributes of a function's pointer parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerFacts {
    /// Whether no other pointer of the function refers to the same memory.
    pub noalias: bool,
    /// The alignment of the address in bytes; 0 if unknown.
    pub align: u32,
}

/// The parameters and the result of a function.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'s, 'c> {
    /// The types of the parameters, with the attributes of pointers.
    pub parameters: &'s [(Type<'c>, Option<PointerFacts>)],
    /// The type of the result, or `None` if the function returns nothing.
    pub result: Option<Type<'c>>,
}

/// An MLIR module under construction.
pub struct ModuleBuilder<'c> {
    context: &'c Context,
    body: BlockRef<'c, 'c>,
    source: Option<&'c SourceFile>,
    debug_info: Option<DebugInfo<'c>>,
}

impl<'c> ModuleBuilder<'c> {
    /// Creates a builder that adds to `module`, which must outlive all that is built.
    pub fn new(context: &'c Context, module: &melior::ir::Module<'c>) -> Self {
        // SAFETY: see the lifetimes section of [`Builder`].
        let body = unsafe { BlockRef::from_raw(module.body().to_raw()) };
        Self { context, body, source: None, debug_info: None }
    }

    /// Adds source locations to operations: their positions in this file, which the HLO was read from,
    /// besides the names of their instructions.
    pub fn with_source(self, source: Option<&'c SourceFile>) -> Self {
        Self { source, ..self }
    }

    /// Adds debug information to functions. Without a source there is none.
    pub fn with_debug_info(self) -> Self {
        let debug_info = self.source.map(|source| DebugInfo::new(self.context, source));
        Self { debug_info, ..self }
    }

    /// Returns the MLIR context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// Returns the signless integer type of `bits` bits.
    pub fn int(&self, bits: u32) -> Type<'c> {
        IntegerType::new(self.context, bits).into()
    }

    /// Returns `!llvm.ptr`.
    pub fn ptr(&self) -> Type<'c> {
        llvm::r#type::pointer(self.context, 0)
    }

    /// Adds `llvm.func @name(parameters) -> result`. `body` builds its instructions and must end with
    /// [`Builder::ret`]. Their location is that of `instruction`, which the function computes, until
    /// [`Builder::at`] changes it.
    ///
    /// # Errors
    /// The error of `body`. The function is then not added.
    pub fn function<E>(
        &self,
        name: &str,
        signature: Signature<'_, 'c>,
        instruction: Option<(&Module, InstrId)>,
        body: impl FnOnce(&Builder<'c>, &[V<'c>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let unknown = Location::unknown(self.context);
        let arguments: Vec<_> = signature.parameters.iter().map(|&(t, _)| (t, unknown)).collect();
        let region = Region::new();
        let block = long_block(&region.append_block(Block::new(&arguments)));
        let builder = Builder::new(self.context, block, self.source);
        let values: Vec<V<'c>> =
            (0..arguments.len()).map(|i| long(block.argument(i).expect("an argument"))).collect();
        if let Some((module, id)) = instruction {
            builder.location.set(builder.locate(module, id));
        }
        body(&builder, &values)?;
        let (_, place) = builder.location.get();
        let location = self.debug_info.as_ref().map_or(unknown, |d| d.function(self.context, name, place));
        self.add(function(self.context, name, signature, region, location));
        Ok(())
    }

    /// Adds a declaration of `llvm.func @name(parameters) -> result`.
    pub fn declaration(&self, name: &str, signature: Signature<'_, 'c>) {
        let unknown = Location::unknown(self.context);
        self.add(function(self.context, name, signature, Region::new(), unknown));
    }

    /// Adds a declaration of a constant pointer that another module defines.
    pub fn external_pointer(&self, name: &str) {
        self.global(name, self.ptr(), mlir_sys::MlirLLVMLinkage_MlirLLVMLinkageExternal, None);
    }

    /// Adds a constant global array of `i64`: descriptors for the runtime.
    pub fn global_i64s(&self, name: &str, values: &[i64]) {
        let i64 = self.int(64);
        let tensor = RankedTensorType::new(&[values.len() as u64], i64, None);
        let ty = llvm::r#type::array(i64, values.len() as u32);
        let value = DenseElementsAttribute::i64_values(tensor.into(), values).into();
        self.global(name, ty, mlir_sys::MlirLLVMLinkage_MlirLLVMLinkageInternal, Some(value));
    }

    fn global(
        &self,
        name: &str,
        ty: Type<'c>,
        linkage: mlir_sys::MlirLLVMLinkage,
        value: Option<Attribute<'c>>,
    ) {
        let context = self.context;
        // SAFETY: the context is alive.
        let linkage =
            unsafe { Attribute::from_raw(mlir_sys::mlirLLVMLinkageAttrGet(context.to_raw(), linkage)) };
        let value: Vec<_> = value.into_iter().map(|value| named(context, "value", value)).collect();
        let op = OperationBuilder::new("llvm.mlir.global", Location::unknown(context))
            .add_attributes(&[
                named(context, "sym_name", StringAttribute::new(context, name)),
                named(context, "global_type", TypeAttribute::new(ty)),
                named(context, "linkage", linkage),
                named(context, "constant", Attribute::unit(context)),
            ])
            .add_attributes(&value)
            .add_regions([Region::new()])
            .build()
            .expect("an operation without result type inference");
        self.add(op);
    }

    fn add(&self, op: Operation<'c>) {
        self.body.append_operation(op);
    }
}

/// Creates the operation `llvm.func`.
fn function<'c>(
    context: &'c Context,
    name: &str,
    Signature { parameters, result }: Signature<'_, 'c>,
    region: Region<'c>,
    location: Location<'c>,
) -> Operation<'c> {
    let types: Vec<Type<'c>> = parameters.iter().map(|p| p.0).collect();
    let result = result.unwrap_or_else(|| llvm::r#type::void(context));
    let ty = llvm::r#type::function(result, &types, false);
    let facts: Vec<Attribute<'c>> = parameters.iter().map(|p| facts(context, p.1)).collect();
    llvm::func(
        context,
        StringAttribute::new(context, name),
        TypeAttribute::new(ty),
        region,
        &[named(context, "arg_attrs", ArrayAttribute::new(context, &facts))],
        location,
    )
}

/// Returns the attributes of a parameter.
fn facts<'c>(context: &'c Context, facts: Option<PointerFacts>) -> Attribute<'c> {
    let mut items = Vec::new();
    if let Some(facts) = facts {
        items.push(named(context, "llvm.noundef", Attribute::unit(context)));
        if facts.noalias {
            items.push(named(context, "llvm.noalias", Attribute::unit(context)));
        }
        if facts.align > 0 {
            let i64 = IntegerType::new(context, 64).into();
            items.push(named(context, "llvm.align", IntegerAttribute::new(i64, i64::from(facts.align))));
        }
    }
    DictionaryAttribute::new(context, &items).into()
}
