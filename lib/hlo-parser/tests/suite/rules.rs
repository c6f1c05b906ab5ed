//! Checks that each example in the table of rules parses, and violates its own rule and no other.

use hlo_ir::diag::Severity;
use hlo_ir::rules;
use hlo_ir::verify::Strictness;
use hlo_parser::Parsed;

#[test]
fn each_example_breaks_its_rule_and_no_other() {
    let mut failed = String::new();
    for rule in rules::all() {
        let (code, Some(example)) = (rule.code.to_string(), rule.example) else { continue };
        let found = match hlo_parser::parse(example) {
            Ok(Parsed { module, warnings }) => match hlo_ir::verify::verify(&module) {
                none if none.is_empty() => {
                    let more = match &code[..3] {
                        "E13" => hlo_ir::verify::verify_strictly(&module, &Strictness::ALL),
                        code if code.starts_with('W') => hlo_ir::verify::warnings(&module),
                        _ => hlo_ir::verify::verify_execution(&module),
                    };
                    [more, warnings].concat()
                }
                found => [found, warnings].concat(),
            },
            Err(diags) => diags,
        };
        let refused = found.iter().any(|d| d.severity == Severity::Error);
        assert_eq!(refused, code.starts_with('E'), "{} {}", rule.code, rule.name);
        let found: Vec<String> = found
            .iter()
            .map(|d| format!("{} {}", d.code.map(|c| c.to_string()).unwrap_or_default(), d.message))
            .collect();
        let own = |f: &String| f.starts_with(&code);
        if found.is_empty() || !found.iter().all(own) {
            failed.push_str(&format!("{} {}: found {found:#?}\n", rule.code, rule.name));
        }
    }
    assert!(failed.is_empty(), "{failed}");
}
