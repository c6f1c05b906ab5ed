//! Measures the overhead of running a program on a server: a small call, and 64 MiB in each direction, in
//! this process, over a Unix socket, and over the loopback.
//!
//!
//! `cargo run --release -p hlo-serve --example latency`

use hlo_client::{Buffer, Client, CompileOptions, RunOptions};
use hlo_ir::{ElementType, Literal, Shape};
use hlo_remote::{Address, RemoteClient};
use hlo_serve::{Config, Server};
use hlo_tools_common::table::{Align, Table};
use std::time::{Duration, Instant};

const AXPY: &str = "HloModule axpy
ENTRY main {
  a = f32[] parameter(0)
  x = f32[3] parameter(1)
  y = f32[3] parameter(2)
  b = f32[3] broadcast(a), dimensions={}
  p = f32[3] multiply(b, x)
  ROOT s = f32[3] add(p, y)
}";

/// Number of elements of an array of 64 MiB.
const LARGE_ARRAY_ELEMENTS: usize = 16 << 20;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Returns the median time of a call.
fn median<T>(times: usize, mut call: impl FnMut() -> Outcome<T>) -> Outcome<Duration> {
    drop(call()?);
    let mut all = Vec::with_capacity(times);
    for _ in 0..times {
        let began = Instant::now();
        let outcome = call()?;
        all.push(began.elapsed());
        drop(outcome);
    }
    all.sort_unstable();
    Ok(all[all.len() / 2])
}

/// The times of a small call on values, of a small call on buffers, of sending 64 MiB, of receiving 64 MiB,
/// and of a run on them.
type Times = [Duration; 5];

fn arguments() -> [Literal; 3] {
    let vector = |v: &[f32]| Literal::from_elements(Shape::array(ElementType::F32, [3]), v);
    [Literal::scalar(ElementType::F32, 2f32), vector(&[1., 2., 3.]), vector(&[0.5; 3])]
}

fn large() -> (Literal, String) {
    let values: Vec<f32> = (0..LARGE_ARRAY_ELEMENTS).map(|i| i as f32).collect();
    let value =
        Literal::from_elements(Shape::array(ElementType::F32, [LARGE_ARRAY_ELEMENTS as i64]), &values);
    let text = format!(
        "HloModule m ENTRY e {{ x = f32[{LARGE_ARRAY_ELEMENTS}] parameter(0) ROOT y = f32[{LARGE_ARRAY_ELEMENTS}] negate(x) }}"
    );
    (value, text)
}

fn local() -> Outcome<Times> {
    let options = CompileOptions { threads: 1, ..CompileOptions::default() };
    let program = Client::local().compile_text(AXPY, &options)?;
    let values = arguments();
    let small = median(2000, || Ok(program.run(&values)?))?;
    let buffers = program.buffers(&values)?;
    let buffers: Vec<&Buffer> = buffers.iter().collect();
    let on_buffers = median(2000, || Ok(program.execute(&buffers, RunOptions::default())?))?;
    let (value, text) = large();
    let negate = Client::local().compile_text(&text, &options)?;
    // A copy, to compare with a transfer. Otherwise the buffer would share the memory of the value.
    let there = median(9, || {
        let mut copy = Buffer::zeros(value.shape())?;
        copy.bytes_mut().ok_or("shared")?.copy_from_slice(value.bytes());
        Ok(())
    })?;
    let x = Buffer::from_literal(&value, value.shape())?;
    let back = median(9, || {
        Ok(Literal::from_bytes(value.shape().clone(), hlo_ir::AlignedBytes::from_slice(x.bytes()?)))
    })?;
    let run = median(9, || Ok(negate.execute(&[&x], RunOptions::default())?))?;
    Ok([small, on_buffers, there, back, run])
}

fn remote(address: Address) -> Outcome<Times> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server = runtime.block_on(Server::bind(Config::new(address))).map_err(|e| format!("{e:?}"))?;
    let (address, stop) = (server.address().to_string(), server.stopper());
    let serving = runtime.spawn(server.serve());
    let times = {
        let client = RemoteClient::connect(&address)?;
        let program = client.compile_text(AXPY, &CompileOptions::default())?;
        let values = arguments();
        let small = median(2000, || Ok(program.run(&values)?))?;
        let buffers = program.buffers(&values)?;
        let buffers: Vec<_> = buffers.iter().collect();
        let on_buffers = median(2000, || Ok(program.execute(&buffers, RunOptions::default())?))?;
        let (value, text) = large();
        let negate = client.compile_text(&text, &CompileOptions::default())?;
        let there = median(9, || Ok(client.buffer_from_literal(&value, value.shape())?))?;
        let x = client.buffer_from_literal(&value, value.shape())?;
        let back = median(9, || Ok(x.to_literal()?))?;
        let run = median(9, || Ok(negate.execute(&[&x], RunOptions::default())?))?;
        [small, on_buffers, there, back, run]
    };
    stop.stop();
    runtime.block_on(serving)?.map_err(|e| format!("{e:?}"))?;
    Ok(times)
}

fn main() -> Outcome<()> {
    let socket = std::env::temp_dir().join(format!("hlo-latency-{}.sock", std::process::id()));
    let all = [
        ("here", local()?),
        ("Unix socket", remote(Address::Unix(socket))?),
        ("loopback", remote(Address::Tcp { host: "127.0.0.1".into(), port: 0 })?),
    ];
    let columns = [
        ("medians", Align::Left),
        ("small call, values", Align::Right),
        ("small call, buffers", Align::Right),
        ("64 MiB there", Align::Right),
        ("64 MiB back", Align::Right),
        ("64 MiB negated", Align::Right),
    ];
    let mut table = Table::new(&columns);
    for (name, times) in &all {
        let rate = |t: Duration| format!("{:.1?} ({:.2} GiB/s)", t, 0.0625 / t.as_secs_f64());
        let [small, on_buffers, there, back, run] = *times;
        table.row([
            name.to_string(),
            format!("{small:.1?}"),
            format!("{on_buffers:.1?}"),
            rate(there),
            rate(back),
            format!("{run:.1?}"),
        ]);
    }
    print!("{}", table.text());
    Ok(())
}
