//! The memory of a program over its steps, as a text plot and as a picture.

use crate::svg::{escaped, plot_opening};
use hlo_ir::human_bytes;
use std::fmt::Write;

/// The data of a memory plot.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlot {
    /// The name of the program.
    pub title: String,
    /// For each step, in execution order, its name and the number of bytes that are live while it runs.
    pub live: Vec<(String, u64)>,
    /// The total size in bytes. Live values never use more, but there may be gaps between them.
    pub bytes: u64,
    /// The pieces of memory.
    pub pieces: Vec<Piece>,
    /// The indices of the largest pieces at the peak, the largest first.
    pub largest: Vec<usize>,
}

/// A piece of memory, which several values may use one after the other.
#[derive(Clone, Debug)]
pub struct Piece {
    /// The instructions whose values use the piece.
    pub name: String,
    /// The shape of the first of these values.
    pub shape: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The offset from the start of the memory, in bytes.
    pub offset: u64,
    /// A readable description of the location.
    pub place: String,
    /// The first and the last step of each live range.
    pub live: Vec<(usize, usize)>,
}

impl MemoryPlot {
    /// Returns the maximum number of live bytes.
    pub fn peak(&self) -> u64 {
        self.live.iter().map(|(_, n)| *n).max().unwrap_or(0)
    }

    /// Returns the first step with the maximum number of live bytes.
    fn peak_at(&self) -> Option<usize> {
        let peak = self.peak();
        self.live.iter().position(|(_, n)| *n == peak)
    }
}

/// The number of columns and rows of the text plot.
const COLUMNS: usize = 80;
const ROWS: usize = 12;
/// Characters that fill from none to all of their height.
const BAR_CHARACTERS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns the plot as text for a terminal. Steps are from left to right. Each column shows the maximum
/// number of bytes of its steps.
///
/// # Example
/// ```
/// use hlo_graph::{MemoryPlot, memory_text};
///
/// let live = vec![("a".into(), 1024), ("b".into(), 3072), ("c".into(), 2048)];
/// let plot = MemoryPlot { live, ..MemoryPlot::default() };
/// assert_eq!(plot.peak(), 3072);
/// // Only `b`, the second of three columns, reaches the first row.
/// let text = memory_text(&plot);
/// assert_eq!(text.lines().next(), Some("     3.0 KiB │        ████████"));
/// ```
pub fn memory_text(plot: &MemoryPlot) -> String {
    let peak = plot.peak();
    let mut out = String::new();
    if plot.live.is_empty() || peak == 0 {
        return out;
    }
    let columns = plot.live.len().min(COLUMNS);
    let column = |c: usize| {
        let (from, to) = (c * plot.live.len() / columns, (c + 1) * plot.live.len() / columns);
        plot.live[from..to.max(from + 1)].iter().map(|(_, n)| *n).max().unwrap_or(0)
    };
    // Few steps get wider columns.
    let repeat = (COLUMNS / columns).clamp(1, 8);
    let heights: Vec<usize> = (0..columns)
        .map(|c| (column(c) as f64 / peak as f64 * (ROWS * 8) as f64).round() as usize)
        .flat_map(|h| std::iter::repeat_n(h, repeat))
        .collect();
    for row in (0..ROWS).rev() {
        let axis = match row + 1 {
            ROWS => human_bytes(peak),
            r if r == ROWS / 2 => human_bytes(peak / 2),
            _ => String::new(),
        };
        let bars: String = heights.iter().map(|h| BAR_CHARACTERS[h.saturating_sub(row * 8).min(8)]).collect();
        // Writing to a string does not fail.
        let _ = writeln!(out, "{axis:>12} │{}", bars.trim_end());
    }
    let _ = writeln!(out, "{:>12} └{}", "0 bytes", "─".repeat(heights.len()));
    let last = plot.live.len() - 1;
    let _ = writeln!(out, "{:14}{:<width$}{last:>5}", "", 0, width = heights.len().saturating_sub(5));
    out
}

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 300.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 56.0;
/// The maximum number of bars with their own text.
const MAX_BARS: usize = 20_000;

/// The colors of the largest pieces.
const COLORS: &[&str] =
    &["#4a77bd", "#c77a4a", "#6fa56f", "#9a68ad", "#c06a93", "#4f9c98", "#b8a94a", "#b85c5c"];

/// Returns the plot as a picture: the live memory over the steps, with the largest pieces at the peak in
/// colors, and a list of these pieces. The picture needs no external files; a browser shows the name of each
/// step under the pointer.
pub fn memory_svg(plot: &MemoryPlot) -> String {
    let shown: Vec<&Piece> =
        plot.largest.iter().filter_map(|&n| plot.pieces.get(n)).take(COLORS.len()).collect();
    let height = TOP + HEIGHT + 70.0 + shown.len() as f64 * 18.0;
    let full = LEFT + WIDTH + 40.0;
    let title = format!("{}: memory over the steps", plot.title);
    let mut out = plot_opening(full, height, &title);
    let (count, peak) = (plot.live.len().max(1) as f64, plot.bytes.max(plot.peak()).max(1) as f64);
    let x = |n: usize| LEFT + n as f64 / count * WIDTH;
    let y = |bytes: f64| TOP + HEIGHT - bytes / peak * HEIGHT;
    for part in 0..=4 {
        let bytes = peak * f64::from(part) / 4.0;
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.0}\" y1=\"{1:.1}\" y2=\"{1:.1}\" stroke=\"#e6e8eb\"/>\
             <text x=\"{2}\" y=\"{3:.1}\" text-anchor=\"end\" fill=\"#57606a\">{4}</text>",
            LEFT + WIDTH,
            y(bytes),
            LEFT - 8.0,
            y(bytes) + 4.0,
            human_bytes(bytes as u64)
        );
    }
    draw_pieces(&mut out, plot, &x, &y, peak);
    // The live memory, as if there were no gaps.
    let mut path = format!("M{LEFT:.1},{:.1}", y(0.0));
    for (n, (_, bytes)) in plot.live.iter().enumerate() {
        let _ = write!(path, "L{:.1},{2:.1}L{:.1},{2:.1}", x(n), x(n + 1), y(*bytes as f64));
    }
    let _ = writeln!(out, "<path d=\"{path}\" fill=\"none\" stroke=\"#24292f\" stroke-opacity=\"0.6\"/>");
    if let Some(at) = plot.peak_at() {
        let middle = (x(at) + x(at + 1)) / 2.0;
        let (name, anchor) =
            (escaped(&plot.live[at].0), if middle > LEFT + WIDTH / 2.0 { "end" } else { "start" });
        let _ = writeln!(
            out,
            "<line x1=\"{middle:.1}\" x2=\"{middle:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#d4380d\" \
             stroke-dasharray=\"4 3\"/><text x=\"{middle:.1}\" y=\"{:.1}\" fill=\"#d4380d\" \
             text-anchor=\"{anchor}\">peak: {} at {name}</text>",
            TOP - 4.0,
            TOP + HEIGHT,
            TOP - 8.0,
            human_bytes(plot.peak())
        );
    }
    for (n, (name, bytes)) in plot.live.iter().enumerate().take(MAX_BARS) {
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.2}\" height=\"12\" fill=\"#000\" fill-opacity=\"0.06\">\
             <title>{n} {}: {}</title></rect>",
            x(n),
            TOP + HEIGHT,
            WIDTH / count,
            escaped(name),
            human_bytes(*bytes)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{0:.0}\" fill=\"#57606a\">0</text><text x=\"{1:.0}\" y=\"{0:.0}\" \
         text-anchor=\"end\" fill=\"#57606a\">step {2}</text>",
        TOP + HEIGHT + 26.0,
        LEFT + WIDTH,
        plot.live.len().saturating_sub(1)
    );
    for (n, (value, color)) in shown.iter().zip(COLORS).enumerate() {
        let line = TOP + HEIGHT + 50.0 + n as f64 * 18.0;
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{:.0}\" width=\"11\" height=\"11\" fill=\"{color}\" fill-opacity=\"0.75\"/>\
             <text x=\"{:.0}\" y=\"{line:.0}\">{}</text>",
            line - 10.0,
            LEFT + 18.0,
            escaped(&describe(value))
        );
    }
    out.push_str("</svg>\n");
    out
}

/// Draws each piece at its offset over its live ranges. The largest pieces at the peak have colors.
fn draw_pieces(
    out: &mut String,
    plot: &MemoryPlot,
    x: &impl Fn(usize) -> f64,
    y: &impl Fn(f64) -> f64,
    all: f64,
) {
    let mut boxes = 0;
    for (n, piece) in plot.pieces.iter().enumerate() {
        let color = plot.largest.iter().position(|&l| l == n).and_then(|at| COLORS.get(at));
        for &(from, to) in &piece.live {
            boxes += 1;
            if boxes > MAX_BARS {
                return;
            }
            let _ = writeln!(
                out,
                "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.2}\" fill=\"{}\" \
                 fill-opacity=\"0.75\" stroke=\"#ffffff\" stroke-width=\"0.5\"><title>{}</title></rect>",
                x(from),
                y((u128::from(piece.offset) + u128::from(piece.bytes)) as f64),
                x(to + 1) - x(from),
                piece.bytes as f64 / all * HEIGHT,
                color.unwrap_or(&"#b8c4d6"),
                escaped(&describe(piece))
            );
        }
    }
}

fn describe(piece: &Piece) -> String {
    let Piece { name, shape, bytes, place, .. } = piece;
    format!("{}  {place}  {name}  {shape}  live {}", human_bytes(*bytes), spans(&piece.live))
}

/// Formats ranges of steps for display: `3 to 7, 12`.
pub fn spans(live: &[(usize, usize)]) -> String {
    const MAX_SHOWN_RANGES: usize = 4;
    let one =
        |&(from, to): &(usize, usize)| if from == to { from.to_string() } else { format!("{from} to {to}") };
    let mut all: Vec<String> = live.iter().take(MAX_SHOWN_RANGES).map(one).collect();
    all.extend((live.len() > MAX_SHOWN_RANGES).then(|| format!("… {} more", live.len() - MAX_SHOWN_RANGES)));
    all.join(", ")
}
