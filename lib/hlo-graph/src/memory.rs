//! The memory of a computation over its schedule, as a plot in letters and as a picture.

use crate::svg::escaped;
use hlo_ir::human_bytes;
use std::fmt::Write;

/// What is plotted.
#[derive(Clone, Debug, Default)]
pub struct MemoryPlot {
    /// The computation's name.
    pub title: String,
    /// For each instruction, in the order in which they run, its name and the bytes that are live while it runs.
    pub live: Vec<(String, u64)>,
    /// The largest values at the peak, the largest first.
    pub largest: Vec<Value>,
}

/// A value in memory.
#[derive(Clone, Debug)]
pub struct Value {
    /// The instruction that makes it.
    pub name: String,
    /// Its shape.
    pub shape: String,
    /// Its size.
    pub bytes: u64,
    /// From which to which instruction it is live.
    pub from: usize,
    /// The last instruction, included.
    pub to: usize,
}

impl MemoryPlot {
    /// The most bytes that are live at a time.
    pub fn peak(&self) -> u64 {
        self.live.iter().map(|(_, n)| *n).max().unwrap_or(0)
    }

    /// The first instruction at which that many are.
    fn peak_at(&self) -> Option<usize> {
        let peak = self.peak();
        self.live.iter().position(|(_, n)| *n == peak)
    }
}

/// The columns and rows of the plot in letters.
const COLUMNS: usize = 80;
const ROWS: usize = 12;
/// Letters that fill from nothing to all of their height.
const EIGHTHS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// The plot for a terminal: the instructions from left to right, in each column the most bytes of those that it stands
/// for.
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
    // Few instructions get broader columns.
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
        let bars: String = heights.iter().map(|h| EIGHTHS[h.saturating_sub(row * 8).min(8)]).collect();
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
/// The most bars with a text of their own.
const MAX_BARS: usize = 20_000;

/// The colours of the largest values.
const COLORS: &[&str] =
    &["#4a77bd", "#c77a4a", "#6fa56f", "#9a68ad", "#c06a93", "#4f9c98", "#b8a94a", "#b85c5c"];

/// The plot as a picture: what is live over the schedule, with the largest values of the peak inside of it, and a list of
/// these. It needs nothing from elsewhere; a browser shows each instruction's name under the pointer.
pub fn memory_svg(plot: &MemoryPlot) -> String {
    let shown = &plot.largest[..plot.largest.len().min(COLORS.len())];
    let height = TOP + HEIGHT + 60.0 + shown.len() as f64 * 18.0;
    let full = LEFT + WIDTH + 40.0;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {full:.0} {height:.0}\" width=\"{full:.0}\" \
         height=\"{height:.0}\" font-family=\"'DejaVu Sans Mono', Menlo, Consolas, monospace\" font-size=\"11\">\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n<text x=\"20\" y=\"26\" font-size=\"15\" \
         font-weight=\"bold\">{}: live bytes over the schedule</text>\n",
        escaped(&plot.title)
    );
    let (count, peak) = (plot.live.len().max(1) as f64, plot.peak().max(1) as f64);
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
    let mut path = format!("M{LEFT:.1},{:.1}", y(0.0));
    for (n, (_, bytes)) in plot.live.iter().enumerate() {
        let _ = write!(path, "L{:.1},{2:.1}L{:.1},{2:.1}", x(n), x(n + 1), y(*bytes as f64));
    }
    let _ = writeln!(
        out,
        "<path d=\"{path}L{:.1},{:.1}z\" fill=\"#dbe7fb\" stroke=\"#4a77bd\"/>",
        LEFT + WIDTH,
        y(0.0)
    );
    for Block { value, from, to, base } in stacked(shown) {
        let Some((value, color)) = shown.get(value).zip(COLORS.get(value)) else { continue };
        let _ = writeln!(
            out,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" fill=\"{color}\" fill-opacity=\"0.75\">\
             <title>{}</title></rect>",
            x(from),
            y((base + u128::from(value.bytes)) as f64),
            x(to + 1) - x(from),
            value.bytes as f64 / peak * HEIGHT,
            escaped(&describe(value))
        );
    }
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
            "<rect x=\"{:.1}\" y=\"{TOP}\" width=\"{:.2}\" height=\"{HEIGHT}\" fill=\"#000\" fill-opacity=\"0\">\
             <title>{n} {}: {}</title></rect>",
            x(n),
            WIDTH / count,
            escaped(name),
            human_bytes(*bytes)
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{LEFT}\" y=\"{0:.0}\" fill=\"#57606a\">0</text><text x=\"{1:.0}\" y=\"{0:.0}\" \
         text-anchor=\"end\" fill=\"#57606a\">instruction {2}</text>",
        TOP + HEIGHT + 16.0,
        LEFT + WIDTH,
        plot.live.len().saturating_sub(1)
    );
    for (n, (value, color)) in shown.iter().zip(COLORS).enumerate() {
        let line = TOP + HEIGHT + 40.0 + n as f64 * 18.0;
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

/// A value where it stands on the same ones all the time.
#[derive(Debug, PartialEq, Eq)]
struct Block {
    /// Its place in the list.
    value: usize,
    /// The first and the last instruction.
    from: usize,
    to: usize,
    /// The bytes below it.
    base: u128,
}

/// Stacks values: at each instruction those that are live there stand on each other, the ones that came first below. So
/// none stands above what is live.
fn stacked(values: &[Value]) -> Vec<Block> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by_key(|&n| (values[n].from, std::cmp::Reverse(values[n].to)));
    let mut ends: Vec<usize> = values.iter().flat_map(|v| [v.from, v.to + 1]).collect();
    ends.sort_unstable();
    ends.dedup();
    let mut out: Vec<Block> = Vec::new();
    let mut last: Vec<Option<usize>> = vec![None; values.len()];
    for piece in ends.windows(2) {
        let mut base = 0u128;
        for &n in order.iter().filter(|&&n| values[n].from <= piece[0] && piece[0] <= values[n].to) {
            match last[n].and_then(|at| out.get_mut(at)).filter(|block| block.base == base) {
                Some(block) => block.to = piece[1] - 1,
                None => {
                    last[n] = Some(out.len());
                    out.push(Block { value: n, from: piece[0], to: piece[1] - 1, base });
                }
            }
            base += u128::from(values[n].bytes);
        }
    }
    out
}

fn describe(value: &Value) -> String {
    let Value { name, shape, bytes, from, to } = value;
    format!("{}  {name}  {shape}  live from {from} to {to}", human_bytes(*bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_on_those_that_are_live_with_them() {
        let value = |bytes, from, to| Value { name: String::new(), shape: String::new(), bytes, from, to };
        let block = |value, from, to, base| Block { value, from, to, base };
        // The peak is at 4: the first value comes last, and the one that is there longest stands below.
        let blocks = stacked(&[value(7, 4, 6), value(5, 1, 9), value(3, 3, 4)]);
        let expected = [block(1, 1, 9, 0), block(2, 3, 4, 5), block(0, 4, 4, 8), block(0, 5, 6, 5)];
        assert_eq!(blocks, expected);
        assert!(stacked(&[]).is_empty());
    }

    #[test]
    fn the_plot_has_the_height_of_its_bytes() {
        let live = [("a", 100), ("b", 50), ("c", 0)].map(|(n, b)| (n.to_string(), b)).to_vec();
        let text = memory_text(&MemoryPlot { live, ..MemoryPlot::default() });
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), ROWS + 2);
        assert_eq!(lines[0], "   100 bytes │████████");
        assert_eq!(lines[ROWS / 2], "    50 bytes │████████████████");
        assert!(memory_text(&MemoryPlot::default()).is_empty());
        assert!(memory_svg(&MemoryPlot::default()).ends_with("</svg>\n"));
    }
}
