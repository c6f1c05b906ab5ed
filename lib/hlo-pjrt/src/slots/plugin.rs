//! The plugin itself.

use crate::fault::Result;
use crate::sys::{List, NamedValue, Value, args::*};
use std::sync::LazyLock;

/// The newest version of StableHLO that is read (`hlo_stablehlo::Version::CURRENT`): programs come in it, or in the caller's own if that
/// is older.
const STABLEHLO: [i64; 3] = [1, 20, 0];

/// The oldest version of StableHLO that is read.
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
