#!/usr/bin/env python3
"""Prints the tables of docs/performance.md from the JSON file of cuda_bench.

    bench/cuda_table.py cuda_bench.json

Figures are medians over the repetitions of one run; a ratio compares two medians of the same run.
"""

import argparse
from collections import defaultdict

from figures.results import Run

INTERACTIONS = ("one_over_r", "val_grad_one_over_r")
PRECISIONS = ("f32", "f64")
COLUMNS = [(k, p) for k in INTERACTIONS for p in PRECISIONS]
OURS = ("one_sided", "mutual")


def table(head, rows):
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


class Results:
    def __init__(self, rows):
        self.rows = rows

    def row(self, shape, interaction, precision, form, size):
        for dim in (3, 2):
            name = f"cuda/{shape}/{interaction}/{dim}d/{precision}/{form}"
            row = self.rows.get(f"{name}/{size}" if size else name)
            if row:
                return row
        return {}

    def get(self, *where, counter="pairs/s"):
        return self.row(*where).get(counter)

    def best(self, *where):
        """(rate, form) of the faster form"""
        *start, size = where
        found = [(self.get(*start, form, size), form) for form in OURS]
        found = [f for f in found if f[0]]
        return max(found) if found else (None, None)


def percent(row):
    """", 74%", the share of the bound, where the file has it"""
    return f", {row['of_bound']:.0%}" if "of_bound" in row else ""


def cell(rate, classic=None, form=None, share=""):
    if not rate:
        return "-"
    ratio = f" ({rate / classic:.1f} x)" if classic else ""
    return f"{rate / 1e12:.3g}{ratio}" + (f" {form}" if form else "") + share


def rates(results):
    """The table of targets: what is asked for, ours, and the classic kernel of the same run."""
    print("T directed pairs/s; in brackets the ratio to the classic kernel of the row below; percentages: share of the")
    print("bound by the multipliers, which newer files have\n")

    def ours(title, shape, size, form=None):
        cells = []
        for k, p in COLUMNS:
            rate, best = results.best(shape, k, p, size)
            if form:
                rate, best = results.get(shape, k, p, form, size), None
            share = percent(results.row(shape, k, p, form or best, size))
            cells.append(cell(rate, results.get(shape, k, p, "classic", size), best, share))
        return [title, *cells]

    def classic(shape, size):
        return ["classic", *(cell(results.get(shape, k, p, "classic", size)) for k, p in COLUMNS)]

    rows = []
    for n, name in ((1000, "1000"), (10000, "10,000"), (65536, "65,536"), (1000000, "1e6")):
        rows.append(ours(f"one box of {name}, one-sided", "box", n, "one_sided"))
        rows.append(ours(f"one box of {name}, mutual", "box", n, "mutual"))
        rows.append(classic("box", n))
    for leaf in (256, 64, 32, 8):
        rows.append(ours(f"32^3 leaves, {leaf} points each, best form", "leaves", leaf))
        rows.append(ours(f"{leaf} points each, deterministic", "leaves", leaf, "one_sided"))
        rows.append(classic("leaves", leaf))
    rows.append(ours("uniform, 1e6 points, adaptive tree, best form", "uniform", 64))
    rows.append(ours("Plummer cloud, 1e6 points, adaptive tree, best form", "plummer", 64))
    shares = []
    for k, p in COLUMNS:
        uniform, plummer = (results.best(shape, k, p, 64)[0] for shape in ("uniform", "plummer"))
        shares.append(f"{plummer / uniform:.0%}" if uniform and plummer else "-")
    rows.append(["Plummer / uniform", *shares])
    names = ("1/r", "1/r + gradient")
    table(["", *(f"{name} {p}" for name in names for p in PRECISIONS)], rows)


def small_boxes(results):
    print("One box of 1000 points, microseconds a call\n")
    rows = []
    for form in (*OURS, "classic"):
        times = [results.get("box", k, p, form, 1000, counter="seconds") for k, p in COLUMNS]
        rows.append([form, *(f"{t * 1e6:.1f}" if t else "-" for t in times)])
    table(["", *(f"{k} {p}" for k, p in COLUMNS)], rows)


def right_hand_sides(results):
    rows = []
    for shape, size in (*(("box", n) for n in (1000, 10000, 65536, 1000000)),
                        *(("leaves", n) for n in (8, 32, 64, 256))):
        for form in OURS:
            cells = []
            for k, p in COLUMNS:
                eight = results.get(shape, k, p, f"{form}_rhs8", size, counter="seconds")
                one = results.get(shape, k, p, form, size, counter="seconds")
                cells.append(f"{eight / one:.2f}" if eight and one else "-")
            if any(cell != "-" for cell in cells):
                rows.append([f"{shape}, {size} points, {form}", *cells])
    if rows:
        print("8 right-hand sides in one call: its time over that of one\n")
        table(["", *(f"{k} {p}" for k, p in COLUMNS)], rows)


def bounds(results):
    print("32^3 leaves of 64 points (2D: 256^2), T directed pairs/s, and the share of the rate at")
    print("which the same pairs are computed when every operand lies in a register\n")
    interactions = sorted({name.split("/")[2] for name in results.rows if "/bound/" in name})
    rows = []
    for k in interactions:
        for p in PRECISIONS:
            cells = []
            for form in OURS:
                rate = results.get("leaves", k, p, form, 64)
                bound = results.get("bound", k, p, form, None)
                share = f": {rate / bound:.0%}" if rate and bound else ""
                cells.append(f"{cell(rate)} of {cell(bound)}{share}")
            rows.append([k, p, *cells])
    table(["interaction", "precision", "one-sided (deterministic)", "mutual"], rows)


def peaks(results):
    print("What the arithmetic units do, T operations/s\n")
    rows = [
        [name.removeprefix("cuda/peak/").replace("/", " "), f"{row['op/s'] / 1e12:.3g}"]
        for name, row in results.rows.items()
        if name.startswith("cuda/peak/")
    ]
    table(["operation", "rate"], rows)


def end_to_end(results):
    print("One step from arrays of the host, 32^3 boxes of 64 points, 1/r, mutual, ms by stage\n")
    rows, stages = [], []
    for name, row in results.rows.items():
        if name.startswith("cuda/end_to_end/"):
            order = ("tree", "sort", "list", "upload", "near_field", "download", "unsort")
            stages = [stage for stage in order if f"{stage}_ms" in row]
            times = [f"{row[f'{stage}_ms']:.1f}" for stage in stages]
            title = name.removeprefix("cuda/end_to_end/").replace("/", ", ")
            rows.append([title, *times, f"{row['seconds'] * 1e3:.1f}"])
    table(["", *(stage.replace("_", " ") for stage in stages), "all"], rows)


def errors(results):
    print("Largest error on 100 targets of each row, relative to the sum of the terms' magnitudes\n")
    forms = (*OURS, *(f"{form}_rhs8" for form in OURS), "classic")
    largest = defaultdict(float)
    for name, row in results.rows.items():
        if "max_relative_error" in row and not name.startswith("cuda/end_to_end/"):
            _, _, _, _, precision, form, _ = name.split("/")
            largest[precision, form] = max(largest[precision, form], row["max_relative_error"])
    table(
        ["", *forms], [[p, *(f"{largest[p, form]:.1e}" for form in forms)] for p in PRECISIONS]
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("json", help="JSON of cuda_bench")
    run = Run(parser.parse_args().json)
    keys = ("gpu", "driver", "commit", "compilers")
    print("; ".join(f"{key} {run.context[key]}" for key in keys if key in run.context) + "\n")
    results = Results(run.rows)
    for print_table in (rates, small_boxes, right_hand_sides, bounds, peaks, end_to_end, errors):
        print_table(results)


if __name__ == "__main__":
    main()
