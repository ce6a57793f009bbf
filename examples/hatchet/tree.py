#!/usr/bin/env python3
"""Shows a profile as a tree of hatchet (the Python package llnl-hatchet), or what differs between two.

    oshprof export PROFILE... --to hatchet -o new.json
    python3 tree.py new.json [base.json]

Program, region, function, routine: `time` is seconds of all PEs together in a routine, or outside the library in a
region; `time (inc)` includes what is below. From here on everything that hatchet and pandas do is at hand.
"""

import json
import sys

import hatchet


def load(path):
    """A profile that was exported with `--to hatchet`."""
    with open(path, encoding="utf-8") as file:
        return hatchet.GraphFrame.from_literal(json.load(file))


def main():
    if len(sys.argv) not in (2, 3):
        print(__doc__, file=sys.stderr)
        return 2
    frame = load(sys.argv[1])
    print(frame.tree(metric_column="time (inc)"))
    rows = frame.dataframe
    of_routines = rows[[node.frame["type"] == "routine" for node in rows.index]]
    routines = of_routines.groupby("name")[["time", "calls", "bytes"]].sum()
    print(routines.sort_values("time", ascending=False).head(10))
    if len(sys.argv) == 3:
        print("\nslower (+) and faster (-) than before, seconds:")
        print((frame - load(sys.argv[2])).tree(metric_column="time"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
