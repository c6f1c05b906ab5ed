//! Translates the rewrite rules in `rules/` to Rust tables.

use std::error::Error;
use std::path::Path;

/// The files of rules, in the order in which they are tried, and the names of their tables.
const FILES: [&str; 9] =
    ["arithmetic", "bits", "compare", "select", "ranges", "convert", "shape", "slice", "window"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut tables = String::new();
    for name in FILES {
        let path = format!("rules/{name}.rules");
        println!("cargo::rerun-if-changed={path}");
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{path}: {e}"))?;
        let rules = hlo_rule_syntax::parse(&text).map_err(|e| format!("{path}: {e}"))?;
        let table = hlo_rule_syntax::rust_tables(&rules);
        tables.push_str(&format!(
            "/// The rules in `{path}`.\npub static {}: &[Rule] = {table};\n",
            name.to_uppercase()
        ));
    }
    let folder = std::env::var("OUT_DIR")?;
    std::fs::write(Path::new(&folder).join("rules.rs"), tables)?;
    Ok(())
}
