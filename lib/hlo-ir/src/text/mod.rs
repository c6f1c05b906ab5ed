//! What reads of small texts share: attributes, shapes, tokens.

pub mod blank;
pub mod cursor;
