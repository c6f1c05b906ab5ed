//! Two clients of one server. They share compiled programs, but not arrays. When a client disconnects, the
//! server frees its arrays.
//!
//! ```text
//! $ cargo run -p hlo-serve --example two_clients
//! listening at unix:/tmp/hlo-two-clients.sock
//! Ada compiles, 3 steps:    1 -> 1.5 -> 1.4167 -> 1.4142
//! Bob finds the program:    3 -> 1.8333 -> 1.4621 -> 1.415
//! client     buffers  programs  runs
//! Ada              4         1     3
//! Bob              4         1     3
//! Ada goes:  the server has 4 buffers of 1 client
//! ```

use hlo_ir::{ElementType, Literal};
use hlo_remote::{
    Address, CompileOptions, ConnectOptions, Error, RemoteBuffer, RemoteClient, RemoteExecutable, RunOptions,
};
use hlo_serve::{Config, Server};
use std::time::Duration;

/// A step of Newton's method for the square root of 2.
const STEP: &str = "HloModule step
ENTRY main {
  x = f32[] parameter(0)
  two = f32[] constant(2)
  q = f32[] divide(two, x)
  s = f32[] add(x, q)
  ROOT next = f32[] divide(s, two)
}";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let address = Address::Unix(std::env::temp_dir().join("hlo-two-clients.sock"));
    // The server runs in this process. Run `hlo-serve unix:/tmp/hlo-two-clients.sock` for a separate one.
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let server =
        runtime.block_on(Server::bind(Config::new(address.clone()))).map_err(|e| format!("{e:?}"))?;
    println!("listening at {}", server.address());
    let stop = server.stopper();
    let serving = runtime.spawn(server.serve());

    let connect = |name: &str| {
        let options = ConnectOptions { name: name.to_string(), ..ConnectOptions::default() };
        RemoteClient::connect_with(address.clone(), options)
    };
    let (ada, bob) = (connect("Ada")?, connect("Bob")?);
    let (steps_of_ada, held_by_ada) = steps(&ada, 1.0)?;
    println!("Ada compiles, 3 steps:    {steps_of_ada}");
    let (steps_of_bob, held_by_bob) = steps(&bob, 3.0)?;
    println!("Bob finds the program:    {steps_of_bob}");

    println!("client     buffers  programs  runs");
    for client in ada.statistics()?.each {
        println!("{:<10} {:>7} {:>9} {:>5}", client.name, client.buffers, client.programs, client.runs);
    }
    drop((ada, held_by_ada));
    while bob.statistics()?.clients > 1 {
        std::thread::sleep(Duration::from_millis(1));
    }
    println!("Ada goes:  the server has {} buffers of 1 client", bob.statistics()?.buffers);
    drop((bob, held_by_bob));

    stop.stop();
    runtime.block_on(serving)?.map_err(|e| format!("{e:?}"))?;
    Ok(())
}

/// The program and the buffers that a client holds on the server.
type ServerObjects = (RemoteExecutable, Vec<RemoteBuffer>);

/// Executes three steps. Each array stays on the server and is the argument of the next step.
fn steps(client: &RemoteClient, first: f32) -> Result<(String, ServerObjects), Error> {
    let step = client.compile_text(STEP, &CompileOptions::default())?;
    let first =
        client.buffer_from_literal(&Literal::scalar(ElementType::F32, first), &step.parameters()[0])?;
    let mut all: Vec<RemoteBuffer> = vec![first];
    for _ in 0..3 {
        let next = step.execute(&[&all[all.len() - 1]], RunOptions::default())?;
        all.extend(next);
    }
    let mut shown = Vec::new();
    for x in &all {
        let x = x.to_literal()?.elements::<f32>()[0];
        shown.push(format!("{}", (x * 1e4).round() / 1e4));
    }
    Ok((shown.join(" -> "), (step, all)))
}
