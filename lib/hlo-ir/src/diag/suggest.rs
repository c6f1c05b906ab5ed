//! Suggestions for misspelt names.

/// Maximum number of names to compare. Modules may have a million names, and a suggestion is not worth
/// seconds.
const MAX_CANDIDATES: usize = 10_000;

/// Returns the candidate that differs least from `name`, if it differs in no more than about a third of the
/// letters. Case is ignored, and `-` equals `_`. If several are equally near, the first one is returned.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = match length {
        0 | 1 => return None,
        n => (n / 3).clamp(1, 4),
    };
    let letters = plain(name);
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .map(|c| (strsim::osa_distance(&letters, &plain(c)), c))
        .filter(|&(distance, _)| distance <= limit)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, c)| c)
}

/// Returns whether two names differ only in `-`, `_` and case.
pub fn equal_ignoring_spelling(a: &str, b: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
    }
    letters(a).eq(letters(b))
}

/// Maximum number of letters of a name that are compared.
const MAX_COMPARED_LETTERS: usize = 64;

/// Normalizes a name for comparison.
fn plain(name: &str) -> String {
    let letters = name.chars().take(MAX_COMPARED_LETTERS);
    letters.map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}
