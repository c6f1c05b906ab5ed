//! Pipelines that read files.

use hlo_passes::{Pipeline, PipelineError, PipelineFile, PipelineFiles};
use std::collections::HashMap;

/// Files by name, all in one folder.
struct Map(HashMap<&'static str, String>);

impl PipelineFiles for Map {
    fn read(&mut self, path: &str, _: Option<&str>) -> Result<PipelineFile, String> {
        let text = self.0.get(path).ok_or_else(|| format!("{path}: no such file"))?.clone();
        Ok(PipelineFile { name: path.to_owned(), identity: path.to_owned(), text })
    }
}

fn parse(text: &str, files: &[(&'static str, &str)]) -> Result<Pipeline, Box<PipelineError>> {
    let files = files.iter().map(|&(name, text)| (name, text.to_owned())).collect();
    Pipeline::parse_with_files(text, &mut Map(files))
}

fn error(text: &str, files: &[(&'static str, &str)]) -> PipelineError {
    *parse(text, files).err().unwrap_or_else(|| panic!("{text} should be refused"))
}

#[test]
fn files_stand_beside_passes_and_inside_of_others() {
    let files =
        [("a", "# first\nalgsimp\n@b # more\ncse"), ("b", "dce"), ("none", "# nothing"), ("c d", "dce")];
    let names = |text: &str| parse(text, &files).unwrap_or_else(|e| panic!("{e:?}")).pass_names();
    assert_eq!(names("@a"), ["algsimp", "dce", "cse"]);
    assert_eq!(names("cse,@b,fix{limit=2}(@a,@b)"), ["cse", "dce", "algsimp", "dce", "cse", "dce"]);
    assert_eq!(names("@none,dce,@none"), ["dce"]);
    assert_eq!(names("@\"c d\",cse"), ["dce", "cse"]);
}

#[test]
fn errors_are_in_the_file_that_has_them() {
    let files = [("a", "dce\n@b"), ("b", "cse,dse"), ("c", "dce,@gone"), ("d", "dce)")];
    let e = error("dce,@a", &files);
    let file = e.file.expect("a file");
    assert_eq!((file.name.as_str(), &file.text[e.diag.labels[0].span.range()]), ("b", "dse"));
    assert!(e.diag.notes.contains(&"`b` is read by `a`".to_owned()), "{:?}", e.diag.notes);
    let e = error("@c", &files);
    let file = e.file.expect("a file");
    assert_eq!(e.diag.message, "gone: no such file");
    assert_eq!((file.name.as_str(), &file.text[e.diag.labels[0].span.range()]), ("c", "@gone"));
    assert_eq!(error("fix(@d)", &files).file.map(|f| f.name).as_deref(), Some("d"));
    for (text, marked) in [
        ("dce,@gone", "@gone"),
        ("@", ""),
        ("dce,@\"a", ""),
        ("@a{x=1}", "x"),
        ("@a @b", "@"),
        ("@\"gone\"", "@\"gone\""),
    ] {
        let e = error(text, &[("a", "dce"), ("b", "dce")]);
        assert!(e.file.is_none());
        assert_eq!(&text[e.diag.labels[0].span.range()], marked);
    }
}

#[test]
fn cycles_depth_and_numbers_are_limited() {
    let e = error("dce,@a", &[("a", "@b"), ("b", "dce,@c"), ("c", "fix(@a)")]);
    assert_eq!(e.diag.message, "a pipeline that reads itself: a → b → c → a");
    assert_eq!(e.file.map(|f| f.name).as_deref(), Some("c"));
    // Naming a file twice in sequence is not a cycle.
    assert!(parse("@a,@a", &[("a", "@b,@b"), ("b", "dce")]).is_ok());
    // Each file names the next one twice.
    const NAMES: [&str; 26] = [
        "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s", "t",
        "u", "v", "w", "x", "y", "z",
    ];
    let texts: Vec<String> = NAMES[1..].iter().map(|next| format!("@{next},@{next}")).collect();
    let mut files: Vec<(&'static str, &str)> =
        NAMES.iter().copied().zip(texts.iter().map(String::as_str)).collect();
    files.push(("z", "dce"));
    assert!(error("@a", &files).diag.message.contains("more than 1000 files"));
    let deep = format!("{}@a{}", "fix(".repeat(20), ")".repeat(20));
    let e = error(&deep, &files);
    assert!(e.diag.labels[0].message.contains("nested more than 32 deep"), "{e:?}");
    assert!(Pipeline::parse("@a").err().is_some_and(|d| d.message == "a: no files are read here"));
}
