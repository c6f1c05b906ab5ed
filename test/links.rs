//! Checks the links of the pages: each names a file of the project, and a heading of that file if it has an anchor.

use crate::files;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

/// Returns the lines of a page with their numbers, without blocks of code.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().map(|(number, line)| (number + 1, line)).filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence && !line.starts_with("    ")
    })
}

/// Returns the anchor of a heading as GitHub and mdBook write it.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// Returns the anchors of a page. The second of several equal headings gets the suffix `-1`.
fn anchors(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let headings = prose(text).filter_map(|(_, line)| line.strip_prefix('#'));
    headings
        .map(|heading| {
            let anchor = anchor(heading.trim_start_matches('#'));
            let count = seen.entry(anchor.clone()).or_default();
            *count += 1;
            if *count == 1 { anchor } else { format!("{anchor}-{}", *count - 1) }
        })
        .collect()
}

/// Returns the targets of the links in a line.
fn targets(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// Describes a broken link, if it is one.
fn broken(page: &Path, text: &str, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, wanted) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let path = if file.is_empty() { page.to_path_buf() } else { page.parent()?.join(file) };
    if !path.exists() {
        return Some(format!("there is no file {target}"));
    }
    let wanted = wanted?;
    let other = if file.is_empty() { text.to_string() } else { std::fs::read_to_string(&path).ok()? };
    let exists = anchors(&other).iter().any(|anchor| anchor == wanted);
    (!exists).then(|| format!("there is no heading for {target}"))
}

#[test]
fn links_name_files_and_headings() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut message = String::new();
    for page in &files::pages() {
        let text = std::fs::read_to_string(page).expect("a page of the project");
        for (line, target) in prose(&text).flat_map(|(n, line)| targets(line).map(move |t| (n, t))) {
            if let Some(why) = broken(page, &text, target) {
                let page = page.strip_prefix(root).unwrap_or(page).display();
                let _ = writeln!(message, "{page}:{line}: {why}");
            }
        }
    }
    assert!(message.is_empty(), "broken links\n{message}");
}

#[test]
fn broken_links_are_found() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let text = "# A title: `x`\n[one](#a-title-x) [two](#b) [three](docs/none.md)\n";
    let found: Vec<String> = targets(text).filter_map(|target| broken(&page, text, target)).collect();
    assert_eq!(found, ["there is no heading for #b", "there is no file docs/none.md"]);
}

/// The site contains every page of the folder.
#[test]
fn the_summary_lists_all_pages() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
    let summary = std::fs::read_to_string(folder.join("SUMMARY.md")).expect("the list of pages");
    let listed: Vec<&str> = summary.lines().flat_map(targets).collect();
    let pages = files::below(&folder).into_iter().filter(|path| files::has_extension(path, "md"));
    let names = pages.filter_map(|path| Some(path.strip_prefix(&folder).ok()?.to_str()?.replace('\\', "/")));
    let missing: Vec<String> =
        names.filter(|name| name != "SUMMARY.md" && !listed.contains(&&**name)).collect();
    assert!(missing.is_empty(), "docs/SUMMARY.md lacks {missing:?}");
}

/// Returns the crates of this workspace that a manifest lists as dependencies.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap_or_default();
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| name.starts_with("hlo-")).map(str::to_string).collect()
}

/// The tables of `docs/architecture.md` list the crates that each crate depends on.
#[test]
fn the_architecture_page_lists_the_dependencies_of_each_crate() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("docs/architecture.md")).expect("the page");
    let (mut wrong, mut rows) = (String::new(), 0);
    for line in page.lines().filter(|line| line.starts_with("| `lib/")) {
        let columns: Vec<&str> = line.split(" | ").collect();
        let (Some(name), Some(listed)) = (line.split('`').nth(1), columns.last()) else { continue };
        let manifest = std::fs::read_to_string(root.join(name).join("Cargo.toml")).expect("a manifest");
        let words = listed.split(|c: char| !c.is_alphanumeric() && c != '-');
        let listed: BTreeSet<&str> = words.filter(|word| word.starts_with("hlo-")).collect();
        for missing in dependencies(&manifest).iter().filter(|d| !listed.contains(d.as_str())) {
            let _ = writeln!(wrong, "{name} depends on {missing}");
        }
        rows += 1;
    }
    assert!(rows > 25, "docs/architecture.md has rows of crates: {rows}");
    assert!(wrong.is_empty(), "docs/architecture.md does not list these dependencies:\n{wrong}");
}
