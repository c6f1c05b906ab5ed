//! Functions for the plugin itself.

use crate::fault::Result;
use crate::sys::{List, NamedValue, Value, args::*};
use std::sync::LazyLock;

/// The newest supported version of StableHLO (`hlo_stablehlo::Version::CURRENT`). Callers send programs in
/// this version, or in their own version if it is older.
const STABLEHLO: [i64; 3] = [1, 20, 0];

/// The oldest supported version of StableHLO.
const OLDEST_STABLEHLO: [i64; 3] = [0, 9, 0];

static ATTRIBUTES: LazyLock<[NamedValue; 3]> = LazyLock::new(|| {
    [
        NamedValue::new("xla_version", Value::Integer(2)),
        NamedValue::new("stablehlo_current_version", Value::Integers(&STABLEHLO)),
        NamedValue::new("stablehlo_minimum_version", Value::Integers(&OLDEST_STABLEHLO)),
    ]
});

pub fn initialize(_: &mut PluginInitialize) -> Result {
    Ok(())
}

pub fn attributes(a: &mut PluginAttributes) -> Result {
    a.attributes = List::to(&*ATTRIBUTES);
    Ok(())
}
