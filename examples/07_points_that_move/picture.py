#!/usr/bin/env python3
"""Draws the states that the example wrote.

    picture.py FOLDER STEPS FILE.png      Debian: python3-matplotlib
"""

import csv
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")
from matplotlib import pyplot

folder, steps, target = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
TIME_STEP = {"plummer": 0.01, "salt": 0.02}
BLUE, ORANGE = "#0072B2", "#D55E00"


def points(name, when):
    with open(folder / f"{name}_{when}.csv") as file:
        return [tuple(float(row[key]) for key in ("x", "y", "z", "q")) for row in csv.DictReader(file)]


def time(name, when):
    return f"t = {TIME_STEP[name] * steps if when == 'last' else 0:g}"


def frame(axes, half, title):
    axes.set(xlim=(-half, half), ylim=(-half, half), aspect="equal", title=title, xlabel="x", ylabel="y")


figure, axes = pyplot.subplots(2, 2, figsize=(7.2, 7.6), dpi=110, layout="constrained")
for column, when in enumerate(("first", "last")):
    stars = points("plummer", when)
    x, y, _, _ = zip(*stars)
    axes[0, column].scatter(x, y, s=2, c=BLUE, linewidths=0, alpha=0.5)
    frame(axes[0, column], 3, f"Cold Plummer sphere, {time('plummer', when)}")

    ions = points("salt", when)
    for charge, colour in ((1, BLUE), (-1, ORANGE)):
        x, y, _, _ = zip(*(ion for ion in ions if ion[3] == charge and 0 <= ion[2] < 1))
        axes[1, column].scatter(x, y, s=10, c=colour, linewidths=0, label=f"charge {charge:+}")
    half = 1.4 * max(abs(value) for ion in points("salt", "first") for value in ion[:3])
    frame(axes[1, column], half, f"Salt, {time('salt', when)}: ions with 0 ≤ z < 1")
figure.legend(*axes[1, 1].get_legend_handles_labels(), loc="outside lower center", ncols=2, fontsize=9)
figure.suptitle(f"Points that move: {len(stars)} stars, {len(ions)} ions")
figure.savefig(target)
