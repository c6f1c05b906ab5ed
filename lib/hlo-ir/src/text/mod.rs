//! Text reading shared by attributes, shapes and tokens.

pub mod blank;
pub mod cursor;
