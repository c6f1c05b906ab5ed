//! MLIR construction: an insertion point with one method per operation that the code generator uses.
//!
//! The code uses the dialects `arith`, `scf` and `llvm`, but not `func`. Functions are `llvm.func`. Memory is
//! accessed with `llvm` loads, stores and `getelementptr` on opaque pointers. There are no memref
//! descriptors, because every buffer is one pointer and its strides are known. Bit manipulation uses LLVM's
//! intrinsics (`llvm.intr.*`).
//!
//! MLIR's verifier checks types once a module is complete; this module does not. An operation with wrong
//! operands is a bug of the code generator and is reported as an internal error that quotes the verifier.

mod control;
mod functions;
mod locations;
mod operations;

pub use control::Label;
pub use functions::{ModuleBuilder, PointerFacts, Signature};
pub use locations::SourceFile;
/// The relation of a float comparison; `O…` is false and `U…` true if an operand is NaN.
pub use melior::dialect::arith::CmpfPredicate as FloatPredicate;
/// The relation of an integer comparison.
pub use melior::dialect::arith::CmpiPredicate as IntPredicate;
pub use operations::{Binary, Cast, Unary};

use hlo_ir::{InstrId, Module};
use melior::Context;
use melior::dialect::arith;
use melior::dialect::llvm::{self, AllocaOptions, LoadStoreOptions};
use melior::ir::attribute::{
    DenseI32ArrayAttribute, FlatSymbolRefAttribute, FloatAttribute, IntegerAttribute, TypeAttribute,
};
use melior::ir::operation::{OperationBuilder, OperationRef};
use melior::ir::r#type::IntegerType;
use melior::ir::{Attribute, BlockLike, BlockRef, Identifier, Location, Operation, Type, Value, ValueLike};
use std::cell::{Cell, OnceCell};

/// An SSA value. The module that contains it outlives every use: see [`Builder`].
pub type V<'c> = Value<'c, 'c>;

/// The assumptions beyond IEEE 754 that an operation may make.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FastMath {
    /// No assumptions.
    #[default]
    None,
    /// Operands may be combined in another order. Used inside reductions only.
    Reassoc,
}

/// An insertion point at the end of a block.
///
/// # Lifetimes
/// MLIR values live as long as the module that owns their blocks. The builder gives them the context's
/// lifetime. This is sound because a module under construction outlives its builder, and operations are never
/// erased while building.
pub struct Builder<'c> {
    context: &'c Context,
    source: Option<&'c SourceFile>,
    /// The location of new operations, and its line and column.
    location: Cell<(Location<'c>, (usize, usize))>,
    block: Cell<BlockRef<'c, 'c>>,
    /// Attributes that MLIR's C interface can only create from text.
    reassoc: OnceCell<Attribute<'c>>,
    no_signed_wrap: OnceCell<Attribute<'c>>,
}

/// Extends the lifetime of a block reference to that of the context.
fn long_block<'c>(block: &impl BlockLike<'c, 'c>) -> BlockRef<'c, 'c> {
    // SAFETY: see the lifetimes section of [`Builder`].
    unsafe { BlockRef::from_raw(block.to_raw()) }
}

fn named<'c>(
    context: &'c Context,
    name: &str,
    attribute: impl Into<Attribute<'c>>,
) -> (Identifier<'c>, Attribute<'c>) {
    (Identifier::new(context, name), attribute.into())
}

fn long<'c>(value: impl ValueLike<'c>) -> V<'c> {
    // SAFETY: see the lifetimes section of [`Builder`].
    unsafe { Value::from_raw(value.to_raw()) }
}

/// Locations of operations.
impl<'c> Builder<'c> {
    /// Creates a builder that appends to `block`. The functions of [`ModuleBuilder`] create one.
    fn new(context: &'c Context, block: BlockRef<'c, 'c>, source: Option<&'c SourceFile>) -> Self {
        Self {
            context,
            source,
            location: Cell::new((Location::unknown(context), (1, 1))),
            block: Cell::new(block),
            reassoc: OnceCell::new(),
            no_signed_wrap: OnceCell::new(),
        }
    }

    /// Runs `f`. Operations that it adds get the location of the instruction.
    pub fn at<T>(&self, module: &Module, instruction: InstrId, f: impl FnOnce() -> T) -> T {
        let outer = self.location.replace(self.locate(module, instruction));
        let result = f();
        self.location.set(outer);
        result
    }

    /// Returns the location of an instruction's operations. An instruction without a source location, created
    /// by a pass, gets the surrounding location.
    fn locate(&self, module: &Module, instruction: InstrId) -> (Location<'c>, (usize, usize)) {
        let (span, (_, outer)) = (module.span(instruction), self.location.get());
        let offset = (span != hlo_ir::Span::default()).then_some(span.start as usize);
        locations::of_instruction(self.context, self.source, &module[instruction].name, offset, outer)
    }

    /// Returns the location of new operations.
    fn location(&self) -> Location<'c> {
        self.location.get().0
    }
}

/// Types and attributes.
impl<'c> Builder<'c> {
    /// Returns the MLIR context.
    pub fn context(&self) -> &'c Context {
        self.context
    }

    /// Returns the signless integer type of `bits` bits.
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
        named(self.context, name, attribute)
    }
}

/// Operations in general.
impl<'c> Builder<'c> {
    fn append(&self, op: Operation<'c>) -> OperationRef<'c, 'c> {
        let op = self.block.get().append_operation(op);
        // SAFETY: see the lifetimes section of [`Builder`].
        unsafe { OperationRef::from_raw(op.to_raw()) }
    }

    /// Appends an operation with one result.
    fn value(&self, op: Operation<'c>) -> V<'c> {
        long(self.append(op).result(0).expect("one result"))
    }

    /// Appends an operation with one result, given its name.
    fn op(
        &self,
        name: &str,
        operands: &[V<'c>],
        result: Type<'c>,
        attributes: &[(Identifier<'c>, Attribute<'c>)],
    ) -> V<'c> {
        let op = OperationBuilder::new(name, self.location())
            .add_operands(operands)
            .add_attributes(attributes)
            .add_results(&[result])
            .build()
            .expect("an operation without result type inference");
        self.value(op)
    }

    /// Appends an operation on one value.
    pub fn unary(&self, op: Unary, a: V<'c>) -> V<'c> {
        self.op(op.name(), &[a], a.r#type(), &[])
    }

    /// Appends an operation on two values of the same type.
    pub fn binary(&self, op: Binary, a: V<'c>, b: V<'c>) -> V<'c> {
        self.op(op.name(), &[a, b], a.r#type(), &[])
    }

    /// Appends a float operation with fast-math flags.
    pub fn binary_fast(&self, op: Binary, a: V<'c>, b: V<'c>, fast: FastMath) -> V<'c> {
        match fast {
            FastMath::None => self.binary(op, a, b),
            FastMath::Reassoc => {
                let parse =
                    || Attribute::parse(self.context, "#arith.fastmath<reassoc>").expect("a known flag");
                let flags = *self.reassoc.get_or_init(parse);
                self.op(op.name(), &[a, b], a.r#type(), &[self.named("fastmath", flags)])
            }
        }
    }

    /// Appends a conversion to a type.
    pub fn cast(&self, op: Cast, a: V<'c>, to: Type<'c>) -> V<'c> {
        self.op(op.name(), &[a], to, &[])
    }
}

/// Arithmetic.
impl<'c> Builder<'c> {
    /// Returns an integer constant of type `ty`. `value` is truncated to its width.
    pub fn const_int(&self, ty: Type<'c>, value: i64) -> V<'c> {
        let attribute = IntegerAttribute::new(ty, value);
        self.op("arith.constant", &[], ty, &[self.named("value", attribute)])
    }

    /// Returns an `i64` constant.
    pub fn index(&self, value: i64) -> V<'c> {
        self.const_int(self.i64(), value)
    }

    /// Returns an `i1` constant.
    pub fn const_bool(&self, value: bool) -> V<'c> {
        self.const_int(self.i1(), i64::from(value))
    }

    /// Returns a float constant of type `ty` (`f16`, `f32` or `f64`), rounded to that type. `value` may be
    /// infinite or NaN.
    pub fn const_float(&self, ty: Type<'c>, value: f64) -> V<'c> {
        let attribute = FloatAttribute::new(self.context, ty, value);
        self.op("arith.constant", &[], ty, &[self.named("value", attribute)])
    }

    /// `a + b` on integers, wrapping.
    pub fn addi(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Addi, a, b)
    }

    /// `a - b` on integers, wrapping.
    pub fn subi(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Subi, a, b)
    }

    /// `a * b` on integers, wrapping.
    pub fn muli(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Muli, a, b)
    }

    /// `a + b` on indices, which must not wrap.
    pub fn index_add(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.index_binary(Binary::Addi, a, b)
    }

    /// `a - b` on indices, which must not wrap.
    pub fn index_sub(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.index_binary(Binary::Subi, a, b)
    }

    /// `a * b` on indices, which must not wrap.
    pub fn index_mul(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.index_binary(Binary::Muli, a, b)
    }

    fn index_binary(&self, op: Binary, a: V<'c>, b: V<'c>) -> V<'c> {
        let parse = || Attribute::parse(self.context, "#arith.overflow<nsw>").expect("a known flag");
        let flags = *self.no_signed_wrap.get_or_init(parse);
        self.op(op.name(), &[a, b], a.r#type(), &[self.named("overflowFlags", flags)])
    }

    /// `a + b` on floats.
    pub fn addf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Addf, a, b)
    }

    /// `a - b` on floats.
    pub fn subf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Subf, a, b)
    }

    /// `a * b` on floats.
    pub fn mulf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Mulf, a, b)
    }

    /// `a / b` on floats.
    pub fn divf(&self, a: V<'c>, b: V<'c>) -> V<'c> {
        self.binary(Binary::Divf, a, b)
    }

    /// `a * b + c` rounded once.
    pub fn fma(&self, a: V<'c>, b: V<'c>, c: V<'c>) -> V<'c> {
        self.op("llvm.intr.fma", &[a, b, c], a.r#type(), &[])
    }

    /// Compares integers.
    pub fn cmpi(&self, predicate: IntPredicate, a: V<'c>, b: V<'c>) -> V<'c> {
        self.value(arith::cmpi(self.context, predicate, a, b, self.location()))
    }

    /// Compares floats.
    pub fn cmpf(&self, predicate: FloatPredicate, a: V<'c>, b: V<'c>) -> V<'c> {
        self.value(arith::cmpf(self.context, predicate, a, b, self.location()))
    }

    /// `condition ? a : b`. Both values are evaluated.
    pub fn select(&self, condition: V<'c>, a: V<'c>, b: V<'c>) -> V<'c> {
        self.op("arith.select", &[condition, a, b], a.r#type(), &[])
    }

    /// Returns the number of leading zero bits, which is the width for 0.
    pub fn count_leading_zeros(&self, a: V<'c>) -> V<'c> {
        self.value(llvm::intr_ctlz(self.context, a, false, a.r#type(), self.location()))
    }
}

/// Memory.
impl<'c> Builder<'c> {
    /// Returns the address `base + index * size_of(element)`. `element` is the type in memory.
    pub fn gep(&self, base: V<'c>, index: V<'c>, element: Type<'c>) -> V<'c> {
        const DYNAMIC_INDEX: i32 = i32::MIN;
        let attributes = [
            self.named("rawConstantIndices", DenseI32ArrayAttribute::new(self.context, &[DYNAMIC_INDEX])),
            self.named("elem_type", TypeAttribute::new(element)),
            // inbounds: every index that the code generator computes is within its buffer.
            self.named("noWrapFlags", IntegerAttribute::new(self.int(32), 3)),
        ];
        self.op("llvm.getelementptr", &[base, index], self.ptr(), &attributes)
    }

    /// Loads a value of type `ty`.
    pub fn load(&self, ty: Type<'c>, address: V<'c>) -> V<'c> {
        self.value(llvm::load(self.context, address, ty, self.location(), LoadStoreOptions::new()))
    }

    /// Stores a value.
    pub fn store(&self, value: V<'c>, address: V<'c>) {
        self.append(llvm::store(self.context, value, address, self.location(), LoadStoreOptions::new()));
    }

    /// Loads a value that other threads may change at any time.
    pub fn load_volatile(&self, ty: Type<'c>, address: V<'c>) -> V<'c> {
        let options = LoadStoreOptions::new().volatile(true);
        self.value(llvm::load(self.context, address, ty, self.location(), options))
    }

    /// Stores a value that other threads may read at any time.
    pub fn store_volatile(&self, value: V<'c>, address: V<'c>) {
        let options = LoadStoreOptions::new().volatile(true);
        self.append(llvm::store(self.context, value, address, self.location(), options));
    }

    /// Copies `bytes` bytes. Source and target must not overlap.
    pub fn memcpy(&self, to: V<'c>, from: V<'c>, bytes: V<'c>) {
        let volatile = self.named("isVolatile", IntegerAttribute::new(self.i1(), 0));
        let op = OperationBuilder::new("llvm.intr.memcpy", self.location())
            .add_operands(&[to, from, bytes])
            .add_attributes(&[volatile])
            .build()
            .expect("an operation without result type inference");
        self.append(op);
    }

    /// Allocates stack memory for `count` elements, aligned for vectors. Must be called in a function's entry
    /// block.
    pub fn alloca(&self, element: Type<'c>, count: i64) -> V<'c> {
        let options = AllocaOptions::new()
            .align(Some(IntegerAttribute::new(self.i64(), 64)))
            .elem_type(Some(TypeAttribute::new(element)));
        let n = self.index(count);
        self.value(llvm::alloca(self.context, n, self.ptr(), self.location(), options))
    }

    /// Returns the address of a global or function.
    pub fn address_of(&self, symbol: &str) -> V<'c> {
        let name = FlatSymbolRefAttribute::new(self.context, symbol);
        self.op("llvm.mlir.addressof", &[], self.ptr(), &[self.named("global_name", name)])
    }

    /// Returns the null pointer.
    pub fn null(&self) -> V<'c> {
        self.value(llvm::zero(self.ptr(), self.location()))
    }

    /// Calls a function by name. `result` is `None` for a function that returns nothing.
    pub fn call(&self, callee: &str, operands: &[V<'c>], result: Option<Type<'c>>) -> Option<V<'c>> {
        let callee = self.named("callee", FlatSymbolRefAttribute::new(self.context, callee));
        self.call_op(&[callee], operands, result)
    }

    /// Calls a function that returns nothing by its address.
    pub fn call_pointer(&self, callee: V<'c>, operands: &[V<'c>]) {
        self.call_op(&[], &[&[callee], operands].concat(), None);
    }

    fn call_op(
        &self,
        callee: &[(Identifier<'c>, Attribute<'c>)],
        operands: &[V<'c>],
        result: Option<Type<'c>>,
    ) -> Option<V<'c>> {
        let n = operands.len() as i32;
        let results: Vec<Type<'c>> = result.into_iter().collect();
        let op = OperationBuilder::new("llvm.call", self.location())
            .add_operands(operands)
            .add_attributes(callee)
            .add_attributes(&[
                self.named("operandSegmentSizes", DenseI32ArrayAttribute::new(self.context, &[n, 0])),
                self.named("op_bundle_sizes", DenseI32ArrayAttribute::new(self.context, &[])),
            ])
            .add_results(&results)
            .build()
            .expect("an operation without result type inference");
        let op = self.append(op);
        result.map(|_| long(op.result(0).expect("one result")))
    }
}
