"""Heat in a plate, by rows over PEs, with shmem4py: each PE puts its outer rows into its neighbours' halos.

    oshrun -n 4 --profile python3 heat.py [ROWS COLUMNS STEPS] [--plot FILE.png]

PE 0 compares the result with a run of its own, and draws it where a file is named (matplotlib).
"""

import sys

import numpy as np
from shmem4py import shmem


def step(plate):
    """The next state of all rows but the first and the last, which are the halo or the edge."""
    inner = plate[1:-1, 1:-1]
    around = plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:]
    new = plate.copy()
    new[1:-1, 1:-1] = inner + 0.2 * (around - 4 * inner)
    return new


def edges(plate, first, last):
    """Hot above, cold elsewhere."""
    plate[:, 0] = plate[:, -1] = 0.0
    if first:
        plate[0] = 100.0
    if last:
        plate[-1] = 0.0


def run(rows, columns, steps):
    """This PE's rows after all steps, and the symmetric array that they are in."""
    me, npes = shmem.my_pe(), shmem.n_pes()
    mine = rows // npes
    plate = shmem.zeros((mine + 2, columns))
    edges(plate, me == 0, me == npes - 1)
    shmem.barrier_all()
    for _ in range(steps):
        plate[:] = step(plate)
        edges(plate, me == 0, me == npes - 1)
        shmem.barrier_all()
        if me > 0:
            shmem.put(plate[mine + 1], plate[1], me - 1)
        if me < npes - 1:
            shmem.put(plate[0], plate[mine], me + 1)
        shmem.barrier_all()
    return plate


def gather(plate):
    """All rows without halos; on PE 0."""
    parts = []
    for pe in range(shmem.n_pes()):
        part = np.empty_like(plate)
        shmem.get(part, plate, pe)
        parts.append(part[1:-1])
    return np.concatenate(parts)


def alone(rows, columns, steps):
    plate = np.zeros((rows + 2, columns))
    edges(plate, True, True)
    for _ in range(steps):
        plate = step(plate)
        edges(plate, True, True)
    return plate[1:-1]


def draw(plate, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 4), layout="constrained")
    image = axes.imshow(plate, cmap="inferno", aspect="auto")
    axes.set(title=f"{shmem.n_pes()} PEs", xlabel="column", ylabel="row")
    figure.colorbar(image, label="temperature")
    figure.savefig(path)


def main():
    args = sys.argv[1:]
    path = None
    if "--plot" in args:
        at = args.index("--plot")
        path = args[at + 1]
        del args[at : at + 2]
    rows, columns, steps = map(int, args) if args else (240, 200, 300)
    if rows % shmem.n_pes() != 0:
        if shmem.my_pe() == 0:
            print(f"heat.py: FAILED: {rows} rows cannot be divided among {shmem.n_pes()} PEs", flush=True)
            shmem.global_exit(1)
        shmem.barrier_all()
    plate = run(rows, columns, steps)
    shmem.barrier_all()
    if shmem.my_pe() == 0:
        whole = gather(plate)
        if not np.array_equal(whole, alone(rows, columns, steps)):
            print("heat.py: FAILED: not what one PE comes to", flush=True)
            shmem.global_exit(1)
        if path:
            draw(whole, path)
        print(f"heat.py: OK, {rows} x {columns} points, {steps} steps on {shmem.n_pes()} PEs")
    shmem.barrier_all()
    shmem.free(plate)


main()
