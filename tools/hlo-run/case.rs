//! Case folders: `module.hlo` and `case.json`, with stored or generated inputs and expected results.
//!
//! `case.json` names the file of each input and output (`file`, or `files` for several devices).
//! Alternatively, `inputs.npz` and `outputs.npz` contain all of them (`inputs.dev0.npz` and so on for several
//! devices), or `gen` specifies how to generate an input. `case.json` also contains the tolerance (`rtol`,
//! `atol`, `per_output`, `max_mismatch_frac`).

use crate::arrays::Arrays;
use crate::generate::{Distribution, Spec};
use hlo_tools_common::Failure;
use hlo_tools_common::compare::Tolerance;
use serde_json::Value;
use std::io::ErrorKind;
use std::path::Path;

/// A case folder's contents.
#[derive(Clone, Debug)]
pub struct Case {
    /// The path of the module's text.
    pub module: String,
    /// The inputs.
    pub inputs: Arrays,
    /// The expected results, if there are any.
    pub expected: Option<Arrays>,
    /// The tolerance of each result: one for all, or one for each.
    pub tolerances: Vec<Tolerance>,
    /// The fraction of elements that may be outside the tolerance.
    pub max_mismatches: f64,
    /// The half-open range of the results, if nothing else is expected of them.
    pub range: Option<(f64, f64)>,
}

impl Case {
    /// Reads a case folder.
    pub fn load(folder: &str) -> Result<Self, Failure> {
        let folder = Path::new(folder);
        let path = folder.join("case.json");
        let name = name_of(&path);
        let unreadable = |e: std::io::Error| match e.kind() {
            ErrorKind::NotFound if !folder.exists() => Failure::file(&name_of(folder), "no such folder"),
            ErrorKind::NotFound => Failure::file(&name_of(folder), "not a case: the folder has no case.json"),
            ErrorKind::NotADirectory => Failure::file(
                &name_of(folder),
                "a folder with module.hlo and case.json is expected, not a file",
            ),
            _ => Failure::file(&name, e),
        };
        let text = std::fs::read_to_string(&path).map_err(unreadable)?;
        let json: Value = serde_json::from_str(&text).map_err(|e| Failure::file(&name, e))?;
        Self::from_json(folder, &json).map_err(|e| Failure::file(&name, e))
    }

    fn from_json(folder: &Path, json: &Value) -> Result<Self, String> {
        let range = match json.get("compare") {
            Some(compare) => range(compare)?,
            None => None,
        };
        let generated = json.get("gen").and_then(Value::as_object);
        let inputs = match generated {
            Some(specs) => {
                let spec = |i: usize| {
                    specs.get(&format!("in_{i}")).ok_or(format!("`gen` has no `in_{i}`")).and_then(spec)
                };
                Arrays::Generated((0..specs.len()).map(spec).collect::<Result<_, _>>()?)
            }
            None => files(folder, json, "inputs")?.ok_or("the inputs have no files")?,
        };
        let tolerance = json.get("tolerance").ok_or("`tolerance` is missing")?;
        let pair = |value: &Value| {
            let number = |key| value.get(key).and_then(Value::as_f64).ok_or(format!("`{key}` is missing"));
            Ok::<_, String>(Tolerance { rtol: number("rtol")?, atol: number("atol")? })
        };
        let tolerances = match tolerance.get("per_output").and_then(Value::as_array) {
            Some(list) => list.iter().map(pair).collect::<Result<_, _>>()?,
            None => vec![pair(tolerance)?],
        };
        Ok(Self {
            module: folder.join("module.hlo").display().to_string(),
            inputs,
            expected: if range.is_some() { None } else { files(folder, json, "outputs")? },
            range,
            tolerances,
            max_mismatches: tolerance.get("max_mismatch_frac").and_then(Value::as_f64).unwrap_or(0.0),
        })
    }
}

/// Returns the range if results are compared to a range instead of expected values:
/// `{kind: "range", low, high}`.
fn range(json: &Value) -> Result<Option<(f64, f64)>, String> {
    let number =
        |key: &str| json.get(key).and_then(Value::as_f64).ok_or(format!("`{key}` of `compare` is missing"));
    match json.get("kind") {
        None => Ok(None),
        Some(kind) if kind == "range" => Ok(Some((number("low")?, number("high")?))),
        Some(kind) => Err(format!("comparing by {kind} is not supported")),
    }
}

fn name_of(path: &Path) -> String {
    path.display().to_string()
}

/// Returns the files of the inputs or outputs, or `None` if the case does not contain any.
fn files(folder: &Path, json: &Value, key: &str) -> Result<Option<Arrays>, String> {
    let archive = folder.join(format!("{key}.npz"));
    if archive.is_file() {
        return Ok(Some(Arrays::Files(vec![archive.display().to_string()])));
    }
    let of_device = |device: usize| folder.join(format!("{key}.dev{device}.npz"));
    let archives = (0..).map(of_device).take_while(|path| path.is_file());
    let archives: Vec<Vec<String>> = archives.map(|path| vec![path.display().to_string()]).collect();
    if !archives.is_empty() {
        return Ok(Some(Arrays::OfDevices(archives)));
    }
    let entries = json.get(key).and_then(Value::as_array).ok_or(format!("`{key}` is missing"))?;
    let file = |entry: &Value| {
        entry.get("file").and_then(Value::as_str).map(|f| folder.join(f).display().to_string())
    };
    let files: Option<Vec<String>> = entries.iter().map(file).collect();
    Ok(files.map(Arrays::Files).or_else(|| of_devices(folder, entries)))
}

/// Returns the files of entries with one file for each device.
fn of_devices(folder: &Path, entries: &[Value]) -> Option<Arrays> {
    let mut devices: Vec<Vec<String>> = Vec::new();
    for entry in entries {
        let files = entry.get("files").and_then(Value::as_array)?;
        devices.resize(files.len().max(devices.len()), Vec::new());
        for (of_device, file) in devices.iter_mut().zip(files) {
            of_device.push(folder.join(file.as_str()?).display().to_string());
        }
    }
    (!devices.is_empty()).then_some(Arrays::OfDevices(devices))
}

/// Parses the specification of a generated input: `{dist, scale, shift, seed, low, high, value}`.
fn spec(json: &Value) -> Result<Spec, String> {
    let number = |key: &str| json.get(key).and_then(Value::as_f64);
    let integer = |key: &str| json.get(key).and_then(Value::as_i64).ok_or(format!("`{key}` is missing"));
    let distribution = match json.get("dist").and_then(Value::as_str) {
        Some("normal") => Distribution::Normal,
        Some("uniform") => Distribution::Uniform,
        Some("integers") => Distribution::Integers { low: integer("low")?, high: integer("high")? },
        Some("constant") => Distribution::Constant(number("value").ok_or("`value` is missing")?),
        other => return Err(format!("unknown distribution {other:?}")),
    };
    Ok(Spec {
        distribution,
        scale: number("scale").unwrap_or(1.0),
        shift: number("shift").unwrap_or(0.0),
        seed: json.get("seed").and_then(Value::as_u64).unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_described_case() {
        let json = json!({
            "tolerance": {"rtol": 0.5, "atol": 0.25},
            "inputs": [{"hlo": "f32[2]"}],
            "outputs": [{"hlo": "f32[2]"}],
            "gen": {"in_0": {"dist": "integers", "low": -1, "high": 4, "seed": 3}},
        });
        let case = Case::from_json(Path::new("no-such-folder"), &json).unwrap();
        assert_eq!(case.tolerances, [Tolerance { rtol: 0.5, atol: 0.25 }]);
        assert!(case.expected.is_none());
        let distribution = Distribution::Integers { low: -1, high: 4 };
        let spec = Spec { distribution, scale: 1.0, shift: 0.0, seed: 3 };
        assert_eq!(case.inputs, Arrays::Generated(vec![spec]));
    }

    #[test]
    fn what_is_not_supported_is_said() {
        let error = |json| Case::from_json(Path::new("."), &json).unwrap_err();
        assert_eq!(error(json!({"compare": {"kind": "range"}})), "`low` of `compare` is missing");
        assert_eq!(error(json!({"compare": {"kind": "sum"}})), "comparing by \"sum\" is not supported");
        assert_eq!(error(json!({"inputs": [{}]})), "the inputs have no files");
    }
}
