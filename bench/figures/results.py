"""Files of bench/results: their rows, and which command makes them."""

import json
import re
from collections import defaultdict
from pathlib import Path
from statistics import median

RESULTS = Path(__file__).resolve().parent.parent / "results"


def benchmark(program, options=""):
    """The command that makes a file of results"""
    name = Path(program).name.removesuffix("_bench")
    return (f"{program} {options} --benchmark_out=bench/results/MACHINE-{name}.json --benchmark_out_format=json"
            " --benchmark_context=commit=$(git rev-parse --short HEAD),machine=WORDS")


class Missing(Exception):
    """No file of results has the rows of a figure; says which command makes them."""


class Run:
    """One JSON file of Google Benchmark: {row: {counter: median}}, `seconds` the time of a row, `cpu_seconds`
    processor time."""

    UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}

    def __init__(self, path):
        path = Path(path)
        content = json.loads(path.read_text())
        self.file, self.context = path, content["context"]
        repetitions, aggregates, deviations = defaultdict(lambda: defaultdict(list)), {}, {}
        for entry in content["benchmarks"]:
            if entry.get("error_occurred"):
                raise SystemExit(f"{path}: {entry['run_name']}: {entry['error_message']}")
            name = re.sub(r"/(iterations:\d+|repeats:\d+|manual_time|real_time)", "", entry["run_name"])
            row = {key: value for key, value in entry.items() if isinstance(value, (int, float))}
            row["seconds"], row["cpu_seconds"] = (entry[clock] * self.UNITS[entry["time_unit"]]
                                                 for clock in ("real_time", "cpu_time"))
            if entry["run_type"] == "iteration":
                for counter, value in row.items():
                    repetitions[name][counter].append(value)
            elif entry["aggregate_name"] == "median":
                aggregates[name] = row
            elif entry["aggregate_name"] == "stddev":
                deviations[name] = row
        # the slowest and the fastest repetition or, where the file has aggregates only, one standard deviation
        self.limits = {
            name: {key: (row[key] - off[key], row[key] + off[key]) for key in row if key in off}
            for name, row in aggregates.items() for off in (deviations.get(name, {}),)
        } | {
            name: {counter: (min(found), max(found)) for counter, found in counters.items()}
            for name, counters in repetitions.items()
        }
        self.rows = aggregates | {
            name: {counter: median(found) for counter, found in counters.items()}
            for name, counters in repetitions.items()
        }

    def curve(self, pattern, counter="seconds"):
        """[(number, value)] of the rows that match; the pattern's group is the number."""
        found = [(re.fullmatch(pattern, name), row[counter]) for name, row in self.rows.items()]
        return sorted((int(match[1]), value) for match, value in found if match)

    def band(self, pattern, counter="seconds"):
        """[(number, lowest, highest)] of the same rows"""
        found = [(re.fullmatch(pattern, name), row[counter]) for name, row in self.limits.items() if counter in row]
        return sorted((int(match[1]), *limits) for match, limits in found if match)

    def value(self, name, counter="seconds"):
        return self.rows[name][counter]

    def machine(self):
        """In words, with what else ran there where the file says so."""
        for key in ("gpu", "cpu", "machine"):
            if key in self.context:
                return self.context[key].split(";")[0].split(" (two by")[0]
        return self.context["host_name"]

    def processor(self):
        return re.split(r",| \d+ cores", self.machine())[0]

    def source(self):
        file = self.file.relative_to(RESULTS.parent.parent) if RESULTS in self.file.parents else self.file.name
        return f"{file}, commit {self.context.get('commit', 'unknown')}"


own_files = []  # drawn in place of bench/results


def runs(executable):
    """The files that a benchmark has written, in the order of their names."""
    found = []
    for path in own_files or sorted(RESULTS.glob("*.json")):
        context = json.loads(path.read_text()).get("context", {})
        if Path(context.get("executable", "")).name == executable:
            found.append(Run(path))
    return found
