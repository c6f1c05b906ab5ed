//! The picture of diagnostics in the documentation shows what `hlo-opt` prints in a terminal. `BLESS=1` draws
//! it again.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// The files of `docs/images` whose errors the picture shows, in order.
const SHOWN_FILES: [&str; 2] = ["typo.hlo", "layer.hlo"];
const LINE_HEIGHT: f64 = 19.0;
const CHARACTER_WIDTH: f64 = 8.43;
const MARGIN: f64 = 16.0;

#[test]
fn the_picture_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images");
    let mut text = String::new();
    for file in SHOWN_FILES {
        let output = Command::new(env!("CARGO_BIN_EXE_hlo-opt"))
            .args([file, "--color=always"])
            .current_dir(&folder)
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(1), "{file} has errors");
        let shown = String::from_utf8(output.stderr).unwrap();
        text.push_str(&format!("\x1b[1m$ hlo-opt {file}\x1b[0m\n{}\n\n", shown.trim_end()));
    }
    let picture = svg(text.trim_end());
    let path = folder.join("diagnostic.svg");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &picture).unwrap();
    }
    let current = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(current == picture, "docs/images/diagnostic.svg is not what hlo-opt prints: run with BLESS=1");
}

/// Draws a terminal with `text`, whose colors are ANSI escapes.
fn svg(text: &str) -> String {
    let lines: Vec<Vec<Run>> = runs(text);
    let width = |line: &Vec<Run>| line.iter().map(|r| r.text.chars().count()).sum::<usize>();
    let columns = lines.iter().map(width).max().unwrap_or(0);
    let (w, h) = (
        (columns as f64 * CHARACTER_WIDTH + 2.0 * MARGIN).ceil(),
        (lines.len() as f64 * LINE_HEIGHT + 2.0 * MARGIN).ceil(),
    );
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {w} {h}\" width=\"{w}\" height=\"{h}\">\n\
         <rect width=\"{w}\" height=\"{h}\" rx=\"8\" fill=\"#1e1e2e\"/>\n\
         <g font-family=\"ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"14\" \
         fill=\"#cdd6f4\" xml:space=\"preserve\">\n"
    );
    for (n, line) in lines.iter().enumerate() {
        let y = MARGIN + LINE_HEIGHT * (n as f64 + 0.75);
        let mut column = 0;
        for run in line {
            let length = run.text.chars().count();
            if !run.text.trim().is_empty() {
                let x = MARGIN + CHARACTER_WIDTH * column as f64;
                let fill = run.color.map_or(String::new(), |c| format!(" fill=\"{c}\""));
                let weight = if run.bold { " font-weight=\"bold\"" } else { "" };
                let text = run.text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
                // The explicit length aligns columns in any font.
                let wide = CHARACTER_WIDTH * length as f64;
                writeln!(
                    out,
                    "<text x=\"{x:.2}\" y=\"{y:.2}\" textLength=\"{wide:.2}\"{fill}{weight}>{text}</text>"
                )
                .unwrap();
            }
            column += length;
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// Text in one style.
struct Run {
    text: String,
    color: Option<&'static str>,
    bold: bool,
}

/// Splits the lines of a text into runs of one style.
fn runs(text: &str) -> Vec<Vec<Run>> {
    let (mut color, mut bold) = (None, false);
    let mut lines = Vec::new();
    for line in text.lines() {
        let mut runs: Vec<Run> = Vec::new();
        let mut parts = line.split("\x1b[");
        runs.extend(parts.next().map(|text| Run { text: text.into(), color, bold }));
        for part in parts {
            let (escape, text) = part.split_once('m').expect("a style");
            let codes: Vec<u8> = escape.split(';').map(|c| c.parse().unwrap_or(0)).collect();
            match codes.as_slice() {
                [0] => (color, bold) = (None, false),
                [1] => bold = true,
                [1, n] => (color, bold) = (Some(hue(n % 10)), true),
                [38, 5, n] => color = Some(hue(n % 8)),
                [n] => color = Some(hue(n % 10)),
                _ => panic!("an unknown style {escape}"),
            }
            runs.push(Run { text: text.into(), color, bold });
        }
        lines.push(runs);
    }
    lines
}

/// Returns a color of the terminal.
fn hue(n: u8) -> &'static str {
    ["#6c7086", "#f38ba8", "#a6e3a1", "#f9e2af", "#89b4fa", "#f5c2e7", "#94e2d5", "#cdd6f4"]
        [usize::from(n % 8)]
}
