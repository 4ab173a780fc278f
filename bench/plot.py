#!/usr/bin/env python3
"""Draws the figures of docs/figures from the JSON files of bench/results.

    bench/plot.py              write docs/figures/*.svg
    bench/plot.py --check      are they what the JSON files give? Exit status: 0 yes, 1 no, 77 no matplotlib
    bench/plot.py FILE.json... write the figures of your own runs (build/bench/bin/p2p_bench.json) to --out, or beside
                               the first file. Exit status 1 if they have the rows of no figure

A figure whose rows no file has is skipped, with the command that makes them. Every point is a median
over the repetitions of one run, and a ratio compares two medians of the same run. The same files and
the same matplotlib (Debian's python3-matplotlib) give the same bytes, but for the last digit of a place,
which processors round differently. With another matplotlib, --check compares what is drawn, not how:
the hash of the numbers and labels that each figure carries.
"""

import argparse
import hashlib
import re
import sys
from io import BytesIO
from pathlib import Path

try:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import ft2font, pyplot
except ImportError:
    print("SKIPPED: no matplotlib (Debian: python3-matplotlib)")
    sys.exit(77)

from figures import box, kokkos, p2p, results, scale, search, starpu
from figures.results import Missing
from figures.style import STYLE

ROOT = Path(__file__).resolve().parent.parent
FIGURES = ROOT / "docs" / "figures"
ALL = (box.box, p2p.near_field, p2p.simd_time, starpu.starpu_scaling, starpu.step_on_workers, p2p.gpu_time, search.radius_search,
       kokkos.kokkos_cpu, kokkos.kokkos_h100, scale.weak_scaling, scale.simgrid_scale)


def drawn(figure):
    """A hash of the numbers, the labels and the colours of a figure."""
    content = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
    for axes in figure.axes:
        content += [f"{line.get_color()} {x:.9g} {y:.9g}" for line in axes.lines
                    for x, y in line.get_xydata().tolist()]
        content += [f"{patch.get_facecolor()} {patch.get_width():.9g}" for patch in axes.patches]
    return hashlib.sha256("\n".join(sorted(filter(None, content))).encode()).hexdigest()


def svg(figure, path):
    """The bytes of the file, which name what drew it and carry the hash."""
    with_fonts = f"matplotlib {matplotlib.__version__}, FreeType {ft2font.__freetype_version__}"
    digest = drawn(figure)
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", metadata={
        "Date": None, "Title": path.stem, "Creator": f"bench/plot.py, {with_fonts}", "Description": f"drawn {digest}"})
    pyplot.close(figure)
    return path, buffer.getvalue(), with_fonts, digest


def differ_by_rounding(one, other):
    number = re.compile(r"-?\d+\.\d+")
    return number.sub("", one) == number.sub("", other) and all(
        abs(float(a) - float(b)) < 1e-5 for a, b in zip(number.findall(one), number.findall(other)))


def check(path, content, with_fonts, digest):
    """Whether the file is what was drawn; says how it differs."""
    if not path.exists():
        print(f"{path.relative_to(ROOT)}: missing; run bench/plot.py")
        return False
    there = path.read_bytes()
    if there == content:
        print(f"{path.relative_to(ROOT)}: the same bytes")
        return True
    text = there.decode()
    if differ_by_rounding(text, content.decode()):
        print(f"{path.relative_to(ROOT)}: the same, but for how processors round places")
        return True
    if with_fonts not in text and f"drawn {digest}" in text:
        print(f"{path.relative_to(ROOT)}: the same numbers (drawn by another matplotlib than {with_fonts})")
        return True
    print(f"{path.relative_to(ROOT)}: not what the JSON files give; run bench/plot.py")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.json", help="your own runs")
    parser.add_argument("--out", type=Path, metavar="DIR", help="the folder of their figures")
    arguments = parser.parse_args()
    results.own_files += [path.resolve() for path in arguments.files]
    folder = arguments.out or (results.own_files[0].parent if results.own_files else FIGURES)
    good, files, skipped = True, set(), []
    folder.mkdir(exist_ok=True)
    matplotlib.rcdefaults()
    with matplotlib.rc_context(STYLE):
        for draw in ALL:
            try:
                figure = svg(draw(), folder / f"{draw.__name__}.svg")
            except Missing as missing:
                skipped.append(f"{draw.__name__}: SKIPPED, no file has its rows; made by: {missing}")
                continue
            files.add(figure[0])
            if arguments.check:
                good = check(*figure) and good
            else:
                figure[0].write_bytes(figure[1])
                print(f"{figure[0]}: written")
    if skipped and not (results.own_files and files):
        print("\n".join(skipped))
    if results.own_files:
        sys.exit(0 if files else 1)
    for path in sorted(set(FIGURES.glob("*.svg")) - files):
        print(f"{path.relative_to(ROOT)}: no figure of bench/plot.py; remove it")
        good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
