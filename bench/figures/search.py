"""The radius search beside published times."""

import json
from statistics import median

from matplotlib import patches, pyplot

from figures.results import RESULTS, Missing, benchmark, runs
from figures.style import caption, in_words, time_axis


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
        patches.Patch(linewidth=0.8, edgecolor="#000000", label=name, facecolor=looks[key]["color"],
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
