#!/usr/bin/env python3
"""Records a series of real gates: the same program against itself, and against one that takes 5 % longer in one region.

    ./x build; tools/oshprof/tests/recorded/series.py [--same N] [--slower N] [--turns T] [--minutes M] > FILE.tsv

A line a gate: `same` or `slower`, the verdict, whether the region was named, then for each of run, library and waiting
the microseconds of the pairs as base:new. The unit tests `compare::recorded` replay two of them. What the series comes
to is printed on standard error.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.abspath(os.path.join(HERE, *[os.pardir] * 4))
BIN = os.path.join(ROOT, "target", "pellucid", "bin")
METRICS = ["run", "library", "waiting"]


def compile_version(folder, name, spin):
    source = os.path.join(ROOT, "tests", "programs", "regression", "step.c")
    target = os.path.join(folder, name)
    # Both contain the same code: only a constant differs.
    subprocess.run([f"{BIN}/oshcc", "-O1", "-g", f"-DSPIN={spin}", source, "-o", target], check=True)
    return target


def gate(options, seed, base, new):
    def line(program):
        return f"{BIN}/oshrun -n {options.pes} {program} {options.steps} {options.turns}"

    command = [f"{BIN}/oshprof", "gate", "--json", "--pairs", options.pairs, "--seed", str(seed)]
    command += ["--base", line(base), "--new", line(new)]
    outcome = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if outcome.returncode not in (0, 3):
        sys.exit(f"series.py: oshprof gate ended with {outcome.returncode}")
    return json.loads(outcome.stdout)


def is_named(found):
    """Whether the region is in the largest cause, or a metric of it is slower."""
    causes = found["causes"]
    first = bool(causes) and causes[0]["region"] == "solve"
    return first or any(m["name"] == "region:solve" and m["verdict"] == "slower" for m in found["metrics"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--same", type=int, default=100)
    parser.add_argument("--slower", type=int, default=50)
    parser.add_argument("--pairs", default="10..40")
    parser.add_argument("--pes", type=int, default=2)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--turns", type=int, default=3000000)
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    end = time.monotonic() + 60 * options.minutes
    # In turns, so that what becomes of the machine meanwhile is the same for both.
    plan = []
    most = max(options.same, options.slower)
    for at in range(most):
        for kind, number in (("same", options.same), ("slower", options.slower)):
            if at * number // most != (at + 1) * number // most:
                plan.append(kind)
    verdicts, noises = {}, []
    with tempfile.TemporaryDirectory() as folder:
        programs = {"same": compile_version(folder, "program-a", 0), "slower": compile_version(folder, "program-b", 50)}
        for seed, kind in enumerate(plan):
            if time.monotonic() > end:
                break
            found = gate(options, seed + 1, programs["same"], programs[kind])
            row = [kind, found["verdict"].replace(" ", "-"), str(int(is_named(found)))]
            for name in METRICS:
                values = next(m["values"] for m in found["metrics"] if m["name"] == name)
                row.append(",".join(f"{base // 1000}:{new // 1000}" for base, new in values))
            print("\t".join(row), flush=True)
            run = next(m for m in found["metrics"] if m["name"] == "run")
            noises.append(run["noise"])
            key = (kind, found["verdict"], run["verdict"], is_named(found))
            verdicts[key] = verdicts.get(key, 0) + 1
    for key, number in sorted(verdicts.items()):
        named = "named" if key[3] else "not named"
        print(f"{number:4} {key[0]}: {key[1]}; run {key[2]}; region {named}", file=sys.stderr)
    noises.sort()
    if noises:
        quarter, half, most = (noises[int(q * (len(noises) - 1))] for q in (0.25, 0.5, 0.75))
        ends = f"quartiles {100 * quarter:.1f} and {100 * most:.1f} %"
        print(f"noise of a run: median {100 * half:.1f} % ({ends})", file=sys.stderr)


if __name__ == "__main__":
    main()
