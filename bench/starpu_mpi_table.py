#!/usr/bin/env python3
"""Joins the JSON files of bench/starpu_mpi_runs.sh, and prints what the ranks reach.

    bench/starpu_mpi_table.py FOLDER [OUT.json]

Ratios are of medians. Higher is better: one process, or independent ranks, take 1.
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median


def main():
    files = sorted(Path(sys.argv[1]).glob("*.json"))
    contents = [json.loads(path.read_text()) for path in files]
    if not contents:
        sys.exit(f"{sys.argv[1]}: no *.json; bench/starpu_mpi_runs.sh writes them")
    entries = [entry for content in contents for entry in content["benchmarks"]]
    if len(sys.argv) > 2:
        Path(sys.argv[2]).write_text(json.dumps({"context": contents[0]["context"], "benchmarks": entries}, indent=1) + "\n")
    rows, counters = defaultdict(list), {}
    for entry in entries:
        rows[entry["run_name"]].append(entry["real_time"])
        counters[entry["run_name"]] = entry
    ms = {name: median(times) for name, times in rows.items()}
    print("| ranks | workers each | row | ms | one process / ranks | independent / ranks | pairs/s | kB a rank | messages a rank |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name in sorted(ms, key=lambda name: (name.split("/")[1], counters[name]["ranks"], name)):
        match = re.fullmatch(r"(.*)/ranks:(\d+)/(cut|new_inputs|standing)", name)
        if not match:
            continue
        one = ms.get(f"{match[1]}/one_process:{match[2]}/{match[3]}")
        alone = ms.get(f"{match[1]}/ranks:{match[2]}/independent/{match[3]}")
        entry = counters[name]
        # independent ranks lack the pairs between ranks
        fewer = counters[f"{match[1]}/ranks:{match[2]}/independent/{match[3]}"]["pairs"] / entry["pairs"] if alone else 1
        cells = [match[2], entry["workers"], f"{name.split('/')[1]} {match[3]}", f"{ms[name]:.2f}",
                 f"{one / ms[name]:.3f}" if one else "", f"{alone / fewer / ms[name]:.3f}" if alone else "",
                 f"{entry['pairs'] / ms[name] * 1e3:.3g}" if "pairs" in entry else "",
                 f"{entry['bytes'] / 1e3:.1f}" if "bytes" in entry else "", f"{entry['messages']:.0f}" if "messages" in entry else ""]
        print("| " + " | ".join(str(cell) for cell in cells) + " |")


if __name__ == "__main__":
    main()
