//! The extension for custom partitioners: the caller's functions that partition custom calls
//! (`jax.custom_partitioning`), and targets that do the same for each entry of a batch.

use crate::fault::{Fault, Result, diagnostics_text};
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

/// Bytes owned by another party.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Bytes {
    data: *const c_char,
    size: usize,
}

impl Bytes {
    const NONE: Self = Self { data: null(), size: 0 };

    /// Refers to bytes. They must stay valid while the result is used.
    pub fn of(bytes: &[u8]) -> Self {
        Self { data: bytes.as_ptr().cast(), size: bytes.len() }
    }

    /// Returns the bytes.
    ///
    /// # Errors
    /// The pointer is null.
    ///
    /// # Safety
    /// The memory must contain `size` bytes and stay valid while they are used.
    pub unsafe fn read<'a>(self) -> Result<&'a [u8]> {
        // SAFETY: guaranteed by the caller.
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

/// The error of a partitioner, and the function that frees the answer.
#[repr(C)]
pub struct Answer {
    /// Always 0.
    pub api_version: i64,
    /// The argument of `cleanup`.
    pub data: *mut c_void,
    /// Frees everything that the answer refers to.
    pub cleanup: Option<unsafe extern "C" fn(*mut c_void)>,
    /// Whether the call cannot be partitioned.
    pub has_error: bool,
    /// The error code.
    pub code: i32,
    /// The error message.
    pub error: Bytes,
}

/// The input and output of a partitioner: `JAX_CustomCallPartitioner_Partition_Args`.
#[repr(C)]
pub struct Question {
    /// Output: the error, if any.
    pub answer: Answer,
    /// Number of operands of the call.
    pub operand_count: usize,
    /// The operands.
    pub operands: *const Value,
    /// The result.
    pub result: Value,
    /// The `backend_config` of the call.
    pub config: Bytes,
    /// Output: a StableHLO module of the work of each device.
    pub program: Bytes,
    /// Output: the required sharding of each operand, as an `OpSharding`.
    pub operand_shardings: *const Bytes,
    /// Output: the sharding of the result.
    pub result_sharding: Bytes,
}

/// The functions of a partitioner (`JAX_CustomCallPartitioner_Callbacks`), in memory of the caller that stays
/// valid while the process runs. Shardings are propagated by the rules that calls contain
/// (`xla.sdy.sharding_rule`), so the functions for propagation are not called.
#[repr(C)]
pub struct Callbacks {
    /// Always 0.
    pub version: i64,
    /// Private data of the functions.
    pub private_data: *mut c_void,
    /// Frees the private data.
    pub free: Option<unsafe extern "C" fn(*mut Callbacks)>,
    /// Returns the work of each device that replaces a call.
    pub partition: Option<unsafe extern "C" fn(*mut Callbacks, *mut Question)>,
    /// Returns the sharding of the result that follows from the shardings of the operands. Not called.
    pub infer_sharding: *const c_void,
    /// Returns the sharding of the result that follows from that of a user. Not called.
    pub propagate_user_sharding: *const c_void,
    /// Not read.
    pub can_side_effecting_have_replicated_sharding: bool,
}

/// The partitioners, by the names of their targets.
static PARTITIONERS: RwLock<BTreeMap<String, usize>> = RwLock::new(BTreeMap::new());

/// Registers the caller's functions that partition the custom calls of a target. Replaces earlier functions
/// for that target.
///
/// # Errors
/// The functions are missing, or they are of another version.
///
/// # Safety
/// The pointer must be null or point to functions that stay valid.
pub unsafe fn register(target: String, callbacks: *mut Callbacks) -> Result {
    // SAFETY: guaranteed by the caller.
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

/// Encodes a value's shape and sharding.
fn written(value: &Placed) -> [Vec<u8>; 2] {
    let shape = hlo_proto::write_shape(&value.shape).encode_to_vec();
    [shape, encoded(&value.sharding)]
}

/// Calls the partitioner at an address on a custom call.
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
    // SAFETY: the code that registered the functions guaranteed that they stay valid and have this type.
    unsafe {
        if let Some(partition) = (*callbacks).partition {
            partition(callbacks, &raw mut question);
        }
    }
    // SAFETY: the function has filled in its answer.
    let read = unsafe { read(&question) };
    if let Some(cleanup) = question.answer.cleanup {
        // SAFETY: the function guarantees that this frees what it allocated. Nothing uses that memory any
        // more.
        unsafe { cleanup(question.answer.data) };
    }
    read
}

/// Reads the answer of a partitioner.
///
/// # Safety
/// The partitioner must have filled in the answer, and the memory that it refers to must be valid.
unsafe fn read(question: &Question) -> Result<Partitioned> {
    // SAFETY: guaranteed by the caller, here and below.
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
    let module = form.read(program).map_err(|diags| Fault::internal(diagnostics_text(&diags)))?.module;
    let violations = hlo_ir::verify::verify(&module);
    if !violations.is_empty() {
        return Err(Fault::internal(diagnostics_text(&violations)));
    }
    // SAFETY: the function guarantees that there is one sharding for each operand.
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

    /// Unlike most others, this struct has no field for extensions.
    #[repr(C)]
    pub struct RegisterCustomPartitioner {
        pub struct_size: usize,
        pub name: Text,
        pub callbacks: *mut Callbacks,
    }

    /// This struct has no field for extensions either.
    #[repr(C)]
    pub struct RegisterBatchPartitionable {
        pub struct_size: usize,
        pub name: Text,
    }

    // SAFETY: the struct contains numbers and pointers, which may be null.
    unsafe impl Args for RegisterCustomPartitioner {
        const MIN_SIZE: usize = size_of::<Self>();
        const FULL_SIZE: usize = size_of::<Self>();
    }

    // SAFETY: as above.
    unsafe impl Args for RegisterBatchPartitionable {
        const MIN_SIZE: usize = size_of::<Self>();
        const FULL_SIZE: usize = size_of::<Self>();
    }
}
