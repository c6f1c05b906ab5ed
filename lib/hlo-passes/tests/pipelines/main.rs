//! Tests of pipelines that no pass of another crate takes part in. They are a program of their own, because the registry
//! belongs to the process, and tests of `suite` register the passes of `hlo-passes-xla`.

mod files;
mod language;
mod named;
