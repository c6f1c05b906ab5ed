//! Python functions that programs call: `jax.pure_callback`, `io_callback`, `debug.print` and
//! `buffer_callback`.
//!
//! The program contains a typed custom call with the number of a function. The run has a list of Python
//! objects as data. The Python package registers the function that calls such an object
//! ([`hlo_pjrt_set_python_callback`]).

use crate::ffi::{Data, UserData};
use hlo_client::run_data;
use hlo_custom_call::{ArrayType, Attributes, Call, CallSite, Error, Target, Targets, ValueType};
use hlo_ir::ElementType;
use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock};

/// An array or a token, as passed to the function of the Python package.
#[repr(C)]
#[derive(Debug)]
pub struct PythonArray {
    /// The number of the element type in the C API (`PJRT_Buffer_Type`). Elements of sub-byte types take one
    /// byte each. A token has the element type number 23 and no elements, and is `None` in Python.
    pub element_type: i32,
    /// The number of dimensions.
    pub rank: usize,
    /// The sizes.
    pub dims: *const i64,
    /// The stride of each dimension, in bytes.
    pub byte_strides: *const i64,
    /// The elements. The elements of operands are read-only.
    pub data: *mut c_void,
}

/// A function that calls a Python object on arrays and writes its results into other arrays. It returns 0 on
/// success. Otherwise it writes a message without a terminator and stores its length in `message_size`, which
/// contains the maximum length before the call.
pub type PythonCall = unsafe extern "C" fn(
    callable: *mut c_void,
    operands: *const PythonArray,
    operand_count: usize,
    results: *const PythonArray,
    result_count: usize,
    message: *mut u8,
    message_size: *mut usize,
) -> i32;

/// The registered function for one kind of call.
type CallbackSlot = RwLock<Option<PythonCall>>;

/// Passes copies of the operands to Python. Python returns the results.
static BY_VALUE: CallbackSlot = RwLock::new(None);

/// Passes the memory of the operands and the results to Python.
static IN_PLACE: CallbackSlot = RwLock::new(None);

/// Registers the function that calls Python objects, or none if it is null. The function acquires the
/// interpreter's lock itself and may be called on any thread.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_pjrt_set_python_callback(call: Option<PythonCall>) {
    *BY_VALUE.write().unwrap_or_else(PoisonError::into_inner) = call;
}

/// Registers the function for Python functions that write their results themselves, which are those of
/// `jax.experimental.buffer_callback`.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_pjrt_set_python_buffer_callback(call: Option<PythonCall>) {
    *IN_PLACE.write().unwrap_or_else(PoisonError::into_inner) = call;
}

/// Maximum length of a message, in bytes.
const MAX_MESSAGE_BYTES: usize = 1 << 16;

/// The data that runs pass to callbacks: a list of Python objects.
#[repr(C)]
struct Callables {
    objects: *const *mut c_void,
    count: u32,
}

/// Returns the Python object with the given number.
fn callable(number: usize) -> Result<*mut c_void, Error> {
    let data = run_data::current().and_then(|data| data.downcast::<UserData>().ok());
    let Some(Data(list)) = data.and_then(|data| data.0.values().next().copied()) else {
        return Err(Error("the run was given no Python functions".into()));
    };
    // SAFETY: the caller guarantees that the data of a run is such a list.
    let list = unsafe { list.cast::<Callables>().as_ref() };
    let found = list.filter(|list| number < list.count as usize);
    // SAFETY: as above. The list has more than `number` elements.
    let found = found.map(|list| unsafe { list.objects.add(number).read() });
    found.ok_or_else(|| Error(format!("there is no Python function {number}")))
}

/// The targets of custom calls that call Python.
pub struct Callbacks;

/// The targets of typed calls of Python functions, and the function that each uses.
const TARGETS: &[(&str, &CallbackSlot)] = &[
    ("xla_ffi_python_cpu_callback", &BY_VALUE),
    ("xla_ffi_partitioned_python_cpu_callback", &BY_VALUE),
    ("xla_buffer_python_cpu_callback", &IN_PLACE),
];

impl Targets for Callbacks {
    fn find(&self, site: &CallSite) -> Option<Result<Target, Error>> {
        let &(_, way) = TARGETS.iter().find(|(name, _)| *site.target == **name)?;
        Some(Ok(Target::new(move |site: &CallSite, attributes: &Attributes| plan(site, attributes, way))))
    }

    fn names(&self) -> Vec<String> {
        TARGETS.iter().map(|&(name, _)| name.into()).collect()
    }
}

/// The element type number of tokens in the C API.
const TOKEN: i32 = 23;

/// The type of an array or a token, in the form that the Python package requires.
struct Form {
    element_type: i32,
    dims: Vec<i64>,
    byte_strides: Vec<i64>,
}

impl Form {
    fn of(array: &ArrayType) -> Result<Self, Error> {
        let ty = ElementType::from_name(&array.element)
            .ok_or_else(|| Error(format!("there are no elements of type {}", array.element)))?;
        let whole = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
        Ok(Self {
            element_type: crate::element::number(ty),
            dims: array.dims.iter().map(|&d| whole(d)).collect(),
            byte_strides: array.strides().into_iter().map(|s| whole(s * array.element_bytes)).collect(),
        })
    }

    /// Returns the forms of all arrays and tokens in `values`, in order.
    fn all(values: &[ValueType]) -> Result<Vec<Self>, Error> {
        let mut forms = Vec::new();
        let mut open: Vec<&ValueType> = values.iter().rev().collect();
        while let Some(value) = open.pop() {
            match value {
                ValueType::Array(array) => forms.push(Self::of(array)?),
                ValueType::Token => {
                    forms.push(Self { element_type: TOKEN, dims: Vec::new(), byte_strides: Vec::new() });
                }
                ValueType::Tuple(parts) => open.extend(parts.iter().rev()),
            }
        }
        Ok(forms)
    }

    /// Combines forms with the addresses of their arrays.
    fn place(forms: &[Self], addresses: impl Iterator<Item = *mut u8>) -> Vec<PythonArray> {
        let mut addresses = addresses;
        let mut next = || addresses.next().unwrap_or(std::ptr::null_mut());
        let at =
            |form: &Self| form.at(if form.element_type == TOKEN { std::ptr::null_mut() } else { next() });
        forms.iter().map(at).collect()
    }

    fn at(&self, data: *mut u8) -> PythonArray {
        PythonArray {
            element_type: self.element_type,
            rank: self.dims.len(),
            dims: self.dims.as_ptr(),
            byte_strides: self.byte_strides.as_ptr(),
            data: data.cast(),
        }
    }
}

fn plan(
    site: &CallSite,
    attributes: &Attributes,
    way: &'static CallbackSlot,
) -> Result<Arc<hlo_custom_call::Function>, Error> {
    let index = attributes.integer("index")?;
    let index = usize::try_from(index).map_err(|_| Error(format!("there is no Python function {index}")))?;
    let operands = Form::all(&site.operands)?;
    let results = Form::all(std::slice::from_ref(&site.result))?;
    Ok(Arc::new(move |call: &mut Call<'_>| run(call, (index, way), &operands, &results)))
}

fn run(
    call: &mut Call<'_>,
    (index, way): (usize, &CallbackSlot),
    operands: &[Form],
    results: &[Form],
) -> Result<(), Error> {
    let python = *way.read().unwrap_or_else(PoisonError::into_inner);
    let python = python
        .ok_or_else(|| Error("it calls Python, and the plugin's Python package is not there".into()))?;
    let callable = callable(index)?;
    let mut addresses: Vec<*mut u8> = call.operand_addresses().iter().map(|a| a.cast_mut()).collect();
    let site = call.site;
    for &(result, operand) in &site.aliases {
        if let Some(same) = call.share(result, operand) {
            addresses[operand] = same;
        }
    }
    let given = Form::place(operands, addresses.into_iter());
    let taken = Form::place(results, call.result_addresses().iter().copied());
    let mut message = vec![0u8; MAX_MESSAGE_BYTES];
    let mut size = message.len();
    // SAFETY: the Python package guarantees that it registered such a function. The arrays have the sizes of
    // their types.
    let status = unsafe {
        python(
            callable,
            given.as_ptr(),
            given.len(),
            taken.as_ptr(),
            taken.len(),
            message.as_mut_ptr(),
            &raw mut size,
        )
    };
    match status {
        0 => Ok(()),
        _ => Err(Error(String::from_utf8_lossy(&message[..size.min(MAX_MESSAGE_BYTES)]).into_owned())),
    }
}
