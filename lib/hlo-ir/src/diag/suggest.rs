//! The nearest legal spelling of a misspelt name.

/// A suggestion is a courtesy: it must not cost seconds in a module of a million names.
const MAX_CANDIDATES: usize = 10_000;

/// The candidate that differs least from `name`, if it differs by no more than about a third of the letters. Case
/// counts for nothing, and `-` is `_`. Of equally near ones the first wins.
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

/// True if two names differ by `-`, `_` and case only.
pub fn spelt_alike(a: &str, b: &str) -> bool {
    fn letters(name: &str) -> impl Iterator<Item = char> + '_ {
        name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
    }
    letters(a).eq(letters(b))
}

/// How many letters of a name are compared.
const COMPARED: usize = 64;

/// What is compared of a name: insertions, deletions, changes and swaps of neighbours count.
fn plain(name: &str) -> String {
    let letters = name.chars().take(COMPARED);
    letters.map(|c| if c == '_' { '-' } else { c.to_ascii_lowercase() }).collect()
}
