#!/usr/bin/env python3
"""Compares the time of the passes of the pipeline `cpu` to that of jaxlib's optimizer.

    bench/optimizer_jaxlib.py [--runs N] [--hlo-opt PATH] [MODULE.hlo ...]

Needs jax, and `cargo build --release --bin hlo-opt`. Without MODULEs it measures the largest modules of bench/modules and
test/corpus. Each time is the sum of the times of all passes, without the verifier:

- hlo-opt: the times in `--stats=json`.
- jaxlib: the times in the log of its pass pipelines (`TF_CPP_VMODULE=hlo_pass_pipeline=1`). Pipelines that are passes of
  other pipelines, the invariant checker inside of a pass's time, scheduling and later steps are not counted.

Each number is the median of N compilations (default: 5), for jaxlib after one warm-up compilation. A ratio below 1 means
that hlo-opt is faster. The two sides do not run the same passes, so the table also shows the number of remaining
instructions, including those in fusions. For jaxlib they are counted in its dump.
"""
import argparse
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.abspath(__file__))
LARGEST = ["bench/modules/gpt_train_step", "test/corpus/mlp_baked_constants", "test/corpus/igamma_gradients",
           "bench/modules/gpt2_124m_fwd", "bench/modules/resnet50_fwd_b1", "test/corpus/threefry_key_ops"]
MARK = "compilation to be measured"
LINE = re.compile(r"[IWE]\d+ (\d+):(\d+):([\d.]+) .*?\] (.*)")
INSTRUCTION = re.compile(r"^  (ROOT )?%?[\w.-]+ = ", re.MULTILINE)


def compile_in_jaxlib(path, runs):
    """Compiles with jaxlib, in its own process. The log is in its standard error."""
    import jax
    import jaxlib._jax as _jax
    from jaxlib import _hlo
    from jaxlib import xla_client as xc
    client = jax.devices("cpu")[0].client
    with open(path) as f:
        module = _hlo.hlo_module_from_text(f.read())
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    mlir = _jax.mlir.xla_computation_to_mlir_module(computation)
    for _ in range(runs + 1):
        print(MARK, file=sys.stderr, flush=True)
        client.compile_and_load(mlir, _jax.DeviceList((client.devices()[0],)), xc.CompileOptions())


def seconds_of_passes(log):
    """Returns the sum of the times of all passes of one compilation."""
    pipelines = set(re.findall(r"Running HLO pass pipeline on module \S+: (.*)", log))
    total = checks = 0.0
    began_check = None
    for line in log.splitlines():
        found = LINE.match(line)
        if not found:
            continue
        now = int(found[1]) * 3600 + int(found[2]) * 60 + float(found[3])
        text = found[4].strip()
        if text.startswith("HLO pass "):
            checks = 0.0
        elif text.startswith("Invariant checker done"):
            checks += now - began_check
        elif text.startswith("Invariant checker"):
            began_check = now
        else:
            took = re.match(r"HLO pass: (.*?) time: .*?\((\d+) us\)", text)
            if took and took[1] not in pipelines:
                total += max(0.0, int(took[2]) / 1e6 - checks)
    return total


def measure_jaxlib(path, runs):
    with tempfile.TemporaryDirectory() as dump:
        environment = dict(os.environ, TF_CPP_MIN_LOG_LEVEL="0", TF_CPP_VMODULE="hlo_pass_pipeline=1",
                           TF_CPP_MAX_VLOG_LEVEL="1")
        child = [sys.executable, __file__, "--runs", str(runs), "--child", path]
        done = subprocess.run(child, env=environment, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"jaxlib: {done.stderr.strip().splitlines()[-1]}")
        flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_dump_to={dump} --xla_dump_hlo_as_text"
        child[child.index("--runs") + 1] = "0"
        subprocess.run(child, env=dict(os.environ, XLA_FLAGS=flags), capture_output=True, check=True)
        optimized = [f for f in os.listdir(dump) if f.endswith("cpu_after_optimizations.txt")]
        with open(os.path.join(dump, sorted(optimized)[-1])) as f:
            instructions = len(INSTRUCTION.findall(f.read()))
    logs = done.stderr.split(MARK)[2:]
    return statistics.median(seconds_of_passes(log) for log in logs), instructions


def measure_ours(tool, path, runs):
    times = []
    for _ in range(runs):
        command = [tool, path, "--passes=cpu", "--stats=json", "-o", os.devnull]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{os.path.basename(tool)}: {done.stderr.strip().splitlines()[0]}")
        found = json.loads(done.stderr)
        times.append(sum(p["seconds"] for p in found["passes"]))
    return statistics.median(times), found["before"]["instructions"], found["after"]["instructions"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="files to measure instead of the usual ones")
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--hlo-opt", default=os.path.join(ROOT, "..", "target", "release", "hlo-opt"))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        compile_in_jaxlib(args.child, args.runs)
        return
    modules = args.modules or [os.path.join(ROOT, "..", m, "module.hlo") for m in LARGEST]
    print(f"{'module':<24}{'passes ms':>11}{'jaxlib':>10}{'ratio':>8}{'instructions':>14}{'left':>8}{'jaxlib':>8}")
    for path in modules:
        name = os.path.basename(os.path.dirname(path)) if path.endswith("module.hlo") else os.path.basename(path)
        ours, before, after = measure_ours(args.hlo_opt, path, args.runs)
        theirs, left = measure_jaxlib(path, args.runs)
        print(f"{name:<24}{ours * 1e3:>11.1f}{theirs * 1e3:>10.1f}{ours / theirs:>8.3f}{before:>14}{after:>8}{left:>8}",
              flush=True)


if __name__ == "__main__":
    main()
