//! Tests of the language support for HLO text.

mod attributes;
mod complete;
mod rename;
