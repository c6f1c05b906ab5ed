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
    let letters: Vec<char> = name.chars().take(COMPARED).map(plain).collect();
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .filter_map(|c| Some((distance(&letters, c, limit)?, c)))
        .min_by_key(|&(d, _)| d)
        .map(|(_, c)| c)
}

/// What a letter is compared as.
fn plain(letter: char) -> char {
    if letter == '_' { '-' } else { letter.to_ascii_lowercase() }
}

/// How many letters of a name are compared.
const COMPARED: usize = 64;

/// The edit distance (insertions, deletions, changes and swaps of neighbours), unless it is above `limit`.
fn distance(a: &[char], b: &str, limit: usize) -> Option<usize> {
    let mut letters = ['\0'; COMPARED];
    let mut length = 0;
    for (slot, c) in letters.iter_mut().zip(b.chars().map(plain)) {
        *slot = c;
        length += 1;
    }
    let b = &letters[..length];
    // Three rows of the table, the one at hand at `i % 3`.
    let mut rows = [[0usize; COMPARED + 1]; 3];
    for (j, d) in rows[0].iter_mut().enumerate() {
        *d = j;
    }
    for i in 1..=a.len() {
        let (row, last, before_last) = (i % 3, (i + 2) % 3, (i + 1) % 3);
        rows[row][0] = i;
        let mut least = i;
        for j in 1..=b.len() {
            let change = rows[last][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut d = change.min(rows[last][j] + 1).min(rows[row][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                d = d.min(rows[before_last][j - 2] + 1);
            }
            rows[row][j] = d;
            least = least.min(d);
        }
        // A swap reaches back two rows, for one more.
        if least > limit + 1 {
            return None;
        }
    }
    Some(rows[a.len() % 3][b.len()]).filter(|&d| d <= limit)
}
