//! The statistics of a server: collection and display.

use crate::shared::Shared;
use hlo_ir::human_bytes;
use hlo_remote::proto::{ClientStatistics, StatisticsReply};
use hlo_tools_common::table::{Align, Table};
use serde_json::json;
use std::time::Duration;

/// Page size in bytes that Linux uses in `/proc/self/statm`.
const PAGE_BYTES: u64 = 4096;

fn number(n: usize) -> u64 {
    n as u64
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Returns the resident memory of this process in bytes, or 0 if it is unknown.
fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok());
    pages.unwrap_or(0).saturating_mul(PAGE_BYTES)
}

/// Collects the statistics of a server.
pub fn collect(shared: &Shared) -> StatisticsReply {
    let counters = &shared.counters;
    let sessions = shared.sessions();
    let each: Vec<ClientStatistics> = sessions
        .iter()
        .map(|session| {
            let (buffers, programs) = session.counts();
            ClientStatistics {
                name: session.name.clone(),
                buffers: number(buffers),
                bytes: session.account.used(),
                programs: number(programs),
                runs: session.runs.get(),
                run_micros: session.run_time.get(),
                connected_millis: millis(session.since.elapsed()),
            }
        })
        .collect();
    let (running, waiting, waited) = shared.runner.queue.load();
    let (compiling, before, waited_to_compile) = shared.compiler.queue.load();
    StatisticsReply {
        version: env!("CARGO_PKG_VERSION").to_string(),
        uptime_millis: millis(shared.since.elapsed()),
        resident_bytes: resident_bytes(),
        clients: number(each.len()),
        clients_ever: counters.clients.get(),
        connections: number(shared.connections.len()),
        buffers: each.iter().map(|c| c.buffers).sum(),
        bytes: shared.account.used(),
        bytes_limit: shared.account.limit(),
        programs: each.iter().map(|c| c.programs).sum(),
        programs_kept: number(shared.cache.len()),
        cache_hits: counters.cache_hits.get(),
        compilations: counters.compilations.get(),
        compilation_failures: counters.compilation_failures.get(),
        compile_micros: counters.compile_time.get(),
        runs: counters.runs.get(),
        runs_failed: counters.runs_failed.get(),
        runs_stopped: counters.runs_stopped.get(),
        run_micros: counters.run_time.get(),
        wait_micros: u64::try_from((waited + waited_to_compile).as_micros()).unwrap_or(u64::MAX),
        running: number(running + compiling),
        waiting: number(waiting + before),
        bytes_received: counters.bytes_received.get(),
        bytes_sent: counters.bytes_sent.get(),
        refused: counters.refused.get() + shared.connections.evicted(),
        defects: counters.defects.get(),
        each,
    }
}

fn time(micros: u64) -> String {
    format!("{:.3?}", Duration::from_micros(micros))
}

/// Formats statistics as a table for people: the server, then each client.
pub fn table(s: &StatisticsReply) -> String {
    let mut server = Table::new(&[("server", Align::Left), ("", Align::Right)]);
    let rows = [
        ("version", s.version.clone()),
        ("up for", time(s.uptime_millis.saturating_mul(1000))),
        ("memory of the process", human_bytes(s.resident_bytes)),
        ("memory of clients", human_bytes(s.bytes)),
        ("the most of that", human_bytes(s.bytes_limit)),
        ("clients", s.clients.to_string()),
        ("clients ever", s.clients_ever.to_string()),
        ("connections", s.connections.to_string()),
        ("buffers", s.buffers.to_string()),
        ("programs of clients", s.programs.to_string()),
        ("programs kept", s.programs_kept.to_string()),
        ("programs found", s.cache_hits.to_string()),
        ("compilations", s.compilations.to_string()),
        ("compilations that failed", s.compilation_failures.to_string()),
        ("time of compilations", time(s.compile_micros)),
        ("runs", s.runs.to_string()),
        ("runs that failed", s.runs_failed.to_string()),
        ("runs that were stopped", s.runs_stopped.to_string()),
        ("time of runs", time(s.run_micros)),
        ("time that work waited", time(s.wait_micros)),
        ("running now", s.running.to_string()),
        ("waiting now", s.waiting.to_string()),
        ("received", human_bytes(s.bytes_received)),
        ("sent", human_bytes(s.bytes_sent)),
        ("calls refused", s.refused.to_string()),
        ("defects", s.defects.to_string()),
    ];
    for (name, value) in rows {
        server.row([name.to_string(), value]);
    }
    if s.each.is_empty() {
        return server.text();
    }
    let right = |name| (name, Align::Right);
    let columns = ["connected", "buffers", "programs", "memory", "runs", "run time"].map(right);
    let mut clients = Table::new(&[&[("client", Align::Left)][..], &columns].concat());
    for c in &s.each {
        clients.row([
            c.name.clone(),
            time(c.connected_millis.saturating_mul(1000)),
            c.buffers.to_string(),
            c.programs.to_string(),
            human_bytes(c.bytes),
            c.runs.to_string(),
            time(c.run_micros),
        ]);
    }
    format!("{}\n{}", server.text(), clients.text())
}

/// Formats statistics as JSON for programs. The names are those of the protocol's `StatisticsReply`.
pub fn json(s: &StatisticsReply) -> String {
    let client = |c: &ClientStatistics| {
        json!({
            "name": c.name, "buffers": c.buffers, "bytes": c.bytes, "programs": c.programs, "runs": c.runs,
            "run_micros": c.run_micros, "connected_millis": c.connected_millis,
        })
    };
    let each: Vec<_> = s.each.iter().map(client).collect();
    let object = json!({
        "version": s.version, "uptime_millis": s.uptime_millis, "resident_bytes": s.resident_bytes,
        "clients": s.clients, "clients_ever": s.clients_ever, "connections": s.connections, "buffers": s.buffers,
        "bytes": s.bytes, "bytes_limit": s.bytes_limit, "programs": s.programs, "programs_kept": s.programs_kept,
        "cache_hits": s.cache_hits, "compilations": s.compilations,
        "compilation_failures": s.compilation_failures, "compile_micros": s.compile_micros, "runs": s.runs,
        "runs_failed": s.runs_failed, "runs_stopped": s.runs_stopped, "run_micros": s.run_micros,
        "wait_micros": s.wait_micros, "running": s.running, "waiting": s.waiting,
        "bytes_received": s.bytes_received, "bytes_sent": s.bytes_sent, "refused": s.refused,
        "defects": s.defects, "each": each,
    });
    format!("{object}\n")
}
