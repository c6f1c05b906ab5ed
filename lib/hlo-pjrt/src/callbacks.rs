//! Functions of Python that programs call: `jax.pure_callback`, `io_callback`, `debug.print` and `buffer_callback`.
//!
//! The program has a typed custom call with the number of a function; the run has data, a list of Python objects. What calls such an
//! object is Python's, and is handed over by the Python package ([`hlo_pjrt_set_python_callback`]).

use crate::ffi::{Data, UserData};
use hlo_client::run_data;
use hlo_custom_call::{ArrayType, Attributes, Call, CallSite, Error, Target, Targets, ValueType};
use hlo_ir::ElementType;
use std::ffi::c_void;
use std::sync::{Arc, PoisonError, RwLock};

/// An array, or a token, as the function of the Python package gets it.
#[repr(C)]
#[derive(Debug)]
pub struct PythonArray {
    /// The number of the element type in the C API (`PJRT_Buffer_Type`); a type of less than a byte takes one. That of tokens,
    /// which have no elements and are `None` for Python.
    pub element_type: i32,
    /// The number of dimensions.
    pub rank: usize,
    /// The sizes.
    pub dims: *const i64,
    /// From one element to the next of each dimension, in bytes.
    pub byte_strides: *const i64,
    /// The elements; those of operands are not written to.
    pub data: *mut c_void,
}

/// What calls a Python object on arrays, and puts what it gives into others. It gives 0, or anything else and a message, without a
/// terminator, of at most so many bytes, whose number it puts in place of that.
pub type PythonCall = unsafe extern "C" fn(
    callable: *mut c_void,
    operands: *const PythonArray,
    operand_count: usize,
    results: *const PythonArray,
    result_count: usize,
    message: *mut u8,
    message_size: *mut usize,
) -> i32;

/// What calls Python objects, a way for each kind of call.
type Way = RwLock<Option<PythonCall>>;

/// With copies of the operands, by results that are given back.
static BY_VALUE: Way = RwLock::new(None);

/// With the memory of the operands and the results.
static IN_PLACE: Way = RwLock::new(None);

/// Says what calls Python objects; null for nothing. It takes the interpreter's lock itself, and may be called on any thread.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_pjrt_set_python_callback(call: Option<PythonCall>) {
    *BY_VALUE.write().unwrap_or_else(PoisonError::into_inner) = call;
}

/// The same for functions that write their results themselves: those of `jax.experimental.buffer_callback`.
#[unsafe(no_mangle)]
pub extern "C" fn hlo_pjrt_set_python_buffer_callback(call: Option<PythonCall>) {
    *IN_PLACE.write().unwrap_or_else(PoisonError::into_inner) = call;
}

/// The most bytes of a message.
const MESSAGE: usize = 1 << 16;

/// What runs have as data of callbacks: a list of Python objects.
#[repr(C)]
struct Callables {
    objects: *const *mut c_void,
    count: u32,
}

/// The Python object of a number.
fn callable(number: usize) -> Result<*mut c_void, Error> {
    let data = run_data::current().and_then(|data| data.downcast::<UserData>().ok());
    let Some(Data(list)) = data.and_then(|data| data.0.values().next().copied()) else {
        return Err(Error("the run was given no Python functions".into()));
    };
    // SAFETY: the caller's promise: data of runs is such a list.
    let list = unsafe { list.cast::<Callables>().as_ref() };
    let found = list.filter(|list| number < list.count as usize);
    // SAFETY: as above: it has so many.
    let found = found.map(|list| unsafe { list.objects.add(number).read() });
    found.ok_or_else(|| Error(format!("there is no Python function {number}")))
}

/// The targets that call Python.
pub struct Callbacks;

/// The targets of typed calls of Python functions, and how each calls.
const TARGETS: &[(&str, &Way)] = &[
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

/// The number of tokens among the element types.
const TOKEN: i32 = 23;

/// The type of an array or a token, as the Python package wants it.
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

    /// Those of all arrays and tokens of values, in order.
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

    /// All of these, of arrays at these addresses.
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
    way: &'static Way,
) -> Result<Arc<hlo_custom_call::Function>, Error> {
    let index = attributes.integer("index")?;
    let index = usize::try_from(index).map_err(|_| Error(format!("there is no Python function {index}")))?;
    let operands = Form::all(&site.operands)?;
    let results = Form::all(std::slice::from_ref(&site.result))?;
    Ok(Arc::new(move |call: &mut Call<'_>| run(call, (index, way), &operands, &results)))
}

fn run(
    call: &mut Call<'_>,
    (index, way): (usize, &Way),
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
    let mut message = vec![0u8; MESSAGE];
    let mut size = message.len();
    // SAFETY: the package's promise: it is such a function; arrays are as large as their types say.
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
        _ => Err(Error(String::from_utf8_lossy(&message[..size.min(MESSAGE)]).into_owned())),
    }
}
