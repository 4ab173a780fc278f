"""The comparison with packages finds a wrong result: doubles of a package, and of nearfield, that are wrong on purpose.

Exit status 77 where there is no NumPy, neither this Python's nor that of ./dev bench --peers.
"""

import os
import sys
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "bench", "peers"))
sys.dont_write_bytecode = True

try:
    import numpy as np
except ImportError:
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    python = os.path.join(cache, "nearfield", "peers", "venv", "bin", "python3")
    if sys.executable != python and os.path.exists(python):
        os.execv(python, [python, *sys.argv])
    print("SKIPPED: no NumPy (apt-get install python3-numpy, or ./dev bench --peers)")
    sys.exit(77)

import cases
import compare
import measure


def brute_force(problem, full):
    d = problem.x("f64")[:, None] - problem.x("f64")[None]
    if problem.period:
        d -= problem.period * np.round(d / problem.period)
    near = (d ** 2).sum(axis=2) < problem.cutoff ** 2
    np.fill_diagonal(near, False)
    return np.nonzero(near if full else np.triu(near))


def images(problem, letters):
    i, j = brute_force(problem, True)
    x = problem.x("f64")
    shifts = -np.round((x[j] - x[i]) / problem.period).astype(int)
    vectors = x[j] - x[i] + shifts * problem.period
    found = {"i": i, "j": j, "S": shifts, "D": vectors, "d": np.linalg.norm(vectors, axis=1)}
    return {letter: found[letter].copy() for letter in letters}


class Ours:
    """nearfield, by brute force."""
    threads = 1

    def search(self, problem, full, precision):
        return brute_force(problem, full)

    def pairs(self, found, n):
        return found

    def images(self, problem, output, by_i, cubic_cells=False):
        return images(problem, output)

    def columns(self, found, n):
        return found

    def one_over_r(self, problem, precision):
        x, q = problem.x(precision), problem.q(precision)
        r = np.sqrt(((x[:, None] - x[None]) ** 2).sum(axis=2))
        np.fill_diagonal(r, np.inf)
        return (q / r).sum(axis=1)

    def bound(self, problem, output, precision, size):
        return 0.5

    def forget(self):
        pass


class BlindOurs(Ours):
    """Misses the first pair, like the package beside it."""

    def search(self, problem, full, precision):
        return tuple(column[1:] for column in brute_force(problem, full))


def package(output, change=lambda found: found, **options):
    """A double: brute force, and what `change` makes of it."""
    def methods(problem, ours):
        def run():
            if output in measure.IMAGES:
                return change(images(problem, output))
            if output == "sums":
                return change(Ours().one_over_r(problem, "f64"))
            return change(brute_force(problem, output == "full"))
        yield cases.Method("double", run, output, **options)
    return types.SimpleNamespace(methods=methods)


def rows(double, problem, ours=None):
    ticks = iter(range(1000))
    return measure.rows_of(double, problem, problem, ours or Ours(), lambda: next(ticks), {})


SMALL = cases.Problem("open", cases.uniform(300), 0.2)
PERIODIC = cases.Problem("periodic", cases.uniform(300), 0.2, 1.0)
SUMS = cases.Problem("sums", cases.uniform(300))


def other_j(found):
    """The same number of pairs, one of them wrong."""
    i, j = (column.copy() for column in found)
    j[0] = (j[0] + 1) % 300 if (j[0] + 1) % 300 not in j[i == i[0]] else (j[0] + 7) % 300
    return i, j


class PeersTest(unittest.TestCase):
    def assert_right(self, found):
        self.assertEqual([row.get("wrong") for row in found], [None])
        self.assertEqual(compare.status(found), 0)
        self.assertIn("| 0.5 / 0.5 |", compare.table([row | {"package": "double"} for row in found]))

    def assert_wrong(self, found, text):
        self.assertIn(text, found[0].get("wrong", ""))
        self.assertEqual(compare.status(found), 1)
        self.assertIn("WRONG", compare.table([row | {"package": "double"} for row in found]))

    def test_right_pairs_in_any_order_pass(self):
        for problem in (SMALL, PERIODIC):
            for output in ("half", "full"):
                self.assert_right(rows(package(output, lambda found: (found[0][::-1], found[1][::-1])), problem))
        self.assert_right(rows(package("half", lambda found: (found[1], found[0])), SMALL))

    def test_a_missing_pair(self):
        self.assert_wrong(rows(package("half", lambda found: (found[0][1:], found[1][1:])), SMALL), "in place of")

    def test_a_wrong_pair(self):
        for output in ("half", "full"):
            self.assert_wrong(rows(package(output, other_j), SMALL), "other pairs")

    def test_a_pair_twice_in_place_of_another(self):
        def twice(found):
            return tuple(np.concatenate([column[1:], column[1:2]]) for column in found)
        self.assert_wrong(rows(package("half", twice), SMALL), "other pairs")

    def test_pairs_of_an_open_box_in_a_periodic_one(self):
        open_box = cases.Problem("open", PERIODIC.x("f64"), PERIODIC.cutoff)
        self.assert_wrong(rows(package("half", lambda found: brute_force(open_box, False)), PERIODIC), "in place of")

    def test_a_tolerance_forgives_pairs_at_the_cutoff_only(self):
        wider = cases.Problem("wider", SMALL.x("f64"), SMALL.cutoff * (1 + 1e-3))
        self.assertGreater(len(brute_force(wider, False)[0]), len(brute_force(SMALL, False)[0]))
        double = package("half", lambda found: brute_force(wider, False), tolerance=2e-3)
        self.assert_right(rows(double, SMALL))
        double = package("half", lambda found: brute_force(wider, False), tolerance=1e-5)
        self.assert_wrong(rows(double, SMALL), "beyond the cutoff")
        double = package("half", lambda found: (found[0][1:], found[1][1:]), tolerance=1e-5)
        self.assert_wrong(rows(double, SMALL), "in place of")

    def test_pairs_that_both_sides_miss(self):
        def blind(found):
            return found[0][1:], found[1][1:]
        near = cases.Problem("few", cases.uniform(20), 0.9)  # every point is looked at
        self.assert_wrong(rows(package("half", blind), near, BlindOurs()), "nearfield: point")

    def test_images(self):
        def spoilt(letter, add):
            def spoil(found):
                found[letter][7] += add
                return found
            return rows(package("ijdDS", spoil), PERIODIC)
        for output in ("ijS", "ijdDS"):
            self.assert_right(rows(package(output), PERIODIC))
            short = package(output, lambda found: {letter: column[1:] for letter, column in found.items()})
            self.assert_wrong(rows(short, PERIODIC), "in place of")
        self.assert_wrong(spoilt("S", 1), "an image beyond the cutoff")
        backwards = package("ijS", lambda found: {letter: column[::-1] for letter, column in found.items()}, by_i=True)
        self.assert_right(rows(package("ijS", by_i=True), PERIODIC))
        self.assert_wrong(rows(backwards, PERIODIC), "not in the order of i")
        self.assert_wrong(spoilt("D", 1e-9), "a wrong D")
        self.assert_wrong(spoilt("d", 1e-9), "a wrong d")

    def test_ways_to_call_a_package_have_a_row_each(self):
        def methods(problem, ours):
            for way in ("eager", "prepared"):
                yield cases.Method(way, lambda: brute_force(problem, True), "full", way=way)
        self.assertEqual([row["settings"] for row in rows(types.SimpleNamespace(methods=methods), SMALL)],
                         ["eager", "prepared"])

    def test_what_nearfield_refuses_is_its_own(self):
        row = {"package": "none", "threads": 1, "skipped": "nearfield: a period is too small"}
        self.assertIn("| nearfield: a period", compare.table([row]))

    def test_sums(self):
        self.assert_right(rows(package("sums", tolerance=1e-13), SUMS))
        self.assert_wrong(rows(package("sums", lambda phi: phi * (1 + 1e-9), tolerance=1e-13), SUMS), "error")
        self.assert_wrong(rows(package("sums", lambda phi: phi * np.nan, tolerance=1e-13), SUMS), "error")

    def test_trees(self):
        n = SMALL.n
        self.assertEqual(cases.check_tree(SMALL, np.arange(n)[::-1], 8, 8), "")
        self.assertIn("leaf of 9", cases.check_tree(SMALL, np.arange(n), 9, 8))
        self.assertIn("no permutation", cases.check_tree(SMALL, np.zeros(n, int), 8, 8))

    def test_a_package_that_does_not_run_is_no_failure(self):
        row = {"package": "none", "threads": 1, "skipped": "No module named 'none'"}
        self.assertEqual(compare.status([row, {"seconds": 1}]), 0)
        self.assertEqual(compare.status([row]), 2)
        self.assertIn("does not run: No module named 'none'", compare.table([row]))

    def test_a_process_that_dies_says_so(self):
        said = compare.run("no_such_package", "no_library", 1, True)
        self.assertIn("no_such_package", said["rows"][0]["skipped"])


if __name__ == "__main__":
    unittest.main()
