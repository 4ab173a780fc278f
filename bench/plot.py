#!/usr/bin/env python3
"""Draws the figures of docs/figures from the JSON files of bench/results.

    bench/plot.py            write docs/figures/*.svg
    bench/plot.py --check    are they what the JSON files give? Exit status: 0 yes, 1 no, 77 no matplotlib

A figure whose rows no file has is skipped, with the command that makes them. Every point is a median
over the repetitions of one run, and a ratio compares two medians of the same run. The same files and
the same matplotlib (Debian's python3-matplotlib) give the same bytes. With another matplotlib, --check
compares what is drawn, not how: the hash of the numbers and labels that each figure carries.
"""

import argparse
import hashlib
import json
import re
import sys
from collections import defaultdict
from io import BytesIO
from pathlib import Path
from statistics import median

try:
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import ft2font, pyplot, ticker
except ImportError:
    print("SKIPPED: no matplotlib (Debian: python3-matplotlib)")
    sys.exit(77)

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results"
FIGURES = ROOT / "docs" / "figures"

# Colours of Okabe and Ito, which the colour-blind tell apart; markers and dashes serve black and white.
BASELINE = {"color": "#000000", "marker": "s", "linestyle": "--", "markerfacecolor": "white"}
ONE_SIDED = {"color": "#0072B2", "marker": "o", "linestyle": "-"}
MUTUAL = {"color": "#D55E00", "marker": "^", "linestyle": "-."}
IDEAL = {"color": "#777777", "linestyle": ":"}

STYLE = {
    "svg.hashsalt": "nearfield",
    # letters stay text; where there is no DejaVu Sans, Verdana is as wide
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana"],
    "font.size": 9,
    "axes.titlesize": 9,
    "axes.grid": True,
    "axes.grid.which": "major",
    "grid.color": "#dddddd",
    "axes.axisbelow": True,
    "legend.fontsize": 8,
    "legend.frameon": True,
    "lines.markersize": 5,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.5,
}


def benchmark(program, options=""):
    """The command that makes a file of results"""
    name = Path(program).name.removesuffix("_bench")
    return (f"{program} {options} --benchmark_out=bench/results/MACHINE-{name}.json --benchmark_out_format=json"
            " --benchmark_context=commit=$(git rev-parse --short HEAD),machine=WORDS")


class Missing(Exception):
    """No file of results has the rows of a figure; says which command makes them."""


class Run:
    """One JSON file of Google Benchmark: {row: {counter: median}}, `seconds` the time of a row."""

    UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

    def __init__(self, path):
        content = json.loads(path.read_text())
        self.file, self.context = path.name, content["context"]
        repetitions, aggregates, deviations = defaultdict(lambda: defaultdict(list)), {}, {}
        for entry in content["benchmarks"]:
            if entry.get("error_occurred"):
                raise SystemExit(f"{path}: {entry['run_name']}: {entry['error_message']}")
            name = re.sub(r"/(iterations:\d+|repeats:\d+|manual_time|real_time)", "", entry["run_name"])
            row = {key: value for key, value in entry.items() if isinstance(value, (int, float))}
            row["seconds"] = entry["real_time"] * self.UNITS[entry["time_unit"]]
            if entry["run_type"] == "iteration":
                for counter, value in row.items():
                    repetitions[name][counter].append(value)
            elif entry["aggregate_name"] == "median":
                aggregates[name] = row
            elif entry["aggregate_name"] == "stddev":
                deviations[name] = row
        # the slowest and the fastest repetition or, where the file has aggregates only, one standard deviation
        self.limits = {
            name: {key: (row[key] - off[key], row[key] + off[key]) for key in row if key in off}
            for name, row in aggregates.items() for off in (deviations.get(name, {}),)
        } | {
            name: {counter: (min(found), max(found)) for counter, found in counters.items()}
            for name, counters in repetitions.items()
        }
        self.rows = aggregates | {
            name: {counter: median(found) for counter, found in counters.items()}
            for name, counters in repetitions.items()
        }

    def curve(self, pattern, counter="seconds"):
        """[(number, value)] of the rows that match; the pattern's group is the number."""
        found = [(re.fullmatch(pattern, name), row[counter]) for name, row in self.rows.items()]
        return sorted((int(match[1]), value) for match, value in found if match)

    def band(self, pattern, counter="seconds"):
        """[(number, lowest, highest)] of the same rows"""
        found = [(re.fullmatch(pattern, name), row[counter]) for name, row in self.limits.items() if counter in row]
        return sorted((int(match[1]), *limits) for match, limits in found if match)

    def value(self, name, counter="seconds"):
        return self.rows[name][counter]

    def machine(self):
        """In words, with what else ran there where the file says so."""
        for key in ("gpu", "cpu", "machine"):
            if key in self.context:
                return self.context[key].split(";")[0].split(" (two by")[0]
        return self.context["host_name"]

    def processor(self):
        return re.split(r",| \d+ cores", self.machine())[0]

    def source(self):
        return f"bench/results/{self.file}, commit {self.context.get('commit', 'unknown')}"


def runs(executable):
    """The files that a benchmark has written, in the order of their names."""
    found = []
    for path in sorted(RESULTS.glob("*.json")):
        context = json.loads(path.read_text()).get("context", {})
        if Path(context.get("executable", "")).name == executable:
            found.append(Run(path))
    return found


def ratio(over, under):
    """[(number, over / under)] where both curves have the number"""
    under = dict(under)
    return [(n, value / under[n]) for n, value in over if n in under]


def draw_curve(axes, curve, label, style, band=()):
    axes.plot([n for n, _ in curve], [value for _, value in curve], label=label, **style)
    if band:
        axes.fill_between(*zip(*band), color=style["color"], alpha=0.25, linewidth=0)


def caption(figure, *lines):
    figure.text(0.01, 0.005, "\n".join(lines), fontsize=7, color="#333333", va="bottom")


def count_axis(axes, name, numbers, base=None):
    axes.set_xscale("log", **({"base": base} if base else {}))
    axes.set_xticks(numbers, [f"{n:,}" if n < 1000000 else "1e6" for n in numbers])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(name)


def in_words(seconds):
    """20 us, 1 s"""
    unit, name = next((u for u in ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")) if seconds >= 0.999 * u[0]))
    return f"{seconds / unit:.3g} {name}"


def time_axis(axis, steps=(1,)):
    """A logarithmic axis of seconds with labels at `steps` of each decade"""
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_major_locator(ticker.LogLocator(subs=steps, numticks=99))
    axis.set_major_formatter(lambda seconds, _: in_words(seconds))
    axis.set_minor_locator(ticker.NullLocator())


def times_and_ratios(title, columns, numbers, baseline, ratio_name, notes):
    """Above the time of a call against N, below how many times as fast as the baseline each form is; a
    column for each precision: {precision: [(label, curve, style, band)]}, the baseline first."""
    figure, axes = pyplot.subplots(
        2, len(columns), figsize=(8, 6), sharex=True, sharey="row", height_ratios=(3, 2), squeeze=False
    )
    for column, (precision, curves) in enumerate(columns.items()):
        above, below = axes[:, column]
        for label, curve, style, band in curves:
            draw_curve(above, curve, label, style, band)
        for label, curve, style, _ in curves[1:]:
            draw_curve(below, ratio(curves[0][1], curve), label, style)
        below.axhline(1, **BASELINE | {"marker": None, "linewidth": 1})
        time_axis(above.yaxis)
        above.set_title(precision)
        count_axis(below, "points in the box, N", numbers)
    axes[1][0].set_ylim(bottom=0)
    axes[0][0].set_ylabel("time of one call")
    axes[1][0].set_ylabel(ratio_name)
    axes[0][0].legend(loc="upper left")
    figure.suptitle(title, fontsize=10)
    figure.tight_layout(rect=(0, 0.02 + 0.022 * len(notes), 1, 1))
    caption(figure, *notes)
    return figure


PRECISIONS = {"f32": "single precision (f32)", "f64": "double precision (f64)"}


def simd_time():
    make = benchmark(
        "build/bench/bin/p2p_bench",
        "--benchmark_repetitions=5"
        " --benchmark_filter='^p2p_inner/one_over_r/3d/.*/(seed_xsimd|one_sided|mutual)/'",
    )
    forms = (("xsimd kernel", "seed_xsimd", BASELINE),
             ("one-sided", "one_sided", ONE_SIDED), ("mutual", "mutual", MUTUAL))
    best = None
    for run in runs("p2p_bench"):
        isa = next((i for i in ("avx512", "avx2", "sse2", "neon64") if any(f"/{i}/" in r for r in run.rows)), None)
        columns = {
            title: [(label, run.curve(pattern), style, run.band(pattern)) for label, form, style in forms
                    for pattern in (rf"p2p_inner/one_over_r/3d/{p}/{isa}/{form}/(\d+)",)]
            for p, title in PRECISIONS.items()
        }
        sizes = {tuple(n for n, _ in curve) for curves in columns.values() for _, curve, _, _ in curves}
        if len(sizes) == 1 and min(sizes) and (best is None or max(min(sizes)) > max(best[2])):
            best = run, columns, min(sizes), isa
    if best is None:
        raise Missing(make)
    run, columns, sizes, isa = best
    if max(sizes) < 65536:
        print(f"simd_time: rows of N = {max(sizes) * 4:,} ... 65,536 are MISSING; {make}")
    return times_and_ratios(
        f"All pairs of N points on one core, 1/r in 3D, {isa.upper().replace('AVX5', 'AVX-5')}",
        columns, sizes, BASELINE, "times as fast\nas the xsimd kernel",
        [f"{run.machine()}. Top: lower is better. Bottom: higher is better.",
         "The xsimd kernel is that of the Kokkos P2P study (CONCACE), extended to 3D, with the same flags.",
         f"Medians and spread: {run.source()}"],
    )


def starpu_scaling():
    # build/bench/bin has it too, but Debian 12's StarPU runs at most 4 workers
    make = benchmark("build/cuda/bin/starpu_scaling_bench", "--benchmark_repetitions=5")
    found = runs("starpu_scaling_bench")
    styles = {"f32": ("f32", ONE_SIDED), "f64": ("f64", MUTUAL)}
    best = None
    for run in found:
        curves = {p: run.curve(rf"starpu_scaling/one_over_r/3d/{p}/65536/workers:(\d+)") for p in styles}
        if all(len(curve) > 1 and curve[0][0] == 1 for curve in curves.values()):
            if best is None or curves["f32"][-1][0] > best[1]["f32"][-1][0]:
                best = run, curves
    if best is None:
        raise Missing(make)
    run, curves = best
    workers = [n for n, _ in curves["f32"]]
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 4))
    for p, (label, style) in styles.items():
        draw_curve(left, curves[p], label, style, run.band(rf"starpu_scaling/one_over_r/3d/{p}/65536/workers:(\d+)"))
        one = curves[p][0][1]
        draw_curve(left, [(n, one / n) for n in workers], "ideal" if p == "f64" else None, IDEAL)
        draw_curve(right, [(n, one / time) for n, time in curves[p]], label, style)
    draw_curve(right, [(n, n) for n in workers], "ideal", IDEAL)
    time_axis(left.yaxis, (1, 2, 5))
    left.set_ylabel("time until all tasks have ended")
    right.set_yscale("log", base=2)
    right.set_yticks(workers, [str(n) for n in workers])
    right.set_ylabel("times as fast as one worker")
    for axes in (left, right):
        count_axis(axes, "StarPU CPU workers", workers, base=2)
        axes.legend()
    figure.suptitle("Strong scaling: all pairs of N = 65,536 points as StarPU tasks, 1/r in 3D", fontsize=10)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    caption(figure, f"{run.machine()}. Left: lower is better. Right: higher is better.",
            "One-sided, 4,096 tasks of 1,024 x 1,024 pairs; StarPU 1.4, its default scheduler.",
            f"Medians and spread: {run.source()}")
    return figure


def gpu_time():
    make = benchmark("build/cuda/bin/cuda_bench", "--benchmark_repetitions=5")
    forms = (("classic kernel", "classic", BASELINE), ("one-sided", "one_sided", ONE_SIDED),
             ("mutual", "mutual", MUTUAL))
    for run in runs("cuda_bench"):
        columns = {
            title: [(label, run.curve(pattern), style, run.band(pattern)) for label, form, style in forms
                    for pattern in (rf"cuda/box/one_over_r/3d/{p}/{form}/(\d+)",)]
            for p, title in PRECISIONS.items()
        }
        sizes = {tuple(n for n, _ in curve) for curves in columns.values() for _, curve, _, _ in curves}
        if len(sizes) == 1 and min(sizes):
            return times_and_ratios(
                "All pairs of N points on one GPU, 1/r in 3D, data resident", columns, min(sizes), BASELINE,
                "times as fast\nas the classic kernel",
                [f"{run.machine()}. Top: lower is better. Bottom: higher is better.",
                 "Classic: one thread per target, tiles of 256 sources in shared memory, 1/sqrt. With fewer than about"
                 " 34,000 points",
                 "(a block of 256 threads for each of 132 multiprocessors) it does not fill the GPU: compare the"
                 " larger boxes.",
                 f"Medians and spread: {run.source()}"],
            )
    raise Missing(make)


def near_field():
    """The near field beside its bound on a GPU, and P2P inside two libraries beside their own."""
    cases = [("one_over_r", "1/r"), ("val_grad_one_over_r", "1/r and gradient")]
    run = next((r for r in runs("cuda_bench") if "cuda/bound/one_over_r/3d/f32/mutual" in r.rows), None)
    if run is None:
        raise Missing(benchmark("build/cuda/bin/cuda_bench", "--benchmark_repetitions=5"))
    figure, (left, right) = pyplot.subplots(1, 2, figsize=(8, 4.2), width_ratios=(5, 4))
    labels, bars, y = [], {}, 0
    for form, style in (("mutual", MUTUAL), ("one_sided", ONE_SIDED)):
        for kernel, words in reversed(cases):
            for p in ("f64", "f32"):
                row = f"cuda/leaves/{kernel}/3d/{p}/{form}/64"
                rate = run.value(row, "pairs/s") * 1e-12
                spread = [[abs(limit * 1e-12 - rate)] for limit in run.limits[row]["pairs/s"]]
                bound = run.value(f"cuda/bound/{kernel}/3d/{p}/{form}", "pairs/s") * 1e-12
                classic = run.value(f"cuda/leaves/{kernel}/3d/{p}/classic/64", "pairs/s") * 1e-12
                bars["bound"] = left.barh(y, bound, height=0.7, facecolor="white", edgecolor="#000000", linewidth=0.8)
                bars[form] = left.barh(y, rate, xerr=spread, height=0.7, facecolor=style["color"], capsize=2)
                bars["classic"], = left.plot([classic, classic], [y - 0.35, y + 0.35], color="#000000", linestyle=":")
                left.text(bound + 0.08, y, f"{rate / bound:.0%}", va="center", fontsize=8)
                labels.append(f"{words}, {p}, {form.replace('_', '-')}")
                y += 1
    left.set_yticks(range(len(labels)), labels)
    left.set_xlim(0, 5.9)
    left.set_xlabel("$10^{12}$ directed pairs/s; percentages: share of the bound")
    left.set_title(f"one {run.machine()}", loc="left")
    left.grid(axis="y", visible=False)
    left.legend([bars[name] for name in ("one_sided", "mutual", "bound", "classic")],
                ["one-sided", "mutual", "bound", "classic kernel"], loc="lower right")

    inside = json.loads((RESULTS / "embedded-p2p.json").read_text())
    leaves = inside["points_per_leaf"]
    for row, style in zip(inside["rows"], (MUTUAL, ONE_SIDED, BASELINE, BASELINE | {"marker": "D", "linestyle": ":"})):
        draw_curve(right, list(zip(leaves, row["ratio"])), f"{row['library']}, {row['form']}", style)
    right.axhline(1, color="#000000", linewidth=1)
    right.set_yscale("log", base=2)
    right.set_ylim(0.12, 12)
    right.set_yticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    right.set_xscale("log")
    right.set_xticks(leaves, [f"{n:.0f}" for n in leaves])
    right.set_xticks([], minor=True)
    right.set_xlabel("points per leaf")
    right.set_ylabel("times as fast as the library's own P2P")
    right.set_title("inside a library; 1/r, f64, one core", loc="left")
    right.legend(loc="lower right")
    figure.suptitle("The near field in 3D", fontsize=10)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    caption(figure, "Left: 32^3 boxes of 64 points, data resident, medians and spread. The bound is the measured rate of the same pairs with"
            " every operand in a register.",
            "Classic: one thread per target, tiles in shared memory, 1/sqrt, at its best block size."
            f" {run.source()}.",
            f"Right: {inside['source']}; AVX-512, one thread.")
    return figure


def radius_search():
    """Bars of time, published and measured on one GPU and one CPU, of the case that the Thrust page publishes."""
    titles = {"gpu": "GPUs, data resident", "cpu": "one CPU core"}
    published = json.loads((RESULTS / "published-radius_search.json").read_text())
    bars = {"gpu": [], "cpu": []}
    for row in published["rows"]:
        if row["cells_per_cutoff"] == 2:  # the faster one on every machine
            bars[row["kind"]].append((f"Thrust page, {row['machine']}" if row["kind"] == "gpu"
                                      else f"Thrust page's CPU form, {row['machine']}",
                                      *(f(row["times"]) * 1e-6 for f in (median, min, max)), "published"))
    sources = []

    def add(kind, run, counter, scale, rows):
        """Adds a bar for each of rows; whether the run has the first of them."""
        if rows[0][1] not in run.rows:
            return False
        for label, name in rows:
            if name in run.rows:
                low, high = run.limits[name][counter]
                bars[kind].append((label, run.value(name, counter) * scale, low * scale, high * scale, "measured"))
        sources.append(run.source())
        titles[kind] += f"; measured: {run.processor()}"
        return True

    cloud = "search_cuda/uniform_1e6/f64/"
    gpu = any(add("gpu", run, "seconds", 1, (
        ("nearfield, half COO", cloud + "nearfield/half_coo/pooled"),
        ("nearfield, full CSR", cloud + "nearfield/full_csr/pooled"),
        ("nearfield, count", cloud + "nearfield/count/pooled"),
        ("Thrust page, cudaMalloc", cloud + "thrust/k2/fresh"),
        ("Thrust page, pooled memory", cloud + "thrust/k2/pooled"))) for run in runs("search_cuda_bench"))
    cloud = "search/uniform_1e6/1/f64/"
    cpu = any(add("cpu", run, "cpu_ms", 1e-3, (
        ("nearfield, full CSR", cloud + "nearfield/full_csr/reused"),
        ("nearfield, half COO", cloud + "nearfield/half_coo/reused"),
        ("nearfield, count", cloud + "nearfield/count/reused"),
        ("Thrust page's CPU form", cloud + "cell_pairs/k2/reused"),
        ("nanoflann, full list", cloud + "nanoflann/leaf32/reused"))) for run in runs("search_bench") if "cpu" in run.context)
    if not gpu or not cpu:
        raise Missing(" and ".join(benchmark(program, "--benchmark_repetitions=3") for program in (
            "build/cuda/bin/search_cuda_bench", "build/bench/bin/search_bench")))

    figure, axes = pyplot.subplots(
        2, 1, figsize=(8, 7), height_ratios=[len(bars[kind]) for kind in titles], sharex=True
    )
    looks = {"published": {"color": "white", "hatch": "////"}, "measured": {"color": "#BBBBBB"},
             "nearfield": {"color": "#0072B2"}}
    for place, (kind, title) in zip(axes, titles.items()):
        rows = sorted(bars[kind], key=lambda bar: -bar[1])
        for y, (label, time, low, high, mark) in enumerate(rows):
            look = looks["nearfield" if label.startswith("nearfield") else mark]
            place.barh(y, time, height=0.7, linewidth=0.8, edgecolor="#000000", **look)
            place.plot([low, high], [y, y], color="#000000", linewidth=2)
            place.text(max(time, high) * 1.12, y, in_words(time), va="center", fontsize=8)
        place.set_yticks(range(len(rows)), [row[0] for row in rows])
        time_axis(place.xaxis)
        place.set_xlim(1e-4, 5e1)
        place.grid(axis="y", visible=False)
        place.set_title(title, loc="left")
    axes[-1].set_xlabel("time, cell list included (shorter is better)")
    names = {"nearfield": "nearfield, measured", "measured": "others, measured", "published": "published"}
    axes[0].legend(loc="upper right", handles=[
        matplotlib.patches.Patch(linewidth=0.8, edgecolor="#000000", label=name, facecolor=looks[key]["color"],
                                 hatch=looks[key].get("hatch"))
        for key, name in names.items()])
    figure.suptitle("All pairs within R = 0.03 of 1e6 uniform points, f64", fontsize=10)
    figure.tight_layout(rect=(0, 0.09, 1, 1))
    caption(figure,
            f"Published: {published['source']};",
            "its faster grid, two cells per cutoff; (?): the model is uncertain. Half lists of 54.6e6 pairs but where the label"
            " says otherwise.",
            "Medians and spread; CPU: processor time, buffers reused. Measured: " + sources[0] + ",",
            *(f"{source}" for source in sources[1:]))
    return figure


def step_on_workers():
    """Which worker ran which task of a step when: on a GPU and beside it, and beside one made slow."""
    panels = [("uniform_64^3x64-one_over_r-f32", "16.8e6 points, 1/r, f32"),
              ("uniform_32^3x64-one_over_r_slower-f32", "2.1e6 points, 1/r, f32, on a GPU made slow by a kernel that"
               " repeats its work")]
    run = next(iter(runs("starpu_shares_bench")), None)
    machine = run.file.removesuffix("starpu_shares.json") if run else ""
    recorded = [RESULTS / f"{machine}starpu_shares-{row.replace('^', '_')}.tasks.json" for row, _ in panels]
    if not run or not all(path.exists() for path in recorded):
        raise Missing("NEARFIELD_RECORDINGS=bench/results " + benchmark("build/cuda/bin/starpu_shares_bench")
                      + ", and MACHINE- before the names of *.tasks.json")
    kinds = {"p2p": ("P2P", MUTUAL["color"]), "collect": ("gather inputs", "#009E73"),
             "deliver": ("deliver sums", ONE_SIDED["color"])}
    figure, all_axes = pyplot.subplots(len(panels), 1, figsize=(8, 7.5))
    for axes, path, (row, title) in zip(all_axes, recorded, panels):
        tasks = json.loads(path.read_text())["tasks"]
        # GPUs above, CPU workers below
        workers = sorted({(not task["worker"].startswith("CUDA"), task["number"], task["worker"]) for task in tasks})
        place = {worker[2]: -y for y, worker in enumerate(workers)}
        for kind, (label, color) in kinds.items():
            mine = [task for task in tasks if task["name"].startswith(kind)]
            axes.barh([place[task["worker"]] for task in mine], [task["end_ms"] - task["begin_ms"] for task in mine],
                      left=[task["begin_ms"] for task in mine], height=0.8, color=color, edgecolor="white",
                      linewidth=0.3, label=label)
        axes.set_yticks(list(place.values()), list(place), fontsize=7)
        axes.grid(axis="y", visible=False)
        axes.set_xlabel("ms")
        axes.set_title(f"{title}: {run.value('starpu_shares/' + row.replace('-', '/'), 'gain'):.2f} x the GPU alone",
                       loc="left")
    figure.legend(*all_axes[0].get_legend_handles_labels(), loc="lower center", ncols=3, bbox_to_anchor=(0.5, 0.045))
    figure.suptitle(f"One step with new inputs and delivery on its workers: {run.machine()}", fontsize=10)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    caption(figure, "A GPU has two workers, whose tasks overlap. Ratios are of steps with data resident, without the"
            " blue and green tasks.", f"Recorded and timed in one run: {run.source()}")
    return figure


# The strategies of the Kokkos study: name, label, colour, marker
STRATEGIES = (("flat_range", "flat range", "#E69F00", "s"), ("reduce", "reduce", "#999999", "x"),
              ("nested_teams", "nested, teams", "#009E73", "v"), ("nested_vectors", "nested, vectors", "#56B4E9", "<"),
              ("hierarchical", "hierarchical", "#CC79A7", "D"), ("tiled", "tiled", "#F0E442", "P"),
              ("simd", "Kokkos SIMD", "#000000", "*"))
OURS = (("one_sided", "ours, one-sided", ONE_SIDED), ("mutual", "ours, mutual", MUTUAL))


def strategy_curves(axes, run, pattern, others):
    """A line for each strategy that has rows, at its fastest flags, and for our kernels and `others`; pattern has a
    place for the name."""
    lines = [((f"{name}_fast_math", name), label, {"color": colour, "marker": marker, "linewidth": 1})
             for name, label, colour, marker in STRATEGIES]
    for names, label, style in lines + [((name,), label, style) for name, label, style in others + OURS]:
        curve = next(filter(None, (run.curve(pattern.format(name)) for name in names)), [])
        if curve:
            draw_curve(axes, curve, label, style)
    numbers = sorted({x for line in axes.lines for x in line.get_xdata()})
    time_axis(axes.yaxis)
    return numbers


def kokkos_cpu():
    """Time against N on one thread and on all, and over threads"""
    over_threads = r"kokkos/inner/3d/f32/threads:(\d+)/{}/65536"
    found = [r for r in runs("kokkos_bench") if r.curve(over_threads.format("one_sided"))]
    if not found:
        raise Missing("OMP_PROC_BIND=spread OMP_PLACES=threads " +
                      benchmark("build/bench/bin/kokkos_bench", "--benchmark_repetitions=3"))
    run, scaling = found[0], max(found, key=lambda r: len(r.curve(over_threads.format("one_sided"))))
    threads = run.curve(over_threads.format("one_sided"))[-1][0]
    xsimd = (("seed_xsimd", "xsimd kernel", BASELINE),)
    figure, axes = pyplot.subplots(2, 3, figsize=(11, 6.6))
    for row, p in zip(axes, PRECISIONS):
        for place, n in zip(row, (1, threads)):
            numbers = strategy_curves(place, run, rf"kokkos/inner/3d/{p}/threads:{n}/{{}}/(\d+)", xsimd)
            numbers = [x for x in numbers if x <= 16384] if n == 1 else numbers
            count_axis(place, "points in the box, N", numbers)
            if n == 1:
                place.set_xlim(50, 21000)
            place.set_title(f"{p}, {n} thread" + "s" * (n > 1))
        row[0].set_ylabel("time of one call")
    time, speedup = axes[:, 2]
    numbers = strategy_curves(time, scaling, over_threads, ())
    count_axis(time, "threads", numbers, base=2)
    time.set_title("f32, N = 65,536")
    for line in time.lines:
        curve = list(zip(*line.get_data()))
        if curve[0][0] == 1 and len(curve) > 1:
            draw_curve(speedup, [(n, curve[0][1] / value) for n, value in curve], line.get_label(),
                       {key: getattr(line, f"get_{key}")() for key in ("color", "marker", "linestyle", "linewidth")})
    draw_curve(speedup, [(n, n) for n in numbers], "ideal", IDEAL)
    count_axis(speedup, "threads", numbers, base=2)
    speedup.set_title("the same: times as fast as one thread")
    figure.legend(*axes[0][0].get_legend_handles_labels(), loc="lower center", ncols=5, bbox_to_anchor=(0.5, 0.07))
    figure.suptitle("The strategies of the Kokkos P2P study on a CPU: all pairs of N points, 1/r in 3D", fontsize=10)
    figure.tight_layout(rect=(0, 0.15, 1, 1))
    caption(figure, f"{run.context['cpu']}; {run.context['kokkos']}, {run.context['compilers']}, {run.context['isa']}."
            " Lower is better, but for the speed-up. Each strategy at its best size of a team and with -ffast-math,",
            "which ours do not have. Ours on several threads: a part of the targets each, one-sided.",
            f"Medians: {run.source()}" + (f"; over threads: {scaling.source()}" if scaling is not run else ""))
    return figure


def kokkos_h100():
    """Time against N on a GPU"""
    run = next((r for r in runs("kokkos_cuda_bench") if r.curve(r"kokkos_cuda/inner/3d/f32/one_sided/(\d+)")), None)
    if run is None:
        raise Missing(benchmark("build/cuda/bin/kokkos_cuda_bench", "--benchmark_repetitions=3"))
    figure, axes = pyplot.subplots(1, 2, figsize=(8, 4.6), sharey=True)
    for place, (p, title) in zip(axes, PRECISIONS.items()):
        numbers = strategy_curves(place, run, rf"kokkos_cuda/inner/3d/{p}/{{}}/(\d+)",
                                  (("classic", "classic kernel", BASELINE),))
        count_axis(place, "points in the box, N", numbers)
        place.set_title(title)
    axes[0].set_ylabel("time of one call")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=5, bbox_to_anchor=(0.5, 0.09))
    figure.suptitle("The strategies of the Kokkos P2P study on one GPU: all pairs of N points, 1/r in 3D", fontsize=10)
    figure.tight_layout(rect=(0, 0.19, 1, 1))
    caption(figure, f"{run.machine()}; {run.context['kokkos']}. Lower is better; data resident.",
            "Each strategy at its best sizes of team, vector and chunk. Classic: one thread per target, tiles of sources in"
            " shared memory, 1/sqrt.",
            f"Medians: {run.source()}")
    return figure


ALL = (near_field, simd_time, starpu_scaling, step_on_workers, gpu_time, radius_search, kokkos_cpu, kokkos_h100)


def drawn(figure):
    """A hash of the numbers, the labels and the colours of a figure."""
    content = [text.get_text() for text in figure.findobj(matplotlib.text.Text)]
    for axes in figure.axes:
        content += [f"{line.get_color()} {x:.9g} {y:.9g}" for line in axes.lines
                    for x, y in line.get_xydata().tolist()]
        content += [f"{patch.get_facecolor()} {patch.get_width():.9g}" for patch in axes.patches]
    return hashlib.sha256("\n".join(sorted(filter(None, content))).encode()).hexdigest()


def svg(figure, name):
    """The bytes of the file, which name what drew it and carry the hash."""
    path = FIGURES / f"{name}.svg"
    with_fonts = f"matplotlib {matplotlib.__version__}, FreeType {ft2font.__freetype_version__}"
    digest = drawn(figure)
    buffer = BytesIO()
    figure.savefig(buffer, format="svg", metadata={
        "Date": None, "Title": name, "Creator": f"bench/plot.py, {with_fonts}", "Description": f"drawn {digest}"})
    pyplot.close(figure)
    return path, buffer.getvalue(), with_fonts, digest


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
    if with_fonts not in text and f"drawn {digest}" in text:
        print(f"{path.relative_to(ROOT)}: the same numbers (drawn by another matplotlib than {with_fonts})")
        return True
    print(f"{path.relative_to(ROOT)}: not what the JSON files give; run bench/plot.py")
    return False


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    arguments = parser.parse_args()
    good, files = True, set()
    FIGURES.mkdir(exist_ok=True)
    matplotlib.rcdefaults()
    with matplotlib.rc_context(STYLE):
        for draw in ALL:
            try:
                figure = svg(draw(), draw.__name__)
            except Missing as missing:
                print(f"{draw.__name__}: SKIPPED, no file of bench/results has its rows; made by: {missing}")
                continue
            files.add(figure[0])
            if arguments.check:
                good = check(*figure) and good
            else:
                figure[0].write_bytes(figure[1])
                print(f"{figure[0].relative_to(ROOT)}: written")
    for path in sorted(set(FIGURES.glob("*.svg")) - files):
        print(f"{path.relative_to(ROOT)}: no figure of bench/plot.py; remove it")
        good = False
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
