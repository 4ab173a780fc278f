#!/usr/bin/env python3
"""Prints the tables of docs/performance.md from the JSON files of p2p_bench and near_field_bench.

    bench/table.py p2p.json near_field.json [--size 1024]

Figures are medians over the repetitions of one run; a ratio compares two medians of the same run.
"""

import argparse
import json
import re
from collections import defaultdict


def medians(path):
    """{benchmark name: pairs per second}, the JSON's context"""
    with open(path) as file:
        content = json.load(file)
    rates = {}
    for entry in content["benchmarks"]:
        if entry.get("aggregate_name") == "median" and "pairs/s" in entry:
            rates[entry["run_name"]] = entry["pairs/s"]
    if not rates:
        raise SystemExit(f"{path}: no medians; run the benchmark with --benchmark_repetitions=9")
    return rates, content["context"]


def p2p_table(rates, size):
    """Rows: interaction, dimension, precision, instruction set; columns: rates and ratios."""
    rows = defaultdict(dict)
    for name, rate in rates.items():
        match = re.fullmatch(rf"p2p_inner/(\w+)/(\d)d/(f\d\d)/(\w+)/(\w+)/{size}", name)
        if match:
            interaction, dim, precision, isa, form = match.groups()
            rows[isa, dim, interaction, precision][form] = rate
    print(f"N = {size}, G directed pairs/s; ratios to the xsimd kernel\n")
    print("| ISA | dim | interaction | precision | plain loop | xsimd kernel | one-sided | mutual |")
    print("|---|---|---|---|---|---|---|---|")
    for (isa, dim, interaction, precision), r in sorted(rows.items()):
        seed = r["seed_xsimd"]
        cells = [f"{r['seed_loop'] / 1e9:.2f}", f"{seed / 1e9:.2f}"]
        cells += [f"{r[form] / 1e9:.2f} ({r[form] / seed:.2f} x)" for form in ("one_sided", "mutual")]
        print(f"| {isa} | {dim} | {interaction} | {precision} | " + " | ".join(cells) + " |")
    return {
        (isa, interaction, precision): r["seed_xsimd"]
        for (isa, dim, interaction, precision), r in rows.items()
        if dim == "3"
    }


def near_field_table(rates, seeds):
    rows = defaultdict(dict)
    for name, rate in rates.items():
        match = re.fullmatch(r"near_field/(\w+)/3d/(f\d\d)/(\w+)/(\w+)/(\d+)", name)
        if match:
            interaction, precision, isa, form, leaf = match.groups()
            rows[isa, interaction, precision, form][int(leaf)] = rate
    print("\nWhole near field, one core, 32^3 boxes of 16, 32, 64 points, G directed pairs/s; ratios to")
    print("the xsimd kernel on one box\n")
    print("| ISA | interaction | precision | form | 16 | 32 | 64 |")
    print("|---|---|---|---|---|---|---|")
    for (isa, interaction, precision, form), r in sorted(rows.items()):
        seed = seeds.get((isa, interaction, precision))
        cells = [
            f"{r[leaf] / 1e9:.2f}" + (f" ({r[leaf] / seed:.2f} x)" if seed else "")
            for leaf in sorted(r)
        ]
        print(f"| {isa} | {interaction} | {precision} | {form} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("p2p", help="JSON of p2p_bench")
    parser.add_argument("near_field", nargs="?", help="JSON of near_field_bench")
    parser.add_argument("--size", type=int, default=1024, help="points of the box (1024)")
    arguments = parser.parse_args()
    rates, _ = medians(arguments.p2p)
    seeds = p2p_table(rates, arguments.size)
    if arguments.near_field:
        near_field_table(medians(arguments.near_field)[0], seeds)


if __name__ == "__main__":
    main()
