#!/usr/bin/env python3
"""Compares the speed of reading and printing HLO text to that of jaxlib.

    bench/text_jaxlib.py [--seconds S] [--megabytes N] [FILE ...]

Needs jaxlib, and `cargo build --release -p hlo-parser --examples`. Without FILEs it measures the modules of bench/text,
the two largest of bench/modules, and modules that generate_text creates: one of N MB (default: 100) similar to that of
a training step, one of tiny computations, and one on a single line.

Rates are millions of bytes of text per second of processor time. Each side runs in its own process, one directly after
the other. A ratio above 1 means that this project is faster. The times do not include freeing the result. Memory is the
peak while reading a large text, including the text, in bytes for each byte of text. For jaxlib it does not include
Python's own memory.
"""
import argparse
import gzip
import json
import os
import resource
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(ROOT, "..", "target", "release", "examples")
LARGEST = ["gpt_train_step", "resnet50_fwd_b1"]


def mean_time(work, seconds):
    total = count = 0
    end = time.monotonic() + seconds
    while True:
        start = time.thread_time()
        result = work()
        total += time.thread_time() - start
        count += 1
        if time.monotonic() >= end:
            return result, total / count
        del result


def peak_bytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure_jaxlib(path, seconds):
    """Measures jaxlib, in its own process."""
    from jaxlib import _hlo
    _hlo.hlo_module_from_text("HloModule warm\n\nENTRY e {\n  ROOT x = f32[4] parameter(0)\n}\n").to_string()
    before = peak_bytes()
    with open(path) as f:
        text = f.read()
    module, read = mean_time(lambda: _hlo.hlo_module_from_text(text), seconds)
    memory = peak_bytes() - before
    printed, print_time = mean_time(module.to_string, seconds)
    print(json.dumps({"read": [len(text), read], "print": [len(printed), print_time], "memory": memory / len(text)}))


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    lines = done.stdout.strip().splitlines()
    try:
        return json.loads(lines[-1])
    except (IndexError, ValueError):
        why = (lines + done.stderr.strip().splitlines() + [f"exit code {done.returncode}"])[0]
        sys.exit(f"{os.path.basename(command[0])}: {why}")


def measure_ours(path, seconds):
    tool = os.path.join(EXAMPLES, "text_bench")
    times = run([tool, "--json", "--seconds", str(seconds), path])
    process = subprocess.Popen([tool, "--json", "--seconds", "0", "--only", "read", path], stdout=subprocess.DEVNULL)
    _, _, usage = os.wait4(process.pid, 0)
    times["memory"] = usage.ru_maxrss * 1024 / times["read"][0]
    return times


def inputs(work, megabytes):
    """Yields the name and the path of each module to measure."""
    for name in sorted(os.listdir(os.path.join(ROOT, "text"))):
        path = os.path.join(work, name.removesuffix(".gz"))
        with gzip.open(os.path.join(ROOT, "text", name)) as packed, open(path, "wb") as f:
            f.write(packed.read())
        yield name.removesuffix(".hlo.gz"), path
    for name in LARGEST:
        yield name, os.path.join(ROOT, "modules", name, "module.hlo")
    for kind, size in [("train", megabytes), ("tiny", megabytes / 10), ("line", megabytes / 10)]:
        path = os.path.join(work, f"{kind}.hlo")
        with open(path, "wb") as f:
            subprocess.run([os.path.join(EXAMPLES, "generate_text"), kind, str(size)], stdout=f, check=True)
        yield f"generated: {kind}", path
        os.remove(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="texts to measure instead of the usual ones")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each measurement is repeated")
    parser.add_argument("--megabytes", type=float, default=100.0, help="the size of the largest text")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.child:
        measure_jaxlib(args.child, args.seconds)
        return
    columns = [f"{stage} MB/s{'jaxlib':>9}{'ratio':>7}" for stage in ("read", "print")]
    print(f"{'module':<32}{'MB':>8}" + "".join(f"{c:>29}" for c in columns) + f"{'memory B/B':>13}{'jaxlib':>9}")
    with tempfile.TemporaryDirectory() as work:
        given = ((os.path.basename(f), f) for f in args.files)
        for name, path in given if args.files else inputs(work, args.megabytes):
            ours = measure_ours(path, args.seconds)
            theirs = run([sys.executable, __file__, "--seconds", str(args.seconds), "--child", path])
            row = f"{name:<32}{ours['read'][0] / 1e6:>8.2f}"
            for stage in ("read", "print"):
                a, b = (side[stage][0] / 1e6 / side[stage][1] for side in (ours, theirs))
                row += f"{a:>13.1f}{b:>9.1f}{a / b:>7.2f}"
            # For a small module, the peak would be the memory of the process itself.
            if ours["read"][0] >= 5e6:
                row += f"{ours['memory']:>13.1f}{theirs['memory']:>9.1f}"
            print(row, flush=True)


if __name__ == "__main__":
    main()
