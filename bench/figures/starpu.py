"""StarPU's workers: how a step scales, and who computed what."""

import json

from matplotlib import pyplot

from figures.results import RESULTS, Missing, benchmark, runs
from figures.style import IDEAL, MUTUAL, ONE_SIDED, caption, count_axis, draw_curve, time_axis


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


def step_on_workers():
    """Which worker ran which task of a step when: on a GPU and beside it, and beside one made slow."""
    panels = [("uniform_64^3x64-one_over_r-f32", "16.8e6 points, 1/r, f32"),
              ("uniform_32^3x64-one_over_r_slower-f32", "2.1e6 points, 1/r, f32, on a GPU made slow by a kernel that"
               " repeats its work")]
    run = next(iter(runs("starpu_shares_bench")), None)
    machine = run.file.name.removesuffix("starpu_shares.json") if run else ""
    folder = run.file.parent if run else RESULTS
    recorded = [folder / f"{machine}starpu_shares-{row.replace('^', '_')}.tasks.json" for row, _ in panels]
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
