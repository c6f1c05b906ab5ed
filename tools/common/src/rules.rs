//! The rules that the tools report: those of modules, pipelines, Tile and files with several modules.

use hlo_ir::rules::{FAMILIES, Family, RuleInfo};

/// The rules of files with several modules.
const FAMILY: Family = Family { title: "Files with several modules", example: "example.hlo", rules: TABLE };

hlo_ir::rules! {
    SEPARATOR = "E2020" "separator" {
        rule: "With `--split-input-file`, the line between modules is exactly `// -----`.",
        why: "A similar line would join two modules into one.",
        example: None,
        fix: "write two slashes, a space and five dashes",
        section: "diagnostics.md",
    }
}

/// Returns all families of rules. The features of this crate determine whether the families of pipelines and Tile are
/// included.
pub fn families() -> Vec<Family> {
    let mut families = FAMILIES.to_vec();
    families.push(FAMILY);
    #[cfg(feature = "passes")]
    families.push(hlo_passes::rules::FAMILY);
    #[cfg(feature = "tile")]
    families.push(hlo_tile::rules::FAMILY);
    families.sort_by_key(|family| family.rules.first().map(|rule| rule.code));
    families
}

/// Finds a rule by its code, in any case, or by its name. Returns it with its family.
pub fn find(text: &str) -> Option<(Family, &'static RuleInfo)> {
    families().into_iter().find_map(|family| family.find(text).map(|rule| (family, rule)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn codes_and_names_are_unique_and_entries_complete() {
        let (mut codes, mut names) = (HashSet::new(), HashSet::new());
        for family in families() {
            assert!(family.rules.is_sorted_by_key(|rule| rule.code), "{}", family.title);
            for rule in family.rules {
                assert!(codes.insert(rule.code), "two rules have the code {}", rule.code);
                assert!(names.insert(rule.name), "two rules have the name {}", rule.name);
                let is_kebab = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
                assert!(rule.name.bytes().all(is_kebab), "{}", rule.name);
                for text in [rule.rule, rule.why, rule.fix, rule.section] {
                    assert!(!text.is_empty() && !text.contains('\n'), "{}: `{text}`", rule.code);
                }
            }
        }
    }

    #[test]
    fn rules_are_found_by_code_and_name() {
        assert_eq!(find("e0301").map(|(_, rule)| rule.name), Some("operand-count"));
        assert_eq!(
            find("separator").map(|(family, rule)| (family.title, rule.code)),
            Some((FAMILY.title, SEPARATOR))
        );
        assert_eq!(find("E0000"), None);
    }
}
