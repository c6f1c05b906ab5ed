//! Calls of Python functions, which are not there when a program runs outside of Python: stand-ins that a person asks
//! for.

/// The targets that call a Python function, as JAX names them.
pub const CALLBACKS: &[&str] = &[
    "xla_buffer_python_cpu_callback",
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_ffi_python_cpu_callback",
    "xla_python_cpu_callback",
    "xla_buffer_python_gpu_callback",
    "xla_ffi_partitioned_python_gpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_python_gpu_callback",
];
