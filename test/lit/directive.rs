//! Finds the directives of a test file: comment lines such as `// CHECK-NEXT: …`. Rejects comments that look
//! like a directive but are not. Otherwise a typo would result in a test that checks nothing.

/// The kind of a CHECK line: where its pattern must match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// After the previous match.
    Plain,
    /// On the line after the previous match.
    Next,
    /// On the line of the previous match.
    Same,
    /// Not between the neighboring matches.
    Not,
    /// In any order among the neighboring `-DAG` lines.
    Dag,
    /// Divides the output into blocks that are matched separately.
    Label,
    /// This many times.
    Count(usize),
    /// The line after the previous match must be empty.
    Empty,
}

/// One CHECK line.
#[derive(Clone, Debug)]
pub struct Directive {
    /// The line in the test file, counted from 1.
    pub line: usize,
    /// The kind of the line.
    pub kind: Kind,
    /// Whether the line is a `CHECK{LITERAL}:`, whose pattern is plain text.
    pub literal: bool,
    /// The pattern without surrounding white space.
    pub pattern: String,
}

/// Words that may begin a comment and are not directives.
const WORDS: &[&str] = &["NOTE"];

/// Returns the text after `// RUN:` of each RUN line. A line that ends in `\` is joined with the next RUN
/// line.
pub fn run_lines(text: &str) -> Result<Vec<String>, String> {
    let mut lines: Vec<String> = Vec::new();
    let mut open = false;
    for (number, line) in text.lines().enumerate() {
        let Some(rest) = comment(line).and_then(|c| c.strip_prefix("RUN:")) else { continue };
        let rest = rest.trim();
        let (body, goes_on) = match rest.strip_suffix('\\') {
            Some(body) => (body.trim_end(), true),
            None => (rest, false),
        };
        if body.is_empty() {
            return Err(format!("line {}: empty RUN line", number + 1));
        }
        match lines.last_mut() {
            Some(last) if open => {
                last.push(' ');
                last.push_str(body);
            }
            _ => lines.push(body.to_string()),
        }
        open = goes_on;
    }
    if open {
        return Err("the last RUN line ends in `\\`".to_string());
    }
    Ok(lines)
}

/// Checks whether a `// REQUIRES:` line contains `feature`.
pub fn requires(text: &str, feature: &str) -> bool {
    required(text).any(|f| f == feature)
}

fn required(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .filter_map(|l| comment(l).and_then(|c| c.strip_prefix("REQUIRES:")))
        .flat_map(|rest| rest.split(','))
        .map(str::trim)
}

/// Rejects comments that look like directives but are not. `prefixes` are those that the RUN lines pass to
/// FileCheck.
pub fn refuse_unknown(text: &str, prefixes: &[String]) -> Result<(), String> {
    for (number, line) in text.lines().enumerate() {
        let at = |message: String| Err(format!("line {}: {message}: {}", number + 1, line.trim()));
        if let Some(head) = comment(line).and_then(directive_head) {
            let known = head == "RUN"
                || head == "REQUIRES"
                || WORDS.contains(&head)
                || prefixes.iter().any(|p| head.strip_prefix(p.as_str()).is_some_and(|s| kind(s).is_some()));
            if known {
                continue;
            }
            let looks_like_one = head.chars().all(|c| !c.is_ascii_lowercase())
                || prefixes.iter().map(String::as_str).chain(["CHECK"]).any(|p| resembles(head, p));
            if looks_like_one {
                return at(format!("`{head}` is no directive of this file"));
            }
        }
        // LLVM's FileCheck finds a prefix anywhere in a line. Here it must begin the comment.
        for prefix in prefixes {
            if let Some(position) = line.find(prefix.as_str()) {
                let opens = matches!(line[..position].trim(), "//" | "#");
                let rest = &line[position + prefix.len()..];
                let ends_word = line[..position]
                    .chars()
                    .next_back()
                    .is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_' && c != '-');
                let end = rest.find([':', ' ']).unwrap_or(rest.len());
                if !opens && ends_word && rest[end..].starts_with(':') && kind(&rest[..end]).is_some() {
                    return at("a directive must open the line".to_string());
                }
            }
        }
    }
    if let Some(feature) = required(text).find(|&f| f != "codegen") {
        return Err(format!("REQUIRES names `{feature}`; only `codegen` is known"));
    }
    Ok(())
}

/// Returns the CHECK lines with one of the prefixes, in order.
pub fn checks(text: &str, prefixes: &[String]) -> Result<Vec<Directive>, String> {
    let mut found = Vec::new();
    for prefix in prefixes {
        let mut any = false;
        for (number, line) in text.lines().enumerate() {
            let Some(comment) = comment(line) else { continue };
            let Some((head, rest)) = split_head(comment) else { continue };
            let Some((kind, literal)) = head.strip_prefix(prefix.as_str()).and_then(kind) else { continue };
            let pattern = rest.trim().to_string();
            let line = number + 1;
            match (kind, pattern.is_empty()) {
                (Kind::Empty, false) => return Err(format!("line {line}: {head} takes no pattern")),
                (Kind::Empty, true) => {}
                (_, true) => return Err(format!("line {line}: {head} has an empty pattern")),
                (_, false) => {}
            }
            any |= kind != Kind::Not || !pattern.is_empty();
            found.push(Directive { line, kind, literal, pattern });
        }
        if !any {
            return Err(format!("the file has no {prefix} line"));
        }
    }
    found.sort_by_key(|d| d.line);
    Ok(found)
}

/// Returns the text after `//` or `#` in a line that contains only a comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("//").or_else(|| line.strip_prefix('#')).map(str::trim_start)
}

/// Splits `HEAD: …` into `HEAD` and the text after the colon.
fn split_head(comment: &str) -> Option<(&str, &str)> {
    let (head, rest) = comment.split_once(':')?;
    let plain = !head.is_empty()
        && head.starts_with(|c: char| c.is_ascii_alphabetic())
        && head.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '{' | '}'));
    plain.then_some((head, rest))
}

fn directive_head(comment: &str) -> Option<&str> {
    split_head(comment).map(|(head, _)| head)
}

/// Returns the kind of a directive with this suffix, and whether its pattern is literal.
fn kind(suffix: &str) -> Option<(Kind, bool)> {
    let (suffix, literal) = match suffix.strip_suffix("{LITERAL}") {
        Some(rest) => (rest, true),
        None => (suffix, false),
    };
    let kind = match suffix {
        "" => Kind::Plain,
        "-NEXT" => Kind::Next,
        "-SAME" => Kind::Same,
        "-NOT" => Kind::Not,
        "-DAG" => Kind::Dag,
        "-LABEL" => Kind::Label,
        "-EMPTY" => Kind::Empty,
        other => match other.strip_prefix("-COUNT-")?.parse() {
            Ok(n) if n > 0 => Kind::Count(n),
            _ => return None,
        },
    };
    Some((kind, literal))
}

/// Checks whether `head` may be a misspelling of `prefix`, with or without a suffix: at most two edits.
fn resembles(head: &str, prefix: &str) -> bool {
    let stem = head.split(['-', '{']).next().unwrap_or(head).to_ascii_uppercase();
    stem.len() >= 3 && edits(&stem, &prefix.to_ascii_uppercase()) <= if prefix.len() > 3 { 2 } else { 1 }
}

/// Returns the Levenshtein distance.
fn edits(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, &y) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
