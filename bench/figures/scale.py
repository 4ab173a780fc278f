"""Steps over the ranks of a machine, and of a simulated cluster."""

import re

from matplotlib import pyplot

from figures.results import Missing, runs
from figures.style import BASELINE, IDEAL, MUTUAL, ONE_SIDED, caption, count_axis, draw_curve, time_axis


def simgrid_scale():
    """Weak scaling as a share of one GPU's rate, and the times of strong scaling"""
    run = next(iter(runs("simgrid_scaling")), None)
    if not run or not run.curve(r"simgrid/strong/8_links/new_inputs/(\d+)"):
        raise Missing("./dev simgrid && cmake --preset simgrid && cmake --build --preset simgrid && bench/simgrid_scaling.py")
    curves = (("8_links", "standing", "standing", BASELINE), ("8_links", "new_inputs", "new inputs", ONE_SIDED),
              ("1_link", "new_inputs", "new inputs, one link a node", MUTUAL),
              ("8_links", "first", "new positions and inputs", {"color": "#009E73", "marker": "v", "linestyle": "-"}))
    figure, (weak, strong) = pyplot.subplots(1, 2, figsize=(9, 4.2))
    for fabric, row, label, style in curves:
        times = run.curve(rf"simgrid/weak/{fabric}/{row}/(\d+)")
        pairs = dict(run.curve(rf"simgrid/weak/{fabric}/{row}/(\d+)", "pairs"))
        one = run.rows[f"simgrid/weak/8_links/{row}/1"]
        draw_curve(weak, [(n, pairs[n] / time / n * one["seconds"] / one["pairs"]) for n, time in times], label, style)
        draw_curve(strong, run.curve(rf"simgrid/strong/{fabric}/{row}/(\d+)"), label, style)
    times = run.curve(r"simgrid/strong/8_links/new_inputs/(\d+)")
    draw_curve(strong, [(n, times[0][1] * times[0][0] / n) for n, _ in times], "ideal", IDEAL)
    weak.set_ylim(0, 1.05)
    weak.set_ylabel("pairs a second and GPU, over those of one GPU")
    weak.set_title("weak: 16.8e6 points a GPU")
    weak.legend(loc="lower left")
    time_axis(strong.yaxis, (1, 2, 5))
    strong.set_ylabel("time of a step")
    strong.set_title("strong: 1.07e9 points")
    strong.legend()
    count_axis(weak, "GPUs", [2**n for n in range(0, 10, 2)] + [512], base=2)
    count_axis(strong, "GPUs", [n for n, _ in times], base=2)
    figure.suptitle("Near fields over the GPUs of a cluster, simulated: 1/r, f32, 64 points a leaf", fontsize=10)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    caption(figure, "Simulated, not run: the library's tasks and messages in StarPU's SimGrid mode; tasks last as long as on an"
            " H100 (bench/results/h100-cuda.json).",
            "Nodes of 8 GPUs, a fat tree of links of 400 Gb/s: one for each GPU, or one for each node. Left: higher is better."
            " Right: lower is better.", run.source())
    return figure


def weak_scaling():
    """Pairs a second and rank of near fields over the cores of one machine, beside ranks that do not meet"""
    weak = r"starpu_mpi/weak/one_over_r/3d/f32/1000000"
    run = next((found for found in runs("starpu_mpi_bench") if found.curve(rf"{weak}/ranks:(16)/standing")), None)
    if not run:
        raise Missing("bench/starpu_mpi_runs.sh FOLDER && bench/starpu_mpi_table.py FOLDER OUT.json, on 16 cores")

    def rate(rows, seconds=lambda row: row["seconds"]):
        found = [(re.fullmatch(rf"{weak}/{rows}", name), row) for name, row in run.rows.items()]
        return sorted((int(match[1]), row["pairs"] / seconds(row) / int(match[1]) / 1e9) for match, row in found if match)

    figure, axes = pyplot.subplots(figsize=(6.5, 4.2))
    draw_curve(axes, rate(r"one_process:(\d+)/standing"), "one process with as many workers", IDEAL)
    draw_curve(axes, rate(r"ranks:(\d+)/independent/standing"), "ranks that do not meet, their mean", BASELINE)
    draw_curve(axes, rate(r"ranks:(\d+)/independent/standing", lambda row: row["slowest_ms"] / 1e3),
               "the slowest of these",
               {"color": "#009E73", "marker": "v", "linestyle": "--"})
    draw_curve(axes, rate(r"ranks:(\d+)/standing"), "ranks, standing", ONE_SIDED)
    draw_curve(axes, rate(r"ranks:(\d+)/new_inputs"), "ranks, new inputs", MUTUAL)
    axes.set_ylim(0)
    axes.set_ylabel("G pairs a second and rank")
    axes.legend(loc="lower left")
    count_axis(axes, "ranks with one worker each, on 16 cores", [1, 2, 4, 8, 16], base=2)
    figure.suptitle("Near fields over ranks: 1/r, f32, 1e6 points a rank", fontsize=10)
    figure.tight_layout(rect=(0, 0.08, 1, 1))
    caption(figure, f"{run.machine()}. Higher is better. A step of all ranks ends with the slowest of them.",
            run.source())
    return figure
