//! Clients that run programs and check their results.

use crate::report::Report;
use crate::server::CLIENT_MEMORY;
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::{CompileOptions, Engine, Error, Passes, Refusal, RemoteClient, RunOptions};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A generator of pseudorandom numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n.max(1)
    }
}

/// The sizes of the programs, which clients share.
const SIZES: [usize; 4] = [3, 100, 4096, 300_000];

pub const ENDLESS: &str = "HloModule endless
same { s = s32[] parameter(0) }
always { s = s32[] parameter(0) ROOT p = pred[] constant(true) }
ENTRY e { z = s32[] constant(0) ROOT w = s32[] while(z), condition=always, body=same }";

pub fn endless_options() -> CompileOptions {
    CompileOptions { passes: Passes::Lowering, ..CompileOptions::default() }
}

fn axpy(n: usize) -> String {
    format!(
        "HloModule axpy
ENTRY main {{
  a = f32[] parameter(0)
  x = f32[{n}] parameter(1)
  y = f32[{n}] parameter(2)
  b = f32[{n}] broadcast(a), dimensions={{}}
  p = f32[{n}] multiply(b, x)
  ROOT s = f32[{n}] add(p, y)
}}"
    )
}

fn vector(values: &[f32]) -> Literal {
    Literal::from_elements(Shape::array(ElementType::F32, [values.len() as i64]), values)
}

/// Opens sessions with some calls each, until the test is over.
pub fn client(address: &str, report: &Report, over: &AtomicBool, mut random: Random) {
    while !over.load(Ordering::Relaxed) {
        match session(address, report, over, &mut random) {
            Ok(()) => report.count("sessions"),
            Err(Error::Disconnected { .. }) if report.may_disconnect() => {
                report.count("sessions that ended with their server");
                std::thread::sleep(Duration::from_millis(100));
            }
            Err(error) => report.check(false, || format!("unexpected: {error:?}")),
        }
    }
}

fn session(address: &str, report: &Report, over: &AtomicBool, random: &mut Random) -> Result<(), Error> {
    let client = RemoteClient::connect(address)?;
    for _ in 0..random.below(40) + 1 {
        if over.load(Ordering::Relaxed) {
            break;
        }
        match random.below(20) {
            0 => wrong_module(&client, report)?,
            1 => too_much(&client, report)?,
            2 => too_long(&client, report, random)?,
            3 => stopped(&client, report, random)?,
            4 => round_trip(&client, report, random)?,
            5 => interpreted(&client, report, random)?,
            _ => small(&client, report, random)?,
        }
    }
    Ok(())
}

fn small(client: &RemoteClient, report: &Report, random: &mut Random) -> Result<(), Error> {
    let n = SIZES[random.below(SIZES.len() as u64) as usize];
    let program = client.compile_text(&axpy(n), &CompileOptions::default())?;
    let (a, c) = (random.below(100) as f32, random.below(100) as f32);
    let x: Vec<f32> = (0..n).map(|i| (i % 1000) as f32).collect();
    let values = [Literal::scalar(ElementType::F32, a), vector(&x), vector(&vec![c; n])];
    let is_right = |value: &Literal, times: f32| {
        value.elements::<f32>().iter().zip(&x).all(|(r, x)| *r == times * a * x + c)
    };
    let began = Instant::now();
    let result = program.run(&values)?;
    if n == SIZES[0] {
        report.latency(began.elapsed());
    }
    report.check(is_right(&result, 1.0), || format!("a run on {n} elements is wrong"));
    report.count("runs on values, right");
    // The same on buffers that stay on the server: a*x + (a*x + c).
    let buffers = program.buffers(&values)?;
    let first = program.execute(&buffers.iter().collect::<Vec<_>>(), RunOptions::default())?;
    let second = program.execute(&[&buffers[0], &buffers[1], &first[0]], RunOptions::default())?;
    report.check(is_right(&second[0].to_literal()?, 2.0), || format!("a chain on {n} elements is wrong"));
    report.count("chains of runs on buffers, right");
    Ok(())
}

fn interpreted(client: &RemoteClient, report: &Report, random: &mut Random) -> Result<(), Error> {
    let options = CompileOptions { engine: Some(Engine::Interpreted), ..CompileOptions::default() };
    let program = client.compile_text(&axpy(100), &options)?;
    let a = random.below(100) as f32;
    let values = [Literal::scalar(ElementType::F32, a), vector(&[2.0; 100]), vector(&[1.0; 100])];
    let result = program.run(&values)?;
    report.check(result.elements::<f32>() == [2.0 * a + 1.0; 100], || {
        "an interpreted run is wrong".to_string()
    });
    report.count("interpreted runs, right");
    Ok(())
}

fn round_trip(client: &RemoteClient, report: &Report, random: &mut Random) -> Result<(), Error> {
    let n = 1 + random.below(2 << 20) as usize;
    let first = random.below(1 << 20) as f32;
    let value = vector(&(0..n).map(|i| first + (i % 4096) as f32).collect::<Vec<_>>());
    let back = client.buffer_from_literal(&value, value.shape())?.to_literal()?;
    report.check(back == value, || format!("{n} elements came back changed"));
    report.count("arrays there and back, the same");
    Ok(())
}

fn wrong_module(client: &RemoteClient, report: &Report) -> Result<(), Error> {
    let text = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT y = f32[3] ad(x, x)\n}";
    match client.compile_text(text, &CompileOptions::default()) {
        Err(Error::Diags(diags)) => {
            let place = diags[0].primary().map(|l| l.span.range()).unwrap_or_default();
            report.check(text.get(place) == Some("ad"), || format!("a wrong place: {diags:?}"));
            report.count("wrong modules, told where");
            Ok(())
        }
        Err(other) => Err(other),
        Ok(_) => {
            report.check(false, || "a wrong module was compiled".to_string());
            Ok(())
        }
    }
}

fn too_much(client: &RemoteClient, report: &Report) -> Result<(), Error> {
    let n = CLIENT_MEMORY as usize / 4 + 1;
    let value =
        Literal::try_zeros(&Shape::array(ElementType::F32, [n as i64])).unwrap_or_else(Literal::token);
    match client.buffer_from_literal(&value, value.shape()) {
        Err(Error::Refused { kind: Refusal::Limit, .. }) => report.count("arrays beyond the limit, refused"),
        Err(other) => return Err(other),
        Ok(_) => report.check(false, || "more memory was given than there is".to_string()),
    }
    Ok(())
}

fn too_long(client: &RemoteClient, report: &Report, random: &mut Random) -> Result<(), Error> {
    let program = client.compile_text(ENDLESS, &endless_options())?;
    let limit = Duration::from_millis(1 + random.below(50));
    match program.execute(&[], RunOptions { time_limit: Some(limit), ..RunOptions::default() }) {
        Err(Error::TimedOut { after, .. }) if after == limit => {
            report.count("endless runs, ended by their limit")
        }
        Err(other) => return Err(other),
        Ok(_) => report.check(false, || "an endless run has ended".to_string()),
    }
    Ok(())
}

fn stopped(client: &RemoteClient, report: &Report, random: &mut Random) -> Result<(), Error> {
    let program = client.compile_text(ENDLESS, &endless_options())?;
    let run = program.start(&[], RunOptions::default())?;
    std::thread::sleep(Duration::from_millis(random.below(30)));
    run.stop();
    match run.wait() {
        Err(Error::Stopped { .. }) => report.count("endless runs, stopped"),
        // The server is busy, so its time limit came first.
        Err(Error::TimedOut { .. }) => report.check(false, || "a run was not stopped in time".to_string()),
        Err(other) => return Err(other),
        Ok(_) => report.check(false, || "an endless run has ended".to_string()),
    }
    Ok(())
}
