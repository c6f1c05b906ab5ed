//! A timeline of several devices: a picture, and events in the format of tracing tools.

use crate::svg::{escaped, plot_opening};
use serde_json::json;
use std::fmt::Write;
use std::time::Duration;

/// The activity of devices, with times measured from a common start.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The name of the program.
    pub title: String,
    /// The start and the end of each run, the same for all devices.
    pub runs: Vec<(Duration, Duration)>,
    /// The numbers of the devices. Each device has one lane.
    pub devices: Vec<usize>,
    /// The times within the runs at which a device waited.
    pub waits: Vec<WaitSpan>,
    /// The number of waits that were not recorded.
    pub left_out: u64,
}

/// A time span in which a device waited.
#[derive(Clone, Debug)]
pub struct WaitSpan {
    /// The device.
    pub device: usize,
    /// The name of the operation for which it waited.
    pub name: String,
    /// The start of the wait.
    pub start: Duration,
    /// The duration of the wait.
    pub time: Duration,
}

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 90.0;
const TOP: f64 = 62.0;
const LANE_HEIGHT: f64 = 30.0;
const BAR_HEIGHT: f64 = 20.0;
/// The color of a device that is not waiting.
const BUSY_COLOR: &str = "#8fb58f";
/// The colors of the longest waits.
const COLORS: &[&str] = &["#c0504d", "#c77a4a", "#9a68ad", "#c06a93", "#4a77bd", "#4f9c98", "#b8a94a"];
const OTHER_WAITS_COLOR: &str = "#8a929c";
/// The maximum number of bars that are drawn.
const MAX_BARS: usize = 20_000;

/// Returns a time in a unit that needs few digits.
fn format_time(time: Duration) -> String {
    let seconds = time.as_secs_f64();
    match seconds {
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 1e-3 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.1} µs", s * 1e6),
    }
}

impl Timeline {
    fn end(&self) -> Duration {
        self.runs.iter().map(|r| r.1).max().unwrap_or_default()
    }

    /// Returns the names of the waits with their total times, the longest first.
    fn totals(&self) -> Vec<(&str, Duration)> {
        let mut totals: Vec<(&str, Duration)> = Vec::new();
        for span in &self.waits {
            match totals.iter_mut().find(|(name, _)| *name == span.name) {
                Some((_, time)) => *time += span.time,
                None => totals.push((&span.name, span.time)),
            }
        }
        totals.sort_by_key(|(name, time)| (std::cmp::Reverse(*time), *name));
        totals
    }
}

/// Returns the picture: one lane for each device. A lane is green while the device computes and copies. Waits
/// have a color for each collective. The picture needs no external files; a browser shows the description of
/// a bar under the pointer.
///
/// # Example
/// ```
/// use hlo_graph::{WaitSpan, Timeline, timeline_svg};
/// use std::time::Duration;
///
/// let ms = Duration::from_millis;
/// let wait = WaitSpan { device: 1, name: "`all-reduce` `sum`".into(), start: ms(2), time: ms(5) };
/// let runs = vec![(ms(0), ms(10))];
/// let timeline = Timeline { runs, devices: vec![0, 1], waits: vec![wait], ..Timeline::default() };
/// assert!(timeline_svg(&timeline).contains("<title>device 1 waits 5.00 ms in `all-reduce` `sum`"));
/// ```
pub fn timeline_svg(timeline: &Timeline) -> String {
    let totals = timeline.totals();
    let shown = totals.len().min(COLORS.len());
    let lanes = timeline.devices.len() as f64 * LANE_HEIGHT;
    let legend = TOP + lanes + 44.0;
    let (full, height) = (LEFT + WIDTH + 40.0, legend + (shown + 3) as f64 * 18.0);
    let title = format!("{}: what each device waits for", timeline.title);
    let mut out = plot_opening(full, height, &title);
    draw_axis(&mut out, timeline, lanes);
    let end = timeline.end().as_secs_f64().max(f64::MIN_POSITIVE);
    let x = |time: Duration| LEFT + (time.as_secs_f64() / end).min(1.0) * WIDTH;
    let mut bar = |device: usize, from: Duration, to: Duration, color: &str, title: &str| {
        let Some(lane) = timeline.devices.iter().position(|&d| d == device) else { return };
        // Writing to a string does not fail.
        let _ = writeln!(
            out,
            "<rect x=\"{:.2}\" y=\"{:.1}\" width=\"{:.2}\" height=\"{BAR_HEIGHT}\" fill=\"{color}\"><title>{}</title></rect>",
            x(from),
            TOP + lane as f64 * LANE_HEIGHT,
            (x(to) - x(from)).max(0.3),
            escaped(title)
        );
    };
    // If there are too many runs, draw the first ones.
    let most_runs = MAX_BARS / timeline.devices.len().max(1);
    for &device in &timeline.devices {
        for (n, &(from, to)) in timeline.runs.iter().enumerate().take(most_runs) {
            bar(
                device,
                from,
                to,
                BUSY_COLOR,
                &format!("device {device}, run {n}: {}", format_time(to.saturating_sub(from))),
            );
        }
    }
    let color = |name: &str| {
        let at = totals.iter().position(|(other, _)| *other == name);
        at.and_then(|at| COLORS.get(at)).copied().unwrap_or(OTHER_WAITS_COLOR)
    };
    // If there are too many waits, draw the longest ones.
    let mut waits: Vec<&WaitSpan> = timeline.waits.iter().collect();
    waits.sort_by_key(|span| std::cmp::Reverse(span.time));
    for span in waits.iter().take(MAX_BARS) {
        let WaitSpan { device, name, start, time } = span;
        let title = format!("device {device} waits {} in {name}", format_time(*time));
        bar(*device, *start, *start + *time, color(name), &title);
    }
    let left_out = timeline.left_out + waits.len().saturating_sub(MAX_BARS) as u64;
    draw_legend(&mut out, &totals, legend, left_out);
    out.push_str("</svg>\n");
    out
}

/// Draws the names of the lanes, and lines at fifths of the time.
fn draw_axis(out: &mut String, timeline: &Timeline, lanes: f64) {
    for part in 0..=5u32 {
        let at = LEFT + f64::from(part) / 5.0 * WIDTH;
        let _ = writeln!(
            out,
            "<line x1=\"{at:.1}\" x2=\"{at:.1}\" y1=\"{:.1}\" y2=\"{:.1}\" stroke=\"#e6e8eb\"/>\
             <text x=\"{at:.1}\" y=\"{:.1}\" text-anchor=\"middle\" fill=\"#57606a\">{}</text>",
            TOP - 8.0,
            TOP + lanes,
            TOP - 14.0,
            format_time(timeline.end() * part / 5)
        );
    }
    for (lane, device) in timeline.devices.iter().enumerate() {
        let y = TOP + lane as f64 * LANE_HEIGHT + BAR_HEIGHT * 0.7;
        let x = LEFT - 10.0;
        let _ = writeln!(out, "<text x=\"{x}\" y=\"{y:.1}\" text-anchor=\"end\">device {device}</text>");
    }
}

/// Draws the legend of the colors.
fn draw_legend(out: &mut String, totals: &[(&str, Duration)], top: f64, left_out: u64) {
    let mut lines = vec![(BUSY_COLOR, "computes and copies".to_string())];
    for (n, (name, time)) in totals.iter().enumerate().take(COLORS.len()) {
        lines.push((COLORS[n], format!("waits in {name}, {} over all devices", format_time(*time))));
    }
    if let Some(more) = totals.get(COLORS.len()..).filter(|more| !more.is_empty()) {
        let time = more.iter().map(|(_, time)| time).sum();
        lines.push((
            OTHER_WAITS_COLOR,
            format!("waits in {} others, {} over all devices", more.len(), format_time(time)),
        ));
    }
    if left_out > 0 {
        lines.push(("none", format!("{left_out} waits are not shown")));
    }
    for (n, (color, text)) in lines.iter().enumerate() {
        let y = top + n as f64 * 18.0;
        let _ = writeln!(
            out,
            "<rect x=\"{LEFT}\" y=\"{:.0}\" width=\"11\" height=\"11\" fill=\"{color}\"/>\
             <text x=\"{:.0}\" y=\"{y:.0}\">{}</text>",
            y - 10.0,
            LEFT + 18.0,
            escaped(text)
        );
    }
}

/// Returns the timeline as JSON events that Chrome's tracing and Perfetto read (Trace Event Format: complete
/// events in microseconds, with one thread for each device).
pub fn timeline_trace(timeline: &Timeline) -> String {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let event = |name: &str, category: &str, device: usize, start: Duration, time: Duration| {
        json!({
            "name": name, "cat": category, "ph": "X", "pid": 0, "tid": device,
            "ts": micros(start), "dur": micros(time),
        })
    };
    let mut events = Vec::new();
    for &device in &timeline.devices {
        let name = format!("device {device}");
        events
            .push(json!({"name": "thread_name", "ph": "M", "pid": 0, "tid": device, "args": {"name": name}}));
        let runs = timeline.runs.iter();
        events.extend(runs.map(|&(from, to)| event("run", "run", device, from, to.saturating_sub(from))));
    }
    let waits = timeline.waits.iter();
    events.extend(waits.map(|w| event(&w.name, "wait", w.device, w.start, w.time)));
    format!("{}\n", json!({"displayTimeUnit": "ns", "traceEvents": events}))
}
