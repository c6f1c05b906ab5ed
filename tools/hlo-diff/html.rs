//! Renders the differences as a self-contained page with both modules side by side.

use crate::View;
use crate::text::title;
use crate::words::{counts, describe};
use hlo_graph::escaped;
use hlo_ir::{InstrId, Module};
use hlo_module_diff::{Change, ComputationDiff, InstructionDiff, Kind};
use std::collections::HashSet;

/// Returns the page.
pub fn page(view: &View<'_>) -> String {
    let [left, right] = view.names.map(escaped);
    let mut body = String::new();
    body.push_str(&format!("<h1>{left} → {right}</h1>\n<p>{}</p>\n", escaped(&counts(view.diff.counts()))));
    body.push_str(
        "<p><label><input type=\"checkbox\" id=\"all\"> show what is the same</label> \
         <span class=\"key added\">added</span> <span class=\"key removed\">removed</span> \
         <span class=\"key changed\">changed</span> <span class=\"key renamed\">renamed or moved</span></p>\n",
    );
    body.push_str(&list(&view.diff.header, "header"));
    for c in &view.diff.computations {
        body.push_str(&computation(view, c));
    }
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{left} → {right}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n{body}<script>{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

const STYLE: &str = "
:root { color-scheme: light dark; --line: #8884; --added: #2a92; --removed: #d332; --changed: #c902; --renamed: #48f2; }
body { font-family: system-ui, sans-serif; margin: 1rem; }
h1 { font-size: 1.1rem; }
details { border: 1px solid var(--line); border-radius: 4px; margin: .6rem 0; }
summary { padding: .3rem .6rem; cursor: pointer; font-family: ui-monospace, monospace; }
table { border-collapse: collapse; width: 100%; table-layout: fixed; }
td { font: 12px/1.5 ui-monospace, monospace; vertical-align: top; padding: 0 .6rem; border-top: 1px solid var(--line);
     overflow-wrap: anywhere; white-space: pre-wrap; width: 50%; }
td + td { border-left: 1px solid var(--line); }
.same { display: none; }
.all .same { display: revert; }
.added td + td, .key.added { background: var(--added); }
.removed td:first-child, .key.removed { background: var(--removed); }
.changed td, .key.changed { background: var(--changed); }
.renamed td, .key.renamed { background: var(--renamed); }
.key { padding: 0 .4rem; border-radius: 3px; }
mark { background: #fb06; color: inherit; border-radius: 2px; }
ul { margin: 0; padding-left: 1.2rem; opacity: .85; }
a { color: inherit; text-decoration: none; }
a:hover, :target { text-decoration: underline; outline: 1px solid; }
";

const SCRIPT: &str = "
const box = document.getElementById('all');
const update = () => document.body.classList.toggle('all', box.checked);
box.addEventListener('change', update);
update();
// What a link leads to may be hidden.
addEventListener('hashchange', () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!target) return;
  if (target.closest('.same')) { box.checked = true; update(); }
  const part = target.closest('details');
  if (part) part.open = true;
  target.scrollIntoView({ block: 'center' });
});
";

fn computation(view: &View<'_>, c: &ComputationDiff) -> String {
    let open = if c.is_same() { "" } else { " open" };
    let class = class(if c.is_same() { Kind::Same } else { Kind::Changed });
    let note = match c.kind() {
        Kind::Added => " (added)",
        Kind::Removed => " (removed)",
        Kind::Same | Kind::Renamed | Kind::Changed => "",
    };
    // Computations are not colored, so that the colors of their instructions stay visible.
    let class = if class == "same" { " class=\"same\"" } else { "" };
    let mut out = format!("<details{open}{class}><summary>{}{note}</summary>\n", escaped(&title(view, c)));
    out.push_str(&list(&c.changes, "of"));
    out.push_str("<table>\n");
    for i in &c.instructions {
        out.push_str(&row(view, i));
    }
    out.push_str("</table></details>\n");
    out
}

fn row(view: &View<'_>, i: &InstructionDiff) -> String {
    let texts = [
        i.left.and_then(|id| Some(view.lines.first()?.of(view.left, id))),
        i.right.and_then(|id| Some(view.lines.last()?.of(view.right, id))),
    ];
    let words = texts.each_ref().map(|t| t.as_deref().map_or_else(Vec::new, tokens));
    let [left, right] = &words;
    let marks = match i.kind() {
        Kind::Changed | Kind::Renamed => [marked(left, right), marked(right, left)],
        Kind::Same | Kind::Added | Kind::Removed => [vec![false; left.len()], vec![false; right.len()]],
    };
    let cell =
        |side: &str, module: &Module, id: Option<InstrId>, words: &[&str], marks: &[bool], changes: &str| {
            let anchor = id.map_or(String::new(), |id| format!(" id=\"{side}{}\"", id.index()));
            let operands = id.map(|id| operands(module, id)).unwrap_or_default();
            format!("<td{anchor}>{}{changes}</td>", line(side, words, marks, &operands))
        };
    let changes = list(&i.changes, "of");
    let [of_left, of_right] = &marks;
    format!(
        "<tr class=\"{}\">{}{}</tr>\n",
        class(i.kind()),
        cell("l", view.left, i.left, left, of_left, ""),
        cell("r", view.right, i.right, right, of_right, &changes),
    )
}

/// Returns the names of an instruction's operands and the instructions that they link to.
fn operands(module: &Module, id: InstrId) -> Vec<(String, usize)> {
    module[id].operands.iter().map(|&o| (format!("%{}", module[o].name), o.index())).collect()
}

/// Renders words. Differences are marked, and operands are links.
fn line(side: &str, words: &[&str], marks: &[bool], operands: &[(String, usize)]) -> String {
    let mut out = String::new();
    // The first name is that of the instruction itself.
    let mut seen_name = false;
    for (word, mark) in words.iter().zip(marks) {
        let text = escaped(word);
        let target = operands.iter().find(|(name, _)| name == word).filter(|_| seen_name);
        seen_name |= word.starts_with('%');
        let text = match target {
            Some((_, index)) => format!("<a href=\"#{side}{index}\">{text}</a>"),
            None => text,
        };
        out.push_str(&if *mark { format!("<mark>{text}</mark>") } else { text });
    }
    out
}

/// Splits a text into names, numbers and single other characters.
fn tokens(text: &str) -> Vec<&str> {
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '%' | '_' | '.' | '-');
    let mut out = Vec::new();
    let mut start = 0;
    let mut in_word = false;
    for (at, c) in text.char_indices() {
        if at > start && !(in_word && is_word(c)) {
            out.extend(text.get(start..at));
            start = at;
        }
        in_word = is_word(c);
    }
    out.extend(text.get(start..).filter(|t| !t.is_empty()));
    out
}

/// Returns whether each word differs: it is not part of the common start and end, and not among the other
/// text's words.
fn marked(words: &[&str], other: &[&str]) -> Vec<bool> {
    let before = words.iter().zip(other).take_while(|(a, b)| a == b).count();
    let most = words.len().min(other.len()) - before;
    let after = words.iter().rev().zip(other.iter().rev()).take_while(|(a, b)| a == b).count().min(most);
    let middle = before..words.len() - after;
    let theirs: HashSet<&str> =
        other.get(before..other.len() - after).unwrap_or_default().iter().copied().collect();
    let is_text = |w: &str| w.chars().any(|c| c.is_alphanumeric());
    words.iter().enumerate().map(|(n, w)| middle.contains(&n) && is_text(w) && !theirs.contains(w)).collect()
}

fn list(changes: &[Change], class: &str) -> String {
    if changes.is_empty() {
        return String::new();
    }
    let items: String = changes.iter().map(|c| format!("<li>{}</li>", escaped(&describe(c)))).collect();
    format!("<ul class=\"{class}\">{items}</ul>")
}

fn class(kind: Kind) -> &'static str {
    match kind {
        Kind::Same => "same",
        Kind::Added => "added",
        Kind::Removed => "removed",
        Kind::Changed => "changed",
        Kind::Renamed => "renamed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_differ_are_marked() {
        let (a, b) = (tokens("%r = f32[4]{0} add(%x, %y)"), tokens("%r = f32[4]{0} add(%n, %y)"));
        let shown: Vec<&str> =
            a.iter().zip(marked(&a, &b)).filter(|(_, marked)| *marked).map(|(word, _)| *word).collect();
        assert_eq!(shown, ["%x"]);
        assert_eq!(a.concat(), "%r = f32[4]{0} add(%x, %y)");
        assert!(marked(&a, &a).iter().all(|m| !m));
        assert!(tokens("").is_empty());
    }

    #[test]
    fn nothing_of_a_text_is_markup() {
        let words = ["%a", " ", "<b>", "%c"];
        let shown = line("l", &words, &[false; 4], &[("%c".to_string(), 7)]);
        assert_eq!(shown, "%a &lt;b&gt;<a href=\"#l7\">%c</a>");
    }
}
