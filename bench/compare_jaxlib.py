#!/usr/bin/env python3
"""Compares the compile and run times of the modules in bench/modules to those of jaxlib's CPU backend.

    bench/compare_jaxlib.py [--threads N] [--runs N] [--hlo-run PATH] [NAME ...]

Needs jax and numpy. Both sides get the same inputs, which case.json describes, and the script compares the results
within the tolerance of the case. For each module, each side runs in its own process, pinned to N cores (default: 2).
A ratio below 1 means that hlo-run is faster.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
MODULES = os.path.join(ROOT, "modules")


def split_shape(text):
    name, dims = text.rstrip("]").split("[")
    return name, tuple(int(d) for d in dims.split(",") if d)


def dtype_of(name):
    import ml_dtypes
    import numpy as np
    native = {"pred": "bool", "f16": "float16", "f32": "float32", "f64": "float64", "c64": "complex64",
              "c128": "complex128", "bf16": ml_dtypes.bfloat16}
    if name in native:
        return np.dtype(native[name])
    return np.dtype({"s": "int", "u": "uint"}[name[0]] + name[1:])


def make_inputs(case):
    import numpy as np
    arrays = []
    for i, entry in enumerate(case["inputs"]):
        name, shape = split_shape(entry["hlo"])
        spec = case["gen"][f"in_{i}"]
        rng = np.random.default_rng(spec.get("seed", 0))
        if spec["dist"] == "integers":
            arrays.append(rng.integers(spec["low"], spec["high"], size=shape).astype(dtype_of(name)))
            continue
        base = {"normal": lambda: rng.standard_normal(shape), "uniform": lambda: rng.random(shape),
                "constant": lambda: np.full(shape, spec["value"])}[spec["dist"]]()
        x = np.asarray(base, np.float32) * np.float32(spec.get("scale", 1)) + np.float32(spec.get("shift", 0))
        arrays.append(np.asarray(x, np.float32).astype(dtype_of(name)))
    return arrays


def raw(array):
    """Returns the array in a type that numpy can store. For a type that numpy lacks, this is the type of its bits."""
    import numpy as np
    return array.view(np.uint16) if array.dtype.name == "bfloat16" else array


def run_jaxlib(folder, work, runs, threads):
    """Measures jaxlib, in its own process. Writes the times to work/jaxlib.json, and inputs and results to work/."""
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:threads])
    os.environ["NPROC"] = str(threads)
    if threads == 1:
        flags = " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"
        os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + flags
    import jax
    import jaxlib._jax as _jax
    import numpy as np
    from jaxlib import _hlo
    from jaxlib import xla_client as xc
    with open(os.path.join(folder, "case.json")) as f:
        case = json.load(f)
    with open(os.path.join(folder, "module.hlo")) as f:
        text = f.read()
    client = jax.devices("cpu")[0].client

    def compile_text(text):
        module = _hlo.hlo_module_from_text(text)
        computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
        mlir = _jax.mlir.xla_computation_to_mlir_module(computation)
        return client.compile_and_load(mlir, _jax.DeviceList((client.devices()[0],)), xc.CompileOptions())

    # Compile once before the measurement, so that the one-time setup is not measured.
    compile_text("HloModule warm\n\nENTRY e {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] add(x, x)\n}\n")
    start = time.perf_counter()
    executable = compile_text(text)
    compiled = time.perf_counter() - start
    arrays = make_inputs(case)
    for i, a in enumerate(arrays):
        np.save(os.path.join(work, f"in_{i}.npy"), raw(a))
    with jax.enable_x64(True):
        buffers = [jax.device_put(a, client.devices()[0]) for a in arrays]
        times = []
        for _ in range(runs + 1):
            start = time.perf_counter()
            outs = executable.execute_sharded(buffers).disassemble_into_single_device_arrays()
            for o in outs:
                o[0].block_until_ready()
            times.append(time.perf_counter() - start)
        for i, o in enumerate(outs):
            np.save(os.path.join(work, f"want_{i}.npy"), raw(np.asarray(o[0])))
    with open(os.path.join(work, "jaxlib.json"), "w") as f:
        json.dump({"compile": compiled, "run": statistics.median(times[1:]), "outputs": len(outs)}, f)


def run_ours(tool, folder, work, runs, threads, case, outputs):
    inputs = [os.path.join(work, f"in_{i}.npy") for i in range(len(case["inputs"]))]
    wanted = [os.path.join(work, f"want_{i}.npy") for i in range(outputs)]
    tolerance = case["tolerance"]
    cores = sorted(os.sched_getaffinity(0))[:threads]
    command = [tool, os.path.join(folder, "module.hlo"), "--engine=jit", "--quiet", "--time=json", "--warmup=1",
               f"--iterations={runs}", f"--threads={threads}", f"--rtol={tolerance['rtol']}",
               f"--atol={tolerance['atol']}", "--inputs", *inputs, "--expected", *wanted]
    done = subprocess.run(command, capture_output=True, text=True, preexec_fn=lambda: os.sched_setaffinity(0, cores))
    if not done.stdout:
        return None, done.stderr.strip().splitlines()[0]
    times = json.loads(done.stdout)
    compiled = sum(times[stage] or 0 for stage in ("parse", "passes", "codegen", "jit"))
    differs = "" if done.returncode == 0 else "  results differ: " + " ".join(done.stderr.split())[:120]
    return {"compile": compiled, "run": times["run"]["median"]}, differs


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of modules' names; all if none are given")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--hlo-run", default=os.path.join(ROOT, "..", "target", "release", "hlo-run"))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        run_jaxlib(*args.child, args.runs, args.threads)
        return
    print(f"{'module':<26}{'compile ms':>12}{'jaxlib':>9}{'ratio':>7}{'run ms':>12}{'jaxlib':>11}{'ratio':>7}")
    for name in sorted(os.listdir(MODULES)):
        if args.names and not any(n in name for n in args.names):
            continue
        folder = os.path.join(MODULES, name)
        with open(os.path.join(folder, "case.json")) as f:
            case = json.load(f)
        with tempfile.TemporaryDirectory() as work:
            child = [sys.executable, __file__, "--runs", str(args.runs), "--threads", str(args.threads), "--child"]
            done = subprocess.run([*child, folder, work], capture_output=True, text=True)
            if done.returncode != 0:
                print(f"{name:<26}jaxlib failed: {done.stderr.strip().splitlines()[-1]}")
                continue
            with open(os.path.join(work, "jaxlib.json")) as f:
                theirs = json.load(f)
            ours, note = run_ours(args.hlo_run, folder, work, args.runs, args.threads, case, theirs["outputs"])
        if ours is None:
            print(f"{name:<26}{note}")
            continue
        cells = [ours["compile"] * 1e3, theirs["compile"] * 1e3, ours["run"] * 1e3, theirs["run"] * 1e3]
        print(f"{name:<26}{cells[0]:>12.1f}{cells[1]:>9.1f}{cells[0] / cells[1]:>7.2f}"
              f"{cells[2]:>12.3f}{cells[3]:>11.3f}{cells[2] / cells[3]:>7.2f}{note}", flush=True)


if __name__ == "__main__":
    main()
