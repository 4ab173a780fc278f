"""What is computed, on which points, and how an answer is checked."""

from dataclasses import dataclass, field
from typing import Callable

import numpy as np

DTYPES = {"f32": np.float32, "f64": np.float64}


class Problem:
    """Points, in the layouts that packages want: made before the clock starts."""

    def __init__(self, name, points, cutoff=0.0, period=0.0, letters=("ijS", "ijdDS")):
        self.name, self.cutoff, self.period, self.n = name, cutoff, period, len(points)
        self.letters = letters  # of lists with images
        self._x = {"f64": np.ascontiguousarray(points)}
        self._q = np.random.default_rng(7).uniform(-1, 1, self.n)

    @staticmethod
    def dtype(precision):
        return DTYPES[precision]

    def _kept(self, key, make):
        if key not in self._x:
            self._x[key] = make()
        return self._x[key]

    def x(self, precision):
        """(n, 3)"""
        return self._kept(precision, lambda: self._x["f64"].astype(DTYPES[precision]))

    def columns(self, precision):
        """(3, n)"""
        return self._kept("columns " + precision, lambda: np.ascontiguousarray(self.x(precision).T))

    def q(self, precision):
        return self._kept("q " + precision, lambda: self._q.astype(DTYPES[precision]))


def uniform(n, seed=1):
    return np.random.default_rng(seed).random((n, 3))


def plummer(n, scale=0.1, largest=0.5, seed=2):
    random = np.random.default_rng(seed)
    mass = (1e-12 + random.random(n)) * (1 + (scale / largest) ** 2) ** -1.5
    direction = random.normal(size=(n, 3))
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    return 0.5 + direction * (scale / np.sqrt(mass ** (-2 / 3) - 1))[:, None]


def searches(quick, gpu=False):
    if quick:
        return [Problem("uniform 2e3, R = 0.1", uniform(2000), 0.1),
                Problem("periodic 2e3, R = 0.1", uniform(2000), 0.1, 1.0)]
    return [Problem("uniform 1e5, R = 0.03", uniform(100_000), 0.03),
            Problem("uniform 1e6, R = 0.03", uniform(1_000_000), 0.03),
            Problem("periodic 1e5, R = 0.0646", uniform(100_000), 0.0646, 1.0),
            Problem("Plummer 1e5, R = 0.018", plummer(100_000), 0.018)]


def sums(quick):
    n = 2000 if quick else 20_000
    return [Problem(f"1/r, all pairs of {n}", uniform(n))]


def crystal(n_cells, cutoff, lattice_constant=3.52):
    """fcc nickel, in A, in a periodic cube of n_cells^3 cells."""
    corners = np.stack(np.meshgrid(*[np.arange(n_cells)] * 3, indexing="ij"), axis=-1).reshape(-1, 1, 3)
    basis = np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]])
    return Problem(f"fcc Ni, {4 * n_cells ** 3} atoms, {cutoff} A",
                   lattice_constant * (corners + basis).reshape(-1, 3), cutoff, lattice_constant * n_cells)


def images(quick):
    if quick:
        return [crystal(5, 3), crystal(5, 8)]
    boxes = [Problem(f"periodic 1e5, R = {cutoff}", uniform(100_000), cutoff, 1.0, ["ijS"]) for cutoff in (0.03, 0.0646)]
    # the first crystal is thinner than two cutoffs, so several images of an atom count
    return boxes + [crystal(3, 8)] + [crystal(n, cutoff) for n in (5, 10, 20, 30) for cutoff in (3, 5, 8)]


def trees(quick):
    return [Problem(f"tree of {n:.0e} points".replace("e+0", "e"), uniform(n)) for n in
            ([2000] if quick else [1_000_000])]


@dataclass
class Method:
    """One setting of a package."""
    settings: str
    run: Callable            # the timed part: from points to its result
    output: str              # half, full: pairs; ijS, ijdDS: ASE's letters, full; sums; tree
    precision: str = "f64"   # of its arithmetic, and so of nearfield's beside it
    pairs: Callable = lambda found: found  # the (i, j) of its result
    tolerance: float = 0.0   # of distances relative to the cutoff, or of sums relative to their terms
    way: str = ""            # the fastest setting of each way to call a package has a row
    by_i: bool = False       # a list with images: in the order of i, and so nearfield's beside it


def checksum(i, j, directed, shifts=None):
    """The same for the same pairs in any order; with shifts of less than 512 boxes, for the same images of pairs."""
    total = np.uint64(0)
    with np.errstate(over="ignore"):
        for begin in range(0, len(i), 1 << 18):
            a = np.asarray(i[begin:begin + (1 << 18)]).astype(np.uint64)
            b = np.asarray(j[begin:begin + (1 << 18)]).astype(np.uint64)
            if not directed:
                a, b = np.minimum(a, b), np.maximum(a, b)
            key = (a << np.uint64(32)) | b
            if shifts is not None:
                s = np.asarray(shifts[begin:begin + (1 << 18)]).astype(np.int64) @ (1, 1 << 10, 1 << 20)
                key += s.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
            for factor in (0xFF51AFD7ED558CCD, 0xC4CEB9FE1A85EC53):
                key ^= key >> np.uint64(33)
                key *= np.uint64(factor)
            key ^= key >> np.uint64(33)
            total += key.sum(dtype=np.uint64)
    return len(i), int(total)


def distances(problem, i, j):
    d = problem.x("f64")[i] - problem.x("f64")[j]
    if problem.period:
        d -= problem.period * np.round(d / problem.period)
    return np.sqrt(np.einsum("ij,ij->i", d, d))


def check_pairs(problem, found, expected, output, tolerance=0.0):
    """What is wrong with pairs (i, j) or (i, j, S), or ''. With a tolerance, pairs that close to the cutoff may be in or
    out; all others must be the expected ones."""
    i, j = (np.asarray(column) for column in found[:2])
    if len(i) != len(j):
        return f"{len(i)} indices i and {len(j)} indices j"
    if tolerance:
        i, j, beyond = without_doubtful(problem, i, j, tolerance)
        if beyond:
            return f"{beyond} pairs beyond the cutoff"
        expected = without_doubtful(problem, *expected, tolerance)[:2]
    n, total = checksum(i, j, output == "full", *found[2:])
    n_expected, total_expected = checksum(*expected[:2], output == "full", *expected[2:])
    if n != n_expected:
        return f"{n} pairs in place of {n_expected}"
    return "" if total == total_expected else f"other pairs ({n} of them)"


def without_doubtful(problem, i, j, tolerance):
    """The pairs surely closer than the cutoff, and the number of those surely not."""
    near_i, near_j, beyond = [], [], 0
    for begin in range(0, len(i), 1 << 20):
        a, b = i[begin:begin + (1 << 20)], j[begin:begin + (1 << 20)]
        r = distances(problem, a, b)
        beyond += int(np.count_nonzero(r > problem.cutoff * (1 + tolerance)))
        sure = r < problem.cutoff * (1 - tolerance)
        near_i.append(a[sure])
        near_j.append(b[sure])
    empty = [np.empty(0, np.int64)]
    return np.concatenate(near_i or empty), np.concatenate(near_j or empty), beyond


def check_rows(problem, found, output, samples=20):
    """What is wrong with the rows of some points, beside distances to all points; or ''."""
    x, (i, j) = problem.x("f64"), found
    for s in range(samples):
        p = (2 * s + 1) * problem.n // (2 * samples)
        d = x - x[p]
        if problem.period:
            d -= problem.period * np.round(d / problem.period)
        near = set(np.flatnonzero(np.einsum("ij,ij->i", d, d) < problem.cutoff ** 2)) - {p}
        row = list(j[i == p]) + ([] if output == "full" else list(i[j == p]))
        if sorted(row) != sorted(near):
            return f"point {p} has {len(row)} neighbours in place of {len(near)}"
    return ""


def check_images(problem, found):
    """What is wrong with S, D and d of pairs, or ''. `found` has a column for each letter: D = x_j - x_i + S L."""
    for begin in range(0, len(found["i"]), 1 << 18):
        some = {letter: column[begin:begin + (1 << 18)] for letter, column in found.items()}
        x = problem.x("f64")
        d = x[some["j"]] - x[some["i"]] + some["S"] * problem.period
        r = np.sqrt(np.einsum("ij,ij->i", d, d))
        if not (r < problem.cutoff).all():
            return "a shift to an image beyond the cutoff"
        for letter, expected in (("D", d), ("d", r)):
            if letter in some and not np.allclose(some[letter], expected, rtol=0, atol=1e-12 * problem.period):
                return f"a wrong {letter}"
    return ""


def sum_error(problem, phi, precision, samples=50):
    """The largest error of some sums, relative to the sum of the magnitudes of their terms, beside long double."""
    x, q = problem.x(precision).astype(np.longdouble), problem.q(precision).astype(np.longdouble)
    worst = 0.0
    for s in range(samples):
        p = (2 * s + 1) * problem.n // (2 * samples)
        r = np.sqrt(((x - x[p]) ** 2).sum(axis=1))
        r[p] = np.inf
        terms = q / r
        error = float(abs(terms.sum() - phi[p]) / abs(terms).sum())
        worst = max(worst, error) if error == error else float("inf")
    return worst


def check_tree(problem, order, largest, max_leaf_size):
    """What is wrong with the leaves of a tree, or ''."""
    if largest > max_leaf_size:
        return f"a leaf of {largest} points"
    order = np.asarray(order)
    same = len(order) == problem.n and np.array_equal(np.sort(order), np.arange(problem.n))
    return "" if same else "its order is no permutation of the points"
