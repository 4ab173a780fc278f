"""The strategies of the Kokkos study beside ours."""

from matplotlib import pyplot

from figures.results import Missing, benchmark, runs
from figures.style import (BASELINE, IDEAL, MUTUAL, ONE_SIDED, PRECISIONS, caption, count_axis, draw_curve, time_axis)

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
