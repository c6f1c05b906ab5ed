//! `--check-format`: shows the first difference between a text and its formatted form.

/// Number of context lines around a difference.
const CONTEXT_LINES: usize = 3;
/// Maximum number of lines shown.
const MAX_LINES: usize = 40;

/// Returns the first lines that differ, as a unified diff, or `None` if the texts are equal.
pub fn difference(name: &str, old: &str, new: &str) -> Option<String> {
    if old == new {
        return None;
    }
    let (a, b): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let before = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let after = a[before..].iter().rev().zip(b[before..].iter().rev()).take_while(|(x, y)| x == y).count();
    let (removed, added) = (&a[before..a.len() - after], &b[before..b.len() - after]);
    let start = before.saturating_sub(CONTEXT_LINES);
    let context_after = &a[a.len() - after..(a.len() - after + CONTEXT_LINES).min(a.len())];
    let shown = |lines: &[&str]| lines.len().min(MAX_LINES);
    let whole = shown(removed) == removed.len() && shown(added) == added.len();
    let tail = if whole { context_after } else { &[] };
    let counts = |n: usize| before - start + n + tail.len();
    let mut out = format!(
        "--- {name}\n+++ {name} (formatted)\n@@ -{},{} +{},{} @@\n",
        start + 1,
        counts(shown(removed)),
        start + 1,
        counts(shown(added)),
    );
    let mut push = |mark: char, lines: &[&str]| {
        for line in lines {
            out.push(mark);
            out.push_str(line);
            out.push('\n');
        }
    };
    push(' ', &a[start..before]);
    push('-', &removed[..shown(removed)]);
    push('+', &added[..shown(added)]);
    push(' ', tail);
    if removed.is_empty() && added.is_empty() {
        out.push_str("(only the ends of lines differ)\n");
    }
    if !whole {
        out.push_str("(more lines differ)\n");
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_differ_are_shown() {
        assert_eq!(difference("f", "a\n", "a\n"), None);
        let shown = difference("f", "a\nb\nc\n", "a\nx\ny\nc\n").unwrap();
        assert_eq!(shown, "--- f\n+++ f (formatted)\n@@ -1,3 +1,4 @@\n a\n-b\n+x\n+y\n c\n");
        assert!(difference("f", "a\r\n", "a\n").unwrap().ends_with("(only the ends of lines differ)\n"));
    }
}
