//! The extension for custom partitioners: functions of the caller that partition custom calls (`jax.custom_partitioning`), and
//! targets that do the same for each entry of a batch.

use crate::fault::{Fault, Result, said};
use crate::shardings::encoded;
use crate::sys::elements;
use hlo_client::{CustomPartition, CustomPartitioner, Partitioned, Placed};
use hlo_forms::Form;
use hlo_ir::attr::Sharding;
use prost::Message;
use std::collections::BTreeMap;
use std::ffi::{c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::{PoisonError, RwLock};

/// Bytes of somebody else.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    data: *const c_char,
    size: usize,
}

impl Bytes {
    const NONE: Self = Self { data: null(), size: 0 };

    /// Bytes that stay there as long as they are used.
    pub fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), size: bytes.len() }
    }

    /// The bytes.
    ///
    /// # Errors
    /// They are at a null pointer.
    ///
    /// # Safety
    /// There must be so many bytes, as long as they are used.
    pub unsafe fn read<'a>(self) -> Result<&'a [u8]> {
        // SAFETY: the caller's promise.
        unsafe { elements(self.data.cast(), self.size) }
    }
}

/// A value: its `ShapeProto`, and its `OpSharding` if it has one.
#[repr(C)]
#[allow(missing_docs, reason = "they are what the line above says")]
pub struct Value {
    pub shape: Bytes,
    pub has_sharding: bool,
    pub sharding: Bytes,
}

/// What went wrong, and what frees the answer.
#[repr(C)]
pub struct Answer {
    /// 0.
    pub api_version: i64,
    /// What `cleanup` is called with.
    pub data: *mut c_void,
    /// What frees all that the answer points to.
    pub cleanup: Option<unsafe extern "C" fn(*mut c_void)>,
    /// True if the call can't be partitioned.
    pub has_error: bool,
    /// The kind of the error.
    pub code: i32,
    /// Why not.
    pub error: Bytes,
}

/// What a partitioner is asked, and what it answers: `JAX_CustomCallPartitioner_Partition_Args`.
#[repr(C)]
pub struct Question {
    /// What went wrong, if something did.
    pub answer: Answer,
    /// How many operands the call has.
    pub operand_count: usize,
    /// The operands.
    pub operands: *const Value,
    /// The result.
    pub result: Value,
    /// The call's `backend_config`.
    pub config: Bytes,
    /// The answer: a module of StableHLO, of what each device does.
    pub program: Bytes,
    /// How each of the operands is to lie: an `OpSharding`.
    pub operand_shardings: *const Bytes,
    /// How the result lies.
    pub result_sharding: Bytes,
}

/// The functions of a partitioner, which lie where the caller says as long as the process runs:
/// `JAX_CustomCallPartitioner_Callbacks`. How shardings go on follows from the rules that calls have
/// (`xla.sdy.sharding_rule`), so that the functions for that are not called.
#[repr(C)]
pub struct Callbacks {
    /// 0.
    pub version: i64,
    /// The functions' own.
    pub private_data: *mut c_void,
    /// Frees the functions' own data.
    pub free: Option<unsafe extern "C" fn(*mut Callbacks)>,
    /// Says what devices do in place of a call.
    pub partition: Option<unsafe extern "C" fn(*mut Callbacks, *mut Question)>,
    /// The sharding of the result that follows from those of the operands. Not called.
    pub infer_sharding: *const c_void,
    /// The sharding of the result that follows from that of a user. Not called.
    pub propagate_user_sharding: *const c_void,
    /// Not asked for.
    pub can_side_effecting_have_replicated_sharding: bool,
}

/// The partitioners, by the names of their targets.
static PARTITIONERS: RwLock<BTreeMap<String, usize>> = RwLock::new(BTreeMap::new());

/// Lets a caller's functions partition the custom calls of a target, in place of others that did before.
///
/// # Errors
/// There are no functions, or they are of another version.
///
/// # Safety
/// The pointer must be null or that of functions, which stay there.
pub unsafe fn register(target: String, callbacks: *mut Callbacks) -> Result {
    // SAFETY: the caller's promise.
    let known = unsafe { callbacks.as_ref() }.filter(|c| c.partition.is_some());
    let version =
        known.ok_or_else(|| Fault::invalid(format!("`{target}` has no function that partitions")))?.version;
    if version != 0 {
        return Err(Fault::unimplemented(format!(
            "partitioners of version {version}: 0 is the last known one"
        )));
    }
    let mut partitioners = PARTITIONERS.write().unwrap_or_else(PoisonError::into_inner);
    partitioners.insert(target, callbacks.expose_provenance());
    Ok(())
}

/// The partitioners that callers registered.
#[derive(Debug)]
pub struct Partitioners;

fn callbacks(target: &str) -> Option<usize> {
    PARTITIONERS.read().unwrap_or_else(PoisonError::into_inner).get(target).copied()
}

impl CustomPartitioner for Partitioners {
    fn partitions(&self, target: &str) -> bool {
        callbacks(target).is_some()
    }

    fn partition(&self, call: &CustomPartition<'_>) -> std::result::Result<Partitioned, String> {
        let address = callbacks(call.target).ok_or("its target has no partitioner")?;
        ask(address, call).map_err(|fault| fault.message)
    }
}

/// The bytes of a value's shape and sharding.
fn written(value: &Placed) -> [Vec<u8>; 2] {
    let shape = hlo_proto::write_shape(&value.shape).encode_to_vec();
    [shape, encoded(&value.sharding)]
}

/// What the functions at an address say of a call.
fn ask(address: usize, call: &CustomPartition<'_>) -> Result<Partitioned> {
    let operands: Vec<[Vec<u8>; 2]> = call.operands.iter().map(written).collect();
    let result = written(&call.result);
    let value = |[shape, sharding]: &[Vec<u8>; 2]| Value {
        shape: Bytes::of(shape),
        has_sharding: true,
        sharding: Bytes::of(sharding),
    };
    let values: Vec<Value> = operands.iter().map(value).collect();
    let answer = Answer {
        api_version: 0,
        data: null_mut(),
        cleanup: None,
        has_error: false,
        code: 0,
        error: Bytes::NONE,
    };
    let mut question = Question {
        answer,
        operand_count: values.len(),
        operands: values.as_ptr(),
        result: value(&result),
        config: Bytes::of(call.config),
        program: Bytes::NONE,
        operand_shardings: null(),
        result_sharding: Bytes::NONE,
    };
    let callbacks: *mut Callbacks = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: who registered the functions promised that they are there, and of this type.
    unsafe {
        if let Some(partition) = (*callbacks).partition {
            partition(callbacks, &raw mut question);
        }
    }
    // SAFETY: the function has filled in what it answers.
    let read = unsafe { read(&question) };
    if let Some(cleanup) = question.answer.cleanup {
        // SAFETY: the function's promise: that frees what it made, which is not used any more.
        unsafe { cleanup(question.answer.data) };
    }
    read
}

/// What a function answered.
///
/// # Safety
/// The question must be answered, and what it points to be there.
unsafe fn read(question: &Question) -> Result<Partitioned> {
    // SAFETY: the caller's promise, here and below.
    let bytes = |b: Bytes| unsafe { b.read() };
    if question.answer.has_error {
        let why = String::from_utf8_lossy(bytes(question.answer.error)?).into_owned();
        return Err(Fault::internal(why));
    }
    let sharding = |b: Bytes| -> Result<Sharding> {
        let wrong = |why: String| Fault::internal(format!("the sharding of an answer: {why}"));
        let proto = hlo_proto::messages::OpSharding::decode(bytes(b)?).map_err(|e| wrong(e.to_string()))?;
        hlo_proto::read_sharding(&proto, hlo_proto::Payloads(&[])).map_err(wrong)
    };
    let program = bytes(question.program)?;
    let form = if Form::of(program) == Form::Bytecode { Form::Bytecode } else { Form::StableHlo };
    let module = form.read(program).map_err(|diags| Fault::internal(said(&diags)))?.module;
    let violations = hlo_ir::verify::verify(&module);
    if !violations.is_empty() {
        return Err(Fault::internal(said(&violations)));
    }
    // SAFETY: the function's promise: one for each operand.
    let operands = unsafe { elements(question.operand_shardings, question.operand_count) }?;
    Ok(Partitioned {
        module,
        operands: operands.iter().map(|&b| sharding(b)).collect::<Result<_>>()?,
        result: sharding(question.result_sharding)?,
    })
}

/// The extension's structs of arguments.
pub mod args {
    #![allow(missing_docs, reason = "fields are named as in the header, which documents them")]

    use super::Callbacks;
    use crate::sys::{Args, Text};

    /// Unlike most others, it has no place for extensions.
    #[repr(C)]
    pub struct RegisterCustomPartitioner {
        pub struct_size: usize,
        pub name: Text,
        pub callbacks: *mut Callbacks,
    }

    /// The same holds for this one.
    #[repr(C)]
    pub struct RegisterBatchPartitionable {
        pub struct_size: usize,
        pub name: Text,
    }

    // SAFETY: numbers and pointers, which may be null.
    unsafe impl Args for RegisterCustomPartitioner {
        const REQUIRED: usize = size_of::<Self>();
        const WHOLE: usize = size_of::<Self>();
    }

    // SAFETY: as above.
    unsafe impl Args for RegisterBatchPartitionable {
        const REQUIRED: usize = size_of::<Self>();
        const WHOLE: usize = size_of::<Self>();
    }
}
