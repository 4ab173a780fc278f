#!/usr/bin/env python3
"""Prints the tables of "Points that move" in docs/performance.md.

    bench/moving_table.py moving.json moving_cuda.json

Figures are medians over the repetitions of one run.
"""

import argparse

from cuda_table import percent
from figures.results import Run

STAGES = ("bounds", "keys", "sort", "levels", "leaves", "neighbours", "rows", "lists", "items")


def read(path):
    return {name.removeprefix("moving/"): row for name, row in Run(path).rows.items()}


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|---|" + "---:|" * (len(head) - 1))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def cores(rows):
    time, shares, workers = {}, {}, set()
    for name, row in rows.items():
        case, _, where = name.rpartition("/")
        n = int(row["workers"]) if where != "serial" else 0
        time[case, n], shares[case, n] = row["real_time"], percent(row)
        workers.add(n)
    several = sorted(workers - {0})
    lines = []
    for case in sorted({case for case, _ in time}):
        _, precision, cloud, _, cut = case.split("/")
        lines.append([f"{cloud}, {cut.replace('_', ' ')}, {precision}", f"{time[case, 0]:.1f}{shares[case, 0]}"] +
                     [f"{time[case, n]:.1f} ({time[case, 0] / time[case, n]:.2f} x{shares[case, n]})" for n in several])
    table(["1e6 points, ms", "one core"] + [f"{n} workers" for n in several], lines)


def gpu(rows):
    lines = []
    for name, row in rows.items():
        if name.startswith("tree/"):
            _, precision, cloud, n = name.split("/")
            lines.append([f"{cloud}, {precision}", f"{int(n):,}", f"{row['leaves']:,.0f}"] +
                         [f"{row[stage + '_ms']:.3f}" for stage in STAGES[:-1]] +
                         [f"{row['host_ms']:.3f}", f"{row['items_ms']:.3f}", f"{row['bytes_per_point']:.0f}"])
    table(["cloud", "points", "leaves", *STAGES[:-1], "all", "items", "bytes per point"], lines)
    table(["step of 2.1e6 points", "ms", "pairs/s"],
          [[name.removeprefix("step/").removesuffix("/2097152").replace("/", ", "), f"{row['median_ms']:.2f}",
            f"{row['pairs/s'] / 1e12:.2f} T{percent(row)}"] for name, row in rows.items() if name.startswith("step/")])
    table(["sums of 1e6 points", "leaves", "rebuild", "sums", "all, ms", "pairs/s"],
          [[name.removeprefix("sums/").removesuffix("/1000000").replace("/", ", "), f"{row['leaves']:,.0f}",
            f"{row['rebuild_ms']:.2f}", f"{row['sums_ms']:.2f}", f"{row['all_ms']:.2f}",
            f"{row['pairs/s'] / 1e12:.2f} T{percent(row)}"] for name, row in rows.items() if name.startswith("sums/")])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("moving")
    parser.add_argument("moving_cuda")
    arguments = parser.parse_args()
    cores(read(arguments.moving))
    gpu(read(arguments.moving_cuda))


if __name__ == "__main__":
    main()
