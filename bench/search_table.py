#!/usr/bin/env python3
"""Prints the tables of the radius search in docs/performance.md.

    bench/search_table.py search_bench.json ...        one core: a row for each cloud and precision
    bench/search_table.py search_cuda_bench.json       a GPU
    bench/search_table.py starpu_search_bench.json     workers of StarPU beside one core

Figures are medians over the repetitions of one run; a ratio compares two medians of the same run.
"""

import argparse
import re

from cuda_table import percent
from figures.results import Run


def clouds_of(rows, program):
    """[(cloud, precision)] in the order of the file, and how the rows of one begin"""
    found = {}
    for name in rows:
        match = re.match(rf"({program}/(\w+(?:/\d+)?)/(f32|f64))/", name)
        if match:
            found.setdefault(match[1], (match[2], match[3]))
    return found


def print_row(cells):
    print("| " + " | ".join(cells) + " |")


def print_head(titles):
    print_row(titles)
    print("|" + "---|" * len(titles))


def as_time(text):
    return float(text) if text != "-" else float("inf")


def one_core(rows, machine):
    print(f"\n{machine}; ms of processor time, and, in newer files, share of the bound by bandwidth\n")
    print_head(["cloud", "precision", "half COO, fresh", "reused", "count", "full CSR",
                "the baseline, fresh / reused", "nanoflann", "MB, half COO", "full CSR"])
    for start, (cloud, precision) in clouds_of(rows, "search").items():

        def ms(name):
            return rows.get(f"{start}/{name}", {}).get("cpu_ms")

        def shown(name):
            # three digits, but no exponent
            if not ms(name):
                return "-"
            return f"{ms(name):.3g}" if ms(name) < 1000 else f"{round(ms(name), -1):.0f}"

        def memory(name):
            row = rows.get(f"{start}/nearfield/{name}/fresh", {})
            if "peak_bytes" not in row:
                return "-"
            offsets = 8 * float(re.search(r"_(1e\d)/", cloud + "/")[1]) if name == "full_csr" else 0
            result = 8 * row["half_pairs"] + offsets
            return f"{row['peak_bytes'] / 1e6:.0f} of {result / 1e6:.0f}"

        baselines = []
        for buffers in ("fresh", "reused"):
            base, ours = ms(f"cell_pairs/k2/{buffers}"), ms(f"nearfield/half_coo/{buffers}")
            baselines.append(f"{base:.0f} ({base / ours:.1f} x)" if base and ours else "-")
        of_bound = percent(rows.get(f"{start}/nearfield/half_coo/reused", {}))
        print_row([cloud, precision, shown("nearfield/half_coo/fresh"),
                   shown("nearfield/half_coo/reused") + of_bound, shown("nearfield/count/reused"),
                   shown("nearfield/full_csr/reused"), " / ".join(baselines),
                   min(shown("nanoflann/leaf10/reused"), shown("nanoflann/leaf32/reused"), key=as_time),
                   memory("half_coo"), memory("full_csr")])


def gpu(rows, machine):
    print(f"\n{machine}; ms, and shares of the bound by bandwidth, which newer files have\n")
    print_head(["cloud", "precision", "half pairs", "half COO", "full CSR", "count",
                "Thrust, cudaMalloc", "Thrust, pooled", "piNNS walk", "piNNS table", "MB, COO", "CSR", "count"])
    for start, (cloud, precision) in clouds_of(rows, "search_cuda").items():

        def ms(name):
            return rows[f"{start}/{name}"]["seconds"] * 1e3 if f"{start}/{name}" in rows else None

        def shown(name):
            return f"{ms(name):.3f}{percent(rows[f'{start}/{name}'])}" if ms(name) else "-"

        def thrust(buffers):
            theirs, ours = ms(f"thrust/k2/{buffers}"), ms(f"nearfield/half_coo/{buffers}")
            if not theirs:
                return "-"
            text = f"{theirs:.1f}"
            return text + (f" ({theirs / ours:.1f} x of {ours:.2f})" if ours else "")

        def memory(name):
            row = rows[f"{start}/nearfield/{name}/pooled"]
            peak = f"{row['peak_bytes'] / 1e6:.0f}"
            return peak + (f" of {row['result_bytes'] / 1e6:.0f}" if row.get("result_bytes") else "")

        pairs = rows[f"{start}/nearfield/half_coo/pooled"]["half_pairs"]
        print_row([cloud, precision, f"{pairs / 1e6:.1f}", shown("nearfield/half_coo/pooled"),
                   shown("nearfield/full_csr/pooled"), shown("nearfield/count/pooled"),
                   thrust("fresh"), thrust("pooled"), shown("pinns/walk/tested"), shown("pinns/table/tested"),
                   memory("half_coo"), memory("full_csr"), memory("count")])


def kinds(rows):
    """Searches other than half pairs of one set in an open box, one core's or a GPU's."""
    print()
    print_head(["search", "precision", "result", "pairs", "ms"])
    for name, row in rows.items():
        _, kind, precision, _, result, *_ = name.split("/")
        print_row([kind.replace("_", " "), precision, result.replace("_", " "), f"{row['pairs'] / 1e6:.1f}e6",
                   f"{row['seconds'] * 1e3:.3g}{percent(row)}"])


def starpu(rows, machine):
    print(f"\n{machine}\n")
    print_head(["cloud", "precision", "result", "one core, ms", "workers, ms", "wall clock",
                "processor time"])
    for name, row in rows.items():
        _, cloud, seed, precision, result = name.split("/")
        print_row([f"{cloud}/{seed}", precision, result, f"{row['one_core_ms']:.0f}",
                   f"{row['seconds'] * 1e3:.0f}{percent(row)}", f"{row['speedup']:.2f} x", f"{row['cpu_speedup']:.2f} x"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("json", nargs="+")
    for path in parser.parse_args().json:
        run = Run(path)
        rows, machine = run.rows, run.context.get("gpu") or run.context.get("cpu", "")
        others = {name: row for name, row in rows.items() if "_kinds/" in name}
        clouds = {name: row for name, row in rows.items() if name not in others}
        if clouds:
            first = next(iter(clouds)).split("/")[0]
            {"search": one_core, "search_cuda": gpu, "starpu_search": starpu}[first](clouds, machine)
        if others:
            kinds(others)


if __name__ == "__main__":
    main()
