//! The targets that call Python functions. They are not available when a program runs outside Python, unless
//! the user asks for stand-ins.

/// The names of the targets that call a Python function in programs of JAX.
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
