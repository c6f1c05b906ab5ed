//! Tests of elementwise operations, compiled as a loop over arrays and compared with references.

mod accuracy;
mod complex;
mod exact;
mod formats;
mod half;
mod reductions;
mod speed;

use hlo_codegen::builder::{ModuleBuilder, PointerFacts, Signature};
use hlo_codegen::internals::{Unsupported, bitcast_convert, emit_elementwise, load, store};
use hlo_codegen::jit::{self, Effort, FileType, Linked};
use hlo_ir::{ElementType, Op};
use melior::ir::{Location, Module};

/// Compiles `out[i] = op(in[i]…)` as `f(out, in0, in1, in2, n)`.
fn code(op: &Op, result: ElementType, types: &[ElementType], file: FileType) -> Vec<u8> {
    let context = jit::context();
    let mut module = Module::new(Location::unknown(&context));
    let functions = ModuleBuilder::new(&context, &module);
    let array = (functions.ptr(), Some(PointerFacts { noalias: true, align: 8 }));
    let parameters = [array, array, array, array, (functions.int(64), None)];
    let signature = Signature { parameters: &parameters, result: None };
    let emitted = functions.function("f", signature, None, |b, args| {
        b.for_loop(b.index(0), args[4], 1, |i| {
            let operands: Vec<_> =
                types.iter().enumerate().map(|(k, &ty)| (load(b, ty, args[k + 1], i), ty)).collect();
            let value = match (op, operands[0]) {
                (Op::Copy, (x, _)) => x,
                (Op::BitcastConvert, (x, from)) => bitcast_convert(b, result, x, from)?,
                _ => {
                    let op = op.elementwise().expect("an elementwise operation");
                    emit_elementwise(b, op, result, &operands)?
                }
            };
            store(b, result, args[0], i, value);
            Ok::<_, Unsupported>(())
        })?;
        b.ret(None);
        Ok::<_, Unsupported>(())
    });
    emitted.expect("a supported operation");
    jit::lower_to_llvm_dialect(&context, &mut module).expect("valid MLIR");
    jit::compile(&context, &module, Effort::Full, file).expect("code")
}

/// A compiled elementwise operation.
struct Compiled {
    _linked: Linked,
    function: unsafe extern "C" fn(*mut u8, *const u8, *const u8, *const u8, i64),
    result: ElementType,
    types: Vec<ElementType>,
}

impl Compiled {
    fn new(op: Op, result: ElementType, types: &[ElementType]) -> Self {
        let object = code(&op, result, types, FileType::Object);
        let linked = Linked::link(&[object], &[], false).expect("a linked object");
        let address = linked.lookup("f").expect("the function");
        // SAFETY: the function has this signature.
        let function = unsafe {
            std::mem::transmute::<
                *const (),
                unsafe extern "C" fn(*mut u8, *const u8, *const u8, *const u8, i64),
            >(address)
        };
        Self { _linked: linked, function, result, types: types.to_vec() }
    }

    /// Applies the operation to arrays of bytes.
    fn run(&self, inputs: &[&[u8]]) -> Vec<u8> {
        assert_eq!(inputs.len(), self.types.len());
        let n = inputs[0].len() / self.types[0].byte_size();
        let mut out = vec![0u8; n * self.result.byte_size()];
        let empty: &[u8] = &[];
        let at = |i: usize| {
            let input = inputs.get(i).copied().unwrap_or(empty);
            assert!(i >= inputs.len() || input.len() == n * self.types[i].byte_size());
            input.as_ptr()
        };
        // SAFETY: every buffer contains n elements of its type.
        unsafe { (self.function)(out.as_mut_ptr(), at(0), at(1), at(2), n as i64) };
        out
    }

    /// Applies the operation to arrays of Rust's numbers.
    fn on<T: Number, R: Number>(&self, inputs: &[&[T]]) -> Vec<R> {
        let bytes: Vec<Vec<u8>> = inputs.iter().map(|x| x.iter().flat_map(|v| v.bytes()).collect()).collect();
        let bytes: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
        self.run(&bytes).chunks(std::mem::size_of::<R>()).map(R::from_bytes).collect()
    }
}

/// A Rust number type.
trait Number: Copy {
    fn bytes(self) -> Vec<u8>;
    fn from_bytes(bytes: &[u8]) -> Self;
}

macro_rules! numbers {
    ($($t:ty)*) => {
        $(impl Number for $t {
            fn bytes(self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
            fn from_bytes(bytes: &[u8]) -> Self {
                <$t>::from_le_bytes(bytes.try_into().expect("the size of the type"))
            }
        })*
    };
}

numbers! { u8 i8 u16 i16 u32 i32 u64 i64 f32 f64 }
