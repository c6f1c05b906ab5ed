//! The table of the functions that compiled code may call. Signatures are derived from the Rust types of the
//! functions, so that the table always matches them.

use hlo_runtime_core::{Combiner, Comparator, Context, Function, ParallelBody};
use std::sync::OnceLock;

/// The type of an argument or a result at the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgType {
    /// A pointer, to data or to a function.
    Ptr,
    /// A 32-bit integer.
    I32,
    /// A 64-bit integer.
    I64,
    /// A single-precision floating-point number.
    F32,
    /// A double-precision floating-point number.
    F64,
}

/// A function that compiled code may call.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// The linker name, such as `hlo_rt_dot`.
    pub name: &'static str,
    /// The address of the function in this process.
    pub address: usize,
    /// The argument types in order.
    pub args: &'static [ArgType],
    /// The result type; `None` for a function that returns nothing.
    pub result: Option<ArgType>,
}

trait Arg {
    const TYPE: ArgType;
}

macro_rules! impl_arg {
    ($($t:ty => $variant:ident, $([$($generic:ident)*])?;)*) => {
        $(impl $(<$($generic)*>)? Arg for $t { const TYPE: ArgType = ArgType::$variant; })*
    };
}

impl_arg! {
    *const T => Ptr, [T];
    *mut T => Ptr, [T];
    ParallelBody => Ptr,;
    Function => Ptr,;
    Combiner => Ptr,;
    Comparator => Ptr,;
    i32 => I32,;
    i64 => I64,;
    f32 => F32,;
    f64 => F64,;
}

trait Signature: Copy {
    const ARGS: &'static [ArgType];
    const RESULT: Option<ArgType>;
    fn address(self) -> usize;
}

macro_rules! impl_signature {
    ($($arg:ident)*) => {
        impl<$($arg: Arg,)*> Signature for unsafe extern "C" fn($($arg),*) {
            const ARGS: &'static [ArgType] = &[$($arg::TYPE),*];
            const RESULT: Option<ArgType> = None;
            fn address(self) -> usize { self as usize }
        }
        impl<Res: Arg, $($arg: Arg,)*> Signature for unsafe extern "C" fn($($arg),*) -> Res {
            const ARGS: &'static [ArgType] = &[$($arg::TYPE),*];
            const RESULT: Option<ArgType> = Some(Res::TYPE);
            fn address(self) -> usize { self as usize }
        }
    };
}

impl_signature!(A);
impl_signature!(A B);
impl_signature!(A B C);
impl_signature!(A B C D);
impl_signature!(A B C D E);
impl_signature!(A B C D E F);
impl_signature!(A B C D E F G);
impl_signature!(A B C D E F G H);

fn symbol<S: Signature>(name: &'static str, function: S) -> Symbol {
    Symbol { name, address: function.address(), args: S::ARGS, result: S::RESULT }
}

macro_rules! table {
    ($($name:ident($($arg:tt),*);)*) => {
        vec![$(symbol(stringify!($name), crate::$name as unsafe extern "C" fn($($arg),*) -> _),)*]
    };
}

/// Returns all functions that compiled code may call, sorted by name.
pub fn symbols() -> &'static [Symbol] {
    static TABLE: OnceLock<Vec<Symbol>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = table! {
            hlo_rt_all_reduce(_, _, _, _, _, _);
            hlo_rt_call(_, _, _, _, _, _, _);
            hlo_rt_cholesky(_, _, _, _);
            hlo_rt_conv(_, _, _, _, _);
            hlo_rt_copy_strided(_, _, _, _);
            hlo_rt_custom_call(_, _, _, _);
            hlo_rt_device_id(_, _, _, _);
            hlo_rt_exchange(_, _, _, _, _);
            hlo_rt_exchange_rows(_, _, _, _, _);
            hlo_rt_fft(_, _, _, _);
            hlo_rt_join(_, _, _, _, _);
            hlo_rt_move_rows(_, _, _, _, _, _, _, _);
            hlo_rt_receive(_, _, _, _, _);
            hlo_rt_reduce_scatter(_, _, _, _, _, _);
            hlo_rt_rng(_, _, _, _, _, _);
            hlo_rt_rng_state(_, _, _, _, _);
            hlo_rt_rng_philox(_, _, _, _, _, _, _);
            hlo_rt_rng_three_fry(_, _, _, _, _, _, _);
            hlo_rt_sort(_, _, _, _, _, _);
            hlo_rt_sort_keys(_, _, _, _, _, _);
            hlo_rt_sort_partial_keys(_, _, _, _, _, _, _);
            hlo_rt_top_k(_, _, _, _, _);
            hlo_rt_triangular_solve(_, _, _, _, _);
            hlo_rt_dot(_, _, _, _, _);
            hlo_rt_transmit(_, _, _, _, _);
            hlo_rt_watch(_);
            hlo_rt_zero(_, _, _);
        };
        // Functions without a result need an explicit type in Rust.
        table.extend([
            symbol("hlo_rt_addresses", crate::hlo_rt_addresses as unsafe extern "C" fn(_, _, _, _, _, _, _)),
            symbol("hlo_rt_copies", crate::hlo_rt_copies as unsafe extern "C" fn(_, _, _, _, _, _)),
            symbol("hlo_rt_fail", crate::hlo_rt_fail as unsafe extern "C" fn(*const Context, _, _)),
            symbol(
                "hlo_rt_parallel_for",
                crate::hlo_rt_parallel_for as unsafe extern "C" fn(*const Context, _, _, _, _),
            ),
        ]);
        table.sort_by_key(|symbol| symbol.name);
        table
    })
}
