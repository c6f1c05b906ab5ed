//! The nearest legal spelling of a misspelt name.

/// A suggestion is a courtesy: it must not cost seconds in a module of a million names.
const MAX_CANDIDATES: usize = 10_000;

/// The candidate that differs least from `name`, if it differs by no more than about a third of the letters.
/// Of equally near ones the first wins.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    let limit = match length {
        0 | 1 => return None,
        n => (n / 3).clamp(1, 4),
    };
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .map(|c| (distance(name, c), c))
        .filter(|&(d, _)| d <= limit)
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// The edit distance: insertions, deletions, changes and swaps of neighbours.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().take(64).collect());
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = change.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(before_last[j - 2] + 1);
            }
            row.push(d);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last[b.len()]
}
