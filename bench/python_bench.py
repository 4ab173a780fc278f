#!/usr/bin/env python3
"""Times nearfield's Python calls beside those of other packages, on the points of bench/peers (./dev bench --python).

User and system time of the process apart, since fresh pages cost more on some machines than the search. Methods of a row
take turns; each figure is the median of --repetitions turns. Prints a table
and writes --out, a JSON file. A package that is not installed has no figures.
"""

import argparse
import importlib
import json
import os
import resource
import statistics
import sys
import timeit

import numpy as np

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers"))

import cases  # noqa: E402
import compare  # noqa: E402

import nearfield  # noqa: E402
import nearfield.vesin  # noqa: E402


def optional(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


vesin, matscipy, fmm3dpy, spatial = map(optional, ("vesin", "matscipy_neighbours", "fmm3dpy", "scipy.spatial"))


def lists(package, cutoff, n_threads, **options):
    """A call of a package with vesin's interface."""
    if package is None:
        return None
    made = package.NeighborList(cutoff=cutoff, n_threads=n_threads, **options)
    return lambda problem, letters: made.compute(problem.x("f64"), box_of(problem), bool(problem.period), letters)


def box_of(problem):
    return np.eye(3) * (problem.period or 1.0)


def list_methods(problem, letters, by_i, threads):
    """Calls by package: full lists of pairs, by i or in any order."""
    x, cell, pbc = problem.x("f64"), box_of(problem) if problem.period else None, bool(problem.period)
    order = "rows" if by_i else "cells"
    methods = {"nearfield": lambda: nearfield.find_pairs(letters, x, problem.cutoff, cell=cell, pbc=pbc, order=order,
                                                         n_threads=threads)}
    if vesin:
        call = lists(vesin, problem.cutoff, threads, full_list=True, sorted=by_i)
        methods["vesin"] = lambda: call(problem, letters)
    if matscipy and by_i:
        box = box_of(problem)
        methods["matscipy-neighbours"] = lambda: matscipy.neighbour_list(
            letters, positions=x, cell=box, pbc=[pbc] * 3, cutoff=problem.cutoff)
    if spatial and letters == "ij" and not problem.period and threads == 1:
        methods["SciPy, half"] = lambda: spatial.cKDTree(x).query_pairs(problem.cutoff, output_type="ndarray")
    return methods


def small_call_methods(letters):
    """Calls of ten points in a periodic box."""
    problem = cases.Problem("10 points", cases.uniform(10), 0.3, 1.0)
    x, cell, pbc = problem.x("f64"), np.eye(3), np.ones(3, bool)
    ours = lists(nearfield.vesin, 0.3, 1, full_list=True)
    methods = {"nearfield": lambda: nearfield.find_pairs(letters, x, 0.3, cell=cell, pbc=pbc),
               "nearfield.vesin": lambda: ours(problem, letters)}
    if vesin:
        call = lists(vesin, 0.3, 1, full_list=True)
        methods["vesin"] = lambda: call(problem, letters)
    if matscipy:
        methods["matscipy-neighbours"] = lambda: matscipy.neighbour_list(letters, positions=x, cell=cell, pbc=pbc, cutoff=0.3)
    return methods


def sum_methods(n, threads):
    x, q = cases.uniform(n), np.random.default_rng(7).uniform(-1, 1, n)
    methods = {"nearfield": lambda: nearfield.p2p("one_over_r", x, q, n_threads=threads)}
    if fmm3dpy and threads == 1:
        columns = np.asfortranarray(x.T)
        methods["fmm3dpy"] = lambda: fmm3dpy.l3ddir(sources=columns, targets=columns, charges=q, pgt=1)
    return methods


def measured(methods, repetitions, least=0.2):
    """User, system and wall seconds of a call of each, in turns of at least so many seconds: the system counts in ticks."""
    found = {name: [] for name in methods}
    times = {name: 1 + int(least / timeit.timeit(run, number=1)) for name, run in methods.items()}
    for _ in range(repetitions):
        for name, run in methods.items():
            begin, wall = resource.getrusage(resource.RUSAGE_SELF), timeit.default_timer()
            for _ in range(times[name]):
                run()
            wall, end = timeit.default_timer() - wall, resource.getrusage(resource.RUSAGE_SELF)
            of_all = end.ru_utime - begin.ru_utime, end.ru_stime - begin.ru_stime, wall
            found[name].append([seconds / times[name] for seconds in of_all])
    return {name: dict(zip(("user", "system", "wall"), map(statistics.median, zip(*of)))) for name, of in found.items()}


def measured_calls(methods, repetitions, n=2000):
    """The same of calls that take microseconds, on the wall clock."""
    found = {name: [] for name in methods}
    for _ in range(repetitions):
        for name, run in methods.items():
            found[name].append(timeit.timeit(run, number=n) / n)
    return {name: {"wall": statistics.median(times)} for name, times in found.items()}


def rows(threads, quick, repetitions):
    if threads == 1:
        for letters in ("ij", "ijS"):
            yield f"a call, 10 points, periodic, {letters}", measured_calls(small_call_methods(letters), repetitions)
    n = 2000 if quick else 100_000
    scale = (100_000 / n) ** (1 / 3)
    problems = [("ij", cases.Problem(f"{n} points, R = 0.03", cases.uniform(n), 0.03 * scale))]
    for cutoff in (0.03, 0.0646):
        for letters in ("ijS", "ijdDS"):
            problems.append((letters, cases.Problem(f"{n} points, periodic, R = {cutoff}", cases.uniform(n), cutoff * scale, 1.0)))
    problems.append(("ijS", cases.crystal(5 if quick else 30, 5)))
    for letters, problem in problems:
        for by_i in (False, True):
            name = f"{problem.name}, {letters}" + ", by i" * by_i
            yield name, measured(list_methods(problem, letters, by_i, threads), repetitions)
    n = 2000 if quick else 20_000
    yield f"1/r, all pairs of {n}", measured(sum_methods(n, threads), repetitions)


def text(seconds):
    return f"{1e6 * seconds:.1f} us" if seconds < 1e-3 else f"{1e3 * seconds:.1f} ms"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", help="the JSON file")
    parser.add_argument("--quick", action="store_true", help="a few points: does everything work?")
    parser.add_argument("--threads", type=int, default=1, help="of each call (1)")
    parser.add_argument("--repetitions", type=int, default=9)
    arguments = parser.parse_args()
    if os.environ.get("OMP_NUM_THREADS") != str(arguments.threads):  # packages read it when they are loaded
        os.environ |= {name: str(arguments.threads) for name in compare.THREAD_VARIABLES}
        os.execv(sys.executable, [sys.executable, *sys.argv])
    if arguments.threads == 1:
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    about = compare.machine() | {"isa": nearfield.instruction_set(), "threads": arguments.threads}
    print(f"{about['cpu']}, threads: {arguments.threads}, {about['isa']}, commit {about['commit']}\n")
    print("| what | package | user | system | wall | user time over nearfield's |\n|---|---|---:|---:|---:|---:|")
    found = []
    for name, times in rows(arguments.threads, arguments.quick, arguments.repetitions):
        found.append({"what": name, "seconds": times})
        key = "user" if "user" in times["nearfield"] and arguments.threads == 1 else "wall"
        for package, of in times.items():
            shown = [text(of[part]) if part in of else "" for part in ("user", "system", "wall")]
            ratio = of[key] / times["nearfield"][key] if times["nearfield"][key] else float("nan")
            print(f"| {name} | {package} | " + " | ".join(shown) + f" | {ratio:.1f} |", flush=True)
    if arguments.out:
        with open(arguments.out, "w") as out:
            json.dump({"machine": about, "rows": found}, out, indent=1)
            out.write("\n")


if __name__ == "__main__":
    main()
