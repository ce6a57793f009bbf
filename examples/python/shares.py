"""Draws where each PE of a profile spends its time: python3 shares.py DIR FILE.png.

Needs matplotlib, and oshprof in PATH.
"""

import json
import subprocess
import sys

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

KINDS = {
    "moving data": ("put", "get", "amo", "signal"),
    "waiting, locks": ("wait", "test", "lock"),
    "barriers, collectives": ("barrier", "collective", "team"),
}


def main(directory, path):
    command = ["oshprof", "report", directory, "--view", "pe", "--json"]
    text = subprocess.run(command, check=True, capture_output=True).stdout
    profile = json.loads(text)
    pes = profile["per_pe"]
    numbers = [pe["pe"] for pe in pes]
    bottom = [0.0] * len(pes)
    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    for kind, classes in KINDS.items():
        seconds = [sum(r["time_ns"]["total"] for r in pe["routines"] if r["class"] in classes) / 1e9 for pe in pes]
        axes.bar(numbers, seconds, bottom=bottom, label=kind)
        bottom = [a + b for a, b in zip(bottom, seconds)]
    axes.set(title=directory.rstrip("/").rpartition("/")[2], xlabel="PE", ylabel="seconds in the library")
    axes.set_xticks(numbers)
    figure.legend(loc="outside lower center", ncols=len(KINDS))
    figure.savefig(path)
    print(f"shares.py: OK, {len(pes)} PEs in {path}")


main(*sys.argv[1:3])
