"""measure.py PACKAGE LIBRARY THREADS [--quick] [TEXT...]: the rows of one package, as JSON; of problems with one of the
texts in their name, if there are any.

Each setting of the package and of nearfield runs once; the fastest ones then take turns. Problems of more than MANY
points take the setting that was the fastest on the first one. Times are from points in
memory to the result in memory, with what is built on the way. On one core they are processor time, since the machine
may be shared; otherwise wall clock. The first call of everything is on a small problem and not timed: it compiles.
"""

import importlib
import json
import os
import sys
import time
from statistics import median

import numpy as np

ENOUGH_S = 20  # a package that took that long for a problem is not asked again
SLOW_S = 0.3   # for 1e5 points: 1e6 with a hundred times the pairs would take half a minute a call
IMAGES = "ijS", "ijdDS"
MANY = 200_000 # of these points, a slow package is not asked, and other settings than the fastest are left out


def timed(run, clock, forget=lambda: None):
    """(seconds, result)"""
    forget()
    begin = clock()
    result = run()
    return clock() - begin, result


def check(problem, method, result, ours):
    """(what is wrong or '', the number of pairs or of leaves, the error of sums)"""
    import cases
    if method.output == "sums":
        error = cases.sum_error(problem, result, method.precision)
        return ("" if error <= method.tolerance else f"error {error:.1e}"), problem.n * (problem.n - 1), error
    if method.output == "tree":
        order, leaves, largest, max_leaf_size = method.pairs(result)
        return cases.check_tree(problem, order, largest, max_leaf_size), leaves, None
    found = method.pairs(result)
    if method.output in IMAGES:
        expected = ours.columns(ours.images(problem, method.output, method.by_i), problem.n)
        wrong = cases.check_images(problem, found) or cases.check_images(problem, expected)
        wrong = wrong or cases.check_pairs(problem, *([of[letter] for letter in "ijS"] for of in (found, expected)), "full")
        if method.by_i and not all((np.diff(of["i"].astype(np.int64)) >= 0).all() for of in (found, expected)):
            wrong = wrong or "not in the order of i"
        return wrong, len(found["i"]), None
    expected = ours.pairs(ours.search(problem, method.output == "full", method.precision), problem.n)
    wrong = cases.check_pairs(problem, found, expected, method.output, method.tolerance)
    return wrong, len(found[0]), None


def our_methods(problem, method, ours):
    """By setting."""
    if method.output == "sums":
        return {"": lambda: ours.one_over_r(problem, method.precision)}
    if method.output == "tree":
        return {"": lambda: ours.tree(problem, 64)}
    if method.output in IMAGES:
        return {"": lambda: ours.images(problem, method.output, method.by_i),
                "cubic cells": lambda: ours.images(problem, method.output, method.by_i, True)}
    return {"": lambda: ours.search(problem, method.output == "full", method.precision)}


def rows_of(package, problem, small, ours, clock, chosen, repetitions=3):
    """A row for each output of the package and each way to call it: its fastest setting beside ours. `chosen` has those
    of earlier problems."""
    import cases
    rows = []
    outputs = {}
    for method, warm_up in zip(package.methods(problem, ours), package.methods(small, ours)):
        key = method.output, method.precision, method.way, method.by_i
        if problem.n > MANY and chosen.get(key, method.settings) != method.settings:
            continue
        warm_up.run()
        outputs.setdefault(key, []).append(method)
    for key, methods in outputs.items():
        output, precision, _, by_i = key
        row = {"problem": problem.name, "output": output + ", by i" * by_i, "precision": precision,
               "threads": ours.threads}
        tried = []
        for method in methods:
            seconds, result = timed(method.run, clock, ours.forget)
            tried.append((seconds, method))
            wrong, size, error = check(problem, method, result, ours)
            del result
            row |= {"size": size, "settings": method.settings} | ({"error": error} if error is not None else {})
            if wrong:
                rows.append(row | {"wrong": wrong})
                break
        else:
            first, best = min(tried, key=lambda pair: pair[0])
            chosen.setdefault(key, best.settings)
            our_runs = our_methods(problem, best, ours)
            ours_best = min(our_runs, key=lambda name: timed(our_runs[name], clock, ours.forget)[0])
            our_run = our_runs[ours_best]
            wrong = ""
            if output in ("half", "full"):
                wrong = cases.check_rows(problem, ours.pairs(our_run(), problem.n), output)
            if wrong:
                rows.append(row | {"wrong": "nearfield: " + wrong})
                continue
            theirs, our_times = [first], []
            for _ in range(repetitions):
                our_times.append(timed(our_run, clock, ours.forget)[0])
                if len(theirs) < repetitions and sum(theirs) < ENOUGH_S:
                    theirs.append(timed(best.run, clock, ours.forget)[0])
            rows.append(row | {"settings": best.settings, "tried": len(tried), "seconds": median(theirs),
                               "repetitions": len(theirs), "spread": max(theirs) / min(theirs),
                               "nearfield_seconds": median(our_times), "nearfield_settings": ours_best,
                               "bound_seconds": ours.bound(problem, output, precision, row["size"])})
    return rows


def main():
    name, library, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
    quick, names = "--quick" in sys.argv, [text for text in sys.argv[4:] if text != "--quick"]
    if threads == 1 and not name.endswith("_gpu"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    import cases
    import nearfield
    package = importlib.import_module("packages." + name)
    on_gpu = name.endswith("_gpu")
    if not on_gpu:
        ours = nearfield.Nearfield(library, threads)
    if threads > 1 and hasattr(package, "ONE_THREAD"):
        print(json.dumps({"version": package.version(), "rows": [{"threads": threads,
                                                                  "skipped": "left out: " + package.ONE_THREAD}]}))
        return
    if on_gpu:
        import gpu
        ours = gpu.OnGpu(library)
    problems = [problem for problem in getattr(cases, package.KIND)(quick)
                if not names or any(text in problem.name for text in names)]
    small = getattr(cases, package.KIND)(True)
    rows, chosen = [], {}
    for problem in problems:
        like = small[1] if problem.period and len(small) > 1 else small[0]
        clock = time.process_time if threads == 1 and not on_gpu else time.perf_counter
        try:
            slowest = max((row.get("seconds", 0) for row in rows), default=0)
            if problem.n > MANY and slowest > SLOW_S:
                raise TimeoutError(f"left out: 1e5 points took {slowest:.2g} s")
            rows += rows_of(package, problem, like, ours, clock, chosen)
        except Exception as e:  # what a package throws is its row
            rows.append({"problem": problem.name, "threads": threads, "skipped": str(e) or type(e).__name__})
    about = {"isa": ours.isa()} | getattr(ours, "about", {})
    print(json.dumps({"version": package.version(), "about": about, "rows": rows}))


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    main()
