//! The brackets that are open at the end of a value.

use hlo_ir::Span;
use hlo_parser::outline::{Bracket, open_brackets};

/// Formats the brackets with their names and fields.
fn brackets(text: &str) -> Vec<String> {
    let at = |s: &Span| &text[s.range()];
    let bracket = |b: &Bracket| {
        let names: Vec<&str> = b.names.iter().map(at).collect();
        let field = b.field.as_ref().map_or("", at);
        format!(
            "{}{}|{field}{}",
            if b.is_brace { "{" } else { "" },
            names.join(" "),
            ["", "="][usize::from(b.awaits_value)]
        )
    };
    open_brackets(text).iter().map(bracket).collect()
}

#[test]
fn what_is_open() {
    assert_eq!(brackets("=").as_slice(), ["|="]);
    assert_eq!(brackets("={"), ["|", "{|"]);
    assert_eq!(brackets("={op_name=\"{a=\" source_line="), ["|", "{op_name source_line|source_line="]);
    assert_eq!(brackets("={a=3, "), ["|", "{a|"]);
    assert_eq!(
        brackets("={{replicated}, {maximal device=0 metadata={a=b c"),
        ["|", "{|", "{maximal device metadata|metadata", "{a c|"]
    );
    assert_eq!(brackets("={mesh['x'=2], [{}], unreduced=sum{"), ["|", "{mesh unreduced|unreduced", "{|"]);
    assert_eq!(brackets("={mesh['x'="), ["|", "{mesh|", "|="]);
    assert_eq!(brackets("=}}]{"), ["|", "{|"]);
}
