//! Building MLIR: an insertion point with one method per operation that the code generator uses.
//!
//! The dialects are `arith`, `scf`, `func`-free: functions are `llvm.func`, memory is reached through `llvm`
//! loads, stores and `getelementptr` on opaque pointers (no memref descriptors: every buffer is one pointer
//! and the strides are known), and bit tricks use LLVM's intrinsics (`llvm.intr.*`).
//!
//! Types are checked by MLIR's verifier once a module is complete, not here: an operation with wrong operands
//! is a bug of the code generator and surfaces as an internal error that quotes the verifier.

use melior::Context;
use melior::dialect::{cf, llvm};
use melior::ir::attribute::{
    DenseI32ArrayAttribute, FlatSymbolRefAttribute, FloatAttribute, IntegerAttribute, StringAttribute,
    TypeAttribute,
};
use melior::ir::operation::OperationBuilder;
use melior::ir::r#type::IntegerType;
use melior::ir::{
    Attribute, Block, BlockLike, BlockRef, Identifier, Location, Region, RegionLike, Type, Value, ValueLike,
};
use std::cell::Cell;

/// An SSA value. The module that it lives in outlives every use: see [`Builder`].
pub type V<'c> = Value<'c, 'c>;

/// The relation of an integer comparison, with the numbers of `arith.cmpi`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum IntPredicate {
    Eq = 0,
    Ne = 1,
    Slt = 2,
    Sle = 3,
    Sgt = 4,
    Sge = 5,
    Ult = 6,
    Ule = 7,
    Ugt = 8,
    Uge = 9,
}

/// The relation of a float comparison, with the numbers of `arith.cmpf`; `O…` is false and `U…` true if an
/// operand is NaN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs, reason = "LLVM's own names")]
pub enum FloatPredicate {
    Oeq = 1,
    Ogt = 2,
    Oge = 3,
    Olt = 4,
    Ole = 5,
    One = 6,
    Ord = 7,
    Ueq = 8,
    Ugt = 9,
    Uge = 10,
    Ult = 11,
    Ule = 12,
    Une = 13,
    Uno = 14,
}

/// What an operation may assume beyond IEEE 754.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastMath {
    /// Nothing.
    #[default]
    None,
    /// Operands may be combined in another order: inside reductions only.
    Reassoc,
}

/// An insertion point at the end of a block.
///
/// # Lifetimes
/// MLIR values live as long as the module that owns their blocks. The builder gives them the context's
/// lifetime: a module under construction is kept until its builder is gone, and operations are never erased
/// while building.
pub struct Builder<'c> {
    context: &'c Context,
    location: Location<'c>,
    block: Cell<BlockRef<'c, 'c>>,
}

/// Gives a block reference the context's lifetime.
fn long_block<'c>(block: &impl BlockLike<'c, 'c>) -> BlockRef<'c, 'c> {
    // SAFETY: see the lifetimes section of [`Builder`].
    unsafe { BlockRef::from_raw(block.to_raw()) }
}

fn long<'c>(value: impl ValueLike<'c>) -> V<'c> {
    // SAFETY: see the lifetimes section of [`Builder`].
    unsafe { Value::from_raw(value.to_raw()) }
}

/// Types and attributes.
impl<'c> Builder<'c> {
    /// A builder that appends to `block`.
    pub fn new(context: &'c Context, block: BlockRef<'c, '_>) -> Self {
        // SAFETY: see the lifetimes section of [`Builder`].
        let block = unsafe { BlockRef::from_raw(block.to_raw()) };
        Self { context, location: Location::unknown(context), block: Cell::new(block) }
    }

    /// The MLIR context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// The location that operations get.
    pub fn location(&self) -> Location<'c> {
        self.location
    }

    /// The signless integer type of `bits` bits.
    pub fn int(&self, bits: u32) -> Type<'c> {
        IntegerType::new(self.context, bits).into()
    }

    /// `i1`.
    pub fn i1(&self) -> Type<'c> {
        self.int(1)
    }

    /// `i64`, the type of indices and sizes.
    pub fn i64(&self) -> Type<'c> {
        self.int(64)
    }

    /// `f32`.
    pub fn f32(&self) -> Type<'c> {
        Type::float32(self.context)
    }

    /// `f64`.
    pub fn f64(&self) -> Type<'c> {
        Type::float64(self.context)
    }

    /// `f16`.
    pub fn f16(&self) -> Type<'c> {
        Type::float16(self.context)
    }

    /// `!llvm.ptr`.
    pub fn ptr(&self) -> Type<'c> {
        llvm::r#type::pointer(self.context, 0)
    }

    fn named(&self, name: &str, attribute: impl Into<Attribute<'c>>) -> (Identifier<'c>, Attribute<'c>) {
        (Identifier::new(self.context, name), attribute.into())
    }

    fn bool_attr(&self, value: bool) -> Attribute<'c> {
        IntegerAttribute::new(self.i1(), i64::from(value)).into()
    }

    fn i64_attr(&self, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(self.i64(), value).into()
    }
}

/// Operations in general.
impl<'c> Builder<'c> {
    /// Appends an operation with one result.
    pub fn op(&self, name: &str, operands: &[V<'c>], result: Type<'c>) -> V<'c> {
        self.op_with(name, operands, result, &[])
    }

    /// Appends an operation with one result and attributes.
    pub fn op_with(
        &self,
        name: &str,
        operands: &[V<'c>],
        result: Type<'c>,
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> V<'c> {
        let op = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_attributes(attributes)
            .add_results(&[result])
            .build()
            .expect("an operation without result type inference");
        long(self.block.get().append_operation(op).result(0).expect("one result"))
    }

    /// Appends an operation without results.
    pub fn effect(&self, name: &str, operands: &[V<'c>], attributes: &[(Identifier<'c>, Attribute<'c>)]) {
        let op = OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_attributes(attributes)
            .build()
            .expect("an operation without result type inference");
        self.block.get().append_operation(op);
    }

    /// A unary operation whose result has the operand's type: `llvm.intr.fabs`, `arith.negf`, ….
    pub fn unary(&self, name: &str, a: V<'c>) -> V<'c> {
        self.op(name, &[a], a.r#type())
    }

    /// A binary operation whose result has the operands' type: `arith.addi`, `llvm.intr.maximum`, ….
    pub fn binary(&self, name: &str, a: V<'c>, b: V<'c>) -> V<'c> {
        self.op(name, &[a, b], a.r#type())
    }

    /// A float operation with fast-math flags.
    pub fn binary_fast(&self, name: &str, a: V<'c>, b: V<'c>, fast: FastMath) -> V<'c> {
        match fast {
            FastMath::None => self.binary(name, a, b),
            FastMath::Reassoc => {
                let flags = Attribute::parse(self.context, "#arith.fastmath<reassoc>").expect("a known flag");
                self.op_with(name, &[a, b], a.r#type(), &[self.named("fastmath", flags)])
            }
        }
    }
}

/// Arithmetic.
impl<'c> Builder<'c> {
    /// An integer constant of type `ty`; `value` is truncated to its width.
    pub fn const_int(&self, ty: Type<'c>, value: i64) -> V<'c> {
        let attribute = IntegerAttribute::new(ty, value);
        self.op_with("arith.constant", &[], ty, &[self.named("value", attribute)])
    }

    /// An `i64` constant.
    pub fn index(&self, value: i64) -> V<'c> {
        self.const_int(self.i64(), value)
    }

    /// An `i1` constant.
    pub fn const_bool(&self, value: bool) -> V<'c> {
        self.const_int(self.i1(), i64::from(value))
    }

    /// A float constant of type `ty` (`f16`, `f32` or `f64`), rounded to it. Infinities and NaNs are fine.
    pub fn const_float(&self, ty: Type<'c>, value: f64) -> V<'c> {
        let attribute = FloatAttribute::new(self.context, ty, value);
        self.op_with("arith.constant", &[], ty, &[self.named("value", attribute)])
    }

    /// `a + b` on integers, wrapping.
    pub fn addi(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.addi", a, b)
    }

    /// `a - b` on integers, wrapping.
    pub fn subi(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.subi", a, b)
    }

    /// `a * b` on integers, wrapping.
    pub fn muli(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.muli", a, b)
    }

    /// `a + b` on indices, which never wraps.
    pub fn index_add(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.index_binary("arith.addi", a, b)
    }

    /// `a - b` on indices, which never wraps.
    pub fn index_sub(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.index_binary("arith.subi", a, b)
    }

    /// `a * b` on indices, which never wraps.
    pub fn index_mul(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.index_binary("arith.muli", a, b)
    }

    fn index_binary(&self, name: &str, a: V<'c>, b: V<'c>) -> V<'c> {
        let flags = Attribute::parse(self.context, "#arith.overflow<nsw>").expect("a known flag");
        self.op_with(name, &[a, b], a.r#type(), &[self.named("overflowFlags", flags)])
    }

    /// `a + b` on floats.
    pub fn addf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.addf", a, b)
    }

    /// `a - b` on floats.
    pub fn subf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.subf", a, b)
    }

    /// `a * b` on floats.
    pub fn mulf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.mulf", a, b)
    }

    /// `a / b` on floats.
    pub fn divf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary("arith.divf", a, b)
    }

    /// `a * b + c` rounded once.
    pub fn fma(&self, a: V<'c>, b: V<'c>, c: V<'c>) -> V<'c> {
        self.op("llvm.intr.fma", &[a, b, c], a.r#type())
    }

    /// An integer comparison.
    pub fn cmpi(&self, predicate: IntPredicate, a: V<'c>, b: V<'c>) -> V<'c> {
        let p = self.named("predicate", self.i64_attr(predicate as i64));
        self.op_with("arith.cmpi", &[a, b], self.i1(), &[p])
    }

    /// A float comparison.
    pub fn cmpf(&self, predicate: FloatPredicate, a: V<'c>, b: V<'c>) -> V<'c> {
        let p = self.named("predicate", self.i64_attr(predicate as i64));
        self.op_with("arith.cmpf", &[a, b], self.i1(), &[p])
    }

    /// `condition ? a : b`, both evaluated.
    pub fn select(&self, condition: V<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        self.op("arith.select", &[condition, a, b], a.r#type())
    }

    /// The number of zero bits above the highest one; the width for 0.
    pub fn count_leading_zeros(&self, a: V<'c>) -> V<'c> {
        let defined_at_zero = self.named("is_zero_poison", self.bool_attr(false));
        self.op_with("llvm.intr.ctlz", &[a], a.r#type(), &[defined_at_zero])
    }

    /// A conversion: `arith.extf`, `arith.sitofp`, `arith.trunci`, `arith.bitcast`, ….
    pub fn cast(&self, name: &str, a: V<'c>, to: Type<'c>) -> V<'c> {
        self.op(name, &[a], to)
    }
}

/// Memory.
impl<'c> Builder<'c> {
    /// The address `base + index * size_of(element)`; `element` is the type in memory.
    pub fn gep(&self, base: V<'c>, index: V<'c>, element: Type<'c>) -> V<'c> {
        const DYNAMIC: i32 = i32::MIN;
        let op = OperationBuilder::new("llvm.getelementptr", self.location)
            .add_operands(&[base, index])
            .add_attributes(&[
                self.named("rawConstantIndices", DenseI32ArrayAttribute::new(self.context, &[DYNAMIC])),
                self.named("elem_type", TypeAttribute::new(element)),
                // inbounds: every index that the code generator computes lies in its buffer.
                self.named("noWrapFlags", IntegerAttribute::new(self.int(32), 3)),
            ])
            .add_results(&[self.ptr()])
            .build()
            .expect("an operation without result type inference");
        long(self.block.get().append_operation(op).result(0).expect("one result"))
    }

    /// Loads a value of type `ty`.
    pub fn load(&self, ty: Type<'c>, address: V<'c>) -> V<'c> {
        self.op("llvm.load", &[address], ty)
    }

    /// Stores a value.
    pub fn store(&self, value: V<'c>, address: V<'c>) {
        self.effect("llvm.store", &[value, address], &[]);
    }

    /// Loads a value that others may change at any time.
    pub fn load_volatile(&self, ty: Type<'c>, address: V<'c>) -> V<'c> {
        self.op_with("llvm.load", &[address], ty, &[self.volatile()])
    }

    /// Stores a value that others may look at at any time.
    pub fn store_volatile(&self, value: V<'c>, address: V<'c>) {
        self.effect("llvm.store", &[value, address], &[self.volatile()]);
    }

    fn volatile(&self) -> (Identifier<'c>, Attribute<'c>) {
        (Identifier::new(self.context, "volatile_"), Attribute::unit(self.context))
    }

    /// Stack memory for `count` elements, aligned for vectors. Belongs in a function's entry block.
    pub fn alloca(&self, element: Type<'c>, count: i64) -> V<'c> {
        let n = self.index(count);
        self.op_with(
            "llvm.alloca",
            &[n],
            self.ptr(),
            &[
                self.named("elem_type", TypeAttribute::new(element)),
                self.named("alignment", self.i64_attr(64)),
            ],
        )
    }

    /// The address of a global or function.
    pub fn address_of(&self, symbol: &str) -> V<'c> {
        let name = FlatSymbolRefAttribute::new(self.context, symbol);
        self.op_with("llvm.mlir.addressof", &[], self.ptr(), &[self.named("global_name", name)])
    }

    /// The null pointer.
    pub fn null(&self) -> V<'c> {
        self.op("llvm.mlir.zero", &[], self.ptr())
    }

    /// Calls a function by name; `result` is `None` for a function that returns nothing.
    pub fn call(&self, callee: &str, operands: &[V<'c>], result: Option<Type<'c>>) -> Option<V<'c>> {
        let n = operands.len() as i32;
        let results: Vec<Type<'c>> = result.into_iter().collect();
        let op = OperationBuilder::new("llvm.call", self.location)
            .add_operands(operands)
            .add_attributes(&[
                self.named("callee", FlatSymbolRefAttribute::new(self.context, callee)),
                self.named("operandSegmentSizes", DenseI32ArrayAttribute::new(self.context, &[n, 0])),
                self.named("op_bundle_sizes", DenseI32ArrayAttribute::new(self.context, &[])),
            ])
            .add_results(&results)
            .build()
            .expect("an operation without result type inference");
        let op = self.block.get().append_operation(op);
        result.map(|_| long(op.result(0).expect("one result")))
    }
}

/// Control flow. Bodies are closures that build into a fresh block; the insertion point comes back afterwards. What a
/// body fails with is the result: of what was begun nothing stays but the values before it.
impl<'c> Builder<'c> {
    /// Runs `body` with the insertion point in a new block with the given argument types, and returns its region.
    fn in_block<E>(
        &self,
        arguments: &[Type<'c>],
        body: impl FnOnce(&[V<'c>]) -> Result<(), E>,
    ) -> Result<Region<'c>, E> {
        let arguments: Vec<_> = arguments.iter().map(|&t| (t, self.location)).collect();
        let region = Region::new();
        let block = region.append_block(Block::new(&arguments));
        // SAFETY: see the lifetimes section of [`Builder`]; the region is moved into an operation, its blocks stay.
        let inner: BlockRef<'c, 'c> = unsafe { BlockRef::from_raw(block.to_raw()) };
        let values: Vec<V<'c>> =
            (0..arguments.len()).map(|i| long(inner.argument(i).expect("an argument"))).collect();
        let outer = self.block.replace(inner);
        let result = body(&values);
        self.block.set(outer);
        result.map(|()| region)
    }

    fn yield_(&self, values: &[V<'c>]) {
        self.effect("scf.yield", values, &[]);
    }

    fn results(&self, op: melior::ir::Operation<'c>, n: usize) -> Vec<V<'c>> {
        let op = self.block.get().append_operation(op);
        (0..n).map(|i| long(op.result(i).expect("a result"))).collect()
    }

    /// `for i in (lower..upper).step_by(step)`.
    pub fn for_loop<E>(
        &self,
        lower: V<'c>,
        upper: V<'c>,
        step: i64,
        body: impl FnOnce(V<'c>) -> Result<(), E>,
    ) -> Result<(), E> {
        self.for_carry(lower, upper, step, &[], |i, _| body(i).map(|()| Vec::new())).map(drop)
    }

    /// A counted loop that carries values: `body(i, carried)` returns the next ones; the last ones are the
    /// result.
    pub fn for_carry<E>(
        &self,
        lower: V<'c>,
        upper: V<'c>,
        step: i64,
        init: &[V<'c>],
        body: impl FnOnce(V<'c>, &[V<'c>]) -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        let step = self.index(step);
        let types: Vec<Type<'c>> = init.iter().map(|v| v.r#type()).collect();
        let arguments: Vec<Type<'c>> = std::iter::once(self.i64()).chain(types.iter().copied()).collect();
        let region = self.in_block(&arguments, |a| body(a[0], &a[1..]).map(|next| self.yield_(&next)))?;
        let operands: Vec<V<'c>> = [lower, upper, step].into_iter().chain(init.iter().copied()).collect();
        let op = OperationBuilder::new("scf.for", self.location)
            .add_operands(&operands)
            .add_results(&types)
            .add_regions([region])
            .build()
            .expect("an operation without result type inference");
        Ok(self.results(op, types.len()))
    }

    /// `if condition { then } else { otherwise }` with results of the given types.
    pub fn if_else<E>(
        &self,
        condition: V<'c>,
        types: &[Type<'c>],
        then: impl FnOnce() -> Result<Vec<V<'c>>, E>,
        otherwise: impl FnOnce() -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        let then = self.in_block(&[], |_| then().map(|v| self.yield_(&v)))?;
        let otherwise = self.in_block(&[], |_| otherwise().map(|v| self.yield_(&v)))?;
        let op = OperationBuilder::new("scf.if", self.location)
            .add_operands(&[condition])
            .add_results(types)
            .add_regions([then, otherwise])
            .build()
            .expect("an operation without result type inference");
        Ok(self.results(op, types.len()))
    }

    /// `if condition { then }`.
    pub fn if_then<E>(&self, condition: V<'c>, then: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.if_else(condition, &[], || then().map(|()| Vec::new()), || Ok(Vec::new())).map(drop)
    }

    /// `while condition(carried) { carried = body(carried) }`.
    pub fn while_loop<E>(
        &self,
        init: &[V<'c>],
        condition: impl FnOnce(&[V<'c>]) -> Result<V<'c>, E>,
        body: impl FnOnce(&[V<'c>]) -> Result<Vec<V<'c>>, E>,
    ) -> Result<Vec<V<'c>>, E> {
        let types: Vec<Type<'c>> = init.iter().map(|v| v.r#type()).collect();
        let before = self.in_block(&types, |a| {
            let go_on = condition(a)?;
            let operands: Vec<V<'c>> = std::iter::once(go_on).chain(a.iter().copied()).collect();
            self.effect("scf.condition", &operands, &[]);
            Ok(())
        })?;
        let after = self.in_block(&types, |a| body(a).map(|next| self.yield_(&next)))?;
        let op = OperationBuilder::new("scf.while", self.location)
            .add_operands(init)
            .add_results(&types)
            .add_regions([before, after])
            .build()
            .expect("an operation without result type inference");
        Ok(self.results(op, types.len()))
    }

    /// A new block of the function that code is being added to, which must be outside of loops' and branches' bodies.
    pub fn label(&self) -> Label<'c> {
        let region = self.block.get().parent_region().expect("a function's block");
        Label(long_block(&region.append_block(Block::new(&[]))))
    }

    /// Goes on in one block if the condition holds, else in the other.
    pub fn branch(&self, condition: V<'c>, then: Label<'c>, otherwise: Label<'c>) {
        let (then, otherwise) = (&then.0, &otherwise.0);
        let op = cf::cond_br(self.context, condition, then, otherwise, &[], &[], self.location);
        self.block.get().append_operation(op);
    }

    /// Goes on in a block.
    pub fn jump(&self, to: Label<'c>) {
        self.block.get().append_operation(cf::br(&to.0, &[], self.location));
    }

    /// Adds code to a block from here on.
    pub fn place(&self, label: Label<'c>) {
        self.block.set(label.0);
    }

    /// Returns from the function.
    pub fn ret(&self, value: Option<V<'c>>) {
        let values: Vec<V<'c>> = value.into_iter().collect();
        self.effect("llvm.return", &values, &[]);
    }
}

/// A block of a function, to branch to.
#[derive(Clone, Copy)]
pub struct Label<'c>(BlockRef<'c, 'c>);

/// An attribute of a function's pointer parameter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PointerFacts {
    /// No other pointer of the function reaches the same memory.
    pub noalias: bool,
    /// Bytes that the address is a multiple of; 0 for unknown.
    pub align: u32,
}

/// What a function takes and gives.
#[derive(Clone, Copy, Debug)]
pub struct Signature<'s, 'c> {
    /// The types of the parameters, and what is known of those that are pointers.
    pub parameters: &'s [(Type<'c>, Option<PointerFacts>)],
    /// The type of the result; `None` for a function that returns nothing.
    pub result: Option<Type<'c>>,
}

/// Adds `llvm.func @name(parameters) -> result` to `module_body`. `body` builds its instructions and must end with
/// [`Builder::ret`].
///
/// # Errors
/// What `body` fails with; then there is no function.
pub fn function<'c, E>(
    context: &'c Context,
    module_body: BlockRef<'c, '_>,
    name: &str,
    signature: Signature<'_, 'c>,
    body: impl FnOnce(&Builder<'c>, &[V<'c>]) -> Result<(), E>,
) -> Result<(), E> {
    let location = Location::unknown(context);
    let arguments: Vec<_> = signature.parameters.iter().map(|&(t, _)| (t, location)).collect();
    let region = Region::new();
    let block = region.append_block(Block::new(&arguments));
    let builder = Builder::new(context, block);
    let block = long_block(&builder.block.get());
    let values: Vec<V<'c>> =
        (0..arguments.len()).map(|i| long(block.argument(i).expect("an argument"))).collect();
    body(&builder, &values)?;
    add_function(context, module_body, name, signature, region);
    Ok(())
}

/// Adds a declaration of `llvm.func @name(parameters) -> result` to `module_body`.
pub fn declaration<'c>(
    context: &'c Context,
    module_body: BlockRef<'c, '_>,
    name: &str,
    signature: Signature<'_, 'c>,
) {
    add_function(context, module_body, name, signature, Region::new());
}

/// Adds the operation `llvm.func`.
fn add_function<'c>(
    context: &'c Context,
    module_body: BlockRef<'c, '_>,
    name: &str,
    Signature { parameters, result }: Signature<'_, 'c>,
    region: Region<'c>,
) {
    let location = Location::unknown(context);
    let types: Vec<Type<'c>> = parameters.iter().map(|p| p.0).collect();
    let result = result.unwrap_or_else(|| llvm::r#type::void(context));
    let function_type = llvm::r#type::function(result, &types, false);
    let facts: Vec<String> = parameters
        .iter()
        .map(|(_, facts)| match facts {
            None => "{}".to_string(),
            Some(f) => {
                let mut items = vec!["llvm.noundef".to_string()];
                if f.noalias {
                    items.push("llvm.noalias".into());
                }
                if f.align > 0 {
                    items.push(format!("llvm.align = {} : i64", f.align));
                }
                format!("{{{}}}", items.join(", "))
            }
        })
        .collect();
    let facts =
        Attribute::parse(context, &format!("[{}]", facts.join(", "))).expect("well-formed attributes");
    let op = OperationBuilder::new("llvm.func", location)
        .add_attributes(&[
            (Identifier::new(context, "sym_name"), StringAttribute::new(context, name).into()),
            (Identifier::new(context, "function_type"), TypeAttribute::new(function_type).into()),
            (
                Identifier::new(context, "linkage"),
                llvm::attributes::linkage(context, llvm::attributes::Linkage::External),
            ),
            (Identifier::new(context, "arg_attrs"), facts),
        ])
        .add_regions([region])
        .build()
        .expect("an operation without result type inference");
    module_body.append_operation(op);
}

/// Adds a constant global array of `i64` to `module_body`: descriptors for the runtime.
pub fn global_i64s<'c>(context: &'c Context, module_body: BlockRef<'c, '_>, name: &str, values: &[i64]) {
    let location = Location::unknown(context);
    let list = values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    let value = Attribute::parse(context, &format!("dense<[{list}]> : tensor<{}xi64>", values.len()))
        .expect("a well-formed dense attribute");
    let ty = llvm::r#type::array(IntegerType::new(context, 64).into(), values.len() as u32);
    let op = OperationBuilder::new("llvm.mlir.global", location)
        .add_attributes(&[
            (Identifier::new(context, "sym_name"), StringAttribute::new(context, name).into()),
            (Identifier::new(context, "global_type"), TypeAttribute::new(ty).into()),
            (
                Identifier::new(context, "linkage"),
                llvm::attributes::linkage(context, llvm::attributes::Linkage::Internal),
            ),
            (Identifier::new(context, "constant"), Attribute::unit(context)),
            (Identifier::new(context, "value"), value),
        ])
        .add_regions([Region::new()])
        .build()
        .expect("an operation without result type inference");
    module_body.append_operation(op);
}
