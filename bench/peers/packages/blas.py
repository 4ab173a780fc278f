"""A BLAS form: blocks of |x|^2 + |y|^2 - 2 x.y as one matrix product, a root, a divide, and a product with the charges.
The first product cancels, so close pairs lose digits: the error is in the row. SciPy's cdist has no such loss."""

import numpy as np
import scipy
from cases import Method
from scipy.spatial.distance import cdist

KIND = "sums"


def version():
    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return f"numpy {np.__version__} ({blas['name']} {blas['version']}), scipy {scipy.__version__}"


def potential(problem, precision, block, squares, root):
    """squares(begin, end): the distances, or their squares, of those targets from all sources."""
    q, phi = problem.q(precision), np.empty(problem.n, problem.dtype(precision))
    for begin in range(0, problem.n, block):
        r = squares(begin, begin + block)
        r[np.arange(len(r)), np.arange(begin, begin + len(r))] = np.inf
        if root:
            np.sqrt(r, out=r)
        np.divide(1, r, out=r)
        phi[begin:begin + block] = r @ q
    return phi


def gemm(problem, precision, block):
    x = problem.x(precision) - problem.dtype(precision)(0.5)
    norm, one = (x ** 2).sum(axis=1), np.ones(problem.n, x.dtype)
    targets = np.column_stack([-2 * x, one, norm])
    sources = np.ascontiguousarray(np.column_stack([x, norm, one]).T)

    def squares(begin, end):
        r2 = targets[begin:end] @ sources
        return np.maximum(r2, np.finfo(x.dtype).tiny, out=r2)
    return potential(problem, precision, block, squares, True)


def by_cdist(problem, block):
    x = problem.x("f64")
    return potential(problem, "f64", block, lambda begin, end: cdist(x[begin:end], x), False)


def methods(problem, ours):
    for precision, tolerance in (("f64", 1e-10), ("f32", 1e-2)):
        for block in (8, 16, 64):
            yield Method(f"gemm, blocks of {block}", lambda p=precision, b=block: gemm(problem, p, b), "sums",
                         precision, tolerance=tolerance)
    if ours.threads == 1:  # cdist has one thread
        yield Method("cdist, blocks of 16", lambda: by_cdist(problem, 16), "sums", tolerance=1e-13)
