"""P2P of one box on a core and on a GPU; the near field beside its bound, and inside other libraries."""

import json

from matplotlib import pyplot

from figures.results import RESULTS, Missing, benchmark, runs
from figures.style import BASELINE, MUTUAL, ONE_SIDED, PRECISIONS, caption, draw_curve, times_and_ratios


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
