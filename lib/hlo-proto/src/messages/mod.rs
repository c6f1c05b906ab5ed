//! The messages of XLA's `xla_data.proto`, `hlo.proto`, `xla.proto` and `compile_options.proto` that describe
//! modules. The numbers, names and types of their fields are those of jaxlib 0.10.2.
//!
//! The macro `messages!` declares a message once. It creates a struct that `prost` decodes and encodes, and a
//! [`MessageType`] for other code that needs the fields.
//!
//! The kinds of fields are those of protocol buffers and two more. `text` is a string that is read as bytes,
//! because strings of HLO text are not always UTF-8. `opaque` is a message that is kept as bytes. Maps are
//! lists of their entries, in the order of the file.

mod data;
mod files;
mod module;
mod options;

pub use data::*;
pub use files::*;
pub use module::*;
pub use options::*;

use crate::descriptor::{Field, Kind, MessageType};

/// A message with a [`MessageType`].
pub trait Described: prost::Message + Default {
    /// Returns the type.
    fn message_type() -> &'static MessageType;
}

/// Returns the name of a field without the prefix `r#` of a raw identifier.
const fn plain(name: &'static str) -> &'static str {
    match name.as_bytes() {
        [b'r', b'#', ..] => name.split_at(2).1,
        _ => name,
    }
}

/// Declares enumerations: the numbers as constants, and a table of the names.
macro_rules! enums {
    ($($(#[$doc:meta])* $name:ident { $($value:ident = $number:literal;)* })*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub enum $name {}

        #[allow(missing_docs, reason = "the names are all that is known of them")]
        impl $name {
            $(pub const $value: i32 = $number;)*

            /// The names and their numbers.
            pub const VALUES: &'static [(&'static str, i32)] = &[$((stringify!($value), $number)),*];
        }
    )*};
}

/// Declares messages. Each field is `name = number: kind;`, by ascending number.
macro_rules! messages {
    ($($(#[$doc:meta])* $name:ident { $($field:ident = $tag:tt: $($kind:ident)+;)* })*) => {$(
        message! { [$(#[$doc])* $name] [] $($field = $tag: $($kind)+;)* }

        impl Described for $name {
            fn message_type() -> &'static MessageType {
                static TYPE: MessageType = MessageType {
                    name: stringify!($name),
                    fields: &[$(field!($field $tag $($kind)+)),*],
                    size: size_of::<$name>(),
                };
                &TYPE
            }
        }
    )*};
}

/// Expands to the struct of a message, field by field.
macro_rules! message {
    ([$(#[$doc:meta])* $name:ident] [$($done:tt)*]) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, prost::Message)]
        #[allow(missing_docs, reason = "XLA's names say what the fields mean")]
        pub struct $name { $($done)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: repeated $($rest:tt)*) => {
        message! { @repeated $head [$($done)*] $field $tag $($rest)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: optional $($rest:tt)*) => {
        message! { @optional $head [$($done)*] $field $tag $($rest)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: message $ty:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(message, optional, boxed, tag = $tag)] pub $field: Option<Box<$ty>>,] $($rest)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: opaque; $($rest:tt)*) => {
        message! { @optional $head [$($done)*] $field $tag bytes; $($rest)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: enum $ty:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(int32, tag = $tag)] pub $field: i32,] $($rest)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: $(bytes)? $(text)?; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(bytes = "vec", tag = $tag)] pub $field: Vec<u8>,] $($rest)* }
    };
    ($head:tt [$($done:tt)*] $field:ident = $tag:tt: $kind:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost($kind, tag = $tag)] pub $field: native!($kind),] $($rest)* }
    };

    (@repeated $head:tt [$($done:tt)*] $field:ident $tag:tt message $ty:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(message, repeated, tag = $tag)] pub $field: Vec<$ty>,] $($rest)* }
    };
    (@repeated $head:tt [$($done:tt)*] $field:ident $tag:tt enum $ty:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(int32, repeated, tag = $tag)] pub $field: Vec<i32>,] $($rest)* }
    };
    (@repeated $head:tt [$($done:tt)*] $field:ident $tag:tt $(bytes)? $(text)?; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(bytes = "vec", repeated, tag = $tag)] pub $field: Vec<Vec<u8>>,] $($rest)* }
    };
    (@repeated $head:tt [$($done:tt)*] $field:ident $tag:tt $kind:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost($kind, repeated, tag = $tag)] pub $field: Vec<native!($kind)>,] $($rest)* }
    };

    (@optional $head:tt [$($done:tt)*] $field:ident $tag:tt enum $ty:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(int32, optional, tag = $tag)] pub $field: Option<i32>,] $($rest)* }
    };
    (@optional $head:tt [$($done:tt)*] $field:ident $tag:tt $(bytes)? $(text)?; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost(bytes = "vec", optional, tag = $tag)] pub $field: Option<Vec<u8>>,] $($rest)* }
    };
    (@optional $head:tt [$($done:tt)*] $field:ident $tag:tt $kind:ident; $($rest:tt)*) => {
        message! { $head [$($done)* #[prost($kind, optional, tag = $tag)] pub $field: Option<native!($kind)>,] $($rest)* }
    };
}

/// Expands to the Rust type of a field kind.
macro_rules! native {
    (bool) => {
        bool
    };
    (int32) => {
        i32
    };
    (int64) => {
        i64
    };
    (uint32) => {
        u32
    };
    (uint64) => {
        u64
    };
    (float) => {
        f32
    };
    (double) => {
        f64
    };
    (string) => {
        String
    };
}

/// Expands to the descriptor of a field.
macro_rules! field {
    ($field:ident $tag:tt repeated $($kind:ident)+) => {
        Field { number: $tag, name: plain(stringify!($field)), kind: kind!($($kind)+), repeated: true }
    };
    ($field:ident $tag:tt optional $($kind:ident)+) => { field!($field $tag $($kind)+) };
    ($field:ident $tag:tt $($kind:ident)+) => {
        Field { number: $tag, name: plain(stringify!($field)), kind: kind!($($kind)+), repeated: false }
    };
}

/// Expands to the descriptor of a field kind.
macro_rules! kind {
    (bool) => {
        Kind::Bool
    };
    (int32) => {
        Kind::Int32
    };
    (int64) => {
        Kind::Int64
    };
    (uint32) => {
        Kind::Uint32
    };
    (uint64) => {
        Kind::Uint64
    };
    (float) => {
        Kind::Float
    };
    (double) => {
        Kind::Double
    };
    (string) => {
        Kind::String
    };
    (text) => {
        Kind::String
    };
    (bytes) => {
        Kind::Bytes
    };
    (opaque) => {
        Kind::Opaque
    };
    (enum $name:ident) => {
        Kind::Enum($name::VALUES)
    };
    (message $name:ident) => {
        Kind::Message(<$name as Described>::message_type)
    };
}

use {enums, field, kind, message, messages, native};
