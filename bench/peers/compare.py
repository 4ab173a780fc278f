#!/usr/bin/env python3
"""Times packages beside nearfield, on the same points, with the same check of results (./dev bench --peers).

Each package runs in a process of its own, once with one thread on one core and once with all cores. Prints a table and
writes --out, a JSON file. Exit status 1 if a result is wrong, and 2 if no package ran; one that cannot run says why in its row.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGES = ["nanoflann", "vesin", "scipy_kdtree", "matscipy_neighbours", "freud", "vesin_gpu", "nvalchemi_gpu",
            "jax_md_gpu", "matscipy_images", "vesin_images", "fmm3dpy", "keops", "blas", "pytreegrav_sums",
            "scipy_tree", "pytreegrav_tree"]
LIMIT_S = 600
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")


def machine():
    with open("/proc/cpuinfo") as info:
        names = [line.split(":", 1)[1].strip() for line in info if line.startswith("model name")]
    commit = os.environ.get("COMMIT")  # of a library that was compiled elsewhere
    if not commit and shutil.which("git"):
        commit = subprocess.run(["git", "-C", HERE, "describe", "--always", "--dirty", "--exclude", "*"],
                                capture_output=True, text=True).stdout.strip()
    return {"cpu": names[0] if names else platform.processor(), "cores": len(os.sched_getaffinity(0)),
            "load": round(os.getloadavg()[0], 1), "python": platform.python_version(),
            "commit": commit or "unknown"}


def run(package, library, threads, quick, problems=()):
    """What measure.py says of a package, or one row that says why it does not."""
    environment = os.environ | {name: str(threads) for name in THREAD_VARIABLES}
    environment |= {"CXXFLAGS": "-march=native -ffast-math", "STARPU_SILENT": "1"}  # KeOps compiles with them
    command = [sys.executable, os.path.join(HERE, "measure.py"), package, library, str(threads)]
    try:
        done = subprocess.run(command + ["--quick"] * quick + list(problems), env=environment, capture_output=True, text=True,
                              timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        return {"rows": [{"threads": threads, "skipped": f"took more than {LIMIT_S} s"}]}
    lines = done.stdout.splitlines()
    if done.returncode == 0 and lines:
        return json.loads(lines[-1])
    # the last line of Python's report
    why = (done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"])[-1]
    return {"rows": [{"threads": threads, "skipped": why}]}


def seconds(value):
    return f"{value:.3g} s" if value >= 1 else f"{1e3 * value:.3g} ms"


def cells(row):
    """A row as the columns of the table."""
    name = row.get("version", row["package"])
    if "skipped" in row:
        why = row["skipped"]
        if not why.startswith(("left out", "nearfield")):
            why = "does not run: " + why
        return [row.get("problem", ""), name, "", "", str(row["threads"]), "", "", why, ""]
    what = [row["problem"], name, row["settings"], f"{row['output']}, {row['precision']}", str(row["threads"])]
    if "wrong" in row:
        return what + ["", "", "WRONG: " + row["wrong"], ""]
    times = row["seconds"], row["nearfield_seconds"]
    ratio, bound = times[0] / times[1], row.get("bound_seconds")
    return what + [*map(seconds, times), f"{ratio:.2g} x" if ratio < 10 else f"{ratio:.0f} x",
                   " / ".join(f"{bound / time:.2g}" for time in times) if bound else ""]


def table(rows):
    head = ["problem", "package", "settings", "result", "threads", "time", "nearfield", "time over nearfield's",
            "shares of the bound"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(lines + ["| " + " | ".join(cells(row)) + " |" for row in rows])


def status(rows):
    if any("wrong" in row for row in rows):
        return 1
    return 0 if any("seconds" in row for row in rows) else 2


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", required=True, help="libnearfield_peers.so")
    parser.add_argument("--out", help="the JSON file")
    parser.add_argument("--quick", action="store_true", help="a few points: does everything work?")
    parser.add_argument("--only", nargs="+", default=PACKAGES, choices=PACKAGES, metavar="PACKAGE",
                        help=" ".join(PACKAGES))
    parser.add_argument("--problems", nargs="+", default=[], metavar="TEXT",
                        help="only problems with one of the texts in their name")
    arguments = parser.parse_args()
    if not os.path.exists(arguments.library):
        parser.error(f"--library: found no {arguments.library}; ./dev bench --peers builds it")

    about, rows = machine(), []
    for threads in dict.fromkeys([1, about["cores"]]):
        for package in arguments.only:
            if package.endswith("_gpu") and threads > 1:
                continue
            print(f"{package}, threads: {threads}", file=sys.stderr, flush=True)
            said = run(package, arguments.library, threads, arguments.quick, arguments.problems)
            about |= said.get("about", {})
            named = {"package": package} | ({"version": said["version"]} if "version" in said else {})
            rows += [named | row for row in said["rows"]]
    order = {name: n for n, name in enumerate(dict.fromkeys(row.get("problem") for row in rows))}
    rows.sort(key=lambda row: (row["threads"], "skipped" in row, order[row.get("problem")]))
    print(f"{about['cpu']}, {about['cores']} cores, {about.get('isa', '')}, commit {about['commit']}\n")
    print(table(rows))
    if arguments.out:
        with open(arguments.out, "w") as out:
            json.dump({"machine": about, "rows": rows}, out, indent=1)
            out.write("\n")
    return status(rows)


if __name__ == "__main__":
    sys.exit(main())
