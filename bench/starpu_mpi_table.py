#!/usr/bin/env python3
"""Joins the JSON files of bench/starpu_mpi_runs.sh, and prints what the ranks reach.

    bench/starpu_mpi_table.py FOLDER OUT.json

Ratios are of medians, and higher is better: ranks as fast as one process with as many workers, or as ranks that have
nothing to do with each other (by pairs a second, since these lack the pairs between ranks), have 1. Those are told by
their mean; `of their slowest` is the same by the slowest of them, as a step of all ranks ends with its slowest rank.
"""

import json
import re
import sys
from pathlib import Path

from figures.results import Run


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    files = [json.loads(path.read_text()) for path in sorted(Path(sys.argv[1]).glob("*.json"))]
    if not files:
        sys.exit(f"{sys.argv[1]}: no *.json; bench/starpu_mpi_runs.sh writes them")
    Path(sys.argv[2]).write_text(json.dumps({
        "context": files[0]["context"], "benchmarks": [row for file in files for row in file["benchmarks"]]}, indent=1)
        + "\n")
    run = Run(sys.argv[2])
    print("| ranks | workers each | row | ms | of one process | of independent ranks | of their slowest | pairs/s "
          "| kB a rank | messages |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name, row in sorted(run.rows.items(), key=lambda entry: (entry[0].split("/")[1], entry[1]["ranks"], entry[0])):
        match = re.fullmatch(r"(.*)/ranks:(\d+)/(cut|(?:resident/)?(?:new_inputs|standing)|moved(?:_inputs)?)", name)
        if not match:
            continue
        one = run.rows.get(f"{match[1]}/one_process:{match[2]}/{match[3]}")
        alone = run.rows.get(f"{match[1]}/ranks:{match[2]}/independent/{match[3]}")

        def of(seconds):
            return row["pairs"] / row["seconds"] * seconds / alone["pairs"]

        cells = [match[2], f"{row['workers']:.0f}", f"{name.split('/')[1]} {match[3]}", f"{1e3 * row['seconds']:.2f}",
                 f"{one['seconds'] / row['seconds']:.3f}" if one else "",
                 f"{of(alone['seconds']):.3f}" if alone else "",
                 f"{of(alone['slowest_ms'] / 1e3):.3f}" if alone and "slowest_ms" in alone else "",
                 f"{row['pairs'] / row['seconds']:.3g}" if "pairs" in row else "",
                 f"{row['bytes'] / 1e3:.1f}" if "bytes" in row else "",
                 f"{row['messages']:.0f}" if "messages" in row else ""]
        print("| " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
