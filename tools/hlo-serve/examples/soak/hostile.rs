//! Clients that try to stop the server for all others, or to use more memory than they may.

use crate::report::Report;
use crate::work::Random;
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::{CompileOptions, Error, Passes, Refusal, RemoteClient};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Compiles modules with pipelines that never end, and uploads arrays of many dimensions.
pub fn compile_endlessly(address: &str, report: &Report, over: &AtomicBool, mut random: Random) {
    while !over.load(Ordering::Relaxed) {
        let Ok(client) = RemoteClient::connect(address) else {
            std::thread::sleep(Duration::from_millis(100));
            continue;
        };
        let text = format!(
            "HloModule m{}
ENTRY e {{
  x = f32[64] parameter(0)
  a = f32[64] negate(x)
  b = f32[64] exponential(a)
  ROOT c = f32[64] add(b, a)
}}",
            random.next()
        );
        let pipeline = "fix{limit=1024}(".repeat(20) + "fusion,defuser" + &")".repeat(20);
        let options = CompileOptions { passes: Passes::Pipeline(pipeline), ..CompileOptions::default() };
        match client.compile_text(&text, &options) {
            Err(Error::Refused { kind: Refusal::Time | Refusal::Limit, .. }) => {
                report.count("compilations without end, ended");
            }
            Err(Error::Disconnected { .. }) if report.may_disconnect() => {}
            other => {
                report.check(report.may_disconnect(), || format!("an endless pipeline: {:?}", other.err()))
            }
        }
        let shape = Shape::array(ElementType::F32, vec![1; 5000]);
        let value = Literal::try_zeros(&shape).map(|value| client.buffer_from_literal(&value, &shape));
        match value {
            Some(Err(Error::Refused { kind: Refusal::Invalid, .. })) => {
                report.count("arrays of too many dimensions, refused");
            }
            Some(Err(_)) if report.may_disconnect() => {}
            other => report.check(false, || format!("an array of 5000 dimensions: {other:?}")),
        }
    }
}

/// Opens silent connections.
pub fn hold_connections(address: &str, over: &AtomicBool, mut random: Random) {
    while !over.load(Ordering::Relaxed) {
        let held: Vec<_> = (0..100).map(|_| TcpStream::connect(address)).collect();
        std::thread::sleep(Duration::from_millis(random.below(1000)));
        drop(held);
    }
}
