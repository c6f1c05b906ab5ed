//! In the programs of `test/partitioning`, a device sends no more bytes after partitioning than in jaxlib's
//! program, and the results equal those of one device.
//!
//! Each file is a program as JAX passes it on, with the shardings that its author wrote, for the number of
//! devices in its name. The first line contains the number of bytes that a device of jaxlib's partitioned
//! program sends, counted in the same way: `ModuleCost` of the text that jaxlib compiles.
//! `scripts/partitioning_modules.py` wrote the files. `docs/distributed-volume.md` contains all numbers;
//! `BLESS=1` writes it.

use super::partitioning::{Tally, partitioned};
use hlo_ir::Module;
use hlo_passes::analysis::ModuleCost;
use hlo_testing::Numbers;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The text before the number in the first line.
const SENT_PREFIX: &str = "jaxlib sends ";

struct Program {
    /// The name, without the number of devices.
    name: String,
    devices: i64,
    /// Number of bytes that a device of jaxlib's program sends.
    theirs: u64,
    module: Module,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../test/partitioning")
}

fn programs() -> Vec<Program> {
    let entries = std::fs::read_dir(folder()).expect("the folder of the programs");
    let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    paths.retain(|p| p.extension().is_some_and(|e| e == "hlo"));
    paths.sort();
    paths.iter().map(|path| read(path)).collect()
}

fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("a readable file");
    let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let first = text.lines().next().unwrap_or_default();
    let number = first.split_once(SENT_PREFIX).and_then(|(_, rest)| rest.split(' ').next()?.parse().ok());
    let module = hlo_parser::parse_module(&text).unwrap_or_else(|e| panic!("{stem}: {}", e[0].message));
    let name = stem.rsplit_once('_').map_or(&stem[..], |(name, _)| name).to_owned();
    let theirs = number.unwrap_or_else(|| panic!("{stem}: no `{SENT_PREFIX}` in the first line"));
    Program { name, devices: module.header.num_partitions.0, theirs, module }
}

fn sent(program: &Program) -> u64 {
    let made = partitioned(&program.module).unwrap_or_else(|e| panic!("{}: {e}", program.name));
    ModuleCost::of(&made).total(&made).sent
}

#[test]
fn results_are_those_of_one_device() {
    let mut tally = Tally::default();
    let programs = programs();
    for program in &programs {
        let name = format!("{} on {}", program.name, program.devices);
        tally.add(&name, &program.module, &mut Numbers::new(3));
    }
    tally.end(programs.len() as u32);
}

#[test]
fn no_more_is_sent_than_by_jaxlib() {
    let mut more = Vec::new();
    let mut table: BTreeMap<String, BTreeMap<i64, (u64, u64)>> = BTreeMap::new();
    for program in programs() {
        let ours = sent(&program);
        if ours > program.theirs {
            more.push(format!("{} on {}: {ours}, {}", program.name, program.devices, program.theirs));
        }
        table.entry(program.name).or_default().insert(program.devices, (ours, program.theirs));
    }
    let page = page(&table);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/distributed-volume.md");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &page).expect("a page that can be written");
    }
    assert!(more.is_empty(), "{} send more than jaxlib's:\n{}", more.len(), more.join("\n"));
    let found = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == page,
        "docs/distributed-volume.md is out of date: BLESS=1 cargo test -p hlo-passes communication_volume::"
    );
}

fn page(table: &BTreeMap<String, BTreeMap<i64, (u64, u64)>>) -> String {
    let mut text = "\
# How much partitioned programs send

This page compares the bytes that partitioned programs send with those of jaxlib. The programs are in `test/partitioning`.
For each program, `sent` is the number of bytes that one device sends in one run, after `sharding-propagation` and
`spmd-partitioning`. `jaxlib` is the same for the program that jaxlib 0.10.2 compiles from the same shardings
(`lowered.compile().as_text()`). `hlo-opt --cost` counts both: the minimum that a device must send in each collective. An
all-reduce counts as a reduce-scatter and an all-gather, and loops count as often as they run.
`cargo test -p hlo-passes communication_volume::` checks this page, and compares the results with those of one device.

| program | devices | sent | jaxlib | ratio |
|---|--:|--:|--:|--:|
"
    .to_owned();
    for (name, numbers) in table {
        for (devices, (ours, theirs)) in numbers {
            let ratio = match (ours, theirs) {
                (0, 0) => "1.00".to_owned(),
                _ => format!("{:.2}", *ours as f64 / *theirs as f64),
            };
            let _ = writeln!(text, "| `{name}` | {devices} | {ours} | {theirs} | {ratio} |");
        }
    }
    text
}
