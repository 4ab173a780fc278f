#!/usr/bin/env python3
"""Prints the tables of docs/performance.md from the JSON files of p2p_bench, near_field_bench and
starpu_scaling_bench.

    bench/table.py p2p.json near_field.json [--size 1024]
    bench/table.py --scaling starpu_scaling.json
    bench/table.py --own-leaves near_field.json         the table of docs/own_leaves.md

Figures are medians over the repetitions of one run; a ratio compares two medians of the same run.
"""

import argparse
import re
from collections import defaultdict

from figures.results import Run


def medians(path):
    """{benchmark name: pairs per second}, {benchmark name: seconds of processor time}, {benchmark name: share of the
    bound}; older files have no shares"""
    rows = Run(path).rows
    return tuple({name: row[counter] for name, row in rows.items() if counter in row}
                 for counter in ("pairs/s", "cpu_seconds", "of_bound"))


def percent(shares, name):
    return f", {shares[name]:.0%}" if name in shares else ""


def legend(shares):
    return ", and shares of the bound" if shares else ""


def p2p_table(rates, shares, size):
    """Rows: interaction, dimension, precision, instruction set; columns: rates and ratios."""
    rows = defaultdict(dict)
    for name, rate in rates.items():
        match = re.fullmatch(rf"p2p_inner/(\w+)/(\d)d/(f\d\d)/(\w+)/(\w+)/{size}", name)
        if match:
            interaction, dim, precision, isa, form = match.groups()
            rows[isa, dim, interaction, precision][form] = rate
            rows[isa, dim, interaction, precision]["share", form] = percent(shares, name)
    rows = {key: r for key, r in rows.items() if "seed_loop" in r}
    if not rows:
        return {}
    print(f"N = {size}, G directed pairs/s; ratios to the xsimd kernel{legend(shares)}\n")
    print("| ISA | dim | interaction | precision | plain loop | xsimd kernel | one-sided | mutual |")
    print("|---|---|---|---|---|---|---|---|")
    for (isa, dim, interaction, precision), r in sorted(rows.items()):
        seed = r["seed_xsimd"]
        cells = [f"{r['seed_loop'] / 1e9:.2f}", f"{seed / 1e9:.2f}"]
        cells += [
            f"{r[form] / 1e9:.2f} ({r[form] / seed:.2f} x{r['share', form]})" for form in ("one_sided", "mutual")
        ]
        print(f"| {isa} | {dim} | {interaction} | {precision} | " + " | ".join(cells) + " |")
    return {
        (isa, interaction, precision): r["seed_xsimd"]
        for (isa, dim, interaction, precision), r in rows.items()
        if dim == "3"
    }


def near_field_table(rates, shares, seeds):
    rows, of_bound = defaultdict(dict), {}
    for name, rate in rates.items():
        match = re.fullmatch(r"near_field/(\w+)/3d/(f\d\d)/(\w+)/(\w+)/(\d+)", name)
        if match:
            interaction, precision, isa, form, leaf = match.groups()
            rows[isa, interaction, precision, form][int(leaf)] = rate
            of_bound[isa, interaction, precision, form, int(leaf)] = percent(shares, name)
    ours = {key: r for key, r in sorted(rows.items()) if key[3] in ("one_sided", "mutual")}
    leaves = [leaf for leaf in sorted(next(iter(ours.values()))) if leaf >= 16]
    print("\nWhole near field, one core, 32^3 boxes, G directed pairs/s; ratios to the xsimd kernel on one box"
          + legend(shares) + "\n")
    print("| ISA | interaction | precision | form | " + " | ".join(map(str, leaves)) + " |")
    print("|---|---|---|---|" + "---|" * len(leaves))
    for (isa, interaction, precision, form), r in ours.items():
        seed = seeds.get((isa, interaction, precision))
        cells = [
            f"{r[leaf] / 1e9:.2f}"
            + (f" ({r[leaf] / seed:.2f} x{of_bound[isa, interaction, precision, form, leaf]})" if seed else "")
            for leaf in leaves
        ]
        print(f"| {isa} | {interaction} | {precision} | {form} | " + " | ".join(cells) + " |")

    leaves = (4, 8, 16)
    small = []
    for (isa, interaction, precision, form), r in ours.items():
        loop = rows.get((isa, interaction, precision, "seed_loop" + ("_mutual" if form == "mutual" else "")), {})
        simd = rows.get((isa, interaction, precision, "seed_xsimd"), {})
        if all(leaf in r and leaf in loop and leaf in simd for leaf in leaves):
            cells = [f"{r[leaf] / loop[leaf]:.2f}, {r[leaf] / simd[leaf]:.2f}" for leaf in leaves]
            small.append(f"| {isa} | {interaction} | {precision} | {form} | " + " | ".join(cells) + " |")
    if small:
        print("\nSmall leaves, the same boxes: our rate over that of the plain loop of the same form, and over that")
        print("of the xsimd kernel, which is one-sided\n")
        print("| ISA | interaction | precision | form | " + " | ".join(f"{leaf} points" for leaf in leaves) + " |")
        print("|---|---|---|---|" + "---|" * len(leaves))
        print("\n".join(small))


def right_hand_sides_table(times):
    """Rows: instruction set, interaction, precision, form, points; columns: the time of a call with several right-hand
    sides over that with one."""
    rows = defaultdict(dict)
    for name, time in times.items():
        match = re.fullmatch(r"p2p_rhs/(\w+)/3d/(f\d\d)/(\w+)/(\w+)/(\d+)_rhs/(\d+)", name)
        if match:
            interaction, precision, isa, form, rhs, size = match.groups()
            rows[isa, interaction, precision, form, int(size)][int(rhs)] = time
    rows = {key: r for key, r in rows.items() if 1 in r}
    if not rows:
        return
    counts = sorted(set().union(*rows.values()) - {1})
    print("\nSeveral right-hand sides in one call: its time over that of one\n")
    print("| ISA | interaction | precision | form | points | " + " | ".join(map(str, counts)) + " |")
    print("|---|---|---|---|---|" + "---|" * len(counts))
    for key, r in sorted(rows.items()):
        cells = [f"{r[n] / r[1]:.2f}" if n in r else "" for n in counts]
        print(f"| {' | '.join(map(str, key))} | " + " | ".join(cells) + " |")


def calls_table(times):
    """Rows: instruction set, interaction, precision, form; columns: ns of a call on boxes of so many points."""
    rows = defaultdict(dict)
    for name, time in times.items():
        match = re.fullmatch(r"p2p_call/(\w+)/3d/(f\d\d)/(\w+)/(\w+)/(\d+)", name)
        if match:
            interaction, precision, isa, form, size = match.groups()
            rows[isa, interaction, precision, form][int(size)] = time
    if not rows:
        return
    sizes = sorted(set().union(*rows.values()))
    print("\nOne call on small boxes, ns\n")
    print("| ISA | interaction | precision | form | " + " | ".join(f"{n} points" for n in sizes) + " |")
    print("|---|---|---|---|" + "---|" * len(sizes))
    for key, r in sorted(rows.items()):
        print(f"| {' | '.join(key)} | " + " | ".join(f"{r[n] * 1e9:.0f}" if n in r else "" for n in sizes) + " |")


def scaling_table(rates, shares):
    """Rows: workers; the speed-up over one worker, and the efficiency: that over the number of workers."""
    rows = defaultdict(dict)
    for name, rate in rates.items():
        match = re.fullmatch(r"starpu_scaling/one_over_r/3d/(f\d\d)/65536/workers:(\d+)", name)
        if match:
            rows[int(match[2])][match[1]] = rate
            rows[int(match[2])]["share", match[1]] = percent(shares, name)
    precisions = sorted(key for key in rows[1] if isinstance(key, str))
    print(f"All pairs of N = 65,536 points as StarPU tasks, 1/r in 3D, one-sided{legend(shares)}\n")
    print("| workers | " + " | ".join(f"{p}, G pairs/s | speed-up | efficiency" for p in precisions) + " |")
    print("|" + "---|" * (1 + 3 * len(precisions)))
    for workers, r in sorted(rows.items()):
        times = {p: r[p] / rows[1][p] for p in precisions}
        cells = [f"{r[p] / 1e9:.1f}{r['share', p]} | {times[p]:.1f} | {times[p] / workers:.2f}" for p in precisions]
        print(f"| {workers} | " + " | ".join(cells) + " |")


OWN_LEAVES = {
    "plain loop": "columns/plain_loop",
    "plain loop, mutual": "columns/plain_loop_mutual",
    "`p2p_outer` for each neighbour": "columns/each_neighbour",
    "`p2p_outer_mutual` for each neighbour": "columns/each_neighbour_mutual",
    "`p2p_leaf`": "columns/p2p_leaf",
    "`p2p_leaf`, mutual": "columns/p2p_leaf_mutual",
    "`near_field` over one array, mutual": "columns/one_array_mutual",
    "records: plain loop": "records/plain_loop",
    "records: plain loop, mutual": "records/plain_loop_mutual",
    "records: `p2p_leaf`": "records/p2p_leaf",
    "records: `p2p_leaf`, mutual": "records/p2p_leaf_mutual",
}


def own_leaves_table(times):
    """Rows: calls; columns: ms of processor time of all leaves."""
    columns = [("f64", 98), ("f64", 12), ("f32", 98), ("f32", 12)]
    print("| | " + " | ".join(f"{p}, {n} a leaf" for p, n in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for words, row in OWN_LEAVES.items():
        cells = [times[f"own_leaves/one_over_r/3d/{p}/{row}/{n}"] for p, n in columns]
        print(f"| {words} | " + " | ".join(f"{1e3 * time:.3g}" for time in cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("p2p", nargs="?", help="JSON of p2p_bench")
    parser.add_argument("near_field", nargs="?", help="JSON of near_field_bench")
    parser.add_argument("--size", type=int, default=1024, help="points of the box (1024)")
    parser.add_argument("--scaling", help="JSON of starpu_scaling_bench")
    parser.add_argument("--own-leaves", help="JSON of near_field_bench --benchmark_filter=^own_leaves/")
    arguments = parser.parse_args()
    if arguments.own_leaves:
        own_leaves_table(medians(arguments.own_leaves)[1])
    if arguments.scaling:
        rates, _, shares = medians(arguments.scaling)
        scaling_table(rates, shares)
    if not arguments.p2p:
        return
    rates, times, shares = medians(arguments.p2p)
    seeds = p2p_table(rates, shares, arguments.size)
    right_hand_sides_table(times)
    calls_table(times)
    if arguments.near_field:
        rates, _, shares = medians(arguments.near_field)
        near_field_table(rates, shares, seeds)


if __name__ == "__main__":
    main()
