//! Tests of the pictures of when devices wait.

use hlo_graph::{Timeline, WaitSpan, timeline_svg, timeline_trace};
use serde_json::json;
use std::time::Duration;

fn two_devices() -> Timeline {
    let ms = Duration::from_millis;
    let wait = |device, name: &str, start, time| WaitSpan {
        device,
        name: name.to_string(),
        start: ms(start),
        time: ms(time),
    };
    Timeline {
        title: "m".to_string(),
        runs: vec![(ms(0), ms(10)), (ms(10), ms(20))],
        devices: vec![0, 1],
        waits: vec![wait(0, "a", 2, 1), wait(1, "b\"", 4, 5), wait(0, "a", 12, 1)],
        left_out: 3,
    }
}

#[test]
fn bars_lie_where_and_when_a_device_waits() {
    let svg = timeline_svg(&two_devices());
    // `b` is the longest wait. It has the first color, and is on the second lane, from one fifth of the
    // time for a quarter of it.
    let bar = "x=\"310.00\" y=\"92.0\" width=\"275.00\" height=\"20\" fill=\"#c0504d\"";
    assert!(svg.contains(bar), "{svg}");
    assert_eq!(svg.matches("#8fb58f").count(), 5, "two runs on two devices, and the legend");
    assert!(svg.contains("waits in a, 2.00 ms over all devices"));
    assert!(svg.contains("3 waits are not shown"));
    assert!(timeline_svg(&Timeline::default()).ends_with("</svg>\n"));
}

#[test]
fn traces_are_events_in_microseconds() {
    let trace = timeline_trace(&two_devices());
    let value: serde_json::Value = serde_json::from_str(&trace).unwrap();
    let events = value["traceEvents"].as_array().unwrap();
    let wait = events.iter().find(|e| e["name"] == "b\"").unwrap();
    assert_eq!((&wait["tid"], &wait["ts"], &wait["dur"]), (&json!(1), &json!(4000.0), &json!(5000.0)));
    assert_eq!(events.iter().filter(|e| e["name"] == "run").count(), 4);
}
